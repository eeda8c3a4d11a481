// SPDX-License-Identifier: GPL-2.0
/*
 * What the driver of an interface requires for an attach, and what can be wrong after it, all from
 * its row in the table and the running kernel.
 */
#include <string.h>

#include "doctor/diagnose.h"

/* Of an interface whose driver is not in the table. */
static const struct rf_driver unknown = {.name = ""};

static const struct rf_driver *row_of(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = rf_driver_find(facts->driver);

	return row ? row : &unknown;
}

enum rf_answer rf_diagnose_frags(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = row_of(facts);

	if (facts->asked_kernel)
		return facts->frags;
	if (row == &unknown || !facts->kernel.major)
		return RF_NOT_KNOWN;
	return rf_version_reaches(facts->kernel, row->frags) ? RF_YES : RF_NO;
}

int rf_diagnose_mtu_max(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = row_of(facts);

	if (row->mtu_max_before && !facts->asked_kernel &&
	    !rf_version_reaches(facts->kernel, row->frags))
		return row->mtu_max_before;
	return row->mtu_max ? row->mtu_max : RF_PLAIN_MTU_MAX;
}

/* ---- MTU ---- */

/* Why a frame may not be in several buffers. */
static void fail_mtu(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_driver *row = row_of(facts);
	const bool is_old = !facts->asked_kernel && row->frags.major;

	if (row->flag && !is_old) {
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: a frame may not fit one buffer, and the driver takes several "
				"only with its private flag %s off, so that native mode is refused",
				facts->mtu, row->flag);
		rf_findings_remedy(findings, "ethtool --set-priv-flags %s %s off", facts->name,
				   row->flag);
		return;
	}
	if (is_old)
		rf_findings_add(
			findings, RF_PROBLEM, "mtu",
			"%d: a frame may not fit one buffer, and the driver takes several since "
			"Linux %d.%d; this is Linux %d.%d, so that native mode is refused unless "
			"the distribution has backported it",
			facts->mtu, row->frags.major, row->frags.minor, facts->kernel.major,
			facts->kernel.minor);
	else
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: a frame may not fit one buffer, and the driver takes no "
				"frames in several, so that native mode is refused",
				facts->mtu);
	rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name,
			   rf_diagnose_mtu_max(facts));
}

static void check_mtu(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const enum rf_answer frags = rf_diagnose_frags(facts);

	if (facts->mtu <= rf_diagnose_mtu_max(facts)) {
		rf_findings_add(findings, RF_OK, "mtu", "%d: a frame fits one buffer", facts->mtu);
	} else if (frags == RF_YES) {
		rf_findings_add(findings, RF_OK, "mtu",
				"%d: the driver takes frames in several buffers", facts->mtu);
	} else if (strcmp(facts->driver, "tun") == 0) {
		/* It passes larger frames to generic mode by itself. */
		rf_findings_add(findings, RF_OK, "mtu", "%d: the driver accepts it", facts->mtu);
	} else if (frags == RF_NO) {
		fail_mtu(facts, findings);
	} else {
		rf_findings_add(findings, RF_NOTE, "mtu",
				"%d: a frame may not fit one buffer, and whether the driver takes "
				"several is not known, so that native mode may be refused",
				facts->mtu);
		rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name,
				   rf_diagnose_mtu_max(facts));
	}
}

/* ---- merging ---- */

/* A way in which a driver or its card merges packets. */
struct merging {
	const char *check, *name, *feature; /* as doctor, people and ethtool call it */
	enum rf_answer is_on;
	enum rf_merging row;
};

static void check_merging(const struct rf_interface_facts *facts, const struct merging *merging,
			  struct rf_findings *findings)
{
	const char *name = merging->name;

	if (merging->is_on == RF_NOT_KNOWN)
		return;
	if (merging->is_on == RF_NO) {
		rf_findings_add(findings, RF_OK, merging->check, "%s is off", name);
		return;
	}
	switch (merging->row) {
	case RF_MERGING_WITHOUT_EFFECT:
		rf_findings_add(findings, RF_OK, merging->check,
				"%s is on, which has no effect here: its members decide", name);
		return;
	case RF_MERGING_SWITCHED_OFF:
		rf_findings_add(findings, RF_OK, merging->check,
				"%s is on; the driver switches it off for a fence", name);
		return;
	case RF_MERGING_REFUSED:
		rf_findings_add(findings, RF_PROBLEM, merging->check,
				"%s is on, and the driver refuses native mode with it", name);
		break;
	case RF_MERGING_NOT_KNOWN:
		rf_findings_add(findings, RF_NOTE, merging->check,
				"%s is on; some drivers refuse native mode with it, of others each "
				"merged packet counts as one",
				name);
		break;
	}
	rf_findings_remedy(findings, "ethtool -K %s %s off", facts->name, merging->feature);
}

