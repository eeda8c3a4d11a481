// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every interleaving of a few CPUs through the slots and the presence filter, operation by
 * operation. Each CPU touches the slot of a source, makes a window for a newcomer or for a known
 * source, or asks the filter for a source, in the order that bpf/windows.h has. The hash map of
 * windows is a model: a look-up, an insert and a delete are one operation each, an insert or a
 * delete may fail once, and the memory of a deleted window goes to the next one at once, as in the
 * kernel. Time ticks on at any moment, and a CPU may have read the tick before.
 *
 * What must hold is in check_state(), check_step() and judge(). Speaks TAP. A failure prints the
 * schedule that leads to it.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#define RF_SLOT_TRIES 2 /* so that few CPUs use them up */

#include "ringfence/atomic.h"

#include "bpf/presence.h"
#include "bpf/slot.h"

#define CPUS_MAX 3
#define SLOTS_MAX 3
#define SOURCES 4
#define KEYS (2 * SOURCES) /* of each source: 2 * source, and that + 1 under a limit of before */
#define ELEMENTS (SLOTS_MAX + CPUS_MAX) /* more than there may be windows */
#define PATH_MAX_STEPS 4096

enum errand { TOUCHES, NEWCOMES, IS_KNOWN, TAKES_OVER, ASKS, MEETS, RESTS, ERRANDS };
enum fault { NO_FAULT, NOT_DELETED, NOT_INSERTED, FAULTS };

struct slot {
	__u64 key;
	__u64 word;
};

struct memory {
	__u64 map; /* four bits a key: its window's element, counted from 1, or 0 */
	__u64 seat[ELEMENTS];
	struct slot slot[SLOTS_MAX];
	__u64 residents;
	struct rf_presence line;
};

/* Of one errand. */
struct local {
	enum errand errand;
	enum fault fault;
	int key;
	int slot;
	__u32 tick;
	bool has_seat; /* the following two were read */
	int element;
	__u64 seat;
	bool is_noted;		  /* a touch: in the slot, as far as its CPU can tell */
	enum rf_slot_state state; /* … which is in that state, or RF_SLOT_FREE for "as it is" */
	bool is_absent;		  /* the answer */
	bool is_there;		  /* its window, though it was missing before */
	enum rf_slot_eager kin;	  /* who has no window here, by the one under a limit of before */
};

#include "replay.h"
#include "seen.h"

/* What the state of the machine does not say, and the checks need. */
struct ghost {
	bool is_stale[CPUS_MAX]; /* the window whose seat it has read was deleted */
	bool lacked[CPUS_MAX];	 /* its source had no window at some time since it began */
	__u8 owned[CPUS_MAX];	 /* bit set of slots that it has claimed */
	__u8 rested;		 /* … of those whose resident is none any more: its seat lags */
	__u32 arrived[SLOTS_MAX];
	__u32 seen[SLOTS_MAX]; /* by a touch that is over, or that had nothing to write */
};

/* A slot at the start; times are ticks ago. */
struct sitting {
	enum rf_slot_state state;
	int key, arrived, idle;
};

/* What a CPU may have to do: bit sets. */
struct work {
	int errands;
	__u32 kinds, keys, slots;
};

struct row {
	const char *title;
	int slots;
	struct sitting sitting[SLOTS_MAX];
	__u64 residents_max;
	int ticks;
	__u32 faults;
	bool is_eager, lags, wraps;
	struct work cpu[CPUS_MAX];
};

#include "slots_rows.h"

static const struct row *row;
static struct rf_slot_times times;
static __u32 now; /* in ticks */
static int ticks;
static struct ghost ghost;
static const char *failure;
static double all_schedules;
static __u64 all_states;

static struct {
	int cpu; /* -1: the clock */
	struct local local;
	struct memory memory;
} path[PATH_MAX_STEPS];
static int path_length;

/* Counters of a line in octal: some sources share one, and one source has one twice. */
static __u64 hash_of(int key)
{
	static const __u64 hashes[SOURCES] = {0211003, 0341103, 0452121, 0564730};

	return hashes[key / 2];
}

