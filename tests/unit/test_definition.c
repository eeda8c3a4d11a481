// SPDX-License-Identifier: GPL-2.0
/* The definition of a fleet's limit as a number: which changes affect it, and which do not. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "rules/policy.h"
#include "rules/rulefile.h"
#include "rules/ruleset.h"

#define LIMIT "limit add any rate 1k/10s fleet "

static int no_file(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		   struct rf_error *error)
{
	(void)path, (void)prefixes, (void)mistakes, (void)error;
	fail();
	return -1;
}

/* The rules of a file, in a fence that has `present`. */
static void read_rules(const char *text, const struct rf_bank *present, struct rf_ruleset *rules)
{
	struct rf_rulefile_place place = RF_RULEFILE_NOWHERE(present);
	struct rf_rulefile file;
	struct rf_error error = {};
	char *copy = strdup(text);

	place.next_id = 100;
	assert_int_equal(rf_rulefile_parse(copy, no_file, &file, &error), 0);
	assert_int_equal(file.mistakes.count, 0);
	assert_int_equal(rf_rulefile_rules(&file, &place, rules, &error), 0);
	rf_rulefile_free(&file);
	free(copy);
}

static uint64_t definition_of(const char *text)
{
	const struct rf_bank nothing = {.hosts = 10};
	struct rf_ruleset rules = RF_RULESET_NONE;
	uint64_t definition = 0;

	read_rules(text, &nothing, &rules);
	assert_int_equal(rf_ruleset_definition(&rules, 0, &definition), 0);
	rf_ruleset_free(&rules);
	assert_int_not_equal(definition, 0);
	return definition;
}

static void each_part_changes_it(void **state)
{
	static const char *const rows[] = {
		LIMIT,
		"limit add any rate 1001/10s fleet initial 1",
		"limit add any rate 1k/11s fleet",
		"limit add any rate 1k/10s fleet initial 0",
		LIMIT "initial 2",
		"limit add any rate 10k/10s bytes fleet",
		"limit add any rate 10k/10s fleet",
		LIMIT "match udp",
		LIMIT "match tcp",
		LIMIT "match tcp syn",
		LIMIT "match proto 47",
		LIMIT "match proto 48",
		LIMIT "match udp dport 53",
		LIMIT "match udp dport 53,54",
		LIMIT "match udp sport 53",
		LIMIT "match tcp flags RST/RST",
		LIMIT "length 60-100",
		LIMIT "length 60-101",
		LIMIT "to 192.0.2.1",
		LIMIT "to 192.0.2.0/24",
		LIMIT "from 192.0.2.0/24",
		LIMIT "from 192.0.2.0/25",
		LIMIT "from 192.0.2.0/24,2001:db8::/32",
		LIMIT "per /24",
		LIMIT "per6 /48",
		"fleet hosts 11\n" LIMIT "initial 1",
	};
	uint64_t seen[UNIT_ARRAY_SIZE(rows)];

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		seen[i] = definition_of(rows[i]);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	}
}

static void spelling_and_order_do_not(void **state)
{
	static const char *const rows[][2] = {
		{LIMIT, "limit add other rate 1000/10s fleet"},
		{LIMIT, LIMIT "initial 1"}, /* the default of 10 hosts */
		{LIMIT, LIMIT "shadow"},
		{LIMIT, LIMIT "exact"},
		{LIMIT, LIMIT "ban 10m all"},
		{LIMIT "match udp dport 53", LIMIT "match udp dport 53 over truncate 1/2"},
		{LIMIT, LIMIT "offline initial"},
		{LIMIT, LIMIT "cells 16"},
		{LIMIT, "fleet hosts 10\n" LIMIT},
		{LIMIT "match udp dport 53,100-102", LIMIT "match udp dport 101,100,53,102"},
		{LIMIT "from 192.0.2.0/24,10.0.0.0/8", LIMIT "from 10.0.0.0/8,192.0.2.0/24"},
		{LIMIT "to 192.0.2.1,198.51.100.1,2001:db8::1",
		 LIMIT "to 2001:db8::1,198.51.100.1,192.0.2.1"},
		{"limit add any rate 10mbit fleet", "limit add any rate 1250k/1s bytes fleet"},
		{LIMIT "per /24 match udp", LIMIT "match udp per /24"},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		assert_int_equal(definition_of(rows[i][0]), definition_of(rows[i][1]));
}

/* Hosts of other builds and byte orders have the same. */
static void it_is_a_known_number(void **state)
{
	(void)state;
	assert_int_equal(definition_of("limit add any rate 20k/1s fleet"), 0xcbc215f649386cf4);
}

/* ---- tags ---- */

static uint32_t tag_of(struct rf_ruleset *rules, const char *text, uint32_t *next_id)
{
	const struct rf_bank present = rules->bank;
	struct rf_error error = {};

	rf_ruleset_free(rules);
	*rules = RF_RULESET_NONE;
	read_rules(text, &present, rules);
	assert_int_equal(rf_ruleset_define(rules, next_id, &error), 0);
	return rules->bank.policy[0].tag;
}

static void another_definition_has_another_tag(void **state)
{
	struct rf_ruleset rules = {.bank = {.hosts = 10}};
	uint32_t next_id = 1, tag, other;

	(void)state;
	tag = tag_of(&rules, LIMIT, &next_id);
	assert_int_equal(next_id, 2);
	assert_int_equal(tag_of(&rules, LIMIT, &next_id), tag);
	assert_int_equal(tag_of(&rules, LIMIT "shadow", &next_id), tag);
	assert_int_equal(tag_of(&rules, "fleet hosts 10\n" LIMIT, &next_id), tag);
	assert_int_equal(next_id, 2);
	other = tag_of(&rules, LIMIT "match udp dport 53", &next_id);
	assert_int_not_equal(other, tag);
	assert_int_not_equal(tag_of(&rules, LIMIT "match udp dport 54", &next_id), other);
	/* A definition that returns is a new one: its records might have been deleted. */
	assert_int_not_equal(tag_of(&rules, LIMIT, &next_id), tag);
	assert_int_equal(next_id, 5);
	tag_of(&rules, "limit add any rate 1k/10s", &next_id);
	assert_int_not_equal(tag_of(&rules, LIMIT, &next_id), tag);
	assert_int_equal(next_id, 6);
	tag_of(&rules, "fleet hosts 12\n" LIMIT, &next_id);
	assert_int_equal(next_id, 7);
	rf_ruleset_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_changes_it),
		cmocka_unit_test(spelling_and_order_do_not),
		cmocka_unit_test(it_is_a_known_number),
		cmocka_unit_test(another_definition_has_another_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
