// SPDX-License-Identifier: GPL-2.0
/* A scan is taken into a copy of the model, while keys move the cursor in the model itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "screen/model.h"

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

static int compare_keys(const void *a, const void *b)
{
	return rf_key_compare(&((const struct rf_row *)a)->key, &((const struct rf_row *)b)->key);
}

static const struct rf_row *find(const struct rf_model *model, const struct rf_key *key)
{
	const struct rf_row wanted = {.key = *key};

	return model->rows
		       ? rf_search(&wanted, model->row, model->rows, sizeof(wanted), compare_keys)
		       : NULL;
}

/* The cursor came to a row that the copy has no more: it stays as it was. */
static void keep_cursor(struct rf_model *copy, const struct rf_model *model)
{
	const struct rf_row *row = model->is_bound ? find(model, &model->cursor) : NULL;
	int at = copy->rows;

	if (!row || find(copy, &model->cursor))
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
	/* Another fence has other rows: nothing of the one before may stay. */
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
	if (rf_model_make_room(model))
		rf_model_forget_estimates(model);
	rf_model_order(model, model->head.awake_ns);
}
