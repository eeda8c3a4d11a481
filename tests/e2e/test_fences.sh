#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Several fences on one machine: commands that show all of them, words that name one, detaching
# many.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"
require "$alien"

make_network 4
one=${port[0]} edge=$run-edge
ringfence attach "$one" >"$scratch/log" || bail 'cannot attach'
ringfence limit add any rate 10/1h
ringfence attach "${port[1]}" "${port[2]}" fence "$edge" >"$scratch/log" || bail 'cannot attach two'
ringfence limit add slow rate 5/1h dev "$edge"
deliver 0 src=192.0.2.1,count=20
deliver 1 src=192.0.2.2,count=8
deliver 2 src=192.0.2.3,count=4

# ---- all fences ----

is "$(ringfence status | grep '^fence' | cut -d: -f1)" "fence $one
fence $edge" 'status without dev shows each fence under its heading'
is "$(ringfence stats | grep -E '^(fence|passed|dropped)' | awk '{ print $1, $2 }')" "fence $one
passed 10
dropped 10
fence $edge
passed 9
dropped 3" 'stats without dev shows each fence under its heading'
is "$(ringfence top | awk '/^(fence|192)/ { print $1, $2 }')" "fence $one
192.0.2.1 any
fence $edge
192.0.2.2 slow
192.0.2.3 slow" 'top without dev shows the sources of each fence under its heading'
for command in status stats top; do
	is "$(ringfence "$command" --json | jq -r '(del(.schema, .without_interface) | keys[]), .fences[].fence')" "fences
$one
$edge" "$command --json without dev has a list of fences"
	is "$(ringfence "$command" --json | command jq -c '.fences[1]')" \
		"$(ringfence "$command" --json dev "$edge" | command jq -c 'del(.schema)')" \
		"$command --json: each of the list is what dev prints"
done
is "$(ringfence top limit slow 2>"$scratch/stderr" | grep -c 192); $?" '2; 0' \
	'top of a limit shows the fence that has it'
is "$(<"$scratch/stderr")" "ringfence: fence '$one': limit 'slow': it does not exist; 'limit list' lists the limits" \
	'top of a limit names the fence that has it not'

# ---- one of them by a word ----

does 'dev takes the name of a fence' 'limit add slow rate 5/1h' ringfence limit list dev "$edge"
does 'dev takes each interface of a fence' 'limit add slow rate 5/1h' ringfence limit list dev "${port[2]}"
does 'dev takes fence: and a name' 'limit add slow rate 5/1h' ringfence limit list dev "fence:$edge"
does 'dev takes interface: and a name' 'limit add any rate 10/1h' ringfence limit list dev "interface:$one"
does 'a change by the name of a fence changes this fence' '' ringfence limit add more rate 9/1s dev "$edge"
is "$(ringfence limit list dev "$edge" | wc -l) $(ringfence limit list dev "$one" | wc -l)" '2 1' \
	'a change by the name of a fence changes no other fence'
fails 'dev refuses a word that nothing has' 1 "ringfence: frob: no such interface or fence; 'ip link' lists the \
interfaces, 'ringfence status' the fences" ringfence limit list dev frob
fails 'fence: does not take an interface' 1 "ringfence: ${port[1]}: no such fence; 'ringfence status' lists the \
fences" ringfence limit list dev "fence:${port[1]}"
matches "$(ringfence completion words -- status dev '' | tr '\n' ' ')" ".*${port[1]}.interface .*$edge.fence .*" \
	'the completion of dev has interfaces and fences'

# The fence of wire 3 has the name of wire 0's interface.
ringfence attach "${port[3]}" fence "${run}x" >"$scratch/log"
inside ip link set dev "${port[3]}" down
inside ip link set dev "${port[3]}" name "${run}x"
does 'an interface of the fence of its name is not ambiguous' 'no limits' ringfence limit list dev "${run}x"
inside ip link set dev "${run}x" name "${port[3]}"
inside ip link set dev "$one" down
inside ip link set dev "$one" name "${run}x"
both="${run}x: an interface, and another fence, on ${port[3]}, has this name; write interface:${run}x or fence:${run}x"
fails 'dev refuses the name of an interface and another fence' 1 "ringfence: $both" \
	ringfence limit add more rate 1/1s dev "${run}x"
