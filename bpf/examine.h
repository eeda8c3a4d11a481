/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Examines a packet of a newcomer over the newcomers rate. It is not simply dropped if
 *
 *   RF_ESTABLISHED  it belongs to a TCP connection of this host, including half-open and closing
 *                   connections
 *   RF_PROVEN       it has a valid SYN cookie, so its source has received a SYN-ACK
 *   RF_CHALLENGED   it is a SYN or a DNS query for this host, and gets a response (answer.h)
 *
 * Sockets are looked up in the network namespace of the interface. Only packets to local addresses
 * get a response: a listener on a wildcard address also matches packets that are only forwarded.
 */
#ifndef RINGFENCE_EXAMINE_H
#define RINGFENCE_EXAMINE_H

#include "answer.h"
#include "parsed.h"

#define TCP_FLAG_FIN 0x01
#define TCP_FLAG_RST 0x04

#define FRAGMENT_MASK 0x3fff /* of iphdr.frag_off: more fragments, or an offset */

/* Of bpf_fib_lookup; UAPI headers do not define them. */
#define AF_INET 2
#define AF_INET6 10

/* Can these be addresses of hosts on a link: neither of groups, nor loopback or unspecified? */
static __always_inline int is_host4(__be32 address)
{
	const __u8 first = *(const __u8 *)&address;

	return first && first != 127 && first < 224;
}

static __always_inline int is_host6(const struct in6_addr *address)
{
	return address->s6_addr[0] != 0xff && address->s6_addr32[0];
}

/*
 * Is the packet from one host to one host? Otherwise it is forged or a broadcast, and a response
 * would reach many hosts or none. The kernel drops such packets, but only after the driver.
 */
static __always_inline int is_between_hosts(const struct examination *its)
{
	if ((its->mac[0] | its->mac[ETH_ALEN]) & 1)
		return 0;
	return its->is_ipv6 ? is_host6(&its->ip.v6.saddr) && is_host6(&its->ip.v6.daddr)
			    : is_host4(its->ip.v4.saddr) && is_host4(its->ip.v4.daddr);
}

/*
 * Copies `size` bytes, a constant multiple of 4, from the frame. Bytes in the linear part are read
 * directly: the helper takes longer.
 */
static __always_inline int copy_words(struct xdp_md *ctx, __u64 from, void *to, int size)
{
	const __u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	RF_OPAQUE(from);
	if (from > RF_HEADER_AT_MAX)
		return 0; /* cannot happen; for the verifier */
	data += from;
	if (data + size > end)
		return !bpf_xdp_load_bytes(ctx, from, to, size);
	RF_UNROLL
	for (int i = 0; i < size / 4; i++)
		((word *)to)[i] = ((const word *)data)[i];
	return 1;
}

/* Copies the IP header and a TCP or UDP header of `size` bytes; each copy has a constant size. */
static __always_inline int copy_headers(struct xdp_md *ctx, struct examination *its, __u32 size)
{
	const __u32 tcp = sizeof(struct tcphdr), udp = sizeof(struct udphdr);
	union ip_header *ip = &its->ip;

	if (its->is_ipv6)
		return size == tcp ? copy_words(ctx, its->network, &ip->v6, sizeof(ip->v6) + tcp)
				   : copy_words(ctx, its->network, &ip->v6, sizeof(ip->v6) + udp);
	return size == tcp ? copy_words(ctx, its->network, &ip->v4, sizeof(ip->v4) + tcp)
			   : copy_words(ctx, its->network, &ip->v4, sizeof(ip->v4) + udp);
}

/*
 * Copies the headers, of TCP without options. False: the packet is not examined, because of its
 * kind or because they are not complete.
 */
static __always_inline int read_headers(struct xdp_md *ctx, struct examination *its,
					const struct rf_packet *packet)
{
	const __u32 size =
		packet->protocol == IPPROTO_TCP ? sizeof(struct tcphdr) : sizeof(struct udphdr);

	its->network = packet->network;
	its->is_ipv6 = packet->version == 6;
	its->protocol = packet->protocol;
	if (!(packet->flags & RF_HAS_DPORT) || packet->flags & (RF_CLASS_UNKNOWN | RF_TCP_CUT) ||
	    packet->transport - packet->network != ip_size(its) ||
	    !copy_words(ctx, 0, its->mac, sizeof(its->mac)) || !copy_headers(ctx, its, size))
		return 0;
	if (its->is_ipv6)
		its->length = RF_BE16(its->ip.v6.payload_len);
	else if (its->ip.v4.frag_off & RF_BE16(FRAGMENT_MASK))
		return 0;
	else
		its->length = RF_BE16(its->ip.v4.tot_len) - sizeof(struct iphdr);
	return its->length >= size && is_between_hosts(its);
}

