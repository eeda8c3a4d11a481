#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Fences that another build attached, with another map ABI or with other maps under the same number:
# the refusal says how to keep the rules, and `attach ... replace` says what is gone.
#
#   outside                      inside
#   out0  ------- wire 0 ------  ${port[0]}

# shellcheck disable=SC2154 # the builds, from lib.sh
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

make_network 1
dev=${port[0]}
abi=$("$shipped" --version | sed 's/.*map ABI \([0-9]*\).*/\1/')
require "$quick" "$alien" "$drifted"

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
it, since 'ringfence attach $dev replace' makes an empty fence: its rules, windows and counters are gone, and \
'ringfence apply FILE dev $dev' brings back the rules" ringfence $command
done
is "$(program_on 0)" "$id" 'a fence of another map ABI stays'
build=$quick
does 'attach replace says that rules, windows and counters are gone' \
	"$dev: attached in native mode, fence '$dev'
$dev: replaced its fence of map ABI 999
$dev: its rules, windows and counters are gone; nothing is dropped now; \
'ringfence apply FILE' brings back rules that 'ringfence save' kept" ringfence attach "$dev" replace
is "$(ringfence save | grep -c '^limit')" 0 'attach replace makes a fence without rules'
does 'apply brings back what save kept' 'in force: 1 limit, 0 allowed and 0 denied prefixes, newcomers off' \
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
