/* SPDX-License-Identifier: GPL-2.0 */
/* What the agent may do once it runs. */
#ifndef RINGFENCE_AGENT_CONFINE_H
#define RINGFENCE_AGENT_CONFINE_H

#include "base/error.h"

/*
 * The agent's files are the group's that may watch, where there is one. systemd sets the group of
 * the service; started by hand it takes CAP_SETGID, so it comes before rf_agent_confine().
 */
void rf_agent_join_group(void);

/*
 * Drops all capabilities but CAP_BPF, for good: it reads and writes the pins of root's fences as
 * their owner, and runs the fence's calls. Nothing that it might execute gets more. Its core, with
 * the engine's password in it, is not dumped.
 */
int rf_agent_confine(struct rf_error *error);

#endif /* RINGFENCE_AGENT_CONFINE_H */
