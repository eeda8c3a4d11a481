// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the grammar. The input is the words of a command, separated by spaces and newlines; ''
 * is an empty word. The first word selects the parser of the others. Each word is a separate
 * allocation, which lets AddressSanitizer detect a parser that reads past its end.
 *
 * A parser that fails returns -EINVAL, leaves its results unchanged, and sets the reason in one
 * line. Accepted values are within their documented range; counts, rates, prefixes and limits are
 * the same after they are written and read again. Every input is also split like a line of a file.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/advice.h"
#include "rules/grammar_option.h"
#include "rules/ruleset.h"

#include "tests/fuzz/require.h"

#define WORDS_MAX 512
#define LINE_WORDS_MAX 8
#define TICK_NS 4000000
#define UNTOUCHED 0xa5

static char *words[WORDS_MAX];
static int word_count;

static bool is_separator(uint8_t byte)
{
	return byte == ' ' || byte == '\n' || byte == '\0';
}

static void split(const uint8_t *text, size_t length)
{
	size_t start, end = 0;

	for (word_count = 0; word_count < WORDS_MAX; word_count++) {
		for (start = end; start < length && is_separator(text[start]); start++)
			;
		for (end = start; end < length && !is_separator(text[end]); end++)
			;
		if (start == end)
			return;
		if (end - start == 2 && memcmp(text + start, "''", 2) == 0)
			words[word_count] = strdup("");
		else
			words[word_count] = strndup((const char *)text + start, end - start);
		REQUIRE(words[word_count]);
	}
}

static void free_words(void)
{
	while (word_count)
		free(words[--word_count]);
}

/* ---- every parser ---- */

static bool is_untouched(const void *result, size_t size)
{
	const uint8_t *bytes = result;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != UNTOUCHED)
			return false;
	return true;
}

static void check_error(const struct rf_error *error)
{
	size_t length = strnlen(error->text, sizeof(error->text));

	REQUIRE(length > 0 && length < sizeof(error->text));
	for (size_t i = 0; i < length; i++)
		REQUIRE((unsigned char)error->text[i] >= ' ' && error->text[i] != 0x7f);
	REQUIRE(error->usage);
}

/* Returns true if the parser accepted; otherwise checks the refusal. */
static bool accepted(int err, const struct rf_error *error, const void *result, size_t size)
{
	if (!err)
		return true;
	REQUIRE(err == -EINVAL);
	REQUIRE(is_untouched(result, size));
	check_error(error);
	return false;
}

#define PARSER_BEGIN(type, result)  \
	type result;                \
	struct rf_error error = {}; \
	memset(&(result), UNTOUCHED, sizeof(result))

#define ACCEPTED(err, result) accepted(err, &error, &(result), sizeof(result))

/* ---- words ---- */

struct count {
	uint64_t count;
	bool in_bits;
};

static void fuzz_count(const char *text)
{
	PARSER_BEGIN(struct count, count);
	char formatted[RF_COUNT_TEXT_SIZE];
	struct count again = {};

	if (!ACCEPTED(rf_parse_count(text, &count.count, &count.in_bits, &error), count))
		return;
	memset(formatted, UNTOUCHED, sizeof(formatted));
	rf_format_count(count.count, formatted);
	REQUIRE(strnlen(formatted, sizeof(formatted)) < sizeof(formatted));
	REQUIRE(rf_parse_count(formatted, &again.count, &again.in_bits, &error) == 0);
	REQUIRE(again.count == count.count && !again.in_bits);
}

static void fuzz_time(const char *text)
{
	PARSER_BEGIN(uint64_t, time_ns);
	if (ACCEPTED(rf_parse_time(text, &time_ns, &error), time_ns))
		REQUIRE(time_ns % RF_NS_PER_MS == 0);
}

static void check_rate(uint64_t count, uint64_t window_ns)
{
	char text[RF_RATE_TEXT_SIZE];
	struct rf_rate again = {};
	struct rf_error error = {};

	REQUIRE(window_ns >= RF_WINDOW_MIN_NS && window_ns <= RF_WINDOW_MAX_NS);
	memset(text, UNTOUCHED, sizeof(text));
	rf_format_rate(count, window_ns, text);
	REQUIRE(strnlen(text, sizeof(text)) < sizeof(text));
	REQUIRE(rf_parse_rate(text, &again, &error) == 0);
	REQUIRE(again.count == count && again.window_ns == window_ns && !again.in_bits);
}

