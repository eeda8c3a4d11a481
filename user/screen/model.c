// SPDX-License-Identifier: GPL-2.0
/* The rows, from one scan to the next. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/units.h"
#include "rules/policy.h"
#include "screen/head.h"
#include "screen/model.h"

#define KEPT_NS (60 * RF_NS_PER_S) /* so long is a source shown after its last packet */
#define QUIET_NS                                                                        \
	(30 * RF_NS_PER_S) /* after so long without a drop, the next one is a new start \
			    */
#define SMOOTH 3	   /* a new rate counts as a third */

void rf_model_start(struct rf_model *model, const struct rf_top *asked)
{
	*model = (struct rf_model){
		.by = asked->order,
		.limit = asked->limit,
		.is_within = asked->is_within,
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

/* A heap, with the one that comes last at its top. */
struct candidates {
	struct candidate of[RF_MODEL_ROWS];
	int count;
};

static bool is_after(const struct candidate *a, const struct candidate *b)
{
	const int order = rf_weight_compare(&a->weight, &b->weight);

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
			rf_weight_of(model->by, row->new_dropped + row->new_would_drop,
				     row->new_passed, share_of(row), row->banned_ns),
			i};

		if (is_idle(row) || !rf_model_wants(model, &row->source, row->limit->name))
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

static void smooth(double *steady, double now, bool is_new)
{
	*steady = is_new ? now : *steady + (now - *steady) / SMOOTH;
}

/* What a scan says of a row; NULL: that the source was idle. */
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
	smooth(&row->steady_pass, row->pass, is_new);
	smooth(&row->steady_drop, row->drop + row->would_drop, is_new);
	note_drops(row, snapshot->awake_ns);
	/* Between scans that are far apart, the use is taken to be what the later one found. */
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

static const struct rf_source_row *find(const struct rf_snapshot *snapshot,
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
 * A row that is not among the chosen ones stays while it is idle for a short time, or the cursor is
 * on it.
 */
static void keep(struct merge *merge, const struct rf_row *old)
{
	const struct rf_model *model = merge->model;
	const struct rf_source_row *from = find(merge->snapshot, &old->key);
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
	if (rf_model_make_room(model))
		return -ENOMEM;
	rf_head_take(&model->head, snapshot);
	rf_model_order(model, snapshot->awake_ns);
	return 0;
}
