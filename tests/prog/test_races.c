// SPDX-License-Identifier: GPL-2.0
/*
 * Two CPUs flat out on one source, through the loaded program: each round both send a burst at the
 * same time, and then the clock advances by one cell. What passed in a round is exact, since no
 * packet is under way when it is read.
 */
#include "program.h"

#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>

#define CPUS 2
#define BURST 3000
#define RATE 1000
#define ROUNDS 60
#define START_NS (6000 * NS_PER_S)

struct sender {
	const struct program *program;
	pthread_barrier_t *barrier;
	int cpu;
	int err;
};

static void *send_burst(void *context)
{
	const struct frame4 frame = frame4_from(htonl(0xc0000201));
	struct sender *sender = context;
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = BURST);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sender->cpu, &cpus);
	sender->err = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	pthread_barrier_wait(sender->barrier);
	if (!sender->err)
		sender->err = bpf_prog_test_run_opts(
			bpf_program__fd(sender->program->object->progs.ringfence), &run);
	return NULL;
}

/* Both send their burst; returns how many passed. */
static uint64_t race(const struct program *program)
{
	uint64_t before = program_limit_counters(program).passed.packets;
	struct sender sender[CPUS];
	pthread_barrier_t barrier;
	pthread_t thread[CPUS];

	assert_int_equal(pthread_barrier_init(&barrier, NULL, CPUS), 0);
	for (int i = 0; i < CPUS; i++) {
		sender[i] = (struct sender){program, &barrier, i, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, send_burst, &sender[i]), 0);
	}
	for (int i = 0; i < CPUS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(sender[i].err, 0);
	}
	pthread_barrier_destroy(&barrier);
	return program_limit_counters(program).passed.packets - before;
}

static int setup(void **state)
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	program_open(program);
	program_load(program);
	*state = program;
	return 0;
}

static int teardown(void **state)
{
	program_close(*state);
	free(*state);
	return 0;
}

/* Every packet was passed or dropped by the limit, and counted once. */
static void assert_all_counted(const struct program *program)
{
	struct rf_counters counters = program_counters(program);
	struct rf_limit_counters limit = program_limit_counters(program);

	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, limit.passed.packets);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets +
				 counters.reason[RF_OVER_LIMIT].packets +
				 counters.reason[RF_CONTENDED].packets,
			 (uint64_t)ROUNDS * CPUS * BURST);
	assert_int_equal(limit.dropped.packets, ROUNDS * CPUS * BURST - limit.passed.packets);
}

static void weak_form_under_threads(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(RATE, NS_PER_S);

	limit.algorithm = RF_FIXED;
	limit.cells = 1;
	program_set_limit(program, &limit);
	for (int round = 0; round < ROUNDS; round++) {
		program_set_time(program, START_NS + round * NS_PER_S);
		assert_int_equal(race(program), RATE);
	}
	assert_all_counted(program);
}

/* A flood: all that a window holds passes in the cell in which it reopens, nothing until then. */
static void sliding_window_under_threads(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(RATE, NS_PER_S);
	uint64_t cell_ns;

	limit.cells = 4;
	program_set_limit(program, &limit);
	cell_ns = program_policy(program)->cell * TICK_NS;
	for (int round = 0; round < ROUNDS; round++) {
		program_set_time(program, START_NS / cell_ns * cell_ns + round * cell_ns);
		assert_int_equal(race(program), round % limit.cells ? 0 : RATE);
	}
	assert_all_counted(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"weak form under threads: exactly L in each of 60 windows",
		 weak_form_under_threads, setup, teardown, NULL},
		{"sliding under threads: exactly L in each reopened window",
		 sliding_window_under_threads, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
