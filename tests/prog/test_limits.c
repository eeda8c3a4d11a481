// SPDX-License-Identifier: GPL-2.0
/*
 * Which limits a packet is charged to, through the loaded program: by class, by source and by
 * grouping; and that a limit which refuses leaves the others unchanged.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "tests/frames.h"

#undef ICMP /* of frames.h, which has made its table of them */
#undef TCP
#undef UDP
#include "tests/unit/charged.h"

#define GRE 47
#define RULESETS 60
#define PACKETS 300 /* for each of them */
#define LIMITS_MOST 8

static int setup(void **state)
{
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

/* ---- frames ---- */

/* A frame, as a rule sees it. */
struct made {
	struct frame frame;
	struct rf_prefix source;
	int protocol;
	bool is_syn;
	int port;
};

static void set_source(struct made *made, const char *address)
{
	const int family = strchr(address, ':') ? AF_INET6 : AF_INET;

	made->source = (struct rf_prefix){.version = family == AF_INET ? 4 : 6,
					  .length = family == AF_INET ? 32 : 128};
	assert_int_equal(inet_pton(family, address, made->source.word), 1);
}

static void start_frame(struct made *made, unsigned int ipv4_fragment)
{
	made->frame = (struct frame){.length = 0};
	frame_ethernet(&made->frame);
	if (made->source.version == 4)
		frame_ipv4(&made->frame, 5, ipv4_fragment);
	else
		frame_ipv6(&made->frame, 64);
	frame_set_source(&made->frame, (const unsigned char *)made->source.word);
}

/* Adds layer 4, as `made` specifies; in a later fragment these bytes are no header. */
static void add_transport(struct made *made, unsigned int port)
{
	switch (made->protocol) {
	case TCP:
		frame_tcp(&made->frame, port, made->is_syn ? SYN : ACK);
		break;
	case UDP:
		frame_udp(&made->frame, port);
		break;
	case ICMP:
	case ICMPV6:
		frame_icmp(&made->frame, made->protocol, made->protocol == ICMP ? 8 : 128);
		break;
	default:
		frame_payload(&made->frame, made->protocol, 20);
	}
}

static struct made packet_of(const char *source, int protocol, bool is_syn, int port)
{
	struct made made = {.protocol = protocol, .is_syn = is_syn, .port = port};

	set_source(&made, source);
	start_frame(&made, 0);
	add_transport(&made, port);
	return made;
}

/* Runs both entries in turn. */
static bool passes(const struct program *program, const struct made *made)
{
	static int turn;
	const struct bpf_program *entry = turn++ % 2 ? program->object->progs.ringfence
						     : program->object->progs.ringfence_frags;

	return program_run(entry, made->frame.bytes, made->frame.length) == XDP_PASS;
}

/* How many of `count` pass. */
static int burst(const struct program *program, const struct made *made, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += passes(program, made);
	return passed;
}

static int burst_udp(const struct program *program, const char *source, int port, int count)
{
	const struct made made = packet_of(source, UDP, false, port);

	return burst(program, &made, count);
}

/* ---- random packets and limits ---- */

static const char *const sources[] = {
	"10.0.0.1",	   "10.0.0.2",	    "10.0.1.1",	   "192.0.2.1",
	"192.0.2.200",	   "203.0.113.7",   "2001:db8::1", "2001:db8::2",
	"2001:db8:0:1::1", "2001:db8:1::1", "2001:db9::1", "2001:db8:0:1::99",
};

/* Adds headers between IPv6 and layer 4. Returns true for a later fragment, without layer 4. */
static bool add_extensions(uint64_t *random, struct frame *frame)
{
	static const unsigned int types[] = {0, 43, 60, 60};

	for (int i = unit_below(random, 3); i > 0; i--)
		frame_extension(frame, types[unit_below(random, 4)], unit_below(random, 2));
	switch (unit_below(random, 6)) {
	case 0:
		frame_fragment(frame, 1); /* the first of several */
		return false;
	case 1:
		frame_fragment(frame, 0x5c8); /* a later one */
		return true;
	default:
		return false;
	}
}

static struct made random_packet(uint64_t *random)
{
	static const int protocols[] = {TCP, TCP, TCP, UDP, UDP, ICMP, GRE};
	static const int ports[] = {0, 1, 2, 3, 4, 5, 6, 65535};
	struct made made = {.protocol = protocols[unit_below(random, UNIT_ARRAY_SIZE(protocols))],
			    .port = ports[unit_below(random, UNIT_ARRAY_SIZE(ports))]};
	const unsigned int port = made.port;
	bool is_later = unit_below(random, 6) == 0;

	set_source(&made, unit_pick(random, sources, UNIT_ARRAY_SIZE(sources)));
	made.is_syn = made.protocol == TCP && unit_below(random, 2);
	if (made.protocol == ICMP && made.source.version == 6)
		made.protocol = ICMPV6;
	start_frame(&made, is_later ? 0xb9 : unit_below(random, 2) ? 0x2000 : 0);
	if (made.source.version == 6)
		is_later = add_extensions(random, &made.frame);
	add_transport(&made, port);
	if (is_later)
		made.is_syn = false;
	if (is_later || (made.protocol != TCP && made.protocol != UDP))
		made.port = NO_PORT;
	return made;
}

static size_t random_limit(uint64_t *random, int number, char *text)
{
	const char *match = UNIT_PICK(random, "", " match tcp", " match tcp syn", " match udp",
				      " match icmp", " match proto 6", " match proto 47");
	const bool may_have_ports = !strstr(match, "icmp") && !strstr(match, "47");

	return sprintf(
		text, "limit add l%d rate %s%s%s%s%s%s%s\n", number,
		UNIT_PICK(random, "1M/1s", "1M/1s", "1500M/1s bytes",
			  "1500M/1s bytes algorithm sliding", "3000M/1s bytes algorithm sliding"),
		match,
		may_have_ports ? UNIT_PICK(random, "", "", " dport 1", " dport 1,3-5,65535",
					   " dport 0-65535", " dport 4")
			       : "",
		UNIT_PICK(random, "", "", "", " per /24", " per /0"),
		UNIT_PICK(random, "", "", "", " per6 /48", " per6 /128"),
		UNIT_PICK(random, "", "", "", " shadow", " exact"),
		UNIT_PICK(random, "", "", " from 10.0.0.0/24", " from 10.0.0.0/8,2001:db8::/32",
			  " from 2001:db8:0:1::/64,192.0.2.0/25", " from 2001:db8:0:1::99",
			  " from 0.0.0.0/0", " from ::/0,10.0.0.2"));
}

static void random_rules(uint64_t *random, char *text)
{
	for (int i = 0; i < LIMITS_MOST; i++)
		if (unit_below(random, 2))
			text += random_limit(random, i, text);
	if (unit_below(random, 4) == 0)
		text += sprintf(text, "allow add %s\n",
				UNIT_PICK(random, "10.0.0.1", "2001:db8::/64", "192.0.2.0/24"));
	if (unit_below(random, 4) == 0)
		text += sprintf(text, "deny add %s\n",
				UNIT_PICK(random, "10.0.1.0/24", "2001:db8::1", "2001:db8::/31"));
	*text = 0;
}

/* The expected counters, by the slot of a limit. */
struct expected {
	struct rf_count limit[RF_LIMITS_MAX];
	struct rf_count reason[RF_REASON_COUNT];
};

static void add(struct rf_count *sum, uint64_t bytes)
{
	sum->packets++;
	sum->bytes += bytes;
}

/* Returns whether the packet passes. */
static bool expect(struct expected *expected, const struct rules *rules, const struct made *made)
{
	const int class = class_of(rules, made->protocol, made->is_syn, made->port);
	const struct answer answer = answer_for(rules, &made->source, class);
	enum rf_reason reason = answer.limits ? RF_UNDER_LIMIT : RF_NO_LIMIT;

	if (answer.until[RF_ALLOW])
		reason = RF_ALLOWED;
	else if (answer.until[RF_DENY])
		reason = RF_DENIED;
	add(&expected->reason[reason], made->frame.length);
	for (uint32_t left = answer.limits; left && reason == RF_UNDER_LIMIT; left &= left - 1)
		add(&expected->limit[__builtin_ctz(left)], made->frame.length);
	return reason != RF_DENIED;
}

static void assert_counted(const struct rf_count *found, const struct rf_count *expected)
{
	assert_int_equal(found->packets, expected->packets);
	assert_int_equal(found->bytes, expected->bytes);
}

static void check_counters(const struct program *program, const struct expected *expected)
{
	const struct rf_counters counters = program_counters(program);
	const struct rf_bank *bank = program_bank(program);

	for (int i = 0; i < RF_REASON_COUNT; i++)
		assert_counted(&counters.reason[i], &expected->reason[i]);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		struct rf_limit_counters limit;

		if (!bank->policy[slot].id)
			continue;
		limit = program_slot_counters(program, slot);
		assert_counted(&limit.passed, &expected->limit[slot]);
		assert_int_equal(limit.dropped.packets + limit.would_drop.packets +
					 limit.forfeited.packets,
				 0);
	}
}

