// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/units.h"
#include "rules/advice.h"
#include "rules/file.h"
#include "rules/grammar_table.h"
#include "rules/settings.h"
#include "schema/settings.h"

#define DAY_NS (24 * 3600 * RF_NS_PER_S)
#define WORDS_MAX 64 /* in a line */
#define WIDTH 80
#define INDENT 32

/* ---- kinds ---- */

int rf_setting_word(const struct rf_setting_row *row, const char *value, const char *const *word,
		    int count, unsigned int *index, struct rf_error *error)
{
	struct rf_near near = rf_near_begin(value);
	char all[64] = "";

	for (int i = 0; i < count; i++) {
		if (strcmp(value, word[i]) == 0) {
			*index = i;
			return 0;
		}
		rf_near_consider(&near, word[i], strlen(word[i]));
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 i == 0		  ? ""
			 : i == count - 1 ? " or "
					  : ", ",
			 word[i]);
	}
	if (*near.word)
		return rf_error_usage(error, "'%s': '%s' expects %s; did you mean '%s'?", value,
				      row->word, all, near.word);
	return rf_error_usage(error, "'%s': '%s' expects %s", value, row->word, all);
}

/* TIME, or days. False: neither. */
static bool time_of(const char *value, uint64_t *time_ns)
{
	const size_t digits = strspn(value, "0123456789");
	struct rf_error ignored;

	if (!digits || digits > 5 || strcmp(value + digits, "d") != 0)
		return !rf_parse_time(value, time_ns, &ignored);
	*time_ns = strtoull(value, NULL, 10) * DAY_NS;
	return true;
}

/* A number with K, M, G or T: powers of 1024, as in other tools' settings of files. */
static bool size_of(const char *value, uint64_t *bytes)
{
	const size_t digits = strspn(value, "0123456789");
	const char *suffix = value + digits, *units = "KMGT", *unit;
	const uint64_t number = digits && digits <= 12 ? strtoull(value, NULL, 10) : 0;

	*bytes = number;
	if (!*suffix)
		return number;
	unit = strchr(units, toupper((unsigned char)*suffix));
	if (!unit || (suffix[1] && strcmp(suffix + 1, "iB") != 0) || number > UINT64_MAX >> 40)
		return false;
	*bytes = number << 10 * (unit - units + 1);
	return true;
}

/* Takes a number within the bounds of the row, which are written as the value is. */
static int take_within(const struct rf_setting_row *row, const char *value, void *settings,
		       bool (*parse)(const char *value, uint64_t *number), const char *what,
		       struct rf_error *error)
{
	uint64_t number, least = 0, most = UINT64_MAX;

	parse(row->least, &least);
	parse(row->most, &most);
	if (!parse(value, &number) || number < least || number > most)
		return rf_error_usage(error, "'%s': '%s' expects a %s from %s to %s, like %s",
				      value, row->word, what, row->least, row->most, row->initial);
	*(uint64_t *)((char *)settings + row->at) = number;
	return 0;
}

int rf_setting_time(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error)
{
	return take_within(row, value, settings, time_of, "time", error);
}

int rf_setting_size(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error)
{
	return take_within(row, value, settings, size_of, "size", error);
}

/* A relative path would mean another file under systemd. */
int rf_setting_path(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error)
{
	char *path = (char *)settings + row->at;

	if (strcmp(value, RF_OFF) == 0) {
		*path = '\0';
		return 0;
	}
	if (*value != '/')
		return rf_error_usage(error, "'%s': '%s' expects an absolute path, or off", value,
				      row->word);
	if (strlen(value) >= row->size)
		return rf_error_usage(error, "'%s': '%s' expects a path of %zu bytes at most",
				      value, row->word, row->size - 1);
	strcpy(path, value);
	return 0;
}

int rf_setting_text(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error)
{
	if (strlen(value) >= row->size)
		return rf_error_usage(error, "'%s': '%s' expects %zu characters at most", value,
				      row->word, row->size - 1);
	strcpy((char *)settings + row->at, value);
	return 0;
}

/* ---- words ---- */

/* How many of the next words are the setting's name, of one or two words. 0: they are another. */
static int matches(const char *name, const struct rf_words *words)
{
	const char *first = rf_words_peek(words), *blank = strchr(name, ' ');

	if (!blank)
		return strcmp(first, name) == 0;
	if (strncmp(first, name, blank - name) != 0 || first[blank - name])
		return 0;
	return words->at + 1 < words->count && strcmp(words->word[words->at + 1], blank + 1) == 0
		       ? 2
		       : 0;
}

static bool has_setting(const void *of, const char *word)
{
	const struct rf_setting_table *table = of;

	for (int i = 0; i < table->count; i++)
		if (strcmp(table->row[i].word, word) == 0)
			return true;
	return false;
}

/* The word is not a setting: it was renamed, or it can be similar to the first word of one. */
static int fail_unknown(const struct rf_setting_table *table, const struct rf_words *words,
			struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	struct rf_near near = rf_near_begin(word);

	if (rf_fail_renamed(words, has_setting, table, "setting", error))
		return -EINVAL;
	for (int i = 0; i < table->count; i++) {
		const char *name = table->row[i].word;
		const size_t length = strcspn(name, " ");

		if (strncmp(word, name, length) == 0 && !word[length])
			return rf_error_usage(error, "'%s': unknown setting; did you mean '%s'?",
					      word, name);
		rf_near_consider(&near, name, length);
	}
	if (*near.word)
		return rf_error_usage(error, "'%s': unknown setting; did you mean '%s'?", word,
				      near.word);
	return rf_error_usage(error, "'%s': unknown setting; '%s help' lists the settings", word,
			      table->program);
}

