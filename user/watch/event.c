// SPDX-License-Identifier: GPL-2.0
#include "watch/event.h"

static const char *const names[RF_EVENT_TYPES] = {
	[RF_EVENT_SOURCE_LIMITED] = "source_limited",
	[RF_EVENT_SOURCE_RELEASED] = "source_released",
	[RF_EVENT_BAN_STARTED] = "ban_started",
	[RF_EVENT_BAN_ENDED] = "ban_ended",
	[RF_EVENT_NEWCOMERS_LIMITED] = "newcomers_limited",
	[RF_EVENT_NEWCOMERS_RELEASED] = "newcomers_released",
	[RF_EVENT_FLOOD_STARTED] = "flood_started",
	[RF_EVENT_FLOOD_ENDED] = "flood_ended",
	[RF_EVENT_WINDOWS_FULL] = "windows_full",
	[RF_EVENT_MAP_ERRORS] = "map_errors",
	[RF_EVENT_RULES_CHANGED] = "rules_changed",
	[RF_EVENT_TRIAL_REVERTED] = "trial_reverted",
	[RF_EVENT_ATTACHED] = "attached",
	[RF_EVENT_DETACHED] = "detached",
	[RF_EVENT_ACTION] = "action",
	[RF_EVENT_SUPPRESSED] = "suppressed",
};

const char *rf_event_type_name(enum rf_event_type type)
{
	return names[type];
}
