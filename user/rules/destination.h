/* SPDX-License-Identifier: GPL-2.0 */
/* The destinations that limits name by `to`, in the bank. */
#ifndef RINGFENCE_RULES_DESTINATION_H
#define RINGFENCE_RULES_DESTINATION_H

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"

/*
 * The limit in `slot`, called `name`, names these prefixes, and no others. Changes nothing where it
 * fails: -ENOSPC, more than RF_TO_MAX prefixes of a family.
 */
int rf_to_put(struct rf_shapes *shapes, int slot, const struct rf_prefixes *prefixes,
	      const char *name, struct rf_error *error);
/* The next prefix that the limit in `slot` names, from `*at` on, which begins at 0. */
bool rf_to_next(const struct rf_shapes *shapes, int slot, int *at, struct rf_prefix *prefix);

#endif /* RINGFENCE_RULES_DESTINATION_H */
