// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that match a packet's source port, destination, length or TCP flags, through the loaded
 * program. Random packets and random limits are compared with an oracle that knows each packet by
 * the way it was built, and each limit by the numbers it was written from.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "tests/frames.h"
#include "tests/unit/unit.h"

#undef ICMP /* of frames.h, which has made its table of them */
#undef TCP
#undef UDP
#define ICMP 1
#define TCP 6
#define UDP 17
#define ICMPV6 58
#define GRE 47

#define RULESETS 150
#define PACKETS 200 /* for each of them */
#define LIMITS_MOST 8

static int setup(void **state)
{
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

static bool passes(const struct program *program, const struct frame *frame)
{
	static int turn;
	const struct bpf_program *entry = turn++ % 2 ? program->object->progs.ringfence
						     : program->object->progs.ringfence_frags;

	return program_run(entry, frame->bytes, frame->length) == XDP_PASS;
}

/* ---- packets ---- */

/* A frame, as it was made. */
struct made {
	struct frame frame;
	int version, protocol;
	bool has_ports; /* no later fragment */
	bool is_cut;	/* TCP, between its ports and its flags */
	int sport, dport;
	unsigned int flags;
	int dest; /* into `dests` of its family */
};

static const unsigned char dests4[][4] = {{192, 0, 2, 1}, {192, 0, 2, 130}, {203, 0, 113, 5}};
static const unsigned char dests6[][16] = {
	{0x20, 0x01, 0x0d, 0xb8, [15] = 1},
	{0x20, 0x01, 0x0d, 0xb8, [11] = 1, [15] = 1},
	{0x20, 0x01, 0x0d, 0xb9, [15] = 1},
};

static void set_dest(struct made *made)
{
	unsigned char *ip = made->frame.bytes + made->frame.ip_at;

	if (made->version == 4)
		memcpy(ip + 16, dests4[made->dest], 4);
	else
		memcpy(ip + 24, dests6[made->dest], 16);
}

static void add_transport(struct made *made)
{
	const size_t at = made->frame.length;
	unsigned char *header = made->frame.bytes + at;

	switch (made->protocol) {
	case TCP:
		frame_tcp(&made->frame, made->dport, 0);
		header[13] = made->flags;
		break;
	case UDP:
		frame_udp(&made->frame, made->dport);
		break;
	case ICMP:
	case ICMPV6:
		frame_icmp(&made->frame, made->protocol, made->protocol == ICMP ? 8 : 128);
		return;
	default:
		frame_payload(&made->frame, made->protocol, 20);
		return;
	}
	header[0] = made->sport >> 8;
	header[1] = made->sport;
}

/* Starts the frame; a later fragment has no layer 4. */
static void start(uint64_t *random, struct made *made)
{
	const bool is_later = unit_below(random, 6) == 0, is_first = unit_below(random, 6) == 0;

	made->frame = (struct frame){.length = 0};
	frame_ethernet(&made->frame);
	for (int i = unit_below(random, 4); i > 2; i--)
		frame_vlan_tag(&made->frame, 0x8100);
	if (made->version == 4) {
		frame_ipv4(&made->frame, 5 + (unit_below(random, 4) == 0) * 3,
			   is_later   ? 0xb9
			   : is_first ? 0x2000
				      : 0);
	} else {
		frame_ipv6(&made->frame, 64);
		if (unit_below(random, 4) == 0)
			frame_extension(&made->frame, 60, unit_below(random, 3));
		if (is_later || is_first)
			frame_fragment(&made->frame, is_later ? 0x5c8 : 1);
	}
	made->has_ports = !is_later && (made->protocol == TCP || made->protocol == UDP);
}

static struct made random_packet(uint64_t *random)
{
	static const int protocols[] = {TCP, TCP, TCP, UDP, UDP, UDP, ICMP, GRE};
	static const int ports[] = {1, 2, 53, 123, 11211, 65535};
	static const unsigned int flags[] = {0,	   0x02, 0x12, 0x10, 0x18,
					     0x04, 0x01, 0xc2, 0x29, 0xff};
	struct made made = {
		.version = unit_below(random, 2) ? 4 : 6,
		.protocol = protocols[unit_below(random, 8)],
		.sport = ports[unit_below(random, 6)],
		.dport = ports[unit_below(random, 6)],
		.flags = flags[unit_below(random, 10)],
		.dest = unit_below(random, 3),
	};
	static const size_t paddings[] = {0, 0, 40, 500, 1400};

	if (made.protocol == ICMP && made.version == 6)
		made.protocol = ICMPV6;
	start(random, &made);
	add_transport(&made);
	set_dest(&made);
	if (made.protocol == TCP && made.has_ports && unit_below(random, 8) == 0) {
		const size_t cut = 1 + unit_below(random, 16);

		frame_shorten(&made.frame, cut);
		made.is_cut = 20 - cut < 14;
	}
	frame_pad(&made.frame, paddings[unit_below(random, 5)]);
	return made;
}

/* ---- limits ---- */

/* A limit by its numbers; -1, 0 or NULL: not matched. */
struct asked {
	const char *match;
	int sport_first, sport_last, dport;
	int length_first, length_last;
	unsigned int value, mask;
	const char *flags;
	const char *to;
	unsigned int to4, to6; /* bit sets of dests */
};

static const struct {
	const char *text;
	unsigned int value, mask;
} flag_words[] = {
	{"SYN/SYN,ACK", 0x02, 0x12},
	{"syn,ack/syn,ack", 0x12, 0x12},
	{"ACK", 0x10, 0x10},
	{"RST", 0x04, 0x04},
	{"none/all", 0, 0xff},
	{"NONE/SYN,ACK", 0, 0x12},
	{"FIN,PSH,URG/ALL", 0x29, 0xff},
};

static const struct {
	const char *text;
	unsigned int to4, to6;
} dest_words[] = {
	{"192.0.2.1", 1, 0},
	{"192.0.2.0/24", 3, 0},
	{"192.0.2.128/25,2001:db8::/32", 2, 3},
	{"2001:db8::1", 0, 1},
	{"2001:db8::/64,203.0.113.0/24", 4, 3},
	{"0.0.0.0/0", 7, 0},
	{"::/0,192.0.2.130", 2, 7},
};

static struct asked random_limit(uint64_t *random, int number, char **text)
{
	struct asked asked = {.sport_first = -1, .dport = -1};
	const bool has_flags = unit_below(random, 3) == 0;

	asked.match = has_flags ? UNIT_PICK(random, "any", "tcp", "proto 6")
				: UNIT_PICK(random, "any", "any", "tcp", "udp", "tcp syn", "icmp");
	*text += sprintf(*text, "limit add l%d rate 1M/1s match %s", number, asked.match);
	if (has_flags) {
		const uint64_t i = unit_below(random, UNIT_ARRAY_SIZE(flag_words));

		asked.value = flag_words[i].value;
		asked.mask = flag_words[i].mask;
		*text += sprintf(*text, " flags %s", flag_words[i].text);
	}
	if (unit_below(random, 3) == 0 && strcmp(asked.match, "icmp") != 0) {
		asked.sport_first = unit_below(random, 2) ? 53 : 0;
		asked.sport_last = asked.sport_first + unit_below(random, 2) * 100;
		*text += sprintf(*text, " sport %d-%d", asked.sport_first, asked.sport_last);
	}
	if (unit_below(random, 3) == 0 && strcmp(asked.match, "icmp") != 0) {
		asked.dport = unit_below(random, 2) ? 53 : 123;
		*text += sprintf(*text, " dport %d", asked.dport);
	}
	if (unit_below(random, 3) == 0) {
		asked.length_first = 14 + unit_below(random, 90);
		asked.length_last = asked.length_first + unit_below(random, 700);
		*text += sprintf(*text, " length %d-%d", asked.length_first, asked.length_last);
	}
	if (unit_below(random, 3) == 0) {
		const uint64_t i = unit_below(random, UNIT_ARRAY_SIZE(dest_words));

		asked.to = dest_words[i].text;
		asked.to4 = dest_words[i].to4;
		asked.to6 = dest_words[i].to6;
		*text += sprintf(*text, " to %s", asked.to);
	}
	*text += sprintf(*text, "\n");
	return asked;
}

/* ---- the oracle ---- */

static bool protocol_matches(const struct asked *asked, const struct made *made)
{
	const bool is_syn = made->has_ports && (made->is_cut || (made->flags & 0x12) == 0x02);

	if (strcmp(asked->match, "any") == 0)
		return true;
	if (strcmp(asked->match, "udp") == 0)
		return made->protocol == UDP;
	if (strcmp(asked->match, "icmp") == 0)
		return made->protocol == ICMP || made->protocol == ICMPV6;
	return made->protocol == TCP && (strcmp(asked->match, "tcp syn") != 0 || is_syn);
}

static bool matches(const struct asked *asked, const struct made *made)
{
	const int length = made->frame.length;

	if (!protocol_matches(asked, made))
		return false;
	if (asked->sport_first >= 0 && (!made->has_ports || made->sport < asked->sport_first ||
					made->sport > asked->sport_last))
		return false;
	if (asked->dport >= 0 && (!made->has_ports || made->dport != asked->dport))
		return false;
	if (asked->mask && (made->protocol != TCP || !made->has_ports))
		return false;
	if (asked->mask && ((made->is_cut ? 0x02 : made->flags) & asked->mask) != asked->value)
		return false;
	if (asked->length_last && (length < asked->length_first || length > asked->length_last))
		return false;
	return !asked->to || (made->version == 4 ? asked->to4 : asked->to6) >> made->dest & 1;
}

/* ---- the comparison ---- */

/* False: some packet would be charged to too many limits. */
static bool try_rules(struct program *program, char *text)
{
	struct rf_compiled compiled = {};
	struct rf_error error = {};
	uint32_t next_id;
	struct rf_ruleset rules = program_rules_of(program, text, false, &next_id);
	const bool fits = !rf_ruleset_compile(&rules, &compiled, &error);

	if (fits)
		program_commit(program, &rules, next_id, NULL);
	else
		rf_ruleset_free(&rules);
	rf_compiled_free(&compiled);
	return fits;
}

static uint64_t passed_of(const struct program *program, int number)
{
	char name[8];

	sprintf(name, "l%d", number);
	return program_limit_counters_of(program, name).passed.packets;
}

static void run_packets(struct program *program, uint64_t *random, const struct asked *asked,
			int limits, const char *text)
{
	uint64_t expected[LIMITS_MOST];

	for (int i = 0; i < limits; i++)
		expected[i] = passed_of(program, i);
	for (int i = 0; i < PACKETS; i++) {
		const struct made made = random_packet(random);

		assert_true(passes(program, &made.frame));
		for (int j = 0; j < limits; j++)
			expected[j] += matches(&asked[j], &made);
	}
	for (int i = 0; i < limits; i++)
		if (passed_of(program, i) != expected[i])
			fail_msg("limit l%d: %d packets, not %d, under\n%s", i,
				 (int)passed_of(program, i), (int)expected[i], text);
}

static void any_packet_is_charged_as_the_oracle_says(void **state)
{
	struct program *program = *state;
	uint64_t random = unit_seed(), now_ns = START_NS;
	int many = 0;

	for (int i = 0; i < RULESETS; i++) {
		const int limits = 1 + unit_below(&random, LIMITS_MOST);
		struct asked asked[LIMITS_MOST];
		char text[4096], *end = text, words[4096];

		for (int j = 0; j < limits; j++)
			asked[j] = random_limit(&random, j, &end);
		strcpy(words, text); /* parsing writes into its text */
		if (!try_rules(program, words)) {
			assert_true(limits > 4);
			continue;
		}
		many += limits > 4;
		program_set_time(program, now_ns += NS_PER_S);
		run_packets(program, &random, asked, limits, text);
	}
	assert_true(many >= 10);
}

/* ---- what floods are made of ---- */

static int burst(const struct program *program, const struct made *made, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes(program, &made->frame);
	return passed;
}

static struct made plain(int version, int protocol, int sport, unsigned int flags)
{
	struct made made = {.version = version,
			    .protocol = protocol,
			    .sport = sport,
			    .dport = 4000,
			    .flags = flags};

	frame_ethernet(&made.frame);
	if (version == 4)
		frame_ipv4(&made.frame, 5, 0);
	else
		frame_ipv6(&made.frame, 64);
	add_transport(&made);
	set_dest(&made);
	return made;
}

static void answers_of_reflectors_are_limited_by_their_port(void **state)
{
	struct program *program = *state;
	const struct made dns = plain(4, UDP, 53, 0), dns6 = plain(6, UDP, 53, 0);
	const struct made other = plain(4, UDP, 54, 0), tcp = plain(4, TCP, 53, 0x10);

	program_apply(program, "limit add reflected rate 3/1h match udp sport 53,123,11211\n");
	assert_int_equal(burst(program, &dns, 50), 3);
	assert_int_equal(burst(program, &dns6, 50), 3);
	assert_int_equal(burst(program, &other, 50), 50);
	assert_int_equal(burst(program, &tcp, 50), 50);
}

static void each_shape_has_a_lease_of_its_own(void **state)
{
	struct program *program = *state;
	const struct made synack = plain(4, TCP, 7, 0x12), ack = plain(4, TCP, 7, 0x10);

	program_apply(program, "limit add backscatter rate 5/1h flags SYN,ACK/SYN,ACK\n"
			       "limit add any rate 1k/1h\n");
	for (int i = 0; i < 20; i++)
		assert_int_equal(burst(program, &synack, 1) + burst(program, &ack, 1),
				 i < 5 ? 2 : 1);
	assert_int_equal(program_limit_counters_of(program, "backscatter").dropped.packets, 15);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 25);
}

