// SPDX-License-Identifier: GPL-2.0
/*
 * The state that `top` carries from one scan to the next: which sources, in which order, and the
 * cursor.
 */
#include "made_scan.h"

#include "screen/model.h"

#define MANY 20000

static const struct rf_top asked = {.order = RF_BY_DROPS};

/* A second, in which each source of a list dropped this much of limit `all`. */
static void scan_of(struct rf_snapshot *scan, struct rf_source_row *rows, const uint64_t drops[][2],
		    size_t count)
{
	made_second(scan);
	for (size_t i = 0; i < count; i++) {
		rows[i] = made_row(scan, drops[i][0], 0, drops[i][1]);
		rows[i].used = 10000;
	}
	qsort(rows, count, sizeof(*rows), rf_source_row_compare);
	scan->sources = (struct rf_source_rows){rows, count, count};
}

static void is_at(const struct rf_model *model, int place, uint32_t source)
{
	const struct rf_prefix want = made_source(source);

	assert_int_equal(rf_prefix_compare(&rf_model_shown(model, place)->key.source, &want), 0);
}

static void most_drops_come_first(void **state)
{
	static const uint64_t drops[][2] = {{1, 50}, {2, 4000}, {4, 0}, {5, 300}};
	struct rf_source_row rows[4];
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, drops, 4);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(model.shown, 4);
	is_at(&model, 0, 2);
	is_at(&model, 1, 5);
	is_at(&model, 2, 1);
	is_at(&model, 3, 4);
	assert_true(rf_model_shown(&model, 0)->drop == 4000);
	assert_true(rf_model_shown(&model, 0)->share == 0.5);
	assert_int_equal(model.head.over, 3);
	assert_int_equal(model.head.limit[0].over, 3);
	rf_model_free(&model);
}

/* A user who selects a source and presses a key means this source. */
static void the_cursor_stays_on_its_source(void **state)
{
	static const uint64_t before[][2] = {{1, 50}, {2, 4000}, {5, 300}};
	static const uint64_t after[][2] = {{1, 90000}, {2, 1}, {5, 80000}, {6, 1000000}};
	struct rf_source_row rows[4];
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, before, 3);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	rf_model_move(&model, 1, scan.awake_ns);
	is_at(&model, model.at, 5);
	for (int i = 0; i < 4; i++) { /* the order is fixed after a key */
		scan_of(&scan, rows, after, 4);
		assert_int_equal(rf_model_take(&model, &scan), 0);
		is_at(&model, 0, 2);
		is_at(&model, 1, 5);
		assert_int_equal(model.at, 1);
	}
	for (int i = 0; i < 4; i++) {
		scan_of(&scan, rows, after, 4);
		assert_int_equal(rf_model_take(&model, &scan), 0);
	}
	is_at(&model, 0, 6);
	assert_int_equal(model.at, 2);
	is_at(&model, model.at, 5);
	rf_model_home(&model);
	rf_model_order(&model, scan.awake_ns);
	is_at(&model, model.at, 6);
	rf_model_free(&model);
}

/* It also remains while it sends nothing, and when a thousand others are sorted before it. */
static void the_source_under_the_cursor_is_never_lost(void **state)
{
	static const uint64_t before[][2] = {{1, 50}};
	struct rf_source_row *rows = calloc(MANY, sizeof(*rows));
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, before, 1);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	rf_model_move(&model, 0, scan.awake_ns);
	for (int i = 0; i < 100; i++) {
		made_second(&scan);
		for (int k = 0; k < MANY; k++)
			rows[k] = made_row(&scan, 4 * (k + 1), 0, 1000 + k);
		scan.sources = (struct rf_source_rows){rows, MANY, MANY};
		assert_int_equal(rf_model_take(&model, &scan), 0);
	}
	assert_int_equal(model.shown, RF_MODEL_ROWS + 1);
	assert_int_equal(model.others, MANY - RF_MODEL_ROWS);
	is_at(&model, model.at, 1);
	for (int i = 0; i < 20; i++)
		assert_true(rf_model_shown(&model, i)->drop >= 1000 + MANY - RF_MODEL_ROWS);
	rf_model_free(&model);
	free(rows);
}

