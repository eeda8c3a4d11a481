// SPDX-License-Identifier: GPL-2.0
/* Which events are asked for. */
#include <stdio.h>

#include "cli/events.h"
#include "fence/fence.h"

/* Is the source in the network? One that was recorded as a network may also be around it. */
static bool is_from(const struct rf_prefix *from, const char *text)
{
	struct rf_prefix source;
	struct rf_error unused;

	return *text && !rf_parse_prefix(text, &source, &unused) &&
	       (rf_prefix_contains(from, &source) || rf_prefix_contains(&source, from));
}

bool rf_event_is_asked(const struct rf_events_asked *asked, const struct rf_recorded_event *event)
{
	const int row = rf_option_find(rf_event_words, event->type);

	if (asked->types && (row < 0 || !(asked->types & 1U << row)))
		return false;
	return !asked->is_from || is_from(&asked->from, event->source);
}

bool rf_events_fence(const char *dev, char fence[RF_NAME_SIZE])
{
	struct rf_fence open = RF_FENCE_NONE;
	struct rf_error unused;
	const bool is_attached = dev && !rf_fence_open(&open, dev, &unused);

	snprintf(fence, RF_NAME_SIZE, "%s", is_attached ? open.name : dev ?: "");
	rf_fence_close(&open);
	return is_attached;
}
