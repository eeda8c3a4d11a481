// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/say.h"
#include "base/printable.h"

/* Hides control characters: what the engine says is anybody's text. */
static void print_line(FILE *stream, const char *before, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return;
	rf_hide_controls(text, false);
	fprintf(stream, "%s%s\n", before, text);
	fflush(stream);
	free(text);
}

void rf_agent_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(stdout, "", format, args);
	va_end(args);
}

void rf_agent_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(stderr, "ringfence-fleet: ", format, args);
	va_end(args);
}

void rf_agent_print(const char *text)
{
	puts(text);
	fflush(stdout);
}
