// SPDX-License-Identifier: GPL-2.0
/* show */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/show.h"
#include "cli/show_network.h"
#include "cli/verdict.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"

#define SHORTEST_BYTES 60 /* a frame, as the driver has it */
#define READS_MAX 5	  /* of rules that change meanwhile */

/* One source under one limit. */
struct view {
	const struct rf_limit *limit;
	bool newcomer;			  /* it has no window */
	char source[RF_PREFIX_TEXT_SIZE]; /* masked as the limit groups */
	bool is_shared;			  /* with other sources */
	struct rf_source state;
	uint64_t used;		     /* in the limit's unit, as the cells are */
	int cells;		     /* 0: the algorithm has none */
	uint64_t cell[RF_CELLS_MAX]; /* the oldest first, the present one last */
	uint64_t room;		     /* what it may have on this host, where the fleet says so */
	bool shorter_pass;	     /* of bytes: the shortest frame has room now */
	int64_t passes_again_ms;     /* a frame of RF_FRAME_BYTES; or RF_WAIT_FOREVER */
	uint64_t banned_ns;	     /* remaining time; 0: not banned */
};

static int count_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING && limit->algorithm != RF_FIXED)
		return 0;
	return limit->cells < RF_CELLS_MAX ? limit->cells : RF_CELLS_MAX;
}

static uint64_t banned_ns(const struct rf_fence *fence, const struct rf_bans *bans,
			  const struct rf_address *source, const struct rf_policy *policy)
{
	struct rf_address masked = *source;
	const struct rf_ban_row *ban;

	for (int i = 0; i < 4; i++)
		masked.word[i] &= source->version == 6 ? policy->mask6[i] : policy->mask4;
	ban = rf_bans_find(bans, &masked, policy->id);
	return ban ? rf_fence_left_ns(fence, bans->now, ban->until) : 0;
}

static int read_view(const struct rf_fence *fence, const struct rf_bans *bans, int slot,
		     struct rf_address *source, struct view *view, struct rf_error *error)
{
	const struct rf_policy *policy = &bans->rules.policy[slot];
	struct rf_policy here = *policy; /* as the fleet lets this window have it */
	uint64_t time, wait;
	uint32_t now;
	int err;

	*view = (struct view){.limit = &bans->rules.limit[slot]};
	view->cells = count_cells(view->limit);
	view->banned_ns = banned_ns(fence, bans, source, policy);
	view->is_shared = source->version == 4 ? view->limit->per4 < 32 : view->limit->per6 < 128;
	err = rf_fence_source(fence, policy, source, &view->state, error);
	rf_format_source(source, view->limit, view->source);
	view->newcomer = err == -ENOENT;
	if (err)
		return view->newcomer ? 0 : err;
	time = rf_fence_time(fence, policy);
	here.limit = rf_fence_room(fence, policy, source, rf_fence_jiffies(fence));
	view->room = (uint64_t)here.limit << policy->unit_shift;
	now = rf_epoch(policy, time);
	view->used = rf_used(&view->state.window, policy, time) << policy->unit_shift;
	for (int i = 0; i < view->cells; i++)
		view->cell[i] = (uint64_t)rf_window_cell(&view->state.window, policy,
							 now - (view->cells - 1 - i))
				<< policy->unit_shift;
	view->shorter_pass =
		view->limit->unit == RF_BYTES &&
		rf_would_pass(&view->state.window, &here, time, rf_cost(policy, SHORTEST_BYTES));
	wait = rf_window_passes_again(&view->state.window, &here, time,
				      rf_cost(policy, RF_FRAME_BYTES));
	view->passes_again_ms =
		wait == ~0ULL
			? RF_WAIT_FOREVER
			: (int64_t)((rf_fence_duration_ns(fence, policy, wait) + RF_NS_PER_MS - 1) /
				    RF_NS_PER_MS);
	return 0;
}

/* A limit with a ban has no such counter: its word holds the end of the ban. */
static uint64_t would_drop(const struct view *view)
{
	return view->limit->ban_ns ? 0 : view->state.would_drop;
}

