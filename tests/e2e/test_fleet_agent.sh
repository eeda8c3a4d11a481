#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The agent of a fleet as a program: its options, its log of the server's errors, how hosts get
# their slots, and its permissions. test_fleet_bound.sh tests the sum of the hosts.

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/unit_files.sh
source "$(dirname "$0")/unit_files.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh

fleet_agent() {
	build/ringfence-fleet "$@"
}

# ask HOST FILTER: a value of its agent's status.
ask() {
	agent_says "$1" status | jq -r "$2"
}

says() { # HOST TEXT
	grep -qF "$2" "$scratch/agent$1"
}

# The sentence of a server that replies with an error, then stops.
meets() { # NAME TEXT
	start_agent 1
	check "$1" eventually says 1 "$2"
	stop TERM "${agent[1]}"
	: >"$scratch/agent1"
}

make_fleet 3

# ---- words ----

fails 'run expects a name' 2 "ringfence-fleet: 'run': expects the NAME of a fence" fleet_agent run
fails 'a fence without settings names no engine' 1 \
	"ringfence-fleet: fence 'edge1': no fleet server is configured; write 'redis HOST:PORT' into /etc/ringfence/edge1.fleet" \
	fleet_agent check edge1
fails 'an engine has a port' 2 \
	"ringfence-fleet: redis '10.77.1.1': expects HOST:PORT, such as 192.0.2.1:6379" \
	fleet_agent check edge1 redis 10.77.1.1
fails 'a setting that is none' 2 \
	"ringfence-fleet: 'port': unknown setting; 'ringfence-fleet help' lists the settings" \
	fleet_agent check edge1 port 1
fails 'a grace that is too short' 2 "ringfence-fleet: '1ms': 'grace' expects a time from 200ms to 60s, like 2s" \
	fleet_agent check edge1 redis 10.77.1.1:6379 grace 1ms
fails 'a password that cannot be read' 1 \
	"ringfence-fleet: /nowhere: cannot read the password: No such file or directory" \
	fleet_agent check edge1 redis 10.77.1.1:6379 password file /nowhere
echo secret >"$scratch/open"
chmod 640 "$scratch/open"
fails 'a password that others may read' 1 \
	"ringfence-fleet: $scratch/open: others may read the password; run 'chmod 600 $scratch/open'" \
	fleet_agent check edge1 redis 10.77.1.1:6379 password file "$scratch/open"
fails 'no fence has a path for its name' 2 "ringfence-fleet: '../x': no fence has such a name" \
	fleet_agent run ../x
mkdir -p /etc/ringfence
echo 'redis 10.77.1.1:6379 # and more
hosts 3' >/etc/ringfence/edge1.fleet
does 'the settings are those of the file' "fence 'edge1': no errors" fleet_agent check edge1
echo 'redis 10.77.1.1:6379 hosts none' >/etc/ringfence/edge2.fleet
matches "$(fleet_agent check edge2 2>&1)" \
	"ringfence-fleet: /etc/ringfence/edge2.fleet: .*'none'.*" 'an error in the file names the file'
for host in 2 3; do
	echo "redis 10.77.$host.1:6379 hosts 3" >"/etc/ringfence/edge$host.fleet"
done

# ---- its unit ----

mkdir "$scratch/units"
sed "s|/usr/sbin/|$PWD/build/|" packaging/systemd/ringfence-fleet@.service >"$scratch/units/ringfence-fleet@.service"
is "$(verify "$scratch/units" ringfence-fleet@edge1.service)" '' 'systemd-analyze verify accepts the unit'
check 'it comes soon, and not before all others' \
	test "$(grep -E '^(Nice|CPUScheduling.*)=' packaging/systemd/ringfence-fleet@.service)" = Nice=-10
mkdir "$scratch/units/ringfence-fleet@.service.d"
sed -n '/^\[Service\]/,/^\.Ed/{/^\.Ed/!p}' docs/ringfence-fleet.8 >"$scratch/units/ringfence-fleet@.service.d/soon.conf"
is "$(wc -l <"$scratch/units/ringfence-fleet@.service.d/soon.conf") $(verify "$scratch/units" ringfence-fleet@edge1.service)" \
	'5 ' 'and what the manual adds to it'
rm -r "$scratch/units/ringfence-fleet@.service.d"
check 'its exposure is 3 at most' \
	no_more_than "$(exposure "$scratch/units/ringfence-fleet@.service")" 3

# ---- a faulty server ----

meets 'nobody listens' \
	"fleet server 10.77.1.1:6379: nothing listens there; start it or its tunnel, or see its 'bind' and 'port' (heartbeats)"
