// SPDX-License-Identifier: GPL-2.0
/*
 * The packet parser against the table of frames: each frame whole, truncated at every length, and
 * padded; every value of a next header; and a million frames mutated with a fixed seed. A frame is
 * at the very end of a separate allocation, which lets AddressSanitizer detect any read behind it,
 * and starts 2 bytes off a multiple of 4, as in the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/frames.h"

#define FUZZ_ROUNDS 1000000
#define FUZZ_MUTATIONS_MAX 8
#define OLD_BYTES 96 /* behind a copy, together with bytes of longer frames before */

static unsigned int plain_frames;
static unsigned char old_byte = 0xa5;

/* A frame that is called plain must get the same result from the parser. */
static void check_plain(const void *bytes, const void *end, enum rf_parsed parsed,
			const struct rf_packet *packet)
{
	struct rf_packet plain;

	memset(&plain, 0xa5, sizeof(plain));
	if (!rf_packet_is_plain4(bytes, end, &plain) && !rf_packet_is_plain6(bytes, end, &plain))
		return;
	plain_frames++;
	assert_int_equal(parsed, RF_PARSED_SOURCE);
	assert_int_equal(plain.version, packet->version);
	assert_memory_equal(plain.source, packet->source, sizeof(plain.source));
	assert_int_equal(plain.protocol, packet->protocol);
	assert_int_equal(plain.flags, packet->flags);
	assert_int_equal(plain.dport, packet->dport);
}

/*
 * A copy of the frame in memory of the size that the program has for it, with old bytes behind,
 * must get the same result.
 */
static void check_copied(const unsigned char *bytes, size_t length, enum rf_parsed parsed,
			 const struct rf_packet *packet)
{
	static unsigned char block[2 + RF_HEADERS_MAX];
	struct rf_packet copied;

	memcpy(block + 2, bytes, length);
	memset(block + 2 + length, old_byte, OLD_BYTES);
	assert_int_equal(rf_packet_parse(block + 2, block + 2 + length, &copied), parsed);
	if (parsed == RF_PARSED_SOURCE)
		assert_memory_equal(&copied, packet, sizeof(copied));
}

static enum rf_parsed parse(const unsigned char *bytes, size_t length, struct rf_packet *packet)
{
	unsigned char *block = malloc(2 + length);
	enum rf_parsed parsed;

	assert_non_null(block);
	memcpy(block + 2, bytes, length);
	memset(packet, 0xa5, sizeof(*packet));
	parsed = rf_packet_parse(block + 2, block + 2 + length, packet);
	check_plain(block + 2, block + 2 + length, parsed, packet);
	assert_memory_equal(block + 2, bytes, length);
	free(block);
	check_copied(bytes, length, parsed, packet);
	return parsed;
}

/* ---- whole frames ---- */

static void test_whole(void **state)
{
	const struct rf_frame *expected = *state;
	struct rf_packet packet;
	struct frame frame;

	frame_build(&frame, expected->part);
	assert_int_equal(parse(frame.bytes, frame.length, &packet), expected->parsed);
	if (expected->parsed != RF_PARSED_SOURCE)
		return;
	assert_int_equal(packet.version, expected->version);
	assert_memory_equal(packet.source, expected->source, sizeof(expected->source));
	assert_int_equal(packet.protocol, expected->protocol);
	assert_int_equal(packet.flags, expected->flags);
	assert_int_equal(packet.dport, expected->dport);
}

/* ---- cut frames ---- */

/*
 * Behind the fixed IP header the source is certain; a frame that is truncated before that has no
 * source.
 */
static bool is_of_cut(enum rf_parsed parsed, const struct rf_frame *whole,
		      const struct frame *frame, size_t length)
{
	bool sourced = whole->parsed == RF_PARSED_SOURCE || whole->parsed == RF_PARSED_NEIGHBOUR;

	if (!sourced)
		return parsed == whole->parsed || parsed == RF_PARSED_MALFORMED;
	if (length < frame->ip_end)
		return parsed == RF_PARSED_MALFORMED;
	return parsed == (length < frame->length ? RF_PARSED_SOURCE : whole->parsed);
}

static bool has_source_of(const struct rf_packet *packet, const struct frame *frame)
{
	static const unsigned char source4[16] = FRAME_SOURCE4, source6[16] = FRAME_SOURCE6;

	if (frame_is_ipv4(frame))
		return packet->version == 4 && memcmp(packet->source, source4, 16) == 0;
	return packet->version == 6 && memcmp(packet->source, source6, 16) == 0;
}

