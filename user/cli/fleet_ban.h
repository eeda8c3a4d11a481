/* SPDX-License-Identifier: GPL-2.0 */
/* Bans that this host tells its fleet, by the agent of a fence. */
#ifndef RINGFENCE_CLI_FLEET_BAN_H
#define RINGFENCE_CLI_FLEET_BAN_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"

/* Waits until the engine has it. `time_ns` 0: the ban ends. */
int rf_fleet_ban_tell(const char *fence, const struct rf_prefix *prefix, uint64_t time_ns,
		      struct rf_error *error);
/* The number of the host whose ban it is, by the agent's answer to `bans`; -1: it does not know. */
json_int_t rf_fleet_ban_host(const json_t *answer, const char *prefix);
/*
 * Tells the agent to forget what it has taken, and to take none of it again. -ENOENT or
 * -ECONNREFUSED: there is no agent.
 */
int rf_fleet_ban_flush(const char *fence, struct rf_error *error);

#endif /* RINGFENCE_CLI_FLEET_BAN_H */
