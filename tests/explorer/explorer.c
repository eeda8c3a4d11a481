// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through the limiter. Each atomic operation of limiter.h is
 * a scheduling point; a row of `rows` says how many CPUs take how often, from which window, at
 * which epochs. The search is depth first, and a state that was seen already is not searched again:
 * it is the window, the ledger of what was admitted, and of each CPU the packets it has taken and
 * the values that its operations returned since the last one.
 *
 * No coroutine: what a CPU does next depends on nothing but what its operations returned. To move
 * it by one operation, its packet is taken again from the start in a window of its own, fed the
 * values of the past, and stopped one operation later.
 *
 * The clock: every packet may come at any epoch of the row's, whatever came before. That is a CPU
 * that read the clock then and stalled up to its first operation; so a clock that advances
 * anywhere, stands still or goes back, and CPUs that disagree, are all among the schedules.
 *
 * Speaks TAP. A failure prints the schedule that leads to it.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/abi.h"

/* The size of the ring and the number of retries are the row's: small ones show more. */
static int ring_cells;
static int ring_retries;
#undef RF_CELLS
#define RF_CELLS ring_cells
#define RF_RETRIES ring_retries

/* Each atomic operation calls its argument `word`. */
static void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#include "ringfence/atomic.h"

/* For mutants of limiter.h only: the core stores nothing plainly. */
RF_INLINE void plain_store(__u64 *word, __u64 value)
{
	RF_ATOMIC_YIELD();
	*(volatile __u64 *)word = value;
}

#include "ringfence/limiter.h"

#define CPUS_MAX 3
#define TAKES_MAX 12
#define EPOCHS_MAX 6
#define STARTS_MAX 4
#define LEDGER_SIZE 64 /* epochs of a row are origin + [0, LEDGER_SIZE) */
#define OPERATIONS_MAX 1024
#define STEPS_MAX 4096
#define EPOCHS (1ULL << 32) /* an epoch wraps here */

/* One kind of start and traffic, explored for each N and L of its ranges. */
struct row {
	const char *title;
	int ring, retries;
	int cells_from, cells_to; /* N */
	int limit_from, limit_to; /* L */
	int takes[CPUS_MAX];	  /* packets of each CPU; 0: no such CPU */
	int first_cost;		  /* of each CPU's first packet; 0 is 1, as of all others */
	bool lost_races;	  /* a schedule must be found in which all retries are lost */
	bool stands_still;	/* the clock, for all CPUs but the first: their first epoch only */
	bool zeroed;		/* starts from an all-zero window, not a fresh one at `origin` */
	__u64 origin;		/* epoch that the others count from */
	int epochs[EPOCHS_MAX]; /* when packets may come, after the end: -1 */
	struct {
		int epoch, packets;
	} start[STARTS_MAX]; /* packets taken before, by nobody else disturbed */
};

#include "rows.h"

/* ---- the state that the search moves through ---- */

struct cpu {
	int taken;	   /* packets done */
	int operations;	   /* of the packet in hand; 0: none is */
	int epoch;	   /* of the packet in hand, after the origin */
	bool head_changed; /* by the packet in hand */
	__u64 history;	   /* hash of what its operations returned */
};

struct state {
	struct rf_window window;
	__u8 admitted[LEDGER_SIZE]; /* in which epoch: the later of the caller's and the head's */
	struct cpu cpu[CPUS_MAX];
};

struct step {
	int cpu, epoch;
	long word; /* index in struct rf_window: 0 is the head */
	__u64 before, after;
	int verdict; /* enum rf_verdict; -1: not yet */
};

static struct state state;
static __u64 returned[CPUS_MAX][TAKES_MAX][OPERATIONS_MAX]; /* by each operation so far */
static struct step path[STEPS_MAX];
static int path_length;

static const struct row *row;
static struct rf_policy policy;
static int operations_bound; /* of one packet */

static bool bound_only;	    /* whether too little is admitted is not looked at */
static const char *failure; /* NULL: none yet */
static __u64 verdicts[RF_LOST_RACES + 1];
static int operations_most;

static void fail(const char *what)
{
	if (!failure)
		failure = what;
}

static int cost_of(int taken)
{
	return taken == 0 && row->first_cost ? row->first_cost : 1;
}

/* ---- one operation of one CPU ---- */

static struct rf_window scratch;
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

static __attribute__((noinline)) int take_scratch(int epoch, int cost)
{
	if (setjmp(replay_end))
		return -1;
	return rf_take(&scratch, &policy, row->origin + epoch, cost);
}

