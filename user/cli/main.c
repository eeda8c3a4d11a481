// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the command of the command table that the words ask for, and prints usage and help.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "kernel/log.h"

#define WORD_LENGTH_MAX 255

/* Columns that a text takes, in UTF-8. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_usage(void)
{
	int widest = 0;

	for (size_t i = 0; i < rf_commands.count; i++)
		if (width_of(rf_commands.row[i].arguments) > widest)
			widest = width_of(rf_commands.row[i].arguments);
	rf_out("usage: ringfence COMMAND [dev IF] [--json] [--verbose]\n\n");
	for (size_t i = 0; i < rf_commands.count; i++)
		rf_out("  %-11s %s%*s  %s\n", rf_commands.row[i].words,
		       rf_commands.row[i].arguments,
		       widest - width_of(rf_commands.row[i].arguments), "",
		       rf_commands.row[i].summary);
	rf_out("  %-11s %-*s  %s\n\n", "help", widest, "[COMMAND]", "explain a command");
	rf_out("dev IF names the fence by an interface; it may be left out where there is only "
	       "one.\n"
	       "--json prints what a reading command says as JSON, --verbose what libbpf says.\n");
}

/* The command whose words come next, which are then taken. */
static const struct rf_command_row *find_command(struct rf_words *words)
{
	for (size_t i = 0; i < rf_commands.count; i++) {
		struct rf_words rest = *words;
		char copy[32], *word, *save = NULL;
		bool matches = true;

		snprintf(copy, sizeof(copy), "%s", rf_commands.row[i].words);
		for (word = strtok_r(copy, " ", &save); word && matches;
		     word = strtok_r(NULL, " ", &save))
			matches = rf_words_take(&rest, word);
		if (matches) {
			*words = rest;
			return &rf_commands.row[i];
		}
	}
	return NULL;
}

static int fail_unknown(struct rf_words *words, struct rf_error *error)
{
	const char *first = rf_words_next(words);
	const char *second = rf_words_next(words);

	if (strcmp(first, "limit") == 0)
		return rf_error_usage(error,
				      "'limit%s%s': unknown command; add, set, del or list follows",
				      second ? " " : "", second ? second : "");
	if (strcmp(first, "allow") == 0 || strcmp(first, "deny") == 0)
		return rf_error_usage(error,
				      "'%s%s%s': unknown command; add, del, list or load follows",
				      first, second ? " " : "", second ? second : "");
	return rf_error_usage(error, "'%s': unknown command; run 'ringfence help'", first);
}

static void print_command(const struct rf_command_row *command)
{
	rf_out("ringfence %s%s%s\n\n%s\n", command->words, *command->arguments ? " " : "",
	       command->arguments, command->help);
}

/* Of `limit`, say, its commands. Returns how many there are. */
static int print_group(const char *word)
{
	size_t length = strlen(word);
	int count = 0;

	for (size_t i = 0; i < rf_commands.count; i++) {
		if (strncmp(rf_commands.row[i].words, word, length) != 0 ||
		    rf_commands.row[i].words[length] != ' ')
			continue;
		rf_out("%s", count++ ? "\n" : "");
		print_command(&rf_commands.row[i]);
	}
	return count;
}

static int print_help(struct rf_words *words, struct rf_error *error)
{
	const struct rf_command_row *command;
	int err;

	if (!rf_words_peek(words)) {
		print_usage();
		return 0;
	}
	if (rf_words_take(words, "help")) {
		rf_out("ringfence help [COMMAND]\n\nExplains a command, or lists them all.\n"
		       "Example: ringfence help limit add\n");
		return rf_words_end(words, error);
	}
	command = find_command(words);
	if (!command && words->count - words->at == 1 && print_group(rf_words_peek(words)))
		return 0;
	if (!command)
		return fail_unknown(words, error);
	err = rf_words_end(words, error);
	if (!err)
		print_command(command);
	return err;
}

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
		return rf_error_usage(error, "'dev': an interface is missing behind it");
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

static int run(struct rf_words *words, const char **kept, struct rf_error *error)
{
	struct rf_options options = {.table = &rf_commands};
	const struct rf_command_row *command;
	int err;

	if (rf_completion_is_asked(words)) {
		rf_completion_words(words);
		return 0;
	}
	err = take_options(words, kept, &options, error);
	if (err)
		return err;
	if (rf_words_take(words, "help") || rf_words_take(words, "--help"))
		return print_help(words, error);
	if (rf_words_take(words, "--version")) {
		err = rf_words_end(words, error);
		if (err)
			return err;
		rf_out("ringfence %s (map ABI %d)\n", RINGFENCE_VERSION, RF_ABI_VERSION);
		return 0;
	}
	if (!rf_words_peek(words))
		return rf_error_usage(error, "a command is missing; run 'ringfence help'");
	command = find_command(words);
	if (!command)
		return fail_unknown(words, error);
	return command->run(&options, words, error);
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
