// SPDX-License-Identifier: GPL-2.0
/* Parses the words after `limit add` and `limit set`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rules/attribute.h"
#include "rules/draft.h"

#define BAN_MIN_NS 1000000000ULL

static int fail_units(const char *value, struct rf_error *error)
{
	return rf_error_usage(error, "'%s': 'packets' and 'bytes' exclude each other", value);
}

static int parse_packets(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	draft->made.limit.unit = RF_PACKETS;
	return rf_has_given(draft, RF_OPT_BYTES) ? fail_units(value, error) : 0;
}

static int parse_bytes(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	draft->made.limit.unit = RF_BYTES;
	return rf_has_given(draft, RF_OPT_PACKETS) ? fail_units(value, error) : 0;
}

static int parse_burst(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	uint64_t burst = 0;

	if (rf_parse_count(value, &burst, &draft->burst_in_bits, error))
		return rf_error_usage(error, "'%s': invalid burst; " RF_COUNT_FORM, value);
	draft->made.limit.burst = burst;
	draft->burst = value;
	return 0;
}

/* The N of `match proto N`. */
static int parse_protocol(struct rf_draft *draft, struct rf_error *error)
{
	const char *word = rf_words_next(draft->words);
	uint32_t protocol = 0;
	int err;

	if (!word)
		return rf_fail_value(&rf_match_words[RF_MATCH_PROTOCOL], NULL, error);
	if (strcmp(word, "255") == 0)
		return rf_error_usage(error,
				      "'255': invalid protocol: it is reserved; it must be 0-254");
	err = rf_parse_number(word, "protocol", 0, 254, &protocol, error);
	draft->made.limit.protocol = protocol;
	return err;
}

static int parse_match(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	unsigned int match = RF_MATCH_ANY;
	int err = rf_parse_word(&rf_limit_options[RF_OPT_MATCH], value, &match, error);

	if (match == RF_MATCH_TCP && rf_words_take(draft->words, "syn"))
		match = RF_MATCH_SYN;
	draft->made.limit.match = match;
	if (!err && match == RF_MATCH_PROTOCOL)
		err = parse_protocol(draft, error);
	return err;
}

static int parse_dport(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	draft->made.limit.has_ports = 1;
	return rf_parse_ports(value, &draft->made.ports, error);
}

static int parse_sport(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	draft->made.limit.has_sports = 1;
	return rf_parse_ports(value, &draft->made.sports, error);
}

static int parse_to(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	draft->made.limit.has_to = 1;
	return rf_parse_prefixes(value, &draft->made.to, error);
}

static int parse_lengths(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	return rf_parse_lengths(value, &draft->made.limit, error);
}

static int parse_flags(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	return rf_parse_tcp_flags(value, &draft->made.limit, error);
}

static int parse_from(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	const struct rf_option *from = &rf_limit_options[RF_OPT_FROM];
	const int row = rf_option_find(from->words, value);

	draft->made.limit.has_from = 1;
	if (row < 0)
		return rf_parse_prefixes(value, &draft->made.from, error);
	draft->made.from_file = rf_words_next(draft->words);
	return draft->made.from_file ? 0 : rf_fail_value(&from->words[row], NULL, error);
}

static int parse_ban(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	uint64_t ban_ns = 0;
	int err = rf_parse_time_in(value, "ban", BAN_MIN_NS, RF_WINDOW_MAX_NS, "1s-8784h", &ban_ns,
				   error);

	draft->made.limit.ban_ns = ban_ns;
	if (!err && rf_words_take(draft->words, rf_limit_options[RF_OPT_BAN].then[0].word))
		draft->made.limit.flags |= RF_BAN_ALL;
	return err;
}

static int parse_first(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	uint64_t first = 0;

	if (rf_parse_count(value, &first, &draft->first_in_bits, error))
		return rf_error_usage(error, "'%s': invalid 'first'; " RF_COUNT_FORM, value);
	draft->made.limit.first = first;
	draft->made.limit.flags |= RF_FIRST_GIVEN;
	draft->first = value;
	return 0;
}

