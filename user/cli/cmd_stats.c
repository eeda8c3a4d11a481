// SPDX-License-Identifier: GPL-2.0
/* stats, stats watch, stats total, stats reset */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"
#include "fence/find.h"
#include "rules/policy.h"
#include "screen/canvas.h"
#include "screen/terminal.h"
#include "snapshot/records.h"
#include "snapshot/totals.h"

#define HEADER_LINES 20
#define SPARK_MOST 12 /* columns of the sparkline, a second each */

/* Columns. A sparkline is for a terminal only; a narrow one has it in what others leave. */
struct widths {
	int first; /* the time, or a fence's name */
	int count; /* passed/s, dropped/s */
	int spark; /* 0: none */
};

/* A fence, and its last two readings. */
struct watched {
	struct rf_fence fence;
	struct rf_totals reading[2]; /* the last one, and the one before it */
	unsigned int readings;
	uint64_t read_ns; /* when */
	struct rf_stats_line line;
	struct rf_ring ring; /* packets a second, by lines */
};

struct watch {
	struct watched *of;
	int count;
	bool several; /* there were several when the watch started */
	const struct rf_stats *asked;
	bool json;
	struct widths widths;
	bool is_utf8;
};

static const struct rf_totals *totals_now(const struct watched *one)
{
	return &one->reading[one->readings & 1];
}

struct line {
	const struct rf_totals *totals;
	const struct rf_stats_line *line;
};

static const struct rf_field line_fields[] = {
	RF_FIELDS_VIA(struct line, totals, rf_stats_fields),
	RF_FIELDS_VIA(struct line, line, rf_stats_line_fields),
	{},
};

RF_RECORD(stats, line_fields);

static int print_json(const struct watched *one, struct rf_error *error)
{
	const struct line line = {totals_now(one), &one->line};

	return rf_out_json(rf_record_json(line_fields, &line), true, error);
}

/* ---- watch: text ---- */

static void print_header(const struct widths *widths, const char *first)
{
	rf_out("%-*s %*s %*s %12s %12s %13s %6s\n", widths->first, first, widths->count, "passed/s",
	       widths->count, "dropped/s", "would drop/s", "passed bit/s", "dropped bit/s",
	       "errors");
}

static void print_reason_rates(const struct rf_rates *rates)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (rates->reason[i] > 0)
			rf_out("  %s: %-*s %12.0f/s\n", rf_reason_verdict(i),
			       rf_reason_is_drop(i) ? 40 : 41, rf_reason_text(i), rates->reason[i]);
}

/* A name too long for its column is printed on a separate line. */
static void print_first(const struct widths *widths, const char *first)
{
	const bool is_long = (int)strlen(first) > widths->first;

	if (is_long)
		rf_out("%s\n", first);
	rf_out("%-*s", widths->first, is_long ? "" : first);
}

/* All packets a second, up to this line. */
static void print_spark(const struct watch *watch, const struct watched *one, int line)
{
	const double most = rf_ring_most(&one->ring, line);

	for (int back = watch->widths.spark; back-- > 0;) {
		const double rate = rf_ring_at(&one->ring, line, back);
		char glyph[RF_GLYPH_TEXT_SIZE];

		rf_column_text(rate < 0 ? -1 : most > 0 ? rate / most : 0, watch->is_utf8, glyph);
		rf_out("%s%s", back == watch->widths.spark - 1 ? " " : "", glyph);
	}
}

static void print_rates(const struct watch *watch, struct watched *one, const char *first, int line)
{
	const struct rf_rates *rates = &one->line.rates;
	const int count = watch->widths.count;

	print_first(&watch->widths, first);
	rf_out(" %*.0f %*.0f %12.0f %12.0f %13.0f %6" PRIu64, count, rates->packets.passed, count,
	       rates->packets.dropped, rates->packets.would_drop, rates->bits.passed,
	       rates->bits.dropped, rates->map_errors);
	rf_ring_note(&one->ring, line, rates->packets.passed + rates->packets.dropped);
	print_spark(watch, one, line);
	rf_out("\n");
}

