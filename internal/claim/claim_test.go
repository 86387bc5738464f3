package claim

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// The answer of a grant (internal/kube/grants/tokens.go of skupperproject/skupper) for a site with two addresses (thread 27).
const answer = `---
apiVersion: v1
data:
  ca.crt: Y2E=
  tls.crt: Y3J0
  tls.key: a2V5
kind: Secret
metadata:
  creationTimestamp: null
  name: podman-to-east
type: kubernetes.io/tls
---
apiVersion: skupper.io/v2alpha1
kind: Link
metadata:
  creationTimestamp: null
  name: podman-to-east-1
spec:
  endpoints:
  - group: skupper-router-1
    host: 172.18.255.201
    name: inter-router
    port: "55671"
  - group: skupper-router-1
    host: 172.18.255.201
    name: edge
    port: "45671"
  tlsCredentials: podman-to-east
status: {}
---
apiVersion: skupper.io/v2alpha1
kind: Link
metadata:
  creationTimestamp: null
  name: podman-to-east-2
spec:
  endpoints:
  - group: skupper-router-2
    host: 172.18.255.202
    name: inter-router
    port: "55671"
  tlsCredentials: podman-to-east
status: {}
`

const code = "secret-code"

func server(t *testing.T, handle http.HandlerFunc, change func(*tls.Config)) (*httptest.Server, site.AccessToken) {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.TLS = &tls.Config{}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if change != nil {
		change(s.TLS)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s, site.AccessToken{Resource: &site.Resource{Kind: "AccessToken", Name: "podman-to-east"}, URL: s.URL + "/0123-grant-uid", Code: code, CA: string(ca)}
}

func reply(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func TestRedeem(t *testing.T) {
	var asked []string
	_, token := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprint(r.Method, " ", r.URL.Path, " ", string(body), " ", r.Header.Get("name"), " ", r.Header.Get("subject"), " ", r.TLS.Version == tls.VersionTLS13))
		io.WriteString(w, answer)
	}, nil)
	for _, cost := range []int{0, 7} {
		got, err := Client{}.Redeem(context.Background(), token, "west")
		if err != nil {
			t.Fatal(err)
		}
		documents := got.Secret.Data
		for _, l := range got.Links {
			documents = append(documents, l.Data...)
		}
		r := site.Parse("west", []source.File{{Path: "documents", Data: WithCost(documents, cost)}}, site.Env{})
		if found := r.Findings(); len(found) > 0 || len(r.Secrets) != 1 || len(r.Links) != 2 {
			t.Fatalf("%v\n%s", found, documents)
		}
		if s := r.Secrets[0]; s.Name != "podman-to-east" || got.Secret.Name != s.Name || string(s.Get("tls.key")) != "key" || s.Type != "kubernetes.io/tls" {
			t.Errorf("the Secret is %+v", s)
		}
		for i, l := range r.Links {
			if l.Name != fmt.Sprintf("podman-to-east-%d", i+1) || got.Links[i].Name != l.Name || l.Endpoints[0].Host != fmt.Sprintf("172.18.255.20%d", i+1) || l.Cost != max(cost, 1) {
				t.Errorf("link %d is %+v", i, l)
			}
		}
	}
	if want := "POST /0123-grant-uid secret-code podman-to-east west true"; len(asked) != 2 || asked[0] != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// TestNames: what comes back is called after the token, whatever the other site calls it.
func TestNames(t *testing.T) {
	one, _, _ := strings.Cut(answer, "---\napiVersion: skupper.io/v2alpha1\nkind: Link\nmetadata:\n  creationTimestamp: null\n  name: podman-to-east-2")
	for text, want := range map[string]string{
		strings.ReplaceAll(answer, "podman-to-east", "skupper-site-ca"): "podman-to-east [podman-to-east-1 podman-to-east-2]",
		one: "podman-to-east [podman-to-east]",
	} {
		_, token := server(t, reply(text), nil)
		got, err := Client{}.Redeem(context.Background(), token, "west")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range got.Links {
			names = append(names, l.Name)
			if !strings.Contains(string(l.Data), "name: \""+l.Name+"\"") || !strings.Contains(string(l.Data), "tlsCredentials: \"podman-to-east\"") {
				t.Errorf("got\n%s", l.Data)
			}
		}
		if got := fmt.Sprint(got.Secret.Name, " ", names); got != want || strings.Contains(string(got), "skupper-site-ca") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, code) }
	}
	secretOnly, linksOnly, _ := strings.Cut(answer, "---\napiVersion: skupper")
	linksOnly = "---\napiVersion: skupper" + linksOnly
	for _, test := range []struct {
		name   string
		handle http.HandlerFunc
		tls    func(*tls.Config)
		want   string
	}{
		{"used up", status(404, "No such access granted"), nil, "is not good any more: its grant is unknown, expired or used up (HOST answered 404, No such access granted). Have a new token issued by the other site."},
		{"wrong code", status(403, "Redemption of access token refused"), nil, "was refused (HOST answered 403, Redemption of access token refused). Check spec.code"},
		{"broken server", status(503, "Internal error"), nil, "could not be redeemed (HOST answered 503, Internal error). Look at the other site's grant server"},
		{"not a grant", status(405, ""), nil, "could not be redeemed (HOST answered 405). Check that spec.url"},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, nil, "HOST answered 204"},
		{"control characters", status(500, "a\x1b[31m\n\x00b\u202e"), nil, "answered 500, a[31m b)"},
		{"long refusal", status(500, strings.Repeat("x", 1<<20)), nil, strings.Repeat("x", 200) + "…)"},
		{"redirection", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusTemporaryRedirect)
		}, nil, "with a redirection, which is not followed"},
		{"TLS 1.2", reply(answer), func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, "was not sent: HOST does not speak TLS 1.3"},
		{"huge", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, nil, "with more than 1048576 bytes"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, answer[:100])
		}, nil, "cannot be reached (unexpected EOF)"},
		{"empty", reply(""), nil, "0 Secrets and 0 Links"},
		{"garbage", reply("\x00\xff{{{"), nil, "something that is no link"},
		{"HTML", reply("<html><body>Welcome</body></html>"), nil, "something that is no link"},
		{"no links", reply(secretOnly), nil, "1 Secrets and 0 Links"},
		{"no Secret", reply(linksOnly), nil, "something that is no link"},
		{"two Secrets", reply(answer + strings.Replace(secretOnly, "podman-to-east", "another", 1)), nil, "2 Secrets"},
		{"something else too", reply(answer + "---\napiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {name: l}\nspec: {host: h, port: 1, routingKey: k}\n"), nil, "among 4 resources"},
		{"another's Secret", reply(strings.Replace(answer, "tlsCredentials: podman-to-east\nstatus: {}\n---", "tlsCredentials: skupper-local-server\nstatus: {}\n---", 1)), nil, "something that is no link"},
		{"a name that leads elsewhere", reply(strings.ReplaceAll(answer, "podman-to-east", "../../x")), nil, "something that is no link"},
		{"one name twice", reply(strings.Replace(answer, "east-2", "east-1", 1)), nil, "something that is no link"},
		{"a host that is none", reply(strings.Replace(answer, "172.18.255.201", `"a\nb"`, 1)), nil, "something that is no link"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, token := server(t, test.handle, test.tls)
			check(t, s, token, test.want)
		})
	}
}

