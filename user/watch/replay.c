// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "rules/policy.h"
#include "watch/replay.h"

#define CREDITS_PART RF_CREDITS_PER_SPENT
#define FIRST_CELL (1U << 20) /* the number of the first cell: none before it is negative */

/* Lengths of time in 1/256 ns: of cells in parts of ticks, too, they are whole numbers. */
typedef __int128 span256;

#define BUCKET_MAX ((span256)1 << 62)

/* The intervals over which a limit counts, against the recorded cells. */
struct spans {
	span256 certain;	   /* an interval of this length always lies within one of them */
	span256 reach;		   /* the longest of them */
	span256 cell, cell_longer; /* of the record; the actual length is between these two */
	span256 late;		   /* the maximum difference between two clocks */
};

static const uint32_t ticks_ns[] = {1000000, 4000000, 3333333, 10000000};

static span256 divide_up(span256 dividend, span256 divisor)
{
	return (dividend + divisor - 1) / divisor;
}

/* ---- the clock of the record ---- */

static span256 cell_of(const struct rf_policy *policy, uint32_t tick_ns)
{
	if (policy->clock == RF_KTIME)
		return (span256)policy->cell << 8;
	return (span256)policy->cell * tick_ns * (256 >> policy->time_shift);
}

/* The tick for which the recorded limit has such cells; 0: none, or several. */
static uint32_t tick_of(const struct rf_limit *recorded, uint64_t cell_ns)
{
	uint32_t tick_ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ticks_ns); i++) {
		struct rf_policy policy;
		span256 cell;

		rf_policy_compile(recorded, 1, ticks_ns[i], &policy);
		cell = cell_of(&policy, ticks_ns[i]) >> 8;
		if (policy.algorithm != RF_SLIDING || cell != cell_ns)
			continue;
		if (tick_ns && policy.clock == RF_JIFFIES)
			return 0;
		tick_ns = ticks_ns[i];
	}
	return tick_ns;
}

/* ---- the interval over which the limit counts ---- */

static void add_spans(const struct rf_policy *policy, uint32_t tick_ns, struct spans *spans)
{
	const span256 cell = cell_of(policy, tick_ns);
	span256 certain = cell, reach = cell;

	if (rf_is_log(policy)) {
		reach += 256; /* TIME includes both of its bounds */
	} else if (rf_is_weighted(policy)) {
		certain = (policy->cells - 1) * cell;
		reach = (policy->cells + 1) * cell;
	} else {
		certain = (policy->cells - 1) * cell;
		reach = policy->cells * cell;
	}
	if (!spans->reach || certain < spans->certain)
		spans->certain = certain;
	if (reach > spans->reach)
		spans->reach = reach;
}

static void read_spans(const struct rf_limit *limit, const struct rf_limit *recorded,
		       uint64_t cell_ns, uint32_t tick_ns, struct spans *spans)
{
	struct rf_policy policy, then;

	*spans = (struct spans){};
	for (size_t i = 0; i < ARRAY_SIZE(ticks_ns); i++) {
		if (tick_ns && ticks_ns[i] != tick_ns)
			continue;
		rf_policy_compile(limit, 1, ticks_ns[i], &policy);
		rf_policy_compile(recorded, 1, ticks_ns[i], &then);
		add_spans(&policy, ticks_ns[i], spans);
		if (!tick_ns || policy.clock != then.clock)
			spans->late = (span256)RF_JIFFIES_LAG * ticks_ns[i] << 8;
		spans->cell = spans->cell_longer = cell_of(&then, ticks_ns[i]);
	}
	if (!tick_ns) {
		spans->cell = (span256)cell_ns << 8;
		spans->cell_longer = spans->cell + 256;
	}
}

/* ---- windows of whole cells ---- */

/* No more than `limit` in `span` slots of `step` cells. */
static void make_slots(struct rf_replay_run *run, uint64_t step, uint64_t span, uint64_t limit)
{
	run->step = step;
	run->span = span;
	run->limit = limit;
}

/* No more than `limit` in some of any `count` cells in a row. */
static void make_lenient(struct rf_replay_run *run, span256 count, uint64_t limit)
{
	const uint64_t step = divide_up(count, RF_REPLAY_SLOTS);

	run->passes_all = count < 1;
	if (!run->passes_all)
		make_slots(run, step, count / step, limit);
}

/* A source with no more than `limit` in any `count` consecutive cells passes this. */
static void make_strict(struct rf_replay_run *run, span256 count, int64_t limit)
{
	const uint64_t step =
		count <= RF_REPLAY_SLOTS ? 1 : divide_up(count - 1, RF_REPLAY_SLOTS - 1);

	run->drops_all = limit < 1;
	make_slots(run, step, divide_up(count - 1, step) + 1, limit);
}

