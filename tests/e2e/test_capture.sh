#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `capture`: its file has the packets that the fence saw, as tcpdump and tshark read it; and how it
# ends.
#
#   outside                            inside
#   out0  ---------- wire 0 -------->  ${port[0]}  a fence

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

file=$scratch/packets
log=$scratch/log

# capture NAME WORD…: in the background, once it takes packets.
capture() {
	start inside "$build" capture write "$scratch/$1" "${@:2}" >"$log.$1" 2>&1
	capture_pid=$started_pid
	eventually is_taking "$1" || bail "the capture does not begin: $(<"$log.$1")"
}

is_taking() { # NAME
	[ -s "$scratch/$1" ] || ! kill -0 "$capture_pid" 2>/dev/null
}

end() { # SIGNAL
	stop "$1" "$capture_pid"
	ended=$?
}

# Has the fence counted each frame that left for it?
is_counted() {
	[ "$(counted 0)" = "$(outside ip -s -j link show out0 | jq '.[0].stats64.tx.packets')" ]
}

# Sends all frames from one CPU, which then also receives them: each CPU draws its own one in N. No
# more than 64 samples by one capture: a CPU stores this many, even if no process reads for long.
send() { # FLOW…
	local flows=() flow

	for flow; do
		flows+=(flow "$flow,rate=200")
	done
	outside taskset -c "$cpu" build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
		"${flows[@]}" >/dev/null
	eventually is_counted || bail 'the fence does not get what was sent'
}

# Sends from one source for as long as it is not stopped.
send_on() { # RATE
	start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
		flow "src=192.0.2.9,count=10000000,rate=$1" >/dev/null
}

stop_sending() {
	stop TERM "$started_pid"
	eventually is_counted || bail 'the fence does not get what was sent'
}

# COUNT TEXT, for each different text of these fields.
fields() { # FILE FIELD…
	tshark -r "$1" -T fields -E separator='|' "${@:2}" 2>/dev/null | sort | uniq -c |
		sed 's/^ *//'
}

make_network 1
eth=${port[0]}
cpu=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//') # its first permitted CPU
ringfence attach "$eth" >"$log" || bail "attach: $(<"$log")"
ringfence apply - >"$log" <<-'RULES'
	limit add any rate 40/1h
	limit add dns rate 1k/1h match udp dport 53
	deny add 192.0.2.9
	limit add arp rate 2/1h match other
RULES

# ---- contents ----

began=$(date +%s)
capture drops one in 1
send src=192.0.2.1,count=70,proto=tcp src=192.0.2.9,count=7,proto=udp
end INT
is "$ended $(<"$log.drops")" '0 37 packets written, one of every 1' \
	'a capture that is interrupted says what it wrote'
is "$(fields "$scratch/drops" -e ip.src -e frame.comment -e frame.interface_name)" \
	"30 192.0.2.1|dropped: over_limit, limit 'any'|$eth
7 192.0.2.9|dropped: denied|$eth" 'tshark reads the source, the reason, the limit and the interface'
is "$(tcpdump -nr "$scratch/drops" 2>/dev/null | grep -c '192.0.2')" 37 'tcpdump reads each packet'
is "$(stat -c %a "$scratch/drops")" 600 'only the user may read the file'
age=$(tshark -r "$scratch/drops" -T fields -e frame.time_epoch 2>/dev/null | tail -n 1)
is "$(awk -v began="$began" -v then="$age" -v now="$(date +%s)" \
	'BEGIN { print (then >= began - 1 && then <= now + 1) }')" 1 "the time is the clock's"

capture passed passed one in 1
send src=192.0.2.2,count=20,proto=udp,dport=53 src=192.0.2.9,count=5,proto=udp
end TERM
is "$(fields "$scratch/passed" -e ip.src -e frame.comment)" \
	"20 192.0.2.2|passed: under_limit, limits 'any', 'dns'" \
	'packets that pass have the limits that were charged'

capture both dropped passed one in 1 reason denied reason under_limit
send src=192.0.2.3,count=55,proto=tcp src=192.0.2.9,count=5,proto=udp
end INT
is "$(fields "$scratch/both" -e frame.comment)" "5 dropped: denied
40 passed: under_limit, limit 'any'" 'only packets with these reasons are written'

