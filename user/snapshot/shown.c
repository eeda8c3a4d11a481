// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/grammar.h"
#include "rules/policy.h"
#include "snapshot/shown.h"

enum outcome {
	PASSES,
	DROPPED,
	PARTLY, /* packets that some limit matches are dropped */
	/* On the CPU, or on windows that we do not read: of its network, or of parts of it. */
	DEPENDS,
};

enum decider {
	BY_NOBODY,
	BY_UNCONFIRMED,
	BY_PAUSE,
	BY_ALLOW,
	BY_DENY,
	BY_BAN,
	BY_LIMIT,
	BY_NEWCOMERS
};

struct verdict {
	enum outcome outcome;
	enum decider by;
	const struct rf_limit_answer *answer; /* of BY_BAN, BY_LIMIT and BY_NEWCOMERS */
	int64_t wait_ms;
};

/* ---- the verdict: what decides ---- */

static bool is_shadow(const struct rf_limit_answer *answer)
{
	return answer->limit->flags & RF_SHADOW;
}

/* Does the limit's verdict hold for every packet of the source? */
static bool is_for_all(const struct rf_limit_answer *answer)
{
	const struct rf_limit *limit = answer->limit;

	return limit->match == RF_MATCH_ANY && !limit->has_ports && !limit->has_sports &&
	       !limit->has_to && !limit->length_max && !limit->tcp_mask &&
	       (!answer->shorter_pass || answer->banned_ns);
}

static bool is_longer(int64_t wait_ms, int64_t than_ms)
{
	return than_ms != RF_WAIT_FOREVER && (wait_ms == RF_WAIT_FOREVER || wait_ms > than_ms);
}

static int64_t longer(int64_t a_ms, int64_t b_ms)
{
	return is_longer(a_ms, b_ms) ? a_ms : b_ms;
}

static int64_t ms_of(uint64_t time_ns)
{
	return time_ns == RF_FOREVER ? RF_WAIT_FOREVER
				     : (int64_t)((time_ns + RF_NS_PER_MS - 1) / RF_NS_PER_MS);
}

/*
 * The effect of the newcomers rate on a source without a window. With `aggregate`, its window
 * starts with the network's use, or it shares the network's.
 */
static struct verdict judge_new(const struct rf_case *its, const struct rf_limit_answer *answer)
{
	if (its->then == RF_NEWCOMERS_AGGREGATE)
		return (struct verdict){DEPENDS, BY_NEWCOMERS, answer, RF_WAIT_FOREVER};
	if (its->then == RF_NEWCOMERS_OFF || !its->guard_wait_ms)
		return (struct verdict){PASSES, BY_NOBODY, answer, 0};
	if (its->then == RF_NEWCOMERS_PASS)
		return (struct verdict){PASSES, BY_NEWCOMERS, answer, 0};
	return (struct verdict){DROPPED, BY_NEWCOMERS, answer, its->guard_wait_ms};
}

/* The effect of this limit on the next packet that it matches. */
static struct verdict judge(const struct rf_case *its, const struct rf_limit_answer *answer)
{
	const int64_t ban_ms = ms_of(answer->banned_ns);

	if (is_shadow(answer))
		return (struct verdict){PASSES, BY_NOBODY, answer, 0};
	if (answer->banned_ns)
		return (struct verdict){DROPPED, BY_BAN, answer, longer(ban_ms, answer->wait_ms)};
	if (answer->lent)
		return (struct verdict){DEPENDS, BY_LIMIT, answer, answer->wait_ms};
	if (answer->wait_ms)
		return (struct verdict){DROPPED, BY_LIMIT, answer, answer->wait_ms};
	if (answer->is_new)
		return judge_new(its, answer);
	return (struct verdict){PASSES, BY_NOBODY, answer, 0};
}

/* Decisions before any limit is evaluated. False: none. */
static bool judge_early(const struct rf_case *its, struct verdict *verdict)
{
	*verdict = (struct verdict){PASSES, BY_NOBODY, NULL, 0};
	if (its->is_unconfirmed)
		verdict->by = BY_UNCONFIRMED;
	else if (its->paused_ns)
		verdict->by = BY_PAUSE;
	else if (its->list[RF_ALLOW].is_listed)
		verdict->by = BY_ALLOW;
	else if (its->list[RF_DENY].is_listed)
		*verdict =
			(struct verdict){DROPPED, BY_DENY, NULL, ms_of(its->list[RF_DENY].left_ns)};
	for (int i = 0; i < its->answers && verdict->by == BY_NOBODY; i++) {
		const struct rf_limit_answer *answer = &its->answer[i];

		if (answer->banned_ns && answer->limit->flags & RF_BAN_ALL && !is_shadow(answer))
			*verdict =
				(struct verdict){DROPPED, BY_BAN, answer, ms_of(answer->banned_ns)};
	}
	return verdict->by != BY_NOBODY;
}

