// SPDX-License-Identifier: GPL-2.0
/*
 * Counters by interface. Frames of BPF_PROG_TEST_RUN come from the loopback interface, whose index
 * is 1; the other interfaces exist only in the command line's view of the fence.
 */
#include "program.h"

#include "fence/by_interface.h"

#define LO 1
#define SENT 30
#define ADMITTED 10 /* of them */

static struct rf_by_interface read_sums(const struct program *program)
{
	struct rf_by_interface sums;
	struct rf_error error = {};

	assert_done(rf_fence_by_interface(&program->fence, &sums, &error), &error);
	return sums;
}

/* The counters of an interface; false: it has no place. */
static bool read_interface(const struct program *program, unsigned int index,
			   struct rf_interface_counters *counters)
{
	const struct rf_by_interface sums = read_sums(program);
	const struct rf_interface_counters *found =
		rf_by_interface_of(&program->fence, &sums, index);

	*counters = found ? *found : (struct rf_interface_counters){};
	return found;
}

static void join(struct program *program, unsigned int index)
{
	struct rf_fence *fence = &program->fence;
	struct rf_error error = {};

	assert_done(rf_fence_count_interfaces(fence, index, &error), &error);
	fence->interface =
		realloc(fence->interface, (fence->interfaces + 1) * sizeof(*fence->interface));
	assert_non_null(fence->interface);
	fence->interface[fence->interfaces++] = (struct rf_interface){.index = index};
}

static void leave(struct program *program, unsigned int index)
{
	struct rf_fence *fence = &program->fence;
	int kept = 0;

	for (int i = 0; i < fence->interfaces; i++)
		if (fence->interface[i].index != index)
			fence->interface[kept++] = fence->interface[i];
	fence->interfaces = kept;
}

/* Sends packets of a new source, of which the limit admits some. */
static void flood(const struct bpf_program *entry)
{
	static uint32_t source = 0x0a000000;
	struct frame4 frame = frame4_from(htonl(source++));

	for (int i = 0; i < SENT; i++)
		assert_int_equal(program_run(entry, &frame, sizeof(frame)),
				 i < ADMITTED ? XDP_PASS : XDP_DROP);
}

static void assert_counts(const struct program *program, unsigned int index, uint64_t times)
{
	struct rf_interface_counters counters;

	assert_true(read_interface(program, index, &counters));
	assert_int_equal(counters.passed.packets, times * ADMITTED);
	assert_int_equal(counters.passed.bytes, times * ADMITTED * sizeof(struct frame4));
	assert_int_equal(counters.dropped.packets, times * (SENT - ADMITTED));
	assert_int_equal(counters.dropped.bytes, times * (SENT - ADMITTED) * sizeof(struct frame4));
}

static int setup(void **state)
{
	struct rf_limit limit = limit_of(ADMITTED, 3600 * NS_PER_S);
	struct program *program;

	program_setup_both(state);
	program = *state;
	program_set_time(program, START_NS);
	program_set_limit(program, &limit);
	return 0;
}

static void both_entries_count_for_the_interface(void **state)
{
	struct program *program = *state;

	flood(program->object->progs.ringfence);
	assert_false(read_sums(program).is_counted);
	join(program, LO);
	join(program, LO + 1);
	flood(program->object->progs.ringfence);
	flood(program->object->progs.ringfence_frags);
	assert_counts(program, LO, 2);
	assert_counts(program, LO + 1, 0);
	assert_int_equal(program_packets(program), 3 * SENT);
}

static void thirty_two_interfaces_get_a_place_whatever_their_indexes(void **state)
{
	struct program *program = *state;
	struct rf_interface_counters counters;

	for (int i = 1; i < RF_INTERFACE_PROBES; i++)
		join(program, LO + i * RF_INTERFACE_PLACES);
	join(program, LO);
	flood(program->object->progs.ringfence);
	assert_counts(program, LO, 1);
	for (int i = 1; i < RF_INTERFACE_PROBES; i++)
		assert_counts(program, LO + i * RF_INTERFACE_PLACES, 0);
	join(program, LO + RF_INTERFACE_PROBES * RF_INTERFACE_PLACES);
	assert_false(
		read_interface(program, LO + RF_INTERFACE_PROBES * RF_INTERFACE_PLACES, &counters));
}

static void consecutive_indexes_fill_all_places(void **state)
{
	struct program *program = *state;
	struct rf_interface_counters counters;

	for (int i = 0; i < RF_INTERFACE_PLACES; i++)
		join(program, 1000 + i);
	for (int i = 0; i < RF_INTERFACE_PLACES; i++)
		assert_true(read_interface(program, 1000 + i, &counters));
	join(program, LO);
	assert_false(read_interface(program, LO, &counters));
	flood(program->object->progs.ringfence);
	for (int i = 0; i < RF_INTERFACE_PLACES; i++)
		assert_counts(program, 1000 + i, 0);
	/* Now there is a place for it. */
	leave(program, 1000);
	leave(program, 1001 + RF_INTERFACE_PLACES / 2);
	join(program, LO);
	flood(program->object->progs.ringfence);
	assert_counts(program, LO, 1);
}

