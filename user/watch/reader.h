/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a history, also while its writer writes: each question is a short read of its own, which
 * never holds the writer up. Times are ns since 1970. Functions return 0 or a negative errno with a
 * sentence in `error`.
 */
#ifndef RINGFENCE_READER_H
#define RINGFENCE_READER_H

#include <limits.h>

#include "watch/cells.h"
#include "watch/event.h"

#define RF_FENCES_RECORDED_MAX 256
#define RF_WORD_SIZE 24

/* ---- where histories are (reader_find.c) ---- */

/* RINGFENCE_HISTORY in the environment, or what watch.conf says, or the default. */
void rf_history_directory(char path[PATH_MAX]);
/* Does watch.conf say that there is none? */
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

/* The fences with a history; an error where there is none, or no permission to look. */
int rf_recorded_fences(struct rf_recorded_fences *fences, struct rf_error *error);

/* ---- one history (reader.c) ---- */

struct rf_reader;

int rf_reader_open(struct rf_reader **reader, const char *directory, const char *fence,
		   struct rf_error *error);
/* May be called with NULL. */
void rf_reader_close(struct rf_reader *reader);

struct rf_extent {
	uint64_t first_ns, last_ns;		 /* of anything; 0: nothing */
	uint64_t first_second_ns, first_cell_ns; /* 0: none */
	uint64_t bytes;
	uint64_t events, gaps;
};

int rf_reader_extent(struct rf_reader *reader, struct rf_extent *extent, struct rf_error *error);
/*
 * Looks for damage: the first complaint and what to do about it, or "" where there is none.
 */
int rf_reader_check(struct rf_reader *reader, char complaint[256], char remedy[256],
		    struct rf_error *error);
/* Copies the history into a file that does not exist yet. */
int rf_reader_export(struct rf_reader *reader, const char *path, struct rf_error *error);
/* The tables, as commands of SQL with comments. */
const char *rf_reader_schema(void);

/* ---- counts (reader_counts.c) ---- */

struct rf_recorded_count {
	char kind[RF_WORD_SIZE], outcome[RF_WORD_SIZE];
	char name[RF_NAME_SIZE]; /* of the reason or limit */
	uint64_t packets, bytes;
};

/* An interval of the past: a second, a minute or a range. Free it even after an error. */
struct rf_recorded {
	uint64_t from_ns, to_ns;
	double seconds; /* that were seen in it */
	uint64_t sources;
	struct rf_recorded_count *count;
	int counts;
	struct rf_count passed, dropped;
};

void rf_recorded_free(struct rf_recorded *recorded);
/*
 * The first interval in the second that begins at `time_ns`, or the minute where seconds are gone.
 * -ENODATA: a gap.
 */
int rf_reader_at(struct rf_reader *reader, uint64_t time_ns, struct rf_recorded *recorded,
		 struct rf_error *error);
/* Sums of a range: of its seconds up to six hours, else of its minutes. */
int rf_reader_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		      struct rf_recorded *recorded, struct rf_error *error);
/* The most dropped packets a second in a range, and when; 0: none. */
double rf_reader_peak(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		      uint64_t *time_ns);
/* The packets of a limit's outcome or a reason, 0 where there is no such count. */
uint64_t rf_recorded_packets(const struct rf_recorded *recorded, const char *kind, const char *name,
			     const char *outcome);

/* ---- sources, cells, rules, gaps (reader_rows.c, reader_sums.c) ---- */

struct rf_recorded_source {
	struct rf_prefix source;
	char limit[RF_NAME_SIZE];
	uint64_t passed, dropped, would_drop;
	uint32_t used; /* the most, in thousandths of the limit */
	bool is_banned;
};

struct rf_recorded_sources {
	uint64_t from_ns, to_ns;
	uint64_t share; /* one in so many sources is in the sample */
	struct rf_recorded_source *row;
	size_t count;
};