/* The part of COUNT that the limit's own roundings, and frames that do not fit, can consume. */
static int64_t taken(const struct rf_limit *limit, const struct rf_policy *policy)
{
	int64_t units = limit->unit == RF_BYTES ? RF_REPLAY_FRAME : 0;

	if (!rf_is_log(policy) && !rf_is_bucket(policy))
		units += (policy->cells + 1) * ((1LL << policy->used_shift) - 1);
	return units;
}

static void make_windows(struct rf_replay *replay, const struct rf_limit *limit,
			 const struct rf_policy *policy, const struct spans *spans)
{
	const span256 certain = spans->certain - spans->late;
	const span256 reach = spans->reach + spans->late;

	make_lenient(&replay->run[RF_LENIENT], certain > 0 ? certain / spans->cell_longer : 0,
		     limit->rate);
	make_strict(&replay->run[RF_STRICT], divide_up(reach, spans->cell) + 1,
		    (int64_t)limit->rate - taken(limit, policy));
}

/* ---- buckets ---- */

/* In the time of buckets, rounded up. */
static span256 bucket_time(span256 length)
{
	return divide_up(length << RF_BUCKET_SHIFT, 256);
}

static void make_bucket(struct rf_replay_run *run, const struct rf_policy *policy, span256 depth,
			const struct spans *spans)
{
	run->policy = *policy;
	run->policy.limit = RF_LIMIT_MAX;
	run->policy.depth = depth;
	run->step256 = spans->cell;
	run->passes_all = depth >= BUCKET_MAX;
}

/*
 * A small bucket, of which nothing would be left. Of any `slots` cells, `most` may pass: if that
 * flows in these cells but one, or else if every two cells have no more than the bucket, and every
 * three no more than the bucket and what flows in a cell.
 */
static void make_small(struct rf_replay_run *run, const struct rf_policy *policy, uint64_t burst,
		       const struct spans *spans)
{
	const span256 fill = rf_bucket_flow(policy, burst);
	const span256 cell = bucket_time(spans->cell), late = bucket_time(spans->late);
	const uint64_t flow = ((cell << policy->scale) - 1) / policy->cell;

	if (fill > 2 * cell)
		make_strict(run, divide_up(fill + late, cell) + 1, burst);
	else
		make_strict(run, 2 + divide_up(late, cell),
			    burst < flow ? burst : (burst + flow) / 2);
}

/*
 * Packets of cells i to j, of length C, are more than (j - i - 1) C and less than (j - i + 1) C
 * apart. The flow of one cell is therefore the difference from a bucket that receives all packets
 * of a cell at its start.
 */
static void make_buckets(struct rf_replay *replay, const struct rf_policy *policy, uint64_t burst,
			 uint64_t frame, const struct spans *spans)
{
	const span256 more = bucket_time(spans->cell_longer + spans->late + 256);
	struct rf_replay_run *strict = &replay->run[RF_STRICT];
	struct rf_policy slower = *policy;
	span256 depth;

	make_bucket(&replay->run[RF_LENIENT], policy, policy->depth + more, spans);
	strict->drops_all = burst <= frame;
	if (strict->drops_all)
		return;
	/* Each frame is rounded up for itself; none is shorter than 60 bytes. */
	slower.cell += frame ? (1ULL << policy->scale) / 60 + 1 : 0;
	depth = rf_bucket_flow(&slower, burst - frame);
	if (burst - frame > 1 && depth > 2 * more)
		make_bucket(strict, &slower, depth - more, spans);
	else
		make_small(strict, &slower, burst - frame, spans);
}

/* ---- fixed windows, whose beginnings are not known ---- */

/*
 * Some cells in a row touch as many windows of TIME as fit into them, and two more: a bucket of two
 * COUNT, and what flows in a cell, admits all that these admit.
 */
static void make_fixed(struct rf_replay *replay, const struct rf_limit *limit,
		       const struct rf_policy *policy, const struct spans *spans)
{
	struct rf_limit bucket = *limit;
	struct rf_policy compiled;
	uint64_t faster;

	bucket.algorithm = RF_TOKEN;
	bucket.burst = 2 * limit->rate;
	rf_policy_compile(&bucket, 1, 1, &compiled);
	/* No slower than the limit, although it rounds up; a frame has 60 bytes at least. */
	faster = (1ULL << compiled.scale) / 60 + 1;
	compiled.cell = compiled.cell > faster ? compiled.cell - faster : 1;
	make_bucket(&replay->run[RF_LENIENT], &compiled,
		    compiled.depth + bucket_time(spans->cell_longer + spans->late + 256), spans);
	make_strict(&replay->run[RF_STRICT], divide_up(spans->reach + spans->late, spans->cell) + 1,
		    (int64_t)limit->rate - taken(limit, policy));
}

/* ---- the same cells ---- */

