// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the report with a file of lines `GROUP/ROW over|ratio BOUND`. A line that names no row
 * is an error: renaming a row must not remove its bound.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

struct bound {
	char name[2 * NAME_SIZE];
	char kind[8]; /* over: ns over the base; ratio: to the base */
	double most;
};

static const struct row *find_row(const struct report *report, const char *name,
				  const struct group **of)
{
	for (int i = 0; i < report->groups; i++) {
		const struct group *group = &report->group[i];
		size_t length = strlen(group->name);

		if (strncmp(group->name, name, length) != 0 || name[length] != '/')
			continue;
		for (int n = 0; n < group->rows; n++)
			if (strcmp(group->row[n].name, name + length + 1) == 0) {
				*of = group;
				return &group->row[n];
			}
	}
	return NULL;
}

/* Did the report leave the row's group out, or could it not be measured? */
static bool is_left_out(const struct report *report, const struct bench_options *options,
			const char *name)
{
	if (options->only || options->quick || options->all_users)
		return true;
	for (int i = 0; i < report->groups; i++)
		if (report->group[i].skipped &&
		    strncmp(report->group[i].name, name, strlen(report->group[i].name)) == 0)
			return true;
	return false;
}

/* 1 if the bound is exceeded, else 0. */
static int check_bound(const struct report *report, const struct bench_options *options,
		       const struct bound *bound)
{
	const bool is_over = strcmp(bound->kind, "over") == 0;
	const struct group *group = NULL;
	const struct row *row = find_row(report, bound->name, &group);
	double value;

	if (!is_over && strcmp(bound->kind, "ratio") != 0)
		die("%s: %s: '%s' is neither over nor ratio", options->budget, bound->name,
		    bound->kind);
	if (!row && is_left_out(report, options, bound->name))
		return 0;
	if (!row)
		die("%s: %s: there is no such row", options->budget, bound->name);
	value = is_over ? row->summary.over : row->summary.ratio;
	if (value <= bound->most)
		return 0;
	fprintf(stderr, "bench: %s: %s %.2f, over its bound of %.2f in %s%s\n", bound->name,
		bound->kind, value, bound->most, options->budget,
		group->disturbed[0] ? "; but the machine was disturbed" : "");
	return 1;
}

int budget_check(const struct report *report, const struct bench_options *options)
{
	FILE *file = fopen(options->budget, "r");
	struct bound bound;
	char line[256];
	int over = 0;

	if (!file)
		die("%s: %s", options->budget, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%95s %7s %lf", bound.name, bound.kind, &bound.most) != 3)
			die("%s: not a bound: %s", options->budget, line);
		over += check_bound(report, options, &bound);
	}
	fclose(file);
	return over;
}
