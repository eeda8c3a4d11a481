#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Hostile clients of rules that challenge newcomers: wrong and replayed cookies, cookies collected
# from many addresses, and the number of responses to forged sources.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

# Addresses that can receive responses, but are not local: the kernel outside resets no connection.
declare -A hostile=([4]=10.128.0.1 [6]=fd10::1)
declare -A one_prefix=([4]="src=11.1.1.0,sources=256" [6]="src=2400:0:1::,sources=65536")
declare -A url=([4]='http://192.0.2.2/large' [6]='http://[fd00::2]/large')
declare -A downloads
limit=100 replays=1000
rate=20 # of the guard
collected=60
answers_most=100 # per second
prefix_most=256 # per second
flood_seconds=3

make_network 1
silence_outside
connect_servers 0
catch_responses
start_web_server ''
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

cookies() { # FAMILY collect FIRST COUNT | FAMILY send TIMES
	outside tests/e2e/cookies.py "$2" out0 "$servers_mac" "${server[$1]}" 80 "${@:3}" ||
		bail "cannot run cookies.py"
	settle
}

connections() {
	inside ss -Htn state established "$1" | wc -l
}

# Residents, which download during all that follows; then the guard is used up.
rules <<-END
	limit add residents rate 1M/1s from 192.0.2.1/32,fd00::1/128
	limit add any rate $limit/1h
	newcomers rate $rate/1h then challenge
END
for family in 4 6; do
	start outside curl -s -o "$scratch/download$family" "${url[$family]}"
	downloads[IPv$family]=$started_pid
	eventually test -s "$scratch/download$family" || bail "cannot download: IPv$family"
done
send_forged 3m "${forged[4]},dst=${server[4]},proto=tcp,dport=9,count=$frames_each"
settle
admitted=$(stats 0 .newcomers.admitted)
is "$admitted" "$rate" 'the guard admits no newcomer over its rate'

for family in 4 6; do
	before=$(reason newcomer_drop)
	forge "$family" tcp 80 newcomer_drop
	is "$(since newcomer_drop "$before")" "$frames_each" "ACKs with wrong cookies are dropped: IPv$family"

	before=$(reason challenged)
	cookies "$family" collect "${hostile[$family]}" "$collected" >"$scratch/cookies$family"
	is "$(since challenged "$before")" "$collected" "SYNs with data and all flags of ECN are answered: IPv$family"
	is "$(cut -d' ' -f3- "$scratch/cookies$family" | sort | uniq -c | xargs)" "$collected 128 18" \
		"the SYN-ACKs have no flags but SYN and ACK: IPv$family"

	before=$(reason newcomer_drop)
	cut -d' ' -f2- "$scratch/cookies$family" | tac >"$scratch/others"
	cut -d' ' -f1 "$scratch/cookies$family" | paste -d' ' - "$scratch/others" | cookies "$family" send 1
	is "$(since newcomer_drop "$before")" "$collected" "cookies of other addresses are dropped: IPv$family"
done
is "$(stats 0 .newcomers.admitted) $(connections 'dport = :40000')" "$admitted 0" \
	'wrong cookies create no window and no connection'

for family in 4 6; do
	before=$(reason over_limit) proven=$(reason proven)
	head -n 1 "$scratch/cookies$family" | cookies "$family" send "$replays"
	is "$(since proven "$proven") $(stats 0 .newcomers.admitted)" "1 $((++admitted))" \
		"a cookie replayed $replays times creates one window: IPv$family"
	is "$(since over_limit "$before")" $((replays - limit)) \
		"a source that has proved its address is limited: IPv$family"
done
is "$(connections 'dport = :40000')" 2 'a replayed cookie creates one connection'

for family in 4 6; do
	cookies "$family" send 3 <"$scratch/cookies$family"
done
is "$(stats 0 .newcomers.admitted)" $((2 * rate)) 'collected cookies create as many windows as the guard admits, at most'
is "$(connections 'dport = :40000')" "$rate" 'and as many connections'

for download in "${!downloads[@]}"; do
	check "the download of a resident continues: $download" kill -0 "${downloads[$download]}"
done
is "$(stats 0 '[.packets.dropped, (.limits[] | select(.name == "any") | .passed)] | add')" \
	$((frames_each + 2 * (frames_each + collected + collected + replays + 3 * collected))) \
	'nothing is dropped but hostile packets'

# ---- responses to forged sources ----

# flood RULE FLOW: stores the number of responses to a flood in $frames, and its time in $elapsed, rounded up.
flood() {
	local before

	rules <<-END
		limit add any rate 100k/1s
		newcomers rate 1/1h then challenge $1
	END
	send_forged 3m "${forged[4]},dst=${server[4]},proto=tcp,dport=9,count=$frames_each"
	settle
	read_caught synack
	before=$frames elapsed=$EPOCHSECONDS
	send_forged "${flood_seconds}s" "$2,proto=syn,dport=80,rate=20000"
	elapsed=$((EPOCHSECONDS - elapsed + 1))
	settle
	read_caught synack
	frames=$((frames - before))
}

# gets_responses NAME MOST: about as many per second.
gets_responses() {
	if ((frames >= $2 * (flood_seconds - 1) && frames <= $2 * (elapsed + 1))); then
		pass "$1"
	else
		fail "$1"
		explain "responses in $elapsed s, of at most $2 per second" "$frames"
	fi
}

for family in 4 6; do
	flood "answers $answers_most/1s" "${forged[$family]},dst=${server[$family]}"
	gets_responses "a flood gets all responses of the rule, and no more: IPv$family" "$answers_most"
	flood '' "${one_prefix[$family]},dst=${server[$family]}"
	gets_responses "a flood from one prefix gets $prefix_most responses in about a second: IPv$family" "$prefix_most"
done

done_testing
