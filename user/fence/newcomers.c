// SPDX-License-Identifier: GPL-2.0
/*
 * Prepares state for the newcomers rate outside of the rules: the windows of the guard, the
 * aggregates, and the limits whose windows make a source known.
 */
#include <string.h>

#include "base/units.h"
#include "fence/newcomers.h"
#include "ringfence/grouping.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"

#define GUARD_ID 1	  /* any id: the guard has separate windows */
#define GUARD_CELLS_MIN 4 /* with so few, an even flow gets three quarters of the rate */
#define BURST_SHARE 8	  /* a part of the rate takes at most 1/8 of a family's windows */

/* The windows under these limits, if all of them match a packet. Rate 0 has none. */
static uint32_t count_windows(const struct rf_bank *bank, uint32_t limits)
{
	if (limits & bank->rate0 & ~bank->shadows)
		return 0; /* the packet is dropped before any window */
	return __builtin_popcount(limits & ~bank->rate0);
}

/* The most windows that one newcomer may need. */
static uint32_t most_windows(const struct rf_bank *bank)
{
	uint32_t most = 1;

	for (int class = 0; class < RF_PACKET_CLASSES_MAX; class ++)
		for (int prefix_class = 0; prefix_class < RF_PREFIX_CLASSES_MAX; prefix_class++) {
			uint32_t count =
				count_windows(bank, bank->packet_class[class].limits &
							    bank->prefix_class[prefix_class]);

			most = count > most ? count : most;
		}
	return most;
}

/*
 * All newcomers that a guard admits in its window can arrive together. If they took much of the
 * room, known sources would be evicted between two of their packets. Rate and window of the guard
 * are then divided into parts.
 */
static uint64_t parts_of(const struct rf_newcomers *newcomers, uint64_t room)
{
	const uint64_t part = room > BURST_SHARE ? room / BURST_SHARE : 1;

	return newcomers->rate > 2 * part ? (newcomers->rate + part - 1) / part : 1;
}

/*
 * In a flood the guard is evaluated for each packet, so it counts by jiffies if possible, even with
 * fewer cells. Fewer cells can cost evenly arriving newcomers a part of the rate.
 */
static void compile_guard_policy(uint64_t rate, uint64_t window_ns, uint32_t tick_ns,
				 struct rf_policy *policy)
{
	struct rf_limit limit = {.rate = rate, .window_ns = window_ns, .per4 = 32, .per6 = 128};

	for (limit.cells = RF_CELLS; limit.cells >= GUARD_CELLS_MIN; limit.cells--) {
		rf_policy_compile(&limit, GUARD_ID, tick_ns, policy);
		if (policy->clock == RF_JIFFIES)
			return;
	}
	limit.cells = RF_CELLS;
	rf_policy_compile(&limit, GUARD_ID, tick_ns, policy);
}

static void compile_guard(struct rf_newcomers *newcomers, uint32_t tick_ns, uint32_t room)
{
	const uint64_t parts = parts_of(newcomers, room);

	compile_guard_policy(newcomers->rate / parts, newcomers->window_ns / parts, tick_ns,
			     &newcomers->policy);
}

/* The rate of responses, which only `then challenge` sets; otherwise the default. */
static void compile_answers(struct rf_newcomers *newcomers, uint32_t tick_ns)
{
	if (newcomers->then != RF_NEWCOMERS_CHALLENGE) {
		newcomers->answers = RF_ANSWERS_DEFAULT;
		newcomers->answers_ns = RF_NS_PER_S;
	}
	compile_guard_policy(newcomers->answers, newcomers->answers_ns, tick_ns,
			     &newcomers->answers_policy);
}

static bool is_same_policy(const struct rf_policy *one, const struct rf_policy *other)
{
	return one->limit == other->limit && one->cell == other->cell &&
	       one->cells == other->cells && one->clock == other->clock;
}

static bool both_answer(const struct rf_bank *one, const struct rf_bank *other)
{
	return rf_bank_answers(one) && rf_bank_answers(other);
}

static bool is_same_guard(const struct rf_newcomers *one, const struct rf_newcomers *other)
{
	if (one->then == RF_NEWCOMERS_OFF)
		return other->then == RF_NEWCOMERS_OFF;
	return other->then != RF_NEWCOMERS_OFF && one->rate == other->rate &&
	       one->window_ns == other->window_ns && is_same_policy(&one->policy, &other->policy);
}

