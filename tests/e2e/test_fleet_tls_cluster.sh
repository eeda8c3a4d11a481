#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A fleet whose server is a cluster that accepts only TLS: each host has a stunnel to each node,
# with the literal settings of ringfence-fleet(8). A slot is moved while its bucket is flooded, a
# master dies and its replica takes its place. Then a host's tunnels lead to a different node, to
# none, or to a foreign server, and nodes announce addresses in the network.
#
#   agent -- 127.0.0.1:700N stunnel -- TLS -- 10.78.0.N:700N redis-server

# shellcheck disable=SC2119,SC2317 # functions are called by check, fails and the like
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/fleet.sh
source tests/e2e/fleet.sh
# shellcheck source=tests/e2e/fleet_tls.sh
source tests/e2e/fleet_tls.sh
# shellcheck source=tests/e2e/fleet_cluster.sh
source tests/e2e/fleet_cluster.sh
# shellcheck source=tests/e2e/fleet_storm.sh
source tests/e2e/fleet_storm.sh
# shellcheck source=tests/e2e/fleet_verdict.sh
source tests/e2e/fleet_verdict.sh

declare -A tunnel_pid
client_words=(--tls --cacert /etc/redis/ca.pem)

cluster_port() { # NODE
	echo "700$1"
}

node_listens() { # NODE
	settings 'port 0' | sed "s/7001/700$1/" >"$scratch/node$1.conf"
	echo "$scratch/node$1.conf"
}

engine_of() { # HOST
	echo 127.0.0.1:7001,127.0.0.1:7002
}

# ways HOST [PORT NODE]…: restarts its stunnel, with a tunnel to each node by its port. A named port
# leads to that node, or nowhere.
ways() {
	local number to

	[ -z "${tunnel_pid[$1]-}" ] || stop TERM "${tunnel_pid[$1]}"
	{
		printf '%s\n' 'foreground = yes' 'pid ='
		settings 'client = yes' | sed '/^\[node1]/,$d'
		for number in 1 2 3 4; do
			to=$(xargs -n 2 <<<"${*:2}" | awk -v port="700$number" -v to="$number" \
				'$1 == port { to = $2 } END { print to }')
			[ "$to" = none ] || settings 'client = yes' | sed -n '/^\[node1]/,/^$/p' |
				sed "s/node1/node$number/; s/127.0.0.1:7001/127.0.0.1:700$number/; s/NODE1:7001/10.78.0.$to:700$to/"
		done
	} >"$scratch/ways$1.conf"
	start "h$1" "$stunnel" "$scratch/ways$1.conf" >>"$scratch/ways$1.log" 2>&1
	tunnel_pid[$1]=$started_pid
}

buckets_of() { # HOST
	agent_says "$1" status | jq -r '[.server.nodes[] | select(.buckets > 0) | "\(.host):\(.port)"] | sort | join(" ")'
}

# Whom agents and questions talk to, of all hosts.
peers() {
	local host

	for ((host = 1; host <= hosts; host++)); do
		within "h$host" ss --no-header --tcp --processes --numeric state established state syn-sent
	done | awk '/"ringfence-fleet"/ { sub(/:[0-9]*$/, "", $5); print $5 }' | sort -u | xargs
}

# How many plain-text connections a node had, according to its log.
in_the_clear() {
	cat "$scratch"/node*/log | grep -c 'wrong version number'
}

once_in_the_clear() {
	[ "$(in_the_clear)" = 1 ]
}

# finds TEXT [LEVEL]: fleet check on host 1 reports this about the server, by default as a problem.
finds() {
	on 1 fleet check edge1 --json 2>/dev/null >"$scratch/check"
	jq -e --arg text "^($1)\$" --arg level "${2-problem}" \
		'.checks | any(.check == "server" and .level == $level and (.text | test($text)))' "$scratch/check" >"$scratch/found"
}

# is_other PORT OF: the message about a port that leads to the node whose port is OF.
is_other() {
	echo "127.0.0.1:$1: it is the node that its cluster announces as 127.0.0.1:$2, not the node \
announced here; behind a tunnel, check the target of that port"
}

