// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a rule set: which list a source is on, until when, limits that are added and
 * removed, and its text.
 */
#include "charged.h"
#include "line.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "snapshot/rules.h"

static void *copy_of(const void *memory, size_t size)
{
	void *copy = size ? malloc(size) : NULL;

	assert_true(copy || !size);
	return size ? memcpy(copy, memory, size) : NULL;
}

/* Copies into rules that hold nothing. */
static void copy_rules(struct rf_ruleset *copy, const struct rf_ruleset *ruleset)
{
	*copy = *ruleset;
	copy->listed = copy_of(ruleset->listed, ruleset->listed_count * sizeof(*ruleset->listed));
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		copy->ports[slot] =
			copy_of(ruleset->ports[slot], ruleset->ports[slot] ? RF_PORTS / 8 : 0);
}

/* ---- lists ---- */

static void assert_listed(const struct rules *rules, const char *source, uint64_t allow,
			  uint64_t deny)
{
	const struct packet packet = {source, TCP, 80, false};
	struct answer answer = answer_of(rules, &packet);

	assert_int_equal(answer.until[RF_ALLOW], allow);
	assert_int_equal(answer.until[RF_DENY], deny);
}

static void a_prefix_inherits_from_all_prefixes_around_it(void **state)
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

static void a_prefix_keeps_its_own_entries(void **state)
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
	assert_int_equal(rf_list_claims_until(value[0].own_claim, RF_DENY), 100);
	assert_int_equal(value[0].own_from, 0);
	assert_int_equal(rf_list_claims_until(value[1].own_claim, RF_DENY), 0);
	assert_int_equal(value[1].deny_until, 100);
	assert_int_equal(value[1].own_from, 1 << 5);
	assert_int_equal(rf_list_claims_until(value[2].own_claim, RF_ALLOW), 50);
	assert_int_equal(rf_list_claims_until(value[2].own_claim, RF_DENY), 0);
	assert_int_equal(value[2].own_from, 1 << 5);
	rules_free(&rules);
}

static void entries_of_lists_are_added_and_deleted(void **state)
{
	const struct rf_prefix net = prefix_of("10.0.0.0/8"), host = prefix_of("10.0.0.1");
	struct rules rules = RULES_NEW;
	struct rf_ruleset *ruleset = &rules.ruleset;

	(void)state;
	assert_null(rf_ruleset_find(ruleset, &net));
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &net), RF_LIST_MISSING);
	rules_list(&rules, RF_DENY, "10.0.0.1,10.0.0.0/8,10.0.0.1", 100);
	assert_int_equal(ruleset->listed_count, 2);
	rules_list(&rules, RF_DENY, "10.0.0.1", 90);
	rules_list(&rules, RF_ALLOW, "10.0.0.1", 80);
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &host), RF_DENY), 90);
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &host), RF_ALLOW), 80);
	assert_int_equal(rules_unlist(&rules, RF_ALLOW, RF_OWNER_MANUAL, &net), RF_LIST_MISSING);
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &net), RF_LIST_ACCEPTED);
	assert_null(rf_ruleset_find(ruleset, &net));
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &host), RF_LIST_ACCEPTED);
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &host), RF_LIST_MISSING);
	assert_non_null(rf_ruleset_find(ruleset, &host));
	assert_int_equal(rules_unlist(&rules, RF_ALLOW, RF_OWNER_MANUAL, &host), RF_LIST_ACCEPTED);
	assert_int_equal(ruleset->listed_count, 0);
	rules_free(&rules);
}

/* ---- owners ---- */

#define BLOCKLIST RF_OWNERS_FIXED
#define JAIL (RF_OWNERS_FIXED + 1)

static struct rules rules_of_two_owners(void)
{
	struct rules rules = RULES_NEW;
	struct rf_error error = {};

	assert_int_equal(rf_owner_add(&rules.ruleset.owners, "blocklist", &error), BLOCKLIST);
	assert_int_equal(rf_owner_add(&rules.ruleset.owners, "fail2ban-sshd", &error), JAIL);
	assert_int_equal(rf_owner_add(&rules.ruleset.owners, "blocklist", &error), BLOCKLIST);
	return rules;
}

static enum rf_list_refusal claim(struct rules *rules, unsigned int owner, const char *prefix,
				  uint64_t until)
{
	struct rf_list_change change = {.prefix = prefix_of(prefix),
					.list = RF_DENY,
					.owner = owner,
					.until = until,
					.must_be_there = true};

	return change_list(&rules->ruleset, &change);
}

