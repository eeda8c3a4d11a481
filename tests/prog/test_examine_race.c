// SPDX-License-Identifier: GPL-2.0
/*
 * Newcomers over the newcomers rate on two CPUs at the same time: the bounds on responses and on
 * windows hold exactly. The clock advances only while no packet is in flight.
 *
 * Runs exclusively: both CPUs must run at the same time.
 */
#include "examine.h"

#include <pthread.h>
#include <stdio.h>

#include "bursts.h"

#define CPUS 2
#define PREFIX_MOST 256	 /* responses to a /24 or /48 in a period: ringfence-rules(5) */
#define ANSWERS_BATCH 64 /* that a CPU charges together, if there are many */
#define ROUNDS 40
#define ROUND_NS (NS_PER_S / 8)
#define PROOFS 50
#define PROVING 400

/* The packets of a CPU: SYNs of that many networks in turn, or the given ones. */
struct sender {
	struct program *program;
	pthread_barrier_t *barrier;
	int cpu;
	unsigned int first, networks, count;
	const uint32_t *cookie; /* of each network; NULL: SYNs */
	unsigned int passed, answered;
};

static void send_one(struct sender *sender, unsigned int i)
{
	const struct client one = {sender->first + i % sender->networks,
				   i / sender->networks % 256};
	const struct segment syn = {.flags = SYN},
			     ack = {.flags = ACK,
				    .seq = 1,
				    .ack_seq = sender->cookie ? sender->cookie[i] + 1 : 0};
	const int verdict = run_segment(sender->program, one, sender->cookie ? &ack : &syn);

	sender->passed += verdict == XDP_PASS;
	sender->answered += verdict == XDP_TX;
}

static void *send_all(void *context)
{
	struct sender *sender = context;

	program_run_on(sender->cpu);
	pthread_barrier_wait(sender->barrier);
	for (unsigned int i = 0; i < sender->count; i++)
		send_one(sender, i);
	return NULL;
}

/* Each CPU sends its packets; returns the sums in `sum`. */
static struct sender race(struct sender sender[CPUS])
{
	struct sender sum = {};
	pthread_barrier_t barrier;
	pthread_t thread[CPUS];

	assert_int_equal(pthread_barrier_init(&barrier, NULL, CPUS), 0);
	for (int i = 0; i < CPUS; i++) {
		sender[i].barrier = &barrier;
		sender[i].cpu = i;
		assert_int_equal(pthread_create(&thread[i], NULL, send_all, &sender[i]), 0);
	}
	for (int i = 0; i < CPUS; i++) {
		pthread_join(thread[i], NULL);
		sum.passed += sender[i].passed;
		sum.answered += sender[i].answered;
	}
	pthread_barrier_destroy(&barrier);
	return sum;
}

/* SYNs of the same sources on both CPUs; returns the number of responses. */
static unsigned int race_syns(struct program *program, unsigned int networks, unsigned int count)
{
	struct sender sender[CPUS];

	for (int i = 0; i < CPUS; i++)
		sender[i] =
			(struct sender){.program = program, .networks = networks, .count = count};
	return race(sender).answered;
}

static void a_prefix_gets_exactly_its_answers(void **state)
{
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (int i = 0; i < ROUNDS; i++) {
		/* Two seconds are longer than a period. */
		program_set_time(program, START_NS + 2 * i * NS_PER_S);
		each_of(program, NET(11, i, 0, 0), 1000);
		assert_int_equal(race_syns(program, 1, 1000), PREFIX_MOST);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), ROUNDS * PREFIX_MOST);
}

/* In each TIME, with packets in each of its cells. */
static void all_answers_together_are_limited_in_any_time(void **state)
{
	unsigned int answered[ROUNDS], in_time = 0;
	struct program *program = *state;

	apply(program, "2/1s", "challenge answers 300/1s");
	for (int i = 0; i < ROUNDS; i++) {
		program_set_time(program, START_NS + i * ROUND_NS);
		each_of(program, NET(11, i, 0, 0), 1000);
		answered[i] = race_syns(program, 1000, 1000);
		in_time += answered[i];
		if (i >= 8)
			in_time -= answered[i - 8];
		assert_true(in_time <= 300);
	}
	assert_int_equal(answered[0], 300);
	assert_true(reason_of(program, RF_CHALLENGED) > 3 * 300);
}

/* A CPU charges 64 at a time, so fewer than 64 are left over. */
static void many_answers_together_are_limited(void **state)
{
	struct program *program = *state;
	const unsigned int limit = 100010, sent = 80000;
	unsigned int answered;

	apply(program, "2/1s", "challenge answers 100010/1s");
	answered = race_syns(program, 4000, sent);
	print_message("# %u responses to %u SYNs\n", answered, CPUS * sent);
	assert_int_equal(answered, limit / ANSWERS_BATCH * ANSWERS_BATCH);
}

/* Each CPU has proofs of other sources. */
static void proofs_create_exactly_their_rate_of_windows(void **state)
{
	struct program *program = *state;
	static uint32_t cookie[CPUS][PROVING];
	struct sender sender[CPUS], sum;
	char rate[20];

	snprintf(rate, sizeof(rate), "%d/1s", PROOFS);
	apply(program, rate, "challenge");
	for (int i = 0; i < CPUS; i++) {
		sender[i] = (struct sender){.program = program,
					    .first = i * PROVING,
					    .networks = PROVING,
					    .count = PROVING,
					    .cookie = cookie[i]};
		for (unsigned int j = 0; j < PROVING; j++)
			cookie[i][j] =
				request_cookie(program, (struct client){i * PROVING + j, 0}, PORT);
	}
	sum = race(sender);
	assert_int_equal(sum.passed, PROOFS);
	assert_int_equal(reason_of(program, RF_PROVEN), PROOFS);
	assert_int_equal(program_counters(program).newcomers_admitted, 2 * PROOFS);
	assert_int_equal(program_counters(program).inserts[0] +
				 program_counters(program).inserts[1],
			 2 * PROOFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(a_prefix_gets_exactly_its_answers),
		TEST_BOTH(all_answers_together_are_limited_in_any_time),
		TEST_BOTH(many_answers_together_are_limited),
		TEST_BOTH(proofs_create_exactly_their_rate_of_windows),
	};

	return cmocka_run_group_tests(tests, open_namespace, NULL);
}
