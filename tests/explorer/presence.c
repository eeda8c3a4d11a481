// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through the presence filter: each of them reads the
 * generation, enters a line of it, and marks a source or asks for it, operation by operation; the
 * generation ticks on at any time, though not while a CPU is still at work for the one before.
 *
 * What must hold: who was marked in a generation is known in that and in the next one. A mark is of
 * the generation that its CPU has read; an answer, of the one that holds when it is given.
 *
 * Speaks TAP. A failure prints the schedule that leads to it.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

static void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))

#include "ringfence/atomic.h"

#include "bpf/presence.h"

#define CPUS_MAX 3
#define PATH_MAX_STEPS 4096
#define SOURCES 2
#define NEVER (1U << 30) /* no generation that is explored */

enum errand { MARKS, ASKS, ERRANDS };

struct memory {
	struct rf_presence line;
};

/* Of one errand. */
struct local {
	enum errand errand;
	int source;
	__u32 generation; /* as it was read */
	__u32 known;	  /* generation of the latest mark that was done before */
	bool absent;	  /* the answer */
	bool answered;
};

#include "replay.h"
#include "seen.h"

struct row {
	const char *title;
	__u32 generation; /* of the line, when the clock is at `now` */
	__u32 now;
	enum rf_presence_state state;
	int ticks;
	int errands[CPUS_MAX];
	int sources;
	bool marks_first; /* the last CPU only asks, the others only mark */
};

static const struct row rows[] = {
	{"2 CPUs, a fresh line", 8, 8, RF_PRESENCE_READY, 2, {2, 2}, 1, false},
	{"2 CPUs, two sources", 7, 8, RF_PRESENCE_READY, 1, {2, 1}, 2, false},
	{"2 CPUs, a line of long ago", 5, 8, RF_PRESENCE_READY, 2, {2, 2}, 1, false},
	{"2 CPUs, a line where a mark was missed", 7, 8, RF_PRESENCE_ALL, 2, {2, 1}, 1, false},
	{"2 CPUs, a line where one was missed before",
	 7,
	 8,
	 RF_PRESENCE_ALL_ONCE,
	 2,
	 {2, 1},
	 1,
	 false},
	{"2 CPUs, three errands, generations wrap",
	 ~0U - 2,
	 ~0U,
	 RF_PRESENCE_READY,
	 2,
	 {3, 1},
	 1,
	 false},
	{"3 CPUs, a line of the generation before", 7, 8, RF_PRESENCE_READY, 1, {1, 1, 1}, 1, true},
	{"3 CPUs, a line of long ago", 5, 8, RF_PRESENCE_READY, 1, {1, 1, 1}, 1, true},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static const struct row *row;
static __u32 generation; /* by the clock */
static int ticks;
static __u32 marked[SOURCES]; /* generation of the latest mark that was done */
static const char *failure;
static double all_schedules;
static __u64 all_states;

static struct {
	int cpu; /* -1: the clock */
	struct local local;
	struct rf_presence line;
} path[PATH_MAX_STEPS];
static int path_length;

static __u64 hash_of(int source)
{
	return source ? 0x0a1b2c3d4e5f6071ULL : 0x3141592653589793ULL;
}

/* As the data path finds a line, and then what it is for. */
static void run_call(struct memory *memory, struct local *local, int index)
{
	struct rf_presence *line = &memory->line;
	const __u64 hash = hash_of(local->source);

	(void)index;
	if (!rf_presence_is_entered(line, local->generation))
		rf_presence_enter(line, rf_load(&line->tag), local->generation);
	if (local->errand == MARKS) {
		rf_presence_mark(line, hash);
	} else {
		local->absent = !rf_presence_has(line, hash);
		local->answered = true;
	}
}

/* ---- what must hold ---- */

static void judge(const struct local *local)
{
	__u32 *latest = &marked[local->source];

	if (local->errand == MARKS) {
		if (*latest == NEVER || (__s32)(local->generation - *latest) > 0)
			*latest = local->generation;
	} else if (local->absent && local->known != NEVER &&
		   (__s32)(generation - local->known) <= 1) {
		failure = "absent, and it was marked in this generation or the one before";
	}
}

/* ---- the search ---- */

static bool is_busy(int index)
{
	return hands[index].operations > 0;
}

/* No CPU is at work for the generation before the present one. */
static bool may_tick(void)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (is_busy(i) && hands[i].local.generation != generation)
			return false;
	return ticks < row->ticks;
}

static bool may_do(int index, enum errand errand)
{
	return !row->marks_first || (errand == ASKS) == (index == CPUS_MAX - 1);
}