/* Does it say more about the next packet? A drop does, the longest one most. */
static bool is_worse(const struct verdict *one, const struct verdict *other)
{
	if (one->outcome == DROPPED)
		return other->outcome != DROPPED || is_longer(one->wait_ms, other->wait_ms);
	return one->outcome == DEPENDS && other->outcome == PASSES;
}

/* The limit that drops longest, of those that match all packets or of the others. */
static struct verdict judge_limits(const struct rf_case *its, bool of_all)
{
	struct verdict worst = {PASSES, BY_NOBODY, NULL, 0};

	for (int i = 0; i < its->answers; i++) {
		const struct verdict verdict = judge(its, &its->answer[i]);

		if (is_for_all(&its->answer[i]) != of_all || verdict.by == BY_NOBODY)
			continue;
		if (worst.by == BY_NOBODY || is_worse(&verdict, &worst))
			worst = verdict;
	}
	return worst;
}

/* Until no deny list, no ban of all packets and no limit of all packets drops. */
static int64_t whole_wait_ms(const struct rf_case *its, const struct verdict *early)
{
	int64_t wait_ms = longer(early->wait_ms, judge_limits(its, true).wait_ms);

	for (int i = 0; i < its->answers; i++)
		if (its->answer[i].limit->flags & RF_BAN_ALL && !is_shadow(&its->answer[i]))
			wait_ms = longer(wait_ms, ms_of(its->answer[i].banned_ns));
	return wait_ms;
}

/* A limit that counts parts of the network may drop packets of one part. */
static struct verdict judge_parts(const struct rf_case *its, struct verdict verdict)
{
	if (its->finer && verdict.outcome == PASSES)
		return (struct verdict){DEPENDS, BY_NOBODY, NULL, RF_WAIT_FOREVER};
	return verdict;
}

static struct verdict judge_whole(const struct rf_case *its)
{
	struct verdict verdict, partly;

	if (judge_early(its, &verdict)) {
		if (verdict.outcome == DROPPED)
			verdict.wait_ms = whole_wait_ms(its, &verdict);
		return verdict;
	}
	verdict = judge_limits(its, true);
	partly = judge_limits(its, false);
	if (verdict.outcome == DROPPED || partly.by == BY_NOBODY)
		return judge_parts(its, verdict);
	if (partly.outcome == DROPPED)
		partly.outcome = PARTLY;
	else if (verdict.by != BY_NOBODY)
		return judge_parts(its, verdict);
	return judge_parts(its, partly);
}

/*
 * When a packet passes that only this limit applies to, in ms: its lists, bans and window together.
 */
static int64_t verdict_wait_ms(const struct rf_case *its, const struct rf_limit_answer *answer)
{
	struct verdict verdict;

	if (!judge_early(its, &verdict))
		return judge(its, answer).wait_ms;
	return verdict.outcome == DROPPED ? longer(verdict.wait_ms, judge(its, answer).wait_ms) : 0;
}

bool rf_verdict_is_early(const struct rf_case *its)
{
	struct verdict verdict;

	return judge_early(its, &verdict);
}

bool rf_answer_has_dropped(const struct rf_limit_answer *answer)
{
	return !is_shadow(answer) && answer->all.dropped;
}

bool rf_verdict_wants_recent(const struct rf_case *its)
{
	const struct verdict verdict = judge_whole(its);

	if (rf_verdict_is_early(its) || verdict.outcome == DROPPED || verdict.outcome == PARTLY)
		return false;
	for (int i = 0; i < its->answers; i++)
		if (rf_answer_has_dropped(&its->answer[i]))
			return true;
	return false;
}

/* ---- the verdict for people ---- */

