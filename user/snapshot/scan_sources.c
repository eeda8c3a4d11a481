// SPDX-License-Identifier: GPL-2.0
/* The sources of a scan, and the new counts of each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/grow.h"
#include "fence/pending.h"
#include "ringfence/known_filter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"
#include "schema/reasons.h"
#include "snapshot/scanner.h"

/* ---- known windows; functions that may allocate return -ENOMEM ---- */

#define LEAST 1024

static uint32_t hash_of(const struct rf_known_list *list, const struct rf_address *source,
			uint32_t limit_id)
{
	__u64 words[2];

	memcpy(words, source->word, sizeof(words));
	words[1] ^= (uint64_t)limit_id << 32 | limit_id;
	return rf_known_filter_hash(words, source->version == 6, list->key) >> 20;
}

static bool is_it(const struct rf_known *known, const struct rf_address *source, uint32_t limit_id)
{
	return known->limit_id == limit_id && known->source.version == source->version &&
	       !memcmp(known->source.word, source->word, sizeof(source->word));
}

static struct rf_known *find_known(struct rf_known_list *list, const struct rf_address *source,
				   uint32_t limit_id, uint32_t hash)
{
	const uint32_t mask = list->places - 1;

	for (uint32_t at = hash & mask; list->place[at]; at = (at + 1) & mask)
		if (is_it(&list->of[list->place[at] - 1], source, limit_id))
			return &list->of[list->place[at] - 1];
	return NULL;
}

/* NULL: it is not known. */
static struct rf_known *known_find(struct rf_known_list *list, const struct rf_address *source,
				   uint32_t limit_id)
{
	return list->places ? find_known(list, source, limit_id, hash_of(list, source, limit_id))
			    : NULL;
}

static void put_known(struct rf_known_list *list, uint32_t index)
{
	const uint32_t mask = list->places - 1;
	uint32_t at = list->of[index].hash & mask;

	while (list->place[at])
		at = (at + 1) & mask;
	list->place[at] = index + 1;
}

static void put_all_known(struct rf_known_list *list)
{
	memset(list->place, 0, list->places * sizeof(*list->place));
	for (uint32_t i = 0; i < list->count; i++)
		put_known(list, i);
}

static int make_room(struct rf_known_list *list)
{
	const uint32_t capacity = list->capacity ? 2 * list->capacity : LEAST;
	struct rf_known *of;
	uint32_t *place;

	if (list->count < list->capacity)
		return 0;
	of = reallocarray(list->of, capacity, sizeof(*of));
	if (of)
		list->of = of;
	place = of ? reallocarray(list->place, 2 * (size_t)capacity, sizeof(*place)) : NULL;
	if (!place)
		return -ENOMEM;
	list->place = place;
	list->capacity = capacity;
	list->places = 2 * capacity;
	put_all_known(list);
	return 0;
}

/* Starts a scan. */
static int known_begin(struct rf_known_list *list)
{
	if (!list->key[0] && getrandom(list->key, sizeof(list->key), 0) != sizeof(list->key))
		return -errno;
	for (int i = 0; i < 3; i++)
		list->key[i] |= 1;
	list->scan++;
	list->next = 0;
	list->touched_count = 0;
	return 0;
}

void rf_known_free(struct rf_known_list *list)
{
	free(list->of);
	free(list->place);
	free(list->touched);
	free(list->held);
	*list = (struct rf_known_list){};
}

/* Notes that this scan knows something of it. */
static int touch(struct rf_known_list *list, struct rf_known *known)
{
	uint32_t *touched;

	if (known->touched == list->scan)
		return 0;
	touched = rf_grow(list->touched, list->touched_count, &list->touched_capacity,
			  sizeof(*touched), LEAST);
	if (!touched)
		return -ENOMEM;
	list->touched = touched;
	list->touched[list->touched_count++] = known - list->of;
	known->touched = list->scan;
	known->is_shown = false;
	memset(known->pending, 0, sizeof(known->pending));
	memset(known->fresh, 0, sizeof(known->fresh));
	return 0;
}

