// SPDX-License-Identifier: GPL-2.0
/* suggest: which limit would be right */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "base/units.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "fence/find.h"
#include "rules/advice.h"
#include "rules/grammar.h"
#include "rules/policy.h"
#include "rules/ruleset.h"
#include "snapshot/snapshot.h"
#include "watch/reader.h"
#include "watch/suggest.h"

#define PROBE_BYTES 500000000 /* COUNT of a shadow that is to see peaks of bytes */

/* ---- whose sources are looked at ---- */

/* Does the limit see every packet? */
static bool sees_all(const struct rf_limit *limit)
{
	return limit->match == RF_MATCH_ANY && !limit->has_ports && !limit->has_sports &&
	       !limit->has_from && !limit->has_to && !limit->length_max && !limit->tcp_mask;
}

/* A limit of rate 0 has no windows, and the level of a bucket is not what came in a TIME. */
static bool has_peaks(const struct rf_limit *limit, uint64_t per_ns)
{
	return limit->rate && !rf_has_burst(limit) && (!per_ns || limit->window_ns == per_ns);
}

static int choose_slot(const struct rf_bank *rules, uint64_t per_ns)
{
	int slots[RF_LIMITS_MAX], chosen = -ENOENT;
	const int count = rf_bank_slots(rules, slots);

	for (int i = count - 1; i >= 0; i--)
		if (has_peaks(&rules->limit[slots[i]], per_ns))
			chosen = slots[i];
	for (int i = count - 1; i >= 0; i--)
		if (sees_all(&rules->limit[slots[i]]) && has_peaks(&rules->limit[slots[i]], per_ns))
			chosen = slots[i];
	return chosen;
}

/* ---- where none will do ---- */

static int fail_no_time(uint64_t per_ns, struct rf_error *error)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_for(per_ns, time);
	return rf_error_failed(error, -ENODATA,
			       "'per %s': no limit has this TIME, and peaks are only known for the "
			       "TIME of a limit; add one as a shadow: ringfence limit add probe-%s "
			       "rate 50k/%s shadow",
			       time, time, time);
}

/* A sliding window with the packets of the limit and this TIME; NULL: there is no memory. */
static char *probe_command(const struct rf_ruleset *rules, const struct rf_definition *limit,
			   uint64_t per_ns)
{
	struct rf_definition probe = *limit;

	probe.limit.window_ns = per_ns;
	probe.limit.rate = probe.limit.unit == RF_BYTES ? PROBE_BYTES : RF_PROBE_COUNT;
	probe.limit.flags &= ~(RF_RATE_IN_BITS | RF_COUNT_REJECTED);
	if (rf_has_burst(&probe.limit)) {
		probe.limit.algorithm = RF_SLIDING;
		probe.limit.cells = rf_default_cells(&probe.limit);
		probe.limit.burst = 0;
	}
	return rf_shadow_command(rules, &probe, limit->limit.name);
}

/* The limit that is named shows no peaks: a window beside it would. */
static int fail_bucket(const struct rf_ruleset *rules, const struct rf_definition *limit,
		       uint64_t per_ns, struct rf_error *error)
{
	char *command = probe_command(rules, limit, per_ns ?: limit->limit.window_ns);
	const int err = rf_error_failed(
		error, command ? -ENODATA : -ENOMEM,
		"limit '%s': its 'algorithm %s' does not record peaks in TIME; add a sliding "
		"window as a shadow: ringfence %s",
		limit->limit.name, rf_algorithm_name(limit->limit.algorithm), command ?: "…");

	free(command);
	return err;
}

/* The limit that is named has another TIME: one with the same packets and this TIME would do. */
static int fail_other_time(const struct rf_ruleset *rules, const struct rf_definition *limit,
			   uint64_t per_ns, struct rf_error *error)
{
	char asked[RF_DURATION_TEXT_SIZE], its[RF_DURATION_TEXT_SIZE];
	char *command = probe_command(rules, limit, per_ns);
	int err;

	rf_format_for(per_ns, asked);
	rf_format_for(limit->limit.window_ns, its);
	if (!command)
		return fail_no_time(per_ns, error);
	err = rf_error_failed(error, -ENODATA,
			      "'per %s': the TIME of limit '%s' is %s, and peaks are only known "
			      "for that; leave out 'per', or add a shadow: ringfence %s",
			      asked, limit->limit.name, its, command);
	free(command);
	return err;
}

