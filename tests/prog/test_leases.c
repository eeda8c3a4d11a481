// SPDX-License-Identifier: GPL-2.0
/*
 * Leases in the loaded program, with an injected clock: when a CPU uses a cached verdict, that this
 * is the verdict that the window would return, and that no counter misses a packet.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "ringfence/lease.h"
#include "ringfence/limiter.h"
#include "tests/unit/unit.h"

#define FLOOD 20000

/* The setup of a fence that was attached with that many leases for each CPU. */
static struct program *load_with_leases(uint32_t leases)
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	program_open(program);
	program_set_leases(program, leases);
	program_load(program);
	program_set_time(program, START_NS);
	return program;
}

static void unload(struct program *program)
{
	program_close(program);
	free(program);
}

static int send_from(const struct program *program, uint32_t source, int count)
{
	struct frame4 frame = frame4_from(htonl(source));
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
			  XDP_PASS;
	return passed;
}

/* Only the window, without the pending counts of leases. */
static int find_window(const struct program *program, uint32_t source, struct rf_source *state)
{
	struct rf_key4 key = {htonl(source), program_policy(program)->id};

	return bpf_map_lookup_elem(bpf_map__fd(program->object->maps.windows4), &key, state);
}

static struct rf_source source_of(const struct program *program, uint32_t source)
{
	struct rf_address address = {.version = 4, .word = {htonl(source)}};
	struct rf_source state = {};
	struct rf_error error = {};

	assert_int_equal(
		rf_fence_source(&program->fence, program_policy(program), &address, &state, &error),
		0);
	return state;
}

static void set_limit(struct program *program, uint64_t rate, uint64_t window_ns, uint32_t flags)
{
	struct rf_limit limit = limit_of(rate, window_ns);

	limit.flags = flags;
	program_set_limit(program, &limit);
}

/* ---- refusals ---- */

static void a_flood_does_not_touch_the_window(void **state)
{
	struct program *program = *state;
	struct rf_source window;

	set_limit(program, 5, 10 * NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 1000), 5);
	assert_int_equal(find_window(program, 1, &window), 0);
	assert_int_equal(window.dropped, 1);
	assert_int_equal(source_of(program, 1).dropped, 995);
	assert_int_equal(source_of(program, 1).passed, 5);
	assert_int_equal(program_counters(program).reason[RF_OVER_LIMIT].packets, 995);
	assert_int_equal(program_counters(program).reason[RF_OVER_LIMIT].bytes,
			 995 * sizeof(struct frame4));
	assert_int_equal(program_limit_counters(program).dropped.packets, 995);
}

static void a_refusal_ends_when_the_window_reopens(void **state)
{
	struct program *program = *state;
	const struct rf_policy *policy;
	uint64_t opens_ns;

	set_limit(program, 5, 10 * NS_PER_S, 0);
	policy = program_policy(program);
	opens_ns = program_epoch_ns(policy, program_epoch_at(policy, START_NS) + policy->cells);
	assert_int_equal(send_from(program, 1, 9), 5);
	program_set_time(program, opens_ns - TICK_NS);
	assert_int_equal(send_from(program, 1, 9), 0);
	program_set_time(program, opens_ns);
	assert_int_equal(send_from(program, 1, 9), 5);
}

static void a_shadow_passes_packets_by_leases(void **state)
{
	struct program *program = *state;

	set_limit(program, 5, 10 * NS_PER_S, RF_SHADOW);
	assert_int_equal(send_from(program, 1, 100), 100);
	assert_int_equal(source_of(program, 1).would_drop, 95);
	assert_int_equal(program_limit_counters(program).would_drop.packets, 95);
}

static void a_refused_packet_that_counts_gets_no_lease(void **state)
{
	struct program *program = *state;
	struct rf_source window;

	set_limit(program, 5, 10 * NS_PER_S, RF_COUNT_REJECTED);
	assert_int_equal(send_from(program, 1, 100), 5);
	assert_int_equal(find_window(program, 1, &window), 0);
	assert_int_equal(window.dropped, 95);
	assert_int_equal(rf_word_used(window.window.head), 100);
}

/* ---- credits ---- */

static void credits_are_charged_before_they_are_spent(void **state)
{
	struct program *program = *state;
	struct rf_source window;
	uint32_t used;

	set_limit(program, 100000, NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 5000), 5000);
	assert_int_equal(find_window(program, 1, &window), 0);
	used = rf_word_used(window.window.head);
	assert_in_range(used, 5000, 5000 + 5000 / RF_CREDITS_PER_SPENT);
	assert_true(window.passed < 5000);
	assert_int_equal(source_of(program, 1).passed, 5000);
	assert_int_equal(program_limit_counters(program).passed.packets, 5000);
	assert_int_equal(send_from(program, 1, 100000), 95000);
}

