#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Floods from random sources, as fast as two CPUs can send, together with known sources that each
# send at half of their limit. The known sources lose nothing, newcomers stay within their guard,
# and every packet is accounted for. FLOOD_SECONDS is the length of each flood (2).
#
# Other floods consist of sources that are all in use, together with known sources that send seldom,
# long enough to fill the room (12). These floods are slow: FLOOD_FILLS=1 runs only these, for
# test_fills.sh. FLOOD_SOAK=1 runs them with all numbers of limits and all policies.
#
# Runs exclusively: the floods take both CPUs, and a known source whose sender is delayed for half a
# second exceeds its limit afterwards.
#
#   outside                                 inside
#   out0  ------------ wire 0 ----------->  ${port[0]}
#   CPU 0 ------------ queue 0 ---------->  XDP on CPU 0, then the tally
#   CPU 1 ------------ queue 1 ---------->  XDP on CPU 1, then the tally
#
# Each run: the known sources, half of them IPv4, start to send. Once they have windows, the guard
# is set, and its filter learns of them. Then the flood starts; the machine determines its number of
# frames.
#
# Three parties count independently: the sender, the windows, and the receiver behind the program.
# The three counts of a known source are compared to the packet. At most a quarter of the windows
# belong to known sources: the kernel reserves up to half of the smallest map on per-CPU lists.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

flood_s=${FLOOD_SECONDS:-2}
fill_s=${FLOOD_SECONDS:-12}
limit=100/1s
known_pps=50 # of each source
smallest=1024
full=65536

rows=()
rest=() # words for a flood that is slow

now_ns() {
	build/tests/traffic clock
}

# ---- one run ----

# The memory of the fence's maps, in bytes.
map_bytes() {
	local program

	program=$(bpftool -j prog show id "$(program_on 0)")
	bpftool -j map show | jq --argjson program "$program" \
		'map(select(.id == $program.map_ids[]).bytes_memlock) | add'
}

