#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The driver of a network card, in a guest that has one. The fence is attached natively; then the
# interface undergoes each change that an administrator or a hypervisor makes. After each change the
# program must see every frame. If it does not, `status` and `doctor` must report that, and `attach`
# must repair it. Limits are exact afterwards, and rules, windows and lists are preserved.
#
#   outside                              inside
#   out3  ---- virtio, the host ------>  ${port[3]}, virtio_net with four queues
#   out5  ---------- a hub ----------->  ${port[5]}, igb, vmxnet3 or e1000e
#
# Limits have a window of an hour, so no result depends on speed. A delivery has fewer frames than a
# card's ring: frames that a full ring drops never reach the program. Lines with the prefix "# card"
# are printed in the tables of docs/kernels.md.

RF_PRIVATE_MOUNTS=made # the guest needs no private mounts
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/vm/cards.sh
source "$(dirname "$0")/cards.sh"

card=$(</suite)
wire=5 # its name is ${port[wire]}, and changes
[ "$card" != virtio_net ] || wire=3
fate=	# of the frames of the last probe
round=0 # number of deliveries; each has one new source
changes= # of the carrier, by the last command

# fact COLUMN TEXT
fact() {
	echo "# card $card | $1 | $2"
}

# ---- the link ----

is_up() { # NAMESPACE IF
	within "$1" ip link show dev "$2" | grep -q LOWER_UP
}

# Frames are lost while a link comes up.
wait_for_link() {
	eventually is_up inside "${port[wire]}" && eventually is_up outside "out$wire"
}

carrier_changes() {
	inside ip -s -s -j link show dev "${port[wire]}" | jq '.[0].stats64.tx.carrier_changes'
}

set_mtu() { # MTU
	inside ip link set dev "${port[wire]}" mtu "$1" && wait_for_link
}

# ---- the driver's support ----

attach_plain() { # PROGRAM
	inside ip link set dev "${port[wire]}" xdpdrv pinned "/sys/fs/bpf/foreign_${1#xdp.}" 2>"$scratch/refusal"
}

# accepts_up_to PROGRAM MTU: the largest MTU, except 9000, which is large enough.
accepts_up_to() {
	set_mtu "$2"
	check "the driver accepts a program in section $1 at MTU $2" attach_plain "$1"
	inside ip link set dev "${port[wire]}" xdpdrv off
	fact "$1" "$2"
	if [ "$2" != 9000 ]; then
		set_mtu $(($2 + 1))
		attach_plain "$1"
		is "$(program_on "$wire")" none "the driver refuses a program in section $1 at MTU $(($2 + 1))"
		[ "$1" != xdp ] || fact reason "$(sed 's/^Error: //' "$scratch/refusal")"
		[ "$1" = xdp ] || advises "$2"
	fi
	set_mtu 1500
}

# advises MTU: no program is accepted above that MTU, so doctor advises it.
advises() {
	is "$(doctor)" 1 "doctor reports a problem at MTU $(($1 + 1))"
	check "doctor advises MTU $1" grep -qw "ip link set dev ${port[wire]} mtu $1" "$scratch/doctor"
}

# The driver's own counters of dropped packets.
drop_counters() {
	inside ethtool -S "${port[wire]}" | sed -n 's/[0-9][0-9]*_/N_/; s/^ *\(.*drop.*\): [1-9][0-9]*$/\1/p' |
		sort -u | tr '\n' ';' | sed 's/;$//; s/;/, /g'
}

# ---- the fence ----

rules() {
	ringfence save dev "${port[wire]}" | sed '/^# rules of/d'
}

set_rules() {
	ringfence apply - dev "${port[wire]}" <<-'END' >"$scratch/log" 2>&1 || fail "rules: $(<"$scratch/log")"
		limit add any rate 40/1h exact
		allow add 192.0.2.3
		deny add 192.0.2.4
	END
	rules >"$scratch/rules"
	forget_traffic
	deliver "$wire" src=192.0.2.1,count=60
}

# The source of set_rules has used its limit; a new source passes exactly its limit.
limits() { # NAME
	local new=192.0.2.$((100 + ++round))

	deliver "$wire" src=192.0.2.1,count=10 "src=$new,count=60,len=900" src=192.0.2.3,count=15 \
		src=192.0.2.4,count=5
	is "$(cut -d' ' -f1,2 <<<"$received")" "$new 40"$'\n''192.0.2.3 15' \
		"$1: each source passes exactly what the rules allow; windows and lists are kept"
	conserves "$wire" "$1: sent = passed + dropped, in packets and bytes"
	is "$(rules)" "$(<"$scratch/rules")" "$1: rules are kept"
}

counted_or_received() { # COUNT
	has_counted "$wire" "$1" || [ -s "$scratch/received" ]
}