is_alone_for_some() { # HOST
	[[ $(agent_says "$1" status) =~ \"offline\":\ *([0-9]+)[,}] ]] && ((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] < 16))
}

# The log of the agent of host 1 since `well_before`.
well_before=1
said_since() {
	tail -n "+$well_before" "$scratch/agent1"
}

says_since() { # TEXT
	said_since | grep -qE "fleet server ($1)"
}

# leads_wrong NAME TEXT [OF-CONNECTION]: with the present tunnels of host 1, fleet check and the
# agent report this, and the agent also the error of a connection.
leads_wrong() {
	if eventually finds "$2"; then
		pass "$1: fleet check says so"
	else
		fail "$1: fleet check says so"
		explain got "$(<"$scratch/check")"
	fi
	if eventually says_since "$2" && { [ $# = 2 ] || eventually says_since "$3"; }; then
		pass "$1: the agent too"
	else
		fail "$1: the agent too"
		explain got "$(said_since)"
	fi
	check "$1: some buckets are not heard" eventually is_alone_for_some 1
}

# No error remains, in the cluster or in a connection: everything has been logged.
is_well() { # HOST
	hears "$1" && [ "$(agent_says "$1" status | jq -c '.server | [.heartbeats, .reports, .feed | .last_error] | unique')" = '[null]' ]
}

lead_right() {
	ways 1
	check 'with the right ways it hears all again' eventually is_well 1
	# Connections are said with their purpose in brackets.
	is "$(said_since | grep 'fleet server' | grep -v ' ([a-z]*)$' | tail -n 1)" "the cluster of the fleet server replies again" \
		'and says so, after all that was wrong'
	well_before=$(($(wc -l <"$scratch/agent1") + 1))
}

make_fleet 3
mkdir -p /etc/redis /etc/stunnel
certificate engine || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
certificate other || bail "no certificate: $(tail -n 3 "$scratch/openssl")"
cp "$scratch/engine.certificate" /etc/redis/fleet.pem
cp "$scratch/engine.key" /etc/redis/fleet.key
cp "$scratch/engine.ca" /etc/redis/ca.pem
cp "$scratch/engine.ca" /etc/stunnel/ca.pem
make_cluster
for host in 1 2 3; do
	within "h$host" ip link set lo up
	ways "$host"
done
first=1 # of eight slots, so no agent that restarts waits for one
set_up_hosts 3 "$limit/1s" 8
check 'all hosts hear a cluster behind TLS' eventually all_hear
is "$(buckets_of 1)" '127.0.0.1:7001 127.0.0.1:7002 127.0.0.1:7003' 'each node by its port'
is "$(on 1 fleet check edge1 --json 2>/dev/null | jq -c '[.checks[] | select(.check == "server") | .level]')" \
	'["ok","ok","ok"]' 'fleet check reaches each'

# ---- a replica, before it is needed ----

ways 1 7004 none
check 'a replica that cannot be reached is a problem' eventually finds "127.0.0.1:7004: nothing listens there; start it or its tunnel, \
or see its 'bind' and 'port'; it is a replica of 127.0.0.1:7002, so this host could not reach it after a failover"
ways 1 7004 3
check 'so is a way to another node' eventually finds "$(is_other 7004 7003)"
echo "redis 127.0.0.1:7001,127.0.0.1:7004" >/etc/ringfence/edge1.fleet
check 'also of a server of the settings, which has no keys yet' eventually finds "$(is_other 7004 7003)"

# Without the permission to query it, a master's report of its replica is still known.
rules=$(sed -n 's/^ACL SETUSER edge3 //p' docs/fleet.md)
install -m 600 /dev/null "$scratch/password"
echo SECRET >"$scratch/password"
for number in 1 2 3 4; do
	# shellcheck disable=SC2086 # several rules
	node "$number" acl setuser edge3 $rules >"$scratch/log"
done
echo "redis $(engine_of 1) user edge3 password file $scratch/password" >/etc/ringfence/edge1.fleet
check 'a user may lack the rights for that' eventually finds "127.0.0.1:7001: its identity in the cluster is \
not checked: this user needs the rights '\\+cluster\\|myid' and '\\+cluster\\|slots'" note
check 'a way to another master is found without them' eventually finds "127.0.0.1:7004: it is a master, not the announced replica of \
127.0.0.1:7002; behind a tunnel, check the target of that port"
for number in 1 2 3 4; do
	node "$number" acl setuser edge3 '+cluster|myid' '+cluster|slots' >"$scratch/log"
done
check 'with them it is known whose it is' eventually finds "$(is_other 7004 7003)"
check 'and the others are right' eventually finds '127.0.0.1:7001, version .*' ok
echo "redis $(engine_of 1)" >/etc/ringfence/edge1.fleet
ways 1
check 'it hears all again' eventually all_hear

# ---- a slot is moved, and back ----

begin 6
at 1
bucket=$(bucket_of "${storm[plain4 even]}")
from=$(master_of "$bucket")
to=$((from % 3 + 1))
begin_move "$bucket" "$from" "$to"
end_move "$bucket" "$from" "$to"
at 2.5
begin_move "$bucket" "$to" "$from"
at 3.2
end_move "$bucket" "$to" "$from"
finish
verdict 'the slot of a flooded bucket is moved, and back in 0.7 s'
is "$(master_of "$bucket")" "$from" 'it was moved'

# ---- a master dies ----

begin 7
at 1
stop KILL "${node_pid[2]}"
at 2.2
fail_over 4
finish
verdict 'a master is killed, and its replica takes its place'
check 'all hosts hear the replica' eventually all_hear
is "$(buckets_of 1)" '127.0.0.1:7001 127.0.0.1:7003 127.0.0.1:7004' 'in the place of its master'
is "$(peers)" 127.0.0.1 'no agent has talked to the network'

# ---- ways that lead wrong ----

check 'nothing is wrong by then' eventually is_well 1
well_before=$(($(wc -l <"$scratch/agent1") + 1))
itself='it names itself for keys that it has not; behind a tunnel each node has a port of its own, and that port leads to no other'
ways 1 7003 1
leads_wrong 'a port leads to another node' "127.0.0.1:7003: $itself"
lead_right
ways 1 7001 3 7003 1
leads_wrong 'two ports are exchanged' "127.0.0.1:700[13]: $itself"
echo 'redis 127.0.0.1:7001,127.0.0.1:7003' >/etc/ringfence/edge1.fleet
check 'fleet check knows where the first leads' eventually finds "$(is_other 7001 7003)"
check 'and where the second leads' eventually finds "$(is_other 7003 7001)"
echo "redis $(engine_of 1)" >/etc/ringfence/edge1.fleet
lead_right
ways 1 7003 none
leads_wrong 'a port leads nowhere' \
	"127.0.0.1:700[14]: it names 127.0.0.1, port 7003, which does not answer; see the tunnel to it, or 'redis-cli --cluster check'" \
	"127.0.0.1:7003: nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"
lead_right
cp "$scratch/other.ca" /etc/stunnel/ca.pem
ways 1
check 'nodes of another authority are not heard' eventually is_alone 1
check 'fleet check says where to look' eventually finds '127.0.0.1:700[12]: it closed the connection; behind a tunnel, see its log'
cp "$scratch/engine.ca" /etc/stunnel/ca.pem
ways 1
check 'those of the right one are' eventually hears 1

# ---- nodes that announce addresses ----

for number in 1 3 4; do
	node "$number" config set cluster-preferred-endpoint-type ip >"$scratch/log"
done
stop TERM "${agent[1]}"
well_before=$(($(wc -l <"$scratch/agent1") + 1))
start_agent 1
leads_wrong 'addresses in the network' "127.0.0.1:7001: it sends on to 10.78.0.[34], port 700[34], past what listens on \
this machine; behind a tunnel set 'cluster-preferred-endpoint-type unknown-endpoint' on each node, else name the nodes \
by the addresses that they announce"
is "$(peers)" 127.0.0.1 'are not followed'
is "$(in_the_clear)" 0 'no node was spoken to in the clear, all the time'
within h1 bash -c 'echo PING >/dev/tcp/10.78.0.1/7001'
check 'its log would tell' eventually once_in_the_clear
print_table
done_testing
