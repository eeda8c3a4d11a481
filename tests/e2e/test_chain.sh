#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An interface with another XDP program: attach names that program, 'replace' removes it, and
# 'chain' runs next to it through libxdp's dispatcher, in both orders, with xdp-filter and with a
# program behind ringfence.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}
#   out2  ----- wire 2, MTU 9000 ------>  ${port[2]}
#   out3  ---------- wire 3 ----------->  ${port[3]}, with servers
#
# xdp-filter has one set of maps for the whole machine, so only this run uses the source that it
# denies here. Limits that must remain exceeded have a window of an hour, so no test depends on
# speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

denied=203.0.$(($$ / 250 % 250)).$(($$ % 250 + 1)) # by xdp-filter

# libxdp's pins outlive an interface, so its programs are removed before the interface.
leave() {
	local wire

	for wire in 0 1 2 3; do
		inside xdp-filter unload "${port[$wire]}" >"$scratch/log" 2>&1
		inside xdp-loader unload -a "${port[$wire]}" >"$scratch/log" 2>&1
	done
	rm -f "/sys/fs/bpf/$run-foreign"
	cleanup
}
trap leave EXIT

# Foreign programs.
if [ -d foreign ]; then # built elsewhere, for a guest
	foreign=$PWD/foreign
else
	foreign=$scratch
	tests/e2e/foreign.sh "$foreign" || bail "cannot compile somebody else's programs"
fi

foreign_on() { # WIRE MODE PROGRAM
	inside ip link set dev "${port[$1]}" "$2" obj "$foreign/$3.o" sec xdp
}

limit='100/1h exact'

arm() { # WIRE
	# shellcheck disable=SC2086
	ringfence limit add any rate $limit dev "${port[$1]}" || bail 'cannot add a limit'
}

use_up() { # WIRE
	deliver "$1" src=192.0.2.1,count=300
}

nothing_more() { # WIRE NAME
	deliver "$1" src=192.0.2.1,count=50
	is "$(passed)" 0 "$2"
}

# ---- a foreign program without a chain ----

make_network 2
add_wire 2 mtu 9000
in_place="a foreign XDP program is in place"

foreign_on 0 xdpgeneric foreign
id=$(program_on 0)
does 'replace puts a fence in native mode in place of a program in generic mode' \
	"${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced 'foreign' (id $id)" ringfence attach "${port[0]}" replace
is "$(interfaces 0)" "${port[0]}: native, ringfence" \
	"a fence that replaced a program is attached by ringfence's own link"
check 'replace unloads the program that it replaced' eventually program_is_gone "$id"
deliver 0 src=192.0.2.1,count=30
is "$(passed) $(counted 0)" '30 30' 'a fence that replaced a program counts and passes packets'
fails 'attach chain is refused for a fence that is attached alone' 1 \
	"ringfence: ${port[0]}: already attached, but not in a chain; to attach it in a chain, first run 'ringfence \
detach ${port[0]}', which loses its windows" ringfence attach "${port[0]}" chain
does 'attach replace has nothing to do where ringfence is attached' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}" replace
ringfence detach "${port[0]}" >"$scratch/log"

inside ip link set dev lo xdpgeneric obj "$foreign/foreign.o" sec xdp # it has no native mode
id=$(inside ip -j link show dev lo | jq -r '.[0].xdp.prog.id')
matches "$(describe ringfence attach lo replace fence "$run-lo")" \
	$'exit 1\n\nstderr: ringfence: lo: cannot attach in native mode: Operation not supported \(Underlying .*\); .*' \
	'attach replace fails where native mode is not to be had, for the kernel'"'"'s reason'
is "$(inside ip -j link show dev lo | jq -r '.[0].xdp.prog.id')" "$id" \
	'attach replace that fails puts the other program back'
check 'attach replace that fails pins nothing' test ! -e "$pins/$run-lo"
inside ip link set dev lo xdpgeneric off

