package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/standin/certs"
	"github.com/sitelet/sitelet/test/standin/skrouter"
)

// webText is a Listener with the certificate web.
func webText(t *testing.T) string {
	return resourceText("Listener", "a", fmt.Sprintf("host: 127.0.0.1, port: %d, routingKey: k, tlsCredentials: web", freePort(t)))
}

// TestRotateBesideFailure rotates a certificate once, and lets go of old connections in time, though something else keeps failing.
func TestRotateBesideFailure(t *testing.T) {
	l := liveSite(t)
	ca := certs.New(t)
	web := filepath.Join(l.home("ns1"), "input/certs/web")
	ca.Issue(t, web)
	taken := freePort(t)
	echo(t, taken)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, l.Hooks, "resources/a.yaml", webText(t))
	l.start(t)
	put(t, l.Hooks, "resources/b.yaml", resourceText("RouterAccess", "b", fmt.Sprintf("roles: [{name: inter-router, port: %d}]", taken)))
	fails := func(requests ...string) {
		t.Helper()
		if err := l.SyncSite(t.Context(), "ns1"); err == nil || !strings.Contains(err.Error(), "create listener b-inter-router: address already in use") {
			t.Error(err)
		}
		l.wants(t, requests...)
	}
	fails("create sslProfile b")
	ca.Issue(t, web)
	fails("update sslProfile web")
	fails()
	l.Now = func() time.Time { return time.Now().Add(2 * retireAfter) }
	fails("update sslProfile web")
	fails()
}

// TestRotateAfterImpossible has a router start while its site is impossible: a certificate that is changed together with what puts
// that right is taken up.
func TestRotateAfterImpossible(t *testing.T) {
	l := liveSite(t)
	ca := certs.New(t)
	web := filepath.Join(l.home("ns1"), "input/certs/web")
	ca.Issue(t, web)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, l.Hooks, "resources/a.yaml", webText(t))
	l.start(t).Close()
	put(t, l.Hooks, "resources/second.yaml", resourceText("Site", "t", ""))
	if err := l.prepareSite(t.Context(), "ns1"); err != nil {
		t.Fatal(err)
	}
	r, err := skrouter.Start(configText(t, l.Hooks), skrouter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	unput(t, l.Hooks, "resources/second.yaml")
	ca.Issue(t, web)
	l.asked = nil
	l.sync(t)
	l.wants(t, "update sslProfile web")
}

// TestRotateFrozen has a site start that stays as it was deployed: nothing is pending then, and a certificate that is changed before
// it may change again is taken up.
func TestRotateFrozen(t *testing.T) {
	l := liveSite(t)
	ca := certs.New(t)
	web := filepath.Join(l.home("ns1"), "input/certs/web")
	ca.Issue(t, web)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, l.Hooks, "resources/a.yaml", webText(t))
	l.start(t).Close()
	mode := func(mode string) {
		if err := os.WriteFile(l.Paths.ConfigFile, []byte("platform = \"linux\"\nmode = \""+mode+"\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mode("init")
	if err := errors.Join(os.Remove(l.appliedPath("ns1")), l.prepareSite(t.Context(), "ns1")); err != nil {
		t.Fatal(err)
	}
	if s, err := l.lookAtSite("ns1"); err != nil || l.liveChanges(s) != nil {
		t.Errorf("%v is pending, %v", l.liveChanges(s), err)
	}
	r, err := skrouter.Start(configText(t, l.Hooks), skrouter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	mode("update")
	ca.Issue(t, web)
	l.sync(t)
	l.wants(t, "update sslProfile web")
}

// TestRotatePassword has the password of a proxy change, which is in a file of its own.
func TestRotatePassword(t *testing.T) {
	l := liveSite(t)
	for name, text := range map[string]string{"host": "p.example", "port": "3128", "username": "u", "password": "old"} {
		put(t, l.Hooks, "proxies/prox/"+name, text)
	}
	certs.New(t).Issue(t, filepath.Join(l.home("ns1"), "input/certs/x"))
	put(t, l.Hooks, "resources/all.yaml", resourceText("Site", "s", "")+
		resourceText("Link", "l", `tlsCredentials: x, settings: {proxy-configuration: prox}, endpoints: [{name: inter-router, host: 127.0.0.1, port: "1"}]`))
	l.start(t)
	put(t, l.Hooks, "proxies/prox/password", "new")
	if s := refresh(t, l.Hooks); len(l.liveChanges(s)) != 1 || l.liveChanges(s)[0].Field != "proxyProfile prox" {
		t.Errorf("%v is pending", l.liveChanges(s))
	}
	l.sync(t)
	l.wants(t, "delete proxyProfile prox", "create proxyProfile prox")
	l.sync(t)
	l.wants(t)
}

// TestAnotherLocalCA has the CA of the router's own endpoint become another one, so that nobody gets through to the router any more: it
// is said what to do.
func TestAnotherLocalCA(t *testing.T) {
	l := liveSite(t)
	put(t, l.Hooks, "resources/site.yaml", resourceText("Site", "s", ""))
	l.start(t)
	if err := os.RemoveAll(filepath.Join(l.home("ns1"), "runtime/issuers/skupper-local-ca")); err != nil {
		t.Fatal(err)
	}
	s := refresh(t, l.Hooks)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := l.dialRouter(ctx, s); err == nil || !strings.Contains(err.Error(), "restart skupper-ns1") {
		t.Error(err)
	}
}
