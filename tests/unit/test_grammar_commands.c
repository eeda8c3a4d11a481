// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar's commands, in rows of a line and the expected result: `newcomers`, `attach`, the
 * words after `for` and `confirm`, and the words that a line is split into. test_grammar_limits.c
 * and test_grammar_refused.c test `limit add`.
 */
#include "line.h"

#include <stdio.h>

/* ---- words ---- */

static void words_of_a_line_are_read_one_by_one(void **state)
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

/* Every word may be a name, but `all`, and `dev` and `confirm`, which may stand beside names. */
static void words_of_the_grammar_are_names(void **state)
{
	static const char words[] =
		"limit add set change rate packets bytes algorithm sliding fixed log token leaky "
		"cells edge strict weighted coarse burst match proto dport by drops "
		"from file per per6 shadow count rejected exact ban del list allow deny for "
		"load newcomers then open closed aggregate off attach fence mode native "
		"generic sources leases chain replace detach adopt status stats "
		"watch metrics events of source_limited top sample show save apply check diff "
		"doctor help "
		"bans unban "
		"pause resume "
		"any tcp syn udp icmp other completion bash zsh fish name";
	struct rf_error error;
	struct line list, line;
	const char *word;
	char text[64];

	(void)state;
	line_split(&list, words);
	while ((word = rf_words_next(&list.words))) {
		struct rf_definition definition;
		struct rf_attach attach;

		snprintf(text, sizeof(text), "%s rate 1/1s", word);
		line_split(&line, text);
		if (rf_parse_limit(&line.words, &definition, &error) ||
		    strcmp(definition.limit.name, word) != 0)
			fail_msg("limit %s", word);
		rf_definition_free(&definition);
		snprintf(text, sizeof(text), "eth0 fence %s mode generic", word);
		line_split(&line, text);
		if (rf_parse_attach(&line.words, &attach, &error) ||
		    strcmp(attach.fence, word) != 0 || attach.mode != RF_GENERIC)
			fail_msg("fence %s", word);
	}
}

/* ---- newcomers, for, confirm ---- */

struct newcomers_row {
	const char *line;
	struct rf_newcomers_text expected;
	const char *refusal;
};

static void parse_newcomers(void **state)
{
	const struct newcomers_row *row = *state;
	struct rf_newcomers_text newcomers;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&newcomers, LEFT_ALONE, sizeof(newcomers));
	err = rf_parse_newcomers(&line.words, &newcomers, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&newcomers, sizeof(newcomers));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(newcomers.rate, row->expected.rate);
	assert_int_equal(newcomers.window_ns, row->expected.window_ns);
	assert_int_equal(newcomers.then, row->expected.then);
}

#define NEWCOMERS(title, text, ...)                              \
	UNIT_ROW_OF("parses newcomers: " title, parse_newcomers, \
		    (&(struct newcomers_row){text, {__VA_ARGS__}, NULL}))
#define REFUSED_NEWCOMERS(title, text, sentence)                  \
	UNIT_ROW_OF("refuses newcomers: " title, parse_newcomers, \
		    (&(struct newcomers_row){text, {}, sentence}))
#define NO_NEWCOMERS_RATE                                                         \
	"the rate of newcomers is missing; write newcomers rate COUNT/TIME then " \
	"open|closed|aggregate, or newcomers off"
#define NO_THEN                                                                                  \
	"what happens to newcomers over the rate is missing; add 'then open', 'then closed' or " \
	"'then aggregate'"

struct until_row {
	int (*parse)(struct rf_words *words, uint64_t *time_ns, struct rf_error *error);
	const char *line;
	uint64_t time_ns;
	const char *left; /* the next word, or none */
	const char *refusal;
};

static void parse_until(void **state)
{
	const struct until_row *row = *state;
	uint64_t time_ns;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	memset(&time_ns, LEFT_ALONE, sizeof(time_ns));
	err = row->parse(&line.words, &time_ns, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&time_ns, sizeof(time_ns));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(time_ns, row->time_ns);
	if (row->left)
		assert_string_equal(rf_words_peek(&line.words), row->left);
	else
		assert_null(rf_words_peek(&line.words));
}

