// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
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
	*changes = (struct rf_list_changes){};
}

int rf_list_fail_missing(const struct rf_list_change *change, struct rf_error *error)
{
	const char *list = change->list == RF_ALLOW ? "allow" : "deny";
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&change->prefix, text);
	return rf_error_failed(
		error, -ENOENT,
		"'%s': not on the %s list; '%s list' shows its prefixes as they were added", text,
		list, list);
}

/* ---- a rule set ---- */

/* By prefix, and for one prefix in their order, which is that of their places. */
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

/* The entry is the other's: the fleet changes none of this host, this host takes off none of the
 * fleet. */
static bool is_of_other(const struct rf_listed *entry, const struct rf_list_change *change)
{
	return entry->until[change->list] &&
	       rf_listed_is_own(entry, change->list) == change->of_fleet &&
	       (change->of_fleet || !change->until);
}

/* False: the prefix is not on the list, and must be. */
static bool change_entry(struct rf_listed *entry, const struct rf_list_change *change)
{
	const bool was_there = entry->until[change->list];

	if (is_of_other(entry, change))
		return !change->must_be_there;
	entry->until[change->list] = change->until;
	if (change->list == RF_DENY)
		entry->of_fleet = change->of_fleet && change->until;
	return was_there || change->until || !change->must_be_there;
}

/* Takes the entry off the lists that are emptied first. */
static void empty_entry(struct rf_listed *entry, const struct rf_list_changes *changes)
{
	for (int list = 0; list < RF_LIST_COUNT; list++)
		if (changes->empty[list] && rf_listed_is_own(entry, list))
			entry->until[list] = 0;
	if (!changes->empty_fleet || !entry->of_fleet)
		return;
	entry->until[RF_DENY] = 0;
	entry->of_fleet = false;
}

static void note_missing(const struct rf_list_changes *changes, size_t change, size_t *missing)
{
	if (changes->is_missing)
		changes->is_missing[change] = true;
	if (change < *missing)
		*missing = change;
}

static bool is_empty(const struct rf_listed *listed)
{
	return !listed->until[RF_ALLOW] && !listed->until[RF_DENY] && !listed->from;
}

/* Merges the changes into the sorted entries. `merged` has room for all. Returns how many. */
static size_t merge(const struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		    const struct rf_list_change *const *sorted, struct rf_listed *merged,
		    size_t *missing)
{
	size_t at = 0, to = 0, next = 0;

	while (at < ruleset->listed_count || next < changes->count) {
		const struct rf_prefix *prefix =
			next < changes->count ? &sorted[next]->prefix : NULL;
		const int order = at == ruleset->listed_count ? 1
				  : !prefix
					  ? -1
					  : rf_prefix_compare(&ruleset->listed[at].prefix, prefix);
		struct rf_listed *entry = &merged[to];

		*entry = order <= 0 ? ruleset->listed[at++] : (struct rf_listed){.prefix = *prefix};
		empty_entry(entry, changes);
		for (; order >= 0 && next < changes->count &&
		       rf_prefix_compare(&sorted[next]->prefix, &entry->prefix) == 0;
		     next++)
			if (!change_entry(entry, sorted[next]))
				note_missing(changes, sorted[next] - changes->change, missing);
		to += !is_empty(entry);
	}
	return to;
}

int rf_ruleset_change(struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		      size_t *missing, struct rf_error *error)
{
	const struct rf_list_change **sorted = sort_changes(changes);
	struct rf_listed *merged =
		calloc(ruleset->listed_count + changes->count + 1, sizeof(*merged));

	*missing = changes->count;
	if (!sorted || !merged) {
		free(sorted);
		free(merged);
		return fail_memory(error);
	}
	ruleset->listed_count = merge(ruleset, changes, sorted, merged, missing);
	free(sorted);
	free(ruleset->listed);
	ruleset->listed = merged;
	return 0;
}

int rf_ruleset_keep_fleet(struct rf_ruleset *ruleset, const struct rf_ruleset *from,
			  struct rf_error *error)
{
	struct rf_list_changes changes = {};
	size_t missing;
	int err = 0;

	for (size_t i = 0; i < from->listed_count && !err; i++) {
		const struct rf_listed *listed = &from->listed[i];
		const struct rf_list_change ban = {
			.prefix = listed->prefix,
			.list = RF_DENY,
			.until = listed->until[RF_DENY],
			.of_fleet = true,
		};

		if (listed->of_fleet)
			err = rf_list_changes_add(&changes, &ban, error);
	}
	if (!err && changes.count)
		err = rf_ruleset_change(ruleset, &changes, &missing, error);
	rf_list_changes_free(&changes);
	return err;
}

/* ---- a region of a trie ---- */

#define DEPTH_MAX 130 /* nested prefixes, and what is around them */

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

/* Enters a prefix, which follows those that contain it. */
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
		if (listed->until[list] > place->until[list])
			place->until[list] = listed->until[list];
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
					.own_allow_until = listed->until[RF_ALLOW],
					.own_deny_until = listed->until[RF_DENY],
					.own_from = listed->from,
					.prefix_class = place->prefix_class,
					.is_divided = rf_ruleset_is_divided(ruleset, i),
					.length = listed->prefix.length,
					.of_fleet = listed->of_fleet,
				},
		};
	}
}

/* The entries as rules: what each prefix itself says. */
static int read_region(const struct rf_region *region, struct rf_ruleset *ruleset)
{
	ruleset->listed = calloc(region->count + 1, sizeof(*ruleset->listed));
	if (!ruleset->listed)
		return -ENOMEM;
	for (size_t i = 0; i < region->count; i++)
		ruleset->listed[i] = (struct rf_listed){
			.prefix = region->entry[i].prefix,
			.until = {region->entry[i].value.own_allow_until,
				  region->entry[i].value.own_deny_until},
			.from = region->entry[i].value.own_from,
			.of_fleet = region->entry[i].value.of_fleet,
		};
	ruleset->listed_count = region->count;
	return 0;
}

int rf_region_change(const struct rf_region *region, const struct rf_list_changes *changes,
		     uint64_t now, struct rf_trie_entry **changed, size_t *count, size_t *missing,
		     struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	int err = read_region(region, &ruleset) ? fail_memory(error) : 0;

	*changed = NULL;
	*count = 0;
	if (!err) {
		rf_ruleset_expire(&ruleset, now);
		err = rf_ruleset_change(&ruleset, changes, missing, error);
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
