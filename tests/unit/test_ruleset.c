// SPDX-License-Identifier: GPL-2.0
/*
 * Rulesets: which limits a packet is charged to, in rows of limits, packets and the expected
 * result; what a ruleset refuses, and its other settings for the program.
 */
#include "charged.h"

#include <arpa/inet.h>
#include <stdio.h>

/* ---- the limits that a packet is charged to ---- */

#define LIMITS_OF_ROW 6

struct charged_row {
	const char *limit[LIMITS_OF_ROW];
	struct packet packet;
	const char *names; /* of the limits, in the order of their lines */
};

static void assert_names(const struct rf_bank *bank, uint32_t limits, const char *names)
{
	char text[RF_LIMITS_MAX * RF_NAME_SIZE] = "";

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!(limits >> slot & 1))
			continue;
		strcat(text, *text ? " " : "");
		strcat(text, bank->limit[slot].name);
	}
	assert_string_equal(text, names);
}

static void packet_is_charged(void **state)
{
	const struct charged_row *row = *state;
	struct rules rules = RULES_NEW;

	for (int i = 0; i < LIMITS_OF_ROW && row->limit[i]; i++)
		rules_add(&rules, row->limit[i]);
	rules_compile(&rules);
	assert_names(&rules.ruleset.bank, answer_of(&rules, &row->packet).limits, row->names);
	rules_free(&rules);
}

#define LIMITS(...) .limit = {__VA_ARGS__}
#define PACKET(...) .packet = {__VA_ARGS__}
#define FROM_HERE(...) .packet = {"192.0.2.1", __VA_ARGS__}
#define CHARGED(title, ...)                                      \
	UNIT_ROW_OF("charged limits: " title, packet_is_charged, \
		    (&(struct charged_row){__VA_ARGS__}))

#define ANY "any rate 1k/1s"
#define TCP_ALL "tcp rate 1k/1s match tcp"
#define SYN_ALL "syn rate 1k/1s match tcp syn"
#define UDP_ALL "udp rate 1k/1s match udp"
#define ICMP_ALL "icmp rate 1k/1s match icmp"
#define GRE "gre rate 1k/1s match proto 47"
#define EACH TCP_ALL, SYN_ALL, UDP_ALL, ICMP_ALL, GRE, ANY
#define DNS "dns rate 1k/1s dport 53"
#define DNS_UDP "dns-udp rate 1k/1s match udp dport 53"
#define WEB "web rate 1k/1s match tcp dport 80,443,8000-8100"
#define WEB_SYN "web-syn rate 1k/1s match tcp syn dport 80,443"
#define PORTS DNS, DNS_UDP, WEB, WEB_SYN, ANY
#define NET8 "net8 rate 1k/1s from 192.0.0.0/8"
#define NET24 "net24 rate 1k/1s from 192.0.2.0/24,2001:db8::/32"
#define SOURCES ANY, NET8, NET24

/* ---- refusals ---- */

/* Each limit is correct separately, so this is not wrong usage. */
static void assert_no_room(int err, const struct rf_error *error, const char *sentence)
{
	assert_int_equal(err, -ENOSPC);
	assert_string_equal(error->text, sentence);
	assert_false(error->usage);
}

static void a_fifth_limit_on_one_packet_is_refused(void **state)
{
	struct rules rules = RULES_NEW;
	int err;

	(void)state;
	rules_add(&rules, "a rate 1k/1s");
	rules_add(&rules, "b rate 1k/1s match tcp");
	rules_add(&rules, "c rate 1k/1s dport 80-90 per /24");
	rules_add(&rules, "d rate 1k/1s match tcp syn");
	rules_compile(&rules);
	rules_add(&rules, "e rate 1k/1s per /16 from 192.0.2.0/24 match proto 6 shadow");
	err = rules_try_compile(&rules);
	assert_no_room(
		err, &rules.error,
		"limits 'a', 'b', 'c', 'd' and 'e': at most 4 limits can apply to a packet, but "
		"all of these apply to some packets; delete one, or make it match fewer packets");
	rules_put(&rules, 3, "d rate 1k/1s match udp");
	rules_compile(&rules);
	rules_free(&rules);
}

