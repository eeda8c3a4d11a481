#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The daemon, as a user without any capability: which fences it watches, what it serves and to whom,
# and the effect of killing or stopping one of its processes.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence that comes and goes
#   out1  ---------- wire 1 -------->  ${port[1]}  one that `ip` attached, unreadable to other users

# shellcheck disable=SC2016 # dollars for other shells
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
url=http://127.0.0.1:9436
log=$scratch/log
chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
mkdir -p /etc/ringfence && rm -f /etc/ringfence/*
mkdir "$scratch/own" && chown 60712 "$scratch/own"

# ---- words ----

watch() { # WORDS: its output, and its status
	local status

	timeout 300 "$scratch/watch" "$@" >"$scratch/stdout" 2>"$scratch/stderr"
	status=$?
	printf 'exit %d\n%s\nstderr: %s' "$status" "$(<"$scratch/stdout")" "$(<"$scratch/stderr")"
}

refuses() { # NAME STATUS SENTENCE WORD…
	is "$(watch "${@:4}")" "exit $2"$'\n\n'"stderr: ringfence-watch: $3" "$1"
}

is "$(watch version)" "exit 0
ringfence-watch $(build/ringfence version | cut -d' ' -f2)
stderr: " 'version prints the version'
for words in help --help -h; do
	is "$("$scratch/watch" $words | sha256sum)" "$("$scratch/watch" help | sha256sum)" "$words prints the help"
done
is "$("$scratch/watch" help | sed 's/…/./g' | awk 'length > 80')" '' 'the help fits into 80 columns'
refuses 'a setting that is nearly one is refused' 2 "'lisen': unknown setting; did you mean 'listen'?" lisen off
refuses 'an open address without a token is refused' 2 "'listen 0.0.0.0:9436': not a loopback \
address, so requests must show a token; add 'token file PATH'" listen 0.0.0.0:9436
echo short >"$scratch/short"
refuses 'a token that can be guessed is refused' 1 "token file $scratch/short: a token has 16 to 255 \
characters, without blanks" listen off token file "$scratch/short"
refuses 'the word of the page process is for the daemon alone' 2 \
	"'page-process': only the daemon itself starts this" page-process
is "$(watch check)" "exit 0
/etc/ringfence/watch.conf: there is no such file; the settings are as 'help' shows them
stderr: " 'check without a file says so'
printf '%s\n' '# of this test' 'sources full' 'keep 9d' >"$scratch/right"
is "$(watch check "$scratch/right")" "exit 0
$scratch/right: no errors
stderr: " 'check finds no error in a file without one'
printf '%s\n' 'sources ful' 'keep 9d' '' 'journal no' >"$scratch/wrong"
is "$(watch check "$scratch/wrong")" "exit 1

stderr: ringfence-watch: $scratch/wrong:1: 'ful': 'sources' expects none, prefix or full; did you mean 'full'?
ringfence-watch: $scratch/wrong:4: 'no': 'journal' expects off or on
ringfence-watch: $scratch/wrong: 2 errors" 'check reports each error with its line'
is "$(watch config "$scratch/wrong" | head -n 1)" 'exit 1' 'the daemon does not start with a file of errors'

# ---- fences ----

make_network 2
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
inside ip link set lo up

daemon() { # WORDS
	# shellcheck disable=SC2086
	start inside $member "$scratch/watch" "$@" >"$log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^serving' "$log" || bail "the daemon does not start: $(<"$log")"
}

get() { # CURL'S WORDS
	inside curl -m 180 -s "$@"
}

status() { # CURL'S WORDS
	get -o "$scratch/body" -w '%{http_code}' "$@"
}

# The value of a metric; empty if not found.
value() { # METRIC
	get $url/metrics | sed -n "s/^ringfence_$1 //p"
}

says() { # TEXT
	grep -qF -- "$1" "$log"
}

is_up() { # FENCE
	[ "$(value "up{fence=\"$1\"}")" = 1 ]
}

is_gone() { # FENCE
	[ "$(value "up{fence=\"$1\"}")" = 0 ]
}

eth=${port[0]}
use "$quick"
# This user cannot write in /var/lib, whatever it contains.
daemon
check 'alone, it says that nothing is recorded' grep -qE '/var/lib/ringfence' "$log"
check 'alone, it says where it serves' says "serving $url/metrics"
check 'without a fence it waits for one' eventually says 'no fence is attached to any interface here; waiting for one'
ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
check 'a new fence is watched' eventually is_up "$eth"
check 'it says which fence it watches' says "fence '$eth': watching it, on $eth"
is "$(sed -n 's/^CapEff:\t//p' "/proc/$daemon_pid/status") $(sed -n 's/^Uid:\t\([0-9]*\).*/\1/p' "/proc/$daemon_pid/status")" \
	'0000000000000000 60712' 'it does so without any capability'
