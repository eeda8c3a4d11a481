// SPDX-License-Identifier: GPL-2.0
/*
 * The table of bans on one CPU: which ban is found, when a ban expires, and how many bans fit. The
 * explorer tests how CPUs affect each other.
 */
#include "unit.h"

#include "ringfence/ban_table.h"

#define NOW 1000
#define UNTIL 2000

static const __u64 key[3] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
static struct rf_ban_set table[RF_BAN_SETS];

static int setup(void **state)
{
	(void)state;
	memset(table, 0, sizeof(table));
	return 0;
}

static struct rf_ban ban_of(__u64 high, __u64 low, __u32 limit_id, int is_ipv6, __u64 since)
{
	return (struct rf_ban){
		.source = {high, low}, .whose = rf_ban_whose(limit_id, is_ipv6), .since = since};
}

static __u64 start(struct rf_ban whom, __u64 until)
{
	const __u64 hash = rf_ban_hash(&whom, key);

	return rf_ban_start(&table[rf_ban_place(hash)], &whom, rf_ban_tag(hash), until);
}

static __u64 find(struct rf_ban whom, __u64 now)
{
	const __u64 hash = rf_ban_hash(&whom, key);

	return rf_ban_find(&table[rf_ban_place(hash)], &whom, rf_ban_tag(hash), now);
}

static void a_ban_is_of_its_source_and_its_limit_alone(void **state)
{
	const struct rf_ban whom = ban_of(1, 2, 3, 0, NOW);
	const struct rf_ban others[] = {
		ban_of(0, 2, 3, 0, NOW), ban_of(1, 0, 3, 0, NOW),	   ban_of(1, 2, 4, 0, NOW),
		ban_of(1, 2, 3, 1, NOW), ban_of(1ULL << 32, 2, 3, 0, NOW), ban_of(2, 1, 3, 0, NOW),
	};

	(void)state;
	assert_int_equal(find(whom, NOW), 0);
	assert_int_equal(start(whom, UNTIL), UNTIL);
	assert_int_equal(find(whom, NOW), UNTIL);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(others); i++) {
		const __u64 hash = rf_ban_hash(&whom, key);

		assert_int_equal(find(others[i], NOW), 0);
		/* Not even in the set of the ban itself, with its tag. */
		assert_int_equal(
			rf_ban_find(&table[rf_ban_place(hash)], &others[i], rf_ban_tag(hash), NOW),
			0);
	}
}

static void a_ban_is_not_prolonged_and_ends_on_time(void **state)
{
	struct rf_ban whom = ban_of(1, 0, 3, 0, NOW);

	(void)state;
	assert_int_equal(start(whom, UNTIL), UNTIL);
	whom.since = NOW + 500;
	assert_int_equal(start(whom, UNTIL + 500), UNTIL);
	assert_int_equal(find(whom, UNTIL - 1), UNTIL);
	assert_int_equal(find(whom, UNTIL), 0);
	whom.since = UNTIL;
	assert_int_equal(start(whom, UNTIL + 500), UNTIL + 500);
	assert_int_equal(find(whom, UNTIL), UNTIL + 500);
}

static void a_full_set_takes_no_ban_until_one_is_over(void **state)
{
	struct rf_ban_set *set = &table[7];
	struct rf_ban whom;

	(void)state;
	for (int i = 0; i < RF_BAN_WAYS; i++) {
		whom = ban_of(i, 0, 3, 0, NOW);
		assert_int_equal(rf_ban_start(set, &whom, i % 3, UNTIL + i), UNTIL + i);
	}
	whom = ban_of(100, 0, 3, 0, UNTIL - 1);
	assert_int_equal(rf_ban_start(set, &whom, 1, UNTIL + 100), RF_BAN_FULL);
	for (int i = 0; i < RF_BAN_WAYS; i++) {
		const struct rf_ban other = ban_of(i, 0, 3, 0, 0);

		assert_int_equal(rf_ban_find(set, &other, i % 3, UNTIL - 1), UNTIL + i);
	}
	whom.since = UNTIL;
	assert_int_equal(rf_ban_start(set, &whom, 1, UNTIL + 100), UNTIL + 100);
	whom.source[0]++;
	assert_int_equal(rf_ban_start(set, &whom, 1, UNTIL + 100), RF_BAN_FULL);
}

static void a_ban_that_is_lifted_is_over(void **state)
{
	const struct rf_ban whom = ban_of(1, 0, 3, 1, NOW);
	struct rf_ban_set *set = &table[rf_ban_place(rf_ban_hash(&whom, key))];
	__u32 i = 0;
	__u64 word;

	(void)state;
	assert_int_equal(start(whom, UNTIL), UNTIL);
	while (!rf_ban_until(set->word[i]))
		i++;
	word = set->word[i];
	assert_true(rf_ban_lift(set, i, word));
	assert_int_equal(find(whom, NOW), 0);
	/* A word that was read earlier is not lifted. */
	assert_int_equal(start(whom, UNTIL), UNTIL);
	assert_false(rf_ban_lift(set, i, word));
	assert_int_equal(find(whom, NOW), UNTIL);
}

/* Consecutive sources, which a forger who does not know the key might choose. */
static void bans_for_a_quarter_of_the_table_all_find_room(void **state)
{
	__u32 made = 0, refused = 0;

	(void)state;
	for (__u32 i = 0; i < RF_BANS_MAX / 4; i++)
		assert_int_equal(start(ban_of((__u64)i << 24, 0, 3, 0, NOW), UNTIL), UNTIL);
	for (__u32 i = RF_BANS_MAX / 4; i < 2 * RF_BANS_MAX; i++) {
		made += start(ban_of((__u64)i << 16 | i, 0, 3, 0, NOW), UNTIL) == UNTIL;
		if (i == RF_BANS_MAX / 2 - 1)
			refused = RF_BANS_MAX / 4 - made;
	}
	made += RF_BANS_MAX / 4;
	print_message("of %u bans %u do not find room in half the table; twice as many as it holds "
		      "leave %u places empty\n",
		      RF_BANS_MAX / 2, refused, RF_BANS_MAX - made);
	assert_in_range(refused, 0, RF_BANS_MAX / 2 / 100);
	assert_in_range(made, RF_BANS_MAX * 95 / 100, RF_BANS_MAX);
}

static void the_table_takes_less_than_1_5_mib(void **state)
{
	(void)state;
	assert_in_range(sizeof(table), 1, 3 << 19); /* 1.5 MiB */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_ban_is_of_its_source_and_its_limit_alone, setup),
		cmocka_unit_test_setup(a_ban_is_not_prolonged_and_ends_on_time, setup),
		cmocka_unit_test_setup(a_full_set_takes_no_ban_until_one_is_over, setup),
		cmocka_unit_test_setup(a_ban_that_is_lifted_is_over, setup),
		cmocka_unit_test_setup(bans_for_a_quarter_of_the_table_all_find_room, setup),
		cmocka_unit_test(the_table_takes_less_than_1_5_mib),
	};

	return cmocka_run_group_tests_name("ban table", tests, NULL, NULL);
}
