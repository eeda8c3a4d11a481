// SPDX-License-Identifier: GPL-2.0
/* The state of a fence's metrics, from scan to scan. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/units.h"
#include "ringfence/lease_place.h"
#include "snapshot/snapshot.h"
#include "watch/metrics_of.h"

/* ---- peaks ---- */

static bool start_peaks(struct rf_peaks *peaks)
{
	if (peaks->place)
		return true;
	if (getrandom(peaks->key, sizeof(peaks->key), 0) < 0)
		return false;
	for (int i = 0; i < 3; i++)
		peaks->key[i] |= 1;
	peaks->place = calloc(RF_PEAKS_PLACES, sizeof(*peaks->place));
	return peaks->place;
}

static uint64_t hash_of(const struct rf_peaks *peaks, const struct rf_prefix *source,
			uint32_t limit_id)
{
	const uint64_t high = source->word[0] | (uint64_t)source->word[1] << 32;
	const uint64_t low = source->word[2] | (uint64_t)source->word[3] << 32;
	const __u64 key[3] = {peaks->key[0], peaks->key[1], peaks->key[2]};
	uint64_t sum = rf_lease_hash(high ^ limit_id ^ (uint64_t)source->version << 32, key);

	if (low)
		sum += rf_lease_hash(~low, key);
	sum = rf_lease_hash(sum ^ sum >> 32, key);
	return sum ? sum : 1;
}

/* The upper bits select the place, therefore these do not. */
static bool is_noted(const struct rf_peaks *peaks, uint64_t hash)
{
	return !(hash >> 20 & ((1U << peaks->share_bits) - 1));
}

static struct rf_peak *find_peak(const struct rf_peaks *peaks, uint64_t hash)
{
	for (size_t at = hash >> 40;; at++) {
		struct rf_peak *place = &peaks->place[at % RF_PEAKS_PLACES];

		if (!place->hash || place->hash == hash)
			return place;
	}
}

static void put_peak(struct rf_peaks *peaks, const struct rf_peak *peak)
{
	struct rf_peak *place;

	if (!is_noted(peaks, peak->hash))
		return;
	place = find_peak(peaks, peak->hash);
	peaks->count += !place->hash;
	if (!place->hash || peak->use > place->use)
		*place = *peak;
}

/* Forgets one half of the sources. */
static bool halve(struct rf_peaks *peaks)
{
	struct rf_peak *before = peaks->place;
	struct rf_peak *place = calloc(RF_PEAKS_PLACES, sizeof(*place));

	if (!place)
		return false;
	peaks->place = place;
	peaks->count = 0;
	peaks->share_bits++;
	for (size_t i = 0; i < RF_PEAKS_PLACES; i++)
		if (before[i].hash)
			put_peak(peaks, &before[i]);
	free(before);
	return true;
}

/* Moves the waiting peaks into their places. */
static bool settle_peaks(struct rf_peaks *peaks)
{
	const unsigned int waits = peaks->waits;

	peaks->waits = 0;
	for (unsigned int i = 0; i < waits; i++) {
		if (peaks->count >= RF_PEAKS_PLACES / 2 && !halve(peaks))
			return false;
		put_peak(peaks, &peaks->waiting[i]);
	}
	return true;
}

/* False: no memory; then the use is not noted. */
static bool peaks_note(struct rf_peaks *peaks, const struct rf_prefix *source, uint32_t limit_id,
		       uint32_t use)
{
	struct rf_peak peak = {.limit_id = limit_id, .use = use};

	if (!start_peaks(peaks))
		return false;
	peak.hash = hash_of(peaks, source, limit_id);
	__builtin_prefetch(&peaks->place[(peak.hash >> 40) % RF_PEAKS_PLACES], 1);
	peaks->waiting[peaks->waits++] = peak;
	return peaks->waits < RF_PEAKS_WAIT || settle_peaks(peaks);
}

static void peaks_free(struct rf_peaks *peaks)
{
	free(peaks->place);
	*peaks = (struct rf_peaks){};
}

/* Calls `take` for each peak, with the number of sources it represents, and starts a new minute. */
static void peaks_take(struct rf_peaks *peaks,
		       void (*take)(void *context, const struct rf_peak *peak, uint64_t weight),
		       void *context)
{
	settle_peaks(peaks);
	for (size_t i = 0; peaks->place && i < RF_PEAKS_PLACES; i++)
		if (peaks->place[i].hash)
			take(context, &peaks->place[i], 1ULL << peaks->share_bits);
	peaks_free(peaks);
}

