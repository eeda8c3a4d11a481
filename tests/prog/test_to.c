// SPDX-License-Identifier: GPL-2.0
/*
 * `to` with the maximum number of prefixes, through the loaded program. Random prefixes that
 * contain each other, or differ in a few bits, are compared with an oracle that tries them all.
 */
#include "program.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "tests/frames.h"
#include "tests/unit/unit.h"

#define RULESETS 100
#define PACKETS 40 /* for each of them, of each family */
#define LIMITS 3

struct prefix {
	unsigned char address[16];
	unsigned int length;
	int limit; /* that names it */
};

struct prefixes {
	int family;
	unsigned int bytes; /* of an address */
	struct prefix of[RF_TO_MAX];
	int count;
};

static int setup(void **state)
{
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

static bool contains(const struct prefix *prefix, const unsigned char *address)
{
	for (unsigned int bit = 0; bit < prefix->length; bit++)
		if ((prefix->address[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

/* Addresses that differ in few bits: their prefixes nest and share much. */
static void random_address(uint64_t *random, const struct prefixes *prefixes,
			   unsigned char *address)
{
	const unsigned int bits = prefixes->bytes * 8;

	memset(address, 0, 16);
	if (prefixes->count && unit_below(random, 8))
		memcpy(address, prefixes->of[unit_below(random, prefixes->count)].address, 16);
	for (int i = unit_below(random, 4); i > 0; i--) {
		const unsigned int bit = unit_below(random, bits);

		address[bit / 8] ^= 0x80 >> bit % 8;
	}
}

static void cut(struct prefix *prefix)
{
	for (unsigned int bit = prefix->length; bit < 128; bit++)
		prefix->address[bit / 8] &= ~(0x80 >> bit % 8);
}

static bool is_known(const struct prefixes *prefixes, const struct prefix *prefix)
{
	for (int i = 0; i < prefixes->count; i++)
		if (prefixes->of[i].length == prefix->length &&
		    memcmp(prefixes->of[i].address, prefix->address, 16) == 0)
			return true;
	return false;
}

static void make_prefixes(uint64_t *random, int family, struct prefixes *prefixes)
{
	const int wanted = 1 + unit_below(random, RF_TO_MAX);

	*prefixes = (struct prefixes){.family = family, .bytes = family == AF_INET ? 4 : 16};
	while (prefixes->count < wanted) {
		struct prefix prefix = {.limit = unit_below(random, LIMITS)};

		random_address(random, prefixes, prefix.address);
		prefix.length = prefixes->bytes * 8;
		if (unit_below(random, 2))
			prefix.length = unit_below(random, prefix.length + 1);
		cut(&prefix);
		if (!is_known(prefixes, &prefix))
			prefixes->of[prefixes->count++] = prefix;
	}
}

static int write_prefixes(char *text, const struct prefixes *prefixes, int limit, bool is_first)
{
	char address[INET6_ADDRSTRLEN];
	int length = 0;

	for (int i = 0; i < prefixes->count; i++) {
		if (prefixes->of[i].limit != limit)
			continue;
		inet_ntop(prefixes->family, prefixes->of[i].address, address, sizeof(address));
		length += sprintf(text + length, "%s%s/%u", is_first ? " to " : ",", address,
				  prefixes->of[i].length);
		is_first = false;
	}
	return length;
}

/* A limit without any prefix matches all packets. */
static void write_rules(char *text, const struct prefixes prefixes[2])
{
	for (int limit = 0; limit < LIMITS; limit++) {
		int length;

		text += sprintf(text, "limit add l%d rate 1M/1s", limit);
		length = write_prefixes(text, &prefixes[0], limit, true);
		text += length;
		text += write_prefixes(text, &prefixes[1], limit, !length);
		text += sprintf(text, "\n");
	}
}

static bool names_any(const struct prefixes prefixes[2], int limit)
{
	for (int family = 0; family < 2; family++)
		for (int i = 0; i < prefixes[family].count; i++)
			if (prefixes[family].of[i].limit == limit)
				return true;
	return false;
}

static bool matches(const struct prefixes prefixes[2], int family, int limit,
		    const unsigned char *dest)
{
	for (int i = 0; i < prefixes[family].count; i++)
		if (prefixes[family].of[i].limit == limit &&
		    contains(&prefixes[family].of[i], dest))
			return true;
	return !names_any(prefixes, limit);
}

static void send_to(const struct program *program, int family, const unsigned char *dest)
{
	struct frame frame = {.length = 0};

	frame_ethernet(&frame);
	if (family == 0)
		frame_ipv4(&frame, 5, 0);
	else
		frame_ipv6(&frame, 64);
	frame_udp(&frame, 4000);
	memcpy(frame.bytes + frame.ip_at + (family == 0 ? 16 : 24), dest, family == 0 ? 4 : 16);
	assert_int_equal(program_run(program->object->progs.ringfence, frame.bytes, frame.length),
			 XDP_PASS);
}

static uint64_t passed_of(const struct program *program, int limit)
{
	char name[8];

	sprintf(name, "l%d", limit);
	return program_limit_counters_of(program, name).passed.packets;
}

static void send_packets(const struct program *program, uint64_t *random,
			 const struct prefixes prefixes[2], const char *text)
{
	uint64_t expected[LIMITS];

	for (int limit = 0; limit < LIMITS; limit++)
		expected[limit] = passed_of(program, limit);
	for (int i = 0; i < 2 * PACKETS; i++) {
		unsigned char dest[16];

		random_address(random, &prefixes[i % 2], dest);
		send_to(program, i % 2, dest);
		for (int limit = 0; limit < LIMITS; limit++)
			expected[limit] += matches(prefixes, i % 2, limit, dest);
	}
	for (int limit = 0; limit < LIMITS; limit++)
		if (passed_of(program, limit) != expected[limit])
			fail_msg("limit l%d: %d packets, not %d, under\n%s", limit,
				 (int)passed_of(program, limit), (int)expected[limit], text);
}

static void any_destination_is_found_among_the_prefixes(void **state)
{
	struct program *program = *state;
	uint64_t random = unit_seed(), now_ns = START_NS;

	for (int i = 0; i < RULESETS; i++) {
		struct prefixes prefixes[2];
		char text[2048];

		make_prefixes(&random, AF_INET, &prefixes[0]);
		make_prefixes(&random, AF_INET6, &prefixes[1]);
		write_rules(text, prefixes);
		program_apply(program, text);
		program_set_time(program, now_ns += NS_PER_S);
		send_packets(program, &random, prefixes, text);
	}
}

/* Together the old prefixes of one limit and the new ones of another are too many. */
static void limits_may_trade_prefixes(void **state)
{
	struct program *program = *state;
	const unsigned char dest[16] = {192, 0, 2, 6};

	program_apply(program,
		      "limit add l0 rate 1k/1s to 192.0.2.1,192.0.2.2,192.0.2.3,192.0.2.4\n"
		      "limit add l1 rate 1k/1s to 192.0.2.5,192.0.2.6,192.0.2.7,192.0.2.8\n");
	program_apply(program, "limit add l0 rate 1k/1s to 192.0.2.5,192.0.2.6,192.0.2.7,192.0.2.8,"
			       "192.0.2.9\n"
			       "limit add l1 rate 1k/1s to 192.0.2.1,192.0.2.2,192.0.2.3\n");
	send_to(program, 0, dest);
	assert_int_equal(passed_of(program, 0), 1);
	assert_int_equal(passed_of(program, 1), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_destination_is_found_among_the_prefixes),
		TEST(limits_may_trade_prefixes),
	};

	return cmocka_run_group_tests_name("destinations", tests, NULL, NULL);
}
