#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The server's functions on a replica, on a promoted replica, on a master without replicas, and in a
# cluster. It creates network namespaces (root).

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || bail 'it makes network namespaces; run it as root'

is_replicated() { # NAME MASTER: the replica has received all writes of the master
	to_engine "$1" info replication | grep -q '^master_link_status:up' &&
		[ "$(to_engine "$1" get 'rf:{0}:hosts' | cksum)" = "$(to_engine "$2" get 'rf:{0}:hosts' | cksum)" ]
}

is_cluster() {
	to_engine cluster cluster info | grep -q '^cluster_state:ok'
}

add_namespace engines
where=(nsenter --net="/run/netns/rf-test-$$-engines")
"${where[@]}" ip link set lo up

# ---- a replica ----

start_engine master --port 6379 --repl-diskless-sync-delay 0
master=$started_pid
engine=master
load_timed_library master >/dev/null
start_engine replica --port 6380 --replicaof 127.0.0.1 6379
replica=$started_pid
check 'the server grants' until_it_gives
is "$(reports 3 192.0.2.1/32 1 0 0 60)" 'done 60' 'a host has a share'
check 'the replica follows' eventually is_replicated replica master
engine=replica
matches "$(beats 3)" 'error: READONLY .*' 'a replica accepts no heartbeat'
matches "$(reports 3 192.0.2.1/32 2 0 60 90)" 'error: READONLY .*' 'a replica accepts no report'
engine=master
check 'the master still grants' until_it_gives
check 'the replica follows again' eventually is_replicated replica master
stop KILL "$master"
to_engine replica replicaof no one >/dev/null
engine=replica
is "$(beats 3)" 'done learning' 'a promoted replica recovers, and retains the slot'
is "$(reports 3 192.0.2.1/32 2 0 60 90)" 'done 60' 'during recovery it grants nothing, and records shares'
check 'then it grants' until_it_gives
is "$(reports 3 192.0.2.1/32 3 0 60 90)" 'done 90' 'a host is granted its request again'

# ---- a master without replicas ----

to_engine replica config set min-replicas-to-write 1 >/dev/null
matches "$(beats 3)" 'error: NOREPLICAS .*' 'a master without replicas accepts no heartbeat'
stop KILL "$replica"

# ---- a cluster ----

start_engine cluster --port 6381 --cluster-enabled yes
load_timed_library cluster >/dev/null
to_engine cluster cluster addslotsrange 0 16383 >/dev/null
check 'a cluster of one node is up' eventually is_cluster
engine=cluster
rm "$scratch/joined.3"
check 'in a cluster the functions find all keys of a bucket' until_it_gives
is "$(reports 3 192.0.2.1/32 1 0 0 60 192.0.2.2/32 2 0 0 60)" $'done 60\ndone 60' 'in a cluster reports are taken'
matches "$(to_engine cluster fcall rf_beat 2 'rf:{0}:h:3' 'rf:{1}:hosts' x)" 'CROSSSLOT .*' 'keys of two buckets are refused'
done_testing
