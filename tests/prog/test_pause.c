// SPDX-License-Identifier: GPL-2.0
/*
 * A pause: no packet is dropped until it expires, and packets that would be dropped are counted as
 * such. test_frames.c has the frames that are dropped by their type.
 */
#include "program.h"

#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define SOURCE "192.0.2.1"
#define PAUSE_NS (10 * NS_PER_S)

static unsigned int send_one(const struct program *program, const char *source, int protocol)
{
	if (strchr(source, ':')) {
		struct frame6 frame = frame6_from(source);

		frame.ip.nexthdr = protocol;
		return program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	} else {
		struct frame4 frame = frame4_from(inet_addr(source));

		frame.ip.protocol = protocol;
		return program_run(program->object->progs.ringfence, &frame, sizeof(frame));
	}
}

/* How many of `count` packets pass. */
static int burst(const struct program *program, const char *source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += send_one(program, source, IPPROTO_UDP) == XDP_PASS;
	return passed;
}

static uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

static void begin(const struct program *program)
{
	rf_fence_pause(&program->fence, PAUSE_NS);
}

static void end(const struct program *program)
{
	rf_fence_pause(&program->fence, 0);
}

static uint64_t left_ns(const struct program *program)
{
	return rf_fence_standing(&program->fence).paused_ns;
}

static void assert_limit(const struct program *program, const char *name, uint64_t passed,
			 uint64_t dropped, uint64_t would_drop)
{
	const struct rf_limit_counters limit = program_limit_counters_of(program, name);

	assert_int_equal(limit.passed.packets, passed);
	assert_int_equal(limit.dropped.packets, dropped);
	assert_int_equal(limit.would_drop.packets, would_drop);
}

static void assert_source(const struct program *program, const char *name, uint64_t passed,
			  uint64_t dropped, uint64_t would_drop)
{
	const struct rf_source source = program_source(program, name, SOURCE);

	assert_int_equal(source.passed, passed);
	assert_int_equal(source.dropped, dropped);
	assert_int_equal(source.would_drop, would_drop);
}

/* 5 of a burst pass by rules that limit to 5; then a pause, and then its end. */
static void what_is_over_a_limit_passes(struct program *program, const char *rules)
{
	program_apply(program, rules);
	assert_int_equal(burst(program, SOURCE, 20), 5);
	begin(program);
	assert_int_equal(burst(program, SOURCE, 30), 30);
	end(program);
	assert_int_equal(burst(program, SOURCE, 40), 0);
	assert_limit(program, "any", 5, 15 + 40, 30);
	assert_source(program, "any", 5, 15 + 40, 30);
	assert_int_equal(reason_of(program, RF_UNDER_LIMIT), 5);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 15 + 40);
	assert_int_equal(reason_of(program, RF_PAUSED), 30);
	assert_int_equal(program_packets(program), 20 + 30 + 40);
}

/* A lease refuses most of them, and its counts before the pause remain dropped. */
static void a_limit_drops_nothing(void **state)
{
	what_is_over_a_limit_passes(*state, "limit add any rate 5/1h\n");
}

static void a_limit_without_leases_drops_nothing(void **state)
{
	what_is_over_a_limit_passes(*state, "limit add any rate 5/1h count rejected\n");
}

/* The limit that has room is not charged, as where the packet is dropped. */
static void several_limits_drop_nothing(void **state)
{
	what_is_over_a_limit_passes(*state, "limit add any rate 5/1h\n"
					    "limit add udp rate 100/1h match udp\n");
	assert_limit(*state, "udp", 5, 0, 0);
}

static void what_passes_is_charged(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1h\n");
	begin(program);
	assert_int_equal(burst(program, SOURCE, 3), 3);
	end(program);
	assert_int_equal(burst(program, SOURCE, 20), 2);
	assert_limit(program, "any", 5, 18, 0);
	assert_int_equal(reason_of(program, RF_PAUSED), 0);
}

static void a_denied_source_passes(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1h\ndeny add 192.0.2.1\n"
			       "deny add 2001:db8::/64\n");
	assert_int_equal(burst(program, SOURCE, 20) + burst(program, "2001:db8::1", 20), 0);
	begin(program);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	assert_int_equal(burst(program, "2001:db8::1", 20), 20);
	end(program);
	assert_int_equal(burst(program, SOURCE, 20) + burst(program, "2001:db8::1", 20), 0);
	assert_int_equal(reason_of(program, RF_DENIED), 80);
	assert_int_equal(reason_of(program, RF_PAUSED), 40);
	assert_limit(program, "any", 0, 0, 0);
}

/*
 * As over a shadow limit, no source gets a ban; a banned source passes until the end of the pause.
 */
