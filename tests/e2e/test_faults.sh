#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Failures around a command: system calls that the kernel refuses, foreign or invisible pins, a full
# disk, signals. The command reports the failure and changes nothing, and its fix works.
# test_kills.sh tests commands that are killed.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

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

# Counts the calls of bpf() in a whole, successful run of a command, into `calls`. `first` is the
# first call that matters: in the calls before it libbpf probes the kernel, and would continue after
# an error. Without BTF the verifier takes ten seconds to refuse the program; FULL=1 tries that as
# well.
count_calls() { # CMD…
	inside strace -qq -o "$scratch/trace" -e trace=bpf "$@" >"$scratch/log" 2>&1 ||
		bail "$*: $(<"$scratch/log")"
	calls=$(grep -c '^bpf(' "$scratch/trace")
	first=$(grep -n 'BPF_MAP_CREATE.*map_name="counters"' "$scratch/trace" | cut -d: -f1)
	[ -z "${FULL-}" ] && [ "$first" ] || first=1
	wrong='' tried=0 refused=0
}

# Runs a command whose Nth call of bpf() fails. Returns its status; its message is in `said`. With a filter of
# seccomp, which needs -f, only calls of bpf() stop the command.
refuse() { # NUMBER ERROR CMD…
	local status

	inside strace -f --seccomp-bpf -qq -o "$scratch/trace" -e trace=bpf -e "inject=bpf:error=$2:when=$1" \
		"${@:3}" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
	grep -q INJECTED "$scratch/trace" && tried=$((tried + 1))
	said=$(<"$scratch/stderr")
	if [ "$status" != 0 ]; then
		refused=$((refused + 1))
		[ "$status" = 1 ] || note "$2 at $1: exit $status"
		# The verifier's log can come before.
		[[ $said == 'ringfence: the verifier reports '*$'\n'* ]] && said=$(tail -n 1 <<<"$said")
		[[ $said == 'ringfence: '?* && $said != *$'\n'* ]] || note "$2 at $1: it says '${said:0:999}'"
	fi
	return "$status"
}

# Tries one error at each call, a different one in turn; with FULL=1, every error.
errors_at() { # NUMBER
	if [ "${FULL-}" ]; then
		echo "${errors[@]}"
	else
		echo "${errors[$1 % ${#errors[@]}]}"
	fi
}

end() { # COMMAND NAME
	is "$wrong" '' "$1: $2"
	echo "# of $calls calls $tried tried, $refused refused"
	check "$1: nearly every call was refused once" test "$tried" -ge $(((calls - first) * 9 / 10))
	check "$1: at least ten refused calls made the command fail" test "$refused" -ge 10
}

require "$quick"
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

count_calls "$quick" attach "${port[0]}" "${small[@]}"
ringfence detach "${port[0]}" >"$scratch/log"
refuse_attaches
end attach 'a refused call makes it fail with one line, and leave nothing'

