/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fleet agent's operations on windows, through the program's calls: it writes shares, reads
 * usage, and publishes the state of the fleet server. One call at a time; CPUs admit concurrently
 * as usual.
 *
 * To take a share back: write the lower one; wait until no program that ran before is still
 * running; read the usage. The host can report that as its passed packets, see share.h.
 */
#ifndef RINGFENCE_SHARE_WRITE_H
#define RINGFENCE_SHARE_WRITE_H

#include "window_read.h"

#ifdef RF_WITH_SHARES

/* All admissions are counted for less than this long, in jiffies. */
RF_INLINE __u64 rf_share_span(const struct rf_policy *policy)
{
	return ((policy->cells + 1ULL) * policy->cell >> (policy->time_shift & 31)) + 2;
}

/*
 * The clip before a share is written. In W without a lowering, the largest share was the last one.
 * So until then the clip only grows.
 */
RF_INLINE __u32 rf_clip_for(const struct rf_window *window, const struct rf_policy *policy,
			    __u32 had, __u32 share, __u64 jiffies)
{
	const __u32 most = rf_limit_by(policy, had > share ? had : share);
	const __u32 before = rf_whose_clip(rf_load(&window->share.whose));

	if (jiffies - rf_load(&window->share.lowered) > rf_share_span(policy))
		return most;
	return before > most ? before : most;
}

/*
 * Grants the window of that incarnation a share, under the definition of that tag, in the present
 * generation. The time is read before. A share that is no longer valid is taken back first, and no
 * share is granted. At most L is granted: rf_limit_at_once() relies on that.
 */
RF_INLINE enum rf_share_result rf_share_write(struct rf_window *window,
					      const struct rf_policy *policy, __u32 incarnation,
					      __u32 tag, __u32 share, __u64 jiffies)
{
	const __u64 given = rf_load(&window->share.given), whose = rf_load(&window->share.whose);
	const __u32 had = rf_given_share(given);
	__u32 clip;

	if (share > policy->limit)
		share = policy->limit;
	if (rf_given_incarnation(given) != incarnation)
		return RF_SHARE_OTHER;
	tag = rf_tag_in(tag, rf_load(&rf_hearing_of(incarnation)->generation));
	if (rf_whose_tag(whose) != tag && had) {
		rf_store(&window->share.lowered, jiffies);
		return rf_cas(&window->share.given, given, rf_given(incarnation, 0)) == given
			       ? RF_SHARE_RETAGGED
			       : RF_SHARE_BUSY;
	}
	clip = rf_clip_for(window, policy, had, share, jiffies);
	if (share < had)
		rf_store(&window->share.lowered, jiffies);
	if (rf_cas(&window->share.whose, whose, rf_whose(tag, clip)) != whose)
		return RF_SHARE_BUSY;
	if (rf_cas(&window->share.given, given, rf_given(incarnation, share)) != given)
		return RF_SHARE_BUSY;
	if (share > had)
		rf_or(&window->share.asked, RF_SHARE_GREW);
	return RF_SHARE_DONE;
}

/*
 * A window that was created under a different key is in a different bucket than its source is now.
 * Its share expires, and it gets a number in that bucket: for an agent it is a different window.
 * Its admissions still count. False: another call wrote concurrently.
 */
RF_INLINE int rf_share_move(struct rf_window *window, __u32 incarnation, __u64 jiffies)
{
	const __u64 given = rf_load(&window->share.given);

	if (rf_given_share(given))
		rf_store(&window->share.lowered, jiffies);
	return rf_cas(&window->share.given, given, rf_given(incarnation, 0)) == given;
}

/* The window's admissions in W, and never less, in units. */
RF_INLINE __u32 rf_share_used(const struct rf_window *window, const struct rf_policy *policy,
			      __u64 time)
{
	return rf_window_used(window, policy, rf_epoch(policy, time));
}

/*
 * The host is connected to the fleet for a bucket until then. While it was offline, windows might
 * have admitted under a different limit. They are therefore clipped by that for `span` jiffies
 * more; and, until that is recorded, indefinitely.
 */
RF_INLINE void rf_hear(struct rf_hearing *hearing, __u64 deadline, __u64 span)
{
	const __u64 before = rf_load(&hearing->deadline);
	__u64 until = rf_load(&hearing->alone_until), now;

	rf_cas(&hearing->alone_until, until, RF_FOREVER);
	rf_cas(&hearing->deadline, before, deadline);
	now = rf_hearing_now();
	if (now >= before || until == RF_FOREVER)
		until = now + span;
	rf_cas(&hearing->alone_until, RF_FOREVER, until);
}

/*
 * All shares of the bucket expire. The windows' shares count as 0 for programs that start from now
 * on; their clips are retained.
 */
RF_INLINE void rf_end_shares(struct rf_hearing *hearing)
{
	const __u64 before = rf_load(&hearing->generation);

	rf_cas(&hearing->generation, before, (before + 1) % RF_GENERATIONS);
}

#endif /* RF_WITH_SHARES */

#endif /* RINGFENCE_SHARE_WRITE_H */
