#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet whose engine is a cluster: slots are moved while their buckets are flooded, a master dies and
# its replica takes its place, an agent starts while the first server that it knows is down. What the
# hosts pass is judged by its times, as in test_fleet_faults.sh; fleet_verdict.sh says how.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_cluster.sh
source tests/e2e/fleet_cluster.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh
# shellcheck source=tests/e2e/fleet_verdict.sh
source tests/e2e/fleet_verdict.sh

# They know one server each, and learn the others.
engine_of() { # HOST
	echo "10.78.0.$1:6379"
}

# The nodes of host 1, and how many buckets each has.
nodes_of_host() {
	agent_says 1 status | jq -r '[.engine.nodes[] | "\(.host)=\(.buckets)"] | sort | join(" ")'
}

# The bucket that has the claims on a source.
bucket_of() { # SOURCE
	local number

	for number in 1 2 3; do
		node "$number" keys "rf:*:l:*:$1/32"
	done | sed -n 's/^rf:{\([0-9]*\)}.*/\1/p' | head -n 1
}

make_fleet 3
make_cluster
set_up_hosts 3 "$limit/1s" 4

# ---- nothing happens, then a slot is moved, and back ----

is "$(nodes_of_host)" "$(for number in 1 2 3; do
	echo "10.78.0.$number=$(for b in {0..15}; do master_of "$b"; done | grep -c "$number")"
done | xargs)" 'each bucket is asked for where it is'
begin 7
at 2
bucket=$(bucket_of "${storm[plain4 even]}")
from=$(master_of "$bucket")
to=$((from % 3 + 1))
echo "# bucket $bucket goes from node $from to $to"
begin_move "$bucket" "$from" "$to"
end_move "$bucket" "$from" "$to"
at 4
begin_move "$bucket" "$to" "$from"
at 4.7
end_move "$bucket" "$to" "$from"
finish
verdict 'the slot of a flooded bucket is moved, and back in 0.7 s'
is "$(master_of "$bucket")" "$from" 'it was moved'

# ---- a master dies ----

begin 8
at 2
stop KILL "${node_pid[2]}"
finish
verdict 'a master is killed, and its replica takes its place'
check 'all hosts hear the replica' eventually all_hear
matches "$(nodes_of_host)" '10.78.0.1=[0-9]+ 10.78.0.3=[0-9]+ 10.78.0.4=[0-9]+' 'in the place of its master'

# ---- an agent starts while the first server is down ----

echo 'redis 10.78.0.2:6379,10.78.0.1:6379' >/etc/ringfence/edge1.fleet
begin 4
at 1
stop TERM "${agent[1]}"
start_agent 1
check 'an agent starts while the first server is down' eventually hears 1
finish
verdict 'an agent starts while the first server is down'

print_table
done_testing
