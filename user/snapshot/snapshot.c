// SPDX-License-Identifier: GPL-2.0
/* Finding rows in a snapshot. Pure. */
#include <stdlib.h>

#include "base/sort.h"
#include "snapshot/snapshot.h"

int rf_source_row_compare(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	const int order = rf_prefix_compare(&left->source, &right->source);

	if (order)
		return order;
	if (left->limit_id != right->limit_id)
		return left->limit_id < right->limit_id ? -1 : 1;
	return left->is_aggregate - right->is_aggregate;
}

const struct rf_source_row *rf_snapshot_find(const struct rf_snapshot *snapshot,
					     const struct rf_prefix *source, uint32_t limit_id)
{
	const struct rf_source_row key = {.source = *source, .limit_id = limit_id};

	if (!snapshot->sources.count)
		return NULL;
	return rf_search(&key, snapshot->sources.row, snapshot->sources.count, sizeof(key),
			 rf_source_row_compare);
}
