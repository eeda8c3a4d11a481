# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# Storms over a fleet, for the tests that source this file after fleet.sh. Of each kind of source,
# three flood concurrently: one all hosts evenly, one hops from host to host each 200 ms, one sends
# bursts to all hosts simultaneously. The packets of each that all hosts pass are evaluated by their
# times. Together they send 4.5 times the limit, for any number of hosts.

limit=600       # L, in packets, in each second
storm_number=0
storm_kinds=(plain4)
declare -A storm # its sources, by "KIND FLOOD"

source_of() { # KIND NUMBER
	case $1 in
	plain6) printf '2001:db8:%x::1' "$2" ;;
	plain4) echo "192.0.2.$2" ;;
	bytes) echo "198.51.100.$2" ;;
	pair) echo "203.0.113.$2" ;;
	esac
}

next_storm() {
	local kind at=$((storm_number++ * 3))

	for kind in "${storm_kinds[@]}"; do
		storm["$kind even"]=$(source_of "$kind" $((at + 1)))
		storm["$kind hops"]=$(source_of "$kind" $((at + 2)))
		storm["$kind bursts"]=$(source_of "$kind" $((at + 3)))
	done
}

# The flows of a kind on a host. Packets of kind `bytes` are longer on each further host.
storm_on() { # HOST SECONDS KIND
	local turn_ms=$((hosts * 200)) after length='' each=$((limit * 9 / (2 * hosts)))

	[ "$3" != bytes ] || length=,len=$((100 + 40 * $1))
	echo "src=${storm[$3 even]},count=$((each * $2)),rate=$each$length"
	for ((after = ($1 - 1) * 200; after < $2 * 1000; after += turn_ms)); do
		echo "src=${storm[$3 hops]},count=$((limit * 2 / 3)),rate=$((limit * 10 / 3)),after=${after}ms$length"
	done
	for ((after = 100; after < $2 * 1000; after += 1300)); do
		echo "src=${storm[$3 bursts]},count=$((limit * 3 / 2 / hosts)),rate=$((limit * 45 / hosts)),after=${after}ms$length"
	done
}

# storm SECONDS [HOST…]: over all hosts, or those; `calm` stops it.
storm() {
	local host kind flows=() among=("${@:2}")

	[ $# -gt 1 ] || mapfile -t among < <(seq "$hosts")
	next_storm
	watch_hosts
	for host in "${among[@]}"; do
		mapfile -t flows < <(for kind in "${storm_kinds[@]}"; do storm_on "$host" "$1" "$kind"; done)
		send "$host" "${flows[@]}"
	done
}

calm() {
	wait_for_senders
	end_watch
}

# The most packets of a source within a time: of all intervals, or of those that end in these times,
# with packets sent in these.
most_of() { # SOURCE TIME [SINCE [UNTIL]]
	build/tests/traffic judge "$scratch/all" from "$1" ${3:+since "$3"} ${4:+until "$4"} \
		max "1000000000/$2" 2>/dev/null | sed 's/.*: //'
}

most_bytes_of() { # SOURCE TIME
	build/tests/traffic judge "$scratch/all" from "$1" unit bytes max "1000000000/$2" 2>/dev/null |
		sed 's/.*: //'
}

# most FLOOD [SINCE [UNTIL]]: of a plain source, within a second.
most() {
	most_of "${storm[plain4 $1]}" 1s "${@:2}"
}

# holds NAME MOST [SINCE [UNTIL]]: no plain source of the storm passed more in any second.
holds() {
	local flood seen worst=0 said=''

	for flood in even hops bursts; do
		seen=$(most "$flood" "${@:3}")
		[ "${seen:-999999}" -le "$worst" ] || worst=${seen:-999999}
		said+=" $flood ${seen:-none}"
	done
	check "$1" test "$worst" -le "$2"
	echo "#$said, of at most $2"
}
