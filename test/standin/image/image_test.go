package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestWrite(t *testing.T) {
	const name = "quay.io/skupper/skupper-router:main"
	var b, again bytes.Buffer
	for _, w := range []io.Writer{&b, &again} {
		if err := Write(w, name, []byte("program")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same image has other bytes the second time")
	}
	files := unpack(t, b.Bytes())
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 1 || manifest[0].RepoTags[0] != name || len(manifest[0].Layers) != 1 {
		t.Fatalf("the manifest is %+v", manifest)
	}
	var configuration struct {
		Config struct{ Cmd []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(files[manifest[0].Config], &configuration); err != nil {
		t.Fatal(err)
	}
	layer := files[manifest[0].Layers[0]]
	if configuration.RootFS.DiffIDs[0] != "sha256:"+digest(layer) {
		t.Error("the layer's digest is not the configuration's")
	}
	if got := unpack(t, layer)[configuration.Config.Cmd[0][1:]]; string(got) != "program" {
		t.Errorf("the command is %q", got)
	}
}

func unpack(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content
	}
}
