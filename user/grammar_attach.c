// SPDX-License-Identifier: GPL-2.0
/* What follows `attach` and `newcomers`, and the times that follow other commands. */
#include <string.h>

#include "grammar_internal.h"

#define SECOND_NS 1000000000ULL
#define DAY_NS (24 * 3600 * SECOND_NS)

static int parse_confirm(const char *value, uint64_t *time_ns, struct rf_error *error)
{
	return rf_parse_time_in(value, "time to confirm", SECOND_NS, DAY_NS, "1s-24h", time_ns,
				error);
}

int rf_parse_confirm(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	const char *value;

	if (!rf_words_take(words, "confirm")) {
		*time_ns = 0;
		return 0;
	}
	value = rf_words_next(words);
	if (!value)
		return rf_error_usage(error, "'confirm': a time is missing behind it, like 5m");
	return parse_confirm(value, time_ns, error);
}

int rf_parse_for(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	const char *value;

	if (!rf_words_take(words, "for")) {
		*time_ns = 0;
		return 0;
	}
	value = rf_words_next(words);
	if (!value)
		return rf_error_usage(error, "'for': a time is missing behind it, like 10m");
	return rf_parse_time_in(value, "time on a list", SECOND_NS, RF_WINDOW_MAX_NS, "1s-8784h",
				time_ns, error);
}

/* ---- newcomers ---- */

static int parse_newcomers_rate(const char *text, struct rf_newcomers_text *newcomers,
				struct rf_error *error)
{
	struct rf_rate rate;
	int err = rf_parse_rate(text, &rate, error);

	if (err)
		return err;
	if (rate.in_bits)
		return rf_error_usage(error,
				      "'%s': invalid rate: newcomers are counted in packets; write "
				      "it like 10k/1s",
				      text);
	if (rate.count < 1 || rate.count > RF_LIMIT_MAX)
		return rf_error_usage(error, "'%s': invalid rate: the count must be 1-%u", text,
				      RF_LIMIT_MAX);
	newcomers->rate = rate.count;
	newcomers->window_ns = rate.window_ns;
	return 0;
}

static int parse_newcomers_then(struct rf_words *words, struct rf_newcomers_text *newcomers,
				struct rf_error *error)
{
	const char *word;
	size_t then;

	if (!rf_words_take(words, "then"))
		return rf_error_usage(error, "what becomes of the other newcomers is missing; add "
					     "'then open', 'then closed' or 'then aggregate'");
	word = rf_words_next(words);
	if (!word)
		return rf_error_usage(error, "'then': a word is missing behind it; it is open, "
					     "closed or aggregate");
	then = rf_find_name(word, rf_newcomers_names, ARRAY_SIZE(rf_newcomers_names));
	if (then == RF_NEWCOMERS_OFF || then == ARRAY_SIZE(rf_newcomers_names))
		return rf_error_usage(
			error, "'%s': unknown word behind 'then'; it is open, closed or aggregate",
			word);
	newcomers->then = then;
	return 0;
}

int rf_parse_newcomers(struct rf_words *words, struct rf_newcomers_text *newcomers,
		       struct rf_error *error)
{
	struct rf_newcomers_text parsed = {};
	const char *rate;
	int err = 0;

	if (!rf_words_take(words, "off")) {
		if (!rf_words_take(words, "rate"))
			return rf_error_usage(error,
					      "the rate of newcomers is missing; write newcomers "
					      "rate COUNT/TIME then open|closed|aggregate, or "
					      "newcomers off");
		rate = rf_words_next(words);
		if (!rate)
			return rf_error_usage(error,
					      "'rate': a rate is missing behind it, like 10k/1s");
		err = parse_newcomers_rate(rate, &parsed, error);
		if (!err)
			err = parse_newcomers_then(words, &parsed, error);
	}
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		*newcomers = parsed;
	return err;
}

/* ---- attach ---- */

