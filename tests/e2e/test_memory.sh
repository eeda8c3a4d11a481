#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The kernel memory of a fence: attach and status print the same size as the kernel does for the
# maps, and with default sizes it is less than 53 MiB.

# shellcheck disable=SC2317 # functions are called by check, does and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

DEFAULT_MAX=$((53 << 20))
UNNAMED_MAX=$((64 << 10)) # read-only data and a scratch map: a page or so, and 168 bytes a CPU

make_network 1
dev=${port[0]}

memlock() { # pinned PATH, or id ID: what the kernel says of a map
	bpftool -j map show "$@" | jq .bytes_memlock
}

# The kernel's data about all maps of the program, and about the tries that they contain.
in_kernel() {
	local map path bytes=0

	for map in $(bpftool -j prog show id "$(program_on 0)" | jq '.map_ids[]'); do
		bytes=$((bytes + $(memlock id "$map")))
	done
	for path in "$pins/$dev"/prefixes[46]_*; do
		[ -e "$path" ] && bytes=$((bytes + $(memlock pinned "$path")))
	done
	echo "$bytes"
}

said() { # FILTER, of status
	ringfence status --json dev "${port[0]}" | jq -r ".memory | $1"
}

in_words() { # BYTES
	awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'
}

# agrees NAME: the sum lacks only the maps without a name, and the size of each named map is right.
agrees() {
	local kernel sum map wrong=''

	kernel=$(in_kernel) sum=$(said .bytes)
	if [ "$sum" -le "$kernel" ] && [ "$((kernel - sum))" -le "$UNNAMED_MAX" ]; then
		pass "$1: status has the memory that the kernel counts"
	else
		fail "$1: status has the memory that the kernel counts"
		explain 'bytes of status, and of the kernel' "$sum $kernel"
	fi
	is "$(said '[.maps[]] | add')" "$sum" "$1: status has the sum of its maps"
	for map in $(said '.maps | keys[] | select(startswith("prefixes") | not)'); do
		[ "$(said ".maps.$map")" = "$(memlock pinned "$pins/$dev/$map")" ] || wrong+=" $map"
	done
	is "$wrong" '' "$1: status has each map's memory as the kernel counts it"
	matches "$(ringfence status | unwrapped | head -n 1)" ".*, $(in_words "$sum") of memory" \
		"$1: status prints the memory in MiB"
}

# takes NAME WORD…: attach prints the same size as status.
takes() {
	local line

	line=$(ringfence attach "$dev" "${@:2}" | sed -n 2p)
	is "$line" "fence '$dev' takes $(in_words "$(said .bytes)") of memory" "$1: attach prints the memory"
	agrees "$1"
}

takes 'by default'
kernel=$(in_kernel)
check 'by default: a fence takes less than 53 MiB' test "$kernel" -lt "$DEFAULT_MAX"
is "$(ringfence attach "$dev" | grep -c memory)" 0 'attach that has nothing to do prints no memory'
sum=$(said .bytes)

seq 3000 | awk '{ printf "deny add 10.%d.%d.0/24\ndeny add 2001:db8:%x::/48\n", $1 / 256, $1 % 256, $1 }' \
	>"$scratch/rules"
ringfence apply "$scratch/rules" >"$scratch/log" || bail 'cannot apply'
agrees 'with prefixes'
check 'with prefixes: a fence takes more memory' test "$(said .bytes)" -gt $((sum + 3000 * 2 * 40))
ringfence apply "$scratch/rules" confirm 60s >"$scratch/log"
agrees 'with prefixes in both banks'
ringfence confirm >"$scratch/log"
is "$(ringfence attach "$dev" fence "$dev" --json | jq -c '.interfaces[].memory')" null \
	'attach --json has no memory for a fence that was there'
ringfence detach "$dev" >"$scratch/log"

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
