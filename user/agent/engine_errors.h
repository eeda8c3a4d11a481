/* SPDX-License-Identifier: GPL-2.0 */
/* What the engine's errors mean, and what to do. Pure. */
#ifndef RINGFENCE_AGENT_ENGINE_ERRORS_H
#define RINGFENCE_AGENT_ENGINE_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

/* Has the engine none of ringfence's functions? */
bool rf_engine_lacks_functions(const char *error);
/* Has another host loaded them meanwhile? */
bool rf_engine_has_functions(const char *error);
/* A sentence for an error of the engine. */
void rf_engine_explain(const char *error, char *text, size_t size);

#endif /* RINGFENCE_AGENT_ENGINE_ERRORS_H */
