// SPDX-License-Identifier: GPL-2.0
/*
 * A limit as written → the policy of the data path: lengths of cells and their clock, flows, units
 * and masks. The expected numbers were computed by hand, not by the code under test.
 */
#include "unit.h"

#include <arpa/inet.h>

#include "rules/policy.h"

#include "tests/limits.h"

#define YEAR (8784ULL * 3600 * SECOND)

/* ---- cells ---- */

struct cell_row {
	uint64_t window_ns;
	uint32_t tick_ns;
	uint8_t cells;
	enum rf_clock clock;
	uint64_t cell;
};

static void compile_cell(void **state)
{
	const struct cell_row *row = *state;
	struct rf_limit limit = LIMIT(10, 10 * SECOND, STRICT(16));
	struct rf_policy policy;

	limit.window_ns = row->window_ns;
	limit.cells = row->cells;
	rf_policy_compile(&limit, 1, row->tick_ns, &policy);
	assert_int_equal(policy.clock, row->clock);
	assert_int_equal(policy.cell, row->cell);
	assert_int_equal(policy.cells, row->cells);
	/* Cells in ticks are measured in 1/256 of them. */
	assert_int_equal(policy.time_shift, row->clock == RF_JIFFIES ? 8 : 0);
}

#define CELL(title, ...) \
	UNIT_ROW_OF("a cell of " title, compile_cell, (&(struct cell_row){__VA_ARGS__}))

/* ---- masks ---- */

struct mask_row {
	int length;
	uint32_t mask[4]; /* host order; an IPv4 mask is the first */
};

static const struct mask_row masks4[] = {
	{0, {0}}, {1, {0x80000000}}, {24, {0xffffff00}}, {31, {0xfffffffe}}, {32, {0xffffffff}},
};

static const struct mask_row masks6[] = {
	{0, {0, 0, 0, 0}},
	{1, {0x80000000, 0, 0, 0}},
	{32, {0xffffffff, 0, 0, 0}},
	{48, {0xffffffff, 0xffff0000, 0, 0}},
	{64, {0xffffffff, 0xffffffff, 0, 0}},
	{65, {0xffffffff, 0xffffffff, 0x80000000, 0}},
	{127, {0xffffffff, 0xffffffff, 0xffffffff, 0xfffffffe}},
	{128, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
};

static void compile_mask4(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(masks4); i++) {
		struct rf_limit limit = LIMIT(10, 10 * SECOND, STRICT(16));
		struct rf_policy policy;

		limit.per4 = masks4[i].length;
		rf_policy_compile(&limit, 1, HZ250, &policy);
		assert_int_equal(ntohl(policy.mask4), masks4[i].mask[0]);
		assert_int_equal(ntohl(policy.mask6[1]), 0xffffffff);
		assert_int_equal(ntohl(policy.mask6[2]), 0);
	}
}

static void compile_mask6(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(masks6); i++) {
		struct rf_limit limit = LIMIT(10, 10 * SECOND, STRICT(16));
		struct rf_policy policy;

		limit.per6 = masks6[i].length;
		rf_policy_compile(&limit, 1, HZ250, &policy);
		for (int word = 0; word < 4; word++)
			assert_int_equal(ntohl(policy.mask6[word]), masks6[i].mask[word]);
		assert_int_equal(ntohl(policy.mask4), 0xffffffff);
	}
}

/* ---- whole policies ---- */

struct compile_row {
	struct rf_limit limit;
	uint32_t tick_ns;
	struct rf_policy policy; /* computed; the rest is as the limit specifies */
};

/* The result does not depend on the previous contents. */
static void compile_policy(void **state)
{
	const struct compile_row *row = *state;
	struct rf_policy expected = row->policy, policy;

	expected.id = 77;
	expected.algorithm = row->limit.algorithm;
	expected.edge = row->limit.edge;
	expected.unit = row->limit.unit;
	expected.flags = row->limit.flags;
	expected.mask4 = 0xffffffff;
	expected.mask6[0] = expected.mask6[1] = 0xffffffff;
	if (!expected.clip)
		expected.clip = expected.limit;
	memset(&policy, 0xff, sizeof(policy));
	rf_policy_compile(&row->limit, 77, row->tick_ns, &policy);
	/* Loans have separate rows. */
	expected.loan_frame = policy.loan_frame;
	expected.loan_period = policy.loan_period;
	expected.flags |= policy.flags & RF_LENDS;
	assert_memory_equal(&policy, &expected, sizeof(policy));
}

