#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bans of a fleet: a second host that accepts bans drops the sources that one host publishes, by
# real packets; a third one, not configured to accept them, does not. Bans that are too long, too
# wide, too many or malformed are refused, allow lists take precedence, and bans expire
# automatically. fleet.sh has the network.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source "$(dirname "$0")/fleet.sh"

source4=192.0.2.66
source6=2001:db8:66::1
net6=2001:db8:66::/64

# came HOST: how many packets its program has evaluated.
came() {
	within "h$1" cat /proc/net/dev | awk -v name="edge$1:" '$1 == name { print $3 }'
}

came_as_many() { # HOST PACKETS
	[ "$(came "$1")" -ge "$2" ]
}

# passed HOST SOURCE: how many of 20 packets pass.
passed() {
	local before

	before=$(came "$1")
	: >"$scratch/ready"
	start "h$1" build/tests/traffic recv dev "edge$1" for 5m >"$scratch/came" 2>"$scratch/ready"
	local pid=$started_pid

	eventually grep -q ready "$scratch/ready" || bail "cannot receive on host $1"
	within outside build/tests/traffic send dev "out$1" to "02:00:00:00:0$1:02" \
		flow "src=$2,count=20,rate=2000" >"$scratch/sent"
	eventually came_as_many "$1" $((before + 20)) || bail "the packets do not come to host $1"
	stop TERM "$pid"
	awk -v source="$2" '$2 == source { sum += $3 } END { print sum + 0 }' "$scratch/came"
}

drops() { [ "$(passed "$1" "$2")" = 0 ]; }    # HOST SOURCE
passes() { [ "$(passed "$1" "$2")" = 20 ]; }  # HOST SOURCE

bans_on() { # HOST
	on "$1" fleet bans list --json | jq -r '.bans[].prefix' | tr '\n' ' '
}

has_bans() { # HOST PREFIX…: no others
	[ "$(bans_on "$1")" = "$(printf '%s ' "${@:2}")" ]
}

# comes SECONDS ADDRESS PREFIX…: host 1 bans the address for this long, and host 2 then has these
# bans. On a busy machine a short one can expire before it is checked; then a longer one is
# published.
comes() {
	local ended=$((SECONDS + $1))

	[ "$1" -le 180 ] && on 1 deny add "$2" for "$1s" fleet || return
	until has_bans 2 "${@:3}"; do
		[ "$SECONDS" -le "$ended" ] || {
			comes $(($1 * 5)) "${@:2}"
			return
		}
		sleep 0.1
	done
}

has_no_bans() { # HOST
	[ -z "$(bans_on "$1")" ]
}

refused() { # HOST REASON: how many bans for it
	agent_says "$1" status | jq ".bans.refused.$2"
}

# raw HEX: a write of a hostile member that bypasses the functions.
raw() {
	printf '%b' "$(fold -w 2 <<<"$1" | sed 's/^/\\x/' | tr -d '\n')" | within engine "$client" -x set 'rf:{m}:bans' >"$scratch/log"
}

le64() { # NUMBER
	printf '%016x' "$1" | fold -w2 | tac | tr -d '\n'
}

# ban_hex STAMP LEFT_MS LENGTH ADDRESS-HEX: an entry of host 9, as the server stores it.
ban_hex() {
	printf '%s%s0900000%d%02x%s' "$(le64 "$1")" "$(le64 "$(($1 + $2))")" 4 "$3" "$4"
}

restart_agent() { # HOST
	stop TERM "${agent[$1]}"
	start_agent "$1"
	eventually hears "$1" || fail "host $1 hears the engine again"
}

make_fleet 3
mkdir -p /etc/ringfence
start_engine
for host in 1 2 3; do
	on "$host" attach "edge$host" fleet >"$scratch/log"
	on "$host" limit add any rate 1M/1s >"$scratch/log"
	# shellcheck disable=SC2046 # two words, or none
	on "$host" fleet join "edge$host" redis "10.77.$host.1:6379" hosts 4 \
		$([ "$host" = 3 ] || echo bans take) >"$scratch/log" || bail 'cannot join'
	start_agent "$host"
done
eventually all_hear || bail "the hosts do not hear the engine: $(cat "$scratch"/agent*)"
check 'join writes that bans are taken' grep -qx 'bans take' /etc/ringfence/edge1.fleet

