# shellcheck shell=sh
# Turns a plain Debian into a machine for tests; runs once, as root, on the machine's own file system.
set -eu

# There is no hardware, no console and no reason to tidy up.
systemctl mask --quiet systemd-modules-load.service systemd-hwdb-update.service systemd-pcrlock-make-policy.service \
	modprobe@.service sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
	dev-hugepages.mount dev-mqueue.mount systemd-remount-fs.service getty@.service console-getty.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer
systemctl set-default --quiet multi-user.target
# For the tests that want one.
systemctl disable --quiet docker-registry.service docker.service docker.socket containerd.service
# As on most hosts. Until it is reached, a user's Quadlet units wait 90 seconds.
systemctl add-wants --quiet multi-user.target network-online.target

# /dev/kmsg is a pipe of the machine's own, whose other end sends what is written to it to the journal.
mkdir -p /etc/systemd/journald.conf.d /var/log/journal
cat >/etc/systemd/journald.conf.d/test.conf <<-end
	[Journal]
	Storage=persistent
	ReadKMsg=no
	RateLimitBurst=0
end

# No name server: one that does not answer would slow everything down.
: >/etc/resolv.conf
echo '127.0.0.1 localhost' >/etc/hosts
: >/etc/machine-id

# What the first boot after an update would do.
ldconfig
journalctl --update-catalog
/usr/lib/systemd/systemd-update-done

# A user for rootless Podman.
useradd --create-home --shell /bin/bash alice

# A container image without a registry: every applet of a static busybox.
image=$(mktemp -d)
mkdir -p "$image/bin" "$image/etc" "$image/root"
mkdir -m 1777 "$image/tmp"
cp /bin/busybox "$image/bin"
for applet in $(busybox --list); do
	[ "$applet" = busybox ] || ln -s busybox "$image/bin/$applet"
done
echo 'root:x:0:0:root:/root:/bin/sh' >"$image/etc/passwd"
echo 'nobody:x:65534:65534:nobody:/:/bin/false' >>"$image/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$image/etc/group"
tar -C "$image" -cf /usr/share/busybox-image.tar .
rm -r "$image"
for user in root alice; do
	setpriv --reuid=$user --regid=$user --init-groups --reset-env \
		podman import --quiet --change CMD=sh /usr/share/busybox-image.tar localhost/busybox:1
done
