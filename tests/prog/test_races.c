// SPDX-License-Identifier: GPL-2.0
/*
 * Two CPUs at full speed on one source, through the loaded program: in each round both send a burst
 * at the same time, and then the clock advances by one cell. The count of a round is exact, because
 * no packet is in flight when it is read. And with the kernel's clock: then each packet is known to
 * have passed between two times.
 *
 * Runs exclusively: two CPUs meet at one source only while both are idle.
 */
#include "program.h"

#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "ringfence/limiter.h"

#define CPUS 2
#define BURST 3000
#define RATE 1000
#define ROUNDS 60
#define RACE_START_NS (6000 * NS_PER_S)

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

/* Both CPUs send their burst; returns how many packets passed. */
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
	limit.flags = RF_EXACT;
	program_set_limit(program, &limit);
	for (int round = 0; round < ROUNDS; round++) {
		program_set_time(program, RACE_START_NS + round * NS_PER_S);
		assert_int_equal(race(program), RATE);
	}
	assert_all_counted(program);
}

/*
 * A flood: a whole window's worth passes in the cell in which the window reopens, and nothing
 * before.
 */
static void sliding_window_under_threads(void **state)
{
	struct program *program = *state;
	struct rf_limit limit = limit_of(RATE, NS_PER_S);
	const struct rf_policy *policy;
	uint64_t epoch;

	limit.cells = 4;
	limit.flags = RF_EXACT;
	program_set_limit(program, &limit);
	policy = program_policy(program);
	epoch = program_epoch_at(policy, RACE_START_NS);
	for (int round = 0; round < ROUNDS; round++) {
		program_set_time(program, program_epoch_ns(policy, epoch + round));
		assert_int_equal(race(program), round % limit.cells ? 0 : RATE);
	}
	assert_all_counted(program);
}

/* ---- several limits ---- */

/* Each limit admits at most its bound; and each charge was admitted or forfeited. */
static void assert_charged(const struct program *program, const char *name, uint64_t passed)
{
	const struct rf_limit_counters limit = program_limit_counters_of(program, name);
	const struct rf_source source = program_source(program, name, "192.0.2.1");

	assert_int_equal(limit.passed.packets, passed);
	assert_int_equal(source.passed, passed);
	assert_int_equal(source.dropped, limit.dropped.packets);
	assert_int_equal(rf_word_used(source.window.head), passed + limit.forfeited.packets);
}

/*
 * The first and the last limit never refuse, and their windows hold all charges: one is before the
 * limit that refuses, the other behind it.
 */
static void stacked_limits_under_threads(void **state)
{
	struct program *program = *state;
	uint64_t passed = 0, forfeited;
	struct rf_counters counters;

	program_apply(program, "limit add first rate 100M/8000h algorithm fixed exact\n"
			       "limit add tight rate 1k/1s algorithm fixed exact\n"
			       "limit add last rate 100M/8000h algorithm fixed exact\n");
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t before = passed;

		program_set_time(program, RACE_START_NS + round * NS_PER_S);
		passed += race(program);
		assert_int_equal(passed - before, RATE);
	}
	assert_charged(program, "first", passed);
	assert_charged(program, "last", passed);
	assert_int_equal(program_limit_counters_of(program, "last").forfeited.packets, 0);
	forfeited = program_limit_counters_of(program, "first").forfeited.packets;
	print_message("# forfeited %llu\n", (unsigned long long)forfeited);
	assert_true(forfeited <= ROUNDS * CPUS);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, passed);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets +
				 counters.reason[RF_CONTENDED].packets,
			 ROUNDS * CPUS * BURST - passed);
	assert_int_equal(program_limit_counters_of(program, "tight").dropped.packets,
			 ROUNDS * CPUS * BURST - passed);
}

/*
 * Credits of several windows are taken one after the other: a lost race loses credits, and never
 * adds any.
 */
