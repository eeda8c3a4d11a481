// SPDX-License-Identifier: GPL-2.0
/*
 * The replay of cells against the exact oracle: packets at known times run through the oracle, and
 * only their cells through the replay. The oracle's drops are within the interval.
 */
#include <errno.h>

#include "oracle.h"

#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "rules/policy.h"
#include "watch/replay.h"

#define TRACES 10000
#define PACKETS 3000
#define START (1000 * SECOND)
#define WALL (1700000000 * SECOND)

struct trace {
	uint64_t time[PACKETS]; /* ns, in order */
	uint32_t cost[PACKETS];
	int count;
	uint32_t tick_ns;
	struct rf_limit recorded, limit;
	uint64_t cell_ns;
	struct rf_replayed replayed;
	struct rf_replay replay;
	uint64_t before, random;
};

static int widths; /* that were evaluated */

static const uint32_t ticks[] = {HZ1000, HZ250, HZ300, HZ100};

static uint64_t below(uint64_t *random, uint64_t bound)
{
	return unit_random(random) % bound;
}

static struct rf_limit random_limit(uint64_t *random, uint64_t window_ns)
{
	struct rf_limit limit = {
		.name = "any",
		.window_ns = window_ns,
		.algorithm = RF_SLIDING,
		.edge = below(random, 3),
		.cells = 2 + below(random, 30),
		.per4 = 32,
		.per6 = 64,
	};

	return limit;
}

static void choose_recorded(struct trace *trace, uint64_t *random)
{
	static const uint64_t windows[] = {100 * MS, SECOND, 3 * SECOND, 10 * SECOND};

	trace->tick_ns = ticks[below(random, 4)];
	trace->recorded = random_limit(random, windows[below(random, 4)]);
	if (below(random, 2)) {
		trace->recorded.cells = 31;
		trace->recorded.edge = RF_EDGE_STRICT;
	}
	trace->recorded.rate = 60000;
	trace->recorded.flags = RF_EXACT;
	if (below(random, 3))
		return;
	trace->recorded.flags = 0;
	trace->recorded.rate = 1000000;
}

/* Half of them differ only in the rate. */
static void choose_limit(struct trace *trace, uint64_t *random)
{
	const uint64_t cells = 1 + below(random, 4) * below(random, 100);

	trace->limit = trace->recorded;
	if (below(random, 2)) {
		trace->limit = random_limit(random,
					    trace->cell_ns * cells + below(random, trace->cell_ns));
		trace->limit.algorithm = below(random, 5);
	}
	trace->limit.rate = 1 + below(random, 1 << below(random, 11));
	if (trace->limit.algorithm == RF_LOG)
		trace->limit.rate = 1 + below(random, RF_LOG_MAX);
	if (trace->limit.algorithm == RF_TOKEN || trace->limit.algorithm == RF_LEAKY)
		trace->limit.burst = 1 + below(random, 1 << below(random, 11));
}

static uint64_t clock_of(const struct rf_policy *policy, uint32_t tick_ns, uint64_t time_ns)
{
	return policy->clock == RF_JIFFIES ? time_ns / tick_ns : time_ns;
}

/* Bursts, an even flow, and packets just next to the edges of cells. */
static void make_packets(struct trace *trace, uint64_t *random)
{
	const uint64_t apart_ns = 1 + trace->cell_ns * 4 / (1 + below(random, 400));
	uint64_t time_ns = START + below(random, SECOND);
	uint64_t burst = 0;

	trace->count = 1 + below(random, PACKETS);
	for (int i = 0; i < trace->count; i++) {
		const uint64_t kind = burst ? 7 : below(random, 8);

		if (kind < 5)
			time_ns += below(random, 2 * apart_ns);
		else if (kind == 5)
			time_ns += trace->cell_ns - time_ns % trace->cell_ns - below(random, 2);
		else if (kind == 6)
			time_ns += below(random, 40) ? 0 : below(random, 64 * trace->cell_ns);
		burst = burst ? burst - 1 : below(random, 30) ? 0 : below(random, 300);
		trace->time[i] = time_ns;
	}
}

