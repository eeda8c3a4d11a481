/* SPDX-License-Identifier: GPL-2.0 */
/* Looks at the engine once, with the settings of the agent, and tells what it found as JSON. */
#ifndef RINGFENCE_AGENT_PROBE_H
#define RINGFENCE_AGENT_PROBE_H

#include "agent/settings.h"

#define RF_REPLICAS_MOST 8 /* of a node, that are looked at */

/*
 * Prints one object; `settings_err` and `settings_error`: of reading the settings. Whatever is
 * wrong is in it, so that this fails only where nothing could be printed.
 */
int rf_agent_probe(struct rf_agent_settings *settings, int settings_err,
		   const struct rf_error *settings_error, struct rf_error *error);

#endif /* RINGFENCE_AGENT_PROBE_H */
