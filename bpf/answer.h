/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Responses to newcomers, which the rules call answers: a SYN-ACK with a SYN cookie, or a DNS
 * response with TC set. The frame keeps its length, and a shorter IP packet is followed by padding,
 * so no response is longer than the received packet. The number of responses is limited in total
 * and per prefix.
 *
 * Headers are copied out of the frame and changed in the copy. The frame itself is changed last,
 * after the packet was sampled. No helper here changes the length of the frame: since Linux 6.13, a
 * program in a chain may use such helpers only if the dispatcher declares it.
 */
#ifndef RINGFENCE_ANSWER_H
#define RINGFENCE_ANSWER_H

#include <linux/if_ether.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "ringfence/answers.h"
#include "ringfence/dns.h"
#include "ringfence/packet.h"
#include "take.h"

#define TCP_HEADER_MAX 60
#define ANSWERS_BATCH 64    /* that a CPU takes at a time, of a limit */
#define ANSWERS_MANY 100000 /* of more than this; else one at a time */
#define ANSWER_TTL 64
#define ANSWER_TCP_WINDOW 64240
#define ANSWER_MSS4 1460
#define ANSWER_MSS6 1440

/* Either header ends where layer 4 starts, and one call copies it together with layer 4. */
union ip_header {
	struct ipv6hdr v6;
	struct {
		__u8 before_v4[sizeof(struct ipv6hdr) - sizeof(struct iphdr)];
		struct iphdr v4;
	};
};

/* Layer 4 of the received packet, later of the response. The checksum reads multiples of 4 bytes.
 */
union layer4 {
	__u8 byte[sizeof(struct udphdr) + RF_DNS_BUFFER];
	struct {
		struct tcphdr tcp;
		__u8 options[TCP_HEADER_MAX - sizeof(struct tcphdr)];
	};
	struct {
		struct udphdr udp;
		__u8 dns[RF_DNS_BUFFER];
	};
};

/*
 * The packet that this CPU examines, and the responses that it may still send: it has charged them
 * to the limit in the cell `answers_epoch`. In a map to save stack.
 */
struct examination {
	__u8 mac[2 * ETH_ALEN]; /* destination and source */
	__u16 network;		/* offset in the frame */
	__u16 length;		/* of layer 4 in the frame */
	__u8 is_ipv6;
	__u8 protocol;
	union ip_header ip;
	union layer4 layer4;
	union {
		struct bpf_sock_tuple tuple;
		struct bpf_fib_lookup fib;
	};
	struct rf_ask ask;
	__u64 answers_generation;
	__u32 answers_epoch;
	__u32 answers_left;
};

_Static_assert(offsetof(struct examination, layer4) ==
		       offsetof(struct examination, ip) + sizeof(union ip_header),
	       "layer 4 follows the IP header");

/* Writer and reader: the program, each CPU its own. Not pinned: it holds nothing that lasts. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct examination);
} examinations SEC(".maps");

static __always_inline struct examination *find_examination(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&examinations, &first);
}

static __always_inline __u32 ip_size(const struct examination *its)
{
	return its->is_ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
}

/* The IP header, which layer 4 follows. */
static __always_inline void *ip_of(struct examination *its)
{
	return its->is_ipv6 ? (void *)&its->ip.v6 : (void *)&its->ip.v4;
}

/* ---- how many ---- */

/* Is this prefix below its limit in the present period? */
static __always_inline int may_answer_prefix(const struct question *question, int is_ipv6)
{
	const __u64 mask = is_ipv6 ? RF_AGGREGATE_MASK6 : RF_AGGREGATE_MASK4;
	const __u64 source[2] = {question->source[0] & mask, 0};
	const __u64 hash = rf_known_filter_hash(source, is_ipv6, config.lease_key);
	__u32 place = hash >> (64 - RF_ANSWER_PLACES_LOG);
	__u64 *word = bpf_map_lookup_elem(&answers, &place);

	return word &&
	       rf_answers_take(word, tick_of(question->jiffies) >> 1, RF_ANSWERS_PER_PREFIX);
}

/*
 * Is the total below its limit? A CPU charges several responses at a time, and sends them within
 * the cell in which they were charged, so the bound of the limit holds.
 */
