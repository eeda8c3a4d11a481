#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# image.sh KERNEL CLANG SUITE IMAGE: packs an initramfs for a guest: the tools that tests need, the
# kernel's modules, this tree as built by build.sh, and the suite to run.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"
set -e

kernel=$1 clang=$2 suite=$3 image=$(realpath "$4")
architecture=$(architecture_of "$kernel")
tree=build/vm/trees/$architecture-$clang
guest=$image.d
script=tests/vm/guest_$suite.sh
! is_card "$suite" || script=tests/vm/guest_card.sh

tools=(bash ip jq nsenter bpftool ethtool flock awk sed grep cat cut sort tail head wc tr date mktemp
	mkdir rmdir rm mv cp ls id sleep uname dirname basename env sh timeout touch true setpriv)
# The suite `chain` also needs these.
chain_tools=(xdp-filter xdp-loader strace uniq stat)
# It and `challenge` need these for tests/e2e/servers.sh.
server_tools=(nginx nsd truncate)

has_servers() {
	[ "$suite" = challenge ] || [ "$suite" = chain ]
}

# put FILE…: copies files to the same place in the image, following links.
put() {
	cp -L --parents "$@" "$guest"
}

# The tools of this machine, and the libraries that they and ringfence need.
put_own_tools() {
	local tool files=() programs=()

	! has_servers || tools+=("${server_tools[@]}")
	[ "$suite" != chain ] || tools+=("${chain_tools[@]}")
	[ "$suite" != lists ] || programs=("$tree"/build/tests/prog/test_lists)
	[ "$suite" != shares ] || programs=("$tree"/build/tests/prog/test_shares) tools+=(xargs echo)
	for tool in "${tools[@]}"; do
		files+=("$(type -P "$tool")") || die "no $tool here"
	done
	mapfile -t -O "${#files[@]}" files < <(
		ldd "${files[@]}" "$tree"/build/{ringfence,tests/traffic} "${programs[@]}" |
			grep -oE '/[^ ]*/(lib|ld-)[^ :]+' | sort -u
	)
	for tool in bin sbin lib lib64; do
		mkdir -p "$guest/usr/$tool"
		ln -s "usr/$tool" "$guest/$tool"
	done
	put "${files[@]}"
	cp "$(type -P busybox)" "$guest/usr/bin/busybox"
	[ "$suite" != chain ] || put /usr/lib/*/bpf/xdp*.o # libxdp's dispatcher, xdp-filter's programs
}

# The unpacked Debian of another architecture, without compilers' files and documentation.
put_root() {
	(cd "build/vm/root/$architecture" && find . \( -path './usr/share/*' -o -path './usr/include/*' \
		-o -path '*/perl*' -o -name '*.a' \) -prune -o -print0 |
		cpio --quiet -0 -pdum "$guest")
	# The links that the packages' installation would make.
	[ -e "$guest/usr/bin/awk" ] || ln -s mawk "$guest/usr/bin/awk"
	[ -e "$guest/usr/bin/sh" ] || ln -s bash "$guest/usr/bin/sh"
}

# The kernel modules that a guest needs, unpacked, and the order to load them.
put_modules() {
	local directory=build/vm/kernels/$kernel module file
	local modules=(virtio_pci virtio_console virtio_net veth crc32c_generic)

	! is_card "$suite" || modules+=("$suite")
	[ "$suite" != bond ] || modules+=(igb bonding)
	[ "$suite" != challenge ] || modules+=(igb vmxnet3 e1000e 8021q)
	mkdir "$guest/modules"
	for module in "${modules[@]}"; do
		modprobe -d "$directory" -S "$(<"$directory/release")" --show-depends "$module" 2>"$image.modules" || true
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' >"$image.list"
	while read -r file; do
		module=$(basename "${file%.xz}")
		case $file in
		*.xz) xz -dc "$file" >"$guest/modules/$module" ;;
		*) cp "$file" "$guest/modules/$module" ;;
		esac
		echo "$module" >>"$guest/modules/order"
	done <"$image.list"
}

put_tree() {
	local to=$guest/ringfence

	mkdir -p "$to/build/tests" "$to/newer/build" "$to/tests/e2e" "$to/tests/vm"
	cp "$tree"/build/ringfence{,.bpf.o} "$to/build"
	cp "$tree/build/tests/traffic" "$to/build/tests"
	cp "$tree/newer/build/ringfence" "$to/newer/build"
	cp tests/e2e/{lib,test_batch,test_chain}.sh "$to/tests/e2e"
	[ ! -d "$tree/foreign" ] || cp -r "$tree/foreign" "$to"
	cp "$script" tests/vm/{cards,programs}.sh "$to/tests/vm"
	case $suite in
	units) cp -r "$tree/build/tests/unit" "$to/build/tests" ;;
	chain)
		mkdir "$to/build/schema"
		cp "$tree/build/schema/reasons" "$to/build/schema"
		;;
	lists)
		mkdir "$to/build/tests/prog"
		cp "$tree"/build/tests/prog/test_lists{,_in_place,_unconfirmed} "$to/build/tests/prog"
		;;
	shares)
		mkdir "$to/build/tests/prog"
		cp "$tree"/build/tests/prog/test_shares{,_race} "$to/build/tests/prog"
		cp tests/e2e/test_shares.sh "$to/tests/e2e"
		;;
	esac
	if has_servers; then
		mkdir "$to/build/tests/tcp"
		cp "$tree/build/tests/tcp/newcomers" "$to/build/tests/tcp"
		cp tests/e2e/servers.sh "$to/tests/e2e"
	fi
	echo "$script" >"$guest/script"
	echo "$suite" >"$guest/suite"
}

rm -rf "$guest"
mkdir -p "$guest"/{proc,sys,dev,run,tmp}
case $architecture in
amd64) put_own_tools ;;
*) put_root ;;
esac
put_modules
put_tree
mkdir -p "$guest/etc"
printf '%s\n' root:x:0: ringfence:x:990: >"$guest/etc/group"
echo root:x:0:0:root:/:/bin/bash >"$guest/etc/passwd" # the servers' user
cp tests/vm/init "$guest/init"
(cd "$guest" && find . -print0 | cpio --quiet -0 -o -H newc) >"$image"
rm -rf "$guest" "$image.list" "$image.modules"
