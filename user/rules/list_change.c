// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "rules/list_change.h"
#include "rules/private.h"

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
}

int rf_list_changes_add(struct rf_list_changes *changes, const struct rf_list_change *change,
			struct rf_error *error)
{
	if (changes->count == changes->capacity) {
		size_t capacity = changes->capacity ? 2 * changes->capacity : 16;
		struct rf_list_change *grown =
			reallocarray(changes->change, capacity, sizeof(*grown));

		if (!grown)
			return fail_memory(error);
		changes->change = grown;
		changes->capacity = capacity;
	}
	changes->change[changes->count++] = *change;
	return 0;
}

void rf_list_changes_free(struct rf_list_changes *changes)
{
	free(changes->change);
	free(changes->release);
	*changes = (struct rf_list_changes){};
}

int rf_list_changes_by(struct rf_list_changes *changes, const char *by, uint8_t by_default,
		       uint8_t *owner, struct rf_error *error)
{
	int number = by_default;

	if (strcmp(by, "all") == 0)
		number = RF_OWNER_ALL;
	else if (*by)
		number = rf_owner_add(&changes->owners, by, error);
	if (number < 0)
		return number;
	*owner = number;
	return 0;
}

int rf_list_changes_release(struct rf_list_changes *changes, enum rf_list list,
			    const struct rf_owner_set *owners, struct rf_error *error)
{
	struct rf_list_release *grown =
		reallocarray(changes->release, changes->releases + 1, sizeof(*grown));

	if (!grown)
		return fail_memory(error);
	changes->release = grown;
	changes->release[changes->releases++] = (struct rf_list_release){
		.list = list,
		.owners = *owners,
		.at = changes->count,
	};
	return 0;
}

int rf_list_changes_release_by(struct rf_list_changes *changes, enum rf_list list, const char *by,
			       struct rf_error *error)
{
	struct rf_owner_set one = {};
	uint8_t owner;
	int err;

	if (!*by)
		return rf_list_changes_release(changes, list, &RF_OWNERS_LOCAL, error);
	err = rf_list_changes_by(changes, by, RF_OWNER_ALL, &owner, error);
	if (err)
		return err;
	rf_owner_set_add(&one, owner);
	return rf_list_changes_release(changes, list, &one, error);
}

void rf_list_changes_mark_release(struct rf_list_changes *changes, enum rf_on_own on_own,
				  size_t line)
{
	struct rf_list_release *release = &changes->release[changes->releases - 1];

	release->on_own = on_own;
	release->line = line;
}

/* A release retains its position among the remaining changes. */
size_t rf_list_changes_leave_out(struct rf_list_changes *changes)
{
	const size_t before = changes->count + changes->releases;
	size_t kept = 0, releases = 0, next = 0;

	for (size_t i = 0; i <= changes->count; i++) {
		for (; next < changes->releases && changes->release[next].at == i; next++) {
			changes->release[next].at = kept;
			if (!changes->release[next].is_left_out)
				changes->release[releases++] = changes->release[next];
		}
		if (i < changes->count && !changes->change[i].is_left_out)
			changes->change[kept++] = changes->change[i];
	}
	changes->count = kept;
	changes->releases = releases;
	return before - kept - releases;
}

static bool is_number(unsigned int owner)
{
	return owner < RF_OWNERS_MAX;
}

static void renumber(struct rf_owner_set *owners, const uint8_t number[RF_OWNERS_MAX])
{
	const struct rf_owner_set before = *owners;

	/* "All local owners" covers all numbers. */
	if (memcmp(&before, &RF_OWNERS_LOCAL, sizeof(before)) == 0)
		return;
	*owners = (struct rf_owner_set){};
	for (unsigned int owner = 0; owner < RF_OWNERS_MAX; owner++)
		if (rf_owner_set_has(&before, owner))
			rf_owner_set_add(owners, number[owner]);
}

int rf_list_changes_join(struct rf_list_changes *changes, struct rf_owners *owners,
			 struct rf_error *error)
{
	uint8_t number[RF_OWNERS_MAX];
	const int err = rf_owners_join(owners, &changes->owners, number, error);

	if (err)
		return err;
	for (size_t i = 0; i < changes->count; i++)
		if (is_number(changes->change[i].owner))
			changes->change[i].owner = number[changes->change[i].owner];
	for (size_t i = 0; i < changes->releases; i++)
		renumber(&changes->release[i].owners, number);
	changes->owners = *owners;
	return 0;
}

/* ---- refusals ---- */

