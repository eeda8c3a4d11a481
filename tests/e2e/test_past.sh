#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fences that a build of another map ABI attached: `save` reads the rules of past ABIs, refusals name
# it as the first step, and `attach ... replace` says what is gone. The fences of past ABIs are those
# of tests/past, frozen as they were.
#
#   outside                      inside
#   out0  ------- wire 0 ------  ${port[0]}

# shellcheck disable=SC2154 # the builds, from lib.sh
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
dev=${port[0]}
abi=$("$shipped" --version | sed 's/.*map ABI \([0-9]*\).*/\1/')
mapfile -t abis < <(printf '%s\n' tests/past/abi*.h | sed 's/[^0-9]//g' | sort -n)
require "$quick" "$alien" "$drifted"

fill() { # ABI STATE
	inside "build/tests/past/fill$1" "build/tests/past/abi$1.bpf.o" "$2" "$dev" 2>"$scratch/log" ||
		bail "cannot attach a fence of map ABI $1: $(tail -n 3 "$scratch/log")"
}

take_off() {
	inside ip link set dev "$dev" xdp off
}

# The rules of tests/past, in words: those that all ABIs have, and those that ABI 8 brought.
cat >"$scratch/shapes" <<'end'
limit add ntp rate 250k/1s cells 16 match udp sport 123,11211 length 468-65535
limit add web rate 250k/1s cells 16 match tcp dport 443 to 192.0.2.0/24,2001:db8:2::/48
limit add resets rate 250k/1s cells 16 flags RST/RST
limit add noflags rate 250k/1s cells 16 match tcp dport 8000 sport 53 to 192.0.2.80,2001:db8:2::/48 length 60-100 flags NONE/ALL
limit add stray rate 2mbit algorithm sliding cells 16 match other
end
cat >"$scratch/words" <<'end'
limit add any rate 20k/1s
limit add partner rate 200k/1s from 198.51.100.0/24,2001:db8::/32
limit add synack rate 100/10s match tcp syn dport 80,443,8000-8010
limit add resolver rate 500/1s cells 8 edge weighted match udp dport 53 per /24 per6 /48 shadow exact
limit add login rate 5/1m algorithm log match proto 47 ban 10m
limit add icmp6 rate 1250k/1s bytes burst 1M match icmp count rejected
allow add 203.0.113.0/24
deny add 192.0.2.66 for 40000s
deny add 2001:db8:66::/48
newcomers rate 10k/1s then aggregate
end

# What save prints, without names, dates and running times.
saves() {
	ringfence save "$@" 2>&1 | sed -E "s/^(# rules \(format 1\) of the fence ').*' on [0-9-]{10} [0-9:]{8};/\1NAME' on DATE;/
s/ (another|back|passed for) [0-9.hms ]+(:| ago|,)/ \1 TIME\2/; s/ for [0-9]+[hms]*.*/ for TIME/"
}

# Prints what save prints of the rules of tests/past for that ABI.
words_of() { # ABI
	: >"$scratch/rules"
	[ "$1" -lt 8 ] || cat "$scratch/shapes" >"$scratch/rules"
	cat "$scratch/words" >>"$scratch/rules"
	ringfence apply "$scratch/rules" >"$scratch/log" || bail "cannot apply the rules: $(<"$scratch/log")"
	saves
}

build=$quick
ringfence attach "$dev" >"$scratch/log"
declare -A words
for past in "${abis[@]}"; do
	words[$past]=$(words_of "$past" | tail -n +2)
done
head=$(saves | head -n 1)
is "$(wc -l <<<"${words[7]}") $(wc -l <<<"${words[8]}")" '10 15' 'save prints as many rules as there are'
ringfence detach "$dev" >"$scratch/log"

# Of the numbers that a release has, these are the last two before the present one.
while read -r past; do
	check "map ABI $past of a release is frozen, and so tested" test -e "tests/past/abi$past.h"
done < <(awk -v abi="$abi" '/, released$/ && $3 + 0 < abi { print $3 + 0 }' tests/prog/layouts | tail -n 2)
check 'some map ABI is frozen' test "${#abis[@]}" -gt 0
build=$shipped
for past in "${abis[@]}"; do
	saved=${words[$past]}
	fill "$past" settled
	is "$(saves dev "$dev")" "$head"$'\n'"$saved" \
		"map ABI $past: save prints all rules"
	matches "$(ringfence save | grep '^deny add 192')" 'deny add 192\.0\.2\.66 for (11h.*|39[0-9]{3}s|40000s)' \
		"map ABI $past: save prints the time that an entry has left, without dev"
	fails "map ABI $past: status names save as the first step" 1 "ringfence: $dev: its fence has map \
ABI $past, this ringfence has $abi; first run 'ringfence save dev $dev > FILE', since 'ringfence attach \
$dev replace' makes an empty fence: its rules, windows and counters are gone, and 'ringfence apply FILE dev \
$dev' brings back the rules" ringfence status
	id=$(program_on 0)
	ringfence limit add more rate 1/1s >"$scratch/log" 2>&1 && fail "map ABI $past: no rule can be added"
	is "$(program_on 0)" "$id" "map ABI $past: the fence stays"
	ringfence save >"$scratch/rules"
	matches "$(ringfence check "$scratch/rules" 2>&1)" "$scratch/rules: fine: .*" \
		"map ABI $past: check takes what save printed"
	take_off

	fill "$past" trial
	is "$(saves)" "$head
# on trial for another TIME: these are the new rules, not those that return without 'confirm'
limit add new rate 7/1s
newcomers off" "map ABI $past: save prints the rules on trial, and says so"
	is "$(saves confirmed)" "$head
