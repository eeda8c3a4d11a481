#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `top` on a terminal: its screen under a flood, the changes by its keys, and the terminal's state
# afterwards.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/screen.sh
source tests/e2e/screen.sh

make_network 1
dev=${port[0]}
ringfence attach "$dev" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 50/1s >"$scratch/log"
ringfence limit add syn rate 100/10s match tcp syn >"$scratch/log"

flood() { # FLOW…
	local flow flows=()

	for flow; do
		flows+=(flow "$flow")
	done
	start outside build/tests/traffic send dev out0 to 02:00:00:00:00:02 "${flows[@]}" >/dev/null
}

denied() {
	ringfence deny list --json dev "$dev" | jq -r '.prefixes | map(.prefix) | join(" ")'
}

is_denied() { # PREFIXES
	[ "$(denied)" = "$1" ]
}

# ---- plain output as before ----

once='no source has a window|source +limit +passed' # IGMP might have arrived
matches "$(ringfence top | head -n 1)" "($once).*" 'top in a pipe prints once'
open_screen 80x24 "${utf8[@]}" -- top 3 dev "$dev"
sees "^($once)" 'top N on a terminal prints once'
leaves_terminal 0 'top N ends by itself'
close_screen
open_screen 80x24 LC_ALL=C.UTF-8 TERM=dumb -- top dev "$dev"
sees "^($once)" 'top with TERM=dumb prints once'
close_screen
open_screen 80x24 "${utf8[@]}" -- top --json dev "$dev"
sees '"sources": \[\]' 'top --json on a terminal prints once'
close_screen
open_screen 80x24 LC_ALL=C.UTF-8 TERM=no-such-terminal -- top dev "$dev"
sees "^ringfence: TERM 'no-such-terminal': no such terminal is known here; 'top 10' pri" \
	'top on an unknown terminal says what to do'
leaves_terminal 1 'top on an unknown terminal fails'
close_screen

open_screen 80x24 "${utf8[@]}" -- top limit nosuch dev "$dev"
sees "^ringfence: .*nosuch" 'a limit that is not there is an error, also on a terminal'
leaves_terminal 1 'a limit that is not there shows no screen'
close_screen

# ---- the screen ----

flood src=192.0.2.66,count=100000000,rate=2000 src=192.0.2.67,count=1000000,rate=20
open_screen 80x24 "${utf8[@]}" -- top
sees "^$dev native +LIVE [0-9:]{8} +1 over  0 banned" 'the first line has the fence, the time, and how many are over'
sees '^in [0-9.]+k/s +[▁▂▃▄▅▆▇█]+ +dropped [0-9.]+k/s 9[67]\.[0-9]%' 'the second line has packets a second'
sees '^over_limit [0-9.]+k/s ' 'the third line has the reason'
# A sender that was held up makes up for it, so the rates are compared with each other.
rates_agree() {
	screen | tr -d ',%' | awk '$1 == "in" { came = $2 + 0; lost = $5 + 0; share = $6 } $1 == "over_limit" { over = $2 + 0 }
		END { exit !(came >= 1 && lost == over && share - lost / came * 100 < 0.6 && lost / came * 100 - share < 0.6) }'
}
check 'what is dropped is over the limit, and its share is right' eventually rates_agree
sees '^\[any 50/1s: 1\]  syn 100/10s: 0' 'the fourth line has the limits; one that drops is in brackets'
sees '^> 192\.0\.2\.66 +any +██████ 100% +[0-9.]+k? +[0-9]+  .*█  [0-9]+s' 'a source over its limit is full, dropped, and first'
# Sources and counters are read one after the other, so not every second the same.
its_rates_agree() {
	screen | tr -d ',%>' | awk '$1 == "over_limit" { over = $2 * ($2 ~ /k/ ? 1000 : 1) }
		$1 == "192.0.2.66" { lost = $5 * ($5 ~ /k/ ? 1000 : 1); passed = $6 }
		END { exit !(over > 0 && lost > over * 0.9 && lost < over * 1.1 && passed >= 40 && passed < 60) }'
}
check 'what it loses is over the limit, and what it passes is the limit' eventually its_rates_agree
sees '^  192\.0\.2\.67 +any +█+.? +[34].% +0 +(19|2.) ' 'an honest source is below it'

# ---- a key means the source under the cursor ----