# ---- a ban ----

check 'before, the source passes everywhere' passes 2 "$source4"
is "$(on 1 fleet bans)" 'no bans of other hosts' 'no ban is there at first'
is "$(on 3 fleet bans)" \
	"no bans of other hosts: the agent does not accept bans; 'ringfence fleet join' with the words 'bans take' enables it" \
	'a host that takes none says so'
check 'a ban is told' on 1 deny add "$source4" for 1h fleet
check 'the other host drops the source' eventually drops 2 "$source4"
check 'so does the one that has told it' drops 1 "$source4"
check 'a host without the word takes nothing' passes 3 "$source4"
check 'others pass there' passes 2 192.0.2.67
matches "$(on 2 fleet show "$source4" dev edge2 | head -n 1)" \
	"denied: $source4 for another (1h|[1-5]?[0-9]m( [0-9]+s)?) by fleet, of host [0-3]" 'fleet show names the ban, its end and owner'
on 2 deny add 192.0.2.0/24 by blocklist
matches "$(on 2 fleet show "$source4" dev edge2 --json | jq -c '[.allowed, (.bans[] | [.prefix, .by, .left_ms > 0, .limit, .host >= 0])]')" \
	"\\[false,\\[\"192.0.2.0/24\",\"blocklist\",false,null,false\\],\\[\"$source4\",\"fleet\",true,null,true\\]\\]" \
	'as JSON, with all that ban it'
is "$(on 2 fleet show 203.0.113.1 dev edge2 --json | jq -c .bans)" '[]' 'a source without a ban has none'
on 2 deny del 192.0.2.0/24
matches "$(on 2 deny list)" "$source4 for another (1h|[1-5]?[0-9]m( [0-9]+s)?) by fleet" 'deny list says whose it is'
matches "$(on 2 fleet bans list)" "$source4 for another (1h|[1-5]?[0-9]m( [0-9]+s)?), by host [0-3]" 'fleet bans names the host'
is "$(on 2 deny list --json | jq -c '[.prefixes[] | .prefix, .owners[].by]')" "[\"$source4\",\"fleet\"]" 'deny list --json as well'
is "$(on 1 deny list --json | jq -c '[.prefixes[] | .prefix, .owners[].by]')" "[\"$source4\",\"manual\"]" \
	'on the host that told it, it is its own'
is "$(on 2 status --json | command jq -c '.fences[0].lists')" '{"allow":0,"deny":0,"fleet":1}' 'status counts it'
check 'and says how to list it' grep -q '1 banned by other hosts;' <(on 2 status)
is "$(on 2 save | grep -c 'deny add')" 0 'save leaves it out'
on 2 save >"$scratch/rules"
on 2 apply "$scratch/rules" >"$scratch/log"
check 'apply keeps it' has_bans 2 "$source4"
on 2 deny flush
check 'deny flush keeps it' drops 2 "$source4"
fails 'it is not this host that ends it' 1 \
	"ringfence: '$source4': another host of the fleet denies it, not this one; 'ringfence allow add $source4' lets it pass, 'ringfence fleet bans flush' lifts all bans of other hosts" \
	on 2 deny del "$source4"
check 'a ban of IPv6 is told' on 1 deny add "$net6" for 1h fleet
check 'and dropped' eventually drops 2 "$source6"

# ---- expiry ----

on 2 allow add "$source4"
check 'allow comes before a ban' passes 2 "$source4"
on 2 allow del "$source4"
check 'without it the source is dropped again' drops 2 "$source4"
check 'the host that told it ends it' on 1 deny del "$source4" fleet
check 'everywhere' eventually passes 2 "$source4"
check 'and passes it itself' passes 1 "$source4"
fails 'a ban that is not there cannot be ended' 1 \
	"ringfence: fence 'edge1': its agent cannot report to the fleet; no changes were made: this host reported no such ban to the fleet" \
	on 1 deny del "$source4" fleet
check 'a short one comes' comes 5 "$source4" "$source4" "$net6"
check 'and ends by itself' eventually has_bans 2 "$net6"
check 'so the source passes' passes 2 "$source4"

# ---- flush ----