/* "load and fail2ban-sshd" */
static void format_owners(const struct rf_list_refused *refused, const struct rf_owners *owners,
			  char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (int i = 0; i < refused->owners && at < size; i++)
		at += snprintf(text + at, size - at, "%s%s",
			       !i			 ? ""
			       : i < refused->owners - 1 ? ", "
							 : " and ",
			       rf_owner_name(owners, refused->owner[i]));
}

int rf_list_fail(const struct rf_list_change *change, const struct rf_list_refused *refused,
		 const struct rf_owners *owners, struct rf_error *error)
{
	const char *list = change->list == RF_ALLOW ? "allow" : "deny";
	char text[RF_PREFIX_TEXT_SIZE], names[RF_LIST_CLAIMS * (RF_OWNER_SIZE + 5)];

	rf_format_prefix(&change->prefix, text);
	format_owners(refused, owners, names, sizeof(names));
	if (refused->why == RF_LIST_SEVERAL)
		return rf_error_failed(error, -EEXIST,
				       "'%s': on the %s list by %s; add 'by NAME' to remove the "
				       "entry of one, or 'by all'",
				       text, list, names);
	if (refused->why == RF_LIST_FULL)
		return rf_error_failed(
			error, -ENOSPC,
			"'%s': it has %d entries on both lists together, by %s, the "
			"most there can be; 'allow del' or 'deny del' with 'by NAME' "
			"removes one",
			text, refused->owners, names);
	if (refused->owners && is_number(change->owner))
		return rf_error_failed(error, -ENOENT, "'%s': not on the %s list by %s, but by %s",
				       text, list, rf_owner_name(owners, change->owner), names);
	return rf_error_failed(
		error, -ENOENT,
		"'%s': not on the %s list; '%s list' shows its prefixes as they were added", text,
		list, list);
}

/* ---- a rule set ---- */

/* By prefix, and for one prefix in their order, which is the order of their addresses. */
static int compare_changes(const void *a, const void *b)
{
	const struct rf_list_change *left = *(const struct rf_list_change *const *)a;
	const struct rf_list_change *right = *(const struct rf_list_change *const *)b;
	int order = rf_prefix_compare(&left->prefix, &right->prefix);

	return order ? order : (left > right) - (left < right);
}

static const struct rf_list_change **sort_changes(const struct rf_list_changes *changes)
{
	const struct rf_list_change **sorted = calloc(changes->count + 1, sizeof(void *));

	for (size_t i = 0; sorted && i < changes->count; i++)
		sorted[i] = &changes->change[i];
	if (sorted && changes->count)
		rf_sort(sorted, changes->count, sizeof(void *), compare_changes);
	return sorted;
}

/* Whose claims a removal is about. */
static struct rf_owner_set owners_of(const struct rf_list_change *change)
{
	struct rf_owner_set one = {};

	if (!is_number(change->owner))
		return RF_OWNERS_LOCAL;
	rf_owner_set_add(&one, change->owner);
	return one;
}

/*
 * A prefix holds few claims, so the fleet's ban makes room for a claim of this host. The agent adds
 * it again once there is room.
 */
static enum rf_list_refusal claim(struct rf_listed *entry, const struct rf_list_change *change)
{
	const struct rf_owner_set fleet = {.bits = {1ULL << RF_OWNER_FLEET}};
	int err = rf_listed_claim(entry, change->list, change->owner, change->until);

	if (err && change->owner != RF_OWNER_FLEET) {
		rf_listed_release(entry, RF_DENY, &fleet);
		err = rf_listed_claim(entry, change->list, change->owner, change->until);
	}
	return err ? RF_LIST_FULL : RF_LIST_ACCEPTED;
}

static enum rf_list_refusal make_change(struct rf_listed *entry,
					const struct rf_list_change *change, bool may_be_missing)
{
	const struct rf_owner_set owners = owners_of(change);
	uint8_t owner[RF_LIST_CLAIMS];
	int count;

	if (change->until)
		return claim(entry, change);
	count = rf_listed_owners(entry, change->list, &owners, owner);
	if (!count)
		return change->must_be_there && !may_be_missing ? RF_LIST_MISSING
								: RF_LIST_ACCEPTED;
	if (count > 1 && change->owner == RF_OWNER_ONLY)
		return RF_LIST_SEVERAL;
	rf_listed_release(entry, change->list, &owners);
	return RF_LIST_ACCEPTED;
}

/* The first of the changes that are refused. */
struct first_refused {
	size_t change;
	struct rf_list_refused *refused;
};