static bool are_same_answers(const struct rf_newcomers *one, const struct rf_newcomers *other)
{
	return one->answers == other->answers && one->answers_ns == other->answers_ns &&
	       is_same_policy(&one->answers_policy, &other->answers_policy);
}

static void open_window(const struct rf_fence *fence, struct rf_window *window,
			const struct rf_policy *policy)
{
	rf_window_start(window, policy, rf_fence_time(fence, policy));
}

/*
 * Starts a window, or copies the one before, which lacks charges made while the rules are switched.
 */
static void renew_window(const struct rf_fence *fence, struct rf_window *window,
			 const struct rf_policy *policy, const struct rf_window *before,
			 bool goes_on)
{
	if (goes_on)
		*window = *before;
	else
		open_window(fence, window, policy);
}

/*
 * Prepares the windows of the guard and of responses. If one of their rates changes, all
 * windows have other places than under the present rules, so no program reads them yet; the windows
 * of an unchanged rate are copied.
 */
static void open_guard(const struct rf_fence *fence, struct rf_bank *bank,
		       const struct rf_bank *present)
{
	struct rf_newcomers *newcomers = &bank->newcomers;
	const struct rf_newcomers *before = &present->newcomers;
	const bool both = both_answer(bank, present);
	const bool goes_on = is_same_guard(newcomers, before);
	const bool answers_go_on = both && are_same_answers(newcomers, before);
	const bool stays = goes_on && (!both || answers_go_on);
	struct rf_guard_windows *from = &fence->config->guard[before->guard & 1], *to;

	newcomers->guard = stays ? before->guard : !before->guard;
	to = &fence->config->guard[newcomers->guard & 1];
	if (goes_on)
		newcomers->policy = before->policy;
	if (!stays && newcomers->then != RF_NEWCOMERS_OFF) {
		renew_window(fence, &to->limits, &newcomers->policy, &from->limits, goes_on);
		renew_window(fence, &to->shadows, &newcomers->policy, &from->shadows, goes_on);
		renew_window(fence, &to->proofs, &newcomers->policy, &from->proofs, goes_on);
	}
	if (rf_bank_answers(bank) && !(stays && both))
		renew_window(fence, &to->answers, &newcomers->answers_policy, &from->answers,
			     answers_go_on);
}

static struct rf_source *aggregate_at(const struct rf_fence *fence, int index)
{
	return (void *)((char *)fence->aggregate + (size_t)index * fence->source_size);
}

static void open_aggregates(const struct rf_fence *fence, const struct rf_policy *policy, int slot)
{
	const int set = slot + (policy->flags & RF_OTHER_SET ? RF_LIMITS_MAX : 0);
	const uint64_t time = rf_fence_time(fence, policy);

	for (int i = 0; i < RF_AGGREGATES; i++) {
		struct rf_source *source = aggregate_at(fence, set * RF_AGGREGATES + i);

		*source = (struct rf_source){};
		rf_window_start(&source->window, policy, time);
	}
}

/* With any guard: a known source is charged there if no slot is idle for its sibling window. */
static bool aggregates(const struct rf_bank *bank)
{
	return bank->newcomers.then != RF_NEWCOMERS_OFF;
}

/*
 * An unchanged limit retains its set of aggregates. A new limit in a slot gets the slot's other
 * set, which no program reads. The aggregates of the present rules therefore remain intact if this
 * command is killed.
 */
static void prepare_aggregates(const struct rf_fence *fence, struct rf_bank *bank,
			       const struct rf_bank *present)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_policy *before = &present->policy[slot];
		struct rf_policy *policy = &bank->policy[slot];
		bool goes_on = policy->id == before->id;

		if (!policy->id)
			continue;
		policy->flags &= ~RF_OTHER_SET;
		policy->flags |= (goes_on ? before->flags : ~before->flags) & RF_OTHER_SET;
		if ((aggregates(bank) && (!goes_on || !aggregates(present))) ||
		    (bank->limit[slot].match == RF_MATCH_OTHER && !goes_on))
			open_aggregates(fence, policy, slot);
	}
}

