#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What a fleet costs on one machine: real agents, a real engine, and fences whose program runs by
# BPF_PROG_TEST_RUN, or gets packets from a veth pair.
#
#   tests/bench/fleet.sh [PART…]    latency, load, idle, flood; all without words
#
# This is a tool, not a test: no figure makes it fail.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

hosts_in=${HOSTS:-2} rate=${RATE:-5000} seconds=${FOR:-10}

asks() {
	within h1 build/tests/asks "$@" || bail 'cannot measure'
}

# CPU time of a process in ns, all threads.
cpu_of() { # PID
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

count_of() { # HOST COUNTER
	agent_says "$1" status | jq ".counts.$2"
}

calls() { # that the engine has processed
	engine info commandstats | sed -n 's/^cmdstat_fcall:calls=\([0-9]*\),.*/\1/p'
}

all_reports() {
	local host sum=0

	for ((host = 1; host <= hosts_in; host++)); do
		sum=$((sum + $(count_of "$host" reports)))
	done
	echo "$sum"
}

# each_second COUNT SINCE WHAT: of each host.
each_second() {
	awk -v count="$1" -v ns=$(($(clock) - $2)) -v hosts="$hosts_in" -v what="$3" \
		'BEGIN { printf "%.2f %s\n", count / ns * 1e9 / hosts, what }'
}

# What the agent of host 1 and the engine take while a command runs.
take() { # COMMAND…
	local agent_ns engine_ns reports began

	began=$(clock) agent_ns=$(cpu_of "${agent[1]}") engine_ns=$(cpu_of "$engine_pid") reports=$(count_of 1 reports)
	"$@" >"$scratch/log"
	took_ns=$(($(clock) - began))
	agent_ns=$(($(cpu_of "${agent[1]}") - agent_ns))
	engine_ns=$(($(cpu_of "$engine_pid") - engine_ns))
	reports=$(($(count_of 1 reports) - reports))
	awk -v took="$took_ns" -v agent="$agent_ns" -v engine="$engine_ns" -v reports="$reports" 'BEGIN {
		each = reports / took * 1e9
		printf "%.0f updates/s: agent %.2f %% of a CPU, %.1f us each (%.2f %% at 5,000/s); engine %.2f %%\n",
			each, agent / took * 100, reports ? agent / reports / 1000 : 0,
			reports ? agent / reports * 5000 / 1e7 : 0, engine / took * 100 }'
}

part_latency() {
	echo 'ask to share in force:'
	asks latency edge1 "${COUNT:-1000}"
}

part_load() {
	echo "$rate new sources a second, each of which asks:"
	take asks new edge1 "$rate" "$seconds"
	agent_says 1 status | jq -c .counts
}

part_idle() {
	local before began

	echo 'a fleet without traffic:'
	sleep 15 # shares of before are given back
	began=$(clock) before=$(calls)
	take sleep "$seconds"
	each_second $((2 * ($(calls) - before))) "$began" 'messages a second and host, both ways'
}

# One source floods all hosts; what is reported of it from the fifth second on.
part_flood() {
	local host before began

	echo 'a steady flood of one source over all hosts:'
	for ((host = 1; host <= hosts_in; host++)); do
		send "$host" "src=203.0.113.1,count=$((16 * 2000)),rate=2000"
	done
	sleep 5
	began=$(clock) before=$(all_reports)
	sleep 10
	each_second $(($(all_reports) - before)) "$began" 'updates a second and host'
	wait_for_senders
}

set_up_fleet "$hosts_in" 100/1s # f is 1: the first packet of a source asks
parts=${*:-latency load idle flood}
for part in $parts; do
	"part_$part"
done