/* Moves a CPU by one operation; returns the verdict if that was the packet's last one, or -1. */
static int operate(int index)
{
	struct cpu *cpu = &state.cpu[index];
	__u64 *log = returned[index][cpu->taken];
	int verdict;

	replayed = log;
	replay_index = 0;
	replay_length = cpu->operations;
	verdict = take_scratch(cpu->epoch, cost_of(cpu->taken));
	replayed = NULL;

	path[path_length++] = (struct step){
		.cpu = index,
		.epoch = cpu->epoch,
		.word = live_word - (__u64 *)&scratch,
		.before = live_value,
		.after = *live_word,
		.verdict = verdict,
	};
	cpu->head_changed |= scratch.head != state.window.head;
	state.window = scratch;
	log[cpu->operations++] = live_value;
	cpu->history = (cpu->history ^ live_value) * 0x9e3779b97f4a7c15ULL;
	cpu->history ^= cpu->history >> 29;
	if (cpu->operations > operations_bound)
		fail("a packet takes more operations than its bound");
	return verdict;
}

/* ---- what must hold ---- */

static int admitted_since(int first, int last)
{
	int sum = 0;

	for (int i = first < 0 ? 0 : first; i <= last && i < LEDGER_SIZE; i++)
		sum += state.admitted[i];
	return sum;
}

static void admit(int epoch, int cost)
{
	__u32 head = rf_word_epoch(state.window.head) - (__u32)row->origin;
	int cells = policy.cells;
	int later = (int32_t)head > epoch ? (int32_t)head : epoch;

	if (later >= LEDGER_SIZE - cells) {
		fail("the head is at an epoch that no packet came at");
		return;
	}
	state.admitted[later] += cost;
	for (int first = later - cells + 1; first <= later; first++)
		if (admitted_since(first, first + cells - 1) > (int)policy.limit)
			fail("more than L admitted in N consecutive epochs");
}

static void judge(int index, int verdict)
{
	struct cpu *cpu = &state.cpu[index];

	verdicts[verdict]++;
	if (cpu->operations > operations_most)
		operations_most = cpu->operations;
	if (verdict == RF_UNDER)
		admit(cpu->epoch, cost_of(cpu->taken));
	if (verdict == RF_LOST_RACES && cpu->head_changed)
		fail("all races lost, and charged all the same");
	*cpu = (struct cpu){.taken = cpu->taken + 1};
}

static bool at_rest(void)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (state.cpu[i].operations)
			return false;
	return true;
}

/*
 * No CPU has a packet in hand: a reader must see what the ledger has, now and until all of it is
 * too old. More only where a refused packet of more than one unit was added to the head.
 */
static void check_rest(void)
{
	__u32 head = rf_word_epoch(state.window.head) - (__u32)row->origin;
	int from = head < LEDGER_SIZE ? (int)head : 0;

	for (int now = from; now <= from + policy.cells && now < LEDGER_SIZE; now++) {
		int used = rf_window_used(&state.window, &policy, row->origin + now);
		int admitted = admitted_since(now - policy.cells + 1, now);

		if (used < admitted)
			fail("admitted, and not counted");
		if (used > admitted && row->first_cost <= 1 && !bound_only)
			fail("counted, and not admitted");
	}
}

/* ---- the states that were seen ---- */

struct seen {
	__u64 hash[2];	  /* both 0: free */
	double schedules; /* from this state to the end */
};

static struct seen *seen;
static __u64 seen_size, seen_count; /* the size is a power of two */

static __u64 mix(__u64 hash, __u64 word)
{
	__uint128_t product = (__uint128_t)(hash ^ word ^ 0xa0761d6478bd642fULL) *
			      (word ^ 0xe7037ed1a0b428dbULL ^ (hash << 32 | hash >> 32));

	return (__u64)product ^ (__u64)(product >> 64) ^ hash * 31;
}

static void hash_words(__u64 hash[2], const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(__u64)) {
		__u64 word;

		memcpy(&word, (const char *)from + at, sizeof(word));
		hash[0] = mix(hash[0], word);
		hash[1] = (hash[1] ^ word) * 0xff51afd7ed558ccdULL;
		hash[1] ^= hash[1] >> 32;
	}
}

/* CPUs that take as many packets are alike: their order does not make another state. */
static void hash_state(__u64 hash[2])
{
	__u64 cpu[CPUS_MAX][2];

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &state.window, (1 + ring_cells) * sizeof(__u64));
	hash_words(hash, state.admitted, sizeof(state.admitted));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct cpu *of = &state.cpu[i];
		const __u64 words[] = {
			(__u64)row->takes[i] << 48 | (__u64)of->taken << 32 | of->operations << 8 |
				of->epoch,
			of->history,
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
	hash[0] |= 1;
}

static struct seen *seen_slot(const __u64 hash[2])
{
	__u64 at = hash[1] & (seen_size - 1);

	while (seen[at].hash[0] && memcmp(seen[at].hash, hash, sizeof(seen[at].hash)) != 0)
		at = (at + 1) & (seen_size - 1);
	return &seen[at];
}

static void seen_resize(__u64 size)
{
	struct seen *old = seen;
	__u64 old_size = seen_size;

	seen = calloc(size, sizeof(*seen));
	if (!seen) {
		puts("Bail out! out of memory");
		exit(1);
	}
	seen_size = size;
	for (__u64 i = 0; i < old_size; i++)
		if (old[i].hash[0])
			*seen_slot(old[i].hash) = old[i];
	free(old);
}

