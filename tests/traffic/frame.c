/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of a frame: headers, a stamp, zeros. Every frame is built whole: that takes 60 ns,
 * little compared with sending it. Layer 4 checksums are 0: the program under test decides before
 * the checksum is checked.
 */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <string.h>

#include "traffic.h"

#define ETHERTYPE_QINQ 0x88a8
#define HEAD_BYTES_MOST 128 /* headers and stamp */
#define HOPS 64
#define LATER_FRAGMENT_OFFSET 185 /* in units of 8 bytes: behind 1480 */

/* 16-bit words, in the order and with the meaning of the RFC's picture of a header. */
#define put_words(frame, ...)                             \
	put_array(frame, (const uint16_t[]){__VA_ARGS__}, \
		  sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

static void put(struct frame *frame, const void *bytes, size_t len)
{
	memcpy(frame->bytes + frame->used, bytes, len);
	frame->used += len;
}

static void put_array(struct frame *frame, const uint16_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(frame, &(uint16_t){htons(words[i])}, sizeof(*words));
}

static uint8_t protocol(const struct flow *flow)
{
	if (flow->proto == PROTO_NUMBER)
		return flow->protocol;
	if (flow->proto == PROTO_UDP)
		return IPPROTO_UDP;
	if (flow->proto != PROTO_ICMP)
		return IPPROTO_TCP;
	return flow->src.family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
}

static uint16_t ipv4_checksum(const uint8_t *header)
{
	uint16_t words[sizeof(struct iphdr) / 2];
	uint32_t sum = 0;

	memcpy(words, header, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static void put_ipv4(struct frame *frame, const struct flow *flow, const struct address *src)
{
	static const uint16_t fragment[] = {IP_DF, IP_MF, LATER_FRAGMENT_OFFSET};
	uint8_t *header;
	uint16_t check;

	put_words(frame, ETHERTYPE_IP);
	header = frame->bytes + frame->used;
	put_words(frame, 0x4500, flow->len_bytes - frame->used, flow->sent, fragment[flow->frag],
		  HOPS << 8 | protocol(flow), 0);
	put(frame, src->bytes, 4);
	put(frame, flow->dst.bytes, 4);
	check = ipv4_checksum(header);
	memcpy(header + offsetof(struct iphdr, check), &check, sizeof(check));
}

static void put_ipv6(struct frame *frame, const struct flow *flow, const struct address *src)
{
	uint16_t fragment = flow->frag == FRAG_FIRST ? 1 : LATER_FRAGMENT_OFFSET << 3;
	uint8_t next = flow->frag ? IPPROTO_FRAGMENT : protocol(flow);

	put_words(frame, ETHERTYPE_IPV6);
	put_words(frame, 6 << 12, 0, flow->len_bytes - frame->used - sizeof(struct ip6_hdr),
		  next << 8 | HOPS);
	put(frame, src->bytes, 16);
	put(frame, flow->dst.bytes, 16);
	if (flow->frag)
		put_words(frame, protocol(flow) << 8, fragment, 0, 0);
}

static void put_l4(struct frame *frame, const struct flow *flow)
{
	uint16_t echo = flow->src.family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
	/* one sequence number for all, and PSH: GRO behind a native program must merge nothing */
	uint16_t flags = flow->proto == PROTO_SYN      ? TH_SYN
			 : flow->proto == PROTO_SYNACK ? TH_SYN | TH_ACK
						       : TH_ACK | TH_PUSH;

	if (flow->proto == PROTO_UDP)
		put_words(frame, flow->sport, flow->dport, flow->len_bytes - frame->used, 0);
	else if (flow->proto == PROTO_ICMP)
		put_words(frame, echo << 8, 0, flow->number, 0);
	else if (flow->proto != PROTO_NUMBER)
		put_words(frame, flow->sport, flow->dport, 0, 1, 0, 0, 5 << 12 | flags, 1024, 0, 0);
}

/* The flow's next frame, stamped with the present time. The MAC addresses are the caller's. */
void frame_build(struct frame *frame, const struct flow *flow)
{
	struct address src = address_step(&flow->src, flow->sent % flow->sources);

	frame->used = 2 * ETH_ALEN;
	memset(frame->bytes + frame->used, 0, HEAD_BYTES_MOST - frame->used);
	for (size_t i = 0; i < flow->vlans; i++)
		put_words(frame, i + 1 < flow->vlans ? ETHERTYPE_QINQ : ETHERTYPE_VLAN,
			  flow->vlan[i]);
	if (flow->src.family == AF_INET)
		put_ipv4(frame, flow, &src);
	else
		put_ipv6(frame, flow, &src);
	if (flow->frag != FRAG_LATER)
		put_l4(frame, flow);
	put(frame, STAMP_MAGIC, STAMP_MAGIC_BYTES);
	put(frame, &(struct stamp){now_ns(), flow->number, flow->sent}, sizeof(struct stamp));
}

static bool read_source(const uint8_t *bytes, size_t len, struct address *source)
{
	size_t at = 2 * ETH_ALEN, size;
	uint16_t type = 0;

	for (; at + 2 <= len; at += VLAN_TAG_BYTES) {
		type = bytes[at] << 8 | bytes[at + 1];
		if (type != ETHERTYPE_VLAN && type != ETHERTYPE_QINQ)
			break;
	}
	*source = (struct address){.family = type == ETHERTYPE_IP ? AF_INET : AF_INET6};
	size = type == ETHERTYPE_IP ? 4 : 16;
	at += 2 + (type == ETHERTYPE_IP ? offsetof(struct iphdr, saddr)
					: offsetof(struct ip6_hdr, ip6_src));
	if ((type != ETHERTYPE_IP && type != ETHERTYPE_IPV6) || at + size > len)
		return false;
	memcpy(source->bytes, bytes + at, size);
	return true;
}

/* Returns false for a foreign frame. @bytes can end behind the stamp. Sets source, stamp, ticks. */
bool frame_read(const uint8_t *bytes, size_t len, struct record *record)
{
	const uint8_t *at = memmem(bytes, len, STAMP_MAGIC, STAMP_MAGIC_BYTES);
	size_t left = at ? bytes + len - at : 0;

	if (left < STAMP_MAGIC_BYTES + sizeof(record->stamp))
		return false;
	memcpy(&record->stamp, at + STAMP_MAGIC_BYTES, sizeof(record->stamp));
	if (left >= STAMP_MAGIC_BYTES + sizeof(record->stamp) + sizeof(record->ticks))
		memcpy(&record->ticks, at + STAMP_MAGIC_BYTES + sizeof(record->stamp),
		       sizeof(record->ticks));
	return read_source(bytes, len, &record->source);
}
