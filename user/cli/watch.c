// SPDX-License-Identifier: GPL-2.0
/* stats watch */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/stats.h"
#include "cli/view.h"
#include "fence/find.h"
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
	struct timespec read; /* when */
	struct rf_stats_line line;
	struct rf_ring ring; /* packets a second, by lines */
};

struct watch {
	struct watched *of;
	int count;
	bool several; /* there were several when the watch began */
	const struct rf_stats *asked;
	bool json;
	struct widths widths;
	bool is_utf8;
};

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) + (to->tv_nsec - from->tv_nsec) / 1e9;
}

static const struct rf_totals *totals_now(const struct watched *one)
{
	return &one->reading[one->readings & 1];
}

static int print_json(const struct watched *one, struct rf_error *error)
{
	json_t *json = rf_record_json(rf_stats_fields, totals_now(one));
	json_t *line = rf_record_json(rf_stats_line_fields, &one->line);

	return rf_out_json(rf_view_merged(json, line), true, error);
}

/* ---- text ---- */

static void print_header(const struct widths *widths, const char *first)
{
	rf_out("%-*s %*s %*s %12s %12s %13s %6s\n", widths->first, first, widths->count, "passed/s",
	       widths->count, "dropped/s", "would drop/s", "passed bit/s", "dropped bit/s",
	       "errors");
}

static void print_reasons(const struct rf_rates *rates)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (rates->reason[i] > 0)
			rf_out("  %s: %-*s %12.0f/s\n", rf_reason_verdict(i),
			       rf_reason_is_drop(i) ? 40 : 41, rf_reason_text(i), rates->reason[i]);
}

/* A name that is too long for its column has a line of its own. */
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
static int print_text(const struct watch *watch, int line)
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
			print_reasons(&watch->of[i].line.rates);
	}
	rf_out_flush();
	return 0;
}

/* ---- the loop ---- */

static int read_one(struct watched *one, struct rf_error *error)
{
	const struct rf_totals *before = totals_now(one);
	const struct timespec then = one->read;
	struct rf_totals *now = &one->reading[++one->readings & 1];
	int err;

	rf_totals_free(now);
	clock_gettime(CLOCK_MONOTONIC, &one->read);
	err = rf_totals_read(&one->fence, false, now, error);
	one->line.time_ns = rf_time_wall();
	if (!err && one->readings > 1)
		rf_rates_between(before, now, seconds_between(&then, &one->read), &one->line.rates);
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
 * After a move the readings name their fence anew. What else of them points into the old place, or
 * to interfaces of before, is not used: the next reading is made before a line is printed, and the
 * one before it gives its sums alone.
 */
static void keep_fence(struct watched *one)
{
	for (int i = 0; i < 2; i++)
		one->reading[i].fence = &one->fence;
}

/* Fences that were detached are left out, with a message; without the last one the watch ends. */
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
		return print_text(watch, line);
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
		while (!interrupted &&
		       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		if (interrupted || rf_out_flush()) /* main prints the error of the output */
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

int rf_stats_watch(const struct rf_options *options, const struct rf_stats *asked,
		   struct rf_error *error)
{
	struct sigaction action = {.sa_handler = note_interrupt};
	struct watch watch = {.asked = asked, .json = options->json};
	int err = open_watched(&watch, options, error);

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	lay_out(&watch);
	if (!err)
		err = run(&watch, error);
	for (int i = 0; i < watch.count; i++)
		close_one(&watch.of[i]);
	free(watch.of);
	return err;
}
