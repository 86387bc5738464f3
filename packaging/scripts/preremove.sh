#!/bin/sh
# Before removal and upgrade. A DEB's script gets "remove" or "upgrade", an RPM's the number of versions that stay.
set -e

case "$1" in
remove | 0)
	# Their services are about to go; containers run on.
	if [ -d /run/systemd/system ]; then
		systemctl stop 'sitelet-*.path' 'sitelet-*.timer' || true
	fi
	;;
esac
