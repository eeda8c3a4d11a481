/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares: how much of a limit over many hosts a window can admit on this host. Only in builds with
 * RF_WITH_SHARES; in all others rf_limit_of() is just the policy's limit.
 *
 *   connected to the fleet        min(L, first + share); first under another definition, or in
 *                                 another generation of the bucket's shares
 *   offline                       alone
 *
 * The agent writes shares by rf_share_write(), and reads usage, on another CPU than the admitting
 * ones. Invariants:
 *
 * - After a share was lowered, and all programs that ran then have finished, rf_share_used()
 *   returns no less than the window has admitted in W. Before that a program can still admit under
 *   the old share.
 * - A closing cell forgets no admission under a share that has been lowered since. It is therefore
 *   clipped by the largest limit of the last W. The clip grows before the share does, and a CPU
 *   reads it after the head that it clips.
 * - A window's memory might belong to a different source by now. The word of the share therefore
 *   contains the number of the window's incarnation, and is changed by compare-and-swap.
 */
#ifndef RINGFENCE_SHARE_H
#define RINGFENCE_SHARE_H

#include "algorithm.h"
#include "fleet.h"
#include "loan.h"
#include "siphash.h"

#define RF_ASK_NS 50000000ULL	     /* minimum interval between requests of a source, */
#define RF_ASK_GROWING_NS 2000000ULL /* or so often once its share has grown */
#define RF_ANSWER_NS \
	10000000ULL	  /* no lease refuses just after a request: its reply arrives soon, */
#define RF_ASKS_IN_VAIN 7 /* unless this many got no grant */

/* In rf_share.asked, above the time. */
#define RF_SHARE_GREW (1ULL << 63) /* since then */
#define RF_VAIN_SHIFT 60	   /* number of preceding requests without a grant, up to 7 */

/* What rf_share_write() has done. */
enum rf_share_result {
	RF_SHARE_DONE,
	RF_SHARE_GONE,	/* there is no such window */
	RF_SHARE_OTHER, /* the window is of another incarnation */
	/*
	 * A share of another definition or generation expired: wait for all programs, write again.
	 */
	RF_SHARE_RETAGGED,
	RF_SHARE_BUSY,	   /* another call wrote concurrently; no share was granted */
	RF_SHARE_NO_LIMIT, /* no active limit has that id, or it does not belong to the fleet */
};

RF_INLINE __u32 rf_given_share(__u64 given)
{
	return (__u32)given;
}

RF_INLINE __u32 rf_given_incarnation(__u64 given)
{
	return given >> 32;
}

/* Its lowest bits are the bucket of the source. `number` counts windows; the result is never 0. */
RF_INLINE __u32 rf_incarnation(__u64 number, __u32 bucket)
{
	return (1 + number % ((1U << 28) - 1)) * RF_BUCKETS | bucket % RF_BUCKETS;
}

/* Two __be32, the first in the low half, as a little-endian host reads them. */
RF_INLINE __u64 rf_address_word(__u64 word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return word;
#else
	return __builtin_bswap32(word) | (__u64)__builtin_bswap32(word >> 32) << 32;
#endif
}

/*
 * The bucket of a source in a fleet without a key, the same on every host. Addresses as in
 * rf_who.source, masked.
 */
RF_INLINE __u32 rf_bucket(__u64 first, __u64 second)
{
	return (rf_address_word(first) * 0x9e3779b97f4a7c15ULL ^
		rf_address_word(second) * 0xbf58476d1ce4e5b9ULL) *
		       0x94d049bb133111ebULL >>
	       60;
}

/*
 * The same by the fleet's key; both words are 0 without one. Without the key, it is impossible to
 * choose sources of one bucket, and so of one node of the fleet server: with a multiplication by
 * secret words, addresses at even distances would still map to few buckets under some keys.
 */
RF_INLINE __u32 rf_bucket_by(const __u64 key[2], __u64 first, __u64 second)
{
	struct rf_sip sip;

	if (!(key[0] | key[1]))
		return rf_bucket(first, second);
	sip = rf_sip_begin(key);
	rf_sip_add(&sip, rf_address_word(first));
	rf_sip_add(&sip, rf_address_word(second));
	rf_sip_add(&sip, 16ULL << 56);
	return rf_sip_end(&sip) >> 60;
}

/* The tag of a definition. Numbers of definitions count up. */
RF_INLINE __u32 rf_tag_of(__u32 definition)
{
	return definition * RF_GENERATIONS;
}

/* The tag of shares that count: of that definition, in that generation of their bucket. */
RF_INLINE __u32 rf_tag_in(__u32 tag, __u64 generation)
{
	return tag + (__u32)generation;
}

RF_INLINE __u64 rf_given(__u32 incarnation, __u32 share)
{
	return (__u64)incarnation << 32 | share;
}

