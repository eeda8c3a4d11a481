// SPDX-License-Identifier: GPL-2.0
/* The report as text, a group as soon as it is measured, or all of it as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

void table_begin(const struct bench_options *options)
{
	struct utsname kernel = {};

	uname(&kernel);
	printf("CPU time in ns a packet by BPF_PROG_TEST_RUN, %d rounds in turns, Linux %s\n",
	       options->rounds, kernel.release);
	printf("over, ratio: to the group's floor, or to the row that is named behind\n");
}

void table_group(const struct group *group)
{
	printf("\n%-34s %7s %7s %7s %7s %6s\n", group->name, "median", "min", "max", "over",
	       "ratio");
	if (group->skipped)
		printf("  skipped: %s\n", group->skipped);
	for (int i = 0; i < group->rows; i++) {
		const struct row *row = &group->row[i];
		const struct summary *summary = &row->summary;

		printf("  %-32s %7.1f %7.1f %7.1f %7.1f %6.2f  %s%s%s\n", row->name,
		       summary->median, summary->min, summary->max, summary->over, summary->ratio,
		       row->says, row->base ? "; to " : "",
		       row->base ? group->row[row->base].name : "");
	}
	fflush(stdout);
}

void table_end(const struct report *report)
{
	const struct noise *noise = &report->noise;

	printf("\nmeasured in %.0f s; other processes had %.2f CPUs, the host %.2f; %.0f %% of the "
	       "floor's rounds were slow\n",
	       report->seconds, noise->others, noise->stolen, noise->slow * 100);
	if (report->disturbed[0])
		printf("DISTURBED: %s; measure again\n", report->disturbed);
}

static json_t *row_json(const struct group *group, const struct row *row)
{
	const struct summary *summary = &row->summary;
	json_t *object = json_pack("{s:o, s:s, s:f, s:f, s:f, s:f, s:f}", "name",
				   json_sprintf("%s/%s", group->name, row->name), "says", row->says,
				   "median_ns", summary->median, "min_ns", summary->min, "max_ns",
				   summary->max, "over_ns", summary->over, "ratio", summary->ratio);

	json_object_set_new(object, "base",
			    json_sprintf("%s/%s", group->name, group->row[row->base].name));
	return object;
}

void table_json(const struct report *report)
{
	json_t *rows = json_array(), *skipped = json_object(), *root;
	struct utsname kernel = {};

	uname(&kernel);
	for (int i = 0; i < report->groups; i++) {
		const struct group *group = &report->group[i];

		if (group->skipped)
			json_object_set_new(skipped, group->name, json_string(group->skipped));
		for (int n = 0; n < group->rows; n++)
			json_array_append_new(rows, row_json(group, &group->row[n]));
	}
	root = json_pack("{s:s, s:i, s:i, s:f, s:s?, s:f, s:f, s:f, s:o, s:o}", "kernel",
			 kernel.release, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "rounds",
			 report->rounds, "seconds", report->seconds, "disturbed",
			 report->disturbed[0] ? report->disturbed : NULL, "others_cpus",
			 report->noise.others, "stolen_cpus", report->noise.stolen, "slow_rounds",
			 report->noise.slow, "skipped", skipped, "rows", rows);
	if (!root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)))
		die("cannot print it as JSON");
	putchar('\n');
	json_decref(root);
}
