/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a limit would have dropped of recorded cells: for each source an interval that has the true
 * number, wherever in its cell each packet came. Pure: cells in, numbers out.
 *
 * Why both ends hold. A limiter that admits whatever does not exceed COUNT admits as many as any
 * set of packets that never exceeds it (no such set is ever ahead: at the first packet at which one
 * gets ahead, the limiter refused, so some interval that ends there is full; the set has no more
 * than that in the interval, and so was ahead before it). So:
 *
 *   - If any `certain` cells in a row lie within one interval over which the limiter counts, it
 *     admits no more than a limiter of that many whole cells: the lenient one.
 *   - If an interval over which it counts never touches more than `reach` cells, it admits no less
 *     than a limiter of that many whole cells: the strict one.
 *
 *       cells        | 12 | 30 |  8 | 41 |  5 |      TIME is 2.5 cells
 *       certain: 2        [=======]                  within TIME, wherever the packets are
 *       reach: 4     [===================]           TIME may touch these four, at the most
 *
 * So the interval is as wide as a cell at each end of TIME makes it, what the limit's own cells
 * make it, and, where TIME has many cells, 1/64 of TIME at each end. A bucket is compared with one
 * that is larger, or smaller, by what flows in a cell. Where the new limit has the very cells of
 * the recorded one, the limiter itself runs over them, and both ends are the same.
 *
 * A cell has what was charged, which may be more than what came: credits that a CPU took in advance
 * and did not spend, 1/64 of what passed in the cell and the one before; and where COUNT is 65535
 * or more, what a closed cell is rounded up by. More packets never lead to fewer drops, so the
 * lenient limiter gets each cell without these, and the strict one with them.
 */
#ifndef RINGFENCE_REPLAY_H
#define RINGFENCE_REPLAY_H

#include "base/error.h"
#include "ringfence/abi.h"
#include "snapshot/cells.h"

#define RF_REPLAY_FRAME 9216 /* no frame of a byte limit is longer, in the interval's proof */

enum rf_bound {
	RF_LENIENT, /* admits at least as much as the limit */
	RF_STRICT,  /* admits no more */
	RF_BOUNDS,
};

#define RF_REPLAY_SLOTS 128

/* One run: of the limiter by its policy, or of a limiter of whole cells. */
struct rf_replay_run {
	struct rf_policy policy;
	uint64_t step256;    /* of the policy's clock for each cell, in 1/256 units */
	uint32_t step, span; /* a slot is so many cells, and so many slots count; 0: the policy */
	uint64_t limit;
	bool passes_all, drops_all;
};

union rf_replay_window {
	struct rf_window window;
	struct {
		uint64_t newest, sum;
		uint32_t slot[RF_REPLAY_SLOTS];
	};
};

struct rf_replay {
	struct rf_replay_run run[RF_BOUNDS];
	uint64_t cell_ns;
	uint64_t rounding; /* a recorded cell may have so much too much, */
	bool has_credits;  /* and credits */
	bool is_exact;	   /* both ends are the same */
};

/* A source on its way through the cells. All zeros: nothing was seen yet. */
struct rf_replayed {
	union rf_replay_window window[RF_BOUNDS];
	uint64_t next;	 /* the number of the next cell; 0: none was seen */
	uint64_t end_ns; /* of the last cell, since 1970 */
	uint64_t before; /* what the last cell had */
	uint64_t charged[RF_BOUNDS], passed[RF_BOUNDS];
	bool is_mixed; /* rows overlapped: several sources have one name, or the clock was set */
};

/*
 * Prepares `limit` for cells of `cell_ns`, which `recorded` has recorded. A usage error where TIME
 * is shorter than a cell, or what the limit counts cannot be told from the cells.
 */
int rf_replay_begin(struct rf_replay *replay, const struct rf_limit *limit,
		    const struct rf_limit *recorded, uint64_t cell_ns, struct rf_error *error);
/* Takes the cells that begin from `since_ns` on and before `until_ns`. Rows come in their order. */
void rf_replay_row(const struct rf_replay *replay, struct rf_replayed *replayed,
		   const struct rf_cells_row *row, uint64_t since_ns, uint64_t until_ns);
/* At least, and at most, so much would have been dropped. */
uint64_t rf_replay_least(const struct rf_replayed *replayed);
uint64_t rf_replay_most(const struct rf_replayed *replayed);

#endif /* RINGFENCE_REPLAY_H */
