#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What goes wrong around a command: calls that the kernel refuses, pins of others or out of sight, a
# full disk, signals. It says so, changes nothing, and its remedy works. Commands that are killed:
# test_kills.sh.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck disable=SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

small=(sources 2048 leases 256)
errors=(ENOMEM ENOSPC EPERM EAGAIN)

saved() {
	ringfence save dev "${port[0]}" 2>&1 | sed 1d
}

wrong='' tried=0 refused=0

note() { # WHAT
	wrong+="$1"$'\n'
}

# How many calls of bpf() a whole run of a command makes, which succeeds, into `calls`. `first` is the
# first one that matters: before it libbpf finds out what the kernel can do, and would go on without.
# Without BTF the verifier takes ten seconds to refuse the program; FULL=1 tries that as well.
count_calls() { # CMD…
	inside strace -qq -o "$scratch/trace" -e trace=bpf "$@" >"$scratch/log" 2>&1 ||
		bail "$*: $(<"$scratch/log")"
	calls=$(grep -c '^bpf(' "$scratch/trace")
	first=$(grep -n 'BPF_MAP_CREATE.*map_name="counters"' "$scratch/trace" | cut -d: -f1)
	[ -z "${FULL-}" ] && [ "$first" ] || first=1
	wrong='' tried=0 refused=0
}

# Runs a command whose Nth call of bpf() fails. Its status; what it says is in `said`.
refuse() { # NUMBER ERROR CMD…
	local status

	inside strace -qq -o "$scratch/trace" -e trace=bpf -e "inject=bpf:error=$2:when=$1" \
		"${@:3}" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
	grep -q INJECTED "$scratch/trace" && tried=$((tried + 1))
	said=$(<"$scratch/stderr")
	if [ "$status" != 0 ]; then
		refused=$((refused + 1))
		[ "$status" = 1 ] || note "$2 at $1: exit $status"
		# What the verifier said may come before.
		[[ $said == *'PROG LOAD LOG'*$'\n'* ]] && said=$(tail -n 1 <<<"$said")
		[[ $said == 'ringfence: '?* && $said != *$'\n'* ]] || note "$2 at $1: it says '${said:0:999}'"
	fi
	return "$status"
}

# One error at each call, in turns; FULL=1: each.
errors_at() { # NUMBER
	if [ "${FULL-}" ]; then
		echo "${errors[@]}"
	else
		echo "${errors[$1 % ${#errors[@]}]}"
	fi
}

end() { # NAME
	is "$wrong" '' "$1 (of $calls calls $tried tried, $refused refused)"
	check 'at as many calls as there are' test "$tried" -ge $(((calls - first) * 9 / 10))
	check 'of which some are needed' test "$refused" -ge 10
}

make_network 1

# ---- calls that are refused ----

refuse_attaches() {
	local i error

	for ((i = first; i <= calls; i++)); do
		for error in $(errors_at "$i"); do
			if refuse "$i" "$error" "$quick" attach "${port[0]}" "${small[@]}"; then
				ringfence status >"$scratch/log" 2>&1 || note "$error at $i: $(<"$scratch/log")"
				ringfence detach "${port[0]}" >"$scratch/log" 2>&1 || note "$error at $i: $(<"$scratch/log")"
			fi
			[ "$(program_on 0)" = none ] || note "$error at $i: a program is left"
			[ ! -e "$pins" ] || note "$error at $i: pins are left: $(find "$pins")"
		done
	done
}

variant quick bpf/ringfence.bpf.c "$(passing 'ringfence.*')"
quick=$scratch/quick/build/ringfence
count_calls "$quick" attach "${port[0]}" "${small[@]}"
ringfence detach "${port[0]}" >"$scratch/log"
refuse_attaches
end 'an attach that is refused a call says so in a line, and leaves nothing'

