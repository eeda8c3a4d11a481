// SPDX-License-Identifier: GPL-2.0
/* The options of `events`, and the types of events, which user/watch makes: data alone. */
#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

const struct rf_option rf_event_words[] = {
	{"source_limited", .summary = "a source lost packets at a limit"},
	{"source_released", .summary = "it lost none for 30 s"},
	{"ban_started", .summary = "a limit banned a source"},
	{"ban_ended", .summary = "the ban is over"},
	{"newcomers_limited", .summary = "newcomers exceed their rate"},
	{"newcomers_released", .summary = "newcomers keep to their rate again"},
	{"flood_started",
	 .summary = "10,000 packets a second are lost, or 100 sources are limited at a time"},
	{"flood_ended", .summary = "the flood is over"},
	{"windows_full", .summary = "a source found no free window"},
	{"map_errors", .summary = "a map of the data path failed"},
	{"rules_changed", .summary = "the rules were changed"},
	{"trial_reverted", .summary = "nobody confirmed a trial in time"},
	{"attached", .summary = "a fence was attached"},
	{"detached", .summary = "a fence was detached"},
	{"action", .summary = "the rules on trial were confirmed"},
	{"fleet_alone", .summary = "this host does not hear its fleet: limits hold for it alone"},
	{"fleet_back", .summary = "it hears the fleet again"},
	{"member_gone", .summary = "a host of the fleet is silent, and its shares are free"},
	{"bypass_started", .summary = "packets of an interface do not meet the program"},
	{"bypass_ended", .summary = "they meet it again"},
	{"paused", .summary = "'pause' was run: nothing is dropped"},
	{"resumed", .summary = "the pause is over"},
	{"suppressed", .summary = "the number of events that were left out"},
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
