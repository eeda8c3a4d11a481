/* SPDX-License-Identifier: GPL-2.0 */
/* What happened at a fence: plain data, made from the differences between scans. */
#ifndef RINGFENCE_EVENT_H
#define RINGFENCE_EVENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/prefix.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "schema/events.h"
#include "schema/reasons.h"
#include "watch/privacy.h"

#define RF_EVENT_SEQ_MAX ((1LL << 53) - 1) /* JSON readers parse larger integers inexactly */
#define RF_EVENT_ID_SIZE 64
#define RF_EVENT_DETAIL_SIZE 256

/* One of the sources that RF_EVENT_SUPPRESSED left out. */
struct rf_event_worst {
	bool has_source; /* false: it must not be disclosed */
	struct rf_prefix source;
	char limit[RF_NAME_SIZE];
	uint64_t dropped;
};

struct rf_event {
	uint64_t seq; /* 0: the history assigns one */
	uint64_t time_ns;
	enum rf_event_type type;
	char id[RF_EVENT_ID_SIZE]; /* links the start and the end; "": none */
	char fence[RF_NAME_SIZE];
	char limit[RF_NAME_SIZE]; /* "": none */
	bool has_source;
	struct rf_prefix source; /* in its disclosed form */
	char reason[RF_REASON_NAME_SIZE];
	char rate[RF_RATE_TEXT_SIZE];
	uint64_t dropped, passed;
	uint64_t first_seen_ns;
	uint64_t interval_ns; /* between two scans, if scanning was slowed down; otherwise 0 */
	char detail[RF_EVENT_DETAIL_SIZE];
	/* Of RF_EVENT_SUPPRESSED: how many events of each type, and the worst sources in them. */
	uint64_t left_out[RF_EVENT_TYPES];
	struct rf_event_worst worst[RF_EVENT_WORST];
	unsigned int worst_count;
};

/* source_limited … */
const char *rf_event_type_name(enum rf_event_type type);
/* Does this type end an episode that another type has started? */
bool rf_event_is_end(const char *name);
/*
 * The same event, with its sources in their disclosed form; the detail of suppressed ones.
 */
void rf_event_tell(enum rf_told told, const struct rf_event *event, struct rf_event *result);
/* As ringfence-event.schema.json defines it. NULL: no memory. */
json_t *rf_event_json(const struct rf_event *event);

#endif /* RINGFENCE_EVENT_H */