static __always_inline int may_answer_at_all(struct examination *its,
					     const struct question *question)
{
	const struct rf_newcomers *newcomers = &bank_of(question)->newcomers;
	const struct rf_policy *policy = &newcomers->answers_policy;
	const __u64 generation = rf_rules_generation(question->who.rules);
	__u32 epoch;

	its->ask = (struct rf_ask){.jiffies = question->jiffies, .tick_ns = config.tick_ns};
	its->ask.time = read_clock(policy, question->jiffies);
	epoch = rf_epoch(policy, its->ask.time);
	if (its->answers_left && its->answers_epoch == epoch &&
	    its->answers_generation == generation) {
		its->answers_left--;
		return 1;
	}
	its->ask.cost = policy->limit > ANSWERS_MANY ? ANSWERS_BATCH : 1;
	its->answers_left = 0;
	if (take_any(&config.guard[newcomers->guard & 1].answers, policy, &its->ask) != RF_UNDER)
		return 0;
	its->answers_epoch = epoch;
	its->answers_generation = generation;
	its->answers_left = its->ask.cost - 1;
	return 1;
}

/* Checks the prefix first: a flood from one prefix then does not use up the total. */
__noinline int may_answer(const struct question *question)
{
	struct examination *its = find_examination();

	return question && its && may_answer_prefix(question, its->is_ipv6) &&
	       may_answer_at_all(its, question);
}

/* ---- checksums ---- */

