#!/bin/bash
# Prints the copyright file of the packages: the licences of sitelet and of all that is linked into its programs.
set -euo pipefail
cd "$(dirname "$0")/.."

cat <<'END'
sitelet, https://github.com/sitelet/sitelet

Copyright The sitelet authors
Licensed under the Apache License, Version 2.0. Its text is in /usr/share/licenses/sitelet/LICENSE and, on Debian, in
/usr/share/common-licenses/Apache-2.0.

The programs contain the Go standard library and the Go modules below, each under the licence that follows its name.
END

# print_license NAME FILE...
print_license() {
	local file
	printf '\n%s\n%s\n\n' '------------------------------------------------------------------------' "$1"
	shift
	for file; do
		if grep -q 'Apache License' "$file" && grep -q 'TERMS AND CONDITIONS FOR USE' "$file"; then
			echo 'Apache License, Version 2.0, as above.'
		else
			tr -d '\r' <"$file"
		fi
	done
}

print_license "Go $(go env GOVERSION | sed 's/^go//')" "$(go env GOROOT)/LICENSE"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/... | sort -u |
	while read -r path version dir; do
		mapfile -t files < <(find "$dir" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) ! -name '*.docs' | sort)
		if [ "${#files[@]}" -eq 0 ]; then
			echo "licenses.sh: $path has no file with its licence; find out what it is" >&2
			exit 1
		fi
		print_license "$path $version" "${files[@]}"
	done
