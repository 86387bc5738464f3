# shellcheck shell=bash
# Runs as the first process of fresh namespaces, in the cgroup that becomes the machine's root.
# Stacks the machine's file system, lays out /dev, /proc, /sys and /run as a container manager does
# (https://systemd.io/CONTAINER_INTERFACE) and becomes the command given as arguments.
# In: LOWER, the overlay's lower directories; DIR, with upper, work, root, containers, home, kmsg and notify.
set -eu
umask 022
mount --make-rprivate /
mount -t overlay -o "lowerdir=$LOWER,upperdir=$DIR/upper,workdir=$DIR/work,volatile" overlay "$DIR/root"
cd "$DIR/root"

# Podman's overlay cannot lie on an overlay.
mkdir -p var/lib/containers
mount --bind "$DIR/containers" var/lib/containers
mount --bind "$DIR/home" home

mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs tmp

node() {
	mknod -m "$2" "dev/$1" c "$3" "$4"
}
mount -t tmpfs -o mode=755,nosuid tmpfs dev
mkdir dev/pts dev/shm dev/net
node null 666 1 3
node zero 666 1 5
node full 666 1 7
node random 666 1 8
node urandom 666 1 9
node tty 666 5 0
node fuse 666 10 229
node net/tun 666 10 200
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
touch dev/kmsg
mount --bind "$DIR/kmsg" dev/kmsg

# Kernel settings outside the network namespace are the host's. The second, whole /proc is what lets an unprivileged
# user's container mount one of its own.
mkdir -p run/host/proc
mount -t proc proc run/host/proc
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --bind run/host/proc/sys/net proc/sys/net
[ ! -e proc/sysrq-trigger ] || mount --bind dev/null proc/sysrq-trigger
touch run/host/notify
mount --bind "$DIR/notify" run/host/notify

# An empty securityfs: the host's AppArmor must not be asked to confine the machine's containers.
mount -t sysfs -o ro sysfs sys
[ ! -d sys/kernel/security ] || mount -t tmpfs -o ro tmpfs sys/kernel/security
mount -t cgroup2 cgroup2 sys/fs/cgroup

pivot_root . mnt
umount -l /mnt
# As systemd has it on a host; containers with shared or slave mounts need it.
mount --make-rshared /

# An interface with an address and a carrier, but no route to anywhere: what is not here fails at once.
ip link add eth0 type veth peer name wire
ip link set wire up
ip link set eth0 up
ip address add 192.0.2.2/24 dev eth0

exec env -i container=sitelet NOTIFY_SOCKET=/run/host/notify HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
