#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# DNS clients that are newcomers over the rate: dig with NSD. After the truncated response it repeats the query over
# TCP. Only queries get a response.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

longest_query=504

make_network 1
silence_outside
connect_servers 0
within outside sh -c 'echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind' || bail 'cannot set ip_nonlocal_bind'
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
catch_responses
start_dns_server
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

# A query by the next newcomer; its output is in the file.
query() { # FAMILY [OPTION…]
	sources=$((${sources-0} + 1))
	outside dig -b "$(nth_client "$1" "$sources")" "@${server[$1]}" www.example A +tries=1 +time=5 "${@:2}" \
		>"$scratch/dig" 2>"$scratch/log"
}

# The answer and its protocol; empty: none.
answer() {
	awk '/\tA\t/ && !address { address = $5 } /^;; SERVER/ { print address, $NF; exit }' "$scratch/dig"
}

# The header and the OPT of the response, without what differs each time.
response() {
	sed -n 's/^;; flags: //p; s/^; EDNS: //p' "$scratch/dig" | xargs
}

# Sends a message of DNS from the next newcomer, from port 53, and prints the response's length.
say() { # FAMILY HEX
	sources=$((${sources-0} + 1))
	outside python3 - "$(nth_client "$1" "$sources")" "${server[$1]}" "$2" <<-'END'
		import socket
		import sys
		source, server, message = sys.argv[1:]
		client = socket.socket(socket.AF_INET6 if ':' in server else socket.AF_INET, socket.SOCK_DGRAM)
		client.bind((source, 53))
		client.sendto(bytes.fromhex(message), (server, 53))
		client.settimeout(0.5)
		try:
		    print(client.recv(4096).hex())
		except TimeoutError:
		    print('nothing')
	END
}

exhaust_guard challenge
for family in 4 6; do
	for options in +noedns +nocookie +cookie '+cookie=0123456789abcdef0123456789abcdef' +bufsize=512 +bufsize=4096 +dnssec +nsid \
		+padding=468; do
		query "$family" "$options"
		is "$(answer)" '192.0.2.80 (TCP)' "dig $options gets its answer over TCP: IPv$family"
	done
	query "$family" +ignore +noedns
	is "$(response)" 'qr tc rd; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 0' "a query without EDNS gets a response without: IPv$family"
	query "$family" +ignore +dnssec +cookie
	is "$(response)" 'qr tc rd; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 1 version: 0, flags: do; udp: 1232' \
		"a query with a cookie gets an OPT without: IPv$family"

	before=$(reason newcomer_drop)
	query "$family" +padding=512 +time=1
	is "$(answer), $(since newcomer_drop "$before")" ', 1' "a query longer than $longest_query bytes is dropped: IPv$family"
	query "$family" +padding=512 +tcp
	is "$(answer)" '192.0.2.80 (TCP)' "over TCP it is answered: IPv$family"

	# www.example A, as a query; as a response; as the response of a fence, sent back to it.
	name=03777777076578616d706c650000010001
	asked=123401000001000000000000$name
	is "$(say "$family" "$asked")" "123483000001000000000000$name" "a query from port 53 gets a truncated response: IPv$family"
	challenged=$(reason challenged) before=$(reason newcomer_drop)
	is "$(say "$family" "123483000001000000000000$name")" nothing "such a response gets none: IPv$family"
	is "$(say "$family" "123481800001000000000000$name")" nothing "nor does another response: IPv$family"
	is "$(say "$family" "123421000001000000000000$name")" nothing "nor does a NOTIFY: IPv$family"
	is "$(since challenged "$challenged") $(since newcomer_drop "$before")" '0 3' "and they are dropped: IPv$family"

	before=$(reason challenged)
	send_forged 3m "${forged[$family]},dst=${server[$family]},proto=udp,dport=53,count=$frames_each"
	read -r _ _ sent_bytes <"$scratch/sent"
	settle
	is "$(since challenged "$before")" "$frames_each" "forged queries are answered: IPv$family"
	read_caught truncated
	check "no response is longer than the query: IPv$family" test "$longest" -le "$sent_bytes"
done

exhaust_guard 'challenge dns none'
for family in 4 6; do
	before=$(reason challenged)
	query "$family" +time=1
	is "$(answer), $(since challenged "$before")" ', 0' "dns none: a query gets no answer: IPv$family"
	query "$family" +tcp
	is "$(answer)" '192.0.2.80 (TCP)' "dns none: over TCP it does: IPv$family"
done

done_testing
