// SPDX-License-Identifier: GPL-2.0
/* Values to text, as the grammar reads it, and the words that name values. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "grammar_internal.h"

const char *const rf_algorithm_names[] = {
	[RF_SLIDING] = "sliding", [RF_FIXED] = "fixed", [RF_LOG] = "log",
	[RF_TOKEN] = "token",	  [RF_LEAKY] = "leaky",
};

const char *const rf_edge_names[] = {
	[RF_EDGE_STRICT] = "strict",
	[RF_EDGE_COARSE] = "coarse",
	[RF_EDGE_WEIGHTED] = "weighted",
};

const char *const rf_unit_names[] = {
	[RF_PACKETS] = "packets",
	[RF_BYTES] = "bytes",
};

const char *const rf_newcomers_names[] = {
	[RF_NEWCOMERS_OFF] = "off",
	[RF_NEWCOMERS_OPEN] = "open",
	[RF_NEWCOMERS_CLOSED] = "closed",
	[RF_NEWCOMERS_AGGREGATE] = "aggregate",
};

static const char *const mode_names[] = {
	[RF_NATIVE] = "native",
	[RF_GENERIC] = "generic",
	[RF_OFFLOAD] = "offload",
};

/* Out of range is what only a map can hold that this build did not write. */
static const char *name_of(unsigned int value, const char *const *names, size_t count)
{
	return value < count ? names[value] : "unknown";
}

const char *rf_mode_name(enum rf_mode mode)
{
	return mode_names[mode];
}

const char *rf_algorithm_name(enum rf_algorithm algorithm)
{
	return name_of(algorithm, rf_algorithm_names, ARRAY_SIZE(rf_algorithm_names));
}

const char *rf_edge_name(enum rf_edge edge)
{
	return name_of(edge, rf_edge_names, ARRAY_SIZE(rf_edge_names));
}

const char *rf_unit_name(enum rf_unit unit)
{
	return name_of(unit, rf_unit_names, ARRAY_SIZE(rf_unit_names));
}

const char *rf_newcomers_then_name(enum rf_newcomers_then then)
{
	return name_of(then, rf_newcomers_names, ARRAY_SIZE(rf_newcomers_names));
}

bool rf_has_burst(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

uint64_t rf_default_burst(const struct rf_limit *limit)
{
	if (limit->algorithm == RF_TOKEN)
		return limit->rate;
	return limit->algorithm == RF_LEAKY ? 1 : 0;
}

size_t rf_find_name(const char *word, const char *const *names, size_t count)
{
	size_t i = 0;

	while (i < count && strcmp(word, names[i]) != 0)
		i++;
	return i;
}

/* `value` with the largest suffix that leaves it whole; 0 has none. */
static void format_scaled(uint64_t value, const struct rf_suffix *suffixes, size_t count,
			  char *text, size_t size)
{
	const struct rf_suffix *best = &suffixes[0];

	for (size_t i = 1; i < count; i++)
		if (value && value % suffixes[i].factor == 0)
			best = &suffixes[i];
	snprintf(text, size, "%" PRIu64 "%s", value / best->factor, best->text);
}

void rf_format_count(uint64_t count, char text[RF_COUNT_TEXT_SIZE])
{
	format_scaled(count, rf_count_suffixes, ARRAY_SIZE(rf_count_suffixes), text,
		      RF_COUNT_TEXT_SIZE);
}

static void format_time(uint64_t time_ns, char text[RF_COUNT_TEXT_SIZE])
{
	format_scaled(time_ns / RF_NS_PER_MS, rf_time_suffixes, ARRAY_SIZE(rf_time_suffixes), text,
		      RF_COUNT_TEXT_SIZE);
}

static void format_rate(uint64_t count, uint64_t window_ns, const char *unit,
			char text[RF_RATE_TEXT_SIZE])
{
	char count_text[RF_COUNT_TEXT_SIZE], time_text[RF_COUNT_TEXT_SIZE];

	rf_format_count(count, count_text);
	format_time(window_ns, time_text);
	snprintf(text, RF_RATE_TEXT_SIZE, "%s/%s%s", count_text, time_text, unit);
}

void rf_format_rate(uint64_t count, uint64_t window_ns, char text[RF_RATE_TEXT_SIZE])
{
	format_rate(count, window_ns, "", text);
}

void rf_format_limit_rate(const struct rf_limit *limit, char text[RF_RATE_TEXT_SIZE])
{
	format_rate(limit->rate, limit->window_ns, limit->unit == RF_BYTES ? " bytes" : "", text);
}

/* Adds to what `text` holds already. */
__attribute__((format(printf, 2, 3))) static void append(char text[RF_LIMIT_TEXT_SIZE],
							 const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RF_LIMIT_TEXT_SIZE - length, format, args);
	va_end(args);
}

static void append_match(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	static const char *const matches[] = {
		[RF_MATCH_TCP] = "tcp",	  [RF_MATCH_SYN] = "tcp syn", [RF_MATCH_UDP] = "udp",
		[RF_MATCH_ICMP] = "icmp", [RF_MATCH_OTHER] = "other",
	};

	if (limit->match == RF_MATCH_PROTOCOL)
		append(text, " match proto %d", limit->protocol);
	else if (limit->match != RF_MATCH_ANY)
		append(text, " match %s", name_of(limit->match, matches, ARRAY_SIZE(matches)));
}

static void append_flags(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	if (limit->flags & RF_SHADOW)
		append(text, " shadow");
	if (limit->flags & RF_COUNT_REJECTED)
		append(text, " count rejected");
	if (limit->flags & RF_EXACT)
		append(text, " exact");
}

void rf_format_limit(const struct rf_limit *limit, char text[RF_LIMIT_TEXT_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], burst[RF_COUNT_TEXT_SIZE], ban[RF_COUNT_TEXT_SIZE];

	rf_format_limit_rate(limit, rate);
	rf_format_count(limit->burst, burst);
	format_time(limit->ban_ns, ban);
	snprintf(text, RF_LIMIT_TEXT_SIZE, "%s rate %s", limit->name, rate);
	if (limit->algorithm != RF_SLIDING)
		append(text, " algorithm %s", rf_algorithm_name(limit->algorithm));
	if (limit->algorithm == RF_SLIDING && limit->cells != RF_CELLS)
		append(text, " cells %d", limit->cells);
	if (limit->edge != RF_EDGE_STRICT)
		append(text, " edge %s", rf_edge_name(limit->edge));
	if (limit->burst != rf_default_burst(limit))
		append(text, " burst %s", burst);
	append_match(limit, text);
	if (limit->per4 != RF_PER4_DEFAULT)
		append(text, " per /%d", limit->per4);
	if (limit->per6 != RF_PER6_DEFAULT)
		append(text, " per6 /%d", limit->per6);
	append_flags(limit, text);
	if (limit->ban_ns)
		append(text, " ban %s%s", ban, limit->flags & RF_BAN_ALL ? " all" : "");
}
