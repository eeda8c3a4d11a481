#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `show`: its first line states what happens to the next packet of a source, and why. After each
# verdict a packet is sent, and passes or is dropped accordingly.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#
# Limits have windows of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# A time that depends on the moment becomes T.
verdict() { # SOURCE
	ringfence show "$1" | unwrapped | sed -nE '1{s/(in|another) [0-9.]+(ms|s|m|h)( [0-9]+[ms])?/\1 T/g;p}'
}

# "VERDICT KIND LIMIT PREFIX WAIT", where WAIT is 0, T or null.
verdict_json() { # SOURCE
	ringfence show "$1" --json | jq -r '"\(.verdict) \(.by.kind) \(.by.limit) \(.by.prefix) " +
		(.retry_after_ms | if . == null or . == 0 then tostring else "T" end)'
}

# came FLOW: whether the one packet of a flow passes.
came() {
	deliver 0 "$1,count=1"
	[ -n "$received" ] && echo passed || echo dropped
}

# says NAME SOURCE FLOW FATE LINE JSON
says() {
	is "$(verdict "$2")" "$2: $5" "$1: the verdict"
	is "$(verdict_json "$2")" "$6" "$1: the verdict in JSON"
	is "$(came "src=$2$3")" "$4" "$1: the next packet is $4"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

says 'without rules' 192.0.2.1 '' passed 'passes; no limit applies' 'passes null null null 0'

# ---- lists ----

rules <<-'END'
	limit add any rate 10/1h exact
	deny add 203.0.113.0/24
	deny add 203.0.113.64/26 for 1h
	allow add 198.51.100.0/24
	allow add 203.0.113.128/25 for 1h
	deny add 198.51.100.9
	deny add 2001:db8:bad::/48 for 1h
END
says 'a denied network' 203.0.113.5 '' dropped 'dropped by the deny list (203.0.113.0/24)' \
	'dropped deny null 203.0.113.0/24 null'
says 'a network denied for good and in part for a time' 203.0.113.65 '' dropped \
	'dropped by the deny list (203.0.113.0/24)' 'dropped deny null 203.0.113.0/24 null'
says 'an IPv6 network denied for a time' 2001:db8:bad::1 '' dropped \
	'dropped by the deny list (2001:db8:bad::/48), for another T' \
	'dropped deny null 2001:db8:bad::/48 T'
says 'an allowed network' 198.51.100.1 '' passed 'passes by the allow list (198.51.100.0/24)' \
	'passes allow null 198.51.100.0/24 0'
says 'a network allowed for a time within a denied one' 203.0.113.129 '' passed \
	'passes by the allow list (203.0.113.128/25), for another T, which overrules the deny list (203.0.113.0/24)' \
	'passes allow null 203.0.113.128/25 0'
says 'a denied address in an allowed network' 198.51.100.9 '' passed \
	'passes by the allow list (198.51.100.0/24), which overrules the deny list (198.51.100.9)' \
	'passes allow null 198.51.100.0/24 0'
deliver 0 src=203.0.114.5,count=1
ringfence deny add 203.0.114.0/24
is "$(ringfence show 203.0.114.5 | unwrapped | grep -c '  used ') $(ringfence show 203.0.114.5 | grep -c 'passes again')" '1 0' 'show of a denied source has no other time to pass'
is "$(ringfence show 203.0.113.5 --json | command jq -c '[.denied, .limits[0].retry_after_ms]')" \
	'[{"prefix":"203.0.113.0/24","left_ms":null},null]' \
	'show --json of a source denied for good: no packet passes'

# ---- limits ----

rules <<-'END'
	limit add any rate 10/1h exact
	limit add dns rate 4/1h exact match udp dport 53
	limit add net rate 8/1h exact per /24 shadow
END
says 'a source without a window' 192.0.2.1 '' passed 'new; passes at this moment' 'passes null null null 0'
says 'a source under its limits' 192.0.2.1 '' passed 'passes' 'passes null null null 0'
deliver 0 src=192.0.2.1,dport=53,count=6
line="packets that limit 'dns' matches are dropped; the next of them passes in T; others pass"
says 'a limit of some packets is used up' 192.0.2.1 ',dport=53' dropped "$line" \
	'partly limit dns null T'
says 'a limit of some packets, another packet' 192.0.2.1 ',dport=54' passed "$line" \
	'partly limit dns null T'
deliver 0 src=192.0.2.1,dport=54,count=20
says 'a limit of all packets is used up' 192.0.2.1 ',dport=54' dropped \
	"dropped by limit 'any'; the next packet passes in T" 'dropped limit any null T'
says 'a shadow limit of a network is used up' 192.0.2.2 '' passed \
	"new; passes at this moment; limit 'net' (shadow) would drop it for another T" \
	'passes null null null 0'
is "$(ringfence show 192.0.2.2 | unwrapped | sed -n '/limit net/,$p' | grep -c '  would pass    in ')" 1 \
	'show of a shadow limit says when it would pass'
is "$(ringfence show 192.0.2.2 --json | jq -c '.limits[] | select(.limit == "net") |
	[.retry_after_ms, .shadow_retry_after_ms > 0]')" '[0,true]' \
	'show --json of a shadow limit: packets pass, and when they would'

# A limit of only some packets: whether the source is new to it is not known.
rules <<-'END'
	limit add dns rate 4/1h exact match udp dport 53
END
deliver 0 src=192.0.2.9,count=3,proto=tcp
says 'a source without a window, under a limit of some packets' 192.0.2.9 ',proto=tcp' passed 'passes' 'passes null null null 0'
is "$(ringfence show 192.0.2.9 | unwrapped | tail -n 1)" 'source 192.0.2.9, limit dns (4/1h): no window' \
	'it is called no newcomer'
rules <<-'END'
	newcomers rate 5/1h then drop
	limit add dns rate 4/1h exact match udp dport 53
END
deliver 0 src=10.1.3.0,sources=40,count=40,dport=53
is "$(verdict 192.0.2.9)" "192.0.2.9: the newcomers rate is used up, so at this moment packets that limit 'dns' \
matches would be dropped; others pass" 'nor where the newcomers rate is used up'

# ---- packets that were dropped before ----

rules <<-'END'
	limit add web rate 4/1h exact
	limit add quiet rate 2/1h exact shadow
END
deliver 0 src=192.0.2.10,count=10
ringfence limit change web rate 400/1h >"$scratch/log"
does_pass() { # the machine can be slow: then it is not the last second
	[[ $(verdict 192.0.2.10) == "192.0.2.10: passes; limit 'web' dropped 6 of 10 packets before, none in the last 1"*"; limit 'quiet' (shadow) would drop it for another T" ]]
}
check 'a source whose packets pass again: the verdict has those that were dropped' eventually does_pass
is "$(ringfence show 192.0.2.10 --json | jq -c '.verdict, [.limits[] | .recent | if . then [.passed, .dropped, .interval_ms >= 1000] else . end]' | xargs)" \
	'passes [[0,0,true],null]' 'in JSON likewise'
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.11,count=4000000000,rate=40 >"$scratch/log"
ringfence limit set web rate 20/1s >"$scratch/log"
drops_now() {
	[[ $(ringfence show 192.0.2.11 | unwrapped | head -n 1) =~ ^"192.0.2.11: limit 'web' dropped "[0-9]+" of "[0-9]+" packets in the last "[0-9.]+s"; passes at this moment" ]]
}
check 'a source that sends twice the rate: the verdict begins with what is dropped now' eventually drops_now
stop TERM "$started_pid"

rules <<-'END'
	limit add net rate 3/1h exact per /24
	limit add large rate 2k/1h bytes algorithm sliding exact match tcp
END
deliver 0 src=192.0.2.1,count=9
says 'the limit of a network is used up by others' 192.0.2.77 '' dropped \
	"dropped by limit 'net'; the next packet passes in T if no other source of 192.0.2.0/24 sends" \
	'dropped limit net null T'
deliver 0 src=198.51.100.1,count=1
says 'the limit of a network has room' 198.51.100.2 '' passed 'passes at this moment' \
	'passes null null null 0'
deliver 0 src=10.0.0.1,count=2,len=900,proto=tcp
says 'a limit of bytes is used up' 10.0.0.1 ',len=900,proto=tcp' dropped \
	"frames of 1514 bytes that limit 'large' matches are dropped; the next of them passes in T; shorter ones \
may pass" \
	'partly limit large null T'

rules <<-'END'
	limit add any rate 10/1h exact
	limit add no-dns rate 0 match udp dport 53
	limit add no-ntp rate 0 match udp dport 123 per /24 shadow
END
line="packets that limit 'no-dns' matches are dropped; its rate is 0; others pass"
says 'a limit of rate 0, a packet that it matches' 192.0.2.1 ',dport=53' dropped "$line" \
	'partly limit no-dns null null'
says 'a limit of rate 0, another packet' 192.0.2.1 ',dport=54' passed "$line" 'partly limit no-dns null null'
is "$(ringfence show 192.0.2.1 | grep ': [dw].* all')" "limit no-dns (0): drops all that it matches
limit no-ntp (0): would drop all that it matches" 'show has no window of limits of rate 0'
is "$(ringfence show 192.0.2.1 --json | jq -c '[.limits[1, 2] | .retry_after_ms, .shadow_retry_after_ms]')" \
	'[null,null,0,null]' 'show --json of limits of rate 0: they never pass a packet'
rules <<-'END'
	limit add none rate 0 shadow
END
says 'a shadow of rate 0' 192.0.2.1 '' passed "passes; limit 'none' (shadow) would drop it" 'passes null null null 0'

# ---- bans ----

rules <<-'END'
	limit add any rate 10/1h exact ban 2h
	limit add tcp rate 4/1h exact match tcp ban 3h all
	limit add syn rate 2/1h exact match tcp syn ban 4h
END
deliver 0 src=192.0.2.1,count=20
says 'a ban of a limit of all packets' 192.0.2.1 '' dropped "dropped by a ban of limit 'any', for another T" \
	'dropped ban any null T'
deliver 0 src=192.0.2.2,count=9,proto=tcp
says 'a ban of all packets by a limit of some' 192.0.2.2 '' dropped \
	"dropped by a ban of limit 'tcp', for another T" 'dropped ban tcp null T'
is "$(ringfence show 192.0.2.2 --json | jq '[.limits[].retry_after_ms > 10000000] | all')" true \
	'show --json of a banned source: no limit passes a packet before the ban ends'
deliver 0 src=192.0.2.3,count=3,proto=syn
says 'a ban of some packets' 192.0.2.3 ',proto=syn' dropped \
	"packets that limit 'syn' matches are dropped by a ban, for another T; others pass" \
	'partly ban syn null T'

is "$(ringfence show 192.0.2.2 | unwrapped | grep -c 'passes again')" 0 'show of a source with a ban of all packets has no other time'
rules <<-'END'
	limit add one rate 2/1h exact match tcp
	limit add two rate 2/1h exact match udp ban 3h
END
deliver 0 src=192.0.2.4,count=5 src=192.0.2.4,count=5,proto=tcp
is "$(verdict 192.0.2.4)" \
	"192.0.2.4: packets that limit 'one' matches are dropped; the next of them passes in T" \
	'two limits of some packets: the verdict begins with the first'
is "$(ringfence show 192.0.2.4 | unwrapped | sed -n '2s/another .*;/another T;/p')" \
	"192.0.2.4: packets that limit 'two' matches are dropped by a ban, for another T; others pass" \
	'two limits of some packets: the verdict ends with the second'
rules <<-'END'
	limit add any rate 3/1h exact count rejected ban 2h
END
deliver 0 src=192.0.2.5,count=3
is "$(verdict 192.0.2.5)" "192.0.2.5: dropped by limit 'any'; the next packet passes in T if none comes until \
then; one that comes before bans it for 2h" 'a limit that counts rejected packets and bans: the verdict'
rules <<-'END'
	limit add any rate 3000/1h bytes algorithm sliding exact
END
deliver 0 src=192.0.2.6,count=2,len=1400
line="frames of 1514 bytes that limit 'any' matches are dropped; the next of them passes in T; shorter ones may pass"
says 'a limit of bytes has room for short frames' 192.0.2.6 ',len=100' passed "$line" 'partly limit any null T'
says 'a limit of bytes has no room for long frames' 192.0.2.6 ',len=1400' dropped "$line" 'partly limit any null T'

# ---- newcomers ----

newcomers() { # THEN
	rules <<-END
		limit add any rate 10/1h exact
		limit add tcp rate 10/1h exact match tcp
		newcomers rate 5/1h then $1
	END
}

newcomers drop
deliver 0 src=10.1.0.1,count=1
deliver 0 src=10.1.1.0,sources=40,count=40
says 'a newcomer over a rate that drops' 10.9.0.1 '' dropped \
	'new; the newcomers rate is used up, so at this moment it would be dropped' \
	'dropped newcomers any null T'
says 'a known source beside a used-up rate' 10.1.0.1 ',proto=tcp' passed passes 'passes null null null 0'
rules <<-'END'
	limit add net rate 10/1h exact per /24 match tcp
	limit add any rate 10/1h exact match udp
END
deliver 0 src=2001:db8:5::1,count=1,proto=tcp
rules <<-'END'
	limit add net rate 10/1h exact per /24 match tcp
	limit add any rate 10/1h exact match udp
	newcomers rate 5/1h then drop
END
deliver 0 src=10.1.2.0,sources=40,count=40
says 'an IPv6 source known by a limit that groups IPv4 otherwise' 2001:db8:5::1 '' passed 'passes at this moment' \
	'passes null null null 0'
newcomers pass
deliver 0 src=10.2.1.0,sources=40,count=40
says 'a newcomer over a rate that passes' 10.9.0.2 '' passed \
	'new; the newcomers rate is used up, so at this moment it passes without a limit' \
	'passes newcomers any null 0'
newcomers aggregate
deliver 0 src=10.3.1.0,sources=40,count=40
is "$(verdict 10.9.0.3)" \
	'10.9.0.3: new; whether it passes depends on what new sources of its network have used' \
	'a newcomer over a rate of networks: the verdict'
is "$(verdict_json 10.9.0.3)" 'depends newcomers any null null' \
	'a newcomer over a rate of networks: the verdict in JSON'

# ---- networks ----

rules <<-'END'
	limit add any rate 4/1h exact
	limit add udp rate 2/1h exact match udp ban 1h
	limit add quiet rate 3/1h exact per /24 shadow
	deny add 10.4.0.0/16 for 1h
	deny add 10.4.1.64
	allow add 10.4.2.0/24
	deny add 10.5.0.0/24
END
deliver 0 src=192.0.2.1,count=6,proto=tcp src=192.0.2.200,count=3 src=198.51.100.1,count=2,proto=tcp
is "$(ringfence show 192.0.2.0/24 | unwrapped | sed 's/ T$//; s/another .*/another T/')" \
	"banned: 192.0.2.200 by limit 'udp', for another T
source       limit passed dropped would drop used
192.0.2.0/24 quiet      3       0          3    3
192.0.2.1    any        4       2          0    4
192.0.2.200  any        2       0          0    2
192.0.2.200  udp        2       1          0    2" \
	'show of a network prints the bans and windows in it'
is "$(ringfence show 10.4.1.0/24 | unwrapped | sed 's/another .*/another T/')" 'deny list: 10.4.0.0/16, for another T
deny list: 10.4.1.64' 'show of a network prints the prefixes of lists in it and around it'
is "$(ringfence show 10.4.0.0/14 | unwrapped | sed 's/another .*/another T/')" 'allow list: 10.4.2.0/24
deny list: 10.4.0.0/16, for another T
deny list: 10.4.1.64
deny list: 10.5.0.0/24' 'show of a network prints both lists'
does 'show of a network of which nothing is known says so' "203.0.113.0/24: no records: no \
source in it has a window or a ban, and no list has it" ringfence show 203.0.113.0/24
is "$(ringfence show 192.0.2.200/32 | unwrapped | head -n 1 | sed 's/another .*/another T/')" \
	"banned: 192.0.2.200 by limit 'udp', for another T" 'show of one address as a prefix prints its ban'
is "$(ringfence show 192.0.2.201/32 | unwrapped | sed 1d | cut -d' ' -f1)" 192.0.2.0/24 \
	'show of a prefix prints the window of the network around it'
is "$(ringfence show 192.0.2.128/25 --json | command jq -c '.bans[].left_ms |= (. > 3000000) |
	.bans |= map({source, limit, left_ms}) | .windows |= map({source, limit, used, passed, dropped, would_drop})')" \
	'{"schema":2,"prefix":"192.0.2.128/25","allowed":[],"denied":[],"bans":[{"source":"192.0.2.200","limit":"udp",'\
'"left_ms":true}],"windows":[{"source":"192.0.2.0/24","limit":"quiet","used":3,"passed":3,"dropped":0,'\
'"would_drop":3},{"source":"192.0.2.200","limit":"any","used":2,"passed":2,"dropped":0,'\
'"would_drop":0},{"source":"192.0.2.200","limit":"udp","used":2,"passed":2,"dropped":1,"would_drop":0}]}' \
	'show --json of a network has lists, bans and windows'
is "$(ringfence show 192.0.2.128/25 --json | command jq -c '(.bans[0], .windows[0]) | keys_unsorted')" \
	'["source","limit","all","left_ms","since_ms"]
["source","limit","rate","window_ms","unit","burst","shadow","passed","dropped","would_drop","used","lent","used_per_s","banned_ms","aggregate"]' \
	'they have the keys of bans and of top, and no others'

rules <<-'END'
	limit add the-limit-of-all-other-sources rate 4/1h exact per6 /128
	limit add udp rate 2/1h exact match udp
END
deliver 0 src=192.0.2.77,count=6 src=2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff,count=9
is "$(ringfence top)" "\
source                                 limit
    passed dropped would drop used of
2001:db8:aaaa:bbbb::/64                udp
         2       7          0    2 2/1h
192.0.2.77                             udp
         2       4          0    2 2/1h
192.0.2.77                             the-limit-of-all-other-sources
         2       0          0    2 4/1h
2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff the-limit-of-all-other-sources
         2       0          0    2 4/1h" \
	'top: long names and addresses keep their columns'
rows() { # WORDS OF top: the sources and limits of its rows
	ringfence top "$@" | unwrapped | awk 'NR > 1 { print $1, $2 }'
}
is "$(rows limit udp)" $'2001:db8:aaaa:bbbb::/64 udp\n192.0.2.77 udp' 'top limit NAME prints the sources of that limit'
is "$(rows within 192.0.2.0/24 limit udp)" '192.0.2.77 udp' 'top within PREFIX prints the sources in that network'
is "$(rows 1 by used within 2001:db8::/32)" $'2001:db8:aaaa:bbbb::/64 udp\n… and' \
	'top by used prints the source first that used most of its limit'
is "$(ringfence top within 10.0.0.0/8 | tail -n 1)" 'no source of these has a window' \
	'top within a network without a source says so'
fails 'top of a missing limit is refused' 1 \
	"ringfence: limit 'none': it does not exist; 'limit list' lists the limits" ringfence top limit none
ringfence limit del udp
ringfence limit del the-limit-of-all-other-sources
ringfence limit add one rate 1/10m exact match udp algorithm token burst 6k
ringfence limit add two rate 10M/1h bytes algorithm sliding match udp
deliver 0 src=192.0.2.78,count=6000
is "$(ringfence top 1 by rate limit one | sed 1d)" '192.0.2.78 one       10   6000       0          0 6000 burst 6k, 1/10m' \
	'top by rate prints the rate of each source'
matches "$(ringfence top 1 by rate limit two within 192.0.2.78 | sed 1d)" \
	'192.0.2.78 two +[0-9.]+bit +6000 +0 +0 +[0-9.]+k? 10M/1h bytes' \
	'top by rate prints the rate of a limit in bytes in bits'
is "$(ringfence top 1 by rate limit one --json dev "${port[0]}" | jq '.sources[0].used_per_s')" 10 \
	'top --json has the rate of each source'
ringfence limit del one
ringfence limit del two
is "$(ringfence top | unwrapped | tail -n 1)" "no source has a window, since there is no limit; 'ringfence limit add probe \
rate 50k/1s shadow' drops nothing, and shows the sources" 'top without a limit says how sources can be seen'

# ---- an attach that was not confirmed ----

ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" confirm 1s >"$scratch/log"
ringfence deny add 203.0.113.0/24 >"$scratch/log" 2>&1
sleep 1.2
says 'an attach that was not confirmed' 203.0.113.1 '' passed \
	'passes, as everything does: the attach was not confirmed' 'passes unconfirmed null null 0'
ringfence detach "${port[0]}" >"$scratch/log"

done_testing
