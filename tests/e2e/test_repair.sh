#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fence whose interface no longer passes it all packets: status and doctor report it, and attach
# repairs it in place, without loss of rules, windows or lists.
#
#   outside                                                  inside
#   far ---- near  ~ ~ ~ ~ > out0  ------- wire 0 ------>  ${port[0]}
#                            out1  ------- wire 1 ------>  ${port[1]}
#
# Packets that arrive at `near` are received by ${port[0]} without reaching its program, as if the
# driver had lost the program. No driver here really loses it: vmxnet3 does, in tests/vm.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 2
outside ip link add far type veth peer name near
outside ip link set far up
outside ip link set near up

dev=${port[0]}

bypass() { # on|off
	if [ "$1" = on ]; then
		outside build/tests/bypass near out0 || bail 'packets cannot bypass a program here'
	else
		outside tc qdisc del dev near clsact
	fi
}

around() { # COUNT: packets that bypass the program
	outside build/tests/traffic send dev far to 02:00:00:00:00:02 \
		flow "src=192.0.2.66,count=$1,proto=udp" >"$scratch/around" 2>&1 ||
		fail "around: $(<"$scratch/around")"
}

# Of an interface: how many packets bypassed the program, or null.
bypassed() { # WIRE
	ringfence status --json dev "${port[$1]}" |
		jq -r --arg name "${port[$1]}" '.interfaces[] | select(.name == $name) | .bypassed.packets'
}

is_bypassed() { # WIRE
	[ "$(bypassed "$1")" != null ]
}

state() { # the rules, lists and windows
	ringfence save dev "$dev" | grep -v '^#' # the time is in a comment
	ringfence top --json dev "$dev" | command jq -c '[.sources[]? | {source, limit, passed, dropped}]'
}

# The links and programs that a command changes.
updates() { # CMD…
	inside strace -f -e trace=bpf,sendto -o "$scratch/trace" "$build" "$@" >"$scratch/out" 2>&1
	grep -c BPF_LINK_UPDATE "$scratch/trace"
}

# The entries that a command loads, of those that share a fence's maps.
loads() { # CMD…
	inside strace -f -e trace=bpf -s 32 -v -o "$scratch/trace" "$build" "$@" >"$scratch/out" 2>&1
	grep -o 'BPF_PROG_LOAD.*prog_name="ringfence[_a-z]*"' "$scratch/trace" |
		sed 's/.*prog_name=//; s/"//g' | sort -u | paste -sd ' '
}

# ---- the check ----

does 'attach works' "$dev: attached in native mode, fence '$dev'" ringfence attach "$dev"
ringfence limit add any rate 5/1h exact dev "$dev" >"$scratch/log"
ringfence deny add 192.0.2.66 dev "$dev" >>"$scratch/log"
deliver 0 src=192.0.2.1,count=20
is "$(bypassed 0)" null 'packets that the program drops do not bypass it'
is "$(updates attach "$dev")" 0 'attach of a fence that works swaps no program'
matches "$(<"$scratch/out")" '.*nothing to do' 'attach of a fence that works has nothing to do'

bypass on
around 20
# The program has counted since the last look. How long that is ago decides whether this look has a
# verdict yet, so 20 or 40 packets are reported.
is_bypassed 0
around 20
matches "$(bypassed 0)" '(20|40)' 'status counts the packets that the program has not seen'
matches "$(ringfence status dev "$dev" | unwrapped)" \
	".*$dev: NOT PROTECTED: received (20|40) packets in the last [0-9a-z ]*, and the program has seen none; the driver might have lost it: 'ringfence attach $dev' repairs it in place.*" \
	'status names the interface and the command that repairs it'
is "$(ringfence metrics dev "$dev" | grep '^ringfence_interface_bypassed')" \
	"ringfence_interface_bypassed{fence=\"$dev\",interface=\"$dev\"} 1" 'so do the metrics'
printed=$(ringfence doctor "$dev" 2>"$scratch/stderr")
is "$?" 1 'doctor of the interface fails'
matches "$(unwrapped <<<"$printed")" ".*not protected: it received (20|40) packets.*ringfence attach $dev.*" \
	'doctor says why, and what to type'
