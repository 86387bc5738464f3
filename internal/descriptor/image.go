package descriptor

import "strings"

// readImage reads image. Names must be fully qualified, since a short one means something else on every host.
func readImage(root value, c *Container) {
	image, ok := root.require("image", `Write "image": {"name": "..."}.`)
	if !ok {
		return
	}
	if name, ok := image.require("name", `Write the image, such as "docker.io/library/busybox:1".`); ok {
		c.Image = name.text()
		if p := referenceProblem(c.Image); p.message != "" {
			name.fail(p.message, p.hint)
		}
	}
	decrypt := image.get("decrypt_config")
	c.DecryptKeys = readDecryptKeys(decrypt.get("keys"))
	if recipients := decrypt.get("recipients"); !recipients.empty() {
		recipients.failKey("is not supported by the engine", `Write the private key in "keys".`)
	}
}

// referenceProblem wants a registry in front: something with a dot, a port or a capital, or "localhost".
func referenceProblem(name string) problem {
	if strings.Contains(name, "://") {
		return problem{quote(name) + " is not an image", "Write it without http:// or the like."}
	}
	r := splitReference(name)
	fault := r.fault()
	if len(name) == 64 && only(name, numerals+"abcdef") {
		fault = "invalid repository name (" + name + "), cannot specify 64-byte hexadecimal strings"
	}
	switch {
	case fault != "":
		return problem{quote(name) + " is not an image: " + shorten(fault), "Write REGISTRY/NAME:TAG or REGISTRY/NAME@DIGEST."}
	case !r.explicit:
		return problem{quote(name) + " does not name a registry", "Write " + quote(r.String()) + ", or the registry that it comes from."}
	}
	return problem{}
}

// readDecryptKeys reads PATH or PATH:PASSWORD. Nothing of it is repeated in messages.
func readDecryptKeys(list value) []DecryptKey {
	var keys []DecryptKey
	for _, item := range list.items() {
		path, password, _ := strings.Cut(item.text(), ":")
		path, p := absolute(path)
		if p.message != "" {
			item.fail("is not an absolute path", "Write PATH or PATH:PASSWORD, with a path that begins with / and has no .. in it.")
			continue
		}
		keys = append(keys, DecryptKey{path, password})
	}
	return keys
}
