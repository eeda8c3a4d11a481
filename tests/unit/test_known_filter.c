// SPDX-License-Identifier: GPL-2.0
/*
 * The known filter: which sources it reports as absent, what counters hold at their limits, how
 * many strangers are taken for known, and what another CPU may do between two steps. The explorer
 * tests all interleavings.
 */
#include <linux/types.h>

static void before_operation(void);
#define RF_ATOMIC_YIELD() before_operation()

#include "unit.h"

#include "ringfence/known_filter.h"

/* ---- another CPU ---- */

static int operations; /* until the other CPU comes; < 0: it does not */
static void (*other)(void);

static void before_operation(void)
{
	if (operations < 0 || operations--)
		return;
	other();
}

static struct rf_known_filter line;

/* Counters 0, 9 and 63 of the line; the next shares the first; the last has one thrice. */
#define SOURCE 0771100ULL
#define NEIGHBOUR 0556600ULL
#define THRICE 0424242ULL

static void start(void)
{
	operations = -1;
	memset(&line, 0, sizeof(line));
}

static uint32_t count_at(uint64_t hash, int i)
{
	return line.count[rf_known_filter_word(hash, i)] >> rf_known_filter_up(hash, i) & 0xff;
}

/* All three counters of SOURCE. */
static void assert_counts(uint32_t count)
{
	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++)
		assert_int_equal(count_at(SOURCE, i), count);
}

static void set_counts(uint8_t count)
{
	memset(&line, count, sizeof(line));
}

/* ---- known sources ---- */

static void is_there_between_add_and_remove(void **state)
{
	static const uint64_t hashes[] = {SOURCE, NEIGHBOUR, THRICE, 0, ~0ULL};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(hashes); i++) {
		start();
		assert_false(rf_known_filter_has(&line, hashes[i]));
		for (int windows = 1; windows <= 32; windows++) {
			rf_known_filter_add(&line, hashes[i]);
			assert_true(rf_known_filter_has(&line, hashes[i]));
		}
		for (int windows = 32; windows > 0; windows--) {
			assert_true(rf_known_filter_has(&line, hashes[i]));
			rf_known_filter_remove(&line, hashes[i]);
		}
		assert_false(rf_known_filter_has(&line, hashes[i]));
	}
}

static void neighbours_do_not_remove_each_other(void **state)
{
	(void)state;
	start();
	rf_known_filter_add(&line, SOURCE);
	rf_known_filter_add(&line, NEIGHBOUR);
	rf_known_filter_remove(&line, NEIGHBOUR);
	assert_true(rf_known_filter_has(&line, SOURCE));
	assert_false(rf_known_filter_has(&line, NEIGHBOUR));
	assert_counts(1);
}

/* One counter at 0 is enough, wherever the counter is in its word. */
static void is_absent_by_each_of_its_counters(void **state)
{
	(void)state;
	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++) {
		start();
		set_counts(1);
		line.count[rf_known_filter_word(SOURCE, i)] -= 1ULL
							       << rf_known_filter_up(SOURCE, i);
		assert_false(rf_known_filter_has(&line, SOURCE));
	}
}

/* ---- counters at their limits ---- */

static void a_counter_never_runs_over(void **state)
{
	struct rf_known_filter full;

	(void)state;
	start();
	for (int i = 0; i < 1000; i++)
		rf_known_filter_add(&line, SOURCE);
	assert_counts(192);
	full = line;
	set_counts(255);
	for (int i = 0; i < 1000; i++)
		rf_known_filter_add(&line, SOURCE);
	assert_counts(255);
	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++)
		full.count[rf_known_filter_word(SOURCE, i)] &=
			~(0xffULL << rf_known_filter_up(SOURCE, i));
	for (int i = 0; i < 8; i++)
		assert_int_equal(full.count[i], 0);
}

static void a_counter_that_is_stuck_stays(void **state)
{
	(void)state;
	for (uint32_t from = RF_KNOWN_FILTER_STUCK; from < 256; from++) {
		start();
		set_counts(from);
		for (int i = 0; i < 1000; i++)
			rf_known_filter_remove(&line, SOURCE);
		assert_counts(from);
		assert_true(rf_known_filter_has(&line, SOURCE));
	}
	set_counts(RF_KNOWN_FILTER_STUCK - 1);
	rf_known_filter_remove(&line, SOURCE);
	assert_counts(RF_KNOWN_FILTER_STUCK - 2);
}

/* ---- races with another CPU ---- */

static void adds(void)
{
	rf_known_filter_add(&line, NEIGHBOUR);
}

static void removes(void)
{
	rf_known_filter_remove(&line, NEIGHBOUR);
}

