#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What `show ADDRESS at TIME` prints of a source, cell by cell, is what the source sent; and where
# cells may be missing, since the daemon did not run, it says so.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, and a daemon that records it

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
export RINGFENCE_HISTORY=$scratch/history TZ=UTC
eth=${port[0]} log=$scratch/log

daemon() {
	start inside build/ringfence-watch listen off events file off sources full history "$RINGFENCE_HISTORY" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q 'watching it' "$log" || bail "the daemon does not start: $(<"$log")"
	sleep 2.2 # its second scan is the first one that follows sources
}

# Each row of cells since BEGAN: its time, whether some are missing before it, and its packets.
rows() {
	local at

	for ((at = began; at <= $(date +%s); at++)); do
		ringfence show 192.0.2.66 at "$(date -d "@$at" +%FT%T)" dev "$eth" --json 2>/dev/null |
			jq -r '.cells[]? | "\(.from) \(.incomplete) \(.cells | add)"'
	done | sort -u
}

recorded() {
	rows | awk '{ sum += $3 } END { print sum + 0 }'
}

has_recorded() { # PACKETS
	[ "$(recorded)" -ge "$1" ]
}

ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence limit add all rate 20k/4s cells 16 exact >"$scratch/attached" || bail "limit: $(<"$scratch/attached")"
daemon
began=$(date +%s)
for i in $(seq 30); do
	deliver 0 src=192.0.2.66,count=10,proto=udp
	[ "$i" != 15 ] || deliver 0 src=192.0.2.66,count=500,proto=udp
	sleep 0.1
done
eventually has_recorded 800
is "$(recorded)" 800 'the cells of all rows have each packet that was sent, once'
is "$(rows | grep -c true)" 0 'of a source that came while the daemon ran, no cell is missing'
at=$(date -d "@$((began + 2))" +%FT%T)
is "$(ringfence show 192.0.2.66 at "$at" dev "$eth" --json | jq -c '.cells[0] | [.limit, .source, .differences, .refused, (.cell_ms | . > 260 and . < 280)]')" \
	'["all","192.0.2.66",false,false,true]' 'a row says what its cells are: about 4s/15 long'
matches "$(ringfence show 192.0.2.66 at "$at")" ".*192.0.2.66, limit all: cells of 2[67][0-9]ms each, from [-0-9: ]+ on:
  [ .:=+*#-]*[.:=+*#-][ .:=+*#-]*
  [0-9 ]+.*" 'show at prints a bar and a number for each cell'
matches "$(LC_ALL=C.UTF-8 ringfence show 192.0.2.66 at "$at")" '.*[▁▂▃▄▅▆▇█].*' 'the bars are blocks in a UTF-8 locale'

# ---- without the daemon ----

stop KILL "$daemon_pid"
deliver 0 src=192.0.2.66,count=50,proto=udp
sleep 5
daemon
began=$(date +%s)
deliver 0 src=192.0.2.66,count=20,proto=udp
eventually has_recorded 20
is "$(recorded)" 20 'after a restart, cells are recorded again, and none twice'
is "$(rows | head -n 1 | cut -d' ' -f2)" true 'the first row after a restart says that some before are missing'
is "$(rows | tail -n +2 | grep -c true)" 0 'the ones that follow do not'
is "$(ringfence history list --json | jq -r '.fences[0].gaps[0].why')" down 'the history has the gap'
stop TERM "$daemon_pid"

# ---- not told ----

RINGFENCE_HISTORY=$scratch/none
start inside build/ringfence-watch listen off events file off sources none history "$RINGFENCE_HISTORY" >"$log" 2>&1
eventually grep -q 'watching it' "$log"
sleep 2.2
deliver 0 src=192.0.2.66,count=20,proto=udp
sleep 2.5
stop TERM "$started_pid"
is "$(sqlite3 -readonly "$RINGFENCE_HISTORY/$eth.db" 'SELECT count(*) FROM cells')" 0 'sources none: no cell is recorded'
done_testing
