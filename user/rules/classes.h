/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that compute the limits a packet is charged to. */
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

/* The number of `set`, which is added if new; -ENOSPC if full. */
int rf_sets_number(struct rf_sets *sets, uint32_t set);

/*
 * The possible forms of a packet whose protocol and destination port select some class: the headers
 * that show its shape. A bit set.
 */
#define RF_LOOK_BARE (1U << 0) /* no ports: another protocol, or a later fragment */
#define RF_LOOK_TCP (1U << 1)  /* but for SYNs */
#define RF_LOOK_SYN (1U << 2)
#define RF_LOOK_UDP (1U << 3)

/* Limits that match by the shape of a packet, as a bit set. */
uint32_t rf_shapes_limits(const struct rf_bank *bank);
/* Fills the tables by which the data path finds the limits that the shape of a packet excludes. */
int rf_shapes_compile(const struct rf_ruleset *ruleset, struct rf_shapes *shapes,
		      struct rf_shape_tables *tables, struct rf_error *error);
/* The parts of a shape that these limits match by: RF_SHAPE_… */
uint8_t rf_shapes_parts(const struct rf_shapes *shapes, uint32_t limits);
/*
 * The subsets of `candidates` that remain for packets of such forms, into `found`; -ENOSPC if full.
 */
int rf_shapes_combine(const struct rf_shapes *shapes, uint32_t candidates, unsigned int looks,
		      struct rf_sets *found);
/* Writes the class of each set of limits that a shape may leave. */
int rf_shapes_name(struct rf_shapes *shapes, const struct rf_sets *left, struct rf_sets *classes,
		   struct rf_error *error);
/* Do both limits require the same shape? */
bool rf_shapes_are_alike(const struct rf_ruleset *ruleset, int a, int b);

/* ---- places ---- */

/*
 * The limits that apply in each place, by their `from`. A place is the inside of a prefix, up to
 * the longer prefixes in it. Limits that differ only in `from` form a group. The shorter the prefix
 * around a place by which a limit names it, the wider is the limit there; a limit without `from` is
 * wider than all others. In a place, a limit that applies hides a wider one of its group if
 *
 *   - it is enforced, or
 *   - it is a shadow that allows at least as much: then it is an exception from the wider limit,
 * even before it is enforced. A stricter shadow hides nothing, to open no hole in an enforced
 * limit; nor does a shadow whose prefix is as wide as no `from`, with length 0.
 *
 * Whether a limit applies in a place therefore does not depend on its own state, and enforcing
 * another limit can only make it apply in fewer places. The limit that drops a packet, in whichever
 * order the limits were enforced, is therefore one that counted the packet while all were shadows.
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
	uint32_t hides[RF_LIMITS_MAX];	 /* of its group: the limits it hides when they are wider */
	uint32_t at_most[RF_LIMITS_MAX]; /* of its group: the limits that allow at least as much */
	uint32_t shadows;
	struct rf_pairs pairs;			/* of the places so far */
	struct rf_place place[RF_PLACES_DEPTH]; /* each lies in the one before */
	int depth;
};

/* The place of one prefix, by the prefixes that contain it; its `prefix` is one of the rules. */
struct rf_place rf_place_of(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);

#endif /* RINGFENCE_RULES_CLASSES_H */
