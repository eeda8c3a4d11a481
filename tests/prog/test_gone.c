// SPDX-License-Identifier: GPL-2.0
/* The daemon's state of removed fences: enough, and bounded. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "daemon/fences.h"

static struct rf_records records;

static int setup(void **state)
{
	struct rf_settings settings;

	(void)state;
	rf_settings_default(&settings);
	*settings.history = *settings.events_file = *settings.exec = '\0';
	settings.journal = false;
	rf_records_prepare(&records, &settings);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rf_records_free(&records);
	records = (struct rf_records){};
	return 0;
}

static struct rf_record *take(const char *fence)
{
	struct rf_record *record = rf_records_take(&records, fence);

	assert_non_null(record);
	assert_string_equal(record->fence, fence);
	return record;
}

static bool is_kept(const char *fence)
{
	for (int i = 0; i < records.count; i++)
		if (strcmp(records.of[i]->fence, fence) == 0)
			return true;
	return false;
}

static void come_and_go(int first, int count)
{
	char fence[RF_NAME_SIZE];

	for (int i = first; i < first + count; i++) {
		snprintf(fence, sizeof(fence), "eth%d", i);
		rf_record_release(take(fence));
	}
}

static void fences_under_ever_new_names_take_bounded_room(void **state)
{
	struct rf_record *stays = take("stays");

	(void)state;
	come_and_go(0, 1000);
	assert_true(records.count <= RF_RECORDS_GONE + 2);
	assert_true(is_kept("stays") && is_kept("eth999") && is_kept("eth940"));
	assert_false(is_kept("eth0"));
	assert_ptr_equal(stays, records.of[0]);
	rf_record_release(stays);
}

static void a_fence_that_comes_back_has_its_record(void **state)
{
	struct rf_record *first = take("eth0");

	(void)state;
	rf_record_release(first);
	come_and_go(1, RF_RECORDS_GONE - 1);
	assert_ptr_equal(take("eth0"), first);
	assert_null(rf_records_take(&records, "eth0")); /* another fence of that name */
	come_and_go(100, 1000);
	assert_true(is_kept("eth0"));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(fences_under_ever_new_names_take_bounded_room, setup,
					teardown),
	cmocka_unit_test_setup_teardown(a_fence_that_comes_back_has_its_record, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests_name("fences that are gone", tests, NULL, NULL);
}
