// SPDX-License-Identifier: GPL-2.0
/* Limits that many hosts hold together, see include/ringfence/share.h. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "ringfence/fleet.h"
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
	policy->flags |= RF_FLEET | (policy->ban ? RF_BANS_BY_SUM | RF_EXACT : 0);
	policy->tag = terms->tag;
	policy->first = units_up_to(policy, terms->first, policy->limit);
	policy->alone = units_up_to(policy, terms->alone, policy->limit);
	if (policy->alone < policy->first)
		policy->alone = policy->first;
	if (before->id == policy->id &&
	    (before->flags & RF_FLEET_CHANGED || terms_differ(policy, before)))
		policy->flags |= RF_FLEET_CHANGED;
}

uint64_t rf_bank_first(const struct rf_bank *bank, const struct rf_limit *limit)
{
	if (limit->flags & RF_FIRST_GIVEN)
		return limit->first;
	return rf_fleet_first(limit->rate, bank->hosts ? bank->hosts : 1);
}

void rf_bank_join_fleet(struct rf_bank *bank, int slot, const struct rf_policy *before)
{
	const struct rf_limit *limit = &bank->limit[slot];
	struct rf_fleet_terms terms = {.first = rf_bank_first(bank, limit), .tag = before->tag};

	if (!(limit->flags & RF_FLEET)) {
		bank->limit[slot].definition = 0; /* so the next one gets another tag */
		return;
	}
	terms.alone = limit->alone ? limit->alone : limit->rate;
	if (limit->flags & RF_ALONE_FIRST)
		terms.alone = terms.first;
	rf_policy_join_fleet(&bank->policy[slot], before, &terms);
}

uint32_t rf_bank_fleet(const struct rf_bank *bank)
{
	uint32_t slots = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && bank->limit[slot].flags & RF_FLEET)
			slots |= 1U << slot;
	return slots;
}

void rf_bank_set_hosts(struct rf_bank *bank, uint32_t hosts)
{
	bank->hosts = hosts;
	for (uint32_t slots = rf_bank_fleet(bank); slots; slots &= slots - 1) {
		const int slot = __builtin_ctz(slots);
		const struct rf_policy before = bank->policy[slot];

		rf_bank_join_fleet(bank, slot, &before);
	}
}

static int fail_loose(const struct rf_bank *bank, const struct rf_limit *limit,
		      struct rf_error *error)
{
	const uint64_t first = rf_bank_first(bank, limit);

	return rf_error_failed(
		error, -EINVAL,
		"limit '%s': 'fleet' would pass up to %" PRIu64 " of its %" PRIu64 " over %" PRIu32
		" hosts; accept that by 'first %" PRIu64 "', or write 'first 0'",
		limit->name, (uint64_t)rf_fleet_bound(limit->rate, bank->hosts, first),
		(uint64_t)limit->rate, bank->hosts, first);
}

int rf_bank_check_fleet(const struct rf_bank *bank, uint32_t *refused, struct rf_error *error)
{
	for (uint32_t slots = rf_bank_fleet(bank); slots; slots &= slots - 1) {
		const struct rf_limit *limit = &bank->limit[__builtin_ctz(slots)];
		const char *why = rf_policy_no_fleet(limit, &bank->policy[__builtin_ctz(slots)]);

		*refused = slots & -slots;
		if (why)
			return rf_error_failed(error, -EINVAL, "limit '%s': 'fleet': %s",
					       limit->name, why);
		if (bank->hosts && !(limit->flags & RF_FIRST_GIVEN) &&
		    rf_fleet_is_loose(limit->rate, bank->hosts, rf_bank_first(bank, limit)))
			return fail_loose(bank, limit, error);
	}
	*refused = 0;
	return 0;
}