/*
 * The same class as the whole frame, or unknown; TCP that is cut behind its ports counts as a SYN.
 */
static bool has_class_of(const struct rf_packet *packet, const struct rf_frame *whole)
{
	unsigned int if_cut = whole->flags | (whole->protocol == 6 ? RF_SYN | RF_TCP_CUT : 0);

	if (packet->protocol != whole->protocol && packet->protocol != RF_PROTOCOL_UNKNOWN)
		return false;
	return ((packet->flags == whole->flags || packet->flags == if_cut) &&
		packet->dport == whole->dport) ||
	       (packet->flags == RF_CLASS_UNKNOWN && packet->dport == 0);
}

/* If the rest of the frame would change the result, the parser requests it. */
static void check_reach(const struct frame *frame, size_t length)
{
	struct rf_packet packet, of_whole;
	enum rf_parsed parsed = parse(frame->bytes, length, &packet);

	if (rf_packet_reaches(parsed, &packet, length))
		return;
	assert_int_equal(parse(frame->bytes, frame->length, &of_whole), parsed);
	if (parsed == RF_PARSED_SOURCE && memcmp(&of_whole, &packet, sizeof(packet)) != 0)
		fail_msg("%zu of %zu bytes seem to be enough", length, frame->length);
}

static void check_cut(const struct rf_frame *whole, const struct frame *frame, size_t length)
{
	struct rf_packet packet;
	enum rf_parsed parsed = parse(frame->bytes, length, &packet);

	if (!is_of_cut(parsed, whole, frame, length))
		fail_msg("%zu of %zu bytes: found %d", length, frame->length, parsed);
	if (parsed != RF_PARSED_SOURCE)
		return;
	if (!has_source_of(&packet, frame))
		fail_msg("%zu of %zu bytes: another source", length, frame->length);
	if (whole->parsed == RF_PARSED_SOURCE && !has_class_of(&packet, whole))
		fail_msg("%zu of %zu bytes: protocol %d, flags %d, port %d", length, frame->length,
			 packet.protocol, packet.flags, packet.dport);
}

static void test_cut(void **state)
{
	const struct rf_frame *whole = *state;
	struct frame frame;

	frame_build(&frame, whole->part);
	for (size_t length = 0; length <= frame.length; length++) {
		check_cut(whole, &frame, length);
		check_reach(&frame, length);
	}
}

