// Package image makes the container image of the stand-in.
package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// Command is what the router's image runs: a script there, the stand-in itself here.
const Command = "/home/skrouterd/bin/launch.sh"

// user is the one that the router's image runs as.
const user = "10000"

// Build builds the stand-in, static, and returns its path in a directory. It needs the go command.
func Build(ctx context.Context, directory string) (string, error) {
	path := filepath.Join(directory, "standin")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/sitelet/sitelet/test/standin")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the stand-in: %w: %s", err, output)
	}
	return path, nil
}

// Archive writes the image of a program that Build has built to a file, as Write has it.
func Archive(path, name, program string) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(Write(f, name, text), f.Close())
}

// Write writes an image with a static program as its Command, in the form that `podman load` and `docker load` take, under a name
// with a tag such as quay.io/skupper/skupper-router:main. The same program and name make the same bytes.
func Write(w io.Writer, name string, program []byte) error {
	layer, err := archive(
		file{name: "home/", mode: 0o755}, file{name: "home/skrouterd/", mode: 0o755}, file{name: "home/skrouterd/bin/", mode: 0o755},
		file{name: Command[1:], mode: 0o755, content: program},
		file{name: "etc/", mode: 0o755},
		file{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0::/:/\nrunner:x:10000:10000::/home/skrouterd:/\n")},
		file{name: "tmp/", mode: 0o1777})
	if err != nil {
		return err
	}
	type object map[string]any
	configuration, err := json.Marshal(object{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"created":      time.Unix(0, 0).UTC(),
		"config":       object{"User": user, "WorkingDir": "/home/skrouterd/bin", "Cmd": []string{Command}, "Env": []string{"PATH=/usr/bin:/bin", "QDROUTERD_HOME=/home/skrouterd"}},
		"rootfs":       object{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
		"history":      []object{{"created": time.Unix(0, 0).UTC(), "created_by": "the stand-in for skrouterd"}},
	})
	if err != nil {
		return err
	}
	layerName, configurationName := digest(layer)+"/layer.tar", digest(configuration)+".json"
	manifest, err := json.Marshal([]object{{"Config": configurationName, "RepoTags": []string{name}, "Layers": []string{layerName}}})
	if err != nil {
		return err
	}
	image, err := archive(
		file{name: configurationName, mode: 0o644, content: configuration},
		file{name: layerName, mode: 0o644, content: layer},
		file{name: "manifest.json", mode: 0o644, content: manifest})
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return err
}

// file is an entry of an archive, a directory if its name ends in a slash.
type file struct {
	name    string
	mode    int64
	content []byte
}

func archive(files ...file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if f.name[len(f.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
