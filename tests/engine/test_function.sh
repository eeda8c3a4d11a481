#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The server's functions reply and store the same as the model in tests/fleet/model/: a real server
# runs them, and each of many random calls is compared. The same is done with mutants of them, each
# of which must differ. All of them read the time from two keys; this is the only line that differs
# from the released library. CALLS is the number of compared calls; for a mutant four times as many,
# up to the first difference. Needs no privilege.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

CALLS=${CALLS:-40000}
clock="redis.call('TIME')"
steered=$scratch/steered.lua

# compared FILE CALLS: the result of the comparison; fails on a difference.
compared() {
	build/tests/engine/compare "$scratch/engine" "$1" "$2"
}

# mutant NAME FUNCTION COMMAND: changes that function by a sed -E command.
mutant() {
	local file=$scratch/mutant.lua output

	sed -E "/^(local )?function $2\\(/,/^end/ { $3 }" "$steered" >"$file"
	if cmp -s "$steered" "$file"; then
		fail "mutant: $1: cannot be made, $2 reads otherwise now"
		return
	fi
	if output=$(compared "$file" $((CALLS * 4)) 2>&1); then
		fail "mutant survives: $1"
	else
		check "mutant is caught: $1" grep -q '^call [0-9]* differs: ' <<<"$output"
		echo "# $output" | head -n 1
	fi
}

# at_least WORD COUNT: the minimum number of these among the calls.
at_least() {
	local count

	count=$(grep -o " $1 [0-9]*" <<<"$summary" | grep -o '[0-9]*')
	check "of the calls compared, at least one in 100 is: $1" test "${count:-0}" -ge "$((CALLS / 100))"
}

start_engine engine
sed "s/$clock/redis.call('MGET', 'now:s', 'now:us')/" "$library" >"$steered"
is "$(diff "$library" "$steered" | grep -c '^[<>]')" 2 'the library under test differs from the shipped one in one line'
is "$(grep -c "$clock" "$library")" 1 'the shipped library reads the time in one place'
check 'the shipped library is loaded' test "$(load_library engine)" = ringfence

summary=$(compared "$steered" "$CALLS") && result=0 || result=$?
is "$result" 0 'replies and stored data are the same as the model'
echo "# $summary"
for word in beats learning 'done' old stranger garbage grown lowered gone foreign sums; do
	at_least "$word"
done
forgotten=$(grep -o 'forgotten [0-9]*' <<<"$summary" | grep -o '[0-9]*')
check 'the calls include removals of hosts' test "${forgotten:-0}" -ge "$((CALLS / 2000))"