ringfence doctor >"$scratch/stdout" 2>"$scratch/stderr"
is "$?" 1 'doctor without an interface fails'
matches "$(unwrapped <"$scratch/stdout")" ".*$dev +has a fence, but is not protected.*" \
	'doctor without an interface names it'

# ---- the repair ----

before=$(state) id=$(program_on 0)
is "$(updates attach "$dev")" 2 'attach swaps the program twice: the kernel ignores a swap to the same'
matches "$(unwrapped <"$scratch/out")" \
	"$dev: received (20|40) packets in the last .*; the program was attached again in place, fence '$dev'; rules, windows and counters are preserved" \
	'attach says what it repaired'
bypass off
is "$(program_on 0)" "$id" 'a repair leaves the same program on the interface'
is "$(state)" "$before" 'a repair keeps rules, lists and windows'
is "$(bypassed 0)" null 'after a repair nothing is reported'
deliver 0 src=192.0.2.1,count=20 src=192.0.2.66,count=20
is "$received" '' 'after a repair a used-up window and the deny list hold'
does 'attach after a repair has nothing to do' \
	"$dev: already attached, fence '$dev'; nothing to do" ringfence attach "$dev"
ringfence doctor "$dev" >"$scratch/stdout" 2>"$scratch/stderr"
is "$?" 0 'doctor of the repaired interface succeeds'

# A repair that is killed between its two swaps.
bypass on
around 20
is_bypassed 0
around 20
before=$(state)
count=$(inside strace -f -e trace=bpf -o "$scratch/trace" "$build" attach "$dev" >"$scratch/out" 2>&1
	grep -n BPF_LINK_UPDATE "$scratch/trace" | head -1 | cut -d: -f1)
around 20
is_bypassed 0
around 20
inside strace -f -o "$scratch/trace" -e trace=bpf -e inject=bpf:signal=KILL:when="$((count + 1))" \
	"$build" attach "$dev" >"$scratch/out" 2>&1
is "$(program_on 0)" "$(bpftool -j prog show pinned "$pins/$dev/frags" | jq .id)" \
	'a repair that is killed leaves the other program of the fence attached'
is "$(state)" "$before" 'a repair that is killed loses no rules, lists and windows'
bypass off
matches "$(ringfence attach "$dev" | unwrapped)" "$dev: changed in place to the program for frames in one buffer.*" \
	'the same command goes on where a repair was killed'
is "$(program_on 0)" "$id" 'then the interface has its program again'
is "$(state)" "$before" 'and its rules, lists and windows'

# ---- quiet interfaces, and others of the fence ----

ringfence detach "$dev" >"$scratch/stdout"
ringfence attach "$dev" "${port[1]}" fence both >"$scratch/stdout"
bypass on
around 20
deliver 1 src=192.0.2.1,count=20
is "$(bypassed 0) $(bypassed 1)" '20 null' 'each interface of a fence is checked for itself'
is "$(updates attach "$dev")" 2 'one interface of a fence is repaired'
bypass off
is "$(program_on 0) $(program_on 1)" \
	"$(bpftool -j prog show pinned "$pins/both/xdp" | jq '"\(.id) \(.id)"' -r)" \
	'all interfaces of a fence have the same program after a repair'
is "$(bypassed 0)" null 'an interface that receives nothing is not reported'
ringfence detach "$dev" "${port[1]}" >"$scratch/stdout"

# Attached by ip, without a link of ours.
inside ip link set dev "$dev" xdp obj build/ringfence.bpf.o sec xdp
is "$(bypassed 0)" null 'the first look at a fence that ip attached reports nothing'
bypass on
start outside build/tests/traffic send dev far to 02:00:00:00:00:02 \
	flow src=192.0.2.66,count=100000,rate=500,proto=udp >"$scratch/around" 2>&1
sleep 5.1 # how long a driver can count late
check 'packets that bypass a program attached by ip are found while they arrive' eventually is_bypassed 0
matches "$(ringfence attach "$dev" | unwrapped)" '.*the program was attached again in place.*' \
	'attach repairs a program attached by ip'
stop TERM "$started_pid"
bypass off
inside ip link set dev "$dev" xdp off

# ---- the MTU ----