static void a_shadow_makes_the_fifth_limit_where_it_replaces_none(void **state)
{
	struct rules rules = RULES_NEW;
	int err;

	(void)state;
	rules_add(&rules, "a rate 1k/1s");
	rules_add(&rules, "b rate 1k/1s match tcp");
	rules_add(&rules, "c rate 1k/1s dport 80-90 per /24");
	rules_add(&rules, "d rate 1k/1s match tcp syn");
	rules_put(&rules, 9, "e rate 10/1s from 192.0.2.0/24");
	rules_compile(&rules);
	rules_put(&rules, 9, "e rate 10/1s from 192.0.2.0/24 shadow");
	err = rules_try_compile(&rules);
	assert_no_room(
		err, &rules.error,
		"limits 'a', 'b', 'c', 'd' and 'e': at most 4 limits can apply to a packet, but "
		"all of these apply to some packets; delete one, or make it match fewer packets, "
		"or enforce the narrower of 'a' and 'e', which then replaces the other");
	rules_free(&rules);
}

static void limits_that_share_no_packet_may_be_many(void **state)
{
	struct rules rules = RULES_NEW;
	char line[128];

	(void)state;
	for (int i = 0; i < RF_LIMITS_MAX; i++) {
		if (i < 16)
			sprintf(line, "l%d rate 1k/1s match proto %d", i, 100 + i);
		else
			sprintf(line, "l%d rate 1k/1s from 192.0.2.%d", i, i);
		rules_add(&rules, line);
	}
	rules_compile(&rules);
	rules_free(&rules);
}

/* Nine limits in every combination, chosen by the bits of a number below 512. */
static void add_combinations(struct rules *rules, const char *head, const char *item)
{
	char *line = malloc(512 * 32), one[32];

	assert_non_null(line);
	for (int bit = 0; bit < 9; bit++) {
		const char *before = " ";

		sprintf(line, "l%d rate 1k/1s match proto %d %s", bit, *item == '%' ? 6 : 100 + bit,
			head);
		for (int number = 0; number < 512; number++) {
			if (!(number >> bit & 1))
				continue;
			sprintf(one, item, number / 256 * (*item != '%') + number * (*item == '%'),
				number % 256);
			strcat(line, before);
			strcat(line, one);
			before = ",";
		}
		rules_add(rules, line);
	}
	free(line);
}

static void too_many_kinds_of_packets_are_refused(void **state)
{
	struct rules rules = RULES_NEW;
	int err;

	(void)state;
	add_combinations(&rules, "dport", "%d");
	err = rules_try_compile(&rules);
	assert_no_room(
		err, &rules.error,
		"limits 'l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7' and 1 more make more than "
		"255 kinds of packets that differ in their limits; delete some, or let "
		"their ports, lengths, flags and 'to' overlap less");
	rules_free(&rules);
}

/* Ten limits that packets match in nearly any combination. */
static void too_many_kinds_of_shapes_are_refused(void **state)
{
	static const char *const words[] = {"sport 1",	 "length 60",	"flags SYN", "flags ACK",
					    "flags FIN", "flags RST",	"flags PSH", "flags URG",
					    "flags ECE", "to 192.0.2.1"};
	struct rules rules = RULES_NEW;
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(line, sizeof(line), "l%zu rate 1k/1s match tcp %s", i, words[i]);
		rules_add(&rules, line);
	}
	assert_no_room(rules_try_compile(&rules), &rules.error,
		       "limits 'l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7' and 2 more make more "
		       "than 255 kinds of packets that differ in their limits; delete some, or let "
		       "their ports, lengths, flags and 'to' overlap less");
	rules_free(&rules);
}

static void too_many_kinds_of_sources_are_refused(void **state)
{
	struct rules rules = RULES_NEW;
	int err;

	(void)state;
	add_combinations(&rules, "from", "10.0.%d.%d");
	err = rules_try_compile(&rules);
	assert_no_room(err, &rules.error,
		       "there are more than 256 kinds of sources that differ in their limits; use "
		       "fewer limits with 'from', or fewer prefixes of theirs that overlap");
	rf_ruleset_del_limit(&rules.ruleset, 8);
	rules_compile(&rules); /* 256 kinds: sources without a limit are one of them */
	assert_int_equal(rules.compiled.value[rules.ruleset.listed_count - 1].prefix_class, 255);
	rules_free(&rules);
}