/* ---- counters that never step back ---- */

#define FIRST_CAPACITY 64
#define MOST (1LL << 60) /* that anybody counts: more is damage */

struct counter {
	char key[RF_MONOTONIC_KEY_SIZE];
	uint64_t base; /* of fences and limits that ended */
	uint64_t most; /* of the present run of the counter */
	uint64_t seen; /* in which reading */
};

struct rf_monotonic {
	char identity[RF_IDENTITY_SIZE];
	uint32_t generation;	  /* the latest one in the previous readings */
	uint32_t next_generation; /* and in this one */
	uint64_t readings;
	struct counter *counter;
	size_t count, capacity;
	size_t next;	       /* lookups start here: readings have one order */
	struct counter unkept; /* used without memory for a new counter */
};

struct rf_monotonic *rf_monotonic_new(void)
{
	return calloc(1, sizeof(struct rf_monotonic));
}

void rf_monotonic_free(struct rf_monotonic *counters)
{
	if (!counters)
		return;
	free(counters->counter);
	free(counters);
}

/* ---- looking up a counter ---- */

static struct counter *find(const struct rf_monotonic *counters, const char *key)
{
	for (size_t i = 0; i < counters->count; i++) {
		const size_t at = (counters->next + i) % counters->count;

		if (strcmp(counters->counter[at].key, key) == 0)
			return &counters->counter[at];
	}
	return NULL;
}

static struct counter *longest_unseen(const struct rf_monotonic *counters)
{
	struct counter *oldest = counters->counter;

	for (size_t i = 1; i < counters->count; i++)
		if (counters->counter[i].seen < oldest->seen)
			oldest = &counters->counter[i];
	return oldest;
}

static struct counter *make_room(struct rf_monotonic *counters)
{
	struct counter *grown;

	if (counters->count == RF_MONOTONIC_MAX)
		return longest_unseen(counters);
	grown = rf_grow(counters->counter, counters->count, &counters->capacity, sizeof(*grown),
			FIRST_CAPACITY);
	if (!grown)
		return &counters->unkept;
	counters->counter = grown;
	return &counters->counter[counters->count++];
}

static struct counter *get(struct rf_monotonic *counters, const char *key)
{
	struct counter *counter = find(counters, key);

	if (!counter) {
		counter = make_room(counters);
		*counter = (struct counter){};
		snprintf(counter->key, sizeof(counter->key), "%s", key);
	}
	counter->seen = counters->readings;
	if (counter != &counters->unkept)
		counters->next = counter - counters->counter + 1;
	return counter;
}

/* ---- readings of counters ---- */

/* Finishes the present run of the counter. */
static void settle(struct counter *counter)
{
	counter->base += counter->most;
	counter->most = 0;
}

static bool is_later(uint32_t generation, uint32_t than)
{
	return (int32_t)(generation - than) > 0;
}

void rf_monotonic_begin(struct rf_monotonic *counters, const char *identity, uint32_t generation)
{
	const bool is_same = strcmp(counters->identity, identity) == 0;

	counters->readings++;
	counters->generation = counters->next_generation;
	if (!is_same || is_later(generation, counters->next_generation))
		counters->next_generation = generation;
	if (is_same)
		return;
	counters->generation = generation;
	snprintf(counters->identity, sizeof(counters->identity), "%s", identity);
	for (size_t i = 0; i < counters->count; i++)
		settle(&counters->counter[i]);
}

static uint64_t grow(struct counter *counter, uint64_t now)
{
	if (now > counter->most)
		counter->most = now;
	return counter->base + counter->most;
}

uint64_t rf_monotonic_see(struct rf_monotonic *counters, const char *key, uint64_t now)
{
	return grow(get(counters, key), now);
}

uint64_t rf_monotonic_see_since(struct rf_monotonic *counters, const char *key, uint32_t since,
				uint64_t now)
{
	struct counter *counter = get(counters, key);

	if (is_later(since, counters->generation))
		settle(counter);
	/* The rules were read after their generation was. */
	if (is_later(since, counters->next_generation))
		counters->next_generation = since;
	return grow(counter, now);
}

uint64_t rf_monotonic_add(struct rf_monotonic *counters, const char *key, uint64_t more)
{
	struct counter *counter = get(counters, key);

	counter->base += more;
	return counter->base + counter->most;
}

