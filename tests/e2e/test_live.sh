#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two CPUs send from one source as fast as they can, with real frames, in real time, through the
# attached program. No more than L passes, and no less; every frame is accounted for; and neither
# readers, nor changes of the limit, nor evictions alter that.
#
#   outside                                 inside
#   out0  ------------ wire 0 ----------->  ${port[0]}
#   CPU 0 ------------ queue 0 ---------->  XDP on CPU 0
#   CPU 1 ------------ queue 1 ---------->  XDP on CPU 1
#
# The speed of the machine determines only how long a run takes. For each frame that passed, the
# receiver knows when it was sent and when it arrived, so it knows when the program decided. For
# each refused frame it knows the two received frames around it. The receiver therefore bounds the
# frames that should not have passed, and those that should have, however the machine stalls. A run
# continues until it has seen enough used-up windows. Marks, which are frames of sources far below
# the limit, make these times dense.
#
# Below L, only packets that are counted as contended can be refused. Frames that are lost before or
# behind the program are counted as well.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

hot=192.0.2.1
marks=src=198.18.0.0,sources=16,rate=2000
cpus=(0 1) # each sends into the queue of its number
patience_s=180

clock=() # words for the judge, if a run is not timed in ns
rows=()	 # of the table

# ---- one run ----

# begin NAME RATE [WORD…]: creates a wire, a fence with that limit, and a receiver. $room is the
# size of the fence.
begin() {
	name=$1
	add_wire 0 numtxqueues ${#cpus[@]} numrxqueues ${#cpus[@]}
	{ ringfence attach "${port[0]}" ${room:+sources "$room"} &&
		ringfence limit add any rate "${@:2}"; } >"$scratch/log" 2>&1 ||
		bail "$name: cannot make a fence: $(<"$scratch/log")"
	forget_traffic
	start inside build/tests/traffic recv dev "${port[0]}" for 5m keep "$scratch/kept" \
		>"$scratch/received" 2>"$scratch/receiver"
	receiver=$started_pid
	eventually test -s "$scratch/receiver"
	[ "$(<"$scratch/receiver")" = ready ] || bail "cannot receive: $(<"$scratch/receiver")"
}

# flood [FLOW…]: sends the source, the marks, and these flows.
flood() {
	local words=() flow cpu

	for flow in "src=$hot" "$marks" "$@"; do
		words+=(flow "$flow")
	done
	for cpu in "${cpus[@]}"; do
		words+=(cpu "$cpu")
	done
	start outside build/tests/traffic flood dev out0 to 02:00:00:00:00:02 for 5m "${words[@]}" \
		>"$scratch/sent" 2>"$scratch/flooder"
	flooder=$started_pid
}

judge() { # WORD…
	build/tests/traffic judge "$scratch/kept" from "$hot" "$@"
}

# How many used-up windows of length TIME were seen.
windows_seen() { # TIME
	judge "${clock[@]}" least "0/$1" | sed 's/^(//; s/ .*//'
}

# repeat WINDOWS TIME CMD…: repeats the command until this many used-up windows were seen.
repeat() {
	local end=$((SECONDS + patience_s))

	while [ "$(windows_seen "$2")" -lt "$1" ] && [ "$SECONDS" -lt "$end" ]; do
		kill -0 "$flooder" 2>/dev/null || bail "cannot flood: $(<"$scratch/flooder")"
		for _ in {1..5}; do
			"${@:3}"
		done
	done
}

# A counter of the driver, summed over the queues: driver NAMESPACE DEV REGEX
driver() {
	within "$1" ethtool -S "$2" | awk -v name="^ *$3:" '$0 ~ name { sum += $2 } END { printf "%.0f", sum }'
}

# The frames that each CPU sent and the driver did not lose: a line for each CPU.
sent_by_cpu() {
	local word cpu packets

	while read -r word cpu packets; do
		[ "$word" = cpu ] || continue
		echo "$cpu $((packets - $(driver outside out0 "tx_queue_${cpu}_xdp_xmit_errors")))"
	done <"$scratch/sent"
}

# The frames that each queue handed to the program.
run_by_queue() {
	local queue

	for queue in "${cpus[@]}"; do
		echo "$queue $(driver inside "${port[0]}" "rx_queue_${queue}_xdp_packets")"
	done
}

# end: stops the flood, and records the sent, counted and received frames.
end() {
	local packets bytes cpu

	stop TERM "$flooder" || bail "cannot flood: $(<"$scratch/flooder")"
	sent=$(sed -n 's/^sent //p' "$scratch/sent")
	read -r packets bytes <<<"$(sum "$sent")"
	[ "$packets" != 0 ] || bail "$name: nothing was sent"
	driver_lost=$(driver outside out0 'tx_queue_._xdp_xmit_errors')
	sent_packets=$((packets - driver_lost))
	sent_bytes=$((bytes * sent_packets / packets))
	others_sent=$((packets - $(awk -v hot="$hot" '$1 == hot { print $2 }' <<<"$sent")))
	eventually has_counted 0 "$sent_packets"
	# A CPU that runs a process has already handed the counted frames to the socket.
	for cpu in "${cpus[@]}"; do
		taskset -c "$cpu" true
	done
	stop TERM "$receiver"
	is "$? $(<"$scratch/receiver")" '0 ready' "$name: the receiver loses no frame"
	received=$(sed 's/^received //' "$scratch/received" | sort)
	read -r received_packets received_bytes <<<"$(sum "$received")"
	hot_received=$(awk -v hot="$hot" '$1 == hot { print $2 }' <<<"$received")
	contended=$(stats 0 .reasons.contended.packets)
}

# adds_up: the fence, the limit and the queues each count every frame once.
adds_up() {
	conserves 0 "$name: sent = passed + dropped, passed = received"
	is "$(stats 0 '.limits[0] | [.passed, .dropped, .bytes.passed, .bytes.dropped] | @sh')" \
		"$(stats 0 '[.packets.passed - .reasons.map_error.packets, .packets.dropped,
			.bytes.passed - .reasons.map_error.bytes, .bytes.dropped] | @sh')" \
		"$name: the limit counts the same packets as the fence"
	is "$(run_by_queue)" "$(sent_by_cpu)" "$name: each queue has the frames that its CPU sent"
}

