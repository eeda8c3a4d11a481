# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154,SC2034 # lib.sh and fleet.sh set them, tests use them
# A cluster of three masters, and a replica of the second one, as the fleet server, for the tests
# that source this file after fleet.sh. Node N is 10.78.0.N, which all hosts can reach. A test can
# override how nodes listen, and how redis-cli reaches them.
#
# On a busy machine a node can be silent for seconds. Therefore no node is considered failed before
# a minute, and a replica takes its master's place only when a test triggers it: fail_over.

nodes=4
cluster_port() { echo 6379; }          # NODE
node_listens() { echo "--port 6379"; } # NODE: the first words of its redis-server
client_words=()
cluster_slots=('' '0 5460' '5461 10922' '10923 16383') # of each master
declare -A node_pid

node() { # NUMBER COMMAND…
	within engine "$client" "${client_words[@]}" -h "10.78.0.$1" -p "$(cluster_port "$1")" "${@:2}"
}

# must NODE COMMAND…: ends the test unless the node replies OK.
must() {
	local said

	said=$(node "$@" 2>&1)
	[ "$said" = OK ] || bail "node $1 does not answer OK to '${*:2}': $said"
}

start_node() { # NUMBER
	mkdir -p "$scratch/node$1"
	# shellcheck disable=SC2046 # words
	start engine "$server" $(node_listens "$1") --bind "10.78.0.$1" --protected-mode no --save '' --appendonly no \
		--dir "$scratch/node$1" --logfile "$scratch/node$1/log" --cluster-enabled yes --cluster-announce-ip "10.78.0.$1" \
		--cluster-node-timeout 60000 --cluster-require-full-coverage no \
		--cluster-replica-validity-factor 0 --repl-diskless-sync-delay 0
	node_pid[$1]=$started_pid
	eventually node "$1" ping >"$scratch/ping" 2>&1 || bail "node $1 does not start"
}

is_up() { # NODE…
	local number

	for number; do
		[[ $(node "$number" cluster info) = *cluster_state:ok*cluster_slots_ok:16384*cluster_known_nodes:$nodes* ]] || return
	done
}

follows() { # REPLICA
	node "$1" info replication | grep -q 'master_link_status:up'
}

replicates() { # REPLICA MASTER
	[ "$(node "$1" cluster replicate "$(id_of "$2")" 2>&1)" = OK ]
}

# make_cluster: after make_fleet.
make_cluster() {
	local number host slots

	for ((number = 1; number <= nodes; number++)); do
		within engine ip addr add "10.78.0.$number/32" dev lo
	done
	for ((host = 1; host <= hosts; host++)); do
		within "h$host" ip route add 10.78.0.0/24 via "10.77.$host.1"
	done
	for ((number = 1; number <= nodes; number++)); do
		start_node "$number"
		read -ra slots <<<"${cluster_slots[number]-}"
		[ "$number" = 4 ] || node "$number" cluster addslotsrange "${slots[@]}" >"$scratch/log"
		node "$number" cluster set-config-epoch "$number" >"$scratch/log"
		[ "$number" = 1 ] || node 1 cluster meet "10.78.0.$number" "$(cluster_port "$number")" >"$scratch/log"
	done
	eventually is_up 1 2 3 4 || bail "the cluster does not come up: $(node 1 cluster info)"
	eventually replicates 4 2 || bail 'node 4 cannot be a replica'
	eventually follows 4 || bail 'the replica does not follow'
}

id_of() { # NODE
	node "$1" cluster myid
}

slot_of() { # BUCKET
	node 1 cluster keyslot "rf:{$1}:hosts"
}

# The master of a bucket, by its number.
master_of() { # BUCKET
	local key="rf:{$1}:hosts" number said

	for number in 1 2 3 4; do
		said=$(node "$number" readwrite 2>&1 && node "$number" exists "$key" 2>&1)
		[[ $said = *MOVED* || $said = *refused* ]] || echo "$number"
	done
}

# begin_move BUCKET FROM TO: the slot's keys go one by one; end_move makes it the other node's.
begin_move() {
	local slot

	slot=$(slot_of "$1")
	must "$3" cluster setslot "$slot" importing "$(id_of "$2")"
	must "$2" cluster setslot "$slot" migrating "$(id_of "$3")"
}

end_move() { # BUCKET FROM TO
	local slot keys number said

	slot=$(slot_of "$1")
	while mapfile -t keys < <(node "$2" cluster getkeysinslot "$slot" 100) && [ -n "${keys[*]}" ]; do
		said=$(node "$2" migrate "10.78.0.$3" "$(cluster_port "$3")" '' 0 180000 keys "${keys[@]}" 2>&1)
		# NOKEY: they have ended since.
		[[ $said = OK || $said = NOKEY ]] ||
			bail "bucket $1 cannot be moved from node $2 to node $3: $said"
	done
	for number in "$3" "$2"; do
		must "$number" cluster setslot "$slot" node "$(id_of "$3")"
	done
}

is_master() { # NODE
	node "$1" info replication | grep -q '^role:master'
}

# fail_over REPLICA: it takes the place of its master, which the test has killed.
fail_over() {
	must "$1" cluster failover takeover
	eventually is_master "$1" || bail "node $1 does not take its master's place"
}
