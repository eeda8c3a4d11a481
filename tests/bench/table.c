// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the report: as text, each group as soon as it is measured, or as JSON, after all groups.
 */
#include <jansson.h>
#include <stdio.h>

#include "bench.h"

void table_begin(const struct bench_options *options)
{
	const struct machine machine = machine_read();

	printf("%s, %d CPUs%s, L2 %ld KiB, L3 %ld KiB, Linux %s\n", machine.cpu, machine.cpus,
	       machine.is_virtual ? " of a virtual machine" : "", machine.l2_kib, machine.l3_kib,
	       machine.kernel);
	printf("CPU time in ns a packet by BPF_PROG_TEST_RUN, %d rounds in turns\n",
	       options->rounds);
	printf("over, ratio: to the group's floor, or to the row that is named behind\n");
}

/* The share of the sampled packets that leases answered, in percent. */
static double leased_percent(const struct row *row)
{
	return row->leased * 100.0 / row->sampled;
}

static void print_row(const struct group *group, const struct row *row)
{
	const struct summary *summary = &row->summary;

	printf("  %-32s %7.1f %7.1f %7.1f %7.1f %6.2f  %s%s%s", row->name, summary->median,
	       summary->min, summary->max, summary->over, summary->ratio, row->says,
	       row->base ? "; to " : "", row->base ? group->row[row->base].name : "");
	if (row->sampled)
		printf("; leases answered %.1f %% of %u", leased_percent(row), row->sampled);
	putchar('\n');
}

void table_group(const struct group *group)
{
	printf("\n%-34s %7s %7s %7s %7s %6s\n", group->name, "median", "min", "max", "over",
	       "ratio");
	if (group->skipped)
		printf("  skipped: %s\n", group->skipped);
	for (int i = 0; i < group->rows; i++)
		print_row(group, &group->row[i]);
	if (group->disturbed[0])
		printf("  DISTURBED%s: %s\n", group->turns > 1 ? " each time, the least so" : "",
		       group->disturbed);
	else if (group->turns > 1)
		printf("  disturbed before, and measured %d times\n", group->turns);
	fflush(stdout);
}

void table_end(const struct report *report)
{
	const struct noise noise = quiet_sum(report);
	const int disturbed = quiet_disturbed(report);

	printf("\nmeasured in %.0f s; other processes had %.2f CPUs, the host %.2f; %.0f %% of the "
	       "floor's rounds were slow\n",
	       noise.seconds, noise.others, noise.stolen, noise.slow * 100);
	if (disturbed)
		printf("DISTURBED: %d of %d groups; measure again\n", disturbed, report->groups);
}

static json_t *row_json(const struct group *group, const struct row *row)
{
	const struct summary *summary = &row->summary;
	json_t *object = json_pack("{s:o, s:s, s:f, s:f, s:f, s:f, s:f}", "name",
				   json_sprintf("%s/%s", group->name, row->name), "says", row->says,
				   "median_ns", summary->median, "min_ns", summary->min, "max_ns",
				   summary->max, "over_ns", summary->over, "ratio", summary->ratio);

	if (row->sampled)
		json_object_set_new(object, "leased_percent", json_real(leased_percent(row)));
	json_object_set_new(object, "base",
			    json_sprintf("%s/%s", group->name, group->row[row->base].name));
	return object;
}

static json_t *group_json(const struct group *group)
{
	const struct noise *noise = &group->noise;

	return json_pack("{s:s, s:s?, s:i, s:f, s:f, s:f, s:f, s:s?}", "name", group->name,
			 "skipped", group->skipped, "turns", group->turns, "seconds",
			 noise->seconds, "others_cpus", noise->others, "stolen_cpus", noise->stolen,
			 "slow_rounds", noise->slow, "disturbed",
			 group->disturbed[0] ? group->disturbed : NULL);
}

static json_t *machine_json(void)
{
	const struct machine machine = machine_read();

	return json_pack("{s:s, s:i, s:b, s:s, s:I, s:I}", "cpu", machine.cpu, "cpus", machine.cpus,
			 "virtual", (int)machine.is_virtual, "kernel", machine.kernel, "l2_kib",
			 (json_int_t)machine.l2_kib, "l3_kib", (json_int_t)machine.l3_kib);
}

void table_json(const struct report *report, FILE *file)
{
	json_t *rows = json_array(), *groups = json_array(), *root;

	for (int i = 0; i < report->groups; i++) {
		const struct group *group = &report->group[i];

		json_array_append_new(groups, group_json(group));
		for (int n = 0; n < group->rows && !group->skipped; n++)
			json_array_append_new(rows, row_json(group, &group->row[n]));
	}
	root = json_pack("{s:o, s:i, s:i, s:o, s:o}", "machine", machine_json(), "rounds",
			 report->rounds, "disturbed_groups", quiet_disturbed(report), "groups",
			 groups, "rows", rows);
	if (!root || json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6)))
		die("cannot print it as JSON");
	fputc('\n', file);
	json_decref(root);
}
