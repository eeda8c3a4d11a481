#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet with faults: the server stops, forgets, refuses; links are cut; agents are killed; rules
# and fences change while shares are granted. Each fault occurs during a storm, and the packets that
# all hosts pass are evaluated by their times; fleet_verdict.sh describes how.
#
#   FAULTS=all tests/e2e/test_fleet_faults.sh       'make faults-fleet'; a few minutes
#   FAULTS='flushall oom' tests/e2e/test_fleet_faults.sh
#
# It prints the table of docs/fleet-proof.md after the results.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh
# shellcheck source=tests/e2e/fleet_verdict.sh
source tests/e2e/fleet_verdict.sh
# shellcheck source=tests/e2e/fleet_trouble.sh
source tests/e2e/fleet_trouble.sh

# ---- the engine ----

fault_nothing() {
	begin 6
	finish
	verdict 'no fault'
}

fault_engine_killed() {
	begin 14
	at 2.5
	stop KILL "$engine_pid"
	at 5.5
	start_engine
	finish
	verdict 'the engine is killed, and is back after 3 s'
	check 'each host was alone' test "$alone" = 3
}

stopped() { # SECONDS OF-STORM
	begin "$2"
	at 2
	kill -STOP "$engine_pid"
	sleep "$1"
	kill -CONT "$engine_pid"
	finish
	verdict "the engine stands still for $1 s"
}

fault_stopped_briefly() {
	stopped 0.5 6
}

fault_stopped() {
	stopped 1.9 8
}

fault_stopped_long() {
	stopped 5 12
}

fault_flushall() {
	begin 7
	at 2
	engine flushall >"$scratch/log"
	finish
	verdict 'FLUSHALL'
}

# It has the master's state of 300 ms ago, and takes the master's place.
fault_replica() {
	local replica

	start engine "$server" --port 6380 --bind 0.0.0.0 --protected-mode no --save '' \
		--appendonly no --dir "$scratch" --dbfilename replica.rdb --replicaof 127.0.0.1 6379 \
		--logfile "$scratch/replica.log"
	replica=$started_pid
	eventually is_replica || bail 'the replica does not follow'
	begin 10
	at 2
	kill -STOP "$replica"
	sleep 0.3
	stop KILL "$engine_pid"
	kill -CONT "$replica"
	on_port 6380 replicaof no one >"$scratch/log"
	on_port 6380 config set port 6379 >"$scratch/log"
	engine_pid=$replica
	finish
	verdict 'a replica that lost 0.3 s of writes is promoted'
	matches "$(engine info replication | grep role)" 'role:master.' 'it is the engine now'
}

on_port() { # PORT COMMAND…
	within engine "$client" -p "$1" "${@:2}"
}

is_replica() {
	on_port 6380 info replication 2>/dev/null | grep -q 'master_link_status:up'
}

fault_oom() {
	begin 10
	at 2
	engine config set maxmemory 1 >"$scratch/log"
	at 5.5
	engine config set maxmemory 0 >"$scratch/log"
	finish
	verdict 'the engine has no memory left for 3.5 s'
}

fault_function_flush() {
	begin 8
	at 2
	engine function flush >"$scratch/log"
	finish
	verdict 'FUNCTION FLUSH'
}

fault_password() {
	begin 10
	at 2
	engine config set requirepass other >"$scratch/log"
	engine --no-auth-warning -a other client kill type normal skipme yes >"$scratch/log"
	at 5.5
	engine --no-auth-warning -a other config set requirepass '' >"$scratch/log"
	finish
	verdict 'the engine has another password for 3.5 s'
}

fault_acl() {
	begin 10
	at 2
	engine acl setuser default -fcall >"$scratch/log"
	at 5.5
	engine acl setuser default +fcall >"$scratch/log"
	finish
	verdict 'the user loses its rights for 3.5 s'
}

# ---- a fleet with too many requests ----

# Each of a million sources sends two packets on a host, one after the other: more than f/2.
fault_million() {
	local host asks=0

	alone_in 0 'nobody goes alone' million
	for host in 1 2 3; do
		asks=$((asks + $(agent_says "$host" status | jq .counts.requests)))
	done
	echo "# the agents were asked $asks times; asks that they put off: $(put_off)"
	check 'the agents were asked much more than they may ask' test "$asks" -gt 100000
}

million() {
	local host each=src=10.0.0.1,sources=1000000,count=1000000,after=1s

	begin 12
	for host in 1 2 3; do
		send "$host" "$each" "$each"
	done
	finish
	verdict 'a million sources at once, each above f/2'
}

put_off() {
	for host in 1 2 3; do agent_says "$host" status | jq .counts.requests_deferred; done | xargs
}

