#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The screen of `top` in terminals of every kind: small, large, resized, without colour, without
# UTF-8, stopped; with many sources, hostile names, and for users who may change nothing.

# shellcheck source=tests/e2e/private.sh
source "$(dirname "$0")/private.sh"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/screen.sh
source tests/e2e/screen.sh

mkdir -p /run/ringfence
mount -t bpf -o mode=0700 bpf /run/ringfence || bail 'cannot mount a bpffs for the group'
chmod 755 "$scratch"
install -m 755 build/ringfence "$scratch/ringfence" # another user cannot reach the tree
make_network 2
dev=${port[0]}
ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 50/1s >"$scratch/log"
ringfence limit add ssh rate 20/1s match tcp syn >"$scratch/log"
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 flow src=192.0.2.66,count=100000000,rate=2000 \
	flow src=192.0.2.67,count=100000000,rate=20 >/dev/null

# No line is wrapped or left over: the screen has as many lines as the terminal.
lines() {
	screen | wc -l
}

# ---- sizes ----

open_screen 40x10 "${utf8[@]}" -- top dev "$dev"
sees '^> 192\.0\.2\.66 +100% +[0-9.]+k?' '40 × 10 has the source, its use and its drops'
sees '  q quit  \? help$|\? help$' '40 × 10 has the keys'
check '40 × 10 has no line that is longer' test "$(screen | LC_ALL=C.UTF-8 wc -L)" -le 40
is "$(lines)" 10 '40 × 10 is one screen'
press d
sees 'ringfence deny add 192\.0\.2\.66' '40 × 10 has room for a question'
press Escape
press '?'
sees '^top: keys' '40 × 10 has room for help'
press Down Down
sees '^r +raise' 'help goes down'
press Escape
terminal resize-window -t "s$sessions" -x 200 -y 60
sees '^> 192\.0\.2\.66 +any +██████ 100% +[0-9.]+k? .*█  [0-9ms ]+$' 'a terminal that grows to 200 × 60 shows all columns'
is "$(lines)" 60 '200 × 60 is filled'
terminal resize-window -t "s$sessions" -x 20 -y 5
sees '^>' 'a terminal of 20 × 5 shows something'
terminal resize-window -t "s$sessions" -x 80 -y 24
sees '^> 192\.0\.2\.66 +any +██████ 100%' 'a terminal that shrinks to 80 × 24 is painted anew'
press q
leaves_terminal 0 'q leaves the terminal as it was, after all these sizes'
close_screen

# ---- locales and colours ----

open_screen 80x24 LC_ALL=C TERM=screen-256color -- top dev "$dev"
sees '^> 192\.0\.2\.66 +any +###### 100% ' 'without UTF-8 bars are of ASCII'
sees '<- -> time' 'without UTF-8 keys are of ASCII'
is "$(screen | LC_ALL=C grep -c '[^ -~]')" 0 'without UTF-8 all is ASCII'
close_screen

colours() { # of the screen, as escape sequences
	terminal capture-pane -e -p -t "s$sessions" | grep -oE $'\033\\[[0-9;]*3[1-7]m' | wc -l
}
open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
sees '^> 192' 'top has colours'
check 'without NO_COLOR there are colours' test "$(colours)" -gt 0
close_screen
open_screen 80x24 "${utf8[@]}" NO_COLOR=1 -- top dev "$dev"
sees '^> 192' 'top runs with NO_COLOR'
is "$(colours)" 0 'with NO_COLOR there is no colour'
close_screen

for terminal in vt100 linux; do
	open_screen 80x24 LC_ALL=C "TERM=$terminal" -- top dev "$dev"
	sees '^> 192\.0\.2\.66 +any ' "TERM=$terminal has a screen"
	press q
	eventually has_ended
	check "TERM=$terminal: no key is left in the line after it" eventually has '^THE END$'
	close_screen
done

# ---- stopped, and going on ----

# A shell with job control, because only such a shell can continue a stopped process.
sessions=$((sessions + 1))
terminal new-session -d -s "s$sessions" -x 80 -y 24 \
	"env ${utf8[*]} PS1='shell: ' bash --noprofile --norc -i"
sees '^shell:' 'a shell waits for commands'
press "$PWD/build/ringfence top dev $dev" Enter
sees '^> 192' 'top runs, and is stopped'
press C-z
sees '^shell:' 'Ctrl-Z gives the shell back'
press 'stty -a | grep -c " icanon.* echo "; jobs' Enter
sees '^1$' 'Ctrl-Z gives the terminal back as it was'
sees 'Stopped .*ringfence top' 'Ctrl-Z stops top'
is "$(terminal display-message -p -t "s$sessions" '#{alternate_on} #{cursor_flag}')" '0 1' \
	'Ctrl-Z shows the screen before, and the cursor'
