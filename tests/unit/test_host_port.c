// SPDX-License-Identifier: GPL-2.0
/* HOST:PORT: where the host ends, and which ports are valid. */
#include "unit.h"

#include <string.h>

#include "base/prefix.h"

static void splits_at_the_last_colon(void **state)
{
	static const struct {
		const char *text, *host, *port;
		bool in_brackets;
	} rows[] = {
		{"192.0.2.1:6379", "192.0.2.1", "6379", false},
		{"db1:6379", "db1", "6379", false},
		{"[2001:db8::1]:6379", "2001:db8::1", "6379", true},
		{"2001:db8::1:6379", "2001:db8::1", "6379", false}, /* a node names itself so */
		{":6379", "", "6379", false},
		{"db1:", "db1", "", false},
		{":", "", "", false},
		{"[]:80", "", "80", true},
		{"[:80", "[", "80", false},
		{"]:80", "]", "80", false},
		{"[db1:80", "[db1", "80", false},
		{"[::1]", "[:", "1]", false}, /* which is no port */
	};
	struct rf_host_port parts;
	char host[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(rf_host_port_split(rows[i].text, &parts));
		assert_true(rf_host_port_copy(&parts, host, sizeof(host)));
		assert_string_equal(host, rows[i].host);
		assert_string_equal(parts.port, rows[i].port);
		assert_int_equal(parts.in_brackets, rows[i].in_brackets);
	}
	assert_false(rf_host_port_split("db1", &parts));
	assert_false(rf_host_port_split("", &parts));
}

static void copies_a_host_that_there_is_room_for(void **state)
{
	struct rf_host_port parts;
	char host[4];

	(void)state;
	assert_true(rf_host_port_split("[abc]:1", &parts));
	assert_true(rf_host_port_copy(&parts, host, sizeof(host)));
	assert_string_equal(host, "abc");
	assert_true(rf_host_port_split("abcd:1", &parts));
	assert_false(rf_host_port_copy(&parts, host, sizeof(host)));
}

static void reads_ports(void **state)
{
	static const char *const wrong[] = {"",
					    "0",
					    "65536",
					    "99999",
					    "-1",
					    "+1",
					    " 1",
					    "1 ",
					    "01",
					    "0x50",
					    "18446744073709551617",
					    "80a",
					    "1e3",
					    "100000",
					    "65536:1",
					    "one"};

	(void)state;
	assert_int_equal(rf_port_of("1"), 1);
	assert_int_equal(rf_port_of("6379"), 6379);
	assert_int_equal(rf_port_of("65535"), 65535);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(rf_port_of(wrong[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_at_the_last_colon),
		cmocka_unit_test(copies_a_host_that_there_is_room_for),
		cmocka_unit_test(reads_ports),
	};

	return cmocka_run_group_tests_name("host and port", tests, NULL, NULL);
}
