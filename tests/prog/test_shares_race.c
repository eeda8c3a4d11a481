// SPDX-License-Identifier: GPL-2.0
/*
 * Shares that are taken back while two CPUs send by them, at full speed, through the loaded
 * program. The clock is stopped, so no count leaves a window. Once the call has waited for all
 * programs, the reported usage of a window must not grow, or a claim would fall below it: the
 * source must not pass another packet under the old share.
 *
 * Runs exclusively: two CPUs meet at one window only while both are idle.
 */
#include "shares.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define CPUS 2
#define ROUNDS 24
#define REPEAT 5000
#define MANY 400000000 /* a share that two CPUs do not use up in that time */
#define USED_LEAST 20000

struct sender {
	const struct program *program;
	const char *source;
	atomic_bool *ends;
	int cpu;
	int err;
};

static void *send_on(void *context)
{
	struct sender *sender = context;
	const struct frame4 frame = frame4_from(inet_addr(sender->source));
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = REPEAT);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sender->cpu, &cpus);
	sender->err = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	while (!sender->err && !*sender->ends)
		sender->err = bpf_prog_test_run_opts(
			bpf_program__fd(sender->program->object->progs.ringfence), &run);
	return NULL;
}

/* Reads the window of the last request, and writes nothing. */
static uint32_t used_by(const struct rf_fleet_ask *ask)
{
	struct rf_fleet_record *record = &shares.batch->record[0];
	struct rf_error error = {};

	record->writes = 0;
	shares.batch->count = 1;
	assert_done(rf_shares_call(&shares, &error), &error);
	assert_int_equal(record->result, RF_SHARE_DONE);
	assert_int_equal(record->incarnation, ask->incarnation);
	return record->used;
}

static void rest(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

/* Takes the share back from a window that two CPUs charge; `by_generation`: all of the bucket. */
static void take_back(const struct program *program, const char *source, bool by_generation)
{
	struct sender sender[CPUS];
	struct rf_fleet_ask ask;
	pthread_t thread[CPUS];
	atomic_bool ends = false;
	uint32_t used;

	read_asks();
	assert_int_equal(burst(program, source, FIRST - 1), FIRST - 1);
	assert_int_equal(read_asks(), 1);
	ask = asks[0];
	assert_int_equal(give(&ask, MANY)->result, RF_SHARE_DONE);
	for (int i = 0; i < CPUS; i++) {
		sender[i] = (struct sender){program, source, &ends, i, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, send_on, &sender[i]), 0);
	}
	while (used_by(&ask) < USED_LEAST)
		rest(100000);
	if (by_generation)
		end_shares();
	used = give(&ask, by_generation ? 0 : 100)->used;
	assert_true(used >= USED_LEAST);
	for (int i = 0; i < 20; i++) {
		rest(500000);
		assert_int_equal(used_by(&ask), used);
	}
	ends = true;
	for (int i = 0; i < CPUS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(sender[i].err, 0);
	}
	assert_int_equal(used_by(&ask), used);
	assert_true(program_source(program, "any", source).passed <= used);
}

static void race(void **state, const char *rules, bool by_generation)
{
	struct program *program = *state;
	char source[32];

	start(program, rules);
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(source, sizeof(source), "192.0.2.%d", i + 1);
		take_back(program, source, by_generation);
	}
}

static void a_lowered_share_admits_no_more(void **state)
{
	race(state, "limit add any rate 1000M/1s\n", false);
}

static void nor_does_one_without_leases(void **state)
{
	race(state, "limit add any rate 1000M/1s exact\n", false);
}

static void nor_does_one_of_a_generation_that_ended(void **state)
{
	race(state, "limit add any rate 1000M/1s\n", true);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROW(a_lowered_share_admits_no_more),
		ROW(nor_does_one_without_leases),
		ROW(nor_does_one_of_a_generation_that_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
