// SPDX-License-Identifier: GPL-2.0
/* The counters of a fence, as `stats` and `stats watch` read them, and their JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/out.h"
#include "cli/stats.h"
#include "cli/view.h"
#include "rules/policy.h"

static void add_count(struct rf_count *sum, const struct rf_count *count)
{
	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

static void sum_up(struct rf_sums *sums)
{
	for (int i = 0; i < RF_REASON_COUNT; i++)
		add_count(rf_reason_is_drop(i) ? &sums->dropped : &sums->passed,
			  &sums->counters.reason[i]);
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		sums->map_errors += sums->counters.map_error[i];
}

int rf_totals_read(const struct rf_fence *fence, bool from_attach, struct rf_totals *totals,
		   struct rf_error *error)
{
	int err;

	*totals = (struct rf_totals){};
	err = rf_fence_counters(fence, &totals->all.counters, error);
	if (err)
		return err;
	err = rf_fence_by_interface(fence, &totals->all.interfaces, error);
	if (err)
		return err;
	if (!from_attach)
		rf_fence_baseline(fence, &totals->base);
	totals->since = totals->all;
	rf_baseline_subtract(&totals->base, &totals->since.counters);
	rf_baseline_subtract_interfaces(&totals->base, &totals->since.interfaces);
	sum_up(&totals->all);
	sum_up(&totals->since);
	return 0;
}

struct rf_interface_counters rf_totals_rest(const struct rf_fence *fence,
					    const struct rf_sums *sums)
{
	const struct rf_interface_counters totals = {sums->passed, sums->dropped};

	return rf_by_interface_rest(fence, &sums->interfaces, &totals);
}

int rf_totals_limit(const struct rf_fence *fence, const struct rf_totals *totals,
		    const struct rf_bank *rules, int slot, struct rf_limit_counters *sum,
		    struct rf_error *error)
{
	int err = rf_fence_limit_counters(fence, slot, sum, error);

	if (!err)
		rf_baseline_subtract_limit(&totals->base, &rules->policy[slot], sum);
	return err;
}

/* ---- JSON ---- */

/* {"packets":{"passed","dropped","would_drop"},"bytes":{…}} */
static json_t *sums_json(const struct rf_sums *sums)
{
	const struct rf_count *would_drop = &sums->counters.reason[RF_SHADOW_OVER];

	return json_pack("{s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}}", "packets", "passed",
			 (json_int_t)sums->passed.packets, "dropped",
			 (json_int_t)sums->dropped.packets, "would_drop",
			 (json_int_t)would_drop->packets, "bytes", "passed",
			 (json_int_t)sums->passed.bytes, "dropped", (json_int_t)sums->dropped.bytes,
			 "would_drop", (json_int_t)would_drop->bytes);
}

json_t *rf_reset_json(const struct rf_baseline *base)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(base->time_ns, text);
	return base->time_ns ? json_string(text) : json_null();
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

static json_t *limits_json(const struct rf_fence *fence, const struct rf_totals *totals,
			   struct rf_error *error)
{
	json_t *list;
	struct rf_bank rules;
	int slots[RF_LIMITS_MAX], count;

	if (rf_fence_bank(fence, &rules, error))
		return NULL;
	list = json_array();
	count = rf_bank_slots(&rules, slots);
	for (int i = 0; i < count; i++) {
		struct rf_limit_counters sum;

		if (rf_totals_limit(fence, totals, &rules, slots[i], &sum, error)) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, limit_json(&rules.limit[slots[i]], &sum));
	}
	return list;
}

/* Absent where nothing is counted by interface. */
static json_t *rest_json(const struct rf_fence *fence, const struct rf_sums *sums)
{
	const struct rf_interface_counters rest = rf_totals_rest(fence, sums);

	return sums->interfaces.is_counted ? rf_view_interface_counters(&rest) : NULL;
}

static json_t *newcomers_json(const struct rf_counters *counters)
{
	return rf_view_merged(rf_view_newcomers(counters),
			      json_pack("{s:I, s:I}", "unnoted",
					(json_int_t)counters->shadow_newcomers, "known",
					(json_int_t)counters->newcomers_known));
}

json_t *rf_stats_json(const struct rf_fence *fence, const struct rf_totals *totals,
		      struct rf_error *error)
{
	const struct rf_counters *counters = &totals->since.counters;
	json_t *limits = limits_json(fence, totals, error);
	json_t *reasons = json_object(), *errors = json_object();

	for (int i = 0; i < RF_REASON_COUNT; i++)
		json_object_set_new(reasons, rf_reason_name(i), count_json(&counters->reason[i]));
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		json_object_set_new(errors, rf_map_error_name(i),
				    json_integer(counters->map_error[i]));
	if (!limits) {
		json_decref(reasons);
		json_decref(errors);
		return NULL;
	}
	return rf_view_merged(
		json_pack("{s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}}", "fence",
			  rf_json_text(fence->name), "interfaces",
			  rf_view_interfaces(fence, &totals->since.interfaces), "rest",
			  rest_json(fence, &totals->since), "reset", rf_reset_json(&totals->base),
			  "total", sums_json(&totals->all), "reasons", reasons, "limits", limits,
			  "map_errors", errors, "newcomers", newcomers_json(counters), "windows",
			  "ipv4", rf_view_windows(counters, 0), "ipv6",
			  rf_view_windows(counters, 1)),
		sums_json(&totals->since));
}
