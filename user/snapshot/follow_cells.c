// SPDX-License-Identifier: GPL-2.0
/*
 * The cells of a window, as far as they are over: no packet is counted in them any more. A ring
 * keeps nearly two TIMEs of them.
 */
#include <errno.h>

#include "base/time.h"
#include "base/units.h"
#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"
#include "rules/policy.h"
#include "snapshot/follow.h"

#define PERIOD_LEAST_NS (RF_NS_PER_S / 2)
#define PERIOD_MOST_NS (10 * RF_NS_PER_S)
#define LATE_NS RF_NS_PER_MS /* so late may a CPU charge, of a window timed in ns */
/* A ring keeps these behind the present cell, with a head that is a cell ahead of a reader. */
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

/* Where to go on: the first cell that was not read, if the window still has it. */
static uint64_t first_cell(const struct rf_follow *follow, const struct rf_fence *fence,
			   const struct rf_policy *policy, struct rf_followed *one, uint64_t now,
			   bool is_anew, bool *is_incomplete)
{
	const uint64_t oldest = now - KEPT;

	*is_incomplete = is_anew || one->next < oldest;
	if (!one->next && one->is_whole &&
	    follow->interval_ns < KEPT * rf_fence_cell_ns(fence, policy))
		*is_incomplete = false;
	return one->next < oldest ? oldest : one->next;
}

/* The row that the next cell is added to. */
static struct rf_cells_row *row_of(struct rf_follow *follow, const struct rf_fence *fence,
				   const struct rf_policy *policy, int slot,
				   struct rf_followed *one, uint64_t cell, bool is_incomplete)
{
	struct rf_cells_row *row = one->row < 0 ? NULL : &follow->row[one->row];

	if (row && !is_incomplete && row->count < RF_CELLS_ROW_MAX)
		return row;
	row = rf_follow_new_row(follow, one, slot);
	if (!row)
		return NULL;
	row->first_ns = rf_fence_cell_start_ns(fence, policy, cell) + rf_time_offset();
	row->cell_ns = rf_fence_cell_ns(fence, policy);
	row->is_incomplete = is_incomplete;
	row->counts_refused = rf_counts_rejected(policy);
	return row;
}

/* Takes the cells before the cell `now`. */
static int take_cells(struct rf_follow *follow, const struct rf_fence *fence, int slot,
		      struct rf_followed *one, const struct rf_source *state, uint64_t now,
		      bool is_anew)
{
	const struct rf_policy *policy = &follow->rules.policy[slot];
	bool is_incomplete;
	uint64_t cell = first_cell(follow, fence, policy, one, now, is_anew, &is_incomplete);

	for (; cell < now; cell++, is_incomplete = false) {
		const uint64_t used = rf_window_cell(&state->window, policy, cell);
		struct rf_cells_row *row =
			row_of(follow, fence, policy, slot, one, cell, is_incomplete);

		if (!row)
			return -ENOMEM;
		row->cell[row->count++] = used << policy->unit_shift;
		if (row->count > follow->fullest)
			follow->fullest = row->count;
		one->next = cell + 1;
	}
	return 0;
}

/* A window that was evicted has no cells; what it had since it was read last is lost. */
static int read_window(struct rf_follow *follow, const struct rf_fence *fence, int slot,
		       struct rf_followed *one)
{
	const struct rf_policy *policy = &follow->rules.policy[slot];
	/* Before the window is read: cells that end meanwhile may get packets that it has not. */
	const uint64_t now = present_cell(fence, policy);
	struct rf_source state;
	bool is_anew;

	if (rf_fence_window(fence, policy, &one->source, &state)) {
		one->stay = 0;
		return 0;
	}
	is_anew = one->next && one->stay != rf_window_stay(state.seat);
	one->stay = rf_window_stay(state.seat);
	return take_cells(follow, fence, slot, one, &state, now, is_anew);
}

int rf_follow_read(struct rf_follow *follow, const struct rf_fence *fence, uint64_t awake_ns)
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
		err = read_window(follow, fence, slot, &follow->list.of[i]);
	}
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (is_due[slot])
			follow->due_ns[slot] =
				is_used[slot] ? awake_ns + period_ns(&follow->rules.limit[slot])
					      : 0;
	return err;
}