static bool is_back(const struct rf_known *known, const struct rf_window_sight *sight, int kind,
		    uint64_t count)
{
	if (sight->is_short)
		return (int32_t)((uint32_t)count - (uint32_t)known->count[kind]) < 0;
	return count < known->count[kind];
}

/* A new window, or a count that decreased: the window was created again, with counts of 0. */
static bool is_anew(const struct rf_known *known, const struct rf_window_sight *sight,
		    const uint64_t count[RF_KINDS])
{
	return known->stay != sight->stay || is_back(known, sight, RF_PASSED, count[RF_PASSED]) ||
	       is_back(known, sight, RF_DROPPED, count[RF_DROPPED]);
}

static void take_sight(struct rf_known *known, const struct rf_window_sight *sight, bool anew)
{
	const uint64_t count[RF_KINDS] = {sight->passed, sight->dropped, sight->would_drop};

	anew = anew || is_anew(known, sight, count);
	for (int i = 0; i < RF_KINDS; i++) {
		if (anew)
			known->told[i] = 0;
		/* What would be dropped steps back also where the limit gets a ban. */
		if (anew || !sight->is_short || is_back(known, sight, i, count[i]))
			known->count[i] = count[i];
		else
			known->count[i] += (uint32_t)count[i] - (uint32_t)known->count[i];
	}
}

/* Each scan finds windows in nearly the same order, so the next one needs no search. */
static struct rf_known *find_next(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known = list->next < list->count ? &list->of[list->next] : NULL;

	if (known && is_it(known, &sight->source, sight->limit_id))
		return known;
	return known_find(list, &sight->source, sight->limit_id);
}

static struct rf_known *add_known(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known;

	if (make_room(list))
		return NULL;
	known = &list->of[list->count++];
	*known = (struct rf_known){
		.source = sight->source,
		.limit_id = sight->limit_id,
		.hash = hash_of(list, &sight->source, sight->limit_id),
		.made = list->scan,
	};
	put_known(list, list->count - 1);
	return known;
}

/* Takes a window's data. */
static int known_see(struct rf_known_list *list, const struct rf_window_sight *sight)
{
	struct rf_known *known = find_next(list, sight);
	const bool is_new = !known;

	if (is_new)
		known = add_known(list, sight);
	if (!known)
		return -ENOMEM;
	list->next = known - list->of + 1;
	if (touch(list, known))
		return -ENOMEM;
	take_sight(known, sight, is_new);
	known->stay = sight->stay;
	known->read = list->scan;
	known->used = sight->used < UINT32_MAX ? sight->used : UINT32_MAX;
	known->lent = sight->lent;
	known->was_missed = false;
	return 0;
}

/* Adds the pending counts of its lease. */
static int known_hold(struct rf_known_list *list, struct rf_known *known, enum rf_told_kind kind,
		      uint32_t packets)
{
	if (touch(list, known))
		return -ENOMEM;
	known->pending[kind] += packets;
	return 0;
}

/* Did leases hand over something of that window since the scan before, that was not read yet? */
static bool known_must_be_read(const struct rf_known_list *list, const struct rf_known_held *held)
{
	const struct rf_known *known = &list->of[held->at];

	if (known->read == list->scan)
		return false;
	for (int i = 0; i < RF_KINDS; i++)
		if ((known->touched == list->scan ? known->pending[i] : 0) < held->pending[i])
			return true;
	return false;
}

static bool has_pending(const struct rf_known *known)
{
	return known->pending[RF_PASSED] || known->pending[RF_DROPPED] ||
	       known->pending[RF_WOULD_DROP];
}

static void tell_one(struct rf_known *known, uint64_t now_ns)
{
	for (int i = 0; i < RF_KINDS; i++) {
		const uint64_t sum = known->count[i] + known->pending[i];

		if (sum <= known->told[i])
			continue; /* a lease handed packets over between two readings */
		known->fresh[i] = sum - known->told[i];
		known->told[i] = sum;
		known->grew_ns = now_ns;
	}
}

