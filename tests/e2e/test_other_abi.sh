#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fences that a different build attached, with another map ABI, with other maps under the same
# number, or before the first release: the refusal explains how to save the rules or remove the
# fence, and `attach ... replace` reports what was removed.
#
#   outside                      inside
#   out0  ------- wire 0 ------  ${port[0]}

# shellcheck disable=SC2154 # the builds, from lib.sh
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
dev=${port[0]}
abi=$("$shipped" --version | sed 's/.*map ABI \([0-9]*\).*/\1/')
require "$quick" "$alien" "$drifted" "$early"

# ---- another map ABI ----

inside "$alien" attach "$dev" >"$scratch/log"
inside "$alien" limit add any rate 7/1s >"$scratch/log"
inside "$alien" save >"$scratch/rules"
id=$(program_on 0)
build=$shipped
for command in save 'save confirmed' status "attach $dev" 'limit add more rate 1/1s'; do
	# shellcheck disable=SC2086 # words of a command
	fails "$command of another map ABI names the other version's save" 1 "ringfence: $dev: its fence has \
map ABI 999, this ringfence has $abi; first run 'ringfence save dev $dev > FILE' of the version that attached \
it, since 'ringfence attach $dev replace' creates an empty fence without the rules, windows and counters, and \
'ringfence apply FILE dev $dev' restores the rules" ringfence $command
done
is "$(program_on 0)" "$id" 'a fence of another map ABI stays'
build=$quick
does 'attach replace says that rules, windows and counters are gone' \
	"$dev: attached in native mode, fence '$dev'
$dev: replaced its fence of map ABI 999
$dev: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" ringfence attach "$dev" replace
is "$(ringfence save | grep -c '^limit')" 0 'attach replace makes a fence without rules'
does 'apply brings back what save kept' 'applied: 1 limit, 0 allowed and 0 denied prefixes, newcomers off' \
	ringfence apply "$scratch/rules"
ringfence detach "$dev" >"$scratch/log"

inside "$alien" attach "$dev" >"$scratch/log"
is "$(ringfence attach --json "$dev" replace | jq -c '.interfaces[] | [.replaced, .replaced_abi, .lost]')" \
	'["its fence of map ABI 999",999,["rules","windows","counters"]]' 'attach replace says in JSON what is gone'
is "$(ringfence attach --json "$dev" replace | jq -c '.interfaces[] | [.replaced, .replaced_abi, .lost]')" \
	'[null,null,[]]' 'attach of what is attached says in JSON that nothing is gone'
ringfence detach "$dev" >"$scratch/log"
# ---- the same number, and other maps ----

inside "$drifted" attach "$dev" >"$scratch/log"
inside "$drifted" limit add any rate 7/1s >"$scratch/log"
inside "$drifted" save >"$scratch/rules"
build=$shipped
refusal="ringfence: $dev: its fence has map ABI $abi as this ringfence, but the map 'config' differs \
(kind 2, keys of 4 bytes, 1 values of [0-9]+): another build attached it; first run 'ringfence save' of that \
build, since 'ringfence attach $dev replace' creates an empty fence without the rules, windows and counters; \
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
$dev: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" ringfence attach "$dev" replace
ringfence apply "$scratch/rules" >"$scratch/log"
is "$(ringfence save | grep -c '^limit add any rate 7/1s')" 1 'apply brings back what the other build saved'
ringfence detach "$dev" >"$scratch/log"
inside "$drifted" attach "$dev" >"$scratch/log"
does 'detach removes a fence with other maps' "$dev: detached" ringfence detach "$dev"

# ---- before the first release ----

inside "$early" attach "$dev" >"$scratch/log"
id=$(program_on 0)
build=$shipped
refusal="a ringfence from before the first release attached its fence, which this version cannot read; \
'ringfence detach $dev' removes it, 'ringfence attach $dev replace' puts an empty fence in its place"
for command in save 'save confirmed' "attach $dev" status "status dev $dev" stats top 'deny list' 'limit list' \
	'limit add more rate 1/1s' 'show 192.0.2.1' confirm "adopt $dev" 'deny add 192.0.2.1'; do
	# shellcheck disable=SC2086 # words of a command
	fails "$command of a fence from before the first release says so, and how to remove it" 1 \
		"ringfence: $dev: $refusal" ringfence $command
done
fails 'so it does without CAP_SYS_ADMIN, by the pins alone' 1 "ringfence: $dev: $refusal" \
	inside setpriv --bounding-set=-all,+bpf,+net_admin --inh-caps=-all "$shipped" status dev "$dev"
matches "$(ringfence doctor "$dev" | tr -s '[:space:]' ' ')" ".*$dev: $refusal.*" 'doctor says so'
is "$(program_on 0)" "$id" 'the fence stays'
build=$quick
does 'attach replace puts an empty fence in its place' \
	"$dev: attached in native mode, fence '$dev'
$dev: replaced its fence from before the first release
$dev: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" ringfence attach "$dev" replace
ringfence detach "$dev" >"$scratch/log"

inside "$early" attach "$dev" >"$scratch/log"
is "$(ringfence attach --json "$dev" replace | jq -c '.interfaces[] | [.replaced, .replaced_abi, .lost]')" \
	'["its fence from before the first release",null,["rules","windows","counters"]]' \
	'attach replace says in JSON what is gone'
ringfence detach "$dev" >"$scratch/log"

inside "$early" attach "$dev" >"$scratch/log"
does 'detach removes a fence from before the first release' "$dev: detached" ringfence detach "$dev"
is "$(program_on 0)" none 'and its program'
fails 'and its pins' 1 "ringfence: $dev: no fence attached; run 'ringfence attach $dev' or 'ip link set dev $dev xdp obj …'" \
	ringfence detach "$dev"

port[1]=${run}p1
add_wire 1
inside "$early" attach "${port[1]}" >"$scratch/log"
outside ip link del out1
add_wire 1
does 'attach succeeds over pins from before the first release' \
	"${port[1]}: attached in native mode, fence '${port[1]}'
${port[1]}: replaced the pins of a fence from before the first release
${port[1]}: its rules, windows and counters were removed; it drops no packets \
now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote" ringfence attach "${port[1]}"
ringfence detach "${port[1]}" >"$scratch/log"
done_testing