on 1 deny add "$source4" for 1h fleet
check 'a ban comes' eventually has_bans 2 "$source4" "$net6"
on 2 deny add 203.0.113.1
is "$(on 2 fleet bans flush)" '2 bans of other hosts ended' 'flush ends those of others'
check 'the source passes' passes 2 "$source4"
is "$(on 2 deny list)" 203.0.113.1 'and leaves what is its own'
restart_agent 2
on 1 deny add 192.0.2.99 for 1h fleet
check 'a new ban is taken' eventually has_bans 2 192.0.2.99
check 'those that were flushed are not, by a new agent either' has_bans 2 192.0.2.99

# ---- another number ----

number_of() { # HOST
	agent_says "$1" status | jq .membership.slot
}
on 2 deny add 192.0.2.95 for 1h fleet
check 'what a host has told is noted' eventually grep -q '^own ' /run/ringfence-fleet/edge2.bans
number=$(number_of 2)
# It may come to its own number again, once that is free.
has_another_number() {
	stop KILL "${agent[2]}"
	start_agent 2
	eventually hears 2 && [ "$(number_of 2)" != "$number" ]
}
check 'an agent that was killed comes back under another number' eventually has_another_number
on 2 deny del 192.0.2.95
on 1 deny add 192.0.2.94 for 1h fleet
check 'it takes what others tell, and not what it told before' eventually has_bans 2 192.0.2.94 192.0.2.99
check 'which passes' passes 2 192.0.2.95
on 1 deny del 192.0.2.94 fleet
check 'until that ends' eventually has_bans 2 192.0.2.99

# ---- a reboot ----

on 2 deny add 192.0.2.93 for 1h fleet
check 'what a host has told is noted again' eventually grep -q "^own $(number_of 2) " /run/ringfence-fleet/edge2.bans
number=$(number_of 2)
comes_back_under_another_number() {
	stop TERM "${agent[2]}"
	rm -f /run/ringfence-fleet/edge2.bans
	start_agent 2
	eventually hears 2 && [ "$(number_of 2)" != "$number" ]
}
check 'a host that was rebooted comes back under another number' eventually comes_back_under_another_number
on 2 deny del 192.0.2.93
on 1 deny add 192.0.2.92 for 1h fleet
check 'it takes what others tell, and not what it told before' eventually has_bans 2 192.0.2.92 192.0.2.99
on 1 deny del 192.0.2.92 fleet
check 'until that ends' eventually has_bans 2 192.0.2.99

# ---- bans that no host must publish ----

says() { # NAME SENTENCE WORD…
	fails "$1" 2 "ringfence: $2" on 1 deny add "${@:3}"
}
says 'a ban has an end' "'fleet': a ban of the fleet needs a time; write deny add 192.0.2.1 for TIME fleet, with TIME of 1h at most" 192.0.2.1 fleet
says 'of an hour at most' "'fleet': hosts take bans of 1h at most; write a shorter time, or leave out 'fleet'" 192.0.2.1 for 61m fleet
says 'no wider than /24' "'192.0.0.0/23': hosts take bans of a /24 or longer prefixes; write such prefixes, or leave out 'fleet'" \
	192.0.0.0/23 for 1m fleet
says 'nor than /48' "'2001:db8::/47': hosts take bans of a /48 or longer prefixes; write such prefixes, or leave out 'fleet'" \
	2001:db8::/47 for 1m fleet
is "$(on 1 deny list | grep -c '192.0.2.1 \|/23\|/47')" 0 'and nothing is denied'
echo 'deny add 192.0.2.1 for 1m fleet' >"$scratch/rules"
fails 'a rule file tells no ban' 1 "ringfence: $scratch/rules:1: 'fleet': only the command 'ringfence deny add' takes it; leave it out here
ringfence: $scratch/rules: 1 error; 'apply' would change nothing" \
	on 1 check "$scratch/rules"

# ---- what this host refuses ----

told=$(agent_says 1 status | jq .bans.reported)
for i in 1 2 3 4 5 6; do on 1 deny add 192.0.2.89 by "owner$i"; done
fails 'a ban that this host cannot add' 1 "ringfence: '192.0.2.89': it has 6 entries on both lists together, by owner1, \
owner2, owner3, owner4, owner5 and owner6, the most there can be; 'allow del' or 'deny del' with 'by NAME' removes one" \
	on 1 deny add 192.0.2.89 for 1h by owner7 fleet
