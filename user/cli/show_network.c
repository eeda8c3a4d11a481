// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/show_network.h"
#include "cli/source_table.h"
#include "rules/policy.h"
#include "rules/ruleset.h"

struct network {
	const struct rf_fence *fence;
	const struct rf_prefix *prefix;
	struct rf_ruleset rules;
	struct rf_bans bans;
	struct rf_source_rows sources; /* sorted by source */
};

static const char *const list_names[RF_LIST_COUNT] = {
	[RF_ALLOW] = "allow",
	[RF_DENY] = "deny",
};

/* ---- reading ---- */

/* Does the prefix lie in the network, or contain it? */
static bool overlaps(const struct network *network, const struct rf_prefix *prefix)
{
	return rf_prefix_contains(network->prefix, prefix) ||
	       rf_prefix_contains(prefix, network->prefix);
}

static int compare_rows(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	const int order = rf_prefix_compare(&left->source, &right->source);

	return order ? order : strcmp(left->limit->name, right->limit->name);
}

static int read_network(struct network *network, struct rf_error *error)
{
	const struct rf_source_filter filter = {NULL, network->prefix, true, false};
	struct rf_source_rows *sources = &network->sources;
	int err = rf_fence_ruleset(network->fence, &network->rules, error);

	if (!err)
		err = rf_fence_bans(network->fence, &network->bans, error);
	if (!err)
		err = rf_source_rows_read(network->fence, &network->bans, &filter, sources, error);
	if (!err && sources->count)
		rf_sort(sources->row, sources->count, sizeof(*sources->row), compare_rows);
	return err;
}

/* Is the prefix on the list, and does it lie in the network or contain it? */
static bool is_listed_here(const struct network *network, const struct rf_listed *listed,
			   enum rf_list list)
{
	return rf_listed_until(listed, list) > network->bans.now &&
	       overlaps(network, &listed->prefix);
}

static bool is_banned_here(const struct network *network, const struct rf_ban_row *ban)
{
	const struct rf_prefix source = rf_ban_prefix(ban);

	return overlaps(network, &source);
}

/* 0: for good. */
static uint64_t left_ns(const struct network *network, uint64_t until)
{
	return until == RF_FOREVER ? 0 : rf_fence_left_ns(network->fence, network->bans.now, until);
}

/* ---- for programs ---- */

static json_t *list_json(const struct network *network, enum rf_list list)
{
	json_t *prefixes = json_array();

	for (size_t i = 0; i < network->rules.listed_count; i++) {
		const struct rf_listed *listed = &network->rules.listed[i];
		const uint64_t left = left_ns(network, rf_listed_until(listed, list));
		char prefix[RF_PREFIX_TEXT_SIZE];

		if (!is_listed_here(network, listed, list))
			continue;
		rf_format_prefix(&listed->prefix, prefix);
		json_array_append_new(prefixes, json_pack("{s:s, s:o}", "prefix", prefix, "left_ms",
							  left ? json_integer(left / RF_NS_PER_MS)
							       : json_null()));
	}
	return prefixes;
}

static json_t *bans_json(const struct network *network)
{
	json_t *bans = json_array();

	for (size_t i = 0; i < network->bans.count; i++) {
		const struct rf_ban_row *ban = &network->bans.row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char source[RF_PREFIX_TEXT_SIZE];

		if (!is_banned_here(network, ban))
			continue;
		rf_format_prefix(&prefix, source);
		json_array_append_new(
			bans, json_pack("{s:s, s:s, s:I}", "source", source, "limit",
					ban->limit->name, "left_ms",
					(json_int_t)(left_ns(network, ban->until) / RF_NS_PER_MS)));
	}
	return bans;
}

static json_t *windows_json(const struct network *network)
{
	json_t *windows = json_array();

	for (size_t i = 0; i < network->sources.count; i++) {
		const struct rf_source_row *row = &network->sources.row[i];
		char source[RF_PREFIX_TEXT_SIZE];

		rf_format_prefix(&row->source, source);
		json_array_append_new(windows, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "source",
							 source, "limit", row->limit->name, "used",
							 (json_int_t)row->used, "passed",
							 (json_int_t)row->passed, "dropped",
							 (json_int_t)row->dropped, "would_drop",
							 (json_int_t)row->would_drop));
	}
	return windows;
}

static int print_json(const struct network *network, const char *prefix, struct rf_error *error)
{
	return rf_out_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "prefix", prefix, "allowed",
				     list_json(network, RF_ALLOW), "denied",
				     list_json(network, RF_DENY), "bans", bans_json(network),
				     "windows", windows_json(network)),
			   false, error);
}

/* ---- for people ---- */

static size_t print_list(const struct network *network, enum rf_list list)
{
	size_t printed = 0;

	for (size_t i = 0; i < network->rules.listed_count; i++) {
		const struct rf_listed *listed = &network->rules.listed[i];
		const uint64_t until = rf_listed_until(listed, list);
		char prefix[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		if (!is_listed_here(network, listed, list))
			continue;
		rf_format_prefix(&listed->prefix, prefix);
		rf_format_left(left_ns(network, until), left);
		rf_out_text("%s list: %s%s%s\n", list_names[list], prefix,
			    until == RF_FOREVER ? "" : ", for another ",
			    until == RF_FOREVER ? "" : left);
		printed++;
	}
	return printed;
}

static size_t print_bans(const struct network *network)
{
	size_t printed = 0;

	for (size_t i = 0; i < network->bans.count; i++) {
		const struct rf_ban_row *ban = &network->bans.row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char source[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		if (!is_banned_here(network, ban))
			continue;
		rf_format_prefix(&prefix, source);
		rf_format_left(left_ns(network, ban->until), left);
		rf_out_text("banned: %s by limit '%s', for another %s\n", source, ban->limit->name,
			    left);
		printed++;
	}
	return printed;
}

static void print_text(const struct network *network, const char *prefix)
{
	size_t printed = print_list(network, RF_ALLOW) + print_list(network, RF_DENY);

	printed += print_bans(network);
	if (network->sources.count)
		rf_source_rows_print(&network->sources, network->sources.count, RF_SOURCES_PLAIN);
	if (!printed && !network->sources.count)
		rf_out_text(
			"%s: nothing is known of it: no source in it has a window or a ban, and no "
			"list has it\n",
			prefix);
}

int rf_show_network(const struct rf_fence *fence, const struct rf_prefix *prefix, bool json,
		    struct rf_error *error)
{
	struct network network = {.fence = fence, .prefix = prefix, .rules = RF_RULESET_NONE};
	char text[RF_PREFIX_TEXT_SIZE];
	int err = read_network(&network, error);

	rf_format_prefix(prefix, text);
	if (!err && json)
		err = print_json(&network, text, error);
	else if (!err)
		print_text(&network, text);
	rf_source_rows_free(&network.sources);
	rf_bans_free(&network.bans);
	rf_ruleset_free(&network.rules);
	return err;
}
