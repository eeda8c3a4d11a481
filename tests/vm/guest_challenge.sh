#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Challenges to newcomers, sent by the drivers of network cards: new clients of real servers get
# their page and their DNS answer although the guard has admitted all that it can, over IPv4 and
# IPv6, and in a VLAN.
#
#   outside                              inside
#   out3  ---- virtio, the host ------>  ${port[3]}, virtio_net with four queues
#   out5  ---------- hub 5 ----------->  ${port[5]}, igb
#   out6  ---------- hub 6 ----------->  ${port[6]}, vmxnet3
#   out7  ---------- hub 7 ----------->  ${port[7]}, e1000e, in generic mode
#
# Lines with the prefix "# card" are printed in a table of docs/kernels.md.

RF_PRIVATE_MOUNTS=made # the guest needs no private mounts
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh
# shellcheck source=tests/vm/cards.sh
source tests/vm/cards.sh

vlan=7
clients=10
patience=180 # s, of clients that must succeed
all="$clients of $clients"

# fact COLUMN TEXT
fact() {
	echo "# card $card | $1 | $2"
}

is_up() { # NAMESPACE IF
	within "$1" ip link show dev "$2" | grep -q LOWER_UP
}

wait_for_link() {
	eventually is_up inside "${port[$servers_wire]}" && eventually is_up outside "out$servers_wire"
}

attach() {
	local name=${port[$servers_wire]}

	mode=native
	case $card-$(uname -r) in
	e1000e-* | vmxnet3-6.1.*) mode=generic ;;
	esac
	ringfence attach "$name" mode $mode >"$scratch/log" 2>&1 || bail "$card: cannot attach: $(<"$scratch/log")"
	wait_for_link
	fact mode $mode
}

# Newcomers succeed if and only if they are challenged.
challenges() { # NAME
	local family challenged proven

	exhaust_guard drop
	gets 4 80 page "0 of $clients" "$card: $1: then drop: new clients get no page"
	gets 4 53 query "0 of $clients" "$card: $1: then drop: new clients get no answer"
	exhaust_guard challenge
	challenged=$(reason challenged) proven=$(reason proven)
	for family in 4 6; do
		gets $family 80 page "$all" "$card: $1: then challenge: new clients get their page" $patience
		gets $family 53 query "$all" "$card: $1: then challenge: new clients get their answer" $patience
	done
	check "$card: $1: their SYNs and queries were answered" counts_more challenged $((6 * clients)) "$challenged"
	is $(($(reason proven) - proven)) $((4 * clients)) "$card: $1: each of them has proved its address"
}

# In generic mode, the kernel remembers the tag and sends the answer with it.
hides_tags() {
	[ $mode = native ] && inside ethtool -k "${port[$servers_wire]}" | grep -q '^rx-vlan-offload: on'
}

# Only the VLAN device forwards packets. Those for other hosts are not answered, although the web
# server listens on any address.
forwards_in_vlan() {
	local own=${server[4]}

	within inside sh -c "echo 1 >/proc/sys/net/ipv4/conf/${port[$servers_wire]}.$vlan/forwarding"
	exhaust_guard challenge
	server[4]=198.51.100.9
	gets 4 80 page "0 of $clients" "$card: in a VLAN that is forwarded: new clients of another host get no page"
	is "$(jq .connected <<<"$visited")" 0 "$card: in a VLAN that is forwarded: nor a connection"
	server[4]=$own
}

# If a card removes tags, the program does not see them, and its answers lack them.
in_vlan() {
	local wire=$servers_wire found=yes

	outside ip link add link "out$wire" name "out$wire.$vlan" type vlan id $vlan
	inside ip link add link "${port[$wire]}" name "${port[$wire]}.$vlan" type vlan id $vlan
	outside ip link set "out$wire.$vlan" up
	inside ip link set "${port[$wire]}.$vlan" up
	connect_servers "$wire" $vlan
	# Clients accept no answer without the tag.
	within outside sh -c "echo 1 >/proc/sys/net/ipv4/conf/out$wire/rp_filter
		echo 1 >/proc/sys/net/ipv6/conf/out$wire/disable_ipv6"
	if hides_tags; then
		found='only with rx-vlan-offload off'
		exhaust_guard challenge
		gets 4 80 page "0 of $clients" "$card: in a VLAN, whose tag the card removes: new clients get no page"
		inside ethtool -K "${port[$wire]}" rxvlan off >"$scratch/log"
		wait_for_link
	fi
	challenges 'in a VLAN'
	fact VLAN "$found"
	[ "$card" != virtio_net ] || forwards_in_vlan
	disconnect_servers $vlan
}

test_card() { # WIRE CARD
	card=$2
	echo "# after $SECONDS s: $card"
	port[$1]=${run}p$1
	move_nic "02:00:00:00:0$1:01" outside "out$1"
	move_nic "02:00:00:00:0$1:02" inside "${port[$1]}"
	connect_servers "$1"
	wait_for_link
	[ -n "${web_server-}" ] || start_web_server ''
	[ -n "${dns_server-}" ] || start_dns_server
	attach
	challenges 'no VLAN'
	disconnect_servers
	in_vlan
	ringfence detach "${port[$1]}" >"$scratch/log"
}

make_network 0
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies'
test_card 3 virtio_net
test_card 5 igb
test_card 6 vmxnet3
test_card 7 e1000e
echo "# after $SECONDS s: done"
done_testing
