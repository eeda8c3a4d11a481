# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Wires for floods: veth pairs from a namespace of the sender to namespaces of the receivers, each
# with a dedicated NAPI thread, whose CPU time is measured. The common part of the live benchmarks;
# source lib.sh before this file.
#
#   GENERATOR_CPU=0 RECEIVER_CPU=1

# shellcheck disable=SC2154 # run, scratch: of lib.sh
generator_cpu=${GENERATOR_CPU:-0}
receiver_cpu=${RECEIVER_CPU:-1}
mac=02:00:00:00:00 # of all wires: :01 outside, :02 inside
queues=1 wires=0

# A separate bpffs: its pins disappear with it, and are invisible to other runs.
with_bpffs() { # NAMESPACE SHELL_COMMAND
	within "$1" unshare --mount sh -c "mount -t bpf bpf /sys/fs/bpf && $2"
}

attach_floor() { # NAMESPACE OBJECT PROGRAM
	with_bpffs "$1" "bpftool prog loadall build/tests/$2.bpf.o /sys/fs/bpf/floor &&
		ip link set $dev xdpdrv pinned /sys/fs/bpf/floor/$3"
}

attach_bare_drop() {
	attach_floor bare_drop floor bare_drop
}

# lib.sh disables it in each namespace.
enable_ipv6() { # NAMESPACE
	within "$1" sh -c "cd /proc/sys/net/ipv6/conf && echo 0 >all/disable_ipv6 && echo 0 >$dev/disable_ipv6" ||
		bail 'cannot enable IPv6'
}

# The receiving side of the wire has a separate NAPI instance, with or without a program, run by a
# thread.
add_wire_to() { # NAMESPACE
	wires=$((wires + 1)) # numbers are not reused, because a namespace disappears some time after it was deleted
	dev=${run}w$wires
	add_namespace "$1"
	ip link add "out$wires" netns "rf-test-$$-outside" address "$mac:01" \
		numtxqueues "$queues" numrxqueues "$queues" type veth \
		peer name "$dev" netns "rf-test-$$-$1" address "$mac:02" \
		numtxqueues "$queues" numrxqueues "$queues" || bail "cannot make wire $wires"
	[ "${family:-4}" = 4 ] || enable_ipv6 "$1"
	outside ip link set "out$wires" up
	within "$1" ip link set "$dev" up
	within "$1" ethtool -K "$dev" gro on
	run_napi_in_threads "$1" "$dev"
}

run_napi_in_threads() { # NAMESPACE DEV
	# /sys must show the namespace's devices only for this command
	ip netns exec "rf-test-$$-$1" sh -c "echo 1 >/sys/class/net/$2/threaded" ||
		bail 'NAPI cannot run as a thread, which needs Linux 5.12'
}

# Puts the threads on their CPUs, with priority over other processes. In $real_time they also do not
# wait for the end of a tick, in which a ring fills: the sender is as fast as they are. Frames that a
# CPU sends enter the queue of its number; the other CPU receives them.
pin_threads() {
	local one cpu=$receiver_cpu

	threads=''
	while read -r one; do
		{ taskset -pc "$cpu" "$one" && renice -n -20 -p "$one"; } >"$scratch/log" 2>&1 ||
			bail "$dev: cannot pin its thread: $(<"$scratch/log")"
		[ -z "${real_time-}" ] || chrt -f -p 1 "$one" || bail "$dev: its thread cannot run in real time"
		threads=${threads:+$threads,}$one
		cpu=$generator_cpu
	done < <(grep -sHx "napi/$dev-.*" /proc/[0-9]*/comm | sort -t- -k2n | cut -d/ -f3)
}