ringfence detach "$eth" >"$scratch/detached"
check 'of a fence that goes it is served that it is not up' eventually is_gone "$eth"
check 'it says that the fence is gone' says "fence '$eth': it is gone"
ringfence attach "$eth" >"$scratch/attached"
check 'a fence that comes back is watched again' eventually is_up "$eth"
inside ip link set dev "${port[1]}" xdpdrv obj build/ringfence.bpf.o sec xdp || bail 'ip does not attach'
check 'a fence without readable pins gets a sentence with the remedy' \
	eventually says "as root run 'ringfence adopt IF' once"
outside ip link set dev out1 xdpdrv obj build/ringfence.bpf.o sec xdp || bail 'ip does not attach'
sleep 5
is "$(grep -c 'adopt IF' "$log")" 1 'it gets that sentence once, not at each scan'
is "$(get $url/metrics | grep -c '^ringfence_up')" 1 'a fence of another network namespace is not watched'
check 'a fence beside one that cannot be read is watched' is_up "$eth"
inside ip link set dev "${port[1]}" xdp off
outside ip link set dev out1 xdp off

# ---- requests ----

# In bash, because curl would send everything in one piece: bytes one by one, until the daemon
# closes.
slow='exec 3<>/dev/tcp/127.0.0.1/9436 || exit
	start=$SECONDS
	: >"$1"
	while [ $((SECONDS - start)) -lt 30 ] && printf x >&3; do
		read -r -t 1 -N 1 -u 3
		[ $? -gt 128 ] || break # 128: nothing has arrived, and the connection is open
	done
	echo $((SECONDS - start))'
drip() { # FILE that shows its start
	(trap "" PIPE; inside bash -c "$slow" bash "$1" 2>/dev/null) >"$scratch/slow"
}
was_cut_off() {
	awk '{ cut = $1 >= 2 && $1 < 10 } END { exit !cut }' "$scratch/slow"
}
drip "$scratch/slow-began" &
slow_pid=$!
eventually test -e "$scratch/slow-began"

is "$(status $url/metrics)" 200 'GET of /metrics is answered'
is "$(status -I $url/metrics) $(wc -c <"$scratch/body")" "200 $(get -I $url/metrics | wc -c)" 'HEAD of /metrics is answered, without a body'
is "$(get -D - -o "$scratch/body" $url/metrics | tr -d '\r' | sed -n 's/^Content-Type: //p')" \
	'text/plain; version=0.0.4; charset=utf-8' 'the text format is the usual one'
is "$(get -H 'Accept: application/openmetrics-text' $url/metrics | tail -n 1)" '# EOF' 'OpenMetrics is sent to who accepts it'
matches "$(get $url/)" '.*/metrics.*' '/ says what there is'
is "$(get -D - -o "$scratch/body" $url/ | tr -d '\r' | grep -cE "^(X-Content-Type-Options: nosniff|Cache-Control: no-store|\
Referrer-Policy: no-referrer|Content-Security-Policy: default-src 'none'; .*)$")" 4 'the headers let a browser do nothing with an answer'
is "$(status --path-as-is $url/../metrics) $(status --path-as-is $url/metrics/../../etc/passwd)" '404 404' 'other paths are not found'
for method in POST PUT DELETE OPTIONS; do
	is "$(status -X $method $url/metrics)" 405 "$method is refused"
