// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the lists. What cannot be done in place is done by a commit. While rules are
 * unconfirmed a commit is impossible, since both banks are in use: then both get new tries under
 * their limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "fence/lists.h"
#include "fence/private.h"
#include "fence/tries.h"
#include "kernel/info.h"

/* The banks whose lists are changed: the active one, and the one it can be rolled back to. */
struct sides {
	int bank[2];
	int count;
};

/* ---- in place ---- */

/*
 * Changes a list within the active tries. First all changing entries are computed, then they are
 * written one by one: the data path sees each in its old or its new state. While they are written
 * the bank is in doubt: an entry might not match its surrounding entries yet. Last, the bank gets a
 * new generation, which invalidates all leases. A bank that remains in doubt, because the command
 * was killed, gets new tries with the next change.
 */

#define WITHIN_MAX 100		   /* other entries within a region */
#define CHANGES_MAX 65536	   /* of more, new tries are no dearer */
#define GENERATIONS_MAX (1U << 19) /* of one bank; leases distinguish 2^22 */

/* The writes for one bank. */
struct plan {
	const struct rf_bank *bank;
	struct rf_tries tries;
	struct rf_trie_entry *entry;
	bool *is_gone; /* of each entry */
	size_t count;
	size_t capacity;
	long listed[RF_LIST_COUNT]; /* by how many prefixes each list grows */
};

/* A change, and the region in which it changes entries. */
struct located {
	struct rf_prefix region;
	const struct rf_list_change *change;
};

struct located_changes {
	struct located *located;
	struct rf_list_change *change; /* in the order of their regions */
	size_t count;
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
}

/* ---- regions ---- */

static int compare_located(const void *a, const void *b)
{
	const struct located *left = a, *right = b;
	int order = rf_prefix_compare(&left->region, &right->region);

	return order ? order : (left->change > right->change) - (left->change < right->change);
}

/* Sorts the changes by region. One within another becomes part of it. */
static int locate(const struct rf_list_changes *changes, struct located_changes *by_region)
{
	const struct rf_prefix *outer = NULL;

	by_region->count = changes->count;
	by_region->located = calloc(changes->count + 1, sizeof(*by_region->located));
	by_region->change = calloc(changes->count + 1, sizeof(*by_region->change));
	if (!by_region->located || !by_region->change)
		return -ENOMEM;
	for (size_t i = 0; i < changes->count; i++)
		by_region->located[i] = (struct located){rf_region_of(&changes->change[i].prefix),
							 &changes->change[i]};
	rf_sort(by_region->located, changes->count, sizeof(*by_region->located), compare_located);
	for (size_t i = 0; i < changes->count; i++) {
		struct located *located = &by_region->located[i];

		if (outer && rf_prefix_contains(outer, &located->region))
			located->region = *outer;
		else
			outer = &located->region;
	}
	rf_sort(by_region->located, changes->count, sizeof(*by_region->located), compare_located);
	for (size_t i = 0; i < changes->count; i++)
		by_region->change[i] = *by_region->located[i].change;
	return 0;
}

static void free_located(struct located_changes *by_region)
{
	free(by_region->located);
	free(by_region->change);
}

/* The value of the longest prefix around `root`. */
static void read_around(int fd, const struct rf_prefix *root, struct rf_prefix_value *value)
{
	struct rf_prefix around = *root;

	*value = (struct rf_prefix_value){};
	if (!root->length)
		return;
	around.length--;
	rf_trie_look_up(fd, &around, value);
}

/* ---- plans ---- */

static int add_write(struct plan *plan, const struct rf_trie_entry *entry, bool is_gone)
{
	if (plan->count == plan->capacity) {
		const size_t capacity = plan->capacity ? 2 * plan->capacity : 64;
		struct rf_trie_entry *grown = reallocarray(plan->entry, capacity, sizeof(*grown));
		bool *gone;

		if (!grown)
			return -ENOMEM;
		plan->entry = grown;
		gone = reallocarray(plan->is_gone, capacity, sizeof(*gone));
		if (!gone)
			return -ENOMEM;
		plan->is_gone = gone;
		plan->capacity = capacity;
	}
	plan->entry[plan->count] = *entry;
	plan->is_gone[plan->count++] = is_gone;
	return 0;
}

