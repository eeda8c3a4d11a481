// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through the limiter. Each atomic operation of limiter.h is
 * a scheduling point; a row of `rows` defines the number of CPUs, how often each takes, the
 * algorithm, the initial window and the times. The search is depth first, and a state that was
 * already seen is not searched again. A state consists of the window, the ledger of admissions, and
 * for each CPU the packets it has taken and the values that its operations have returned since the
 * last one.
 *
 * The clock: every packet can arrive at any time of the row, independently of earlier packets. This
 * models a CPU that read the clock then and stalled until its first operation; a clock that
 * advances anywhere, stops or goes back, and CPUs that disagree, are therefore all among the
 * schedules.
 *
 * In a row with leases each CPU has one: a packet tries the lease first, and then the window, after
 * which the lease is renewed, also operation by operation. Between packets a different source can
 * take its place.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "hash.h"
#include "leases.h"
#include "machine.h"
#include "seen.h"
#include "trace.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const struct rows *const groups[] = {&sliding_rows, &fixed_rows,	 &weighted_rows,
					    &log_rows,	   &bucket_rows, &leases_rows};

struct sum {
	double schedules;
	__u64 states;
};

static __u64 verdicts[RF_LOST_RACES + 1];
static __u64 answered[RF_LOST_RACES + 1]; /* by leases */
static int operations_most;

/* ---- the search ---- */

static double explore(void);

/* One more operation of a CPU, and all that may follow. */
static double explore_step(int index)
{
	struct cpu *cpu = &state.cpu[index];
	const __u64 head = state.window.head;
	double schedules = 0;
	int verdict;

	note_full();
	verdict = operate(index);
	if (cpu->call != TAKES)
		note_credits(cpu, head);
	if (verdict >= 0) {
		operations_most = at_least(operations_most, cpu->operations);
		if (cpu->call == TAKES) {
			judge(cpu, verdict);
			verdicts[verdict]++;
		}
		end_call(cpu, verdict);
	}
	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--; /* else the path is what leads to the failure */
	return schedules;
}

/* A packet that its CPU's lease handles. */
static double explore_answer(int index)
{
	struct cpu *cpu = &state.cpu[index];
	double schedules = 0;

	path[path_length++] = (struct step){
		.cpu = index,
		.time = cpu->time,
		.limit = cpu->limit,
		.verdict = lease_verdict(&cpu->lease),
		.leased = true,
	};
	judge_answer(cpu);
	answered[lease_verdict(&cpu->lease)]++;
	end_packet(cpu);
	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--;
	return schedules;
}

/* Another source takes the place of a CPU's lease. */
static double explore_displaced(int index)
{
	struct cpu *cpu = &state.cpu[index];

	if (state.displaced == row->displaces || !cpu->lease.until)
		return 0;
	state.displaced++;
	cpu->lease = (struct rf_lease){0};
	cpu->credits = cpu->credits_epoch = 0;
	return explore();
}

/* A CPU's next packet: every time at which it may come, and every L that it may find. */
static double explore_packet(int index)
{
	const struct state here = state;
	const int limits[] = {policy.limit, row->other_limit};
	double schedules = 0;

	for (int i = 0; i < 2 && limits[i]; i++) {
		for (const int *time = row->times; *time >= 0 && !failure; time++) {
			state.cpu[index].time = *time;
			state.cpu[index].limit = limits[i];
			if (row->leases && lease_answers(&state.cpu[index]))
				schedules += explore_answer(index);
			else
				schedules += explore_step(index);
			state = here;
			if (row->stands_still && index > 0)
				break;
		}
	}
	return schedules;
}

static bool at_rest(void)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (is_busy(&state.cpu[i]))
			return false;
	return true;
}

