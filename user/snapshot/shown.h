/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fence has on one source at this moment: its lists, bans and windows, and the verdict that
 * follows from them. The one reading behind `show`, `top` and the page of the daemon.
 */
#ifndef RINGFENCE_SHOWN_H
#define RINGFENCE_SHOWN_H

#include "fence/fence.h"
#include "snapshot/verdict.h"

/* One source under one limit. */
struct rf_shown_limit {
	const struct rf_limit *limit;
	bool newcomer;			  /* it has no window */
	char source[RF_PREFIX_TEXT_SIZE]; /* masked as the limit groups */
	bool is_shared;			  /* with other sources */
	struct rf_source state;
	uint64_t used;		     /* in the limit's unit, as the cells are */
	int cells;		     /* 0: the algorithm has none */
	uint64_t cell[RF_CELLS_MAX]; /* the oldest first, the present one last */
	uint64_t room;		     /* what it may have on this host, where the fleet says so */
	bool shorter_pass;	     /* of bytes: the shortest frame has room now */
	int64_t passes_again_ms;     /* a frame of RF_FRAME_BYTES; or RF_WAIT_FOREVER */
	uint64_t banned_ns;	     /* remaining time; 0: not banned */
	const struct rf_case *its;
	const struct rf_answer *answer; /* of `its` */
	int64_t wait_ms;		/* until a packet passes that only this limit applies to */
};

struct rf_shown {
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_case its;
	struct rf_decision decision;
	struct rf_shown_limit limit[RF_LIMITS_MAX]; /* of its.answer */
	struct rf_bans bans;			    /* with the rules that all of this is under */
};

/*
 * Reads all under one set of rules. `source` is an address, as a prefix of full length, or a
 * network: of that, what limits count apart in it is not read. Free it even after an error.
 */
int rf_shown_read(const struct rf_fence *fence, const struct rf_prefix *source,
		  struct rf_shown **shown, struct rf_error *error);
/* What was charged in the `ms` since `before`, another reading of the same source. */
void rf_shown_since(struct rf_shown *shown, const struct rf_shown *before, uint64_t ms);
void rf_shown_free(struct rf_shown *shown);

/* A limit with a ban has no such counter: its word holds the end of the ban. */
uint64_t rf_shown_would_drop(const struct rf_shown_limit *one);

#endif /* RINGFENCE_SHOWN_H */