static void an_exact_limit_charges_each_packet(void **state)
{
	struct program *program = *state;
	struct rf_source window;

	set_limit(program, 100000, NS_PER_S, RF_EXACT);
	for (int i = 1; i <= 1000; i++) {
		assert_int_equal(send_from(program, 1, 1), 1);
		assert_int_equal(find_window(program, 1, &window), 0);
		assert_int_equal(rf_word_used(window.window.head), i);
		assert_int_equal(window.passed, i);
	}
}

static void credits_end_with_their_cell(void **state)
{
	struct program *program = *state;
	const struct rf_policy *policy;
	struct rf_source window;
	uint64_t epoch;

	set_limit(program, 100000, NS_PER_S, 0);
	policy = program_policy(program);
	epoch = program_epoch_at(policy, START_NS);
	send_from(program, 1, 5000);
	program_set_time(program, program_epoch_ns(policy, epoch + 1));
	assert_int_equal(send_from(program, 1, 1), 1);
	assert_int_equal(find_window(program, 1, &window), 0);
	assert_int_equal(rf_word_epoch(window.window.head), epoch + 1);
	assert_true(window.passed == 5001); /* pending counts are included, this one separately */
}

/* ---- expiry of a lease ---- */

static void a_changed_limit_is_in_force_at_once(void **state)
{
	struct program *program = *state;

	set_limit(program, 5, 10 * NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 100), 5);
	set_limit(program, 8, 10 * NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 100), 3);
	set_limit(program, 8, 10 * NS_PER_S, RF_SHADOW);
	assert_int_equal(send_from(program, 1, 100), 100);
	assert_int_equal(program_limit_counters(program).passed.packets, 8);
	assert_int_equal(program_limit_counters(program).dropped.packets, 95 + 97);
	assert_int_equal(program_limit_counters(program).would_drop.packets, 100);
	assert_int_equal(source_of(program, 1).dropped, 95 + 97);
}

static void a_lowered_limit_takes_the_credits_away(void **state)
{
	struct program *program = *state;

	set_limit(program, 60000, NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 5000), 5000);
	set_limit(program, 5000, NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 1000), 0);
}

static void a_new_limit_in_a_slot_does_not_get_pending_counts(void **state)
{
	struct program *program = *state;

	set_limit(program, 5, 10 * NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 100), 5);
	program_apply(program, "newcomers off\n");
	program_apply(program,
		      "newcomers off\n"); /* no remaining rules then have a limit in the slot */
	program_apply(program, "limit add other rate 7/10s");
	assert_int_equal(program_slot(program, "other"), 0);
	assert_int_equal(program_limit_counters(program).dropped.packets, 0);
	assert_int_equal(send_from(program, 1, 100), 7);
	assert_int_equal(program_limit_counters(program).passed.packets, 7);
	assert_int_equal(program_limit_counters(program).dropped.packets, 93);
	assert_int_equal(program_counters(program).reason[RF_OVER_LIMIT].packets, 95 + 93);
}

/* A lease handles the source, so its window would be the first that the LRU evicts. */
static void a_flood_of_newcomers_does_not_renew_a_used_up_window(void **state)
{
	struct program *program = *state;
	int passed;

	set_limit(program, 5, 3600 * NS_PER_S, 0);
	passed = send_from(program, 1, 10);
	for (uint32_t i = 0; i < FLOOD; i++) {
		send_from(program, 0x0a000000 + i, 1);
		passed += send_from(program, 1, 2);
	}
	program_set_time(program, START_NS + 20 * NS_PER_S);
	passed += send_from(program, 1, 10);
	assert_int_equal(passed, 5);
	assert_true(program_counters(program).inserts[0] > FLOOD);
}

/* ---- readers ---- */

