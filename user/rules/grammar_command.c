// SPDX-License-Identifier: GPL-2.0
/* Parses the words of commands that are more than an operand and options, but for limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/fleet.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"
#include "rules/private.h"

/* ---- lists ---- */

int rf_list_text_check_line(const struct rf_list_text *text, bool is_batch, struct rf_error *error)
{
	if (text->in_fleet)
		return rf_error_usage(error, "'fleet': only the command 'ringfence deny add' takes "
					     "it; leave it out here");
	if (text->confirm_ns)
		return rf_error_usage(error,
				      "'confirm': it is not for a line of a file; write 'ringfence "
				      "%s FILE confirm TIME'",
				      is_batch ? "batch" : "apply");
	if (text->force && !is_batch)
		return rf_error_usage(error, "'force': 'apply' does not check for own networks; "
					     "leave it out here");
	return 0;
}

int rf_check_fleet_ban(const struct rf_prefix *prefix, uint64_t time_ns, struct rf_error *error)
{
	const unsigned int least = prefix->version == 6 ? RF_FLEET_BAN_LEAST6 : RF_FLEET_BAN_LEAST4;
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	if (!time_ns)
		return rf_error_usage(error,
				      "'fleet': a ban of the fleet needs a time; write deny add %s "
				      "for TIME fleet, with TIME of 1h at most",
				      text);
	if (time_ns > RF_FLEET_BAN_MOST_MS * RF_NS_PER_MS)
		return rf_error_usage(error,
				      "'fleet': hosts take bans of 1h at most; write a shorter "
				      "time, or leave out 'fleet'");
	if (prefix->length < least)
		return rf_error_usage(error,
				      "'%s': hosts take bans of a /%u or longer prefixes; write "
				      "such prefixes, or leave out 'fleet'",
				      text, least);
	return 0;
}

/* ---- unban ---- */

int rf_parse_unban(struct rf_words *words, struct rf_prefix *prefix, bool *all,
		   struct rf_error *error)
{
	const char *text = rf_take_operand(RF_CMD_UNBAN, words, error);
	int err = 0;

	if (!text)
		return -EINVAL;
	*all = rf_option_find(rf_syntax[RF_CMD_UNBAN].operand.words, text) >= 0;
	if (!*all)
		err = rf_parse_prefix(text, prefix, error);
	return err ? err : rf_words_end(words, error);
}

/* ---- newcomers ---- */

/* The rate does not come first, or not at all. */
static int fail_no_rate(const struct rf_words *words, struct rf_error *error)
{
	const struct rf_option *options = rf_newcomers_options;
	const char *rate = rf_words_later(words, options[RF_OPT_NEW_RATE].word);
	char then[RF_OPTION_TEXT_SIZE];

	rf_option_format(&options[RF_OPT_NEW_THEN], then);
	if (rate)
		return rf_error_usage(error,
				      "'%s': the rate comes before it; write newcomers rate %s %s",
				      rf_words_peek(words), rate, then);
	return rf_fail_near(options, words, error)
		       ?: rf_error_usage(error,
					 "the rate of newcomers is missing; write newcomers rate "
					 "COUNT/TIME %s, or newcomers off",
					 then);
}

static int fail_no_then(const struct rf_words *words, struct rf_error *error)
{
	return rf_fail_near(rf_newcomers_options, words, error)
		       ?: rf_error_usage(error, "what happens to newcomers over the rate is "
						"missing; add 'then pass', 'then drop', 'then "
						"aggregate' or 'then challenge'");
}

static bool has_given(unsigned int given, enum rf_newcomers_option option)
{
	return given >> option & 1;
}

static int check_of_challenge(unsigned int given, struct rf_error *error)
{
	const unsigned int found = given & (1U << RF_OPT_NEW_ANSWERS | 1U << RF_OPT_NEW_DNS);

	if (!found)
		return 0;
	return rf_error_usage(error,
			      "'%s': only 'then challenge' answers newcomers; leave it out, or "
			      "write 'then challenge'",
			      rf_newcomers_options[__builtin_ctz(found)].word);
}

/* Stores the ports of a bit set in ascending order. */
static int store_dns_ports(const uint64_t *ports, struct rf_newcomers_text *newcomers,
			   struct rf_error *error)
{
	for (int port = 0; port < RF_PORTS; port++) {
		if (!(ports[port / 64] >> port % 64 & 1))
			continue;
		if (!port)
			return rf_error_usage(error, "'dns': invalid port 0: it must be 1-%d",
					      RF_PORTS - 1);
		if (newcomers->dns_ports == RF_DNS_PORTS_MAX)
			return rf_error_usage(error, "'dns': too many ports: %d at most",
					      RF_DNS_PORTS_MAX);
		newcomers->dns_port[newcomers->dns_ports++] = port;
	}
	return 0;
}

/* Fills in the defaults. */
static int complete_challenge(struct rf_newcomers_draft *draft, unsigned int given,
			      struct rf_error *error)
{
	struct rf_newcomers_text *newcomers = &draft->made;

	newcomers->except_established = true;
	if (!has_given(given, RF_OPT_NEW_ANSWERS))
		newcomers->answers =
			(struct rf_rate){.count = RF_ANSWERS_DEFAULT, .window_ns = RF_NS_PER_S};
	if (draft->dns)
		return store_dns_ports(draft->dns, newcomers, error);
	if (!draft->is_dns_none) {
		newcomers->dns_ports = 1;
		newcomers->dns_port[0] = RF_DNS_PORT_DEFAULT;
	}
	return 0;
}

