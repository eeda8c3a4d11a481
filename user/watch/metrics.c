// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "watch/metrics_of.h"

#define MINUTE_NS (60 * RF_NS_PER_S)
#define WORST_NS (60 * RF_NS_PER_S) /* so long the worst source stays the worst */
#define USE_MAX 1000000		    /* thousandths */

const struct rf_use_bound rf_use_bounds[RF_USE_BOUNDS] = {
	{10, "0.01"}, {20, "0.02"}, {50, "0.05"}, {100, "0.1"}, {200, "0.2"},  {300, "0.3"},
	{500, "0.5"}, {700, "0.7"}, {800, "0.8"}, {900, "0.9"}, {950, "0.95"}, {1000, "1.0"},
};

struct rf_metrics *rf_metrics_new(const char *fence)
{
	struct rf_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->told = rf_monotonic_new();
	if (!metrics->told) {
		free(metrics);
		return NULL;
	}
	snprintf(metrics->fence, sizeof(metrics->fence), "%s", fence);
	return metrics;
}

void rf_metrics_free(struct rf_metrics *metrics)
{
	if (!metrics)
		return;
	rf_monotonic_free(metrics->told);
	rf_peaks_free(&metrics->peaks);
	free(metrics);
}

const char *rf_metrics_fence(const struct rf_metrics *metrics)
{
	return metrics->fence;
}

void rf_metrics_lose(struct rf_metrics *metrics)
{
	if (!metrics)
		return;
	metrics->is_known = true;
	metrics->is_up = false;
}

/* ---- counters ---- */

static uint64_t tell(struct rf_metrics *metrics, const char *kind, const char *name, uint64_t now)
{
	char key[RF_MONOTONIC_KEY_SIZE];

	snprintf(key, sizeof(key), "%s/%s", kind, name);
	return rf_monotonic_see(metrics->told, key, now);
}

static uint64_t add(struct rf_metrics *metrics, const char *kind, const char *name, uint64_t more)
{
	char key[RF_MONOTONIC_KEY_SIZE];

	snprintf(key, sizeof(key), "%s/%s", kind, name);
	return rf_monotonic_add(metrics->told, key, more);
}

static void take_counters(struct rf_metrics *metrics, const struct rf_counters *now)
{
	static const char *const families[] = {"ipv4", "ipv6"};
	struct rf_counters *told = &metrics->counters;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const char *name = rf_reason_name(i);

		told->reason[i].packets = tell(metrics, "packets", name, now->reason[i].packets);
		told->reason[i].bytes = tell(metrics, "bytes", name, now->reason[i].bytes);
	}
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		told->map_error[i] =
			tell(metrics, "map_error", rf_map_error_name(i), now->map_error[i]);
	for (int i = 0; i < 2; i++) {
		told->inserts[i] = tell(metrics, "inserts", families[i], now->inserts[i]);
		told->evictions[i] = tell(metrics, "evictions", families[i], now->evictions[i]);
		metrics->windows[i] = now->inserts[i] > now->evictions[i]
					      ? now->inserts[i] - now->evictions[i]
					      : 0;
	}
	told->newcomers_admitted = tell(metrics, "newcomers", "admitted", now->newcomers_admitted);
	told->newcomers_known = tell(metrics, "newcomers", "known", now->newcomers_known);
	told->newcomers_aggregated =
		tell(metrics, "newcomers", "aggregated", now->newcomers_aggregated);
	told->shadow_newcomers = tell(metrics, "newcomers", "unnoted", now->shadow_newcomers);
	told->bans_refused = tell(metrics, "bans", "refused", now->bans_refused);
}

static void take_outcome(struct rf_metrics *metrics, const struct rf_limit *limit,
			 const char *outcome, const struct rf_count *now, struct rf_count *told)
{
	char key[RF_MONOTONIC_KEY_SIZE];

	snprintf(key, sizeof(key), "limit/%s/%s/packets", limit->name, outcome);
	told->packets =
		rf_monotonic_see_since(metrics->told, key, limit->since_generation, now->packets);
	snprintf(key, sizeof(key), "limit/%s/%s/bytes", limit->name, outcome);
	told->bytes =
		rf_monotonic_see_since(metrics->told, key, limit->since_generation, now->bytes);
}

