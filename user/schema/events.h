/* SPDX-License-Identifier: GPL-2.0 */
/* The types of events, as rows of schema/events.def. */
#ifndef RINGFENCE_SCHEMA_EVENTS_H
#define RINGFENCE_SCHEMA_EVENTS_H

#include <stdbool.h>

#define RF_EVENT_SCHEMA 2 /* ringfence-event.schema.json */
#define RF_EVENT_WORST 5  /* sources of an event `suppressed` */
#define RF_EVENT_SOURCE_HELP "address or network; in the events file with its length"

enum rf_event_type {
#define EVENT(type, ...) RF_EVENT_##type,
#include "schema/events.def"
	RF_EVENT_TYPES,
};

enum rf_event_part {
	RF_EVENT_ONCE,
	RF_EVENT_START,
	RF_EVENT_END,
};

/* As syslog counts. */
enum rf_event_priority {
	RF_EVENT_WARNING = 4,
	RF_EVENT_NOTICE = 5,
	RF_EVENT_INFO = 6,
};

struct rf_event_row {
	const char *name; /* source_limited */
	enum rf_event_part part;
	enum rf_event_priority priority;
	const char *colour; /* on the page: "bad", "warn" or "" */
	const char *message_id;
	const char *help;
};

extern const struct rf_event_row rf_event_rows[RF_EVENT_TYPES];

/* How a field of an event is written in JSON. */
enum rf_event_kind {
	RF_EVENT_IS_SCHEMA,  /* a constant */
	RF_EVENT_IS_TYPE,    /* enum rf_event_type, by its name */
	RF_EVENT_IS_TEXT,    /* an array of characters; "" is left out */
	RF_EVENT_IS_LIMIT,   /* the same; its column is limit_name, since LIMIT is a word of SQL */
	RF_EVENT_IS_FENCE,   /* the same, never empty; no column of a history */
	RF_EVENT_IS_NUMBER,  /* uint64_t, the primary key of the events of a history */
	RF_EVENT_IS_COUNT,   /* uint64_t */
	RF_EVENT_IS_TIME,    /* uint64_t, in nanoseconds since 1970; in JSON as text, in UTC */
	RF_EVENT_IS_SECONDS, /* uint64_t, in nanoseconds */
	RF_EVENT_IS_SOURCE,  /* struct rf_prefix */
	RF_EVENT_IS_SUM,     /* of the events that were left out */
	RF_EVENT_IS_COUNTS,  /* of them, for each type */
	RF_EVENT_IS_WORST,   /* the sources that lost most in them */
};

enum rf_event_when {
	RF_EVENT_ALWAYS,
	RF_EVENT_GIVEN, /* if it is neither 0 nor empty */
	RF_EVENT_SEEN,	/* where the event has a first packet */
	RF_EVENT_SUPPRESSED_ONLY,
};

/* The type of a recorded field's member in struct rf_recorded_event. */
#define RF_RECORDED_NUMBER uint64_t
#define RF_RECORDED_COUNT uint64_t
#define RF_RECORDED_TIME uint64_t
#define RF_RECORDED_TYPE const char *
#define RF_RECORDED_TEXT const char *
#define RF_RECORDED_LIMIT const char *
#define RF_RECORDED_FENCE const char *
#define RF_RECORDED_SOURCE const char *

#endif /* RINGFENCE_SCHEMA_EVENTS_H */