/* A lease distinguishes sources by the mask of the bank. */
static bool fits_lease_mask(const struct rf_bank *bank, const struct rf_prefix *prefix)
{
	const unsigned int length = prefix->length < 64 ? prefix->length : 64;

	if (prefix->version == 4)
		return !(rf_prefix_mask(prefix->length, 0) & ~bank->lease_mask4);
	return !((rf_prefix_mask(length, 0) | (__u64)rf_prefix_mask(length, 1) << 32) &
		 ~bank->lease_mask6);
}

static void count_listed(struct plan *plan, const struct rf_trie_entry *entry, size_t count, int by)
{
	for (size_t i = 0; i < count; i++)
		for (int list = 0; list < RF_LIST_COUNT; list++)
			plan->listed[list] +=
				rf_list_claims_until(entry[i].value.own_claim, list) ? by : 0;
}

/* Plans what differs between the entries of a region before and after. */
static int plan_difference(struct plan *plan, const struct rf_region *region,
			   const struct rf_trie_entry *after, size_t count, struct rf_error *error)
{
	size_t before = 0;
	int err = 0;

	count_listed(plan, region->entry, region->count, -1);
	count_listed(plan, after, count, 1);
	for (size_t i = 0; (i < count || before < region->count) && !err;) {
		const int order = i == count ? -1
				  : before == region->count
					  ? 1
					  : rf_prefix_compare(&region->entry[before].prefix,
							      &after[i].prefix);

		if (order < 0)
			err = add_write(plan, &region->entry[before], true);
		else if (order > 0 && !fits_lease_mask(plan->bank, &after[i].prefix))
			return -EAGAIN;
		else if (order > 0 || memcmp(&region->entry[before].value, &after[i].value,
					     sizeof(after[i].value)) != 0)
			err = add_write(plan, &after[i], false);
		before += order <= 0;
		i += order >= 0;
	}
	return err ? fail_memory(error) : 0;
}

/* The first refused change so far; NULL: none. */
struct first_refused {
	const struct rf_list_change *change;
	struct rf_list_refused why;
};

static int plan_region(struct plan *plan, const struct rf_prefix *root,
		       const struct rf_list_changes *changes, uint64_t now,
		       struct first_refused *first, struct rf_error *error)
{
	const int fd = plan->tries.fd[root->version == 6];
	struct rf_trie_entry within[WITHIN_MAX + 1], *after = NULL;
	struct rf_region region = {.root = *root, .entry = within};
	struct rf_list_refused refused;
	size_t count, at;
	int err;

	if (fd < 0)
		return -EAGAIN;
	if (rf_trie_read_within(fd, root, within, WITHIN_MAX + 1, &region.count))
		return -EAGAIN;
	if (region.count > WITHIN_MAX && rf_prefix_compare(&within[0].prefix, root) != 0)
		return -EAGAIN;
	read_around(fd, root, &region.around);
	err = rf_region_change(&region, changes, now, &after, &count, &at, &refused, error);
	if (!err && at < changes->count &&
	    (!first->change || changes->change[at].line < first->change->line))
		*first = (struct first_refused){&changes->change[at], refused};
	if (!err)
		err = plan_difference(plan, &region, after, count, error);
	free(after);
	return err;
}

static int make_plan(struct plan *plan, const struct rf_fence *fence,
		     const struct located_changes *by_region, bool may_be_missing,
		     struct first_refused *first, struct rf_error *error)
{
	const uint64_t now = rf_fence_jiffies(fence);
	int err = 0;

