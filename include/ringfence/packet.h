/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser: extracts from an Ethernet frame its source and the fields that determine its class.
 * Reads nothing outside [data, end), and bounds every length that a frame claims. Compiled into
 * BPF, tests and fuzzers. As in the kernel, the frame starts 2 bytes after a multiple of 4, which
 * aligns the fields of headers.
 *
 * The source is found behind up to eight VLAN tags; IP options, extension headers and fragments do
 * not hide it. A frame whose fixed IP header is cut off, or contradicts itself, is malformed.
 * Beyond the fixed header (so also in IPv4 options) the source is certain: unreadable headers only
 * leave the class unknown. No honest sender makes such packets, see RF_CLASS_UNKNOWN.
 *
 * The IP header determines the length of a packet, as for its receiver. The rest of the frame, up
 * to `end`, is padding, with which Ethernet fills short frames, and can hold anything.
 */
#ifndef RINGFENCE_PACKET_H
#define RINGFENCE_PACKET_H

#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <stddef.h>

#include "abi.h"
#include "atomic.h" /* RF_INLINE */

#define RF_VLAN_TAGS_MAX 8  /* followed; the kernel takes off any number of VLAN 0 */
#define RF_EXTENSIONS_MAX 8 /* IPv6 extension headers followed; more leave the class unknown */

#define RF_PROTOCOL_UNKNOWN 255 /* reserved by IANA */

#define RF_HAS_DPORT (1U << 0)
/* With a port, these bits are an enum rf_ports_of. */
#define RF_PORTS_OF_SHIFT 1
#define RF_SYN (RF_PORTS_SYN << RF_PORTS_OF_SHIFT) /* TCP SYN without ACK */
#define RF_UDP_PORT (RF_PORTS_UDP << RF_PORTS_OF_SHIFT)
/*
 * The matching limits cannot be determined: the protocol is out of reach, the ports are cut off, or
 * the packet is a fragment that starts at the flags of TCP, to replace them (RFC 1858, RFC 3128).
 */
#define RF_CLASS_UNKNOWN (1U << 3)
#define RF_TCP_CUT (1U << 4) /* TCP whose header is cut off before the flags; a SYN as well */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_BE16(x) ((__be16)__builtin_bswap16(x))
#define RF_BE32(x) ((__be32)__builtin_bswap32(x))
#else
#define RF_BE16(x) ((__be16)(x))
#define RF_BE32(x) ((__be32)(x))
#endif

/* The type of a frame. Only the first has a source to charge. */
enum rf_parsed {
	RF_PARSED_SOURCE,
	RF_PARSED_NON_IP,
	RF_PARSED_NEIGHBOUR, /* IPv6 neighbour discovery, or router */
	RF_PARSED_DEEP_VLAN, /* more VLAN tags than the parser follows */
	RF_PARSED_MALFORMED,
	RF_PARSED_COUNT,
};

/* Why a frame without a source passes or is dropped. */
RF_INLINE enum rf_reason rf_parsed_reason(enum rf_parsed parsed)
{
	switch (parsed) {
	case RF_PARSED_NON_IP:
		return RF_NON_IP;
	case RF_PARSED_NEIGHBOUR:
		return RF_NEIGHBOUR;
	case RF_PARSED_DEEP_VLAN:
		return RF_DEEP_VLAN;
	default:
		return RF_MALFORMED;
	}
}

struct rf_packet {
	__be32 source[4]; /* IPv4: the first word, the others 0 */
	__u8 version;	  /* 4 or 6 */
	__u8 protocol;	  /* of layer 4, RF_PROTOCOL_UNKNOWN if no header names it */
	__u8 flags;	  /* RF_HAS_DPORT, RF_SYN, RF_UDP_PORT, RF_CLASS_UNKNOWN, RF_TCP_CUT */
	__u16 dport;	  /* host order */
	__u16 network;	  /* offset of the IP header in the frame */
	__u16 transport;  /* where the ports are; with RF_HAS_DPORT */
};

/* With RF_HAS_DPORT: an enum rf_ports_of. */
RF_INLINE __u32 rf_packet_ports_of(const struct rf_packet *packet)
{
	return packet->flags >> RF_PORTS_OF_SHIFT & RF_PORTS_OF_MASK;
}

/* As struct ethhdr, but not packed: the compiler loads the type with one instruction. */
struct rf_ethernet {
	__u8 dest[ETH_ALEN];
	__u8 source[ETH_ALEN];
	__be16 ethertype;
};