static uint64_t cell_at(const struct rf_policy *policy, uint32_t tick_ns, uint64_t epoch)
{
	if (policy->clock == RF_KTIME)
		return epoch * policy->cell;
	return (unsigned __int128)epoch * policy->cell * tick_ns >> policy->time_shift;
}

static uint64_t cell_start_ns(const struct trace *trace, const struct rf_policy *policy,
			      uint64_t epoch)
{
	return cell_at(policy, trace->tick_ns, epoch);
}

static uint64_t oracle_drops(const struct trace *trace)
{
	static struct oracle oracle;
	struct rf_policy policy;
	uint64_t drops = 0;

	oracle = (struct oracle){};
	rf_policy_compile(&trace->limit, 1, trace->tick_ns, &policy);
	for (int i = 0; i < trace->count; i++)
		if (!oracle_take(&oracle, &trace->limit, &policy,
				 clock_of(&policy, trace->tick_ns, trace->time[i]), trace->cost[i]))
			drops += trace->cost[i];
	return drops;
}

/* As a window reports them: with unspent credits, and rounded up. */
static void charge_more(struct trace *trace, const struct rf_policy *then, struct rf_cells_row *row)
{
	const uint64_t unit = 1ULL << then->used_shift;
	uint64_t before = trace->before;

	for (unsigned int i = 0; i < row->count; i++) {
		const uint64_t came = row->cell[i];

		if (!(trace->recorded.flags & RF_EXACT))
			row->cell[i] += below(&trace->random, (came + before) / 64 + 1);
		before = came;
		row->cell[i] = (row->cell[i] + unit - 1) / unit * unit;
	}
	trace->before = before;
}

static void replay_row(struct trace *trace, const struct rf_policy *then, uint64_t first,
		       struct rf_cells_row *row)
{
	charge_more(trace, then, row);
	row->first_ns = WALL + cell_start_ns(trace, then, first);
	row->cell_ns = trace->cell_ns;
	rf_replay_row(&trace->replay, &trace->replayed, row, 0, UINT64_MAX);
	*row = (struct rf_cells_row){};
}

/* The cells of the trace, in rows as a reader finds them. A long idle time has no row. */
static void replay(struct trace *trace)
{
	struct rf_cells_row row = {};
	struct rf_policy then;
	uint64_t first = 0;

	rf_policy_compile(&trace->recorded, 1, trace->tick_ns, &then);
	trace->replayed = (struct rf_replayed){};
	trace->before = 0;
	trace->random = trace->count;
	for (int i = 0; i < trace->count; i++) {
		const uint64_t epoch =
			rf_epoch(&then, clock_of(&then, trace->tick_ns, trace->time[i]));

		if (row.count && epoch - first >= RF_CELLS_ROW_MAX)
			replay_row(trace, &then, first, &row);
		if (!row.count)
			first = epoch;
		row.cell[epoch - first] += trace->cost[i];
		row.count = epoch - first + 1;
	}
	replay_row(trace, &then, first, &row);
}

static void make_bytes(struct trace *trace, uint64_t *random)
{
	trace->recorded.unit = trace->limit.unit = RF_BYTES;
	trace->recorded.rate = 60000000;
	if (trace->limit.algorithm == RF_LOG) /* which counts packets */
		trace->limit.algorithm = RF_SLIDING;
	trace->limit.rate = 20000 + trace->limit.rate * 1000;
	trace->limit.burst *= 1000;
	for (int i = 0; i < trace->count; i++)
		trace->cost[i] = 60 + below(random, 1455);
}

static void prepare(struct trace *trace, bool is_bytes, uint64_t *random)
{
	struct rf_error error = {};
	struct rf_policy then;

	choose_recorded(trace, random);
	rf_policy_compile(&trace->recorded, 1, trace->tick_ns, &then);
	trace->cell_ns = cell_start_ns(trace, &then, 1);
	choose_limit(trace, random);
	make_packets(trace, random);
	for (int i = 0; i < trace->count; i++)
		trace->cost[i] = 1;
	if (is_bytes)
		make_bytes(trace, random);
	if (rf_replay_begin(&trace->replay, &trace->limit, &trace->recorded, trace->cell_ns,
			    &error))
		fail_msg("%s", error.text);
}

