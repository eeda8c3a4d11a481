#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Metrics: the output of the command, the daemon's metrics, and that counters continue when the
# fence is replaced and the daemon is killed.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence that is replaced

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
eth=${port[0]}
file=$scratch/ringfence.prom

attach() {
	ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence limit add any rate 10/1h >"$scratch/added" || bail "limit add: $(<"$scratch/added")"
}

# The value of a series in the file FILE, or in the output of the command.
value() { # METRIC [FILE]
	if [ $# = 2 ]; then cat "$2"; else ringfence metrics; fi | sed -n "s/^ringfence_$1 //p"
}

dropped="packets_total{fence=\"$eth\",verdict=\"dropped\",reason=\"over_limit\"}"
limit="limit_packets_total{fence=\"$eth\",limit=\"any\",outcome=\"dropped\"}"

# ---- the command ----

fails 'without a fence there is nothing to print' 1 \
	"$(ringfence stats 2>&1)" ringfence metrics
matches "$(ringfence metrics --json 2>&1 >"$scratch/json")" "ringfence: '--json': .* prints JSON" 'it prints no JSON'
attach
deliver 0 src=192.0.2.66,count=25 src=192.0.2.67,count=5 src=2001:db8::1,count=3
ringfence metrics >"$scratch/printed" 2>"$scratch/stderr"
is "$? $(<"$scratch/stderr")" '0 ' 'metrics succeeds'
is "$(value "$dropped") $(value "$limit")" '15 15' 'it counts what was dropped'
is "$(value "windows{fence=\"$eth\",family=\"ipv4\"}") $(value "windows{fence=\"$eth\",family=\"ipv6\"}")" \
	'2 1' 'it counts windows'
is "$(value "limit_sources{fence=\"$eth\",limit=\"any\",state=\"active\"}") \
$(value "limit_sources{fence=\"$eth\",limit=\"any\",state=\"over\"}")" '3 1' 'it counts sources by state'
is "$(value "limit_allowed{fence=\"$eth\",limit=\"any\",unit=\"packets\"}") \
$(value "limit_window_seconds{fence=\"$eth\",limit=\"any\"}")" '10 3600' 'it says what the limit is'
is "$(grep -c '192\.0\.2\|2001:db8' "$scratch/printed")" 0 'it tells no address'
is "$(ringfence metrics dev "$eth" | grep -c "fence=\"$eth\"")" \
	"$(grep -c "fence=\"$eth\"" "$scratch/printed")" 'dev names the fence'
if command -v promtool >/dev/null; then
	is "$(promtool check metrics <"$scratch/printed" 2>&1)" '' 'promtool has nothing to say'
fi

# ---- the file ----

umask 077
does 'it writes a file' '' ringfence metrics file "$file"
umask 022
is "$(stat -c %a "$file")" 644 'everybody may read the file'
is "$(value "$dropped" "$file")" 15 'the file has what the command prints'
is "$(value "limit_use_ratio_count{fence=\"$eth\",limit=\"any\"}" "$file")" 3 'the file has the histogram'
ringfence metrics file "$file"
is "$(value "limit_use_ratio_count{fence=\"$eth\",limit=\"any\"}" "$file")" 6 'each run observes each source'
ringfence limit del any >"$scratch/deleted"
ringfence metrics file "$file"
is "$(value "$limit" "$file")" '' 'a limit that was deleted is gone'
ringfence limit add any rate 10/1h >"$scratch/added"
deliver 0 src=192.0.2.68,count=12
ringfence metrics file "$file"
is "$(value "$limit" "$file") $(value "$dropped" "$file")" '17 17' 'made anew, it goes on'
ringfence detach "$eth" >"$scratch/detached"
does 'without a fence the file is written' '' ringfence metrics file "$file"
is "$(value "$dropped" "$file")" '' 'and has no counters of the fence then'
attach
deliver 0 src=192.0.2.66,count=11
ringfence metrics file "$file"
is "$(value "$limit" "$file") $(value "$dropped" "$file")" '18 18' 'a fence made anew goes on'
sed -i 's/"generation"/"degeneration"/' "$file"
is "$(ringfence metrics file "$file" 2>&1)" \
	'ringfence: the state in the file is damaged; counters might restart' 'a damaged state is said'
is "$(value "$dropped" "$file")" 1 'and counters begin anew then'
echo precious >"$scratch/other"
fails 'it replaces no file of others' 1 "ringfence: $scratch/other: 'metrics file' did not write this file, so it does \
not replace it; remove it, or choose a different file" ringfence metrics file "$scratch/other"
is "$(<"$scratch/other")" precious 'which stays as it was'
fails 'a directory that is missing is named' 1 "ringfence: $scratch/missing/x.prom: cannot write it: No such file or \
directory" ringfence metrics file "$scratch/missing/x.prom"
mkdir "$scratch/full" && mount -t tmpfs -o size=16k full "$scratch/full" && ringfence metrics file "$scratch/full/x.prom"
head -c 100k /dev/zero >"$scratch/full/filler" 2>"$scratch/stderr"
cp "$scratch/full/x.prom" "$scratch/before"
fails 'a full disk is said' 1 "ringfence: $scratch/full/x.prom: cannot write it: No space left on device" \
	ringfence metrics file "$scratch/full/x.prom"