struct rf_vlan_tag {
	__be16 tci;
	__be16 ethertype;
};

#define RF_VLAN_MASK 0x3f	/* covers the bytes of all tags */
#define RF_EXTENSION_MASK 0x7ff /* covers the bytes of an extension header after its first 8 */

/* The first fields of TCP and UDP. */
struct rf_port_pair {
	__be16 source;
	__be16 dest;
};

/* A TCP header as far as its flags. The parser reads nothing behind them. */
struct rf_tcp {
	struct rf_port_pair ports;
	__be16 sequence[2];
	__be16 acknowledged[2];
	__u8 data_offset;
	__u8 flags;
};

#define RF_TCP_SYN 0x02
#define RF_TCP_ACK 0x10

/* The first 8 bytes of an IPv6 extension header, the least that any of them has. */
struct rf_extension {
	__u8 next;
	__u8 length; /* after these 8 bytes, in units of 8; AH: of 4; fragment header: reserved */
	__be16 fragment_offset; /* fragment header only: offset in 8 bytes << 3 | more */
	__be32 rest;
};

/* Source of the method: kernel XDP programs compare `p + 1 > end`, which the verifier tracks. */
#define RF_WHOLE(p, end) ((const void *)((p) + 1) <= (end))

/* The same, also within the packet, of which `left` bytes remain; below 0: nothing remains. */
#define RF_WHOLE_IN(p, end, left) (RF_WHOLE(p, end) && (left) >= (__s32)sizeof(*(p)))

/*
 * Reads port and SYN from the header at `p`, which no later fragment has. A header that is cut off
 * between the ports and the flags, as only a forged fragment is, counts as a SYN: no SYN can evade
 * its limit.
 */
RF_INLINE void rf_packet_read_ports(const void *p, const void *end, __s32 left,
				    struct rf_packet *packet)
{
	const struct rf_port_pair *ports = p;
	const struct rf_tcp *tcp = p;

	if (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP)
		return;
	packet->flags = RF_CLASS_UNKNOWN;
	if (!RF_WHOLE_IN(ports, end, left))
		return;
	packet->dport = RF_BE16(ports->dest);
	packet->flags = RF_HAS_DPORT | RF_UDP_PORT;
	if (packet->protocol != IPPROTO_TCP)
		return;
	packet->flags = RF_HAS_DPORT;
	if (!RF_WHOLE_IN(tcp, end, left))
		packet->flags |= RF_SYN | RF_TCP_CUT;
	else if ((tcp->flags & (RF_TCP_SYN | RF_TCP_ACK)) == RF_TCP_SYN)
		packet->flags |= RF_SYN;
}

/* Of two pointers into the frame, in 64 bits: the verifier takes no other difference of them. */
RF_INLINE __u64 rf_distance(const void *from, const void *to)
{
	__u64 distance = to - from;

	RF_OPAQUE(distance);
	return distance;
}

/*
 * A length from its field. 0 means 65536 or more: a jumbogram, or packets that the kernel merged
 * before a program in generic mode. The receiver discards any other packet with 0.
 */
RF_INLINE __s32 rf_length(__be16 field)
{
	return (__u16)(RF_BE16(field) - 1) + 1;
}

RF_INLINE enum rf_parsed rf_packet_ipv4(const void *p, const void *end, struct rf_packet *packet)
{
	const struct iphdr *ip = p;
	__s32 header_len, left;
	__be16 offset;

	if (!RF_WHOLE(ip, end))
		return RF_PARSED_MALFORMED;
	/* version 4, and a header of 5 words or more, in one comparison */
	if (*(const __u8 *)p < 0x45 || *(const __u8 *)p > 0x4f)
		return RF_PARSED_MALFORMED;
	header_len = ip->ihl * 4;
	packet->version = 4;
	packet->source[0] = ip->saddr;
	packet->protocol = ip->protocol;
	packet->transport = packet->network + header_len;
	left = rf_length(ip->tot_len) - header_len;
	offset = ip->frag_off & RF_BE16(0x1fff);
	if (!offset) /* a later fragment has no layer-4 header */
		rf_packet_read_ports(p + header_len, end, left, packet);
	else if (offset == RF_BE16(1) && ip->protocol == IPPROTO_TCP)
		packet->flags = RF_CLASS_UNKNOWN;
	return RF_PARSED_SOURCE;
}

