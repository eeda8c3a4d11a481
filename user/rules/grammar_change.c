// SPDX-License-Identifier: GPL-2.0
/* A change of a limit: the words that define it, without the parts that the change names, and then
 * the words of the change. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/grammar_option.h"
#include "rules/private.h"

#define UNITS (1U << RF_OPT_PACKETS | 1U << RF_OPT_BYTES)

int rf_parse_change(struct rf_words *words, struct rf_change *change, struct rf_error *error)
{
	unsigned int given, dropped;
	int err;

	*change = (struct rf_change){.name = rf_take_operand(RF_CMD_LIMIT_CHANGE, words, error)};
	if (!change->name)
		return -EINVAL;
	change->words = *words;
	err = rf_parse_parts(words, &given, &dropped, error);
	if (err)
		return err;
	change->parts = given | dropped;
	if (dropped >> RF_OPT_SHARED & 1)
		change->parts |= 1U << RF_OPT_FIRST | 1U << RF_OPT_ALONE;
	if (given & dropped) {
		const char *word = rf_limit_options[__builtin_ctz(given & dropped)].word;

		return rf_error_usage(
			error, "'no %s': '%s' is given as well; leave out one of them", word, word);
	}
	if (change->parts & ~(1U << RF_OPT_TRIAL | 1U << RF_OPT_FORCE | 1U << RF_OPT_NO))
		return 0;
	return rf_error_usage(error,
			      "'%s': nothing to change; name a part, like 'rate 200/1s' or 'no "
			      "from'",
			      change->name);
}

/* Appends the words of `text`, after NAME, that define no part of `parts`. */
static int keep_words(char *text, unsigned int parts, const char **word)
{
	int count = 0, part = RF_OPT_RATE;
	bool is_value = false;

	strsep(&text, " "); /* limit */
	strsep(&text, " "); /* add */
	strsep(&text, " ");
	for (char *next = strsep(&text, " "); next; next = strsep(&text, " ")) {
		const int row = is_value ? -1 : rf_option_find(rf_limit_options, next);

		part = row >= 0 ? row : part;
		is_value = row >= 0 && rf_limit_options[row].kind != RF_KIND_NONE;
		if (!(parts >> part & 1))
			word[count++] = next;
	}
	return count;
}

int rf_change_limit(const struct rf_change *change, const struct rf_limit *present,
		    const char *text, struct rf_definition *definition, struct rf_error *error)
{
	struct rf_words rest = change->words, words = {};
	char *copy = strdup(text);
	const char **word = calloc(strlen(text) + rest.count + 1, sizeof(*word));
	int count, err;

	*definition = (struct rf_definition){};
	if (!copy || !word) {
		free(copy);
		free(word);
		return rf_error_failed(error, -ENOMEM, "limit '%s': out of memory", change->name);
	}
	/* A rate in bits stands for the unit, so the unit is said anew. */
	count = keep_words(copy, change->parts | UNITS, word);
	if (present->unit == RF_BYTES && !(change->parts & UNITS))
		word[count++] = rf_limit_options[RF_OPT_BYTES].word;
	while (rf_words_peek(&rest))
		word[count++] = rf_words_next(&rest);
	words = (struct rf_words){.word = word, .count = count};
	err = rf_parse_changed(&words, present->name, definition, error);
	free(word);
	free(copy);
	return err;
}
