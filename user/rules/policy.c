// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/prefix.h"
#include "ringfence/limiter.h"
#include "rules/policy.h"
#include "rules/private.h"

#define USED_SHIFT_STEP 2
#define STEADY_ALL 1000
#define BUCKET_SCALE_MAX 16
/* Flags of a limit that its policy has as well; rf_policy_join_fleet() adds its own. */
#define OF_BOTH (RF_SHADOW | RF_COUNT_REJECTED | RF_EXACT | RF_BAN_ALL)
#define BUCKET_PRODUCT_MAX ((unsigned __int128)1 << 62)

static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

/*
 * Sets the length of a cell, in whole units of the clock: `parts` cells cover the window, plus one
 * unit where `one_more`.
 */
static void set_cell(struct rf_policy *policy, uint64_t window_ns, uint32_t parts, bool one_more,
		     uint32_t tick_ns)
{
	policy->clock = RF_JIFFIES;
	policy->cell = divide_up(divide_up(window_ns, tick_ns) + one_more, parts);
	if (policy->cell >= RF_JIFFIES_CELL_MIN)
		return;
	policy->clock = RF_KTIME;
	policy->cell = divide_up(window_ns + one_more, parts);
}

/*
 * W in ticks, rounded up, but for a rest of less than a ns a tick: the length of a tick is rounded,
 * so that a second at 300 Hz is 300 ticks of 3333333 ns and 100 ns. For the strict edge only, which
 * adds a tick: two times that are W apart are never read more than floor(W) + 1 ticks apart.
 */
static uint64_t whole_ticks(uint64_t window_ns, uint32_t tick_ns)
{
	const uint64_t ticks = window_ns / tick_ns;

	return ticks + (window_ns % tick_ns > ticks);
}

/*
 * The same, in parts of ticks: `parts` cells cover that many whole ticks, wherever they start,
 * since floor(x + d) - floor(x) <= ceil(d), and d, counted in cells, is no more than `parts`.
 */
static void set_cell_in_parts(struct rf_policy *policy, uint64_t window_ns, uint32_t parts,
			      bool one_more, uint32_t tick_ns)
{
	const uint64_t ticks =
		one_more ? whole_ticks(window_ns, tick_ns) + 1 : divide_up(window_ns, tick_ns);

	set_cell(policy, window_ns, parts, one_more, tick_ns);
	if (policy->clock != RF_JIFFIES && ticks < RF_JIFFIES_WINDOW_MIN)
		return;
	policy->clock = RF_JIFFIES;
	policy->time_shift = RF_TIME_SHIFT;
	policy->cell = divide_up(ticks << RF_TIME_SHIFT, parts);
}

static void compile_sliding(const struct rf_limit *limit, uint32_t tick_ns,
			    struct rf_policy *policy)
{
	policy->cells = limit->cells;
	if (limit->edge == RF_EDGE_STRICT) {
		set_cell_in_parts(policy, limit->window_ns, limit->cells - 1, true, tick_ns);
	} else if (limit->edge == RF_EDGE_COARSE) {
		set_cell_in_parts(policy, limit->window_ns, limit->cells, false, tick_ns);
	} else {
		policy->cells = limit->cells - 1;
		set_cell(policy, limit->window_ns, policy->cells, false, tick_ns);
		/* `used` has 32 bits, so the part of a cell that multiplies it may have 31. */
		while (policy->cell >> policy->scale >> 31)
			policy->scale++;
	}
}

/*
 * Computes how long one unit and the whole burst take to flow, rounded up. A packet is one unit:
 * its time is a whole number, and `burst` times it is exactly the depth. A byte may take less than
 * 1/16 ns, so its time gets more binary places: as many as its product with the burst has room for.
 */
