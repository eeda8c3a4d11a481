// SPDX-License-Identifier: GPL-2.0
/* The diagnosis of an interface. What its driver requires is in diagnose.c. */
#include <stdio.h>
#include <string.h>

#include "base/netlink.h"
#include "base/time.h"
#include "base/units.h"
#include "doctor/diagnose.h"
#include "rules/grammar.h"

/* ---- queues; the rules of drivers are from their code in Linux 6.12 ---- */

/* ena and gve need as many additional queues for sending; gve counts each direction separately. */
static void check_half(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_channels *channels = &facts->channels;
	const bool apart = !channels->combined_max;
	const uint32_t now = apart ? channels->tx : channels->combined;
	const uint32_t half = (apart ? channels->tx_max : channels->combined_max) / 2;

	if (now <= half && (!apart || channels->rx == channels->tx)) {
		rf_findings_add(findings, RF_OK, "queues to send", "%u are free", half * 2 - now);
		return;
	}
	rf_findings_add(
		findings, RF_PROBLEM, "queues to send",
		"%u queues of at most %u; %s refuses native mode with more than half of them%s",
		now, half * 2, facts->driver,
		apart ? ", or with more or fewer receive queues" : "");
	if (!half)
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
	else if (apart)
		rf_findings_remedy(findings, "ethtool -L %s rx %u tx %u", facts->name, half, half);
	else
		rf_findings_remedy(findings, "ethtool -L %s combined %u", facts->name, half);
}

/*
 * Without a queue for each CPU, sending is slower, but ringfence sends only responses. Linux
 * before 5.13 refuses native mode.
 */
static void check_spare(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const uint32_t pairs = facts->channels.combined, max = facts->channels.combined_max;
	const uint32_t cpus = facts->cpus;

	if (pairs + cpus <= max) {
		rf_findings_add(findings, RF_OK, "queues to send", "one is free for each CPU");
		return;
	}
	rf_findings_add(findings, RF_NOTE, "queues to send",
			"%u of at most %u queues are used, and virtio_net needs one more for each "
			"of %u CPUs to send from XDP; ringfence sends only responses, but "
			"Linux before 5.13 refuses native mode then",
			pairs, max, cpus);
	if (max > cpus)
		rf_findings_remedy(findings, "ethtool -L %s combined %u", facts->name, max - cpus);
}

/* The kernel's list leaves a veth out as long as the veth would refuse a program. */
static void check_veth(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_channels *channels = &facts->channels;
	const bool refuses = facts->asked_kernel && facts->native == RF_NO;
	const char *peer =
		*facts->parent ? facts->parent : "its peer, in another network namespace,";

	if (!refuses && facts->peer_tx <= channels->rx) {
		if (facts->peer_tx)
			rf_findings_add(findings, RF_OK, "peer",
					"%s has %u send queues, and %s has %u receive queues", peer,
					facts->peer_tx, facts->name, channels->rx);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "peer",
			"%s has more send queues than %s has receive queues (%u); veth refuses "
			"native mode then",
			peer, facts->name, channels->rx);
	if (channels->rx < channels->rx_max && facts->peer_tx <= channels->rx_max)
		rf_findings_remedy(findings, "ethtool -L %s rx %u", facts->name,
				   facts->peer_tx ? facts->peer_tx : channels->rx_max);
	else if (*facts->parent)
		rf_findings_remedy(findings, "ethtool -L %s tx %u", facts->parent, channels->rx);
}

/* bnxt_en: "ethtool rx/tx channels must be combined to support XDP". */
static void check_combined(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_channels *channels = &facts->channels;
	const uint32_t queues = channels->rx < channels->tx ? channels->rx : channels->tx;

	if (channels->combined) {
		rf_findings_add(findings, RF_OK, "combined", "each queue is for both directions");
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "combined",
			"each queue is for one direction; bnxt_en refuses native mode then");
	rf_findings_remedy(findings, "ethtool -L %s rx 0 tx 0 combined %u", facts->name,
			   queues ? queues : 1);
}

