// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

/* One line it shall be, whatever the words in it that a user gave. */
static void hide_control_characters(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int rf_error_failed(struct rf_error *error, int negative_errno, const char *format, ...)
{
	va_list args;

	error->usage = false;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	hide_control_characters(error->text);
	return negative_errno;
}

int rf_error_usage(struct rf_error *error, const char *format, ...)
{
	va_list args;

	error->usage = true;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	hide_control_characters(error->text);
	return -EINVAL;
}
