// SPDX-License-Identifier: GPL-2.0
/*
 * The presence filter: who is known in which generation, how lines come into a new one, and what
 * another CPU may do between two steps of that. All interleavings are the explorer's.
 */
#include <linux/types.h>

static void before_operation(void);
#define RF_ATOMIC_YIELD() before_operation()

#include "unit.h"

#include "bpf/presence.h"

static const uint32_t generations[] = {0, 1, 2, 7, 0x7ffffffe, 0x7fffffff, 0xfffffffe, 0xffffffff};

/* ---- another CPU ---- */

static int operations; /* until the other CPU comes; < 0: it does not */
static void (*other)(void);

static void before_operation(void)
{
	if (operations < 0 || operations--)
		return;
	other();
}

static struct rf_presence line;
static uint32_t present; /* generation of the other CPU */

#define MARKED 0x123456789abcdefULL
#define OTHER_MARKED 0xfedcba987654321ULL

static void enter(uint32_t generation)
{
	rf_presence_enter(&line, rf_load(&line.tag), generation);
}

/* As the data path has it: the line is entered first. */
static void mark(uint64_t hash, uint32_t generation)
{
	enter(generation);
	rf_presence_mark(&line, hash);
}

static int is_known(uint64_t hash, uint32_t generation)
{
	enter(generation);
	return rf_presence_has(&line, hash);
}

static enum rf_presence_state state_of_line(void)
{
	return (uint32_t)line.tag;
}

static void start(uint32_t generation)
{
	operations = -1;
	line = (struct rf_presence){.tag = rf_presence_tag(generation, RF_PRESENCE_READY)};
}

/* ---- one CPU ---- */

static void is_known_for_two_generations(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations); i++) {
		const uint32_t first = generations[i];

		start(first);
		assert_false(is_known(MARKED, first));
		mark(MARKED, first);
		assert_true(is_known(MARKED, first));
		assert_false(is_known(OTHER_MARKED, first));
		assert_true(is_known(MARKED, first + 1));
		assert_false(is_known(OTHER_MARKED, first + 1));
		assert_false(is_known(MARKED, first + 2));
	}
}

static void is_known_as_long_as_it_is_marked(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations); i++) {
		start(generations[i]);
		for (uint32_t j = 0; j < 10; j++) {
			assert_int_equal(is_known(MARKED, generations[i] + j), j > 0);
			mark(MARKED, generations[i] + j);
		}
	}
}

/* A line that nobody touched for several generations has forgotten all. */
static void forgets_while_nobody_looks(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations); i++) {
		for (uint32_t later = 1; later < 9; later++) {
			const uint32_t first = generations[i];

			start(first);
			mark(OTHER_MARKED, first - 1); /* behind: into the present one */
			mark(MARKED, first);
			assert_int_equal(is_known(MARKED, first + later), later == 1);
			assert_int_equal(is_known(OTHER_MARKED, first + later), later == 1);
			mark(OTHER_MARKED, first + later);
			assert_true(is_known(OTHER_MARKED, first + later + 1));
			assert_false(is_known(MARKED, first + later + 1));
		}
	}
}

/* A CPU that has an older generation still does not turn a line back. */
static void is_not_turned_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations); i++) {
		const uint32_t now = generations[i] + 5;

		start(now);
		mark(MARKED, now);
		for (uint32_t behind = 1; behind < 5; behind++) {
			const struct rf_presence before = line;

			assert_true(is_known(MARKED, now - behind));
			assert_memory_equal(&line, &before, sizeof(line));
		}
		mark(OTHER_MARKED, now - 1);
		assert_true(is_known(OTHER_MARKED, now + 1));
	}
}

/* ---- states ---- */