kernel_kb() {
	awk '/^(SUnreclaim|Percpu|VmallocUsed):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# begin NAME SOURCES KNOWN: creates a wire, a fence of that size, a limit, and starts the tally.
begin() {
	half=$(($3 / 2))
	known=("src=10.0.0.0,sources=$half" "src=fd00::,sources=$half")
	begin_with "$1" "$2" "${known[@]}"
}

# begin_with NAME SOURCES FLOW…: the same, and names the sources to tally.
begin_with() {
	local words=() flow

	name=$1 room=$2
	for flow in "${@:3}"; do
		words+=(flow "$flow")
	done
	add_wire 0 numtxqueues 2 numrxqueues 2
	{ ringfence attach "${port[0]}" sources "$room" &&
		ringfence limit add any rate "$limit"; } >"$scratch/log" 2>&1 ||
		bail "$name: cannot make a fence: $(<"$scratch/log")"
	sent_before=0 windows_each=1
	start inside build/tests/traffic tally dev "${port[0]}" for 10m "${words[@]}" \
		>"$scratch/tally" 2>"$scratch/tallier"
	tallier=$started_pid
	eventually test -s "$scratch/tallier"
	[ "$(<"$scratch/tallier")" = ready ] || bail "cannot tally: $(<"$scratch/tallier")"
}

# more_limits N DEFINITION…: adds limits, for windows of each source under N limits in all.
more_limits() {
	local definition

	windows_each=$1
	for definition in "${@:2}"; do
		# shellcheck disable=SC2086 # words
		ringfence limit add $definition || bail "$name: cannot add a limit"
	done
}

# flood FLOW…: sends; files have the number of frames sent in all, and by each non-random source.
flood() {
	local words=() flow

	for flow; do
		words+=(flow "$flow")
	done
	start outside build/tests/traffic flood dev out0 to 02:00:00:00:00:02 for 10m "${rest[@]}" \
		each "$scratch/each" cpu 0 cpu 1 "${words[@]}" >"$scratch/sent" 2>"$scratch/flooder"
	flooder=$started_pid
	eventually test -s "$scratch/flooder"
	[ "$(<"$scratch/flooder")" = ready ] || bail "$name: cannot flood: $(<"$scratch/flooder")"
}

flood_ends() {
	stop TERM "$flooder" || bail "$name: cannot flood: $(<"$scratch/flooder")"
}

windows_made() {
	stats 0 '.windows | .ipv4.inserts + .ipv6.inserts'
}

have_made() {
	[ "$(windows_made)" -ge "$1" ]
}

have_made_of_each() {
	[ "$(stats 0 '.windows | [.ipv4.inserts, .ipv6.inserts] | min')" -ge "$1" ]
}

# Random sources have filled all windows: after twice as many random sources of a family as there
# are slots, each slot was visited, even if one CPU lags behind the other.
fill_with_stale() {
	flood src=0.0.0.0,random=1 src=2000::,random=1
	eventually have_made_of_each $((2 * room))
	flood_ends
	sent_before=$(awk '/^sent/ { sum += $3 } END { printf "%.0f", sum }' "$scratch/sent")
}

# Reads about once a second, during the flood, how many the guard has admitted. It admits at most R
# in a second, counted over the seconds from before one reading to after the next.
watch_guard() { # RATE
	local since until admitted before=0 last end=$((SECONDS + flood_s))

	last=$(now_ns)
	most_admitted=0 looks=0 beyond=''
	while [ "$SECONDS" -lt "$end" ]; do
		since=$(now_ns)
		admitted=$(stats 0 .newcomers.admitted)
		until=$(now_ns)
		[ $((admitted - before)) -le $(($1 * ((until - last) / 1000000000 + 1))) ] ||
			beyond+="$((admitted - before)) in $(((until - last) / 1000000)) ms; "
		[ $((admitted - before)) -le "$most_admitted" ] || most_admitted=$((admitted - before))
		before=$admitted last=$since looks=$((looks + 1))
		sleep 1
	done
}

# run RATE THEN FLOW…: sets the guard, or off; then floods with the flows that have an after=.
run() {
	local began bytes kb

	rate=$1
	bytes=$(map_bytes)
	windows_before=$(windows_made)
	flood "${known[0]},rate=$((half * known_pps))" "${known[1]},rate=$((half * known_pps))" "${@:3}"
	eventually have_made $((windows_before + 2 * half * windows_each)) ||
		bail "$name: the known have no windows"
	windows_before=$(windows_made)
	sleep 0.5 # more than one packet of each
	kb=$(kernel_kb)
	began=$(now_ns)
	[ "$2" = off ] || ringfence newcomers rate "$rate/1s" 'then' "$2" ||
		bail "$name: cannot set a guard"
	kill -USR1 "$flooder"
	watch_guard "$rate"
	end_run "$began" "$kb"
	is "$(map_bytes)" "$bytes" "$name: maps do not grow"
}

# end_run BEGAN KB: waits until everything that was sent is counted, and writes the files to
# compare.
end_run() {
	flood_ends
	ran_s=$((($(now_ns) - $1) / 1000000000 + 1))
	grown_kb=$(($(kernel_kb) - $2))
	eventually has_counted 0 "$(reached)"
	sleep 0.1 # from the program to what tallies
	stop TERM "$tallier" || bail "$name: cannot tally: $(<"$scratch/tallier")"
	ringfence stats --json dev "${port[0]}" >"$scratch/stats"
	ringfence top 1000000 dev "${port[0]}" >"$scratch/top" # as text: jq needs a second for this many
}

# ---- comparisons ----

# A value of the run's `stats`.
stat() {
	jq -r "$1" "$scratch/stats"
}

lost_by_driver() {
	outside ethtool -S out0 | awk '/xdp_xmit_errors/ { sum += $2 } END { printf "%.0f", sum }'
}

# Frames that were sent and not lost on the way to the program.
reached() {
	awk -v before="$sent_before" -v lost="$(lost_by_driver)" \
		'/^sent/ { sum += $3 } END { printf "%.0f", before + sum - lost }' "$scratch/sent"
}

# "SOURCE PACKETS DROPPED" of each window of a known source; the file `each` names these sources.
known_windows() {
	awk 'NR == FNR { known[$1]; next }
		$2 == "any" { sub(/\/64$/, "", $1); if ($1 in known) print $1, $3, $4 }' "$scratch/each" "$scratch/top"
}

# How many known sources lost packets, and how many packets they lost.
count_lossy() {
	paste -d ' ' "$scratch/each" <(head -n "$(wc -l <"$scratch/each")" "$scratch/tally") |
		awk '$1 != $3 { exit 1 } $2 != $4 { n++; lost += $2 - $4 } END { print n + 0, lost + 0 }'
}

known_lose_nothing() {
	is "$(count_lossy)" '0 0' "$name: no known source loses a packet"
	is "$(diff <(known_windows | sort) <(sed 's/$/ 0/' "$scratch/each" | sort))" '' \
		"$name: each known source keeps its window"
}

# These known sources may lose some packets: there are more sources than room.
known_lose_little() { # MOST
	local lossy

	read -r lossy _ < <(count_lossy)
	check "$name: at most $1 known sources lose a packet" test "$lossy" -le "$1"
}

adds_up() {
	is "$(lost_by_driver)" 0 "$name: every frame reaches the program"
	is "$(stat '[.packets.passed + .packets.dropped, ([.reasons[].packets] | add)] | @sh')" \
		"$(reached) $(reached)" "$name: sent = passed + dropped, and the sum of all reasons"
	is "$(stat .packets.passed)" "$(awk '{ sum += $2 } END { printf "%.0f", sum }' "$scratch/tally")" \
		"$name: passed = received"
	check "$name: each packet that passes as map_error has a map error" \
		test "$(stat .reasons.map_error.packets)" -le "$(stat '[.map_errors[]] | add')"
}

guard_holds() {
	local admitted

	admitted=$(stat .newcomers.admitted)
	check "$name: newcomers stay within the guard over the whole run" \
		test "$admitted" -le $((rate * (ran_s + 1)))
	is "$beyond" '' "$name: newcomers stay within the guard at each reading of the counters"
	echo "# $name: $admitted newcomers in $ran_s s, $looks readings"
	# Another CPU might have created the window of the same source.
	check "$name: windows are made for admitted newcomers and known sources only" \
		test "$(stat '.windows | .ipv4.inserts + .ipv6.inserts')" -le \
		$((admitted * windows_each + windows_before))
}

# says NAME REGEX: `status` prints a line that matches.
says() {
	local said

	said=$(ringfence status | unwrapped)
	grep -qxE "$2" <<<"$said" && pass "$name: status says $1" && return
	fail "$name: status says $1"
	explain got "$said"
	explain want "$2"
}

guard_is_told() {
	says 'what the guard did' "newcomers over the rate: $(stat .newcomers.passed) packets passed, \
$(stat .newcomers.dropped) dropped, $(stat .newcomers.aggregated) charged to their networks"
}

windows_are_told() {
	says 'that the windows are full' 'windows of IPv4: [0-9]+ of [0-9]+ in use, [0-9]+ of '\
'residents; full( of active sources)?: .*'
}

row() {
	rows+=("$(printf '%-36s %10s %10s %7s %7s %9s %9s %10s %8s %8s %7s' "$@")")
}

# Prints the run's row of the table, and removes the wire.
over() {
	local lossy lost

	read -r lossy lost < <(count_lossy)
	row "$name" "$(reached)" "$(stat .packets.passed)" \
		"$(awk '{ sum += $2 } END { print sum }' "$scratch/each")" "$lossy" "$lost" \
		"$(stat .newcomers.admitted)" "$((rate * (ran_s + 1)))" \
		"$(stat '.windows | .ipv4.inserts + .ipv6.inserts')" \
		"$(sed 1d "$scratch/top" | grep -vc '^ ')" "$grown_kb"
	ringfence detach "${port[0]}" >"$scratch/log" || bail "cannot detach: $(<"$scratch/log")"
	outside ip link del out0
}

# Random sources at full speed, of both families: storm FRAMES-OF-EACH
storm() {
	storm=("src=0.0.0.0,random=$1,after=1ms" "src=2000::,random=$1,after=1ms")
}

# ---- attacks whose sources are all in use ----

fill_room=4096
fill_guard=1000
# The attackers settle at a quick pace; then most send every other second, and some every eighth.
settled=("src=10.0.0.0,sources=160,rate=800,then=80,staggered=1"
	"src=10.1.0.0,sources=40,rate=200,then=5,staggered=1"
	"src=fd00::,sources=160,rate=800,then=80,staggered=1"
	"src=fd00:1::,sources=40,rate=200,then=5,staggered=1")
settled_n=400

# attack NAME FIRST RANDOM: an attack by the sources from FIRST on.
attack() {
	case $1 in
	random) echo "src=$3,random=1,rate=4000,after=1ms" ;;
	twice) echo "src=$3,random=2,rate=4000,after=1ms" ;;
	recurring) echo "src=$2,sources=$((2 * fill_room)),rate=$((4 * fill_room)),after=1ms" ;;
	slow) echo "src=$2,sources=$((fill_room * 5 / 4)),rate=$((fill_room * 5 / 4)),after=1ms" ;;
	# Both families together stay below the guard.
	ramp) echo "src=$2,sources=$((2 * fill_room)),rate=$((2 * fill_room)),ramp=450,after=1ms" ;;
	*) bail "no attack '$1'" ;;
	esac
}

