// SPDX-License-Identifier: GPL-2.0
/*
 * Nanoseconds a packet under BPF_PROG_TEST_RUN. Rounds take turns: a change of the machine's speed
 * affects all rows alike.
 *
 * The figure is the CPU time of the calling thread. It excludes other processes, the host's other
 * guests and the grace periods for which the call sleeps, and it is finer than the whole
 * nanoseconds that the kernel returns. The cost of the call itself is subtracted.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define IDLE_CALLS 9   /* whose median is the price of a call */
#define TRIES 5	       /* of a round whose packets were not in the expected state */
#define PACE_PARTS 8   /* of the first packets of all sources, */
#define PACE_MEET_S 2  /* with this time before each */
#define PACE_WARM_S 24 /* then to the middle of a period of loans, which is 16.4 s long */

bool run_on_cpu(int nth)
{
	static cpu_set_t usable; /* before the process was pinned */
	cpu_set_t one;

	if (!CPU_COUNT(&usable) && sched_getaffinity(0, sizeof(usable), &usable))
		die("cannot tell which CPUs there are: %s", strerror(errno));
	CPU_ZERO(&one);
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && !CPU_COUNT(&one); cpu--)
		if (CPU_ISSET(cpu, &usable) && nth-- == 0)
			CPU_SET(cpu, &one);
	return CPU_COUNT(&one) && sched_setaffinity(0, sizeof(one), &one) == 0;
}

static double cpu_time_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

double run_call(const struct target *target, struct frame *frame, uint32_t repeat, int *verdict)
{
	uint32_t size;
	void *bytes = frame_bytes(frame, &size);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = size,
		    .data_out = bytes, .data_size_out = size, .repeat = repeat);
	double start = cpu_time_ns();
	int err = bpf_prog_test_run_opts(target->fd[frame->family], &run);

	if (err)
		die("cannot run the program: %s", strerror(-err));
	*verdict = run.retval;
	return cpu_time_ns() - start;
}

/* ---- statistics ---- */

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median_of(const double *values, int count)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	return sorted[count / 2];
}

static void summarize(struct row *row, const struct row *base, int rounds)
{
	struct summary *summary = &row->summary;
	double over[ROUNDS_MAX], ratio[ROUNDS_MAX];

	summary->min = summary->max = row->ns[0];
	for (int i = 0; i < rounds; i++) {
		over[i] = row->ns[i] - base->ns[i];
		ratio[i] = row->ns[i] / base->ns[i];
		summary->min = row->ns[i] < summary->min ? row->ns[i] : summary->min;
		summary->max = row->ns[i] > summary->max ? row->ns[i] : summary->max;
	}
	summary->median = median_of(row->ns, rounds);
	summary->over = median_of(over, rounds);
	summary->ratio = median_of(ratio, rounds);
}

/* ---- rounds ---- */

/* The cost of a call, in which the kernel changes its dispatcher and allocates memory. */
static double price_call(const struct row *floor)
{
	static double price_ns;
	struct frame frame = floor->frame;
	double ns[IDLE_CALLS];
	int verdict;

	for (int i = 0; i < IDLE_CALLS && !price_ns; i++)
		ns[i] = run_call(floor->target, &frame, 2, &verdict);
	if (!price_ns)
		price_ns = median_of(ns, IDLE_CALLS);
	return price_ns;
}

/*
 * One packet in a thousand can get a different verdict: the first of a window, or one after an
 * eviction.
 */
static void check_verdicts(const struct row *row, uint64_t passed, uint64_t dropped)
{
	uint64_t wrong = row->verdict == XDP_PASS ? dropped : passed;

	if (wrong > (passed + dropped) / 1000)
		die("%s: %llu packets passed and %llu dropped, so it measures nothing", row->name,
		    (unsigned long long)passed, (unsigned long long)dropped);
}

static void rest(uint32_t ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	if (ms)
		nanosleep(&time, NULL);
}

/* Between two slices. Of a row with `pace`, before each: its slices divide a second evenly. */
static void pause_row(struct row *row, uint32_t slice)
{
	if (row->pace)
		target_pass_time(row->target, SECOND / row->pace / row->slices);
	else if (slice)
		rest(row->pause_ms);
}

/* Runs this many packets of a row, in slices; returns the CPU time. */
static double run_packets(struct row *row, uint32_t packets, double price_ns, int *verdict)
{
	const uint32_t slices = row->slices ? row->slices : 1;
	double ns = 0;

	for (uint32_t i = 0; i < slices; i++) {
		pause_row(row, i);
		ns += run_call(row->target, &row->frame, packets / slices, verdict) - price_ns;
	}
	if (frame_walk(&row->frame)->missed)
		die("%s: has missed %u sources", row->name, frame_walk(&row->frame)->missed);
	return ns;
}

static double run_alone(struct row *row, double price_ns, int *verdict)
{
	struct sample sample;
	double ns;

	for (int i = 0; i < TRIES; i++) {
		if (row->lead)
			run_packets(row, row->lead, price_ns, verdict);
		rest(row->rest_ms);
		habit_begin(&sample, row, row->repeat);
		ns = run_packets(row, row->repeat, price_ns, verdict);
		if (habit_end(&sample, row))
			return ns;
	}
	die("%s: %s; so it measures something else", row->name, sample.wrong);
}