/* A limit that was removed or added has no counts. */
static void forget_others(const struct program *program, struct expected *expected,
			  const struct rf_bank *before)
{
	const struct rf_bank *bank = program_bank(program);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (!bank->policy[slot].id || !before->policy[slot].id ||
		    strcmp(bank->limit[slot].name, before->limit[slot].name) != 0)
			expected->limit[slot] = (struct rf_count){};
}

/* Returns false if some packet would be charged to too many limits. */
static bool try_random_rules(struct program *program, uint64_t *random, struct rules *rules)
{
	struct rf_error error = {};
	char text[2048];
	uint32_t next_id;

	random_rules(random, text);
	*rules = RULES_NEW;
	rules->ruleset = program_rules_of(program, text, false, &next_id);
	if (rules_try_compile(rules))
		return false;
	program->config->next_limit_id = next_id;
	assert_done(rf_fence_commit(&program->fence, &rules->ruleset, NULL, NULL, &error), &error);
	return true;
}

static void any_packet_is_charged_as_the_oracle_says(void **state)
{
	struct program *program = *state;
	struct expected expected = {};
	uint64_t random = unit_seed(), now_ns = START_NS;

	for (int i = 0; i < RULESETS;) {
		const struct rf_bank before = *program_bank(program);
		struct rules rules;

		if (!try_random_rules(program, &random, &rules)) {
			rules_free(&rules);
			continue;
		}
		forget_others(program, &expected, &before);
		for (int j = 0; j < PACKETS; j++) {
			struct made made = random_packet(&random);

			program_set_time(program, now_ns += unit_below(&random, NS_PER_S / 100));
			assert_int_equal(passes(program, &made), expect(&expected, &rules, &made));
		}
		check_counters(program, &expected);
		rules_free(&rules);
		i++;
	}
}