static json_t *wait_json(int64_t wait_ms)
{
	return wait_ms == RF_WAIT_FOREVER ? json_null() : json_integer(wait_ms);
}

static json_t *view_json(const struct view *view, const struct rf_case *its,
			 const struct rf_answer *answer)
{
	const bool is_shadow = view->limit->flags & RF_SHADOW;
	json_t *cells = json_array();

	for (int i = 0; i < view->cells; i++)
		json_array_append_new(cells, json_integer(view->cell[i]));
	return json_pack(
		"{s:s, s:I, s:I, s:o, s:I, s:s, s:o, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:I, s:s, "
		"s:o}",
		"limit", view->limit->name, "used", (json_int_t)view->used, "rate",
		(json_int_t)view->limit->rate, "burst",
		rf_has_burst(view->limit) ? json_integer(view->limit->burst) : json_null(),
		"window_ms", (json_int_t)(view->limit->window_ns / RF_NS_PER_MS), "unit",
		rf_unit_name(view->limit->unit), "cells", cells, "passed",
		(json_int_t)view->state.passed, "dropped", (json_int_t)view->state.dropped,
		"would_drop", (json_int_t)would_drop(view), "passes_again_ms",
		wait_json(rf_verdict_wait_ms(its, answer)), "would_pass_again_ms",
		is_shadow ? wait_json(view->passes_again_ms) : json_null(), "newcomer",
		view->newcomer, "shadow", is_shadow, "banned_ms",
		(json_int_t)(view->banned_ns / RF_NS_PER_MS), "source", view->source, "room",
		view->limit->flags & RF_FLEET && !view->newcomer ? json_integer(view->room)
								 : json_null());
}

/* When the limit alone lets a packet pass; of a shadow limit, when it would. */
static void print_passes_again(const struct view *view)
{
	const char *what = view->limit->flags & RF_SHADOW ? "would pass  " : "passes again";
	char wait[RF_DURATION_TEXT_SIZE], frame[32] = "";

	if (view->limit->unit == RF_BYTES) /* a shorter frame may pass earlier */
		snprintf(frame, sizeof(frame), ", a frame of %d bytes", RF_FRAME_BYTES);
	rf_format_ms(view->passes_again_ms, wait);
	rf_out_text("  %s  %s%s%s\n", what, view->passes_again_ms > 0 ? "in " : "",
		    view->passes_again_ms == RF_WAIT_FOREVER ? "never"
		    : view->passes_again_ms		     ? wait
							     : "now",
		    frame);
}

static void print_used(const struct view *view)
{
	const struct rf_limit *limit = view->limit;
	bool bucket = rf_has_burst(limit);

	rf_out_text("  used          %" PRIu64 " of %s%" PRIu64 "%s\n", view->used,
		    bucket ? "burst " : "", (uint64_t)(bucket ? limit->burst : limit->rate),
		    limit->unit == RF_BYTES ? " bytes" : "");
}

static void print_cells(const struct view *view)
{
	if (!view->cells)
		return;
	rf_out_text("  cells        ");
	for (int i = 0; i < view->cells; i++)
		rf_out_text(" %" PRIu64, view->cell[i]);
	rf_out_text(" (oldest first)\n");
}

static void print_ban(const struct view *view)
{
	char ban[RF_DURATION_TEXT_SIZE];

	if (!view->banned_ns)
		return;
	rf_format_left(view->banned_ns, ban);
	rf_out_text("  banned        for another %s%s\n", ban,
		    view->limit->flags & RF_BAN_ALL ? ", all its packets" : "");
}