static void a_from_without_prefix_is_refused(void **state)
{
	struct rules rules = RULES_NEW;
	int err = rules_try_put(&rules, 0, "a rate 1k/1s from file /dev/null", NULL);

	(void)state;
	assert_refused(err, &rules.error,
		       "limit 'a': 'from' has no prefix, so no packet would match; add a prefix, "
		       "or leave out 'from'");
	rules_free(&rules);
}

/* ---- classes ---- */

struct unit_row {
	const char *limit[3];
	struct rf_packet_class class;
};

static void class_has_a_unit(void **state)
{
	const struct unit_row *row = *state;
	struct rules rules = RULES_NEW;
	const struct rf_packet_class *class;

	for (int i = 0; i < 3 && row->limit[i]; i++)
		rules_add(&rules, row->limit[i]);
	rules_compile(&rules);
	class = &rules.ruleset.bank.packet_class[rules.ruleset.bank.class_of_protocol[TCP]];
	assert_memory_equal(class, &row->class, sizeof(*class));
	rules_free(&rules);
}

#define UNIT(title, ...) \
	UNIT_ROW_OF("unit of " title, class_has_a_unit, (&(struct unit_row){__VA_ARGS__}))

static void class_0_has_no_limit(void **state)
{
	struct rules rules = RULES_NEW;
	const struct rf_bank *bank = &rules.ruleset.bank;

	(void)state;
	rules_compile(&rules);
	for (int of = 0; of < RF_PORTS_OF_COUNT; of++)
		assert_int_equal(bank->class_of_ports[of], 0);
	for (int protocol = 0; protocol < 256; protocol++)
		assert_int_equal(bank->class_of_protocol[protocol], 0);
	assert_int_equal(bank->packet_class[0].limits, 0);
	assert_int_equal(bank->flags, 0);
	rules_add(&rules, ANY);
	rules_compile(&rules);
	assert_int_equal(bank->packet_class[0].limits, 0);
	assert_int_equal(bank->packet_class[0].unit, RF_PACKETS);
	assert_int_equal(bank->class_of_protocol[255], bank->class_of_protocol[0]);
	assert_int_equal(bank->packet_class[bank->class_of_protocol[255]].limits, 1);
	rules_free(&rules);
}

static void limits_in_shadow_are_marked_in_their_class(void **state)
{
	struct rules rules = RULES_NEW;

	(void)state;
	rules_put(&rules, 2, "a rate 1k/1s shadow");
	rules_put(&rules, 3, "b rate 1k/1s");
	rules_put(&rules, 31, "c rate 1k/1s shadow");
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.shadows, 1U << 2 | 1U << 31);
	rf_ruleset_del_limit(&rules.ruleset, 31);
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.shadows, 1U << 2);
	rules_free(&rules);
}

static void limits_of_rate_0_are_marked_and_give_their_class_no_unit(void **state)
{
	struct rules rules = RULES_NEW;
	const struct rf_bank *bank = &rules.ruleset.bank;

	(void)state;
	rules_put(&rules, 2, "a rate 0 match tcp shadow");
	rules_put(&rules, 3, "b rate 1M/1s bytes match tcp");
	rules_put(&rules, 31, "c rate 0 bytes match udp");
	rules_compile(&rules);
	assert_int_equal(bank->rate0, 1U << 2 | 1U << 31);
	assert_int_equal(bank->shadows, 1U << 2);
	assert_int_equal(bank->packet_class[bank->class_of_protocol[TCP]].unit, RF_BYTES);
	assert_int_equal(bank->packet_class[bank->class_of_protocol[TCP]].is_mixed, 0);
	assert_int_equal(bank->packet_class[bank->class_of_protocol[UDP]].unit, RF_PACKETS);
	assert_true(bank->flags & RF_BANK_IN_FORCE);
	rf_ruleset_del_limit(&rules.ruleset, 31);
	rules_put(&rules, 2, "a rate 1/1s match tcp shadow");
	rules_compile(&rules);
	assert_int_equal(bank->rate0, 0);
	assert_int_equal(bank->packet_class[bank->class_of_protocol[TCP]].is_mixed, 1);
	rules_free(&rules);
}

