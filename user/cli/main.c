// SPDX-License-Identifier: GPL-2.0
/* Parses the options that every command has, and runs the command that the words name. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "kernel/log.h"
#include "rules/advice.h"

#define WORD_LENGTH_MAX 255

/* Is it `rate 5/s`? An interface called `rate` would have a name of a limit behind it. */
static bool is_rate_next(const struct rf_words *words)
{
	struct rf_words rest = *words;
	const char *value;

	if (!rf_words_take(&rest, rf_limit_options[RF_OPT_RATE].word))
		return false;
	value = rf_words_peek(&rest);
	return value && strchr(value, '/');
}

/*
 * Is `dev` an operand here, not the option? Commands with an interface as operand parse `dev`
 * themselves, and a file can have the name `dev`.
 */
static bool is_operand(const char *const *kept, int count, const struct rf_words *rest)
{
	struct rf_words words = {.word = kept, .count = count};
	const int command = rf_command_find(&words);
	const struct rf_option *from = &rf_limit_options[RF_OPT_FROM];
	const struct rf_syntax *syntax;

	if (command < 0)
		return false;
	syntax = &rf_syntax[command];
	if (rf_is_interface(&syntax->operand))
		return !(syntax->operand.flags & RF_OPTION_MAY);
	if (syntax->operand.kind == RF_KIND_FILE)
		return !rf_words_peek(&words);
	if (syntax->options != rf_limit_options)
		return false;
	return rf_option_find(from->words, kept[count - 1]) >= 0 ||
	       (!rf_words_peek(&words) && is_rate_next(rest));
}

static int take_dev(struct rf_words *words, struct rf_options *options, struct rf_error *error)
{
	if (options->dev)
		return rf_error_usage(error, "'dev': specified twice");
	options->dev = rf_words_next(words);
	if (!options->dev)
		return rf_error_usage(error, "'dev': expects an interface or a fence");
	return 0;
}

static bool is_either(const char *word, const char *longer, const char *shorter)
{
	return strcmp(word, longer) == 0 || strcmp(word, shorter) == 0;
}

/* What to do instead of running the command. */
struct instead {
	bool help, version;
};

static int fail_option(const char *word, struct rf_error *error)
{
	struct rf_near near = rf_near_begin(word);

	rf_near_consider_table(&near, rf_common_options);
	rf_near_consider(&near, "--help", strlen("--help"));
	rf_near_consider(&near, "--version", strlen("--version"));
	if (*near.word)
		return rf_error_usage(error, "'%s': unknown option; did you mean '%s'?", word,
				      near.word);
	return rf_error_usage(error, "'%s': unknown option; run 'ringfence help'", word);
}

/* Moves the common options, from `dev IF` to --version, from the words into the other arguments. */
static int take_options(struct rf_words *words, const char **kept, struct rf_options *options,
			struct instead *instead, struct rf_error *error)
{
	int count = 0, err = 0;

	for (const char *word; !err && (word = rf_words_next(words));) {
		if (strlen(word) > WORD_LENGTH_MAX)
			return rf_error_usage(error, "'%.32s…': no word is longer than %d bytes",
					      word, WORD_LENGTH_MAX);
		if (is_either(word, "--json", "-j"))
			options->json = true;
		else if (strcmp(word, "--verbose") == 0)
			rf_log_set_verbose(true);
		else if (strcmp(word, "dev") == 0 && !is_operand(kept, count, words))
			err = take_dev(words, options, error);
		else if (is_either(word, "--help", "-h"))
			instead->help = true;
		else if (is_either(word, "--version", "-V"))
			instead->version = true;
		else if (strncmp(word, "--", 2) == 0)
			return fail_option(word, error);
		else
			kept[count++] = word;
	}
	*words = (struct rf_words){.word = kept, .count = count};
	return err;
}

/* Only the words of the command, or all words if there is no command. */
static struct rf_words *words_of_command(struct rf_words *words)
{
	struct rf_words rest = *words;

	if (rf_command_find(&rest) >= 0)
		words->count = rest.at;
	return words;
}

static int run(struct rf_words *words, const char **kept, struct rf_options *options,
	       struct rf_error *error)
{
	struct instead instead = {};
	int command, err;

	if (rf_completion_is_asked(words)) {
		rf_completion_words(words);
		return 0;
	}
	err = take_options(words, kept, options, &instead, error);
	if (err)
		return err;
	if (instead.help)
		return rf_cmd_help(options, words_of_command(words), error);
	if (instead.version) {
		words->at = words->count;
		return rf_cmd_version(options, words, error);
	}
	if (!rf_words_peek(words))
		return rf_error_usage(error, "a command is missing; run 'ringfence help'");
	command = rf_command_find(words);
	if (command < 0)
		return rf_fail_unknown(words, error);
	if (options->json && rf_commands[command].no_json)
		return rf_error_usage(error, "'--json': %s", rf_commands[command].no_json);
	return rf_commands[command].run(options, words, error);
}

/*
 * Opens /dev/null in the place of each standard file that is closed. Otherwise the next file that
 * is opened, such as the lock, would get that number, and output would go into it.
 */
static bool fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && !close(fd);
}

static int fail(const struct rf_options *options, const struct rf_error *error)
{
	if (options->json)
		rf_out_error_json(error);
	rf_out_log(rf_log_text());
	rf_out_error(error);
	return error->usage ? 2 : 1;
}

int main(int argc, char **argv)
{
	struct rf_words words = {.word = (const char *const *)argv, .count = argc, .at = 1};
	const char **kept = calloc(argc + 1, sizeof(*kept));
	struct rf_options options = {};
	struct rf_error error = {};
	int result, err;

	if (!kept || !fill_standard_files())
		return EXIT_FAILURE;
	rf_log_set_verbose(false);
	rf_fence_set_note(rf_out_note);
	result = run(&words, kept, &options, &error);
	free(kept);
	if (result < 0)
		return fail(&options, &error);
	err = rf_out_flush();
	if (err && err != -EINTR) { /* the user interrupted the output */
		rf_error_failed(&error, err, "standard output: %s", strerror(-err));
		rf_out_error(&error);
		return 1;
	}
	return result;
}
