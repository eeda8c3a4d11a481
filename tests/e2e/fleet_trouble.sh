# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# What befalls links, clocks and agents of a fleet, for test_fleet_faults.sh. Each function brings
# about one fault in a storm, and leaves the fleet as it was.

# ---- no fault ----

reports() { # HOST
	agent_says "$1" status | jq .counts.reports
}

# One source over all hosts, at 4.5 times its limit: what that costs the engine once it is settled.
fault_steady() {
	local host most=0 count before=()

	next_storm
	for host in 1 2 3; do
		send "$host" "src=${storm[plain4 even]},count=$((limit * 27)),rate=$((limit * 3 / 2))"
	done
	sleep 6
	for host in 1 2 3; do
		before[host]=$(reports "$host")
	done
	sleep 10
	for host in 1 2 3; do
		count=$(($(reports "$host") - before[host]))
		[ "$count" -le "$most" ] || most=$count
	done
	wait_for_senders
	check 'a steady flood takes an update a second of each host at most' test "$most" -le 10
	table+=("| a steady flood of one source, from 6 s on: $most updates in 10 s of a host at most | nobody | | |")
}

# ---- links ----

cut_off() { # NAME COMMAND-TO-CUT COMMAND-TO-JOIN
	alone_in 1 'no other host is alone' cut_off_once "$@"
}

cut_off_once() { # NAME COMMAND-TO-CUT COMMAND-TO-JOIN
	begin 11
	at 2
	eval "$2"
	at 6
	eval "$3"
	finish
	verdict "$1"
}

fault_link_down() {
	cut_off 'the link of a host to the engine is down for 4 s' \
		'within h2 ip link set eng0 down' 'within h2 ip link set eng0 up'
}

drop_packets() { # NAMESPACE RULE
	command -v nft >/dev/null || bail "nft is missing; run 'make deps-bench'"
	within "$1" nft add table inet fault
	within "$1" nft add chain inet fault in '{ type filter hook input priority 0; }'
	within "$1" nft add rule inet fault in "$2"
}

keep_packets() { # NAMESPACE
	within "$1" nft delete table inet fault
}

fault_no_answers() {
	cut_off 'what the engine sends to a host is lost for 4 s' \
		"drop_packets h2 'iifname eng0 drop'" 'keep_packets h2'
}

fault_no_calls() {
	cut_off 'what a host sends to the engine is lost for 4 s' \
		"drop_packets engine 'iifname eng2 drop'" 'keep_packets engine'
}

lossy() { # PERCENT
	local host

	for host in 1 2 3; do
		drop_packets "h$host" "iifname eng0 numgen random mod 100 < $1 drop"
	done
	begin 10
	finish
	for host in 1 2 3; do
		keep_packets "h$host"
	done
	verdict "$1 % of the engine's packets are lost"
}

fault_loss() {
	lossy 5
	lossy 20
}

undisturbed() { # SECONDS NAME
	begin "$1"
	finish
	verdict "$2"
}

agents_at() { # PORT
	local host

	for host in 1 2 3; do
		stop TERM "${agent[$host]}"
		echo "redis 10.77.$host.1:$1" >"/etc/ringfence/edge$host.fleet"
		start_agent "$host"
	done
	eventually all_hear || bail "the hosts do not hear the engine at port $1"
}

far_away() { # MS-EACH-WAY
	local relay

	start engine tests/e2e/fleet_relay.py 6400 127.0.0.1:6379 "$1" 2>"$scratch/relay"
	relay=$started_pid
	eventually grep -q ready "$scratch/relay" || bail 'the relay does not start'
	agents_at 6400
	alone_in 0 'nobody is alone' undisturbed 10 "the engine is $((2 * $1)) ms away"
	agents_at 6379
	stop TERM "$relay"
}

fault_delay() {
	far_away 10
	far_away 100
}

# ---- clocks ----

# Programs that run with it have a wall clock that is off by the number of seconds in the file.
build_other_clock() {
	${CC:-cc} -O1 -shared -fPIC -o "$scratch/other_clock.so" -x c - <<-'END' || bail 'cannot compile another clock'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <sys/time.h>
		#include <time.h>
		#include <unistd.h>

		static long offset_s(void)
		{
			static const char *text;

			if (!text)
				text = mmap(NULL, 16, PROT_READ, MAP_SHARED,
					    open(getenv("CLOCK_OFFSET"), O_RDONLY), 0);
			return text == MAP_FAILED ? 0 : strtol(text, NULL, 10);
		}

		int clock_gettime(clockid_t clock, struct timespec *time)
		{
			const int err = syscall(SYS_clock_gettime, clock, time);

			if (clock == CLOCK_REALTIME)
				time->tv_sec += offset_s();
			return err;
		}

		int gettimeofday(struct timeval *restrict time, void *restrict zone)
		{
			struct timespec now;

			clock_gettime(CLOCK_REALTIME, &now);
			time->tv_sec = now.tv_sec;
			time->tv_usec = now.tv_nsec / 1000;
			return 0;
		}
	END
}

