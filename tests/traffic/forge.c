/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `forge`: sends frames that the kernel behind the XDP program would accept, from random sources of
 * a flow, as fast as the CPUs can or at its rate: SYNs with an MSS (proto=syn), ACKs with a cookie
 * that is wrong (tcp), or DNS queries for www.example A with an OPT (udp). Prints "sent FRAMES
 * BYTES", where BYTES is the length of a frame. All
 * CPUs together send count= frames.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "traffic.h"

#include "build/tests/forge.skel.h"

#define DONE_POLL_NS 2000000ull
#define FRAMES_A_CALL 4194304 /* about a second: a flood without pauses */

struct forger {
	const char *dev;
	struct ether_addr *to;
	uint64_t for_ns;
	struct flow flow;
	struct frame frame;
	struct forge_bpf *object;
	struct repeat repeat;
};

static const uint8_t syn_options[] = {2, 4, 1460 >> 8, 1460 & 255};
static const uint8_t query[] = {
	0, 0,	1,   0,	  0,  1,	 0,	     0,	  0,   0,   0,	 1, /* one question, and an
									       OPT */
	3, 'w', 'w', 'w', 7,  'e',	 'x',	     'a', 'm', 'p', 'l', 'e', 0, 0, 1,
	0, 1,	0,   0,	  41, 1232 >> 8, 1232 & 255, 0,	  0,   0,   0,	 0,   0, /* OPT: up to 1232
										    bytes */
};

static uint32_t sum_words(const uint8_t *bytes, size_t from, size_t to)
{
	uint32_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += (i - from) % 2 ? bytes[i] : bytes[i] << 8;
	return sum;
}

static size_t l4_at(const struct flow *flow)
{
	return sizeof(struct ether_header) +
	       (flow->src.family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ip6_hdr));
}

static void append(struct frame *frame, const void *bytes, size_t len)
{
	memcpy(frame->bytes + frame->used, bytes, len);
	frame->used += len;
}

/* Headers and data, with a source whose varying part is zero. */
static void build_frame(struct forger *forger)
{
	struct flow flow = forger->flow;
	const bool is_udp = flow.proto == PROTO_UDP;
	const size_t header = is_udp ? sizeof(struct udphdr) : sizeof(struct tcphdr);
	struct frame *frame = &forger->frame;

	memset(flow.src.bytes, 0, flow.src.family == AF_INET ? 4 : 8);
	flow.sport = 0;
	flow.len_bytes = l4_at(&flow) + header;
	if (is_udp)
		flow.len_bytes += sizeof(query);
	else if (flow.proto == PROTO_SYN)
		flow.len_bytes += sizeof(syn_options);
	frame_build(frame, &flow);
	frame->used = l4_at(&flow) + header; /* without the stamp */
	if (is_udp)
		append(frame, query, sizeof(query));
	else if (flow.proto == PROTO_SYN)
		append(frame, syn_options, sizeof(syn_options));
	if (flow.proto == PROTO_SYN)
		frame->bytes[l4_at(&flow) + 12] = (header + sizeof(syn_options)) / 4 << 4;
	memcpy(frame->bytes, forger->to, ETH_ALEN);
}

static void describe_checksums(const struct forger *forger, struct forge *forge)
{
	const uint8_t *bytes = forger->frame.bytes;
	const size_t at = l4_at(&forger->flow), ip_at = sizeof(struct ether_header);
	const bool is_udp = forger->flow.proto == PROTO_UDP;

	forge->sport_at = at;
	forge->check_at = at + (is_udp ? 6 : 16);
	forge->vary_at = at + (is_udp ? sizeof(struct udphdr) : 4);
	forge->l4_sum = sum_words(bytes, at, forger->frame.used) + (forger->frame.used - at) +
			(is_udp ? IPPROTO_UDP : IPPROTO_TCP);
	forge->l4_sum -= sum_words(bytes, forge->vary_at, forge->vary_at + 2);
	if (forge->is_ipv6) {
		forge->l4_sum += sum_words(bytes, ip_at + 8, at); /* both addresses */
		return;
	}
	forge->l4_sum += sum_words(bytes, ip_at + 12, at);
	forge->ip_sum = sum_words(bytes, ip_at, at) - sum_words(bytes, ip_at + 10, ip_at + 12);
}

