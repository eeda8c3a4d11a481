#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `doctor`: each problem that can be created here is created and reported, and is gone after its
# fix, which is run as printed. Also exit status, JSON, and runs without privileges.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}     and pairs, bridges, macvlans, taps
#
# tests/unit/test_diagnose.c has rows for VLANs, bonds and hardware.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/findings.sh
source tests/e2e/findings.sh

make_network 1
dev=${port[0]}

# ---- the machine ----

ringfence doctor >"$scratch/wrapped" 2>"$scratch/stderr"
status=$?
unwrapped <"$scratch/wrapped" >"$scratch/text"
is "exit $status $(<"$scratch/stderr")" 'exit 0 ' 'doctor finds no problem with this machine'
is "$(sed -n '2,/^interfaces$/s/^  \([a-z]*\) .*/\1/p' "$scratch/text" | grep -v note | sort -u)" ok \
	'doctor rates each check of this machine as ok or note'
is "$(grep -c "^  $dev  *ready" "$scratch/text")" 1 'doctor without an interface lists a veth as ready'
is "$(grep '^  lo ' "$scratch/text")" \
	"  lo              not ready for native mode; 'ringfence doctor lo' prints details" \
	'doctor without an interface lists the loopback as not ready for native mode'
look -
is "$looked, $(jq -c '(del(.schema) | keys), (.machine | keys), (.machine.checks[0] | keys),
	([.machine.checks[].check] | length == (unique | length))' "$scratch/report")" \
	'exit 0 , ["interfaces","machine","problems"]
["checks"]
["check","command","level","text"]
true' 'doctor --json has the documented keys and no check twice'
look "$dev"
is "$looked" 'exit 0 ' 'doctor of a veth finds no problem'
use "$quick"
is "$(jq -c '.problems, (.interfaces[] | .name, .driver, .program)' "$scratch/report")" '0
"'"$dev"'"
"veth"
"none"' 'doctor --json of a veth has name, driver and program'
is "$(ringfence doctor dev "$dev" --json | jq -r '.interfaces[].name')" "$dev" "doctor accepts 'dev IF'"
inside ip link property add dev "$dev" altname "${run}x"
look "${run}x"
is "$(jq -r '.interfaces[].name' "$scratch/report")" "$dev" 'doctor accepts an alternative name of an interface'
fails 'doctor of a missing interface fails' 1 \
	"ringfence: ${run}none: no such interface; 'ip link' lists the interfaces" \
	ringfence doctor "${run}none"
fails 'doctor with a word too many is wrong usage' \
	2 "ringfence: 'now': unexpected word; see 'ringfence help doctor'" ringfence doctor "$dev" now
is "$(inside ip -j link | jq -c '[.[] | .xdp.prog.id // empty]')" '[]' 'doctor leaves nothing attached'