static void send_ipv6(const struct program *program, int count)
{
	struct frame6 frame = frame6_from("2001:db8::1");

	for (int i = 0; i < count; i++)
		program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

struct reading {
	struct program *program;
	uint64_t dropped6;
};

/* The IPv4 source, which comes first, makes the IPv6 source's lease flush its pending counts. */
static int hand_over_meanwhile(const struct rf_address *source, uint32_t limit_id,
			       const struct rf_source *state, void *context)
{
	struct reading *reading = context;

	(void)limit_id;
	if (source->version == 4) {
		program_set_time(reading->program, START_NS + 20 * NS_PER_S);
		send_ipv6(reading->program, 1);
	} else {
		reading->dropped6 += state->dropped;
	}
	return 0;
}

static void counts_handed_over_meanwhile_are_not_counted_twice(void **state)
{
	struct reading reading = {.program = *state};
	struct rf_error error = {};

	set_limit(reading.program, 5, 10 * NS_PER_S, 0);
	send_from(reading.program, 1, 1);
	send_ipv6(reading.program, 105);
	assert_int_equal(rf_fence_each_source(&reading.program->fence, hand_over_meanwhile,
					      &reading, &error),
			 0);
	assert_int_equal(reading.dropped6, 100);
}

/* ---- no lease ---- */

static uint64_t pending_packets(const struct program *program)
{
	uint64_t packets = 0;

	for (uint32_t i = 0; i < program->fence.leases; i++)
		packets += program->fence.lease[i].packets;
	return packets;
}

static int count_leases(const struct program *program)
{
	int count = 0;

	for (uint32_t i = 0; i < program->fence.leases; i++)
		count += program->fence.lease[i].source != 0;
	return count;
}

/* For a source that sends too little for credits, nothing of a lease is written. */
static void a_source_without_credits_has_no_lease(void **state)
{
	struct program *program = *state;
	const int enough = RF_CREDITS_PER_SPENT / 2 * (16 + 1);

	set_limit(program, 100000, NS_PER_S, 0);
	for (uint32_t source = 1; source <= 10; source++)
		assert_int_equal(send_from(program, source, enough - 1), enough - 1);
	assert_int_equal(count_leases(program), 0);
	assert_int_equal(send_from(program, 5, 1), 1);
	assert_int_equal(count_leases(program), 1);
	assert_int_equal(send_from(program, 5, 1000), 1000);
	assert_int_equal(source_of(program, 5).passed, enough + 1000);
	assert_true(pending_packets(program) > 0);
}

/* A whole IPv6 address does not fit into a lease; a /64 does. */
static void a_source_of_more_than_64_bits_has_no_lease(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(5, 10 * NS_PER_S);

	limit.per6 = 128;
	program_set_limit(program, &limit);
	send_ipv6(program, 105);
	assert_int_equal(pending_packets(program), 0);
	assert_int_equal(program_limit_counters(program).dropped.packets, 100);
	limit.per6 = 64;
	program_set_limit(program, &limit);
	send_ipv6(program, 105);
	assert_int_equal(pending_packets(program), 99);
	assert_int_equal(program_limit_counters(program).dropped.packets, 200);
}

/* ---- few leases ---- */

/* A few leases for each CPU, and sources that compete for them. */
static void nothing_is_lost_when_leases_are_displaced(void **state)
{
	struct program *program = load_with_leases(8);
	uint64_t passed = 0, sent = 0, by_source = 0;
	struct rf_limit_counters limit;

	(void)state;
	set_limit(program, 200, 10 * NS_PER_S, 0);
	for (int round = 0; round < 400; round++) {
		for (uint32_t source = 1; source <= 40; source++) {
			int count = 1 + (round * source) % 5;

			passed += send_from(program, source, count);
			sent += count;
		}
		program_set_time(program, START_NS + round * NS_PER_S / 100);
	}
	limit = program_limit_counters(program);
	assert_int_equal(limit.passed.packets, passed);
	assert_int_equal(limit.passed.packets + limit.dropped.packets, sent);
	for (uint32_t source = 1; source <= 40; source++) {
		struct rf_source of = source_of(program, source);

		assert_in_range(of.passed, 0, 200);
		by_source += of.passed + of.dropped;
	}
	assert_int_equal(by_source, sent);
	unload(program);
}

static void without_leases_a_limit_holds_as_well(void **state)
{
	struct program *program = load_with_leases(0);
	struct rf_source window;

	(void)state;
	assert_int_equal(program->config->lease_shift, 0);
	set_limit(program, 5, 10 * NS_PER_S, 0);
	assert_int_equal(send_from(program, 1, 100), 5);
	assert_int_equal(find_window(program, 1, &window), 0);
	assert_int_equal(window.dropped, 95);
	unload(program);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup_at_start, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flood_does_not_touch_the_window),
		TEST(a_refusal_ends_when_the_window_reopens),
		TEST(a_shadow_passes_packets_by_leases),
		TEST(a_refused_packet_that_counts_gets_no_lease),
		TEST(credits_are_charged_before_they_are_spent),
		TEST(a_source_without_credits_has_no_lease),
		TEST(an_exact_limit_charges_each_packet),
		TEST(credits_end_with_their_cell),
		TEST(a_changed_limit_is_in_force_at_once),
		TEST(a_lowered_limit_takes_the_credits_away),
		TEST(a_new_limit_in_a_slot_does_not_get_pending_counts),
		TEST(a_flood_of_newcomers_does_not_renew_a_used_up_window),
		TEST(counts_handed_over_meanwhile_are_not_counted_twice),
		TEST(a_source_of_more_than_64_bits_has_no_lease),
		TEST(nothing_is_lost_when_leases_are_displaced),
		TEST(without_leases_a_limit_holds_as_well),
	};

	return cmocka_run_group_tests_name("leases", tests, NULL, NULL);
}
