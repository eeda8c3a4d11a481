#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page in Chromium, opened for the first time: data that it shows immediately, and notices for
# missing data. test_page_browser.sh has a flood.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

need_browser

told=prefix
serve_page
start_driver
(send_calm 60) &
calm_pid=$!
has_minute() { # at least 12 scans of a source
	inside curl -m 180 -s -H "Authorization: Bearer $token" "$url/api/recent" |
		jq -e '[.sources[] | [.[2][] | numbers] | length] | max > 12' >"$scratch/minute"
}
eventually has_minute
check 'the daemon keeps what it told' has_minute
judge 600 page_opened.mjs "$url/#token=$token" "$scratch"
check 'the checks ran to their end' grep -q 'done' "$scratch/ended"
kill "$calm_pid" 2>/dev/null
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