static void hash_state(__u64 hash[2])
{
	__u64 cpu[CPUS_MAX][2];

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &shared, sizeof(shared));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const struct local *local = &hand->local;
		const __u64 words[] = {
			(__u64)may_do(i, ASKS) << 56 | (__u64)row->errands[i] << 48 |
				(__u64)hand->packet << 32 | hand->operations << 8 |
				local->errand << 4 | local->source,
			(__u64)local->generation << 32 | local->known,
			hand->history,
		};

		cpu[i][0] = cpu[i][1] = 3;
		hash_words(cpu[i], words, sizeof(words));
		for (int j = i; j > 0 && cpu[j][0] < cpu[j - 1][0]; j--) {
			__u64 swap[2];

			memcpy(swap, cpu[j], sizeof(swap));
			memcpy(cpu[j], cpu[j - 1], sizeof(swap));
			memcpy(cpu[j - 1], swap, sizeof(swap));
		}
	}
	hash_words(hash, cpu, sizeof(cpu));
	for (int i = 0; i < SOURCES; i++)
		hash[1] = mix(hash[1], marked[i]);
	hash[1] = mix(hash[1], (__u64)generation << 32 | ticks);
	hash[0] |= 1;
}

static double explore(void);

static void note(int index)
{
	path[path_length].cpu = index;
	if (index >= 0)
		path[path_length].local = hands[index].local;
	path[path_length++].line = shared.line;
}

static double explore_operation(int index)
{
	const struct memory memory = shared;
	const struct hand hand = hands[index];
	__u32 before[SOURCES];
	double schedules = 0;
	bool ends;

	memcpy(before, marked, sizeof(before));
	ends = operate(index);
	note(index);
	if (ends) {
		judge(&hands[index].local);
		put_down(index);
	}
	if (!failure) {
		schedules = explore();
		path_length--;
	}
	if (failure)
		return schedules;
	shared = memory;
	hands[index] = hand;
	memcpy(marked, before, sizeof(before));
	return schedules;
}

/* A new errand, of any kind. */
static double explore_errand(int index)
{
	double schedules = 0;

	for (int i = 0; i < ERRANDS * row->sources && !failure; i++) {
		const int source = i / ERRANDS;
		const struct local begun = {
			.errand = i % ERRANDS,
			.source = source,
			.generation = generation,
			.known = marked[source],
		};

		if (!may_do(index, begun.errand))
			continue;
		pick_up(index, &begun);
		schedules += explore_operation(index);
	}
	return schedules;
}

static double explore_tick(void)
{
	double schedules;

	generation++;
	ticks++;
	note(-1);
	schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	generation--;
	ticks--;
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
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		if (hands[i].packet == row->errands[i])
			continue;
		end = false;
		if (is_busy(i)) {
			schedules += explore_operation(i);
		} else {
			schedules += explore_errand(i);
		}
	}
	if (!end && !failure && may_tick())
		schedules += explore_tick();
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	static const char *const states[] = {"ready", "clearing", "missed", "all", "all once"};

	for (int i = 0; i < path_length; i++) {
		const struct rf_presence *line = &path[i].line;
		const struct local *local = &path[i].local;

		if (path[i].cpu < 0)
			printf("#   the generation ticks on:");
		else
			printf("#   cpu %d, of %u, %s %d:", path[i].cpu, local->generation,
			       local->errand == MARKS ? "marks" : "asks for", local->source);
		printf(" {%u, %s}", (__u32)(line->tag >> 32), states[(__u32)line->tag % 5]);
		for (int j = 0; j < 6; j++)
			printf(" %llx", line->bits[j / 3][j % 3]);
		puts(local->answered && local->absent && path[i].cpu >= 0 ? ": absent" : "");
	}
}

static bool run_row(int number)
{
	double schedules;

	failure = NULL;
	path_length = 0;
	generation = row->now;
	ticks = 0;
	shared = (struct memory){.line.tag = rf_presence_tag(row->generation, row->state)};
	memset(hands, 0, sizeof(hands));
	for (int i = 0; i < SOURCES; i++)
		marked[i] = NEVER;
	seen_clear();
	schedules = explore();
	printf("%sok %d - every interleaving, presence: %s\n", failure ? "not " : "", number,
	       row->title);
	if (failure)
		print_path();
	printf("# %.3g schedules, %llu states%s%s\n", schedules, seen_count, failure ? "; " : "",
	       failure ? failure : "");
	fflush(stdout);
	all_schedules += schedules;
	all_states += seen_count;
	return !failure;
}

/* Until a row fails. A number: that row alone. */
int main(int argc, char **argv)
{
	const int only = argc > 1 ? atoi(argv[1]) : 0;
	bool failed = false;

	printf("1..%d\n", only ? 1 : ROWS);
	for (int i = 0; i < ROWS && !failed; i++) {
		row = &rows[i];
		if (!only || only == i + 1)
			failed = !run_row(i + 1);
	}
	if (!failed && !only)
		printf("# presence: %.3g schedules, %llu states\n", all_schedules, all_states);
	return failed ? 1 : 0;
}
