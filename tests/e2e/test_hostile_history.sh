#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A user with write permission for a history, or the file of events, can write anything into it: no
# command sends a control character of it to a terminal, in text or in JSON.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

export RINGFENCE_HISTORY=$scratch/history
mkdir "$RINGFENCE_HISTORY"
add_namespace inside
build/tests/recorder "$RINGFENCE_HISTORY" eth0 640 600 full >"$scratch/log" || bail "recorder: $(<"$scratch/log")"
cp -r "$RINGFENCE_HISTORY" "$scratch/clean"

# An escape sequence that names the terminal, a bell, a C1 control, a carriage return, a line feed.
evil="X' || char(27) || ']0;title' || char(7) || char(155) || '2J' || char(13) || char(10) || 'Y"

# spoil TABLE COLUMN
spoil() {
	sqlite3 "$RINGFENCE_HISTORY/eth0.db" "UPDATE $1 SET $2 = '$evil'" 2>&1
}

anew() {
	rm -rf "$RINGFENCE_HISTORY"
	cp -r "$scratch/clean" "$RINGFENCE_HISTORY"
}

# A command's output, in both streams, on a terminal if it has one: control characters except the
# line feed. C1 controls are two bytes in UTF-8.
controls() { # CMD…
	LC_ALL=C.UTF-8 script -qec "$(printf '%q ' "$@")" /dev/null </dev/null 2>&1 | tr -d '\r\n' |
		LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]'
}

commands=(
	'events'
	'events --json'
	'events from 0.0.0.0/0'
	'report'
	'report since -1h'
	'report since -1h --json'
	'stats at -5m'
	'stats at -5m --json'
	'top at -5m'
	'top at -5m --json'
	'history list'
	'history list --json'
	'history check'
	'suggest since -1h'
	'limit try any rate 10/1s since -10m'
)
source=$(build/ringfence top at -5m --json | jq -r '.fences[0].sources[0].source // .sources[0].source')
commands+=("show ${source%/*} at -5m" "show ${source%/*} at -5m --json")

all_are_clean() { # NAME
	local command found=''

	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		[ "$(controls build/ringfence $command)" = 0 ] || found+=" '$command'"
	done
	is "$found" '' "$1"
}

is "$(controls printf 'X\033]0;t\007')$(controls printf 'X\302\233')" 11 'a control character is noticed'
all_are_clean 'a history that the daemon wrote has no control character'
while read -r table column; do
	anew
	is "$(spoil "$table" "$column")" '' "$table.$column can be spoilt"
	all_are_clean "nothing of $table.$column reaches a terminal raw"
done <<-'END'
	events type
	events id
	events limit_name
	events source
	events reason
	events rate
	events detail
	sources source
	rules text
	gaps why
END
# Columns that are unique preserve distinct values.
for spoilt in 'series kind' 'series name' 'series outcome' 'limits name' 'state text'; do
	read -r table column <<<"$spoilt"
	anew
	is "$(sqlite3 "$RINGFENCE_HISTORY/eth0.db" "UPDATE $table SET $column = '$evil' || $column" 2>&1)" '' \
		"$table.$column can be spoilt"
	all_are_clean "nothing of $table.$column reaches a terminal raw"
done

# ---- the file of events ----

rm -rf "$RINGFENCE_HISTORY"
export RINGFENCE_HISTORY=$scratch/none RINGFENCE_EVENTS=$scratch/events.jsonl
for key in type id fence limit source reason rate detail; do
	jq -nc --arg key "$key" '{schema: 2, seq: 1, time: "2026-11-22T14:01:38.204Z", type: "source_limited",
		id: "eth0-1-1", fence: "eth0", limit: "any", source: "192.0.2.1/32", reason: "over_limit",
		rate: "1/1s", dropped: 1, passed: 1, first_seen: "2026-11-22T14:01:37.900Z"} |
		.[$key] = "X\u001b]0;t\u0007\u009b2J\r\nY"'
done >"$RINGFENCE_EVENTS"
printf 'X\033]0;t\007\n' >>"$RINGFENCE_EVENTS"
commands=('events' 'events --json' 'events dev eth0')
check 'the file is read' grep -q source_limited <(build/ringfence events 2>/dev/null)
all_are_clean 'nothing of the file of events reaches a terminal raw'

done_testing
