// SPDX-License-Identifier: GPL-2.0
/* stats, stats watch */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/fences.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"

#define WATCH_HEADER_LINES 20

/* All counts of a fence. */
struct totals {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_counters counters;
	uint64_t map_errors;
};

static void add_count(struct rf_count *sum, const struct rf_count *count)
{
	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

static int read_totals(const struct rf_fence *fence, struct totals *totals, struct rf_error *error)
{
	int err;

	*totals = (struct totals){};
	err = rf_fence_counters(fence, &totals->counters, error);
	if (err)
		return err;
	for (int i = 0; i < RF_REASON_COUNT; i++)
		add_count(i < RF_FIRST_DROP ? &totals->passed : &totals->dropped,
			  &totals->counters.reason[i]);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		totals->map_errors += totals->counters.map_error[i];
	return 0;
}

/* ---- JSON ---- */

static json_t *pair_json(uint64_t passed, uint64_t dropped)
{
	return json_pack("{s:I, s:I}", "passed", (json_int_t)passed, "dropped",
			 (json_int_t)dropped);
}

static json_t *count_json(const struct rf_count *count)
{
	return json_pack("{s:I, s:I}", "packets", (json_int_t)count->packets, "bytes",
			 (json_int_t)count->bytes);
}

static json_t *limit_json(const struct rf_limit *limit, const struct rf_limit_counters *sum)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "name", limit->name,
			 "passed", (json_int_t)sum->passed.packets, "dropped",
			 (json_int_t)sum->dropped.packets, "would_drop",
			 (json_int_t)sum->would_drop.packets, "forfeited",
			 (json_int_t)sum->forfeited.packets, "bytes", "passed",
			 (json_int_t)sum->passed.bytes, "dropped", (json_int_t)sum->dropped.bytes,
			 "would_drop", (json_int_t)sum->would_drop.bytes, "forfeited",
			 (json_int_t)sum->forfeited.bytes);
}

static json_t *limits_json(const struct rf_fence *fence, struct rf_error *error)
{
	json_t *list;
	struct rf_bank rules;

	if (rf_fence_bank(fence, &rules, error))
		return NULL;
	list = json_array();
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_counters sum;

		if (!rules.policy[slot].id)
			continue;
		if (rf_fence_limit_counters(fence, slot, &sum, error)) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, limit_json(&rules.limit[slot], &sum));
	}
	return list;
}

static json_t *newcomers_json(const struct rf_counters *counters)
{
	return rf_view_merged(rf_view_newcomers(counters),
			      json_pack("{s:I, s:I}", "unnoted",
					(json_int_t)counters->shadow_newcomers, "known",
					(json_int_t)counters->newcomers_known));
}

/* NULL: `error` says why. */
static json_t *make_json(const struct rf_fence *fence, const struct totals *totals,
			 struct rf_error *error)
{
	json_t *limits = limits_json(fence, error);
	json_t *reasons = json_object(), *errors = json_object();

	for (int i = 0; i < RF_REASON_COUNT; i++)
		json_object_set_new(reasons, rf_reason_name(i),
				    count_json(&totals->counters.reason[i]));
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		json_object_set_new(errors, rf_map_error_name(i),
				    json_integer(totals->counters.map_error[i]));
	if (!limits) {
		json_decref(reasons);
		json_decref(errors);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "fence",
			 rf_json_text(fence->name), "interfaces", rf_view_interfaces(fence),
			 "packets", pair_json(totals->passed.packets, totals->dropped.packets),
			 "bytes", pair_json(totals->passed.bytes, totals->dropped.bytes), "reasons",
			 reasons, "limits", limits, "map_errors", errors, "newcomers",
			 newcomers_json(&totals->counters), "windows", "ipv4",
			 rf_view_windows(&totals->counters, 0), "ipv6",
			 rf_view_windows(&totals->counters, 1));
}

static int print_json_line(const struct rf_fence *fence, const struct totals *totals,
			   struct rf_error *error)
{
	json_t *json = make_json(fence, totals, error);

	return json ? rf_out_json(json, true, error) : -EIO;
}

/* ---- text ---- */

static void print_count(const char *label, const struct rf_count *count)
{
	rf_out("%-44s %15" PRIu64 " %18" PRIu64 "\n", label, (uint64_t)count->packets,
	       (uint64_t)count->bytes);
}

static void print_reasons(const struct totals *totals)
{
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		char label[64];

		if (!totals->counters.reason[i].packets)
			continue;
		snprintf(label, sizeof(label), "  %s: %s", i < RF_FIRST_DROP ? "passed" : "dropped",
			 rf_reason_text(i));
		print_count(label, &totals->counters.reason[i]);
	}
}

