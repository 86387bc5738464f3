#!/bin/sh
# After removal, upgrade and purge. Descriptors, namespaces of sites and running containers are left alone.
set -e

case "$1" in
purge)
	rm -rf /var/lib/sitelet /var/lib/sitelet-ports
	find /etc/systemd -type l -lname '*/lib/systemd/*/sitelet-*' -delete
	;;
remove | 0)
	# A tree that is no host may have no rm.
	[ ! -e /run/sitelet ] || rm -rf /run/sitelet
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload || true
		systemctl reload 'user@*.service' || true
	fi
	;;
esac