/*
 * A second of a row with `pace`: each walk takes the sources in a different order, so the packets
 * of a source are 0 to 2 / pace seconds apart.
 */
static double run_second(struct row *row, double price_ns, int *verdict)
{
	static const uint32_t factors[] = {WALK_RANDOM, 22695477, 1103515245, 214013, 134775813};
	const uint32_t packets = row->repeat / row->pace;
	struct sample sample;
	double ns = 0;

	if (row->changes_list)
		target_change_list(row->target, row->frame.family);
	for (uint32_t i = 0; i < row->pace; i++) {
		frame_walk(&row->frame)->factor =
			factors[row->walks++ % (sizeof(factors) / sizeof(factors[0]))];
		habit_begin(&sample, row, packets);
		ns += run_packets(row, packets, price_ns, verdict);
		habit_end(&sample, row);
	}
	return ns;
}

static double run_round(struct row *row, double price_ns)
{
	uint64_t passed_before, dropped_before, passed, dropped;
	bool counts = target_count(row->target, &passed_before, &dropped_before);
	double ns;
	int verdict;

	if (row->pace)
		ns = run_second(row, price_ns, &verdict);
	else if (row->beside == ALONE)
		ns = run_alone(row, price_ns, &verdict);
	else
		ns = pair_call(row, &verdict);
	if (verdict != row->verdict)
		die("%s: verdict %d, not %d", row->name, verdict, row->verdict);
	if (counts) {
		target_count(row->target, &passed, &dropped);
		check_verdicts(row, passed - passed_before, dropped - dropped_before);
	}
	return ns / row->repeat;
}

/*
 * Every source has sent once when the rounds start, in a different order than in the rounds. With
 * `pace`, in parts, since a guard admits at most an eighth of the slots in its TIME of a second.
 */
static void warm_up(struct row *row)
{
	const uint32_t parts = row->pace ? PACE_PARTS : 1;
	struct frame frame = row->frame;
	int verdict;

	if (!row->warm)
		return;
	frame_walk(&frame)->factor = WALK_PLAIN;
	frame_walk(&frame)->hold = 0;
	for (uint32_t i = 0; i < parts; i++) {
		if (row->pace)
			target_pass_time(row->target, PACE_MEET_S * SECOND);
		run_call(row->target, &frame, row->warm / parts, &verdict);
	}
}

/* All rows together. */
static void settle(struct group *group)
{
	uint32_t longest_s = 0;

	for (int i = 0; i < group->rows; i++)
		if (group->row[i].settle_s > longest_s)
			longest_s = group->row[i].settle_s;
	rest(longest_s * 1000);
	for (int i = 0; i < group->rows; i++)
		if (group->row[i].settle_s)
			warm_up(&group->row[i]);
}

/* In a group with `seconds`, the rows take turns each second of a round. */
static void run_rows(struct group *group, int round, double price_ns)
{
	const int seconds = group->seconds ? group->seconds : 1;

	for (int i = 0; i < group->rows; i++)
		group->row[i].ns[round] = 0;
	for (int second = 0; second < seconds; second++)
		for (int i = 0; i < group->rows; i++)
			group->row[i].ns[round] += run_round(&group->row[i], price_ns) / seconds;
}

/*
 * Before the first round of rows with `pace`: their sources become residents, and have loans for
 * some seconds.
 */
static void begin_pace(struct group *group, double price_ns)
{
	for (uint32_t second = 0; second < PACE_WARM_S; second++)
		for (int i = 0; i < group->rows; i++)
			if (group->row[i].pace)
				run_round(&group->row[i], price_ns);
}

/* All rounds of all rows. */
static void take_turn(struct group *group, int rounds, double price_ns)
{
	quiet_begin();
	for (int i = 0; i < group->rows; i++)
		group->row[i].sampled = group->row[i].leased = 0;
	for (int round = 0; round < rounds; round++)
		run_rows(group, round, price_ns);
	for (int i = 0; i < group->rows; i++)
		summarize(&group->row[i], &group->row[group->row[i].base], rounds);
}

/* `most` 0: no other limit than the option. */
static int at_most(int option, int most)
{
	return most && most < option ? most : option;
}

/* A disturbed group takes another turn; the quietest turn counts. */
static void take_turns(struct group *group, const struct bench_options *options, double price_ns)
{
	static struct row quietest[ROWS_MAX];
	const int turns = at_most(options->turns, group->turns_most);
	const int rounds = at_most(options->rounds, group->rounds_most);

	while (group->turns < turns) {
		struct noise noise;

		take_turn(group, rounds, price_ns);
		noise = quiet_end(group, rounds);
		if (!group->turns++ || quiet_is_better(&noise, &group->noise)) {
			group->noise = noise;
			memcpy(quietest, group->row, sizeof(quietest));
		}
		if (quiet_judge(&group->noise, group->disturbed, sizeof(group->disturbed)))
			break;
	}
	memcpy(group->row, quietest, sizeof(quietest));
}

void run_group(struct group *group, const struct bench_options *options)
{
	double price_ns = price_call(&group->row[0]);

	for (int i = 0; i < group->rows; i++) {
		if (!group->row[i].repeat)
			group->row[i].repeat = options->repeat;
		warm_up(&group->row[i]);
	}
	settle(group);
	begin_pace(group, price_ns);
	take_turns(group, options, price_ns);
}
