# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Sourced before lib.sh, for tests that use fixed names, such as eth0 and /etc/ringfence. The script
# continues in a mount namespace with its own /run, /etc, /var/lib and bpffs, which vanish with the
# test. /etc has a group 'ringfence', and files written there and in /var/lib are deleted
# afterwards.

if [ -z "${RF_PRIVATE_MOUNTS-}" ]; then
	[ "$(id -u)" = 0 ] || { echo 'Bail out! it mounts, and loads programs; run it as root'; exit 1; }
	RF_PRIVATE_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi

make_private() {
	local directory

	mount -t tmpfs -o mode=755 private /run || return
	for directory in /etc /var/lib; do
		[ -d "$directory" ] || continue
		mkdir -p "/run/private$directory/upper" "/run/private$directory/work"
		mount -t overlay -o "lowerdir=$directory,upperdir=/run/private$directory/upper,workdir=/run/private$directory/work" \
			private "$directory" || return
	done
	# Recordings of this machine do not belong to a test.
	[ ! -d /var/lib/ringfence ] || mount -t tmpfs -o mode=750 private /var/lib/ringfence || return
	mount -t bpf -o mode=0700 private /sys/fs/bpf
}

make_private || { echo 'Bail out! it cannot mount'; exit 1; }
getent group ringfence >/run/private/group || echo 'ringfence:x:4711:' >>/etc/group