/* ---- packets that one limit refuses ---- */

static uint32_t used_of(const struct program *program, const char *name, const char *address)
{
	const struct rf_source source = program_source(program, name, address);
	const struct rf_policy *policy = program_policy_of(program, name);

	return rf_used(&source.window, policy, rf_fence_time(&program->fence, policy));
}

static void a_packet_that_one_limit_refuses_is_not_charged_to_others(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100/10s\n"
			       "limit add dns rate 3/10s match udp dport 53\n"
			       "limit add net rate 50/10s per /24 match udp\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 53, 10), 3);
	assert_int_equal(used_of(program, "any", "192.0.2.1"), 3);
	assert_int_equal(used_of(program, "net", "192.0.2.1"), 3);
	assert_int_equal(burst_udp(program, "192.0.2.1", 54, 10), 10);
	assert_int_equal(used_of(program, "any", "192.0.2.1"), 13);
	assert_int_equal(used_of(program, "dns", "192.0.2.1"), 3);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 13);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 0);
	assert_int_equal(program_limit_counters_of(program, "dns").passed.packets, 3);
	assert_int_equal(program_limit_counters_of(program, "dns").dropped.packets, 7);
	assert_int_equal(program_limit_counters_of(program, "net").passed.packets, 13);
	assert_int_equal(program_source(program, "dns", "192.0.2.1").dropped, 7);
	assert_int_equal(program_source(program, "any", "192.0.2.1").dropped, 0);
	assert_int_equal(program_counters(program).reason[RF_OVER_LIMIT].packets, 7);
}