static void an_entry_lasts_until_its_last_owner_lets_go(void **state)
{
	const struct rf_prefix host = prefix_of("10.0.0.1");
	struct rules rules = rules_of_two_owners();

	(void)state;
	claim(&rules, BLOCKLIST, "10.0.0.1", RF_FOREVER);
	claim(&rules, JAIL, "10.0.0.1", 100);
	assert_int_equal(rf_listed_until(rf_ruleset_find(&rules.ruleset, &host), RF_DENY),
			 RF_FOREVER);
	assert_int_equal(claim(&rules, RF_OWNER_MANUAL, "10.0.0.1", 0), RF_LIST_MISSING);
	assert_int_equal(claim(&rules, RF_OWNER_ONLY, "10.0.0.1", 0), RF_LIST_SEVERAL);
	assert_int_equal(claim(&rules, BLOCKLIST, "10.0.0.1", 0), RF_LIST_ACCEPTED);
	assert_int_equal(rf_listed_until(rf_ruleset_find(&rules.ruleset, &host), RF_DENY), 100);
	claim(&rules, JAIL, "10.0.0.1", 90);
	assert_int_equal(rf_listed_until(rf_ruleset_find(&rules.ruleset, &host), RF_DENY), 90);
	assert_int_equal(claim(&rules, RF_OWNER_ONLY, "10.0.0.1", 0), RF_LIST_ACCEPTED);
	assert_null(rf_ruleset_find(&rules.ruleset, &host));
	claim(&rules, BLOCKLIST, "10.0.0.1", RF_FOREVER);
	claim(&rules, JAIL, "10.0.0.1", 100);
	assert_int_equal(claim(&rules, RF_OWNER_ALL, "10.0.0.1", 0), RF_LIST_ACCEPTED);
	assert_null(rf_ruleset_find(&rules.ruleset, &host));
	rules_free(&rules);
}

static void the_claims_of_an_entry_expire_one_by_one(void **state)
{
	const struct rf_prefix host = prefix_of("10.0.0.1");
	struct rules rules = rules_of_two_owners();

	(void)state;
	claim(&rules, BLOCKLIST, "10.0.0.1", 50);
	claim(&rules, JAIL, "10.0.0.1", 100);
	rules.ruleset.lists_changed = false;
	rf_ruleset_expire(&rules.ruleset, 49);
	assert_false(rules.ruleset.lists_changed);
	rf_ruleset_expire(&rules.ruleset, 50);
	assert_true(rules.ruleset.lists_changed);
	assert_int_equal(claim(&rules, BLOCKLIST, "10.0.0.1", 0), RF_LIST_MISSING);
	assert_int_equal(rf_listed_until(rf_ruleset_find(&rules.ruleset, &host), RF_DENY), 100);
	rf_ruleset_expire(&rules.ruleset, 100);
	assert_int_equal(rules.ruleset.listed_count, 0);
	rules_free(&rules);
}

/* Only the fleet lifts its bans. */
static void a_host_ends_no_ban_of_the_fleet(void **state)
{
	struct rules rules = rules_of_two_owners();

	(void)state;
	claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 100);
	assert_int_equal(claim(&rules, RF_OWNER_ONLY, "10.0.0.1", 0), RF_LIST_MISSING);
	assert_int_equal(claim(&rules, RF_OWNER_ALL, "10.0.0.1", 0), RF_LIST_MISSING);
	claim(&rules, JAIL, "10.0.0.1", 200);
	claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 300);
	assert_int_equal(rf_listed_local_until(&rules.ruleset.listed[0], RF_DENY), 200);
	assert_int_equal(rf_listed_until(&rules.ruleset.listed[0], RF_DENY), 300);
	assert_int_equal(claim(&rules, RF_OWNER_ONLY, "10.0.0.1", 0), RF_LIST_ACCEPTED);
	assert_int_equal(rf_listed_until(&rules.ruleset.listed[0], RF_DENY), 300);
	assert_int_equal(claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 0), RF_LIST_ACCEPTED);
	assert_int_equal(rules.ruleset.listed_count, 0);
	rules_free(&rules);
}

