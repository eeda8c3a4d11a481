#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bans, with real packets: bans outlive the windows of the banned sources; the packets that 'ban
# TIME all' drops; which commands lift bans; and the command line's output about them.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  a fence with room for few sources
#
# Bans and the window of a limit last an hour, so no test depends on speed. Requirements within 50
# ms are checked a second later: tests/prog/test_bans.c has an injected clock.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# "SOURCE LIMIT" of each ban.
banned() {
	ringfence bans --json | jq -r '.bans[] | "\(.source) \(.limit)"'
}

make_network 1
ringfence attach "${port[0]}" sources 1024 >"$scratch/log" 2>&1 ||
	bail "cannot make a fence: $(<"$scratch/log")"

# ---- a ban outlives its window ----

does 'bans of a new fence lists nobody' 'no source is banned' ringfence bans
rules <<<'limit add udp rate 5/1h match udp ban 1h'
deliver 0 src=192.0.2.1,count=20 src=2001:db8::1,count=20 src=192.0.2.2,count=5
is "$(came)" $'192.0.2.1 5\n192.0.2.2 5\n2001:db8::1 5' \
	'IPv4 and IPv6 sources over a limit pass up to the limit'
is "$(banned)" $'192.0.2.1 udp\n2001:db8::/64 udp' "sources over a limit with 'ban' are banned, and no other"
sleep 3 # how long its source can be idle, as it is new
deliver 0 src=10.0.0.0,sources=20000,count=20000
deliver 0 src=10.1.0.0,sources=300,count=300
is "$(ringfence show 192.0.2.1 | unwrapped | sed -n 2p)" \
	'source 192.0.2.1, limit udp (5/1h): no window' \
		'other sources evict the window of a banned source'
matches "$(ringfence top 1 within 192.0.2.1 | tail -n 1)" \
	'192\.0\.2\.1 +udp +0 +0 +0 +0 5/1h, banned [1-5]?[0-9]m [0-9]+s' 'top lists a banned source without a window'
deliver 0 src=192.0.2.1,count=20 src=192.0.2.1,count=3,proto=tcp
is "$(came)" '192.0.2.1 3' 'a ban outlives its window and drops only packets that the limit matches'
matches "$(ringfence show 192.0.2.1 | unwrapped | tail -n 1)" '  banned        for another (1h|[1-5]?[0-9]m( [0-9]+s)?)' \
	'show prints the ban of a source and the time left'

# ---- output of the command line ----

matches "$(ringfence bans)" "source +limit +left +since
192\.0\.2\.1 +udp +(1h|[1-5]?[0-9]m( [0-9]+s)?) +[0-9ms ]+
2001:db8::/64 +udp +(1h|[1-5]?[0-9]m( [0-9]+s)?) +[0-9ms ]+" 'bans lists each banned source with its limit and times'
is "$(ringfence bans list --json | command jq -c '.bans[0] | (.left_ms + .since_ms | . > 3599000 and . < 3601000) as $whole |
	.left_ms = $whole | .since_ms |= (. >= 0)')" \
	'{"source":"192.0.2.1","limit":"udp","all":false,"left_ms":true,"since_ms":true}' \
		'bans list --json prints source, limit and times of a ban'
is "$(ringfence status | unwrapped | grep '^bans')" "bans: 2 sources are banned; 'ringfence bans' lists them" \
	'status counts the banned sources'
is "$(ringfence status --json dev "${port[0]}" | command jq -c .bans)" '{"active":2,"capacity":16384,"refused":0}' \
	'status --json counts bans, room and refusals'
deliver 0 src=192.0.2.9,count=20
matches "$(ringfence top 1)" "source .*
192\.0\.2\.9 .* 5/1h, banned (1h|[1-5]?[0-9]m( [0-9]+s)?)
.*" 'top marks a banned source'
is "$(ringfence top 1 --json dev "${port[0]}" | jq '.sources[0].banned_ms > 0')" true 'top --json has the time left of a ban'

# ---- all of its packets ----

rules <<-'END'
	limit add udp rate 5/1h match udp ban 1h all
	limit add tcp rate 100k/1h match tcp
END
is "$(banned)" $'192.0.2.1 udp\n192.0.2.9 udp\n2001:db8::/64 udp' \
	"bans stand when their limit gets the word 'all'"
deliver 0 src=192.0.2.1,count=20,proto=tcp src=192.0.2.1,count=20,proto=icmp \
	src=192.0.2.2,count=20,proto=tcp src=192.0.2.2,count=20,proto=icmp
