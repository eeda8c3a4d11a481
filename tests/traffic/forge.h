/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by forge.c and catch.c and the programs that they load. */
#ifndef TRAFFIC_FORGE_H
#define TRAFFIC_FORGE_H

#include <linux/types.h>

#define FORGE_BYTES_MOST 128

/* Frames of one kind. Checksums are computed from the sum of all words that do not vary. */
struct forge {
	__u8 frame[FORGE_BYTES_MOST];
	__u32 to; /* interface */
	__u32 is_ipv6;
	__u32 ip_sum;	/* of the IPv4 header */
	__u32 l4_sum;	/* of pseudo header, header and data */
	__u32 check_at; /* of layer 4 */
	__u32 sport_at;
	__u32 vary_at; /* the upper half of the TCP sequence number; the identifier of DNS */
	__u32 reserved;
	__u64 first; /* source, in host order: IPv4, or the upper half of IPv6 */
	__u64 sources;
	__u64 gap_ns; /* between two frames of one CPU; 0: none */
	__u64 count;  /* of frames of one CPU */
	__u64 seed;
};

/* Of one CPU. */
struct forge_state {
	__u64 sent, due_ns;
};

#define CATCH_RANGES_MOST 4

/* Destinations whose frames are caught, like the sources in `struct forge`. */
struct catch_range {
	__u64 first, sources;
	__u32 is_ipv6, reserved;
};

enum catch_kind { CATCH_SYNACK, CATCH_RESET, CATCH_TRUNCATED, CATCH_OTHER, CATCH_KINDS };

struct catch_count {
	__u64 frames;
	__u64 longest; /* bytes */
};

#endif /* TRAFFIC_FORGE_H */
