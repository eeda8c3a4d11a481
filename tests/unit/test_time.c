// SPDX-License-Identifier: GPL-2.0
/* Durations are written in one way: each number has its unit behind it, without a blank. */
#include "unit.h"

#include "base/time.h"
#include "base/units.h"

struct row {
	void (*format)(uint64_t time, char text[RF_DURATION_TEXT_SIZE]);
	uint64_t time;
	const char *text;
};

static void is_written(void **state)
{
	const struct row *row = *state;
	char text[RF_DURATION_TEXT_SIZE];

	row->format(row->time, text);
	assert_string_equal(text, row->text);
}

#define ROW(format, time, text) \
	UNIT_ROW_OF(#format ": " text, is_written, (&(struct row){format, time, text}))

static const struct CMUnitTest tests[] = {
	ROW(rf_format_ms, 0, "0ms"),
	ROW(rf_format_ms, 620, "620ms"),
	ROW(rf_format_ms, 1000, "1.0s"),
	ROW(rf_format_ms, 59999, "59.9s"),
	ROW(rf_format_ms, 60000, "1m"),
	ROW(rf_format_ms, 125000, "2m 5s"),
	ROW(rf_format_ms, 3600000, "1h"),
	ROW(rf_format_left, 1, "1s"),
	ROW(rf_format_left, 30 * SECOND, "30s"),
	ROW(rf_format_left, 90 * SECOND, "1m 30s"),
	ROW(rf_format_left, 90061 * SECOND, "1d 1h"),
	ROW(rf_format_for, 570 * SECOND, "570s"),
	ROW(rf_format_for, 600 * SECOND, "10m"),
	ROW(rf_format_for, 86400 * SECOND, "24h"),
};

int main(void)
{
	return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