static void four_limits_are_charged_and_each_may_refuse(void **state)
{
	static const char *const names[] = {"any", "udp", "dns", "net"};
	struct program *program = *state;

	program_apply(program, "limit add any rate 30/10s\n"
			       "limit add udp rate 20/10s match udp\n"
			       "limit add dns rate 10/10s match udp dport 53\n"
			       "limit add net rate 25/10s per /24 match udp\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 53, 15), 10); /* dns: 5 */
	for (int i = 0; i < 4; i++)
		assert_int_equal(used_of(program, names[i], "192.0.2.1"), 10);
	assert_int_equal(burst_udp(program, "192.0.2.1", 54, 15), 10); /* udp: 5 */
	assert_int_equal(burst_udp(program, "192.0.2.2", 54, 15), 5);  /* net: 10 */
	assert_int_equal(program_limit_counters_of(program, "dns").dropped.packets, 5);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 5);
	assert_int_equal(program_limit_counters_of(program, "net").dropped.packets, 10);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 0);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 25);
	assert_int_equal(used_of(program, "net", "192.0.2.77"), 25);
	for (int i = 0; i < 4; i++)
		assert_int_equal(program_limit_counters_of(program, names[i]).forfeited.packets, 0);
}

/* The limit is charged only for packets that it refuses itself. */
static void one_of_several_limits_counts_what_it_rejects(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 4/10s count rejected\n"
			       "limit add udp rate 10/10s match udp\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 9), 4);
	assert_int_equal(rf_word_used(program_source(program, "any", "192.0.2.1").window.head), 9);
	assert_int_equal(used_of(program, "udp", "192.0.2.1"), 4);
	program_apply(program, "newcomers off\n");
	program_apply(program, "limit add any rate 10/10s count rejected\n"
			       "limit add udp rate 4/10s match udp\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 9), 4);
	assert_int_equal(rf_word_used(program_source(program, "any", "192.0.2.1").window.head), 4);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 5);
}

static void a_shadow_beside_a_limit_in_force_only_counts(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add quiet rate 2/10s shadow\n"
			       "limit add any rate 5/10s\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 100), 5);
	assert_int_equal(used_of(program, "quiet", "192.0.2.1"), 2);
	assert_int_equal(program_limit_counters_of(program, "quiet").passed.packets, 2);
	assert_int_equal(program_limit_counters_of(program, "quiet").would_drop.packets, 3);
	assert_int_equal(program_limit_counters_of(program, "quiet").dropped.packets, 0);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 5);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 95);
	assert_int_equal(program_source(program, "quiet", "192.0.2.1").would_drop, 3);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 2);
	assert_int_equal(counters.reason[RF_SHADOW_OVER].packets, 3);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 95);
}

static void shadows_alone_pass_every_packet(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add one rate 2/10s shadow\n"
			       "limit add two rate 5/10s shadow match udp\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 100), 100);
	assert_int_equal(program_limit_counters_of(program, "one").would_drop.packets, 98);
	assert_int_equal(program_limit_counters_of(program, "two").would_drop.packets, 95);
	assert_int_equal(program_source(program, "one", "192.0.2.1").would_drop, 98);
	assert_int_equal(program_source(program, "two", "192.0.2.1").would_drop, 95);
	assert_int_equal(program_source(program, "two", "192.0.2.1").passed, 5);
	assert_int_equal(program_counters(program).reason[RF_SHADOW_OVER].packets, 98);
}

/* A frame of a given length. */
static struct made padded(const char *source, size_t length)
{
	struct made made = packet_of(source, UDP, false, 7);

	frame_pad(&made.frame, length - made.frame.length);
	return made;
}

static void limits_of_packets_and_bytes_apply_together(void **state)
{
	struct program *program = *state;
	const struct made small = padded("192.0.2.1", 100), large = padded("192.0.2.1", 1000);

	program_apply(program, "limit add number rate 10/10s\n"
			       "limit add volume rate 3000/10s bytes algorithm sliding\n");
	assert_int_equal(burst(program, &large, 5), 2 + 1);
	assert_int_equal(burst(program, &small, 5), 0);
	assert_int_equal(used_of(program, "number", "192.0.2.1"), 3);
	assert_int_equal(used_of(program, "volume", "192.0.2.1"), 3000);
	program_set_time(program, START_NS + 20 * NS_PER_S);
	assert_int_equal(burst(program, &large, 2), 2);
	assert_int_equal(burst(program, &small, 20), 8); /* of packets */
	assert_int_equal(burst(program, &large, 2), 0);
	assert_int_equal(used_of(program, "volume", "192.0.2.1"), 2800);
	assert_int_equal(program_limit_counters_of(program, "volume").dropped.packets, 7);
	assert_int_equal(program_limit_counters_of(program, "number").dropped.packets, 14);
	assert_int_equal(program_limit_counters_of(program, "volume").passed.bytes, 5800);
}

