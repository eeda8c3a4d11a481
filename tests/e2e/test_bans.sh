#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bans, with real packets: that they outlive the windows of who is banned, what 'ban TIME all' drops,
# who ends them, and what the command line says of them.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  a fence with room for few sources
#
# A ban is of an hour, and so is the window of a limit, so that no speed is asked for. What is to
# hold within 50 ms is looked at a second later: tests/prog/test_bans.c has a clock of its own.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# rules: replaces all rules by those on standard input.
rules() {
	ringfence apply - >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
}

# "SOURCE PACKETS" of what came out.
came() {
	cut -d' ' -f1,2 <<<"$received"
}

# "SOURCE LIMIT" of each ban.
banned() {
	ringfence bans --json | jq -r '.bans[] | "\(.source) \(.limit)"'
}

make_network 1
ringfence attach "${port[0]}" sources 1024 >"$scratch/log" 2>&1 ||
	bail "cannot make a fence: $(<"$scratch/log")"

# ---- a ban outlives its window ----

does 'at first nobody is banned' 'no source is banned' ringfence bans
rules <<<'limit add udp rate 5/1h match udp ban 1h'
deliver 0 src=192.0.2.1,count=20 src=2001:db8::1,count=20 src=192.0.2.2,count=5
is "$(came)" $'192.0.2.1 5\n192.0.2.2 5\n2001:db8::1 5' 'sources get over their limit'
is "$(banned)" $'192.0.2.1 udp\n2001:db8::/64 udp' 'and are banned; who is not over it is not'
sleep 3 # for so long its source may be idle, as it is new
deliver 0 src=10.0.0.0,sources=20000,count=20000
deliver 0 src=10.1.0.0,sources=300,count=300
is "$(ringfence show 192.0.2.1 | head -n 1)" \
	'source 192.0.2.1, limit udp (5/1h): a newcomer, it has no window' 'other sources push out its window'
deliver 0 src=192.0.2.1,count=20 src=192.0.2.1,count=3,proto=tcp
is "$(came)" '192.0.2.1 3' 'and not its ban; what is not for that limit passes'
matches "$(ringfence show 192.0.2.1 | tail -n 1)" '  banned        for another (1h|59m [0-9]+s)' \
	'show says that it is banned'

# ---- what the command line says ----

matches "$(ringfence bans)" "source +limit +left +since
192\.0\.2\.1 +udp +(1h|5[0-9]m [0-9]+s) +[0-9ms ]+
2001:db8::/64 +udp +(1h|5[0-9]m [0-9]+s) +[0-9ms ]+" 'bans lists them'
is "$(ringfence bans list --json | jq -c '.bans[0] | .left_ms |= (. > 3500000 and . <= 3600000) |
	.since_ms |= (. >= 0 and . < 100000)')" \
	'{"source":"192.0.2.1","limit":"udp","all":false,"left_ms":true,"since_ms":true}' 'so does --json'
is "$(ringfence status | grep '^bans')" "bans: 2 sources are banned; 'ringfence bans' lists them" \
	'status counts them'
is "$(ringfence status --json | jq -c .bans)" '{"standing":2,"room":16384,"refused":0}' 'and --json'
deliver 0 src=192.0.2.9,count=20
matches "$(ringfence top 1)" "source .*
192\.0\.2\.9 .* 5/1h, banned
.*" 'top marks them'
is "$(ringfence top 1 --json | jq '.sources[0].banned_ms > 0')" true 'so does --json'

# ---- all of its packets ----

rules <<-'END'
	limit add udp rate 5/1h match udp ban 1h all
	limit add tcp rate 100k/1h match tcp
END
is "$(banned)" $'192.0.2.1 udp\n192.0.2.9 udp\n2001:db8::/64 udp' "with 'all' the bans go on"
deliver 0 src=192.0.2.1,count=20,proto=tcp src=192.0.2.1,count=20,proto=icmp \
	src=192.0.2.2,count=20,proto=tcp src=192.0.2.2,count=20,proto=icmp