is "$(agent_says 1 status | jq .bans.reported)" "$told" 'is not told to the fleet'
on 1 deny del 192.0.2.89 by all
on 1 deny add 192.0.2.89 for 1h by one fleet
on 1 deny add 192.0.2.89 by two
fails 'an entry of several owners needs one to be named' 1 "ringfence: '192.0.2.89': on the deny list by one and two; \
add 'by NAME' to remove the entry of one, or 'by all'" on 1 deny del 192.0.2.89 fleet
fails 'that has an entry' 1 "ringfence: '192.0.2.89': not on the deny list by three, but by one and two" \
	on 1 deny del 192.0.2.89 by three fleet
on 1 deny add 192.0.2.88 for 1h fleet
check 'and the ban stays in the fleet' eventually has_bans 2 192.0.2.88 192.0.2.89 192.0.2.99
on 1 deny del 192.0.2.88
check 'without an entry here, a ban is ended in the fleet' on 1 deny del 192.0.2.88 fleet
check 'as with one' on 1 deny del 192.0.2.89 by all fleet
check 'so the other host drops them no more' eventually has_bans 2 192.0.2.99
fails 'a ban of another host is not this one'"'"'s to end' 1 "ringfence: '192.0.2.99': another host of the fleet denies it, \
not this one; 'ringfence allow add 192.0.2.99' lets it pass, 'ringfence fleet bans flush' lifts all bans of other hosts" \
	on 2 deny del 192.0.2.99 fleet

# ---- bans that the other host refuses ----

for i in 1 2 3 4 5 6; do on 2 allow add 192.0.2.87 by "owner$i"; done
on 1 deny add 192.0.2.87 for 1h fleet
on 1 deny add 192.0.2.86 for 1h fleet
check 'a ban that cannot be added holds up no other' eventually has_bans 2 192.0.2.86 192.0.2.99
full="'192.0.2.87': it has 6 entries on both lists together, by owner1, owner2, owner3, owner4, owner5 and owner6, \
the most there can be; 'allow del' or 'deny del' with 'by NAME' removes one"
check 'the agent logs it' eventually grep -qF "fence 'edge2': cannot take a ban: $full" "$scratch/agent2"
is "$(on 2 fleet status edge2 --json | jq -r .bans.last_error)" "$full" 'and status has the reason'
on 2 allow del 192.0.2.87 by owner3
check 'it is taken once there is room' eventually has_bans 2 192.0.2.86 192.0.2.87 192.0.2.99
on 2 allow del 192.0.2.87 by all
on 1 deny del 192.0.2.86 fleet
on 1 deny del 192.0.2.87 fleet
check 'and ends' eventually has_bans 2 192.0.2.99

# ---- own networks ----

within h2 ip address add 192.0.2.10/28 dev edge2
within h2 ip route add default via 192.0.2.1
on 1 deny add 192.0.2.0/24 for 1h fleet
on 1 deny add 192.0.2.86 for 1h fleet
check 'a ban that covers an own network of another host is not taken there' eventually has_bans 2 192.0.2.86 192.0.2.99
own="'192.0.2.0/24': it covers 192.0.2.0/28, a subnet of edge2; 'ringfence deny add 192.0.2.0/24 force' denies it nevertheless"
check 'the agent of that host logs it' eventually grep -qF "fence 'edge2': cannot take a ban: $own" "$scratch/agent2"
on 2 allow add 192.0.2.0/28
on 2 allow add 192.0.2.1
check 'it is taken once the allow list has that network' eventually has_bans 2 192.0.2.0/24 192.0.2.86 192.0.2.99
on 1 deny del 192.0.2.0/24 fleet
on 1 deny del 192.0.2.86 fleet
check 'and ends there' eventually has_bans 2 192.0.2.99
on 2 allow del 192.0.2.0/28
on 2 allow del 192.0.2.1
within h2 ip address del 192.0.2.10/28 dev edge2
fails 'a ban that covers an own network of this host is not told' 1 \
	"ringfence: '203.0.113.0/24': it covers 203.0.113.7, the peer of your SSH connection; add 'force' to deny it nevertheless" \
	within h1 env SSH_CONNECTION='203.0.113.7 51432 192.0.2.10 22' "$build" deny add 203.0.113.0/24 for 1h fleet dev edge1

# ---- a hostile member ----