static int parse_alone(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	if (rf_option_find(rf_limit_options[RF_OPT_ALONE].words, value) >= 0) {
		draft->made.limit.flags |= RF_ALONE_FIRST;
		return 0;
	}
	draft->alone = value;
	return rf_parse_rate(value, &draft->alone_rate, error);
}

static int parse_trial(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;

	return rf_parse_trial(value, &draft->made.trial_ns, error);
}

static int parse_no(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	unsigned int row;
	int err;

	if (!draft->is_change)
		return rf_error_usage(error, "'no': only 'limit change' takes it");
	err = rf_parse_word(&rf_limit_options[RF_OPT_NO], value, &row, error);
	if (!err)
		draft->dropped |= 1U << rf_option_find(rf_limit_options, value);
	return err;
}

static int parse_limit_rate(const char *value, void *into, struct rf_error *error)
{
	struct rf_draft *draft = into;
	struct rf_rate rate;
	int err = rf_parse_rate(strcmp(value, "0") ? value : "0/1s", &rate, error);

	if (err)
		return err;
	if (!rate.count) /* in any time and unit it is the same */
		rate = (struct rf_rate){.window_ns = RF_NS_PER_S};
	draft->rate = value;
	draft->made.limit.rate = rate.count;
	draft->made.limit.window_ns = rate.window_ns;
	draft->rate_in_bits = rate.in_bits;
	return 0;
}

/* ---- the rows ---- */

#define PARSED(by) by
#define STORED(member) NULL
#define PART(id, word, option, store, ...) [RF_OPT_##id] = store,
#define HEAD(id, word, option, store, ...) [RF_OPT_##id] = store,
#define WORD(id, word, option, store) [RF_OPT_##id] = store,

/* NULL: the value goes where its option says. The rate precedes the others, except in a change. */
static const rf_option_parser parsers[RF_LIMIT_OPTIONS] = {
#include "rules/limit.def"
};

/* ---- the limit as a whole ---- */

/*
 * A name may be a keyword: its place says what it is. But a keyword without `rate` behind it is
 * one: the name was forgotten. `dev`, `confirm` and `force` may follow names in other commands.
 */
static int check_keyword(const char *name, const struct rf_words *words, struct rf_error *error)
{
	const char *next = rf_words_peek(words);
	const bool is_rate = next && strcmp(next, rf_limit_options[RF_OPT_RATE].word) == 0;

	if (!rf_word_is_reserved(name) ||
	    (is_rate && strcmp(name, "dev") != 0 && strcmp(name, "confirm") != 0 &&
	     strcmp(name, "force") != 0))
		return 0;
	if (!is_rate && rf_option_find(rf_limit_options, name) >= 0)
		return rf_error_usage(error,
				      "'%s': the limit's name is missing before it; write NAME "
				      "rate COUNT/TIME",
				      name);
	return rf_error_usage(error, "'%s': invalid name of a limit: it is a keyword; %s", name,
			      is_rate ? "choose another name" : "write NAME rate COUNT/TIME");
}

static int parse_limit_name(struct rf_words *words, struct rf_draft *draft, struct rf_error *error)
{
	const char *name = rf_words_next(words);
	struct rf_error ignored;
	struct rf_rate rate;
	int err;

	if (!name)
		return rf_error_usage(error,
				      "the limit's name is missing; write NAME rate COUNT/TIME");
	if (strchr(name, '/') && !rf_parse_rate(name, &rate, &ignored))
		return rf_error_usage(error,
				      "'%s': the limit's name is missing before it; write NAME "
				      "rate %s",
				      name, name);
	err = rf_parse_name(name, "name of a limit", draft->made.limit.name, error);
	if (!err && rf_name_is_all(name))
		err = rf_error_usage(error,
				     "'all': invalid name of a limit: it means every limit; choose "
				     "another name, such as 'any'");
	return err ? err : check_keyword(name, words, error);
}

