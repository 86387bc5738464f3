#!/bin/bash
# `make reproducible`: makes the programs and packages of the work tree in two directories with different paths, times and
# settings, and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy_tree() { # copy_tree DIR
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar --null -T - -c | tar -x -m -C "$1"
}

build() { # build DIR UMASK TIMEZONE CACHE: prints the checksums
	copy_tree "$work/$1"
	cd "$work/$1"
	umask "$2"
	export TZ=$3 PATH="$top/.cache/go/bin:$PATH" SOURCE_DATE_EPOCH
	GOCACHE=$4 make -s build >&2
	sha256sum bin/*
	make -s package >&2
	sha256sum dist/*.deb dist/*.rpm
}

: "${SOURCE_DATE_EPOCH:?is set by make reproducible}"
first=$(build one 022 UTC "$(go env GOCACHE)")
# Compiled anew: what the cache has could only be the same.
second=$(build another/and/deeper 077 Asia/Tokyo "$work/cache")
if [ "$first" != "$second" ]; then
	printf 'reproducible: the two builds differ\n%s\n\n%s\n' "$first" "$second" >&2
	exit 1
fi
printf 'reproducible: two builds gave the same bytes\n%s\n' "$first"
