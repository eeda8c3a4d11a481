// SPDX-License-Identifier: GPL-2.0
/*
 * The diagnosis of rules that examine newcomers or send responses: 'then challenge', 'except
 * established' and 'over truncate', on an interface with a fence.
 */
#include <stdio.h>
#include <string.h>

#include "base/netlink.h"
#include "doctor/diagnose.h"

#define FAST_OPEN_FOR_SERVERS 2 /* a bit of tcp_fastopen */

/* ---- whether challenges are sent ---- */

static void check_cookies(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const int syncookies = facts->challenge.syncookies;

	if (syncookies == RF_SYNCOOKIES_ALWAYS) {
		rf_findings_add(findings, RF_OK, "syn cookies",
				"net.ipv4.tcp_syncookies is 2, as challenges require");
	} else if (syncookies < 0) {
		rf_findings_add(findings, RF_NOTE, "syn cookies",
				"net.ipv4.tcp_syncookies cannot be read; challenges require 2");
	} else {
		rf_findings_add(
			findings, RF_PROBLEM, "syn cookies",
			"net.ipv4.tcp_syncookies is %d, and challenges require 2: newcomers "
			"over the rate are dropped without a challenge",
			syncookies);
		rf_findings_remedy(findings, "sysctl -w net.ipv4.tcp_syncookies=2");
	}
}

/*
 * A veth puts a frame that XDP sends (XDP_TX) into a ring of the peer, and wakes the peer's NAPI
 * only if the peer has a program. GRO is not enough: the frame then waits for the next packet.
 */
static void check_peer(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const char *peer =
		*facts->parent ? facts->parent : "its peer, in another network namespace,";

	switch (facts->challenge.peer_receives) {
	case RF_YES:
		rf_findings_add(findings, RF_OK, "responses",
				"%s has an XDP program, and receives the responses of the fence",
				peer);
		return;
	case RF_NOT_KNOWN:
		rf_findings_add(findings, RF_NOTE, "responses",
				"whether %s has an XDP program is not known: a veth without one "
				"receives no responses of the fence; reading it requires "
				"CAP_NET_ADMIN there",
				peer);
		return;
	case RF_NO:
		rf_findings_add(
			findings, RF_PROBLEM, "responses",
			"%s has no XDP program in native mode: a veth without one receives "
			"no responses of the fence; attach any program there, for example a "
			"fence without rules",
			peer);
		if (*facts->parent)
			rf_findings_remedy(findings, "ringfence attach %s", facts->parent);
		return;
	}
}

static void check_responses(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (facts->generic)
		rf_findings_add(findings, RF_OK, "responses",
				"responses are sent in generic mode, which is slow");
	else if (strcmp(facts->kind, "veth") == 0)
		check_peer(facts, findings);
	else
		rf_findings_add(findings, RF_OK, "responses",
				"the driver sends responses (XDP_TX)");
}

/* The response to a packet for another host comes from a server here that listens on any address.
 */
static void report_old_mac(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const uint64_t mac = facts->challenge.old_mac;

	rf_findings_add(findings, RF_PROBLEM, "addresses",
			"the fence responds to packets to %02x:%02x:%02x:%02x:%02x:%02x, which no "
			"interface that receives packets for this host has any longer",
			(uint8_t)mac, (uint8_t)(mac >> 8), (uint8_t)(mac >> 16),
			(uint8_t)(mac >> 24), (uint8_t)(mac >> 32), (uint8_t)(mac >> 40));
	rf_findings_remedy(findings, "ringfence attach %s", facts->name);
}

/* With IP forwarding as well, the program responds only to packets to these, see bpf/examine.h. */
static void check_own_macs(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_challenge_facts *challenge = &facts->challenge;
	const char *name = challenge->unknown_mac_of;

	if (!*name && challenge->old_mac) {
		report_old_mac(facts, findings);
		return;
	}
	if (!*name) {
		rf_findings_add(findings, RF_OK, "addresses",
				"the fence knows the Ethernet addresses of the interfaces that get "
				"its packets");
		return;
	}
	if (challenge->own_macs == RF_OWN_MACS_MAX) {
		rf_findings_add(findings, RF_PROBLEM, "addresses",
				"the fence does not know the Ethernet address of %s: it stores %d, "
				"and this host has more; no packet to it gets a response",
				name, RF_OWN_MACS_MAX);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "addresses",
			"the fence does not know the Ethernet address of %s, which was set after "
			"the last change of the rules: no packet to it gets a response",
			name);
	rf_findings_remedy(findings, "ringfence attach %s", facts->name);
}

