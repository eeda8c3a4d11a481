/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A row of explorer.c: a kind of start and traffic. The rows are in rows_*.c, a file for each
 * algorithm.
 */
#ifndef RINGFENCE_EXPLORER_ROW_H
#define RINGFENCE_EXPLORER_ROW_H

#include <stdbool.h>

#include "ringfence/abi.h"

#define CPUS_MAX 3
#define TAKES_MAX 12
#define TIMES_MAX 8
#define STARTS_MAX 4
#define LEDGER_SIZE 64	    /* epochs, or times, of a row: 0 … LEDGER_SIZE - 1 */
#define EPOCHS (1ULL << 32) /* a tag wraps here */
#define FAR 24		    /* times from here on are after the jump, in a row with a jump */

/* One kind of start and traffic, explored for each N and L of its ranges. */
struct row {
	const char *title;
	enum rf_algorithm algorithm;
	enum rf_edge edge;
	__u32 flags;
	int ring, retries;	  /* words of the ring; 0: 2, of a log 4; and 8 */
	int used_shift;		  /* as in struct rf_policy */
	int cells_from, cells_to; /* that count in full; 0: an algorithm without N */
	int limit_from, limit_to; /* L, or the burst */
	bool leases;		  /* one for each CPU */
	int displaces;		  /* how often another source takes a lease's place */
	int tick;		  /* as in struct rf_ask; 0: 1 */
	int other_limit;	  /* that a packet may find instead; 0: none */
	int cell, scale;	  /* as in struct rf_policy; a cell of 0 is 1 */
	int takes[CPUS_MAX];	  /* packets of each CPU; 0: no such CPU */
	int first_cost;		  /* of each CPU's first packet, 0: 1 */
	int second_cost;	  /* of its second, 0: 1, as all others */
	bool lost_races;	  /* a schedule must be found in which all retries are lost */
	bool stands_still;	  /* the clock, for all CPUs but the first: their first time only */
	bool zeroed;		  /* starts from an all-zero window, not a fresh one at `origin` */
	bool flooded;  /* starts from a window that has counted as many refused packets as it can */
	int left_over; /* starts with a word of the lap before, and of that epoch; 0: none */
	bool lapped;  /* enough cells are idle for tags to alias: excess refusals and counts are not
			 checked */
	__u64 origin; /* time that the others count from; a whole number of cells */
	__u64 jump;   /* how much later times from FAR on are; a whole number of cells */
	int times[TIMES_MAX]; /* when packets can arrive; terminated by -1 */
	struct {
		int time, packets;
	} start[STARTS_MAX]; /* packets taken before, undisturbed */
};

struct rows {
	const struct row *row;
	int count;
};

#define ROWS(array)                                       \
	{                                                 \
		array, sizeof(array) / sizeof((array)[0]) \
	}

extern const struct rows sliding_rows, fixed_rows, weighted_rows, log_rows, bucket_rows,
	leases_rows;

#endif /* RINGFENCE_EXPLORER_ROW_H */
