// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through the slots and the known filter, operation by
 * operation. Each CPU touches the slot of a source, creates a window for a newcomer or for a known
 * source, or looks a source up in the filter, in the order of bpf/new_window.h. The hash map of
 * windows is a model: a look-up, an insert and a delete are one operation each, an insert or a
 * delete can fail once, and the memory of a deleted window is reused immediately, as in the kernel.
 * Time ticks at any instant, and a CPU can have read the tick before.
 *
 * The invariants are in slots_checks.c. Prints TAP. A failure prints the schedule that leads to it.
 */
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "seen.h"
#include "slots.h"

#define PATH_MAX_STEPS 4096

const struct row *row;
struct rf_slot_times times;
static __u32 now; /* in ticks */
static int ticks;
struct ghost ghost;
const char *failure;

static struct {
	int cpu; /* -1: the clock */
	struct local local;
	struct memory memory;
} path[PATH_MAX_STEPS];
static int path_length;

/* ---- the search ---- */

static void hash_state(__u64 hash[2])
{
	__u64 cpu[CPUS_MAX][2];

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &shared, sizeof(shared));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct hand *hand = &hands[i];
		const struct local *local = &hand->local;
		const struct work *work = &row->cpu[i];
		const __u64 words[] = {
			(__u64)hand->packet << 56 | (__u64)work->errands << 48 |
				(__u64)hand->operations << 32 | local->errand << 24 |
				local->fault << 16 | local->key << 8 | local->slot,
			(__u64)local->tick << 32 | ghost.owned[i] << 8 | ghost.is_stale[i] << 1 |
				ghost.lacked[i],
			(__u64)work->kinds << 48 | (__u64)work->keys << 32 | work->slots,
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
	for (int i = 0; i < SLOTS_MAX; i++)
		hash[1] = mix(hash[1], (__u64)ghost.arrived[i] << 32 | ghost.seen[i]);
	hash[1] = mix(hash[1], ghost.rested);
	hash[1] = mix(hash[1], (__u64)now << 32 | ticks);
	hash[0] |= 1;
}

static double explore(void);

static void note(int index)
{
	if (path_length == PATH_MAX_STEPS) {
		failure = "a schedule that is too long";
		return;
	}
	path[path_length].cpu = index;
	if (index >= 0)
		path[path_length].local = hands[index].local;
	path[path_length++].memory = shared;
}

/* A completed errand does not distinguish states. */
static void forget(int index)
{
	put_down(index);
	ghost.is_stale[index] = ghost.lacked[index] = false;
}

static double explore_operation(int index)
{
	const struct memory memory = shared;
	const struct hand hand = hands[index];
	const struct ghost before = ghost;
	double schedules = 0;
	bool ends;

	ends = operate(index);
	note(index);
	check_step(index, &memory, hand.local.has_slot_ref);
	if (ends && !failure) {
		judge(index);
		forget(index);
	}
	if (!failure)
		check_state();
	if (!failure)
		schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	shared = memory;
	hands[index] = hand;
	ghost = before;
	return schedules;
}

static bool has_bit(__u32 set, int bit)
{
	return set >> bit & 1;
}

static double explore_begin(int index, const struct local *begun)
{
	const bool lacked = ghost.lacked[index];
	double schedules;

	pick_up(index, begun);
	ghost.lacked[index] = lacks_window(begun->key);
	schedules = explore_operation(index);
	ghost.lacked[index] = failure ? ghost.lacked[index] : lacked;
	return schedules;
}

/* An errand of that kind for that key, by a CPU that has read the tick now or a tick before. */
static double explore_kind(int index, enum errand errand, int key)
{
	const bool makes =
		errand == NEWCOMES || errand == IS_KNOWN || errand == MEETS || errand == TAKES_OVER;
	const bool chooses = (makes && errand != TAKES_OVER) || errand == RESTS;
	double schedules = 0;

	for (int i = 0; i < 2 * FAULTS * SLOTS_MAX && !failure; i++) {
		const struct local begun = {
			.errand = errand,
			.key = key,
			.tick = now - i % 2,
			.fault = i / 2 % FAULTS,
			.slot = i / 2 / FAULTS,
		};

		if ((i % 2 && !row->lags) || (begun.slot > 0 && !chooses) ||
		    (chooses && !has_bit(row->cpu[index].slots, begun.slot)) ||
		    (begun.fault && (!makes || !has_bit(row->faults, begun.fault))))
			continue;
		schedules += explore_begin(index, &begun);
	}
	return schedules;
}

