#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Requirements for a supported kernel, tested in a guest with that kernel. The program loads; it is
# attached in both modes to veth and to virtio_net with several queues; it evaluates frames, counts
# them exactly, and is upgraded in place. `cat` can read its pins, also as a group without
# capabilities; and `doctor` finds no problem.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ----- wire 1, MTU 9000 ------>  ${port[1]}
#   out3  ----- virtio, the host ------>  ${port[3]}, of four queues
#                                         ${port[4]}, virtio that cannot turn off its offloads
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

RF_PRIVATE_MOUNTS=made # the guest needs no private mounts
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/vm/cards.sh
source "$(dirname "$0")/cards.sh"

OBJECT=build/ringfence.bpf.o
# Iterators need the JIT; Debian's kernel for s390x is built without it.
jit=$(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null || echo 0)

newer() {
	inside newer/build/ringfence "$@"
}

# The complete output of the reading commands for a fence, without the program's id, whose length
# affects line breaks, and the time. COMMAND must be from the same build as the program; otherwise
# it reports a different build.
state() { # COMMAND WIRE
	{
		"$1" status dev "${port[$2]}"
		"$1" save dev "${port[$2]}"
		"$1" stats --json dev "${port[$2]}"
		"$1" top dev "${port[$2]}"
	} | sed '/^# rules of/d' | tr -s '[:space:]' ' ' | sed 's/program id [0-9]*/program id/'
}

# "REASON PACKETS", one line per nonzero count.
reasons() { # WIRE
	stats "$1" '.reasons | to_entries[] | select(.value.packets > 0) | "\(.key) \(.value.packets)"'
}

# limits WIRE NAME: the passed, dropped and counted packets are exactly as the rules require.
limits() {
	local wire=$1 name=$2

	ringfence apply - >"$scratch/log" 2>&1 <<-'END' || fail "$name: $(<"$scratch/log")"
		limit add any rate 100/1h exact
		limit add dns rate 40/1h match udp dport 53 exact
		allow add 192.0.2.3
		allow add 2001:db8:0:3::/64
		deny add 192.0.2.4
		deny add 2001:db8:0:4::/64
	END
	forget_traffic
	deliver "$wire" src=192.0.2.1,count=300 src=192.0.2.2,count=60,len=1000 \
		src=192.0.2.3,count=150 src=192.0.2.4,count=20 \
		src=192.0.2.5,count=70,proto=udp,dport=53 src=192.0.2.6,count=120,proto=tcp,dport=443 \
		src=2001:db8:0:1::1,count=250 src=2001:db8:0:2::1,count=40,vlan=5,len=200 \
		src=2001:db8:0:3::1,count=130 src=2001:db8:0:4::1,count=30 \
		src=2001:db8:0:5::1,count=90,proto=udp,dport=53
	is "$(cut -d' ' -f1,2 <<<"$received")" "192.0.2.1 100
192.0.2.2 60
192.0.2.3 150
192.0.2.5 40
192.0.2.6 100
2001:db8:0:1::1 100
2001:db8:0:2::1 40
2001:db8:0:3::1 130
2001:db8:0:5::1 40" "$name: each source passes exactly what the rules give it"
	is "$(reasons "$wire")" "under_limit 480
allowed 280
over_limit 450
denied 50" "$name: each packet is counted under its reason"
	is "$(stats "$wire" '.limits[] | "\(.name) \(.passed) \(.dropped) \(.forfeited)"')" \
		$'any 480 370 0\ndns 80 80 0' "$name: each limit has counted its packets"
	conserves "$wire" "$name: sent = passed + dropped, in packets and bytes"
	is "$(ringfence show 192.0.2.1 --json dev "${port[$wire]}" |
		jq -r '.limits[0] | "\(.used) \(.passed) \(.dropped) \(.retry_after_ms > 0)"')" \
		'100 100 200 true' "$name: show says the same of one source"
}

# upgrades WIRE NAME
upgrades() {
	local wire=$1 name=$2 before old

	old=$(program_on "$wire")
	before=$(state ringfence "$wire")
	does "$name: a newer build upgrades in place" "${port[$wire]}: upgraded in place, fence \
'${port[$wire]}'; windows and counters are preserved" newer attach "${port[$wire]}"
	check "$name: the program is another one" test "$(program_on "$wire")" != "$old"
	is "$(state newer "$wire")" "$before" "$name: rules, windows and counters stay"
	deliver "$wire" src=192.0.2.1,count=30 src=192.0.2.2,count=60 src=2001:db8:0:1::1,count=20
	is "$(cut -d' ' -f1,2 <<<"$received")" '192.0.2.2 40' "$name: windows go on where they were"
	conserves "$wire" "$name: so do the counters"
}

