package packaging

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var programs = []string{"usr/bin/sitelet", "usr/lib/systemd/system-generators/sitelet-generator", "usr/lib/systemd/user-generators/sitelet-generator"}

// unpack returns a directory with the files of a DEB.
func unpack(t *testing.T, p built) string {
	t.Helper()
	root := t.TempDir()
	run(t, "dpkg-deb", "-x", p.deb, root)
	return root
}

func TestProgramsAreStatic(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		root := unpack(t, p)
		machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[architecture(p)]
		for _, path := range programs {
			file, err := elf.Open(filepath.Join(root, path))
			if err != nil {
				t.Error(err)
				continue
			}
			defer file.Close()
			if file.Machine != machine {
				t.Errorf("%s is for %v, want %v", path, file.Machine, machine)
			}
			for _, segment := range file.Progs {
				if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
					t.Errorf("%s is linked dynamically", path)
				}
			}
		}
	})
}

func TestProgramKnowsItsVersion(t *testing.T) {
	p := packages(t)
	version := strings.TrimSpace(run(t, "dpkg-deb", "-f", p.deb, "Version"))
	if got, want := run(t, filepath.Join(unpack(t, p), "usr/bin/sitelet"), "version"), "sitelet "+version+"\n"; got != want {
		t.Errorf("sitelet version prints %q, want %q", got, want)
	}
}

// The copyright file has the licence of everything that is linked into the programs.
func TestCopyrightNamesEveryModule(t *testing.T) {
	onBoth(t, func(t *testing.T, p built) {
		root := unpack(t, p)
		text, err := os.ReadFile(filepath.Join(root, "usr/share/doc/sitelet/copyright"))
		if err != nil {
			t.Fatal(err)
		}
		var named []string
		for _, path := range programs {
			info, err := buildinfo.ReadFile(filepath.Join(root, path))
			if err != nil {
				t.Fatal(err)
			}
			named = append(named, "Go "+strings.TrimPrefix(info.GoVersion, "go"))
			for _, module := range info.Deps {
				named = append(named, module.Path+" "+module.Version)
			}
		}
		for _, name := range named {
			if !strings.Contains(string(text), "\n"+name+"\n\n") {
				t.Errorf("the copyright file does not name %s", name)
			}
		}
		for _, want := range []string{"Licensed under the Apache License", "Copyright 2009 The Go Authors", "Permission is hereby granted"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the copyright file does not say %q", want)
			}
		}
	})
}