# on trial for another TIME: these are not the new rules, but those that return without 'confirm'
$saved" "map ABI $past: save confirmed prints the rules before the trial, and says so"
	take_off
	fill "$past" fell_back
	is "$(saves)" "$head
# the rules on trial were not confirmed: these are the old rules, which came back TIME ago
$saved" "map ABI $past: save prints the old rules after a trial, and says so"
	is "$(saves confirmed)" "$(saves)" "map ABI $past: save confirmed prints the same after a trial"
	take_off
	fill "$past" open
	is "$(saves confirmed)" "$head
# the fence is on trial for another TIME: without 'confirm' everything passes then, so there are no rules
newcomers off" "map ABI $past: save confirmed prints no rules where the attach is on trial"
	take_off
	fill "$past" fell_open
	is "$(saves confirmed)" "$head
# the attach was not confirmed: everything has passed for TIME, so there are no rules
newcomers off" "map ABI $past: save confirmed prints no rules where the attach was not confirmed"
	take_off
done

# ---- from an old fence to a new one ----

build=$quick
for past in "${abis[0]}" "${abis[-1]}"; do
	fill "$past" settled
	ringfence save >"$scratch/rules"
	fails "map ABI $past: attach names save as the first step" 1 "ringfence: $dev: its fence \
has map ABI $past, this ringfence has $abi; first run 'ringfence save dev $dev > FILE', since 'ringfence \
attach $dev replace' makes an empty fence: its rules, windows and counters are gone, and 'ringfence apply \
FILE dev $dev' brings back the rules" ringfence attach "$dev"
	does "map ABI $past: attach replace says that rules, windows and counters are gone" \
		"$dev: attached in native mode, fence '$dev'
$dev: replaced its fence of map ABI $past
$dev: its rules, windows and counters are gone; nothing is dropped now; \
'ringfence apply FILE' brings back rules that 'ringfence save' kept" ringfence attach "$dev" replace
	is "$(ringfence save | grep -c '^limit')" 0 "map ABI $past: attach replace makes a fence without rules"
	does "map ABI $past: apply brings back what save kept" \
		"in force: $(grep -c ^limit <<<"${words[$past]}") limits, 1 allowed and 2 denied prefixes, newcomers aggregate" \
		ringfence apply "$scratch/rules"
	is "$(saves | tail -n +2)" "${words[$past]}" "map ABI $past: the rules are in force again"
	ringfence detach "$dev" >"$scratch/log"

	fill "$past" settled
	is "$(ringfence attach --json "$dev" replace | jq -c '.interfaces[] | [.replaced, .replaced_abi, .lost]')" \
		"[\"its fence of map ABI $past\",$past,[\"rules\",\"windows\",\"counters\"]]" \
		"map ABI $past: attach replace says in JSON what is gone"
	is "$(ringfence attach --json "$dev" replace | jq -c '.interfaces[] | [.replaced, .replaced_abi, .lost]')" \
		'[null,null,[]]' "map ABI $past: attach of what is attached says in JSON that nothing is gone"
	ringfence detach "$dev" >"$scratch/log"
done

# ---- an ABI that this build does not know ----

inside "$alien" attach "$dev" >"$scratch/log"
build=$shipped
fails 'save refuses an unknown map ABI, and says whose save reads it' 1 "ringfence: $dev: its fence has \
map ABI 999, this ringfence has $abi; first run 'ringfence save' of the ringfence that attached it, since \
'ringfence attach $dev replace' makes an empty fence: its rules, windows and counters are gone" \
	ringfence save
inside "$alien" detach "$dev" >"$scratch/log"

# ---- the same number, and other maps ----

inside "$drifted" attach "$dev" >"$scratch/log"
inside "$drifted" limit add any rate 7/1s >"$scratch/log"
inside "$drifted" save >"$scratch/rules"
build=$shipped
refusal="ringfence: $dev: its fence has map ABI $abi as this ringfence, but the map 'config' differs \
(kind 2, keys of 4 bytes, 1 values of [0-9]+): another build attached it; first run 'ringfence save' of that \
build, since 'ringfence attach $dev replace' makes an empty fence: its rules, windows and counters are gone; \
'ringfence detach $dev' removes it"
id=$(program_on 0)
for command in save 'save confirmed' status 'limit list' 'limit add more rate 1/1s' "attach $dev"; do
	# shellcheck disable=SC2086 # words of a command
	matches "$(describe ringfence $command)" "exit 1"$'\n\n'"stderr: ${refusal//[()]/.}" \
		"$command of a fence with other maps of the same number names the build's save"
done
is "$(program_on 0)" "$id" 'the fence with other maps stays'
is "$(inside "$drifted" save | grep -c '^limit add any rate 7/1s')" 1 'and the build that attached it reads its rules'
does 'attach replace puts a fence in the place of one with other maps' \
	"$dev: attached in native mode, fence '$dev'
$dev: replaced its fence of map ABI $abi
$dev: its rules, windows and counters are gone; nothing is dropped now; \
'ringfence apply FILE' brings back rules that 'ringfence save' kept" ringfence attach "$dev" replace
ringfence apply "$scratch/rules" >"$scratch/log"
is "$(ringfence save | grep -c '^limit add any rate 7/1s')" 1 'apply brings back what the other build saved'
ringfence detach "$dev" >"$scratch/log"
inside "$drifted" attach "$dev" >"$scratch/log"
does 'detach removes a fence with other maps' "$dev: detached" ringfence detach "$dev"
done_testing