# Sends 20 frames from a denied source. They are enforced (counted), bypassed (one is received) or lost.
probe() {
	local all

	all=$(($(counted "$wire") + 20))
	start inside build/tests/traffic recv dev "${port[wire]}" for 5m quiet 1s \
		>"$scratch/received" 2>"$scratch/receiver"
	eventually test -s "$scratch/receiver"
	sent=$(outside build/tests/traffic send dev "out$wire" to "02:00:00:00:0$wire:02" \
		flow src=192.0.2.4,count=20)
	fate=lost
	eventually counted_or_received "$all" && fate=bypassed
	stop TERM "$started_pid"
	has_counted "$wire" "$all" || return 0
	fate=enforced
	sent_packets=$((sent_packets + 20)) sent_bytes=$((sent_bytes + ${sent##* }))
}

# ---- what ringfence reports ----

# "BYPASSED UNSUITABLE", each true or false.
status() {
	ringfence status --json dev "${port[wire]}" |
		jq -r '.interfaces[0] | "\(.bypassed != null) \(.mtu_ok == false)"'
}

doctor() {
	ringfence doctor "${port[wire]}" >"$scratch/doctor" 2>&1
	echo $?
}

# Prints the result, or "failed".
attach_again() {
	ringfence attach --json "${port[wire]}" 2>"$scratch/refusal" | jq -r '.interfaces[0].outcome // "failed"'
	wait_for_link
}

reports_nothing() { # NAME
	is "$(status)" 'false false' "$1: status reports no fault"
	is "$(doctor)" 0 "$1: doctor finds no problem"
}

# Counters of a device can restart with the link, and drivers can update them late; so the first
# check after the change has no previous values, but a second one after 5 s has.
reports_bypass() { # NAME
	status >"$scratch/log"
	sleep 6
	status >"$scratch/log"
	probe
	is "$(status)" 'true false' "$1: status reports that packets bypass the program"
	is "$(doctor)" 1 "$1: doctor reports a problem"
	is "$(attach_again)" repaired "$1: attach repairs it in place"
	is "$(status)" 'false false' "$1: status reports no fault afterwards"
}

# The program sees every frame, or ringfence reports that it does not, and repairs it.
enforces() { # NAME
	probe
	case $fate in
	enforced) reports_nothing "$1" ;;
	bypassed) reports_bypass "$1" ;;
	lost) fail "$1: frames are neither counted nor received" ;;
	esac
	limits "$1"
}

# ---- changes ----

# change NAME CMD…: the driver may refuse it.
change() {
	local name="$card: $1"

	echo "# after $SECONDS s: $name"
	"${@:2}" 2>"$scratch/refusal" || fact "$1" refused
	[ ! -s "$scratch/refusal" ] || sed 's/^/# /' "$scratch/refusal"
	wait_for_link
	enforces "$name"
	fact "$1" "$fate"
}

# refuses_swap NAME REASON: the interface retains its program.
refuses_swap() {
	matches "$(describe ringfence attach "${port[wire]}")" "exit 1

stderr: ringfence: ${port[wire]}: its MTU of 4500 needs the program for frames in several buffers \(xdp\.frags\), \
which the driver refuses: $2; the previous program remains attached; 'ringfence doctor ${port[wire]}' names \
the largest MTU that works" "$1: attach reports the refusal, and what to do"
}

# `ip` attaches by netlink; then a swap is a request by netlink as well, which brings the driver's reason.
refuses_swap_by_netlink() {
	local name="$card: MTU 4500, attached by ip"

	echo "# after $SECONDS s: $name"
	inside ip link set dev "${port[wire]}" xdpdrv obj build/ringfence.bpf.o sec xdp ||
		fail "$name: ip cannot attach"
	wait_for_link
	set_mtu 4500
	refuses_swap "$name" "[^;(]* \($card: [^;]*MTU [^;]*\)"
	set_mtu 1500
	inside ip link set dev "${port[wire]}" xdpdrv off
	wait_for_link
}

# The MTU exceeds one buffer while the program for one buffer is attached.
raise_mtu() {
	local name="$card: MTU 4500"

	echo "# after $SECONDS s: $name"
	if ! set_mtu 4500 2>"$scratch/refusal"; then
		fact 'MTU 4500' refused
		reports_nothing "$name, refused"
		limits "$name, refused"
		return
	fi
	probe
	check "$name: status reports a fault" test "$(status)" != 'false false'
	is "$(doctor)" 1 "$name: doctor reports a problem"
	if [ "$1" = 9000 ]; then
		fact 'MTU 4500' 'program exchanged'
		is "$(attach_again)" changed_entry "$name: attach exchanges the program in place"
		reports_nothing "$name, exchanged"
		deliver "$wire" src=192.0.2.200,count=60,len=4400
		is "$received" '192.0.2.200 40 176000' "$name: large frames are limited"
		limits "$name, exchanged"
		set_mtu 1500
		is "$(attach_again)" changed_entry "$name: at MTU 1500 attach exchanges it again"
		limits "$name, exchanged again"
	else
		fact 'MTU 4500' "$fate, reported"
		refuses_swap "$name" '[^;(]*'
		set_mtu 1500
		enforces "$name, back at 1500"
	fi
}

