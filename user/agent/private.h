/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of site.h share. */
#ifndef RINGFENCE_AGENT_PRIVATE_H
#define RINGFENCE_AGENT_PRIVATE_H

#include "agent/site.h"

/* ---- site_windows.c ---- */

/* Says an error, unless it is the one that was said last. Returns `err`. */
int rf_site_fail(struct rf_site *site, int err, const struct rf_error *error);

/* What the fence has of the deadlines, for the count of the time alone. */
struct rf_alone_seen rf_site_hearing(const struct rf_site *site);

/* ---- site_limits.c ---- */

/* Reads the limits of the fleet that are in force, and gives them to the claims. */
int rf_site_read_limits(struct rf_site *site, uint64_t now, struct rf_error *error);

/* ---- site_take_over.c ---- */

/*
 * Takes back all shares that an agent before this one gave, and makes claims of what was used by
 * them. Without it they would be in force again as soon as the engine is heard.
 */
int rf_site_take_over(struct rf_site *site, uint64_t now, struct rf_error *error);

#endif /* RINGFENCE_AGENT_PRIVATE_H */
