#!/bin/bash
# nfpm.sh deb|rpm: prints nfpm's configuration of a package: nfpm.yaml and the files of dist/root/usr/share. An RPM has a changelog
# of its own, and says of each file whether it is a document or a licence.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$1" != rpm ] || echo 'changelog: dist/changelog.yaml'
cat packaging/nfpm.yaml
find dist/root/usr/share -type f -printf '/usr/share/%P\n' | sort | while read -r file; do
	case "$1 $file" in
	'rpm /usr/share/doc/'* | 'rpm /usr/share/man/'*) type=doc ;;
	'rpm /usr/share/licenses/'*) type=license ;;
	*) type='file' ;;
	esac
	printf '  - {src: dist/root%s, dst: %s, type: %s}\n' "$file" "$file" "$type"
done
