#!/bin/bash
# Installs what `make test` and `make demo` need: Debian packages, if it runs as root, and Go.
set -euo pipefail
cd "$(dirname "$0")/.."

# Taken where the host has no Go that go.mod allows.
toolchain=1.26.8

packages=(
	ca-certificates
	mandoc shellcheck # make lint
	mmdebstrap mount util-linux iproute2 # machines for tests
	lintian rpm rpmlint # look into the packages
	bash-completion fish zsh # take the completions
)

newer_or_same() { # newer_or_same A B: is version A at least B?
	[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

install_packages() {
	local package missing=()
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
	done
	[ "${#missing[@]}" -gt 0 ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "deps: these packages are missing; as root, run: apt-get install ${missing[*]}" >&2
		return 1
	fi
	echo "deps: installing ${missing[*]}"
	apt-get -q update
	DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "${missing[@]}"
}

# The toolchain is a Go module. Every Go since 1.16 can download and verify it; what it takes to run it as well is what
# newer ones do by themselves (cmd/go/internal/toolchain): make the programs executable, and give go.mod its name.
install_go() {
	install_packages golang-go
	local dir
	dir=$(cd / && GOTOOLCHAIN=local go mod download -json "golang.org/toolchain@v0.0.1-go$toolchain.linux-$(go env GOHOSTARCH)" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	rm -rf .cache/go.new .cache/go
	mkdir -p .cache
	cp -r "$dir" .cache/go.new
	chmod -R u+w .cache/go.new
	chmod +x .cache/go.new/bin/* .cache/go.new/pkg/tool/*/*
	find .cache/go.new/src -name _go.mod -execdir mv _go.mod go.mod \;
	mv .cache/go.new .cache/go
	echo "deps: Go $toolchain is in .cache/go"
}

if command -v apt-get >/dev/null; then
	install_packages "${packages[@]}"
else
	echo "deps: this is no Debian; see to it yourself that it has: ${packages[*]}"
fi
wanted=$(awk '$1 == "go" {print $2}' go.mod)
found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
newer_or_same "${found#go}" "$wanted" || install_go
