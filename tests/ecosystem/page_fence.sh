# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The fence for tests of the page: two limits, one of them a shadow, a daemon that records, and
# sources that send; and the browser that opens the page. Sourced after private.sh and lib.sh.

# shellcheck disable=SC2034,SC2154 # lib.sh and the tests have the others

eth=
url=http://127.0.0.1:9436
daemon_words=() # more settings
told=full

serve_page() {
	make_network 1
	eth=${port[0]}
	inside ip link set lo up
	ringfence attach "$eth" >"$scratch/attached" || bail "attach: $(<"$scratch/attached")"
	ringfence limit add any rate 200/1s >"$scratch/attached" || bail "limit: $(<"$scratch/attached")"
	ringfence limit add dns rate 50/1s match udp dport 53 shadow >"$scratch/attached"
	mkdir -p "$scratch/history"
	start inside build/ringfence-watch sources "$told" history "$scratch/history" events file off journal off \
		"${daemon_words[@]}" >"$scratch/log" 2>&1
	daemon_pid=$started_pid
	eventually grep -q '^serving' "$scratch/log" || bail "the daemon does not start: $(<"$scratch/log")"
	eventually page_answers || bail 'the page does not answer'
}

page_answers() {
	token=$(sed 1q /run/ringfence-watch/token) &&
		[ "$(inside curl -m 180 -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$url/api/live")" = 200 ]
}

# SECONDS of legitimate sources, none of them over the limit.
send_calm() {
	deliver 0 "src=198.51.100.1,sources=12,count=$((12 * 25 * $1)),rate=300,proto=udp,dport=443" >"$scratch/calm" 2>&1
}

# SECONDS of one source far over the limit, and one over the shadow.
send_flood() {
	deliver 0 "src=192.0.2.66,count=$((3000 * $1)),rate=3000,proto=udp,dport=443" \
		"src=192.0.2.9,count=$((150 * $1)),rate=150,proto=udp,dport=53" >"$scratch/flood" 2>&1
}

# ---- the browser ----

need_browser() {
	local program

	for program in chromium chromedriver node; do
		command -v $program >/dev/null || bail "$program is not installed; run 'make deps-ecosystem'"
	done
}

start_driver() {
	start inside chromedriver --port=9515 >"$scratch/driver.log" 2>&1
	driver_pid=$started_pid
	eventually inside curl -s -o /dev/null http://127.0.0.1:9515/status || bail 'chromedriver does not start'
}

# Counts the results that a script of the browser prints. If it prints `do WHAT`, calls do_WHAT.
judge() { # SECONDS SCRIPT WORD…
	local result

	while read -r result; do
		case $result in
		'ok '*) pass "${result#ok }" ;;
		'not ok '*) fail "${result#not ok }" ;;
		'do '*)
			"do_${result#do }"
			: >"$scratch/done"
			;;
		*) echo "$result" ;;
		esac
	done < <(inside timeout "$1" node "tests/ecosystem/$2" "${@:3}")
}
