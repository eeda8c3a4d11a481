# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # lib.sh sets them
# Compares the output of a command, in $scratch/out, with the output in a document, in
# $scratch/shown. For tests that source this file after lib.sh.

# Numbers, and the number of blanks, differ between runs.
masked() {
	unwrapped | sed -E 's/[0-9]+(\.[0-9]+)?/N/g; s/N(ms|s|m|h|M|k)\>/N/g; s/[[:blank:]]+/ /g; s/ $//'
}

# Whether the output has the lines that the document shows. "…" stands for the rest of a line, and
# in a line without other text, at the end, for all further lines; a command that watches can print
# more.
is_as_shown() { # COMMAND
	local got shown

	[ -s "$scratch/shown" ] || return 0
	masked <"$scratch/shown" >"$scratch/want"
	masked <"$scratch/out" >"$scratch/got"
	if [ "$(tail -n 1 "$scratch/want")" = … ]; then
		sed -i '$d' "$scratch/want"
		sed -i "$(($(wc -l <"$scratch/want") + 1)),\$d" "$scratch/got"
	fi
	[[ $1 == *' watch'* ]] && head -n "$(wc -l <"$scratch/want")" "$scratch/got" >"$scratch/first" &&
		mv "$scratch/first" "$scratch/got"
	# Sources are listed in the order of their numbers, which are masked.
	[[ $1 == *' top'* ]] && sort -o "$scratch/got" "$scratch/got" && sort -o "$scratch/want" "$scratch/want"
	[ "$(wc -l <"$scratch/want")" = "$(wc -l <"$scratch/got")" ] || return
	while IFS= read -r got && IFS= read -r shown <&3; do
		[[ $shown == *… ]] && [[ $got == "${shown%…}"* ]] && continue
		[ "$got" = "$shown" ] || return
	done <"$scratch/got" 3<"$scratch/want"
}
