#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rules files of a working day: all errors of a file in one run; the changes that a file would make;
# and the rules that save prints, in their order, which equal the active ones.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# All rules, without the line that contains the time.
saved() {
	ringfence save | sed 1d
}

file() { # NAME: standard input, under that name
	cat >"$scratch/$1"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- errors ----

printf '%s\n' 192.0.2.0/24 1.2.3 '' 198.51.100.0/33 >"$scratch/list"
file bad <<END
limit add a rate 1/1s
limit add b rate 1
deny add 10.0.0.0/40
limit add a rate 2/1s   # a comment

limit add c rate 1/1s from file /dev/null
limit add d rate 1/1s frob
deny load $scratch/list
allow load $scratch/none
newcomers off
newcomers rate 1/1s then drop
END
{
	for i in e f g h i; do echo "limit add $i rate 1/1s"; done
	for i in 1 2 3; do echo "limit add o$i rate 1/1s match other"; done
} >>"$scratch/bad"
many="at most 4 limits can apply to a packet, but all of these apply to some packets; delete one, or \
make it match fewer packets"
errors=":2: '1': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit
:3: '10.0.0.0/40': invalid prefix: its length must be 0-32
:4: limit 'a': given twice, first in line 1
:6: limit 'c': 'from' has no prefix, so no packet would match; add a prefix, or leave out 'from'
:7: 'frob': unknown word; did you mean 'from'?
:8: $scratch/list:2: '1.2.3': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
:8: $scratch/list:4: '198.51.100.0/33': invalid prefix: its length must be 0-32
:9: $scratch/none: cannot read it: No such file or directory
:11: 'newcomers': given twice
: limits 'a', 'e', 'f', 'g' and 'h': $many
: limits 'a', 'e', 'f', 'g' and 'i': $many
: limits 'o1' and 'o2': only one limit can have 'match other'; delete one
: limits 'o1' and 'o3': only one limit can have 'match other'; delete one
: 13 errors; "
# all_of NAME: the errors, each with the program and the file.
all_of() {
	echo "ringfence: $1${errors//$'\n'/$'\n'ringfence: $1}"
}
before=$(saved)
fails 'check reports every error of a file, in order' 1 \
	"$(all_of "$scratch/bad")'apply' would change nothing" ringfence check "$scratch/bad"
fails 'apply reports every error of a file, in order' 1 \
	"$(all_of "$scratch/bad")no changes were made" ringfence apply "$scratch/bad"
fails 'apply … confirm reports every error of a file' 1 \
	"$(all_of "$scratch/bad")no changes were made" ringfence apply "$scratch/bad" confirm 5s
from_stdin() { # COMMAND
	ringfence "$1" - <"$scratch/bad"
}
fails 'check - reports every error of standard input' 1 \
	"$(all_of 'standard input')'apply' would change nothing" from_stdin check
fails 'apply - reports every error of standard input' 1 \
	"$(all_of 'standard input')no changes were made" from_stdin apply
is "$(saved)" "$before" 'a file with errors changes no rule'
for command in check apply; do
	is "$(ringfence $command --json "$scratch/bad" 2>"$scratch/log" |
		jq -r '"\(.file) \(.error)", (.errors[] | ":\(.line): \(.message)")')" \
		"$scratch/bad $(tail -n 1 "$scratch/log" | sed 's/^ringfence: //')"$'\n'"$(sed '$d; s/^: /:null: /' \
			<<<"$errors")" "$command --json lists the errors with their lines"
done
for i in {1..3000}; do echo "deny add 10.0.0.0/4$((i % 10))"; done | file bad
is "$(ringfence check "$scratch/bad" 2>&1 | tail -n 1)" \
	"ringfence: $scratch/bad: 3000 errors; 'apply' would change nothing" 'check reports thousands of errors'
file both <<-'END'
	allow add 192.0.2.1
	allow add 198.51.100.0/24 for 1h
	deny add 192.0.2.1
	deny add 198.51.100.0/24
	deny add 203.0.113.0/24
END
does 'check notes prefixes on both lists, which are no error' "$scratch/both: fine: 0 limits, 2 allowed and \
3 denied prefixes, newcomers off
2 prefixes are on both lists; while they are, 'allow' wins" ringfence check "$scratch/both"

# ---- what would change ----

nothing_differs() { # NAME
	is "$(ringfence save | ringfence diff - 2>&1; echo $?)" 0 "$1"
}

an_hour() { # of which seconds can have passed
	sed -E 's/for 3[0-5][0-9]+s/for 1h/'
}

# differs NAME OUTPUT FILE: diff exits with 1, prints exactly OUTPUT, and changes nothing.
differs() {
	local before

	before=$(saved | an_hour)
	is "$(describe ringfence diff "$scratch/$3" | an_hour)" $'exit 1\n'"$2"$'\nstderr: ' "$1"
	is "$(saved | an_hour)" "$before" "$1, and it changes nothing"
}

