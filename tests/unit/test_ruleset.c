// SPDX-License-Identifier: GPL-2.0
/*
 * Rule sets: which limits a packet is charged to, and which list its source is on, in rows of
 * limits, packets and what must come of them; and what a set holds.
 */
#include "charged.h"

#include <arpa/inet.h>
#include <stdio.h>

/* ---- what a packet is charged to ---- */

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
#define CHARGED(title, ...) \
	UNIT_ROW_OF("charged: " title, packet_is_charged, (&(struct charged_row){__VA_ARGS__}))

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

/* Each limit is right by itself, so it is no wrong usage. */
static void assert_no_room(int err, const struct rf_error *error, const char *sentence)
{
	assert_int_equal(err, -ENOSPC);
	assert_string_equal(error->text, sentence);
	assert_false(error->usage);
}

static void a_fifth_limit_is_refused(void **state)
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
	assert_no_room(err, &rules.error,
		       "limits 'a', 'b', 'c', 'd' and 'e': a packet may be charged to 4 limits at "
		       "most, and some would be to all of these; delete one, or narrow it by "
		       "'match', 'dport' or 'from'");
	rules_put(&rules, 3, "d rate 1k/1s match udp");
	rules_compile(&rules);
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

/* Of nine limits that are for every combination, by the bits of a number below 512. */
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
	assert_no_room(err, &rules.error,
		       "there are more than 256 kinds of packets that differ in their limits; use "
		       "fewer limits with 'dport', or fewer lists of ports that overlap");
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
	rules_compile(&rules); /* just as many as there may be: one has none of them */
	assert_int_equal(rules.compiled.value[rules.ruleset.listed_count - 1].origin, 255);
	rules_free(&rules);
}

static void a_from_without_prefix_is_refused(void **state)
{
	struct rules rules = RULES_NEW;
	int err = rules_try_put(&rules, 0, "a rate 1k/1s from file /dev/null", NULL);

	(void)state;
	assert_refused(
		err, &rules.error,
		"limit 'a': there is no prefix behind its 'from', so it would be for nobody; "
		"add one, or leave out 'from'");
	rules_free(&rules);
}

/* ---- classes ---- */

struct unit_row {
	const char *limit[3];
	struct rf_class class;
};

static void class_has_a_unit(void **state)
{
	const struct unit_row *row = *state;
	struct rules rules = RULES_NEW;
	const struct rf_class *class;

	for (int i = 0; i < 3 && row->limit[i]; i++)
		rules_add(&rules, row->limit[i]);
	rules_compile(&rules);
	class = &rules.ruleset.bank.class[rules.ruleset.bank.class_of[TCP]];
	assert_memory_equal(class, &row->class, sizeof(*class));
	rules_free(&rules);
}

#define UNIT(title, ...) \
	UNIT_ROW_OF("unit: " title, class_has_a_unit, (&(struct unit_row){__VA_ARGS__}))

static void class_0_fits_no_limit(void **state)
{
	struct rules rules = RULES_NEW;
	const struct rf_bank *bank = &rules.ruleset.bank;

	(void)state;
	rules_compile(&rules);
	assert_int_equal(bank->class_syn, 0);
	for (int protocol = 0; protocol < 256; protocol++)
		assert_int_equal(bank->class_of[protocol], 0);
	assert_int_equal(bank->class[0].limits, 0);
	assert_int_equal(bank->flags, 0);
	rules_add(&rules, ANY);
	rules_compile(&rules);
	assert_int_equal(bank->class[0].limits, 0);
	assert_int_equal(bank->class[0].unit, RF_PACKETS);
	assert_int_equal(bank->class_of[255], bank->class_of[0]);
	assert_int_equal(bank->class[bank->class_of[255]].limits, 1);
	rules_free(&rules);
}

static void shadows_are_marked(void **state)
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

