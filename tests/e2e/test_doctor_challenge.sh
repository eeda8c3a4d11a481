#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `doctor` of a fence whose rules examine newcomers or send responses: each condition that prevents
# these is created and reported, and no longer reported after its fix, which is run as printed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/findings.sh
source tests/e2e/findings.sh

make_network 1
dev=${port[0]} mac=02:00:00:00:00:02
inside ip address add 192.0.2.2/24 dev "$dev"
inside ip link set lo up

set_net() { # NAME VALUE
	inside sh -c "echo $2 >/proc/sys/net/$1" || bail "cannot set $1"
}

# All that the guard admits in an hour is used up by the first SYN.
newcomers() { # THEN…
	rules <<-END
		limit add any rate 100k/1s
		newcomers rate 1/1h then $*
	END
}

# Opens sockets until close_sockets, each as tcp:PORT, tcp:PORT@ADDRESS, or the same of udp.
open_sockets() { # SOCKET…
	: >"$scratch/open"
	start inside python3 -c '
import socket, sys, time
sockets = []
for word in sys.argv[1:]:
    kind, port = word.split(":")
    port, _, address = port.partition("@")
    sockets.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM))
    sockets[-1].bind((address, int(port)))
    if kind == "tcp":
        sockets[-1].listen(64)
print("ready", flush=True)
time.sleep(3600)' "$@" >"$scratch/open"
	sockets=$started_pid
	eventually test -s "$scratch/open" || bail "cannot open $*"
}

close_sockets() {
	stop KILL "$sockets"
}

challenged() {
	stats 0 .reasons.challenged.packets
}

# Sends SYNs from new sources to the server, and stores how many more were challenged in $more.
send_syns() {
	local before

	before=$(challenged)
	batch=$((${batch-0} + 1))
	count_packets 0
	outside build/tests/traffic send dev out0 to "$mac" \
		flow "src=10.$batch.0.1,sources=20,dst=192.0.2.2,proto=syn,dport=80,count=20" >"$scratch/sender"
	eventually has_counted 0 $((packets + 20))
	more=$(($(challenged) - before))
}

# The levels of the checks of newcomers.
levels() {
	jq -r '[.interfaces[0].checks[] | select(.check | test("^(syn cookies|responses|addresses|listeners|dns|fast open|timestamps|forwarding)$")) |
		"\(.check) \(.level)"] | join(", ")' "$scratch/report"
}

found() { # CHECK: is there a finding of it?
	jq -e --arg check "$1" 'any(.interfaces[0].checks[]; .check == $check)' "$scratch/report" >/dev/null
}

absent() { # NAME CHECK
	if found "$2"; then
		fail "$1"
		explain finding "$(finding "$2")"
	else
		pass "$1"
	fi
}

# ---- rules without challenges ----

ringfence attach "$dev" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
set_net ipv4/tcp_syncookies 2
set_net "ipv4/conf/$dev/forwarding" 1
newcomers drop
look "$dev"
is "$looked$(levels)" 'exit 0 ' 'then drop: doctor does not check challenges'
newcomers drop except established
look "$dev"
is "$looked$(levels)" 'exit 0 forwarding note' 'except established: doctor checks only forwarding'
is "$(finding forwarding)" 'note: this host forwards packets, also to containers and virtual machines: over the newcomers rate they are dropped, even those of open connections' \
	'except established: doctor notes that forwarded packets are dropped'
set_net "ipv4/conf/$dev/forwarding" 0
look "$dev"
is "$looked$(levels)" 'exit 0 ' 'except established: doctor finds nothing without forwarding'

# ---- the peer of a veth ----

newcomers challenge
look "$dev"
is "$looked" "$(one_problem "$dev")" 'doctor finds one problem with a veth whose peer has no program'
is "$(finding responses)" 'problem: its peer, in another network namespace, has no XDP program in native mode: a veth without one receives no responses of the fence; attach any program there, for example a fence without rules' \
	'doctor finds that a peer in another network namespace has no program'
outside ip link set dev out0 xdpgeneric obj build/ringfence.bpf.o sec xdp || bail 'ip does not attach'
look "$dev"
matches "$(finding responses)" 'problem: .*' 'doctor finds that a program in generic mode is not enough for the peer'
outside ip link set dev out0 xdpgeneric off
outside "$shipped" attach out0 fence "$run-out" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
look "$dev"
is "$looked $(finding responses)" 'exit 0  ok: its peer, in another network namespace, has an XDP program, and receives the responses of the fence' \
	'doctor finds a program on a peer in another network namespace'

