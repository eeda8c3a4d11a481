// SPDX-License-Identifier: GPL-2.0
#include "frame_headers.h"

#include <stdlib.h>
#include <string.h>

unsigned char *frame_pad(struct frame *frame, size_t size)
{
	unsigned char *start = frame->bytes + frame->length;

	if (size > FRAME_SIZE - frame->length)
		abort();
	memset(start, 0, size);
	frame->length += size;
	return start;
}

static void frame_put16(unsigned char *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

int frame_is_ipv4(const struct frame *frame)
{
	return frame->ip_end - frame->ip_at == 20;
}

unsigned char *frame_grow(struct frame *frame, size_t size)
{
	unsigned char *start = frame_pad(frame, size);
	unsigned char *ip = frame->bytes + frame->ip_at;

	if (frame_is_ipv4(frame))
		frame_put16(ip + 2, frame->length - frame->ip_at);
	else if (frame->ip_at)
		frame_put16(ip + 4, frame->length - frame->ip_end);
	return start;
}

void frame_set_length(struct frame *frame, unsigned int length)
{
	frame_put16(frame->bytes + frame->ip_at + (frame_is_ipv4(frame) ? 2 : 4), length);
}

size_t frame_packet_end(const struct frame *frame)
{
	const unsigned char *field = frame->bytes + frame->ip_at + (frame_is_ipv4(frame) ? 2 : 4);
	const unsigned int length = field[0] << 8 | field[1];

	return length ? (frame_is_ipv4(frame) ? frame->ip_at : frame->ip_end) + length : 0;
}

void frame_trim(struct frame *frame, size_t size)
{
	if (size > frame->length)
		abort();
	frame->length -= size;
}

void frame_shorten(struct frame *frame, size_t size)
{
	frame_trim(frame, size);
	frame_grow(frame, 0);
}

/* Writes `type` where the previous header names its successor. */
static void frame_link(struct frame *frame, unsigned int type)
{
	if (frame->link_size == 2)
		frame_put16(frame->bytes + frame->link_at, type);
	else
		frame->bytes[frame->link_at] = type;
}

static void frame_next_link(struct frame *frame, const unsigned char *field, size_t size)
{
	frame->link_at = field - frame->bytes;
	frame->link_size = size;
}

void frame_ethernet(struct frame *frame)
{
	static const unsigned char addresses[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	unsigned char *eth = frame_grow(frame, 14);

	memcpy(eth, addresses, sizeof(addresses));
	frame_next_link(frame, eth + 12, 2);
}

void frame_vlan_tag(struct frame *frame, unsigned int ethertype)
{
	unsigned char *tag;

	frame_link(frame, ethertype);
	tag = frame_grow(frame, 4);
	frame_put16(tag, 0x6042); /* priority 3, VLAN 66 */
	frame_next_link(frame, tag + 2, 2);
}

void frame_payload(struct frame *frame, unsigned int type, size_t size)
{
	frame_link(frame, type);
	frame_grow(frame, size);
}

void frame_set_source(struct frame *frame, const unsigned char source[16])
{
	unsigned char *ip = frame->bytes + frame->ip_at;

	if (frame_is_ipv4(frame))
		memcpy(ip + 12, source, 4);
	else
		memcpy(ip + 8, source, 16);
}

void frame_set_destination(struct frame *frame, const unsigned char destination[16])
{
	unsigned char *ip = frame->bytes + frame->ip_at;

	if (frame_is_ipv4(frame))
		memcpy(ip + 16, destination, 4);
	else
		memcpy(ip + 24, destination, 16);
}

void frame_ipv4(struct frame *frame, unsigned int ihl, unsigned int fragment)
{
	static const unsigned char source[16] = FRAME_SOURCE4;
	static const unsigned char destination[16] = {203, 0, 113, 9};
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
	frame_set_destination(frame, destination);
	frame_grow(frame, ihl > 5 ? (ihl - 5) * 4 : 0);
	frame_next_link(frame, ip + 9, 1);
}

void frame_ipv6(struct frame *frame, unsigned int hop_limit)
{
	static const unsigned char source[16] = FRAME_SOURCE6;
	static const unsigned char destination[16] = {0x20, 0x01, 0x0d, 0xb8, 0xff, 0, 0, 0,
						      0,    0,	  0,	0,    0,    0, 0, 99};
	unsigned char *ip;

	frame_link(frame, 0x86dd);
	frame->ip_at = frame->length;
	frame->ip_end = frame->ip_at + 40;
	ip = frame_pad(frame, 40);
	ip[0] = 0x60;
	ip[7] = hop_limit;
	frame_set_source(frame, source);
	frame_set_destination(frame, destination);
	frame_next_link(frame, ip + 6, 1);
}

void frame_extension(struct frame *frame, unsigned int type, unsigned int length)
{
	unsigned char *extension;

	frame_link(frame, type);
	extension = frame_grow(frame, 8 + length * (type == 51 ? 4 : 8));
	extension[1] = length;
	frame_next_link(frame, extension, 1);
}

void frame_fragment(struct frame *frame, unsigned int field)
{
	unsigned char *fragment;

	frame_link(frame, 44);
	fragment = frame_grow(frame, 8);
	fragment[1] = 0xff; /* reserved: where others have a length */
	frame_put16(fragment + 2, field);
	frame_next_link(frame, fragment, 1);
}

/* The source port begins with 135: a reader that takes it for ICMPv6 sees neighbour discovery. */
static void frame_ports(unsigned char *header, unsigned int dport)
{
	frame_put16(header, 135 << 8 | 135);
	frame_put16(header + 2, dport);
}

void frame_tcp(struct frame *frame, unsigned int dport, unsigned int flags)
{
	unsigned char *tcp;

	frame_link(frame, 6);
	tcp = frame_grow(frame, 20);
	frame_ports(tcp, dport);
	tcp[12] = 5 << 4;
	tcp[13] = flags;
}

void frame_udp(struct frame *frame, unsigned int dport)
{
	unsigned char *udp;

	frame_link(frame, 17);
	udp = frame_grow(frame, 8);
	frame_ports(udp, dport);
	frame_put16(udp + 4, 8);
}

void frame_icmp(struct frame *frame, unsigned int protocol, unsigned int type)
{
	frame_link(frame, protocol);
	*frame_grow(frame, 8) = type;
}

void frame_set_version(struct frame *frame, unsigned int version)
{
	unsigned char *first = frame->bytes + frame->ip_at;

	*first = version << 4 | (*first & 15);
}
