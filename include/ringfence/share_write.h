/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the agent of a fleet does to windows, through the program's calls: it writes shares, reads
 * what was used, and tells what was heard. One call at a time; beside it CPUs admit as ever.
 *
 * To take a share back: write the lower one; wait until no program that ran before runs any more;
 * read what was used. That is what the host may be said to have passed, see share.h.
 */
#ifndef RINGFENCE_SHARE_WRITE_H
#define RINGFENCE_SHARE_WRITE_H

#include "window_read.h"

#ifdef RF_WITH_SHARES

/* All that has been admitted is counted for less than so long, in jiffies. */
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
 * Gives the window of that incarnation a share, under the definition of that tag, in the present
 * generation. The time is read before. A share that no longer counts is taken back first, and
 * nothing is given. No more than L is: rf_limit_at_once() relies on that.
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
 * A window that was made under another key is in another bucket than its source is now. Its share
 * ends, and it gets a number in that bucket: for an agent it is another window. What it has
 * admitted still counts. False: another call wrote meanwhile.
 */
RF_INLINE int rf_share_move(struct rf_window *window, __u32 incarnation, __u64 jiffies)
{
	const __u64 given = rf_load(&window->share.given);

	if (rf_given_share(given))
		rf_store(&window->share.lowered, jiffies);
	return rf_cas(&window->share.given, given, rf_given(incarnation, 0)) == given;
}

/* What the window has admitted in W, and never less, in units. */
RF_INLINE __u32 rf_share_used(const struct rf_window *window, const struct rf_policy *policy,
			      __u64 time)
{
	return rf_window_used(window, policy, rf_epoch(policy, time));
}

/*
 * The host hears the fleet about a bucket until then. While it was alone, windows may have admitted
 * by another limit. So they are clipped by that for `span` jiffies more; and, until that is noted,
 * without an end.
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
 * All shares of the bucket end. What windows have of them counts as 0 for programs that begin from
 * now on; their clips stay.
 */
RF_INLINE void rf_end_shares(struct rf_hearing *hearing)
{
	const __u64 before = rf_load(&hearing->generation);

	rf_cas(&hearing->generation, before, (before + 1) % RF_GENERATIONS);
}

#endif /* RF_WITH_SHARES */

#endif /* RINGFENCE_SHARE_WRITE_H */