is "$(loads attach "$dev")" ringfence 'attach with an MTU of 1500 loads the entry for one buffer only'
ringfence detach "$dev" >"$scratch/stdout"
does 'attach with an MTU of 1500 takes the entry for one buffer' \
	"$dev: attached in native mode, fence '$dev'" ringfence attach "$dev"
ringfence limit add any rate 5/1h exact dev "$dev" >"$scratch/log"
deliver 0 src=192.0.2.1,count=20
before=$(state)
outside ip link set out0 mtu 3500
inside ip link set "$dev" mtu 3500
matches "$(ringfence status dev "$dev" | unwrapped)" \
	".*$dev: frames larger than 3498 bytes are lost: its MTU was raised after the attach; 'ringfence attach $dev' repairs it in place.*" \
	'status reports an entry that the MTU has outgrown'
is "$(ringfence status --json dev "$dev" | jq '.interfaces[0].mtu_ok')" false 'so does its JSON'
ringfence doctor "$dev" >"$scratch/stdout" 2>"$scratch/stderr"
is "$?" 1 'doctor of an interface with an outgrown entry fails'
# For a swap by a link, the kernel returns no reason.
refused() { # CMD…
	inside env LD_PRELOAD="$PWD/build/tests/flap.so" REFUSE=1 "$@"
}

fails 'a driver that refuses the entry is reported, with what to do' 1 \
	"ringfence: $dev: its MTU of 3500 needs the program for frames in several buffers (xdp.frags), which the driver refuses: Invalid argument; the previous program remains attached; 'ringfence doctor $dev' names the largest MTU that works" \
	refused "$build" attach "$dev"
is "$(state)" "$before" 'it keeps rules, lists and windows'
fails 'a driver that refuses an upgrade is reported, with what to do' 1 \
	"ringfence: $dev: cannot upgrade its program: Invalid argument; the previous program remains attached; the driver may refuse its present MTU, queues or offloads: 'ringfence doctor $dev' checks them" \
	refused "$newer" attach "$dev"
is "$(state)" "$before" 'that keeps rules, lists and windows too'
does 'attach changes to the entry that the MTU needs' \
	"$dev: changed in place to the program for frames in several buffers (xdp.frags), as its MTU requires, fence '$dev'; rules, windows and counters are preserved" \
	ringfence attach "$dev"
is "$(program_on 0)" "$(bpftool -j prog show pinned "$pins/$dev/frags" | jq .id)" \
	'the interface then has the pinned program for several buffers'
is "$(state)" "$before" 'a change of the entry keeps rules, lists and windows'
does 'a second attach has nothing to do' \
	"$dev: already attached, fence '$dev'; nothing to do" ringfence attach "$dev"
is "$(ringfence status --json dev "$dev" | jq '.interfaces[0].mtu_ok')" true 'nothing is reported any more'
deliver 0 src=192.0.2.1,count=20
is "$received" '' 'a used-up window stays used up over a change of the entry'
inside ip link set "$dev" mtu 1500
matches "$(ringfence attach --json "$dev" | jq -r '.interfaces[0].outcome')" changed_entry \
	'attach changes back when the MTU is small again'
is "$(program_on 0)" "$(bpftool -j prog show pinned "$pins/$dev/xdp" | jq .id)" \
	'the interface then has the plain program'
ringfence detach "$dev" >"$scratch/stdout"

outside ip link set out0 mtu 9000
inside ip link set "$dev" mtu 9000
is "$(loads attach "$dev")" ringfence_frags \
	'attach with a jumbo MTU loads the entry for several buffers only'
check 'that entry alone is pinned' test -e "$pins/$dev/frags" -a ! -e "$pins/$dev/xdp"
ringfence limit add any rate 5/1h exact dev "$dev" >"$scratch/log"
deliver 0 src=192.0.2.1,count=20
before=$(state)
outside ip link set out0 mtu 1500
inside ip link set "$dev" mtu 1500
matches "$(ringfence attach "$dev" | unwrapped)" "$dev: changed in place to the program for frames in one buffer.*" \
	'attach loads the other entry when the MTU needs it'
is "$(state)" "$before" 'an entry that is loaded later has the same rules, windows and counters'
deliver 0 src=192.0.2.1,count=20
is "$received" '' 'a used-up window stays used up under that entry'
ringfence detach "$dev" >"$scratch/stdout"

