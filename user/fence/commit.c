// SPDX-License-Identifier: GPL-2.0
/*
 * Changes the rules of a fence. The idle bank, with its ports and its tries, can be written once
 * every program that might still read it has finished. Then one store activates that bank.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "fence/lists.h"
#include "fence/newcomers.h"
#include "fence/private.h"
#include "fence/tries.h"
#include "kernel/info.h"
#include "rules/policy.h"
#include "rules/ruleset.h"

/* ---- owners ---- */

/* The owners of entries of the lists, as the configuration of a fence numbers them. */

/* Adds the owners of a bank's entries, except for expired ones, which every reader skips. */
static int add_used(const struct rf_fence *fence, int bank, struct rf_owner_set *used,
		    struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	const int err = rf_fence_ruleset_of(fence, bank, &ruleset, error);

	if (!err)
		rf_ruleset_expire(&ruleset, rf_fence_jiffies(fence));
	for (size_t i = 0; i < ruleset.listed_count && !err; i++)
		for (int j = 0; j < RF_LIST_CLAIMS; j++)
			if (ruleset.listed[i].claim[j].until)
				rf_owner_set_add(used, ruleset.listed[i].claim[j].owner);
	rf_ruleset_free(&ruleset);
	return err;
}

/* Frees the names of owners without an entry in the active rules or in unconfirmed ones. */
static int sweep_owners(struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const int in_force = standing.in_force & 1;
	struct rf_owner_set used = {};
	int err = add_used(fence, in_force, &used, error);

	if (!err && standing.state == RF_PENDING)
		err = add_used(fence, !in_force, &used, error);
	for (int owner = RF_OWNERS_FIXED; owner < RF_OWNERS_MAX && !err; owner++)
		if (!rf_owner_set_has(&used, owner))
			memset(fence->config->owners.name[owner - RF_OWNERS_FIXED], 0,
			       RF_OWNER_SIZE);
	return err;
}

/*
 * Numbers the owners of rules as in the fence, which adds new ones. Names that only expired entries
 * use, or none, make room for them. Only with the lock held.
 */
static int join_owners(struct rf_fence *fence, struct rf_ruleset *ruleset, struct rf_error *error)
{
	int err = rf_ruleset_join_owners(ruleset, &fence->config->owners, error);

	if (err == -ENOSPC && !sweep_owners(fence, error))
		err = rf_ruleset_join_owners(ruleset, &fence->config->owners, error);
	return err;
}

int rf_fence_join_changes(struct rf_fence *fence, struct rf_list_changes *changes,
			  struct rf_error *error)
{
	int err = rf_list_changes_join(changes, &fence->config->owners, error);

	if (err == -ENOSPC && !sweep_owners(fence, error))
		err = rf_list_changes_join(changes, &fence->config->owners, error);
	return err;
}

/*
 * Changes the rules of a fence. The idle bank, with its ports and its tries, can be written once
 * every program that might still read it has finished. Then one store activates that bank.
 */

/* The rules to activate, and the present rules. */
struct commit {
	struct rf_fence *fence;
	struct rf_ruleset *ruleset;
	struct rf_compiled compiled;
	struct rf_tries tries;
	struct rf_bank present;
	struct rf_tries present_tries;
	const struct rf_confirm *confirm; /* NULL: none */
	bool is_in_force;		  /* true after the switch, even if a later step fails */
};

/* ---- the switch ---- */

#define AGE_MOST (1U << 21) /* a quarter of the generations that leases can distinguish */

/*
 * Leases compare generations modulo 2^23, so `since_generation` must not fall far behind. No lease
 * is older than AGE_MOST, and a younger lease counts for its limit either way.
 */
static void keep_in_sight(__u32 *since_generation, uint32_t next)
{
	if (next - *since_generation > AGE_MOST)
		*since_generation = next - AGE_MOST;
}

/*
 * Sets the generation of each limit that is new in `bank`. The bank becomes the generation `next`.
 */
static void note_births(struct rf_bank *bank, uint32_t next)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		if (!bank->policy[slot].since_generation)
			bank->policy[slot].since_generation = next;
		if (!bank->limit[slot].since_generation)
			bank->limit[slot].since_generation = next;
		keep_in_sight(&bank->policy[slot].since_generation, next);
		keep_in_sight(&bank->limit[slot].since_generation, next);
	}
}

static void set_active(struct rf_fence *fence, uint64_t active)
{
	__atomic_store_n(&fence->config->active, active, __ATOMIC_RELEASE);
}

/*
 * Writes the idle bank, which no program reads any more, and activates it. Tables are NULL if no
 * limit needs them.
 */
