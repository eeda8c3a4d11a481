#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Commands that are killed at each of their system calls that changes or reads kernel state. After
# each kill no state is half made, no rules are mixed, no fence and no window is lost, no packet
# passes, and the next command repairs everything. strace records the calls of a whole run; then the
# command runs once for each call, and is killed as it enters that call.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

calls='bpf,mount,?mkdir,mkdirat,?rename,renameat2,?unlink,unlinkat,?rmdir,sendto,write,exit_group'

# The builds that attach: an upgrade goes between the shipped build and `newer`, whose limits hold. No packets
# follow the other attaches.
require "$quick" "$newer"

# ---- points ----

# Records a whole, successful run of a command in `points`: one line "CALL NUMBER" for each call;
# NUMBER counts the calls of the same name. Calls that only read, or create objects that are not
# visible yet, leave the kernel's state unchanged for the next call, so they are omitted. Of a row
# of equal calls the first two and the last one are enough. FULL=1 includes all calls, which takes
# minutes.
find_points() { # CMD…
	inside strace -qq -o "$scratch/trace" -e "trace=$calls" "$@" >"$scratch/log" 2>&1 ||
		bail "$*: $(<"$scratch/log")"
	awk -F'[(,]' -v full="${FULL-}" -v quiet='GET|INFO|LOOKUP|BTF|_LOAD|BIND|MAP_CREATE|TEST_RUN' '
		{ split($1, word, " "); call = word[1]; kind = call == "bpf" ? $2 : call }
		call !~ /^[a-z_0-9]+$/ { next }
		{ number[call]++ }
		full || kind !~ quiet { line[++lines] = call " " number[call]; of[lines] = kind }
		END {
			for (i = 1; i <= lines; i++)
				if (full || of[i] != of[i - 1] || of[i] != of[i - 2] || of[i] != of[i + 1])
					print line[i]
		}' "$scratch/trace" >"$scratch/points"
	mapfile -t points <"$scratch/points"
	[ "${#points[@]}" -gt 5 ] || bail "$*: there are few calls to kill it at: ${points[*]}"
}

