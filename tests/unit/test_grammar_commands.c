// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar's commands, in rows of a line and what must come of it: what follows `limit add` and
 * `attach`, and the words that a line is made of.
 */
#include "refusal.h"

#include <stdio.h>

/* ---- words ---- */

#define LINE_WORDS_MAX (RF_INTERFACES_MAX + 8)

/* A command line, split at its spaces. Must stay where it is while its words are used. */
struct line {
	char text[LINE_WORDS_MAX * 8];
	const char *word[LINE_WORDS_MAX];
	struct rf_words words;
};

static void line_split(struct line *line, const char *text)
{
	char *rest = NULL;

	assert_true(strlen(text) < sizeof(line->text));
	strcpy(line->text, text);
	line->words = (struct rf_words){.word = line->word};
	for (char *word = strtok_r(line->text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(line->words.count < LINE_WORDS_MAX);
		line->word[line->words.count++] = word;
	}
}

static void words_are_read_one_by_one(void **state)
{
	struct rf_error error = {};
	struct line line;

	(void)state;
	line_split(&line, "one two");
	assert_string_equal(rf_words_peek(&line.words), "one");
	assert_string_equal(rf_words_next(&line.words), "one");
	assert_false(rf_words_take(&line.words, "one"));
	assert_false(rf_words_take(&line.words, "tw"));
	assert_false(rf_words_take(&line.words, "twofold"));
	assert_refused(rf_words_end(&line.words, &error), &error, "'two': unexpected word");
	assert_true(rf_words_take(&line.words, "two"));
	assert_null(rf_words_peek(&line.words));
	assert_null(rf_words_next(&line.words));
	assert_false(rf_words_take(&line.words, "two"));
	assert_int_equal(rf_words_end(&line.words, &error), 0);
}

/* The words of `match` are not here: they make good names. */
static void no_word_of_the_grammar_is_a_name(void **state)
{
	static const char words[] =
		"limit add set rate packets bytes algorithm sliding fixed log token leaky "
		"cells edge strict weighted coarse burst match proto dport by drops "
		"from file per per6 shadow count rejected exact ban del list allow deny for "
		"load newcomers then open closed aggregate off attach fence mode native "
		"generic sources leases chain replace confirm detach adopt status stats "
		"watch top show save apply check doctor help dev";
	char name[RF_NAME_SIZE];
	struct rf_error error;
	struct line line;
	const char *word;

	(void)state;
	line_split(&line, words);
	while ((word = rf_words_next(&line.words)))
		if (rf_parse_name(word, "name of a limit", name, &error) != -EINVAL)
			fail_msg("%s", word);
}

/* ---- limit ---- */

/* A line that must be refused, and the whole sentence that must say so. */
struct refusal_row {
	const char *line;
	const char *sentence;
};

struct limit_row {
	const char *line;
	const char *name;
	uint64_t rate;
	uint64_t window_ns;
	uint32_t flags;
};

static void parse_limit(void **state)
{
	const struct limit_row *row = *state;
	struct rf_limit expected = {
		.rate = row->rate,
		.window_ns = row->window_ns,
		.flags = row->flags,
		.algorithm = RF_SLIDING,
		.edge = RF_EDGE_STRICT,
		.unit = RF_PACKETS,
		.cells = 16,
		.per4 = 32,
		.per6 = 64,
	};
	struct rf_limit limit;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	strcpy(expected.name, row->name);
	memset(&limit, LEFT_ALONE, sizeof(limit));
	assert_accepted(rf_parse_limit(&line.words, &limit, &error), &error);
	assert_memory_equal(&limit, &expected, sizeof(limit));
	assert_null(rf_words_peek(&line.words));
}

#define LIMIT(title, ...) \
	UNIT_ROW_OF("limit: " title, parse_limit, (&(struct limit_row){__VA_ARGS__}))

#define RATE_MISSING "'all': its rate is missing; write all rate COUNT/TIME"
#define UNKNOWN "unknown word in a limit; see 'ringfence help limit add'"
#define LATER(word) "'" word "': not in this version"
#define ONLY(words, instead) LATER(words) ", which has " instead
#define CELLS_RANGE "invalid number of cells: it must be 2-16"
#define FIXED_ALONE "'algorithm fixed' goes without 'cells' and 'edge'"
#define MISSING(option) "'" option "': a word is missing behind it"

static void refuse_limit(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_error error = {};
	struct rf_limit limit;
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&limit, LEFT_ALONE, sizeof(limit));
	err = rf_parse_limit(&line.words, &limit, &error);
	assert_refused(err, &error, row->sentence);
	assert_left_alone(&limit, sizeof(limit));
}

#define REFUSED_LIMIT(title, ...) \
	UNIT_ROW_OF("refused limit: " title, refuse_limit, (&(struct refusal_row){__VA_ARGS__}))

