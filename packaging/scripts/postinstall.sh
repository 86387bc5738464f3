#!/bin/sh
# After installation and upgrade, of DEB and RPM. Nothing is enabled or started; what runs goes on running.
set -e

# Without /dev/null: a tree that is no host has none.
if tmpfiles=$(command -v systemd-tmpfiles); then
	"$tmpfiles" --create sitelet.conf || true
fi
# The generator of the new version writes the units anew.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl reload 'user@*.service' || true
fi
