#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# variant.sh DIRECTORY FILE SED: copies the tree to DIRECTORY, changes FILE there by a script for
# sed, and builds DIRECTORY/build/ringfence as the Makefile does. Objects that do not depend on that
# file are reused.
#
# variant.sh DIRECTORY NAME: builds one of the variants that several tests share. Most of an attach
# is the verifier's work on the two entries of the program, so each variant leaves some work out.
#
#   quick  both entries pass every packet; for attaches after which no test looks at a packet
#   half   ringfence_frags passes every packet; ringfence is the program as shipped. For packets on
#          interfaces without a jumbo MTU, where ringfence_frags never runs
#   newer  like half, but ringfence has another tag, by one instruction without effect
set -eu
cd "$(dirname "$0")/../.."

# Makes entries of the program pass every packet, so that the verifier finishes at once.
passing() { # ENTRIES, a regular expression
	# shellcheck disable=SC2016 # dollars are sed's
	printf '/^int %s(struct xdp_md \*ctx)$/ { n\n%s\n}\n' "$1" \
		's/{/{\n\tif (!rf_rodata.injected_clock)\n\t\treturn XDP_PASS;/'
}

retagged() {
	printf '%s\n' '/^int ringfence(struct xdp_md \*ctx)$/ { n' \
		's/{/{\n\tif (ctx->ingress_ifindex == ~0U)\n\t\treturn XDP_PASS;/' '}'
}

directory=$1 file=${3:+$2}
case $#:$2 in
2:quick) script=$(passing 'ringfence.*') ;;
2:half) script=$(passing ringfence_frags) ;;
2:newer) script=$(passing ringfence_frags; retagged) ;;
3:*) script=$3 ;;
*)
	echo "variant.sh: there is no variant '$2'" >&2
	exit 2
	;;
esac
file=${file:-bpf/ringfence.bpf.c}

rm -rf "$directory"
mkdir -p "$directory/build"
cp -a Makefile bpf include user "$directory"
cp -a build/user build/*.[dho] "$directory/build"
sed -i "$script" "$directory/$file"
if cmp -s "$file" "$directory/$file"; then
	echo "variant.sh: nothing to change in $file" >&2
	exit 1
fi
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$directory" -j2 build/ringfence >"$directory/log" 2>&1 || {
	grep -im 3 error "$directory/log" >&2
	exit 1
}