start_engine --requirepass secret
meets 'no password' "it wants a password; name a file with it by 'password file PATH'"
install -m 600 /dev/null "$scratch/password"
echo wrong >"$scratch/password"
echo "redis 10.77.1.1:6379 hosts 3 password file $scratch/password" >/etc/ringfence/edge1.fleet
meets 'a wrong password' "it refuses this user and password; see 'user' and 'password file'"
echo secret >"$scratch/password"
meets 'the right password' 'fleet server 10.77.1.1:6379: connected (heartbeats)'
echo "redis 10.77.1.1:6379 hosts 3 user alice password file $scratch/password" >/etc/ringfence/edge1.fleet
engine --no-auth-warning -a secret acl setuser alice on '>secret' '~rf:*' +fcall >"$scratch/log"
engine --no-auth-warning -a secret function flush >"$scratch/log"
meets 'a user who may not load functions' 'this user may not do that there'
engine --no-auth-warning -a secret acl setuser alice '+function|load' >"$scratch/log"
meets 'a user who may' 'fleet server 10.77.1.1:6379: connected (heartbeats)'
stop TERM "$engine_pid"
rm "$scratch/redis.log"

# ---- members ----

echo 'redis 10.77.1.1:6379 hosts 3' >/etc/ringfence/edge1.fleet
start_engine
for host in 1 2 3; do
	on "$host" attach "edge$host" fleet >"$scratch/log"
	start_agent "$host"
done
for host in 1 2 3; do
	check "host $host hears the engine" eventually hears "$host"
done
is "$(for host in 1 2 3; do ask "$host" .membership.slot; done | sort | xargs)" '0 1 2' \
	'each host has a slot of its own'
knows_three() {
	[ "$(ask 1 '.membership.members | join(" ")')" = '0 1 2' ]
}
check 'and knows the others' eventually knows_three
is "$(ask 1 '[.schema, .fence, .attached, .server.heartbeats.state] | join(" ")')" \
	'2 edge1 true connected' 'the agent says how it is'
is "$(agent_says 1 nonsense | jq -r .error)" 'no such question' 'other questions have no answer'
is "$(agent_says 1 'show 1.2' | jq -r .error | cut -d: -f1)" "'1.2'" 'an address must be one'
is "$(awk '/^Cap(Eff|Prm|Bnd)/ { print $2 }' "/proc/${agent[1]}/status" | sort -u)" 0000008000000000 \
	'the agent has CAP_BPF and no other capability'
is "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/${agent[1]}/status")" 1 'and gets no others'
fails 'a second agent of the same fence ends' 1 \
	"ringfence-fleet: fence 'edge1': another ringfence-fleet serves it; end that one first" \
	within h1 build/ringfence-fleet run edge1

is_shared() { # but where the agent had no CPU for a while
	[ "$(on 1 fleet status edge1 --json | jq -r '[.state, .members, .hosts, .server] | join(" ")')" = 'shared 3 3 10.77.1.1:6379' ]
}
check 'fleet status prints what the agent says' eventually is_shared
fails 'a fence without an agent' 1 \
	"ringfence: fence 'edge9': no agent serves it; 'systemctl enable --now ringfence-fleet@edge9' starts one" \
	on 1 fleet status edge9

# ---- the engine goes and comes ----

stop KILL "$engine_pid"
check 'without an engine a host is alone' eventually is_alone 2
matches "$(on 2 fleet status edge2 | head -2 | xargs)" \
	'fence edge2: offline for [0-9]+(\.[0-9]+)?m?s; the fleet server is 10.77.2.1:6379 fleet server 10.77.2.1:6379: .*' 'fleet status says so, and why'
start_engine
for host in 1 2 3; do
	check "host $host hears the engine again" eventually hears "$host"
done
is "$(for host in 1 2 3; do ask "$host" .membership.slot; done | sort | xargs)" '0 1 2' \
	'each host keeps a slot'
engine function flush >"$scratch/log"
are_loaded() {
	[ "$(engine function list | head -2 | xargs)" = 'library_name ringfence' ]
}
check 'functions that were flushed are loaded again, by the agents' eventually are_loaded
check 'which hear the engine' eventually hears 1

# ---- an agent goes and comes ----

stop KILL "${agent[1]}"
start_agent 1
check 'an agent that was killed takes another slot, or its own once that is free' eventually hears 1
stop TERM "${agent[1]}"
check 'SIGTERM ends it, and its socket' test ! -e /run/ringfence-fleet/edge1.sock
start_agent 1
is_without_fence() {
	[ "$(ask 2 .attached)" = false ]
}
on 2 detach edge2 >"$scratch/log"
check 'an agent notices that its fence is gone' eventually is_without_fence
on 2 attach edge2 fleet >"$scratch/log"
has_fence() {
	[ "$(ask 2 .attached)" = true ]
}
check 'and that it is back' eventually has_fence
on 3 detach edge3 >"$scratch/log"
on 3 attach edge3 >"$scratch/log"
check 'a fence without shares is refused' eventually says 3 \
	"fence 'edge3' was attached without 'fleet'; run 'ringfence detach edge3', then attach it with 'fleet'"

done_testing
