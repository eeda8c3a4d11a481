/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sources whose cells are recorded: those that matter most, and a sample by a keyed hash. Their
 * windows are looked up twice per TIME, however rarely the fence is scanned, down to a TIME of 1 s:
 * so a sliding window has no gap between two readings. Of other windows, which have no cells that
 * stay, a scan gives the differences of the counters.
 */
#ifndef RINGFENCE_FOLLOW_H
#define RINGFENCE_FOLLOW_H

#include "snapshot/cells.h"
#include "snapshot/known.h"

/* Each under one limit. */
#define RF_FOLLOW_WORST 256
#define RF_FOLLOW_SAMPLE 256

struct rf_followed {
	struct rf_address source;
	uint32_t limit_id;
	uint32_t hash;	  /* by the key of the sample */
	uint32_t stay;	  /* see struct rf_window_sight */
	uint64_t weight;  /* how much it mattered of late; halved with each scan that has less */
	uint64_t fresh;	  /* packets of the last scan */
	uint64_t seen_ns; /* by rf_time_awake(): when a scan found packets of it last */
	uint64_t next;	  /* the first cell that was not read; 0: none was */
	bool is_sampled;
	bool is_whole; /* it is new: nothing is missing before the cells that its window has */
	int row;       /* its row among those that were read; -1: none */
};

struct rf_followed_list {
	struct rf_followed *of;
	size_t count;
};

struct rf_follow {
	struct rf_followed_list list;
	/* Of the scan that is under way: a heap, the one of the least weight first; the sample. */
	struct rf_followed_list worst, sample;
	unsigned int share_bits;	/* one in 1 << share_bits is in the sample */
	__u64 key[3];			/* by which it is drawn; odd words */
	uint64_t due_ns[RF_LIMITS_MAX]; /* by slot, when its windows must be read; 0: no reading */
	struct rf_bank rules;		/* of the last scan */
	uint64_t interval_ns;		/* between the last two scans; 0: there was one */
	struct rf_cells_row *row;	/* that were read, and not taken yet */
	size_t rows, capacity;
	size_t fullest; /* cells of the fullest row */
};

void rf_follow_free(struct rf_follow *follow);
/* A scan begins. -ENOMEM. */
int rf_follow_begin(struct rf_follow *follow);
/* A window that the scan found packets of. `is_new`: the scan before did not know it. */
void rf_follow_offer(struct rf_follow *follow, const struct rf_known *known, bool is_new);
/*
 * The scan has offered all: chooses whom to follow, and adds the differences of counters. -ENOMEM.
 * `since_ns` is since the scan before, 0 where there was none; `time_ns` is its time since 1970.
 */
int rf_follow_choose(struct rf_follow *follow, const struct rf_bank *rules, uint64_t awake_ns,
		     uint64_t since_ns, uint64_t time_ns);
/* When the next windows must be read, by rf_time_awake(); UINT64_MAX: none. */
uint64_t rf_follow_due_ns(const struct rf_follow *follow);
/* Reads the windows that are due (follow_cells.c). -ENOMEM. */
int rf_follow_read(struct rf_follow *follow, const struct rf_fence *fence, uint64_t awake_ns);
/* The next reading may not fit: it is time to take the rows. */
bool rf_follow_is_full(const struct rf_follow *follow);
/* Takes the rows that were read, which the caller frees. */
struct rf_cells_row *rf_follow_take(struct rf_follow *follow, size_t *count);
/* A row for that one; NULL: no memory. (follow_cells.c) */
struct rf_cells_row *rf_follow_new_row(struct rf_follow *follow, struct rf_followed *followed,
				       int slot);

#endif /* RINGFENCE_FOLLOW_H */