# Newcomers that try each second, from the middle of the flood on, and how many of their packets
# passed.
count_newcomers() {
	paste -d ' ' <(sed "1,${settled_n}d" "$scratch/all") \
		<(grep -v ^others "$scratch/tally" | sed "1,${settled_n}d") |
		awk '$1 != $3 { next } { n++; sent += $2; out += $4; in_ += $4 > 0 }
			END { printf "%d of %d in, %d of %d packets out", in_, n, out, sent }'
}

residents_stay_within() {
	local family most=$((fill_room * 7 / 8))

	for family in ipv4 ipv6; do
		check "$name: at most $most residents of $family" test \
			"$(ringfence status --json dev "${port[0]}" | jq ".windows.$family.resident // 0")" -le "$most"
	done
}

# Each source under each limit, and the networks of both flows if a limit groups by network.
known_are_residents() {
	ringfence status --json dev "${port[0]}" | jq -e --argjson least \
		$((settled_n * windows_each / 2 + (windows_each == 3 ? 2 : 0))) \
		'.windows | [.ipv4.resident // 0, .ipv6.resident // 0] | min >= $least' >/dev/null
}

# fill LIMITS THEN ATTACK4 ATTACK6: known sources settle for ten seconds; then these attacks start.
fill() {
	local newcomers began kb flood_s=$fill_s rest=(rest 5ms)

	newcomers=("src=10.2.0.0,sources=50,rate=50,after=$((fill_s / 2))s"
		"src=fd00:2::,sources=50,rate=50,after=$((fill_s / 2))s")
	begin_with "$3 and $4, limits: $1, $2" "$fill_room" "${settled[@]}" "${newcomers[@]}"
	case $1 in
	2) more_limits 2 "udp rate $limit match udp" ;;
	4) more_limits 3 "udp rate $limit match udp" "some rate $limit shadow" \
		"net rate 1M/1s per /24 per6 /48" ;;
	esac
	rate=$fill_guard
	flood "${settled[@]}" "${newcomers[@]}" "$(attack "$3" 172.16.0.0 0.0.0.0)" \
		"$(attack "$4" 2001:db8:: 2000::)"
	eventually have_made $((settled_n * windows_each)) || bail "$name: the known have no windows"
	ringfence newcomers rate "$rate/1s" 'then' "$2" || bail "$name: cannot set a guard"
	sleep 10 # and longer on a machine that has other things to do
	eventually known_are_residents || bail "$name: the known are no residents"
	kb=$(kernel_kb)
	began=$(now_ns)
	kill -USR1 "$flooder"
	watch_guard "$rate"
	residents_stay_within
	end_run "$began" "$kb"
	mv "$scratch/each" "$scratch/all"
	head -n "$settled_n" "$scratch/all" >"$scratch/each"
	known_lose_nothing
	adds_up
	is "$beyond" '' "$name: newcomers stay within the guard at each reading of the counters"
	echo "# $name: newcomers: $(count_newcomers), $looks readings"
	over
}

