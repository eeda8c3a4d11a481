/* SPDX-License-Identifier: GPL-2.0 */
/* How often to scan, and how the clocks changed between two scans. Pure. */
#ifndef RINGFENCE_PACE_H
#define RINGFENCE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define RF_PACE_PERCENT 3 /* of a CPU, at most, for all scans together */

struct rf_pace {
	uint64_t asked_ns;    /* between two scans, as configured */
	bool has_begun;	      /* the first scan has finished */
	uint64_t cost_ns;     /* CPU time of a scan of all fences, averaged; 0: none yet */
	uint64_t interval_ns; /* currently used */
	uint64_t said_ns;     /* the interval that was said last */
};

struct rf_pace rf_pace_start(uint64_t asked_ns);
/*
 * Records the CPU time of one more scan, and sets the interval. The first scan reads all windows,
 * unlike most others, so its cost does not predict theirs.
 */
void rf_pace_note(struct rf_pace *pace, uint64_t cost_ns);
/*
 * Does the interval differ by at least half from the last reported one? Then it counts as reported.
 */
bool rf_pace_has_news(struct rf_pace *pace);

/* The clocks at one moment, in ns. */
struct rf_moment {
	uint64_t wall;	/* steps when it is set */
	uint64_t awake; /* stops while the machine sleeps */
	uint64_t boot;	/* neither */
};

/* Irregular changes of the clocks between two moments. */
struct rf_jump {
	uint64_t slept_ns;
	int64_t stepped_ns; /* the clock was set: forward, or back if negative */
};

/* Differences of less than a second are ignored: clocks are slewed, and readings take time. */
struct rf_jump rf_moment_compare(const struct rf_moment *before, const struct rf_moment *now);

#endif /* RINGFENCE_PACE_H */
