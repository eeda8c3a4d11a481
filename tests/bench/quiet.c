// SPDX-License-Identifier: GPL-2.0
/*
 * Was the machine quiet while it was measured? From /proc/stat, less what this process took, and
 * from how much the floor itself varied.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define OTHERS_MAX 0.2
#define STOLEN_MAX 0.02
#define SLOW_MAX 0.1
#define SLOW 1.15 /* of the median */

/* In seconds. */
struct usage {
	double wall, busy, stolen, own;
};

static struct usage begin;

static struct usage read_usage(void)
{
	unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, soft = 0, steal = 0;
	double tick = sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "r");
	struct timespec now;
	struct rusage own;

	if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
			    &system, &idle, &wait, &irq, &soft, &steal) != 8)
		die("cannot read /proc/stat");
	fclose(file);
	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &own);
	return (struct usage){
		.wall = now.tv_sec + now.tv_nsec / 1e9,
		.busy = (user + nice + system + irq + soft) / tick,
		.stolen = steal / tick,
		.own = own.ru_utime.tv_sec + own.ru_stime.tv_sec +
		       (own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6,
	};
}

static double part_of_slow_rounds(const struct report *report)
{
	int rounds = 0, slow = 0;

	for (int i = 0; i < report->groups; i++) {
		const struct row *floor = &report->group[i].row[0];

		if (report->group[i].skipped)
			continue;
		for (int round = 0; round < report->rounds; round++)
			slow += floor->ns[round] > SLOW * floor->summary.median;
		rounds += report->rounds;
	}
	return rounds ? (double)slow / rounds : 0;
}

static void complain(struct report *report, double value, double most, const char *format)
{
	size_t used = strlen(report->disturbed);
	char text[80];

	if (value <= most)
		return;
	snprintf(text, sizeof(text), format, value * 100);
	snprintf(report->disturbed + used, sizeof(report->disturbed) - used, "%s%s",
		 used ? ", " : "", text);
}

void quiet_begin(void)
{
	begin = read_usage();
}

void quiet_end(struct report *report)
{
	const struct usage end = read_usage();
	struct noise *noise = &report->noise;
	double others_s = end.busy - begin.busy - (end.own - begin.own);

	report->seconds = end.wall - begin.wall;
	noise->others = others_s > 0 ? others_s / report->seconds : 0;
	noise->stolen = (end.stolen - begin.stolen) / report->seconds;
	noise->slow = part_of_slow_rounds(report);
	complain(report, noise->others, OTHERS_MAX, "other processes took %.0f %% of a CPU");
	complain(report, noise->stolen, STOLEN_MAX, "the host took %.0f %% of a CPU");
	complain(report, noise->slow, SLOW_MAX,
		 "%.0f %% of the floor's rounds were slower than its median by 15 %%");
}
