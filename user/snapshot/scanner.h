/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the scanner; not included elsewhere. */
#ifndef RINGFENCE_SCANNER_H
#define RINGFENCE_SCANNER_H

#include "fence/fence.h"
#include "snapshot/cells.h"
#include "snapshot/snapshot.h"

/*
 * ---- known windows ----
 *
 * The windows that a scanner knows, from one scan to the next: an unused window is not read each
 * time, and is not lost. New counts of each are reported once: the maximum ever seen, including
 * leases, minus the counts already reported.
 */

enum rf_told_kind {
	RF_PASSED,
	RF_DROPPED,
	RF_WOULD_DROP,
	RF_KINDS,
};

struct rf_known {
	struct rf_address source;
	uint32_t limit_id;
	uint32_t stay;		    /* see struct rf_window_sight */
	uint32_t hash;		    /* keyed, of the source and the limit */
	uint32_t made;		    /* the number of the scan that knew it first */
	uint32_t touched, read;	    /* numbers of the last scans that did */
	uint32_t used, lent;	    /* as in struct rf_window_sight */
	uint32_t recent;	    /* packets that passed in about the last TIME, see use_of() */
	uint32_t recent_ms;	    /* when that was computed, by rf_time_awake() */
	uint32_t pending[RF_KINDS]; /* what leases hold, in the scan that touched it */
	uint64_t count[RF_KINDS];   /* only of the window */
	uint64_t told[RF_KINDS];    /* with what leases held */
	uint64_t fresh[RF_KINDS];   /* first reported by the scan that touched it */
	uint64_t grew_ns;	    /* when a scan last found something new */
	uint32_t held;		    /* used while sweeping */
	bool was_missed;	    /* by the last reading of all windows */
	bool is_shown;		    /* the scan has a row of it */
};

/* What leases held of a window. */
struct rf_known_held {
	uint32_t at; /* its place in `of` */
	uint32_t pending[RF_KINDS];
};

struct rf_known_list {
	struct rf_known *of;
	uint32_t count, capacity;
	uint32_t *place; /* open addressing: an index in `of` and 1; 0: free */
	uint32_t places; /* a power of two */
	__u64 key[3];
	uint32_t scan; /* the number of this one */
	uint32_t next; /* index in `of`: behind the window that was seen last */

	uint32_t *touched; /* by this scan */
	uint32_t touched_count;
	size_t touched_capacity;
	struct rf_known_held *held; /* at the scan before */
	uint32_t held_count;
};

void rf_known_free(struct rf_known_list *list);

/*
 * ---- followed sources ----
 *
 * The sources whose cells are recorded: the most important ones, and a sample by a keyed hash.
 * Their windows are looked up twice per TIME, however rarely the fence is scanned, down to a TIME
 * of 1 s: a sliding window therefore has no gap between two readings. For other windows, which have
 * no lasting cells, a scan yields the differences of the counters; also for a window that has lent
 * units, because packets that pass by loans are in no cell.
 */

/* Each under one limit. */
#define RF_FOLLOW_WORST 256
#define RF_FOLLOW_SAMPLE 256

struct rf_followed {
	struct rf_address source;
	uint32_t limit_id;
	uint32_t hash;	   /* by the key of the sample */
	uint32_t stay;	   /* see struct rf_window_sight */
	uint64_t weight;   /* how much it mattered of late; halved with each scan that has less */
	uint64_t fresh;	   /* packets of the last scan */
	uint64_t passed;   /* of these, that passed */
	uint64_t seen_ns;  /* by rf_time_awake(): when a scan found packets of it last */
	uint64_t next;	   /* the first cell that was not read; 0: none was */
	uint64_t unplaced; /* packets that passed since then, as of the last scan */
	bool has_loans;	   /* its window had lent units at some time since then */
	bool is_sampled;
	bool is_whole; /* new: no cells are missing before those of its window */
	int row;       /* its row among the rows read; -1: none */
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
/* A scan starts. -ENOMEM. */
int rf_follow_begin(struct rf_follow *follow);
/* A window that the scan found packets of. `is_new`: the scan before did not know it. */
void rf_follow_offer(struct rf_follow *follow, const struct rf_known *known, bool is_new);
/*
 * The scan has offered all sources: chooses which to follow, and adds the differences of counters.
 * -ENOMEM. `since_ns` is since the previous scan, 0 if there was none; `time_ns` is its time since
 * 1970.
 */
int rf_follow_choose(struct rf_follow *follow, const struct rf_bank *rules, uint64_t awake_ns,
		     uint64_t since_ns, uint64_t time_ns);
/* When the next windows must be read, by rf_time_awake(); UINT64_MAX: none. */
uint64_t rf_follow_due_ns(const struct rf_follow *follow);
/* Reads the windows that are due, as part of a scan or after it. -ENOMEM. */
int rf_follow_read(struct rf_follow *follow, const struct rf_fence *fence, uint64_t awake_ns,
		   bool is_scan);
/* The next reading might not fit: the rows must be taken now. */
bool rf_follow_is_full(const struct rf_follow *follow);
/* Takes the rows that were read, which the caller frees. */
struct rf_cells_row *rf_follow_take(struct rf_follow *follow, size_t *count);

/* ---- the scanner ---- */

/* An interface, as the scan before saw it. */
struct rf_interface_watch {
	struct rf_interface_look look; /* index 0: none */
	uint64_t counted;	       /* packets that the program had counted */
	uint64_t rx_packets;	       /* of this scan, read before its counters */
};

struct rf_scanner {
	struct rf_fence fence;
	char identity[RF_IDENTITY_SIZE];
	uint64_t scanned_ns; /* by rf_time_awake(); 0: never */
	uint64_t whole_ns;   /* when all windows were read last */
	struct rf_known_list known;
	struct rf_follow follow;
	bool has_followers; /* a consumer takes the cells */
	struct rf_interface_watch interface[RF_SNAPSHOT_INTERFACES];
	/* The earlier counts of the windows that newcomers share, by their places. */
	struct rf_aggregate_told *aggregate; /* RF_AGGREGATE_SETS of RF_AGGREGATES; NULL: not yet */
};

struct rf_aggregate_told {
	uint32_t limit_id;
	uint64_t count[RF_KINDS];
};

/*
 * Reads the sources and the new counts of each since the previous scan, and how long ago that was.
 * The snapshot has its time and the bans.
 */
int rf_scan_sources(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error);

#endif /* RINGFENCE_SCANNER_H */
