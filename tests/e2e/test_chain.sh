#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Beside other XDP programs, and instead of them: what is in place is named, 'replace' takes it off,
# 'chain' runs beside it through libxdp's dispatcher, in both orders, with xdp-filter and with a
# program behind ringfence.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}
#   out2  ----- wire 2, MTU 9000 ------>  ${port[2]}
#
# xdp-filter has its maps for the whole machine, so the source that it denies here is of this run
# alone. What must stay over its limit has a window of an hour, so that no speed is asked for.

# shellcheck disable=SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

denied=203.0.$(($$ / 250 % 250)).$(($$ % 250 + 1)) # by xdp-filter

# libxdp's pins outlive an interface: its programs go before that.
leave() {
	local wire

	for wire in 0 1 2; do
		inside xdp-filter unload "${port[$wire]}" >"$scratch/log" 2>&1
		inside xdp-loader unload -a "${port[$wire]}" >"$scratch/log" 2>&1
	done
	rm -f "/sys/fs/bpf/$run-foreign"
	cleanup
}
trap leave EXIT

# Somebody else's programs.
if [ -d foreign ]; then # built elsewhere, for a guest
	foreign=$PWD/foreign
else
	foreign=$scratch
	tests/e2e/foreign.sh "$foreign" || bail "cannot compile somebody else's programs"
fi

foreign_on() { # WIRE MODE PROGRAM
	inside ip link set dev "${port[$1]}" "$2" obj "$foreign/$3.o" sec xdp
}

# Packets of the last delivery that came out.
passed() {
	sum "$received" | cut -d' ' -f1
}

limit='100/1h exact'

arm() { # WIRE
	# shellcheck disable=SC2086
	ringfence limit add all rate $limit dev "${port[$1]}" || bail 'cannot add a limit'
}

use_up() { # WIRE
	deliver "$1" src=192.0.2.1,count=300
}

nothing_more() { # WIRE NAME
	deliver "$1" src=192.0.2.1,count=50
	is "$(passed)" 0 "$2"
}

# ---- somebody else's program, alone ----

make_network 2
add_wire 2 mtu 9000
in_place="a foreign XDP program is in place"

foreign_on 0 xdpgeneric foreign
id=$(program_on 0)
does 'a program in generic mode is replaced by one in native mode' \
	"${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced 'foreign' (id $id)" ringfence attach "${port[0]}" replace
is "$(interfaces 0)" "${port[0]}: native, ringfence" 'which a link of ours holds'
check 'and the other one is gone' eventually program_is_gone "$id"
deliver 0 src=192.0.2.1,count=30
is "$(passed) $(counted 0)" '30 30' 'packets meet the fence'
fails 'chain does not apply to a fence that is alone' 1 \
	"ringfence: ${port[0]}: already attached, but not in a chain; to attach it in a chain, first run 'ringfence \
detach ${port[0]}', which loses its windows" ringfence attach "${port[0]}" chain
does 'replace has nothing to do where ringfence is' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}" replace
ringfence detach "${port[0]}" >"$scratch/log"

inside ip link set dev lo xdpgeneric obj "$foreign/foreign.o" sec xdp # it has no native mode
id=$(inside ip -j link show dev lo | jq -r '.[0].xdp.prog.id')
matches "$(describe ringfence attach lo replace fence "$run-lo")" \
	$'exit 1\n\nstderr: ringfence: lo: cannot attach in native mode: Operation not supported; .*' \
	'what cannot be attached replaces nothing'
is "$(inside ip -j link show dev lo | jq -r '.[0].xdp.prog.id')" "$id" 'the other program is back'
check 'and nothing is pinned' test ! -e "$pins/$run-lo"
inside ip link set dev lo xdpgeneric off

bpftool prog load "$foreign/foreign.o" "/sys/fs/bpf/$run-foreign" || bail 'cannot pin a program'
start inside "$foreign/holder" "/sys/fs/bpf/$run-foreign" "${port[0]}" >"$scratch/held"
holder=$started_pid
eventually test -s "$scratch/held" || bail 'the holder does not hold'
id=$(program_on 0)
link=$(bpftool -j link show | jq ".[] | select(.type == \"xdp\" and .prog_id == $id).id")
for words in '' replace chain; do
	# shellcheck disable=SC2086
	fails "a program that a link holds is named, and stays: attach ${words:-alone}" 1 \
		"ringfence: ${port[0]}: $in_place: 'foreign' (id $id), held by bpf_link $link of another \
process; stop that process, or run 'bpftool link detach id $link'" \
		ringfence attach "${port[0]}" $words
