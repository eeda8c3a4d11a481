// SPDX-License-Identifier: GPL-2.0
/* stats, stats total, stats reset */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/fences.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/stats.h"
#include "cli/view.h"
#include "rules/policy.h"

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
static void print_interfaces(const struct rf_fence *fence, const struct rf_sums *sums)
{
	const struct rf_interface_counters rest = rf_totals_rest(fence, sums);
	char label[64];

	for (int i = 0; i < fence->interfaces && sums->interfaces.is_counted; i++) {
		const struct rf_interface *interface = &fence->interface[i];
		const struct rf_interface_counters *counters =
			rf_by_interface_of(fence, &sums->interfaces, interface->index);

		snprintf(label, sizeof(label), "interface %s%s", interface->name,
			 counters ? "" : ": counted in the rest");
		if (counters)
			print_interface(label, counters);
		else
			rf_out("%s\n", label);
	}
	if (sums->interfaces.is_counted && (rest.passed.packets || rest.dropped.packets))
		print_interface("rest: earlier, or on other interfaces", &rest);
}

static int print_limits(const struct rf_fence *fence, const struct rf_totals *totals,
			struct rf_error *error)
{
	struct rf_bank rules;
	int slots[RF_LIMITS_MAX], count;
	int err = rf_fence_bank(fence, &rules, error);

	if (err)
		return err;
	count = rf_bank_slots(&rules, slots);
	for (int i = 0; i < count; i++) {
		const struct rf_limit *limit = &rules.limit[slots[i]];
		struct rf_limit_counters sum;
		char rate[RF_RATE_TEXT_SIZE];

		err = rf_totals_limit(fence, totals, &rules, slots[i], &sum, error);
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

static int print_text(const struct rf_fence *fence, const struct rf_totals *totals,
		      struct rf_error *error)
{
	const struct rf_counters *counters = &totals->since.counters;
	char label[64];
	int err;

	snprintf(label, sizeof(label), "fence %s", fence->name);
	rf_out("%-44s %15s %18s\n", label, "packets", "bytes");
	print_reset(&totals->base);
	print_count("passed", &totals->since.passed);
	print_count("dropped", &totals->since.dropped);
	print_reasons(counters);
	print_interfaces(fence, &totals->since);
	err = print_limits(fence, totals, error);
	print_newcomers(counters);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		if (counters->map_error[i])
			rf_out("map error %-34s %15" PRIu64 "\n", rf_map_error_name(i),
			       (uint64_t)counters->map_error[i]);
	return err;
}

static int show_stats(const struct rf_fence *fence, const void *context, json_t **json,
		      struct rf_error *error)
{
	const struct rf_stats *asked = context;
	struct rf_totals totals;
	int err = rf_totals_read(fence, asked->total, &totals, error);

	if (err || !json)
		return err ? err : print_text(fence, &totals, error);
	*json = rf_stats_json(fence, &totals, error);
	return *json ? 0 : -EIO;
}

/* ---- reset ---- */

static int reset_stats(const struct rf_options *options, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open_to_change(&fence, options->dev, error);

	if (!err)
		err = rf_fence_reset(&fence, error);
	if (!err && options->json) {
		struct rf_baseline base;

		rf_fence_baseline(&fence, &base);
		err = rf_out_json(json_pack("{s:o, s:o}", "fence", rf_json_text(fence.name),
					    "reset", rf_reset_json(&base)),
				  false, error);
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
