# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2119,SC2120 # lib.sh sets them
# Fleets, for the tests that source this file after lib.sh: a fleet server, and hosts with a fence
# and an agent each. The packets that they pass are received in all of them, and evaluated together
# by their times.
#
#   outside                 h1                  engine
#   out1 ---- traffic ---- edge1 eng0 ---- 10.77.1.1  redis-server
#   out2 ---- traffic ---- edge2   (h2) ---- 10.77.2.1
#
# All are on one machine, so they have one clock.

# shellcheck disable=SC2034 # the tests use them
declare -A agent
declare -A receiver
engine_pid=''
server=$(command -v redis-server || command -v valkey-server) || bail "there is no redis-server; run 'make deps-test'"
client=$(command -v redis-cli || command -v valkey-cli) || bail "there is no redis-cli; run 'make deps-test'"

hosts=0 # of the fleet

add_host() { # NUMBER
	add_namespace "h$1"
	ip link add "out$1" netns "rf-test-$$-outside" address "02:00:00:00:0$1:01" type veth \
		peer name "edge$1" netns "rf-test-$$-h$1" address "02:00:00:00:0$1:02" ||
		bail "cannot make the wire of host $1"
	ip link add "eng$1" netns "rf-test-$$-engine" type veth peer name eng0 \
		netns "rf-test-$$-h$1" || bail "cannot make the way to the engine of host $1"
	within engine ip addr add "10.77.$1.1/24" dev "eng$1"
	within engine ip link set "eng$1" up
	within "h$1" ip addr add "10.77.$1.2/24" dev eng0
	within "h$1" ip link set eng0 up
	within "h$1" ip link set "edge$1" up
	within outside ip link set "out$1" up
}

# make_fleet N: namespaces and wires.
make_fleet() {
	local host

	[ "$(id -u)" = 0 ] || bail "it makes network namespaces and loads programs; run it as root"
	hosts=$1
	add_namespace outside
	add_namespace engine
	within engine ip link set lo up
	for ((host = 1; host <= hosts; host++)); do
		add_host "$host"
	done
}

start_engine() { # OPTION…
	start engine "$server" --port 6379 --bind 0.0.0.0 --protected-mode no --save '' \
		--appendonly no --dir "$scratch" --logfile "$scratch/redis.log" "$@"
	engine_pid=$started_pid
	eventually within engine "$client" ping >"$scratch/ping" 2>&1 || bail 'the engine does not start'
}

engine() { # COMMAND…
	within engine "$client" "$@"
}

# on HOST CMD…: the command line on that host.
on() {
	within "h$1" "${build?}" "${@:2}"
}

start_agent() { # HOST
	start "h$1" build/ringfence-fleet run "edge$1" >>"$scratch/agent$1" 2>&1
	# shellcheck disable=SC2034
	agent[$1]=$started_pid
}

hears() { # HOST
	is_alone_in 0 "$1"
}

is_alone() { # HOST
	is_alone_in 16 "$1"
}

# Without jq, which takes longer than the reply: every test waits for this.
is_alone_in() { # BUCKETS HOST
	[[ $(agent_says "$2" status) =~ \"offline\":\ *$1[,}] ]]
}

all_hear() {
	local host

	for ((host = 1; host <= hosts; host++)); do
		hears "$host" || return
	done
}

# ---- traffic ----

# In ns, like the times of received packets.
clock() {
	build/tests/traffic clock
}

# watch: receives on all hosts, until `judge`.
watch_hosts() {
	local host

	for ((host = 1; host <= hosts; host++)); do
		: >"$scratch/ready$host"
		start "h$host" build/tests/traffic recv dev "edge$host" for 5m \
			keep "$scratch/kept$host" >"$scratch/received$host" 2>"$scratch/ready$host"
		receiver[$host]=$started_pid
	done
	for ((host = 1; host <= hosts; host++)); do
		eventually grep -q ready "$scratch/ready$host" || bail "cannot receive on host $host"
	done
}

# send HOST FLOW…: in the background; `wait_for_senders` waits.
senders=()
send() {
	local flows=() flow

	for flow in "${@:2}"; do
		flows+=(flow "$flow")
	done
	start outside build/tests/traffic send dev "out$1" to "02:00:00:00:0$1:02" "${flows[@]}" \
		>>"$scratch/sent$1"
	senders+=("$started_pid")
}

wait_for_senders() {
	local pid

	for pid in "${senders[@]}"; do
		wait "$pid" || fail 'a sender could send'
		unset "started[$pid]"
	done
	senders=()
}

end_watch() {
	local host

	sleep 0.1 # from the program to the socket
	for ((host = 1; host <= hosts; host++)); do
		stop TERM "${receiver[$host]}"
	done
	cat "$scratch"/kept[0-9]* >"$scratch/all"
}

# received_on HOST SOURCE: packets.
received_on() {
	awk -v source="$2" '$2 == source { sum += $3 } END { print sum + 0 }' "$scratch/received$1"
}

# agent_says HOST QUESTION: the agent's reply on its socket.
agent_says() {
	build/tests/agent_says "edge$1" "$2" 2>/dev/null
}

# set_up_fleet HOSTS [RATE [SLOTS]]: an engine, and on each host a fence, with a limit if there is a
# rate, and an agent.
set_up_fleet() {
	make_fleet "$1"
	start_engine
	set_up_hosts "$@"
}

engine_of() { # HOST
	echo "10.77.$1.1:6379"
}

set_up_hosts() { # HOSTS [RATE [SLOTS]]
	local host

	mkdir -p /etc/ringfence
	for ((host = 1; host <= $1; host++)); do
		echo "redis $(engine_of "$host")" >"/etc/ringfence/edge$host.fleet"
		on "$host" attach "edge$host" fleet >"$scratch/log"
		on "$host" fleet hosts "${3-$1}" >"$scratch/log"
		[ $# -lt 2 ] || on "$host" limit add any rate "$2" fleet >"$scratch/log" ||
			bail 'no limit of a fleet'
		start_agent "$host"
	done
	eventually all_hear || bail "the hosts do not hear the engine: $(cat "$scratch"/agent*)"
}