static int switch_bank(struct rf_fence *fence, const struct rf_bank *bank,
		       const struct rf_compiled *tables, const struct rf_tries *tries,
		       struct rf_error *error)
{
	struct rf_config *config = fence->config;
	const uint64_t next = config->active + 1;
	int err = rf_tries_put(fence, next & 1, tries, error);

	if (err)
		return err;
	if (tables->ports)
		memcpy(&fence->ports[next & 1], tables->ports, sizeof(*tables->ports));
	if (tables->tables)
		memcpy(&config->shape_tables[next & 1], tables->tables, sizeof(*tables->tables));
	config->bank[next & 1] = *bank;
	config->bank[next & 1].since_generation = next;
	note_births(&config->bank[next & 1], next);
	set_active(fence, next);
	/* When the command returns, no packet is evaluated under the old rules any more. */
	return rf_wait_for_programs(error);
}

/*
 * Frees the tries of the bank that no program reads any more, which can be as large as the active
 * ones. A failure is harmless: the next commit replaces them.
 */
static void free_idle_tries(const struct rf_fence *fence)
{
	const int in_force = fence->config->active & 1;
	struct rf_tries tries = RF_TRIES_NONE, idle = RF_TRIES_NONE;
	struct rf_error ignored;

	if (!rf_tries_open(fence, in_force, &tries, &ignored) &&
	    !rf_tries_open(fence, !in_force, &idle, &ignored) &&
	    memcmp(tries.id, idle.id, sizeof(idle.id)) != 0)
		rf_tries_put(fence, !in_force, &RF_TRIES_NONE, &ignored);
	rf_tries_close(&tries);
	rf_tries_close(&idle);
}

/* ---- unconfirmed rules ---- */

int rf_fence_check_settled(const struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	char left[RF_DURATION_TEXT_SIZE];

	if (standing.state != RF_PENDING || standing.fallback != RF_FALL_BACK)
		return 0;
	rf_format_left(standing.confirm_ns, left);
	return rf_error_failed(error, -EBUSY,
			       "rules are unconfirmed for another %s; 'ringfence confirm' confirms "
			       "them, 'ringfence revert' restores the old ones",
			       left);
}

/*
 * A lease may still hold packets for a window of the unconfirmed rules. They must not be added to a
 * window of the old rules. So a slot in which those had another limit counts as new.
 */
static void forget_unconfirmed(struct rf_fence *fence, uint64_t active)
{
	struct rf_bank *back = &fence->config->bank[~active & 1];
	const struct rf_bank *reverted = &fence->config->bank[active & 1];

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (back->policy[slot].id != reverted->policy[slot].id)
			back->policy[slot].since_generation = active + 1;
}

/* If the new rules were not confirmed in time, makes the old rules, unchanged, the active ones. */
static int settle(struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);

	if (standing.state != RF_REVERTED)
		return 0;
	forget_unconfirmed(fence, standing.active);
	/* The next generation has the parity of the active bank. */
	set_active(fence, standing.active + 1);
	return rf_wait_for_programs(error);
}

static int check_confirm(const struct commit *commit, struct rf_error *error)
{
	if (!commit->confirm || !commit->present.deadline)
		return 0;
	return rf_error_failed(error, -EBUSY,
			       "the attach is unconfirmed; run 'ringfence confirm' first");
}

/* An unconfirmed attach remains unconfirmed when its rules change. */
static void set_deadline(const struct commit *commit)
{
	struct rf_bank *bank = &commit->ruleset->bank;

	bank->deadline = commit->present.deadline;
	bank->fallback = commit->present.fallback;
	if (!commit->confirm)
		return;
	bank->fallback = RF_FALL_BACK;
	bank->deadline = rf_fence_deadline(commit->fence, rf_fence_jiffies(commit->fence),
					   commit->confirm->time_ns);
}

/* ---- tries ---- */

