/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits of rate 0 drop each packet that they match. They are evaluated after the lists and before
 * any window: a source that they drop gets no window, is no newcomer, and is not charged to other
 * limits.
 */
#ifndef RINGFENCE_RATE0_H
#define RINGFENCE_RATE0_H

#include "lease_table.h"

/* The packet is dropped by the limit of rate 0 in `slot`. Counts it for that limit. */
static __always_inline void drop_by_rate0(struct question *question, __u32 slot)
{
	question->limits = 1U << slot;
	lease_same_answer(question, RF_OVER_LIMIT, RF_FOREVER, slot);
	count_limit(&bank_of(question)->policy[slot], RF_OVER_LIMIT, 1, question->len_bytes,
		    is_paused(question));
}

/*
 * Does a limit of rate 0 drop the packet? The first one that is no shadow does. Otherwise
 * question->limits is reduced to the other limits of the packet.
 *
 * Shadows of rate 0 have no window: they wait in the last places of `slot`, which set_slots() does
 * not change, until the other limits have passed the packet. No lease handles such packets, because
 * it would not count them for these shadows.
 */
__noinline int drops_by_rate0(struct question *question)
{
	__u32 slots, count = 0;

	if (!question)
		return 0;
	slots = question->limits & bank_of(question)->rate0;
	if (slots & ~bank_of(question)->shadows) {
		drop_by_rate0(question, first_slot(slots & ~bank_of(question)->shadows));
		return 1;
	}
	question->limits &= ~slots;
	question->who.source[1] = 1;
	for (int i = RF_CHARGED_MAX - 1; slots && i >= 0; i--) {
		question->slot[i % RF_CHARGED_MAX] = first_slot(slots);
		slots &= slots - 1;
		count++;
	}
	question->mode |= count;
	return 0;
}

/* Counts the packet for the shadows set aside, unless it was dropped. Returns the reason. */
__noinline int count_rate0(struct question *question, __u32 reason)
{
	if (!question || reason >= RF_FIRST_DROP)
		return reason;
	for (int i = 1; i <= RF_CHARGED_MAX && i <= (question->mode & MODE_RATE0); i++) {
		const __u32 slot = question->slot[RF_CHARGED_MAX - i] % RF_LIMITS_MAX;

		question->limits |= 1U << slot;
		count_limit(&bank_of(question)->policy[slot], RF_SHADOW_OVER, 1,
			    question->len_bytes, is_paused(question));
	}
	return reason == RF_UNDER_LIMIT || reason == RF_NO_LIMIT ? RF_SHADOW_OVER : reason;
}

#endif /* RINGFENCE_RATE0_H */