/* ---- the map of windows ---- */

static int element_of(const struct memory *memory, int key)
{
	return (int)(memory->map >> 4 * key & 15) - 1;
}

static int count_windows(const struct memory *memory)
{
	int count = 0;

	for (int key = 0; key < KEYS; key++)
		count += element_of(memory, key) >= 0;
	return count;
}

static int free_element(const struct memory *memory)
{
	__u32 taken = 0;

	for (int key = 0; key < KEYS; key++)
		taken |= 1U << (memory->map >> 4 * key & 15);
	return __builtin_ctz(~(taken >> 1));
}

static int find_window(struct memory *memory, int key)
{
	yield(&memory->map);
	return element_of(memory, key);
}

/* False: it stays. */
static bool delete_window(struct memory *memory, int key, bool fails)
{
	yield(&memory->map);
	if (fails)
		return false;
	memory->map &= ~(15ULL << 4 * key);
	return true;
}

/* False: there is one of that key. */
static bool insert_window(struct memory *memory, int key, __u64 seat, bool fails)
{
	int element;

	yield(&memory->map);
	if (fails || element_of(memory, key) >= 0)
		return false;
	element = free_element(memory);
	memory->seat[element] = seat;
	memory->map |= (__u64)(element + 1) << 4 * key;
	return true;
}

/* ---- what a CPU does, in the order of bpf/windows.h ---- */

static bool read_seat(struct memory *memory, struct local *local, int key)
{
	const int element = find_window(memory, key);

	if (element < 0)
		return false;
	local->seat = rf_load(&memory->seat[element]);
	local->element = element;
	local->has_seat = true;
	return true;
}

static void touch(struct memory *memory, struct local *local)
{
	__u32 slot, generation;

	if (!read_seat(memory, local, local->key))
		return;
	local->is_noted = rf_seat_is_recent(local->seat, &times, local->tick);
	if (local->is_noted)
		return;
	slot = rf_seat_slot(local->seat);
	generation = rf_seat_generation(local->seat);
	local->state = rf_slot_touch(&memory->slot[slot].word, &memory->residents, &times,
				     generation, local->tick);
	local->is_noted = local->state != RF_SLOT_FREE;
	if (local->is_noted)
		rf_cas(&memory->seat[local->element], local->seat,
		       rf_seat(slot, generation, local->state == RF_SLOT_RESIDENT, local->tick));
}

static enum rf_slot_eager eager_of(const struct local *local)
{
	return local->errand == IS_KNOWN || row->is_eager ? RF_SLOT_EAGER_ALL : local->kin;
}

/*
 * Is a window to be made? Another CPU may have made it since this one did not find it; as what
 * makes its source known, that is the window itself, and not another one.
 */
static bool meets(struct memory *memory, struct local *local)
{
	int element;

	if (find_window(memory, local->key) >= 0)
		return false;
	element = find_window(memory, local->key ^ 1);
	if (element >= 0)
		local->kin = rf_seat_is_resident(rf_load(&memory->seat[element]))
				     ? RF_SLOT_EAGER_ALL
				     : RF_SLOT_EAGER_YOUNG;
	local->is_there = find_window(memory, local->key) >= 0;
	return !local->is_there;
}

/* Does that slot hold the window of `key`? The seat that was read may be another's by now. */
static bool slot_holds(struct memory *memory, __u64 seat, int key)
{
	struct slot *slot = &memory->slot[rf_seat_slot(seat)];
	const __u64 word = rf_load(&slot->word);

	return (int)rf_load(&slot->key) == key &&
	       rf_slot_generation(word) == rf_seat_generation(seat) &&
	       rf_slot_state(word) >= RF_SLOT_NEW;
}