RF_INLINE __u64 rf_whose(__u32 tag, __u32 clip)
{
	return (__u64)tag << 32 | clip;
}

RF_INLINE __u32 rf_whose_tag(__u64 whose)
{
	return whose >> 32;
}

RF_INLINE __u32 rf_whose_clip(__u64 whose)
{
	return (__u32)whose;
}

/* L while connected to the fleet. */
RF_INLINE __u32 rf_limit_by(const struct rf_policy *policy, __u32 share)
{
	return rf_fleet_room(policy->limit, policy->first, share);
}

#ifdef RF_WITH_SHARES

/* Defined by the including program: the state of the bucket in an incarnation, and jiffies. */
RF_INLINE struct rf_hearing *rf_hearing_of(__u32 incarnation);
RF_INLINE __u64 rf_hearing_now(void);

/* The words of a share, as they were read. Both 0: the limit belongs to this host only. */
struct rf_share_words {
	__u64 whose, given;
};

/*
 * The tag before the share: a share under a new tag is preceded by that tag, and the tag by a share
 * of 0.
 */
RF_INLINE struct rf_share_words rf_share_read(const struct rf_window *window)
{
	struct rf_share_words words;

	words.whose = rf_load(&window->share.whose);
	words.given = rf_load(&window->share.given);
	return words;
}

/* The limit by these words, and the present state of the bucket. */
RF_INLINE __u32 rf_limit_by_words(const struct rf_policy *policy, __u64 whose, __u64 given,
				  __u64 now)
{
	const struct rf_hearing *hearing = rf_hearing_of(rf_given_incarnation(given));
	__u32 share = rf_given_share(given);

	RF_OPAQUE(hearing); /* otherwise the compiler recomputes it at each use */
	if (!rf_given_incarnation(given))
		return policy->limit;
	if (now >= rf_load(&hearing->deadline))
		return policy->alone;
	if (rf_whose_tag(whose) != rf_tag_in(policy->tag, rf_load(&hearing->generation)))
		share = 0;
	return rf_limit_by(policy, share);
}

/* The clock first, since a call of a helper costs the program all registers. */
RF_INLINE __u32 rf_shared_limit(const struct rf_window *window, const struct rf_policy *policy)
{
	const __u64 now = rf_hearing_now();
	const struct rf_share_words words = rf_share_read(window);

	return rf_limit_by_words(policy, words.whose, words.given, now);
}

/*
 * Could the window contain admissions from while it was offline? In this order: rf_hear() moves the
 * deadline before it publishes until when.
 */
RF_INLINE int rf_has_been_alone(const struct rf_hearing *hearing, __u64 now)
{
	return now >= rf_load(&hearing->deadline) || now < rf_load(&hearing->alone_until);
}

/* The largest limit under which the window has made the admissions in a head, read before. */
RF_INLINE __u32 rf_shared_clip(const struct rf_window *window, const struct rf_policy *policy)
{
	const __u64 now = rf_hearing_now(), given = rf_load(&window->share.given);
	__u32 clip;

	if (policy->flags & RF_FLEET_CHANGED || !rf_given_incarnation(given) ||
	    rf_has_been_alone(rf_hearing_of(rf_given_incarnation(given)), now))
		return policy->clip;
	clip = rf_whose_clip(rf_load(&window->share.whose));
	return clip > policy->first ? clip : policy->first;
}

/*
 * Has the source, at this use of the window, nearly used its limit, and could it get more? Local
 * windows request nothing.
 */
RF_INLINE int rf_wants_more(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 used)
{
	const __u64 given = rf_load(&window->share.given);
	const __u32 share = rf_given_share(given);
	__u32 enough = policy->first / 2;

	if (share)
		enough = policy->first + share - share / 4;
	return used > enough && rf_given_incarnation(given) &&
	       rf_limit_by(policy, share) < policy->limit;
}

/* The time of the request, in jiffies. */
RF_INLINE __u64 rf_asked_at(__u64 asked)
{
	return asked & ((1ULL << RF_VAIN_SHIFT) - 1);
}

/* How many preceding requests got no grant, at most RF_ASKS_IN_VAIN; 0: the share has grown. */
RF_INLINE __u32 rf_asked_in_vain(__u64 asked)
{
	return asked & RF_SHARE_GREW ? 0 : asked >> RF_VAIN_SHIFT;
}

/*
 * Until when a lease can refuse, in jiffies: until the source can send a request again; 0: not at
 * all, because the reply to a request can be in flight.
 */
RF_INLINE __u64 rf_shared_refusal(const struct rf_window *window, __u64 jiffies, __u32 tick_ns)
{
	const __u64 asked = rf_load(&window->share.asked);
	const __u64 since_ns = (jiffies - rf_asked_at(asked)) * tick_ns;
	const __u64 ticks = (RF_ASK_NS + tick_ns - 1) / tick_ns;

	if (since_ns >= RF_ASK_NS)
		return jiffies + ticks;
	if (since_ns < RF_ANSWER_NS && rf_asked_in_vain(asked) < RF_ASKS_IN_VAIN)
		return 0;
	return rf_asked_at(asked) + ticks;
}