refuse_changes() {
	local now=$one next=$two to=two i error swap

	for ((i = first; i <= calls; i++)); do
		for error in $(errors_at "$i"); do
			if refuse "$i" "$error" build/ringfence apply "$scratch/$to" ||
				[[ $said == *'the new rules are in force, but then: '* ]]; then
				swap=$now now=$next next=$swap
				[ "$to" = two ] && to=one || to=two
			fi
			[ "$(saved)" = "$now" ] || note "$error at $i: said '$said', rules are $(saved)"
		done
	done
	ringfence apply "$scratch/$to" >"$scratch/log" && [ "$(saved)" = "$next" ]
}

ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log" || bail "$(<"$scratch/log")"
cat >"$scratch/one" <<END
limit add all rate 100/1h exact
limit add other rate 5/1h match udp dport 9 from 10.0.0.0/8
allow add 203.0.113.0/24
newcomers rate 100/1s then aggregate
END
cat >"$scratch/two" <<END
limit add all rate 100/1h exact
limit add other rate 7/1m match tcp dport 80-90 per /24
deny add 198.51.100.0/24
deny add 2001:db8::/32
newcomers rate 50/1s then aggregate
END
ringfence apply "$scratch/two" >"$scratch/log" && two=$(saved)
ringfence apply "$scratch/one" >"$scratch/log" && one=$(saved)
ringfence apply "$scratch/two" >"$scratch/log"
deliver 0 src=192.0.2.1,count=300
is "$(sum "$received")" '100 6600' 'the limit holds'
count_calls build/ringfence apply "$scratch/one"
check 'once no call is refused any more, rules can be changed' refuse_changes
end 'an apply that is refused a call says so in a line, and leaves the rules as they were'
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'and windows are kept through all of them'

# ---- full disks ----

ringfence apply "$scratch/one" >"$scratch/log"
for i in {1..300}; do
	echo "deny add 10.9.$((i / 256)).$((i % 256))"
done | cat "$scratch/one" - | ringfence apply - >"$scratch/log"
rules=$(saved)
mkdir "$scratch/disk"
mount -t tmpfs -o size=4096 tmpfs "$scratch/disk"
# shellcheck disable=SC2016
fails 'save says that the disk is full' 1 'ringfence: standard output: No space left on device' \
	inside sh -c 'exec build/ringfence save >"$1"' sh "$scratch/disk/rules"
is "$(wc -c <"$scratch/disk/rules")" 4096 'which has kept a part of the rules'
head -n -1 "$scratch/disk/rules" >"$scratch/part"
lost="this output of 'save' is cut short: its last line, 'newcomers …', is missing; save it \
again, or add 'newcomers off' if nothing else is missing"
for command in check apply; do
	fails "$command does not take the lines that are there" 1 "ringfence: $scratch/part: $lost" \
		ringfence $command "$scratch/part"
done
is "$(saved)" "$rules" 'and changes nothing'
echo 'newcomers off' | cat "$scratch/part" - >"$scratch/mended"
matches "$(ringfence check "$scratch/mended")" "$scratch/mended: fine: 2 limits, .*" 'the remedy works'
umount "$scratch/disk"
ringfence apply "$scratch/two" >"$scratch/log"
ringfence save >"$scratch/whole"
taken=''
for ((i = 0; i < $(wc -c <"$scratch/whole") - 1; i++)); do
	head -c $i "$scratch/whole" >"$scratch/part"
	build/ringfence check "$scratch/part" >"$scratch/log" 2>&1 && taken+=" $i"
done
is "$taken" '' "no beginning of a saved file is taken for the whole ($i tried)"
for i in {1..300}; do
	echo "deny add 10.9.$((i / 256)).$((i % 256))"
done | cat "$scratch/one" - | ringfence apply - >"$scratch/log"
for words in save 'stats --json' 'deny list --json' 'stats watch'; do
	# shellcheck disable=SC2086
	fails "one write that fails is enough: $words" 1 \
		'ringfence: standard output: No space left on device' \
		inside timeout 20 strace -qq -o "$scratch/trace" -e trace=write \
		-e inject=write:error=ENOSPC:when=1 build/ringfence $words
done
# shellcheck disable=SC2016
does 'of a save whose first part is lost nothing is taken for the end' $'exit 1\n0' \
	sh -c 'nsenter --net="$1" strace -qq -o "$2" -e trace=write -e inject=write:error=ENOSPC:when=1 \
		build/ringfence save 2>&1 >"$3" | grep -c "No space" | sed "s/^/exit /"; grep -c newcomers "$3"; true' \
	sh "/run/netns/rf-test-$$-inside" "$scratch/trace" "$scratch/part"

# ---- signals, closed outputs ----

# The status of a command, whose output goes to a reader that leaves after a line.
to_a_reader_that_leaves() { # CMD…
	inside timeout 20 "$@" 2>"$scratch/stderr" | head -n 1 >"$scratch/stdout"
	echo "${PIPESTATUS[0]}"
}