check 'and leaves the file as it was' cmp "$scratch/full/x.prom" "$scratch/before"
is "$(ls "$scratch/full")" 'filler
x.prom' 'and leaves nothing behind'
umount "$scratch/full"
(for ((i = 0; i < 30; i++)); do ringfence metrics file "$file"; done) &
writer=$!
torn=0
while kill -0 $writer 2>/dev/null; do
	tail -n 1 "$file" | grep -q '^# ringfence state {.*}$' || torn=$((torn + 1))
done
is $torn 0 'a reader never sees half a file'

# ---- the daemon ----

url=http://127.0.0.1:9436/metrics
token=0123456789abcdef
echo $token >"$scratch/token"
inside ip link set lo up

daemon() {
	start inside build/ringfence-watch history "$scratch/history" token file "$scratch/token" >"$scratch/log" 2>&1
	daemon_pid=$started_pid
}

get() { # CURL'S WORDS
	inside curl -m 180 -s "$@" $url
}

served() { # METRIC
	get | sed -n "s/^ringfence_$1 //p"
}

serves() { # METRIC VALUE
	[ "$(served "$1")" = "$2" ]
}

open='Accept: application/openmetrics-text'

# The daemon is stopped, and the last scan had just ended: what comes now is all in the next one.
is_paused() {
	local age

	kill -STOP "$daemon_pid"
	age=$(inside curl -m 180 -s -D - -o "$scratch/live" -H "Authorization: Bearer $token" http://127.0.0.1:9436/api/live |
		tr -d '\r' | sed -n 's/^X-Age-Ms: //p')
	[ "${age:-1000}" -lt 900 ] && return
	kill -CONT "$daemon_pid"
	return 1
}

is_not_served() { # METRIC
	get | grep -q interval && [ -z "$(served "$1")" ]
}

ringfence detach "$eth" >"$scratch/detached"
attach
deliver 0 src=192.0.2.66,count=25
mkdir "$scratch/history"
daemon
check 'the daemon serves the counters' eventually serves "$limit" 15
eventually is_paused || bail 'the daemon cannot be stopped between two scans'
deliver 0 src=192.0.2.66,count=10
kill -CONT "$daemon_pid"
check 'and what comes after' eventually serves "$limit" 25
is "$(get -H "$open" | tail -n 1)" '# EOF' 'OpenMetrics is served'
is "$(get -H "$open" | grep -c ' # {')" 0 'without the token there is no exemplar'
check 'with the token the worst source is an exemplar, as its network' eventually eval \
	"get -H '$open' -H 'Authorization: Bearer $token' | grep -q '^ringfence_$limit 25 # {source=\"192.0.2.0/24\"} 10 '"
for ((i = 0; i < 3; i++)); do
	stop KILL "$daemon_pid"
	daemon
	check "killed and started again, it tells the same ($i)" eventually serves "$limit" 25
done
page_pid=$(pgrep -P "$daemon_pid")
kill -STOP "$page_pid"
stop KILL "$daemon_pid"
daemon
sleep 0.3
kill -CONT "$page_pid"
check 'so it does where the page process of the one before takes its time to end' eventually serves "$limit" 25
ringfence detach "$eth" >"$scratch/detached"
check 'a fence that is gone has no counters' eventually is_not_served "$limit"
attach
deliver 0 src=192.0.2.66,count=11
check 'a fence made anew goes on' eventually serves "$limit" 26
stop KILL "$daemon_pid"
ringfence detach "$eth" >"$scratch/detached"
attach
deliver 0 src=192.0.2.66,count=12
daemon
has_first() {
	first=$(served "$limit")
	[ -n "$first" ]
}
eventually has_first
is "$first" 28 'so it does when that happened without the daemon, from the first answer on'
check 'the size of the history is told' eventually eval "[ \"\$(served 'history_bytes{fence=\"$eth\"}')\" -gt 10000 ]"
if command -v promtool >/dev/null; then
	is "$(get | promtool check metrics 2>&1)" '' 'promtool has nothing to say'
fi
use "$newer"
matches "$(ringfence attach "$eth")" '.*upgraded in place.*' 'the fence is upgraded beside the daemon'
lowest=$(for _ in $(seq 30); do
	served "$limit"
	sleep 0.1
done | sort -n | head -n 1)
is "$lowest" 28 'over an upgrade no counter steps back'
deliver 0 src=192.0.2.66,count=5
check 'and each goes on' eventually serves "$limit" 33
stop KILL "$daemon_pid"
daemon
check 'also over a restart of the daemon' eventually serves "$limit" 33
stop TERM "$daemon_pid"

done_testing
