// SPDX-License-Identifier: GPL-2.0
/*
 * Loans in the loaded program, with an injected clock: the packets of a source far below its limit
 * pass by its lease without a look-up of its window, the limit holds, and a loan outlasts changes
 * of the lists, but no change of the limits.
 */
#include "in_place.h"

#include <stdio.h>

#include "ringfence/loan.h"

#define SOURCE "10.0.0.1"
#define LIMIT 1000
#define PERIOD_NS (4096ULL * TICK_NS)
#define SETTLED_NS (START_NS - START_NS % PERIOD_NS + 2 * PERIOD_NS) /* a period starts */

static struct rf_source window_of(const struct program *program)
{
	const struct rf_key4 key = {htonl(0x0a000001), program_policy(program)->id};
	struct rf_source state = {};

	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(program->object->maps.windows4), &key, &state), 0);
	return state;
}

static uint32_t lent(const struct program *program)
{
	return rf_loans_now(window_of(program).window.loans);
}

static void set_limit(struct program *program, uint32_t flags)
{
	struct rf_limit limit = limit_of(LIMIT, 10 * NS_PER_S);

	limit.flags = flags;
	program_set_limit(program, &limit);
}

/* Sends a packet a second, until `until_ns`. */
static void send_slowly(struct program *program, uint64_t from_ns, uint64_t until_ns)
{
	for (uint64_t now_ns = from_ns; now_ns < until_ns; now_ns += NS_PER_S) {
		program_set_time(program, now_ns);
		assert_true(passes(program, SOURCE));
	}
}

/* A source that has become a resident, at the start of a period. */
static void settle(struct program *program, uint32_t flags)
{
	set_limit(program, flags);
	send_slowly(program, START_NS, SETTLED_NS);
	program_set_time(program, SETTLED_NS);
}

static void a_slow_source_is_answered_by_its_loan(void **state)
{
	struct program *program = *state;
	uint64_t head;

	settle(program, 0);
	assert_true(passes(program, SOURCE));
	head = window_of(program).window.head;
	assert_in_range(lent(program), 2, LIMIT / RF_LOAN_SHARE);
	send_slowly(program, SETTLED_NS + NS_PER_S, SETTLED_NS + PERIOD_NS);
	assert_int_equal(window_of(program).window.head, head);
	/* In the next period, a packet is checked against the window again. */
	program_set_time(program, SETTLED_NS + PERIOD_NS);
	assert_true(passes(program, SOURCE));
	assert_int_not_equal(window_of(program).window.head, head);
}

static uint32_t used(const struct program *program)
{
	return (uint32_t)window_of(program).window.head;
}

/* The window lends half of its room, then half of the remaining room, and so on. */
static void a_source_that_needs_more_borrows_again(void **state)
{
	const int packets = LIMIT / RF_LOAN_SHARE * 7 / 8;
	struct program *program = *state;
	uint32_t before;

	settle(program, 0);
	assert_true(passes(program, SOURCE));
	assert_in_range(lent(program), LIMIT / RF_LOAN_SHARE / 4, LIMIT / RF_LOAN_SHARE / 2);
	before = used(program);
	for (int i = 0; i < packets; i++)
		assert_true(passes(program, SOURCE));
	assert_in_range(used(program) - before, 1, 4);
	assert_in_range(lent(program), packets - 4, LIMIT / RF_LOAN_SHARE);
}

static void a_new_source_has_no_loan(void **state)
{
	struct program *program = *state;

	set_limit(program, 0);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
	assert_int_equal(window_of(program).window.loans, 0);
}

static void an_exact_limit_lends_nothing(void **state)
{
	struct program *program = *state;

	settle(program, RF_EXACT);
	assert_int_equal(window_of(program).window.loans, 0);
	program_set_time(program, SETTLED_NS + PERIOD_NS);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
}