# ---- rules ----

# P + 3 f of the other definition; the sum holds while they differ.
fault_limit_set() {
	local host

	begin 9
	for host in 1 2 3; do
		at $((1 + host))
		on "$host" limit set any rate 300/1s fleet >"$scratch/log"
	done
	changed=$(clock)
	finish
	verdict 'a limit of 300 is rolled out, a host each second' 300
	check 'a second later it holds' test "$(worst $((changed + 1000000000)))" -le 300
	for host in 1 2 3; do
		on "$host" limit set any rate "$limit/1s" fleet >"$scratch/log"
	done
	sleep 1.5
}

fault_trial() {
	local host seconds

	echo 'fleet hosts 4
limit add any rate 300/1s fleet' >"$scratch/rules"
	for seconds in 9 30 120; do # a busy machine can take this long to activate and to roll back unconfirmed rules
		begin "$seconds"
		at 2
		for host in 1 2 3; do
			on "$host" apply "$scratch/rules" confirm 2s >"$scratch/log" 2>&1 || bail "no trial: $(<"$scratch/log")"
		done
		at 4
		eventually all_fell_back || bail 'a trial does not end'
		back=$(($(clock) + 1000000000))
		finish
		[ $((back - storm_began)) -gt $((seconds * 1000000000 - 2000000000)) ] || break
	done
	verdict 'rules unconfirmed fall back after 2 s' 300
	check 'a second later the bound holds' test "$(worst $((back + 1000000000)))" -le 598
}

all_fell_back() {
	local host

	for host in 1 2 3; do
		on "$host" limit list | grep -q "rate $limit/1s" || return
	done
}

fault_differ() {
	on 3 limit set any rate 300/1s fleet >"$scratch/log"
	sleep 1.5
	begin 6
	finish
	verdict 'one host defines the limit as 300' 300
	on 3 limit set any rate "$limit/1s" fleet >"$scratch/log"
	sleep 1.5
}

# In one transaction, so no packet passes without a limit.
fault_del_add() {
	echo "limit del any
limit add any rate $limit/1s fleet" >"$scratch/batch"
	begin 7
	at 3
	on 2 batch "$scratch/batch" >"$scratch/log" 2>&1 || bail "no batch: $(<"$scratch/log")"
	finish
	verdict 'limit del and limit add on one host' "$first"
}

# ---- fences and agents ----

fault_attach() {
	local gone back

	begin 9
	at 3
	gone=$(clock)
	on 2 save >"$scratch/saved"
	on 2 detach edge2 >"$scratch/log"
	on 2 attach edge2 fleet >"$scratch/log"
	on 2 apply "$scratch/saved" >"$scratch/log"
	eventually hears 2
	back=$(clock)
	finish 2 "$gone" "$back"
	verdict 'a fence is detached and attached while shares are out' any
}

fault_agent_killed() {
	alone_in 1 'no other host is alone' agent_killed
}

agent_killed() {
	begin 9
	at 2.5
	stop KILL "${agent[1]}"
	at 5
	start_agent 1
	finish
	verdict 'an agent is killed, and starts after 2.5 s'
}

fault_agent_ends() {
	begin 7
	at 2.5
	end_agent
	finish
	verdict 'an agent is told to end, and another starts'
	[ "$took_ms" -le 4000 ] || eventually ends_in_time
	check 'it ends within the grace' test "$took_ms" -le 4000
}

end_agent() { # a new one starts
	local began

	began=$(clock)
	stop TERM "${agent[1]}"
	took_ms=$((($(clock) - began) / 1000000))
	start_agent 1
}

# On a busy machine it can be without CPU for longer, but not each time.
ends_in_time() {
	eventually hears 1
	end_agent
	[ "$took_ms" -le 4000 ]
}

# ---- the runs ----

all=(nothing steady engine_killed stopped_briefly stopped stopped_long flushall replica oom function_flush
	password acl million limit_set trial differ del_add attach agent_killed agent_ends link_down no_answers no_calls loss delay clock_steps
	clocks_differ agent_dies host_dies reboot one_slot eviction hostile silence)
few=(engine_killed agent_ends)

case ${FAULTS-few} in
few) faults=("${few[@]}") ;;
all) faults=("${all[@]}") ;;
*) read -ra faults <<<"$FAULTS" ;;
esac

set_up_fleet 3 "$limit/1s" 4
for fault in "${faults[@]}"; do
	"fault_$fault"
	eventually all_hear || bail "after '$fault' a host hears nothing: $(tail -n 3 "$scratch"/agent?)"
done
print_table
done_testing
