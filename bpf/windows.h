/* SPDX-License-Identifier: GPL-2.0 */
/* Which window a packet is charged to: its source's, a newcomer's new one, or its prefix's. */
#ifndef RINGFENCE_WINDOWS_H
#define RINGFENCE_WINDOWS_H

#include <linux/errno.h>

#include "count.h"
#include "lease.h"
#include "presence.h"
#include "ringfence/limiter.h"

/* One packet that no lease has answered. Without padding, see rf_who. */
struct question {
	struct rf_who who; /* its source as a lease knows it */
	__u64 source[2];   /* … the whole of it */
	__u64 jiffies;
	__u32 len_bytes;
	__u32 cost; /* in the unit of its class */
	/* Of several limits: which, what they said, and what a lease may repeat of it. */
	__u64 until;  /* jiffies: how long the shadows among them that are over stay so */
	__u32 limits; /* bit set of slots */
	__u8 slot[RF_CHARGED_MAX]; /* the same: shadows last */
	__u8 count;		   /* of these */
	__u8 in_force;		   /* of these, how many are no shadows */
	__u8 over;		   /* bit set, i for slot[i], as the following: shadows */
	__u8 missing;		   /* there is no window, so far */
	__u8 aggregated;	   /* charged to the window of its prefix instead */
	__u8 reserved[3];
	__u32 place; /* of the lease */
	__u32 reserved2;
};

/* The key of a window, of either family. */
union key {
	struct rf_key4 v4;
	struct rf_key6 v6;
};

/*
 * The first of a bit set of slots, which is not empty: how many bits are below it. clang 14 has the
 * builtin for that, and dies of it.
 */
static __always_inline __u32 first_slot(__u32 slots)
{
	__u64 below = (slots & -slots) - 1U;

	below -= below >> 1 & 0x55555555;
	RF_OPAQUE(below); /* else it is known for what it is */
	below = (below & 0x33333333) + (below >> 2 & 0x33333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f;
	return (below * 0x01010101 >> 24) % RF_LIMITS_MAX;
}

static __always_inline const struct rf_bank *bank_of(const struct question *question)
{
	return &config.bank[question->who.rules >> 9 & 1];
}

/* `source` as that limit groups it. */
static __always_inline void set_key(union key *key, const __u64 source[2],
				    const struct rf_policy *policy, int is_ipv6)
{
	if (!is_ipv6) {
		key->v4.source = (__be32)source[0] & policy->mask4;
		key->v4.limit_id = policy->id;
		return;
	}
	for (int i = 0; i < 4; i++)
		key->v6.source[i] = (__be32)(source[i / 2] >> i % 2 * 32) & policy->mask6[i];
	key->v6.limit_id = policy->id;
}

static __always_inline struct rf_source *find_source(const __u64 source[2],
						     const struct rf_policy *policy, int is_ipv6)
{
	struct rf_source *found;
	union key key = {};

	set_key(&key, source, policy, is_ipv6);
	if (is_ipv6)
		return bpf_map_lookup_elem(&windows6, &key.v6);
	found = bpf_map_lookup_elem(&windows4, &key.v4);
	/* Else the compiler makes one look-up of both, in a map that it chooses before, and the
	 * kernel does not inline that, which costs 20 ns. */
	RF_OPAQUE(found);
	return found;
}

/* ---- who is known ---- */

/* The generation of the filter: as long as it takes to fill the windows of that family. */
static __always_inline __u32 presence_generation(int is_ipv6)
{
	const __u32 steps = config.presence_steps;

	return steps ? config.family_inserts[is_ipv6] / steps : 0;
}

GLOBAL int enter_presence(struct rf_presence *line, __u32 generation)
{
	if (line)
		rf_presence_enter(line, rf_load(&line->tag), generation);
	return 0;
}

static __always_inline __u64 presence_hash(const __u64 source[2], const struct rf_policy *policy,
					   int is_ipv6)
{
	__u64 masked[2] = {(__be32)source[0] & policy->mask4, 0};

	if (is_ipv6) {
		const __be32 *mask = policy->mask6;

		masked[0] = source[0] & (mask[0] | (__u64)mask[1] << 32);
		masked[1] = source[1] & (mask[2] | (__u64)mask[3] << 32);
	}
	return rf_presence_hash(masked, policy->id, is_ipv6, config.lease_key);
}

/* The line of the filter where that hash is; NULL: there is no filter. */
static __always_inline struct rf_presence *find_presence(__u64 hash, int is_ipv6)
{
	const __u32 generation = presence_generation(is_ipv6), shift = config.presence_shift;
	struct rf_presence *line;
	__u32 index;

	if (!shift)
		return NULL;
	index = rf_presence_place(hash, shift, is_ipv6);
	line = bpf_map_lookup_elem(&presence, &index);
	if (line && !rf_presence_is_entered(line, generation))
		enter_presence(line, generation);
	return line;
}

/* The source's window under that limit; NULL: it is a newcomer. */
static __always_inline struct rf_source *find_known(const struct question *question,
						    const struct rf_bank *bank,
						    const struct rf_policy *policy, int is_ipv6)
{
	struct rf_presence *line;
	struct rf_source *source;
	__u64 hash;

	if (bank->newcomers.then == RF_NEWCOMERS_OFF)
		return find_source(question->source, policy, is_ipv6);
	hash = presence_hash(question->source, policy, is_ipv6);
	line = find_presence(hash, is_ipv6);
	if (line && bank->newcomers.filter && !rf_presence_has(line, hash))
		return NULL;
	source = find_source(question->source, policy, is_ipv6);
	if (source && line)
		rf_presence_mark(line, hash);
	return source;
}

/* The same where there are several limits, on its own for the verifier. */
GLOBAL int is_newcomer(const struct question *question, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_presence *line;
	int is_ipv6;
	__u64 hash;

	if (!question)
		return 0;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	is_ipv6 = question->who.rules & 1;
	hash = presence_hash(question->source, policy, is_ipv6);
	line = find_presence(hash, is_ipv6);
	if (!line)
		return 0;
	if (!rf_presence_has(line, hash))
		return bank_of(question)->newcomers.filter;
	rf_presence_mark(line, hash);
	return 0;
}

static __always_inline struct rf_source *find_known_of(const struct question *question, __u32 slot,
						       int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);

	if (bank->newcomers.then != RF_NEWCOMERS_OFF && is_newcomer(question, slot))
		return NULL;
	return find_source(question->source, &bank->policy[slot], is_ipv6);
}