/* ---- loans ---- */

struct loan_row {
	struct rf_limit limit;
	uint32_t tick_ns;
	uint8_t frame, period; /* log2 of ticks; 0: windows have no loans */
	bool lends;
};

/* A frame is longer than TIME, a tick and the lag of ticks; a period is shorter than a lease. */
static void compile_loans(void **state)
{
	const struct loan_row *row = *state;
	struct rf_policy policy;

	rf_policy_compile(&row->limit, 1, row->tick_ns, &policy);
	assert_int_equal(policy.loan_frame, row->frame);
	assert_int_equal(policy.loan_period, row->period);
	assert_int_equal(!!(policy.flags & RF_LENDS), row->lends);
}

/* ---- how much of the rate a steady sender may send ---- */

struct steady_row {
	struct rf_limit limit;
	uint32_t tick_ns, steady;
};

static void compile_steady(void **state)
{
	const struct steady_row *row = *state;

	assert_int_equal(rf_policy_steady(&row->limit, row->tick_ns), row->steady);
}

#define STEADY(title, share, tick, ...)                            \
	UNIT_ROW_OF(                                               \
		"a steady sender is safe: " title, compile_steady, \
		(&(struct steady_row){.steady = share, .tick_ns = tick, .limit = __VA_ARGS__}))

#define LOANS(title, log_frame, log_period, is_lending, tick, ...) \
	UNIT_ROW_OF("loans, " title, compile_loans,                \
		    (&(struct loan_row){__VA_ARGS__, tick, log_frame, log_period, is_lending}))
/* The limit, then WINDOW(...) or BUCKET(...). */
#define COMPILES(title, tick, ...)         \
	UNIT_ROW_OF(title, compile_policy, \
		    (&(struct compile_row){.tick_ns = tick, .limit = __VA_ARGS__}))
#define WINDOW(most, time, number, length, ...) \
	.policy = {.limit = most, .clock = time, .cells = number, .cell = length, __VA_ARGS__}
#define BUCKET(most, flow, full, ...) \
	.policy = {.limit = most,     \
		   .clock = RF_KTIME, \
		   .cells = 1,        \
		   .cell = flow,      \
		   .depth = full,     \
		   __VA_ARGS__}