static int parse_mode(const char *word, enum rf_mode *mode, struct rf_error *error)
{
	if (strcmp(word, "native") == 0)
		*mode = RF_NATIVE;
	else if (strcmp(word, "generic") == 0)
		*mode = RF_GENERIC;
	else
		return rf_error_usage(error, "'%s': unknown mode; it is native or generic", word);
	return 0;
}

/* A word that stands alone: where it is kept, or NULL when it is another one. */
static bool *find_attach_flag(const char *word, struct rf_attach *attach)
{
	if (strcmp(word, "chain") == 0)
		return &attach->chain;
	return strcmp(word, "replace") == 0 ? &attach->replace : NULL;
}

static int parse_attach_option(const char *option, const char *value, struct rf_attach *attach,
			       struct rf_error *error)
{
	char name[RF_NAME_SIZE];

	if (strcmp(option, "mode") == 0) {
		attach->mode_said = true;
		return parse_mode(value, &attach->mode, error);
	}
	if (strcmp(option, "sources") == 0)
		return rf_parse_number(value, "number of sources", 1, 1U << 26, &attach->sources,
				       error);
	if (strcmp(option, "leases") == 0)
		return rf_parse_number(value, "number of leases", 0, 1U << 24, &attach->leases,
				       error);
	if (strcmp(option, "confirm") == 0)
		return parse_confirm(value, &attach->confirm_ns, error);
	attach->fence = value;
	return rf_parse_name(value, "name of a fence", name, error);
}

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

/* Behind `dev` a word is an interface, whatever it says; one may be called `dev`, too. */
const char *rf_words_interface(struct rf_words *words)
{
	const char *word = rf_words_next(words);

	if (word && strcmp(word, "dev") == 0 && rf_words_peek(words))
		return rf_words_next(words);
	return word;
}

/* `word`: the option that stands where an interface should, and may be meant for one; or NULL. */
static int refuse_no_interface(const char *word, struct rf_error *error)
{
	if (!word)
		return rf_error_usage(error, "the interface is missing; write attach IF");
	return rf_error_usage(error,
			      "the interface is missing; write attach IF, or 'attach dev %s' if it "
			      "is called so",
			      word);
}

static int parse_attach_word(struct rf_words *words, struct rf_attach *attach, unsigned int *seen,
			     struct rf_error *error)
{
	static const char *const options[] = {"fence", "mode", "sources", "leases", "confirm"};
	const bool is_named = strcmp(rf_words_peek(words), "dev") == 0;
	const char *word = rf_words_interface(words), *value;
	bool *flag = find_attach_flag(word, attach);

	if (is_named)
		return add_interface(word, attach, error);
	if (flag && *flag)
		return rf_error_usage(error, "'%s': said twice", word);
	if (flag) {
		*flag = true;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(word, options[i]) != 0)
			continue;
		if (*seen & 1U << i)
			return rf_error_usage(error, "'%s': said twice", word);
		*seen |= 1U << i;
		value = rf_words_next(words);
		if (!value && !attach->interfaces)
			return refuse_no_interface(word, error);
		if (!value)
			return rf_error_usage(error, "'%s': a word is missing behind it", word);
		return parse_attach_option(word, value, attach, error);
	}
	return add_interface(word, attach, error);
}

int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error)
{
	struct rf_attach parsed = {.mode = RF_NATIVE, .leases = RF_LEASES_UNSAID};
	const char *first = rf_words_peek(words);
	unsigned int seen = 0;
	int err = 0;

	while (!err && rf_words_peek(words))
		err = parse_attach_word(words, &parsed, &seen, error);
	if (!err && !parsed.interfaces)
		err = refuse_no_interface(first, error);
	if (!err && parsed.chain && parsed.replace)
		err = rf_error_usage(error, "'chain' and 'replace': only one of them; 'chain' runs "
					    "beside other programs, 'replace' takes them off");
	if (!err)
		*attach = parsed;
	return err;
}
