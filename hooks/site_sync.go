package hooks

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelet/sitelet/internal/management"
	"github.com/sitelet/sitelet/internal/pki"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/source"
)

const (
	// routerUp is how long a router that has been started may take until it answers.
	routerUp = 60 * time.Second
	// routerAnswer is how long one that runs may take for everything.
	routerAnswer = 20 * time.Second
	// routerPoll is how long it is left alone between two tries.
	routerPoll = 50 * time.Millisecond
)

// SyncSite brings the running router of a namespace to what its input says, without a restart: it writes what the router reads,
// compares what the router reports with it, and asks for what differs. A second call asks for nothing. The error names what the
// router refused; the rest is applied all the same, and the next call tries again.
func (h Hooks) SyncSite(ctx context.Context, namespace string) error {
	if h.isFrozen(namespace) {
		return fmt.Errorf("namespace %s stays as it is, as sitelet.toml asks for; set mode = \"update\" to follow its changes", namespace)
	}
	h.keepRouter = true
	s, err := h.refreshSite(ctx, namespace)
	if err != nil {
		return err
	}
	if s.impossible() {
		return fmt.Errorf("the site of namespace %s has an error and was left as it is; `sitelet check` says which", namespace)
	}
	if s.Entities == nil {
		return fmt.Errorf("there is no Site in namespace %s", namespace)
	}
	return h.sync(ctx, s, routerAnswer)
}

// StartedSite waits until a router that has been started answers, and does what SyncSite does. Only a router that does not answer
// is an error: one that lacks a listener, because its port is taken, is not to be stopped for that. The next reload tries again.
func (h Hooks) StartedSite(ctx context.Context, namespace string) error {
	if h.isFrozen(namespace) {
		record, err := h.store().ReadSite(namespace)
		if err != nil {
			return err
		}
		return h.sync(ctx, Site{Namespace: namespace, record: record}, routerUp)
	}
	h.keepRouter = true
	s, err := h.refreshSite(ctx, namespace)
	if err != nil || s.Entities == nil {
		h.Log("namespace %s: the router was started with the configuration from before; `sitelet check` says what is wrong", namespace)
		if s.record.Port(localPort) == 0 {
			return err
		}
	}
	var silent *noAnswerError
	if err = h.sync(ctx, s, routerUp); err != nil && !errors.As(err, &silent) {
		h.Log("%v", err)
		return nil
	}
	return err
}

// sync talks to the router of a namespace, which is to answer in time.
func (h Hooks) sync(ctx context.Context, s Site, patience time.Duration) error {
	dialing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := h.dialRouter(dialing, s)
	if err != nil {
		return err
	}
	defer client.Close()
	if s.Entities == nil {
		return nil
	}
	ctx, cancel = context.WithTimeout(ctx, routerAnswer)
	defer cancel()
	return h.adjust(ctx, client, s)
}

// noAnswerError says that a router does not answer.
type noAnswerError struct {
	namespace string
	err       error
}

func (e *noAnswerError) Error() string {
	var stranger *tls.CertificateVerificationError
	if errors.As(e.err, &stranger) {
		return fmt.Sprintf("the router of namespace %s does not take part: %v; if it was started before its CA skupper-local-ca was another one, restart skupper-%[1]s", e.namespace, e.err)
	}
	return fmt.Sprintf("the router of namespace %s does not answer: %v; see journalctl -u skupper-%[1]s", e.namespace, e.err)
}

func (e *noAnswerError) Unwrap() error { return e.err }

// dialRouter connects to the router's local endpoint, and tries until ctx ends: it may be starting.
func (h Hooks) dialRouter(ctx context.Context, s Site) (*management.Client, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(s.record.Port(localPort))))
	endpoint, err := management.Files(address, filepath.Join(h.home(s.Namespace), "runtime/certs", pki.LocalClient))
	if err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	var why error
	for {
		client, err := management.Dial(ctx, endpoint)
		switch {
		case err == nil:
			return client, nil
		case why == nil || ctx.Err() == nil && time.Now().Before(end): // the context may be a little late to say so
			why = err // a try that the end has cut off says less than the one before
		}
		select {
		case <-time.After(routerPoll):
		case <-ctx.Done():
			return nil, &noAnswerError{s.Namespace, why}
		}
	}
}

