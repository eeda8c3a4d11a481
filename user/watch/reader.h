/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a history, also while its writer writes: each query is a separate short read, which never
 * blocks the writer. Times are ns since 1970. Functions return 0 or a negative errno with a
 * sentence in `error`.
 */
#ifndef RINGFENCE_READER_H
#define RINGFENCE_READER_H

#include <limits.h>

#include "schema/record.h"
#include "snapshot/cells.h"
#include "watch/event.h"

#define RF_FENCES_RECORDED_MAX 256
#define RF_WORD_SIZE 24

/* ---- where histories are ---- */

/* RINGFENCE_HISTORY in the environment, or the setting in watch.conf, or the default. */
void rf_history_directory(char path[PATH_MAX]);
/* Does watch.conf disable it? */
bool rf_history_is_off(void);

/*
 * Writes the value of a setting, such as `events file`, from the daemon's file, and returns 1. 0:
 * it is not set. -ENOENT: there is no such file. Another negative errno: it cannot be read.
 */
int rf_watch_setting(const char *words, char value[PATH_MAX]);

struct rf_recorded_fences {
	char directory[PATH_MAX];
	char name[RF_FENCES_RECORDED_MAX][RF_NAME_SIZE];
	int count;
};

/* The fences with a history; an error if the directory is not readable. */
int rf_recorded_fences(struct rf_recorded_fences *fences, struct rf_error *error);

/* ---- one history ---- */

struct rf_reader;

int rf_reader_open(struct rf_reader **reader, const char *directory, const char *fence,
		   struct rf_error *error);
/* NULL is allowed. */
void rf_reader_close(struct rf_reader *reader);
/* Checks for damage: the first problem found and how to fix it, or "" if none. */
int rf_reader_check(struct rf_reader *reader, char complaint[256], char remedy[256],
		    struct rf_error *error);
/* Copies the history into a file that does not exist yet. */
int rf_reader_export(struct rf_reader *reader, const char *path, struct rf_error *error);
/* The tables, as SQL with comments. The caller frees it. NULL: no memory. */
char *rf_reader_schema(void);

/* ---- questions (queries.c has their statements) ---- */

enum rf_question {
	RF_ASK_EXTENT, /* struct rf_extent */
	RF_ASK_GAPS,   /* struct rf_recorded_gap: from, to */
	RF_ASK_RULES,  /* struct rf_recorded_rules: time */
	RF_ASK_INTERVAL_AT,
	RF_ASK_COUNTS_OF,
	RF_ASK_MS_BETWEEN,
	RF_ASK_COUNTS_BETWEEN,
	RF_ASK_SERIES,
	RF_ASK_PEAK, /* struct rf_recorded_most: from, to; the most dropped packets a second */
	RF_ASK_SAMPLE_AT,
	RF_ASK_ANY_SAMPLE,
	RF_ASK_SOURCES_OF,
	RF_ASK_SOURCES_BETWEEN,
	RF_ASK_LIMIT_NAME,
	RF_ASK_CELLS_AT,
	RF_ASK_CELLS_BETWEEN,
	RF_ASK_PEAKS, /* struct rf_recorded_peak: limit, from, to */
	RF_ASK_EVENTS_SPAN,
	RF_ASK_EVENTS,
	RF_ASK_EVENTS_OF_ID,  /* struct rf_recorded_event: id */
	RF_ASK_EVENTS_AFTER,  /* struct rf_recorded_event: after, a number */
	RF_ASK_LATEST_EVENTS, /* struct rf_recorded_event: from, to, most; the latest first */
	RF_ASK_FIRST_EVENT,   /* struct rf_recorded_number: a time in ms; 0: none */
	RF_ASK_LAST_SEQ,      /* struct rf_recorded_number: after which `most` events follow */
	RF_ASK_LAST_SCAN,
	RF_ASK_LAST_ATTACK, /* struct rf_recorded_event: its first event; a flood before others */
	RF_ASK_ATTACK,	    /* struct rf_recorded_attack: id */
	RF_ASK_GRAPH_STEP,
	RF_ASK_GRAPH_LINES,
	RF_ASK_GRAPH_PARTS,
	RF_ASK_GRAPH_COUNTS,
	RF_ASK_GRAPH_SHARE,
	RF_ASK_GRAPH_SOURCES,
	RF_ASK_SUMS_AFTER,
	RF_QUESTIONS,
};

/* The parameters of questions, under the names that the statements have for them. */
struct rf_asked {
	uint64_t from_ns, to_ns, time_ns;
	int64_t after, last, most; /* of rows; 0: all */
	int64_t number, is_minute; /* of an interval */
	int64_t step, points, one_in;
	int64_t order; /* enum rf_order and 1; 0: as it is said of the question */
	const char *id, *limit, *fence;
	const struct rf_prefix *of;	/* rows that contain the source, or are in it; NULL: any */
	const struct rf_prefix *within; /* rows in it; NULL: any */
};