mutant 'no recovery' note 's/call\.may_grow/true/'
mutant 'a host grows before it is complete' answer_each 's/host\.is_complete and //'
mutant 'recovery starts only with a new run' has_missed 's/return .*/return ledger.run ~= call.run or/; s/call\.now \+ quiet < ledger\.newest/false/'
mutant 'recovery stops before all are complete' all_are_complete 's/return false/return true/'
mutant 'recovery stops before G' end_learning 's/learned < call\.grace then/learned < 1 then/'
mutant 'a new run is not detected' has_missed 's/ledger\.run ~= call\.run/false/'
mutant 'a claim falls by an older report' note 's/record\.seq and \(seq .*>= 2147483647/false/'
mutant 'the pool is not respected' note 's/pool > sum and pool - sum or 0/pool/'
mutant 'used does not count' note 's/max\(share, used - first\)/share/'
mutant 'nonces are not compared' join 's/host\.nonce ~= call\.nonce then return/false then return/'
mutant 'any host with the slot is a member' is_member 's/host\.nonce == call\.nonce and//'
mutant 'a previous membership counts' is_member 's/host\.joined == call\.joined and/true and/'
mutant 'a slot is taken during recovery' may_take 's/return not .*/return true/'
mutant 'claims of silent hosts count' heard_of 's/ledger\.newest - host\.heard >= silent/false/'
mutant 'claims of the slot'"'"'s host before count' heard_of 's/host\.generation ~= whose % 65536/false/'
mutant 'claims are void after G' count_claims 's/call\.grace \+ window/call.grace/'
mutant 'a live host is removed' time_left 's/return max\(.*/return 0/'
mutant 'a host is removed after G' time_left 's/call\.grace \+ ledger\.window/call.grace/'
mutant 'a silent host is not removed' forget 's/host\.nonce = NONE//'
mutant 'a removal is not written' forget 's/ledger\.is_rewritten = true//'
mutant 'a sum includes the claims of a removed host' forget 's/begin_epoch\(ledger, call\)//'
mutant 'a host with a different key can join' is_foreign 's/return true end/return false end/'
mutant 'a key remains after its hosts' is_foreign 's/ and not is_silent\(ledger, host, call\)//'
mutant 'a new key starts without recovery' take_key 's/if not ledger.is_learning then .*//'
mutant 'hosts of the previous key remain members' take_key 's/host\.nonce = NONE//'
mutant 'a contest never stops' note 's/record\.contested = 0$/record.contested = record.contested/'
mutant 'a contested source is not recorded' note 's/record\.contested = newest .*/record.contested = 0/'
mutant 'hosts with failed requests do not share' count_claims 's/ or in_vain//'
mutant 'a record expires too soon' note 's/min.window . SPARE, KEPT./SPARE/'
mutant 'a requested record expires too soon' note 's/in_vain or record\.sharers > 0/false/'
mutant 'a record without requests remains' note 's/life = LEFT/life = IDLE/'
mutant 'the hosts expire too soon' write_ledger 's/KEPT \+ call/call/'
mutant 'a slot can call for another slot' read_call 's/keys\[1\] ~= bucket\.slot \.\. slot/false/'
mutant 'any key is a record' read_record 's/sub\(key, 1, #call\.records\) == call\.records/true/'
mutant 'a key of another type is an empty record' get 's/then return nil end/then return "" end/'
mutant 'an invalid record is an empty one' read_record 's/if not head then return nil end/if not head then raw, head = NONE, 8 end/'
mutant 'a cached sum is used after a host is silent' recall 's/ledger\.newest - oldest >= call\.grace \+ window/false/'
mutant 'a cached sum is used after a slot has a new host' recall 's/epoch ~= ledger\.epoch/false/'
mutant 'a sum includes the previous claim' recall 's/sum = sum - claim/sum = sum/'
mutant 'a match inside a claim is found' find_claim 's/\(at - LONG_SIZE - 1\) % CLAIM_SIZE == 0/true/'
mutant 'a sum includes packets from before W' add_units 's/\(cell - i\) \* total\.size \+ window > now/true/'
mutant 'packets count from the time of the report' add_units 's/floor\(min\(from, now\)/floor((now)/'
mutant 'a future time gets a separate cell' add_units 's/min\(from, now\)/from/'
mutant 'cells do not move on' add_units 's/total\[i - \(cell - total\.cell\)\]/total[i]/'
mutant 'cells of a different server count' read_total 's/numbers\[1\] == ledger\.run/true/; s/numbers\[2\] == ledger\.learns_from/true/'
mutant 'cells of a different W count' read_total 's/numbers\[4\] == window/true/'
mutant 'a sum of a stranger counts' note_sum 's/if not call\.is_member then/if false then/'
mutant 'a sum is of any W' note_sum 's/window < 1 or window > call\.window/false/'
mutant 'any key is a sum' read_total 's/sub\(key, 1, #call\.records\) == call\.records/true/'
mutant 'a record is a lost sum' read_total "s/sub\(key, -4\) == ':sum'/true/; s/ and #raw ~= TOTAL_SIZE/ and #raw > TOTAL_SIZE/; s/raw == '' then/#raw < TOTAL_SIZE then/"
mutant 'an invalid sum is an empty one' read_total "s/ and #raw ~= TOTAL_SIZE/ and #raw > TOTAL_SIZE/; s/raw == '' then/#raw < TOTAL_SIZE then/"
mutant 'a sum expires too soon' note_sum 's/window \+ total\.size/window/'
done_testing