press fg Enter
sees '^> 192' 'fg shows the sources again'
is "$(terminal display-message -p -t "s$sessions" '#{alternate_on}')" 1 'fg takes the terminal again'
press q
sees '^shell:' 'q gives the shell back'
close_screen

# ---- one's own way in ----

open_screen 80x24 "${utf8[@]}" 'SSH_CONNECTION=192.0.2.66 50000 198.51.100.1 22' -- top dev "$dev"
sees '^> 192\.0\.2\.66' 'top runs over SSH'
press d
sees '192\.0\.2\.66 is where your own SSH session comes from: it would end' 'top warns before it denies the peer of SSH'
press Enter
sees 'y runs it, Esc cancels' 'Enter is not enough for that'
press Escape
eventually has_not 'y runs it'
press Down d
sees 'deny add 192\.0\.2\.67' 'another source is asked about'
check 'another source needs no warning' has_not 'your own SSH'
press Escape
close_screen
is "$(ringfence deny list --json dev "$dev" | jq '.prefixes | length')" 0 'nothing was denied'

# As sudo does: only the parent has the variable.
# shellcheck disable=SC2016 # that shell expands them
open_screen 80x24 "${utf8[@]}" 'SSH_CONNECTION=192.0.2.66 50000 198.51.100.1 22' \
	sh -c 'env -u SSH_CONNECTION "$0" "$@"; exit "$?"' -- top dev "$dev"
sees '^> 192\.0\.2\.66' 'top runs over SSH, under sudo'
press d
sees '192\.0\.2\.66 is where your own SSH session comes from' 'top warns under sudo as well'
close_screen

# ---- raise ----

limits() {
	ringfence limit list dev "$dev" | grep -c raise1
}
open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
sees '^> 192\.0\.2\.66' 'top runs, to raise a limit'
press r
sees 'ringfence limit add raise1 rate 100/1s from 192\.0\.2\.66 confirm 60s' 'r asks, for twice the COUNT'
press +
sees 'limit add raise1 rate 200/1s from' '+ doubles it'
press -
sees 'limit add raise1 rate 100/1s from' '- halves it'
press Enter
sees 'UNCONFIRMED' 'the raised limit is unconfirmed'
is "$(limits)" 1 'the raised limit is in force'
press r
sees 'raise: rules are unconfirmed for another' 'r is refused while rules are unconfirmed'
press u
sees 'ringfence revert dev' 'u asks to end the trial'
press Enter
sees '^done: ringfence revert' 'u takes back unconfirmed rules'
is "$(limits)" 0 'the limit unconfirmed is gone'
eventually has_not 'UNCONFIRMED'
check 'no rules are unconfirmed any longer' has_not 'UNCONFIRMED'
press u
sees '^there is nothing to take back' 'it is taken back once'
eventually has_not 'raise1'
press r Enter
sees 'UNCONFIRMED' 'the limit can be raised again'
ringfence revert dev "$dev" >"$scratch/log"
press u
sees "^limit 'raise1' is gone already: nothing to take back" 'a raise that ended is not taken back'
eventually has_not 'UNCONFIRMED|raise1'
press r Enter
sees 'UNCONFIRMED' 'and raised once more'
press c
sees 'ringfence confirm dev' 'c asks'
press Enter
sees '^done: ringfence confirm' 'c keeps unconfirmed rules'
press u
sees 'ringfence limit del raise1 dev' 'u asks to delete the raised limit'
press Enter
sees '^done: ringfence limit del raise1' 'u deletes it'
is "$(limits)" 0 'the raised limit is gone'
press Enter
# In a period in which a CPU has borrowed from the window, it depends on the CPU.
sees 'next packet: (dropped, by limit any; passes again in|depends, by limit any)' 'Enter shows when the next packet passes'
sees '^ +COUNT' 'Enter shows the cells against COUNT'
press Escape
close_screen

# ---- a reader ----