set_clock() { # FILE SECONDS
	printf '%-16s' "$2" 1<>"$scratch/$1"
}

with_clock() { # FILE CMD…
	[ -f "$scratch/other_clock.so" ] || build_other_clock
	LD_PRELOAD=$scratch/other_clock.so CLOCK_OFFSET=$scratch/$1 "${@:2}"
}

restart_engine() { # [CMD…]
	stop TERM "$engine_pid"
	"$@" start_engine
	eventually all_hear || bail 'the hosts do not hear the new engine'
}

fault_clock_steps() {
	local offset

	set_clock engine_clock 0
	restart_engine with_clock engine_clock
	for offset in 3600 -3600; do
		begin 10
		at 2.5
		set_clock engine_clock $offset
		finish
		verdict "the clock of the engine is set to ${offset/3600/1} h"
	done
	restart_engine
}

fault_clocks_differ() {
	set_clock engine_clock -3600
	set_clock host_clock 3600
	stop TERM "${agent[1]}"
	with_clock host_clock start_agent 1
	restart_engine with_clock engine_clock
	alone_in 0 'nobody is alone' undisturbed 6 'the clock of a host is 1 h ahead, that of the engine 1 h behind'
	stop TERM "${agent[1]}"
	start_agent 1
	restart_engine
}

# ---- agents and hosts ----

# It is killed when it makes its Nth call of a kind; a new one starts immediately.
fault_agent_dies() {
	alone_in 1 'no other host is alone' agent_dies
}

agent_dies() {
	local step pid

	begin 24
	at 1
	stop KILL "${agent[1]}"
	for step in bpf:when=60 sendto:when=4 sendto,write:when=30 bpf:when=200 epoll_pwait:when=500 bpf:when=400; do
		start h1 strace -f -o /dev/null -e trace="${step%%:*}" \
			-e inject="${step%%:*}:signal=SIGKILL:${step#*:}" \
			build/ringfence-fleet run edge1 >>"$scratch/agent1" 2>&1
		pid=$started_pid
		eventually gone "$pid" || fail "the agent dies at $step"
		wait "$pid" 2>/dev/null
		unset "started[$pid]"
		sleep 1
	done
	start_agent 1
	finish
	verdict 'an agent is killed at six of its steps, one after the other'
}

gone() {
	! kill -0 "$1" 2>/dev/null || [ "$(awk '{ print $3 }' "/proc/$1/stat")" = Z ]
}

# Its windows are lost as well; another nonce takes another slot.
fault_reboot() {
	local from until

	begin 12
	at 3
	from=$(clock)
	on 2 save >"$scratch/saved"
	stop KILL "${agent[2]}"
	on 2 detach edge2 >"$scratch/log"
	on 2 attach edge2 fleet >"$scratch/log"
	on 2 apply "$scratch/saved" >"$scratch/log"
	start_agent 2
	eventually hears 2
	until=$(clock)
	finish 2 "$from" "$until"
	verdict 'a host reboots within W' any # it briefly has no fence
}

# Both want a slot, and one of them gets it.
fault_one_slot() {
	local host

	for host in 1 2 3; do
		on "$host" fleet hosts 2 >"$scratch/log"
	done
	sleep 3.5 # until a slot that was left is void
	first=4
	alone_in 1 'one of them is alone' one_slot
	check 'and says so' grep -q 'all 2 slots of the fleet are in use' "$scratch"/agent?
	first=2
	for host in 1 2 3; do
		on "$host" fleet hosts 4 >"$scratch/log"
	done
	eventually all_hear
	sleep 1.5
}

one_slot() {
	begin 8
	finish
	verdict 'two hosts for one slot'
}

# How many windows host 1 has made.
windows_made() {
	bpftool map dump pinned "$pins/edge1/config" -j | jq '[.. | .incarnations? // empty] | add'
}

attach_anew() { # WORD…
	on 1 save >"$scratch/saved"
	on 1 detach edge1 >"$scratch/log"
	on 1 attach edge1 fleet "$@" >"$scratch/log"
	on 1 apply "$scratch/saved" >"$scratch/log"
	eventually hears 1
	sleep 1.5 # until earlier use has left W
}

