#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Changes of the allow and deny lists, in a guest: the tests of the lists, and `deny add` with
# 100,000 prefixes, which must be in effect. The time is printed, but has no limit, because a guest
# is emulated.

# shellcheck source=tests/vm/programs.sh
source "$(dirname "$0")/programs.sh"

MANY=100000
TIMEFORMAT='%U %S'

ringfence() {
	build/ringfence "$@"
}

# The ids of the active tries.
tries() {
	bpftool -j map list | jq -c '[.[] | select(.type == "lpm_trie") | .id]'
}

# milliseconds COMMAND…: the CPU time of a command, the median of 21 runs. %d is the number of the run.
milliseconds() {
	local i

	for i in {1..21}; do
		{ time ringfence "${@//%d/$i}" >/dev/null; } 2>&1
	done | awk '{ print ($1 + $2) * 1000 }' | sort -n | sed -n 11p
}

prefixes() { # COUNT
	awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++)
		printf "10.%d.%d.%d\n", i / 40000, i / 200 % 200, i % 200 }'
}

ok() { # NAME CMD…
	results=$((results + 1))
	if "${@:2}"; then
		echo "ok $results - $1"
	else
		failures=$((failures + 1))
		echo "not ok $results - $1"
	fi
}

# Changes with this many prefixes.
beside() { # COUNT
	local before after

	prefixes "$1" | ringfence deny load - replace | sed 's/^/# /'
	before=$(tries)
	echo "# deny add beside $1 prefixes: $(milliseconds deny add 192.0.2.%d) ms of CPU time"
	echo "# deny add of a /25 that holds 72: $(milliseconds deny add 10.0.%d.128/25) ms"
	echo "# deny del: $(milliseconds deny del 192.0.2.%d) ms"
	echo "# bans, which changes nothing: $(milliseconds bans) ms"
	after=$(tries)
	ok "$1 prefixes: deny add and deny del are in place" test "$before" = "$after" -a "$before" != '[]'
	ok "$1 prefixes: the list is what was changed" \
		test "$(ringfence deny list | wc -l)" = $(($1 + 21))
}

for test in build/tests/prog/test_lists{,_in_place,_unconfirmed}; do
	program "$test"
done
RF_PRIVATE_MOUNTS=made program tests/e2e/test_batch.sh

ip link add fence0 type veth peer name peer0
ringfence attach fence0 | sed 's/^/# /'
beside 1000
beside $MANY
echo "# deny add of 10.0.0.0/8, which makes a new list: $(milliseconds deny add 10.0.0.0/8) ms"
ringfence deny del 10.0.0.0/8
for i in {1..10000}; do
	echo "deny $((i > 5000)) 172.16.$((i % 5000 / 200)).$((i % 200))"
done | sed 's/ 0 / add /; s/ 1 / del /' >/tmp/changes
ringfence batch /tmp/changes | sed 's/^/# /'
ok '10,000 changes in a batch leave the list as it was' \
	test "$(ringfence deny list | wc -l)" = $((MANY + 21))
end_programs
