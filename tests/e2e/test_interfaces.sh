#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Counters by interface, of a fence that has had several: exact for each, in their sum the totals.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
require "$quick" "$newer"

make_network 3
edge=$run-edge
a=${port[0]} b=${port[1]} c=${port[2]}

# by_interface [WORDS of stats]: a line "NAME PASSED DROPPED BYTES BYTES" for each interface, then the rest.
by_interface() {
	ringfence stats "$@" --json dev "$edge" |
		jq -r '(.interfaces[], .rest + {name: "rest"}) |
			[.name, .packets.passed, .packets.dropped, .bytes.passed, .bytes.dropped] | join(" ")'
}

# Do interfaces and rest sum up to the totals?
sums_up() { # NAME
	is "$(ringfence stats --json dev "$edge" | jq -c '[[.interfaces[], .rest] | (map(.packets.passed) | add),
		(map(.packets.dropped) | add), (map(.bytes.passed) | add), (map(.bytes.dropped) | add)]')" \
		"$(ringfence stats --json dev "$edge" |
			jq -c '[.packets.passed, .packets.dropped, .bytes.passed, .bytes.dropped]')" "$1"
}

# ---- two interfaces from the beginning ----

ringfence attach "$a" "$b" fence "$edge" >"$scratch/log" || bail "$(<"$scratch/log")"
ringfence limit add any rate 10/1h >"$scratch/log" 2>&1
deliver 0 src=192.0.2.1,count=25
deliver 1 src=192.0.2.1,count=5 src=192.0.2.2,count=12,len=100
is "$(by_interface)" "$a 10 15 660 990
$b 10 7 1000 530
rest 0 0 0 0" 'each interface has the packets and bytes that it passed and dropped'
sums_up 'the interfaces sum up to the totals'
is "$(ringfence stats dev "$edge" | awk '/^interface/ { name = $2 } /^  (passed|dropped) / && name { print name, $1, $2, $3 }
	/^limit/ { exit }')" "$a passed 10 660
$a dropped 15 990
$b passed 10 1000
$b dropped 7 530" 'stats prints the interfaces, and no rest'
is "$(ringfence status --json dev "$edge" | jq -c '.interfaces[] | [.name, .packets.passed, .packets.dropped, .bytes.dropped]')" \
	"[\"$a\",10,15,990]
