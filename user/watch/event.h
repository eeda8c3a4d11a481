/* SPDX-License-Identifier: GPL-2.0 */
/* What happened at a fence: plain data, made from the differences between scans. */
#ifndef RINGFENCE_EVENT_H
#define RINGFENCE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"
#include "fence/reasons.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"

#define RF_EVENT_ID_SIZE 64
#define RF_EVENT_DETAIL_SIZE 256

enum rf_event_type {
	RF_EVENT_SOURCE_LIMITED,
	RF_EVENT_SOURCE_RELEASED,
	RF_EVENT_BAN_STARTED,
	RF_EVENT_BAN_ENDED,
	RF_EVENT_NEWCOMERS_LIMITED,
	RF_EVENT_NEWCOMERS_RELEASED,
	RF_EVENT_FLOOD_STARTED,
	RF_EVENT_FLOOD_ENDED,
	RF_EVENT_WINDOWS_FULL,
	RF_EVENT_MAP_ERRORS,
	RF_EVENT_RULES_CHANGED,
	RF_EVENT_TRIAL_REVERTED,
	RF_EVENT_ATTACHED,
	RF_EVENT_DETACHED,
	RF_EVENT_ACTION,
	RF_EVENT_SUPPRESSED,
	RF_EVENT_TYPES,
};

struct rf_event {
	uint64_t seq; /* 0: history gives it one */
	uint64_t time_ns;
	enum rf_event_type type;
	char id[RF_EVENT_ID_SIZE]; /* joins the start and the end; "": none */
	char fence[RF_NAME_SIZE];
	char limit[RF_NAME_SIZE]; /* "": none */
	bool has_source;
	struct rf_prefix source; /* as it may be told */
	char reason[RF_REASON_NAME_SIZE];
	char rate[RF_RATE_TEXT_SIZE];
	uint64_t dropped, passed;
	uint64_t first_seen_ns;
	char detail[RF_EVENT_DETAIL_SIZE];
};

/* source_limited … */
const char *rf_event_type_name(enum rf_event_type type);

#endif /* RINGFENCE_EVENT_H */
