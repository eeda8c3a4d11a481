/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sources have a window: a Bloom filter in front of the windows, which stay the truth, so
 * that a flood of newcomers is recognised by one cache line each. Pure functions like limiter.h.
 *
 * It may take a newcomer for a known source, who is then looked up for nothing. It must not take a
 * known source for a newcomer, while that sends: each look-up marks its source in the present
 * generation, and what was marked in this one or the one before is known. A generation is as long
 * as it takes to insert as many windows as there is room for; a source that has sent nothing for so
 * long would have been the first to be evicted.
 *
 * A line is brought into a new generation by the first CPU that touches it then, which clears the
 * older of its two sets of bits. Meanwhile, and when a mark was missed for that or may have been,
 * all sources of the line are taken for known. No CPU may take longer for it than a generation
 * lasts.
 */
#ifndef RINGFENCE_PRESENCE_H
#define RINGFENCE_PRESENCE_H

#include "ringfence/abi.h"
#include "ringfence/atomic.h"

#define RF_PRESENCE_TRIES 5 /* so often is a line changed on its way from one to the next */

/* The state of a line, in the lower half of its tag; the upper half is its generation. */
enum rf_presence_state {
	RF_PRESENCE_READY,
	RF_PRESENCE_CLEARING,
	RF_PRESENCE_MISSED,   /* still clearing, and a mark was missed */
	RF_PRESENCE_ALL,      /* everyone is known: a mark was missed, in this generation */
	RF_PRESENCE_ALL_ONCE, /* … in the one before */
};

RF_INLINE __u64 rf_presence_tag(__u32 generation, enum rf_presence_state state)
{
	return (__u64)generation << 32 | state;
}

/* Of a source under a limit, by keys that nobody outside knows. */
RF_INLINE __u64 rf_presence_hash(const __u64 source[2], __u32 limit_id, int is_ipv6,
				 const __u64 key[3])
{
	const __u64 sum = (__u32)source[0] * key[0] + (source[0] >> 32) * key[1] +
			  (source[1] ^ (__u64)limit_id << 1 ^ is_ipv6) * key[2];
	const __u64 mixed = (sum ^ sum >> 32) * key[0];

	return (mixed ^ mixed >> 29) * key[1];
}

/* Which of 2^(64 - shift) lines: each family has half of them. */
RF_INLINE __u32 rf_presence_place(__u64 hash, __u32 shift, int is_ipv6)
{
	return hash >> (shift & 63) >> 1 | (__u32)is_ipv6 << ((63 - shift) & 31);
}

RF_INLINE __u64 rf_presence_bit(__u64 hash, int i)
{
	return 1ULL << (hash >> 6 * i & 63);
}

RF_INLINE void rf_presence_clear(struct rf_presence *line, __u32 set)
{
	for (int i = 0; i < 3; i++)
		rf_store(&line->bits[set & 1][i], 0);
}

/* The state of a line that was cleared, unless a mark was missed. `tag` is what it had before. */
RF_INLINE enum rf_presence_state rf_presence_cleared(__u64 tag, __u32 generation)
{
	const __u32 age = generation - (__u32)(tag >> 32), state = (__u32)tag;

	/* Another CPU clears it for an older one, and may yet clear what is marked from now on. */
	if (state == RF_PRESENCE_CLEARING || state == RF_PRESENCE_MISSED)
		return RF_PRESENCE_ALL;
	return age == 1 && state == RF_PRESENCE_ALL ? RF_PRESENCE_ALL_ONCE : RF_PRESENCE_READY;
}

/* `tag` is what it had before this CPU began to clear it for `generation`. */
RF_INLINE void rf_presence_renew(struct rf_presence *line, __u64 tag, __u32 generation)
{
	const __u64 clearing = rf_presence_tag(generation, RF_PRESENCE_CLEARING);
	const __u64 missed = rf_presence_tag(generation, RF_PRESENCE_MISSED);
	const __u64 cleared = rf_presence_tag(generation, rf_presence_cleared(tag, generation));

	rf_presence_clear(line, generation);
	/* What was marked in the one before its last is as old. */
	if (generation - (__u32)(tag >> 32) > 1)
		rf_presence_clear(line, generation - 1);
	if (rf_cas(&line->tag, clearing, cleared) == missed)
		rf_cas(&line->tag, missed, rf_presence_tag(generation, RF_PRESENCE_ALL));
}

/* Brings the line into `generation`, unless another CPU does or did. */
RF_INLINE void rf_presence_enter(struct rf_presence *line, __u64 tag, __u32 generation)
{
	const __u64 clearing = rf_presence_tag(generation, RF_PRESENCE_CLEARING);

	for (int i = 0; i < RF_PRESENCE_TRIES; i++) {
		const __u32 age = generation - (__u32)(tag >> 32);
		__u64 found;

		/* One that is ahead was entered by a CPU that has seen a later generation. */
		if (!age || age >> 31)
			return;
		found = rf_cas(&line->tag, tag, clearing);
		if (found == tag) {
			rf_presence_renew(line, tag, generation);
			return;
		}
		/* Still the one before: what is marked there would be forgotten too early. */
		tag = found;
	}
}

RF_INLINE int rf_presence_is_entered(const struct rf_presence *line, __u32 generation)
{
	return rf_load(&line->tag) >> 32 == generation;
}

/* May it have a window? 0: it has none for certain. The line was entered. */
RF_INLINE int rf_presence_has(const struct rf_presence *line, __u64 hash)
{
	__u64 first = 1, second = 1;

	for (int i = 0; i < 3; i++) {
		first &= rf_load(&line->bits[0][i]) >> (hash >> 6 * i & 63);
		second &= rf_load(&line->bits[1][i]) >> (hash >> 6 * i & 63);
	}
	return (__u32)rf_load(&line->tag) != RF_PRESENCE_READY || (first | second);
}

/* It has a window now, or was found to have one. The line was entered. */
RF_INLINE void rf_presence_mark(struct rf_presence *line, __u64 hash)
{
	const __u64 tag = rf_load(&line->tag);
	const __u64 missed = (tag >> 32 << 32) | RF_PRESENCE_MISSED;

	if ((__u32)tag == RF_PRESENCE_CLEARING && rf_cas(&line->tag, tag, missed) == tag)
		return;
	for (int i = 0; i < 3; i++) {
		__u64 *word = &line->bits[tag >> 32 & 1][i];

		if (!(rf_load(word) & rf_presence_bit(hash, i)))
			rf_or(word, rf_presence_bit(hash, i));
	}
}

#endif /* RINGFENCE_PRESENCE_H */