func check(t *testing.T, s *httptest.Server, token site.AccessToken, want string) {
	t.Helper()
	start := time.Now()
	_, err := Client{Timeout: time.Second}.Redeem(context.Background(), token, "west")
	var e *Error
	if !errors.As(err, &e) || e.Hint == "" {
		t.Fatalf("got %v", err)
	}
	host := strings.TrimPrefix(s.URL, "https://")
	if !strings.Contains(err.Error(), strings.ReplaceAll(want, "HOST", host)) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "grant-uid") || strings.ContainsAny(err.Error(), "\n\x00\x1b") {
		t.Errorf("says too much: %q", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestWrongCA: the code does not go to a server that the token does not vouch for.
func TestWrongCA(t *testing.T) {
	asked := false
	s, token := server(t, func(http.ResponseWriter, *http.Request) { asked = true }, nil)
	token.CA = otherCA
	check(t, s, token, "was not sent: HOST has a certificate that the token's ca does not vouch for")
	token.CA = "-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n"
	check(t, s, token, "has a ca without a certificate")
	token.CA = ""
	check(t, s, token, "has a ca without a certificate")
	if asked {
		t.Error("the server was asked")
	}
}

func TestWrongURL(t *testing.T) {
	s, token := server(t, reply(answer), nil)
	for _, url := range []string{"http" + strings.TrimPrefix(s.URL, "https"), "ftp://x", "://", "https://\x00"} {
		token.URL = url
		check(t, s, token, "has a url that is not an https URL")
	}
}

func TestAway(t *testing.T) {
	s, token := server(t, reply(answer), nil)
	s.Close()
	check(t, s, token, "could not be redeemed: HOST cannot be reached (connection refused). Check that this host")
}

// TestSlow: neither a server that says nothing nor one that dribbles holds anybody up.
func TestSlow(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	s, token := server(t, func(w http.ResponseWriter, _ *http.Request) { <-stop }, nil)
	check(t, s, token, "could not be redeemed in time: HOST does not answer")
	s2, token2 := server(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				io.WriteString(w, "#")
				w.(http.Flusher).Flush()
			}
		}
	}, nil)
	check(t, s2, token2, "could not be redeemed in time: HOST does not answer")

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	token.URL = "https://" + silent.Addr().String()
	check(t, &httptest.Server{URL: token.URL}, token, "could not be redeemed in time: HOST does not answer")
}

// otherCA is the certificate of a CA that signed nothing.
const otherCA = `-----BEGIN CERTIFICATE-----
MIIBhTCCASqgAwIBAgIURtHrqvdL21e9Jprh8fdL0svzhBswCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTMwMTMxODUzWhgPMjEyNjExMDYxMzE4
NTNaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
gm6rM1tInHEwnKIbM6BXm52Dk7VkKCag5FXidbHkVfMhYruFQLOPprYprGXiqjJl
+OCB+V5azTOLeFAXsoiSBKNgMF4wHQYDVR0OBBYEFOM03el8R6XbclJKRIh8LPZS
O83jMB8GA1UdIwQYMBaAFOM03el8R6XbclJKRIh8LPZSO83jMA8GA1UdEwEB/wQF
MAMBAf8wCwYDVR0PBAQDAgIEMAoGCCqGSM49BAMCA0kAMEYCIQDWAEhDTex/oVxH
5mU54jc6B/lXkwboGC+v5ppEylg91QIhAJbsNO8SdWu6WTlOlA1uij0ahMPm3N+2
l1Cy3/DPqbYf
-----END CERTIFICATE-----
`