static void print_view(const struct view *view, bool limits_decide)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(view->limit, rate);
	rf_out_text("source %s, limit %s (%s)%s\n", view->source, view->limit->name, rate,
		    view->newcomer ? ": a newcomer, without a window" : "");
	if (view->newcomer) {
		print_ban(view);
		return;
	}
	print_used(view);
	if (view->limit->flags & RF_FLEET)
		rf_out_text("  on this host  %" PRIu64 ", as the fleet has it\n", view->room);
	print_cells(view);
	rf_out_text("  passed        %" PRIu64 "\n", (uint64_t)view->state.passed);
	rf_out_text("  dropped       %" PRIu64 "\n", (uint64_t)view->state.dropped);
	if (view->limit->flags & RF_SHADOW || would_drop(view))
		rf_out_text("  would drop    %" PRIu64 "\n", would_drop(view));
	print_ban(view);
	if (limits_decide && !view->banned_ns)
		print_passes_again(view);
}

/* ---- lists ---- */

/* What a list says of the source. */
static int read_list(const struct rf_fence *fence, const struct rf_address *source,
		     enum rf_list list, uint64_t until, struct rf_list_answer *answer,
		     struct rf_error *error)
{
	const uint64_t now = rf_fence_tick_ns(fence) ? rf_fence_jiffies(fence) : 0;
	struct rf_prefix prefix;
	int err;

	if (until <= now)
		return 0;
	err = rf_fence_listed_prefix(fence, source, list, until, &prefix, error);
	if (err)
		return err == -ENOENT ? rf_error_failed(error, -EAGAIN,
							"the lists have just changed; try again")
				      : err;
	answer->is_listed = true;
	answer->left_ns = until == RF_FOREVER ? RF_FOREVER : rf_fence_left_ns(fence, now, until);
	rf_format_prefix(&prefix, answer->prefix);
	return 0;
}

static json_t *list_json(const struct rf_list_answer *answer)
{
	if (!answer->is_listed)
		return json_null();
	return json_pack("{s:o, s:s}", "left_ms",
			 answer->left_ns == RF_FOREVER
				 ? json_null()
				 : json_integer(answer->left_ns / RF_NS_PER_MS),
			 "prefix", answer->prefix);
}

/* ---- show ---- */

/* All that is known of a source. */
struct shown {
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_case its;
	struct view view[RF_LIMITS_MAX]; /* of its.answer */
};

static struct rf_answer answer_of(const struct rf_fence *fence, const struct rf_policy *policy,
				  const struct rf_address *source, const struct view *view)
{
	return (struct rf_answer){
		.limit = view->limit,
		.is_new = view->newcomer && !rf_fence_is_known(fence, policy, source),
		.wait_ms = view->passes_again_ms,
		.shorter_pass = view->passes_again_ms && view->shorter_pass,
		.banned_ns = view->banned_ns,
		.network = view->is_shared ? view->source : NULL,
	};
}

/* `slots`: the limits that may apply to packets of the source, by its address alone. */
static int read_limits(const struct rf_fence *fence, const struct rf_bans *bans,
		       const struct rf_address *asked, uint32_t slots, struct shown *shown,
		       struct rf_error *error)
{
	struct rf_case *its = &shown->its;
	int given[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&bans->rules, given);

	for (int i = 0; i < count; i++) {
		struct view *view = &shown->view[its->answers];
		struct rf_address source = *asked;
		const int slot = given[i];
		const struct rf_policy *policy = &bans->rules.policy[slot];
		int err;

		if (!(slots >> slot & 1))
			continue;
		err = read_view(fence, bans, slot, &source, view, error);
		if (err)
			return err;
		its->answer[its->answers++] = answer_of(fence, policy, asked, view);
	}
	return 0;
}

static int read_shown(const struct rf_fence *fence, const struct rf_bans *bans,
		      const struct rf_address *asked, struct shown *shown, struct rf_error *error)
{
	const struct rf_limit whole = {.per4 = 32, .per6 = 128};
	struct rf_case *its = &shown->its;
	struct rf_prefix_value value;
	int err = rf_fence_prefix_value(fence, asked, &value, error);

	if (err)
		return err;
	rf_format_source(asked, &whole, shown->source);
	its->source = shown->source;
	its->is_unconfirmed = rf_fence_standing(fence).state == RF_FELL_OPEN;
	its->then = bans->rules.newcomers.then;
	its->guard_wait_ms =
		(rf_fence_guard_wait_ns(fence, &bans->rules) + RF_NS_PER_MS - 1) / RF_NS_PER_MS;
	err = read_list(fence, asked, RF_ALLOW, value.allow_until, &its->list[RF_ALLOW], error);
	if (!err)
		err = read_list(fence, asked, RF_DENY, value.deny_until, &its->list[RF_DENY],
				error);
	if (!err)
		err = read_limits(fence, bans, asked, bans->rules.prefix_class[value.prefix_class],
				  shown, error);
	return err;
}