/* A source whose packet was refused for its length may still send shorter ones, also by leases. */
static void a_packet_too_long_for_its_limit_leaves_room_for_shorter_ones(void **state)
{
	struct program *program = *state;
	const struct made small = padded("192.0.2.1", 100), large = padded("192.0.2.1", 1000);

	program_apply(program, "limit add one rate 1600/10s bytes algorithm sliding\n"
			       "limit add two rate 10k/10s bytes algorithm sliding per /24\n");
	assert_int_equal(burst(program, &large, 5), 1);
	assert_int_equal(burst(program, &small, 10), 6);
	assert_int_equal(program_limit_counters_of(program, "one").dropped.packets, 8);
	assert_int_equal(used_of(program, "two", "192.0.2.1"), 1600);
}

/* ---- groupings ---- */

static void each_limit_groups_by_its_own_prefix(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add each rate 3/10s\n"
			       "limit add net rate 5/10s per /24\n"
			       "limit add world rate 7/10s per /0\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 4), 3);   /* each */
	assert_int_equal(burst_udp(program, "192.0.2.2", 1, 4), 2);   /* net */
	assert_int_equal(burst_udp(program, "192.0.2.3", 1, 4), 0);   /* net */
	assert_int_equal(burst_udp(program, "203.0.113.1", 1, 4), 2); /* world */
	assert_int_equal(program_limit_counters_of(program, "each").dropped.packets, 1);
	assert_int_equal(program_limit_counters_of(program, "net").dropped.packets, 6);
	assert_int_equal(program_limit_counters_of(program, "world").dropped.packets, 2);
	assert_int_equal(used_of(program, "world", "8.8.8.8"), 7);
	assert_int_equal(used_of(program, "each", "192.0.2.3"), 0);
}

static void each_limit_groups_ipv6_by_its_own_prefix(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add host rate 2/10s per6 /128\n"
			       "limit add site rate 5/10s per6 /48\n");
	assert_int_equal(burst_udp(program, "2001:db8:1::1", 1, 4), 2);
	assert_int_equal(burst_udp(program, "2001:db8:1::2", 1, 4), 2);
	assert_int_equal(burst_udp(program, "2001:db8:1:7::3", 1, 4), 1);
	assert_int_equal(burst_udp(program, "2001:db8:2::1", 1, 4), 2);
	assert_int_equal(program_source(program, "host", "2001:db8:1::2").dropped, 2);
	assert_int_equal(program_source(program, "site", "2001:db8:1::").dropped, 3);
	assert_int_equal(program_source(program, "site", "2001:db8:1::").passed, 5);
}

/* IPv4 and IPv6 never share a window, for any grouping. */
static void ipv4_and_ipv6_have_windows_of_their_own(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add world rate 3/10s per /0 per6 /0\n");
	assert_int_equal(burst_udp(program, "192.0.2.1", 1, 5), 3);
	assert_int_equal(burst_udp(program, "2001:db8::1", 1, 5), 3);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_packet_is_charged_as_the_oracle_says),
		TEST(a_packet_that_one_limit_refuses_is_not_charged_to_others),
		TEST(four_limits_are_charged_and_each_may_refuse),
		TEST(one_of_several_limits_counts_what_it_rejects),
		TEST(a_shadow_beside_a_limit_in_force_only_counts),
		TEST(shadows_alone_pass_every_packet),
		TEST(limits_of_packets_and_bytes_apply_together),
		TEST(a_packet_too_long_for_its_limit_leaves_room_for_shorter_ones),
		TEST(each_limit_groups_by_its_own_prefix),
		TEST(each_limit_groups_ipv6_by_its_own_prefix),
		TEST(ipv4_and_ipv6_have_windows_of_their_own),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
