#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Neighbours on a link, with real IPv6 stacks. All of them send from fe80::/64: a noisy one uses up
# its own limit, and the router's packets continue to pass. The same in every command that shows
# sources.
#
#   router  fe80::1   --\
#                         bridge (outside) --- wire 0 ---  ${port[0]} (inside), fe80::beef
#   noisy   fe80::bad --/
#
# Limits have windows of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

here=fe80::beef

# address NAMESPACE DEVICE ADDRESS: the device's only IPv6 address.
address() {
	# shellcheck disable=SC2016 # for the inner shell
	within "$1" sh -euc 'ip link set dev "$0" addrgenmode none
		echo 0 >"/proc/sys/net/ipv6/conf/$0/disable_ipv6"
		ip address add "$1/64" dev "$0" nodad
		ip link set "$0" up' "$2" "$3" || bail "cannot give $2 the address $3"
}

# add_neighbour NAME ADDRESS: a namespace with a port of the bridge.
add_neighbour() {
	add_namespace "$1"
	outside ip link add "to-$1" type veth peer name nic netns "rf-test-$$-$1" || bail "cannot reach $1"
	outside ip link set "to-$1" master bridge up
	address "$1" nic "$2"
}

# talk NAME COUNT: COUNT datagrams from a neighbour to the host's port of DHCPv6 servers.
talk() {
	within "$1" python3 - "$here" "$2" <<-'END'
		import socket, sys
		to = (sys.argv[1], 547, 0, socket.if_nametoindex("nic"))
		udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
		for _ in range(int(sys.argv[2])):
		    udp.sendto(b"x", to)
	END
	eventually has_seen "$1" "$2" || fail "all datagrams from $1 were counted"
}

# Writes the source of each datagram that the host receives.
listen() {
	start inside python3 -u -c 'import socket
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.bind(("::", 547))
print("ready")
while True:
    print(udp.recvfrom(64)[1][0].split("%")[0])' >"$scratch/heard"
	eventually grep -q ready "$scratch/heard"
}

declare -A address_of=([router]=fe80::1 [noisy]=fe80::bad) told=()

# "PASSED DROPPED" of a neighbour, as `top` has it.
row_of() { # NAME
	ringfence top --json dev "${port[0]}" | jq -r --arg source "${address_of[$1]}" '[.sources[] | select(.source == $source)] |
		"\(map(.passed) | add // 0) \(map(.dropped) | add // 0)"'
}

# has_seen NAME MORE: since the rules were set.
has_seen() {
	local passed dropped

	read -r passed dropped <<<"$(row_of "$1")"
	[ $((passed + dropped)) -ge "$((${told[$1]-0} + $2))" ] || return 1
	told[$1]=$((passed + dropped))
}

heard() { # NAME
	grep -cx "${address_of[$1]}" "$scratch/heard"
}

# hears NAME COUNT TEXT: the last datagram that passed can still be in flight.
hears() {
	eventually test "$(heard "$1")" -ge "$2"
	is "$(heard "$1")" "$2" "$3"
}

rules() {
	ringfence apply - >"$scratch/log" 2>&1 || bail "cannot apply: $(<"$scratch/log")"
	told=()
}

make_network 1
outside ip link add bridge type bridge mcast_snooping 0 || bail 'cannot make a bridge'
outside ip link set out0 master bridge
outside ip link set bridge up
address inside "${port[0]}" "$here"
add_neighbour router fe80::1
add_neighbour noisy fe80::bad
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
listen

# ---- one window for each neighbour ----

rules <<-'END'
	limit add udp rate 10/1h exact match udp
END
talk noisy 40
talk router 6
hears noisy 10 'a noisy neighbour passes what the limit allows'
hears router 6 'and its router loses nothing'
is "$(row_of noisy), $(row_of router)" '10 30, 6 0' 'top has a row for each neighbour'
matches "$(ringfence show fe80::bad | head -n 1)" \
	"fe80::bad: packets that limit 'udp' matches are dropped; .*" 'show says so of the noisy one'
is "$(ringfence show fe80::1 | head -n 1)" 'fe80::1: passes' 'show says that the router passes'
is "$(ringfence show fe80::/64 --json | jq -c '[.windows[].source] | sort')" '["fe80::1","fe80::bad"]' \
	'show of fe80::/64 lists the neighbours'

# ---- bans ----

rules <<-'END'
	limit add udp rate 10/1h exact match udp ban 1h
END
talk noisy 40
talk router 6
is "$(ringfence bans --json | jq -r '.bans[].source')" fe80::bad 'a ban is of one neighbour'
hears router 12 'and its router loses nothing by a ban'
ringfence unban fe80::bad >"$scratch/log"
is "$(ringfence bans --json | jq -r '.bans | length')" 0 'unban ends the ban of a neighbour'

# ---- one window for all ----

rules <<-'END'
	limit add all-udp rate 10/1h exact per6 /0 match udp
END
address_of[router]=::/0 address_of[noisy]=::/0
talk noisy 40
told=([router]=40)
talk router 6
is "$(row_of router)" '10 36' 'with per6 /0 all share one window'

# ---- clients without an address ----

rules <<-'END'
	limit add any rate 4/1h exact
	limit add unnumbered rate 12/1h exact from 0.0.0.0
END
deliver 0 src=0.0.0.0,dport=67,count=20
is "$(sum "$received" | cut -d' ' -f1)" 12 'a limit with from 0.0.0.0 applies to clients without an address'
deliver 0 src=192.0.2.1,dport=67,count=20
is "$(sum "$received" | cut -d' ' -f1)" 4 'and to no other source'

done_testing
