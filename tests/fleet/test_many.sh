#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The number of updates in a fleet, by the rules of agent and ledger with simulated time: a flood of
# sources over all hosts becomes stable, with the whole limit granted; most of the limit is granted
# to sources that change hosts, or send in bursts. The results do not depend on the machine.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cached.sh
cached include/ringfence/*.h user/{base,fleet,schema}/*.[ch] tests/{fleet,fleet/model,explorer}/*.[ch] tests/fleet/*.sh

mkdir -p build/many
"${CC:-cc}" -std=gnu11 -O2 -DRF_LEDGER_SLOTS=128 -Iuser -Iinclude -I. tests/fleet/many.c user/fleet/claim*.c \
	user/fleet/{member,reports}.c tests/fleet/model/ledger.c user/base/siphash.c -o build/many/many || exit 1

echo 1..17
number=0 failed=0
# many HOSTS SOURCES PATTERN LOAD MOST LEAST [SOON]: at most MOST updates per second, host and
# source, and at least LEAST percent of L passes; and SOON updates in the 10 s after the first 5 s.
many() {
	local said soon=${7:-}

	said=$(build/many/many "$1" "$2" "$3" "$4")
	number=$((number + 1))
	if awk -v most="$5" -v least="$6" '{
		sub(/.*, /, "") # 0.86 a host and source; passed 99.0 % of L
		ok = /a host and source/ && $1 <= most && $7 >= least } END { exit !ok }' <<<"$said"; then
		echo "ok $number - $1 hosts, $3, $4 % of L: at most $5 updates a second, $6 % pass"
	else
		echo "not ok $number - $1 hosts, $3, $4 % of L: at most $5 updates a second, $6 % pass"
		failed=1
	fi
	echo "# $said"
	[ -n "$soon" ] || return 0
	number=$((number + 1))
	if [[ $said =~ at\ most\ ([0-9]+)\ updates\ of\ one\ in ]] && [ "${BASH_REMATCH[1]}" -le "$soon" ]; then
		echo "ok $number - $1 hosts, $3, $4 % of L: at most $soon updates in 10 s after 5 s"
	else
		echo "not ok $number - $1 hosts, $3, $4 % of L: at most $soon updates in 10 s after 5 s"
		failed=1
	fi
}

for hosts in 2 3 10 30; do
	many "$hosts" 20 all 300 1 99 10
done
many 100 20 all 300 1 99 30
many 10 20 all 90 1 89.9 10
many 3 60 one 50 1 49.9
many 10 200 one 90 1 89
many 10 200 one 300 1 98
many 3 20 hops 300 9 82
many 3 20 bursts 225 4 45 # of 50: L may pass in each 2 s
exit "$failed"
