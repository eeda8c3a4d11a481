#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rules that challenge newcomers: how they are written, saved and compared; that they are refused
# where SYN cookies are not always used; and the data that the program has about the host.
# test_challenge.sh sends packets.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}
#   out1  ---------- wire 1 ----------->  ${port[1]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

saved() {
	ringfence save | sed 1d
}

# newcomers WORDS…: of the rule, after `then`.
newcomers() {
	ringfence newcomers rate 10k/1s 'then' "$@"
}

# syncookies VALUE: inside.
syncookies() {
	inside sysctl -qw "net.ipv4.tcp_syncookies=$1" || bail "cannot set tcp_syncookies to $1"
}

# config FIELD: a value of the fence's configuration.
config() {
	bpftool -j map dump pinned "$pins/${port[0]}/config" | jq -c "[.. | .$1? // empty] | first"
}

# macs: the Ethernet addresses that the data path knows, in their order.
macs() {
	local value mac byte

	for value in $(config own_mac | jq '.[]'); do
		mac=''
		for byte in 0 8 16 24 32 40; do
			printf -v mac '%s%s%02x' "$mac" "${mac:+:}" $((value >> byte & 255))
		done
		[ "$value" = 0 ] || echo "$mac"
	done
}

make_network 2
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"
guard='newcomers rate 10k/1s'
needs="newcomers: 'then challenge' requires net.ipv4.tcp_syncookies=2, for IPv6 as well, and it is"
fix="run 'sysctl -w net.ipv4.tcp_syncookies=2', or write 'then drop except established'"

# ---- without SYN cookies ----

before=$(saved)
printf '%s\n' 'limit add any rate 100/1s' "$guard then challenge" >"$scratch/rules"
for value in 0 1; do
	syncookies $value
	fails "a challenge is refused while tcp_syncookies is $value" 1 "ringfence: $needs $value here; $fix" \
		newcomers challenge
	fails "apply of a challenge is refused while tcp_syncookies is $value" 1 \
		"ringfence: $needs $value here; $fix" ringfence apply "$scratch/rules"
	fails "batch of a challenge is refused while tcp_syncookies is $value" 1 \
		"ringfence: $needs $value here; $fix" ringfence batch "$scratch/rules"
done
is "$(saved)" "$before" 'refused challenges change no rules'
is "$(config is_examining)" 0 'refused challenges examine no newcomer'
is "$(newcomers challenge --json 2>/dev/null | jq -r .error)" \
	"$needs 1 here; $fix" 'the refusal is an error in JSON as well'
is "$(ringfence check "$scratch/rules" --json | jq -r .newcomers)" challenge \
	'check accepts a challenge regardless of tcp_syncookies'
newcomers drop except established
is "$(saved)" "$guard then drop except established" \
	"'then drop except established' does not depend on tcp_syncookies"
is "$(config is_examining)" 1 "'then drop except established' examines newcomers"

# ---- with them ----

syncookies 2
newcomers challenge
is "$(saved)" "$guard then challenge" 'a challenge is saved without its defaults'
is "$(config is_examining)" 1 'a challenge examines newcomers'
newcomers challenge dns 5353,53 answers 5k/1s
is "$(saved)" "$guard then challenge answers 5k/1s dns 53,5353" 'the options of a challenge are saved'
is "$(ringfence status | grep ^newcomers)" 'newcomers: 10k/1s, then challenge answers 5k/1s dns 53,5353' \
	'status prints the options of a challenge'
is "$(ringfence status --json dev "${port[0]}" | jq -r '.newcomers | [.then, .except_established, .answers, .answers_ms, .dns[]] | @csv')" \
	'"challenge",true,5000,1000,53,5353' 'status --json has the options of a challenge'
ringfence save >"$scratch/saved"
fails 'diff of the saved rules finds no difference' 0 '' ringfence diff "$scratch/saved"
sed 's/ dns .*/ dns none/' "$scratch/saved" >"$scratch/other"
is "$(ringfence diff "$scratch/other" | xargs)" \
	"~ $guard then challenge answers 5k/1s dns 53,5353 → $guard then challenge answers 5k/1s dns none" \
	'diff compares the ports of DNS'
sed 's/ answers .* dns/ dns/' "$scratch/saved" >"$scratch/other"
is "$(ringfence diff "$scratch/other" --json | jq -r '.newcomers | .before, .after')" \
	$'rate 10k/1s then challenge answers 5k/1s dns 53,5353\nrate 10k/1s then challenge dns 53,5353' \
	'diff --json compares the rate of answers'

# Later changes of such rules do not depend on the sysctl: a list must be able to change.
syncookies 1
check 'with a challenge active, a limit can be added while tcp_syncookies is 1' \
	ringfence limit add any rate 100/1s
