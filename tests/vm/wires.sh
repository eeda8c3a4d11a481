#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# wires.sh CMD…: runs the command in a network namespace, which is removed when it exits. The
# namespace has taps with several queues: tap0 and tap1, joined by a bridge that forwards only the
# frames that they send, and tap2 without a peer.
set -eu
PATH=$PATH:/usr/sbin:/sbin

[ -n "${RF_OWN_NAMESPACE-}" ] || RF_OWN_NAMESPACE=1 exec unshare --net "$0" "$@"

echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link add wires mtu 65521 type bridge mcast_snooping 0
ip link set wires up
for tap in tap0 tap1 tap2; do
	ip tuntap add dev $tap mode tap multi_queue vnet_hdr
	ip link set $tap mtu 65521 txqueuelen 10000 up # room for all frames that a test sends, because none may be lost here
done
ip link set tap0 master wires
ip link set tap1 master wires
exec "$@"