/* The slot that is to be claimed, and its word. */
static bool choose_slot(struct memory *memory, struct local *local, __u64 *old)
{
	if (local->errand != TAKES_OVER) {
		*old = rf_load(&memory->slot[local->slot].word);
		return rf_slot_score(*old, &times, local->tick, eager_of(local)) > 0;
	}
	if (!read_seat(memory, local, local->key ^ 1) ||
	    !slot_holds(memory, local->seat, local->key ^ 1))
		return false;
	local->slot = (int)rf_seat_slot(local->seat);
	*old = rf_load(&memory->slot[local->slot].word);
	return rf_slot_generation(*old) == rf_seat_generation(local->seat) &&
	       rf_slot_state(*old) >= RF_SLOT_NEW;
}

/* Takes the window out of a slot that was claimed. False: it stays, and the slot as it was. */
static bool evict(struct memory *memory, const struct local *local, __u64 old)
{
	struct slot *slot = &memory->slot[local->slot];
	const int key = (int)rf_load(&slot->key);

	if (!delete_window(memory, key, local->fault == NOT_DELETED)) {
		rf_slot_restore(&slot->word, old);
		return false;
	}
	rf_presence_remove(&memory->line, hash_of(key));
	if (rf_slot_state(old) == RF_SLOT_RESIDENT && local->errand != TAKES_OVER)
		rf_residents_remove(&memory->residents);
	return true;
}

static enum rf_slot_state state_of_new(struct memory *memory, const struct local *local, __u64 old)
{
	if (local->errand == TAKES_OVER)
		return rf_slot_state(old);
	return (local->errand == IS_KNOWN || local->kin == RF_SLOT_EAGER_ALL) &&
			       rf_residents_add(&memory->residents, times.residents_max)
		       ? RF_SLOT_RESIDENT
		       : RF_SLOT_NEW;
}

static void insert(struct memory *memory, const struct local *local, __u32 generation,
		   enum rf_slot_state state)
{
	const __u64 seat =
		rf_seat(local->slot, generation, state == RF_SLOT_RESIDENT, local->tick - 1);
	struct slot *slot = &memory->slot[local->slot];

	rf_presence_add(&memory->line, hash_of(local->key));
	rf_store(&slot->key, local->key);
	if (insert_window(memory, local->key, seat, local->fault == NOT_INSERTED)) {
		rf_slot_publish(&slot->word, generation, state, local->tick);
		return;
	}
	rf_presence_remove(&memory->line, hash_of(local->key));
	if (state == RF_SLOT_RESIDENT)
		rf_residents_remove(&memory->residents);
	rf_slot_free(&slot->word, generation);
}

static void make_window(struct memory *memory, struct local *local)
{
	__u64 *word, old;

	if (local->errand == MEETS && !meets(memory, local))
		return;
	if (!choose_slot(memory, local, &old))
		return;
	word = &memory->slot[local->slot].word;
	if (!rf_slot_claim(word, old, local->tick))
		return;
	if (rf_slot_state(old) != RF_SLOT_FREE && !evict(memory, local, old))
		return;
	insert(memory, local, rf_slot_generation(rf_slot_claimed(old, local->tick)),
	       state_of_new(memory, local, old));
}

void run_call(struct memory *memory, struct local *local, int index)
{
	(void)index;
	switch (local->errand) {
	case TOUCHES:
		touch(memory, local);
		break;
	case RESTS:
		rf_slot_rest(&memory->slot[local->slot].word, &memory->residents, &times,
			     local->tick);
		break;
	case ASKS:
		local->is_absent = !rf_presence_has(&memory->line, hash_of(local->key));
		break;
	default:
		make_window(memory, local);
	}
}

/* ---- what must hold at any time ---- */

static bool is_busy(int index)
{
	return hands[index].operations > 0;
}

static int count_busy(void)
{
	int busy = 0;

	for (int i = 0; i < CPUS_MAX; i++)
		busy += is_busy(i);
	return busy;
}

static int owner_of(int slot)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (ghost.owned[i] >> slot & 1)
			return i;
	return -1;
}

static bool lacks_window(int key)
{
	return element_of(&shared, key) < 0 && element_of(&shared, key ^ 1) < 0;
}

