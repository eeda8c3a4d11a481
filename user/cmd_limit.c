// SPDX-License-Identifier: GPL-2.0
/* limit add, limit set, limit del, limit list */
#include <errno.h>
#include <inttypes.h>

#include "command.h"
#include "fence.h"
#include "out.h"
#include "rules.h"

#define LIMITS_IN_FORCE_MAX 1 /* that the data path charges so far */

static int check_addable(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_rules_find(rules, name) >= 0)
		return rf_error_failed(
			error, -EEXIST,
			"limit '%s': there is one already; to replace it, use 'limit set %s …'",
			name, name);
	if (rf_rules_count(rules) < LIMITS_IN_FORCE_MAX)
		return 0;
	return rf_error_failed(
		error, -ENOSPC,
		"limit '%s': this version has one limit a fence, and '%s' is there; use "
		"'limit set' or 'limit del'",
		name, rules->limit[0].name);
}

static int check_settable(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_rules_find(rules, name) >= 0)
		return 0;
	return rf_error_failed(
		error, -ENOENT,
		"limit '%s': there is none; 'limit list' shows those there are, 'limit add' "
		"makes one",
		name);
}

static int put_limit(struct rf_fence *fence, const struct rf_limit *limit, bool add,
		     struct rf_error *error)
{
	uint32_t next_id = fence->config->next_limit_id ? fence->config->next_limit_id : 1;
	struct rf_bank rules;
	int slot, err;

	rf_fence_rules(fence, &rules);
	err = add ? check_addable(&rules, limit->name, error)
		  : check_settable(&rules, limit->name, error);
	if (err)
		return err;
	slot = add ? rf_rules_free_slot(&rules) : rf_rules_find(&rules, limit->name);
	if (add)
		err = rf_fence_clear_limit_counters(fence, slot, error);
	if (!err)
		err = rf_fence_measure_clock(fence, error);
	if (!err)
		err = rf_fence_make_leases(fence, error);
	if (err)
		return err;
	rf_rules_put(&rules, slot, limit, fence->config->tick_ns, &next_id);
	/* First, so that an id is not given twice even if this process is killed here. */
	fence->config->next_limit_id = next_id;
	return rf_fence_commit(fence, &rules, error);
}

static int change_limit(const struct rf_options *options, struct rf_words *words, bool add,
			struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_limit limit;
	int err = rf_parse_limit(words, &limit, error);

	if (!err)
		err = rf_fence_lock(error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = put_limit(&fence, &limit, add, error);
	rf_fence_close(&fence);
	return err;
}

int rf_cmd_limit_add(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	return change_limit(options, words, true, error);
}

int rf_cmd_limit_set(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	return change_limit(options, words, false, error);
}

static int del_limit(struct rf_fence *fence, const char *name, struct rf_error *error)
{
	struct rf_bank rules;
	int err;

	rf_fence_rules(fence, &rules);
	err = check_settable(&rules, name, error);
	if (err)
		return err;
	rf_rules_del(&rules, rf_rules_find(&rules, name));
	return rf_fence_commit(fence, &rules, error);
}

int rf_cmd_limit_del(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *name = rf_words_next(words);
	int err;

	if (!name)
		return rf_error_usage(error, "the limit's name is missing; write limit del NAME");
	err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_lock(error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = del_limit(&fence, name, error);
	rf_fence_close(&fence);
	return err;
}

/* ---- list ---- */

static json_t *limit_json(const struct rf_limit *limit)
{
	return json_pack(
		"{s:s, s:I, s:I, s:s, s:s, s:s, s:i, s:o, s:i, s:i, s:b, s:b, s:b}", "name",
		limit->name, "rate", (json_int_t)limit->rate, "window_ms",
		(json_int_t)(limit->window_ns / RF_NS_PER_MS), "unit", rf_unit_name(limit->unit),
		"algorithm", rf_algorithm_name(limit->algorithm), "edge", rf_edge_name(limit->edge),
		"cells", limit->cells, "burst",
		rf_has_burst(limit) ? json_integer(limit->burst) : json_null(), "per", limit->per4,
		"per6", limit->per6, "shadow", (limit->flags & RF_SHADOW) != 0, "count_rejected",
		(limit->flags & RF_COUNT_REJECTED) != 0, "exact", (limit->flags & RF_EXACT) != 0);
}

static int print_limits(const struct rf_fence *fence, bool json, struct rf_error *error)
{
	json_t *list = json_array();
	struct rf_bank rules;

	rf_fence_rules(fence, &rules);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &rules.limit[slot];
		char text[RF_LIMIT_TEXT_SIZE];

		if (!rules.policy[slot].id)
			continue;
		json_array_append_new(list, limit_json(limit));
		rf_format_limit(limit, text);
		if (!json) /* in the grammar, so that it can be typed again */
			rf_out("limit add %s\n", text);
	}
	if (!json && !json_array_size(list))
		rf_out("no limits\n");
	if (json)
		return rf_out_json(json_pack("{s:o}", "limits", list), false, error);
	json_decref(list);
	return 0;
}

int rf_cmd_limit_list(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = print_limits(&fence, options->json, error);
	rf_fence_close(&fence);
	return err;
}
