# SPDX-License-Identifier: GPL-2.0
# Tables that are indexed by an enum must have a row for each of its members: a missing row would be
# read as NULL or 0. Reads headers and sources. A table is checked if its size is a member of an
# enum ('[RF_MAP_COUNT]': all members before it), or if it has no size (all members except a last
# one that counts them). A file of rows ('#include "….def"') also generates its enum, so no row can
# be missing. 'sparse:' in a comment on the preceding line marks intentional holes.

function complain(text) {
	print text | "cat >&2"
	failed = 1
}

# Members with a value are aliases or bits: neither needs a row.
function add_members(line, part, parts, i) {
	parts = split(line, part, ",")
	for (i = 1; i <= parts; i++) {
		gsub(/[ \t]/, "", part[i])
		if (part[i] ~ /^[A-Z][A-Z0-9_]*$/) {
			enum_of[part[i]] = enums
			place_of[part[i]] = members[enums]
			member[enums, members[enums]++] = part[i]
		}
	}
}

function check_table(  of, end, i, row) {
	if (!rows && size in enum_of && body !~ /^#include|^[^{]*\(|^[ \t]*\}/)
		complain(place ": table '" name "' has rows without their '[MEMBER] ='")
	if (is_sparse || !rows || !(first in enum_of))
		return
	of = enum_of[first]
	if (size != "" && (!(size in enum_of) || enum_of[size] != of))
		return
	end = size != "" ? place_of[size] : members[of]
	for (i = 0; size == "" && i < end; i++)
		if (member[of, i] ~ /_(COUNT|OPTIONS)$/ && !(member[of, i] in has))
			end = i
	for (i = 0; i < end; i++)
		if (!(member[of, i] in has))
			complain(place ": table '" name "' has no row for " member[of, i])
	tables++
}

{
	line = $0
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	comment = line ~ /sparse:/
	sub(/\/[*\/].*$/, "", line)
}

/^enum( [a-z_0-9]+)? \{/ {
	in_enum = 1
	members[++enums] = 0
	sub(/^[^{]*\{/, "", line)
}
in_enum {
	is_last = line ~ /\}/
	sub(/\}.*/, "", line)
	add_members(line)
	in_enum = !is_last
	next
}

function begin_table(its_name, its_size) {
	name = its_name
	size = its_size
	place = FILENAME ":" FNR
	is_sparse = was_sparse
	in_table = 1
	rows = 0
	first = body = ""
	split("", has)
}

/^#define [A-Z_]+_WORDS +\\$/ {
	begin_table($2, "")
	is_macro = 1
	next
}
!in_table && line ~ /^const|static const/ && match(line, /[a-z_0-9]+\[[A-Z_0-9]*\](\[[A-Z_0-9]*\])* = \{/) {
	split(substr(line, RSTART, RLENGTH), part, /[[\]]/)
	line = substr(line, RSTART + RLENGTH)
	begin_table(part[1], part[2])
	is_macro = 0
}
in_table {
	rest = line
	body = body line
	while (match(rest, /\[[A-Z][A-Z0-9_]*\] =|[A-Z]+\([A-Z][A-Z0-9_]*,/)) {
		row = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		gsub(/^[A-Z]*[[(]|[],].*$/, "", row)
		if (first == "")
			first = row
		has[row]
		rows++
	}
	if (is_macro ? line !~ /\\$/ : line ~ /\};/) {
		in_table = 0
		check_table()
	}
}
{ was_sparse = comment }

END {
	if (tables < 20)
		complain("only " tables + 0 " tables were found: this script no longer reads the sources")
	exit failed
}
