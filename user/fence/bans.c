// SPDX-License-Identifier: GPL-2.0
/* Reads the table of bans, and lifts bans. The data path starts them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fence/private.h"
#include "ringfence/ban_table.h"
#include "rules/policy.h"

#define SPAN_MAX UINT8_MAX /* the largest that the bank holds */

/* ---- reading ---- */

/* False: there is no ban in that place now, or the ban changes while it is read. */
static bool read_ban(const struct rf_ban_set *set, int way, uint64_t now, struct rf_ban_row *row)
{
	const uint64_t word = rf_load(&set->word[way]);
	const struct rf_ban *ban = &set->ban[way];
	const uint64_t whose = rf_load(&ban->whose);

	*row = (struct rf_ban_row){
		.source.version = whose & 1 ? 6 : 4,
		.limit_id = whose >> 1,
		.until = rf_ban_until(word),
		.since = rf_load(&ban->since),
		.word = word,
	};
	for (int i = 0; i < 4; i++)
		row->source.word[i] = (__be32)(rf_load(&ban->source[i / 2]) >> i % 2 * 32);
	return row->until > now && rf_load(&set->word[way]) == word;
}

static int compare_rows(const void *a, const void *b)
{
	const struct rf_ban_row *left = a, *right = b;
	int order = left->source.version - right->source.version;

	if (!order)
		order = memcmp(left->source.word, right->source.word, sizeof(left->source.word));
	if (!order && left->limit_id != right->limit_id)
		order = left->limit_id < right->limit_id ? -1 : 1;
	return order;
}

/*
 * Reads the bans in the table. A ban can be there twice, see ban_table.h; `once` drops the copies.
 */
static int read_bans(const struct rf_fence *fence, struct rf_bans *bans, bool once,
		     struct rf_error *error)
{
	const uint64_t now = fence->config->tick_ns ? rf_fence_jiffies(fence) : 0;
	size_t kept = 0;

	rf_map_refresh(fence, RF_MAP_BANS);
	*bans = (struct rf_bans){.now = now, .row = calloc(RF_BANS_MAX, sizeof(*bans->row))};
	if (!bans->row)
		return rf_error_failed(error, -ENOMEM, "cannot read the bans: %s",
				       strerror(ENOMEM));
	for (uint32_t i = 0; now && i < RF_BANS_MAX; i++) {
		struct rf_ban_row *row = &bans->row[bans->count];

		if (!read_ban(&fence->ban[i / RF_BAN_WAYS], i % RF_BAN_WAYS, now, row))
			continue;
		row->place = i;
		bans->count++;
	}
	rf_sort(bans->row, bans->count, sizeof(*bans->row), compare_rows);
	for (size_t i = 0; once && i < bans->count; i++)
		if (!kept || compare_rows(&bans->row[kept - 1], &bans->row[i]))
			bans->row[kept++] = bans->row[i];
	bans->count = once ? kept : bans->count;
	return 0;
}

/* The slot of the limit that started a ban. -ENOENT: the limit is not active, or no longer bans. */
static int slot_of(const struct rf_bank *bank, uint32_t limit_id)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == limit_id && bank->policy[slot].ban)
			return slot;
	return -ENOENT;
}

int rf_fence_bans(const struct rf_fence *fence, struct rf_bans *bans, struct rf_error *error)
{
	size_t kept = 0;
	int err;

	err = read_bans(fence, bans, true, error);
	if (err)
		return err;
	err = rf_fence_bank(fence, &bans->rules, error);
	if (err)
		return err;
	for (size_t i = 0; i < bans->count; i++) {
		struct rf_ban_row row = bans->row[i];
		const int slot = slot_of(&bans->rules, row.limit_id);

		row.limit = &bans->rules.limit[slot < 0 ? 0 : slot];
		row.left_ns = rf_fence_left_ns(fence, bans->now, row.until);
		row.lasted_ns = rf_fence_left_ns(fence, row.since, bans->now);
		if (slot >= 0)
			bans->row[kept++] = row;
	}
	bans->count = kept;
	return 0;
}

const struct rf_ban_row *rf_bans_find(const struct rf_bans *bans, const struct rf_address *source,
				      uint32_t limit_id)
{
	const struct rf_ban_row key = {.source = *source, .limit_id = limit_id};

	if (!bans->count)
		return NULL;
	return rf_search(&key, bans->row, bans->count, sizeof(key), compare_rows);
}

