#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Measures the cost of a fleet on one machine: real agents, a real fleet server, and fences whose
# program is run by BPF_PROG_TEST_RUN, or receives packets from a veth pair.
#
#   tests/bench/fleet.sh [PART…]    latency, load, idle, flood, refused, cost; by default all.
#                                   Also schedules: latency by the scheduling of the agents;
#                                   rejoin: reporting CLAIMS again to an emptied server
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

# CPU time of the agent of host 1 and of the server while a command runs.
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
	local began monitor

	echo 'a fleet without traffic:'
	sleep 15 # earlier shares are returned
	began=$(clock)
	start engine "$client" monitor >"$scratch/monitored"
	monitor=$started_pid
	take sleep "$seconds"
	# Only messages of hosts, without the calls of the functions.
	each_second $((2 * $(grep -c '^[0-9.]* \[[0-9]* [0-9]' "$scratch/monitored"))) "$began" \
		'messages a second and host, both ways'
	stop TERM "$monitor"
}

# One source floods all hosts; its reports from the fifth second on.
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

part_refused() {
	echo 'a packet of a source that floods one host, nearly all refused:'
	asks flood edge1 "$seconds"
}

# heartbeats LOG FROM UNTIL: of host 1, as received by the server: the maximum per second in a
# bucket, and the longest time without one.
heartbeats() {
	awk -v from="$2" -v until="$3" '
		!/"rf_beat"/ || !/ 10\.77\.1\.2:/ || $1 < from || $1 > until { next }
		{ match($0, /rf:[{][0-9]+[}]/); bucket = substr($0, RSTART, RLENGTH)
		  n = ++beats[bucket]; at[bucket, n] = $1; all++
		  if (n > 1 && $1 - at[bucket, n - 1] > gap) gap = $1 - at[bucket, n - 1]
		  while (at[bucket, n] - at[bucket, first[bucket] + 1] > 1) first[bucket]++
		  if (n - first[bucket] > most) most = n - first[bucket] }
		END { printf "%d heartbeats; of a bucket at most %d in a second, and %.2f s between two\n", all, most, gap }' "$1"
}

# Empties the server, and waits until it has CLAIMS keys again, one per claim.
empty_engine() { # CLAIMS
	local alone reports

	start outside tests/e2e/fleet_alone.py /run/ringfence-fleet/edge1.sock >"$scratch/alone" 2>"$scratch/ready"
	alone=$started_pid
	eventually grep -q ready "$scratch/ready" || bail 'cannot ask whether the host is alone'
	reports=$(count_of 1 reports) began=$(date +%s.%N)
	engine flushall >"$scratch/log"
	until [ "$(engine dbsize)" -ge "$1" ]; do
		sleep 0.02
	done
	ended=$(date +%s.%N)
	sleep 3
	stop TERM "$alone"
	awk -v from="$began" -v until="$ended" -v reports=$(($(count_of 1 reports) - reports)) \
		-v alone="$(grep -c . "$scratch/alone")" 'BEGIN {
		printf "all are told again in %.2f s, by %d reports; alone for %d buckets\n", until - from, reports, alone }'
}

# W is long, to make claims count until the server has been emptied twice. The second time it is
# watched with MONITOR, which slows it down. Agents and server have real-time priority, because
# other load on the machine must not change the result.
part_rejoin() {
	local host monitor claims=${CLAIMS:-32000}

	for ((host = 1; host <= hosts_in; host++)); do
		on "$host" limit change any rate 100/10m >"$scratch/log" || bail 'cannot change the limit'
	done
	schedule rr-both
	asks hold edge1 "$claims" 4500
	sleep 2
	echo "a host with $(count_of 1 claims) claims, whose engine has $(engine dbsize) keys, and is emptied:"
	empty_engine "$claims"
	start engine "$client" monitor >"$scratch/monitored"
	monitor=$started_pid
	empty_engine "$claims"
	stop TERM "$monitor"
	heartbeats "$scratch/monitored" "$began" "$(awk -v at="$ended" 'BEGIN { printf "%.3f", at + 3 }')"
	schedule usual
}

# In pairs with the program of a fence without a fleet, and with the same limit as a local one.
part_cost() {
	local way plain=build/ringfence.bpf.o fleet=build/ringfence_fleet.bpf.o

	echo 'a packet that asks its window, under a limit of one host, and what it adds in a fleet:'
	for way in first share; do
		echo "$way: $(build/tests/share_cost 400 $plain local $fleet $way)"
		echo "$way, the same program: $(build/tests/share_cost 400 $fleet local $fleet $way)"
	done
	echo "two limits: $(build/tests/share_cost 400 $plain local-twice $fleet share-twice)"
	echo "passed by a lease: $(build/tests/share_cost 400 $plain leased $fleet leased-share)"
}

# schedule HOW: schedules agents and server; real-time priority applies to their main threads.
schedule() {
	local pid

	for pid in "${agent[@]}" "$engine_pid"; do
		chrt --other --pid 0 "$pid"
		renice --priority 0 --pid "$pid" >"$scratch/log"
		[ "$1" = usual ] || { [ "$pid" = "$engine_pid" ] && [[ $1 != *both ]]; } && continue
		case $1 in
		nice*) renice --priority -10 --pid "$pid" >"$scratch/log" ;;
		rr*) chrt --rr --pid 1 "$pid" ;;
		esac
	done
}

# In turns, because other load on the machine then affects all variants.
part_schedules() {
	local how round

	for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
		for how in usual nice nice-both rr rr-both; do
			schedule "$how"
			# The process that measures shares must not wait for a CPU itself.
			echo "$how: $(within h1 chrt --fifo 10 build/tests/asks latency edge1 "${COUNT:-300}")"
		done
	done
	schedule usual
}

set_up_fleet "$hosts_in" 100/1s # f is 1: the first packet of a source sends a request
parts=${*:-latency load idle flood refused cost}
for part in $parts; do
	"part_$part"
done
