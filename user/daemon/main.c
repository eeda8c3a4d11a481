// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "daemon/page.h"
#include "daemon/run.h"
#include "daemon/settings.h"
#include "kernel/log.h"

static void print_help(void)
{
	char *settings = rf_setting_help(&rf_watch_settings);

	printf("Usage: ringfence-watch [config FILE] [SETTING…]\n"
	       "       ringfence-watch check [FILE]\n"
	       "       ringfence-watch help | version\n\n"
	       "Watches all fences of this network namespace, and serves what it sees.\n"
	       "It needs no capability, only to be in the group 'ringfence'.\n\n"
	       "  check [FILE]                  check a file of settings\n"
	       "  config FILE                   the settings, instead of\n"
	       "                                " RF_SETTINGS_FILE "\n\n"
	       "Settings, one a line in the file; on the command line they come before those\n"
	       "of the file:\n");
	printf("%s", settings ?: "");
	free(settings);
	fflush(stdout);
}

static int check(struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_words_next(words);
	const char *name = path ? path : RF_SETTINGS_FILE;
	struct rf_settings settings;
	int err = rf_words_end(words, error);

	if (err)
		return err;
	if (!path && access(RF_SETTINGS_FILE, F_OK)) {
		rf_say("%s: there is no such file; the settings are as 'help' shows them", name);
		return 0;
	}
	rf_settings_default(&settings);
	err = rf_settings_load(&settings, name, error);
	if (!err)
		rf_say("%s: no errors", name);
	return err;
}

static bool is_asked(struct rf_words *words, const char *word, const char *longer,
		     const char *shorter)
{
	return rf_words_take(words, word) || rf_words_take(words, longer) ||
	       rf_words_take(words, shorter);
}

static int run(struct rf_words *words, struct rf_error *error)
{
	int err;

	if (rf_words_take(words, RF_PAGE_WORD))
		return rf_page_run();
	if (is_asked(words, "help", "--help", "-h")) {
		err = rf_words_end(words, error);
		if (!err)
			print_help();
		return err;
	}
	if (is_asked(words, "version", "--version", "-V")) {
		err = rf_words_end(words, error);
		if (!err)
			rf_say("ringfence-watch %s", RINGFENCE_VERSION);
		return err;
	}
	if (rf_words_take(words, "check"))
		return check(words, error);
	return rf_daemon_run(words, error);
}

int main(int argc, char **argv)
{
	struct rf_words words = {.word = (const char *const *)argv, .count = argc, .at = 1};
	struct rf_error error = {};
	int err;

	rf_say_as("ringfence-watch");
	rf_log_set_verbose(false);
	err = run(&words, &error);
	if (err < 0 && *error.text)
		rf_warn("%s", error.text);
	if (err < 0)
		return error.usage ? 2 : EXIT_FAILURE;
	return err;
}
