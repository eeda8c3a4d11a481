// SPDX-License-Identifier: GPL-2.0
/* stats watch */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/out.h"
#include "cli/stats.h"
#include "fence/find.h"
#include "screen/canvas.h"
#include "screen/terminal.h"

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
	struct rf_totals before, now;
	struct timespec then, read; /* when */
	struct rf_ring ring;	    /* packets a second, by lines */
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

/*
 * The rate between two readings. The later reading may be the smaller one: packets on their way
 * from a lease into a counter may be missing in it.
 */
static double rate(const struct watched *one, uint64_t before, uint64_t now)
{
	return now > before ? (now - before) / seconds_between(&one->then, &one->read) : 0;
}

static double packet_rate(const struct watched *one, const struct rf_count *before,
			  const struct rf_count *now)
{
	return rate(one, before->packets, now->packets);
}

static double bit_rate(const struct watched *one, const struct rf_count *before,
		       const struct rf_count *now)
{
	return rate(one, before->bytes, now->bytes) * 8;
}

static double reason_rate(const struct watched *one, int reason)
{
	return packet_rate(one, &one->before.all.counters.reason[reason],
			   &one->now.all.counters.reason[reason]);
}

static const struct rf_interface_counters *interface_of(const struct watched *one,
							const struct rf_totals *totals, int i)
{
	return rf_by_interface_of(&one->fence, &totals->all.interfaces,
				  one->fence.interface[i].index);
}

/* ---- JSON ---- */

/* [{"name","packets":{"passed","dropped"},"bits":{…}}], as far as they are counted apart. */
static json_t *interface_rates_json(const struct watched *one)
{
	json_t *list = json_array();

	for (int i = 0; i < one->fence.interfaces; i++) {
		const struct rf_interface_counters *before = interface_of(one, &one->before, i);
		const struct rf_interface_counters *now = interface_of(one, &one->now, i);

		if (!before || !now)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:o, s:{s:f, s:f}, s:{s:f, s:f}}", "name",
				  rf_json_text(one->fence.interface[i].name), "packets", "passed",
				  packet_rate(one, &before->passed, &now->passed), "dropped",
				  packet_rate(one, &before->dropped, &now->dropped), "bits",
				  "passed", bit_rate(one, &before->passed, &now->passed), "dropped",
				  bit_rate(one, &before->dropped, &now->dropped)));
	}
	return list;
}

static json_t *rates_json(const struct watched *one)
{
	const struct rf_sums *before = &one->before.all, *now = &one->now.all;
	const struct rf_count *shadow_before = &before->counters.reason[RF_SHADOW_OVER];
	const struct rf_count *shadow = &now->counters.reason[RF_SHADOW_OVER];
	json_t *reasons = json_object();

	for (int i = 0; i < RF_REASON_COUNT; i++)
		json_object_set_new(reasons, rf_reason_name(i), json_real(reason_rate(one, i)));
	return json_pack("{s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f}, s:o, s:o*}", "packets", "passed",
			 packet_rate(one, &before->passed, &now->passed), "dropped",
			 packet_rate(one, &before->dropped, &now->dropped), "would_drop",
			 packet_rate(one, shadow_before, shadow), "bits", "passed",
			 bit_rate(one, &before->passed, &now->passed), "dropped",
			 bit_rate(one, &before->dropped, &now->dropped), "would_drop",
			 bit_rate(one, shadow_before, shadow), "reasons", reasons, "interfaces",
			 one->now.all.interfaces.is_counted ? interface_rates_json(one) : NULL);
}

static int print_json(const struct watched *one, struct rf_error *error)
{
	json_t *json = rf_stats_json(&one->fence, &one->now, error);
	char text[RF_TIME_TEXT_SIZE];
	struct timespec wall;

	if (!json)
		return -EIO;
	clock_gettime(CLOCK_REALTIME, &wall);
	rf_format_utc(wall.tv_sec * RF_NS_PER_S + wall.tv_nsec, text);
	json_object_set_new(json, "time", json_string(text));
	json_object_set_new(json, "seconds", json_real(seconds_between(&one->then, &one->read)));
	json_object_set_new(json, "rates", rates_json(one));
	return rf_out_json(json, true, error);
}

/* ---- text ---- */

static void print_header(const struct widths *widths, const char *first)
{
	rf_out("%-*s %*s %*s %12s %12s %13s %6s\n", widths->first, first, widths->count, "passed/s",
	       widths->count, "dropped/s", "would drop/s", "passed bit/s", "dropped bit/s",
	       "errors");
}

static void print_reasons(const struct watched *one)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (reason_rate(one, i) > 0)
			rf_out("  %s: %-*s %12.0f/s\n", rf_reason_verdict(i),
			       rf_reason_is_drop(i) ? 40 : 41, rf_reason_text(i),
			       reason_rate(one, i));
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
	const struct rf_sums *before = &one->before.all, *now = &one->now.all;
	const double passed = packet_rate(one, &before->passed, &now->passed);
	const double dropped = packet_rate(one, &before->dropped, &now->dropped);
	const int count = watch->widths.count;

	print_first(&watch->widths, first);
	rf_out(" %*.0f %*.0f %12.0f %12.0f %13.0f %6" PRIu64, count, passed, count, dropped,
	       reason_rate(one, RF_SHADOW_OVER), bit_rate(one, &before->passed, &now->passed),
	       bit_rate(one, &before->dropped, &now->dropped),
	       now->map_errors - before->map_errors);
	rf_ring_note(&one->ring, line, passed + dropped);
	print_spark(watch, one, line);
	rf_out("\n");
}

/* Limits and errors are the fence's, and have no interface. */
static void print_interface_rates(const struct widths *widths, const struct watched *one)
{
	for (int i = 0; i < one->fence.interfaces; i++) {
		const struct rf_interface_counters *before = interface_of(one, &one->before, i);
		const struct rf_interface_counters *now = interface_of(one, &one->now, i);
		char first[IF_NAMESIZE + 2];

		if (!before || !now)
			continue;
		snprintf(first, sizeof(first), "  %s", one->fence.interface[i].name);
		print_first(widths, first);
		rf_out(" %*.0f %*.0f %12s %12.0f %13.0f\n", widths->count,
		       packet_rate(one, &before->passed, &now->passed), widths->count,
		       packet_rate(one, &before->dropped, &now->dropped), "",
		       bit_rate(one, &before->passed, &now->passed),
		       bit_rate(one, &before->dropped, &now->dropped));
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
		print_interface_rates(&watch->widths, &watch->of[i]);
		if (watch->asked->reasons)
			print_reasons(&watch->of[i]);
	}
	rf_out_flush();
	return 0;
}

/* ---- the loop ---- */

static int read_one(struct watched *one, struct rf_error *error)
{
	one->before = one->now;
	one->then = one->read;
	clock_gettime(CLOCK_MONOTONIC, &one->read);
	return rf_totals_read(&one->fence, false, &one->now, error);
}

static int fail_detached(const struct watched *one, struct rf_error *error)
{
	return rf_error_failed(error, -ENODEV,
			       "fence '%s': it was detached; 'ringfence attach IF' attaches one",
			       one->fence.name);
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
			rf_fence_close(&one->fence);
		} else if (kept++ != i) {
			watch->of[kept - 1] = *one;
			one->fence = RF_FENCE_NONE;
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
		rf_fence_close(&watch.of[i].fence);
	free(watch.of);
	return err;
}