static void no_ban_begins_and_none_drops(struct program *program, const char *rules)
{
	uint64_t banned_until;

	program_apply(program, rules);
	begin(program);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	end(program);
	assert_limit(program, "any", 5, 0, 15);
	assert_int_equal(program_source(program, "any", SOURCE).banned_until, 0);
	assert_int_equal(burst(program, SOURCE, 20), 0); /* now it is banned */
	assert_int_equal(reason_of(program, RF_BANNED), 19);
	banned_until = program_source(program, "any", SOURCE).banned_until;
	begin(program);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	end(program);
	assert_int_equal(program_source(program, "any", SOURCE).banned_until, banned_until);
	assert_int_equal(burst(program, SOURCE, 20), 0);
	assert_int_equal(reason_of(program, RF_BANNED), 39);
	assert_limit(program, "any", 5, 40, 35);
}

static void a_ban_waits(void **state)
{
	no_ban_begins_and_none_drops(*state, "limit add any rate 5/1h ban 1h\n");
}

static void a_ban_of_one_of_two_limits_waits(void **state)
{
	no_ban_begins_and_none_drops(*state, "limit add any rate 5/1h ban 1h\n"
					     "limit add udp rate 100/1h match udp\n");
}

static void a_ban_of_all_packets_waits(void **state)
{
	no_ban_begins_and_none_drops(*state, "limit add any rate 5/1h ban 1h all\n");
}

static void newcomers_pass(void **state)
{
	struct program *program = *state;
	char source[32];

	program_apply(program, "limit add any rate 5/1h\nnewcomers rate 1/1h then drop\n");
	assert_int_equal(burst(program, SOURCE, 1), 1);
	begin(program);
	for (int i = 2; i < 12; i++) {
		snprintf(source, sizeof(source), "192.0.2.%d", i);
		assert_int_equal(burst(program, source, 2), 2);
	}
	end(program);
	assert_int_equal(reason_of(program, RF_PAUSED), 20);
	assert_int_equal(reason_of(program, RF_NEWCOMER_DROP), 0);
	assert_int_equal(burst(program, "192.0.2.2", 2), 0);
}

static void newcomers_of_one_network_pass(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1h\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(burst(program, "198.51.100.1", 1), 1);
	assert_int_equal(burst(program, SOURCE, 20), 5);
	begin(program);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	end(program);
	assert_int_equal(burst(program, SOURCE, 20), 0);
	assert_limit(program, "any", 6, 35, 20);
}

static void frames_without_a_source_pass(void **state)
{
	struct program *program = *state;
	struct frame4 frame = frame4_from(0);
	int passed = 0;

	program_apply(program, "limit add link rate 5/1h match other\n");
	frame.eth.h_proto = htons(ETH_P_ARP);
	begin(program);
	for (int i = 0; i < 20; i++)
		passed += program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
			  XDP_PASS;
	end(program);
	assert_int_equal(passed, 20);
	assert_limit(program, "link", 5, 0, 15);
	assert_int_equal(program_run(program->object->progs.ringfence, &frame, sizeof(frame)),
			 XDP_DROP);
}

/* No command and no daemon is needed: the time of the packet decides. */
static void it_ends_by_itself(void **state)
{
	struct program *program = *state;
	uint64_t ends_ns;

	program_apply(program, "limit add any rate 5/1h\ndeny add 192.0.2.9\n");
	burst(program, SOURCE, 5);
	assert_int_equal(left_ns(program), 0);
	begin(program);
	assert_in_range(left_ns(program), PAUSE_NS, PAUSE_NS + TICK_NS);
	ends_ns = START_NS + left_ns(program);
	program_set_time(program, ends_ns - 1);
	assert_int_equal(burst(program, SOURCE, 20) + burst(program, "192.0.2.9", 20), 40);
	assert_true(left_ns(program) > 0);
	program_set_time(program, ends_ns);
	assert_int_equal(burst(program, SOURCE, 20) + burst(program, "192.0.2.9", 20), 0);
	assert_int_equal(left_ns(program), 0);
}

static void another_one_replaces_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program);
	rf_fence_pause(&program->fence, 2 * PAUSE_NS);
	program_set_time(program, START_NS + PAUSE_NS + NS_PER_S);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	rf_fence_pause(&program->fence, NS_PER_S);
	program_set_time(program, START_NS + PAUSE_NS + 3 * NS_PER_S);
	assert_int_equal(burst(program, SOURCE, 20), 0);
}

static void a_change_of_the_rules_keeps_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	begin(program);
	program_apply(program, "limit add any rate 1/1h\ndeny add 192.0.2.2\n");
	assert_int_equal(burst(program, SOURCE, 20) + burst(program, "192.0.2.2", 20), 40);
	program_apply(program, "deny add 192.0.2.1\n");
	assert_int_equal(burst(program, SOURCE, 20), 20);
	end(program);
	assert_int_equal(burst(program, SOURCE, 20), 0);
}

