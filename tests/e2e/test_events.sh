#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Events of a real fence: the log of a flood, bans, rules and a daemon that is killed.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, watched

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
log=$scratch/log
chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'

# Each run has a separate directory for history, file and program.
own() { # NAME
	own=$scratch/$1
	events=$own/events.jsonl
	mkdir "$own" && chown 60712 "$own"
	printf '#!/bin/sh\ncat >>%s/told\n' "$own" >"$own/program"
	chmod 755 "$own/program"
}

daemon() { # WORDS
	# shellcheck disable=SC2086
	start inside $member "$scratch/watch" listen off events file "$events" exec "$own/program" \
		"$@" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^fence' "$log" || bail "the daemon does not start: $(<"$log")"
}

# Lines of the log, by a filter of jq.
lines() { # FILTER
	jq -c "select($1)" "$events" 2>/dev/null
}

has() { # FILTER
	[ -n "$(lines "$1")" ]
}

flood() { # FLOW…
	local flows=() flow

	for flow; do
		flows+=(flow "$flow")
	done
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 "${flows[@]}" >/dev/null
}

# Each id that has started has ended, once, and no other id has an end.
pairs() {
	jq -r 'select(.type | test("limited|started|attached|released|ended|detached")) |
		"\(.id) \(.type | test("released|ended|detached"))"' "$events" | sort | uniq -c |
		awk '{ n[$2]++; bad += $1 != 1 } END { for (i in n) bad += n[i] != 2; print bad + 0, length(n) }'
}

# The missing numbers, minus those that are reported as omitted.
unexplained() {
	jq -s '(map(.seq) | max - min + 1) - length - (map(.suppressed // 0) | add)' "$events"
}

make_network 1
eth=${port[0]}
ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
ringfence apply - >"$scratch/log" <<-'RULES'
	limit add any rate 1k/1m
	limit add udp rate 100/1m match udp dport 53 ban 20s
RULES

# ---- a flood, and a daemon that is killed in the middle of it ----

own flood
daemon history "$own/history" sources full
check 'a fence that is found was attached' eventually has '.type == "attached"'
kill -STOP "$daemon_pid" # one scan finds all of the next flood
flood src=192.0.2.66,count=5000,proto=tcp
kill -CONT "$daemon_pid"
sent=$(date +%s%3N)
check 'a source that is limited is an event' eventually has '.type == "source_limited" and .source == "192.0.2.66/32"'
told=$(date -d "$(lines '.type == "source_limited"' | jq -r .time)" +%s%3N)
# The first can have started before the last packet arrived.
check 'it is told by one of the next two scans' \
	test "$(sqlite3 "$own/history/$eth.db" "SELECT count(*) FROM totals WHERE time > $sent AND time <= $told")" -le 2
matches "$(lines '.type == "source_limited"' | jq -c '[.limit, .rate, .reason, .dropped, .fence]')" \
	"\[\"any\",\"1k/1m\",\"over_limit\",4000,\"$eth\"\]" 'it has the limit, its rate and why'
flood src=192.0.2.67,count=500,dport=53 src=2001:db8::7,count=500,dport=53
check 'a ban that starts is an event' eventually has '.type == "ban_started" and .source == "192.0.2.67/32"'
check 'of IPv6 too' eventually has '.type == "ban_started" and .source == "2001:db8::/64"'
stop KILL "$daemon_pid"
ringfence limit change any rate 2k/1m >"$scratch/out"
daemon history "$own/history" sources full
check 'a ban that ended meanwhile has its end' eventually has '.type == "ban_ended" and .source == "192.0.2.67/32"'
check 'rules that were changed meanwhile are an event' \
	eventually has '.type == "rules_changed" and .detail == "while no daemon ran"'
