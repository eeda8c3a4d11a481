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
#include "cli/view.h"
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

/*
 * A limit of rate 0 has no windows, and the level of a bucket is not the amount received in a TIME.
 */
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

/* The named limit has no peaks: adds the command for a window limit with the same matches. */
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
 * The requested limit; else the first that sees every packet, or the first, of those with the
 * requested TIME. -ENODATA: none, with the shadow to add. Free `limit` anyway.
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
			"no limit records peaks: limits of rate 0 and buckets do not; add a "
			"sliding window as a shadow: ringfence limit add probe rate 50k/1s shadow");
	err = rf_limit_definition(rules, slot, limit, error);
	if (!err && rf_has_burst(&limit->limit))
		return fail_bucket(rules, limit, asked->per_ns, error);
	if (!err && asked->per_ns && limit->limit.window_ns != asked->per_ns)
		err = fail_other_time(rules, limit, asked->per_ns, error);
	return err;
}

#define HOUR_NS (3600 * RF_NS_PER_S)
#define DAY_NS (24 * HOUR_NS - 60 * RF_NS_PER_S) /* one or two intervals can be late */
#define HOURS_LEAST 12				 /* of a day, that were not left out */
#define INTERVAL_NS (10 * RF_NS_PER_S)
#define FLOODS_MAX 64
#define SCANS_LEAST_NS (100 * RF_NS_PER_MS)

struct flood {
	uint64_t from_ns, to_ns;
	char id[RF_EVENT_ID_SIZE];
};

struct quantile {
	double part, used;
};

#define NO_RATIO (-1.0) /* of packets, where the unit is bytes */