static void check_order(const char *const *options, int count)
{
	struct limit_row row = {NULL, "all", 20000, SECOND, RF_SHADOW};
	char text[256] = "all rate 20k/1s";
	void *state = &row;

	for (int i = 0; i < count; i++) {
		strcat(text, " ");
		strcat(text, options[i]);
	}
	row.line = text;
	parse_limit(&state);
}

/* Every order of the options from `first` on; returns how many. */
static int check_orders(const char **options, int count, int first)
{
	int orders = 0;

	if (first == count) {
		check_order(options, count);
		return 1;
	}
	for (int i = first; i < count; i++) {
		const char *swapped = options[first];

		options[first] = options[i];
		options[i] = swapped;
		orders += check_orders(options, count, first + 1);
		options[i] = options[first];
		options[first] = swapped;
	}
	return orders;
}

struct shape_row {
	const char *text;
	enum rf_algorithm algorithm;
	enum rf_edge edge;
	int cells;
	uint32_t flags;
};

/* Read, and written as it was read. */
static void shape_is_read_and_written(void **state)
{
	const struct shape_row *row = *state;
	char text[RF_LIMIT_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_limit limit;
	struct line line;

	line_split(&line, row->text);
	assert_accepted(rf_parse_limit(&line.words, &limit, &error), &error);
	assert_int_equal(limit.algorithm, row->algorithm);
	assert_int_equal(limit.edge, row->edge);
	assert_int_equal(limit.cells, row->cells);
	assert_int_equal(limit.flags, row->flags);
	rf_format_limit(&limit, text);
	line_split(&line, text);
	memset(&limit, 0xff, sizeof(limit));
	assert_accepted(rf_parse_limit(&line.words, &limit, &error), &error);
	assert_int_equal(limit.algorithm, row->algorithm);
	assert_int_equal(limit.edge, row->edge);
	assert_int_equal(limit.cells, row->cells);
	assert_int_equal(limit.flags, row->flags);
}

#define SHAPE(title, ...) \
	UNIT_ROW_OF("shape: " title, shape_is_read_and_written, (&(struct shape_row){__VA_ARGS__}))

static void options_of_a_limit_come_in_any_order(void **state)
{
	const char *options[] = {"packets",   "algorithm sliding", "edge strict", "cells 16",
				 "match any", "per /32",	   "per6 /64",	  "shadow"};

	(void)state;
	assert_int_equal(check_orders(options, UNIT_ARRAY_SIZE(options), 0), 40320);
}

/* ---- attach ---- */

struct attach_row {
	const char *line;
	const char *interfaces;
	const char *fence;
	enum rf_mode mode;
	uint32_t sources;
};

static void check_attach(const struct attach_row *row, const struct rf_attach *attach)
{
	struct line expected;

	line_split(&expected, row->interfaces);
	assert_int_equal(attach->interfaces, expected.words.count);
	for (int i = 0; i < attach->interfaces; i++)
		assert_string_equal(attach->interface[i], expected.word[i]);
	if (row->fence)
		assert_string_equal(attach->fence, row->fence);
	else
		assert_null(attach->fence);
	assert_int_equal(attach->mode, row->mode);
	assert_int_equal(attach->sources, row->sources);
}

static void parse_attach(void **state)
{
	const struct attach_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	assert_accepted(rf_parse_attach(&line.words, &attach, &error), &error);
	check_attach(row, &attach);
	assert_null(rf_words_peek(&line.words));
}

#define ATTACH(title, ...) \
	UNIT_ROW_OF("attach: " title, parse_attach, (&(struct attach_row){__VA_ARGS__}))

#define NO_INTERFACE "the interface is missing; write attach IF"
#define MODES "unknown mode; it is native or generic"
#define SOURCES_RANGE "invalid number of sources: it must be 1-67108864"

static void refuse_attach(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	err = rf_parse_attach(&line.words, &attach, &error);
	assert_refused(err, &error, row->sentence);
	assert_left_alone(&attach, sizeof(attach));
}

#define REFUSED_ATTACH(title, ...) \
	UNIT_ROW_OF("refused attach: " title, refuse_attach, (&(struct refusal_row){__VA_ARGS__}))

static void no_more_interfaces_are_attached_than_fit(void **state)
{
	char text[RF_INTERFACES_MAX * 8] = "", sentence[64];
	struct attach_row most = {text, text, NULL, RF_NATIVE, 0};
	struct refusal_row one_more = {text, sentence};
	void *most_state = &most, *one_more_state = &one_more;

	(void)state;
	snprintf(sentence, sizeof(sentence), "'more': too many interfaces; %d at most",
		 RF_INTERFACES_MAX);
	for (int i = 1; i <= RF_INTERFACES_MAX; i++)
		sprintf(text + strlen(text), "eth%d ", i);
	parse_attach(&most_state);
	strcat(text, "more");
	refuse_attach(&one_more_state);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(words_are_read_one_by_one),
	cmocka_unit_test(no_word_of_the_grammar_is_a_name),

	LIMIT("name and rate", "all rate 20k/1s", "all", 20000, SECOND, 0),
	LIMIT("a slow one", "slow rate 1/8784h", "slow", 1, 8784 * HOUR, 0),
	LIMIT("a name of 31 characters", THIRTY_ONE " rate 20k/1s", THIRTY_ONE, 20000, SECOND, 0),
	LIMIT("shadow", "all rate 20k/1s shadow", "all", 20000, SECOND, RF_SHADOW),
	LIMIT("packets", "all rate 20k/1s packets", "all", 20000, SECOND, 0),
	LIMIT("algorithm sliding", "all rate 20k/1s algorithm sliding", "all", 20000, SECOND, 0),
	LIMIT("edge strict", "all rate 20k/1s edge strict", "all", 20000, SECOND, 0),
	LIMIT("cells 16", "all rate 20k/1s cells 16", "all", 20000, SECOND, 0),
	LIMIT("match any", "all rate 20k/1s match any", "all", 20000, SECOND, 0),
	LIMIT("per /32", "all rate 20k/1s per /32", "all", 20000, SECOND, 0),
	LIMIT("per6 /64", "all rate 20k/1s per6 /64", "all", 20000, SECOND, 0),
	cmocka_unit_test(options_of_a_limit_come_in_any_order),
	SHAPE("all", "all rate 20k/1s", RF_SLIDING, RF_EDGE_STRICT, 16, 0),
	SHAPE("fixed", "all rate 20k/1s algorithm fixed", RF_FIXED, RF_EDGE_STRICT, 1, 0),
	SHAPE("coarse, ten cells", "all rate 20k/1s cells 10 edge coarse", RF_SLIDING,
	      RF_EDGE_COARSE, 10, 0),
	SHAPE("two cells, shadow", "all rate 1/1m cells 2 shadow", RF_SLIDING, RF_EDGE_STRICT, 2,
	      RF_SHADOW),
	SHAPE("fixed, shadow", "all rate 1/1m algorithm fixed shadow", RF_FIXED, RF_EDGE_STRICT, 1,
	      RF_SHADOW),

	REFUSED_LIMIT("bytes", "all rate 20k/1s bytes", LATER("bytes")),
	REFUSED_LIMIT("burst", "all rate 20k/1s burst 10", LATER("burst")),
	REFUSED_LIMIT("dport", "all rate 20k/1s dport 53", LATER("dport")),
	REFUSED_LIMIT("from", "all rate 20k/1s from 192.0.2.0/24", LATER("from")),
	REFUSED_LIMIT("count rejected", "all rate 20k/1s count rejected", LATER("count")),
	REFUSED_LIMIT("exact", "all rate 20k/1s exact", LATER("exact")),
	REFUSED_LIMIT("ban", "all rate 20k/1s ban 10m", LATER("ban")),
	REFUSED_LIMIT("exact behind good options", "all rate 20k/1s shadow packets exact",
		      LATER("exact")),
	REFUSED_LIMIT("algorithm token", "all rate 20k/1s algorithm token",
		      ONLY("algorithm token", "sliding or fixed")),
	REFUSED_LIMIT("edge weighted", "all rate 20k/1s edge weighted",
		      ONLY("edge weighted", "strict or coarse")),
	REFUSED_LIMIT("one cell", "all rate 20k/1s cells 1", "'1': " CELLS_RANGE),
	REFUSED_LIMIT("17 cells", "all rate 20k/1s cells 17", "'17': " CELLS_RANGE),
	REFUSED_LIMIT("fixed with cells", "all rate 20k/1s cells 4 algorithm fixed",
		      "'all': " FIXED_ALONE),
	REFUSED_LIMIT("fixed with an edge", "all rate 20k/1s algorithm fixed edge coarse",
		      "'all': " FIXED_ALONE),
	REFUSED_LIMIT("match tcp", "all rate 20k/1s match tcp", ONLY("match tcp", "any")),
	REFUSED_LIMIT("match tcp syn", "all rate 20k/1s match tcp syn", ONLY("match tcp", "any")),
	REFUSED_LIMIT("per /24", "all rate 20k/1s per /24", ONLY("per /24", "/32")),
	REFUSED_LIMIT("per 32", "all rate 20k/1s per 32", ONLY("per 32", "/32")),
	REFUSED_LIMIT("per6 /48", "all rate 20k/1s per6 /48", ONLY("per6 /48", "/64")),
	REFUSED_LIMIT("no word after algorithm", "all rate 20k/1s algorithm", MISSING("algorithm")),
	REFUSED_LIMIT("no word after edge", "all rate 20k/1s edge", MISSING("edge")),
	REFUSED_LIMIT("no word after cells", "all rate 20k/1s cells",
		      "'cells': a number is missing behind it"),
	REFUSED_LIMIT("no word after match", "all rate 20k/1s match", MISSING("match")),
	REFUSED_LIMIT("no word after per", "all rate 20k/1s per", MISSING("per")),
	REFUSED_LIMIT("no word after per6", "all rate 20k/1s shadow per6", MISSING("per6")),
	REFUSED_LIMIT("nothing", "", "the limit's name is missing; write NAME rate COUNT/TIME"),
	REFUSED_LIMIT("no rate", "all", RATE_MISSING),
	REFUSED_LIMIT("an option before the rate", "all shadow rate 20k/1s", RATE_MISSING),
	REFUSED_LIMIT("nothing after rate", "all rate",
		      "'rate': a rate is missing behind it, like 20k/1s"),
	REFUSED_LIMIT("a bad rate", "all rate fast", "'fast': " WRITE_RATE),
	REFUSED_LIMIT("a rate of 0", "all rate 0/1s shadow", "'0/1s': " COUNT_RANGE),
	REFUSED_LIMIT("a bad name", "1st rate 20k/1s",
		      "'1st': invalid name of a limit: " NAME_RULE),
	REFUSED_LIMIT("a keyword for a name", "rate 20k/1s",
		      "'rate': invalid name of a limit: " IS_KEYWORD),
	REFUSED_LIMIT("an unknown word", "all rate 20k/1s soft", "'soft': " UNKNOWN),
	REFUSED_LIMIT("a second rate", "all rate 20k/1s rate 1/1s", "'rate': " UNKNOWN),
	REFUSED_LIMIT("an abbreviation", "all rate 20k/1s shad", "'shad': " UNKNOWN),
	REFUSED_LIMIT("a capital", "all rate 20k/1s Shadow", "'Shadow': " UNKNOWN),

	ATTACH("one interface", "eth0", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("three interfaces", "eth0 eth1 bond0.7", "eth0 eth1 bond0.7", NULL, RF_NATIVE, 0),
	ATTACH("a fence", "eth0 eth1 fence edge1", "eth0 eth1", "edge1", RF_NATIVE, 0),
	ATTACH("mode native", "eth0 mode native", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("mode generic", "eth0 mode generic", "eth0", NULL, RF_GENERIC, 0),
	ATTACH("sources", "eth0 sources 500000", "eth0", NULL, RF_NATIVE, 500000),
	ATTACH("the fewest sources", "eth0 sources 1", "eth0", NULL, RF_NATIVE, 1),
	ATTACH("the most sources", "eth0 sources 67108864", "eth0", NULL, RF_NATIVE, 67108864),
	ATTACH("everything", "eth0 fence f mode generic sources 9 eth1", "eth0 eth1", "f",
	       RF_GENERIC, 9),
	ATTACH("another order", "sources 9 mode generic fence f eth0 eth1", "eth0 eth1", "f",
	       RF_GENERIC, 9),

	REFUSED_ATTACH("nothing", "", NO_INTERFACE),
	REFUSED_ATTACH("options alone", "mode generic fence f", NO_INTERFACE),
	REFUSED_ATTACH("no word after fence", "eth0 fence", MISSING("fence")),
	REFUSED_ATTACH("no word after mode", "eth0 mode", MISSING("mode")),
	REFUSED_ATTACH("no word after sources", "eth0 sources", MISSING("sources")),
	REFUSED_ATTACH("an unknown mode", "eth0 mode fast", "'fast': " MODES),
	REFUSED_ATTACH("offload is not for asking", "eth0 mode offload", "'offload': " MODES),
	REFUSED_ATTACH("a bad name of a fence", "eth0 fence 1st",
		       "'1st': invalid name of a fence: " NAME_RULE),
	REFUSED_ATTACH("a keyword for a fence", "eth0 fence mode generic",
		       "'mode': invalid name of a fence: " IS_KEYWORD),
	REFUSED_ATTACH("no sources", "eth0 sources 0", "'0': " SOURCES_RANGE),
	REFUSED_ATTACH("too many sources", "eth0 sources 67108865", "'67108865': " SOURCES_RANGE),
	REFUSED_ATTACH("sources with a suffix", "eth0 sources 500k", "'500k': " SOURCES_RANGE),
	REFUSED_ATTACH("leases", "eth0 leases 1024", LATER("leases")),
	REFUSED_ATTACH("chain", "eth0 chain", LATER("chain")),
	REFUSED_ATTACH("replace", "eth0 replace", LATER("replace")),
	REFUSED_ATTACH("confirm", "eth0 confirm 5m", LATER("confirm")),
	cmocka_unit_test(no_more_interfaces_are_attached_than_fit),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, commands", tests, NULL, NULL);
}