/* Adds to what the histogram of a limit has, or reads it. */
static void add_use(struct rf_metrics *metrics, struct rf_limit_metrics *limit,
		    const uint64_t more[RF_USE_BUCKETS], uint64_t sum)
{
	char key[RF_MONOTONIC_KEY_SIZE];

	for (int i = 0; i < RF_USE_BUCKETS; i++) {
		snprintf(key, sizeof(key), "use/%s/%s", limit->name,
			 i < RF_USE_BOUNDS ? rf_use_bounds[i].label : "more");
		limit->use[i] = rf_monotonic_add(metrics->told, key, more[i]);
	}
	snprintf(key, sizeof(key), "use/%s/sum", limit->name);
	limit->use_sum = rf_monotonic_add(metrics->told, key, sum);
}

static void take_limit(struct rf_metrics *metrics, const struct rf_limit *limit, uint32_t id,
		       const struct rf_limit_counters *now, struct rf_limit_metrics *told)
{
	static const uint64_t nothing[RF_USE_BUCKETS];

	if (strcmp(told->name, limit->name) != 0)
		*told = (struct rf_limit_metrics){};
	memcpy(told->name, limit->name, sizeof(told->name));
	told->name[sizeof(told->name) - 1] = '\0';
	told->id = id;
	told->count = limit->rate;
	told->window_ns = limit->window_ns;
	told->is_bytes = limit->unit == RF_BYTES;
	told->active = told->over = told->banned = 0;
	take_outcome(metrics, limit, "passed", &now->passed, &told->counters.passed);
	take_outcome(metrics, limit, "dropped", &now->dropped, &told->counters.dropped);
	take_outcome(metrics, limit, "would_drop", &now->would_drop, &told->counters.would_drop);
	take_outcome(metrics, limit, "forfeited", &now->forfeited, &told->counters.forfeited);
	add_use(metrics, told, nothing, 0);
}

static void take_limits(struct rf_metrics *metrics, const struct rf_snapshot *snapshot)
{
	const struct rf_bank *rules = &snapshot->bans.rules;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_metrics *told = &metrics->limit[slot];

		if (rules->policy[slot].id)
			take_limit(metrics, &rules->limit[slot], rules->policy[slot].id,
				   &snapshot->limit[slot], told);
		else
			*told = (struct rf_limit_metrics){};
	}
}

/* ---- sources ---- */

static struct rf_limit_metrics *find_limit(struct rf_metrics *metrics, uint32_t id)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (*metrics->limit[slot].name && metrics->limit[slot].id == id)
			return &metrics->limit[slot];
	return NULL;
}

static uint32_t use_of(const struct rf_source_row *row)
{
	const uint64_t all = rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate;
	const double share = all ? row->used * 1000.0 / all : 0;

	return share < USE_MAX ? share : USE_MAX;
}

static void take_worst(struct rf_worst *worst, const struct rf_source_row *row, uint64_t packets,
		       uint64_t time_ns)
{
	if (!packets || (packets <= worst->packets && time_ns - worst->time_ns < WORST_NS))
		return;
	*worst = (struct rf_worst){row->source, packets, time_ns};
}

static void take_source(struct rf_metrics *metrics, const struct rf_snapshot *snapshot,
			const struct rf_source_row *row)
{
	struct rf_limit_metrics *limit = find_limit(metrics, row->limit_id);
	const uint64_t refused = row->new_dropped + row->new_would_drop;
	const uint32_t use = use_of(row);

	if (!limit)
		return;
	take_worst(&limit->dropped, row, row->new_dropped, snapshot->time_ns);
	take_worst(&limit->would_drop, row, row->new_would_drop, snapshot->time_ns);
	if (row->is_aggregate)
		return;
	limit->active += use || row->new_passed || refused;
	limit->over += use >= 1000 || refused;
	limit->banned += row->banned_ns != 0;
	if (use || refused)
		rf_peaks_note(&metrics->peaks, &row->source, row->limit_id, use);
}

/* What is observed at the end of a minute. */
struct observing {
	struct rf_metrics *metrics;
	uint64_t use[RF_LIMITS_MAX][RF_USE_BUCKETS], sum[RF_LIMITS_MAX];
};

