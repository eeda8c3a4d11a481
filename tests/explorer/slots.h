/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of slots.c: the slots, the windows and the filter that the CPUs share, and
 * the errand of each CPU.
 *
 *   slots.c         the search
 *   slots_rows.c    the rows
 *   slots_actors.c  the steps of a CPU, operation by operation
 *   slots_checks.c  the invariants
 */
#ifndef RINGFENCE_EXPLORER_SLOTS_H
#define RINGFENCE_EXPLORER_SLOTS_H

#include <stdbool.h>

#include <linux/types.h>

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#define RF_SLOT_TRIES 2 /* small enough for a few CPUs to use them up */

#include "ringfence/atomic.h"

#include "ringfence/known_filter.h"
#include "ringfence/slot.h"

#define CPUS_MAX 3
#define SLOTS_MAX 3
#define SOURCES 4
#define KEYS (2 * SOURCES) /* of each source: 2 * source, and that + 1 under a former limit */
#define ELEMENTS (SLOTS_MAX + CPUS_MAX) /* more than the maximum number of windows */

enum errand { TOUCHES, NEWCOMES, IS_KNOWN, TAKES_OVER, ASKS, MEETS, RESTS, ERRANDS };
enum fault { NO_FAULT, NOT_DELETED, NOT_INSERTED, FAULTS };

struct slot {
	__u64 key;
	__u64 word;
};

struct memory {
	__u64 map; /* four bits a key: its window's element, counted from 1, or 0 */
	__u64 slot_ref[ELEMENTS];
	struct slot slot[SLOTS_MAX];
	__u64 residents;
	struct rf_known_filter line;
};

/* Of one errand. */
struct local {
	enum errand errand;
	enum fault fault;
	int key;
	int slot;
	__u32 tick;
	bool has_slot_ref; /* the following two were read */
	int element;
	__u64 slot_ref;
	bool is_noted;		  /* a touch: in the slot, as far as its CPU can determine */
	enum rf_slot_state state; /* … which is in that state, or RF_SLOT_FREE for "as it is" */
	bool is_absent;		  /* the result */
	bool is_there;		  /* its window, though it was missing before */
	bool has_kin;		  /* … and its source has another window, */
	bool has_resident_kin;	  /* … a resident's */
};

#include "replay.h"

/* State for the checks, in addition to the state of the machine. */
struct ghost {
	bool is_stale[CPUS_MAX]; /* the window whose slot reference it has read was deleted */
	bool lacked[CPUS_MAX];	 /* its source lacked a window at some time since the start */
	__u8 owned[CPUS_MAX];	 /* bit set of slots that it has claimed */
	__u8 rested; /* … whose slot is no longer a resident's: its slot reference lags */
	__u32 arrived[SLOTS_MAX];
	__u32 seen[SLOTS_MAX]; /* by a completed touch, or by one without a write */
};

/* A slot at the start; times are ticks ago. */
struct sitting {
	enum rf_slot_state state;
	int key, arrived, idle;
};

/* The possible errands of a CPU: bit sets. */
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

extern const struct row slots_rows[];
extern const int slots_row_count;

/* Of the search. */
extern const struct row *row;
extern struct rf_slot_times times;
extern struct ghost ghost;
extern const char *failure;

/* ---- the map of windows, and the filter's hashes ---- */

__u64 hash_of(int key);
int element_of(const struct memory *memory, int key); /* -1: no window */

/* ---- what must hold ---- */

/* Each sets `failure` if that does not hold. */
void check_state(void);
void check_step(int cpu, const struct memory *before, bool had_slot_ref);
void judge(int cpu);

bool is_busy(int index);
bool lacks_window(int key);

#endif /* RINGFENCE_EXPLORER_SLOTS_H */
