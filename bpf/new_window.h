/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates a window for a source that has no window. The window needs a slot: a few slots are
 * examined, the one that was idle longest is claimed, its window deleted, and the new window
 * inserted. ringfence/slot.h defines the states of slots.
 */
#ifndef RINGFENCE_NEW_WINDOW_H
#define RINGFENCE_NEW_WINDOW_H

#include "kept.h"
#include "kin.h"
#include "ringfence/lease_place.h"

/* ---- whose slot ---- */

#define NO_SLOT (~0U)
#define SLOTS_TRIED 8
#define SLOTS_TRIED_MOST 128 /* for a source with a window, until an eligible slot is found */
#define TRIES_MAX 32   /* attempts, if a window is protected or another CPU claims the slot first */
#define TRIES_LITTLE 3 /* … before a window that has used little is evicted */
#define KEPT_MOST                                                                       \
	4 /* attempts after which the window that was idle longest loses its protection \
	   */

/* The score of that slot; 0: not eligible. */
__noinline __u32 slot_score(__u32 index, __u32 tick, __u32 eager, __u32 is_ipv6)
{
	const __u64 *word = slot_word(index, is_ipv6);

	return word ? rf_slot_score(rf_load(word), &config.times, tick, eager) : 0;
}

__noinline int rest_slot(__u32 index, __u32 tick, __u32 is_ipv6)
{
	__u64 *word;

	is_ipv6 &= 1;
	word = slot_word(index, is_ipv6);
	if (word)
		rf_slot_rest(word, &config.room[is_ipv6].residents, &config.times, tick);
	return 0;
}

/*
 * The best slot to claim, or NO_SLOT. Slots are tried at a stride, because neighbours arrived
 * together. The second one rests (rf_slot_rest), claimed or not, so each slot has its turn.
 *
 * `best` is {score:32 | index:32}: among equal slots the first one tried, which makes the hand go
 * round. Branches are avoided: the verifier walks both ways in each round.
 */
__noinline __u32 choose_slot(__u32 tick, __u32 eager, __u32 most, __u32 is_ipv6)
{
	const __u32 slots = config.slots, stride = config.slot_stride;
	__u64 index, best = 0;

	if (!slots)
		return NO_SLOT;
	index = rf_fetch_add(&config.room[is_ipv6 & 1].hand, 1) % slots;
	rest_slot((index + stride) % slots, tick, is_ipv6);
	for (__u32 i = 0; i < SLOTS_TRIED_MOST && i < most; i++) {
		const __u32 score = slot_score(index, tick, eager, is_ipv6);

		best ^= (best ^ ((__u64)score << 32 | index)) & -rf_less(best >> 32, score);
		if (score >= RF_SLOT_AT_ONCE ||
		    (i >= SLOTS_TRIED - 1 && best >> 32 >= RF_SLOT_PROBATION_SCORE))
			break;
		index += stride;
		index -= slots & -rf_less(slots - 1, index);
	}
	return best >> 32 ? best : NO_SLOT;
}

/* Deletes the window of a claimed slot. False: the deletion failed, and the slot is unchanged. */
static __always_inline int evict(__u32 index, __u64 old, struct rf_counters *sums, int is_ipv6)
{
	struct rf_known_filter *line;
	__u64 source[2] = {}, *word, hash;
	long err;

	if (!is_ipv6) {
		struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		if (!slot)
			return 0;
		word = &slot->word;
		source[0] = slot->key.source;
		err = bpf_map_delete_elem(&windows4, &slot->key);
	} else {
		struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		if (!slot)
			return 0;
		word = &slot->word;
		for (int i = 0; i < 4; i++)
			source[i / 2] |= (__u64)slot->key.source[i] << i % 2 * 32;
		err = bpf_map_delete_elem(&windows6, &slot->key);
	}
	if (err && err != -ENOENT) {
		rf_slot_restore(word, old);
		sums->map_error[RF_DELETE_BUSY]++;
		return 0;
	}
	hash = rf_known_filter_hash(source, is_ipv6, config.lease_key);
	line = find_known_filter(hash, is_ipv6);
	if (line)
		rf_known_filter_remove(line, hash);
	sums->evictions[is_ipv6]++;
	return 1;
}

