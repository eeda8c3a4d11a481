// SPDX-License-Identifier: GPL-2.0
/* Policies: the form of a limit that the data path reads. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/prefix.h"
#include "ringfence/fleet.h"
#include "ringfence/grouping.h"
#include "ringfence/limiter.h"
#include "rules/policy.h"
#include "rules/private.h"

/* ---- how a limit groups sources ---- */

unsigned int rf_group_length(unsigned int per4, unsigned int per6, const struct rf_address *source)
{
	if (source->version == 4)
		return per4;
	return per6 && rf_is_link_local(source->word[0]) ? 128 : per6;
}

unsigned int rf_limit_length(const struct rf_limit *limit, const struct rf_prefix *source)
{
	struct rf_address address = {.version = source->version};

	memcpy(address.word, source->word, sizeof(address.word));
	return rf_group_length(limit->per4, limit->per6, &address);
}

struct rf_prefix rf_limit_source(const struct rf_limit *limit, const struct rf_address *masked)
{
	struct rf_prefix prefix = {
		.version = masked->version,
		.length = rf_group_length(limit->per4, limit->per6, masked),
	};

	memcpy(prefix.word, masked->word, sizeof(prefix.word));
	return prefix;
}

void rf_policy_mask(const struct rf_policy *policy, struct rf_address *address)
{
	const __be32 whole = rf_whole_address(address->word[0], policy->mask6[0]);

	if (address->version == 4)
		address->word[0] &= policy->mask4;
	for (int i = 0; address->version == 6 && i < 4; i++)
		address->word[i] &= policy->mask6[i] | whole;
}

/* ---- limits of a fleet ---- */

/* Limits that many hosts hold together, see include/ringfence/share.h. */

const char *rf_policy_no_fleet(const struct rf_limit *limit, const struct rf_policy *policy)
{
	if (limit->algorithm != RF_SLIDING || limit->edge != RF_EDGE_STRICT)
		return "only a sliding limit with a strict edge can be shared; leave out "
		       "'algorithm' and 'edge'";
	if (limit->flags & RF_COUNT_REJECTED)
		return "packets refused on one host are unknown to the others; leave out 'count "
		       "rejected'";
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

/* Is the policy one of the fleet, not yet clipped by the largest L, and `next` another? */
static bool policy_leaves_terms(const struct rf_policy *policy, const struct rf_policy *next)
{
	return policy->flags & RF_FLEET && !(policy->flags & RF_FLEET_CHANGED) &&
	       terms_differ(policy, next);
}

void rf_policy_join_fleet(struct rf_policy *policy, const struct rf_policy *before,
			  const struct rf_fleet_terms *terms)
{
	policy->flags |= RF_FLEET | (policy->ban ? RF_BANS_BY_SUM | RF_EXACT : 0);
	policy->flags &= ~RF_LENDS;
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
	if (limit->flags & RF_INITIAL_GIVEN)
		return limit->first;
	return rf_fleet_first(limit->rate, bank->hosts ? bank->hosts : 1);
}

/*
 * For a policy that was just put in `slot`: applies the fleet options of the limit. `before`: the
 * slot's last policy.
 */
static void bank_join_fleet(struct rf_bank *bank, int slot, const struct rf_policy *before)
{
	const struct rf_limit *limit = &bank->limit[slot];
	struct rf_fleet_terms terms = {.first = rf_bank_first(bank, limit), .tag = before->tag};

	if (!(limit->flags & RF_FLEET)) {
		bank->limit[slot].definition = 0; /* so the next one gets another tag */
		return;
	}
	terms.alone = limit->alone ? limit->alone : limit->rate;
	if (limit->flags & RF_OFFLINE_INITIAL)
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

		bank_join_fleet(bank, slot, &before);
	}
}

static int fail_loose(const struct rf_bank *bank, const struct rf_limit *limit,
		      struct rf_error *error)
{
	const uint64_t first = rf_bank_first(bank, limit);

	return rf_error_failed(
		error, -EINVAL,
		"limit '%s': 'fleet' would pass up to %" PRIu64 " of its %" PRIu64 " over %" PRIu32
		" hosts; accept that by 'initial %" PRIu64 "', or write 'initial 0'",
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
		if (bank->hosts && !(limit->flags & RF_INITIAL_GIVEN) &&
		    rf_fleet_is_loose(limit->rate, bank->hosts, rf_bank_first(bank, limit)))
			return fail_loose(bank, limit, error);
	}
	*refused = 0;
	return 0;
}

/* ---- policies ---- */

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
 * W in ticks, rounded up, except for a remainder of less than a ns a tick: the length of a tick is
 * rounded, and a second at 300 Hz must be 300 ticks of 3333333 ns and 100 ns. Only for the strict
 * edge, which adds a tick: two times that are W apart are never read more than floor(W) + 1 ticks
 * apart.
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
		/* `used` has 32 bits, which leaves 31 for the part of a cell that multiplies it. */
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
 * The unit of the ring: the smallest in which L fits half of a word. In steps of USED_SHIFT_STEP: a
 * new L changes the windows only if it is a multiple of the old one. All cells together are rounded
 * up by less than 1/500 of L.
 */
static void set_used_shift(struct rf_policy *policy)
{
	while (policy->limit >> policy->used_shift >= RF_HALF_MAX)
		policy->used_shift += USED_SHIFT_STEP;
}

/*
 * Loans of windows that are counted in jiffies: a frame is longer than W, also if the clock lags,
 * and a period as long as a lease of a resident can live, see loan.h. W alone determines both,
 * because a window outlives other changes of its limit, and so do the loans that it has granted.
 */
static void set_loans(const struct rf_limit *limit, uint32_t tick_ns, struct rf_policy *policy)
{
	const uint64_t ticks = divide_up(limit->window_ns, tick_ns) + 1 + RF_JIFFIES_LAG;
	/* The record of a shadow, by which its limit is chosen, has packets of cells only. */
	const uint32_t not_lending = RF_EXACT | RF_COUNT_REJECTED | RF_SHADOW;
	uint8_t frame = 1, period = 1;

	if (policy->clock != RF_JIFFIES || !rf_is_ring(policy))
		return;
	while (1ULL << frame < ticks)
		frame++;
	while (period < RF_LOAN_PERIOD_MAX && (2ULL << period) * tick_ns <= RF_LEASE_LIFE_NS)
		period++;
	if (frame > period)
		return;
	policy->loan_frame = frame;
	policy->loan_period = period;
	if (!(limit->flags & not_lending) && !limit->ban_ns)
		policy->flags |= RF_LENDS;
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
		policy->cell = 1; /* no window */
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
	set_loans(limit, tick_ns, policy);
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

/* The place behind all limits, which are renumbered: places are bytes. */
static uint8_t last_place(struct rf_bank *bank)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(bank, slots);

	for (int i = 0; i < count; i++)
		bank->limit[slots[i]].order = i;
	return count;
}

/*
 * Does a window have the same meaning under both limits? A limit with a ban stores the end of the
 * ban in a word that is a counter under other limits. The packets that the limits match are
 * irrelevant: a window counts only packets that were charged to it.
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
	bank_join_fleet(bank, slot, &before);
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
		if (policy_leaves_terms(policy, &next->policy[slot])) {
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
