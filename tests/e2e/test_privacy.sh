#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 'sources none|prefix|full' holds for everything that the daemon writes and serves, and for
# everything that commands read from it. Every output goes into a file, and each file is searched
# for addresses, as text and as bytes. With 'full' each has one, which proves that the search finds
# them.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, watched

# shellcheck disable=SC2016,SC2317 # dollars are for eval; functions are called by eventually
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
url=http://127.0.0.1:9436 journal=/run/log/journal
for journald in /usr/lib/systemd/systemd-journald /lib/systemd/systemd-journald none; do
	[ ! -x "$journald" ] || break
done
[ "$journald" != none ] || bail "there is no systemd-journald; run 'make deps-test'"

# Of sources that send, and in the rules: hosts that no network's own address looks like.
addresses='192\.0\.2\.166|2001:db8:1:2|203\.0\.113\.177|198\.51\.100\.199'
# 192.0.2.166 as a number, in either order of bytes.
bytes='\xc0\x00\x02\xa6|\xa6\x02\x00\xc0'

make_network 1
inside ip link set lo up
eth=${port[0]}
chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
mkdir -p /run/ringfence /etc/ringfence "$journal" /run/systemd/journal
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
echo 0123456789abcdef >"$scratch/token"
start inside "$journald" >"$scratch/journald" 2>&1
eventually test -S /run/systemd/journal/socket || bail "journald does not start: $(<"$scratch/journald")"

begin() { # none | prefix | full
	own=$scratch/$1 out=$scratch/$1/out
	mkdir -p "$out" "$own/kept" && chown 60712 "$own" "$own/kept"
	export RINGFENCE_HISTORY=$own/kept
	printf '#!/bin/sh\ncat >>%s/told\n' "$own" >"$own/program"
	chmod 755 "$own/program"
	printf 'sources %s\nhistory %s\nevents file %s\nexec %s\ntoken file %s\nsocket %s\n' "$1" "$own/kept" \
		"$own/events.jsonl" "$own/program" "$scratch/token" "$own/socket" >/etc/ringfence/watch.conf
	ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence limit add any rate 50/1s ban 2s >"$scratch/out"
	ringfence limit add near rate 20/1s from 192.0.2.166 shadow >"$scratch/out"
	ringfence allow add 198.51.100.199 >"$scratch/out"
	# shellcheck disable=SC2086 # words
	start inside $member "$scratch/watch" >"$own/daemon" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^fence' "$own/daemon" || bail "the daemon does not start: $(<"$own/daemon")"
	start inside build/ringfence events watch >"$own/watched" 2>&1
	follower_pid=$started_pid
}

has() { # TYPE
	grep -qs "\"$1\"" "$own/events.jsonl"
}

is_recorded() { # TABLE
	[ "$(sqlite3 -readonly "$own/kept/$eth.db" "SELECT count(*) > 0 FROM $1" 2>/dev/null)" = 1 ]
}

send() {
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.166,count=300,rate=300 \
		flow src=2001:db8:1:2::7,count=300,rate=300 flow src=203.0.113.177,count=100,rate=100 >"$scratch/sent"
}

# On a busy machine a ban can expire before the daemon scans; then the next one is seen.
lives_to_see_a_ban() {
	has ban_ended || ! send
}

# Until sources, their cells, and the end of a ban are recorded; 'none' records no source.
live_through() { # none | prefix | full
	eventually is_recorded totals
	eventually lives_to_see_a_ban
	ringfence deny add 203.0.113.177 >"$scratch/out"
	send
	eventually has rules_changed
	[ "$1" = none ] || for table in sources cells; do
		eventually is_recorded "$table"
	done
}

get() { # CURL'S WORDS
	inside curl -m 180 -s -H 'Authorization: Bearer 0123456789abcdef' "$@"
}

ask() { # KIND [WORDS]
	get "$url/api/$1?from=$((from * 1000))&to=$((to * 1000))${2-}"
}

# A source is in the last scan for 4 s after its last packet, which a busy machine can take to
# query.
lives_to_see_a_source() {
	get "$url/api/live" >"$out/api-live"
	jq -e '.sources | length > 0' "$out/api-live" >"$scratch/out" || ! send
}