/* Copies the first `size` bytes of layer 4; false: the packet does not have as many. */
static __always_inline int read_layer4(struct xdp_md *ctx, struct examination *its, __u32 size)
{
	__u64 last = size - 1ULL;

	RF_OPAQUE(last);
	if (last >= sizeof(its->layer4) || size > its->length)
		return 0;
	RF_OPAQUE(last);
	return !bpf_xdp_load_bytes(ctx, its->network + ip_size(its), its->layer4.byte, last + 1);
}

/* Sets the connection or socket to look up. Returns the size of its tuple. */
static __always_inline __u32 set_tuple(struct examination *its)
{
	const __be16 sport = its->layer4.udp.source, dport = its->layer4.udp.dest;

	if (its->is_ipv6) {
		__builtin_memcpy(its->tuple.ipv6.saddr, &its->ip.v6.saddr, 16);
		__builtin_memcpy(its->tuple.ipv6.daddr, &its->ip.v6.daddr, 16);
		its->tuple.ipv6.sport = sport;
		its->tuple.ipv6.dport = dport;
		return sizeof(its->tuple.ipv6);
	}
	its->tuple.ipv4.saddr = its->ip.v4.saddr;
	its->tuple.ipv4.daddr = its->ip.v4.daddr;
	its->tuple.ipv4.sport = sport;
	its->tuple.ipv4.dport = dport;
	return sizeof(its->tuple.ipv4);
}

/* Is the frame's destination an Ethernet address of this host? */
static __always_inline int is_own_mac(const struct examination *its)
{
	const __u32 macs = config.own_macs;
	__u64 mac = 0;

	__builtin_memcpy(&mac, its->mac, ETH_ALEN);
	for (__u32 i = 0; i < RF_OWN_MACS_MAX && i < macs; i++)
		if (config.own_mac[i] == mac)
			return 1;
	return 0;
}

/*
 * Is the packet for this host? Its Ethernet address must be: a bridge or a macvlan on the
 * interface, or a switch that does not know the port of an address, delivers frames for others. If
 * the interface forwards packets, the route must be local as well; otherwise the kernel looks up
 * none.
 */
__noinline int is_for_host(struct xdp_md *ctx)
{
	struct examination *its = find_examination();
	long found;

	if (!its || !is_own_mac(its))
		return 0;
	its->fib = (struct bpf_fib_lookup){.ifindex = ctx->ingress_ifindex};
	its->fib.l4_protocol = its->protocol;
	its->fib.sport = its->layer4.udp.source;
	its->fib.dport = its->layer4.udp.dest;
	if (its->is_ipv6) {
		its->fib.family = AF_INET6;
		__builtin_memcpy(its->fib.ipv6_src, &its->ip.v6.saddr, 16);
		__builtin_memcpy(its->fib.ipv6_dst, &its->ip.v6.daddr, 16);
	} else {
		its->fib.family = AF_INET;
		its->fib.ipv4_src = its->ip.v4.saddr;
		its->fib.ipv4_dst = its->ip.v4.daddr;
	}
	found = bpf_fib_lookup(ctx, &its->fib, sizeof(its->fib), 0);
	return found == BPF_FIB_LKUP_RET_NOT_FWDED || found == BPF_FIB_LKUP_RET_FWD_DISABLED;
}

/* ---- TCP ---- */

/*
 * Generates a cookie for the SYN: the listener's only if the kernel accepts cookies at any time,
 * tcp_syncookies=2. Negative: none.
 */
static __always_inline __s64 make_cookie(struct examination *its, struct bpf_sock *listener)
{
	__u64 last = its->layer4.tcp.doff * 4 - 1ULL;

	RF_OPAQUE(last);
	if (last >= TCP_HEADER_MAX)
		return -1;
	RF_OPAQUE(last);
	return bpf_tcp_gen_syncookie(listener, ip_of(its), ip_size(its), &its->layer4.tcp,
				     last + 1);
}

static __always_inline int has_cookie(struct examination *its, struct bpf_sock *listener)
{
	return !bpf_tcp_check_syncookie(listener, ip_of(its), ip_size(its), &its->layer4.tcp,
					sizeof(its->layer4.tcp));
}

