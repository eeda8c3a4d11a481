/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The windows of sources: keys and look-ups; the slot of each window; the known filter, which
 * proves without a look-up that a source lacks a window. `question` holds the state of one packet.
 */
#ifndef RINGFENCE_WINDOWS_H
#define RINGFENCE_WINDOWS_H

#include <linux/errno.h>

#include "count.h"
#ifdef RF_WITH_SHARES
__u32 limit_to_lease(const struct rf_window *window, const struct rf_policy *policy);
#define RF_LIMIT_TO_LEASE limit_to_lease
__u32 limit_by_words(const struct rf_policy *policy, __u64 whose, __u64 given, __u64 now);
#define RF_LIMIT_BY_WORDS limit_by_words
#endif
#include "ringfence/bits.h"
#include "ringfence/grouping.h"
#include "ringfence/known_filter.h"
#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "ringfence/slot.h"

/*
 * Returned by a step instead of a reason (enum rf_reason) while the packet has no reason yet.
 * Negative, to differ from every reason.
 */
enum step {
	STEP_SEVERAL = -1, /* several limits apply: question->limits */
	STEP_MISSING = -2, /* not all limits have a window of the source: question->missing */
	STEP_REFUSED = -3, /* a limit refuses the packet: question->refusal */
	STEP_COUNT = -4,   /* instead of a verdict: the packet has a reason, and is not counted */
	STEP_LEASED = -5,  /* a lease has passed and counted the packet */
	STEP_ASK = -6,	   /* instead of a verdict: no lease has decided, and the question is set */
	STEP_EXAMINE = -7, /* a newcomer to be dropped unless examine() finds a reason not to */
};

/* How a limit refused a packet that several limits apply to. */
enum refusal {
	REFUSED_BY_PEEK, /* no room, or the source is banned; no limit was charged */
	REFUSED_OVER,	 /* the room was lost since the peek */
	REFUSED_CONTENDED,
};

/* One packet that no lease has handled. */
struct question {
	struct rf_who who; /* the source as a lease knows it */
	__u64 source[2];   /* the whole address */
	__u64 jiffies;
	__u32 len_bytes;
	__u32 cost; /* in the unit of its class */
	/* Several limits: which ones, their results, and the verdict that a lease can repeat. */
	__u64 until;		   /* jiffies: until then the shadows in `over` remain exceeded */
	__u32 limits;		   /* bit set of slots; of a refusal, the limit that refused */
	__u8 slot[RF_CHARGED_MAX]; /* the same, shadows last */
	__u8 count;		   /* of these slots */
	__u8 in_force;		   /* slots of limits that are no shadows */
	__u8 over;		   /* bit i for slot[i], as in the next two: a shadow is exceeded */
	__u8 missing;		   /* no window exists yet */
	__u8 aggregated;	   /* charged to the window of its prefix instead */
	__u8 lease_life;	   /* ticks: how long a lease can hide its windows from the slots */
	__u8 met;		   /* the result of meet_newcomer */
	__u8 guard;		   /* the guard's result for this packet: enum guard */
	__u8 is_exhausted;	   /* the guard is used up: see guard_is_exhausted */
	__u8 refused_at;	   /* the place of the limit that refused */
	__u8 refusal;		   /* how: enum refusal */
	__u8 mode;		   /* {paused:1 | shadows of rate 0:7}; see is_paused(), rate0.h */
	__u8 proof;		   /* RF_ESTABLISHED, RF_PROVEN, or 0: why it is not dropped */
	__u32 refused;		   /* `limits`, if the packet is over one of them; else 0 */
	struct rf_loan_terms loan; /* what the windows can lend, after the packet has passed */
	struct rf_ask ask;	   /* what a limit is asked; here, for the stack has no room */
};

#define MODE_PAUSED 0x80
#define MODE_RATE0 0x7f /* how many, in the last places of `slot` */

/* Was the fence paused when this packet was first evaluated? */
static __always_inline int is_paused(const struct question *question)
{
	return question->mode & MODE_PAUSED;
}

