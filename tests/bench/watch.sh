#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Measures the cost of watching: a scan, by root and by a member of the group 'ringfence' without
# capabilities, a scrape of the metrics from the daemon and from 'ringfence metrics', the daemon
# without clients, and a packet during scans.
#
#   inside: eight interfaces, with or without a fence; packets go through the program of the first one
#   by BPF_PROG_TEST_RUN
#
#   tests/bench/watch.sh [PART…]    scans, scrapes, viewers, daemon, pairs; by default all
#   WINDOWS='1024 65536'            numbers of windows, powers of two
#   SCANS=15                        per row; the results are medians
#
# This is a tool, not a test: no figure makes it fail.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

windows=${WINDOWS:-1024 65536 1048576} families=${FAMILIES:-4 6} scans=${SCANS:-15}
gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
chmod 755 "$scratch"
install -m 755 build/ringfence-watch build/tests/scans "$scratch"
mkdir "$scratch/own" && chown 60712 "$scratch/own"

make_network 8
inside ip link set lo up
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
eth=${port[0]}

attach_fence() { # WINDOWS
	ringfence attach "$eth" sources "$1" >"$scratch/log" 2>&1 ||
		bail "cannot attach: $(<"$scratch/log")"
	ringfence limit add any rate 1000/10s >"$scratch/log" 2>&1 ||
		bail "cannot add a limit: $(<"$scratch/log")"
}

# Starts packets from that many sources.
send() { # FAMILY SOURCES
	: >"$scratch/sent"
	start inside "$scratch/scans" send "$pins/$eth/xdp" "$1" "$2" >"$scratch/sent" 2>&1
	sender=$started_pid
	eventually grep -q 'have sent' "$scratch/sent" || bail "cannot send: $(<"$scratch/sent")"
}

scan_as() { # WORDS…, of another user
	inside "$@" "$scratch/scans" scan "$eth" "$scans" 2>"$scratch/log" || bail "$(<"$scratch/log")"
}

print_scan() { # WINDOWS FAMILY ACTIVE USER
	jq -r --arg windows "$1" --arg family "$2" --arg active "$3" --arg user "$4" '
		def pad($n): tostring | (" " * ($n - length)) + .;
		($windows | pad(9)) + "  IPv" + $family + ($active | pad(6)) + ($user | pad(8)) + (.rows | pad(9)) +
		(.kernel_ms | pad(9)) + (.own_ms | pad(8)) + (.scan_ms | pad(8)) + (.most_ms | pad(8)) +
		(.scan_ms / 10 * 100 | round / 100 | pad(7)) + " %"'
}

scan_rows() { # WINDOWS FAMILY
	attach_fence "$1"
	send "$2" "$1"
	scan_as | print_scan "$1" "$2" all root
	# shellcheck disable=SC2086
	scan_as $member | print_scan "$1" "$2" all member
	stop TERM "$sender"
	# A source that remained counts as active for as long as a lease can hide its packets.
	sleep 30
	# shellcheck disable=SC2086
	scan_as $member | print_scan "$1" "$2" none member
	ringfence detach "$eth" >/dev/null
}

part_scans() {
	local count family

	echo 'a scan, in ms of CPU time: medians of one a second, and the most'
	echo '  windows        active    user     rows   kernel     own     sum    most  of a CPU'
	for count in $windows; do
		for family in $families; do
			scan_rows "$count" "$family"
		done
	done
}

# ---- scrapes ----

# CPU time of a process, in ms, without its children.
spent() { # PID
	awk '{ print $1 / 1e6 }' "/proc/$1/schedstat"
}

attach_many() { # FENCES
	local i wire

	for ((i = 0; i < 32; i++)); do
		echo "limit add limit$i rate 1000/10s match udp dport $((1000 + i))"
	done >"$scratch/rules"
	for ((wire = 0; wire < $1; wire++)); do
		ringfence attach "${port[wire]}" >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
		ringfence apply "$scratch/rules" dev "${port[wire]}" >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
	done
}

# The CPU time of both processes of the daemon in SECONDS, with or without scrapes.
daemon_spends() { # CMD…, once a second
	local before after second

	before=$(spent "$daemon") child_before=$(spent "$page")
	for ((second = 0; second < seconds; second++)); do
		"$@"
		sleep 1
	done
	after=$(spent "$daemon")
	jq -n "(($after - $before) + ($(spent "$page") - $child_before)) / $seconds * 100 | round / 100"
}

scrape() {
	inside curl -s -o "$scratch/scraped" http://127.0.0.1:9436/metrics
}

command_spends() {
	local TIMEFORMAT='%U %S'

	{ time for _ in 1 2 3 4 5 6 7 8 9 10; do ringfence metrics >/dev/null; done; } 2>&1 |
		awk '{ print ($1 + $2) * 1000 / 10 }'
}

