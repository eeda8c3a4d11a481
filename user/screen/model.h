/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `top` shows, from one scan to the next: the sources that come first, what each did in the
 * last minute, their order, and the cursor. The cursor is bound to a source, never to a row: rows
 * may move under it. Pure.
 */
#ifndef RINGFENCE_MODEL_H
#define RINGFENCE_MODEL_H

#include "rules/grammar.h"
#include "screen/canvas.h"
#include "snapshot/snapshot.h"
#include "snapshot/sources.h"

#define RF_MODEL_ROWS 1024 /* that a scan brings; the others are counted */
#define RF_SLOT_NS (5 * RF_NS_PER_S)
#define RF_FILTER_SIZE 64

/* Which row it is. */
struct rf_key {
	struct rf_prefix source;
	uint32_t limit_id; /* of an estimate: its reason */
	bool is_aggregate;
	bool is_estimate; /* the source has no window; its rate is estimated from samples */
};

/* A source under a limit. Rates are packets a second since the scan before. */
struct rf_row {
	struct rf_key key;
	char limit[RF_NAME_SIZE]; /* of an estimate: its reason */
	bool is_shadow;
	double pass, drop, would_drop;
	double steady_pass, steady_drop; /* smoothed; the order is by these */
	double share;			 /* of the limit that is used */
	uint64_t banned_ns;		 /* remaining time; 0: not banned */
	uint64_t dropped_since_ns;	 /* by rf_time_awake(); 0: nothing of it is dropped */
	uint64_t dropped_last_ns;
	uint64_t seen_ns;   /* when it last sent */
	struct rf_ring use; /* `share`, by slots of RF_SLOT_NS */
	uint32_t rank;	    /* its place in the order */
	uint64_t samples;   /* of an estimate: in the last second */
};

struct rf_flow {
	double rate; /* packets a second */
	struct rf_ring ring;
};

struct rf_limit_head {
	char name[RF_NAME_SIZE];
	char rate[RF_RATE_TEXT_SIZE];
	bool is_shadow;
	unsigned int over; /* sources of which it dropped, or would have dropped */
};

/* The fence as a whole. */
struct rf_head {
	uint64_t time_ns;  /* of the scan, since 1970; 0: there was none yet */
	uint64_t awake_ns; /* the same by rf_time_awake() */
	struct rf_flow in, dropped;
	struct rf_flow reason[RF_REASON_COUNT];
	struct rf_limit_head limit[RF_LIMITS_MAX]; /* in configuration order */
	int limits;
	unsigned int over; /* rows of which something was dropped */
	size_t banned;
	enum rf_newcomers_then then; /* RF_NEWCOMERS_OFF: no newcomers rate */
	bool is_examining;	     /* newcomers over the rate, which can pass with a reason */
	struct rf_standing standing;
	/* As the scan before had them. */
	struct rf_counters counters;
	char identity[RF_IDENTITY_SIZE];
};

struct rf_model {
	struct rf_head head;
	struct rf_row *row; /* sorted by key */
	int rows;
	/* Sources without a window, sorted by key; separate, because scans do not include them. */
	struct rf_row *estimate;
	int estimates;
	uint32_t one_in;	/* packets that was sampled; 0: none is */
	size_t other_estimates; /* that are not among these */
	int *order;		/* indices of rows, then of estimates, as they are shown */
	int shown;
	size_t others; /* rows of the scan that are not among these */

	enum rf_order by;
	const char *limit;	     /* of the words of the command; NULL: every limit */
	bool is_within, has_network; /* the filter is a network */
	struct rf_prefix within, network;
	char filter[RF_FILTER_SIZE]; /* as typed; "": none */

	bool is_bound; /* the cursor was moved to `cursor`; else it is on the first row */
	struct rf_key cursor;
	int at;			 /* its place in the order */
	uint64_t still_until_ns; /* until then the order is fixed; by rf_time_awake() */
};

void rf_model_start(struct rf_model *model, const struct rf_top *asked);
void rf_model_free(struct rf_model *model);
/* Forgets rows and counts: the next scan is of another fence. */
void rf_model_forget(struct rf_model *model);
/* Takes the result of a scan. -ENOMEM. */
int rf_model_take(struct rf_model *model, const struct rf_snapshot *snapshot);

/* Takes the samples of sources without a window. -ENOMEM. */
int rf_model_estimate(struct rf_model *model, const struct rf_unseen *unseen, uint64_t awake_ns);
/* The row of a source without a window; NULL if not found. */
const struct rf_row *rf_model_estimate_of(const struct rf_model *model,
					  const struct rf_prefix *source);
/* Sampling has stopped. */
void rf_model_forget_estimates(struct rf_model *model);

/* A copy that takes a scan in another thread. -ENOMEM. */
int rf_model_copy(struct rf_model *copy, const struct rf_model *model);
/*
 * The model gets the copy's data of the scan, and retains its order, filter and cursor, which keys
 * might have changed concurrently.
 */
void rf_model_adopt(struct rf_model *model, struct rf_model *copy);

/* ---- order, cursor, filter ---- */

/* How rows and sources of a scan are compared: the greater number first, from the first one on. */
struct rf_weight {
	double by[4];
};

/* Sorts the rows again, unless the order is fixed; the cursor remains on its source. */
void rf_model_order(struct rf_model *model, uint64_t awake_ns);
void rf_model_sort(struct rf_model *model, enum rf_order by);
/* Only sources in a network, or rows with that text; "": all. */
void rf_model_filter(struct rf_model *model, const char *text);
void rf_model_move(struct rf_model *model, int rows, uint64_t awake_ns);
/* Puts the cursor on the first row, whichever that is. */
void rf_model_home(struct rf_model *model);
/* The row under the cursor. NULL: there are no rows. */
const struct rf_row *rf_model_cursor(const struct rf_model *model);
const struct rf_row *rf_model_shown(const struct rf_model *model, int place);
int rf_key_compare(const struct rf_key *a, const struct rf_key *b);

#endif /* RINGFENCE_MODEL_H */
