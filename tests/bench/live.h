/* SPDX-License-Identifier: GPL-2.0 */
/* What live.c and the program that it loads share: offsets in a frame. */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

/* The IPv4 address; for IPv6 the second 32 bits, which makes each source a different /64. */
#define LIVE_SOURCE_AT 26
#define LIVE_CHECKSUM_AT 24 /* of IPv4 only */
#define LIVE_FRAME_LEAST 64 /* bytes */

#endif /* BENCH_LIVE_H */
