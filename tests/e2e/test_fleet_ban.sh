#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bans by a limit of the fleet, with a real server: a source that sends one host more than COUNT in
# TIME is banned there, one that sends all hosts together more than COUNT is banned on each of them,
# and one that sends all hosts together no more than COUNT is banned nowhere.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

floods=192.0.2.1 spreads=192.0.2.2 keeps=192.0.2.3 spreads_later=192.0.2.4

bans() { # HOST
	on "$1" bans --json | jq -r '.bans[].source' | sort | tr '\n' ' '
}

has_ban() { # HOST SOURCE
	[[ " $(bans "$1")" == *" $2 "* ]]
}

all_ban() { # SOURCE
	has_ban 1 "$1" && has_ban 2 "$1" && has_ban 3 "$1"
}

has() { # TEXT PART
	[[ $1 == *"$2"* ]]
}

is_sending() {
	kill -0 "${senders[@]}" 2>/dev/null
}

# until_sent CMD…: runs it until it succeeds, or a sender is done.
until_sent() {
	until "$@"; do
		is_sending || return
		sleep 0.2
	done
}

set_up_fleet 3
for host in 1 2 3; do
	on "$host" limit add any rate 300/20s ban 1h fleet >"$scratch/log"
done
check 'the limit has a ban' has "$(on 1 limit list)" 'ban 1h'

# ---- 95 packets to each host, so 285 in all, as fast or slow as it goes ----

start_ns=$(clock)
for host in 1 2 3; do
	send "$host" "src=$keeps,count=95,rate=9"
done
keepers=("${senders[@]}")
senders=()

# ---- 2,712 packets to one host ----

send 1 "src=$floods,count=2712,rate=181"
until_sent has_ban 1 $floods
echo "# one host: banned after $((($(clock) - start_ns) / 1000000)) ms at 181 packets/s"
wait_for_senders
check 'a source over COUNT on one host is banned there' has_ban 1 $floods
is "$(bans 2)" '' 'and on no other'
matches "$(on 1 fleet show $floods dev edge1 | head -n 1)" \
	"banned: $floods for another (1h|[1-5]?[0-9]m( [0-9]+s)?) by limit 'any'" 'fleet show names the ban and its end'
check 'show says so' has "$(on 1 show $floods)" "dropped by a ban of limit 'any'"

# ---- 240 packets in 20 s to each host, until they are banned ----

start_ns=$(clock)
for host in 1 2 3; do
	send "$host" "src=$spreads,count=1800,rate=12"
done
until_sent all_ban $spreads
echo "# three hosts: banned after $((($(clock) - start_ns) / 1000000)) ms at 12 packets/s on each"
check 'a source over COUNT on all hosts together is banned on each' all_ban $spreads
for pid in "${senders[@]}"; do
	stop TERM "$pid"
done
senders=("${keepers[@]}")
wait_for_senders
is "$(bans 1)" "$floods $spreads " 'a source within COUNT on all hosts together is not banned on host 1'
is "$(bans 2)$(bans 3)" "$spreads $spreads " 'nor on the others'
check 'all hosts hear the engine' eventually all_hear

# ---- a server with earlier functions ----

# How often an agent has tried to load missing functions, at most once a second each.
tries() { engine info commandstats | sed -n 's/^cmdstat_function|load:calls=\([0-9]*\).*/\1/p'; }
has_tried() { (($(tries) >= $1)); } # COUNT
lines_of() { grep -c "$2" "$scratch/agent$1"; }

sed '/^redis.register_function(.rf_sums.,/d' build/ringfence.lua |
	engine -x function load replace >"$scratch/log"
check 'hosts hear an engine without rf_sums' eventually all_hear
for host in 1 2 3; do
	send "$host" "src=$spreads_later,count=1800,rate=12"
done
connected=$(lines_of 1 'connected (reports)')
old='its functions are of an older version, and lack one; .* (reports)'
until_sent grep -q "$old" "$scratch/agent1"
until_sent has_tried $(($(tries) + 12))
is "$(lines_of 1 "$old")" 1 'and say so once'
is "$(lines_of 1 'connected (reports)')" "$connected" 'it is not over while it lasts'
check 'they go on to hear it' all_hear
is "$(bans 1)$(bans 2)$(bans 3)" "$floods $spreads $spreads $spreads " 'and nobody is banned by a sum'
engine -x function load replace <build/ringfence.lua >"$scratch/log"
until_sent all_ban $spreads_later
check 'with rf_sums the source is banned' all_ban $spreads_later
for pid in "${senders[@]}"; do
	stop TERM "$pid"
done

done_testing