static void credits_of_stacked_limits_under_threads(void **state)
{
	struct program *program = *state;
	struct rf_source source;
	uint64_t total = 0;

	program_apply(program, "limit add one rate 1k/1s algorithm fixed\n"
			       "limit add two rate 1100/1s algorithm fixed per /24\n"
			       "limit add any rate 100M/8000h algorithm fixed\n");
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t passed;

		program_set_time(program, RACE_START_NS + round * NS_PER_S);
		passed = race(program);
		assert_in_range(passed, RATE - RATE / 16, RATE);
		total += passed;
	}
	source = program_source(program, "any", "192.0.2.1");
	assert_int_equal(source.passed, total);
	assert_in_range(rf_word_used(source.window.head), total, total + total / 8);
	assert_int_equal(program_packets(program), ROUNDS * CPUS * BURST);
	assert_int_equal(program_limit_counters_of(program, "one").dropped.packets +
				 program_limit_counters_of(program, "two").dropped.packets,
			 ROUNDS * CPUS * BURST - total);
}

/* ---- the kernel's clock ---- */

#define REAL_NS (3 * NS_PER_S)
#define ADMITTED_MAX 200000

/* The packet passed between these times, both included. */
struct admission {
	uint64_t after_ns;
	uint64_t before_ns;
};

struct real_sender {
	const struct program *program;
	pthread_barrier_t *barrier;
	int cpu;
	int err;
	uint64_t sent;
	size_t admitted;
	struct admission admission[ADMITTED_MAX];
};

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *send_really(void *context)
{
	const struct frame4 frame = frame4_from(htonl(0xc0000201));
	struct real_sender *sender = context;
	uint64_t now_ns, end_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sender->cpu, &cpus);
	sender->err = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	pthread_barrier_wait(sender->barrier);
	now_ns = monotonic_ns();
	for (end_ns = now_ns + REAL_NS; now_ns < end_ns && !sender->err; sender->sent++) {
		const uint64_t after_ns = now_ns;
		int verdict = program_try(sender->program->object->progs.ringfence, &frame,
					  sizeof(frame));

		now_ns = monotonic_ns();
		if (verdict < 0)
			sender->err = verdict;
		if (verdict == XDP_PASS && sender->admitted < ADMITTED_MAX)
			sender->admission[sender->admitted++] =
				(struct admission){after_ns, now_ns};
	}
	return NULL;
}

static int compare_admissions(const void *a, const void *b)
{
	const struct admission *one = a, *other = b;

	return one->after_ns < other->after_ns ? -1 : one->after_ns > other->after_ns;
}

/* Among the packets that certainly passed within one such time there are at most `rate`. */
static void assert_bound(const struct admission *admission, size_t count, size_t rate,
			 uint64_t window_ns)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t end_ns = admission[i].after_ns + window_ns;
		size_t within = 0;

		for (size_t j = i; j < count && admission[j].after_ns <= end_ns; j++)
			within += admission[j].before_ns <= end_ns;
		if (within > rate)
			fail_msg("%zu of at most %zu within %llu ns", within, rate,
				 (unsigned long long)window_ns);
	}
}

static void send_really_on_all(const struct program *program, struct real_sender *sender)
{
	pthread_barrier_t barrier;
	pthread_t thread[CPUS];

	assert_int_equal(pthread_barrier_init(&barrier, NULL, CPUS), 0);
	for (int i = 0; i < CPUS; i++) {
		sender[i].program = program;
		sender[i].barrier = &barrier;
		sender[i].cpu = i;
		assert_int_equal(pthread_create(&thread[i], NULL, send_really, &sender[i]), 0);
	}
	for (int i = 0; i < CPUS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(sender[i].err, 0);
	}
	pthread_barrier_destroy(&barrier);
}

static int setup_real(void **state)
{
	struct program *program = calloc(1, sizeof(*program));
	struct rf_error error = {};

	assert_non_null(program);
	program_open(program);
	program->object->rodata->rf_rodata.injected_clock = 0;
	program_load(program);
	program->config->tick_ns = 0;
	assert_done(rf_fence_measure_clock(&program->fence, &error), &error);
	*state = program;
	return 0;
}

