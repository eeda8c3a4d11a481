#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# An engine that takes nothing but TLS: stunnel on both sides, as the manual says, with certificates
# of their own. fleet.sh has the network.
#
#   agent -- 127.0.0.1:6380 stunnel -- TLS, 10.77.1.1:6379 -- stunnel 127.0.0.1:6378 -- redis-server

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source "$(dirname "$0")/fleet.sh"

stunnel=$(command -v stunnel4 || command -v stunnel) || bail "there is no stunnel; run 'make deps'"

# certificate NAME: a certification authority, and what it signs for NAME.
certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1 authority" \
		-keyout "$scratch/$1.ca.key" -out "$scratch/$1.ca" &&
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
			-keyout "$scratch/$1.key" -out "$scratch/$1.request" &&
		openssl x509 -req -days 2 -in "$scratch/$1.request" -CA "$scratch/$1.ca" -CAkey "$scratch/$1.ca.key" \
			-CAcreateserial -out "$scratch/$1.certificate"
} >>"$scratch/openssl" 2>&1

# tunnel NAMESPACE NAME LINE…: a stunnel with these settings; its process id is $started_pid.
tunnel() {
	{
		printf '%s\n' 'foreground = yes' 'pid =' "[$2]"
		printf '%s\n' "${@:3}"
	} >"$scratch/$2.conf"
	start "$1" "$stunnel" "$scratch/$2.conf" >"$scratch/$2.log" 2>&1
}

client_of() { # CA: the agent's side, which takes an engine of that authority only
	tunnel h1 agent 'client = yes' 'accept = 127.0.0.1:6380' 'connect = 10.77.1.1:6379' \
		"CAfile = $scratch/$1.ca" 'verifyChain = yes' 'checkHost = engine'
}

make_fleet 1
mkdir -p /etc/ringfence
within h1 ip link set lo up
certificate engine || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
certificate other || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
start engine "$server" --port 6378 --bind 127.0.0.1 --save '' --dir "$scratch" --logfile "$scratch/redis.log"
eventually within engine "$client" -p 6378 ping >"$scratch/ping" 2>&1 || bail 'the engine does not start'
tunnel engine server 'accept = 10.77.1.1:6379' 'connect = 127.0.0.1:6378' \
	"cert = $scratch/engine.certificate" "key = $scratch/engine.key"

on 1 attach edge1 fleet >"$scratch/log"
on 1 fleet join edge1 redis 127.0.0.1:6380 hosts 2 >"$scratch/log"
on 1 limit add all rate 20k/1s fleet >"$scratch/log"
client_of engine
started_client=$started_pid
start_agent 1
check 'an agent hears its engine by way of stunnel' eventually hears 1
check 'the functions are there' test "$(within engine "$client" -p 6378 function list | grep -c rf_report)" -ge 1
fails 'without TLS the engine is not reached' 1 'Error: Connection reset by peer' \
	within h1 timeout 5 "$client" -h 10.77.1.1 ping
stop TERM "$started_client"
check 'without its tunnel the host is alone' eventually is_alone 1
client_of other
started_client=$started_pid
sleep 3
check 'an engine of another authority is not heard' is_alone 1
check 'and the tunnel says why' grep -q 'certificate verify failed\|CERT:' "$scratch/agent.log"
stop TERM "$started_client"
client_of engine
started_client=$started_pid
check 'with the right one it hears again' eventually hears 1
done_testing
