#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Rule files of a working day: all mistakes of a file at once.
#
#   outside                               inside
#   out0  ---------- wire 0 ----------->  ${port[0]}

# shellcheck disable=SC2317 # functions are called by fails, does and the like
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/lib.sh"

# All rules, without the line that contains the time.
saved() {
	ringfence save | sed 1d
}

file() { # NAME: what is on standard input, under that name
	cat >"$scratch/$1"
}

make_network 1
ringfence attach "${port[0]}" >"$scratch/log" || bail "cannot make a fence"

# ---- mistakes ----

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
newcomers rate 1/1s then closed
END
{
	for i in e f g h i; do echo "limit add $i rate 1/1s"; done
	for i in 1 2 3; do echo "limit add o$i rate 1/1s match other"; done
} >>"$scratch/bad"
many="at most 4 limits may apply to a packet, but all of these apply to some packets; delete one, or narrow \
it by 'match', 'dport' or 'from'"
mistakes=":2: '1': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit
:3: '10.0.0.0/40': invalid prefix: its length must be 0-32
:4: limit 'a': given twice, first in line 1
:6: limit 'c': 'from' has no prefix, so no packet would match; add a prefix, or leave out 'from'
:7: 'frob': unknown word in a limit; see 'ringfence help limit add'
:8: $scratch/list:2: '1.2.3': invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32
:8: $scratch/list:4: '198.51.100.0/33': invalid prefix: its length must be 0-32
:9: $scratch/none: cannot read it: No such file or directory
:11: 'newcomers': given twice
: limits 'a', 'e', 'f', 'g' and 'h': $many
: limits 'a', 'e', 'f', 'g' and 'i': $many
: limits 'o1' and 'o2': only one limit may have 'match other'; delete one
: limits 'o1' and 'o3': only one limit may have 'match other'; delete one
: 13 mistakes; "
# all_of NAME: the mistakes, each with the program and the file.
all_of() {
	sed "s|^|ringfence: $1|" <<<"$mistakes"
}
before=$(saved)
fails 'check reports every mistake of a file, in order' 1 \
	"$(all_of "$scratch/bad")'apply' would change nothing" ringfence check "$scratch/bad"
fails 'apply reports every mistake of a file, in order' 1 \
	"$(all_of "$scratch/bad")nothing was changed" ringfence apply "$scratch/bad"
fails 'apply … confirm reports every mistake of a file' 1 \
	"$(all_of "$scratch/bad")nothing was changed" ringfence apply "$scratch/bad" confirm 5s
from_stdin() { # COMMAND
	ringfence "$1" - <"$scratch/bad"
}
fails 'check - reports every mistake of standard input' 1 \
	"$(all_of 'standard input')'apply' would change nothing" from_stdin check
fails 'apply - reports every mistake of standard input' 1 \
	"$(all_of 'standard input')nothing was changed" from_stdin apply
is "$(saved)" "$before" 'a file with mistakes changes no rule'
for command in check apply; do
	is "$(ringfence $command --json "$scratch/bad" 2>"$scratch/log" |
		jq -r '"\(.file) \(.error)", (.mistakes[] | ":\(.line): \(.message)")')" \
		"$scratch/bad $(tail -n 1 "$scratch/log" | sed 's/^ringfence: //')"$'\n'"$(sed '$d; s/^: /:null: /' \
			<<<"$mistakes")" "$command --json lists the mistakes with their lines"
done
for i in {1..3000}; do echo "deny add 10.0.0.0/4$((i % 10))"; done | file bad
is "$(ringfence check "$scratch/bad" 2>&1 | tail -n 1)" \
	"ringfence: $scratch/bad: 3000 mistakes; 'apply' would change nothing" 'check reports thousands of mistakes'
file both <<-'END'
	allow add 192.0.2.1
	allow add 198.51.100.0/24 for 1h
	deny add 192.0.2.1
	deny add 198.51.100.0/24
	deny add 203.0.113.0/24
END
does 'check notes prefixes on both lists, which are no mistake' "$scratch/both: fine: 0 limits, 2 allowed and \
3 denied prefixes, newcomers off
2 prefixes are on both lists; while they are, 'allow' wins" ringfence check "$scratch/both"

done_testing
