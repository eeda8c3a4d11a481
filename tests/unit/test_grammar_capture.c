// SPDX-License-Identifier: GPL-2.0
/* The words after `capture`; test_refusals.c has the refused ones. */
#include "unit.h"

#include "line.h"
#include "refusal.h"
#include "rules/grammar_option.h"
#include "schema/reasons.h"

static struct rf_capture parse(const char *text)
{
	struct rf_capture capture;
	struct rf_error error = {};
	struct line line;

	line_split(&line, text);
	if (rf_parse_arguments(RF_CMD_CAPTURE, &line.words, &capture, &error))
		fail_msg("'%s': %s", text, error.text);
	return capture;
}

static void reasons_have_the_names_of_counters(void **state)
{
	(void)state;
	for (int i = 0; i < RF_REASON_COUNT; i++)
		assert_string_equal(rf_reason_words[i].word, rf_reason_name(i));
	assert_null(rf_reason_words[RF_REASON_COUNT].word);
}

static void defaults_are_dropped_packets(void **state)
{
	const struct rf_capture capture = parse("write f");

	(void)state;
	assert_true(capture.dropped && !capture.passed && !capture.from.version);
	assert_int_equal(capture.reasons, UINT32_MAX);
	assert_int_equal(capture.one_in, 1024);
	assert_int_equal(capture.most, 1000);
	assert_int_equal(capture.count, 0);
	assert_int_equal(capture.time_ns, 0);
	assert_null(capture.limit);
	assert_string_equal(capture.path, "f");
}

static void words_come_in_any_order(void **state)
{
	const struct rf_capture capture =
		parse("one in 7 from 192.0.2.0/24 dropped limit write write - for 5s passed "
		      "count 9 most 3");

	(void)state;
	assert_true(capture.dropped && capture.passed && capture.from.version);
	assert_int_equal(capture.one_in, 7);
	assert_int_equal(capture.count, 9);
	assert_int_equal(capture.most, 3);
	assert_int_equal(capture.time_ns, 5 * RF_NS_PER_S);
	assert_int_equal(capture.from.length, 24);
	assert_string_equal(capture.limit, "write");
	assert_string_equal(capture.path, "-");
}

static void a_reason_tells_the_verdict(void **state)
{
	struct rf_capture capture = parse("write f reason denied");

	(void)state;
	assert_true(capture.dropped && !capture.passed);
	assert_int_equal(capture.reasons, 1U << RF_DENIED);
	capture = parse("write f reason allowed");
	assert_true(!capture.dropped && capture.passed);
	capture = parse("reason allowed reason malformed write f");
	assert_true(capture.dropped && capture.passed);
	assert_int_equal(capture.reasons, 1U << RF_ALLOWED | 1U << RF_MALFORMED);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reasons_have_the_names_of_counters),
	cmocka_unit_test(defaults_are_dropped_packets),
	cmocka_unit_test(words_come_in_any_order),
	cmocka_unit_test(a_reason_tells_the_verdict),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar of capture", tests, NULL, NULL);
}
