#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A DNS client whose address floods a DNS server, since others forge it: with 'over truncate' it gets
# a truncated response and asks again over TCP. With dig and NSD.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

declare -A resolver=([4]=10.64.0.9 [6]=fd08::9)

make_network 1
connect_servers 0
within outside sh -c 'echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind' || bail 'cannot set ip_nonlocal_bind'
catch_responses
start_dns_server
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

# The answer and the protocol of a query by the client whose address is forged; empty: none.
ask() { # FAMILY
	outside dig -b "${resolver[$1]}" "@${server[$1]}" www.example A +tries=1 +time=1 +noall +answer +stats \
		>"$scratch/asked" 2>"$scratch/log"
	awk '/\tA\t/ { address = $5 } /^;; SERVER/ { print address, $NF; exit }' "$scratch/asked"
}

# Uses up the limit in the name of the client.
# shellcheck disable=SC2317 # called by check
flood() { # FAMILY
	local before

	before=$(reason over_limit)
	outside build/tests/traffic forge dev out0 to "$servers_mac" for 3m cpu 0 \
		flow "src=${resolver[$1]},dst=${server[$1]},proto=udp,dport=53,count=100" \
		>"$scratch/sent" 2>"$scratch/log" || bail "cannot forge: $(<"$scratch/log")"
	eventually counts_more over_limit 90 "$before"
}

fence() {
	ringfence "$@" dev "${port[0]}"
}

truncated() {
	stats 0 '.limits[] | select(.name == "dns") | .truncated'
}

rules <<-'END'
	limit add dns rate 5/1h match udp dport 53
END
for family in 4 6; do
	is "$(ask "$family")" '192.0.2.80 (UDP)' "below the limit, a client gets its answer over UDP: IPv$family"
	check "a flood uses up the limit of the client: IPv$family" flood "$family"
	is "$(ask "$family")" '' "over the limit, the client gets no answer: IPv$family"
done
rules <<-'END'
	limit add dns rate 5/1h match udp dport 53 over truncate 1/1
END
before=$(truncated)
for family in 4 6; do
	check "over truncate: the flood continues: IPv$family" flood "$family"
	is "$(ask "$family")" '192.0.2.80 (TCP)' "over truncate: the client gets its answer over TCP: IPv$family"
done
check 'stats: responses are counted for their limit' test "$(truncated)" -ge $((before + 2))
matches "$(fence stats)" '.*of the dropped: answered, truncated +[0-9]+ .*' 'stats prints the number of responses'
is "$(fence save | grep ^limit)" 'limit add dns rate 5/1h match udp dport 53 over truncate 1/1' \
	'save prints over truncate'
is "$(fence limit list --json | jq -r '.limits[0].over')" 'truncate 1/1' 'JSON has over'
fence limit change dns no over >"$scratch/log" || bail "cannot change the limit: $(<"$scratch/log")"
for family in 4 6; do
	is "$(ask "$family")" '' "no over: the client gets no answer: IPv$family"
done

done_testing