static void match_other_applies_to_no_source(void **state)
{
	struct rules rules = RULES_NEW;
	struct rf_error error = {};
	struct rf_compiled compiled = {};

	(void)state;
	rules_put(&rules, 2, "a rate 1k/1s per /24");
	rules_put(&rules, 3, "b rate 1k/1s match other");
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.other, 3 + 1);
	assert_int_equal(rules.ruleset.bank.prefix_class[0], 1U << 2);
	assert_int_equal(rules.ruleset.bank.lease_mask4, rf_prefix_mask(24, 0));
	for (int i = 0; i < 256; i++)
		assert_int_equal(
			rules.ruleset.bank.packet_class[rules.ruleset.bank.class_of_protocol[i]]
				.limits,
			1U << 2);
	rules_put(&rules, 4, "c rate 1k/1s match other");
	assert_int_equal(rf_ruleset_compile(&rules.ruleset, &compiled, &error), -EEXIST);
	assert_string_equal(
		error.text,
		"limits 'b' and 'c': only one limit can have 'match other'; delete one");
	rf_compiled_free(&compiled);
	rf_ruleset_del_limit(&rules.ruleset, 3);
	rf_ruleset_del_limit(&rules.ruleset, 4);
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.other, 0);
	rules_free(&rules);
}

static void limits_that_ban_are_marked_in_their_class(void **state)
{
	struct rules rules = RULES_NEW;
	struct rf_bank *bank = &rules.ruleset.bank;

	(void)state;
	rules_put(&rules, 2, "a rate 1k/1s ban 1h");
	rules_put(&rules, 3, "b rate 1k/1s match tcp");
	rules_put(&rules, 31, "c rate 1k/1s ban 1h all");
	rules_compile(&rules);
	assert_int_equal(bank->bans, 1U << 2 | 1U << 31);
	assert_int_equal(bank->bans_all, 1U << 31);
	assert_true(bank->flags & RF_BANK_BANS_ALL);
	rf_ruleset_del_limit(&rules.ruleset, 31);
	rules_compile(&rules);
	assert_int_equal(bank->bans, 1U << 2);
	assert_int_equal(bank->bans_all, 0);
	assert_false(bank->flags & RF_BANK_BANS_ALL);
	rules_free(&rules);
}

/* ---- leases ---- */

struct lease_row {
	const char *limit[3];
	const char *deny;
	uint32_t mask4;
	uint32_t mask6[2];
	uint32_t flags;
};

static void lease_tells_sources_apart(void **state)
{
	const struct lease_row *row = *state;
	struct rules rules = RULES_NEW;
	const struct rf_bank *bank = &rules.ruleset.bank;
	__be32 mask6[2];

	for (int i = 0; i < 3 && row->limit[i]; i++)
		rules_add(&rules, row->limit[i]);
	if (row->deny)
		rules_list(&rules, RF_DENY, row->deny, RF_FOREVER);
	rules_compile(&rules);
	mask6[0] = (__be32)bank->lease_mask6;
	mask6[1] = (__be32)(bank->lease_mask6 >> 32);
	assert_int_equal(ntohl(bank->lease_mask4), row->mask4);
	assert_int_equal(ntohl(mask6[0]), row->mask6[0]);
	assert_int_equal(ntohl(mask6[1]), row->mask6[1]);
	assert_int_equal(bank->flags, row->flags);
	rules_free(&rules);
}

#define LEASE(title, ...)                                                          \
	UNIT_ROW_OF("how leases group sources: " title, lease_tells_sources_apart, \
		    (&(struct lease_row){__VA_ARGS__}))
#define MASK4(mask) .mask4 = mask
#define MASK6(...) .mask6 = {__VA_ARGS__}
#define FLAGS(set) .flags = set
#define PREFIXES (RF_BANK_PREFIXES4 | RF_BANK_PREFIXES6)

/* Two limits, and which of them a TCP packet of 192.0.2.1 to port 80 is charged to. */
#define PAIR(title, first, second, which) \
	CHARGED(title, LIMITS(first, second), FROM_HERE(TCP, 80), .names = which)

