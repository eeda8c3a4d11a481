/* SPDX-License-Identifier: GPL-2.0 */
/* How a limit groups sources, as the program does. Pure. */
#ifndef RINGFENCE_RULES_GROUPING_H
#define RINGFENCE_RULES_GROUPING_H

#include "base/prefix.h"
#include "ringfence/abi.h"

/* The bits by which `per` and `per6` tell this source apart; ringfence/grouping.h. */
unsigned int rf_group_length(unsigned int per4, unsigned int per6, const struct rf_address *source);
/* The same of a limit, for a source or a network. */
unsigned int rf_limit_length(const struct rf_limit *limit, const struct rf_prefix *source);
/* The network of a limit's source, whose address has been masked as in the keys of windows. */
struct rf_prefix rf_limit_source(const struct rf_limit *limit, const struct rf_address *masked);
/* Masks an address as it is in the keys of windows and bans. */
void rf_policy_mask(const struct rf_policy *policy, struct rf_address *address);

#endif /* RINGFENCE_RULES_GROUPING_H */