/*
 * Neighbour discovery and router messages that their receiver may accept: the hop limit is 255,
 * which no router forwards, and there is no fragment header (RFC 4861, RFC 6980). Without these
 * conditions, anyone on the Internet could label floods so, and pass every limit.
 */
RF_INLINE int rf_packet_is_neighbour(const struct ipv6hdr *ip, const void *p, const void *end,
				     __s32 left, int fragmented)
{
	const struct icmp6hdr *icmp = p;

	return ip->hop_limit == 255 && !fragmented && RF_WHOLE_IN(icmp, end, left) &&
	       icmp->icmp6_type >= 133 && icmp->icmp6_type <= 137;
}

/* A bit set, not a chain of comparisons: the verifier would follow each of them 8 headers deep. */
RF_INLINE int rf_is_extension(__u8 protocol)
{
	const __u64 low = 1ULL << IPPROTO_HOPOPTS | 1ULL << IPPROTO_ROUTING |
			  1ULL << IPPROTO_FRAGMENT | 1ULL << IPPROTO_AH | 1ULL << IPPROTO_DSTOPTS;
	const __u64 high = 1ULL << (IPPROTO_MH - 128) | 1ULL << (139 /* HIP */ - 128) |
			   1ULL << (140 /* Shim6 */ - 128);

	return protocol < 64 ? low >> protocol & 1
			     : protocol >> 6 == 2 && high >> (protocol & 63) & 1;
}

/* 1 or 0 without a branch, which the verifier would follow 8 headers deep, too. */
RF_INLINE __u32 rf_is_protocol(__u8 protocol, __u8 wanted)
{
	__u64 equal = protocol ^ wanted;

	RF_OPAQUE(equal);
	equal = (equal - 1) >> 63;
	RF_OPAQUE(equal);
	return equal;
}

/* The fragment state that extension headers show. */
#define RF_FRAGMENTED 1U
#define RF_BEHIND_8 2U /* a later fragment, at offset 8 */

/*
 * Steps over one extension header. Returns the next header; NULL if layer 4 cannot be reached: the
 * header is cut off, or this is a later fragment.
 */
RF_INLINE const void *rf_extension_skip(const void *p, const void *end, __s32 *left, __u8 *protocol,
					__u32 *fragmented)
{
	const struct rf_extension *extension = p;
	__u32 is_fragment = rf_is_protocol(*protocol, IPPROTO_FRAGMENT);
	__u32 is_auth = rf_is_protocol(*protocol, IPPROTO_AH);
	__u32 length;

	if (!RF_WHOLE_IN(extension, end, *left))
		return NULL;
	*protocol = extension->next;
	*fragmented |= is_fragment * RF_FRAGMENTED;
	if (extension->fragment_offset & RF_BE16(0xfff8) & -is_fragment) {
		if ((extension->fragment_offset & RF_BE16(0xfff8)) == RF_BE16(8))
			*fragmented |= RF_BEHIND_8;
		return NULL;
	}
	length = (extension->length & (is_fragment - 1)) << (3 - is_auth);
	RF_OPAQUE(length); /* preserves the mask: the verifier loses the bound in the shift */
	length &= RF_EXTENSION_MASK;
	*left -= 8 + length;
	return p + 8 + length;
}

RF_INLINE enum rf_parsed rf_packet_ipv6(const void *p, const void *end, struct rf_packet *packet)
{
	const struct ipv6hdr *ip = p;
	__u32 fragmented = 0;
	__u8 protocol;
	__s32 left;

	if (!RF_WHOLE(ip, end) || ip->version != 6)
		return RF_PARSED_MALFORMED;
	packet->version = 6;
	for (int i = 0; i < 4; i++)
		packet->source[i] = ip->saddr.s6_addr32[i];
	packet->protocol = RF_PROTOCOL_UNKNOWN;
	packet->flags = RF_CLASS_UNKNOWN;

	protocol = ip->nexthdr;
	p = ip + 1;
	left = rf_length(ip->payload_len);
	for (int i = 0; i < RF_EXTENSIONS_MAX && rf_is_extension(protocol); i++) {
		p = rf_extension_skip(p, end, &left, &protocol, &fragmented);
		if (!p) {
			/* A later fragment has named its protocol; a cut header has not. */
			if (rf_is_extension(protocol))
				return RF_PARSED_SOURCE;
			packet->protocol = protocol;
			if (protocol != IPPROTO_TCP || !(fragmented & RF_BEHIND_8))
				packet->flags = 0;
			return RF_PARSED_SOURCE;
		}
	}
	if (rf_is_extension(protocol))
		return RF_PARSED_SOURCE;
	packet->protocol = protocol;
	packet->flags = 0;
	if (protocol == IPPROTO_ICMPV6 && rf_packet_is_neighbour(ip, p, end, left, fragmented))
		return RF_PARSED_NEIGHBOUR;
	packet->transport = packet->network + sizeof(*ip) + (rf_length(ip->payload_len) - left);
	rf_packet_read_ports(p, end, left, packet);
	return RF_PARSED_SOURCE;
}

