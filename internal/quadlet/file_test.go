package quadlet

import (
	"strings"
	"testing"
)

func example() File {
	var f File
	f.Add("Image", "docker.io/library/web:1")
	f.Add("ContainerName", "web")
	f.Add("Environment", "GREETING", "Hello \"world\"\n")
	f.Add("Environment", "PRICE", "5$ & 20%")
	f.Bind("/srv/web", "/srv", "bind-propagation=rslave")
	f.Bind("/srv/a b", "/b,c")
	f.Add("PublishPort", "127.0.0.1:8080:80/tcp")
	f.Add("LogOpt", "max-size=1m")
	f.Add("HostName", " odd ")
	f.Add("Network", "bridge.network")
	f.Add("Notify", "healthy")
	f.Add("PodmanArgs", "--rm=false")
	f.Add("Exec", "sh", "-c", "echo $HOME;\nexit", "", ";")
	return f
}

func TestText(t *testing.T) {
	const begin = `[Container]
Image=docker.io/library/web:1
ContainerName=web
Environment="GREETING=Hello \"world\"\n"
Environment="PRICE=5$$ & 20%%"
Mount=type=bind,source=/srv/web,destination=/srv,bind-propagation=rslave
PodmanArgs="--mount=type=bind,source=/srv/a b,\"destination=/b,c\""
`
	const end = `PodmanArgs=--rm=false
Exec=sh -c "echo $$HOME;\nexit" ${SITELET_EMPTY} ${SITELET_SEMICOLON}

[Service]
Environment=SITELET_EMPTY=
Environment=SITELET_SEMICOLON=;
`
	for _, tt := range []struct {
		podman Version
		want   string
	}{
		{Version{5, 3, 0}, begin + `PublishPort=127.0.0.1:8080:80/tcp
LogOpt=max-size=1m
PodmanArgs="--hostname= odd "
PodmanArgs=--network=bridge.network
Notify=healthy
` + end},
		{Minimum, begin + `PodmanArgs=--publish=127.0.0.1:8080:80/tcp
PodmanArgs=--log-opt=max-size=1m
PodmanArgs="--hostname= odd "
PodmanArgs=--network=bridge.network
PodmanArgs=--sdnotify=healthy
` + end},
	} {
		got, err := example().Text(tt.podman)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("Podman %v: got\n%s\nwant\n%s", tt.podman, got, tt.want)
		}
	}
}

func TestTextRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		fill func(f *File)
		want string
	}{
		{"NUL", func(f *File) { f.Add("Environment", "A", "a\x00b") }, "Environment: a NUL"},
		{"invalid UTF-8", func(f *File) { f.Add("Exec", "\xff") }, "Exec: systemd takes it for invalid UTF-8"},
		{"no character", func(f *File) { f.Add("HostName", "\ufffe") }, "HostName: systemd"},
		{"long argument", func(f *File) { f.Add("PodmanArgs", strings.Repeat("x", 128<<10)) }, "PodmanArgs: it is longer than"},
		{"long command", func(f *File) {
			for range 12 {
				f.Add("Exec", strings.Repeat("x", 100_000))
			}
		}, "longer than the 1 MiB"},
		{"image like a flag", func(f *File) { f.Add("Image", "--privileged") }, "Image: \"--privileged\""},
		{"image with a line break", func(f *File) { f.Add("Image", "a\n[Service]") }, "Image:"},
		{"empty image", func(f *File) { f.Add("Image", "") }, "Image:"},
		{"container name", func(f *File) { f.Add("ContainerName", "a b") }, "ContainerName:"},
		{"truth", func(f *File) { f.Add("NoNewPrivileges", "maybe") }, "NoNewPrivileges:"},
		{"variable's name", func(f *File) { f.Add("Environment", "A=B", "") }, "Environment: \"A=B\" is no name"},
		{"empty name", func(f *File) { f.Add("Label", "", "x") }, "Label: \"\" is no name"},
		{"CRLF in a list", func(f *File) { f.Add("PublishPort", "1\r\n2") }, "PublishPort: Podman"},
		{"CRLF in a mount", func(f *File) { f.Bind("/a\r\nb", "/c") }, "Mount: Podman"},
		{"unknown key", func(f *File) { f.Add("NoSuchKey", "1") }, "NoSuchKey: there is no such key"},
		{"two values", func(f *File) { f.Add("HostName", "a", "b") }, "HostName: there is no such key with 2 values"},
		{"no value", func(f *File) { f.Add("Exec") }, "has no value"},
		{"empty line", func(f *File) { *f = File{{}} }, "has no value"},
		{"name only", func(f *File) { f.Add("Environment", "A") }, "Environment:"},
		{"source only", func(f *File) { f.Add("Mount", "/a") }, "Mount: it has no destination"},
	} {
		var f File
		tt.fill(&f)
		text, err := f.Text(Minimum)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q, %v; want an error with %q", tt.name, text, err, tt.want)
		}
	}
}
