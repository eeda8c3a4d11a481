#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of the daemon in Chromium: a flood is seen, a drag zooms, the address restores the view,
# keys reach everything, 360 pixels, dark and light, contrast, and nothing but the page is asked for.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

for program in chromium chromedriver node; do
	command -v $program >/dev/null || bail "$program is not installed; run 'make deps-ecosystem'"
done
[ -s /usr/share/javascript/dygraphs/dygraph.min.js ] || bail "dygraphs is not installed; run 'make deps'"

port[0]='<i>&' # a name from others
serve_page
start inside chromedriver --port=9515 >"$scratch/driver.log" 2>&1
driver_pid=$started_pid
eventually inside curl -s -o /dev/null http://127.0.0.1:9515/status || bail 'chromedriver does not start'
(send_calm 120) &
calm_pid=$!
(eventually test -e "$scratch/flood"; send_flood 25) &
flood_pid=$!
while read -r result; do
	case $result in
	'ok '*) pass "${result#ok }" ;;
	'not ok '*) fail "${result#not ok }" ;;
	*) echo "$result" ;;
	esac
done < <(inside timeout 150 node tests/ecosystem/page_browser.mjs "$url/#token=$token" "$scratch" "$eth")
check 'the checks ran to their end' test "$results" -gt 25
is "$(grep -c 'page process ended' "$scratch/log")" 0 'the page process lives'
kill "$calm_pid" "$flood_pid" 2>/dev/null
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
