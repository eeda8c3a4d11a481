/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the allow and deny lists, in batches, and their effect on the entries of a trie: an
 * entry includes the values inherited from the prefixes around it, therefore a change of one prefix
 * changes the entries within it as well, and no others. Pure.
 */
#ifndef RINGFENCE_LIST_CHANGE_H
#define RINGFENCE_LIST_CHANGE_H

#include "rules/ruleset.h"

/* Of a removal: in place of the number of an owner. */
enum {
	RF_OWNER_ONLY = RF_OWNERS_MAX, /* the one local owner that the entry has */
	RF_OWNER_ALL,		       /* every local owner */
};

/* What happens to a change that would drop the packets of an own network; see lockout.h. */
enum rf_on_own {
	RF_ON_OWN_REFUSE, /* it is refused, and with it all changes */
	RF_ON_OWN_SKIP,	  /* it is left out */
	RF_ON_OWN_FORCE,  /* it is made */
};

/* Sets an owner's claim of a prefix, or removes it. */
struct rf_list_change {
	struct rf_prefix prefix;
	enum rf_list list;
	uint8_t owner;	    /* its number in the owners of the changes, or RF_OWNER_… */
	bool must_be_there; /* otherwise the claim to remove can be missing */
	enum rf_on_own on_own;
	bool is_left_out; /* by rf_list_changes_leave_out() */
	uint64_t until;	  /* jiffies; 0: removes it */
	uint64_t time_ns; /* of `until`, before the clock of a fence is known; 0: for good */
	size_t line;	  /* of a file: of two that are refused, the first is named */
};

enum rf_list_refusal {
	RF_LIST_ACCEPTED,
	RF_LIST_MISSING, /* there is no such claim to remove */
	RF_LIST_SEVERAL, /* there are several, and the change names none */
	RF_LIST_FULL,	 /* the prefix has RF_LIST_CLAIMS claims */
};

/* Why a change is refused, and by whom its prefix was claimed when it came. */
struct rf_list_refused {
	enum rf_list_refusal why;
	int owners;
	uint8_t owner[RF_LIST_CLAIMS];
};

/* Removes the claims of a set of owners, of all prefixes on a list. */
struct rf_list_release {
	enum rf_list list;
	struct rf_owner_set owners;
	size_t at; /* the number of changes before it */
	enum rf_on_own on_own;
	bool is_left_out;
	size_t line; /* of a file */
};

struct rf_list_changes {
	struct rf_list_change *change;
	size_t count;
	size_t capacity;
	struct rf_list_release *release; /* in their order */
	size_t releases;
	struct rf_owners owners;
	/* No claim must be there. Of unconfirmed rules, the previous ones can lack it. */
	bool may_be_missing;
	struct rf_list_refused *refused; /* set for each change by rf_ruleset_change(); or NULL */
};

int rf_list_changes_add(struct rf_list_changes *changes, const struct rf_list_change *change,
			struct rf_error *error);
void rf_list_changes_free(struct rf_list_changes *changes);
/*
 * The number of the owner of the word `by`, which is added to the owners of the changes, or
 * RF_OWNER_ALL; `by_default` if `by` is empty.
 */
int rf_list_changes_by(struct rf_list_changes *changes, const char *by, uint8_t by_default,
		       uint8_t *owner, struct rf_error *error);
/* After the changes so far, removes the claims of those owners. */
int rf_list_changes_release(struct rf_list_changes *changes, enum rf_list list,
			    const struct rf_owner_set *owners, struct rf_error *error);
/* The same of one owner; of every local owner where `by` is empty. */
int rf_list_changes_release_by(struct rf_list_changes *changes, enum rf_list list, const char *by,
			       struct rf_error *error);
/* Sets the handling of the last added release if it cuts off an own network. */
void rf_list_changes_mark_release(struct rf_list_changes *changes, enum rf_on_own on_own,
				  size_t line);
/* Removes the changes and releases that are marked; returns how many. */
size_t rf_list_changes_leave_out(struct rf_list_changes *changes);
/* Numbers the owners as in `owners`, to which it adds the missing ones. */
int rf_list_changes_join(struct rf_list_changes *changes, struct rf_owners *owners,
			 struct rf_error *error);

/*
 * Makes all changes, in their order for each prefix, at the cost of one sort. The owners of the
 * changes must be numbered as in the rules. `first` gets the index of the first refused change,
 * which is left out, and `refused` its reason; otherwise their count. `changes->refused` gets the
 * reasons of all changes.
 */
int rf_ruleset_change(struct rf_ruleset *ruleset, const struct rf_list_changes *changes,
		      size_t *first, struct rf_list_refused *refused, struct rf_error *error);

/* Adds the bans of other hosts that `from` has. */
int rf_ruleset_keep_fleet(struct rf_ruleset *ruleset, const struct rf_ruleset *from,
			  struct rf_error *error);

/* The error of a change that is refused: -ENOENT, -EEXIST or -ENOSPC. */
int rf_list_fail(const struct rf_list_change *change, const struct rf_list_refused *refused,
		 const struct rf_owners *owners, struct rf_error *error);

/* ---- in place ---- */

/* An entry of a trie. */
struct rf_trie_entry {
	struct rf_prefix prefix;
	struct rf_prefix_value value;
};

/* The entry without inherited values. */
struct rf_listed rf_listed_of(const struct rf_trie_entry *entry);

/*
 * The prefix within which a change of `prefix` can change entries: itself, or its /64, whose
 * entries show whether it is divided.
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
 * frees `changed`, also after an error. Their values equal the values that rf_ruleset_compile()
 * computes from all prefixes: being on a list changes no prefix class. `first`, `refused`: as in
 * rf_ruleset_change().
 */
int rf_region_change(const struct rf_region *region, const struct rf_list_changes *changes,
		     uint64_t now, struct rf_trie_entry **changed, size_t *count, size_t *first,
		     struct rf_list_refused *refused, struct rf_error *error);

#endif /* RINGFENCE_LIST_CHANGE_H */
