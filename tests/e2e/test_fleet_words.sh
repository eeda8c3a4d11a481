#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet's output for people: fleet status, show, top and gone, over three hosts with different
# names, and an agent's socket under abuse by other users. test_fleet_check.sh tests the findings of
# 'fleet check'.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

# Agents whose hosts have names, as far as they can see.
start_agent() { # HOST
	# shellcheck disable=SC2016 # the inner shell's
	start "h$1" unshare --uts sh -c 'printf %s "$1" >/proc/sys/kernel/hostname; exec build/ringfence-fleet run "$2"' sh \
		"${named[$1]}" "edge$1" >>"$scratch/agent$1" 2>&1
	agent[$1]=$started_pid
}

fleet() { # HOST WORD…
	on "$1" fleet "${@:2}" dev "edge$1"
}

named=([1]=web1 [2]=$'web\e[31m2' [3]=web3)
set_up_fleet 3 600/1s 4

# ---- status ----

names() {
	on 1 fleet status edge1 --json | jq -r '[.others[].name] | sort | join(" ")'
}
knows_names() {
	[ "$(names)" = 'web1 web3 web__31m2' ]
}
check 'hosts have names, without what a terminal obeys' eventually knows_names
is "$(on 1 fleet status edge1 --json | jq -r '.others[] | select(.self) | .name')" web1 \
	'a host knows which it is'
is "$(on 1 fleet status edge1 | grep -c different)" 0 'nothing differs'
on 2 limit change any rate 700/1s >"$scratch/log"
on 3 limit add more rate 50/1s match udp fleet initial 1 >"$scratch/log"
tells() { # TEXT
	on 1 fleet status edge1 | unwrapped | grep -qF "$1"
}
check 'status names the hosts that define a limit differently' \
	eventually tells "limit 'any': a different definition on web__31m2"
check 'and those that have one which is missing here' eventually tells \
	"limit 'more': missing here, and there on web3"
on 3 fleet hosts 5 >"$scratch/log"
check 'and those with another number of hosts' eventually tells 'a different number of hosts than here on web3'
engine set 'rf:{m}:host:0' $'{"name":"\e[2Jx","grace_ms":9000,"limits":{"a\e[1mb":"12"}}' >"$scratch/log"
engine set 'rf:{m}:host:1' 'rubbish' >"$scratch/log"
engine set 'rf:{m}:host:2' '[[[[' >"$scratch/log"
is "$(on 1 fleet status edge1 | tr -d '\n' | tr -d '[:print:]')" '' \
	"what is written for a host never reaches a terminal raw"
is_shared() { # but where the agent had no CPU for a while
	[ "$(on 1 fleet status edge1 --json | jq -r '"\(.state) \(.slot)"')" = "shared $before" ]
}
before=$(on 1 fleet status edge1 --json | jq .slot)
check 'rubbish there changes nothing' eventually is_shared
on 1 limit add more rate 9/1s match icmp fleet initial 0 >"$scratch/log"
on 2 limit change any rate 600/1s >"$scratch/log"
on 3 fleet hosts 4 >"$scratch/log"
for host in 1 3; do
	on $host limit del more >"$scratch/log"
done
check 'a change is told again, over it' eventually knows_names

# ---- show and top ----

flood() { # until `calm`
	for host in 1 2; do
		send "$host" src=192.0.2.1,count=1000000,rate=600
	done
}
calm() {
	local pid

	for pid in "${senders[@]}"; do
		stop TERM "$pid"
	done
	senders=()
}
holders() {
	[ "$(fleet 1 show 192.0.2.1 --json | jq '[.limits[0].ledger.hosts[] | select(.claim > 0)] | length')" -ge 2 ]
}
flood
check 'show has the claims of all hosts' eventually holders
fleet 1 show 192.0.2.1 --json >"$scratch/show"
fleet 1 show 192.0.2.1 >"$scratch/shown"
calm
is "$(jq '[.limits[0].ledger | .claimed <= 592 and .claimed > 0] | all' "$scratch/show")" true \
	'the claims are no more than the pool'
is "$(jq -r '.limits[0] | [.name, .source, .count, .window_ms, .initial, .pool] | join(" ")' "$scratch/show")" \
	'any 192.0.2.1/32 600 1000 2 592' 'and what they are claims of'
is "$(jq '.limits[0].local | .used > 0 and .share > 0 and .since_ms >= 0' "$scratch/show")" true \
	'and what this host has: a share, what was used, and since when'
