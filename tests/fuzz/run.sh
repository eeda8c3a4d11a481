#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs the fuzzers in build/fuzz from the committed corpus, one on each CPU: together they run for
# SECONDS. New inputs go to build/fuzz/corpus-NAME, where later runs read them, and never into the
# tree. An input that causes a failure is saved as build/fuzz/finding-NAME-…, and the run fails.
set -u
cd "$(dirname "$0")/../.." || exit 1

[ $# -ge 2 ] || { echo "usage: tests/fuzz/run.sh SECONDS NAME…" >&2; exit 2; }
seconds=$(($1 * $(nproc) / ($# - 1)))
[ "$seconds" -gt 0 ] || seconds=1 # 0 is unlimited
status=0

# fuzz NAME: prints the number of executions, or the last lines of the fuzzer's log.
fuzz() {
	local name=$1 dict=$1 log=build/fuzz/$1.log options=() executions

	[ "$name" = rules ] && dict=grammar # its lines are commands
	options=(-max_total_time="$seconds" -timeout=120 -rss_limit_mb=2048 -print_final_stats=1
		-artifact_prefix="build/fuzz/finding-$name-")
	if [ "$dict" = grammar ]; then
		options+=(-dict=build/fuzz/grammar.dict)
	elif [ -f "tests/fuzz/$dict.dict" ]; then
		options+=(-dict="tests/fuzz/$dict.dict")
	fi
	mkdir -p "build/fuzz/corpus-$name"
	if ! "build/fuzz/fuzz_$name" "${options[@]}" "build/fuzz/corpus-$name" \
		"tests/fuzz/corpus/$name" >"$log" 2>&1; then
		tail -n 60 "$log" >&2
		echo "fuzz $name: a finding; 'build/fuzz/fuzz_$name FILE' shows it again" >&2
		return 1
	fi
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	[ "${executions:-0}" -gt 0 ] || { echo "fuzz $name: it ran nothing; see $log" >&2; return 1; }
	echo "fuzz $name: $executions executions in $seconds s, no finding," \
		"$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1) edges"
}

for name in "${@:2}"; do
	[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || status=1
	fuzz "$name" &
done
while [ "$(jobs -p | wc -l)" -gt 0 ]; do
	wait -n || status=1
done
exit $status
