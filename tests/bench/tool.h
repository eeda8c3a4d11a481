/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the measuring programs of this directory: exiting with a message, time, numbers, and a
 * frame.
 */
#ifndef RINGFENCE_BENCH_TOOL_H
#define RINGFENCE_BENCH_TOOL_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <stdint.h>
#include <time.h>

/* Prints the name of the program and the message, and exits. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

uint64_t clock_ns(clockid_t clock);
/* By CLOCK_MONOTONIC. */
void sleep_until(uint64_t awake_ns);
/* From 1 to `most`. */
uint32_t parse_count(const char *text, uint32_t most);

/* An IPv4 packet in 64 bytes, without ports. */
struct small_frame {
	struct ethhdr eth;
	struct iphdr ip;
	uint8_t rest[64 - sizeof(struct ethhdr) - sizeof(struct iphdr)];
} __attribute__((packed));

/* Of UDP; `source` as in 0xc0000201. */
struct small_frame small_frame(uint32_t source);

#endif /* RINGFENCE_BENCH_TOOL_H */