/* What passed in the last TIME is at most LIMIT, however it was passed. */
static void a_source_that_turns_busy_keeps_to_its_limit(void **state)
{
	struct program *program = *state;
	int passed;

	settle(program, 0);
	send_slowly(program, SETTLED_NS, SETTLED_NS + PERIOD_NS + 4 * NS_PER_S);
	passed = burst(program, SOURCE, 2 * LIMIT);
	/* Ten more passed in the ten seconds before. */
	assert_in_range(passed, LIMIT - 10 - LIMIT / 8, LIMIT - 9);
}

static void a_change_of_the_lists_keeps_the_loan(void **state)
{
	struct program *program = *state;
	uint64_t head;

	program_apply(program, "limit add any rate 1000/10s\ndeny add 192.0.2.1\n");
	send_slowly(program, START_NS, SETTLED_NS);
	program_set_time(program, SETTLED_NS);
	assert_true(passes(program, SOURCE));
	head = window_of(program).window.head;
	assert_true(lent(program) > 0);
	change(program, RF_DENY, "192.0.2.2", RF_FOREVER);
	send_slowly(program, SETTLED_NS + NS_PER_S, SETTLED_NS + 4 * NS_PER_S);
	assert_int_equal(window_of(program).window.head, head);
	/* A new entry of the deny list applies despite the loan. */
	change(program, RF_DENY, SOURCE, RF_FOREVER);
	assert_false(passes(program, SOURCE));
	change(program, RF_DENY, SOURCE, 0);
	/* A change of the limit invalidates the loan. */
	program_apply(program, "limit add any rate 2000/10s\ndeny add 192.0.2.1\n");
	assert_true(passes(program, SOURCE));
	assert_int_not_equal(window_of(program).window.head, head);
}

#define RESIDENTS SOURCES

static const char *address(uint32_t network, int number)
{
	static char text[32];

	snprintf(text, sizeof(text), "%u.%d.%d.%d", network, number >> 16, number >> 8 & 255,
		 number & 255);
	return text;
}

static int find_window(const struct program *program, int resident, struct rf_source *source)
{
	const struct rf_key4 key = {htonl(0x0a000000 + resident), program_policy(program)->id};

	return bpf_map_lookup_elem(bpf_map__fd(program->object->maps.windows4), &key, source);
}

/*
 * Without a guard, newcomers evict residents if no other window is available. The leases of an
 * evicted window can still pass packets, so a new window counts the most that it could have lent.
 */
static void a_window_after_an_eviction_has_lent_all(void **state)
{
	struct program *program = *state;
	struct rf_source source;
	int evicted = 0;

	set_limit(program, 0);
	program->config->times.residents_max = RESIDENTS;
	for (uint64_t now_ns = START_NS; now_ns < SETTLED_NS; now_ns += 3 * NS_PER_S / 2) {
		program_set_time(program, now_ns);
		for (int i = 0; i < RESIDENTS; i++)
			assert_true(passes(program, address(10, i)));
	}
	assert_int_equal(program->config->room[0].lenders_evicted, 0);
	for (int i = 0; i < 3 * SOURCES; i++)
		assert_true(passes(program, address(11, i)));
	for (int i = 0; i < RESIDENTS; i++) {
		if (!find_window(program, i, &source))
			continue;
		evicted++;
		/* Its lease still has a loan, which passes the first packets. */
		assert_int_equal(burst(program, address(10, i), LIMIT / 4), LIMIT / 4);
		assert_int_equal(find_window(program, i, &source), 0);
		assert_int_equal(rf_loans_now(source.window.loans), LIMIT / RF_LOAN_SHARE);
		assert_int_equal(rf_loans_before(source.window.loans), 0);
	}
	assert_in_range(evicted, 1, RESIDENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slow_source_is_answered_by_its_loan),
		TEST(a_source_that_needs_more_borrows_again),
		TEST(a_new_source_has_no_loan),
		TEST(an_exact_limit_lends_nothing),
		TEST(a_source_that_turns_busy_keeps_to_its_limit),
		TEST(a_change_of_the_lists_keeps_the_loan),
		TEST(a_window_after_an_eviction_has_lent_all),
	};

	return cmocka_run_group_tests_name("loans", tests, NULL, NULL);
}