static void a_place_begins_at_0_for_the_next_interface(void **state)
{
	struct program *program = *state;
	const unsigned int next = LO + RF_INTERFACE_PLACES;
	struct rf_error error = {};

	join(program, LO);
	for (int i = 1; i < RF_INTERFACE_PROBES; i++)
		join(program, LO + (i + 1) * RF_INTERFACE_PLACES);
	flood(program->object->progs.ringfence);
	assert_done(rf_fence_reset(&program->fence, &error), &error);
	leave(program, LO);
	join(program, next);
	assert_counts(program, next, 0);
	leave(program, next);
	join(program, LO);
	assert_counts(program, LO, 0);
	flood(program->object->progs.ringfence);
	assert_counts(program, LO, 1);
	for (int i = 0; i < 2; i++)
		for (int place = 0; place < RF_INTERFACE_PLACES; place++)
			assert_int_equal(
				program->config->baseline[i].interface[place].passed.packets, 0);
}

/* A command that was killed while it gave the place away has left it free. */
static void a_place_left_half_given_begins_at_0(void **state)
{
	struct program *program = *state;

	join(program, LO);
	flood(program->object->progs.ringfence);
	program->config->interface[LO].index = 0;
	join(program, LO);
	assert_counts(program, LO, 0);
	flood(program->object->progs.ringfence);
	assert_counts(program, LO, 1);
}

#define BOND (LO + 5)

/* As if the loopback interface were a member of a bond. */
static void join_bond(struct program *program)
{
	join(program, BOND);
	join(program, LO);
	program->config->interface[LO].counts_for = BOND;
}

static void a_member_counts_for_its_bond(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};

	join_bond(program);
	flood(program->object->progs.ringfence);
	flood(program->object->progs.ringfence_frags);
	assert_counts(program, BOND, 2);
	assert_done(rf_fence_reset(&program->fence, &error), &error);
	flood(program->object->progs.ringfence);
	assert_counts(program, BOND, 3);
	assert_int_equal(program->config->baseline[1].interface[BOND].passed.packets, 2 * ADMITTED);
}

/* The bond retains the member's earlier counts; the member starts at 0. */
static void a_member_that_joins_by_itself_begins_at_0(void **state)
{
	struct program *program = *state;

	join_bond(program);
	flood(program->object->progs.ringfence);
	join(program, LO);
	assert_counts(program, BOND, 1);
	assert_counts(program, LO, 0);
	flood(program->object->progs.ringfence);
	assert_counts(program, BOND, 1);
	assert_counts(program, LO, 1);
}

static void a_bond_keeps_what_a_member_counted_that_lost_its_place(void **state)
{
	struct program *program = *state;

	join_bond(program);
	flood(program->object->progs.ringfence);
	leave(program, LO);
	for (int i = 1; i <= RF_INTERFACE_PROBES; i++)
		join(program, LO + i * RF_INTERFACE_PLACES);
	assert_int_not_equal(program->config->interface[LO].index, LO);
	assert_counts(program, BOND, 1);
	flood(program->object->progs.ringfence);
	assert_counts(program, BOND, 1);
}

/* If several namespaces use an index, the member can be in a different one. */
static void a_member_of_another_namespace_does_not_count_for_the_bond(void **state)
{
	struct program *program = *state;

	join_bond(program);
	program->config->interface[LO].namespace = 0;
	flood(program->object->progs.ringfence);
	assert_counts(program, BOND, 0);
}

/* Without a place for each member, the counters of a bond lack packets. */
static void an_interface_without_members_is_whole(void **state)
{
	struct program *program = *state;

	join(program, LO);
	assert_true(rf_by_interface_is_whole(&program->fence, LO));
	assert_false(rf_by_interface_is_whole(&program->fence, LO + 1));
}

static void an_index_of_two_namespaces_counts_for_neither(void **state)
{
	struct program *program = *state;
	struct rf_interface_counters counters;

	join(program, LO);
	program->config->interface[LO].namespace = 1; /* of another interface */
	assert_false(read_interface(program, LO, &counters));
	join(program, LO);
	assert_int_equal(program->config->interface[LO].namespace, 0);
	assert_false(read_interface(program, LO, &counters));
}

static void the_rest_is_what_no_interface_has(void **state)
{
	struct program *program = *state;
	struct rf_interface_counters totals = {{100, 1000}, {200, 2000}}, rest;
	struct rf_by_interface sums;

	join(program, LO);
	join(program, LO + 1);
	sums = read_sums(program);
	sums.place[LO] = (struct rf_interface_counters){{60, 600}, {150, 1500}};
	sums.place[LO + 1] = (struct rf_interface_counters){{39, 390}, {51, 510}};
	rest = rf_by_interface_rest(&program->fence, &sums, &totals);
	assert_int_equal(rest.passed.packets, 1);
	assert_int_equal(rest.passed.bytes, 10);
	assert_int_equal(rest.dropped.packets, 0); /* read later, they can be larger */
	assert_int_equal(rest.dropped.bytes, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_entries_count_for_the_interface),
		TEST(thirty_two_interfaces_get_a_place_whatever_their_indexes),
		TEST(consecutive_indexes_fill_all_places),
		TEST(a_place_begins_at_0_for_the_next_interface),
		TEST(a_place_left_half_given_begins_at_0),
		TEST(a_member_counts_for_its_bond),
		TEST(a_member_that_joins_by_itself_begins_at_0),
		TEST(a_bond_keeps_what_a_member_counted_that_lost_its_place),
		TEST(a_member_of_another_namespace_does_not_count_for_the_bond),
		TEST(an_interface_without_members_is_whole),
		TEST(an_index_of_two_namespaces_counts_for_neither),
		TEST(the_rest_is_what_no_interface_has),
	};

	return cmocka_run_group_tests_name("interfaces", tests, NULL, NULL);
}
