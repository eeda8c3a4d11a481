// SPDX-License-Identifier: GPL-2.0
/*
 * Frames in several buffers whose headers are not, or not all, in the first of them: the linear
 * part. A program can read only that directly, and some drivers leave it empty. For any size of it,
 * a frame must be evaluated, charged and sampled as if all of it were linear. Linux 6.18 and newer
 * run a program with a linear part of any size.
 */
#include "program.h"

#include <linux/bpf.h>
#include <stdio.h>

#include "fence/sampler.h"
#include "schema/reasons.h"

#include "linear.h"
#include "tests/frames.h"

#define JUMBO 9000
#define LINEAR 2000	 /* enough for all headers of the jumbo frames */
#define LINEAR_MOST 2900 /* the capacity of a page */
#define LIMITS 9

static bool takes_linear = true;

/* Runs a frame of which the first `linear` bytes are linear; returns the verdict. */
static int run(const struct program *program, const void *bytes, size_t length, size_t linear)
{
	struct xdp_md ctx = {.data_end = linear};
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = length,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);
	const int fd = bpf_program__fd(program->object->progs.ringfence_frags);
	const int err = bpf_prog_test_run_opts(fd, &run);

	if (err)
		fail_msg("%zu bytes, %zu of them linear: %s", length, linear, strerror(-err));
	return run.retval;
}

static int setup(void **state)
{
	struct program *program;

	program_run_on(0);
	program_setup_both(state);
	program = *state;
	program_set_time(program, START_NS);
	takes_linear = kernel_takes_linear(program);
	return 0;
}

static void need_linear(void)
{
	if (!takes_linear)
		skip();
}

/* ---- each frame of the table ---- */

static struct program shared;

static int load(void **state)
{
	const struct rf_limit limit = limit_of(1000000, 3600 * NS_PER_S);

	(void)state;
	program_open_both(&shared);
	program_set_leases(&shared, 256);
	program_load(&shared);
	program_set_time(&shared, START_NS);
	program_set_limit(&shared, &limit);
	takes_linear = kernel_takes_linear(&shared);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	program_close(&shared);
	return 0;
}

static enum rf_reason reason_of(const struct rf_frame *row)
{
	if (row->parsed != RF_PARSED_SOURCE)
		return rf_parsed_reason(row->parsed);
	return row->flags & RF_CLASS_UNKNOWN ? RF_UNCLASSIFIED : RF_UNDER_LIMIT;
}

static void frame_is_judged_as_if_linear(void **state)
{
	const struct rf_frame *row = *state;
	const enum rf_reason expected = reason_of(row);
	struct rf_counters now = program_counters(&shared), before;
	struct frame frame;

	need_linear();
	frame_build(&frame, row->part);
	for (size_t linear = 0; linear < frame.length && linear < LINEAR_MOST; linear++) {
		const int verdict = run(&shared, frame.bytes, frame.length, linear);

		before = now;
		now = program_counters(&shared);
		if (now.reason[expected].packets != before.reason[expected].packets + 1 ||
		    now.reason[expected].bytes != before.reason[expected].bytes + frame.length)
			fail_msg("not %s with %zu of %zu bytes linear", rf_reason_name(expected),
				 linear, frame.length);
		assert_int_equal(verdict, expected < RF_FIRST_DROP ? XDP_PASS : XDP_DROP);
	}
}

/* ---- jumbo frames: fields that their limits match ---- */

enum { UDP_, DNS_, TCP_, SYN_, ACK_, FROM_, TO_, LONG_, OTHER_ };

#define BIT(limit) (1U << (limit))
#define OF_UDP (BIT(UDP_) | BIT(DNS_) | BIT(FROM_) | BIT(TO_) | BIT(LONG_))
#define OF_TCP (BIT(TCP_) | BIT(FROM_) | BIT(TO_) | BIT(LONG_))
#define OF_ACK (OF_TCP | BIT(ACK_))
#define OF_SYN (OF_TCP | BIT(SYN_))
#define OF_ANY (BIT(TO_) | BIT(LONG_))

static const char *const names[LIMITS] = {"udp",  "dns", "tcp",	 "syn",	 "ack",
					  "from", "to",	 "long", "other"};

