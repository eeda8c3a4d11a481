/* SPDX-License-Identifier: GPL-2.0 */
/* `show PREFIX`: what is known of the sources in a network. */
#ifndef RINGFENCE_SHOW_NETWORK_H
#define RINGFENCE_SHOW_NETWORK_H

#include <stdbool.h>

#include "base/prefix.h"
#include "fence/fence.h"

/*
 * Prints the prefixes of both lists that lie in `prefix` or contain it, and the bans and windows of
 * sources in it.
 */
int rf_show_network(const struct rf_fence *fence, const struct rf_prefix *prefix, bool json,
		    struct rf_error *error);

#endif /* RINGFENCE_SHOW_NETWORK_H */
