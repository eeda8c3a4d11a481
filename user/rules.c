// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rules.h"

static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

static __be32 prefix_mask(unsigned int length)
{
	if (length == 0)
		return 0;
	return htonl(~0U << (length < 32 ? 32 - length : 0));
}

/* `parts` cells are the window, and one clock tick more where `tick_more`. */
static void set_cell(struct rf_policy *policy, uint64_t window_ns, uint32_t parts, bool tick_more,
		     uint32_t tick_ns)
{
	policy->clock = RF_JIFFIES;
	policy->cell = divide_up(divide_up(window_ns, tick_ns) + tick_more, parts);
	if (policy->cell >= RF_JIFFIES_CELL_MIN)
		return;
	policy->clock = RF_KTIME;
	policy->cell = divide_up(window_ns + tick_more, parts);
}

void rf_policy_compile(const struct rf_limit *limit, uint32_t id, uint32_t tick_ns,
		       struct rf_policy *policy)
{
	*policy = (struct rf_policy){
		.id = id,
		.limit = limit->rate,
		.clip = limit->rate,
		.flags = limit->flags,
		.algorithm = limit->algorithm,
		.edge = limit->edge,
		.cells = limit->cells,
		.mask4 = prefix_mask(limit->per4),
	};
	for (int i = 0; i < 4; i++)
		if (limit->per6 > 32 * i)
			policy->mask6[i] = prefix_mask(limit->per6 - 32 * i);
	if (limit->algorithm == RF_FIXED) {
		policy->cells = 1;
		set_cell(policy, limit->window_ns, 1, false, tick_ns);
	} else if (limit->edge == RF_EDGE_COARSE) {
		set_cell(policy, limit->window_ns, limit->cells, false, tick_ns);
	} else {
		set_cell(policy, limit->window_ns, limit->cells - 1, true, tick_ns);
	}
}

int rf_rules_find(const struct rf_bank *rules, const char *name)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (rules->policy[slot].id && strcmp(rules->limit[slot].name, name) == 0)
			return slot;
	return -ENOENT;
}

int rf_rules_free_slot(const struct rf_bank *rules)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (!rules->policy[slot].id)
			return slot;
	return -ENOSPC;
}

int rf_rules_count(const struct rf_bank *rules)
{
	int count = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		count += rules->policy[slot].id != 0;
	return count;
}

/* Would a window that was kept under `a` be read as what it is under `b`? */
static int same_windows(const struct rf_limit *a, const struct rf_limit *b)
{
	return a->window_ns == b->window_ns && a->algorithm == b->algorithm && a->edge == b->edge &&
	       a->unit == b->unit && a->cells == b->cells && a->per4 == b->per4 &&
	       a->per6 == b->per6;
}

void rf_rules_put(struct rf_bank *rules, int slot, const struct rf_limit *limit, uint32_t tick_ns,
		  uint32_t *next_id)
{
	const struct rf_policy before = rules->policy[slot];
	int keep = before.id && same_windows(&rules->limit[slot], limit);

	rf_policy_compile(limit, keep ? before.id : (*next_id)++, tick_ns, &rules->policy[slot]);
	if (keep && rules->policy[slot].clip < before.clip)
		rules->policy[slot].clip = before.clip;
	rules->limit[slot] = *limit;
	rules->match_any |= 1ULL << slot;
}

void rf_rules_del(struct rf_bank *rules, int slot)
{
	memset(&rules->policy[slot], 0, sizeof(rules->policy[slot]));
	memset(&rules->limit[slot], 0, sizeof(rules->limit[slot]));
	rules->match_any &= ~(1ULL << slot);
}

int rf_rules_raise_clips(struct rf_bank *rules, const struct rf_bank *next)
{
	int raised = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_policy *policy = &rules->policy[slot];

		if (!policy->id || policy->id != next->policy[slot].id ||
		    policy->clip >= next->policy[slot].clip)
			continue;
		policy->clip = next->policy[slot].clip;
		raised = 1;
	}
	return raised;
}
