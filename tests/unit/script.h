/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scripts for the tests of the limiter: which packets are offered at which time, and which of them
 * pass. One CPU at a time, from every one of the origins.
 */
#ifndef RINGFENCE_UNIT_SCRIPT_H
#define RINGFENCE_UNIT_SCRIPT_H

#include "limiter.h"

#define STEPS_MAX 24

struct step {
	uint64_t time;
	uint32_t offered;
	uint32_t admitted;
	uint32_t cost;
	/* From this step on, 0: as before. */
	uint32_t limit, clip;
	uint64_t cell, depth; /* with `limit`, of a bucket */
};

struct script {
	struct rf_policy policy;
	struct step step[STEPS_MAX]; /* terminated by an offer of 0 */
};

static inline void change_policy(struct rf_policy *policy, const struct step *step)
{
	if (!step->limit)
		return;
	policy->limit = step->limit;
	policy->clip = step->clip;
	if (step->cell) {
		policy->cell = step->cell;
		policy->depth = step->depth;
	}
}

static inline void run_script_from(const struct script *script, uint64_t origin)
{
	struct rf_policy policy = script->policy;
	struct rf_window window;

	rf_window_start(&window, &policy, origin * CELL + script->step[0].time);
	for (int i = 0; i < STEPS_MAX && script->step[i].offered; i++) {
		const struct step *step = &script->step[i];
		uint32_t admitted;

		change_policy(&policy, step);
		admitted = offer(&window, &policy, origin * CELL + step->time, step->offered,
				 step->cost);
		if (admitted != step->admitted)
			fail_msg("origin %" PRIu64 ", step %d: %u admitted of %u, not %u", origin,
				 i, admitted, step->offered, step->admitted);
	}
}

static inline void run_script(void **state)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++)
		run_script_from(*state, origins[i]);
}

/* ---- policies: the members of the initializer ---- */

#define CELLS_OF(most, largest, number)                                         \
	.id = 1, .limit = most, .clip = largest, .cell = CELL, .cells = number, \
	.used_shift = (most) >= RF_HALF_MAX ? RF_USED_SHIFT_MAX : 0
#define RING(most, number) CELLS_OF(most, most, number)
#define WEIGHTED_RING(most, number) RING(most, (number)-1), .edge = RF_EDGE_WEIGHTED
#define ALIGNED(most) RING(most, 1), .algorithm = RF_FIXED
/* Refused packets count, so no cell is clipped. */
#define COUNTING_RING(most, number) CELLS_OF(most, UINT32_MAX, number), .flags = RF_COUNT_REJECTED

#define TIMES(most, window_ns) \
	.id = 1, .limit = most, .cell = window_ns, .cells = 1, .algorithm = RF_LOG

/* The flow of a bucket in which a unit takes this many ns. */
#define FLOW(each_ns) ((each_ns) * (1ULL << RF_BUCKET_SHIFT))
#define FILLED(burst, each_ns) .limit = burst, .cell = FLOW(each_ns), .depth = (burst)*FLOW(each_ns)
#define BUCKET(burst, each_ns) .id = 1, FILLED(burst, each_ns), .cells = 1, .algorithm = RF_TOKEN

/* ---- steps and rows ---- */

#define AT_COST(at, offers, passes, each, ...)                                               \
	{                                                                                    \
		.time = at, .offered = offers, .admitted = passes, .cost = each, __VA_ARGS__ \
	}
#define AT(at, offers, passes) AT_COST(at, offers, passes, 1)
#define AT_LIMIT(largest, clips_by, at, offers, passes) \
	AT_COST(at, offers, passes, 1, .limit = largest, .clip = clips_by)
#define AT_BUCKET(burst, each, at, offers, passes) \
	AT_COST(at, offers, passes, 1, FILLED(burst, each))

/* The policy, then STEPS(...). */
#define SCRIPT_OF(title, ...) \
	UNIT_ROW_OF(title, run_script, (&(struct script){.policy = __VA_ARGS__}))
#define STEPS(...) .step = {__VA_ARGS__}

#endif /* RINGFENCE_UNIT_SCRIPT_H */