/* Limits and errors are the fence's, and have no interface. */
static void print_interface_rates(const struct widths *widths, const struct rf_rates *rates)
{
	for (int i = 0; i < rates->interfaces; i++) {
		const struct rf_interface_rates *one = &rates->interface[i];
		char first[IF_NAMESIZE + 2];

		snprintf(first, sizeof(first), "  %s", one->interface->name);
		print_first(widths, first);
		rf_out(" %*.0f %*.0f %12s %12.0f %13.0f\n", widths->count, one->packets.passed,
		       widths->count, one->packets.dropped, "", one->bits.passed,
		       one->bits.dropped);
	}
}

/* Of one fence a line, with the time; of several a table, with the time in its header. */
static int print_tick_text(const struct watch *watch, int line)
{
	const time_t wall = time(NULL);
	char clock[16];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&wall));
	if (watch->several)
		print_header(&watch->widths, clock);
	else if (line % HEADER_LINES == 0)
		print_header(&watch->widths, "time");
	for (int i = 0; i < watch->count; i++) {
		print_rates(watch, &watch->of[i], watch->several ? watch->of[i].fence.name : clock,
			    line);
		print_interface_rates(&watch->widths, &watch->of[i].line.rates);
		if (watch->asked->reasons)
			print_reason_rates(&watch->of[i].line.rates);
	}
	rf_out_flush();
	return 0;
}

/* ---- watch: the loop ---- */

static int read_one(struct watched *one, struct rf_error *error)
{
	const struct rf_totals *before = totals_now(one);
	const uint64_t then_ns = one->read_ns;
	struct rf_totals *now = &one->reading[++one->readings & 1];
	int err;

	rf_totals_free(now);
	one->read_ns = rf_time_awake();
	err = rf_totals_read(&one->fence, false, now, error);
	one->line.time_ns = rf_time_wall();
	if (!err && one->readings > 1)
		rf_rates_between(before, now, (one->read_ns - then_ns) / 1e9, &one->line.rates);
	return err;
}

static void close_one(struct watched *one)
{
	rf_totals_free(&one->reading[0]);
	rf_totals_free(&one->reading[1]);
	rf_fence_close(&one->fence);
}

static int fail_detached(const struct watched *one, struct rf_error *error)
{
	return rf_error_failed(error, -ENODEV,
			       "fence '%s': it was detached; 'ringfence attach IF' attaches one",
			       one->fence.name);
}

/*
 * After a move the readings contain the new names of their fence. Their other pointers into the old
 * array, or to earlier interfaces, are not used: the next reading is taken before a line is
 * printed, and from the one before it only the sums are used.
 */
static void keep_fence(struct watched *one)
{
	for (int i = 0; i < 2; i++)
		one->reading[i].fence = &one->fence;
}

/* Detached fences are removed, with a message; without the last one the watch stops. */
static int leave_detached(struct watch *watch, struct rf_error *error)
{
	int kept = 0;

	for (int i = 0; i < watch->count; i++) {
		struct watched *one = &watch->of[i];
		int attached = rf_fence_find_interfaces(&one->fence, error);

		if (attached < 0)
			return attached;
		if (!attached && watch->count - i + kept == 1)
			return fail_detached(one, error);
		if (!attached) {
			fail_detached(one, error);
			rf_out_error(error);
			close_one(one);
		} else if (kept++ != i) {
			watch->of[kept - 1] = *one;
			keep_fence(&watch->of[kept - 1]);
			*one = (struct watched){.fence = RF_FENCE_NONE};
		}
	}
	watch->count = kept;
	return 0;
}

static int print_tick(const struct watch *watch, int line, struct rf_error *error)
{
	int err = 0;

	if (!watch->json)
		return print_tick_text(watch, line);
	for (int i = 0; i < watch->count && !err; i++)
		err = print_json(&watch->of[i], error);
	return err;
}

