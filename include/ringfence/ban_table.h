/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One set of the table of bans: pure functions, like limiter.h. A ban applies to one source, as a
 * limit groups it, under that limit, until a time in jiffies.
 *
 * Each ban of a set has a word, {until:40 | tag:8 | version:15 | is written:1}, which only a
 * compare-and-swap changes:
 *
 *   To ban, a CPU claims the word of an expired ban, writes the source, and publishes the word.
 *   To lift a ban, the command line swaps the word once, so it can be killed at any time.
 *
 * An active ban is never replaced. Each change makes a new version, and a reader compares the word
 * before and after it reads the source: no source is mistaken for a different one.
 *
 * A CPU that loses a race starts no ban; the next packet of the source does. If a ban of the set
 * expires or is lifted at the same time, two CPUs can ban the same source in two places; the list
 * shows the ban once.
 */
#ifndef RINGFENCE_BAN_TABLE_H
#define RINGFENCE_BAN_TABLE_H

#include "abi.h"
#include "atomic.h"
#include "bits.h"

#define RF_BAN_UNTIL_MAX ((1ULL << 40) - 1) /* jiffies: 34 years, if there are 1000 a second */
#define RF_BAN_WRITTEN 1ULL
#define RF_BAN_VERSIONS 0x7fffU

/* Results of rf_ban_start() other than an expiry; every expiry is larger. */
#define RF_BAN_FULL 0ULL
#define RF_BAN_LOST_RACE 1ULL

RF_INLINE __u64 rf_ban_word(__u64 until, __u32 tag, __u32 version)
{
	return until << 24 | (__u64)(tag & 0xff) << 16 | (version & RF_BAN_VERSIONS) << 1;
}

RF_INLINE __u64 rf_ban_until(__u64 word)
{
	return word >> 24;
}

RF_INLINE __u32 rf_ban_tag_of(__u64 word)
{
	return word >> 16 & 0xff;
}

RF_INLINE __u32 rf_ban_next_version(__u64 word)
{
	return (word >> 1 & RF_BAN_VERSIONS) + 1;
}

RF_INLINE __u64 rf_ban_whose(__u32 limit_id, int is_ipv6)
{
	return (__u64)limit_id << 1 | (is_ipv6 != 0);
}

/* Selects the set and the tag, by secret keys. */
RF_INLINE __u64 rf_ban_hash(const struct rf_ban *ban, const __u64 key[3])
{
	const __u64 sum = (__u32)ban->source[0] * key[1] + (ban->source[0] >> 32) * key[2] +
			  (ban->source[1] ^ ban->whose << 20) * key[0];
	const __u64 mixed = (sum ^ sum >> 32) * key[1];

	return (mixed ^ mixed >> 29) * key[2];
}

RF_INLINE __u32 rf_ban_place(__u64 hash)
{
	return hash >> (64 - RF_BAN_SETS_LOG);
}

RF_INLINE __u32 rf_ban_tag(__u64 hash)
{
	return hash >> 32 & 0xff;
}

RF_INLINE int rf_ban_is_of(const struct rf_ban *ban, const struct rf_ban *whom)
{
	return rf_load(&ban->source[0]) == whom->source[0] &&
	       rf_load(&ban->source[1]) == whom->source[1] && rf_load(&ban->whose) == whom->whose;
}

/*
 * Is the ban in place `i` of `whom`, with `word` unchanged while the source is read? The swaps
 * change nothing; they order the loads on every machine.
 */
RF_INLINE int rf_ban_stands(struct rf_ban_set *set, __u32 i, __u64 word, const struct rf_ban *whom)
{
	__u64 *at = &set->word[i % RF_BAN_WAYS];

	return rf_cas(at, word, word) == word && rf_ban_is_of(&set->ban[i % RF_BAN_WAYS], whom) &&
	       rf_cas(at, word, word) == word;
}

/* Until when `whom` is banned; 0: no ban. */
RF_INLINE __u64 rf_ban_find(struct rf_ban_set *set, const struct rf_ban *whom, __u32 tag,
			    __u64 jiffies)
{
	for (__u32 i = 0; i < RF_BAN_WAYS; i++) {
		const __u64 word = rf_load(&set->word[i]);

		if (rf_ban_until(word) <= jiffies || rf_ban_tag_of(word) != tag)
			continue;
		if (rf_ban_stands(set, i, word, whom))
			return rf_ban_until(word);
	}
	return 0;
}

/* Writes a ban over an expired one. False: another CPU was faster. */
RF_INLINE int rf_ban_write(struct rf_ban_set *set, __u32 i, __u64 word, const struct rf_ban *whom,
			   __u64 fresh)
{
	struct rf_ban *ban = &set->ban[i % RF_BAN_WAYS];
	__u64 *at = &set->word[i % RF_BAN_WAYS];
	/* Still expired, with the tag of the new ban. */
	const __u64 claimed = rf_ban_word(0, rf_ban_tag_of(fresh), fresh >> 1) | RF_BAN_WRITTEN;

	if (rf_cas(at, word, claimed) != word)
		return 0;
	rf_store(&ban->source[0], whom->source[0]);
	rf_store(&ban->source[1], whom->source[1]);
	rf_store(&ban->whose, whom->whose);
	rf_store(&ban->since, whom->since);
	rf_cas(at, claimed, fresh);
	return 1;
}

/* 1 for a word that a new ban can overwrite, else 0; without a branch, see rf_ban_start(). */
RF_INLINE __u32 rf_ban_gives_room(__u64 word, __u64 jiffies)
{
	return (rf_ban_until(word) - jiffies - 1) >> 63 & ~word & RF_BAN_WRITTEN;
}

/*
 * Bans a source from whom->since to `until`. An active ban is not prolonged. Returns the expiry of
 * the ban, RF_BAN_FULL or RF_BAN_LOST_RACE.
 *
 * The places with room and the source are searched in one pass: of two CPUs that ban the same
 * source, the second finds the word of the first or loses the race for its place. The places are
 * collected in a bit set, which the verifier does not track value by value.
 */
RF_INLINE __u64 rf_ban_start(struct rf_ban_set *set, const struct rf_ban *whom, __u32 tag,
			     __u64 until)
{
	__u32 room = 0, i;
	__u64 word;

	for (i = 0; i < RF_BAN_WAYS; i++) {
		word = rf_load(&set->word[i]);
		room |= rf_ban_gives_room(word, whom->since) << i;
		if (rf_ban_tag_of(word) != tag)
			continue;
		if (word & RF_BAN_WRITTEN) /* perhaps another CPU bans the same source */
			return RF_BAN_LOST_RACE;
		if (rf_ban_until(word) > whom->since && rf_ban_stands(set, i, word, whom))
			return rf_ban_until(word);
	}
	if (!room)
		return RF_BAN_FULL;
	i = rf_first_bit(room);
	word = rf_load(&set->word[i % RF_BAN_WAYS]);
	if (!rf_ban_gives_room(word, whom->since) ||
	    !rf_ban_write(set, i, word, whom, rf_ban_word(until, tag, rf_ban_next_version(word))))
		return RF_BAN_LOST_RACE;
	return until;
}

/* Lifts the ban that was read as `word`. False: the word has changed since. */
RF_INLINE int rf_ban_lift(struct rf_ban_set *set, __u32 i, __u64 word)
{
	const __u64 over = rf_ban_word(0, 0, rf_ban_next_version(word));

	return rf_cas(&set->word[i % RF_BAN_WAYS], word, over) == word;
}

#endif /* RINGFENCE_BAN_TABLE_H */
