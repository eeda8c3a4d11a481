#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet whose server is a cluster: slots are moved while their buckets are flooded, a master
# stops, one dies and its replica takes its place, an agent starts while its first server is down.
# The packets that hosts pass are evaluated by their times, as in test_fleet_faults.sh;
# fleet_verdict.sh describes how.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_cluster.sh
source tests/e2e/fleet_cluster.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh
# shellcheck source=tests/e2e/fleet_verdict.sh
source tests/e2e/fleet_verdict.sh

# They know one server each, and learn the others. What follows are settings as well.
engine_of() { # HOST
	echo "10.78.0.$1:6379"
	[ "$1" != 2 ] || echo 'bans take'
}

# The nodes of host 1, and how many buckets each has.
nodes_of_host() {
	agent_says 1 status | jq -r '[.server.nodes[] | "\(.host)=\(.buckets)"] | sort | join(" ")'
}

make_fleet 3
make_cluster
first=1 # of eight slots, so no agent that restarts waits for one
set_up_hosts 3 "$limit/1s" 8
check 'all hosts hear the engine' eventually all_hear

# ---- nothing happens, then a slot is moved, and back ----

is "$(nodes_of_host)" "$(for number in 1 2 3; do
	echo "10.78.0.$number=$(for b in {0..15}; do master_of "$b"; done | grep -c "$number")"
done | xargs)" 'each bucket is asked for where it is'
notes_key() { # HOST
	on "$1" fleet check "edge$1" --json 2>/dev/null |
		jq -e '.checks | any(.level == "note" and .check == "key" and .command == "openssl rand -hex 16" and
			.text == "without a bucket key, senders can choose which of its 3 masters has their claims; configure the same '"'key file'"' on all hosts")' \
			>"$scratch/note"
}
check 'a cluster without a bucket key is noted' eventually notes_key 1
install -m 600 /dev/null "$scratch/key"
echo 00112233445566778899aabbccddeeff >"$scratch/key"
cp /etc/ringfence/edge1.fleet "$scratch/edge1.fleet"
echo "key file $scratch/key" >>/etc/ringfence/edge1.fleet
fails_to_note() {
	! notes_key 1
}
check 'and with a key it is not' fails_to_note
mv "$scratch/edge1.fleet" /etc/ringfence/edge1.fleet
begin 6
at 1
bucket=$(bucket_of "${storm[plain4 even]}")
from=$(master_of "$bucket")
to=$((from % 3 + 1))
echo "# bucket $bucket goes from node $from to $to"
begin_move "$bucket" "$from" "$to"
end_move "$bucket" "$from" "$to"
at 2.5
begin_move "$bucket" "$to" "$from"
at 3.2
end_move "$bucket" "$to" "$from"
finish
verdict 'the slot of a flooded bucket is moved, and back in 0.7 s'
is "$(master_of "$bucket")" "$from" 'it was moved'

# ---- at rest ----

# Queries to the nodes in a second, by each host; in addition it reads a key each 2 s.
calls_of_each_host() {
	local number began took_ms calls

	began=$(clock)
	for number in 1 2 3; do
		node "$number" config resetstat >"$scratch/log"
	done
	sleep 3
	calls=$(for number in 1 2 3; do
		node "$number" info commandstats
	done | awk -F '[=,]' '/^cmdstat_(fcall|set):/ { sum += $2 } END { print sum + 0 }')
	took_ms=$((($(clock) - began) / 1000000)) # including the time of the query
	echo $(((calls - 16 * hosts) * 1000 / took_ms / hosts)) # a round can start and end it
}
sleep 1 # from the last claims
calls=$(calls_of_each_host)
echo "# $calls calls a second of each host, two messages each"
check 'at rest a host sends and gets 70 messages a second at most' test "$calls" -le 34

# ---- queries by people ----

matches "$(on 1 fleet status edge1 | grep ^node | sort | xargs)" \
	'node 10.78.0.1:6379: [0-9]+ of 16 buckets node 10.78.0.2:6379: [0-9]+ of 16 buckets node 10.78.0.3:6379: [0-9]+ of 16 buckets' \
	'fleet status names the nodes'
hears_three() {
	[ "$(on 1 fleet status edge1 --json | jq '[.others[] | select(.silent_ms < 1500)] | length')" = 3 ]
}
check 'and, by all of them, the hosts' eventually hears_three
is "$(on 1 fleet show 192.0.2.1 dev edge1 --json | jq -c '[.limits[].ledger != null]')" '[true]' \
	'fleet show asks the node that has the source'