static void print_listed(FILE *out, const struct rf_case *its, enum rf_list list)
{
	const struct rf_list_answer *answer = &its->list[list];
	char left[RF_DURATION_TEXT_SIZE];

	rf_put(out, "%s: %s list (%s)", its->source,
	       list == RF_ALLOW ? "passes by the allow" : "dropped by the deny", answer->prefix);
	if (answer->left_ns != RF_FOREVER) {
		rf_format_left(answer->left_ns, left);
		rf_put(out, ", for another %s", left);
	}
	if (list == RF_ALLOW && its->list[RF_DENY].is_listed)
		rf_put(out, ", which overrules the deny list (%s)", its->list[RF_DENY].prefix);
	rf_put(out, "\n");
}

/* A share that refuses a packet does not ban yet, see share_ban.h. */
static void print_fleet_ban(FILE *out, const struct rf_limit *limit, const char *ban)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(limit, rate);
	rf_put(out, "; more than %s over all hosts bans it for %s", rate, ban);
}

/* "; the next packet passes in 620ms", and on which condition. */
static void print_next(FILE *out, const struct rf_limit_answer *answer, bool of_all)
{
	const struct rf_limit *limit = answer->limit;
	char wait[RF_DURATION_TEXT_SIZE], frame[48], ban[RF_DURATION_TEXT_SIZE];

	snprintf(frame, sizeof(frame), "frame of %d bytes", RF_FRAME_BYTES);
	rf_format_ms(answer->wait_ms, wait);
	rf_format_left(limit->ban_ns, ban);
	if (!limit->rate)
		rf_put(out, "; its rate is 0");
	else if (answer->wait_ms == RF_WAIT_FOREVER)
		rf_put(out, "; no %s passes", limit->unit == RF_BYTES ? frame : "packet");
	else
		rf_put(out, "; the next %s passes in %s",
		       !of_all			 ? "of them"
		       : limit->unit == RF_BYTES ? frame
						 : "packet",
		       wait);
	if (limit->flags & RF_COUNT_REJECTED && limit->rate)
		rf_put(out, " if none comes until then");
	else if (answer->network)
		rf_put(out, " if no other source of %s sends", answer->network);
	if (limit->ban_ns && limit->flags & RF_FLEET)
		print_fleet_ban(out, limit, ban);
	else if (limit->ban_ns)
		rf_put(out, "; one that comes before bans it for %s", ban);
}

static void print_subject(FILE *out, const struct rf_case *its, const struct verdict *verdict,
			  bool of_all)
{
	const struct rf_limit *limit = verdict->answer->limit;
	const bool is_new = verdict->by == BY_NEWCOMERS;

	rf_put(out, "%s: ", its->source);
	if (is_new)
		rf_put(out, "%sthe newcomers rate is used up, so at this moment ",
		       of_all ? "new; " : "");
	if (of_all && is_new)
		rf_put(out, "it would be dropped");
	else if (of_all)
		rf_put(out, "dropped by %slimit '%s'", verdict->by == BY_BAN ? "a ban of " : "",
		       limit->name);
	else if (verdict->answer->shorter_pass && verdict->by == BY_LIMIT)
		rf_put(out, "frames of %d bytes that limit '%s' matches are dropped",
		       RF_FRAME_BYTES, limit->name);
	else
		rf_put(out, "packets that limit '%s' matches %s dropped", limit->name,
		       is_new ? "would be" : "are");
}

static void print_drop(FILE *out, const struct rf_case *its, const struct verdict *verdict)
{
	const struct rf_limit_answer *answer = verdict->answer;
	const bool of_all =
		is_for_all(answer) || (verdict->by == BY_BAN && answer->limit->flags & RF_BAN_ALL);
	char left[RF_DURATION_TEXT_SIZE];

	print_subject(out, its, verdict, of_all);
	if (verdict->by == BY_LIMIT)
		print_next(out, answer, of_all);
	if (verdict->by == BY_LIMIT && answer->shorter_pass)
		rf_put(out, "; shorter ones may pass");
	if (verdict->by == BY_BAN) {
		rf_format_left(answer->banned_ns, left);
		rf_put(out, "%s, for another %s", of_all ? "" : " by a ban", left);
	}
}

/*
 * Does the source lack a window under any enforced limit, one of which matches all packets? For
 * limits of only some packets it is unknown whether it ever sent a matching one.
 */