/* An entry has the time of each owner, and of the list: the longest of any owner. */
static void an_entry_has_the_time_of_each_owner(void **state)
{
	struct rules rules = rules_of_two_owners();
	struct rf_fence_rules read = {.now = 100, .tick_ns = 10};
	struct rf_list_entry entry;

	(void)state;
	claim(&rules, JAIL, "10.0.0.1", 200);
	claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 300);
	claim(&rules, RF_OWNER_FLEET, "10.0.0.2", RF_FOREVER);
	read.set = rules.ruleset;
	assert_true(rf_list_entry_of(&read, &read.set.listed[0], RF_DENY, &RF_OWNERS_ALL, &entry));
	assert_int_equal(entry.left_ns, 2000);
	assert_int_equal(entry.owners, 2);
	assert_true(
		rf_list_entry_of(&read, &read.set.listed[0], RF_DENY, &RF_OWNERS_LOCAL, &entry));
	assert_int_equal(entry.owners, 1);
	assert_int_equal(entry.owner[0].left_ns, 1000);
	assert_string_equal(entry.owner[0].name, rf_owner_name(&read.set.owners, JAIL));
	assert_false(
		rf_list_entry_of(&read, &read.set.listed[1], RF_DENY, &RF_OWNERS_LOCAL, &entry));
	assert_true(entry.left_ns == RF_FOREVER);
	assert_false(
		rf_list_entry_of(&read, &read.set.listed[0], RF_ALLOW, &RF_OWNERS_ALL, &entry));
	assert_int_equal(rf_ruleset_count_listed(&read.set, RF_DENY, &RF_OWNERS_LOCAL), 1);
	assert_int_equal(rf_ruleset_count_listed(&read.set, RF_DENY, &RF_OWNERS_FLEET), 2);
	assert_int_equal(rf_ruleset_count_listed(&read.set, RF_ALLOW, &RF_OWNERS_ALL), 0);
	rules_free(&rules);
}

static void a_prefix_has_six_owners_at_most(void **state)
{
	struct rules rules = rules_of_two_owners();
	struct rf_error error = {};
	char name[24];

	(void)state;
	for (int i = 0; i <= RF_LIST_CLAIMS; i++) {
		sprintf(name, "owner%d", i);
		assert_int_equal(claim(&rules, rf_owner_add(&rules.ruleset.owners, name, &error),
				       "10.0.0.1", 100),
				 i < RF_LIST_CLAIMS ? RF_LIST_ACCEPTED : RF_LIST_FULL);
	}
	rules_free(&rules);
}

/* This host's owners come first. */
static void a_ban_of_the_fleet_makes_room_for_a_sixth_owner(void **state)
{
	struct rules rules = rules_of_two_owners();
	struct rf_error error = {};
	char name[24];

	(void)state;
	claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 100);
	for (int i = 0; i < RF_LIST_CLAIMS; i++) {
		sprintf(name, "owner%d", i);
		assert_int_equal(claim(&rules, rf_owner_add(&rules.ruleset.owners, name, &error),
				       "10.0.0.1", 200),
				 RF_LIST_ACCEPTED);
	}
	assert_int_equal(rf_listed_until_by(&rules.ruleset.listed[0], RF_DENY, RF_OWNER_FLEET), 0);
	assert_int_equal(claim(&rules, RF_OWNER_FLEET, "10.0.0.1", 300), RF_LIST_FULL);
	rules_free(&rules);
}

/* In their order: additions of a line before a release are released, later ones remain. */
static void a_release_ends_the_claims_of_its_owners(void **state)
{
	struct rules rules = rules_of_two_owners();
	struct rf_list_changes changes = {.owners = rules.ruleset.owners};
	const struct rf_prefix before = prefix_of("10.0.0.1"), after = prefix_of("10.0.0.2");
	struct rf_list_change change = {
		.prefix = before, .list = RF_DENY, .owner = BLOCKLIST, .until = RF_FOREVER};
	struct rf_list_refused refused;
	struct rf_error error = {};
	size_t first;

	(void)state;
	claim(&rules, BLOCKLIST, "10.0.0.3", RF_FOREVER);
	claim(&rules, JAIL, "10.0.0.3", 100);
	claim(&rules, RF_OWNER_FLEET, "10.0.0.4", 100);
	assert_int_equal(rf_list_changes_add(&changes, &change, &error), 0);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_DENY, "blocklist", &error), 0);
	change.prefix = after;
	assert_int_equal(rf_list_changes_add(&changes, &change, &error), 0);
	assert_int_equal(rf_ruleset_change(&rules.ruleset, &changes, &first, &refused, &error), 0);
	assert_int_equal(rules.ruleset.listed_count, 3);
	assert_null(rf_ruleset_find(&rules.ruleset, &before));
	assert_int_equal(claim(&rules, RF_OWNER_ONLY, "10.0.0.3", 0), RF_LIST_ACCEPTED);
	assert_int_equal(claim(&rules, JAIL, "10.0.0.2", 0), RF_LIST_MISSING);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_DENY, "", &error), 0);
	assert_int_equal(rf_ruleset_change(&rules.ruleset, &changes, &first, &refused, &error), 0);
	assert_int_equal(rules.ruleset.listed_count, 1); /* the fleet's */
	rf_list_changes_free(&changes);
	rules_free(&rules);
}

