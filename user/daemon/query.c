// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "daemon/query.h"

#define NUMBER_DIGITS 15 /* milliseconds until the year 33658; JavaScript has them exactly */

enum word { WORD_FENCE, WORD_FROM, WORD_TO, WORD_SOURCE, WORDS };

static const char *const words[WORDS] = {
	[WORD_FENCE] = "fence",
	[WORD_FROM] = "from",
	[WORD_TO] = "to",
	[WORD_SOURCE] = "source",
};
static const char *const kinds[RF_QUERY_KINDS] = {
	[RF_QUERY_LIVE] = "live",	[RF_QUERY_RECENT] = "recent", [RF_QUERY_RANGE] = "range",
	[RF_QUERY_SOURCES] = "sources", [RF_QUERY_EVENTS] = "events", [RF_QUERY_SOURCE] = "source",
};

/* ---- text ---- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (found - digits) % 16 : -1;
}

/* Copies `length` bytes and decodes %XX. False: too long, not decodable, or with a control. */
static bool decode(const char *text, size_t length, char *to, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = text[i];

		if (c == '%') {
			const int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
			const int low = i + 2 < length ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = high << 4 | low;
			i += 2;
		}
		if (c < ' ' || c == 0x7f || at + 1 >= size)
			return false;
		to[at++] = c;
	}
	to[at] = '\0';
	return true;
}

static bool take_number(const char *text, uint64_t *number)
{
	const size_t digits = strspn(text, "0123456789");

	*number = 0;
	if (!digits || digits > NUMBER_DIGITS || text[digits])
		return false;
	for (size_t i = 0; i < digits; i++)
		*number = *number * 10 + (text[i] - '0');
	return *number != 0;
}

/* ---- words ---- */

static const char *take_source(struct rf_query *query, const char *value)
{
	struct rf_error ignored;
	struct rf_prefix prefix;
	char text[RF_PREFIX_TEXT_SIZE];

	if (rf_parse_prefix(value, &prefix, &ignored))
		return "'source' expects an address or a prefix\n";
	rf_format_prefix(&prefix, text);
	strcpy(query->source, text);
	query->has_source = 1;
	return NULL;
}

static const char no_fence[] = "'fence' expects the name of a fence\n";

static const char *take_value(struct rf_query *query, enum word word, const char *value)
{
	switch (word) {
	case WORD_FENCE:
		if (strlen(value) >= sizeof(query->fence))
			return no_fence;
		strcpy(query->fence, value);
		return NULL;
	case WORD_FROM:
		return take_number(value, &query->from_ms)
			       ? NULL
			       : "'from' expects milliseconds since 1970\n";
	case WORD_TO:
		return take_number(value, &query->to_ms) ? NULL
							 : "'to' expects milliseconds since 1970\n";
	default:
		return take_source(query, value);
	}
}

/* WORDS: it is none. */
static enum word find_word(const char *text, size_t length)
{
	int word = 0;

	while (word < WORDS &&
	       (strlen(words[word]) != length || strncmp(words[word], text, length) != 0))
		word++;
	return word;
}

static const char *take_args(struct rf_query *query, const char *args)
{
	unsigned int given = 0;

	while (*args) {
		const size_t length = strcspn(args, "&"), name = strcspn(args, "=&");
		const enum word word = find_word(args, name);
		char value[RF_QUERY_ARGS_SIZE];
		const char *wrong;

		if (word == WORDS || name == length)
			return "a query has fence=, from=, to= and source=\n";
		if (given >> word & 1)
			return "a word of the query is given twice\n";
		given |= 1U << word;
		if (!decode(args + name + 1, length - name - 1, value, sizeof(value)))
			return "the query is not encoded as a URL is\n";
		wrong = take_value(query, word, value);
		if (wrong)
			return wrong;
		args += length + (args[length] == '&');
	}
	return NULL;
}

/* ---- queries ---- */

static const char *judge(const struct rf_query *query)
{
	const bool has_range = query->from_ms || query->to_ms;

	if (strchr(query->fence, '/'))
		return no_fence;
	if (query->kind == RF_QUERY_LIVE || query->kind == RF_QUERY_RECENT)
		return has_range || query->has_source ? "'live' and 'recent' take fence= alone\n"
						      : NULL;
	if (!query->from_ms || query->from_ms >= query->to_ms ||
	    query->to_ms - query->from_ms > RF_QUERY_SPAN_MAX_MS)
		return "a range has from= and to=, in this order, and 400 days at most\n";
	if (query->has_source != (query->kind == RF_QUERY_SOURCE))
		return "'source' takes source=, and nothing else does\n";
	return NULL;
}

static bool find_kind(const char *path, uint32_t *kind)
{
	const size_t before = strlen(RF_QUERY_PATH);

	if (strncmp(path, RF_QUERY_PATH, before) != 0)
		return false;
	for (*kind = 0; *kind < RF_QUERY_KINDS; (*kind)++)
		if (strcmp(path + before, kinds[*kind]) == 0)
			return true;
	return false;
}

const char *rf_query_parse(const char *path, const char *args, struct rf_query *query)
{
	const char *wrong = NULL;

	memset(query, 0, sizeof(*query));
	if (!find_kind(path, &query->kind))
		return "there is live, recent, range, sources, events and source\n";
	if (args && strlen(args) >= RF_QUERY_ARGS_SIZE)
		return "the query is too long\n";
	if (args)
		wrong = take_args(query, args);
	return wrong ?: judge(query);
}

bool rf_query_is_sound(const struct rf_query *query)
{
	struct rf_query again = *query;

	if (query->kind >= RF_QUERY_KINDS || query->has_source > 1 ||
	    !memchr(query->fence, '\0', sizeof(query->fence)) ||
	    !memchr(query->source, '\0', sizeof(query->source)) || judge(query))
		return false;
	if (!query->has_source)
		return !*query->source;
	return !take_source(&again, query->source) && strcmp(again.source, query->source) == 0;
}

bool rf_query_equal(const struct rf_query *a, const struct rf_query *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