# Runs a command and kills it as it enters that call. Returns 0 if it was killed.
kill_at() { # POINT CMD…
	local call=${1% *} number=${1#* } status

	{
		inside strace -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$number" "${@:2}" >"$scratch/log" 2>&1
	} 2>/dev/null
	status=$?
	[ "$status" = 137 ] && tried=$((tried + 1)) && return
	[ "$status" = 0 ] || note "$1: exit $status, $(<"$scratch/log")"
	return 1
}

wrong='' tried=0

note() { # WHAT
	wrong+="$1"$'\n'
}

begin() {
	wrong='' tried=0
}

# Checks that nothing went wrong at any point, and that nearly all points were reached.
end() { # COMMAND NAME
	is "$wrong" '' "$1 that is killed at any call $2"
	check "$1 is killed at nearly every call that matters" \
		test "$tried" -ge $((${#points[@]} * 9 / 10))
	echo "# $1: killed at $tried of ${#points[@]} points"
}

# Runs a command, or records its output if it fails.
must() { # POINT CMD…
	"${@:2}" >"$scratch/log" 2>&1 || note "$1: ${*:2}: $(<"$scratch/log")"
}

saved() {
	ringfence save dev "${port[0]}" 2>&1 | sed 1d
}

# The output of reading commands with a fence and without one; both must be plain.
attached() { # POINT: 0 if there is a fence
	local said complaint none="${port[0]}: no fence attached; "

	said=$(ringfence status --json dev "${port[0]}" 2>"$scratch/said")
	complaint=$(<"$scratch/said")
	if [ "$(program_on 0)" = none ]; then
		[[ $complaint == "ringfence: $none"* && $(jq -r .error <<<"$said") == "$none"* ]] ||
			note "$1: status: $said $complaint"
		return 1
	fi
	[ -z "$complaint" ] && jq -e '.interfaces | length == 1' <<<"$said" >"$scratch/log" 2>&1 && return
	note "$1: status: $said $complaint"
}

# The active rules as text, after a change by one line.
saved_but() { # SED
	saved | sed "$1"
}

# ---- rules ----

# Changes from one ruleset to the other and back, killed at each point. Afterwards one of the two is
# active, and the same command then installs the other one.
kill_changes() { # RULES COMMANDS RULES COMMANDS, where commands change the one into the other
	local now=$1 to_next=$2 next=$3 back=$4 point found

	begin
	# shellcheck disable=SC2086
	for point in "${points[@]}"; do
		kill_at "$point" build/ringfence $to_next
		found=$(saved)
		[ "$found" = "$now" ] || [ "$found" = "$next" ] || note "$point: rules are $found"
		[ "$found" = "$next" ] || must "$point" ringfence $to_next
		[ "$(saved)" = "$next" ] || note "$point: then rules are $(saved)"
		set -- "$now" "$to_next" "$next" "$back"
		now=$3 to_next=$4 next=$1 back=$2
	done
}

make_network 2

# From here on a used-up window remains used up, for any killed command, while its source continues
# to send.
small=(sources 2048 leases 256)
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
limit add third rate 7/1m match icmp shadow
deny add 198.51.100.0/24
deny add 2001:db8::/32
newcomers rate 50/1s then drop
END
ringfence apply "$scratch/two" >"$scratch/log" && two=$(saved)
ringfence apply "$scratch/one" >"$scratch/log" && one=$(saved)
deliver 0 src=192.0.2.1,count=300
is "$(sum "$received")" '100 6600' 'a limit of 100 passes 100 of 300 packets before commands are killed'
passed=$(stats 0 .packets.passed)
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=192.0.2.1,count=1000000,rate=500 >"$scratch/sent"
sender=$started_pid

find_points build/ringfence apply "$scratch/one"
kill_changes "$one" "apply $scratch/two" "$two" "apply $scratch/one"
end apply 'leaves the old rules or the new rules, and the next one works'

ringfence apply "$scratch/one" >"$scratch/log"
find_points build/ringfence limit set other rate 5/1h match udp dport 9 from 10.0.0.0/8
kill_changes "$(saved)" 'limit set other rate 9/2s per /24' \
	"$(saved_but 's,^limit add other.*,limit add other rate 9/2s per /24,')" \
	'limit set other rate 5/1h match udp dport 9 from 10.0.0.0/8'
end 'limit set' 'leaves the old rules or the new rules, and the next one works'

ringfence apply "$scratch/one" >"$scratch/log"
echo 198.51.100.7 >"$scratch/list"
find_points build/ringfence deny load "$scratch/list" replace
ringfence deny flush
kill_changes "$(saved)" "deny load $scratch/list replace" \
	"$(saved_but 's,^newcomers,deny add 198.51.100.7 by load\n&,')" 'deny flush'
end 'deny load or flush' 'leaves the old rules or the new rules, and the next one works'

# The data path must examine newcomers before rules need it, or it drops open connections. The rules
# are switched by a store between the last calls, so these are killed even if they only read.
examines() {
	bpftool -j map dump pinned "$pins/${port[0]}/config" | jq -e '[.. | .is_examining? // empty] == [1]' >/dev/null
}

examining=(newcomers rate 50/1s 'then' drop except established)
FULL=1 find_points build/ringfence "${examining[@]}"
points=("${points[@]: -20}")
begin
switched=0
for point in "${points[@]}"; do
	must "$point" ringfence newcomers rate 50/1s 'then' drop
	! examines || note "$point: newcomers are examined before the command"
	kill_at "$point" build/ringfence "${examining[@]}"
	[[ $(saved) == *' except established' ]] || continue
	switched=$((switched + 1))
	examines || note "$point: newcomers are not examined"
done
end newcomers 'leaves no rules for open connections without examining newcomers'
check 'some of these kills come after the switch, and some before' \
	test "$switched" -gt 0 -a "$switched" -lt "${#points[@]}"

# In place: the entries within the prefix change, too.
ringfence apply "$scratch/one" >"$scratch/log"
ringfence batch - >"$scratch/log" <<-'END'
	deny add 2001:db8::/32
	allow add 198.51.100.1
	allow add 198.51.100.8/29
	allow add 198.51.100.16/28
	allow add 198.51.100.66
END
find_points build/ringfence deny add 198.51.100.0/24
ringfence deny del 198.51.100.0/24
kill_changes "$(saved)" 'deny add 198.51.100.0/24' \
	"$(saved_but 's,^deny,deny add 198.51.100.0/24\n&,')" 'deny del 198.51.100.0/24'
end 'deny add or del' 'leaves the old rules or the new rules, and the next one works'

# ---- upgrades ----

tag_of() { # BUILD
	bpftool -j prog show id "$(program_on 0)" | jq -r .tag
}

pins_are_up_to_date() {
	[ "$(bpftool -j prog show pinned "$pins/${port[0]}/xdp" | jq -r .tag)" = "$(tag_of)" ]
}

# Upgrades back and forth between two builds; neither counts as the older one.
kill_upgrades() {
	local builds=("$newer" "$shipped") to=0 point

	begin
	for point in "${points[@]}"; do
		kill_at "$point" "${builds[to]}" attach "${port[0]}"
		attached "$point" || note "$point: the fence is lost"
		[ "$(saved)" = "$rules" ] || note "$point: rules are $(saved)"
		[ "$(tag_of)" = "$tag" ] && pins_are_up_to_date && continue
		must "$point" inside "${builds[to]}" attach "${port[0]}"
		[ "$(tag_of)" != "$tag" ] || note "$point: then it is not upgraded"
		pins_are_up_to_date || note "$point: then its pins are stale"
		to=$((1 - to)) tag=$(tag_of)
	done
}

rules=$(saved)
find_points "$newer" attach "${port[0]}"
inside "$shipped" attach "${port[0]}" >"$scratch/log"
tag=$(tag_of)
kill_upgrades
end upgrade 'keeps the fence, and the next one succeeds'

stop TERM "$sender"
is "$(stats 0 .packets.passed)" "$passed" \
	'no packet of a source over its limit passes while commands are killed'
check 'a source over its limit sends more than 2000 packets while commands are killed' \
	test "$(stats 0 .packets.dropped)" -gt 2000
is "$(ringfence show 192.0.2.1 --json | jq '.limits[0].used')" 100 'a window is kept while commands are killed'

# ---- detach ----

# If a kill leaves the fence as it was, the next kill follows; otherwise another detach must finish
# the job.
kill_detaches() {
	local point whole

	begin
	whole=$(ls "$pins/$fence")
	for point in "${points[@]}"; do
		kill_at "$point" build/ringfence detach "${port[0]}"
		if attached "$point"; then
			[ "$(saved)" = "$rules" ] || note "$point: rules are $(saved)"
			[ "$(ls "$pins/$fence")" = "$whole" ] && continue
			must "$point" ringfence detach "${port[0]}"
		fi
		[ "$(program_on 0)" = none ] || note "$point: a program is left"
		compgen -G "$pins/$fence/*" >"$scratch/log" && note "$point: pins are left: $(<"$scratch/log")"
		must "$point" inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}"
		rules=$(saved)
	done
}

ringfence detach "${port[0]}" >"$scratch/log"
fence=$run-named
inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}" >"$scratch/log"
find_points build/ringfence detach "${port[0]}"
inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}" >"$scratch/log"
rules=$(saved)
kill_detaches
end detach 'leaves the fence or nothing, and the next one succeeds'
ringfence detach "${port[0]}" >"$scratch/log" 2>&1
check 'no pins are left after detaches that were killed' test ! -e "$pins"

# ---- attach ----

kill_attaches() {
	local point

	begin
	for point in "${points[@]}"; do
		kill_at "$point" "$quick" attach "${port[0]}" fence "$fence" "${small[@]}"
		attached "$point"
		[ -e "$pins" ] || [ "$(program_on 0)" != none ] || continue
		must "$point" inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}"
		attached "$point" || note "$point: then it is not attached"
		must "$point" ringfence detach "${port[0]}"
		[ ! -e "$pins" ] || note "$point: pins are left: $(ls "$pins")"
		[ "$(program_on 0)" = none ] || note "$point: a program is left"
	done
}