bpftool prog load "$foreign/foreign.o" "/sys/fs/bpf/$run-foreign" || bail 'cannot pin a program'
start inside "$foreign/holder" "/sys/fs/bpf/$run-foreign" "${port[0]}" >"$scratch/held"
holder=$started_pid
eventually test -s "$scratch/held" || bail 'the holder does not hold'
id=$(program_on 0)
link=$(bpftool -j link show | jq ".[] | select(.type == \"xdp\" and .prog_id == $id).id")
for words in '' replace chain; do
	# shellcheck disable=SC2086
	fails "attach ${words:-alone}: refused, and names the program and the link that holds it" 1 \
		"ringfence: ${port[0]}: $in_place: 'foreign' (id $id), held by bpf_link $link of another \
process; stop that process, or run 'bpftool link detach id $link'" \
		ringfence attach "${port[0]}" $words
done
is "$(program_on 0)" "$id" 'attach leaves a program that a link holds in place'
is "$(ringfence doctor "${port[0]}" --json 2>/dev/null | jq -r '.interfaces[0].checks[] |
	select(.check == "program") | "\(.level): \(.text); \(.command)"')" "problem: another XDP program is \
in place: 'foreign' (id $id), held by bpf_link $link of another process; stop that process, or detach \
the link; bpftool link detach id $link" 'doctor names the link that holds another program'
inside ip link set dev "${port[0]}" xdp off 2>"$scratch/refused"
is "$(test -s "$scratch/refused" && program_on 0)" "$id" "ip link cannot take off a program that a link holds"
does 'the remedy for a program that a link holds works: bpftool link detach' '' bpftool link detach id "$link"
is "$(ringfence doctor "${port[0]}" --json 2>/dev/null | jq -r '.interfaces[0].checks[] |
	select(.check == "program") | .text')" 'no XDP program is in place' \
		'doctor finds no program once the link is detached'
does 'attach succeeds once the link of another program is detached' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}"
stop TERM "$holder"
ringfence detach "${port[0]}" >"$scratch/log"

# ---- chains that are impossible ----

cannot="cannot attach in a chain"
fails "attach chain without libxdp's dispatcher names the package to install" 1 \
	"ringfence: ${port[0]}: $cannot: libxdp does not find its dispatcher, xdp-dispatcher.o; install \
the package libxdp1 (Debian, Ubuntu, openSUSE), libxdp (Fedora) or xdp-tools (Arch)" \
	env LIBXDP_OBJECT_PATH=/nonexistent nsenter --net="/run/netns/rf-test-$$-inside" \
	build/ringfence attach "${port[0]}" chain
no_chain="ringfence: ${port[0]}: $cannot: libxdp cannot make one here: a chain needs Linux 5.10 \
or newer with programs of type EXT, and LIBXDP_SKIP_DISPATCHER must not be set; leave 'chain' out, or see \
'--verbose'"
fails 'attach chain fails where LIBXDP_SKIP_DISPATCHER is set' 1 "$no_chain" \
	env LIBXDP_SKIP_DISPATCHER=1 nsenter --net="/run/netns/rf-test-$$-inside" \
	build/ringfence attach "${port[0]}" chain
is "$(program_on 0)" none 'attach chain that fails leaves no program on the interface'
check 'attach chain that fails leaves no pins' test ! -e "$pins/${port[0]}"

# Determines with libxdp's own tool whether chains work, to distinguish faults of ringfence from the
# kernel's.
inside xdp-loader load -m native "${port[0]}" "$foreign/foreign.o" >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
name=$(bpftool -j prog show id "$(program_on 0)" | jq -r .name)
inside xdp-loader unload -a "${port[0]}" >"$scratch/log" 2>&1
if [ "$name" != xdp_dispatcher ]; then
	fails 'attach chain fails on a kernel without programs of type EXT' 1 "$no_chain" \
		ringfence attach "${port[0]}" chain
	is "$(program_on 0)" none 'attach chain without programs of type EXT leaves no program on the interface'
	pass 'chains behind xdp-filter # SKIP xdp-loader, too, makes no dispatcher on this kernel'
	done_testing
fi

# ---- behind xdp-filter ----

# The programs of a wire's chain, in the order that status prints.
chain() { # WIRE
	ringfence status --json dev "${port[$1]}" | jq -r '.interfaces[0].chain | join(" ")'
}

load_filter() { # WIRE [OPTION…]
	inside xdp-filter load "${port[$1]}" -f ipv4 -p allow "${@:2}" >"$scratch/log" 2>&1 ||
		bail "xdp-filter: $(<"$scratch/log")"
	inside xdp-filter ip -m src "$denied" >"$scratch/log" 2>&1 ||
		bail "xdp-filter: $(<"$scratch/log")"
}