static bool is_new_to_all(const struct rf_case *its)
{
	int of_all = 0, with_window = 0;

	for (int i = 0; i < its->answers; i++) {
		const bool counts = !is_shadow(&its->answer[i]) && its->answer[i].limit->rate;

		of_all += counts && is_for_all(&its->answer[i]);
		with_window += counts && !its->answer[i].is_new;
	}
	return of_all && !with_window;
}

/* "limit 'web' dropped 98 of 203 packets in the last 1s; ": whether it printed anything. */
static bool print_recent(FILE *out, const struct rf_case *its)
{
	char time[RF_DURATION_TEXT_SIZE];
	bool printed = false;

	for (int i = 0; i < its->answers; i++) {
		const struct rf_limit_answer *answer = &its->answer[i];
		const struct rf_charged *recent = &answer->recent;

		if (is_shadow(answer) || !recent->dropped)
			continue;
		rf_put(out, "%slimit '%s' dropped %" PRIu64 " of %" PRIu64 " packets",
		       printed ? ", " : "", answer->limit->name, recent->dropped,
		       recent->passed + recent->dropped);
		printed = true;
	}
	rf_format_ms((its->recent_ms + 50) / 100 * 100, time);
	if (printed)
		rf_put(out, " in the last %s; ", time);
	return printed;
}

/* "; limit 'web' dropped 98 of 203 packets before, none in the last 1s" */
static void print_dropped_before(FILE *out, const struct rf_case *its)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_ms((its->recent_ms + 50) / 100 * 100, time);
	for (int i = 0; i < its->answers; i++) {
		const struct rf_limit_answer *answer = &its->answer[i];

		if (!rf_answer_has_dropped(answer) || answer->recent.dropped)
			continue;
		rf_put(out, "; limit '%s' dropped %" PRIu64 " of %" PRIu64 " packets before",
		       answer->limit->name, answer->all.dropped,
		       answer->all.passed + answer->all.dropped);
		if (its->recent_ms)
			rf_put(out, ", none in the last %s", time);
	}
}

/* "passes on CPUs that have borrowed from limit 'web' (lent to CPUs: 6), on others in 3s" */
static void print_lent(FILE *out, const struct rf_limit_answer *answer)
{
	char wait[RF_DURATION_TEXT_SIZE];

	rf_format_ms(answer->wait_ms, wait);
	rf_put(out,
	       "passes on CPUs that have borrowed from limit '%s' (lent to CPUs: %" PRIu64
	       "), on others in %s",
	       answer->limit->name, answer->lent, wait);
}

/* No enforced limit drops the next packet. */
static void print_passes(FILE *out, const struct rf_case *its, const struct verdict *verdict)
{
	const bool is_new = is_new_to_all(its);
	bool is_momentary = is_new;
	char wait[RF_DURATION_TEXT_SIZE];

	for (int i = 0; i < its->answers; i++)
		is_momentary |= its->answer[i].network && !is_shadow(&its->answer[i]);
	rf_put(out, "%s: %s", its->source, is_new ? "new; " : "");
	is_momentary |= print_recent(out, its);
	if (verdict->outcome == DEPENDS && its->finer)
		rf_put(out,
		       "whether a packet passes depends on its address: limit '%s' counts "
		       "parts of this network",
		       its->finer->name);
	else if (verdict->outcome == DEPENDS && verdict->by == BY_LIMIT)
		print_lent(out, verdict->answer);
	else if (verdict->outcome == DEPENDS)
		rf_put(out,
		       "whether it passes depends on what new sources of its network have used");
	else if (verdict->by == BY_NEWCOMERS)
		rf_put(out, "the newcomers rate is used up, so at this moment it passes without a "
			    "limit");
	else
		rf_put(out, "passes%s", is_momentary ? " at this moment" : "");
	if (!its->answers)
		rf_put(out, "; no limit applies");
	print_dropped_before(out, its);
	for (int i = 0; i < its->answers; i++) {
		const struct rf_limit_answer *answer = &its->answer[i];

		if (!is_shadow(answer) || !answer->wait_ms || answer->lent)
			continue;
		rf_format_ms(answer->wait_ms, wait);
		rf_put(out, "; limit '%s' (shadow) would drop %s%s%s", answer->limit->name,
		       is_for_all(answer)     ? "it"
		       : answer->shorter_pass ? "full frames that it matches"
					      : "packets that it matches",
		       answer->wait_ms < 0 ? "" : " for another ", answer->wait_ms < 0 ? "" : wait);
	}
	rf_put(out, "\n");
}