int rf_setting_take(const struct rf_setting_table *table, struct rf_words *words, void *settings,
		    struct rf_error *error)
{
	const struct rf_setting_row *row = NULL;
	const char *value;
	int taken = 0, i, err;

	for (i = 0; i < table->count && !taken; i += !taken) {
		row = &table->row[i];
		taken = matches(row->word, words);
	}
	if (!taken)
		return fail_unknown(table, words, error);
	words->at += taken;
	value = rf_words_next(words);
	if (!value)
		return rf_error_usage(error, "'%s': expects %s", row->word, row->value);
	err = row->parse(row, value, settings, error);
	return err ? err : i;
}

void rf_setting_defaults(const struct rf_setting_table *table, void *settings)
{
	struct rf_error ignored;

	for (int i = 0; i < table->count; i++)
		if (table->row[i].initial)
			table->row[i].parse(&table->row[i], table->row[i].initial, settings,
					    &ignored);
}

const char *rf_setting_find(char *text, const char *name)
{
	const char *array[WORDS_MAX], *found = NULL;
	struct rf_words words;
	struct rf_error ignored;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		int taken;

		if (rf_split_line(line, array, WORDS_MAX, &words, &ignored) ||
		    !rf_words_peek(&words))
			continue;
		taken = matches(name, &words);
		words.at += taken;
		if (taken && rf_words_peek(&words))
			found = rf_words_peek(&words);
	}
	return found;
}

/* ---- help ---- */

/* Writes words from column `at` on, in lines of WIDTH; the next lines start at column INDENT. */
static int put_wrapped(FILE *out, const char *text, int at)
{
	while (*text) {
		const int length = strcspn(text, " ");

		if (at + 1 + length > WIDTH) {
			rf_put(out, "\n%*s", INDENT - 1, "");
			at = INDENT - 1;
		}
		rf_put(out, " %.*s", length, text);
		at += 1 + length;
		text += length;
		text += *text == ' ';
	}
	return at;
}

static void put_row(FILE *out, const struct rf_setting_row *row)
{
	/* A character beyond ASCII is three bytes, and one column. */
	const int width = 3 + strlen(row->word) + strlen(row->value) -
			  (strstr(row->value, "…") ? strlen("…") - 1 : 0);
	char initial[64];
	int at;

	rf_put(out, "  %s %s%*s", row->word, row->value, INDENT - 1 - width, "");
	at = put_wrapped(out, row->help, INDENT - 1);
	if (row->initial) {
		snprintf(initial, sizeof(initial), "(default: %s)", row->initial);
		put_wrapped(out, initial, at);
	}
	rf_put(out, "\n");
}

char *rf_setting_help(const struct rf_setting_table *table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < table->count; i++)
		put_row(out, &table->row[i]);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- secrets ---- */

static const struct {
	const char *name;
	size_t least; /* characters */
} kinds[] = {
	[RF_PASSWORD] = {"password", 1},
	[RF_BUCKET_KEY] = {"key", 16},
};

static int check_file(const char *path, const char *name, struct rf_error *error)
{
	struct stat status;

	if (stat(path, &status))
		return rf_error_failed(error, -errno, "%s: cannot read the %s: %s", path, name,
				       strerror(errno));
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return rf_error_failed(error, -EINVAL,
				       "%s: it is no file with a %s; write one into its "
				       "first line",
				       path, name);
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return rf_error_failed(error, -EACCES,
				       "%s: others may read the %s; run 'chmod 600 %s'", path, name,
				       path);
	return 0;
}

static int check_length(enum rf_secret_kind kind, const char *path, size_t length,
			struct rf_error *error)
{
	const char *name = kinds[kind].name;

	if (!length)
		return rf_error_failed(error, -EINVAL,
				       "%s: no %s is in its first line; write one there", path,
				       name);
	if (length >= RF_SECRET_SIZE)
		return rf_error_failed(error, -EINVAL, "%s: the %s is too long", path, name);
	if (length < kinds[kind].least)
		return rf_error_failed(error, -EINVAL,
				       "%s: the %s is too short: it must have %zu characters; "
				       "'openssl rand -hex 16' makes one",
				       path, name, kinds[kind].least);
	return 0;
}

int rf_secret_read(enum rf_secret_kind kind, const char *path, char text[RF_SECRET_SIZE],
		   struct rf_error *error)
{
	int err = check_file(path, kinds[kind].name, error);
	size_t length;
	char *read;

	if (!err)
		err = rf_file_read(path, &read, error);
	if (err)
		return err;
	length = strcspn(read, "\r\n");
	err = check_length(kind, path, length, error);
	if (!err) {
		memcpy(text, read, length);
		text[length] = '\0';
	}
	explicit_bzero(read, strlen(read));
	free(read);
	return err;
}

int rf_secret_check(enum rf_secret_kind kind, const char *path, struct rf_error *error)
{
	char text[RF_SECRET_SIZE] = "";
	const int err = rf_secret_read(kind, path, text, error);

	explicit_bzero(text, sizeof(text));
	return err;
}
