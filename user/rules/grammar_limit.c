// SPDX-License-Identifier: GPL-2.0
/* Parses the words that define a limit, or change one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rules/attribute.h"
#include "rules/grammar_option.h"
#include "rules/private.h"

/* ---- what only all words together show ---- */

/* Sets fields that follow from values of a different kind. */
static void derive(struct rf_draft *draft)
{
	struct rf_limit *limit = &draft->made.limit;

	limit->rate = draft->rate.rate.count;
	limit->window_ns = draft->rate.rate.window_ns;
	limit->burst = draft->burst.rate.count;
	limit->first = draft->initial.rate.count;
	limit->flags |= draft->initial.text ? RF_INITIAL_GIVEN : 0;
	limit->has_ports = draft->made.ports != NULL;
	limit->has_sports = draft->made.sports != NULL;
	limit->has_to = draft->made.to.count != 0;
	limit->has_from = draft->made.from.count || draft->made.from_file;
}

static int check_unit(struct rf_draft *draft, struct rf_error *error)
{
	if (rf_has_given(draft, RF_OPT_PACKETS) && rf_has_given(draft, RF_OPT_BYTES))
		return rf_error_usage(error, "'packets' and 'bytes' exclude each other");
	if (draft->rate.rate.in_bits && rf_has_given(draft, RF_OPT_PACKETS))
		return rf_error_usage(
			error, "'%s': invalid rate: bits are counted as bytes; leave out 'packets'",
			draft->rate.text);
	if (draft->rate.rate.in_bits)
		draft->made.limit.unit = RF_BYTES;
	draft->made.limit.flags |= draft->rate.rate.in_bits ? RF_RATE_IN_BITS : 0;
	if (draft->burst.rate.in_bits && draft->made.limit.unit == RF_PACKETS)
		return rf_error_usage(
			error,
			"'%s': invalid burst: bits are counted as bytes, and the limit "
			"is in packets; add 'bytes', or write it like 100 or 20k",
			draft->burst.text);
	return 0;
}

/* Cells and an edge imply sliding. */
static void choose_algorithm(struct rf_draft *draft)
{
	const bool is_sliding =
		rf_has_given(draft, RF_OPT_CELLS) || rf_has_given(draft, RF_OPT_EDGE);

	if (!rf_has_given(draft, RF_OPT_ALGORITHM))
		draft->made.limit.algorithm =
			is_sliding ? RF_SLIDING : rf_default_algorithm(&draft->made.limit);
}

/* An error if an option is meaningless for the algorithm. */
static int check_algorithm(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	const char *name = rf_algorithm_name(limit->algorithm);
	const bool has_cells = rf_has_given(draft, RF_OPT_CELLS);

	if (limit->algorithm != RF_SLIDING && (has_cells || rf_has_given(draft, RF_OPT_EDGE)))
		return rf_error_usage(error,
				      "'%s': 'algorithm %s' does not accept it; only sliding has "
				      "cells and an edge",
				      has_cells ? "cells" : "edge", name);
	if (!rf_has_burst(limit) && rf_has_given(draft, RF_OPT_BURST))
		return rf_error_usage(error,
				      "'burst': 'algorithm %s' does not accept it; only token and "
				      "leaky have a burst",
				      name);
	if (limit->algorithm == RF_LOG && limit->unit == RF_BYTES)
		return rf_error_usage(error, "'algorithm log': it stores the times of packets, and "
					     "does not count bytes; use 'algorithm sliding'");
	return 0;
}

/* `text` is how the count was written, `what` is for the message. */
static int check_range(const char *text, const char *what, const struct rf_limit *limit,
		       uint64_t count, uint64_t max, struct rf_error *error)
{
	if (limit->unit == RF_PACKETS && (count < 1 || count > max))
		return rf_error_usage(error, "'%s': invalid %s: the count must be 1-%" PRIu64, text,
				      what, max);
	if (limit->unit == RF_BYTES && (count < RF_FRAME_BYTES || count > max))
		return rf_error_usage(error,
				      "'%s': invalid %s: the count must be %d-%" PRIu64 " bytes; "
				      "with less, no Ethernet frame of full size would ever pass",
				      text, what, RF_FRAME_BYTES, max);
	return 0;
}