/* Every schedule from this state on; returns how many there are. */
static double explore(void)
{
	const struct state here = state;
	double schedules = 0;
	bool end = true;
	__u64 hash[2];
	struct seen *slot;

	hash_state(hash);
	slot = seen_slot(hash);
	if (slot->hash[0])
		return slot->schedules;
	if (seen_enough())
		return 0;
	if (at_rest())
		check_rest();
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		if (here.cpu[i].taken == row->takes[i])
			continue;
		end = false;
		if (is_busy(&here.cpu[i])) {
			schedules += explore_step(i);
		} else {
			schedules += explore_packet(i);
			state = here;
			schedules += explore_displaced(i);
		}
		state = here;
	}
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static const char *algorithm_of(const struct row *of)
{
	static const char *const names[] = {"sliding", "fixed", "log", "token", "leaky"};

	if (of->leases)
		return "leases";
	return of->edge == RF_EDGE_WEIGHTED ? "weighted" : names[of->algorithm];
}

/* As rf_policy_compile() makes it, but for the times, which are short. */
static void start_policy(int cells, int limit)
{
	const int retries = RF_RETRIES;

	policy = (struct rf_policy){
		.id = 1,
		.clip = at_least(limit, row->other_limit),
		.flags = row->flags,
		.cell = at_least(row->cell, 1),
		.algorithm = row->algorithm,
		.edge = row->edge,
		.cells = cells,
		.clock = row->leases ? RF_JIFFIES : RF_KTIME,
		.scale = row->scale,
		.used_shift = row->used_shift,
	};
	if (rf_is_log(&policy) || rf_is_bucket(&policy))
		policy.clock = RF_KTIME;
	if (rf_counts_rejected(&policy))
		policy.clip = ~0U;
	limit_least = limit;
	limit_most = at_least(limit, row->other_limit);
	set_limit(limit);
	/*
	 * CPUs that lose the last room leave their costs, and a clip for a different L preserves
	 * them.
	 */
	exact = !bound_only && !row->lapped;
	if (!rf_is_weighted(&policy) && !rf_is_log(&policy) && !rf_is_bucket(&policy) &&
	    !row->flags)
		exact &= cost_of(0) == 1 && cost_of(1) == 1 && !row->other_limit;
	/* Two loads of each slot, the swap, and the operations that close an earlier head. */
	if (rf_is_bucket(&policy))
		operations_bound = retries * 2;
	else if (rf_is_log(&policy))
		operations_bound = retries * (2 * ring_cells + 1);
	else
		operations_bound = retries * (2 * ring_cells + 11);
}

/* Epochs 0 and 1 have counted refused packets up to their capacity; see flood_in(). */
static void flood(void)
{
	const __u64 epoch = row->origin / policy.cell;

	rf_window_open(&state.window, epoch + 1);
	state.window.head += RF_USED_MAX - 1;
	state.window.cell[rf_ring_index(epoch)] = rf_word_with(0, epoch, RF_HALF_MAX);
}

/* A word of 2^32 cells ago that has not been overwritten. */
static void leave_over(void)
{
	const __u64 epoch = row->origin / policy.cell + row->left_over;

	state.window.cell[rf_ring_index(epoch)] = rf_word_with(0, epoch, 1);
}

static void start(int cells, int limit)
{
	start_policy(cells, limit);
	path_length = 0;
	state = (struct state){0};
	state.tokens.level = TOKENS_MOST; /* full for any burst */
	if (!row->zeroed)
		rf_window_start(&state.window, &policy, row->origin);
	if (row->flooded)
		flood();
	if (row->left_over)
		leave_over();
	for (int i = 0; i < STARTS_MAX; i++) {
		for (int j = 0; j < row->start[i].packets; j++) {
			struct cpu cpu = {.time = row->start[i].time, .taken = 1, .limit = limit};

			cpu.was_full = true; /* possibly: the row does not test this */
			judge(&cpu, explored_take(&state.window, &policy,
						  &(struct rf_ask){.time = clock_at(cpu.time),
								   .cost = 1}));
		}
	}
	seen_clear();
}

/* One N and one L of a row. */
static double run_start(int cells, int limit)
{
	double schedules = 0;

	start(cells, limit);
	if (!failure)
		schedules = explore();
	if (failure) {
		printf("# N %d, L %d, origin %llu: %s\n", cells, limit, row->origin, failure);
		print_path();
	}
	return schedules;
}