hits() {
	inside xdp-filter status | awk -v address="$denied" '$1 == address { print $NF }'
}

has_hits() {
	[ "$(hits)" = "$1" ]
}

# xdp-filter drops these packets, and ringfence never sees them.
filtered() { # WIRE NAME
	local fence hits

	hits=$(hits)
	fence=$(counted "$1")
	outside build/tests/traffic send dev "out$1" to "02:00:00:00:0$1:02" \
		flow "src=$denied,count=50" >"$scratch/log"
	check "$2" eventually has_hits $((hits + 50))
	is "$(counted "$1")" "$fence" "$2: ringfence does not see the packets"
}

load_filter 0 -m native
dispatcher=$(program_on 0)
fails 'attach without chain is refused beside xdp-filter, and names chain and replace' 1 \
	"ringfence: ${port[0]}: $in_place: libxdp's dispatcher (id $dispatcher) with 'xdpfilt_alw_ip'; \
'ringfence attach ${port[0]} chain' runs alongside it, 'ringfence attach ${port[0]} replace' detaches it" \
	ringfence attach "${port[0]}"
fails 'attach chain mode generic is refused in a chain in native mode' 1 \
	"ringfence: ${port[0]}: its chain is in native mode; write 'ringfence attach ${port[0]} chain \
mode native'" ringfence attach "${port[0]}" chain mode generic
check 'attach that a chain refuses leaves no pins' test ! -e "$pins/${port[0]}"
does 'attach chain joins a chain with xdp-filter' \
	"${port[0]}: attached in native mode, in a chain, fence '${port[0]}'" \
	ringfence attach "${port[0]}" chain
check 'attach chain pins the program and the maps' \
	test -e "$pins/${port[0]}/xdp" -a -e "$pins/${port[0]}/windows4"
is "$(ringfence status | unwrapped | sed -n 2p)" \
	"  ${port[0]}: native mode, attached by ringfence, in a chain: 'xdpfilt_alw_ip', 'ringfence'" \
	'status names the programs of a chain in their order'
does 'a second attach without chain has nothing to do in a chain' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[0]}"
does 'a second attach with chain has nothing to do in a chain' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}" chain
does 'limit add works for a fence in a chain' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
forget_traffic
use_up 0
is "$(passed)" 100 'a limit of 100 passes 100 packets behind xdp-filter'
filtered 0 'xdp-filter before ringfence drops what it denies'
conserves 0 'sent = passed + dropped of what xdp-filter passed'
ringfence save >"$scratch/rules"
matches "$(ringfence show 192.0.2.1)" '(.|'$'\n'')*192\.0\.2\.1(.|'$'\n'')*' \
	'show finds a source of a fence in a chain'
matches "$(ringfence top)" '(.|'$'\n'')*192\.0\.2\.1(.|'$'\n'')*' 'top lists a source of a fence in a chain'
check 'apply of saved rules works for a fence in a chain' ringfence apply "$scratch/rules"
nothing_more 0 'windows of a fence in a chain are kept over apply'

# ---- others come and go ----

inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1
is "$(chain 0)" ringfence 'ringfence stays in a chain that xdp-filter leaves'
nothing_more 0 'a fence keeps its windows when xdp-filter leaves its chain'
load_filter 0 -m native
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' 'xdp-filter joins a chain before ringfence'
filtered 0 'xdp-filter that joined before ringfence drops what it denies'
nothing_more 0 'a fence keeps its windows when xdp-filter joins its chain'
inside xdp-loader load -m native "${port[0]}" "$foreign/last.o" >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence last' 'a program without a priority joins a chain behind ringfence'
before=$(stats 0 .packets.passed)
deliver 0 src=192.0.2.9,count=20
is "$(passed) $(($(stats 0 .packets.passed) - before))" '0 20' \
	'a program behind ringfence gets the packets that ringfence passes'
does 'detach of a fence in a chain succeeds' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'detach of a fence in a chain removes its pins' test ! -e "$pins/${port[0]}"
matches "$(inside xdp-loader status "${port[0]}")" \
	'(.|'$'\n'')*xdp_dispatcher(.|'$'\n'')*xdpfilt_alw_ip(.|'$'\n'')*last(.|'$'\n'')*' \
	'detach of a fence in a chain leaves the other programs in place'
