// SPDX-License-Identifier: GPL-2.0
/* How often the daemon scans, and its reaction to clocks that jump. */
#include "unit.h"

#include "watch/pace.h"

static void cheap_scans_keep_the_interval(void **state)
{
	struct rf_pace pace = rf_pace_start(SECOND);

	(void)state;
	for (int i = 0; i < 100; i++) {
		rf_pace_note(&pace, 30 * MS);
		assert_int_equal(pace.interval_ns, SECOND);
		assert_false(rf_pace_has_news(&pace));
	}
}

/*
 * For any cost of a scan, all scans together cost 3 % of a CPU at most, once the costs are known.
 */
static void costly_scans_stretch_the_interval(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int run = 0; run < 1000; run++) {
		const uint64_t around = unit_below(&random, 800) * MS;
		struct rf_pace pace = rf_pace_start(SECOND);
		uint64_t spent = 0, time = 0;

		for (int i = 0; i < 200; i++) {
			const uint64_t cost = around / 2 + unit_below(&random, around + 1);

			spent += cost;
			rf_pace_note(&pace, cost);
			time += pace.interval_ns;
		}
		assert_true(spent * 100 <= time * 31 / 10);
	}
}

static void a_million_sources(void **state)
{
	struct rf_pace pace = rf_pace_start(SECOND);

	(void)state;
	rf_pace_note(&pace, 1658 * MS); /* the first one, of all windows */
	assert_int_equal(pace.interval_ns, SECOND);
	rf_pace_note(&pace, 240 * MS);
	assert_int_equal(pace.interval_ns, 8 * SECOND);
	assert_true(rf_pace_has_news(&pace));
	assert_false(rf_pace_has_news(&pace));
	for (int i = 0; i < 50; i++)
		rf_pace_note(&pace, MS);
	assert_int_equal(pace.interval_ns, SECOND);
	assert_true(rf_pace_has_news(&pace));
}

static void a_scan_each_minute_at_least(void **state)
{
	struct rf_pace pace = rf_pace_start(SECOND);

	(void)state;
	rf_pace_note(&pace, 100 * SECOND);
	rf_pace_note(&pace, 100 * SECOND);
	assert_int_equal(pace.interval_ns, 60 * SECOND);
}

struct jump_row {
	int64_t wall, awake, boot; /* how far each went, in ms */
	int64_t slept, stepped;
};

static void compare(void **state)
{
	const struct jump_row *row = *state;
	const struct rf_moment before = {1000 * SECOND, 500 * SECOND, 600 * SECOND};
	const struct rf_moment now = {before.wall + row->wall * (int64_t)MS,
				      before.awake + row->awake * MS, before.boot + row->boot * MS};
	const struct rf_jump jump = rf_moment_compare(&before, &now);

	assert_int_equal(jump.slept_ns, row->slept * MS);
	assert_int_equal(jump.stepped_ns, row->stepped * (int64_t)MS);
}

#define JUMP(title, ...) UNIT_ROW_OF("clocks: " title, compare, (&(struct jump_row){__VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	UNIT_ROW("keeps the interval of cheap scans", cheap_scans_keep_the_interval),
	UNIT_ROW("spends 3 % of a CPU at most", costly_scans_stretch_the_interval),
	UNIT_ROW("stretches the interval for a million sources, and says so", a_million_sources),
	UNIT_ROW("scans each minute at least", a_scan_each_minute_at_least),
	JUMP("time goes by", 1000, 1000, 1000, 0, 0),
	JUMP("a slewed clock is no step", 1900, 1000, 1000, 0, 0),
	JUMP("the machine slept for an hour", 3601000, 1000, 3601000, 3600000, 0),
	JUMP("the clock was set forward", 61000, 1000, 1000, 0, 60000),
	JUMP("the clock was set back", -59000, 1000, 1000, 0, -60000),
	JUMP("both", 3599000, 1000, 3601000, 3600000, -2000),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
