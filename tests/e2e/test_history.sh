#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Commands that read a history: the contents from synthetic scans, missing data, and reading
# concurrently with the process that writes it.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 2
export RINGFENCE_HISTORY=$scratch/history TZ=UTC
made="$RINGFENCE_HISTORY/eth0.db"

# ---- nothing yet ----

nothing="no history in $RINGFENCE_HISTORY; ringfence-watch records one: 'systemctl enable --now ringfence-watch'"
for words in 'stats at -1m' 'top at -1m' 'show 192.0.2.1 at -1m' events report 'history list' 'history check'; do
	# shellcheck disable=SC2086 # words
	fails "$words, without a directory" 1 "ringfence: $nothing" ringfence $words
done
mkdir "$RINGFENCE_HISTORY"
fails 'stats at, without a history' 1 "ringfence: $nothing" ringfence stats at -1m
touch "$made"
matches "$(describe ringfence stats at -1m)" $'exit 1\n\nstderr: .*has no history yet; ringfence-watch records it' \
	'an empty file is no history'
rm "$made"

# ---- ten minutes, with an attack in the middle ----

build/tests/recorder "$RINGFENCE_HISTORY" eth0 640 600 full || bail 'cannot record a history'
recorded() { # QUERY: of the file, by another reader
	sqlite3 -readonly "$made" "$1"
}
at=$(date -d "@$(($(recorded 'SELECT time FROM totals LIMIT 1 OFFSET 299') / 1000 - 1))" +%FT%T)

sum() { # KIND: of the second that has $at
	recorded "SELECT sum(packets) FROM counts JOIN series ON series = id & 65535 WHERE kind = '$1'
		AND id >> 16 = (SELECT scan FROM totals WHERE time > $(date -d "$at" +%s)000 LIMIT 1)"
}
is "$(ringfence stats at "$at" --json | jq -r '.fences[0].packets | "\(.passed) \(.dropped)"')" \
	"$(sum passed) $(sum dropped)" 'stats at TIME prints the counts of that second'
matches "$(ringfence stats at "$at" | head -n 1)" 'fence eth0, [-0-9]{10} [0-9:]{8}, 1 s +packets/s +bit/s' \
	'stats at TIME says which second, and that it prints rates'
is "$(ringfence stats at "$at" dev eth0 --json | jq -r '.limits | map(.name) | join(" ")')" 'any limit1' \
	'stats at TIME prints limits; dev names the fence'
is "$(ringfence top 3 at "$at" --json | jq -r '.fences[0] | "\(.sources | length) \(.seconds)"')" '3 10' \
	'top N at TIME prints N sources of ten seconds'
is "$(ringfence top 1000 by drops at "$at" --json | jq '.fences[0].sources | map(.dropped) | . == (sort | reverse)')" \
	true 'top at TIME sorts by drops'
is "$(ringfence top 1000 by rate at "$at" --json |
	jq '.fences[0].sources | map(.passed + .dropped) | . == (sort | reverse)')" true 'top by rate at TIME sorts by packets'
is "$(ringfence top 1000 within 10.0.0.0/26 at "$at" --json | jq -r '.fences[0].sources[].source' | sort -u | tr '\n' ' ')" \
	'10.0.0.0 10.0.0.37 ' 'top within PREFIX at TIME prints the sources in that network'
matches "$(ringfence top 2 at "$at" | tail -n 1)" "… and [0-9]+ more; 'top N' shows N" 'top at TIME says how many more there are'
is "$(ringfence show 10.0.0.0 at "$at" --json |
	jq -c '.fences[0] | [(.cells[0].cells | length), .cells[0].cell_ms, .limits[0].limit, (.events | length)]')" \
	'[16,62.5,"any",2]' 'show ADDRESS at TIME prints cells, limits and events'
matches "$(ringfence show 203.0.113.9 at "$at")" '203.0.113.9, from .* for 10 s.*not recorded: it sent nothing.*' \
	'show at TIME says that a source was not recorded'
is "$(ringfence report --json | jq -c '[.id, .type, .ended, .seconds, .peak.dropped_per_s > 1000, (.sources | length), .gaps]')" \
	'["eth0-6561f","flood_started",true,201,true,10,[]]' 'report finds the last attack'
is "$(ringfence report eth0-6561f --json)" "$(ringfence report --json)" 'report ID reports that one'
is "$(ringfence report --json | jq -r .rules)" $'# rules (format 1)\nlimit add any rate 20k/1s\nnewcomers off' \
	'report has the rules of that time'