/*
 * The limit that is asked for; else the first that sees every packet, or the first, of those with
 * the TIME that is asked for. -ENODATA: none, with the shadow to add. Free `limit` anyway.
 */
static int suggest_limit(const struct rf_ruleset *rules, const struct rf_suggest_asked *asked,
			 struct rf_definition *limit, struct rf_error *error)
{
	const int slot = asked->limit ? rf_bank_find(&rules->bank, asked->limit)
				      : choose_slot(&rules->bank, asked->per_ns);
	int err;

	if (slot < 0 && asked->limit)
		return rf_fail_no_limit(&rules->bank, asked->limit, "", error);
	if (slot < 0 && asked->per_ns)
		return fail_no_time(asked->per_ns, error);
	if (slot < 0 || !rules->bank.limit[slot].rate)
		return rf_error_failed(
			error, -ENODATA,
			"no limit records peaks: those of rate 0 and buckets do not; "
			"add another one as a shadow: ringfence limit add probe "
			"rate 50k/1s shadow");
	err = rf_limit_definition(rules, slot, limit, error);
	if (!err && rf_has_burst(&limit->limit))
		return fail_bucket(rules, limit, asked->per_ns, error);
	if (!err && asked->per_ns && limit->limit.window_ns != asked->per_ns)
		err = fail_other_time(rules, limit, asked->per_ns, error);
	return err;
}

#define HOUR_NS (3600 * RF_NS_PER_S)
#define DAY_NS (24 * HOUR_NS - 60 * RF_NS_PER_S) /* an interval or two may be late */
#define HOURS_LEAST 12				 /* of a day, that were not left out */
#define INTERVAL_NS (10 * RF_NS_PER_S)
#define FLOODS_MAX 64
#define SCANS_LEAST_NS (100 * RF_NS_PER_MS)

struct flood {
	uint64_t from_ns, to_ns;
	char id[RF_EVENT_ID_SIZE];
};

struct suggesting {
	const struct rf_suggest_asked *asked;
	struct rf_ruleset rules;
	struct rf_definition limit; /* whose sources were seen */
	uint64_t from_ns, to_ns;
	uint64_t first_ns; /* when the first source was recorded; 0: none was */
	struct flood flood[FLOODS_MAX];
	int floods;
	struct rf_suggest suggest;
	struct rf_suggestion found;
	char *command;
};

static void free_suggesting(struct suggesting *suggesting)
{
	rf_suggest_free(&suggesting->suggest);
	rf_definition_free(&suggesting->limit);
	rf_ruleset_free(&suggesting->rules);
	free(suggesting->command);
}

/* ---- a fresh fence ---- */

/* Without a limit no source is seen: says what to type, and is no error. */
static int say_probe(bool json, struct rf_error *error)
{
	if (json)
		return rf_out_json(
			json_pack("{s:n, s:s}", "suggested", "command", RF_PROBE_COMMAND), false,
			error);
	rf_out("first:  ringfence " RF_PROBE_COMMAND "\n");
	rf_out_text("There is no limit, so nothing is known of single sources. This one drops "
		    "nothing, and lets them be seen.\n");
	return 0;
}

/* ---- from the history ---- */

static int note_flood(void *context, const struct rf_recorded_event *event)
{
	struct suggesting *suggesting = context;
	struct flood *last = suggesting->floods ? &suggesting->flood[suggesting->floods - 1] : NULL;

	if (!strcmp(event->type, "flood_ended") && last && !strcmp(last->id, event->id))
		last->to_ns = event->time_ns;
	if (strcmp(event->type, "flood_started") != 0 || suggesting->floods == FLOODS_MAX)
		return 0;
	last = &suggesting->flood[suggesting->floods++];
	last->from_ns = event->first_seen_ns ?: event->time_ns;
	last->to_ns = suggesting->to_ns;
	snprintf(last->id, sizeof(last->id), "%s", event->id);
	return 0;
}

