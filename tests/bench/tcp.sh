#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The throughput of one TCP connection under a limit in bytes: for each rate, round-trip time,
# congestion control and algorithm the percentage of the rate, with headers, and the percentage of
# retransmitted bytes. Medians of several runs, without their first seconds.
#
#   sender                 middle                      receiver
#   out0  ---------------  in0  tests/tcp/delay  in1  ---------------  rf…t, with the fence
#   192.0.2.1                                                          192.0.2.2
#
#   tests/bench/tcp.sh
#   RATES='1 10 100' (Mbit/s) RTTS='1 10 50' (ms) CONTROLS='cubic bbr' RUNS=3
#   ALGORITHMS='token sliding'
#   WARMUP=10 SECONDS_EACH=45
#
# This is a tool, not a test: no figure makes it fail.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

rates=${RATES:-1 10 100} rtts=${RTTS:-1 10 50} controls=${CONTROLS:-cubic bbr} runs=${RUNS:-3}
algorithms=${ALGORITHMS:-token sliding}
warmup=${WARMUP:-10} seconds=${SECONDS_EACH:-45}
dev=${run}t
declare -A space=()

# One side of a wire, with or without an address. Packet sockets do not support offloads.
bring_up() { # NAMESPACE IF [ADDRESS]
	within "$1" ethtool -K "$2" tx off tso off gso off gro off >"$scratch/log" 2>&1 || bail "ethtool: $(<"$scratch/log")"
	[ -z "${3-}" ] || within "$1" ip address add "$3" dev "$2"
	within "$1" ip link set "$2" up
}

make_wires() {
	local name

	for name in sender middle receiver; do
		add_namespace "$name"
		space[$name]=rf-test-$$-$name
	done
	ip link add out0 netns "${space[sender]}" type veth peer name in0 netns "${space[middle]}"
	ip link add "$dev" netns "${space[receiver]}" type veth peer name in1 netns "${space[middle]}"
	bring_up sender out0 192.0.2.1/24
	bring_up receiver "$dev" 192.0.2.2/24
	bring_up middle in0
	bring_up middle in1
	# Metrics of one connection must not affect the next one.
	within sender sysctl -qw net.ipv4.tcp_no_metrics_save=1
	within receiver sysctl -qw net.ipv4.tcp_rmem='4096 1000000 16000000'
}

# measure RATE CONTROL ALGORITHM: prints a line with the percentages of the rate and of
# retransmissions.
measure() {
	within receiver build/ringfence limit add bulk rate "$1mbit" algorithm "$3" >"$scratch/log" ||
		bail "$(<"$scratch/log")"
	within sender build/tests/tcp/flow "/run/netns/${space[receiver]}" 192.0.2.2 "$2" "$warmup" "$seconds" |
		awk -v rate="$1" '{ print $1 * 1514 / 1448 / (rate * 125000) * 100, $2 * 100 }'
	within receiver build/ringfence limit del bulk >"$scratch/log"
}

medians() { # of each column
	jq -R -s -r '[split("\n")[] | select(. != "") | split(" ") | map(tonumber)] | transpose | map(sort | .[length / 2 | floor])
		| "\(.[0] | round) % | \(.[1] * 10 | round / 10) %"'
}

make_wires
within receiver build/ringfence attach "$dev" >"$scratch/log" || bail "$(<"$scratch/log")"
echo '| Mbit/s | round trip | congestion control | algorithm | reached | sent twice |'
echo '|---|---|---|---|---|---|'
for rtt in $rtts; do
	start middle build/tests/tcp/delay in0 in1 $((rtt * 500))
	for rate in $rates; do
		for control in $controls; do
			for algorithm in $algorithms; do
				printf '| %s | %s ms | %s | %s | %s |\n' "$rate" "$rtt" "$control" "$algorithm" \
					"$(for ((i = 0; i < runs; i++)); do measure "$rate" "$control" "$algorithm"; done | medians)"
			done
		done
	done
	stop TERM "$started_pid"
done
