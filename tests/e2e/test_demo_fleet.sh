#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What `make demo-fleet` shows: that its sums hold, and that it leaves nothing behind, also when it is
# interrupted.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || bail 'it makes network namespaces and loads programs; run it as root'

# In private mounts: its network namespaces and pins vanish with its last process.
begin_demo() {
	env --unset=RF_PRIVATE_MOUNTS tests/demo/fleet.sh >"$scratch/shown" 2>"$scratch/wrong" &
	demo=$!
	started[$demo]=1
	eventually has_begun || bail "the demo does not begin: $(cat "$scratch/wrong")"
	mounts=$(readlink "/proc/$demo/ns/mnt")
}

left() {
	find /proc/[0-9]*/ns/mnt -lname "$mounts" 2>/dev/null
}

has_begun() {
	grep -q '^Three hosts' "$scratch/shown"
}

begin_demo
check 'it runs apart from others' test "$mounts" != "$(readlink /proc/self/ns/mnt)"
wait "$demo"
is $? 0 'the demo of a fleet holds'
unset "started[$demo]"
is "$(cat "$scratch/wrong")" '' 'nothing is wrong'
is "$(grep -c expected "$scratch/shown")" 5 'it judges five times'
matches "$(sed -n 's/^each host for itself: 3 L *\([0-9]*\) .*/\1/p' "$scratch/shown")" '[456][0-9]{2}' \
	'hosts by themselves pass more than two times L'
is "$(left)" '' 'nothing is left of it'

begin_demo
stop TERM "$demo"
is $? 143 'a signal ends it'
is "$(left)" '' 'and nothing is left of that'
done_testing
