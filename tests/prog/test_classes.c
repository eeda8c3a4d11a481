// SPDX-License-Identifier: GPL-2.0
/*
 * No shape of a frame bypasses a limit: packets whose class is hidden, or cannot be determined,
 * through the loaded program.
 */
#include "program.h"

#include <linux/bpf.h>

#include "tests/frames.h"

#define SENT 200

/* How many of SENT such frames pass. */
static int pass(const struct program *program, const struct frame_part *part)
{
	struct frame frame;
	int passed = 0;

	frame_build(&frame, part);
	for (int i = 0; i < SENT; i++)
		passed += program_run(program->object->progs.ringfence, frame.bytes,
				      frame.length) == XDP_PASS;
	return passed;
}

#define PASS(program, ...) \
	pass(program, (const struct frame_part[]){__VA_ARGS__, {FRAME_END, 0, 0}})

static int open_program(void **state)
{
	program_setup(state);
	program_set_time(*state, 1000 * NS_PER_S);
	return 0;
}

/* ---- padding of the frame ---- */

/*
 * A server reassembles these two fragments and replies. The zeros of padded fragments are not
 * flags.
 */
static void a_syn_in_two_fragments_is_a_syn(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add syn rate 3/1h match tcp syn\n");
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12)), 3);
	assert_int_equal(
		PASS(program, ETH, IP4_FRAGMENT(0x2000), TCP(443, SYN), SHORTEN(12), PAD(18)), 0);
	assert_int_equal(PASS(program, ETH, IP6, FRAGMENT(1), TCP(443, SYN), SHORTEN(12), PAD(64)),
			 3);
}

/* ---- packets of unknown class ---- */

#define NINE_HEADERS DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST
#define EIGHT_HEADERS DEST, DEST, DEST, DEST, DEST, DEST, DEST, DEST

static uint64_t reason_of(const struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

static void nine_extension_headers_evade_no_match(void **state)
{
	static const char *const rules[] = {
		"limit add syn rate 3/1h match tcp syn\n",
		"limit add web rate 3/1h match tcp dport 443\n",
		"limit add web rate 3/1h match tcp dport 443 from 192.0.2.0/24\n",
		"deny add 192.0.2.1\n",
	};
	struct program *program = *state;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		program_apply(program, rules[i]);
		assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), 0);
		assert_int_equal(reason_of(program, RF_UNCLASSIFIED), (i + 1) * SENT);
		assert_int_equal(PASS(program, ETH, IP6, EIGHT_HEADERS, TCP(443, SYN)),
				 i < 2 ? 3 : SENT);
	}
}

/* Each of these frames matches the ports or the protocol of the limit, or may match. */
static void packets_of_unknown_class_are_dropped(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add web rate 3/1h match tcp dport 443\n");
	assert_int_equal(PASS(program, ETH, IP4, TCP(443, SYN), SHORTEN(17), PAD(60)), 0);
	assert_int_equal(PASS(program, ETH, IP4, UDP(53), TRIM(5)), 0);
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(1), TCP(443, SYN)), 0);
	assert_int_equal(PASS(program, ETH, IP6, FRAGMENT(0x0008), TCP(443, SYN)), 0);
	assert_int_equal(PASS(program, ETH, IP6, FRAGMENT(0x05a9), DEST, TCP(443, SYN)), 0);
	assert_int_equal(PASS(program, ETH, IP6, DEST, TCP(443, SYN), SHORTEN(21), PAD(60)), 0);
	assert_int_equal(reason_of(program, RF_UNCLASSIFIED), 6 * SENT);
	/* The class of these frames is plain. */
	assert_int_equal(PASS(program, ETH, IP4, PAYLOAD(50, 24)), SENT);
	assert_int_equal(PASS(program, ETH, IP6, PAYLOAD(59, 0)), SENT);
	assert_int_equal(PASS(program, ETH, IP6, ICMP6(128), SHORTEN(5)), SENT);
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(0x20b9), UDP(53)), SENT);
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(1), UDP(53)), SENT);
	assert_int_equal(PASS(program, ETH, IP4_FRAGMENT(2), TCP(443, SYN)), SENT);
	assert_int_equal(PASS(program, ETH, IP6, HOP, FRAGMENT(0x0009), UDP(53)), SENT);
}

