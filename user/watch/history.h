/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writer of a fence's history: DIRECTORY/FENCE.db, in SQLite. One transaction a scan: begin,
 * add what the scan found, commit. A failure costs that scan alone: the next begin goes on, and the
 * gap is recorded. Prints nothing; rf_history_note() says what the operator should know.
 */
#ifndef RINGFENCE_HISTORY_H
#define RINGFENCE_HISTORY_H

#include "schema/settings.h"
#include "snapshot/cells.h"
#include "snapshot/snapshot.h"
#include "watch/event.h"
#include "watch/privacy.h"

#define RF_HISTORY_AT_MOST (256ULL << 20)
#define RF_HISTORY_AT_MOST_LEAST (4ULL << 20)
#define RF_HISTORY_KEEP_NS (30 * 24 * 3600 * RF_NS_PER_S)
#define RF_HISTORY_SECONDS_NS (48 * 3600 * RF_NS_PER_S) /* what is recorded each second */
#define RF_HISTORY_CELLS_NS (2 * 3600 * RF_NS_PER_S)
#define RF_HISTORY_SOURCES_NS (10 * RF_NS_PER_S) /* the interval of sources */
#define RF_HISTORY_CELLS_MAX 512
#define RF_HISTORY_NOTE_SIZE 512

struct rf_history_settings {
	const char *directory;
	uint64_t keep_ns;  /* of minutes, events and rules; of all the rest, if it is shorter */
	uint64_t at_most;  /* bytes of the file */
	enum rf_told told; /* of sources */
};

#define RF_HISTORY_SETTINGS                                                     \
	((struct rf_history_settings){RF_HISTORY_DIRECTORY, RF_HISTORY_KEEP_NS, \
				      RF_HISTORY_AT_MOST, RF_TELL_PREFIX})

struct rf_history;

/*
 * Opens or makes the file. One that is damaged is put aside, which a note says. -EBUSY: another
 * process records this fence.
 */
int rf_history_open(struct rf_history **history, const struct rf_history_settings *settings,
		    const char *fence, struct rf_error *error);
/* May be called with NULL, and within a scan, which is then given up. */
void rf_history_close(struct rf_history *history);

/*
 * Begins the transaction of a scan. Where nothing can be recorded, for the disk is nearly full,
 * this and what follows do nothing, successfully.
 */
int rf_history_begin(struct rf_history *history, const struct rf_snapshot *snapshot,
		     struct rf_error *error);
/* Totals, sources and gaps. */
int rf_history_add(struct rf_history *history, const struct rf_snapshot *snapshot,
		   struct rf_error *error);
/* Rows in any order. Of more than RF_HISTORY_CELLS_MAX sources, those of the most weight stay. */
int rf_history_add_cells(struct rf_history *history, const struct rf_cells_row *row, size_t count,
			 struct rf_error *error);
int rf_history_add_event(struct rf_history *history, const struct rf_event *event,
			 struct rf_error *error);
/* May the rules be others than those that were put last? Then put them. */
bool rf_history_wants_rules(const struct rf_history *history, const struct rf_snapshot *snapshot);
/* The rules as commands; text that is the same as the last one is not stored again. */
int rf_history_put_rules(struct rf_history *history, const char *text, struct rf_error *error);
int rf_history_put_state(struct rf_history *history, const char *key, const char *text,
			 struct rf_error *error);
/* The caller frees it. NULL: there is none. */
char *rf_history_get_state(struct rf_history *history, const char *key);
/* The greatest number of an event in it; 0: there is none. */
uint64_t rf_history_last_seq(const struct rf_history *history);
/* Three odd words, by which samples are drawn; the file keeps them. */
const __u64 *rf_history_sample_key(const struct rf_history *history);
/* After a failure of any of these, this gives up the scan. */
int rf_history_commit(struct rf_history *history, struct rf_error *error);

/* The file, its bytes, and the transactions that failed. */
const char *rf_history_path(const struct rf_history *history);
uint64_t rf_history_bytes(const struct rf_history *history);
uint64_t rf_history_errors(const struct rf_history *history);
/* Takes the next sentence for the operator: put aside, coarser, stopped. False: there is none. */
bool rf_history_note(struct rf_history *history, char text[RF_HISTORY_NOTE_SIZE]);

/* The rules of a fence as commands, with what may be told of the lists. The caller frees them. */
char *rf_history_rules(const struct rf_fence *fence, enum rf_told told, struct rf_error *error);

#endif /* RINGFENCE_HISTORY_H */