/* All data of this scan was taken: computes the new counts. */
static int known_tell(struct rf_known_list *list, uint64_t now_ns)
{
	struct rf_known_held *held;
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->touched_count; i++) {
		tell_one(&list->of[list->touched[i]], now_ns);
		count += has_pending(&list->of[list->touched[i]]);
	}
	held = reallocarray(list->held, count + 1, sizeof(*held));
	if (!held)
		return -ENOMEM;
	list->held = held;
	list->held_count = 0;
	for (uint32_t i = 0; i < list->touched_count; i++) {
		const struct rf_known *known = &list->of[list->touched[i]];
		struct rf_known_held *one = &held[list->held_count];

		if (!has_pending(known))
			continue;
		one->at = list->touched[i];
		memcpy(one->pending, known->pending, sizeof(one->pending));
		list->held_count++;
	}
	return 0;
}

/* Forgets the windows that two readings of all windows did not find. Places change. */
static void known_sweep(struct rf_known_list *list)
{
	uint32_t kept = 0, held = 0;

	for (uint32_t i = 0; i < list->held_count; i++)
		list->of[list->held[i].at].held = i + 1;
	for (uint32_t i = 0; i < list->count; i++) {
		struct rf_known *known = &list->of[i];
		const bool was_missed = known->was_missed;

		known->was_missed = known->read != list->scan;
		if (known->held)
			list->held[known->held - 1].at =
				was_missed && known->was_missed ? UINT32_MAX : kept;
		known->held = 0;
		if (!was_missed || !known->was_missed)
			list->of[kept++] = *known;
	}
	for (uint32_t i = 0; i < list->held_count; i++)
		if (list->held[i].at != UINT32_MAX)
			list->held[held++] = list->held[i];
	list->count = kept;
	list->held_count = held;
	list->touched_count = 0;
	put_all_known(list);
}

/*
 * ---- the reading of sources ----
 *
 * Windows first, then the leases: counts that a lease flushes between the two readings are missing
 * from this scan, and included in the next one; nothing is reported twice. Packets handled by a
 * lease touch no window, so a source also counts as active by its lease.
 */

#define ACTIVE_NS (4 * RF_NS_PER_S) /* how long a source is shown after its last packet */
#define WHOLE_NS (60 * RF_NS_PER_S) /* so often are all windows read */
#define WHOLE_SCANS 16		    /* but not more often */

/* ---- windows ---- */

static bool is_whole_due(const struct rf_scanner *scanner, const struct rf_snapshot *snapshot)
{
	const uint64_t since_ns = snapshot->awake_ns - scanner->whole_ns;

	return since_ns >= WHOLE_NS && since_ns >= WHOLE_SCANS * snapshot->since_ns;
}

/* Which windows might have been used since the previous scan. */
static enum rf_window_age age_of(const struct rf_scanner *scanner,
				 const struct rf_snapshot *snapshot)
{
	if (!scanner->whole_ns || is_whole_due(scanner, snapshot) ||
	    snapshot->since_ns > 60 * RF_NS_PER_S)
		return RF_WINDOWS_ALL;
	return snapshot->since_ns > 3 * RF_NS_PER_S ? RF_WINDOWS_64S : RF_WINDOWS_4S;
}

static int see(const struct rf_window_sight *sight, void *context)
{
	return known_see(context, sight);
}

/*
 * The first scan takes batches, whose counters are complete. It reads records before: windows are
 * then known in the order in which later scans find them.
 */
static int read_windows(struct rf_scanner *scanner, struct rf_snapshot *snapshot, bool *is_whole,
			struct rf_error *error)
{
	const enum rf_window_age age = age_of(scanner, snapshot);
	int err = rf_fence_each_record(&scanner->fence, age, see, &scanner->known, error);

	*is_whole = age == RF_WINDOWS_ALL;
	if (err && err != -ENOENT)
		return err;
	if (!err && scanner->whole_ns)
		return 0;
	*is_whole = true;
	return rf_fence_each_window(&scanner->fence, &snapshot->bans.rules, see, &scanner->known,
				    error);
}

