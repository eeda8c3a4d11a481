// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/limit_change.h"
#include "cli/out.h"
#include "cli/view.h"
#include "rules/grammar.h"

#define FROM_SHOWN 2 /* prefixes; of more, the number is shown */

enum part {
	RATE,
	MATCH,
	DPORT,
	SPORT,
	TO,
	LENGTH,
	FLAGS,
	FROM,
	PER,
	PER6,
	ALGORITHM,
	BURST,
	CELLS,
	EDGE,
	STANDING,
	COUNT,
	EXACT,
	BAN,
	FLEET,
	FIRST,
	ALONE,
};

static const char *const names[RF_LIMIT_PARTS] = {
	[RATE] = "rate",     [MATCH] = "match", [DPORT] = "dport",	   [FROM] = "from",
	[PER] = "per",	     [PER6] = "per6",	[ALGORITHM] = "algorithm", [BURST] = "burst",
	[CELLS] = "cells",   [EDGE] = "edge",	[STANDING] = "standing",   [COUNT] = "count",
	[EXACT] = "exact",   [BAN] = "ban",	[SPORT] = "sport",	   [TO] = "to",
	[LENGTH] = "length", [FLAGS] = "flags", [FLEET] = "fleet",	   [FIRST] = "first",
	[ALONE] = "alone",
};

/* Is its text clear without its name? */
static bool speaks_for_itself(enum part part)
{
	return part == STANDING || part == EXACT || part == FLEET;
}

static void format_from(const struct rf_ruleset *rules, int slot, char text[RF_LIMIT_PART_SIZE])
{
	const size_t count = rf_view_count_from(rules, slot);

	strcpy(text, "any");
	if (count > FROM_SHOWN)
		snprintf(text, RF_LIMIT_PART_SIZE, "%zu prefixes", count);
	else if (count)
		*text = '\0';
	for (size_t i = 0; count <= FROM_SHOWN && i < rules->listed_count; i++) {
		char prefix[RF_PREFIX_TEXT_SIZE];
		const size_t length = strlen(text);

		if (!(rules->listed[i].from >> slot & 1))
			continue;
		rf_format_prefix(&rules->listed[i].prefix, prefix);
		snprintf(text + length, RF_LIMIT_PART_SIZE - length, "%s%s", length ? "," : "",
			 prefix);
	}
}

/* FNV-1a. */
static uint64_t hash(uint64_t sum, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return sum;
}

static uint64_t hash_from(const struct rf_ruleset *rules, int slot)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < rules->listed_count; i++) {
		const struct rf_prefix *prefix = &rules->listed[i].prefix;

		if (!(rules->listed[i].from >> slot & 1))
			continue;
		sum = hash(sum, &prefix->length, sizeof(prefix->length));
		sum = hash(sum, prefix->word, sizeof(prefix->word));
	}
	return sum;
}

static uint64_t hash_ports(const uint64_t *ports)
{
	return ports ? hash(0xcbf29ce484222325, ports, RF_PORTS / 8) : 0;
}

static void format_to(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts)
{
	char *text = rf_view_to_text(rules, slot);

	snprintf(parts->text[TO], RF_LIMIT_PART_SIZE, "%s", text ? text : "any");
	parts->to = text ? hash(0xcbf29ce484222325, text, strlen(text)) : 0;
	free(text);
}

/* What tells packets apart beyond protocol and destination port. */
static void format_shape(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char ports[RF_PORTS_TEXT_SIZE], length[RF_LENGTH_TEXT_SIZE], flags[RF_FLAGS_TEXT_SIZE];

	rf_view_ports_text(rules->sports[slot], ports);
	rf_format_length(limit, length);
	rf_format_tcp_flags(limit, flags);
	snprintf(parts->text[SPORT], RF_LIMIT_PART_SIZE, "%s", *ports ? ports : "any");
	snprintf(parts->text[LENGTH], RF_LIMIT_PART_SIZE, "%s", *length ? length : "any");
	snprintf(parts->text[FLAGS], RF_LIMIT_PART_SIZE, "%s", *flags ? flags : "any");
	format_to(rules, slot, parts);
	parts->sports = hash_ports(rules->sports[slot]);
}

static void format_times(const struct rf_limit *limit, struct rf_limit_parts *parts)
{
	char rate[RF_RATE_TEXT_SIZE], count[RF_COUNT_TEXT_SIZE], ban[RF_DURATION_TEXT_SIZE];

	rf_format_limit_rate(limit, rate);
	rf_format_burst(limit, count);
	rf_format_for(limit->ban_ns, ban);
	snprintf(parts->text[RATE], RF_LIMIT_PART_SIZE, "%s", rate);
	snprintf(parts->text[BURST], RF_LIMIT_PART_SIZE, "%s",
		 rf_has_burst(limit) ? count : "none");
	snprintf(parts->text[BAN], RF_LIMIT_PART_SIZE, "%s%s", limit->ban_ns ? ban : "none",
		 limit->flags & RF_BAN_ALL ? " all" : "");
}

