#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Bans by a limit of the fleet, with a real engine: a source that sends one host more than COUNT in
# TIME is banned there while the host hears the engine; a source that sends all hosts together no
# more than COUNT never is, nor is one that no host alone saw over COUNT.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
use "$half" # no interface has a jumbo MTU

floods=192.0.2.1 keeps=192.0.2.2 divides=192.0.2.3

bans() { # HOST
	on "$1" bans --json | jq -r '.bans[].source' | sort | tr '\n' ' '
}

has_ban() { # HOST SOURCE
	[[ " $(bans "$1")" == *" $2 "* ]]
}

has() { # TEXT PART
	[[ $1 == *"$2"* ]]
}

set_up_fleet 2
for host in 1 2; do
	on "$host" limit add all rate 300/10s ban 1h fleet >"$scratch/log"
done
check 'the limit has a ban' has "$(on 1 limit list)" 'ban 1h'

# ---- 2,712 packets to one host; 24 a second over both; 40 a second over both ----

start_ns=$(clock)
send 1 "src=$floods,count=2712,rate=181" "src=$keeps,count=190,rate=12" \
	"src=$divides,count=290,rate=20"
send 2 "src=$keeps,count=190,rate=12" "src=$divides,count=290,rate=20"
eventually has_ban 1 $floods
echo "# time to ban at 181 packets/s: $((($(clock) - start_ns) / 1000000)) ms"
wait_for_senders
check 'a source over COUNT on one host is banned' has_ban 1 $floods
check 'and the host hears the engine' eventually hears 1
is "$(bans 1)" "$floods " 'nobody else is banned on host 1'
is "$(bans 2)" '' 'and nobody on host 2'
check 'show says so' has "$(on 1 show $floods)" "dropped by a ban of limit 'all'"

done_testing