/* In generic mode, a response has the tag of its packet. */
static void check_vlan(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_challenge_facts *challenge = &facts->challenge;
	const char *card = challenge->untagged_by;

	if (facts->generic || !*challenge->vlan || !*card)
		return;
	rf_findings_add(findings, RF_PROBLEM, "vlan",
			"%s removes VLAN tags before the program gets the frames (rx-vlan-offload)"
			"%s: responses to packets of %s are sent without the tag, and are lost",
			card, challenge->untags_always ? ", which its driver cannot change" : "",
			challenge->vlan);
	if (!challenge->untags_always)
		rf_findings_remedy(findings, "ethtool -K %s rxvlan off", card);
}

/* ---- whether clients can prove their address ---- */

static void check_listeners(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	switch (facts->challenge.listens) {
	case RF_NOT_KNOWN:
		return;
	case RF_YES:
		rf_findings_add(findings, RF_OK, "listeners",
				"this network namespace has listening TCP sockets");
		return;
	case RF_NO:
		rf_findings_add(findings, RF_NOTE, "listeners",
				"this network namespace has no listening TCP socket, except on "
				"loopback addresses: newcomers over the rate are dropped without a "
				"challenge; servers in other network namespaces cannot be reached "
				"by challenges");
		return;
	}
}

/*
 * The driver answers the SYN, so conntrack sees the connection first at the client's ACK. Without
 * conntrack, this setting does not exist.
 */
static void check_conntrack(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (facts->challenge.conntrack_loose)
		return;
	rf_findings_add(findings, RF_PROBLEM, "conntrack",
			"net.netfilter.nf_conntrack_tcp_loose is 0: conntrack has not seen the SYN "
			"of a challenged connection, and regards its ACK as invalid, so a rule "
			"'ct state invalid drop' drops it");
	rf_findings_remedy(findings, "sysctl -w net.netfilter.nf_conntrack_tcp_loose=1");
}

/* A client that receives a truncated response repeats its query over TCP. */
static void check_dns(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	for (int i = 0; i < facts->challenge.dns_ports; i++) {
		const struct rf_dns_facts *dns = &facts->challenge.dns[i];

		if (dns->has_udp && dns->has_tcp)
			rf_findings_add(findings, RF_OK, "dns",
					"port %u: sockets of UDP and of TCP", dns->port);
		else if (dns->has_udp)
			rf_findings_add(findings, RF_NOTE, "dns",
					"port %u: a UDP socket, but no listening TCP socket: a "
					"client that gets a truncated response repeats its query "
					"over TCP, which fails; let the server listen on TCP as "
					"well, or remove the port from 'dns' and 'over truncate'",
					dns->port);
	}
}

/* ---- effects of the rule beyond the fence ---- */

static void check_effects(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_challenge_facts *challenge = &facts->challenge;

	if (challenge->syncookies != RF_SYNCOOKIES_ALWAYS)
		return;
	if (challenge->fast_open > 0 && challenge->fast_open & FAST_OPEN_FOR_SERVERS)
		rf_findings_add(findings, RF_NOTE, "fast open",
				"net.ipv4.tcp_fastopen is %d, but tcp_syncookies=2 disables TCP "
				"Fast Open for the servers of this network namespace",
				challenge->fast_open);
	if (challenge->timestamps == 0) {
		rf_findings_add(
			findings, RF_NOTE, "timestamps",
			"net.ipv4.tcp_timestamps is 0: with tcp_syncookies=2, no connection "
			"to this network namespace has window scaling or selective "
			"acknowledgements");
		rf_findings_remedy(findings, "sysctl -w net.ipv4.tcp_timestamps=1");
	}
}

static void check_forwarding(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const bool is_port = *facts->master && strcmp(facts->master_kind, "bond") != 0;
	const bool forwards = facts->challenge.forwards4 || facts->challenge.forwards6;

	if (!is_port && !forwards)
		return;
	rf_findings_add(findings, RF_NOTE, "forwarding",
			"%s%s forwards packets, also to containers and virtual machines: over the "
			"newcomers rate they are dropped, even those of open connections",
			is_port ? facts->master : "this host",
			is_port && forwards ? ", like this host," : "");
}

void rf_diagnose_challenge(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_challenge_facts *challenge = &facts->challenge;

	if (challenge->challenges)
		check_cookies(facts, findings);
	if (rf_responds(challenge)) {
		check_responses(facts, findings);
		check_own_macs(facts, findings);
		check_vlan(facts, findings);
		check_dns(facts, findings);
	}
	if (challenge->challenges) {
		check_listeners(facts, findings);
		check_conntrack(facts, findings);
		check_effects(facts, findings);
	}
	if (challenge->excepts_established)
		check_forwarding(facts, findings);
}