build=$scratch/ringfence
for user in nobody reader; do
	groups=(--clear-groups)
	[ "$user" = nobody ] || groups=(--groups "$(getent group ringfence | cut -d: -f3)")
	chmod 777 "$scratch"
	open_screen 80x24 "${utf8[@]}" setpriv --reuid 60712 --regid 60712 "${groups[@]}" --bounding-set=-all \
		--inh-caps=-all -- top dev "$dev"
	if [ "$user" = nobody ]; then
		sees '^ringfence: ' 'who may not read the fence gets a sentence'
		leaves_terminal 1 'who may not read the fence gets no screen'
	else
		sees '^> 192\.0\.2\.66' 'a member of the group sees the sources'
		press d
		sees '^this takes CAP_BPF and CAP_NET_ADMIN' 'a member of the group may change nothing'
		press q
		leaves_terminal 0 'a member of the group quits'
	fi
	close_screen
done
build=$shipped

# ---- how much it writes ----

written() {
	awk '/^wchar/ { print $2 }' "/proc/$pid/io"
}
# Two a second: each exceeds it, however slow the sender is.
ringfence limit add few rate 2/1s match udp dport 7 dev "$dev" >/dev/null
start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=198.51.100.1,sources=200,count=100000000,rate=20000,proto=udp,dport=7 >/dev/null
flood_pid=$started_pid
open_screen 200x60 "${utf8[@]}" -- top dev "$dev"
sees '^[> ] 198\.51\.100\.[0-9]+ +few +██████ 100% ' 'two hundred sources are over their limit'
pid=$(process)
before=$(written) began=$(date +%s%N)
sleep 5
bytes=$(($(written) - before)) ms=$((($(date +%s%N) - began) / 1000000))
check "at 200 × 60, 4 KB/s are written at most" test "$bytes" -le $((4096 * ms / 1000 + 2 * 4096))
close_screen
stop TERM "$flood_pid"
ringfence limit del few dev "$dev" >/dev/null

# ---- many sources, filter, sort, export ----

outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 \
	flow src=10.0.0.1,sources=10000,count=20000,rate=200000 >/dev/null
open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
sees '^  [0-9]{4,5} more' 'of 10,000 sources those that do not fit are counted'
press /
sees '^filter:' '/ asks for a filter'
press 192.0.2.0/24 Enter
eventually has_not '^. 10\.'
sees 'filter: 192\.0\.2\.0/24' 'a filter is shown'
is "$(screen | grep -cE '^[> ] 10\.')" 0 'a filter leaves other networks out'
press s
sees '^sorted by rate' 's sorts by rate'
press e
sees '^export to: ringfence-top-' 'e asks for a file'
for ((i = 0; i < 40; i++)); do press BSpace; done
press "$scratch/out.json" Enter
sees "^exported 2 rows to '" 'e writes what is shown'
is "$(jq -r '[.schema, .fence, (.sources | map(.source) | sort | join(" "))] | join(" ")' "$scratch/out.json")" \
	"2 $dev 192.0.2.66 192.0.2.67" 'the file has the sources that are shown'
is "$(stat -c %a "$scratch/out.json")" 600 'the file is for the user alone'
press e
for ((i = 0; i < 40; i++)); do press BSpace; done
press "$scratch/out.json" Enter
sees "there is such a file already" 'e replaces no file'
press p
sees 'PAUSED' 'p pauses'
press Left
sees 'no history in|has no history' 'without a history there is a sentence'
press q
leaves_terminal 0 'q quits after all that'
close_screen

# ---- hostile names ----

hostile=$'e\033[2Jx'
inside ip link set "${port[1]}" down
inside ip link set "${port[1]}" name "$hostile"
inside ip link set "$hostile" up
ringfence attach "$hostile" >"$scratch/log" 2>&1 || bail "cannot attach: $(<"$scratch/log")"
open_screen 80x24 "${utf8[@]}" -- top dev "$hostile"
sees '^e\?\[2Jx native +LIVE' 'a name is no command to the terminal'
press q
leaves_terminal 0 'q quits from a fence with such a name'
close_screen
open_screen 80x24 "${utf8[@]}" -- top
sees 'Tab: next' 'of several fences one is shown'
press Tab
sees 'e\?\[2Jx|rf[0-9]+p0' 'Tab shows the next one'
close_screen

# ---- the fence goes away ----

open_screen 80x24 "${utf8[@]}" -- top dev "$dev"
sees '^> 192' 'top runs, and its fence goes'
ringfence detach "$dev" >"$scratch/log"
sees "^ringfence: fence '$dev': it was detached" 'a fence that goes away ends the screen with a sentence'
leaves_terminal 1 'a fence that goes away leaves the terminal as it was'
close_screen
done_testing