static void seen_add(const __u64 hash[2], double schedules)
{
	struct seen *slot;

	if (++seen_count * 4 > seen_size * 3)
		seen_resize(seen_size * 2);
	slot = seen_slot(hash);
	memcpy(slot->hash, hash, sizeof(slot->hash));
	slot->schedules = schedules;
}

/* ---- the search ---- */

static double explore(void);

/* One more operation of a CPU, and all that may follow. */
static double explore_step(int index)
{
	double schedules = 0;
	int verdict = operate(index);

	if (verdict >= 0)
		judge(index, verdict);
	if (at_rest())
		check_rest();
	if (!failure)
		schedules = explore();
	if (!failure)
		path_length--; /* else the path is what leads to the failure */
	return schedules;
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
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		const struct cpu *cpu = &here.cpu[i];

		if (cpu->taken == row->takes[i])
			continue;
		end = false;
		for (const int *epoch = row->epochs; *epoch >= 0 && !failure; epoch++) {
			if (!cpu->operations)
				state.cpu[i].epoch = *epoch;
			schedules += explore_step(i);
			state = here;
			if (cpu->operations || (row->stands_still && i > 0))
				break; /* nothing to choose */
		}
	}
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void start(int cells, int limit)
{
	int retries = RF_RETRIES;

	policy = (struct rf_policy){
		.id = 1,
		.limit = limit,
		.clip = limit,
		.cell = 1,
		.cells = cells,
		.clock = RF_KTIME,
	};
	operations_bound = retries * (2 * ring_cells + 3 + 3 * retries);
	path_length = 0;
	state = (struct state){0};
	if (!row->zeroed)
		rf_window_open(&state.window, row->origin);
	for (int i = 0; i < STARTS_MAX; i++) {
		for (int j = 0; j < row->start[i].packets; j++) {
			int epoch = row->start[i].epoch;

			if (rf_take(&state.window, &policy, row->origin + epoch, 1) == RF_UNDER)
				admit(epoch, 1);
		}
	}
	free(seen);
	seen = NULL;
	seen_size = seen_count = 0;
	seen_resize(1 << 12);
}

static void print_path(void)
{
	static const char *const names[] = {"under", "over", "lost races"};

	for (int i = 0; i < path_length; i++) {
		const struct step *step = &path[i];

		printf("#   cpu %d, packet of +%d: ", step->cpu, step->epoch);
		if (step->word)
			printf("cell[%ld]", step->word - 1);
		else
			printf("head");
		printf(" {%u, %u}", rf_word_epoch(step->before), rf_word_used(step->before));
		if (step->before != step->after)
			printf(" -> {%u, %u}", rf_word_epoch(step->after),
			       rf_word_used(step->after));
		printf("%s%s\n", step->verdict < 0 ? "" : ": ",
		       step->verdict < 0 ? "" : names[step->verdict]);
	}
}

static bool run_row(int number)
{
	double schedules = 0;
	__u64 states = 0;

	memset(verdicts, 0, sizeof(verdicts));
	operations_most = 0;
	failure = NULL;
	ring_cells = row->ring;
	ring_retries = row->retries;
	for (int cells = row->cells_from; cells <= row->cells_to && !failure; cells++) {
		for (int limit = row->limit_from; limit <= row->limit_to && !failure; limit++) {
			start(cells, limit);
			check_rest();
			if (!failure)
				schedules += explore();
			states += seen_count;
			if (failure)
				printf("# N %d, L %d, origin %llu: %s\n", cells, limit, row->origin,
				       failure);
		}
	}
	if (failure)
		print_path();
	if (!failure && row->lost_races && !verdicts[RF_LOST_RACES])
		failure = "no schedule loses all its races";
	printf("%sok %d - every interleaving: %s\n", failure ? "not " : "", number, row->title);
	printf("# %.3g schedules, %llu states; packets under %llu, over %llu"
	       ", lost races %llu; %d operations at most%s%s\n",
	       schedules, states, verdicts[RF_UNDER], verdicts[RF_OVER], verdicts[RF_LOST_RACES],
	       operations_most, failure ? "; " : "", failure ? failure : "");
	fflush(stdout);
	return !failure;
}

/*
 * With -x: only until a row fails. With -b: only what a limiter that admits too much does wrong,
 * and not what a too strict one does. With a number: that row alone.
 */
int main(int argc, char **argv)
{
	const int count = sizeof(rows) / sizeof(rows[0]);
	bool first_failure = false;
	int only = 0, failed = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-x") == 0)
			first_failure = true;
		else if (strcmp(argv[i], "-b") == 0)
			bound_only = true;
		else
			only = atoi(argv[i]);
	}
	printf("1..%d\n", only ? 1 : count);
	for (int i = 0; i < count && !(failed && first_failure); i++) {
		row = &rows[i];
		if (!only || only == i + 1)
			failed += !run_row(i + 1);
	}
	return failed ? 1 : 0;
}
