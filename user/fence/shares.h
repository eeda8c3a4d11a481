/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The agent's side of a fence with shares: what the program asks for, and the calls that write
 * shares, read what was used, and tell what was heard. See include/ringfence/share.h.
 */
#ifndef RINGFENCE_SHARES_H
#define RINGFENCE_SHARES_H

#include "base/error.h"
#include "kernel/pins.h"
#include "ringfence/fleet_call.h"

struct rf_shares {
	int call_fd;
	int asks_fd; /* a ring buffer of struct rf_fleet_ask */
	struct rf_fleet_batch *batch;
};

#define RF_SHARES_NONE ((struct rf_shares){.call_fd = -1, .asks_fd = -1})

/*
 * Opens the pins of the fence in that directory. `shares` is RF_SHARES_NONE before. Close it even
 * after an error. -ENOENT: the fence has no shares.
 */
int rf_shares_open(struct rf_shares *shares, const struct rf_pin_path *directory,
		   struct rf_error *error);
void rf_shares_close(struct rf_shares *shares);

/*
 * Runs the batch: notes what was heard, then writes and reads the windows of its records. Each
 * record has its own result. Where a share was lowered, `used` is what the host may report only if
 * it is read once more after rf_wait_for_programs().
 */
int rf_shares_call(struct rf_shares *shares, struct rf_error *error);

#endif /* RINGFENCE_SHARES_H */
