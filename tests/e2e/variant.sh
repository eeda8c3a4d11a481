#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# variant.sh NAME DIRECTORY: builds a variant of the command line as DIRECTORY/build/ringfence, from
# a copy of the tree, as the Makefile builds it. Objects that do not depend on the change are
# reused. The compiled program is edited if that is sufficient: compiling it takes twelve seconds.
#
# Most of an attach is the verifier's work on the program, so most variants omit it:
#
#   quick  both entries pass every packet, and the iterators find no window; for attaches after
#          which no test inspects a packet
#   newer  the program as shipped, except for its tag, changed by one instruction without effect
#   alien  like quick, but the program has another map ABI, 999
#   drifted  like quick, but the map 'config' is longer under the same numbers: a change of a map
#          without a change of its numbers
#   early  like quick, but the program has the magic word of builds before the first release
set -eu
cd "$(dirname "$0")/../.."
variant=$1 directory=$2

# edit EDIT…: changes the programs as compiled.
edit() {
	tests/e2e/edit_object.py "$directory/build/ringfence.bpf.o" "$@"
	tests/e2e/edit_object.py "$directory/build/ringfence_fleet.bpf.o" "$@"
}

# Changes abi.h in a way that affects only sources with one of NAMES: all other objects are
# unchanged.
change_abi() { # NAMES, a regular expression; SED; PROGRAM… that see it as well
	local header=include/ringfence/abi.h names=$1

	sed -i "$2" "$directory/$header"
	if cmp -s "$header" "$directory/$header"; then
		echo "variant.sh: $variant: nothing to change in $header" >&2
		exit 1
	fi
	touch -r "$header" "$directory/$header"
	shift 2
	(cd "$directory" && grep -rlE --include='*.c' "$names" user | xargs touch "${@/%/.bpf.c}")
}

rm -rf "$directory"
mkdir -p "$directory/build"
cp -a Makefile bpf include user "$directory"
cp -a build/user build/lib build/schema build/*.[dho] build/ringfence.lua "$directory/build"
case $variant in
# The iterators took half of the CPU time that was left: six of them walk the windows.
quick)
	edit pass=xdp pass=xdp.frags
	tests/e2e/edit_object.py "$directory/build/show.bpf.o" return0=show_some
	;;
newer) edit tag=xdp tag=xdp.frags ;;
alien)
	edit pass=xdp pass=xdp.frags word=4:999
	change_abi RF_ABI_VERSION 's/^#define RF_ABI_VERSION .*/#define RF_ABI_VERSION 999/' bpf/fleet_calls bpf/show
	;;
# At its end: code with only a part of it finds that at the same place. Compiled, because much
# depends on the size.
drifted)
	# shellcheck disable=SC2016 # dollars are sed's
	sed -i '/^int ringfence.*(struct xdp_md \*ctx)$/ { n; s/{/{\n\tif (!rf_rodata.injected_clock)\n\t\treturn XDP_PASS;/ }' \
		"$directory/bpf/ringfence.bpf.c"
	change_abi rf_config 's/^\tstruct rf_owners owners;.*/&\n\t__u32 forgotten[64];/' \
		bpf/{ringfence,ringfence_fleet,fleet_calls,show}
	;;
early)
	edit pass=xdp pass=xdp.frags word=0:"$(sed -n 's/^#define RF_ABI_MAGIC_EARLY \(.*\)U$/\1/p' include/ringfence/abi.h)"
	change_abi 'RF_ABI_MAGIC|rf_magic_is_ours|rf_program_take_abi' \
		's/^#define RF_ABI_MAGIC .*/#define RF_ABI_MAGIC RF_ABI_MAGIC_EARLY/' bpf/fleet_calls bpf/show
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
