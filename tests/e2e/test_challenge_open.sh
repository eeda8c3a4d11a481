#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Connections that are open when rules start to challenge newcomers, from sources without a window: also
# half-closed ones, idle ones, and after a hostile client has used up the windows of proofs.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/servers.sh
source tests/e2e/servers.sh

declare -A url=([4]='http://192.0.2.2/large' [6]='http://[fd00::2]/large')
declare -A hostile=([4]=10.128.0.1 [6]=fd10::1)
linger_seconds=8
proofs=100 # of exhaust_guard
closed_port=40000 # of a client, as in cookies.py

make_network 1
silence_outside
connect_servers 0
within inside sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies' || bail 'cannot set tcp_syncookies'
catch_responses
start_web_server ''
start inside tests/e2e/clients.py serve 8080 1 >"$scratch/server"
eventually can_connect 127.0.0.1 8080 || bail 'cannot start the server'

# Connects a client in the background, with the next address. Its output is in a file of that name.
open_client() { # NAME FAMILY WAY [ARGUMENT]
	sources=$((${sources-0} + 1))
	mkfifo "$scratch/$1.in"
	start outside tests/e2e/clients.py "$3" "${server[$2]}" 8080 "$(nth_client "$2" "$sources")" \
		"${4-$scratch/$1.in}" >"$scratch/$1"
	eventually has_line "$1" connected || bail "cannot connect: $1"
}

# has_line NAME LINE: the client has printed it last.
has_line() {
	[ "$(tail -n 1 "$scratch/$1")" = "$2" ]
}

write() { # NAME LINE
	echo "$2" >"$scratch/$1.in"
}

# echoes NAME WORD: the client gets its line back.
echoes() {
	write "$1" "$2"
	eventually has_line "$1" "$2"
}

cookies() { # FAMILY collect|send PORT WORDS…
	outside tests/e2e/cookies.py "$2" out0 "$servers_mac" "${server[$1]}" "${@:3}" || bail "cannot run cookies.py"
	settle
}

size() { # FAMILY
	stat -c %s "$scratch/download$1"
}

grows() { # FAMILY FROM
	[ "$(size "$1")" -gt $(($2 + 1000000)) ]
}

# ---- connections that were opened before the rules ----

ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
for family in 4 6; do
	start outside curl -s -o "$scratch/download$family" "${url[$family]}"
	eventually test -s "$scratch/download$family" || bail "cannot download: IPv$family"
	sources=$((${sources-0} + 1))
	closed[family]=$(nth_client "$family" "$sources")
	outside tests/e2e/clients.py get "${server[$family]}" 8080 "${closed[family]},$closed_port" 5 >"$scratch/closed"
	open_client "echo$family" "$family" echo
	open_client "idle$family" "$family" echo
	idle[family]=$(nth_client "$family" "$sources")
	open_client "half$family" "$family" half
	halves+=("$started_pid")
done
is "$(inside ss -Htn state time-wait "dport = :$closed_port" | wc -l)" 2 'connections that the server has closed are in TIME_WAIT'
for family in 4 6; do
	open_client "linger$family" "$family" linger "$linger_seconds"
done

exhaust_guard challenge
before=$(reason newcomer_drop)
for family in 4 6; do
	from[family]=$(size "$family")
	check "an open connection continues: IPv$family" echoes "echo$family" first
	check "one that the server has closed for sending continues: IPv$family" write "half$family" 1234567
	established=$(reason established)
	echo "${closed[family]} 0" | cookies "$family" send 8080 1
	check "a packet of a connection in TIME_WAIT passes: IPv$family" counts_more established 1 "$established"
done
for family in 4 6; do
	write "half$family" 1234567
	write "half$family" end
	eventually has_line "linger$family" ok
	is "$(<"$scratch/linger$family")" $'connected\nok' "one that the client has closed for sending gets everything: IPv$family"
	check "a download continues: IPv$family" eventually grows "$family" "${from[family]}"
done
wait "${halves[@]}"
is "$(<"$scratch/server")" $'16\n16' 'the server has received all of the half-closed connections'
is "$(since newcomer_drop "$before")" 0 'no packet of an open connection is dropped'

# ---- after the windows of proofs are used up ----

for family in 4 6; do
	cookies "$family" collect 80 "${hostile[$family]}" "$proofs" >"$scratch/cookies"
	cookies "$family" send 80 1 <"$scratch/cookies"
done
admitted=$(stats 0 .newcomers.admitted)
for family in 4 6; do
	established=$(reason established)
	check "after a hostile client has used up the proofs, an idle connection continues: IPv$family" echoes "idle$family" second
	check "its packets count as established: IPv$family" counts_more established 1 "$established"
done
is "$(stats 0 .newcomers.admitted)" "$admitted" 'it gets no window'

# ---- after the window of an idle source was forgotten ----

ringfence detach "${port[0]}" >"$scratch/log"
ringfence attach "${port[0]}" sources 1024 >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
rules <<-'END'
	limit add any rate 100k/1s
	newcomers rate 1k/1s then drop
END

is_forgotten() { # FAMILY
	send_forged 1s "${forged[$1]},dst=${server[$1]},proto=tcp,dport=9,rate=5000"
	ringfence show "${idle[$1]}" --json | jq -e '.limits[0].newcomer' >"$scratch/log"
}

for family in 4 6; do
	check "a source continues, and has a window: IPv$family" echoes "idle$family" third
	check "it is idle while others evict its window: IPv$family" eventually is_forgotten "$family"
done
exhaust_guard challenge
before=$(reason newcomer_drop)
for family in 4 6; do
	established=$(reason established)
	check "after its window was evicted, an idle connection continues: IPv$family" echoes "idle$family" fourth
	check "it is known again as established: IPv$family" counts_more established 1 "$established"
done
is "$(since newcomer_drop "$before")" 0 'and loses no packet'

done_testing
