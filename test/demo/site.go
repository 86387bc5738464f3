package main

import (
	"fmt"
	"time"
)

// routerImage is the router that a site runs. What the demo has under this name is a stand-in, which speaks the router's management
// protocol and forwards TCP: there is no registry to have the real one from.
const routerImage = "quay.io/skupper/skupper-router:main"

const siteResources = `apiVersion: skupper.io/v2alpha1
kind: Site
metadata: {name: east}
---
apiVersion: skupper.io/v2alpha1
kind: Connector
metadata: {name: hello}
spec: {routingKey: hello, host: 127.0.0.1, port: 8080}
---
apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: hello}
spec: {routingKey: hello, host: 127.0.0.1, port: 9090}`

const secondListener = `apiVersion: skupper.io/v2alpha1
kind: Listener
metadata: {name: second}
spec: {routingKey: hello, host: 127.0.0.1, port: 9091}`

// siteSteps are those about a Skupper site, which offers the web server of the steps before.
func siteSteps() []step {
	var router string // the id and the process of its container
	const process = "podman inspect --format '{{.Id}} {{.State.Pid}}' east-skupper-router"
	return []step{
		{
			"A Skupper site",
			"Skupper joins services of several hosts, each with a router: a connector hands a\nserver to the network, a listener offers it at a port, and their routing key says\nwhich belong together. A site is a directory of YAML resources, in Skupper's own\nlayout; this one does both. Its router is skupper-east.service.",
			[]command{
				{line: writeResource("site", siteResources)},
				// Auto-reload of containers may be at work still, and then has taken it up.
				{line: "sitelet reload east", check: some},
				{line: "curl --silent http://127.0.0.1:9090", within: 20 * time.Second, check: equals("Hello from version 4"), proves: "The answer came through the router."},
				{line: "systemctl status skupper-east --lines 0 | cut -c 1-88", check: contains("Skupper router of east", "active (running)")},
			},
		},
		{
			"A listener is added while it runs",
			"Clients keep coming through the first listener while a second one is added. The\nrouter is asked over its management protocol for just that, and not restarted.",
			[]command{
				{line: process, check: func(out string) error {
					router = out
					return some(out)
				}},
				{line: "systemd-run --quiet --unit clients bash -c 'while curl --silent --fail -o /dev/null http://127.0.0.1:9090; do :; done'"},
				{line: writeResource("second", secondListener)},
				{line: "sitelet plan | grep skupper", check: contains("reload", "tcpListener listener/second"), proves: "Nothing is to be restarted."},
				{line: "sitelet reload east", check: contains("skupper-east: reload done")},
				{line: "curl --silent http://127.0.0.1:9091", within: 10 * time.Second, check: equals("Hello from version 4"), proves: "The new listener serves."},
				{line: process, check: func(out string) error { return equals(router)(out) }, proves: "It is the same process of the same container."},
				{line: "systemctl is-active clients", check: equals("active"), proves: "Not one of the clients has failed."},
				{line: "sitelet status east", check: contains("router:      answers", "second", "yes")},
			},
		},
	}
}

// writeResource is the line that writes a file of the site's.
func writeResource(name, text string) string {
	const dir = "/var/lib/skupper/namespaces/east/input/resources"
	return fmt.Sprintf("mkdir -p %s; cat >%[1]s/%s.yaml <<'end'\n%s\nend", dir, name, text)
}