static size_t count_ipv4(const struct rf_ruleset *ruleset)
{
	size_t low = 0, high = ruleset->listed_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ruleset->listed[middle].prefix.version == 4)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_same_content(const struct rf_trie_content *content, const struct rf_listed *listed,
			    const struct rf_prefix_value *value, size_t count)
{
	if (content->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (rf_prefix_compare(&content->entry[i].prefix, &listed[i].prefix) != 0 ||
		    memcmp(&content->entry[i].value, &value[i], sizeof(*value)) != 0)
			return false;
	return true;
}

/* Takes the present trie of a family if it holds the same prefixes, else makes a new one. */
static int choose_trie(struct commit *commit, int family, size_t from, size_t to,
		       const struct rf_progress *progress, struct rf_error *error)
{
	const struct rf_listed *listed = commit->ruleset->listed + from;
	const struct rf_prefix_value *value = commit->compiled.value + from;
	const int present = commit->present_tries.fd[family];
	struct bpf_map_info info = {};
	struct rf_trie_content content = {};
	bool same = false;
	int fd = -1, err = 0;

	if (from == to)
		return 0;
	if (present >= 0) {
		err = rf_trie_read(present, family, &content, error);
		same = !err && is_same_content(&content, listed, value, to - from);
		free(content.entry);
	}
	if (err)
		return err;
	fd = same ? dup(present) : rf_trie_make(family, listed, value, to - from, progress, error);
	if (fd < 0 || rf_map_info(fd, &info))
		return same || fd >= 0
			       ? rf_error_failed(error, -errno, "cannot open the prefixes: %s",
						 strerror(errno))
			       : fd;
	commit->tries.fd[family] = fd;
	commit->tries.id[family] = info.id;
	return 0;
}

static int choose_tries(struct commit *commit, const struct rf_progress *progress,
			struct rf_error *error)
{
	const size_t ipv4 = count_ipv4(commit->ruleset);
	const int bank = commit->fence->config->active & 1;
	int err = rf_tries_open(commit->fence, bank, &commit->present_tries, error);

	if (!err)
		err = choose_trie(commit, 0, 0, ipv4, progress, error);
	if (!err)
		err = choose_trie(commit, 1, ipv4, commit->ruleset->listed_count, progress, error);
	return err;
}

/* ---- before the switch ---- */

static int clear_new_counters(const struct commit *commit, struct rf_error *error)
{
	const struct rf_bank *bank = &commit->ruleset->bank;
	int err = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++)
		if (bank->policy[slot].id && !bank->limit[slot].since_generation)
			err = rf_fence_clear_limit_counters(commit->fence,
							    bank->policy[slot].counters, error);
	return err;
}

static int switch_both(struct commit *commit, struct rf_error *error)
{
	struct rf_fence *fence = commit->fence;
	const unsigned int bank = fence->config->active & 1, flags = commit->present.flags;
	const struct rf_compiled present = {
		.ports = flags & RF_BANK_PORTS ? &fence->ports[bank] : NULL,
		.tables = flags & RF_BANK_SHAPES ? &fence->config->shape_tables[bank] : NULL,
	};
	const struct rf_bank *fallback = commit->confirm ? &commit->present : NULL;
	uint64_t before;
	int err = 0;

	if (commit->ruleset->bank.newcomers.except_established || commit->ruleset->bank.truncates) {
		rf_examine(fence, &commit->ruleset->bank, &commit->present);
		err = rf_examine_note_macs(fence, error);
	}
	/* The last command might have been killed before its own wait. */
	if (!err)
		err = rf_wait_for_programs(error);
	if (!err)
		err = clear_new_counters(commit, error);
	if (err)
		return err;
	/* Larger clips must be active first, see rf_bank_raise_clips(). */
	if (rf_bank_raise_clips(&commit->present, &commit->ruleset->bank))
		err = switch_bank(fence, &commit->present, &present, &commit->present_tries, error);
	if (err)
		return err;
	rf_newcomers_prepare(fence, &commit->ruleset->bank, &commit->present);
	err = rf_newcomers_note_kin(fence, &commit->ruleset->bank, error);
	if (err)
		return err;
	rf_bans_prepare(fence, &commit->ruleset->bank);
	set_deadline(commit);
	before = fence->config->active;
	err = switch_bank(fence, &commit->ruleset->bank, &commit->compiled, &commit->tries, error);
	commit->is_in_force = fence->config->active != before;
	if (commit->is_in_force)
		rf_newcomers_age_kin(fence, &commit->ruleset->bank, fallback);
	if (!err)
		rf_examine(fence, &commit->ruleset->bank, fallback);
	return err;
}

/* ---- a commit ---- */

static void end_commit(struct commit *commit)
{
	rf_compiled_free(&commit->compiled);
	rf_tries_close(&commit->tries);
	rf_tries_close(&commit->present_tries);
}

/* The error came after the switch. */
static int fail_in_force(int err, struct rf_error *error)
{
	const struct rf_error cause = *error;

	return rf_error_failed(error, err, "the new rules are active, but then: %s", cause.text);
}

/*
 * An unchanged limit takes its generation from the present bank. Confirming or rolling back rules
 * might have changed it there after `ruleset` was read.
 */
static void take_births(struct rf_bank *bank, const struct rf_bank *present)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id == present->policy[slot].id)
			bank->policy[slot].since_generation =
				present->policy[slot].since_generation;
}

