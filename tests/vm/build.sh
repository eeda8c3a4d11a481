#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build.sh ARCHITECTURE CLANG SUITE…: builds this tree for a guest in
# build/vm/trees/ARCHITECTURE-CLANG: the command line with the program of that compiler, `traffic`,
# and in newer/ the command line with a program that has a different tag. For the suite `units` it
# also builds the unit tests; for `lists` and `shares`, their tests that load the program; for `chain`
# and `challenge`, clients; for this architecture, in foreign/, other XDP programs.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"
set -e

architecture=$1 clang=$2
tree=$PWD/build/vm/trees/$architecture-$clang
root=$PWD/build/vm/root/$architecture

# Copies the sources with their times, to have make build only changed files.
copy_sources() { # DIRECTORY
	mkdir -p "$1"
	rm -rf "$1"/{bpf,user,include,tests}
	cp -rp Makefile bpf user include tests "$1"
}

# The same program with a different tag.
change_program() { # DIRECTORY
	local file=bpf/ringfence.bpf.c tag=tests/other_tag.sed time_of=bpf/ringfence.bpf.c

	sed -i -f "$tag" "$1/$file"
	! cmp -s "$file" "$1/$file" || die "nothing to change in $file"
	[ "$file" -nt "$tag" ] || time_of=$tag # make also detects a change of the sed script
	touch -r "$time_of" "$1/$file"
}

# The variables with which make builds for that architecture. A libbpf reads only objects of its
# architecture, so bpftool must also be the guest's.
variables() {
	local triplet=${architecture/arm64/aarch64}-linux-gnu
	local emulator=qemu-${architecture/arm64/aarch64} target=bpfel

	[ "$architecture" != s390x ] || target=bpfeb
	printf '%s\n' "CLANG=$clang" WERROR=1
	[ "$architecture" != amd64 ] || return 0
	printf '%s\n' "CC=$triplet-gcc --sysroot=$root" "BPF_TARGET=$target" SANITIZE= \
		"BPFTOOL=$emulator -L $root $root/usr/sbin/bpftool" \
		"BPF_SYSTEM_INCLUDES=-idirafter $root/usr/include/$triplet -idirafter $root/usr/include" \
		'LIBS=-lxdp -lbpf -ljansson -lmnl -lnettle -lsqlite3 -lncursesw -ltinfo -lpthread' LIBS_CFLAGS=
}

build() { # DIRECTORY TARGET…
	mapfile -t words < <(variables)
	env -u MAKEFLAGS -u MAKELEVEL make -C "$1" -j2 "${words[@]}" "${@:2}" >"$1/log" 2>&1 || {
		tail -n 20 "$1/log" >&2
		die "cannot build for $architecture with $clang: see $1/log"
	}
}

targets=(all build/tests/traffic)
if [[ " ${*:3} " = *' units '* ]]; then
	for test in tests/unit/test_*.c; do
		targets+=("build/${test%.c}")
	done
fi
if [[ " ${*:3} " = *' lists '* ]]; then
	targets+=(build/tests/prog/test_lists{,_in_place,_unconfirmed})
fi
if [[ " ${*:3} " = *' shares '* ]]; then
	targets+=(build/tests/prog/test_shares{,_race})
fi
if [[ " ${*:3} " = *' challenge '* || " ${*:3} " = *' chain '* ]]; then
	targets+=(build/tests/tcp/newcomers)
fi
[[ " ${*:3} " != *' chain '* ]] || targets+=(build/schema/reasons)
copy_sources "$tree"
build "$tree" "${targets[@]}"
if [ "$architecture" = amd64 ]; then
	mkdir -p "$tree/foreign"
	CLANG=$clang tests/e2e/foreign.sh "$tree/foreign"
fi
copy_sources "$tree/newer"
change_program "$tree/newer"
build "$tree/newer" build/ringfence