static enum rf_queue_need need_of(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = rf_driver_find(facts->driver);

	return row ? row->queues : RF_QUEUES_ANY;
}

/* The queues that the driver requires to accept a program. */
static void check_channels(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (!facts->has_channels)
		return;
	switch (need_of(facts)) {
	case RF_QUEUES_ANY:
		return;
	case RF_QUEUES_HALF:
		check_half(facts, findings);
		return;
	case RF_QUEUES_SPARE:
		check_spare(facts, findings);
		return;
	case RF_QUEUES_COMBINED:
		check_combined(facts, findings);
		return;
	case RF_QUEUES_OF_PEER:
		check_veth(facts, findings);
		return;
	}
}

/* How many queues to receive by there should be: one for each CPU, or the maximum if it is less. */
static uint32_t wanted_queues(const struct rf_interface_facts *facts)
{
	const struct rf_channels *channels = &facts->channels;
	uint32_t max = channels->combined_max ? channels->combined_max : channels->rx_max;

	if (need_of(facts) == RF_QUEUES_HALF)
		max /= 2;
	return max < (uint32_t)facts->cpus ? max : (uint32_t)facts->cpus;
}

static void check_queues(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_channels *channels = &facts->channels;
	const uint32_t queues = channels->combined + channels->rx, wanted = wanted_queues(facts);
	const struct rf_driver *row = rf_driver_find(facts->driver);
	const bool fixed =
		row && row->queues_fixed && facts->program_id && facts->ours && !facts->generic;
	const char *name = facts->name;

	if (!facts->has_channels || !queues) /* a tap that no process has open has none */
		return;
	if (queues >= wanted) {
		rf_findings_add(findings, RF_OK, "queues", "%u receive queue%s, %d CPU%s", queues,
				queues == 1 ? "" : "s", facts->cpus, facts->cpus == 1 ? "" : "s");
		return;
	}
	rf_findings_add(findings, RF_NOTE, "queues",
			"%u receive queue%s: %u of %d CPUs %s all the work%s", queues,
			queues == 1 ? "" : "s", queues, facts->cpus, queues == 1 ? "does" : "do",
			fixed ? "; the driver refuses to change that while a fence is attached, "
				"and a detach forgets the fence's rules, which 'ringfence save' "
				"prints"
			      : "");
	rf_findings_remedy(findings, "%s%s%sethtool -L %s %s %u%s%s",
			   fixed ? "ringfence detach " : "", fixed ? name : "", fixed ? " && " : "",
			   name, channels->combined_max ? "combined" : "rx", wanted,
			   fixed ? " && ringfence attach " : "", fixed ? name : "");
}

static void check_rss(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (facts->rings < 2 || !facts->rings_used)
		return;
	if (facts->rings_used == facts->rings) {
		rf_findings_add(findings, RF_OK, "spread", "sources are spread over all %u queues",
				facts->rings);
		return;
	}
	rf_findings_add(findings, RF_NOTE, "spread", "sources are spread over %u of %u queues%s",
			facts->rings_used, facts->rings,
			facts->rings_used == 1 ? ": one CPU does all the work" : "");
	rf_findings_remedy(findings, "ethtool -X %s equal %u", facts->name, facts->rings);
}

/* Interfaces that share the work. */
static void check_spread(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	check_queues(facts, findings);
	check_rss(facts, findings);
}

/* ---- the type of the interface ---- */

static bool is_kind(const struct rf_interface_facts *facts, const char *kind)
{
	return strcmp(facts->kind, kind) == 0;
}

/* Its packets arrived on a different interface: it has no XDP hook before that. */
static bool is_child(const struct rf_interface_facts *facts)
{
	static const char *const kinds[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is_kind(facts, kinds[i]))
			return true;
	return false;
}

static bool is_switch(const struct rf_interface_facts *facts)
{
	return is_kind(facts, "bridge") || is_kind(facts, "team");
}

