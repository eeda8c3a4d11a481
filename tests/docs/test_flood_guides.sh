#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The guides "Under a forged SYN flood" and "DNS servers and resolvers": each command runs, with its
# output, during a flood as the guide describes it; and new clients reach a web server
# and a DNS server as the guide claims.

# shellcheck disable=SC2016,SC2034,SC2119,SC2317 # dollars for others; examples.sh reads and calls the rest
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh
# shellcheck source=tests/docs/examples.sh
source tests/docs/examples.sh

port=([0]=eth0)
tree=$PWD
work=$scratch/work
patience=180 # s, of clients that must succeed
mkdir -p /etc/ringfence "$scratch/bin" "$work"
ln -s "$tree/build/ringfence" "$scratch/bin/ringfence"
make_network 1
connect_servers
within outside sh -c 'echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind' || bail 'cannot set ip_nonlocal_bind'
catch_responses
start_web_server ''
start_dns_server
start inside build/ringfence-watch sources full listen off journal off >"$scratch/watch" 2>&1

flood() { # PROTO DPORT
	[ -z "${flood_pid-}" ] || stop TERM "$flood_pid"
	start outside build/tests/traffic send dev out0 to "$servers_mac" \
		flow "${forged[4]},dst=${server[4]},proto=$1,dport=$2,count=4000000000,rate=30000" >"$scratch/sent" 2>&1
	flood_pid=$started_pid
}

# Visits until a client has proved its address: the guard admits some without a challenge.
all_succeed_with_proofs() {
	visit 4 80 page "$patience"
	result="$(jq .succeeded <<<"$visited") of $clients"
	[ "$result" != "$clients of $clients" ] || counts_more proven 1 0
}

# The address that a new client of the DNS server receives for each of two queries, and the protocol.
ask_twice() {
	for _ in 1 2; do
		outside dig -b "10.80.$resolvers.1" "@${server[4]}" www.example A +tries=1 +time=10 +noall +answer +stats \
			2>"$scratch/log" | awk '/\tA\t/ { address = $5 } /^;; SERVER/ { print address, $NF }'
	done | xargs
}

# A resolver can be admitted by the guard, without a challenge.
proves_by_tcp() {
	resolvers=$((${resolvers-0} + 1))
	result=$(ask_twice)
	[ "$result" = '192.0.2.80 (TCP) 192.0.2.80 (UDP)' ]
}

after_example() { # COMMAND
	[[ $1 == *'then challenge' ]] || return
	if [ "$document" = docs/guides/dns.md ]; then
		check 'a new resolver asks over TCP once, and then gets its answers over UDP' eventually proves_by_tcp
	else
		eventually all_succeed_with_proofs
		is "$result" "$clients of $clients" 'new clients get their page during the flood'
	fi
}

flood syn 80
for document in docs/guides/forged-floods.md docs/guides/dns.md; do
	[ "$document" != docs/guides/dns.md ] || flood udp 53
	run_document "$document"
	is "$(inside sysctl -n net.ipv4.tcp_syncookies) $(find /etc/sysctl.d -name '*ringfence*')" '1 ' \
		"after $document, SYN cookies are as before"
done
take_off
done_testing