capture some one in 10
send src=192.0.2.9,count=200
end INT
matches "$(fields "$scratch/some" -e frame.comment)" '(9|[12][0-9]|3[0-3]) dropped: denied' \
	'one in ten is a tenth, give or take what chance does'

# Of 12,000 packets 120, within 11, and slightly more depending on when slices end. Sampling all of
# the time as densely as in a slice would yield 480. A sender that is delayed compensates in or
# between slices, a reader that is delayed loses some: retry.
is_sliced() {
	rm -f "$scratch/sliced"
	capture sliced one in 100
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
		flow src=192.0.2.9,count=12000,rate=4000 >/dev/null
	eventually is_counted || bail 'the fence does not get what was sent'
	end INT
	read -r taken _ <"$log.sliced"
	[ "$taken" -ge 50 ] && [ "$taken" -le 240 ]
}
eventually is_sliced
matches "$(<"$log.sliced")" '[0-9]+ packets written, one of every 100' 'it says one of every 100'
check 'slices of time have as many packets in all' test "$taken" -ge 50 -a "$taken" -le 240

capture of passed one in 1 limit dns
send src=192.0.2.4,count=9,proto=udp,dport=53 src=192.0.2.5,count=9,proto=tcp
end INT
is "$(fields "$scratch/of" -e ip.src)" '9 192.0.2.4' 'only packets of this limit are written'

capture from one in 1 from 192.0.2.8/31
send src=192.0.2.9,count=6 src=192.0.2.1,count=6,proto=tcp
end INT
is "$(fields "$scratch/from" -e ip.src)" '6 192.0.2.9' 'only packets from this network are written'

capture changed one in 1
send src=192.0.2.1,count=3,proto=tcp
ringfence limit del any >"$log"
send src=192.0.2.9,count=3
end INT
is "$(fields "$scratch/changed" -e frame.comment)" "3 dropped: denied
3 dropped: over_limit, limit 'any'" 'a limit that is deleted meanwhile is named'
ringfence limit add any rate 40/1h >"$log"

capture most one in 1 most 10
send src=192.0.2.9,count=60
end INT
matches "$(<"$log.most")" '([0-9]+) packets written, one of every 1, ([0-9]+) beyond 10/s left out' \
	'it says what it left out'
is $((BASH_REMATCH[1] + BASH_REMATCH[2])) 60 'and each packet is written or left out'
# A second starts with the first packet after the second before.
is "$(tshark -r "$scratch/most" -T fields -e frame.time_epoch 2>"$log" |
	awk 'NR == 1 || $1 - began >= 1 { began = $1; packets = 0 }
		++packets > most { most = packets }
		END { print most }')" 10 'no more is written a second than was asked for'

# ---- how it ends ----

capture count one in 1 count 5
send src=192.0.2.9,count=60
eventually test -s "$log.count"
is "$(<"$log.count")" '5 packets written, one of every 1' 'count ends it'
wait "$capture_pid"
unset "started[$capture_pid]"

is "$(ringfence capture write "$file" for 1s --json | jq -c '[.fence, .written, .omitted, .lost, .one_in, .seconds >= 1]')" \
	"[\"$eth\",0,0,0,1024,true]" 'time ends it, and JSON has what it wrote'
is "$(fields "$file" -e ip.src)" '' 'a capture without a packet is a file that tshark reads'
fails 'a file that exists stays' 1 "ringfence: $file: the file exists; remove it, or choose a different name" \
	ringfence capture write "$file" for 1s

capture killed one in 1
stop KILL "$capture_pid"
sleep 3.5
send src=192.0.2.9,count=3
capture after one in 7
send src=192.0.2.9,count=70
end INT
matches "$(<"$log.after")" '([3-9]|1[0-9]|20) packets written, one of every 7' \
	'a capture that was killed ends, and another one may ask for others'

capture first one in 1
capture second one in 1 from 192.0.2.9
send src=192.0.2.9,count=4 src=192.0.2.1,count=60,proto=tcp
end INT
capture third one in 1 count 1
for pid in "${!started[@]}"; do
	[ "$pid" = "$started_pid" ] || stop INT "$pid"
done
matches "$(<"$log.first")" '24 packets written, one of every 1' \
	'two captures at a time have the same packets, and the end of one does not end the other'
is "$(<"$log.second")" '4 packets written, one of every 1' 'each has a filter of its own'
third_has_packets() { # it continues when it checks the next time
	send src=192.0.2.9,count=5
	[ -s "$log.third" ]
}
eventually third_has_packets
is "$(<"$log.third")" '1 packets written, one of every 1' 'the third goes on when others end'