# All numbers of limits and all policies, with the attacks in turn.
soak() {
	local attacks=(recurring slow ramp twice random) limits policy i=0

	for limits in 1 2 4; do
		for policy in pass drop aggregate; do
			fill "$limits" "$policy" "${attacks[i % 5]}" "${attacks[(i + 1 + i / 5) % 5]}"
			i=$((i + 1))
		done
	done
}

print_rows() {
	row run sent passed known lossy lost admitted guard inserts windows 'kB more'
	printf '# %s\n' "${rows[-1]}" "${rows[@]:0:${#rows[@]}-1}"
}

make_network 0

if [ -n "${FLOOD_SOAK-}" ]; then
	soak
	print_rows
	done_testing
fi

if [ -n "${FLOOD_FILLS-}" ]; then
	fill 1 drop recurring slow
	fill 2 drop ramp recurring
	fill 4 aggregate recurring ramp
	print_rows
	done_testing
fi

# ---- room enough ----

storm 1

for then in pass drop aggregate; do
	begin "random sources, $then" $full 1000
	run 2000 "$then" "${storm[@]}"
	known_lose_nothing
	adds_up
	guard_holds
	guard_is_told
	over
done

for then in drop aggregate; do
	begin "random sources, 3 limits, $then" $full 1000
	more_limits 3 "udp rate $limit match udp" "some rate 10/1s shadow"
	run 2000 "$then" "${storm[@]}"
	known_lose_nothing
	adds_up
	guard_holds
	guard_is_told
	over
