#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The screen of `top` while a scan does not finish: the thread that scans is blocked. Keys still
# work, and nothing is left when the screen exits.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/screen.sh
source tests/e2e/screen.sh

"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$scratch/hold.so" tests/e2e/hold_threads.c -ldl || bail 'cannot compile'
held=("LD_PRELOAD=$scratch/hold.so" "HOLD=$scratch/hold" "HOLD_LIMIT=$scratch/hold_limit")
make_network 1
dev=${port[0]}
ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 50/1s >"$scratch/log"
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=100000000,rate=2000 \
	flow src=192.0.2.67,count=100000000,rate=20 >/dev/null

time_shown() {
	screen | sed -nE '1s/.* ([0-9:]{8}) .*/\1/p'
}

stands_still() { # the time of the last scan, for longer than the interval of scans
	local before

	before=$(time_shown)
	sleep 2.5
	[ -n "$before" ] && [ "$(time_shown)" = "$before" ]
}

goes_on() {
	! stands_still
}

open_held() { # a screen whose scan does not finish
	rm -f "$scratch/hold"
	open_screen 80x24 "${utf8[@]}" "${held[@]}" -- top dev "$dev"
	sees '^> 192\.0\.2\.66' "$1: top shows sources"
	pid=$(process)
	touch "$scratch/hold"
	check "$1: no scan comes to an end" eventually stands_still
}

is_gone() {
	! [ -e "/proc/$pid" ]
}

open_held keys
press Down
sees '^> 192\.0\.2\.67' 'the cursor moves while a scan is under way'
press Enter
sees 'next packet: .*' 'Enter opens a source while a scan is under way'
sees 'passed' 'the page of the source has its window'
press Escape
press d
sees 'ringfence deny add 192\.0\.2\.67 for 1h dev ' 'd asks while a scan is under way'
press Enter
sees '^done: ringfence deny add 192\.0\.2\.67' 'a command runs while a scan is under way'
press u Enter
sees '^done: ringfence deny del 192\.0\.2\.67' 'what it did is taken back'
press / 67 Enter
sees '^ *filter: 67' 'a filter is set while a scan is under way'
eventually has_not '192\.0\.2\.66'
is "$(screen | grep -c '192\.0\.2\.66')" 0 'the filter holds at once'
terminal resize-window -t "s$sessions" -x 60 -y 20
sees '^> 192\.0\.2\.67 .*' 'a resize is obeyed while a scan is under way'
rm "$scratch/hold"
check 'scans go on once that one is over' eventually goes_on
touch "$scratch/hold"
check 'the next one is held up' eventually stands_still
press q
leaves_terminal 0 'q does not wait for the scan'
check 'q leaves no process' eventually is_gone
close_screen

touch "$scratch/hold"
open_screen 80x24 "${utf8[@]}" "${held[@]}" -- top dev "$dev"
sees '^ *the first scan is under way' 'the first scan is awaited on the screen'
pid=$(process)
press '?'
sees '^top: keys' 'help is there before the first scan is over'
press Escape
rm "$scratch/hold"
sees '^> 192\.0\.2\.66' 'the first scan comes to the screen'
press q
leaves_terminal 0 'q quits after that'
close_screen

# ---- a command that takes long ----

touch "$scratch/hold_limit"
open_screen 80x24 "${utf8[@]}" "${held[@]}" -- top dev "$dev"
sees '^> 192\.0\.2\.66' 'top runs, and a command that takes long'
press w
sees '^running: ringfence limit try any ' 'the command runs'
command=$(pgrep -P "$(process)")
press w
sees '^the command before is still running' 'another one has to wait'
press Down
sees '^> 192\.0\.2\.67' 'the cursor does not wait for it'
press q
leaves_terminal 0 'q does not wait for a command that only looks'
check 'and leaves none' test ! -e "/proc/$command"
close_screen

open_screen 80x24 "${utf8[@]}" "${held[@]}" -- top dev "$dev"
sees '^> 192\.0\.2\.66' 'top runs, and a change'
press r Enter
sees '^running: ringfence limit add raise1 ' 'the change is under way'
press q
rm "$scratch/hold_limit"
leaves_terminal 0 'q waits for a change'
is "$(ringfence limit list dev "$dev" | grep -c raise1)" 1 'the change was made'
ringfence revert dev "$dev" >"$scratch/log"
close_screen

for signal in TERM INT HUP KILL; do
	open_held "SIG$signal"
	kill "-$signal" "$pid"
	[ "$signal" = KILL ] || leaves_terminal 0 "SIG$signal does not wait for the scan"
	check "SIG$signal leaves no process" eventually is_gone
	close_screen
done
done_testing