capture busy one in 1
# If the running one has no CPU for 3 s, it briefly does not count as running.
is_refused() {
	rm -f "$scratch/other"
	refused=$(describe ringfence capture write "$scratch/other" passed for 1s)
	[[ $refused == 'exit 1'* ]]
}
eventually is_refused
is "$refused" $'exit 1\n\nstderr: '"ringfence: fence '$eth': another capture runs, of one in 1 dropped packets; wait until it stops, or \
use the same words" 'other packets cannot be asked for meanwhile'
check 'the file of a capture that did not begin is gone' test ! -e "$scratch/other"
end INT

# A stopped one cannot renew the sampling. Retry if all of this takes longer than that.
refused_beside() {
	rm -f "$scratch/beside"
	capture beside one in 1
	kill -STOP "$capture_pid"
	rm -f "$scratch/other"
	ringfence capture write "$scratch/other" passed for 1s >"$log" 2>&1
	send src=192.0.2.9,count=3
	kill -CONT "$capture_pid"
	end INT
	[ "$(<"$log.beside")" = '3 packets written, one of every 1' ]
}
check 'a capture that is refused does not end the one that runs' eventually refused_beside

send_on 1000
is "$(ringfence capture one in 1 count 20 write - 2>/dev/null | tcpdump -nr - 2>/dev/null | wc -l)" 20 \
	'standard output is read by tcpdump as it comes'
ringfence capture one in 1 write - 2>"$log" | head -c 2000 >/dev/null
is "${PIPESTATUS[0]}" 0 'it ends when nobody reads any longer'
stop_sending

mkdir "$scratch/small"
mount -t tmpfs -o size=64k none "$scratch/small"
send_on 3000
fails 'a full disk is an error' 1 \
	"ringfence: cannot write to $scratch/small/p: No space left on device; the packets before are in it" \
	ringfence capture one in 1 most 100000 write "$scratch/small/p"
stop_sending
check 'the file then ends with a whole packet' tshark -r "$scratch/small/p" -q 2>"$log"
umount "$scratch/small"

# ---- who may ----

mkdir -p /etc/ringfence
mount -t tmpfs none /etc/ringfence
refused="ringfence: packets have addresses, and 'sources prefix' applies here; write 'sources full' into \
/etc/ringfence/watch.conf to allow captures"
echo 'interval 2s # a comment' >/etc/ringfence/watch.conf
fails 'a daemon that keeps networks forbids it' 1 "$refused" ringfence capture write "$scratch/no" for 1s
echo 'sources none' >>/etc/ringfence/watch.conf
fails 'one that keeps no sources forbids it' 1 "${refused/sources prefix/sources none}" \
	ringfence capture write "$scratch/no" for 1s
echo 'sources full' >>/etc/ringfence/watch.conf
is "$(ringfence capture write "$scratch/yes" for 1s)" '0 packets written, one of every 1024' \
	'one that keeps addresses allows it'
umount /etc/ringfence
check 'what is refused leaves no file' test ! -e "$scratch/no"

gid=$(getent group ringfence | cut -d: -f3)
install -m 755 build/ringfence "$scratch/ringfence"
chmod 777 "$scratch"
matches "$(inside setpriv --reuid=60712 --regid=60712 --groups="$gid" --bounding-set=-all --inh-caps=-all \
	"$scratch/ringfence" capture write "$scratch/no" for 1s 2>&1)" 'ringfence: .*(root|CAP_BPF).*' \
	'who may only read the fence may not capture'
check 'and leaves no file' test ! -e "$scratch/no"

# ---- words ----

fails 'one is followed by in' 2 "ringfence: 'of': 'one' expects in N" ringfence capture one of 5 write "$file"
fails 'a reason must suit' 2 "ringfence: 'reason denied': such packets are dropped; leave out 'passed'" \
	ringfence capture passed reason denied write "$file"
fails 'a limit must exist' 1 "ringfence: limit 'dsn': it does not exist; did you mean 'dns'?" \
	ringfence capture limit dsn write "$scratch/no"
is "$(ringfence capture write - --json 2>/dev/null | jq -r .error)" \
	"'write -' and --json both use standard output; name a file" 'JSON and packets do not share it'

done_testing