/* A limit that drops all packets has no window: options of counting remain, without effect. */
static int check_rate0(const struct rf_limit *limit, struct rf_error *error)
{
	if (limit->match == RF_MATCH_OTHER)
		return rf_error_usage(error,
				      "'match other': rate 0 would drop ARP and cut the machine "
				      "off; write a rate like 100/1s");
	if (limit->ban_ns)
		return rf_error_usage(
			error, "'ban': rate 0 drops all packets and bans no source; leave out "
			       "'ban', or write a rate like 1/1h");
	if (limit->flags & RF_FLEET)
		return rf_error_usage(error, "'fleet': rate 0 passes nothing that hosts could "
					     "share; leave out 'fleet'");
	return 0;
}

static int check_rate(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	uint64_t max = RF_LIMIT_MAX;

	if (!limit->rate)
		return check_rate0(limit, error);
	if (limit->algorithm == RF_LOG && (limit->rate < 1 || limit->rate > RF_LOG_MAX))
		return rf_error_usage(
			error,
			"'%s': invalid rate: the count must be 1-%d, because 'algorithm log' "
			"stores a time for each packet; use 'algorithm sliding'",
			draft->rate.text, RF_LOG_MAX);
	if (limit->unit == RF_BYTES)
		max <<= RF_UNIT_SHIFT_MAX;
	return check_range(draft->rate.text, "rate", limit, limit->rate, max, error);
}

/* An error where the limit cannot work with its default burst. */
static int check_default_burst(const struct rf_limit *limit, struct rf_error *error)
{
	if (limit->algorithm == RF_LEAKY && limit->unit == RF_BYTES)
		return rf_error_usage(error,
				      "'algorithm leaky': in bytes the burst must hold a frame of "
				      "%d bytes; add 'burst COUNT'",
				      RF_FRAME_BYTES);
	return 0;
}

static int check_burst(struct rf_draft *draft, struct rf_error *error)
{
	struct rf_limit *limit = &draft->made.limit;
	int err;

	if (!draft->burst.text) {
		limit->burst = rf_default_burst(limit);
		return check_default_burst(limit, error);
	}
	if (draft->burst.rate.in_bits && limit->burst != rf_default_burst(limit))
		limit->flags |= RF_BURST_IN_BITS; /* else it is left out when it is printed */
	err = check_range(draft->burst.text, "burst", limit, limit->burst, RF_LIMIT_MAX, error);
	if (err)
		return err;
	/* burst * TIME / COUNT, without the rounding of a division */
	if (limit->rate && (unsigned __int128)limit->burst * limit->window_ns >
				   (unsigned __int128)limit->rate * RF_WINDOW_MAX_NS)
		return rf_error_usage(
			error,
			"'%s': invalid burst: at the rate '%s' the burst takes longer than "
			"8784h; lower the burst, or raise the rate",
			draft->burst.text, draft->rate.text);
	return 0;
}

/* ---- the fleet ---- */

static int check_no_fleet_words(const struct rf_draft *draft, struct rf_error *error)
{
	const bool is_initial = rf_has_given(draft, RF_OPT_INITIAL);

	if (!is_initial && !rf_has_given(draft, RF_OPT_OFFLINE))
		return 0;
	return rf_error_usage(error,
			      "'%s': only a limit of the fleet takes it; add 'fleet', or leave it "
			      "out",
			      rf_limit_options[is_initial ? RF_OPT_INITIAL : RF_OPT_OFFLINE].word);
}

