#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fences that `ringfence attach` created: pins, sharing, upgrades in place, and remains after
# devices vanish and commands are killed.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}
#   out2  ----- wire 2, MTU 9000 ------>  ${port[2]}
#   out3  ---------- wire 3 ----------->  ${port[3]}, with a dot in its name; comes, goes, is renamed
#
# Limits that must remain exceeded have a window of an hour, so no test depends on speed.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

shared=$run-shared # a fence by name
abi=$(sed -n 's/^#define RF_ABI_VERSION //p' include/ringfence/abi.h)

# A program with another map ABI.
alien() {
	inside "$alien" "$@"
}

# program_field FIELD id ID
#
# program_field FIELD pinned PATH: prints what bpftool knows of a program
program_field() {
	bpftool -j prog show "${@:2}" | jq -r ".$1"
}

# Is the pinned program, which is for future interfaces, the one that runs on the present
# interfaces?
pins_are_up_to_date() { # FENCE, which is on wire 0
	[ "$(program_field tag id "$(program_on 0)")" = \
		"$(program_field tag pinned "$pins/$1/xdp")" ]
}

is_pinned() { # FENCE ENTRY…, where an entry can be a pattern
	local entry

	for entry in "${@:2}"; do
		compgen -G "$pins/$1/$entry" >"$scratch/entry" || return 1
	done
}

# All that the reading commands print about a fence.
state() { # WIRE
	ringfence status dev "${port[$1]}" | unwrapped
	ringfence limit list dev "${port[$1]}"
	ringfence stats --json dev "${port[$1]}"
	ringfence top dev "${port[$1]}"
}

# A fence with a limit.
arm() { # what attach takes
	{ ringfence attach "$@" && ringfence limit add any rate 100/1h exact; } >"$scratch/log" 2>&1 ||
		bail "cannot make a fence: $(<"$scratch/log")"
}

# Uses up a limit of 100 by 300 packets of one source. nothing_more sends 50 more; none may pass.
use_up() { # WIRE
	deliver "$1" src=192.0.2.1,count=300
}

nothing_more() { # WIRE NAME
	deliver "$1" src=192.0.2.1,count=50
	is "$(passed)" 0 "$2"
}

make_network 2
add_wire 2 mtu 9000
port[3]=${run}p3.5
add_wire 3
# The tests here upgrade no interface with a jumbo MTU.
require "$quick" "$newer" "$alien"

# ---- one interface ----

does 'attach prints the mode and the fence' "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}"
check 'attach pins the program, the link and the maps' \
	is_pinned "${port[0]}" xdp 'link_*' config windows4
check 'attach pins no entry that the MTU does not need' test ! -e "$pins/${port[0]}/frags"
is "$(program_field id pinned "$pins/${port[0]}/xdp")" "$(program_on 0)" \
	'the pinned program is the one on the interface'
is "$(interfaces 0)" "${port[0]}: native, ringfence" 'status shows an interface that ringfence attached'
does 'limit add works on a fence that ringfence attached' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
use_up 0
is "$(passed)" 100 'a limit of 100 passes 100 of 300 packets'
id=$(program_on 0)
before=$(state 0)
does 'a second attach has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[0]}"
is "$(state 0)" "$before" 'a second attach keeps the program, limit, windows and counters'
nothing_more 0 'a used-up window stays used up over a second attach'
conserves 0 'sent = passed + dropped on one interface'
does 'detach prints the interface' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'detach removes the pins' test ! -e "$pins/${port[0]}"
check 'detach unloads the program' eventually program_is_gone "$id"

# ---- two interfaces ----

does 'attach of two interfaces makes a fence for each' "${port[0]}: attached in native mode, fence '${port[0]}'
${port[1]}: attached in native mode, fence '${port[1]}'" \
	ringfence attach "${port[0]}" "${port[1]}"
for wire in 0 1; do
	ringfence limit add any rate 100/1h exact dev "${port[$wire]}"
	use_up $wire
	is "$(passed)" 100 "wire $wire of two fences passes a source its own limit"
	ringfence detach "${port[$wire]}" >"$scratch/stdout"
done

does "attach of two interfaces with 'fence' makes one fence" \
	"${port[0]}: attached in native mode, fence '$shared'
