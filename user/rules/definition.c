// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/siphash.h"
#include "ringfence/share.h"
#include "rules/attribute.h"
#include "rules/definition.h"
#include "rules/destination.h"
#include "rules/policy.h"

/* Not secret: all hosts have the same. The last digit is the version of the text. */
static const uint64_t key[2] = {0x72696e6766656e63, 0x6520666c65657401};

/* ---- what each attribute is, apart from how it was written ---- */

__attribute__((format(printf, 2, 3))) static void append(struct rf_writing *to, const char *format,
							 ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(to->stream, format, args);
	va_end(args);
}

static void define_rate(struct rf_writing *to)
{
	append(to, "rate %" PRIu64 "/%" PRIu64 " unit %d", (uint64_t)to->limit->rate,
	       (uint64_t)to->limit->window_ns, to->limit->unit);
}

static void define_match(struct rf_writing *to)
{
	append(to, " match %d proto %d", to->limit->match,
	       to->limit->match == RF_MATCH_PROTOCOL ? to->limit->protocol : 0);
}

static void define_lengths(struct rf_writing *to)
{
	append(to, " length %d-%d", to->limit->length_min, to->limit->length_max);
}

static void define_flags(struct rf_writing *to)
{
	append(to, " flags %d/%d", to->limit->tcp_flags, to->limit->tcp_mask);
}

static void define_number(struct rf_writing *to)
{
	append(to, " %s %" PRIu64, rf_limit_options[to->part].word,
	       rf_attribute_value(to->part, to->limit));
}

static void define_first(struct rf_writing *to)
{
	const struct rf_bank *bank = &to->ruleset->bank;

	append(to, " first %" PRIu64 " hosts %" PRIu32, rf_bank_first(bank, to->limit),
	       bank->hosts);
}

/* Each item of a list by itself, with the word. */
static void define_items(struct rf_writing *to)
{
	char before[RF_NAME_SIZE];

	snprintf(before, sizeof(before), " %s ", rf_limit_options[to->part].word);
	to->before = to->between = before;
	rf_attributes[to->part].write(to);
}

/* In the order of the prefixes, whatever it is in the rules. */
static void define_to(struct rf_writing *to)
{
	const struct rf_shapes *shapes = &to->ruleset->bank.shapes;
	struct rf_prefix prefix, last, next = {};
	char text[RF_PREFIX_TEXT_SIZE];

	for (bool is_first = true;; is_first = false) {
		bool found = false;

		for (int at = 0; rf_to_next(shapes, to->slot, &at, &prefix);) {
			if (!is_first && rf_prefix_compare(&prefix, &last) <= 0)
				continue;
			if (!found || rf_prefix_compare(&prefix, &next) < 0)
				next = prefix;
			found = true;
		}
		if (!found)
			return;
		rf_format_prefix(&next, text);
		append(to, " to %s", text);
		last = next;
	}
}

/* ---- all of it ---- */

#define DEFINED(by) by
#define EACH_HOST NULL
#define PART(id, word, option, store, no, text, json, define, ...) [RF_OPT_##id] = define,
#define HEAD(id, word, option, store, text, json, define, ...) [RF_OPT_##id] = define,
#define WORD(...)

/* NULL: each host decides it for itself. */
static void (*const definitions[RF_LIMIT_OPTIONS])(struct rf_writing *to) = {
#include "rules/limit.def"
};

/* Single values come first, then lists. */
static void write_text(FILE *stream, const struct rf_ruleset *ruleset, int slot)
{
	struct rf_writing to = {.stream = stream,
				.limit = &ruleset->bank.limit[slot],
				.ruleset = ruleset,
				.slot = slot};

	for (int i = 0; i < 2 * RF_LIMIT_OPTIONS; i++) {
		to.part = i % RF_LIMIT_OPTIONS;
		if (definitions[to.part] &&
		    rf_option_is_list(&rf_limit_options[to.part]) == (i >= RF_LIMIT_OPTIONS))
			definitions[to.part](&to);
	}
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
