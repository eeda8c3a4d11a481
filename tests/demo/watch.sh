#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# watch.sh DIRECTORY: demonstrates watching, on two separate network namespaces. Each minute is a
# day: twelve users send all the time; at noon a crowd of 150 arrives, all of them under the limit;
# in the evening one source attacks. The page is in a browser on this machine, and `top` on this
# terminal, until q is pressed there. With CI=1, or without a terminal, a day is rendered into
# DIRECTORY instead: the page as PNG, if Chromium is installed, and the output of the commands.
#
# It removes everything it created, also when it is interrupted.

locale=${LC_ALL:-${LANG:-C}} # the user's, which lib.sh sets aside
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/../ecosystem/page_fence.sh"

directory=${1:?usage: tests/demo/watch.sh DIRECTORY}
DAY=60 # seconds
port[0]=eth0

send() { # FLOW…
	local flows=() flow

	for flow; do
		flows+=(flow "$flow")
	done
	outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 "${flows[@]}" >/dev/null
}

users() {
	send "src=198.51.100.1,sources=12,count=$((12 * 25 * DAY)),rate=300,proto=udp,dport=443"
}

crowd() {
	sleep $((DAY / 3))
	send "src=203.0.113.1,sources=150,count=$((3000 * DAY / 4)),rate=3000,proto=udp,dport=443"
}

attack() {
	sleep $((DAY * 2 / 3))
	send "src=192.0.2.66,count=$((5000 * DAY / 4)),rate=5000,proto=udp,dport=443" \
		"src=192.0.2.9,count=$((150 * DAY / 4)),rate=150,proto=udp,dport=53"
}

day() {
	users &
	crowd &
	attack &
	wait
}

# A browser on this machine runs in a different network namespace than the daemon: connections to
# the usual address are forwarded to the daemon's socket.
make_reachable() {
	systemd-socket-activate -l 127.0.0.1:9436 /lib/systemd/systemd-socket-proxyd "$scratch/http.sock" \
		>"$scratch/relay" 2>&1 &
	started[$!]=1
}

# Days follow each other until the demo stops, in a separate process group, to stop all senders
# together.
days=''
begin_days() {
	set -m
	(while day; do :; done) 2>/dev/null &
	days=$!
	set +m
}

end() {
	[ -z "$days" ] || kill -KILL -- "-$days"
	wait "$days" 2>/dev/null
	cleanup
}
trap end EXIT

keep_text() {
	ringfence top 10 >"$directory/top.txt"
	ringfence events >"$directory/events.txt"
	ringfence report >"$directory/report.txt"
	ringfence metrics >"$directory/metrics.txt"
}

draw() {
	local ends=$((SECONDS + DAY * 11 / 12))

	echo "Drawing a day into $directory, in $((DAY * 11 / 12)) s."
	mkdir -p "$directory"
	while [ "$SECONDS" -lt "$ends" ]; do sleep 1; done
	keep_text
	if command -v chromedriver >/dev/null && command -v node >/dev/null; then
		start inside chromedriver --port=9515 >"$scratch/driver.log" 2>&1
		inside timeout 240 node tests/ecosystem/page_pictures.mjs "$url/#token=$token" "$directory" "$scratch" ||
			bail "no pictures: $(<"$scratch/driver.log")"
	else
		echo 'No pictures of the page: Chromium with its driver, and node, draw them.'
	fi
	grep -q '192.0.2.66' "$directory/events.txt" || bail 'no event tells of the attack'
	ls "$directory"
}

show() {
	make_reachable
	cat <<-END
		The page:  $url/#token=$token
		           (from another machine: ssh -L 9436:127.0.0.1:9436, then the same)
		A day takes a minute: users all the time, a crowd at 20 s, an attack at 40 s.
		'q' in top ends all of it. Press Enter to begin.
	END
	read -r
	LC_ALL=$locale ringfence top
}

export RINGFENCE_HISTORY=$scratch/history
daemon_words=(socket "$scratch/http.sock")
serve_page
begin_days
if [ -n "${CI-}" ] || [ ! -t 0 ] || [ ! -t 1 ]; then draw; else show; fi
