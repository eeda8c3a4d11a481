#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The server's functions for bans, in a real server: accepted and distributed bans, their maximum
# number, their expiry, and invalid input. Mutants of them must be detected. Needs no privilege.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

key='rf:{m}:bans'

# little NUMBER BYTES: as hex, the lowest byte first.
little() {
	printf "%0$((2 * $2))x" "$1" | fold -w 2 | tac | tr -d '\n'
}

unhex() { # HEX
	printf '%b' "$(fold -w 2 <<<"$1" | sed 's/^/\\x/' | tr -d '\n')"
}

# ban SLOT MS VERSION LENGTH ADDRESS-HEX: the reply, as a number or an error.
ban() {
	unhex "$(little "$1" 4)$(little "$2" 4)$(printf '%02x%02x' "$3" "$4")$5" |
		to_engine engine -x fcall rf_ban 2 "rf:{m}:h:${slot_of_key-$1}" "$key" | tr -d '\n' |
		od -An -tx1 | tr -d ' \n' | sed -E '/^..$/!s/.*/refused/; s/^0(.)$/\1/'
}

host4() { # SLOT MS N: a ban of 192.0.2.N
	ban "$1" "$2" 4 32 "c00002$(printf '%02x' "$3")"
}

# bans [STAMP]: SLOT LEFT VERSION/LENGTH of each ban after it; LEFT is coarse enough to be
# independent of the load: ended, moment, minutes, or most of an hour.
bans() {
	unhex "$(little "${1-0}" 8)" | to_engine engine -x fcall rf_bans 1 "$key" | head -c -1 | od -An -v -tu1 -w1 |
		awk 'function number(at, size,   sum) { while (size--) sum = sum * 256 + byte[at + size]; return sum }
			{ byte[NR] = $1 + 0 }
			END {
				for (at = 9; at <= NR; at += 16 + size) {
					size = byte[at + 14] == 4 ? 4 : 16
					left = number(at + 10, 4)
					says = !left ? "ended" : left <= 60000 ? "moment" : left <= 600000 ? "minutes" : "hour"
					printf "%d %s %d/%d\n", number(at + 8, 2), says, byte[at + 14], byte[at + 15]
				}
			}'
}

newest() {
	unhex "$(little 0 8)" | to_engine engine -x fcall rf_bans 1 "$key" | od -An -N8 -tu8 | tr -d ' '
}

rules() {
	is "$(bans)" '' 'no bans at the start'
	is "$(host4 3 600000 1)" 0 'a ban is accepted'
	is "$(bans)" '3 minutes 4/32' 'and returned, with its remaining time'
	stamp=$(newest)
	is "$(bans "$stamp")" '' 'it is not returned again after its stamp'
	is "$(ban 4 3600000 6 48 20010db8000100000000000000000000)" 0 'a ban of IPv6 is accepted'
	is "$(bans "$stamp")" '4 hour 6/48' 'only the second ban is after the first stamp'
	is "$(host4 3 60000 1)" 0 'the same prefix by the same host'
	is "$(bans)" $'4 hour 6/48\n3 moment 4/32' 'replaces the first one, with a new stamp'
	is "$(host4 5 60000 1)" 0 'the same prefix by a different host'
	is "$(bans | wc -l)" 3 'is a separate ban'
	is "$(host4 3 0 1)" 0 'a host lifts its ban'
	is "$(bans | sort)" $'3 ended 4/32\n4 hour 6/48\n5 moment 4/32' 'that is returned, and lifts no other ban'
	is "$(host4 3 0 1)" 3 'it is lifted once'
	is "$(host4 6 0 1)" 3 'a host cannot lift the ban of another host'
	is "$(host4 3 3600001 2)" refused 'more than an hour is refused'
	is "$(ban 3 1000 4 23 c0000200)" refused 'so is a /23'
	is "$(ban 3 1000 6 47 20010db8000000000000000000000000)" refused 'so is a /47'
	is "$(ban 3 1000 4 33 c0000200)" refused 'so is a /33'
	is "$(ban 3 1000 5 32 c0000200)" refused 'so is an unknown version'
	is "$(ban 3 1000 4 32 c00002)" refused 'so is half an address'
	is "$(slot_of_key=4 host4 3 1000 9)" refused 'so is the key of another slot'
	is "$(host4 1024 1000 9)" refused 'so is a slot that does not exist'
	is "$(bans | wc -l)" 3 'refused bans change nothing'
	is "$(host4 7 1 9)" 0 'a short ban is accepted'
	sleep 0.05
	is "$(bans | grep -c '^7 ')" 0 'and is not returned after it has expired'
	to_engine engine set "$key" rubbish >/dev/null
	is "$(bans)" '' 'an invalid value has no bans'
	is "$(host4 3 600000 1)" 0 'and is overwritten'
	unhex 'ffffffffffffff00' | to_engine engine -x set "$key" >/dev/null
	is "$(host4 3 600000 1)$(bans)" '03 minutes 4/32' 'a stamp in the far future is invalid'
	check 'and is replaced' test "$(newest)" -lt 100000000000000
	to_engine engine del "$key" >/dev/null
	to_engine engine lpush "$key" x >/dev/null
	is "$(bans)" '' 'a key of a different type has no bans'
	is "$(host4 3 2000 1)" 0 'and is overwritten as well'
	check 'the key expires with its last ban' test "$(to_engine engine pttl "$key")" -le 2001
}

bounds() {
	for ((i = 0; i < 128; i++)); do host4 8 600000 "$i"; done >"$scratch/many"
	is "$(tr -d 0 <"$scratch/many")" '' 'a host can have 128'
	is "$(host4 8 600000 200)" 1 'but no more'
	is "$(host4 8 600000 5)" 0 'but can renew a ban that it has'
	is "$(host4 9 600000 1)" 0 'other hosts can still ban'
}

start_engine engine
load_library engine >/dev/null
rules
bounds

# Mutants: the checks run in a separate shell, with a different library.
mutant() { # NAME FUNCTION COMMAND [CHECKS]
	sed -E "/^local function $2\\(/,/^end/ { $3 }" "$library" >"$scratch/mutant.lua"
	if cmp -s "$library" "$scratch/mutant.lua"; then
		fail "mutant: $1: does not apply, $2 has changed"
		return
	fi
	to_engine engine flushall >/dev/null
	load_library engine "$scratch/mutant.lua" >/dev/null
	check "mutant is detected: $1" grep -q '^not ok' <("${4-rules}" 2>&1)
}

mutant 'a lifted ban is lost' rf_ban 's/ban\.ended and before\.untl or //'
mutant 'any host lifts a ban' take_out 's/ban\.slot == like\.slot and //'
mutant 'no bound for a host' may_ban 's/own >= BANS_EACH and FULL or //' bounds
mutant 'lifting without a ban is recorded' rf_ban '/NO_BAN/d'
mutant 'expired bans are returned' read_bans 's/if ban\.untl > time then(.*) end/\1/'
mutant 'all bans are returned each time' rf_bans 's/ban\.stamp > from/true/'
mutant 'the key need not be of the slot' read_ban_call "s/keys\[1\] ~= 'rf:\{m\}:h:' \.\. slot or//"
mutant 'wide prefixes pass' is_prefix 's/length >= LEAST\[version\] and //'
mutant 'long times pass' read_ban_call 's/time > BAN_MOST or //'
mutant 'a stamp in the far future is accepted' read_bans '/newest > time/d'
done_testing