${port[1]}: attached in native mode, fence '$shared'" \
	ringfence attach "${port[0]}" "${port[1]}" fence "$shared"
does 'limit add without dev changes the only fence' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
is "$(interfaces 1)" "${port[0]}: native, ringfence
${port[1]}: native, ringfence" 'status shows both interfaces of a shared fence'
forget_traffic
deliver 0 src=192.0.2.1,count=70
is "$(passed)" 70 'a source passes up to a shared limit on one wire'
deliver 1 src=192.0.2.1,count=70
is "$(passed)" 30 'a source passes the rest of a shared limit on the other wire'
conserves 0 'sent = passed + dropped over both wires of a shared fence'
fails 'attach of an attached interface to another fence is refused' 1 \
	"ringfence: ${port[0]}: already attached, to fence '$shared'; first run 'ringfence detach ${port[0]}'" \
	ringfence attach "${port[0]}" fence "$run-other"
does 'detach of one of two interfaces of a fence succeeds' "${port[0]}: detached" ringfence detach "${port[0]}"
is "$(program_on 0), $(interfaces 1)" "none, ${port[1]}: native, ringfence" \
	'detach of one of two interfaces leaves the other attached'
nothing_more 1 'a window stays used up when the other interface is detached'
does 'an interface that was detached joins its fence again' \
	"${port[0]}: attached in native mode, fence '$shared'" \
	ringfence attach "${port[0]}" fence "$shared"
nothing_more 0 'an interface that joins again finds the used-up window of the fence'
ringfence detach "${port[0]}" >"$scratch/stdout"
does 'detach of the last interface of a fence succeeds' "${port[1]}: detached" ringfence detach "${port[1]}"
check 'detach of the last interface removes the pins of the fence' test ! -e "$pins/$shared"

fails 'attach of two interfaces fails if one cannot be attached' 1 "ringfence: lo: cannot attach in native \
mode: Operation not supported (Underlying driver does not support XDP in native mode); 'ringfence doctor lo' prints the reason; 'ringfence attach lo \
mode generic' may work" \
	ringfence attach "${port[0]}" lo fence "$shared"
is "$(program_on 0)" none 'attach that fails for one interface leaves no program on the other'
check 'attach that fails for one interface pins nothing' test ! -e "$pins/$shared"

arm "${port[0]}"
does 'ip attaches the pinned program to another interface' '' \
	inside ip link set dev "${port[1]}" xdp pinned "$pins/${port[0]}/xdp"
is "$(interfaces 1)" "${port[0]}: native, ringfence
${port[1]}: native, ip" 'status shows an interface that ip attached to the pinned program'
use_up 0
nothing_more 1 'an interface that ip attached to the pinned program shares the window'
does 'attach of an interface that ip attached has nothing to do' \
	"${port[1]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[1]}"
does 'detach of the pinned link leaves what ip attached for later' \
	"${port[0]}: detached" ringfence detach "${port[0]}"
nothing_more 1 'a fence limits on after its pinned link was detached'
check 'a fence keeps its pins after its pinned link was detached' is_pinned "${port[0]}" xdp config
does 'detach of the interface that ip attached succeeds' "${port[1]}: detached" ringfence detach "${port[1]}"
check 'detach of the interface that ip attached removes the pins' test ! -e "$pins/${port[0]}"

# ---- modes, sizes ----

does 'attach with a jumbo MTU takes the entry for frames in several buffers' \
	"${port[2]}: attached in native mode (frags, for its jumbo MTU), fence '${port[2]}'" \
	ringfence attach "${port[2]}"
ringfence limit add any rate 100/1h exact
forget_traffic
deliver 2 src=192.0.2.1,count=300,len=9000 src=2001:db8::1,count=90,len=9000
is "$received" $'192.0.2.1 100 900000\n2001:db8::1 90 810000' 'a jumbo frame is charged once'
conserves 2 'jumbo frames are counted with all their bytes'
is "$(stats 2 '.limits[0].bytes | "\(.passed) \(.dropped)"')" "1710000 1800000" \
	'a limit counts all bytes of jumbo frames'
ringfence detach "${port[2]}" >"$scratch/stdout"

does 'attach in generic mode warns about merged packets' \
	"${port[0]}: attached in generic mode, fence '${port[0]}'
