#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What an upgrade of the package does with fences of a past map ABI that run beside other programs
# in a chain: they keep their rules, and the other programs stay.
#
#   outside                      inside
#   out0  ------- wire 0 ------  eth0
#   out1  ------- wire 1 ------  eth1

# shellcheck disable=SC2016 # dollars for eval
# shellcheck disable=SC2317 # functions are called by check and does
# shellcheck source=tests/e2e/private.sh
[ "${RF_PRIVATE_MOUNTS-}" = made ] || source "$(dirname "$0")/../e2e/private.sh" # a guest needs none
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

# libxdp's pins outlive an interface, so its programs are removed before the interface.
leave() {
	inside xdp-loader unload -a eth0 >"$scratch/log" 2>&1
	inside xdp-loader unload -a eth1 >"$scratch/log" 2>&1
	cleanup
}
trap leave EXIT

port=([0]=eth0 [1]=eth1)
make_network 2
mkdir -p /etc/ringfence "$scratch/bin" "$scratch/tmp"
ln -s "$PWD/build/ringfence" "$scratch/bin/ringfence"

# Somebody else's program.
foreign=$PWD/foreign # built elsewhere, for a guest
if [ ! -d "$foreign" ]; then
	foreign=$scratch
	tests/e2e/foreign.sh "$foreign" || bail "cannot compile somebody else's programs"
fi

beside() { # INTERFACE
	inside xdp-loader load -m native "$1" "$foreign/foreign.o" >"$scratch/log" 2>&1 ||
		bail "xdp-loader: $(<"$scratch/log")"
}

fill() { # STATE INTERFACE…
	inside "build/tests/past/fill$past" "build/tests/past/abi$past.bpf.o" "$1" chain "${@:2}" 2>"$scratch/log" ||
		bail "cannot attach a fence of map ABI $past in a chain: $(tail -n 3 "$scratch/log")"
}

rules() { # INTERFACE
	ringfence save dev "$1" 2>&1 | sed -E '/^#/d; s/ for [0-9]+[hms]*.*/ for TIME/'
}

chain() { # WIRE
	ringfence status --json dev "${port[$1]}" | jq -r '.interfaces[] |
		select(.name == "'"${port[$1]}"'") | .chain | join(" ")'
}

upgrade() { # INTERFACE…
	inside env PATH="$scratch/bin:$PATH" TMPDIR="$scratch/tmp" packaging/upgrade-fences "$@" \
		>"$scratch/stdout" 2>"$scratch/said"
}

beside eth0
name=$(bpftool -j prog show id "$(program_on 0)" | jq -r .name)
if [ "$name" != xdp_dispatcher ]; then
	pass 'fences in chains are carried over # SKIP xdp-loader makes no dispatcher on this kernel'
	done_testing
fi

echo 'ATTACH_OPTIONS=chain' | tee /etc/ringfence/eth0.options >/etc/ringfence/eth1.options
gone='the fence has a new map ABI; its rules are in force again, windows and counters are gone'
for frozen in tests/past/abi*.h; do
	past=${frozen//[!0-9]/}
	fill settled eth0
	before=$(rules eth0)
	is "$(wc -l <<<"$before")" "$((past < 8 ? 10 : 15))" "map ABI $past: save reads the rules of a fence in a chain"
	check "map ABI $past: a fence in a chain is upgraded" upgrade eth0
	is "$(<"$scratch/said")" "ringfence: eth0: $gone" "map ABI $past: the upgrade says what is gone"
	is "$(rules eth0)" "$before" "map ABI $past: the rules of a fence in a chain are in force after the upgrade"
	is "$(chain 0)" 'ringfence foreign' "map ABI $past: the other program of the chain stays, and the fence runs before it"
	is "$(ringfence status --json dev eth0 | jq .this_build)" true "map ABI $past: the program is of this build"
	is "$(ls "$scratch/tmp")" '' "map ABI $past: no file is left over"
	ringfence detach eth0 >"$scratch/log"
done

fill trial eth0
check 'a fence in a chain with rules on trial is upgraded' upgrade eth0
is "$(rules eth0)" "$before" 'the rules on trial of a fence in a chain do not become permanent'
is "$(chain 0)" 'ringfence foreign' 'with rules on trial the other program of the chain stays'
rm -r "$scratch"/tmp/*
ringfence detach eth0 >"$scratch/log"

# One fence in two chains.
beside eth1
echo 'ATTACH_OPTIONS=fence edge chain' | tee /etc/ringfence/eth0.options >/etc/ringfence/eth1.options
fill settled eth0 eth1
check 'a fence in two chains is upgraded' upgrade eth0 eth1
is "$(interfaces 0 | sort)" $'eth0: native, ringfence\neth1: native, ringfence' \
	'after the upgrade one fence is in both chains'
is "$(chain 0), $(chain 1)" 'ringfence foreign, ringfence foreign' 'the other programs of both chains stay'
is "$(rules eth1)" "$before" 'the rules of a fence in two chains are in force after the upgrade'
ringfence limit add more rate 5/1h exact dev eth1 >"$scratch/log"
deliver 0 src=203.0.114.1,count=20,proto=udp
is "$(sum "$received" | cut -d' ' -f1)" 5 'a limit of the carried-over fence drops in a chain'
done_testing
