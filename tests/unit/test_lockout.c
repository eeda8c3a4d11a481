// SPDX-License-Identifier: GPL-2.0
/* Which changes of rules would lock the host out: of lists, and limits of rate 0. */
#include "charged.h"

#include <stdio.h>

#include "base/units.h"
#include "rules/lockout.h"

/* The peer 203.0.113.7:51432 of 192.0.2.10:22, and what eth0 has. */
static struct rf_own_networks own_networks(void)
{
	static const struct {
		enum rf_own_kind kind;
		const char *prefix;
	} all[] = {
		{RF_OWN_PEER, "203.0.113.7"},	    {RF_OWN_SUBNET, "192.0.2.0/24"},
		{RF_OWN_SUBNET, "2001:db8:1::/64"}, {RF_OWN_GATEWAY, "192.0.2.1"},
		{RF_OWN_GATEWAY, "2001:db8:1::1"},
	};
	struct rf_own_networks own = {};
	struct rf_error error = {};

	assert_true(rf_peer_parse("203.0.113.7 51432 192.0.2.10 22", &own.peer));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct rf_prefix prefix = prefix_of(all[i].prefix);

		assert_int_equal(rf_own_networks_add(&own, all[i].kind, &prefix,
						     all[i].kind ? "eth0" : "", &error),
				 0);
	}
	return own;
}

/* ---- lists ---- */

static void add(struct rf_list_changes *changes, enum rf_list list, const char *prefix,
		uint64_t until, enum rf_on_own on_own)
{
	const struct rf_list_change change = {
		.prefix = prefix_of(prefix),
		.list = list,
		.owner = until ? RF_OWNER_MANUAL : RF_OWNER_ALL,
		.until = until,
		.on_own = on_own,
	};
	struct rf_error error = {};

	assert_int_equal(rf_list_changes_add(changes, &change, &error), 0);
}

/* The findings, as messages, each on a line; frees the changes. */
static void assert_found(struct rules *rules, struct rf_list_changes *changes, const char *wanted)
{
	struct rf_own_networks own = own_networks();
	struct rf_lockout_lists found = {};
	struct rf_error error = {};
	char text[2048] = "";
	size_t left = changes->count + changes->releases;

	if (rf_lockout_concerns(&own, changes))
		assert_int_equal(rf_lockout_find(&own, changes, &rules->ruleset, &found, &error),
				 0);
	for (size_t i = 0; i < found.count; i++) {
		const size_t length = strlen(text);

		assert_true(rf_lockout_fail(changes, &found.found[i], &error) < 0);
		snprintf(text + length, sizeof(text) - length, "%s\n", error.text);
		rf_lockout_mark(changes, &found.found[i]);
	}
	assert_string_equal(text, wanted);
	assert_int_equal(rf_list_changes_leave_out(changes), found.count);
	assert_int_equal(changes->count + changes->releases, left - found.count);
	rf_lockout_free(&found);
	rf_own_networks_free(&own);
	rf_list_changes_free(changes);
}

static void what_covers_an_own_network_is_found(void **state)
{
	static const char *const harmless[] = {
		"203.0.113.8",	   "203.0.113.0/30", "192.0.2.128/25",	"192.0.2.2",
		"198.51.100.0/24", "2001:db8:1::2",  "2001:db8:2::/48", "::/128",
	};
	struct rules rules = RULES_NEW;
	struct rf_list_changes changes = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		add(&changes, RF_DENY, harmless[i], RF_FOREVER, RF_ON_OWN_REFUSE);
	add(&changes, RF_ALLOW, "0.0.0.0/1", 100, RF_ON_OWN_REFUSE);
	add(&changes, RF_DENY, "203.0.113.7", 0, RF_ON_OWN_REFUSE);
	add(&changes, RF_DENY, "::/0", RF_FOREVER, RF_ON_OWN_FORCE);
	assert_found(&rules, &changes, "");
	add(&changes, RF_DENY, "203.0.113.7", 50, RF_ON_OWN_REFUSE);
	add(&changes, RF_DENY, "10.0.0.0/8", RF_FOREVER, RF_ON_OWN_SKIP);
	add(&changes, RF_DENY, "192.0.0.0/16", RF_FOREVER, RF_ON_OWN_SKIP);
	add(&changes, RF_DENY, "192.0.2.1", RF_FOREVER, RF_ON_OWN_SKIP);
	add(&changes, RF_DENY, "0.0.0.0/0", RF_FOREVER, RF_ON_OWN_FORCE);
	add(&changes, RF_DENY, "::/0", RF_FOREVER, RF_ON_OWN_REFUSE);
	assert_found(
		&rules, &changes,
		"'203.0.113.7': it covers 203.0.113.7, the peer of your SSH connection; add "
		"'force' to deny it nevertheless\n"
		"'192.0.0.0/16': it covers 192.0.2.0/24, a subnet of eth0; add 'force' to deny "
		"it nevertheless\n"
		"'192.0.2.1': it covers 192.0.2.1, the gateway of eth0; add 'force' to deny it "
		"nevertheless\n"
		"'::/0': it covers 2001:db8:1::/64, a subnet of eth0; add 'force' to deny it "
		"nevertheless\n");
	rules_free(&rules);
}

