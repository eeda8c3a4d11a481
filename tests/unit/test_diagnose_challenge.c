// SPDX-License-Identifier: GPL-2.0
/* The findings of `doctor` for rules that examine newcomers. */
#include "findings.h"

#define FENCED .program_id = 5, .program_name = "ringfence", .ours = true
#define MAC 0x665544332211
#define OTHER_MAC 0x665544332212
#define OMITTED_MAC 0x665544332213

/* A fence that challenges newcomers, on a host where challenges work; rows override facts. */
#define CHALLENGE(...)                                       \
	.challenge = {.challenges = true,                    \
		      .excepts_established = true,           \
		      .dns = {{.port = 53}, {.port = 5353}}, \
		      .dns_ports = 2,                        \
		      .syncookies = 2,                       \
		      .timestamps = 1,                       \
		      .fast_open = 1,                        \
		      .conntrack_loose = 1,                  \
		      .listens = RF_YES,                     \
		      .peer_receives = RF_YES,               \
		      .own_macs = 1,                         \
		      .own_mac = {MAC},                      \
		      __VA_ARGS__}
/* A fence with a limit that truncates, on a host without the conditions of challenges. */
#define TRUNCATE(...)                        \
	.challenge = {.truncates = true,     \
		      .dns = {{.port = 53}}, \
		      .dns_ports = 1,        \
		      .own_macs = 1,         \
		      .own_mac = {MAC},      \
		      .listens = RF_NO,      \
		      __VA_ARGS__}

struct challenge_row {
	struct rf_interface_facts facts;
	const char *check;
	enum rf_level level;
	const char *part; /* of the text; NULL: there is no such finding */
	const char *command;
	int problems, notes;
};

static void diagnose_challenge(void **state)
{
	const struct challenge_row *row = *state;
	struct rf_findings findings = {};

	rf_diagnose_challenge(&row->facts, &findings);
	if (row->part)
		assert_finding(&findings, row->check, row->level, row->part, row->command);
	else
		for (int i = 0; i < findings.count; i++)
			assert_string_not_equal(findings.finding[i].check, row->check);
	assert_int_equal(rf_findings_count(&findings, RF_PROBLEM), row->problems);
	assert_int_equal(rf_findings_count(&findings, RF_NOTE), row->notes);
}

#define ROW(title, ...) \
	UNIT_ROW_OF(title, diagnose_challenge, (&(struct challenge_row){__VA_ARGS__}))
#define FINE(title, says, part, ...)                                                            \
	ROW("doctor of challenges, '" says "' is ok: " title, FACTS(FENCED, __VA_ARGS__), says, \
	    RF_OK, part, "", 0, 0)
#define NOTED(title, says, part, command, ...)                                                     \
	ROW("doctor of challenges, '" says "' is noted: " title, FACTS(FENCED, __VA_ARGS__), says, \
	    RF_NOTE, part, command, 0, 1)
#define WRONG(title, says, part, command, ...)                                                   \
	ROW("doctor of challenges, '" says "' is a problem: " title, FACTS(FENCED, __VA_ARGS__), \
	    says, RF_PROBLEM, part, command, 1, 0)
#define ABSENT(title, says, ...)                                                              \
	ROW("doctor of challenges, '" says "' is absent: " title, FACTS(FENCED, __VA_ARGS__), \
	    says, RF_OK, NULL, "", 0, 0)

#define VETH .driver = "veth", .kind = "veth"
#define UNTAGGED .vlan = "eth0.5", .untagged_by = "eth0"
#define SYNCOOKIES_2 "sysctl -w net.ipv4.tcp_syncookies=2"

/* ---- interfaces that get the packets ---- */

/*
 * Only eth0 has a fence, which stores MAC, and would store OTHER_MAC as well now. The name of the
 * interface whose address it lacks.
 */
static const char *unknown_mac_of(struct rf_interface_facts *facts, int count)
{
	facts[0].challenge.challenges = true;
	facts[0].challenge.own_macs = 1;
	facts[0].challenge.own_mac[0] = facts[0].challenge.host_mac[0] = MAC;
	facts[0].challenge.host_mac[1] = OTHER_MAC;
	facts[0].challenge.host_macs = 2;
	rf_diagnose_relate(facts, count);
	return facts[0].challenge.unknown_mac_of;
}

