#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# New clients of a web server and of a DNS server, while the guard on newcomers has admitted all that
# it can: real TCP connections and real servers, next to frames from forged sources.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

syn_length=58 # bytes, of a forged SYN over IPv4, with one option
patience=180 # s, of clients that must succeed

make_network 1
connect_servers 0
catch_responses
start_web_server ''
start_dns_server
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

# All that the guard admits in an hour is used up.
guard() { # THEN…
	rules <<-END
		limit add any rate 100k/1s
		newcomers rate 1/1h then $*
	END
	visit 4 80 page
}

all="$clients of $clients"
for family in 4 6; do
	gets "$family" 80 page "$all" "without rules, new clients get their page" "$patience"
	gets "$family" 53 query "$all" "without rules, new clients get their answer" "$patience"
done

guard drop
for family in 4 6; do
	gets "$family" 80 page "0 of $clients" "then drop: newcomers over the rate get no page"
	gets "$family" 53 query "0 of $clients" "then drop: newcomers over the rate get no answer"
	check "then drop: forged SYNs are dropped: IPv$family" forge "$family" syn 80 newcomer_drop
	check "then drop: forged queries are dropped: IPv$family" forge "$family" udp 53 newcomer_drop
done
read_caught synack
is "$frames" 0 "then drop: no forged SYN is answered"
read_caught other
is "$frames" 0 "then drop: no forged query is answered"

# The guard admits half of these sources; then as many can prove their address.
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
rules <<-END
	limit add any rate 100k/1s
	newcomers rate 500/1h then challenge
END
before=$(reason challenged)
send_forged 3m "${forged[4]},dst=${server[4]},proto=syn,dport=80,count=$frames_each"
check "then challenge: forged SYNs over the rate are answered" eventually counts_more challenged 400 "$before"
read_caught synack
check "then challenge: no response is longer than the SYN" test "$longest" -le "$syn_length"
for family in 4 6; do
	gets "$family" 80 page "$all" "then challenge: new clients get their page" "$patience"
	gets "$family" 53 query "$all" "then challenge: new clients get their answer" "$patience"
done
is "$(reason proven)" $((4 * clients)) "then challenge: each new client has proved its address"

done_testing
