/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots decide which window can be evicted. Each window occupies a slot, and a newcomer takes the
 * slot of an idle source. Pure functions like limiter.h, which tests and the explorer run.
 *
 * A slot's state is one word, {generation:20 | 0:1 | state:3 | arrived:8 | last:32}, which only a
 * compare-and-swap changes; `arrived` and `last` are ticks of about half a second. The CPU that
 * sets CLAIMED owns the slot and its key until it sets another state: it deletes the old window,
 * and inserts the new one. A window knows its slot and the slot's generation. A window therefore
 * leads to its slot, and a slot that now has a different window is never touched by mistake.
 *
 *   FREE        no window
 *   CLAIMED     a CPU is exchanging the window
 *   NEW         the source was seen once
 *   PROBATION       the source was seen again, but not yet after 10 s
 *   RESIDENT    the source has settled: evicted only after a minute without a packet
 *   OVER_QUOTA  the source has settled, but 7/8 of the slots are residents': can be evicted at any
 *               time, since slots full of active sources would never admit a newcomer
 *   SIBLING     a window of a source with a window under another limit, in its first 10 s. It was
 *               created without the guard, so newcomers that the guard admits and siblings of
 *               residents can evict it at any time
 *
 * A window is inserted after the old one was deleted, so there are never more windows than slots;
 * and it is in the map before its slot is NEW. One word counts residents: it grows before a slot
 * becomes RESIDENT. It shrinks after a RESIDENT's window was deleted, or after a RESIDENT that was
 * idle for a minute became PROBATION again, which lets an active source become a resident.
 */
#ifndef RINGFENCE_SLOT_H
#define RINGFENCE_SLOT_H

#include "abi.h"
#include "atomic.h"

#ifndef RF_SLOT_TRIES
#define RF_SLOT_TRIES 4 /* lost races before a touch is left to the next packet */
#endif
#define RF_SLOT_IDLE_MAX 0xfffffffU
#define RF_SLOT_AT_ONCE (5U << 28)	   /* a score: claim this slot, and stop searching */
#define RF_SLOT_PROBATION_SCORE (2U << 28) /* the least score of an active PROBATION slot */

enum rf_slot_state {
	RF_SLOT_FREE,
	RF_SLOT_CLAIMED,
	RF_SLOT_NEW,
	RF_SLOT_PROBATION,
	RF_SLOT_RESIDENT,
	RF_SLOT_OVER_QUOTA,
	RF_SLOT_SIBLING,
};

RF_INLINE __u64 rf_slot_word(__u32 generation, enum rf_slot_state state, __u32 arrived, __u32 last)
{
	return (__u64)(generation & RF_SLOT_GENERATIONS) << 44 | (__u64)state << 40 |
	       (__u64)(arrived & 0xff) << 32 | last;
}

RF_INLINE __u32 rf_slot_generation(__u64 word)
{
	return word >> 44;
}

RF_INLINE enum rf_slot_state rf_slot_state(__u64 word)
{
	return word >> 40 & 7;
}

RF_INLINE __u32 rf_slot_arrived(__u64 word)
{
	return word >> 32 & 0xff;
}

RF_INLINE __u32 rf_slot_last(__u64 word)
{
	return word;
}

/* Ticks since the source was seen; 0 if another CPU's clock is ahead. */
RF_INLINE __u32 rf_slot_idle(__u64 word, __u32 tick)
{
	const __s32 idle = tick - rf_slot_last(word);

	if (idle < 0)
		return 0;
	return (__u32)idle < RF_SLOT_IDLE_MAX ? (__u32)idle : RF_SLOT_IDLE_MAX;
}

/* ---- the slot reference: a window's reference to its slot ---- */

/* {slot:26 | generation:20 | is a resident's:1 | tick of the last touch:17} */
RF_INLINE __u64 rf_slot_ref(__u32 slot, __u32 generation, int is_resident, __u32 tick)
{
	return (__u64)slot << 38 | (__u64)(generation & RF_SLOT_GENERATIONS) << 18 |
	       (__u64)is_resident << 17 | (tick & RF_SLOT_REF_TICKS);
}

