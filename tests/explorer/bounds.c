// SPDX-License-Identifier: GPL-2.0
#include "bounds.h"

int limit_least, limit_most;
bool exact;

static __u64 up_to(__u64 number, __u64 most)
{
	return number < most ? number : most;
}

static void fail_exact(const char *what)
{
	if (exact)
		fail(what);
}

/* What counts against L. */
static const __u8 *counted(void)
{
	return rf_counts_rejected(&policy) || row->leases ? state.offered : state.admitted;
}

/* A flood's remains in the first two epochs of the ledger. */
static __u64 flood_in(int epoch)
{
	const __u64 closed = (__u64)RF_HALF_MAX << policy.used_shift;

	if (epoch == 0)
		return closed;
	return RF_USED_MAX - 1 - (policy.cells > 1 ? up_to(closed, RF_LIMIT_MAX) : 0);
}

static __u64 units_in(const __u8 *ledger, int first, int last)
{
	__u64 sum = 0;

	for (int i = at_least(first, 0); i <= last && i < LEDGER_SIZE; i++) {
		sum += ledger[i];
		if (row->flooded && i < 2 && ledger == state.offered)
			sum += flood_in(i);
	}
	return sum;
}

/* ---- windows of cells: sliding, weighted, fixed ---- */

/*
 * A cell's count while the head is in `epoch`: a closed cell is rounded up to a unit of the ring,
 * up to half of a word.
 */
static __u64 counted_in(int cell, int epoch)
{
	const __u64 unit = 1ULL << policy.used_shift, most = RF_HALF_MAX * unit;
	const __u64 units = units_in(counted(), cell, cell);

	return cell < epoch ? up_to((units + unit - 1) / unit * unit, most) : units;
}

static __u64 counted_in_full(int epoch)
{
	__u64 sum = 0;

	for (int cell = at_least(epoch - policy.cells + 1, 0); cell <= epoch; cell++)
		sum += counted_in(cell, epoch);
	return sum;
}

int epoch_of(int time)
{
	return time / (int)policy.cell;
}

int head_epoch(void)
{
	const __u64 origin = row->origin / policy.cell, jump = row->jump / policy.cell;
	const __u32 far = FAR / policy.cell;
	__u32 ahead = rf_word_epoch(state.window.head) - (__u32)origin;
	__u32 ahead_of_jump = ahead - (__u32)jump;

	/* A tag that repeats is of the other side as soon as the limiter knows of that. */
	if (ahead < far && state.window.newest < origin + jump)
		return ahead;
	return ahead_of_jump >= far && ahead_of_jump < LEDGER_SIZE ? ahead_of_jump : (__s32)ahead;
}

/* An admission counts in the later of the caller's epoch and the head's. */
static int later_epoch(int time)
{
	return at_least(epoch_of(time), head_epoch());
}

/*
 * Of the cell on the edge the part that is inside at `time`, in whole units. With `scale` binary
 * places of the times left out, it is more, but not more than all.
 */
static __u64 part_of(__u64 units, int epoch, int time, int scale)
{
	__u64 cell = policy.cell, left = cell;

	if (!rf_is_weighted(&policy))
		return 0;
	if (epoch == epoch_of(time))
		left -= clock_at(time) % cell;
	left = (left >> scale) + (left % (1 << scale) != 0);
	cell >>= scale;
	return up_to(units, (units * left + cell - 1) / cell);
}

static __u64 part_of_edge(const __u8 *ledger, int epoch, int time)
{
	const int edge = epoch - policy.cells;

	return part_of(units_in(ledger, edge, edge), epoch, time, 0);
}

static __u64 counted_of_edge(int epoch, int time)
{
	const int edge = epoch - policy.cells;

	return edge < 0 ? 0 : part_of(counted_in(edge, epoch), epoch, time, policy.scale);
}

static __u64 in_full(const __u8 *ledger, int epoch)
{
	return units_in(ledger, epoch - policy.cells + 1, epoch);
}

static bool cells_have_room(int time, int cost)
{
	int epoch = later_epoch(time);

	return counted_in_full(epoch) + counted_of_edge(epoch, time) + cost <= policy.limit;
}

bool is_overcharged(int epoch, int time)
{
	return in_full(state.offered, epoch) + part_of_edge(state.offered, epoch, time) >
	       policy.limit;
}

void cells_admit(int epoch, int cost)
{
	state.admitted[epoch] += cost;
	if (in_full(state.admitted, epoch) > policy.limit)
		fail("more than L admitted in N consecutive epochs");
	if (units_in(state.admitted, epoch - policy.cells, epoch) >= 2 * (__u64)limit_most &&
	    rf_is_weighted(&policy))
		fail("more than 2 L - 1 admitted in an interval of W");
}

static void cells_record(int time, int cost, bool admitted)
{
	int epoch = later_epoch(time);

	if (epoch < 0 || epoch >= LEDGER_SIZE - policy.cells) {
		fail("the head is at an epoch that no packet came at");
		return;
	}
	state.offered[epoch] += cost;
	if (!admitted)
		return;
	cells_admit(epoch, cost);
	if (in_full(state.admitted, epoch) + part_of_edge(state.admitted, epoch, time) >
	    policy.limit)
		fail("more than L admitted, with its part of the edge");
}