/* Looks a window up. An evicted one is no error. */
static int read_one(struct rf_scanner *scanner, const struct rf_bank *rules,
		    const struct rf_address *source, uint32_t limit_id)
{
	const int slot = rf_bank_find_id(rules, limit_id);
	struct rf_window_sight sight;
	struct rf_source state;

	if (slot < 0 || rf_fence_window(&scanner->fence, &rules->policy[slot], source, &state))
		return 0;
	rf_window_sight(&scanner->fence, &rules->policy[slot], source, &state, &sight);
	return known_see(&scanner->known, &sight);
}

/* ---- leases ---- */

static enum rf_told_kind kind_of(const struct rf_pending_row *row)
{
	if (rf_reason_is_drop(row->reason))
		return RF_DROPPED;
	return row->reason == RF_SHADOW_OVER ? RF_WOULD_DROP : RF_PASSED;
}

static int take_lease(struct rf_scanner *scanner, const struct rf_bank *rules,
		      const struct rf_pending_row *row)
{
	const struct rf_policy *policy = &rules->policy[row->slot];
	const enum rf_told_kind kind = kind_of(row);
	struct rf_address source = {.version = row->is_ipv6 ? 6 : 4};
	struct rf_known *known;
	int err;

	if (kind == RF_WOULD_DROP && policy->ban)
		return 0;
	memcpy(source.word, &row->source, sizeof(row->source));
	known = known_find(&scanner->known, &source, policy->id);
	if (!known) {
		err = read_one(scanner, rules, &source, policy->id);
		known = err ? NULL : known_find(&scanner->known, &source, policy->id);
		if (!known)
			return err;
	}
	return known_hold(&scanner->known, known, kind, row->packets);
}

/* Windows that a lease handed packets over to, and that no packet has touched since. */
static int read_handed_over(struct rf_scanner *scanner, const struct rf_bank *rules)
{
	struct rf_known_list *list = &scanner->known;
	int err = 0;

	for (uint32_t i = 0; i < list->held_count && !err; i++) {
		const struct rf_known *known = &list->of[list->held[i].at];
		const struct rf_address source = known->source;

		if (known_must_be_read(list, &list->held[i]))
			err = read_one(scanner, rules, &source, known->limit_id);
	}
	return err;
}

static int take_leases(struct rf_scanner *scanner, const struct rf_bank *rules,
		       const struct rf_leases *leases)
{
	struct rf_pending pending;
	int err = rf_leases_list(&scanner->fence, leases, rules, &pending);

	for (size_t i = 0; i < pending.count && !err; i++)
		err = take_lease(scanner, rules, &pending.row[i]);
	free(pending.row);
	return err ? err : read_handed_over(scanner, rules);
}

/* ---- rows ---- */

/* The packets that passed in about the last TIME: counts of earlier scans fade within TIME. */
static uint32_t recent_of(const struct rf_scanner *scanner, const struct rf_snapshot *snapshot,
			  const struct rf_known *known, const struct rf_limit *limit)
{
	const uint32_t ms = (uint32_t)(snapshot->awake_ns / RF_NS_PER_MS) - known->recent_ms;
	const double window_ns = limit->window_ns, since_ns = snapshot->since_ns;
	const double fading = 1 - ms * (double)RF_NS_PER_MS / window_ns;
	double recent = fading > 0 ? known->recent * fading : 0;

	if (since_ns && known->touched == scanner->known.scan)
		recent +=
			known->fresh[RF_PASSED] * (since_ns > window_ns ? window_ns / since_ns : 1);
	return recent < UINT32_MAX ? recent : UINT32_MAX;
}

/*
 * The use of a window, in the policy's units. Packets that CPUs pass by loans are in no window, so
 * the counters decide how much of the lent units was used.
 */
