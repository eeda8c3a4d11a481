/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frames of the bench. Each frame carries, behind its headers, the state of the walk over the
 * sources, so a run starts where the previous one stopped, and two CPUs walk without sharing a
 * cache line.
 */
#ifndef RINGFENCE_BENCH_FRAME_H
#define RINGFENCE_BENCH_FRAME_H

#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>

#define WALK_ADDEND 1013904223 /* odd: with a factor of 4n + 1 every number occurs */
#define WALK_RANDOM 1664525    /* factor: an order that cannot be prefetched */
#define WALK_PLAIN 1	       /* factor: another order, to have been there before */

/*
 * x = x * factor + addend, every `hold` packets; the source is the lowest bits of x. A program can
 * make the walk depend on its reads, by adding to x a zero computed from them: then the next
 * packet's look-up cannot start earlier.
 */
struct walk {
	__u32 packets; /* until now */
	__u32 hold;    /* a power of two - 1: packets from one source before the next */
	__u32 x;
	__u32 factor;
	__u32 mask;   /* the number of sources, a power of two, - 1 */
	__u32 first;  /* source */
	__u32 spare;  /* bits that every other packet's source goes without; 0: none does */
	__u32 missed; /* by a program that should have found every source */
};

/* Takes the next step, and returns the packet's source. */
static inline __attribute__((always_inline)) __u32 walk_next(struct walk *walk)
{
	const __u32 packets = walk->packets++;

	if (!(packets & walk->hold))
		walk->x = walk->x * walk->factor + WALK_ADDEND;
	return walk->first + (walk->x & walk->mask & ~(walk->spare & -(packets & 1)));
}

union transport {
	struct udphdr udp;
	struct tcphdr tcp;
};

/* The headers are behind the padding, which aligns the rest as the kernel does. */
#define FRAME_PAD 2

struct frame4 {
	__u8 pad[FRAME_PAD];
	struct ethhdr eth;
	struct iphdr ip;
	union transport transport;
	struct walk walk;
};

struct frame6 {
	__u8 pad[FRAME_PAD];
	struct ethhdr eth;
	struct ipv6hdr ip;
	union transport transport;
	struct walk walk;
};

#endif /* RINGFENCE_BENCH_FRAME_H */
