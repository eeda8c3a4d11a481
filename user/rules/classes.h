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
/* Fills the search among the entries of `to`. */
void rf_to_search_compile(const struct rf_shapes *shapes, struct rf_to_search *search4,
			  struct rf_to_search *search6);
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

/* Fills the packet classes of the bank. `classes`: the limits of each. */
int rf_packet_classes_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
			      struct rf_sets *classes, struct rf_error *error);

#endif /* RINGFENCE_RULES_CLASSES_H */