time_ms=$(date +%s%3N)
raw "$(le64 $((time_ms + 10)))$(ban_hex $((time_ms + 1)) 3600000 8 0a000000)"
check 'a wide ban that was written by hand is lost' eventually has_bans 2 192.0.2.99
raw "$(le64 $((time_ms + 20)))$(ban_hex $((time_ms + 11)) 3600000 32 c0000242)"
check 'a proper one is taken' eventually has_bans 2 "$source4" 192.0.2.99
raw 'ffffffffffffffff00'
sleep 1
check 'garbage changes nothing' has_bans 2 "$source4" 192.0.2.99
engine set 'rf:{m}:bans' rubbish >"$scratch/log"
on 1 deny add 192.0.2.98 for 1h fleet
check 'over garbage a ban can be told' eventually has_bans 2 "$source4" 192.0.2.98 192.0.2.99
check 'a ban of the engine' on 1 deny add 10.77.2.0/24 for 1h fleet
on 1 deny add 192.0.2.97 for 1h fleet
check 'a later ban comes' eventually has_bans 2 "$source4" 192.0.2.97 192.0.2.98 192.0.2.99
check 'is not taken where that is the engine' test "$(refused 2 fleet_server)" -ge 1
on 1 deny del 10.77.2.0/24 fleet

# ---- the engine, and the agents ----

stop KILL "$engine_pid"
check 'without an engine the bans stay' drops 2 192.0.2.99
eventually is_alone 1
matches "$(on 1 deny add 192.0.2.1 for 1m fleet 2>&1)" \
	"ringfence: fence 'edge1': its agent cannot report to the fleet; no changes were made: not connected to the fleet server: .*" 'none can be told'
is "$(on 1 deny list | grep -c '192.0.2.1 ')" 0 'and none is denied here'
start_engine
eventually all_hear || fail 'all hear the engine again'
check 'an engine that has forgotten them ends none' has_bans 2 "$source4" 192.0.2.97 192.0.2.98 192.0.2.99
check 'new ones come' comes 6 192.0.2.96 "$source4" 192.0.2.96 192.0.2.97 192.0.2.98 192.0.2.99
stop KILL "${agent[2]}"
check 'without an agent a ban ends in time' eventually passes 2 192.0.2.96
check 'and the others stay' drops 2 192.0.2.99
start_agent 2
eventually hears 2 || fail 'host 2 hears the engine again'

# ---- a flood ----

for ((i = 0; i < 130; i++)); do
	printf 'ban 3600000 203.0.113.%d\n' "$i"
done >"$scratch/flood"
flood() {
	python3 - /run/ringfence-fleet/edge1.sock "$scratch/flood" <<-'END'
		import json, socket, sys
		def ask(question):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.connect(sys.argv[1])
		    s.send(question.encode())
		    return json.loads(s.recv(1 << 16))
		full = 0
		for line in open(sys.argv[2]):
		    full += "error" in ask(line.strip())
		print(full)
	END
}
is "$(flood)" 2 'a host may tell 128 bans'
has_as_many() { # HOST BANS
	[ "$(bans_on "$1" | wc -w)" -ge "$2" ]
}
check 'the other one takes them' eventually has_as_many 2 128
check 'and no more of it' test "$(bans_on 2 | wc -w)" -le 133
check 'it drops those' drops 2 203.0.113.0
is "$(on 2 fleet bans flush | grep -c 'bans of other hosts ended')" 1 'flush ends them all'
check 'so they pass' passes 2 203.0.113.0
is "$(on 2 fleet bans flush)" '0 bans of other hosts ended' 'then there are none'

# ---- an entry of this host that expires ----

engine del 'rf:{m}:bans' >"$scratch/log"
told=$(agent_says 1 status | jq .bans.reported)
on 2 deny add 192.0.2.95
on 1 deny add 192.0.2.95 for 1h fleet
on 1 deny add 192.0.2.94 for 1h fleet
check 'a ban is listed although the host has an entry of the same prefix' eventually has_bans 2 192.0.2.94 192.0.2.95
is "$(on 2 deny list --json | jq -c '[.prefixes[] | select(.prefix == "192.0.2.95") | .owners[].by] | sort')" '["fleet","manual"]' \
	'deny list has both owners'