static struct merging lro_of(const struct rf_interface_facts *facts)
{
	return (struct merging){"lro", "large receive offload", "lro", facts->lro,
				row_of(facts)->lro};
}

static struct merging gro_hw_of(const struct rf_interface_facts *facts)
{
	return (struct merging){"gro-hw", "merging by the card (GRO-HW)", "rx-gro-hw",
				facts->gro_hw, row_of(facts)->gro_hw};
}

static void check_merging_of_host(const struct rf_interface_facts *facts,
				  struct rf_findings *findings)
{
	rf_findings_add(findings, RF_PROBLEM, "gro-hw",
			"the host merges packets, which the driver cannot switch off here (no "
			"ctrl_guest_offloads), and refuses native mode; start the machine without "
			"guest_tso4, guest_tso6, guest_ecn and guest_ufo, or take generic mode");
	rf_findings_remedy(findings, "ringfence attach %s mode generic", facts->name);
}

/* ---- the link ---- */

static void check_link(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	switch (row_of(facts)->link) {
	case RF_LINK_NOT_KNOWN:
		return;
	case RF_LINK_UNCHANGED:
		rf_findings_add(findings, RF_OK, "link", "attach and detach leave the link up");
		return;
	case RF_LINK_RESTARTED:
		rf_findings_add(
			findings, RF_OK, "link",
			"attach and detach restart the link or its queues: packets are lost "
			"for a moment");
		return;
	case RF_LINK_RESTARTED_BY_SWAP:
		rf_findings_add(findings, RF_OK, "link",
				"attach, detach and an upgrade of the program restart the link or "
				"its queues: packets are lost for a moment");
		return;
	}
}

/* ---- all of it ---- */

void rf_diagnose_driver(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct merging lro = lro_of(facts), gro_hw = gro_hw_of(facts);

	check_mtu(facts, findings);
	check_merging(facts, &lro, findings);
	/* With receive checksum and the like, it would refuse as well, for the same reason. */
	if (strcmp(facts->driver, "virtio_net") == 0 && facts->gro_hw == RF_YES &&
	    facts->gro_hw_fixed)
		check_merging_of_host(facts, findings);
	else
		check_merging(facts, &gro_hw, findings);
	check_link(facts, findings);
}

/* The driver accepted the fence with this off, so it was switched on since. */
static void check_merging_again(const struct rf_interface_facts *facts,
				const struct merging *merging, struct rf_findings *findings)
{
	if (merging->is_on != RF_YES || merging->row == RF_MERGING_WITHOUT_EFFECT)
		return;
	rf_findings_add(findings, RF_NOTE, merging->check,
			"%s is on under an attached fence: what it merges is counted as one "
			"packet, or never reaches the fence",
			merging->name);
	rf_findings_remedy(findings, "ethtool -K %s %s off", facts->name, merging->feature);
}

/* virtio_net shows GRO-HW as on while the guest's offloads are off. */
void rf_diagnose_attached(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct merging lro = lro_of(facts), gro_hw = gro_hw_of(facts);
	const struct rf_driver *row = row_of(facts);

	check_merging_again(facts, &lro, findings);
	if (strcmp(facts->driver, "virtio_net") != 0)
		check_merging_again(facts, &gro_hw, findings);
	if (facts->mtu > rf_diagnose_mtu_max(facts) && rf_diagnose_frags(facts) == RF_NO &&
	    row->mtu_max) {
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: the driver passes no frames larger than %d to a fence",
				facts->mtu, rf_diagnose_mtu_max(facts));
		rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name,
				   rf_diagnose_mtu_max(facts));
	}
	if (row->forgets) {
		rf_findings_add(findings, RF_NOTE, "link",
				"the driver forgets the program when the link goes down, or the "
				"MTU or its rings change; attach again after each");
		rf_findings_remedy(findings, "ringfence attach %s", facts->name);
	} else {
		check_link(facts, findings);
	}
	if (row->drops)
		rf_findings_add(findings, RF_OK, "drops",
				"'ethtool -S %s' counts drops of XDP programs as %s", facts->name,
				row->drops);
}
