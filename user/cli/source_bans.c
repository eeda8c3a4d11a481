// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_ban.h"
#include "cli/out.h"
#include "cli/source_bans.h"

static json_t *left_json(const struct rf_fence *fence, uint64_t now, uint64_t until)
{
	return until == RF_FOREVER
		       ? json_null()
		       : json_integer(rf_fence_left_ns(fence, now, until) / RF_NS_PER_MS);
}

/* Adds an object for each owner of an entry. */
static void add_entry(const struct rf_fence *fence, const struct rf_ruleset *rules,
		      const struct rf_listed *listed, uint64_t now, const json_t *bans,
		      json_t *list)
{
	uint8_t owner[RF_LIST_CLAIMS];
	const int owners = rf_listed_owners(listed, RF_DENY, &RF_OWNERS_ALL, owner);
	char prefix[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&listed->prefix, prefix);
	for (int i = 0; i < owners; i++) {
		const uint64_t until = rf_listed_until_by(listed, RF_DENY, owner[i]);
		const json_int_t host =
			owner[i] == RF_OWNER_FLEET ? rf_fleet_ban_host(bans, prefix) : -1;

		json_array_append_new(
			list, json_pack("{s:s, s:o, s:s, s:o, s:n}", "prefix", prefix, "left_ms",
					left_json(fence, now, until), "by",
					rf_owner_name(&rules->owners, owner[i]), "host",
					host < 0 ? json_null() : json_integer(host), "limit"));
	}
}

static int add_denied(const struct rf_fence *fence, const struct rf_prefix *source,
		      const json_t *bans, json_t *list, bool *allowed, struct rf_error *error)
{
	const uint64_t now = rf_fence_jiffies(fence);
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(fence, &rules, error);

	if (!err)
		rf_ruleset_expire(&rules, now);
	for (size_t i = 0; i < rules.listed_count && !err; i++) {
		const struct rf_listed *listed = &rules.listed[i];

		if (!rf_prefix_contains(&listed->prefix, source))
			continue;
		*allowed |= rf_listed_until(listed, RF_ALLOW) != 0;
		add_entry(fence, &rules, listed, now, bans, list);
	}
	rf_ruleset_free(&rules);
	return err;
}

static int add_banned(const struct rf_fence *fence, const struct rf_prefix *source, json_t *list,
		      struct rf_error *error)
{
	struct rf_bans bans = {};
	int err = rf_fence_bans(fence, &bans, error);

	for (size_t i = 0; i < bans.count && !err; i++) {
		const struct rf_ban_row *ban = &bans.row[i];
		const struct rf_prefix prefix = rf_ban_prefix(ban);
		char text[RF_PREFIX_TEXT_SIZE];

		if (!rf_prefix_contains(&prefix, source))
			continue;
		rf_format_prefix(&prefix, text);
		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:n, s:n, s:s}", "prefix", text,
						"left_ms", left_json(fence, bans.now, ban->until),
						"by", "host", "limit", ban->limit->name));
	}
	rf_bans_free(&bans);
	return err;
}

int rf_source_bans_read(const struct rf_fence *fence, const struct rf_address *source,
			const json_t *bans, json_t *into, struct rf_error *error)
{
	struct rf_prefix prefix = {.version = source->version,
				   .length = source->version == 4 ? 32 : 128};
	json_t *list = json_array();
	bool allowed = false;
	int err;

	memcpy(prefix.word, source->word, sizeof(prefix.word));
	err = add_denied(fence, &prefix, bans, list, &allowed, error);
	if (!err)
		err = add_banned(fence, &prefix, list, error);
	json_object_set_new(into, "allowed", json_boolean(allowed));
	json_object_set_new(into, "bans", list);
	return err;
}

/* ---- for people ---- */

static void print_one(const json_t *ban)
{
	const json_t *left = json_object_get(ban, "left_ms"), *host = json_object_get(ban, "host");
	const char *limit = json_string_value(json_object_get(ban, "limit"));
	char time[RF_DURATION_TEXT_SIZE] = "";

	if (json_is_integer(left))
		rf_format_left(json_integer_value(left) * RF_NS_PER_MS, time);
	rf_out_text("%s: %s%s%s", limit ? "banned" : "denied",
		    json_string_value(json_object_get(ban, "prefix")), *time ? " for another " : "",
		    time);
	if (limit)
		rf_out_text(" by limit '%s'", limit);
	else
		rf_out_text(" by %s", json_string_value(json_object_get(ban, "by")));
	if (json_is_integer(host))
		rf_out_text(", of host %lld", (long long)json_integer_value(host));
	rf_out_text("\n");
}

void rf_source_bans_print(const json_t *from)
{
	const json_t *bans = json_object_get(from, "bans"), *ban;
	size_t i;

	json_array_foreach (bans, i, ban)
		print_one(ban);
	if (i && json_is_true(json_object_get(from, "allowed")))
		rf_out_text("it passes all the same: it is on the allow list\n");
}