/* The key of a window, of either family. */
union key {
	struct rf_key4 v4;
	struct rf_key6 v6;
};

/* The first slot of a bit set that is not empty. */
static __always_inline __u32 first_slot(__u32 slots)
{
	return rf_first_bit(slots) % RF_LIMITS_MAX;
}

static __always_inline const struct rf_bank *bank_of(const struct question *question)
{
	return &config.bank[rf_rules_bank(question->who.rules)];
}

/* `source` as a limit groups it. */
static __always_inline void set_key(union key *key, const __u64 source[2], __be32 mask4,
				    const __be32 mask6[4], __u32 limit_id, int is_ipv6)
{
	__be32 whole;

	if (!is_ipv6) {
		key->v4.source = (__be32)source[0] & mask4;
		key->v4.limit_id = limit_id;
		return;
	}
	whole = rf_whole_address((__be32)source[0], mask6[0]);
	for (int i = 0; i < 4; i++)
		key->v6.source[i] = (__be32)(source[i / 2] >> i % 2 * 32) & (mask6[i] | whole);
	key->v6.limit_id = limit_id;
}

static __always_inline struct rf_source *look_up(const union key *key, int is_ipv6)
{
	struct rf_source *found;

	if (is_ipv6)
		return bpf_map_lookup_elem(&windows6, &key->v6);
	found = bpf_map_lookup_elem(&windows4, &key->v4);
	/* Otherwise the compiler merges both look-ups into one with a variable map, which the
	 * kernel does not inline: 20 ns more. */
	RF_OPAQUE(found);
	return found;
}

static __always_inline struct rf_source *find_source(const __u64 source[2],
						     const struct rf_policy *policy, int is_ipv6)
{
	union key key = {};

	set_key(&key, source, policy->mask4, policy->mask6, policy->id, is_ipv6);
	return look_up(&key, is_ipv6);
}

/* ---- slots ---- */

static __always_inline __u32 tick_of(__u64 jiffies)
{
	return jiffies >> config.times.tick_shift;
}

/* The word of a slot; NULL: there is no such slot. */
static __always_inline __u64 *slot_word(__u32 index, int is_ipv6)
{
	if (is_ipv6) {
		struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		if (!slot)
			return NULL;
		RF_OPAQUE(slot); /* otherwise the compiler adds the offset before the test */
		return &slot->word;
	} else {
		struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		if (!slot)
			return NULL;
		RF_OPAQUE(slot);
		return &slot->word;
	}
}

/* Records in the slot of that window that its source was seen. */
__noinline int touch_slot(struct rf_source *source, __u32 tick, __u32 is_ipv6)
{
	enum rf_slot_state state;
	__u64 slot_ref, *word;

	if (!source)
		return 0;
	slot_ref = rf_load(&source->slot_ref);
	is_ipv6 &= 1;
	word = slot_word(rf_slot_ref_slot(slot_ref), is_ipv6);
	if (!word)
		return 0;
	state = rf_slot_touch(word, &config.room[is_ipv6].residents, &config.times,
			      rf_slot_ref_generation(slot_ref), tick);
	if (state != RF_SLOT_FREE)
		rf_cas(&source->slot_ref, slot_ref,
		       rf_slot_ref(rf_slot_ref_slot(slot_ref), rf_slot_ref_generation(slot_ref),
				   state == RF_SLOT_RESIDENT, tick));
	return 0;
}

/* The same without a call in the common case. Sets how long a lease can hide the source. */
static __always_inline void touch(struct question *question, struct rf_source *source, int is_ipv6)
{
	const __u32 tick = tick_of(question->jiffies);

	if (!rf_slot_ref_is_recent(source->slot_ref, &config.times, tick))
		touch_slot(source, tick, is_ipv6);
	if (!rf_slot_ref_is_resident(source->slot_ref))
		question->lease_life = config.times.probation_lease;
}

/* ---- the known filter ---- */

