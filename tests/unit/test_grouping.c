// SPDX-License-Identifier: GPL-2.0
/* How limits group sources, for readers: the length of a source's network, and the masked address.
 */
#include "refusal.h"

#include <stdio.h>

#include "rules/policy.h"

struct row {
	const char *source;
	unsigned int per4, per6;
	const char *grouped;
};

static void group(void **state)
{
	const struct row *row = *state;
	struct rf_limit limit = {
		.rate = 1, .window_ns = 1, .cells = RF_CELLS, .per4 = row->per4, .per6 = row->per6};
	struct rf_prefix prefix;
	struct rf_address address;
	struct rf_policy policy;
	struct rf_error error = {};
	char text[RF_PREFIX_TEXT_SIZE];

	assert_accepted(rf_parse_address(row->source, &address, &error), &error);
	rf_policy_compile(&limit, 1, 4000000, &policy);
	assert_accepted(rf_parse_prefix(row->source, &prefix, &error), &error);
	assert_int_equal(rf_limit_length(&limit, &prefix),
			 rf_group_length(row->per4, row->per6, &address));
	rf_policy_mask(&policy, &address);
	prefix = rf_limit_source(&limit, &address);
	rf_format_prefix(&prefix, text);
	assert_string_equal(text, row->grouped);
}

#define GROUP(title, ...) UNIT_ROW_OF("groups " title, group, (&(struct row){__VA_ARGS__}))

int main(void)
{
	const struct CMUnitTest tests[] = {
		GROUP("IPv4 by per", "192.0.2.77", 24, 64, "192.0.2.0/24"),
		GROUP("IPv4 by address", "192.0.2.77", 32, 64, "192.0.2.77"),
		GROUP("0.0.0.0 as any other", "0.0.0.0", 32, 64, "0.0.0.0"),
		GROUP("IPv4 link-local by per", "169.254.1.1", 16, 64, "169.254.0.0/16"),
		GROUP("IPv6 by per6", "2001:db8::1", 32, 64, "2001:db8::/64"),
		GROUP("IPv6 by a part of a word", "2001:db8:ffff::1", 32, 41, "2001:db8:ff80::/41"),
		GROUP("link-local by address", "fe80::1", 32, 64, "fe80::1"),
		GROUP("link-local by address for any per6", "fe80::1:2:3:4", 32, 1,
		      "fe80::1:2:3:4"),
		GROUP("link-local of the last network", "febf:ffff::7", 32, 48, "febf:ffff::7"),
		GROUP("what is before link-local by per6", "fe7f:ffff::7", 32, 64,
		      "fe7f:ffff::/64"),
		GROUP("what is after link-local by per6", "fec0::7", 32, 64, "fec0::/64"),
		GROUP("link-local as all else by /0", "fe80::1", 32, 0, "::/0"),
	};

	return cmocka_run_group_tests_name("grouping", tests, NULL, NULL);
}
