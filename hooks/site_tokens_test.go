package hooks

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// grant is another site's grant server, which answers a code once.
type grant struct {
	server *httptest.Server
	asked  atomic.Int32
	down   atomic.Bool
	answer []byte
}

func newGrant(t *testing.T) *grant {
	t.Helper()
	g := &grant{answer: realCerts(t)([]byte(secretText("other") + "---\n" +
		resourceText("Link", "other", `tlsCredentials: other, endpoints: [{name: inter-router, host: other.example, port: "55671"}]`)))}
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := g.asked.Add(1); {
		case g.down.Load():
			http.Error(w, "not now", http.StatusServiceUnavailable)
		case n > 1:
			http.Error(w, "No such claim", http.StatusNotFound)
		default:
			w.Write(g.answer)
		}
	}))
	g.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	return g
}

func (g *grant) token(name, code string) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw})
	return fmt.Sprintf("apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: %s}\nspec:\n  url: %s/grant\n  code: %s\n  ca: |\n    %s\n---\n",
		name, g.server.URL, code, strings.ReplaceAll(strings.TrimSpace(string(ca)), "\n", "\n    "))
}

// TestTokenOnce redeems a token once, and keeps what it was good for over everything that comes after: other changes, for which
// upstream loses the link, another start of the site (skupperproject/skupper#2112), and a mistake in the token's file.
func TestTokenOnce(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	g := newGrant(t)
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/token.yaml", g.token("tok", "c0de"))
	if s := refresh(t, h); s.Resources.Findings() != nil || entity(t, h, "tok").Get("host") != "other.example" {
		t.Fatalf("%s%s", said(s), configText(t, h))
	}
	if text := status(h, "AccessToken-tok"); !strings.Contains(text, "redeemed: true") || strings.Contains(text, "c0de") {
		t.Error(text)
	}
	before := untouched(h)
	for name, change := range map[string]func(){
		"nothing":        func() {},
		"a listener":     func() { put(t, h, "resources/listener.yaml", listenerText("a", 8080)) },
		"a mistake":      func() { put(t, h, "resources/token.yaml", strings.Replace(g.token("tok", "c0de"), "https", "http", 1)) },
		"a syntax error": func() { put(t, h, "resources/token.yaml", "{") },
		"the Site away": func() {
			unput(t, h, "resources/site.yaml")
			refresh(t, h)
			put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
		},
	} {
		change()
		refresh(t, h)
		put(t, h, "resources/token.yaml", g.token("tok", "c0de"))
		unput(t, h, "resources/listener.yaml")
		before := before
		if s := refresh(t, h); s.Resources.Findings() != nil || entity(t, h, "tok") == nil {
			t.Errorf("%s: %s", name, said(s))
		}
		after := untouched(h)
		for path := range after {
			if strings.Contains(path, "runtime/router") {
				delete(after, path)
				delete(before, path)
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
	if g.asked.Load() != 1 {
		t.Errorf("the grant was asked %d times", g.asked.Load())
	}
	// Its cost is not what it was redeemed for, and can change.
	for _, cost := range []int{7, 1} {
		put(t, h, "resources/token.yaml", strings.Replace(g.token("tok", "c0de"), "spec:\n", fmt.Sprintf("spec:\n  linkCost: %d\n", cost), 1))
		if s := refresh(t, h); entity(t, h, "tok").Get("cost") != cost || g.asked.Load() != 1 {
			t.Errorf("with the cost %d it is %v\n%s", cost, entity(t, h, "tok"), said(s))
		}
	}
	// A token that is gone takes its link away; the same one that comes back brings it back.
	unput(t, h, "resources/token.yaml")
	if refresh(t, h); entity(t, h, "tok") != nil || status(h, "Link-tok")+status(h, "Secret-tok")+status(h, "AccessToken-tok") != "" {
		t.Error("the link is still there")
	}
	put(t, h, "resources/token.yaml", g.token("tok", "c0de"))
	if refresh(t, h); entity(t, h, "tok") == nil || g.asked.Load() != 1 {
		t.Errorf("the link is gone, or the grant was asked %d times", g.asked.Load())
	}
	// Another token of its name that is no good does not cut the link.
	put(t, h, "resources/token.yaml", g.token("tok", "another"))
	if s := refresh(t, h); entity(t, h, "tok") == nil || g.asked.Load() != 2 || !strings.Contains(status(h, "AccessToken-tok"), "is not good any more") {
		t.Errorf("%s%s", said(s), status(h, "AccessToken-tok"))
	}
}

// TestTokenRetry has a grant server that is down: the token waits longer each time, the rest of the site goes on.
func TestTokenRetry(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	start := time.Now().Truncate(time.Second)
	now := start
	h.Now = func() time.Time { return now }
	g := newGrant(t)
	g.down.Store(true)
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/token.yaml", g.token("tok", "c0de"))
	put(t, h, "resources/listener.yaml", listenerText("a", 8080))
	var waits []time.Duration
	for range 9 {
		asked := g.asked.Load()
		for _, early := range []time.Duration{0, time.Second} {
			refresh(t, h)
			if g.asked.Load() != asked+1 {
				t.Fatalf("asked %d times", g.asked.Load()-asked)
			}
			now = now.Add(early)
		}
		next := mustRecord(t, h).Tokens[0].Next
		waits = append(waits, next.Sub(now)+time.Second)
		now = next
	}
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if text := status(h, "AccessToken-tok"); entity(t, h, "listener/a") == nil || !strings.Contains(text, "not now") || !strings.Contains(text, "It is tried again after") ||
		strings.Contains(status(h, "Listener-a"), "Error") {
		t.Error(text)
	}
	g.down.Store(false)
	g.asked.Store(0)
	if s := refresh(t, h); s.Resources.Findings() != nil || entity(t, h, "tok") == nil || !strings.Contains(status(h, "AccessToken-tok"), "redeemed: true") {
		t.Error(said(s))
	}
}

// TestTokensSideBySide has tokens of grant servers that do not answer take no longer than one.
func TestTokensSideBySide(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	g := newGrant(t)
	waiting, all := atomic.Int32{}, make(chan struct{})
	g.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if waiting.Add(1) == 3 {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
		http.Error(w, "no", http.StatusForbidden)
	})
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/token.yaml", g.token("a", "one")+g.token("b", "two")+g.token("c", "three"))
	refresh(t, h)
	record := mustRecord(t, h)
	if len(record.Tokens) != 3 {
		t.Fatalf("%+v", record.Tokens)
	}
	for _, token := range record.Tokens {
		if !strings.Contains(token.Failure, "was refused") {
			t.Errorf("%+v", token)
		}
	}
	if info, err := os.Stat(h.Paths.StateDir + "/sites/ns1.json"); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v: the state holds keys", info.Mode(), err)
	}
}

// TestTokenStopped has a redemption that somebody stops not count as one that failed.
func TestTokenStopped(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	g := newGrant(t)
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/token.yaml", g.token("tok", "c0de"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = h.refreshSite(ctx, "ns1")
	if record := mustRecord(t, h); len(record.Tokens) > 0 && record.Tokens[0].Tries > 0 {
		t.Errorf("%+v", record.Tokens)
	}
}
