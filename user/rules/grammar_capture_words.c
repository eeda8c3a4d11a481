// SPDX-License-Identifier: GPL-2.0
/* The options of `capture`, and the reasons of a verdict: data alone. */
#include "rules/grammar_table.h"
#include "schema/reasons.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

#define REASON(reason, verdict, name, text, help) \
	[reason] = {name, .summary = RF_VERDICT_##verdict ": " help, NAMES},

const struct rf_option rf_reason_words[] = {RF_REASONS(REASON){}};

static const struct rf_option one_words[] = {
	{"in", RF_KIND_NUMBER, "N",
	 .summary = "take one of every N packets, on each CPU (default: 1024); what it costs, only "
		    "the packets that are taken pay",
	 NAMES},
	{},
};

const struct rf_option rf_capture_options[] = {
	[RF_OPT_DROPPED] = {"dropped", .summary = "packets that are dropped (default)", NAMES},
	[RF_OPT_PASSED] = {"passed", .summary = "packets that pass; with 'dropped': both", NAMES},
	[RF_OPT_REASON] = {"reason", RF_KIND_REASON, .words = rf_reason_words,
			   .flags = RF_OPTION_NAMES | RF_OPTION_MANY},
	[RF_OPT_CAPTURE_LIMIT] =
		{"limit", RF_KIND_LIMIT, "NAME",
		 .summary = "only packets that this limit refused, or was charged for", NAMES},
	[RF_OPT_CAPTURE_FROM] = {"from", RF_KIND_PREFIX, "PREFIX",
				 .summary = "only packets from this network", NAMES},
	[RF_OPT_ONE] = {"one", RF_KIND_WORD, .words = one_words, NAMES},
	[RF_OPT_MOST] = {"most", RF_KIND_NUMBER, "N",
			 .summary = "write N packets a second at most (default: 1000)", NAMES},
	[RF_OPT_PACKETS_COUNT] = {"count", RF_KIND_NUMBER, "N", .summary = "end after N packets",
				  NAMES},
	[RF_OPT_CAPTURE_FOR] = {"for", RF_KIND_TIME, "TIME",
				.summary = "end after TIME (default: when interrupted)", NAMES},
	[RF_OPT_WRITE] = {"write", RF_KIND_FILE, "FILE|-",
			  .summary = "the file, which must not exist yet; -: standard output",
			  .flags = RF_OPTION_NAMES | RF_OPTION_MUST},
	{},
};
