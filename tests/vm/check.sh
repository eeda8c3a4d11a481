#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [KERNEL…]: the kernel matrix. Fetches kernels, builds this tree with the oldest and the
# latest installed clang, boots each kernel with each build, and prints results in TAP and a table,
# which is also written to build/vm/kernels.md. CLANGS selects other compilers, SUITES the suites to
# run.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"

kernels=("$@")
# shellcheck disable=SC2206 # words
[ $# -gt 0 ] || kernels=($all_kernels)

[ "$(id -u)" = 0 ] || die 'it makes taps and network namespaces; run it as root'
mkdir -p build/vm/cells
exec 9>build/vm/lock
flock -n 9 || die 'another run is under way in this tree'

# The oldest and the latest clang, or one if they are the same.
compilers() {
	local found=()

	mapfile -t found < <(tests/clangs.sh | grep clang-)
	[ ${#found[@]} -gt 0 ] || die "no clang-14 or newer; 'make deps-vm' installs some"
	printf '%s\n' "${found[0]}" "${found[-1]}" | uniq
}

# The suites of a kernel. The unit tests of this machine's architecture need no guest; the compiler
# of the program matters neither to the unit tests, nor to chains, lists, network cards and bonds.
suites() { # KERNEL CLANG
	duty_of "$1"
	[ "$(architecture_of "$1") $(duty_of "$1")" != 'amd64 fence' ] || echo shares
	[ "$2" = "${clangs[0]}" ] || return 0
	if [ "$(architecture_of "$1")" != amd64 ]; then
		echo units
	elif [ "$(duty_of "$1")" = fence ]; then
		echo chain
		echo lists
		echo "$cards"
		echo bond
		echo challenge
	fi
}

wanted_suites() { # KERNEL CLANG
	local suite

	for suite in $(suites "$@"); do
		[[ " ${SUITES:-$suite} " != *" $suite "* ]] || echo "$suite"
	done
}

# shellcheck disable=SC2206 # words
clangs=(${CLANGS:-$(compilers)})
[ ${#clangs[@]} -gt 0 ] || exit 1
rm -f build/vm/cells/*
cells=()
for kernel in "${kernels[@]}"; do
	for clang in "${clangs[@]}"; do
		mapfile -t these < <(wanted_suites "$kernel" "$clang")
		[ ${#these[@]} -gt 0 ] || continue
		for suite in "${these[@]}"; do
			guest=$(kernel_for "$kernel" "$suite")
			tests/vm/fetch.sh "$guest" || die "cannot fetch kernel $guest"
		done
		tests/vm/build.sh "$(architecture_of "$kernel")" "$clang" "${these[@]}" || exit
		for suite in "${these[@]}"; do
			cell=build/vm/cells/$(kernel_for "$kernel" "$suite")+$clang+$suite
			ln -s ../../../tests/vm/boot.sh "$cell"
			cells+=("$cell")
		done
	done
done

tests/run.sh "${cells[@]}"
status=$?
tests/vm/table.sh "${cells[@]##*/}" >build/vm/kernels.md
echo
cat build/vm/kernels.md
exit $status