generic mode counts packets merged by the kernel (GRO) as one packet" \
	ringfence attach "${port[0]}" mode generic
is "$(interfaces 0)" "${port[0]}: generic, ringfence" 'status shows generic mode'
ringfence limit add any rate 100/1h exact
use_up 0
is "$(passed)" 100 'a limit of 100 passes 100 packets in generic mode'
does 'a second attach in generic mode has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do
generic mode counts packets merged by the kernel (GRO) as one packet" \
	ringfence attach "${port[0]}" mode generic
ringfence detach "${port[0]}" >"$scratch/stdout"

use "$quick"
cpus=$(tr , '\n' </sys/devices/system/cpu/possible |
	awk -F- '{ n += (NF == 2 ? $2 : $1) - $1 + 1 } END { print n }')
few=$((512 * cpus))
does 'attach with sources succeeds' "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" sources $((few + 7))
room() { # "MAP: ENTRIES", of maps that grow with the sources
	local map

	for map in windows4 windows6 slots4 slots6; do
		echo "$map: $(bpftool -j map show pinned "$pins/${port[0]}/$map" | jq .max_entries)"
	done
}
room_for() { # SOURCES: a map of windows has one entry more, see RF_WINDOWS_ENTRIES
	printf '%s\n' "windows4: $(($1 + 1))" "windows6: $(($1 + 1))" "slots4: $1" "slots6: $1"
}
is "$(room)" "$(room_for $((few + 7)))" 'the maps of windows and slots have the size of sources'
is "$(ringfence status --json dev "${port[0]}" | jq .sources)" "$((few + 7))" 'status shows the number of sources'
fails 'attach with another number of sources is refused' 1 \
	"ringfence: ${port[0]}: its fence has room for $((few + 7)) sources; for $few, first run 'ringfence detach ${port[0]}'" \
	ringfence attach "${port[0]}" sources $few
ringfence detach "${port[0]}" >"$scratch/stdout"
fails 'attach with too few sources for the CPUs is refused' 2 \
	"ringfence: 'sources $((few - 1))': too few for $cpus CPUs; take $few or more" \
	ringfence attach "${port[0]}" sources $((few - 1))
check 'attach with too few sources pins nothing' test ! -e "$pins/${port[0]}"

# ---- a machine of many CPUs ----

# Many CPUs as seen by user space only: the kernel's own number is unchanged.
on_cpus() { # COUNT CMD…
	echo "0-$(($1 - 1))" >"$scratch/possible"
	# shellcheck disable=SC2016 # for the inner shell
	inside unshare -m sh -c 'mount --bind "$1" /sys/devices/system/cpu/possible && shift && exec "$@"' \
		sh "$scratch/possible" "${@:2}"
}
use "$shipped"
for cpus in 128:65536 129:66048 256:131072; do
	IFS=: read -r cpus sources <<<"$cpus"
	does "$cpus CPUs: attach without sources succeeds" \
		"${port[0]}: attached in native mode, fence '${port[0]}'" \
		on_cpus "$cpus" "$build" attach "${port[0]}"
	is "$(room)" "$(room_for "$sources")" "$cpus CPUs: the maps have room for $sources sources"
	does "$cpus CPUs: a second attach has nothing to do" \
		"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
		on_cpus "$cpus" "$build" attach "${port[0]}"
	on_cpus "$cpus" "$build" limit add any rate 100/1h exact
	use_up 0
	is "$(passed)" 100 "$cpus CPUs: a limit of 100 passes 100 of 300 packets"
	lines[cpus]=$(bpftool -j map show pinned "$pins/${port[0]}/known_filter" | jq .max_entries)
	on_cpus "$cpus" "$build" detach "${port[0]}" >"$scratch/stdout"
done
check 'the known filter grows with the windows' test "${lines[256]}" -gt "${lines[128]}"
fails '256 CPUs: attach with 65536 sources is refused' 2 "ringfence: 'sources 65536': too few \
for 256 CPUs; take 131072 or more" \
	on_cpus 256 "$build" attach "${port[0]}" sources 65536
on_cpus 256 "$quick" doctor "${port[0]}" >"$scratch/stdout" 2>"$scratch/stderr"
is "exit $? $(<"$scratch/stderr")" 'exit 0 ' '256 CPUs: doctor finds no problem'