/* Did the interval that ends then overlap a flood? */
static bool is_flooded(const struct suggesting *suggesting, uint64_t time_ns)
{
	for (int i = 0; i < suggesting->floods; i++)
		if (time_ns > suggesting->flood[i].from_ns &&
		    time_ns < suggesting->flood[i].to_ns + INTERVAL_NS)
			return true;
	return false;
}

static uint64_t times256(const struct rf_limit *limit, uint64_t length_ns)
{
	const uint64_t times = (unsigned __int128)length_ns * 256 / limit->window_ns;

	return times > 256 ? times : 256;
}

static int note_peak(void *context, const struct rf_recorded_peak *peak)
{
	struct suggesting *suggesting = context;
	const struct rf_limit *limit = &suggesting->limit.limit;
	const struct rf_suggest_row row = {
		.source = peak->source,
		.hour = peak->time_ns / HOUR_NS,
		.share = peak->share,
		.used = peak->used * limit->rate,
		.packets = peak->packets,
		.times256 = times256(limit, INTERVAL_NS),
	};

	if (!suggesting->first_ns)
		suggesting->first_ns = peak->time_ns;
	if (is_flooded(suggesting, peak->time_ns))
		return 0;
	return rf_suggest_note(&suggesting->suggest, &row);
}

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot suggest: %s", strerror(ENOMEM));
}

static int read_history(struct rf_reader *reader, struct suggesting *suggesting,
			struct rf_error *error)
{
	const uint64_t from_ns = suggesting->from_ns, to_ns = suggesting->to_ns;
	const struct rf_asked asked = {.from_ns = from_ns, .to_ns = to_ns};
	int err = rf_reader_events(reader, RF_ASK_EVENTS, &asked, note_flood, suggesting, error);

	if (!err)
		err = rf_reader_each_peak(reader, suggesting->limit.limit.name, from_ns, to_ns,
					  note_peak, suggesting, error);
	if (!err && !suggesting->first_ns)
		err = rf_check_sources_kept(reader, suggesting->limit.limit.name, from_ns, to_ns,
					    error);
	return err == -ENOMEM ? fail_memory(error) : err;
}

/* ---- from what comes in ---- */

static int note_snapshot(struct suggesting *suggesting, const struct rf_snapshot *snapshot)
{
	const struct rf_limit *limit = &suggesting->limit.limit;
	int err = 0;

	for (size_t i = 0; i < snapshot->sources.count && !err; i++) {
		const struct rf_source_row *source = &snapshot->sources.row[i];
		const struct rf_suggest_row row = {
			.source = source->source,
			.share = 1,
			.used = source->used,
			.packets = source->new_passed + source->new_dropped,
			.times256 = times256(limit, snapshot->since_ns),
		};

		if (!strcmp(source->limit->name, limit->name) && row.packets)
			err = rf_suggest_note(&suggesting->suggest, &row);
	}
	return err;
}

/* Twice in a TIME, or a peak is missed; but no more often than is reasonable. */
static uint64_t interval_ns(const struct rf_limit *limit)
{
	const uint64_t quarter_ns = limit->window_ns / 4;

	if (quarter_ns < SCANS_LEAST_NS)
		return SCANS_LEAST_NS;
	return quarter_ns < RF_NS_PER_S ? quarter_ns : RF_NS_PER_S;
}

static void sleep_ns(uint64_t time_ns)
{
	const struct timespec time = {time_ns / RF_NS_PER_S, time_ns % RF_NS_PER_S};

	nanosleep(&time, NULL);
}

static int watch_scans(struct rf_scanner *scanner, struct suggesting *suggesting,
		       struct rf_error *error)
{
	const uint64_t began_ns = rf_time_awake(), for_ns = suggesting->asked->for_ns;
	bool is_first = true;
	int err = 0;

