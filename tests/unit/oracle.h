/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets that a limit passes, computed from the list of all charges: no ring, no tags, no
 * closed cells; too simple to be wrong. One CPU at a time. It calls no code under test, but takes
 * from the policy the length and number of cells, L in units, and the rounding of a bucket's times,
 * all of which have separate tests.
 */
#ifndef RINGFENCE_UNIT_ORACLE_H
#define RINGFENCE_UNIT_ORACLE_H

#include "unit.h"

#include "ringfence/abi.h"

#ifndef ORACLE_CHARGES
#define ORACLE_CHARGES 16384 /* more than ever count at the same time in a row */
#endif
#define ORACLE_NEVER UINT64_MAX

typedef __int128 int128;

struct charge {
	uint64_t when; /* the number of a cell, or a time */
	uint64_t cost;
};

struct oracle {
	/*
	 * Charges count in the later of the caller's time and this: the latest cell of any request,
	 * or for a log the latest charge.
	 */
	uint64_t latest;
	uint64_t first, end;
	struct charge charge[ORACLE_CHARGES];
	/*
	 * Buckets: the content after the last charge, as the time that it takes to flow, in 1/16
	 * ns.
	 */
	bool charged;
	int128 level, level_time;
};

static inline int128 oracle_divide_up(int128 dividend, int128 divisor)
{
	return (dividend + divisor - 1) / divisor;
}

/* ---- the list ---- */

static inline struct charge *oracle_charge(struct oracle *oracle, uint64_t number)
{
	return &oracle->charge[number % ORACLE_CHARGES];
}

static inline void oracle_add(struct oracle *oracle, uint64_t when, uint32_t cost)
{
	assert_true(oracle->end - oracle->first < ORACLE_CHARGES);
	*oracle_charge(oracle, oracle->end++) = (struct charge){when, cost};
	oracle->latest = when;
}

/* Adds to the entry of a cell: within a cell, the order of charges does not matter. */
static inline void oracle_add_to_cell(struct oracle *oracle, uint64_t cell, uint32_t cost)
{
	if (oracle->end > oracle->first && oracle_charge(oracle, oracle->end - 1)->when == cell)
		oracle_charge(oracle, oracle->end - 1)->cost += cost;
	else
		oracle_add(oracle, cell, cost);
}

/* The sum of the charges from `oldest` to `newest`. */
static inline uint64_t oracle_sum(struct oracle *oracle, uint64_t oldest, uint64_t newest)
{
	uint64_t sum = 0;

	for (uint64_t i = oracle->first; i < oracle->end; i++) {
		const struct charge *charge = oracle_charge(oracle, i);

		if (charge->when >= oldest && charge->when <= newest)
			sum += charge->cost;
	}
	return sum;
}

/* Forgets older charges. */
static inline void oracle_forget(struct oracle *oracle, uint64_t oldest)
{
	while (oracle->first < oracle->end && oracle_charge(oracle, oracle->first)->when < oldest)
		oracle->first++;
}

/* ---- windows of cells ---- */

static inline bool oracle_is_weighted(const struct rf_policy *policy)
{
	return policy->algorithm == RF_SLIDING && policy->edge == RF_EDGE_WEIGHTED;
}

/* The charges in `count` cells, of which `last` is the last. */
static inline uint64_t oracle_cells(struct oracle *oracle, uint64_t last, uint64_t count)
{
	return oracle_sum(oracle, last >= count ? last - count + 1 : 0, last);
}

/* The charges in the cell on the edge of a weighted window whose last cell is `last`. */
static inline uint64_t oracle_edge(struct oracle *oracle, const struct rf_policy *policy,
				   uint64_t last)
{
	if (!oracle_is_weighted(policy) || last < policy->cells)
		return 0;
	return oracle_cells(oracle, last - policy->cells, 1);
}

static inline uint64_t oracle_last_cell(const struct oracle *oracle, const struct rf_policy *policy,
					uint64_t time)
{
	uint64_t now = (time << policy->time_shift) / policy->cell;

	return now > oracle->latest ? now : oracle->latest;
}

