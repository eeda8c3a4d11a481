// SPDX-License-Identifier: GPL-2.0
/* diff */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/limit_change.h"
#include "cli/list_change.h"
#include "cli/out.h"
#include "cli/rules_file.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/policy.h"

#define SLACK_NS (5 * RF_NS_PER_S) /* times on a list are saved in whole seconds */

/* The rules in force, and those that a file would put in force. */
struct diff {
	struct rf_ruleset before, after;
	struct rf_list_change list[RF_LIST_COUNT];
	struct rf_list_clock clock;
	bool all; /* print every prefix */
	bool differs;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * RF_NS_PER_S + now.tv_nsec;
}

/* ---- limits ---- */

/* The slots of the limits that both rules have, in the order of `bank`. */
static int common_slots(const struct rf_bank *bank, const struct rf_bank *other,
			int slots[RF_LIMITS_MAX])
{
	int count = rf_bank_slots(bank, slots), common = 0;

	for (int i = 0; i < count; i++)
		if (rf_bank_find(other, bank->limit[slots[i]].name) >= 0)
			slots[common++] = slots[i];
	return common;
}

/* A limit that stays keeps its slot. */
static bool has_other_order(const struct diff *diff)
{
	int before[RF_LIMITS_MAX], after[RF_LIMITS_MAX];
	const int count = common_slots(&diff->before.bank, &diff->after.bank, before);

	common_slots(&diff->after.bank, &diff->before.bank, after);
	return memcmp(before, after, count * sizeof(*before)) != 0;
}

static void print_limit(const char *sign, const struct rf_ruleset *rules, int slot)
{
	char *text = rf_ruleset_format_limit(rules, slot);

	rf_out("%s %s\n", sign, text ? text : "out of memory");
	free(text);
}

/* What becomes of a limit: the sign of its line, '=' where it stays as it is. */
static char judge_limit(const struct diff *diff, const struct rf_ruleset *rules, int slot,
			struct rf_limit_parts parts[2])
{
	const struct rf_ruleset *other = rules == &diff->after ? &diff->before : &diff->after;

	if (rf_bank_find(&other->bank, rules->bank.limit[slot].name) < 0)
		return rules == &diff->after ? '+' : '-';
	rf_limit_parts_read(&diff->before, slot, &parts[0]);
	rf_limit_parts_read(&diff->after, slot, &parts[1]);
	return rf_limit_parts_differ(&parts[0], &parts[1]) ? '~' : '=';
}

/* Called for each limit that the rules would delete, add or change, in this order. */
typedef void (*visit_limit)(const struct rf_ruleset *rules, int slot, char sign,
			    const struct rf_limit_parts parts[2], void *context);

static void each_limit(const struct diff *diff, visit_limit visit, void *context)
{
	for (int side = 0; side < 2; side++) {
		const struct rf_ruleset *rules = side ? &diff->after : &diff->before;
		int slots[RF_LIMITS_MAX];
		const int count = rf_bank_slots(&rules->bank, slots);

		for (int i = 0; i < count; i++) {
			struct rf_limit_parts parts[2];
			const char sign = judge_limit(diff, rules, slots[i], parts);

			if (sign != '=' && (side || sign == '-'))
				visit(rules, slots[i], sign, parts, context);
		}
	}
}

static void note_difference(const struct rf_ruleset *rules, int slot, char sign,
			    const struct rf_limit_parts parts[2], void *context)
{
	bool *differs = context;

	(void)rules, (void)slot, (void)sign, (void)parts;
	*differs = true;
}

static void print_difference(const struct rf_ruleset *rules, int slot, char sign,
			     const struct rf_limit_parts parts[2], void *context)
{
	(void)context;
	if (sign == '~') {
		rf_out_text("~ ");
		rf_limit_parts_print_change(rules->bank.limit[slot].name, &parts[0], &parts[1]);
	} else {
		print_limit(sign == '+' ? "+" : "-", rules, slot);
	}
}

static void print_order(const struct diff *diff)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&diff->after.bank, slots);

	rf_out_text("~ limits in another order: ");
	for (int i = 0; i < count; i++)
		rf_out_text("%s%s", i ? ", " : "", diff->after.bank.limit[slots[i]].name);
	rf_out_text("\n");
}

/* ---- newcomers ---- */

/* The text of the newcomers before and after; the caller frees both. False: no memory. */
static bool format_newcomers(const struct diff *diff, char *text[2])
{
	text[0] = rf_ruleset_format_newcomers(&diff->before);
	text[1] = rf_ruleset_format_newcomers(&diff->after);
	return text[0] && text[1];
}

static bool newcomers_differ(const struct diff *diff)
{
	const struct rf_newcomers *before = &diff->before.bank.newcomers;
	const struct rf_newcomers *after = &diff->after.bank.newcomers;

	if (before->then != after->then)
		return true;
	return before->then != RF_NEWCOMERS_OFF &&
	       (before->rate != after->rate || before->window_ns != after->window_ns);
}

static bool hosts_differ(const struct diff *diff)
{
	return diff->before.bank.hosts != diff->after.bank.hosts;
}

static json_t *hosts_json(const struct diff *diff)
{
	if (!hosts_differ(diff))
		return json_null();
	return json_pack("{s:I, s:I}", "before", (json_int_t)diff->before.bank.hosts, "after",
			 (json_int_t)diff->after.bank.hosts);
}

/* ---- all of it ---- */

