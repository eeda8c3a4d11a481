/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of bans.h share. */
#ifndef RINGFENCE_AGENT_BANS_PRIVATE_H
#define RINGFENCE_AGENT_BANS_PRIVATE_H

#include "agent/bans.h"

/* ---- bans_fence.c ---- */

/*
 * Puts the taken bans on the fence's deny list, and takes those that have ended off it; if it
 * sweeps, also all that have expired there. Bans that the fence refuses are left out: `left_out`
 * says why; it is empty if there are none.
 */
int rf_fleet_bans_write(const struct rf_fleet_bans *bans, struct rf_error *left_out,
			struct rf_error *error);

/*
 * Looks for some of the taken bans in the fence, other ones each time. False: one is not in force.
 * A ban stands back behind an entry of this host, which may have ended.
 */
bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence);

/* ---- bans_kept.c ---- */

/* As an agent before has left it; all 0 where there was none. */
void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence);
void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence);
/* For an agent after a reboot. It may wait for a disk. */
void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence);

#endif /* RINGFENCE_AGENT_BANS_PRIVATE_H */