/*
 * A place is a claimed slot that the caller owns: a slot reference (slot.h) with {its source is
 * known:1 | state to be:3 | 1} instead of the tick; 0: none.
 */
static __always_inline __u64 place_of(__u32 index, __u64 old, enum rf_slot_state state,
				      int is_known)
{
	return rf_slot_ref(index, rf_slot_generation(old) + 1, 0, is_known << 4 | state << 1 | 1);
}

static __always_inline enum rf_slot_state place_state(__u64 place)
{
	return place >> 1 & 7;
}

static __always_inline int place_is_known(__u64 place)
{
	return place >> 4 & 1;
}

/*
 * Can a loan of the window in that slot be in force? Only residents' windows lend. The slot was
 * touched at most `resident_touch` before the loan, which lasts no longer than a lease.
 */
static __always_inline int may_have_lent(__u64 word, __u32 tick)
{
	return rf_slot_state(word) == RF_SLOT_RESIDENT &&
	       rf_slot_idle(word, tick) <=
		       config.times.resident_touch + 2 * config.times.resident_lease;
}

/* Should the window be created without the guard, because another window makes the source known? */
static __always_inline int is_sibling(__u64 kin)
{
	return kin && !(kin & KIN_ADMITTED);
}

/*
 * Claims a slot and deletes its window. Returns the place; 0: another CPU has claimed the slot, or
 * the deletion failed. The slot of an inactive sibling window belongs to the source itself and
 * retains its state.
 */
static __always_inline __u64 claim_slot(__u32 index, __u64 kin, __u32 tick, __u32 eager,
					int is_ipv6)
{
	const int is_own = kin & KIN_OUT_OF_FORCE;
	__u64 *word = slot_word(index, is_ipv6), old;
	enum rf_slot_state state;
	struct rf_counters *sums;
	__u32 first = 0;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!sums || !word)
		return 0;
	old = rf_load(word);
	state = rf_slot_state(old);
	if (is_own &&
	    (rf_slot_generation(old) != rf_slot_ref_generation(kin) || state < RF_SLOT_NEW))
		return 0;
	if (!is_own && !rf_slot_score(old, &config.times, tick, eager))
		return 0;
	if (!rf_slot_claim(word, old, tick))
		return 0;
	/* Before the window is gone: who finds none must find this. */
	if (may_have_lent(old, tick))
		rf_store(&config.room[is_ipv6].lenders_evicted, read_jiffies());
	if (state != RF_SLOT_FREE && !evict(index, old, sums, is_ipv6))
		return 0;
	if (is_own)
		return place_of(index, old, state, 1);
	if (state == RF_SLOT_RESIDENT)
		rf_residents_remove(&config.room[is_ipv6].residents);
	return place_of(index, old, is_sibling(kin) ? RF_SLOT_SIBLING : RF_SLOT_NEW,
			is_sibling(kin));
}

__noinline __u64 claim_slot4(__u32 index, __u64 kin, __u32 tick, __u32 eager)
{
	return claim_slot(index, kin, tick, eager, 0);
}

__noinline __u64 claim_slot6(__u32 index, __u64 kin, __u32 tick, __u32 eager)
{
	return claim_slot(index, kin, tick, eager, 1);
}

/* ---- a new window ---- */

/*
 * The window that newcomers from this prefix share under the limit in `slot`, beyond the guard's
 * rate.
 */
static __always_inline struct rf_source *find_aggregate(const struct question *question,
							const struct rf_policy *policy, __u32 slot,
							int is_ipv6)
{
	const __u32 set = slot + (policy->flags & RF_OTHER_SET ? RF_LIMITS_MAX : 0);
	const __u64 mask = is_ipv6 ? RF_AGGREGATE_MASK6 : RF_AGGREGATE_MASK4;
	const __u64 hash = rf_lease_hash((question->source[0] & mask) ^ (__u64)is_ipv6 << 63,
					 config.lease_key);
	__u32 index = set * RF_AGGREGATES + hash / (~0ULL / RF_AGGREGATES + 1);

	return bpf_map_lookup_elem(&aggregates, &index);
}

