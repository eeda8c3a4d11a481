/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_AGENT_RUN_H
#define RINGFENCE_AGENT_RUN_H

#include "agent/settings.h"

/* Serves the fence until a signal. */
int rf_agent_run(const struct rf_agent_settings *settings, struct rf_error *error);

#endif /* RINGFENCE_AGENT_RUN_H */
