// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the lists. What cannot be done in place is done by a commit. While rules are on trial
 * a commit is impossible, since both banks are in use: then both get new tries under their limits.
 */
#include <bpf/bpf.h>
#include <errno.h>

#include "fence/lists_private.h"
#include "fence/private.h"
#include "fence/tries.h"
#include "kernel/info.h"

/* Changes the rules of a bank, without those that have expired. */
static int change_rules(const struct rf_fence *fence, const struct rf_list_changes *changes,
			struct rf_ruleset *ruleset, size_t *first, struct rf_list_refused *refused,
			struct rf_error *error)
{
	rf_ruleset_expire(ruleset, rf_fence_jiffies(fence));
	return rf_ruleset_change(ruleset, changes, first, refused, error);
}

/* ---- a commit ---- */

/* Is no trial to settle, and no change that was killed to be finished? */
static bool is_settled(const struct rf_fence *fence)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const struct rf_bank *bank = &fence->config->bank[standing.active & 1];

	return standing.state != RF_FELL_BACK && !(bank->flags & RF_BANK_IN_DOUBT);
}

/*
 * A list that is loaded again is often the same: then the rules in force stay.
 *
 * `unfinished`: some changes were made in place, so a prefix may be off its list already.
 */
static int commit(struct rf_fence *fence, const struct rf_list_changes *changes, bool unfinished,
		  const struct rf_progress *progress, struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	struct rf_list_refused refused;
	size_t first;
	int err = rf_fence_ruleset(fence, &ruleset, error);

	if (!err)
		err = change_rules(fence, changes, &ruleset, &first, &refused, error);
	if (!err && first < changes->count && !unfinished)
		err = rf_list_fail(&changes->change[first], &refused, &changes->owners, error);
	if (!err && (ruleset.lists_changed || unfinished || !is_settled(fence)))
		err = rf_fence_commit(fence, &ruleset, NULL, progress, error);
	rf_ruleset_free(&ruleset);
	return err;
}

/* ---- on trial ---- */

/* The rules of one bank, and what they become. */
struct side {
	int bank;
	struct rf_ruleset ruleset;
	struct rf_compiled compiled;
	struct rf_tries tries;
};

static int make_tries(struct side *side, const struct rf_progress *progress, struct rf_error *error)
{
	const struct rf_ruleset *ruleset = &side->ruleset;
	size_t first[RF_FAMILIES + 1] = {[RF_FAMILIES] = ruleset->listed_count};

	while (first[1] < ruleset->listed_count && ruleset->listed[first[1]].prefix.version == 4)
		first[1]++;
	for (int family = 0; family < RF_FAMILIES; family++) {
		const size_t from = first[family], count = first[family + 1] - from;

		if (!count)
			continue;
		side->tries.fd[family] =
			rf_trie_make(family, ruleset->listed + from, side->compiled.value + from,
				     count, progress, error);
		if (side->tries.fd[family] < 0)
			return side->tries.fd[family];
		side->tries.id[family] = rf_map_id(side->tries.fd[family]);
	}
	return 0;
}

static int prepare(const struct rf_fence *fence, const struct rf_list_changes *changes,
		   struct side *side, size_t *first, struct rf_list_refused *refused,
		   const struct rf_progress *progress, struct rf_error *error)
{
	int err = rf_fence_ruleset_of(fence, side->bank, &side->ruleset, error);

	if (!err)
		err = change_rules(fence, changes, &side->ruleset, first, refused, error);
	if (!err)
		err = rf_ruleset_compile(&side->ruleset, &side->compiled, error);
	return err ? err : make_tries(side, progress, error);
}

/*
 * Leases must tell sources apart as finely as the new prefixes, before any packet sees these: a
 * lease of many sources would get the answer of one.
 */
static void refine_leases(struct rf_fence *fence, const struct side *side)
{
	const struct rf_bank *next = &side->ruleset.bank;
	struct rf_bank *bank = &fence->config->bank[side->bank];

	__atomic_store_n(&bank->lease_mask4, bank->lease_mask4 | next->lease_mask4,
			 __ATOMIC_SEQ_CST);
	__atomic_store_n(&bank->lease_mask6, bank->lease_mask6 | next->lease_mask6,
			 __ATOMIC_SEQ_CST);
}

static int put_in_force(struct rf_fence *fence, const struct side *side, struct rf_error *error)
{
	const struct rf_bank *next = &side->ruleset.bank;
	struct rf_bank *bank = &fence->config->bank[side->bank];
	int err = rf_tries_put(fence, side->bank, &side->tries, error);

	if (err)
		return err;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		bank->listed[list] = next->listed[list];
	__atomic_store_n(&bank->flags,
			 next->flags | RF_BANK_IN_DOUBT | (bank->flags & RF_BANK_CLOSED),
			 __ATOMIC_SEQ_CST);
	return 0;
}

