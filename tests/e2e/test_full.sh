#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# When the windows of a fence are full, `status` names the commands that make room, and they do.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

port=([0]=eth0)
cp build/ringfence "$scratch"
PATH=$scratch:$PATH

# The commands that a line of status names, one a line.
named() { # BEGINNING OF THE LINE
	inside "$build" status | unwrapped | sed -n "s/^  $1: //p" | grep -oE "'[^']+'" | tr -d "'"
}

make_network 1
inside "$scratch/ringfence" attach eth0 sources 1024 >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
ringfence limit add any rate 20k/1s
is "$(named 'to make room')" '' 'status of a fence with free windows names no remedy'
flows=()
for ((i = 1; i <= 1500; i++)); do
	flows+=("src=10.0.$((i / 250)).$((i % 250 + 1)),count=1")
done
deliver 0 "${flows[@]}"
is "$(named 'to make room')" "ringfence save dev eth0 > FILE
ringfence detach eth0
ringfence attach eth0 sources 2048
ringfence apply FILE dev eth0" 'status of a fence whose windows are full says how to make room'
is "$(named 'against a flood of new sources')" 'ringfence newcomers rate 10k/1s then aggregate dev eth0' \
	'status of a fence whose windows are full says how to bear a flood'
check 'what bears a flood works' inside bash -c "$(named 'against a flood of new sources')"
is "$(named 'against a flood of new sources')" '' 'status names it no more'
named 'to make room' >"$scratch/remedy"
is "$(inside env -C "$scratch" bash -e "$scratch/remedy" >"$scratch/log" 2>&1; echo $?)" 0 'what makes room works'
is "$(ringfence status --json dev eth0 | jq -c '[.sources, (.limits | length)]')" '[2048,1]' 'there is more room, and the rules are in force'
done_testing
