/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of the lists of a rule set, one at a time. */
#ifndef RINGFENCE_UNIT_LISTING_H
#define RINGFENCE_UNIT_LISTING_H

#include "unit.h"

#include "rules/list_change.h"

/* Makes one change. Returns why it was refused. */
static inline enum rf_list_refusal change_list(struct rf_ruleset *ruleset,
					       struct rf_list_change *change)
{
	const struct rf_list_changes changes = {
		.change = change, .count = 1, .owners = ruleset->owners};
	struct rf_list_refused refused = {};
	struct rf_error error = {};
	size_t first;

	assert_int_equal(rf_ruleset_change(ruleset, &changes, &first, &refused, &error), 0);
	assert_int_equal(first, refused.why ? 0 : 1);
	return refused.why;
}

static inline void list_prefixes(struct rf_ruleset *ruleset, enum rf_list list, unsigned int owner,
				 const struct rf_prefixes *prefixes, uint64_t until)
{
	struct rf_list_changes changes = {.owners = ruleset->owners};
	struct rf_list_refused refused;
	struct rf_error error = {};
	size_t first;

	for (size_t i = 0; i < prefixes->count; i++) {
		const struct rf_list_change change = {.prefix = prefixes->prefix[i],
						      .list = list,
						      .owner = owner,
						      .until = until};

		assert_int_equal(rf_list_changes_add(&changes, &change, &error), 0);
	}
	assert_int_equal(rf_ruleset_change(ruleset, &changes, &first, &refused, &error), 0);
	assert_int_equal(first, changes.count);
	rf_list_changes_free(&changes);
}

#endif /* RINGFENCE_UNIT_LISTING_H */
