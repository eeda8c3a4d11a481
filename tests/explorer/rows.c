// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "seen.h"

static double all_schedules;
static __u64 all_states;

static bool run_row(const struct rows *rows, int i)
{
	const char *title = rows->begin(i);
	const struct found found = rows->explore();

	if (!found.whole && !found.failure)
		return true;
	printf("%sok %d - every interleaving, %s: %s\n", found.failure ? "not " : "", i + 1,
	       rows->name, title);
	if (found.failure)
		rows->print_path();
	printf("# %.3g schedules, %llu states%s%s\n", found.schedules, found.states,
	       found.failure ? "; " : "", found.failure ? found.failure : "");
	fflush(stdout);
	all_schedules += found.schedules;
	all_states += found.states;
	return !found.failure;
}

static bool finds(const void *of)
{
	const struct rows *rows = of;
	bool failed = false;

	for (int i = 0; i < rows->count && !failed; i++)
		failed = !run_row(rows, rows->hunts_backwards ? rows->count - 1 - i : i);
	return failed;
}

/* Stops at the first failed row. A number as the argument: only that row; -x searches. */
int main(int argc, char **argv)
{
	const struct rows rows = rows_of_program();
	const bool hunts = argc > 1 && strcmp(argv[1], "-x") == 0;
	const int only = argc > 1 ? atoi(argv[1]) : 0;
	bool failed = false;

	printf("1..%d\n", only ? 1 : rows.count);
	if (hunts)
		return hunt(finds, &rows) ? 1 : 0;
	for (int i = 0; i < rows.count && !failed; i++)
		if (!only || only == i + 1)
			failed = !run_row(&rows, i);
	if (!failed && !only)
		printf("# %s: %.3g schedules, %llu states\n", rows.name, all_schedules, all_states);
	return failed ? 1 : 0;
}