/* The source is certain: it is on a list, or not. */
static void lists_come_before_the_class(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add syn rate 3/1h match tcp syn\n"
			       "allow add 2001:db8:102:304::/64\n");
	assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), SENT);
	assert_int_equal(reason_of(program, RF_ALLOWED), SENT);
	program_apply(program, "limit add syn rate 3/1h match tcp syn\n"
			       "allow add 2001:db8::/64\n"
			       "deny add 2001:db8:102:304::/64\n");
	assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), 0);
	assert_int_equal(reason_of(program, RF_DENIED), SENT);
	program_apply(program, "limit add syn rate 3/1h match tcp syn\n"
			       "allow add 2001:db8::/64\n");
	assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), 0);
	assert_int_equal(reason_of(program, RF_UNCLASSIFIED), SENT);
}

/* ---- tags, and packets without source ---- */

#define EIGHT_TAGS TAG_Q, TAG_Q, TAG_AD, TAG_Q, TAG_Q, TAG_Q, TAG_Q, TAG_Q

/* The kernel removes any number of priority tags. */
static void tags_evade_no_list_and_no_limit(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 3/1h\n");
	assert_int_equal(PASS(program, ETH, TAG_Q, TAG_Q, TAG_Q, IP4, UDP(53)), 3);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, IP4, UDP(53)), 0);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, IP6, UDP(53)), 3);
	assert_int_equal(reason_of(program, RF_DEEP_VLAN), 0);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, TAG_Q, IP4, UDP(53)), 0);
	assert_int_equal(reason_of(program, RF_DEEP_VLAN), SENT);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, PAYLOAD(0x0806, 28)), SENT);
	program_apply(program, "deny add 198.51.100.0/24\n");
	assert_int_equal(PASS(program, ETH, TAG_Q, TAG_Q, TAG_Q, IP4, UDP(53)), 0);
	assert_int_equal(reason_of(program, RF_DENIED), SENT);
}

static void malformed_frames_are_dropped(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add syn rate 3/1h match tcp syn\n");
	assert_int_equal(PASS(program, ETH, IP4, TRIM(1)), 0);
	assert_int_equal(PASS(program, ETH, IP4_IHL(4), UDP(53)), 0);
	assert_int_equal(PASS(program, ETH, IP6, VERSION(4), UDP(53)), 0);
	assert_int_equal(PASS(program, ETH, TAG_Q, TRIM(1)), 0);
	assert_int_equal(reason_of(program, RF_MALFORMED), 4 * SENT);
}

/* ---- packets without source, and a limit that matches them ---- */

