/* SPDX-License-Identifier: GPL-2.0 */
/* FLOW, as in src=192.0.2.1,count=100,rate=50: from its text to values that fit each other. */
#include <string.h>

#include "traffic.h"

#define FRAME_BYTES_DEFAULT 64

/* In the order of enum proto and enum frag. */
static const char *const protos[] = {"udp", "tcp", "syn", "synack", "icmp", NULL};
static const char *const frags[] = {"none", "first", "later", NULL};

/* The place of a word. */
static unsigned int parse_word(const char *key, const char *text, const char *const *words)
{
	for (unsigned int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	die(2, "%s '%s': invalid word: no such %s", key, text, key);
}

static void set_proto(struct flow *flow, const char *text)
{
	if (*text < '0' || *text > '9') {
		flow->proto = parse_word("proto", text, protos);
		return;
	}
	flow->proto = PROTO_NUMBER;
	flow->protocol = parse_number("proto", text, 0, 255);
}

static void set_vlan(struct flow *flow, const char *text)
{
	if (flow->vlans == VLANS_MOST)
		die(2, "vlan '%s': too many tags: at most %d", text, VLANS_MOST);
	flow->vlan[flow->vlans++] = parse_number("vlan", text, 0, 4095);
}

static void set_value(struct flow *flow, const char *key, const char *text)
{
	if (!strcmp(key, "src"))
		flow->src = parse_address(key, text);
	else if (!strcmp(key, "dst"))
		flow->dst = parse_address(key, text);
	else if (!strcmp(key, "sources"))
		flow->sources = parse_number(key, text, 1, UINT32_MAX);
	else if (!strcmp(key, "random"))
		flow->random = parse_number(key, text, 1, 1000);
	else if (!strcmp(key, "count"))
		flow->count = parse_number(key, text, 1, UINT32_MAX);
	else if (!strcmp(key, "rate"))
		flow->rate_pps = parse_number(key, text, 0, NS_PER_SEC);
	else if (!strcmp(key, "then"))
		flow->then_pps = parse_number(key, text, 1, NS_PER_SEC);
	else if (!strcmp(key, "ramp"))
		flow->ramp = parse_number(key, text, 1, UINT32_MAX);
	else if (!strcmp(key, "staggered"))
		flow->is_staggered = parse_number(key, text, 0, 1);
	else if (!strcmp(key, "after"))
		flow->after_ns = parse_time(key, text);
	else if (!strcmp(key, "len"))
		flow->len_bytes = parse_number(key, text, 1, FRAME_BYTES_MOST);
	else if (!strcmp(key, "vlan"))
		set_vlan(flow, text);
	else if (!strcmp(key, "proto"))
		set_proto(flow, text);
	else if (!strcmp(key, "sport"))
		flow->sport = parse_number(key, text, 0, UINT16_MAX);
	else if (!strcmp(key, "dport"))
		flow->dport = parse_number(key, text, 0, UINT16_MAX);
	else if (!strcmp(key, "frag"))
		flow->frag = parse_word(key, text, frags);
	else
		die(2, "%s '%s': unknown key: no flow has it", key, text);
}

/* Sets len_bytes if unset: as short as headers and stamp allow. */
static void set_length(struct flow *flow)
{
	struct frame frame;

	frame_build(&frame, flow);
	if (!flow->len_bytes)
		flow->len_bytes =
			frame.used > FRAME_BYTES_DEFAULT ? frame.used : FRAME_BYTES_DEFAULT;
	if (flow->len_bytes < frame.used)
		die(2, "flow %u: frame of %ju bytes is too short: headers and stamp need %zu",
		    flow->number, (uintmax_t)flow->len_bytes, frame.used);
}

void flow_parse(struct flow *flow, uint32_t number, char *text)
{
	*flow = (struct flow){.number = number, .sources = 1};
	for (char *pair; (pair = strsep(&text, ","));) {
		const char *key = strsep(&pair, "=");

		if (!pair)
			die(2, "flow %u: '%s': no value: must be KEY=VALUE", number, key);
		set_value(flow, key, pair);
	}
	if (!flow->src.family)
		die(2, "flow %u: incomplete: must have src=ADDRESS", number);
	if (!flow->dst.family)
		flow->dst = parse_address("dst", flow->src.family == AF_INET ? "198.51.100.1"
									     : "2001:db8:ffff::1");
	if (flow->dst.family != flow->src.family)
		die(2, "flow %u: invalid destination: not of the source's family", number);
	set_length(flow);
}
