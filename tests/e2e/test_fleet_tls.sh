#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A server that accepts only TLS: stunnel on both sides, with the literal settings of
# ringfence-fleet(8), and certificates of an authority. fleet.sh has the network;
# test_fleet_guide.sh types the settings of the guide, whose certificate is its own authority.
#
#   agent -- 127.0.0.1:6379 stunnel -- TLS, engine:6380 -- stunnel 127.0.0.1:6379 -- redis-server

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source "$(dirname "$0")/fleet.sh"
# shellcheck source=tests/e2e/fleet_tls.sh
source "$(dirname "$0")/fleet_tls.sh"

client_of() { # CA: the agent's side, which takes an engine of that authority only
	cp "$scratch/$1.ca" /etc/stunnel/ca.pem
	tunnel h1 agent '[fleet]'
}

make_fleet 1
mkdir -p /etc/ringfence /etc/stunnel
echo '10.77.1.1 engine' >>/etc/hosts
within h1 ip link set lo up
certificate engine || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
certificate other || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
cp "$scratch/engine.certificate" /etc/stunnel/fleet.pem
cp "$scratch/engine.key" /etc/stunnel/fleet.key
check 'the manual has settings of both sides' test "$({ settings '[fleet]' 1 && settings '[fleet]' 2; } | grep -c '^\[fleet\]$')" = 2
start engine "$server" --port 6379 --bind 127.0.0.1 --save '' --dir "$scratch" --logfile "$scratch/redis.log"
eventually within engine "$client" ping >"$scratch/ping" 2>&1 || bail 'the engine does not start'
tunnel engine server '[fleet]' 2

on 1 attach edge1 fleet >"$scratch/log"
on 1 fleet join edge1 redis 127.0.0.1:6379 hosts 2 >"$scratch/log"
on 1 limit add any rate 20k/1s fleet >"$scratch/log"
client_of engine
started_client=$started_pid
start_agent 1
check 'an agent hears its engine by way of stunnel' eventually hears 1
check 'the functions are there' test "$(within engine "$client" function list | grep -c rf_report)" -ge 1
fails 'without TLS the engine is not reached' 1 'Error: Connection reset by peer' \
	within h1 timeout 180 "$client" -h 10.77.1.1 -p 6380 ping
stop TERM "$started_client"
check 'without its tunnel the host is alone' eventually is_alone 1
client_of other
started_client=$started_pid
check 'the tunnel refuses an engine of another authority, and says why' \
	eventually grep -q 'certificate verify failed\|CERT:' "$scratch/agent.log"
check 'and it is not heard' is_alone 1
stop TERM "$started_client"
client_of engine
started_client=$started_pid
check 'with the right one it hears again' eventually hears 1
done_testing
