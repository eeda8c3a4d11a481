/* SPDX-License-Identifier: GPL-2.0 */
/* Prepares state for the newcomers rate outside of the rules. */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "fence/fence.h"

/*
 * Completes the newcomers of `bank`, and starts the windows of its guard and its aggregates.
 * Programs use these windows once `bank` is active. Until then `present` is active, with separate
 * windows.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *bank,
			  const struct rf_bank *present);
/* Records, before `bank` is active, that a window under one of its limits makes a source known. */
int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_error *error);
/*
 * Limits that are no longer active make sources known for a while, and then no more. The limits of
 * `fallback` remain, because they can become active again. `fallback` can be NULL.
 */
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  const struct rf_bank *fallback);

#endif /* RINGFENCE_NEWCOMERS_H */
