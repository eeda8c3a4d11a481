// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the options that every command has, and runs the command that the words ask for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "kernel/log.h"

#define WORD_LENGTH_MAX 255

/*
 * May `dev` be something else than the option here? `attach` and its like name their interfaces
 * themselves, one of which may be called so, and so may a file.
 */
static bool is_operand(const char *const *kept, int count)
{
	const char *first = count ? kept[0] : "", *last = count ? kept[count - 1] : "";

	if (strcmp(first, "attach") == 0 || strcmp(first, "detach") == 0 ||
	    strcmp(first, "adopt") == 0)
		return true;
	if (count == 1)
		return strcmp(first, "apply") == 0 || strcmp(first, "check") == 0;
	if (count == 2 && (strcmp(first, "allow") == 0 || strcmp(first, "deny") == 0))
		return strcmp(last, "load") == 0;
	return strcmp(first, "limit") == 0 && strcmp(last, "file") == 0;
}

static int take_dev(struct rf_words *words, struct rf_options *options, struct rf_error *error)
{
	if (options->dev)
		return rf_error_usage(error, "'dev': said twice");
	options->dev = rf_words_next(words);
	if (!options->dev)
		return rf_error_usage(error, "'dev': expects an interface");
	return 0;
}

/* Takes what every command has out of the words: `dev IF`, --json and --verbose. */
static int take_options(struct rf_words *words, const char **kept, struct rf_options *options,
			struct rf_error *error)
{
	int count = 0, err = 0;

	for (const char *word; !err && (word = rf_words_next(words));) {
		if (strlen(word) > WORD_LENGTH_MAX)
			return rf_error_usage(error, "'%.32s…': no word is longer than %d bytes",
					      word, WORD_LENGTH_MAX);
		if (strcmp(word, "--json") == 0)
			options->json = true;
		else if (strcmp(word, "--verbose") == 0)
			rf_log_set_verbose(true);
		else if (strcmp(word, "dev") == 0 && !is_operand(kept, count))
			err = take_dev(words, options, error);
		else if (strncmp(word, "--", 2) == 0 && strcmp(word, "--help") != 0 &&
			 strcmp(word, "--version") != 0)
			return rf_error_usage(error, "'%s': unknown option; run 'ringfence help'",
					      word);
		else
			kept[count++] = word;
	}
	*words = (struct rf_words){.word = kept, .count = count};
	return err;
}

static int print_version(struct rf_words *words, struct rf_error *error)
{
	int err = rf_words_end(words, error);

	if (!err)
		rf_out("ringfence %s (map ABI %d)\n", RINGFENCE_VERSION, RF_ABI_VERSION);
	return err;
}

static int run(struct rf_words *words, const char **kept, struct rf_error *error)
{
	struct rf_options options = {};
	int command, err;

	if (rf_completion_is_asked(words)) {
		rf_completion_words(words);
		return 0;
	}
	err = take_options(words, kept, &options, error);
	if (err)
		return err;
	if (rf_words_take(words, "--version"))
		return print_version(words, error);
	if (!rf_words_peek(words))
		return rf_error_usage(error, "a command is missing; run 'ringfence help'");
	command = rf_words_take(words, "--help") ? RF_CMD_HELP : rf_command_find(words);
	if (command < 0)
		return rf_fail_unknown(words, error);
	if (command == RF_CMD_HELP)
		return rf_help(words, error);
	return rf_commands[command].run(&options, words, error);
}

/*
 * What is closed would be the number of the next file that is opened, which output would then go
 * into: the lock, say. These take its place, and refuse to be written to.
 */
static bool fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && !close(fd);
}

int main(int argc, char **argv)
{
	struct rf_words words = {.word = (const char *const *)argv, .count = argc, .at = 1};
	const char **kept = calloc(argc + 1, sizeof(*kept));
	struct rf_error error = {};
	int err;

	if (!kept || !fill_standard_files())
		return EXIT_FAILURE;
	rf_log_set_verbose(false);
	rf_fence_set_note(rf_out_note);
	err = run(&words, kept, &error);
	free(kept);
	if (err) {
		rf_out_log(rf_log_text());
		rf_out_error(&error);
		return error.usage ? 2 : 1;
	}
	err = rf_out_flush();
	if (err && err != -EINTR) { /* which is a user who did not wait for the rest */
		rf_error_failed(&error, err, "standard output: %s", strerror(-err));
		rf_out_error(&error);
		return 1;
	}
	return 0;
}
