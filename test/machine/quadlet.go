package machine

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Quadlet returns the command, without arguments, that runs the machine's Quadlet on the host: its dynamic loader,
// its libraries and the program. Where no machine has been made before it needs
// root and mmdebstrap, otherwise neither.
func Quadlet() ([]string, error) {
	debian, err := base()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(debian.dir, "upper")
	quadlet := filepath.Join(root, "usr/libexec/podman/quadlet")
	loader, err := interpreter(quadlet)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", quadlet, err)
	}
	libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if len(libraries) != 1 {
		return nil, fmt.Errorf("%s has no directory of libraries; remove it to have it made again", root)
	}
	return []string{filepath.Join(root, loader), "--library-path", libraries[0], quadlet}, nil
}

// interpreter returns the path of the dynamic loader that a program names.
func interpreter(path string) (string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	section := file.Section(".interp")
	if section == nil {
		return "", errors.New("it names no dynamic loader")
	}
	name, err := section.Data()
	return strings.TrimRight(string(name), "\x00"), err
}
