package hooks

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/build"
	"github.com/sitelet/sitelet/internal/config"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/paths"
	"github.com/sitelet/sitelet/internal/state"
)

// siteRecord returns what is kept of a namespace, or the beginning of it.
func (h Hooks) siteRecord(namespace string) (state.Site, error) {
	record, err := h.store().ReadSite(namespace)
	if errors.Is(err, fs.ErrNotExist) {
		return state.Site{Namespace: namespace, ID: newUUID(), Suffix: newSuffix(), Platform: h.platformBefore(namespace)}, nil
	}
	return record, err
}

// platformBefore returns what a namespace that is taken over has run on, by the file that upstream leaves, which is ours too; empty
// where there is none.
func (h Hooks) platformBefore(namespace string) string {
	file, bad := generator.Reader(h.Paths).File(filepath.Join(h.home(namespace), "internal/platform.yaml"))
	platform, ok := strings.CutPrefix(strings.TrimSpace(string(file.Data)), "platform: ")
	if bad != nil || !ok || !config.IsPlatform(platform) {
		return ""
	}
	return platform
}

// newUUID is a random one, version 4 of RFC 9562.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// newSuffix tells routers of sites with one name apart.
func newSuffix() string {
	var b [5]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// errBadConfig keeps a site from being looked at.
var errBadConfig = errors.New("sitelet.toml has errors; `sitelet check` names them")

// identify says which router a site is to have.
func (h Hooks) identify(s *Site) error {
	c, found := config.Load(h.Paths)
	if found.HasErrors() {
		return errBadConfig
	}
	c, err := c.WithEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	platform := c.Platform
	if platform == "" {
		platform = "podman"
	}
	switch {
	case s.record.Platform == "":
		s.record.Platform = platform
	case s.record.Platform != platform && c.Platform != "":
		s.refusePlatform(platform)
	}
	old := s.record.Router
	r := state.Router{Source: s.Resources.Site.File, Name: s.Resources.Site.Name, Edge: s.Resources.Site.Edge, Home: h.home(s.Namespace),
		Release: build.Version}
	if s.record.Platform != "linux" {
		r.Image = routerImage(c.Router, old)
		if h.keepRouter && old != nil {
			r.Image = old.Image
		}
		if r.User, r.KeepID, err = containerUser(h.Paths.Scope, s.record.Platform); err != nil {
			return err
		}
	}
	if old != nil {
		s.renamePorts(old.Name)
		// Another version of sitelet, or another file for the Site, is no reason for a restart.
		same := r
		same.Release, same.Source = old.Release, old.Source
		if same == *old {
			r.Release = old.Release
		}
	}
	s.record.Router = &r
	return nil
}

// refusePlatform says that the configured platform is for new sites only: several can run side by side on different ones.
func (s *Site) refusePlatform(platform string) {
	d := s.Resources.Site.At("")
	d.Severity = diag.Warning
	d.Message = fmt.Sprintf("the site runs on %s and keeps that, though the platform is set to %q", s.record.Platform, platform)
	d.Hint = fmt.Sprintf("Run `sitelet site remove %s` and `sitelet reload` to have it anew on %s.", s.Namespace, platform)
	s.Resources.Quarantine(s.Resources.Site.Resource, d)
}

// containerUser is UID:GID of a router's container, and whether the user is to be himself in it (skupper,
// pkg/nonkube/client/compat).
func containerUser(scope paths.Scope, platform string) (id string, keep bool, err error) {
	if platform != "docker" {
		uid, gid := os.Getuid(), os.Getgid()
		return strconv.Itoa(uid) + ":" + strconv.Itoa(gid), scope == paths.User && uid != 0, nil
	}
	g, err := user.LookupGroup("docker")
	if err != nil {
		return "", false, fmt.Errorf("the platform docker needs a group docker: %w; install Docker, or set another platform in sitelet.toml", err)
	}
	return "0:" + g.Gid, false, nil
}
