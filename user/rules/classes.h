/* SPDX-License-Identifier: GPL-2.0 */
/* What the files share that work out which limits a packet is charged to. */
#ifndef RINGFENCE_RULES_CLASSES_H
#define RINGFENCE_RULES_CLASSES_H

#include "rules/ruleset.h"

#define RF_ICMP 1
#define RF_TCP 6
#define RF_UDP 17
#define RF_ICMPV6 58

#define RF_SETS_MAX 256
_Static_assert(RF_SETS_MAX == RF_PACKET_CLASSES_MAX && RF_SETS_MAX == RF_PREFIX_CLASSES_MAX,
	       "their number is a byte");

/* The bit sets of limits found so far; the number of a set is its index. */
struct rf_sets {
	uint32_t set[RF_SETS_MAX];
	int count;
	int last; /* the index found last */
};

/* The number of `set`, which is added where it is new; -ENOSPC where there is no room. */
int rf_sets_number(struct rf_sets *sets, uint32_t set);

/*
 * How a packet may look whose protocol and destination port give some class: the headers that tell
 * its shape. A bit set.
 */
#define RF_LOOK_BARE (1U << 0) /* no ports: another protocol, or a later fragment */
#define RF_LOOK_TCP (1U << 1)  /* but for SYNs */
#define RF_LOOK_SYN (1U << 2)
#define RF_LOOK_UDP (1U << 3)

/* Limits that ask for the shape of a packet, as a bit set. */
uint32_t rf_shapes_limits(const struct rf_bank *bank);
/* Fills the tables by which the data path finds what the shape of a packet excludes. */
int rf_shapes_compile(const struct rf_ruleset *ruleset, struct rf_shapes *shapes,
		      struct rf_shape_tables *tables, struct rf_error *error);
/* The parts of a shape that these limits ask for: RF_SHAPE_… */
uint8_t rf_shapes_parts(const struct rf_shapes *shapes, uint32_t limits);
/*
 * The sets that are left of `candidates` for packets with such looks, into `found`; -ENOSPC where
 * there is no room.
 */
int rf_shapes_combine(const struct rf_shapes *shapes, uint32_t candidates, unsigned int looks,
		      struct rf_sets *found);
/* Writes the class of each set of limits that a shape may leave. */
int rf_shapes_name(struct rf_shapes *shapes, const struct rf_sets *left, struct rf_sets *classes,
		   struct rf_error *error);
/* Do both limits ask for the same shape? */
bool rf_shapes_are_alike(const struct rf_ruleset *ruleset, int a, int b);

/* ---- places ---- */

/*
 * Which limits apply in which place, as far as `from` tells. A place is the inside of a prefix, up
 * to the longer prefixes in it. Limits that differ in `from` alone are a group. The shorter the
 * prefix around a place by which a limit names it, the wider is the limit there; one without `from`
 * is wider than all others. In a place, a limit that applies hides a wider one of its group if
 *
 *   - it is in force, or
 *   - it is a shadow that allows at least as much: then it is an exception from the wider limit,
 * and is one before it is enforced. A stricter shadow hides nothing, so it opens no hole in a limit
 * in force; nor does a shadow whose prefix is as wide as no `from`, that is of length 0.
 *
 * So whether a limit applies in a place does not depend on its own state, and enforcing another
 * limit can only make it apply in fewer places. The limit that drops a packet, in whichever order
 * the limits were enforced, is therefore one that counted it while all were shadows.
 */

#define RF_PLACES_DEPTH 130 /* nested prefixes, and the place that contains them all */

struct rf_place {
	const struct rf_prefix *prefix; /* NULL: everywhere */
	uint64_t until[RF_LIST_COUNT];	/* of this prefix and those around it */
	uint32_t from;			/* limits that name this prefix */
	uint32_t limits;		/* limits that apply */
};

struct rf_places {
	uint32_t group[RF_LIMITS_MAX];	 /* by slot: the other limits of its group */
	uint32_t hides[RF_LIMITS_MAX];	 /* of its group: those it hides where they are wider */
	uint32_t at_most[RF_LIMITS_MAX]; /* of its group: those that allow at least as much */
	uint32_t shadows;
	struct rf_pairs pairs;			/* of the places so far */
	struct rf_place place[RF_PLACES_DEPTH]; /* each lies in the one before */
	int depth;
};

/*
 * The place of one prefix, as far as prefixes that contain it tell; its `prefix` is of the rules.
 */
struct rf_place rf_place_of(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);

#endif /* RINGFENCE_RULES_CLASSES_H */
