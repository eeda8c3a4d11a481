// SPDX-License-Identifier: GPL-2.0
/* The rows of sources without a window, from one second of samples to the next. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "schema/reasons.h"
#include "screen/model.h"

#define ESTIMATES 256		    /* sources that are shown; the others are counted */
#define KEPT_NS (10 * RF_NS_PER_S)  /* so long is one shown of which no sample came */
#define QUIET_NS (30 * RF_NS_PER_S) /* as a row of a scan */
#define SMOOTH 3

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

static struct rf_row *find(struct rf_row *rows, int count, const struct rf_row *wanted)
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
		fill(&rows[i], find(model->estimate, model->estimates, &rows[i]), from, awake_ns);
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

		if (find(rows, sampled, old) ||
		    (!is_under_cursor && (count >= ESTIMATES || awake_ns - old->seen_ns > KEPT_NS)))
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
	if (rf_model_make_room(model))
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