is "$(on 1 fleet top dev edge1 --json | jq '.reported >= 3')" true 'fleet top has all hosts'
matches "$(on 1 fleet gone "$(agent_says 2 status | jq .membership.slot)" dev edge1 2>&1)" \
	'.*: its last heartbeat was .* ago, so its claims still count; .*' 'fleet gone asks all nodes whether they hear the host'
on 1 fleet check edge1 --json >"$scratch/check"
is "$(jq -r '.checks[] | select(.check == "server") | "\(.level) \(.text)"' "$scratch/check" | sed 's/version.*with [0-9]* /…/' | sort)" \
	$'ok 10.78.0.1:6379, …buckets\nok 10.78.0.2:6379, …buckets\nok 10.78.0.3:6379, …buckets' 'fleet check looks at each node'
node 3 config set maxmemory-policy allkeys-lru >"$scratch/log"
is "$(on 1 fleet check edge1 --json 2>/dev/null | jq -r '.checks[] | select(.check == "server" and .level != "ok") | .text, .command')" \
	$'10.78.0.3:6379: its maxmemory-policy is allkeys-lru, so it may forget claims\nredis-cli -h 10.78.0.3 -p 6379 CONFIG SET maxmemory-policy noeviction' \
	'and names the one that is wrong'
node 3 config set maxmemory-policy noeviction >"$scratch/log"
replica_says() { # PORT
	node 2 info replication | grep -q "port=$1,state=online"
}
node 4 config set replica-announce-port 7777 >"$scratch/log"
node 2 client kill type replica >"$scratch/log"
eventually replica_says 7777 || bail 'the replica does not come back'
is "$(on 1 fleet check edge1 --json 2>/dev/null | jq -c '[.checks[] | select(.check == "server") | .level]')" '["ok","ok","ok"]' \
	'it looks for a replica where its cluster announces it, not where INFO does'
has_ban() {
	[ "$(on 2 fleet bans list --json | jq -r '.bans[].prefix')" = 198.51.100.7 ]
}
check 'a ban is told' on 1 deny add 198.51.100.7 for 10m fleet
check 'and taken by another host' eventually has_ban

# ---- a master stops ----

# Each of many new sources requests a share. Soon there are more reports for node 3 than an agent's
# maximum in flight.
answers() {
	agent_says 1 status | jq .counts.replies
}
# A busy machine might have no time for that many; then others are sent.
others_answer() {
	kill -STOP "${node_pid[3]}"
	send 1 "src=10.1.$((16 * round++)).1,sources=4000,count=4000,rate=5000"
	sleep 0.3
	answers=$(answers)
	sleep 0.3
	answers=$(($(answers) - answers))
	kill -CONT "${node_pid[3]}"
	wait_for_senders
	echo "# $answers answers in 0.3 s"
	eventually all_hear
	[ "$answers" -ge 300 ]
}
round=0
others_answer || others_answer || others_answer || others_answer || others_answer
check 'while a master stands still, the others answer' test "$answers" -ge 300
check 'and all hosts hear it again' eventually all_hear

# ---- a master dies ----

begin 7
at 1
stop KILL "${node_pid[2]}"
at 2.2
fail_over 4
finish
verdict 'a master is killed, and its replica takes its place'
check 'all hosts hear the replica' eventually all_hear
matches "$(nodes_of_host)" '10.78.0.1=[0-9]+ 10.78.0.3=[0-9]+ 10.78.0.4=[0-9]+' 'in the place of its master'

# ---- an agent starts while the first server is down ----

echo 'redis 10.78.0.2:6379,10.78.0.1:6379' >/etc/ringfence/edge1.fleet
begin 4
at 1
stop TERM "${agent[1]}"
start_agent 1
check 'an agent starts while the first server is down' eventually hears 1
finish
verdict 'an agent starts while the first server is down'
is "$(on 1 fleet check edge1 --json 2>/dev/null | jq -r '.checks[] | select(.check == "server" and .level != "ok") | "\(.level) \(.text)"')" \
	"note 10.78.0.2:6379: nothing listens there; start it or its tunnel, or see its 'bind' and 'port'" 'fleet check says so'

# ---- a name that cannot be resolved ----