/* By the table, if the kernel does not report features, which came with Linux 6.3. */
static enum rf_answer can_native(const struct rf_interface_facts *facts)
{
	const struct rf_driver *driver = rf_driver_find(facts->driver);

	if (facts->is_loopback || is_child(facts) || is_switch(facts))
		return RF_NO;
	if (is_kind(facts, "veth"))
		return RF_YES; /* under a condition, see check_channels */
	if (facts->asked_kernel)
		return facts->native;
	if (!driver || !facts->kernel.major)
		return RF_NOT_KNOWN;
	return rf_version_reaches(facts->kernel, driver->native) ? RF_YES : RF_NO;
}

static bool is_fenced(const struct rf_interface_facts *facts)
{
	return facts->program_id && facts->ours;
}

/* ---- the device, and its program ---- */

static void check_device(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const char *driver = *facts->driver ? facts->driver : "not known";

	if (*facts->kind && strcmp(facts->kind, driver) != 0)
		rf_findings_add(findings, RF_OK, "driver", "%s (%s)", driver, facts->kind);
	else
		rf_findings_add(findings, RF_OK, "driver", "%s",
				facts->is_loopback ? "loopback" : driver);
	if (facts->is_up) {
		rf_findings_add(findings, RF_OK, "up", "it is up");
		return;
	}
	rf_findings_add(findings, RF_NOTE, "up", "it is down, and receives nothing");
	rf_findings_remedy(findings, "ip link set dev %s up", facts->name);
}

static void check_generic(const struct rf_interface_facts *facts, bool better,
			  struct rf_findings *findings)
{
	if (better && can_native(facts) == RF_YES) {
		rf_findings_add(findings, RF_NOTE, "program",
				"ringfence runs in generic mode (program id %u): slow, and packets "
				"merged by the kernel (GRO) count as one packet; native mode "
				"forgets the fence's rules",
				facts->program_id);
		rf_findings_remedy(findings, "ringfence detach %s && ringfence attach %s",
				   facts->name, facts->name);
	} else if (facts->gro == RF_YES) {
		rf_findings_add(findings, RF_NOTE, "program",
				"ringfence runs in generic mode (program id %u): slow, and packets "
				"merged by the kernel (GRO) count as one packet",
				facts->program_id);
		rf_findings_remedy(findings, "ethtool -K %s gro off", facts->name);
	} else {
		rf_findings_add(findings, RF_NOTE, "program",
				"ringfence runs in generic mode (program id %u), which is slow",
				facts->program_id);
	}
}

static void check_foreign(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (!*facts->program_name) {
		rf_findings_add(
			findings, RF_NOTE, "program",
			"an XDP program is in place (id %u); only CAP_SYS_ADMIN can read its owner",
			facts->program_id);
	} else if (strcmp(facts->program_name, "xdp_dispatcher") == 0) {
		rf_findings_add(
			findings, RF_PROBLEM, "program",
			"libxdp's dispatcher is in place (id %u), which runs the programs of "
			"others; 'xdp-loader status %s' names them",
			facts->program_id, facts->name);
		rf_findings_remedy(findings, "ringfence attach %s chain", facts->name);
	} else if (facts->link_id) { /* then the kernel returns EBUSY to 'ip link' */
		rf_findings_add(findings, RF_PROBLEM, "program",
				"another XDP program is in place: '%s' (id %u), held by bpf_link "
				"%u of another process; stop that process, or detach the link",
				facts->program_name, facts->program_id, facts->link_id);
		rf_findings_remedy(findings, "bpftool link detach id %u", facts->link_id);
	} else {
		rf_findings_add(findings, RF_PROBLEM, "program",
				"another XDP program is in place: '%s' (id %u)",
				facts->program_name, facts->program_id);
		rf_findings_remedy(findings, "ip link set dev %s %s off", facts->name,
				   facts->generic ? "xdpgeneric" : "xdp");
	}
}

