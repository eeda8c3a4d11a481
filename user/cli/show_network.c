// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/records.h"
#include "cli/show_network.h"
#include "cli/source_table.h"
#include "rules/policy.h"
#include "rules/ruleset.h"
#include "snapshot/records.h"
#include "snapshot/shown.h"

/* A list's prefixes within the network, or around it. */
struct listed {
	struct rf_list_answer *of;
	size_t count;
};

struct network {
	const struct rf_fence *fence;
	const struct rf_prefix *prefix;
	struct listed list[RF_LIST_COUNT];
	struct rf_bans bans;	       /* of sources within the network */
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

static int take_list(struct network *network, const struct rf_ruleset *rules, enum rf_list list,
		     struct rf_error *error)
{
	struct listed *to = &network->list[list];
	const uint64_t now = network->bans.now;

	to->of = calloc(rules->listed_count + 1, sizeof(*to->of));
	if (!to->of)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	for (size_t i = 0; i < rules->listed_count; i++) {
		const struct rf_listed *listed = &rules->listed[i];
		const uint64_t until = rf_listed_until(listed, list);
		struct rf_list_answer *one = &to->of[to->count];

		if (until <= now || !overlaps(network, &listed->prefix))
			continue;
		one->left_ns = until == RF_FOREVER ? RF_FOREVER
						   : rf_fence_left_ns(network->fence, now, until);
		rf_format_prefix(&listed->prefix, one->prefix);
		to->count++;
	}
	return 0;
}

static void keep_bans_here(struct network *network)
{
	struct rf_bans *bans = &network->bans;
	size_t kept = 0;

	for (size_t i = 0; i < bans->count; i++) {
		const struct rf_prefix source = rf_ban_prefix(&bans->row[i]);

		if (overlaps(network, &source))
			bans->row[kept++] = bans->row[i];
	}
	bans->count = kept;
}

static int read_network(struct network *network, struct rf_error *error)
{
	const struct rf_source_filter filter = {NULL, network->prefix, true, false};
	struct rf_source_rows *sources = &network->sources;
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(network->fence, &rules, error);

	if (!err)
		err = rf_fence_bans(network->fence, &network->bans, error);
	if (!err)
		err = take_list(network, &rules, RF_ALLOW, error);
	if (!err)
		err = take_list(network, &rules, RF_DENY, error);
	if (!err)
		err = rf_source_rows_read(network->fence, &network->bans, &filter, sources, error);
	if (!err && sources->count)
		rf_sort(sources->row, sources->count, sizeof(*sources->row), compare_rows);
	keep_bans_here(network);
	rf_ruleset_free(&rules);
	return err;
}

/* ---- for programs ---- */

static json_t *make_prefix(const void *of)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(((const struct network *)of)->prefix, text);
	return json_string(text);
}

static const void *listed_at(const struct listed *list, size_t i)
{
	return i < list->count ? &list->of[i] : NULL;
}

static const void *allowed_at(const void *of, size_t i)
{
	return listed_at(&((const struct network *)of)->list[RF_ALLOW], i);
}

static const void *denied_at(const void *of, size_t i)
{
	return listed_at(&((const struct network *)of)->list[RF_DENY], i);
}

const struct rf_field rf_network_fields[] = {
	RF_FIELD_MADE("prefix", RF_FIELD_TEXT, make_prefix, "the network that was asked for"),
	RF_FIELD_LIST_OF("allowed", allowed_at, rf_list_answer_fields, "of a network: all entries"),
	RF_FIELD_LIST_OF("denied", denied_at, rf_list_answer_fields, "the same of the deny list"),
	RF_FIELDS_OF(struct network, bans, rf_bans_fields),
	RF_FIELDS_OF(struct network, sources, rf_windows_within_fields),
	{},
};

/* ---- for people ---- */

static size_t print_list(const struct network *network, enum rf_list list)
{
	const struct listed *listed = &network->list[list];

	for (size_t i = 0; i < listed->count; i++) {
		const struct rf_list_answer *one = &listed->of[i];
		const bool for_good = one->left_ns == RF_FOREVER;
		char left[RF_DURATION_TEXT_SIZE] = "";

		if (!for_good)
			rf_format_left(one->left_ns, left);
		rf_out_text("%s list: %s%s%s\n", list_names[list], one->prefix,
			    for_good ? "" : ", for another ", left);
	}
	return listed->count;
}

static size_t print_bans(const struct rf_bans *bans)
{
	for (size_t i = 0; i < bans->count; i++) {
		const struct rf_ban_row *ban = &bans->row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char source[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		rf_format_prefix(&prefix, source);
		rf_format_left(ban->left_ns, left);
		rf_out_text("banned: %s by limit '%s', for another %s\n", source, ban->limit->name,
			    left);
	}
	return bans->count;
}

static void print_text(const struct network *network)
{
	char prefix[RF_PREFIX_TEXT_SIZE];
	size_t printed = print_list(network, RF_ALLOW) + print_list(network, RF_DENY);

	printed += print_bans(&network->bans);
	rf_format_prefix(network->prefix, prefix);
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
	struct network network = {.fence = fence, .prefix = prefix};
	int err = read_network(&network, error);

	if (!err && json)
		err = rf_out_json(rf_record_json(rf_network_fields, &network), false, error);
	else if (!err)
		print_text(&network);
	rf_source_rows_free(&network.sources);
	rf_bans_free(&network.bans);
	for (int list = 0; list < RF_LIST_COUNT; list++)
		free(network.list[list].of);
	return err;
}