void rf_bans_free(struct rf_bans *bans)
{
	free(bans->row);
	bans->row = NULL;
	bans->count = 0;
}

struct rf_prefix rf_ban_prefix(const struct rf_ban_row *row)
{
	return rf_limit_source(row->limit, &row->source);
}

/* ---- ending ---- */

/*
 * The rules whose bans can be lifted: the active ones, and those that they can be rolled back to.
 */
static int read_sides(const struct rf_fence *fence, struct rf_bank side[2], int *sides,
		      struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	int err = rf_fence_bank(fence, &side[0], error);

	*sides = 1;
	if (err || standing.state != RF_PENDING || standing.fallback != RF_FALL_BACK)
		return err;
	rf_fence_other_bank(fence, standing.in_force, &side[1]);
	*sides = 2;
	return rf_bank_check(&side[1], error);
}

/* Sets the row's limit. False: no limit of these rules has made the ban. */
static bool find_limit(const struct rf_bank side[2], int sides, struct rf_ban_row *row)
{
	for (int i = 0; i < sides; i++) {
		const int slot = slot_of(&side[i], row->limit_id);

		if (slot < 0)
			continue;
		row->limit = &side[i].limit[slot];
		return true;
	}
	return false;
}

static bool means(const struct rf_unban *unban, const struct rf_prefix *banned)
{
	return unban->all || rf_prefix_contains(&unban->prefix, banned) ||
	       rf_prefix_contains(banned, &unban->prefix);
}

/* Each ban belongs to the first limit that matches it, unless none is lifted. */
static void unban_row(const struct rf_fence *fence, const struct rf_ban_row *row,
		      struct rf_unban *unban, size_t count, bool ends)
{
	const struct rf_prefix banned = rf_ban_prefix(row);

	for (size_t i = 0; i < count; i++) {
		if (!means(&unban[i], &banned))
			continue;
		if (!ends) {
			unban[i].bans++;
			continue;
		}
		unban[i].bans += rf_ban_lift(&fence->ban[row->place / RF_BAN_WAYS],
					     row->place % RF_BAN_WAYS, row->word);
		return;
	}
}

int rf_fence_unban(const struct rf_fence *fence, struct rf_unban *unban, size_t count, bool ends,
		   struct rf_error *error)
{
	struct rf_bank side[2];
	struct rf_bans bans;
	int sides, err = read_sides(fence, side, &sides, error);

	for (size_t i = 0; i < count; i++)
		unban[i].bans = 0;
	if (err)
		return err;
	err = read_bans(fence, &bans, false, error);
	for (size_t i = 0; !err && i < bans.count; i++)
		if (find_limit(side, sides, &bans.row[i]))
			unban_row(fence, &bans.row[i], unban, count, ends);
	rf_bans_free(&bans);
	return err;
}

int rf_fail_not_banned(const struct rf_unban *unban, struct rf_error *error)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&unban->prefix, text);
	return rf_error_failed(error, -ENOENT,
			       "%s: not banned; 'ringfence bans' lists the banned sources", text);
}

void rf_bans_reclaim(const struct rf_fence *fence)
{
	const bool settled = rf_fence_standing(fence).state == RF_CONFIRMED;
	struct rf_error ignored;
	struct rf_bank bank;
	struct rf_bans bans;

	if (!settled || rf_fence_bank(fence, &bank, &ignored) ||
	    read_bans(fence, &bans, false, &ignored))
		return;
	for (size_t i = 0; i < bans.count; i++)
		if (slot_of(&bank, bans.row[i].limit_id) < 0)
			rf_ban_lift(&fence->ban[bans.row[i].place / RF_BAN_WAYS],
				    bans.row[i].place % RF_BAN_WAYS, bans.row[i].word);
	rf_bans_free(&bans);
}

/* ---- rules ---- */

/*
 * The span is one tick shorter than RF_BAN_LEASE_NS, because a CPU might have read the jiffies just
 * before the next tick.
 */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *bank)
{
	const uint32_t tick_ns = fence->config->tick_ns;
	uint32_t span = tick_ns ? RF_BAN_LEASE_NS / tick_ns : 0;

	span = span > 2 ? span - 1 : 1;
	bank->ban_lease = span < SPAN_MAX ? span : SPAN_MAX;
	bank->lease_span = bank->flags & RF_BANK_BANS_ALL ? bank->ban_lease : 0;
}
