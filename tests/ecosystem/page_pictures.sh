#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Draws the pictures of the page for docs/ into DIRECTORY: two minutes of legitimate sources, and
# two floods. 'make screenshots' runs it.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source=tests/ecosystem/page_fence.sh
source "$(dirname "$0")/page_fence.sh"

directory=${1:?usage: tests/ecosystem/page_pictures.sh DIRECTORY}
port[0]=eth0
serve_page
start_driver
send_calm 125 &
calm_pid=$!
sleep 25
send_flood 20
sleep 25
send_flood 60 &
flood_pid=$!
sleep 25
inside timeout 240 node tests/ecosystem/page_pictures.mjs "$url/#token=$token" "$directory" "$scratch"
check 'three pictures are drawn' test -s "$directory/page-narrow.png"
for picture in "$directory"/page*.png; do
	check "${picture##*/} is smaller than 150 KB" test "$(stat -c %s "$picture")" -lt 150000
done
kill "$calm_pid" "$flood_pid" 2>/dev/null
stop TERM "$driver_pid"
stop TERM "$daemon_pid"
done_testing
