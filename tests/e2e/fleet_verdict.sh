# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# The verdict about a fault of a fleet, for the tests that source this file after fleet_storm.sh.
# During a storm the agents are asked all the time whether their hosts are alone. What the hosts pass
# is judged by that: as long as nobody is alone no source passes more than the bound, while A hosts
# are that, no more than A times the limit beside it, and W after that the bound holds again.
#
# L is 600 in 1 s. There are three hosts and four slots, so f is 2, P is 592, and three hosts pass 598.

pool=592 first=2
table=()

alone_watch=''

# Begins a storm, and to ask.
begin() { # SECONDS
	start outside tests/e2e/fleet_alone.py /run/ringfence-fleet/edge{1..3}.sock \
		>"$scratch/alone" 2>"$scratch/asks"
	alone_watch=$started_pid
	eventually grep -q ready "$scratch/asks" || bail 'cannot ask whether hosts are alone'
	storm "$1"
	storm_began=$(clock)
}

# Waits until so many seconds of the storm have passed.
at() { # SECONDS
	local left

	left=$(awk -v began="$storm_began" -v now="$(clock)" -v at="$1" \
		'BEGIN { left = at - (now - began) / 1e9; printf "%.3f", (left > 0) * left }')
	sleep "$left"
}

# Ends the storm. Hosts were alone: $alone of them, from $alone_from until $alone_until. What is
# exempt beside that may be told: one host, from when, until when.
finish() { # [HOST FROM UNTIL]
	calm
	stop TERM "$alone_watch"
	[ $# = 0 ] || echo "$*" >>"$scratch/alone"
	read -r alone alone_from alone_until <<<"$(awk '
		!($1 in seen) { seen[$1] = 1; hosts++ }
		{ if (!from || $2 < from) from = $2; if ($3 > until) until = $3; if (!$3) never = 1 }
		END { printf "%d %.0f %.0f\n", hosts, from, never ? 9e18 : until }' "$scratch/alone")"
}

worst() { # [SINCE [UNTIL]]
	local flood seen worst=0

	for flood in even hops bursts; do
		seen=$(most "$flood" "$@")
		[ "${seen:-999999}" -le "$worst" ] || worst=${seen:-999999}
	done
	echo "$worst"
}

# verdict FAULT [MOST]: the bound holds, as above; or MOST beside it, which the fault may pass, or with
# `any`, whatever passes meanwhile.
verdict() {
	local bound=$((pool + 3 * first)) before after='-' whole said most

	whole=$(worst)
	most=any
	if [ "${2-}" != any ]; then
		most=$((pool + (3 - alone) * first + alone * limit + ${2-0}))
		check "$1: no source passes more than $most in any second" test "$whole" -le "$most"
	fi
	if [ "$alone" = 0 ]; then
		table+=("| $1 | nobody | $whole of $most | |")
		return
	fi
	before=$(worst 0 "$alone_from")
	check "$1: until then no more than $bound" test "$before" -le "$bound"
	if [ "$alone_until" != 9000000000000000000 ]; then
		after=$(worst $((alone_until + 1000000000)))
		check "$1: afterwards no more than $bound" test "$after" -le "$bound"
		said=$(awk -v from="$alone_from" -v until="$alone_until" 'BEGIN { printf "for %.1f s", (until - from) / 1e9 }')
	fi
	table+=("| $1 | $alone of 3, ${said:-always} | $whole of $most | $before, $after of $bound |")
}

print_table() {
	printf '# %s\n' '| what | alone | most in any second | before, and after |' "${table[@]}"
}