/* Of a window: its slot is its own, or is being made so, or it is being evicted from there. */
static void check_window(int key)
{
	const __u64 seat = shared.seat[element_of(&shared, key)];
	const __u32 generation = rf_seat_generation(seat);
	const struct slot *slot = &shared.slot[rf_seat_slot(seat)];
	const __u32 generations = rf_slot_generation(slot->word) - generation;
	const __u32 later = (rf_slot_last(slot->word) - (__u32)seat) & RF_SEAT_TICKS;

	if (rf_slot_state(slot->word) == RF_SLOT_CLAIMED) {
		if (generations & RF_SLOT_GENERATIONS & ~1U)
			failure = "leaked: a window whose slot another claimed";
	} else if (generations || rf_slot_state(slot->word) == RF_SLOT_FREE ||
		   slot->key != (__u64)key) {
		failure = "leaked: a window without a slot";
	} else if (later > RF_SEAT_TICKS / 2) {
		failure = "untouched: the seat is of a later tick than its slot";
	} else if (rf_seat_is_resident(seat) && rf_slot_state(slot->word) != RF_SLOT_RESIDENT &&
		   !(ghost.rested >> rf_seat_slot(seat) & 1)) {
		failure = "miscounted: the seat is a resident's, and its slot is not";
	}
}

static int check_slot(int index)
{
	const struct slot *slot = &shared.slot[index];
	const enum rf_slot_state state = rf_slot_state(slot->word);
	const int owner = owner_of(index);
	int element;

	if ((state == RF_SLOT_CLAIMED) != (owner >= 0 && is_busy(owner)))
		failure = "stuck: a slot is claimed, and nobody is at work there";
	if (state < RF_SLOT_NEW)
		return 0;
	element = element_of(&shared, (int)slot->key);
	if (element < 0 || rf_seat_slot(shared.seat[element]) != (__u32)index)
		failure = "stuck: a slot is taken, and has no window";
	return state == RF_SLOT_RESIDENT;
}

/* Nobody is at work. */
static void check_quiet(__u64 residents)
{
	struct rf_presence line;

	memset(&line, 0, sizeof(line));
	for (int key = 0; key < KEYS; key++)
		if (element_of(&shared, key) >= 0)
			rf_presence_add(&line, hash_of(key));
	if (memcmp(&line, &shared.line, sizeof(line)) != 0)
		failure = "miscounted: the filter does not have the windows that there are";
	if (shared.residents != residents)
		failure = "miscounted: there are more or fewer residents than were counted";
}

static void check_state(void)
{
	__u64 residents = 0;

	for (int key = 0; key < KEYS && !failure; key++)
		if (element_of(&shared, key) >= 0)
			check_window(key);
	for (int i = 0; i < row->slots && !failure; i++)
		residents += check_slot(i);
	if (failure)
		return;
	if (count_windows(&shared) > row->slots)
		failure = "crowded: there are more windows than slots";
	else if (residents > row->residents_max)
		failure = "miscounted: there are more residents than there may be";
	else if (shared.residents < residents ||
		 shared.residents > row->residents_max + count_busy())
		failure = "miscounted: more or fewer residents than there can be";
	else if (!count_busy())
		check_quiet(residents);
}

/* ---- what must hold of each step ---- */

/* May a CPU evict what has that word? By the rules in words, not by slot.h. */
static bool may_claim(const struct local *local, __u64 old)
{
	const __s32 idle = (__s32)(local->tick - rf_slot_last(old));

	if (local->errand == TAKES_OVER || local->errand == IS_KNOWN || row->is_eager ||
	    local->kin == RF_SLOT_EAGER_ALL)
		return rf_slot_state(old) != RF_SLOT_CLAIMED;
	switch (rf_slot_state(old)) {
	case RF_SLOT_NEW:
	case RF_SLOT_YOUNG:
		return local->kin == RF_SLOT_EAGER_YOUNG || idle > (__s32)times.young_idle;
	case RF_SLOT_RESIDENT:
		return idle > (__s32)times.resident_idle;
	default:
		return rf_slot_state(old) != RF_SLOT_CLAIMED;
	}
}