static int parse_for(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	struct rf_list_text text;
	int err = rf_parse_allow(words, &text, error);

	if (!err)
		*time_ns = text.time_ns;
	return err;
}

#define FOR(title, ...)                                      \
	UNIT_ROW_OF("reads 'for TIME': " title, parse_until, \
		    (&(struct until_row){.parse = parse_for, __VA_ARGS__}))
#define CONFIRM(title, ...)                                      \
	UNIT_ROW_OF("reads 'confirm TIME': " title, parse_until, \
		    (&(struct until_row){.parse = rf_parse_confirm, __VA_ARGS__}))
#define PAUSE(title, ...)                                               \
	UNIT_ROW_OF("reads 'for TIME' of a pause: " title, parse_until, \
		    (&(struct until_row){.parse = rf_parse_pause, __VA_ARGS__}))
#define PAUSE_RANGE "invalid time of a pause: the time must be 1s-24h"
#define CONFIRM_RANGE "invalid time to confirm: the time must be 1s-24h"
#define FOR_RANGE "invalid time on a list: the time must be 1s-8784h"

/* ---- lines of a file ---- */

struct split_row {
	const char *line;
	const char *word[4]; /* up to NULL */
};

static void split_line(void **state)
{
	const struct split_row *row = *state;
	const char *array[3];
	struct rf_words words;
	struct rf_error error = {};
	char line[128];

	strcpy(line, row->line);
	assert_accepted(rf_split_line(line, array, 3, &words, &error), &error);
	for (int i = 0; row->word[i]; i++) {
		const char *word = rf_words_next(&words);

		assert_non_null(word);
		assert_string_equal(word, row->word[i]);
	}
	assert_null(rf_words_peek(&words));
}

#define SPLIT(title, ...) \
	UNIT_ROW_OF("splits a line: " title, split_line, (&(struct split_row){.line = __VA_ARGS__}))

static void a_line_of_too_many_words_is_refused(void **state)
{
	char line[] = "one two three four # five";
	const char *array[3];
	struct rf_words words;
	struct rf_error error = {};
	int err;

	(void)state;
	memset(&words, LEFT_ALONE, sizeof(words));
	err = rf_split_line(line, array, 3, &words, &error);
	assert_refused(err, &error, "too many words in one line; 3 at most");
	assert_left_alone(&words, sizeof(words));
}

/* ---- attach ---- */

