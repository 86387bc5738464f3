package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelet/sitelet/generator"
	"github.com/sitelet/sitelet/internal/router"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/source"
)

// proxy is what a Link's proxy-configuration names.
type proxy struct {
	router.Proxy
	password []byte
	input    site.Proxy // of a directory of input/proxies
}

// newProxy makes one of its host, port, username and password.
func newProxy(name string, get func(key string) string) proxy {
	p := proxy{Proxy: router.Proxy{Name: name, Host: get("host"), Port: get("port"), Username: get("username")}, password: []byte(get("password"))}
	p.Password = len(p.password) > 0
	return p
}

// offeredProxies returns the directories of input/proxies, which have a file each for host, port, username and password.
func (h Hooks) offeredProxies(namespace string) []proxy {
	parent := filepath.Join(h.home(namespace), "input/proxies")
	entries, _ := os.ReadDir(parent)
	var all []proxy
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		p := newProxy(e.Name(), h.proxyFile(dir))
		p.input = site.Proxy{Name: p.Name, Dir: dir, Host: p.Host, Port: p.Port}
		all = append(all, p)
	}
	return all
}

func (h Hooks) proxyFile(dir string) func(key string) string {
	return func(key string) string {
		path := filepath.Join(dir, key)
		if _, err := os.Lstat(path); err != nil {
			return ""
		}
		file, bad := generator.Reader(h.Paths).Lone(path)
		if bad != nil {
			return ""
		}
		return strings.TrimSpace(string(file.Data))
	}
}

// rendered returns the entities of the configuration that was rendered last; none where there is none that can be read.
func (h Hooks) rendered(namespace string) []router.Entity {
	text, err := source.Made(filepath.Join(h.home(namespace), "runtime/router/skrouterd.json"))
	if err != nil {
		return nil
	}
	entities, _ := router.Parse(text)
	return entities
}

// routedProxies returns those that the router has by the configuration that was rendered last.
func (h Hooks) routedProxies(namespace string) []proxy {
	var all []proxy
	for _, e := range h.rendered(namespace) {
		if e.Type != "proxyProfile" || filepath.Base(e.Name) != e.Name {
			continue
		}
		all = append(all, newProxy(e.Name, func(key string) string {
			value, _ := e.Get(key).(string)
			if key == "password" && value != "" {
				password, _ := source.Made(filepath.Join(h.home(namespace), "runtime/certs", e.Name, "password.txt"))
				return string(password)
			}
			return value
		}))
	}
	return all
}

func proxyNames(all []proxy) (names []string) {
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// usedProxies returns the proxies that the links of a site go through, each once: of a directory or, where there is none, of a
// Secret. Where neither can be used, the link goes on with what the router has.
func (h Hooks) usedProxies(s Site) []proxy {
	var all []proxy
	for _, link := range s.Resources.Links {
		if link.Proxy == "" || slices.Contains(proxyNames(all), link.Proxy) {
			continue
		}
		for _, list := range [][]proxy{s.offered, secretProxies(s.Resources.Secrets), h.routedProxies(s.Namespace)} {
			i := slices.Index(proxyNames(list), link.Proxy)
			if i >= 0 && (site.Proxy{Host: list[i].Host, Port: list[i].Port}).Usable() {
				all = append(all, list[i])
				break
			}
		}
	}
	return all
}

func secretProxies(secrets []site.Secret) []proxy {
	var all []proxy
	for _, secret := range secrets {
		all = append(all, newProxy(secret.Name, func(key string) string { return strings.TrimSpace(string(secret.Get(key))) }))
	}
	return all
}
