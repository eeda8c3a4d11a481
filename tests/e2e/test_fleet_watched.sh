#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What who watches sees of a fleet, without any capability: the daemon's events, and metrics, while
# the engine and the agents go and come.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

gid=$(getent group ringfence | cut -d: -f3)
member="setpriv --reuid=60712 --regid=60712 --groups=$gid --bounding-set=-all --inh-caps=-all"
chmod 755 "$scratch"
install -m 755 build/ringfence build/ringfence-watch "$scratch"
mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs at /run/ringfence'
mkdir "$scratch/own" && chown 60712 "$scratch/own"

# A metric of the fence on host 1, as a member of the group reads it; empty if not exported.
metric() { # NAME [LABEL]
	# shellcheck disable=SC2086
	within h1 $member "$scratch/ringfence" metrics |
		sed -n "s/^ringfence_fleet_$1{fence=\"edge1\"${2+,$2}} //p"
}

metric_is() { # NAME VALUE
	[ "$(metric "$1")" = "$2" ]
}

# The last event of a type: its id and detail.
event() { # TYPE KEY
	jq -r "select(.type == \"$1\").$2 // empty" "$scratch/own/events.jsonl" 2>/dev/null | tail -n 1
}

told() { # TYPE
	[ -n "$(event "$1" id)" ]
}

set_up_fleet 2 100/1s 3
# shellcheck disable=SC2086
start h1 $member "$scratch/ringfence-watch" listen off history off journal off \
	events file "$scratch/own/events.jsonl" >"$scratch/daemon" 2>&1
daemon_pid=$started_pid
eventually grep -q '^fence' "$scratch/daemon" || bail "the daemon does not start: $(<"$scratch/daemon")"

is "$(stat -c '%a %U %G' /run/ringfence-fleet/edge1.json)" '640 root ringfence' \
	"the agent's file is for members of the group"
check 'who watches sees the members' eventually metric_is members 2
hears_in_room() {
	[ "$(metric hosts) $(metric agent_up) $(metric offline)" = '3 1 0' ]
}
check 'the room, the agent, and that it hears' eventually hears_in_room
heard_lately() {
	awk -v heard="$(metric last_reply_seconds)" 'BEGIN { exit !(heard != "" && heard < 2) }'
}
check 'it was heard lately' eventually heard_lately
is "$(metric requests_total 'outcome="sent"')" 0 'nobody has asked yet'
for host in 1 2; do
	send "$host" src=192.0.2.1,count=120000,rate=1000
done
check 'a source has a share' eventually metric_is shares 1
check 'and wants more than is left' eventually metric_is contested 1
check 'asks were sent' test "$(metric requests_total 'outcome="sent"')" -gt 0
for sender in "${senders[@]}"; do
	stop TERM "$sender"
done
is "$(metric requests_total 'outcome="lost"')" 0 'none was lost'

stop KILL "${agent[2]}"
check 'a member that is silent is gone' eventually told member_expired
matches "$(event member_expired detail)" 'number [0-2]; 1 of 3 hosts are left' 'its event says which, and how many are left'
check 'so says the metric' eventually metric_is members 1

stop KILL "$engine_pid"
check 'without an engine the host is alone' eventually told fleet_offline
matches "$(event fleet_offline detail)" 'fleet server 10.77.1.1:6379: .*' 'its event says why'
check 'so says the metric, once alone' eventually metric_is offline 1
start_engine
check 'with an engine it is back' eventually told fleet_online
is "$(event fleet_online id)" "$(event fleet_offline id)" 'an id joins both'

has_counted() { # TIMES
	[ "$(metric offline_periods_total)" -gt "$1" ]
}
times=$(metric offline_periods_total)
check 'that was counted' test "$times" -gt 0
kill -STOP "${agent[1]}"
check 'an agent that stands still leaves its host alone' eventually metric_is offline 1
kill -CONT "${agent[1]}"
check 'and counts that, though it could not look' eventually has_counted "$times"
eventually hears 1 || fail 'it hears the engine again'
matches "$(on 1 fleet status edge1 | grep '^offline since')" \
	'offline since the agent started: [0-9]+ times, [0-9.]+m?s in total' 'fleet status says so'
is "$(on 1 fleet status edge1 --json | jq -c '[(.buckets | length), ([.buckets[] |
	select(.offline_count > 1 and .offline_ns > 0 and .offline_since_ns < .offline_until_ns and
		.offline_until_ns < .online_until_ns)] | length),
	.offline_count > 1, .offline_ns >= ([.buckets[].offline_ns] | max)]')" '[16,16,true,true]' 'of each part of the sources as well'
check 'with its time' awk -v seconds="$(metric offline_seconds_total)" 'BEGIN { exit !(seconds > 0) }'

stop KILL "${agent[1]}"
check 'an agent that was killed is not up' eventually metric_is agent_up 0
check 'and the host is alone' eventually metric_is offline 1
is "$(metric members)$(metric shares)" '' 'what it told last is told no more'
went_alone_again() {
	[ "$(event fleet_offline id)" != "$(event fleet_online id)" ]
}
check 'which is an event of its own' eventually went_alone_again
start_agent 1
check 'an agent that starts is up' eventually metric_is agent_up 1
on 1 detach edge1 >"$scratch/log"
ends_all() {
	[ "$(jq -s '[.[] | select(.type == "fleet_offline")] | length' "$scratch/own/events.jsonl")" = \
		"$(jq -s '[.[] | select(.type == "fleet_online")] | length' "$scratch/own/events.jsonl")" ]
}
check 'with the fence ends what has started' eventually ends_all
stop TERM "${agent[1]}"
check 'an agent that ends leaves no file' test ! -e /run/ringfence-fleet/edge1.json
stop TERM "$daemon_pid"
done_testing
