# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Sourced before lib.sh, for tests that use fixed names, such as eth0 and /etc/ringfence. The script
# goes on in a mount namespace with its own /run, /etc and bpffs, which end with the test. /etc has
# a group 'ringfence', and files written there are gone afterwards.

if [ -z "${RF_PRIVATE_MOUNTS-}" ]; then
	[ "$(id -u)" = 0 ] || { echo 'Bail out! it mounts, and loads programs; run it as root'; exit 1; }
	RF_PRIVATE_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi

make_private() {
	mount -t tmpfs -o mode=755 private /run || return
	mkdir /run/private /run/private/upper /run/private/work
	mount -t overlay -o lowerdir=/etc,upperdir=/run/private/upper,workdir=/run/private/work \
		private /etc || return
	# What was recorded on this machine is not a test's.
	[ ! -d /var/lib/ringfence ] || mount -t tmpfs -o mode=750 private /var/lib/ringfence || return
	mount -t bpf -o mode=0700 private /sys/fs/bpf
}

make_private || { echo 'Bail out! it cannot mount'; exit 1; }
getent group ringfence >/run/private/group || echo 'ringfence:x:4711:' >>/etc/group