static int put_all_in_force(struct rf_fence *fence, const struct rf_sides *sides,
			    const struct side *side, struct rf_error *error)
{
	int err;

	rf_lists_set_doubt(fence, sides, true);
	for (int i = 0; i < sides->count; i++)
		refine_leases(fence, &side[i]);
	err = rf_wait_for_programs(error);
	for (int i = 0; i < sides->count && !err; i++)
		err = put_in_force(fence, &side[i], error);
	rf_lists_next_generation(fence);
	if (err)
		return err;
	rf_lists_set_doubt(fence, sides, false);
	return rf_wait_for_programs(error);
}

static int change_sides(struct rf_fence *fence, const struct rf_sides *sides,
			const struct rf_list_changes *changes, bool unfinished,
			const struct rf_progress *progress, struct rf_error *error)
{
	struct side side[2] = {{.tries = RF_TRIES_NONE}, {.tries = RF_TRIES_NONE}};
	struct rf_list_refused refused;
	size_t first;
	int err = 0;

	for (int i = 0; i < sides->count && !err; i++) {
		struct rf_list_changes of_side = *changes;

		side[i].bank = sides->bank[i];
		of_side.may_be_missing = i > 0; /* 'deny list' shows the rules in force */
		err = prepare(fence, &of_side, &side[i], &first, &refused, progress, error);
		if (!err && first < changes->count && !unfinished)
			err = rf_list_fail(&changes->change[first], &refused, &changes->owners,
					   error);
	}
	if (!err)
		err = put_all_in_force(fence, sides, side, error);
	for (int i = 0; i < 2; i++) {
		rf_tries_close(&side[i].tries);
		rf_compiled_free(&side[i].compiled);
		rf_ruleset_free(&side[i].ruleset);
	}
	return err;
}

/* ---- all of it ---- */

static bool is_on_trial(const struct rf_standing *standing)
{
	return standing->state == RF_ON_TRIAL && standing->fallback == RF_FALL_BACK;
}

static struct rf_sides sides_of(const struct rf_standing *standing)
{
	return (struct rf_sides){
		.bank = {standing->in_force & 1, ~standing->in_force & 1},
		.count = is_on_trial(standing) ? 2 : 1,
	};
}

static int check_side(const struct rf_fence *fence, int bank, const struct rf_list_changes *changes,
		      struct rf_list_refused *refused, struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	size_t first;
	int err = rf_fence_ruleset_of(fence, bank, &ruleset, error);

	if (!err)
		err = change_rules(fence, changes, &ruleset, &first, refused, error);
	if (!err && first < changes->count)
		err = rf_list_fail(&changes->change[first], refused, &changes->owners, error);
	rf_ruleset_free(&ruleset);
	return err;
}

int rf_fence_check_lists(struct rf_fence *fence, struct rf_list_changes *changes,
			 struct rf_list_refused *refused, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const struct rf_sides sides = sides_of(&standing);
	int err = rf_fence_join_changes(fence, changes, error);

	*refused = (struct rf_list_refused){};
	for (int i = 0; i < sides.count && !err; i++) {
		struct rf_list_changes of_side = *changes;

		of_side.may_be_missing = i > 0; /* as in change_sides() */
		err = check_side(fence, sides.bank[i], &of_side, refused, error);
	}
	return err;
}

int rf_fence_change_lists(struct rf_fence *fence, struct rf_list_changes *changes,
			  const struct rf_progress *progress, struct rf_lists_outcome *outcome,
			  struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const bool both = is_on_trial(&standing);
	struct rf_sides sides = sides_of(&standing);
	int err = rf_fence_join_changes(fence, changes, error);

	*outcome = (struct rf_lists_outcome){};
	if (err)
		return err;
	/* After a trial that failed, a commit settles it first. */
	err = -EAGAIN;
	if (standing.state != RF_FELL_BACK)
		err = rf_lists_change_in_place(fence, &sides, changes, outcome, error);
	if (err == -EAGAIN && both)
		err = change_sides(fence, &sides, changes, outcome->in_place, progress, error);
	else if (err == -EAGAIN)
		err = commit(fence, changes, outcome->in_place, progress, error);
	sides.bank[0] = rf_fence_standing(fence).in_force & 1;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		outcome->listed[list] = fence->config->bank[sides.bank[0]].listed[list];
	return err;
}