# Runs as user nobody, with one extra group.
nobody() { # GROUP CMD…
	inside setpriv --reuid=65534 --regid=65534 --groups="$1" --bounding-set=-all --inh-caps=-all \
		"${@:2}"
}

# Files that can be read without root's command line.
reads() { # WIRE NAME
	local all

	all=$(ringfence stats --json dev "${port[$1]}")
	# shellcheck disable=SC2016 # $l is jq's
	[ "$jit" = 0 ] || is "$(cat "$pins/${port[$1]}/stats")" "$(jq -r '
		(.reasons | to_entries[] | "reason \(.key) \(.value.packets) \(.value.bytes)"),
		(.limits[] | . as $l | "passed", "dropped", "would_drop" |
			"limit \($l.name) \(.) \($l[.]) \($l.bytes[.])")' <<<"$all")" \
		"$2: cat prints what stats does"
	[ "$jit" != 0 ] || check "$2: without a JIT there is nothing for cat" \
		test ! -e "$pins/${port[$1]}/stats"
	does "$2: a member of the group reads without capabilities" "$all" \
		nobody 990 build/ringfence stats --json dev "${port[$1]}"
	matches "$(describe nobody 65534 build/ringfence stats)" \
		$'exit 1\n\nstderr: ringfence: .*, or as a member of group \'ringfence\'.*' \
		"$2: who is not in it does not"
}

# A machine that can run a fence, and an interface without a fence.
asks_doctor() { # WIRE NAME
	local output

	output=$(describe ringfence doctor "${port[$1]}")
	matches "$output" $'exit 0\nmachine\n.*\nstderr: ' "$2: doctor is content"
	is "$(grep -c '^  problem' <<<"$output")" 0 "$2: it sees no problem"
	check "$2: it has looked at the machine and at the interface" \
		test "$(grep -c '^  ok' <<<"$output")" -gt 10
}

detaches() { # WIRE NAME
	local id

	id=$(program_on "$1")
	does "$2: detach says what it did" "${port[$1]}: detached" ringfence detach "${port[$1]}"
	is "$(program_on "$1")" none "$2: no program is left on it"
	check "$2: nor in the kernel" eventually program_is_gone "$id"
	check "$2: nor any pin" test ! -e "$pins/${port[$1]}"
}

by_ip() { # WIRE NAME SECTION
	echo "# after $SECONDS s: $2"
	does "$2: ip attaches the object" '' \
		inside ip link set dev "${port[$1]}" xdpdrv obj $OBJECT sec "$3"
	is "$(interfaces "$1")" "${port[$1]}: native, ip" "$2: status says so"
	limits "$1" "$2"
	[ "$1" != 0 ] || upgrades "$1" "$2"
	detaches "$1" "$2"
}

by_ringfence() { # WIRE NAME [ENTRY]
	echo "# after $SECONDS s: $2"
	does "$2: ringfence attaches it" \
		"${port[$1]}: attached in native mode${3-}, fence '${port[$1]}'" \
		ringfence attach "${port[$1]}"
	is "$(interfaces "$1")" "${port[$1]}: native, ringfence" "$2: status says so"
	limits "$1" "$2"
	[ "$1" != 0 ] || reads "$1" "$2"
	[ "$1" = 1 ] || upgrades "$1" "$2"
	detaches "$1" "$2"
}

# The number of queues of an interface that had packets for the program.
busy_queues() { # WIRE
	inside ethtool -S "${port[$1]}" | grep -cE '^ *rx_?(queue_)?[0-9]+_xdp_packets: [1-9]'
}

refuses_offloads() {
	move_nic 02:00:00:00:04:02 inside "${port[4]}"
	matches "$(describe ringfence attach "${port[4]}")" "exit 1

stderr: ringfence: ${port[4]}: cannot attach in native mode: Operation not supported \(virtio_net: [^;]*\); .*" \
		'virtio that keeps its offloads: attach says that the driver cannot'
	is "$(program_on 4)" none 'virtio that keeps its offloads: no program is left'
	check 'virtio that keeps its offloads: nor any pin' test ! -e "$pins/${port[4]}"
}

make_network 1
add_wire 1 mtu 9000
port[3]=${run}p3 port[4]=${run}p4
move_nic 02:00:00:00:03:01 outside out3
move_nic 02:00:00:00:03:02 inside "${port[3]}"

asks_doctor 0 'doctor'
by_ip 0 'veth, ip' xdp
by_ringfence 0 'veth, ringfence'
by_ip 1 'veth with jumbo frames, ip' xdp.frags
by_ringfence 1 'veth with jumbo frames, ringfence' ' (frags, for its jumbo MTU)'
by_ip 3 'virtio, ip' xdp
by_ringfence 3 'virtio, ringfence'
check 'virtio: the program ran on several queues' test "$(busy_queues 3)" -gt 1
refuses_offloads

done_testing