// adjust compares a running router with what is wanted of it, asks for what differs, and writes down what came of it.
func (h Hooks) adjust(ctx context.Context, client *management.Client, s Site) error {
	have, err := management.Snapshot(ctx, client)
	if err != nil {
		return fmt.Errorf("asking the router of namespace %s what it has: %w", s.Namespace, err)
	}
	want := s.Entities
	if s.record.Platform != "linux" {
		want = router.Expand(want, router.ContainerBase)
	}
	if names := router.NeedsRestart(want, have); len(names) > 0 {
		return fmt.Errorf("the router of namespace %s was started with another %s; run %s restart skupper-%[1]s", s.Namespace, strings.Join(names, ", "),
			h.Paths.Scope.Systemctl())
	}
	before := h.applied(s.Namespace)
	now := before.next(s, h.profileDigests(s.Namespace, s.Entities), h.now())
	open := withoutShut(have, before.Shut)
	requests := append(router.Diff(want, open, before.rotated(now.Profiles)), router.Retire(have, now.retire(h.now()))...)
	requests, failures := withoutTaken(requests, open)
	for _, r := range requests {
		h.Log("namespace %s: %s", s.Namespace, r)
	}
	failures = append(failures, management.Apply(ctx, client, requests)...)
	if len(requests) > 0 {
		if have, err = settled(ctx, client, requests); err != nil {
			return fmt.Errorf("asking the router of namespace %s what it has now: %w", s.Namespace, err)
		}
	}
	failures = append(failures, shut(have)...)
	errs := []error{h.observe(s, observed{have, failures})}
	for _, f := range failures {
		errs = append(errs, fmt.Errorf("namespace %s: %s: %w", s.Namespace, f.Request, f.Err))
	}
	if len(failures) == 0 {
		errs = append(errs, h.noteApplied(s.Namespace, now), h.pruneCerts(s))
	} else {
		errs = append(errs, h.noteApplied(s.Namespace, now.but(failures, before)))
	}
	return errors.Join(errs...)
}

// pruneCerts removes certificates that nothing needs any more, now that the router has let go of them. What a resource needs that
// is left out for an error is not known, so that then all stay.
func (h Hooks) pruneCerts(s Site) error {
	if s.Resources.Findings().HasErrors() {
		return nil
	}
	return pki.Prune(filepath.Join(h.home(s.Namespace), "runtime"), s.wants)
}

// applied is what the running router was last brought to. It is gone with the boot, as the router is.
type applied struct {
	Config   string               // skrouterd.json
	Profiles map[string]string    // digests of the files of TLS profiles
	Rotated  map[string]time.Time `json:",omitempty"` // profiles whose connections with older files are still let be, since when
	Shut     []string             `json:",omitempty"` // listeners that could not be opened when the router started
}

// retireAfter is how long connections with older certificates are let be: peers need their new ones, too, by then.
const retireAfter = time.Hour

// next is what will have been applied of s.
func (a applied) next(s Site, profiles map[string]string, now time.Time) applied {
	n := applied{Config: string(router.Marshal(s.Entities)), Profiles: profiles, Rotated: maps.Clone(a.Rotated)}
	for _, name := range a.rotated(profiles) {
		if n.Rotated == nil {
			n.Rotated = map[string]time.Time{}
		}
		n.Rotated[name] = now
	}
	return n
}

// but is what has been applied where something failed: the configuration is still to be, and so are profiles that failed. The files of
// the others have been read, and count as new once.
func (a applied) but(failures []management.Failure, before applied) applied {
	a.Config = before.Config
	for _, f := range failures {
		name := f.Request.Entity.Name
		delete(a.Profiles, name)
		delete(a.Rotated, name)
		if digest, ok := before.Profiles[name]; ok {
			a.Profiles[name] = digest
		}
		if since, ok := before.Rotated[name]; ok {
			a.Rotated[name] = since
		}
	}
	return a
}

// retire returns the profiles whose older connections have been let be long enough, and forgets them.
func (a applied) retire(now time.Time) []string {
	var names []string
	for name, since := range a.Rotated {
		if now.Sub(since) >= retireAfter {
			names = append(names, name)
			delete(a.Rotated, name)
		}
	}
	slices.Sort(names)
	return names
}

// rotated lists the profiles whose files are others now.
func (a applied) rotated(now map[string]string) []string {
	var names []string
	for name, digest := range a.Profiles {
		if fresh, ok := now[name]; ok && fresh != digest {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (h Hooks) appliedPath(namespace string) string {
	return filepath.Join(h.Paths.RuntimeDir, "sites", namespace)
}

func (h Hooks) applied(namespace string) applied {
	var a applied
	if data, err := os.ReadFile(h.appliedPath(namespace)); err == nil {
		_ = json.Unmarshal(data, &a) // damaged is as good as none
	}
	return a
}

func (h Hooks) noteApplied(namespace string, a applied) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return replace(h.appliedPath(namespace), data, 0o600)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// profileDigests digests the files of each TLS profile and each proxy of a router.
func (h Hooks) profileDigests(namespace string, entities []router.Entity) map[string]string {
	digests := map[string]string{}
	for _, e := range entities {
		var files []string
		switch e.Type {
		case "sslProfile":
			files = []string{"ca.crt", "tls.crt", "tls.key"}
		case "proxyProfile":
			files = []string{"password.txt"}
		default:
			continue
		}
		var all []byte
		for _, file := range files {
			data, _ := source.Made(filepath.Join(h.home(namespace), "runtime/certs", e.Name, file))
			all = append(append(all, file...), data...)
		}
		digests[e.Name] = digest(all)
	}
	return digests
}
