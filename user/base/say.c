// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"

static const char *who = "ringfence";

void rf_say_as(const char *program)
{
	who = program;
}

/* Hides control characters: names of interfaces and messages of a server are untrusted text. */
static void print_line(FILE *stream, const char *before, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	rf_hide_controls(text, false);
	fprintf(stream, "%s%s%s\n", before, *before ? ": " : "", text);
	fflush(stream);
	free(text);
}

void rf_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(stdout, "", format, args);
	va_end(args);
}

void rf_say_text(const char *text)
{
	puts(text);
	fflush(stdout);
}

void rf_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(stderr, who, format, args);
	va_end(args);
}

void rf_say_once(struct rf_said *said, const char *before, const char *error, const char *recovered)
{
	struct rf_said now;

	snprintf(now.text, sizeof(now.text), "%s", error);
	if (strcmp(said->text, now.text) == 0)
		return;
	if (*error)
		rf_warn("%s%s", before, error);
	else if (recovered)
		rf_say("%s", recovered);
	*said = now;
}