/* Two rule sets have learned the same names in another order. */
static void owners_are_joined_by_name(void **state)
{
	const struct rf_prefix host = prefix_of("10.0.0.1");
	struct rules rules = rules_of_two_owners();
	struct rf_owners owners = {};
	struct rf_error error = {};
	char name[24];

	(void)state;
	claim(&rules, BLOCKLIST, "10.0.0.1", 100);
	assert_int_equal(rf_owner_add(&owners, "other", &error), BLOCKLIST);
	assert_int_equal(rf_ruleset_join_owners(&rules.ruleset, &owners, &error), 0);
	assert_int_equal(rf_listed_until_by(rf_ruleset_find(&rules.ruleset, &host), RF_DENY,
					    rf_owner_find(&owners, "blocklist")),
			 100);
	for (int i = 0; i < RF_OWNERS_MAX; i++) {
		sprintf(name, "owner%d", i);
		rf_owner_add(&owners, name, &error);
	}
	assert_int_equal(rf_owner_find(&owners, "owner124"), -1); /* 3 fixed, 3 before */
	assert_true(rf_owner_find(&owners, "owner121") > 0);
	memset(owners.name[0], 0, RF_OWNER_SIZE);
	memset(owners.name[1], 0, RF_OWNER_SIZE);
	memset(owners.name[2], 0, RF_OWNER_SIZE);
	assert_int_equal(rf_owner_add(&owners, "last", &error), RF_OWNERS_FIXED);
	rules_free(&rules);
}

static void expired_entries_are_dropped(void **state)
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
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &a), RF_ALLOW), 100);
	rf_ruleset_expire(ruleset, 100);
	assert_int_equal(ruleset->listed_count, 2);
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &a), RF_ALLOW), 0);
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &a), RF_DENY), RF_FOREVER);
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &c), RF_DENY), 101);
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

	rules_compile(&rules); /* again, without an addition */
	assert_int_equal(rules.ruleset.listed_count, 7);
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &added), RF_LIST_MISSING);
	assert_int_equal(rules_unlist(&rules, RF_DENY, RF_OWNER_MANUAL, &host), RF_LIST_ACCEPTED);
	rules_compile(&rules);
	assert_int_equal(rules.ruleset.listed_count, 5);
	assert_false(is_divided(&rules, "2001:db8:0:2::1"));
	rules_free(&rules);
}

/* ---- limits come and go ---- */

static void counters_of_a_new_limit_are_its_own(void **state)
{
	struct rules before = RULES_NEW, after = RULES_NEW;
	const struct rf_policy *policy = after.ruleset.bank.policy;
	const struct rf_bank *other = &before.ruleset.bank;

	(void)state;
	rules_put(&before, 0, "a rate 1k/1s");
	rules_put(&before, 1, "b rate 1k/1s");
	assert_int_equal(other->policy[0].counters, 0);
	assert_int_equal(other->policy[1].counters, 1);
	copy_rules(&after.ruleset, &before.ruleset);
	after.next_id = before.next_id;

	assert_accepted(rules_try_put(&after, 1, "b rate 1k/1s per /24", other), &after.error);
	assert_int_equal(policy[1].counters, 1);
	assert_int_equal(policy[1].id, 3);
	assert_accepted(rules_try_put(&after, 0, "c rate 1k/1s", other), &after.error);
	assert_int_equal(policy[0].counters, 2);
	assert_int_equal(policy[0].id,
			 4); /* a different limit does not continue with its windows */
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

static void limit_set_and_del_replace_from_and_ports(void **state)
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
	assert_int_equal(rf_listed_until(rf_ruleset_find(ruleset, &kept), RF_DENY), 9);
	assert_int_equal(rf_bank_count(&ruleset->bank), 0);
	rules_free(&rules);
}