	for (size_t from = 0, to; from < by_region->count && !err; from = to) {
		const struct rf_prefix *root = &by_region->located[from].region;

		for (to = from + 1; to < by_region->count; to++)
			if (rf_prefix_compare(root, &by_region->located[to].region) != 0)
				break;
		err = plan_region(plan, root,
				  &(struct rf_list_changes){.change = by_region->change + from,
							    .count = to - from,
							    .may_be_missing = may_be_missing},
				  now, first, error);
	}
	return err;
}

static bool has_limit_in_force(const struct rf_bank *bank)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && !(bank->policy[slot].flags & RF_SHADOW))
			return true;
	return false;
}

/* Would flags of the bank change? */
static bool changes_flags(const struct plan *plan)
{
	const struct rf_bank *bank = plan->bank;

	return !has_limit_in_force(bank) &&
	       !bank->listed[RF_DENY] != !(bank->listed[RF_DENY] + plan->listed[RF_DENY]);
}

static bool is_same_plan(const struct plan *a, const struct plan *b)
{
	if (a->count != b->count)
		return false;
	return !a->count || (memcmp(a->entry, b->entry, a->count * sizeof(*a->entry)) == 0 &&
			     memcmp(a->is_gone, b->is_gone, a->count * sizeof(*a->is_gone)) == 0);
}

/*
 * Both banks can have the same trie. Then both plans must be the same, and one of them is executed.
 */
static int settle_shared(struct plan *plan)
{
	bool shared = false;

	for (int family = 0; family < RF_FAMILIES; family++)
		shared |= plan[0].tries.id[family] &&
			  plan[0].tries.id[family] == plan[1].tries.id[family];
	return shared && !is_same_plan(&plan[0], &plan[1]) ? -EAGAIN : 0;
}

/* ---- writing ---- */

static void set_doubt(struct rf_fence *fence, const struct sides *sides, bool in_doubt)
{
	for (int i = 0; i < sides->count; i++) {
		__u32 *flags = &fence->config->bank[sides->bank[i]].flags;
		const __u32 now = in_doubt ? *flags | RF_BANK_IN_DOUBT : *flags & ~RF_BANK_IN_DOUBT;

		__atomic_store_n(flags, now, __ATOMIC_SEQ_CST);
	}
}

/* Invalidates leases of both banks, after the rules of their verdicts have changed. */
static void begin_generation(struct rf_fence *fence)
{
	/* By two: the lowest bit names the bank. */
	__atomic_store_n(&fence->config->active, fence->config->active + 2, __ATOMIC_SEQ_CST);
}

/* Shorter prefixes come first: a /64 is known to be divided before it is. */
static int write_plan(const struct plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < plan->count && !err; i++) {
		const int fd = plan->tries.fd[plan->entry[i].prefix.version == 6];

		err = plan->is_gone[i] ? rf_trie_remove(fd, &plan->entry[i].prefix)
				       : rf_trie_put(fd, &plan->entry[i]);
	}
	return err;
}

static void keep_counts(struct rf_fence *fence, const struct sides *sides, const struct plan *plan)
{
	for (int i = 0; i < sides->count; i++)
		for (int list = 0; list < RF_LIST_COUNT; list++)
			fence->config->bank[sides->bank[i]].listed[list] += plan[i].listed[list];
}

/* An empty trie costs look-ups for nothing: then the bank gets none. */
static bool has_empty_trie(const struct plan *plan)
{
	for (int family = 0; family < RF_FAMILIES; family++)
		if (plan->tries.fd[family] >= 0 && rf_trie_is_empty(plan->tries.fd[family]))
			return true;
	return false;
}

static int make_changes(struct rf_fence *fence, const struct sides *sides, const struct plan *plan,
			struct rf_lists_outcome *outcome)
{
	int err = 0;

	if (!plan[0].count && !(sides->count > 1 && plan[1].count))
		return 0;
	set_doubt(fence, sides, true);
	outcome->in_place = true;
	for (int i = 0; i < sides->count && !err; i++) {
		err = write_plan(&plan[i]);
		outcome->writes += plan[i].count;
	}
	if (err)
		return -EAGAIN;
	keep_counts(fence, sides, plan);
	begin_generation(fence);
	set_doubt(fence, sides, false);
	for (int i = 0; i < sides->count; i++)
		if (has_empty_trie(&plan[i]))
			return -EAGAIN;
	return 0;
}