/* What a line says that was left in that state, in its generation and the ones after. */
static void keeps_what_a_state_says(void **state)
{
	static const struct {
		enum rf_presence_state was;
		bool known[3]; /* one that was not marked */
	} rows[] = {
		{RF_PRESENCE_READY, {false, false, false}},
		{RF_PRESENCE_CLEARING, {true, true, true}},
		{RF_PRESENCE_MISSED, {true, true, true}},
		{RF_PRESENCE_ALL, {true, true, false}},
		{RF_PRESENCE_ALL_ONCE, {true, false, false}},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		start(7);
		line.tag = rf_presence_tag(7, rows[i].was);
		for (int later = 0; later < 3; later++)
			assert_int_equal(is_known(MARKED, 7 + later), rows[i].known[later]);
		/* Missed marks are no more once two generations have come. */
		line.tag = rf_presence_tag(7, rows[i].was);
		assert_int_equal(is_known(MARKED, 9), rows[i].known[2]);
	}
}

static void marks(void)
{
	mark(MARKED, present);
}

/* The other CPU marks at each step of the clearing: known in this generation and in the next. */
static void loses_no_mark_while_clearing(void **state)
{
	(void)state;
	for (uint32_t age = 1; age < 4; age++) {
		for (int step = 0; step < 12; step++) {
			start(7);
			mark(OTHER_MARKED, 7);
			present = 7 + age;
			other = marks;
			operations = step;
			enter(present);
			operations = -1;
			if (step >= 2 + (age == 1 ? 3 : 6) + 1)
				continue; /* it was over */
			assert_true(is_known(MARKED, present));
			assert_int_equal(is_known(OTHER_MARKED, present),
					 age == 1 || state_of_line() != RF_PRESENCE_READY);
			assert_true(is_known(MARKED, present + 1));
			mark(OTHER_MARKED, present + 1);
			assert_false(is_known(MARKED, present + 3));
		}
	}
}

static void enters(void)
{
	enter(present);
}

static void enters_and_marks(void)
{
	enter(present);
	mark(MARKED, present);
}

/* Two CPUs bring a line into the same generation, or one of them into the one before. */
static void is_entered_by_two(void **state)
{
	void (*const others[])(void) = {enters, enters_and_marks};

	(void)state;
	for (int i = 0; i < 2 * 3 * 2 * 12; i++) {
		const uint32_t age = 1 + i / 2 % 3, ahead = i / 6 % 2;

		start(7);
		mark(OTHER_MARKED, 7);
		present = 7 + age + ahead;
		other = others[i % 2];
		operations = i / 12;
		enter(7 + age);
		operations = -1;
		enter(present);
		assert_int_equal(line.tag >> 32, present);
		if (present == 8)
			assert_true(is_known(OTHER_MARKED, present));
		if (other == enters_and_marks && i / 12 < 5) {
			assert_true(is_known(MARKED, present));
			assert_true(is_known(MARKED, present + 1));
		}
	}
}

/* The line is found in the older generation, and brought into that by the other CPU meanwhile. */
static void is_entered_though_another_was_first(void **state)
{
	(void)state;
	start(7);
	line.tag = rf_presence_tag(8, RF_PRESENCE_CLEARING);
	rf_presence_enter(&line, rf_presence_tag(7, RF_PRESENCE_READY), 9);
	assert_int_equal(line.tag >> 32, 9);
	rf_presence_mark(&line, MARKED);
	assert_true(is_known(MARKED, 10));
}

/* The CPU that clears for the generation before is not done: what it clears yet may be marks. */
static void is_cleared_late(void **state)
{
	static const enum rf_presence_state states[] = {RF_PRESENCE_CLEARING, RF_PRESENCE_MISSED};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(states); i++) {
		start(7);
		line.tag = rf_presence_tag(8, states[i]);
		mark(MARKED, 9);
		rf_presence_renew(&line, rf_presence_tag(6, RF_PRESENCE_READY), 8);
		assert_true(is_known(MARKED, 9));
		assert_true(is_known(MARKED, 10));
		assert_false(is_known(MARKED, 11));
	}
}

/* ---- how full it gets ---- */

#define LINES_LOG 13
#define LINES (1U << LINES_LOG)
#define ASKED 200000

static struct rf_presence lines[LINES];

static struct rf_presence *line_of(uint64_t hash)
{
	return &lines[hash >> (64 - LINES_LOG)];
}

static void set_key(__u64 key[3], uint64_t *random)
{
	for (int i = 0; i < 3; i++)
		key[i] = unit_random(random) | 1;
}