done

is "$(command jq -cS '[.newcomers, .map_errors, .windows.ipv4] | map(keys)' "$scratch/stats")" \
	'[["admitted","aggregated","answers","answers_ms","challenged","dns","dropped","established",'\
'"except_established","known","passed","proven","rate","shadow_only","then","window_ms"],'\
'["delete_busy","insert_busy","insert_full","insert_nomem","insert_other","no_idle_slot",'\
'"window_lost"],["evictions","inserts","resident","used"]]' \
	'stats --json counts each outcome of a newcomer'
is "$(jq -r '.reasons | has("newcomer_pass") and has("newcomer_drop") and has("map_error")' \
	"$scratch/stats")" true 'stats --json has the reasons newcomer_pass, newcomer_drop and map_error'

# For comparison, without a guard: each random source gets a window, and evicts another source.
begin 'random sources, no guard' $full 1000
run 0 off "${storm[@]}"
adds_up
is "$(stat '.newcomers | [.admitted, .aggregated, .challenged, .dropped, .established, .known, .passed, .proven,
	.shadow_only] | add')" 0 "$name: no source counts as a newcomer"
windows_are_told
over

# ---- windows that are full of others ----

for room in $full $smallest; do
	begin "$room stale windows" "$room" $((room < 4000 ? room / 2 : 1000))
	fill_with_stale
	run 2000 drop "${storm[@]}"
	known_lose_nothing
	adds_up
	guard_holds
	windows_are_told
	over
done

# ---- far too few windows ----

for then in drop aggregate; do
	begin "few windows, $then" $smallest $((smallest / 2))
	run 2000 "$then" "${storm[@]}"
	known_lose_nothing
	adds_up
	guard_holds
	guard_is_told
	windows_are_told
	over
done

# A guard rate that would let the windows be replaced ten times a second.
begin 'few windows, guard of 10k/s' $smallest $((smallest / 2))
run 10000 drop "${storm[@]}"
adds_up
guard_holds
known_lose_little $((smallest / 100))
over

begin 'few windows, many known sources' $smallest 1000
run 2000 drop "${storm[@]}"
adds_up
guard_holds
known_lose_little 20
over

# ---- two packets of each random source, so the kernel's LRU takes it for one in use ----

begin 'two packets of each source' $full 1000
storm 2
run 2000 drop "${storm[@]}"
known_lose_nothing
adds_up
guard_holds
over

begin 'few windows, slow random sources' $smallest $((smallest / 2))
run 2000 drop "src=0.0.0.0,random=2,rate=1000,after=1ms" \
	"src=2000::,random=2,rate=1000,after=1ms"
known_lose_nothing
adds_up
guard_holds
over

# ---- nearly full ----

add_wire 0
{ ringfence attach "${port[0]}" sources $smallest && ringfence limit add any rate $limit; } \
	>"$scratch/log" 2>&1 || bail "cannot make a fence: $(<"$scratch/log")"
name='nearly full windows'
deliver 0 "src=192.0.2.0,sources=$((smallest * 9 / 10)),count=$((smallest * 9 / 10))"
says 'that nine tenths of the windows are in use, without a warning' \
	"windows of IPv4: $((smallest * 9 / 10)) of $smallest in use, 0 of residents"
deliver 0 src=198.51.100.0,sources=10,count=10
says 'that the windows are nearly full, and what happens then' \
	"windows of IPv4: $((smallest * 9 / 10 + 10)) of $smallest in use, \
0 of residents; nearly full: beyond that each newcomer takes the place of an idle source"

print_rows
done_testing