/* No more than four limits can apply to a packet, so these are two sets. */
static const struct rules {
	const char *text;
	unsigned int limits;
} rulesets[] = {
	{"limit add udp rate 1M/1s match udp\n"
	 "limit add dns rate 1M/1s match udp dport 53\n"
	 "limit add tcp rate 1M/1s match tcp dport 443\n"
	 "limit add syn rate 1M/1s match tcp syn\n"
	 "limit add ack rate 1M/1s match tcp flags ack/syn,ack\n"
	 "limit add other rate 1M/1s match other\n",
	 BIT(UDP_) | BIT(DNS_) | BIT(TCP_) | BIT(SYN_) | BIT(ACK_) | BIT(OTHER_)},
	{"limit add from rate 1M/1s match any sport 4242\n"
	 "limit add to rate 1M/1s match any to 203.0.113.0/24,2001:db8:9::/48\n"
	 "limit add long rate 1M/1s match any length 8999-9000\n"
	 "limit add other rate 1M/1s match other\n",
	 BIT(FROM_) | BIT(TO_) | BIT(LONG_) | BIT(OTHER_)},
};

#define RULESETS 2

struct jumbo {
	const char *name;
	struct frame_part part[FRAME_PARTS];
	enum rf_reason reason;
	unsigned int limits; /* that count it */
};

static const struct jumbo jumbos[] = {
	{"IPv4 UDP", {ETH, IP4, UDP(53)}, RF_UNDER_LIMIT, OF_UDP},
	{"IPv6 UDP", {ETH, IP6, UDP(53)}, RF_UNDER_LIMIT, OF_UDP},
	{"IPv4 TCP, an ACK", {ETH, IP4, TCP(443, ACK)}, RF_UNDER_LIMIT, OF_ACK},
	{"IPv6 TCP, an ACK", {ETH, IP6, TCP(443, ACK)}, RF_UNDER_LIMIT, OF_ACK},
	{"IPv4 TCP, a SYN", {ETH, IP4, TCP(443, SYN)}, RF_UNDER_LIMIT, OF_SYN},
	{"IPv6 TCP, a SYN", {ETH, IP6, TCP(443, SYN)}, RF_UNDER_LIMIT, OF_SYN},
	{"IPv4 options, TCP", {ETH, IP4_IHL(15), TCP(443, ACK)}, RF_UNDER_LIMIT, OF_ACK},
	{"802.1Q, IPv4 UDP", {ETH, TAG_Q, IP4, UDP(53)}, RF_UNDER_LIMIT, OF_UDP},
	{"802.1ad and 802.1Q, IPv4 TCP",
	 {ETH, TAG_AD, TAG_Q, IP4, TCP(443, ACK)},
	 RF_UNDER_LIMIT,
	 OF_ACK},
	{"802.1Q, IPv6 UDP", {ETH, TAG_Q, IP6, UDP(53)}, RF_UNDER_LIMIT, OF_UDP},
	{"IPv6 hop-by-hop and destination options, UDP",
	 {ETH, IP6, HOP, DEST, UDP(53)},
	 RF_UNDER_LIMIT,
	 OF_UDP},
	{"IPv6 options of 1600 bytes, TCP",
	 {ETH, IP6, EXT(60, 199), TCP(443, ACK)},
	 RF_UNDER_LIMIT,
	 OF_ACK},
	{"IPv6 first fragment, TCP",
	 {ETH, IP6, FRAGMENT(0x0001), TCP(443, SYN)},
	 RF_UNDER_LIMIT,
	 OF_SYN},
	{"IPv6 later fragment",
	 {ETH, IP6, FRAGMENT(0x05a9), UDP(53)},
	 RF_UNDER_LIMIT,
	 OF_ANY | BIT(UDP_)},
	{"IPv6 last fragment, TCP",
	 {ETH, IP6, FRAGMENT(0x0008), TCP(443, SYN)},
	 RF_UNCLASSIFIED,
	 0},
	{"IPv4 ICMP", {ETH, IP4, ICMP(8)}, RF_UNDER_LIMIT, OF_ANY},
	{"IPv6 chain of 9 headers",
	 {ETH, IP6, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, UDP(53)},
	 RF_UNCLASSIFIED,
	 0},
	{"neighbour discovery", {ETH, IP6_HOPS(255), ICMP6(135)}, RF_NEIGHBOUR, BIT(OTHER_)},
	{"neighbour discovery behind options",
	 {ETH, TAG_Q, IP6_HOPS(255), HOP, ICMP6(135)},
	 RF_NEIGHBOUR,
	 BIT(OTHER_)},
	{"ARP", {ETH, PAYLOAD(0x0806, 28)}, RF_NON_IP, BIT(OTHER_)},
	{"IPv4 ihl 4", {ETH, IP4_IHL(4), UDP(53)}, RF_MALFORMED, 0},
};

