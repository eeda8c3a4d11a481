/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows that are protected although their slots are eligible: windows that have used half of
 * COUNT or more. Otherwise a source could evict its window by a flood of newcomers with forged
 * addresses. Such a flood sends one packet or a few from each address, so its own windows are not
 * protected.
 */
#ifndef RINGFENCE_KEPT_H
#define RINGFENCE_KEPT_H

#include "take.h"

#define KEPT_FOR_NS (600ULL * 1000000000ULL) /* at most, and no longer than TIME of the limit */

/* The slot of the enforced limit of that id; RF_LIMITS_MAX: no such limit. */
__noinline __u32 find_limit(const struct question *question, __u32 id)
{
	const struct rf_bank *bank;

	if (!question)
		return RF_LIMITS_MAX;
	bank = bank_of(question);
	for (__u32 slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == id)
			return bank->shadows >> slot & 1 ? RF_LIMITS_MAX : slot;
	return RF_LIMITS_MAX;
}

/*
 * Could the window of that slot be protected? Returns {ticks since its source was seen, plus 1:32 |
 * slot of its limit:32}; 0: not protected. Looks up no window.
 */
static __always_inline __u64 may_keep(const struct question *question, __u64 word, __u32 id)
{
	const __u64 idle = rf_slot_idle(word, tick_of(question->jiffies));
	const struct rf_policy *policy;
	__u32 slot;

	if (rf_slot_state(word) < RF_SLOT_NEW ||
	    (idle << config.times.tick_shift) * config.tick_ns > KEPT_FOR_NS)
		return 0;
	slot = find_limit(question, id);
	if (slot >= RF_LIMITS_MAX)
		return 0;
	policy = &bank_of(question)->policy[slot];
	/* Seen once: fast path of a flood. */
	if (rf_slot_state(word) == RF_SLOT_NEW && policy->unit == RF_PACKETS && policy->limit > 2)
		return 0;
	return (idle + 1) << 32 | slot;
}

__noinline __u64 may_keep_slot(const struct question *question, __u32 index)
{
	if (!question)
		return 0;
	if (rf_rules_are_ipv6(question->who.rules)) {
		const struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		return slot ? may_keep(question, rf_load(&slot->word), slot->key.limit_id) : 0;
	} else {
		const struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		return slot ? may_keep(question, rf_load(&slot->word), slot->key.limit_id) : 0;
	}
}

/* The window of that slot, whose window can change concurrently. */
static __always_inline const struct rf_source *source_at(__u32 index, int is_ipv6)
{
	if (is_ipv6) {
		const struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		return slot ? bpf_map_lookup_elem(&windows6, &slot->key) : NULL;
	} else {
		const struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		return slot ? bpf_map_lookup_elem(&windows4, &slot->key) : NULL;
	}
}

static __always_inline int has_room(const struct rf_window *window, const struct rf_policy *policy,
				    __u64 time, __u32 cost)
{
	if (rf_is_log(policy))
		return peek_log(window, policy, time, cost);
	if (rf_is_weighted(policy))
		return peek_weighted(window, policy, time, cost);
	return peek_any(window, policy, time, cost);
}

/* How much of L the window of that slot has used, under the limit in `limit`. */
#define USED_NOTHING 0
#define USED_LITTLE 1
#define USED_HALF 2 /* or more */

__noinline int used_part(const struct question *question, __u32 index, __u32 limit)
{
	const struct rf_policy *policy;
	const struct rf_source *source;
	__u64 time;
	__u32 most;

	if (!question)
		return USED_NOTHING;
	policy = &bank_of(question)->policy[limit % RF_LIMITS_MAX];
	source = source_at(index, rf_rules_are_ipv6(question->who.rules));
	if (!source)
		return USED_NOTHING;
	most = rf_limit_of(&source->window, policy);
	if (!most) /* a share of the fleet */
		return USED_NOTHING;
	time = read_clock(policy, question->jiffies);
	if (has_room(&source->window, policy, time, most))
		return USED_NOTHING;
	return has_room(&source->window, policy, time, most / 2 + 1) ? USED_LITTLE : USED_HALF;
}

#endif /* RINGFENCE_KEPT_H */