find_points "$quick" attach "${port[0]}" fence "$fence" "${small[@]}"
ringfence detach "${port[0]}" >"$scratch/log"
kill_attaches
end attach 'leaves a fence or none, and the next one succeeds'

# ---- a second interface ----

# Which interfaces are counted separately.
counted_apart() {
	ringfence stats --json dev "$fence" | jq -c '[.interfaces[].packets != null, has("rest")]'
}

kill_joins() {
	local point

	begin
	for point in "${points[@]}"; do
		must "$point" inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}"
		kill_at "$point" "$quick" attach "${port[1]}" fence "$fence"
		[ "$(program_on 0)" != none ] || note "$point: the fence is lost"
		must "$point" inside "$quick" attach "${port[1]}" fence "$fence"
		[ "$(counted_apart)" = '[true,true,true]' ] || note "$point: then it has $(counted_apart)"
		must "$point" ringfence detach "$fence"
		[ ! -e "$pins" ] || note "$point: pins are left: $(ls "$pins")"
	done
}

inside "$quick" attach "${port[0]}" fence "$fence" "${small[@]}" >"$scratch/log"
find_points "$quick" attach "${port[1]}" fence "$fence"
ringfence detach "$fence" >"$scratch/log"
kill_joins
end 'attach of a second interface' 'leaves the first one, and the next one counts both'

done_testing