static void counts_are_lost_by_nobody(void **state)
{
	(void)state;
	for (int step = 0; step < 2 * RF_KNOWN_FILTER_HASHES; step++)
		for (int i = 0; i < 4; i++) {
			start();
			set_counts(9);
			other = i % 2 ? adds : removes;
			operations = step;
			if (i / 2)
				rf_known_filter_add(&line, SOURCE);
			else
				rf_known_filter_remove(&line, SOURCE);
			assert_int_equal(count_at(SOURCE, 0),
					 9 + (i % 2 ? 1 : -1) + (i / 2 ? 1 : -1));
			assert_int_equal(count_at(SOURCE, 1), i / 2 ? 10 : 8);
			assert_int_equal(count_at(NEIGHBOUR, 1), i % 2 ? 10 : 8);
		}
}

#define BURST 60
static int windows; /* of the other source */

static void arrives_often(void)
{
	for (int i = 0; i < BURST; i++, windows++)
		rf_known_filter_add(&line, NEIGHBOUR);
}

/*
 * A counter reaches its bounds between its reading and the subtraction: an addition that was
 * skipped is not subtracted later, so a source that still has a window is never absent.
 */
static void none_is_absent_after_a_counter_was_stuck(void **state)
{
	(void)state;
	for (uint32_t from = 100; from < 256; from++)
		for (int step = 0; step < 2; step++) {
			start();
			line.count[0] = from;
			windows = 0;
			other = arrives_often;
			operations = step;
			rf_known_filter_remove(&line, SOURCE);
			operations = -1;
			for (uint32_t i = 1; i < from; i++)
				rf_known_filter_remove(&line, SOURCE);
			assert_int_equal(windows, BURST);
			for (int i = windows; i > 0; i--) {
				assert_true(line.count[0] & 0xff);
				rf_known_filter_remove(&line, NEIGHBOUR);
			}
		}
}

/* ---- a filter that fills up ---- */

#define LINES_LOG 13
#define LINES (1U << LINES_LOG)
#define FAMILY (LINES / 2 * RF_KNOWN_FILTER_SHARE) /* windows of each family, all in use */
#define ASKED 200000
#define TURNS 4000000

static struct rf_known_filter lines[LINES];
static uint64_t known[2 * FAMILY]; /* hashes: of each family half */

static struct rf_known_filter *line_of(uint64_t hash, int is_ipv6)
{
	return &lines[rf_known_filter_place(hash, 64 - LINES_LOG, is_ipv6)];
}

static void set_key(__u64 key[3], uint64_t *random)
{
	for (int i = 0; i < 3; i++)
		key[i] = unit_random(random) | 1;
}

static uint64_t random_hash(uint64_t *random, int is_ipv6, const __u64 key[3])
{
	const __u64 source[2] = {is_ipv6 ? unit_random(random) : (uint32_t)unit_random(random)};

	return rf_known_filter_hash(source, is_ipv6, key);
}

static void move_in(uint32_t index, uint64_t *random, const __u64 key[3])
{
	const int is_ipv6 = index >= FAMILY;

	known[index] = random_hash(random, is_ipv6, key);
	rf_known_filter_add(line_of(known[index], is_ipv6), known[index]);
}

static void move_out(uint32_t index)
{
	rf_known_filter_remove(line_of(known[index], index >= FAMILY), known[index]);
}

static void assert_all_are_there(void)
{
	for (uint32_t i = 0; i < 2 * FAMILY; i++)
		assert_true(rf_known_filter_has(line_of(known[i], i >= FAMILY), known[i]));
}

/* The share in hundredths of a percent, for the family that has more. */
static uint64_t strangers_taken_for_known(uint64_t *random, const __u64 key[3])
{
	uint64_t most = 0;

	for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
		uint64_t taken = 0;

		for (int i = 0; i < ASKED; i++) {
			const uint64_t hash = random_hash(random, is_ipv6, key);

			taken += rf_known_filter_has(line_of(hash, is_ipv6), hash);
		}
		most = taken * 10000 / ASKED > most ? taken * 10000 / ASKED : most;
	}
	return most;
}

/* All windows are in use; then as many sources again come and go, several times over. */
static void few_strangers_are_taken_for_known(void **state)
{
	uint64_t random = unit_seed(), at_first, later;
	__u64 key[3];

	(void)state;
	operations = -1;
	set_key(key, &random);
	memset(lines, 0, sizeof(lines));
	for (uint32_t i = 0; i < 2 * FAMILY; i++)
		move_in(i, &random, key);
	assert_all_are_there();
	at_first = strangers_taken_for_known(&random, key);
	for (uint32_t i = 0; i < TURNS; i++) {
		const uint32_t index = unit_below(&random, 2 * FAMILY);

		assert_true(
			rf_known_filter_has(line_of(known[index], index >= FAMILY), known[index]));
		move_out(index);
		move_in(index, &random, key);
	}
	assert_all_are_there();
	later = strangers_taken_for_known(&random, key);
	print_message("%.2f %% of strangers are taken for known, and %.2f %% after %d turns\n",
		      at_first / 100.0, later / 100.0, TURNS);
	assert_in_range(at_first, 0, 599);
	assert_in_range(later, 0, 599);
}