static void print_text(const struct diff *diff)
{
	char *newcomers[2];

	each_limit(diff, print_difference, NULL);
	if (has_other_order(diff))
		print_order(diff);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		rf_list_change_print(&diff->list[list], diff->all);
	if (hosts_differ(diff))
		rf_out_text("~ fleet hosts %" PRIu32 " → %" PRIu32 "\n", diff->before.bank.hosts,
			    diff->after.bank.hosts);
	if (newcomers_differ(diff) && format_newcomers(diff, newcomers)) {
		rf_out_text("~ %s → %s\n", newcomers[0], newcomers[1]);
		free(newcomers[0]);
		free(newcomers[1]);
	}
}

static void add_json(const struct rf_ruleset *rules, int slot, char sign,
		     const struct rf_limit_parts parts[2], void *context)
{
	const char *name = rules->bank.limit[slot].name;
	json_t *limit;
	char *text;

	if (sign == '~') {
		limit = rf_limit_parts_json(name, &parts[0], &parts[1]);
		json_object_set_new(limit, "change", json_string("changed"));
	} else {
		text = rf_ruleset_format_limit(rules, slot);
		limit = json_pack("{s:s, s:s, s:s?}", "limit", name, "change",
				  sign == '+' ? "added" : "deleted", "command", text);
		free(text);
	}
	json_array_append_new(context, limit);
}

static json_t *order_json(const struct diff *diff)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&diff->after.bank, slots);
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_string(diff->after.bank.limit[slots[i]].name));
	return list;
}

static json_t *newcomers_json(const struct diff *diff)
{
	char *text[2] = {};
	json_t *json = json_null();

	if (newcomers_differ(diff) && format_newcomers(diff, text))
		json = json_pack("{s:s, s:s}", "before", text[0] + strlen("newcomers "), "after",
				 text[1] + strlen("newcomers "));
	free(text[0]);
	free(text[1]);
	return json;
}

static json_t *diff_json(const struct diff *diff)
{
	json_t *limits = json_array();

	each_limit(diff, add_json, limits);
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "differs", diff->differs, "limits",
			 limits, "order", has_other_order(diff) ? order_json(diff) : json_null(),
			 "allow", rf_list_change_json(&diff->list[RF_ALLOW]), "deny",
			 rf_list_change_json(&diff->list[RF_DENY]), "newcomers",
			 newcomers_json(diff), "fleet_hosts", hosts_json(diff));
}

static int compare(struct diff *diff, struct rf_error *error)
{
	struct rf_owners owners = diff->before.owners;
	int err = rf_ruleset_join_owners(&diff->after, &owners, error);

	for (int list = 0; list < RF_LIST_COUNT && !err; list++) {
		err = rf_list_change_find(&diff->before, &diff->after, list, &diff->clock,
					  &diff->list[list], error);
		diff->differs |= diff->list[list].count != 0;
	}
	each_limit(diff, note_difference, &diff->differs);
	diff->differs |= has_other_order(diff) || newcomers_differ(diff) || hosts_differ(diff);
	return err;
}

/* ---- reading ---- */

static int read_before(const struct rf_fence *fence, struct diff *diff, struct rf_error *error)
{
	const int err = rf_fence_ruleset(fence, &diff->before, error);

	if (err)
		return err;
	diff->clock.tick_ns = rf_fence_tick_ns(fence);
	if (diff->clock.tick_ns)
		diff->clock.now = rf_fence_jiffies(fence);
	else
		diff->clock.tick_ns = RF_NOMINAL_TICK_NS;
	rf_ruleset_expire(&diff->before, diff->clock.now);
	if (rf_fence_standing(fence).state == RF_ON_TRIAL)
		rf_out_note("the rules in force are on trial; the file is compared with them");
	return 0;
}

/* `begun_ns`: since then, `save` at the other end of a pipe may have read the fence. */
static int read_after(const struct rf_rulefile *file, uint64_t begun_ns, struct diff *diff,
		      struct rf_error *error)
{
	struct rf_rulefile_place place = {
		.present = &diff->before.bank,
		.now = diff->clock.now,
		.tick_ns = diff->clock.tick_ns,
		.next_id = UINT32_MAX / 2, /* only compared with the present ids */
	};

	diff->clock.slack_ns = now_ns() - begun_ns + SLACK_NS;
	return rf_rulefile_rules(file, &place, &diff->after, error);
}

static int run_diff(const struct rf_options *options, const char *path, struct diff *diff,
		    struct rf_error *error)
{
	const uint64_t begun_ns = now_ns();
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_rulefile file = {};
	int err = rf_rules_read(path, &file, error);

	if (!err)
		err = rf_rules_check(path, &file, RF_RULES_REFUSED, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = read_before(&fence, diff, error);
	if (!err)
		err = read_after(&file, begun_ns, diff, error);
	if (!err)
		err = compare(diff, error);
	if (!err && options->json)
		err = rf_out_json(diff_json(diff), false, error);
	else if (!err)
		print_text(diff);
	rf_fence_close(&fence);
	rf_rulefile_free(&file);
	return err;
}

int rf_cmd_diff(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_DIFF, words, error);
	struct diff diff = {};
	int err = path ? rf_parse_diff(words, &diff.all, error) : -EINVAL;

	if (!err)
		err = run_diff(options, path, &diff, error);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		rf_list_change_free(&diff.list[list]);
	rf_ruleset_free(&diff.before);
	rf_ruleset_free(&diff.after);
	error->usage = true; /* 1 is the exit status of a difference */
	return err ? err : diff.differs;
}
