# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# Storms over a fleet, for the tests that source this file after fleet.sh: three sources at once,
# each with a limit of its own. One floods all hosts evenly, one hops from host to host each 200 ms,
# one comes in bursts on all hosts at once. What all hosts pass of each is judged by its times.

limit=600       # L, in each second
storm_number=0
declare -A storm # its sources

next_storm() {
	storm_number=$((storm_number + 1))
	storm=([even]=192.0.2.$((storm_number * 3)) [hops]=192.0.2.$((storm_number * 3 + 1))
		[bursts]=192.0.2.$((storm_number * 3 + 2)))
}

# The flows of a storm of SECONDS on a host.
storm_on() { # HOST SECONDS
	local turn_ms=$((hosts * 200)) after

	echo "src=${storm[even]},count=$((limit * 3 * $2 / 2)),rate=$((limit * 3 / 2))"
	for ((after = ($1 - 1) * 200; after < $2 * 1000; after += turn_ms)); do
		echo "src=${storm[hops]},count=$((limit * 2 / 3)),rate=$((limit * 10 / 3)),after=${after}ms"
	done
	for ((after = 100; after < $2 * 1000; after += 1300)); do
		echo "src=${storm[bursts]},count=$((limit / 2)),rate=$((limit * 15)),after=${after}ms"
	done
}

# storm SECONDS [HOST…]: over all hosts, or those; `calm` ends it.
storm() {
	local host flows among=("${@:2}")

	[ $# -gt 1 ] || mapfile -t among < <(seq "$hosts")
	next_storm
	watch_hosts
	for host in "${among[@]}"; do
		mapfile -t flows < <(storm_on "$host" "$1")
		send "$host" "${flows[@]}"
	done
}

calm() {
	wait_for_senders
	end_watch
}

# The most that came within 1 s of a source of the storm: of all times, or of intervals that end in
# these, with what was sent in these.
most() { # KIND [SINCE [UNTIL]]
	build/tests/traffic judge "$scratch/all" from "${storm[$1]}" ${2:+since "$2"} ${3:+until "$3"} \
		max 1000000/1s 2>/dev/null | sed 's/.*: //'
}

# holds NAME MOST [SINCE [UNTIL]]: no source of the storm passed more in any second.
holds() {
	local kind seen worst=0 said=''

	for kind in even hops bursts; do
		seen=$(most "$kind" "${@:3}")
		[ "${seen:-999999}" -le "$worst" ] || worst=${seen:-999999}
		said+=" $kind ${seen:-none}"
	done
	check "$1" test "$worst" -le "$2"
	echo "#$said, of at most $2"
}
