// SPDX-License-Identifier: GPL-2.0
/*
 * Link-local sources through the loaded program: all hosts of a link have theirs in fe80::/64, and
 * each is a source, in windows, bans and what makes a source known.
 */
#include "bursts.h"

#include "rules/policy.h"

static struct rf_address address_of(const char *text)
{
	struct rf_address address = {.version = 6};

	assert_int_equal(inet_pton(AF_INET6, text, address.word), 1);
	return address;
}

/* The window that the readers of the fence find, and how they print it. */
static struct rf_source shown(const struct program *program, const char *limit, const char *source,
			      const char *as)
{
	struct rf_address address = address_of(source);
	struct rf_error error = {};
	struct rf_prefix prefix;
	struct rf_source state;
	char text[RF_PREFIX_TEXT_SIZE];

	assert_done(rf_fence_source(&program->fence, program_policy_of(program, limit), &address,
				    &state, &error),
		    &error);
	prefix = rf_limit_source(&program_bank(program)->limit[program_slot(program, limit)],
				 &address);
	rf_format_prefix(&prefix, text);
	assert_string_equal(text, as);
	return state;
}

static void each_neighbour_has_a_window(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 3/10s\n");
	assert_int_equal(burst6(program, "fe80::1", 10), 3);
	assert_int_equal(burst6(program, "fe80::2", 10), 3);
	assert_int_equal(burst6(program, "fe80:0:0:1::2", 10), 3);
	assert_int_equal(burst6(program, "febf:ffff::1:0:0:1", 10), 3);
	assert_int_equal(burst6(program, "febf:ffff::2:0:0:1", 10), 3);
	assert_int_equal(shown(program, "any", "fe80::2", "fe80::2").dropped, 7);
	assert_int_equal(shown(program, "any", "fe80::2", "fe80::2").passed, 3);
}

static void all_other_addresses_are_grouped(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 3/10s\n");
	assert_int_equal(burst6(program, "fe7f:ffff::1", 2), 2);
	assert_int_equal(burst6(program, "fe7f:ffff::2", 2), 1);
	assert_int_equal(burst6(program, "fec0::1", 2), 2);
	assert_int_equal(burst6(program, "fec0::2", 2), 1);
	assert_int_equal(burst6(program, "2001:db8::fe80", 2), 2);
	assert_int_equal(burst6(program, "2001:db8::1", 2), 1);
	assert_int_equal(shown(program, "any", "fec0::2", "fec0::/64").passed, 3);
}

static void per6_changes_nothing_but_0(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add site rate 3/10s per6 /48 match udp\n"
			       "limit add bit rate 30/10s per6 /1\n"
			       "limit add world rate 8/10s per6 /0\n");
	assert_int_equal(burst6(program, "fe80::1", 10), 3);
	assert_int_equal(burst6(program, "fe80::2", 10), 3);
	assert_int_equal(burst6(program, "2001:db8::1", 1), 1);
	assert_int_equal(burst6(program, "fe80::3", 10), 1);
	assert_int_equal(shown(program, "site", "fe80::1", "fe80::1").passed, 3);
	assert_int_equal(shown(program, "bit", "fe80::2", "fe80::2").passed, 3);
	assert_int_equal(shown(program, "world", "fe80::2", "::/0").passed, 8);
}

static void a_ban_is_of_one_neighbour(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};
	struct rf_bans bans;
	struct rf_prefix banned;
	char text[RF_PREFIX_TEXT_SIZE];

	program_apply(program, "limit add any rate 3/10s ban 1h all\n");
	assert_int_equal(burst6(program, "fe80::1", 10), 3);
	assert_int_equal(burst6(program, "fe80::2", 3), 3);
	assert_done(rf_fence_bans(&program->fence, &bans, &error), &error);
	assert_int_equal(bans.count, 1);
	banned = rf_ban_prefix(&bans.row[0]);
	rf_format_prefix(&banned, text);
	assert_string_equal(text, "fe80::1");
	rf_bans_free(&bans);
}

/*
 * Known neighbours retain their windows; those past the newcomers rate share one, so all are
 * bounded.
 */
static void newcomers_share_the_window_of_their_48(void **state)
{
	struct program *program = *state;

	program_apply(program, "newcomers rate 2/10s then aggregate\n"
			       "limit add any rate 3/10s\n");
	assert_int_equal(burst6(program, "fe80::1", 2), 2);
	assert_int_equal(burst6(program, "fe80::2", 2), 2);
	assert_int_equal(burst6(program, "fe80::3", 2), 2);
	assert_int_equal(burst6(program, "fe80::4", 2), 1);
	assert_int_equal(burst6(program, "fe80::5", 2), 0);
	assert_int_equal(burst6(program, "fe80::1", 2), 1);
	assert_int_equal(burst6(program, "fe80::2", 2), 1);
}

/* The limit before grouped by another prefix, which makes no difference to a neighbour. */
static void a_known_neighbour_stays_known(void **state)
{
	struct program *program = *state;
	const struct rf_address known = {.version = 6, .word = {htonl(0xfe800000), 0, 0, htonl(1)}};
	const struct rf_address other = {.version = 6, .word = {htonl(0xfe800000), 0, 0, htonl(2)}};

	program_apply(program, "newcomers rate 1/10s then drop\n"
			       "limit add udp rate 3/10s per6 /48 match udp\n");
	assert_int_equal(burst6(program, "fe80::1", 1), 1);
	program_apply(program, "newcomers rate 1/10s then drop\n"
			       "limit add udp rate 3/10s per6 /48 match udp\n"
			       "limit add any rate 30/10s\n");
	assert_int_equal(burst6(program, "fe80::2", 1), 0);
	assert_int_equal(burst6(program, "fe80::1", 1), 1);
	assert_int_equal(shown(program, "any", "fe80::1", "fe80::1").passed, 1);
	assert_true(rf_fence_is_known(&program->fence, program_policy_of(program, "any"), &known));
	assert_false(rf_fence_is_known(&program->fence, program_policy_of(program, "any"), &other));
}

/* More neighbours than a fence has windows: each place is freed under the key that it was made. */
static void windows_of_neighbours_are_evicted(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add any rate 3/10s\n");
	for (int i = 0; i < 2 * SOURCES; i++) {
		char source[INET6_ADDRSTRLEN];

		snprintf(source, sizeof(source), "fe80::%x", i + 1);
		assert_int_equal(burst6(program, source, 1), 1);
	}
	counters = program_counters(program);
	assert_int_equal(counters.inserts[1], 2 * SOURCES);
	assert_int_equal(counters.evictions[1], SOURCES);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, bursts_setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_neighbour_has_a_window),
		TEST(all_other_addresses_are_grouped),
		TEST(per6_changes_nothing_but_0),
		TEST(a_ban_is_of_one_neighbour),
		TEST(newcomers_share_the_window_of_their_48),
		TEST(a_known_neighbour_stays_known),
		TEST(windows_of_neighbours_are_evicted),
	};

	return cmocka_run_group_tests_name("link-local sources", tests, NULL, NULL);
}
