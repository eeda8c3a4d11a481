// SPDX-License-Identifier: GPL-2.0
/* Which sources' cells to record, and their contents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "ringfence/lease.h"
#include "ringfence/lease_place.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"
#include "rules/policy.h"
#include "snapshot/scanner.h"
#include "snapshot/sources.h"

#define IDLE_NS (2 * RF_NS_PER_S) /* a source is followed for its TIME, plus this */
#define DROPS_WEIGH 16		  /* packets that passed count as much as one drop */
/*
 * If cells do not fit, the least important are dropped: a sample must remain complete to be valid.
 */
#define SAMPLE_WEIGHT (1ULL << 48)
#define SHARE_BITS_MAX 24
#define ROUND_NS (100 * RF_NS_PER_MS) /* scans are occasionally late */

void rf_follow_free(struct rf_follow *follow)
{
	free(follow->list.of);
	free(follow->worst.of);
	free(follow->sample.of);
	free(follow->row);
	*follow = (struct rf_follow){};
}

/* Each list has room for all of them. */
static int make_list(struct rf_followed_list *list)
{
	if (!list->of)
		list->of = calloc(2 * RF_FOLLOW_WORST + 2 * RF_FOLLOW_SAMPLE, sizeof(*list->of));
	return list->of ? 0 : -ENOMEM;
}

int rf_follow_begin(struct rf_follow *follow)
{
	follow->worst.count = follow->sample.count = 0;
	if (make_list(&follow->list) || make_list(&follow->worst) || make_list(&follow->sample))
		return -ENOMEM;
	return 0;
}

/* ---- the worst of a scan ---- */

static void swap(struct rf_followed *a, struct rf_followed *b)
{
	const struct rf_followed kept = *a;

	*a = *b;
	*b = kept;
}

/* Lets the first one of the heap sink to its place. */
static void sink(struct rf_followed_list *heap)
{
	for (size_t at = 0;;) {
		size_t least = at;

		for (size_t below = 2 * at + 1; below <= 2 * at + 2 && below < heap->count; below++)
			if (heap->of[below].weight < heap->of[least].weight)
				least = below;
		if (least == at)
			return;
		swap(&heap->of[at], &heap->of[least]);
		at = least;
	}
}

