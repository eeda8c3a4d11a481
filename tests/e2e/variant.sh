#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# variant.sh NAME DIRECTORY: builds a variant of the command line as DIRECTORY/build/ringfence, from
# a copy of the tree, as the Makefile builds it. Objects that do not depend on what is changed are
# reused.
#
# Most of an attach is the verifier's work on the two entries of the program, so each variant leaves
# some of that work out:
#
#   quick  both entries pass every packet; for attaches after which no test looks at a packet
#   half   ringfence_frags passes every packet; ringfence is the program as shipped. For packets on
#          interfaces without a jumbo MTU, where ringfence_frags never runs
#   newer  like half, but ringfence has another tag, by one instruction without effect
#   alien  like quick, but the program has another map ABI, 999
#   drifted  like quick, but the map 'config' is longer under the same numbers: a change of a map whose
#          numbers somebody forgot
#   early  like quick, but the program has the magic word of builds before the first release
set -eu
cd "$(dirname "$0")/../.."
variant=$1 directory=$2
program=bpf/ringfence.bpf.c

# change FILE SED: changes a file of the copy.
change() {
	sed -i "$2" "$directory/$1"
	! cmp -s "$1" "$directory/$1" || {
		echo "variant.sh: $variant: nothing to change in $1" >&2
		exit 1
	}
}

# Makes entries of the program pass every packet, so that the verifier finishes at once.
pass_at_once() { # ENTRIES, a regular expression
	# shellcheck disable=SC2016 # dollars are sed's
	change $program "$(printf '/^int %s(struct xdp_md \*ctx)$/ { n\n%s\n}\n' "$1" \
		's/{/{\n\tif (!rf_rodata.injected_clock)\n\t\treturn XDP_PASS;/')"
}

change_tag() {
	change $program "$(<tests/other_tag.sed)"
}

# Changes abi.h in a way that only code sees that has one of NAMES: all other objects stay.
change_abi() { # NAMES, a regular expression; SED
	change include/ringfence/abi.h "$2"
	touch -r include/ringfence/abi.h "$directory/include/ringfence/abi.h"
	(cd "$directory" && grep -rlE --include='*.c' "$1" user | xargs touch bpf/*.bpf.c)
}

rm -rf "$directory"
mkdir -p "$directory/build"
cp -a Makefile bpf include user "$directory"
cp -a build/user build/lib build/schema build/*.[dho] build/ringfence.lua "$directory/build"
case $variant in
quick) pass_at_once 'ringfence.*' ;;
half) pass_at_once ringfence_frags ;;
newer) pass_at_once ringfence_frags && change_tag ;;
alien)
	pass_at_once 'ringfence.*' &&
		change_abi RF_ABI_VERSION 's/^#define RF_ABI_VERSION .*/#define RF_ABI_VERSION 999/'
	;;
# At its end: what has only a part of it finds that where it was.
drifted)
	pass_at_once 'ringfence.*' &&
		change_abi rf_config 's/^\tstruct rf_owners owners;.*/&\n\t__u32 forgotten[64];/'
	;;
early)
	pass_at_once 'ringfence.*' && change_abi 'RF_ABI_MAGIC|rf_magic_is_ours|rf_program_take_abi' \
		's/^#define RF_ABI_MAGIC .*/#define RF_ABI_MAGIC RF_ABI_MAGIC_EARLY/'
	;;
*)
	echo "variant.sh: there is no variant '$variant'" >&2
	exit 2
	;;
esac
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$directory" -j2 build/ringfence >"$directory/log" 2>&1 || {
	grep -im 3 error "$directory/log" >&2
	exit 1
}
