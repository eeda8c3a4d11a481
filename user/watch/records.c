// SPDX-License-Identifier: GPL-2.0
/* The records of a history. */
#include "watch/reader.h"

const struct rf_field rf_extent_fields[] = {
	RF_FIELD("file_bytes", struct rf_extent, bytes, "size of the file"),
	RF_FIELD("events", struct rf_extent, events, "how many"),
	RF_FIELD_OF_TIME("minutes_from", struct rf_extent, first_ns, "the oldest minute, UTC",
			 .or_null = true),
	RF_FIELD_OF_TIME("seconds_from", struct rf_extent, first_second_ns,
			 "the oldest second, UTC", .or_null = true),
	RF_FIELD_OF_TIME("cells_from", struct rf_extent, first_cell_ns, "the oldest cells, UTC",
			 .or_null = true),
	RF_FIELD_OF_TIME("until", struct rf_extent, last_ns, "the last record, UTC",
			 .or_null = true),
	{},
};

const struct rf_field rf_recorded_gap_fields[] = {
	RF_FIELD_OF_TIME("from", struct rf_recorded_gap, start_ns, "UTC"),
	RF_FIELD_OF_TIME("until", struct rf_recorded_gap, end_ns, "UTC"),
	RF_FIELD("reason", struct rf_recorded_gap, why,
		 "down, detached, slept, clock, stalled, disk \\&..."),
	RF_FIELD("passed", struct rf_recorded_gap, passed, "packets counted in the gap"),
	RF_FIELD("dropped", struct rf_recorded_gap, dropped, "packets counted in the gap"),
	{},
};

const struct rf_field rf_recorded_count_fields[] = {
	RF_FIELD("packets", struct rf_recorded_count, packets, "packets"),
	RF_FIELD("bytes", struct rf_recorded_count, bytes, "bytes of their frames"),
	{},
};

const struct rf_field rf_recorded_most_fields[] = {
	RF_FIELD("dropped_per_s", struct rf_recorded_most, rate, "packets"),
	RF_FIELD_OF_TIME("time", struct rf_recorded_most, time_ns, "UTC", .or_null = true),
	{},
};

static json_t *make_used_ratio(const void *of)
{
	return json_real(((const struct rf_recorded_source *)of)->used / 1000.0);
}

const struct rf_field rf_recorded_source_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_recorded_source, source, "address or network"),
	RF_FIELD("limit", struct rf_recorded_source, limit, "the limit that counted them"),
	RF_FIELD("passed", struct rf_recorded_source, passed, "its packets that passed"),
	RF_FIELD("dropped", struct rf_recorded_source, dropped, "its packets that were dropped"),
	RF_FIELD("would_drop", struct rf_recorded_source, would_drop,
		 "passed by a shadow limit or a pause"),
	RF_FIELD_MADE("used_ratio", RF_FIELD_REAL, make_used_ratio, "most used part of the limit"),
	RF_FIELD("banned", struct rf_recorded_source, is_banned, "it was banned"),
	{},
};

/* clang-format off */
/* An optional value is null if it is missing. */
#define AT_TIMES(when) .or_null = RF_EVENT_##when != RF_EVENT_ALWAYS
#define FIELD(key, member, when, ...) \
	RF_FIELD(key, struct rf_recorded_event, member, ##__VA_ARGS__)
#define FIELD_OF_NUMBER FIELD
#define FIELD_OF_COUNT FIELD
#define FIELD_OF_TYPE FIELD
#define FIELD_OF_FENCE FIELD
#define FIELD_OF_TEXT(key, member, when, ...) \
	FIELD(key, member, when, ##__VA_ARGS__, .if_any = true, AT_TIMES(when))
#define FIELD_OF_LIMIT FIELD_OF_TEXT
#define FIELD_OF_SOURCE FIELD_OF_TEXT
#define FIELD_OF_TIME(key, member, when, ...) \
	RF_FIELD_OF_TIME(key, struct rf_recorded_event, member, ##__VA_ARGS__, AT_TIMES(when))
#define RECORDED_FIELD(key, kind, when, member, help) FIELD_OF_##kind(#key, member, when, help),
/* clang-format on */

const struct rf_field rf_recorded_event_fields[] = {
#include "schema/events.def"
	{},
};