/* The same, for a charge: stores the prefix for readers. */
static __always_inline struct rf_source *charge_aggregate(const struct question *question,
							  const struct rf_policy *policy,
							  __u32 slot, int is_ipv6)
{
	struct rf_source *source = find_aggregate(question, policy, slot, is_ipv6);
	const __u64 mask = is_ipv6 ? RF_AGGREGATE_MASK6 : RF_AGGREGATE_MASK4;

	if (source)
		source->slot_ref = (question->source[0] & mask) | (is_ipv6 ? RF_AGGREGATE_IPV6 : 0);
	return source;
}

static __always_inline enum rf_map_error insert_error(long err)
{
	switch (err) {
	case -EBUSY:
		return RF_INSERT_BUSY;
	case -ENOMEM:
		return RF_INSERT_NOMEM;
	case -E2BIG:
		return RF_INSERT_FULL;
	default:
		return RF_INSERT_OTHER;
	}
}

/*
 * Could the source have been charged to its prefix's window, under the limit in `slot` and in this
 * window? A newcomer could with `aggregate`; a sibling, or a source with an open connection, could
 * if such a source was recently left without a window.
 */
static __always_inline int may_have_shared(const struct question *question, __u32 slot,
					   int is_known, int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);
	const __u64 left_out = rf_load(&config.room[is_ipv6].left_out);

	if (!is_known && bank->newcomers.then == RF_NEWCOMERS_AGGREGATE)
		return 1;
	if (!is_known && !bank->newcomers.except_established)
		return 0;
	return left_out && config.tick_ns &&
	       question->jiffies - left_out <= bank->limit[slot].window_ns / config.tick_ns + 2;
}

/* A known source, or one with an open connection, is charged to the window of its prefix. */
static __always_inline void note_left_out(const struct question *question, int is_ipv6)
{
	rf_store(&config.room[is_ipv6].left_out, question->jiffies);
}

/*
 * The source might have been charged to its prefix's window, so its own window starts with that
 * charge: otherwise it could use COUNT twice. The charge includes other sources, so no ban starts
 * until that charge has left the window.
 */
static __always_inline void start_from_aggregate(struct rf_source *fresh,
						 const struct question *question,
						 const struct rf_policy *policy, __u32 slot,
						 int is_ipv6)
{
	const struct rf_source *aggregate = find_aggregate(question, policy, slot, is_ipv6);
	const __u64 window_ns = bank_of(question)->limit[slot].window_ns;

	if (!aggregate)
		return;
	rf_window_copy(&fresh->window, &aggregate->window);
	if (policy->ban && config.tick_ns)
		fresh->banned_until =
			RF_BAN_NOT_BEFORE | (question->jiffies + window_ns / config.tick_ns + 2);
}

/* The window that a newcomer starts with, in this CPU's memory. */
static __always_inline struct rf_source *start_window(const struct question *question,
						      const struct rf_policy *policy, __u32 slot,
						      __u64 place, int is_ipv6)
{
	struct rf_source *fresh;
	__u32 first = 0;

	fresh = bpf_map_lookup_elem(&fresh_source, &first);
	if (!fresh)
		return NULL;
	fresh->banned_until = 0;
	fresh->slot_ref = rf_slot_ref(rf_slot_ref_slot(place), rf_slot_ref_generation(place),
				      place_state(place) == RF_SLOT_RESIDENT,
				      tick_of(question->jiffies) -
					      1); /* the next packet then touches the slot */
	rf_window_start(&fresh->window, policy, read_clock(policy, question->jiffies));
	if (may_have_shared(question, slot, place_is_known(place), is_ipv6))
		start_from_aggregate(fresh, question, policy, slot, is_ipv6);
	/*
	 * Leases of a window that the source had before can have loans, which are all counted. By
	 * the present time: packet times can be of an earlier period.
	 */
	if (!HAS_SHARES &&
	    rf_loans_may_outlast(policy, rf_load(&config.room[is_ipv6].lenders_evicted),
				 read_jiffies()))
		fresh->window.loans = rf_loans_all(policy, read_jiffies());
	start_share(&fresh->window, question, policy, is_ipv6);
	return fresh;
}

