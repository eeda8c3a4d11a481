// SPDX-License-Identifier: GPL-2.0
/* status, show */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "fence.h"
#include "out.h"
#include "ringfence/limiter.h"
#include "rules.h"
#include "view.h"

/* ---- status ---- */

static json_t *status_json(const struct rf_fence *fence, const struct rf_bank *rules)
{
	int limits = rf_rules_count(rules);

	return json_pack("{s:o, s:s, s:i, s:i, s:i, s:o, s:i, s:b}", "fence",
			 rf_json_text(fence->name), "version", RINGFENCE_VERSION, "abi",
			 RF_ABI_VERSION, "program_id", (int)fence->program_id, "sources",
			 (int)fence->sources, "interfaces", rf_view_interfaces(fence), "limits",
			 limits, "armed", limits > 0);
}

static void print_limit(const struct rf_limit *limit)
{
	char rate[RF_RATE_TEXT_SIZE], burst[RF_COUNT_TEXT_SIZE];

	rf_format_limit_rate(limit, rate);
	rf_format_count(limit->burst, burst);
	rf_out("limit %s: at most %s of every source%s%s%s\n", limit->name, rate,
	       rf_has_burst(limit) ? ", with a burst of " : "", rf_has_burst(limit) ? burst : "",
	       limit->flags & RF_SHADOW ? " (shadow: only counts what it would drop)" : "");
}

static void print_status(const struct rf_fence *fence, const struct rf_bank *rules)
{
	bool generic = false;

	rf_out("fence %s: program id %u, map ABI %d, room for %u sources of each family\n",
	       fence->name, fence->program_id, RF_ABI_VERSION, fence->sources);
	for (int i = 0; i < fence->interfaces; i++) {
		const struct rf_interface *interface = &fence->interface[i];

		rf_out("  %s: %s mode, attached by %s\n", interface->name,
		       rf_mode_name(interface->mode), rf_view_attached_by(interface));
		generic = generic || interface->mode == RF_GENERIC;
	}
	if (generic)
		rf_out("  generic mode counts what the kernel has merged (GRO) as one packet, and "
		       "is "
		       "slow\n");
	if (!rf_rules_count(rules))
		rf_out("no limit is set: it observes, and drops nothing; "
		       "'ringfence limit add all rate 20k/1s' arms it\n");
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (rules->policy[slot].id)
			print_limit(&rules->limit[slot]);
}

int rf_cmd_status(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_bank rules;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		rf_fence_rules(&fence, &rules);
	if (!err && options->json)
		err = rf_out_json(status_json(&fence, &rules), false, error);
	else if (!err)
		print_status(&fence, &rules);
	rf_fence_close(&fence);
	return err;
}

/* ---- show ---- */

/* One source under one limit. */
struct view {
	const struct rf_limit *limit;
	bool newcomer;
	struct rf_source state;
	uint64_t used;		 /* in the limit's unit, as the cells are */
	int cells;		 /* 0: the algorithm has none */
	uint64_t cell[RF_CELLS]; /* the oldest first, the present one last */
	int64_t passes_again_ms; /* a frame of RF_FRAME_BYTES; -1: never */
};

static int count_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING && limit->algorithm != RF_FIXED)
		return 0;
	return limit->cells < RF_CELLS ? limit->cells : RF_CELLS;
}

static int read_view(const struct rf_fence *fence, const struct rf_bank *rules, int slot,
		     struct rf_address *source, struct view *view, struct rf_error *error)
{
	const struct rf_policy *policy = &rules->policy[slot];
	uint64_t time, wait;
	uint32_t now;
	int err;

	*view = (struct view){.limit = &rules->limit[slot]};
	view->cells = count_cells(view->limit);
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

static json_t *view_json(const struct view *view)
{
	json_t *cells = json_array(), *again = json_null();

	for (int i = 0; i < view->cells; i++)
		json_array_append_new(cells, json_integer(view->cell[i]));
	if (view->passes_again_ms >= 0)
		again = json_integer(view->passes_again_ms);
	return json_pack("{s:s, s:I, s:I, s:o, s:I, s:s, s:o, s:I, s:I, s:I, s:o, s:b, s:b}",
			 "limit", view->limit->name, "used", (json_int_t)view->used, "rate",
			 (json_int_t)view->limit->rate, "burst",
			 rf_has_burst(view->limit) ? json_integer(view->limit->burst) : json_null(),
			 "window_ms", (json_int_t)(view->limit->window_ns / RF_NS_PER_MS), "unit",
			 rf_unit_name(view->limit->unit), "cells", cells, "passed",
			 (json_int_t)view->state.passed, "dropped", (json_int_t)view->state.dropped,
			 "would_drop", (json_int_t)view->state.would_drop, "passes_again_ms", again,
			 "newcomer", view->newcomer, "shadow",
			 (view->limit->flags & RF_SHADOW) != 0);
}

static void print_passes_again(const struct view *view)
{
	char wait[RF_DURATION_TEXT_SIZE], frame[32] = "";

	if (view->limit->unit == RF_BYTES) /* a shorter one may pass earlier */
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

static void print_view(const struct view *view)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(view->limit, rate);
	if (view->newcomer) {
		rf_out("limit %s (%s): a newcomer, it has no window\n", view->limit->name, rate);
		return;
	}
	rf_out("limit %s (%s)\n", view->limit->name, rate);
	print_used(view);
	print_cells(view);
	rf_out("  passed        %" PRIu64 "\n", (uint64_t)view->state.passed);
	rf_out("  dropped       %" PRIu64 "\n", (uint64_t)view->state.dropped);
	if (view->limit->flags & RF_SHADOW || view->state.would_drop)
		rf_out("  would drop    %" PRIu64 "\n", (uint64_t)view->state.would_drop);
	print_passes_again(view);
}

static int show_source(const struct rf_fence *fence, const struct rf_address *asked, bool json,
		       struct rf_error *error)
{
	const struct rf_limit whole = {.per4 = 32, .per6 = 128};
	char text[RF_SOURCE_TEXT_SIZE];
	json_t *limits = json_array();
	struct rf_bank rules;
	int err = 0;

	rf_fence_rules(fence, &rules);
	rf_format_source(asked, &whole, text);
	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		struct rf_address source = *asked;
		struct view view;

		if (!rules.policy[slot].id)
			continue;
		err = read_view(fence, &rules, slot, &source, &view, error);
		if (err)
			break;
		rf_format_source(&source, view.limit, text);
		json_array_append_new(limits, view_json(&view));
		if (!json) {
			rf_out("source %s, ", text);
			print_view(&view);
		}
	}
	if (!err && json)
		err = rf_out_json(json_pack("{s:s, s:O}", "source", text, "limits", limits), false,
				  error);
	else if (!err && !json_array_size(limits))
		rf_out("source %s: no limit is set\n", text);
	json_decref(limits);
	return err;
}

int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *text = rf_words_next(words);
	struct rf_address source;
	int err;

	if (!text)
		return rf_error_usage(error, "the address is missing; write show ADDRESS");
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
