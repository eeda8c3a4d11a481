/* SPDX-License-Identifier: GPL-2.0 */
/* A test frame as a list of parts, so that a row of a table can be one. */
#ifndef RINGFENCE_TESTS_FRAME_PARTS_H
#define RINGFENCE_TESTS_FRAME_PARTS_H

#include "frame_headers.h"

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
/* clang-format on */

/* Builds the frame of these parts; FRAME_END must be the last. */
void frame_build(struct frame *frame, const struct frame_part *part);

#endif /* RINGFENCE_TESTS_FRAME_PARTS_H */
