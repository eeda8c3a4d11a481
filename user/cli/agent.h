/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the agent that serves a fence. */
#ifndef RINGFENCE_CLI_AGENT_H
#define RINGFENCE_CLI_AGENT_H

#include <jansson.h>

#include "base/error.h"

/*
 * Asks the agent of the fence, and waits some seconds. The caller frees the answer. -ENOENT or
 * -ECONNREFUSED: no agent serves that fence.
 */
int rf_agent_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error);

#endif /* RINGFENCE_CLI_AGENT_H */
