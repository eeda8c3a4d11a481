// SPDX-License-Identifier: GPL-2.0
/* What must hold of the slots, the windows and the filter: at any time, of each step, of an errand.
 */
#include "slots.h"

#include <string.h>

/* ---- what must hold at any time ---- */

bool is_busy(int index)
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

bool lacks_window(int key)
{
	return element_of(&shared, key) < 0 && element_of(&shared, key ^ 1) < 0;
}

/* A window has its slot, is about to get it, or is being evicted from it. */
static void check_window(int key)
{
	const __u64 slot_ref = shared.slot_ref[element_of(&shared, key)];
	const __u32 generation = rf_slot_ref_generation(slot_ref);
	const struct slot *slot = &shared.slot[rf_slot_ref_slot(slot_ref)];
	const __u32 generations = rf_slot_generation(slot->word) - generation;
	const __u32 later = (rf_slot_last(slot->word) - (__u32)slot_ref) & RF_SLOT_REF_TICKS;

	if (rf_slot_state(slot->word) == RF_SLOT_CLAIMED) {
		if (generations & RF_SLOT_GENERATIONS & ~1U)
			failure = "leaked: a window whose slot another claimed";
	} else if (generations || rf_slot_state(slot->word) == RF_SLOT_FREE ||
		   slot->key != (__u64)key) {
		failure = "leaked: a window without a slot";
	} else if (later > RF_SLOT_REF_TICKS / 2) {
		failure = "untouched: the slot reference is of a later tick than its slot";
	} else if (rf_slot_ref_is_resident(slot_ref) &&
		   rf_slot_state(slot->word) != RF_SLOT_RESIDENT &&
		   !(ghost.rested >> rf_slot_ref_slot(slot_ref) & 1)) {
		failure = "miscounted: the slot reference is a resident's, and its slot is not";
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
	if (element < 0 || rf_slot_ref_slot(shared.slot_ref[element]) != (__u32)index)
		failure = "stuck: a slot is taken, and has no window";
	return state == RF_SLOT_RESIDENT;
}

/* No CPU has an errand. */
static void check_quiet(__u64 residents)
{
	struct rf_known_filter line;

	memset(&line, 0, sizeof(line));
	for (int key = 0; key < KEYS; key++)
		if (element_of(&shared, key) >= 0)
			rf_known_filter_add(&line, hash_of(key));
	if (memcmp(&line, &shared.line, sizeof(line)) != 0)
		failure = "miscounted: the filter does not have the windows that there are";
	if (shared.residents != residents)
		failure = "miscounted: there are more or fewer residents than were counted";
}

static int count_windows(const struct memory *memory)
{
	int count = 0;

	for (int key = 0; key < KEYS; key++)
		count += element_of(memory, key) >= 0;
	return count;
}

void check_state(void)
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

/* A non-resident's window of a source that has a second window. */
static bool is_sibling_on_probation(const struct local *local)
{
	return local->errand == MEETS && local->has_kin && !local->has_resident_kin;
}

/* A window of a source that has a second window: the guard does not count it. */
static bool is_unguarded(const struct local *local)
{
	return !row->is_eager && (local->errand == IS_KNOWN || local->has_kin);
}

/* May a CPU evict the source of that word? By the documented rules, not by slot.h. */
static bool may_claim(const struct local *local, __u64 old)
{
	const __s32 idle = (__s32)(local->tick - rf_slot_last(old));

	if (local->errand == TAKES_OVER || row->is_eager)
		return rf_slot_state(old) != RF_SLOT_CLAIMED;
	switch (rf_slot_state(old)) {
	case RF_SLOT_NEW:
	case RF_SLOT_PROBATION:
		return idle > (__s32)times.probation_idle;
	case RF_SLOT_RESIDENT:
		return idle > (__s32)times.resident_idle;
	case RF_SLOT_SIBLING:
		return !is_sibling_on_probation(local) || idle > (__s32)times.probation_idle;
	case RF_SLOT_OVER_QUOTA:
		return !is_sibling_on_probation(local);
	default:
		return rf_slot_state(old) != RF_SLOT_CLAIMED;
	}
}

/*
 * A resident that was seen is retained for as long as the maximum time between its packet and the
 * last touch, which is less than its permitted idle time.
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
	else if (is < RF_SLOT_PROBATION)
		failure = "untouched: a source that was seen again is new still";
	else if (was == RF_SLOT_SIBLING && is == RF_SLOT_PROBATION)
		failure = "settled: a sibling that newcomers may evict is on probation";
	else if ((was <= RF_SLOT_PROBATION || was == RF_SLOT_SIBLING) && is > RF_SLOT_PROBATION &&
		 is != was &&
		 (__s32)(local->tick - ghost.arrived[index]) < (__s32)times.probation_for)
		failure = "settled: before its time";
}

/* Only the state changes, and only of a resident that was idle for long. */
static void check_rest(int cpu, int index, __u64 old, __u64 new)
{
	const __s32 idle = (__s32)(hands[cpu].local.tick - rf_slot_last(old));

	ghost.rested |= 1 << index;
	if (rf_slot_state(old) != RF_SLOT_RESIDENT || rf_slot_state(new) != RF_SLOT_PROBATION ||
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

/* A window that no guard has counted is created evictable by newcomers. */
static void check_publish(const struct local *local, int index, __u64 new)
{
	ghost.arrived[index] = rf_slot_last(new);
	if (local->errand != TAKES_OVER &&
	    rf_slot_state(new) != (is_unguarded(local) ? RF_SLOT_SIBLING : RF_SLOT_NEW))
		failure = "settled: a new window that is protected from newcomers";
}

/* A CPU releases its slot: published with its new window, free, or unchanged. */
static void check_release(int cpu, int index, __u64 new)
{
	const struct local *local = &hands[cpu].local;

	ghost.owned[cpu] &= ~(1 << index);
	if (rf_slot_state(new) > RF_SLOT_CLAIMED && local->fault != NOT_DELETED)
		check_publish(local, index, new);
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
		check_release(cpu, index, new);
	} else if (hands[cpu].local.errand == RESTS) {
		check_rest(cpu, index, old, new);
	} else {
		check_touch(cpu, index, old, new);
	}
}

/* Notes windows that were deleted, and sources without a window. */
static void note_windows(int cpu, const struct memory *before, bool had_slot_ref)
{
	for (int key = 0; key < KEYS; key++) {
		const int element = element_of(before, key);

		if (element < 0 || element_of(&shared, key) >= 0)
			continue;
		for (int i = 0; i < CPUS_MAX; i++)
			ghost.is_stale[i] |=
				hands[i].local.has_slot_ref && hands[i].local.element == element;
		if (owner_of((int)rf_slot_ref_slot(before->slot_ref[element])) != cpu)
			failure = "leaked: a window was deleted by who does not own its slot";
		else if (hands[cpu].local.errand == TAKES_OVER && key != (hands[cpu].local.key ^ 1))
			failure = "evicted: another source, by one that moves its own window";
	}
	if (hands[cpu].local.has_slot_ref && !had_slot_ref) {
		ghost.is_stale[cpu] = true;
		for (int key = 0; key < KEYS; key++)
			if (element_of(&shared, key) == hands[cpu].local.element)
				ghost.is_stale[cpu] = false;
	}
	for (int i = 0; i < CPUS_MAX; i++)
		ghost.lacked[i] |= lacks_window(hands[i].local.key);
}

void check_step(int cpu, const struct memory *before, bool had_slot_ref)
{
	note_windows(cpu, before, had_slot_ref);
	for (int i = 0; i < row->slots && !failure; i++)
		if (shared.slot[i].word != before->slot[i].word)
			check_word(cpu, i, before->slot[i].word, shared.slot[i].word);
}

/* ---- what must hold of an errand ---- */

void judge(int cpu)
{
	const struct local *local = &hands[cpu].local;
	const struct slot *slot = &shared.slot[rf_slot_ref_slot(local->slot_ref)];
	const __u32 lag = rf_slot_ref_is_resident(local->slot_ref) ? times.resident_touch - 1 : 0;

	if (local->errand == ASKS && local->is_absent && !ghost.lacked[cpu])
		failure = "absent, and it had a window all the time";
	if (local->errand != TOUCHES || !local->is_noted ||
	    rf_slot_generation(slot->word) != rf_slot_ref_generation(local->slot_ref) ||
	    rf_slot_state(slot->word) < RF_SLOT_NEW)
		return;
	if ((__s32)(ghost.seen[rf_slot_ref_slot(local->slot_ref)] - local->tick) < 0)
		ghost.seen[rf_slot_ref_slot(local->slot_ref)] = local->tick;
	if ((__s32)(rf_slot_last(slot->word) + lag - local->tick) < 0)
		failure = "untouched: a touch is noted, and the slot does not have it";
	else if (local->state == RF_SLOT_RESIDENT &&
		 rf_slot_state(slot->word) != RF_SLOT_RESIDENT &&
		 !(ghost.rested >> rf_slot_ref_slot(local->slot_ref) & 1))
		failure = "miscounted: a touch tells of a state that its slot is not in";
	else if (rf_slot_state(slot->word) == RF_SLOT_NEW &&
		 local->tick == rf_slot_last(slot->word))
		failure = "untouched: a touch is noted, and the source is new still";
}
