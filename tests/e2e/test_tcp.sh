#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# TCP under a limit in bytes: one connection reaches the rate of the default algorithm, and never
# more than its bound. docs/performance.md has the results for the others.
#
#   outside                      inside
#   out0  ------- wire 0 ------  ${port[0]}, with the fence
#   192.0.2.1                    192.0.2.2
#
# A busy machine can only make the connection slower, so it is repeated until it reaches the rate.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

rate=1250000 # bytes/s, 10 Mbit/s
warmup=1 seconds=5

make_network 1
outside ip address add 192.0.2.1/24 dev out0
inside ip address add 192.0.2.2/24 dev "${port[0]}"
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"

# Sends by TCP with that congestion control; into $share, the reached percentage of the rate, with
# headers, and into $again, the retransmitted percentage.
run_tcp() { # CONTROL
	local goodput part

	read -r goodput part < <(outside build/tests/tcp/flow "/run/netns/rf-test-$$-inside" 192.0.2.2 "$1" $warmup $seconds) ||
		bail "the connection failed"
	share=$((goodput * 1514 * 100 / 1448 / rate))
	again=$(awk -v part="$part" 'BEGIN { printf "%.0f", part * 100 }')
}

reaches() { # CONTROL PERCENT
	run_tcp "$1"
	[ "$share" -ge "$2" ]
}

read -r kernel_controls </proc/sys/net/ipv4/tcp_available_congestion_control
for control in cubic bbr; do
	[[ " $kernel_controls " == *" $control "* ]] || continue
	ringfence limit add bulk rate 10mbit
	check "one connection reaches 95 % of a limit in bytes: $control" eventually reaches "$control" 95
	echo "# token bucket, $control: $share % of the rate, $again % sent twice"
	ringfence limit set bulk rate 10mbit algorithm sliding >"$scratch/log"
	run_tcp "$control"
	echo "# sliding, $control: $share % of the rate, $again % sent twice"
	ringfence limit del bulk
done

# By the clock of this shell, which starts before the connection does and stops after it.
begun=$(date +%s%N)
ringfence limit add bulk rate 10mbit
run_tcp cubic
passed=$(stats 0 '.limits[] | select(.name == "bulk").bytes.passed')
took=$((($(date +%s%N) - begun) / 1000))
most=$((rate + rate * took / 1000000 + 1))
check "a limit in bytes passes its burst and what flows in, at most" test "$passed" -le "$most" -a "$passed" -gt 0

done_testing
