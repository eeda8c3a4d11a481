/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole set of rules, as it is in force or shall be: limits, lists, newcomers. rules.h compiles
 * one limit; this compiles what they are together: which of them a packet is charged to. Pure: no
 * kernel object, no file, no output.
 */
#ifndef RINGFENCE_RULESET_H
#define RINGFENCE_RULESET_H

#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"

enum rf_list {
	RF_ALLOW,
	RF_DENY,
	RF_LIST_COUNT,
};

/*
 * A prefix that a list or a limit's `from` names. One that says nothing marks a /64 of which only a
 * part is named; rf_ruleset_compile() adds it, and it is for nobody else.
 */
struct rf_listed {
	struct rf_prefix prefix;
	uint64_t until[RF_LIST_COUNT]; /* jiffies; 0: not on that list; RF_FOREVER */
	uint32_t from;		       /* bit set of slots */
};

struct rf_ruleset {
	struct rf_bank bank;
	uint64_t *ports[RF_LIMITS_MAX]; /* bit sets of RF_PORTS, where limit[].has_ports */
	struct rf_listed *listed;	/* sorted, each prefix once; none without list and limit */
	size_t listed_count;
};

/* What the data path reads beside the bank. */
struct rf_compiled {
	struct rf_ports *ports;	       /* NULL: no limit has ports */
	struct rf_prefix_value *value; /* one for each of `listed`, in its order */
};

#define RF_RULESET_NONE ((struct rf_ruleset){})

void rf_ruleset_free(struct rf_ruleset *ruleset);

/*
 * Puts a limit into `slot`, in place of what is there: its policy, as rf_bank_put() does, its
 * ports, and its `from`. `other` is the bank of the rules before these, or NULL: neither its nor
 * the present bank's index of counters is given to a limit that is new. A limit that was in this
 * slot under the same name keeps its index, and its counters.
 */
int rf_ruleset_put_limit(struct rf_ruleset *ruleset, int slot,
			 const struct rf_definition *definition, const struct rf_bank *other,
			 uint32_t tick_ns, uint32_t *next_id, struct rf_error *error);
void rf_ruleset_del_limit(struct rf_ruleset *ruleset, int slot);

/* The entry of exactly that prefix, or NULL. */
struct rf_listed *rf_ruleset_find(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);
/*
 * Puts many prefixes on a list until then, at the cost of one sort. Those that are there already
 * get the new time.
 */
int rf_ruleset_list(struct rf_ruleset *ruleset, enum rf_list list,
		    const struct rf_prefixes *prefixes, uint64_t until, struct rf_error *error);
/* Takes one off a list; -ENOENT where it is not on it. */
int rf_ruleset_unlist(struct rf_ruleset *ruleset, enum rf_list list,
		      const struct rf_prefix *prefix);
/* Drops what has expired at `jiffies`, and entries that say nothing. */
void rf_ruleset_expire(struct rf_ruleset *ruleset, uint64_t jiffies);

/* An error unless all that is an index, a divisor, a shift or printed is as ringfence writes it. */
int rf_bank_check(const struct rf_bank *bank, struct rf_error *error);

/*
 * Sets what of the bank follows from limits and prefixes together (flags, lease masks, classes,
 * prefix classes, shadows; not the deadline and not the newcomers), and makes `compiled`, which the
 * caller frees in any case. May add entries to `listed`; see rf_listed. An error where some packet
 * would be charged to more than RF_CHARGED_MAX limits, with their names, or where there are more
 * packet classes or prefix classes than the bank has room for.
 */
int rf_ruleset_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
		       struct rf_error *error);
void rf_compiled_free(struct rf_compiled *compiled);

/* ---- as text ---- */

/* "limit add …" of the limit in `slot`, with its ports and its `from`; the caller frees it. */
char *rf_ruleset_format_limit(const struct rf_ruleset *ruleset, int slot);
/* "newcomers …"; the caller frees it. */
char *rf_ruleset_format_newcomers(const struct rf_ruleset *ruleset);

#endif /* RINGFENCE_RULESET_H */
