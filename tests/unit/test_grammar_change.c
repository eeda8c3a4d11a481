// SPDX-License-Identifier: GPL-2.0
/*
 * `limit change`, in rows of a limit, the words of a change, and the resulting limit: the named
 * parts change, the others remain.
 */
#include "line.h"

#include <stdio.h>

#include "rules/grammar_table.h"

struct change_row {
	const char *before, *words;
	const char *after; /* NULL: refused */
	const char *refusal;
};

static int change(const struct change_row *row, struct rf_definition *after, struct rf_error *error)
{
	char text[RF_LIMIT_TEXT_SIZE + 16];
	struct rf_definition present;
	struct rf_change changed;
	struct line before, line;
	int err;

	assert_accepted(parse_definition(row->before, &before, &present, error), error);
	snprintf(text, sizeof(text), "limit add %s", row->before);
	line_split(&line, row->words);
	err = rf_parse_change(&line.words, &changed, error);
	if (!err)
		err = rf_change_limit(&changed, &present.limit, text, after, error);
	rf_definition_free(&present);
	return err;
}

/* The refusal of a row; behind `expects ` the words that `no` takes away, as the rows have them. */
static const char *refusal_of(const struct change_row *row,
			      char text[sizeof(((struct rf_error *)0)->text)])
{
	const struct rf_option *words = rf_limit_options[RF_OPT_NO].words;
	const size_t length = strlen(row->refusal), end = strlen("expects ");

	strcpy(text, row->refusal);
	if (length < end || strcmp(text + length - end, "expects ") != 0)
		return text;
	for (int i = 0; words[i].word; i++) {
		strcat(text, !i ? "" : words[i + 1].word ? ", " : " or ");
		strcat(text, words[i].word);
	}
	return text;
}

static void change_limit(void **state)
{
	const struct change_row *row = *state;
	struct rf_definition after = {};
	char text[RF_LIMIT_TEXT_SIZE], refusal[sizeof(((struct rf_error *)0)->text)];
	struct rf_error error = {};
	int err = change(row, &after, &error);

	if (row->after) {
		assert_accepted(err, &error);
		check_written(&after.limit, text);
		assert_string_equal(text, row->after);
	} else {
		assert_refused(err, &error, refusal_of(row, refusal));
		assert_no_definition(&after);
	}
	rf_definition_free(&after);
}

#define CHANGE(title, before, words, after)         \
	UNIT_ROW_OF("changes " title, change_limit, \
		    (&(struct change_row){before, words, after, NULL}))
#define REFUSED(title, before, words, sentence)     \
	UNIT_ROW_OF("refuses " title, change_limit, \
		    (&(struct change_row){before, words, NULL, sentence}))

static void parts_are_those_named(void **state)
{
	struct rf_error error = {};
	struct rf_change changed;
	struct line line;

	(void)state;
	line_split(&line, "dns rate 7/1s no shadow");
	assert_accepted(rf_parse_change(&line.words, &changed, &error), &error);
	assert_string_equal(changed.name, "dns");
	assert_int_equal(changed.parts, 1U << RF_OPT_RATE | 1U << RF_OPT_SHADOW | 1U << RF_OPT_NO);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(parts_are_those_named),
	CHANGE("the rate alone", "dns rate 5/1s match udp shadow", "dns rate 7/1s",
	       "dns rate 7/1s match udp shadow"),
	CHANGE("what it adds", "dns rate 5/1s", "dns match tcp syn per /24",
	       "dns rate 5/1s match tcp syn per /24"),
	CHANGE("what it takes away", "dns rate 5/1s match udp per /24 shadow",
	       "dns no shadow no per", "dns rate 5/1s match udp"),
	CHANGE("no more than is there", "dns rate 5/1s", "dns no shadow", "dns rate 5/1s"),
	CHANGE("a rate in bits", "dns rate 8mbit shadow", "dns no shadow", "dns rate 8mbit"),
	CHANGE("a rate in bits to a count of bytes", "dns rate 8mbit", "dns rate 5k/1s",
	       "dns rate 5k/1s bytes"),
	CHANGE("bytes to packets", "dns rate 5k/1s bytes", "dns packets", "dns rate 5k/1s"),
	CHANGE("an algorithm and its burst", "dns rate 5/1s algorithm token burst 8",
	       "dns no burst no algorithm", "dns rate 5/1s"),
	CHANGE("any rate to rate 0, which keeps the other parts",
	       "dns rate 8mbit algorithm token burst 5k per /24", "dns rate 0",
	       "dns rate 0 bytes burst 5k per /24"),
	CHANGE("rate 0 to any rate", "dns rate 0 bytes algorithm token burst 5k per /24",
	       "dns rate 8mbit", "dns rate 8mbit burst 5k per /24"),
	CHANGE("a window of bytes, which remains one", "dns rate 8mbit algorithm sliding",
	       "dns rate 9mbit", "dns rate 9mbit algorithm sliding"),
	CHANGE("a window of bytes to the default", "dns rate 8mbit algorithm sliding",
	       "dns no algorithm", "dns rate 8mbit"),
	CHANGE("bytes to a fleet, which has windows", "dns rate 8mbit", "dns fleet",
	       "dns rate 8mbit fleet"),
	CHANGE("the cells of bytes, which say that it is a window", "dns rate 8mbit", "dns cells 8",
	       "dns rate 8mbit algorithm sliding cells 8"),
	CHANGE("rate 0 to a log", "dns rate 0", "dns rate 5/1m algorithm log",
	       "dns rate 5/1m algorithm log"),
	REFUSED("rate 0 of a limit with a ban", "dns rate 5/1s ban 1m", "dns rate 0",
		"'ban': rate 0 drops all packets and bans no source; leave out 'ban', or write a "
		"rate like 1/1h; unnamed parts remain unchanged, 'no PART' removes one"),
	REFUSED("no name", "dns rate 5/1s", "",
		"the limit's name is missing; write limit change NAME"),
	REFUSED("no part", "dns rate 5/1s", "dns",
		"'dns': nothing to change; name a part, like 'rate 200/1s' or 'no from'"),
	REFUSED("a part that is given and taken away", "dns rate 5/1s", "dns shadow no shadow",
		"'no shadow': 'shadow' is given as well; leave out one of them"),
	REFUSED("no rate", "dns rate 5/1s", "dns no rate", "'rate': 'no' expects "),
	REFUSED("no word after no", "dns rate 5/1s", "dns no", "'no': expects "),
	REFUSED("a part twice", "dns rate 5/1s", "dns rate 6/1s rate 7/1s", "'rate': given twice"),
	REFUSED("what the rest of the limit excludes", "dns rate 5/1s algorithm token burst 8",
		"dns no algorithm",
		"'burst': 'algorithm sliding' does not accept it; only token and leaky have a "
		"burst; unnamed parts remain unchanged, 'no PART' removes one"),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar, changes", tests, NULL, NULL);
}
