/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writer of a fence's history: DIRECTORY/FENCE.db, in SQLite. One transaction a scan: begin,
 * add the results of the scan, commit. A failure loses only that scan: the next begin continues,
 * and the gap is recorded. Prints nothing; rf_history_note() returns messages for the operator.
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
#define RF_HISTORY_SECONDS_NS (48 * 3600 * RF_NS_PER_S) /* of the records of each second */
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
 * Opens or creates the file. A damaged file is moved aside, and a note reports it. -EBUSY: another
 * process records this fence.
 */
int rf_history_open(struct rf_history **history, const struct rf_history_settings *settings,
		    const char *fence, struct rf_error *error);
/* NULL is allowed, and so is a call within a scan, which is then rolled back. */
void rf_history_close(struct rf_history *history);

/*
 * Starts the transaction of a scan. If nothing can be recorded because the disk is nearly full,
 * this and the following calls do nothing, successfully.
 */
int rf_history_begin(struct rf_history *history, const struct rf_snapshot *snapshot,
		     struct rf_error *error);
/* Totals, sources and gaps. */
int rf_history_add(struct rf_history *history, const struct rf_snapshot *snapshot,
		   struct rf_error *error);
/*
 * Rows in any order. Of more than RF_HISTORY_CELLS_MAX sources, only those with the most weight are
 * recorded.
 */
int rf_history_add_cells(struct rf_history *history, const struct rf_cells_row *row, size_t count,
			 struct rf_error *error);
int rf_history_add_event(struct rf_history *history, const struct rf_event *event,
			 struct rf_error *error);
/* Can the rules differ from the last ones put? Then put them. */
bool rf_history_wants_rules(const struct rf_history *history, const struct rf_snapshot *snapshot);
/* The rules as commands; text that is the same as the last one is not stored again. */
int rf_history_put_rules(struct rf_history *history, const char *text, struct rf_error *error);
int rf_history_put_state(struct rf_history *history, const char *key, const char *text,
			 struct rf_error *error);
/* The caller frees it. NULL: not found. */
char *rf_history_get_state(struct rf_history *history, const char *key);
/* The greatest event number in it; 0: none. */
uint64_t rf_history_last_seq(const struct rf_history *history);
/* Three odd words, used to draw samples; stored in the file. */
const __u64 *rf_history_sample_key(const struct rf_history *history);
/* After a failure of any of these, this rolls back the scan. */
int rf_history_commit(struct rf_history *history, struct rf_error *error);

/* The file, its bytes, and the transactions that failed. */
const char *rf_history_path(const struct rf_history *history);
uint64_t rf_history_bytes(const struct rf_history *history);
uint64_t rf_history_errors(const struct rf_history *history);
/* Returns the next message for the operator: moved aside, coarser, stopped. False: none. */
bool rf_history_note(struct rf_history *history, char text[RF_HISTORY_NOTE_SIZE]);

/*
 * The rules of a fence as commands, with the lists in their disclosed form. The caller frees them.
 */
char *rf_history_rules(const struct rf_fence *fence, enum rf_told told, struct rf_error *error);

#endif /* RINGFENCE_HISTORY_H */
