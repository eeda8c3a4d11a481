// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of nftables, in rows of what nft prints and the prefixes that are expected. The prefixes of
 * random ranges are compared with a range's addresses, one by one.
 */
#include "refusal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/file.h"

#define RANDOM_RANGES 20000
#define REMEDY "; it must be what 'nft -j list set FAMILY TABLE SET' prints"
#define SET(type, elements)                                                               \
	"{\"nftables\": [{\"metainfo\": {\"version\": \"1.0.6\"}}, {\"set\": {\"type\": " \
	"\"" type "\", \"elem\": [" elements "]}}]}"

struct row {
	const char *text;
	const char *written; /* the prefixes, each followed by a blank */
	const char *refusal; /* NULL: accepted */
};

static void read_set(void **state)
{
	const struct row *row = *state;
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};
	char written[4096] = "", text[RF_PREFIX_TEXT_SIZE];
	int err = rf_nft_set_prefixes("set", row->text, &prefixes, &error);

	if (row->refusal) {
		assert_int_equal(err, -EINVAL);
		assert_string_equal(error.text, row->refusal);
	} else {
		assert_accepted(err, &error);
		for (size_t i = 0; i < prefixes.count; i++) {
			rf_format_prefix(&prefixes.prefix[i], text);
			strcat(strcat(written, text), " ");
		}
		assert_string_equal(written, row->written);
	}
	rf_prefixes_free(&prefixes);
}

/* The limits are up to 511 apart, also at both limits of all addresses. */
static void ranges_become_the_fewest_prefixes(void **state)
{
	char text[512];

	(void)state;
	srandom(1);
	for (int i = 0; i < RANDOM_RANGES; i++) {
		const uint32_t span = random() % 512;
		const uint32_t near = random() % 512;
		const uint32_t base[] = {near, UINT32_MAX - span - near, (uint32_t)random()};
		const uint32_t from =
			base[i % 3] > UINT32_MAX - span ? UINT32_MAX - span : base[i % 3];
		const struct in_addr ends[] = {{htonl(from)}, {htonl(from + span)}};
		struct rf_prefixes prefixes = {};
		struct rf_error error = {};
		char low[INET_ADDRSTRLEN], high[INET_ADDRSTRLEN];
		uint64_t next = from;

		inet_ntop(AF_INET, &ends[0], low, sizeof(low));
		inet_ntop(AF_INET, &ends[1], high, sizeof(high));
		snprintf(text, sizeof(text), SET("ipv4_addr", "{\"range\": [\"%s\", \"%s\"]}"), low,
			 high);
		assert_accepted(rf_nft_set_prefixes("set", text, &prefixes, &error), &error);
		for (size_t j = 0; j < prefixes.count; j++) {
			const struct rf_prefix *prefix = &prefixes.prefix[j];
			const uint64_t size = 1ULL << (32 - prefix->length);

			assert_int_equal(ntohl(prefix->word[0]), next);
			assert_int_equal(next % size, 0);
			/* The next larger one does not fit: it starts or ends outside. */
			assert_true(next % (2 * size) ||
				    next + 2 * size > (uint64_t)from + span + 1);
			next += size;
		}
		assert_int_equal(next, (uint64_t)from + span + 1);
		rf_prefixes_free(&prefixes);
	}
}

static void a_list_of_prefixes_is_no_set(void **state)
{
	(void)state;
	assert_true(rf_nft_set_is(" \n\t{\"nftables\": []}"));
	assert_false(rf_nft_set_is("# {\n192.0.2.1\n"));
	assert_false(rf_nft_set_is(""));
}

#define READS(title, json, prefixes)                 \
	UNIT_ROW_OF("reads a set: " title, read_set, \
		    (&(struct row){.text = json, .written = prefixes}))
#define REFUSED(title, json, sentence)                 \
	UNIT_ROW_OF("refuses a set: " title, read_set, \
		    (&(struct row){.text = json, .refusal = sentence}))

