// SPDX-License-Identifier: GPL-2.0
/*
 * Checks whether ringfence may have written a bank of rules. The fence's owner may write the memory
 * of the bank, and may be another user than the reader. So each value that is an index, a divisor
 * or a shift, or is printed, is checked against its bounds. Whether the rules make sense is the
 * owner's affair.
 */
#include <errno.h>

#include "ringfence/fleet.h"
#include "rules/ruleset.h"

/* The first fault of a policy; NULL: none. */
static const char *find_fault_of_policy(const struct rf_policy *policy)
{
	if (!policy->cell)
		return "the length of a cell";
	if (!policy->cells || policy->cells > RF_CELLS_MAX)
		return "the number of cells";
	if (policy->clock > RF_KTIME)
		return "the clock";
	if (policy->algorithm > RF_LEAKY || policy->edge > RF_EDGE_WEIGHTED)
		return "the algorithm";
	if (policy->unit > RF_BYTES || policy->unit_shift > RF_UNIT_SHIFT_MAX)
		return "the unit";
	if (policy->time_shift > RF_TIME_SHIFT || policy->used_shift > RF_USED_SHIFT_MAX)
		return "the length of a cell";
	if (policy->scale > 63)
		return "the scale";
	if (policy->counters >= RF_LIMIT_COUNTERS_MAX)
		return "the counters";
	return policy->limit > RF_LIMIT_MAX ? "the rate" : NULL;
}

static const char *find_fault_of_limit(const struct rf_limit *limit)
{
	if (!rf_name_is_valid(limit->name))
		return "the name";
	if (!limit->rate &&
	    (limit->match == RF_MATCH_OTHER || limit->ban_ns || limit->flags & RF_FLEET))
		return "the rate";
	if (!limit->window_ns || limit->window_ns > RF_WINDOW_MAX_NS)
		return "the window";
	if (limit->algorithm > RF_LEAKY || limit->edge > RF_EDGE_WEIGHTED)
		return "the algorithm";
	if (limit->unit > RF_BYTES)
		return "the unit";
	if (!limit->cells || limit->cells > RF_CELLS_MAX)
		return "the number of cells";
	if (limit->per4 > 32 || limit->per6 > 128)
		return "the grouping";
	if (limit->match > RF_MATCH_OTHER || limit->has_ports > 1 || limit->has_from > 1 ||
	    limit->has_sports > 1 || limit->has_to > 1)
		return "the match";
	if (limit->length_min > limit->length_max)
		return "the lengths";
	if (limit->first > limit->rate || limit->alone > limit->rate)
		return "what it says of the fleet";
	return NULL;
}

static const char *find_fault_of_newcomers(const struct rf_newcomers *newcomers)
{
	if (newcomers->then > RF_NEWCOMERS_AGGREGATE || newcomers->guard > 1)
		return "what becomes of them";
	if (newcomers->then == RF_NEWCOMERS_OFF)
		return NULL;
	if (!newcomers->rate || !newcomers->window_ns || newcomers->window_ns > RF_WINDOW_MAX_NS)
		return "the rate";
	return find_fault_of_policy(&newcomers->policy);
}

int rf_bank_check(const struct rf_bank *bank, struct rf_error *error)
{
	const char *fault = find_fault_of_newcomers(&bank->newcomers);

	if (!fault && bank->hosts > RF_FLEET_HOSTS_MAX)
		return rf_error_failed(error, -EPROTO,
				       "the number of the fleet's hosts is not as ringfence writes "
				       "it; detach the fence, and attach it again");
	if (fault)
		return rf_error_failed(error, -EPROTO,
				       "the rules for newcomers are not as ringfence writes them "
				       "(%s); detach the fence, and attach it again",
				       fault);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		fault = find_fault_of_limit(&bank->limit[slot]);
		if (!fault)
			fault = find_fault_of_policy(&bank->policy[slot]);
		if (fault)
			return rf_error_failed(error, -EPROTO,
					       "the limit in slot %d is not as ringfence writes it "
					       "(%s); detach the fence, and attach it again",
					       slot, fault);
	}
	return 0;
}