	while (!err && rf_time_awake() - began_ns < for_ns) {
		struct rf_snapshot snapshot;

		err = rf_scan(scanner, &snapshot, error);
		if (!err && !is_first && note_snapshot(suggesting, &snapshot))
			err = fail_memory(error);
		rf_snapshot_free(&snapshot);
		is_first = false;
		sleep_ns(interval_ns(&suggesting->limit.limit));
		rf_out_progress((rf_time_awake() - began_ns) / RF_NS_PER_MS, for_ns / RF_NS_PER_MS);
	}
	suggesting->to_ns = rf_time_wall();
	return err;
}

/* ---- text ---- */

static void format_number(double number, char text[RF_GROUPED_TEXT_SIZE])
{
	rf_format_grouped(number + 0.5, text);
}

static bool is_of_bytes(const struct suggesting *suggesting)
{
	return suggesting->limit.limit.unit == RF_BYTES;
}

static void format_rate(const struct suggesting *suggesting, uint64_t rate,
			char text[RF_RATE_TEXT_SIZE + 8])
{
	char number[RF_RATE_TEXT_SIZE];

	rf_format_rate(rate, suggesting->limit.limit.window_ns, number);
	snprintf(text, RF_RATE_TEXT_SIZE + 8, "%s%s", number,
		 is_of_bytes(suggesting) ? " bytes" : "");
}

/* A window never holds more than COUNT: of sources that filled it nobody knows what they wanted. */
static bool is_at_least(const struct suggesting *suggesting)
{
	const double peak = suggesting->found.before_rounding / 2;

	return peak >= 0.9 * suggesting->limit.limit.rate;
}

static void print_quantiles(const struct suggesting *suggesting)
{
	const struct rf_suggestion *found = &suggesting->found;
	char number[RF_GROUPED_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE], line[256];
	size_t at = 0;

	rf_format_for(suggesting->limit.limit.window_ns, time);
	format_number(found->sources, number);
	at += snprintf(line + at, sizeof(line) - at, "%s sources, %sany %s:", number,
		       is_of_bytes(suggesting) ? "bytes in " : "", time);
	for (int i = 0; i < RF_SUGGEST_QUANTILES; i++) {
		format_number(found->quantile[i], number);
		at += snprintf(line + at, sizeof(line) - at, "  %.4g%% ≤%s",
			       rf_suggest_quantiles[i] * 100, number);
	}
	format_number(found->most, number);
	snprintf(line + at, sizeof(line) - at, "  most %s", number);
	rf_out_text("%s\n", line);
}

static void print_floods(const struct suggesting *suggesting)
{
	for (int i = 0; i < suggesting->floods; i++) {
		const struct flood *flood = &suggesting->flood[i];
		char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];

		rf_format_local(flood->from_ns, from);
		rf_format_local(flood->to_ns, to);
		rf_out("left out: %s-%.5s (flood %s)\n", from, to + RF_DATE_LENGTH + 1, flood->id);
	}
}

static void print_rates(const struct suggesting *suggesting)
{
	const bool of_bytes = is_of_bytes(suggesting);

	rf_out(of_bytes ? "%-18s %14s\n" : "%-12s %14s %18s\n", "rate", "sources over",
	       "of all packets");
	for (int i = 0; i < RF_SUGGEST_ROWS; i++) {
		const struct rf_suggest_rate *row = &suggesting->found.row[i];
		char rate[RF_RATE_TEXT_SIZE + 8], sources[RF_GROUPED_TEXT_SIZE];

		format_rate(suggesting, row->rate, rate);
		format_number(row->sources, sources);
		rf_out(of_bytes ? "%-18s %14s" : "%-12s %14s %17.2f%%", rate, sources,
		       row->packets_ratio * 100);
		for (int j = 0; j < row->named; j++) {
			char source[RF_PREFIX_TEXT_SIZE];

			rf_format_prefix(&row->worst[j], source);
			rf_out("%s%s", j ? ", " : "  ", source);
		}
		rf_out("\n");
	}
}

static bool is_enough(const struct suggesting *suggesting)
{
	return suggesting->first_ns && suggesting->to_ns - suggesting->first_ns >= DAY_NS &&
	       suggesting->found.hours >= HOURS_LEAST;
}