/* A reader's result from now until all of it has expired. A sum of cells stops at the largest L. */
static void cells_check_rest(void)
{
	const int from = at_least(head_epoch(), 0), to = from + policy.cells + 1;
	const int cell = policy.cell;

	for (int time = from * cell; time < to * cell + cell; time++) {
		int epoch = later_epoch(time);
		__u64 full, least, part, used;

		if (epoch >= LEDGER_SIZE)
			break;
		full = counted_in_full(epoch);
		part = counted_of_edge(epoch, time);
		used = explored_used(&state.window, &policy, clock_at(time));
		/* Rounded up, they can exceed L. */
		least = up_to(full, row->used_shift ? policy.clip : RF_LIMIT_MAX);
		if (used < up_to(least, RF_LIMIT_MAX) + part)
			fail("admitted, and not counted");
		if (used > full + part)
			fail_exact("counted, and not admitted");
	}
}

/* ---- log ---- */

int log_now(int time)
{
	int newest = span;

	while (newest > 0 && !counted()[newest])
		newest--;
	return at_least(clock_at(time) ? time : 1, newest);
}

static __u64 log_used(const __u8 *ledger, int now)
{
	return units_in(ledger, now - (int)policy.cell, now);
}

static void log_record(int time, bool admitted)
{
	int now = log_now(time);

	state.offered[now]++;
	if (!admitted)
		return;
	state.admitted[now]++;
	if (log_used(state.admitted, now) > policy.limit)
		fail("more than L admitted in an interval of W");
}

static void log_check_rest(void)
{
	for (int time = 0; time <= span + (int)policy.cell + 1; time++) {
		/* The ring has no slots for more, and no row uses more. */
		__u64 expected = up_to(log_used(counted(), log_now(time)), ring_cells);
		__u64 used = explored_used(&state.window, &policy, clock_at(time));

		if (used < expected)
			fail("admitted, and not counted");
		if (used > expected)
			fail_exact("counted, and not admitted");
	}
}

/* ---- token and leaky ---- */

static int tokens_at(int time)
{
	int level = state.tokens.level + (time - state.tokens.last) * SIXTEENTHS;

	return level < (int)policy.depth ? level : (int)policy.depth;
}

/* The duration of `cost` and of a whole burst, in 1/16 ns; parts of one count. */
static int tokens_of(int cost)
{
	int parts = cost * (int)policy.cell;

	return (parts >> policy.scale) + (parts % (1 << policy.scale) != 0);
}

static void tokens_leave(int time, int level)
{
	state.tokens.level = level;
	if (time < state.tokens.last)
		state.tokens.level += (state.tokens.last - time) * SIXTEENTHS;
	state.tokens.last = at_least(state.tokens.last, time);
}

static void bucket_record(int time, int cost, bool admitted)
{
	if (!admitted) {
		if (tokens_at(time) > 0)
			tokens_leave(time, 0);
		return;
	}
	if (cost > (int)policy.limit)
		fail("more than a burst admitted at once");
	tokens_leave(time, tokens_at(time) - tokens_of(cost));
	state.admitted[time] += cost;
	for (int from = 0; from <= time; from++) {
		for (int to = time; to <= span; to++) {
			int most = tokens_of(limit_most) + (to - from) * SIXTEENTHS;

			if (units_in(state.admitted, from, to) * policy.cell >
			    (__u64)most << policy.scale)
				fail("more than a burst and what flows in T admitted in T");
		}
	}
}

static void bucket_check_rest(void)
{
	for (int time = 0; time <= span + (int)policy.depth / SIXTEENTHS + 1; time++) {
		int missing = (int)policy.depth - at_least(tokens_at(time), 0);
		__u64 expected = ((missing << policy.scale) + policy.cell - 1) / policy.cell;
		__u64 used = explored_used(&state.window, &policy, clock_at(time));

		if (used < expected)
			fail("admitted, and not counted");
		if (used > expected)
			fail_exact("counted, and not admitted");
	}
}

/* ---- all algorithms ---- */

static bool has_room(int time, int cost)
{
	if (rf_is_log(&policy))
		return log_used(counted(), log_now(time)) < policy.limit;
	if (rf_is_bucket(&policy))
		return tokens_of(cost) <= tokens_at(time) && cost <= (int)policy.limit;
	return cells_have_room(time, cost);
}

void note_full(void)
{
	for (int i = 0; i < CPUS_MAX; i++) {
		struct cpu *cpu = &state.cpu[i];

		if (!cpu->limit || cpu->was_full || !exact)
			continue;
		set_limit(cpu->limit);
		cpu->was_full = !has_room(cpu->time, cost_of(cpu->taken));
	}
}

void judge(const struct cpu *cpu, int verdict)
{
	const int cost = cost_of(cpu->taken), admitted = verdict == RF_UNDER;

	set_limit(cpu->limit);
	if (verdict == RF_LOST_RACES) {
		if (cpu->charged)
			fail("all races lost, and charged all the same");
		if (!row->lost_races)
			fail("all races lost to so few packets");
		return;
	}
	if (admitted && !has_room(cpu->time, cost))
		fail_exact("admitted, and there was no room");
	if (!admitted && !cpu->was_full)
		fail_exact("refused, and there was room all the time");
	/* Of a flood no more is counted than a word holds. */
	if (!admitted && (!rf_counts_rejected(&policy) || (row->flooded && !cpu->charged)))
		return;
	if (rf_is_log(&policy))
		log_record(cpu->time, admitted);
	else if (rf_is_bucket(&policy))
		bucket_record(cpu->time, cost, admitted);
	else
		cells_record(cpu->time, cost, admitted);
}

void check_rest(void)
{
	const __u64 most = RF_USED_MAX - 1 + CPUS_MAX * cost_of(0);

	if (bound_only)
		return;
	set_limit(limit_least);
	if (rf_is_log(&policy))
		log_check_rest();
	else if (rf_is_bucket(&policy))
		bucket_check_rest();
	else
		cells_check_rest();
	if (row->flooded && rf_word_used(state.window.head) > most)
		fail_exact("counted, and not admitted: on and on, until the word is full");
}
