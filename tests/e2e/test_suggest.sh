#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# From a fresh fence to a limit: 'suggest' prints the command to type, sees real sources, and
# suggests a shadow; the drops that the shadow counts afterwards are within the range that 'limit
# try' computes from the recorded cells.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence, recorded by the daemon

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
log=$scratch/log history=$scratch/own/history
export RINGFENCE_HISTORY=$history
chmod 755 "$scratch"
install -m 755 build/ringfence-watch "$scratch/watch"
install -d -o 60712 "$scratch/own"
mkdir -p /run/ringfence /etc/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
printf 'listen off\njournal off\nsources full\nhistory %s\n' "$history" >/etc/ringfence/watch.conf

send() { # SOURCE COUNT RATE
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow "src=$1,count=$2,rate=$3" >/dev/null
}

would_drop() { # LIMIT
	ringfence stats --json | jq ".limits[]? // .fences[0].limits[] | select(.name == \"$1\") | .would_drop"
}

tried() { # WORD…: [least, most]
	ringfence limit try "$@" --json | jq -c '[.dropped_min, .dropped_max]'
}

agrees() { # SINCE DROPPED: in the interval
	ringfence limit try probe rate 1k/1s since "$1" --json |
		jq -e --argjson dropped "$2" '.dropped_min <= $dropped and $dropped <= .dropped_max' >"$scratch/agrees"
}

is_incomplete() { # SINCE: it reports that
	ringfence limit try probe rate 1k/1s since "$1" --json | jq -e '.sources_incomplete > 0 and .estimate' >"$scratch/agrees"
}

# On a busy machine the daemon can read cells too late, and they are missing, or a sender is delayed
# for long enough that little exceeds the limit; then everything is sent again, five times at most.
# $since and $dropped belong to the last attempt.
compare() { # FLOW FLOW: each SOURCE COUNT RATE
	local before

	for _ in 1 2 3 4 5; do
		before=$(would_drop any) since=$(date +%FT%T)
		sleep 1.2 # the records are of seconds
		for flow in "$@"; do
			# shellcheck disable=SC2086 # words
			send $flow
		done
		eventually has_cells 2 "$since" || return 1
		dropped=$(($(would_drop any) - before))
		! within_20_s agrees "$since" "$dropped" || [ "$dropped" -le 3000 ] || return 0
		echo "# the shadow counted $dropped, limit try says $(ringfence limit try probe rate 1k/1s since "$since")"
	done
	return 1
}

within_20_s() { # CMD…
	local end=$((SECONDS + 20))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return
		sleep 0.1
	done
}

looks() {
	sqlite3 -readonly "$RINGFENCE_HISTORY/${port[0]}.db" 'SELECT count(*) FROM totals' 2>/dev/null || echo 0
}

has_looked() { # TIMES
	[ "$(looks)" -ge "$1" ]
}

# What comes after that is new to the daemon, which follows its source.
looks_twice() {
	eventually has_looked $(($(looks) + 2)) || bail "the daemon does not scan: $(<"$log")"
}

has_cells() { # SOURCES SINCE: this many are recorded
	[ "$(ringfence limit try probe rate 1/1s since "$2" --json 2>/dev/null | jq .sources)" -ge "$1" ]
}

make_network 1

# ---- a fresh fence ----

ringfence attach "${port[0]}" >"$log" || bail "attach: $(<"$log")"
is "$(ringfence suggest | head -n 1)" 'first:  ringfence limit add probe rate 50k/1s shadow' \
	'on a fresh fence the first line says what to type'
is "$(ringfence suggest --json | jq -r '.command')" 'limit add probe rate 50k/1s shadow' 'JSON says so, too'
is "$(ringfence suggest for 2s | head -n 1)" 'first:  ringfence limit add probe rate 50k/1s shadow' \
	'so does one that is to watch'
# shellcheck disable=SC2046 # words
ringfence $(ringfence suggest --json | jq -r .command) >"$log"
is $? 0 'that command can be typed'
fails 'without a history, the daemon is named' 1 \
	"ringfence: no history in $history; ringfence-watch records one: 'systemctl enable --now ringfence-watch'" \
	ringfence suggest

# ---- watching what comes in ----

start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=192.0.2.66,count=4000000000,rate=300 flow src=192.0.2.1,count=4000000000,rate=40 \
	flow src=192.0.2.2,count=4000000000,rate=20 >"$log"
sender_pid=$started_pid
# A sender that was held up makes up for it: on a busy machine some second has more packets.
sees_them() {
	ringfence suggest for 5s --json >"$scratch/found"
	jq -e '.sources == 3 and .max >= 250 and .max < 500' "$scratch/found" >"$scratch/agrees"
}
eventually sees_them
stop TERM "$sender_pid"
is "$(jq -c '[.sources, .limit, .enough, (.max >= 250 and .max < 500)]' "$scratch/found")" '[3,"probe",false,true]' \
	'it sees each source, and the most that one used'
