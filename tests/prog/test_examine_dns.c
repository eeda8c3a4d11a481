// SPDX-License-Identifier: GPL-2.0
/*
 * DNS queries of newcomers over the newcomers rate: which get a truncated response, and its
 * format. tests/unit/test_answers.c has more messages.
 */
#include "examine.h"

#include "bursts.h"
#include "tests/unit/unit.h"

#define PREFIX_MOST 256	 /* responses to a /24 or /48 in a period: ringfence-rules(5) */
#define NAMED_PORT 5300	 /* in the rules, with a socket */
#define SILENT_PORT 5301 /* in the rules, without a socket */
#define OTHER_PORT 5353	 /* with a socket */

static const struct client client = {1, 1};
static const struct headers tagged = {{{ETH, TAG_Q, IP4}, {ETH, TAG_Q, IP6}}};
static const struct headers fragment = {{{ETH, IP4_FRAGMENT(0x2000)}, {ETH, IP6, FRAGMENT(1)}}};
static const struct headers atomic = {{{ETH, IP4_FRAGMENT(0x2000)}, {ETH, IP6, ATOMIC}}};
static const struct headers later_fragment = {
	{{ETH, IP4_FRAGMENT(0x2008)}, {ETH, IP6, FRAGMENT(0x41)}}};
static const struct headers with_options = {{{ETH, IP4_IHL(6)}, {ETH, IP6, HOP}}};

/* ID 0x1234, RD, one question. */
#define HEADER(additional) "\x12\x34\1\0\0\1\0\0\0\0\0" additional
#define QUESTION "\7example\3org\0\0\1\0\1"
#define OPT "\0\0\x29\x04\xd0\0\0\x80\0"
#define COOKIE               \
	"\0\x0c\0\x0a\0\x08" \
	"cookie!!"
#define LABEL  \
	"\x3f" \
	"123456789012345678901234567890123456789012345678901234567890123"
#define LONG_QUESTION     \
	LABEL LABEL LABEL \
		"\x3d"    \
		"1234567890123456789012345678901234567890123456789012345678901\0\0\1\0\1"
/* 504 bytes of message, as many as a response has at most; a name may have only 255. */
#define LONGEST_QUESTION                          \
	LABEL LABEL LABEL LABEL LABEL LABEL LABEL \
		"\x26"                            \
		"12345678901234567890123456789012345678\0\0\1\0\1"
#define MESSAGE(text) .message = text, .length = sizeof(text) - 1
#define PLAIN MESSAGE(HEADER("\0") QUESTION)

static const struct datagram queries[] = {
	{.name = "a query", PLAIN},
	{.name = "a query at another port", .dport = NAMED_PORT, PLAIN},
	{.name = "a tagged query", .headers = &tagged, PLAIN},
	{.name = "EDNS", MESSAGE(HEADER("\1") QUESTION OPT "\0\0")},
	{.name = "EDNS with a cookie", MESSAGE(HEADER("\1") QUESTION OPT COOKIE)},
	{.name = "the longest name", MESSAGE(HEADER("\0") LONG_QUESTION)},
	{.name = "the longest message", MESSAGE(HEADER("\0") LONGEST_QUESTION)},
	{.name = "the longest name, with a cookie", MESSAGE(HEADER("\1") LONG_QUESTION OPT COOKIE)},
};

static void apply_dns(struct program *program)
{
	apply(program, "2/1s", "challenge dns 53,5300,5301");
}

/* Header and question are equal except for the flags; an OPT is without options. */
static void assert_truncated(const struct datagram *query, struct frame *response)
{
	unsigned char *message = layer4_of(response) + 8;
	const bool has_opt = query->message[11];
	size_t length = 12;

	while (query->message[length])
		length += 1 + query->message[length];
	length += 5;
	assert_int_equal(number16(message - 4), 8 + length + (has_opt ? 11 : 0));
	assert_int_equal(frame_packet_end(response), response->ip_end + number16(message - 4));
	assert_int_equal(number16(message + 2), 0x8300); /* QR, TC, RD; no error */
	memcpy(message + 2, query->message + 2, 2);
	assert_memory_equal(message, query->message, length);
	if (has_opt)
		assert_memory_equal(message + length, OPT "\0\0", 11);
}

static void a_query_is_answered_with_tc(void **state)
{
	struct program *program = *state;

	apply_dns(program);
	for (size_t i = 0; i < 2 * UNIT_ARRAY_SIZE(queries); i++) {
		const struct datagram *query = &queries[i / 2];
		const struct frame question = datagram_from(client, query);
		struct frame response = question;

		print_message("# %s\n", query->name);
		assert_int_equal(run(entry_of(program, i % 2), &response), XDP_TX);
		assert_response(&question, &response);
		assert_truncated(query, &response);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 2 * UNIT_ARRAY_SIZE(queries));
	/* A query proves nothing. */
	assert_int_equal(program_counters(program).newcomers_admitted, 2);
}

static void a_query_in_two_buffers_is_answered(void **state)
{
	const struct datagram query = {.headers = &tagged,
				       MESSAGE(HEADER("\1") QUESTION OPT COOKIE)};
	const struct frame question = datagram_from(client, &query);
	struct program *program = *state;

	apply_dns(program);
	assert_equal_in_two_buffers(program, &question,
				    datagram_from((struct client){2, 2}, &query));
}

