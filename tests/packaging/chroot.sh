#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# chroot.sh DIRECTORY DEB…: creates a root of this Debian release in DIRECTORY, from apt's mirror,
# with the dependencies of the packages DEB except these packages, and reuses it later. It is
# created again when the release or the dependencies change. ALSO lists additional packages.
set -eu

root=$1
shift
. /etc/os-release
depends=$(for deb; do dpkg-deb -f "$deb" Depends; done | sed 's/, */\n/g' | grep -v '^ringfence ' | sort -u |
	paste -sd, | sed 's/,/, /g')${ALSO:+, $ALSO}
stamp="$VERSION_CODENAME: $depends"

[ "$(cat "$root.stamp" 2>/dev/null)" = "$stamp" ] && exit

mirror=$(apt-get indextargets --format "\$(SITE) \$(CODENAME)" 'Created-By: Packages' |
	awk -v codename="$VERSION_CODENAME" '$2 == codename { print $1; exit }')
[ -n "$mirror" ] || { echo "$0: apt knows no mirror of $VERSION_CODENAME" >&2; exit 1; }

rm -rf --one-file-system "$root" "$root.stamp"
mkdir -p "$root"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror"
rm -f "$root/etc/apt/sources.list"
for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ ! -f "$sources" ] || cp "$sources" "$root$sources"
done
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Prevents package scripts from starting services.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
in_root() { # dpkg needs /proc; the mounts are removed with the namespace
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --propagation private sh -eu -c 'root=$1; shift
		mount -t proc proc "$root/proc"
		exec chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"' sh "$root" "$@"
}
in_root apt-get update
in_root apt-get satisfy -y --no-install-recommends "$depends"
in_root apt-get clean
printf '%s\n' "$stamp" >"$root.stamp"
