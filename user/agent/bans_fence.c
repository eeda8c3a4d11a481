// SPDX-License-Identifier: GPL-2.0
/* The accepted bans in the fence: checks them, and the process that writes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bans.h"
#include "base/sort.h"
#include "base/time.h"
#include "fence/lists.h"
#include "rules/lockout.h"

#define LOOKS 32 /* in a turn: a look-up opens the fence's tries */

static bool is_there(const struct rf_fence *fence, const struct rf_prefix *ban)
{
	struct rf_prefix_value value;
	struct rf_error ignored = {};

	return rf_fence_value_around(fence, ban, &value, &ignored) ||
	       value.deny_until > rf_fence_jiffies(fence);
}

bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence)
{
	for (uint32_t i = 0; i < LOOKS && i < bans->count; i++) {
		const struct rf_taken_ban *taken = &bans->taken[bans->looked++ % bans->count];

		if (taken->until_ns && !is_there(fence, &taken->prefix))
			return false;
	}
	return true;
}

/* ---- the writer: a separate process that holds the lock of all commands until it exits ---- */

static int compare_taken(const void *a, const void *b)
{
	const struct rf_taken_ban *left = a, *right = b;

	return rf_prefix_compare(&left->prefix, &right->prefix);
}

/* Sorted by prefix. Of several hosts' bans of one prefix the longest counts. */
static int make_changes(struct rf_fence *fence, const struct rf_taken_ban *sorted, uint32_t count,
			struct rf_list_changes *changes, struct rf_error *error)
{
	const uint64_t now = rf_fence_jiffies(fence), now_ns = rf_time_awake();
	int err = 0;

	for (uint32_t i = 0, next; i < count && !err; i = next) {
		struct rf_list_change change = {
			.prefix = sorted[i].prefix,
			.list = RF_DENY,
			.owner = RF_OWNER_FLEET,
			.on_own = RF_ON_OWN_SKIP,
		};
		uint64_t until_ns = 0;

		for (next = i; next < count && !compare_taken(&sorted[i], &sorted[next]); next++)
			if (sorted[next].until_ns > until_ns)
				until_ns = sorted[next].until_ns;
		if (until_ns > now_ns)
			change.until = rf_fence_deadline(fence, now, until_ns - now_ns);
		err = rf_list_changes_add(changes, &change, error);
	}
	return err;
}

/* Runs first: an expired ban can be accepted again. */
static int end_expired(const struct rf_fence *fence, struct rf_list_changes *changes,
		       struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	int err = rf_fence_ruleset(fence, &ruleset, error);

	for (size_t i = 0; i < ruleset.listed_count && !err; i++) {
		const struct rf_list_change change = {
			.prefix = ruleset.listed[i].prefix,
			.list = RF_DENY,
			.owner = RF_OWNER_FLEET,
		};
		const uint64_t until =
			rf_listed_until_by(&ruleset.listed[i], RF_DENY, RF_OWNER_FLEET);

		if (until && until <= rf_fence_jiffies(fence))
			err = rf_list_changes_add(changes, &change, error);
	}
	rf_ruleset_free(&ruleset);
	return err;
}

/* Removes the changes that the fence refuses. Returns how many; `first` has the reason of one. */
static size_t remove_refused(struct rf_list_changes *changes, const struct rf_owners *owners,
			     struct rf_error *first)
{
	bool has_first = false;

	for (size_t i = 0; i < changes->count; i++) {
		if (!changes->refused[i].why)
			continue;
		if (!has_first)
			rf_list_fail(&changes->change[i], &changes->refused[i], owners, first);
		has_first = changes->change[i].is_left_out = true;
	}
	return rf_list_changes_leave_out(changes);
}

/* Reports why changes are skipped, by the first reason. */
static void note_left_out(const struct rf_error *reason, size_t count, struct rf_error *left_out)
{
	if (count > 1)
		rf_error_failed(left_out, 0, "%s; %zu more are refused as well", reason->text,
				count - 1);
	else if (count)
		*left_out = *reason;
}

/* ---- own networks ---- */