static void an_allow_entry_protects_as_long_as_it_lasts(void **state)
{
	struct rules rules = RULES_NEW;
	struct rf_list_changes changes = {};

	(void)state;
	rules_list(&rules, RF_ALLOW, "203.0.113.0/28", 100);
	add(&changes, RF_DENY, "203.0.113.0/24", 100, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, "");
	add(&changes, RF_DENY, "203.0.113.0/24", 101, RF_ON_OWN_REFUSE);
	assert_found(
		&rules, &changes,
		"'203.0.113.0/24': it covers 203.0.113.7, the peer of your SSH connection; add "
		"'force' to deny it nevertheless\n");
	/* In whichever order. */
	add(&changes, RF_DENY, "192.0.2.0/25", 1000, RF_ON_OWN_REFUSE);
	add(&changes, RF_ALLOW, "192.0.2.1", RF_FOREVER, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, "");
	/* A part of a subnet that is allowed does not protect the subnet. */
	add(&changes, RF_DENY, "192.0.2.0/24", 1000, RF_ON_OWN_REFUSE);
	assert_found(
		&rules, &changes,
		"'192.0.2.0/24': it covers 192.0.2.0/24, a subnet of eth0; add 'force' to deny "
		"it nevertheless\n");
	rules_free(&rules);
}

static void protection_that_is_needed_is_not_removed(void **state)
{
	struct rf_list_changes changes = {};
	struct rules rules = RULES_NEW;
	struct rf_error error = {};

	(void)state;
	rules_list(&rules, RF_ALLOW, "203.0.113.7,203.0.113.0/28,192.0.2.1", RF_FOREVER);
	rules_list(&rules, RF_DENY, "203.0.113.0/24", 100);
	add(&changes, RF_ALLOW, "203.0.113.7", 0, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, ""); /* the /28 remains */
	add(&changes, RF_ALLOW, "192.0.2.1", 0, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, ""); /* no deny covers it */
	add(&changes, RF_ALLOW, "203.0.113.0/28", 0, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes,
		     "'203.0.113.0/28': without this entry of the allow list, the deny list drops "
		     "203.0.113.7, the peer of your SSH connection; add 'force' to remove it "
		     "nevertheless\n");
	rules_list(&rules, RF_ALLOW, "203.0.113.0/28", RF_FOREVER);
	add(&changes, RF_ALLOW, "203.0.113.0/28", 0, RF_ON_OWN_REFUSE);
	add(&changes, RF_DENY, "203.0.113.0/24", 0, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, ""); /* the deny expires as well */
	rules_list(&rules, RF_ALLOW, "203.0.113.0/28", RF_FOREVER);
	rules_list(&rules, RF_DENY, "203.0.113.0/24", 100);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_ALLOW, "", &error), 0);
	assert_found(
		&rules, &changes,
		"without these entries of the allow list, the deny list drops 203.0.113.7, the "
		"peer of your SSH connection; add 'force' to remove them nevertheless\n");
	rules_list(&rules, RF_ALLOW, "203.0.113.0/28", RF_FOREVER);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_ALLOW, "", &error), 0);
	rf_list_changes_mark_release(&changes, RF_ON_OWN_FORCE, 0);
	assert_found(&rules, &changes, "");
	rules_list(&rules, RF_ALLOW, "203.0.113.0/28", RF_FOREVER);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_ALLOW, "", &error), 0);
	add(&changes, RF_ALLOW, "203.0.113.7", RF_FOREVER, RF_ON_OWN_REFUSE);
	assert_found(&rules, &changes, ""); /* it gets a second one */
	rules_free(&rules);
}