static void other_is_for_no_source(void **state)
{
	struct rules rules = RULES_NEW;
	struct rf_error error = {};
	struct rf_compiled compiled = {};

	(void)state;
	rules_put(&rules, 2, "a rate 1k/1s per /24");
	rules_put(&rules, 3, "b rate 1k/1s match other");
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.other, 3 + 1);
	assert_int_equal(rules.ruleset.bank.origin[0], 1U << 2);
	assert_int_equal(rules.ruleset.bank.lease_mask4, rf_prefix_mask(24, 0));
	for (int i = 0; i < 256; i++)
		assert_int_equal(rules.ruleset.bank.class[rules.ruleset.bank.class_of[i]].limits,
				 1U << 2);
	rules_put(&rules, 4, "c rate 1k/1s match other");
	assert_int_equal(rf_ruleset_compile(&rules.ruleset, &compiled, &error), -EEXIST);
	assert_string_equal(error.text, "limits 'b' and 'c': there may be one limit with 'match "
					"other'; delete one");
	rf_compiled_free(&compiled);
	rf_ruleset_del_limit(&rules.ruleset, 3);
	rf_ruleset_del_limit(&rules.ruleset, 4);
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.bank.other, 0);
	rules_free(&rules);
}

static void bans_are_marked(void **state)
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

#define LEASE(title, ...) \
	UNIT_ROW_OF("leases: " title, lease_tells_sources_apart, (&(struct lease_row){__VA_ARGS__}))
#define MASK4(mask) .mask4 = mask
#define MASK6(...) .mask6 = {__VA_ARGS__}
#define FLAGS(set) .flags = set
#define PREFIXES (RF_BANK_PREFIXES4 | RF_BANK_PREFIXES6)

/* ---- lists ---- */

static void assert_listed(const struct rules *rules, const char *source, uint64_t allow,
			  uint64_t deny)
{
	const struct packet packet = {source, TCP, 80, false};
	struct answer answer = answer_of(rules, &packet);

	assert_int_equal(answer.until[RF_ALLOW], allow);
	assert_int_equal(answer.until[RF_DENY], deny);
}

static void a_prefix_says_what_holds_by_all_it_lies_in(void **state)
{
	struct rules rules = RULES_NEW;

	(void)state;
	rules_list(&rules, RF_DENY, "10.0.0.0/8,10.1.2.0/24", 100);
	rules_list(&rules, RF_DENY, "10.1.2.3", 50);
	rules_list(&rules, RF_ALLOW, "10.1.0.0/16", RF_FOREVER);
	rules_list(&rules, RF_ALLOW, "10.1.2.4,10.2.0.0/16,2001:db8::/32", 70);
	rules_list(&rules, RF_DENY, "10.2.0.0/24", 200);
	rules_compile(&rules);
	assert_listed(&rules, "11.0.0.1", 0, 0);
	assert_listed(&rules, "10.0.0.1", 0, 100);
	assert_listed(&rules, "10.1.0.1", RF_FOREVER, 100);
	assert_listed(&rules, "10.1.2.1", RF_FOREVER, 100);
	assert_listed(&rules, "10.1.2.3", RF_FOREVER, 100);
	assert_listed(&rules, "10.1.2.4", RF_FOREVER, 100);
	assert_listed(&rules, "10.2.0.1", 70, 200);
	assert_listed(&rules, "10.2.1.1", 70, 100);
	assert_listed(&rules, "2001:db8::1", 70, 0);
	assert_listed(&rules, "::a01:203", 0, 0);
	rules_free(&rules);
}

static void a_prefix_says_what_it_says_itself(void **state)
{
	struct rules rules = RULES_NEW;
	const struct rf_prefix_value *value;

	(void)state;
	rules_list(&rules, RF_DENY, "10.0.0.0/8", 100);
	rules_list(&rules, RF_ALLOW, "10.1.2.3", 50);
	rules_put(&rules, 5, "a rate 1k/1s from 10.1.2.3,10.1.0.0/16");
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.listed_count, 3);
	value = rules.compiled.value;
	assert_int_equal(value[0].own_deny_until, 100);
	assert_int_equal(value[0].own_from, 0);
	assert_int_equal(value[1].own_deny_until, 0);
	assert_int_equal(value[1].deny_until, 100);
	assert_int_equal(value[1].own_from, 1 << 5);
	assert_int_equal(value[2].own_allow_until, 50);
	assert_int_equal(value[2].own_deny_until, 0);
	assert_int_equal(value[2].own_from, 1 << 5);
	rules_free(&rules);
}

