#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The effect of a package upgrade on fences: a fence with this map ABI is upgraded in place, with
# the options of its unit, and a fence with a different map ABI retains its program.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars for eval
# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/../e2e/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

port=([0]=eth0 [1]=eth1)
make_network 2
require "$newer" "$alien"
mkdir -p "$scratch/bin"
ln -s "$PWD/build/ringfence" "$scratch/bin/ringfence"
in_place="upgraded in place, fence 'FENCE'; windows and counters are preserved"

upgrade() { # INTERFACE…
	inside env PATH="$scratch/bin:$PATH" packaging/upgrade-fences "$@"
}

# Attaches the previous build, with a limit that is used up.
before() { # WORD…
	inside "$newer" attach "$@" >"$scratch/log" || bail "cannot attach: $(<"$scratch/log")"
	ringfence limit add any rate 5/1h exact dev eth0 >"$scratch/log"
	deliver 0 src=198.51.100.1,count=20,proto=udp
}

is_upgraded() { # NAME
	is "$(stats 0 .packets.dropped)" 15 "$1: counters are retained"
	deliver 0 src=198.51.100.1,count=20,proto=udp
	is "$(sum "$received" | cut -d' ' -f1)" 0 "$1: a used-up window remains used up"
	is "$(ringfence status --json dev eth0 | jq .this_build)" true "$1: the program is of this build"
}

detach() { # INTERFACE…
	ringfence detach "$@" >"$scratch/log" || bail "cannot detach: $(<"$scratch/log")"
}

# ---- the same map ABI ----

before eth0
does 'a fence of this map ABI is upgraded in place' "eth0: ${in_place/FENCE/eth0}" upgrade eth0
is_upgraded 'an upgrade in place'
does 'a fence of this build is not changed' "eth0: already attached, fence 'eth0'; nothing to do" upgrade eth0
detach eth0

before eth0 mode generic
does 'a fence in generic mode is upgraded in place' "eth0: ${in_place/FENCE/eth0}" upgrade eth0
is "$(interfaces 0)" 'eth0: generic, ringfence' 'an upgrade retains the mode'
is_upgraded 'an upgrade in generic mode'
detach eth0

before eth0 eth1 fence edge
does 'a fence on two interfaces is upgraded in place' "eth0: ${in_place/FENCE/edge}
eth1: already attached, fence 'edge'; nothing to do" upgrade eth0 eth1
is "$(interfaces 0 | sort)" $'eth0: native, ringfence\neth1: native, ringfence' \
	'after the upgrade one fence is on both interfaces'
is_upgraded 'an upgrade of a fence on two interfaces'
detach eth0 eth1

# ---- another map ABI ----

inside "$alien" attach eth0 >"$scratch/log"
inside "$newer" attach eth1 >"$scratch/log"
id=$(program_on 0)
check 'an upgrade fails if a fence cannot be upgraded' \
	eval '! upgrade eth9 eth0 eth1 >"$scratch/done" 2>"$scratch/said"'
is "$(program_on 0)" "$id" 'a fence of a different map ABI retains its program'
is "$(sed -n 's/: the fence keeps its old program$//p' "$scratch/said" | xargs)" 'ringfence: eth9 ringfence: eth0' \
	'the upgrade names each fence that was not upgraded'
matches "$(<"$scratch/said")" ".*ringfence: eth0: its fence has map ABI 999, this ringfence has .*'ringfence save .*'ringfence attach eth0 replace'.*" \
	'and how to replace it'
is "$(<"$scratch/done")" "eth1: ${in_place/FENCE/eth1}" 'other fences are upgraded all the same'
inside "$alien" detach eth0 >"$scratch/log"
detach eth1
done_testing