# ---- devices that come and go ----

colons=${port[3]//./:}
does 'an interface with a dot in its name is attached' \
	"${port[3]}: attached in native mode, fence '${port[3]}'" \
	ringfence attach "${port[3]}"
check 'an interface with a dot in its name is pinned with a colon' is_pinned "$colons" xdp 'link_*'
ringfence limit add any rate 100/1h exact
use_up 3
outside ip link del out3
check 'the pins survive a device that is deleted' is_pinned "$colons" xdp config
add_wire 3
does 'a device that was deleted and made again is attached' \
	"${port[3]}: attached in native mode, fence '${port[3]}'" ringfence attach "${port[3]}"
nothing_more 3 'a device that was made again has the limit and windows of its fence'

taken="fence '${port[3]}' is on another interface, renamed or of another network namespace; choose \
the fence: 'ringfence attach ${port[3]} fence NAME'"
outside ip link add "${port[3]}" type veth peer name spare
fails 'attach of a namesake in another network namespace is refused' 1 \
	"ringfence: ${port[3]}: $taken" outside "$build" attach "${port[3]}"
outside ip link del spare

name=${port[3]}
inside ip link set dev "$name" down
inside ip link set dev "$name" name "${run}new"
inside ip link set dev "${run}new" up
port[3]=${run}new
nothing_more 3 'a renamed interface keeps its windows'
does 'a renamed interface is upgraded' \
	"${run}new: upgraded in place, fence '$name'; windows and counters are preserved" \
	newer attach "${run}new"
nothing_more 3 'a renamed interface keeps its windows over an upgrade'
inside ip link add "$name" type veth peer name spare
fails 'attach of an interface with the name of a renamed one is refused' 1 "ringfence: $name: $taken" \
	ringfence attach "$name"
does 'an interface with the name of a renamed one is attached to another fence' \
	"$name: attached in native mode, fence '$shared'" \
	ringfence attach "$name" fence "$shared"
does 'a renamed interface is detached' "${run}new: detached" ringfence detach "${run}new"
is "$(program_on 3)" none 'detach of a renamed interface leaves no program on it'
check 'detach of a renamed interface removes its pins' test ! -e "$pins/$colons"
check 'detach of a renamed interface keeps the pins of its namesake' is_pinned "$shared" xdp 'link_*'
does 'the namesake of a renamed interface is detached by its name' "$name: detached" ringfence detach "$name"
inside ip link del spare
outside ip link del out3

use "$quick"
add_wire 3
ringfence attach "${port[3]}" >"$scratch/log"
outside ip link del out3
does 'detach of a vanished device removes what is left of its fence' \
	"${port[3]}: was no longer attached; the pins of its fence are removed" \
	ringfence detach "${port[3]}"
check 'detach of a vanished device removes its pins' test ! -e "$pins/${port[3]}"
fails 'a second detach of a vanished device says that there is no such interface' 1 \
	"ringfence: ${port[3]}: no such interface or fence; 'ip link' lists the interfaces, 'ringfence status' the fences" \
	ringfence detach "${port[3]}"

# ---- upgrades ----

use "$shipped"
arm "${port[0]}" "${port[1]}" fence "$shared"
use_up 0
old=$(program_on 0)
mkdir "$pins/$run-old" && bpftool prog pin id "$old" "$pins/$run-old/xdp"
before=$(state 0 | sed 's/program id [0-9]* of [a-z]* build/program id/; /program of another build/d')
does 'attach by a newer build upgrades a fence in place' \
	"${port[0]}: upgraded in place, fence '$shared'; windows and counters are preserved" \
	newer attach "${port[0]}"
new=$(program_on 0)
check 'an upgrade puts another program on the interface' test "$new" != "$old"
is "$(program_on 1) $(program_field id pinned "$pins/$shared/xdp")" "$new $new" \
	'an upgrade replaces the program on the other interface and in the pins'
is "$(state 0 | sed 's/program id [0-9]* of [a-z]* build/program id/; /program of another build/d')" "$before" 'an upgrade keeps limit, windows and counters'
nothing_more 0 'a used-up window stays used up over an upgrade'
does 'a second attach by the newer build has nothing to do' \
	"${port[1]}: already attached, fence '$shared'; nothing to do" newer attach "${port[1]}"

# The state after an upgrade that was killed between the swap of the programs and the pinning.
mv "$pins/$run-old/xdp" "$pins/$shared/xdp" && rmdir "$pins/$run-old"
newer attach "${port[0]}" >"$scratch/log"
check 'pins that an upgrade left behind are renewed by the next attach' pins_are_up_to_date "$shared"

# Upgrades and downgrades in turn until there are enough.
upgrades() {
	until [ -e "$scratch/enough" ]; do
		ringfence attach "${port[0]}" && newer attach "${port[0]}"
	done
}

forget_traffic
before=$(stats 0 '[.packets.passed, .packets.dropped] | join(" ")')
upgrades >"$scratch/upgrades" 2>&1 &
upgrader=$!
deliver 0 src=198.51.100.1,count=4000,rate=2000 src=198.51.100.2,count=80,rate=40
touch "$scratch/enough"
wait $upgrader
is "$received" "198.51.100.1 100 6600
198.51.100.2 80 5280" 'upgrades under traffic: the limit holds, and a source under it loses nothing'
is "$(stats 0 '[.packets.passed, .packets.dropped] | join(" ")')" \
	"$((${before% *} + 180)) $((${before#* } + 3900))" 'upgrades under traffic: every packet is counted'
check 'upgrades under traffic: at least two took place' test "$(grep -c upgraded "$scratch/upgrades")" -ge 2
is "$(unwrapped <"$scratch/upgrades" | grep -v "${port[0]}: upgraded in place")" '' \
	'upgrades under traffic: each attach succeeded'
ringfence detach "${port[0]}" >"$scratch/stdout"
ringfence detach "${port[1]}" >"$scratch/stdout"

inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
ringfence limit add any rate 100/1h exact
use_up 0
old=$(program_on 0)
before=$(state 0 | sed 's/program id [0-9]* of [a-z]* build/program id/; /program of another build/d')
does 'attach by the build that ip attached has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" ringfence attach "${port[0]}"
is "$(program_on 0)" "$old" 'attach by the build that ip attached leaves the program'
matches "$(newer status dev "${port[0]}" | unwrapped)" "fence ${port[0]}: program id $old of another build, .*
  ${port[0]}: program of another build; 'ringfence attach ${port[0]}' upgrades it in place.*" \
	'status says that the program is of another build, and what upgrades it'
is "$(newer status --json dev "${port[0]}" | jq -c '[.this_build, .interfaces[].this_build]')" '[false,false]' \
	'status --json says that the program is of another build'
matches "$(ringfence status dev "${port[0]}" | unwrapped)" "fence ${port[0]}: program id $old of this build, .*" \
	'status says that a program that ip attached is of this build'
is "$(ringfence status --json dev "${port[0]}" | jq -c '[.this_build, .interfaces[].this_build]')" '[true,true]' \
	'status --json says that the program is of this build'
does 'attach by a newer build upgrades what ip attached' \
	"${port[0]}: upgraded in place, fence '${port[0]}'; windows and counters are preserved" \
	newer attach "${port[0]}"
is "$(newer status --json dev "${port[0]}" | jq .this_build)" true 'after an upgrade the program is of this build'
check 'an upgrade of what ip attached puts another program on the interface' test "$(program_on 0)" != "$old"
is "$(state 0 | sed 's/program id [0-9]* of [a-z]* build/program id/; /program of another build/d')" "$before" \
	'an upgrade of what ip attached keeps limit, windows and counters'
nothing_more 0 'a used-up window stays used up over an upgrade of what ip attached'
inside ip link set dev "${port[0]}" xdp off

# ---- another map ABI ----

# The message of a build of another map ABI, whether it can read the rules of this one or not.
refusal="its fence has map ABI $abi, this ringfence has 999; first run 'ringfence save.*'ringfence attach \
${port[0]} replace' creates an empty fence without the rules, windows and counters.*"
arm "${port[0]}"
use_up 0
before=$(state 0)
for words in "attach ${port[0]}" 'limit add more rate 1/1s' 'limit set any rate 1/1s' \
	'limit del any' 'limit list' status stats top 'show 192.0.2.1'; do
	# shellcheck disable=SC2086
	matches "$(describe alien $words)" "exit 1"$'\n\n'"stderr: ringfence: ${port[0]}: $refusal" \
		"a build of another map ABI refuses '$words'"
done
matches "$(describe inside setpriv --bounding-set=-all,+bpf,+net_admin --inh-caps=-all \
	"$alien" status dev "${port[0]}")" "exit 1"$'\n\n'"stderr: ringfence: ${port[0]}: $refusal" \
	"a build of another map ABI refuses 'status' without CAP_SYS_ADMIN, by the pins alone"
is "$(state 0)" "$before" 'a build of another map ABI changes nothing'
does 'a build of another map ABI detaches the fence' "${port[0]}: detached" alien detach "${port[0]}"
does 'a build of another map ABI attaches after its detach' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" \
	alien attach "${port[0]}"
use "$quick"
does 'attach replace makes a new fence in place of one of another map ABI' \
	"${port[0]}: attached in native mode, fence '${port[0]}'
${port[0]}: replaced its fence of map ABI 999
${port[0]}: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" \
	ringfence attach "${port[0]}" replace
is "$(counted 0)" 0 'a fence that attach replace made has counted nothing'
does 'attach replace of a fence of its own map ABI has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}" replace
ringfence detach "${port[0]}" >"$scratch/log"
alien attach "${port[0]}" "${port[1]}" fence "$shared" >"$scratch/log"
id=$(program_on 0)
fails 'attach replace refuses a fence of another map ABI on two interfaces' 1 \
	"ringfence: ${port[0]}: cannot replace its fence of map ABI 999: it is on 2 interfaces; first run 'ringfence save' of the version \
that attached it, which preserves its rules, then 'ringfence detach' for each" ringfence attach "${port[0]}" replace
is "$(program_on 0)" "$id" 'attach replace that is refused leaves the program on the interface'
for wire in 0 1; do
	alien detach "${port[$wire]}" >"$scratch/log" 2>&1
done

port[3]=${run}p3
add_wire 3
alien attach "${port[3]}" >"$scratch/log"
outside ip link del out3
check 'pins of another map ABI survive their device' is_pinned "${port[3]}" xdp config
add_wire 3
does 'attach succeeds over pins of another map ABI when their device is back' \
	"${port[3]}: attached in native mode, fence '${port[3]}'
${port[3]}: replaced the pins of a fence of map ABI 999
${port[3]}: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" ringfence attach "${port[3]}"
does 'detach succeeds after an attach over pins of another map ABI' \
	"${port[3]}: detached" ringfence detach "${port[3]}"

# ---- commands at the same time, and commands that are killed ----

# together CMD1 CMD2: runs both at the same time; their statuses are in $first and $second.
together() {
	local pids=()

	# shellcheck disable=SC2086
	for words; do
		start inside "$build" $words >>"$scratch/log" 2>&1
		pids+=("$started_pid")
	done
	wait "${pids[0]}"
	first=$?
	wait "${pids[1]}"
	second=$?
	unset "started[${pids[0]}]" "started[${pids[1]}]"
}

wrong=''
for round in {1..5}; do
	together "attach ${port[0]} fence $shared" "attach ${port[1]} fence $shared"
	[ "$first $second $(interfaces 0 | wc -l)" = '0 0 2' ] || wrong+=" $round: $first $second"
	together "detach ${port[0]}" "detach ${port[1]}"
	[ "$first $second" = '0 0' ] || wrong+=" $round: detach $first $second"
	[ ! -e "$pins/$shared" ] || wrong+=" $round: pins are left"
done
is "$wrong" '' 'two interfaces that are attached to a fence at the same time share it'

use "$shipped"
arm "${port[0]}"
use_up 0
wrong=''
for round in {1..20}; do
	together "limit set any rate $((30 + round))/1h" "limit set any rate $((60 + round))/1h"
	[ "$first $second" = '0 0' ] || wrong+=" $round: $first $second"
	list=$(ringfence limit list)
	[ "$list" = "limit add any rate $((30 + round))/1h" ] ||
		[ "$list" = "limit add any rate $((60 + round))/1h" ] || wrong+=" $round: $list"
done
is "$wrong" '' 'two changes of a limit at the same time both succeed'
nothing_more 0 'windows are kept through changes at the same time'
matches "$(describe ringfence limit set any rate 110/1h)" \
	$'exit 0\nlimit \'any\': rate (50|80)/1h → 110/1h\nstderr: ' \
	'limit set after changes at the same time succeeds'
deliver 0 src=192.0.2.1,count=50
is "$(passed)" 10 'the limit that was set last holds after changes at the same time'
ringfence detach "${port[0]}" >"$scratch/stdout"

use "$quick"
arm "${port[0]}"
for ((i = 1; i < 32; i++)); do
	echo "limit add limit$i rate 1/1h match udp dport $i"
done | ringfence apply - >"$scratch/stdout"
wrong=''
for round in {1..10}; do
	together 'limit add one rate 100/1h dport 80' 'limit add two rate 200/1h dport 81'
	case "$first $second $(ringfence limit list | grep -v ' udp ')" in
	'0 1 limit add one rate 100/1h dport 80') ringfence limit del one ;;
	'1 0 limit add two rate 200/1h dport 81') ringfence limit del two ;;
	*)
		wrong+=" $round: $first $second"
		ringfence limit del one 2>"$scratch/log"
		ringfence limit del two 2>"$scratch/log"
		;;
	esac