refuse_changes() {
	local now=$one next=$two to=two i error swap

	for ((i = first; i <= calls; i++)); do
		for error in $(errors_at "$i"); do
			if refuse "$i" "$error" build/ringfence apply "$scratch/$to" ||
				[[ $said == *'the new rules are active, but then: '* ]]; then
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
limit add any rate 100/1h exact
limit add other rate 5/1h match udp dport 9 from 10.0.0.0/8
allow add 203.0.113.0/24
newcomers rate 100/1s then aggregate
END
cat >"$scratch/two" <<END
limit add any rate 100/1h exact
limit add other rate 7/1m match tcp dport 80-90 per /24
deny add 198.51.100.0/24
deny add 2001:db8::/32
newcomers rate 50/1s then aggregate
END
ringfence apply "$scratch/two" >"$scratch/log" && two=$(saved)
ringfence apply "$scratch/one" >"$scratch/log" && one=$(saved)
ringfence apply "$scratch/two" >"$scratch/log"
deliver 0 src=192.0.2.1,count=300
is "$(sum "$received")" '100 6600' 'a limit of 100 passes 100 of 300 packets before calls are refused'
count_calls build/ringfence apply "$scratch/one"
check 'apply succeeds after calls were refused' refuse_changes
end apply 'a refused call makes it fail with one line, and leave the rules'
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'windows are kept while calls of apply are refused'

# ---- full disks ----

ringfence apply "$scratch/one" >"$scratch/log"
for i in {1..300}; do
	echo "deny add 10.9.$((i / 256)).$((i % 256))"
done | cat "$scratch/one" - | ringfence apply - >"$scratch/log"
rules=$(saved)
mkdir "$scratch/disk"
mount -t tmpfs -o size=4096 tmpfs "$scratch/disk"
# shellcheck disable=SC2016
fails 'save to a full disk fails' 1 'ringfence: standard output: No space left on device' \
	inside sh -c 'exec build/ringfence save >"$1"' sh "$scratch/disk/rules"
is "$(wc -c <"$scratch/disk/rules")" 4096 'save to a full disk leaves a part of the rules'
head -n -1 "$scratch/disk/rules" >"$scratch/part"
lost="this output of 'save' is cut short: its last line, 'newcomers …', is missing; save it \
again, or add 'newcomers off' if the rest is complete"
for command in check apply; do
	is "$(ringfence $command "$scratch/part" 2>&1 | head -n 1)" "ringfence: $scratch/part: $lost" \
		"$command refuses a part of saved rules"
done
is "$(saved)" "$rules" 'apply that refuses a part of saved rules changes no rule'
echo 'newcomers off' | cat "$scratch/part" - >"$scratch/mended"
matches "$(ringfence check "$scratch/mended")" "$scratch/mended: fine: 2 limits, .*" \
	"check accepts a part of saved rules with 'newcomers off' added"
umount "$scratch/disk"
ringfence apply "$scratch/two" >"$scratch/log"
ringfence save >"$scratch/whole"
taken=''
bytes=$(wc -c <"$scratch/whole")
for ((i = 0; i < bytes - 1; i++)); do
	head -c $i "$scratch/whole" >"$scratch/part"
	build/ringfence check "$scratch/part" >"$scratch/log" 2>&1 && taken+=" $i"
done
is "$taken" '' 'check refuses every proper beginning of saved rules'
echo "# tried: $i beginnings"
for i in {1..300}; do
	echo "deny add 10.9.$((i / 256)).$((i % 256))"
done | cat "$scratch/one" - | ringfence apply - >"$scratch/log"
for words in save 'stats --json' 'deny list --json' 'stats watch'; do
	# shellcheck disable=SC2086
	fails "one write that fails makes the command fail: $words" 1 \
		'ringfence: standard output: No space left on device' \
		inside timeout 300 strace -qq -o "$scratch/trace" -e trace=write \
		-e inject=write:error=ENOSPC:when=1 build/ringfence $words
done
# shellcheck disable=SC2016
does 'a save whose first write fails prints no last line' $'exit 1\n0' \
	sh -c 'nsenter --net="$1" strace -qq -o "$2" -e trace=write -e inject=write:error=ENOSPC:when=1 \
		build/ringfence save 2>&1 >"$3" | grep -c "No space" | sed "s/^/exit /"; grep -c newcomers "$3"; true' \
	sh "/run/netns/rf-test-$$-inside" "$scratch/trace" "$scratch/part"

# ---- signals, closed outputs ----

# The exit status of a command whose reader closes the output after one line.
to_a_reader_that_leaves() { # CMD…
	inside timeout 300 "$@" 2>"$scratch/stderr" | head -n 1 >"$scratch/stdout"
	echo "${PIPESTATUS[0]}"
}

is "$(to_a_reader_that_leaves build/ringfence stats watch)" 141 \
	'stats watch ends by SIGPIPE when its reader ends'
# shellcheck disable=SC2016
fails 'stats watch with SIGPIPE ignored fails with a message' 1 'ringfence: standard output: Broken pipe' \
	inside timeout 300 bash -c 'trap "" PIPE; build/ringfence stats watch > >(head -n 1 >"$1")' sh \
	"$scratch/line"
for words in save 'stats --json' 'stats watch' status; do
	# shellcheck disable=SC2016,SC2086
	fails "a closed standard output makes the command fail: $words" 1 \
		'ringfence: standard output: Bad file descriptor' \
		inside timeout 300 sh -c 'exec build/ringfence "$@" >&-' sh $words
done

# A pipe without a reader is full after some lines; a signal still terminates the command.
is_blocked() { # PID
	grep -q pipe_write "/proc/$1/stack"
}

for signal in INT TERM; do
	mkfifo "$scratch/pipe.$signal"
	exec 9<>"$scratch/pipe.$signal"
	head -c 65536 /dev/zero >&9
	start inside build/ringfence stats watch --json >&9 2>"$scratch/stderr"
	check "stats watch waits for a reader that is slow, before SIG$signal" \
		eventually is_blocked "$started_pid"
	stop "$signal" "$started_pid"
	status=$?
	exec 9>&-
	is "$status, $(<"$scratch/stderr")" '0, ' "stats watch that waits for its reader ends by SIG$signal"
done

# ---- pins ----

ringfence detach "${port[0]}" >"$scratch/log"
bpftool map create /sys/fs/bpf/foreign type array key 4 value 4 entries 1 name foreign
bpftool prog load build/clock.bpf.o /sys/fs/bpf/program
directory=$pins/${port[0]}
use "$quick"

in_the_way() { # NAME PATH: it is refused, left unchanged, and once it is removed an attach works
	local before

	before=$(find "$pins")
	fails "$1: attach names what is in the way" \
		1 "ringfence: $2: this is in the way, and not ringfence's; remove it, \
or choose another fence name: 'ringfence attach IF fence NAME'" ringfence attach "${port[0]}" \
"${small[@]}"
	fails "$1: detach finds no fence" 1 "ringfence: ${port[0]}: no fence attached; run 'ringfence \
attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'" ringfence detach "${port[0]}"
	is "$(find "$pins"), $(program_on 0)" "$before, none" "$1: attach and detach change nothing"
	does "$1: the remedy works: attach with another name of a fence" \
		"${port[0]}: attached in native mode, fence '$run-other'" \
		ringfence attach "${port[0]}" fence "$run-other" "${small[@]}"
	does "$1: detach of the fence with another name succeeds" \
		"${port[0]}: detached" ringfence detach "${port[0]}"
	is "$(find "$pins")" "$before" "$1: detach of the fence with another name leaves what is in the way"
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
fails 'a pin in place of the directory of all fences: attach names what is in the way' \
	1 "ringfence: $pins: this is in the way, and not ringfence's; remove \
it" ringfence attach "${port[0]}" "${small[@]}"
rm "$pins"
does 'attach succeeds once the pin in place of the directory of all fences is removed' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" "${small[@]}"

bpftool map pin pinned /sys/fs/bpf/foreign "$directory/mine"
does 'detach succeeds with a foreign pin in the directory of the fence' "${port[0]}: detached" \
	ringfence detach "${port[0]}"
is "$(find "$directory" -type f)" "$directory/mine" 'detach leaves a foreign pin in the directory of the fence'
use "$shipped"
ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"
rm "$directory/mine"

# ---- a device that goes and comes ----

renew_wire() {
	outside ip link del out0
	fails "an interface attached by $1 that is deleted: status says that there is no such interface" 1 \
		"ringfence: ${port[0]}: no such interface or fence; 'ip link' lists the interfaces, 'ringfence status' the fences" \
		ringfence status dev "${port[0]}"
	fails "an interface attached by $1 that is deleted: limit list finds no fence" \
		1 "ringfence: no fence attached to any interface; run 'ringfence attach IF' or 'ip \
link set dev IF xdp obj …'" ringfence limit list
	add_wire 0
	fails "an interface attached by $1 that is deleted and made again: status says that no fence is attached" \
		1 "ringfence: ${port[0]}: no fence attached; run 'ringfence \
attach ${port[0]}' or 'ip link set dev ${port[0]} xdp obj …'" ringfence status dev "${port[0]}"
}

ringfence limit add any rate 100/1h exact
deliver 0 src=192.0.2.1,count=300
start inside build/ringfence stats watch >"$scratch/watched" 2>"$scratch/watcher"
watcher=$started_pid
eventually test -s "$scratch/watched"
renew_wire 'ringfence attach'
wait "$watcher"
is "$?, $(<"$scratch/watcher")" "1, ringfence: fence '${port[0]}': it was detached; 'ringfence attach IF' \
attaches one" 'stats watch ends with a message when the interface is deleted'
unset "started[$watcher]"
does 'attach succeeds on an interface that is made again' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" ringfence attach "${port[0]}"
is "$(stats 0 '[.packets.passed, .packets.dropped] | join(" ")')" '100 200' \
	'a fence has its counters on an interface that is made again'
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'a fence has its windows on an interface that is made again'
ringfence detach "${port[0]}" >"$scratch/log"
inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
ringfence limit add any rate 100/1h exact
renew_wire 'ip link'
inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
does 'a fence that ip attaches to an interface that is made again has no limits' \
	'no limits' ringfence limit list
inside ip link set dev "${port[0]}" xdp off
ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"

# ---- bpffs ----

ringfence limit add any rate 100/1h exact
deliver 0 src=192.0.2.1,count=300
mount -t bpf bpf /sys/fs/bpf
is "$(ringfence show 192.0.2.1 --json | jq '.limits[0].used')" 100 \
	'a fence whose pins are hidden by another bpffs is found'
does 'a fence whose pins are hidden takes a change of a limit' "limit 'any': rate 100/1h → 90/1h" \
	ringfence limit set any rate 90/1h exact
does 'attach of a fence whose pins are hidden has nothing to do' \
	"${port[0]}: already attached, fence '${port[0]}'; nothing to do" \
	ringfence attach "${port[0]}"
elsewhere="its program is held by a bpf_link of another process, or pinned elsewhere; 'bpftool link' shows \
its id N, 'bpftool link detach id N' detaches it"
fails 'detach of a fence whose pins are hidden is refused' 1 "ringfence: ${port[0]}: $elsewhere" \
	ringfence detach "${port[0]}"
link=$(inside bpftool -j link | jq ".[] | select(.prog_id == $(program_on 0)) | .id")
does 'the remedy for a fence whose pins are hidden works: bpftool link detach' \
	'' inside bpftool link detach id "$link"
is "$(program_on 0)" none 'detach of the link takes off a fence whose pins are hidden'
umount /sys/fs/bpf
does 'attach succeeds when hidden pins are visible again' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" ringfence attach "${port[0]}"
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'a fence has its rules and windows when hidden pins are visible again'

mount -o remount,ro /sys/fs/bpf
does 'a fence on a read-only bpffs takes a change of a limit' "limit 'any': rate 90/1h → 95/1h" \
	ringfence limit set any rate 95/1h exact
fails 'detach of a fence on a read-only bpffs is refused' 1 "ringfence: ${port[0]}: $elsewhere" \
	ringfence detach "${port[0]}"
deliver 0 src=192.0.2.1,count=50
is "$received" '' 'a fence on a read-only bpffs goes on after a refused detach'
mount -o remount,rw /sys/fs/bpf
does 'detach succeeds once the bpffs is writable again' "${port[0]}: detached" ringfence detach "${port[0]}"
check 'detach on a bpffs that is writable again leaves no pins' test ! -e "$pins"
use "$quick"
mkdir "$pins"
mount -o remount,ro /sys/fs/bpf
fails 'attach on a read-only bpffs is refused' \
	1 "ringfence: $directory: cannot make the directory: Read-only file \
system; 'mount -o remount,rw /sys/fs/bpf' makes it writable" ringfence attach "${port[0]}" "${small[@]}"
is "$(program_on 0)" none 'attach on a read-only bpffs leaves no program'
mount -o remount,rw /sys/fs/bpf
does 'attach succeeds after the remedy for a read-only bpffs' \
	"${port[0]}: attached in native mode, fence '${port[0]}'" \
	ringfence attach "${port[0]}" "${small[@]}"
ringfence detach "${port[0]}" >"$scratch/log"

ringfence attach "${port[0]}" "${small[@]}" >"$scratch/log"
umount /sys/fs/bpf
while grep -q ' /sys/fs/bpf bpf ' /proc/mounts; do
	umount /sys/fs/bpf
done
is "$(program_on 0)" none 'a fence goes when its bpffs is unmounted'
fails 'stats says that no fence is attached after its bpffs was unmounted' \
	1 "ringfence: ${port[0]}: no fence attached; run 'ringfence attach ${port[0]}' or \
'ip link set dev ${port[0]} xdp obj …'" ringfence stats dev "${port[0]}"
fails 'attach is refused in a mount namespace without bpffs' \
	1 'ringfence: /sys/fs/bpf: no bpffs in this mount namespace, '\
"and pins in one mounted here would vanish with it; enter a network namespace by 'nsenter --net=…'" \
	ringfence attach "${port[0]}" "${small[@]}"
is "$(program_on 0)" none 'attach in a mount namespace without bpffs leaves no program'
does 'ip attaches a fence without a bpffs' \
	'' inside ip link set dev "${port[0]}" xdpdrv obj build/ringfence.bpf.o sec xdp
does 'limit add works without a bpffs' "$(steady any)" \
	ringfence limit add any rate 100/1h exact
does 'detach works without a bpffs' "${port[0]}: detached" ringfence detach "${port[0]}"

done_testing