check 'with a challenge active, a source can be denied while tcp_syncookies is 1' \
	ringfence deny add 203.0.113.7
check 'with a challenge active, its rules can be applied again while tcp_syncookies is 1' \
	ringfence apply "$scratch/saved"
ringfence newcomers off
fails 'after another rule, a challenge is refused again' 1 "ringfence: $needs 1 here; $fix" \
	newcomers challenge
is "$(config is_examining)" 0 "'newcomers off' examines no newcomer"
syncookies 2

# ---- confirm and revert ----

newcomers challenge
ringfence save | sed '$s/.*/newcomers off/' >"$scratch/off"
ringfence apply "$scratch/off" confirm 1h >"$scratch/log"
is "$(config is_examining) $(saved | tail -n 1)" '1 newcomers off' \
	'while rules without a challenge are unconfirmed, newcomers can still be examined'
ringfence revert >"$scratch/log"
is "$(config is_examining) $(saved | tail -n 1)" "1 $guard then challenge" 'revert restores the challenge'
ringfence apply "$scratch/off" confirm 1h >"$scratch/log"
ringfence confirm >"$scratch/log"
is "$(config is_examining) $(saved | tail -n 1)" '0 newcomers off' 'confirm ends the challenge'

# ---- the host's Ethernet addresses ----

newcomers challenge
is "$(macs | sort)" $'02:00:00:00:00:02\n02:00:00:00:01:02' 'the data path knows the addresses of all interfaces'
inside ip link add link "${port[1]}" name tap address 02:00:00:00:03:03 type macvtap || bail 'cannot add a macvtap'
inside ip link add link "${port[1]}" name moved address 02:00:00:00:03:04 type macvlan || bail 'cannot add a macvlan'
ringfence deny add 203.0.113.9
is "$(macs | sort)" $'02:00:00:00:00:02\n02:00:00:00:01:02\n02:00:00:00:03:04' \
	'the address of a macvtap is not among them, that of a macvlan is'
inside ip link set dev moved netns "rf-test-$$-outside" || bail 'cannot move a macvlan'
ringfence deny del 203.0.113.9
is "$(macs | sort)" $'02:00:00:00:00:02\n02:00:00:00:01:02' \
	'the address of a macvlan that was moved to another network namespace is not among them'
outside ip link del moved
inside ip link del tap
inside ip link add link "${port[1]}" name tap type macvtap mode passthru || bail 'cannot add a macvtap'
ringfence deny add 203.0.113.9
is "$(macs)" 02:00:00:00:00:02 'nor is that of an interface whose packets a macvtap receives'
ringfence deny del 203.0.113.9
inside ip link del tap
for i in {10..49}; do
	inside ip link add "one$i" type veth peer name "other$i" || bail 'cannot add interfaces'
done
inside ip link add bridge address 02:00:00:00:03:01 type bridge || bail 'cannot add a bridge'
inside ip link add link bridge name macvlan address 02:00:00:00:03:02 type macvlan || bail 'cannot add a macvlan'
ringfence detach "${port[0]}" >"$scratch/log"
inside ip link set dev "${port[1]}" master bridge
ringfence attach "${port[1]}" fence "${port[0]}" >"$scratch/log"
ringfence apply "$scratch/rules" >"$scratch/log"
is "$(macs | wc -l) $(config own_macs)" '64 64' 'the data path knows 64 addresses at most'
is "$(macs | head -n 3 | sort)" $'02:00:00:00:01:02\n02:00:00:00:03:01\n02:00:00:00:03:02' \
	'the addresses of the attached interface, of its bridge and of a macvlan on that come first'
inside ip link set dev "${port[1]}" address 02:00:00:00:04:02
ringfence deny add 203.0.113.8
is "$(macs | grep -c 02:00:00:00:04:02)" 1 'a command that changes the fence reads the addresses again'
for version in 4 6; do
	inside sysctl -qw "net.ipv$version.conf.macvlan.forwarding=1"
	ringfence deny add 203.0.113.9
	is "$(macs | grep -c 02:00:00:00:03:02)" 0 "an address at which only IPv$version packets are forwarded is not among them"
	inside sysctl -qw "net.ipv$version.conf.${port[1]}.forwarding=1" "net.ipv$version.conf.bridge.forwarding=1"
	ringfence deny del 203.0.113.9
	is "$(macs | grep -c 02:00:00:00:03:02)" 1 "it is, if the attached interface also forwards IPv$version packets"
done
inside ip link set dev "${port[0]}" address 02:00:00:00:04:03
ringfence attach "${port[0]}" fence "${port[0]}" >"$scratch/log"
is "$(macs | head -n 4 | grep -c 02:00:00:00:04:03)" 1 'attach of another interface reads the addresses again'

done_testing
