/* SPDX-License-Identifier: GPL-2.0 */
/* What newcomers need beside the rules. */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "fence/fence.h"

/*
 * Completes the newcomers of `rules`, and prepares what their guard and their prefixes are charged
 * to, for when `rules` are in force instead of `present`, which do not notice.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *rules,
			  const struct rf_bank *present);
/*
 * Which limits make a source known: those of `rules`, noted before they are in force. Then what was
 * before ages, but for `fallback`, which may be in force again (NULL: none).
 */
int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *rules,
			  struct rf_error *error);
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *rules,
			  const struct rf_bank *fallback);

#endif /* RINGFENCE_NEWCOMERS_H */
