// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/time.h"
#include "cli/list_change.h"
#include "cli/out.h"

#define SHOWN 10 /* prefixes of a list */

static const char *const list_names[RF_LIST_COUNT] = {
	[RF_ALLOW] = "allow",
	[RF_DENY] = "deny",
};

static const char *const change_names[RF_ENTRY_CHANGES] = {
	[RF_ENTRY_ADDED] = "added",
	[RF_ENTRY_DELETED] = "deleted",
	[RF_ENTRY_CHANGED] = "changed",
};

/* ---- comparing ---- */

static uint64_t left_ns(const struct rf_listed *listed, enum rf_list list, unsigned int owner,
			const struct rf_list_clock *clock)
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
			  unsigned int owner, const struct rf_list_clock *clock,
			  struct rf_list_change *change)
{
	struct rf_list_row row = {
		.prefix = before ? before->prefix : after->prefix,
		.owner = owner,
		.left_ns = {left_ns(before, change->list, owner, clock),
			    left_ns(after, change->list, owner, clock)},
		.change = RF_ENTRY_CHANGED,
	};

	if (is_equal(row.left_ns[0], row.left_ns[1], clock->slack_ns))
		return;
	if (!row.left_ns[0])
		row.change = RF_ENTRY_ADDED;
	else if (!row.left_ns[1])
		row.change = RF_ENTRY_DELETED;
	change->row[change->count++] = row;
	change->count_of[row.change]++;
}

static void compare_entries(const struct rf_listed *before, const struct rf_listed *after,
			    const struct rf_list_clock *clock, struct rf_list_change *change)
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

int rf_list_change_find(const struct rf_ruleset *before, const struct rf_ruleset *after,
			enum rf_list list, const struct rf_list_clock *clock,
			struct rf_list_change *change, struct rf_error *error)
{
	size_t i = 0, j = 0;

	*change = (struct rf_list_change){.list = list, .owners = &after->owners};
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

void rf_list_change_free(struct rf_list_change *change)
{
	free(change->row);
	*change = (struct rf_list_change){};
}

/* ---- printing ---- */

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

static void print_row(const struct rf_list_row *row, const struct rf_owners *owners,
		      const char *list)
{
	char before[RF_DURATION_TEXT_SIZE + 8], after[RF_DURATION_TEXT_SIZE + 8];
	char prefix[RF_PREFIX_TEXT_SIZE], by[RF_BY_TEXT_SIZE];

	rf_format_by(owners, row->owner, by);
	rf_format_prefix(&row->prefix, prefix);
	format_time(row->left_ns[0], before);
	format_time(row->left_ns[1], after);
	if (row->change == RF_ENTRY_CHANGED)
		rf_out("~ %s %s%s:%s →%s\n", list, prefix, by, *before ? before : " for good",
		       *after ? after : " for good");
	else
		rf_out("%c %s add %s%s%s\n", row->change == RF_ENTRY_ADDED ? '+' : '-', list,
		       prefix, row->change == RF_ENTRY_ADDED ? after : before, by);
}

static void print_counts(const struct rf_list_change *change)
{
	const char *between = "";

	rf_out("%s: ", list_names[change->list]);
	for (int i = 0; i < RF_ENTRY_CHANGES; i++) {
		if (!change->count_of[i])
			continue;
		rf_out("%s%zu %s", between, change->count_of[i], change_names[i]);
		between = ", ";
	}
	rf_out("\n");
}

void rf_list_change_print(const struct rf_list_change *change, bool all)
{
	const size_t shown = all || change->count <= SHOWN ? change->count : SHOWN;

	if (!change->count)
		return;
	print_counts(change);
	for (size_t i = 0; i < shown; i++)
		print_row(&change->row[i], change->owners, list_names[change->list]);
	if (shown < change->count)
		rf_out("  … and %zu more; 'diff FILE all' prints them\n", change->count - shown);
}

static json_t *left_json(uint64_t left)
{
	return left == RF_FOREVER ? json_null() : json_integer(left / RF_NS_PER_MS);
}

static json_t *row_json(const struct rf_list_row *row, const struct rf_owners *owners)
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

json_t *rf_list_change_json(const struct rf_list_change *change)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < change->count; i++)
		json_array_append_new(rows, row_json(&change->row[i], change->owners));
	return json_pack("{s:I, s:I, s:I, s:o}", "added",
			 (json_int_t)change->count_of[RF_ENTRY_ADDED], "deleted",
			 (json_int_t)change->count_of[RF_ENTRY_DELETED], "changed",
			 (json_int_t)change->count_of[RF_ENTRY_CHANGED], "prefixes", rows);
}
