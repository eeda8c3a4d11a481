// SPDX-License-Identifier: GPL-2.0
/* Parses the words after `attach`. */
#include <string.h>

#include "rules/private.h"

static int parse_fence(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;
	char name[RF_NAME_SIZE];

	attach->fence = value;
	return rf_parse_name(value, "name of a fence", name, error);
}

static int parse_mode(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;
	unsigned int mode = attach->mode;
	int err = rf_parse_word(&rf_attach_options[RF_OPT_MODE], value, &mode, error);

	attach->mode = mode;
	attach->mode_given = true;
	return err;
}

static int parse_sources(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	return rf_parse_number(value, "number of sources", 1, 1U << 26, &attach->sources, error);
}

static int parse_leases(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	return rf_parse_number(value, "number of leases", 0, 1U << 24, &attach->leases, error);
}

static int parse_confirm(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	return rf_parse_trial(value, &attach->confirm_ns, error);
}

static int parse_fleet(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	(void)value, (void)error;
	attach->fleet = true;
	return 0;
}

static int parse_chain(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	(void)value, (void)error;
	attach->chain = true;
	return 0;
}

static int parse_replace(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	(void)value, (void)error;
	attach->replace = true;
	return 0;
}

/* sparse: `dev` has no parser, the word after it is read as an interface. */
static const rf_option_parser parsers[RF_ATTACH_OPTIONS] = {
	[RF_OPT_FENCE] = parse_fence,	  [RF_OPT_MODE] = parse_mode,
	[RF_OPT_SOURCES] = parse_sources, [RF_OPT_LEASES] = parse_leases,
	[RF_OPT_CONFIRM] = parse_confirm, [RF_OPT_CHAIN] = parse_chain,
	[RF_OPT_REPLACE] = parse_replace, [RF_OPT_FLEET] = parse_fleet,
};

static int add_interface(const char *word, struct rf_attach *attach, struct rf_error *error)
{
	if (!*word)
		return rf_error_usage(error, "'': no interface has an empty name");
	if (attach->interfaces == RF_INTERFACES_MAX)
		return rf_error_usage(error, "'%s': too many interfaces; %d at most", word,
				      RF_INTERFACES_MAX);
	attach->interface[attach->interfaces++] = word;
	return 0;
}

/* `word`: an option in the place of the interface, perhaps meant as its name; or NULL. */
static int refuse_no_interface(const char *word, struct rf_error *error)
{
	if (!word)
		return rf_error_usage(error, "the interface is missing; write attach IF");
	return rf_error_usage(error,
			      "the interface is missing; write attach IF, or 'attach dev %s' if it "
			      "is called so",
			      word);
}

static int parse_word(struct rf_words *words, struct rf_attach *attach, unsigned int *given,
		      struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	const int row = rf_option_find(rf_attach_options, word);
	const bool is_last = words->at + 1 == words->count;

	if (row < 0 || row == RF_OPT_DEV)
		return add_interface(rf_words_interface(words), attach, error);
	if (is_last && !attach->interfaces && rf_attach_options[row].kind != RF_KIND_NONE)
		return refuse_no_interface(word, error);
	return rf_parse_option(rf_attach_options, row, parsers[row], words, attach, given, error);
}

int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error)
{
	struct rf_attach parsed = {.mode = RF_NATIVE, .leases = RF_LEASES_NOT_GIVEN};
	const char *first = rf_words_peek(words);
	unsigned int given = 0;
	int err = 0;

	while (!err && rf_words_peek(words))
		err = parse_word(words, &parsed, &given, error);
	if (!err && !parsed.interfaces)
		err = refuse_no_interface(first, error);
	if (!err && parsed.chain && parsed.replace)
		err = rf_error_usage(error,
				     "'chain' and 'replace' exclude each other: 'chain' runs "
				     "beside other programs, 'replace' removes them");
	if (!err && parsed.chain && parsed.fleet)
		err = rf_error_usage(error, "'chain' and 'fleet' exclude each other: a fence that "
					    "shares limits is not beside other programs");
	if (!err)
		*attach = parsed;
	return err;
}
