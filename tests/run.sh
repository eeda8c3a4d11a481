#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs that speak TAP, one after the other, and closes with the line
# `N passed, N failed, N skipped`. A program that dies, or that runs fewer tests than it planned,
# counts as failed, whatever it printed before.
set -u

passed=0 failed=0 skipped=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Prints what a program said, and adds its results to the sums.
tally() {
	local program=$1 status=$2 ok not_ok skips planned

	cat "$output"
	not_ok=$(grep -c '^not ok' "$output")
	skips=$(grep -ciE '^ok .*# skip' "$output")
	ok=$(($(grep -c '^ok' "$output") - skips))
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$output" | tail -n 1)
	if [ "$((ok + not_ok + skips))" != "${planned:-none}" ]; then
		echo "not ok - $program: ran $((ok + not_ok + skips)) tests of ${planned:-no plan}"
		not_ok=$((not_ok + 1))
	elif [ "$status" != 0 ] && [ "$not_ok" = 0 ]; then
		echo "not ok - $program: exit status $status"
		not_ok=1
	fi
	passed=$((passed + ok)) failed=$((failed + not_ok)) skipped=$((skipped + skips))
}

for program in "$@"; do
	echo "# $program"
	begin=$SECONDS
	CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$output" 2>&1
	tally "$program" $?
	echo "# took $((SECONDS - begin)) s"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