check 'for people as well' grep -qE '^ *(web1 \(this host\)|web__31m2) +[0-9]+ ' "$scratch/shown"
is "$(fleet 1 show 192.0.2.99 --json | jq -c '.limits[0] | [.local.used, .local.since_ms, .ledger.claimed, .ledger.hosts]')" \
	'[null,null,0,[]]' 'of a source that nobody asked for there is nothing'
fails 'an address must be one' 2 "ringfence: '192.0.2': invalid address; write it like 192.0.2.1 or 2001:db8::1" \
	fleet 1 show 192.0.2

both_tell() {
	[ "$(fleet 3 top 5 by hosts --json | jq -r '.sources[0] | [.source, .limit, .hosts] | join(" ")')" = '192.0.2.1 any 2' ]
}
flood # each host reports once in 5 s, about sources with a claim
check 'top adds up what the hosts tell' eventually both_tell
fleet 3 top --json >"$scratch/top"
is "$(jq '[.sources[0] | .dropped > 0 and .passed > 0] | all' "$scratch/top")" true 'with what was passed and dropped'
is "$(jq '.sources | length' "$scratch/top")" 1 'a source of all hosts is one row'
told_by_all() {
	fleet 3 top 1 by rate | grep -qx 'reported by 3 of 3 hosts'
}
check 'and says how many hosts tell' eventually told_by_all
calm
engine set 'rf:{m}:top:0' '{"sources":[{"source":"x","limit":"a","passed":1,"dropped":9,"rate":1},
	{"source":"192.0.2.7","limit":"\u001b[2J","passed":1,"dropped":1,"rate":1},7,{"source":"192.0.2.8"}]}' >"$scratch/log"
is "$(fleet 3 top | tr -d '\n' | tr -d '[:print:]')" '' 'rubbish of a host never reaches a terminal raw'
fails 'top has an order' 2 "ringfence: 'used': 'by' expects drops, rate or hosts" fleet 3 top by used

# ---- the socket ----

pester() {
	python3 - "$1" <<-'END'
		import os, socket, sys
		kept = []
		for i in range(400):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.connect(sys.argv[1])
		    if i % 3:
		        s.send(os.urandom(1 + i * 37 % 4000))
		    try:
		        s.send(b'hosts')
		    except OSError:
		        pass # it was hung up on
		    if i % 7 == 0:
		        kept.append(s) # it never reads
	END
}
for _ in 1 2 3 4 5; do
	pester /run/ringfence-fleet/edge1.sock || fail 'clients may connect'
done
check 'clients that are slow or send rubbish do not hold up the agent' eventually is_shared

# ---- gone ----

slot_of() { # NAME
	on 1 fleet status edge1 --json | jq ".others[] | select(.name == \"$1\") | .slot"
}
members() {
	on 1 fleet status edge1 --json | jq -r '[.others[].name] | sort | join(" ")'
}
fails 'no host has that name' 1 \
	"ringfence: 'web9': no host of the fleet has this name or number; 'ringfence fleet status --json' lists them" \
	fleet 1 gone web9
fails 'this host cannot be gone' 1 \
	"ringfence: that is this host; 'systemctl disable --now ringfence-fleet@edge1' removes it from the fleet" \
	fleet 1 gone web1
matches "$(fleet 1 gone web3 2>&1 | xargs -0)" \
	".*'?web3'?: its last heartbeat was .* ago, so its claims still count; they expire in [0-9a-z ]*; stop its agent, if it runs, and try again then.*" \
	'a host that is heard is refused'
is "$(members)" 'web1 web3 web__31m2' 'and stays a member'
slot=$(slot_of web3)
stop KILL "${agent[3]}"
forgets() {
	fleet 1 gone web3 >"$scratch/gone" 2>&1
}
check 'a host that was silent for G + W is forgotten' eventually forgets
is "$(<"$scratch/gone")" 'web3: removed; its claims had expired' 'and that is said'
is "$(members)" 'web1 web__31m2' 'it is no member any more'
start_agent 3
check 'one that comes back joins again' eventually hears 3
fails 'several fences are in a fleet' 2 \
	"ringfence: several fences are in a fleet, as 'edge1' and 'edge2'; add 'dev FENCE'" on 1 fleet top
check 'its slot was free' test -n "$slot"
done_testing
