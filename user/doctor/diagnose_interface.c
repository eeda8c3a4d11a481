// SPDX-License-Identifier: GPL-2.0
/* The diagnosis of an interface. What depends on its driver is in diagnose_driver.c. */
#include <stdio.h>
#include <string.h>

#include "base/netlink.h"
#include "base/time.h"
#include "base/units.h"
#include "doctor/diagnose.h"
#include "rules/grammar.h"

static bool is_kind(const struct rf_interface_facts *facts, const char *kind)
{
	return strcmp(facts->kind, kind) == 0;
}

/* Its packets came in on another interface: it has no place for a program before that. */
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

/* By the table, where the kernel has no list of its own, which came with Linux 6.3. */
static enum rf_answer can_native(const struct rf_interface_facts *facts)
{
	const struct rf_driver *driver = rf_driver_find(facts->driver);

	if (facts->is_loopback || is_child(facts) || is_switch(facts))
		return RF_NO;
	if (is_kind(facts, "veth"))
		return RF_YES; /* under a condition, see rf_diagnose_channels */
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
		rf_findings_add(
			findings, RF_NOTE, "program",
			"ringfence runs in generic mode (program id %u): slow, and what the "
			"kernel has merged (GRO) counts as one packet; native mode forgets "
			"the fence's rules",
			facts->program_id);
		rf_findings_remedy(findings, "ringfence detach %s && ringfence attach %s",
				   facts->name, facts->name);
	} else if (facts->gro == RF_YES) {
		rf_findings_add(
			findings, RF_NOTE, "program",
			"ringfence runs in generic mode (program id %u): slow, and what the "
			"kernel has merged (GRO) counts as one packet",
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
		rf_findings_add(findings, RF_NOTE, "program",
				"an XDP program is in place (id %u); only CAP_SYS_ADMIN can tell "
				"whose it is",
				facts->program_id);
	} else if (strcmp(facts->program_name, "xdp_dispatcher") == 0) {
		rf_findings_add(
			findings, RF_PROBLEM, "program",
			"libxdp's dispatcher is in place (id %u), which runs the programs of "
			"others; 'xdp-loader status %s' names them",
			facts->program_id, facts->name);
		rf_findings_remedy(findings, "ringfence attach %s chain", facts->name);
	} else if (facts->link_id) { /* then the kernel answers EBUSY to 'ip link' */
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

/* Does the fence still do what it was attached for? */
static void check_working(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (*facts->alien)
		rf_findings_add(findings, RF_PROBLEM, "fence", "%s", facts->alien);
	if (facts->is_bypassed) {
		rf_findings_add(
			findings, RF_PROBLEM, "working",
			"not protected: it %s; the driver may have lost it, as some do when "
			"the link, the MTU or the rings change",
			facts->bypass);
		rf_findings_remedy(findings, "ringfence attach %s", facts->name);
	}
	if (facts->paused_ns) {
		char left[RF_DURATION_TEXT_SIZE];

		rf_format_left(facts->paused_ns, left);
		rf_findings_add(findings, RF_NOTE, "paused",
				"for another %s: until then nothing is dropped", left);
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
				facts->asked_kernel ? ", the kernel says" : "");
	else if (driver && driver->native.major)
		rf_findings_add(findings, RF_PROBLEM, "native",
				"the driver has native mode since Linux %d.%d, and this is Linux "
				"%d.%d; try it if the distribution may have backported it",
				driver->native.major, driver->native.minor, facts->kernel.major,
				facts->kernel.minor);
	else
		rf_findings_add(findings, RF_PROBLEM, "native",
				"the driver has no native mode, as of Linux 6.12");
}

/* The text says where the answer is from: the kernel, or the table. */
static void check_driver(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_driver *driver = rf_driver_find(facts->driver);

	switch (can_native(facts)) {
	case RF_YES:
		if (facts->asked_kernel && facts->native == RF_NO)
			return; /* other checks say what the driver requires first */
		if (facts->asked_kernel)
			rf_findings_add(findings, RF_OK, "native",
					"the driver has XDP, the kernel says");
		else if (driver)
			rf_findings_add(findings, RF_OK, "native",
					"the driver has XDP since Linux %d.%d; this kernel cannot "
					"be asked",
					driver->native.major, driver->native.minor);
		return;
	case RF_NO:
		fail_native(facts, findings);
		break;
	case RF_NOT_KNOWN:
		rf_findings_add(findings, RF_NOTE, "native",
				"not known: neither this kernel nor ringfence's list tells whether "
				"the driver has XDP; if native mode is refused, take generic mode");
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
		rf_findings_add(findings, RF_PROBLEM, "members",
				"the bond has no member, and so no native mode; give it one");
	} else if (mode == 3 || mode == 5 || mode == 6) {
		rf_findings_add(findings, RF_PROBLEM, "bond",
				"a bond in mode %s has no native mode; use balance-rr, "
				"active-backup, balance-xor or 802.3ad",
				modes[mode]);
		rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
	} else if (can_native(facts) == RF_NO) {
		rf_findings_add(findings, RF_PROBLEM, "native",
				"the driver of a member (%s) has no native mode, the kernel says",
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
				"while a member has one",
				master);
		rf_findings_remedy(findings, "ringfence attach %s", master);
	}
}

static void check_child(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	if (*facts->parent && facts->parent_fenced) {
		rf_findings_add(findings, RF_OK, "native",
				"its frames come in by %s, which has a "
				"fence",
				facts->parent);
	} else if (*facts->parent) {
		rf_findings_add(findings, RF_PROBLEM, "native",
				"a %s has no native mode; its frames come in by %s, where a fence "
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
				"its frames come in by %s, each with a fence", facts->ports);
		return;
	}
	if (facts->ports_named < facts->port_count) {
		rf_findings_add(findings, RF_PROBLEM, "native",
				"a %s has no native mode; its %d ports may: %s, and others; attach "
				"to all of them by 'ringfence attach IF… fence NAME'",
				facts->kind, facts->port_count, facts->ports);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "native",
			"a %s has no native mode; its ports%s%s may", facts->kind,
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

/* ---- all of it ---- */

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
	rf_diagnose_channels(facts, findings);
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
	if (is_fenced(facts))
		check_working(facts, findings);
	rf_diagnose_spread(facts, findings);
}