press Down
sees '^> 192\.0\.2\.67' 'the cursor moves'
press d
sees 'ringfence deny add 192\.0\.2\.67 for 1h dev ' 'd asks, with the very command'
press Escape
eventually has_not 'deny add'
is "$(denied)" '' 'Escape changes nothing'
press Home
press d
sees 'ringfence deny add 192\.0\.2\.66 for 1h dev ' 'the question is about the first source'
flood src=192.0.2.1,count=100000000,rate=5000
sees '^> 192\.0\.2\.1 ' 'another source comes first meanwhile'
press Enter
sees '^done: ringfence deny add 192\.0\.2\.66 for 1h' 'Enter runs the command, and says so'
is "$(denied)" 192.0.2.66 'the source that was under the cursor when the key was pressed is denied'
press u
sees 'ringfence deny del 192\.0\.2\.66 dev' 'u asks, with the command that takes it back'
press Enter
check 'u takes a denial back' eventually is_denied ''
sees '^done: ringfence deny del' 'u says what it did'
press u
sees '^there is nothing to take back' 'what was taken back is gone'
press q
leaves_terminal 0 'q leaves the terminal as it was'
close_screen

# ---- the past ----

mkdir "$scratch/history"
build/tests/recorder "$scratch/history" "$dev" 640 600 full || bail 'cannot record a history'
open_screen 80x24 "${utf8[@]}" "RINGFENCE_HISTORY=$scratch/history" TZ=UTC -- top
sees '^> 192' 'top runs, to go back'
press '<'
sees "^$dev native +PAST [0-9:]{8} +[0-9]+ over" '< goes back'
sees '^> 10\.0\.[0-9.]+ +any ' 'the past has its own sources'
sees '^\[any: [0-9]+\]  limit1: 0' 'the past has its limits'
sees '^in [0-9.]+k/s +[▁▂▃▄▅▆▇█]+ ' 'the past has packets a second'
press Down Enter
sees '^show 10\.[0-9.]+ at [-0-9]{10}T[0-9:]{8} dev ' 'Enter shows the source as it was then'
sees 'from [-0-9]{10} [0-9:]{8}, for 10 s' 'it is what show at TIME prints'
press Escape
sees 'PAST' 'Escape goes back to the list'
press d
sees 'ringfence deny add 10\.0\.' 'a source of the past can be denied'
press Escape
press '>' '>'
sees '^'"$dev"' native +LIVE' 'up to now, the present is shown again'
sees '^> 192' 'the present has its sources'
press '<' '<' '<'
sees 'the history of fence .* starts at' 'before the history there is a sentence'
press Escape Escape
sees 'LIVE' 'Escape goes back to now'
sees '^> 192' 'the sources are there again'
press w
sees '^limit try any rate 100/1s since -10m dev ' 'w tries twice the COUNT on the history'
sees 'would have dropped [0-9,]+' 'w shows what that would have dropped'
press Escape
sees '^> 192' 'Escape leaves that page'
press q
leaves_terminal 0 'q quits after the past'
close_screen

# ---- other commands on a terminal ----

open_screen 100x24 "${utf8[@]}" -- stats watch dev "$dev"
sees '^[0-9:]{8} .* 0 +█+$' 'stats watch has a sparkline on a terminal'
close_screen
open_screen 80x24 "${utf8[@]}" -- stats watch dev "$dev"
sees '^[0-9:]{8} .* 0 +█+$' 'stats watch has a shorter one in 80 columns'
close_screen
is "$(inside timeout -s INT 2.5 build/ringfence stats watch dev "$dev" | LC_ALL=C grep -c '[^ -~]')" 0 \
	'stats watch has none in a pipe'
seq 500000 | awk '{ printf "10.%d.%d.%d\n", $1 / 65536, $1 / 256 % 256, $1 % 256 }' >"$scratch/list"
# shellcheck disable=SC2016 # that shell expands them
open_screen 80x24 "${utf8[@]}" "scratch=$scratch" sh -c 'until [ -e "$scratch/go" ]; do sleep 0.1; done; exec "$0" "$@"' -- \
	deny load "$scratch/list" dev "$dev"
terminal pipe-pane -t "s$sessions" "touch '$scratch/go'; exec cat >'$scratch/typescript'"
sees '^deny: 500000 prefixes loaded' 'deny load on a terminal says what it did'
close_screen
check 'deny load shows its progress on a terminal' eventually grep -qE '\[#+ +\] [0-9]+ of 500000 prefixes' "$scratch/typescript"
is "$(ringfence deny load "$scratch/list" dev "$dev" 2>&1 | grep -c '#')" 0 'deny load shows none in a pipe'

# ---- signals ----

for signal in TERM INT HUP QUIT; do
	open_screen 80x24 "${utf8[@]}" -- top
	sees '^> 192' "top shows sources, before SIG$signal"
	kill "-$signal" "$(process)"
	leaves_terminal 0 "SIG$signal leaves the terminal as it was"
	close_screen
done
done_testing
