#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The unit tests, built for the guest's architecture and run there: one result for each program, and
# the names of its tests that failed.
set -u
results=0 failures=0

for test in build/tests/unit/test_*; do
	results=$((results + 1))
	output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$test" 2>&1)
	status=$?
	count=$(grep -c '^ok' <<<"$output")
	plan=$(sed -n 's/^1\.\.//p' <<<"$output" | tail -n 1)
	if [ "$status" = 0 ] && [ "$count" -gt 0 ] && [ "$count" = "$plan" ]; then
		echo "ok $results - $(basename "$test"): $count tests"
		continue
	fi
	failures=$((failures + 1))
	echo "not ok $results - $(basename "$test"): exit $status, $count of ${plan:-no plan}"
	grep -v '^ok' <<<"$output" | tail -n 40 | sed 's/^/#   /'
done
echo "1..$results"
[ "$failures" = 0 ] && [ "$results" -gt 0 ]
