#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An agent whose server is broken or hostile: for any replies, the agent continues to run, and uses
# no more memory than is stated; so does 'fleet check'. hostile_server.py is the server.

# shellcheck disable=SC2119,SC2317 # functions are called by check and eventually
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
PATH=$PWD/build:$PATH # where 'fleet check' finds the agent's program

most_kb=$((48 * 1024)) # four connections of an agent, each with a reply of 4 MiB as received and as parsed

make_fleet 1
mkdir -p /etc/ringfence
on 1 attach edge1 fleet >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
on 1 fleet hosts 2 >"$scratch/log"
on 1 limit add any rate 1k/1s fleet >"$scratch/log" || bail "no limit: $(<"$scratch/log")"
printf 'redis 10.77.1.1:6379\nbans take\ngrace 1s\n' >/etc/ringfence/edge1.fleet

# It has tried this many connections: more than one was refused, and made again.
has_tried() {
	[ "$(within engine ss -Htn state all '( sport = :6379 )' | wc -l)" -gt 0 ] && [ "$(wc -l <"$scratch/agent1")" -gt 0 ]
}

# survives WAY [SEED]
survives() {
	local peak status

	start engine python3 tests/e2e/hostile_server.py 6379 "$@" >"$scratch/ready"
	server_pid=$started_pid
	until grep -q ready "$scratch/ready"; do # however long that takes
		kill -0 "$server_pid" || bail 'the hostile server does not start'
		sleep 0.1
	done
	: >"$scratch/agent1"
	start_agent 1
	eventually has_tried
	sleep 3 # to make connections repeatedly
	check "$*: the agent runs on" kill -0 "${agent[1]}"
	peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/${agent[1]}/status")
	check "$*: it takes ${peak:-?} kB, within $most_kb" test "${peak:-$most_kb}" -lt $most_kb
	on 1 fleet check edge1 >"$scratch/checked" 2>&1
	status=$?
	check "$*: 'fleet check' ends by itself, with $status" test $status -le 2
	check "$*: it has asked the engine" grep -q ' 10\.77\.1\.1:6379' "$scratch/checked"
	stop TERM "${agent[1]}"
	stop TERM "$server_pid"
}

for way in unasked greeting array arrays bulk line nested port_zero; do
	survives $way
done
is "$(unwrapped <"$scratch/checked" | grep -c "10.77.1.1:0: the fleet server announces port 0 for it, which is invalid")" 1 \
	'a replica at port 0 is a finding'
for seed in 1 2 3; do
	survives any_value $seed
	survives any_bytes $seed
done
on 1 detach edge1 >"$scratch/log"
done_testing