static void fuzz_rate(const char *text)
{
	PARSER_BEGIN(struct rf_rate, rate);
	if (ACCEPTED(rf_parse_rate(text, &rate, &error), rate))
		check_rate(rate.count, rate.window_ns);
}

/* The name is padded with NULs, since names are compared and stored as a whole. */
static void check_name(const char name[RF_NAME_SIZE])
{
	size_t length = strnlen(name, RF_NAME_SIZE);

	REQUIRE(length > 0 && length < RF_NAME_SIZE);
	for (size_t i = length; i < RF_NAME_SIZE; i++)
		REQUIRE(name[i] == '\0');
	REQUIRE(!strpbrk(name, " \t\n/.:'\""));
}

struct name {
	char text[RF_NAME_SIZE];
};

static void fuzz_name(const char *text)
{
	PARSER_BEGIN(struct name, name);
	if (!ACCEPTED(rf_parse_name(text, "name", name.text, &error), name))
		return;
	check_name(name.text);
	REQUIRE(strcmp(name.text, text) == 0);
}

static void fuzz_address(const char *text)
{
	PARSER_BEGIN(struct rf_address, address);
	if (!ACCEPTED(rf_parse_address(text, &address, &error), address))
		return;
	REQUIRE(address.version == 4 || address.version == 6);
	if (address.version == 4)
		REQUIRE(!(address.word[1] | address.word[2] | address.word[3]));
}

static void check_prefix(const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix again;
	struct rf_error error = {};

	REQUIRE(prefix->version == 4 || prefix->version == 6);
	REQUIRE(prefix->length <= (prefix->version == 4 ? 32 : 128));
	for (unsigned int i = 0; i < 4; i++)
		REQUIRE(!(prefix->word[i] & ~rf_prefix_mask(prefix->length, i)));
	memset(text, UNTOUCHED, sizeof(text));
	rf_format_prefix(prefix, text);
	REQUIRE(strnlen(text, sizeof(text)) < sizeof(text));
	REQUIRE(rf_parse_prefix(text, &again, &error) == 0);
	REQUIRE(rf_prefix_compare(&again, prefix) == 0);
	REQUIRE(rf_prefix_contains(prefix, &again));
}

static void fuzz_prefix(const char *text)
{
	PARSER_BEGIN(struct rf_prefix, prefix);
	if (ACCEPTED(rf_parse_prefix(text, &prefix, &error), prefix))
		check_prefix(&prefix);
}

static void fuzz_prefixes(const char *text)
{
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};

	if (rf_parse_prefixes(text, &prefixes, &error)) {
		REQUIRE(!prefixes.count);
		check_error(&error);
	} else {
		REQUIRE(prefixes.count);
	}
	for (size_t i = 0; i < prefixes.count; i++)
		check_prefix(&prefixes.prefix[i]);
	rf_prefixes_free(&prefixes);
}

static void fuzz_number_in(const char *text, uint32_t min, uint32_t max)
{
	PARSER_BEGIN(uint32_t, number);
	if (ACCEPTED(rf_parse_number(text, "number", min, max, &number, &error), number))
		REQUIRE(number >= min && number <= max);
}

static void fuzz_number(const char *text)
{
	fuzz_number_in(text, 1, 1U << 26);
	fuzz_number_in(text, 0, UINT32_MAX);
	fuzz_number_in(text, 7, 7);
}

/* ---- commands ---- */

static void check_words(const struct rf_words *rest)
{
	struct rf_error error = {};

	REQUIRE(rest->at >= 0 && rest->at <= rest->count);
	if (rf_words_end(rest, &error))
		check_error(&error);
	else
		REQUIRE(rest->at == rest->count);
}

/* `limit add` and its words, into a separate ruleset. */
static void read_written(char *text, struct rf_ruleset *ruleset)
{
	const char *written[64];
	struct rf_words again;
	struct rf_definition read;
	struct rf_error error = {};
	uint32_t next_id = 1;

	REQUIRE(rf_split_line(text, written, 64, &again, &error) == 0);
	REQUIRE(rf_words_take(&again, "limit") && rf_words_take(&again, "add"));
	REQUIRE(rf_parse_limit(&again, &read, &error) == 0);
	REQUIRE(!read.from_file);
	REQUIRE(rf_ruleset_put_limit(ruleset, 0, &read, NULL, TICK_NS, &next_id, &error) == 0);
	rf_definition_free(&read);
}

