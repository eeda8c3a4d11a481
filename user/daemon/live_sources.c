// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "daemon/live_sources.h"
#include "rules/policy.h"

#define CHOSEN 1024 /* sources, before they are told as networks */

/* ---- use ---- */

static uint32_t use_of(const struct rf_source_row *row)
{
	const struct rf_limit *limit = row->limit;
	const uint64_t whole = rf_has_burst(limit) ? limit->burst : limit->rate;
	const uint64_t use = whole ? row->used * 1000 / whole : 0;

	return use < 1000 ? use : 1000;
}

static int slot_of(const struct rf_snapshot *snapshot, const struct rf_source_row *row)
{
	return row->limit - snapshot->bans.rules.limit;
}

static uint64_t lost(const struct rf_source_row *row)
{
	return row->new_dropped + row->new_would_drop;
}

void rf_live_use(const struct rf_snapshot *snapshot, struct rf_live_use use[RF_LIMITS_MAX])
{
	memset(use, 0, RF_LIMITS_MAX * sizeof(*use));
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];
		const uint32_t part = use_of(row);
		struct rf_live_use *its = &use[slot_of(snapshot, row)];

		its->banned += row->banned_ns != 0;
		if (row->is_aggregate || (!part && !row->new_passed && !lost(row)))
			continue;
		its->active++;
		its->over += part >= 1000 || lost(row);
		its->bucket[part / 100]++;
	}
}

/* ---- the rows that matter ---- */

static bool comes_before(const struct rf_source_row *left, const struct rf_source_row *right)
{
	uint32_t use, other;

	if (lost(left) != lost(right))
		return lost(left) > lost(right);
	if (!left->banned_ns != !right->banned_ns)
		return left->banned_ns;
	use = use_of(left);
	other = use_of(right);
	if (use != other)
		return use > other;
	return left->new_passed > right->new_passed;
}

/* A heap whose first one matters least. */
static void sink(const struct rf_source_row **heap, int count, int at)
{
	for (int child; (child = 2 * at + 1) < count; at = child) {
		const struct rf_source_row *one = heap[at];

		if (child + 1 < count && comes_before(heap[child], heap[child + 1]))
			child++;
		if (!comes_before(one, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = one;
	}
}

static int choose(const struct rf_snapshot *snapshot, const struct rf_source_row **heap, int most)
{
	int count = 0;

	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];

		if (count < most) {
			heap[count++] = row;
			if (count == most)
				for (int at = most / 2; at-- > 0;)
					sink(heap, most, at);
		} else if (comes_before(row, heap[0])) {
			heap[0] = row;
			sink(heap, most, 0);
		}
	}
	return count;
}

static int compare_chosen(const void *a, const void *b)
{
	const struct rf_source_row *left = *(const struct rf_source_row *const *)a;
	const struct rf_source_row *right = *(const struct rf_source_row *const *)b;

	return comes_before(right, left) - comes_before(left, right);
}

/* ---- as they are told ---- */

static void add(struct rf_live_row *to, const struct rf_source_row *row)
{
	const uint32_t use = use_of(row);

	to->row.new_passed += row->new_passed;
	to->row.new_dropped += row->new_dropped;
	to->row.new_would_drop += row->new_would_drop;
	to->row.is_aggregate |= row->is_aggregate;
	if (row->banned_ns > to->row.banned_ns)
		to->row.banned_ns = row->banned_ns;
	if (use > to->use)
		to->use = use;
}

static struct rf_live_row *find(struct rf_live_row *rows, int count, const struct rf_prefix *source,
				int slot)
{
	for (int i = 0; i < count; i++)
		if (rows[i].slot == slot && !rf_prefix_compare(&rows[i].row.source, source))
			return &rows[i];
	return NULL;
}

int rf_live_rows(const struct rf_snapshot *snapshot, enum rf_told told, struct rf_live_row *rows,
		 int most)
{
	const struct rf_source_row **chosen = calloc(CHOSEN, sizeof(*chosen));
	const int candidates =
		chosen && told != RF_TELL_NONE ? choose(snapshot, chosen, CHOSEN) : 0;
	int count = 0;

	if (candidates)
		rf_sort(chosen, candidates, sizeof(*chosen), compare_chosen);
	for (int i = 0; i < candidates; i++) {
		const int slot = slot_of(snapshot, chosen[i]);
		struct rf_prefix source;
		struct rf_live_row *row;

		if (!rf_tell(told, &chosen[i]->source, &source))
			continue;
		row = find(rows, count, &source, slot);
		if (row) {
			add(row, chosen[i]);
		} else if (count < most) {
			rows[count] = (struct rf_live_row){*chosen[i], use_of(chosen[i]), slot};
			rows[count++].row.source = source;
		}
	}
	free(chosen);
	return count;
}