static void lists_are_changed(void **state)
{
	const struct rf_prefix net = prefix_of("10.0.0.0/8"), host = prefix_of("10.0.0.1");
	struct rules rules = RULES_NEW;
	struct rf_ruleset *ruleset = &rules.ruleset;

	(void)state;
	assert_null(rf_ruleset_find(ruleset, &net));
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_DENY, &net), -ENOENT);
	rules_list(&rules, RF_DENY, "10.0.0.1,10.0.0.0/8,10.0.0.1", 100);
	assert_int_equal(ruleset->listed_count, 2);
	rules_list(&rules, RF_DENY, "10.0.0.1", 90);
	rules_list(&rules, RF_ALLOW, "10.0.0.1", 80);
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_ruleset_find(ruleset, &host)->until[RF_DENY], 90);
	assert_int_equal(rf_ruleset_find(ruleset, &host)->until[RF_ALLOW], 80);
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_ALLOW, &net), -ENOENT);
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_DENY, &net), 0);
	assert_null(rf_ruleset_find(ruleset, &net));
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_DENY, &host), 0);
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_DENY, &host), -ENOENT);
	assert_non_null(rf_ruleset_find(ruleset, &host));
	assert_int_equal(rf_ruleset_unlist(ruleset, RF_ALLOW, &host), 0);
	assert_int_equal(ruleset->listed_count, 0);
	rules_free(&rules);
}

static void what_expired_is_dropped(void **state)
{
	const struct rf_prefix a = prefix_of("10.0.0.1"), c = prefix_of("10.0.0.3");
	struct rules rules = RULES_NEW;
	struct rf_ruleset *ruleset = &rules.ruleset;

	(void)state;
	rules_list(&rules, RF_DENY, "10.0.0.1", RF_FOREVER);
	rules_list(&rules, RF_ALLOW, "10.0.0.1,10.0.0.2", 100);
	rules_list(&rules, RF_DENY, "10.0.0.3", 101);
	rf_ruleset_expire(ruleset, 99);
	assert_int_equal(ruleset->listed_count, 3);
	assert_int_equal(rf_ruleset_find(ruleset, &a)->until[RF_ALLOW], 100);
	rf_ruleset_expire(ruleset, 100);
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_ruleset_find(ruleset, &a)->until[RF_ALLOW], 0);
	assert_int_equal(rf_ruleset_find(ruleset, &a)->until[RF_DENY], RF_FOREVER);
	assert_int_equal(rf_ruleset_find(ruleset, &c)->until[RF_DENY], 101);
	rf_ruleset_expire(ruleset, RF_FOREVER - 1);
	assert_int_equal(ruleset->listed_count, 1);
	rules_free(&rules);
}

/* ---- divided /64s ---- */

static bool is_divided(const struct rules *rules, const char *source)
{
	const struct packet packet = {source, TCP, 80, false};

	return answer_of(rules, &packet).is_divided;
}

static void a_divided_64_is_marked_throughout(void **state)
{
	const struct rf_prefix added = prefix_of("2001:db8:0:2::/64");
	const struct rf_prefix host = prefix_of("2001:db8:0:2::1");
	struct rules rules = RULES_NEW;

	(void)state;
	rules_list(&rules, RF_DENY, "2001:db8::/32,2001:db8:0:1::/64,2001:db8:0:2::1", RF_FOREVER);
	rules_list(&rules, RF_ALLOW, "2001:db8:0:3::/64,2001:db8:0:3:8000::/65,10.0.0.1", 70);
	assert_null(rf_ruleset_find(&rules.ruleset, &added));
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.listed_count, 7);
	assert_non_null(rf_ruleset_find(&rules.ruleset, &added));
	assert_false(is_divided(&rules, "2001:db8::1"));
	assert_false(is_divided(&rules, "2001:db8:0:1::1"));
	assert_true(is_divided(&rules, "2001:db8:0:2::1"));
	assert_true(is_divided(&rules, "2001:db8:0:2::2"));
	assert_true(is_divided(&rules, "2001:db8:0:3::1"));
	assert_true(is_divided(&rules, "2001:db8:0:3:8000::1"));
	assert_false(is_divided(&rules, "10.0.0.1"));
	assert_listed(&rules, "2001:db8:0:2::2", 0, RF_FOREVER);

	rules_compile(&rules); /* again, nothing is added */
	assert_int_equal(rules.ruleset.listed_count, 7);
	assert_int_equal(rf_ruleset_unlist(&rules.ruleset, RF_DENY, &added), -ENOENT);
	assert_int_equal(rf_ruleset_unlist(&rules.ruleset, RF_DENY, &host), 0);
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.listed_count, 5);
	assert_false(is_divided(&rules, "2001:db8:0:2::1"));
	rules_free(&rules);
}

