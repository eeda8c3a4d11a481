// SPDX-License-Identifier: GPL-2.0
/* The limit on responses to a prefix, and truncated responses to DNS queries. */
#include "unit.h"

#include "ringfence/answers.h"
#include "ringfence/dns.h"
#include "tests/dns_queries.h"

#define PERIOD 7
#define MOST 5

/* ---- how many ---- */

static int take_many(__u64 *word, __u32 period, int count)
{
	int taken = 0;

	for (int i = 0; i < count; i++)
		taken += rf_answers_take(word, period, MOST);
	return taken;
}

static void each_period_has_its_answers(void **state)
{
	__u64 word = 0;

	(void)state;
	assert_int_equal(take_many(&word, PERIOD, 100), MOST);
	assert_int_equal(take_many(&word, PERIOD, 100), 0);
	assert_int_equal(take_many(&word, PERIOD + 1, 2), 2);
	assert_int_equal(take_many(&word, PERIOD + 1, 100), MOST - 2);
	assert_int_equal(take_many(&word, PERIOD + 1000, 100), MOST);
}

/* A CPU that lags counts in the present period. */
static void an_earlier_time_restarts_no_period(void **state)
{
	__u64 word = 0;

	(void)state;
	assert_int_equal(take_many(&word, PERIOD, 3), 3);
	assert_int_equal(take_many(&word, PERIOD - 1, 100), MOST - 3);
	assert_int_equal(take_many(&word, PERIOD, 100), 0);
}

static void no_answers_are_none_in_any_period(void **state)
{
	__u64 word = 0;

	(void)state;
	for (__u32 period = 0; period < 4; period++)
		assert_int_equal(rf_answers_take(&word, period, 0), 0);
}

static void a_period_wraps(void **state)
{
	__u64 word = 0xffffffffULL << 32 | MOST;

	(void)state;
	assert_int_equal(rf_answers_take(&word, 0xffffffff, MOST), 0);
	assert_int_equal(take_many(&word, 0, 100), MOST);
	assert_int_equal(take_many(&word, 0xffffffff, 100), 0);
}

/* ---- DNS ---- */

static void queries_are_answered_with_tc(void **state)
{
	(void)state;
	for (size_t i = 0; i < DNS_ROWS; i++) {
		const struct dns_row *row = &dns_rows[i];
		__u8 message[RF_DNS_BUFFER] = {};
		__u32 length;

		memcpy(message, row->query, row->length);
		length = rf_dns_truncate(message, row->length);
		if (length != row->answer_length ||
		    (length && memcmp(message, row->answer, length) != 0))
			fail_msg("%s: %u bytes instead of %zu, or others", row->name, length,
				 row->answer_length);
	}
}

/* With every truncation and every changed byte. */
static void an_answer_is_never_longer_than_its_query(void **state)
{
	static const char query[] = DNS_QUERY_EDNS DNS_QUESTION DNS_OPT;

	(void)state;
	for (size_t length = 0; length < sizeof(query); length++)
		for (size_t at = 0; at < length; at++)
			for (int byte = 0; byte < 256; byte++) {
				__u8 message[RF_DNS_BUFFER] = {};

				memcpy(message, query, length);
				message[at] = byte;
				assert_true(rf_dns_truncate(message, length) <= length);
			}
}

static void a_longer_message_is_not_answered(void **state)
{
	__u8 message[RF_DNS_BUFFER] = {};

	(void)state;
	memcpy(message, DNS_QUERY DNS_QUESTION, sizeof(DNS_QUERY DNS_QUESTION) - 1);
	assert_int_equal(rf_dns_truncate(message, RF_DNS_QUERY_MAX + 1), 0);
	assert_int_equal(rf_dns_truncate(message, ~0U), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_period_has_its_answers),
		cmocka_unit_test(an_earlier_time_restarts_no_period),
		cmocka_unit_test(no_answers_are_none_in_any_period),
		cmocka_unit_test(a_period_wraps),
		cmocka_unit_test(queries_are_answered_with_tc),
		cmocka_unit_test(an_answer_is_never_longer_than_its_query),
		cmocka_unit_test(a_longer_message_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