void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *bank,
			  const struct rf_bank *present)
{
	struct rf_newcomers *newcomers = &bank->newcomers;

	prepare_aggregates(fence, bank, present);
	bank->flags &= ~RF_BANK_DROPS_NEWCOMERS;
	if (newcomers->then == RF_NEWCOMERS_DROP || newcomers->then == RF_NEWCOMERS_CHALLENGE)
		bank->flags |= RF_BANK_DROPS_NEWCOMERS;
	if (newcomers->then == RF_NEWCOMERS_OFF)
		*newcomers = (struct rf_newcomers){};
	else
		compile_guard(newcomers, fence->config->tick_ns,
			      fence->sources / most_windows(bank));
	if (rf_bank_answers(bank))
		compile_answers(newcomers, fence->config->tick_ns);
	open_guard(fence, bank, present);
}

/* ---- kin ---- */

#define KIN_NS (90 * RF_NS_PER_S) /* longer than the permitted idle time of a resident */

/* Another user's fence may hold any count. */
static uint32_t count_kin(const struct rf_config *config)
{
	return config->kin_count < RF_KIN_MAX ? config->kin_count : RF_KIN_MAX;
}

static bool is_in_force(const struct rf_bank *bank, uint32_t id, bool *is_shadow)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank && bank->policy[slot].id == id) {
			*is_shadow = bank->policy[slot].flags & RF_SHADOW;
			return true;
		}
	return false;
}

static void set_until(struct rf_kin *kin, uint64_t until)
{
	__atomic_store_n(&kin->until, until, __ATOMIC_RELEASE);
}

/* A limit that is in neither bank, or is a shadow now, makes sources known for another KIN_NS. */
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  const struct rf_bank *fallback)
{
	struct rf_config *config = fence->config;
	const uint64_t now = rf_fence_jiffies(fence);

	for (uint32_t i = 0; i < count_kin(config); i++) {
		struct rf_kin *kin = &config->kin[i];
		bool is_shadow = false;
		const bool stays = is_in_force(bank, kin->limit_id, &is_shadow);
		const bool comes_back = is_in_force(fallback, kin->limit_id, &is_shadow);

		kin->state = comes_back || (stays && !fallback) ? RF_KIN_IN_FORCE
			     : stays				? RF_KIN_UNCONFIRMED
								: RF_KIN_OVER;
		if (kin->until <= now)
			set_until(kin, 0);
		else if (kin->until == RF_FOREVER && (kin->state == RF_KIN_OVER || is_shadow))
			set_until(kin, now + KIN_NS / config->tick_ns);
	}
}

/* The place for a new limit: a free one, or else the place of the limit that expires first. */
static struct rf_kin *free_kin(struct rf_config *config)
{
	struct rf_kin *least = &config->kin[0];

	for (uint32_t i = 0; i < RF_KIN_MAX && least->until; i++)
		if (config->kin[i].until < least->until)
			least = &config->kin[i];
	return least;
}

static void note_kin(struct rf_config *config, const struct rf_policy *policy)
{
	struct rf_kin *kin = NULL;

	for (uint32_t i = 0; i < count_kin(config) && !kin; i++)
		if (config->kin[i].limit_id == policy->id && config->kin[i].until)
			kin = &config->kin[i];
	if (!kin) {
		kin = free_kin(config);
		set_until(kin, 0);
		kin->limit_id = policy->id;
		kin->grouping.mask4 = policy->mask4;
		memcpy(kin->grouping.mask6, policy->mask6, sizeof(kin->grouping.mask6));
	}
	kin->state = RF_KIN_IN_FORCE;
	set_until(kin, RF_FOREVER);
	if (count_kin(config) <= kin - config->kin)
		__atomic_store_n(&config->kin_count, kin - config->kin + 1, __ATOMIC_RELEASE);
}

/* Lists the groupings of all kin. Returns their number; 0: there are more than RF_GROUPINGS_MAX. */
static uint32_t list_groupings(const struct rf_config *config, struct rf_grouping *grouping)
{
	uint32_t count = 0, at;

	for (uint32_t i = 0; i < count_kin(config); i++) {
		const struct rf_grouping *wanted = &config->kin[i].grouping;

		if (!config->kin[i].until)
			continue;
		for (at = 0; at < count; at++)
			if (memcmp(&grouping[at], wanted, sizeof(*wanted)) == 0)
				break;
		if (at == RF_GROUPINGS_MAX)
			return 0;
		grouping[at] = *wanted;
		count = at == count ? count + 1 : count;
	}
	return count;
}