/* A fence's requirements for the fleet's limits. */
static int check_fleet(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_error *error)
{
	const uint32_t slots = rf_bank_fleet(bank);
	const char *name = slots ? bank->limit[__builtin_ctz(slots)].name : "";

	if (slots && !rf_fence_has_shares(fence))
		return rf_error_failed(error, -EINVAL,
				       "limit '%s': 'fleet' takes a fence that was attached with "
				       "the word 'fleet'; save the rules, detach, and attach again "
				       "with it",
				       name);
	if (slots && !bank->hosts)
		return rf_error_failed(error, -EINVAL,
				       "limit '%s': the fleet's number of hosts is missing; first "
				       "run 'ringfence fleet hosts N'",
				       name);
	return 0;
}

/* The numbers of definitions are stored first: none is ever used twice. */
static int define_fleet(struct commit *commit, struct rf_error *error)
{
	uint32_t next_id = rf_fence_next_limit_id(commit->fence);
	const int err = rf_ruleset_define(commit->ruleset, &next_id, error);

	rf_fence_keep_limit_id(commit->fence, next_id);
	return err;
}

int rf_fence_commit(struct rf_fence *fence, struct rf_ruleset *ruleset,
		    const struct rf_confirm *confirm, const struct rf_progress *progress,
		    struct rf_error *error)
{
	struct commit commit = {
		.fence = fence,
		.ruleset = ruleset,
		.tries = RF_TRIES_NONE,
		.present_tries = RF_TRIES_NONE,
		.confirm = confirm,
	};
	int err = rf_fence_check_settled(fence, error);

	if (!err)
		err = settle(fence, error);
	if (err)
		return err;
	commit.present = fence->config->bank[fence->config->active & 1];
	err = rf_bank_check(&commit.present, error);
	if (err)
		return err;
	take_births(&ruleset->bank, &commit.present);
	rf_ruleset_expire(ruleset, rf_fence_jiffies(fence));
	err = check_confirm(&commit, error);
	if (!err)
		err = join_owners(fence, ruleset, error);
	if (!err)
		err = check_fleet(fence, &ruleset->bank, error);
	if (!err)
		err = rf_ruleset_compile(ruleset, &commit.compiled, error);
	if (!err)
		err = choose_tries(&commit, progress, error);
	if (!err)
		err = define_fleet(&commit, error);
	if (!err)
		err = switch_both(&commit, error);
	if (!err)
		rf_bans_reclaim(fence);
	if (!err && !confirm)
		free_idle_tries(fence);
	end_commit(&commit);
	return err && commit.is_in_force ? fail_in_force(err, error) : err;
}

static int fail_late(const struct rf_standing *standing, struct rf_error *error)
{
	return rf_error_failed(error, -ETIME,
			       "too late: the old rules returned %" PRIu64 " s ago; apply again",
			       (uint64_t)(standing->confirm_ns / RF_NS_PER_S));
}

int rf_fence_confirm(struct rf_fence *fence, struct rf_standing *before, struct rf_error *error)
{
	int err;

	*before = rf_fence_standing(fence);
	if (before->state == RF_CONFIRMED)
		return rf_error_failed(error, -ENOENT,
				       "nothing to confirm: no rules are unconfirmed");
	if (before->state == RF_REVERTED)
		return fail_late(before, error);
	__atomic_store_n(&fence->config->bank[before->active & 1].deadline, 0, __ATOMIC_RELEASE);
	err = rf_wait_for_programs(error); /* the other bank is idle only then */
	if (err)
		return err;
	rf_newcomers_age_kin(fence, &fence->config->bank[before->active & 1], NULL);
	rf_examine(fence, &fence->config->bank[before->active & 1], NULL);
	free_idle_tries(fence);
	return 0;
}

int rf_fence_revert(struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing before = rf_fence_standing(fence);
	int err;

	if (before.state != RF_PENDING)
		return rf_error_failed(error, -ENOENT,
				       "nothing to revert: no rules are unconfirmed");
	if (before.fallback != RF_FALL_BACK)
		return rf_error_failed(error, -ENOENT,
				       "the attach is unconfirmed, and no rules came before it; "
				       "'ringfence detach %s' removes the fence",
				       fence->name);
	__atomic_store_n(&fence->config->bank[before.active & 1].deadline, before.jiffies,
			 __ATOMIC_RELEASE);
	err = rf_wait_for_programs(error);
	if (!err)
		rf_examine(fence, &fence->config->bank[~before.active & 1], NULL);
	return err;
}
