#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The server's functions in a real server: refused calls, expiry, and that a server that has lost
# data grants nothing. Needs no privilege.

# shellcheck source=tests/engine/lib.sh
source "$(dirname "$0")/lib.sh"

hosts='rf:{0}:hosts' record='rf:{0}:l:dns-0000000000000abc:192.0.2.1/32'
start_engine engine --enable-debug-command yes
load_timed_library engine >/dev/null

# ---- refused calls ----

matches "$(ENGINE_KEY_SLOT=4 call beat 0 3 1 0)" 'error: RINGFENCE .*not of slot 3.*' 'a call with the key of another slot is refused'
matches "$(call beat 16 3 1 0)" 'error: RINGFENCE .*no bucket.*' 'a bucket that does not exist is refused'
matches "$(call beat 0 1024 1 0)" 'error: RINGFENCE .*' 'a slot that does not exist is refused'
matches "$(call beat 0 3 0 0)" 'error: RINGFENCE .*' 'a host without a nonce is refused'
matches "$(call report 0 3 1 0)" 'error: RINGFENCE .*' 'a call without reports is refused'
is "$(to_engine engine dbsize)" 0 'refused calls change nothing'
matches "$(to_engine engine fcall rf_beat 0)" '(ERR|RINGFENCE) .*' 'a call without keys is refused'
matches "$(to_engine engine fcall rf_report 2 'rf:{0}:h:3' "$hosts")" '(ERR|RINGFENCE) .*' 'a call without arguments is refused'

# ---- grants ----

is "$(beats 3)" 'refused learning' 'while no host is known, a host has to wait'
check 'after G the server grants' until_it_gives
is "$(reports 3 192.0.2.1/32 1 0 0 60)" 'done 60' 'a host is granted its request'
is "$(reports 3 192.0.2.1/32 2 0 60 90 192.0.2.2/32 1 0 0 30)" $'done 90\ndone 30' 'several reports get separate replies'
is "$(call report 0 3 99 "$(joined 3)" 192.0.2.1/32 3 0 0 0)" 'stranger 0' 'a host with a different nonce changes nothing'
is "$(reports 3 192.0.2.1/32 1 0 0 0)" 'old 0' 'a late report changes nothing'
to_engine engine set 'rf:{0}:l:dns-0000000000000abc:192.0.2.3/32' rubbish >/dev/null
is "$(reports 3 192.0.2.3/32 4 0 0 1 192.0.2.2/32 5 0 0 30)" $'garbage 0\ndone 30' 'an invalid record of one source does not affect others'
to_engine engine del 'rf:{0}:l:dns-0000000000000abc:192.0.2.3/32' >/dev/null
is "$(to_engine engine get "$record" | wc -c)" 21 'a record with one claim has 20 bytes'

# ---- removing a host ----

# gone WHO: the reply to slot 3, which remains a member.
gone() {
	beats 3 >/dev/null
	call gone 0 3 10 "$(joined 3)" "$1"
}

# Sends heartbeats of slot 3 until slot 5 is removed, for a minute at most; the previous reply is in
# $last.
wait_for_5() {
	local answer from=$clock_ms

	until answer=$(gone 5) && [ "$answer" = 'done 0' ]; do
		[ $((clock_ms - from)) -lt 60000 ] || return 1
		last=$answer
		later 500
	done
}

is "$(gone 9)" 'done 0' 'an unused slot counts as removed'
is "$(gone 3)" 'refused 5000' 'a host with heartbeats is not removed, for G + W'
beats 5 >/dev/null
is "$(beats 5)" 'done complete' 'a second host joins'
is "$(reports 5 192.0.2.9/32 1 0 0 30)" 'done 30' 'a silent host has a claim'
is "$(gone 5)" 'refused 5000' 'removing a host with a recent heartbeat is refused'
is "$(reports 3 192.0.2.9/32 9 0 0 90)" 'done 60' 'its claim still counts'
check 'it is removed' wait_for_5
is "$last" 'refused 500' 'after G + W'
before=$(joined 5)
joins_anew() {
	[ "$(beats 5)" = 'done' ] && [ "$(joined 5)" != "$before" ]
}
check 'a host that returns gets a new membership' joins_anew
matches "$(to_engine engine fcall rf_gone 2 'rf:{0}:h:3' "$hosts" x)" '(ERR|RINGFENCE) .*' 'a call without a slot is refused'

# ---- a server without memory ----

before=$(to_engine engine get "$hosts" | od -An -tx1 -v)
to_engine engine config set maxmemory 1 >/dev/null
matches "$(beats 3)" 'error: .*' 'without memory heartbeats are refused'
matches "$(reports 3 192.0.2.1/32 9 0 90 90)" 'error: OOM .*' 'without memory reports are refused'
is "$(to_engine engine get "$hosts" | od -An -tx1 -v)" "$before" 'without memory no call is executed partially'
to_engine engine config set maxmemory 0 >/dev/null

# ---- loss of data ----

# loses NAME COMMAND…: after the command the server recovers.
loses() {
	check "before $1 the server grants" until_it_gives
	to_engine engine "${@:2}" >/dev/null
	[ "${2-}" != function ] || load_timed_library engine >/dev/null
	check "after $1 the server recovers" is_learning
}

loses 'FLUSHALL' flushall
loses 'the loss of the hosts' del "$hosts"
loses 'FUNCTION FLUSH' function flush
loses 'DEBUG RELOAD' debug reload
is "$(to_engine engine function flush)" OK 'the functions can be lost'
matches "$(call beat 0 3 10 0)" 'error: ERR Function not found' 'a server without functions reports that'
done_testing
