/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes samples of packets as pcapng, which Wireshark and tcpdump read. An interface gets its
 * block before its first packet.
 */
#ifndef RINGFENCE_PCAPNG_H
#define RINGFENCE_PCAPNG_H

#include <stdint.h>
#include <stdio.h>

#define RF_PCAPNG_INTERFACES 256 /* more of them share the last block */

struct rf_pcapng {
	FILE *file;
	uint32_t index[RF_PCAPNG_INTERFACES]; /* of the interfaces that have a block */
	uint32_t interfaces;
};

/* One packet. */
struct rf_pcapng_packet {
	uint32_t interface; /* its index */
	const char *name;   /* of the interface */
	uint64_t time_ns;   /* since 1970 */
	uint32_t len_bytes; /* of the frame, of which `captured` bytes are in `frame` */
	uint32_t captured;
	const uint8_t *frame;
	const char *comment;
};

/* All return 0, or the error of the file as a negative errno. */
int rf_pcapng_begin(struct rf_pcapng *pcapng, FILE *file);
/* An interface before its first packet, since some readers take no file without any. */
int rf_pcapng_add_interface(struct rf_pcapng *pcapng, uint32_t index, const char *name);
int rf_pcapng_add(struct rf_pcapng *pcapng, const struct rf_pcapng_packet *packet);

#endif /* RINGFENCE_PCAPNG_H */
