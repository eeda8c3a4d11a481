#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What updates cost a real engine, with claims of 1 to 100 hosts on each source. Each row is the
# median of three runs, by the CPU time of the engine. `make bench-fleet` runs it.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

SOURCES=${SOURCES:-2000} CALLS=${CALLS:-16000}

start_engine engine
load_library engine >/dev/null
"$server" --version
for holders in 1 3 10 100; do
	for _ in 1 2 3; do
		to_engine engine flushall >/dev/null
		build/tests/engine/bench "$scratch/engine" "$holders" "$SOURCES" "$CALLS" || exit 1
	done >"$scratch/rows"
	sort -t: -k2n "$scratch/rows" | sed -n 's/^[^:]*: \([0-9]* bytes of memory.*\)/\1/p' | sed -n 2p >"$scratch/memory"
	sort -t: -k2n "$scratch/rows" | grep updates | sed -n "2s/\$/, $(<"$scratch/memory")/p"
done