static const struct datagram dropped[] = {
	{.name = "a named port without a socket", .dport = SILENT_PORT, PLAIN},
	{.name = "a socket at another port", .dport = OTHER_PORT, PLAIN},
	{.name = "a TCP port", .dport = PORT, PLAIN},
	{.name = "a response", .flags = 0x80, PLAIN},
	{.name = "a NOTIFY", .flags = 0x20, PLAIN},
	{.name = "bytes after the question", MESSAGE(HEADER("\0") QUESTION "x")},
	{.name = "no DNS", MESSAGE("x")},
	{.name = "no payload", MESSAGE("")},
	{.name = "a fragment", .headers = &fragment, PLAIN},
	{.name = "an atomic fragment", .headers = &atomic, PLAIN},
	{.name = "a later fragment", .headers = &later_fragment, PLAIN},
	{.name = "IP options or extension headers", .headers = &with_options, PLAIN},
	{.name = "a frame that is cut off", .trim = 1, PLAIN},
	{.name = "a UDP header that is cut off", .trim = sizeof(HEADER("\0") QUESTION) + 1, PLAIN},
	{.name = "a UDP length beyond the packet", .longer = 1, PLAIN},
	{.name = "a UDP length of less", .longer = -1, PLAIN},
	{.name = "a UDP length without a message",
	 .longer = 1 - (int)sizeof(HEADER("\0") QUESTION),
	 PLAIN},
	{.name = "a UDP length of 7", .longer = -(int)sizeof(HEADER("\0") QUESTION), PLAIN},
	{.name = "a UDP length of 65535",
	 .longer = 65535 - 7 - (int)sizeof(HEADER("\0") QUESTION),
	 PLAIN},
};

static void other_datagrams_are_dropped(void **state)
{
	struct program *program = *state;

	apply_dns(program);
	for (size_t i = 0; i < 2 * UNIT_ARRAY_SIZE(dropped); i++) {
		struct frame frame = datagram_from(client, &dropped[i / 2]);

		if (run(entry_of(program, i % 2), &frame) != XDP_DROP)
			fail_msg("not dropped: %s", dropped[i / 2].name);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
	assert_int_equal(reason_of(program, RF_NEWCOMER_DROP), 998 + 2 * UNIT_ARRAY_SIZE(dropped));
}

static void a_frame_to_another_ethernet_address_is_not_answered(void **state)
{
	struct program *program = *state;
	struct frame frame = datagram_from(client, &queries[0]);

	apply_dns(program);
	frame.bytes[5] ^= 1;
	assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
}

static void only_challenges_answer_queries(void **state)
{
	static const char *const thens[] = {"drop", "drop except established",
					    "challenge dns none"};
	struct program *program = *state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(thens); i++) {
		struct frame frame = datagram_from(client, &queries[0]);

		program_set_time(program, START_NS + 10 * i * NS_PER_S);
		apply(program, "2/1s", thens[i]);
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
}

/* SYNs and queries have the same limit. */
static void a_prefix_gets_few_answers(void **state)
{
	struct program *program = *state;
	uint64_t answered = 0;

	apply_dns(program);
	for (unsigned int i = 0; i < 2000; i++) {
		const struct client one = {1, i % 256};
		struct frame query = datagram_from(one, &queries[0]);

		answered += run(entry_of(program, 0), &query) == XDP_TX;
		answered += run_segment(program, one, &(struct segment){.flags = SYN}) == XDP_TX;
	}
	assert_int_equal(answered, PREFIX_MOST);
}

static int open_sockets(void **state)
{
	static const uint16_t ports[] = {53, NAMED_PORT, OTHER_PORT};

	open_namespace(state);
	for (ip_version = 4; ip_version <= 6; ip_version += 2)
		for (size_t i = 0; i < UNIT_ARRAY_SIZE(ports); i++) {
			const struct sockaddr_storage at = server_address(ports[i]);

			bind_socket(SOCK_DGRAM, &at);
		}
	return 0;
}

static void malformed_queries_use_up_no_answers(void **state)
{
	static const char garbage[40] = "garbage";
	const struct datagram malformed = {.message = garbage, .length = sizeof(garbage)};
	struct program *program = *state;
	struct frame frame;

	apply(program, "2/1s", "challenge answers 30/1h");
	for (unsigned int i = 0; i < 100; i++) {
		frame = datagram_from((struct client){1 + i, 1}, &malformed);
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
	}
	frame = datagram_from(client, &queries[0]);
	assert_int_equal(run(entry_of(program, 0), &frame), XDP_TX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(a_query_is_answered_with_tc),
		TEST_BOTH(a_query_in_two_buffers_is_answered),
		TEST_BOTH(other_datagrams_are_dropped),
		TEST_BOTH(a_frame_to_another_ethernet_address_is_not_answered),
		TEST_BOTH(only_challenges_answer_queries),
		TEST_BOTH(a_prefix_gets_few_answers),
		TEST_BOTH(malformed_queries_use_up_no_answers),
	};

	return cmocka_run_group_tests(tests, open_sockets, NULL);
}