static uint64_t use_of(const struct rf_scanner *scanner, const struct rf_snapshot *snapshot,
		       struct rf_known *known, int slot)
{
	const struct rf_limit *limit = &snapshot->bans.rules.limit[slot];
	const uint32_t own = known->used - known->lent;

	if (!known->lent || limit->unit == RF_BYTES)
		return known->used;
	known->recent = recent_of(scanner, snapshot, known, limit);
	known->recent_ms = snapshot->awake_ns / RF_NS_PER_MS;
	if (known->recent >= known->used)
		return known->used;
	return known->recent > own ? known->recent : own;
}

static int show(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_known *known,
		const struct rf_ban_row *ban)
{
	const struct rf_bans *bans = &snapshot->bans;
	const int slot = rf_bank_find_id(&bans->rules, known->limit_id);
	struct rf_source_row row;

	if (slot < 0)
		return 0;
	row = (struct rf_source_row){
		.source = rf_limit_source(&bans->rules.limit[slot], &known->source),
		.limit = &bans->rules.limit[slot],
		.limit_id = known->limit_id,
		.passed = known->told[RF_PASSED],
		.dropped = known->told[RF_DROPPED],
		.would_drop = known->told[RF_WOULD_DROP],
		.used = use_of(scanner, snapshot, known, slot)
			<< bans->rules.policy[slot].unit_shift,
	};
	if (ban)
		row.banned_ns = rf_fence_left_ns(&scanner->fence, bans->now, ban->until);
	if (scanner->scanned_ns && known->touched == scanner->known.scan) {
		row.new_passed = known->fresh[RF_PASSED];
		row.new_dropped = known->fresh[RF_DROPPED];
		row.new_would_drop = known->fresh[RF_WOULD_DROP];
	}
	return rf_source_rows_append(&snapshot->sources, &row);
}

/* A ban outlives the window of its source. */
static int show_ban(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    const struct rf_ban_row *ban)
{
	struct rf_known *known = known_find(&scanner->known, &ban->source, ban->limit_id);
	const struct rf_source_row row = {
		.source = rf_ban_prefix(ban),
		.limit = ban->limit,
		.limit_id = ban->limit_id,
		.banned_ns = rf_fence_left_ns(&scanner->fence, snapshot->bans.now, ban->until),
	};

	if (!known)
		return rf_source_rows_append(&snapshot->sources, &row);
	if (known->touched == scanner->known.scan)
		known->is_shown = true;
	return show(scanner, snapshot, known, ban);
}

/* The first scan's findings can be old. */
static void follow(struct rf_scanner *scanner, const struct rf_known *known)
{
	if (scanner->has_followers && scanner->scanned_ns)
		rf_follow_offer(&scanner->follow, known, known->made == scanner->known.scan);
}

static int show_known(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	const struct rf_bans *bans = &snapshot->bans;
	struct rf_known_list *list = &scanner->known;
	int err = 0;

	for (size_t i = 0; i < bans->count && !err; i++)
		err = show_ban(scanner, snapshot, &bans->row[i]);
	for (uint32_t i = 0; i < list->touched_count && !err; i++) {
		struct rf_known *known = &list->of[list->touched[i]];

		follow(scanner, known);
		if (!known->is_shown && snapshot->awake_ns - known->grew_ns < ACTIVE_NS)
			err = show(scanner, snapshot, known, NULL);
	}
	return err;
}

/* ---- windows that newcomers share ---- */

struct showing {
	struct rf_scanner *scanner;
	struct rf_snapshot *snapshot;
};

