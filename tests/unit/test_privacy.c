// SPDX-License-Identifier: GPL-2.0
/* What may be told of addresses in a text. */
#include "unit.h"

#include "watch/privacy.h"

struct row {
	const char *text, *prefix, *none;
};

static void tell(void **state)
{
	const struct row *row = *state;
	const char *const want[] = {row->none, row->prefix, row->text};

	for (enum rf_told told = RF_TELL_NONE; told <= RF_TELL_FULL; told++) {
		char *got = rf_tell_text(told, row->text);

		assert_string_equal(got, want[told]);
		free(got);
	}
}

#define TELLS(title, ...) UNIT_ROW_OF("tells " title, tell, (&(struct row){__VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	TELLS("text without an address as it is", "3 sources over a limit; see 4.5",
	      "3 sources over a limit; see 4.5", "3 sources over a limit; see 4.5"),
	TELLS("nothing of nothing", "", "", ""),
	TELLS("the network of an address", "192.0.2.66", "192.0.2.0/24", "a source"),
	TELLS("it within a sentence", "worst 192.0.2.66, 198.51.100.7: 5.",
	      "worst 192.0.2.0/24, 198.51.100.0/24: 5.", "worst a source, a source: 5."),
	TELLS("it at the end of a sentence", "by 192.0.2.66.", "by 192.0.2.0/24.", "by a source."),
	TELLS("a prefix", "2001:db8:1:2::/64 x", "2001:db8:1::/48 x", "a source x"),
	TELLS("an address that ends with colons", "2001:db8:1:2::", "2001:db8:1::/48", "a source"),
	TELLS("a network that is told", "10.0.0.0/8", "10.0.0.0/8", "a source"),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
