#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The engine's functions in a real engine, by its own clock: what is refused, what expires, and that
# nobody is given anything by an engine that has lost something. Needs no privilege.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

hosts='rf:{0}:hosts' record='rf:{0}:l:dns-0000000000000abc:192.0.2.1/32'
start_engine engine --enable-debug-command yes
load_library engine >/dev/null

# ---- what is refused ----

matches "$(ENGINE_KEY_SLOT=4 call beat 0 3 1 0)" 'error: RINGFENCE .*not of slot 3.*' 'a call with the key of another slot is refused'
matches "$(call beat 16 3 1 0)" 'error: RINGFENCE .*no bucket.*' 'a bucket that does not exist is refused'
matches "$(call beat 0 1024 1 0)" 'error: RINGFENCE .*' 'a slot that does not exist is refused'
matches "$(call beat 0 3 0 0)" 'error: RINGFENCE .*' 'a host without a nonce is refused'
matches "$(call report 0 3 1 0)" 'error: RINGFENCE .*' 'a call without reports is refused'
is "$(to_engine engine dbsize)" 0 'what is refused changes nothing'
matches "$(to_engine engine fcall rf_beat 0)" '(ERR|RINGFENCE) .*' 'a call without keys is refused'
matches "$(to_engine engine fcall rf_report 2 'rf:{0}:h:3' "$hosts")" '(ERR|RINGFENCE) .*' 'a call without arguments is refused'

# ---- what is given ----

is "$(beats 3)" 'refused learning' 'while nobody is known, a host has to wait'
check 'after G the engine gives' until_it_gives
gets 'a host gets what it wants' 'done 60' reports 3 192.0.2.1/32 1 0 0 60
gets 'several reports are answered one by one' $'done 90\ndone 30' reports 3 192.0.2.1/32 2 0 60 90 192.0.2.2/32 1 0 0 30
is "$(call report 0 3 99 "$(joined 3)" 192.0.2.1/32 3 0 0 0)" 'stranger 0' 'a host with another nonce changes nothing'
gets 'a report that is late changes nothing' 'old 0' reports 3 192.0.2.1/32 1 0 0 0
to_engine engine set 'rf:{0}:l:dns-0000000000000abc:192.0.2.3/32' rubbish >/dev/null
gets 'garbage that is kept of one source concerns no other' $'garbage 0\ndone 30' reports 3 192.0.2.3/32 4 0 0 1 192.0.2.2/32 5 0 0 30
to_engine engine del 'rf:{0}:l:dns-0000000000000abc:192.0.2.3/32' >/dev/null
is "$(to_engine engine get "$record" | wc -c)" 21 'a record with one claim has 20 bytes'

# ---- a host that is gone ----

# gone WHO: what slot 3 is told, which lives meanwhile.
gone() {
	beats 3 >/dev/null
	call gone 0 3 10 "$(joined 3)" "$1"
}

forgets() { # WHO
	[ "$(gone "$1")" = 'done 0' ]
}

is "$(gone 9)" 'done 0' 'a slot that nobody has is gone'
matches "$(gone 3)" 'refused (4[5-9]..|5000)' 'a host that is heard is not, for G + W'
beats 5 >/dev/null
is "$(beats 5)" 'done complete' 'another host joins'
gets 'a silent host has a claim' 'done 30' reports 5 192.0.2.9/32 1 0 0 30
matches "$(gone 5)" 'refused [1-5]...' 'a host that was heard lately is refused'
gets 'its claim still counts' 'done 60' reports 3 192.0.2.9/32 9 0 0 90
check 'after G + W it is forgotten' eventually forgets 5
before=$(joined 5)
joins_anew() {
	[ "$(beats 5)" = 'done' ] && [ "$(joined 5)" != "$before" ]
}
check 'one that comes back joins anew' joins_anew
matches "$(to_engine engine fcall rf_gone 2 'rf:{0}:h:3' "$hosts" x)" '(ERR|RINGFENCE) .*' 'a call that names nobody is refused'

# ---- an engine without memory ----

before=$(to_engine engine get "$hosts" | od -An -tx1 -v)
to_engine engine config set maxmemory 1 >/dev/null
matches "$(beats 3)" 'error: .*' 'without memory no heartbeat is heard'
matches "$(reports 3 192.0.2.1/32 9 0 90 90)" 'error: OOM .*' 'without memory no report is taken'
is "$(to_engine engine get "$hosts" | od -An -tx1 -v)" "$before" 'without memory nothing is done by half'
to_engine engine config set maxmemory 0 >/dev/null

# ---- what an engine loses ----

# loses NAME COMMAND…: after that the engine learns.
loses() {
	check "before $1 the engine gives" until_it_gives
	to_engine engine "${@:2}" >/dev/null
	[ "${2-}" != function ] || load_library engine >/dev/null
	check "after $1 the engine learns" is_learning
}

loses 'FLUSHALL' flushall
loses 'the loss of the hosts' del "$hosts"
loses 'FUNCTION FLUSH' function flush
loses 'DEBUG RELOAD' debug reload
is "$(to_engine engine function flush)" OK 'the functions can be lost'
matches "$(call beat 0 3 10 0)" 'error: ERR Function not found' 'an engine without functions says so'
done_testing