/* A fence has no effect there, attached or not. */
static void check_hardware(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	rf_findings_add(findings, RF_PROBLEM, "frames",
			"they have no Ethernet header (hardware type %u: %s): a fence here limits "
			"nothing; attach to the Ethernet interface that carries its traffic",
			facts->hardware, rf_hardware_name(facts->hardware));
	if (is_fenced(facts))
		rf_findings_remedy(findings, "ringfence detach %s", facts->name);
	else if (*facts->parent && facts->parent_ethernet && !facts->parent_fenced)
		rf_findings_remedy(findings, "ringfence attach %s", facts->parent);
}

static void check_program(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (!facts->program_id)
		rf_findings_add(findings, RF_OK, "program", "no XDP program is in place");
	else if (!facts->ours)
		check_foreign(facts, findings);
	else
		rf_findings_add(findings, RF_OK, "program",
				"ringfence runs in native mode (program id %u)", facts->program_id);
}

/* Does the fence still work as it did when it was attached? */
static void check_working(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (*facts->alien)
		rf_findings_add(findings, RF_PROBLEM, "fence", "%s", facts->alien);
	if (facts->is_bypassed) {
		rf_findings_add(findings, RF_PROBLEM, "working",
				"not protected: it %s; the driver might have lost it, as some do "
				"when the link, the MTU or the rings change",
				facts->bypass);
		rf_findings_remedy(findings, "ringfence attach %s", facts->name);
	}
	if (facts->paused_ns) {
		char left[RF_DURATION_TEXT_SIZE];

		rf_format_left(facts->paused_ns, left);
		rf_findings_add(findings, RF_NOTE, "paused",
				"for another %s: until then no packets are dropped", left);
		rf_findings_remedy(findings, "ringfence resume %s", facts->name);
	}
	if (facts->needs_frags) {
		rf_findings_add(
			findings, RF_PROBLEM, "mtu",
			"%d: frames larger than %d bytes are lost, since the MTU was raised "
			"after the attach",
			facts->mtu, RF_PLAIN_MTU_MAX);
		rf_findings_remedy(findings, "ringfence attach %s", facts->name);
	}
}

/* ---- its driver, and its place among others ---- */

static void fail_native(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_driver *driver = rf_driver_find(facts->driver);

	if (facts->asked_kernel || facts->is_loopback)
		rf_findings_add(findings, RF_PROBLEM, "native", "%s has no native mode here%s",
				facts->is_loopback ? "the loopback interface" : "the driver",
				facts->asked_kernel ? ", according to the kernel" : "");
	else if (driver && driver->native.major)
		rf_findings_add(findings, RF_PROBLEM, "native",
				"the driver has native mode since Linux %d.%d, and this is Linux "
				"%d.%d; try it if the distribution might have backported it",
				driver->native.major, driver->native.minor, facts->kernel.major,
				facts->kernel.minor);
	else
		rf_findings_add(findings, RF_PROBLEM, "native",
				"the driver has no native mode, as of Linux 6.12");
}

/* The text names the source of the fact: the kernel, or the table. */
static void check_driver(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_driver *driver = rf_driver_find(facts->driver);

	switch (can_native(facts)) {
	case RF_YES:
		if (facts->asked_kernel && facts->native == RF_NO)
			return; /* other checks report the driver's requirements first */
		if (facts->asked_kernel)
			rf_findings_add(findings, RF_OK, "native",
					"the driver has XDP, according to the kernel");
		else if (driver)
			rf_findings_add(findings, RF_OK, "native",
					"the driver has XDP since Linux %d.%d; this kernel does "
					"not report it",
					driver->native.major, driver->native.minor);
		return;
	case RF_NO:
		fail_native(facts, findings);
		break;
	case RF_NOT_KNOWN:
		rf_findings_add(findings, RF_NOTE, "native",
				"not known: neither this kernel nor ringfence's list of drivers "
				"has this fact; if native mode is rejected, use generic mode");
		break;
	}
	rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
}