static void match_other_limits_packets_without_source(void **state)
{
	struct program *program = *state;
	struct rf_limit_counters counters;

	program_apply(program, "limit add any rate 1/1h\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
	program_apply(program, "limit add any rate 1/1h\nlimit add link rate 300/1h match other\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
	assert_int_equal(PASS(program, ETH, IP6_HOPS(255), ICMP6(135)), 300 - SENT);
	assert_int_equal(PASS(program, ETH, TAG_Q, PAYLOAD(0x88cc, 46)), 0);
	assert_int_equal(reason_of(program, RF_NON_IP), 2 * SENT);
	assert_int_equal(reason_of(program, RF_NEIGHBOUR), 300 - SENT);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 2 * SENT - (300 - SENT));
	counters = program_limit_counters_of(program, "link");
	assert_int_equal(counters.passed.packets, 300);
	assert_int_equal(counters.dropped.packets, 3 * SENT - 300);
	/* This limit applies only to these frames, and no other limit does. */
	assert_int_equal(PASS(program, ETH, IP4, UDP(53)), 1);
	assert_int_equal(program_limit_counters_of(program, "link").passed.packets, 300);
	/* The window remains with its limit, and reopens with time. */
	program_apply(program, "limit add link rate 310/1h match other\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), 10);
	program_set_time(program, (1000 + 2 * 3600) * NS_PER_S);
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
	/* An existing limit that becomes `match other` counts as a new limit. */
	program_apply(program, "limit add link rate 10/1h match udp\n");
	program_apply(program, "limit add link rate 10/1h match other\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), 10);
	program_apply(program, "limit add any rate 1/1h\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
}

static void match_other_in_shadow_counts(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add link rate 3/1h match other algorithm log shadow\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
	assert_int_equal(program_limit_counters_of(program, "link").would_drop.packets, SENT - 3);
	assert_int_equal(reason_of(program, RF_SHADOW_OVER), SENT - 3);
	program_apply(program, "limit add link rate 3000/1h match other bytes algorithm token\n");
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 46)), 50); /* of 60 bytes each */
}

static void match_other_ends_with_its_revert(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add link rate 1k/1h match other\n");
	program_apply_unconfirmed(program, "limit add link rate 3/1m match other\n", 10 * NS_PER_S);
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), 3);
	program_set_time(program, 1011 * NS_PER_S);
	assert_int_equal(PASS(program, ETH, PAYLOAD(0x0806, 28)), SENT);
}

/* ---- without an enforced limit ---- */

static void all_pass(struct program *program, enum rf_reason with_source, enum rf_reason without)
{
	const uint64_t before = reason_of(program, with_source) +
				(without != with_source ? reason_of(program, without) : 0);

	assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), SENT);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, TAG_Q, IP4, UDP(53)), SENT);
	assert_int_equal(PASS(program, ETH, IP4, TRIM(1)), SENT);
	assert_int_equal(reason_of(program, with_source) +
				 (without != with_source ? reason_of(program, without) : 0) -
				 before,
			 3 * SENT);
}

static void without_a_limit_in_force_nothing_is_dropped(void **state)
{
	struct program *program = *state;

	all_pass(program, RF_NO_LIMIT, RF_NO_LIMIT);
	program_apply(program, "limit add syn rate 3/1h match tcp syn shadow\n");
	all_pass(program, RF_NO_LIMIT, RF_NO_LIMIT);
	program_apply(program, "allow add 192.0.2.0/24\n");
	all_pass(program, RF_NO_LIMIT, RF_NO_LIMIT);
	program_apply(program, "limit add any rate 1k/1h shadow\n");
	all_pass(program, RF_UNDER_LIMIT, RF_NO_LIMIT);
}

/* Under unconfirmed rules, and under the rules that are restored. */
static void packets_of_unknown_class_pass_when_a_revert_ends(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 1k/1h shadow\n");
	program_apply_unconfirmed(program, "limit add any rate 1k/1h\n", 10 * NS_PER_S);
	assert_int_equal(PASS(program, ETH, EIGHT_TAGS, TAG_Q, IP4, UDP(53)), 0);
	assert_int_equal(PASS(program, ETH, IP6, NINE_HEADERS, TCP(443, SYN)), 0);
	program_set_time(program, 1011 * NS_PER_S);
	all_pass(program, RF_UNDER_LIMIT, RF_NO_LIMIT);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_program, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_syn_in_two_fragments_is_a_syn),
		TEST(nine_extension_headers_evade_no_match),
		TEST(packets_of_unknown_class_are_dropped),
		TEST(lists_come_before_the_class),
		TEST(tags_evade_no_list_and_no_limit),
		TEST(malformed_frames_are_dropped),
		TEST(match_other_limits_packets_without_source),
		TEST(match_other_in_shadow_counts),
		TEST(match_other_ends_with_its_revert),
		TEST(without_a_limit_in_force_nothing_is_dropped),
		TEST(packets_of_unknown_class_pass_when_a_revert_ends),
	};

	return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