matches "$(ringfence report)" '.*fence eth0, flood_started, id eth0-6561f.*over the limit.*sources with the most drops.*flood_ended.*limit add any rate 20k/1s.*' \
	'report is one page of text'
is "$(ringfence report --json | jq .packets.dropped)" \
	"$(recorded "SELECT sum(packets) FROM counts JOIN series ON series = id & 65535 JOIN totals ON scan = id >> 16
	WHERE kind = 'dropped' AND time > (SELECT min(first_seen) FROM events) AND time <= (SELECT max(time) FROM events)")" \
	'report adds up what was dropped in that time'
is "$(ringfence report since -1h --json | jq -c '[.id, .packets.passed]')" \
	"[null,$(recorded "SELECT sum(packets) FROM counts JOIN series ON series = id & 65535 WHERE kind = 'passed'")]" \
	'report since TIME adds up all of it'
fails 'report of an unknown id' 1 "ringfence: 'eth0-1': no event of fence 'eth0' has this id; 'ringfence report' without one reports \
the last attack" ringfence report eth0-1

# A result of a limit that appeared for the first time after a different limit's.
sqlite3 "$made" "INSERT INTO series SELECT max(series) + 1, 'limit', 'any', 'forfeited' FROM series;
	INSERT INTO counts SELECT (scan << 16) + (SELECT max(series) FROM series), 1, 60 FROM totals" || bail 'cannot add a series'
is "$(ringfence report since -1h | grep '^limit ')" $'limit any\nlimit limit1' 'a report names each limit once'
sqlite3 "$made" "DELETE FROM counts WHERE id & 65535 = (SELECT max(series) FROM series);
	DELETE FROM series WHERE series = (SELECT max(series) FROM series)"

# For a source, the counts of the whole fence are distinguished from its own.
sqlite3 "$made" "INSERT INTO events SELECT 90 + value, max(time) - 9000 * (1 - value), iif(value, 'source_released', 'source_limited'),
	'eth0-own', 'any', '10.0.0.0', 'over_limit', '20k/1s', 290 + 10 * value, 600 + 100 * value, min(first_seen), ''
	FROM events, json_each('[0,1]') GROUP BY value" || bail 'cannot add events'
is "$(ringfence report eth0-own --json | command jq -c '[.own, .ended, ([.sources[].source] | unique)]')" \
	'[{"source":"10.0.0.0","limit":"any","passed":700,"dropped":300},true,["10.0.0.0"]]' "report of a source has the source's own packets"
matches "$(ringfence report eth0-own)" '.*source 10.0.0.0, limit any: 700 packets passed, 300 were dropped.the whole fence: at most .*the source, '\
'as it was recorded every 10 s.*10\.0\.0\.0 +any.*the whole fence, in that time +packets.*' 'and says which counts are of the whole fence'
is "$(ringfence report --json | jq -c .own) $(ringfence report | grep -c 'whole fence')" 'null 0' 'a flood has no packets of its own'
sqlite3 "$made" "DELETE FROM events WHERE id = 'eth0-own'"

# ---- events ----

# Events of two sources, of a network, and of types that the recorder does not have.
cp "$made" "$scratch/made.db"
sqlite3 "$made" "INSERT INTO events SELECT 100 + value, (SELECT max(time) FROM events), 'ban_started', 'eth0-' || value, 'any',
	json_extract('[\"192.0.2.66\",\"192.0.2.0/24\",\"2001:db8:66::/64\"]', '\$[' || value || ']'), 'banned', '20k/1s', 30, 20, 0, ''
	FROM json_each('[0,1,2]')" || bail 'cannot add events'
told() { # WORDS: the type and the source of each event
	ringfence events dev eth0 --json "$@" | jq -r '.events | map(.type + " " + (.source // "-")) | join(", ")'
}
is "$(told)" "$(recorded "SELECT group_concat(type || ' ' || iif(source = '', '-', source), ', ') FROM (SELECT * FROM events ORDER BY seq)")" \
	'events prints every event of the history, in its order'
is "$(told of flood_started,flood_ended | tr -d '0-9./-' | xargs)" 'flood_started , flood_ended' 'of TYPE,… chooses types'
is "$(told of flood_ended, ban_ended | grep -c flood_ended)" 1 'of may have a blank behind a comma'
is "$(told from 192.0.2.66)" 'ban_started 192.0.2.66, ban_started 192.0.2.0/24' \
	'from ADDRESS prints its events, and those of a recorded network around it'