/* A gateway lies in a subnet, unless the host has an address without one. */
static void gateways_are_asked_for_where_they_may_matter(void **state)
{
	static const struct {
		const char *prefix;
		bool wanted;
	} all[] = {
		{"203.0.113.7", false},	  {"198.51.100.0/24", false}, {"192.0.2.77", true},
		{"192.0.0.0/16", true},	  {"0.0.0.0/0", true},	      {"2001:db8:1::7", true},
		{"2001:db8:2::7", false},
	};
	struct rf_own_networks own = own_networks();
	struct rf_list_changes changes = {};
	struct rf_error error = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		add(&changes, RF_DENY, all[i].prefix, RF_FOREVER, RF_ON_OWN_SKIP);
		assert_int_equal(rf_lockout_needs_gateways(&own, &changes), all[i].wanted);
		changes.change[0].on_own = RF_ON_OWN_FORCE;
		assert_false(rf_lockout_needs_gateways(&own, &changes));
		rf_list_changes_free(&changes);
	}
	own.has_host[0] = true;
	add(&changes, RF_DENY, "2001:db8:2::7", RF_FOREVER, RF_ON_OWN_SKIP);
	assert_false(rf_lockout_needs_gateways(&own, &changes));
	add(&changes, RF_DENY, "198.51.100.7", RF_FOREVER, RF_ON_OWN_SKIP);
	assert_true(rf_lockout_needs_gateways(&own, &changes));
	rf_list_changes_free(&changes);
	assert_int_equal(rf_list_changes_release_by(&changes, RF_DENY, "", &error), 0);
	assert_false(rf_lockout_needs_gateways(&own, &changes));
	assert_int_equal(rf_list_changes_release_by(&changes, RF_ALLOW, "", &error), 0);
	assert_true(rf_lockout_needs_gateways(&own, &changes));
	rf_list_changes_free(&changes);
	rf_own_networks_free(&own);
}

/* A release that is left out, between changes that are and changes that are not. */
static void releases_keep_their_places(void **state)
{
	struct rf_list_changes changes = {};
	struct rf_error error = {};

	(void)state;
	for (int i = 0; i < 6; i++) {
		add(&changes, RF_DENY, i % 2 ? "10.0.0.1" : "10.0.0.2", 1, RF_ON_OWN_SKIP);
		changes.change[i].is_left_out = i == 0 || i == 3;
		assert_int_equal(rf_list_changes_release_by(&changes, RF_DENY, "", &error), 0);
		changes.release[i].is_left_out = i == 1;
	}
	assert_int_equal(rf_list_changes_leave_out(&changes), 3);
	assert_int_equal(changes.count, 4);
	assert_int_equal(changes.releases, 5);
	assert_int_equal(changes.release[0].at, 0);
	assert_int_equal(changes.release[1].at, 2);
	assert_int_equal(changes.release[2].at, 2);
	assert_int_equal(changes.release[3].at, 3);
	assert_int_equal(changes.release[4].at, 4);
	rf_list_changes_free(&changes);
}

/* ---- limits ---- */

/* The message of the limit in slot 0, or "" if there is none; next to an `other` in slot 1. */
static void assert_limit(const char *line, const char *other, const char *wanted, bool applies)
{
	struct rf_own_networks own = own_networks();
	struct rules rules = RULES_NEW;
	struct rf_lockout_limit found;
	struct rf_error error = {};

	rules_put(&rules, 0, line);
	if (other)
		rules_put(&rules, 1, other);
	found = rf_lockout_by_limit(&own, &rules.ruleset, 1);
	if (found.slot >= 0)
		rf_lockout_fail_limit(&rules.ruleset, &found, &error);
	assert_string_equal(error.text, wanted);
	found = rf_lockout_warning(&own, &rules.ruleset, 1);
	if ((found.slot >= 0) != applies)
		fail_msg("%s: applies to the SSH connection: %d", line, found.slot >= 0);
	rf_own_networks_free(&own);
	rules_free(&rules);
}

#define PEER "203.0.113.7, the peer of your SSH connection; add 'force' to drop it nevertheless"
#define SUBNET "192.0.2.0/24, a subnet of eth0; add 'force' to drop it nevertheless"