/* Can it send a request at this time? Only one CPU can, at intervals. */
RF_INLINE int rf_may_ask(struct rf_window *window, __u64 jiffies, __u32 tick_ns)
{
	const __u64 asked = rf_load(&window->share.asked);
	const __u64 since_ns = (jiffies - rf_asked_at(asked)) * tick_ns;
	__u64 vain = rf_asked_in_vain(asked);

	if (since_ns < (asked & RF_SHARE_GREW ? RF_ASK_GROWING_NS : RF_ASK_NS))
		return 0;
	if (asked & RF_SHARE_GREW || since_ns >= RF_ASKS_IN_VAIN * RF_ASK_NS)
		vain = 0; /* answered, or it has rested */
	else if (vain < RF_ASKS_IN_VAIN)
		vain++;
	return rf_cas(&window->share.asked, asked, jiffies | vain << RF_VAIN_SHIFT) == asked;
}

#endif /* RF_WITH_SHARES */

/* Does it ban once passed and refused packets exceed L? 1 or 0. See share_ban.h. */
RF_INLINE int rf_bans_by_sum(const struct rf_policy *policy)
{
#ifdef RF_WITH_SHARES
	return policy->flags / RF_BANS_BY_SUM & 1;
#else
	(void)policy;
	return 0;
#endif
}

/* How much a window can admit in W, in place of policy->limit. */
RF_INLINE __u32 rf_limit_of(const struct rf_window *window, const struct rf_policy *policy)
{
#ifdef RF_WITH_SHARES
	if (policy->flags & RF_FLEET)
		return rf_shared_limit(window, policy);
#else
	(void)window;
#endif
	return policy->limit;
}

/* Is this use within that? Below `first` it does not read the share. */
RF_INLINE int rf_fits(const struct rf_window *window, const struct rf_policy *policy, __u64 units)
{
#ifdef RF_WITH_SHARES
	if (policy->flags & RF_FLEET)
		return units <= policy->first || units <= rf_shared_limit(window, policy);
#else
	(void)window;
#endif
	return units <= policy->limit;
}

#ifdef RF_WITH_SHARES
/*
 * A cheap lower bound of the limit by these words, up to which a source does not request more: half
 * of `first`, or three quarters of a valid share; 0 if `units` is beyond that, and the whole limit
 * must be computed. The time is the packet's: one that arrived before a deadline can be evaluated
 * after it in any case.
 */
RF_INLINE __u32 rf_limit_at_once(const struct rf_policy *policy, const struct rf_share_words *words,
				 __u64 units, __u64 now)
{
	const __u32 share = rf_given_share(words->given), enough = share - share / 4;
	const struct rf_hearing *hearing;

	if (units <= policy->first / 2)
		return policy->first / 2;
	if (units > enough)
		return 0;
	hearing = rf_hearing_of(rf_given_incarnation(words->given));
	RF_OPAQUE(hearing);
	if (now >= rf_load(&hearing->deadline) ||
	    rf_whose_tag(words->whose) != rf_tag_in(policy->tag, rf_load(&hearing->generation)))
		return 0;
	return enough;
}

#ifndef RF_LIMIT_BY_WORDS /* the program has a separate function for it */
#define RF_LIMIT_BY_WORDS rf_limit_by_words
#endif

#endif

/*
 * As rf_fits(), at a packet's time in jiffies. `enough`: up to where it fits without a full
 * evaluation, and without a request; 0 if that cannot be decided cheaply.
 */
RF_INLINE int rf_fits_at(const struct rf_window *window, const struct rf_policy *policy,
			 __u64 units, __u64 jiffies, __u32 *enough)
{
#ifdef RF_WITH_SHARES
	if (policy->flags & RF_FLEET) {
		const struct rf_share_words words = rf_share_read(window);

		*enough = rf_limit_at_once(policy, &words, units, jiffies);
		return *enough ||
		       units <= RF_LIMIT_BY_WORDS(policy, words.whose, words.given, jiffies);
	}
#endif
	*enough = policy->limit;
	return units + rf_lent(window, policy, jiffies) <= policy->limit;
}

/* The clip of a closing cell, in place of policy->clip. After its head was read. */
RF_INLINE __u32 rf_clip_of(const struct rf_window *window, const struct rf_policy *policy)
{
#ifdef RF_WITH_SHARES
	if (policy->flags & RF_FLEET)
		return rf_shared_clip(window, policy);
#else
	(void)window;
#endif
	return policy->clip;
}

#endif /* RINGFENCE_SHARE_H */
