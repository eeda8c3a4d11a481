#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# One limit over many hosts, with real packets: what all hosts pass together in any window stays
# within P + N f, also while the engine and the agents go and come. L is 600, so for two hosts and
# for three the bound is L. How many packets pass depends on the machine; so only what must pass in
# any case is checked beside the bound.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

source_number=0

# A source that no flow had before.
new_source() {
	source_number=$((source_number + 1))
	from=192.0.2.$source_number
}

# flood HOST COUNT RATE [KEY=VALUE…]
flood() {
	send "$1" "src=$from,count=$2,rate=$3${4+,$4}"
}

# bounded NAME [MAX]: what was received of the source in the last watch.
bounded() {
	local judged

	judged=$(build/tests/traffic judge "$scratch/all" from "$from" max "${2-600}/1s" 2>&1)
	check "$1" test $? = 0
	echo "# $judged; $(for ((host = 1; host <= hosts; host++)); do received_on "$host" "$from"; done | xargs)"
}

total() {
	local sum=0 host

	for ((host = 1; host <= hosts; host++)); do
		sum=$((sum + $(received_on "$host" "$from")))
	done
	echo "$sum"
}

at_least() { # COUNT NAME
	check "$2" test "$(total)" -ge "$1"
}

# ---- three hosts ----

set_up_fleet 3 600/1s

new_source
watch_hosts
for host in 1 2 3; do
	flood "$host" 6000 1000
done
wait_for_senders
end_watch
bounded 'an even flood over three hosts stays within the bound'
at_least 1800 'and gets half of the limit at least'

new_source
watch_hosts
for turn in 0 1 2 3 4 5 6 7 8 9; do
	for host in 1 2 3; do
		flood "$host" 400 2000 "after=$((turn * 600 + host * 200))ms"
	done
done
wait_for_senders
end_watch
bounded 'a flood that hops each 200 ms stays within the bound'

new_source
watch_hosts
for turn in 0 1 2 3; do
	for host in 1 2 3; do
		flood "$host" 500 10000 "after=$((turn * 1300 + 100))ms"
	done
done
wait_for_senders
end_watch
bounded 'bursts on all hosts at once stay within the bound'

new_source
watch_hosts
flood 1 2700 540
wait_for_senders
end_watch
bounded 'a source at 0.9 L on one host stays within the bound'
at_least 2160 'and loses a fifth at most, whatever the machine does'

# ---- the engine goes, and comes back ----

new_source
watch_hosts
for host in 1 2 3; do
	flood "$host" 8000 500
done
sleep 4
stop KILL "$engine_pid"
alone_from=$(clock)
check 'without an engine a host is alone after the grace' eventually is_alone 2
sleep 1.5
start_engine
check 'and hears the new engine later' eventually all_hear
sleep 1.5 # what passed while alone is out of the window
alone_until=$(clock)
wait_for_senders
end_watch
judged=$(build/tests/traffic judge "$scratch/all" from "$from" until "$alone_from" max 600/1s 2>&1)
check 'before the engine was killed the bound held' test $? = 0
judged=$(build/tests/traffic judge "$scratch/all" from "$from" since "$alone_until" max 600/1s 2>&1)
check 'it holds again once it was learned who has what' test $? = 0
echo "# $judged"
bounded 'in between each host passed L at most' 1800
check 'and they did: the limit was the local one' \
	bash -c "! build/tests/traffic judge '$scratch/all' from $from max 700/1s >'$scratch/log' 2>&1"

# ---- an agent is killed ----

new_source
watch_hosts
for host in 1 2 3; do
	flood "$host" 3500 500
done
sleep 1.5
stop KILL "${agent[1]}"
alone_from=$(clock)
wait_for_senders
end_watch
judged=$(build/tests/traffic judge "$scratch/all" from "$from" until "$alone_from" max 600/1s 2>&1)
check 'with an agent that was killed its host goes alone, and no other' test $? = 0
bounded 'so one host passes L, and the others no more than their bound' 1200
start_agent 1
check 'an agent that starts again hears the engine' eventually all_hear

new_source
watch_hosts
for host in 1 2 3; do
	flood "$host" 3000 1000
done
sleep 1
stop KILL "${agent[1]}"
start_agent 1
sleep 0.3
wait_for_senders
end_watch
bounded 'an agent that starts anew takes the shares of the one before back' 1200

done_testing
