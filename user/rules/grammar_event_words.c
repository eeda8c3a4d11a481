// SPDX-License-Identifier: GPL-2.0
/* The options of `events`, and the types of events: data alone. */
#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define EVENT(type, name, part, priority, colour, message_id, help) {name, .summary = help},

const struct rf_option rf_event_words[] = {
#include "schema/events.def"
	{},
};

const struct rf_option rf_events_options[] = {
	[RF_OPT_EVENTS_WATCH] =
		{"watch", .summary = "print the last events, or those since TIME, and then each "
				     "one as it happens, until interrupted"},
	[RF_OPT_SINCE] = {"since", RF_KIND_MOMENT, "TIME",
			  .summary = "no earlier than that (default: all). TIME: 14:02, "
				     "2026-11-22T14:02, or a time back: -2h"},
	[RF_OPT_UNTIL] = {"until", RF_KIND_MOMENT, "TIME", .summary = "no later than that"},
	[RF_OPT_OF] = {"of", RF_KIND_TYPES, "TYPE,…",
		       .summary = "only events of these types:", .words = rf_event_words},
	[RF_OPT_EVENTS_FROM] =
		{"from", RF_KIND_PREFIX, "PREFIX",
		 .summary = "only events of sources in this network; where the history has "
			    "networks instead of addresses, of those that overlap it"},
	{},
};
