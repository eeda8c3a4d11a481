# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Runs test programs in a guest: one result for each program, and the names of its tests that failed.
# The script that sources this file calls end_programs last.
set -u
results=0 failures=0

# program CMD…: all of its planned tests must pass, and none may be skipped.
program() {
	local output status count plan

	results=$((results + 1))
	output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$@" 2>&1)
	status=$?
	count=$(grep '^ok' <<<"$output" | grep -vc '# SKIP')
	plan=$(sed -n 's/^1\.\.//p' <<<"$output" | tail -n 1)
	if [ "$status" = 0 ] && [ "$count" -gt 0 ] && [ "$count" = "$plan" ]; then
		echo "ok $results - $(basename "$1"): $count tests"
		return
	fi
	failures=$((failures + 1))
	echo "not ok $results - $(basename "$1"): exit $status, $count of ${plan:-no plan}"
	grep -v '^ok' <<<"$output" | tail -n 40 | sed 's/^/#   /'
}

end_programs() {
	echo "1..$results"
	[ "$failures" = 0 ] && [ "$results" -gt 0 ]
	exit
}
