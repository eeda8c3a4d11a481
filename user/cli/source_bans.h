/* SPDX-License-Identifier: GPL-2.0 */
/* The bans of one source on this host: entries of the deny list, and bans by limits. */
#ifndef RINGFENCE_CLI_SOURCE_BANS_H
#define RINGFENCE_CLI_SOURCE_BANS_H

#include <jansson.h>

#include "fence/fence.h"

/*
 * Adds to `into`: "allowed", whether the allow list comes before the bans, and "bans", a list of
 * {"prefix","left_ms","by","host","limit"}: of an entry of the deny list its owner, and of the
 * fleet's the number of the host, by the agent's `bans`; of a ban by a limit that limit; else null.
 */
int rf_source_bans_read(const struct rf_fence *fence, const struct rf_address *source,
			const json_t *bans, json_t *into, struct rf_error *error);
/* Prints them for people; nothing where there is none. */
void rf_source_bans_print(const json_t *from);

#endif /* RINGFENCE_CLI_SOURCE_BANS_H */