#define UNKNOWN_MAC_OF(...)                                        \
	unknown_mac_of((struct rf_interface_facts[]){__VA_ARGS__}, \
		       UNIT_ARRAY_SIZE(((struct rf_interface_facts[]){__VA_ARGS__})))

static void find_unknown_macs(void **state)
{
	(void)state;
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0", .mac = MAC}), "");
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0", .mac = OTHER_MAC}), "eth0");
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0"}), "");
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0", .mac = OMITTED_MAC}), "");
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0", .mac = MAC, .master = "br0"},
					   {.name = "br0", .mac = OTHER_MAC}),
			    "br0");
	assert_string_equal(UNKNOWN_MAC_OF({.name = "eth0", .mac = MAC, .master = "br0"},
					   {.name = "eth1", .mac = OTHER_MAC, .master = "br0"},
					   {.name = "br0", .mac = MAC}),
			    "");
	assert_string_equal(
		UNKNOWN_MAC_OF(
			{.name = "eth0", .mac = MAC, .master = "br0"},
			{.name = "mv0", .kind = "macvlan", .mac = OTHER_MAC, .parent = "br0"},
			{.name = "br0", .mac = MAC}),
		"mv0");
	assert_string_equal(
		UNKNOWN_MAC_OF({.name = "eth0", .kind = "veth", .mac = MAC, .parent = "vb"},
			       {.name = "vb", .kind = "veth", .mac = OTHER_MAC, .parent = "eth0"}),
		"");
}

static void find_old_macs(void **state)
{
	struct rf_interface_facts facts = {.name = "eth0", .challenge = {.challenges = true}};
	struct rf_challenge_facts *its = &facts.challenge;

	(void)state;
	its->own_macs = 2;
	its->own_mac[0] = its->host_mac[0] = MAC;
	its->own_mac[1] = OTHER_MAC;
	rf_diagnose_relate(&facts, 1);
	assert_int_equal(its->old_mac, 0); /* the host's addresses cannot be read */
	its->host_macs = RF_OWN_MACS_MAX;
	rf_diagnose_relate(&facts, 1);
	assert_int_equal(its->old_mac, 0); /* the host can have more */
	its->host_macs = 1;
	rf_diagnose_relate(&facts, 1);
	assert_int_equal(its->old_mac, OTHER_MAC);
}

/* Of the first one: the card that hides the tags of a VLAN, and the VLAN. */
static void assert_untagged(struct rf_interface_facts *facts, int count, const char *card,
			    const char *vlan)
{
	facts[0].challenge.truncates = true;
	rf_diagnose_relate(facts, count);
	assert_string_equal(facts[0].challenge.untagged_by, card);
	assert_string_equal(facts[0].challenge.vlan, vlan);
}

#define ASSERT_UNTAGGED(card, vlan, ...)                            \
	assert_untagged((struct rf_interface_facts[]){__VA_ARGS__}, \
			UNIT_ARRAY_SIZE(((struct rf_interface_facts[]){__VA_ARGS__})), card, vlan)

static void find_hidden_tags(void **state)
{
	(void)state;
	ASSERT_UNTAGGED("eth0", "eth0.5", {.name = "eth0", .rx_vlan = RF_YES},
			{.name = "eth0.5", .kind = "vlan", .parent = "eth0"});
	ASSERT_UNTAGGED("", "eth0.5", {.name = "eth0", .rx_vlan = RF_NO},
			{.name = "eth1", .rx_vlan = RF_YES},
			{.name = "eth0.5", .kind = "vlan", .parent = "eth0"});
	ASSERT_UNTAGGED("eth0", "", {.name = "eth0", .rx_vlan = RF_YES}, {.name = "eth1"},
			{.name = "eth1.5", .kind = "vlan", .parent = "eth1"});
	ASSERT_UNTAGGED("eth0", "br0.5", {.name = "eth0", .rx_vlan = RF_YES, .master = "br0"},
			{.name = "br0", .kind = "bridge", .rx_vlan = RF_YES},
			{.name = "br0.5", .kind = "vlan", .parent = "br0"});
	ASSERT_UNTAGGED("eth1", "bond0.5", {.name = "bond0", .kind = "bond", .rx_vlan = RF_YES},
			{.name = "eth0", .rx_vlan = RF_NO, .master = "bond0"},
			{.name = "eth1", .rx_vlan = RF_YES, .master = "bond0"},
			{.name = "bond0.5", .kind = "vlan", .parent = "bond0"});
	ASSERT_UNTAGGED("", "va.5", {.name = "va", .kind = "veth", .rx_vlan = RF_YES},
			{.name = "va.5", .kind = "vlan", .parent = "va"});
}

