// SPDX-License-Identifier: GPL-2.0
/*
 * Explores every interleaving of CPUs that count responses in the word of a prefix
 * (ringfence/answers.h), operation by operation; the period can advance at any time, also between
 * the operations of a packet that has read the previous period.
 *
 * Invariants, for the packets that a CPU receives in the periods P to Q:
 *
 *   no more than MOST for each of these periods get a response until the end of Q;
 *   a packet gets none only if MOST responses were counted in its period or in a later one, or
 *   another CPU had a packet of an earlier period;
 *   each CPU increments the count beyond MOST at most once, so it cannot overflow.
 *
 * An interval as long as a period touches two of them, so at most 2 * MOST responses are sent in
 * it. The total over all prefixes is a sliding limit, from which a CPU takes several responses by
 * one packet with a cost: the rows of explorer.c cover costs above 1. The CPU sends them while the
 * cell is the same, thus in each interval of TIME that counts the charge.
 *
 * Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "rows.h"
#include "seen.h"

#define PATH_MAX_STEPS 1024
#define PERIODS_MAX 3 /* of a row */
#define WORD(period, count) ((__u64)(__u32)(period) << 32 | (count))

struct row {
	const char *title;
	__u32 most;
	int periods;
	int packets[CPUS_MAX];
	__u64 word;  /* at first */
	__u32 start; /* the first period */
};

static const struct row rows[] = {
	{"2 CPUs, one period", 2, 1, {4, 4}, WORD(0, 0), 7},
	{"2 CPUs, one period, after a full one", 2, 1, {4, 4}, WORD(6, 2), 7},
	{"2 CPUs, one period that has begun", 2, 1, {3, 3}, WORD(7, 1), 7},
	{"2 CPUs, no responses", 0, 2, {2, 2}, WORD(7, 0), 7},
	{"2 CPUs, two periods", 2, 2, {4, 4}, WORD(0, 0), 7},
	{"2 CPUs, three periods", 1, 3, {4, 4}, WORD(6, 1), 7},
	{"2 CPUs, three periods that wrap", 2, 3, {4, 4}, WORD(-2, 2), -1},
	{"3 CPUs, one period", 2, 1, {3, 3, 3}, WORD(6, 2), 7},
	{"3 CPUs, two periods", 1, 2, {3, 3, 2}, WORD(6, 0), 7},
	{"3 CPUs, three periods", 2, 3, {3, 3, 3}, WORD(7, 1), 7},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static const struct row *row;
static int now;			      /* the period, from the first one of the row */
static int answered[PERIODS_MAX + 1]; /* packets of each period; the last one is always 0 */
static int counted;		      /* responses in the period of the word */
static const char *failure;

static struct {
	int cpu; /* -1: the clock */
	struct local local;
	__u64 word;
} path[PATH_MAX_STEPS];
static int path_length;

static bool is_busy(int index)
{
	return hands[index].operations > 0;
}

static int number_of(__u32 period)
{
	return (int)(period - row->start);
}

/* ---- what must hold ---- */

static void check_bounds(void)
{
	int sum = 0;

	for (int period = now; period >= 0; period--) {
		sum += answered[period];
		if (sum > (int)most * (now - period + 1))
			failure = "more than MOST for each period";
	}
	if (counted > (int)most)
		failure = "more than MOST in the period of the word";
	if ((__u32)shared.word > most + CPUS_MAX - 1)
		failure = "counted, and not admitted, more than once for each CPU";
}

static void check_answer(const struct local *local)
{
	if (local->answer) {
		answered[number_of(local->period)]++;
		counted++;
	} else if (!local->lagged && (counted < (int)most ||
				      number_of(shared.word >> 32) < number_of(local->period))) {
		failure = "refused, and there was room";
	}
	check_bounds();
}

/* ---- the search ---- */

/* Before an operation: a CPU with a packet of an earlier period can affect all others. */
static void note_lagging(void)
{
	for (int i = 0; i < CPUS_MAX; i++)
		for (int j = 0; j < CPUS_MAX; j++)
			if (is_busy(i) && is_busy(j) &&
			    number_of(hands[j].local.period) < number_of(hands[i].local.period))
				hands[i].begun.lagged = hands[i].local.lagged = true;
}

static void hash_state(__u64 hash[2])
{
	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &shared, sizeof(shared));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const __u64 words[] = {
			(__u64)hand->packet << 32 | hand->operations << 8 | hand->local.lagged,
			hand->local.period,
			hand->history,
		};

		hash_words(hash, words, sizeof(words));
	}
	hash_words(hash, answered, sizeof(answered));
	hash[1] = mix(hash[1], (__u64)counted << 32 | now);
	hash[0] |= 1;
}

static double explore(void);

static void note(int index)
{
	path[path_length].cpu = index;
	if (index >= 0)
		path[path_length].local = hands[index].local;
	path[path_length++].word = shared.word;
}

static double explore_operation(int index)
{
	const struct memory memory = shared;
	const int before_counted = counted;
	int before_answered[PERIODS_MAX + 1];
	struct hand before[CPUS_MAX];
	double schedules = 0;
	bool ends;

	memcpy(before, hands, sizeof(before));
	memcpy(before_answered, answered, sizeof(answered));
	ends = operate(index);
	note_lagging();
	note(index);
	if (shared.word >> 32 != memory.word >> 32)
		counted = 0;
	if (ends) {
		check_answer(&hands[index].local);
		put_down(index);
	}
	if (!failure)
		schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	shared = memory;
	counted = before_counted;
	memcpy(hands, before, sizeof(before));
	memcpy(answered, before_answered, sizeof(answered));
	return schedules;
}

static double explore_packet(int index)
{
	const struct local begun = {.period = row->start + now};
	double schedules;

	pick_up(index, &begun);
	schedules = explore_operation(index);
	if (!failure)
		hands[index] = (struct hand){.packet = hands[index].packet};
	return schedules;
}

static double explore_tick(void)
{
	double schedules;

	now++;
	note(-1);
	schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	now--;
	return schedules;
}

static double explore(void)
{
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
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		if (hands[i].packet == row->packets[i])
			continue;
		end = false;
		schedules += is_busy(i) ? explore_operation(i) : explore_packet(i);
	}
	if (!end && !failure && now + 1 < row->periods)
		schedules += explore_tick();
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	for (int i = 0; i < path_length; i++) {
		if (path[i].cpu < 0)
			printf("#   the next period:");
		else
			printf("#   cpu %d, in period %u:", path[i].cpu, path[i].local.period);
		printf(" {%llu, %u}\n", path[i].word >> 32, (__u32)path[i].word);
	}
}

static void start_row(void)
{
	failure = NULL;
	path_length = 0;
	now = 0;
	most = row->most;
	shared.word = row->word;
	counted = (__u32)row->word;
	memset(hands, 0, sizeof(hands));
	memset(answered, 0, sizeof(answered));
	if (row->word >> 32 == row->start)
		answered[0] = counted;
}

static struct found explore_row(void)
{
	double schedules;

	start_row();
	seen_clear();
	schedules = explore();
	return (struct found){failure, schedules, seen_count, !seen_enough()};
}

static const char *begin_row(int i)
{
	row = &rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "answers",
		.count = ROWS,
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
