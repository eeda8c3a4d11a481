#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Every command of the table, and every word that it takes, is in the manual; every command and word
# of the manual is in the table, which the built command line prints.
#
# A command is documented by an item `.It Ic WORDS` in ringfence(8), and its words by `Cm` in that
# item, or, where the item refers to ringfence-rules(5), by `Cm` there.

# shellcheck disable=SC2016 # dollars are awk's
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

manual=build/docs/ringfence.8 # with the rows of its tables
build/ringfence completion table >"$scratch/table"

commands() {
	cut -d: -f1 "$scratch/table"
}

# keywords COMMAND: the keywords of its table.
keywords() {
	sed -n "s/^$1://p" "$scratch/table" | tr ' ' '\n' | grep . | sort -u
}

# The arguments of Ic or Cm on a line, up to the next macro.
awk_words='function words_of(macro, from, i, on, text) {
	for (i = from; i <= NF; i++) {
		if ($i ~ /^(Ic|Cm|Ar|Op|Ns|No|Oo|Oc|Xr|Pa|Fl)$/) { on = $i == macro; continue }
		if (on && $i ~ /^[a-z0-9_-]+$/) text = text (text == "" ? "" : " ") $i
	}
	return text
}'

# "COMMAND: KEYWORDS REFERENCE", one line per item of a command, including the lists and tables in
# it.
documented() {
	awk "$awk_words"'
		function end() { if (name != "") print name ":" keywords; name = keywords = "" }
		/^\.Sh/ { inside = $2 == "COMMANDS" }
		!inside { next }
		/^\.It Xo/ { end(); waiting = 1; next }
		/^\.Xr ringfence-rules/ { keywords = keywords " +rules" }
		/^\./ { sub(/^\./, ""); $0 = $0; macro = 1 }
		macro && (waiting && $1 == "Ic" || $1 == "It" && $2 == "Ic") {
			if (!waiting) end()
			waiting = 0
			name = words_of("Ic", 1)
		}
		/^[a-z0-9_]+\|/ { keywords = keywords " " substr($0, 1, index($0, "|") - 1) }
		macro { macro = 0; if (name != "" && (found = words_of("Cm", 1)) != "") keywords = keywords " " found }
		END { end() }
	' "$manual"
}

# Words of the rules: from items, options and sentences.
awk "$awk_words"'/^\./ { sub(/^\./, ""); gsub(/,/, " "); $0 = $0; print words_of("Cm", 1) }' \
	docs/ringfence-rules.5 | tr ' ' '\n' | sort -u >"$scratch/rules"

documented >"$scratch/documented"

documents() { # COMMAND WORD
	local line

	while read -r line; do
		[[ " ${line#*:} " == *" $2 "* ]] && return
		[[ " ${line#*:} " == *' +rules '* ]] && grep -qx -- "$2" "$scratch/rules" && return
	done < <(grep "^$1:" "$scratch/documented")
	return 1
}

mapfile -t commands < <(commands)
check 'the completion lists more than 20 commands' test "${#commands[@]}" -gt 20
for command in "${commands[@]}"; do
	check "$command is documented" grep -q "^$command:" "$scratch/documented"
	mapfile -t keywords < <(keywords "$command")
	missing=''
	for keyword in "${keywords[@]}"; do
		documents "$command" "$keyword" || missing+=" $keyword"
	done
	is "$missing" '' "$command: all keywords are documented: ${keywords[*]:-none}"
done

while IFS=: read -r command words; do
	check "$command exists, which $manual documents with${words:- no words}" grep -qxF -- "$command" <(commands)
	for word in $(xargs -n 1 <<<"$words" | sort -u); do
		[ "$word" = +rules ] && continue
		grep -qxF -- "$word" <(keywords "$command") || fail "$command: '$word' exists"
	done
done <"$scratch/documented"

# Words of the rules that are not in any command.
strange=''
while read -r word; do
	grep -qwF -- "$word" "$scratch/table" || strange+=" $word"
done < <(tr ' ' '\n' <"$scratch/rules" | grep .)
is "$strange" '' 'every word of ringfence-rules(5) is in the table'

# Words that every command accepts, and the paths that users see.
for word in 'Cm dev' 'Fl -json' 'Fl -verbose' 'Fl -version' 'Pa /run/ringfence.lock' \
	'Pa /sys/fs/bpf/ringfence'; do
	check "$word is documented for all commands" grep -q "^\.\(It\|Op\)\? \?$word" "$manual"
done
for section in FILES 'EXIT STATUS' EXAMPLES DIAGNOSTICS CAVEATS 'SEE ALSO'; do
	check "the manual has a section $section" grep -qx "\.Sh $section" "$manual"
done
check "the manual lists the effects of 'ip -force'" grep -q '^\.Ql ip -force link set' "$manual"

# Commands that refuse --json. The last word prevents the others from changing anything.
refusing() {
	local -a words

	while read -r -a words; do
		RINGFENCE_HISTORY=$scratch/none build/ringfence "${words[@]}" --json no-such-word 2>/dev/null |
			grep -q "^{\"schema\":2,\"error\":\"'--json': " && echo "${words[*]}"
	done < <(commands) | sort | tr '\n' ,
}
named_in_manual=$(tr '\n' ' ' <"$manual" | sed -n 's/.*take it except \.Ic \(.*\) and \.Ic \([a-z]*\) \..*/\1 , \2/p' | sed 's/ , /\n/g' | sort | tr '\n' ,)

is "$named_in_manual" "$(refusing)" 'the manual names the commands that refuse --json'

# Proves that the comparison can fail.
sed -i 's/^newcomers:.*/newcomers: rate/; /^top:/d' "$scratch/documented"
check 'a missing keyword is found' eval '! documents newcomers then'
check 'a missing command is found' eval '! documents top by'
done_testing