#define RF_ROW_MAX 512 /* bytes of the struct of a question */

/* The rows of a query, one after the other. */
struct rf_cursor {
	struct rf_reader *reader;
	enum rf_question question;
	struct rf_asked asked;
	void *statement;	     /* NULL: it has ended */
	struct rf_cursor_page *page; /* of a question whose visitor must hold nothing */
};

/* Starts a query. Call rf_cursor_end() in any case. */
void rf_ask(struct rf_cursor *cursor, struct rf_reader *reader, enum rf_question question,
	    const struct rf_asked *asked);
/* Writes the next row into the struct of the query. False: no more rows, or an error. */
bool rf_cursor_next(struct rf_cursor *cursor, void *row);
/* 0, or what failed. */
int rf_cursor_end(struct rf_cursor *cursor, struct rf_error *error);
/* The first row. Returns 1, 0 without rows, or an error. Its texts are not copied. */
int rf_ask_one(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
	       void *row, struct rf_error *error);
/* The number that a query returns; 0 also after an error. */
int64_t rf_ask_number(struct rf_reader *reader, enum rf_question question, int64_t most);
/* All rows of a question without texts, in an array that the caller frees. */
int rf_ask_all(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
	       void *rows, size_t *count, struct rf_error *error);

struct rf_extent {
	uint64_t bytes, events, gaps;
	uint64_t first_ns, first_second_ns, first_cell_ns, last_ns; /* 0: none */
};

struct rf_recorded_gap {
	uint64_t start_ns, end_ns, passed, dropped;
	const char *why; /* the word of the table */
};

/* Why, for people: "ringfence-watch did not run". */
const char *rf_gap_text(const char *why);

struct rf_recorded_rules {
	uint64_t since_ns;
	const char *text;
};

/*
 * The rules that were active then, after the line of their format. Freed by the caller; NULL: no
 * record.
 */
char *rf_reader_rules(struct rf_reader *reader, uint64_t time_ns, uint64_t *since_ns);

struct rf_recorded_number {
	int64_t number;
};

struct rf_recorded_most {
	double rate;
	uint64_t time_ns;
};

/* ---- counts ---- */

struct rf_recorded_count {
	char kind[RF_WORD_SIZE], outcome[RF_WORD_SIZE];
	char name[RF_NAME_SIZE]; /* of the reason or limit */
	uint64_t packets, bytes;
};

/* An interval of the past: a second, a minute or a range. Free it even after an error. */
struct rf_recorded {
	uint64_t from_ns, to_ns;
	double seconds; /* that were seen in it */
	struct rf_recorded_count *count;
	int counts;
	struct rf_count passed, dropped;
};

void rf_recorded_free(struct rf_recorded *recorded);
/*
 * The first interval in the second that starts at `time_ns`, or the minute if seconds were deleted.
 * -ENODATA: a gap.
 */
int rf_reader_at(struct rf_reader *reader, uint64_t time_ns, struct rf_recorded *recorded,
		 struct rf_error *error);
/* Sums of a range: of its seconds up to six hours, else of its minutes. */
int rf_reader_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		      struct rf_recorded *recorded, struct rf_error *error);
/* The packets of a limit's outcome or a reason, 0 without such a count. */
uint64_t rf_recorded_packets(const struct rf_recorded *recorded, const char *kind, const char *name,
			     const char *outcome);

/* ---- sources and cells ---- */

struct rf_recorded_source {
	struct rf_prefix source;
	char limit[RF_NAME_SIZE];
	uint64_t passed, dropped, would_drop;
	uint32_t used; /* the most, in thousandths of the limit */
	bool is_banned;
};

struct rf_recorded_sources {
	uint64_t from_ns, to_ns;
	uint64_t share; /* one in this many sources is in the sample */
	struct rf_recorded_source *row;
	size_t count;
};

void rf_recorded_sources_free(struct rf_recorded_sources *sources);
/*
 * The sources of the interval that has asked->time_ns, most drops first; only those selected by
 * limit, of and within. -ENODATA: none recorded.
 */
int rf_reader_sources_at(struct rf_reader *reader, const struct rf_asked *asked,
			 struct rf_recorded_sources *sources, struct rf_error *error);
/*
 * The sums of sources over a range: `most` of them, most drops first. If `of` is not NULL: only
 * that source, and networks around or within it.
 */
int rf_reader_sources_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
			      const struct rf_prefix *of, size_t most,
			      struct rf_recorded_sources *sources, struct rf_error *error);
/*
 * The cells of a source, or of its network, in the second that starts at `time_ns`; `visit` is
 * called for each row.
 */
