#!/bin/sh
# After installation and upgrade, of DEB and RPM. Nothing is enabled or started; what runs goes on running.
set -e

if command -v systemd-tmpfiles >/dev/null; then
	systemd-tmpfiles --create sitelet.conf || true
fi
# The generator of the new version writes the units anew.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl reload 'user@*.service' || true
fi