a=${run}a b=${run}b
inside ip link add "$a" type veth peer name "$b"
ringfence attach "$a" fence "$run-a" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
ringfence newcomers rate 1/1h "then" challenge dev "$run-a" >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
look "$a"
is "$(finding responses)" "problem: $b has no XDP program in native mode: a veth without one receives no responses of the fence; attach any program there, for example a fence without rules; run 'ringfence attach $b'" \
	'doctor recommends a program on a peer in the same network namespace'
remedied 'a peer without a program' "$a" responses "ok: $b has an XDP program, and receives the responses of the fence"
ringfence detach "$a" >"$scratch/log"
ringfence detach "$b" >"$scratch/log"
ringfence attach "$a" fence "$run-a" mode generic >"$scratch/log" || bail "$(<"$scratch/log")"
ringfence newcomers rate 1/1h "then" challenge dev "$run-a" >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
look "$a"
is "$(finding responses)" 'ok: responses are sent in generic mode, which is slow' \
	'doctor accepts a peer without a program in generic mode'
inside ip link del "$a"
ringfence detach "$run-a" >"$scratch/log"

# ---- SYN cookies ----

open_sockets tcp:80
send_syns # the first one uses up the guard
send_syns
is "$more" 20 'SYNs are challenged while doctor finds no problem'
set_net ipv4/tcp_syncookies 1
send_syns
is "$more" 0 'no SYN is challenged without tcp_syncookies=2'
look "$dev"
is "$looked" "$(one_problem "$dev")" 'doctor finds one problem without tcp_syncookies=2'
is "$(finding 'syn cookies')" "problem: net.ipv4.tcp_syncookies is 1, and challenges require 2: newcomers over the rate are dropped without a challenge; run 'sysctl -w net.ipv4.tcp_syncookies=2'" \
	'doctor finds that tcp_syncookies was lowered'
is "$(ringfence status | unwrapped | grep 'NOT CHALLENGED')" "  NOT CHALLENGED: challenges require net.ipv4.tcp_syncookies=2, and it is 1: newcomers over the rate are dropped; 'sysctl -w net.ipv4.tcp_syncookies=2' sets it" \
	'status reports that tcp_syncookies was lowered'
is "$(ringfence status --json dev "$dev" | jq .syncookies_ok)" false 'status --json reports that tcp_syncookies was lowered'
remedied 'tcp_syncookies' "$dev" 'syn cookies' 'ok: net.ipv4.tcp_syncookies is 2, as challenges require'
is "$(ringfence status | grep -c 'NOT CHALLENGED') $(ringfence status --json dev "$dev" | jq .syncookies_ok)" '0 true' \
	'status reports nothing after the remedy for tcp_syncookies'
send_syns
is "$more" 20 'SYNs are challenged again after the remedy for tcp_syncookies'

# ---- Ethernet addresses ----

mac=02:00:00:00:00:22
inside ip link set dev "$dev" address "$mac"
send_syns
is "$more" 0 'no SYN to an Ethernet address that the fence does not know is challenged'
look "$dev"
is "$looked" "$(one_problem "$dev")" 'doctor finds one problem with an Ethernet address that was changed'
is "$(finding addresses)" "problem: the fence does not know the Ethernet address of $dev, which was set after the last change of the rules: no packet to it gets a response; run 'ringfence attach $dev'" \
	'doctor names the interface whose Ethernet address was changed'
set_net ipv4/ip_forward 1
set_net ipv6/conf/all/forwarding 1
look "$dev"
matches "$(finding addresses)" 'problem: .*' 'doctor finds the same with IP forwarding'
set_net ipv4/ip_forward 0
set_net ipv6/conf/all/forwarding 0
remedied 'an Ethernet address' "$dev" addresses 'ok: the fence knows the Ethernet addresses of the interfaces that get its packets'
send_syns
is "$more" 20 'SYNs to the Ethernet address are challenged after the remedy'
inside ip link add link "$dev" name tap type macvtap || bail 'cannot add a macvtap'
look "$dev"
is "$looked $(finding addresses)" 'exit 0  ok: the fence knows the Ethernet addresses of the interfaces that get its packets' \
	'doctor finds no problem with the Ethernet address of a macvtap'
inside ip link del tap
inside ip link add link "$dev" name moved address 02:00:00:00:00:33 type macvlan || bail 'cannot add a macvlan'
ringfence deny add 203.0.113.9
inside ip link set dev moved netns "rf-test-$$-outside" || bail 'cannot move a macvlan'
look "$dev"
is "$looked" "$(one_problem "$dev")" 'doctor finds one problem with a macvlan that was moved'
is "$(finding addresses)" "problem: the fence responds to packets to 02:00:00:00:00:33, which no interface that receives packets for this host has any longer; run 'ringfence attach $dev'" \
	'doctor prints the address of a macvlan that was moved to another network namespace'