static void find_programs_of_peers(void **state)
{
	struct rf_interface_facts facts[] = {
		{.name = "va", .kind = "veth", .parent = "vb"},
		{.name = "vb", .kind = "veth", .parent = "va", .program_id = 7},
		{.name = "vc", .kind = "veth", .parent = "vd"},
		{.name = "vd", .kind = "veth", .parent = "vc", .program_id = 8, .generic = true},
		{.name = "ve", .kind = "veth", .challenge = {.peer_receives = RF_YES}},
	};

	(void)state;
	rf_diagnose_relate(facts, UNIT_ARRAY_SIZE(facts));
	assert_int_equal(facts[0].challenge.peer_receives, RF_YES);
	assert_int_equal(facts[1].challenge.peer_receives, RF_NO);
	assert_int_equal(facts[2].challenge.peer_receives, RF_NO);
	assert_int_equal(facts[4].challenge.peer_receives, RF_YES); /* as it was read */
}

static const struct CMUnitTest tests[] = {
	FINE("tcp_syncookies=2", "syn cookies", "is 2", CHALLENGE()),
	WRONG("tcp_syncookies=1", "syn cookies", "is 1, and challenges require 2", SYNCOOKIES_2,
	      CHALLENGE(.syncookies = 1)),
	WRONG("tcp_syncookies=0, which hides effects of 2", "syn cookies", "is 0", SYNCOOKIES_2,
	      CHALLENGE(.syncookies = 0, .fast_open = 3, .timestamps = 0)),
	NOTED("tcp_syncookies that cannot be read", "syn cookies", "cannot be read", "",
	      CHALLENGE(.syncookies = -1)),

	FINE("a driver", "responses", "the driver sends responses", .driver = "ice", CHALLENGE()),
	FINE("a veth whose peer has a program", "responses", "vb has an XDP program", VETH,
	     .parent = "vb", CHALLENGE()),
	WRONG("a veth whose peer lacks a program", "responses", "vb has no XDP program",
	      "ringfence attach vb", VETH, .parent = "vb", CHALLENGE(.peer_receives = RF_NO)),
	WRONG("a veth whose peer elsewhere lacks a program", "responses",
	      "in another network namespace, has no XDP program", "", VETH,
	      CHALLENGE(.peer_receives = RF_NO)),
	NOTED("a veth whose peer cannot be read", "responses", "is not known", "", VETH,
	      CHALLENGE(.peer_receives = RF_NOT_KNOWN)),
	FINE("a veth in generic mode, whose peer needs no program", "responses", "generic mode",
	     VETH, .generic = true, CHALLENGE(.peer_receives = RF_NO)),

	FINE("addresses that the fence knows", "addresses", "knows the Ethernet", CHALLENGE()),
	WRONG("an address that the fence lacks", "addresses", "Ethernet address of br0",
	      "ringfence attach eth0", CHALLENGE(.unknown_mac_of = "br0")),
	WRONG("an address that this host no longer has", "addresses",
	      "packets to 11:22:33:44:55:66", "ringfence attach eth0", CHALLENGE(.old_mac = MAC)),
	WRONG("more addresses than a fence stores", "addresses", "it stores 64", "",
	      CHALLENGE(.unknown_mac_of = "br0", .own_macs = RF_OWN_MACS_MAX)),
	ROW("doctor of challenges, 'addresses' is a problem with IP forwarding as well",
	    FACTS(FENCED, CHALLENGE(.unknown_mac_of = "br0", .forwards4 = true, .forwards6 = true)),
	    "addresses", RF_PROBLEM, "br0", "ringfence attach eth0", 1, 1),

	WRONG("a card that removes tags", "vlan", "responses to packets of eth0.5",
	      "ethtool -K eth0 rxvlan off", CHALLENGE(UNTAGGED)),
	WRONG("a card that removes tags, with 'over truncate'", "vlan", "eth0 removes VLAN tags",
	      "ethtool -K eth0 rxvlan off", TRUNCATE(UNTAGGED)),
	WRONG("a card that always removes tags", "vlan", "which its driver cannot change", "",
	      CHALLENGE(UNTAGGED, .untags_always = true)),
	ABSENT("a card that removes tags without a VLAN", "vlan", CHALLENGE(.untagged_by = "eth0")),
	ABSENT("a VLAN whose tags remain", "vlan", CHALLENGE(.vlan = "eth0.5")),
	ABSENT("a card that removes tags in generic mode", "vlan", .generic = true,
	       CHALLENGE(UNTAGGED)),

	FINE("a TCP server", "listeners", "has listening", CHALLENGE()),
	NOTED("no TCP server", "listeners", "has no listening TCP socket", "",
	      CHALLENGE(.listens = RF_NO)),
	ABSENT("sockets that cannot be read", "listeners", CHALLENGE(.listens = RF_NOT_KNOWN)),

	WRONG("nf_conntrack_tcp_loose=0", "conntrack", "regards its ACK as invalid",
	      "sysctl -w net.netfilter.nf_conntrack_tcp_loose=1", CHALLENGE(.conntrack_loose = 0)),
	ABSENT("nf_conntrack_tcp_loose=1", "conntrack", CHALLENGE()),
	ABSENT("no conntrack", "conntrack", CHALLENGE(.conntrack_loose = -1)),
	ABSENT("a limit that truncates", "conntrack", TRUNCATE()),

	FINE("a DNS server", "dns", "port 53: sockets of UDP and of TCP",
	     CHALLENGE(.dns = {{53, true, true}}, .dns_ports = 1)),
	NOTED("a DNS server without TCP", "dns", "port 5353: a UDP socket, but no listening TCP",
	      "", CHALLENGE(.dns = {{53, false, true}, {5353, true, false}})),
	ABSENT("no DNS server", "dns", CHALLENGE(.dns = {{53, false, true}})),

	NOTED("Fast Open for servers", "fast open", "is 3, but tcp_syncookies=2 disables", "",
	      CHALLENGE(.fast_open = 3)),
	ABSENT("Fast Open for clients", "fast open", CHALLENGE(.fast_open = 1)),
	ABSENT("Fast Open that cannot be read", "fast open", CHALLENGE(.fast_open = -1)),
	NOTED("no timestamps", "timestamps", "has window scaling",
	      "sysctl -w net.ipv4.tcp_timestamps=1", CHALLENGE(.timestamps = 0)),
	ABSENT("timestamps", "timestamps", CHALLENGE()),

	NOTED("IP forwarding", "forwarding", "this host forwards packets", "",
	      CHALLENGE(.forwards6 = true)),
	NOTED("a port of a bridge", "forwarding", "br0 forwards packets", "", .master = "br0",
	      .master_kind = "bridge", CHALLENGE()),
	NOTED("a port of a bridge, and IP forwarding", "forwarding",
	      "br0, like this host, forwards packets", "", .master = "br0", .master_kind = "bridge",
	      CHALLENGE(.forwards4 = true)),
	ABSENT("a member of a bond", "forwarding", .master = "bond0", .master_kind = "bond",
	       CHALLENGE()),

	NOTED("only 'except established'", "forwarding", "open connections", "",
	      .challenge = {.excepts_established = true, .forwards4 = true}),
	ABSENT("only 'except established'", "syn cookies",
	       .challenge = {.excepts_established = true}),
	WRONG("a limit that truncates, on a veth whose peer lacks a program", "responses",
	      "vb has no XDP program", "ringfence attach vb", VETH, .parent = "vb",
	      TRUNCATE(.peer_receives = RF_NO)),
	WRONG("a limit that truncates", "addresses", "of br0", "ringfence attach eth0",
	      TRUNCATE(.unknown_mac_of = "br0")),
	NOTED("a limit that truncates at the port of a DNS server without TCP", "dns", "port 53",
	      "", TRUNCATE(.dns = {{53, true, false}})),
	ABSENT("a limit that truncates", "syn cookies", TRUNCATE()),
	ABSENT("a limit that truncates", "listeners", TRUNCATE()),
	ABSENT("a limit that truncates", "forwarding", TRUNCATE(.forwards4 = true)),
	ABSENT("other rules", "forwarding", .challenge = {.forwards4 = true}),
	UNIT_ROW("doctor finds an interface whose Ethernet address a fence lacks",
		 find_unknown_macs),
	UNIT_ROW("doctor finds an Ethernet address that this host no longer has", find_old_macs),
	UNIT_ROW("doctor finds a card that hides the tags of a VLAN", find_hidden_tags),
	UNIT_ROW("doctor finds a program on the peer of a veth", find_programs_of_peers),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