/* The rate does not follow the name, or is not there at all. */
static int fail_no_rate(const struct rf_words *words, const char *name, struct rf_error *error)
{
	const struct rf_option *option = &rf_limit_options[RF_OPT_RATE];
	const struct rf_option rate_option[] = {*option, {}};
	const char *next = rf_words_peek(words), *rate = rf_words_later(words, option->word);

	if (rate)
		return rf_error_usage(error,
				      "'%s': the rate comes before it; write %s rate %s %s …", next,
				      name, rate, next);
	if (rf_fail_near(rate_option, words, error))
		return -EINVAL;
	if (next && rf_words_are_of(words, RF_CMD_LIMIT_SET))
		return rf_error_usage(error,
				      "'%s': the rate is missing; write %s rate COUNT/TIME, or "
				      "'limit change %s %s …' to keep the rest",
				      name, name, name, next);
	return rf_error_usage(error, "'%s': the rate is missing; write %s rate COUNT/TIME", name,
			      name);
}

/* The limit's name and rate, which come first. */
static int parse_limit_head(struct rf_words *words, struct rf_draft *draft, struct rf_error *error)
{
	int err = parse_limit_name(words, draft, error);

	if (err)
		return err;
	if (rf_option_find(rf_limit_options, rf_words_peek(words) ?: "") != RF_OPT_RATE)
		return fail_no_rate(words, draft->made.limit.name, error);
	return 0;
}

static int parse_options(struct rf_words *words, struct rf_draft *draft, struct rf_error *error)
{
	int err = rf_parse_options(rf_limit_options, parsers, words, draft, &draft->given, error);

	if (!err && rf_words_peek(words))
		err = rf_error_usage(error,
				     "'%s': unknown word in a limit; see 'ringfence help limit "
				     "%s'",
				     rf_words_peek(words), draft->is_change ? "change" : "add");
	return err;
}

static void start(struct rf_draft *draft, struct rf_words *words)
{
	*draft = (struct rf_draft){.words = words};
	rf_limit_set_defaults(&draft->made.limit);
}

/* Hands the definition over, an empty one where `err`. */
static int finish(struct rf_draft *draft, int err, struct rf_definition *definition)
{
	struct rf_limit *limit = &draft->made.limit;

	if (err)
		rf_definition_free(&draft->made);
	else if (!limit->cells)
		limit->cells = rf_default_cells(limit);
	*definition = draft->made;
	return err;
}

int rf_parse_limit(struct rf_words *words, struct rf_definition *definition, struct rf_error *error)
{
	struct rf_draft draft;
	int err;

	start(&draft, words);
	err = parse_limit_head(words, &draft, error);
	if (!err)
		err = parse_options(words, &draft, error);
	if (!err)
		err = rf_draft_check(&draft, error);
	return finish(&draft, err, definition);
}

int rf_parse_parts(struct rf_words *words, unsigned int *given, unsigned int *dropped,
		   struct rf_error *error)
{
	struct rf_draft draft;
	int err;

	start(&draft, words);
	draft.is_change = true;
	err = parse_options(words, &draft, error);
	rf_definition_free(&draft.made);
	*given = draft.given;
	*dropped = draft.dropped;
	return err;
}

int rf_parse_changed(struct rf_words *words, const char *name, struct rf_definition *definition,
		     struct rf_error *error)
{
	struct rf_error reason = {};
	struct rf_draft draft;
	int err;

	start(&draft, words);
	draft.is_change = true;
	memcpy(draft.made.limit.name, name, strlen(name));
	err = parse_options(words, &draft, error);
	if (!err && rf_draft_check(&draft, &reason))
		err = rf_error_usage(error,
				     "%s; parts that are not named stay, 'no PART' takes one away",
				     reason.text);
	return finish(&draft, err, definition);
}

void rf_definition_free(struct rf_definition *definition)
{
	free(definition->ports);
	free(definition->sports);
	rf_prefixes_free(&definition->to);
	rf_prefixes_free(&definition->from);
	*definition = (struct rf_definition){};
}