/* Sources that came and went leave nothing behind. */
static void it_is_empty_again(void **state)
{
	uint64_t random = unit_seed();
	__u64 key[3];

	(void)state;
	operations = -1;
	set_key(key, &random);
	memset(lines, 0, sizeof(lines));
	for (uint32_t i = 0; i < 2 * FAMILY; i++)
		move_in(i, &random, key);
	for (uint32_t i = 0; i < 2 * FAMILY; i++)
		move_out(i);
	for (uint32_t i = 0; i < LINES; i++)
		for (int j = 0; j < 8; j++)
			assert_int_equal(lines[i].count[j], 0);
	assert_int_equal(strangers_taken_for_known(&random, key), 0);
}

/* IPv4 is as full as possible, and IPv6 is empty: the half of IPv6 is unchanged. */
static void families_have_lines_of_their_own(void **state)
{
	uint64_t random = unit_seed();
	__u64 key[3];

	(void)state;
	operations = -1;
	set_key(key, &random);
	memset(lines, 0, sizeof(lines));
	for (uint32_t i = 0; i < 4 * FAMILY; i++) {
		const uint64_t hash = random_hash(&random, 0, key);

		rf_known_filter_add(line_of(hash, 0), hash);
	}
	for (int i = 0; i < ASKED; i++) {
		const uint64_t hash = random_hash(&random, 1, key);

		assert_false(rf_known_filter_has(line_of(hash, 1), hash));
	}
}

/* ---- the hash ---- */

#define KEYS 50
#define NETWORK 65536
#define STRIDES 4
#define NETWORK_LINES (NETWORK / RF_KNOWN_FILTER_SHARE)

/* The addresses of a /16, and of similar networks, are spread over the lines by any key. */
static void spreads_the_sources_of_a_network(void **state)
{
	static const uint64_t strides[STRIDES] = {1, 1 << 8, 1 << 16, 1ULL << 32};
	static uint16_t held[2 * NETWORK_LINES];
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < KEYS * STRIDES * 2; i++) {
		uint32_t crowded = 0;
		__u64 key[3];

		set_key(key, &random);
		memset(held, 0, sizeof(held));
		for (uint64_t j = 0; j < NETWORK; j++) {
			const __u64 source[2] = {10 + j * strides[i / 2 % STRIDES]};
			const uint64_t hash = rf_known_filter_hash(source, i % 2, key);

			crowded += held[rf_known_filter_place(hash, 64 - 14, i % 2)]++ >=
				   2 * RF_KNOWN_FILTER_SHARE;
		}
		/* By chance 1 in 4000. */
		if (crowded > NETWORK / 500)
			fail_msg("RF_TEST_SEED=%" PRIu64 ": stride %" PRIu64 ": %u crowded",
				 unit_seed(), strides[i / 2 % STRIDES], crowded);
	}
}

/* The same source in another family is another source. */
static void tells_families_apart(void **state)
{
	uint64_t random = unit_seed();
	__u64 key[3];

	(void)state;
	set_key(key, &random);
	for (uint32_t i = 0; i < 1000; i++) {
		const __u64 source[2] = {unit_random(&random) & UINT32_MAX};

		assert_int_not_equal(rf_known_filter_hash(source, 0, key),
				     rf_known_filter_hash(source, 1, key));
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("a source is in the filter from its first window to its last",
		 is_there_between_add_and_remove),
	UNIT_ROW("sources that share counters do not remove each other",
		 neighbours_do_not_remove_each_other),
	UNIT_ROW("a source is absent by each of its counters", is_absent_by_each_of_its_counters),
	UNIT_ROW("a counter of the filter never overflows", a_counter_never_runs_over),
	UNIT_ROW("a counter of the filter that is stuck stays stuck",
		 a_counter_that_is_stuck_stays),
	UNIT_ROW("two CPUs count in the filter, and no count is lost", counts_are_lost_by_nobody),
	UNIT_ROW("no source is absent after a counter was stuck",
		 none_is_absent_after_a_counter_was_stuck),
	UNIT_ROW("few strangers are taken for known after many sources came and went",
		 few_strangers_are_taken_for_known),
	UNIT_ROW("the filter is empty after all sources have gone", it_is_empty_again),
	UNIT_ROW("IPv4 and IPv6 have lines of their own in the filter",
		 families_have_lines_of_their_own),
	UNIT_ROW("sources of one network are spread over the filter",
		 spreads_the_sources_of_a_network),
	UNIT_ROW("the filter tells IPv4 and IPv6 apart", tells_families_apart),
};

int main(void)
{
	return cmocka_run_group_tests_name("known_filter", tests, NULL, NULL);
}
