/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by lists.c and lists_in_place.c. No other file includes it. */
#ifndef RINGFENCE_LISTS_PRIVATE_H
#define RINGFENCE_LISTS_PRIVATE_H

#include "fence/lists.h"

/* The banks whose lists are changed: the one in force, and with it the one it may fall back to. */
struct rf_sides {
	int bank[2];
	int count;
};

/*
 * Changes the tries in force. -EAGAIN: it cannot be done so, or was not finished; then the caller
 * makes the tries anew. Sets `outcome->in_place` as soon as something was written.
 */
int rf_lists_change_in_place(struct rf_fence *fence, const struct rf_sides *sides,
			     const struct rf_list_changes *changes,
			     struct rf_lists_outcome *outcome, struct rf_error *error);

/* Makes leases of both banks void, after what they answer by was changed. */
void rf_lists_next_generation(struct rf_fence *fence);
void rf_lists_set_doubt(struct rf_fence *fence, const struct rf_sides *sides, bool in_doubt);

#endif /* RINGFENCE_LISTS_PRIVATE_H */
