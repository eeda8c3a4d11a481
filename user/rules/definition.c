// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/siphash.h"
#include "ringfence/share.h"
#include "rules/definition.h"
#include "rules/destination.h"
#include "rules/policy.h"

#define TEXT_SIZE 256

/* Not secret: all hosts have the same. The last digit is the version of the text. */
static const uint64_t key[2] = {0x72696e6766656e63, 0x6520666c65657401};

static void write_word(FILE *stream, const char *word, const char *value)
{
	fputs(" ", stream);
	fputs(word, stream);
	fputs(" ", stream);
	fputs(value, stream);
}

static void write_ports(FILE *stream, const char *word, const uint64_t *ports)
{
	char range[RF_PORT_RANGE_TEXT_SIZE];

	for (int first = 0; ports && rf_format_port_range(ports, &first, range);)
		write_word(stream, word, range);
}

static void write_prefix(FILE *stream, const char *word, const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	write_word(stream, word, text);
}

/* In the order of the prefixes, whatever it is in the rules. */
static void write_to(FILE *stream, const struct rf_ruleset *ruleset, int slot)
{
	struct rf_prefix prefix, last, next = {};

	for (bool is_first = true;; is_first = false) {
		bool found = false;

		for (int at = 0; rf_to_next(&ruleset->bank.shapes, slot, &at, &prefix);) {
			if (!is_first && rf_prefix_compare(&prefix, &last) <= 0)
				continue;
			if (!found || rf_prefix_compare(&prefix, &next) < 0)
				next = prefix;
			found = true;
		}
		if (!found)
			return;
		write_prefix(stream, "to", &next);
		last = next;
	}
}

static void write_text(FILE *stream, const struct rf_ruleset *ruleset, int slot)
{
	const struct rf_limit *limit = &ruleset->bank.limit[slot];
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text),
		 "rate %" PRIu64 "/%" PRIu64 " unit %d match %d proto %d length %d-%d flags %d/%d "
		 "per %d per6 %d first %" PRIu64 " hosts %" PRIu32,
		 (uint64_t)limit->rate, (uint64_t)limit->window_ns, limit->unit, limit->match,
		 limit->match == RF_MATCH_PROTOCOL ? limit->protocol : 0, limit->length_min,
		 limit->length_max, limit->tcp_flags, limit->tcp_mask, limit->per4, limit->per6,
		 rf_bank_first(&ruleset->bank, limit), ruleset->bank.hosts);
	fputs(text, stream);
	write_ports(stream, "dport", ruleset->ports[slot]);
	write_ports(stream, "sport", ruleset->sports[slot]);
	write_to(stream, ruleset, slot);
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if (ruleset->listed[i].from >> slot & 1)
			write_prefix(stream, "from", &ruleset->listed[i].prefix);
}

int rf_ruleset_definition(const struct rf_ruleset *ruleset, int slot, uint64_t *definition)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool failed;

	if (!stream)
		return -ENOMEM;
	write_text(stream, ruleset, slot);
	failed = ferror(stream);
	failed |= fclose(stream) != 0;
	if (!failed)
		*definition = rf_siphash(key, text, size);
	free(text);
	return failed ? -ENOMEM : 0;
}

int rf_ruleset_define(struct rf_ruleset *ruleset, uint32_t *next_id, struct rf_error *error)
{
	for (uint32_t slots = rf_bank_fleet(&ruleset->bank); slots; slots &= slots - 1) {
		const int slot = __builtin_ctz(slots);
		struct rf_limit *limit = &ruleset->bank.limit[slot];
		uint64_t definition;

		if (rf_ruleset_definition(ruleset, slot, &definition))
			return rf_error_failed(error, -ENOMEM, "limit '%s': out of memory",
					       limit->name);
		if (definition == limit->definition)
			continue;
		limit->definition = definition;
		ruleset->bank.policy[slot].tag = rf_tag_of((*next_id)++);
	}
	return 0;
}
