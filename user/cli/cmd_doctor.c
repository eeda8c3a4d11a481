// SPDX-License-Identifier: GPL-2.0
/* doctor */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "base/netlink.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/view.h"
#include "doctor/diagnose.h"
#include "doctor/facts.h"
#include "fence/bypass.h"
#include "fence/fence.h"

struct examined {
	const struct rf_interface_facts *facts;
	struct rf_findings findings;
	const char *program; /* the XDP program on it; NULL: none */
	int problems, notes;
	bool is_asked;
};

/* The facts, and the findings from them. */
struct report {
	struct rf_findings machine;
	struct rf_interface_facts *facts;
	struct examined *interface; /* of each of `facts` */
	int count;
	int asked; /* the requested interface; -1: none */
	int problems;
};

/* ---- looking ---- */

static void examine_strays(struct rf_findings *findings)
{
	struct rf_stray stray[RF_STRAYS_MAX];
	const int count = rf_strays_find(stray, RF_STRAYS_MAX);

	for (int i = 0; i < count; i++) {
		const char *name = stray[i].name;
		char text[RF_STRAY_TEXT_SIZE];

		rf_stray_format(&stray[i], text);
		rf_findings_add(findings, RF_NOTE, "fence", "%s", text);
		if (if_nametoindex(name)) /* the interface has come back */
			rf_findings_remedy(findings, "ringfence attach %s", name);
	}
}

static void examine_machine(struct rf_findings *findings)
{
	struct rf_machine_facts machine = {};

	rf_facts_machine(&machine);
	rf_features_probe(&machine.features);
	machine.load_err = rf_fence_try();
	rf_diagnose_machine(&machine, findings);
	examine_strays(findings);
}

static void add_program(struct rf_interface_facts *facts)
{
	struct rf_occupant occupant;
	struct rf_error gone;

	if (rf_occupant_find(facts->name, &occupant, &gone))
		return; /* the interface disappeared */
	facts->program_id = occupant.program_id;
	facts->ours = occupant.ours;
	facts->link_id = occupant.link_id;
	facts->generic = occupant.mode == RF_GENERIC;
	snprintf(facts->program_name, sizeof(facts->program_name), "%s", occupant.name);
}

static void add_dns_port(struct rf_challenge_facts *challenge, uint16_t port)
{
	for (int i = 0; i < challenge->dns_ports; i++)
		if (challenge->dns[i].port == port)
			return;
	if (challenge->dns_ports < RF_DNS_PORTS_CHECKED)
		challenge->dns[challenge->dns_ports++].port = port;
}

/* The ports of limits that truncate; the compiler of rules accepts none without ports. */
static void add_truncated_ports(const struct rf_fence *fence, struct rf_challenge_facts *challenge)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error unreadable;

	if (!rf_fence_ruleset(fence, &rules, &unreadable))
		for (int port = 0; port < RF_PORTS; port++)
			for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
				if (rules.bank.truncates >> slot & 1 && rules.ports[slot] &&
				    rules.ports[slot][port / 64] >> port % 64 & 1)
					add_dns_port(challenge, port);
	rf_ruleset_free(&rules);
}

/* Can the fence examine newcomers and send responses as its rules require? */
static void add_challenge(const struct rf_fence *fence, struct rf_interface_facts *facts)
{
	struct rf_challenge_facts *challenge = &facts->challenge;
	struct rf_error unreadable;
	struct rf_bank bank;

	if (rf_fence_bank(fence, &bank, &unreadable))
		return;
	challenge->challenges = bank.newcomers.then == RF_NEWCOMERS_CHALLENGE;
	challenge->excepts_established = bank.newcomers.except_established;
	challenge->truncates = bank.truncates;
	for (int i = 0; i < bank.newcomers.dns_ports && i < RF_DNS_PORTS_MAX; i++)
		add_dns_port(challenge, bank.newcomers.dns_port[i]);
	if (challenge->truncates)
		add_truncated_ports(fence, challenge);
	challenge->own_macs = rf_fence_own_macs(fence, challenge->own_mac);
	challenge->host_macs = rf_fence_read_macs(fence, challenge->host_mac, &unreadable);
	if (rf_responds(challenge) || challenge->excepts_established)
		rf_facts_challenge(facts);
}

/* Does the fence on the interface still work as attached? */
static void add_working(struct rf_interface_facts *facts)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_interface interface;
	struct rf_bypass bypass;
	struct rf_error unreadable;

	if (!facts->ours || rf_interface_query(facts->name, &interface, &unreadable))
		return;
	facts->needs_frags = rf_entry_suits(&interface) == RF_NO;
	if (!rf_fence_open_on(&fence, facts->name, &unreadable)) {
		rf_bypass_look(&fence, &interface, &bypass);
		facts->is_bypassed = bypass.met == RF_BYPASSED;
		facts->paused_ns = rf_fence_standing(&fence).paused_ns;
		rf_bypass_format(&bypass, facts->bypass);
		add_challenge(&fence, facts);
	} else if (fence.is_alien) {
		snprintf(facts->alien, sizeof(facts->alien), "%s", unreadable.text);
	}
	rf_fence_close(&fence);
}

static const char *program_word(const struct rf_interface_facts *facts)
{
	if (!facts->program_id)
		return "none";
	if (facts->ours)
		return "ringfence";
	return *facts->program_name ? facts->program_name : "unknown";
}

static void examine_interface(const struct rf_interface_facts *facts, struct examined *examined)
{
	examined->facts = facts;
	rf_diagnose_interface(facts, &examined->findings);
	examined->program = program_word(facts);
	examined->problems = rf_findings_count(&examined->findings, RF_PROBLEM);
	examined->notes = rf_findings_count(&examined->findings, RF_NOTE);
}

