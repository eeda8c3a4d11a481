// SPDX-License-Identifier: GPL-2.0
#include "machine.h"

#include <setjmp.h>

#define OPERATIONS_MAX 1024

int ring_cells, ring_retries;
struct state state;
struct step path[STEPS_MAX];
int path_length;
const struct row *row;
int span;
struct rf_policy policy;
int operations_bound;
bool bound_only;
const char *failure;

/* The result of each operation so far. */
static __u64 returned[CPUS_MAX][TAKES_MAX][CALLS][OPERATIONS_MAX];

int at_least(int number, int least)
{
	return number > least ? number : least;
}

void fail(const char *what)
{
	if (!failure)
		failure = what;
}

int cost_of(int taken)
{
	const int costs[] = {row->first_cost, row->second_cost};

	return taken < 2 ? at_least(costs[taken], 1) : 1;
}

__u64 clock_at(int time)
{
	return row->origin + time + (time >= FAR ? row->jump : 0);
}

__u32 row_tick(void)
{
	return row->tick ? row->tick : 1;
}

void set_limit(int limit)
{
	policy.limit = limit;
	if (rf_is_bucket(&policy))
		policy.depth = explored_bucket_flow(&policy, limit);
}

/* ---- one operation of one CPU ---- */

static struct rf_window scratch;
struct rf_lease scratch_lease;
static const __u64 *replayed; /* NULL: not exploring, operations just happen */
static int replay_index, replay_length;
static int attempts;   /* that the call has begun */
static bool is_before; /* an attempt has begun since the last operation */
static __u64 *live_word;
static __u64 live_value;
static jmp_buf replay_end;

void begin_attempt(void)
{
	attempts++;
	is_before = true;
}

void yield(__u64 *word)
{
	if (!replayed || word == &scratch.loans)
		return; /* no row lends: the word never changes */
	is_before = is_before && replay_index > replay_length;
	if (replay_index < replay_length) {
		*word = replayed[replay_index++];
	} else if (replay_index == replay_length) {
		scratch = state.window;
		live_word = word;
		live_value = *word;
		replay_index++;
	} else {
		longjmp(replay_end, 1);
	}
}

/* The parameters of a packet's request to the window. */
static struct rf_ask ask_of(const struct cpu *cpu)
{
	const __u64 time = clock_at(cpu->time);

	return (struct rf_ask){
		.time = time,
		.jiffies = time / row_tick(),
		.tick_ns = row_tick(),
		.cost = cost_of(cpu->taken),
	};
}

/* -1: stopped early. */
static __attribute__((noinline)) int call_scratch(const struct cpu *cpu)
{
	const struct rf_ask ask = ask_of(cpu);

	attempts = 0;
	scratch_lease = cpu->lease;
	if (setjmp(replay_end))
		return -1;
	if (cpu->call == TAKES)
		return explored_take(&scratch, &policy, &ask);
	explored_renew(&scratch_lease, &scratch, &policy, &ask, cpu->given);
	return cpu->given;
}

bool ends_at_once(const struct cpu *cpu)
{
	int verdict;

	replayed = returned[0][0][0];
	replay_index = 0;
	replay_length = -1;
	verdict = call_scratch(cpu);
	replayed = NULL;
	return verdict >= 0;
}

/*
 * The claim of rf_take_log(): if its compare-and-swap succeeds, no slot has changed since it read
 * them. An attempt is a load of each slot, a second load of each, and the swap.
 */
static void check_slots_unchanged(const struct cpu *cpu, const __u64 *log)
{
	for (int i = 1; i <= 2 * ring_cells; i++) {
		int slot = (2 * ring_cells - i) % ring_cells;

		if (log[cpu->operations - i] != state.window.cell[slot])
			fail("a slot had changed when the race for the oldest was won");
	}
}

int operate(int index)
{
	struct cpu *cpu = &state.cpu[index];
	__u64 *log = returned[index][cpu->taken][cpu->call];
	int verdict;

	replayed = log;
	replay_index = 0;
	replay_length = cpu->operations;
	set_limit(cpu->limit);
	verdict = call_scratch(cpu);
	replayed = NULL;

	path[path_length++] = (struct step){
		.cpu = index,
		.time = cpu->time,
		.limit = cpu->limit,
		.word = live_word - (__u64 *)&scratch,
		.before = live_value,
		.after = *live_word,
		.verdict = cpu->call == TAKES ? verdict : -1,
		.call = cpu->call,
	};
	if (rf_is_log(&policy) && !bound_only && cpu->call == TAKES && verdict >= 0 &&
	    verdict != RF_LOST_RACES && cpu->operations % (2 * ring_cells + 1) == 2 * ring_cells)
		check_slots_unchanged(cpu, log);
	/* A window of cells is charged in its head; a CPU that loses can have closed a cell. */
	cpu->charged |=
		rf_is_log(&policy) ? *live_word != live_value : scratch.head != state.window.head;
	state.window = scratch;
	log[cpu->operations++] = live_value;
	cpu->history = (cpu->history ^ live_value) * 0x9e3779b97f4a7c15ULL;
	cpu->history ^= cpu->history >> 29;
	if (is_before)
		cpu->history = attempts;
	if (cpu->operations > operations_bound)
		fail("a packet takes more operations than its bound");
	return verdict;
}