static uint64_t charged_to(const struct program *program, const char *name)
{
	return program_limit_counters_of(program, name).passed.packets;
}

/* The first 8 bytes of a TCP header, in the first of several fragments. */
static struct made tiny_fragment(int version, unsigned int flags)
{
	struct made made = {.version = version, .protocol = TCP, .dport = 4000, .flags = flags};

	frame_ethernet(&made.frame);
	if (version == 4) {
		frame_ipv4(&made.frame, 5, 0x2000);
	} else {
		frame_ipv6(&made.frame, 64);
		frame_fragment(&made.frame, 1);
	}
	add_transport(&made);
	frame_shorten(&made.frame, 12);
	return made;
}

/* Five limits, of which no packet matches more than four. */
static void the_usual_limits_on_tcp_flags_fit_together(void **state)
{
	static const struct {
		unsigned int flags, packets;
	} sent[] = {{0x02, 1}, {0x04, 2}, {0x14, 4}, {0x00, 8}, {0x29, 16}, {0x10, 32}};
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h\n"
			       "limit add syn rate 1k/1h match tcp syn\n"
			       "limit add rst rate 1k/1h match tcp flags RST/RST\n"
			       "limit add null rate 1k/1h match tcp flags NONE/ALL\n"
			       "limit add xmas rate 1k/1h match tcp flags FIN,PSH,URG/ALL\n");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(sent); i++) {
		const struct made made = plain(4, TCP, 7, sent[i].flags);

		burst(program, &made, sent[i].packets);
	}
	assert_int_equal(charged_to(program, "any"), 63);
	assert_int_equal(charged_to(program, "syn"), 1);
	assert_int_equal(charged_to(program, "rst"), 2 + 4);
	assert_int_equal(charged_to(program, "null"), 8);
	assert_int_equal(charged_to(program, "xmas"), 16);
}