static void note_refused(const struct rf_list_changes *changes, size_t change,
			 enum rf_list_refusal why, const struct rf_listed *entry,
			 struct first_refused *first)
{
	struct rf_list_refused refused = {.why = why};
	const enum rf_list list = changes->change[change].list;

	if (why == RF_LIST_SEVERAL)
		refused.owners = rf_listed_owners(entry, list, &RF_OWNERS_LOCAL, refused.owner);
	else
		refused.owners = rf_listed_owners(entry, list, &RF_OWNERS_ALL, refused.owner);
	if (why == RF_LIST_FULL)
		refused.owners += rf_listed_owners(entry, list == RF_DENY ? RF_ALLOW : RF_DENY,
						   &RF_OWNERS_ALL, refused.owner + refused.owners);
	if (changes->refused)
		changes->refused[change] = refused;
	if (change >= first->change)
		return;
	first->change = change;
	*first->refused = refused;
}

/* Makes the releases that come before a change, from the one numbered `from` on. */
static size_t release(struct rf_listed *entry, const struct rf_list_changes *changes, size_t from,
		      size_t change)
{
	while (from < changes->releases && changes->release[from].at <= change) {
		const struct rf_list_release *release = &changes->release[from++];

		rf_listed_release(entry, release->list, &release->owners);
	}
	return from;
}

/* Changes an entry by the sorted changes, of which the first `count` can be of its prefix. */
static size_t change_entry(struct rf_listed *entry, const struct rf_list_changes *changes,
			   const struct rf_list_change *const *sorted, size_t count,
			   struct first_refused *first)
{
	size_t at = 0, released = 0;

	for (; at < count && rf_prefix_compare(&sorted[at]->prefix, &entry->prefix) == 0; at++) {
		const size_t change = sorted[at] - changes->change;
		enum rf_list_refusal why;

		released = release(entry, changes, released, change);
		why = make_change(entry, sorted[at], changes->may_be_missing);
		if (why)
			note_refused(changes, change, why, entry, first);
	}
	release(entry, changes, released, changes->count);
	return at;
}

static bool has_same_claims(const struct rf_listed *a, const struct rf_listed *b)
{
	return memcmp(a->claim, b->claim, sizeof(a->claim)) == 0;
}

/* Merges the changes into the sorted entries. `merged` has room for all. Returns how many. */
static size_t merge(struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		    const struct rf_list_change *const *sorted, struct rf_listed *merged,
		    struct first_refused *first)
{
	size_t at = 0, to = 0, next = 0;

	while (at < ruleset->listed_count || next < changes->count) {
		const struct rf_prefix *prefix =
			next < changes->count ? &sorted[next]->prefix : NULL;
		const int order = at == ruleset->listed_count ? 1
				  : !prefix
					  ? -1
					  : rf_prefix_compare(&ruleset->listed[at].prefix, prefix);
		const struct rf_listed before =
			order <= 0 ? ruleset->listed[at++] : (struct rf_listed){.prefix = *prefix};
		struct rf_listed *entry = &merged[to];

		*entry = before;
		next += change_entry(entry, changes, sorted + next,
				     order >= 0 ? changes->count - next : 0, first);
		if (!has_same_claims(entry, &before))
			ruleset->lists_changed = true;
		to += !rf_listed_is_empty(entry);
	}
	return to;
}

int rf_ruleset_change(struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		      size_t *first, struct rf_list_refused *refused, struct rf_error *error)
{
	const struct rf_list_change **sorted = sort_changes(changes);
	struct rf_listed *merged =
		calloc(ruleset->listed_count + changes->count + 1, sizeof(*merged));
	struct first_refused noted = {changes->count, refused};

	if (!sorted || !merged) {
		free(sorted);
		free(merged);
		return fail_memory(error);
	}
	ruleset->listed_count = merge(ruleset, changes, sorted, merged, &noted);
	*first = noted.change;
	free(sorted);
	free(ruleset->listed);
	ruleset->listed = merged;
	return 0;
}

int rf_ruleset_keep_fleet(struct rf_ruleset *ruleset, const struct rf_ruleset *from,
			  struct rf_error *error)
{
	struct rf_list_changes changes = {.owners = ruleset->owners};
	struct rf_list_refused refused;
	size_t first;
	int err = 0;

	for (size_t i = 0; i < from->listed_count && !err; i++) {
		const struct rf_listed *listed = &from->listed[i];
		const struct rf_list_change ban = {
			.prefix = listed->prefix,
			.list = RF_DENY,
			.owner = RF_OWNER_FLEET,
			.until = rf_listed_until_by(listed, RF_DENY, RF_OWNER_FLEET),
		};

		if (ban.until)
			err = rf_list_changes_add(&changes, &ban, error);
	}
	if (!err && changes.count)
		err = rf_ruleset_change(ruleset, &changes, &first, &refused, error);
	rf_list_changes_free(&changes);
	return err;
}