static void a_copy_is_on_its_own(void **state)
{
	struct rules rules = RULES_NEW, copy = RULES_NEW;

	(void)state;
	rules_put(&rules, 0, "a rate 1k/1s dport 53 from 10.0.0.1");
	copy_rules(&copy.ruleset, &rules.ruleset);
	rf_ruleset_del_limit(&rules.ruleset, 0);
	rules_compile(&copy);
	assert_int_equal(copy.ruleset.listed_count, 1);
	assert_int_equal(copy.ruleset.ports[0][0], 1ULL << 53);
	assert_int_equal(rf_bank_find(&copy.ruleset.bank, "a"), 0);
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
	UNIT_ROW_OF("written as text: " title, limit_as_text, (&(struct text_row){__VA_ARGS__}))

/* A line of newcomers, and how it is written; NULL: as it is. */
struct newcomers_row {
	const char *line, *text;
};

static void newcomers_as_text(void **state)
{
	const struct newcomers_row *row = *state;
	struct rf_newcomers_text newcomers;
	char text[RF_NEWCOMERS_TEXT_SIZE];
	struct rf_error error = {};
	struct rf_bank bank = {};
	struct line line;

	line_split(&line, row->line);
	rf_words_next(&line.words);
	assert_int_equal(rf_parse_newcomers(&line.words, &newcomers, &error), 0);
	rf_bank_set_newcomers(&bank, &newcomers);
	rf_format_newcomers(&bank.newcomers, text);
	assert_string_equal(text, row->text ? row->text : row->line);
}

#define NEWCOMERS(title, ...)                                       \
	UNIT_ROW_OF("newcomers as text: " title, newcomers_as_text, \
		    (&(struct newcomers_row){.line = __VA_ARGS__}))
#define CHALLENGE "newcomers rate 10k/1s then challenge"
#define DROP "newcomers rate 10k/1s then drop"

static struct rf_bank challenging_bank(void)
{
	const struct rf_limit limit = {
		.rate = 10000, .window_ns = SECOND, .per4 = 32, .per6 = 64, .cells = RF_CELLS};
	struct rf_newcomers_text newcomers;
	struct rf_error error = {};
	struct rf_bank bank = {};
	struct line line;

	line_split(&line, CHALLENGE);
	rf_words_next(&line.words);
	assert_int_equal(rf_parse_newcomers(&line.words, &newcomers, &error), 0);
	rf_bank_set_newcomers(&bank, &newcomers);
	rf_policy_compile(&limit, 1, 4 * MS, &bank.newcomers.policy);
	bank.newcomers.answers_policy = bank.newcomers.policy;
	return bank;
}

static void assert_fault(const struct rf_bank *bank, const char *fault)
{
	struct rf_error error = {};

	assert_int_equal(rf_bank_check(bank, &error), -EPROTO);
	if (!strstr(error.text, fault))
		fail_msg("%s instead of %s", error.text, fault);
}

#define FAULT(field, value, fault)                        \
	do {                                              \
		struct rf_bank bank = challenging_bank(); \
                                                          \
		bank.newcomers.field = (value);           \
		assert_fault(&bank, fault);               \
	} while (0)

static void a_challenge_that_ringfence_never_wrote_is_refused(void **state)
{
	const struct rf_bank bank = challenging_bank();
	struct rf_error error = {};

	(void)state;
	assert_int_equal(rf_bank_check(&bank, &error), 0);
	FAULT(then, RF_NEWCOMERS_CHALLENGE + 1, "what becomes of them");
	FAULT(except_established, 2, "what becomes of them");
	FAULT(answers, 0, "the rate of answers");
	FAULT(answers_ns, 0, "the rate of answers");
	FAULT(answers_ns, RF_WINDOW_MAX_NS + 1, "the rate of answers");
	FAULT(dns_ports, RF_DNS_PORTS_MAX + 1, "the ports of DNS");
	FAULT(answers_policy.cells, 0, "the number of cells");
	FAULT(policy.cells, 0, "the number of cells");
}

/* Without a guard, responses of limits need a policy as well. */
static void truncated_responses_that_ringfence_never_wrote_are_refused(void **state)
{
	struct rf_bank bank = challenging_bank();
	struct rf_error error = {};

	(void)state;
	bank.newcomers.then = RF_NEWCOMERS_OFF;
	bank.truncates = 1;
	assert_int_equal(rf_bank_check(&bank, &error), 0);
	bank.newcomers.answers_policy.cells = 0;
	assert_fault(&bank, "the number of cells");
	bank.truncates = 0;
	assert_int_equal(rf_bank_check(&bank, &error), 0);
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
	list_prefixes(&rules->ruleset, list, RF_OWNER_MANUAL, &prefixes, until);
	rf_prefixes_free(&prefixes);
}

static void a_hundred_thousand_prefixes_are_compiled(void **state)
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
	cmocka_unit_test(a_prefix_inherits_from_all_prefixes_around_it),
	cmocka_unit_test(a_prefix_keeps_its_own_entries),
	cmocka_unit_test(entries_of_lists_are_added_and_deleted),
	cmocka_unit_test(expired_entries_are_dropped),
	cmocka_unit_test(an_entry_lasts_until_its_last_owner_lets_go),
	cmocka_unit_test(the_claims_of_an_entry_expire_one_by_one),
	cmocka_unit_test(a_host_ends_no_ban_of_the_fleet),
	cmocka_unit_test(an_entry_has_the_time_of_each_owner),
	cmocka_unit_test(a_prefix_has_six_owners_at_most),
	cmocka_unit_test(a_ban_of_the_fleet_makes_room_for_a_sixth_owner),
	cmocka_unit_test(a_release_ends_the_claims_of_its_owners),
	cmocka_unit_test(owners_are_joined_by_name),
	cmocka_unit_test(a_divided_64_is_marked_throughout),

	cmocka_unit_test(counters_of_a_new_limit_are_its_own),
	cmocka_unit_test(there_are_counters_for_two_banks),
	cmocka_unit_test(limit_set_and_del_replace_from_and_ports),
	cmocka_unit_test(a_copy_is_on_its_own),

	TEXT("a plain limit", "any rate 1000/1s", "limit add any rate 1k/1s"),
	TEXT("a limit of ports", "any rate 1k/1s dport 443,53,8000-8100,54,65535",
	     "limit add any rate 1k/1s dport 53-54,443,8000-8100,65535"),
	TEXT("a limit of all ports", "any rate 1k/1s dport 0-65535 match udp",
	     "limit add any rate 1k/1s match udp dport 0-65535"),
	TEXT("a limit of prefixes",
	     "any rate 1k/1s shadow from ::1/128,10.0.0.0/8,10.0.0.0/9,192.0.2.1/32",
	     "limit add any rate 1k/1s from 10.0.0.0/8,10.0.0.0/9,192.0.2.1,::1 shadow"),
	TEXT("a limit of ports and prefixes", "any rate 1k/1s from ::/0 dport 0",
	     "limit add any rate 1k/1s dport 0 from ::/0"),
	TEXT("a limit in the order of the manual",
	     "web rate 1k/1s ban 1m exact per6 /48 per /24 from 10.0.0.0/8 flags SYN/ALL length "
	     "60-99 "
	     "to 192.0.2.1 sport 9 dport 80 match tcp burst 9 algorithm token",
	     "limit add web rate 1k/1s algorithm token burst 9 match tcp dport 80 sport 9 to "
	     "192.0.2.1 "
	     "length 60-99 flags SYN/ALL from 10.0.0.0/8 per /24 per6 /48 exact ban 1m"),
	NEWCOMERS("off", "newcomers off"),
	NEWCOMERS("aggregate", "newcomers rate 10000/1000ms then aggregate",
		  "newcomers rate 10k/1s then aggregate"),
	NEWCOMERS("drop", DROP),
	NEWCOMERS("an exception", DROP " except established"),
	NEWCOMERS("challenge, without the exception that it implies",
		  CHALLENGE " except established", CHALLENGE),
	NEWCOMERS("challenge, without its defaults", CHALLENGE " dns 53 answers 1000k/1s",
		  CHALLENGE),
	NEWCOMERS("a rate of answers", CHALLENGE " answers 2M/2s"),
	NEWCOMERS("no DNS", CHALLENGE " dns none"),
	NEWCOMERS("ports in ascending order, each once", CHALLENGE " dns 5353,53,53",
		  CHALLENGE " dns 53,5353"),
	NEWCOMERS("the longest",
		  "newcomers rate 2147483647/31622399999ms then challenge "
		  "answers 2147483647/31622399999ms dns 65532-65535",
		  "newcomers rate 2147483647/31622399999ms then challenge "
		  "answers 2147483647/31622399999ms dns 65532,65533,65534,65535"),
	cmocka_unit_test(a_challenge_that_ringfence_never_wrote_is_refused),
	cmocka_unit_test(truncated_responses_that_ringfence_never_wrote_are_refused),

	cmocka_unit_test(a_hundred_thousand_prefixes_are_compiled),
};

int main(void)
{
	return cmocka_run_group_tests_name("ruleset, held", tests, NULL, NULL);
}