# At this MTU the driver refuses the plain entry, so a swap to it and back is no repair.
outside ip link set out0 mtu 9000
inside ip link set "$dev" mtu 9000
ringfence attach "$dev" >"$scratch/stdout"
ringfence limit add any rate 5/1h exact dev "$dev" >"$scratch/log"
deliver 0 src=192.0.2.1,count=20
is_bypassed 0
bypass on
around 20
is_bypassed 0
around 20
before=$(state) id=$(program_on 0)
matches "$(ringfence attach "$dev" 2>&1 | unwrapped)" '.*the program was attached again in place.*' \
	'attach repairs an interface whose driver refuses the other entry'
bypass off
is "$(program_on 0)" "$id" 'it leaves the same program on the interface'
is "$(bypassed 0)" null 'whose packets meet it'
is "$(state)" "$before" 'and keeps rules, lists and windows'
ringfence detach "$dev" >"$scratch/stdout"
inside ip link set "$dev" mtu 1500
outside ip link set out0 mtu 1500

# ---- the link ----

# Takes the link down and up when a program is attached or detached, as most drivers of cards do.
flapping() { # CMD…
	# shellcheck disable=SC2016 # of the shell that takes the link down
	inside env LD_PRELOAD="$PWD/build/tests/flap.so" FLAP="nsenter --net=/run/netns/rf-test-$$-outside sh -c \
		'ip link set out0 down; sleep 0.3; ip link set out0 up'" "$build" "$@"
}

matches "$(flapping attach "$dev")" ".*$dev: the link was down for [0-9]{3,5} ms: its driver restarts for a program" \
	'attach prints how long the link was down'
is "$(ringfence attach --json "$dev" | jq '.interfaces[0].link_down_ms')" null 'a link that stays up was not down'
does 'a second attach does not take the link down' \
	"$dev: already attached, fence '$dev'; nothing to do" flapping attach "$dev"
is "$(flapping detach --json "$dev" | jq -r --arg name "$dev" '.link_down_ms[$name] > 100')" true \
	'detach tells how long the link was down in JSON'

# ---- repairs without a command ----

has_repaired() { # WORDS that repair prints
	eventually grep -q "$1" "$scratch/repairs" || {
		explain 'repair printed' "$(<"$scratch/repairs")"
		return 1
	}
}

has_program() { # ID
	[ "$(program_on 0)" = "$1" ]
}

ringfence attach "$dev" >"$scratch/stdout"
ringfence deny add 192.0.2.66 dev "$dev" >"$scratch/stdout"
deliver 0 src=192.0.2.1,count=20
is_bypassed 0
id=$(program_on 0)
start inside "$build" repair "$dev" >"$scratch/repairs" 2>&1
keeper=$started_pid
bypass on
start outside build/tests/traffic send dev far to 02:00:00:00:00:02 \
	flow src=192.0.2.66,count=100000,rate=100,proto=udp >"$scratch/around" 2>&1
check 'repair finds packets that bypass the program, and repairs' \
	has_repaired 'the program was attached again'
stop TERM "$started_pid"
bypass off
# Another repair might have started, and be between its two swaps.
check 'it leaves the same program on the interface' eventually has_program "$id"
deliver 0 src=192.0.2.66,count=20
is "$received" '' 'and the deny list'
outside ip link set out0 mtu 3500
inside ip link set "$dev" mtu 3500
check 'repair changes the entry when the MTU changes' has_repaired 'changed in place'
ringfence detach "$dev" >"$scratch/stdout"
is "$?" 0 'a fence is detached while repair runs'
sleep 3
is "$(program_on 0)" none 'repair attaches nothing to an interface without a fence'
stop TERM "$keeper"
is "$?" 0 'repair ends well on a signal'
fails 'repair of an interface that does not exist fails' 1 \
	"ringfence: nosuch0: no such interface; 'ip link' lists the interfaces" ringfence repair nosuch0
start inside "$build" repair "${port[1]}" >"$scratch/repairs" 2>&1
outside ip link del out1
check 'repair ends when the interface is removed' eventually sh -c "! kill -0 $started_pid 2>/dev/null"
done_testing
