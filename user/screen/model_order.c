// SPDX-License-Identifier: GPL-2.0
/* The order of the rows, which of them are shown, and the cursor. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "screen/model.h"

#define STILL_NS (5 * RF_NS_PER_S) /* so long does the order stand still after a key */

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

struct rf_row *rf_model_row(const struct rf_model *model, int index)
{
	return index < model->rows ? &model->row[index] : &model->estimate[index - model->rows];
}

int rf_model_make_room(struct rf_model *model)
{
	int *order = reallocarray(model->order, model->rows + model->estimates + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	model->order = order;
	return 0;
}

/* ---- weights ---- */

struct rf_weight rf_weight_of(enum rf_order order, double drop, double pass, double share,
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

int rf_weight_compare(const struct rf_weight *a, const struct rf_weight *b)
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
	return rf_weight_of(model->by, in_steps(row->steady_drop), in_steps(row->steady_pass),
			    in_steps(row->share), row->banned_ns);
}

/* ---- which are shown ---- */

bool rf_model_wants(const struct rf_model *model, const struct rf_prefix *source, const char *limit)
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
	const struct rf_row *left = rf_model_row(sorted, *(const int *)a);
	const struct rf_row *right = rf_model_row(sorted, *(const int *)b);
	const struct rf_weight one = weigh(sorted, left), other = weigh(sorted, right);

	return rf_weight_compare(&one, &other) ?: rf_key_compare(&left->key, &right->key);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct rf_row *left = rf_model_row(sorted, *(const int *)a);
	const struct rf_row *right = rf_model_row(sorted, *(const int *)b);

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
		const struct rf_row *row = rf_model_row(model, i);

		if (rf_model_wants(model, &row->key.source, row->limit))
			model->order[model->shown++] = i;
	}
	sorted = model;
	if (model->shown)
		rf_sort(model->order, model->shown, sizeof(*model->order),
			stands_still ? compare_ranks : compare_places);
	for (int i = 0; i < all; i++)
		rf_model_row(model, i)->rank = UINT32_MAX;
	for (int i = 0; i < model->shown; i++)
		rf_model_row(model, model->order[i])->rank = i;
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
	return rf_model_row(model, model->order[place]);
}

const struct rf_row *rf_model_cursor(const struct rf_model *model)
{
	return model->shown ? rf_model_shown(model, model->at) : NULL;
}
