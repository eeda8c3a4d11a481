// SPDX-License-Identifier: GPL-2.0
/* The limit on responses to a prefix, and truncated responses to DNS queries. */
#include "unit.h"

#include "ringfence/answers.h"
#include "ringfence/dns.h"

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

#define HEADER(flags, questions, answers, authority, additional) \
	"\x12\x34" flags "\0" questions "\0" answers "\0" authority "\0" additional
#define QUERY HEADER("\1\0", "\1", "\0", "\0", "\0")
#define QUERY_EDNS HEADER("\1\x20", "\1", "\0", "\0", "\1")
#define NAME "\7example\3org\0"
#define QUESTION NAME "\0\1\0\1"
/* DO, and a cookie of 8 bytes */
#define OPT                                            \
	"\0\0\x29\x04\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08" \
	"cookie!!"
#define OPT_ANSWER "\0\0\x29\x04\xd0\0\0\x80\0\0\0"
#define LABEL  \
	"\x3f" \
	"123456789012345678901234567890123456789012345678901234567890123"

#define BYTES(text) text, sizeof(text) - 1

struct dns_row {
	const char *name;
	const char *query;
	size_t length;
	const char *answer;
	size_t answer_length; /* 0: none */
};

static const struct dns_row dns_rows[] = {
	{"plain", BYTES(QUERY QUESTION), BYTES(HEADER("\x83\0", "\1", "\0", "\0", "\0") QUESTION)},
	{"EDNS with DO and a cookie", BYTES(QUERY_EDNS QUESTION OPT),
	 BYTES(HEADER("\x83\0", "\1", "\0", "\0", "\1") QUESTION OPT_ANSWER)},
	{"no recursion, CD", BYTES(HEADER("\0\x10", "\1", "\0", "\0", "\0") QUESTION),
	 BYTES(HEADER("\x82\x10", "\1", "\0", "\0", "\0") QUESTION)},
	{"the root", BYTES(QUERY "\0\0\2\0\1"),
	 BYTES(HEADER("\x83\0", "\1", "\0", "\0", "\0") "\0\0\2\0\1")},
	{"labels of 63 bytes", BYTES(QUERY LABEL LABEL "\0\0\1\0\1"),
	 BYTES(HEADER("\x83\0", "\1", "\0", "\0", "\0") LABEL LABEL "\0\0\1\0\1")},
	{"a response", BYTES(HEADER("\x81\0", "\1", "\0", "\0", "\0") QUESTION), NULL, 0},
	{"NOTIFY", BYTES(HEADER("\x20\0", "\1", "\0", "\0", "\0") QUESTION), NULL, 0},
	{"UPDATE", BYTES(HEADER("\x28\0", "\1", "\0", "\0", "\0") QUESTION), NULL, 0},
	{"no question", BYTES(HEADER("\1\0", "\0", "\0", "\0", "\0")), NULL, 0},
	{"two questions", BYTES(HEADER("\1\0", "\2", "\0", "\0", "\0") QUESTION QUESTION), NULL, 0},
	{"an answer", BYTES(HEADER("\1\0", "\1", "\1", "\0", "\0") QUESTION OPT), NULL, 0},
	{"an authority", BYTES(HEADER("\1\0", "\1", "\0", "\1", "\0") QUESTION OPT), NULL, 0},
	{"two additional records", BYTES(HEADER("\1\0", "\1", "\0", "\0", "\2") QUESTION OPT OPT),
	 NULL, 0},
	{"an additional record that is no OPT",
	 BYTES(QUERY_EDNS QUESTION "\0\0\xfa\0\xff\0\0\0\0\0\0"), NULL, 0},
	{"a compressed name", BYTES(QUERY "\xc0\x0c\0\1\0\1"), NULL, 0},
	{"a label that ends the message", BYTES(QUERY "\7exampl"), NULL, 0},
	{"a name without an end", BYTES(QUERY "\7example"), NULL, 0},
	{"no class", BYTES(QUERY NAME "\0\1"), NULL, 0},
	{"bytes after the question", BYTES(QUERY QUESTION "x"), NULL, 0},
	{"an OPT that is cut off", BYTES(QUERY_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0"), NULL,
	 0},
	{"an OPT with too long options",
	 BYTES(QUERY_EDNS QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x0a\0\x08"
				   "cookie!"),
	 NULL, 0},
	{"bytes after the OPT", BYTES(QUERY_EDNS QUESTION OPT "x"), NULL, 0},
	{"a header that is cut off", BYTES("\x12\x34\1\0\0\1\0\0\0\0\0"), NULL, 0},
	{"nothing", BYTES(""), NULL, 0},
};

static void queries_are_answered_with_tc(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(dns_rows); i++) {
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
	static const char query[] = QUERY_EDNS QUESTION OPT;

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
	memcpy(message, QUERY QUESTION, sizeof(QUERY QUESTION) - 1);
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