/* Of the limits that match some packets, those that drop longer than the ones for all packets. */
static int print_partly(FILE *out, const struct rf_case *its, const struct verdict *all)
{
	bool others_pass = all->by == BY_NOBODY;
	int printed = 0;

	for (int i = 0; i < its->answers; i++) {
		const struct verdict verdict = judge(its, &its->answer[i]);

		if (is_for_all(&its->answer[i]) || verdict.outcome != DROPPED ||
		    !is_longer(verdict.wait_ms, all->outcome == DROPPED ? all->wait_ms : 0))
			continue;
		rf_put(out, "%s", printed++ ? "\n" : "");
		print_drop(out, its, &verdict);
		others_pass = others_pass && !verdict.answer->shorter_pass;
	}
	if (printed)
		rf_put(out, "%s\n", others_pass ? "; others pass" : "");
	return printed;
}

static void print_verdict(FILE *out, const struct rf_case *its)
{
	char left[RF_DURATION_TEXT_SIZE];
	struct verdict verdict;

	if (judge_early(its, &verdict)) {
		if (verdict.by == BY_UNCONFIRMED)
			rf_put(out,
			       "%s: passes, as everything does: the attach was not confirmed\n",
			       its->source);
		else if (verdict.by == BY_PAUSE) {
			rf_format_left(its->paused_ns, left);
			rf_put(out,
			       "%s: passes, as everything does: the fence is paused for another "
			       "%s\n",
			       its->source, left);
		} else if (verdict.by == BY_BAN) {
			print_drop(out, its, &verdict);
			rf_put(out, "\n");
		} else
			print_listed(out, its, verdict.by == BY_ALLOW ? RF_ALLOW : RF_DENY);
		return;
	}
	verdict = judge_limits(its, true);
	if (verdict.outcome == DROPPED) {
		print_drop(out, its, &verdict);
		rf_put(out, "\n");
	}
	if (!print_partly(out, its, &verdict) && verdict.outcome != DROPPED) {
		verdict = judge_whole(its);
		print_passes(out, its, &verdict);
	}
}

char *rf_verdict_text(const struct rf_case *its)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	print_verdict(out, its);
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(text);
		return NULL;
	}
	text[size - 1] = '\0'; /* the newline of the last line */
	return text;
}

/* ---- the verdict for programs ---- */

static void decide(const struct rf_case *its, struct rf_decision *verdict)
{
	static const char *const outcomes[] = {"passes", "dropped", "partly", "depends"};
	static const char *const kinds[] = {NULL,   "unconfirmed", "pause", "allow",
					    "deny", "ban",	   "limit", "newcomers"};
	const struct verdict found = judge_whole(its);

	*verdict = (struct rf_decision){
		.outcome = outcomes[found.outcome],
		.kind = found.by == BY_NOBODY ? NULL : kinds[found.by],
		.limit = found.answer ? found.answer->limit->name : NULL,
		.prefix = found.by == BY_ALLOW	? its->list[RF_ALLOW].prefix
			  : found.by == BY_DENY ? its->list[RF_DENY].prefix
						: NULL,
		.wait_ms = found.wait_ms,
	};
}

#define SHORTEST_BYTES 60 /* a frame, as the driver has it */
#define READS_MAX 5	  /* of rules that change concurrently */

/* ---- a limit ---- */

static int count_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING && limit->algorithm != RF_FIXED)
		return 0;
	return limit->cells < RF_CELLS_MAX ? limit->cells : RF_CELLS_MAX;
}

static uint64_t banned_ns(const struct rf_fence *fence, const struct rf_bans *bans,
			  const struct rf_address *source, const struct rf_policy *policy)
{
	const struct rf_ban_row *ban = rf_bans_find(bans, source, policy->id);

	return ban ? rf_fence_left_ns(fence, bans->now, ban->until) : 0;
}

static int read_limit(const struct rf_fence *fence, const struct rf_bans *bans, int slot,
		      struct rf_address *source, struct rf_shown_limit *one, struct rf_error *error)
{
	const struct rf_policy *policy = &bans->rules.policy[slot];
	struct rf_policy here = *policy; /* as the fleet lets this window have it */
	uint64_t time, wait;
	uint32_t now;
	int err;