void rf_recorded_sources_free(struct rf_recorded_sources *sources);
/* The sources of the interval that has `time_ns`, most drops first. -ENODATA: none recorded. */
int rf_reader_sources_at(struct rf_reader *reader, uint64_t time_ns,
			 struct rf_recorded_sources *sources, struct rf_error *error);
/*
 * The sums of sources over a range: `most` of them, most drops first. `of` is not NULL: those of
 * that source, and of networks around or within it.
 */
int rf_reader_sources_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
			      const struct rf_prefix *of, size_t most,
			      struct rf_recorded_sources *sources, struct rf_error *error);
/*
 * The cells of a source, or of its network, in the second that begins at `time_ns`; `visit` gets
 * each row.
 */
typedef void (*rf_cells_visit)(void *context, const struct rf_cells_row *row);
int rf_reader_cells(struct rf_reader *reader, uint64_t time_ns, const struct rf_prefix *source,
		    rf_cells_visit visit, void *context, struct rf_error *error);

/*
 * All rows of cells of a limit that may have a time of the range, the oldest first. A result that
 * is not 0 ends the visit. (reader_range.c)
 */
typedef int (*rf_row_visit)(void *context, const struct rf_cells_row *row);
int rf_reader_each_cells(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			 uint64_t to_ns, rf_row_visit visit, void *context, struct rf_error *error);

/* A source in one interval of the history. */
struct rf_recorded_peak {
	uint64_t time_ns; /* the end of the interval */
	struct rf_prefix source;
	uint64_t share;	  /* it stands for so many: 1 where it was one of the worst */
	uint64_t packets; /* that passed, were dropped or would be */
	double used;	  /* the most, as a part of the limit */
};

typedef int (*rf_peak_visit)(void *context, const struct rf_recorded_peak *peak);
/* All recorded sources of a limit, interval by interval. (reader_range.c) */
int rf_reader_each_peak(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			uint64_t to_ns, rf_peak_visit visit, void *context, struct rf_error *error);

/* The rules in force then, after the line of their format. Freed by the caller; NULL: no record. */
char *rf_reader_rules(struct rf_reader *reader, uint64_t time_ns, uint64_t *since_ns);

struct rf_recorded_gap {
	uint64_t start_ns, end_ns, passed, dropped;
	const char *why; /* the word of the table */
};

typedef int (*rf_gap_visit)(void *context, const struct rf_recorded_gap *gap);
int rf_reader_gaps(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, rf_gap_visit visit,
		   void *context, struct rf_error *error);
/* Why, for people: "ringfence-watch did not run". */
const char *rf_gap_text(const char *why);

/* ---- events (reader_events.c) ---- */

struct rf_recorded_event {
	uint64_t seq, time_ns, first_seen_ns, passed, dropped;
	const char *type, *id, *limit, *source, *reason, *rate, *detail;
};

/*
 * A result that is not 0 ends the visit. Nothing is held meanwhile: a visitor whose output waits
 * for a reader does not keep the writer's log from getting shorter.
 */
typedef int (*rf_event_visit)(void *context, const struct rf_recorded_event *event);
/* The events of a range, or, where `id` is not NULL, those with this id. */
int rf_reader_events(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, const char *id,
		     rf_event_visit visit, void *context, struct rf_error *error);
/* The last `most` events of a range, the newest first. */
int rf_reader_latest_events(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    rf_event_visit visit, void *context, struct rf_error *error);
/* The events whose number is greater than `seq`. */
int rf_reader_events_after(struct rf_reader *reader, uint64_t seq, rf_event_visit visit,
			   void *context, struct rf_error *error);
/* The number after which `count` events follow; fewer, where there are fewer. */
uint64_t rf_reader_last_seq(struct rf_reader *reader, unsigned int count);
/* Was a scan recorded lately, as far as the last interval between two of them says? */
bool rf_reader_is_written(struct rf_reader *reader);
/* When the first event was; 0: there is none. */
uint64_t rf_reader_first_event(struct rf_reader *reader);

#endif /* RINGFENCE_READER_H */