struct suggesting {
	const char *fence;
	const struct rf_suggest_asked *asked;
	struct rf_ruleset rules;
	struct rf_definition limit; /* whose sources were seen */
	uint64_t from_ns, to_ns;
	uint64_t first_ns; /* when the first source was recorded; 0: none was */
	struct flood flood[FLOODS_MAX];
	int floods;
	struct rf_suggest suggest;
	struct rf_suggestion found;
	struct quantile quantile[RF_SUGGEST_QUANTILES];
	int quantiles, rates;
	bool is_enough, is_at_least;
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

struct probe {
	const char *suggested, *command; /* the former is NULL */
};

static const struct rf_field probe_fields[] = {
	RF_FIELD("suggested", struct probe, suggested, "null", .or_null = true),
	RF_FIELD("command", struct probe, command, "adds a shadow that sees all sources"),
	{},
};

/* Without a limit no source is seen: prints what to type, and is no error. */
static int say_probe(bool json, struct rf_error *error)
{
	if (json)
		return rf_out_record(probe_fields, &(struct probe){.command = RF_PROBE_COMMAND},
				     error);
	rf_out("first:  ringfence " RF_PROBE_COMMAND "\n");
	rf_out_text("Without a limit, sources are not tracked. This one drops no packets, and "
		    "tracks them.\n");
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

/* Did the interval that stops at that time overlap a flood? */
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

static void print_quantiles(const struct suggesting *suggesting)
{
	const struct rf_suggestion *found = &suggesting->found;
	char number[RF_GROUPED_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE], line[256];
	size_t at = 0;

	rf_format_for(suggesting->limit.limit.window_ns, time);
	format_number(found->sources, number);
	at += snprintf(line + at, sizeof(line) - at, "%s sources, %sany %s:", number,
		       is_of_bytes(suggesting) ? "bytes in " : "", time);
	for (int i = 0; i < suggesting->quantiles; i++) {
		format_number(suggesting->quantile[i].used, number);
		at += snprintf(line + at, sizeof(line) - at, "  %.4g%% ≤%s",
			       suggesting->quantile[i].part * 100, number);
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

static void print_at_least(const struct suggesting *suggesting)
{
	const char *name = suggesting->limit.limit.name;
	char rate[RF_RATE_TEXT_SIZE + 8];

	format_rate(suggesting, suggesting->limit.limit.rate, rate);
	rf_out_text("this is a minimum: sources fill limit '%s' (%s), and how much they would send "
		    "is unknown; with this shadow, 'ringfence suggest limit NAME' measures it\n",
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
	if (suggesting->is_enough)
		rf_out("suggested %s; first:  ringfence %s\n", rate, suggesting->command);
	else
		rf_out("so far %s, after less than 24 hours; as a shadow:  ringfence %s\n", rate,
		       suggesting->command);
	if (suggesting->is_at_least)
		print_at_least(suggesting);
}

/* ---- for programs ---- */

static const struct rf_field flood_fields[] = {
	RF_FIELD_OF_TIME("from", struct flood, from_ns, "UTC", .or_null = true),
	RF_FIELD_OF_TIME("until", struct flood, to_ns, "UTC", .or_null = true),
	RF_FIELD("id", struct flood, id, "of the flood"),
	{},
};

static const struct suggesting *suggesting_of(const void *of)
{
	return of;
}

static bool is_seen(const void *of)
{
	return suggesting_of(of)->found.sources > 0;
}

static bool has_ratio(const void *of)
{
	return ((const struct rf_suggest_rate *)of)->packets_ratio != NO_RATIO;
}

static json_t *make_unit(const void *of)
{
	return json_string(rf_unit_name(suggesting_of(of)->limit.limit.unit));
}

static const struct rf_field quantile_fields[] = {
	RF_FIELD("quantile", struct quantile, part, "of the sources"),
	RF_FIELD("used", struct quantile, used, "they used no more in TIME"),
	{},
};

static const struct rf_field rate_fields[] = {
	RF_FIELD("rate", struct rf_suggest_rate, rate, "COUNT"),
	RF_FIELD("sources", struct rf_suggest_rate, sources, "over it"),
	RF_FIELD("packets_ratio", struct rf_suggest_rate, packets_ratio,
		 "over it, of all packets; null: bytes", .has = has_ratio, .or_null = true),
	RF_FIELD_ARRAY("worst", struct rf_suggest_rate, worst, named, RF_FIELD_PREFIX, NULL,
		       "empty if there are more than three"),
	{},
};

static const struct rf_field suggest_fields[] = {
	RF_FIELD("fence", struct suggesting, fence, "its name"),
	RF_FIELD("limit", struct suggesting, limit.limit.name, "whose sources these are"),
	RF_FIELD_MADE("unit", RF_FIELD_TEXT, make_unit, "of COUNT: packets or bytes"),
	RF_FIELD_OF_NS("window_ms", struct suggesting, limit.limit.window_ns, "TIME of the limit"),
	RF_FIELD_OF_TIME("from", struct suggesting, from_ns, "the first time, UTC",
			 .or_null = true),
	RF_FIELD_OF_TIME("until", struct suggesting, to_ns, "the last time, UTC", .or_null = true),
	RF_FIELD("hours", struct suggesting, found.hours, "that have packets"),
	RF_FIELD("sources", struct suggesting, found.sources, "that sent, estimated"),
	RF_FIELD_OBJECTS("quantiles", struct suggesting, quantile, quantiles, quantile_fields,
			 "0.5, 0.9, 0.99, 0.999"),
	RF_FIELD("max", struct suggesting, found.most, "the most that a source used"),
	RF_FIELD_OBJECTS("excluded", struct suggesting, flood, floods, flood_fields, "floods"),
	RF_FIELD_OBJECTS("rates", struct suggesting, found.row, rates, rate_fields,
			 "below the suggested one, and that one"),
	RF_FIELD("before_rounding", struct suggesting, found.before_rounding,
		 "twice the median of the hours"),
	RF_FIELD("suggested", struct suggesting, found.rate, "COUNT; null: no packet was seen",
		 .has = is_seen, .or_null = true),
	RF_FIELD("enough", struct suggesting, is_enough, "24 hours were recorded"),
	RF_FIELD("at_least", struct suggesting, is_at_least,
		 "sources fill the limit: the rate is a minimum"),
	RF_FIELD("command", struct suggesting, command, "adds the limit as a shadow",
		 .has = is_seen, .or_null = true),
	{},
};

RF_RECORD(suggest, suggest_fields);

/* ---- the command ---- */

/* The limit of the suggested rate, named after the traffic it sees. */
static int make_command(struct suggesting *suggesting, struct rf_error *error)
{
	struct rf_definition limit = suggesting->limit;

	limit.limit.rate = suggesting->found.rate;
	limit.limit.flags &= ~(RF_RATE_IN_BITS | RF_COUNT_REJECTED);
	if (is_of_bytes(suggesting) && !suggesting->is_at_least) {
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

/* A window never holds more than COUNT: what sources that filled it would send is not known. */
static bool is_filled(const struct suggesting *suggesting)
{
	const double peak = suggesting->found.before_rounding / 2;

	return peak >= 0.9 * suggesting->limit.limit.rate;
}

static int finish(struct suggesting *suggesting, struct rf_error *error)
{
	struct rf_suggestion *found = &suggesting->found;

	if (rf_suggest_finish(&suggesting->suggest, found))
		return fail_memory(error);
	suggesting->is_enough = suggesting->first_ns &&
				suggesting->to_ns - suggesting->first_ns >= DAY_NS &&
				found->hours >= HOURS_LEAST;
	suggesting->is_at_least = is_seen(suggesting) && is_filled(suggesting);
	suggesting->quantiles = RF_SUGGEST_QUANTILES;
	for (int i = 0; i < RF_SUGGEST_QUANTILES; i++)
		suggesting->quantile[i] =
			(struct quantile){rf_suggest_quantiles[i], found->quantile[i]};
	suggesting->rates = is_seen(suggesting) ? RF_SUGGEST_ROWS : 0;
	for (int i = 0; i < RF_SUGGEST_ROWS && is_of_bytes(suggesting); i++)
		found->row[i].packets_ratio = NO_RATIO;
	return make_command(suggesting, error);
}

static int print_suggestion(struct suggesting *suggesting, bool json, struct rf_error *error)
{
	const int err = finish(suggesting, error);

	if (!err && json)
		return rf_out_record(suggest_fields, suggesting, error);
	if (!err)
		print_text(suggesting);
	return err;
}

static int suggest_recorded(const struct rf_options *options, const struct rf_suggest_asked *asked,
			    struct rf_error *error)
{
	char fence[RF_NAME_SIZE];
	struct suggesting suggesting = {.fence = fence, .asked = asked, .to_ns = rf_time_wall()};
	struct rf_reader *reader;
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
			err = print_suggestion(&suggesting, options->json, error);
	}
	free_suggesting(&suggesting);
	rf_reader_close(reader);
	return err;
}

static int suggest_live(const struct rf_fence *fence, const struct rf_options *options,
			const struct rf_suggest_asked *asked, struct rf_error *error)
{
	struct suggesting suggesting = {
		.fence = fence->name, .asked = asked, .from_ns = rf_time_wall()};
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
			err = print_suggestion(&suggesting, options->json, error);
	}
	rf_scanner_close(scanner);
	free_suggesting(&suggesting);
	return err;
}

/* Is there a fence without limits? Then that comes first, whether or not there is a history. */
static bool is_fresh(const struct rf_options *options)
{
	struct rf_view view = RF_VIEW_NONE;
	struct rf_error unused;
	const bool fresh = !rf_view_open(&view, options->dev, RF_RULES_IN_FORCE, &unused) &&
			   !rf_bank_count(&view.rules.set.bank);

	rf_view_close(&view);
	return fresh;
}

int rf_cmd_suggest(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_suggest_asked asked;
	int err = rf_parse_arguments(RF_CMD_SUGGEST, words, &asked, error);

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