static bool run_row(int number, struct sum *sum)
{
	double schedules = 0;
	__u64 states = 0;
	bool whole = true;

	memset(verdicts, 0, sizeof(verdicts));
	memset(answered, 0, sizeof(answered));
	operations_most = 0;
	failure = NULL;
	ring_cells = row->ring ? row->ring : row->algorithm == RF_LOG ? 4 : 2;
	ring_retries = row->retries ? row->retries : 8;
	span = 0;
	for (const int *time = row->times; *time >= 0; time++)
		span = at_least(span, *time + 1);
	for (int cells = row->cells_from; cells <= row->cells_to && !failure; cells++) {
		for (int limit = row->limit_from; limit <= row->limit_to && !failure; limit++) {
			schedules += run_start(at_least(cells, 1), limit);
			states += seen_count;
			whole = whole && !seen_enough();
		}
	}
	if (!whole && !failure)
		return true;
	if (!failure && row->lost_races && !verdicts[RF_LOST_RACES])
		failure = "no schedule loses all its races";
	printf("%sok %d - every interleaving, %s: %s\n", failure ? "not " : "", number,
	       algorithm_of(row), row->title);
	if (row->leases)
		printf("# leases answered under %llu, over %llu\n", answered[RF_UNDER],
		       answered[RF_OVER]);
	printf("# %.3g schedules, %llu states; packets under %llu, over %llu"
	       ", lost races %llu; %d operations at most%s%s\n",
	       schedules, states, verdicts[RF_UNDER], verdicts[RF_OVER], verdicts[RF_LOST_RACES],
	       operations_most, failure ? "; " : "", failure ? failure : "");
	fflush(stdout);
	sum->schedules += schedules;
	sum->states += states;
	return !failure;
}

/* The row of that number, counted from 0 over all groups; NULL: there are no more. */
static const struct row *row_at(int index)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (index < groups[i]->count)
			return &groups[i]->row[index];
		index -= groups[i]->count;
	}
	return NULL;
}

/* What to run: that algorithm's rows, or that row counted from 1; NULL, 0: any. */
struct choice {
	const char *algorithm;
	int only;
};

static bool is_wanted(const struct choice *choice, int index)
{
	return (!choice->only || choice->only == index + 1) &&
	       (!choice->algorithm || strcmp(choice->algorithm, algorithm_of(row_at(index))) == 0);
}

static bool is_last_of_algorithm(int index)
{
	return !row_at(index + 1) ||
	       strcmp(algorithm_of(row_at(index)), algorithm_of(row_at(index + 1))) != 0;
}

static int count_wanted(const struct choice *choice)
{
	int wanted = 0;

	for (int i = 0; row_at(i); i++)
		wanted += is_wanted(choice, i);
	return wanted;
}

/* Returns how many rows have failed. */
static int run_rows(const struct choice *choice, bool first_failure)
{
	struct sum sum = {0};
	int failed = 0;

	for (int i = 0; row_at(i) && !(failed && first_failure); i++) {
		row = row_at(i);
		if (!is_wanted(choice, i))
			continue;
		failed += !run_row(i + 1, &sum);
		if (is_last_of_algorithm(i)) {
			printf("# %s: %.3g schedules, %llu states\n", algorithm_of(row),
			       sum.schedules, sum.states);
			sum = (struct sum){0};
		}
	}
	return failed;
}

static bool finds(const void *choice)
{
	return run_rows(choice, true) > 0;
}

/*
 * -a NAME: the rows of one algorithm. -x: searches until a row fails. -b: report only excess
 * admissions, not excess refusals. A number: only that row.
 */
int main(int argc, char **argv)
{
	struct choice choice = {NULL, 0};
	bool hunts = false;
	int option;

	while ((option = getopt(argc, argv, "a:bx")) != -1) {
		if (option == 'a')
			choice.algorithm = optarg;
		else if (option == 'b')
			bound_only = true;
		else if (option == 'x')
			hunts = true;
		else
			return 2;
	}
	choice.only = optind < argc ? atoi(argv[optind]) : 0;
	printf("1..%d\n", count_wanted(&choice));
	if (hunts)
		return hunt(finds, &choice) ? 1 : 0;
	return run_rows(&choice, false) ? 1 : 0;
}
