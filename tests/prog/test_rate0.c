// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of rate 0 through the loaded program: they drop all that they match, and their packets
 * meet no window, no newcomers rate and no other limit. test_stacked compares them with a model.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "tests/frames.h"

#define CLOSED_PORT 22
#define OPEN_PORT 80

static int setup(void **state)
{
	program_run_on(0);
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

static void start_frame(struct frame *frame, const char *address, unsigned int ipv4_fragment)
{
	const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
	unsigned char source[16];

	*frame = (struct frame){.length = 0};
	assert_int_equal(inet_pton(family, address, source), 1);
	frame_ethernet(frame);
	if (family == AF_INET)
		frame_ipv4(frame, 5, ipv4_fragment);
	else
		frame_ipv6(frame, 64);
	frame_set_source(frame, source);
}

/* Sends `count` packets, by both entries in turn; returns how many pass. */
static int send_frame(const struct program *program, const struct frame *frame, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += program_run(i % 2 ? program->object->progs.ringfence_frags
					    : program->object->progs.ringfence,
				      frame->bytes, frame->length) == XDP_PASS;
	return passed;
}

static int send_tcp(const struct program *program, const char *source, int port, int count)
{
	struct frame frame;

	start_frame(&frame, source, 0);
	frame_tcp(&frame, port, SYN);
	return send_frame(program, &frame, count);
}

static uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

static struct rf_limit_counters counted(const struct program *program, const char *name)
{
	return program_limit_counters_of(program, name);
}

static uint64_t windows_made(const struct program *program)
{
	const struct rf_counters counters = program_counters(program);

	return counters.inserts[0] + counters.inserts[1];
}

static void all_that_it_matches_is_dropped_without_a_window(void **state)
{
	const struct program *program = *state;

	program_apply(*state, "limit add no-ssh rate 0 match tcp dport 22\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 10), 0);
	assert_int_equal(send_tcp(program, "2001:db8::1", CLOSED_PORT, 10), 0);
	assert_int_equal(send_tcp(program, "192.0.2.1", OPEN_PORT, 10), 10);
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 20);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 20);
	assert_int_equal(reason_of(program, RF_NO_LIMIT), 10);
	assert_int_equal(program_packets(program), 30);
	assert_int_equal(windows_made(program), 0);
}

/* Leases expire, and their counts are flushed. */
static void it_drops_at_all_times(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add no-ssh rate 0 match tcp dport 22\n"
			       "limit add any rate 1k/1s\n");
	for (int i = 1; i <= 50; i++) {
		program_set_time(program, START_NS + i * NS_PER_S);
		assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 5), 0);
	}
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 250);
	assert_int_equal(counted(program, "no-ssh").dropped.bytes, 250 * 54);
	assert_int_equal(windows_made(program), 0);
}

static void other_limits_are_neither_charged_nor_asked(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100/10s count rejected\n"
			       "limit add no-ssh rate 0 match tcp dport 22\n"
			       "limit add syn rate 50/10s match tcp syn ban 1h all\n"
			       "limit add bulk rate 1mbit\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 200), 0);
	assert_int_equal(windows_made(program), 0);
	assert_int_equal(send_tcp(program, "192.0.2.1", OPEN_PORT, 50), 50);
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 200), 0);
	assert_int_equal(counted(program, "any").passed.packets, 50);
	assert_int_equal(counted(program, "any").dropped.packets, 0);
	assert_int_equal(counted(program, "syn").dropped.packets, 0);
	assert_int_equal(counted(program, "bulk").passed.packets, 50);
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 400);
	assert_int_equal(reason_of(program, RF_BANNED), 0);
}

static void lists_decide_first(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add no-ssh rate 0 match tcp dport 22\n"
			       "allow add 192.0.2.0/24\n"
			       "deny add 198.51.100.7\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 10), 10);
	assert_int_equal(send_tcp(program, "198.51.100.7", CLOSED_PORT, 10), 0);
	assert_int_equal(send_tcp(program, "203.0.113.1", CLOSED_PORT, 10), 0);
	assert_int_equal(reason_of(program, RF_ALLOWED), 10);
	assert_int_equal(reason_of(program, RF_DENIED), 10);
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 10);
}

/* As for all limits that differ only in `from`, the narrowest applies. */
static void a_limit_with_from_opens_the_port_for_its_sources(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add no-ssh rate 0 match tcp dport 22\n"
			       "limit add ssh rate 3/10s match tcp dport 22 from 192.0.2.0/24\n"
			       "limit add bad rate 0 match tcp dport 22 from 192.0.2.66\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 10), 3);
	assert_int_equal(send_tcp(program, "192.0.2.66", CLOSED_PORT, 10), 0);
	assert_int_equal(send_tcp(program, "203.0.113.1", CLOSED_PORT, 10), 0);
	assert_int_equal(counted(program, "ssh").dropped.packets, 7);
	assert_int_equal(counted(program, "bad").dropped.packets, 10);
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 10);
}

static void a_shadow_counts_what_passes_and_needs_no_window(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add no-ssh rate 0 match tcp dport 22 shadow\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 10), 10);
	assert_int_equal(send_tcp(program, "192.0.2.1", OPEN_PORT, 10), 10);
	assert_int_equal(counted(program, "no-ssh").would_drop.packets, 10);
	assert_int_equal(counted(program, "no-ssh").would_drop.bytes, 10 * 54);
	assert_int_equal(reason_of(program, RF_SHADOW_OVER), 10);
	assert_int_equal(windows_made(program), 0);
}