static void check_same(const struct rf_ruleset *one, const struct rf_ruleset *other)
{
	REQUIRE(memcmp(&one->bank.limit[0], &other->bank.limit[0], sizeof(struct rf_limit)) == 0);
	REQUIRE(!one->ports[0] == !other->ports[0]);
	REQUIRE(!one->ports[0] || memcmp(one->ports[0], other->ports[0], RF_PORTS / 8) == 0);
	REQUIRE(!one->sports[0] == !other->sports[0]);
	REQUIRE(!one->sports[0] || memcmp(one->sports[0], other->sports[0], RF_PORTS / 8) == 0);
	REQUIRE(memcmp(&one->bank.shapes, &other->bank.shapes, sizeof(one->bank.shapes)) == 0);
	REQUIRE(one->listed_count == other->listed_count);
	for (size_t i = 0; i < one->listed_count; i++) {
		const struct rf_listed *a = &one->listed[i], *b = &other->listed[i];

		REQUIRE(rf_prefix_compare(&a->prefix, &b->prefix) == 0);
		REQUIRE(a->from == 1 && b->from == 1);
	}
}

static void check_limit_written(const struct rf_definition *definition)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE, again = RF_RULESET_NONE;
	char head[RF_LIMIT_TEXT_SIZE], *text;
	struct rf_error error = {};
	uint32_t next_id = 1;

	memset(head, UNTOUCHED, sizeof(head));
	rf_format_limit(&definition->limit, head);
	REQUIRE(strnlen(head, sizeof(head)) < sizeof(head) - 1); /* not cut, either */
	if (definition->from_file) {
		REQUIRE(rf_ruleset_put_limit(&ruleset, 0, definition, NULL, TICK_NS, &next_id,
					     &error) == -EINVAL);
		check_error(&error);
		return;
	}
	if (rf_ruleset_put_limit(&ruleset, 0, definition, NULL, TICK_NS, &next_id, &error)) {
		REQUIRE(definition->to.count > RF_TO_MAX);
		check_error(&error);
		rf_ruleset_free(&ruleset);
		return;
	}
	text = rf_ruleset_format_limit(&ruleset, 0);
	REQUIRE(text);
	read_written(text, &again);
	check_same(&ruleset, &again);
	free(text);
	rf_ruleset_free(&ruleset);
	rf_ruleset_free(&again);
}

/* The limiter's assumptions about counts, units and algorithms. */
static void check_limit(const struct rf_limit *limit)
{
	const uint64_t least = limit->unit == RF_BYTES ? RF_FRAME_BYTES : 1;
	uint32_t flags = RF_BAN_ALL | RF_INITIAL_GIVEN | RF_OFFLINE_INITIAL | RF_RATE_IN_BITS |
			 RF_BURST_IN_BITS; /* and separate words */

	for (int i = 0; i < RF_LIMIT_OPTIONS; i++)
		flags |= rf_limit_options[i].bit;
	REQUIRE(limit->unit == RF_PACKETS || limit->unit == RF_BYTES);
	REQUIRE(limit->algorithm <= RF_LEAKY && limit->edge <= RF_EDGE_WEIGHTED);
	REQUIRE(!(limit->flags & ~flags));
	REQUIRE(limit->flags & RF_FLEET ||
		!(limit->flags & (RF_INITIAL_GIVEN | RF_OFFLINE_INITIAL)));
	REQUIRE(limit->flags & RF_FLEET || !limit->alone);
	REQUIRE(limit->flags & RF_INITIAL_GIVEN || !limit->first);
	REQUIRE(limit->first <= limit->rate);
	REQUIRE(limit->alone < limit->rate || !limit->rate);
	REQUIRE(!limit->alone ||
		(limit->alone >= limit->first && !(limit->flags & RF_OFFLINE_INITIAL)));
	REQUIRE(!(limit->flags & (RF_RATE_IN_BITS | RF_BURST_IN_BITS)) || limit->unit == RF_BYTES);
	REQUIRE(!(limit->flags & RF_BAN_ALL) || limit->ban_ns);
	REQUIRE(limit->rate >= least || !limit->rate);
	REQUIRE(limit->rate || !(limit->ban_ns || limit->flags & (RF_FLEET | RF_RATE_IN_BITS) ||
				 limit->match == RF_MATCH_OTHER));
	REQUIRE(limit->rate >> (limit->unit == RF_BYTES ? RF_UNIT_SHIFT_MAX : 0) <= RF_LIMIT_MAX);
	REQUIRE(limit->algorithm != RF_LOG ||
		(limit->unit == RF_PACKETS && limit->rate <= RF_LOG_MAX));
	if (limit->algorithm == RF_SLIDING)
		REQUIRE(limit->cells >= 2 && limit->cells <= RF_CELLS_MAX);
	else
		REQUIRE(limit->cells == 1 && limit->edge == RF_EDGE_STRICT);
	if (!rf_has_burst(limit)) {
		REQUIRE(limit->burst == 0);
		return;
	}
	REQUIRE(limit->burst <= RF_LIMIT_MAX);
	if (!limit->rate)
		return;
	REQUIRE(limit->burst >= least);
	REQUIRE((unsigned __int128)limit->burst * limit->window_ns / limit->rate <=
		RF_WINDOW_MAX_NS);
}