/* Writes the list of groupings. No program sees the list half written. */
static int set_groupings(struct rf_config *config, struct rf_error *error)
{
	struct rf_grouping grouping[RF_GROUPINGS_MAX];
	const uint32_t count = list_groupings(config, grouping);
	int err;

	if (count == config->groupings &&
	    memcmp(grouping, config->grouping, count * sizeof(*grouping)) == 0)
		return 0;
	__atomic_store_n(&config->groupings, 0, __ATOMIC_RELEASE);
	err = rf_wait_for_programs(error);
	if (err)
		return err;
	memcpy(config->grouping, grouping, count * sizeof(*grouping));
	__atomic_store_n(&config->groupings, count, __ATOMIC_RELEASE);
	return 0;
}

int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_error *error)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && bank->limit[slot].rate &&
		    !(bank->policy[slot].flags & RF_SHADOW))
			note_kin(fence->config, &bank->policy[slot]);
	return set_groupings(fence->config, error);
}

/* ---- for readers ---- */

static struct rf_prefix aggregate_prefix(uint64_t slot_ref)
{
	const bool is_ipv6 = slot_ref & RF_AGGREGATE_IPV6;
	struct rf_prefix prefix = {.version = is_ipv6 ? 6 : 4, .length = is_ipv6 ? 48 : 24};
	const uint64_t source = slot_ref & (is_ipv6 ? RF_AGGREGATE_MASK6 : RF_AGGREGATE_MASK4);

	prefix.word[0] = (uint32_t)source;
	prefix.word[1] = source >> 32;
	return prefix;
}

int rf_fence_each_aggregate(const struct rf_fence *fence, const struct rf_bank *rules,
			    rf_aggregate_visit visit, void *context)
{
	int err = 0;

	if (!fence->aggregate || !aggregates(rules))
		return 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_policy *policy = &rules->policy[slot];
		const int set = slot + (policy->flags & RF_OTHER_SET ? RF_LIMITS_MAX : 0);

		for (int i = 0; policy->id && i < RF_AGGREGATES && !err; i++) {
			const struct rf_source state =
				*aggregate_at(fence, set * RF_AGGREGATES + i);
			const struct rf_prefix prefix = aggregate_prefix(state.slot_ref);

			if (state.slot_ref && rules->limit[slot].match != RF_MATCH_OTHER)
				err = visit(&prefix, slot, set * RF_AGGREGATES + i, &state,
					    context);
		}
	}
	return err;
}

/* Sources like that one. */
static bool groups_as_finely(const struct rf_grouping *grouping, const struct rf_policy *policy,
			     const struct rf_address *source)
{
	const __be32 whole = rf_whole_address(source->word[0], grouping->mask6[0]);

	if (source->version == 4)
		return !(policy->mask4 & ~grouping->mask4);
	for (int i = 0; i < 4; i++)
		if (policy->mask6[i] & ~(grouping->mask6[i] | whole))
			return false;
	return true;
}

bool rf_fence_is_known(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source)
{
	const struct rf_config *config = fence->config;
	const uint64_t now = rf_fence_jiffies(fence);

	for (uint32_t i = 0; i < RF_KIN_MAX; i++) {
		const struct rf_kin *kin = &config->kin[i];
		struct rf_policy other = {.id = kin->limit_id, .mask4 = kin->grouping.mask4};
		struct rf_address masked = *source;
		struct rf_error ignored;
		struct rf_source state;

		if (kin->until <= now || !groups_as_finely(&kin->grouping, policy, source))
			continue;
		for (int j = 0; j < 4; j++)
			other.mask6[j] = kin->grouping.mask6[j];
		if (!rf_fence_source(fence, &other, &masked, &state, &ignored))
			return true;
	}
	return false;
}

uint64_t rf_fence_guard_wait_ns(const struct rf_fence *fence, const struct rf_bank *bank)
{
	const struct rf_newcomers *newcomers = &bank->newcomers;
	uint64_t wait;

	if (newcomers->then == RF_NEWCOMERS_OFF)
		return 0;
	wait = rf_window_passes_again(&fence->config->guard[newcomers->guard & 1].limits,
				      &newcomers->policy, rf_fence_time(fence, &newcomers->policy),
				      1);
	return rf_fence_duration_ns(fence, &newcomers->policy, wait);
}