static void check_inside(const struct trace *trace, uint64_t seed, uint64_t drops)
{
	const uint64_t least = rf_replay_least(&trace->replayed);
	const uint64_t most = rf_replay_most(&trace->replayed);

	if (drops < least || drops > most)
		fail_msg("seed %" PRIu64 ": %" PRIu64 " drops, not %" PRIu64 " to %" PRIu64
			 " (algorithm %d edge %d cells %d rate %llu burst %llu TIME %llu cell "
			 "%" PRIu64 " tick %u)",
			 seed, drops, least, most, trace->limit.algorithm, trace->limit.edge,
			 trace->limit.cells, trace->limit.rate, trace->limit.burst,
			 trace->limit.window_ns, trace->cell_ns, trace->tick_ns);
}

/* The drops if no more than COUNT can pass in any `count` consecutive recorded cells. */
static uint64_t drops_of_cells(const struct trace *trace, int64_t count)
{
	static uint64_t epoch[PACKETS], passed[PACKETS];
	uint64_t sum = 0, drops = 0;
	struct rf_policy then;
	int first = 0, cells = 0;

	rf_policy_compile(&trace->recorded, 1, trace->tick_ns, &then);
	for (int i = 0; i < trace->count && count > 0; i++) {
		const uint64_t now =
			rf_epoch(&then, clock_of(&then, trace->tick_ns, trace->time[i]));

		if (!cells || now > epoch[cells - 1])
			epoch[cells] = now, passed[cells++] = 0;
		for (; now - epoch[first] >= (uint64_t)count; first++)
			sum -= passed[first];
		if (sum == trace->limit.rate)
			drops++;
		else
			sum++, passed[cells - 1]++;
	}
	return drops;
}

/* Cells of jiffies can be equally long on kernels of two ticks: then any tick is possible. */
static bool knows_tick(const struct trace *trace, uint32_t *tick_ns)
{
	bool of_jiffies = false;
	struct rf_policy then;
	int found = 0;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		rf_policy_compile(&trace->recorded, 1, ticks[i], &then);
		if (cell_at(&then, ticks[i], 1) != trace->cell_ns)
			continue;
		of_jiffies |= then.clock == RF_JIFFIES;
		*tick_ns = ticks[i];
		found++;
	}
	return found == 1 || !of_jiffies;
}

/* The limit's clock can be this far from the clock of the cells. */
static int64_t late_of(const struct trace *trace, const struct rf_policy *policy)
{
	struct rf_policy then;
	uint32_t tick_ns;

	if (!knows_tick(trace, &tick_ns))
		return (int64_t)RF_JIFFIES_LAG * HZ100;
	rf_policy_compile(&trace->recorded, 1, trace->tick_ns, &then);
	return policy->clock == then.clock ? 0 : (int64_t)RF_JIFFIES_LAG * tick_ns;
}

/*
 * The lower bound uses the whole cells that fit into the shortest interval over which the limit
 * counts, and the upper one the cells that its longest can touch: with 31 cells of the limit, that
 * is TIME and a 30th. If these are more than 128 cells, each bound is 1/64 further.
 */
