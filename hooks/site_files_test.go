package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelet/sitelet/test/standin/certs"
)

// TestUpstreamsFiles takes over a namespace that upstream has left, whose secrets everyone may read, and clears away what is
// none of its own.
func TestUpstreamsFiles(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	refresh(t, h)
	runtime := filepath.Join(h.home("ns1"), "runtime")
	for _, name := range []string{"router/skrouterd.json", "certs/skupper-local-server/tls.key"} {
		if err := os.Chmod(filepath.Join(runtime, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"resources/Listener-gone.yaml", "resources/.Site-s.yaml123", "links/link-old-host.yaml", "router/.skrouterd.json123"} {
		if err := os.WriteFile(filepath.Join(runtime, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(t, h, "resources/listener.yaml", listenerText("a", 8080))
	refresh(t, h)
	files := written(h)["files.txt"]
	for _, not := range []string{"gone", "123", "link-old", "644 runtime/router", "644 runtime/certs/skupper-local-server/tls.key"} {
		if strings.Contains(files, not) {
			t.Errorf("%s is there:\n%s", not, files)
		}
	}
}

// TestHalfACertificate has what lacks in the directory of a Link's certificate be said, and with no more than a CA, as in a Secret, the
// Link be made.
func TestHalfACertificate(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	certs.New(t).Issue(t, filepath.Join(h.home("ns1"), "input/certs/x"))
	put(t, h, "resources/all.yaml", resourceText("Site", "s", "")+
		resourceText("Link", "l", `tlsCredentials: x, endpoints: [{name: inter-router, host: h.example, port: "55671"}]`))
	unput(t, h, "certs/x/tls.key")
	if s := refresh(t, h); !strings.Contains(said(s), "input/certs/x/tls.key: is missing; the Link \"l\" needs it") || entity(t, h, "l") != nil {
		t.Error(said(s))
	}
	unput(t, h, "certs/x/tls.crt")
	if s := refresh(t, h); said(s) != "" || entity(t, h, "l") == nil {
		t.Error(said(s))
	}
}

// TestUnderscore has a name of a Certificate with all that such a name may have: it has its status, and its last good version.
func TestUnderscore(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/cert.yaml", resourceText("Certificate", "My_cert.x", "ca: skupper-site-ca, subject: x, server: true"))
	if refresh(t, h); !strings.Contains(status(h, "Certificate-My_cert.x"), "status: Ready") {
		t.Errorf("the status is %q", status(h, "Certificate-My_cert.x"))
	}
	put(t, h, "resources/cert.yaml", resourceText("Certificate", "My_cert.x", "ca: skupper-site-ca, subject: x, server: yes"))
	if s := refresh(t, h); !strings.Contains(said(s), "What ran before goes on.") {
		t.Error(said(s))
	}
}

// TestRenewal has certificates be made anew when a third of their life is left, and not before.
func TestRenewal(t *testing.T) {
	h := siteHooks(t)
	begin(t, h, "ns1")
	put(t, h, "resources/site.yaml", resourceText("Site", "s", ""))
	put(t, h, "resources/cert.yaml", resourceText("Certificate", "x", "ca: skupper-site-ca, subject: x, server: true"))
	refresh(t, h)
	ends := func() string { return "expiration: " + h.Now().AddDate(5, 0, 0).UTC().Format("\"2006-01-") }
	if got := status(h, "Certificate-x"); !strings.Contains(got, ends()) {
		t.Errorf("%q is not in the status of a certificate:\n%s", ends(), got)
	}
	key := func() string { return string(tree(h.home("ns1"))["runtime/certs/skupper-local-server/tls.key"]) }
	before := key()
	h.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
	if refresh(t, h); key() != before {
		t.Error("it is renewed after a year")
	}
	h.Now = func() time.Time { return time.Now().AddDate(4, 0, 0) }
	if refresh(t, h); key() == before {
		t.Error("it is not renewed after four")
	}
	if got := status(h, "Certificate-x"); !strings.Contains(got, ends()) {
		t.Errorf("%q is not in the status of a renewed certificate:\n%s", ends(), got)
	}
}
