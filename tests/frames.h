/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test frames: functions that append one header after the other, and `rf_frames`, a table of named
 * frames with what the parser must make of each. For unit tests and for BPF_PROG_TEST_RUN alike
 * (which takes no frame under ETH_HLEN): plain bytes, no BPF, no packet struct of the code under
 * test. Numbers are in host order here and in network order in the frame. Checksums stay 0.
 */
#ifndef RINGFENCE_TESTS_FRAMES_H
#define RINGFENCE_TESTS_FRAMES_H

#include <stdlib.h>
#include <string.h>

#include "ringfence/abi.h"
#include "ringfence/packet.h" /* RF_HAS_DPORT, RF_CLASS_UNKNOWN … */

#define FRAME_SIZE 2304 /* an extension header of 2048 bytes, and room for what is around it */
#define FRAME_PARTS 14

/* Every word is another one, and none is in the destination: a source from elsewhere shows. */
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
static inline unsigned char *frame_pad(struct frame *frame, size_t size)
{
	unsigned char *start = frame->bytes + frame->length;

	if (size > FRAME_SIZE - frame->length)
		abort();
	memset(start, 0, size);
	frame->length += size;
	return start;
}

static inline void frame_put16(unsigned char *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline int frame_is_ipv4(const struct frame *frame)
{
	return frame->ip_end - frame->ip_at == 20;
}

static inline unsigned char *frame_grow(struct frame *frame, size_t size)
{
	unsigned char *start = frame_pad(frame, size);
	unsigned char *ip = frame->bytes + frame->ip_at;

	if (frame_is_ipv4(frame))
		frame_put16(ip + 2, frame->length - frame->ip_at);
	else if (frame->ip_at)
		frame_put16(ip + 4, frame->length - frame->ip_end);
	return start;
}

/* As many bytes of the IP packet, it says. */
static inline void frame_set_length(struct frame *frame, unsigned int length)
{
	frame_put16(frame->bytes + frame->ip_at + (frame_is_ipv4(frame) ? 2 : 4), length);
}

/*
 * Where the IP packet ends by its own word; 0: it has no word for that, as a jumbogram, and what
 * was merged to more than 64 KiB.
 */
static inline size_t frame_packet_end(const struct frame *frame)
{
	const unsigned char *field = frame->bytes + frame->ip_at + (frame_is_ipv4(frame) ? 2 : 4);
	const unsigned int length = field[0] << 8 | field[1];

	return length ? (frame_is_ipv4(frame) ? frame->ip_at : frame->ip_end) + length : 0;
}

/* Cuts bytes off the end; the length fields still count them. */
static inline void frame_trim(struct frame *frame, size_t size)
{
	if (size > frame->length)
		abort();
	frame->length -= size;
}

/* Cuts bytes off the end, and the length fields know it: the packet is that short. */
static inline void frame_shorten(struct frame *frame, size_t size)
{
	frame_trim(frame, size);
	frame_grow(frame, 0);
}

/* Writes `type` where the header before this point names its successor. */
static inline void frame_link(struct frame *frame, unsigned int type)
{
	if (frame->link_size == 2)
		frame_put16(frame->bytes + frame->link_at, type);
	else
		frame->bytes[frame->link_at] = type;
}

static inline void frame_next_link(struct frame *frame, const unsigned char *field, size_t size)
{
	frame->link_at = field - frame->bytes;
	frame->link_size = size;
}

static inline void frame_ethernet(struct frame *frame)
{
	static const unsigned char addresses[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	unsigned char *eth = frame_grow(frame, 14);

	memcpy(eth, addresses, sizeof(addresses));
	frame_next_link(frame, eth + 12, 2);
}

static inline void frame_vlan_tag(struct frame *frame, unsigned int ethertype)
{
	unsigned char *tag;

	frame_link(frame, ethertype);
	tag = frame_grow(frame, 4);
	frame_put16(tag, 0x6042); /* priority 3, VLAN 66 */
	frame_next_link(frame, tag + 2, 2);
}

/* `size` bytes under an ethertype or a protocol that nothing here knows more about. */
static inline void frame_payload(struct frame *frame, unsigned int type, size_t size)
{
	frame_link(frame, type);
	frame_grow(frame, size);
}

/* Of IPv4 the first 4 bytes. */
static inline void frame_set_source(struct frame *frame, const unsigned char source[16])
{
	unsigned char *ip = frame->bytes + frame->ip_at;

	if (frame_is_ipv4(frame))
		memcpy(ip + 12, source, 4);
	else
		memcpy(ip + 8, source, 16);
}

/* `ihl` counts 4 bytes; under 5 it lies. `fragment` is the flags and the offset in 8 bytes. */
static inline void frame_ipv4(struct frame *frame, unsigned int ihl, unsigned int fragment)
{
	static const unsigned char source[16] = FRAME_SOURCE4;
	static const unsigned char destination[] = {203, 0, 113, 9};
	unsigned char *ip;

	frame_link(frame, 0x0800);
	frame->ip_at = frame->length;
	frame->ip_end = frame->ip_at + 20;
	ip = frame_pad(frame, 20);
	ip[0] = 0x40 | ihl;
	frame_put16(ip + 6, fragment);
	ip[8] = 255; /* time to live: what makes an IPv6 message a neighbour's must not do so here
		      */
	frame_set_source(frame, source);
	memcpy(ip + 16, destination, sizeof(destination));
	frame_grow(frame, ihl > 5 ? (ihl - 5) * 4 : 0);
	frame_next_link(frame, ip + 9, 1);
}

static inline void frame_ipv6(struct frame *frame, unsigned int hop_limit)
{
	static const unsigned char source[16] = FRAME_SOURCE6;
	static const unsigned char destination[] = {0x20, 0x01, 0x0d, 0xb8, 0xff, 0, 0, 0,
						    0,	  0,	0,    0,    0,	  0, 0, 99};
	unsigned char *ip;

	frame_link(frame, 0x86dd);
	frame->ip_at = frame->length;
	frame->ip_end = frame->ip_at + 40;
	ip = frame_pad(frame, 40);
	ip[0] = 0x60;
	ip[7] = hop_limit;
	frame_set_source(frame, source);
	memcpy(ip + 24, destination, sizeof(destination));
	frame_next_link(frame, ip + 6, 1);
}

/* `length` as in the header: what follows the first 8 bytes, in 8 bytes; AH: in 4 bytes. */
static inline void frame_extension(struct frame *frame, unsigned int type, unsigned int length)
{
	unsigned char *extension;

	frame_link(frame, type);
	extension = frame_grow(frame, 8 + length * (type == 51 ? 4 : 8));
	extension[1] = length;
	frame_next_link(frame, extension, 1);
}

/* `field`: offset in 8 bytes << 3 | reserved << 1 | more. */
static inline void frame_fragment(struct frame *frame, unsigned int field)
{
	unsigned char *fragment;

	frame_link(frame, 44);
	fragment = frame_grow(frame, 8);
	fragment[1] = 0xff; /* reserved: where others have a length */
	frame_put16(fragment + 2, field);
	frame_next_link(frame, fragment, 1);
}

/* The source port begins with 135: a reader who takes it for ICMPv6 sees neighbour discovery. */
static inline void frame_ports(unsigned char *header, unsigned int dport)
{
	frame_put16(header, 135 << 8 | 135);
	frame_put16(header + 2, dport);
}

static inline void frame_tcp(struct frame *frame, unsigned int dport, unsigned int flags)
{
	unsigned char *tcp;

	frame_link(frame, 6);
	tcp = frame_grow(frame, 20);
	frame_ports(tcp, dport);
	tcp[12] = 5 << 4;
	tcp[13] = flags;
}

static inline void frame_udp(struct frame *frame, unsigned int dport)
{
	unsigned char *udp;

	frame_link(frame, 17);
	udp = frame_grow(frame, 8);
	frame_ports(udp, dport);
	frame_put16(udp + 4, 8);
}

/* ICMP (1) or ICMPv6 (58). */
static inline void frame_icmp(struct frame *frame, unsigned int protocol, unsigned int type)
{
	frame_link(frame, protocol);
	*frame_grow(frame, 8) = type;
}

static inline void frame_set_version(struct frame *frame, unsigned int version)
{
	unsigned char *first = frame->bytes + frame->ip_at;

	*first = version << 4 | (*first & 15);
}

/* ---- a frame as a list of parts ---- */

enum frame_part_kind {
	FRAME_END,
	FRAME_ETHERNET,
	FRAME_VLAN_TAG,
	FRAME_PAYLOAD,
	FRAME_IPV4,
	FRAME_IPV6,
	FRAME_EXTENSION,
	FRAME_FRAGMENT,
	FRAME_TCP,
	FRAME_UDP,
	FRAME_ICMP,
	FRAME_VERSION,
	FRAME_PAD,
	FRAME_TRIM,
	FRAME_SHORTEN,
	FRAME_LENGTH,
};

struct frame_part {
	enum frame_part_kind kind;
	unsigned int a, b;
};

/* clang-format off */
#define ETH			{FRAME_ETHERNET, 0, 0}
#define TAG(ethertype)		{FRAME_VLAN_TAG, ethertype, 0}
#define PAYLOAD(type, size)	{FRAME_PAYLOAD, type, size}
#define IP4			{FRAME_IPV4, 5, 0}
#define IP4_IHL(ihl)		{FRAME_IPV4, ihl, 0}
#define IP4_FRAGMENT(fragment)	{FRAME_IPV4, 5, fragment}
#define IP6			{FRAME_IPV6, 64, 0}
#define IP6_HOPS(hop_limit)	{FRAME_IPV6, hop_limit, 0}
#define EXT(type, length)	{FRAME_EXTENSION, type, length}
#define FRAGMENT(field)		{FRAME_FRAGMENT, field, 0}
#define TCP(dport, flags)	{FRAME_TCP, dport, flags}
#define UDP(dport)		{FRAME_UDP, dport, 0}
#define ICMP(type)		{FRAME_ICMP, 1, type}
#define ICMP6(type)		{FRAME_ICMP, 58, type}
#define VERSION(version)	{FRAME_VERSION, version, 0}
#define PAD(size)		{FRAME_PAD, size, 0}
#define TRIM(size)		{FRAME_TRIM, size, 0}
#define SHORTEN(size)		{FRAME_SHORTEN, size, 0}
#define LENGTH(length)		{FRAME_LENGTH, length, 0}

#define TAG_Q			TAG(0x8100) /* 802.1Q */
#define TAG_AD			TAG(0x88a8) /* 802.1ad */
#define HOP			EXT(0, 0)
#define ROUTE			EXT(43, 0)
#define ATOMIC			FRAGMENT(0)
#define DEST			EXT(60, 0)

#define FIN 0x01
#define SYN 0x02
#define ACK 0x10
#define ECE_CWR 0xc0

/* The expected result: reason, version, source, protocol, flags, destination port. */
#define UNCHARGED(reason)	reason, 0, {0}, 0, 0, 0
#define CHARGED4(protocol, flags, dport) \
	RF_HAS_SOURCE, 4, FRAME_SOURCE4, protocol, flags, dport
#define CHARGED6(protocol, flags, dport) \
	RF_HAS_SOURCE, 6, FRAME_SOURCE6, protocol, flags, dport
#define UNTOLD4(protocol)	CHARGED4(protocol, RF_CLASS_UNKNOWN, 0)
#define UNTOLD6(protocol)	CHARGED6(protocol, RF_CLASS_UNKNOWN, 0)
#define PORT4(protocol, dport)	CHARGED4(protocol, RF_HAS_DPORT, dport)
#define PORT6(protocol, dport)	CHARGED6(protocol, RF_HAS_DPORT, dport)
#define SYN4(dport)		CHARGED4(6, RF_HAS_DPORT | RF_SYN, dport)
#define SYN6(dport)		CHARGED6(6, RF_HAS_DPORT | RF_SYN, dport)
/* clang-format on */

static inline void frame_append(struct frame *frame, const struct frame_part *part)
{
	switch (part->kind) {
	case FRAME_END:
		break;
	case FRAME_ETHERNET:
		frame_ethernet(frame);
		break;
	case FRAME_VLAN_TAG:
		frame_vlan_tag(frame, part->a);
		break;
	case FRAME_PAYLOAD:
		frame_payload(frame, part->a, part->b);
		break;
	case FRAME_IPV4:
		frame_ipv4(frame, part->a, part->b);
		break;
	case FRAME_IPV6:
		frame_ipv6(frame, part->a);
		break;
	case FRAME_EXTENSION:
		frame_extension(frame, part->a, part->b);
		break;
	case FRAME_FRAGMENT:
		frame_fragment(frame, part->a);
		break;
	case FRAME_TCP:
		frame_tcp(frame, part->a, part->b);
		break;
	case FRAME_UDP:
		frame_udp(frame, part->a);
		break;
	case FRAME_ICMP:
		frame_icmp(frame, part->a, part->b);
		break;
	case FRAME_VERSION:
		frame_set_version(frame, part->a);
		break;
	case FRAME_PAD:
		frame_pad(frame, part->a);
		break;
	case FRAME_TRIM:
		frame_trim(frame, part->a);
		break;
	case FRAME_SHORTEN:
		frame_shorten(frame, part->a);
		break;
	case FRAME_LENGTH:
		frame_set_length(frame, part->a);
		break;
	}
}

/* The frame of these parts, of which FRAME_END is the last. */
static inline void frame_build(struct frame *frame, const struct frame_part *part)
{
	*frame = (struct frame){.length = 0};
	for (; part->kind != FRAME_END; part++)
		frame_append(frame, part);
}

/* ---- the table ---- */

struct rf_frame {
	const char *name;
	struct frame_part part[FRAME_PARTS]; /* FRAME_END behind the last */
	enum rf_reason reason;		     /* RF_HAS_SOURCE: charged; else the rest is 0 */
	unsigned char version;
	unsigned char source[16];
	unsigned char protocol;
	unsigned char flags;
	unsigned short dport;
};

/* `protocol` is that of the header reached, or of the one that was named and is not there. */
static const struct rf_frame rf_frames[] = {
	{"IPv4 UDP", {ETH, IP4, UDP(53)}, PORT4(17, 53)},
	{"IPv4 UDP to port 65535", {ETH, IP4, UDP(65535)}, PORT4(17, 65535)},
	{"IPv4 TCP SYN", {ETH, IP4, TCP(443, SYN)}, SYN4(443)},
	{"IPv4 TCP SYN that asks for ECN", {ETH, IP4, TCP(443, SYN | ECE_CWR)}, SYN4(443)},
	{"IPv4 TCP SYN+FIN is a SYN", {ETH, IP4, TCP(443, SYN | FIN)}, SYN4(443)},
	{"IPv4 TCP SYN+ACK is no SYN", {ETH, IP4, TCP(443, SYN | ACK)}, PORT4(6, 443)},
	{"IPv4 TCP ACK", {ETH, IP4, TCP(443, ACK)}, PORT4(6, 443)},
	{"IPv4 TCP without flags", {ETH, IP4, TCP(443, 0)}, PORT4(6, 443)},
	{"IPv4 ICMP echo", {ETH, IP4, ICMP(8)}, CHARGED4(1, 0, 0)},
	{"IPv4 GRE has no ports", {ETH, IP4, PAYLOAD(47, 20)}, CHARGED4(47, 0, 0)},
	{"IPv4 protocol 0 is no extension header",
	 {ETH, IP4, EXT(0, 0), UDP(53)},
	 CHARGED4(0, 0, 0)},
	{"IPv4 authentication hides the ports",
	 {ETH, IP4, EXT(51, 1), UDP(53)},
	 CHARGED4(51, 0, 0)},
	{"IPv4 with ICMPv6 is no neighbour", {ETH, IP4, ICMP6(135)}, CHARGED4(58, 0, 0)},
	{"IPv4 padded to 60 bytes", {ETH, IP4, UDP(53), PAD(18)}, PORT4(17, 53)},
	{"IPv4 header alone", {ETH, IP4, UDP(53), TRIM(8)}, UNTOLD4(17)},
	{"IPv4 UDP cut behind the ports", {ETH, IP4, UDP(53), TRIM(4)}, PORT4(17, 53)},
	{"IPv4 UDP cut in the ports", {ETH, IP4, UDP(53), TRIM(5)}, UNTOLD4(17)},
	{"IPv4 TCP ACK cut is taken for a SYN", {ETH, IP4, TCP(443, ACK), TRIM(1)}, SYN4(443)},
	{"IPv4 TCP cut behind the ports", {ETH, IP4, TCP(443, ACK), TRIM(16)}, SYN4(443)},
	{"IPv4 TCP cut in the ports", {ETH, IP4, TCP(443, SYN), TRIM(17)}, UNTOLD4(6)},

	{"IPv4 says it is shorter than its header",
	 {ETH, IP4, TCP(443, SYN), LENGTH(19)},
	 UNTOLD4(6)},
	{"IPv4 says it is its header alone", {ETH, IP4, TCP(443, SYN), LENGTH(20)}, UNTOLD4(6)},
	{"IPv4 says it ends in the options",
	 {ETH, IP4_IHL(15), TCP(443, SYN), LENGTH(40)},
	 UNTOLD4(6)},
	{"IPv4 says it is longer than the frame",
	 {ETH, IP4, TCP(443, ACK), LENGTH(1500)},
	 PORT4(6, 443)},
	{"IPv4 of more than 64 KiB, merged: it says 0",
	 {ETH, IP4, TCP(443, ACK), LENGTH(0)},
	 PORT4(6, 443)},
	{"IPv4 UDP that ends in the ports, padded",
	 {ETH, IP4, UDP(53), SHORTEN(5), PAD(23)},
	 UNTOLD4(17)},
	{"IPv4 UDP that ends behind the ports, padded",
	 {ETH, IP4, UDP(53), SHORTEN(4), PAD(22)},
	 PORT4(17, 53)},
	{"IPv4 TCP that ends before its flags, padded",
	 {ETH, IP4, TCP(443, ACK), SHORTEN(8), PAD(14)},
	 SYN4(443)},

	{"IPv4 options, ihl 6", {ETH, IP4_IHL(6), UDP(53)}, PORT4(17, 53)},
	{"IPv4 options, ihl 15", {ETH, IP4_IHL(15), TCP(443, SYN)}, SYN4(443)},
	{"IPv4 options past the end", {ETH, IP4_IHL(15), UDP(53), TRIM(28)}, UNTOLD4(17)},
	{"IPv4 options past the end, all", {ETH, IP4_IHL(15), UDP(53), TRIM(48)}, UNTOLD4(17)},
	{"IPv4 ihl 4", {ETH, IP4_IHL(4), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv4 ihl 0", {ETH, IP4_IHL(0), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv4 ethertype, version 6", {ETH, IP4, VERSION(6), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv4 ethertype, version 0", {ETH, IP4, VERSION(0), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv4 header cut", {ETH, IP4, TRIM(1)}, UNCHARGED(RF_MALFORMED)},

	{"IPv4 first fragment", {ETH, IP4_FRAGMENT(0x2000), UDP(53)}, PORT4(17, 53)},
	{"IPv4 SYN, a first fragment of 8 bytes",
	 {ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12)},
	 SYN4(443)},
	{"IPv4 SYN, a first fragment of 8 bytes, padded",
	 {ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12), PAD(18)},
	 SYN4(443)},
	{"IPv4 SYN, tagged, a first fragment of 8 bytes, padded",
	 {ETH, TAG_Q, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12), PAD(14)},
	 SYN4(443)},
	{"IPv4 later fragment", {ETH, IP4_FRAGMENT(0x20b9), UDP(53)}, CHARGED4(17, 0, 0)},
	{"IPv4 last fragment", {ETH, IP4_FRAGMENT(0x0001), TCP(443, SYN)}, UNTOLD4(6)},
	{"IPv4 last fragment, not of TCP",
	 {ETH, IP4_FRAGMENT(0x0001), UDP(53)},
	 CHARGED4(17, 0, 0)},
	{"IPv4 TCP fragment behind the flags",
	 {ETH, IP4_FRAGMENT(0x2002), TCP(443, SYN)},
	 CHARGED4(6, 0, 0)},
	{"IPv4 fragment at the end", {ETH, IP4_FRAGMENT(0x1fff), UDP(53)}, CHARGED4(17, 0, 0)},
	{"IPv4 fragment, offset 4096", {ETH, IP4_FRAGMENT(0x1000), UDP(53)}, CHARGED4(17, 0, 0)},
	{"IPv4 may not be fragmented", {ETH, IP4_FRAGMENT(0x4000), UDP(53)}, PORT4(17, 53)},
	{"IPv4 reserved flag", {ETH, IP4_FRAGMENT(0x8000), UDP(53)}, PORT4(17, 53)},

	{"802.1Q, IPv4", {ETH, TAG_Q, IP4, UDP(53)}, PORT4(17, 53)},
	{"802.1ad, IPv4", {ETH, TAG_AD, IP4, TCP(443, SYN)}, SYN4(443)},
	{"802.1ad and 802.1Q, IPv4", {ETH, TAG_AD, TAG_Q, IP4, UDP(53)}, PORT4(17, 53)},
	{"802.1Q twice, IPv4", {ETH, TAG_Q, TAG_Q, IP4, UDP(53)}, PORT4(17, 53)},
	{"802.1Q, IPv6", {ETH, TAG_Q, IP6, UDP(53)}, PORT6(17, 53)},
	{"802.1ad and 802.1Q, IPv6", {ETH, TAG_AD, TAG_Q, IP6, HOP, UDP(53)}, PORT6(17, 53)},
	{"three tags", {ETH, TAG_Q, TAG_Q, TAG_Q, IP4, UDP(53)}, PORT4(17, 53)},
	{"three tags, the first 802.1ad",
	 {ETH, TAG_AD, TAG_Q, TAG_Q, IP6, TCP(443, SYN)},
	 SYN6(443)},
	{"eight tags",
	 {ETH, TAG_Q, TAG_AD, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, IP4, TCP(443, SYN)},
	 SYN4(443)},
	{"eight tags, IPv6",
	 {ETH, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_AD, IP6, DEST, UDP(53)},
	 PORT6(17, 53)},
	{"eight tags, ARP",
	 {ETH, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, PAYLOAD(0x0806, 28)},
	 UNCHARGED(RF_NON_IP)},
	{"nine tags",
	 {ETH, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, IP4, UDP(53)},
	 UNCHARGED(RF_DEEP_VLAN)},
	{"nine tags, IPv6",
	 {ETH, TAG_AD, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_AD, IP6, UDP(53)},
	 UNCHARGED(RF_DEEP_VLAN)},
	{"802.1Q, ARP", {ETH, TAG_Q, PAYLOAD(0x0806, 28)}, UNCHARGED(RF_NON_IP)},
	{"802.1Q, IPv4 version 6", {ETH, TAG_Q, IP4, VERSION(6)}, UNCHARGED(RF_MALFORMED)},
	{"802.1Q tag cut", {ETH, TAG_Q, TRIM(1)}, UNCHARGED(RF_MALFORMED)},
	{"802.1Q, nothing behind", {ETH, TAG_Q, IP4, TRIM(20)}, UNCHARGED(RF_MALFORMED)},

	{"IPv6 UDP", {ETH, IP6, UDP(53)}, PORT6(17, 53)},
	{"IPv6 TCP SYN", {ETH, IP6, TCP(443, SYN)}, SYN6(443)},
	{"IPv6 TCP SYN+ACK is no SYN", {ETH, IP6, TCP(443, SYN | ACK)}, PORT6(6, 443)},
	{"IPv6 ICMPv6 echo", {ETH, IP6, ICMP6(128)}, CHARGED6(58, 0, 0)},
	{"IPv6 SCTP has no ports here", {ETH, IP6, PAYLOAD(132, 20)}, CHARGED6(132, 0, 0)},
	{"IPv6 no next header", {ETH, IP6, PAYLOAD(59, 8)}, CHARGED6(59, 0, 0)},
	{"IPv6 ESP", {ETH, IP6, PAYLOAD(50, 24)}, CHARGED6(50, 0, 0)},
	{"IPv6 header alone", {ETH, IP6, UDP(53), TRIM(8)}, UNTOLD6(17)},
	{"IPv6 UDP cut in the ports", {ETH, IP6, UDP(53), TRIM(5)}, UNTOLD6(17)},
	{"IPv6 TCP cut behind the ports", {ETH, IP6, TCP(443, ACK), TRIM(16)}, SYN6(443)},
	{"IPv6 ethertype, version 4", {ETH, IP6, VERSION(4), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv6 ethertype, version 7", {ETH, IP6, VERSION(7), UDP(53)}, UNCHARGED(RF_MALFORMED)},
	{"IPv6 header cut", {ETH, IP6, TRIM(1)}, UNCHARGED(RF_MALFORMED)},

	{"IPv6 hop-by-hop options", {ETH, IP6, EXT(0, 0), UDP(53)}, PORT6(17, 53)},
	{"IPv6 routing header", {ETH, IP6, EXT(43, 2), UDP(53)}, PORT6(17, 53)},
	{"IPv6 authentication header", {ETH, IP6, EXT(51, 4), UDP(53)}, PORT6(17, 53)},
	{"IPv6 destination options", {ETH, IP6, EXT(60, 1), UDP(53)}, PORT6(17, 53)},
	{"IPv6 mobility header", {ETH, IP6, EXT(135, 1), UDP(53)}, PORT6(17, 53)},
	{"IPv6 host identity header", {ETH, IP6, EXT(139, 4), UDP(53)}, PORT6(17, 53)},
	{"IPv6 Shim6 header", {ETH, IP6, EXT(140, 1), UDP(53)}, PORT6(17, 53)},
	{"IPv6 hop-by-hop of 2048 bytes", {ETH, IP6, EXT(0, 255), TCP(443, SYN)}, SYN6(443)},
	{"IPv6 authentication of 8 bytes", {ETH, IP6, EXT(51, 0), UDP(53)}, PORT6(17, 53)},
	{"IPv6 authentication of 12 bytes", {ETH, IP6, EXT(51, 1), UDP(53)}, PORT6(17, 53)},
	{"IPv6 authentication of 1028 bytes", {ETH, IP6, EXT(51, 255), UDP(53)}, PORT6(17, 53)},
	{"IPv6 authentication, then options", {ETH, IP6, EXT(51, 1), DEST, UDP(53)}, PORT6(17, 53)},

	{"IPv6 chain of 2", {ETH, IP6, HOP, DEST, UDP(53)}, PORT6(17, 53)},
	{"IPv6 chain of 3", {ETH, IP6, HOP, DEST, ROUTE, UDP(53)}, PORT6(17, 53)},
	{"IPv6 chain of 4", {ETH, IP6, HOP, DEST, ROUTE, ATOMIC, UDP(53)}, PORT6(17, 53)},
	{"IPv6 chain of 5",
	 {ETH, IP6, HOP, DEST, ROUTE, ATOMIC, EXT(51, 4), UDP(53)},
	 PORT6(17, 53)},
	{"IPv6 chain of 6",
	 {ETH, IP6, HOP, DEST, ROUTE, ATOMIC, EXT(51, 4), DEST, UDP(53)},
	 PORT6(17, 53)},
	{"IPv6 chain of 7",
	 {ETH, IP6, HOP, DEST, ROUTE, ATOMIC, EXT(51, 4), DEST, EXT(135, 1), TCP(443, SYN)},
	 SYN6(443)},
	{"IPv6 chain of 8",
	 {ETH, IP6, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, TCP(443, SYN)},
	 SYN6(443)},
	{"IPv6 chain of 9 hides the class only",
	 {ETH, IP6, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, TCP(443, SYN)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 chain of 8, nothing behind",
	 {ETH, IP6, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, PAYLOAD(59, 0)},
	 CHARGED6(59, 0, 0)},

	{"IPv6 atomic fragment", {ETH, IP6, ATOMIC, UDP(53)}, PORT6(17, 53)},
	{"IPv6 first fragment", {ETH, IP6, FRAGMENT(0x0001), TCP(443, SYN)}, SYN6(443)},
	{"IPv6 SYN, a first fragment of 8 bytes, padded",
	 {ETH, IP6, FRAGMENT(0x0001), TCP(443, SYN), SHORTEN(12), PAD(40)},
	 SYN6(443)},
	{"IPv6 first fragment, reserved bits",
	 {ETH, IP6, FRAGMENT(0x0007), UDP(53)},
	 PORT6(17, 53)},
	{"IPv6 first fragment, then options",
	 {ETH, IP6, FRAGMENT(1), DEST, UDP(53)},
	 PORT6(17, 53)},
	{"IPv6 later fragment", {ETH, IP6, FRAGMENT(0x05a9), UDP(53)}, CHARGED6(17, 0, 0)},
	{"IPv6 last fragment", {ETH, IP6, FRAGMENT(0x0008), TCP(443, SYN)}, UNTOLD6(6)},
	{"IPv6 TCP fragment behind the flags",
	 {ETH, IP6, FRAGMENT(0x0010), TCP(443, SYN)},
	 CHARGED6(6, 0, 0)},
	{"IPv6 fragment at the end", {ETH, IP6, FRAGMENT(0xfff8), UDP(53)}, CHARGED6(17, 0, 0)},
	{"IPv6 later fragment of options",
	 {ETH, IP6, FRAGMENT(0x05a9), DEST, UDP(53)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 later fragment behind options",
	 {ETH, IP6, HOP, FRAGMENT(0x0008), UDP(53)},
	 CHARGED6(17, 0, 0)},
	{"IPv6 later fragment, nothing behind",
	 {ETH, IP6, FRAGMENT(0x0008), PAYLOAD(6, 0)},
	 UNTOLD6(6)},

	{"IPv6 extension header cut",
	 {ETH, IP6, HOP, PAYLOAD(17, 0), TRIM(1)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 fragment header cut",
	 {ETH, IP6, FRAGMENT(0x0008), PAYLOAD(17, 0), TRIM(1)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 extension header missing", {ETH, IP6, HOP, TRIM(8)}, UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 extension chain cut",
	 {ETH, IP6, HOP, FRAGMENT(0x0001), DEST, UDP(53), TRIM(9)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 options past the end name UDP",
	 {ETH, IP6, EXT(0, 255), UDP(53), TRIM(2040)},
	 UNTOLD6(17)},
	{"IPv6 options past the end, chain",
	 {ETH, IP6, EXT(0, 2), DEST, UDP(53), TRIM(20)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},

	{"IPv6 of more than 64 KiB, merged: it says 0",
	 {ETH, IP6, TCP(443, ACK), LENGTH(0)},
	 PORT6(6, 443)},
	{"IPv6 jumbogram: it says 0, and has options",
	 {ETH, IP6, HOP, TCP(443, SYN), LENGTH(0)},
	 SYN6(443)},
	{"IPv6 UDP that ends in the ports, padded",
	 {ETH, IP6, UDP(53), SHORTEN(5), PAD(23)},
	 UNTOLD6(17)},
	{"IPv6 says it ends in its first options",
	 {ETH, IP6, DEST, UDP(53), LENGTH(7)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 says it ends in its options",
	 {ETH, IP6, DEST, DEST, UDP(53), LENGTH(15)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},
	{"IPv6 says it ends in its fragment header",
	 {ETH, IP6, FRAGMENT(0x0008), UDP(53), LENGTH(7)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},

	{"ICMPv6 132, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(132)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 133, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(133)}, UNCHARGED(RF_NEIGHBOUR)},
	{"ICMPv6 134, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(134)}, UNCHARGED(RF_NEIGHBOUR)},
	{"ICMPv6 135, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(135)}, UNCHARGED(RF_NEIGHBOUR)},
	{"ICMPv6 136, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(136)}, UNCHARGED(RF_NEIGHBOUR)},
	{"ICMPv6 137, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(137)}, UNCHARGED(RF_NEIGHBOUR)},
	{"ICMPv6 138, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(138)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 133, hop limit 64", {ETH, IP6, ICMP6(133)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 134, hop limit 64", {ETH, IP6, ICMP6(134)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 135, hop limit 64", {ETH, IP6, ICMP6(135)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 136, hop limit 64", {ETH, IP6, ICMP6(136)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 137, hop limit 64", {ETH, IP6, ICMP6(137)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 135, hop limit 254", {ETH, IP6_HOPS(254), ICMP6(135)}, CHARGED6(58, 0, 0)},
	{"ICMPv6 echo, hop limit 255", {ETH, IP6_HOPS(255), ICMP6(128)}, CHARGED6(58, 0, 0)},
	{"IPv6 UDP, hop limit 255", {ETH, IP6_HOPS(255), UDP(53)}, PORT6(17, 53)},
	{"IPv6 ICMP, hop limit 255", {ETH, IP6_HOPS(255), ICMP(135)}, CHARGED6(1, 0, 0)},
	{"neighbour discovery, tagged",
	 {ETH, TAG_Q, IP6_HOPS(255), ICMP6(135)},
	 UNCHARGED(RF_NEIGHBOUR)},
	{"neighbour discovery behind options",
	 {ETH, IP6_HOPS(255), HOP, ICMP6(135)},
	 UNCHARGED(RF_NEIGHBOUR)},
	{"neighbour discovery behind options, hop limit 64",
	 {ETH, IP6, HOP, ICMP6(135)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery, atomic fragment",
	 {ETH, IP6_HOPS(255), ATOMIC, ICMP6(135)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery, first fragment",
	 {ETH, IP6_HOPS(255), FRAGMENT(1), ICMP6(135)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery, later fragment",
	 {ETH, IP6_HOPS(255), FRAGMENT(8), ICMP6(135)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery, fragment, options",
	 {ETH, IP6_HOPS(255), ATOMIC, DEST, ICMP6(135)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery cut", {ETH, IP6_HOPS(255), ICMP6(135), TRIM(1)}, CHARGED6(58, 0, 0)},
	{"neighbour discovery that ends early, padded",
	 {ETH, IP6_HOPS(255), ICMP6(135), SHORTEN(1), PAD(1)},
	 CHARGED6(58, 0, 0)},
	{"neighbour discovery behind 8 headers",
	 {ETH, IP6_HOPS(255), DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, ICMP6(135)},
	 UNCHARGED(RF_NEIGHBOUR)},
	{"neighbour discovery behind 9 headers",
	 {ETH, IP6_HOPS(255), DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, ICMP6(135)},
	 UNTOLD6(RF_PROTOCOL_UNKNOWN)},

	{"ARP", {ETH, PAYLOAD(0x0806, 28)}, UNCHARGED(RF_NON_IP)},
	{"LLDP", {ETH, PAYLOAD(0x88cc, 46)}, UNCHARGED(RF_NON_IP)},
	{"LACP", {ETH, PAYLOAD(0x8809, 110)}, UNCHARGED(RF_NON_IP)},
	{"PTP", {ETH, PAYLOAD(0x88f7, 44)}, UNCHARGED(RF_NON_IP)},
	{"LLC, a length for an ethertype", {ETH, PAYLOAD(0x0026, 46)}, UNCHARGED(RF_NON_IP)},
	{"ethertype 0x9100 is no tag", {ETH, TAG(0x9100), IP4, UDP(53)}, UNCHARGED(RF_NON_IP)},
	{"Ethernet header alone, ARP", {ETH, PAYLOAD(0x0806, 0)}, UNCHARGED(RF_NON_IP)},
	{"Ethernet header alone, IPv4", {ETH, PAYLOAD(0x0800, 0)}, UNCHARGED(RF_MALFORMED)},
	{"Ethernet header alone, IPv6", {ETH, PAYLOAD(0x86dd, 0)}, UNCHARGED(RF_MALFORMED)},
	{"13 bytes", {ETH, PAYLOAD(0x0806, 0), TRIM(1)}, UNCHARGED(RF_MALFORMED)},
	{"empty frame", {{FRAME_END, 0, 0}}, UNCHARGED(RF_MALFORMED)},
};

#define RF_FRAME_COUNT (sizeof(rf_frames) / sizeof(rf_frames[0]))

#endif /* RINGFENCE_TESTS_FRAMES_H */