static int show_aggregate(const struct rf_prefix *prefix, int slot, int place,
			  const struct rf_source *state, void *context)
{
	const struct showing *showing = context;
	const struct rf_scanner *scanner = showing->scanner;
	const struct rf_bank *rules = &showing->snapshot->bans.rules;
	const struct rf_policy *policy = &rules->policy[slot];
	struct rf_aggregate_told *told = &scanner->aggregate[place];
	const uint64_t count[RF_KINDS] = {state->passed, state->dropped,
					  policy->ban ? 0 : state->would_drop};
	struct rf_source_row row = {
		.source = *prefix,
		.limit = &rules->limit[slot],
		.limit_id = policy->id,
		.passed = count[RF_PASSED],
		.dropped = count[RF_DROPPED],
		.would_drop = count[RF_WOULD_DROP],
		.used = rf_used(&state->window, policy, rf_fence_time(&scanner->fence, policy))
			<< policy->unit_shift,
		.is_aggregate = true,
	};
	uint64_t *const fresh[RF_KINDS] = {&row.new_passed, &row.new_dropped, &row.new_would_drop};

	if (told->limit_id != policy->id) /* the place was cleared for another limit */
		*told = (struct rf_aggregate_told){.limit_id = policy->id};
	for (int i = 0; i < RF_KINDS; i++) {
		if (scanner->scanned_ns && count[i] > told->count[i])
			*fresh[i] = count[i] - told->count[i];
		told->count[i] = count[i];
	}
	return rf_source_rows_append(&showing->snapshot->sources, &row);
}

static int show_aggregates(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	struct showing showing = {scanner, snapshot};

	if (!scanner->aggregate)
		scanner->aggregate = calloc((size_t)RF_AGGREGATE_SETS * RF_AGGREGATES,
					    sizeof(*scanner->aggregate));
	if (!scanner->aggregate)
		return -ENOMEM;
	return rf_fence_each_aggregate(&scanner->fence, &snapshot->bans.rules, show_aggregate,
				       &showing);
}

/* ---- cells ---- */

static int read_cells(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	struct rf_follow *follow = &scanner->follow;
	int err = rf_follow_choose(follow, &snapshot->bans.rules, snapshot->awake_ns,
				   snapshot->since_ns, snapshot->time_ns);

	if (!err)
		err = rf_follow_read(follow, &scanner->fence, snapshot->awake_ns, true);
	if (!err)
		snapshot->cells = rf_follow_take(follow, &snapshot->cells_count);
	return err;
}

/* ---- the complete scan ---- */

static int show_all(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    const struct rf_leases *leases, bool is_whole)
{
	int err = take_leases(scanner, &snapshot->bans.rules, leases);

	if (!err)
		err = known_tell(&scanner->known, snapshot->awake_ns);
	if (!err && scanner->has_followers)
		err = rf_follow_begin(&scanner->follow);
	if (!err)
		err = show_known(scanner, snapshot);
	if (!err && scanner->has_followers)
		err = read_cells(scanner, snapshot);
	if (!err)
		err = show_aggregates(scanner, snapshot);
	if (!err)
		err = rf_source_rows_sort(&snapshot->sources);
	if (!err && is_whole) {
		scanner->whole_ns = snapshot->awake_ns;
		/* Limits that return with the old rules still have their windows. */
		if (snapshot->standing.state != RF_PENDING)
			known_sweep(&scanner->known);
	}
	return err;
}

/* Windows, counters, leases, in this order: leases are read once, for both. */
static int read_all(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_leases *leases, bool *is_whole, struct rf_error *error)
{
	int err = read_windows(scanner, snapshot, is_whole, error);

	if (!err)
		err = rf_fence_sums_read(&scanner->fence, &snapshot->bans.rules, &snapshot->sums,
					 leases, error);
	return err;
}

int rf_scan_sources(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error)
{
	int err = known_begin(&scanner->known);
	struct rf_leases leases = {};
	bool is_whole = false;

	/* First of all: which windows are read follows from it. */
	if (scanner->scanned_ns)
		snapshot->since_ns = snapshot->awake_ns - scanner->scanned_ns;
	if (!err) {
		err = read_all(scanner, snapshot, &leases, &is_whole, error);
		if (err && err != -ENOMEM) {
			rf_leases_free(&leases);
			return err;
		}
	}
	if (!err)
		err = show_all(scanner, snapshot, &leases, is_whole);
	rf_leases_free(&leases);
	return err ? rf_error_failed(error, err, "cannot list the sources: %s", strerror(-err)) : 0;
}
