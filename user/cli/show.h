/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_CLI_SHOW_H
#define RINGFENCE_CLI_SHOW_H

#include <jansson.h>

#include "fence/fence.h"

/* The object of `show ADDRESS --json`, which the caller frees. */
int rf_show_json(const struct rf_fence *fence, const struct rf_address *source, json_t **json,
		 struct rf_error *error);

#endif /* RINGFENCE_CLI_SHOW_H */
