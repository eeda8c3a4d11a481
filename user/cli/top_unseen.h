/* SPDX-License-Identifier: GPL-2.0 */
/* The sources without a window, in `top`. */
#ifndef RINGFENCE_CLI_TOP_UNSEEN_H
#define RINGFENCE_CLI_TOP_UNSEEN_H

#include <jansson.h>

#include "fence/fence.h"
#include "rules/grammar.h"

/*
 * Prints rows marked `~`, or adds `unseen` to `json`, if that is not NULL. Without `sample TIME`
 * only where somebody takes samples; else `unseen` is null, and a line says which words show the
 * sources of many drops.
 */
int rf_top_unseen(const struct rf_fence *fence, const struct rf_top *top, json_t *json,
		  struct rf_error *error);

#endif /* RINGFENCE_CLI_TOP_UNSEEN_H */