static bool has_same_cells(const struct rf_policy *policy, const struct rf_policy *then)
{
	return then->algorithm == RF_SLIDING && rf_is_ring(policy) &&
	       policy->clock == then->clock && policy->time_shift == then->time_shift &&
	       policy->cell == then->cell;
}

/* The limit itself; its treatment of frames that do not fit is unknown. */
static void make_same(struct rf_replay *replay, const struct rf_limit *limit,
		      const struct rf_policy *policy)
{
	replay->is_exact = limit->unit != RF_BYTES;
	if (!replay->is_exact) {
		make_lenient(&replay->run[RF_LENIENT], policy->cells, limit->rate);
		make_strict(&replay->run[RF_STRICT], policy->cells,
			    (int64_t)limit->rate - taken(limit, policy));
		return;
	}
	for (int i = 0; i < RF_BOUNDS; i++) {
		struct rf_replay_run *run = &replay->run[i];

		run->policy = *policy;
		run->policy.cell = 1;
		run->policy.clock = RF_KTIME;
		run->policy.time_shift = 0;
		run->step256 = 256;
	}
}

/* ---- beginning ---- */

static int check(const struct rf_limit *limit, const struct rf_policy *policy,
		 const struct rf_limit *recorded, uint64_t cell_ns, struct rf_error *error)
{
	if (limit->unit != recorded->unit)
		return rf_error_usage(error, "the history has %s of limit '%s', but not its %s",
				      recorded->unit == RF_BYTES ? "bytes" : "packets",
				      recorded->name,
				      limit->unit == RF_BYTES ? "bytes" : "packets");
	if (limit->flags & RF_COUNT_REJECTED)
		return rf_error_usage(error, "'count rejected': the history does not have what "
					     "such a limit would have refused");
	if (policy->unit_shift)
		return rf_error_usage(error, "COUNT is too large: 2 GiB in TIME, at most");
	if (!cell_ns || (limit->window_ns < cell_ns && limit->window_ns < recorded->window_ns))
		return rf_error_usage(
			error, "TIME is too short: the cells of limit '%s' are %llu ms long",
			recorded->name, (unsigned long long)(cell_ns / RF_NS_PER_MS + 1));
	return 0;
}

int rf_replay_begin(struct rf_replay *replay, const struct rf_limit *limit,
		    const struct rf_limit *recorded, uint64_t cell_ns, struct rf_error *error)
{
	const uint32_t tick_ns = tick_of(recorded, cell_ns);
	struct rf_policy policy, then;
	struct spans spans;
	int err;

	*replay = (struct rf_replay){.cell_ns = cell_ns};
	rf_policy_compile(limit, 1, tick_ns ?: ticks_ns[0], &policy);
	rf_policy_compile(recorded, 1, tick_ns ?: ticks_ns[0], &then);
	err = check(limit, &policy, recorded, cell_ns, error);
	if (err)
		return err;
	read_spans(limit, recorded, cell_ns, tick_ns, &spans);
	replay->rounding = ((1ULL << then.used_shift) - 1) << then.unit_shift;
	replay->has_credits = recorded->algorithm == RF_SLIDING && !(recorded->flags & RF_EXACT);
	if (tick_ns && has_same_cells(&policy, &then))
		make_same(replay, limit, &policy);
	else if (rf_is_bucket(&policy))
		make_buckets(replay, &policy, limit->burst,
			     limit->unit == RF_BYTES ? RF_REPLAY_FRAME : 0, &spans);
	else if (limit->algorithm == RF_FIXED)
		make_fixed(replay, limit, &policy, &spans);
	else
		make_windows(replay, limit, &policy, &spans);
	replay->is_exact &= !replay->rounding && !replay->has_credits;
	return 0;
}

/* ---- cells ---- */

/* How many of `count` units the limiter admits in one burst. */
static uint64_t admit_to_ring(struct rf_window *window, const struct rf_policy *policy,
			      uint64_t time, uint64_t count)
{
	uint64_t room;

	if (rf_take(window, policy, time, 1) != RF_UNDER)
		return 0;
	room = policy->limit - rf_word_used(window->head);
	if (room > count - 1)
		room = count - 1;
	if (room)
		rf_take(window, policy, time, room);
	return room + 1;
}

static uint64_t admit_to_bucket(struct rf_window *window, const struct rf_policy *policy,
				uint64_t time, uint64_t count)
{
	const uint64_t level = rf_bucket_level(policy, window->head, rf_bucket_time(time));
	uint64_t room = ((unsigned __int128)level << policy->scale) / policy->cell;

	if (room > policy->limit)
		room = policy->limit;
	if (room > count)
		room = count;
	if (room)
		rf_take(window, policy, time, room);
	return room;
}

