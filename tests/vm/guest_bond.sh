#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A bond in a fence of several interfaces, in a guest whose kernel has the module. The program runs
# on the bond's members, and their packets count exactly for the bond.
#
#   outside                              inside
#   out0  --------- wire 0, veth ----->  ${port[0]}, also in the fence
#   out1  --------- wire 1, veth ----->  ${port[1]}, which joins the bond later
#   out3  ---- virtio, the host ------>  ${port[3]}  \
#   out5  ---------- a hub ----------->  ${port[5]}, igb  > the bond
#
# The limit has a window of an hour, so no result depends on speed.

RF_PRIVATE_MOUNTS=made # the guest needs no private mounts
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/vm/cards.sh
source "$(dirname "$0")/cards.sh"

edge=$run-edge
bond=${run}b
source=0 # number of the last flow; each has a different one

# add_member WIRE: an interface can join only while it is down.
add_member() {
	inside ip link set dev "${port[$1]}" down
	inside ip link set dev "${port[$1]}" master "$bond"
	eventually is_up "${port[$1]}"
}

is_up() { # IF
	inside ip link show dev "$1" | grep -q LOWER_UP
}

silently() { # WORDS of a command
	ringfence "$@" >"$scratch/log" 2>&1
}

# "NAME PASSED DROPPED", one line per interface, then the rest.
by_interface() {
	ringfence stats "$@" --json dev "$edge" | jq -r '((.interfaces | sort_by(.name)[]), .rest + {name: "rest"}) |
		"\(.name) \(.packets.passed) \(.packets.dropped)"'
}

total() {
	ringfence stats --json dev "$edge" | jq '.packets.passed + .packets.dropped'
}

has_total() {
	[ "$(total)" -ge "$1" ]
}

# sends WIRE COUNT: the frames are from a new source, 40 of which the limit passes. All members of a
# bond have the same address.
sends() {
	local all to=02:00:00:00:00:02

	all=$(($(total) + $2))
	[ "$1" = 0 ] || to=$(inside ip -j link show dev "$bond" | jq -r '.[0].address')
	outside build/tests/traffic send dev "out$1" to "$to" \
		flow "src=10.0.$((++source / 250)).$((source % 250 + 1)),count=$2" >/dev/null
	eventually has_total "$all"
}

reports_nothing() { # NAME
	is "$(ringfence status --json dev "$edge" | jq -c '[.interfaces[].bypassed]')" '[null,null]' \
		"$1: status reports no fault"
}

make_network 2
port[3]=${run}p3 port[5]=${run}p5
for wire in 3 5; do
	move_nic "02:00:00:00:0$wire:01" outside "out$wire"
	move_nic "02:00:00:00:0$wire:02" inside "${port[$wire]}"
done
inside ip link add "$bond" type bond mode balance-rr miimon 50 || bail 'cannot make a bond'
add_member 3
add_member 5
inside ip link set dev "$bond" up

# ---- two members ----

check 'a bond and a veth are attached to one fence' silently attach "$bond" "${port[0]}" fence "$edge"
eventually is_up "${port[5]}"
ringfence limit add any rate 40/1h exact >"$scratch/log" 2>&1
sends 3 60
sends 5 50
sends 0 70
is "$(by_interface)" "$bond 80 30
${port[0]} 40 30
rest 0 0" 'the packets of both members count for the bond'
reports_nothing 'two members'
ringfence stats reset dev "$edge" >"$scratch/log"
sends 5 45
is "$(by_interface)" "$bond 40 5
${port[0]} 0 0
rest 0 0" 'stats reset begins the bond at 0'
reports_nothing 'packets on one member'

# ---- a member that joins ----

add_member 1
sends 1 44
is "$(by_interface)" "$bond 40 5
${port[0]} 0 0
rest 40 4" 'the packets of a member that has joined later are in the rest'
reports_nothing 'a member without a place'
is "$(ringfence attach --json "$bond" | jq -r '.interfaces[0].outcome')" unchanged \
	'attach has nothing else to do'
sends 1 42
is "$(by_interface)" "$bond 80 7
${port[0]} 0 0
rest 40 4" 'from the next attach on, they count for the bond'

# ---- a member that leaves ----

inside ip link set dev "${port[1]}" nomaster
is "$(by_interface)" "$bond 80 7
${port[0]} 0 0
rest 40 4" 'the bond keeps what a member counted that has left'
inside ip link set dev "${port[1]}" address 02:00:00:00:01:02 up
check 'that member is attached to the fence by itself' silently attach "${port[1]}" fence "$edge"
is "$(by_interface)" "$bond 80 7
${port[0]} 0 0
${port[1]} 0 0
rest 40 4" 'it begins at 0, and the bond keeps what it counted before'
ringfence detach "${port[1]}" >"$scratch/log"

# ---- repair ----

# counts_for_bond WIRE: sends a frame, which the bond counts.
counts_for_bond() {
	local before after

	before=$(by_interface | sed -n 1p)
	sends "$1" 1
	after=$(by_interface | sed -n 1p)
	[ "$after" != "$before" ]
}

# Repair loads the program first, which takes long on an emulated machine.
is_picked_up() {
	local try

	for try in {1..9}; do
		eventually counts_for_bond 1 && return
		echo "# try $try: the bond does not count the member yet"
	done
	return 1
}

start inside build/ringfence repair "$bond" >"$scratch/repair" 2>&1
add_member 1
check 'repair counts a member that joins for its bond' is_picked_up
check 'repair is still running' kill -0 "$started_pid"
stop TERM "$started_pid"
is "$(<"$scratch/repair")" '' 'repair has nothing to report'
sums=$(by_interface total | awk '{ sum += $2 + $3 } END { print sum }')
is "$sums" "$(ringfence stats total --json dev "$edge" | jq '.packets.passed + .packets.dropped')" \
	'interfaces and rest sum up to the totals'

# ---- cleanup ----

check 'all interfaces are detached' silently detach "$bond" "${port[0]}"
is "$(program_on 3) $(program_on 5)" 'none none' 'no member has a program'

done_testing