static void compile_bucket(const struct rf_limit *limit, struct rf_policy *policy)
{
	const int scale_max = limit->unit == RF_BYTES ? BUCKET_SCALE_MAX : 0;
	const unsigned __int128 window = (unsigned __int128)limit->window_ns << RF_BUCKET_SHIFT;
	unsigned __int128 cell = 0;

	for (int scale = scale_max; scale >= 0; scale--) {
		cell = ((window << scale) + limit->rate - 1) / limit->rate;
		policy->scale = scale;
		if (cell * limit->burst < BUCKET_PRODUCT_MAX)
			break;
	}
	policy->clock = RF_KTIME;
	policy->limit = limit->burst;
	policy->cell = cell;
	policy->depth = rf_bucket_flow(policy, limit->burst);
}

/*
 * The unit of the ring: the least in which L fits half of a word. In steps of USED_SHIFT_STEP, so
 * that a new L has other windows only where it is a multiple of the old one. All cells together are
 * rounded up by less than 1/500 of L.
 */
static void set_used_shift(struct rf_policy *policy)
{
	while (policy->limit >> policy->used_shift >= RF_HALF_MAX)
		policy->used_shift += USED_SHIFT_STEP;
}

void rf_policy_compile(const struct rf_limit *limit, uint32_t id, uint32_t tick_ns,
		       struct rf_policy *policy)
{
	tick_ns = tick_ns ? tick_ns : 1; /* it may come from another user's memory */
	*policy = (struct rf_policy){
		.id = id,
		.flags = limit->flags & OF_BOTH,
		.algorithm = limit->algorithm,
		.edge = limit->edge,
		.cells = 1,
		.unit = limit->unit,
		.ban = divide_up(limit->ban_ns, tick_ns),
		.mask4 = rf_prefix_mask(limit->per4, 0),
	};
	for (unsigned int i = 0; i < 4; i++)
		policy->mask6[i] = rf_prefix_mask(limit->per6, i);
	if (!limit->rate) {
		policy->cell = 1; /* it has no window */
		return;
	}
	if (rf_is_bucket(policy)) {
		compile_bucket(limit, policy);
	} else {
		while (limit->rate >> policy->unit_shift > RF_LIMIT_MAX)
			policy->unit_shift++;
		policy->limit = limit->rate >> policy->unit_shift;
	}
	policy->clip = limit->flags & RF_COUNT_REJECTED ? UINT32_MAX : policy->limit;
	if (!rf_is_log(policy) && !rf_is_bucket(policy))
		set_used_shift(policy);
	if (rf_is_log(policy)) {
		policy->clock = RF_KTIME;
		policy->cell = limit->window_ns;
	} else if (limit->algorithm == RF_FIXED) {
		set_cell(policy, limit->window_ns, 1, false, tick_ns);
	} else if (limit->algorithm == RF_SLIDING) {
		compile_sliding(limit, tick_ns, policy);
	}
}

uint32_t rf_policy_steady(const struct rf_limit *limit, uint32_t tick_ns)
{
	struct rf_policy policy;
	unsigned __int128 units, span;
	uint64_t steady, rounding;

	if (!limit->rate)
		return STEADY_ALL;
	rf_policy_compile(limit, 1, tick_ns, &policy);
	if (rf_is_log(&policy) || rf_is_bucket(&policy))
		return STEADY_ALL;
	/* A packet is at most one unit on the edge of a weighted window. */
	span = divide_up(policy.cells * policy.cell, 1ULL << policy.time_shift) +
	       rf_is_weighted(&policy);
	rounding = policy.cells * ((1ULL << policy.used_shift) - 1) + rf_is_weighted(&policy);
	units = policy.limit > rounding ? policy.limit - rounding : 0;
	span *= policy.clock == RF_JIFFIES && tick_ns ? tick_ns : 1;
	steady = STEADY_ALL * units * limit->window_ns / (span * policy.limit);
	return steady < STEADY_ALL ? steady : STEADY_ALL;
}

int rf_bank_find(const struct rf_bank *bank, const char *name)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && strcmp(bank->limit[slot].name, name) == 0)
			return slot;
	return -ENOENT;
}

