// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a CPU of slots.c. The order in which it uses slot.h and known_filter.h is the order
 * of bpf/new_window.h; mutants change it.
 */
#include "slots.h"

/* Counters of a line in octal: some sources share one, and one source uses one twice. */
__u64 hash_of(int key)
{
	static const __u64 hashes[SOURCES] = {0211003, 0341103, 0452121, 0564730};

	return hashes[key / 2];
}

/* ---- the map of windows ---- */

int element_of(const struct memory *memory, int key)
{
	return (int)(memory->map >> 4 * key & 15) - 1;
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

/* False: it was not deleted. */
static bool delete_window(struct memory *memory, int key, bool fails)
{
	yield(&memory->map);
	if (fails)
		return false;
	memory->map &= ~(15ULL << 4 * key);
	return true;
}

/* False: there is one of that key. */
static bool insert_window(struct memory *memory, int key, __u64 slot_ref, bool fails)
{
	int element;

	yield(&memory->map);
	if (fails || element_of(memory, key) >= 0)
		return false;
	element = free_element(memory);
	memory->slot_ref[element] = slot_ref;
	memory->map |= (__u64)(element + 1) << 4 * key;
	return true;
}

/* ---- the steps of a CPU, in the order of bpf/new_window.h ---- */

static bool read_slot_ref(struct memory *memory, struct local *local, int key)
{
	const int element = find_window(memory, key);

	if (element < 0)
		return false;
	local->slot_ref = rf_load(&memory->slot_ref[element]);
	local->element = element;
	local->has_slot_ref = true;
	return true;
}

static void touch(struct memory *memory, struct local *local)
{
	__u32 slot, generation;

	if (!read_slot_ref(memory, local, local->key))
		return;
	local->is_noted = rf_slot_ref_is_recent(local->slot_ref, &times, local->tick);
	if (local->is_noted)
		return;
	slot = rf_slot_ref_slot(local->slot_ref);
	generation = rf_slot_ref_generation(local->slot_ref);
	local->state = rf_slot_touch(&memory->slot[slot].word, &memory->residents, &times,
				     generation, local->tick);
	local->is_noted = local->state != RF_SLOT_FREE;
	if (local->is_noted)
		rf_cas(&memory->slot_ref[local->element], local->slot_ref,
		       rf_slot_ref(slot, generation, local->state == RF_SLOT_RESIDENT,
				   local->tick));
}

/* A window, created without the guard, of a source that has a second window. */
static bool is_sibling(const struct local *local)
{
	return !row->is_eager && (local->errand == IS_KNOWN || local->has_kin);
}

static enum rf_slot_eager eager_of(const struct local *local)
{
	if (row->is_eager)
		return RF_SLOT_EAGER_ALL;
	return local->has_kin && !local->has_resident_kin ? RF_SLOT_EAGER_IDLE : RF_SLOT_EAGER_NOT;
}

/*
 * Should a window be created? Another CPU could have created it since this one did not find it; the
 * kin of the source is then the window itself, and not a different one.
 */
static bool meets(struct memory *memory, struct local *local)
{
	int element;

	if (find_window(memory, local->key) >= 0)
		return false;
	element = find_window(memory, local->key ^ 1);
	local->has_kin = element >= 0;
	local->has_resident_kin =
		local->has_kin && rf_slot_ref_is_resident(rf_load(&memory->slot_ref[element]));
	local->is_there = find_window(memory, local->key) >= 0;
	return !local->is_there;
}

/*
 * Does that slot hold the window of `key`? The slot reference that was read might belong to a
 * different window by now.
 */
static bool slot_holds(struct memory *memory, __u64 slot_ref, int key)
{
	struct slot *slot = &memory->slot[rf_slot_ref_slot(slot_ref)];
	const __u64 word = rf_load(&slot->word);

	return (int)rf_load(&slot->key) == key &&
	       rf_slot_generation(word) == rf_slot_ref_generation(slot_ref) &&
	       rf_slot_state(word) >= RF_SLOT_NEW;
}

/* The slot that is to be claimed, and its word. */
static bool choose_slot(struct memory *memory, struct local *local, __u64 *old)
{
	if (local->errand != TAKES_OVER) {
		*old = rf_load(&memory->slot[local->slot].word);
		return rf_slot_score(*old, &times, local->tick, eager_of(local)) > 0;
	}
	if (!read_slot_ref(memory, local, local->key ^ 1) ||
	    !slot_holds(memory, local->slot_ref, local->key ^ 1))
		return false;
	local->slot = (int)rf_slot_ref_slot(local->slot_ref);
	*old = rf_load(&memory->slot[local->slot].word);
	return rf_slot_generation(*old) == rf_slot_ref_generation(local->slot_ref) &&
	       rf_slot_state(*old) >= RF_SLOT_NEW;
}

/* Deletes the window of a claimed slot. False: the deletion failed, and the slot is unchanged. */
static bool evict(struct memory *memory, const struct local *local, __u64 old)
{
	struct slot *slot = &memory->slot[local->slot];
	const int key = (int)rf_load(&slot->key);

	if (!delete_window(memory, key, local->fault == NOT_DELETED)) {
		rf_slot_restore(&slot->word, old);
		return false;
	}
	rf_known_filter_remove(&memory->line, hash_of(key));
	if (rf_slot_state(old) == RF_SLOT_RESIDENT && local->errand != TAKES_OVER)
		rf_residents_remove(&memory->residents);
	return true;
}

static enum rf_slot_state state_of_new(const struct local *local, __u64 old)
{
	if (local->errand == TAKES_OVER)
		return rf_slot_state(old);
	return is_sibling(local) ? RF_SLOT_SIBLING : RF_SLOT_NEW;
}

static void insert(struct memory *memory, const struct local *local, __u32 generation,
		   enum rf_slot_state state)
{
	const __u64 slot_ref =
		rf_slot_ref(local->slot, generation, state == RF_SLOT_RESIDENT, local->tick - 1);
	struct slot *slot = &memory->slot[local->slot];

	rf_known_filter_add(&memory->line, hash_of(local->key));
	rf_store(&slot->key, local->key);
	if (insert_window(memory, local->key, slot_ref, local->fault == NOT_INSERTED)) {
		rf_slot_publish(&slot->word, generation, state, local->tick);
		return;
	}
	rf_known_filter_remove(&memory->line, hash_of(local->key));
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
	       state_of_new(local, old));
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
		local->is_absent = !rf_known_filter_has(&memory->line, hash_of(local->key));
		break;
	default:
		make_window(memory, local);
	}
}