done
is "$(program_on 0)" "$id" 'it is untouched'
is "$(ringfence doctor "${port[0]}" --json 2>/dev/null | jq -r '.interfaces[0].checks[] |
	select(.check == "program") | "\(.level): \(.text); \(.command)"')" "problem: another XDP program is \
in place: 'foreign' (id $id), held by bpf_link $link of what attached it; stop that, or take the link from \
it; bpftool link detach id $link" 'doctor names the link'
inside ip link set dev "${port[0]}" xdp off 2>"$scratch/refused"
is "$(test -s "$scratch/refused" && program_on 0)" "$id" "since to 'ip link' the kernel refuses it"
does 'its remedy works: detach the link' '' bpftool link detach id "$link"
is "$(ringfence doctor "${port[0]}" --json 2>/dev/null | jq -r '.interfaces[0].checks[] |
	select(.check == "program") | .text')" 'no XDP program is in place' 'and doctor is content'
does 'and attach' "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}"
stop TERM "$holder"
ringfence detach "${port[0]}" >"$scratch/log"

# ---- where there can be no chain ----

cannot="cannot attach in a chain"
fails 'without its dispatcher, the message names the package' 1 \
	"ringfence: ${port[0]}: $cannot: libxdp does not find its dispatcher, xdp-dispatcher.o; install \
the package libxdp1 (Debian, Ubuntu, openSUSE), libxdp (Fedora) or xdp-tools (Arch)" \
	env LIBXDP_OBJECT_PATH=/nonexistent nsenter --net="/run/netns/rf-test-$$-inside" \
	build/ringfence attach "${port[0]}" chain
no_chain="ringfence: ${port[0]}: $cannot: libxdp cannot make one here: a chain needs Linux 5.10 \
or newer with programs of type EXT, and LIBXDP_SKIP_DISPATCHER must not be set; leave 'chain' out, or see \
'--verbose'"
fails 'what libxdp attaches without a dispatcher is no chain' 1 "$no_chain" \
	env LIBXDP_SKIP_DISPATCHER=1 nsenter --net="/run/netns/rf-test-$$-inside" \
	build/ringfence attach "${port[0]}" chain
is "$(program_on 0)" none 'and nothing stays on the interface'
check 'nor in bpffs' test ! -e "$pins/${port[0]}"

# Asked of libxdp's own tool, so that no fault of ours passes for a kernel's.
inside xdp-loader load -m native "${port[0]}" "$foreign/foreign.o" >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
name=$(bpftool -j prog show id "$(program_on 0)" | jq -r .name)
inside xdp-loader unload -a "${port[0]}" >"$scratch/log" 2>&1
if [ "$name" != xdp_dispatcher ]; then
	fails 'a kernel without programs of type EXT has no chain' 1 "$no_chain" \
		ringfence attach "${port[0]}" chain
	is "$(program_on 0)" none 'and nothing is attached'
	pass 'chains # SKIP xdp-loader, too, makes no dispatcher on this kernel'
	done_testing
fi

# ---- behind xdp-filter ----

# The programs of a wire's chain, in their order, as status has them.
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

# xdp-filter drops these, and ringfence never sees them.
filtered() { # WIRE NAME
	local fence hits

	hits=$(hits)
	fence=$(counted "$1")
	outside build/tests/traffic send dev "out$1" to "02:00:00:00:0$1:02" \
		flow "src=$denied,count=50" >"$scratch/log"
	check "$2" eventually has_hits $((hits + 50))
	is "$(counted "$1")" "$fence" '… and they never reach ringfence'
}

load_filter 0 -m native
dispatcher=$(program_on 0)
fails 'what is in a chain is named, with both ways out' 1 \
	"ringfence: ${port[0]}: $in_place: libxdp's dispatcher (id $dispatcher) with 'xdpfilt_alw_ip'; \
'ringfence attach ${port[0]} chain' runs beside it, 'ringfence attach ${port[0]} replace' takes it off" \
	ringfence attach "${port[0]}"
fails 'a chain has one mode' 1 \
	"ringfence: ${port[0]}: its chain is in native mode; write 'ringfence attach ${port[0]} chain \
mode native'" ringfence attach "${port[0]}" chain mode generic
check 'a refusal leaves no pins' test ! -e "$pins/${port[0]}"
does 'ringfence joins the chain' "${port[0]}: attached in native mode, in a chain, fence '${port[0]}'" \
	ringfence attach "${port[0]}" chain
check 'its programs and maps are pinned as ever' \
	test -e "$pins/${port[0]}/xdp" -a -e "$pins/${port[0]}/windows4"
is "$(ringfence status | sed -n 2p)" \
	"  ${port[0]}: native mode, attached by ringfence, in a chain: 'xdpfilt_alw_ip', 'ringfence'" \
	'status names the programs in their order'
