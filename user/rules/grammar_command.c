// SPDX-License-Identifier: GPL-2.0
/* Parses the words after commands, but for limits and fleets: lists, newcomers, attach, events … */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/grammar.h"
#include "rules/grammar_option.h"
#include "rules/private.h"
#include "schema/reasons.h"

#define PAUSE_NS (10 * 60 * RF_NS_PER_S) /* by default */
#define WATCH_SECONDS_MAX 86400

/* ---- times ---- */

/* Parses the only option of a table, which is a time. */
static int parse_time_option(const struct rf_option *table, struct rf_words *words,
			     uint64_t *time_ns, struct rf_error *error)
{
	unsigned int given = 0;
	uint64_t parsed_ns = 0;
	int err = rf_parse_options(table, NULL, words, &parsed_ns, &given, error);

	if (!err)
		*time_ns = parsed_ns;
	return err;
}

int rf_parse_confirm(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	return parse_time_option(rf_trial_options, words, time_ns, error);
}

int rf_parse_arm(struct rf_words *words, struct rf_arm_text *text, struct rf_error *error)
{
	unsigned int given = 0;

	*text = (struct rf_arm_text){};
	return rf_parse_options(rf_arm_options, NULL, words, text, &given, error);
}

int rf_parse_pause(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	int err = parse_time_option(rf_pause_options, words, time_ns, error);

	if (!err && !*time_ns)
		*time_ns = PAUSE_NS;
	return err;
}

/* ---- lists ---- */

static int parse_owners(const char *value, void *into, struct rf_error *error)
{
	struct rf_list_text *text = into;

	if (strcmp(value, rf_owner_name(NULL, RF_OWNER_FLEET)) == 0)
		return rf_error_usage(error, "'by fleet': the agent of the fleet adds and removes "
					     "those entries; 'ringfence fleet bans flush' removes "
					     "all of them");
	return rf_parse_owner(value, text->by, error);
}

static int parse_owner(const char *value, void *into, struct rf_error *error)
{
	if (strcmp(value, "all") == 0)
		return rf_error_usage(error, "'by all': expects the name of one owner");
	return parse_owners(value, into, error);
}

static int parse_list_text(const struct rf_option *table, const rf_option_parser *parsers,
			   struct rf_words *words, struct rf_list_text *text,
			   struct rf_error *error)
{
	struct rf_list_text parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(table, parsers, words, &parsed, &given, error);

	if (!err)
		*text = parsed;
	return err;
}

int rf_parse_allow(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {NULL, parse_owner};

	return parse_list_text(rf_allow_options, parsers, words, text, error);
}

int rf_parse_deny(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {NULL, parse_owner, NULL, NULL, NULL};
	int err = parse_list_text(rf_deny_options, parsers, words, text, error);

	if (!err && text->in_fleet && text->trial_ns)
		err = rf_error_usage(error, "'confirm': it undoes nothing on other hosts; leave "
					    "out 'confirm' or 'fleet'");
	return err;
}

int rf_parse_unallow(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owners, NULL};

	return parse_list_text(rf_unallow_options, parsers, words, text, error);
}

int rf_parse_undeny(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owners, NULL};

	return parse_list_text(rf_undeny_options, parsers, words, text, error);
}

int rf_parse_load(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {NULL, NULL, parse_owner, NULL, NULL};

	return parse_list_text(rf_load_options, parsers, words, text, error);
}

int rf_parse_flush(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owner};

	return parse_list_text(rf_flush_options, parsers, words, text, error);
}

int rf_parse_allow_flush(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owner, NULL};

	return parse_list_text(rf_allow_flush_options, parsers, words, text, error);
}

