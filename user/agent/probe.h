/* SPDX-License-Identifier: GPL-2.0 */
/* Probes the fleet server once with the settings of the agent, and prints its facts as JSON. */
#ifndef RINGFENCE_AGENT_PROBE_H
#define RINGFENCE_AGENT_PROBE_H

#include "agent/settings.h"

#define RF_REPLICAS_MOST 8 /* of a node, that are probed */

/*
 * Prints one object, which includes all errors; `settings_err` and `settings_error`: of reading the
 * settings. Fails only if nothing could be printed.
 */
int rf_agent_probe(struct rf_agent_settings *settings, int settings_err,
		   const struct rf_error *settings_error, struct rf_error *error);

#endif /* RINGFENCE_AGENT_PROBE_H */
