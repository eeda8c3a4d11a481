// SPDX-License-Identifier: GPL-2.0
/* The contents of the screen, derived from scans: the head, the rows, their order. Pure. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/units.h"
#include "rules/policy.h"
#include "schema/reasons.h"
#include "screen/model.h"

/* After this long without a drop, the next one is a new start. */
#define QUIET_NS (30 * RF_NS_PER_S)
#define SMOOTH 3 /* a new rate counts as a third */

/* ---- the head ---- */

/* A lease that is handed over between two scans is missing from one: a counter may step back. */
static double rate_of(uint64_t before, uint64_t now, uint64_t since_ns)
{
	return since_ns && now > before ? (now - before) * 1e9 / since_ns : 0;
}

/* A rate covers the time since the previous scan, which can be several slots. */
static void note(struct rf_flow *flow, const struct rf_snapshot *snapshot, double rate)
{
	const uint64_t since_ns = snapshot->awake_ns - snapshot->since_ns;

	flow->rate = rate;
	rf_ring_fill(&flow->ring, since_ns / RF_SLOT_NS, snapshot->awake_ns / RF_SLOT_NS, rate);
}

static void take_flows(struct rf_head *head, const struct rf_snapshot *snapshot)
{
	double in = 0, dropped = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const double rate =
			rate_of(head->counters.reason[i].packets,
				snapshot->sums.counters.reason[i].packets, snapshot->since_ns);

		note(&head->reason[i], snapshot, rate);
		in += rate;
		dropped += rf_reason_is_drop(i) ? rate : 0;
	}
	note(&head->in, snapshot, in);
	note(&head->dropped, snapshot, dropped);
}

static void take_limits(struct rf_head *head, const struct rf_bank *rules)
{
	int slots[RF_LIMITS_MAX];

	head->limits = rf_bank_slots(rules, slots);
	for (int i = 0; i < head->limits; i++) {
		const struct rf_limit *limit = &rules->limit[slots[i]];
		struct rf_limit_head *to = &head->limit[i];

		*to = (struct rf_limit_head){.is_shadow = limit->flags & RF_SHADOW};
		memcpy(to->name, limit->name, sizeof(to->name));
		rf_format_limit_rate(limit, to->rate);
	}
}

static void count_over(struct rf_head *head, const struct rf_source_rows *sources)
{
	head->over = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct rf_source_row *row = &sources->row[i];

		if (!row->new_dropped && !row->new_would_drop)
			continue;
		head->over += row->new_dropped > 0;
		for (int k = 0; k < head->limits; k++)
			head->limit[k].over += !strcmp(head->limit[k].name, row->limit->name);
	}
}

/*
 * Takes counts, limits and confirmation state of a scan. The head has those of the previous scan.
 */
static void take_head(struct rf_head *head, const struct rf_snapshot *snapshot)
{
	const struct rf_bank *rules = &snapshot->bans.rules;

	head->time_ns = snapshot->time_ns;
	head->awake_ns = snapshot->awake_ns;
	head->banned = snapshot->bans.count;
	head->then = rules->newcomers.then;
	head->is_examining = rules->newcomers.except_established;
	head->standing = snapshot->standing;
	take_flows(head, snapshot);
	take_limits(head, rules);
	count_over(head, &snapshot->sources);
	head->counters = snapshot->sums.counters;
	memcpy(head->identity, snapshot->identity, sizeof(head->identity));
}

/* ---- order ---- */

/* The order of the rows, which of them are shown, and the cursor. */

#define STILL_NS (5 * RF_NS_PER_S) /* how long the order is fixed after a key */

int rf_key_compare(const struct rf_key *a, const struct rf_key *b)
{
	const int order = rf_prefix_compare(&a->source, &b->source);

	if (order)
		return order;
	if (a->limit_id != b->limit_id)
		return a->limit_id < b->limit_id ? -1 : 1;
	if (a->is_aggregate != b->is_aggregate)
		return a->is_aggregate - b->is_aggregate;
	return a->is_estimate - b->is_estimate;
}

/* A row by its index in the order. */
static struct rf_row *nth_row(const struct rf_model *model, int index)
{
	return index < model->rows ? &model->row[index] : &model->estimate[index - model->rows];
}