static void check_width(const struct trace *trace, uint64_t seed)
{
	int64_t late_ns, shortest_ns, longest_ns, fit, touched;
	struct rf_policy policy;
	uint32_t tick_ns;

	rf_policy_compile(&trace->limit, 1, trace->tick_ns, &policy);
	if (trace->replay.is_exact || trace->recorded.rate > 65534 || rf_is_bucket(&policy) ||
	    trace->limit.algorithm == RF_FIXED || trace->limit.unit == RF_BYTES)
		return;
	late_ns = late_of(trace, &policy);
	shortest_ns = longest_ns = trace->limit.window_ns;
	if (!rf_is_log(&policy)) {
		shortest_ns = cell_start_ns(trace, &policy, policy.cells - 1);
		longest_ns = cell_start_ns(trace, &policy, policy.cells + rf_is_weighted(&policy));
	}
	fit = (shortest_ns - late_ns) / (int64_t)(trace->cell_ns + 1);
	touched = (longest_ns + late_ns) / trace->cell_ns + 2 + !knows_tick(trace, &tick_ns);
	fit -= fit > 128 ? fit / 64 : 0;
	touched += touched > 128 ? touched / 64 + 1 : 0;
	if (rf_replay_least(&trace->replayed) < drops_of_cells(trace, fit) ||
	    rf_replay_most(&trace->replayed) > drops_of_cells(trace, touched))
		fail_msg("seed %" PRIu64 ": the interval is too wide", seed);
	widths++;
}

static void run_traces(bool is_bytes, int *exact, int *dropping)
{
	static struct trace trace;

	for (int i = 0; i < TRACES; i++) {
		const uint64_t seed = unit_seed() + i;
		uint64_t random = seed, drops;

		prepare(&trace, is_bytes, &random);
		replay(&trace);
		drops = oracle_drops(&trace);
		check_inside(&trace, seed, drops);
		check_width(&trace, seed);
		assert_false(trace.replayed.is_mixed);
		assert_true(!trace.replay.is_exact || trace.recorded.flags & RF_EXACT);
		*exact += trace.replay.is_exact;
		*dropping += drops && drops < trace.replayed.charged[RF_STRICT];
		if (trace.replay.is_exact)
			assert_int_equal(rf_replay_least(&trace.replayed),
					 rf_replay_most(&trace.replayed));
	}
}

static void test_inside(void **state)
{
	int exact = 0, dropping = 0;

	(void)state;
	run_traces(false, &exact, &dropping);
	assert_true(exact > TRACES / 5 && dropping > TRACES / 4 && widths > TRACES / 8);
}

/* Packets in two cells, three apart, of a TIME of two and a half: only the cells are known. */
static uint64_t drops_of_two(uint64_t first_ns, uint64_t second_ns, uint64_t *least, uint64_t *most)
{
	static struct trace trace;
	struct rf_policy then;
	struct rf_error error;

	trace = (struct trace){.tick_ns = HZ1000, .count = 20};
	trace.recorded = (struct rf_limit){.name = "any",
					   .rate = 60000,
					   .window_ns = SECOND,
					   .cells = 11,
					   .flags = RF_EXACT,
					   .per4 = 32,
					   .per6 = 64};
	trace.limit = trace.recorded;
	trace.limit.rate = 10;
	trace.limit.window_ns = 250 * MS;
	trace.limit.algorithm = RF_LOG;
	rf_policy_compile(&trace.recorded, 1, trace.tick_ns, &then);
	trace.cell_ns = cell_start_ns(&trace, &then, 1);
	for (int i = 0; i < trace.count; i++) {
		trace.time[i] = cell_start_ns(&trace, &then, i < 10 ? 10000 : 10003) +
				(i < 10 ? first_ns : second_ns);
		trace.cost[i] = 1;
	}
	assert_int_equal(rf_replay_begin(&trace.replay, &trace.limit, &trace.recorded,
					 trace.cell_ns, &error),
			 0);
	replay(&trace);
	*least = rf_replay_least(&trace.replayed);
	*most = rf_replay_most(&trace.replayed);
	return oracle_drops(&trace);
}

/* The interval therefore cannot be narrower than a cell at each end of TIME. */
static void test_narrowest(void **state)
{
	uint64_t least[2], most[2];

	(void)state;
	assert_int_equal(drops_of_two(MS, 99 * MS, &least[0], &most[0]), 0);
	assert_int_equal(drops_of_two(99 * MS, MS, &least[1], &most[1]), 10);
	for (int i = 0; i < 2; i++)
		assert_true(least[i] == 0 && most[i] == 10);
}

static void test_bytes(void **state)
{
	int exact = 0, dropping = 0;

	(void)state;
	run_traces(true, &exact, &dropping);
	assert_true(!exact && dropping > TRACES / 5);
}

