// SPDX-License-Identifier: GPL-2.0
/* The text of each attribute of a limit, and of limits as saved rules have them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rules/attribute.h"
#include "rules/destination.h"
#include "rules/private.h"

/* ---- items ---- */

void rf_write_item(struct rf_writing *to, const char *item)
{
	fputs(to->before, to->stream);
	fputs(item, to->stream);
	to->before = to->between;
}

static void write_text(struct rf_writing *to, const char *text)
{
	if (*text)
		rf_write_item(to, text);
}

static void write_rate(struct rf_writing *to)
{
	char text[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(to->limit, text);
	rf_write_item(to, text);
}

static void write_match(struct rf_writing *to)
{
	char text[RF_MATCH_TEXT_SIZE];

	rf_format_match(to->limit, text);
	rf_write_item(to, text);
}

static void write_ports(struct rf_writing *to, const uint64_t *ports)
{
	char range[RF_PORT_RANGE_TEXT_SIZE];

	for (int first = 0; ports && rf_format_port_range(ports, &first, range);)
		rf_write_item(to, range);
}

static void write_dport(struct rf_writing *to)
{
	if (to->ruleset)
		write_ports(to, to->ruleset->ports[to->slot]);
}

static void write_sport(struct rf_writing *to)
{
	if (to->ruleset)
		write_ports(to, to->ruleset->sports[to->slot]);
}

static void write_prefix(struct rf_writing *to, const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	rf_write_item(to, text);
}

static void write_to(struct rf_writing *to)
{
	struct rf_prefix prefix;

	for (int at = 0;
	     to->ruleset && rf_to_next(&to->ruleset->bank.shapes, to->slot, &at, &prefix);)
		write_prefix(to, &prefix);
}

static void write_from(struct rf_writing *to)
{
	for (size_t i = 0; to->ruleset && i < to->ruleset->listed_count; i++)
		if (to->ruleset->listed[i].from >> to->slot & 1)
			write_prefix(to, &to->ruleset->listed[i].prefix);
}

static void write_length(struct rf_writing *to)
{
	char text[RF_LENGTH_TEXT_SIZE];

	rf_format_length(to->limit, text);
	write_text(to, text);
}

static void write_tcp_flags(struct rf_writing *to)
{
	char text[RF_FLAGS_TEXT_SIZE];

	rf_format_tcp_flags(to->limit, text);
	write_text(to, text);
}

static void write_number(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, rf_attribute_value(to->part, to->limit));
	rf_write_item(to, text);
}

static void write_prefix_length(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	snprintf(text, sizeof(text), "/%" PRIu64, rf_attribute_value(to->part, to->limit));
	rf_write_item(to, text);
}

/* Only a map that another program wrote can hold a value out of range. */
static void write_word(struct rf_writing *to)
{
	const struct rf_option *words = rf_limit_options[to->part].words;
	uint64_t left = rf_attribute_value(to->part, to->limit);

	for (; left && words->word; left--)
		words++;
	rf_write_item(to, words->word ?: "unknown");
}

static void write_flag(struct rf_writing *to)
{
	if (rf_attribute_value(to->part, to->limit))
		rf_write_item(to, rf_limit_options[to->part].word);
}

/* The only word that may follow the option's. */
static void write_only_word(struct rf_writing *to)
{
	if (rf_attribute_value(to->part, to->limit))
		rf_write_item(to, rf_limit_options[to->part].words[0].word);
}

static void write_burst(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	rf_format_burst(to->limit, text);
	if (rf_has_burst(to->limit))
		rf_write_item(to, text);
}

static void write_ban(struct rf_writing *to)
{
	const char *all = rf_limit_options[RF_OPT_BAN].then[0].word;
	char time[RF_COUNT_TEXT_SIZE], text[2 * RF_COUNT_TEXT_SIZE];
	const bool has_all = to->limit->flags & RF_BAN_ALL;

	rf_format_time(to->limit->ban_ns, time);
	snprintf(text, sizeof(text), "%s%s%s", time, has_all ? " " : "", has_all ? all : "");
	if (to->limit->ban_ns)
		rf_write_item(to, text);
}

static void write_first(struct rf_writing *to)
{
	char text[RF_COUNT_TEXT_SIZE];

	rf_format_count(to->limit->first, text);
	if (to->limit->flags & RF_FIRST_GIVEN)
		rf_write_item(to, text);
}

static void write_alone(struct rf_writing *to)
{
	struct rf_limit alone = *to->limit;
	char text[RF_RATE_TEXT_SIZE];

	alone.rate = alone.alone;
	alone.unit = RF_PACKETS; /* the limit has said what it counts */
	rf_format_limit_rate(&alone, text);
	if (alone.flags & RF_ALONE_FIRST)
		rf_write_item(to, rf_limit_options[RF_OPT_ALONE].words[0].word);
	else if (alone.alone)
		rf_write_item(to, text);
}

