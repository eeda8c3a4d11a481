// SPDX-License-Identifier: GPL-2.0
/* diff */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/policy.h"
#include "rules/ruleset.h"

struct list_clock {
	uint64_t now; /* jiffies */
	uint32_t tick_ns;
	uint64_t slack_ns; /* times that differ by less are equal */
};

enum entry_change {
	ENTRY_ADDED,
	ENTRY_DELETED,
	ENTRY_CHANGED,
	ENTRY_CHANGES,
};

struct list_row {
	struct rf_prefix prefix;
	unsigned int owner;
	enum entry_change change;
	uint64_t left_ns[2]; /* before and after; 0: not on the list; RF_FOREVER */
};

struct list_diff {
	enum rf_list list;
	const struct rf_owners *owners; /* of both rule sets */
	struct list_row *row;		/* sorted by prefix */
	size_t count;
	size_t count_of[ENTRY_CHANGES];
};

#define SHOWN 10 /* prefixes of a list */

static const char *const change_names[ENTRY_CHANGES] = {
	[ENTRY_ADDED] = "added",
	[ENTRY_DELETED] = "deleted",
	[ENTRY_CHANGED] = "changed",
};

/* ---- lists: comparing ---- */

static uint64_t left_ns(const struct rf_listed *listed, enum rf_list list, unsigned int owner,
			const struct list_clock *clock)
{
	const uint64_t until = listed ? rf_listed_until_by(listed, list, owner) : 0;

	if (!until || until == RF_FOREVER)
		return until;
	return until > clock->now ? (until - clock->now) * clock->tick_ns : 1;
}

/* An entry that is not there is equal to one that ends at once. */
static bool is_equal(uint64_t before, uint64_t after, uint64_t slack_ns)
{
	if (before == RF_FOREVER || after == RF_FOREVER)
		return before == after;
	return (before > after ? before - after : after - before) <= slack_ns;
}

static void compare_owner(const struct rf_listed *before, const struct rf_listed *after,
			  unsigned int owner, const struct list_clock *clock,
			  struct list_diff *change)
{
	struct list_row row = {
		.prefix = before ? before->prefix : after->prefix,
		.owner = owner,
		.left_ns = {left_ns(before, change->list, owner, clock),
			    left_ns(after, change->list, owner, clock)},
		.change = ENTRY_CHANGED,
	};

	if (is_equal(row.left_ns[0], row.left_ns[1], clock->slack_ns))
		return;
	if (!row.left_ns[0])
		row.change = ENTRY_ADDED;
	else if (!row.left_ns[1])
		row.change = ENTRY_DELETED;
	change->row[change->count++] = row;
	change->count_of[row.change]++;
}

static void compare_entries(const struct rf_listed *before, const struct rf_listed *after,
			    const struct list_clock *clock, struct list_diff *change)
{
	struct rf_owner_set seen = {};
	uint8_t owner[2 * RF_LIST_CLAIMS];
	int owners = 0;

	if (before)
		owners = rf_listed_owners(before, change->list, &RF_OWNERS_LOCAL, owner);
	if (after)
		owners += rf_listed_owners(after, change->list, &RF_OWNERS_LOCAL, owner + owners);
	for (int i = 0; i < owners; i++) {
		if (!rf_owner_set_has(&seen, owner[i]))
			compare_owner(before, after, owner[i], clock, change);
		rf_owner_set_add(&seen, owner[i]);
	}
}

/*
 * Finds the entries of this host in which two rule sets differ. Their owners must be numbered
 * alike, as in those of `after`. Free the change, even after an error.
 */
static int list_diff_find(const struct rf_ruleset *before, const struct rf_ruleset *after,
			  enum rf_list list, const struct list_clock *clock,
			  struct list_diff *change, struct rf_error *error)
{
	size_t i = 0, j = 0;

	*change = (struct list_diff){.list = list, .owners = &after->owners};
	/* Most of it remains untouched, and takes no memory. */
	change->row = calloc(RF_LIST_CLAIMS * (before->listed_count + after->listed_count) + 1,
			     sizeof(*change->row));
	if (!change->row)
		return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
	while (i < before->listed_count || j < after->listed_count) {
		const struct rf_listed *one = &before->listed[i], *other = &after->listed[j];
		const int order = i == before->listed_count ? 1
				  : j == after->listed_count
					  ? -1
					  : rf_prefix_compare(&one->prefix, &other->prefix);

		compare_entries(order <= 0 ? one : NULL, order >= 0 ? other : NULL, clock, change);
		i += order <= 0;
		j += order >= 0;
	}
	return 0;
}

static void list_diff_free(struct list_diff *change)
{
	free(change->row);
	*change = (struct list_diff){};
}

/* ---- lists: printing ---- */