static void print_at_least(const struct suggesting *suggesting)
{
	const char *name = suggesting->limit.limit.name;
	char rate[RF_RATE_TEXT_SIZE + 8];

	format_rate(suggesting, suggesting->limit.limit.rate, rate);
	rf_out_text("that is the least: sources fill limit '%s' (%s), so what they would send is "
		    "not known; with this shadow, 'ringfence suggest limit NAME' tells more\n",
		    name, rate);
}

static void print_text(const struct suggesting *suggesting)
{
	char rate[RF_RATE_TEXT_SIZE + 8];

	if (!suggesting->suggest.map.count) {
		rf_out_text("no source sent a packet that limit '%s' counts\n",
			    suggesting->limit.limit.name);
		return;
	}
	print_quantiles(suggesting);
	print_floods(suggesting);
	print_rates(suggesting);
	format_rate(suggesting, suggesting->found.rate, rate);
	if (is_enough(suggesting))
		rf_out("suggested %s; first:  ringfence %s\n", rate, suggesting->command);
	else
		rf_out("so far %s, after less than 24 hours; as a shadow:  ringfence %s\n", rate,
		       suggesting->command);
	if (is_at_least(suggesting))
		print_at_least(suggesting);
}

/* ---- JSON ---- */

static json_t *floods_json(const struct suggesting *suggesting)
{
	json_t *list = json_array();

	for (int i = 0; i < suggesting->floods; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "from",
						rf_json_time(suggesting->flood[i].from_ns), "until",
						rf_json_time(suggesting->flood[i].to_ns), "id",
						rf_json_text(suggesting->flood[i].id)));
	return list;
}

static json_t *rates_json(const struct suggesting *suggesting)
{
	json_t *list = json_array();

	for (int i = 0; i < RF_SUGGEST_ROWS && suggesting->found.sources > 0; i++) {
		const struct rf_suggest_rate *row = &suggesting->found.row[i];
		json_t *worst = json_array();

		for (int j = 0; j < row->named; j++) {
			char source[RF_PREFIX_TEXT_SIZE];

			rf_format_prefix(&row->worst[j], source);
			json_array_append_new(worst, json_string(source));
		}
		json_array_append_new(
			list, json_pack("{s:I, s:f, s:o, s:o}", "rate", (json_int_t)row->rate,
					"sources", row->sources, "packets_ratio",
					is_of_bytes(suggesting) ? json_null()
								: json_real(row->packets_ratio),
					"worst", worst));
	}
	return list;
}

static json_t *quantiles_json(const struct suggesting *suggesting)
{
	json_t *list = json_array();

	for (int i = 0; i < RF_SUGGEST_QUANTILES; i++)
		json_array_append_new(list, json_pack("{s:f, s:f}", "part", rf_suggest_quantiles[i],
						      "used", suggesting->found.quantile[i]));
	return list;
}

static json_t *make_json(const char *fence, const struct suggesting *suggesting)
{
	const struct rf_suggestion *found = &suggesting->found;
	const bool is_seen = found->sources > 0;

	return json_pack(
		"{s:o, s:s, s:s, s:I, s:o, s:o, s:i, s:f, s:o, s:f, s:o, s:o, s:f, s:o, s:b, s:b, "
		"s:o}",
		"fence", rf_json_text(fence), "limit", suggesting->limit.limit.name, "unit",
		rf_unit_name(suggesting->limit.limit.unit), "window_ms",
		(json_int_t)(suggesting->limit.limit.window_ns / RF_NS_PER_MS), "from",
		rf_json_time(suggesting->from_ns), "until", rf_json_time(suggesting->to_ns),
		"hours", found->hours, "sources", found->sources, "quantiles",
		quantiles_json(suggesting), "most", found->most, "left_out",
		floods_json(suggesting), "rates", rates_json(suggesting), "before_rounding",
		found->before_rounding, "suggested",
		is_seen ? json_integer(found->rate) : json_null(), "enough", is_enough(suggesting),
		"at_least", is_seen && is_at_least(suggesting), "command",
		is_seen ? json_string(suggesting->command) : json_null());
}

/* ---- the command ---- */