/* The parts, and then bytes up to 9,000 that could be anything. */
static void build_jumbo(const struct jumbo *row, unsigned char bytes[JUMBO])
{
	static const unsigned char dest4[] = {203, 0, 113, 1};
	static const unsigned char dest6[] = {0x20, 0x01, 0x0d, 0xb8, 0, 9};
	struct frame frame;
	unsigned char *ip;

	frame_build(&frame, row->part);
	for (size_t i = 0; i < JUMBO; i++)
		bytes[i] = i * 7 + i / 256;
	if (frame.ip_at) {
		ip = frame.bytes + frame.ip_at;
		if (frame_is_ipv4(&frame))
			memcpy(ip + 16, dest4, sizeof(dest4));
		else
			memcpy(ip + 24, dest6, sizeof(dest6));
		frame_set_length(&frame,
				 JUMBO - (frame_is_ipv4(&frame) ? frame.ip_at : frame.ip_end));
		if (row->limits & BIT(FROM_)) /* the source port, in front of the other one */
			memcpy(frame.bytes + frame.length - (row->limits & BIT(TCP_) ? 20 : 8),
			       "\x10\x92", 2);
	}
	memcpy(bytes, frame.bytes, frame.length);
}

/* Of a row under a set of rules. */
static enum rf_reason reason_under(const struct jumbo *row, unsigned int limits)
{
	if (row->reason != RF_UNDER_LIMIT)
		return row->reason;
	return row->limits & limits ? RF_UNDER_LIMIT : RF_NO_LIMIT;
}

/* Which of these limits count the frame; it must get that reason. */
static unsigned int limits_of_run(struct program *program, unsigned int limits,
				  const unsigned char *bytes, size_t linear, enum rf_reason reason)
{
	const uint64_t counted = program_counters(program).reason[reason].packets;
	uint64_t before[LIMITS];
	unsigned int found = 0;
	int verdict;

	for (int i = 0; i < LIMITS; i++)
		if (limits & BIT(i))
			before[i] = program_limit_counters_of(program, names[i]).passed.packets;
	verdict = run(program, bytes, JUMBO, linear);
	assert_int_equal(verdict, reason < RF_FIRST_DROP ? XDP_PASS : XDP_DROP);
	assert_int_equal(program_counters(program).reason[reason].packets, counted + 1);
	for (int i = 0; i < LIMITS; i++)
		if (limits & BIT(i) &&
		    program_limit_counters_of(program, names[i]).passed.packets != before[i])
			found |= BIT(i);
	return found;
}

static void check_limits(struct program *program, unsigned int limits, const struct jumbo *row)
{
	static const size_t linear[] = {LINEAR, 0,  1,	13, 14,	 16,  18,  33,	34,  37,
					38,	39, 42, 46, 47,	 54,  57,  58,	61,  62,
					66,	70, 74, 94, 128, 255, 256, 257, 1661};
	unsigned char bytes[JUMBO];

	build_jumbo(row, bytes);
	for (size_t i = 0; i < sizeof(linear) / sizeof(*linear); i++) {
		const unsigned int found =
			limits_of_run(program, limits, bytes, linear[i], reason_under(row, limits));

		if (found != (row->limits & limits))
			fail_msg("%s, %zu bytes linear: limits %x, not %x", row->name, linear[i],
				 found, row->limits & limits);
	}
}

static void each_limit_finds_what_it_asks_for(void **state)
{
	struct program *program = *state;

	need_linear();
	for (int i = 0; i < RULESETS; i++) {
		program_apply(program, rulesets[i].text);
		for (size_t j = 0; j < sizeof(jumbos) / sizeof(*jumbos); j++)
			check_limits(program, rulesets[i].limits, &jumbos[j]);
	}
}

static void sources_keep_to_their_limit(void **state)
{
	struct program *program = *state;
	unsigned char bytes[JUMBO];

	need_linear();
	program_apply(program, "limit add any rate 10/1h match udp\n");
	for (size_t linear = 0; linear < 60; linear += 6) {
		int passed = 0;

		build_jumbo(&jumbos[linear % 4 / 2], bytes);
		bytes[14 + (linear % 4 ? 13 : 14)] = linear; /* of the source: a different one */
		for (int i = 0; i < 30; i++)
			passed += run(program, bytes, JUMBO, linear) == XDP_PASS;
		assert_int_equal(passed, 10);
	}
}

