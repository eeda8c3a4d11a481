#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The cells that `show ADDRESS at TIME` prints for a source equal the packets that the source sent;
# and possible gaps, while the daemon did not run, are reported.
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
	looks_again 2 # its second scan is the first one that follows sources
}

looks() {
	sqlite3 -readonly "$RINGFENCE_HISTORY/$eth.db" 'SELECT count(*) FROM totals' 2>/dev/null || echo 0
}

has_looked() { # TIMES
	[ "$(looks)" -ge "$1" ]
}

looks_again() { # TIMES
	eventually has_looked $(($(looks) + $1)) || bail "the daemon does not scan: $(<"$log")"
}

# send FLOW…: from the source; $began and $ended are the seconds around it.
send() {
	began=$(date +%s)
	deliver 0 "${@/#/src=$source,proto=udp,}"
	ended=$(date +%s)
}

# Each row of cells of that time: its time, whether some are missing before it, and its packets.
rows() {
	local at

	for ((at = began; at <= ended + 1; at++)); do # a row that starts after a whole second has the next one
		ringfence show "$source" at "$(date -d "@$at" +%FT%T)" dev "$eth" --json 2>/dev/null |
			jq -r '.cells[]? | "\(.from) \(.incomplete) \(.cells | add)"'
	done | sort -u
}

recorded() {
	awk '{ sum += $3 } END { print sum + 0 }' "$scratch/rows"
}

# This many packets are recorded; or cells are missing in rows from this one on, because cells of
# this source expired while the daemon did not run.
is_over() { # PACKETS ROW
	rows >"$scratch/rows"
	[ "$(recorded)" -ge "$1" ] || misses "$2"
}

misses() { # ROW
	tail -n "+$1" "$scratch/rows" | grep -q true
}

# They do on a busy machine. Then all is sent again, from another source.
send_all() {
	for source in 192.0.2.{66..70}; do
		send count=300,rate=75 count=500,after=2s
		eventually is_over 800 1
		misses 1 || break
	done
}

ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence limit add any rate 20k/4s cells 16 exact >"$scratch/attached" || bail "limit: $(<"$scratch/attached")"
daemon
send_all
rows >"$scratch/rows"
is "$(recorded)" 800 'the cells of all rows have each packet that was sent, once'
is "$(grep -c true "$scratch/rows")" 0 'of a source that came while the daemon ran, no cell is missing'
at=$(date -d "$(awk '$3 { last = $1 } END { print last }' "$scratch/rows")" +%FT%T)
is "$(ringfence show "$source" at "$at" dev "$eth" --json | jq -c '.cells[0] | [.limit, .source, .differences, .refused, (.cell_ms | . > 260 and . < 280)]')" \
	"[\"any\",\"$source\",false,false,true]" 'a row says what its cells are: about 4s/15 long'
matches "$(ringfence show "$source" at "$at")" ".*$source, limit any: cells of 2[67][0-9]ms each, from [-0-9: ]+ on:
  [ .:=+*#-]*[.:=+*#-][ .:=+*#-]*
  [0-9 ]+.*" 'show at prints a bar and a number for each cell'
matches "$(LC_ALL=C.UTF-8 ringfence show "$source" at "$at")" '.*[▁▂▃▄▅▆▇█].*' 'the bars are blocks in a UTF-8 locale'

# ---- without the daemon ----

for _ in 1 2 3 4 5; do
	stop KILL "$daemon_pid"
	deliver 0 "src=$source,count=50,proto=udp"
	sleep 5
	daemon
	send count=20
	eventually is_over 20 2
	misses 2 || break
done
rows >"$scratch/rows"
is "$(recorded)" 20 'after a restart, cells are recorded again, and none twice'
is "$(head -n 1 "$scratch/rows" | cut -d' ' -f2)" true 'the first row after a restart says that some before are missing'
is "$(tail -n +2 "$scratch/rows" | grep -c true)" 0 'the ones that follow do not'
is "$(ringfence history list --json | jq -r '.fences[0].gaps[0].reason')" down 'the history has the gap'
stop TERM "$daemon_pid"

# ---- rules that an older build recorded ----

sqlite3 "$RINGFENCE_HISTORY/$eth.db" \
	"UPDATE rules SET text = replace(text, 'newcomers off', 'newcomers rate 1/1s then closed')"
matches "$(ringfence limit try any rate 1/4s dev "$eth" 2>&1)" \
	"ringfence: cannot read the recorded rules of that time: line [0-9]+: 'closed': this word is now 'drop'" \
	'old words in recorded rules are refused'

# ---- no information ----

RINGFENCE_HISTORY=$scratch/none
start inside build/ringfence-watch listen off events file off sources none history "$RINGFENCE_HISTORY" >"$log" 2>&1
eventually grep -q 'watching it' "$log"
looks_again 2
deliver 0 src=192.0.2.66,count=20,proto=udp
looks_again 3
stop TERM "$started_pid"
is "$(sqlite3 -readonly "$RINGFENCE_HISTORY/$eth.db" 'SELECT count(*) FROM cells')" 0 'sources none: no cell is recorded'
done_testing
