// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar's commands, in rows of a line and the expected result: `newcomers`, `attach`, the
 * words after `for` and `confirm`, and splitting a line into words. test_grammar_limits.c tests
 * `limit add`, test_refusals.c refusals.
 */
#include "line.h"

#include <stdio.h>

#include "rules/grammar_option.h"

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

/* Every word can be a name, except `all`, and `dev` and `confirm`, which can be next to names. */
static void words_of_the_grammar_are_names(void **state)
{
	static const char words[] =
		"limit add set change rate packets bytes algorithm sliding fixed log token leaky "
		"cells edge strict weighted coarse burst match proto dport by drops "
		"from file per per6 shadow count rejected exact ban over truncate del list allow "
		"deny for "
		"load newcomers then pass drop aggregate off except answers dns none attach fence "
		"mode native "
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
};

static void parse_newcomers(void **state)
{
	const struct newcomers_row *row = *state;
	struct rf_newcomers_text newcomers;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	assert_accepted(rf_parse_newcomers(&line.words, &newcomers, &error), &error);
	assert_int_equal(newcomers.rate.count, row->expected.rate.count);
	assert_int_equal(newcomers.rate.window_ns, row->expected.rate.window_ns);
	assert_int_equal(newcomers.then, row->expected.then);
	assert_int_equal(newcomers.except_established, row->expected.except_established);
	assert_int_equal(newcomers.answers.count, row->expected.answers.count);
	assert_int_equal(newcomers.answers.window_ns, row->expected.answers.window_ns);
	assert_int_equal(newcomers.dns_ports, row->expected.dns_ports);
	assert_memory_equal(newcomers.dns_port, row->expected.dns_port, sizeof(newcomers.dns_port));
}

#define NEWCOMERS(title, text, ...)                              \
	UNIT_ROW_OF("parses newcomers: " title, parse_newcomers, \
		    (&(struct newcomers_row){text, {__VA_ARGS__}}))

#define RATE(count_, time)                         \
	{                                          \
		.count = count_, .window_ns = time \
	}
#define ANSWERS_DEFAULT RATE(1000000, SECOND)
#define DNS(port) .dns_ports = 1, .dns_port = {port}
#define CHALLENGE(title, text, ...)                                                            \
	NEWCOMERS("challenge " title, "rate 10k/1s then challenge " text, RATE(10000, SECOND), \
		  .then = RF_NEWCOMERS_CHALLENGE, .except_established = true,                  \
		  .answers = __VA_ARGS__)

/* The only option of a command, a time. */
struct time_row {
	enum rf_command_id command;
	const char *line;
	uint64_t time_ns;
};

static void parse_time(void **state)
{
	const struct time_row *row = *state;
	struct rf_list_text text = {};
	struct rf_error error = {};
	struct line line;
	uint64_t time_ns = 0;
	void *into = row->command == RF_CMD_ALLOW_ADD ? (void *)&text : &time_ns;

	line_split(&line, row->line);
	assert_accepted(rf_parse_arguments(row->command, &line.words, into, &error), &error);
	assert_int_equal(text.time_ns + time_ns, row->time_ns);
	assert_null(rf_words_peek(&line.words));
}

#define TIME_OF(title, command, ...) \
	UNIT_ROW_OF("reads " title, parse_time, (&(struct time_row){RF_CMD_##command, __VA_ARGS__}))
#define FOR(title, ...) TIME_OF("'for TIME': " title, ALLOW_ADD, __VA_ARGS__)
#define CONFIRM(title, ...) TIME_OF("'confirm TIME': " title, APPLY, __VA_ARGS__)
#define PAUSE(title, ...) TIME_OF("'for TIME' of a pause: " title, PAUSE, __VA_ARGS__)

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

static void attach_of_too_many_interfaces_is_refused(void **state)
{
	char text[RF_INTERFACES_MAX * 8] = "", sentence[64];
	struct attach_row most = {.line = text, .interfaces = text, .leases = RF_LEASES_NOT_GIVEN};
	struct rf_error error = {};
	struct rf_attach attach;
	void *most_state = &most;
	struct line line;

	(void)state;
	snprintf(sentence, sizeof(sentence), "'more': too many interfaces; %d at most",
		 RF_INTERFACES_MAX);
	for (int i = 1; i <= RF_INTERFACES_MAX; i++)
		sprintf(text + strlen(text), "eth%d ", i);
	parse_attach(&most_state);
	strcat(text, "more");
	line_split(&line, text);
	assert_refused(rf_parse_attach(&line.words, &attach, &error), &error, sentence);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(words_of_a_line_are_read_one_by_one),
	cmocka_unit_test(words_of_the_grammar_are_names),

	NEWCOMERS("off", "off", .then = RF_NEWCOMERS_OFF),
	NEWCOMERS("pass", "rate 10k/1s then pass", RATE(10000, SECOND), .then = RF_NEWCOMERS_PASS),
	NEWCOMERS("drop", "rate 1/1ms then drop", RATE(1, MS), .then = RF_NEWCOMERS_DROP),
	NEWCOMERS("aggregate", "rate 2147483648/8784h then aggregate",
		  RATE(RF_LIMIT_MAX, 8784 * HOUR), .then = RF_NEWCOMERS_AGGREGATE),
	NEWCOMERS("drop except established", "rate 1/1ms then drop except established", RATE(1, MS),
		  .then = RF_NEWCOMERS_DROP, .except_established = true),
	CHALLENGE("with its defaults", "", ANSWERS_DEFAULT, DNS(53)),
	CHALLENGE("with the exception that it implies", "except established", ANSWERS_DEFAULT,
		  DNS(53)),
	CHALLENGE("with a rate of answers", "answers 5/2s", RATE(5, 2 * SECOND), DNS(53)),
	CHALLENGE("without DNS", "dns none", ANSWERS_DEFAULT),
	CHALLENGE("with a port of DNS", "dns 5353", ANSWERS_DEFAULT, DNS(5353)),
	CHALLENGE("with a list, and in another order", "dns 9,1-2, 65535 answers 1/1s",
		  RATE(1, SECOND), .dns_ports = 4, .dns_port = {1, 2, 9, 65535}),

	FOR("not given", "", 0),
	FOR("ten minutes", "for 10m", 600 * SECOND),
	FOR("a second", "for 1s", SECOND),
	FOR("a year", "for 8784h", 8784 * HOUR),
	PAUSE("nothing", .line = "", .time_ns = 10 * 60 * RF_NS_PER_S),
	PAUSE("the shortest", .line = "for 1s", .time_ns = RF_NS_PER_S),
	PAUSE("the longest", .line = "for 24h", .time_ns = 24 * 3600 * RF_NS_PER_S),

	CONFIRM("not given", "", 0),
	CONFIRM("five minutes", "confirm 5m", 300 * SECOND),
	CONFIRM("a second", "confirm 1s", SECOND),
	CONFIRM("a day", "confirm 24h", 24 * HOUR),

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
	cmocka_unit_test(attach_of_too_many_interfaces_is_refused),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, commands", tests, NULL, NULL);
}
