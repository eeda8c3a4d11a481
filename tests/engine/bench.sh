#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cost of updates and heartbeats for a real server, with claims of 1 to 1,000 hosts on each
# source. A row is the median of three runs, by the CPU time of the server. `make bench-fleet` runs
# it.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

SOURCES=${SOURCES:-2000} CALLS=${CALLS:-16000}

start_engine engine
load_library engine >/dev/null
"$server" --version
# The median of three runs of a line.
median() { # TEXT
	grep "$1" "$scratch/rows" | sort -t: -k2n | sed -n 2p
}

for holders in 1 3 10 100 1000; do
	[ "$holders" -lt 1000 ] || SOURCES=8 CALLS=400
	for _ in 1 2 3; do
		to_engine engine flushall >/dev/null
		build/tests/engine/bench "$scratch/engine" "$holders" "$SOURCES" "$CALLS" || exit 1
	done >"$scratch/rows"
	echo "$(median updates), $(median memory | cut -d: -f2), $(median heartbeat | cut -d: -f2)"
done