static void load_program(struct forger *forger)
{
	struct forge_bpf *object = forge_bpf__open();
	const struct flow *flow = &forger->flow;
	const uint64_t cpus = forger->repeat.cpus_n;
	struct forge *forge;
	int err;

	if (!object)
		die(1, "%s: cannot open the program: %s", forger->dev, strerror(errno));
	forger->object = object;
	forge = &object->rodata->forge;
	forge->to = if_nametoindex(forger->dev);
	if (!forge->to)
		die(1, "%s: cannot find interface: no such device", forger->dev);
	memcpy(forge->frame, forger->frame.bytes, forger->frame.used);
	forge->is_ipv6 = flow->src.family == AF_INET6;
	forge->first = address_number(&flow->src);
	forge->sources = flow->sources;
	forge->gap_ns = flow->rate_pps ? cpus * NS_PER_SEC / flow->rate_pps : 0;
	forge->count = flow->count ? flow->count / cpus : UINT64_MAX;
	forge->seed = now_ns();
	describe_checksums(forger, forge);
	object->rodata->frame_bytes = forger->frame.used;
	err = forge_bpf__load(object);
	if (err)
		die(1, "%s: cannot load the program: %s", forger->dev, strerror(-err));
}

static uint64_t count_sent(const struct forger *forger)
{
	int cpus = libbpf_num_possible_cpus();
	struct forge_state *states = allocate(NULL, cpus > 0 ? cpus : 1, sizeof(*states));
	uint64_t sent = 0;
	uint32_t key = 0;

	if (cpus < 0 || bpf_map_lookup_elem(bpf_map__fd(forger->object->maps.states), &key, states))
		die(1, "%s: cannot count what was sent: %s", forger->dev, strerror(errno));
	for (int i = 0; i < cpus; i++)
		sent += states[i].sent;
	free(states);
	return sent;
}

/* Until the time has elapsed, the count was sent, or a signal. */
static void forge_frames(struct forger *forger)
{
	const uint64_t end = now_ns() + forger->for_ns, count = forger->flow.count;

	forger->repeat.program = bpf_program__fd(forger->object->progs.send_forged);
	forger->repeat.frame = forger->frame.bytes;
	forger->repeat.frame_bytes = forger->frame.used;
	forger->repeat.frames_a_call = FRAMES_A_CALL;
	if (count && !forger->flow.rate_pps)
		forger->repeat.frames_a_call = count / forger->repeat.cpus_n;
	repeat_start(&forger->repeat);
	if (!count)
		signal_until(end);
	while (count && count_sent(forger) < count && now_ns() < end &&
	       !signal_until(now_ns() + DONE_POLL_NS))
		;
	repeat_stop(&forger->repeat);
}

static void set_option(struct forger *forger, const char *key, char *value)
{
	if (!strcmp(key, "dev"))
		forger->dev = value;
	else if (!strcmp(key, "for"))
		forger->for_ns = parse_time(key, value);
	else if (!strcmp(key, "flow"))
		flow_parse(&forger->flow, 0, value);
	else if (!strcmp(key, "cpu"))
		repeat_add_cpu(&forger->repeat, value);
	else if (strcmp(key, "to"))
		die_of_usage();
	else if (!(forger->to = ether_aton(value)))
		die(2, "to '%s': invalid MAC: must be 00:11:22:33:44:55", value);
}

int command_forge(char **words)
{
	static struct forger forger;
	const struct flow *flow = &forger.flow;

	for (; words[0] && words[1]; words += 2)
		set_option(&forger, words[0], words[1]);
	if (words[0] || !forger.dev || !forger.to || !forger.for_ns || !flow->src.family ||
	    !forger.repeat.cpus_n)
		die_of_usage();
	if (flow->proto > PROTO_SYN || flow->vlans || flow->frag ||
	    flow->count % forger.repeat.cpus_n)
		die(2, "flow: cannot be forged: must be UDP, TCP or SYN, without tags and "
		       "fragments, and a count that the CPUs can share");
	build_frame(&forger);
	load_program(&forger);
	forge_frames(&forger);
	printf("sent %" PRIu64 " %zu\n", count_sent(&forger), forger.frame.used);
	forge_bpf__destroy(forger.object);
	return 0;
}
