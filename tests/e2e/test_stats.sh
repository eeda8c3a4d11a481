#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# stats reset, stats total, stats watch: the readers' view of counters that continue.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
require "$newer"

make_network 2
dev=${port[0]}

counts() { # WORDS of stats
	ringfence stats "$@" --json dev "$dev" | jq -r '[.packets.passed, .packets.dropped, .packets.would_drop,
		(.limits[] | .passed, .dropped, .would_drop)] | join(" ")'
}

ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 10/1h
ringfence limit add probe rate 4/1h shadow

# ---- reset ----

deliver 0 src=192.0.2.1,count=20
is "$(counts), $(counts total)" '10 10 6 10 10 0 4 0 6, 10 10 6 10 10 0 4 0 6' \
	'before a reset stats and stats total say the same'
is "$(ringfence stats --json dev "$dev" | jq .reset)" null 'before a reset the time of the reset is null'
began=$(date +%s)
does 'stats reset says what it did' "fence $dev: counters start at 0; 'ringfence stats total' prints the totals" \
	ringfence stats reset
is "$(counts), $(counts total)" '0 0 0 0 0 0 0 0 0, 10 10 6 10 10 0 4 0 6' \
	'after a reset stats begins at 0, and stats total goes on'
deliver 0 src=192.0.2.1,count=3 src=192.0.2.2,count=12
is "$(counts), $(counts total)" '10 5 6 10 5 0 4 0 6, 20 15 12 20 15 0 8 0 12' \
	'after a reset stats counts what came since, also of limits'
is "$(ringfence stats total --json dev "$dev" | command jq -c .packets)" '{"passed":20,"dropped":15,"would_drop":12}' \
	'stats total --json counts since the attach'
at=$(ringfence stats --json dev "$dev" | jq -r '.reset[:19] + "Z" | fromdate')
check 'stats --json has the time of the reset' test "$at" -ge "$began" -a "$at" -le "$(date +%s)"
matches "$(ringfence stats | sed -n 2p)" 'since [-0-9]{10} [0-9:]{8} \(reset\)' 'stats says since when it counts'
is "$(ringfence stats total | grep -c '(reset)')" 0 'stats total has no reset'
matches "$(ringfence status dev "$dev" | grep '^windows of IPv4')" 'windows of IPv4: 4 of .*' \
	'status still knows how many windows there are'
is "$(ringfence top 1 | awk 'NR == 2 { print $1, $3, $4 }')" '192.0.2.1 10 13' 'a reset keeps the counters of sources'

ringfence limit del probe
ringfence limit add fresh rate 4/1h shadow
deliver 0 src=192.0.2.3,count=5
is "$(ringfence stats --json dev "$dev" | jq -c '.limits[1] | [.name, .passed, .would_drop]')" '["fresh",4,1]' \
	'a limit that is added after a reset has nothing subtracted'
use "$newer"
does 'an upgrade in place succeeds' "$dev: upgraded in place, fence '$dev'; windows and counters are preserved" \
	ringfence attach "$dev"
is "$(counts | cut -d' ' -f1-2)" '15 5' 'an upgrade in place keeps the reset'
use "$shipped"
matches "$(describe inside setpriv --reuid 65534 --regid 65534 --clear-groups build/ringfence stats reset dev "$dev")" \
	$'exit 1\n\nstderr: ringfence: .*' 'stats reset takes the privilege to change the fence'
is "$(counts | cut -d' ' -f1-2)" '15 5' 'a refused reset changes nothing'
ringfence detach "$dev" >"$scratch/log"
ringfence attach "$dev" >"$scratch/log"
is "$(ringfence stats --json dev "$dev" | jq .reset)" null 'the reset ends with its fence'

# ---- words ----

is "$(ringfence completion words -- stats watch reasons '' | cut -f1 | grep -c '^watch$\|^reasons$')" 0 \
	'the completion knows that reasons is no number of seconds'

# ---- watch ----

has_lines() { # NUMBER
	[ "$(wc -l <"$scratch/watched")" -ge "$1" ]
}

flood() {
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.7,count=2000 >/dev/null
}