/* ---- limits come and go ---- */

static void counters_are_nobody_elses(void **state)
{
	struct rules before = RULES_NEW, after = RULES_NEW;
	const struct rf_policy *policy = after.ruleset.bank.policy;
	const struct rf_bank *other = &before.ruleset.bank;

	(void)state;
	rules_put(&before, 0, "a rate 1k/1s");
	rules_put(&before, 1, "b rate 1k/1s");
	assert_int_equal(other->policy[0].counters, 0);
	assert_int_equal(other->policy[1].counters, 1);
	assert_accepted(rf_ruleset_copy(&after.ruleset, &before.ruleset, &after.error),
			&after.error);
	after.next_id = before.next_id;

	assert_accepted(rules_try_put(&after, 1, "b rate 1k/1s per /24", other), &after.error);
	assert_int_equal(policy[1].counters, 1);
	assert_int_equal(policy[1].id, 3);
	assert_accepted(rules_try_put(&after, 0, "c rate 1k/1s", other), &after.error);
	assert_int_equal(policy[0].counters, 2);
	assert_int_equal(policy[0].id, 4); /* another limit does not go on with its windows */
	rf_ruleset_del_limit(&after.ruleset, 1);
	assert_accepted(rules_try_put(&after, 1, "b rate 1k/1s", other), &after.error);
	assert_int_equal(policy[1].counters, 3);
	assert_accepted(rules_try_put(&after, 2, "d rate 1k/1s", NULL), &after.error);
	assert_int_equal(policy[2].counters, 0);
	rules_free(&before);
	rules_free(&after);
}

static void there_are_counters_for_two_banks(void **state)
{
	struct rules before = RULES_NEW, after = RULES_NEW;
	char line[32];

	(void)state;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		sprintf(line, "a%d rate 1k/1s", slot);
		rules_put(&before, slot, line);
	}
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		sprintf(line, "b%d rate 1k/1s", slot);
		assert_accepted(rules_try_put(&after, slot, line, &before.ruleset.bank),
				&after.error);
		assert_int_equal(after.ruleset.bank.policy[slot].counters, RF_LIMITS_MAX + slot);
	}
	rules_free(&before);
	rules_free(&after);
}

static void set_and_delete_replace_from_and_ports(void **state)
{
	struct rules rules = RULES_NEW;
	struct rf_ruleset *ruleset = &rules.ruleset;
	const struct rf_prefix kept = prefix_of("10.0.0.2");

	(void)state;
	rules_list(&rules, RF_DENY, "10.0.0.2", 9);
	rules_put(&rules, 4, "a rate 1k/1s dport 53 from 10.0.0.1,10.0.0.2");
	rules_put(&rules, 6, "b rate 1k/1s from 10.0.0.2");
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_ruleset_find(ruleset, &kept)->from, 1 << 4 | 1 << 6);
	rules_put(&rules, 4, "a rate 1k/1s from 10.0.0.3");
	assert_null(ruleset->ports[4]);
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_ruleset_find(ruleset, &kept)->from, 1 << 6);
	rf_ruleset_del_limit(ruleset, 4);
	rf_ruleset_del_limit(ruleset, 6);
	assert_int_equal(ruleset->listed_count, 1);
	assert_int_equal(rf_ruleset_find(ruleset, &kept)->from, 0);
	assert_int_equal(rf_ruleset_find(ruleset, &kept)->until[RF_DENY], 9);
	assert_int_equal(rf_rules_count(&ruleset->bank), 0);
	rules_free(&rules);
}