static void a_shadow_beside_limits_counts_what_these_pass(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add no-ssh rate 0 match tcp dport 22 shadow\n"
			       "limit add any rate 30/10s\n"
			       "limit add none rate 0 match tcp shadow\n"
			       "limit add syn rate 5/10s match tcp syn shadow\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 20), 20);
	assert_int_equal(send_tcp(program, "192.0.2.1", OPEN_PORT, 20), 10);
	assert_int_equal(counted(program, "no-ssh").would_drop.packets, 20);
	assert_int_equal(counted(program, "none").would_drop.packets, 30);
	assert_int_equal(counted(program, "syn").passed.packets, 5);
	assert_int_equal(counted(program, "syn").would_drop.packets, 25);
	assert_int_equal(counted(program, "any").passed.packets, 30);
	assert_int_equal(counted(program, "any").dropped.packets, 10);
	assert_int_equal(reason_of(program, RF_SHADOW_OVER), 30);
	assert_int_equal(windows_made(program), 2);
}

/* The newcomers rate is used up, so strangers are dropped even before the leases. */
static void its_sources_are_no_newcomers(void **state)
{
	struct program *program = *state;

	program_apply(program, "newcomers rate 1/10s then drop\n"
			       "limit add no-ssh rate 0 match tcp dport 22\n"
			       "limit add any rate 1k/1s\n");
	for (int i = 1; i < 10; i++) {
		char source[16];

		sprintf(source, "203.0.113.%d", i);
		assert_int_equal(send_tcp(program, source, CLOSED_PORT, 2), 0);
	}
	assert_int_equal(program_counters(program).newcomers_admitted, 0);
	assert_int_equal(send_tcp(program, "192.0.2.1", OPEN_PORT, 1), 1);
	assert_int_equal(send_tcp(program, "192.0.2.2", OPEN_PORT, 1), 0);
	assert_int_equal(send_tcp(program, "192.0.2.3", CLOSED_PORT, 5), 0);
	assert_int_equal(counted(program, "no-ssh").dropped.packets, 18 + 5);
	assert_int_equal(reason_of(program, RF_NEWCOMER_DROP), 1);
	assert_int_equal(windows_made(program), 1);
}

/* How many of 1000 newcomers that arrive together the guard admits, by these rules. */
static uint64_t admitted_at_once(struct program *program, const char *rules)
{
	const uint64_t before = program_counters(program).newcomers_admitted;

	program_apply(program, rules);
	for (int i = 0; i < 1000; i++) {
		const struct frame4 frame = frame4_from(htonl(0x0a000000 + i));

		program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	}
	return program_counters(program).newcomers_admitted - before;
}

/* The guard divides its rate where newcomers need much of the room for windows. */
static void it_takes_no_room_of_newcomers(void **state)
{
	assert_int_equal(admitted_at_once(*state, "newcomers rate 1000/10s then drop\n"
						  "limit add any rate 1k/10s\n"
						  "limit add no-ssh rate 0 match tcp dport 22\n"
						  "limit add no-udp rate 0 match udp dport 22\n"
						  "limit add none rate 0 match udp shadow\n"),
			 1000);
}

/* Only the first fragment has a port; without it, the others are never delivered. */
static void later_fragments_have_no_port(void **state)
{
	struct program *program = *state;
	struct frame first, later;

	program_apply(program, "limit add no-dns rate 0 match udp dport 53\n");
	start_frame(&first, "192.0.2.1", 0x2000);
	frame_udp(&first, 53);
	start_frame(&later, "192.0.2.1", 0xb9);
	frame_payload(&later, 17, 40);
	assert_int_equal(send_frame(program, &first, 2), 0);
	assert_int_equal(send_frame(program, &later, 2), 2);
	assert_int_equal(counted(program, "no-dns").dropped.packets, 2);
}

/* Closed, and open again: the windows start afresh, the counters continue. */
static void a_limit_changes_to_rate_0_and_back(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add ssh rate 3/10s match tcp dport 22\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 5), 3);
	program_apply(program, "limit add ssh rate 0 match tcp dport 22\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 5), 0);
	program_apply(program, "limit add ssh rate 3/10s match tcp dport 22\n");
	assert_int_equal(send_tcp(program, "192.0.2.1", CLOSED_PORT, 5), 3);
	assert_int_equal(counted(program, "ssh").passed.packets, 6);
	assert_int_equal(counted(program, "ssh").dropped.packets, 9);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_that_it_matches_is_dropped_without_a_window),
		TEST(it_drops_at_all_times),
		TEST(other_limits_are_neither_charged_nor_asked),
		TEST(lists_decide_first),
		TEST(a_limit_with_from_opens_the_port_for_its_sources),
		TEST(a_shadow_counts_what_passes_and_needs_no_window),
		TEST(a_shadow_beside_limits_counts_what_these_pass),
		TEST(its_sources_are_no_newcomers),
		TEST(it_takes_no_room_of_newcomers),
		TEST(later_fragments_have_no_port),
		TEST(a_limit_changes_to_rate_0_and_back),
	};

	return cmocka_run_group_tests_name("limits of rate 0", tests, NULL, NULL);
}