/* A host whose addresses cannot be read must take bans all the same: that is only reported. */
static void read_own(const struct rf_fence *fence, const struct rf_list_changes *changes,
		     struct rf_own_networks *own, struct rf_error *failed)
{
	struct rf_error reason;
	int err = rf_fence_own_networks(fence, own, &reason);

	if (!err && rf_lockout_needs_gateways(own, changes))
		err = rf_fence_own_gateways(fence, own, &reason);
	if (err)
		*failed = reason;
}

/* Another host must not cut this one off from its own networks. */
static int leave_out_own(struct rf_fence *fence, struct rf_list_changes *changes,
			 struct rf_error *left_out, struct rf_error *error)
{
	struct rf_own_networks own = {};
	struct rf_lockout_lists found = {};
	char network[RF_OWN_NETWORK_TEXT_SIZE], prefix[RF_PREFIX_TEXT_SIZE];
	struct rf_error reason = {};
	int err = 0;

	read_own(fence, changes, &own, left_out);
	if (rf_lockout_concerns(&own, changes))
		err = rf_fence_find_lockouts(fence, rf_fence_jiffies(fence), &own, changes, &found,
					     error);
	for (size_t i = 0; i < found.count; i++)
		rf_lockout_mark(changes, &found.found[i]);
	if (found.count) {
		rf_own_network_format(found.found[0].network, network);
		rf_format_prefix(&changes->change[found.found[0].number].prefix, prefix);
		rf_error_failed(&reason, 0,
				"'%s': it covers %s; 'ringfence deny add %s force' denies it "
				"nevertheless",
				prefix, network, prefix);
	}
	note_left_out(&reason, rf_list_changes_leave_out(changes), left_out);
	rf_lockout_free(&found);
	rf_own_networks_free(&own);
	return err;
}

/* ---- writing ---- */

/* Makes all changes that the fence accepts: one ban must not block the others. */
static int change_others(struct rf_fence *fence, struct rf_list_changes *changes,
			 struct rf_error *left_out, struct rf_error *error)
{
	struct rf_list_refused first;
	struct rf_lists_outcome outcome;
	struct rf_error reason = {};
	size_t refused;
	int err;

	changes->refused = calloc(changes->count + 1, sizeof(*changes->refused));
	if (!changes->refused)
		return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
	err = rf_fence_check_lists(fence, changes, &first, error);
	refused = remove_refused(changes, &fence->config->owners, &reason);
	free(changes->refused);
	changes->refused = NULL;
	if (err && !refused)
		return err;
	note_left_out(&reason, refused, left_out);
	return rf_fence_change_lists(fence, changes, NULL, &outcome, error);
}

int rf_fleet_bans_write(const struct rf_fleet_bans *bans, struct rf_error *left_out,
			struct rf_error *error)
{
	static struct rf_taken_ban sorted[RF_FLEET_BANS_MAX];
	struct rf_list_changes changes = {};
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_lists_outcome outcome;
	char word[RF_NAME_SIZE + 8];
	int err;

	memcpy(sorted, bans->taken, bans->count * sizeof(*sorted));
	rf_sort(sorted, bans->count, sizeof(*sorted), compare_taken);
	snprintf(word, sizeof(word), "fence:%s", bans->settings->name);
	err = rf_fence_open_to_change(&fence, word, error);
	if (!err)
		err = rf_fence_measure_clock(&fence, error);
	if (!err)
		err = rf_fence_make_leases(&fence, error);
	if (!err && bans->sweeps)
		err = end_expired(&fence, &changes, error);
	if (!err)
		err = make_changes(&fence, sorted, bans->count, &changes, error);
	if (!err)
		err = leave_out_own(&fence, &changes, left_out, error);
	if (!err)
		err = rf_fence_change_lists(&fence, &changes, NULL, &outcome, error);
	/* Unconfirmed rules and the previous rules can refuse different bans. */
	for (int side = 0; side < 2 && err == -ENOSPC; side++)
		err = change_others(&fence, &changes, left_out, error);
	rf_list_changes_free(&changes);
	rf_fence_close(&fence);
	return err;
}
