// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "daemon/help.h"
#include "daemon/settings.h"

#define WIDTH 80
#define INDENT 30

void rf_warn_mistakes(const char *file, const struct rf_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++) {
		const struct rf_mistake *mistake = &mistakes->mistake[i];

		if (mistake->line)
			rf_warn("%s:%zu: %s", file, mistake->line, mistake->text);
		else
			rf_warn("%s: %s", file, mistake->text);
	}
}

/* Prints words from column `at` on, in lines of WIDTH; the next lines begin at column INDENT. */
static void print_wrapped(const char *text, int at)
{
	while (*text) {
		const int length = strcspn(text, " ");

		if (at + 1 + length > WIDTH)
			at = printf("\n%*s", INDENT - 1, "") - 1;
		at += printf(" %.*s", length, text);
		text += length;
		text += *text == ' ';
	}
	printf("\n");
}

static void print_setting(const struct rf_setting_row *row)
{
	const int at = printf("  %s %s", row->word, row->value);
	/* A character beyond ASCII is three bytes, and one column. */
	const int width = strstr(row->value, "…") ? at - 2 : at;

	print_wrapped(row->summary, width + printf("%*s", INDENT - 1 - width, ""));
}

void rf_say_help(void)
{
	printf("Usage: ringfence-watch [config FILE] [SETTING…]\n"
	       "       ringfence-watch check [FILE]\n"
	       "       ringfence-watch help | version\n\n"
	       "Watches all fences of this network namespace, and serves what it sees.\n"
	       "It needs no capability, only to be in the group 'ringfence'.\n\n"
	       "  check [FILE]                  look for mistakes in a file of settings\n"
	       "  config FILE                   the settings, instead of\n"
	       "                                " RF_SETTINGS_FILE "\n\n"
	       "Settings, one a line in the file; on the command line they come before those\n"
	       "of the file:\n");
	for (int i = 0; i < RF_SETTINGS; i++)
		print_setting(&rf_setting_rows[i]);
	fflush(stdout);
}
