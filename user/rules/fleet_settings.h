/* SPDX-License-Identifier: GPL-2.0 */
/* What `ringfence fleet join` writes for the agent of a fence, and what the agent takes. */
#ifndef RINGFENCE_FLEET_SETTINGS_H
#define RINGFENCE_FLEET_SETTINGS_H

#include "base/units.h"

#define RF_FLEET_DIRECTORY "/etc/ringfence"
#define RF_FLEET_FILE RF_FLEET_DIRECTORY "/%s.fleet" /* of that fence */
#define RF_GRACE_LEAST_NS (200 * RF_NS_PER_MS)
#define RF_GRACE_MOST_NS (60 * RF_NS_PER_S)
#define RF_SERVERS_MOST 8    /* of a cluster, that are named */
#define RF_ASKS_MOST 1000000 /* a second */

#endif /* RINGFENCE_FLEET_SETTINGS_H */