typedef void (*rf_cells_visit)(void *context, const struct rf_cells_row *row);
int rf_reader_cells(struct rf_reader *reader, uint64_t time_ns, const struct rf_prefix *source,
		    rf_cells_visit visit, void *context, struct rf_error *error);

/*
 * All rows of cells of a limit that can overlap the range, the oldest first. A nonzero result stops
 * the visit.
 */
typedef int (*rf_row_visit)(void *context, const struct rf_cells_row *row);
int rf_reader_each_cells(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			 uint64_t to_ns, rf_row_visit visit, void *context, struct rf_error *error);

/* A source in one interval of the history. */
struct rf_recorded_peak {
	uint64_t time_ns; /* the last moment of the interval */
	struct rf_prefix source;
	uint64_t share;	  /* the number of sources it represents: 1 if it was one of the worst */
	uint64_t packets; /* that passed, were dropped or would be */
	double used;	  /* the most, as a part of the limit */
};

typedef int (*rf_peak_visit)(void *context, const struct rf_recorded_peak *peak);
/* All recorded sources of a limit, interval by interval. */
int rf_reader_each_peak(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			uint64_t to_ns, rf_peak_visit visit, void *context, struct rf_error *error);

/* ---- events ---- */

struct rf_recorded_event {
#define RECORDED_FIELD(key, kind, when, member, help) RF_RECORDED_##kind member;
#include "schema/events.def"
};

/*
 * A nonzero result stops the visit. No lock is held during a visit: a visitor that blocks on its
 * output does not prevent the writer's log from getting shorter.
 */
typedef int (*rf_event_visit)(void *context, const struct rf_recorded_event *event);
/* RF_ASK_EVENTS, or another question whose rows are events. */
int rf_reader_events(struct rf_reader *reader, enum rf_question question,
		     const struct rf_asked *asked, rf_event_visit visit, void *context,
		     struct rf_error *error);
/* Was a scan recorded recently, compared with the last interval between two of them? */
bool rf_reader_is_written(struct rf_reader *reader);

/* Summary of the events with one id. */
struct rf_recorded_attack {
	char type[RF_WORD_SIZE]; /* of the first */
	uint64_t from_ns, to_ns;
	bool is_over;
	bool is_of_source; /* whose address might not be disclosed */
	char source[RF_PREFIX_TEXT_SIZE], limit[RF_NAME_SIZE]; /* of the last */
	uint64_t passed, dropped;
	char of[RF_PREFIX_TEXT_SIZE]; /* the first source in the events; "": none */
};

/*
 * ---- graphs ----
 *
 * A range of a history, for plots: rates over time, and the most relevant sources. The amount read
 * is bounded, for a range of any length.
 */

#define RF_GRAPH_POINTS 1000 /* at most, and two for the edges */
#define RF_GRAPH_LINES 160
#define RF_GRAPH_BARS 30 /* of a source */

/* The packets of one counter, for each point. */
struct rf_graph_line {
	char kind[RF_WORD_SIZE], outcome[RF_WORD_SIZE];
	char name[RF_NAME_SIZE]; /* of the reason or limit */
	double *packets; /* a scan longer than a step is split between the points it covers */
};

struct rf_graph {
	uint64_t from_ns, step_ns; /* the first point covers the step from from_ns */
	int points;
	bool is_minutes; /* made from minutes: seconds within one are indistinguishable */
	double *seconds; /* that were seen; 0: a gap */
	uint32_t *sources;
	double *peak; /* the most drops a second by one reason */
	struct rf_graph_line *line;
	int lines;
};

/* Counters of a range: its seconds up to two hours, else its minutes. Free it even after an error.
 */
int rf_reader_graph(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		    struct rf_graph *graph, struct rf_error *error);
void rf_graph_free(struct rf_graph *graph);

struct rf_graph_source {
	struct rf_recorded_source sum;
	uint64_t bar[RF_GRAPH_BARS]; /* packets, passed and dropped, over the range */
};

struct rf_graph_sources {
	uint64_t one_in; /* one in this many of the recorded intervals was read */
	struct rf_graph_source *row;
	int count;
};

/* `most` sources of a range, most drops first. */
int rf_reader_graph_sources(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    struct rf_graph_sources *sources, struct rf_error *error);
void rf_graph_sources_free(struct rf_graph_sources *sources);

/* ---- records ---- */

extern const struct rf_field rf_extent_fields[];	  /* struct rf_extent */
extern const struct rf_field rf_recorded_gap_fields[];	  /* struct rf_recorded_gap */
extern const struct rf_field rf_recorded_count_fields[];  /* struct rf_recorded_count */
extern const struct rf_field rf_recorded_most_fields[];	  /* struct rf_recorded_most */
extern const struct rf_field rf_recorded_source_fields[]; /* struct rf_recorded_source */
extern const struct rf_field rf_recorded_event_fields[];  /* struct rf_recorded_event */

#endif /* RINGFENCE_READER_H */