# Names of a fence's maps as the kernel has them, without the tries inside other maps; some pins are
# not maps.
kinds_of_maps() {
	local path

	ringfence attach "$dev" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
	for path in "$pins/$dev"/*; do
		bpftool -j map show pinned "$path" 2>/dev/null | jq -r '.type // empty'
	done | sort -u
	ringfence detach "$dev" >"$scratch/log"
}
kinds_of_maps >"$scratch/kinds"
look -
is "$(jq -r '.machine.checks[].check | select(test("hash$|percpu_array$"))' "$scratch/report" |
	grep -vxFf "$scratch/kinds")" '' 'doctor checks no kind of map that a fence lacks'

# Runs in a private mount namespace.
hidden() { # SCRIPT
	inside unshare -m sh -c "$1" 2>&1
}
# shellcheck disable=SC2016 # for the inner shell
is "$(hidden 'umount -l /sys/fs/bpf
	'"$quick"' doctor --json >"'"$scratch"'/report"
	echo "exit $?"
	command=$(jq -r ".machine.checks[] | select(.check == \"bpffs\") | .command" "'"$scratch"'/report")
	echo "$command"
	$command
	'"$quick"' doctor >"'"$scratch"'/text"
	echo "exit $?"
	grep " bpffs " "'"$scratch"'/text"')" \
	'ringfence: 1 problem prevents a fence; its line has the fix
exit 1
mount -t bpf -o mode=0700 bpf /sys/fs/bpf
exit 0
  ok       bpffs           mounted at /sys/fs/bpf' \
	'doctor without a BPF file system shows a problem whose remedy works'
is "$(hidden 'mount -t tmpfs none /sys/kernel/btf && '"$quick"' doctor' | unwrapped | grep ' btf ')" \
	'  note     btf             no types of the kernel at /sys/kernel/btf/vmlinux; only iterators need them' \
	'doctor without BTF of the kernel shows a note'

# ---- privileges ----

cp build/ringfence "$scratch/ringfence" && chmod 755 "$scratch" "$scratch/ringfence"
weak() { # OPTION…
	inside setpriv --reuid=65534 --regid=65534 --clear-groups "$@" "$scratch/ringfence" doctor \
		"$dev" --json >"$scratch/report" 2>"$scratch/stderr"
	looked="exit $? $(<"$scratch/stderr")"
}
weak
is "$looked" "$(one_problem "$dev")" 'doctor works without any privilege and finds a problem'
is "$(finding privileges)" "problem: this process lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, \
which attaching needs; run 'sudo ringfence doctor'" \
	'doctor without privileges names the missing capabilities'
is "$(finding kernel)" "note: the features of Linux $(uname -r) are not known: trying them needs CAP_BPF and \
CAP_NET_ADMIN" 'doctor without privileges does not know what the kernel can do'
is "$(finding native)" 'ok: the driver has XDP, according to the kernel' \
	'doctor without privileges knows whether the driver has XDP'
few='+bpf,+net_admin,+perfmon'
weak --inh-caps="$few" --ambient-caps="$few"
is "$looked" 'exit 0 ' 'doctor with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON finds no problem'
is "$(finding privileges)" "note: enough to attach; what 'ip' attached is found with CAP_SYS_ADMIN only" \
	'doctor with three capabilities says what takes CAP_SYS_ADMIN'
is "$(jq -r '.machine.checks[] | select(.check == "program") | .text' "$scratch/report")" \
	"this build's program loads" 'doctor with three capabilities loads the program'
for less in net_admin,+perfmon bpf,+perfmon bpf,+net_admin; do
	weak --inh-caps="+$less" --ambient-caps="+$less"
	is "${looked%%;*}" "exit 1 ringfence: $dev: 1 problem prevents a fence" \
		"doctor with $less alone finds a problem"
done
is "$(finding privileges)" "problem: this process lacks CAP_PERFMON, which attaching needs; \
run 'sudo ringfence doctor'" 'doctor without CAP_PERFMON names the missing capability'
is "$(finding iterators)" 'note: BPF iterators over maps: not known: trying it needs more privileges; run it as root' \
	'doctor without CAP_PERFMON says that iterators are not known'
inside unshare -U -r build/ringfence doctor "$dev" --json >"$scratch/report" 2>"$scratch/stderr"
is "exit $? $(<"$scratch/stderr")" "$(one_problem "$dev")" 'doctor as the root of a container finds a problem'
is "$(finding privileges)" "problem: in a user namespace, where the kernel does not allow loading XDP \
programs; run it outside of the container" 'doctor as the root of a container explains the user namespace'

# ---- native mode ----

look lo
is "$looked" "$(one_problem lo)" 'doctor of the loopback interface finds one problem'
is "$(finding native)" "problem: the loopback interface has no native mode here, according to the kernel; run \
'ringfence attach lo mode generic'" 'doctor of the loopback interface recommends generic mode'
fails 'attach that fails in native mode points to doctor' \
	1 "ringfence: lo: cannot attach in native mode: Operation not \
supported (Underlying driver does not support XDP in native mode); 'ringfence doctor lo' prints the reason; \
'ringfence attach lo mode generic' may work" ringfence attach lo fence "$run-lo"
ringfence attach lo fence "$run-lo" mode generic >/dev/null
look lo
is "$looked" 'exit 0 ' 'doctor of a fence in generic mode finds no problem'
matches "$(finding program)" "note: ringfence runs in generic mode \(program id [0-9]+\): slow, and \
packets merged by the kernel \(GRO\) count as one packet; run 'ethtool -K lo gro off'" \
	'doctor of a fence in generic mode shows a note about merged packets'
remedied 'merged packets' lo program \
	'note: ringfence runs in generic mode \(program id [0-9]+\), which is slow'
ringfence detach lo >/dev/null

ringfence attach "$dev" fence "$run-g" mode generic >/dev/null
look "$dev"
matches "$(finding program)" "note: ringfence runs in generic mode .*; run 'ringfence detach $dev && \
ringfence attach $dev'" 'doctor recommends native mode for a fence in generic mode on a veth'
remedied 'generic mode' "$dev" program 'ok: ringfence runs in native mode \(program id [0-9]+\)'
is "$looked" 'exit 0 ' 'doctor of a fence in native mode finds no problem'
ringfence detach "$dev" >/dev/null

# ---- another program ----

compile() { # NAME: of the program
	clang -target bpf -O2 -x c -c -o "$scratch/$1.o" - <<-END || bail 'cannot compile a program'
		__attribute__((section("xdp"), used)) int $1(void *context) { return 2; }
		__attribute__((section("license"), used)) char gpl[] = "GPL";
	END
}
compile foreign
for mode in drv generic; do
	inside ip link set dev "$dev" xdp$mode obj "$scratch/foreign.o" sec xdp
	look "$dev"
	is "$looked" "$(one_problem "$dev")" "doctor finds one problem with another program by xdp$mode"
	off=xdp${mode#drv}
	is "$(finding program)" "problem: another XDP program is in place: 'foreign' (id $(program_on 0)); \
run 'ip link set dev $dev $off off'" "doctor names another program by xdp$mode and the command to take it off"
	remedied "xdp$mode" "$dev" program 'ok: no XDP program is in place'
done
compile xdp_dispatcher
inside ip link set dev "$dev" xdpdrv obj "$scratch/xdp_dispatcher.o" sec xdp
look "$dev"
is "$(finding program)" "problem: libxdp's dispatcher is in place (id $(program_on 0)), which runs the \
programs of others; 'xdp-loader status $dev' names them; run 'ringfence attach $dev chain'" \
	"doctor names libxdp's dispatcher and recommends a chain"
inside ip link set dev "$dev" xdp off

# ---- up ----

inside ip link set dev "$dev" down
look "$dev"
is "$(finding up)" "note: it is down, and receives nothing; run 'ip link set dev $dev up'" \
	'doctor notes an interface that is down'
remedied 'down' "$dev" up 'ok: it is up'

# ---- queues ----

a=${run}a b=${run}b
inside ip link add "$a" numrxqueues 2 numtxqueues 2 type veth peer name "$b" numrxqueues 2 numtxqueues 2
inside ip link set "$a" up
inside ip link set "$b" up
inside ethtool -L "$a" rx 1 tx 1
inside ethtool -L "$b" rx 1 tx 2
fails 'attach to a veth whose peer sends by more queues points to doctor' \
	1 "ringfence: $a: cannot attach in native mode: No space left \
on device (veth: XDP expects number of rx queues not less than peer tx queues); 'ringfence doctor \
$a' prints the reason; 'ringfence attach $a mode generic' may work" ringfence attach "$a"
is "$(inside ip -j link show dev "$a" | jq -c '[.[] | .xdp.prog.id // empty]')" '[]' \
	'asking for the reason of a refused attach leaves no program'
matches "$(describe ringfence attach "$a" chain)" "exit 1

stderr: ringfence: $a: cannot attach in a chain in native mode: No space left on device \(veth: XDP \
expects number of rx queues not less than peer tx queues\); .*" 'attach in a chain prints the reason of the driver'
look "$a"
is "$looked" "$(one_problem "$a")" 'doctor of a veth whose peer sends by more queues finds one problem'
is "$(finding peer)" "problem: $b has more send queues than $a has receive queues (1); veth refuses \
native mode then; run 'ethtool -L $a rx 2'" \
	'doctor of a veth whose peer sends by more queues recommends ethtool -L'
remedied 'queues' "$a" peer "ok: $b has 2 send queues, and $a has 2 receive queues"
does 'attach works after the remedy for a peer that sends by more queues' \
	"$a: attached in native mode, fence '$a'" ringfence attach "$a"
ringfence detach "$a" >/dev/null
inside ethtool -L "$b" tx 1
inside ethtool -L "$a" rx 1
look "$a"
if [ "$(nproc)" -gt 1 ]; then
	is "$(finding queues)" "note: 1 receive queue: 1 of $(nproc) CPUs does all the work; run \
'ethtool -L $a rx 2'" 'doctor notes one receive queue for all CPUs'
	remedied 'one queue' "$a" queues "ok: 2 receive queues, $(nproc) CPUs"
else
	is "$(finding queues)" 'ok: 1 receive queue, 1 CPU' 'doctor accepts one receive queue for one CPU'
fi

# ---- jumbo frames ----

inside ip link set dev "$b" mtu 9000
inside ip link set dev "$a" mtu 9000
look "$a"
is "$(finding mtu)" 'ok: 9000: the driver supports frames in several buffers' \
	'doctor accepts jumbo frames of a veth'
does 'attach works with jumbo frames on a veth' \
	"$a: attached in native mode (frags, for its jumbo MTU), fence '$a'" \
	ringfence attach "$a"
ringfence detach "$a" >/dev/null
inside ip tuntap add dev "${run}t" mode tap
inside ip link set dev "${run}t" mtu 9000
look "${run}t"
is "$(finding mtu)" 'ok: 9000: the driver accepts it' 'doctor accepts jumbo frames of a tap'
does 'attach works with jumbo frames on a tap' \
	"${run}t: attached in native mode (frags, for its jumbo MTU), fence '${run}t'" \
	ringfence attach "${run}t"
ringfence detach "${run}t" >/dev/null

# ---- an interface on top of another ----

inside ip link add link "$a" name "${run}m" type macvlan
inside ip link set "${run}m" up
look "${run}m"
is "$looked" "$(one_problem "${run}m")" 'doctor of a macvlan finds one problem'
is "$(finding native)" "problem: a macvlan has no native mode; its frames arrive on $a: a fence there \
sees them; run 'ringfence attach $a'" 'doctor of a macvlan recommends its lower interface'
remedied 'a macvlan' "${run}m" native "ok: its frames arrive on $a, which has a fence"
is "$looked" 'exit 0 ' 'doctor of a macvlan whose lower interface has a fence finds no problem'
ringfence detach "$a" >/dev/null

# ---- a bridge ----

inside ip link add name "${run}r" type bridge
inside ip link set "${run}r" up
inside ip link set dev "$b" master "${run}r"
look "$b"
is "$(finding port)" "ok: of ${run}r: a fence here also counts packets that ${run}r forwards" \
	'doctor of a port of a bridge notes that bridged packets count'
look "${run}r"
is "$(finding native)" "problem: a bridge has no native mode; its ports: $b can have it; run 'ringfence attach \
$b'" 'doctor of a bridge recommends its port'
remedied 'a bridge of one port' "${run}r" native "ok: its frames arrive on $b, each with a fence"
ringfence detach "$b" >/dev/null
inside ip link set dev "$dev" master "${run}r"
look "${run}r"
remedied 'a bridge of two ports' "${run}r" native \
	"ok: its frames arrive on ($dev $b|$b $dev), each with a fence"
is "$looked" 'exit 0 ' 'doctor of a bridge whose ports have fences finds no problem'
is "$(interfaces 0 | sort)" "$(printf '%s: native, ringfence\n' "$b" "$dev" | sort)" \
	'the remedy for a bridge of two ports attaches both ports'
ringfence detach "$b" >/dev/null
ringfence detach "$dev" >/dev/null
is "$(inside ip -j link | jq -c '[.[] | .xdp.prog.id // empty]')" '[]' \
	'detach of the ports of a bridge leaves no program'

# ---- without the means to try ----

# Runs without the descriptors that the test's caller has open.
with_files() { # FILES CMD…
	inside prlimit --nofile="$1" "${@:2}" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
}
short_of_files() { # FILES: which checks have more or different findings if a process can have this many
	with_files "$1" build/ringfence doctor --json 2>"$scratch/stderr" |
		jq -r '.machine.checks[] | select(.level == "problem" or (.text | test("lacks|privileges"))) |
			select(.check != "privileges") | "\(.check): \(.text); \(.command)"'
}
too_few="program: this process may open too few files to load this build's program; ulimit -n 1024"
is "$(short_of_files 1024)" '' 'doctor with 1024 files finds nothing missing'
for files in 4 5 6 7 12 16; do
	is "$(short_of_files $files)" "$too_few" \
		"doctor with $files files says that these are too few, and nothing else"
done
is "$(with_files 5 build/ringfence doctor --json 2>"$scratch/stderr" | jq -r '.machine.checks[] |
	select(.check == "map_of_maps") | "\(.level): \(.text)"')" \
	'note: arrays of maps: not known: trying it failed: Too many open files' \
		'doctor with 5 files says that it cannot try arrays of maps'
fails 'attach with 17 files says that these are too few' \
	1 "ringfence: cannot load the program: this process may open too few \
files; run 'ulimit -n 1024'" with_files 17 build/ringfence attach "$dev"
with_files 17:1024 sh -c "ulimit -n 1024 && build/ringfence attach $dev &&
	build/ringfence detach $dev" >"$scratch/text" 2>&1
is "exit $? $(tail -n 1 "$scratch/text")" "exit 0 $dev: detached" \
	'attach works after the remedy for too few files'

# ---- fences without an interface ----

strays() { # how many the report lists
	jq '[.machine.checks[] | select(.check == "fence")] | length' "$scratch/report"
}

use "$shipped"
a=${run}f b=${run}g
inside ip link add "$a" type veth peer name "$b"
ringfence attach "$a" >/dev/null
ringfence limit add any rate 7/1m dev "$a" >/dev/null
inside ip link del "$a"
look -
matches "$(finding fence)" "note: '$a' is on no interface here, and holds [1-9][0-9]* MiB: 'ringfence attach \
IF fence $a' attaches it again, with its rules; 'ringfence detach $a' removes it and its rules" \
	'doctor lists a fence whose interface was deleted, with its memory'
matches "$(ringfence status 2>/dev/null | tr -s "\n " " ")" "'$a' is on no interface here, and holds [1-9][0-9]* MiB: .*" \
	'status lists a fence whose interface was deleted'
ringfence attach "$dev" >/dev/null
is "$(ringfence status --json | jq -r '.without_interface[] | .fence, (.bytes > 1000000)' | xargs)" "$a true" \
	'the JSON of status lists it beside those that are attached'
ringfence detach "$dev" >/dev/null
inside ip link add "$a" type veth peer name "$b"
look -
matches "$(finding fence)" "note: .*; run 'ringfence attach $a'" \
	'doctor recommends to attach a fence again whose interface has come back'
does 'attach of an interface that has come back succeeds' "$a: attached in native mode, fence '$a'" \
	ringfence attach "$a"
is "$(ringfence save dev "$a" | grep -c '^limit add any rate 7/1m')" 1 'attach of an interface that has come back finds its rules'
look -
is "$(strays)" 0 'doctor lists no fence that has an interface'
inside ip link del "$a"
ringfence detach "$a" >/dev/null
look -
is "$(strays)" 0 'detach by the name of a fence without an interface removes it'

done_testing