uint64_t rf_monotonic_told(const struct rf_monotonic *counters, const char *key)
{
	const struct counter *counter = find(counters, key);

	return counter ? counter->base + counter->most : 0;
}

/* ---- counters as text ---- */

char *rf_monotonic_save(const struct rf_monotonic *counters)
{
	json_t *list = json_object();
	json_t *all = json_pack("{s:s, s:I, s:o}", "identity", counters->identity, "generation",
				(json_int_t)counters->next_generation, "counters", list);
	char *text;

	for (size_t i = 0; i < counters->count; i++) {
		const struct counter *counter = &counters->counter[i];

		/*
		 * A key that is not UTF-8 cannot be stored. Only ringfence names limits, in ASCII.
		 */
		if (counter->base || counter->most)
			json_object_set_new(list, counter->key,
					    json_pack("[I, I]", (json_int_t)counter->base,
						      (json_int_t)counter->most));
	}
	text = rf_json_line(all);
	json_decref(all);
	return text;
}

static int read_counter(struct rf_monotonic *into, const char *key, json_t *value)
{
	json_int_t base, most;
	struct counter *counter;

	if (!*key || strlen(key) >= RF_MONOTONIC_KEY_SIZE || into->count == RF_MONOTONIC_MAX ||
	    json_unpack(value, "[I, I !]", &base, &most) || base < 0 || most < 0 || base > MOST ||
	    most > MOST)
		return -EINVAL;
	counter = get(into, key);
	if (counter == &into->unkept)
		return -ENOMEM;
	counter->base = base;
	counter->most = most;
	return 0;
}

static int read_all(struct rf_monotonic *into, json_t *all)
{
	const char *identity, *key;
	json_int_t generation;
	json_t *list, *value;

	if (json_unpack(all, "{s:s, s:I, s:o}", "identity", &identity, "generation", &generation,
			"counters", &list) ||
	    !json_is_object(list) || strlen(identity) >= sizeof(into->identity) || generation < 0 ||
	    generation > UINT32_MAX)
		return -EINVAL;
	snprintf(into->identity, sizeof(into->identity), "%s", identity);
	into->generation = into->next_generation = generation;
	json_object_foreach (list, key, value) {
		const int err = read_counter(into, key, value);

		if (err)
			return err;
	}
	return 0;
}

/* Both have seen the same fence: the higher count is the later one. */
static void merge_counter(struct counter *into, const struct counter *from, bool is_same)
{
	into->base += from->base;
	if (!is_same)
		into->base += from->most;
	else if (from->most > into->most)
		into->most = from->most;
}

static void merge(struct rf_monotonic *into, const struct rf_monotonic *from)
{
	const bool is_same = strcmp(into->identity, from->identity) == 0;

	for (size_t i = 0; i < from->count; i++)
		merge_counter(get(into, from->counter[i].key), &from->counter[i], is_same);
}

static void take_over(struct rf_monotonic *into, struct rf_monotonic *from)
{
	const struct rf_monotonic before = *into;

	*into = *from;
	*from = before;
}

int rf_monotonic_restore(struct rf_monotonic *counters, const char *text)
{
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct rf_monotonic *saved = rf_monotonic_new();
	int err = saved ? -EINVAL : -ENOMEM;

	if (all && saved)
		err = read_all(saved, all);
	if (!err && !counters->readings && !counters->count)
		take_over(counters, saved);
	else if (!err)
		merge(counters, saved);
	rf_monotonic_free(saved);
	json_decref(all);
	return err;
}

/* ---- the fleet ---- */

/* A value that is stored with the counters, over restarts of the daemon. */
static void keep(struct rf_metrics *metrics, const char *key, uint64_t value)
{
	rf_monotonic_add(metrics->told, key, value - rf_monotonic_told(metrics->told, key));
}

/*
 * A counter of the agent, which starts at 0 with each start of the agent. The agent's previous
 * count is stored under `before`.
 */
static void count(struct rf_metrics *metrics, const char *key, const char *before, bool is_same,
		  uint64_t now)
{
	const uint64_t then = is_same ? rf_monotonic_told(metrics->told, before) : 0;

	keep(metrics, before, now);
	rf_monotonic_add(metrics->told, key, now > then ? now - then : 0);
}

