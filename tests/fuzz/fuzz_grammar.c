// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the grammar: the input is a command's words, separated by spaces and newlines; '' is
 * an empty word. The first of them says which parser gets the rest. Each word is an allocation of
 * its own, so that AddressSanitizer sees a parser that runs past its end.
 *
 * A parser that fails returns -EINVAL, leaves its results alone, and says why in one line. What is
 * accepted is within its documented range; counts, rates and limits survive being written out and
 * read again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "grammar.h"

#include "tests/fuzz/require.h"

#define WORDS_MAX 512
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

/* ---- what holds of every parser ---- */

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

/* True if the parser accepted; else what must hold of its refusal. */
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

/* Padded with NULs, since names are compared and kept as a whole. */
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

static void check_limit_written(const struct rf_limit *limit)
{
	char text[RF_LIMIT_TEXT_SIZE], *word, *at = text;
	const char *written[sizeof(text) / 2];
	struct rf_words again = {.word = written};
	struct rf_limit read = {};
	struct rf_error error = {};

	memset(text, UNTOUCHED, sizeof(text));
	rf_format_limit(limit, text);
	REQUIRE(strnlen(text, sizeof(text)) < sizeof(text) - 1); /* not cut, either */
	while ((word = strsep(&at, " ")))
		written[again.count++] = word;
	REQUIRE(rf_parse_limit(&again, &read, &error) == 0);
	REQUIRE(memcmp(limit, &read, sizeof(read)) == 0);
}

/* What the limiter is promised of counts, units and algorithms. */
static void check_limit(const struct rf_limit *limit)
{
	const uint64_t least = limit->unit == RF_BYTES ? RF_FRAME_BYTES : 1;

	REQUIRE(limit->unit == RF_PACKETS || limit->unit == RF_BYTES);
	REQUIRE(limit->algorithm <= RF_LEAKY && limit->edge <= RF_EDGE_WEIGHTED);
	REQUIRE(!(limit->flags & ~(RF_SHADOW | RF_COUNT_REJECTED)));
	REQUIRE(limit->rate >= least);
	REQUIRE(limit->rate >> (limit->unit == RF_BYTES ? RF_UNIT_SHIFT_MAX : 0) <= RF_LIMIT_MAX);
	REQUIRE(limit->algorithm != RF_LOG ||
		(limit->unit == RF_PACKETS && limit->rate <= RF_LOG_MAX));
	if (limit->algorithm == RF_SLIDING)
		REQUIRE(limit->cells >= 2 && limit->cells <= RF_CELLS);
	else
		REQUIRE(limit->cells == 1 && limit->edge == RF_EDGE_STRICT);
	if (!rf_has_burst(limit)) {
		REQUIRE(limit->burst == 0);
		return;
	}
	REQUIRE(limit->burst >= least && limit->burst <= RF_LIMIT_MAX);
	REQUIRE((unsigned __int128)limit->burst * limit->window_ns / limit->rate <=
		RF_WINDOW_MAX_NS);
}

static void fuzz_limit(struct rf_words *rest)
{
	PARSER_BEGIN(struct rf_limit, limit);
	if (ACCEPTED(rf_parse_limit(rest, &limit, &error), limit)) {
		check_name(limit.name);
		check_rate(limit.rate, limit.window_ns);
		check_limit(&limit);
		REQUIRE(limit.per4 <= 32 && limit.per6 <= 128);
		REQUIRE(!rf_words_peek(rest));
		check_limit_written(&limit);
	}
	check_words(rest);
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
		REQUIRE(!rf_words_peek(rest));
	}
	check_words(rest);
}

/* ---- which of them ---- */

static const struct {
	const char *word;
	void (*fuzz)(const char *text);
} word_parsers[] = {
	{"count", fuzz_count}, {"time", fuzz_time},	  {"rate", fuzz_rate},
	{"name", fuzz_name},   {"address", fuzz_address}, {"number", fuzz_number},
};

static const struct {
	const char *word;
	void (*fuzz)(struct rf_words *rest);
} command_parsers[] = {
	{"limit", fuzz_limit},
	{"attach", fuzz_attach},
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	split(bytes, length);
	dispatch();
	free_words();
	return 0;
}