/*
 * Inserts a window under the limit in `slot`, in the claimed slot. Also true if another CPU was
 * first. False: no window was created, and the error is counted.
 */
static __always_inline int insert_source(const struct question *question, __u32 slot, __u64 place,
					 int is_ipv6)
{
	const struct rf_policy *policy = &bank_of(question)->policy[slot];
	const __u64 hash = known_filter_hash(question->source, policy, is_ipv6);
	const enum rf_slot_state state = place_state(place);
	__u32 first = 0, index = rf_slot_ref_slot(place);
	struct rf_known_filter *line;
	struct rf_counters *sums;
	struct rf_source *fresh;
	__u64 *word;
	long err;

	sums = bpf_map_lookup_elem(&counters, &first);
	fresh = start_window(question, policy, slot, place, is_ipv6);
	line = find_known_filter(hash, is_ipv6);
	if (!sums || !fresh)
		return 0;
	if (line)
		rf_known_filter_add(line, hash);
	if (!is_ipv6) {
		struct rf_slot4 *slot4 = bpf_map_lookup_elem(&slots4, &index);

		if (!slot4)
			return 0;
		word = &slot4->word;
		set_key((union key *)&slot4->key, question->source, policy->mask4, policy->mask6,
			policy->id, is_ipv6);
		err = bpf_map_update_elem(&windows4, &slot4->key, fresh, BPF_NOEXIST);
	} else {
		struct rf_slot6 *slot6 = bpf_map_lookup_elem(&slots6, &index);

		if (!slot6)
			return 0;
		word = &slot6->word;
		set_key((union key *)&slot6->key, question->source, policy->mask4, policy->mask6,
			policy->id, is_ipv6);
		err = bpf_map_update_elem(&windows6, &slot6->key, fresh, BPF_NOEXIST);
	}
	if (!err) {
		rf_slot_publish(word, rf_slot_ref_generation(place), state,
				tick_of(question->jiffies));
		sums->inserts[is_ipv6]++;
		return 1;
	}
	if (line)
		rf_known_filter_remove(line, hash);
	if (state == RF_SLOT_RESIDENT)
		rf_residents_remove(&config.room[is_ipv6].residents);
	rf_slot_free(word, rf_slot_ref_generation(place));
	if (err == -EEXIST)
		return 1;
	sums->map_error[insert_error(err)]++;
	return 0;
}

__noinline int insert_source4(const struct question *question, __u32 slot, __u64 place)
{
	return question ? insert_source(question, slot % RF_LIMITS_MAX, place, 0) : 0;
}

__noinline int insert_source6(const struct question *question, __u32 slot, __u64 place)
{
	return question ? insert_source(question, slot % RF_LIMITS_MAX, place, 1) : 0;
}

/* Which active sources the new window can evict; `kin` is from find_kin. */
static __always_inline enum rf_slot_eager eager_of(const struct question *question, __u64 kin)
{
	if (bank_of(question)->newcomers.then == RF_NEWCOMERS_OFF)
		return RF_SLOT_EAGER_ALL;
	return is_sibling(kin) && !rf_slot_ref_is_resident(kin) ? RF_SLOT_EAGER_IDLE
								: RF_SLOT_EAGER_NOT;
}

__noinline __u64 claim_any(const struct question *question, __u32 index, __u64 kin)
{
	__u32 tick, eager;

	if (!question)
		return 0;
	tick = tick_of(question->jiffies);
	eager = eager_of(question, kin);
	return rf_rules_are_ipv6(question->who.rules) ? claim_slot6(index, kin, tick, eager)
						      : claim_slot4(index, kin, tick, eager);
}