static void rise(struct rf_followed_list *heap)
{
	size_t at = heap->count - 1;

	while (at && heap->of[at].weight < heap->of[(at - 1) / 2].weight) {
		swap(&heap->of[at], &heap->of[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

static void offer_worst(struct rf_followed_list *heap, const struct rf_followed *one)
{
	if (heap->count < RF_FOLLOW_WORST) {
		heap->of[heap->count++] = *one;
		rise(heap);
	} else if (one->weight > heap->of[0].weight) {
		heap->of[0] = *one;
		sink(heap);
	}
}

/* ---- the sample ---- */

/* With a separate key: a restart draws the same sample. */
static uint32_t sample_hash(const struct rf_follow *follow, const struct rf_known *known)
{
	const uint32_t *word = known->source.word;
	const uint64_t high = word[0] | (uint64_t)word[1] << 32;
	const uint64_t low = word[2] | (uint64_t)word[3] << 32;
	const uint64_t other = (uint64_t)known->limit_id << 8 | known->source.version;

	return (rf_lease_hash(high, follow->key) + rf_lease_hash(low ^ other, follow->key)) >> 32;
}

static bool is_of_share(const struct rf_followed *one, unsigned int share_bits)
{
	return !(one->hash & ((1U << share_bits) - 1));
}

/* Leaves half of the sample, as often as it must. */
static void thin(struct rf_follow *follow)
{
	struct rf_followed_list *sample = &follow->sample;

	while (sample->count >= RF_FOLLOW_SAMPLE && follow->share_bits < SHARE_BITS_MAX) {
		size_t left = 0;

		follow->share_bits++;
		for (size_t i = 0; i < sample->count; i++)
			if (is_of_share(&sample->of[i], follow->share_bits))
				sample->of[left++] = sample->of[i];
		sample->count = left;
	}
}

void rf_follow_offer(struct rf_follow *follow, const struct rf_known *known, bool is_new)
{
	const uint64_t drops = known->fresh[RF_DROPPED] + known->fresh[RF_WOULD_DROP];
	const uint64_t packets = known->fresh[RF_PASSED] + drops;
	struct rf_followed one = {
		.source = known->source,
		.limit_id = known->limit_id,
		.weight = packets + (DROPS_WEIGH - 1) * drops,
		.fresh = packets,
		.passed = known->fresh[RF_PASSED],
		.hash = sample_hash(follow, known),
		.is_whole = is_new,
		.row = -1,
	};

	if (!packets)
		return;
	offer_worst(&follow->worst, &one);
	if (!is_of_share(&one, follow->share_bits))
		return;
	thin(follow);
	if (is_of_share(&one, follow->share_bits) && follow->sample.count < RF_FOLLOW_SAMPLE)
		follow->sample.of[follow->sample.count++] = one;
}

/* ---- choosing ---- */

static int compare_source(const void *a, const void *b)
{
	const struct rf_followed *left = a, *right = b;
	const int order = memcmp(left->source.word, right->source.word, sizeof(left->source.word));

	if (order)
		return order;
	if (left->source.version != right->source.version)
		return left->source.version - right->source.version;
	return (left->limit_id > right->limit_id) - (left->limit_id < right->limit_id);
}

/* Sampled ones first, then by weight. */
static int compare_weight(const void *a, const void *b)
{
	const struct rf_followed *left = a, *right = b;

	if (left->is_sampled != right->is_sampled)
		return left->is_sampled ? -1 : 1;
	return (left->weight < right->weight) - (left->weight > right->weight);
}

/* Merges duplicates: with the state of the one that is followed. */
static size_t merge(struct rf_followed *of, size_t count)
{
	size_t left = 0;

	rf_sort(of, count, sizeof(*of), compare_source);
	for (size_t i = 0; i < count; i++) {
		struct rf_followed *into = left ? &of[left - 1] : NULL;

		if (!into || compare_source(into, &of[i])) {
			of[left++] = of[i];
			continue;
		}
		if (!into->seen_ns && of[i].seen_ns)
			swap(into, &of[i]);
		if (of[i].fresh > into->fresh)
			into->fresh = of[i].fresh;
		if (of[i].passed > into->passed)
			into->passed = of[i].passed;
		if (of[i].weight > into->weight)
			into->weight = of[i].weight;
	}
	return left;
}

static bool stays(const struct rf_follow *follow, const struct rf_followed *one, uint64_t awake_ns)
{
	const int slot = rf_bank_find_id(&follow->rules, one->limit_id);

	return slot >= 0 && (one->fresh || awake_ns - one->seen_ns <
						   follow->rules.limit[slot].window_ns + IDLE_NS);
}

static void add_all(struct rf_followed_list *list, const struct rf_followed_list *more)
{
	memcpy(list->of + list->count, more->of, more->count * sizeof(*more->of));
	list->count += more->count;
}

/* Which sources are in the sample, with the share that leaves no more than the maximum. */
static size_t draw_sample(struct rf_follow *follow)
{
	struct rf_followed_list *list = &follow->list;

	for (;; follow->share_bits++) {
		size_t sampled = 0;

		for (size_t i = 0; i < list->count; i++) {
			list->of[i].is_sampled = is_of_share(&list->of[i], follow->share_bits);
			sampled += list->of[i].is_sampled;
		}
		if (sampled <= RF_FOLLOW_SAMPLE || follow->share_bits == SHARE_BITS_MAX)
			return sampled;
	}
}

/* Adds the scan's sources to the followed ones, and forgets the least important. */
static void renew(struct rf_follow *follow, uint64_t awake_ns)
{
	struct rf_followed_list *list = &follow->list;
	size_t left = 0, most;

	for (size_t i = 0; i < list->count; i++) {
		list->of[i].weight /= 2;
		list->of[i].fresh = list->of[i].passed = 0;
	}
	add_all(list, &follow->worst);
	add_all(list, &follow->sample);
	list->count = merge(list->of, list->count);
	for (size_t i = 0; i < list->count; i++)
		if (stays(follow, &list->of[i], awake_ns))
			list->of[left++] = list->of[i];
	list->count = left;
	most = draw_sample(follow) + RF_FOLLOW_WORST;
	rf_sort(list->of, left, sizeof(*list->of), compare_weight);
	if (list->count > most)
		list->count = most;
	for (size_t i = 0; i < list->count; i++)
		if (list->of[i].fresh)
			list->of[i].seen_ns = awake_ns;
}

/* ---- rows ---- */

/* A row for that one; NULL: no memory. */
static struct rf_cells_row *new_row(struct rf_follow *follow, struct rf_followed *followed,
				    int slot)
{
	const struct rf_limit *limit = &follow->rules.limit[slot];
	struct rf_cells_row *row;

	if (follow->rows == follow->capacity) {
		const size_t capacity = 2 * follow->capacity + RF_FOLLOW_WORST;

		row = reallocarray(follow->row, capacity, sizeof(*row));
		if (!row)
			return NULL;
		follow->row = row;
		follow->capacity = capacity;
	}
	followed->row = follow->rows;
	row = &follow->row[follow->rows++];
	memset(row, 0, sizeof(*row));
	row->source = rf_limit_source(limit, &followed->source);
	memcpy(row->limit, limit->name, sizeof(row->limit));
	row->weight = followed->weight + (followed->is_sampled ? SAMPLE_WEIGHT : 0);
	return row;
}

/* ---- differences ---- */

static bool has_cells(const struct rf_policy *policy)
{
	return policy->algorithm == RF_SLIDING;
}

static int add_difference(struct rf_follow *follow, struct rf_followed *one, int slot,
			  uint64_t time_ns, uint64_t since_ns)
{
	const uint64_t rounded_ns = (since_ns + ROUND_NS / 2) / ROUND_NS * ROUND_NS;
	const uint64_t cell_ns = rounded_ns ? rounded_ns : ROUND_NS;
	struct rf_cells_row *row = new_row(follow, one, slot);

	if (!row)
		return -ENOMEM;
	row->first_ns = time_ns - cell_ns;
	row->cell_ns = cell_ns;
	row->is_difference = row->counts_refused = true;
	row->is_incomplete = !one->next && !one->is_whole;
	row->cell[row->count++] = one->fresh;
	one->next = 1;
	return 0;
}

int rf_follow_choose(struct rf_follow *follow, const struct rf_bank *rules, uint64_t awake_ns,
		     uint64_t since_ns, uint64_t time_ns)
{
	const bool is_small = follow->sample.count < RF_FOLLOW_SAMPLE / 4;
	int err = 0;

	follow->rules = *rules;
	follow->interval_ns = since_ns;
	renew(follow, awake_ns);
	for (size_t i = 0; i < follow->list.count && !err; i++) {
		struct rf_followed *one = &follow->list.of[i];
		const int slot = rf_bank_find_id(rules, one->limit_id);

		one->unplaced += one->passed;
		if (!has_cells(&rules->policy[slot]))
			err = since_ns ? add_difference(follow, one, slot, time_ns, since_ns) : 0;
		else if (!follow->due_ns[slot] || rules->policy[slot].flags & RF_LENDS)
			follow->due_ns[slot] = awake_ns; /* for loans: with the counters */
	}
	if (is_small && follow->share_bits)
		follow->share_bits--;
	return err;
}

/* ---- reading and taking ---- */

uint64_t rf_follow_due_ns(const struct rf_follow *follow)
{
	uint64_t due_ns = UINT64_MAX;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (follow->due_ns[slot] && follow->due_ns[slot] < due_ns)
			due_ns = follow->due_ns[slot];
	return due_ns;
}

bool rf_follow_is_full(const struct rf_follow *follow)
{
	return follow->fullest > RF_CELLS_ROW_MAX / 2;
}

struct rf_cells_row *rf_follow_take(struct rf_follow *follow, size_t *count)
{
	struct rf_cells_row *row = follow->row;

	for (size_t i = 0; i < follow->list.count; i++)
		follow->list.of[i].row = -1;
	*count = follow->rows;
	follow->row = NULL;
	follow->rows = follow->capacity = follow->fullest = 0;
	return row;
}

/*
 * ---- their cells ----
 *
 * The completed cells of a window: no further packet is counted in them. A ring holds nearly two
 * TIMEs of them.
 */

#define PERIOD_LEAST_NS (RF_NS_PER_S / 2)
#define PERIOD_MOST_NS (10 * RF_NS_PER_S)
#define LATE_NS RF_NS_PER_MS /* so late may a CPU charge, of a window timed in ns */
#define SPREAD_MOST 512 /* cells over which a late scan spreads packets; older ones are missing */
/* A ring holds these behind the present cell, with a head that is a cell ahead of a reader. */
#define KEPT (RF_RING_CELLS - 3)

static uint64_t period_ns(const struct rf_limit *limit)
{
	const uint64_t half_ns = limit->window_ns / 2;

	if (half_ns < PERIOD_LEAST_NS)
		return PERIOD_LEAST_NS;
	return half_ns < PERIOD_MOST_NS ? half_ns : PERIOD_MOST_NS;
}

/* The cell that is not over yet. A CPU's jiffies may lag behind the ones that are computed. */
static uint64_t present_cell(const struct rf_fence *fence, const struct rf_policy *policy)
{
	const uint64_t late = policy->clock == RF_KTIME ? LATE_NS : RF_JIFFIES_LAG;

	return rf_epoch(policy, rf_fence_time(fence, policy) - late);
}

/*
 * Where to continue: the first cell that was not read, if the window still has it. Differences
 * continue there in any case; the first one starts with the interval of the scan.
 */
static uint64_t first_cell(const struct rf_follow *follow, const struct rf_fence *fence,
			   const struct rf_policy *policy, struct rf_followed *one, uint64_t now,
			   bool is_anew, bool *is_incomplete)
{
	const uint64_t cells = follow->interval_ns / rf_fence_cell_ns(fence, policy);
	const uint64_t spread = one->next || cells >= SPREAD_MOST ? SPREAD_MOST : cells + 1;
	const uint64_t kept = one->has_loans ? spread : KEPT;
	const uint64_t oldest = now - kept;

	*is_incomplete = is_anew || one->next < oldest;
	if (!one->next && one->is_whole && cells < kept)
		*is_incomplete = false;
	return one->next < oldest ? oldest : one->next;
}

/* The row that the next cell is added to. */
static struct rf_cells_row *row_of(struct rf_follow *follow, const struct rf_fence *fence,
				   const struct rf_policy *policy, int slot,
				   struct rf_followed *one, uint64_t cell, bool is_incomplete)
{
	struct rf_cells_row *row = one->row < 0 ? NULL : &follow->row[one->row];

	if (row && !is_incomplete && row->count < RF_CELLS_ROW_MAX &&
	    row->is_difference == one->has_loans)
		return row;
	row = new_row(follow, one, slot);
	if (!row)
		return NULL;
	row->first_ns = rf_fence_cell_start_ns(fence, policy, cell) + rf_time_offset();
	row->cell_ns = rf_fence_cell_ns(fence, policy);
	row->is_difference = one->has_loans;
	row->is_incomplete = is_incomplete;
	row->counts_refused = rf_counts_rejected(policy);
	return row;
}

/* The part of the packets in one of the cells over which they are spread evenly. */
static uint64_t part_of(uint64_t packets, uint64_t cell, uint64_t cells)
{
	return packets * (cell + 1) / cells - packets * cell / cells;
}

/*
 * Takes the cells before the cell `now`. While a window has lent units, its cells lack the packets
 * that pass by loans; the differences of the counters are taken, spread over the cells since the
 * previous reading.
 */
static int take_cells(struct rf_follow *follow, const struct rf_fence *fence, int slot,
		      struct rf_followed *one, const struct rf_source *state, uint64_t now,
		      bool is_anew)
{
	const struct rf_policy *policy = &follow->rules.policy[slot];
	bool is_incomplete;
	const uint64_t first = first_cell(follow, fence, policy, one, now, is_anew, &is_incomplete);

	for (uint64_t cell = first; cell < now; cell++, is_incomplete = false) {
		const uint64_t used =
			one->has_loans ? part_of(one->unplaced, cell - first, now - first)
				       : (uint64_t)rf_window_cell(&state->window, policy, cell)
						 << policy->unit_shift;
		struct rf_cells_row *row =
			row_of(follow, fence, policy, slot, one, cell, is_incomplete);

		if (!row)
			return -ENOMEM;
		row->cell[row->count++] = used;
		if (row->count > follow->fullest)
			follow->fullest = row->count;
		one->next = cell + 1;
	}
	if (first < now)
		one->unplaced = 0;
	return 0;
}

/*
 * A window that was evicted has no cells; its counts since the last reading are lost. Differences
 * are only taken by a scan, which has read the counters.
 */
static int read_window(struct rf_follow *follow, const struct rf_fence *fence, int slot,
		       struct rf_followed *one, bool is_scan)
{
	const struct rf_policy *policy = &follow->rules.policy[slot];
	/*
	 * Before the window is read: cells that expire concurrently can get packets that are not
	 * read.
	 */
	const uint64_t now = present_cell(fence, policy);
	struct rf_source state;
	bool is_anew, has_loans;
	int err;

	if (rf_fence_window(fence, policy, &one->source, &state)) {
		one->stay = 0;
		return 0;
	}
	has_loans = rf_lent_read(&state.window, policy, rf_fence_time(fence, policy));
	one->has_loans |= has_loans;
	if (one->has_loans && !is_scan)
		return 0;
	is_anew = one->next && one->stay != rf_window_stay(state.slot_ref);
	one->stay = rf_window_stay(state.slot_ref);
	err = take_cells(follow, fence, slot, one, &state, now, is_anew);
	if (!one->unplaced)
		one->has_loans = has_loans;
	return err;
}

int rf_follow_read(struct rf_follow *follow, const struct rf_fence *fence, uint64_t awake_ns,
		   bool is_scan)
{
	bool is_due[RF_LIMITS_MAX] = {}, is_used[RF_LIMITS_MAX] = {};
	int err = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		is_due[slot] = follow->due_ns[slot] &&
			       follow->due_ns[slot] <= awake_ns + PERIOD_LEAST_NS / 4;
	for (size_t i = 0; i < follow->list.count && !err; i++) {
		const int slot = rf_bank_find_id(&follow->rules, follow->list.of[i].limit_id);

		if (slot < 0 || !is_due[slot])
			continue;
		is_used[slot] = true;
		err = read_window(follow, fence, slot, &follow->list.of[i], is_scan);
	}
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (is_due[slot])
			follow->due_ns[slot] =
				is_used[slot] ? awake_ns + period_ns(&follow->rules.limit[slot])
					      : 0;
	return err;
}
