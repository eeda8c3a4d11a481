/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attributes of a limit, by the rows of limit.def: the text of each. Saved rules, changes, JSON
 * and the definition that a fleet compares are made from them.
 */
#ifndef RINGFENCE_ATTRIBUTE_H
#define RINGFENCE_ATTRIBUTE_H

#include <stdio.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "rules/grammar_table.h"
#include "rules/ruleset.h"

/* A limit of which an attribute is written. */
struct rf_writing {
	FILE *stream;
	enum rf_limit_option part;
	const struct rf_limit *limit;
	const struct rf_ruleset *ruleset; /* NULL: only the limit, without its lists */
	int slot;
	const char *before;  /* the next item */
	const char *between; /* that one and the one after it */
};

struct rf_attribute {
	void (*write)(struct rf_writing *to); /* the items of the value; NULL: not an attribute */
	const char *none;		      /* the text in a change without items */
	size_t at, size;  /* in struct rf_limit; `size` 0: a bit of its flags, or elsewhere */
	uint64_t initial; /* the value if the option is absent */
	uint64_t (*default_of)(const struct rf_limit *limit); /* the same, by other attributes */
	bool (*is_default)(const struct rf_limit *limit);     /* the same, of no field */
	const char *name;  /* the name in a change; NULL: the name of its option */
	bool of_algorithm; /* its default goes with the algorithm, so a change is silent about it */
	bool of_source;	   /* packets without a source have none: not with 'match other' */
	int place;	   /* below 0: saved before the others */
};

/* By the rows of rf_limit_options; sparse: words that are no attribute have no row. */
extern const struct rf_attribute rf_attributes[RF_LIMIT_OPTIONS];

/* The number or the bit of an attribute that is a field. */
uint64_t rf_attribute_value(enum rf_limit_option part, const struct rf_limit *limit);
/* Is it left out of saved rules? */
bool rf_attribute_is_default(enum rf_limit_option part, const struct rf_limit *limit);
/* The value, without its word: 53,443 or /24; empty: none. NULL: no memory. The caller frees it. */
char *rf_attribute_text(enum rf_limit_option part, const struct rf_ruleset *ruleset, int slot);
/* Sets the fields whose default does not depend on other attributes. */
void rf_limit_set_defaults(struct rf_limit *limit);

/* ---- destinations ---- */

/*
 * The limit in `slot`, called `name`, names these prefixes, and no others. Changes nothing on
 * failure: -ENOSPC, more than RF_TO_MAX prefixes of a family.
 */
int rf_to_put(struct rf_shapes *shapes, int slot, const struct rf_prefixes *prefixes,
	      const char *name, struct rf_error *error);
/* The next prefix that the limit in `slot` names, starting from `*at`, which is initially 0. */
bool rf_to_next(const struct rf_shapes *shapes, int slot, int *at, struct rf_prefix *prefix);

#endif /* RINGFENCE_ATTRIBUTE_H */