static void check_bond(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	static const char *const modes[] = {"balance-rr", "active-backup", "balance-xor",
					    "broadcast",  "802.3ad",	   "balance-tlb",
					    "balance-alb"};
	const int mode = facts->bond_mode;

	if (!facts->port_count) {
		rf_findings_add(
			findings, RF_PROBLEM, "members",
			"native mode needs a member, and the bond has no members; add a member");
	} else if (mode == 3 || mode == 5 || mode == 6) {
		rf_findings_add(findings, RF_PROBLEM, "bond",
				"a bond in mode %s has no native mode; use balance-rr, "
				"active-backup, balance-xor or 802.3ad",
				modes[mode]);
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
	} else if (can_native(facts) == RF_NO) {
		rf_findings_add(
			findings, RF_PROBLEM, "native",
			"the driver of a member (%s) has no native mode, according to the kernel",
			facts->ports);
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
	} else {
		rf_findings_add(findings, RF_OK, "bond", "a bond in mode %s, of %s",
				mode >= 0 && mode < (int)ARRAY_SIZE(modes) ? modes[mode] : "?",
				facts->ports);
		check_driver(facts, findings);
	}
}

/* hv_netvsc is the master of the VF that carries its traffic, and passes its program on to it. */
static bool is_vf_of_netvsc(const struct rf_interface_facts *facts)
{
	return *facts->master && strcmp(facts->master_driver, "hv_netvsc") == 0;
}

static void check_vf(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const char *master = facts->master;

	if (facts->master_fenced) {
		rf_findings_add(findings, RF_OK, "vf",
				"of %s, which passes its fence on to this interface", master);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "vf",
			"of %s (hv_netvsc), which passes its own program on to this interface, and "
			"receives packets also without it: attach to %s, never to this interface",
			master, master);
	if (is_fenced(facts))
		rf_findings_remedy(findings, "ringfence detach %s && ringfence attach %s",
				   facts->name, master);
	else
		rf_findings_remedy(findings, "ringfence attach %s", master);
}

static void check_master(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const char *master = facts->master;

	if (!*master)
		return;
	if (strcmp(facts->master_kind, "bond") != 0) {
		rf_findings_add(findings, RF_OK, "port",
				"of %s: a fence here also counts packets that %s forwards", master,
				master);
	} else if (facts->master_fenced) {
		rf_findings_add(findings, RF_OK, "member", "of %s, whose fence covers it", master);
	} else if (facts->master_occupied) {
		rf_findings_add(findings, RF_PROBLEM, "member",
				"of %s, which has an XDP program; then no member can have one",
				master);
		rf_findings_remedy(findings, "ringfence doctor %s", master);
	} else if (!is_fenced(facts)) {
		rf_findings_add(findings, RF_NOTE, "member",
				"of %s; a fence there covers all its members, but is impossible "
				"while a member has a fence",
				master);
		rf_findings_remedy(findings, "ringfence attach %s", master);
	}
}

static void check_child(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (*facts->parent && facts->parent_fenced) {
		rf_findings_add(findings, RF_OK, "native",
				"its frames arrive on %s, which has a fence", facts->parent);
	} else if (*facts->parent) {
		rf_findings_add(findings, RF_PROBLEM, "native",
				"a %s has no native mode; its frames arrive on %s: a fence there "
				"sees them%s",
				facts->kind, facts->parent,
				is_kind(facts, "vlan") ? ", with their tags" : "");
		rf_findings_remedy(findings, "ringfence attach %s", facts->parent);
	} else {
		rf_findings_add(findings, RF_PROBLEM, "native",
				"a %s has no native mode; its lower interface is in another "
				"network namespace: attach there",
				facts->kind);
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
	}
}

/* Some interfaces have a name that a fence cannot have, like br0.5. */
static bool is_fence_name(const char *text)
{
	char name[RF_NAME_SIZE];
	struct rf_error ignored;

	return !rf_parse_name(text, "fence", name, &ignored);
}

