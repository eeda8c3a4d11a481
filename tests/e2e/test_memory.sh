#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The kernel memory of a fence: attach and status print the same size as the kernel for the maps,
# and with default sizes it is less than 56 MiB. For lists, of which the kernel counts a third, they
# print the memory charged to the control group that loads them.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

DEFAULT_MAX=$((56 << 20))
UNNAMED_MAX=$((64 << 10)) # read-only data and a scratch map: a page or so, and 168 bytes a CPU

make_network 1
dev=${port[0]}

memlock() { # pinned PATH, or id ID: the kernel's information about a map
	bpftool -j map show "$@" | jq .bytes_memlock
}

# The kernel's data about all maps of the program, without the tries that they contain.
in_kernel() {
	local ids

	ids=$(bpftool -j prog show id "$(program_on 0)" | jq -c .map_ids)
	bpftool -j map show | jq --argjson ids "$ids" \
		'[.[] | select(.id as $id | $ids | index($id)).bytes_memlock] | add'
}

# Queried once for all comparisons.
ask_status() {
	ringfence status --json dev "${port[0]}" | jq .memory >"$scratch/memory"
}

said() { # FILTER, of the memory in status
	jq -r "$1" "$scratch/memory"
}

# The tries in status.
tries() {
	echo $(($(said '.maps | .prefixes4 + .prefixes6') - $(memlock pinned "$pins/$dev/prefixes4") - \
		$(memlock pinned "$pins/$dev/prefixes6")))
}

in_words() { # BYTES
	awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'
}

# agrees NAME: the sum lacks only the maps without a name, and the size of each named map is right.
agrees() {
	local kernel sum all map bytes wrong=''

	ask_status
	kernel=$(in_kernel) all=$(said .bytes) sum=$((all - $(tries)))
	if [ "$sum" -le "$kernel" ] && [ "$((kernel - sum))" -le "$UNNAMED_MAX" ]; then
		pass "$1: status has the memory that the kernel counts"
	else
		fail "$1: status has the memory that the kernel counts"
		explain 'bytes of status, and of the kernel' "$sum $kernel"
	fi
	is "$(said '[.maps[]] | add')" "$all" "$1: status has the sum of its maps"
	while read -r map bytes; do
		[ "$bytes" = "$(memlock pinned "$pins/$dev/$map")" ] || wrong+=" $map"
	done < <(said '.maps | to_entries[] | select(.key | startswith("prefixes") | not) | "\(.key) \(.value)"')
	is "$wrong" '' "$1: status has each map's memory as the kernel counts it"
	matches "$(ringfence status | unwrapped | head -n 1)" ".*, $(in_words "$all") of memory" \
		"$1: status prints the memory in MiB"
}

# takes NAME WORD…: attach prints the same size as status.
takes() {
	local line

	line=$(ringfence attach "$dev" "${@:2}" | sed -n 2p)
	ask_status
	is "$line" "fence '$dev' uses $(in_words "$(said .bytes)") of memory" "$1: attach prints the memory"
	agrees "$1"
}

takes 'by default'
kernel=$(in_kernel)
check 'by default: a fence takes less than 56 MiB' test "$kernel" -lt "$DEFAULT_MAX"
is "$(ringfence attach "$dev" | grep -c memory)" 0 'attach that has nothing to do prints no memory'
sum=$(said .bytes)

seq 3000 | awk '{ printf "deny add 10.%d.%d.0/24\ndeny add 2001:db8:%x::/48\n", $1 / 256, $1 % 256, $1 }' \
	>"$scratch/rules"
ringfence apply "$scratch/rules" >"$scratch/log" || bail 'cannot apply'
agrees 'with prefixes'
check 'with prefixes: a fence takes more memory' test "$(said .bytes)" -gt $((sum + 3000 * 2 * 40))
ringfence apply "$scratch/rules" confirm 1h >"$scratch/log"
agrees 'with prefixes in both banks'
ringfence confirm >"$scratch/log"
is "$(ringfence attach "$dev" fence "$dev" --json | jq -c '.interfaces[].memory')" null \
	'attach --json has no memory for a fence that was there'

# ---- lists ----

# The kernel memory that is charged to a separate control group, v1 or v2; its file.
group=/sys/fs/cgroup/memory/ringfence-$run charged=memory.kmem.usage_in_bytes
[ -d /sys/fs/cgroup/memory ] || group=/sys/fs/cgroup/ringfence-$run charged=memory.current
mkdir "$group" 2>"$scratch/log"

# load FILE: adds the prefixes to the deny list, in that group.
load() {
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" \
		nsenter --net="/run/netns/rf-test-$$-inside" "$build" deny load "$1" dev "$dev" >"$scratch/log"
}

is_free() { # of flushed memory, slightly later
	[ "$(<"$group/$charged")" -lt 1000000 ]
}

# takes_what_is_charged NAME FILE: the size of a list in status is within 3 % of the charged memory.
takes_what_is_charged() {
	local wanted got

	ringfence deny flush >"$scratch/log"
	eventually is_free
	load "$2" || bail 'cannot load a list'
	ask_status
	wanted=$(<"$group/$charged") got=$(tries)
	if [ "$wanted" -gt 10000000 ] && [ $((got * 100)) -ge $((wanted * 97)) ] &&
		[ $((got * 100)) -le $((wanted * 103)) ]; then
		pass "$1: status has the memory that is charged"
	else
		fail "$1: status has the memory that is charged"
		explain 'bytes of status, and charged' "$got $wanted"
	fi
}

ringfence apply - >"$scratch/log" <<<'newcomers off'
if [ -e "$group/$charged" ]; then
	awk 'BEGIN { srand(1); for (i = 0; i < 100000; i++) printf "%d.%d.%d.%d\n", 1 + rand() * 220,
		rand() * 256, rand() * 256, rand() * 256 }' | sort -u >"$scratch/v4"
	awk 'BEGIN { srand(1); for (i = 0; i < 100000; i++) printf "2001:db8:%x:%x::/64\n", rand() * 65536,
		rand() * 65536 }' | sort -u >"$scratch/v6"
	takes_what_is_charged 'IPv4 addresses' "$scratch/v4"
	takes_what_is_charged 'IPv6 networks' "$scratch/v6"
	ringfence deny flush >"$scratch/log"
	eventually rmdir "$group" 2>"$scratch/log"
else
	pass 'lists: status has the memory that is charged # SKIP no control group of memory can be made'
fi
ringfence detach "$dev" >"$scratch/log"

use "$quick" # the maps are the same
cpus=$(getconf _NPROCESSORS_CONF)
takes 'with few sources' sources $((512 * cpus))
check 'with few sources: a fence takes less memory' test "$(said .bytes)" -lt "$sum"
ringfence detach "$dev" >"$scratch/log"
takes 'with many sources' sources 300000
check 'with many sources: a fence takes more memory' test "$(said .bytes)" -gt "$sum"
ringfence detach "$dev" >"$scratch/log"
takes 'without leases' leases 0
check 'without leases: a fence takes 4 MiB less memory' test "$((sum - $(said .bytes)))" -gt 4000000
ringfence detach "$dev" >"$scratch/log"

done_testing