	*one = (struct rf_shown_limit){.limit = &bans->rules.limit[slot]};
	one->cells = count_cells(one->limit);
	rf_policy_mask(policy, source);
	one->banned_ns = banned_ns(fence, bans, source, policy);
	one->is_shared =
		rf_limit_source(one->limit, source).length < rf_prefix_length_max(source->version);
	rf_format_source(source, one->limit, one->source);
	if (!one->limit->rate) {
		one->passes_again_ms = RF_WAIT_FOREVER;
		one->cells = 0;
		return 0;
	}
	err = rf_fence_source(fence, policy, source, &one->state, error);
	one->newcomer = err == -ENOENT;
	if (err)
		return one->newcomer ? 0 : err;
	time = rf_fence_time(fence, policy);
	here.limit = rf_fence_room(fence, policy, source, rf_fence_jiffies(fence));
	one->room = (uint64_t)here.limit << policy->unit_shift;
	now = rf_epoch(policy, time);
	one->used = rf_used(&one->state.window, policy, time) << policy->unit_shift;
	one->lent = (uint64_t)rf_lent_read(&one->state.window, policy, time) << policy->unit_shift;
	for (int i = 0; i < one->cells; i++)
		one->cell[i] = (uint64_t)rf_window_cell(&one->state.window, policy,
							now - (one->cells - 1 - i))
			       << policy->unit_shift;
	one->shorter_pass =
		one->limit->unit == RF_BYTES &&
		rf_would_pass(&one->state.window, &here, time, rf_cost(policy, SHORTEST_BYTES));
	wait = rf_window_passes_again(&one->state.window, &here, time,
				      rf_cost(policy, RF_FRAME_BYTES));
	one->is_full_by_loans = wait && rf_would_pass_unlent(&one->state.window, &here, time,
							     rf_cost(policy, RF_FRAME_BYTES));
	one->passes_again_ms =
		wait == ~0ULL
			? RF_WAIT_FOREVER
			: (int64_t)((rf_fence_duration_ns(fence, policy, wait) + RF_NS_PER_MS - 1) /
				    RF_NS_PER_MS);
	return 0;
}

/* ---- lists ---- */

static struct rf_address address_of(const struct rf_prefix *prefix)
{
	struct rf_address address = {.version = prefix->version};

	memcpy(address.word, prefix->word, sizeof(address.word));
	return address;
}

/* A list's entry for the source. */
static int read_list(const struct rf_fence *fence, const struct rf_prefix *source,
		     enum rf_list list, uint64_t until, struct rf_list_answer *answer,
		     struct rf_error *error)
{
	const uint64_t now = rf_fence_tick_ns(fence) ? rf_fence_jiffies(fence) : 0;
	const struct rf_address address = address_of(source);
	struct rf_prefix prefix;
	int err;

	if (until <= now)
		return 0;
	err = rf_fence_listed_prefix(fence, &address, list, until, &prefix, error);
	if (err)
		return err == -ENOENT ? rf_error_failed(error, -EAGAIN,
							"the lists have just changed; try again")
				      : err;
	answer->is_listed = true;
	answer->left_ns = until == RF_FOREVER ? RF_FOREVER : rf_fence_left_ns(fence, now, until);
	rf_format_prefix(&prefix, answer->prefix);
	return 0;
}

static struct rf_limit_answer answer_of(const struct rf_fence *fence,
					const struct rf_policy *policy,
					const struct rf_address *source,
					const struct rf_shown_limit *one)
{
	return (struct rf_limit_answer){
		.limit = one->limit,
		.is_new = one->newcomer && !rf_fence_is_known(fence, policy, source),
		.wait_ms = one->passes_again_ms,
		.lent = one->is_full_by_loans ? one->lent : 0,
		.shorter_pass = one->passes_again_ms && one->shorter_pass,
		.banned_ns = one->banned_ns,
		.network = one->is_shared && one->limit->rate ? one->source : NULL,
		.all = {one->state.passed, one->state.dropped},
	};
}

/* `slots`: the limits that can match packets of the source, by its address only. */
static int read_limits(const struct rf_fence *fence, const struct rf_prefix *asked, uint32_t slots,
		       struct rf_shown *shown, struct rf_error *error)
{
	const struct rf_bank *rules = &shown->bans.rules;
	const struct rf_address address = address_of(asked);
	struct rf_case *its = &shown->its;
	int given[RF_LIMITS_MAX], err = 0;
	const int count = rf_bank_slots(rules, given);