echo 'hosts: files' >/etc/nsswitch.conf
stop TERM "${agent[1]}"
: >"$scratch/agent1"
echo 'redis db9.example:6379,10.78.0.1:6379' >/etc/ringfence/edge1.fleet
start_agent 1
check 'an agent starts with the servers whose names are known' eventually hears 1
check 'and says which one is not' grep -qE \
	'fleet server db9.example:6379: .*; the agent starts without it, and retries' "$scratch/agent1"
matches "$(on 1 fleet check edge1 --json 2>/dev/null | jq -r '.checks[] | select(.check == "server" and .level != "ok") | "\(.level) \(.text)"')" \
	'note db9.example:6379: its name cannot be resolved: .*; name it by its address, or see that the name can be resolved' \
	'so does fleet check'
matches "$(within h1 build/ringfence-fleet check edge1 2>&1)" \
	'ringfence-fleet: fleet server db9.example: .*; name it by its address, or see that the name can be resolved' \
	'and the check of the settings'
echo '10.78.0.3 db9.example' >>/etc/hosts
check 'it is used once its name is known' eventually grep -q \
	'fleet server db9.example:6379: its name is resolved now' "$scratch/agent1"
check 'and the host hears the engine all the time' hears 1

# ---- an address that leads to a different node, as by an error in a port forward ----

within h1 ip link set lo up
within h1 ip addr add 10.78.0.3/32 dev lo
start h1 tests/e2e/fleet_relay.py 6379 10.78.0.1:6379 0 2>"$scratch/relay"
eventually grep -q ready "$scratch/relay" || bail 'the relay does not start'
is "$(on 1 fleet check edge1 --json 2>/dev/null | jq -r '.checks[] | select(.text | test(": it is the node")) | "\(.level) \(.text)"')" \
	'problem db9.example:6379: it is the node that its cluster announces as 10.78.0.1:6379, not the node announced here; behind a tunnel, check the target of that port' \
	'fleet check knows where an address leads'
stop TERM "$started_pid"
within h1 ip addr del 10.78.0.3/32 dev lo
check 'with the right way the host hears the engine again' eventually hears 1

# ---- nodes with names ----

for number in 1 3 4; do
	node "$number" config set cluster-announce-hostname "node$number.example" >"$scratch/log"
	node "$number" config set cluster-preferred-endpoint-type hostname >"$scratch/log"
done
stop TERM "${agent[1]}"
: >"$scratch/agent1"
echo "redis $(engine_of 1)" >/etc/ringfence/edge1.fleet
start_agent 1
check 'a node that is named by a host name is refused, with what to set' eventually grep -qE \
	"fleet server 10.78.0.1:6379: it names a node of its cluster '[a-z0-9.?]+', which is no address; set 'cluster-preferred-endpoint-type ip' on each node" \
	"$scratch/agent1"

# ---- a server that is no node ----

stop TERM "${agent[1]}"
start engine "$server" --port 6390 --bind 10.77.1.1 --protected-mode no --save '' --dir "$scratch" --logfile "$scratch/log"
echo 'redis 10.78.0.2:6379,10.77.1.1:6390' >/etc/ringfence/edge1.fleet
: >"$scratch/agent1"
start_agent 1
check 'a server by itself beside others is not used' eventually grep -qF \
	"fleet server 10.77.1.1:6390: it is no node of a cluster, so it would have claims of its own; 'redis' names one server, or nodes of one cluster" \
	"$scratch/agent1"
check 'so the host is alone' is_alone 1

# ---- none of several servers is there ----

stop TERM "${agent[1]}"
echo 'redis 10.78.0.8:6379,10.78.0.9:6379' >/etc/ringfence/edge1.fleet
within engine ip addr add 10.78.0.8/32 dev lo
within engine ip addr add 10.78.0.9/32 dev lo
: >"$scratch/agent1"
start_agent 1
check 'servers that refuse are told of' eventually grep -q 'fleet server 10.78.0.9:6379: nothing listens there' "$scratch/agent1"
sleep 2
check 'once each, by each connection' test "$(wc -l <"$scratch/agent1")" -le 12
kill -TERM "${agent[1]}"
has_ended() {
	! [ -d "/proc/${agent[1]}" ] || grep -q '^State:.Z' "/proc/${agent[1]}/status"
}
check 'and the agent can be ended' eventually has_ended
stop KILL "${agent[1]}"

print_table
done_testing
