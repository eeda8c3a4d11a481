#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every shape of traffic: tags, fragments, protocols, frames without a source, many sources, and the
# neighbour discovery and ARP of two real hosts. Every frame is accounted for.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}  crafted frames
#   out1  ---------- wire 1 ----------->  ${port[1]}  two hosts with IPv4 and IPv6
#   192.0.2.1, 2001:db8:1::1              192.0.2.2, 2001:db8:1::2
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# ---- frames in hex, as no kernel would send them ----

macs=020000000002020000000001
udp=0009000900200000a77266656e63651f$(printf '%048d' 0) # `traffic recv` knows it by the stamp

# ipv4 SOURCE PROTOCOL PAYLOAD [OPTIONS]
ipv4() {
	local options=${4-}

	printf '4%x00%04x0000000040%s0000%sc6336401%s%s' $((5 + ${#options} / 8)) \
		$(((40 + ${#options} + ${#3}) / 2)) "$2" "$1" "$options" "$3"
}

# ipv6 SOURCE NEXT_HEADER HOP_LIMIT PAYLOAD
ipv6() {
	printf '60000000%04x%s%s%s20010db8ffff00000000000000000001%s' \
		$((${#4} / 2)) "$2" "$3" "$1" "$4"
}

build_raw() {
	${CC:-cc} -O1 -o "$scratch/raw" -x c - <<-'END' || bail 'cannot compile the sender of raw frames'
		#include <linux/if_packet.h>
		#include <net/if.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/socket.h>

		/* raw IF COUNT HEX: sends that frame that many times. */
		int main(int argc, char **argv)
		{
			struct sockaddr_ll to = {.sll_family = AF_PACKET};
			int fd = socket(AF_PACKET, SOCK_RAW, 0), count = argc == 4 ? atoi(argv[2]) : 0;
			unsigned char frame[2048];
			long len = strlen(argv[3]) / 2;

			to.sll_ifindex = if_nametoindex(argv[1]);
			for (int i = 0; i < len; i++)
				sscanf(argv[3] + 2 * i, "%2hhx", &frame[i]);
			for (int i = 0; i < count; i++)
				if (sendto(fd, frame, len, 0, (void *)&to, sizeof(to)) != len) {
					perror("raw");
					return 1;
				}
			printf("sent raw %d %ld\n", count, count * len);
			return 0;
		}
	END
}

# deliver_raw COUNT HEX: sends frames; HEX follows the addresses of the frame.
deliver_raw() {
	observe 0 '' outside "$scratch/raw" out0 "$1" "$macs$2"
}

# deliver_sourceless COUNT HEX: the receiver recognizes frames by their source, so only the counters
# are checked.
deliver_sourceless() {
	local packets bytes

	deliver_raw "$@"
	read -r packets bytes <<<"$(sum "$sent")"
	received_packets=$((received_packets + packets)) received_bytes=$((received_bytes + bytes))
}

# "PACKETS BYTES"
reason() { # WIRE NAME
	stats "$1" ".reasons.$2 | \"\\(.packets) \\(.bytes)\""
}

arm() { # WIRE [WORD…]: attaches with these words, and sets a limit
	{ ringfence attach "${port[$1]}" "${@:2}" &&
		ringfence limit add any rate 100/1h exact dev "${port[$1]}"; } >"$scratch/log" 2>&1 ||
		bail "cannot make a fence: $(<"$scratch/log")"
	forget_traffic
}

make_network 2
build_raw
arm 0

# ---- one source in many shapes ----

deliver 0 src=192.0.2.1,count=60 src=192.0.2.1,count=60,vlan=5,len=100 \
	src=192.0.2.1,count=60,vlan=6,vlan=7,len=200
is "$(passed)" 100 'tagged and untagged frames of a source share one limit'
deliver 0 src=192.0.2.2,count=90,vlan=5,len=100 src=2001:db8:0:2::1,count=90,vlan=6,vlan=7,len=200
is "$received" "192.0.2.2 90 9000
2001:db8:0:2::1 90 18000" 'tagged frames under the limit pass with their tags'
deliver 0 src=192.0.2.3,count=60,frag=first src=192.0.2.3,count=60,frag=later \
	src=2001:db8:0:3::1,count=60,frag=first src=2001:db8:0:3::1,count=60,frag=later
is "$(cut -d' ' -f1,2 <<<"$received")" $'192.0.2.3 100\n2001:db8:0:3::1 100' \
	'fragments are charged to their source'
deliver 0 src=192.0.2.4,count=30,proto=udp,dport=53 src=192.0.2.4,count=30,proto=tcp,dport=443 \
	src=192.0.2.4,count=30,proto=syn,dport=22 src=192.0.2.4,count=30,proto=icmp \
	src=2001:db8:0:4::1,count=30,proto=udp src=2001:db8:0:4::1,count=30,proto=tcp \
	src=2001:db8:0:4::1,count=30,proto=syn src=2001:db8:0:4::1,count=30,proto=icmp
is "$(cut -d' ' -f1,2 <<<"$received")" $'192.0.2.4 100\n2001:db8:0:4::1 100' \
	'all protocols and ports of a source share one limit'
deliver_raw 150 "0800$(ipv4 c0000205 11 "$udp" 0101010101010100)"
is "$received" "192.0.2.5 100 8200" 'IP options do not hide the source'
deliver_raw 150 "86dd$(ipv6 20010db8000000050000000000000001 00 40 \
	"3c000104000000001100010400000000$udp")"
is "$received" "2001:db8:0:5::1 100 11000" 'extension headers do not hide the source'
conserves 0 'sent = passed + dropped for tags, fragments and options'

# ---- tags ----

# The kernel removes any number of tags of VLAN 0, and delivers the packet behind them.
tags=88a8000081000000810000008100000081000000810000008100000081000000
deliver_raw 150 "${tags::24}0800$(ipv4 c0000206 11 "$udp")"
is "$received" "192.0.2.6 100 8600" 'three tags do not hide the source'
deliver_raw 150 "${tags}0800$(ipv4 c0000206 11 "$udp")"
is "$received" '' 'eight tags do not hide the source'
deliver_raw 150 "${tags}0800$(ipv4 c0000216 11 "$udp")"
is "$received" "192.0.2.22 100 10600" 'frames with eight tags pass under the limit'
deliver_raw 150 "${tags}810000000800$(ipv4 c0000207 11 "$udp")"
is "$received $(reason 0 deep_vlan)" ' 150 16500' \
	'frames with nine tags are dropped and counted as deep_vlan'
conserves 0 'sent = passed + dropped for three to nine tags'

# ---- frames without a source to charge ----

before=$received_packets

arp=0001080006040001020000000001c000020a000000000000c0000214
deliver_sourceless 150 "0806$arp"
deliver_sourceless 5 "810000050806$arp"
deliver_sourceless 150 88cc0207040200000000010403050102060200780000 # LLDP
deliver_sourceless 5 8809010101140001                               # LACP
is "$(reason 0 non_ip)" "310 $((150 * 42 + 5 * 46 + 150 * 34 + 5 * 20))" \
	'ARP, LLDP and LACP are counted as non_ip'

cut=$(ipv4 c0000207 11 "${udp::16}")
deliver_raw 30 "0800${cut::20}"       # half a header
deliver_raw 30 "08005${cut:1}"        # version 5
deliver_raw 30 "080044${cut:2}"       # a header of 16 bytes
deliver_raw 30 "86dd${cut}"           # IPv4 with the ethertype of IPv6
deliver_raw 30 "86dd6000000000001140" # a fifth of a header
deliver_raw 30 81000005               # a tag and nothing behind it
is "$(reason 0 malformed | cut -d' ' -f1)" 180 'frames without a whole IP header are counted as malformed'
conserves 0 'sent = passed + dropped for frames that are not IP and malformed frames'
is "$((received_packets - before))" 310 'every frame that is not IP passes, and no malformed frame'

# ---- neighbour discovery ----

source6=20010db8000000090000000000000001
solicitation=0000000000000020010db8ffff00000000000000000001 # what follows the type
deliver 0 src=2001:db8:0:9::1,count=150
is "$(passed)" 100 'a source of neighbour discovery passes up to its limit'
before=$(reason 0 neighbour | cut -d' ' -f1)
for type in 85 86 87 88 89; do # 133-137
	deliver_raw 30 "86dd$(ipv6 $source6 3a ff "$type$solicitation${udp:16}")"
	is "$(passed)" 30 "ICMPv6 type $((16#$type)) of a source over its limit passes"
done
is "$(($(reason 0 neighbour | cut -d' ' -f1) - before))" 150 \
	'ICMPv6 types 133 to 137 of a source over its limit are counted as neighbour'
for type in 80 84 8a; do # echo, and the neighbours of 133-137
	deliver_raw 30 "86dd$(ipv6 $source6 3a ff "$type$solicitation${udp:16}")"
	is "$(passed)" 0 "ICMPv6 type $((16#$type)) of a source over its limit is dropped"
done
deliver_raw 30 "86dd$(ipv6 $source6 3a fe "87$solicitation${udp:16}")"
is "$(passed)" 0 'a neighbour solicitation with hop limit 254 of a source over its limit is dropped'
deliver_raw 30 "86dd$(ipv6 $source6 2c ff "3a00000000000000""87$solicitation${udp:16}")"
is "$(passed)" 0 'a neighbour solicitation with a fragment header of a source over its limit is dropped'
conserves 0 'sent = passed + dropped for neighbour discovery'

# ---- many sources ----

ringfence limit set any rate 3/1h
deliver 0 src=10.0.0.0,sources=2000,count=10000 src=2001:db8:1000::1,sources=2000,count=10000
is "$(cut -d' ' -f2 <<<"$received" | sort | uniq -c | tr -s ' ')" ' 4000 3' \
	'each of 4000 sources passes its 3 packets, and no more'
is "$(ringfence top 100000 --json dev "${port[0]}" |
	jq '[.sources[] | select(.passed == 3 and .dropped == 2)] | length')" 4000 \
		'top has a row for each of 4000 sources'
conserves 0 'sent = passed + dropped for 4000 sources'
ringfence detach "${port[0]}" >"$scratch/log"

few=$(ringfence attach "${port[0]}" sources 1 2>&1 | grep -o '[0-9]* or more')
arm 0 sources "${few% or more}"
deliver 0 src=10.0.0.0,sources=20000,count=60000
conserves 0 'sent = passed + dropped when the windows are full'
is "$(stats 0 '.reasons.map_error.packets + (.limits[0] | .passed + .dropped)')" 60000 \
	'each packet is charged or counted as map_error when the windows are full'
ringfence detach "${port[0]}" >"$scratch/log"

# ---- two hosts ----

# resolve NAMESPACE ADDRESS: removes the neighbour's entry, and sends datagrams until it is resolved
# again.
resolve() {
	local dev=out1

	[ "$1" = inside ] && dev=${port[1]}
	within "$1" ip neigh flush dev "$dev" to "$2"
	eventually is_found "$1" "$dev" "$2"
}

is_found() { # NAMESPACE DEV ADDRESS
	within "$1" bash -c "echo >/dev/udp/$3/9" 2>"$scratch/log"
	sleep 0.02
	within "$1" ip -j neigh show dev "$2" to "$3" | jq -e '.[0].lladdr' >"$scratch/log"
}

# How many frames the driver passed to the program, on the other end of the wire.
counters_agree() {
	[ "$(outside ip -j -s link show dev out1 | jq '.[0].stats64.tx.packets')" = "$(counted 1)" ]
}

outside ip link set dev out1 down
arm 1
before=$(outside ip -j -s link show dev out1 | jq '.[0].stats64.tx.packets')
ringfence limit set any rate 1/1h dev "${port[1]}"
outside sh -c 'echo 0 >/proc/sys/net/ipv6/conf/out1/disable_ipv6'
inside sh -c "echo 0 >/proc/sys/net/ipv6/conf/${port[1]}/disable_ipv6"
for host in "outside out1 1" "inside ${port[1]} 2"; do
	read -r namespace dev number <<<"$host"
	within "$namespace" ip addr add "192.0.2.$number/24" dev "$dev"
	within "$namespace" ip addr add "2001:db8:1::$number/64" dev "$dev" nodad
done
outside ip link set dev out1 up
outside build/tests/traffic send dev out1 to 02:00:00:00:01:02 \
	flow src=192.0.2.1,count=50 flow src=2001:db8:1::1,count=50 >"$scratch/log"
check 'a host with two addresses is far over its limit' eventually has_counted 1 100
wrong=''
for round in {1..5}; do
	for address in 192.0.2 2001:db8:1:; do
		separator=${address//[^:.]/}
		resolve outside "$address${separator: -1}2" || wrong+=" $round: outside, $address"
		resolve inside "$address${separator: -1}1" || wrong+=" $round: inside, $address"
	done
done
is "$wrong" '' 'a host over its limit finds its neighbour and is found'
check 'neighbour solicitations and advertisements of a host over its limit pass' \
	test "$(reason 1 neighbour | cut -d' ' -f1)" -ge 10
check 'ARP requests and replies of a host over its limit pass' test "$(reason 1 non_ip | cut -d' ' -f1)" -ge 10
check 'datagrams of a host over its limit are dropped' test "$(reason 1 over_limit | cut -d' ' -f1)" -ge 108
is "$before" 0 'no frame is on the wire before the host over its limit sends'
check 'the driver counts as many frames as the fence' eventually counters_agree

done_testing
