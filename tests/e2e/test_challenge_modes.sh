#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Challenges in modes of a fence: shadow limits, pause, unconfirmed changes, and generic mode; and packets
# that are not for this host, while the server listens on wildcard addresses.
#
#   outside              inside                  behind
#   out0  -- wire 0 ---  router, server  ------  198.51.100.2, fd02::2: another listener

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

declare -A behind=([4]=198.51.100.2 [6]=fd02::2)

make_network 1
silence_outside
connect_servers 0
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
catch_responses
start_web_server ''
start_dns_server

# sends NAME FAMILY PROTO ADDRESS WANT [MAC]: how forged SYNs or queries to the address are counted.
sends() {
	local dport=80 name before=() counts=() mac=$servers_mac

	[ "$3" = syn ] || dport=53
	for name in challenged newcomer_drop "${6-newcomer_pass}"; do
		before+=("$(reason "$name")")
	done
	servers_mac=${7-$mac} send_forged 3m "${forged[$2]},dst=$4,proto=$3,dport=$dport,count=$frames_each"
	servers_mac=$mac
	settle
	for name in challenged newcomer_drop "${6-newcomer_pass}"; do
		counts+=("$(since "$name" "${before[${#counts[@]}]}")")
	done
	is "${counts[*]}" "$5" "$1: IPv$2, $3"
}

# for_all NAME WANT [REASON]: the same for SYNs over IPv4 and queries over IPv6, to the server.
for_all() {
	sends "$1" 4 syn "${server[4]}" "${@:2}"
	sends "$1" 6 udp "${server[6]}" "${@:2}"
}

all="$frames_each 0 0" none="0 $frames_each 0" passed="0 0 $frames_each"

# ---- shadow limits ----

ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
rules <<-'END'
	limit add any rate 100k/1s shadow
	newcomers rate 1/1h then challenge
END
send_forged 3m "${forged[4]},dst=${server[4]},proto=tcp,dport=9,count=$frames_each"
settle
for_all 'packets that match only shadow limits pass' "$passed"

# ---- pause, confirm ----

exhaust_guard challenge
for_all 'newcomers over the rate are challenged' "$all"
ringfence pause for 1h >"$scratch/log"
for_all 'while the fence is paused, they pass' "$passed" paused
read_caught truncated
truncated=$frames
forge 4 udp 53 paused
read_caught truncated
is "$frames" "$truncated" 'and the fence sends no response'
ringfence resume >"$scratch/log"
for_all 'after resume they are challenged' "$all"

ringfence save | sed 's/ then .*/ then drop/' >"$scratch/drop"
ringfence apply "$scratch/drop" confirm 1h >"$scratch/log"
for_all 'unconfirmed rules without challenges are enforced' "$none"
ringfence revert >"$scratch/log"
exhaust_guard challenge
for_all 'after revert they are challenged' "$all"

ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" confirm 1h >"$scratch/log"
exhaust_guard challenge
for_all 'an unconfirmed fence challenges' "$all"
ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" confirm 5s >"$scratch/log"
exhaust_guard challenge
is_unconfirmed() {
	local before

	before=$(reason unconfirmed)
	send_forged 3m "${forged[4]},dst=${server[4]},proto=syn,dport=80,count=1"
	settle
	counts_more unconfirmed 1 "$before"
}
eventually is_unconfirmed
for_all 'a fence that was not confirmed passes all' "$passed" unconfirmed
ringfence detach "${port[0]}" >"$scratch/log"

# ---- generic mode ----

ringfence attach "${port[0]}" mode generic >"$scratch/log"
exhaust_guard challenge
for_all 'in generic mode, newcomers are challenged' "$all"
for family in 4 6; do
	gets "$family" 80 page "$clients of $clients" 'in generic mode, new clients get their page' 180
	gets "$family" 53 query "$clients of $clients" 'in generic mode, new clients get their answer' 180
done
ringfence detach "${port[0]}" >"$scratch/log"

# ---- packets for other hosts ----

ringfence attach "${port[0]}" >"$scratch/log"
exhaust_guard challenge
for family in 4 6; do
	sends 'a frame to another host is dropped' "$family" syn "${server[$family]}" "$none" newcomer_pass 02:00:00:00:09:09
done
add_namespace behind
ip link add in1 netns "rf-test-$$-inside" type veth peer name behind0 netns "rf-test-$$-behind" || bail 'cannot add a wire'
within behind sh -ec "for setting in all lo behind0; do echo 0 >/proc/sys/net/ipv6/conf/\$setting/disable_ipv6; done
	ip link set behind0 up
	ip address add 198.51.100.2/24 dev behind0
	ip address add fd02::2/64 dev behind0 nodad
	ip route add default via 198.51.100.1
	ip -6 route add default via fd02::1"
inside sh -ec "echo 0 >/proc/sys/net/ipv6/conf/in1/disable_ipv6
	ip link set in1 up
	ip address add 198.51.100.1/24 dev in1
	ip address add fd02::1/64 dev in1 nodad
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"
start behind tests/e2e/clients.py serve 80 1
is_listening() {
	[ -n "$(within behind ss -Htnl)" ]
}
eventually is_listening
for family in 4 6; do
	sends 'a packet to a host behind this one is dropped' "$family" syn "${behind[$family]}" "$none"
	sends 'a router is challenged for' "$family" syn "${server[$family]}" "$all"
	is "$(outside timeout 1 tests/e2e/clients.py get "${behind[$family]}" 80 "$(nth_client "$family" 1)" 5)" '' \
		"a new client of the host behind gets no connection: IPv$family"
done
ringfence newcomers off >"$scratch/log"
for family in 4 6; do
	is "$(outside tests/e2e/clients.py get "${behind[$family]}" 80 "$(nth_client "$family" 1)" 5)" ok \
		"newcomers off: it does: IPv$family"
done

done_testing