	for (int i = 0; i < count && !err; i++) {
		struct rf_shown_limit *one = &shown->limit[its->answers];
		const struct rf_limit *limit = &rules->limit[given[i]];
		struct rf_address masked = address;

		if (!(slots >> given[i] & 1))
			continue;
		if (limit->rate && asked->length < rf_limit_length(limit, asked)) {
			its->finer = its->finer || limit->flags & RF_SHADOW ? its->finer : limit;
			continue;
		}
		err = read_limit(fence, &shown->bans, given[i], &masked, one, error);
		one->its = its;
		one->answer = &its->answer[its->answers];
		its->answer[its->answers++] =
			answer_of(fence, &rules->policy[given[i]], &address, one);
	}
	return err;
}

static void judge_shown(struct rf_shown *shown)
{
	decide(&shown->its, &shown->decision);
	for (int i = 0; i < shown->its.answers; i++)
		shown->limit[i].wait_ms = verdict_wait_ms(&shown->its, &shown->its.answer[i]);
}

static int read_case(const struct rf_fence *fence, const struct rf_prefix *asked,
		     struct rf_shown *shown, struct rf_error *error)
{
	const struct rf_bank *rules = &shown->bans.rules;
	const struct rf_standing standing = rf_fence_standing(fence);
	struct rf_case *its = &shown->its;
	struct rf_prefix_value value;
	int err = rf_fence_value_around(fence, asked, &value, error);

	if (err)
		return err;
	rf_format_prefix(asked, shown->source);
	its->source = shown->source;
	its->is_unconfirmed = standing.state == RF_EXPIRED;
	its->paused_ns = standing.paused_ns;
	its->then = rules->newcomers.then;
	its->guard_wait_ms =
		(rf_fence_guard_wait_ns(fence, rules) + RF_NS_PER_MS - 1) / RF_NS_PER_MS;
	err = read_list(fence, asked, RF_ALLOW, value.allow_until, &its->list[RF_ALLOW], error);
	if (!err)
		err = read_list(fence, asked, RF_DENY, value.deny_until, &its->list[RF_DENY],
				error);
	if (!err)
		err = read_limits(fence, asked, rules->prefix_class[value.prefix_class], shown,
				  error);
	judge_shown(shown);
	return err;
}

static int read_steadily(const struct rf_fence *fence, const struct rf_prefix *asked,
			 struct rf_shown *shown, struct rf_error *error)
{
	int err = -EAGAIN;

	for (int i = 0; i < READS_MAX; i++) {
		const uint64_t generation = rf_fence_standing(fence).in_force;

		rf_bans_free(&shown->bans);
		*shown = (struct rf_shown){};
		err = rf_fence_bans(fence, &shown->bans, error);
		if (!err)
			err = read_case(fence, asked, shown, error);
		if (rf_fence_standing(fence).in_force == generation)
			return err;
	}
	return err ? err
		   : rf_error_failed(error, -EAGAIN, "the rules change all the time; try again");
}

int rf_shown_read(const struct rf_fence *fence, const struct rf_prefix *source,
		  struct rf_shown **shown, struct rf_error *error)
{
	*shown = calloc(1, sizeof(**shown));
	if (!*shown)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	return read_steadily(fence, source, *shown, error);
}

static uint64_t more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void rf_shown_since(struct rf_shown *shown, const struct rf_shown *before, uint64_t ms)
{
	struct rf_case *its = &shown->its;

	its->recent_ms = ms;
	for (int i = 0; i < its->answers; i++) {
		struct rf_limit_answer *answer = &its->answer[i];

		for (int j = 0; j < before->its.answers; j++) {
			const struct rf_limit_answer *was = &before->its.answer[j];

			if (!strcmp(was->limit->name, answer->limit->name))
				answer->recent = (struct rf_charged){
					more(answer->all.passed, was->all.passed),
					more(answer->all.dropped, was->all.dropped)};
		}
	}
	judge_shown(shown);
}

void rf_shown_free(struct rf_shown *shown)
{
	if (shown)
		rf_bans_free(&shown->bans);
	free(shown);
}

/* A limit with a ban has no such counter: its word holds the ban's expiry. */
uint64_t rf_shown_would_drop(const struct rf_shown_limit *one)
{
	return one->limit->ban_ns ? 0 : one->state.would_drop;
}
