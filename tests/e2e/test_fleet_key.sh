#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The bucket key of a fleet, with a real server: hosts of one key share a limit exactly, a host with
# a different key goes offline and reports that, and the key of a running fleet changes. Each wait
# is for a state.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

one=00112233445566778899aabbccddeeff
other=ffeeddccbbaa99887766554433221100
source_address=198.51.100.7

# settings HOST [KEY]: with a key in a file, or without one.
settings() {
	echo "redis $(engine_of "$1")" >"/etc/ringfence/edge$1.fleet"
	[ $# -lt 2 ] && return
	install -m 600 /dev/null "$scratch/key$1"
	echo "$2" >"$scratch/key$1"
	echo "key file $scratch/key$1" >>"/etc/ringfence/edge$1.fleet"
}

restart_agent() { # HOST
	stop TERM "${agent[$1]}"
	: >"$scratch/agent$1"
	start_agent "$1"
}

of_key() { # HOST FIELD
	agent_says "$1" status | jq -r ".key.$2"
}

is_refused() { # HOST
	[ "$(of_key "$1" refused)" = true ] && is_alone "$1"
}

logs() { # HOST TEXT
	grep -qF "$2" "$scratch/agent$1"
}

has() { # HOST LEVEL CHECK TEXT COMMAND
	on "$1" fleet check "edge$1" --json 2>/dev/null |
		jq -e --arg level "$2" --arg check "$3" --arg text "$4" --arg command "$5" \
			'.checks | any(.level == $level and .check == $check and (.text | endswith($text)) and
			.command == $command)' >"$scratch/found"
}

bucket_of() { # HOST ADDRESS
	agent_says "$1" "show $2" | jq .limits[0].bucket
}

buckets() { # HOST
	local address

	for address in 192.0.2.{1..20} 2001:db8::{1..9}; do
		bucket_of "$1" "$address"
	done | xargs
}

make_fleet 3
start_engine
mkdir -p /etc/ringfence

# ---- the file ----

agent_check() { # WORD…
	within h1 build/ringfence-fleet check edge1 "$@"
}

settings 1
fails 'a key that is not there' 1 'ringfence-fleet: /nowhere: cannot read the key: No such file or directory' \
	agent_check key file /nowhere
echo "$one" >"$scratch/open"
chmod 644 "$scratch/open"
fails 'a key that others may read' 1 \
	"ringfence-fleet: $scratch/open: others may read the key; run 'chmod 600 $scratch/open'" \
	agent_check key file "$scratch/open"
chmod 600 "$scratch/open"
echo 0123456789abcde >"$scratch/open"
fails 'a key of 15 characters' 1 \
	"ringfence-fleet: $scratch/open: the key is too short: it must have 16 characters; 'openssl rand -hex 16' makes one" \
	agent_check key file "$scratch/open"
: >"$scratch/open"
fails 'an empty file' 1 \
	"ringfence-fleet: $scratch/open: it is no file with a key; write one into its first line" \
	agent_check key file "$scratch/open"
echo >"$scratch/open"
fails 'an empty line' 1 "ringfence-fleet: $scratch/open: no key is in its first line; write one there" \
	agent_check key file "$scratch/open"
fails 'a key on the command line' 2 "ringfence-fleet: 'key': unknown setting; did you mean 'key file'?" agent_check key "$one"
echo 0123456789abcdef >"$scratch/open"
does 'a key of 16 characters is taken' "fence 'edge1': no errors" agent_check key file "$scratch/open"

# ---- one key, then a different one ----

for host in 1 2 3; do
	settings "$host"
	on "$host" attach "edge$host" fleet >"$scratch/log"
	on "$host" fleet hosts 3 >"$scratch/log"
	on "$host" limit add any rate 64/1s fleet initial 0 >"$scratch/log" || bail 'no limit of a fleet'
done
start_agent 1
check 'a host without a key is in the fleet' eventually hears 1
is "$(of_key 1 fingerprint)" null 'and has no fingerprint'
plain=$(buckets 1)
stop TERM "${agent[1]}"
engine flushall >"$scratch/log"
for host in 1 2; do
	settings "$host" "$one"
	start_agent "$host"
