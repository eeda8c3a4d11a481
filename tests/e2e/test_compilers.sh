#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The program as other compilers build it. For each installed clang-N from 14 on, without an upper
# bound, and for `clang`: the object compiles, loads, and each of its entries passes exactly as many
# packets as one limit allows. tests/prog/test_budget.c checks how much the verifier walks.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  xdpdrv, sec xdp, then sec xdp.frags
#
# The limit has a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# limits NAME OBJECT SECTION
limits() {
	forget_traffic
	does "$1, $3: the object loads" '' inside ip link set dev "${port[0]}" xdpdrv obj "$2" sec "$3"
	[ "$(program_on 0)" != none ] || return
	does "$1, $3: a limit is added" "$(steady any)" \
		ringfence limit add any rate 100/1h exact
	deliver 0 src=192.0.2.1,count=300 src=192.0.2.2,count=60 src=2001:db8:0:1::1,count=250
	is "$(cut -d' ' -f1,2 <<<"$received")" "192.0.2.1 100
192.0.2.2 60
2001:db8:0:1::1 100" "$1, $3: each source passes exactly up to the limit"
	conserves 0 "$1, $3: sent = passed + dropped"
	does "$1, $3: the program is taken off the interface" '' inside ip link set dev "${port[0]}" xdp off
}

mapfile -t found < <(tests/clangs.sh)
make_network 1
check 'at least one clang is installed to compile the program with' test "${#found[@]}" -gt 0
for name in "${found[@]}"; do
	object=build/compilers/$name/ringfence.bpf.o # 'make tools' compiles it
	[ -e "$object" ] || object=build/ringfence.bpf.o
	echo "# $("$name" --version | head -n 1): $object"
	check "$name compiles the program" test "$object" -nt bpf/ringfence.bpf.c
	[ -s "$object" ] || continue
	limits "$name" "$object" xdp
	limits "$name" "$object" xdp.frags
done
echo "# tried: ${found[*]}"

done_testing
