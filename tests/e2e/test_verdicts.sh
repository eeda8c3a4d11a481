#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of the daemon and `show` agree about a source, for every kind of verdict: there is a
# source of each kind here, and both documents are compared.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#
# Limits have windows of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
mkdir -p /etc/ringfence /run/ringfence && rm -f /etc/ringfence/*
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
inside ip link set lo up
here=${port[0]}

ask() { # SOURCE: the page's document; no two queries are the same, or the first reply would be used for both
	local now
	now=$(date +%s%3N)
	inside curl -m 180 -s -H "Authorization: Bearer $token" \
		"http://127.0.0.1:9436/api/source?from=$((now - 60000))&to=$now&source=$1"
}

# What both documents have: a time that depends on the moment becomes T.
common() {
	command jq -S 'walk(if type == "object" then with_entries(
			if (.key | test("_ms$")) and .key != "window_ms" and .value != null and .value != 0
			then .value = "T" else . end) else . end) |
		(.summary |= gsub("(?<in>in|another|last) [0-9.]+(ms|s|m|h|d)( [0-9]+[a-z]+)?"; .in + " T"))'
}

# agrees NAME SOURCE VERDICT-KIND [SUMMARY]
agrees() {
	for _ in 1 2 3; do # a cell can expire between the two
		ringfence show "$2" --json | jq 'del(.schema)' | common >"$scratch/shown"
		ask "$2" >"$scratch/answer"
		jq .now "$scratch/answer" | common >"$scratch/page"
		cmp -s "$scratch/shown" "$scratch/page" && break
	done
	is "$(jq -r '"\(.verdict) \(.by.kind)"' "$scratch/shown")" "$3" "$1: the verdict"
	is "$(diff "$scratch/shown" "$scratch/page" && cat "$scratch/page")" "$(<"$scratch/shown")" \
		"$1: the page has the document of show"
	is "$(jq -r .summary "$scratch/page")" "$(ringfence show "$2" | unwrapped | head -n "$(jq -r .summary "$scratch/page" | wc -l)" |
		sed -E 's/(in|another|last) [0-9.]+(ms|s|m|h|d)( [0-9]+[a-z]+)?/\1 T/g')" "$1: and its words"
}

is_seen() { # the daemon has read the fence that is attached
	[ "$(ask 192.0.2.250 | jq '.now != null and (.error | not)')" = true ]
}

attach() { # WORDS
	ringfence attach "$here" "$@" >"$scratch/log" 2>&1 || bail "cannot attach: $(<"$scratch/log")"
	eventually is_seen || bail 'the daemon does not find the fence'
}

start inside build/ringfence-watch events file off journal off history off sources full >"$scratch/daemon" 2>&1
daemon_pid=$started_pid
eventually grep -q '^serving' "$scratch/daemon" || bail "the daemon does not start: $(<"$scratch/daemon")"
token=$(sed 1q /run/ringfence-watch/token)

# ---- lists and windows ----

attach fleet
agrees 'without rules' 192.0.2.1 'passes null'
rules <<-'END'
	limit add any rate 10/1h exact
	limit add dns rate 4/1h exact match udp dport 53
	limit add net rate 8/1h exact per /24 shadow
	limit add six rate 3/1h exact per6 /128 from 2001:db8:6::/48
	deny add 203.0.113.0/24
	deny add 203.0.114.0/24 for 1h
	allow add 198.51.100.0/24
	allow add 203.0.113.128/25 for 1h
END
agrees 'a source without a window' 192.0.2.1 'passes null'
deliver 0 src=192.0.2.1,count=3
agrees 'under its limits' 192.0.2.1 'passes null'
deliver 0 src=192.0.2.1,dport=53,count=6
agrees 'over a limit of some packets' 192.0.2.1 'partly limit'
deliver 0 src=192.0.2.1,count=20
agrees 'over a limit' 192.0.2.1 'dropped limit'
agrees 'a shadow limit would drop' 192.0.2.2 'passes null'
deliver 0 src=203.0.113.5,count=1 src=203.0.114.5,count=1
agrees 'denied' 203.0.113.5 'dropped deny'
agrees 'denied for a time' 203.0.114.5 'dropped deny'
agrees 'allowed' 198.51.100.1 'passes allow'
agrees 'allowed for a time within a denied network' 203.0.113.129 'passes allow'
deliver 0 src=2001:db8:5::1,count=20
agrees 'an IPv6 address over its limit' 2001:db8:5::1 'dropped limit'
is "$(ask 2001:db8:5::/64 | jq -r '.now | "\(.verdict) \(.by.limit) \(.source)"')" 'dropped any 2001:db8:5::/64' \
	'the page judges an IPv6 source by its /64'
deliver 0 src=2001:db8:6::1,count=2
is "$(ask 2001:db8:6::/64 | jq -r '.now | "\(.verdict) \(.summary)"')" \
	"depends 2001:db8:6::/64: whether a packet passes depends on its address: limit 'six' counts parts of this network" \
	'and says which limit counts its addresses apart'

rules <<-'END'
	limit add web rate 4/1h exact
END
deliver 0 src=192.0.2.7,count=10
ringfence limit change web rate 400/1h >"$scratch/log"
same_documents() { # SOURCE: once the scan that saw its packets is not the last one
	[ "$(ringfence show "$1" --json | jq 'del(.schema)' | common)" = "$(ask "$1" | jq .now | common)" ]
}
is_limited() { # SOURCE
	[ "$(ask "$1" | jq -c '.now.limits[0] | [.dropped, .recent.dropped]')" = '[6,0]' ]
}
check 'the page has what was dropped before' eventually is_limited 192.0.2.7
check 'packets were dropped before: the page has the document of show' eventually same_documents 192.0.2.7

# ---- bans ----

rules <<-'END'
	limit add any rate 10/1h exact ban 2h
	limit add tcp rate 4/1h exact match tcp ban 3h all
	limit add syn rate 2/1h exact match tcp syn ban 4h
END
deliver 0 src=192.0.2.1,count=20
agrees 'banned' 192.0.2.1 'dropped ban'
deliver 0 src=192.0.2.2,count=9,proto=tcp
agrees 'banned from everything' 192.0.2.2 'dropped ban'
deliver 0 src=192.0.2.3,count=3,proto=syn
agrees 'some packets are banned' 192.0.2.3 'partly ban'

# ---- the fleet's share of a host ----

rules <<-'END'
	fleet hosts 3
	limit add any rate 100/1h fleet exact initial 7 offline initial
END
deliver 0 src=192.0.2.4,count=9
is "$(ringfence show 192.0.2.4 --json | jq -c '.limits[0] | [.used, .rate, .remaining]')" '[7,100,7]' 'a source has used what its host may give, and not COUNT'
agrees 'what a host may have of the fleet is used up' 192.0.2.4 'dropped limit'

# ---- newcomers ----

newcomers() { # THEN
	rules <<-END
		limit add any rate 10/1h exact
		newcomers rate 5/1h then $1
	END
	deliver 0 "src=$2,sources=40,count=40"
}

newcomers drop 10.1.1.0
agrees 'a newcomer is refused' 10.9.0.1 'dropped newcomers'
newcomers pass 10.2.1.0
agrees 'a newcomer passes without a limit' 10.9.0.2 'passes newcomers'
newcomers aggregate 10.3.1.0
agrees 'a newcomer shares the window of its network' 10.9.0.3 'depends newcomers'
is "$(ask 10.9.0.0/24 | jq -r .now.verdict)" depends 'as does the network'

# ---- an attach that was not confirmed ----

ringfence detach "$here" >"$scratch/log"
ringfence attach "$here" confirm 1s >"$scratch/log" 2>&1
ringfence deny add 203.0.113.0/24 >"$scratch/log" 2>&1
fell_open() {
	[ "$(ringfence show 203.0.113.1 --json | jq -r .by.kind)" = unconfirmed ]
}
eventually fell_open
is_seen_open() {
	[ "$(ask 203.0.113.1 | jq -r .now.by.kind)" = unconfirmed ]
}
eventually is_seen_open
agrees 'an attach that was not confirmed' 203.0.113.1 'passes unconfirmed'
ringfence detach "$here" >"$scratch/log"

stop TERM "$daemon_pid"
done_testing