[\"$b\",10,7,530]" 'status --json has the counters of the interfaces'
is "$(ringfence status dev "$edge" | tr -s ' \n' ' ' | grep -c "$b: native mode, attached by ringfence; 10 packets passed, 7 dropped")" 1 \
	'status prints the counters of the interfaces'

# ---- detach, attach, replace ----

ringfence detach "$b" >"$scratch/log"
deliver 0 src=192.0.2.3,count=2
is "$(by_interface)" "$a 12 15 792 990
rest 10 7 1000 530" 'what a detached interface counted is in the rest'
is "$(ringfence stats dev "$edge" | grep -A 2 '^rest' | awk '{ print $1, $2 }')" 'rest: earlier,
passed 10
dropped 7' 'stats prints the rest'
ringfence attach "$b" fence "$edge" >"$scratch/log"
deliver 1 src=192.0.2.3,count=1
is "$(by_interface)" "$a 12 15 792 990
$b 11 7 1066 530
rest 0 0 0 0" 'an interface that is attached again goes on where it was'
use "$newer"
does 'an upgrade in place succeeds' "$a: upgraded in place, fence '$edge'; windows and counters are preserved" \
	ringfence attach "$a" replace
deliver 1 src=192.0.2.3,count=1
is "$(by_interface | head -n 2)" "$a 12 15 792 990
$b 12 7 1132 530" 'an upgrade in place keeps the counters of interfaces, and counts on'
use "$shipped"

# ---- reset ----

ringfence stats reset dev "$edge" >"$scratch/log"
deliver 0 src=192.0.2.3,count=1
is "$(by_interface)" "$a 1 0 66 0
$b 0 0 0 0
rest 0 0 0 0" 'stats reset begins the interfaces at 0'
is "$(by_interface total)" "$a 13 15 858 990
$b 12 7 1132 530
rest 0 0 0 0" 'stats total has all that the interfaces counted'
is "$(ringfence status --json dev "$edge" | command jq -c '.interfaces[0].packets')" '{"passed":1,"dropped":0}' \
	'status counts since the reset'

# ---- an interface that left and came back ----

inside ip link del dev "$b"
add_wire 1
ringfence attach "$b" fence "$edge" >"$scratch/log"
deliver 1 src=192.0.2.3,count=3
is "$(by_interface)" "$a 1 0 66 0
$b 3 0 198 0
rest 0 0 0 0" 'an interface of the same name begins at 0'
is "$(by_interface total)" "$a 13 15 858 990
$b 3 0 198 0
rest 12 7 1132 530" 'what the interface before it counted is in the rest'
sums_up 'interfaces and rest sum up to the totals'

# ---- rates ----

has_lines() { # NUMBER
	[ "$(wc -l <"$scratch/watched")" -ge "$1" ]
}

start inside build/ringfence stats watch --json dev "$edge" >"$scratch/watched"
eventually has_lines 1 # what comes from now on is in later ones
outside build/tests/traffic send dev out1 to 02:00:00:00:01:02 flow src=192.0.2.4,count=2000 >/dev/null
eventually has_lines $(($(wc -l <"$scratch/watched") + 2))
ringfence attach "$c" fence "$edge" >"$scratch/log"
outside build/tests/traffic send dev out2 to 02:00:00:00:02:02 flow src=192.0.2.4,count=500 >/dev/null
eventually grep -q "\"name\":\"$c\"" "$scratch/watched"
stop INT "$started_pid"
is "$(jq -s "[.[] | .seconds as \$seconds | .rates.interfaces[] | select(.name == \"$b\").packets |
	(.passed + .dropped) * \$seconds] | add | round" "$scratch/watched")" 2000 'stats watch --json has the rates of an interface'
is "$(tail -n 1 "$scratch/watched" | jq -c '.interfaces | map(.name) | sort')" "[\"$a\",\"$b\",\"$c\"]" \
	'stats watch has an interface that joins meanwhile'
start inside build/ringfence stats watch dev "$edge" >"$scratch/watched"
eventually has_lines 6
stop INT "$started_pid"
is "$(sed -n '3,5p' "$scratch/watched" | awk '{ print $1, NF }' | sort)" "$a 5
$b 5
$c 5" 'stats watch has a line for each interface'
is "$(sed -nE '/^.{81}/p' "$scratch/watched")" '' 'stats watch with interfaces fits into 80 columns'
ringfence detach "$edge" >"$scratch/log"

# ---- one interface, and then a second ----

ringfence attach "$a" fence "$edge" >"$scratch/log"
deliver 0 src=192.0.2.1,count=4
is "$(ringfence stats --json dev "$edge" | command jq -c '[has("rest"), .interfaces[0].packets]')" '[false,null]' \
	'stats --json of a fence on one interface has nothing by interface'
is "$(ringfence stats dev "$edge" | grep -c '^interface\|^rest')" 0 \
	'stats of a fence on one interface has nothing by interface'
ringfence attach "$b" fence "$edge" >"$scratch/log"
deliver 0 src=192.0.2.1,count=2
deliver 1 src=192.0.2.1,count=3
is "$(by_interface)" "$a 2 0 132 0
$b 3 0 198 0
rest 4 0 264 0" 'what one interface counted before there were two is in the rest'

# ---- more interfaces than there are places ----

# Interfaces whose indexes are equal modulo 64 compete for 32 places.
many=() last=33
ringfence detach "$edge" >"$scratch/log"
for ((i = 0; i < last; i++)); do
	echo "link add ${run}m$i index $((1000 + 64 * i)) address 02:00:00:01:00:$i type veth peer name ${run}n$i"
done | inside ip -batch - || bail 'cannot make interfaces'
for ((i = 0; i < last; i++)); do
	many+=("${run}m$i")
done
use "$quick"
ringfence attach "${many[@]}" fence "$edge" sources 2048 leases 256 >"$scratch/log" || bail "$(<"$scratch/log")"
use "$shipped"
ringfence attach "${many[0]}" >"$scratch/log" || bail "$(<"$scratch/log")"
late=${many[last - 1]}
is "$(ringfence stats --json dev "$edge" | jq -r '.interfaces[] | select(.packets == null) | .name')" "$late" \
	'of 33 interfaces that compete for 32 places, the last one has none'
is "$(ringfence stats dev "$edge" | grep 'rest$')" "interface $late: counted in the rest" \
	'stats says which interface is counted in the rest'

# flood_last COUNT: sends packets to the last one.
flood_last() {
	local before

	before=$(stats_of '.packets.passed')
	inside build/tests/traffic send dev "${run}n$((last - 1))" to "02:00:00:01:00:$((last - 1))" \
		flow "src=192.0.2.9,count=$1" >/dev/null
	eventually has_passed $((before + $1))
}

stats_of() { # FILTER
	ringfence stats --json dev "$edge" | jq -c "$1"
}

has_passed() { # PACKETS
	[ "$(stats_of '.packets.passed')" -ge "$1" ]
}

inside ip link set dev "$late" up
inside ip link set dev "${run}n$((last - 1))" up
flood_last 7
is "$(stats_of '[.rest.packets.passed, .packets.passed]')" '[7,7]' 'its packets are in the rest'
ringfence detach "${many[5]}" >"$scratch/log"
ringfence attach "$late" >"$scratch/log"
flood_last 3
is "$(stats_of "[.rest.packets.passed, (.interfaces[] | select(.name == \"$late\").packets.passed)]")" '[7,3]' \
	'it gets the place of one that is detached'

done_testing