nothing_differs 'the saved rules of a fresh fence differ in nothing'
file rules <<-'END'
	limit add web rate 100/1s match tcp syn dport 80,443
	limit add dns rate 500/1s match udp dport 53 shadow
	limit add big rate 1M/1s from 192.0.2.0/24,198.51.100.0/24,203.0.113.0/24
	allow add 203.0.113.0/24
	deny add 192.0.2.1 for 1h
	deny add 192.0.2.2
	deny add 192.0.2.3 for 1h
	newcomers rate 10k/1s then aggregate
END
differs 'diff names what a first file adds' '+ limit add web rate 100/1s match tcp syn dport 80,443
+ limit add dns rate 500/1s match udp dport 53 shadow
+ limit add big rate 1M/1s from 192.0.2.0/24,198.51.100.0/24,203.0.113.0/24
allow: 1 added
+ allow add 203.0.113.0/24
deny: 3 added
+ deny add 192.0.2.1 for 1h
+ deny add 192.0.2.2
+ deny add 192.0.2.3 for 1h
~ newcomers off → newcomers rate 10k/1s then aggregate' rules
ringfence apply "$scratch/rules" >"$scratch/log"
does 'diff of the file that was applied prints nothing' '' ringfence diff "$scratch/rules"
file other <<-'END'
	limit add dns rate 500/2s match udp dport 53,54 shadow
	limit add web rate 200/1s match tcp syn dport 80,443
	limit add new rate 1/1s per /24
	deny add 192.0.2.1
	deny add 192.0.2.2 for 10m
	deny add 2001:db8::/32
END
differs 'diff names what another file adds, deletes and changes' \
	"- limit add big rate 1M/1s from 192.0.2.0/24,198.51.100.0/24,203.0.113.0/24
~ limit 'dns': rate 500/1s → 500/2s; dport 53 → 53-54; its windows start afresh
~ limit 'web': rate 100/1s → 200/1s
+ limit add new rate 1/1s per /24
~ limits in another order: dns, web, new
allow: 1 deleted
- allow add 203.0.113.0/24
deny: 1 added, 1 deleted, 2 changed
~ deny 192.0.2.1: for 1h → for good
~ deny 192.0.2.2: for good → for 10m
- deny add 192.0.2.3 for 1h
+ deny add 2001:db8::/32
~ newcomers rate 10k/1s then aggregate → newcomers off" other
is "$(ringfence diff --json "$scratch/other" | command jq -c '.differs, .limits[], .order, .newcomers,
	(.deny | .added, .deleted, .changed, (.prefixes[] | [.prefix, .change, (keys - ["prefix", "change"])]))')" \
	'true
{"limit":"big","change":"deleted","command":"limit add big rate 1M/1s from 192.0.2.0/24,198.51.100.0/24,203.0.113.0/24"}
{"limit":"dns","change":"changed","changes":[{"option":"rate","before":"500/1s","after":"500/2s"},{"option":"dport","before":"53","after":"53-54"}],"windows_kept":false}
{"limit":"web","change":"changed","changes":[{"option":"rate","before":"100/1s","after":"200/1s"}],"windows_kept":true}
{"limit":"new","change":"added","command":"limit add new rate 1/1s per /24"}
["dns","web","new"]
{"before":"rate 10k/1s then aggregate","after":"off"}
1
1
2
["192.0.2.1","changed",["after_ms","before_ms","by"]]
["192.0.2.2","changed",["after_ms","before_ms","by"]]
["192.0.2.3","deleted",["before_ms","by"]]
["2001:db8::/32","added",["after_ms","by"]]' 'diff --json names the same'
{
	cat "$scratch/rules"
	for i in {1..30}; do echo "deny add 10.0.0.$i"; done
} | file many
is "$(ringfence diff "$scratch/many")" "$(
	echo 'deny: 30 added'
	for i in {1..10}; do echo "+ deny add 10.0.0.$i"; done
	echo "  … and 20 more; 'diff FILE all' prints them"
)" 'diff prints ten prefixes of a list'
is "$(ringfence diff "$scratch/many" all | wc -l) $(ringfence diff --json "$scratch/many" |
	jq '.deny.prefixes | length')" '31 30' 'diff … all and diff --json print every prefix'
fails 'diff of a file that is not there fails' 2 \
	"ringfence: $scratch/none: cannot read it: No such file or directory" ringfence diff "$scratch/none"
echo 'limit add a rate 1' >"$scratch/bad"
fails 'diff of a file with an error fails' 2 "ringfence: $scratch/bad:1: '1': invalid rate; write \
COUNT/TIME, like 20k/1s or 100/10s, or 10mbit
ringfence: $scratch/bad: 1 error; 'apply' would change nothing" ringfence diff "$scratch/bad"

# ---- saved rules equal the active ones ----