suggested=$(jq -r .suggested "$scratch/found")
check 'it suggests twice that, rounded to 1, 2 or 5' test "$suggested" = 1000
is "$(jq -r .command "$scratch/found")" 'limit add any rate 1k/1s shadow' 'and the command of the shadow'

# ---- the shadow, and the replay ----

# shellcheck disable=SC2086 # words
start inside $member "$scratch/watch" >"$log" 2>&1
watch_pid=$started_pid
check 'the daemon starts' eventually grep -q '^fence' "$log"
looks_twice
# shellcheck disable=SC2046 # words
ringfence $(jq -r .command "$scratch/found") || bail 'cannot add the shadow'
check 'what the shadow counts is what limit try says' compare '192.0.2.66 9000 3000' '192.0.2.1 200 100'
check 'the suggested shadow counts what is over it' test "$dropped" -gt 3000
is "$(tried probe rate 1k/1s from 192.0.2.1 since "$since")" '[0,0]' 'from chooses a source'
matches "$(ringfence limit try probe rate 1k/1s since "$since")" '.*would have dropped .* of [0-9,]+ packets, of 1 of 2 recorded sources.*' \
	'as text it says how many sources'
is "$(tried probe rate 900/1500ms algorithm token since "$since" | jq '.[0] > 0 and .[0] < .[1]')" true \
	'another algorithm gives an interval'

# The windows of a TIME of 1 s cover 2 s. Earlier packets are lost to a daemon that is stopped for
# longer.
since=$(date +%FT%T)
sleep 1.2
send 192.0.2.66 100 1000
check 'the cells of a source are recorded' eventually has_cells 1 "$since"
kill -STOP "$watch_pid"
send 192.0.2.66 5000 5000
sleep 2.5
send 192.0.2.66 100 1000
kill -CONT "$watch_pid"
check 'cells that were lost are told' eventually is_incomplete "$since"
matches "$(ringfence limit try probe rate 1k/1s since "$since" | unwrapped)" \
	'.*would have dropped ~.*1 of them have missing cells, which the daemon did not read in time; the true number can be higher.*' \
	'in words as well'

# ---- the same, where networks are recorded ----

stop TERM "$watch_pid"
sed -i 's/^sources full/sources prefix/; s,^history .*,&/by-network,' /etc/ringfence/watch.conf
export RINGFENCE_HISTORY=$history/by-network
# shellcheck disable=SC2086 # words
start inside $member "$scratch/watch" >"$log" 2>&1
check 'the daemon starts again' eventually grep -q '^fence' "$log"
looks_twice
check 'what the shadow counts is what limit try says of sources that have no addresses' \
	compare '192.0.2.66 9000 3000' '192.0.2.1 900 600'
check 'there as well it counts what is over it' test "$dropped" -gt 3000
is "$(ringfence limit try probe rate 1k/1s since "$since" --json | jq -c '[.estimate == (.sources_incomplete > 0), .sources_max, .sources]')" \
	'[true,1,2]' 'it is no estimate, unless cells are missing'
is "$(ringfence limit try probe rate 1k/1s per /24 since "$since" --json | jq -c '[.estimate == (.sources_incomplete > 0), .sources_max, .sources]')" \
	'[true,1,1]' 'a network is one source of a limit that groups by it'
matches "$(ringfence limit try probe rate 1k/1s per /28 since "$since")" '.*would have dropped ~.*' \
	'a limit that groups by less than was told has an estimate'
fails 'no address is in the history as text' 1 '' \
	grep -rlaE '192\.0\.2\.(1|66)([^0-9]|$)' "$history/by-network"

# ---- undecidable cases ----

fails 'packets that were not told apart are not recorded' 1 \
	'ringfence: not recorded; add this as a shadow: ringfence limit add probe-2 rate 5/1s match tcp shadow' \
	ringfence limit try probe rate 5/1s match tcp
matches "$(describe ringfence limit try probe rate 5/1ms)" $'exit 1\n\nstderr: ringfence: not recorded: TIME is too short: .*probe-2 rate 5/1ms shadow' \
	'a TIME that is shorter than a cell is not recorded'
fails 'rate 0 is not tried' 1 'ringfence: not recorded: a limit of rate 0 has no windows; add this as a shadow: '\
'ringfence limit add probe-2 rate 0 shadow' ringfence limit try probe rate 0
matches "$(describe ringfence limit try none rate 5/1s)" $'exit 1\n\nstderr: ringfence: limit \'none\': it does not exist.*' \
	'a limit that does not exist is named'
matches "$(describe ringfence suggest per 10s)" $'exit 1\n\nstderr: ringfence: \'per 10s\': no limit has this TIME.*limit add probe-10s rate 50k/10s shadow' \
	'a TIME that no limit has is named, with the shadow to add'