/* A SYN limit of one packet: an ACK whose flags are not linear does not count against it. */
static void an_ack_is_no_syn(void **state)
{
	struct program *program = *state;
	unsigned char ack[JUMBO], syn[JUMBO];

	need_linear();
	program_apply(program, "limit add syn rate 1/1h match tcp syn\n");
	build_jumbo(&jumbos[2], ack);
	build_jumbo(&jumbos[4], syn);
	for (size_t linear = 0; linear <= 60; linear++)
		assert_int_equal(run(program, ack, JUMBO, linear), XDP_PASS);
	assert_int_equal(run(program, syn, JUMBO, 38), XDP_PASS);
	for (size_t linear = 0; linear <= 60; linear++)
		assert_int_equal(run(program, syn, JUMBO, linear), XDP_DROP);
}

/* ---- samples ---- */

static void begin_samples(struct program *program, struct rf_sample_reader *reader)
{
	const struct rf_sampled wanted = {.one_in = 1,
					  .verdicts = RF_SAMPLE_PASSED | RF_SAMPLE_DROPPED,
					  .reasons = UINT32_MAX};
	struct rf_error error = {};

	assert_done(rf_sample_reader_open(reader, &program->fence, &error), &error);
	assert_done(rf_fence_sample(&program->fence, &wanted, &error), &error);
}

/* The first packet of a row is answered by the rules, and the others by a lease. */
static void check_samples(struct program *program, struct rf_sample_reader *reader,
			  const struct rules *set, const struct jumbo *row)
{
	static const size_t linear[] = {LINEAR, 0, 1, 14, 34, 38, 54, 127, 128, 129};
	const struct rf_sample *sample = &reader->sample[0];
	const enum rf_reason reason = reason_under(row, set->limits);
	/* What `match other` counts has its reason all the same. */
	const unsigned int limits = reason == RF_UNDER_LIMIT ? row->limits : 0;
	struct rf_error error = {};
	unsigned char bytes[JUMBO];

	build_jumbo(row, bytes);
	for (size_t i = 0; i < sizeof(linear) / sizeof(*linear); i++) {
		run(program, bytes, JUMBO, linear[i]);
		assert_int_equal(rf_sample_reader_read(reader, &program->fence, &error), 1);
		assert_int_equal(sample->len_bytes, JUMBO);
		assert_int_equal(sample->captured, RF_SAMPLE_BYTES);
		assert_memory_equal(sample->frame, bytes, RF_SAMPLE_BYTES);
		if (sample->reason != reason)
			fail_msg("%s, %zu bytes linear: %s", row->name, linear[i],
				 rf_reason_name(sample->reason));
		for (int j = 0; j < LIMITS; j++)
			if (set->limits & BIT(j))
				assert_int_equal(sample->limits >> program_slot(program, names[j]) &
							 1,
						 limits >> j & 1);
	}
}

static void samples_have_the_frame(void **state)
{
	struct program *program = *state;

	need_linear();
	for (int i = 0; i < RULESETS; i++) {
		struct rf_sample_reader reader;

		program_apply(program, rulesets[i].text);
		begin_samples(program, &reader);
		for (size_t j = 0; j < sizeof(jumbos) / sizeof(*jumbos); j++)
			check_samples(program, &reader, &rulesets[i], &jumbos[j]);
		rf_sample_reader_close(&reader);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

static const struct CMUnitTest of_jumbo_frames[] = {
	TEST(each_limit_finds_what_it_asks_for),
	TEST(sources_keep_to_their_limit),
	TEST(an_ack_is_no_syn),
	TEST(samples_have_the_frame),
};

#define JUMBO_TESTS (sizeof(of_jumbo_frames) / sizeof(of_jumbo_frames[0]))

int main(void)
{
	static struct CMUnitTest tests[RF_FRAME_COUNT + JUMBO_TESTS];
	static char test_names[RF_FRAME_COUNT][112];
	size_t count = 0;

	for (size_t i = 0; i < RF_FRAME_COUNT; i++) {
		struct frame frame;

		frame_build(&frame, rf_frames[i].part);
		if (frame.length < ETH_HLEN) /* BPF_PROG_TEST_RUN takes none; the unit tests do */
			continue;
		snprintf(test_names[i], sizeof(test_names[i]),
			 "frame '%s' is judged as if all of it were linear", rf_frames[i].name);
		tests[count++] = (struct CMUnitTest){
			.name = test_names[i],
			.test_func = frame_is_judged_as_if_linear,
			.initial_state = (void *)&rf_frames[i],
		};
	}
	for (size_t i = 0; i < JUMBO_TESTS; i++)
		tests[count++] = of_jumbo_frames[i];
	return _cmocka_run_group_tests("linear", tests, count, load, unload);
}
