#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Three front ends and a fleet server, each in a separate network namespace. One source sends to all
# three in parallel, at twice the limit L to each:
#
#   outside                      h1                  engine
#   192.0.2.66 -- traffic ---- edge1 eng0 ------- redis-server
#              -- traffic ---- edge2   (h2) -----
#              -- traffic ---- edge3   (h3) -----
#
# It shows the total that all three pass: as independent hosts, as a fleet, while the server is
# down, and after it was restarted. It removes everything it created, also when it is interrupted.

# shellcheck disable=SC2119,SC2317 # functions are called by name
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

limit=200 # L, in each second
from=192.0.2.66
result=0

show() { # HOST COMMAND…
	printf '\n$ ringfence %s\n' "${*:2}"
	on "$@"
}

# Lasts longer than the demo; `calm` stops it. It has started on all hosts.
flood() {
	local host

	watch_hosts
	for host in 1 2 3; do
		send "$host" "src=$from,count=$((600 * limit * 2)),rate=$((limit * 2))"
	done
	for host in 1 2 3; do
		eventually test -s "$scratch/kept$host" || bail "host $host passes nothing"
	done
}

calm() {
	local pid

	for pid in "${senders[@]}"; do
		stop TERM "$pid"
	done
	senders=()
	end_watch
}

# The maximum that all hosts together passed in any second of a period.
most() { # [SINCE|UNTIL NS]…
	build/tests/traffic judge "$scratch/all" from "$from" "$@" max 1000000/1s 2>/dev/null |
		sed 's/.*: //'
}

# The count until now, while packets are received.
has_passed() { # MOST [SINCE|UNTIL NS]…
	local seen

	cat "$scratch"/kept[0-9]* >"$scratch/all"
	seen=$(most "${@:2}")
	[ "${seen:-0}" -ge "$1" ]
}

# row NAME MOST LEAST LIMIT: the demo fails unless LEAST <= MOST <= LIMIT.
row() {
	local verdict="expected $3 to $4"

	if [ "${2:-0}" -lt "$3" ] || [ "${2:-999999}" -gt "$4" ]; then
		verdict="WRONG: expected $3 to $4" result=1
	fi
	printf '%-38s %6s   %s\n' "$1" "${2:-none}" "$verdict"
}

each_host() {
	local host

	for host in 1 2 3; do
		printf '  edge%s passed %s\n' "$host" "$(received_on "$host" "$from")"
	done
}

make_fleet 3
echo "Three hosts, and one source that sends $((limit * 2)) packets/s to each of them."
echo
start_engine
for host in 1 2 3; do
	on "$host" attach "edge$host" fleet >"$scratch/log" || bail 'cannot attach a fence'
	on "$host" limit add any rate "$limit/1s" >"$scratch/log" || bail 'cannot add a limit'
done

echo "1. Each host for itself, with 'limit add any rate $limit/1s':"
flood
sleep 2.5
eventually has_passed $((limit * 2)) # packets that all hosts pass in the same second
calm
each_host
without=$(most)

echo
echo '2. As a fleet. On each host:'
show 1 fleet join edge1 redis 10.77.1.1:6379 hosts 3
show 1 limit set any rate "$limit/1s" fleet
show 1 limit list
for host in 2 3; do
	on "$host" fleet join "edge$host" redis "10.77.$host.1:6379" hosts 3 >"$scratch/log" ||
		bail "host $host cannot join"
	on "$host" limit set any rate "$limit/1s" fleet >"$scratch/log" ||
		bail "host $host has no limit of the fleet"
done
printf '\n$ ringfence-fleet run edge1 &\n'
for host in 1 2 3; do
	start_agent "$host"
done
eventually all_hear || bail "the hosts do not hear the engine: $(cat "$scratch"/agent*)"
show 1 fleet status edge1
flood
sleep 4
calm
echo
each_host
with=$(most)

echo
echo '3. The engine is killed, and started again:'
flood
sleep 1.5
killed=$(clock)
stop KILL "$engine_pid"
for host in 1 2 3; do
	eventually is_alone "$host" || bail "host $host does not go alone"
done
show 1 fleet status edge1
sleep 1.2 # a full second of offline traffic
eventually has_passed $((limit + 1)) since "$killed"
start_engine
eventually all_hear || bail 'the hosts do not hear the new engine'
sleep 1.1 # earlier packets are out of the window
back=$(clock)
show 1 fleet status edge1
sleep 2
eventually has_passed 1 since "$back"
calm

printf '\n%-38s %6s   %s\n' 'most that passed in any second' packets ''
row 'each host for itself: 3 L' "$without" $((limit * 2)) $((limit * 3))
row 'as a fleet: L' "$with" 1 "$limit"
row 'before the engine was killed: L' "$(most until "$killed")" 1 "$limit"
row 'without the engine: 3 L at most' "$(most since "$killed" until "$back")" $((limit + 1)) \
	$((limit * 3))
row 'once it is back: L' "$(most since "$back")" 1 "$limit"
[ "$result" = 0 ] && echo 'demo-fleet: all of it holds' || echo 'demo-fleet: FAILED' >&2
exit "$result"