/*
 * A resident that was seen stays for as long as may be between its packet and the last touch, less
 * than it may be idle.
 */
static bool was_seen(const struct local *local, int index, __u64 old)
{
	const __s32 idle = (__s32)(local->tick - ghost.seen[index]);

	return rf_slot_state(old) == RF_SLOT_RESIDENT &&
	       idle <= (__s32)(times.resident_idle - times.resident_touch + 1);
}

static void check_touch(int cpu, int index, __u64 old, __u64 new)
{
	const struct local *local = &hands[cpu].local;
	const enum rf_slot_state was = rf_slot_state(old), is = rf_slot_state(new);

	if (local->errand != TOUCHES || ghost.is_stale[cpu] ||
	    rf_slot_generation(old) != rf_slot_generation(new))
		failure = "touched: the slot of another window";
	else if ((__s32)(rf_slot_last(new) - rf_slot_last(old)) < 0)
		failure = "untouched: a slot was seen later than it says";
	else if (was < RF_SLOT_NEW || (was == RF_SLOT_RESIDENT && is != was))
		failure = "touched: a slot that nobody has, or a resident is none any more";
	else if (is < RF_SLOT_YOUNG)
		failure = "untouched: a source that was seen again is new still";
	else if (was <= RF_SLOT_YOUNG && is > RF_SLOT_YOUNG &&
		 (__s32)(local->tick - ghost.arrived[index]) < (__s32)times.young_for)
		failure = "settled: before its time";
}

/* Only the state changes, and only of a resident that was idle for long. */
static void check_rest(int cpu, int index, __u64 old, __u64 new)
{
	const __s32 idle = (__s32)(hands[cpu].local.tick - rf_slot_last(old));

	ghost.rested |= 1 << index;
	if (rf_slot_state(old) != RF_SLOT_RESIDENT || rf_slot_state(new) != RF_SLOT_YOUNG ||
	    (old ^ new) & ~(7ULL << 40))
		failure = "rested: more of a slot changes than its state";
	else if (idle <= (__s32)times.resident_idle)
		failure = "rested: a resident that was seen of late";
}

static void check_claim(int cpu, int index, __u64 old)
{
	const struct local *local = &hands[cpu].local;

	ghost.rested &= ~(1 << index);
	if (local->errand == TOUCHES || local->errand == RESTS || !may_claim(local, old))
		failure = "evicted: a source that was seen of late";
	else if (local->errand == NEWCOMES && !row->is_eager && was_seen(local, index, old))
		failure = "evicted: a resident that was seen, and not touched";
	ghost.owned[cpu] |= 1 << index;
}

static void check_word(int cpu, int index, __u64 old, __u64 new)
{
	const enum rf_slot_state was = rf_slot_state(old), is = rf_slot_state(new);
	const int owner = owner_of(index);

	if (owner >= 0 && owner != cpu) {
		failure = "stolen: a slot is changed that another CPU has claimed";
	} else if (is == RF_SLOT_CLAIMED) {
		check_claim(cpu, index, old);
	} else if (was == RF_SLOT_CLAIMED) {
		ghost.owned[cpu] &= ~(1 << index);
		if (rf_slot_last(new) == rf_slot_last(old))
			ghost.arrived[index] = rf_slot_last(new);
	} else if (hands[cpu].local.errand == RESTS) {
		check_rest(cpu, index, old, new);
	} else {
		check_touch(cpu, index, old, new);
	}
}

