package quadlet

import (
	"strings"
	"testing"

	"github.com/sitelet/sitelet/internal/unit"
)

func example(podman Version) *File {
	f := New(podman)
	f.Unit("Description", "web, 100% done")
	f.Add("Image", "docker.io/library/web:1")
	f.Add("ContainerName", "web")
	f.KeyVal("Environment", "GREETING", "Hello \"world\"\n")
	f.KeyVal("Environment", "PRICE", "5$ & 20%")
	f.Bind("/srv/web", "/srv", "bind-propagation=rslave")
	f.Bind("/srv/a b", "/b,c")
	f.Add("PublishPort", "127.0.0.1:8080:80/tcp")
	f.Add("LogOpt", "max-size=1m")
	f.Add("HostName", " odd ")
	f.Add("Network", "bridge.network")
	f.Add("Notify", "healthy")
	f.PodmanArg("--rm=false")
	f.Exec("sh", "-c", "echo $HOME;\nexit", "", ";")
	f.Service("TimeoutStopSec", "30")
	f.Custom("Service", "ExecStartPre", unit.CommandLine("/bin/echo", "a b"))
	f.Custom("X-Sitelet", "Generation", "0123")
	return f
}

func TestBytes(t *testing.T) {
	const unitSection = `[Unit]
Description=web, 100%% done
RequiresMountsFor="/srv/a b"

`
	const rest = `Exec=sh -c "echo $$HOME;\nexit" ${SITELET_EMPTY} ${SITELET_SEMICOLON}

[Service]
Environment=SITELET_EMPTY=
Environment=SITELET_SEMICOLON=;
TimeoutStopSec=30
ExecStartPre=/bin/echo "a b"

[X-Sitelet]
Generation=0123
`
	for _, tt := range []struct {
		podman Version
		want   string
	}{
		{Version{5, 3, 0}, unitSection + `[Container]
Image=docker.io/library/web:1
ContainerName=web
Environment="GREETING=Hello \"world\"\n"
Environment="PRICE=5$$ & 20%%"
Mount=type=bind,source=/srv/web,destination=/srv,bind-propagation=rslave
PodmanArgs="--mount=type=bind,source=/srv/a b,\"destination=/b,c\""
PublishPort=127.0.0.1:8080:80/tcp
LogOpt=max-size=1m
PodmanArgs="--hostname= odd "
PodmanArgs=--network=bridge.network
Notify=healthy
PodmanArgs=--rm=false
` + rest},
		{Minimum, unitSection + `[Container]
Image=docker.io/library/web:1
ContainerName=web
Environment="GREETING=Hello \"world\"\n"
Environment="PRICE=5$$ & 20%%"
Mount=type=bind,source=/srv/web,destination=/srv,bind-propagation=rslave
PodmanArgs="--mount=type=bind,source=/srv/a b,\"destination=/b,c\""
PodmanArgs=--publish=127.0.0.1:8080:80/tcp
PodmanArgs=--log-opt=max-size=1m
PodmanArgs="--hostname= odd "
PodmanArgs=--network=bridge.network
PodmanArgs=--sdnotify=healthy
PodmanArgs=--rm=false
` + rest},
	} {
		got, err := example(tt.podman).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("Podman %v: got\n%s\nwant\n%s", tt.podman, got, tt.want)
		}
	}
}

func TestBytesRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		fill func(f *File)
		want string
	}{
		{"NUL", func(f *File) { f.KeyVal("Environment", "A", "a\x00b") }, "Environment: a NUL"},
		{"invalid UTF-8", func(f *File) { f.Exec("\xff") }, "Exec: systemd takes it for invalid UTF-8"},
		{"no character", func(f *File) { f.Unit("Description", "\ufffe") }, "Description: systemd"},
		{"long argument", func(f *File) { f.PodmanArg(strings.Repeat("x", 128<<10)) }, "PodmanArgs: it is longer than"},
		{"long command", func(f *File) {
			for range 12 {
				f.Exec(strings.Repeat("x", 100_000))
			}
		}, "longer than the 1 MiB"},
		{"image like a flag", func(f *File) { f.Add("Image", "--privileged") }, "Image: \"--privileged\""},
		{"image with a line break", func(f *File) { f.Add("Image", "a\n[Service]") }, "Image:"},
		{"empty image", func(f *File) { f.Add("Image", "") }, "Image:"},
		{"container name", func(f *File) { f.Add("ContainerName", "a b") }, "ContainerName:"},
		{"truth", func(f *File) { f.Add("NoNewPrivileges", "maybe") }, "NoNewPrivileges:"},
		{"variable's name", func(f *File) { f.KeyVal("Environment", "A=B", "") }, "Environment: \"A=B\" is no name"},
		{"empty name", func(f *File) { f.KeyVal("Label", "", "x") }, "Label: \"\" is no name"},
		{"CRLF in a list", func(f *File) { f.Add("PublishPort", "1\r\n2") }, "PublishPort: Podman"},
		{"CRLF in a mount", func(f *File) { f.Bind("/a\r\nb", "/c") }, "Mount: Podman"},
		{"two lines", func(f *File) { f.Custom("Service", "X", "a\nb") }, "X: \"a\\nb\" is not one line"},
		{"continued line", func(f *File) { f.Custom("Service", "X", "a\\ ") }, "X: \"a\\\\ \" is not one line"},
	} {
		f := New(Version{5, 4, 2})
		tt.fill(f)
		text, err := f.Bytes()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q, %v; want an error with %q", tt.name, text, err, tt.want)
		}
	}
}
