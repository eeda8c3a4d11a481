/* SPDX-License-Identifier: GPL-2.0 */
/* What several reading commands show of a fence. */
#ifndef RINGFENCE_VIEW_H
#define RINGFENCE_VIEW_H

#include <jansson.h>

#include "fence.h"

/* [{"name","mode","attached_by"}] */
json_t *rf_view_interfaces(const struct rf_fence *fence);
const char *rf_view_attached_by(const struct rf_interface *interface);

#endif /* RINGFENCE_VIEW_H */
