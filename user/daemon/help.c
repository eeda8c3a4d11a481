// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "daemon/help.h"
#include "daemon/settings.h"

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

void rf_say_help(void)
{
	char *settings = rf_setting_help(&rf_watch_settings);

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
	printf("%s", settings ?: "");
	free(settings);
	fflush(stdout);
}
