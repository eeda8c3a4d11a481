// SPDX-License-Identifier: GPL-2.0
/* stats, stats total, stats reset */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli/fences.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/stats.h"
#include "rules/policy.h"
#include "snapshot/records.h"
#include "snapshot/totals.h"

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

/* The interfaces of a fence that has had several, and what they do not have of the totals. */
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
		rf_out("fence %s: counters begin at 0; 'ringfence stats total' shows them all\n",
		       fence.name);
	}
	rf_fence_close(&fence);
	return err;
}

int rf_cmd_stats(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_stats asked;
	int err = rf_parse_stats(words, &asked, error);

	if (err)
		return err;
	if (asked.at_ns)
		return rf_stats_at(options, asked.at_ns, error);
	if (asked.reset)
		return reset_stats(options, error);
	if (asked.seconds)
		return rf_stats_watch(options, &asked, error);
	return rf_show_fences(options, show_stats, true, &asked, error);
}
