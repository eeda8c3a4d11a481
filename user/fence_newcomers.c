// SPDX-License-Identifier: GPL-2.0
/*
 * What newcomers need beside the rules: the windows of the guard, those of prefixes, and the filter
 * that tells who is none.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "bpf/presence.h"
#include "fence_internal.h"
#include "ringfence/limiter.h"
#include "rules.h"

#define GUARD_ID 1	  /* there are no others of its kind */
#define GUARD_CELLS_MIN 4 /* then evenly, three quarters of the rate are admitted */
#define BURST_SHARE 8	  /* of the windows of a family: so many of them at once, or less */

/* The windows that one newcomer may want at the most: of how many limits a packet may be. */
static uint32_t most_windows(const struct rf_bank *rules)
{
	uint32_t most = 1;

	for (int class = 0; class < RF_CLASSES_MAX; class ++)
		for (int origin = 0; origin < RF_ORIGINS_MAX; origin++) {
			uint32_t limits = rules->class[class].limits & rules->origin[origin];
			uint32_t count = __builtin_popcount(limits);

			most = count > most ? count : most;
		}
	return most;
}

/*
 * All that a guard admits in its window may come at once. Where that is much of the room there is,
 * known sources would be evicted between two of their packets: then it admits as many in parts.
 */
static uint64_t parts_of(const struct rf_newcomers *newcomers, uint64_t room)
{
	const uint64_t part = room > BURST_SHARE ? room / BURST_SHARE : 1;

	return newcomers->rate > 2 * part ? (newcomers->rate + part - 1) / part : 1;
}

/*
 * By jiffies if it can be, also with fewer cells, since a flood asks it for each packet; that may
 * cost newcomers who come evenly a part of the rate.
 */
static void compile_guard(struct rf_newcomers *newcomers, uint32_t tick_ns, uint32_t room)
{
	const uint64_t parts = parts_of(newcomers, room);
	struct rf_limit limit = {
		.rate = newcomers->rate / parts,
		.window_ns = newcomers->window_ns / parts,
		.per4 = 32,
		.per6 = 128,
	};

	for (limit.cells = RF_CELLS; limit.cells >= GUARD_CELLS_MIN; limit.cells--) {
		rf_policy_compile(&limit, GUARD_ID, tick_ns, &newcomers->policy);
		if (newcomers->policy.clock == RF_JIFFIES)
			return;
	}
	limit.cells = RF_CELLS;
	rf_policy_compile(&limit, GUARD_ID, tick_ns, &newcomers->policy);
}

static bool is_same_guard(const struct rf_newcomers *one, const struct rf_newcomers *other)
{
	return other->then != RF_NEWCOMERS_OFF && one->rate == other->rate &&
	       one->window_ns == other->window_ns && one->policy.limit == other->policy.limit &&
	       one->policy.cell == other->policy.cell && one->policy.cells == other->policy.cells &&
	       one->policy.clock == other->policy.clock;
}

/* The windows of another guard than the present one, so that nobody looks at them yet. */
static void open_guard(const struct rf_fence *fence, const struct rf_newcomers *newcomers)
{
	const struct rf_policy *policy = &newcomers->policy;
	const uint64_t time = rf_fence_time(fence, policy);

	rf_window_start(&fence->config->guard[newcomers->guard].limits, policy, time);
	rf_window_start(&fence->config->guard[newcomers->guard].shadows, policy, time);
}

static void open_aggregates(const struct rf_fence *fence, const struct rf_policy *policy, int slot)
{
	const int set = slot + (policy->flags & RF_OTHER_SET ? RF_LIMITS_MAX : 0);
	const uint64_t time = rf_fence_time(fence, policy);

	for (int i = 0; i < RF_AGGREGATES; i++) {
		struct rf_source *source = &fence->aggregate[set * RF_AGGREGATES + i];

		*source = (struct rf_source){};
		rf_window_start(&source->window, policy, time);
	}
}

static bool aggregates(const struct rf_bank *rules)
{
	return rules->newcomers.then == RF_NEWCOMERS_AGGREGATE;
}

/*
 * A limit goes on with the windows that it has; another one in its slot gets the other set, which
 * nobody looks at. So the present rules keep theirs whole, whenever this command is killed.
 */
static void prepare_aggregates(const struct rf_fence *fence, struct rf_bank *rules,
			       const struct rf_bank *present)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_policy *before = &present->policy[slot];
		struct rf_policy *policy = &rules->policy[slot];
		bool goes_on = policy->id == before->id;

		if (!policy->id)
			continue;
		policy->flags &= ~RF_OTHER_SET;
		policy->flags |= (goes_on ? before->flags : ~before->flags) & RF_OTHER_SET;
		if (aggregates(rules) && (!goes_on || !aggregates(present)))
			open_aggregates(fence, policy, slot);
	}
}

void rf_newcomers_set_filter(struct rf_bank *rules, bool filter)
{
	struct rf_newcomers *newcomers = &rules->newcomers;

	newcomers->filter = filter;
	rules->flags &= ~RF_BANK_CLOSED;
	if (filter && newcomers->then == RF_NEWCOMERS_CLOSED)
		rules->flags |= RF_BANK_CLOSED;
}

void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *rules,
			  const struct rf_bank *present)
{
	struct rf_newcomers *newcomers = &rules->newcomers;
	const struct rf_newcomers *before = &present->newcomers;

	prepare_aggregates(fence, rules, present);
	if (newcomers->then == RF_NEWCOMERS_OFF) {
		*newcomers = (struct rf_newcomers){.guard = before->guard};
		return;
	}
	compile_guard(newcomers, fence->config->tick_ns, fence->sources / most_windows(rules));
	if (is_same_guard(newcomers, before)) {
		newcomers->guard = before->guard;
		newcomers->policy = before->policy;
	} else {
		newcomers->guard = !before->guard;
		open_guard(fence, newcomers);
	}
	/* While there is no guard nobody is marked. */
	rf_newcomers_set_filter(rules, before->then != RF_NEWCOMERS_OFF && before->filter);
}

/* ---- filter ---- */

static int mark_source(const struct rf_address *address, uint32_t limit_id,
		       const struct rf_source *state, void *context)
{
	const struct rf_fence *fence = context;
	const struct rf_config *config = fence->config;
	struct rf_presence *line;
	uint64_t hash, inserts;
	__u64 source[2];

	(void)state;
	rf_address_pack(address, source);
	hash = rf_presence_hash(source, limit_id, address->version == 6, config->lease_key);
	line = &fence->presence[rf_presence_place(hash, config->presence_shift,
						  address->version == 6)];
	inserts = __atomic_load_n(&config->family_inserts[address->version == 6], __ATOMIC_RELAXED);
	rf_presence_enter(line, rf_load(&line->tag), inserts / config->presence_steps);
	rf_presence_mark(line, hash);
	return 0;
}

int rf_fence_fill_presence(const struct rf_fence *fence, struct rf_error *error)
{
	if (!fence->config->presence_shift || !fence->config->presence_steps)
		return 0;
	return rf_fence_each_source(fence, mark_source, (void *)fence, error);
}
