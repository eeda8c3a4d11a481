#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The bound of a fleet's limits, with real processes and packets: the packets of a source that all
# hosts pass together, in any interval of length W, by the receivers' times. Sources of IPv4 and of
# IPv6, a limit of packets, one of bytes, and two limits for each packet; floods that are even, that
# hop, and that burst. At the same time users who stay below the limit, one of whom moves to another
# host.
#
#   HOSTS=8 LASTS=20 tests/e2e/test_fleet_bound.sh    'make bound-fleet' does so for 2, 3 and 8
#
# How many packets of a user pass depends on the machine; it is checked only if LASTS is set.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh

lasts=${LASTS:-6} # the storm, in s; an even number
storm_kinds=(plain4 plain6 bytes pair)
declare -A limits_of=([plain4]=plain [plain6]=plain [bytes]=bytes [pair]='pair pair_udp')
declare -A means=([plain4]='packets' [plain6]='packets, IPv6' [bytes]='bytes' [pair]='two limits')
pinned=192.0.2.201 moves=192.0.2.202 bursty=192.0.2.203
table=()

limit_add() { # HOST WORD…
	on "$1" limit add "${@:2}" fleet >"$scratch/log" 2>&1 || bail "no limit: $(<"$scratch/log")"
}

add_limits() {
	local host

	for ((host = 1; host <= hosts; host++)); do
		limit_add "$host" plain rate $limit/1s from 192.0.2.0/24,2001:db8::/32
		limit_add "$host" bytes rate $((limit * 200))/1s bytes from 198.51.100.0/24
		limit_add "$host" pair rate $limit/1s from 203.0.113.0/24
		limit_add "$host" pair_udp rate 1000/2s match udp from 203.0.113.0/24
	done
}

# "BOUND WINDOW UNIT" of a limit, as the command line prints it.
terms() { # LIMIT
	on 1 limit list --json | jq -r ".limits[] | select(.name == \"$1\") |
		\"\(.fleet.bound) \(.window_ms)ms \(.unit)\""
}

# judge KIND FLOOD: against all limits of the kind. $seen is "MOST of BOUND" of each.
judge() {
	local name bound window unit most

	seen=''
	for name in ${limits_of[$1]}; do
		read -r bound window unit <<<"$(terms "$name")"
		if [ "$unit" = bytes ]; then
			most=$(most_bytes_of "${storm[$1 $2]}" "$window")
		else
			most=$(most_of "${storm[$1 $2]}" "$window")
		fi
		seen+="${seen:+, }${most:-none} of $bound"
		check "${means[$1]}, $2: no more than the bound of '$name' in any $window" \
			test "${most:-0}" -gt 0 -a "${most:-0}" -le "$bound"
	done
}

judge_storm() {
	local kind flood row

	for kind in "${storm_kinds[@]}"; do
		row="| $hosts | ${means[$kind]} |"
		for flood in even hops bursts; do
			judge "$kind" "$flood"
			row+=" $seen |"
		done
		table+=("$row")
	done
}

# lost SOURCE SENT NAME MOST: of a thousand, no more than that.
lost() {
	local got=0 host

	for ((host = 1; host <= hosts; host++)); do
		got=$((got + $(received_on "$host" "$1")))
	done
	table+=("# $hosts hosts: $3 lost $(($2 - got)) of $2")
	[ -z "${LASTS-}" ] || check "$3 loses ${4} in a thousand at most" \
		test $((($2 - got) * 1000)) -le $(($4 * $2))
}

user_rate=$((limit * 9 / 10))

# The third one sends L/4 within 50 ms, each 2 s.
users() {
	local half=$((user_rate * lasts / 2)) flows=() after

	for ((after = 0; after < lasts * 1000; after += 2000)); do
		flows+=("src=$bursty,count=$((limit / 4)),rate=$((limit * 5)),after=${after}ms")
	done
	send 1 "src=$pinned,count=$((user_rate * lasts)),rate=$user_rate" \
		"src=$moves,count=$half,rate=$user_rate" "${flows[@]}"
	send 2 "src=$moves,count=$half,rate=$user_rate,after=$((lasts * 500))ms"
}

# How often hosts were offline, as agents count.
times_alone() {
	local host

	for ((host = 1; host <= hosts; host++)); do
		agent_says "$host" status | jq '[.buckets[].offline_count] | add'
	done | xargs
}

set_up_fleet "${HOSTS:-3}"
add_limits
# A host whose agent has no CPU for the grace time goes offline, and more passes;
# test_fleet_faults.sh evaluates that.
for _ in 1 2 3 4 5; do
	eventually all_hear
	before=$(times_alone)
	storm "$lasts"
	users
	calm
	[ "$(times_alone)" != "$before" ] || break
	echo '# a host was alone for a while: once more'
done
judge_storm
lost $pinned $((user_rate * lasts)) 'a user at 0.9 L on one host' 1
# 0.5 s of traffic
lost $moves $((user_rate * lasts)) 'a user at 0.9 L who moves' $((500 / lasts))
lost $bursty $((limit * lasts / 8)) 'a user who sends L/4 within 50 ms' 100
printf '# %s\n' '| hosts | limit | even | hops | bursts |' "${table[@]#\# }"
done_testing
