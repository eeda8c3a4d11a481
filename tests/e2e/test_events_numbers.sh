#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Numbers of events, for any damage to their store while the daemon is stopped: no number is used
# twice, as long as any remaining part has it.
#
#   inside: a fence on ${port[0]}, watched; no packet is sent

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

log=$scratch/log
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
make_network 1
eth=${port[0]}
use "$quick"
history=$scratch/history
events=$scratch/events.jsonl
told=$scratch/told # all reported events
mkdir "$history"
printf '#!/bin/sh\ncat >>%s\n' "$told" >"$scratch/program"
chmod 755 "$scratch/program"
touch "$told"

daemon() {
	start inside build/ringfence-watch listen off journal off history "$history" \
		events file "$events" exec "$scratch/program" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^fence' "$log" || bail "the daemon does not start: $(<"$log")"
}

count() {
	wc -l <"$told"
}

has_more() { # LINES
	[ "$(count)" -gt "$1" ]
}

# One event, reported.
happens() {
	local before
	before=$(count)
	ringfence allow add 192.0.2.$((before % 250)) >"$scratch/allowed" || bail "allow: $(<"$scratch/allowed")"
	eventually has_more "$before"
}

last() {
	tail -n 1 "$told" | jq .seq
}

twice() {
	jq .seq "$told" | sort -n | uniq -d | tr '\n' ' '
}

# The daemon stops, its store is damaged, it starts and reports more.
starts_again() { # NAME COMMAND…
	stop KILL "$daemon_pid"
	"${@:2}" || bail "$1"
	daemon
	check "$1: an event is told" happens
	is "$(twice)" '' "$1: no number is told twice"
}

goes_on() { # NAME COMMAND…
	local before

	before=$(last)
	starts_again "$@"
	check "$1: numbers go up" [ "$(last)" -gt "$before" ]
}

damage() {
	rm -f "$history/$eth.db-wal"
	dd if=/dev/urandom of="$history/$eth.db" bs=4096 count=4 conv=notrunc status=none
}

remove() {
	rm "$history/$eth.db"*
}

remove_file() {
	rm -f "$events"*
}

remove_all() {
	remove && remove_file
}

# A history as it was two events ago: with an older memory.
older() {
	cp "$scratch/older/$eth.db"* "$history/"
}

is_anew() { # FILE
	jq -r 'select(.type == "attached") | .detail // ""' "$1" | tail -n 1 | grep -c 'numbers start from the clock'
}

ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
began=$(date +%s%3N)
daemon
check 'the first event is told' eventually has_more 0
is "$(is_anew "$told")" 1 'the first event says where numbers begin'
check 'they begin at the clock' [ "$(head -n 1 "$told" | jq .seq)" -gt "$began" ]
happens
stop KILL "$daemon_pid"
cp -r "$history" "$scratch/older"
daemon
happens
happens
goes_on 'killed' true
small=$(($(last) - $(head -n 1 "$told" | jq .seq)))
check 'they have no gaps' [ "$small" -lt 10 ]
goes_on 'an old history' older
goes_on 'a damaged history' damage
check 'of which numbers go on in the events file' [ $(($(last) - $(head -n 1 "$told" | jq .seq))) -lt 20 ]
goes_on 'no history' remove
goes_on 'no events file' remove_file
goes_on 'a damaged history without an events file' eval 'damage; remove_file'
is "$(is_anew "$told")" 1 'an event says that numbers begin anew'
goes_on 'nothing left' remove_all

# ---- a full disk ----

stop KILL "$daemon_pid"
mount -t tmpfs -o size=2m small "$history" || bail 'cannot mount a small disk'
daemon
happens
head -c 4M /dev/zero >"$history/hog" 2>"$scratch/stderr"
check 'on a full disk an event is told' happens
check 'and one more' happens
goes_on 'a full disk' true
goes_on 'a disk that is no longer full' rm "$history/hog"
stop KILL "$daemon_pid"
umount "$history"

# ---- nothing can be written ----

history=$scratch/disk events=$scratch/disk/events.jsonl
mkdir "$history"
mount -t tmpfs -o size=2m small "$history" || bail 'cannot mount a small disk'
daemon
check 'on a new disk an event is told' happens
goes_on 'a disk that is read-only' mount -o remount,ro "$history"
goes_on 'a disk that is still read-only' true
check 'there are more events' happens
goes_on 'a disk that is read-only for a third time' true
starts_again 'a disk that is written again' mount -o remount,rw "$history" # it knows the old ones
fill() {
	head -c 4M /dev/zero >"$history/hog" 2>"$scratch/stderr"
	[ "$(df --output=avail "$history" | tail -n 1)" -eq 0 ]
}
goes_on 'a disk that is full, and has the events file' fill
goes_on 'a disk that is still full' true
check 'more events are told' happens
goes_on 'a disk that is full for a third time' true
stop KILL "$daemon_pid"
umount "$history"

done_testing