is "$(told from 2001:db8::/32)" 'ban_started 2001:db8:66::/64' 'from PREFIX prints the events of sources in it'
is "$(told from 192.0.2.0/24 of source_limited)" '' 'from and of both have to fit'
began=$(recorded 'SELECT min(time) / 1000 FROM events')
is "$(told until "$(date -d "@$((began + 1))" +%FT%T)" | sed 's/ .*//')" flood_started 'until TIME ends the list'
is "$(told since "$(date -d "@$((began + 1))" +%FT%T)" | grep -c flood_started)" 0 'since TIME begins it'
is "$(ringfence events --json | jq -c '.fences | map([.fence, (.events | length)])')" '[["eth0",5]]' \
	'without dev, events --json lists the fences'
matches "$(ringfence events of flood_ended)" $'fence eth0\n  [-0-9]{10}\n  [0-9:]{8} flood_ended.* \\[eth0-6561f\\]' \
	'events prints a line with the id for each'
is "$(ringfence events of map_errors)" $'fence eth0\n  no such events; \'ringfence history list\' shows how far the history reaches' \
	'events says that there are none, and where to look'
is "$(build/ringfence help events | sed -n 's/^  of \([a-z_]*\).*/\1/p' | grep . | sort)" \
	"$(jq -r '.properties.type.enum[]' build/schema/ringfence-event.schema.json | sort)" 'events takes every type that there is'
sqlite3 "$made" "INSERT INTO events SELECT value + 1000, 1, 'map_errors', '', '', '', '', '', 0, 0, 0, printf('%.200c', 'x') FROM generate_series(1, 2000)" ||
	bail 'cannot add events'
is "$(ringfence events of map_errors --json | jq -c '.fences[0].events | [length, (map(.seq) | . == sort)]')" '[2000,true]' \
	'events prints as many as there are'
mkfifo "$scratch/pipe"
exec 8<>"$scratch/pipe"
start inside build/ringfence events >&8
check 'events waits for its reader' eventually grep -q pipe "/proc/$started_pid/wchan"
is "$(sqlite3 "$made" 'PRAGMA wal_checkpoint(TRUNCATE)')" '0|0|0' 'and holds nothing of the history meanwhile'
stop TERM "$started_pid"
exec 8>&-
rm "$made"* && cp "$scratch/made.db" "$made"

# ---- missing data ----

first=$(date -d "@$(($(recorded 'SELECT min(time) FROM totals') / 1000))" '+%F %T')
last=$(date -d "@$(($(recorded 'SELECT max(time) FROM totals') / 1000))" '+%F %T')
fails 'a time before the first record' 1 "ringfence: the history of fence 'eth0' starts at $first, after 2020-01-01 00:00:00" \
	ringfence stats at 2020-01-01T00:00
fails 'a time after the last record' 1 "ringfence: the history of fence 'eth0' ends at $last; does ringfence-watch run? \
'systemctl status ringfence-watch'" ringfence stats at -1s
fails 'a report of a time before the first record' 1 "ringfence: the history of fence 'eth0' has no records of that time; \
'ringfence history list' shows its range" ringfence report since 2020-01-01T00:00 until 2020-01-02T00:00
build/tests/recorder "$RINGFENCE_HISTORY" eth0 9 5 full || bail 'cannot record after a gap'
matches "$(describe ringfence stats at -15s)" $'exit 1\n\nstderr: ringfence: no data was recorded from [-0-9: ]+ to [-0-9: ]+: ringfence-watch did not run' \
	'a time in a gap: from when to when, and why'
matches "$(ringfence history list)" ".*gap +[-0-9: ]+ to [-0-9: ]+: ringfence-watch did[[:space:]]+not run.*" 'history list has the gap'
is "$(ringfence history list --json | jq -c '.fences[0] | [.fence, .events, (.gaps | length), .gaps[0].reason]')" \
	'["eth0",4,1,"down"]' 'history list --json has the gap'

# ---- words ----

fails 'history export -' 2 "ringfence: '-': a database cannot go to standard output; name a file" ringfence history export -

# ---- export, check, schema ----

ringfence history export "$scratch/copy.db" >"$scratch/log"
is $? 0 'history export copies the file'
is "$(sqlite3 "$scratch/copy.db" 'PRAGMA integrity_check; SELECT count(*) FROM totals')" \
	$'ok\n'"$(recorded 'SELECT count(*) FROM totals')" 'the copy is whole'
is "$(stat -c %a "$scratch/copy.db")" 600 'only its owner may read the copy'
fails 'history export over a file' 1 "ringfence: cannot make $scratch/copy.db: File exists" ringfence history export "$scratch/copy.db"
does 'history check finds no damage' "the history of fence 'eth0' is fine" ringfence history check
does 'the printed schema makes the same tables' "$(recorded 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')" \
	bash -c "build/ringfence history schema | sqlite3 '$scratch/schema.db' && sqlite3 '$scratch/schema.db' \
	'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL'"