RF_INLINE __u32 rf_slot_ref_slot(__u64 slot_ref)
{
	return slot_ref >> 38;
}

RF_INLINE __u32 rf_slot_ref_generation(__u64 slot_ref)
{
	return slot_ref >> 18 & RF_SLOT_GENERATIONS;
}

RF_INLINE int rf_slot_ref_is_resident(__u64 slot_ref)
{
	return slot_ref >> 17 & 1;
}

/*
 * Was the slot touched recently enough to skip a write? A resident can be idle for long, so one
 * touch in `resident_touch` ticks is enough.
 */
RF_INLINE int rf_slot_ref_is_recent(__u64 slot_ref, const struct rf_slot_times *times, __u32 tick)
{
	const __u32 ago = (tick - (__u32)slot_ref) & RF_SLOT_REF_TICKS;

	return ago < (rf_slot_ref_is_resident(slot_ref) ? times->resident_touch : 1);
}

/* ---- residents ---- */

/* Counts one more resident, unless there are `max`. */
RF_INLINE int rf_residents_add(__u64 *residents, __u64 max)
{
	if (rf_load(residents) >= max)
		return 0;
	if (rf_fetch_add(residents, 1) < max)
		return 1;
	rf_fetch_add(residents, ~0ULL);
	return 0;
}

RF_INLINE void rf_residents_remove(__u64 *residents)
{
	rf_fetch_add(residents, ~0ULL);
}

/* ---- touch: the source has sent a packet ---- */

/*
 * Has the source been active long enough to settle? (`arrived` wraps, but not while it continues to
 * send.)
 */
RF_INLINE int rf_slot_may_settle(__u64 word, const struct rf_slot_times *times, __u32 tick)
{
	if (rf_slot_state(word) == RF_SLOT_OVER_QUOTA)
		return 1;
	return (rf_slot_state(word) <= RF_SLOT_PROBATION ||
		rf_slot_state(word) == RF_SLOT_SIBLING) &&
	       (rf_slot_idle(word, tick) >= times->probation_for ||
		((tick - rf_slot_arrived(word)) & 0xff) >= times->probation_for);
}

/*
 * Records that the source of `generation` was seen, and lets it settle. Returns the state of the
 * slot; RF_SLOT_FREE if the slot has a different window, or if each attempt lost its race.
 */
RF_INLINE enum rf_slot_state rf_slot_touch(__u64 *word, __u64 *residents,
					   const struct rf_slot_times *times, __u32 generation,
					   __u32 tick)
{
	for (int i = 0; i < RF_SLOT_TRIES; i++) {
		const __u64 old = rf_load(word);
		enum rf_slot_state state = rf_slot_state(old);
		__u32 last = rf_slot_last(old);
		int reserved = 0;

		if (rf_slot_generation(old) != generation || state < RF_SLOT_NEW)
			return RF_SLOT_FREE;
		if (state == RF_SLOT_NEW)
			state = RF_SLOT_PROBATION;
		if ((__s32)(tick - last) > 0) {
			last = tick;
			if (rf_slot_may_settle(old, times, tick)) {
				reserved = rf_residents_add(residents, times->residents_max);
				state = reserved ? RF_SLOT_RESIDENT : RF_SLOT_OVER_QUOTA;
			}
		}
		/* No source settles by a clock that is behind: the arrival can be ahead of it. */
		if (last == rf_slot_last(old) && state == rf_slot_state(old))
			return state;
		if (rf_cas(word, old,
			   rf_slot_word(generation, state, rf_slot_arrived(old), last)) == old)
			return state;
		if (reserved)
			rf_residents_remove(residents);
	}
	return RF_SLOT_FREE;
}

/* ---- rest: the source has sent nothing for long ---- */

/* A resident that was idle for too long becomes PROBATION. It settles again when its source sends.
 */
