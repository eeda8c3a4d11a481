/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state that the search moves through, and how a CPU moves it by one atomic operation. Included
 * by explorer.c alone, after limiter.h.
 *
 * No coroutine: what a CPU does next depends on nothing but what its operations returned. To move
 * it by one operation, its packet is taken again from the start in a window of its own, fed the
 * values of the past, and stopped one operation later.
 */
#ifndef RINGFENCE_EXPLORER_MACHINE_H
#define RINGFENCE_EXPLORER_MACHINE_H

#include "row.h"

#define OPERATIONS_MAX 1024
#define STEPS_MAX 4096

/* What a CPU has in hand, each from its first operation to its last. */
enum call {
	TAKES,
	RENEWS, /* the lease of the packet that was judged just now */
	CALLS
};

struct cpu {
	int taken;	 /* packets done */
	int operations;	 /* of the packet in hand; 0: none is */
	int time, limit; /* of the packet in hand: when it came, and the L that it found */
	bool charged;	 /* by the packet in hand */
	bool was_full;	 /* since its first operation there was a moment without room for it */
	__u64 history;	 /* hash of what its operations returned */

	/* Of a row with leases. */
	enum call call;	       /* in hand */
	enum rf_verdict given; /* to the packet that RENEWS the lease */
	struct rf_lease lease; /* as it was before the call in hand */
	int credits;	       /* that were charged and are not spent, by the head alone */
	int credits_epoch;
};

/* A token bucket as textbooks have it, in 1/16 ns: what was in it when it was last taken from. */
struct tokens {
	int level, last;
};

struct state {
	struct rf_window window;
	/* Units by epoch; by time for log, token and leaky. What refused packets cost: see below */
	__u8 admitted[LEDGER_SIZE];
	/* That and what was refused, where it counts; with leases, and the credits not spent */
	__u8 offered[LEDGER_SIZE];
	struct tokens tokens;
	int displaced; /* leases */
	struct cpu cpu[CPUS_MAX];
};

struct step {
	int cpu, time, limit;
	long word; /* index in struct rf_window */
	__u64 before, after;
	int verdict; /* enum rf_verdict; -1: not yet */
	enum call call;
	bool leased; /* the lease answered, and there was no operation */
};

static struct state state;
/* By each operation so far. */
static __u64 returned[CPUS_MAX][TAKES_MAX][CALLS][OPERATIONS_MAX];
static struct step path[STEPS_MAX];
static int path_length;

static const struct row *row;
static int span; /* later than all packets of the row */
static struct rf_policy policy;
static int operations_bound; /* of one packet */

static bool bound_only;	    /* whether too little is admitted is not looked at */
static const char *failure; /* NULL: none yet */

static int at_least(int number, int least)
{
	return number > least ? number : least;
}

static void fail(const char *what)
{
	if (!failure)
		failure = what;
}

static int cost_of(int taken)
{
	const int costs[] = {row->first_cost, row->second_cost};

	return taken < 2 ? at_least(costs[taken], 1) : 1;
}

/* The clock's reading at `time` of a row. */
static __u64 clock_at(int time)
{
	return row->origin + time + (time >= FAR ? row->jump : 0);
}

/* Length of a jiffy, in units of the policy's clock. */
static __u32 row_tick(void)
{
	return row->tick ? row->tick : 1;
}

/* Another L, and with it another burst; the rate of a bucket stays. */
static void set_limit(int limit)
{
	policy.limit = limit;
	if (rf_is_bucket(&policy))
		policy.depth = rf_bucket_flow(&policy, limit);
}

/* ---- one operation of one CPU ---- */

static struct rf_window scratch;
static struct rf_lease scratch_lease;
static const __u64 *replayed; /* NULL: not exploring, operations just happen */
static int replay_index, replay_length;
static __u64 *live_word;
static __u64 live_value;
static jmp_buf replay_end;

static void yield(__u64 *word)
{
	if (!replayed)
		return;
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

/* How the window is asked for a packet. */
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

/* -1: stopped before the end. */
static __attribute__((noinline)) int call_scratch(const struct cpu *cpu)
{
	const struct rf_ask ask = ask_of(cpu);

	scratch_lease = cpu->lease;
	if (setjmp(replay_end))
		return -1;
	if (cpu->call == TAKES)
		return rf_take(&scratch, &policy, ask.time, ask.cost);
	rf_lease_renew(&scratch_lease, &scratch, &policy, &ask, cpu->given, 0);
	return cpu->given;
}

/* Is the call in hand over before any operation? */
static bool ends_at_once(const struct cpu *cpu)
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
 * What rf_take_log() says of itself: where its compare-and-swap succeeds, no slot has changed since
 * it read them. A try is a load of each slot, again a load of each, and the swap.
 */
static void check_slots_unchanged(const struct cpu *cpu, const __u64 *log)
{
	for (int i = 1; i <= 2 * ring_cells; i++) {
		int slot = (2 * ring_cells - i) % ring_cells;

		if (log[cpu->operations - i] != state.window.cell[slot])
			fail("a slot had changed when the race for the oldest was won");
	}
}

/* Moves a CPU by one operation; returns the verdict if that was the packet's last one, or -1. */
static int operate(int index)
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
	/* A window of cells is charged in its head; whoever loses may have closed a cell. */
	cpu->charged |=
		rf_is_log(&policy) ? *live_word != live_value : scratch.head != state.window.head;
	state.window = scratch;
	log[cpu->operations++] = live_value;
	cpu->history = (cpu->history ^ live_value) * 0x9e3779b97f4a7c15ULL;
	cpu->history ^= cpu->history >> 29;
	if (cpu->operations > operations_bound)
		fail("a packet takes more operations than its bound");
	return verdict;
}

#endif /* RINGFENCE_EXPLORER_MACHINE_H */