matches "$(describe ringfence suggest limit probe per 10s)" $'exit 1\n\nstderr: ringfence: \'per 10s\': the TIME of limit \'probe\' is 1s, .*leave out \'per\', or add a shadow: ringfence limit add probe-2 rate 50k/10s shadow' \
	'a TIME that the named limit has not is named, with the shadow that has it'
matches "$(describe ringfence suggest per /24)" $'exit 2\n\nstderr: ringfence: \'per /24\': expects a TIME here, .*limit add probe-net rate 50k/1s per /24 shadow' \
	'a grouping in place of a TIME leads to a limit that groups so'
advised=$(ringfence suggest per /48 2>&1 | grep -o 'limit add probe-net .*')
# shellcheck disable=SC2086 # words
check 'the limit that is advised for networks of IPv6 can be added' ringfence $advised
ringfence limit del probe-net >"$log"

# ---- sources that fill the limit, and a limit that counts bytes ----

before=$(ringfence save | grep -v '^#')
ringfence apply - >"$log" <<-'END'
	limit add any rate 100/1s
	limit add volume rate 1M/1s bytes algorithm sliding shadow
	limit add resolver-of-the-office rate 1k/1s match udp dport 53 from 192.0.2.0/24 shadow
END
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=4000000000,rate=500,dport=53 >"$log"
sender_pid=$started_pid
ringfence suggest limit any for 4s --json >"$scratch/found"
sees_dns() { # with a source, the command ends the line
	ringfence suggest limit resolver-of-the-office for 2s | grep -E '^(so far|suggested) .* ringfence limit add'
}
check 'a limit of some packets sees its source' eventually sees_dns
matches "$(sees_dns)" "so far .*  ringfence limit add resolver-of-the-office-2 rate [0-9]+k?/1s match udp dport 53 \
from 192.0.2.0/24 shadow" 'the command to copy is one line, in the order of the manual'
is "$(jq -c '[.at_least, .unit, .max]' "$scratch/found")" '[true,"packets",100]' \
	'where a source fills the limit, the suggestion is the least, and JSON says so'
found=$(ringfence suggest limit volume for 4s)
stop TERM "$sender_pid"
echo "# ${found//$'\n'/$'\n'# }"
matches "$found" '1 sources, bytes in any 1s: .*rate  *sources over[^%]*so far [^ ]*/1s bytes, .*rate [^ ]*/1s bytes shadow.*' \
	'of a limit of bytes bytes are suggested, and packets are not mixed with them'
ringfence limit set volume rate 1M/1s bytes shadow >"$log"
fails 'a bucket is not asked for peaks, and the window to add is named' 1 "ringfence: limit 'volume': its \
'algorithm token' does not record peaks in TIME; add a sliding window as a shadow: ringfence limit add volume-2 \
rate 500M/1s bytes algorithm sliding shadow" ringfence suggest limit volume for 2s
ringfence apply - >"$log" <<<"$before"

# ---- without recorded sources ----

stop TERM "$watch_pid"
sed -i 's/^sources .*/sources none/; s,^history .*,&/without,' /etc/ringfence/watch.conf
export RINGFENCE_HISTORY=$history/by-network/without
# shellcheck disable=SC2086 # words
start inside $member "$scratch/watch" >"$log" 2>&1
check 'the daemon starts without sources' eventually grep -q '^fence' "$log"
looks_twice
send 192.0.2.66 3000 1000
has_history() {
	ringfence suggest 2>&1 | grep -q 'but no source'
}
check 'packets without sources are recorded' eventually has_history
matches "$(describe ringfence suggest)" $'exit 1\n\nstderr: ringfence: the history has [0-9]* packets of limit \'[a-z]*\', but no source: .*\'sources prefix\' into /etc/ringfence/watch.conf .*ringfence suggest for 10m' \
	'suggest says what to write where no sources are recorded'
matches "$(describe ringfence limit try probe rate 5/1s)" $'exit 1\n\nstderr: ringfence: the history has [0-9]* packets of limit \'probe\', but no source: .*' \
	'limit try says the same'
stop TERM "$watch_pid"

# ---- from a history ----

rm -rf "$scratch/made" && mkdir "$scratch/made"
export RINGFENCE_HISTORY=$scratch/made
build/tests/recorder "$RINGFENCE_HISTORY" eth0 93600 93600 full 60 || bail 'cannot record a history'
found=$(ringfence suggest since -26h)
matches "$found" '400 sources, any 1s: .*left out: [^ ]* [0-9:]+-[0-9:]+ \(flood eth0-6561f\).*suggested [0-9]+k?/1s; first:  ringfence limit add any-2 rate .* shadow' \
	'of a day with a flood the flood is left out, and a rate suggested'
is "$(ringfence suggest since -26h --json | jq -c '[.enough, .excluded[0].id, (.hours >= 17 and .hours <= 20), (.max < 1000)]')" \
	'[true,"eth0-6561f",true,true]' 'its sources are not in the table'
matches "$(ringfence suggest since -2h)" '.*so far .*, after less than 24 hours; .*' 'two hours give a rate so far'
done_testing
