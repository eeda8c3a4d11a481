/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a limit of the fleet bans. A share that refuses a packet does not show that the source sent
 * more than L: other hosts, or other sources, can hold the rest. The window of a limit with a ban
 * therefore also counts its refusals, and the source exceeds L once refusals and admissions exceed
 * L within the time that the window covers.
 *
 * No packet is counted twice, and only sent packets are counted:
 *
 * - An addition that lost a race remains in the head, so it is not a refusal: see rf_added().
 * - Such limits have no leases: credits would be counted before they are sent, and a lease that
 *   refuses counts later than the packets arrive.
 * - Refusals are counted for W at most, and the rounding of closing cells is subtracted.
 *
 * The window also counts all packets that it has received. The fleet's ledger determines from that
 * when all hosts together received more than L, and then the agent bans the source.
 */
#ifndef RINGFENCE_SHARE_BAN_H
#define RINGFENCE_SHARE_BAN_H

#include "limiter.h"

#ifdef RF_WITH_SHARES

/*
 * Counts a refused packet in the cell `now`. Returns the refusals since less than N - 1 cells,
 * including this packet; 0: another CPU was faster, and the packet is not counted.
 */
RF_INLINE __u32 rf_refused_count(struct rf_window *window, const struct rf_policy *policy,
				 __u64 now, __u32 cost)
{
	const __u64 word = rf_load(&window->share.refused);
	const __u32 since = rf_word_epoch(word), before = rf_word_used(word);
	const int counts = (__u32)now - since + 1 < policy->cells && before < RF_USED_MAX;
	const __u64 fresh = counts ? rf_word(since, before + cost) : rf_word(now, cost);

	return rf_cas(&window->share.refused, word, fresh) == word ? rf_word_used(fresh) : 0;
}

/* Counts a packet that the window has evaluated, with any result. Once for each packet. */
RF_INLINE void rf_received_count(__u64 *received, __u32 cost)
{
	rf_fetch_add(received, cost);
}

/*
 * Has the source sent more than L, including this refused packet? Once for each packet. A head of
 * another cell counts nothing: together with the refusals, it would span more than N cells.
 */
RF_INLINE int rf_share_is_over(struct rf_window *window, const struct rf_policy *policy, __u64 time,
			       __u32 cost)
{
	const __u64 now = rf_epoch(policy, time);
	const __u64 rounding = ((1ULL << (policy->used_shift & 31)) - 1) * policy->cells;
	const __u64 refused = rf_refused_count(window, policy, now, cost);
	const __u64 head = rf_load(&window->head);
	const __u32 used = rf_word_epoch(head) == (__u32)now ? rf_word_used(head) : 0;

	return refused && used + refused > policy->limit + rounding;
}

#endif /* RF_WITH_SHARES */

#endif /* RINGFENCE_SHARE_BAN_H */