static int print_limits(const struct rf_fence *fence, struct rf_error *error)
{
	struct rf_bank rules;
	int err = rf_fence_bank(fence, &rules, error);

	if (err)
		return err;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &rules.limit[slot];
		struct rf_limit_counters sum;
		char rate[RF_RATE_TEXT_SIZE];

		if (!rules.policy[slot].id)
			continue;
		err = rf_fence_limit_counters(fence, slot, &sum, error);
		if (err)
			return err;
		rf_format_limit_rate(limit, rate);
		rf_out("limit %s (%s%s)\n", limit->name, rate,
		       limit->flags & RF_SHADOW ? ", shadow" : "");
		print_count("  passed", &sum.passed);
		print_count("  dropped", &sum.dropped);
		if (limit->flags & RF_SHADOW || sum.would_drop.packets)
			print_count("  would drop, passed", &sum.would_drop);
		if (sum.forfeited.packets)
			print_count("  charged, dropped by another limit", &sum.forfeited);
	}
	return 0;
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

static int print_text(const struct rf_fence *fence, const struct totals *totals,
		      struct rf_error *error)
{
	char label[64];
	int err;

	snprintf(label, sizeof(label), "fence %s", fence->name);
	rf_out("%-44s %15s %18s\n", label, "packets", "bytes");
	print_count("passed", &totals->passed);
	print_count("dropped", &totals->dropped);
	print_reasons(totals);
	err = print_limits(fence, error);
	print_newcomers(&totals->counters);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		if (totals->counters.map_error[i])
			rf_out("map error %-34s %15" PRIu64 "\n", rf_map_error_name(i),
			       (uint64_t)totals->counters.map_error[i]);
	return err;
}

/* ---- watch ---- */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/*
 * The rate between two readings. The later reading may be the smaller one: packets on their way
 * from a lease into a counter may be missing in it.
 */
static double per_second(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

static void print_watch_line(const struct totals *before, const struct totals *now, int line,
			     double seconds)
{
	char clock[16];
	time_t wall = time(NULL);

	if (line % WATCH_HEADER_LINES == 0)
		rf_out("%-8s %12s %12s %15s %16s %11s\n", "time", "passed/s", "dropped/s",
		       "passed bit/s", "dropped bit/s", "map errors");
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&wall));
	rf_out("%-8s %12.0f %12.0f %15.0f %16.0f %11" PRIu64 "\n", clock,
	       per_second(before->passed.packets, now->passed.packets, seconds),
	       per_second(before->dropped.packets, now->dropped.packets, seconds),
	       per_second(before->passed.bytes, now->passed.bytes, seconds) * 8,
	       per_second(before->dropped.bytes, now->dropped.bytes, seconds) * 8,
	       now->map_errors - before->map_errors);
	rf_out_flush();
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) + (to->tv_nsec - from->tv_nsec) / 1e9;
}

static int watch(const struct rf_fence *fence, uint32_t seconds, bool json, struct rf_error *error)
{
	struct sigaction action = {.sa_handler = note_interrupt};
	struct timespec due, then, now;
	struct totals before, totals;
	int err = read_totals(fence, &before, error);

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &due);
	then = due;
	for (int line = 0; !err; line++) {
		due.tv_sec += seconds;
		while (!interrupted &&
		       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		if (interrupted)
			return 0;
		err = rf_fence_is_attached(fence, error);
		if (err < 0)
			break;
		if (!err)
			return rf_error_failed(
				error, -ENODEV,
				"fence '%s': it was detached; 'ringfence attach IF' attaches one",
				fence->name);
		if (rf_out_flush()) /* main prints the error */
			return 0;
		err = read_totals(fence, &totals, error);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!err && json)
			err = print_json_line(fence, &totals, error);
		else if (!err)
			print_watch_line(&before, &totals, line, seconds_between(&then, &now));
		before = totals;
		then = now;
	}
	return err;
}

static int watch_fence(const struct rf_options *options, uint32_t seconds, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open(&fence, options->dev, error);

	if (!err)
		err = watch(&fence, seconds, options->json, error);
	rf_fence_close(&fence);
	return err;
}

static int show_stats(const struct rf_fence *fence, const void *context, json_t **json,
		      struct rf_error *error)
{
	struct totals totals;
	int err = read_totals(fence, &totals, error);

	(void)context;
	if (err || !json)
		return err ? err : print_text(fence, &totals, error);
	*json = make_json(fence, &totals, error);
	return *json ? 0 : -EIO;
}

int rf_cmd_stats(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	uint32_t seconds;
	int err = rf_parse_stats(words, &seconds, error);

	if (err)
		return err;
	return seconds ? watch_fence(options, seconds, error)
		       : rf_show_fences(options, show_stats, true, NULL, error);
}