fails 'detach refuses the name of an interface and another fence' 1 "ringfence: $both" ringfence detach "${run}x"
does 'interface: names the interface of the two' 'limit add any rate 10/1h' \
	ringfence limit list dev "interface:${run}x"
does 'fence: names the fence of the two' 'no limits' ringfence limit list dev "fence:${run}x"
inside ip link set dev "${run}x" name "$one"
inside ip link set dev "$one" up
does 'detach takes the name of a fence' "${port[3]}: detached" ringfence detach "${run}x"

# ---- one that cannot be shown ----

use "$alien"
ringfence attach "${port[3]}" >"$scratch/log" || bail 'cannot attach the alien'
use "$shipped"
for command in status stats top; do
	describe ringfence "$command" >"$scratch/said"
	is "$(head -n 1 "$scratch/said"), $(grep -c "^fence \(${one}\|$edge\)" "$scratch/said"), \
$(grep -o "^stderr: .*has map ABI" "$scratch/said")" "exit 1, 2, stderr: ringfence: fence '${port[3]}': ${port[3]}: its fence has map ABI" \
		"$command shows the others where one fence cannot be shown, names it and fails"
	is "$(ringfence "$command" --json 2>/dev/null | jq -r '.fences[] | "\(.fence) \(has("error"))"'); ${PIPESTATUS[0]}" \
		"$one false
$edge false
${port[3]} true; 0" "$command --json has the error of a fence that cannot be shown"
done
does 'detach takes off a fence of another map ABI' "${port[3]}: detached" ringfence detach "${port[3]}"

# ---- detaching many ----

fails 'detach of many checks all first' 1 "ringfence: frob: no such interface or fence; 'ip link' lists the interfaces, \
'ringfence status' the fences; no interface was detached" ringfence detach "$one" "$edge" frob
fails 'detach of many refuses an interface without a fence' 1 "ringfence: ${port[3]}: no fence attached; run 'ringfence \
attach ${port[3]}' or 'ip link set dev ${port[3]} xdp obj …'; no interface was detached" ringfence detach "$one" "${port[3]}"
is "$(ringfence status --json | jq '[.fences[].interfaces[]] | length')" 3 'a refused detach detaches nothing'
does 'detach takes many, and each once' "${port[2]}: detached
$one: detached" ringfence detach "${port[2]}" "$one" "${port[2]}"
is "$(ringfence status --json | jq -c '.fences | map(.interfaces[].name)')" "[\"${port[1]}\"]" \
	'detach of many leaves the other interface of a fence'
ringfence attach "${port[2]}" fence "$edge" >"$scratch/log"
is "$(ringfence detach "$edge" --json | command jq -c 'del(.schema, .lost)')" "{\"detached\":[\"${port[1]}\",\"${port[2]}\"],\"link_down_ms\":{}}" \
	'detach of a fence detaches all its interfaces, and --json lists them'
check 'detach of a fence removes its pins' test ! -e "$pins/$edge"

# ---- lost state ----

filled() { # a fence of two interfaces, with rules, a ban and two windows
	ringfence attach "${port[0]}" "${port[1]}" fence "$edge" >"$scratch/log" 2>&1 && ringfence apply - >"$scratch/log" <<-'END'
		limit add slow rate 3/1h exact ban 1h
		limit add dns rate 9/1h exact match udp dport 53
		allow add 198.51.100.0/24
		deny add 203.0.113.0/24
		deny add 203.0.114.0/24 for 1h
	END
	deliver 0 src=192.0.2.1,count=9 src=192.0.2.2,count=1
}
filled || bail "cannot fill the fence: $(<"$scratch/log")"
is "$(ringfence detach "${port[0]}" 2>&1)" "${port[0]}: detached" 'detach of one of two interfaces loses nothing'
is "$(ringfence detach "${port[1]}" 2>&1 | unwrapped)" "${port[1]}: detached
fence '$edge' was removed with 2 limits, 1 allowed and 2 denied prefixes, 1 ban and 2 windows; 'ringfence save' before \
'ringfence detach' preserves limits and lists" 'detach of the last interface of a fence says what is lost, and how to keep it'
filled || bail "cannot fill the fence: $(<"$scratch/log")"
is "$(ringfence detach "$edge" --json | command jq -c .lost)" \
	"[{\"fence\":\"$edge\",\"limits\":2,\"allow\":1,\"deny\":2,\"bans\":1,\"windows\":2}]" 'so does detach --json, once'

done_testing