scrape_row() { # FENCES
	local idle busy took

	attach_many "$1"
	# shellcheck disable=SC2086
	start inside $member "$scratch/ringfence-watch" history off >"$scratch/daemon" 2>&1
	daemon=$started_pid
	eventually grep -q "watching it" "$scratch/daemon" || bail "$(<"$scratch/daemon")"
	sleep 3
	page=$(pgrep -P "$daemon")
	idle=$(daemon_spends true)
	busy=$(daemon_spends scrape)
	took=$(for _ in $(seq 20); do
		inside curl -s -o /dev/null -w '%{time_total}\n' http://127.0.0.1:9436/metrics
	done | sort -n | sed -n 10p)
	printf '%8s %8s %8.2f %10.2f %8.1f %13.1f\n' "$1" "$(stat -c %s "$scratch/scraped")" \
		"$(jq -n "$busy - $idle")" "$(jq -n "$took * 1000")" "$idle" "$(command_spends)"
	stop TERM "$daemon"
	for ((wire = 0; wire < $1; wire++)); do
		ringfence detach "${port[wire]}" >/dev/null
	done
}

part_scrapes() {
	local seconds=${SECONDS_EACH:-60}

	echo "32 limits a fence, a scrape a second for $seconds s; ms of CPU time, and from question to answer"
	echo '  fences    bytes   scrape    waiting     idle  ringfence metrics'
	scrape_row 1
	scrape_row 8
}

# ---- viewers of the page ----

# Each viewer has a separate address: eight connections of one address are served.
view() { # VIEWERS
	local i pids=()

	for ((i = 0; i < $1; i++)); do
		inside curl -s --compressed -m 5 -H "Authorization: Bearer $token" --interface "127.0.1.$((i + 1))" \
			-o /dev/null -w '%{http_code}\n' http://127.0.0.1:9436/api/live >>"$scratch/seen" &
		pids+=($!)
	done
	[ "$1" = 0 ] || wait "${pids[@]}"
}

viewers_row() { # VIEWERS
	local before child_before second began took

	: >"$scratch/seen"
	before=$(spent "$daemon") child_before=$(spent "$page") began=$EPOCHREALTIME
	for ((second = 0; second < 10; second++)); do
		view "$1"
		sleep 1
	done
	took=$(jq -n "$EPOCHREALTIME - $began") # starting that many clients takes time
	printf '%9s %9.2f %9.2f %9s %9s\n' "$1" "$(jq -n "($(spent "$daemon") - $before) / $took")" \
		"$(jq -n "($(spent "$page") - $child_before) / $took")" "$(grep -c 200 "$scratch/seen")" \
		"$(grep -vc 200 "$scratch/seen")"
}

part_viewers() {
	attach_many 1
	start inside "$scratch/ringfence-watch" history off >"$scratch/daemon" 2>&1
	daemon=$started_pid
	eventually grep -q "watching it" "$scratch/daemon" || bail "$(<"$scratch/daemon")"
	sleep 3
	page=$(pgrep -P "$daemon")
	token=$(sed 1q /run/ringfence-watch/token)
	echo 'viewers of the page, each of whom asks once a second: ms of CPU time a second'
	echo '  viewers   scanner      page  answered   refused'
	viewers_row 0
	viewers_row 1
	viewers_row 50
	stop TERM "$daemon"
	ringfence detach "${port[0]}" >/dev/null
}

# ---- the daemon ----

# The interval that it reports, and its total CPU time.
daemon_row() { # WINDOWS FAMILY
	local took

	attach_fence "$1"
	send "$2" "$1"
	# shellcheck disable=SC2086
	start inside $member "$scratch/ringfence-watch" history off >"$scratch/daemon" 2>&1
	daemon=$started_pid
	eventually grep -q "watching it" "$scratch/daemon" || bail "$(<"$scratch/daemon")"
	eventually pgrep -P "$daemon" >"$scratch/log" || bail 'the daemon serves nothing'
	sleep 5
	page=$(pgrep -P "$daemon")
	took=$(seconds=20 daemon_spends true)
	scrape
	echo "$1 active windows of IPv$2: $(jq -n "$took / 10 * 100 | round / 100") % of a CPU," \
		"a scan each $(sed -n 's/^ringfence_scan_interval_seconds.* //p' "$scratch/scraped") s"
	grep 'a scan each' "$scratch/daemon"
	stop TERM "$daemon"
	stop TERM "$sender"
	ringfence detach "$eth" >/dev/null
}

part_daemon() {
	local count family

	for count in $windows; do
		for family in $families; do
			daemon_row "$count" "$family"
		done
	done
}

# ---- a packet during scans ----

pairs_row() { # NAME RATE
	ringfence attach "$eth" sources 65536 leases 65536 >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
	ringfence limit add any rate "$2" >"$scratch/log" 2>&1 || bail "$(<"$scratch/log")"
	send 4 65536
	stop TERM "$sender"
	inside "$scratch/scans" pairs "$pins/$eth/xdp" "$eth" "$pairs" | jq -r --arg name "$1" \
		'"\($name): \(.pairs) pairs, alone \(.alone_ns) ns, with scans × \(.ratio) (95 %: \(.low) to \(.high)), half of the pairs \(.quarter) to \(.three_quarters)"'
	ringfence detach "$eth" >/dev/null
}

part_pairs() {
	local pairs=${PAIRS:-40}

	echo 'a packet of one source, while another CPU scans 65,536 windows once a second'
	pairs_row passes 1000M/1s
	pairs_row dropped 1/1h
}

[ $# -gt 0 ] || set -- scans scrapes viewers daemon pairs
for part; do
	"part_$part"
done
