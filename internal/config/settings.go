package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/spelling"
)

// setting is a key that a file may have.
type setting struct {
	key string // with dots, e.g. containers.directories
	set func(c *Config, value any) diag.List
}

// settings are all keys, in the order of the documentation. A set function gets a value as package toml decodes it into
// an any. Its findings are without a place, and their Field goes on from the key.
var settings = []setting{
	{"mode", setMode},
	{"prune", setPrune},
	{"containers.directories", setDirectories},
	{"update.probation", setProbation},
	{"update.pull", setPull},
	{"platform", setPlatform},
	{"router.image", setRouterImage},
	{"router.image_upgrade", setImageUpgrade},
	{"docker.endpoint", setDockerEndpoint},
}

var platforms = []string{"podman", "docker", "linux"}

const platformList = `"podman", "docker" or "linux"`

// IsPlatform tells whether a name is one of a platform that sites run on.
func IsPlatform(name string) bool { return slices.Contains(platforms, name) }

func setPlatform(c *Config, value any) diag.List {
	name, _ := value.(string)
	if !IsPlatform(name) {
		return diag.List{{Message: show(value) + " is no platform for sites", Hint: "Write " + platformList + "."}}
	}
	c.Platform = name
	return nil
}

func setRouterImage(c *Config, value any) diag.List {
	image, _ := value.(string)
	if !isImage(image) {
		return diag.List{{Message: show(value) + " is no image", Hint: `Write one such as "` + DefaultRouterImage + `".`}}
	}
	c.Router.Image = image
	return nil
}

func isImage(name string) bool {
	odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return name != "" && name[0] != '-' && strings.IndexFunc(name, odd) < 0
}

func setDockerEndpoint(c *Config, value any) diag.List {
	endpoint, _ := value.(string)
	if scheme, rest, ok := strings.Cut(endpoint, "://"); !filepath.IsAbs(endpoint) && (!ok || scheme == "" || rest == "") {
		return diag.List{{Message: show(value) + " is no endpoint", Hint: `Write the path of a socket, or a URL such as "unix:///run/docker.sock".`}}
	}
	c.Docker.Endpoint = endpoint
	return nil
}

func setImageUpgrade(c *Config, value any) diag.List {
	name, _ := value.(string)
	upgrade := slices.Index(upgradeNames, name)
	if upgrade < 0 {
		return diag.List{{Message: show(value) + " is no way to upgrade", Hint: `Write "newer", "always" or "never".`}}
	}
	c.Router.Upgrade = Upgrade(upgrade)
	return nil
}

func setPrune(c *Config, value any) diag.List {
	prune, ok := value.(bool)
	if !ok {
		return diag.List{{Message: show(value) + " is neither true nor false", Hint: "Write true or false without quotes."}}
	}
	c.Prune = prune
	return nil
}

func setProbation(c *Config, value any) diag.List {
	text, _ := value.(string)
	duration, err := time.ParseDuration(text)
	if err != nil || duration < time.Second || duration > time.Hour {
		return diag.List{{Message: show(value) + " is no duration from 1s to 1h", Hint: `Write one such as "10s" or "2m".`}}
	}
	c.Update.Trial = duration
	return nil
}

func setPull(c *Config, value any) diag.List {
	switch value {
	case "newer":
		c.Update.Pull = true
	case "missing":
		c.Update.Pull = false
	default:
		return diag.List{{Message: show(value) + " is no way to pull", Hint: `Write "missing", or "newer" to follow tags that move.`}}
	}
	return nil
}

func setMode(c *Config, value any) diag.List {
	name, _ := value.(string)
	mode := slices.Index(modeNames, name)
	if mode < 0 {
		return diag.List{{Message: fmt.Sprintf("%s is no mode", show(value)), Hint: `Write "update", "init" or "off".`}}
	}
	c.Mode = Mode(mode)
	return nil
}

func setDirectories(c *Config, value any) diag.List {
	list, ok := value.([]any)
	if !ok {
		return diag.List{{Message: show(value) + " is no list", Hint: `Write directories in square brackets, such as ["/srv/containers"].`}}
	}
	var found diag.List
	var dirs []string
	for i, item := range list {
		dir, _ := item.(string)
		if !filepath.IsAbs(dir) {
			found = append(found, diag.Diagnostic{
				Field:   fmt.Sprintf("[%d]", i),
				Message: show(item) + " is no absolute path",
				Hint:    `Write the path from the root on, such as "/srv/containers".`,
			})
			continue
		}
		if dir = filepath.Clean(dir); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if found == nil {
		c.Containers.Directories = dirs
	}
	return found
}

// meant returns the key, or the table of keys, that a misspelt or misplaced one most likely stands for.
func meant(key string) (name string, ok bool) {
	var names, lasts []string
	for _, s := range settings {
		for name := s.key; name != ""; name = parent(name) {
			names, lasts = append(names, name), append(lasts, last(name))
		}
	}
	if name, ok := spelling.Nearest(key, names); ok {
		return name, true
	}
	if near, ok := spelling.Nearest(last(key), lasts); ok {
		return names[slices.Index(lasts, near)], true
	}
	return "", false
}

func parent(key string) string { return key[:max(strings.LastIndexByte(key, '.'), 0)] }

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// show returns a value as it is written in a file, near enough to be found there.
func show(value any) string {
	switch value := value.(type) {
	case string:
		return fmt.Sprintf("%q", value)
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = show(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any, []map[string]any:
		return "a table"
	}
	return fmt.Sprint(value)
}
