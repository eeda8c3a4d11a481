/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of history's reader share; nobody else includes this. */
#ifndef RINGFENCE_READING_H
#define RINGFENCE_READING_H

#include "base/units.h"
#include "watch/reader.h"
#include "watch/schema.h"

#define RF_SECOND_MS 1000   /* times are asked for in seconds: what overlaps the second is found */
#define RF_PRESENT_MS 15000 /* the current interval is not written yet */
#define RF_USED_THOUSANDTH 1000 /* `used` is recorded in millionths */

struct rf_reader {
	struct rf_db db;
	char path[PATH_MAX + RF_NAME_SIZE + 8];
	char fence[RF_NAME_SIZE];
};

static inline int64_t rf_to_ms(uint64_t ns)
{
	return ns / RF_NS_PER_MS;
}

static inline uint64_t rf_from_ms(int64_t ms)
{
	return ms > 0 ? ms * RF_NS_PER_MS : 0;
}

/* The database failed; `error` says how. */
int rf_reader_fail(struct rf_reader *reader, struct rf_error *error);
/* Takes rows of source, name, passed, dropped, would_drop, used, banned. */
int rf_reader_take_sources(struct rf_reader *reader, sqlite3_stmt *stmt,
			   struct rf_recorded_sources *sources, struct rf_error *error);
/*
 * Sums up rows of source, number of the limit, passed, dropped, would_drop, used, banned, by source
 * and limit; takes `most` of them, most drops first. `of` is not NULL: those of that source, and of
 * networks around or within it.
 */
int rf_reader_group_sources(struct rf_reader *reader, sqlite3_stmt *stmt,
			    const struct rf_prefix *of, size_t most,
			    struct rf_recorded_sources *sources, struct rf_error *error);
/* Nothing was recorded at `time_ns`: an error that says why. Returns -ENODATA. */
int rf_reader_fail_gap(struct rf_reader *reader, uint64_t time_ns, struct rf_error *error);

#endif /* RINGFENCE_READING_H */