static void check_switch(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (facts->port_count && facts->ports_fenced == facts->port_count) {
		rf_findings_add(findings, RF_OK, "native",
				"its frames arrive on %s, each with a fence", facts->ports);
		return;
	}
	if (facts->ports_named < facts->port_count) {
		rf_findings_add(
			findings, RF_PROBLEM, "native",
			"a %s has no native mode; its %d ports can have it: %s, and others; attach "
			"to all ports with 'ringfence attach IF… fence NAME'",
			facts->kind, facts->port_count, facts->ports);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "native",
			"a %s has no native mode; its ports%s%s can have it", facts->kind,
			*facts->ports ? ": " : "", facts->ports);
	if (facts->port_count > 1)
		rf_findings_remedy(findings, "ringfence attach %s fence %s", facts->ports,
				   is_fence_name(facts->name) ? facts->name : "ports");
	else if (facts->port_count)
		rf_findings_remedy(findings, "ringfence attach %s", facts->ports);
	else
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
}

static void check_native(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (is_kind(facts, "bond"))
		check_bond(facts, findings);
	else if (is_child(facts))
		check_child(facts, findings);
	else if (is_switch(facts))
		check_switch(facts, findings);
	else
		check_driver(facts, findings);
}

/* ---- all findings ---- */

static const struct rf_interface_facts *find_named(const struct rf_interface_facts *facts,
						   int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (*name && strcmp(facts[i].name, name) == 0)
			return &facts[i];
	return NULL;
}

static void add_port(struct rf_interface_facts *master, const struct rf_interface_facts *port)
{
	const size_t length = strlen(master->ports);

	master->port_count++;
	master->ports_fenced += is_fenced(port);
	/* A part of a name could be the name of another interface. */
	if (length + 1 + strlen(port->name) >= sizeof(master->ports))
		return;
	master->ports_named++;
	snprintf(master->ports + length, sizeof(master->ports) - length, "%s%s", length ? " " : "",
		 port->name);
}

/* Do packets that arrive on `on` continue to this interface, under its Ethernet address? */
static bool gets_packets_of(const struct rf_interface_facts *facts, int count,
			    const struct rf_interface_facts *its,
			    const struct rf_interface_facts *on)
{
	const struct rf_interface_facts *parent = find_named(facts, count, its->parent);

	if (its == on)
		return true;
	for (int i = 0; i < count; i++)
		if (strcmp(facts[i].master, its->name) == 0 &&
		    gets_packets_of(facts, count, &facts[i], on))
			return true;
	return parent && is_child(its) && gets_packets_of(facts, count, parent, on);
}

static bool has_mac(const uint64_t *macs, int count, uint64_t mac)
{
	for (int i = 0; i < count; i++)
		if (macs[i] == mac)
			return true;
	return false;
}

/* The fence omits some addresses on purpose, unless this host has more than it can store. */
static void find_unknown_mac(struct rf_interface_facts *its, const struct rf_interface_facts *facts,
			     int count)
{
	struct rf_challenge_facts *challenge = &its->challenge;

	for (int i = count - 1; i >= 0; i--) {
		const uint64_t mac = facts[i].mac;
		const bool is_omitted = challenge->host_macs < RF_OWN_MACS_MAX &&
					!has_mac(challenge->host_mac, challenge->host_macs, mac);

		if (mac && !is_omitted && !has_mac(challenge->own_mac, challenge->own_macs, mac) &&
		    gets_packets_of(facts, count, &facts[i], its))
			memcpy(challenge->unknown_mac_of, facts[i].name, IF_NAMESIZE);
	}
}

/* For example, of a macvlan that was moved to a container. */
static void find_old_mac(struct rf_challenge_facts *challenge)
{
	if (challenge->host_macs <= 0 || challenge->host_macs == RF_OWN_MACS_MAX)
		return; /* the others are not known */
	for (int i = 0; i < challenge->own_macs; i++)
		if (!has_mac(challenge->host_mac, challenge->host_macs, challenge->own_mac[i]))
			challenge->old_mac = challenge->own_mac[i];
}

