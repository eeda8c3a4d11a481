// SPDX-License-Identifier: GPL-2.0
/* Arrays that are empty are sorted and searched, under the sanitizer that forbids NULL for them. */
#include "unit.h"

#include "base/sort.h"

static int compare(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

static void an_array_without_memory_is_empty(void **state)
{
	const int key = 1;

	(void)state;
	rf_sort(NULL, 0, sizeof(int), compare);
	assert_null(rf_search(&key, NULL, 0, sizeof(int), compare));
}

static void others_are_sorted_and_found(void **state)
{
	int numbers[] = {3, 1, 2};
	const int present = 2, absent = 4;

	(void)state;
	rf_sort(numbers, 3, sizeof(int), compare);
	assert_int_equal(numbers[0], 1);
	assert_ptr_equal(rf_search(&present, numbers, 3, sizeof(int), compare), &numbers[1]);
	assert_null(rf_search(&absent, numbers, 3, sizeof(int), compare));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_without_memory_is_empty),
		cmocka_unit_test(others_are_sorted_and_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