/* ---- undecidable cases ---- */

static void expect_refusal(const struct rf_limit *limit, const struct rf_limit *recorded,
			   const char *text)
{
	struct rf_error error = {};
	struct rf_replay replay;

	assert_int_equal(rf_replay_begin(&replay, limit, recorded, 34 * MS, &error), -EINVAL);
	assert_non_null(strstr(error.text, text));
}

static void test_refused(void **state)
{
	const struct rf_limit recorded = {.name = "any",
					  .rate = 1000,
					  .window_ns = SECOND,
					  .cells = 31,
					  .flags = RF_EXACT,
					  .per4 = 32,
					  .per6 = 64};
	struct rf_limit limit = recorded;

	(void)state;
	limit.window_ns = 33 * MS;
	expect_refusal(&limit, &recorded, "too short");
	limit = recorded;
	limit.unit = RF_BYTES;
	expect_refusal(&limit, &recorded, "not its bytes");
	limit = recorded;
	limit.flags = RF_COUNT_REJECTED;
	expect_refusal(&limit, &recorded, "count rejected");
}

/* ---- the rows of a history ---- */

static void test_clock(void **state)
{
	struct rf_limit limit = {.name = "any",
				 .rate = 10,
				 .window_ns = SECOND,
				 .cells = 31,
				 .flags = RF_EXACT,
				 .per4 = 32,
				 .per6 = 64};
	struct rf_cells_row row = {.cell_ns = 33367187, .count = 30};
	struct rf_replayed replayed = {};
	struct rf_error error = {};
	struct rf_replay replay;

	(void)state;
	for (int i = 0; i < 30; i++)
		row.cell[i] = 1;
	assert_int_equal(rf_replay_begin(&replay, &limit, &limit, row.cell_ns, &error), 0);
	assert_true(replay.is_exact);
	/* The clock is a little fast or slow: still the cells follow each other. */
	for (int i = 0; i < 100; i++) {
		row.first_ns = WALL + i * 30 * row.cell_ns + i * 300000;
		rf_replay_row(&replay, &replayed, &row, WALL, UINT64_MAX);
	}
	assert_int_equal(replayed.charged[RF_STRICT], 3000);
	/* 10 in 31 cells, and one cell of each 31 is the next one's. */
	assert_int_equal(replayed.passed[RF_STRICT], 10 * (3000 / 31) + 10);
	assert_false(replayed.is_mixed);
	/* It was set back. */
	row.first_ns = WALL;
	rf_replay_row(&replay, &replayed, &row, WALL, UINT64_MAX);
	assert_true(replayed.is_mixed);
}

static void test_range(void **state)
{
	struct rf_limit limit = {.name = "any",
				 .rate = 10,
				 .window_ns = SECOND,
				 .cells = 31,
				 .flags = RF_EXACT,
				 .per4 = 32,
				 .per6 = 64};
	struct rf_cells_row row = {
		.first_ns = WALL, .cell_ns = 33367187, .count = 4, .cell = {7, 20, 30, 50}};
	struct rf_replayed replayed = {};
	struct rf_error error = {};
	struct rf_replay replay;

	(void)state;
	assert_int_equal(rf_replay_begin(&replay, &limit, &limit, row.cell_ns, &error), 0);
	rf_replay_row(&replay, &replayed, &row, WALL + 1, WALL + 3 * row.cell_ns);
	assert_int_equal(replayed.charged[RF_STRICT], 50);
	assert_int_equal(rf_replay_least(&replayed), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT_ROW("what the oracle drops of 10,000 traces is in the interval", test_inside),
		UNIT_ROW("cells that all or nothing is dropped of have both in the interval",
			 test_narrowest),
		UNIT_ROW("so are the bytes of frames", test_bytes),
		UNIT_ROW("what cells cannot tell is refused", test_refused),
		UNIT_ROW("a clock that runs a little fast makes no gap", test_clock),
		UNIT_ROW("only the cells of the range are taken", test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