static const struct CMUnitTest tests[] = {
	READS("addresses", SET("ipv4_addr", "\"192.0.2.1\", \"192.0.2.2\""),
	      "192.0.2.1 192.0.2.2 "),
	READS("addresses of IPv6", SET("ipv6_addr", "\"2001:db8::1\""), "2001:db8::1 "),
	READS("a prefix",
	      SET("ipv4_addr", "{\"prefix\": {\"addr\": \"198.51.100.0\", \"len\": 24}}"),
	      "198.51.100.0/24 "),
	READS("everybody", SET("ipv4_addr", "{\"prefix\": {\"addr\": \"0.0.0.0\", \"len\": 0}}"),
	      "0.0.0.0/0 "),
	READS("a range", SET("ipv4_addr", "{\"range\": [\"192.0.2.1\", \"192.0.2.6\"]}"),
	      "192.0.2.1 192.0.2.2/31 192.0.2.4/31 192.0.2.6 "),
	READS("a range that is everybody",
	      SET("ipv4_addr", "{\"range\": [\"0.0.0.0\", \"255.255.255.255\"]}"), "0.0.0.0/0 "),
	READS("a range that is everybody of IPv6",
	      SET("ipv6_addr",
		  "{\"range\": [\"::\", \"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\"]}"),
	      "::/0 "),
	READS("a range over a word of IPv6",
	      SET("ipv6_addr", "{\"range\": [\"2001:db8::ffff:ffff\", \"2001:db8::1:0:0\"]}"),
	      "2001:db8::ffff:ffff 2001:db8::1:0:0 "),
	READS("the last address of IPv6",
	      SET("ipv6_addr", "\"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\""),
	      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "),
	READS("an element with a comment",
	      SET("ipv4_addr", "{\"elem\": {\"val\": \"192.0.2.1\", \"comment\": \"a\"}}"),
	      "192.0.2.1 "),
	READS("no element",
	      "{\"nftables\": [{\"set\": {\"type\": \"ipv4_addr\", \"name\": \"s\"}}]}", ""),
	REFUSED("an element with a timeout",
		SET("ipv4_addr",
		    "{\"elem\": {\"val\": \"192.0.2.1\", \"timeout\": 600, \"expires\": 599}}"),
		"set: an element has a timeout, which a list file does not support; convert the "
		"set into 'deny add PREFIX for TIME' and run 'ringfence batch'"),
	REFUSED("a set of ports", SET("inet_service", "22"),
		"set: the set's type is not ipv4_addr or ipv6_addr" REMEDY),
	REFUSED("a set of pairs",
		"{\"nftables\": [{\"set\": {\"type\": [\"ipv4_addr\", \"inet_service\"]}}]}",
		"set: the set's type is not ipv4_addr or ipv6_addr" REMEDY),
	REFUSED("two sets",
		"{\"nftables\": [{\"set\": {\"type\": \"ipv4_addr\"}}, {\"set\": {\"type\": "
		"\"ipv4_addr\"}}]}",
		"set: it has more than one set" REMEDY),
	REFUSED("other JSON", "{\"a\": [1]}", "set: it contains no nftables set" REMEDY),
	REFUSED("half of it", "{\"nftables\": [", "set:1: not JSON: ']' expected near end of file"),
	REFUSED("a range that goes back",
		SET("ipv4_addr", "{\"range\": [\"192.0.2.2\", \"192.0.2.1\"]}"),
		"set: a range does not go from a lower address to a higher one" REMEDY),
	REFUSED("a range of two families",
		SET("ipv4_addr", "{\"range\": [\"192.0.2.2\", \"2001:db8::\"]}"),
		"set: a range does not go from a lower address to a higher one" REMEDY),
	REFUSED("a range of one end", SET("ipv4_addr", "{\"range\": [\"192.0.2.2\"]}"),
		"set: an element is no address, prefix or range" REMEDY),
	REFUSED("a prefix without a length", SET("ipv4_addr", "{\"prefix\": {\"addr\": \"::\"}}"),
		"set: a prefix lacks 'addr' or 'len'" REMEDY),
	REFUSED("a number", SET("ipv4_addr", "7"),
		"set: an element is no address, prefix or range" REMEDY),
	cmocka_unit_test(ranges_become_the_fewest_prefixes),
	cmocka_unit_test(a_list_of_prefixes_is_no_set),
};

int main(void)
{
	return cmocka_run_group_tests_name("sets of nftables", tests, NULL, NULL);
}