static inline uint64_t oracle_cells_used(struct oracle *oracle, const struct rf_policy *policy,
					 uint64_t time)
{
	uint64_t last = oracle_last_cell(oracle, policy, time);
	uint64_t left = policy->cell;

	if (oracle_is_weighted(policy) && last == time / policy->cell)
		left -= time % policy->cell;
	return oracle_cells(oracle, last, policy->cells) +
	       ((int128)oracle_edge(oracle, policy, last) * left + policy->cell - 1) / policy->cell;
}

/* The first time from `time` on at which `cost` passes in cell `last`, or ORACLE_NEVER. */
static inline uint64_t oracle_passes_in(struct oracle *oracle, const struct rf_policy *policy,
					uint64_t time, uint64_t last, uint32_t cost)
{
	uint64_t used = oracle_cells(oracle, last, policy->cells) + cost;
	uint64_t edge = oracle_edge(oracle, policy, last), left;
	uint64_t start =
		oracle_divide_up((int128)last * policy->cell, (int128)1 << policy->time_shift);

	if (used > policy->limit)
		return ORACLE_NEVER;
	if (used + edge <= policy->limit)
		return last == oracle->latest || time > start ? time : start;
	/* edge * left / cell, rounded up, must equal the rest of L. */
	left = (int128)(policy->limit - used) * policy->cell / edge;
	if (left == 0)
		return ORACLE_NEVER;
	start += policy->cell - left;
	return time > start ? time : start;
}

static inline uint64_t oracle_cells_passes(struct oracle *oracle, const struct rf_policy *policy,
					   uint64_t time, uint32_t cost)
{
	uint64_t last = oracle_last_cell(oracle, policy, time), passes = ORACLE_NEVER;

	for (; passes == ORACLE_NEVER; last++)
		passes = oracle_passes_in(oracle, policy, time, last, cost);
	return passes;
}

/* ---- log ---- */

/* 0, at boot, marks an empty slot: the same as 1. */
static inline uint64_t oracle_log_now(const struct oracle *oracle, uint64_t time)
{
	time = time ? time : 1;
	return time > oracle->latest ? time : oracle->latest;
}

/* The start of the interval of length W that ends at `time`. */
static inline uint64_t oracle_log_oldest(const struct oracle *oracle,
					 const struct rf_policy *policy, uint64_t time)
{
	uint64_t now = oracle_log_now(oracle, time);

	return now > policy->cell ? now - policy->cell : 0;
}

static inline uint64_t oracle_log_used(struct oracle *oracle, const struct rf_policy *policy,
				       uint64_t time)
{
	return oracle_sum(oracle, oracle_log_oldest(oracle, policy, time),
			  oracle_log_now(oracle, time));
}

static inline uint64_t oracle_log_passes(struct oracle *oracle, const struct rf_policy *policy,
					 uint64_t time)
{
	uint64_t ends;

	if (oracle_log_used(oracle, policy, time) < policy->limit)
		return time;
	ends = oracle_charge(oracle, oracle->end - policy->limit)->when + policy->cell;
	return ends + 1; /* both ends of W are included */
}

/* ---- buckets ---- */

/*
 * The time that a unit takes, in 2^-places of 1/16 ns, and `cost` units, in 1/16 ns; both rounded
 * up.
 */
static inline int128 oracle_unit_flow(const struct rf_limit *limit, int places)
{
	return oracle_divide_up(((int128)limit->window_ns * 16) << places, limit->rate);
}

static inline int128 oracle_flow(const struct rf_limit *limit, int places, uint64_t cost)
{
	return oracle_divide_up(oracle_unit_flow(limit, places) * cost, (int128)1 << places);
}

static inline int128 oracle_level(const struct oracle *oracle, int128 depth, uint64_t time)
{
	int128 level = oracle->level + (int128)time * 16 - oracle->level_time;

	if (!oracle->charged || level > depth)
		return depth;
	return level > 0 ? level : 0;
}

static inline void oracle_set_level(struct oracle *oracle, int128 level, uint64_t time)
{
	oracle->charged = true;
	oracle->level = level;
	oracle->level_time = (int128)time * 16;
}

static inline bool oracle_bucket_take(struct oracle *oracle, const struct rf_limit *limit,
				      const struct rf_policy *policy, uint64_t time, uint32_t cost)
{
	int128 level = oracle_level(oracle, oracle_flow(limit, policy->scale, limit->burst), time);
	int128 flow = oracle_flow(limit, policy->scale, cost);

	if (flow <= level && cost <= limit->burst) {
		oracle_set_level(oracle, level - flow, time);
		return true;
	}
	if (limit->flags & RF_COUNT_REJECTED && level)
		oracle_set_level(oracle, 0, time);
	return false;
}

