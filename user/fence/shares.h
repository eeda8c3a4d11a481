/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The agent's side of a fence with shares: the program's requests, and the calls that write shares,
 * read usage, and report the state of the fleet server. See include/ringfence/share.h.
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
 * Runs the batch: records the state of the server, then writes and reads the windows of its
 * records. Each record has a result. If a share was lowered, the host can report `used` only after
 * reading it once more after rf_wait_for_programs().
 */
int rf_shares_call(struct rf_shares *shares, struct rf_error *error);

#endif /* RINGFENCE_SHARES_H */