down_up() {
	inside ip link set dev "${port[wire]}" down
	inside ip link set dev "${port[wire]}" up
}

rename() { # NAME
	inside ip link set dev "${port[wire]}" down
	inside ip link set dev "${port[wire]}" name "$1" || return
	port[wire]=$1
	inside ip link set dev "$1" up
}

# The card is unplugged; a card with the same address is plugged in and gets the same name.
replug() {
	local name="$card: unplugged and plugged in" slot

	echo "# after $SECONDS s: $name"
	slot=$(inside ethtool -i "${port[wire]}" | sed -n 's/^bus-info: //p')
	echo 1 >"/sys/bus/pci/devices/$slot/remove"
	echo 1 >/sys/bus/pci/rescan
	move_nic "02:00:00:00:0$wire:02" inside "${port[wire]}"
	wait_for_link
	is "$(attach_again)" attached "$name: attach puts the fence on the new interface"
	fact unplug 'attached again'
	reports_nothing "$name"
	limits "$name"
}

# ---- cards ----

# restarts NAME LINES CMD…: the command succeeds and prints LINES. A driver that restarts for a program takes
# the carrier away, as $changes counts, and the command reports that.
restarts() {
	local name=$1 lines=$2 before reported output

	before=$(carrier_changes)
	output=$(describe "${@:3}")
	wait_for_link
	changes=$(($(carrier_changes) - before))
	reported=$(grep -cE "^${port[wire]}: the link was down for [0-9]+ ms: its driver restarts for a program\$" <<<"$output")
	is "$reported" $((changes > 0)) "$name: the command reports a link that was down"
	is "$(grep -v ': the link was down for ' <<<"$output")" "exit 0
$lines
stderr: " "$name"
}

detaches() {
	restarts detach "${port[wire]}: detached" ringfence detach "${port[wire]}"
	is "$(program_on "$wire")" none 'detach leaves no program'
	check 'detach leaves no pin' test ! -e "$pins/${port[wire]}"
}

runs_natively() { # MTU FRAGS-MTU
	local name=${port[wire]} counters

	accepts_up_to xdp "$1"
	accepts_up_to xdp.frags "$2"
	restarts attach "$name: attached in native mode, fence '$name'" ringfence attach "$name"
	fact carrier "$changes"
	set_rules
	limits attached
	counters=$(drop_counters)
	fact drops "${counters:-none}"
	reports_nothing attached
	is "$(attach_again)" unchanged 'attach again changes nothing'
	change 'down and up' down_up
	change 'MTU 1400' set_mtu 1400
	change 'MTU 1500' set_mtu 1500
	change 'ethtool -G' inside ethtool -G "$name" rx 128
	change 'ethtool -L' inside ethtool -L "$name" combined 1
	change rename rename "${name}x"
	change 'renamed again' rename "$name"
	raise_mtu "$2"
	replug
	detaches
	[ "$card-$2" = igb-3046 ] || [ "$2" = 9000 ] || refuses_swap_by_netlink
}

# Without native XDP in the driver: attach reports that, and which mode works.
runs_generic() {
	local name=${port[wire]}

	matches "$(describe ringfence attach "$name")" "exit 1

stderr: ringfence: $name: cannot attach in native mode: .*mode generic.*" \
		'attach reports that the driver has no native XDP, and which mode works'
	is "$(program_on "$wire")" none 'attach leaves no program'
	fact xdp 'generic mode only'
	restarts 'attach in generic mode' "$name: attached in generic mode, fence '$name'
generic mode counts packets merged by the kernel (GRO) as one packet" ringfence attach "$name" mode generic
	set_rules
	limits 'generic mode'
	detaches
}

make_network 0
port[wire]=${run}p$wire
move_nic "02:00:00:00:0$wire:01" outside "out$wire"
outside ip link set dev "out$wire" mtu 9000
move_nic "02:00:00:00:0$wire:02" inside "${port[wire]}"
wait_for_link
# virtio_net with unused queues uses them for XDP; the kernel then never releases it when unplugged.
[ "$card" != virtio_net ] || inside ethtool -L "${port[wire]}" combined 4
# In addition to these files, ip creates the directory /sys/fs/bpf/xdp for its pins.
bpftool prog load foreign/foreign.o /sys/fs/bpf/foreign_xdp &&
	bpftool prog load foreign/frags.o /sys/fs/bpf/foreign_frags
is "$?" 0 'programs that pass every packet are loaded'

case $card-$(uname -r) in
e1000e-* | vmxnet3-6.1.*) runs_generic ;;
igb-*) runs_natively 3046 3046 ;;
virtio_net-6.1.*) runs_natively 4064 4064 ;;
virtio_net-*) runs_natively 3506 9000 ;;
vmxnet3-*) runs_natively 3494 3494 ;;
esac

done_testing