done
check 'two hosts with one key hear each other' eventually eval 'hears 1 && hears 2'
ours=$(of_key 1 fingerprint)
matches "$ours" '[0-9a-f]{16}' 'the key has a fingerprint'
is "$(of_key 2 fingerprint)" "$ours" 'the same on both'
is "$(buckets 2)" "$(buckets 1)" 'they have each source in the same bucket'
check 'and others than without a key' test "$(buckets 1)" != "$plain"

settings 3 "$other"
start_agent 3
check 'a host with another key is alone' eventually is_refused 3
theirs=$(of_key 3 fingerprint)
trouble="its bucket key is $theirs, the fleet's is $ours; give all hosts the same 'key file', and restart the agent"
check 'its log names both' eventually logs 3 "this host is offline: $trouble"
is "$(grep -c 'bucket key' "$scratch/agent3")" 1 'once'
on 3 fleet status edge3 | tr -s ' \n' ' ' >"$scratch/status" # its lines are wrapped
check 'so does status' grep -qF "$trouble" "$scratch/status"
matches "$(on 3 fleet status edge3 --json | jq -r .state)" offline 'in which the host is offline'
check 'and check says what to type' has 3 problem agent "$trouble" 'systemctl restart ringfence-fleet@edge3'
check 'the others hear the engine' eventually eval 'hears 1 && hears 2'
is "$(of_key 1 refused) $(of_key 2 refused)" 'false false' 'and are not refused'
is "$(of_key 1 fleet_fingerprint) $(of_key 3 fleet_fingerprint)" "null $ours" 'the fingerprint of the fleet is known where it differs'

settings 3
restart_agent 3
check 'a host without a key is refused in a fleet that has one' \
	eventually logs 3 "its bucket key is none, the fleet's is $ours"
settings 3 "$one"
restart_agent 3
check 'with the key of the fleet it is a member' eventually hears 3

# ---- a different key for all hosts ----

for host in 1 2 3; do
	settings "$host" "$other"
done
restart_agent 1
check 'the first host with the new key is alone' eventually is_refused 1
check 'the others are not' eventually eval 'hears 2 && hears 3'
restart_agent 2
restart_agent 3
check 'once all have the new key, all hear the engine' eventually all_hear
check 'and the log says so' eventually logs 1 'the fleet has the bucket key of this host now'
is "$(of_key 1 refused) $(of_key 1 fingerprint)" "false $theirs" 'the fleet has the new key'

# ---- the limit, exactly ----

# A host whose agent had no CPU for the grace time is offline, and then passes nothing.
for host in 1 2 3; do
	on "$host" limit set any rate 64/1h fleet initial 0 offline initial >"$scratch/log"
done
used_on() { # HOST
	on "$1" show "$source_address" --json | jq '.limits[0].used // 0'
}

used() {
	echo $(($(used_on 1) + $(used_on 2)))
}

uses_all() {
	send 1 "src=$source_address,count=40"
	send 2 "src=$source_address,count=40"
	wait_for_senders
	[ "$(used)" -ge 64 ]
}

watch_hosts
check 'a source that floods two hosts gets all of the limit' eventually uses_all
send 1 "src=$source_address,count=200"
send 2 "src=$source_address,count=200"
wait_for_senders
end_watch
is "$(($(received_on 1 "$source_address") + $(received_on 2 "$source_address")))" 64 'and not a packet more'
bucket=$(bucket_of 1 "$source_address")
is "$(engine --raw keys "rf:{$bucket}:l:*:$source_address/32" | wc -l)" 1 'its claims are in the bucket of the key'
is "$(engine --raw keys "rf:*:l:*:$source_address/32" | wc -l)" 1 'and in no other'

# ---- no key is printed ----

for host in 1 2 3; do
	cat "$scratch/agent$host"
	agent_says "$host" status
	on "$host" save
done >"$scratch/told"
engine --raw --scan | while read -r name; do
	engine --raw get "$name"
done >>"$scratch/told"
check 'the engine and the logs have no key' eval "! grep -qE '$one|$other' '$scratch/told'"
done_testing
