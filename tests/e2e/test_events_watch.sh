#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# 'events watch' on real fences: each line as it happens, across daemons that stop and start and
# files that are rotated and replaced; 'events' from the file without a history.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, watched
#   out1  ---------- wire 1 -------->  ${port[1]}  a second one

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
log=$scratch/log history=$scratch/own/history file=$scratch/own/events.jsonl
idle='no events are recorded now: ringfence-watch does not run'
chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
install -d -o 60712 "$scratch/own"
mkdir -p /run/ringfence /etc/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
printf 'listen off\njournal off\nsources full\nhistory %s\nevents file %s\n' "$history" "$file" >/etc/ringfence/watch.conf

# How often daemons have scanned, as far as recorded; without a history, how often one started to.
looks() {
	{
		sqlite3 -readonly "$history/${port[0]}.db" 'SELECT time FROM totals'
		grep '"attached"' "$file"
	} 2>/dev/null | wc -l
}

has_looked() { # MORE-THAN
	[ "$(looks)" -gt "$1" ]
}

# Losses after it are new to a scan.
daemon() {
	local before

	before=$(looks)
	# shellcheck disable=SC2086
	start inside $member "$scratch/watch" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually has_looked "$before" || bail "the daemon does not start: $(<"$log")"
}

watch() { # FILE WORDS…
	start inside build/ringfence events watch "${@:2}" >"$scratch/$1" 2>"$scratch/$1.errors"
}

has() { # FILE TEXT
	grep -q -- "$2" "$scratch/$1"
}

has_count() { # NUMBER FILE TEXT
	[ "$(grep -c -- "$3" "$scratch/$2")" = "$1" ]
}

flood() { # WIRE SOURCE
	outside build/tests/traffic send dev "out$1" to "02:00:00:00:0$1:02" flow "src=$2,count=3000,proto=tcp" >/dev/null
}

make_network 2
for wire in 0 1; do
	ringfence attach "${port[wire]}" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence limit add any rate 1k/1s dev "${port[wire]}" >"$scratch/out"
done

# ---- as it happens ----

watch all
all=$started_pid
check 'without a daemon it says that nothing is recorded' eventually has all.errors "$idle"
daemon
check 'it goes on when a daemon starts' eventually has all "${port[1]} attached"
check 'and says so' eventually has all.errors 'ringfence-watch records again'
watch one --json dev "${port[1]}"
one=$started_pid
watch some of source_limited from 192.0.2.64/26
some=$started_pid
check 'it begins with the last events' eventually has one '"type":"attached"'
flood 0 192.0.2.66
eventually has all 192.0.2.66
matches "$(tail -n 1 "$scratch/all")" \
	"[0-9:]{8} ${port[0]} source_limited 192.0.2.66 limit any: ([1-9][0-9]{0,2}|[0-9.]+k) dropped \[${port[0]}-[0-9a-f]+-[0-9]+\]" \
	'a line has the time, the fence, the type, the source, the limit, the packets and the id'
flood 1 192.0.2.130
check 'a line of another fence follows' eventually has all "${port[1]} source_limited 192.0.2.130"
check 'dev chooses a fence' eventually has one '"source":"192.0.2.130"'
is "$(jq -r .fence "$scratch/one" | sort -u)" "${port[1]}" 'and no other'
is "$(jq -c 'select(.schema != 2)' "$scratch/one")" '' 'JSON has a line for each'
check 'of and from choose' eventually has some '192.0.2.66'
is "$(grep -vcE '192.0.2.66|^[-0-9]{10}$' "$scratch/some")" 0 'and nothing else'
is "$(grep -cE '^[-0-9]{10}$' "$scratch/all")" 1 'a day has a line of its own'

# ---- daemons and files that go and come ----

stop KILL "$daemon_pid"
check 'a daemon that is killed is missed' eventually has_count 2 all.errors "$idle"
daemon
flood 0 192.0.2.67
check 'the next daemon is followed' eventually has all 'source_limited 192.0.2.67'
stop TERM "$daemon_pid"
rm "$history/${port[0]}.db"*
daemon
flood 0 192.0.2.68
check 'so is a file that was replaced' eventually has all 'source_limited 192.0.2.68'
is "$(grep -E '\[' "$scratch/all" | sort | uniq -d)" '' 'no line comes twice'
takes_little() { # at most 2 % of a CPU, in 3 s or the actual time: ticks are 10 ms
	local began=${EPOCHREALTIME/./} ticks

	ticks=$(cut -d ' ' -f 14,15 "/proc/$all/stat" | tr ' ' +)
	sleep 3
	ticks=$(($(cut -d ' ' -f 14,15 "/proc/$all/stat" | tr ' ' +) - (ticks)))
	[ $((ticks * 10000 * 50)) -le $((${EPOCHREALTIME/./} - began)) ]
}
check 'it takes 2 % of a CPU at most' eventually takes_little