static const struct CMUnitTest tests[] = {
	CHARGED("nothing without limits", FROM_HERE(TCP, 80), .names = ""),
	CHARGED("match any, a TCP packet", LIMITS(ANY), FROM_HERE(TCP, 80), .names = "any"),
	CHARGED("match any, a packet of unknown protocol", LIMITS(ANY), FROM_HERE(255, NO_PORT),
		.names = "any"),
	CHARGED("each match, a TCP packet", LIMITS(EACH), FROM_HERE(TCP, 80), .names = "tcp any"),
	CHARGED("each match, a later fragment of TCP", LIMITS(EACH), FROM_HERE(TCP, NO_PORT),
		.names = "tcp any"),
	CHARGED("each match, a SYN", LIMITS(EACH), FROM_HERE(TCP, 80, true),
		.names = "tcp syn any"),
	CHARGED("each match, a UDP packet", LIMITS(EACH), FROM_HERE(UDP, 80), .names = "udp any"),
	CHARGED("each match, an ICMP packet", LIMITS(EACH), FROM_HERE(ICMP, NO_PORT),
		.names = "icmp any"),
	CHARGED("each match, an ICMPv6 packet", LIMITS(EACH), PACKET("::1", ICMPV6, NO_PORT),
		.names = "icmp any"),
	CHARGED("each match, a GRE packet", LIMITS(EACH), FROM_HERE(47, NO_PORT),
		.names = "gre any"),
	CHARGED("each match, a packet of another protocol", LIMITS(EACH), FROM_HERE(48, NO_PORT),
		.names = "any"),
	CHARGED("match proto 6, TCP", LIMITS("six rate 1k/1s match proto 6", TCP_ALL),
		FROM_HERE(TCP, 80, true), .names = "six tcp"),
	CHARGED("match proto 0", LIMITS("zero rate 1k/1s match proto 0", TCP_ALL),
		FROM_HERE(0, NO_PORT), .names = "zero"),

	CHARGED("dport, UDP", LIMITS(PORTS), FROM_HERE(UDP, 53), .names = "dns dns-udp any"),
	CHARGED("dport without match, TCP", LIMITS(PORTS), FROM_HERE(TCP, 53), .names = "dns any"),
	CHARGED("dport without match, a SYN", LIMITS(PORTS), FROM_HERE(TCP, 53, true),
		.names = "dns any"),
	CHARGED("dport with match tcp, TCP", LIMITS(PORTS), FROM_HERE(TCP, 80), .names = "web any"),
	CHARGED("dport with match tcp, a SYN", LIMITS(PORTS), FROM_HERE(TCP, 443, true),
		.names = "web web-syn any"),
	CHARGED("dport with match tcp, UDP", LIMITS(PORTS), FROM_HERE(UDP, 80), .names = "any"),
	CHARGED("the first port of a range", LIMITS(PORTS), FROM_HERE(TCP, 8000),
		.names = "web any"),
	CHARGED("the last port of a range", LIMITS(PORTS), FROM_HERE(TCP, 8100),
		.names = "web any"),
	CHARGED("the port before a range", LIMITS(PORTS), FROM_HERE(TCP, 7999), .names = "any"),
	CHARGED("the port after a range", LIMITS(PORTS), FROM_HERE(TCP, 8101), .names = "any"),
	CHARGED("a later fragment has no port", LIMITS(PORTS), FROM_HERE(UDP, NO_PORT),
		.names = "any"),
	CHARGED("a packet without port", LIMITS(PORTS), FROM_HERE(ICMP, NO_PORT), .names = "any"),
	CHARGED("ports of protocol 17", LIMITS("p rate 1k/1s match proto 17 dport 1"),
		FROM_HERE(UDP, 1), .names = "p"),
	CHARGED("ports of protocol 6, by a SYN", LIMITS("p rate 1k/1s match proto 6 dport 65535"),
		FROM_HERE(TCP, 65535, true), .names = "p"),

	CHARGED("from, a source outside all prefixes", LIMITS(SOURCES), PACKET("10.0.0.1", TCP, 80),
		.names = "any"),
	CHARGED("from, a source in a network", LIMITS(SOURCES), PACKET("192.1.0.1", TCP, 80),
		.names = "net8"),
	CHARGED("from, a source in a nested network: the longest prefix only", LIMITS(SOURCES),
		PACKET("192.0.2.1", TCP, 80), .names = "net24"),
	CHARGED("from, an IPv6 source in a network", LIMITS(SOURCES),
		PACKET("2001:db8::1", TCP, 80), .names = "net24"),
	CHARGED("from, an IPv6 source outside", LIMITS(SOURCES), PACKET("2001:db9::1", TCP, 80),
		.names = "any"),
	CHARGED("from, a source outside with no other limit: none", LIMITS(NET8),
		PACKET("10.0.0.1", TCP, 80), .names = ""),
	CHARGED("from 0.0.0.0/0 takes every source", LIMITS(ANY, "any rate 1k/1s from 0.0.0.0/0"),
		PACKET("10.0.0.1", TCP, 80), .names = "any"),
	CHARGED("limits with the same prefix: both",
		LIMITS(ANY, NET24, "b rate 2k/1s from 192.0.2.0/24"), FROM_HERE(TCP, 80),
		.names = "net24 b"),
	CHARGED("two limits without from: both", LIMITS(ANY, "b rate 2k/1s", NET8),
		PACKET("::1", TCP, 80), .names = "any b"),
	PAIR("limits with another per: both", ANY, "b rate 2k/1s per /24 from 192.0.2.0/24",
	     "any b"),
	PAIR("limits with another per6: both", ANY, "b rate 2k/1s per6 /48 from 192.0.2.0/24",
	     "any b"),
	PAIR("limits with another match: both", ANY, "b rate 2k/1s match tcp from 192.0.2.0/24",
	     "any b"),
	PAIR("limits with another protocol: both", "a rate 1k/1s match proto 6",
	     "b rate 2k/1s match tcp from 192.0.2.0/24", "a b"),
	PAIR("limits with other ports: both", "a rate 1k/1s dport 80",
	     "b rate 2k/1s dport 80,81 from 192.0.2.0/24", "a b"),
	PAIR("limits with the same ports: the longest prefix only", "a rate 1k/1s dport 80,81",
	     "b rate 2k/1s dport 80-81 from 192.0.2.0/24", "b"),
	PAIR("limits with another rate, unit or algorithm: the longest prefix only", ANY,
	     "b rate 1mbit algorithm token exact ban 5m from 192.0.2.0/24", "b"),
	PAIR("a shadow that allows as much exempts its sources", ANY,
	     "b rate 1k/1s shadow from 192.0.2.0/24", "b"),
	PAIR("a shadow that allows less exempts nobody", "a rate 1k/1s",
	     "b rate 999/1s shadow from 192.0.2.0/24", "a b"),
	PAIR("a shadow that allows as much in the long run, and less at once", "a rate 1k/1s",
	     "b rate 500/500ms shadow from 192.0.2.0/24", "a b"),
	PAIR("a shadow that allows as much at once, and less in the long run", "a rate 1k/1s",
	     "b rate 1k/1001ms shadow from 192.0.2.0/24", "a b"),
	PAIR("a shadow that allows more at once by its burst",
	     "a rate 1k/1s algorithm leaky burst 9",
	     "b rate 1k/1s algorithm token burst 10 shadow from 192.0.2.0/24", "b"),
	PAIR("a shadow that allows less at once by its burst",
	     "a rate 1k/1s algorithm leaky burst 9",
	     "b rate 2k/1s algorithm leaky burst 8 shadow from 192.0.2.0/24", "a b"),
	PAIR("a shadow in another unit exempts nobody", "a rate 1k/1s",
	     "b rate 10gbit shadow from 192.0.2.0/24", "a b"),
	PAIR("a shadow of the longest times and largest counts", "a rate 137438953471/8784h bytes",
	     "b rate 137438953472/8784h bytes shadow from 192.0.2.0/24", "b"),
	PAIR("a shadow that is as wide as a limit without from", "a rate 1k/1s",
	     "b rate 2k/1s shadow from 0.0.0.0/0", "a b"),
	PAIR("a limit in force takes sources from a wider shadow", "a rate 1k/1s shadow",
	     "b rate 1/1s from 192.0.2.0/24", "b"),
	CHARGED("a limit that does not apply takes no source away",
		LIMITS("a rate 1k/1s", "b rate 10/1s from 192.0.0.0/16",
		       "c rate 50/1s shadow from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "a c"),

	cmocka_unit_test(a_fifth_limit_on_one_packet_is_refused),
	cmocka_unit_test(a_shadow_makes_the_fifth_limit_where_it_replaces_none),
	cmocka_unit_test(limits_that_share_no_packet_may_be_many),
	cmocka_unit_test(too_many_kinds_of_packets_are_refused),
	cmocka_unit_test(too_many_kinds_of_shapes_are_refused),
	cmocka_unit_test(too_many_kinds_of_sources_are_refused),
	cmocka_unit_test(a_from_without_prefix_is_refused),

	UNIT("a class of packets", {ANY, TCP_ALL, SYN_ALL}, {3, RF_PACKETS, 0, 0, 0}),
	UNIT("a class of bytes", {"a rate 10mbit"}, {1, RF_BYTES, 0, 0, 0}),
	UNIT("a class of bytes in units of 64", {"a rate 137438953472/1s bytes algorithm sliding"},
	     {1, RF_BYTES, 6, 0, 0}),
	UNIT("a class of packets and bytes", {"a rate 10mbit", TCP_ALL}, {3, RF_BYTES, 0, 1, 0}),
	UNIT("a class of bytes in different units",
	     {"a rate 10mbit", "b rate 3000M/1s bytes algorithm sliding match tcp"},
	     {3, RF_BYTES, 0, 1, 0}),
	UNIT("a class of bytes in the same units",
	     {"a rate 3000M/1s bytes algorithm sliding",
	      "b rate 4000M/1s bytes algorithm sliding match tcp", "c rate 1/1s match udp"},
	     {3, RF_BYTES, 1, 0, 0}),
	cmocka_unit_test(class_0_has_no_limit),
	cmocka_unit_test(limits_in_shadow_are_marked_in_their_class),
	cmocka_unit_test(limits_of_rate_0_are_marked_and_give_their_class_no_unit),
	cmocka_unit_test(match_other_applies_to_no_source),
	cmocka_unit_test(limits_that_ban_are_marked_in_their_class),

	LEASE("without limits and lists", MASK4(0)),
	LEASE("with a limit of /32 and /64", LIMITS(ANY), MASK4(0xffffffff),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("with a shadow", LIMITS("a rate 1k/1s shadow"), MASK4(0xffffffff),
	      MASK6(0xffffffff, 0xffffffff)),
	LEASE("with a shadow beside a limit",
	      LIMITS("a rate 1k/1s shadow", "b rate 1k/1s match udp"), MASK4(0xffffffff),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("with a limit of subnets", LIMITS("a rate 1k/1s per /24 per6 /48"), MASK4(0xffffff00),
	      MASK6(0xffffffff, 0xffff0000), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("with a limit of rate 0, whose answer is the same for all sources",
	      LIMITS("a rate 0 per /24 per6 /128", "b rate 1k/1s per /8 per6 /48 shadow"),
	      MASK4(0xff000000), MASK6(0xffffffff, 0xffff0000), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("with limits of two prefix lengths",
	      LIMITS("a rate 1k/1s per /24 per6 /33", "b rate 1k/1s per /8 "
						      "per6 /48"),
	      MASK4(0xffffff00), MASK6(0xffffffff, 0xffff0000), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("with a limit of IPv6 addresses", LIMITS("a rate 1k/1s per /0 per6 /65"), MASK4(0),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_NO_LEASE6 | RF_BANK_IN_FORCE)),
	LEASE("with lists of longer prefixes", LIMITS("a rate 1k/1s per /8 per6 /20"),
	      .deny = "10.0.0.0/9,2001:db8::/32", MASK4(0xff800000), MASK6(0xffffffff, 0),
	      FLAGS(PREFIXES | RF_BANK_IN_FORCE)),
	LEASE("with lists of prefixes longer than /64", .deny = "2001:db8::1", MASK4(0),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_PREFIXES6 | RF_BANK_IN_FORCE)),
	LEASE("with a from of longer prefixes",
	      LIMITS("a rate 1k/1s per /8 per6 /0 from 10.0.0.0/16"), MASK4(0xffff0000),
	      FLAGS(RF_BANK_PREFIXES4 | RF_BANK_IN_FORCE)),
	LEASE("with ports", LIMITS("a rate 1k/1s per /0 per6 /0 dport 53"),
	      FLAGS(RF_BANK_PORTS | RF_BANK_IN_FORCE)),
};

int main(void)
{
	return cmocka_run_group_tests_name("ruleset", tests, NULL, NULL);
}
