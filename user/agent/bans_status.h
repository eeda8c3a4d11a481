/* SPDX-License-Identifier: GPL-2.0 */
/* What the agent tells of bans, and does about them, on its socket. */
#ifndef RINGFENCE_AGENT_BANS_STATUS_H
#define RINGFENCE_AGENT_BANS_STATUS_H

#include <jansson.h>

#include "agent/bans.h"

/* A part of the answer to `status`. */
json_t *rf_fleet_bans_status(const struct rf_fleet_bans *bans);
/* NULL: it is no question about bans. `slot`: of this host. */
json_t *rf_fleet_bans_answer(struct rf_fleet_bans *bans, uint32_t slot, const char *question);

#endif /* RINGFENCE_AGENT_BANS_STATUS_H */
