/* SPDX-License-Identifier: GPL-2.0 */
/* What tally.c and the program that it loads share. */
#ifndef TRAFFIC_TALLY_H
#define TRAFFIC_TALLY_H

#include <linux/types.h>

#define TALLY_FLOWS_MOST 8

/* Sources that are counted one by one. */
struct tally_flow {
	__u64 first; /* in host order: IPv4, or the upper half of IPv6 */
	__u32 sources;
	__u32 is_ipv6;
};

#endif /* TRAFFIC_TALLY_H */