does 'attach once more has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[0]}"
does 'nor with the word' "${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}" chain
does 'a limit is added' '' ringfence limit add all rate 100/1h exact
forget_traffic
use_up 0
is "$(passed)" 100 'the limit holds behind xdp-filter'
filtered 0 'xdp-filter drops what it denies'
conserves 0 'sent = passed + dropped, of what xdp-filter passed'
ringfence save >"$scratch/rules"
matches "$(ringfence show 192.0.2.1)" '(.|'$'\n'')*192\.0\.2\.1(.|'$'\n'')*' 'show finds the source'
matches "$(ringfence top)" '(.|'$'\n'')*192\.0\.2\.1(.|'$'\n'')*' 'so does top'
check 'saved rules are applied' ringfence apply "$scratch/rules"
nothing_more 0 'with the same windows'

# ---- others come and go ----

inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1
is "$(chain 0)" ringfence 'xdp-filter goes, ringfence stays'
nothing_more 0 'with its windows'
load_filter 0 -m native
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' 'xdp-filter comes back, before ringfence'
filtered 0 'it drops'
nothing_more 0 'ringfence still has its windows'
inside xdp-loader load -m native "${port[0]}" "$foreign/last.o" >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence last' 'a program that says nothing comes behind ringfence'
before=$(stats 0 .packets.passed)
deliver 0 src=192.0.2.9,count=20
is "$(passed) $(($(stats 0 .packets.passed) - before))" '0 20' \
	'it gets what ringfence passes, and drops that here'
does 'detach' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'takes the pins with it' test ! -e "$pins/${port[0]}"
matches "$(inside xdp-loader status "${port[0]}")" \
	'(.|'$'\n'')*xdp_dispatcher(.|'$'\n'')*xdpfilt_alw_ip(.|'$'\n'')*last(.|'$'\n'')*' \
	'and leaves the others in place'
dispatcher=$(program_on 0)
does 'replace takes a whole chain off' \
	"${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced libxdp's dispatcher (id $dispatcher) with 'xdpfilt_alw_ip', 'last'" \
	ringfence attach "${port[0]}" replace
check 'with its pins' test ! -e "$(echo /sys/fs/bpf/xdp/dispatch-*-"$dispatcher")"
check 'and programs' eventually program_is_gone "$dispatcher"
ringfence detach "${port[0]}" >"$scratch/log"

# ---- ringfence first ----

does 'ringfence begins a chain' "${port[1]}: attached in native mode, in a chain, fence '${port[1]}'" \
	ringfence attach "${port[1]}" chain
arm 1
forget_traffic
use_up 1
is "$(passed)" 100 'the limit holds'
load_filter 1 -m native
is "$(chain 1)" 'xdpfilt_alw_ip ringfence' 'xdp-filter takes its place before it'
nothing_more 1 'the window is still used up'
filtered 1 'xdp-filter drops'
conserves 1 'sent = passed + dropped'
does 'detach' "${port[1]}: detached" ringfence detach "${port[1]}"
inside xdp-filter unload "${port[1]}" >"$scratch/log" 2>&1
is "$(program_on 1)" none 'nothing is left of the chain'

# ---- one fence, in a chain and alone ----

ringfence attach "${port[0]}" chain fence "$run-both" >"$scratch/log"
does 'another interface joins the fence, alone' \
	"${port[1]}: attached in native mode, fence '$run-both'" \
	ringfence attach "${port[1]}" fence "$run-both"
arm 0
use_up 0
nothing_more 1 'they share a budget'
ringfence detach "${port[1]}" >"$scratch/log"
check 'its pins stay while it is in the chain' test -e "$pins/$run-both/xdp"
ringfence detach "${port[0]}" >"$scratch/log"
check 'and go with that' test ! -e "$pins/$run-both"

# ---- generic mode, and a jumbo MTU ----

load_filter 0 -m skb
fails 'a chain in generic mode is joined in generic mode only' 1 \
	"ringfence: ${port[0]}: its chain is in generic mode; write 'ringfence attach ${port[0]} chain \
mode generic'" ringfence attach "${port[0]}" chain
does 'and so it is' "${port[0]}: attached in generic mode, in a chain, fence '${port[0]}'
generic mode counts what the kernel has merged (GRO) as one packet" \
	ringfence attach "${port[0]}" chain mode generic
arm 0
forget_traffic
use_up 0
is "$(passed)" 100 'its limit holds'
filtered 0 'xdp-filter drops'
conserves 0 'sent = passed + dropped'
ringfence detach "${port[0]}" >"$scratch/log"
inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1

does 'in a chain of its own it takes a jumbo MTU' \
	"${port[2]}: attached in native mode (frags, for its jumbo MTU), in a chain, fence '${port[2]}'" \
	ringfence attach "${port[2]}" chain
forget_traffic
deliver 2 src=192.0.2.1,count=20,len=8000
is "$(passed)" 20 'and frames of that size'
conserves 2 'and counts their bytes'
ringfence detach "${port[2]}" >"$scratch/log"
is "$(program_on 2)" none 'and is gone'