serve() { # none | prefix | full
	send
	if [ "$1" = none ]; then get "$url/api/live" >"$out/api-live"; else eventually lives_to_see_a_source; fi
	get "$url/api/recent" >"$out/api-recent"
	for kind in range sources events; do
		ask "$kind" >"$out/api-$kind"
	done
	ask source '&source=192.0.2.0%2F24' >"$out/api-source-network"
	get "$url/metrics" >"$out/metrics"
	get -H 'Accept: application/openmetrics-text' "$url/metrics" >"$out/openmetrics"
	get -H 'Accept: application/openmetrics-text' --unix-socket "$own/socket" http://any/metrics >"$out/openmetrics-socket"
}

# No word typed here is one of the addresses, because an error repeats the typed words.
print() {
	local at

	# Of the last sample that has sources, a whole second in it.
	at=$(sqlite3 -readonly "$own/kept/$eth.db" 'SELECT max(time - 1) / 1000 FROM samples
		WHERE (time - ms) / 1000 < (time - 1) / 1000 AND EXISTS
		(SELECT 1 FROM sources WHERE id >= scan << 16 AND id < (scan + 1) << 16)' 2>/dev/null)
	at=$(date -d "@${at:-$to}" +%FT%T)
	for json in '' --json; do
		ringfence events $json >"$out/events$json"
		ringfence events from 192.0.2.0/24 $json >"$out/events-from$json"
		ringfence report $json since -5m >"$out/report-since$json"
		ringfence top at "$at" $json >"$out/top-at$json"
		ringfence stats at "$at" $json >"$out/stats-at$json"
		ringfence history list $json >"$out/history-list$json"
		ringfence show 192.0.2.167 at "$at" $json >"$out/show-at-neighbour$json"
		ringfence suggest $json since -5m >"$out/suggest$json"
		ringfence limit try near rate 10/1s since -5m $json >"$out/try$json"
	done 2>&1
	for id in $(jq -r 'select(.type == "source_limited" or .type == "ban_started") | .id' "$own/events.jsonl"); do
		ringfence report "$id"
	done >"$out/report-ids" 2>&1
	ringfence history export "$out/exported.db" >"$out/history-export"
	ringfence metrics file "$out/metrics-file"
}

# Of this daemon.
journal() {
	journalctl -q -D "$journal" -o export "_PID=$daemon_pid"
}

collect() { # none | prefix | full
	from=$(($(date +%s) - 300)) to=$(($(date +%s) + 5))
	serve "$1"
	print >"$out/printed"
	stop KILL "$daemon_pid" # to preserve the log of the history
	stop INT "$follower_pid"
	cat "$own/kept/"* >"$out/history"
	mv "$own/"{events.jsonl,told,daemon,watched} "$out/"
	eventually eval 'journal >"$out/journal"; grep -q source_limited "$out/journal"'
	ringfence detach "$eth" >"$scratch/out"
}

with_address() { # none | prefix | full: the outputs that have one
	(cd "$scratch/$1/out" && {
		grep -laE "$addresses" -- *
		grep -laP "$bytes" -- *
	} | sort -u | xargs)
}

for told in full none prefix; do
	begin "$told"
	live_through "$told"
	collect "$told"
done
found=$(with_address full)
for output in api-{events,live,source-network,sources} events{,--json} events-from{,--json} events.jsonl exported.db \
	history journal openmetrics{,-socket} report-ids report-since{,--json} told top-at{,--json} watched; do
	[[ " $found " == *" $output "* ]] || missing+=" $output"
done
is "${missing-}" '' 'sources full: each output that names sources has an address'
is "$(with_address none)" '' 'sources none: no output has an address'
is "$(with_address prefix)" '' 'sources prefix: no output has an address'
is "$(cd "$scratch/none/out" && grep -laE '192\.0\.2\.|2001:db8:|203\.0\.113\.|198\.51\.100\.' -- * | xargs)" '' \
	'sources none: no output has a network'
rules() { # none | prefix | full: the recorded limit that has a 'from'
	sqlite3 "$scratch/$1/out/exported.db" 'SELECT text FROM rules ORDER BY id DESC LIMIT 1' | grep near
}
is "$(rules full)" 'limit add near rate 20/1s from 192.0.2.166 shadow' 'sources full: recorded rules are those in force'
is "$(rules prefix)" 'limit add near rate 20/1s from 192.0.2.0/24 shadow # networks for addresses' \
	'sources prefix: they have networks, and say so'
is "$(rules none)" 'limit add near rate 20/1s shadow # from: hidden' 'sources none: they have none, and say so'
done_testing
