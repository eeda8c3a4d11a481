/* SPDX-License-Identifier: GPL-2.0 */
/* Internal declarations of the files of history's reader; no other file includes this. */
#ifndef RINGFENCE_READING_H
#define RINGFENCE_READING_H

#include "base/units.h"
#include "watch/db.h"
#include "watch/reader.h"

struct rf_reader {
	struct rf_db db;
	char path[PATH_MAX + RF_NAME_SIZE + 8];
	char fence[RF_NAME_SIZE];
};

/* A question about the past: its statement, and where the values of a row go. */
struct rf_statement {
	const char *name;
	struct rf_db_question question;
	size_t size; /* of the struct that a row goes into */
	/* The first column is the number after which a statement continues: it is read in pages. */
	bool is_paged;
	bool has_span; /* RF_ASK_EVENTS_SPAN is queried before */
};

extern const struct rf_statement rf_statements[RF_QUESTIONS];
extern const struct rf_db_columns rf_statement_parameters; /* of struct rf_asked */

/* The database failed; `error` describes it. */
int rf_reader_fail(struct rf_reader *reader, struct rf_error *error);
int rf_reader_fail_memory(struct rf_error *error);

/*
 * Merges rows that start with the same `key_size` bytes into one, by `add`: SQLite would sort them
 * first, which takes five times as long as reading them. Rows with keys beyond `most_keys` are left
 * out. The caller frees `rows`.
 */
typedef void (*rf_add_row)(void *into, const void *row);
int rf_ask_folded(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
		  size_t key_size, size_t most_keys, rf_add_row add, void *rows, size_t *count,
		  struct rf_error *error);

/* A second, a minute or an interval of sources. */
struct rf_interval {
	int64_t is_minute, number;
	uint64_t from_ns, to_ns;
	double seconds;
	uint64_t one_in; /* of the sources */
};

/* Cells of a limit, packed. */
struct rf_recorded_pack {
	uint64_t end_ns;
	const char *limit;
	struct rf_db_blob data;
};

struct rf_checked_sums {
	int64_t first;
	uint64_t from_ns;
	bool is_different;
};

/* A source under a limit, as it is summed up. */
struct rf_source_sum {
	int64_t limit; /* its number */
	char source[RF_PREFIX_TEXT_SIZE];
	uint64_t passed, dropped, would_drop;
	uint32_t used, banned;
};

#define RF_SOURCE_KEY_SIZE offsetof(struct rf_source_sum, passed)

/* Packets of a series: of an interval, or summed up. */
struct rf_series_sum {
	int64_t series;
	uint64_t packets, bytes;
};

/* ---- of graphs ---- */

struct rf_graph_series {
	int64_t series;
	char kind[RF_WORD_SIZE], name[RF_NAME_SIZE], outcome[RF_WORD_SIZE];
};

struct rf_graph_part { /* of an interval, and the point that it belongs to */
	int64_t number, point;
	double seconds; /* of the interval */
	double share;	/* of the interval that the part has */
	uint64_t sources;
};

struct rf_graph_count { /* of an interval */
	int64_t number, series;
	uint64_t packets, peak; /* in a second of a minute */
};

/* A row of one interval, or the sum of several. */
struct rf_bar_sum {
	struct rf_source_sum sum;
	int64_t at; /* its bar */
	uint64_t bar[RF_GRAPH_BARS];
};

#endif /* RINGFENCE_READING_H */
