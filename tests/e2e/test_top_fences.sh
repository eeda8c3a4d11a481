#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The screen of `top` while fences come and go: attached, detached, attached again, upgraded, adopted.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/screen.sh
source tests/e2e/screen.sh

make_network 3
a=${port[0]} b=${port[1]} c=${port[2]}

changes() { # WORDS of ringfence
	ringfence "$@" >"$scratch/log" 2>&1 || bail "$*: $(<"$scratch/log")"
}

open_screen 80x24 "${utf8[@]}" -- top
sees "^ringfence: no fence attached to any interface; run 'ringfence attach IF'" 'without a fence top says what to type'
leaves_terminal 1 'without a fence there is no screen'
close_screen

start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=100000000,rate=200 >/dev/null
changes attach "$a"

# ---- without a limit ----

for size in 40x10 80x24 200x60; do
	open_screen "$size" "${utf8[@]}" -- top
	sees '^  no source has a window, since there is' "at $size a fence without limits says why it has no row"
	press d
	sees '^there is no source under the cursor' "at $size d says that there is no source"
	press Enter
	sees '^there is no source under the cursor' "at $size Enter says so as well"
	close_screen
done

# ---- several ----

changes limit add any rate 50/1s
open_screen 80x24 "${utf8[@]}" -- top
sees '^> 192\.0\.2\.66 +any' 'top shows the only fence'
press Tab
sees '^there is one fence' 'Tab says that there is no other'
changes attach "$b"
press Tab
sees "^$b native \(Tab: next\) +LIVE" 'Tab shows a fence that was attached meanwhile'
changes attach "$c"
changes detach "$b"
press Tab
sees "^($a|$c) native \(Tab: next\) +LIVE" 'Tab goes on from a fence that was detached meanwhile'
changes detach "$c"
eventually has "^$a .*LIVE" || press Tab
sees "^$a native .*LIVE" 'and comes to the one that is left'

# ---- detached, and attached again ----

# `top` waits for 10 s, and `attach` may take longer: `top` is stopped from its first message on, until
# the fence is attached again and has its limit.
top_pid=$(process)
[ -n "$top_pid" ] || bail 'top does not run'
changes detach "$a" &
eventually has 'was detached; top waits' && kill -STOP "$top_pid"
wait "$!" || bail "cannot detach $a: $(<"$scratch/log")"
sees "^fence 'rf[0-9]+p0' was detached; top waits for another [0-9]+s until" 'top waits for a fence that was detached'
sees "^$a native +.*DETACHED" 'the first line says so'
press Down Enter r
changes attach "$a"
changes limit add any rate 50/1s
kill -CONT "$top_pid"
sees "^fence 'rf[0-9]+p0' was detached, and attached again: its" 'it is shown when it is attached again'
press Escape
press Escape
sees '^> 192\.0\.2\.66 +any' 'its sources are shown'
press Enter
sees '^next packet' 'and the page of one'
changes attach "$b"
changes detach "$a"
sees "^fence 'rf[0-9]+p0' was detached; this is another one" 'where it stays away, another fence is shown'
sees "^$b native +LIVE" 'namely the one that there is'
changes detach "$b"
sees "^ringfence: fence '$b': it was detached" 'where there is none, top ends with a sentence'
leaves_terminal 1 'it leaves the terminal as it was'
close_screen

# ---- upgraded, adopted ----

changes attach "$a"
changes limit add any rate 50/1s
open_screen 80x24 "${utf8[@]}" -- top
sees '^> 192\.0\.2\.66 +any.* [0-9]+s$' 'top runs, before an upgrade'
use "$newer"
changes attach "$a"
use "$shipped"
matches "$(<"$scratch/log")" '.*upgraded in place.*' 'the fence is upgraded'
before=$(screen | sed -nE '1s/.*LIVE ([0-9:]+) .*/\1/p')
check 'top goes on' eventually has_not "LIVE $before"
check 'and knows no detached fence' has_not 'detach|DETACHED'
sees '^> 192\.0\.2\.66 +any.* [0-9]+s$' 'sources are kept'
press q
leaves_terminal 0 'q quits after an upgrade'
close_screen
changes detach "$a"

inside ip link set dev "$a" xdpgeneric obj build/ringfence.bpf.o sec xdp || bail 'cannot attach with ip'
changes limit add any rate 50/1s dev "$a"
open_screen 80x24 "${utf8[@]}" -- top
sees '^> 192\.0\.2\.66 +any' 'top shows a fence that ip attached'
changes adopt "$a"
before=$(screen | sed -nE '1s/.*LIVE ([0-9:]+) .*/\1/p')
check 'top goes on when it is adopted' eventually has_not "LIVE $before"
check 'nothing is said of a detached fence' has_not 'detach|DETACHED'
press q
leaves_terminal 0 'q quits after that'
close_screen
done_testing