/* ---- newcomers ---- */

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

/* Leases are told of many inserts, not of each: that word is all CPUs'. */
static __always_inline void count_insert(struct rf_counters *sums, int is_ipv6)
{
	__u64 inserts = ++sums->inserts[is_ipv6];

	if (inserts & config.inserts_mask)
		return;
	__sync_fetch_and_add(&config.inserts, 1);
	__sync_fetch_and_add(&config.family_inserts[is_ipv6], 1);
}

/*
 * A newcomer's window under the limit in `slot`, unless another CPU inserts one first; what goes
 * wrong is counted. False: there is none.
 */
GLOBAL int insert_source(const struct question *question, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_presence *line;
	struct rf_counters *sums;
	struct rf_source *fresh;
	__u32 first = 0, is_ipv6;
	union key key = {};
	__u64 hash;
	long err;

	sums = bpf_map_lookup_elem(&counters, &first);
	fresh = bpf_map_lookup_elem(&fresh_source, &first);
	if (!question || !sums || !fresh)
		return 0;
	is_ipv6 = question->who.rules & 1;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	set_key(&key, question->source, policy, is_ipv6);
	rf_window_start(&fresh->window, policy, read_clock(policy, question->jiffies));
	if (is_ipv6)
		err = bpf_map_update_elem(&windows6, &key, fresh, BPF_NOEXIST);
	else
		err = bpf_map_update_elem(&windows4, &key, fresh, BPF_NOEXIST);
	if (!err)
		count_insert(sums, is_ipv6);
	else if (err != -EEXIST)
		sums->map_error[insert_error(err)]++;
	if (err && err != -EEXIST)
		return 0;
	hash = presence_hash(question->source, policy, is_ipv6);
	line = find_presence(hash, is_ipv6);
	if (line)
		rf_presence_mark(line, hash);
	return 1;
}

static __always_inline struct rf_source *insert_and_find(const struct question *question,
							 const struct rf_policy *policy, __u32 slot,
							 struct rf_counters *sums, int is_ipv6)
{
	struct rf_source *source;
	int stands = insert_source(question, slot);

	source = find_source(question->source, policy, is_ipv6);
	if (!source && stands)
		sums->map_error[RF_WINDOW_LOST]++;
	return source;
}

/* The window of all newcomers from its prefix that are beyond the guard, under the limit `slot`. */
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

#endif /* RINGFENCE_WINDOWS_H */
