/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many packets of recorded cells a limit would have dropped: for each source an interval that
 * contains the true number, wherever in its cell each packet arrived. Pure: cells in, numbers out.
 *
 * Proof of both bounds. A limiter that admits every packet that does not exceed COUNT admits as
 * many as any set of packets that never exceeds it (no such set is ever ahead: at the first packet
 * at which it gets ahead, the limiter refused, so some interval up to that packet is full; the set
 * has no more than that in the interval, and so was ahead before it). Therefore:
 *
 *   - If any `certain` cells in a row lie within one interval over which the limiter counts, it
 *     admits no more than a limiter of that many whole cells: the lenient one.
 *   - If an interval over which it counts never touches more than `reach` cells, it admits no less
 *     than a limiter of that many whole cells: the strict one.
 *
 *       cells        | 12 | 30 |  8 | 41 |  5 |      TIME is 2.5 cells
 *       certain: 2        [=======]                  within TIME, wherever the packets are
 *       reach: 4     [===================]           TIME can touch these four, at the most
 *
 * The width of the interval results from one cell at each bound of TIME, from the limit's own
 * cells, and, if TIME has many cells, from 1/64 of TIME at each bound. A bucket is compared with a
 * larger, or a smaller bucket: the difference is the flow of one cell. If the new limit has exactly
 * the cells of the recorded one, the limiter itself runs over them, and both bounds are the same.
 *
 * A cell has the charged packets, which can be more than arrived: credits that a CPU took in
 * advance and did not spend, 1/64 of the packets that passed in the cell and the one before; and if
 * COUNT is 65535 or more, the rounding of a closed cell. More packets never lead to fewer drops, so
 * the lenient limiter gets each cell without these, and the strict one with them.
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
	uint32_t step, span; /* cells in a slot, and slots that count; 0: the policy */
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
	uint64_t rounding; /* a recorded cell can be too large by this, */
	bool has_credits;  /* and credits */
	bool is_exact;	   /* both bounds are the same */
};

/* The state of a source during a replay. All zeros: before the first cell. */
struct rf_replayed {
	union rf_replay_window window[RF_BOUNDS];
	uint64_t next;	 /* the number of the next cell; 0: none was seen */
	uint64_t end_ns; /* of the last cell, since 1970 */
	uint64_t before; /* the count of the last cell */
	uint64_t charged[RF_BOUNDS], passed[RF_BOUNDS];
	bool is_mixed; /* rows overlapped: several sources have one name, or the clock was set */
};

/*
 * Prepares `limit` for cells of `cell_ns`, which `recorded` has recorded. A usage error if TIME is
 * shorter than a cell, or if the cells do not determine the limit's counts.
 */
int rf_replay_begin(struct rf_replay *replay, const struct rf_limit *limit,
		    const struct rf_limit *recorded, uint64_t cell_ns, struct rf_error *error);
/*
 * Replays the cells that start from `since_ns` on and before `until_ns`. Rows come in their order.
 */
void rf_replay_row(const struct rf_replay *replay, struct rf_replayed *replayed,
		   const struct rf_cells_row *row, uint64_t since_ns, uint64_t until_ns);
/* The lower and the upper bound of the dropped packets. */
uint64_t rf_replay_least(const struct rf_replayed *replayed);
uint64_t rf_replay_most(const struct rf_replayed *replayed);

#endif /* RINGFENCE_REPLAY_H */
