// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/grammar.h"
#include "rules/policy.h"
#include "snapshot/shown.h"

#define SHORTEST_BYTES 60 /* a frame, as the driver has it */
#define READS_MAX 5	  /* of rules that change meanwhile */

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
		rf_limit_source(one->limit, source).length < (source->version == 4 ? 32U : 128U);
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
	for (int i = 0; i < one->cells; i++)
		one->cell[i] = (uint64_t)rf_window_cell(&one->state.window, policy,
							now - (one->cells - 1 - i))
			       << policy->unit_shift;
	one->shorter_pass =
		one->limit->unit == RF_BYTES &&
		rf_would_pass(&one->state.window, &here, time, rf_cost(policy, SHORTEST_BYTES));
	wait = rf_window_passes_again(&one->state.window, &here, time,
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

/* What a list says of the source. */
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

static struct rf_answer answer_of(const struct rf_fence *fence, const struct rf_policy *policy,
				  const struct rf_address *source, const struct rf_shown_limit *one)
{
	return (struct rf_answer){
		.limit = one->limit,
		.is_new = one->newcomer && !rf_fence_is_known(fence, policy, source),
		.wait_ms = one->passes_again_ms,
		.shorter_pass = one->passes_again_ms && one->shorter_pass,
		.banned_ns = one->banned_ns,
		.network = one->is_shared && one->limit->rate ? one->source : NULL,
		.all = {one->state.passed, one->state.dropped},
	};
}

/* `slots`: the limits that may apply to packets of the source, by its address alone. */
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

static void judge(struct rf_shown *shown)
{
	rf_decide(&shown->its, &shown->decision);
	for (int i = 0; i < shown->its.answers; i++)
		shown->limit[i].wait_ms = rf_verdict_wait_ms(&shown->its, &shown->its.answer[i]);
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
	its->is_unconfirmed = standing.state == RF_FELL_OPEN;
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
	judge(shown);
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
		struct rf_answer *answer = &its->answer[i];

		for (int j = 0; j < before->its.answers; j++) {
			const struct rf_answer *was = &before->its.answer[j];

			if (!strcmp(was->limit->name, answer->limit->name))
				answer->recent = (struct rf_charged){
					more(answer->all.passed, was->all.passed),
					more(answer->all.dropped, was->all.dropped)};
		}
	}
	judge(shown);
}

void rf_shown_free(struct rf_shown *shown)
{
	if (shown)
		rf_bans_free(&shown->bans);
	free(shown);
}

/* A limit with a ban has no such counter: its word holds the end of the ban. */
uint64_t rf_shown_would_drop(const struct rf_shown_limit *one)
{
	return one->limit->ban_ns ? 0 : one->state.would_drop;
}