RF_INLINE int rf_is_vlan_tag(__be16 ethertype)
{
	return ethertype == RF_BE16(ETH_P_8021Q) || ethertype == RF_BE16(ETH_P_8021AD);
}

/*
 * Steps over the tags at `start`. Returns the position after them; NULL if one is cut off. The
 * result is recomputed from a masked distance: otherwise the verifier would walk the rest once for
 * each number of tags.
 */
RF_INLINE const void *rf_vlan_skip(const void *start, const void *end, __be16 *ethertype)
{
	const void *p = start;

	for (int i = 0; i < RF_VLAN_TAGS_MAX && rf_is_vlan_tag(*ethertype); i++) {
		const struct rf_vlan_tag *tag = p;

		if (!RF_WHOLE(tag, end))
			return NULL;
		*ethertype = tag->ethertype;
		p = tag + 1;
	}
	RF_OPAQUE(p);
	return start + ((p - start) & RF_VLAN_MASK);
}

/*
 * Fast path: most frames are plain IP, with a port and without tags, options or extension headers.
 * True: `packet` is set as rf_packet_parse sets it, in half as many instructions. False: call that,
 * which also knows the length 0.
 */
RF_INLINE int rf_packet_is_plain4(const void *data, const void *end, struct rf_packet *packet)
{
	const struct rf_ethernet *eth = data;
	const struct iphdr *ip = (const void *)(eth + 1);
	const struct rf_port_pair *ports = (const void *)(ip + 1);

	if (!RF_WHOLE(ports, end) || eth->ethertype != RF_BE16(ETH_P_IP) ||
	    *(const __u8 *)ip != 0x45 || ip->frag_off & RF_BE16(0x1fff))
		return 0;
	*packet = (struct rf_packet){
		.source = {ip->saddr},
		.version = 4,
		.protocol = ip->protocol,
		.network = sizeof(*eth),
		.transport = sizeof(*eth) + sizeof(*ip),
	};
	rf_packet_read_ports(ports, end, RF_BE16(ip->tot_len) - (__s32)sizeof(*ip), packet);
	return packet->flags & RF_HAS_DPORT;
}

RF_INLINE int rf_packet_is_plain6(const void *data, const void *end, struct rf_packet *packet)
{
	const struct rf_ethernet *eth = data;
	const struct ipv6hdr *ip = (const void *)(eth + 1);
	const struct rf_port_pair *ports = (const void *)(ip + 1);

	if (!RF_WHOLE(ports, end) || eth->ethertype != RF_BE16(ETH_P_IPV6) || ip->version != 6)
		return 0;
	*packet = (struct rf_packet){
		.version = 6,
		.protocol = ip->nexthdr,
		.network = sizeof(*eth),
		.transport = sizeof(*eth) + sizeof(*ip),
	};
	for (int i = 0; i < 4; i++)
		packet->source[i] = ip->saddr.s6_addr32[i];
	rf_packet_read_ports(ports, end, RF_BE16(ip->payload_len), packet);
	return packet->flags & RF_HAS_DPORT;
}

/*
 * Sets `packet` for a frame that has a source to charge. For any other, `packet` is undefined.
 */
RF_INLINE enum rf_parsed rf_packet_parse(const void *data, const void *end,
					 struct rf_packet *packet)
{
	const struct rf_ethernet *eth = data;
	const void *p = eth + 1;
	__be16 ethertype;

