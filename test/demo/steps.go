package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A small web server, with a typo in "port_mappings".
const hello = `{
  "container_name": "hello",
  "image": {"name": "localhost/busybox:1"},
  "config": {
    "cmd": ["sh", "-c", "echo \"Hello from $NAME\" >index.html; trap exit TERM; httpd -f -p 80 & wait"],
    "env": ["NAME=sitelet"]
  },
  "host_config": {
    "port_mapings": [{"host_ip": "127.0.0.1", "host_port": 8080, "container_port": 80}]
  },
  "sitelet": {
    "health": {"command": "wget -q -O /dev/null http://127.0.0.1/", "interval": "2s"}
  }
}`

// A clock, with a string in place of the list of words that "cmd" is.
const clock = `{
  "container_name": "clock",
  "image": {"name": "localhost/busybox:1"},
  "config": {
    "cmd": "trap exit TERM; while date; do sleep 1; done"
  }
}`

// steps is the script.
func steps() []step {
	var booted, started, other string // when the machine was; the first container's process, and when it was; the second container
	const upSince = "systemctl show --property UserspaceTimestamp"
	const running = "systemctl show hello --property MainPID,ActiveEnterTimestamp"
	all := []step{
		{
			"The machine",
			"A plain Debian 13 with the package installed. The images that are used below are\nthere already, so that no registry is needed. That of the router is a stand-in,\nand has no date.",
			[]command{
				{line: "systemctl is-system-running", within: 20 * time.Second, check: contains("running")},
				{line: "podman --version; sitelet version", check: contains("podman version 5.", "sitelet ")},
				{line: "podman images", check: contains("localhost/busybox")},
			},
		},
		{
			"A descriptor",
			"A container is described by one JSON file, in the format of Eclipse Kanto, which\nruns containers on edge devices. This one is a small web server, on port 8080 of\nthe machine. The last key is sitelet's own: the service counts as started when\nthat command succeeds.",
			[]command{
				{line: write("hello", hello)},
			},
		},
		{
			"Mistakes are found before they do harm",
			"The descriptor has a typo, on purpose. `sitelet check` finds all mistakes in all\ndescriptors at once, with their places, and says what to do.",
			[]command{
				{
					line:   "sitelet check",
					status: 1,
					check:  contains("hello.json:9:5: host_config.port_mapings: unknown key", `Did you mean "port_mappings"?`, "    ^\n", "1 error"),
					proves: "The caret is below the typo, and the exit status is 1.",
				},
				{line: "sed -i 's/port_mapings/port_mappings/' /etc/sitelet/containers/hello.json"},
				{line: "sitelet check", check: contains("1 descriptor checked: nothing wrong")},
			},
		},
		{
			"The file is a service",
			"At a daemon-reload, as at every boot, a systemd generator makes a unit of each\ndescriptor. From here on it is a service like any other. What Podman is told, its\nown Quadlet says.",
			[]command{
				{line: "systemctl daemon-reload"},
				{line: "systemctl start hello"},
				{line: "curl --silent http://127.0.0.1:8080", check: equals("Hello from sitelet"), proves: "It answered as soon as systemctl start was done."},
				{line: "systemctl status hello --lines 0 | cut -c 1-88", check: contains("Container hello", "active (running)", "/etc/sitelet/containers/hello.json; generated")},
				{line: "podman ps --format 'table {{.Names}} {{.Status}} {{.Ports}}'", check: contains("hello", "healthy", "127.0.0.1:8080->80/tcp")},
			},
		},
		{
			"What is written in a container survives a restart",
			"The container is made once, and then only stopped and started. Plain Quadlet\nremoves it at each stop.",
			[]command{
				{line: `podman exec hello sh -c 'echo "written at run time" >note.txt'`},
				{line: "systemctl restart hello"},
				{line: "curl --silent http://127.0.0.1:8080/note.txt", check: equals("written at run time"), proves: "The note survived the restart."},
			},
		},
		{
			"Reboot",
			"Nothing has to be enabled: the generator runs at boot too. The machine shuts down\nand boots again.",
			[]command{
				{line: upSince, check: func(out string) error {
					booted = out
					return some(out)
				}},
				{line: "systemctl reboot"},
				{line: upSince, check: func(out string) error {
					if out == booted {
						return errors.New("it is still the same boot")
					}
					return some(out)
				}, proves: "It has booted again."},
				{line: "systemctl is-active hello", within: 30 * time.Second, check: equals("active")},
				{line: "curl --silent http://127.0.0.1:8080/note.txt", check: equals("written at run time"), proves: "The container runs again, and the note is still there."},
			},
		},
		{
			"A bad descriptor does not disturb a good one",
			"A second descriptor arrives with a mistake in it: cmd is a list of words, not one\nstring. Nobody has run sitelet check, and its start must fail.",
			[]command{
				{line: running, check: func(out string) error {
					started = out
					return some(out)
				}},
				{line: write("clock", clock)},
				{line: "systemctl daemon-reload"},
				{line: "systemctl start clock", status: 5, check: contains("clock.service not found"), proves: "It did not become a service."},
				{line: "journalctl --quiet --boot --identifier sitelet-generator --output cat", within: 5 * time.Second,
					check: contains("clock.json:5:12: config.cmd: must be a list of strings"), proves: "The journal says why."},
				{line: running, check: func(out string) error { return equals(started)(out) }, proves: "The first container was not touched: the same process runs on."},
				{line: "curl --silent http://127.0.0.1:8080", check: equals("Hello from sitelet")},
			},
		},
		{
			"Mended, it joins in",
			"With cmd as a list of words, sitelet has nothing against it.",
			[]command{
				{line: `sed -i 's/"trap.*done"/["sh", "-c", &]/' /etc/sitelet/containers/clock.json`},
				{line: "sitelet check", check: contains("2 descriptors checked: nothing wrong")},
				{line: "systemctl daemon-reload"},
				{line: "systemctl start clock"},
				{line: "podman ps --format 'table {{.Names}} {{.Status}}'", check: contains("hello", "clock")},
				{line: "podman logs clock", within: 10 * time.Second, check: some, proves: "Both run."},
			},
		},
		{
			"A change is taken up",
			"The greeting changes. `sitelet plan` says what a reload will do, and why; values\nthat look secret are not shown. COST says what goes out of service for a moment.\n`sitelet reload` does all that is needed, for new descriptors too: it makes the\nnew container while the old one runs, stops that and starts the new one, which is\nthen on trial, here for 5 seconds. What has to outlive an update belongs in a\nmount: the new container begins empty.",
			[]command{
				{line: `printf '[update]\nprobation = "5s"\n' >/etc/sitelet/sitelet.toml`},
				{line: "podman ps --filter name=clock --format '{{.ID}}'", check: func(out string) error {
					other = out
					return some(out)
				}},
				{line: "sed -i 's/NAME=sitelet/NAME=version 2/' /etc/sitelet/containers/hello.json"},
				{line: "sitelet plan", status: 3, check: contains("clock     none", `hello     recreate  restart  config.env[NAME]: "NAME=sitelet" → "NAME=version 2"`),
					proves: "One is to change, the other is not. The exit status is 3: there is something to do."},
				{line: "sitelet reload", check: contains("hello: recreate done")},
				{line: "curl --silent http://127.0.0.1:8080", check: equals("Hello from version 2"), proves: "The new version runs."},
				{line: "podman ps --filter name=clock --format '{{.ID}}'", check: func(out string) error { return equals(other)(out) }, proves: "The other container was not touched."},
				{line: "sitelet plan", check: contains("hello     none", "clock     none"), proves: "Nothing is left to do."},
			},
		},
		{
			"A bad version rolls back",
			"The next version ends after two seconds with status 7. It is on trial when that\nhappens, so the old container, which was only stopped, runs again, with what had\nbeen written in it. The reload reports a failure, as it should.",
			[]command{
				{line: `podman exec hello sh -c 'echo "written in version 2" >note.txt'`},
				{line: "sed -i 's/& wait/\\& sleep 2; echo out of luck; exit 7/; s/version 2/version 3/' /etc/sitelet/containers/hello.json"},
				{line: "sitelet check", check: contains("nothing wrong"), proves: "The file is right; it is the program that is bad."},
				{line: "sitelet reload", status: 1, check: contains("hello: recreate failed: the new version failed: ", "exit status 7", "the one before runs again")},
				{line: "curl --silent http://127.0.0.1:8080 http://127.0.0.1:8080/note.txt", within: 10 * time.Second,
					check: equals("Hello from version 2\nwritten in version 2"), proves: "The old container runs again, as it was left."},
				{line: "sitelet status hello", check: contains("active", "refused:", "exit status 7", `| "out of luck"`), proves: "It is known why, with the last words of the bad version."},
				{line: "sitelet reload", check: equals("nothing to do"), proves: "The bad version is not tried again until its file changes."},
				{line: "sitelet history hello", check: contains("updated", "refused", "rolled back")},
			},
		},
		{
			"Changes can be taken up by themselves",
			"One path unit turns auto-reload on. From then on, writing the file is all that\nhas to be done.",
			[]command{
				{line: "systemctl enable --now sitelet-containers.path", check: contains("Created symlink")},
				{line: "sed -i 's/sleep 2; .*exit 7/wait/; s/version 3/version 4/' /etc/sitelet/containers/hello.json"},
				{line: "curl --silent --max-time 2 http://127.0.0.1:8080", within: time.Minute, check: equals("Hello from version 4"), proves: "It runs, and nobody has called sitelet."},
				{line: "sitelet status", within: 30 * time.Second, check: settled, proves: "It has passed its trial."},
			},
		},
	}
	return append(append(all, siteSteps()...), step{
		"The end",
		"The services stop as others do when the machine is switched off.",
		[]command{
			{line: "systemctl poweroff", proves: "The machine is off."},
		},
	})
}

// settled checks that a status has no trial any more, nor what is left of one.
func settled(out string) error {
	if strings.Contains(out, "resume") {
		return errors.New("an update is not over yet")
	}
	return contains("hello  active", "updated")(out)
}

// write is the line that writes a descriptor.
func write(name, text string) string {
	return fmt.Sprintf("cat >/etc/sitelet/containers/%s.json <<'end'\n%s\nend", name, text)
}

func equals(want string) func(string) error {
	return func(out string) error {
		if out != want {
			return fmt.Errorf("it prints %q instead of %q", out, want)
		}
		return nil
	}
}

func some(out string) error {
	if strings.TrimSpace(out) == "" {
		return errors.New("it prints nothing")
	}
	return nil
}
