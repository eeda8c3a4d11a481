// SPDX-License-Identifier: GPL-2.0
/*
 * Was the machine quiet during the measurement? Determined from /proc/stat, less this process's own
 * CPU time, and from the variation of the floor itself.
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

void quiet_begin(void)
{
	begin = read_usage();
}

static double part_of_slow_rounds(const struct row *floor, int rounds)
{
	int slow = 0;

	for (int round = 0; round < rounds; round++)
		slow += floor->ns[round] > SLOW * floor->summary.median;
	return (double)slow / rounds;
}

struct noise quiet_end(const struct group *group, int rounds)
{
	const struct usage end = read_usage();
	const double seconds = end.wall - begin.wall;
	const double others_s = end.busy - begin.busy - (end.own - begin.own);

	return (struct noise){
		.seconds = seconds,
		.others = others_s > 0 ? others_s / seconds : 0,
		.stolen = (end.stolen - begin.stolen) / seconds,
		.slow = part_of_slow_rounds(&group->row[0], rounds),
	};
}

/* The noise, as the sum of its parts, each divided by its bound. */
static double loudness(const struct noise *noise)
{
	return noise->others / OTHERS_MAX + noise->stolen / STOLEN_MAX + noise->slow / SLOW_MAX;
}

bool quiet_is_better(const struct noise *one, const struct noise *other)
{
	return loudness(one) < loudness(other);
}

static void complain(char *words, size_t size, double value, double most, const char *format)
{
	size_t used = strlen(words);
	char text[80];

	if (value <= most)
		return;
	snprintf(text, sizeof(text), format, value * 100);
	snprintf(words + used, size - used, "%s%s", used ? ", " : "", text);
}

bool quiet_judge(const struct noise *noise, char *words, size_t size)
{
	words[0] = '\0';
	complain(words, size, noise->others, OTHERS_MAX, "other processes took %.0f %% of a CPU");
	complain(words, size, noise->stolen, STOLEN_MAX, "the host took %.0f %% of a CPU");
	complain(words, size, noise->slow, SLOW_MAX,
		 "%.0f %% of the floor's rounds were slower than its median by 15 %%");
	return !words[0];
}

struct noise quiet_sum(const struct report *report)
{
	struct noise sum = {};

	for (int i = 0; i < report->groups; i++) {
		const struct noise *noise = &report->group[i].noise;

		sum.seconds += noise->seconds;
		sum.others += noise->others * noise->seconds;
		sum.stolen += noise->stolen * noise->seconds;
		sum.slow += noise->slow * noise->seconds;
	}
	if (sum.seconds > 0) {
		sum.others /= sum.seconds;
		sum.stolen /= sum.seconds;
		sum.slow /= sum.seconds;
	}
	return sum;
}

int quiet_disturbed(const struct report *report)
{
	int count = 0;

	for (int i = 0; i < report->groups; i++)
		count += report->group[i].disturbed[0] != '\0';
	return count;
}
