// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "daemon/settings.h"

#define WORDS_MAX 64 /* in a line */

/* A file that is being read. */
struct reading {
	struct rf_settings *settings;
	struct rf_mistakes *mistakes;
	size_t line;
	size_t given_in[RF_SETTINGS]; /* the line of each setting; 0: none */
};

/* A line has one setting, or none. */
static int take_line(struct reading *reading, char *line, struct rf_error *error)
{
	const char *array[WORDS_MAX];
	struct rf_words words = {};
	int row = rf_split_line(line, array, WORDS_MAX, &words, error);

	if (row < 0 || !rf_words_peek(&words))
		return row;
	row = rf_settings_take(reading->settings, &words, error);
	if (row < 0)
		return row;
	if (reading->given_in[row])
		return rf_error_usage(error, "'%s': given twice, first in line %zu",
				      rf_setting_rows[row].word, reading->given_in[row]);
	reading->given_in[row] = reading->line;
	return rf_words_end(&words, error);
}

static int note(struct reading *reading, size_t line, const char *text, struct rf_error *error)
{
	return rf_mistakes_add(reading->mistakes, line, text, error);
}

int rf_settings_text(struct rf_settings *settings, char *text, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	struct reading reading = {settings, mistakes, 0, {}};
	struct rf_error mistake;
	int err = 0;

	for (char *line = text, *next; line && !err; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		reading.line++;
		if (take_line(&reading, line, &mistake) < 0)
			err = note(&reading, reading.line, mistake.text, error);
	}
	if (!err && !mistakes->count && rf_settings_check(settings, &mistake))
		err = note(&reading, reading.given_in[RF_SET_LISTEN], mistake.text, error);
	return err;
}
