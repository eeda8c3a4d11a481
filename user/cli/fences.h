/* SPDX-License-Identifier: GPL-2.0 */
/* Reading commands that show one fence, or all of them. */
#ifndef RINGFENCE_CLI_FENCES_H
#define RINGFENCE_CLI_FENCES_H

#include <jansson.h>

#include "cli/command.h"
#include "fence/fence.h"

/*
 * Shows one fence. Prints it, or, where `json` is not NULL, sets `*json` to its object. `context`
 * is the command's.
 */
typedef int (*rf_show)(const struct rf_fence *fence, const void *context, json_t **json,
		       struct rf_error *error);

/*
 * Shows the fence that `dev` names: its object is the whole JSON. Without `dev`, shows every fence:
 * {"fences":[…]}, and in text each under a heading, where there are several; `has_heading`: `show`
 * prints one itself. A fence that cannot be shown has {"fence","error"}, and the others are shown.
 */
int rf_show_fences(const struct rf_options *options, rf_show show, bool has_heading,
		   const void *context, struct rf_error *error);
/* The same; the object of all fences gets the keys of `more`, which is freed. */
int rf_show_fences_with(const struct rf_options *options, rf_show show, bool has_heading,
			const void *context, json_t *more, struct rf_error *error);

#endif /* RINGFENCE_CLI_FENCES_H */