/* A frame whose headers are all there is not read again for the rest of it. */
static void whole_headers_reach_no_farther(void **state)
{
	static const struct frame_part parts[][6] = {
		{ETH, IP4, UDP(53), PAD(99), {FRAME_END, 0, 0}},
		{ETH, IP4_IHL(15), TCP(80, ACK), PAD(99), {FRAME_END, 0, 0}},
		{ETH, TAG_Q, IP6, HOP, TCP(80, SYN), {FRAME_END, 0, 0}},
		{ETH, TAG_Q, IP4, ICMP(8), PAD(99), {FRAME_END, 0, 0}},
		{ETH, IP6_HOPS(255), ICMP6(135), {FRAME_END, 0, 0}},
		{ETH, PAYLOAD(0x0806, 28), {FRAME_END, 0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct rf_packet packet;
		struct frame frame;
		enum rf_parsed parsed;

		frame_build(&frame, parts[i]);
		parsed = parse(frame.bytes, frame.length, &packet);
		assert_false(rf_packet_reaches(parsed, &packet, frame.length));
	}
}

/* ---- padded frames ---- */

static void pad_to(struct frame *frame, size_t length)
{
	if (frame->length < length)
		frame_pad(frame, length - frame->length);
}

static void check_padded(const struct frame *frame, size_t length)
{
	struct rf_packet packet, of_padded;
	struct frame padded = *frame;
	enum rf_parsed parsed = parse(frame->bytes, frame->length, &packet);

	pad_to(&padded, length);
	assert_int_equal(parse(padded.bytes, padded.length, &of_padded), parsed);
	if (parsed == RF_PARSED_SOURCE)
		assert_memory_equal(&of_padded, &packet, sizeof(packet));
}

/*
 * Pads to the shortest and the longest Ethernet frame, and to the largest frame of these tests. A
 * frame that is shorter than its packet's length is filled up first: those bytes are not padding.
 */
static void test_padded(void **state)
{
	const struct rf_frame *row = *state;
	struct frame frame;

	frame_build(&frame, row->part);
	if (row->parsed != RF_PARSED_SOURCE && row->parsed != RF_PARSED_NEIGHBOUR)
		return; /* no IP packet: what follows is not behind it */
	pad_to(&frame, frame_packet_end(&frame) ? frame_packet_end(&frame) : ETH_FRAME_LEN);
	check_padded(&frame, ETH_ZLEN);
	check_padded(&frame, ETH_FRAME_LEN);
	check_padded(&frame, FRAME_SIZE);
}

/* ---- every next header ---- */

static bool is_extension(unsigned int protocol)
{
	static const unsigned char extensions[] = {0, 43, 44, 51, 60, 135, 139, 140};

	return memchr(extensions, protocol, sizeof(extensions)) != NULL;
}

/* A header of 8 bytes, then UDP. */
static void every_next_header_is_classified(void **state)
{
	(void)state;
	for (unsigned int protocol = 0; protocol <= 255; protocol++) {
		const struct frame_part parts[] = {
			ETH, IP6, EXT(protocol, 0), UDP(53), {FRAME_END, 0, 0}};
		struct rf_packet packet;
		struct frame frame;

		frame_build(&frame, parts);
		assert_int_equal(parse(frame.bytes, frame.length, &packet), RF_PARSED_SOURCE);
		assert_int_equal(packet.protocol, is_extension(protocol) ? 17 : protocol);
		assert_int_equal(packet.dport, is_extension(protocol) ? 53 : 0);
	}
}

/* ---- plain frames ---- */

static void plain_frames_take_the_short_path(void **state)
{
	static const struct frame_part parts[][4] = {
		{ETH, IP4, UDP(53), {FRAME_END, 0, 0}},
		{ETH, IP4, TCP(80, 0), {FRAME_END, 0, 0}},
		{ETH, IP6, UDP(53), {FRAME_END, 0, 0}},
		{ETH, IP6, TCP(80, 0), {FRAME_END, 0, 0}},
		{ETH, IP4, TCP(80, SYN), {FRAME_END, 0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct rf_packet packet;
		struct frame frame;

		frame_build(&frame, parts[i]);
		plain_frames = 0;
		parse(frame.bytes, frame.length, &packet);
		assert_int_equal(plain_frames, 1);
	}
}

/* ---- mutated frames ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Changes some bytes, mostly in headers; returns the length to which the frame is cut. */
static size_t mutate(struct frame *frame, uint64_t *random)
{
	static const unsigned char telling[] = {0,    1,    0x08, 0x40, 0x45, 0x4f, 0x60, 0x81,
						0x86, 0x88, 0xa8, 0xdd, 43,   44,   51,	  60,
						58,   59,   133,  135,	137,  139,  140,  255};
	size_t reach = frame->length < 96 ? frame->length : 96;
	int count = next_random(random) % (FUZZ_MUTATIONS_MAX + 1);

	for (int i = 0; reach && i < count; i++) {
		uint64_t bits = next_random(random);
		unsigned char *byte = frame->bytes + (bits >> 32) % reach;

		*byte = bits & 1 ? telling[(bits >> 8) % sizeof(telling)] : bits >> 16;
	}
	if (next_random(random) % 4)
		return frame->length;
	return next_random(random) % (frame->length + 1);
}

/* Finds the source byte by byte; RF_PARSED_SOURCE for neighbour discovery as well. */
static enum rf_parsed locate(const unsigned char *bytes, size_t length, size_t *ip_at)
{
	size_t at = 12;
	int tags = 0;

	for (;;) {
		if (length < at + 2)
			return RF_PARSED_MALFORMED;
		if (memcmp(bytes + at, "\x81\x00", 2) != 0 &&
		    memcmp(bytes + at, "\x88\xa8", 2) != 0)
			break;
		if (++tags > 8)
			return RF_PARSED_DEEP_VLAN;
		at += 4;
	}
	*ip_at = at + 2;
	if (memcmp(bytes + at, "\x08\x00", 2) == 0)
		return length >= *ip_at + 20 && bytes[*ip_at] >= 0x45 && bytes[*ip_at] <= 0x4f
			       ? RF_PARSED_SOURCE
			       : RF_PARSED_MALFORMED;
	if (memcmp(bytes + at, "\x86\xdd", 2) == 0)
		return length >= *ip_at + 40 && bytes[*ip_at] >> 4 == 6 ? RF_PARSED_SOURCE
									: RF_PARSED_MALFORMED;
	return RF_PARSED_NON_IP;
}

static void check_class(const struct rf_packet *packet)
{
	if (packet->flags & RF_HAS_DPORT)
		assert_true(packet->protocol == 6 || packet->protocol == 17);
	else
		assert_int_equal(packet->dport, 0);
	if (packet->flags & RF_SYN)
		assert_true(packet->protocol == 6 && packet->flags & RF_HAS_DPORT);
	if (packet->flags & RF_CLASS_UNKNOWN)
		assert_int_equal(packet->flags, RF_CLASS_UNKNOWN);
	if (packet->flags & RF_TCP_CUT)
		assert_true(packet->flags & RF_SYN);
	assert_int_equal(!!(packet->flags & RF_UDP_PORT),
			 packet->flags & RF_HAS_DPORT && packet->protocol == 17);
	assert_int_equal(packet->flags & ~(RF_HAS_DPORT | RF_SYN | RF_UDP_PORT | RF_CLASS_UNKNOWN |
					   RF_TCP_CUT),
			 0);
}

static enum rf_parsed check_mutated(const unsigned char *bytes, size_t length)
{
	struct rf_packet packet;
	enum rf_parsed parsed = parse(bytes, length, &packet);
	unsigned char source[16] = {};
	size_t ip_at = 0;
	enum rf_parsed expected = locate(bytes, length, &ip_at);
	bool ipv4 = ip_at && bytes[ip_at - 2] == 0x08;

	if (parsed == RF_PARSED_NEIGHBOUR) {
		assert_int_equal(expected, RF_PARSED_SOURCE);
		assert_false(ipv4);
		assert_int_equal(bytes[ip_at + 7], 255);
		return parsed;
	}
	assert_int_equal(parsed, expected);
	if (parsed != RF_PARSED_SOURCE)
		return parsed;
	memcpy(source, bytes + ip_at + (ipv4 ? 12 : 8), ipv4 ? 4 : 16);
	assert_int_equal(packet.version, ipv4 ? 4 : 6);
	assert_memory_equal(packet.source, source, sizeof(source));
	check_class(&packet);
	return parsed;
}

static void mutated_frames_are_parsed_as_by_a_second_parser(void **state)
{
	static struct frame built[RF_FRAME_COUNT];
	unsigned int seen[RF_PARSED_COUNT] = {};
	uint64_t random = 0x72696e6766656e63;

	(void)state;
	plain_frames = 0;
	for (size_t i = 0; i < RF_FRAME_COUNT; i++)
		frame_build(&built[i], rf_frames[i].part);
	for (int round = 0; round < FUZZ_ROUNDS; round++) {
		struct frame frame = built[next_random(&random) % RF_FRAME_COUNT];
		size_t length = mutate(&frame, &random);

		old_byte = round;
		seen[check_mutated(frame.bytes, length)]++;
		check_reach(&frame, length);
	}
	/* The loop must reach every result; otherwise it proves nothing about the missing one. */
	assert_true(seen[RF_PARSED_SOURCE] > FUZZ_ROUNDS / 4);
	assert_true(seen[RF_PARSED_MALFORMED] > FUZZ_ROUNDS / 100);
	assert_true(seen[RF_PARSED_NON_IP] > FUZZ_ROUNDS / 100);
	assert_true(seen[RF_PARSED_NEIGHBOUR] > FUZZ_ROUNDS / 100);
	assert_true(seen[RF_PARSED_DEEP_VLAN] > FUZZ_ROUNDS / 200);
	assert_true(plain_frames > FUZZ_ROUNDS / 20);
}

int main(void)
{
	static struct CMUnitTest tests[3 * RF_FRAME_COUNT + 4];
	static const struct {
		const char *name;
		CMUnitTestFunction function;
	} kinds[3] = {
		{"is classified", test_whole},
		{"cut at every length is classified", test_cut},
		{"padded is classified as without padding", test_padded},
	};
	static char names[3 * RF_FRAME_COUNT][96];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < 3 * RF_FRAME_COUNT; i++) {
		const struct rf_frame *row = &rf_frames[i / 3];

		snprintf(names[i], sizeof(names[i]), "frame '%s' %s", row->name, kinds[i % 3].name);
		*test++ = (struct CMUnitTest){names[i], kinds[i % 3].function, NULL, NULL,
					      (void *)row};
	}
	*test++ = (struct CMUnitTest)cmocka_unit_test(every_next_header_is_classified);
	*test++ = (struct CMUnitTest)cmocka_unit_test(plain_frames_take_the_short_path);
	*test++ = (struct CMUnitTest)cmocka_unit_test(whole_headers_reach_no_farther);
	*test++ = (struct CMUnitTest)cmocka_unit_test(
		mutated_frames_are_parsed_as_by_a_second_parser);
	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