/* `source` as a limit of these masks groups it. */
static __always_inline void mask_source(__u64 masked[2], const __u64 source[2], __be32 mask4,
					const __be32 mask6[4], int is_ipv6)
{
	masked[0] = (__be32)source[0] & mask4;
	masked[1] = 0;
	if (is_ipv6) {
		const __u64 whole = rf_whole_address((__be32)source[0], mask6[0]);

		masked[0] = source[0] & (mask6[0] | (__u64)mask6[1] << 32 | whole);
		masked[1] = source[1] & (mask6[2] | (__u64)mask6[3] << 32 | whole);
	}
}

static __always_inline __u64 hash_masked(const __u64 source[2], __be32 mask4, const __be32 mask6[4],
					 int is_ipv6)
{
	__u64 masked[2];

	mask_source(masked, source, mask4, mask6, is_ipv6);
	return rf_known_filter_hash(masked, is_ipv6, config.lease_key);
}

static __always_inline __u64 known_filter_hash(const __u64 source[2],
					       const struct rf_policy *policy, int is_ipv6)
{
	return hash_masked(source, policy->mask4, policy->mask6, is_ipv6);
}

/* The line of the known filter for that hash; NULL: there is no filter. */
static __always_inline struct rf_known_filter *find_known_filter(__u64 hash, int is_ipv6)
{
	const __u32 shift = config.known_filter_shift;
	__u32 index;

	if (!shift)
		return NULL;
	index = rf_known_filter_place(hash, shift, is_ipv6);
	return bpf_map_lookup_elem(&known_filter, &index);
}

/* True: the filter does not contain this source, which therefore has no window. */
static __always_inline int is_absent(__u64 hash, int is_ipv6)
{
	const struct rf_known_filter *line = find_known_filter(hash, is_ipv6);

	return line && !rf_known_filter_has(line, hash);
}

/*
 * The window of the guard. Newcomers that only shadow limits need a window for have a separate one,
 * so they neither use up the other guard nor evict the sources that it protects.
 */
static __always_inline struct rf_window *guard_window(const struct rf_bank *bank, int is_shadow)
{
	return is_shadow ? &config.guard[bank->newcomers.guard & 1].shadows
			 : &config.guard[bank->newcomers.guard & 1].limits;
}

/*
 * Is there a guard that is used up in this cell? Only then is the known filter read before a window
 * is looked up: it saves each newcomer of a flood the look-up, but costs each known source a cache
 * miss. While the guard still admits newcomers, they are few, and the look-up is a small part of
 * their insert.
 *
 * No call, and no write; no division either, unless the guard was used up in its last cell.
 */
static __always_inline int guard_is_exhausted(const struct rf_bank *bank, __u64 jiffies,
					      int is_shadow)
{
	const struct rf_policy *policy = &bank->newcomers.policy;
	const __u64 head = rf_load(&guard_window(bank, is_shadow)->head);

	return bank->newcomers.then != RF_NEWCOMERS_OFF && rf_word_used(head) >= policy->limit &&
	       rf_word_epoch(head) == (__u32)rf_epoch(policy, read_clock(policy, jiffies));
}

/* The source's window under that limit; NULL if not found. */
static __always_inline struct rf_source *find_known(const struct question *question,
						    const struct rf_policy *policy, int is_ipv6)
{
	if (question->is_exhausted &&
	    is_absent(known_filter_hash(question->source, policy, is_ipv6), is_ipv6))
		return NULL;
	return find_source(question->source, policy, is_ipv6);
}

/*
 * Does the source definitely lack a window under that limit? The verifier checks this separately,
 * once.
 */
__noinline int is_newcomer(const struct question *question, __u32 slot)
{
	const struct rf_policy *policy;
	int is_ipv6;

	if (!question)
		return 0;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	is_ipv6 = rf_rules_are_ipv6(question->who.rules);
	return is_absent(known_filter_hash(question->source, policy, is_ipv6), is_ipv6);
}

#endif /* RINGFENCE_WINDOWS_H */