RF_INLINE void rf_slot_rest(__u64 *word, __u64 *residents, const struct rf_slot_times *times,
			    __u32 tick)
{
	const __u64 old = rf_load(word);

	if (rf_slot_state(old) != RF_SLOT_RESIDENT ||
	    rf_slot_idle(old, tick) <= times->resident_idle)
		return;
	if (rf_cas(word, old,
		   rf_slot_word(rf_slot_generation(old), RF_SLOT_PROBATION, rf_slot_arrived(old),
				rf_slot_last(old))) == old)
		rf_residents_remove(residents);
}

/* ---- eviction ---- */

/* Which active sources can be evicted for this one. */
enum rf_slot_eager {
	RF_SLOT_EAGER_NOT,  /* OVER_QUOTA, SIBLING: for admitted newcomers, residents' siblings */
	RF_SLOT_EAGER_ALL,  /* all: without a guard */
	RF_SLOT_EAGER_IDLE, /* none: for other siblings, which no guard counts */
};

/* The score of this slot, by its state and idle time; 0: not eligible. */
RF_INLINE __u32 rf_slot_score(__u64 word, const struct rf_slot_times *times, __u32 tick,
			      enum rf_slot_eager eager)
{
	const __u32 idle = rf_slot_idle(word, tick);

	switch (rf_slot_state(word)) {
	case RF_SLOT_FREE:
		return RF_SLOT_AT_ONCE | RF_SLOT_IDLE_MAX;
	case RF_SLOT_NEW:
		if (idle > times->probation_idle)
			return RF_SLOT_AT_ONCE | idle;
		return eager == RF_SLOT_EAGER_ALL ? 4U << 28 | idle : 0;
	case RF_SLOT_PROBATION:
		if (idle > times->probation_idle)
			return RF_SLOT_AT_ONCE | idle;
		return eager == RF_SLOT_EAGER_ALL ? RF_SLOT_PROBATION_SCORE | idle : 0;
	case RF_SLOT_RESIDENT:
		if (idle > times->resident_idle)
			return RF_SLOT_AT_ONCE | idle;
		return eager == RF_SLOT_EAGER_ALL ? 1U << 28 | idle : 0;
	case RF_SLOT_SIBLING:
		if (idle > times->probation_idle)
			return RF_SLOT_AT_ONCE | idle;
		return eager != RF_SLOT_EAGER_IDLE ? 3U << 28 | idle : 0;
	case RF_SLOT_OVER_QUOTA:
		return eager != RF_SLOT_EAGER_IDLE ? 3U << 28 | idle : 0;
	default:
		return 0;
	}
}

/* The word while `old` is evicted: of another generation, so no touch reaches it. */
RF_INLINE __u64 rf_slot_claimed(__u64 old, __u32 tick)
{
	return rf_slot_word(rf_slot_generation(old) + 1, RF_SLOT_CLAIMED, 0, tick);
}

/* True: the caller owns the slot until it publishes, frees or restores it. */
RF_INLINE int rf_slot_claim(__u64 *word, __u64 old, __u32 tick)
{
	return rf_cas(word, old, rf_slot_claimed(old, tick)) == old;
}

/* The new window is in the map. For RESIDENT the caller has called rf_residents_add. */
RF_INLINE void rf_slot_publish(__u64 *word, __u32 generation, enum rf_slot_state state, __u32 tick)
{
	rf_cas(word, rf_load(word), rf_slot_word(generation, state, tick, tick));
}

/* Marks the slot as free. */
RF_INLINE void rf_slot_free(__u64 *word, __u32 generation)
{
	rf_cas(word, rf_load(word), rf_slot_word(generation, RF_SLOT_FREE, 0, 0));
}

/* The old window could not be deleted: restores the slot. */
RF_INLINE void rf_slot_restore(__u64 *word, __u64 old)
{
	rf_cas(word, rf_load(word), old);
}

#endif /* RINGFENCE_SLOT_H */