dispatcher=$(program_on 0)
does 'attach replace takes a whole chain off' \
	"${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced libxdp's dispatcher (id $dispatcher) with 'xdpfilt_alw_ip', 'last'" \
	ringfence attach "${port[0]}" replace
check 'attach replace removes the pins of a whole chain' \
	test ! -e "$(echo /sys/fs/bpf/xdp/dispatch-*-"$dispatcher")"
check 'attach replace unloads the programs of a whole chain' eventually program_is_gone "$dispatcher"
ringfence detach "${port[0]}" >"$scratch/log"

# ---- ringfence first ----

does 'attach chain begins a chain on an interface without program' \
	"${port[1]}: attached in native mode, in a chain, fence '${port[1]}'" \
	ringfence attach "${port[1]}" chain
arm 1
forget_traffic
use_up 1
is "$(passed)" 100 'a limit of 100 passes 100 packets in a chain that ringfence began'
load_filter 1 -m native
is "$(chain 1)" 'xdpfilt_alw_ip ringfence' 'xdp-filter joins a chain that ringfence began, before ringfence'
nothing_more 1 'a window stays used up when xdp-filter joins a chain that ringfence began'
filtered 1 'xdp-filter in a chain that ringfence began drops what it denies'
conserves 1 'sent = passed + dropped in a chain that ringfence began'
does 'detach of a fence in a chain that ringfence began succeeds' \
	"${port[1]}: detached" ringfence detach "${port[1]}"
inside xdp-filter unload "${port[1]}" >"$scratch/log" 2>&1
is "$(program_on 1)" none 'no program is left when all programs of a chain are detached'

# ---- one fence, in a chain and without ----

ringfence attach "${port[0]}" chain fence "$run-both" >"$scratch/log"
does 'an interface joins a fence in a chain without a chain of its own' \
	"${port[1]}: attached in native mode, fence '$run-both'" \
	ringfence attach "${port[1]}" fence "$run-both"
arm 0
use_up 0
nothing_more 1 'an interface in a chain and one without share the windows of their fence'
ringfence detach "${port[1]}" >"$scratch/log"
check 'pins stay while one interface of a fence is in a chain' test -e "$pins/$run-both/xdp"
ringfence detach "${port[0]}" >"$scratch/log"
check 'pins are removed when the last interface of a fence leaves its chain' test ! -e "$pins/$run-both"

# ---- generic mode, and a jumbo MTU ----

load_filter 0 -m skb
fails 'attach chain without generic mode is refused in a chain in generic mode' 1 \
	"ringfence: ${port[0]}: its chain is in generic mode; write 'ringfence attach ${port[0]} chain \
mode generic'" ringfence attach "${port[0]}" chain
does 'attach chain mode generic joins a chain in generic mode' \
	"${port[0]}: attached in generic mode, in a chain, fence '${port[0]}'
generic mode counts packets merged by the kernel (GRO) as one packet" \
	ringfence attach "${port[0]}" chain mode generic
arm 0
forget_traffic
use_up 0
is "$(passed)" 100 'a limit of 100 passes 100 packets in a chain in generic mode'
filtered 0 'xdp-filter in a chain in generic mode drops what it denies'
conserves 0 'sent = passed + dropped in a chain in generic mode'
ringfence detach "${port[0]}" >"$scratch/log"
inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1

does 'attach chain takes the entry for frames in several buffers with a jumbo MTU' \
	"${port[2]}: attached in native mode (frags, for its jumbo MTU), in a chain, fence '${port[2]}'" \
	ringfence attach "${port[2]}" chain
forget_traffic
deliver 2 src=192.0.2.1,count=20,len=8000
is "$(passed)" 20 'jumbo frames pass a fence in a chain'
conserves 2 'jumbo frames are counted with all their bytes in a chain'
ringfence detach "${port[2]}" >"$scratch/log"
is "$(program_on 2)" none 'detach leaves no program where ringfence was alone in a chain'

# ---- ip -force ----

ringfence attach "${port[1]}" chain >"$scratch/log"
arm 1
use_up 1
dispatcher=$(program_on 1)
inside ip -force link set dev "${port[1]}" xdpdrv obj "$foreign/foreign.o" sec xdp
id=$(program_on 1)
fails 'after ip -force took a chain off, status names the foreign program' 1 \
	"ringfence: ${port[1]}: no fence attached, but the XDP program 'foreign' (id $id), which is not \
ringfence; 'bpftool prog show id $id' prints details" ringfence status dev "${port[1]}"
does 'attach replace brings a fence back after ip -force' \
	"${port[1]}: attached in native mode, fence '${port[1]}'