static int run(struct watch *watch, struct rf_error *error)
{
	struct timespec due;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (int i = 0; i < watch->count && !err; i++)
		err = read_one(&watch->of[i], error);
	for (int line = 0; !err; line++) {
		due.tv_sec += watch->asked->seconds;
		while (!rf_out_is_interrupted() &&
		       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		if (rf_out_is_interrupted() ||
		    rf_out_flush()) /* main prints the error of the output */
			return 0;
		err = leave_detached(watch, error);
		for (int i = 0; i < watch->count && !err; i++)
			err = read_one(&watch->of[i], error);
		if (!err)
			err = print_tick(watch, line, error);
	}
	return err;
}

static void lay_out(struct watch *watch)
{
	const int columns = rf_terminal_columns(), spare = columns - RF_OUT_WIDTH - 1;

	watch->widths = (struct widths){11, 10, 0};
	if (columns < RF_OUT_WIDTH)
		return;
	watch->is_utf8 = rf_terminal_is_utf8();
	watch->widths.spark = spare < 4 ? 0 : spare < SPARK_MOST ? spare : SPARK_MOST;
	if (spare < 4 && !watch->several)
		watch->widths = (struct widths){8, 9, 4};
}

static int open_watched(struct watch *watch, const struct rf_options *options,
			struct rf_error *error)
{
	struct rf_fences fences = {.count = 1};
	int err = options->dev ? 0 : rf_fences_find(&fences, error);

	watch->of = calloc(fences.count + 1, sizeof(*watch->of));
	if (!err && !watch->of)
		err = rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
	for (int i = 0; i < fences.count && !err; i++) {
		struct rf_fence *fence = &watch->of[watch->count++].fence;

		*fence = RF_FENCE_NONE;
		err = options->dev ? rf_fence_open(fence, options->dev, error)
				   : rf_fence_open_on(fence, fences.fence[i].interface, error);
	}
	watch->several = watch->count > 1;
	rf_fences_free(&fences);
	return err;
}

/* stats watch: of one fence, or of all. */
static int stats_watch(const struct rf_options *options, const struct rf_stats *asked,
		       struct rf_error *error)
{
	struct watch watch = {.asked = asked, .json = options->json};
	int err = open_watched(&watch, options, error);

	rf_out_until_interrupt(false);
	lay_out(&watch);
	if (!err)
		err = run(&watch, error);
	for (int i = 0; i < watch.count; i++)
		close_one(&watch.of[i]);
	free(watch.of);
	return err;
}

/* stats, stats total, stats reset */

/* ---- text ---- */

static void print_count(const char *label, const struct rf_count *count)
{
	rf_out("%-44s %15" PRIu64 " %18" PRIu64 "\n", label, (uint64_t)count->packets,
	       (uint64_t)count->bytes);
}

static void print_reasons(const struct rf_counters *counters)
{
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		char label[64];

		if (!counters->reason[i].packets)
			continue;
		snprintf(label, sizeof(label), "  %s: %s", rf_reason_verdict(i), rf_reason_text(i));
		print_count(label, &counters->reason[i]);
	}
}

static void print_interface(const char *label, const struct rf_interface_counters *counters)
{
	rf_out("%s\n", label);
	print_count("  passed", &counters->passed);
	print_count("  dropped", &counters->dropped);
}

/* The interfaces of a fence that has had several, and the rest of the totals. */
static void print_interfaces(const struct rf_totals *totals)
{
	const struct rf_interface_counters *rest = &totals->rest;
	char label[64];

	for (int i = 0; i < totals->fence->interfaces && totals->is_apart; i++) {
		const struct rf_interface_totals *one = &totals->interface[i];

		snprintf(label, sizeof(label), "interface %s%s", one->interface->name,
			 one->counted ? "" : ": counted in the rest");
		if (one->counted)
			print_interface(label, one->counted);
		else
			rf_out("%s\n", label);
	}
	if (totals->is_apart && (rest->passed.packets || rest->dropped.packets))
		print_interface("rest: earlier, or on other interfaces", rest);
}