on 2 deny del 192.0.2.95
check 'removing that entry leaves the ban' drops 2 192.0.2.95
is "$(on 2 deny list --json | jq -c '[.prefixes[] | select(.prefix == "192.0.2.95") | .owners[].by]')" '["fleet"]' 'as the only owner'
on 1 deny del 192.0.2.94
on 1 deny add 192.0.2.93 for 1h fleet
check 'a later ban comes' eventually has_bans 2 192.0.2.93 192.0.2.94 192.0.2.95
# Those that host 2 sent at the start. Host 1 can have read past the one of host 9, written by hand.
is "$(bans_on 1 | sed "s/^$source4 //")" '192.0.2.93 192.0.2.95 ' \
	'a host takes those of others and none of its own, also where its entry is gone'
says_bans() { # HOST TEXT
	on "$1" fleet status "edge$1" | grep -qxF "bans: $2"
}
check 'status tells how many were taken' says_bans 2 "3 of other hosts accepted; 0 reported since the agent started"
is "$(on 1 fleet status edge1 --json | jq .bans.reported)" $((told + 3)) 'and told'
check 'and that none is taken' says_bans 3 "bans of other hosts are not accepted; 0 reported since the agent started"
is "$(on 2 fleet status edge2 --json | jq -c '.bans | [.accepts, .accepted, .reported, .last_error]')" '[true,3,0,null]' 'as JSON'

# ---- remains of an earlier agent ----

# How many entries host 2 has on its deny list, including expired ones.
count_entries() {
	echo 203.0.113.7 >"$scratch/one"
	on 2 deny load "$scratch/one" --json | jq .prefixes
}
has_entries() { [ "$(count_entries)" = "$1" ]; } # COUNT
entries=$(count_entries)
check 'a short ban comes' comes 15 192.0.2.92 192.0.2.92 192.0.2.93 192.0.2.94 192.0.2.95
stop KILL "${agent[2]}"
check 'its entry is there when the agent is killed' has_entries $((entries + 1))
check 'it ends without an agent' eventually has_bans 2 192.0.2.93 192.0.2.94 192.0.2.95
check 'its entry stays' has_entries $((entries + 1))
start_agent 2
check 'its entry is taken off by the next agent' eventually has_entries "$entries"

# ---- an engine with an older library ----

sed '/^redis.register_function(.rf_\(bans\?\|gone\).,/d' build/ringfence.lua | engine -x function load replace >"$scratch/log"
eventually all_hear || fail 'all hear the engine again'
trouble="fleet server 10.77.HOST.1:6379: its functions are of an older version, and lack one; replace them: \
'redis-cli -h 10.77.HOST.1 -p 6379 -x FUNCTION LOAD REPLACE <${PREFIX:-/usr/local}/share/ringfence/ringfence.lua'"
fails 'an older library says what to type' 1 \
	"ringfence: fence 'edge3': its agent cannot report to the fleet; no changes were made: ${trouble//HOST/3}" \
	on 3 deny add 192.0.2.91 for 1h fleet
fails 'also where a host is to be forgotten' 1 "ringfence: fence 'edge3': ${trouble//HOST/3}" \
	on 3 fleet gone "$(agent_says 1 status | jq .membership.slot)" dev edge3
# The longest name of a host is not truncated where it must be typed.
long=$(printf 'engine%.0s' {1..10}).$(printf 'a%.0s' {1..63}).$(printf 'b%.0s' {1..63}).example
echo "10.77.2.1 $long" >>/etc/hosts
stop TERM "${agent[2]}"
echo "redis $long:6379 hosts 4 bans take" >/etc/ringfence/edge2.fleet
start_agent 2
trouble=${trouble//10.77.HOST.1/$long}
status_says() { [ "$(on 2 fleet status edge2 --json | jq -r .bans.last_error)" = "$trouble" ]; }
check 'so does status where bans are taken' eventually status_says
is "$(on 2 fleet check edge2 --json 2>/dev/null | jq -r '.checks[] | select(.check == "bans") | .level')" problem \
	'and it is a problem for the check'
engine -x function load replace <build/ringfence.lua >"$scratch/log"
check 'with the present one bans are told' on 3 deny add 192.0.2.91 for 1h fleet
check 'and taken' eventually has_bans 2 192.0.2.91 192.0.2.93 192.0.2.94 192.0.2.95
engine function flush >"$scratch/log"
check 'one that is missing is loaded for a ban' on 3 deny add 192.0.2.90 for 1h fleet
done_testing