cp "$made" "$RINGFENCE_HISTORY/bad.db"
# In the middle of the file, behind the header and the schema.
printf '%8192s' x | dd of="$RINGFENCE_HISTORY/bad.db" bs=4096 seek=40 conv=notrunc status=none
matches "$(describe ringfence history check dev bad)" $'exit 1\n\nstderr: ringfence: .*damaged.*' 'history check finds damage'
is "$(ringfence history check --json 2>/dev/null | jq -c '.fences | map(.ok)')" '[false,true]' 'history check --json names each'

# ---- several fences ----

fails 'report of several fences' 1 "ringfence: several fences have a history; name one with 'dev'; there are: bad, eth0" ringfence report
cp "$made" "$RINGFENCE_HISTORY/${port[0]}.db"
ringfence attach "${port[0]}" >"$scratch/log" || bail "attach: $(<"$scratch/log")"
is "$(ringfence report --json | jq -r .fence)" "${port[0]}" 'report takes the history of the only fence that is attached'
cp "$made" "$RINGFENCE_HISTORY/${run}b.db"
ringfence attach "${port[1]}" fence "${run}b" >"$scratch/log" || bail "attach: $(<"$scratch/log")"
fails 'report of several attached fences' 1 "ringfence: several fences have a history; name one with 'dev'; there are: bad, \
eth0, ${run}b, ${port[0]}" ringfence report
ringfence detach "${port[0]}" "${port[1]}" >"$scratch/log"
rm "$RINGFENCE_HISTORY/$run"*
fails 'dev of no history' 1 "ringfence: 'nosuch': no fence of that name has a history; there are: bad, eth0" \
	ringfence stats at "$at" dev nosuch
rm "$RINGFENCE_HISTORY"/bad.db*

# ---- without sources ----

mkdir "$scratch/new"
build/tests/recorder "$scratch/new" eth0 6 4 full || bail 'cannot record a few seconds'
for words in 'top at -4s' 'show 192.0.2.1 at -4s'; do
	# shellcheck disable=SC2086 # words
	fails "$words, in the first ten seconds" 1 "ringfence: no source of fence 'eth0' was recorded: sources are recorded every 10 s, and \
under 'sources none' never; 'sources prefix' in /etc/ringfence/watch.conf records them" \
		env RINGFENCE_HISTORY="$scratch/new" build/ringfence $words
done

# ---- readers concurrent with the writer, without its permissions ----

chgrp -R 12 "$RINGFENCE_HISTORY" && chmod 750 "$RINGFENCE_HISTORY"
chmod 711 "$scratch"
build/tests/recorder "$RINGFENCE_HISTORY" eth1 400 300 prefix || bail 'cannot record for the group'
member() {
	setpriv --reuid 65534 --regid 65534 --groups 12 build/ringfence "$@"
}
is "$(member history list --json | jq -r '.fences | map(.fence) | join(" ")')" 'eth0 eth1' 'members of the group may read'
matches "$(describe setpriv --reuid 65534 --regid 65534 --clear-groups build/ringfence history list)" \
	$'exit 1\n\nstderr: .*Permission denied; root and members of the directory.s group may' 'others may not'
is "$(member top 1000 at -3m dev eth1 --json | jq -r '.sources[].source' | grep -vc '\.0/24$')" 0 \
	'sources prefix: no address in the history'
start inside build/tests/recorder "$RINGFENCE_HISTORY" eth2 20000 20000 full
reads=0 failed=''
eventually test -s "$RINGFENCE_HISTORY/eth2.db"
# Sixty times, and as often as it takes until the writer has begun, and has been read twenty times.
reads_on() {
	local command commands=(list)

	[ $((reads % 3)) != 0 ] || commands+=(check) # which reads all that was written
	for command in "${commands[@]}"; do
		if ! member history "$command" dev eth2 >"$scratch/log" 2>&1; then
			grep -q 'has no history yet' "$scratch/log" || failed=$(<"$scratch/log")
		elif [ "$command" = list ]; then
			reads=$((reads + 1))
		fi
	done
}
read_enough() {
	reads_on
	[ "$reads" -gt 20 ]
}
for _ in $(seq 60); do reads_on; done
eventually read_enough
is "$failed" '' 'readers beside the writer never fail'
check 'readers read beside the writer' test "$reads" -gt 20
stop KILL "$started_pid"
does 'a history whose writer was killed is whole' "the history of fence 'eth2' is fine" member history check dev eth2
done_testing