# ---- its end ----

stop INT "$all"
is "$?, $(grep -cvE "$idle|records again" "$scratch/all.errors")" '0, 0' 'SIGINT ends it, without a word'
stop TERM "$some"
is "$?" 0 'so does SIGTERM'
stop INT "$one"
# shellcheck disable=SC2016 # the shell inside expands it
is "$(inside timeout 300 bash -c 'build/ringfence events watch since -1h > >(head -n 1 >/dev/null); echo $?')" 0 \
	'it ends when its reader ends, also while nothing happens'
is_free() { # except for brief work of the daemon
	[ "$(sqlite3 "$history/${port[0]}.db" 'PRAGMA wal_checkpoint(TRUNCATE)' | cut -d '|' -f 1)" = 0 ]
}
mkfifo "$scratch/pipe"
exec 8<>"$scratch/pipe"
for words in 'events' 'events watch since -1h'; do
	sqlite3 "$history/${port[0]}.db" "WITH RECURSIVE n(i) AS (VALUES(1) UNION SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO events SELECT 100000 + i + ifnull((SELECT max(seq) FROM events), 0), unixepoch() * 1000, 'map_errors', '', '', '', '', '', 0, 0, 0, 'made' FROM n"
	# shellcheck disable=SC2086 # words
	start inside build/ringfence $words dev "${port[0]}" >&8
	check "$words: its reader is stuck" eventually grep -q pipe "/proc/$started_pid/wchan"
	check "$words: and holds nothing of the history" eventually is_free
	flood 1 "192.0.2.$((100 + ${#words}))"
	check "$words: nor the daemon" eventually eval "ringfence events dev ${port[1]} | grep -q 192.0.2.$((100 + ${#words}))"
	stop TERM "$started_pid"
done
exec 8>&-
stop TERM "$daemon_pid"

# ---- only the file ----

sed -i 's/^history .*/history off/' /etc/ringfence/watch.conf
for wire in 0 1; do
	is "$(ringfence events --json dev "${port[wire]}" since -1h | jq -c '[.events[] | [.seq, .time, .type, .id, .limit, .source, .reason, .rate, .dropped, .detail]] | length > 1')" true \
		"fence $wire: without a history, events come from the file"
done
is "$(ringfence events --json | jq -r '.fences[].fence' | sort | xargs)" "$(printf '%s\n' "${port[@]}" | sort | xargs)" 'of all fences'
check 'as text' eval 'ringfence events | grep -q "source_limited 192.0.2.66 limit any"'
is "$(ringfence events from 192.0.2.68 --json | jq '[.fences[].events | length] | add')" 1 'with the same filters'
is "$(ringfence events of map_errors dev "${port[0]}")" $"fence ${port[0]}"$'\n'"  no such events in $file" 'and says where there is none'
fails 'a fence that the file does not have' 1 "ringfence: 'nosuch0': no event of this fence is in $file" ringfence events dev nosuch0
made=$(head -n 1 "$file" | command jq -c '.type = "windows_full"')
for _ in {1..12}; do echo "$made"; done >>"$file"
watch file
watcher=$started_pid
check 'events watch reads it as well' eventually has file.errors "$idle"
check 'it begins with the last 10' eventually has_count 10 file '\['
sed -i 's/^history .*/history off/' /etc/ringfence/watch.conf
daemon
check 'it sees that a daemon writes the file' eventually has file.errors 'records again'
flood 0 192.0.2.69
check 'and prints what happens' eventually has file 'source_limited 192.0.2.69'
mv "$file" "$file.1"
flood 0 192.0.2.70
check 'over a rotation' eventually has file 'source_limited 192.0.2.70'
rm "$file"
flood 0 192.0.2.71
check 'and a file that was removed' eventually has file 'source_limited 192.0.2.71'
is "$(grep source_ "$scratch/file" | sort | uniq -d)" '' 'of the file no line comes twice'
stop INT "$watcher"
stop TERM "$daemon_pid"
echo '{"no": "event"}' >>"$file"
ringfence events >"$scratch/out" 2>"$scratch/errors"
is "$?, $(<"$scratch/errors")" "0, ringfence: $file: 1 lines are no events, and were left out" 'a line that is no event is left out, and said'
rm "$file"*
fails 'no file' 1 "ringfence: no events in $file; ringfence-watch writes them: 'systemctl enable --now ringfence-watch'" ringfence events
sed -i 's/^events file .*/events file off/' /etc/ringfence/watch.conf
for words in 'events' 'events watch'; do
	# shellcheck disable=SC2086 # words
	fails "$words: neither" 1 "ringfence: ringfence-watch records no events: both 'history' and 'events file' are 'off' in \
/etc/ringfence/watch.conf" ringfence $words
done

done_testing
