/* SPDX-License-Identifier: GPL-2.0 */
/* Sends packets of some sources through a loaded program, and counts how many pass. */
#ifndef RINGFENCE_TESTS_BURSTS_H
#define RINGFENCE_TESTS_BURSTS_H

#include "program.h"

#include <linux/bpf.h>
#include <stdbool.h>

static inline int bursts_setup(void **state)
{
	program_setup_at_start(state);
	program_fix_key(*state); /* apart enough that no two networks share a window */
	return 0;
}

static inline bool passes4(const struct program *program, uint32_t source, int protocol)
{
	struct frame4 frame = frame4_from(htonl(source));

	frame.ip.protocol = protocol;
	return program_run(program->object->progs.ringfence, &frame, sizeof(frame)) == XDP_PASS;
}

/* How many of `count` sources from `first` on pass, if each sends one packet. */
static inline int each_of(const struct program *program, uint32_t first, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes4(program, first + i, IPPROTO_UDP);
	return passed;
}

static inline int burst(const struct program *program, uint32_t source, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes4(program, source, IPPROTO_UDP);
	return passed;
}

static inline int burst6(const struct program *program, const char *source, int count)
{
	const struct frame6 frame = frame6_from(source);
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += program_run(program->object->progs.ringfence, &frame, sizeof(frame)) ==
			  XDP_PASS;
	return passed;
}

static inline uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

#define NET(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

#endif /* RINGFENCE_TESTS_BURSTS_H */