static void a_copy_is_on_its_own(void **state)
{
	struct rules rules = RULES_NEW, copy = RULES_NEW;

	(void)state;
	rules_put(&rules, 0, "a rate 1k/1s dport 53 from 10.0.0.1");
	assert_accepted(rf_ruleset_copy(&copy.ruleset, &rules.ruleset, &copy.error), &copy.error);
	rf_ruleset_del_limit(&rules.ruleset, 0);
	rules_compile(&copy);
	assert_int_equal(copy.ruleset.listed_count, 1);
	assert_int_equal(copy.ruleset.ports[0][0], 1ULL << 53);
	assert_int_equal(rf_rules_find(&copy.ruleset.bank, "a"), 0);
	rules_free(&rules);
	rules_free(&copy);
}

/* ---- as text ---- */

struct text_row {
	const char *line;
	const char *text;
};

static void limit_as_text(void **state)
{
	const struct text_row *row = *state;
	struct rules rules = RULES_NEW;
	char *text;

	rules_put(&rules, 7, "other rate 1k/1s from 0.0.0.0/0 dport 1");
	rules_put(&rules, 3, row->line);
	text = rf_ruleset_format_limit(&rules.ruleset, 3);
	assert_string_equal(text, row->text);
	free(text);
	rules_free(&rules);
}

#define TEXT(title, ...) \
	UNIT_ROW_OF("text: " title, limit_as_text, (&(struct text_row){__VA_ARGS__}))

static void newcomers_as_text(void **state)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	char *text = rf_ruleset_format_newcomers(&ruleset);

	(void)state;
	assert_string_equal(text, "newcomers off");
	free(text);
	ruleset.bank.newcomers = (struct rf_newcomers){
		.rate = 10000, .window_ns = SECOND, .then = RF_NEWCOMERS_AGGREGATE};
	text = rf_ruleset_format_newcomers(&ruleset);
	assert_string_equal(text, "newcomers rate 10k/1s then aggregate");
	free(text);
}

/* ---- many ---- */

#define MANY 100000

/* 10.0.0.0 and 2001:db8:: and what follows them, in a wild order. */
static void add_many(struct rules *rules, enum rf_list list, uint64_t until, unsigned int first)
{
	struct rf_prefixes prefixes = {};

	for (unsigned int i = 0; i < MANY; i++) {
		unsigned int number = first + (i * 7919ULL) % MANY;
		struct rf_prefix prefix = {.version = 4, .length = 32};

		prefix.word[0] = htonl(10U << 24 | number);
		if (number % 4 == 0)
			prefix = (struct rf_prefix){
				.version = 6,
				.length = number % 8 ? 64 : 128,
				.word = {htonl(0x20010db8), htonl(number)},
			};
		assert_accepted(rf_prefixes_add(&prefixes, &prefix, &rules->error), &rules->error);
	}
	assert_accepted(rf_ruleset_list(&rules->ruleset, list, &prefixes, until, &rules->error),
			&rules->error);
	rf_prefixes_free(&prefixes);
}

static void very_many_prefixes(void **state)
{
	struct rules rules = RULES_NEW;
	char line[128];

	(void)state;
	for (int i = 0; i < RF_LIMITS_MAX; i++) {
		sprintf(line, "l%d rate 1k/1s match proto %d from 10.0.%d.0/24,2001:db8::/32", i,
			100 + i, i);
		rules_add(&rules, line);
	}
	add_many(&rules, RF_DENY, 50, 0);
	add_many(&rules, RF_ALLOW, 60, MANY / 2);
	add_many(&rules, RF_ALLOW, 70, MANY / 2);
	rules_compile(&rules);
	assert_listed(&rules, "10.0.0.1", 0, 50);
	assert_listed(&rules, "10.1.0.1", 70, 50); /* 65537 */
	assert_listed(&rules, "10.2.0.1", 70, 0);  /* 131073 */
	assert_listed(&rules, "2001:db8:0:4::1", 0, 50);
	assert_listed(&rules, "2001:db8:0:8::1", 0, 0);
	assert_listed(&rules, "2001:db8:0:8::", 0, 50);
	assert_true(is_divided(&rules, "2001:db8:0:8::1"));
	assert_false(is_divided(&rules, "2001:db8:0:4::1"));
	rf_ruleset_expire(&rules.ruleset, 100);
	assert_int_equal(rules.ruleset.listed_count, RF_LIMITS_MAX + 1);
	rules_free(&rules);
}