is "$(lines '.type == "attached"' | wc -l)" 1 'the fence was attached once, for a daemon that was started twice'
ringfence limit change any rate 1k/1m >"$scratch/out"
check 'rules that change are told' eventually has '.detail == "changed any from 2k/1m to 1k/1m"'
ringfence limit change any rate 3k/1m confirm 2s >"$scratch/out"
# The previous rules remain active until the next change, early enough for each scan.
check 'a trial that nobody confirms is told' eventually has '.type == "confirmation_expired"'
ringfence limit change any rate 100/1h >"$scratch/out" # which 150 sources exceed together, however slowly they send
for _ in 1 2 3; do
	flood src=10.0.0.0,sources=150,count=60000,proto=tcp
	sleep 0.5
done
check 'a flood is one event' eventually has '.type == "flood_started"'
is "$(lines '.type == "flood_started"' | wc -l)" 1 'however many sources it has'
check 'what is left out is told' eventually has '.type == "suppressed" and .suppressed > 0'
stop KILL "$daemon_pid"
daemon history "$own/history" sources full
check 'the flood ends' eventually has '.type == "flood_ended"'
check 'a source is released' eventually has '.type == "source_released" and .source == "192.0.2.66/32"'
is "$(lines '.source == "192.0.2.66/32"' | jq -r .id | sort -u | wc -l)" 1 'under the id of its start, two kills later'
ringfence detach "$eth" >"$scratch/out"
check 'a fence that goes was detached' eventually has '.type == "detached"'
matches "$(pairs)" '0 [0-9]+' 'each start has one end, over two kills'
is "$(unexplained)" 0 'the gaps in the numbers are what was left out'
is "$(sqlite3 "$own/history/$eth.db" 'SELECT seq, type, id, limit_name FROM events ORDER BY seq' | sha256sum)" \
	"$(jq -r '[.seq, .type, .id // "", .limit // ""] | join("|")' "$events" | sha256sum)" \
	'the history has the same events'
check 'the program got events' test -s "$own/told"
is "$(jq -c 'select(.schema != 2)' "$own/told" | wc -l)" 0 'each as JSON'
is "$(python3 tests/docs/validate_events.py build/schema/ringfence-event.schema.json <"$events" 2>&1 | grep -v '^[a-z_]*$')" '' \
	'each line of the file is valid by the schema'
is "$(stat -c %a "$events")" 640 'only the group may read the file'
stop TERM "$daemon_pid"
is "$?" 0 'the daemon ends well'

# ---- addresses that must not be shown; a state without a history ----

bans_are_told() { # COUNT: this many started
	[ "$(lines '.type == "ban_started"' | wc -l)" -ge "$1" ]
}

for told in none prefix; do
	own "$told"
	ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence limit add any rate 1k/1s ban 1h >"$scratch/out"
	if [ "$told" = none ]; then history=off; else history=$own/history; fi
	daemon history "$history" sources "$told"
	check "$told: attached" eventually has '.type == "attached"'
	flood src=192.0.2.66,count=5000,proto=tcp src=2001:db8:1:2::7,count=5000,proto=tcp
	check "$told: a source that is limited" eventually has '.type == "source_limited"'
	eventually bans_are_told 2
	stop KILL "$daemon_pid"
	ringfence unban all >"$scratch/out"
	daemon history "$history" sources "$told"
	check "$told: a ban that ended" eventually has '.type == "ban_ended"'
	ringfence detach "$eth" >"$scratch/out"
	check "$told: detached" eventually has '.type == "detached"'
	stop TERM "$daemon_pid"
	matches "$(pairs)" '0 5' "$told: each start has one end, over a kill"
	is "$(unexplained)" 0 "$told: the numbers have no gap"
	is "$(grep -rlE '192\.0\.2\.[1-9]|2001:db8:1:2' "$own" "$log")" '' "$told: no file has an address in full"
done
is "$(jq -r '.source // empty' "$events" | sort -u | xargs)" '192.0.2.0/24 2001:db8:1::/48' 'prefix: networks are told'
is "$(jq -r '.source // empty' "$scratch/none/events.jsonl")" '' 'none: nothing is told'
check 'none: without a history the state is in a file' test -s "$scratch/none/events.jsonl.$eth.state"

done_testing
