/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Builds test frames: functions that append one header after the other. Plain bytes, no BPF, no
 * packet struct of the code under test. Numbers are in host order here and in network order in the
 * frame. Checksums stay 0.
 */
#ifndef RINGFENCE_TESTS_FRAME_HEADERS_H
#define RINGFENCE_TESTS_FRAME_HEADERS_H

#include <stddef.h>

#define FRAME_SIZE 2304 /* an extension header of 2048 bytes, and room for what is around it */

/* Every word differs, and none is in the destination, so that a source from elsewhere shows. */
#define FRAME_SOURCE4           \
	{                       \
		198, 51, 100, 7 \
	}
#define FRAME_SOURCE6                                                         \
	{                                                                     \
		0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 \
	}

struct frame {
	unsigned char bytes[FRAME_SIZE];
	size_t length;
	size_t link_at; /* of the field that names what is appended next */
	size_t link_size;
	size_t ip_at;  /* of the IP header; 0: none */
	size_t ip_end; /* end of its fixed part */
};

/* Zero bytes that no length field counts, like the padding of a short Ethernet frame. */
unsigned char *frame_pad(struct frame *frame, size_t size);

/* Zero bytes that the length field of the IP header counts. */
unsigned char *frame_grow(struct frame *frame, size_t size);

int frame_is_ipv4(const struct frame *frame);

/* As many bytes of the IP packet, it says. */
void frame_set_length(struct frame *frame, unsigned int length);

/*
 * Where the IP packet ends by its own word; 0: it has no word for that, as a jumbogram, and what
 * was merged to more than 64 KiB.
 */
size_t frame_packet_end(const struct frame *frame);

/* Cuts bytes off the end; the length fields still count them. */
void frame_trim(struct frame *frame, size_t size);

/* Cuts bytes off the end and adjusts the length fields: the packet really is that short. */
void frame_shorten(struct frame *frame, size_t size);

void frame_ethernet(struct frame *frame);
void frame_vlan_tag(struct frame *frame, unsigned int ethertype);

/* Adds `size` bytes under an ethertype or a protocol without any meaning here. */
void frame_payload(struct frame *frame, unsigned int type, size_t size);

/* Of IPv4 the first 4 bytes. */
void frame_set_source(struct frame *frame, const unsigned char source[16]);
void frame_set_destination(struct frame *frame, const unsigned char destination[16]);

/* `ihl` counts 4 bytes; under 5 it lies. `fragment` is the flags and the offset in 8 bytes. */
void frame_ipv4(struct frame *frame, unsigned int ihl, unsigned int fragment);

void frame_ipv6(struct frame *frame, unsigned int hop_limit);

/* `length` as in the header: what follows the first 8 bytes, in 8 bytes; AH: in 4 bytes. */
void frame_extension(struct frame *frame, unsigned int type, unsigned int length);

/* `field`: offset in 8 bytes << 3 | reserved << 1 | more. */
void frame_fragment(struct frame *frame, unsigned int field);

void frame_tcp(struct frame *frame, unsigned int dport, unsigned int flags);
void frame_udp(struct frame *frame, unsigned int dport);

/* ICMP (1) or ICMPv6 (58). */
void frame_icmp(struct frame *frame, unsigned int protocol, unsigned int type);

void frame_set_version(struct frame *frame, unsigned int version);

#endif /* RINGFENCE_TESTS_FRAME_HEADERS_H */