int rf_bank_find_id(const struct rf_bank *bank, uint32_t id)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == id)
			return slot;
	return -ENOENT;
}

int rf_bank_free_slot(const struct rf_bank *bank)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (!bank->policy[slot].id)
			return slot;
	return -ENOSPC;
}

int rf_bank_count(const struct rf_bank *bank)
{
	int count = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		count += bank->policy[slot].id != 0;
	return count;
}

int rf_bank_slots(const struct rf_bank *bank, int slots[RF_LIMITS_MAX])
{
	int count = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		int at = count;

		if (!bank->policy[slot].id)
			continue;
		for (; at && bank->limit[slots[at - 1]].order > bank->limit[slot].order; at--)
			slots[at] = slots[at - 1];
		slots[at] = slot;
		count++;
	}
	return count;
}

/* The place behind all limits, which are numbered anew: places are bytes. */
static uint8_t last_place(struct rf_bank *bank)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(bank, slots);

	for (int i = 0; i < count; i++)
		bank->limit[slots[i]].order = i;
	return count;
}

/*
 * Does a window mean the same under both limits? A limit with a ban keeps the end of the ban in a
 * word that is a counter under other limits. Which packets the limits match does not matter: a
 * window counts those that were charged to it.
 */
static bool same_windows(const struct rf_limit *limit, const struct rf_policy *policy,
			 const struct rf_limit *other, const struct rf_policy *other_policy)
{
	return !limit->rate == !other->rate && limit->window_ns == other->window_ns &&
	       limit->algorithm == other->algorithm && limit->edge == other->edge &&
	       limit->unit == other->unit && limit->cells == other->cells &&
	       limit->per4 == other->per4 && limit->per6 == other->per6 &&
	       (limit->match == RF_MATCH_OTHER) == (other->match == RF_MATCH_OTHER) &&
	       !limit->ban_ns == !other->ban_ns && policy->unit_shift == other_policy->unit_shift &&
	       policy->used_shift == other_policy->used_shift &&
	       rf_counts_rejected(policy) == rf_counts_rejected(other_policy);
}

void rf_bank_put(struct rf_bank *bank, int slot, const struct rf_limit *limit, uint32_t tick_ns,
		 uint32_t *next_id)
{
	const struct rf_policy before = bank->policy[slot];
	const uint32_t since_generation = bank->limit[slot].since_generation;
	const uint64_t definition = bank->limit[slot].definition;
	const uint8_t order = before.id ? bank->limit[slot].order : last_place(bank);
	struct rf_policy *policy = &bank->policy[slot];

	rf_policy_compile(limit, before.id, tick_ns, policy);
	policy->since_generation = before.since_generation;
	policy->counters = before.counters;
	if (!before.id || !same_windows(limit, policy, &bank->limit[slot], &before)) {
		policy->id = (*next_id)++;
		policy->since_generation = 0;
	} else if (policy->clip < before.clip) {
		policy->clip = before.clip;
	}
	bank->limit[slot] = *limit;
	bank->limit[slot].since_generation = since_generation;
	bank->limit[slot].definition = definition;
	bank->limit[slot].order = order;
	rf_bank_join_fleet(bank, slot, &before);
}

void rf_bank_del(struct rf_bank *bank, int slot)
{
	memset(&bank->policy[slot], 0, sizeof(bank->policy[slot]));
	memset(&bank->limit[slot], 0, sizeof(bank->limit[slot]));
}

int rf_bank_raise_clips(struct rf_bank *bank, const struct rf_bank *next)
{
	int raised = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_policy *policy = &bank->policy[slot];

		if (!policy->id || policy->id != next->policy[slot].id)
			continue;
		if (rf_policy_leaves_terms(policy, &next->policy[slot])) {
			policy->flags |= RF_FLEET_CHANGED;
			raised = 1;
		}
		if (policy->clip >= next->policy[slot].clip)
			continue;
		policy->clip = next->policy[slot].clip;
		raised = 1;
	}
	return raised;
}