is "$(came)" '192.0.2.2 40' 'and are of all packets, whatever these match'
deliver 0 src=192.0.2.3,count=3000,proto=tcp src=192.0.2.3,count=20,proto=icmp
is "$(came)" '192.0.2.3 3020' 'a source is busy'
deliver 0 src=192.0.2.3,count=20
sleep 1
deliver 0 src=192.0.2.3,count=200,proto=tcp src=192.0.2.3,count=20,proto=icmp
is "$(came)" '' 'banned for something else, nothing of it passes any more'
matches "$(ringfence bans | sed -n 's/^192.0.2.3 .*  //p')" '\(all its packets\)' 'bans says so'
ringfence save >"$scratch/saved"
is "$(grep '^limit' "$scratch/saved" | sort)" \
	$'limit add tcp rate 100k/1h match tcp\nlimit add udp rate 5/1h match udp ban 1h all' 'save prints it'
ringfence check "$scratch/saved" >"$scratch/log" 2>&1
is "exit $?" 'exit 0' 'what was saved is checked'
ringfence apply "$scratch/saved" >"$scratch/log" 2>&1
is "exit $?" 'exit 0' 'and applied'
is "$(ringfence save | grep '^limit')" "$(grep '^limit' "$scratch/saved")" 'which changes no limit'
is "$(banned | wc -l)" 4 'nor whom it bans'
is "$(ringfence limit list --json | jq -r '.limits[] | "\(.name) \(.ban_all)"' | sort)" \
	$'tcp false\nudp true' 'limit list --json tells them apart'

# ---- who ends them ----

ringfence allow add 192.0.2.3
deliver 0 src=192.0.2.3,count=20,proto=tcp src=192.0.2.3,count=20
is "$(came)" '192.0.2.3 40' 'who is allowed passes, banned or not'
ringfence allow del 192.0.2.3
deliver 0 src=192.0.2.3,count=20,proto=tcp
is "$(came)" '' 'taken off, it is banned as before'
does 'an address is unbanned' '1 ban ended' ringfence unban 192.0.2.3
sleep 1
deliver 0 src=192.0.2.3,count=20,proto=tcp src=192.0.2.1,count=20,proto=tcp
is "$(came)" '192.0.2.3 20' 'it passes again, and others do not'
deliver 0 src=192.0.2.3,count=20
is "$(banned | grep -c '192.0.2.3 ')" 1 'its window is as it was: it is banned again'
fails 'who is not banned cannot be unbanned' 1 \
	"ringfence: 192.0.2.77: not banned; 'ringfence bans' lists the banned sources" ringfence unban 192.0.2.77
does 'a network is unbanned' '{"lifted":1}' sh -c "nsenter --net=/run/netns/rf-test-$$-inside \
	build/ringfence unban 2001:db8::/32 --json | jq -c ."
does 'and everybody' '3 bans ended' ringfence unban all
does 'then nobody is banned' 'no source is banned' ringfence bans
does 'nor can be unbanned' '0 bans ended' ringfence unban all
deliver 0 src=192.0.2.9,count=20,proto=tcp
is "$(came)" '192.0.2.9 20' 'all pass again'
fails 'whom is not said' 2 "ringfence: the address is missing; write unban ADDRESS|PREFIX|all" \
	ringfence unban
fails 'a host within a network is no network' 2 "$(describe ringfence deny add 192.0.2.1/24 |
	sed -n 's/^stderr: //p')" ringfence unban 192.0.2.1/24
fails 'more than one is too many' 2 "ringfence: '192.0.2.2': unexpected word" \
	ringfence unban 192.0.2.1 192.0.2.2

# ---- a table that is full ----

ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" >"$scratch/log" || bail 'cannot make a fence'
rules <<<'limit add udp rate 1/1h match udp ban 1h'
deliver 0 src=10.0.0.0,sources=30000,count=60000
refused=$(ringfence status --json | jq .bans.refused)
standing=$(ringfence status --json | jq .bans.standing)
check 'not all of 30,000 bans find room' test "$((standing + refused))" = 30000 -a "$refused" -gt 0
echo "# of 30,000 bans $standing stand, $refused were refused"
matches "$(ringfence status | grep '^bans')" "bans: $standing sources are banned.*
bans: $refused times a ban was not made for lack of room; the source stayed over its limit" \
	'status says where there was no room'

done_testing
