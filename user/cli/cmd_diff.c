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
#include "snapshot/rules.h"

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
	const char *owner_name;
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

/* A missing entry is equal to an entry that expires immediately. */
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
		.owner_name = rf_owner_name(change->owners, owner),
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
 * Finds the entries of this host in which two rule sets differ. Their owners must have the numbers
 * that they have in `after`. Free the change, even after an error.
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

/* Prints no line if nothing changes. */
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

static bool has_before(const void *of)
{
	return ((const struct list_row *)of)->left_ns[0];
}

static bool has_after(const void *of)
{
	return ((const struct list_row *)of)->left_ns[1];
}

static const struct rf_field before_fields[] = {
	RF_FIELD_LEFT_OF("before_ms", struct list_row, left_ns[0], "left now; null: for good",
			 .or_null = true),
	{},
};

static const struct rf_field after_fields[] = {
	RF_FIELD_LEFT_OF("after_ms", struct list_row, left_ns[1], "left then; null: for good",
			 .or_null = true),
	{},
};

/* An entry that is not on the list has no time. */
static const struct rf_field row_fields[] = {
	RF_FIELD_OF_PREFIX("prefix", struct list_row, prefix, "of the entry"),
	RF_FIELD("by", struct list_row, owner_name, "the owner of the entry"),
	RF_FIELD_OF_ENUM("change", struct list_row, change, change_names,
			 "added, deleted or changed"),
	RF_FIELDS_ALSO(before_fields, .has = has_before),
	RF_FIELDS_ALSO(after_fields, .has = has_after),
	{},
};

static const struct rf_field list_diff_fields[] = {
	RF_FIELD("added", struct list_diff, count_of[ENTRY_ADDED], "entries"),
	RF_FIELD("deleted", struct list_diff, count_of[ENTRY_DELETED], "entries"),
	RF_FIELD("changed", struct list_diff, count_of[ENTRY_CHANGED], "entries with another time"),
	RF_FIELD_OBJECTS("prefixes", struct list_diff, row, count, row_fields, "all entries"),
	{},
};

/* diff */

#define SLACK_NS (5 * RF_NS_PER_S) /* times on a list are saved in whole seconds */

/* A limit that only one of the rules have, or that differs. */
struct limit_diff {
	enum entry_change change;
	struct rf_limit_changes changes; /* of a changed limit; of others only its name */
	char *command;			 /* of others: it adds the limit */
};

/* The active rules, and the rules that a file would commit. */
struct diff {
	struct rf_ruleset before, after;
	struct limit_diff *limit; /* those deleted first */
	int limits;
	const char *order[RF_LIMITS_MAX]; /* names of the limits after */
	int ordered;			  /* 0: in the order of before */
	char *newcomers[2];		  /* as commands; NULL: no difference */
	struct list_diff list[RF_LIST_COUNT];
	struct list_clock clock;
	bool all; /* print every prefix */
	bool differs;
};