/* Otherwise the SYN that such fragments carry to their receiver would evade its limit. */
static void a_tcp_header_without_its_flags_is_charged_as_a_syn(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h per6 /0 per /0\n"
			       "limit add syn rate 3/1h match tcp syn per6 /0 per /0\n"
			       "limit add pure rate 1k/1h match tcp flags SYN/ALL\n"
			       "limit add rst rate 1k/1h match tcp flags RST/RST\n"
			       "limit add null rate 1k/1h match tcp flags NONE/ALL\n");
	for (int version = 4; version <= 6; version += 2) {
		const struct made syn = tiny_fragment(version, 0x02);
		const struct made rst = tiny_fragment(version, 0x04);

		assert_int_equal(burst(program, &syn, 2), 2);
		assert_int_equal(burst(program, &rst, 4), 1);
	}
	assert_int_equal(charged_to(program, "any"), 6);
	assert_int_equal(program_limit_counters_of(program, "syn").dropped.packets, 6);
	assert_int_equal(charged_to(program, "pure"), 6);
	assert_int_equal(charged_to(program, "rst"), 0);
	assert_int_equal(charged_to(program, "null"), 0);
}

static void a_shape_is_read_back_from_the_maps(void **state)
{
	static const char line[] =
		"limit add a rate 5/1s match tcp dport 80 sport 1-5,9 to 192.0.2.1,192.0.2.0/24,"
		"2001:db8::/32 length 60-1514 flags SYN/SYN,ACK";
	struct program *program = *state;
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error = {};
	char text[256], *read;

	sprintf(text, "%s\n", line);
	program_apply(program, text);
	assert_done(rf_fence_ruleset(&program->fence, &rules, &error), &error);
	read = rf_ruleset_format_limit(&rules, 0);
	assert_non_null(read);
	assert_string_equal(read, line);
	free(read);
	rf_ruleset_free(&rules);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_packet_is_charged_as_the_oracle_says),
		TEST(answers_of_reflectors_are_limited_by_their_port),
		TEST(each_shape_has_a_lease_of_its_own),
		TEST(the_usual_limits_on_tcp_flags_fit_together),
		TEST(a_tcp_header_without_its_flags_is_charged_as_a_syn),
		TEST(a_shape_is_read_back_from_the_maps),
	};

	return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