${port[1]}: replaced 'foreign' (id $id)" ringfence attach "${port[1]}" replace
nothing_more 1 'a fence keeps limit and windows over ip -force and attach replace'
fails 'ip -force does not take off what a link holds' 2 "Error: Can't replace active BPF XDP link." \
	inside ip -force link set dev "${port[1]}" xdpdrv obj "$foreign/foreign.o" sec xdp
is "$(interfaces 1)" "${port[1]}: native, ringfence" \
	'a fence that a link holds is still attached after ip -force'
ringfence detach "${port[1]}" >"$scratch/log"
rm -r /sys/fs/bpf/xdp/dispatch-*-"$dispatcher" # which ip has left

# ---- a full chain ----

inside xdp-loader load -m native "${port[1]}" "$foreign"/{foreign,foreign,foreign,foreign,foreign}.o \
	"$foreign"/{foreign,foreign,foreign,foreign,foreign}.o >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
names=$(printf "'foreign', %.0s" {1..10})
fails 'attach chain is refused in a chain of ten programs' 1 \
	"ringfence: ${port[1]}: $cannot: it is full, with ${names%, }; detach one, with the tool that attached it" \
	ringfence attach "${port[1]}" chain
check 'attach chain that a full chain refuses leaves no pins' test ! -e "$pins/${port[1]}"
inside xdp-loader unload -a "${port[1]}" >"$scratch/log" 2>&1

# ---- upgrades ----

if [ -x newer/build/ringfence ]; then # built elsewhere, for a guest
	newer=newer/build/ringfence
else
	require "$newer"
fi

tag() { # WIRE
	bpftool -j prog show id "$(ringfence status --json dev "${port[$1]}" | jq .program_id)" | jq -r .tag
}

load_filter 0 -m native
ringfence attach "${port[0]}" chain >"$scratch/log"
arm 0
use_up 0
old=$(tag 0)
does 'attach by a newer build upgrades a fence in a chain' \
	"${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are preserved" \
	newer attach "${port[0]}"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' 'an upgraded fence is in its chain once, in its place'
check 'an upgrade puts another program in the chain' test "$(tag 0)" != "$old"
is "$(tag 0)" "$(bpftool -j prog show pinned "$pins/${port[0]}/xdp" | jq -r .tag)" \
	'an upgrade in a chain pins the new program'
nothing_more 0 'a window stays used up over an upgrade in a chain'
filtered 0 'xdp-filter beside an upgraded fence drops what it denies'

upgrades() {
	until [ -e "$scratch/enough" ]; do
		ringfence attach "${port[0]}" && newer attach "${port[0]}"
	done
}

upgrades >"$scratch/upgrades" 2>&1 &
upgrader=$!
deliver 0 src=192.0.2.1,count=4000,rate=500
touch "$scratch/enough"
wait $upgrader
is "$(passed)" 0 'no packet passes unlimited during many upgrades in a chain'
matches "$(sort "$scratch/upgrades" | uniq -c)" \
	" +[0-9]+ ${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are preserved" \
	'every one of many upgrades in a chain succeeds'

# libxdp removes the old dispatcher's directory when the new dispatcher is attached: then two
# components of ours exist.
ringfence attach "${port[0]}" >"$scratch/log"
strace -f -qq -e trace=rmdir -e inject=rmdir:signal=KILL -o "$scratch/strace" \
	nsenter --net="/run/netns/rf-test-$$-inside" "$newer" attach "${port[0]}" \
	>"$scratch/log" 2>&1
is "$(chain 0)" 'xdpfilt_alw_ip ringfence ringfence' 'an upgrade in a chain that is killed leaves both programs'
nothing_more 0 'no packet passes unlimited after an upgrade in a chain was killed'
newer attach "${port[0]}" >"$scratch/log"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' \
	'attach after a killed upgrade leaves one program of ringfence in the chain'
