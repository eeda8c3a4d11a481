/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the history writer, and by queries.c for the rows of tables. */
#ifndef RINGFENCE_RECORDER_H
#define RINGFENCE_RECORDER_H

#include <limits.h>

#include "watch/db.h"
#include "watch/history.h"

#define RF_NOTES_MAX 4
#define RF_LEVEL_MAX 5

/* The number of a series in the file, by its three words. */
struct rf_series {
	const char *kind, *outcome; /* literals */
	char name[RF_NAME_SIZE];
	int number;
};

#define RF_SERIES_CACHED 512

/* The sources since the last mark, by source and limit. */
struct rf_tally_row {
	struct rf_prefix source;
	int number; /* of the limit in the file; 0: the place is free */
	bool is_sampled, is_banned;
	uint64_t passed, dropped, would_drop;
	uint32_t used; /* the most, in millionths of the limit */
};

#define RF_HISTORY_SAMPLE_MAX 8192

struct rf_tally {
	struct rf_tally_row *row;
	size_t rows, count; /* a power of two; of these, how many are used */
	size_t sample;	    /* the most sources in the sample */
	__u64 key[3];
	unsigned int share_bits; /* one in 1 << share_bits sources is in the sample */
	uint64_t began_ns;	 /* 0: not yet */
};

/* Counters of the last recorded scan. */
struct rf_counted {
	char identity[RF_IDENTITY_SIZE]; /* "": none by this process */
	uint64_t time_ns, awake_ns;
	struct rf_counters counters;
	uint32_t limit_id[RF_LIMITS_MAX];
	struct rf_limit_counters limit[RF_LIMITS_MAX];
};

struct rf_history {
	struct rf_db db;
	struct rf_history_settings settings;
	char directory[PATH_MAX];
	char path[PATH_MAX + RF_NAME_SIZE + 8];
	char fence[RF_NAME_SIZE];
	int lock_fd;
	enum rf_schema_format format; /* of the file as it was found */

	bool in_scan, has_failed; /* a transaction is open; some step of it failed */
	const char *stopped;	  /* reason for a stop: "disk" or "reader"; NULL: recording */
	const char *missing_why;  /* scans are missing since the last one; NULL: none are */
	int64_t scan, minute, next_seq;
	uint64_t now_ns; /* of this scan */
	uint64_t adds, commits, errors;

	struct rf_counted counted, counted_before; /* now, and before this scan */
	struct rf_series series[RF_SERIES_CACHED];
	int series_count;
	struct rf_series names[RF_LIMITS_MAX * 4]; /* of limits, for sources and cells */
	int names_count;

	uint64_t in_force, rules_in_force, rules_ns;
	char *rules;
	struct rf_tally tally;
	uint64_t who_key[2]; /* of this process: see rf_tell_who() */
	int level; /* of coarseness: each one halves the sources whose cells are recorded */
	uint64_t steady_ns; /* by rf_time_awake(): when the clock jumped, or the first scan */
	uint64_t level_ns, cells_ns; /* when it changed; when cells were added last */
	char note[RF_NOTES_MAX][RF_HISTORY_NOTE_SIZE];
	int notes;
};

/* ---- rows of tables (queries.c) that are only written ---- */

struct rf_total_row {
	int64_t scan;
	uint64_t time_ns, ms, sources, windows[2];
};

struct rf_count_row {
	int64_t id;
	uint64_t packets, bytes;
};

struct rf_sample_row {
	int64_t scan;
	uint64_t time_ns, ms, share;
};

struct rf_sampled_row {
	int64_t id;
	uint32_t why;
	struct rf_tally_row sum;
};

struct rf_cells_record {
	int64_t id;
	int number;
	uint64_t end_ns;
	struct rf_db_blob data;
};

enum rf_table {
	RF_TABLE_TOTALS,  /* struct rf_total_row */
	RF_TABLE_SERIES,  /* struct rf_graph_series */
	RF_TABLE_COUNTS,  /* struct rf_count_row */
	RF_TABLE_MINUTES, /* made in SQL */
	RF_TABLE_MINUTE_COUNTS,
	RF_TABLE_SAMPLES, /* struct rf_sample_row */
	RF_TABLE_LIMITS,  /* struct rf_recorded_source: its limit */
	RF_TABLE_SOURCES, /* struct rf_sampled_row */
	RF_TABLE_SUMS,	  /* made in SQL */
	RF_TABLE_SOURCE_SUMS,
	RF_TABLE_CELLS,	 /* struct rf_cells_record */
	RF_TABLE_EVENTS, /* struct rf_recorded_event */
	RF_TABLE_RULES,	 /* struct rf_recorded_rules */
	RF_TABLE_GAPS,	 /* struct rf_recorded_gap */
	RF_TABLE_STATE,	 /* written by an UPSERT */
	RF_TABLES,
};

extern const struct rf_db_table rf_tables[RF_TABLES];

static inline uint64_t rf_ms(uint64_t ns)
{
	return ns / RF_NS_PER_MS;
}

static inline int64_t rf_scan_id(int64_t scan, int64_t number)
{
	return (scan << RF_SCAN_SHIFT) + number;
}

/* ---- notes and failures (history_file.c) ---- */

__attribute__((format(printf, 2, 3))) void rf_history_say(struct rf_history *history,
							  const char *format, ...);

/* A step of the scan failed: later steps do nothing, and the commit rolls back. */
int rf_history_fail(struct rf_history *history, int code, struct rf_error *error);
/* No transaction is open, or it failed. */
bool rf_history_is_idle(const struct rf_history *history);

/* ---- the file (history_file.c); SQLite's codes ---- */

int rf_history_file_open(struct rf_history *history, struct rf_error *error);
void rf_history_file_close(struct rf_history *history);
/* Renames a damaged file and creates a new one. */
int rf_history_put_aside(struct rf_history *history, struct rf_error *error);
/* Less than 5 % of the disk are free. */
bool rf_history_disk_is_full(const struct rf_history *history);
/* A long-running reader prevents a checkpoint, and the log is long. */
bool rf_history_log_is_held(struct rf_history *history);

/* ---- counters and gaps (history_totals.c) ---- */

int rf_history_add_totals(struct rf_history *history, const struct rf_snapshot *snapshot);
/* The number of a limit's name in the file; 0: none was to be had. */
int rf_history_limit_number(struct rf_history *history, const char *name);

/* ---- sources and cells (history_sources.c) ---- */

/* `at_most` bytes of the file decide on the size of the sample. */
int rf_tally_open(struct rf_tally *tally, uint64_t at_most);
void rf_tally_close(struct rf_tally *tally);
/* Reads the key of the sample from the file, if stored. */
void rf_history_read_sample(struct rf_history *history);
int rf_history_add_sources(struct rf_history *history, const struct rf_snapshot *snapshot);

/* ---- deletion (history_file.c) ---- */

/* Deletes old rows and enforces the size limit; changes the level of detail. */
int rf_history_keep(struct rf_history *history, uint64_t now_ns);
/* Deletes some of the oldest rows regardless of age. */
int rf_history_trim(struct rf_history *history);

#endif /* RINGFENCE_RECORDER_H */