/* Scans of very many sources are far apart: their results have no gap. */
static void scans_that_are_far_apart_leave_no_gap(void **state)
{
	static const uint64_t drops[][2] = {{1, 50}};
	struct rf_source_row rows[1];
	struct rf_snapshot scan;
	struct rf_model model;
	uint64_t slot;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, drops, 1);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	scan_of(&scan, rows, drops, 1);
	scan.awake_ns += 19 * SECOND;
	scan.since_ns = 20 * SECOND;
	scan.sums.counters.reason[RF_OVER_LIMIT].packets += 2000;
	assert_int_equal(rf_model_take(&model, &scan), 0);
	slot = scan.awake_ns / RF_SLOT_NS;
	for (int back = 0; back < 4; back++) {
		assert_true(rf_ring_at(&model.head.dropped.ring, slot, back) == 100);
		assert_true(rf_ring_at(&model.row[0].use, slot, back) == 0.5);
	}
	rf_model_free(&model);
}

static void idle_sources_go_after_a_minute(void **state)
{
	static const uint64_t before[][2] = {{1, 50}, {2, 7}};
	struct rf_source_row rows[2];
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, before, 2);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	for (int i = 0; i < 59; i++) {
		scan_of(&scan, rows, before, 1);
		assert_int_equal(rf_model_take(&model, &scan), 0);
		assert_int_equal(model.shown, 2);
	}
	assert_true(rf_model_shown(&model, 1)->drop == 0);
	scan_of(&scan, rows, before, 1);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(model.shown, 1);
	rf_model_free(&model);
}

static void since_is_the_first_drop_after_a_quiet_time(void **state)
{
	static const uint64_t drops[][2] = {{1, 50}}, none[][2] = {{1, 0}};
	struct rf_source_row rows[1];
	struct rf_snapshot scan;
	struct rf_model model;
	uint64_t began_ns;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, drops, 1);
	began_ns = scan.awake_ns;
	assert_int_equal(rf_model_take(&model, &scan), 0);
	for (int i = 0; i < 30; i++) {
		scan_of(&scan, rows, none, 1);
		assert_int_equal(rf_model_take(&model, &scan), 0);
		assert_int_equal(rf_model_shown(&model, 0)->dropped_since_ns, began_ns);
	}
	scan_of(&scan, rows, none, 1);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(rf_model_shown(&model, 0)->dropped_since_ns, 0);
	rf_model_free(&model);
}

static void filters_take_networks_and_names(void **state)
{
	static const uint64_t drops[][2] = {{1, 50}, {2, 40}, {300, 30}, {3, 20}};
	struct rf_source_row rows[4];
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, drops, 4);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	rf_model_filter(&model, "10.0.0.0/24");
	assert_int_equal(model.shown, 2);
	rf_model_filter(&model, "2001:db8");
	assert_int_equal(model.shown, 1);
	rf_model_filter(&model, "any");
	assert_int_equal(model.shown, 4);
	rf_model_filter(&model, "syn");
	assert_int_equal(model.shown, 0);
	assert_null(rf_model_cursor(&model));
	rf_model_move(&model, 1, scan.awake_ns);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(model.others, 0);
	rf_model_filter(&model, "");
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(model.shown, 4);
	rf_model_free(&model);
}

static void another_fence_begins_afresh(void **state)
{
	static const uint64_t drops[][2] = {{1, 50}};
	struct rf_source_row rows[1];
	struct rf_snapshot scan;
	struct rf_model model;

	(void)state;
	made_scan(&scan);
	rf_model_start(&model, &asked);
	scan_of(&scan, rows, drops, 1);
	assert_int_equal(rf_model_take(&model, &scan), 0);
	scan_of(&scan, rows, drops, 0);
	strcpy(scan.identity, "boot-2");
	assert_int_equal(rf_model_take(&model, &scan), 0);
	assert_int_equal(model.shown, 0);
	rf_model_free(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_drops_come_first),
		cmocka_unit_test(the_cursor_stays_on_its_source),
		cmocka_unit_test(the_source_under_the_cursor_is_never_lost),
		cmocka_unit_test(scans_that_are_far_apart_leave_no_gap),
		cmocka_unit_test(idle_sources_go_after_a_minute),
		cmocka_unit_test(since_is_the_first_drop_after_a_quiet_time),
		cmocka_unit_test(filters_take_networks_and_names),
		cmocka_unit_test(another_fence_begins_afresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