ringfence attach "${port[1]}" >"$scratch/log"
ringfence limit add probe rate 10/1h shadow dev "$dev"
ringfence deny add 192.0.2.7 dev "$dev"
start inside build/ringfence stats watch --json dev "$dev" >"$scratch/watched"
eventually has_lines 1 # what comes from now on is in later ones
flood
eventually has_lines $(($(wc -l <"$scratch/watched") + 2))
stop INT "$started_pid"
is "$(jq -s '[.[] | .rates.packets.dropped * .seconds] | add | round' "$scratch/watched")" 2000 \
	'stats watch --json: rates times seconds are the packets'
is "$(jq -s '[.[] | .rates.reasons.denied * .seconds] | add | round' "$scratch/watched")" 2000 \
	'stats watch --json has the rate of each reason'
is "$(jq -s '[.[] | .rates.bits.dropped * .seconds] | add | round' "$scratch/watched")" \
	"$(($(stats 0 .bytes.dropped) * 8))" 'stats watch --json: rates in bits'
matches "$(head -n 1 "$scratch/watched" | jq -r .time)" '[-0-9]{10}T[0-9:]{8}\.[0-9]{3}Z' \
	'stats watch --json has the time of each line'
ringfence deny del 192.0.2.7 dev "$dev"
start inside build/ringfence stats watch reasons dev "$dev" >"$scratch/watched"
eventually has_lines 2
flood
eventually grep -q 'over a shadow limit' "$scratch/watched"
stop INT "$started_pid"
is "$(awk '$1 ~ /^[0-9]/ && $4 > 100 { print "yes" }' "$scratch/watched" | sort -u)" yes 'stats watch has what shadow limits would drop'
matches "$(grep -m1 'over a shadow limit' "$scratch/watched")" '  passed: over a shadow limit +[0-9]+/s' \
	'stats watch reasons has a line for each reason'
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/stderr"
eventually has_lines 6
is "$(sed -n '2p;3p' "$scratch/watched" | awk '{ print $1 }')" "$dev
${port[1]}" 'stats watch of several fences has a line for each'
is "$(sed -nE '/^.{81}/p' "$scratch/watched")" '' 'stats watch of several fences fits into 80 columns'
ringfence detach "${port[1]}" >"$scratch/log"
eventually test -s "$scratch/stderr"
is "$(<"$scratch/stderr")" "ringfence: fence '${port[1]}': it was detached; 'ringfence attach IF' attaches one" \
	'stats watch names a fence that was detached, and goes on'
stop INT "$started_pid"
is $? 0 'stats watch goes on with the other fence'

# ---- windows that newcomers share, in top ----

ringfence apply - dev "$dev" >"$scratch/log" <<-'END'
	limit add any rate 100/1h
	newcomers rate 1/1h then aggregate
END
deliver 0 src=203.0.113.1,sources=50,count=50 src=2001:db8:7::1,count=9
is "$(ringfence top --json dev "$dev" | jq -r '.sources[] | select(.aggregate) |
	"\(.source) \(.limit) \(.passed) \(.used)"' | sort)" $'2001:db8:7::/48 any 9 9\n203.0.113.0/24 any 49 49' \
	'top --json has the networks of newcomers over the newcomers rate'
matches "$(ringfence top within 203.0.113.0/24 | grep shared)" '203.0.113.0/24 any +49 +0 +0 +49 100/1h, shared' \
	'top marks a window that newcomers share'
ringfence apply - dev "$dev" >"$scratch/log" <<-'END'
	limit add dns-partner rate 20k/10s
	newcomers rate 1/1h then aggregate
END
deliver 0 src=203.0.113.1,sources=50,count=50 src=2001:db8:1234:5678::1,count=9
is "$(ringfence top | grep -c 'dns-partner .*20k/10s')" 3 \
	'top keeps a row with a long name and a window that newcomers share in one line'
ringfence apply - dev "$dev" >"$scratch/log" <<-'END'
	limit add any rate 100/1h
	newcomers rate 1/1h then aggregate
END
deliver 0 src=203.0.113.1,sources=50,count=50
is "$(ringfence top within 203.0.113.0/24 | grep -c '^203')" 2 'top lists the newcomer with a window as well'

done_testing
