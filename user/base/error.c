// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/printable.h"

/* The message stays one line, even with any words of the user in it. */

int rf_error_failed(struct rf_error *error, int negative_errno, const char *format, ...)
{
	va_list args;

	error->usage = false;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	rf_hide_controls(error->text, false);
	return negative_errno;
}

int rf_error_usage(struct rf_error *error, const char *format, ...)
{
	va_list args;

	error->usage = true;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	rf_hide_controls(error->text, false);
	return -EINVAL;
}