/* `initial` is a part of COUNT, in its unit. */
static int check_initial(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;

	if (draft->initial.rate.in_bits && limit->unit == RF_PACKETS)
		return rf_error_usage(error,
				      "'%s': invalid 'initial': the limit is in packets; write it "
				      "like 100 or 20k",
				      draft->initial.text);
	if (limit->first > limit->rate)
		return rf_error_usage(error,
				      "'%s': invalid 'initial': it must be 0-%" PRIu64
				      ", a part of the rate",
				      draft->initial.text, (uint64_t)limit->rate);
	return 0;
}

static int check_offline(struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_rate offline = draft->offline.rate;
	struct rf_limit *limit = &draft->made.limit;
	char rate[RF_RATE_TEXT_SIZE];

	if (!draft->offline.text)
		return 0;
	rf_format_rate(limit->rate, limit->window_ns, rate);
	if (offline.window_ns != limit->window_ns)
		return rf_error_usage(error,
				      "'%s': invalid 'offline': its TIME must equal the TIME of "
				      "the rate, as in %s",
				      draft->offline.text, rate);
	if (offline.in_bits && limit->unit == RF_PACKETS)
		return rf_error_usage(error,
				      "'%s': invalid 'offline': the limit is in packets; write it "
				      "like %s",
				      draft->offline.text, rate);
	if (!offline.count || offline.count > limit->rate)
		return rf_error_usage(
			error,
			"'%s': invalid 'offline': the count must be 1-%" PRIu64
			"; for the part that passes by default, write 'offline initial'",
			draft->offline.text, (uint64_t)limit->rate);
	if (offline.count < limit->first)
		return rf_error_usage(
			error,
			"'%s': invalid 'offline': it is less than 'initial %s'; write "
			"'offline initial'",
			draft->offline.text, draft->initial.text);
	/* All of the limit is the default. */
	limit->alone = offline.count < limit->rate ? offline.count : 0;
	return 0;
}

static int check_fleet(struct rf_draft *draft, struct rf_error *error)
{
	int err;

	if (!(draft->made.limit.flags & RF_FLEET))
		return check_no_fleet_words(draft, error);
	err = check_initial(draft, error);
	return err ? err : check_offline(draft, error);
}

/* Fills in the defaults of the limit; an error if its words contradict each other. */
static int draft_check(struct rf_draft *draft, struct rf_error *error)
{
	int err;

	derive(draft);
	err = check_unit(draft, error);
	if (!err)
		choose_algorithm(draft);
	if (!err)
		err = check_algorithm(draft, error);
	if (!err)
		err = check_rate(draft, error);
	if (!err)
		err = check_burst(draft, error);
	if (!err)
		err = check_fleet(draft, error);
	if (!err)
		err = rf_check_match(&draft->made, draft->given, error);
	return err;
}

/* ---- limit add, limit set ---- */

/*
 * A name can be a keyword: its position makes it a name. But a keyword without `rate` after it is
 * one: the name was forgotten. `dev`, `confirm` and `force` can follow names in other commands.
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
				      "'limit change %s %s …' to leave the rest unchanged",
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

static int parse_options(struct rf_words *words, struct rf_draft *draft, bool is_change,
			 struct rf_error *error)
{
	int err = rf_parse_options(rf_limit_options, words, draft, &draft->given, error);

	if (!err && draft->dropped && !is_change)
		return rf_error_usage(error, "'no': only 'limit change' takes it");
	if (!err && rf_words_peek(words))
		err = rf_error_usage(error,
				     "'%s': unknown word in a limit; see 'ringfence help limit "
				     "%s'",
				     rf_words_peek(words), is_change ? "change" : "add");
	return err;
}

static void start(struct rf_draft *draft)
{
	*draft = (struct rf_draft){};
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

	start(&draft);
	err = parse_limit_head(words, &draft, error);
	if (!err)
		err = parse_options(words, &draft, false, error);
	if (!err)
		err = draft_check(&draft, error);
	return finish(&draft, err, definition);
}

/* The words of a change: the options present, and the options that `no` removes. */
static int parse_parts(struct rf_words *words, unsigned int *given, unsigned int *dropped,
		       struct rf_error *error)
{
	struct rf_draft draft;
	int err;

