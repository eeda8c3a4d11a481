#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# fetch.sh KERNEL: downloads the current kernel of KERNEL's suite to build/vm/kernels/KERNEL
# (vmlinuz, release, lib/modules), unless it is already there. For a different architecture it also
# fills build/vm/root/ARCHITECTURE: the userland and the libraries of Debian 12, for which this tree
# is built.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"
set -e

kernel=$1
architecture=$(architecture_of "$kernel")
# shellcheck disable=SC2046 # words
suites=$(suites_of "$kernel")

# The packages of the kernel, one per line; recent kernels consist of several packages.
parts() { # PACKAGE=VERSION
	local release

	release=$(apt-cache depends --important "$1" | sed -n 's/^.*Depends: linux-image-//p')
	[ -n "$release" ] || die "$1 names no kernel"
	apt-cache pkgnames linux- | grep -xE "linux-(image|binary|modules|base)-${release//+/\\+}"
}

unpack() { # DIRECTORY DEB…
	local deb

	for deb in "${@:2}"; do
		dpkg-deb -x "$deb" "$1"
	done
}

# /lib and similar directories become links into /usr, because only some packages have their files
# there.
merge_usr() { # DIRECTORY
	local name

	for name in bin sbin lib lib64; do
		if [ ! -d "$1/$name" ] || [ -L "$1/$name" ]; then continue; fi
		mkdir -p "$1/usr/$name"
		cp -a "$1/$name/." "$1/usr/$name"
		rm -r "${1:?}/$name"
		ln -s "usr/$name" "$1/$name"
	done
}

fetch_kernel() {
	local directory=build/vm/kernels/$kernel new version image

	[ -e "$directory/vmlinuz" ] && return
	new=$PWD/build/vm/kernels/$kernel.new
	rm -rf "$new"
	mkdir -p "$new/debs" "$new/lib"
	# shellcheck disable=SC2086
	use_suites "$kernel" "$architecture" $suites
	version=$(apt-cache madison "$(package_of "$kernel")" | awk '{ print $3 }' | sort -rV | head -n 1)
	[ -n "$version" ] || die "$suites: no $(package_of "$kernel")"
	# shellcheck disable=SC2046
	(cd "$new/debs" && apt-get -qq download $(parts "$(package_of "$kernel")=$version"))
	unpack "$new/unpacked" "$new"/debs/*.deb
	merge_usr "$new/unpacked"
	image=$(find "$new/unpacked" -type f -name 'vmlinu[xz]*' | head -n 1) # in /boot, or a module
	[ -n "$image" ] || die "$kernel: no kernel in $(ls "$new/debs")"
	mv "$new/unpacked/usr/lib/modules" "$new/lib"
	ls "$new/lib/modules" >"$new/release"
	depmod -b "$new" "$(<"$new/release")"
	mv "${image/#"$new/unpacked/usr/lib/modules"/"$new/lib/modules"}" "$new/vmlinuz"
	rm -r "$new/unpacked" "$new/debs"
	rm -rf "$directory"
	mv "$new" "$directory"
	echo "# $kernel: Linux $(<"$directory/release")"
}

# The packages are unpacked, not installed: only a guest runs their files.
fetch_root() {
	local directory=build/vm/root/$architecture new
	local packages=(bash busybox-static coreutils sed grep mawk iproute2 jq util-linux ethtool
		bpftool libc6 libbpf-dev libxdp-dev libelf-dev zlib1g-dev libjansson-dev libmnl-dev libncurses-dev libsqlite3-dev
		libhiredis-dev libmicrohttpd-dev libseccomp-dev nettle-dev
		libcmocka-dev linux-libc-dev)

	[ "$architecture" = amd64 ] && return
	[ "$(cat "$directory/packages" 2>/dev/null)" = "${packages[*]}" ] && return
	new=$PWD/$directory.new
	rm -rf "$new"
	mkdir -p "$new"
	use_suites "root-$architecture" "$architecture" bookworm
	apt-get -qq --download-only -y --no-install-recommends install "${packages[@]}"
	unpack "$new" build/vm/apt/root-"$architecture"/cache/archives/*.deb
	merge_usr "$new"
	echo "${packages[*]}" >"$new/packages"
	rm -rf "$directory"
	mv "$new" "$directory"
	echo "# $architecture: userland of Debian 12"
}

mkdir -p build/vm
fetch_kernel
fetch_root