/* The largest segment that a client can send to this interface in one packet. */
static __always_inline __u32 most_mss(struct xdp_md *ctx, int is_ipv6)
{
	const __u32 headers = is_ipv6 ? sizeof(struct ipv6hdr) + sizeof(struct tcphdr)
				      : sizeof(struct iphdr) + sizeof(struct tcphdr);
	__u32 mtu = 0;

	bpf_check_mtu(ctx, 0, &mtu, 0, 0);
	return mtu > headers ? mtu - headers : 0;
}

/* The listener's view of a packet. */
static __always_inline int challenge_tcp(struct xdp_md *ctx, struct examination *its,
					 const struct question *question, struct bpf_sock *listener)
{
	const __u32 size = its->layer4.tcp.doff * 4;
	const __u8 flags =
		its->layer4.byte[13] & (RF_TCP_SYN | RF_TCP_ACK | TCP_FLAG_RST | TCP_FLAG_FIN);
	__s64 cookie;

	if ((flags & ~TCP_FLAG_FIN) == RF_TCP_ACK)
		return has_cookie(its, listener) ? RF_PROVEN : RF_NEWCOMER_DROP;
	if (flags != RF_TCP_SYN || size < sizeof(struct tcphdr) ||
	    (size > sizeof(struct tcphdr) && !read_layer4(ctx, its, size)) || !is_for_host(ctx) ||
	    !may_answer(question))
		return RF_NEWCOMER_DROP;
	cookie = make_cookie(its, listener);
	return cookie >= 0 && answer_syn(cookie, most_mss(ctx, its->is_ipv6)) ? RF_CHALLENGED
									      : RF_NEWCOMER_DROP;
}

__noinline int examine_tcp(struct xdp_md *ctx, const struct question *question)
{
	struct examination *its = find_examination();
	int found = RF_NEWCOMER_DROP;
	struct bpf_sock *sock;

	if (!its || !question)
		return found;
	sock = bpf_skc_lookup_tcp(ctx, &its->tuple, set_tuple(its), BPF_F_CURRENT_NETNS, 0);
	if (!sock)
		return found;
	if (sock->state != BPF_TCP_LISTEN)
		found = RF_ESTABLISHED;
	else if (bank_of(question)->newcomers.then == RF_NEWCOMERS_CHALLENGE)
		found = challenge_tcp(ctx, its, question, sock);
	bpf_sk_release(sock);
	return found;
}

/* ---- DNS ---- */

/* Do the rules challenge newcomers that send queries to this port? */
static __always_inline int is_dns_port(const struct question *question, __u16 port)
{
	const struct rf_newcomers *newcomers = &bank_of(question)->newcomers;

	if (newcomers->then != RF_NEWCOMERS_CHALLENGE)
		return 0;
	for (int i = 0; i < RF_DNS_PORTS_MAX && i < newcomers->dns_ports; i++)
		if (newcomers->dns_port[i] == port)
			return 1;
	return 0;
}

/* Has this host a socket there? */
static __always_inline int has_udp_socket(struct xdp_md *ctx, struct examination *its)
{
	struct bpf_sock *sock =
		bpf_sk_lookup_udp(ctx, &its->tuple, set_tuple(its), BPF_F_CURRENT_NETNS, 0);

	if (!sock)
		return 0;
	bpf_sk_release(sock);
	return 1;
}

/*
 * Makes the response to a DNS query for this host, after read_headers. False: it is no such query,
 * or no more responses are allowed.
 */
__noinline int answer_dns(struct xdp_md *ctx, const struct question *question)
{
	struct examination *its = find_examination();
	__u32 length;

	if (!its || !question)
		return 0;
	length = RF_BE16(its->layer4.udp.len);
	if (length > sizeof(struct udphdr) + RF_DNS_QUERY_MAX || !read_layer4(ctx, its, length) ||
	    !has_udp_socket(ctx, its) || !is_for_host(ctx))
		return 0;
	length = truncate_query(length);
	return length && may_answer(question) && answer_query(length);
}

/* The reason for the packet in parsed_frame: one of those above, or RF_NEWCOMER_DROP. */
__noinline int examine(struct xdp_md *ctx, const struct question *question)
{
	struct examination *its = find_examination();
	const struct parsed *parsed = find_parsed();

	if (!its || !parsed || !question || !read_headers(ctx, its, &parsed->packet))
		return RF_NEWCOMER_DROP;
	if (its->protocol == IPPROTO_TCP)
		return examine_tcp(ctx, question);
	if (its->protocol == IPPROTO_UDP && is_dns_port(question, parsed->packet.dport) &&
	    answer_dns(ctx, question))
		return RF_CHALLENGED;
	return RF_NEWCOMER_DROP;
}

#endif /* RINGFENCE_EXAMINE_H */
