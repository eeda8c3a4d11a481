// SPDX-License-Identifier: GPL-2.0
/* Parses the words after commands with few options: newcomers, allow, deny, apply, stats, top. */
#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"
#include "rules/private.h"

#define DAY_NS (24 * 3600 * RF_NS_PER_S)
#define PAUSE_NS (10 * 60 * RF_NS_PER_S) /* by default */
#define WATCH_SECONDS_MAX 86400

/* ---- times ---- */

int rf_parse_trial(const char *value, uint64_t *time_ns, struct rf_error *error)
{
	return rf_parse_time_in(value, "time to confirm", RF_NS_PER_S, DAY_NS, "1s-24h", time_ns,
				error);
}

static int parse_confirm(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_trial(value, into, error);
}

static int parse_for(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_time_in(value, "time on a list", RF_NS_PER_S, RF_WINDOW_MAX_NS, "1s-8784h",
				into, error);
}

static int parse_pause_for(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_time_in(value, "time of a pause", RF_NS_PER_S, DAY_NS, "1s-24h", into,
				error);
}

/* Parses the only option of a table, which is a time. */
static int parse_time_option(const struct rf_option *table, rf_option_parser parser,
			     struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	unsigned int given = 0;
	uint64_t parsed_ns = 0;
	int err = rf_parse_options(table, &parser, words, &parsed_ns, &given, error);

	if (!err)
		*time_ns = parsed_ns;
	return err;
}

int rf_parse_confirm(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	return parse_time_option(rf_trial_options, parse_confirm, words, time_ns, error);
}

static int parse_arm_trial(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_trial(value, &((struct rf_arm_text *)into)->trial_ns, error);
}

static int parse_arm_force(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_arm_text *)into)->force = true;
	return 0;
}

int rf_parse_arm(struct rf_words *words, struct rf_arm_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_arm_trial, parse_arm_force};
	unsigned int given = 0;

	*text = (struct rf_arm_text){};
	return rf_parse_options(rf_arm_options, parsers, words, text, &given, error);
}

int rf_parse_pause(struct rf_words *words, uint64_t *time_ns, struct rf_error *error)
{
	int err = parse_time_option(rf_pause_options, parse_pause_for, words, time_ns, error);

	if (!err && !*time_ns)
		*time_ns = PAUSE_NS;
	return err;
}

/* ---- lists ---- */

static int parse_list_time(const char *value, void *into, struct rf_error *error)
{
	return parse_for(value, &((struct rf_list_text *)into)->time_ns, error);
}

static int parse_in_fleet(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_list_text *)into)->in_fleet = true;
	return 0;
}

static int parse_replace(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_list_text *)into)->replace = true;
	return 0;
}

static int parse_skip_invalid(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_list_text *)into)->skip_invalid = true;
	return 0;
}

static int parse_force(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_list_text *)into)->force = true;
	return 0;
}

static int parse_list_trial(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_trial(value, &((struct rf_list_text *)into)->trial_ns, error);
}

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
	static const rf_option_parser parsers[] = {parse_list_time, parse_owner};

	return parse_list_text(rf_allow_options, parsers, words, text, error);
}

int rf_parse_deny(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_list_time, parse_owner, parse_in_fleet,
						   parse_force, parse_list_trial};
	int err = parse_list_text(rf_deny_options, parsers, words, text, error);

	if (!err && text->in_fleet && text->trial_ns)
		err = rf_error_usage(error, "'confirm': it undoes nothing on other hosts; leave "
					    "out 'confirm' or 'fleet'");
	return err;
}

int rf_parse_unallow(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owners, parse_force};

	return parse_list_text(rf_unallow_options, parsers, words, text, error);
}

int rf_parse_undeny(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owners, parse_in_fleet};

	return parse_list_text(rf_undeny_options, parsers, words, text, error);
}

int rf_parse_load(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_replace, parse_skip_invalid, parse_owner,
						   parse_force, parse_list_trial};

	return parse_list_text(rf_load_options, parsers, words, text, error);
}

int rf_parse_flush(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owner};

	return parse_list_text(rf_flush_options, parsers, words, text, error);
}

int rf_parse_allow_flush(struct rf_words *words, struct rf_list_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_owner, parse_force};

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

static int parse_skip_refused(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	((struct rf_batch_text *)into)->skip_refused = true;
	return 0;
}

static int parse_batch_trial(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_trial(value, &((struct rf_batch_text *)into)->trial_ns, error);
}

int rf_parse_batch(struct rf_words *words, struct rf_batch_text *text, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_skip_refused, parse_batch_trial};
	unsigned int given = 0;

	*text = (struct rf_batch_text){};
	return rf_parse_options(rf_batch_options, parsers, words, text, &given, error);
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

static int parse_moment(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_moment(value, rf_time_wall(), into, error);
}

int rf_parse_at(struct rf_words *words, uint64_t *at_ns, struct rf_error *error)
{
	int err = parse_time_option(rf_show_options, parse_moment, words, at_ns, error);

	return err ? err : rf_words_end(words, error);
}

static int parse_since(const char *value, void *into, struct rf_error *error)
{
	return parse_moment(value, &((struct rf_report *)into)->since_ns, error);
}

static int parse_until(const char *value, void *into, struct rf_error *error)
{
	return parse_moment(value, &((struct rf_report *)into)->until_ns, error);
}

