// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/file.h"
#include "watch/page_files.h"

#define PATH RF_PAGE_DIRECTORY "/" RF_PAGE_FILE

/* Other characters could not be typed into a URL. */
static bool is_token(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return length >= RF_TOKEN_LEAST && length < RF_TOKEN_SIZE;
}

int rf_token_read(const char *path, char token[RF_TOKEN_SIZE], struct rf_error *error)
{
	char *text;
	size_t length;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	length = strcspn(text, "\r\n \t");
	if (is_token(text, length)) {
		memcpy(token, text, length);
		token[length] = '\0';
	} else {
		err = rf_error_failed(
			error, -EINVAL,
			"token file %s: a token has %d to %d characters, without blanks", path,
			RF_TOKEN_LEAST, RF_TOKEN_SIZE - 1);
	}
	explicit_bzero(text, strlen(text));
	free(text);
	return err;
}

/* Takes a line, and returns what follows it. */
static const char *take_line(const char *text, char *line, size_t size)
{
	const size_t length = strcspn(text, "\n");

	snprintf(line, size, "%.*s", (int)length, text);
	return text + length + (text[length] != '\0');
}

int rf_page_find(struct rf_page_address *page, struct rf_error *error)
{
	struct rf_error unread;
	char *text;
	int err = rf_file_read(PATH, &text, &unread);

	*page = (struct rf_page_address){};
	if (err == -ENOENT)
		return rf_error_failed(
			error, err,
			"there is no page: ringfence-watch does not run, or serves "
			"nothing; 'systemctl enable --now ringfence-watch' starts it");
	if (err == -EACCES)
		return rf_error_failed(error, err,
				       "cannot read " PATH ": only root and members of the group "
				       "'ringfence' may");
	if (err)
		return rf_error_failed(error, err, "%s", unread.text);
	take_line(take_line(text, page->address, sizeof(page->address)), page->token_path,
		  sizeof(page->token_path));
	free(text);
	if (!*page->address || !*page->token_path)
		return rf_error_failed(error, -EINVAL,
				       PATH ": unexpected content; "
					    "'systemctl restart ringfence-watch' rewrites it");
	return rf_token_read(page->token_path, page->token, error);
}
