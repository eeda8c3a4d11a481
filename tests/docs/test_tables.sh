#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A member of an enum without a row in a table fails the build: rows are removed, and members added,
# in a copy of the tree.

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "$0")/../e2e/lib.sh"

tree=$scratch/tree
tables=$PWD/tests/lint/holes.awk
mkdir -p "$tree"
cp -r include user "$tree"

complaints() {
	(cd "$tree" && awk -f "$tables" include/ringfence/*.h user/*/*.h user/*/*.c 2>&1)
}

# complained TEXT NAME: the check fails, and its message contains TEXT
complained() {
	complaints >"$scratch/complaints"
	is "$?" 1 "$2: the build fails"
	check "$2: it is named" grep -qF -- "$1" "$scratch/complaints"
}

is "$(complaints; echo $?)" 0 'the tree as it is has a row for each member'

sed -i 's/\[RF_CONFIRMED\] = "confirmed",//' "$tree/user/snapshot/records.c"
complained "table 'words' has no row for RF_CONFIRMED" 'a state without a word'
sed -i 's/, \[RF_TELL_FULL\] = "full"//' "$tree"/user/*/*.[ch]
complained "has no row for RF_TELL_FULL" 'a macro of words without one'

# assembles FILE: a source of the copy
assembles() {
	"${CC:-cc}" -fsyntax-only -D_GNU_SOURCE -DRINGFENCE_VERSION='""' -I"$tree/include" -I"$tree/user" -I. "$tree/user/$1" 2>"$scratch/errors"
}

check 'the table of commands compiles' assembles rules/grammar_table.c
check 'so do their functions' assembles cli/help.c
cp "$tree/user/schema/commands.def" "$scratch/commands"
sed -i 's/^COMMAND(LIMIT_LIST, limit_list,/COMMAND(LIMIT_LIST,/' "$tree/user/schema/commands.def"
is "$(assembles cli/help.c || echo fails)" fails 'a command without a function does not compile'
sed '/^COMMAND(LIMIT_LIST,/,/^$/s/),$/))/; /^COMMAND(LIMIT_LIST,/,/^$/{/HELP(/,/^$/d}' "$scratch/commands" >"$tree/user/schema/commands.def"
is "$(assembles cli/help.c || echo fails)" fails 'a command without help does not compile'

# refused FILE TEXT NAME: the compiler refuses the file, with an error; then the tree is restored
refused() {
	is "$(assembles "$1" || echo fails)" fails "$3 does not compile"
	check "$3: the compiler prints the reason" grep -qF -- "$2" "$scratch/errors"
	cp -r include user "$tree"
}

cp "$scratch/commands" "$tree/user/schema/commands.def"

limit=$tree/user/schema/limit.def
check 'the attributes of a limit compile' assembles rules/attribute.c
sed -i '/^PART(EXACT,/,/^$/s/, NO("[^"]*")//' "$limit"
refused rules/attribute.c 'requires 9 arguments' "an attribute of which 'no' makes nothing"
sed -i -Ez 's/(JSON\(flag, "exact", "[^"]*"\)),\s+EACH_HOST/\1/' "$limit"
refused rules/ruleset.c 'requires 9 arguments' 'an attribute that is neither of each host nor of the fleet'
check 'their keys compile' assembles cli/cmd_limit.c
sed -i -Ez 's/JSON\(flag, "exact", "[^"]*"\),\s+//' "$limit"
refused cli/cmd_limit.c MAKE_EACH_HOST 'an attribute without a key'

check 'the options compile' assembles rules/grammar_table.c
sed -i 's/INTO(struct rf_top, within)/INTO(struct rf_top, network)/' "$tree/user/rules/grammar_table.c"
refused rules/grammar_table.c "has no member named 'network'" 'an option without a place'
sed -i 's/FILLED_BY(struct rf_stats, check_stats)/FILLED_BY(struct rf_stats, check_counts)/' "$tree/user/schema/commands.def"
refused rules/grammar_table.c "'check_counts' undeclared" 'a command without its check'
sed -i 's/ asks, asks_each_s,/ pace, asks_each_s,/' "$tree/user/schema/fleet_settings.def"
refused rules/grammar_join.c JOIN_pace "a setting that 'fleet join' cannot take"

reasons=$tree/include/ringfence/counters.h
check 'the reasons compile' assembles schema/reasons.c
sed -i 's/ RF_REASON_COUNT,$/ RF_NEW_REASON, RF_REASON_COUNT,/' "$reasons"
refused schema/reasons.c 'RF_REASONS has a row for each reason' 'a reason without a row'
sed -i 's/ROW(RF_BANNED, DROP,/ROW(RF_BANNED, PASS,/' "$reasons"
refused schema/reasons.c 'reasons that drop follow reasons that pass' 'a reason in the wrong place'
sed -i 's/"more than eight VLAN tags", *\\$/\\/' "$reasons"
refused schema/reasons.c 'requires' 'a reason without help'

events=$tree/user/schema/events.def
check 'the events compile' assembles schema/events.c
check 'their keys compile' assembles watch/event.c
sed -i 's/"the flood has stopped")/)/; s/, "the ban has expired"//' "$events"
refused schema/events.c 'requires 7 arguments' 'an event without help'
sed -i 's/ NOTICE, / , /' "$events"
refused schema/events.c "'RF_EVENT_' undeclared" 'an event without a priority'
sed -i 's/_FIELD(reason, TEXT, GIVEN, reason/_FIELD(reason, TEXT, GIVEN, because/' "$events"
refused watch/event.c "has no member named 'because'" 'a key without a value'
sed -i 's/_FIELD(reason, TEXT, GIVEN, reason/_FIELD(reason, WORDS, GIVEN, reason/' "$events"
refused watch/event.c RF_RECORDED_WORDS 'a recorded key of a kind that no reader has'
check 'the records of recorded events compile' assembles watch/records.c
sed -i 's/^\(EVENT\)_FIELD(interval, SECONDS/RECORDED_FIELD(interval, SECONDS/' "$events"
refused watch/records.c RF_RECORDED_SECONDS 'a recorded key that a history cannot have'

queries=$tree/user/watch/queries.c
check 'the tables of a history compile' assembles watch/queries.c
sed -i 's/^RECORDED_FIELD(rate, TEXT, /RECORDED_FIELD(rate, WORDS, /' "$events"
refused watch/queries.c COLUMN_OF_WORDS 'a recorded key of a kind without a column'
refused_row() {
	sed -i "s/$1/$2/" "$queries"
	check "$4: there is such a row" grep -qF -- "$2" "$queries"
	refused watch/queries.c "$3" "$4"
}
refused_row 'TIME(end_ns, "end")' 'TIME(why, "end")' 'the kind of a row must fit its member' 'a column of a time in a text'
refused_row 'COLUMN(share)' 'COLUMN(part)' "has no member named 'part'" 'a column without a member'
sed -i 's/\[RF_TABLE_LIMITS\] = /[RF_TABLE_SERIES] = /' "$queries"
complained "table 'rf_tables' has no row for RF_TABLE_LIMITS" 'a table of a history without a row'
cp -r include user "$tree"

settings=$tree/user/schema/watch_settings.def
check 'the settings compile' assembles daemon/settings.c
check 'those of the agent compile' assembles agent/settings.c
sed -i 's/^\t"how far the history goes back")/)/; s/, "how far the history goes back")/)/' "$settings"
refused daemon/settings.c 'requires' 'a setting without help'
sed -i 's/ size, most_bytes,/ size, most,/' "$settings"
refused daemon/settings.c "has no member named 'most'" 'a setting without a place'
sed -i 's/ time, keep_ns,/ days, keep_ns,/' "$settings"
refused daemon/settings.c "'rf_setting_days' undeclared" 'a setting without a parser'

metrics=$tree/user/schema/metrics.def
check 'the metrics compile' assembles watch/metrics_text.c
sed -i 's/"Packets by verdict and reason.",//' "$metrics"
refused watch/metrics_text.c 'requires 9 arguments' 'a metric without help'
sed -i 's/value(writer, metrics->is_up))/)/' "$metrics"
refused watch/metrics_text.c 'expected expression' 'a metric without a value'

records=$tree/user/snapshot/records.c
# misfit KIND OLD NEW: a row of the records with that member does not compile
misfit() {
	sed -i "s/$2/$3/" "$records"
	check "$1: there is such a row" grep -qF -- "$3" "$records"
	refused snapshot/records.c "the kind of a row must fit its member" "a row $1"
}

check 'the records compile' assembles snapshot/records.c
misfit 'of a time in 32 bits' 'struct rf_ban_row, left_ns' 'struct rf_ban_row, limit_id'
misfit 'of a prefix in an address' 'RF_FIELD_OF_PREFIX("source", struct rf_source_row, source' \
	'RF_FIELD_OF_PREFIX("source", struct rf_ban_row, source'
misfit 'of an object in a pointer' 'struct rf_shown, decision, by_fields' 'struct rf_shown_limit, its, by_fields'
misfit 'of a pointer in an object' 'struct rf_interface_totals, counted, interface_packets' \
	'struct rf_limit_totals, counted, interface_packets'
misfit 'by a pointer that is an object' 'RF_FIELDS_VIA(struct rf_totals, fence,' 'RF_FIELDS_VIA(struct rf_totals, rules,'
sed -i 's/RF_FIELD("passed", struct rf_flow_rates, passed/RF_FIELD("passed", struct { float passed; }, passed/' "$records"
refused snapshot/records.c '_Generic' 'a number of a kind that no row has'

# Written by hand, because everything else is generated from the rows: programs read these names.
is "$(cut -d'|' -f1,2 build/schema/reasons | tr '\n' ' ')" 'under_limit|passed shadow_over|passed no_limit|passed '\
'allowed|passed non_ip|passed neighbour|passed newcomer_pass|passed established|passed proven|passed unconfirmed|passed paused|passed map_error|passed '\
'over_limit|dropped banned|dropped denied|dropped contended|dropped newcomer_drop|dropped challenged|dropped no_window|dropped '\
'unclassified|dropped deep_vlan|dropped malformed|dropped ' 'the reasons have the names and verdicts that programs know'
is "$(cut -d'|' -f1 build/schema/map_errors | tr '\n' ' ')" \
	'insert_busy insert_nomem insert_full insert_other window_lost no_idle_slot delete_busy ' 'so do the errors of maps'

done_testing