/* As many sources as a line is for, in either generation: so many strangers are taken for known. */
static void takes_few_strangers_for_known(void **state)
{
	uint64_t random = unit_seed(), known = 0;
	__u64 key[3], source[2] = {0};

	(void)state;
	set_key(key, &random);
	memset(lines, 0, sizeof(lines));
	for (uint32_t i = 0; i < 2 * RF_PRESENCE_SHARE * LINES; i++) {
		const uint32_t generation = i / (RF_PRESENCE_SHARE * LINES);
		uint64_t hash;

		source[0] = unit_random(&random) & UINT32_MAX;
		hash = rf_presence_hash(source, 1, 0, key);
		rf_presence_enter(line_of(hash), line_of(hash)->tag, generation);
		rf_presence_mark(line_of(hash), hash);
		assert_true(rf_presence_has(line_of(hash), hash));
	}
	for (int i = 0; i < ASKED; i++) {
		uint64_t hash;

		source[0] = unit_random(&random) & UINT32_MAX;
		hash = rf_presence_hash(source, 1, 0, key);
		known += rf_presence_has(line_of(hash), hash);
	}
	print_message("%.2f %% of strangers are taken for known\n", known * 100.0 / ASKED);
	assert_in_range(known, 0, ASKED / 20);
}

/* ---- the hash ---- */

#define KEYS 50
#define NETWORK 65536
#define STRIDES 4
#define NETWORK_LINES (NETWORK / RF_PRESENCE_SHARE)

/* The addresses of a /16 or of what is like it are spread over the lines, by any key. */
static void spreads_the_sources_of_a_network(void **state)
{
	static const uint64_t strides[STRIDES] = {1, 1 << 8, 1 << 16, 1ULL << 32};
	static uint16_t held[NETWORK_LINES];
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < KEYS * STRIDES; i++) {
		uint32_t crowded = 0;
		__u64 key[3];

		set_key(key, &random);
		memset(held, 0, sizeof(held));
		for (uint64_t j = 0; j < NETWORK; j++) {
			const __u64 source[2] = {10 + j * strides[i % STRIDES]};
			uint64_t hash = rf_presence_hash(source, 1, 0, key);

			crowded += held[hash >> 52]++ >= 2 * RF_PRESENCE_SHARE;
		}
		/* As chance would have it 1 in 4000. */
		if (crowded > NETWORK / 500)
			fail_msg("RF_TEST_SEED=%" PRIu64 ": stride %" PRIu64 ": %u crowded",
				 unit_seed(), strides[i % STRIDES], crowded);
	}
}

/* One source under several limits, or of the other family, is several. */
static void tells_limits_apart(void **state)
{
	const __u64 source[2] = {0x0100000aU};
	uint64_t random = unit_seed();
	uint64_t seen[64];
	__u64 key[3];
	int count = 0;

	(void)state;
	set_key(key, &random);
	for (uint32_t limit = 1; limit <= 32; limit++)
		for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
			const uint64_t hash = rf_presence_hash(source, limit, is_ipv6, key);

			for (int i = 0; i < count; i++)
				assert_int_not_equal(hash, seen[i]);
			seen[count++] = hash;
		}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("known in this generation and in the next", is_known_for_two_generations),
	UNIT_ROW("known as long as it is marked", is_known_as_long_as_it_is_marked),
	UNIT_ROW("forgotten while nobody looks", forgets_while_nobody_looks),
	UNIT_ROW("not turned back", is_not_turned_back),
	UNIT_ROW("what each state says of later generations", keeps_what_a_state_says),
	UNIT_ROW("no mark is lost while a line is cleared", loses_no_mark_while_clearing),
	UNIT_ROW("entered by two CPUs", is_entered_by_two),
	UNIT_ROW("entered though another was first", is_entered_though_another_was_first),
	UNIT_ROW("cleared late, by a CPU of the generation before", is_cleared_late),
	UNIT_ROW("few strangers are taken for known", takes_few_strangers_for_known),
	UNIT_ROW("a network's sources are spread", spreads_the_sources_of_a_network),
	UNIT_ROW("limits and families are told apart", tells_limits_apart),
};

int main(void)
{
	return cmocka_run_group_tests_name("presence", tests, NULL, NULL);
}