# sources_add_up: no source was evicted, so each has its own counters; the marks lost no frame.
sources_add_up() {
	is "$(ringfence top 1000 --json dev "${port[0]}" | jq -r '.sources[] | "\(.source) \(.passed) \(.dropped)"' | sort)" \
		"$(awk -v hot="$hot" -v dropped="$(stats 0 .packets.dropped)" \
			'{ print $1, $2, $1 == hot ? dropped : 0 }' <<<"$received")" \
		"$name: each source counts its own packets"
}

# accepted NAME WORD…: the judge finds no violation. Its output is in $verdict.
accepted() {
	if verdict=$(judge "${@:2}"); then
		pass "$1"
		return
	fi
	fail "$1"
	explain 'the judge says' "$verdict"
}

# judged WINDOWS L/TIME WORD…: the judge finds no interval in which too much passed, by the rules in
# WORD…, and no packet that was refused although fewer than L passed within TIME before it. Adds a
# row to the table.
judged() {
	local lost windows least most

	accepted "$name: never more than L pass in any W" "${@:3}"
	most=$(sed -n "s/^${*: -2:1} .*: //p" <<<"$verdict" | sort -n | tail -n 1)
	# This many packets can be missing for reasons other than this source's limit.
	lost=$((contended + driver_lost + others_sent - (received_packets - hot_received)))
	accepted "$name: a packet is refused only after L in W" lost "$lost" \
		"${clock[@]}" least "$2"
	windows=$(sed 's/^(//; s/ .*//' <<<"$verdict")
	least=${verdict##*: }
	check "$name: at least $1 windows are used up" test "$windows" -ge "$1"
	row "$name" "$windows" "$least" "$2" "$most" "${*: -1}" "$contended" "$sent_packets" \
		"$received_packets"
}

row() {
	rows+=("$(printf '%-9s %7s %5s %-10s %5s %-10s %9s %9s %7s' "$@")")
}

over() {
	ringfence detach "${port[0]}" >"$scratch/log" || bail "cannot detach: $(<"$scratch/log")"
	outside ip link del out0
}

make_network 1
smallest=$(ringfence attach "${port[0]}" sources 1 2>&1 | grep -o '[0-9]* or more')
smallest=${smallest% or more}
outside ip link del out0

# ---- only the source ----

# Windows this short are timed in ns, by the clock that stamps the frames. TIME is the length of
# their cells, 16/15 of W, rounded up.

begin sliding 1000/25ms
flood
repeat 50 27ms sleep 0.1
end
judged 50 1000/27ms max 1000/25ms
adds_up
sources_add_up
over

# With so few permits, both CPUs compete for the last one.
begin close 16/15ms
flood
repeat 250 17ms sleep 0.1
end
judged 250 16/17ms max 16/15ms
adds_up
sources_add_up
over

# At most L from one multiple of W to the next, so up to twice that in any interval.
begin fixed 16/15ms algorithm fixed
flood
repeat 250 15ms sleep 0.1
end
judged 250 16/15ms max 32/15ms aligned 16/15ms
adds_up
sources_add_up
over

# Longer windows use the kernel's ticks, and are evaluated in ticks. The limit is `exact`, because
# the judge of aligned windows expects that nothing passes in a window after a refusal in it.
clock=(clock ticks)
begin ticks 1000/200ms algorithm fixed exact
flood
repeat 50 200ms sleep 0.1
end
judged 50 1000/200ms "${clock[@]}" max 2000/200ms aligned 1000/200ms
adds_up
sources_add_up
over

# With credits and loans: CPUs can hold 1/32 of L in credits that they do not use, and 1/8 of L can be
# lent to them.
begin credits 1000/200ms cells 3
flood
repeat 50 312ms sleep 0.1
end
judged 50 $((1000 - 1000 / 32 - 1000 / 8))/312ms "${clock[@]}" max 1000/200ms
clock=()
adds_up
sources_add_up
over

# ---- while it is read ----

readings=0 failed=''

read_everything() {
	local command

	for command in 'top --json' "show $hot" "show $hot --json" 'stats --json' 'limit list'; do
		# shellcheck disable=SC2086 # words
		ringfence $command >"$scratch/reading" 2>&1 && [ -s "$scratch/reading" ] ||
			failed+="$command: $(<"$scratch/reading")"
	done
	readings=$((readings + 1))
}

begin read 1000/100ms
flood
read_since=$SECONDS
repeat 50 107ms read_everything
echo "# every reading command, $readings times in $((SECONDS - read_since)) s"
end
is "$failed" '' 'read: every reading command succeeds under traffic'
judged 50 1000/107ms max 1000/100ms
adds_up
sources_add_up
over

# ---- while the limit is changed ----

lowered=() # when each lower limit was certainly enforced, as words for the judge

now_ns() {
	build/tests/traffic clock
}

lower_and_raise() {
	local since

	ringfence limit set any rate 100/200ms 2>>"$scratch/changes" >"$scratch/said"
	since=$(now_ns)
	sleep 0.3
	lowered+=(since "$since" until "$(now_ns)" max 100/200ms)
	ringfence limit set any rate 1000/200ms 2>>"$scratch/changes" >"$scratch/said"
	sleep 0.2
}

# How often more than the lowered limit had passed already.
were_full() {
	awk -F '[( ]' '$2 > 100' | wc -l
}

begin changed 1000/200ms
flood
repeat 50 214ms lower_and_raise
# A command that waits for a CPU can take longer than W, in which earlier packets have left the
# window.
changed_since=$SECONDS
until [ "$(judge "${lowered[@]}" | were_full)" -gt 0 ] || [ $((SECONDS - changed_since)) -gt $patience_s ]; do
	lower_and_raise
done
end
is "$(<"$scratch/changes")" '' 'changed: every change of the limit succeeds under traffic'
# Two CPUs that compete for the last permit can count one that neither gets. Under a lowered limit
# that count remains, in each of at most 16 cells, because earlier cells can also exceed the new L.
judged 50 84/214ms max 1000/200ms
accepted 'changed: a lowered limit counts what passed before, from the end of the command on' \
	"${lowered[@]}"
full=$(were_full <<<"$verdict")
echo "# lowered $((${#lowered[@]} / 6)) times, $full of them when more than that had passed in W"
check 'changed: at times more than the lowered L had passed already' test "$full" -gt 0
adds_up
sources_add_up
over

# ---- while windows are evicted ----

lives=()       # its counters, and when they were read, as words for the judge
fresh=0 last=0 # times at which they were seen to restart; their last values

look_at_source() {
	local since counted passed

	since=$(now_ns)
	read -r counted passed < <(ringfence show "$hot" --json |
		jq -r '.limits[0] | "\(.passed + .dropped) \(.passed)"')
	[ "$counted" -ge "$last" ] || fresh=$((fresh + 1))
	last=$counted
	# One of these packets can belong to a different source, which was about to charge the
	# window when the window was reassigned.
	lives+=(since "$since" until "$(now_ns)" passed $((passed > 0 ? passed - 1 : 0)) life L/100ms)
}

room=$smallest
begin evicting 1000/100ms
flood "src=10.0.0.0,sources=$((2 * room)),rate=20000"
repeat 50 107ms look_at_source
end
look_at_source
echo "# others sent $others_sent packets; the source was seen to come back fresh $fresh times"
check 'evicting: windows are evicted with their counters' \
	test "$(ringfence top 100000 --json dev "${port[0]}" | jq '[.sources[].passed] | add')" -lt "$received_packets"
# A packet whose window cannot be made passes, from any source.
most=$((1000 + $(stats 0 .reasons.map_error.packets)))
judged 50 999/107ms "${lives[@]/#L/$most}"
adds_up
over

row run windows min of max of contended sent passed
printf '# %s\n' "${rows[-1]}" "${rows[@]:0:${#rows[@]}-1}"
done_testing