static json_t *shown_json(const struct shown *shown)
{
	const struct rf_case *its = &shown->its;
	json_t *limits = json_array(), *root = rf_verdict_json(its);

	for (int i = 0; i < its->answers; i++)
		json_array_append_new(limits, view_json(&shown->view[i], its, &its->answer[i]));
	return rf_view_merged(json_pack("{s:s, s:o, s:o, s:o}", "source", shown->source, "allowed",
					list_json(&its->list[RF_ALLOW]), "denied",
					list_json(&its->list[RF_DENY]), "limits", limits),
			      root);
}

static void print_shown(const struct shown *shown)
{
	const struct rf_case *its = &shown->its;
	const bool limits_decide = !rf_verdict_is_early(its);

	rf_verdict_print(its);
	for (int i = 0; i < its->answers; i++)
		print_view(&shown->view[i], limits_decide);
}

/* Reads all under one set of rules. */
static int read_steadily(const struct rf_fence *fence, const struct rf_address *asked,
			 struct rf_bans *bans, struct shown *shown, struct rf_error *error)
{
	int err = -EAGAIN;

	for (int i = 0; i < READS_MAX; i++) {
		const uint64_t generation = rf_fence_standing(fence).in_force;

		rf_bans_free(bans);
		*bans = (struct rf_bans){};
		*shown = (struct shown){};
		err = rf_fence_bans(fence, bans, error);
		if (!err)
			err = read_shown(fence, bans, asked, shown, error);
		if (rf_fence_standing(fence).in_force == generation)
			return err;
	}
	return err ? err
		   : rf_error_failed(error, -EAGAIN, "the rules change all the time; try again");
}

/* With `json` NULL, prints it. */
static int show_source(const struct rf_fence *fence, const struct rf_address *asked, json_t **json,
		       struct rf_error *error)
{
	struct shown *shown = calloc(1, sizeof(*shown));
	struct rf_bans bans = {};
	int err = shown ? read_steadily(fence, asked, &bans, shown, error)
			: rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));

	if (!err && json)
		*json = shown_json(shown);
	else if (!err)
		print_shown(shown);
	rf_bans_free(&bans);
	free(shown);
	return err;
}

int rf_show_json(const struct rf_fence *fence, const struct rf_address *source, json_t **json,
		 struct rf_error *error)
{
	return show_source(fence, source, json, error);
}

static int show_address(const struct rf_fence *fence, const struct rf_address *source,
			const struct rf_options *options, struct rf_error *error)
{
	json_t *json = NULL;
	const int err = show_source(fence, source, options->json ? &json : NULL, error);

	return !err && options->json ? rf_out_json(json, false, error) : err;
}

int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *text = rf_take_operand(RF_CMD_SHOW, words, error);
	const bool is_network = text && strchr(text, '/');
	struct rf_address source;
	struct rf_prefix prefix;
	uint64_t at_ns = 0;
	int err;

	if (!text)
		return -EINVAL;
	err = is_network ? rf_parse_prefix(text, &prefix, error)
			 : rf_parse_address(text, &source, error);
	if (!err)
		err = rf_parse_at(words, &at_ns, error);
	if (!err && at_ns && !is_network)
		err = rf_parse_prefix(text, &prefix, error);
	if (!err && at_ns)
		return rf_show_at(options, &prefix, at_ns, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = is_network ? rf_show_network(&fence, &prefix, options->json, error)
				 : show_address(&fence, &source, options, error);
	rf_fence_close(&fence);
	return err;
}