static void limits_of_rate_0_that_cover_the_peer_are_found(void **state)
{
	static const char *const found[] = {
		"a rate 0",
		"a rate 0 match tcp",
		"a rate 0 match tcp syn",
		"a rate 0 match tcp dport 22,80",
		"a rate 0 match tcp sport 51000-52000",
		"a rate 0 match proto 6",
		"a rate 0 match tcp to 192.0.2.0/24",
		"a rate 0 match tcp flags SYN/SYN,ACK",
		"a rate 0 length 60-100",
	};
	static const char *const fine[] = {
		"a rate 0 match udp",
		"a rate 0 match icmp",
		"a rate 0 match tcp dport 80",
		"a rate 0 match tcp sport 80",
		"a rate 0 match proto 47",
		"a rate 0 match tcp to 192.0.2.11",
		"a rate 0 match tcp flags FIN,PSH,URG",
		"a rate 0 match tcp length 1515-9000",
		"a rate 0 match tcp dport 22 from 203.0.113.8",
		"a rate 0 match tcp dport 22 from 192.0.2.0/24",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(found); i++)
		assert_limit(found[i], NULL, "limit 'a': rate 0 from any source covers " PEER,
			     true);
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++)
		assert_limit(fine[i], NULL, "", false);
	assert_limit("a rate 0 match tcp from 10.0.0.0/8,203.0.113.0/24", NULL,
		     "limit 'a': rate 0 from 203.0.113.0/24 covers " PEER, true);
	assert_limit("a rate 0 from 192.0.2.0/24", NULL,
		     "limit 'a': rate 0 from 192.0.2.0/24 covers " SUBNET, false);
	assert_limit("a rate 0 shadow", NULL, "", false);
	assert_limit("a rate 10/1s", NULL, "", true);
	assert_limit("a rate 10/1s match udp", NULL, "", false);
}

/* A narrower limit is an exception from the wider one. */
static void a_narrower_limit_protects_its_sources(void **state)
{
	(void)state;
	assert_limit("a rate 0 match tcp", "b rate 100/1s match tcp from 203.0.113.0/24", "",
		     false);
	assert_limit("a rate 0 match tcp", "b rate 100/1s match tcp from 198.51.100.0/24",
		     "limit 'a': rate 0 from any source covers " PEER, true);
}

static void the_allow_list_protects_from_limits(void **state)
{
	struct rf_own_networks own = own_networks();
	struct rules rules = RULES_NEW;

	(void)state;
	rules_put(&rules, 0, "a rate 0 match tcp");
	rules_list(&rules, RF_ALLOW, "203.0.113.0/24", 100);
	assert_int_equal(rf_lockout_by_limit(&own, &rules.ruleset, 1).slot, 0);
	rules_list(&rules, RF_ALLOW, "203.0.113.7", RF_FOREVER);
	assert_int_equal(rf_lockout_by_limit(&own, &rules.ruleset, 1).slot, -1);
	assert_int_equal(rf_lockout_warning(&own, &rules.ruleset, 1).slot, -1);
	assert_int_equal(rf_lockout_by_limit(&own, &rules.ruleset, 2).slot, -1);
	rf_own_networks_free(&own);
	rules_free(&rules);
}

/* ---- the SSH connection ---- */

static void ssh_connections_are_parsed(void **state)
{
	struct rf_peer peer;

	(void)state;
	assert_true(rf_peer_parse("fe80::7%eth0 51432 fe80::1%eth0 22", &peer));
	assert_int_equal(peer.port, 51432);
	assert_int_equal(peer.own_port, 22);
	assert_true(peer.has_own);
	assert_int_equal(peer.own.length, 128);
	assert_true(rf_peer_parse("::ffff:203.0.113.7 1 ::ffff:192.0.2.1 22", &peer));
	assert_int_equal(peer.address.version, 4);
	assert_true(rf_peer_parse("203.0.113.7", &peer));
	assert_false(peer.has_own || peer.port || peer.own_port);
	assert_false(rf_peer_parse("", &peer));
	assert_false(rf_peer_parse("nonsense 1 192.0.2.1 22", &peer));
	assert_false(rf_peer_parse("203.0.113.0/24 1 192.0.2.1 22", &peer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_covers_an_own_network_is_found),
		cmocka_unit_test(an_allow_entry_protects_as_long_as_it_lasts),
		cmocka_unit_test(protection_that_is_needed_is_not_removed),
		cmocka_unit_test(gateways_are_asked_for_where_they_may_matter),
		cmocka_unit_test(releases_keep_their_places),
		cmocka_unit_test(limits_of_rate_0_that_cover_the_peer_are_found),
		cmocka_unit_test(a_narrower_limit_protects_its_sources),
		cmocka_unit_test(the_allow_list_protects_from_limits),
		cmocka_unit_test(ssh_connections_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