static void check_real(const struct program *program, struct real_sender *sender)
{
	const struct rf_limit_counters one = program_limit_counters_of(program, "one");
	const struct rf_limit_counters two = program_limit_counters_of(program, "two");
	const struct rf_limit_counters all = program_limit_counters_of(program, "any");
	const uint64_t sent = sender[0].sent + sender[1].sent;
	const size_t admitted = sender[0].admitted + sender[1].admitted;
	const struct rf_source source = program_source(program, "any", "192.0.2.1");
	struct admission *merged = calloc(admitted, sizeof(*merged));

	assert_non_null(merged);
	memcpy(merged, sender[0].admission, sender[0].admitted * sizeof(*merged));
	memcpy(merged + sender[0].admitted, sender[1].admission,
	       sender[1].admitted * sizeof(*merged));
	qsort(merged, admitted, sizeof(*merged), compare_admissions);
	assert_bound(merged, admitted, 500, 300 * NS_PER_MS);
	assert_bound(merged, admitted, 1000, NS_PER_S);
	free(merged);
	assert_int_equal(one.passed.packets, admitted);
	assert_int_equal(two.passed.packets, admitted);
	assert_int_equal(all.passed.packets, admitted);
	assert_int_equal(one.passed.packets + one.dropped.packets + two.dropped.packets, sent);
	assert_int_equal(program_packets(program), sent);
	/* Both limits bind in turn: one for a third of a second, the other for a whole second. */
	assert_true(one.dropped.packets > 0 && two.dropped.packets > 0);
	assert_in_range(admitted, 1000, 4 * 1000);
	if (program_policy_of(program, "any")->flags & RF_EXACT)
		assert_int_equal(rf_word_used(source.window.head),
				 admitted + all.forfeited.packets);
	print_message("# %zu of %llu passed, forfeited %llu %llu %llu\n", admitted,
		      (unsigned long long)sent, (unsigned long long)all.forfeited.packets,
		      (unsigned long long)one.forfeited.packets,
		      (unsigned long long)two.forfeited.packets);
}

static void run_real(struct program *program, const char *rules)
{
	struct real_sender *sender = calloc(CPUS, sizeof(*sender));

	assert_non_null(sender);
	program_apply(program, rules);
	send_really_on_all(program, sender);
	check_real(program, sender);
	free(sender);
}

/* Each limit meets its bound, and every charged packet has passed or is forfeited. */
static void stacked_limits_by_the_kernels_clock(void **state)
{
	run_real(*state, "limit add any rate 100M/8000h algorithm fixed exact\n"
			 "limit add one rate 500/300ms cells 4 exact\n"
			 "limit add two rate 1k/1s exact\n");
}

static void stacked_limits_with_credits_by_the_kernels_clock(void **state)
{
	run_real(*state, "limit add any rate 100M/8000h algorithm fixed\n"
			 "limit add one rate 500/300ms cells 4\n"
			 "limit add two rate 1k/1s\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a fixed window under threads passes exactly L, 60 times", weak_form_under_threads,
		 program_setup, program_teardown, NULL},
		{"a sliding window under threads passes exactly L each time it reopens",
		 sliding_window_under_threads, program_setup, program_teardown, NULL},
		{"stacked limits under threads pass exactly L, and forfeit the other charges",
		 stacked_limits_under_threads, program_setup, program_teardown, NULL},
		{"stacked limits with credits under threads keep their bounds",
		 credits_of_stacked_limits_under_threads, program_setup, program_teardown, NULL},
		{"stacked limits by the kernel's clock pass at most L in any W",
		 stacked_limits_by_the_kernels_clock, setup_real, program_teardown, NULL},
		{"stacked limits with credits by the kernel's clock keep their bounds",
		 stacked_limits_with_credits_by_the_kernels_clock, setup_real, program_teardown,
		 NULL},
	};

	return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