	*packet = (struct rf_packet){};
	if (!RF_WHOLE(eth, end))
		return RF_PARSED_MALFORMED;
	ethertype = eth->ethertype;
	if (rf_is_vlan_tag(ethertype)) {
		p = rf_vlan_skip(p, end, &ethertype);
		if (!p)
			return RF_PARSED_MALFORMED;
		if (rf_is_vlan_tag(ethertype))
			return RF_PARSED_DEEP_VLAN;
	}
	packet->network = rf_distance(data, p);
	if (ethertype == RF_BE16(ETH_P_IP))
		return rf_packet_ipv4(p, end, packet);
	if (ethertype == RF_BE16(ETH_P_IPV6))
		return rf_packet_ipv6(p, end, packet);
	return RF_PARSED_NON_IP;
}

/*
 * By the masks above, no header starts farther from the start of a frame, and none is read farther.
 * These bounds therefore hold for the verifier as well.
 */
#define RF_HEADER_AT_MAX                                                      \
	(sizeof(struct rf_ethernet) + RF_VLAN_MASK + sizeof(struct ipv6hdr) + \
	 RF_EXTENSIONS_MAX * (8 + RF_EXTENSION_MASK))
#define RF_HEADERS_MAX (RF_HEADER_AT_MAX + sizeof(struct ipv6hdr))

/*
 * The parser saw only the first `length` bytes of a frame: could the others change its result?
 * False for most frames, and never for a frame that they would change.
 */
RF_INLINE int rf_packet_reaches(enum rf_parsed parsed, const struct rf_packet *packet, __u64 length)
{
	if (parsed != RF_PARSED_SOURCE)
		return parsed == RF_PARSED_MALFORMED;
	return packet->flags & (RF_CLASS_UNKNOWN | RF_TCP_CUT) ||
	       packet->transport + sizeof(struct icmp6hdr) > length;
}

/* ---- the shape of a packet: read only if a limit matches it ---- */

/* A header that the parser has found. The mask stays within bounds that the verifier tracks. */
RF_INLINE const void *rf_header_at(const void *data, __u64 offset)
{
	RF_OPAQUE(offset);
	return data + (offset & 0x7fff);
}

/* Where a packet's headers are. */
struct rf_headers {
	const void *network;
	const struct rf_port_pair *ports; /* only with RF_HAS_DPORT */
};

/*
 * Returns 1 for every packet in which the parser found a source: it has checked these headers. The
 * check is repeated for the verifier.
 */
RF_INLINE int rf_packet_headers(const void *data, const void *end, const struct rf_packet *packet,
				int version, struct rf_headers *headers)
{
	const __u32 size = version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);

	headers->network = headers->ports = rf_header_at(data, packet->network);
	if (packet->flags & RF_HAS_DPORT)
		headers->ports = rf_header_at(data, packet->transport);
	RF_OPAQUE(headers->network); /* as they are compared, they are read */
	RF_OPAQUE(headers->ports);
	return headers->network + size <= end && RF_WHOLE(headers->ports, end);
}

/*
 * The same of a plain frame, which has ports: one comparison proves both headers to the verifier.
 */
RF_INLINE int rf_packet_plain_headers(const void *data, const void *end, int version,
				      struct rf_headers *headers)
{
	headers->network = data + sizeof(struct rf_ethernet);
	headers->ports =
		headers->network + (version == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	return RF_WHOLE(headers->ports, end);
}

RF_INLINE __u32 rf_headers_sport(const struct rf_headers *headers)
{
	return RF_BE16(headers->ports->source);
}

/* The flags of TCP; RF_TCP_FLAGS_CUT: none to read. */
RF_INLINE __u32 rf_headers_tcp_flags(const struct rf_headers *headers, const void *end,
				     const struct rf_packet *packet)
{
	const struct rf_tcp *tcp = (const void *)headers->ports;

	if (packet->flags & RF_TCP_CUT || !RF_WHOLE(tcp, end))
		return RF_TCP_FLAGS_CUT;
	return tcp->flags;
}

/* The destination, as rf_to4 and rf_to6 have addresses. */
RF_INLINE __be32 rf_headers_dest4(const struct rf_headers *headers)
{
	const struct iphdr *ip = headers->network;

	return ip->daddr;
}

RF_INLINE void rf_headers_dest6(const struct rf_headers *headers, __u64 dest[2])
{
	const struct ipv6hdr *ip = headers->network;

	for (int i = 0; i < 2; i++)
		dest[i] = ip->daddr.s6_addr32[2 * i] | (__u64)ip->daddr.s6_addr32[2 * i + 1] << 32;
}

#endif /* RINGFENCE_PACKET_H */