static void print_limit(const struct rf_limit_totals *one)
{
	const struct rf_limit_counters *counted = &one->counted;
	const bool is_shadow = one->limit->flags & RF_SHADOW;
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(one->limit, rate);
	rf_out("limit %s (%s%s)\n", one->limit->name, rate, is_shadow ? ", shadow" : "");
	print_count("  passed", &counted->passed);
	print_count("  dropped", &counted->dropped);
	if (is_shadow || counted->would_drop.packets)
		print_count("  would drop, passed", &counted->would_drop);
	if (counted->forfeited.packets)
		print_count("  charged, dropped by another limit", &counted->forfeited);
	if (one->limit->truncate_one_in || counted->truncated.packets)
		print_count("  of the dropped: answered, truncated", &counted->truncated);
}

static void print_number(const char *label, uint64_t number)
{
	if (number)
		rf_out("%-44s %15" PRIu64 "\n", label, number);
}

static void print_newcomers(const struct rf_counters *counters)
{
	print_number("newcomers: admitted by the guard", counters->newcomers_admitted);
	print_number("newcomers: charged to their networks", counters->newcomers_aggregated);
	print_number("known sources: windows under new limits", counters->newcomers_known);
	print_number("newcomers: unseen by shadow limits", counters->shadow_newcomers);
	print_number("windows made, IPv4", counters->inserts[0]);
	print_number("windows made, IPv6", counters->inserts[1]);
	print_number("windows evicted, IPv4", counters->evictions[0]);
	print_number("windows evicted, IPv6", counters->evictions[1]);
}

static void print_reset(const struct rf_baseline *base)
{
	const time_t seconds = base->time_ns / RF_NS_PER_S;
	struct tm tm = {};
	char date[64];

	if (!base->time_ns)
		return;
	localtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	rf_out("since %s (reset)\n", date);
}

static void print_text(const struct rf_totals *totals)
{
	const struct rf_counters *counters = &totals->since.counters;
	char label[64];

	snprintf(label, sizeof(label), "fence %s", totals->fence->name);
	rf_out("%-44s %15s %18s\n", label, "packets", "bytes");
	print_reset(&totals->base);
	print_count("passed", &totals->since.passed);
	print_count("dropped", &totals->since.dropped);
	print_reasons(counters);
	print_interfaces(totals);
	for (int i = 0; i < totals->limits; i++)
		print_limit(&totals->limit[i]);
	print_newcomers(counters);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		if (counters->map_error[i])
			rf_out("map error %-34s %15" PRIu64 "\n", rf_map_error_name(i),
			       (uint64_t)counters->map_error[i]);
}

static int show_stats(const struct rf_fence *fence, const void *context, json_t **json,
		      struct rf_error *error)
{
	const struct rf_stats *asked = context;
	struct rf_totals totals;
	int err = rf_totals_read(fence, asked->total, &totals, error);

	if (!err && json)
		*json = rf_record_json(rf_stats_fields, &totals);
	else if (!err)
		print_text(&totals);
	rf_totals_free(&totals);
	return err;
}

/* ---- reset ---- */

RF_RECORD(stats_reset, rf_reset_fields);

static int reset_stats(const struct rf_options *options, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open_to_change(&fence, options->dev, error);

	if (!err)
		err = rf_fence_reset(&fence, error);
	if (!err && options->json) {
		struct rf_totals totals = {.fence = &fence};

		rf_fence_baseline(&fence, &totals.base);
		err = rf_out_json(rf_record_json(rf_reset_fields, &totals), false, error);
	} else if (!err) {
		rf_out("fence %s: counters start at 0; 'ringfence stats total' prints the totals\n",
		       fence.name);
	}
	rf_fence_close(&fence);
	return err;
}

int rf_cmd_stats(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_stats asked;
	int err = rf_parse_arguments(RF_CMD_STATS, words, &asked, error);

	if (err)
		return err;
	if (asked.at_ns)
		return rf_stats_at(options, asked.at_ns, error);
	if (asked.reset)
		return reset_stats(options, error);
	if (asked.seconds)
		return stats_watch(options, &asked, error);
	return rf_show_fences(options, show_stats, true, &asked, NULL, error);
}