is "$(came)" '192.0.2.2 40' "a ban with 'all' drops every packet of its source, and of no other"
deliver 0 src=192.0.2.3,count=3000,proto=tcp src=192.0.2.3,count=20,proto=icmp
is "$(came)" '192.0.2.3 3020' 'a source under its limits passes every packet before its ban'
deliver 0 src=192.0.2.3,count=20
sleep 1
deliver 0 src=192.0.2.3,count=200,proto=tcp src=192.0.2.3,count=20,proto=icmp
is "$(came)" '' "a ban with 'all' drops packets that a lease of another limit passed before"
matches "$(ringfence bans | sed -n 's/^192.0.2.3 .*  //p')" '\(all its packets\)' \
	'bans marks a ban of all packets'
ringfence save >"$scratch/saved"
is "$(grep '^limit' "$scratch/saved" | sort)" \
	$'limit add tcp rate 100k/1h match tcp\nlimit add udp rate 5/1h match udp ban 1h all' \
		"save prints a limit with 'ban 1h all'"
ringfence check "$scratch/saved" >"$scratch/log" 2>&1
is "exit $?" 'exit 0' "check accepts a saved limit with 'ban 1h all'"
ringfence apply "$scratch/saved" >"$scratch/log" 2>&1
is "exit $?" 'exit 0' "apply accepts a saved limit with 'ban 1h all'"
is "$(ringfence save | grep '^limit')" "$(grep '^limit' "$scratch/saved")" \
	'apply of saved rules changes no limit'
is "$(banned | wc -l)" 4 'apply of saved rules keeps the bans'
is "$(ringfence limit list --json | jq -r '.limits[] | "\(.name) \(.ban_all)"' | sort)" \
	$'tcp false\nudp true' 'limit list --json tells limits that ban all packets from others'

# ---- lifting bans ----

ringfence allow add 192.0.2.3
deliver 0 src=192.0.2.3,count=20,proto=tcp src=192.0.2.3,count=20
is "$(came)" '192.0.2.3 40' 'a banned source that is allowed passes'
ringfence allow del 192.0.2.3
deliver 0 src=192.0.2.3,count=20,proto=tcp
is "$(came)" '' "a banned source is dropped again after 'allow del'"
does 'unban of an address ends its ban' '1 ban ended' ringfence unban 192.0.2.3
sleep 1
deliver 0 src=192.0.2.3,count=20,proto=tcp src=192.0.2.1,count=20,proto=tcp
is "$(came)" '192.0.2.3 20' 'an unbanned source passes again, and another banned source does not'
deliver 0 src=192.0.2.3,count=20
is "$(banned | grep -c '192.0.2.3 ')" 1 \
	'an unbanned source whose window is full is banned again at its next packet'
fails 'unban of a source that is not banned is refused' 1 \
	"ringfence: 192.0.2.77: not banned; 'ringfence bans' lists the banned sources" ringfence unban 192.0.2.77
does 'unban --json of an IPv6 network ends its ban' \
	'{"lifted":1}' sh -c "nsenter --net=/run/netns/rf-test-$$-inside \
	build/ringfence unban 2001:db8::/32 --json | command jq -c 'del(.schema)'"
does 'unban all ends every ban' '3 bans ended' ringfence unban all
does "bans lists nobody after 'unban all'" 'no source is banned' ringfence bans
does "a second 'unban all' ends no ban" '0 bans ended' ringfence unban all
deliver 0 src=192.0.2.9,count=20,proto=tcp
is "$(came)" '192.0.2.9 20' "a source passes again after 'unban all'"
fails 'unban of a prefix with bits behind its length is wrong usage' \
	2 "$(describe ringfence deny add 192.0.2.1/24 |
	sed -n 's/^stderr: //p')" ringfence unban 192.0.2.1/24

# ---- a table that is full ----

ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" >"$scratch/log" || bail 'cannot make a fence'
rules <<<'limit add udp rate 1/1h match udp ban 1h'
deliver 0 src=10.0.0.0,sources=30000,count=60000
refused=$(ringfence status --json dev "${port[0]}" | jq .bans.refused)
active=$(ringfence status --json dev "${port[0]}" | jq .bans.active)
check '30,000 bans do not all find room in the table' test "$((active + refused))" = 30000 -a "$refused" -gt 0
echo "# of 30,000 bans $active are in force, $refused were refused"
matches "$(ringfence status | unwrapped | grep '^bans')" "bans: $active sources are banned.*
bans: $refused times a ban was not made for lack of room; the source stayed over its limit" \
	'status counts the bans that found no room'

done_testing
