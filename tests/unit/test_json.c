// SPDX-License-Identifier: GPL-2.0
/* How numbers are printed in JSON. */
#include "unit.h"

#include <stdlib.h>

#include "base/json.h"
#include "watch/event.h"

static void assert_line(json_t *json, const char *expected)
{
	char *line = rf_json_line(json);

	json_decref(json);
	assert_non_null(line);
	assert_string_equal(line, expected);
	free(line);
}

static void numbers_have_no_more_digits_than_they_need(void **state)
{
	(void)state;
	assert_line(json_pack("[f, f, f, f]", 16.414, 0.1 + 0.2, 1.0, 1e14),
		    "[16.414,0.3,1.0,100000000000000.0]");
	assert_line(json_pack("[I]", (json_int_t)9007199254740993), "[9007199254740993]");
}

/* Of the interval that an event names, up to the longest. */
static void every_millisecond_is_printed_as_such(void **state)
{
	char expected[32];

	(void)state;
	for (int ms = 1; ms <= 60000; ms++) {
		size_t length;

		length = snprintf(expected, sizeof(expected), "[%d.%03d", ms / 1000, ms % 1000);
		while (expected[length - 1] == '0' && expected[length - 2] != '.')
			length--;
		snprintf(expected + length, sizeof(expected) - length, "]");
		assert_line(json_pack("[f]", (double)ms / 1000), expected);
	}
}

static void an_event_has_its_interval_in_seconds(void **state)
{
	const struct rf_event event = {.interval_ns = 16414 * 1000000ULL + 999};
	json_t *json = rf_event_json(&event);

	(void)state;
	assert_non_null(json);
	assert_line(json_pack("{s:O}", "interval", json_object_get(json, "interval")),
		    "{\"interval\":16.414}");
	json_decref(json);
}

static void nothing_has_no_line(void **state)
{
	(void)state;
	assert_null(rf_json_line(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_no_more_digits_than_they_need),
		cmocka_unit_test(every_millisecond_is_printed_as_such),
		cmocka_unit_test(an_event_has_its_interval_in_seconds),
		cmocka_unit_test(nothing_has_no_line),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