# The model: the names of the limits, in the order in which they were given.
order=()
order_of_fence() {
	ringfence save | sed -n 's/^limit add \([^ ]*\) .*/\1/p' | xargs
}

pick() { # WORD…: one of them into $picked
	picked=${*:RANDOM % $# + 1:1}
}

prefix() { # into $picked
	pick 10.$((RANDOM % 4)).0.0/16 192.0.2.$((RANDOM % 8)) 2001:db8:$((RANDOM % 4))::/48 \
		2001:db8::$((RANDOM % 4)) 198.51.100.$((RANDOM % 2 * 128))/25
}

definition() { # a random one, into $defined; with a different port, so few apply to a packet
	local first=$((1 + RANDOM % 60000))

	pick 100/1s 20k/1s 1.5M/10s 10mbit 2gbit/10s 7/1m '3000/1h bytes' 60/60s 1000/1000ms 5/1h 100k/500ms
	defined="rate $picked"
	pick '' '' 'algorithm fixed' 'algorithm token' 'algorithm token burst 2M' 'edge coarse' 'cells 5' \
		'edge weighted cells 2'
	defined+=" $picked"
	pick "match udp dport $first" "match tcp dport $first,$((first + 2))-$((first + 9)),443" \
		"match tcp syn dport $((first + 1)),$first" "dport $first-$((first + 99))"
	defined+=" $picked"
	pick '' '' 'per /24' 'per6 /48' 'per /16 per6 /128'
	defined+=" $picked"
	pick '' shadow exact 'count rejected' 'ban 10m' 'ban 90s all' 'shadow exact'
	defined+=" $picked"
	if [ $((RANDOM % 3)) = 0 ]; then
		prefix
		defined+=" from $picked"
		prefix
		defined+=",$picked"
	fi
}

random_file() {
	local name

	order=()
	for name in $(shuf -e a b c d e f g h | head -n $((RANDOM % 8))); do
		definition
		echo "limit add $name $defined"
		order+=("$name")
	done
	for ((i = RANDOM % 6; i > 0; i--)); do
		prefix
		pick "allow add $picked" "deny add $picked" "deny add $picked for $((1 + RANDOM % 90))m" \
			"allow add $picked for $((10 + RANDOM % 9))s"
		echo "$picked"
	done
	pick 'newcomers off' 'newcomers rate 10k/1s then pass' 'newcomers rate 500/2s then aggregate'
	echo "$picked"
}

# One command on the fence and on the model.
# shellcheck disable=SC2086 # a definition is words
random_change() {
	local name

	pick a b c d e f g h
	name=$picked
	definition
	if [[ " ${order[*]} " != *" $name "* ]]; then
		ringfence limit add $name $defined 2>>"$scratch/log" && order+=("$name")
		return
	fi
	pick del del set turn deny allow
	case $picked in
	del)
		ringfence limit del "$name"
		read -ra order <<<"$(xargs -n 1 <<<"${order[*]}" | grep -vx "$name" | xargs)"
		;;
	set) ringfence limit set $name $defined ;;
	turn) ringfence limit shadow "$name" || ringfence limit enforce "$name" ;;
	deny)
		prefix
		ringfence deny add "$picked" for 20m
		;;
	allow)
		prefix
		ringfence allow add "$picked" && ringfence allow del "$picked" && ringfence deny add "$picked"
		;;
	esac >>"$scratch/log" 2>&1
}

seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "# SEED=$seed"
differing='' disordered='' refused=0 compared=0
compare() { # WHAT: of the fence with itself
	local said

	said=$(ringfence save | ringfence diff - 2>&1) || differing+="$1: $said"$'\n'
	[ -z "$said" ] || differing+="$1: $said"$'\n'
	[ "$(order_of_fence)" = "${order[*]}" ] ||
		disordered+="$1: $(order_of_fence), not ${order[*]}"$'\n'
	compared=$((compared + 1))
}
for round in {1..15}; do
	random_file >"$scratch/random"
	if ! ringfence apply "$scratch/random" >"$scratch/log" 2>&1; then
		refused=$((refused + 1))
		read -ra order <<<"$(order_of_fence)"
		continue
	fi
	ringfence diff "$scratch/random" >"$scratch/said" 2>&1 || differing+="$round: $(<"$scratch/said")"$'\n'
	compare "$round"
	ringfence save >"$scratch/saved"
	shuf "$scratch/random" | ringfence apply - >"$scratch/log" 2>&1
	ringfence apply "$scratch/saved" >"$scratch/log"
	compare "$round, applied again"
	for change in 1 2 3 4; do
		random_change
		compare "$round, change $change"
	done
done
is "$differing" '' "what was saved differs in nothing, whatever the rules and their changes"
is "$disordered" '' 'save prints the limits in the order in which they were given'
echo "# compared $compared times; $refused random files were refused"
check 'most random files are rules' test "$refused" -le 5
nothing_differs 'save | diff - prints nothing'

done_testing