/* ---- the complete change ---- */

static bool may_be_in_place(const struct rf_fence *fence, const struct sides *sides,
			    const struct rf_list_changes *changes)
{
	if (changes->count > CHANGES_MAX || changes->releases)
		return false;
	for (int i = 0; i < sides->count; i++) {
		const struct rf_bank *bank = &fence->config->bank[sides->bank[i]];

		if (bank->flags & RF_BANK_IN_DOUBT ||
		    (__u32)fence->config->active - bank->since_generation > GENERATIONS_MAX)
			return false;
	}
	return true;
}

static int plan_sides(struct rf_fence *fence, const struct sides *sides,
		      const struct located_changes *by_region, struct plan *plan,
		      struct rf_error *error)
{
	struct first_refused first = {};
	int err = 0;

	for (int i = 0; i < sides->count && !err; i++) {
		plan[i].bank = &fence->config->bank[sides->bank[i]];
		err = rf_tries_open(fence, sides->bank[i], &plan[i].tries, error);
		if (!err)
			err = make_plan(&plan[i], fence, by_region, i > 0, &first, error);
		if (!err && changes_flags(&plan[i]))
			err = -EAGAIN;
		if (!err && first.change)
			return rf_list_fail(first.change, &first.why, &fence->config->owners,
					    error);
	}
	return !err && sides->count > 1 ? settle_shared(plan) : err;
}

/*
 * Changes the active tries. -EAGAIN: impossible, or not finished; then the caller builds new tries.
 * Sets `outcome->in_place` as soon as an entry was written.
 */
static int change_in_place(struct rf_fence *fence, const struct sides *sides,
			   const struct rf_list_changes *changes, struct rf_lists_outcome *outcome,
			   struct rf_error *error)
{
	struct plan plan[2] = {{.tries = RF_TRIES_NONE}, {.tries = RF_TRIES_NONE}};
	struct located_changes by_region = {};
	int err = -EAGAIN;

	if (!may_be_in_place(fence, sides, changes))
		return err;
	err = locate(changes, &by_region) ? fail_memory(error) : 0;
	if (!err)
		err = plan_sides(fence, sides, &by_region, plan, error);
	if (!err)
		err = make_changes(fence, sides, plan, outcome);
	for (int i = 0; i < 2; i++) {
		rf_tries_close(&plan[i].tries);
		free(plan[i].entry);
		free(plan[i].is_gone);
	}
	free_located(&by_region);
	return err;
}

/* ---- by a commit, or while rules are unconfirmed ---- */

/*
 * Changes of the lists. What cannot be done in place is done by a commit. While rules are
 * unconfirmed a commit is impossible, since both banks are in use: then both get new tries under
 * their limits.
 */

/* Changes the rules of a bank, without the expired ones. */
static int change_rules(const struct rf_fence *fence, const struct rf_list_changes *changes,
			struct rf_ruleset *ruleset, size_t *first, struct rf_list_refused *refused,
			struct rf_error *error)
{
	rf_ruleset_expire(ruleset, rf_fence_jiffies(fence));
	return rf_ruleset_change(ruleset, changes, first, refused, error);
}

/* ---- a commit ---- */

/* Are no unconfirmed rules to settle, and no change that was killed to be finished? */
static bool is_settled(const struct rf_fence *fence)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const struct rf_bank *bank = &fence->config->bank[standing.active & 1];

	return standing.state != RF_REVERTED && !(bank->flags & RF_BANK_IN_DOUBT);
}

/*
 * A list that is loaded again is often the same: then the active rules remain.
 *
 * `unfinished`: some changes were made in place, so a prefix might already be off its list.
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

/* ---- while rules are unconfirmed ---- */