/* Nor does the rollback of unconfirmed rules end it, for any active rules after that. */
static void unconfirmed_rules_drop_nothing(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.1\n");
	program_apply_unconfirmed(program, "deny add 192.0.2.2\n", NS_PER_S);
	begin(program);
	assert_int_equal(burst(program, "192.0.2.2", 20), 20);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_REVERTED);
	assert_int_equal(burst(program, SOURCE, 20), 20);
	end(program);
	assert_int_equal(burst(program, SOURCE, 20), 0);
}

/* A fence that never had a limit has not measured the clock. */
static void it_needs_no_rules(void **state)
{
	struct program *program = *state;

	program_set_time(program, 0);
	program->config->tick_ns = 0;
	begin(program);
	assert_in_range(left_ns(program), PAUSE_NS - NS_PER_S, PAUSE_NS + NS_PER_S);
	end(program);
	assert_int_equal(left_ns(program), 0);
}

/* ---- the edges of a pause ---- */

#define EDGE_PACKETS 400000

struct flipping {
	const struct program *program;
	bool ends;
};

/* Pauses start and stop continually, only by the word that the command line writes. */
static void *flip(void *context)
{
	struct flipping *flipping = context;
	__u64 *until = &flipping->program->config->paused_until;

	while (!__atomic_load_n(&flipping->ends, __ATOMIC_RELAXED)) {
		__atomic_store_n(until, RF_FOREVER, __ATOMIC_RELAXED);
		__atomic_store_n(until, 0, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void send_while_pauses_flip(const struct program *program, const struct frame4 *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(*frame),
		    .repeat = EDGE_PACKETS);
	struct flipping flipping = {.program = program};
	pthread_attr_t elsewhere;
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 1; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &cpus);
	assert_int_equal(pthread_attr_init(&elsewhere), 0);
	assert_int_equal(pthread_attr_setaffinity_np(&elsewhere, sizeof(cpus), &cpus), 0);
	assert_int_equal(pthread_create(&thread, &elsewhere, flip, &flipping), 0);
	pthread_attr_destroy(&elsewhere);
	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(program->object->progs.ringfence), &run), 0);
	__atomic_store_n(&flipping.ends, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	end(program);
}

/* Each packet has the same fate in the counters of reasons, of its limit and of its source. */
static void counters_agree_at_its_edges(struct program *program, const char *rules)
{
	const struct frame4 frame = frame4_from(inet_addr(SOURCE));
	uint64_t refused, paused;

	program_apply(program, rules);
	send_while_pauses_flip(program, &frame);
	refused = reason_of(program, RF_OVER_LIMIT);
	paused = reason_of(program, RF_PAUSED);
	assert_int_equal(refused + paused + 5, EDGE_PACKETS);
	assert_limit(program, "any", 5, refused, paused);
	assert_source(program, "any", 5, refused, paused);
}

static void counters_of_a_limit_agree_at_its_edges(void **state)
{
	counters_agree_at_its_edges(*state, "limit add any rate 5/1h count rejected\n");
}

static void counters_of_several_limits_agree_at_its_edges(void **state)
{
	counters_agree_at_its_edges(*state, "limit add any rate 5/1h count rejected\n"
					    "limit add udp rate 500k/1h match udp\n");
}

static void counters_of_leases_agree_at_its_edges(void **state)
{
	counters_agree_at_its_edges(*state, "limit add any rate 5/1h\n");
}

/* ARP, which no source is charged for. */
static void counters_of_other_frames_agree_at_its_edges(void **state)
{
	struct program *program = *state;
	struct frame4 frame = frame4_from(0);
	uint64_t refused, paused;

	frame.eth.h_proto = htons(ETH_P_ARP);
	program_apply(program, "limit add link rate 5/1h match other\n");
	send_while_pauses_flip(program, &frame);
	refused = reason_of(program, RF_OVER_LIMIT);
	paused = reason_of(program, RF_PAUSED);
	assert_int_equal(refused + paused + 5, EDGE_PACKETS);
	assert_limit(program, "link", 5, refused, paused);
}

#define TEST(function) \
	cmocka_unit_test_setup_teardown(function, program_setup_at_start, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_limit_drops_nothing),
		TEST(a_limit_without_leases_drops_nothing),
		TEST(several_limits_drop_nothing),
		TEST(what_passes_is_charged),
		TEST(a_denied_source_passes),
		TEST(a_ban_waits),
		TEST(a_ban_of_one_of_two_limits_waits),
		TEST(a_ban_of_all_packets_waits),
		TEST(newcomers_pass),
		TEST(newcomers_of_one_network_pass),
		TEST(frames_without_a_source_pass),
		TEST(it_ends_by_itself),
		TEST(another_one_replaces_it),
		TEST(a_change_of_the_rules_keeps_it),
		TEST(unconfirmed_rules_drop_nothing),
		TEST(it_needs_no_rules),
		TEST(counters_of_a_limit_agree_at_its_edges),
		TEST(counters_of_several_limits_agree_at_its_edges),
		TEST(counters_of_leases_agree_at_its_edges),
		TEST(counters_of_other_frames_agree_at_its_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