/* Of windows that are no more, and of sources that have none. */
static void note_windows(int cpu, const struct memory *before, bool had_seat)
{
	for (int key = 0; key < KEYS; key++) {
		const int element = element_of(before, key);

		if (element < 0 || element_of(&shared, key) >= 0)
			continue;
		for (int i = 0; i < CPUS_MAX; i++)
			ghost.is_stale[i] |=
				hands[i].local.has_seat && hands[i].local.element == element;
		if (owner_of((int)rf_seat_slot(before->seat[element])) != cpu)
			failure = "leaked: a window was deleted by who does not own its slot";
		else if (hands[cpu].local.errand == TAKES_OVER && key != (hands[cpu].local.key ^ 1))
			failure = "evicted: another source, by one that moves its own window";
	}
	if (hands[cpu].local.has_seat && !had_seat) {
		ghost.is_stale[cpu] = true;
		for (int key = 0; key < KEYS; key++)
			if (element_of(&shared, key) == hands[cpu].local.element)
				ghost.is_stale[cpu] = false;
	}
	for (int i = 0; i < CPUS_MAX; i++)
		ghost.lacked[i] |= lacks_window(hands[i].local.key);
}

static void check_step(int cpu, const struct memory *before, bool had_seat)
{
	note_windows(cpu, before, had_seat);
	for (int i = 0; i < row->slots && !failure; i++)
		if (shared.slot[i].word != before->slot[i].word)
			check_word(cpu, i, before->slot[i].word, shared.slot[i].word);
}

/* ---- what must hold of an errand ---- */

static void judge(int cpu)
{
	const struct local *local = &hands[cpu].local;
	const struct slot *slot = &shared.slot[rf_seat_slot(local->seat)];
	const __u32 lag = rf_seat_is_resident(local->seat) ? times.resident_touch - 1 : 0;

	if (local->errand == ASKS && local->is_absent && !ghost.lacked[cpu])
		failure = "absent, and it had a window all the time";
	if (local->errand != TOUCHES || !local->is_noted ||
	    rf_slot_generation(slot->word) != rf_seat_generation(local->seat) ||
	    rf_slot_state(slot->word) < RF_SLOT_NEW)
		return;
	if ((__s32)(ghost.seen[rf_seat_slot(local->seat)] - local->tick) < 0)
		ghost.seen[rf_seat_slot(local->seat)] = local->tick;
	if ((__s32)(rf_slot_last(slot->word) + lag - local->tick) < 0)
		failure = "untouched: a touch is noted, and the slot does not have it";
	else if (local->state == RF_SLOT_RESIDENT &&
		 rf_slot_state(slot->word) != RF_SLOT_RESIDENT &&
		 !(ghost.rested >> rf_seat_slot(local->seat) & 1))
		failure = "miscounted: a touch tells of a state that its slot is not in";
	else if (rf_slot_state(slot->word) == RF_SLOT_NEW &&
		 local->tick == rf_slot_last(slot->word))
		failure = "untouched: a touch is noted, and the source is new still";
}

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

/* An errand is over: nothing of it tells one state from another. */
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
	check_step(index, &memory, hand.local.has_seat);
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
	static const char states[] = "FCNYRO??";

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
static void seat_source(int index, const struct sitting *sitting)
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
	shared.seat[index] =
		rf_seat(index, generation, is_resident, last - (sitting->state == RF_SLOT_NEW));
	shared.map |= (index + 1ULL) << 4 * sitting->key;
	shared.residents += is_resident;
	rf_presence_add(&shared.line, hash_of(sitting->key));
}

static bool run_row(int number)
{
	double schedules;

	failure = NULL;
	path_length = 0;
	now = row->wraps ? ~0U : 1000;
	ticks = 0;
	times = (struct rf_slot_times){.young_for = 2,
				       .young_idle = 1,
				       .resident_idle = 2,
				       .resident_touch = 2,
				       .residents_max = row->residents_max};
	memset(&shared, 0, sizeof(shared));
	memset(hands, 0, sizeof(hands));
	memset(&ghost, 0, sizeof(ghost));
	for (int i = 0; i < row->slots; i++)
		seat_source(i, &row->sitting[i]);
	seen_clear();
	check_state();
	schedules = failure ? 0 : explore();
	printf("%sok %d - every interleaving, slots: %s\n", failure ? "not " : "", number,
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
		printf("# slots: %.3g schedules, %llu states\n", all_schedules, all_states);
	return failed ? 1 : 0;
}
