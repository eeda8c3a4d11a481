// SPDX-License-Identifier: GPL-2.0
/*
 * recorder DIRECTORY FENCE AGO SECONDS [none|prefix|full [STEP]]: synthetic scans, one each STEP
 * seconds, from AGO seconds before now on, with an attack in the middle third: a rule, a flood that
 * starts and stops, cells of the sources.
 *
 * recorder DIRECTORY FENCE busy HOURS [cells|- [MIB SOURCES]]: how a busy fence fills a file of at
 * most MIB, and the cost of that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/time.h"
#include "rules/rulefile.h"
#include "tests/record/made.h"

#define SOURCES 400
#define RULES RF_RULEFILE_LINE "\nlimit add any rate 20k/1s\nnewcomers off\n"

static struct rf_error error;

static int fail(const char *what)
{
	fprintf(stderr, "recorder: %s: %s\n", what, error.text);
	return 1;
}

static void print_notes(struct rf_history *history)
{
	char note[RF_HISTORY_NOTE_SIZE];

	while (rf_history_note(history, note))
		printf("%s\n", note);
}

static int add_event(struct rf_history *history, const struct made *made, enum rf_event_type type)
{
	struct rf_event event = {
		.time_ns = made->snapshot.time_ns,
		.first_seen_ns = made->snapshot.time_ns - 300 * RF_NS_PER_MS,
		.type = type,
		.id = "eth0-6561f",
		.limit = "any",
		.reason = "over_limit",
		.rate = "20k/1s",
		.has_source = true,
		.source = made->snapshot.sources.row[0].source,
		.dropped = made->dropped,
		.passed = made->passed,
	};

	return rf_history_add_event(history, &event, &error);
}

static int step_seconds = 1;

static int record_scan(struct rf_history *history, struct made *made, int second, int seconds)
{
	const bool is_attack = second >= seconds / 3 && second < 2 * seconds / 3;
	const int before = second - step_seconds;
	const bool was_attack = before >= seconds / 3 && before < 2 * seconds / 3;
	struct rf_cells_row *row = calloc(SOURCES, sizeof(*row));
	int err;

	if (second)
		made_step(made, step_seconds * RF_NS_PER_S, is_attack ? 4000 : 20);
	err = rf_history_begin(history, &made->snapshot, &error);
	if (!err && is_attack && !was_attack)
		err = add_event(history, made, RF_EVENT_FLOOD_STARTED);
	if (!err && was_attack && !is_attack)
		err = add_event(history, made, RF_EVENT_FLOOD_ENDED);
	if (!err)
		err = rf_history_add(history, &made->snapshot, &error);
	made_cells(made, row, SOURCES);
	if (!err)
		err = rf_history_add_cells(history, row, SOURCES, &error);
	if (!err)
		err = rf_history_put_rules(history, RULES, &error);
	if (!err)
		err = rf_history_commit(history, &error);
	free(row);
	return err;
}

static int record(struct rf_history *history, int ago, int seconds)
{
	struct made made;
	int err = 0;

	made_begin(&made, 2, SOURCES);
	made.snapshot.time_ns = rf_time_wall() - ago * RF_NS_PER_S;
	for (int i = 0; i <= seconds && !err; i += step_seconds)
		err = record_scan(history, &made, i, seconds);
	made_end(&made);
	return err;
}

/* ---- a busy fence ---- */

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int put_rules(struct rf_history *history, const struct made *made)
{
	struct rf_error unused;
	int err = rf_history_begin(history, &made->snapshot, &error);

	if (!err)
		err = rf_history_put_rules(history, RULES, &error);
	return rf_history_commit(history, err ? &unused : &error) ?: err;
}

/* Only the writer, without generating the scans. */
static int record_busy(struct rf_history *history, int hours, bool has_cells, int sources)
{
	uint64_t before = rf_history_bytes(history);
	struct made made;
	double cpu = 0;
	int err = 0;

	made_begin(&made, 4, sources);
	err = put_rules(history, &made);
	for (int i = 0; i < hours * 3600 && !err; i++) {
		double began;

		if (i)
			made_step(&made, RF_NS_PER_S, 100);
		began = cpu_seconds();
		err = made_record(&made, history, has_cells ? 512 : 0, &error);
		cpu += cpu_seconds() - began;
		print_notes(history);
		if ((i + 1) % 3600)
			continue;
		printf("hour %d: %.1f MiB, %.2f KiB/s in this hour, CPU %.2f %%\n", (i + 1) / 3600,
		       rf_history_bytes(history) / 1048576.0,
		       ((double)rf_history_bytes(history) - (double)before) / 3600 / 1024,
		       100 * cpu / (i + 1));
		before = rf_history_bytes(history);
	}
	made_end(&made);
	return err;
}

int main(int argc, char **argv)
{
	static const char *const told[] = RF_TOLD_WORDS;
	struct rf_history_settings settings = RF_HISTORY_SETTINGS;
	struct rf_history *history;
	bool is_busy;
	int err;

	if (argc < 5)
		return 2;
	is_busy = !strcmp(argv[3], "busy");
	settings.directory = argv[1];
	settings.told = RF_TELL_FULL;
	for (int i = 0; argc > 5 && i < 3; i++)
		if (!strcmp(argv[5], told[i]))
			settings.told = i;
	if (argc > 6 && is_busy)
		settings.at_most = atoll(argv[6]) << 20;
	else if (argc > 6)
		step_seconds = atoi(argv[6]);
	if (rf_history_open(&history, &settings, argv[2], &error))
		return fail("open");
	err = is_busy ? record_busy(history, atoi(argv[4]), argc > 5 && !strcmp(argv[5], "cells"),
				    argc > 7 ? atoi(argv[7]) : 2000)
		      : record(history, atoi(argv[3]), atoi(argv[4]));
	print_notes(history);
	rf_history_close(history);
	return err ? fail("record") : 0;
}
