#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page in Chromium, opened by a newcomer: what it shows at once, and what it says of what it
# cannot show. test_page_browser.sh has a flood.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

for program in chromium chromedriver node; do
	command -v $program >/dev/null || bail "$program is not installed; run 'make deps-ecosystem'"
done

told=prefix
serve_page
start inside chromedriver --port=9515 >"$scratch/driver.log" 2>&1
driver_pid=$started_pid
eventually inside curl -s -o /dev/null http://127.0.0.1:9515/status || bail 'chromedriver does not start'
(send_calm 60) &
calm_pid=$!
has_minute() { # 12 scans of a source, at least
	inside curl -m 5 -s -H "Authorization: Bearer $token" "$url/api/recent" |
		jq -e '[.sources[] | [.[2][] | numbers] | length] | max > 12' >"$scratch/minute"
}
eventually has_minute
check 'the daemon keeps what it told' has_minute
while read -r result; do
	case $result in
	'ok '*) pass "${result#ok }" ;;
	'not ok '*) fail "${result#not ok }" ;;
	*) echo "$result" ;;
	esac
done < <(inside timeout 100 node tests/ecosystem/page_opened.mjs "$url/#token=$token" "$scratch")
check 'the checks ran to their end' grep -q 'done' "$scratch/ended"
kill "$calm_pid" 2>/dev/null
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