/*
 * The result of one attempt: a place, which is odd; a window that is protected, or has used little,
 * as {little:1 | idle:31 | slot:31 | 0}; or:
 */
#define FOUND_NO_SLOT 0
#define LOST_RACE 2
#define FOUND_LITTLE (1ULL << 63)

__noinline __u64 try_place(const struct question *question, __u64 kin, __u32 most)
{
	__u64 found = 0;
	__u32 index;
	int used;

	if (!question)
		return FOUND_NO_SLOT;
	index = choose_slot(tick_of(question->jiffies), eager_of(question, kin), most,
			    rf_rules_are_ipv6(question->who.rules));
	if (index == NO_SLOT)
		return FOUND_NO_SLOT;
	if (bank_of(question)->newcomers.then != RF_NEWCOMERS_OFF)
		found = may_keep_slot(question, index);
	used = found ? used_part(question, index, found) : USED_NOTHING;
	if (used != USED_NOTHING)
		return (used == USED_LITTLE ? FOUND_LITTLE : 0) | found >> 32 << 32 | index << 1;
	found = claim_any(question, index, kin);
	return found ? found : LOST_RACE;
}

/*
 * Claims an eligible slot. A window that has used little is evicted only if several attempts find
 * no better one. A window that has used half of COUNT is protected, unless such windows fill the
 * map: then the one that was idle longest is evicted, but never for a sibling, whose source already
 * has a window.
 */
static __always_inline __u64 search_place(const struct question *question, __u64 kin)
{
	__u32 most = kin ? SLOTS_TRIED_MOST : SLOTS_TRIED;
	__u64 found, best = 0;
	int tries;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		if (tries >= TRIES_LITTLE && best & FOUND_LITTLE)
			break;
		found = try_place(question, kin, most);
		if (found == FOUND_NO_SLOT)
			break;
		if (found & 1)
			return found;
		best = found > best ? found : best;
		most = SLOTS_TRIED;
	}
	if (!(best & FOUND_LITTLE) && (tries < KEPT_MOST || !(best >> 32) || is_sibling(kin)))
		return 0;
	return claim_any(question, (__u32)best >> 1, kin);
}

/* Claims a slot for a new window; `kin` is from find_kin. 0: no slot could be claimed. */
__noinline __u64 find_place(const struct question *question, __u64 kin)
{
	__u32 is_ipv6, first = 0;
	struct rf_counters *sums;
	__u64 place = 0;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!question || !sums)
		return 0;
	is_ipv6 = rf_rules_are_ipv6(question->who.rules);
	if (kin & KIN_OUT_OF_FORCE)
		place = claim_any(question, rf_slot_ref_slot(kin), kin);
	if (!place)
		place = search_place(question, kin & ~(__u64)KIN_OUT_OF_FORCE);
	if (place)
		return place;
	sums->map_error[RF_NO_IDLE_SLOT]++;
	if (is_sibling(kin))
		note_left_out(question, is_ipv6 & 1);
	return 0;
}

/* Creates a window under the limit in `slot`, for a newcomer (kin 0) or a known source. */
static __always_inline int make_window(const struct question *question, __u32 slot, __u64 kin,
				       int is_ipv6)
{
	__u64 place;

	if (kin & KIN_ITSELF)
		return 1;
	place = find_place(question, kin);
	if (!place)
		return 0;
	return is_ipv6 ? insert_source6(question, slot, place)
		       : insert_source4(question, slot, place);
}

static __always_inline struct rf_source *make_and_find(const struct question *question,
						       const struct rf_policy *policy, __u32 slot,
						       __u64 kin, struct rf_counters *sums,
						       int is_ipv6)
{
	struct rf_source *source;

	if (!make_window(question, slot, kin, is_ipv6))
		return NULL;
	source = find_source(question->source, policy, is_ipv6);
	if (!source)
		sums->map_error[RF_WINDOW_LOST]++;
	return source;
}

#endif /* RINGFENCE_NEW_WINDOW_H */