static void observe_one(void *context, const struct rf_peak *peak, uint64_t weight)
{
	struct observing *observing = context;
	const struct rf_limit_metrics *limit = find_limit(observing->metrics, peak->limit_id);
	int bucket = 0, slot;

	if (!limit)
		return; /* it was deleted meanwhile */
	slot = limit - observing->metrics->limit;
	while (bucket < RF_USE_BOUNDS && peak->use > rf_use_bounds[bucket].most)
		bucket++;
	observing->use[slot][bucket] += weight;
	observing->sum[slot] += weight * peak->use;
}

void rf_metrics_observe(struct rf_metrics *metrics)
{
	struct observing observing = {.metrics = metrics};

	rf_peaks_take(&metrics->peaks, observe_one, &observing);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (*metrics->limit[slot].name)
			add_use(metrics, &metrics->limit[slot], observing.use[slot],
				observing.sum[slot]);
}

static void take_sources(struct rf_metrics *metrics, const struct rf_snapshot *snapshot)
{
	const uint64_t minute = snapshot->awake_ns / MINUTE_NS;

	if (minute != metrics->minute)
		rf_metrics_observe(metrics);
	metrics->minute = minute;
	for (size_t i = 0; i < snapshot->sources.count; i++)
		take_source(metrics, snapshot, &snapshot->sources.row[i]);
}

/* ---- all of it ---- */

static void take_events(struct rf_metrics *metrics)
{
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		metrics->events[i] = add(metrics, "event", rf_event_type_name(i), 0);
	for (int i = 0; i < RF_EVENT_TYPES; i++)
		rf_metrics_count_suppressed(metrics, i, 0);
}

void rf_metrics_take(struct rf_metrics *metrics, const struct rf_snapshot *snapshot)
{
	const struct rf_standing *standing = &snapshot->standing;

	rf_monotonic_begin(metrics->told, snapshot->identity, standing->active);
	take_counters(metrics, &snapshot->counters);
	take_limits(metrics, snapshot);
	take_sources(metrics, snapshot);
	take_events(metrics);
	rf_metrics_take_fleet(metrics, &snapshot->fleet);
	rf_metrics_note_history(metrics, metrics->history_bytes, metrics->history_errors_before);
	metrics->is_known = true;
	metrics->is_up = true;
	metrics->awake_ns = snapshot->awake_ns;
	metrics->trial_ns = standing->state == RF_ON_TRIAL ? standing->trial_ns : 0;
	metrics->paused_ns = standing->paused_ns;
	metrics->capacity = snapshot->capacity;
	metrics->interfaces = snapshot->interfaces;
	memcpy(metrics->interface, snapshot->interface, sizeof(metrics->interface));
	for (int list = 0; list < 2; list++)
		metrics->listed[list] = snapshot->bans.rules.listed[list];
}

void rf_metrics_count_event(struct rf_metrics *metrics, enum rf_event_type type)
{
	metrics->events[type] = add(metrics, "event", rf_event_type_name(type), 1);
}

void rf_metrics_count_suppressed(struct rf_metrics *metrics, enum rf_event_type type,
				 uint64_t events)
{
	metrics->suppressed[type] = add(metrics, "suppressed", rf_event_type_name(type), events);
}

void rf_metrics_note_history(struct rf_metrics *metrics, uint64_t bytes, uint64_t errors)
{
	const uint64_t before = metrics->history_errors_before;

	metrics->has_history = metrics->has_history || bytes;
	metrics->history_bytes = bytes;
	metrics->history_errors =
		add(metrics, "history", "errors", errors >= before ? errors - before : errors);
	metrics->history_errors_before = errors;
}

char *rf_metrics_save(const struct rf_metrics *metrics)
{
	return rf_monotonic_save(metrics->told);
}

int rf_metrics_restore(struct rf_metrics *metrics, const char *text)
{
	int err = 0;

	if (!metrics->is_restored)
		err = rf_monotonic_restore(metrics->told, text);
	metrics->is_restored = metrics->is_restored || !err;
	return err;
}

const struct rf_counters *rf_metrics_counters(const struct rf_metrics *metrics)
{
	return &metrics->counters;
}

const struct rf_limit_counters *rf_metrics_limit_counters(const struct rf_metrics *metrics,
							  const char *name)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (*name && strcmp(metrics->limit[slot].name, name) == 0)
			return &metrics->limit[slot].counters;
	return NULL;
}
