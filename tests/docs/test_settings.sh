#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The manuals of the daemon and of the agent have each setting of their tables, in the same order,
# with its default and its bounds; the fuzzer has each name.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

# item MANUAL WORDS: the text of an item of its section SETTINGS
item() {
	awk -v item="$2" '/^\.Sh/ { inside = $2 == "SETTINGS" } !inside { next }
		/^\.(It|El)/ { on = /^\.It Cm / && index($0 " ", ".It Cm " item " ") == 1 }
		on' "$1"
}

for table in watch fleet; do
	manual=docs/ringfence-$table.8
	settings=build/schema/${table}_settings
	check "$table: the table has settings" test "$(wc -l <"$settings")" -ge 8
	is "$(awk '/^\.Sh/ { inside = $2 == "SETTINGS" } inside && /^\.It Cm/' "$manual" |
		sed -E 's/^\.It Cm //; s/ (Ar|none|on|take) ?.*//' | sort)" "$(cut -d'|' -f1 "$settings" | sort)" \
		"$manual has the settings of the table"
	while IFS='|' read -r words initial least most; do
		item "$manual" "$words" >"$scratch/item"
		[ "$initial" = - ] ||
			check "$manual: $words has its default, $initial" grep -qwF -- "${initial%/s}" "$scratch/item"
		[ "$least" = - ] ||
			check "$manual: $words has its bounds" grep -qF -- "from $least to $most" "$scratch/item"
		check "the fuzzer knows $words" grep -qE "^\"${words}[ \"]" tests/fuzz/settings.dict
	done <"$settings"
done

done_testing