static void format_fleet(const struct rf_limit *limit, struct rf_limit_parts *parts)
{
	char first[RF_COUNT_TEXT_SIZE], alone[RF_RATE_TEXT_SIZE];

	rf_format_first(limit, first);
	rf_format_alone(limit, alone);
	strcpy(parts->text[FLEET], limit->flags & RF_FLEET ? "fleet" : "not fleet");
	snprintf(parts->text[FIRST], RF_LIMIT_PART_SIZE, "%s", *first ? first : "default");
	snprintf(parts->text[ALONE], RF_LIMIT_PART_SIZE, "%s", *alone ? alone : "default");
}

void rf_limit_parts_read(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	char match[RF_MATCH_TEXT_SIZE], ports[RF_PORTS_TEXT_SIZE];

	parts->id = rules->bank.policy[slot].id;
	parts->is_default = (unsigned int)(limit->burst == rf_default_burst(limit)) << BURST |
			    (unsigned int)(limit->cells == rf_default_cells(limit)) << CELLS |
			    (unsigned int)(limit->edge == RF_EDGE_STRICT) << EDGE;
	parts->from = hash_from(rules, slot);
	parts->ports = hash_ports(rules->ports[slot]);
	format_times(limit, parts);
	format_from(rules, slot, parts->text[FROM]);
	rf_format_match(limit, match);
	rf_view_ports_text(rules->ports[slot], ports);
	format_shape(rules, slot, parts);
	snprintf(parts->text[MATCH], RF_LIMIT_PART_SIZE, "%s", match);
	snprintf(parts->text[DPORT], RF_LIMIT_PART_SIZE, "%s", *ports ? ports : "any");
	snprintf(parts->text[PER], RF_LIMIT_PART_SIZE, "/%d", limit->per4);
	snprintf(parts->text[PER6], RF_LIMIT_PART_SIZE, "/%d", limit->per6);
	snprintf(parts->text[ALGORITHM], RF_LIMIT_PART_SIZE, "%s",
		 rf_algorithm_name(limit->algorithm));
	snprintf(parts->text[CELLS], RF_LIMIT_PART_SIZE, "%d", limit->cells);
	snprintf(parts->text[EDGE], RF_LIMIT_PART_SIZE, "%s", rf_edge_name(limit->edge));
	strcpy(parts->text[STANDING], limit->flags & RF_SHADOW ? "shadow" : "in force");
	strcpy(parts->text[COUNT], limit->flags & RF_COUNT_REJECTED ? "rejected" : "passed");
	strcpy(parts->text[EXACT], limit->flags & RF_EXACT ? "exact" : "not exact");
	format_fleet(limit, parts);
}

static bool differ(const struct rf_limit_parts *before, const struct rf_limit_parts *after,
		   int part)
{
	/* Another algorithm has its own default of burst, cells and edge. */
	if ((before->is_default & after->is_default) >> part & 1 &&
	    strcmp(before->text[ALGORITHM], after->text[ALGORITHM]) != 0)
		return false;
	if (part == DPORT)
		return before->ports != after->ports;
	if (part == SPORT)
		return before->sports != after->sports;
	if (part == TO)
		return before->to != after->to;
	if (part == FROM)
		return before->from != after->from;
	return strcmp(before->text[part], after->text[part]) != 0;
}

/* The new text; where the part differs and its text does not, "others". */
static const char *new_text(const struct rf_limit_parts *before, const struct rf_limit_parts *after,
			    int part)
{
	return strcmp(before->text[part], after->text[part]) == 0 ? "others" : after->text[part];
}

bool rf_limit_parts_differ(const struct rf_limit_parts *before, const struct rf_limit_parts *after)
{
	for (int i = 0; i < RF_LIMIT_PARTS; i++)
		if (differ(before, after, i))
			return true;
	return before->id != after->id;
}

void rf_limit_parts_print_change(const char *name, const struct rf_limit_parts *before,
				 const struct rf_limit_parts *after)
{
	const char *between = "";

	rf_out_text("limit '%s': ", name);
	for (int i = 0; i < RF_LIMIT_PARTS; i++) {
		if (!differ(before, after, i))
			continue;
		rf_out_text("%s%s%s%s → %s", between, speaks_for_itself(i) ? "" : names[i],
			    speaks_for_itself(i) ? "" : " ", before->text[i],
			    new_text(before, after, i));
		between = "; ";
	}
	rf_out_text("%s%s\n", *between ? "" : "nothing changed",
		    before->id == after->id ? "" : "; its windows start afresh");
}

json_t *rf_limit_parts_json(const char *name, const struct rf_limit_parts *before,
			    const struct rf_limit_parts *after)
{
	json_t *changes = json_array();

	for (int i = 0; i < RF_LIMIT_PARTS; i++)
		if (differ(before, after, i))
			json_array_append_new(changes,
					      json_pack("{s:s, s:s, s:s}", "what", names[i],
							"before", before->text[i], "after",
							new_text(before, after, i)));
	return json_pack("{s:s, s:o, s:b}", "limit", name, "changes", changes, "windows_kept",
			 before->id == after->id);
}
