#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What an upgrade of the package does with fences: a fence of this map ABI is upgraded in place, one
# of a past ABI keeps its rules, and one that cannot be read keeps its program.
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
mkdir -p /etc/ringfence "$scratch/bin" "$scratch/tmp"
ln -s "$PWD/build/ringfence" "$scratch/bin/ringfence"
mapfile -t abis < <(printf '%s\n' tests/past/abi*.h | sed 's/[^0-9]//g' | sort -n | tail -n 2)

upgrade() { # INTERFACE…
	inside env PATH="$scratch/bin:$PATH" TMPDIR="$scratch/tmp" packaging/upgrade-fences "$@"
}

fill() { # STATE INTERFACE…
	inside "build/tests/past/fill$past" "build/tests/past/abi$past.bpf.o" "$@" 2>"$scratch/log" ||
		bail "cannot attach a fence of map ABI $past: $(tail -n 3 "$scratch/log")"
}

rules() { # INTERFACE
	ringfence save dev "$1" | sed -E '/^#/d; s/ for [0-9]+[hms]*.*/ for TIME/'
}

# ---- the same map ABI ----

inside "$newer" attach eth0 >"$scratch/log"
ringfence limit add any rate 5/1h exact dev eth0
deliver 0 src=198.51.100.1,count=20,proto=udp
does 'a fence of this map ABI is upgraded in place' \
	"eth0: upgraded in place, fence 'eth0'; windows and counters are kept" upgrade eth0
is "$(stats 0 .packets.dropped)" 15 'an upgrade in place keeps counters'
does 'a fence of this build stays' "eth0: already attached, fence 'eth0'; nothing to do" upgrade eth0
ringfence detach eth0 >"$scratch/log"

# ---- a past map ABI ----

for past in "${abis[@]}"; do
	fill settled eth0
	before=$(rules eth0)
	does "map ABI $past: a fence keeps its rules" '' \
		eval 'upgrade eth0 2>"$scratch/said"'
	is "$(<"$scratch/said")" \
		"ringfence: eth0: the fence has a new map ABI; its rules are in force again, windows and counters are gone" \
		"map ABI $past: an upgrade says what is gone"
	is "$(rules eth0)" "$before" "map ABI $past: the rules are in force after the upgrade"
	is "$(ringfence status --json dev eth0 | jq .this_build)" true "map ABI $past: after the upgrade the program is of this build"
	is "$(ls "$scratch/tmp")" '' "map ABI $past: no file is left over"
	ringfence detach eth0 >"$scratch/log"
done

# What was on trial when the package was upgraded: the file that the upgrade leaves over.
unconfirmed() {
	sed '/^#/d' "$scratch"/tmp/*/eth0.unconfirmed
}
again="'ringfence apply $scratch/tmp/[^ ]*/eth0.unconfirmed confirm TIME dev eth0' puts them on trial again"
gone='ringfence: eth0: the fence has a new map ABI; windows and counters are gone'

fill trial eth0
check 'a fence with rules on trial is upgraded' eval 'upgrade eth0 2>"$scratch/said"'
matches "$(<"$scratch/said")" "$gone
ringfence: eth0: its rules on trial were not confirmed, so the rules before them are in force; $again" \
	'the upgrade says that the rules on trial were not confirmed'
is "$(rules eth0)" "$before" 'the rules on trial do not become permanent: those before them are in force'
is "$(ringfence status --json dev eth0 | jq -r .trial)" null 'after the upgrade nothing is on trial'
is "$(unconfirmed)" $'limit add new rate 7/1s\nnewcomers off' 'the rules that were on trial are in a file'
does 'they can be put on trial again' 'in force: 1 limit, 0 allowed and 0 denied prefixes, newcomers off; on trial for 1m: '"'ringfence confirm' keeps it" ringfence apply "$scratch"/tmp/*/eth0.unconfirmed confirm 60s dev eth0
rm -r "$scratch"/tmp/*
ringfence detach eth0 >"$scratch/log"

for state in open fell_open; do
	fill "$state" eth0
	check "a fence whose attach is not confirmed is upgraded ($state)" eval 'upgrade eth0 2>"$scratch/said"'
	matches "$(<"$scratch/said")" "$gone
ringfence: eth0: its attach was not confirmed, so it has no rules now, and everything passes; $again" \
		"the upgrade says that the attach was not confirmed ($state)"
	is "$(rules eth0)" 'newcomers off' "after it everything passes, as without 'confirm' ($state)"
	is "$(unconfirmed | sed -E 's/ for [0-9]+[hms]*.*/ for TIME/')" "$before" "its rules are in a file ($state)"
	rm -r "$scratch"/tmp/*
	ringfence detach eth0 >"$scratch/log"
done

fill fell_back eth0
check 'a fence with the old rules after a trial is upgraded' eval 'upgrade eth0 2>"$scratch/said"'
matches "$(<"$scratch/said")" "${gone/windows/its rules are in force again, windows}
ringfence: eth0: the rules on trial were not confirmed: these are the old rules, .*" \
	'the upgrade says that the old rules had come back'
is "$(rules eth0)" "$before" 'the old rules after a trial are in force after the upgrade'
is "$(ls "$scratch/tmp")" '' 'the upgrade after a trial leaves no file over'
ringfence detach eth0 >"$scratch/log"

echo "ATTACH_OPTIONS='mode generic'" >/etc/ringfence/eth0.options
fill settled eth0
check 'a fence of a unit with options is upgraded' eval 'upgrade eth0 2>"$scratch/said"'
is "$(interfaces 0)" 'eth0: generic, ringfence' "the upgrade attaches with the unit's options"
rm /etc/ringfence/eth0.options
ringfence detach eth0 >"$scratch/log"

echo 'ATTACH_OPTIONS=fence edge' | tee /etc/ringfence/eth0.options >/etc/ringfence/eth1.options
fill settled eth0 eth1
check 'a fence on two interfaces is upgraded' eval 'upgrade eth0 eth1 2>"$scratch/said"'
is "$(interfaces 0 | sort)" $'eth0: native, ringfence\neth1: native, ringfence' \
	'after the upgrade one fence is on both interfaces'
is "$(rules eth1)" "$before" 'the rules of a fence on two interfaces are in force after the upgrade'
rm /etc/ringfence/*.options
for wire in 0 1; do
	ringfence detach "eth$wire" >"$scratch/log"
done

# ---- what cannot be carried over ----

inside "$alien" attach eth0 >"$scratch/log"
id=$(program_on 0)
fill settled eth1
check 'an upgrade fails where a fence cannot be carried over' eval '! upgrade eth9 eth0 eth1 2>"$scratch/said"'
is "$(program_on 0)" "$id" 'a fence whose rules cannot be read keeps its program'
is "$(grep -c 'the fence keeps its old program' "$scratch/said")" 2 'the upgrade names each fence that stays as it is'
is "$(rules eth1)" "$before" 'other fences are upgraded all the same'
inside "$alien" detach eth0 >"$scratch/log"
ringfence detach eth1 >"$scratch/log"
done_testing