is "$(to_a_reader_that_leaves build/ringfence stats watch)" 141 'stats watch ends with its reader'
# shellcheck disable=SC2016
fails 'where SIGPIPE is ignored, it says so' 1 'ringfence: standard output: Broken pipe' \
	inside timeout 20 bash -c 'trap "" PIPE; build/ringfence stats watch > >(head -n 1 >"$1")' sh \
	"$scratch/line"
for words in save 'stats --json' 'stats watch' status; do
	# shellcheck disable=SC2016,SC2086
	fails "a closed output is no success: $words" 1 \
		'ringfence: standard output: Bad file descriptor' \
		inside timeout 20 sh -c 'exec build/ringfence "$@" >&-' sh $words
done

# A pipe that nobody reads is full after some lines; a signal ends the command all the same.
is_blocked() { # PID
	grep -q pipe_write "/proc/$1/stack"
}

for signal in INT TERM; do
	mkfifo "$scratch/pipe.$signal"
	exec 9<>"$scratch/pipe.$signal"
	head -c 65536 /dev/zero >&9
	start inside build/ringfence stats watch --json >&9 2>"$scratch/stderr"
	check 'stats watch waits for its reader' eventually is_blocked "$started_pid"
	stop "$signal" "$started_pid"
	status=$?
	exec 9>&-
	is "$status, $(<"$scratch/stderr")" '0, ' "and ends by SIG$signal"
done

# ---- pins ----

ringfence detach "${port[0]}" >"$scratch/log"
bpftool map create /sys/fs/bpf/foreign type array key 4 value 4 entries 1 name foreign
bpftool prog load build/clock.bpf.o /sys/fs/bpf/program
directory=$pins/${port[0]}

in_the_way() { # NAME PATH: it is refused, left alone, and once it is gone an attach works
	local before

	before=$(find "$pins")
	fails "$1 is in the way" 1 "ringfence: $2: this is in the way, and not ringfence's; remove it, \
or choose another fence name: 'ringfence attach IF fence NAME'" ringfence attach "${port[0]}" \
"${small[@]}"
	fails 'nor does detach take it for a fence' 1 "ringfence: ${port[0]}: no fence attached; run 'ringfence \
attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'" ringfence detach "${port[0]}"
	is "$(find "$pins"), $(program_on 0)" "$before, none" 'and all is as it was'
	does 'the first remedy works: another name' "${port[0]}: attached in native mode, fence '$run-other'" \
		ringfence attach "${port[0]}" fence "$run-other" "${small[@]}"
	does 'and is undone' "${port[0]}: detached" ringfence detach "${port[0]}"
	is "$(find "$pins")" "$before" 'and leaves it alone'
	rm -r "$2"
}

mkdir -p "$directory/xdp"
in_the_way 'a directory where a program should be' "$directory/xdp"
mkdir -p "$directory/windows6"
in_the_way 'a directory where a map should be' "$directory/windows6"
mkdir -p "$directory" && bpftool map pin pinned /sys/fs/bpf/foreign "$directory/config"
in_the_way 'a foreign map' "$directory/config"
mkdir -p "$directory" && bpftool map pin pinned /sys/fs/bpf/foreign "$directory/xdp"
in_the_way 'a map where a program should be' "$directory/xdp"
mkdir -p "$directory" && bpftool prog pin pinned /sys/fs/bpf/program "$directory/xdp"
in_the_way 'a foreign program' "$directory/xdp"
mkdir -p "$pins" && rmdir "$directory" && bpftool map pin pinned /sys/fs/bpf/foreign "$directory"
in_the_way 'a pin where a directory should be' "$directory"
rmdir "$pins" && bpftool map pin pinned /sys/fs/bpf/foreign "$pins"
fails 'a pin where all fences should be' 1 "ringfence: $pins: this is in the way, and not ringfence's; remove \
it" ringfence attach "${port[0]}" "${small[@]}"
rm "$pins"
does 'the second remedy works: it is removed' "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" "${small[@]}"

bpftool map pin pinned /sys/fs/bpf/foreign "$directory/mine"
does 'something else in the directory does not matter' "${port[0]}: detached" \
	ringfence detach "${port[0]}"
is "$(find "$directory" -type f)" "$directory/mine" 'and nobody removes it'
ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"
rm "$directory/mine"

# ---- a device that goes and comes ----

