// SPDX-License-Identifier: GPL-2.0
/* Limits that many hosts hold together, see include/ringfence/share.h. */
#include <stddef.h>

#include "rules/policy.h"
#include "rules/private.h"

const char *rf_policy_no_fleet(const struct rf_limit *limit, const struct rf_policy *policy)
{
	if (limit->algorithm != RF_SLIDING || limit->edge != RF_EDGE_STRICT)
		return "only a sliding limit with a strict edge can be shared; leave out "
		       "'algorithm' and 'edge'";
	if (limit->flags & RF_COUNT_REJECTED)
		return "what is refused on one host is nobody else's; leave out 'count rejected'";
	if (limit->match == RF_MATCH_OTHER)
		return "packets without a source cannot be shared; leave out 'match other'";
	if (policy->clock != RF_JIFFIES)
		return "its window is too short for a share to arrive in; take 1s or longer";
	return NULL;
}

/* In units of the policy, rounded down. */
static uint32_t units_up_to(const struct rf_policy *policy, uint64_t amount, uint32_t most)
{
	const uint64_t units = amount >> policy->unit_shift;

	return units < most ? units : most;
}

static bool terms_differ(const struct rf_policy *a, const struct rf_policy *b)
{
	return (a->flags & RF_FLEET) != (b->flags & RF_FLEET) || a->limit != b->limit ||
	       a->first != b->first || a->alone != b->alone;
}

bool rf_policy_leaves_terms(const struct rf_policy *policy, const struct rf_policy *next)
{
	return policy->flags & RF_FLEET && !(policy->flags & RF_FLEET_CHANGED) &&
	       terms_differ(policy, next);
}

void rf_policy_join_fleet(struct rf_policy *policy, const struct rf_policy *before,
			  const struct rf_fleet_terms *terms)
{
	policy->flags |= RF_FLEET;
	policy->tag = terms->tag;
	policy->first = units_up_to(policy, terms->first, policy->limit);
	policy->alone = policy->limit;
	if (terms->alone)
		policy->alone = units_up_to(policy, terms->alone, policy->limit);
	if (policy->alone < policy->first)
		policy->alone = policy->first;
	if (before->id == policy->id &&
	    (before->flags & RF_FLEET_CHANGED || terms_differ(policy, before)))
		policy->flags |= RF_FLEET_CHANGED;
}
