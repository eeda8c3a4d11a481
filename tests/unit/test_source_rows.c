// SPDX-License-Identifier: GPL-2.0
/* Rows are sorted by their digits as they would be by comparing. */
#include "unit.h"

#include "snapshot/snapshot.h"

#define ROWS 5000

/* Few values: each part of a row decides somewhere. */
static struct rf_source_row make_row(uint64_t *random, int kind)
{
	struct rf_source_row row = {
		.limit_id = 1 + unit_below(random, 3),
		.is_aggregate = unit_below(random, 2),
	};

	row.source.version = kind == 0 ? 4 : kind == 1 ? 6 : unit_below(random, 2) ? 4 : 6;
	row.source.length =
		row.source.version == 4 ? 24 + unit_below(random, 9) : 48 + unit_below(random, 81);
	for (int i = 0; i < (row.source.version == 4 ? 1 : 4); i++)
		row.source.word[i] =
			unit_below(random, 3) ? unit_random(random) : unit_below(random, 4) << 24;
	return row;
}

static void assert_sorted(size_t count, int kind)
{
	struct rf_source_row *want = calloc(count + 1, sizeof(*want));
	struct rf_source_rows rows = {};
	uint64_t random = unit_seed();

	for (size_t i = 0; i < count; i++) {
		struct rf_source_row row = i % 5 == 4 ? want[i - 1] : make_row(&random, kind);

		row.limit_id += i % 5 == 4;
		want[i] = row;
		assert_int_equal(rf_source_rows_append(&rows, &row), 0);
	}
	assert_int_equal(rf_source_rows_sort(&rows), 0);
	assert_int_equal(rows.count, count);
	qsort(want, count, sizeof(*want), rf_source_row_compare);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(rf_source_row_compare(&want[i], &rows.row[i]), 0);
	rf_source_rows_free(&rows);
	free(want);
}

static void sort_as_compared(void **state)
{
	(void)state;
	for (int kind = 0; kind < 3; kind++)
		for (size_t count = 0; count <= ROWS; count = count < 70 ? count + 1 : count * 3)
			assert_sorted(count, kind);
}

/* A row can be added after sorting. */
static void go_on_after_sorting(void **state)
{
	struct rf_source_rows rows = {};
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 3000; i++) {
		const struct rf_source_row row = make_row(&random, 2);

		assert_int_equal(rf_source_rows_append(&rows, &row), 0);
		if (i % 500 == 100)
			assert_int_equal(rf_source_rows_sort(&rows), 0);
	}
	assert_int_equal(rows.count, 3000);
	rf_source_rows_free(&rows);
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("rows are sorted as they compare", sort_as_compared),
	UNIT_ROW("rows may be added after sorting", go_on_after_sorting),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