renew_wire() {
	outside ip link del out0
	fails "once it is gone there is no such interface: $1" 1 \
		"ringfence: ${port[0]}: no such interface; 'ip link' lists those there are" \
		ringfence status dev "${port[0]}"
	fails 'and no fence' 1 "ringfence: no fence attached to any interface; run 'ringfence attach IF' or 'ip \
link set dev IF xdp obj …'" ringfence limit list
	add_wire 0
	fails 'when it is back, none is attached' 1 "ringfence: ${port[0]}: no fence attached; run 'ringfence \
attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'" ringfence status dev "${port[0]}"
}

ringfence limit add all rate 100/1h exact
deliver 0 src=192.0.2.1,count=300
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/watcher"
watcher=$started_pid
eventually test -s "$scratch/watched"
renew_wire 'ringfence attach'
wait "$watcher"
is "$?, $(<"$scratch/watcher")" "1, ringfence: fence '${port[0]}': it was detached; 'ringfence attach IF' \
attaches one" 'stats watch has said so and ended'
unset "started[$watcher]"
does 'attach finds the fence that was there' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" ringfence attach "${port[0]}"
is "$(stats 0 '[.packets.passed, .packets.dropped] | join(" ")')" '100 200' 'with its counters'
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'and its windows'
ringfence detach "${port[0]}" >"$scratch/log"
inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
ringfence limit add all rate 100/1h exact
renew_wire 'ip link'
inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
does 'what ip attaches then is a new fence' 'no limits' ringfence limit list
inside ip link set dev "${port[0]}" xdp off
ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"

# ---- bpffs ----

ringfence limit add all rate 100/1h exact
deliver 0 src=192.0.2.1,count=300
mount -t bpf bpf /sys/fs/bpf
is "$(ringfence show 192.0.2.1 --json | jq '.limits[0].used')" 100 \
	'a fence whose pins are out of sight is found all the same'
does 'its rules can be changed' '' ringfence limit set all rate 90/1h exact
does 'attach has nothing to do' "${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}"
elsewhere="its program is held by a bpf_link of another process, or pinned elsewhere; 'bpftool link' shows \
its id N, 'bpftool link detach id N' ends it"
fails 'it cannot be detached without them' 1 "ringfence: ${port[0]}: $elsewhere" \
	ringfence detach "${port[0]}"
link=$(inside bpftool -j link | jq ".[] | select(.prog_id == $(program_on 0)) | .id")
does 'the remedy works' '' inside bpftool link detach id "$link"
is "$(program_on 0)" none 'it is off'
umount /sys/fs/bpf
does 'attach finds the pins that are in sight again' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" ringfence attach "${port[0]}"
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'with rules and windows'

mount -o remount,ro /sys/fs/bpf
does 'with a bpffs that is read-only rules can be changed' '' ringfence limit set all rate 95/1h exact
fails 'but it cannot be detached, as the kernel opens no pin there' 1 "ringfence: ${port[0]}: $elsewhere" \
	ringfence detach "${port[0]}"
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'and goes on'
mount -o remount,rw /sys/fs/bpf
does 'once it is writable, it can' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'and nothing is left' test ! -e "$pins"
mkdir "$pins"
mount -o remount,ro /sys/fs/bpf
fails 'a new fence cannot be made there' 1 "ringfence: $directory: cannot make the directory: Read-only file \
system; 'mount -o remount,rw /sys/fs/bpf' makes it writable" ringfence attach "${port[0]}" "${small[@]}"
is "$(program_on 0)" none 'and nothing is attached'
mount -o remount,rw /sys/fs/bpf
does 'the remedy works' "${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" "${small[@]}"
ringfence detach "${port[0]}" >"$scratch/log"

ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"
umount /sys/fs/bpf
while grep -q ' /sys/fs/bpf bpf ' /proc/mounts; do
	umount /sys/fs/bpf
done
is "$(program_on 0)" none 'when its bpffs goes, so does the fence'
fails 'and commands say so' 1 "ringfence: ${port[0]}: no fence attached; run 'ringfence attach ${port[0]}' or \
'ip link set dev ${port[0]} xdp obj …'" ringfence stats dev "${port[0]}"
fails 'where a bpffs would vanish, none is mounted' 1 'ringfence: /sys/fs/bpf: no bpffs in this mount namespace, '\
"and pins in one mounted here would vanish with it; enter a network namespace by 'nsenter --net=…'" \
	ringfence attach "${port[0]}" "${small[@]}"
is "$(program_on 0)" none 'and nothing is attached'
does 'without a bpffs, ip attaches' '' inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
does 'and rules can be set' '' ringfence limit add all rate 100/1h exact
does 'and it can be detached' "${port[0]}: detached" ringfence detach "${port[0]}"

done_testing
