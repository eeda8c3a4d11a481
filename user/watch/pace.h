/* SPDX-License-Identifier: GPL-2.0 */
/* How often to scan, and what the clocks did between two scans. Pure. */
#ifndef RINGFENCE_PACE_H
#define RINGFENCE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define RF_PACE_PERCENT 3 /* of a CPU, at most, for all scans together */

struct rf_pace {
	uint64_t asked_ns;    /* between two scans, as the settings say */
	bool has_begun;	      /* the first scan is over */
	uint64_t cost_ns;     /* CPU time of a scan of all fences, averaged; 0: none yet */
	uint64_t interval_ns; /* in force */
	uint64_t said_ns;     /* the interval that was said last */
};

struct rf_pace rf_pace_start(uint64_t asked_ns);
/*
 * Takes the CPU time of one more scan, and sets the interval. The first scan reads all windows, as
 * few of the others do, so its cost says nothing of theirs.
 */
void rf_pace_note(struct rf_pace *pace, uint64_t cost_ns);
/* Is the interval another one than was said, by a half at least? Then it counts as said. */
bool rf_pace_has_news(struct rf_pace *pace);

/* The clocks at one moment, in ns. */
struct rf_moment {
	uint64_t wall;	/* steps when somebody sets it */
	uint64_t awake; /* stands still while the machine sleeps */
	uint64_t boot;	/* neither */
};

/* What happened between two moments, apart from time going by. */
struct rf_jump {
	uint64_t slept_ns;
	int64_t stepped_ns; /* the clock was set: forward, or back where it is negative */
};

/* Differences of under a second are left out: clocks are slewed, and readings take a moment. */
struct rf_jump rf_moment_compare(const struct rf_moment *before, const struct rf_moment *now);

#endif /* RINGFENCE_PACE_H */