/* ---- a region of a trie ---- */

#define DEPTH_MAX 130 /* nested prefixes, and the prefixes around them */

struct rf_prefix rf_region_of(const struct rf_prefix *prefix)
{
	struct rf_prefix region = *prefix;

	if (prefix->version == 6 && prefix->length > 64) {
		region.length = 64;
		region.word[2] = region.word[3] = 0;
	}
	return region;
}

/* What applies inside a prefix. */
struct place {
	const struct rf_prefix *prefix;
	uint64_t until[RF_LIST_COUNT];
	__u8 prefix_class;
};

static int compare_entry(const void *prefix, const void *entry)
{
	return rf_prefix_compare(prefix, &((const struct rf_trie_entry *)entry)->prefix);
}

/* Enters a prefix, which follows the prefixes that contain it. */
static const struct place *enter(const struct rf_region *region, struct place *places, int *depth,
				 const struct rf_listed *listed)
{
	const struct rf_trie_entry *before =
		region->count ? rf_search(&listed->prefix, region->entry, region->count,
					  sizeof(*region->entry), compare_entry)
			      : NULL;
	struct place *place;

	while (*depth > 1 && !rf_prefix_contains(places[*depth - 1].prefix, &listed->prefix))
		--*depth;
	place = &places[(*depth)++];
	*place = place[-1];
	place->prefix = &listed->prefix;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		if (rf_listed_until(listed, list) > place->until[list])
			place->until[list] = rf_listed_until(listed, list);
	if (before)
		place->prefix_class = before->value.prefix_class;
	return place;
}

static void compile(const struct rf_region *region, const struct rf_ruleset *ruleset,
		    struct rf_trie_entry *entry)
{
	struct place places[DEPTH_MAX] = {{
		.until = {region->around.allow_until, region->around.deny_until},
		.prefix_class = region->around.prefix_class,
	}};
	int depth = 1;

	for (size_t i = 0; i < ruleset->listed_count; i++) {
		const struct rf_listed *listed = &ruleset->listed[i];
		const struct place *place = enter(region, places, &depth, listed);

		entry[i] = (struct rf_trie_entry){
			.prefix = listed->prefix,
			.value =
				{
					.allow_until = place->until[RF_ALLOW],
					.deny_until = place->until[RF_DENY],
					.own_from = listed->from,
					.prefix_class = place->prefix_class,
					.is_divided = rf_ruleset_is_divided(ruleset, i),
					.length = listed->prefix.length,
				},
		};
		memcpy(entry[i].value.own_claim, listed->claim, sizeof(listed->claim));
	}
}

struct rf_listed rf_listed_of(const struct rf_trie_entry *entry)
{
	struct rf_listed listed = {.prefix = entry->prefix, .from = entry->value.own_from};

	memcpy(listed.claim, entry->value.own_claim, sizeof(listed.claim));
	return listed;
}

/* The entries as rules: without inherited values. */
static int read_region(const struct rf_region *region, struct rf_ruleset *ruleset)
{
	ruleset->listed = calloc(region->count + 1, sizeof(*ruleset->listed));
	if (!ruleset->listed)
		return -ENOMEM;
	for (size_t i = 0; i < region->count; i++)
		ruleset->listed[i] = rf_listed_of(&region->entry[i]);
	ruleset->listed_count = region->count;
	return 0;
}

int rf_region_change(const struct rf_region *region, const struct rf_list_changes *changes,
		     uint64_t now, struct rf_trie_entry **changed, size_t *count, size_t *first,
		     struct rf_list_refused *refused, struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	int err = read_region(region, &ruleset) ? fail_memory(error) : 0;

	*changed = NULL;
	*count = 0;
	if (!err) {
		rf_ruleset_expire(&ruleset, now);
		err = rf_ruleset_change(&ruleset, changes, first, refused, error);
	}
	if (!err)
		err = rf_ruleset_add_divided(&ruleset, error);
	if (!err) {
		*changed = calloc(ruleset.listed_count + 1, sizeof(**changed));
		err = *changed ? 0 : fail_memory(error);
	}
	if (!err) {
		compile(region, &ruleset, *changed);
		*count = ruleset.listed_count;
	}
	rf_ruleset_free(&ruleset);
	return err;
}