static void diff_free(struct diff *diff)
{
	for (int i = 0; i < diff->limits; i++)
		free(diff->limit[i].command);
	free(diff->limit);
	for (int i = 0; i < 2; i++)
		free(diff->newcomers[i]);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		list_diff_free(&diff->list[list]);
	rf_ruleset_free(&diff->before);
	rf_ruleset_free(&diff->after);
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

/* A limit in both rule sets has the same slot in both. */
static void compare_order(struct diff *diff)
{
	int before[RF_LIMITS_MAX], after[RF_LIMITS_MAX];
	const int count = common_slots(&diff->before.bank, &diff->after.bank, before);

	common_slots(&diff->after.bank, &diff->before.bank, after);
	if (!memcmp(before, after, count * sizeof(*before)))
		return;
	diff->ordered = rf_bank_slots(&diff->after.bank, after);
	for (int i = 0; i < diff->ordered; i++)
		diff->order[i] = diff->after.bank.limit[after[i]].name;
}

/* A limit of one of the rules, by its slot there. False: it is the same in both. */
static bool compare_limit(const struct diff *diff, const struct rf_ruleset *rules, int slot,
			  struct limit_diff *limit)
{
	const bool is_after = rules == &diff->after;
	const struct rf_ruleset *other = is_after ? &diff->before : &diff->after;

	limit->changes.limit = rules->bank.limit[slot].name;
	if (rf_bank_find(&other->bank, limit->changes.limit) < 0) {
		limit->change = is_after ? ENTRY_ADDED : ENTRY_DELETED;
		limit->command = rf_ruleset_format_limit(rules, slot);
		return true;
	}
	limit->change = ENTRY_CHANGED;
	rf_limit_parts_read(&diff->before, slot, &limit->changes.before);
	rf_limit_parts_read(&diff->after, slot, &limit->changes.after);
	return is_after && rf_limit_parts_compare(&limit->changes);
}

static int compare_limits(struct diff *diff, struct rf_error *error)
{
	diff->limit = calloc(2 * RF_LIMITS_MAX + 1, sizeof(*diff->limit));
	if (!diff->limit)
		return rf_error_failed(error, -ENOMEM, "out of memory for the limits");
	for (int side = 0; side < 2; side++) {
		const struct rf_ruleset *rules = side ? &diff->after : &diff->before;
		int slots[RF_LIMITS_MAX];
		const int count = rf_bank_slots(&rules->bank, slots);

		for (int i = 0; i < count; i++)
			diff->limits +=
				compare_limit(diff, rules, slots[i], &diff->limit[diff->limits]);
	}
	compare_order(diff);
	return 0;
}

/* ---- newcomers and hosts ---- */

/* Compares them as commands. */
static int compare_newcomers(struct diff *diff, struct rf_error *error)
{
	char before[RF_NEWCOMERS_TEXT_SIZE], after[RF_NEWCOMERS_TEXT_SIZE];

	rf_format_newcomers(&diff->before.bank.newcomers, before);
	rf_format_newcomers(&diff->after.bank.newcomers, after);
	if (strcmp(before, after) == 0)
		return 0;
	diff->newcomers[0] = strdup(before);
	diff->newcomers[1] = strdup(after);
	if (diff->newcomers[0] && diff->newcomers[1])
		return 0;
	return rf_error_failed(error, -ENOMEM, "out of memory for the newcomers");
}

static bool hosts_differ(const void *of)
{
	const struct diff *diff = of;

	return diff->before.bank.hosts != diff->after.bank.hosts;
}

/* ---- the whole command ---- */

static int compare(struct diff *diff, struct rf_error *error)
{
	struct rf_owners owners = diff->before.owners;
	int err = rf_ruleset_join_owners(&diff->after, &owners, error);

	for (int list = 0; list < RF_LIST_COUNT && !err; list++) {
		err = list_diff_find(&diff->before, &diff->after, list, &diff->clock,
				     &diff->list[list], error);
		diff->differs |= diff->list[list].count != 0;
	}
	if (!err)
		err = compare_limits(diff, error);
	if (!err)
		err = compare_newcomers(diff, error);
	diff->differs |= diff->limits || diff->ordered || diff->newcomers[0] || hosts_differ(diff);
	return err;
}

static void print_limit(const struct limit_diff *limit)
{
	if (limit->change == ENTRY_CHANGED) {
		rf_out_text("~ ");
		rf_limit_changes_print(&limit->changes);
	} else {
		rf_out("%c %s\n", limit->change == ENTRY_ADDED ? '+' : '-',
		       limit->command ?: "out of memory");
	}
}

static void print_order(const struct diff *diff)
{
	if (!diff->ordered)
		return;
	rf_out_text("~ limits in another order: ");
	for (int i = 0; i < diff->ordered; i++)
		rf_out_text("%s%s", i ? ", " : "", diff->order[i]);
	rf_out_text("\n");
}

static void print_text(const struct diff *diff)
{
	for (int i = 0; i < diff->limits; i++)
		print_limit(&diff->limit[i]);
	print_order(diff);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		list_diff_print(&diff->list[list], diff->all);
	if (hosts_differ(diff))
		rf_out_text("~ fleet hosts %" PRIu32 " → %" PRIu32 "\n", diff->before.bank.hosts,
			    diff->after.bank.hosts);
	if (diff->newcomers[0])
		rf_out_text("~ %s → %s\n", diff->newcomers[0], diff->newcomers[1]);
}

/* ---- for programs ---- */

static bool is_changed(const void *of)
{
	return ((const struct limit_diff *)of)->change == ENTRY_CHANGED;
}

static const struct rf_field limit_fields[] = {
	RF_FIELD("limit", struct limit_diff, changes.limit, "its name"),
	RF_FIELD_OF_ENUM("change", struct limit_diff, change, change_names,
			 "added, deleted or changed"),
	RF_FIELDS_OF(struct limit_diff, changes, rf_limit_changes_fields, .has = is_changed),
	RF_FIELD("command", struct limit_diff, command, "that adds it, if it does not change"),
	{},
};

static bool has_other_order(const void *of)
{
	return ((const struct diff *)of)->ordered;
}

static bool has_newcomers(const void *of)
{
	return ((const struct diff *)of)->newcomers[0];
}

static json_t *newcomers_json(const struct diff *diff, int side)
{
	return rf_json_text(diff->newcomers[side] + strlen("newcomers "));
}

static json_t *make_newcomers_before(const void *of)
{
	return newcomers_json(of, 0);
}

static json_t *make_newcomers_after(const void *of)
{
	return newcomers_json(of, 1);
}

static const struct rf_field newcomers_fields[] = {
	RF_FIELD_MADE("before", RF_FIELD_TEXT, make_newcomers_before, "in words"),
	RF_FIELD_MADE("after", RF_FIELD_TEXT, make_newcomers_after, "in words"),
	{},
};

static const struct rf_field hosts_fields[] = {
	RF_FIELD("before", struct diff, before.bank.hosts, "the same now"),
	RF_FIELD("after", struct diff, after.bank.hosts, "hosts of the fleet; 0: not set"),
	{},
};

static const struct rf_field diff_fields[] = {
	RF_FIELD("differs", struct diff, differs, "the exit status is 1"),
	RF_FIELD_OBJECTS("limits", struct diff, limit, limits, limit_fields, "limits that differ"),
	RF_FIELD_ARRAY("order", struct diff, order, ordered, RF_FIELD_WORD, NULL,
		       "names in the new order; null: as before", .has = has_other_order,
		       .or_null = true),
	RF_FIELD_IN("allow", struct diff, list[RF_ALLOW], list_diff_fields, "of the allow list"),
	RF_FIELD_IN("deny", struct diff, list[RF_DENY], list_diff_fields, "of the deny list"),
	RF_FIELD_GROUP("newcomers", newcomers_fields, "null: as before", .has = has_newcomers,
		       .or_null = true),
	RF_FIELD_GROUP("fleet_hosts", hosts_fields, "null: as before", .has = hosts_differ,
		       .or_null = true),
	{},
};

RF_RECORD(diff, diff_fields);

/* ---- reading ---- */

static int read_before(const struct rf_fence *fence, struct diff *diff, struct rf_error *error)
{
	struct rf_fence_rules seen = RF_FENCE_RULES_NONE;
	const int err = rf_fence_rules_read(fence, RF_RULES_IN_FORCE, &seen, error);

	diff->before = seen.set;
	if (err)
		return err;
	diff->clock.now = seen.now;
	diff->clock.tick_ns = seen.tick_ns ?: RF_NOMINAL_TICK_NS;
	if (seen.standing.state == RF_PENDING)
		rf_out_note("the active rules are unconfirmed; the file is compared with them");
	return 0;
}

/* `begun_ns`: since then, `save` at the other end of a pipe might have read the fence. */
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
		err = rf_out_record(diff_fields, diff, error);
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
	int err = path ? rf_parse_arguments(RF_CMD_DIFF, words, &diff.all, error) : -EINVAL;

	if (!err)
		err = run_diff(options, path, &diff, error);
	diff_free(&diff);
	error->usage = true; /* 1 is the exit status of a difference */
	return err ? err : diff.differs;
}