done
is "$(status -d x=1 -X GET $url/metrics)" 400 'a body is refused'
is "$(status -H 'Host: evil.example:9436' $url/metrics) $(status -H 'Host: 127.0.0.1' $url/metrics) \
$(status -H 'Host:' $url/metrics) $(status -H 'Host: localhost:9436' $url/metrics)" '421 421 400 200' \
	'only a Host of the list is answered, with its port'
is "$(status -H 'Origin: http://evil.example' $url/metrics) $(status -H 'Sec-Fetch-Site: cross-site' $url/metrics)" \
	'403 403' 'a page of another site gets nothing'
is "$(status -H "X-Long: $(printf '%06000d' 0)" $url/metrics) $(status -H "X-Long: $(printf '%09000d' 0)" $url/metrics)" \
	'200 431' 'headers of 8 KiB are the most'
# A machine that is briefly busy makes it take longer, but not each time.
is_quick() {
	get -o /dev/null -w '%{time_total}' "$url/metrics" | awk '{ quick = $1 < 1 } END { exit !quick }'
}
check 'a scrape takes less than a second' eventually is_quick

# Connections are open for 2 s, so requests in addition to 10 of them can be too late; then retry.
crowded() { # STATUS STATUS: of a request from their address, and of one from another
	[ "$(inside bash -c 'for ((i = 0; i < 10; i++)); do exec {fd}<>/dev/tcp/127.0.0.1/9436 || exit; done
		for interface in 127.0.0.1 127.0.0.2; do
			curl -m 180 -s -o /dev/null -w "%{http_code} " --interface $interface "$1"
		done' bash "$url/metrics")" = "$1 $2 " ]
}
check 'more than 8 connections of one address are not served, another address is then' eventually crowded 000 200
is_served() {
	[ "$(status "$url/metrics")" = 200 ]
}
check 'the address is served again after that' eventually is_served
wait $slow_pid
was_cut_off || eventually eval 'drip "$scratch/slow-began"; was_cut_off'
check "a client of a byte a second is cut off after 2 s ($(<"$scratch/slow"))" was_cut_off

# ---- processes ----

page() {
	pgrep -P "$daemon_pid"
}

page_is_new() {
	[ -n "$(page)" ] && [ "$(page)" != "$page_pid" ]
}

age_is_under() { # SECONDS
	value "scan_age_seconds{fence=\"$eth\"}" | awk -v most="$1" '{ n++; bad = $1 > most } END { exit !n || bad }'
}

page_pid=$(page)
is "$(sed -n 's/^\(Seccomp\|NoNewPrivs\):\t//p' "/proc/$page_pid/status" | xargs)" '1 2' 'the page process is confined'
is "$(find "/proc/$page_pid/fd" -lname '*bpf*' | wc -l)" 0 'the page process has no file of a fence'
kill -KILL "$page_pid"
check 'a page process that was killed is started again' eventually page_is_new
check 'it serves then' eventually is_up "$eth"
page_pid=$(page)
has_said() { # COUNT TEXT
	[ "$(grep -cF -- "$2" "$log")" -ge "$1" ]
}
# The report of a scan is longer than the pipe between the two; each search reports its findings.
kill -STOP "$page_pid"
for i in 1 2 3; do
	sleep 1
	ringfence detach "$eth" >"$scratch/detached"
	goes_on=$(eventually has_said $((i + 1)) "fence '$eth': it is gone" && echo yes)
	ringfence attach "$eth" >"$scratch/attached"
	goes_on+=$(eventually has_said $((i + 2)) "fence '$eth': watching it" && echo ", yes")
done
is "$goes_on" 'yes, yes' 'while the page process is stuck, scans go on'
kill -CONT "$page_pid"
check 'and it tells the last one then' eventually age_is_under 2
kill -STOP "$daemon_pid"
check 'while the scanner is stuck, ages grow' eventually eval '! age_is_under 2'
kill -CONT "$daemon_pid"
check 'and are short again when it goes on' eventually age_is_under 2
stop KILL "$daemon_pid"
check 'without the scanner the page process ends' eventually eval "! kill -0 $page_pid 2>/dev/null"

# ---- active settings ----

printf '%s\n' 'listen 127.0.0.1:9436' 'interval 2s' >"$scratch/watch.conf"
daemon config "$scratch/watch.conf" socket "$scratch/own/http.sock" history "$scratch/own/history"
interval_is() {
	[ "$(value scan_interval_seconds)" = "$1" ]
}
check 'the file and the command line are settings both' eventually interval_is 2
is "$(stat -c '%a %F' "$scratch/own/http.sock")" '660 socket' 'the socket is for its group'
is "$(status --unix-socket "$scratch/own/http.sock" http://anything/metrics)" 200 'on the socket any Host is answered'
db=$scratch/own/history/$eth.db
recorded() { # DB: the bytes of the file and its log
	stat -c %s "$1" "$1-wal" 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'
}
has_recorded() { # DB BYTES: at least this many
	[ "$(recorded "$1")" -ge "$2" ]
}
records_more() { # DB: than now
	eventually has_recorded "$1" $(($(recorded "$1") + 1))
}
check 'it makes the directory of the history, and records' eventually has_recorded "$db" 30000
is "$(stat -c %a "$scratch/own/history") $(stat -c %a "$db")" '750 640' 'only the group may read the history'
check 'it records each scan' records_more "$db"
echo 'interval 3x' >"$scratch/watch.conf"
kill -HUP "$daemon_pid"
check 'SIGHUP with an error names it' eventually says "$scratch/watch.conf:1: '3x': 'interval' expects a time from 1s to 60s"
check 'the settings before stay in force' says 'the settings before stay in force'
is "$(value scan_interval_seconds)" 2 'and it goes on as before'
echo 'interval 3s' >"$scratch/watch.conf"
kill -HUP "$daemon_pid"
check 'SIGHUP takes new settings' eventually interval_is 3
rm "$db"* # reopening a record would create a new file
kill -HUP "$daemon_pid"
check 'after SIGHUP the history is opened anew' eventually has_recorded "$db" 30000
page_pid=$(page)
stop TERM "$daemon_pid"
is "$?" 0 'SIGTERM ends it, with status 0'
check 'and its page process' eval "! kill -0 $page_pid 2>/dev/null"

echo 0123456789abcdef >"$scratch/token"
daemon listen 0.0.0.0:9436 token file "$scratch/token"
is "$(status $url/metrics) $(status -H 'Authorization: Bearer 0123456789abcdee' $url/metrics) \
$(status -H 'Authorization: Bearer 0123456789abcdef' $url/metrics)" '401 401 200' 'on an open address requests show the token'
is "$(tr '\0' ' ' <"/proc/$(page)/cmdline")" 'ringfence-watch page-process ' 'the token is on no command line'
stop INT "$daemon_pid"
is "$?" 0 'SIGINT ends it, with status 0'

# ---- metrics ----

told() { # the packets of the fence that passed under its limit, or were dropped by it
	get "$url/metrics" | awk -v fence="$eth" 'index($0, "ringfence_packets_total{fence=\"" fence "\"") &&
		/reason="(under_limit|over_limit)"/ { sum += $NF } END { printf "%.0f\n", sum }'
}
tells() { # COUNT
	[ "$(told)" = "$1" ]
}
ringfence detach "$eth" >"$scratch/attached"
use "$shipped" # the others count no packet
ringfence attach "$eth" >"$scratch/attached"
ringfence limit add any rate 5/1h exact >"$scratch/attached"
daemon sources full history "$scratch/own/kept"
check 'a fence is up' eventually is_up "$eth"
deliver 0 src=192.0.2.66,count=20,proto=udp
check 'packets are in the metrics' eventually tells 20
ringfence detach "$eth" >"$scratch/attached"
check 'the fence is gone' eventually is_gone "$eth"
ringfence attach "$eth" >"$scratch/attached"
ringfence limit add any rate 5/1h exact >"$scratch/attached"
eventually is_up "$eth"
deliver 0 src=192.0.2.66,count=30,proto=udp
check 'counters go on when the fence comes back' eventually tells 50
stop KILL "$daemon_pid"
echo 0123456789abcdef >"$scratch/token"
daemon sources full history "$scratch/own/kept" token file "$scratch/token"
eventually is_up "$eth"
deliver 0 src=192.0.2.66,count=7,proto=udp
check 'and after the daemon was killed' eventually tells 57
exemplars() { # CURL'S WORDS
	get -H 'Accept: application/openmetrics-text' "$@" "$url/metrics" | grep -c 'source="192.0.2.66'
}
has_exemplars() {
	[ "$(exemplars -H 'Authorization: Bearer 0123456789abcdef')" -gt 0 ]
}
check 'who shows the token gets the worst sources' eventually has_exemplars
is "$(exemplars)" 0 'who does not gets none'
stop TERM "$daemon_pid"
for sources in none prefix; do
	daemon sources "$sources" history "$scratch/own/$sources" token file "$scratch/token"
	eventually is_up "$eth"
	deliver 0 src=192.0.2.66,count=20,proto=udp
	check "sources $sources: the history is written" eventually grep -qa over_limit "$scratch/own/$sources/$eth.db-wal"
	# By then its cells and events are written; tests/prog/test_history tests the periodic
	# writes each 10 s.
	check "sources $sources: more scans are recorded" records_more "$scratch/own/$sources/$eth.db"
	is "$(get -H 'Authorization: Bearer 0123456789abcdef' -H 'Accept: application/openmetrics-text' $url/metrics |
		cat - "$log" | grep -c '192\.0\.2\.66')" 0 "sources $sources: no address is served"
	stop TERM "$daemon_pid"
	is "$(grep -la '192\.0\.2\.66' "$scratch/own/$sources/"*)" '' "sources $sources: no address is recorded"