remedied 'a macvlan that was moved' "$dev" addresses 'ok: the fence knows the Ethernet addresses of the interfaces that get its packets'
outside ip link del moved

# ---- sockets ----

is "$(finding listeners)" 'ok: this network namespace has listening TCP sockets' 'doctor finds a listening TCP socket'
absent 'doctor does not check DNS without a UDP socket at its port' dns
close_sockets
open_sockets tcp:80@127.0.0.1 udp:53@127.0.0.53
look "$dev"
is "$(finding listeners)" 'note: this network namespace has no listening TCP socket, except on loopback addresses: newcomers over the rate are dropped without a challenge; servers in other network namespaces cannot be reached by challenges' \
	'doctor notes that nothing but the loopback interface can reach a TCP server'
absent 'doctor does not check DNS of a UDP socket on the loopback interface' dns
close_sockets
newcomers challenge dns 53,5353
open_sockets tcp:53@127.0.0.1 udp:53 tcp:5353 udp:5353 udp:80
look "$dev"
is "$looked" 'exit 0 ' 'doctor finds no problem with a DNS server without TCP'
is "$(jq -r '.interfaces[0].checks[] | select(.check == "dns") | "\(.level): \(.text)"' "$scratch/report")" \
	"note: port 53: a UDP socket, but no listening TCP socket: a client that gets a truncated response repeats its query over TCP, which fails; let the server listen on TCP as well, or remove the port from 'dns' and 'over truncate'
ok: port 5353: sockets of UDP and of TCP" 'doctor notes the port of a DNS server without TCP'
close_sockets
newcomers challenge dns none
open_sockets udp:53
look "$dev"
absent 'doctor does not check DNS if the rule answers no queries' dns
close_sockets

# ---- conntrack ----

absent 'doctor finds nothing about nf_conntrack_tcp_loose=1' conntrack
if inside test -e /proc/sys/net/netfilter/nf_conntrack_tcp_loose; then
	set_net netfilter/nf_conntrack_tcp_loose 0
	look "$dev"
	is "$looked" "$(one_problem "$dev")" 'doctor finds one problem with nf_conntrack_tcp_loose=0'
	is "$(finding conntrack)" "problem: net.netfilter.nf_conntrack_tcp_loose is 0: conntrack has not seen the SYN of a challenged connection, and regards its ACK as invalid, so a rule 'ct state invalid drop' drops it; run 'sysctl -w net.netfilter.nf_conntrack_tcp_loose=1'" \
		'doctor finds nf_conntrack_tcp_loose=0'
	check 'conntrack: the remedy works' take_remedy conntrack
	look "$dev"
	absent 'conntrack: the finding is gone after the remedy' conntrack
else
	pass 'nf_conntrack_tcp_loose # SKIP this kernel has no conntrack'
fi

# ---- effects of tcp_syncookies=2 ----

absent 'doctor finds nothing about Fast Open for clients' 'fast open'
absent 'doctor finds nothing about timestamps that are on' timestamps
set_net ipv4/tcp_fastopen 3
set_net ipv4/tcp_timestamps 0
look "$dev"
is "$(finding 'fast open')" 'note: net.ipv4.tcp_fastopen is 3, but tcp_syncookies=2 disables TCP Fast Open for the servers of this network namespace' \
	'doctor notes that servers cannot use Fast Open'
is "$(finding timestamps)" "note: net.ipv4.tcp_timestamps is 0: with tcp_syncookies=2, no connection to this network namespace has window scaling or selective acknowledgements; run 'sysctl -w net.ipv4.tcp_timestamps=1'" \
	'doctor notes that no connection has window scaling'
check 'timestamps: the remedy works' take_remedy timestamps
look "$dev"
absent 'timestamps: the finding is gone after the remedy' timestamps

# ---- limits that truncate ----

ringfence newcomers off >"$scratch/log"
ringfence limit add dns rate 1/1h match udp dport 53,5353 over truncate 1/1 >"$scratch/log" || bail "$(<"$scratch/log")"
set_net ipv4/tcp_syncookies 1
open_sockets udp:53 tcp:5353 udp:5353
look "$dev"
is "$looked $(levels)" 'exit 0  responses ok, addresses ok, dns note, dns ok' \
	'over truncate: doctor checks responses, Ethernet addresses and DNS servers'
close_sockets
outside "$shipped" detach out0 >"$scratch/log"
look "$dev"
is "$looked" "$(one_problem "$dev")" 'over truncate: doctor finds one problem with a veth whose peer has no program'

done_testing
