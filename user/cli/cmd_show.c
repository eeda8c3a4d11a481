// SPDX-License-Identifier: GPL-2.0
/* show */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

/* One source under one limit. */
struct view {
	const struct rf_limit *limit;
	bool newcomer;
	struct rf_source state;
	uint64_t used;		 /* in the limit's unit, as the cells are */
	int cells;		 /* 0: the algorithm has none */
	uint64_t cell[RF_CELLS]; /* the oldest first, the present one last */
	int64_t passes_again_ms; /* a frame of RF_FRAME_BYTES; -1: never */
	uint64_t banned_ns;	 /* remaining time; 0: not banned */
};

static int count_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING && limit->algorithm != RF_FIXED)
		return 0;
	return limit->cells < RF_CELLS ? limit->cells : RF_CELLS;
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
	uint64_t time, wait;
	uint32_t now;
	int err;

	*view = (struct view){.limit = &bans->rules.limit[slot]};
	view->cells = count_cells(view->limit);
	view->banned_ns = banned_ns(fence, bans, source, policy);
	err = rf_fence_source(fence, policy, source, &view->state, error);
	view->newcomer = err == -ENOENT;
	if (err)
		return view->newcomer ? 0 : err;
	time = rf_fence_time(fence, policy);
	now = rf_epoch(policy, time);
	view->used = rf_used(&view->state.window, policy, time) << policy->unit_shift;
	for (int i = 0; i < view->cells; i++)
		view->cell[i] = (uint64_t)rf_window_cell(&view->state.window, policy,
							 now - (view->cells - 1 - i))
				<< policy->unit_shift;
	wait = rf_window_passes_again(&view->state.window, policy, time,
				      rf_cost(policy, RF_FRAME_BYTES));
	view->passes_again_ms =
		wait == ~0ULL
			? -1
			: (int64_t)((rf_fence_duration_ns(fence, policy, wait) + RF_NS_PER_MS - 1) /
				    RF_NS_PER_MS);
	return 0;
}

/* A limit with a ban has no such counter: its word holds the end of the ban. */
static uint64_t would_drop(const struct view *view)
{
	return view->limit->ban_ns ? 0 : view->state.would_drop;
}

/* `source` is masked by the limit's prefix length. */
static json_t *view_json(const struct view *view, const char *source)
{
	json_t *cells = json_array(), *again = json_null();

	for (int i = 0; i < view->cells; i++)
		json_array_append_new(cells, json_integer(view->cell[i]));
	if (view->passes_again_ms >= 0)
		again = json_integer(view->passes_again_ms);
	return json_pack(
		"{s:s, s:I, s:I, s:o, s:I, s:s, s:o, s:I, s:I, s:I, s:o, s:b, s:b, s:I, s:s}",
		"limit", view->limit->name, "used", (json_int_t)view->used, "rate",
		(json_int_t)view->limit->rate, "burst",
		rf_has_burst(view->limit) ? json_integer(view->limit->burst) : json_null(),
		"window_ms", (json_int_t)(view->limit->window_ns / RF_NS_PER_MS), "unit",
		rf_unit_name(view->limit->unit), "cells", cells, "passed",
		(json_int_t)view->state.passed, "dropped", (json_int_t)view->state.dropped,
		"would_drop", (json_int_t)would_drop(view), "passes_again_ms", again, "newcomer",
		view->newcomer, "shadow", (view->limit->flags & RF_SHADOW) != 0, "banned_ms",
		(json_int_t)(view->banned_ns / RF_NS_PER_MS), "source", source);
}

static void print_passes_again(const struct view *view)
{
	char wait[RF_DURATION_TEXT_SIZE], frame[32] = "";

	if (view->limit->unit == RF_BYTES) /* a shorter frame may pass earlier */
		snprintf(frame, sizeof(frame), ", a frame of %d bytes", RF_FRAME_BYTES);
	if (view->passes_again_ms < 0) {
		rf_out("  passes again  never%s\n", frame);
		return;
	}
	rf_format_ms(view->passes_again_ms, wait);
	rf_out("  passes again  %s%s%s\n", view->passes_again_ms ? "in " : "",
	       view->passes_again_ms ? wait : "now", frame);
}

static void print_used(const struct view *view)
{
	const struct rf_limit *limit = view->limit;
	bool bucket = rf_has_burst(limit);

	rf_out("  used          %" PRIu64 " of %s%" PRIu64 "%s\n", view->used,
	       bucket ? "burst " : "", (uint64_t)(bucket ? limit->burst : limit->rate),
	       limit->unit == RF_BYTES ? " bytes" : "");
}

static void print_cells(const struct view *view)
{
	if (!view->cells)
		return;
	rf_out("  cells        ");
	for (int i = 0; i < view->cells; i++)
		rf_out(" %" PRIu64, view->cell[i]);
	rf_out("  (oldest first)\n");
}

static void print_ban(const struct view *view)
{
	char ban[RF_DURATION_TEXT_SIZE];

	if (!view->banned_ns)
		return;
	rf_format_left(view->banned_ns, ban);
	rf_out("  banned        for another %s%s\n", ban,
	       view->limit->flags & RF_BAN_ALL ? ", all its packets" : "");
}

