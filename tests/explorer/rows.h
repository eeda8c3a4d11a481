/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The main function of separate programs (slots, shares, loans, several, bans, answers), which
 * prints TAP.
 */
#ifndef RINGFENCE_EXPLORER_ROWS_H
#define RINGFENCE_EXPLORER_ROWS_H

#include <stdbool.h>

#include <linux/types.h>

/* The result of the search of a row. */
struct found {
	const char *failure; /* NULL: none */
	double schedules;
	__u64 states;
	bool whole; /* else a hunt has turned back */
};

struct rows {
	const char *name; /* of the program */
	int count;
	bool hunts_backwards;	     /* from the last row, if the last ones need the most states */
	const char *(*begin)(int i); /* Chooses a row. Returns its title. */
	struct found (*explore)(void);
	void (*print_path)(void); /* the schedule that leads to a failure */
};

/* Each program defines its rows. */
struct rows rows_of_program(void);

#endif /* RINGFENCE_EXPLORER_ROWS_H */