check 'attach after a killed upgrade puts the new program in the chain' test "$(tag 0)" != "$old"
nothing_more 0 'windows are kept over a killed upgrade in a chain'
does 'detach of a fence in a chain after upgrades succeeds' "${port[0]}: detached" ringfence detach "${port[0]}"
is "$(inside xdp-loader status "${port[0]}" | awk '$1 == "=>" { print $3 }')" xdpfilt_alw_ip \
	'detach after upgrades leaves xdp-filter in the chain'
inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1

# ---- challenges ----

all="$clients of $clients"
patience=180 # s, of clients that must succeed

# A download from the address of wire 3, which continues until the end of the test.
start_download() {
	# shellcheck disable=SC2016 # the shell that it starts expands them
	start outside bash -c 'exec 3<>"/dev/tcp/$1/80" && printf "GET /large HTTP/1.0\r\n\r\n" >&3 &&
		exec cat <&3 >"$2"' download "${server[4]}" "$scratch/download"
	download_grows || bail 'cannot download'
}

download_is_longer() { # BYTES
	[ "$(stat -c %s "$scratch/download")" -gt "$1" ]
}

download_grows() {
	: >>"$scratch/download"
	eventually download_is_longer "$(stat -c %s "$scratch/download")"
}

# Clients are challenged in a chain.
answers() { # NAME
	local before

	before=$(reason proven)
	gets 4 80 page "$all" "$1: new clients get their page" $patience
	gets 4 53 query "$all" "$1: new clients get their DNS answer" $patience
	is $(($(reason proven) - before)) $((2 * clients)) "$1: each of them has proved its address"
}

add_wire 3
connect_servers 3
catch_responses
start_web_server ''
start_dns_server
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
start_download
load_filter 3 -m native
ringfence attach "${port[3]}" chain >"$scratch/log"
exhaust_guard drop
check 'an open connection continues in a chain' download_grows
gets 4 80 page "0 of $clients" 'then drop in a chain: new clients get no page'
exhaust_guard challenge
check 'an open connection continues in a chain that challenges newcomers' download_grows
answers 'challenges behind xdp-filter'

# xdp-filter drops the SYNs of one client.
inside xdp-filter ip -m src "$(nth_client 4 $(((visits + 1) * 100)))" >"$scratch/log" 2>&1
before=$(reason challenged)
gets 4 80 page "$((clients - 1)) of $clients" 'a client that xdp-filter denies is not answered'
inside xdp-filter ip -m src -r "$(nth_client 4 $((visits * 100)))" >"$scratch/log" 2>&1
is $(($(reason challenged) - before)) $((clients - 1)) 'ringfence does not see the SYN of a client that xdp-filter denies'

# The program behind ringfence drops each packet that it receives: no answer, but each proof.
inside xdp-loader load -m native "${port[3]}" "$foreign/last.o" >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
is "$(chain 3)" 'xdpfilt_alw_ip ringfence last' 'a program joins a chain behind a fence that challenges newcomers'
gets 4 80 page "0 of $clients" 'no client gets past a program behind ringfence that drops all'
is "$(jq .connected <<<"$visited")" "$clients" 'a program behind ringfence does not receive a SYN that ringfence answers'
gets 4 53 query "0 of $clients" 'no resolver gets past a program behind ringfence that drops all'
is "$(jq .truncated <<<"$visited")" "$clients" 'a program behind ringfence does not receive a query that ringfence answers'
last=$(inside xdp-loader status "${port[3]}" | awk '$3 == "last" { print $4 }')
inside xdp-loader unload -i "$last" "${port[3]}" >"$scratch/log" 2>&1
is "$(chain 3)" 'xdpfilt_alw_ip ringfence' 'a program leaves a chain behind a fence that challenges newcomers'
guard_rate=99/1h # with new windows: the proofs of the other rate are used up
exhaust_guard challenge
does 'attach by a newer build upgrades a fence that challenges newcomers in a chain' \
	"${port[3]}: upgraded in place, fence '${port[3]}'; windows and counters are preserved" \
	newer attach "${port[3]}"
check 'an open connection continues over an upgrade in a chain' download_grows
gets 4 80 page "$all" 'challenges after an upgrade in a chain: new clients get their page' $patience
gets 4 53 query "$all" 'challenges after an upgrade in a chain: new clients get their DNS answer' $patience
newer detach "${port[3]}" >"$scratch/log"
inside xdp-filter unload "${port[3]}" >"$scratch/log" 2>&1

done_testing
