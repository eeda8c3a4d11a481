// SPDX-License-Identifier: GPL-2.0
#include "schema/events.h"

#define EVENT(type, name, part, priority, colour, message_id, help) \
	[RF_EVENT_##type] = {name, RF_EVENT_##part, RF_EVENT_##priority, colour, message_id, help},

const struct rf_event_row rf_event_rows[RF_EVENT_TYPES] = {
#include "schema/events.def"
};
