#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page in Chromium while scans are 3.6 s apart and sources are banned: plots have no gaps
# between scans, a single scan is visible, and no column of the sources is cut off, from 360 to
# 1,920 pixels.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

need_browser
[ -s /usr/share/javascript/dygraphs/dygraph.min.js ] || bail "dygraphs is not installed; run 'make deps'"

daemon_words=(interval 3600ms)
serve_page
ringfence limit del any >"$scratch/limit" || bail "limit: $(<"$scratch/limit")"
ringfence limit add any rate 200/1s ban 1h >"$scratch/limit" || bail "limit: $(<"$scratch/limit")"
start_driver
(send_calm 120) &
calm_pid=$!
(send_flood 120) &
flood_pid=$!
(for _ in {1..6}; do
	deliver 0 src=198.51.100.77,count=200,rate=100,proto=udp,dport=443
	sleep 20
done >"$scratch/coming" 2>&1) &
coming_pid=$!
deliver 0 src=2001:db8:1234:5678:9abc:def0:1234:5678,count=900,rate=900,proto=udp,dport=443 >"$scratch/flood6" 2>&1
has_scans() { # 10 of a source, at least
	inside curl -m 180 -s -H "Authorization: Bearer $token" "$url/api/recent" |
		jq -e '[.sources[] | [.[2][] | numbers] | length] | max >= 10' >"$scratch/scans"
}
eventually has_scans || bail 'the sources are not seen'
judge 600 page_slow.mjs "$url/#token=$token" "$scratch"
check 'the checks ran to their end' grep -q 'done' "$scratch/ended"
kill "$calm_pid" "$flood_pid" "$coming_pid" 2>/dev/null
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