/* Makes room for the order of all rows. -ENOMEM: there is room for none. */
static int make_room(struct rf_model *model)
{
	int *order = reallocarray(model->order, model->rows + model->estimates + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	model->order = order;
	return 0;
}

/* ---- weights ---- */

static struct rf_weight weight_of(enum rf_order order, double drop, double pass, double share,
				  bool is_banned)
{
	switch (order) {
	case RF_BY_RATE:
		return (struct rf_weight){{drop + pass, share, drop, is_banned}};
	case RF_BY_USED:
		return (struct rf_weight){{share, drop + pass, drop, is_banned}};
	default:
		return (struct rf_weight){{drop, is_banned, pass, share}};
	}
}

/* Above 0: `a` comes after `b`. */
static int weight_compare(const struct rf_weight *a, const struct rf_weight *b)
{
	for (int i = 0; i < 4; i++)
		if (a->by[i] != b->by[i])
			return a->by[i] < b->by[i] ? 1 : -1;
	return 0;
}

/* In steps of 3 to 6 %: rows that differ by less do not change places each second. */
static double in_steps(double number)
{
	int exponent;
	const double part = frexp(number, &exponent);

	return number > 0 ? ldexp((int)(part * 32), exponent) : 0;
}

static struct rf_weight weigh(const struct rf_model *model, const struct rf_row *row)
{
	return weight_of(model->by, in_steps(row->steady_drop), in_steps(row->steady_pass),
			 in_steps(row->share), row->banned_ns);
}

/* ---- which are shown ---- */

/* Is a source shown under a limit of that name? */
static bool wants_row(const struct rf_model *model, const struct rf_prefix *source,
		      const char *limit)
{
	char text[RF_PREFIX_TEXT_SIZE];

	if (model->limit && strcmp(model->limit, limit))
		return false;
	if (model->is_within && !rf_prefix_contains(&model->within, source))
		return false;
	if (!*model->filter)
		return true;
	if (model->has_network)
		return rf_prefix_contains(&model->network, source) ||
		       rf_prefix_contains(source, &model->network);
	rf_format_prefix(source, text);
	return strstr(text, model->filter) || strstr(limit, model->filter);
}

/* qsort_r has its context in another place elsewhere. A scan orders its copy in its own thread. */
static _Thread_local const struct rf_model *sorted;

static int compare_places(const void *a, const void *b)
{
	const struct rf_row *left = nth_row(sorted, *(const int *)a);
	const struct rf_row *right = nth_row(sorted, *(const int *)b);
	const struct rf_weight one = weigh(sorted, left), other = weigh(sorted, right);

	return weight_compare(&one, &other) ?: rf_key_compare(&left->key, &right->key);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct rf_row *left = nth_row(sorted, *(const int *)a);
	const struct rf_row *right = nth_row(sorted, *(const int *)b);

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return compare_places(a, b);
}

static void find_cursor(struct rf_model *model)
{
	for (int i = 0; i < model->shown && model->is_bound; i++) {
		if (rf_key_compare(&rf_model_shown(model, i)->key, &model->cursor))
			continue;
		model->at = i;
		return;
	}
	model->is_bound = false;
	model->at = 0;
}

static void place(struct rf_model *model, bool stands_still)
{
	const int all = model->rows + model->estimates;

	model->shown = 0;
	for (int i = 0; i < all; i++) {
		const struct rf_row *row = nth_row(model, i);

		if (wants_row(model, &row->key.source, row->limit))
			model->order[model->shown++] = i;
	}
	sorted = model;
	if (model->shown)
		rf_sort(model->order, model->shown, sizeof(*model->order),
			stands_still ? compare_ranks : compare_places);
	for (int i = 0; i < all; i++)
		nth_row(model, i)->rank = UINT32_MAX;
	for (int i = 0; i < model->shown; i++)
		nth_row(model, model->order[i])->rank = i;
	find_cursor(model);
}

void rf_model_order(struct rf_model *model, uint64_t awake_ns)
{
	place(model, awake_ns < model->still_until_ns);
}

void rf_model_sort(struct rf_model *model, enum rf_order by)
{
	model->by = by;
	model->still_until_ns = 0;
	place(model, false);
}

void rf_model_filter(struct rf_model *model, const char *text)
{
	struct rf_error unused;

	strncpy(model->filter, text, sizeof(model->filter) - 1);
	model->has_network = *text && !rf_parse_prefix(text, &model->network, &unused);
	model->still_until_ns = 0;
	place(model, false);
}

/* ---- the cursor ---- */

void rf_model_move(struct rf_model *model, int rows, uint64_t awake_ns)
{
	if (!model->shown)
		return;
	model->at += rows;
	if (model->at >= model->shown)
		model->at = model->shown - 1;
	if (model->at < 0)
		model->at = 0;
	model->is_bound = true;
	model->cursor = rf_model_cursor(model)->key;
	model->still_until_ns = awake_ns + STILL_NS;
}

void rf_model_home(struct rf_model *model)
{
	model->is_bound = false;
	model->at = 0;
	model->still_until_ns = 0;
}

const struct rf_row *rf_model_shown(const struct rf_model *model, int place)
{
	return nth_row(model, model->order[place]);
}

const struct rf_row *rf_model_cursor(const struct rf_model *model)
{
	return model->shown ? rf_model_shown(model, model->at) : NULL;
}

/* ---- estimates ---- */

/* The rows of sources without a window, from one second of samples to the next. */

#define ESTIMATES 256 /* sources that are shown; the others are counted */
#define ESTIMATE_KEPT_NS                                                         \
	(10 * RF_NS_PER_S) /* how long a source without further samples is shown \
			    */

void rf_model_forget_estimates(struct rf_model *model)
{
	free(model->estimate);
	model->estimate = NULL;
	model->estimates = 0;
	model->other_estimates = 0;
	model->one_in = 0;
}

static int compare_keys(const void *a, const void *b)
{
	return rf_key_compare(&((const struct rf_row *)a)->key, &((const struct rf_row *)b)->key);
}

static struct rf_row *find_row(struct rf_row *rows, int count, const struct rf_row *wanted)
{
	return count ? rf_search(wanted, rows, count, sizeof(*rows), compare_keys) : NULL;
}

static double smooth(double before, double now, bool is_new)
{
	return is_new ? now : before + (now - before) / SMOOTH;
}

/* `old`: the row before; NULL: there was none. `from`: NULL: no sample came. */
static void fill(struct rf_row *row, const struct rf_row *old, const struct rf_unseen_row *from,
		 uint64_t awake_ns)
{
	const double per_s = from ? from->per_s : 0;

	if (old)
		*row = *old;
	row->samples = from ? from->samples : 0;
	if (rf_reason_is_drop(row->key.limit_id))
		row->drop = row->steady_drop = smooth(row->drop, per_s, !old);
	else
		row->pass = row->steady_pass = smooth(row->pass, per_s, !old);
	if (!from)
		return;
	row->seen_ns = awake_ns;
	if (row->drop <= 0)
		return;
	if (!row->dropped_since_ns || awake_ns - row->dropped_last_ns > QUIET_NS)
		row->dropped_since_ns = awake_ns;
	row->dropped_last_ns = awake_ns;
}

static void add_sampled(struct rf_model *model, const struct rf_unseen *unseen, struct rf_row *rows,
			int count, uint64_t awake_ns)
{
	for (int i = 0; i < count; i++) {
		const struct rf_unseen_row *from = &unseen->row[i];

		rows[i] = (struct rf_row){
			.key = {from->source, from->reason, .is_estimate = true},
			.rank = UINT32_MAX,
		};
		strncpy(rows[i].limit, rf_reason_name(from->reason), sizeof(rows[i].limit) - 1);
		fill(&rows[i], find_row(model->estimate, model->estimates, &rows[i]), from,
		     awake_ns);
	}
	if (count)
		rf_sort(rows, count, sizeof(*rows), compare_keys);
}

/* Rows without a sample, for a short time, or while the cursor is on them. Returns how many. */
static int add_kept(const struct rf_model *model, struct rf_row *rows, int count, uint64_t awake_ns)
{
	const int sampled = count;

	for (int i = 0; i < model->estimates; i++) {
		const struct rf_row *old = &model->estimate[i];
		const bool is_under_cursor =
			model->is_bound && !rf_key_compare(&model->cursor, &old->key);

		if (find_row(rows, sampled, old) ||
		    (!is_under_cursor &&
		     (count >= ESTIMATES || awake_ns - old->seen_ns > ESTIMATE_KEPT_NS)))
			continue;
		fill(&rows[count++], old, NULL, awake_ns);
	}
	return count;
}

int rf_model_estimate(struct rf_model *model, const struct rf_unseen *unseen, uint64_t awake_ns)
{
	int sampled = unseen->count < ESTIMATES ? unseen->count : ESTIMATES;
	struct rf_row *rows = calloc(sampled + model->estimates + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	add_sampled(model, unseen, rows, sampled, awake_ns);
	model->other_estimates = unseen->count - sampled;
	model->one_in = unseen->one_in;
	sampled = add_kept(model, rows, sampled, awake_ns);
	free(model->estimate);
	model->estimate = rows;
	model->estimates = sampled;
	rf_sort(rows, sampled, sizeof(*rows), compare_keys);
	if (make_room(model))
		return -ENOMEM;
	rf_model_order(model, awake_ns);
	return 0;
}

const struct rf_row *rf_model_estimate_of(const struct rf_model *model,
					  const struct rf_prefix *source)
{
	for (int i = 0; i < model->estimates; i++)
		if (!rf_prefix_compare(&model->estimate[i].key.source, source))
			return &model->estimate[i];
	return NULL;
}

/* ---- rows ---- */

/* The rows, from one scan to the next. */

#define KEPT_NS (60 * RF_NS_PER_S) /* how long a source is shown after its last packet */

void rf_model_start(struct rf_model *model, const struct rf_top *asked)
{
	*model = (struct rf_model){
		.by = asked->order,
		.limit = asked->limit,
		.is_within = asked->within.version,
		.within = asked->within,
	};
}

void rf_model_free(struct rf_model *model)
{
	free(model->row);
	free(model->order);
	free(model->estimate);
	model->row = model->estimate = NULL;
	model->order = NULL;
	model->rows = model->estimates = model->shown = 0;
}

void rf_model_forget(struct rf_model *model)
{
	model->head = (struct rf_head){};
	model->rows = 0;
	model->shown = 0;
	model->others = 0;
	rf_model_forget_estimates(model);
	rf_model_home(model);
}

/* ---- the sources of a scan that come first ---- */

struct candidate {
	struct rf_weight weight;
	int at; /* its place in the scan */
};

/* A heap, with the last one of the order at its top. */
struct candidates {
	struct candidate of[RF_MODEL_ROWS];
	int count;
};

static bool is_after(const struct candidate *a, const struct candidate *b)
{
	const int order = weight_compare(&a->weight, &b->weight);

	return order ? order > 0 : a->at > b->at;
}

static void swap(struct candidate *a, struct candidate *b)
{
	const struct candidate kept = *a;

	*a = *b;
	*b = kept;
}

static void rise(struct candidates *heap, int i)
{
	for (; i && is_after(&heap->of[i], &heap->of[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap->of[i], &heap->of[(i - 1) / 2]);
}

static void sink(struct candidates *heap)
{
	for (int i = 0, child; (child = 2 * i + 1) < heap->count; i = child) {
		if (child + 1 < heap->count && is_after(&heap->of[child + 1], &heap->of[child]))
			child++;
		if (!is_after(&heap->of[child], &heap->of[i]))
			return;
		swap(&heap->of[i], &heap->of[child]);
	}
}

static void offer(struct candidates *heap, const struct candidate *one)
{
	if (heap->count < RF_MODEL_ROWS) {
		heap->of[heap->count] = *one;
		rise(heap, heap->count++);
	} else if (is_after(&heap->of[0], one)) {
		heap->of[0] = *one;
		sink(heap);
	}
}

static double share_of(const struct rf_source_row *row)
{
	const uint64_t of = rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate;

	return of ? (double)row->used / of : 0;
}

static bool is_idle(const struct rf_source_row *row)
{
	return !row->used && !row->banned_ns && !row->new_passed && !row->new_dropped &&
	       !row->new_would_drop;
}

static struct rf_key key_of(const struct rf_source_row *row)
{
	return (struct rf_key){row->source, row->limit_id, row->is_aggregate, false};
}

static int compare_by_place(const void *a, const void *b)
{
	return ((const struct candidate *)a)->at - ((const struct candidate *)b)->at;
}

/* Leaves the sources that come first, in the order of the scan. */
static void choose(struct rf_model *model, const struct rf_snapshot *snapshot,
		   struct candidates *chosen)
{
	chosen->count = 0;
	model->others = 0;
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];
		const struct candidate one = {
			weight_of(model->by, row->new_dropped + row->new_would_drop,
				  row->new_passed, share_of(row), row->banned_ns),
			i};

		if (is_idle(row) || !wants_row(model, &row->source, row->limit->name))
			continue;
		offer(chosen, &one);
		model->others++;
	}
	model->others -= chosen->count;
	if (chosen->count)
		rf_sort(chosen->of, chosen->count, sizeof(*chosen->of), compare_by_place);
}

/* ---- one row ---- */

static void note_drops(struct rf_row *row, uint64_t awake_ns)
{
	if (row->drop + row->would_drop > 0) {
		if (!row->dropped_since_ns)
			row->dropped_since_ns = awake_ns;
		row->dropped_last_ns = awake_ns;
	} else if (awake_ns - row->dropped_last_ns > QUIET_NS) {
		row->dropped_since_ns = 0;
	}
}

/* A scan's data of a row; NULL: the source was idle. */
static void take_row(struct rf_row *row, const struct rf_source_row *from,
		     const struct rf_snapshot *snapshot, bool is_new)
{
	const double seconds = snapshot->since_ns / 1e9;

	row->pass = row->drop = row->would_drop = row->share = 0;
	row->banned_ns = 0;
	if (from) {
		memcpy(row->limit, from->limit->name, sizeof(row->limit));
		row->is_shadow = from->limit->flags & RF_SHADOW;
		row->share = share_of(from);
		row->banned_ns = from->banned_ns;
	}
	if (from && seconds > 0) {
		row->pass = from->new_passed / seconds;
		row->drop = from->new_dropped / seconds;
		row->would_drop = from->new_would_drop / seconds;
	}
	if (is_new || row->banned_ns || row->pass + row->drop + row->would_drop > 0)
		row->seen_ns = snapshot->awake_ns;
	row->steady_pass = smooth(row->steady_pass, row->pass, is_new);
	row->steady_drop = smooth(row->steady_drop, row->drop + row->would_drop, is_new);
	note_drops(row, snapshot->awake_ns);
	/* Between scans that are far apart, the use is assumed to be the later scan's. */
	rf_ring_fill(&row->use,
		     (snapshot->awake_ns - (is_new ? 0 : snapshot->since_ns)) / RF_SLOT_NS,
		     snapshot->awake_ns / RF_SLOT_NS, row->share < 1 ? row->share : 1);
}

/* ---- old rows and new ones ---- */

struct merge {
	struct rf_model *model;
	const struct rf_snapshot *snapshot;
	struct rf_row *row; /* room for all */
	int rows;
};

static void add_new(struct merge *merge, const struct rf_source_row *from)
{
	struct rf_row *row = &merge->row[merge->rows++];

	*row = (struct rf_row){.key = key_of(from), .rank = UINT32_MAX};
	take_row(row, from, merge->snapshot, true);
}

static void update(struct merge *merge, const struct rf_row *old, const struct rf_source_row *from)
{
	struct rf_row *row = &merge->row[merge->rows++];

	*row = *old;
	take_row(row, from, merge->snapshot, false);
}

static const struct rf_source_row *find_scanned(const struct rf_snapshot *snapshot,
						const struct rf_key *key)
{
	const struct rf_source_row wanted = {.source = key->source,
					     .limit_id = key->limit_id,
					     .is_aggregate = key->is_aggregate};

	return snapshot->sources.count
		       ? rf_search(&wanted, snapshot->sources.row, snapshot->sources.count,
				   sizeof(wanted), rf_source_row_compare)
		       : NULL;
}

/*
 * A row that is not among the chosen ones remains while it is idle for a short time, or the cursor
 * is on it.
 */
static void keep(struct merge *merge, const struct rf_row *old)
{
	const struct rf_model *model = merge->model;
	const struct rf_source_row *from = find_scanned(merge->snapshot, &old->key);
	const bool is_under_cursor = model->is_bound && !rf_key_compare(&model->cursor, &old->key);
	const bool is_limit = rf_bank_find_id(&merge->snapshot->bans.rules, old->key.limit_id) >= 0;

	if (is_under_cursor ||
	    (is_limit && merge->rows < RF_MODEL_ROWS && (!from || is_idle(from)) &&
	     merge->snapshot->awake_ns - old->seen_ns < KEPT_NS))
		update(merge, old, from);
}

static void merge_rows(struct merge *merge, const struct candidates *chosen)
{
	const struct rf_model *model = merge->model;
	int old = 0;

	for (int i = 0; i < chosen->count; i++) {
		const struct rf_source_row *from = &merge->snapshot->sources.row[chosen->of[i].at];
		const struct rf_key key = key_of(from);

		while (old < model->rows && rf_key_compare(&model->row[old].key, &key) < 0)
			keep(merge, &model->row[old++]);
		if (old < model->rows && !rf_key_compare(&model->row[old].key, &key))
			update(merge, &model->row[old++], from);
		else
			add_new(merge, from);
	}
	while (old < model->rows)
		keep(merge, &model->row[old++]);
}

int rf_model_take(struct rf_model *model, const struct rf_snapshot *snapshot)
{
	struct candidates *chosen = malloc(sizeof(*chosen));
	struct merge merge = {model, snapshot, NULL, 0};

	if (strcmp(model->head.identity, snapshot->identity))
		rf_model_forget(model);
	if (chosen) {
		choose(model, snapshot, chosen);
		merge.row = malloc((chosen->count + model->rows + 1) * sizeof(*merge.row));
	}
	if (!merge.row) {
		free(chosen);
		return -ENOMEM;
	}
	merge_rows(&merge, chosen);
	free(chosen);
	free(model->row);
	model->row = merge.row;
	model->rows = merge.rows;
	if (make_room(model))
		return -ENOMEM;
	take_head(&model->head, snapshot);
	rf_model_order(model, snapshot->awake_ns);
	return 0;
}

/* ---- copies ---- */

/* A scan is taken into a copy of the model, while keys move the cursor in the model itself. */

int rf_model_copy(struct rf_model *copy, const struct rf_model *model)
{
	*copy = *model;
	copy->order = NULL;
	copy->estimate = NULL;
	copy->estimates = 0;
	copy->row = malloc((model->rows + 1) * sizeof(*copy->row));
	if (!copy->row)
		return -ENOMEM;
	if (model->rows)
		memcpy(copy->row, model->row, model->rows * sizeof(*copy->row));
	return 0;
}

static const struct rf_row *find_key(const struct rf_model *model, const struct rf_key *key)
{
	const struct rf_row wanted = {.key = *key};

	return find_row(model->row, model->rows, &wanted);
}

/* The cursor is on a row that the copy no longer has: it remains unchanged. */
static void keep_cursor(struct rf_model *copy, const struct rf_model *model)
{
	const struct rf_row *row = model->is_bound ? find_key(model, &model->cursor) : NULL;
	int at = copy->rows;

	if (!row || find_key(copy, &model->cursor))
		return;
	for (; at && compare_keys(&copy->row[at - 1], row) > 0; at--)
		copy->row[at] = copy->row[at - 1];
	copy->row[at] = *row;
	copy->rows++;
}

static void forget(struct rf_model *model)
{
	rf_model_home(model);
	rf_model_forget_estimates(model);
}

void rf_model_adopt(struct rf_model *model, struct rf_model *copy)
{
	/* Another fence has other rows: nothing of the previous one must remain. */
	if (!strcmp(model->head.identity, copy->head.identity))
		keep_cursor(copy, model);
	else
		forget(model);
	free(model->row);
	free(model->order);
	model->row = copy->row;
	model->rows = copy->rows;
	model->order = copy->order;
	model->others = copy->others;
	model->head = copy->head;
	copy->row = NULL;
	copy->order = NULL;
	if (make_room(model))
		rf_model_forget_estimates(model);
	rf_model_order(model, model->head.awake_ns);
}