/* " for 10m", to the nearest second, or nothing. */
static void format_time(uint64_t left, char text[RF_DURATION_TEXT_SIZE + 8])
{
	char time[RF_DURATION_TEXT_SIZE];

	*text = '\0';
	if (left == RF_FOREVER)
		return;
	rf_format_for((left + RF_NS_PER_S / 2) / RF_NS_PER_S * RF_NS_PER_S, time);
	snprintf(text, RF_DURATION_TEXT_SIZE + 8, " for %s", time);
}

static void print_row(const struct list_row *row, const struct rf_owners *owners, const char *list)
{
	char before[RF_DURATION_TEXT_SIZE + 8], after[RF_DURATION_TEXT_SIZE + 8];
	char prefix[RF_PREFIX_TEXT_SIZE], by[RF_BY_TEXT_SIZE];

	rf_format_by(owners, row->owner, by);
	rf_format_prefix(&row->prefix, prefix);
	format_time(row->left_ns[0], before);
	format_time(row->left_ns[1], after);
	if (row->change == ENTRY_CHANGED)
		rf_out("~ %s %s%s:%s →%s\n", list, prefix, by, *before ? before : " for good",
		       *after ? after : " for good");
	else
		rf_out("%c %s add %s%s%s\n", row->change == ENTRY_ADDED ? '+' : '-', list, prefix,
		       row->change == ENTRY_ADDED ? after : before, by);
}

static void print_counts(const struct list_diff *change)
{
	const char *between = "";

	rf_out("%s: ", rf_view_list_names[change->list]);
	for (int i = 0; i < ENTRY_CHANGES; i++) {
		if (!change->count_of[i])
			continue;
		rf_out("%s%zu %s", between, change->count_of[i], change_names[i]);
		between = ", ";
	}
	rf_out("\n");
}

/* Prints nothing where nothing changes. */
static void list_diff_print(const struct list_diff *change, bool all)
{
	const size_t shown = all || change->count <= SHOWN ? change->count : SHOWN;

	if (!change->count)
		return;
	print_counts(change);
	for (size_t i = 0; i < shown; i++)
		print_row(&change->row[i], change->owners, rf_view_list_names[change->list]);
	if (shown < change->count)
		rf_out("  … and %zu more; 'diff FILE all' prints them\n", change->count - shown);
}

static json_t *left_json(uint64_t left)
{
	return left == RF_FOREVER ? json_null() : json_integer(left / RF_NS_PER_MS);
}

static json_t *row_json(const struct list_row *row, const struct rf_owners *owners)
{
	char prefix[RF_PREFIX_TEXT_SIZE];
	json_t *json;

	rf_format_prefix(&row->prefix, prefix);
	json = json_pack("{s:s, s:s, s:s}", "prefix", prefix, "by",
			 rf_owner_name(owners, row->owner), "change", change_names[row->change]);
	if (row->left_ns[0])
		json_object_set_new(json, "before_ms", left_json(row->left_ns[0]));
	if (row->left_ns[1])
		json_object_set_new(json, "after_ms", left_json(row->left_ns[1]));
	return json;
}

static json_t *list_diff_json(const struct list_diff *change)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < change->count; i++)
		json_array_append_new(rows, row_json(&change->row[i], change->owners));
	return json_pack("{s:I, s:I, s:I, s:o}", "added", (json_int_t)change->count_of[ENTRY_ADDED],
			 "deleted", (json_int_t)change->count_of[ENTRY_DELETED], "changed",
			 (json_int_t)change->count_of[ENTRY_CHANGED], "prefixes", rows);
}

/* diff */

#define SLACK_NS (5 * RF_NS_PER_S) /* times on a list are saved in whole seconds */

/* The rules in force, and those that a file would put in force. */
struct diff {
	struct rf_ruleset before, after;
	struct list_diff list[RF_LIST_COUNT];
	struct list_clock clock;
	bool all; /* print every prefix */
	bool differs;
};

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
		list_diff_print(&diff->list[list], diff->all);
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
			 "allow", list_diff_json(&diff->list[RF_ALLOW]), "deny",
			 list_diff_json(&diff->list[RF_DENY]), "newcomers", newcomers_json(diff),
			 "fleet_hosts", hosts_json(diff));
}

static int compare(struct diff *diff, struct rf_error *error)
{
	struct rf_owners owners = diff->before.owners;
	int err = rf_ruleset_join_owners(&diff->after, &owners, error);

	for (int list = 0; list < RF_LIST_COUNT && !err; list++) {
		err = list_diff_find(&diff->before, &diff->after, list, &diff->clock,
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

	diff->clock.slack_ns = rf_time_awake() - begun_ns + SLACK_NS;
	return rf_rulefile_rules(file, &place, &diff->after, error);
}

static int run_diff(const struct rf_options *options, const char *path, struct diff *diff,
		    struct rf_error *error)
{
	const uint64_t begun_ns = rf_time_awake();
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
		list_diff_free(&diff.list[list]);
	rf_ruleset_free(&diff.before);
	rf_ruleset_free(&diff.after);
	error->usage = true; /* 1 is the exit status of a difference */
	return err ? err : diff.differs;
}
