/* SPDX-License-Identifier: GPL-2.0 */
/* Prepares what the newcomers rate needs beside the rules. */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "fence/fence.h"

/*
 * Completes the newcomers of `bank`, and starts the windows of its guard and its aggregates.
 * Programs use these windows once `bank` is in force. Until then `present` is in force, and keeps
 * its own windows.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *bank,
			  const struct rf_bank *present);
/* Notes, before `bank` is in force, that a window under one of its limits makes a source known. */
int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  struct rf_error *error);
/*
 * Limits that are no longer in force make sources known for a while, and then no more. The limits
 * of `fallback` stay, since they may be in force again. `fallback` may be NULL.
 */
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *bank,
			  const struct rf_bank *fallback);

#endif /* RINGFENCE_NEWCOMERS_H */