/* Clears the slots that are too old for the present one. */
static void move_slots(union rf_replay_window *window, uint32_t span, uint64_t slot)
{
	for (int left = 0; window->newest < slot && left < RF_REPLAY_SLOTS; left++) {
		const uint64_t leaves = ++window->newest - span;

		window->sum -= window->slot[leaves % RF_REPLAY_SLOTS];
		window->slot[leaves % RF_REPLAY_SLOTS] = 0;
	}
	window->newest = slot;
}

static uint64_t admit_to_slots(union rf_replay_window *window, const struct rf_replay_run *run,
			       uint64_t number, uint64_t count)
{
	const uint64_t slot = number / run->step;
	uint64_t room;

	move_slots(window, run->span, slot);
	room = run->limit - window->sum;
	room = room < count ? room : count;
	window->slot[slot % RF_REPLAY_SLOTS] += room;
	window->sum += room;
	return room;
}

static uint64_t admit(const struct rf_replay_run *run, union rf_replay_window *window,
		      uint64_t number, uint64_t count)
{
	const struct rf_policy *policy = &run->policy;
	const uint64_t time = (unsigned __int128)number * run->step256 >> 8;

	if (run->passes_all)
		return count;
	if (run->drops_all)
		return 0;
	if (run->span)
		return admit_to_slots(window, run, number, count);
	return rf_is_bucket(policy) ? admit_to_bucket(&window->window, policy, time, count)
				    : admit_to_ring(&window->window, policy, time, count);
}

static void begin(const struct rf_replay *replay, struct rf_replayed *replayed)
{
	for (int i = 0; i < RF_BOUNDS; i++) {
		const struct rf_replay_run *run = &replay->run[i];
		const uint64_t time = (unsigned __int128)FIRST_CELL * run->step256 >> 8;

		if (run->span)
			replayed->window[i].newest = FIRST_CELL / run->step;
		else
			rf_window_start(&replayed->window[i].window, &run->policy, time);
	}
	replayed->next = FIRST_CELL;
}

/*
 * The number of the row's first cell. Consecutive rows are a whole number of cells apart; the rest
 * is due to the clock, which is adjusted slightly all the time.
 */
static uint64_t find_number(const struct rf_replay *replay, struct rf_replayed *replayed,
			    const struct rf_cells_row *row)
{
	const int64_t cell_ns = (int64_t)replay->cell_ns;
	const int64_t apart_ns = (int64_t)(row->first_ns - replayed->end_ns);
	const int64_t half_ns = apart_ns < 0 ? -cell_ns / 2 : cell_ns / 2;
	const int64_t apart = (apart_ns + half_ns) / cell_ns;

	if (apart < 0)
		replayed->is_mixed = true;
	return apart < 0 ? replayed->next : replayed->next + apart;
}

/* What came in the cell at least. */
static uint64_t least_of(const struct rf_replay *replay, uint64_t count, uint64_t before)
{
	const uint64_t credits = replay->has_credits ? (count + before) / CREDITS_PART : 0;
	const uint64_t least = count > replay->rounding ? count - replay->rounding : 1;

	return least > credits ? least - credits : 0;
}

static void take_cell(const struct rf_replay *replay, struct rf_replayed *replayed, uint64_t number,
		      uint64_t count)
{
	const uint64_t counts[RF_BOUNDS] = {
		[RF_LENIENT] = least_of(replay, count, replayed->before),
		[RF_STRICT] = count,
	};

	for (int i = 0; i < RF_BOUNDS; i++) {
		if (!counts[i])
			continue;
		replayed->charged[i] += counts[i];
		replayed->passed[i] +=
			admit(&replay->run[i], &replayed->window[i], number, counts[i]);
	}
}

void rf_replay_row(const struct rf_replay *replay, struct rf_replayed *replayed,
		   const struct rf_cells_row *row, uint64_t since_ns, uint64_t until_ns)
{
	uint64_t number = FIRST_CELL;

	if (replayed->next)
		number = find_number(replay, replayed, row);
	else
		begin(replay, replayed);
	for (unsigned int i = 0; i < row->count; i++) {
		const uint64_t time_ns = row->first_ns + i * replay->cell_ns;

		if (row->cell[i] && time_ns >= since_ns && time_ns < until_ns)
			take_cell(replay, replayed, number + i, row->cell[i]);
		replayed->before = row->cell[i];
	}
	replayed->next = number + row->count;
	replayed->end_ns = row->first_ns + row->count * replay->cell_ns;
}

uint64_t rf_replay_least(const struct rf_replayed *replayed)
{
	return replayed->charged[RF_LENIENT] - replayed->passed[RF_LENIENT];
}

uint64_t rf_replay_most(const struct rf_replayed *replayed)
{
	return replayed->charged[RF_STRICT] - replayed->passed[RF_STRICT];
}