/* Which packets the limit matches, and what happens to them. */
static void check_match(const struct rf_definition *definition)
{
	const struct rf_limit *limit = &definition->limit;
	bool has_port = false;

	REQUIRE(limit->match <= RF_MATCH_OTHER && limit->protocol <= 254);
	REQUIRE(limit->match == RF_MATCH_PROTOCOL || !limit->protocol);
	REQUIRE(limit->per4 <= 32 && limit->per6 <= 128);
	REQUIRE(!limit->ban_ns || !(limit->flags & RF_SHADOW));
	REQUIRE(!limit->ban_ns ||
		(limit->ban_ns >= 1000 * RF_NS_PER_MS && limit->ban_ns <= RF_WINDOW_MAX_NS));
	REQUIRE(limit->has_ports == !!definition->ports);
	for (int i = 0; limit->has_ports && i < RF_PORTS / 64; i++)
		has_port |= definition->ports[i] != 0;
	REQUIRE(limit->has_ports == has_port);
	REQUIRE(!limit->has_ports || limit->match != RF_MATCH_ICMP);
	if (limit->match == RF_MATCH_OTHER)
		REQUIRE(!limit->has_ports && !limit->has_from && !limit->ban_ns);
	REQUIRE(limit->has_sports == !!definition->sports);
	REQUIRE(!limit->has_sports || limit->match != RF_MATCH_ICMP);
	REQUIRE(limit->has_to == !!definition->to.count);
	REQUIRE(limit->length_min <= limit->length_max);
	REQUIRE(!limit->length_max == !limit->length_min);
	REQUIRE(!(limit->tcp_flags & ~limit->tcp_mask));
	REQUIRE(!limit->tcp_mask || limit->match == RF_MATCH_ANY || limit->match == RF_MATCH_TCP ||
		limit->match == RF_MATCH_PROTOCOL);
	if (limit->match == RF_MATCH_OTHER)
		REQUIRE(!limit->has_sports && !limit->has_to && !limit->length_max);
	REQUIRE(limit->has_from == (definition->from.count || definition->from_file));
	REQUIRE(!definition->from.count || !definition->from_file);
	for (size_t i = 0; i < definition->from.count; i++)
		check_prefix(&definition->from.prefix[i]);
}

static void fuzz_limit(struct rf_words *rest)
{
	static const struct rf_definition none;
	struct rf_definition definition;
	struct rf_error error = {};

	memset(&definition, UNTOUCHED, sizeof(definition));
	if (rf_parse_limit(rest, &definition, &error)) {
		REQUIRE(memcmp(&definition, &none, sizeof(none)) == 0);
		check_error(&error);
	} else {
		check_name(definition.limit.name);
		check_rate(definition.limit.rate, definition.limit.window_ns);
		check_limit(&definition.limit);
		check_match(&definition);
		REQUIRE(!rf_words_peek(rest));
		check_limit_written(&definition);
	}
	rf_definition_free(&definition);
	check_words(rest);
}

