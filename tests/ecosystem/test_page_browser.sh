#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of the daemon in Chromium: a flood is visible, a drag zooms, the URL restores the view,
# everything is reachable by keyboard, 360 pixels, dark and light, contrast, and only the page is
# requested.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

need_browser
[ -s /usr/share/javascript/dygraphs/dygraph.min.js ] || bail "dygraphs is not installed; run 'make deps'"

port[0]='<i>&' # an untrusted name
serve_page
start_driver
(send_calm 120) &
calm_pid=$!
(eventually test -e "$scratch/flood"; send_flood 25) &
flood_pid=$!
# Newcomers that are challenged, from here on.
do_challenge() {
	inside ip address add 192.0.2.2/24 dev "$eth"
	inside sysctl -qw net.ipv4.tcp_syncookies=2
	start inside python3 -c 'import socket, time; s = socket.create_server(("192.0.2.2", 80)); time.sleep(3600)'
	server_pid=$started_pid
	ringfence newcomers rate 1/1h 'then' challenge
	start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
		flow src=203.0.113.1,sources=200,dst=192.0.2.2,proto=syn,dport=80,count=4000000000,rate=200 >"$scratch/forged"
	sender_pid=$started_pid
}

judge 600 page_browser.mjs "$url/#token=$token" "$scratch" "$eth"
check 'the checks ran to their end' test "$results" -gt 25
is "$(grep -c 'page process ended' "$scratch/log")" 0 'the page process lives'
kill "$calm_pid" "$flood_pid" 2>/dev/null
stop TERM "$sender_pid"
stop TERM "$server_pid"
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
