// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "rules/list_line.h"

#define BLANKS " \t\r\v\f"
#define SEPARATORS BLANKS ",|"
#define COLUMNS_MAX 4 /* more of them say nothing about addresses */

/* ---- columns ---- */

/* The end of a column: of one in quotes, the closing one. */
static char *end_of(char *column)
{
	char *quote = strchr("\"'", *column) ? strchr(column + 1, *column) : NULL;

	return quote ? quote : column + strcspn(column, SEPARATORS);
}

/* Splits a line without comments. Columns after the last one are left out. */
static int split_columns(char *line, char *column[COLUMNS_MAX])
{
	int count = 0;

	for (line += strspn(line, BLANKS); *line && count < COLUMNS_MAX; count++) {
		char *end = end_of(line);
		const bool is_quoted = *end && *end == *line;
		char *next = end + is_quoted;

		next += strspn(next, BLANKS);
		if (*next && strchr(",|", *next))
			next += 1 + strspn(next + 1, BLANKS);
		*end = '\0';
		column[count] = line + is_quoted;
		line = next;
	}
	return count;
}

static bool is_address(const char *text)
{
	struct rf_address address;
	struct rf_error ignored;

	return !rf_parse_address(text, &address, &ignored);
}

/* ---- prefixes and ranges ---- */

static int add_range(const char *from_text, const char *to_text, struct rf_prefixes *prefixes,
		     struct rf_error *error)
{
	struct rf_address from, to;
	int err = rf_parse_address(from_text, &from, error);

	if (!err)
		err = rf_parse_address(to_text, &to, error);
	return err ? err : rf_prefixes_add_range(prefixes, &from, &to, error);
}

/* FIRST LAST LENGTH: the columns must agree, since two addresses in a line can be anything. */
static int add_network(char *const column[COLUMNS_MAX], int count, struct rf_prefixes *prefixes,
		       struct rf_error *error)
{
	struct rf_prefixes range = {};
	struct rf_prefix prefix;
	char text[RF_PREFIX_TEXT_SIZE * 2] = "";
	int err = add_range(column[0], column[1], &range, error);

	if (!err && count > 2)
		snprintf(text, sizeof(text), "%s/%.8s", column[0], column[2]);
	if (!err && (rf_parse_prefix(text, &prefix, error) || range.count != 1 ||
		     rf_prefix_compare(&prefix, &range.prefix[0])))
		err = rf_error_usage(error,
				     "'%s' and '%s': two addresses in a line; a range is written "
				     "as %s-%s",
				     column[0], column[1], column[0], column[1]);
	rf_prefixes_free(&range);
	return err ? err : rf_prefixes_add(prefixes, &prefix, error);
}

/* Where another column has the address, names it. */
static int fail_columns(char *const column[COLUMNS_MAX], int count, int err, struct rf_error *error)
{
	for (int i = 1; i < count && err != -ENOMEM; i++)
		if (is_address(column[i]))
			return rf_error_usage(error,
					      "'%.64s': no address; '%.64s' is one, but only the "
					      "first column is read",
					      column[0], column[i]);
	return err;
}

static int add_columns(char *const column[COLUMNS_MAX], int count, struct rf_prefixes *prefixes,
		       struct rf_error *error)
{
	char *dash = strchr(column[0], '-');
	int err;

	if (count > 1 && !strcmp(column[1], "for"))
		return rf_error_usage(error,
				      "'for': entries in a file do not expire; 'ringfence "
				      "batch' takes lines such as 'deny add %.64s for 1h'",
				      column[0]);
	if (count > 2 && !strcmp(column[1], "-"))
		return add_range(column[0], column[2], prefixes, error);
	if (count > 1 && is_address(column[0]) && is_address(column[1]))
		return add_network(column, count, prefixes, error);
	if (dash)
		*dash = '\0';
	if (dash && is_address(column[0]))
		return add_range(column[0], dash + 1, prefixes, error);
	if (dash)
		*dash = '-';
	err = rf_prefixes_add_network(prefixes, column[0], error);
	return err ? fail_columns(column, count, err, error) : 0;
}

/* ---- JSON ---- */

/* One object per line; the last one describes the list, and has a type. */
static int add_object(const char *line, struct rf_prefixes *prefixes, struct rf_error *error)
{
	json_t *object = json_loads(line, 0, NULL);
	const char *prefix = json_string_value(json_object_get(object, "cidr"));
	int err = 0;

	if (!prefix)
		prefix = json_string_value(json_object_get(object, "ip"));
	if (prefix)
		err = rf_prefixes_add_network(prefixes, prefix, error);
	else if (!json_object_get(object, "type"))
		err = rf_error_usage(error, "no JSON object with \"cidr\" or \"ip\"");
	json_decref(object);
	return err;
}

int rf_list_line_parse(char *line, struct rf_prefixes *prefixes, struct rf_error *error)
{
	char *column[COLUMNS_MAX];
	int count;

	line += strspn(line, BLANKS);
	if (*line == '{')
		return add_object(line, prefixes, error);
	line[strcspn(line, "#;")] = '\0';
	count = split_columns(line, column);
	return count ? add_columns(column, count, prefixes, error) : 0;
}
