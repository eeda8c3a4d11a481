/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole set of rules, active or new: limits, lists, newcomers. policy.h compiles one limit; this
 * file compiles all limits together: it computes the limits a packet is charged to. Pure: no kernel
 * object, no file, no output.
 */
#ifndef RINGFENCE_RULESET_H
#define RINGFENCE_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"

/* ---- times ---- */

/*
 * In jiffies, `tick_ns` long: the time `time_ns` from `now`, rounded up, plus a tick, because the
 * present jiffy can be nearly complete.
 */
static inline uint64_t rf_ticks_after(uint64_t now, uint64_t time_ns, uint32_t tick_ns)
{
	if (!tick_ns) /* it may come from another user's memory */
		return RF_FOREVER;
	return now + time_ns / tick_ns + (time_ns % tick_ns != 0) + 1;
}

/* ---- entries of lists ---- */

/*
 * An entry of the allow and deny lists: a prefix, the owners that claim it for a list, each until a
 * time, and the limits whose `from` names it. A prefix remains on a list until its last claim has
 * ended.
 */
enum rf_list {
	RF_ALLOW,
	RF_DENY,
	RF_LIST_COUNT,
};

/*
 * A prefix that a list or a limit's `from` names. An empty entry marks a /64 of which only a part
 * is named; rf_ruleset_compile() adds it, and it has no other use.
 */
struct rf_listed {
	struct rf_prefix prefix;
	struct rf_list_claim claim[RF_LIST_CLAIMS];
	uint32_t from; /* bit set of slots */
};

/* ---- owners ---- */

/* A set of owners, by their numbers. */
struct rf_owner_set {
	uint64_t bits[RF_OWNERS_MAX / 64];
};

static inline void rf_owner_set_add(struct rf_owner_set *set, unsigned int owner)
{
	set->bits[owner / 64] |= 1ULL << owner % 64;
}

static inline bool rf_owner_set_has(const struct rf_owner_set *set, unsigned int owner)
{
	return set->bits[owner / 64] >> owner % 64 & 1;
}

/* Every owner except the fleet, whose bans only the fleet lifts. */
#define RF_OWNERS_LOCAL ((struct rf_owner_set){.bits = {~(1ULL << RF_OWNER_FLEET), ~0ULL}})

#define RF_OWNERS_FLEET ((struct rf_owner_set){.bits = {1ULL << RF_OWNER_FLEET}})
#define RF_OWNERS_ALL ((struct rf_owner_set){.bits = {~0ULL, ~0ULL}})

/* The name of an owner; "?" for a number without one. NULL: only of the fixed ones. */
const char *rf_owner_name(const struct rf_owners *owners, unsigned int owner);
#define RF_BY_TEXT_SIZE (RF_OWNER_SIZE + 4)

/* " by NAME", as commands take it; empty for the default of `add`. */
void rf_format_by(const struct rf_owners *owners, unsigned int owner, char text[RF_BY_TEXT_SIZE]);
/* The number of an owner; -1: the name is not known. */
int rf_owner_find(const struct rf_owners *owners, const char *name);
/* The same, and adds an unknown name; an error if full. */
int rf_owner_add(struct rf_owners *owners, const char *name, struct rf_error *error);
/*
 * Adds the names of `from`, and sets the number that each owner of `from` has in `owners`; an error
 * if they do not all fit.
 */
int rf_owners_join(struct rf_owners *owners, const struct rf_owners *from,
		   uint8_t number[RF_OWNERS_MAX], struct rf_error *error);

/* ---- claims ---- */

/* jiffies; 0: not on that list; RF_FOREVER. The latest of the claims counts. */
uint64_t rf_list_claims_until(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list);
uint64_t rf_listed_until(const struct rf_listed *listed, enum rf_list list);
uint64_t rf_listed_until_by(const struct rf_listed *listed, enum rf_list list, unsigned int owner);
/* Of the claims by this host, without the fleet's. */
uint64_t rf_listed_local_until(const struct rf_listed *listed, enum rf_list list);
/* How many owners of a set claim the prefix, and which. */
int rf_listed_owners(const struct rf_listed *listed, enum rf_list list,
		     const struct rf_owner_set *among, uint8_t owner[RF_LIST_CLAIMS]);

