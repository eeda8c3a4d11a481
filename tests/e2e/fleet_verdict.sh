# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# The verdict about a fault of a fleet, for the tests that source this file after fleet_storm.sh.
# Agents count exactly when their hosts are offline for each bucket of sources. The packets of a
# source that the hosts pass are evaluated by the times of its bucket: while no host is offline they
# are within the bound, while A hosts are, within A times the limit in addition, and W after that
# the bound holds again.
#
# L is 600 in 1 s. There are three hosts and four slots, so f is 2, P is 592, and three hosts pass
# 598.

pool=592 first=2
table=()
declare -A bucket_of_flood=() # of each flood's source

alone_watch=''

# Starts a storm, and counting.
begin() { # SECONDS
	start outside tests/e2e/fleet_alone.py /run/ringfence-fleet/edge{1..3}.sock \
		>"$scratch/alone" 2>"$scratch/asks"
	alone_watch=$started_pid
	eventually grep -q ready "$scratch/asks" || bail 'cannot ask whether hosts are alone'
	storm "$1"
	storm_began=$(clock)
}

# Waits until this many seconds of the storm have passed.
at() { # SECONDS
	local left

	left=$(awk -v began="$storm_began" -v now="$(clock)" -v at="$1" \
		'BEGIN { left = at - (now - began) / 1e9; printf "%.3f", (left > 0 ? left : 0) }')
	sleep "$left"
}

# Stops the storm. $alone hosts were offline for any source. A further exemption can be given: one
# host, from when, until when.
finish() { # [HOST FROM UNTIL]
	local flood

	calm
	stop TERM "$alone_watch"
	[ $# = 0 ] || echo "$1 any $2 $3" >>"$scratch/alone"
	read -r alone alone_from alone_until <<<"$(times_alone any)"
	for flood in even hops bursts; do
		bucket_of_flood[$flood]=$(bucket_of "${storm[plain4 $flood]}")
	done
}

# As an agent reports; all agree on it.
bucket_of() { # SOURCE
	local host

	for host in 1 2 3; do
		agent_says "$host" "show $1"
	done | jq '.limits[0].bucket' | head -n 1
}

# How many hosts were offline for a bucket, since when the first one, until when the last one.
times_alone() { # BUCKET|any
	awk -v bucket="$1" '
		bucket != "any" && $2 != "any" && $2 != bucket { next }
		!($1 in seen) { seen[$1] = 1; hosts++ }
		{ if (!from || $3 < from) from = $3; if ($4 > until) until = $4; if (!$4) never = 1 }
		END { printf "%d %.0f %.0f\n", hosts, from, never ? 9e18 : until }' "$scratch/alone"
}

# worst [SINCE [UNTIL]]: the most of any flood.
worst() {
	local flood seen worst=0

	for flood in even hops bursts; do
		seen=$(most "$flood" "$@")
		[ "${seen:-999999}" -le "$worst" ] || worst=${seen:-999999}
	done
	echo "$worst"
}

larger() { # NUMBER NUMBER
	echo $(($1 > $2 ? $1 : $2))
}

# judge_flood FLOOD MORE: by the hosts that were offline for its source. $before and $after remain
# empty without such a time.
judge_flood() {
	local hosts_alone from until seen may

	read -r hosts_alone from until <<<"$(times_alone "${bucket_of_flood[$1]}")"
	may=$((pool + (3 - hosts_alone) * first + hosts_alone * limit + $2))
	seen=$(most "$1")
	seen=${seen:-999999}
	[ "$seen" -le "$may" ] || over+=" $1 $seen of $may"
	if [ "$seen" -gt "$whole" ]; then
		whole=$seen most=$may
	fi
	if [ "$hosts_alone" != 0 ]; then
		seen=$(most "$1" 0 "$from")
		before=$(larger "${before:-0}" "${seen:-999999}")
		if [ "$until" != 9000000000000000000 ]; then
			seen=$(most "$1" $((until + 1000000000)))
			after=$(larger "${after:-0}" "${seen:-999999}")
		fi
	fi
}

# verdict FAULT [MOST]: the bound holds, as above; or MOST in addition, which the fault can pass, or
# with `any`, any number of packets in that time.
verdict() {
	local bound=$((pool + 3 * first)) before='' after='' whole=0 most=0 over='' more=${2-0} flood said=always

	[ "$more" != any ] || more=999999
	for flood in even hops bursts; do
		judge_flood "$flood" "$more"
	done
	[ "${2-}" = any ] || is "$over" '' "$1: no source passes more than it may in any second"
	[ "${2-}" != any ] || most=any
	if [ "$alone" = 0 ]; then
		table+=("| $1 | nobody | $whole of $most | |")
		return
	fi
	[ -z "$before" ] || check "$1: until then no more than $bound" test "$before" -le "$bound"
	[ -z "$after" ] || check "$1: afterwards no more than $bound" test "$after" -le "$bound"
	[ "$alone_until" = 9000000000000000000 ] ||
		said=$(awk -v from="$alone_from" -v until="$alone_until" 'BEGIN { printf "for %.2f s", (until - from) / 1e9 }')
	table+=("| $1 | $alone of 3, $said | $whole of $most | ${before:--}, ${after:--} of $bound |")
}

# alone_in HOSTS NAME STORM…: a storm leaves this many hosts offline. On a busy machine an agent can
# be without CPU for the grace time, so that its host goes offline: each storm is evaluated, and one
# of five leaves no more.
alone_in() {
	local try

	for try in 1 2 3 4 5; do
		"${@:3}"
		[ "$alone" -gt "$1" ] || break
		echo "# storm $try: $alone hosts were alone instead of $1"
		eventually all_hear_but "$1" || bail 'the hosts do not hear the engine'
	done
	check "$2" test "$alone" = "$1"
}

all_hear_but() { # HOSTS
	local host left=$1

	for host in 1 2 3; do
		hears "$host" || [ $((--left)) -ge 0 ] || return
	done
}

print_table() {
	printf '# %s\n' '| what | alone | most in any second | before, and after |' "${table[@]}"
}