static void check_newcomers_written(const struct rf_newcomers_text *newcomers)
{
	struct rf_bank bank = {}, again = {};
	char text[RF_NEWCOMERS_TEXT_SIZE], copy[RF_NEWCOMERS_TEXT_SIZE];
	const char *word[WORDS_MAX];
	struct rf_newcomers_text read;
	struct rf_error error = {};
	struct rf_words line;

	rf_bank_set_newcomers(&bank, newcomers);
	rf_format_newcomers(&bank.newcomers, text);
	REQUIRE(strlen(text) < sizeof(text) - 1); /* not cut, either */
	strcpy(copy, text);
	REQUIRE(!rf_split_line(copy, word, WORDS_MAX, &line, &error));
	rf_words_next(&line);
	REQUIRE(!rf_parse_newcomers(&line, &read, &error));
	rf_bank_set_newcomers(&again, &read);
	REQUIRE(memcmp(&bank.newcomers, &again.newcomers, sizeof(again.newcomers)) == 0);
}

static void fuzz_newcomers(struct rf_words *rest)
{
	PARSER_BEGIN(struct rf_newcomers_text, newcomers);
	if (ACCEPTED(rf_parse_newcomers(rest, &newcomers, &error), newcomers)) {
		const bool is_challenge = newcomers.then == RF_NEWCOMERS_CHALLENGE;

		REQUIRE(newcomers.then <= RF_NEWCOMERS_CHALLENGE);
		REQUIRE(!newcomers.rate.count == (newcomers.then == RF_NEWCOMERS_OFF));
		REQUIRE(newcomers.rate.count <= RF_LIMIT_MAX);
		if (newcomers.rate.count)
			check_rate(newcomers.rate.count, newcomers.rate.window_ns);
		REQUIRE(!newcomers.answers.count == !is_challenge);
		REQUIRE(newcomers.answers.count <= RF_LIMIT_MAX);
		if (newcomers.answers.count)
			check_rate(newcomers.answers.count, newcomers.answers.window_ns);
		REQUIRE(newcomers.dns_ports <= (is_challenge ? RF_DNS_PORTS_MAX : 0));
		REQUIRE(!rf_words_peek(rest));
		check_newcomers_written(&newcomers);
	}
	check_words(rest);
}

/* The destination of a command, by its row. */
struct filled {
	_Alignas(max_align_t) unsigned char bytes[RF_ARGUMENTS_SIZE];
};

static void check_list(const void *filled)
{
	const struct rf_list_text *text = filled;

	REQUIRE(text->time_ns <= RF_WINDOW_MAX_NS);
	REQUIRE(!*text->by || rf_owner_name_is_valid(text->by));
}

static void check_confirm(const void *filled)
{
	REQUIRE(*(const uint64_t *)filled <= 24 * 3600 * RF_NS_PER_S);
}

static void check_pause(const void *filled)
{
	check_confirm(filled);
	REQUIRE(*(const uint64_t *)filled >= RF_NS_PER_S);
}

static void check_top(const void *filled)
{
	const struct rf_top *top = filled;

	REQUIRE(top->rows >= 1 && top->rows <= RF_TOP_MAX && top->order <= RF_BY_USED);
}

static void check_stats(const void *filled)
{
	const struct rf_stats *stats = filled;

	REQUIRE(stats->seconds <= 86400);
	REQUIRE((stats->seconds != 0) + stats->total + stats->reset <= 1);
}

static void check_capture(const void *filled)
{
	const struct rf_capture *capture = filled;

	REQUIRE(capture->path && capture->one_in && capture->most && capture->reasons);
	REQUIRE(capture->dropped || capture->passed);
}

static void check_join(const void *filled)
{
	const struct rf_join *join = filled;

	REQUIRE(join->fence && join->hosts && join->value[RF_SET_REDIS]);
	for (int i = 0; i < RF_FLEET_SETTINGS; i++)
		REQUIRE(!join->value[i] || !strpbrk(join->value[i], "#\n"));
}

/* sparse: the destinations of the others have no bounds. */
static void (*const checks[RF_CMD_COUNT])(const void *filled) = {
	[RF_CMD_ALLOW_ADD] = check_list,  [RF_CMD_ALLOW_DEL] = check_list,
	[RF_CMD_ALLOW_LOAD] = check_list, [RF_CMD_ALLOW_FLUSH] = check_list,
	[RF_CMD_DENY_ADD] = check_list,	  [RF_CMD_DENY_DEL] = check_list,
	[RF_CMD_DENY_LOAD] = check_list,  [RF_CMD_DENY_FLUSH] = check_list,
	[RF_CMD_APPLY] = check_confirm,	  [RF_CMD_LIMIT_DEL] = check_confirm,
	[RF_CMD_PAUSE] = check_pause,	  [RF_CMD_TOP] = check_top,
	[RF_CMD_STATS] = check_stats,	  [RF_CMD_CAPTURE] = check_capture,
	[RF_CMD_FLEET_JOIN] = check_join,
};