	start(&draft);
	err = parse_options(words, &draft, true, error);
	rf_definition_free(&draft.made);
	*given = draft.given;
	*dropped = draft.dropped;
	return err;
}

/* The options of a limit after a change, in any order. */
static int parse_changed(struct rf_words *words, const char *name, struct rf_definition *definition,
			 struct rf_error *error)
{
	struct rf_error reason = {};
	struct rf_draft draft;
	int err;

	start(&draft);
	memcpy(draft.made.limit.name, name, strlen(name));
	err = parse_options(words, &draft, true, error);
	if (!err && draft_check(&draft, &reason))
		err = rf_error_usage(error,
				     "%s; unnamed parts remain unchanged, 'no PART' removes one",
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

/* ---- limit change ---- */

/* A change of a limit: the words that define it, without the parts that the change names, and then
 * the words of the change. */

#define UNITS (1U << RF_OPT_PACKETS | 1U << RF_OPT_BYTES)

int rf_parse_change(struct rf_words *words, struct rf_change *change, struct rf_error *error)
{
	unsigned int given, dropped;
	int err;

	*change = (struct rf_change){.name = rf_take_operand(RF_CMD_LIMIT_CHANGE, words, error)};
	if (!change->name)
		return -EINVAL;
	change->words = *words;
	err = parse_parts(words, &given, &dropped, error);
	if (err)
		return err;
	change->parts = given | dropped;
	if (dropped >> RF_OPT_SHARED & 1)
		change->parts |= 1U << RF_OPT_INITIAL | 1U << RF_OPT_OFFLINE;
	if (given & dropped) {
		const char *word = rf_limit_options[__builtin_ctz(given & dropped)].word;

		return rf_error_usage(
			error, "'no %s': '%s' is given as well; leave out one of them", word, word);
	}
	if (change->parts & ~(1U << RF_OPT_CONFIRM | 1U << RF_OPT_FORCE | 1U << RF_OPT_NO))
		return 0;
	return rf_error_usage(error,
			      "'%s': nothing to change; name a part, like 'rate 200/1s' or 'no "
			      "from'",
			      change->name);
}

/* Appends the words of `text`, after NAME, that define no part of `parts`. */
static int keep_words(char *text, unsigned int parts, const char **word)
{
	int count = 0, part = RF_OPT_RATE;
	bool is_value = false;

	strsep(&text, " "); /* limit */
	strsep(&text, " "); /* add */
	strsep(&text, " ");
	for (char *next = strsep(&text, " "); next; next = strsep(&text, " ")) {
		const int row = is_value ? -1 : rf_option_find(rf_limit_options, next);

		part = row >= 0 ? row : part;
		is_value = row >= 0 && rf_limit_options[row].kind != RF_KIND_NONE;
		if (!(parts >> part & 1))
			word[count++] = next;
	}
	return count;
}

int rf_change_limit(const struct rf_change *change, const struct rf_limit *present,
		    const char *text, struct rf_definition *definition, struct rf_error *error)
{
	struct rf_words rest = change->words, words = {};
	char *copy = strdup(text);
	const char **word = calloc(strlen(text) + rest.count + 1, sizeof(*word));
	int count, err;

	*definition = (struct rf_definition){};
	if (!copy || !word) {
		free(copy);
		free(word);
		return rf_error_failed(error, -ENOMEM, "limit '%s': out of memory", change->name);
	}
	/* A rate in bits implies the unit, which is therefore repeated. */
	count = keep_words(copy, change->parts | UNITS, word);
	if (present->unit == RF_BYTES && !(change->parts & UNITS))
		word[count++] = rf_limit_options[RF_OPT_BYTES].word;
	while (rf_words_peek(&rest))
		word[count++] = rf_words_next(&rest);
	words = (struct rf_words){.word = word, .count = count};
	err = parse_changed(&words, present->name, definition, error);
	free(word);
	free(copy);
	return err;
}