/*
 * Finds a VLAN on the interface, and a card that removes its tags: the interface, or a member of
 * the bond. A veth has such a setting as well, but its peer decides.
 */
static void find_untagged(struct rf_interface_facts *its, const struct rf_interface_facts *facts,
			  int count)
{
	struct rf_challenge_facts *challenge = &its->challenge;

	for (int i = 0; i < count; i++) {
		const bool is_member = is_kind(its, "bond") && !strcmp(facts[i].master, its->name);

		if (is_kind(&facts[i], "vlan") && gets_packets_of(facts, count, &facts[i], its))
			memcpy(challenge->vlan, facts[i].name, IF_NAMESIZE);
		if ((&facts[i] != its && !is_member) || *facts[i].kind ||
		    facts[i].rx_vlan != RF_YES)
			continue;
		memcpy(challenge->untagged_by, facts[i].name, IF_NAMESIZE);
		challenge->untags_always = facts[i].rx_vlan_fixed;
	}
}

void rf_diagnose_relate(struct rf_interface_facts *facts, int count)
{
	for (int i = 0; i < count; i++) {
		const struct rf_interface_facts *parent = find_named(facts, count, facts[i].parent);
		struct rf_interface_facts *master =
			(struct rf_interface_facts *)find_named(facts, count, facts[i].master);

		facts[i].parent_fenced = parent && is_fenced(parent);
		facts[i].parent_ethernet = parent && rf_has_ethernet(parent->hardware);
		if (parent && parent->has_channels)
			facts[i].peer_tx = parent->channels.tx + parent->channels.combined;
		if (parent)
			facts[i].challenge.peer_receives =
				parent->program_id && !parent->generic ? RF_YES : RF_NO;
		if (rf_responds(&facts[i].challenge)) {
			find_unknown_mac(&facts[i], facts, count);
			find_old_mac(&facts[i].challenge);
			find_untagged(&facts[i], facts, count);
		}
		if (!master)
			continue;
		snprintf(facts[i].master_kind, sizeof(facts[i].master_kind), "%s", master->kind);
		snprintf(facts[i].master_driver, sizeof(facts[i].master_driver), "%s",
			 master->driver);
		facts[i].master_occupied = master->program_id;
		facts[i].master_fenced = is_fenced(master);
		add_port(master, &facts[i]);
	}
}

static void check_attach(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	check_native(facts, findings);
	if (can_native(facts) == RF_NO)
		return;
	rf_diagnose_driver(facts, findings);
	check_channels(facts, findings);
}

/* A fence in generic mode works, so what prevents native mode is a note, not a problem. */
static void check_better(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	struct rf_findings attach = {};
	char generic[160];

	snprintf(generic, sizeof(generic), "ringfence attach %s mode generic", facts->name);
	check_attach(facts, &attach);
	check_generic(facts, rf_findings_count(&attach, RF_PROBLEM) == 0, findings);
	for (int i = 0; i < attach.count; i++) {
		struct rf_finding *finding = &attach.finding[i];

		if (finding->level != RF_PROBLEM)
			continue;
		rf_findings_add(findings, RF_NOTE, finding->check, "%s", finding->text);
		if (strcmp(finding->command, generic) != 0)
			rf_findings_remedy(findings, "%s", finding->command);
	}
}

void rf_diagnose_interface(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	check_device(facts, findings);
	if (!rf_has_ethernet(facts->hardware)) {
		check_hardware(facts, findings);
		return;
	}
	if (is_vf_of_netvsc(facts)) {
		check_vf(facts, findings);
		return;
	}
	check_master(facts, findings);
	if (is_fenced(facts) && facts->generic) {
		check_better(facts, findings);
	} else {
		check_program(facts, findings);
		if (is_fenced(facts)) /* an attached fence was not prevented */
			rf_diagnose_attached(facts, findings);
		else
			check_attach(facts, findings);
	}
	if (is_fenced(facts)) {
		check_working(facts, findings);
		rf_diagnose_challenge(facts, findings);
	}
	check_spread(facts, findings);
}
