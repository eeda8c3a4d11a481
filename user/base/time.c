// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/time.h"
#include "base/units.h"

#define OFFSET_READINGS 8
#define OFFSET_CLOSE_NS (20 * 1000)

uint64_t rf_time_wall(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * RF_NS_PER_S + now.tv_nsec;
}

uint64_t rf_time_awake(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * RF_NS_PER_S + now.tv_nsec;
}

uint64_t rf_time_used(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * RF_NS_PER_S + used.tv_nsec;
}

/* The reader can be delayed between two readings: the closest pair counts. */
int64_t rf_time_offset(void)
{
	uint64_t least = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < OFFSET_READINGS && least > OFFSET_CLOSE_NS; i++) {
		const uint64_t before = rf_time_awake();
		const uint64_t wall = rf_time_wall();
		const uint64_t apart = rf_time_awake() - before;

		if (apart >= least)
			continue;
		least = apart;
		offset = wall - (before + apart / 2);
	}
	return offset;
}

void rf_format_utc(uint64_t time_ns, char text[RF_TIME_TEXT_SIZE])
{
	const time_t seconds = time_ns / RF_NS_PER_S;
	struct tm tm = {};
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(text, RF_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, RF_TIME_TEXT_SIZE - length, ".%03uZ",
		 (unsigned int)(time_ns % RF_NS_PER_S / RF_NS_PER_MS));
}

void rf_format_left(uint64_t time_ns, char text[RF_DURATION_TEXT_SIZE])
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
	const uint64_t seconds = time_ns / RF_NS_PER_S + (time_ns % RF_NS_PER_S != 0);
	size_t i = 0;
	uint64_t less;

	while (i < 3 && seconds < units[i].seconds)
		i++;
	less = i < 3 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (less)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "%s %" PRIu64 "%s",
			 seconds / units[i].seconds, units[i].text, less, units[i + 1].text);
	else
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "%s", seconds / units[i].seconds,
			 units[i].text);
}

void rf_format_for(uint64_t time_ns, char text[RF_DURATION_TEXT_SIZE])
{
	const uint64_t seconds = time_ns / RF_NS_PER_S + (time_ns % RF_NS_PER_S != 0);

	if (seconds % 3600 == 0)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "h", seconds / 3600);
	else if (seconds % 60 == 0)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "m", seconds / 60);
	else
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "s", seconds);
}

void rf_format_ms(uint64_t ms, char text[RF_DURATION_TEXT_SIZE])
{
	if (ms < 1000)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 "ms", ms);
	else if (ms < 60000)
		snprintf(text, RF_DURATION_TEXT_SIZE, "%" PRIu64 ".%" PRIu64 "s", ms / 1000,
			 ms % 1000 / 100);
	else
		rf_format_left(ms * RF_NS_PER_MS, text);
}

void rf_format_local(uint64_t time_ns, char text[RF_TIME_TEXT_SIZE])
{
	const time_t seconds = time_ns / RF_NS_PER_S;
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	strftime(text, RF_TIME_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
}