# Each of the new sources is seen twice, which makes its window as valuable as those of the storm:
# these are lost repeatedly, and a source passes f once more each time.
fault_eviction() {
	local new=100000 before lost each

	attach_anew sources 1024
	each=src=10.1.0.1,sources=$new,count=$new,rate=20000,after=2s
	before=$(windows_made)
	begin 8
	send 1 "$each" "$each"
	finish
	lost=$(($(windows_made) - before - new - 3))
	check 'windows of the storm are lost' test "$lost" -gt 10
	verdict "20,000 new sources a second on a host with 1,024 windows, $lost windows are lost" $((first * lost))
	attach_anew
}

# What host 2 passed of a source in the seconds up to a time.
passed_until() { # SOURCE SECONDS UNTIL-NS
	build/tests/traffic judge "$scratch/kept2" from "$1" until "$3" max "1000000000/$2s" 2>/dev/null |
		sed 's/.*: //'
}

# A user above L/2 on a host that dies moves immediately to a different host. Its passed packets
# remain claimed for G + W, so until then it has little there.
fault_host_dies() {
	local user=192.0.2.240 rate=$((limit * 9 / 10)) died early late gone_ms

	watch_hosts
	send 1 "src=$user,count=$((rate * 4)),rate=$rate" src=192.0.2.241,count=400,rate=100
	wait_for_senders
	stop KILL "${agent[1]}"
	died=$(clock)
	send 2 "src=$user,count=$((rate * 8)),rate=$rate"
	wait_for_senders
	end_watch
	early=$(passed_until "$user" 3 $((died + 3000000000)))
	late=$(passed_until "$user" 3 $((died + 8000000000)))
	check 'a user of a host that dies: the bound holds' test "$(most_of "$user" 1s)" -le 598
	check 'it has little elsewhere for G + W' test "$early" -le $((rate * 3 / 2))
	check 'and then all' test "$late" -ge $((rate * 3 * 9 / 10))
	until no_record || [ "$(clock)" -gt $((died + 120000000000)) ]; do
		sleep 0.1
	done
	check 'the records of the host go' no_record
	gone_ms=$((($(clock) - died) / 1000000))
	table+=("| a host dies with a user at 0.9 L, who goes to another: passes $early of $((rate * 3)) there within 3 s, $late of $((rate * 3)) within 3 s from 5 s on; its last record goes after $gone_ms ms | 1 | $(most_of "$user" 1s) of 598 | |")
	start_agent 1
}

# ---- clients that mean harm ----

# Random bytes to the functions and to the records; none of them has the size of a record. They are
# retained: a deleted record is a loss that the server cannot detect.
hostile() { # SECONDS
	within engine python3 - "$1" <<-'END'
		import os, random, socket, sys, time

		def call(*words):
		    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
		    engine.send(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words))
		    return engine.recv(1 << 20)

		engine = socket.create_connection(('127.0.0.1', 6379))
		end, calls = time.monotonic() + float(sys.argv[1]), 0
		while time.monotonic() < end:
		    b, slot = random.randrange(16), random.randrange(1100)
		    keys = [f'rf:{{{b}}}:h:{slot}', f'rf:{{{b}}}:hosts']
		    bytes_of = lambda most: os.urandom(random.randrange(most))
		    call('FCALL', 'rf_beat', 2, *keys, bytes_of(80))
		    head = slot.to_bytes(4, 'little') + os.urandom(24)
		    call('FCALL', 'rf_report', 3, *keys, f'rf:{{{b}}}:l:x', head, os.urandom(28))
		    for line in call('KEYS', 'rf:*:l:*').split(b'\r\n'):
		        if line.startswith(b'rf:') and random.random() < 0.05:
		            call('SET', line, os.urandom(7))
		    calls += 1
		    time.sleep(0.005)
		print('#', calls, 'rounds')
	END
}

fault_hostile() {
	begin 8
	at 2
	hostile 4
	finish
	verdict 'a client writes random bytes to functions and records'
	engine flushall >"$scratch/log"
	sleep 2.5
}

# How long after the last packet of a flood the server has no record any more.
fault_silence() {
	local since

	storm 3
	calm
	since=$(clock)
	eventually no_record
	echo "# the last record went $((($(clock) - since) / 1000000)) ms after the last packet"
	check 'no record is left soon after silence' no_record
	check 'and no claim' test "$(for host in 1 2 3; do agent_says "$host" status | jq .counts.claims; done | xargs)" = '0 0 0'
}

no_record() {
	[ -z "$(engine keys 'rf:*:l:*')" ]
}
