// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/file.h"
#include "rules/list_line.h"
#include "rules/nft_set.h"

#define FILE_BYTES_MAX (256UL << 20) /* far more than any rule file has */
#define READ_BYTES 65536
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

const char *rf_file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

struct text {
	char *bytes;
	size_t length;
	size_t capacity;
};

static int fail_read(const char *path, int negative_errno, struct rf_error *error)
{
	return rf_error_failed(error, negative_errno, "%s: cannot read it: %s", path,
			       strerror(-negative_errno));
}

static int make_room(struct text *text)
{
	char *grown;

	if (text->capacity - text->length > READ_BYTES)
		return 0;
	text->capacity = text->capacity ? text->capacity * 2 : 2 * READ_BYTES;
	grown = realloc(text->bytes, text->capacity);
	if (!grown)
		return -ENOMEM;
	text->bytes = grown;
	return 0;
}

static int read_stream(FILE *stream, struct text *text)
{
	size_t got = 1;
	int err = 0;

	while (got && !err) {
		err = make_room(text);
		if (err)
			break;
		got = fread(text->bytes + text->length, 1, READ_BYTES, stream);
		text->length += got;
		if (text->length > FILE_BYTES_MAX)
			err = -EFBIG;
	}
	if (!err && ferror(stream))
		err = errno ? -errno : -EIO;
	return err;
}

int rf_file_read(const char *path, char **result, struct rf_error *error)
{
	const bool standard = strcmp(path, "-") == 0;
	FILE *stream = standard ? stdin : fopen(path, "re");
	struct text text = {};
	int err;

	*result = NULL;
	if (!stream)
		return fail_read(path, -errno, error);
	err = read_stream(stream, &text);
	if (!standard)
		fclose(stream);
	if (!err && memchr(text.bytes, '\0', text.length)) {
		free(text.bytes);
		return rf_error_failed(error, -EINVAL, "%s: not a text file: it has a zero byte",
				       path);
	}
	if (err) {
		free(text.bytes);
		return fail_read(path, err, error);
	}
	text.bytes[text.length] = '\0'; /* the last read left room for it */
	*result = text.bytes;
	return 0;
}

/* A file that is no list at all has a mistake in each line. */
static int add_mistake(struct rf_mistakes *mistakes, size_t line, const char *text,
		       struct rf_error *error)
{
	if (mistakes->count < RF_FILE_MISTAKES_MAX)
		return rf_mistakes_add(mistakes, line, text, error);
	mistakes->left_out++;
	return 0;
}

static int add_lines(char *rest, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	size_t number = 0;
	char *line;
	int err = 0;

	if (!strncmp(rest, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		rest += strlen(BYTE_ORDER_MARK);
	while (!err && (line = strsep(&rest, "\n"))) {
		struct rf_error reason = {};

		number++;
		err = rf_list_line_parse(line, prefixes, &reason);
		if (err == -ENOMEM)
			*error = reason;
		else if (err)
			err = add_mistake(mistakes, number, reason.text, error);
	}
	return err;
}

/* What is downloaded is not always a list. One error for all of it, not one for each line. */
static int check_form(const char *path, const char *text, struct rf_error *error)
{
	const char *name = rf_file_name(path);

	text += strspn(text, " \t\r\n");
	if (*text == '<')
		return rf_error_failed(
			error, -EINVAL,
			"%s: HTML or XML, not a list; check the URL that it was downloaded from",
			name);
	if (*text == '[' || (*text == '{' && text[strcspn(text, "}\n")] != '}'))
		return rf_error_failed(
			error, -EINVAL,
			"%s: JSON other than one object per line; extract the prefixes with "
			"'jq', one per line",
			name);
	return 0;
}

int rf_file_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	if (rf_nft_set_is(text)) {
		err = rf_nft_set_prefixes(path, text, prefixes, error);
	} else {
		err = check_form(path, text, error);
		if (!err)
			err = add_lines(text, prefixes, mistakes, error);
	}
	free(text);
	return err;
}