static int examine_interfaces(struct report *report, struct rf_error *error)
{
	report->count = rf_facts_interfaces(&report->facts, error);
	if (report->count < 0)
		return report->count;
	for (int i = 0; i < report->count; i++) {
		add_program(&report->facts[i]);
		add_working(&report->facts[i]);
	}
	rf_diagnose_relate(report->facts, report->count);
	report->interface = calloc(report->count + 1, sizeof(*report->interface));
	if (!report->interface)
		return rf_error_failed(error, -ENOMEM, "not enough memory");
	for (int i = 0; i < report->count; i++)
		examine_interface(&report->facts[i], &report->interface[i]);
	return 0;
}

/* The given name can be an alternative name of the interface. */
static int find_asked(struct report *report, const char *given, struct rf_error *error)
{
	const unsigned int index = given ? if_nametoindex(given) : 0;
	char name[IF_NAMESIZE];

	report->asked = -1;
	if (!given)
		return 0;
	if (index && if_indextoname(index, name))
		for (int i = 0; i < report->count; i++)
			if (strcmp(report->facts[i].name, name) == 0)
				report->asked = i;
	if (report->asked >= 0) {
		report->interface[report->asked].is_asked = true;
		return 0;
	}
	return rf_error_failed(error, -ENODEV,
			       "%s: no such interface; 'ip link' lists the interfaces", given);
}

/*
 * Problems of the machine, and of the requested interface. Without one, of every interface with a
 * fence, where they are failures; on others they only describe the requirements of an attach.
 */
static int count_problems(const struct report *report)
{
	int count = rf_findings_count(&report->machine, RF_PROBLEM);

	for (int i = 0; i < report->count; i++)
		if (report->asked == i || (report->asked < 0 && report->facts[i].ours))
			count += report->interface[i].problems;
	return count;
}

/* ---- printing ---- */

static void print_summary(const struct examined *examined)
{
	const struct rf_interface_facts *facts = examined->facts;

	rf_out_text("  %-15s ", facts->name);
	if (!rf_has_ethernet(facts->hardware))
		rf_out_text("%s, since its frames have no Ethernet header",
			    facts->ours ? "has a fence that limits nothing"
					: "cannot have a fence");
	else if (facts->is_bypassed)
		rf_out_text("has a fence, but is not protected");
	else if (facts->paused_ns)
		rf_out_text("has a fence, which is paused");
	else if (facts->ours)
		rf_out_text("has a fence, in %s mode", facts->generic ? "generic" : "native");
	else if (examined->problems)
		rf_out_text("not ready for native mode");
	else
		rf_out_text("ready");
	if (examined->problems || examined->notes)
		rf_out_text("; 'ringfence doctor %s' prints details", facts->name);
	rf_out_text("\n");
}

static void print_report(const struct report *report)
{
	rf_findings_print("machine", &report->machine);
	if (report->asked >= 0) {
		rf_findings_print(report->facts[report->asked].name,
				  &report->interface[report->asked].findings);
		return;
	}
	rf_out("interfaces\n");
	for (int i = 0; i < report->count; i++)
		print_summary(&report->interface[i]);
}

static bool is_asked(const void *of)
{
	return ((const struct examined *)of)->is_asked;
}

static const struct rf_field facts_fields[] = {
	RF_FIELD("name", struct rf_interface_facts, name, "of the interface"),
	RF_FIELD("driver", struct rf_interface_facts, driver, "null: unknown", .if_any = true,
		 .or_null = true),
	{},
};

static const struct rf_field examined_fields[] = {
	RF_FIELDS_VIA(struct examined, facts, facts_fields),
	RF_FIELD("program", struct examined, program, "the XDP program on it", .or_null = true),
	RF_FIELD("problems", struct examined, problems, "of the interface"),
	RF_FIELD("notes", struct examined, notes, "of the interface"),
	RF_FIELDS_OF(struct examined, findings, rf_findings_fields, .has = is_asked),
	{},
};

/* All interfaces, or the requested one. */
static const void *examined_at(const void *of, size_t i)
{
	const struct report *report = of;

	if (report->asked >= 0)
		return i ? NULL : &report->interface[report->asked];
	return i < (size_t)report->count ? &report->interface[i] : NULL;
}

static const struct rf_field report_fields[] = {
	RF_FIELD("problems", struct report, problems, "that prevent a fence"),
	RF_FIELD_IN("machine", struct report, machine, rf_findings_fields,
		    "what every fence needs"),
	RF_FIELD_LIST_OF("interfaces", examined_at, examined_fields, "that could have a fence"),
	{},
};

RF_RECORD(doctor, report_fields);

int rf_cmd_doctor(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *name = rf_words_peek(words) ? rf_words_next(words) : options->dev;
	struct report report = {};
	int err = rf_words_end(words, error), problems;

	if (!err && options->dev && name != options->dev)
		err = rf_error_usage(error, "'dev %s': doctor takes one interface, or none",
				     options->dev);
	if (!err)
		err = examine_interfaces(&report, error);
	if (!err)
		err = find_asked(&report, name, error);
	if (!err) {
		examine_machine(&report.machine);
		report.problems = count_problems(&report);
		if (options->json)
			err = rf_out_record(report_fields, &report, error);
		else
			print_report(&report);
	}
	problems = err ? 0 : report.problems;
	if (problems)
		err = rf_error_failed(error, -ENOEXEC, "%s%s%d problem%s", name ? name : "",
				      name ? ": " : "", problems,
				      problems == 1
					      ? " prevents a fence; its line has the fix"
					      : "s prevent a fence; their lines have the fixes");
	free(report.facts);
	free(report.interface);
	return err;
}
