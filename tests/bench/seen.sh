#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Measures the additional cost of a flood's packet under observation: while a capture samples one in
# 1,000, and while the daemon scans. Compares the same fence with and without observation, in pairs:
# two fences already differ by some percent, because of the location of their maps.
#
#   outside                                  a namespace for each
#   out1  <-- CPU A: generator ------------  rf…w1  CPU B: NAPI thread, bare XDP_DROP
#   out2  ---------------------------------  rf…w2         the same,    ringfence
#
# The result of a turn is the CPU time of the receiver's thread per frame. The capture is switched
# on and off every tenth of a second, within one flood, which minimizes the effect of other load.
# The daemon runs for a whole turn, and a turn is divided by the bare drop's turn. The turns of a
# pair are divided by each other; the table has the median of the pairs, and the interval that
# contains it in 95 of 100 runs.
#
#   tests/bench/seen.sh
#   PAIRS=40 SOURCES=10000 LOOKS=capture|daemon
#   ONE_IN=1000             the capture's
#   GENERATOR_CPU=0 RECEIVER_CPU=1
#
# This is a tool, not a test: no figure makes it fail.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/bench/wires.sh
source tests/bench/wires.sh

pairs=${PAIRS:-40} sources=${SOURCES:-10000} one_in=${ONE_IN:-1000} looks=${LOOKS:-both}

attach_ringfence() {
	within ringfence build/ringfence attach "$dev" sources 65536 leases 65536 &&
		within ringfence build/ringfence limit add any rate 1/1h
}

look_daemon() {
	start ringfence build/ringfence-watch listen off history off events file off journal off
}

start_flood() { # FRAMES ROUNDS WIRES...
	local frames=$1 rounds=$2

	shift 2
	start outside build/tests/live cpu "$generator_cpu" second "$receiver_cpu" family 4 sources "$sources" \
		bytes 64 frames "$frames" rounds "$rounds" "$@" >"$scratch/turn" 2>"$scratch/log"
}

capture_in_flood() {
	local flood

	start_flood 4000000000 1 wire ringfence "out$wires" "$threads"
	flood=$started_pid
	sleep 3 # makes the sources known
	within ringfence build/tests/sampled "$dev" "$one_in" $((pairs * 5)) "$threads" "/proc/$flood/net/dev" \
		"out$wires" >"$scratch/pairs" 2>"$scratch/log" || bail "$(<"$scratch/log")"
	kill "$flood"
	wait "$flood" || :
	unset "started[$flood]"
	jq -R -c 'split(" ") | map(tonumber) | {name: "capture", seen: .[0], unseen: .[1], ratio: (.[0] / .[1])}' \
		"$scratch/pairs" >>"$scratch/rows"
}

# One turn, onto $scratch/turns.
flood() { # NAME LOOKED_AT
	start_flood 1000000 3 "${words[@]}"
	wait "$started_pid" || bail "$(<"$scratch/log")"
	unset "started[$started_pid]"
	jq -s -c --arg name "$1" --argjson looked "$2" 'def median: sort | .[length / 2 | floor];
		def ns($variant): map(select(.variant == $variant) | .cpu_ns / .handled) | median;
		{$name, $looked, ns: ns("ringfence"), bare: ns("bare_drop")}' "$scratch/turn" >>"$scratch/turns"
}

flood_seen() { # NAME
	local looking

	"look_$1" >"$scratch/looking" 2>&1
	looking=$started_pid
	sleep 0.5
	flood "$1" true
	kill -0 "$looking" 2>/dev/null || bail "$1 ended: $(<"$scratch/looking")"
	stop INT "$looking"
}

[ "$(id -u)" = 0 ] || bail 'it makes network namespaces and loads programs; run it as root'
[ "$(nproc)" -ge 2 ] || bail 'it needs two CPUs: one sends, one receives'
add_namespace outside
words=()
for one in bare_drop ringfence; do
	add_wire_to "$one"
	"attach_$one" >"$scratch/log" 2>&1 || bail "cannot attach: $(<"$scratch/log")"
	pin_threads
	words+=(wire "$one" "out$wires" "$threads")
done
[ "$looks" = daemon ] || capture_in_flood
for ((i = 0; i < pairs; i++)); do
	[ "$looks" = capture ] && break
	# the first one alternates
	[ $((i % 2)) = 0 ] || flood daemon false
	flood_seen daemon
	[ $((i % 2)) = 1 ] || flood daemon false
done
[ "$looks" = capture ] || jq -s -c '(map(select(.looked)) | map(.ns / .bare)) as $seen
	| (map(select(.looked | not))) as $not
	| range($seen | length) | {name: "daemon", seen: ($seen[.] * $not[.].bare), unseen: $not[.].ns,
		ratio: ($seen[.] / ($not[.].ns / $not[.].bare))}' "$scratch/turns" >>"$scratch/rows"
jq -s -r 'def median: sort | .[length / 2 | floor];
	def rounded: . * 10000 | round / 10000;
	# of the median, by the order of the pairs
	def interval: sort | (length / 2 - 0.98 * (length | sqrt) | floor) as $k
		| "\(.[[$k, 0] | max] | rounded) to \(.[[length - 1 - $k, length - 1] | min] | rounded)";
	"looked at by  ns, not  ns, then  ratio",
	(group_by(.name)[] | "\(.[0].name | . + " " * (14 - length))"
		+ "\(map(.unseen) | median * 10 | round / 10)     "
		+ "\(map(.seen) | median * 10 | round / 10)      "
		+ "\(map(.ratio) | median | rounded) (\(map(.ratio) | interval)) of \(length) pairs")' "$scratch/rows"
