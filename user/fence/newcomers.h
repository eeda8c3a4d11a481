/* SPDX-License-Identifier: GPL-2.0 */
/* What newcomers need beside the rules. */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "fence/fence.h"

/*
 * Completes the newcomers of `bank`, and prepares the windows of its guard and its prefixes. They
 * are used once `bank` is in force; `present`, the bank in force until then, keeps its own.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *bank,
			  const struct rf_bank *present);
/* Notes the limits of `bank` as those that make a source known, before `bank` is in force. */
int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_error *error);
/*
 * Lets limits that are no longer in force make a source known for a while yet, and then not any
 * more. The limits of `fallback`, which may be in force again, stay. `fallback` may be NULL.
 */
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  const struct rf_bank *fallback);

#endif /* RINGFENCE_NEWCOMERS_H */