static void print_view(const struct view *view)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(view->limit, rate);
	if (view->newcomer) {
		rf_out("limit %s (%s): a newcomer, without a window\n", view->limit->name, rate);
		print_ban(view);
		return;
	}
	rf_out("limit %s (%s)\n", view->limit->name, rate);
	print_used(view);
	print_cells(view);
	rf_out("  passed        %" PRIu64 "\n", (uint64_t)view->state.passed);
	rf_out("  dropped       %" PRIu64 "\n", (uint64_t)view->state.dropped);
	if (view->limit->flags & RF_SHADOW || would_drop(view))
		rf_out("  would drop    %" PRIu64 "\n", would_drop(view));
	print_ban(view);
	if (!view->banned_ns)
		print_passes_again(view);
}

/* ---- lists ---- */

/* The entry of an address in the tries. */
struct listing {
	struct rf_prefix_value value;
	uint64_t now; /* jiffies */
};

static bool is_listed(const struct listing *listing, enum rf_list list)
{
	return (list == RF_ALLOW ? listing->value.allow_until : listing->value.deny_until) >
	       listing->now;
}

static json_t *listed_json(const struct rf_fence *fence, const struct listing *listing,
			   enum rf_list list)
{
	const uint64_t until =
		list == RF_ALLOW ? listing->value.allow_until : listing->value.deny_until;

	if (!is_listed(listing, list))
		return json_null();
	return json_pack("{s:o}", "left_ms",
			 until == RF_FOREVER
				 ? json_null()
				 : json_integer(rf_fence_left_ns(fence, listing->now, until) /
						RF_NS_PER_MS));
}

static void print_listed(const struct rf_fence *fence, const struct listing *listing,
			 enum rf_list list, const char *source)
{
	const uint64_t until =
		list == RF_ALLOW ? listing->value.allow_until : listing->value.deny_until;
	const char *what = list == RF_ALLOW ? "on the allow list" : "on the deny list";
	char left[RF_DURATION_TEXT_SIZE];

	if (!is_listed(listing, list))
		return;
	rf_format_left(rf_fence_left_ns(fence, listing->now, until), left);
	rf_out("source %s: %s%s%s%s\n", source, what, until == RF_FOREVER ? "" : ", for another ",
	       until == RF_FOREVER ? "" : left,
	       list == RF_DENY && is_listed(listing, RF_ALLOW) ? ", which the allow list overrules"
							       : "");
}

/* ---- show ---- */

static int read_listing(const struct rf_fence *fence, const struct rf_address *source,
			struct listing *listing, struct rf_error *error)
{
	int err = rf_fence_prefix_value(fence, source, &listing->value, error);

	if (rf_fence_tick_ns(fence))
		listing->now = rf_fence_jiffies(fence);
	return err;
}

static int show_limits(const struct rf_fence *fence, const struct rf_address *asked, uint32_t slots,
		       bool json, json_t *limits, struct rf_error *error)
{
	struct rf_bans bans;
	int err = rf_fence_bans(fence, &bans, error);

	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		struct rf_address source = *asked;
		char text[RF_PREFIX_TEXT_SIZE];
		struct view view;

		if (!bans.rules.policy[slot].id || !(slots >> slot & 1))
			continue;
		err = read_view(fence, &bans, slot, &source, &view, error);
		if (err)
			break;
		rf_format_source(&source, view.limit, text);
		json_array_append_new(limits, view_json(&view, text));
		if (!json) {
			rf_out("source %s, ", text);
			print_view(&view);
		}
	}
	rf_bans_free(&bans);
	return err;
}

/* The limits that may apply to packets of the source, by its address alone. */
static int read_slots(const struct rf_fence *fence, const struct listing *listing, uint32_t *slots,
		      struct rf_error *error)
{
	struct rf_bank rules;
	int err = rf_fence_bank(fence, &rules, error);

	*slots = err ? 0 : rules.prefix_class[listing->value.prefix_class];
	return err;
}

static int show_source(const struct rf_fence *fence, const struct rf_address *asked, bool json,
		       struct rf_error *error)
{
	const struct rf_limit whole = {.per4 = 32, .per6 = 128};
	char text[RF_PREFIX_TEXT_SIZE];
	json_t *limits = json_array();
	struct listing listing = {};
	uint32_t slots = 0;
	int err = read_listing(fence, asked, &listing, error);

	if (!err)
		err = read_slots(fence, &listing, &slots, error);
	rf_format_source(asked, &whole, text);
	if (!err && !json) {
		print_listed(fence, &listing, RF_ALLOW, text);
		print_listed(fence, &listing, RF_DENY, text);
	}
	if (!err)
		err = show_limits(fence, asked, slots, json, limits, error);
	if (!err && json)
		err = rf_out_json(json_pack("{s:s, s:o, s:o, s:O}", "source", text, "allowed",
					    listed_json(fence, &listing, RF_ALLOW), "denied",
					    listed_json(fence, &listing, RF_DENY), "limits",
					    limits),
				  false, error);
	else if (!err && !json_array_size(limits))
		rf_out("source %s: no limit applies\n", text);
	json_decref(limits);
	return err;
}

int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *text = rf_take_operand(RF_CMD_SHOW, words, error);
	struct rf_address source;
	int err;

	if (!text)
		return -EINVAL;
	err = rf_parse_address(text, &source, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = show_source(&fence, &source, options->json, error);
	rf_fence_close(&fence);
	return err;
}
