// SPDX-License-Identifier: GPL-2.0
#include "tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(EXIT_FAILURE);
}

uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * RF_NS_PER_S + time.tv_nsec;
}

void sleep_until(uint64_t awake_ns)
{
	const struct timespec time = {awake_ns / RF_NS_PER_S, awake_ns % RF_NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

uint32_t parse_count(const char *text, uint32_t most)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*end || !value || value > most)
		die("'%s': expects a number from 1 to %u", text, most);
	return value;
}

struct small_frame small_frame(uint32_t source)
{
	return (struct small_frame){
		.eth.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .tot_len = htons(sizeof(struct small_frame) - sizeof(struct ethhdr)),
		       .ttl = 64,
		       .protocol = IPPROTO_UDP,
		       .saddr = htonl(source)},
	};
}
