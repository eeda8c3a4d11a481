/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits as the user wrote them → their policies in the bank that the data path reads. Pure: no
 * kernel object, no file, no output. The divisions of the limiter are done here, once.
 */
#ifndef RINGFENCE_POLICY_H
#define RINGFENCE_POLICY_H

#include <stdint.h>

#include "ringfence/abi.h"

/*
 * The policy of `limit` under `id`. With the strict edge a cell is (W + one clock tick) /
 * (cells - 1), rounded up, so that any interval of length W, both ends included, lies within
 * `cells` consecutive epochs. Coarse, it is W / cells; fixed, W. In jiffies where it is at least
 * RF_JIFFIES_CELL_MIN ticks long, since reading them is free; else in ns, since rounding up a few
 * ticks would cost even senders up to a third of L. `tick_ns` > 0.
 */
void rf_policy_compile(const struct rf_limit *limit, uint32_t id, uint32_t tick_ns,
		       struct rf_policy *policy);

/* The slot of the limit called `name`, or -ENOENT. */
int rf_bank_find(const struct rf_bank *bank, const char *name);
/* The slot of the limit with this id, or -ENOENT. */
int rf_bank_find_id(const struct rf_bank *bank, uint32_t id);
/* A slot without a limit, or -ENOSPC. */
int rf_bank_free_slot(const struct rf_bank *bank);
int rf_bank_count(const struct rf_bank *bank);

/*
 * Puts `limit` into `slot`. The id there stays, and with it the windows, unless what a window
 * means has changed: then the id is taken from `*next_id`, which counts up. The slot's index of
 * counters stays in any case. What is new has no `since_generation` yet; the commit knows.
 */
void rf_bank_put(struct rf_bank *bank, int slot, const struct rf_limit *limit, uint32_t tick_ns,
		 uint32_t *next_id);
void rf_bank_del(struct rf_bank *bank, int slot);

/*
 * Raises each policy's `clip` in `bank` to that of the same id in `next`. Where a limit grows,
 * CPUs must clip by the larger L before any CPU admits under it: else one that is late would
 * forget what another admitted. True when something changed, and so must be in force first.
 */
int rf_bank_raise_clips(struct rf_bank *bank, const struct rf_bank *next);

#endif /* RINGFENCE_POLICY_H */
