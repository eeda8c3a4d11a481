// SPDX-License-Identifier: GPL-2.0
/*
 * The diagnosis of an interface's queues. The rules of drivers are from their code in Linux 6.12.
 */
#include "doctor/diagnose.h"

/* ena and gve need as many queues again to send by; gve counts each direction by itself. */
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
 * Without a queue for each CPU, sending is slower, but ringfence does not send. Linux before 5.13
 * refuses native mode.
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
			"of %u CPUs to send from XDP; ringfence sends nothing, but Linux before "
			"5.13 refuses native mode then",
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

void rf_diagnose_channels(const struct rf_interface_facts *facts, struct rf_findings *findings)
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
			"%u receive queue%s, so that %u of %d CPUs %s all the work%s", queues,
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
			facts->rings_used == 1 ? ", so that one CPU does all the work" : "");
	rf_findings_remedy(findings, "ethtool -X %s equal %u", facts->name, facts->rings);
}

void rf_diagnose_spread(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	check_queues(facts, findings);
	check_rss(facts, findings);
}