int rf_list_text_check_line(const struct rf_list_text *text, bool is_batch, struct rf_error *error)
{
	if (text->in_fleet)
		return rf_error_usage(error, "'fleet': only the command 'ringfence deny add' takes "
					     "it; leave it out here");
	if (text->trial_ns)
		return rf_error_usage(error,
				      "'confirm': it is not for a line of a file; write 'ringfence "
				      "%s FILE confirm TIME'",
				      is_batch ? "batch" : "apply");
	if (text->force && !is_batch)
		return rf_error_usage(error, "'force': 'apply' does not check for own networks; "
					     "leave it out here");
	return 0;
}

/* ---- batch ---- */

int rf_parse_batch(struct rf_words *words, struct rf_batch_text *text, struct rf_error *error)
{
	unsigned int given = 0;

	*text = (struct rf_batch_text){};
	return rf_parse_options(rf_batch_options, NULL, words, text, &given, error);
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

static int parse_newcomers_rate(const char *value, void *into, struct rf_error *error)
{
	struct rf_newcomers_text *newcomers = into;
	struct rf_rate rate;
	int err = rf_parse_rate(value, &rate, error);

	if (err)
		return err;
	if (rate.in_bits)
		return rf_error_usage(error,
				      "'%s': invalid rate: newcomers are counted in packets; write "
				      "it like 10k/1s",
				      value);
	if (rate.count < 1 || rate.count > RF_LIMIT_MAX)
		return rf_error_usage(error, "'%s': invalid rate: the count must be 1-%u", value,
				      RF_LIMIT_MAX);
	newcomers->rate = rate.count;
	newcomers->window_ns = rate.window_ns;
	return 0;
}

static int parse_newcomers_then(const char *value, void *into, struct rf_error *error)
{
	struct rf_newcomers_text *newcomers = into;
	unsigned int then = 0;
	int err = rf_parse_word(&rf_newcomers_options[RF_OPT_NEW_THEN], value, &then, error);

	newcomers->then = RF_NEWCOMERS_OPEN + then;
	return err;
}

/* The rate does not come first, or not at all. */
static int fail_no_rate(const struct rf_words *words, struct rf_error *error)
{
	const struct rf_option *options = rf_newcomers_options;
	const char *rate = rf_words_later(words, options[RF_OPT_NEW_RATE].word);

	if (rate)
		return rf_error_usage(error,
				      "'%s': the rate comes before it; write newcomers rate %s "
				      "then open|closed|aggregate",
				      rf_words_peek(words), rate);
	return rf_fail_near(options, words, error)
		       ?: rf_error_usage(error,
					 "the rate of newcomers is missing; write newcomers rate "
					 "COUNT/TIME then open|closed|aggregate, or newcomers off");
}

static int parse_newcomers(struct rf_words *words, struct rf_newcomers_text *newcomers,
			   struct rf_error *error)
{
	const struct rf_option *options = rf_newcomers_options;
	unsigned int given = 0;
	int err;

	if (rf_words_take(words, options[RF_OPT_NEW_OFF].word))
		return 0;
	if (rf_option_find(options, rf_words_peek(words) ?: "") != RF_OPT_NEW_RATE)
		return fail_no_rate(words, error);
	err = rf_parse_option(options, RF_OPT_NEW_RATE, parse_newcomers_rate, words, newcomers,
			      &given, error);
	if (err)
		return err;
	if (rf_option_find(options, rf_words_peek(words) ?: "") != RF_OPT_NEW_THEN)
		return rf_fail_near(options, words, error)
			       ?: rf_error_usage(
					  error,
					  "what happens to newcomers over the rate is missing; "
					  "add 'then open', 'then closed' or 'then aggregate'");
	return rf_parse_option(options, RF_OPT_NEW_THEN, parse_newcomers_then, words, newcomers,
			       &given, error);
}

int rf_parse_newcomers(struct rf_words *words, struct rf_newcomers_text *newcomers,
		       struct rf_error *error)
{
	struct rf_newcomers_text parsed = {};
	int err = parse_newcomers(words, &parsed, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		*newcomers = parsed;
	return err;
}

/* ---- times of the clock ---- */

int rf_parse_at(struct rf_words *words, uint64_t *at_ns, struct rf_error *error)
{
	int err = parse_time_option(rf_show_options, words, at_ns, error);

	return err ? err : rf_words_end(words, error);
}

/* The time of `until`, if it was given. */
static int settle_until(const char *until, uint64_t since_ns, uint64_t now_ns, uint64_t *until_ns,
			struct rf_error *error)
{
	return until ? rf_parse_until(until, since_ns, now_ns, until_ns, error) : 0;
}

static int check_report(struct rf_report *report, uint64_t now_ns, struct rf_error *error)
{
	if (report->id && (report->since_ns || report->until))
		return rf_error_usage(error,
				      "'%s': an id has its own times; leave out 'since' "
				      "and 'until'",
				      report->id);
	if (report->until && !report->since_ns)
		return rf_error_usage(error, "'until': expects 'since TIME' as well");
	return settle_until(report->until, report->since_ns, now_ns, &report->until_ns, error);
}

int rf_parse_report(struct rf_words *words, struct rf_report *report, struct rf_error *error)
{
	const char *next = rf_words_peek(words);
	struct rf_report parsed = {};
	unsigned int given = 0;
	int err;

	if (next && rf_option_find(rf_report_options, next) < 0)
		parsed.id = rf_words_next(words);
	err = rf_parse_options(rf_report_options, NULL, words, &parsed, &given, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = check_report(&parsed, rf_words_now(words), error);
	if (!err)
		*report = parsed;
	return err;
}

/* ---- save, diff, metrics, stats, top ---- */

/* Parses the only option of a table, which is a word alone. */
static int parse_word(const struct rf_option *table, struct rf_words *words, bool *given,
		      struct rf_error *error)
{
	unsigned int options = 0;
	bool parsed = false;
	int err = rf_parse_options(table, NULL, words, &parsed, &options, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		*given = parsed;
	return err;
}

int rf_parse_save(struct rf_words *words, bool *confirmed, struct rf_error *error)
{
	return parse_word(rf_save_options, words, confirmed, error);
}

int rf_parse_diff(struct rf_words *words, bool *all, struct rf_error *error)
{
	return parse_word(rf_diff_options, words, all, error);
}

int rf_parse_metrics(struct rf_words *words, const char **path, struct rf_error *error)
{
	unsigned int options = 0;
	const char *parsed = NULL;
	int err = rf_parse_options(rf_metrics_options, NULL, words, &parsed, &options, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed && strcmp(parsed, "-") == 0)
		err = rf_error_usage(error, "'file -': 'ringfence metrics' alone prints them");
	if (!err && parsed)
		*path = parsed;
	return err;
}

static int parse_watch(const char *value, void *into, struct rf_error *error)
{
	struct rf_stats *stats = into;

	stats->seconds = 1;
	if (!value)
		return 0;
	return rf_parse_number(value, "number of seconds", 1, WATCH_SECONDS_MAX, &stats->seconds,
			       error);
}

int rf_parse_stats(struct rf_words *words, struct rf_stats *stats, struct rf_error *error)
{
	/* sparse: the other values go where their rows say. */
	static const rf_option_parser parsers[RF_STATS_OPTIONS] = {[RF_OPT_WATCH] = parse_watch};
	struct rf_stats parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(rf_stats_options, parsers, words, &parsed, &given, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed.reasons && !parsed.seconds)
		err = rf_error_usage(error, "'reasons': stats prints them; with rates, write "
					    "'stats watch reasons'");
	if (!err && (parsed.seconds != 0) + parsed.total + parsed.reset + (parsed.at_ns != 0) > 1)
		err = rf_error_usage(error,
				     "'watch', 'total', 'reset' and 'at' exclude each other");
	if (!err)
		*stats = parsed;
	return err;
}

static int parse_within(const char *value, void *into, struct rf_error *error)
{
	struct rf_top *top = into;

	top->is_within = true;
	return rf_parse_prefix(value, &top->within, error);
}

/* The history has no samples, and no limit has a source without a window. */
static int check_top(const struct rf_top *top, struct rf_error *error)
{
	if (top->sample_ns && top->at_ns)
		return rf_error_usage(error, "'sample': samples are of packets that come now; "
					     "leave out 'at'");
	if (top->sample_ns && top->limit)
		return rf_error_usage(error, "'sample': a source without a window is of no limit; "
					     "leave out 'limit'");
	return 0;
}

int rf_parse_top(struct rf_words *words, struct rf_top *top, struct rf_error *error)
{
	/* sparse: the other values go where their rows say. */
	static const rf_option_parser parsers[RF_TOP_OPTIONS] = {[RF_OPT_WITHIN] = parse_within};
	const char *next = rf_words_peek(words);
	unsigned int given = 0;
	int err = 0;

	*top = (struct rf_top){.rows = RF_TOP_DEFAULT};
	top->has_rows = next && rf_option_find(rf_top_options, next) < 0;
	if (top->has_rows)
		err = rf_fail_near(rf_top_options, words, error)
			      ?: rf_parse_number(rf_words_next(words), "number of rows", 1,
						 RF_TOP_MAX, &top->rows, error);
	if (!err)
		err = rf_parse_options(rf_top_options, parsers, words, top, &given, error);
	if (!err)
		err = rf_words_end(words, error);
	return err ? err : check_top(top, error);
}

/* ---- attach ---- */

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

/* sparse: the word after `dev` is an interface, the other values go where their rows say. */
static const rf_option_parser attach_parsers[RF_ATTACH_OPTIONS] = {
	[RF_OPT_FENCE] = parse_fence,
	[RF_OPT_MODE] = parse_mode,
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

static int parse_attach_word(struct rf_words *words, struct rf_attach *attach, unsigned int *given,
			     struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	const int row = rf_option_find(rf_attach_options, word);
	const bool is_last = words->at + 1 == words->count;

	if (row < 0 || row == RF_OPT_DEV)
		return add_interface(rf_words_interface(words), attach, error);
	if (is_last && !attach->interfaces && rf_attach_options[row].kind != RF_KIND_NONE)
		return refuse_no_interface(word, error);
	return rf_parse_option(rf_attach_options, row, attach_parsers[row], words, attach, given,
			       error);
}

int rf_parse_attach(struct rf_words *words, struct rf_attach *attach, struct rf_error *error)
{
	struct rf_attach parsed = {.mode = RF_NATIVE, .leases = RF_LEASES_NOT_GIVEN};
	const char *first = rf_words_peek(words);
	unsigned int given = 0;
	int err = 0;

	while (!err && rf_words_peek(words))
		err = parse_attach_word(words, &parsed, &given, error);
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

/* ---- capture ---- */

static int parse_reason(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;
	unsigned int reason = 0;
	int err = rf_parse_word(&rf_capture_options[RF_OPT_REASON], value, &reason, error);

	if (!err)
		capture->reasons |= 1U << reason;
	return err;
}

static int parse_capture_from(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	capture->is_from = true;
	return rf_parse_prefix(value, &capture->from, error);
}

/* `one` is followed by `in`, which has the number. */
static int parse_one(const char *value, void *into, struct rf_error *error)
{
	unsigned int row;

	(void)into;
	return rf_parse_word(&rf_capture_options[RF_OPT_ONE], value, &row, error);
}

static int parse_in(struct rf_words *words, struct rf_capture *capture, struct rf_error *error)
{
	const char *value = rf_words_next(words);

	if (!value)
		return rf_fail_value(rf_capture_options[RF_OPT_ONE].words, NULL, error);
	return rf_parse_number(value, "one in how many", 1, RF_ONE_IN_MAX, &capture->one_in, error);
}

/* Reasons that packets with the wanted verdicts cannot have; of none given, all. */
static int settle_reasons(struct rf_capture *capture, struct rf_error *error)
{
	const uint32_t given = capture->reasons;

	const bool is_open = !capture->dropped && !capture->passed;

	if (is_open && !given)
		capture->dropped = true;
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const bool is_drop = rf_reason_is_drop(i);
		bool *wanted = is_drop ? &capture->dropped : &capture->passed;

		if (!(given & 1U << i))
			continue;
		if (is_open)
			*wanted = true;
		if (!*wanted)
			return rf_error_usage(error,
					      "'reason %s': such packets are %s; leave out '%s'",
					      rf_reason_name(i), rf_reason_verdict(i),
					      is_drop ? RF_VERDICT_PASS : RF_VERDICT_DROP);
	}
	if (!given)
		capture->reasons = UINT32_MAX;
	return 0;
}

int rf_parse_capture(struct rf_words *words, struct rf_capture *capture, struct rf_error *error)
{
	/* sparse: the other values go where their rows say. */
	static const rf_option_parser parsers[RF_CAPTURE_OPTIONS] = {
		[RF_OPT_REASON] = parse_reason,
		[RF_OPT_CAPTURE_FROM] = parse_capture_from,
		[RF_OPT_ONE] = parse_one,
	};
	struct rf_capture parsed = {.one_in = RF_ONE_IN_DEFAULT, .most = RF_CAPTURE_MOST_DEFAULT};
	unsigned int given = 0;
	int err = 0;

	while (!err && rf_words_peek(words)) {
		const int row = rf_option_find(rf_capture_options, rf_words_peek(words));

		if (row < 0)
			return rf_fail_near(rf_capture_options, words, error)
				       ?: rf_words_end(words, error);
		err = rf_parse_option(rf_capture_options, row, parsers[row], words, &parsed, &given,
				      error);
		if (!err && row == RF_OPT_ONE)
			err = parse_in(words, &parsed, error);
	}
	if (!err && !parsed.path)
		err = rf_error_usage(error, "the file is missing; write capture … write FILE, or "
					    "'write -' for standard output");
	if (!err)
		err = settle_reasons(&parsed, error);
	if (!err)
		*capture = parsed;
	return err;
}

/* ---- events ---- */

#define TYPE_SIZE 64

static int parse_of(const char *value, void *into, struct rf_error *error)
{
	const struct rf_option *of = &rf_events_options[RF_OPT_OF];
	struct rf_events_asked *asked = into;
	char type[TYPE_SIZE];

	for (;; value++) {
		const size_t length = strcspn(value, ",");
		const size_t kept = length < TYPE_SIZE ? length : TYPE_SIZE - 1;
		int row;

		memcpy(type, value, kept);
		type[kept] = '\0';
		row = rf_option_find(of->words, type);
		if (row < 0)
			return rf_fail_value(of, type, error);
		asked->types |= 1U << row;
		value += length;
		if (!*value)
			return 0;
	}
}

static int parse_from(const char *value, void *into, struct rf_error *error)
{
	struct rf_events_asked *asked = into;

	asked->is_from = true;
	return rf_parse_prefix(value, &asked->from, error);
}

int rf_parse_events(struct rf_words *words, struct rf_events_asked *asked, struct rf_error *error)
{
	/* sparse: the other values go where their rows say. */
	static const rf_option_parser parsers[RF_EVENTS_OPTIONS] = {
		[RF_OPT_OF] = parse_of,
		[RF_OPT_EVENTS_FROM] = parse_from,
	};
	struct rf_events_asked parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(rf_events_options, parsers, words, &parsed, &given, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed.is_watch && parsed.until)
		err = rf_error_usage(error, "'until': 'watch' goes on until it is interrupted; "
					    "leave out one of the two");
	if (!err)
		err = settle_until(parsed.until, parsed.since_ns, rf_words_now(words),
				   &parsed.until_ns, error);
	if (!err)
		*asked = parsed;
	return err;
}

/* ---- limit try ---- */

/* `since` or `until`, which the words of a limit do not have. */
static int take_moment(struct rf_words *words, int row, struct rf_try *asked,
		       struct rf_error *error)
{
	const struct rf_option *option = &rf_try_options[row];
	const bool is_until = row == RF_OPT_TRY_UNTIL;
	uint64_t time_ns = 0;
	const char *value;

	rf_words_next(words);
	value = rf_words_next(words);
	if (!value)
		return rf_fail_value(option, NULL, error);
	if (is_until ? asked->until != NULL : asked->since_ns != 0)
		return rf_error_usage(error, "'%s': given twice", option->word);
	if (rf_parse_moment(value, rf_words_now(words), &time_ns, error))
		return -EINVAL;
	if (is_until)
		asked->until = value;
	else
		asked->since_ns = time_ns;
	return 0;
}

/* Takes the next word: of a limit, or a time. */
static int take_word(struct rf_words *words, struct rf_try *asked, int *count,
		     struct rf_error *error)
{
	const int row = rf_option_find(rf_try_options, rf_words_peek(words));

	if (row == RF_OPT_TRY_SINCE || row == RF_OPT_TRY_UNTIL)
		return take_moment(words, row, asked, error);
	if (*count == RF_TRY_WORDS)
		return rf_error_usage(error, "'%s': too many words", rf_words_peek(words));
	asked->word[(*count)++] = rf_words_next(words);
	return 0;
}

int rf_parse_try(struct rf_words *words, struct rf_try *asked, struct rf_error *error)
{
	const char *name = rf_take_operand(RF_CMD_LIMIT_TRY, words, error);
	struct rf_words rest;
	int count = 0, err = 0;

	*asked = (struct rf_try){};
	if (!name)
		return -EINVAL;
	asked->word[count++] = name;
	while (!err && rf_words_peek(words))
		err = take_word(words, asked, &count, error);
	rest = (struct rf_words){.word = asked->word, .count = count};
	if (!err)
		err = rf_parse_change(&rest, &asked->change, error);
	if (!err)
		err = rf_words_end(&rest, error);
	if (!err)
		err = settle_until(asked->until, asked->since_ns, rf_words_now(words),
				   &asked->until_ns, error);
	return err;
}

/* ---- suggest ---- */

/* `per /24` is a word of limits: what sources are, is up to the limit that saw them. */
static int fail_grouping(const char *value, struct rf_error *error)
{
	const bool is_ipv6 = atoi(value + 1) > 32;

	return rf_error_usage(error,
			      "'per %s': expects a TIME here, like 1s; sources are grouped as a "
			      "limit groups them, so name one that does so with 'limit NAME', or "
			      "add it: ringfence limit add probe-net rate 50k/1s %s %s shadow",
			      value, is_ipv6 ? "per6" : "per", value);
}

static int parse_per(const char *value, void *into, struct rf_error *error)
{
	if (*value == '/')
		return fail_grouping(value, error);
	return rf_parse_time_in(value, "TIME of a limit", RF_WINDOW_MIN_NS, RF_WINDOW_MAX_NS,
				"1ms-8784h", &((struct rf_suggest_asked *)into)->per_ns, error);
}

int rf_parse_suggest(struct rf_words *words, struct rf_suggest_asked *asked, struct rf_error *error)
{
	/* sparse: the other values go where their rows say. */
	static const rf_option_parser parsers[RF_SUGGEST_OPTIONS] = {
		[RF_OPT_SUGGEST_PER] = parse_per,
	};
	struct rf_suggest_asked parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(rf_suggest_options, parsers, words, &parsed, &given, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed.since_ns && parsed.for_ns)
		err = rf_error_usage(error, "'since' reads the history, and 'for' what comes in "
					    "now; leave out one of them");
	if (!err)
		*asked = parsed;
	return err;
}