static double explore_errand(int index)
{
	const struct work *work = &row->cpu[index];
	double schedules = 0;

	for (int i = 0; i < ERRANDS * KEYS && !failure; i++)
		if (has_bit(work->kinds, i % ERRANDS) && has_bit(work->keys, i / ERRANDS))
			schedules += explore_kind(index, i % ERRANDS, i / ERRANDS);
	return schedules;
}

static double explore_tick(void)
{
	double schedules;

	now++;
	ticks++;
	note(-1);
	schedules = explore();
	if (failure)
		return schedules;
	path_length--;
	now--;
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
	if (seen_enough())
		return 0;
	for (int i = 0; i < CPUS_MAX && !failure; i++) {
		if (hands[i].packet == row->cpu[i].errands)
			continue;
		end = false;
		schedules += is_busy(i) ? explore_operation(i) : explore_errand(i);
	}
	if (!end && !failure && ticks < row->ticks)
		schedules += explore_tick();
	schedules = end ? 1 : schedules;
	seen_add(hash, schedules);
	return schedules;
}

/* ---- rows ---- */

static void print_path(void)
{
	static const char *const errands[] = {"touches", "newcomer", "known", "takes over",
					      "asks",	 "meets",    "rests"};
	static const char *const faults[] = {"", ", no delete", ", no insert"};
	static const char states[] = "FCNYROS?";

	for (int i = 0; i < path_length; i++) {
		const struct memory *memory = &path[i].memory;
		const struct local *local = &path[i].local;

		if (path[i].cpu < 0)
			printf("#   the clock ticks on:");
		else
			printf("#   cpu %d, tick %x, %s %d, slot %d%s:", path[i].cpu, local->tick,
			       errands[local->errand], local->key, local->slot,
			       faults[local->fault]);
		printf(" map %llx", memory->map);
		for (int j = 0; j < row->slots; j++) {
			const __u64 word = memory->slot[j].word;

			printf(" {%llu, %x %c %x %x}", memory->slot[j].key,
			       rf_slot_generation(word), states[rf_slot_state(word)],
			       rf_slot_arrived(word), rf_slot_last(word));
		}
		printf(" residents %lld\n", (long long)memory->residents);
	}
}

/* A source that is there at the start, in an element of the same number as its slot. */
static void slot_ref_source(int index, const struct sitting *sitting)
{
	const __u32 generation = row->wraps ? RF_SLOT_GENERATIONS : 5;
	const int is_resident = sitting->state == RF_SLOT_RESIDENT;
	const __u32 last = now - sitting->idle;

	ghost.arrived[index] = now - sitting->arrived;
	ghost.seen[index] = last;
	shared.slot[index].word = rf_slot_word(generation, sitting->state, 0, 0);
	if (sitting->state < RF_SLOT_NEW)
		return;
	shared.slot[index].key = sitting->key;
	shared.slot[index].word =
		rf_slot_word(generation, sitting->state, ghost.arrived[index], last);
	shared.slot_ref[index] =
		rf_slot_ref(index, generation, is_resident, last - (sitting->state == RF_SLOT_NEW));
	shared.map |= (index + 1ULL) << 4 * sitting->key;
	shared.residents += is_resident;
	rf_known_filter_add(&shared.line, hash_of(sitting->key));
}

static struct found explore_row(void)
{
	double schedules;

	failure = NULL;
	path_length = 0;
	now = row->wraps ? ~0U : 1000;
	ticks = 0;
	times = (struct rf_slot_times){.probation_for = 2,
				       .probation_idle = 1,
				       .resident_idle = 2,
				       .resident_touch = 2,
				       .residents_max = row->residents_max};
	memset(&shared, 0, sizeof(shared));
	memset(hands, 0, sizeof(hands));
	memset(&ghost, 0, sizeof(ghost));
	for (int i = 0; i < row->slots; i++)
		slot_ref_source(i, &row->sitting[i]);
	seen_clear();
	check_state();
	schedules = failure ? 0 : explore();
	return (struct found){failure, schedules, seen_count, !seen_enough()};
}

static const char *begin_row(int i)
{
	row = &slots_rows[i];
	return row->title;
}

struct rows rows_of_program(void)
{
	return (struct rows){
		.name = "slots",
		.count = slots_row_count,
		.begin = begin_row,
		.explore = explore_row,
		.print_path = print_path,
	};
}
