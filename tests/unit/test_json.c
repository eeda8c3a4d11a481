// SPDX-License-Identifier: GPL-2.0
/* How numbers and records are printed in JSON. */
#include "unit.h"

#include <stdlib.h>

#include "base/json.h"
#include "ringfence/abi.h"
#include "schema/record.h"
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

enum colour {
	RED,
	GREEN,
};

static const char *const colours[] = {[RED] = "red", [GREEN] = "green"};

struct part {
	int number;
};

struct record {
	char text[8];
	char *owned;
	uint64_t time_ns, left_ns, took_ns, cell[3];
	enum colour colour;
	uint32_t cells;
	struct part *part;
	size_t parts;
	json_t *read;
};

static const struct rf_field part_fields[] = {
	RF_FIELD("number", struct part, number, ""),
	{},
};

#define RECORD_FIELDS(...)                                                                      \
	{                                                                                       \
		RF_FIELD("text", struct record, text, "", .if_any = true, ##__VA_ARGS__),       \
			RF_FIELD("owned", struct record, owned, "", ##__VA_ARGS__),             \
			RF_FIELD_OF_TIME("time", struct record, time_ns, "", ##__VA_ARGS__),    \
			RF_FIELD_LEFT_OF("left_ms", struct record, left_ns, "", ##__VA_ARGS__), \
			RF_FIELD_READ("read", struct record, read, RF_FIELD_LIST, NULL, "",     \
				      ##__VA_ARGS__),                                           \
			{},                                                                     \
	}

struct records {
	struct record record[2];
	int count;
	const struct part *more;
};

static const struct rf_field fields_or_null[] = RECORD_FIELDS(.or_null = true);
static const struct rf_field fields_if_any[] = RECORD_FIELDS();
static const struct rf_field always_fields[] = {
	RF_FIELD_IN_SECONDS("seconds", struct record, took_ns, ""),
	RF_FIELD_OF_ENUM("colour", struct record, colour, colours, ""),
	RF_FIELD_ARRAY("cells", struct record, cell, cells, RF_FIELD_U64, NULL, ""),
	RF_FIELD_OBJECTS("parts", struct record, part, parts, part_fields, ""),
	{},
};

static void fields_of_a_record_can_be_without_a_value(void **state)
{
	const struct record none = {.left_ns = RF_FOREVER};
	char owned[] = "b";
	struct record all = {.text = "a", .owned = owned, .time_ns = SECOND, .left_ns = 5 * MS};

	(void)state;
	assert_line(rf_record_json(fields_if_any, &none), "{}");
	assert_line(rf_record_json(fields_or_null, &none),
		    "{\"text\":null,\"owned\":null,\"time\":null,\"left_ms\":null,\"read\":null}");
	all.read = json_pack("[i]", 7);
	assert_line(rf_record_json(fields_or_null, &all),
		    "{\"text\":\"a\",\"owned\":\"b\",\"time\":\"1970-01-01T00:00:01.000Z\","
		    "\"left_ms\":5,\"read\":[7]}");
	json_decref(all.read);
}

static void arrays_of_a_record_are_lists(void **state)
{
	struct part parts[2] = {{3}, {4}};
	const struct record record = {.took_ns = 1500 * MS,
				      .cell = {1, 2, 3},
				      .colour = GREEN,
				      .cells = 2,
				      .part = parts,
				      .parts = 2};

	(void)state;
	assert_line(rf_record_json(always_fields, &record),
		    "{\"seconds\":1.5,\"colour\":\"green\",\"cells\":[1,2],"
		    "\"parts\":[{\"number\":3},{\"number\":4}]}");
	assert_line(rf_record_json(always_fields, &(struct record){}),
		    "{\"seconds\":0.0,\"colour\":\"red\",\"cells\":[],\"parts\":[]}");
}

/* A list of values without keys; null where a value is missing. */
static void a_tuple_has_the_values_in_their_order(void **state)
{
	static const struct rf_field pair_fields[] = {
		RF_FIELD_IN_SECONDS("seconds", struct record, took_ns, ""),
		RF_FIELD("text", struct record, owned, "", .or_null = true),
		RF_FIELD_ARRAY("parts", struct record, part, parts, RF_FIELD_TUPLE, part_fields,
			       ""),
		{},
	};
	static const struct rf_field all_fields[] = {
		RF_FIELD_ARRAY("pairs", struct records, record, count, RF_FIELD_TUPLE, pair_fields,
			       ""),
		RF_FIELDS_VIA(struct records, more, part_fields),
		{},
	};
	struct part part = {4};
	struct records records = {
		.record = {{.took_ns = 1500 * MS, .part = &part, .parts = 1}, {.owned = "b"}},
		.count = 2,
	};

	(void)state;
	assert_line(rf_record_json(all_fields, &records),
		    "{\"pairs\":[[1.5,null,[[4]]],[0.0,\"b\",[]]]}");
	records.more = &part;
	records.count = 0;
	assert_line(rf_record_json(all_fields, &records), "{\"pairs\":[],\"number\":4}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_no_more_digits_than_they_need),
		cmocka_unit_test(every_millisecond_is_printed_as_such),
		cmocka_unit_test(an_event_has_its_interval_in_seconds),
		cmocka_unit_test(nothing_has_no_line),
		cmocka_unit_test(fields_of_a_record_can_be_without_a_value),
		cmocka_unit_test(arrays_of_a_record_are_lists),
		cmocka_unit_test(a_tuple_has_the_values_in_their_order),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
