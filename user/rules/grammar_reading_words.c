// SPDX-License-Identifier: GPL-2.0
/* The options of commands that read what a fence counts, or counted: data alone. */
#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

const struct rf_option rf_order_words[] = {
	{"drops", .summary = "the sources with the most drops (default)"},
	{"rate", .summary = "the sources with the highest rate over the limit's present window"},
	{"used", .summary = "the sources that have used up most of their limit"},
	{},
};

#define AT_SUMMARY                                                                        \
	"from the history: what was then. TIME: 14:02, 14:02:11, 2026-11-22T14:02, or a " \
	"time back: -2h"

const struct rf_option rf_stats_options[] = {
	[RF_OPT_WATCH] =
		{"watch", RF_KIND_NUMBER, "SECONDS",
		 .summary = "print a line of rates every SECONDS (default: 1) until interrupted",
		 .flags = RF_OPTION_MAY},
	[RF_OPT_REASONS] = {"reasons", .summary = "with watch: the rate of each reason as well"},
	[RF_OPT_TOTAL] = {"total", .summary = "count since the attach, whatever was reset"},
	[RF_OPT_RESET] = {"reset",
			  .summary = "begin the counters of the fence and its limits at 0"},
	[RF_OPT_STATS_AT] = {"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES},
	{},
};

const struct rf_option rf_metrics_options[] = {
	{"file", RF_KIND_FILE, "PATH",
	 .summary = "write them into this file, all at once, for node_exporter's textfile "
		    "collector, which reads files named *.prom. Counters go on from what the file "
		    "had, also where a fence was replaced meanwhile",
	 NAMES},
	{},
};

const struct rf_option rf_top_options[] = {
	[RF_OPT_BY] = {"by", RF_KIND_WORD, .words = rf_order_words},
	[RF_OPT_TOP_LIMIT] = {"limit", RF_KIND_LIMIT, "NAME",
			      .summary = "only the sources of this limit"},
	[RF_OPT_WITHIN] = {"within", RF_KIND_PREFIX, "PREFIX",
			   .summary = "only the sources in this network"},
	[RF_OPT_SAMPLE] =
		{"sample", RF_KIND_TIME, "TIME",
		 .summary =
			 "also the sources without a window: listed, new, or matched by no limit. "
			 "Takes samples of packets for TIME, 1s-60s, and estimates their rates. "
			 "Needs the right to change the fence",
		 NAMES},
	[RF_OPT_TOP_AT] = {"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES},
	{},
};

const struct rf_option rf_show_options[] = {
	{"at", RF_KIND_MOMENT, "TIME", .summary = AT_SUMMARY, NAMES},
	{},
};

const struct rf_option rf_suggest_options[] = {
	[RF_OPT_SUGGEST_LIMIT] = {"limit", RF_KIND_LIMIT, "NAME",
				  .summary =
					  "for the sources of this limit (default: the first one "
					  "that sees every packet)",
				  NAMES},
	[RF_OPT_SUGGEST_PER] = {"per", RF_KIND_TIME, "TIME",
				.summary = "COUNT in this TIME, that of a limit (default: that of "
					   "the limit)",
				NAMES},
	[RF_OPT_SUGGEST_SINCE] = {"since", RF_KIND_MOMENT, "TIME",
				  .summary =
					  "from the history, from then on (default: -24h). TIME: "
					  "14:02, 2026-11-22T14:02, or a time back: -2h",
				  NAMES},
	[RF_OPT_SUGGEST_FOR] = {"for", RF_KIND_TIME, "TIME",
				.summary = "from what comes in now, for so long; without a history",
				NAMES},
	{},
};

const struct rf_option rf_report_options[] = {
	{"since", RF_KIND_MOMENT, "TIME",
	 .summary = "all that happened since then. TIME: 14:02, 2026-11-22T14:02, or a time back: "
		    "-2h",
	 NAMES},
	{"until", RF_KIND_MOMENT, "TIME", .summary = "no later than that (default: now)", NAMES},
	{},
};