struct attach_row {
	const char *line;
	const char *interfaces;
	const char *fence;
	enum rf_mode mode;
	uint32_t sources;
	uint32_t leases;
	uint64_t confirm_ns;
	bool chain, replace;
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
	assert_int_equal(attach->leases, row->leases);
	assert_int_equal(attach->confirm_ns, row->confirm_ns);
	assert_int_equal(attach->chain, row->chain);
	assert_int_equal(attach->replace, row->replace);
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

#define ATTACH_WITH(title, ...)                            \
	UNIT_ROW_OF("parses attach: " title, parse_attach, \
		    (&(struct attach_row){.line = __VA_ARGS__}))
#define ATTACH(title, ...) ATTACH_WITH(title, __VA_ARGS__, RF_LEASES_NOT_GIVEN, 0)

#define ONE_OF_THEM                                                                                \
	"'chain' and 'replace' exclude each other: 'chain' runs beside other programs, 'replace' " \
	"removes them"
#define NO_INTERFACE "the interface is missing; write attach IF"
#define NONE_BUT(word) NO_INTERFACE ", or 'attach dev " word "' if it is called so"
#define MODES "'mode' expects native or generic"
#define LEASES_RANGE "invalid number of leases: it must be 0-16777216"
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
	UNIT_ROW_OF("refuses attach: " title, refuse_attach, (&(struct refusal_row){__VA_ARGS__}))

static void attach_of_too_many_interfaces_is_refused(void **state)
{
	char text[RF_INTERFACES_MAX * 8] = "", sentence[64];
	struct attach_row most = {.line = text, .interfaces = text, .leases = RF_LEASES_NOT_GIVEN};
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
	cmocka_unit_test(words_of_a_line_are_read_one_by_one),
	cmocka_unit_test(words_of_the_grammar_are_names),

	NEWCOMERS("off", "off", 0, 0, RF_NEWCOMERS_OFF),
	NEWCOMERS("open", "rate 10k/1s then open", 10000, SECOND, RF_NEWCOMERS_OPEN),
	NEWCOMERS("closed", "rate 1/1ms then closed", 1, MS, RF_NEWCOMERS_CLOSED),
	NEWCOMERS("aggregate", "rate 2147483648/8784h then aggregate", RF_LIMIT_MAX, 8784 * HOUR,
		  RF_NEWCOMERS_AGGREGATE),
	REFUSED_NEWCOMERS("nothing", "", NO_NEWCOMERS_RATE),
	REFUSED_NEWCOMERS("another word", "on", NO_NEWCOMERS_RATE),
	REFUSED_NEWCOMERS("no rate", "rate", "'rate': expects a rate, like 20k/1s"),
	REFUSED_NEWCOMERS("a bad rate", "rate fast then open", "'fast': " WRITE_RATE),
	REFUSED_NEWCOMERS("none", "rate 0/1s then open", "'0/1s': " COUNT_RANGE),
	REFUSED_NEWCOMERS("too many", "rate 2147483649/1s then open",
			  "'2147483649/1s': " COUNT_RANGE),
	REFUSED_NEWCOMERS("bits", "rate 10mbit then open",
			  "'10mbit': invalid rate: newcomers are counted in packets; write it like "
			  "10k/1s"),
	REFUSED_NEWCOMERS("no then", "rate 10k/1s", NO_THEN),
	REFUSED_NEWCOMERS("no then, but its word", "rate 10k/1s closed",
			  "'closed': 'then' is missing before it; write then closed"),
	REFUSED_NEWCOMERS("then before the rate", "then open rate 10k/1s",
			  "'then': the rate comes before it; write newcomers rate 10k/1s then "
			  "open|closed|aggregate"),
	REFUSED_NEWCOMERS("a rate without its word", "10k/1s then open",
			  "'10k/1s': 'rate' is missing before it; write rate 10k/1s"),
	REFUSED_NEWCOMERS("nothing behind then", "rate 10k/1s then",
			  "'then': expects open, closed or aggregate"),
	REFUSED_NEWCOMERS("then off", "rate 10k/1s then off",
			  "'off': 'then' expects open, closed or aggregate"),
	REFUSED_NEWCOMERS("more words", "rate 10k/1s then open shadow",
			  "'shadow': unexpected word"),
	REFUSED_NEWCOMERS("more words behind off", "off rate", "'rate': unexpected word"),

	FOR("not given", "", 0),
	FOR("another word", "confirm 5m", 0, "confirm"),
	FOR("ten minutes", "for 10m dev", 600 * SECOND, "dev"),
	FOR("a second", "for 1s", SECOND),
	FOR("a year", "for 8784h", 8784 * HOUR),
	FOR("less than a second", "for 999ms", .refusal = "'999ms': " FOR_RANGE),
	FOR("more than a year", "for 8785h", .refusal = "'8785h': " FOR_RANGE),
	FOR("no time", "for", .refusal = "'for': expects a time, like 10m"),
	FOR("an invalid time", "for ever", .refusal = "'ever': invalid " TIME_FORM),
	PAUSE("nothing", .line = "", .time_ns = 10 * 60 * RF_NS_PER_S),
	PAUSE("the shortest", .line = "for 1s", .time_ns = RF_NS_PER_S),
	PAUSE("the longest", .line = "for 24h", .time_ns = 24 * 3600 * RF_NS_PER_S),
	PAUSE("too short", .line = "for 999ms", .refusal = "'999ms': " PAUSE_RANGE),
	PAUSE("too long", .line = "for 1441m", .refusal = "'1441m': " PAUSE_RANGE),
	PAUSE("no time", .line = "for", .refusal = "'for': expects a time, like 10m"),
	PAUSE("for good", .line = "for forever",
	      .refusal = "'forever': invalid time; write it like 500ms, 10s, 5m or 1h"),

	CONFIRM("not given", "for 5m", 0, "for"),
	CONFIRM("five minutes", "confirm 5m", 300 * SECOND),
	CONFIRM("a second", "confirm 1s", SECOND),
	CONFIRM("a day", "confirm 24h", 24 * HOUR),
	CONFIRM("less than a second", "confirm 0s", .refusal = "'0s': " CONFIRM_RANGE),
	CONFIRM("more than a day", "confirm 25h", .refusal = "'25h': " CONFIRM_RANGE),
	CONFIRM("no time", "confirm", .refusal = "'confirm': expects a time, like 10m"),

	SPLIT("empty", ""),
	SPLIT("blanks", " \t \n"),
	SPLIT("a comment", "# limit add"),
	SPLIT("a comment behind blanks", "\t#"),
	SPLIT("words", "one two\tthree\n", {"one", "two", "three"}),
	SPLIT("words between blanks", "  one \t two  ", {"one", "two"}),
	SPLIT("the end of a line of DOS", "one\r\n", {"one"}),
	SPLIT("words and a comment", "one two # three four", {"one", "two"}),
	SPLIT("as many as fit, and a comment", "one two three #four", {"one", "two", "three"}),
	SPLIT("no comment within a word", "one#two", {"one#two"}),
	SPLIT("nothing is quoted", "'one two'", {"'one", "two'"}),
	cmocka_unit_test(a_line_of_too_many_words_is_refused),

	ATTACH("one interface", "eth0", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("three interfaces", "eth0 eth1 bond0.7", "eth0 eth1 bond0.7", NULL, RF_NATIVE, 0),
	ATTACH("with a fence", "eth0 eth1 fence edge1", "eth0 eth1", "edge1", RF_NATIVE, 0),
	ATTACH("with mode native", "eth0 mode native", "eth0", NULL, RF_NATIVE, 0),
	ATTACH("with mode generic", "eth0 mode generic", "eth0", NULL, RF_GENERIC, 0),
	ATTACH("with sources", "eth0 sources 500000", "eth0", NULL, RF_NATIVE, 500000),
	ATTACH("the fewest sources", "eth0 sources 1", "eth0", NULL, RF_NATIVE, 1),
	ATTACH("the most sources", "eth0 sources 67108864", "eth0", NULL, RF_NATIVE, 67108864),
	ATTACH_WITH("with leases", "eth0 leases 1024", "eth0", NULL, RF_NATIVE, 0, 1024, 0),
	ATTACH_WITH("with no leases", "eth0 leases 0", "eth0", NULL, RF_NATIVE, 0, 0, 0),
	ATTACH_WITH("the most leases", "eth0 leases 16777216", "eth0", NULL, RF_NATIVE, 0,
		    16777216),
	ATTACH_WITH("with every option", "eth0 fence f mode generic sources 9 leases 8 eth1",
		    "eth0 eth1", "f", RF_GENERIC, 9, 8, 0),
	ATTACH_WITH("with every option in another order",
		    "leases 8 sources 9 mode generic fence f eth0 eth1", "eth0 eth1", "f",
		    RF_GENERIC, 9, 8, 0),

	ATTACH_WITH("with confirm", "eth0 confirm 5m", "eth0", NULL, RF_NATIVE, 0,
		    RF_LEASES_NOT_GIVEN, 300 * SECOND),
	ATTACH_WITH("with chain", "eth0 chain", "eth0", NULL, RF_NATIVE, 0, RF_LEASES_NOT_GIVEN, 0,
		    .chain = true),
	ATTACH_WITH("with chain before the interface", "chain eth0 mode generic eth1", "eth0 eth1",
		    NULL, RF_GENERIC, 0, RF_LEASES_NOT_GIVEN, 0, .chain = true),
	ATTACH_WITH("with replace", "eth0 replace fence f", "eth0", "f", RF_NATIVE, 0,
		    RF_LEASES_NOT_GIVEN, 0, .replace = true),

	ATTACH("an interface called mode", "dev mode", "mode", NULL, RF_NATIVE, 0),
	ATTACH("an interface called fence, in a fence", "dev fence fence f", "fence", "f",
	       RF_NATIVE, 0),
	ATTACH("an interface called mode, in a mode", "dev mode mode generic", "mode", NULL,
	       RF_GENERIC, 0),
	ATTACH("an interface called chain, not the first", "eth0 dev chain", "eth0 chain", NULL,
	       RF_NATIVE, 0),
	ATTACH("an interface called dev", "dev dev", "dev", NULL, RF_NATIVE, 0),
	ATTACH("an interface called dev, without the word dev", "dev", "dev", NULL, RF_NATIVE, 0),
	ATTACH("dev before any interface", "dev eth0 fence f", "eth0", "f", RF_NATIVE, 0),
	REFUSED_ATTACH("nothing", "", NO_INTERFACE),
	REFUSED_ATTACH("options alone", "mode generic fence f", NONE_BUT("mode")),
	REFUSED_ATTACH("fence alone", "fence", NONE_BUT("fence")),
	REFUSED_ATTACH("an option alone, behind another", "chain mode", NONE_BUT("mode")),
	REFUSED_ATTACH("no word after fence", "eth0 fence", "'fence': expects the name of a fence"),
	REFUSED_ATTACH("no word after mode", "eth0 mode", "'mode': expects native or generic"),
	REFUSED_ATTACH("no word after sources", "eth0 sources", "'sources': expects a number"),
	REFUSED_ATTACH("an unknown mode", "eth0 mode fast", "'fast': " MODES),
	REFUSED_ATTACH("offload is not for asking", "eth0 mode offload", "'offload': " MODES),
	REFUSED_ATTACH("a bad name of a fence", "eth0 fence 1st",
		       "'1st': invalid name of a fence: " NAME_RULE),
	REFUSED_ATTACH("no sources", "eth0 sources 0", "'0': " SOURCES_RANGE),
	REFUSED_ATTACH("too many sources", "eth0 sources 67108865", "'67108865': " SOURCES_RANGE),
	REFUSED_ATTACH("sources with a suffix", "eth0 sources 500k", "'500k': " SOURCES_RANGE),
	REFUSED_ATTACH("no word after leases", "eth0 leases", "'leases': expects a number"),
	REFUSED_ATTACH("too many leases", "eth0 leases 16777217", "'16777217': " LEASES_RANGE),
	REFUSED_ATTACH("leases twice", "eth0 leases 8 leases 8", "'leases': given twice"),
	REFUSED_ATTACH("chain twice", "chain eth0 chain", "'chain': given twice"),
	REFUSED_ATTACH("replace twice", "eth0 replace replace", "'replace': given twice"),
	REFUSED_ATTACH("chain and replace", "eth0 chain replace", ONE_OF_THEM),
	REFUSED_ATTACH("replace and chain", "replace eth0 chain", ONE_OF_THEM),
	REFUSED_ATTACH("chain alone", "chain", NONE_BUT("chain")),
	REFUSED_ATTACH("chain with a value", "eth0 chain 50 chain", "'chain': given twice"),
	REFUSED_ATTACH("no time behind confirm", "eth0 confirm",
		       "'confirm': expects a time, like 10m"),
	REFUSED_ATTACH("confirm twice", "confirm 5m eth0 confirm 5m", "'confirm': given twice"),
	REFUSED_ATTACH("a long time to confirm", "eth0 confirm 25h", "'25h': " CONFIRM_RANGE),
	cmocka_unit_test(attach_of_too_many_interfaces_is_refused),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, commands", tests, NULL, NULL);
}
