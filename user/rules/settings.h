/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings: words of a file or of a command line, a row of a table each. The daemon and the agent
 * of a fleet have such tables (schema/watch_settings.def, schema/fleet_settings.def), and every
 * reader of their files reads them by these functions. Pure.
 */
#ifndef RINGFENCE_RULES_SETTINGS_H
#define RINGFENCE_RULES_SETTINGS_H

#include <stddef.h>

#include "base/error.h"
#include "base/units.h"
#include "rules/grammar.h"

struct rf_setting_row;

/* Stores a value in a structure of settings, in the field of the row. 0 or -EINVAL. */
typedef int (*rf_setting_parser)(const struct rf_setting_row *row, const char *value,
				 void *settings, struct rf_error *error);

struct rf_setting_row {
	const char *word;    /* one or two */
	const char *value;   /* what follows, as help writes it */
	const char *initial; /* the default, as a value; NULL: none */
	const char *least, *most;
	const char *help;
	rf_setting_parser parse;
	size_t at, size; /* of the member */
};

/* A row of a .def as a member of an array, for settings in `type`. */
#define RF_SETTING_ROW(type, words, value, kind, member, initial, least, most, help) \
	{words,                                                                      \
	 value,                                                                      \
	 initial,                                                                    \
	 least,                                                                      \
	 most,                                                                       \
	 help,                                                                       \
	 rf_setting_##kind,                                                          \
	 offsetof(type, member),                                                     \
	 sizeof(((type *)0)->member)},

struct rf_setting_table {
	const struct rf_setting_row *row;
	int count;
	const char *program; /* whose help lists them */
};

void rf_setting_defaults(const struct rf_setting_table *table, void *settings);
/* Takes one setting with its value from the words. Returns which one, or a negative errno. */
int rf_setting_take(const struct rf_setting_table *table, struct rf_words *words, void *settings,
		    struct rf_error *error);
/*
 * The value of one setting in the text of a file with a setting a line, which it changes; the last
 * one counts. NULL: the file does not have it.
 */
const char *rf_setting_find(char *text, const char *name);
/* The lines of help, with defaults. The caller frees them; NULL: no memory. */
char *rf_setting_help(const struct rf_setting_table *table);

/* ---- kinds ---- */

/* The index of `value` among the words, or an error that lists them. */
int rf_setting_word(const struct rf_setting_row *row, const char *value, const char *const *word,
		    int count, unsigned int *index, struct rf_error *error);

int rf_setting_time(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error); /* uint64_t, in ns; days, too */
int rf_setting_size(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error); /* uint64_t, in bytes */
int rf_setting_path(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error); /* an array of characters; "": off */
int rf_setting_text(const struct rf_setting_row *row, const char *value, void *settings,
		    struct rf_error *error); /* an array of characters */

/* ---- secrets: the first lines of files that no group and no other user may access ---- */

#define RF_SECRET_SIZE 256

enum rf_secret_kind {
	RF_PASSWORD,
	RF_BUCKET_KEY, /* of a fleet */
};

/* -EACCES if others may access the file. Clear `text` after use. */
int rf_secret_read(enum rf_secret_kind kind, const char *path, char text[RF_SECRET_SIZE],
		   struct rf_error *error);
/* The same for a file that another process is going to read. */
int rf_secret_check(enum rf_secret_kind kind, const char *path, struct rf_error *error);

/* ---- the fleet ---- */

/* The settings that `ringfence fleet join` writes for the agent of a fence, and the agent reads. */
#define RF_FLEET_DIRECTORY "/etc/ringfence"
#define RF_FLEET_FILE RF_FLEET_DIRECTORY "/%s.fleet" /* of that fence */
#define RF_SERVERS_MOST 8			     /* of a cluster, that are named */

#endif /* RINGFENCE_RULES_SETTINGS_H */