/* The limit of the suggested rate, under the name of what it sees. */
static int make_command(struct suggesting *suggesting, struct rf_error *error)
{
	struct rf_definition limit = suggesting->limit;

	limit.limit.rate = suggesting->found.rate;
	limit.limit.flags &= ~(RF_RATE_IN_BITS | RF_COUNT_REJECTED);
	if (is_of_bytes(suggesting) && !is_at_least(suggesting)) {
		/* A window was needed to see the peaks; TCP is better limited by a bucket. */
		limit.limit.algorithm = rf_default_algorithm(&limit.limit);
		limit.limit.edge = RF_EDGE_STRICT;
		limit.limit.cells = rf_default_cells(&limit.limit);
		limit.limit.burst = rf_default_burst(&limit.limit);
	}
	suggesting->command =
		rf_shadow_command(&suggesting->rules, &limit,
				  sees_all(&limit.limit) ? "any" : suggesting->limit.limit.name);
	return suggesting->command ? 0 : fail_memory(error);
}

static int tell(const char *fence, struct suggesting *suggesting, bool json, struct rf_error *error)
{
	int err = rf_suggest_finish(&suggesting->suggest, &suggesting->found);

	if (err)
		return fail_memory(error);
	err = make_command(suggesting, error);
	if (err)
		return err;
	if (json)
		return rf_out_json(make_json(fence, suggesting), false, error);
	print_text(suggesting);
	return 0;
}

static int suggest_recorded(const struct rf_options *options, const struct rf_suggest_asked *asked,
			    struct rf_error *error)
{
	struct suggesting suggesting = {.asked = asked, .to_ns = rf_time_wall()};
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	uint64_t since_ns;
	int err = rf_recorded_open(options, &reader, fence, error);

	suggesting.from_ns = asked->since_ns ?: suggesting.to_ns - 24 * HOUR_NS;
	if (!err)
		err = rf_recorded_limits(reader, suggesting.to_ns, &suggesting.rules, &since_ns,
					 error);
	if (!err && !rf_bank_count(&suggesting.rules.bank)) {
		err = say_probe(options->json, error);
	} else if (!err) {
		err = suggest_limit(&suggesting.rules, asked, &suggesting.limit, error);
		if (!err)
			err = read_history(reader, &suggesting, error);
		if (!err)
			err = tell(fence, &suggesting, options->json, error);
	}
	free_suggesting(&suggesting);
	rf_reader_close(reader);
	return err;
}

static int suggest_live(const struct rf_fence *fence, const struct rf_options *options,
			const struct rf_suggest_asked *asked, struct rf_error *error)
{
	struct suggesting suggesting = {.asked = asked, .from_ns = rf_time_wall()};
	struct rf_scanner *scanner = NULL;
	int err = rf_fence_ruleset(fence, &suggesting.rules, error);

	if (!err && !rf_bank_count(&suggesting.rules.bank)) {
		err = say_probe(options->json, error);
	} else if (!err) {
		err = suggest_limit(&suggesting.rules, asked, &suggesting.limit, error);
		scanner = err ? NULL : rf_scanner_open(fence->interface[0].name, error);
		if (!err && !scanner)
			err = -EIO;
		if (!err)
			err = watch_scans(scanner, &suggesting, error);
		if (!err)
			err = tell(fence->name, &suggesting, options->json, error);
	}
	rf_scanner_close(scanner);
	free_suggesting(&suggesting);
	return err;
}

/* Is there a fence without limits? Then that comes first, whether or not there is a history. */
static bool is_fresh(const struct rf_options *options)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error unused;
	const bool fresh = !rf_fence_open(&fence, options->dev, &unused) &&
			   !rf_fence_ruleset(&fence, &rules, &unused) &&
			   !rf_bank_count(&rules.bank);

	rf_ruleset_free(&rules);
	rf_fence_close(&fence);
	return fresh;
}

int rf_cmd_suggest(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_suggest_asked asked;
	int err = rf_parse_suggest(words, &asked, error);

	if (err)
		return err;
	if (is_fresh(options))
		return say_probe(options->json, error);
	if (!asked.for_ns)
		return suggest_recorded(options, &asked, error);
	err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = suggest_live(&fence, options, &asked, error);
	rf_fence_close(&fence);
	return err;
}
