// SPDX-License-Identifier: GPL-2.0
/* The options of `capture`, and the reasons of a verdict: data alone. */
#include "ringfence/abi.h"
#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define NAMES .flags = RF_OPTION_NAMES

/* The names that counters have as well. */
#define REASON(reason, name, text) [reason] = {name, .summary = text, NAMES}

const struct rf_option rf_reason_words[] = {
	REASON(RF_UNDER_LIMIT, "under_limit", "passed: under the limit"),
	REASON(RF_SHADOW_OVER, "shadow_over", "passed: over a shadow limit"),
	REASON(RF_NO_LIMIT, "no_limit", "passed: no limit applies"),
	REASON(RF_ALLOWED, "allowed", "passed: on the allow list"),
	REASON(RF_NON_IP, "non_ip", "passed: not IP"),
	REASON(RF_NEIGHBOUR, "neighbour", "passed: IPv6 neighbour discovery"),
	REASON(RF_NEWCOMER_OPEN, "newcomer_open", "passed: new, over the newcomers rate"),
	REASON(RF_UNCONFIRMED, "unconfirmed", "passed: the attach was not confirmed"),
	REASON(RF_PAUSED, "paused", "passed: to be dropped, but the fence was paused"),
	REASON(RF_MAP_ERROR, "map_error", "passed: no window could be made"),
	REASON(RF_OVER_LIMIT, "over_limit", "dropped: over the limit"),
	REASON(RF_BANNED, "banned", "dropped: banned by a limit"),
	REASON(RF_DENIED, "denied", "dropped: on the deny list"),
	REASON(RF_CONTENDED, "contended", "dropped: lost too many races for a window"),
	REASON(RF_NEWCOMER_CLOSED, "newcomer_closed", "dropped: new, over the newcomers rate"),
	REASON(RF_NO_WINDOW, "no_window", "dropped: no window could be made"),
	REASON(RF_UNCLASSED, "unclassed", "dropped: cannot tell which limits apply"),
	REASON(RF_DEEP_VLAN, "deep_vlan", "dropped: more than eight VLAN tags"),
	REASON(RF_MALFORMED, "malformed", "dropped: no source to charge"),
	{},
};

_Static_assert(sizeof(rf_reason_words) / sizeof(rf_reason_words[0]) == RF_REASON_COUNT + 1,
	       "a word for each reason");

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