/* The rules of one bank, before and after. */
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
 * Leases must distinguish sources as finely as the new prefixes, before any packet sees these:
 * otherwise a lease of many sources would get the verdict of one.
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
			 next->flags | RF_BANK_IN_DOUBT | (bank->flags & RF_BANK_DROPS_NEWCOMERS),
			 __ATOMIC_SEQ_CST);
	return 0;
}

static int put_all_in_force(struct rf_fence *fence, const struct sides *sides,
			    const struct side *side, struct rf_error *error)
{
	int err;

	set_doubt(fence, sides, true);
	for (int i = 0; i < sides->count; i++)
		refine_leases(fence, &side[i]);
	err = rf_wait_for_programs(error);
	for (int i = 0; i < sides->count && !err; i++)
		err = put_in_force(fence, &side[i], error);
	begin_generation(fence);
	if (err)
		return err;
	set_doubt(fence, sides, false);
	return rf_wait_for_programs(error);
}

static int change_sides(struct rf_fence *fence, const struct sides *sides,
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
		of_side.may_be_missing = i > 0; /* 'deny list' shows the active rules */
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

/* ---- the complete change ---- */

static bool is_unconfirmed(const struct rf_standing *standing)
{
	return standing->state == RF_PENDING && standing->fallback == RF_FALL_BACK;
}

static struct sides sides_of(const struct rf_standing *standing)
{
	return (struct sides){
		.bank = {standing->in_force & 1, ~standing->in_force & 1},
		.count = is_unconfirmed(standing) ? 2 : 1,
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
	const struct sides sides = sides_of(&standing);
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
	const bool both = is_unconfirmed(&standing);
	struct sides sides = sides_of(&standing);
	int err = rf_fence_join_changes(fence, changes, error);

	*outcome = (struct rf_lists_outcome){};
	if (err)
		return err;
	/* If rules were not confirmed in time, a commit settles that first. */
	err = -EAGAIN;
	if (standing.state != RF_REVERTED)
		err = change_in_place(fence, &sides, changes, outcome, error);
	if (err == -EAGAIN && both)
		err = change_sides(fence, &sides, changes, outcome->in_place, progress, error);
	else if (err == -EAGAIN)
		err = commit(fence, changes, outcome->in_place, progress, error);
	sides.bank[0] = rf_fence_standing(fence).in_force & 1;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		outcome->listed[list] = fence->config->bank[sides.bank[0]].listed[list];
	return err;
}

/* ---- own networks ---- */

/* What adds the networks of interfaces. */
typedef int (*reader)(struct rf_own_networks *own, const unsigned int *index, size_t count,
		      struct rf_error *error);

static int read_interfaces(const struct rf_fence *fence, reader read, struct rf_own_networks *own,
			   struct rf_error *error)
{
	unsigned int *index = calloc(fence->interfaces + 1, sizeof(*index));
	int err;

	if (!index)
		return rf_error_failed(error, -ENOMEM, "out of memory for the interfaces");
	for (int i = 0; i < fence->interfaces; i++)
		index[i] = fence->interface[i].index;
	err = read(own, index, fence->interfaces, error);
	free(index);
	return err;
}

int rf_fence_own_networks(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error)
{
	int err = rf_own_networks_add_peer(own, error);

	return err ? err : read_interfaces(fence, rf_own_networks_read, own, error);
}

int rf_fence_own_gateways(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error)
{
	return read_interfaces(fence, rf_own_networks_read_gateways, own, error);
}

int rf_fence_find_lockouts(struct rf_fence *fence, uint64_t now, const struct rf_own_networks *own,
			   struct rf_list_changes *changes, struct rf_lockout_lists *found,
			   struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(fence, &rules, error);

	rf_ruleset_expire(&rules, now);
	if (!err)
		err = rf_fence_join_changes(fence, changes, error);
	if (!err)
		err = rf_lockout_find(own, changes, &rules, found, error);
	rf_ruleset_free(&rules);
	return err;
}
