// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <time.h>

#include "base/time.h"
#include "base/units.h"

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