static inline uint64_t oracle_bucket_used(const struct oracle *oracle, const struct rf_limit *limit,
					  const struct rf_policy *policy, uint64_t time)
{
	int128 depth = oracle_flow(limit, policy->scale, limit->burst);
	int128 missing = depth - oracle_level(oracle, depth, time);

	return oracle_divide_up(missing << policy->scale, oracle_unit_flow(limit, policy->scale));
}

static inline uint64_t oracle_bucket_passes(const struct oracle *oracle,
					    const struct rf_limit *limit,
					    const struct rf_policy *policy, uint64_t time,
					    uint32_t cost)
{
	int128 flow = oracle_flow(limit, policy->scale, cost);
	int128 missing = flow - oracle->level + oracle->level_time - (int128)time * 16;

	if (!oracle->charged || missing <= 0)
		return time;
	return time + oracle_divide_up(missing, 16);
}

/* ---- the questions ---- */

static inline bool oracle_is_bucket(const struct rf_limit *limit)
{
	return limit->algorithm == RF_TOKEN || limit->algorithm == RF_LEAKY;
}

static inline bool oracle_is_charged(const struct rf_limit *limit, bool passes)
{
	return passes || limit->flags & RF_COUNT_REJECTED;
}

static inline bool oracle_log_take(struct oracle *oracle, const struct rf_limit *limit,
				   const struct rf_policy *policy, uint64_t time)
{
	uint64_t now = oracle_log_now(oracle, time);
	bool passes = oracle_log_used(oracle, policy, time) < policy->limit;

	if (oracle_is_charged(limit, passes))
		oracle_add(oracle, now, 1);
	oracle_forget(oracle, oracle_log_oldest(oracle, policy, 0));
	return passes;
}

static inline bool oracle_cells_take(struct oracle *oracle, const struct rf_limit *limit,
				     const struct rf_policy *policy, uint64_t time, uint32_t cost)
{
	uint64_t cell = oracle->latest = oracle_last_cell(oracle, policy, time);
	bool passes;

	oracle_forget(oracle, cell >= RF_CELLS_MAX ? cell - RF_CELLS_MAX : 0);
	passes = oracle_cells_used(oracle, policy, time) + cost <= policy->limit;
	if (oracle_is_charged(limit, passes))
		oracle_add_to_cell(oracle, cell, cost);
	return passes;
}

/* Does `cost` pass at `time`? If so, it is charged. */
static inline bool oracle_take(struct oracle *oracle, const struct rf_limit *limit,
			       const struct rf_policy *policy, uint64_t time, uint32_t cost)
{
	if (oracle_is_bucket(limit))
		return oracle_bucket_take(oracle, limit, policy, time, cost);
	if (limit->algorithm == RF_LOG)
		return oracle_log_take(oracle, limit, policy, time);
	return oracle_cells_take(oracle, limit, policy, time, cost);
}

/* The amount that counts against L at `time`; for a bucket, the missing part of its burst. */
static inline uint64_t oracle_used(struct oracle *oracle, const struct rf_limit *limit,
				   const struct rf_policy *policy, uint64_t time)
{
	if (oracle_is_bucket(limit))
		return oracle_bucket_used(oracle, limit, policy, time);
	if (limit->algorithm == RF_LOG)
		return oracle_log_used(oracle, policy, time);
	return oracle_cells_used(oracle, policy, time);
}

/* The first time from `time` on at which `cost` passes if no other packet comes. */
static inline uint64_t oracle_passes(struct oracle *oracle, const struct rf_limit *limit,
				     const struct rf_policy *policy, uint64_t time, uint32_t cost)
{
	if (cost > policy->limit)
		return ORACLE_NEVER;
	if (oracle_is_bucket(limit))
		return oracle_bucket_passes(oracle, limit, policy, time, cost);
	if (limit->algorithm == RF_LOG)
		return oracle_log_passes(oracle, policy, time);
	return oracle_cells_passes(oracle, policy, time, cost);
}

#endif /* RINGFENCE_UNIT_ORACLE_H */