static const struct CMUnitTest tests[] = {
	STEADY("31 cells, 1s, HZ 100, in ns", 967, HZ100, LIMIT(100, SECOND, STRICT(31))),
	STEADY("31 cells, 1s, HZ 250: 260 ticks", 961, HZ250, LIMIT(100, SECOND, STRICT(31))),
	STEADY("31 cells, 1s, HZ 300: 312 ticks", 961, HZ300, LIMIT(100, SECOND, STRICT(31))),
	STEADY("31 cells, 1s, HZ 1000: 1035 ticks", 966, HZ1000, LIMIT(100, SECOND, STRICT(31))),
	STEADY("31 cells, 1h", 967, HZ250, LIMIT(100, 3600 * SECOND, STRICT(31))),
	STEADY("31 cells, 100ms, in ns", 967, HZ250, LIMIT(100, 100 * MS, STRICT(31))),
	STEADY("31 cells, 65535: units of 4", 960, HZ250, LIMIT(65535, SECOND, STRICT(31))),
	STEADY("31 cells, 1250 kB: units of 64", 960, HZ250,
	       LIMIT(1250000, SECOND, STRICT(31), BYTES)),
	STEADY("16 cells, 1s, HZ 250: 268 ticks", 932, HZ250, LIMIT(100, SECOND, STRICT(16))),
	STEADY("2 cells, 1s, HZ 250: 502 ticks", 498, HZ250, LIMIT(100, SECOND, STRICT(2))),
	STEADY("coarse", 1000, HZ250, LIMIT(100, SECOND, COARSE(10))),
	STEADY("fixed", 1000, HZ250, LIMIT(100, SECOND, FIXED)),
	STEADY("log", 1000, HZ250, LIMIT(5, SECOND, LOG)),
	STEADY("token", 1000, HZ250, LIMIT(5, SECOND, TOKEN(5))),
	CELL("1ms at HZ 100", 1 * MS, HZ100, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 250", 1 * MS, HZ250, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 300", 1 * MS, HZ300, 16, RF_KTIME, 66667),
	CELL("1ms at HZ 1000", 1 * MS, HZ1000, 16, RF_KTIME, 66667),
	CELL("500ms at HZ 100", 500 * MS, HZ100, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 250", 500 * MS, HZ250, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 300", 500 * MS, HZ300, 16, RF_KTIME, 33333334),
	CELL("500ms at HZ 1000", 500 * MS, HZ1000, 16, RF_JIFFIES, 8551),
	CELL("1s at HZ 100", 1 * SECOND, HZ100, 16, RF_KTIME, 66666667),
	CELL("1s at HZ 250", 1 * SECOND, HZ250, 16, RF_JIFFIES, 4284),
	CELL("1s at HZ 300", 1 * SECOND, HZ300, 16, RF_JIFFIES, 5138),
	CELL("1s at HZ 1000", 1 * SECOND, HZ1000, 16, RF_JIFFIES, 17084),
	CELL("10s at HZ 100", 10 * SECOND, HZ100, 16, RF_JIFFIES, 17084),
	CELL("10s at HZ 250", 10 * SECOND, HZ250, 16, RF_JIFFIES, 42684),
	CELL("10s at HZ 300", 10 * SECOND, HZ300, 16, RF_JIFFIES, 51218),
	CELL("10s at HZ 1000", 10 * SECOND, HZ1000, 16, RF_JIFFIES, 170684),
	CELL("60s at HZ 100", 60 * SECOND, HZ100, 16, RF_JIFFIES, 102418),
	CELL("60s at HZ 250", 60 * SECOND, HZ250, 16, RF_JIFFIES, 256018),
	CELL("60s at HZ 300", 60 * SECOND, HZ300, 16, RF_JIFFIES, 307218),
	CELL("60s at HZ 1000", 60 * SECOND, HZ1000, 16, RF_JIFFIES, 1024018),
	CELL("1h at HZ 100", 3600 * SECOND, HZ100, 16, RF_JIFFIES, 6144018),
	CELL("1h at HZ 250", 3600 * SECOND, HZ250, 16, RF_JIFFIES, 15360018),
	CELL("1h at HZ 300", 3600 * SECOND, HZ300, 16, RF_JIFFIES, 18432018),
	CELL("1h at HZ 1000", 3600 * SECOND, HZ1000, 16, RF_JIFFIES, 61440018),
	CELL("1s at HZ 100, 31 cells", 1 * SECOND, HZ100, 31, RF_KTIME, 33333334),
	CELL("1s at HZ 250, 31 cells", 1 * SECOND, HZ250, 31, RF_JIFFIES, 2142),
	CELL("1s at HZ 300, 31 cells", 1 * SECOND, HZ300, 31, RF_JIFFIES, 2569),
	CELL("1s at HZ 1000, 31 cells", 1 * SECOND, HZ1000, 31, RF_JIFFIES, 8542),
	CELL("1h at HZ 250, 31 cells", 3600 * SECOND, HZ250, 31, RF_JIFFIES, 7680009),
	CELL("31 cells, 249 ticks in all, is timed in ns", 248 * MS, HZ1000, 31, RF_KTIME, 8266667),
	CELL("31 cells, 250 ticks in all, is timed in jiffies", 249 * MS, HZ1000, 31, RF_JIFFIES,
	     2134),
	CELL("15 ticks is timed in ns", 224 * MS, HZ1000, 16, RF_KTIME, 14933334),
	CELL("16 ticks is timed in jiffies", 225 * MS, HZ1000, 16, RF_JIFFIES, 3858),
	CELL("one in 1, 15 ticks", 14 * MS, HZ1000, 2, RF_KTIME, 14000001),
	CELL("one in 1, 16 ticks", 15 * MS, HZ1000, 2, RF_JIFFIES, 4096),
	CELL("one in 4 of 10s at HZ 250", 10 * SECOND, HZ250, 5, RF_JIFFIES, 160064),

	COMPILES("strict: compiles L, clip and flags", HZ250,
		 {.name = "any",
		  .rate = RF_LIMIT_MAX,
		  .window_ns = 10 * SECOND,
		  .cells = 16,
		  .per4 = 32,
		  .per6 = 64,
		  .flags = RF_SHADOW},
		 WINDOW(RF_LIMIT_MAX, RF_JIFFIES, 16, 42684, .time_shift = 8, .used_shift = 16)),
	COMPILES("count rejected: nothing is clipped", HZ250,
		 LIMIT(10, 10 * SECOND, STRICT(16), COUNT_REJECTED),
		 WINDOW(10, RF_JIFFIES, 16, 42684, .time_shift = 8, .clip = UINT32_MAX)),

	COMPILES("fixed: a cell is W", HZ250, LIMIT(10, SECOND, FIXED),
		 WINDOW(10, RF_JIFFIES, 1, 250)),
	COMPILES("fixed, HZ 300: a cell is W, rounded up to ticks", HZ300, LIMIT(10, SECOND, FIXED),
		 WINDOW(10, RF_JIFFIES, 1, 301)),
	COMPILES("fixed, 63 ms: a cell is W, in jiffies", HZ250, LIMIT(10, 63 * MS, FIXED),
		 WINDOW(10, RF_JIFFIES, 1, 16)),
	COMPILES("fixed, 60 ms: a cell is W, in ns", HZ250, LIMIT(10, 60 * MS, FIXED),
		 WINDOW(10, RF_KTIME, 1, 60 * MS)),
	COMPILES("coarse: a cell is W / 10", HZ250, LIMIT(10, 10 * SECOND, COARSE(10)),
		 WINDOW(10, RF_JIFFIES, 10, 250 * 256, .time_shift = 8)),
	COMPILES("coarse: a cell is W / 16, in parts of ticks", HZ250,
		 LIMIT(10, 10 * SECOND, COARSE(16)),
		 WINDOW(10, RF_JIFFIES, 16, 40000, .time_shift = 8)),
	COMPILES("a unit of the ring: L in 16 bits", HZ250, LIMIT(65534, 10 * SECOND, COARSE(16)),
		 WINDOW(65534, RF_JIFFIES, 16, 40000, .time_shift = 8)),
	COMPILES("a unit of the ring: 4 from 65535", HZ250, LIMIT(65535, 10 * SECOND, COARSE(16)),
		 WINDOW(65535, RF_JIFFIES, 16, 40000, .time_shift = 8, .used_shift = 2)),
	COMPILES("a unit of the ring: 16 from 262140", HZ250, LIMIT(262140, SECOND, FIXED),
		 WINDOW(262140, RF_JIFFIES, 1, 250, .used_shift = 4)),
	COMPILES("coarse, 500 ms: a cell is W / 16, in ns", HZ250, LIMIT(10, 500 * MS, COARSE(16)),
		 WINDOW(10, RF_KTIME, 16, 31250000)),
	COMPILES("coarse, 2 cells: a cell is W / 2", HZ250, LIMIT(10, SECOND, COARSE(2)),
		 WINDOW(10, RF_JIFFIES, 2, 125 * 256, .time_shift = 8)),

	COMPILES("weighted, 2 cells: one cell of W counts in full", HZ250,
		 LIMIT(10, 60 * SECOND, WEIGHTED(2)), WINDOW(10, RF_JIFFIES, 1, 15000)),
	COMPILES("weighted, 16 cells: 15 cells of W / 15, rounded up, count in full", HZ250,
		 LIMIT(10, SECOND, WEIGHTED(16)), WINDOW(10, RF_JIFFIES, 15, 17)),
	COMPILES("weighted, 16 cells, HZ 100: a cell is in ns", HZ100,
		 LIMIT(10, SECOND, WEIGHTED(16)), WINDOW(10, RF_KTIME, 15, 66666667)),
	COMPILES("weighted, a year, HZ 1000: 4 places left out", HZ1000,
		 LIMIT(10, YEAR, WEIGHTED(2)), WINDOW(10, RF_JIFFIES, 1, 31622400000, .scale = 4)),
	COMPILES("weighted, a year, HZ 100: 1 place left out", HZ100, LIMIT(10, YEAR, WEIGHTED(2)),
		 WINDOW(10, RF_JIFFIES, 1, 3162240000, .scale = 1)),
	COMPILES("weighted, a year, 16 cells: no place left out", HZ1000,
		 LIMIT(10, YEAR, WEIGHTED(16)), WINDOW(10, RF_JIFFIES, 15, 2108160000)),
	COMPILES("weighted, 2^31 - 1 ticks: no place left out", HZ1000,
		 LIMIT(10, ((1ULL << 31) - 1) * MS, WEIGHTED(2)),
		 WINDOW(10, RF_JIFFIES, 1, (1ULL << 31) - 1)),
	COMPILES("weighted, 2^31 ticks: 1 place left out", HZ1000,
		 LIMIT(10, (1ULL << 31) * MS, WEIGHTED(2)),
		 WINDOW(10, RF_JIFFIES, 1, 1ULL << 31, .scale = 1)),

	COMPILES("log: the window is W, in ns", HZ250, LIMIT(5, 60 * SECOND, LOG),
		 WINDOW(5, RF_KTIME, 1, 60 * SECOND)),
	COMPILES("log, a year: the window is W, in ns", HZ1000, LIMIT(16, YEAR, LOG),
		 WINDOW(16, RF_KTIME, 1, YEAR)),

	COMPILES("token: a packet takes 1/10 s, the burst five of these", HZ250,
		 LIMIT(10, SECOND, TOKEN(5)), BUCKET(5, 1600000000, 8000000000)),
	COMPILES("token: a packet takes 1/3 s, rounded up, the burst seven of these", HZ250,
		 LIMIT(3, SECOND, TOKEN(7)), BUCKET(7, 5333333334, 37333333338)),
	COMPILES("token: a packet takes 1/16 ns at least", HZ250,
		 LIMIT(RF_LIMIT_MAX, MS, TOKEN(RF_LIMIT_MAX)), BUCKET(RF_LIMIT_MAX, 1, 1ULL << 31)),
	COMPILES("leaky: a packet and the burst take 1/10 s", HZ250, LIMIT(10, SECOND, LEAKY(1)),
		 BUCKET(1, 1600000000, 1600000000)),
	COMPILES("leaky: a packet takes a year", HZ250, LIMIT(1, YEAR, LEAKY(1)),
		 BUCKET(1, 505958400000000000, 505958400000000000)),
	COMPILES("token, bytes: 16 places beyond 1/16 ns", HZ250,
		 LIMIT(1000000, SECOND, TOKEN(15140), BYTES),
		 BUCKET(15140, 1048576000, 242240000, .scale = 16)),
	COMPILES("token, 100 Gbit/s: a byte and the burst rounded up", HZ250,
		 LIMIT(12500000000, SECOND, TOKEN(1000000), BYTES),
		 BUCKET(1000000, 83887, 1280015, .scale = 16)),
	COMPILES("token, 2^37 bytes a ms: a byte takes more than nothing", HZ250,
		 LIMIT(1ULL << 37, MS, TOKEN(RF_LIMIT_MAX), BYTES),
		 BUCKET(RF_LIMIT_MAX, 8, 262144, .scale = 16)),
	COMPILES("token, bytes: the last burst with 16 places", HZ250,
		 LIMIT(500000, SECOND, TOKEN(RF_LIMIT_MAX), BYTES),
		 BUCKET(RF_LIMIT_MAX, 2097152000, 68719476736000, .scale = 16)),
	COMPILES("token, bytes: a longer burst leaves a place out", HZ250,
		 LIMIT(400000, SECOND, TOKEN(RF_LIMIT_MAX), BYTES),
		 BUCKET(RF_LIMIT_MAX, 1310720000, 85899345920000, .scale = 15)),
	COMPILES("token, bytes, a frame a year: 3 places beyond 1/16 ns", HZ250,
		 LIMIT(1514, YEAR, TOKEN(1514), BYTES),
		 BUCKET(1514, 2673492206076619, 505958400000000146, .scale = 3)),

	COMPILES("bytes: a unit is one byte up to 2^31", HZ250,
		 LIMIT(RF_LIMIT_MAX, SECOND, FIXED, BYTES),
		 WINDOW(RF_LIMIT_MAX, RF_JIFFIES, 1, 250, .used_shift = 16)),
	COMPILES("bytes: a unit is two bytes from 2^31 + 1 on", HZ250,
		 LIMIT(RF_LIMIT_MAX + 1ULL, SECOND, FIXED, BYTES),
		 WINDOW(1 << 30, RF_JIFFIES, 1, 250, .unit_shift = 1, .used_shift = 16)),
	COMPILES("bytes: a unit is two bytes up to 2^32", HZ250,
		 LIMIT(1ULL << 32, SECOND, STRICT(16), BYTES),
		 WINDOW(RF_LIMIT_MAX, RF_JIFFIES, 16, 4284, .time_shift = 8, .used_shift = 16,
			.unit_shift = 1)),
	COMPILES("bytes: a unit is four bytes from 2^32 + 1 on", HZ250,
		 LIMIT((1ULL << 32) + 2, SECOND, STRICT(16), BYTES),
		 WINDOW((1 << 30), RF_JIFFIES, 16, 4284, .time_shift = 8, .used_shift = 16,
			.unit_shift = 2)),
	COMPILES("bytes: a unit is 64 bytes up to 2^37", HZ250,
		 LIMIT(1ULL << 37, SECOND, STRICT(16), BYTES),
		 WINDOW(RF_LIMIT_MAX, RF_JIFFIES, 16, 4284, .time_shift = 8, .used_shift = 16,
			.unit_shift = RF_UNIT_SHIFT_MAX)),
	COMPILES("bytes: L is rounded down to whole units", HZ250,
		 LIMIT((1ULL << 36) + 63, SECOND, STRICT(16), BYTES),
		 WINDOW((1 << 30), RF_JIFFIES, 16, 4284, .time_shift = 8, .used_shift = 16,
			.unit_shift = RF_UNIT_SHIFT_MAX)),

	COMPILES("ban: the time is in jiffies", HZ250,
		 LIMIT(10, 10 * SECOND, STRICT(16), .ban_ns = 60 * SECOND),
		 WINDOW(10, RF_JIFFIES, 16, 42684, .time_shift = 8, .ban = 15000)),
	COMPILES("ban, HZ 300: the time is rounded up to ticks", HZ300,
		 LIMIT(10, 10 * SECOND, STRICT(16), .ban_ns = SECOND),
		 WINDOW(10, RF_JIFFIES, 16, 51218, .time_shift = 8, .ban = 301)),

	LOANS("1s, HZ 100: in ns", 0, 0, false, HZ100, LIMIT(100, SECOND, STRICT(16))),
	LOANS("10s, HZ 100", 10, 10, true, HZ100, LIMIT(100, 10 * SECOND, STRICT(16))),
	LOANS("1s, HZ 250: 250 ticks, one and the lag of 5", 8, 12, true, HZ250,
	      LIMIT(100, SECOND, STRICT(16))),
	LOANS("1004ms, HZ 250: a tick more", 9, 12, true, HZ250, LIMIT(100, 1004 * MS, STRICT(16))),
	LOANS("1s, HZ 1000", 10, 14, true, HZ1000, LIMIT(100, SECOND, STRICT(16))),
	LOANS("10s: a period of one frame", 12, 12, true, HZ250,
	      LIMIT(100, 10 * SECOND, STRICT(16))),
	LOANS("16s", 12, 12, true, HZ250, LIMIT(100, 16 * SECOND, STRICT(16))),
	LOANS("17s: too long", 0, 0, false, HZ250, LIMIT(100, 17 * SECOND, STRICT(16))),
	LOANS("100ms: in ns", 0, 0, false, HZ250, LIMIT(100, 100 * MS, STRICT(31))),
	LOANS("weighted", 0, 0, false, HZ250, LIMIT(100, SECOND, WEIGHTED(16))),
	LOANS("exact: counts loans from before", 8, 12, false, HZ250,
	      LIMIT(100, SECOND, STRICT(16), EXACT)),
	LOANS("count rejected", 8, 12, false, HZ250,
	      LIMIT(100, SECOND, STRICT(16), COUNT_REJECTED)),
	LOANS("shadow", 8, 12, false, HZ250, LIMIT(100, SECOND, STRICT(16), .flags = RF_SHADOW)),
	LOANS("ban", 8, 12, false, HZ250, LIMIT(100, SECOND, STRICT(16), .ban_ns = SECOND)),
	LOANS("fixed", 8, 12, true, HZ250, LIMIT(100, SECOND, FIXED)),
	LOANS("coarse", 8, 12, true, HZ250, LIMIT(100, SECOND, COARSE(10))),
	UNIT_ROW("per /N: changes the mask of IPv4 only", compile_mask4),
	UNIT_ROW("per6 /N: changes the mask of IPv6 only", compile_mask6),
};

int main(void)
{
	return cmocka_run_group_tests_name("rules, compiled", tests, NULL, NULL);
}
