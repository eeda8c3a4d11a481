// SPDX-License-Identifier: GPL-2.0
/* The words of the commands of a fleet. */
#include <stddef.h>

#include "rules/grammar_table.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct rf_option password_words[] = {
	{"file", RF_KIND_FILE, "PATH", .summary = "whose first line is the password"},
	{},
};

static const struct rf_option key_words[] = {
	{"file", RF_KIND_FILE, "PATH", .summary = "whose first line is the fleet's bucket key"},
	{},
};

static const struct rf_option bans_words[] = {
	{"take", .summary = "the bans that other hosts tell the fleet: 1h and 1024 at most"},
	{},
};

const struct rf_option rf_fleet_bans_words[] = {
	{"list", .summary = "print them (default)"},
	{"flush", .summary = "end them all on this host"},
	{},
};

const struct rf_option rf_join_options[] = {
	[RF_OPT_REDIS] = {"redis", RF_KIND_ENGINE, "HOST:PORT",
			  .summary = "where Redis 7 or Valkey listens; of a cluster several, with "
				     "commas between",
			  .flags = RF_OPTION_MUST},
	[RF_OPT_HOSTS] = {"hosts", RF_KIND_NUMBER, "N",
			  .summary = "all hosts that may be in the fleet, and one more for reboots",
			  .flags = RF_OPTION_MUST},
	[RF_OPT_USER] = {"user", RF_KIND_USER, "USER", .summary = "of the engine"},
	[RF_OPT_PASSWORD] = {"password", RF_KIND_WORD, .words = password_words},
	[RF_OPT_GRACE] = {"grace", RF_KIND_TIME, "TIME",
			  .summary = "after which a host that does not hear the engine is alone, "
				     "200ms to 60s (default: 2s)"},
	[RF_OPT_ASKS] = {"asks", RF_KIND_RATE, "N/s",
			 .summary = "asks that are sent to the engine, at most (default: 5000/s)"},
	[RF_OPT_BANS] = {"bans", RF_KIND_WORD, .words = bans_words},
	[RF_OPT_KEY] = {"key", RF_KIND_WORD, .words = key_words},
	{},
};

static const struct rf_option fleet_by_words[] = {
	{"drops", .summary = "the packets that the hosts dropped"},
	{"rate", .summary = "the packets a second that come now, on all hosts together"},
	{"hosts", .summary = "how many hosts tell of the source"},
	{},
};

const struct rf_option rf_fleet_top_options[] = {
	[RF_OPT_FLEET_BY] = {"by", RF_KIND_WORD, .words = fleet_by_words},
	{},
};