static int check_report(const struct rf_report *report, struct rf_error *error)
{
	if (report->id && (report->since_ns || report->until_ns))
		return rf_error_usage(error,
				      "'%s': an id has its own times; leave out 'since' "
				      "and 'until'",
				      report->id);
	if (report->until_ns && !report->since_ns)
		return rf_error_usage(error, "'until': expects 'since TIME' as well");
	if (report->until_ns && report->until_ns <= report->since_ns)
		return rf_error_usage(error, "'until': the time is not after that of 'since'");
	return 0;
}

int rf_parse_report(struct rf_words *words, struct rf_report *report, struct rf_error *error)
{
	static const rf_option_parser parsers[] = {parse_since, parse_until};
	const char *next = rf_words_peek(words);
	struct rf_report parsed = {};
	unsigned int given = 0;
	int err;

	if (next && rf_option_find(rf_report_options, next) < 0)
		parsed.id = rf_words_next(words);
	err = rf_parse_options(rf_report_options, parsers, words, &parsed, &given, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = check_report(&parsed, error);
	if (!err)
		*report = parsed;
	return err;
}

/* ---- save, diff, metrics, stats, top ---- */

static int set_true(const char *value, void *into, struct rf_error *error)
{
	(void)value, (void)error;
	*(bool *)into = true;
	return 0;
}

/* Parses the only option of a table, which is a word alone. */
static int parse_word(const struct rf_option *table, struct rf_words *words, bool *given,
		      struct rf_error *error)
{
	static const rf_option_parser parser = set_true;
	unsigned int options = 0;
	bool parsed = false;
	int err = rf_parse_options(table, &parser, words, &parsed, &options, error);

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

static int take_path(const char *value, void *into, struct rf_error *error)
{
	(void)error;
	*(const char **)into = value;
	return 0;
}

int rf_parse_metrics(struct rf_words *words, const char **path, struct rf_error *error)
{
	static const rf_option_parser parser = take_path;
	unsigned int options = 0;
	const char *parsed = NULL;
	int err = rf_parse_options(rf_metrics_options, &parser, words, &parsed, &options, error);

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

static int parse_reasons(const char *value, void *into, struct rf_error *error)
{
	struct rf_stats *stats = into;

	(void)value, (void)error;
	stats->reasons = true;
	return 0;
}

static int parse_total(const char *value, void *into, struct rf_error *error)
{
	struct rf_stats *stats = into;

	(void)value, (void)error;
	stats->total = true;
	return 0;
}

static int parse_reset(const char *value, void *into, struct rf_error *error)
{
	struct rf_stats *stats = into;

	(void)value, (void)error;
	stats->reset = true;
	return 0;
}

static int parse_stats_at(const char *value, void *into, struct rf_error *error)
{
	return parse_moment(value, &((struct rf_stats *)into)->at_ns, error);
}

int rf_parse_stats(struct rf_words *words, struct rf_stats *stats, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_STATS_OPTIONS] = {
		[RF_OPT_WATCH] = parse_watch,	    [RF_OPT_REASONS] = parse_reasons,
		[RF_OPT_TOTAL] = parse_total,	    [RF_OPT_RESET] = parse_reset,
		[RF_OPT_STATS_AT] = parse_stats_at,
	};
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

static int parse_by(const char *value, void *into, struct rf_error *error)
{
	struct rf_top *top = into;
	unsigned int order = RF_BY_DROPS;
	int err = rf_parse_word(&rf_top_options[0], value, &order, error);

	top->order = order;
	return err;
}

static int parse_top_limit(const char *value, void *into, struct rf_error *error)
{
	struct rf_top *top = into;

	(void)error;
	top->limit = value;
	return 0;
}

static int parse_within(const char *value, void *into, struct rf_error *error)
{
	struct rf_top *top = into;

	top->is_within = true;
	return rf_parse_prefix(value, &top->within, error);
}

static int parse_sample(const char *value, void *into, struct rf_error *error)
{
	struct rf_top *top = into;

	return rf_parse_time_in(value, "time to take samples", RF_NS_PER_S, 60 * RF_NS_PER_S,
				"1s-60s", &top->sample_ns, error);
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

static int parse_top_at(const char *value, void *into, struct rf_error *error)
{
	return parse_moment(value, &((struct rf_top *)into)->at_ns, error);
}

int rf_parse_top(struct rf_words *words, struct rf_top *top, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_TOP_OPTIONS] = {
		[RF_OPT_BY] = parse_by,		[RF_OPT_TOP_LIMIT] = parse_top_limit,
		[RF_OPT_WITHIN] = parse_within, [RF_OPT_SAMPLE] = parse_sample,
		[RF_OPT_TOP_AT] = parse_top_at,
	};
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

/* Parses the words after `attach`. */

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

static int parse_attach_trial(const char *value, void *into, struct rf_error *error)
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

static int parse_attach_replace(const char *value, void *into, struct rf_error *error)
{
	struct rf_attach *attach = into;

	(void)value, (void)error;
	attach->replace = true;
	return 0;
}

/* sparse: `dev` has no parser, the word after it is read as an interface. */
static const rf_option_parser attach_parsers[RF_ATTACH_OPTIONS] = {
	[RF_OPT_FENCE] = parse_fence,
	[RF_OPT_MODE] = parse_mode,
	[RF_OPT_SOURCES] = parse_sources,
	[RF_OPT_LEASES] = parse_leases,
	[RF_OPT_CONFIRM] = parse_attach_trial,
	[RF_OPT_CHAIN] = parse_chain,
	[RF_OPT_REPLACE] = parse_attach_replace,
	[RF_OPT_FLEET] = parse_fleet,
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
