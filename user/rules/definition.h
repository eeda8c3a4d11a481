/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a limit of a fleet is, as a number that is the same on all hosts: hosts that define a limit
 * differently keep apart accounts of it. Pure.
 */
#ifndef RINGFENCE_DEFINITION_H
#define RINGFENCE_DEFINITION_H

#include "rules/ruleset.h"

/*
 * The hash of rate, window, unit, match, ports, destinations, shape, `from`, `per`, `first` and the
 * number of hosts; neither of the order in which they were given nor of how they were written. Not
 * of the limit's name, and not of what each host decides for itself: shadow, ban, alone. -ENOMEM.
 */
int rf_ruleset_definition(const struct rf_ruleset *ruleset, int slot, uint64_t *definition);
/*
 * Notes the definitions of the fleet's limits in the bank. One that has changed gets another tag,
 * by a number from `*next_id`, which counts up.
 */
int rf_ruleset_define(struct rf_ruleset *ruleset, uint32_t *next_id, struct rf_error *error);

#endif /* RINGFENCE_DEFINITION_H */
