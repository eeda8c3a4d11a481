#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet whose agents and engine stop, are killed and come back, beside storms. Three hosts and four
# slots: L is 600, f 2, P 592. A host that is alone passes L by itself, and no more.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh

set_up_fleet 3 "$limit/1s" 4

# ---- an agent is told to end ----

storm 7
sleep 2.5
began=$(clock)
stop TERM "${agent[1]}"
took_ms=$((($(clock) - began) / 1000000))
echo "# it took $took_ms ms"
check 'an agent that is told to end does so within the grace' test "$took_ms" -le 4000
start_agent 1
calm
holds 'it gives back, another starts, and nobody goes alone' 598

# What it had goes to a host that is asked instead, long before G + W.
next_storm
watch_hosts
send 1 "src=${storm[even]},count=2000,rate=1000"
sleep 2
kill -TERM "${agent[1]}"
send 2 "src=${storm[even]},count=2700,rate=1000"
calm
stop TERM "${agent[1]}"
start_agent 1
got=$(received_on 2 "${storm[even]}")
echo "# the other host passed $got within 2.7 s"
check 'what it had goes to a host that asks, within W' test "$got" -ge 300

done_testing