static const struct CMUnitTest tests[] = {
	CHARGED("nothing without limits", FROM_HERE(TCP, 80), .names = ""),
	CHARGED("any, by TCP", LIMITS(ANY), FROM_HERE(TCP, 80), .names = "any"),
	CHARGED("any, by what has no known protocol", LIMITS(ANY), FROM_HERE(255, NO_PORT),
		.names = "any"),
	CHARGED("TCP", LIMITS(EACH), FROM_HERE(TCP, 80), .names = "tcp any"),
	CHARGED("a later fragment of TCP", LIMITS(EACH), FROM_HERE(TCP, NO_PORT),
		.names = "tcp any"),
	CHARGED("a SYN", LIMITS(EACH), FROM_HERE(TCP, 80, true), .names = "tcp syn any"),
	CHARGED("UDP", LIMITS(EACH), FROM_HERE(UDP, 80), .names = "udp any"),
	CHARGED("ICMP", LIMITS(EACH), FROM_HERE(ICMP, NO_PORT), .names = "icmp any"),
	CHARGED("ICMPv6", LIMITS(EACH), PACKET("::1", ICMPV6, NO_PORT), .names = "icmp any"),
	CHARGED("GRE", LIMITS(EACH), FROM_HERE(47, NO_PORT), .names = "gre any"),
	CHARGED("another protocol", LIMITS(EACH), FROM_HERE(48, NO_PORT), .names = "any"),
	CHARGED("protocol 6, by its number", LIMITS("six rate 1k/1s match proto 6", TCP_ALL),
		FROM_HERE(TCP, 80, true), .names = "six tcp"),
	CHARGED("protocol 0", LIMITS("zero rate 1k/1s match proto 0", TCP_ALL),
		FROM_HERE(0, NO_PORT), .names = "zero"),

	CHARGED("a port of UDP", LIMITS(PORTS), FROM_HERE(UDP, 53), .names = "dns dns-udp any"),
	CHARGED("a port of any, by TCP", LIMITS(PORTS), FROM_HERE(TCP, 53), .names = "dns any"),
	CHARGED("a port of any, by a SYN", LIMITS(PORTS), FROM_HERE(TCP, 53, true),
		.names = "dns any"),
	CHARGED("a port of TCP", LIMITS(PORTS), FROM_HERE(TCP, 80), .names = "web any"),
	CHARGED("a port of TCP, by a SYN", LIMITS(PORTS), FROM_HERE(TCP, 443, true),
		.names = "web web-syn any"),
	CHARGED("a port of TCP, by UDP", LIMITS(PORTS), FROM_HERE(UDP, 80), .names = "any"),
	CHARGED("the first of a range", LIMITS(PORTS), FROM_HERE(TCP, 8000), .names = "web any"),
	CHARGED("the last of a range", LIMITS(PORTS), FROM_HERE(TCP, 8100), .names = "web any"),
	CHARGED("before a range", LIMITS(PORTS), FROM_HERE(TCP, 7999), .names = "any"),
	CHARGED("behind a range", LIMITS(PORTS), FROM_HERE(TCP, 8101), .names = "any"),
	CHARGED("a later fragment has no port", LIMITS(PORTS), FROM_HERE(UDP, NO_PORT),
		.names = "any"),
	CHARGED("what has no port", LIMITS(PORTS), FROM_HERE(ICMP, NO_PORT), .names = "any"),
	CHARGED("ports of protocol 17", LIMITS("p rate 1k/1s match proto 17 dport 1"),
		FROM_HERE(UDP, 1), .names = "p"),
	CHARGED("ports of protocol 6, by a SYN", LIMITS("p rate 1k/1s match proto 6 dport 65535"),
		FROM_HERE(TCP, 65535, true), .names = "p"),

	CHARGED("from nowhere special", LIMITS(SOURCES), PACKET("10.0.0.1", TCP, 80),
		.names = "any"),
	CHARGED("from a network", LIMITS(SOURCES), PACKET("192.1.0.1", TCP, 80), .names = "net8"),
	CHARGED("from a network in it: the longest alone", LIMITS(SOURCES),
		PACKET("192.0.2.1", TCP, 80), .names = "net24"),
	CHARGED("from its IPv6", LIMITS(SOURCES), PACKET("2001:db8::1", TCP, 80), .names = "net24"),
	CHARGED("from another IPv6", LIMITS(SOURCES), PACKET("2001:db9::1", TCP, 80),
		.names = "any"),
	CHARGED("none where only a from is", LIMITS(NET8), PACKET("10.0.0.1", TCP, 80),
		.names = ""),
	CHARGED("everybody's prefix takes all", LIMITS(ANY, "all rate 1k/1s from 0.0.0.0/0"),
		PACKET("10.0.0.1", TCP, 80), .names = "all"),
	CHARGED("the same prefix: both", LIMITS(ANY, NET24, "b rate 2k/1s from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "net24 b"),
	CHARGED("nowhere twice: both", LIMITS(ANY, "b rate 2k/1s", NET8), PACKET("::1", TCP, 80),
		.names = "any b"),
	CHARGED("another per: both", LIMITS(ANY, "b rate 2k/1s per /24 from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "any b"),
	CHARGED("another per6: both", LIMITS(ANY, "b rate 2k/1s per6 /48 from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "any b"),
	CHARGED("another match: both", LIMITS(ANY, "b rate 2k/1s match tcp from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "any b"),
	CHARGED("another protocol: both",
		LIMITS("a rate 1k/1s match proto 6", "b rate 2k/1s match tcp from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "a b"),
	CHARGED("other ports: both",
		LIMITS("a rate 1k/1s dport 80", "b rate 2k/1s dport 80,81 from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "a b"),
	CHARGED("the same ports: one",
		LIMITS("a rate 1k/1s dport 80,81", "b rate 2k/1s dport 80-81 from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "b"),
	CHARGED("another rate, unit, algorithm: one",
		LIMITS(ANY, "b rate 1mbit algorithm token exact ban 5m from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "b"),
	CHARGED("a shadow takes no source away",
		LIMITS(ANY, "b rate 1k/1s shadow from 192.0.2.0/24"), FROM_HERE(TCP, 80),
		.names = "any b"),
	CHARGED("none takes a source from a shadow",
		LIMITS("a rate 1k/1s shadow", "b rate 1k/1s from 192.0.2.0/24"), FROM_HERE(TCP, 80),
		.names = "a b"),
	CHARGED("a shadow takes it from a shadow",
		LIMITS("a rate 1k/1s shadow", "b rate 1k/1s shadow from 192.0.2.0/24"),
		FROM_HERE(TCP, 80), .names = "b"),

	cmocka_unit_test(a_fifth_limit_is_refused),
	cmocka_unit_test(limits_that_share_no_packet_may_be_many),
	cmocka_unit_test(too_many_kinds_of_packets_are_refused),
	cmocka_unit_test(too_many_kinds_of_sources_are_refused),
	cmocka_unit_test(a_from_without_prefix_is_refused),

	UNIT("packets", {ANY, TCP_ALL, SYN_ALL}, {3, RF_PACKETS, 0, 0, 0}),
	UNIT("bytes", {"a rate 10mbit"}, {1, RF_BYTES, 0, 0, 0}),
	UNIT("bytes in units of 64", {"a rate 137438953472/1s bytes"}, {1, RF_BYTES, 6, 0, 0}),
	UNIT("packets and bytes", {"a rate 10mbit", TCP_ALL}, {3, RF_BYTES, 0, 1, 0}),
	UNIT("bytes in other units", {"a rate 10mbit", "b rate 3000M/1s bytes match tcp"},
	     {3, RF_BYTES, 0, 1, 0}),
	UNIT("bytes in the same units",
	     {"a rate 3000M/1s bytes", "b rate 4000M/1s bytes match tcp", "c rate 1/1s match udp"},
	     {3, RF_BYTES, 1, 0, 0}),
	cmocka_unit_test(class_0_fits_no_limit),
	cmocka_unit_test(shadows_are_marked),
	cmocka_unit_test(other_is_for_no_source),
	cmocka_unit_test(bans_are_marked),

	LEASE("nothing", MASK4(0)),
	LEASE("a limit", LIMITS(ANY), MASK4(0xffffffff), MASK6(0xffffffff, 0xffffffff),
	      FLAGS(RF_BANK_IN_FORCE)),
	LEASE("a shadow", LIMITS("a rate 1k/1s shadow"), MASK4(0xffffffff),
	      MASK6(0xffffffff, 0xffffffff)),
	LEASE("a shadow beside a limit", LIMITS("a rate 1k/1s shadow", "b rate 1k/1s match udp"),
	      MASK4(0xffffffff), MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("a subnet", LIMITS("a rate 1k/1s per /24 per6 /48"), MASK4(0xffffff00),
	      MASK6(0xffffffff, 0xffff0000), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("the finest of two",
	      LIMITS("a rate 1k/1s per /24 per6 /33", "b rate 1k/1s per /8 "
						      "per6 /48"),
	      MASK4(0xffffff00), MASK6(0xffffffff, 0xffff0000), FLAGS(RF_BANK_IN_FORCE)),
	LEASE("a limit of addresses of IPv6", LIMITS("a rate 1k/1s per /0 per6 /65"), MASK4(0),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_NO_LEASE6 | RF_BANK_IN_FORCE)),
	LEASE("finer lists", LIMITS("a rate 1k/1s per /8 per6 /20"),
	      .deny = "10.0.0.0/9,2001:db8::/32", MASK4(0xff800000), MASK6(0xffffffff, 0),
	      FLAGS(PREFIXES | RF_BANK_IN_FORCE)),
	LEASE("lists finer than a /64", .deny = "2001:db8::1", MASK4(0),
	      MASK6(0xffffffff, 0xffffffff), FLAGS(RF_BANK_PREFIXES6 | RF_BANK_IN_FORCE)),
	LEASE("a finer from", LIMITS("a rate 1k/1s per /8 per6 /0 from 10.0.0.0/16"),
	      MASK4(0xffff0000), FLAGS(RF_BANK_PREFIXES4 | RF_BANK_IN_FORCE)),
	LEASE("ports", LIMITS("a rate 1k/1s per /0 per6 /0 dport 53"),
	      FLAGS(RF_BANK_PORTS | RF_BANK_IN_FORCE)),

	cmocka_unit_test(a_prefix_says_what_holds_by_all_it_lies_in),
	cmocka_unit_test(a_prefix_says_what_it_says_itself),
	cmocka_unit_test(lists_are_changed),
	cmocka_unit_test(what_expired_is_dropped),
	cmocka_unit_test(a_divided_64_is_marked_throughout),

	cmocka_unit_test(counters_are_nobody_elses),
	cmocka_unit_test(there_are_counters_for_two_banks),
	cmocka_unit_test(set_and_delete_replace_from_and_ports),
	cmocka_unit_test(a_copy_is_on_its_own),

	TEXT("a plain one", "all rate 1000/1s", "limit add all rate 1k/1s"),
	TEXT("ports", "all rate 1k/1s dport 443,53,8000-8100,54,65535",
	     "limit add all rate 1k/1s dport 53-54,443,8000-8100,65535"),
	TEXT("all ports", "all rate 1k/1s dport 0-65535 match udp",
	     "limit add all rate 1k/1s match udp dport 0-65535"),
	TEXT("prefixes", "all rate 1k/1s shadow from ::1/128,10.0.0.0/8,10.0.0.0/9,192.0.2.1/32",
	     "limit add all rate 1k/1s shadow from 10.0.0.0/8,10.0.0.0/9,192.0.2.1,::1"),
	TEXT("ports and prefixes", "all rate 1k/1s from ::/0 dport 0",
	     "limit add all rate 1k/1s dport 0 from ::/0"),
	cmocka_unit_test(newcomers_as_text),

	cmocka_unit_test(very_many_prefixes),
};

int main(void)
{
	return cmocka_run_group_tests_name("ruleset", tests, NULL, NULL);
}