done
is "$wrong" '' "of two 'limit add' at the same time with room for one limit, one succeeds"
ringfence detach "${port[0]}" >"$scratch/stdout"

# Kills a command after `delay_us`.
kill_after() { # DELAY_US CMD…
	start inside "${@:2}" >"$scratch/log" 2>&1
	sleep "$(printf '0.%06d' "$1")"
	stop KILL "$started_pid"
}

# Measures how long an attach takes, into `attach_us`, and undoes the attach.
time_attach() { # BUILD
	local begin=${EPOCHREALTIME/./}

	inside "$1" attach "${port[0]}" >"$scratch/log"
	attach_us=$((${EPOCHREALTIME/./} - begin))
	ringfence detach "${port[0]}" >"$scratch/log"
}

time_attach "$quick"
wrong=''
for round in {1..20}; do
	kill_after $((attach_us * round / 20)) "$quick" attach "${port[0]}"
	inside "$quick" attach "${port[0]}" >"$scratch/log" 2>&1 || wrong+=" $round: $(<"$scratch/log")"
	is_pinned "${port[0]}" xdp 'link_*' config || wrong+=" $round: pins"
	ringfence limit add any rate 100/1h exact || wrong+=" $round: limit"
	ringfence detach "${port[0]}" >"$scratch/log" 2>&1 || wrong+=" $round: $(<"$scratch/log")"
	[ ! -e "$pins/${port[0]}" ] || wrong+=" $round: pins are left"
