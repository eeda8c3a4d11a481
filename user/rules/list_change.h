/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the allow and deny lists, many at once, and what they change among the entries of a
 * trie: an entry holds what it inherits from the prefixes around it, so a change of one prefix
 * changes the entries within it as well, and no others. Pure.
 */
#ifndef RINGFENCE_LIST_CHANGE_H
#define RINGFENCE_LIST_CHANGE_H

#include "rules/ruleset.h"

/* Puts a prefix on a list, or takes it off. */
struct rf_list_change {
	struct rf_prefix prefix;
	enum rf_list list;
	uint64_t until;	    /* jiffies; 0: takes it off */
	uint64_t time_ns;   /* of `until`, before the clock of a fence is known; 0: for good */
	bool must_be_there; /* else a prefix that is not on the list may be taken off */
	bool of_fleet;	    /* of the deny list: a ban of another host, or its end */
	size_t line;	    /* of a file: of two that are missing, the first is named */
};

struct rf_list_changes {
	struct rf_list_change *change;
	size_t count;
	size_t capacity;
	bool empty[RF_LIST_COUNT]; /* first takes all prefixes off these lists, */
	bool empty_fleet;	   /* or off the deny list the bans of other hosts */
	bool *is_missing;	   /* of each: rf_ruleset_change() sets it; NULL: nobody asks */
};

int rf_list_changes_add(struct rf_list_changes *changes, const struct rf_list_change *change,
			struct rf_error *error);
void rf_list_changes_free(struct rf_list_changes *changes);

/*
 * A prefix has one entry on the deny list, by this host or by the fleet. What this host puts there
 * takes the place of the fleet's ban; a change of the fleet leaves alone what is this host's, and a
 * change of this host takes off nothing of the fleet's.
 *
 * Makes all changes, in their order for each prefix, at the cost of one sort. `missing` gets the
 * index of the first one that takes off a prefix that must be there and is not; else their count.
 * `is_missing` of the changes tells all of them.
 */
int rf_ruleset_change(struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		      size_t *missing, struct rf_error *error);

/* Adds the bans of other hosts that `from` has. */
int rf_ruleset_keep_fleet(struct rf_ruleset *ruleset, const struct rf_ruleset *from,
			  struct rf_error *error);

/* The error of a change that takes off a prefix that is not on its list. */
int rf_list_fail_missing(const struct rf_list_change *change, struct rf_error *error);

/* ---- in place ---- */

/* An entry of a trie. */
struct rf_trie_entry {
	struct rf_prefix prefix;
	struct rf_prefix_value value;
};

/*
 * The prefix within which a change of `prefix` may change entries: itself, or its /64, whose
 * entries tell whether it is divided.
 */
struct rf_prefix rf_region_of(const struct rf_prefix *prefix);

/* All entries within one prefix, sorted. */
struct rf_region {
	struct rf_prefix root;
	struct rf_prefix_value
		around; /* of the longest prefix that contains the root; all 0: none */
	struct rf_trie_entry *entry;
	size_t count;
};

/*
 * The entries after `changes`, all of which lie in the region, and after the time `now`. The caller
 * frees `changed`, also after an error. Their values are those that rf_ruleset_compile() makes of
 * all prefixes: to be on a list changes no prefix class.
 */
int rf_region_change(const struct rf_region *region, const struct rf_list_changes *changes,
		     uint64_t now, struct rf_trie_entry **changed, size_t *count, size_t *missing,
		     struct rf_error *error);

#endif /* RINGFENCE_LIST_CHANGE_H */
