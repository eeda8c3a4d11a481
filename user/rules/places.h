/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which limits apply in which place, as far as `from` tells. A place is the inside of a prefix, up
 * to the longer prefixes in it. Limits that differ in `from` alone are a group. The shorter the
 * prefix around a place by which a limit names it, the wider is the limit there; one without `from`
 * is wider than all others. In a place, a limit that applies hides a wider one of its group if
 *
 *   - it is in force, or
 *   - it is a shadow that allows at least as much: then it is an exception from the wider limit,
 * and is one before it is armed. A stricter shadow hides nothing, so it opens no hole in a limit in
 *     force; nor does a shadow whose prefix is as wide as no `from`, that is of length 0.
 *
 * So whether a limit applies in a place does not depend on its own state, and arming another limit
 * can only make it apply in fewer places. The limit that drops a packet, in whichever order the
 * limits were armed, is therefore one that counted it while all were shadows.
 */
#ifndef RINGFENCE_RULES_PLACES_H
#define RINGFENCE_RULES_PLACES_H

#include "rules/ruleset.h"

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

/* Begins with the place that is everywhere. */
void rf_places_start(struct rf_places *places, const struct rf_ruleset *ruleset);
/* Enters a prefix. Prefixes are sorted, so each follows those that contain it. */
const struct rf_place *rf_places_enter(struct rf_places *places, const struct rf_listed *listed);
/*
 * The place of one prefix, as far as prefixes that contain it tell; its `prefix` is of the rules.
 */
struct rf_place rf_place_of(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix);

#endif /* RINGFENCE_RULES_PLACES_H */
