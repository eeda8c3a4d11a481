#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A member of an enum without its row in a table fails the build: rows are taken away, and members
# added, in a copy of the tree.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

tree=$scratch/tree
tables=$PWD/tests/lint/holes.awk
mkdir -p "$tree"
cp -r include user "$tree"

complaints() {
	(cd "$tree" && awk -f "$tables" include/ringfence/*.h user/*/*.h user/*/*.c 2>&1)
}

# complained TEXT NAME: the check fails, and names it
complained() {
	complaints >"$scratch/complaints"
	is "$?" 1 "$2: the build fails"
	check "$2: it is named" grep -qF -- "$1" "$scratch/complaints"
}

is "$(complaints; echo $?)" 0 'the tree as it is has a row for each member'

sed -i '/\[RF_EVENT_FLOOD_ENDED\] = "flood_ended"/d' "$tree/user/watch/event.c"
complained "table 'names' has no row for RF_EVENT_FLOOD_ENDED" 'an event without a name'
sed -i 's/^\tRF_EVENT_TYPES,/\tRF_EVENT_NEW,\n&/' "$tree/user/watch/event.h"
complained "table 'message_ids' has no row for RF_EVENT_NEW" 'a new event'
sed -i '/REASON(RF_BANNED,/d' "$tree/user/rules/grammar_capture_words.c"
complained "table 'rf_reason_words' has no row for RF_BANNED" 'a reason that capture lacks'
sed -i 's/\[RF_SETTLED\] = "settled",//' "$tree/user/daemon/live.c"
complained "table 'words' has no row for RF_SETTLED" 'a state without a word'
sed -i 's/, \[RF_TELL_FULL\] = "full"//' "$tree"/user/*/*.[ch]
complained "has no row for RF_TELL_FULL" 'a macro of words without one'

# assembles FILE: a source of the copy
assembles() {
	"${CC:-cc}" -fsyntax-only -D_GNU_SOURCE -DRINGFENCE_VERSION='""' -I"$tree/include" -I"$tree/user" -I. "$tree/user/$1" 2>"$scratch/errors"
}

check 'the table of commands compiles' assembles rules/grammar_table.c
check 'so do their functions' assembles cli/help.c
cp "$tree/user/rules/commands.def" "$scratch/commands"
sed -i 's/^COMMAND(LIMIT_LIST, limit_list,/COMMAND(LIMIT_LIST,/' "$tree/user/rules/commands.def"
is "$(assembles cli/help.c || echo fails)" fails 'a command without a function does not compile'
sed '/^COMMAND(LIMIT_LIST,/,/^$/s/),$/))/; /^COMMAND(LIMIT_LIST,/,/^$/{/HELP(/,/^$/d}' "$scratch/commands" >"$tree/user/rules/commands.def"
is "$(assembles cli/help.c || echo fails)" fails 'a command without help does not compile'

# compiles: a file that includes the reasons
compiles() {
	"${CC:-cc}" -fsyntax-only -x c -I"$tree/include" -include ringfence/counters.h - </dev/null 2>"$scratch/errors"
}

check 'the reasons compile' compiles
sed -i 's/^\tRF_REASON_COUNT,/\tRF_NEW_REASON,\n&/' "$tree/include/ringfence/counters.h"
is "$(compiles || echo fails)" fails 'a new drop reason without a name does not compile'
check 'the compiler says why' grep -qF 'RF_REASONS has a row for each reason' "$scratch/errors"


done_testing