/* Sets until when an owner claims the prefix; 0: it no longer does. -ENOSPC: too many claims. */
int rf_listed_claim(struct rf_listed *listed, enum rf_list list, unsigned int owner,
		    uint64_t until);
/* Removes the claims of a set of owners. */
void rf_listed_release(struct rf_listed *listed, enum rf_list list,
		       const struct rf_owner_set *owners);
/* Is the entry on no list, and in no `from`? */
bool rf_listed_is_empty(const struct rf_listed *listed);

/* ---- rules ---- */

struct rf_ruleset {
	struct rf_bank bank;
	uint64_t *ports[RF_LIMITS_MAX];	 /* bit sets of RF_PORTS, where limit[].has_ports */
	uint64_t *sports[RF_LIMITS_MAX]; /* the same, where limit[].has_sports */
	struct rf_listed *listed;	 /* sorted, each prefix once; empty ones are marks */
	size_t listed_count;
	struct rf_owners owners; /* of their claims */
	bool lists_changed;	 /* by rf_ruleset_change() or rf_ruleset_expire() */
};

/* Data for the data path in addition to the bank. */
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
 * retains its index, and therefore its counters.
 */
int rf_ruleset_put_limit(struct rf_ruleset *ruleset, int slot,
			 const struct rf_definition *definition, const struct rf_bank *other,
			 uint32_t tick_ns, uint32_t *next_id, struct rf_error *error);
void rf_ruleset_del_limit(struct rf_ruleset *ruleset, int slot);

/* The entry of exactly that prefix, or NULL. */
struct rf_listed *rf_ruleset_find(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);
/* The number of prefixes that one of the owners `of` has on the list. */
size_t rf_ruleset_count_listed(const struct rf_ruleset *ruleset, enum rf_list list,
			       const struct rf_owner_set *of);
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
 * `compiled`, which the caller frees in any case. Can add entries to `listed`; see rf_listed. An
 * error if a packet would be charged to more than RF_CHARGED_MAX limits, which the error names, or
 * if the bank has no room for all packet classes or prefix classes.
 */
int rf_ruleset_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
		       struct rf_error *error);
void rf_compiled_free(struct rf_compiled *compiled);

/*
 * The effect of shadows on wider enforced limits that differ only in `from`, in some places: bit
 * sets of slots, by the slot of the shadow.
 */
struct rf_pairs {
	/* They do not apply to its sources already: the shadow allows at least as much. */
	uint32_t exempts[RF_LIMITS_MAX];
	/*
	 * They apply to its sources until it is enforced, although it is not stricter: they can
	 * drop packets that it would pass.
	 */
	uint32_t leaves[RF_LIMITS_MAX];
};

void rf_ruleset_find_pairs(const struct rf_ruleset *ruleset, struct rf_pairs *pairs);

/* Numbers the owners of all claims as in `owners`, to which it adds the missing ones. */
int rf_ruleset_join_owners(struct rf_ruleset *ruleset, struct rf_owners *owners,
			   struct rf_error *error);

/* ---- as text ---- */

/* "limit add …" of the limit in `slot`, with its ports and its `from`; the caller frees it. */
char *rf_ruleset_format_limit(const struct rf_ruleset *ruleset, int slot);
/* Does the data path send responses? Then rf_newcomers.answers_policy limits them. */
bool rf_bank_answers(const struct rf_bank *bank);
/* Sets the newcomers of a bank, except for the fields that rf_newcomers_prepare() sets. */
void rf_bank_set_newcomers(struct rf_bank *bank, const struct rf_newcomers_text *text);

/* ---- definitions of a fleet ---- */

/*
 * The definition of a limit of a fleet, as a number that is equal on all hosts: hosts with
 * different definitions of a limit have separate accounts of it. It is the hash of rate, window,
 * unit, match, ports, destinations, shape, `from`, `per`, `first` and the number of hosts;
 * independent of their order and notation. It excludes the limit's name, and the decisions of each
 * host: shadow, ban, alone. -ENOMEM.
 */
int rf_ruleset_definition(const struct rf_ruleset *ruleset, int slot, uint64_t *definition);
/*
 * Records the definitions of the fleet's limits in the bank. A changed one gets a new tag, by a
 * number from `*next_id`, which counts up.
 */
int rf_ruleset_define(struct rf_ruleset *ruleset, uint32_t *next_id, struct rf_error *error);

#endif /* RINGFENCE_RULESET_H */