static void take_agent(struct rf_metrics *metrics, const struct rf_agent_seen *agent)
{
	const bool is_same = rf_monotonic_told(metrics->told, "agent/started") == agent->started_ns;

	keep(metrics, "agent/started", agent->started_ns);
	count(metrics, "fleet/sent", "agent/sent", is_same, agent->asks_sent);
	count(metrics, "fleet/deferred", "agent/deferred", is_same, agent->asks_put_off);
	count(metrics, "fleet/alone_times", "agent/alone_times", is_same, agent->alone_times);
	count(metrics, "fleet/alone_ns", "agent/alone_ns", is_same, agent->alone_ns);
}

/* Updates the fleet's values from a scan (metrics_fleet.c). */
static void take_fleet(struct rf_metrics *metrics, const struct rf_fleet_seen *seen)
{
	const struct rf_agent_seen *agent = &seen->agent;
	struct rf_fleet_metrics *fleet = &metrics->fleet;

	fleet->is_told = seen->limits;
	fleet->seen = *seen;
	if (!fleet->is_told)
		return;
	fleet->asks_lost = rf_monotonic_see(metrics->told, "fleet/lost", seen->standing.asks_lost);
	if (agent->is_up)
		take_agent(metrics, agent);
	fleet->asks_sent = rf_monotonic_add(metrics->told, "fleet/sent", 0);
	fleet->asks_put_off = rf_monotonic_add(metrics->told, "fleet/deferred", 0);
	fleet->alone_times = rf_monotonic_add(metrics->told, "fleet/alone_times", 0);
	fleet->alone_ns = rf_monotonic_add(metrics->told, "fleet/alone_ns", 0);
}

/* ---- metrics of a fence ---- */

#define MINUTE_NS (60 * RF_NS_PER_S)
#define WORST_NS (60 * RF_NS_PER_S) /* after this time, the worst source is replaced */
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
	peaks_free(&metrics->peaks);
	free(metrics);
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

static void take_counters(struct rf_metrics *metrics, const struct rf_fence_sums *sums)
{
	static const char *const families[] = {"ipv4", "ipv6"};
	const struct rf_counters *now = &sums->counters;
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
		metrics->windows[i] = sums->used[i];
	}
	told->newcomers_admitted = tell(metrics, "newcomers", "admitted", now->newcomers_admitted);
	told->newcomers_known = tell(metrics, "newcomers", "known", now->newcomers_known);
	told->newcomers_aggregated =
		tell(metrics, "newcomers", "aggregated", now->newcomers_aggregated);
	told->shadow_newcomers = tell(metrics, "newcomers", "shadow_only", now->shadow_newcomers);
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

/* Adds to the histogram of a limit, or reads it. */
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
	take_outcome(metrics, limit, "truncated", &now->truncated, &told->counters.truncated);
	add_use(metrics, told, nothing, 0);
}

static void take_limits(struct rf_metrics *metrics, const struct rf_snapshot *snapshot)
{
	const struct rf_bank *rules = &snapshot->bans.rules;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_metrics *told = &metrics->limit[slot];

		if (rules->policy[slot].id)
			take_limit(metrics, &rules->limit[slot], rules->policy[slot].id,
				   &snapshot->sums.limit[slot], told);
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
		peaks_note(&metrics->peaks, &row->source, row->limit_id, use);
}

/* Observations of the past minute. */
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
		return; /* the limit was deleted in between */
	slot = limit - observing->metrics->limit;
	while (bucket < RF_USE_BOUNDS && peak->use > rf_use_bounds[bucket].most)
		bucket++;
	observing->use[slot][bucket] += weight;
	observing->sum[slot] += weight * peak->use;
}

void rf_metrics_observe(struct rf_metrics *metrics)
{
	struct observing observing = {.metrics = metrics};

	peaks_take(&metrics->peaks, observe_one, &observing);
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

/* ---- the complete scan ---- */

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
	take_counters(metrics, &snapshot->sums);
	take_limits(metrics, snapshot);
	take_sources(metrics, snapshot);
	take_events(metrics);
	take_fleet(metrics, &snapshot->fleet);
	rf_metrics_note_history(metrics, metrics->history_bytes, metrics->history_errors_before);
	metrics->is_known = true;
	metrics->is_up = true;
	metrics->awake_ns = snapshot->awake_ns;
	metrics->confirm_ns = standing->state == RF_PENDING ? standing->confirm_ns : 0;
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