/* The words can belong to any command. */
static void fuzz_arguments(struct rf_words *rest)
{
	for (int command = 0; command < RF_CMD_COUNT; command++) {
		struct rf_words words = *rest;

		PARSER_BEGIN(struct filled, filled);
		if (rf_syntax[command].options && !rf_syntax[command].size)
			continue; /* it has a separate parser */
		if (ACCEPTED(rf_parse_arguments(command, &words, &filled, &error), filled) &&
		    checks[command])
			checks[command](&filled);
		check_words(&words);
	}
}

static void fuzz_attach(struct rf_words *rest)
{
	PARSER_BEGIN(struct rf_attach, attach);
	if (ACCEPTED(rf_parse_attach(rest, &attach, &error), attach)) {
		REQUIRE(attach.interfaces >= 1 && attach.interfaces <= RF_INTERFACES_MAX);
		for (int i = 0; i < attach.interfaces; i++)
			REQUIRE(*attach.interface[i]);
		REQUIRE(!attach.fence || *attach.fence);
		REQUIRE(rf_mode_name(attach.mode));
		REQUIRE(attach.confirm_ns <= 24 * 3600 * 1000 * RF_NS_PER_MS);
		REQUIRE(!rf_words_peek(rest));
	}
	check_words(rest);
}

/* A word of one line, or a kind of value. */
static void check_suggestion(void *context, const char *word, const char *summary,
			     enum rf_kind kind)
{
	(void)context;
	REQUIRE(kind < RF_KIND_COUNT_OF);
	REQUIRE(!word || (*word && !strpbrk(word, " \t\n")));
	REQUIRE(!summary || (word && !strpbrk(summary, "\t\n")));
}

static void fuzz_complete(struct rf_words *rest)
{
	const struct rf_suggestions to = {check_suggestion, NULL};
	const char *dev;

	rf_complete(rest, &to, &dev);
	REQUIRE(!rf_words_peek(rest));
}

/* ---- choosing a parser ---- */

static const struct {
	const char *word;
	void (*fuzz)(const char *text);
} word_parsers[] = {
	{"count", fuzz_count},	 {"time", fuzz_time},	      {"rate", fuzz_rate},
	{"name", fuzz_name},	 {"address", fuzz_address},   {"number", fuzz_number},
	{"prefix", fuzz_prefix}, {"prefixes", fuzz_prefixes},
};

static const struct {
	const char *word;
	void (*fuzz)(struct rf_words *rest);
} command_parsers[] = {
	{"limit", fuzz_limit},	       {"attach", fuzz_attach},	    {"newcomers", fuzz_newcomers},
	{"arguments", fuzz_arguments}, {"complete", fuzz_complete},
};

static void dispatch(void)
{
	struct rf_words rest = {.word = (const char *const *)words, .count = word_count};

	for (size_t i = 0; i < sizeof(word_parsers) / sizeof(word_parsers[0]); i++) {
		if (!rf_words_take(&rest, word_parsers[i].word))
			continue;
		while (rf_words_peek(&rest))
			word_parsers[i].fuzz(rf_words_next(&rest));
		return;
	}
	for (size_t i = 0; i < sizeof(command_parsers) / sizeof(command_parsers[0]); i++) {
		if (!rf_words_take(&rest, command_parsers[i].word))
			continue;
		command_parsers[i].fuzz(&rest);
		return;
	}
}

/* Words without blanks, at most the requested number, and no comment. */
static void fuzz_line(const uint8_t *bytes, size_t length)
{
	char *line = strndup((const char *)bytes, length);
	const char *word[LINE_WORDS_MAX];
	struct rf_words line_words;
	struct rf_error error = {};

	REQUIRE(line);
	if (rf_split_line(line, word, LINE_WORDS_MAX, &line_words, &error)) {
		check_error(&error);
	} else {
		REQUIRE(line_words.at == 0 && line_words.count <= LINE_WORDS_MAX);
		for (int i = 0; i < line_words.count; i++) {
			REQUIRE(*word[i] && *word[i] != '#');
			REQUIRE(!strpbrk(word[i], " \t\r\n"));
		}
	}
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	fuzz_line(bytes, length);
	split(bytes, length);
	dispatch();
	free_words();
	return 0;
}