done
is "$wrong" '' 'attach succeeds after an attach that was killed at any point'

# An attach that is killed before it pins its program leaves the maps.
inside "$quick" attach "${port[0]}" >"$scratch/log"
rm "$pins/${port[0]}/xdp" "$pins/${port[0]}"/link_*
inside "$quick" attach "${port[0]}" >"$scratch/log" 2>&1
check 'attach pins the entry that a killed attach left out' \
	is_pinned "${port[0]}" xdp 'link_*' config
ringfence detach "${port[0]}" >"$scratch/log"

time_attach "$newer"
use "$shipped"
arm "${port[0]}"
use_up 0
wrong=''
for round in {1..5}; do
	kill_after $((attach_us * round / 5)) "$newer" attach "${port[0]}"
	newer attach "${port[0]}" >"$scratch/log" 2>&1 || wrong+=" $round: $(<"$scratch/log")"
	pins_are_up_to_date "${port[0]}" || wrong+=" $round: stale pins"
	ringfence attach "${port[0]}" >"$scratch/log" 2>&1 || wrong+=" $round: $(<"$scratch/log")"
done
is "$wrong" '' 'an upgrade succeeds after an upgrade that was killed at any point'
nothing_more 0 'windows are kept through upgrades that were killed'
does 'detach succeeds after upgrades that were killed' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'detach after upgrades that were killed leaves no pins' test ! -e "$pins/${port[0]}"

done_testing