static __always_inline __sum16 fold(__u64 sum)
{
	RF_UNROLL
	for (int i = 0; i < 4; i++)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

typedef __u32 __attribute__((may_alias)) word;

/* The sum of words of a header; both numbers are constants. The helper takes longer for so few. */
static __always_inline __u64 sum_of(const void *header, int first, int end)
{
	const word *words = header;
	__u64 sum = 0;

	RF_UNROLL
	for (int i = first; i < end; i++)
		sum += words[i];
	return sum;
}

/* The sum of the pseudo header for `length` bytes of layer 4. */
static __always_inline __u64 sum_of_pseudo_header(const struct examination *its, __u32 length)
{
	return (__u64)RF_BE16(length) + RF_BE16(its->protocol) +
	       (its->is_ipv6 ? sum_of(&its->ip.v6, 2, 10) : sum_of(&its->ip.v4, 3, 5));
}

/* The checksum of a UDP datagram, whose field is 0; `length` is at most 512. */
static __always_inline __sum16 checksum_of_datagram(struct examination *its, __u32 length)
{
	/* Clears the rest of the last word. */
	__u64 padded = (length + 3) & ~3U;

	RF_OPAQUE(length);
	if (length < 512)
		its->layer4.byte[length & 511] = 0;
	if (length + 1 < 512)
		its->layer4.byte[(length + 1) & 511] = 0;
	if (length + 2 < 512)
		its->layer4.byte[(length + 2) & 511] = 0;
	RF_OPAQUE(padded);
	if (padded > 512)
		return 0; /* cannot happen; for the verifier */
	return fold(sum_of_pseudo_header(its, length) +
		    (__u32)bpf_csum_diff(NULL, 0, (__be32 *)its->layer4.byte, padded, 0));
}

/* ---- headers ---- */

/* Swaps the addresses. `length` is the length of layer 4, in bytes. */
static __always_inline void answer_ip(struct examination *its, __u32 length)
{
	if (its->is_ipv6) {
		struct ipv6hdr *ip = &its->ip.v6;
		const struct in6_addr source = ip->saddr;

		*(__be32 *)ip = RF_BE32(0x60000000);
		ip->payload_len = RF_BE16(length);
		ip->hop_limit = ANSWER_TTL;
		ip->saddr = ip->daddr;
		ip->daddr = source;
	} else {
		struct iphdr *ip = &its->ip.v4;
		const __be32 source = ip->saddr;

		ip->tos = 0;
		ip->tot_len = RF_BE16(sizeof(*ip) + length);
		ip->id = 0;
		ip->frag_off = RF_BE16(0x4000);
		ip->ttl = ANSWER_TTL;
		ip->saddr = ip->daddr;
		ip->daddr = source;
		ip->check = 0;
		ip->check = fold(sum_of(ip, 0, sizeof(*ip) / 4));
	}
}

/*
 * The SYN-ACK: `cookie` is the result of bpf_tcp_gen_syncookie. `most`: the largest segment that
 * the interface receives; 0: not known.
 */
__noinline int answer_syn(__u64 cookie, __u32 most)
{
	struct examination *its = find_examination();
	struct tcphdr *tcp;
	__u32 mss = cookie >> 32 & 0xffff, length;
	__u64 sum = 0;
	__be16 port;

	if (!its)
		return 0;
	tcp = &its->layer4.tcp;
	length = tcp->doff * 4;
	if (length < sizeof(*tcp))
		return 0; /* cannot happen: the kernel has checked it */
	if (mss > (its->is_ipv6 ? ANSWER_MSS6 : ANSWER_MSS4))
		mss = its->is_ipv6 ? ANSWER_MSS6 : ANSWER_MSS4;
	if (most && mss > most)
		mss = most;
	port = tcp->source;
	tcp->source = tcp->dest;
	tcp->dest = port;
	tcp->ack_seq = RF_BE32(RF_BE32(tcp->seq) + 1);
	tcp->seq = RF_BE32((__u32)cookie);
	/* Also clears the flags of accurate ECN, which an echo would accept. */
	((__u8 *)tcp)[12] &= 0xf0;
	((__u8 *)tcp)[13] = RF_TCP_SYN | RF_TCP_ACK;
	tcp->window = RF_BE16(ANSWER_TCP_WINDOW);
	tcp->urg_ptr = 0;
	if (length > sizeof(*tcp)) {
		__builtin_memset(its->layer4.options, 0, sizeof(its->layer4.options));
		sum = RF_BE32(0x02040000 | mss);
		*(word *)its->layer4.options = sum;
	}
	answer_ip(its, length);
	tcp->check = 0;
	tcp->check =
		fold(sum + sum_of(tcp, 0, sizeof(*tcp) / 4) + sum_of_pseudo_header(its, length));
	its->length = length;
	return 1;
}

/*
 * Replaces a query of `length` bytes of layer 4 by the DNS message of the response. Returns the
 * length of layer 4 of the response; 0: it is no query.
 */
__noinline __u32 truncate_query(__u32 length)
{
	struct examination *its = find_examination();
	__u32 left;

	if (!its || length < sizeof(struct udphdr))
		return 0;
	left = rf_dns_truncate(its->layer4.dns, length - sizeof(struct udphdr));
	return left && left <= RF_DNS_QUERY_MAX ? left + sizeof(struct udphdr) : 0;
}

/* Sets the headers of a DNS response with `left` bytes of layer 4. */
__noinline int answer_query(__u32 left)
{
	struct examination *its = find_examination();
	__be16 port;
	__sum16 check;

	if (!its || left > sizeof(struct udphdr) + RF_DNS_QUERY_MAX)
		return 0;
	port = its->layer4.udp.source;
	its->layer4.udp.source = its->layer4.udp.dest;
	its->layer4.udp.dest = port;
	its->layer4.udp.len = RF_BE16(left);
	answer_ip(its, left);
	its->layer4.udp.check = 0;
	check = checksum_of_datagram(its, left);
	its->layer4.udp.check = check ? check : 0xffff;
	its->length = left;
	return 1;
}

/* ---- the frame ---- */

/* Stores the response in the frame. Returns the verdict. */
__noinline int send_answer(struct xdp_md *ctx)
{
	struct examination *its = find_examination();
	__u64 last;
	__u8 mac[2 * ETH_ALEN];

	if (!its)
		return XDP_DROP;
	__builtin_memcpy(mac, its->mac + ETH_ALEN, ETH_ALEN);
	__builtin_memcpy(mac + ETH_ALEN, its->mac, ETH_ALEN);
	last = ip_size(its) + its->length - 1ULL;
	RF_OPAQUE(last);
	if (last >= sizeof(its->ip) + sizeof(its->layer4))
		return XDP_DROP;
	RF_OPAQUE(last);
	if (bpf_xdp_store_bytes(ctx, 0, mac, sizeof(mac)) ||
	    bpf_xdp_store_bytes(ctx, its->network, ip_of(its), last + 1))
		return XDP_DROP;
	return XDP_TX;
}

#endif /* RINGFENCE_ANSWER_H */