/* What only all words together show. */
static int check_newcomers(struct rf_newcomers_draft *draft, unsigned int given,
			   struct rf_error *error)
{
	const enum rf_newcomers_then then = draft->made.then;

	if (has_given(given, RF_OPT_NEW_OFF))
		return rf_error_usage(error, "'off': it replaces all other words; write newcomers "
					     "off");
	if (then == RF_NEWCOMERS_CHALLENGE)
		return complete_challenge(draft, given, error);
	if (draft->made.except_established && then != RF_NEWCOMERS_DROP)
		return rf_error_usage(error,
				      "'except established': '%s' drops no packet of a newcomer; "
				      "leave it out, or write 'then drop except established'",
				      rf_newcomers_then_name(then));
	return check_of_challenge(given, error);
}

static int parse_newcomers(struct rf_words *words, struct rf_newcomers_draft *draft,
			   struct rf_error *error)
{
	const struct rf_option *options = rf_newcomers_options;
	unsigned int given = 0;
	int err;

	if (rf_words_take(words, options[RF_OPT_NEW_OFF].word))
		return 0;
	if (rf_option_find(options, rf_words_peek(words) ?: "") != RF_OPT_NEW_RATE)
		return fail_no_rate(words, error);
	err = rf_parse_option(options, RF_OPT_NEW_RATE, words, draft, &given, error);
	if (err)
		return err;
	if (rf_option_find(options, rf_words_peek(words) ?: "") != RF_OPT_NEW_THEN)
		return fail_no_then(words, error);
	err = rf_parse_options(options, words, draft, &given, error);
	return err ? err : check_newcomers(draft, given, error);
}

int rf_parse_newcomers(struct rf_words *words, struct rf_newcomers_text *newcomers,
		       struct rf_error *error)
{
	struct rf_newcomers_draft draft = {};
	int err = parse_newcomers(words, &draft, error);

	free(draft.dns);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		*newcomers = draft.made;
	return err;
}

/* ---- attach ---- */

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

static int parse_attach_word(struct rf_words *words, struct rf_attach *attach, unsigned int *given,
			     struct rf_error *error)
{
	const struct rf_option *options = rf_syntax[RF_CMD_ATTACH].options;
	const char *word = rf_words_peek(words);
	const int row = rf_option_find(options, word);
	const bool is_last = words->at + 1 == words->count;

	if (row < 0 || options[row].kind == RF_KIND_INTERFACE)
		return add_interface(rf_words_interface(words), attach, error);
	if (is_last && !attach->interfaces && options[row].kind != RF_KIND_NONE)
		return refuse_no_interface(word, error);
	return rf_parse_option(options, row, words, attach, given, error);
}

int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error)
{
	struct rf_attach parsed = {};
	const char *first = rf_words_peek(words);
	unsigned int given = 0;
	int err = 0;

	rf_options_start(rf_syntax[RF_CMD_ATTACH].options, &parsed);
	while (!err && rf_words_peek(words))
		err = parse_attach_word(words, &parsed, &given, error);
	if (!err && !parsed.interfaces)
		err = refuse_no_interface(first, error);
	if (!err && parsed.chain && parsed.replace)
		err = rf_error_usage(error,
				     "'chain' and 'replace' exclude each other: 'chain' runs "
				     "alongside other programs, 'replace' removes them");
	if (!err && parsed.chain && parsed.fleet)
		err = rf_error_usage(error, "'chain' and 'fleet' exclude each other: a fence that "
					    "shares limits cannot run alongside other programs");
	if (!err)
		*attach = parsed;
	return err;
}

/* ---- limit try ---- */

/* Takes the next word: of a limit, or a time. */
static int take_word(struct rf_words *words, struct rf_try *asked, int *count, unsigned int *given,
		     struct rf_error *error)
{
	const struct rf_option *options = rf_syntax[RF_CMD_LIMIT_TRY].options;
	const int row = rf_option_find(options, rf_words_peek(words));

	if (row >= 0 && options[row].size)
		return rf_parse_option(options, row, words, asked, given, error);
	if (*count == RF_TRY_WORDS)
		return rf_error_usage(error, "'%s': too many words", rf_words_peek(words));
	asked->word[(*count)++] = rf_words_next(words);
	return 0;
}

int rf_parse_try(struct rf_words *words, struct rf_try *asked, struct rf_error *error)
{
	const char *name = rf_take_operand(RF_CMD_LIMIT_TRY, words, error);
	struct rf_words rest;
	unsigned int given = 0;
	int count = 0, err = 0;

	*asked = (struct rf_try){};
	if (!name)
		return -EINVAL;
	asked->word[count++] = name;
	while (!err && rf_words_peek(words))
		err = take_word(words, asked, &count, &given, error);
	rest = (struct rf_words){.word = asked->word, .count = count};
	if (!err)
		err = rf_parse_change(&rest, &asked->change, error);
	if (!err)
		err = rf_words_end(&rest, error);
	if (!err && asked->until)
		err = rf_parse_until(asked->until, asked->since_ns, rf_words_now(words),
				     &asked->until_ns, error);
	return err;
}