done

# A fence that an older version attached, without some of the pins by which it is read.
dropped() {
	get $url/metrics | awk '/^ringfence_packets_total/ && /over_limit/ { sum += $2 } END { print sum + 0 }'
}
has_more_drops() { # THAN
	[ "$(dropped)" -gt "$1" ]
}
has_iterators && older_said=1 || older_said=0
older="takes longer; 'ringfence adopt $eth' mends that"
for gone in none 'pending' 'pending active active_v6 active64 windows'; do
	for pin in $gone; do
		rm -f "/sys/fs/bpf/ringfence/$eth/$pin" "/run/ringfence/$eth/$pin"
	done
	daemon
	check "without the pins '$gone': the fence is watched" eventually is_up "$eth"
	counted=$(dropped)
	is "$(grep -cF -- "$older" "$log")" "$([ "$gone" = none ] && echo 0 || echo "$older_said")" \
		"without the pins '$gone': the sentence about an older version"
	deliver 0 src=192.0.2.66,count=20,proto=udp
	check "without the pins '$gone': packets are counted" \
		eventually has_more_drops "$counted"
	stop TERM "$daemon_pid"
done
ringfence adopt "$eth" >"$scratch/adopted" || bail "adopt: $(<"$scratch/adopted")"
daemon
check 'adopt gives it the pins: it is watched' eventually is_up "$eth"
is "$(grep -cF -- "$older" "$log")" 0 'adopt gives it the pins: nothing is said of it'
stop TERM "$daemon_pid"

# As root, in a shell.
start inside "$scratch/watch" history off events file off >"$log" 2>&1
daemon_pid=$started_pid
eventually is_up "$eth"
matches "$(sed -n 's/^\(Uid\|Groups\):[\t ]*//p' "/proc/$(page)/status" | xargs)" '[1-9].*' 'the page process of root is not root'
is "$(sed -n 's/^Groups:[\t ]*//p' "/proc/$(page)/status")" '' 'the page process of root is in no group'
stop TERM "$daemon_pid"

done_testing