# ---- ip -force ----

ringfence attach "${port[1]}" chain >"$scratch/log"
arm 1
use_up 1
dispatcher=$(program_on 1)
inside ip -force link set dev "${port[1]}" xdpdrv obj "$foreign/foreign.o" sec xdp
id=$(program_on 1)
fails 'ip -force takes a whole chain off' 1 \
	"ringfence: ${port[1]}: no fence attached, but the XDP program 'foreign' (id $id), which is not \
ringfence; 'bpftool prog show id $id' tells more" ringfence status dev "${port[1]}"
does 'replace brings the fence back' "${port[1]}: attached in native mode, fence '${port[1]}'
${port[1]}: replaced 'foreign' (id $id)" ringfence attach "${port[1]}" replace
nothing_more 1 'with its limit and its windows'
fails 'ip -force does not take off what a link holds' 2 "Error: Can't replace active BPF XDP link." \
	inside ip -force link set dev "${port[1]}" xdpdrv obj "$foreign/foreign.o" sec xdp
is "$(interfaces 1)" "${port[1]}: native, ringfence" 'so the fence is still there'
ringfence detach "${port[1]}" >"$scratch/log"
rm -r /sys/fs/bpf/xdp/dispatch-*-"$dispatcher" # which ip has left

# ---- a full chain ----

inside xdp-loader load -m native "${port[1]}" "$foreign"/{foreign,foreign,foreign,foreign,foreign}.o \
	"$foreign"/{foreign,foreign,foreign,foreign,foreign}.o >"$scratch/log" 2>&1 ||
	bail "xdp-loader: $(<"$scratch/log")"
names=$(printf "'foreign', %.0s" {1..10})
fails 'an eleventh program finds no room' 1 \
	"ringfence: ${port[1]}: $cannot: it is full, with ${names%, }; detach one, with the tool that attached it" \
	ringfence attach "${port[1]}" chain
check 'and leaves no pins' test ! -e "$pins/${port[1]}"
inside xdp-loader unload -a "${port[1]}" >"$scratch/log" 2>&1

# ---- upgrades ----

if [ -x newer/build/ringfence ]; then # built elsewhere, for a guest
	newer_build=newer/build/ringfence
else
	variant newer bpf/ringfence.bpf.c '/^int ringfence.*(struct xdp_md \*ctx)$/ { n
s/{/{\n\tif (ctx->ingress_ifindex == ~0U)\n\t\treturn XDP_PASS;/ }'
	newer_build=$scratch/newer/build/ringfence
fi

newer() {
	inside "$newer_build" "$@"
}

tag() { # WIRE
	bpftool -j prog show id "$(ringfence status --json dev "${port[$1]}" | jq .program_id)" | jq -r .tag
}

load_filter 0 -m native
ringfence attach "${port[0]}" chain >"$scratch/log"
arm 0
use_up 0
old=$(tag 0)
does 'a chained fence is upgraded in place' \
	"${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are kept" \
	newer attach "${port[0]}"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' 'one component of it is left, in its place'
check 'which is the new one' test "$(tag 0)" != "$old"
is "$(tag 0)" "$(bpftool -j prog show pinned "$pins/${port[0]}/xdp" | jq -r .tag)" 'as is pinned'
nothing_more 0 'the window is still used up'
filtered 0 'xdp-filter drops'

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
is "$(passed)" 0 'while it is upgraded again and again, no packet passes unlimited'
matches "$(sort "$scratch/upgrades" | uniq -c)" \
	" +[0-9]+ ${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are kept" \
	'and every upgrade succeeds'

# libxdp removes the old dispatcher's directory when the new one is on: two components of ours then.
ringfence attach "${port[0]}" >"$scratch/log"
strace -f -qq -e trace=rmdir -e inject=rmdir:signal=KILL -o "$scratch/strace" \
	nsenter --net="/run/netns/rf-test-$$-inside" "$newer_build" attach "${port[0]}" \
	>"$scratch/log" 2>&1
is "$(chain 0)" 'xdpfilt_alw_ip ringfence ringfence' 'an upgrade that is killed leaves both programs'
nothing_more 0 'no packet passes unlimited'
newer attach "${port[0]}" >"$scratch/log"
is "$(chain 0)" 'xdpfilt_alw_ip ringfence' 'the next attach makes it good'
check 'with the new program' test "$(tag 0)" != "$old"
nothing_more 0 'and with the windows'
does 'detach' "${port[0]}: detached" ringfence detach "${port[0]}"
is "$(inside xdp-loader status "${port[0]}" | awk '$1 == "=>" { print $3 }')" xdpfilt_alw_ip \
	'leaves xdp-filter alone'
inside xdp-filter unload "${port[0]}" >"$scratch/log" 2>&1

done_testing
