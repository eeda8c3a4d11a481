/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole set of rules, in force or new: limits, lists, newcomers. policy.h compiles one limit;
 * this file compiles all limits together: which of them a packet is charged to. Pure: no kernel
 * object, no file, no output.
 */
#ifndef RINGFENCE_RULESET_H
#define RINGFENCE_RULESET_H

#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "rules/listed.h"

struct rf_ruleset {
	struct rf_bank bank;
	uint64_t *ports[RF_LIMITS_MAX];	 /* bit sets of RF_PORTS, where limit[].has_ports */
	uint64_t *sports[RF_LIMITS_MAX]; /* the same, where limit[].has_sports */
	struct rf_listed *listed;	 /* sorted, each prefix once; empty ones are marks */
	size_t listed_count;
	struct rf_owners owners; /* of their claims */
	bool lists_changed;	 /* by rf_ruleset_change() or rf_ruleset_expire() */
};

/* What the data path reads in addition to the bank. */
struct rf_compiled {
	struct rf_ports *ports;		/* NULL: no limit has ports */
	struct rf_shape_tables *tables; /* NULL: no limit has source ports or lengths */
	struct rf_prefix_value *value;	/* one for each of `listed`, in its order */
	uint32_t refused;		/* bit set of slots: the limits that an error names */
};

#define RF_RULESET_NONE ((struct rf_ruleset){})

void rf_ruleset_free(struct rf_ruleset *ruleset);

/* An error where the definition has `from` without a prefix, as from an empty file. */
int rf_definition_check_from(const struct rf_definition *definition, struct rf_error *error);
/*
 * Puts a limit into `slot`, in place of the present one: its policy, as rf_bank_put() does, its
 * ports, and its `from`. `other` is the bank of the rules before these, or NULL. A new limit gets
 * an index of counters that neither bank uses. A limit that was in this slot under the same name
 * keeps its index, and so its counters.
 */
int rf_ruleset_put_limit(struct rf_ruleset *ruleset, int slot,
			 const struct rf_definition *definition, const struct rf_bank *other,
			 uint32_t tick_ns, uint32_t *next_id, struct rf_error *error);
void rf_ruleset_del_limit(struct rf_ruleset *ruleset, int slot);

/* The entry of exactly that prefix, or NULL. */
struct rf_listed *rf_ruleset_find(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);
/* Removes the claims that have expired at `jiffies`, and empty entries. */
void rf_ruleset_expire(struct rf_ruleset *ruleset, uint64_t jiffies);

/*
 * An error unless every value that is an index, a divisor or a shift, or is printed, is in the
 * range that ringfence writes.
 */
int rf_bank_check(const struct rf_bank *bank, struct rf_error *error);

/*
 * Sets the fields of the bank that follow from limits and prefixes together (flags, lease masks,
 * classes, prefix classes, shadows, bans; not the deadline and not the newcomers). Makes
 * `compiled`, which the caller frees in any case. May add entries to `listed`; see rf_listed. An
 * error where a packet would be charged to more than RF_CHARGED_MAX limits, which the error names,
 * or where the bank has no room for all packet classes or prefix classes.
 */
int rf_ruleset_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
		       struct rf_error *error);
void rf_compiled_free(struct rf_compiled *compiled);

/*
 * What shadows do to wider limits in force that differ in `from` alone, in some places: bit sets of
 * slots, by the slot of the shadow.
 */
struct rf_pairs {
	/* They do not apply to its sources already: the shadow allows at least as much. */
	uint32_t exempts[RF_LIMITS_MAX];
	/*
	 * They apply to its sources until it is armed, although it is not stricter: they may drop
	 * what it would pass.
	 */
	uint32_t leaves[RF_LIMITS_MAX];
};

void rf_ruleset_find_pairs(const struct rf_ruleset *ruleset, struct rf_pairs *pairs);

/* Numbers the owners of all claims as `owners` does, to which it adds those that are missing. */
int rf_ruleset_join_owners(struct rf_ruleset *ruleset, struct rf_owners *owners,
			   struct rf_error *error);

/* ---- as text ---- */

/* "limit add …" of the limit in `slot`, with its ports and its `from`; the caller frees it. */
char *rf_ruleset_format_limit(const struct rf_ruleset *ruleset, int slot);
/* "newcomers …"; the caller frees it. */
char *rf_ruleset_format_newcomers(const struct rf_ruleset *ruleset);

#endif /* RINGFENCE_RULESET_H */