/* ---- the rows ---- */

static uint64_t default_algorithm(const struct rf_limit *limit)
{
	return rf_default_algorithm(limit);
}

static uint64_t default_cells(const struct rf_limit *limit)
{
	return rf_default_cells(limit);
}

/* Only a limit of the fleet has these two. */
static bool has_no_first(const struct rf_limit *limit)
{
	return !(limit->flags & RF_FLEET) || !(limit->flags & RF_FIRST_GIVEN);
}

static bool has_no_alone(const struct rf_limit *limit)
{
	return !(limit->flags & RF_FLEET) || !(limit->alone || limit->flags & RF_ALONE_FIRST);
}

#define AT(member) \
	.at = offsetof(struct rf_limit, member), .size = sizeof(((struct rf_limit *)0)->member)
#define TEXT(write, none) write, none
#define PART(id, word, option, store, no, text, json, define, ...) \
	[RF_OPT_##id] = {text, __VA_ARGS__},
#define HEAD(id, word, option, store, text, json, define, ...) [RF_OPT_##id] = {text, __VA_ARGS__},
#define WORD(...)

const struct rf_attribute rf_attributes[RF_LIMIT_OPTIONS] = {
#include "rules/limit.def"
};

uint64_t rf_attribute_value(enum rf_limit_option part, const struct rf_limit *limit)
{
	const struct rf_attribute *attribute = &rf_attributes[part];
	const uint32_t bit = rf_limit_options[part].bit;

	if (bit)
		return (limit->flags & bit) != 0;
	return rf_field_read((const char *)limit + attribute->at, attribute->size);
}

bool rf_attribute_is_default(enum rf_limit_option part, const struct rf_limit *limit)
{
	const struct rf_attribute *attribute = &rf_attributes[part];

	if (attribute->is_default)
		return attribute->is_default(limit);
	if (!rf_limit_options[part].bit && !attribute->size)
		return false;
	return rf_attribute_value(part, limit) ==
	       (attribute->default_of ? attribute->default_of(limit) : attribute->initial);
}

void rf_limit_set_defaults(struct rf_limit *limit)
{
	for (int i = 0; i < RF_LIMIT_OPTIONS; i++)
		if (rf_attributes[i].initial)
			rf_field_write((char *)limit + rf_attributes[i].at, rf_attributes[i].size,
				       rf_attributes[i].initial);
}

/* ---- text ---- */

/* Ends the text of a stream, and returns it; NULL where there was no memory for it. */
static char *end_text(FILE *stream, char **text)
{
	const bool failed = ferror(stream);

	if (!fclose(stream) && !failed)
		return *text;
	free(*text);
	return NULL;
}

char *rf_attribute_text(enum rf_limit_option part, const struct rf_ruleset *ruleset, int slot)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct rf_writing to = {stream, part, &ruleset->bank.limit[slot], ruleset, slot, "", ","};

	if (!stream)
		return NULL;
	rf_attributes[part].write(&to);
	return end_text(stream, &text);
}

/* An attribute with its word, unless it is as by default. */
static void write_part(struct rf_writing *to)
{
	const struct rf_option *option = &rf_limit_options[to->part];
	const bool is_flag = option->kind == RF_KIND_NONE;
	char before[RF_NAME_SIZE];

	if (!rf_attributes[to->part].write || rf_attribute_is_default(to->part, to->limit))
		return;
	snprintf(before, sizeof(before), " %s%s", is_flag ? "" : option->word, is_flag ? "" : " ");
	to->before = before;
	rf_attributes[to->part].write(to);
}

/* NAME, the rate with what says how it counts, and then the others. */
static void write_limit(struct rf_writing *to)
{
	fputs(to->limit->name, to->stream);
	for (int i = 0; i < 2 * RF_LIMIT_OPTIONS; i++) {
		to->part = i % RF_LIMIT_OPTIONS;
		if ((rf_attributes[to->part].place < 0) == (i < RF_LIMIT_OPTIONS))
			write_part(to);
	}
}

void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char *written = NULL;
	size_t size;
	FILE *stream = open_memstream(&written, &size);
	struct rf_writing to = {.stream = stream, .limit = limit, .between = ","};

	*text = '\0';
	if (!stream)
		return;
	write_limit(&to);
	written = end_text(stream, &written);
	snprintf(text, RF_LIMIT_TEXT_SIZE, "%s", written ?: "");
	free(written);
}

char *rf_ruleset_format_limit(const struct rf_ruleset *ruleset, int slot)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct rf_writing to = {.stream = stream,
				.limit = &ruleset->bank.limit[slot],
				.ruleset = ruleset,
				.slot = slot,
				.between = ","};

	if (!stream)
		return NULL;
	fputs("limit add ", stream);
	write_limit(&to);
	return end_text(stream, &text);
}
