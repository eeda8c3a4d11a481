// SPDX-License-Identifier: GPL-2.0
/* Findings, and the diagnosis of the machine. */
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor/diagnose.h"

/* ---- findings ---- */

const char *rf_level_name(enum rf_level level)
{
	static const char *const names[] = {
		[RF_OK] = "ok",
		[RF_NOTE] = "note",
		[RF_PROBLEM] = "problem",
	};

	return names[level];
}

int rf_findings_count(const struct rf_findings *findings, enum rf_level level)
{
	int count = 0;

	for (int i = 0; i < findings->count; i++)
		count += findings->finding[i].level == level;
	return count;
}

void rf_findings_add(struct rf_findings *findings, enum rf_level level, const char *check,
		     const char *format, ...)
{
	struct rf_finding *finding;
	va_list args;

	if (findings->count == RF_FINDINGS_MAX)
		return;
	finding = &findings->finding[findings->count++];
	*finding = (struct rf_finding){.level = level, .check = check};
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

void rf_findings_remedy(struct rf_findings *findings, const char *format, ...)
{
	struct rf_finding *finding = &findings->finding[findings->count - 1];
	va_list args;

	va_start(args, format);
	vsnprintf(finding->command, sizeof(finding->command), format, args);
	va_end(args);
}

/* ---- the machine ---- */

static bool can(const struct rf_machine_facts *machine, int capability)
{
	return machine->capabilities >> capability & 1;
}

/* Has it the capabilities that Linux asks for to iterate over maps? */
static bool may_iterate(const struct rf_machine_facts *machine)
{
	return can(machine, CAP_SYS_ADMIN) || (can(machine, CAP_BPF) && can(machine, CAP_PERFMON));
}

/* Where no feature at all is known, one finding says so. */
static void check_unknown(const struct rf_machine_facts *machine, enum rf_feature feature,
			  struct rf_findings *findings)
{
	const struct rf_features *known = &machine->features;

	if (known->has[RF_FEATURE_XDP] == RF_NOT_KNOWN && feature != RF_FEATURE_XDP)
		return;
	if (known->ran_out)
		rf_findings_add(findings, RF_NOTE, rf_feature_rows[feature].check,
				"%s: not known: trying it failed: %s",
				rf_feature_rows[feature].text, strerror(known->ran_out));
	else if (feature == RF_FEATURE_ITERATORS && may_iterate(machine))
		rf_findings_add(findings, RF_NOTE, rf_feature_rows[feature].check,
				"Linux %s forbids %s, also to root: %s", machine->release,
				rf_feature_rows[feature].text, rf_feature_rows[feature].without);
	else if (feature != RF_FEATURE_XDP)
		rf_findings_add(findings, RF_NOTE, rf_feature_rows[feature].check,
				"%s: not known: trying it needs more privileges; run it as root",
				rf_feature_rows[feature].text);
	else
		rf_findings_add(findings, RF_NOTE, "kernel",
				"the features of Linux %s are not known: trying them needs CAP_BPF "
				"and CAP_NET_ADMIN",
				machine->release);
}

static void check_feature(const struct rf_machine_facts *machine, enum rf_feature feature,
			  struct rf_findings *findings)
{
	/* sparse: an optional feature has a text of its own. */
	static const char *const goes_without[] = {
		[RF_TO_LOAD] = "the program cannot be loaded; boot a newer kernel",
		[RF_TO_ATTACH] = ("'ringfence attach' cannot work; attach by 'ip link', or boot a "
				  "newer kernel"),
		[RF_FOR_RULES] = "rules cannot be set; boot a newer kernel",
	};
	const char *check = rf_feature_rows[feature].check, *text = rf_feature_rows[feature].text;
	const enum rf_need need = rf_feature_rows[feature].need;
	const enum rf_answer *has = machine->features.has;

	switch (has[feature]) {
	case RF_YES:
		/*
		 * The kernel loads iterators without the JIT, but not ringfence's, which use
		 * callbacks.
		 */
		if (feature == RF_FEATURE_ITERATORS && has[RF_FEATURE_JIT] == RF_NO) {
			rf_findings_add(findings, RF_NOTE, check, "%s need the BPF JIT: %s", text,
					rf_feature_rows[feature].without);
			return;
		}
		rf_findings_add(findings, RF_OK, check, "%s", text);
		return;
	case RF_NOT_KNOWN:
		check_unknown(machine, feature, findings);
		return;
	case RF_NO:
		break;
	}
	if (feature == RF_FEATURE_JIT) {
		rf_findings_add(findings, RF_NOTE, check,
				"the BPF JIT is off, or there is none: %s",
				rf_feature_rows[feature].without);
		rf_findings_remedy(findings, "sysctl -w net.core.bpf_jit_enable=1");
		return;
	}
	rf_findings_add(findings, need == RF_OPTIONAL ? RF_NOTE : RF_PROBLEM, check,
			"Linux %s lacks %s, which came with Linux %s: %s", machine->release, text,
			rf_feature_rows[feature].since,
			need == RF_OPTIONAL ? rf_feature_rows[feature].without
					    : goes_without[need]);
}

static void check_program(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	switch (machine->load_err) {
	case 0:
		rf_findings_add(findings, RF_OK, "program", "this build's program loads");
		return;
	case -EPERM:
	case -EACCES:
		rf_findings_add(findings, RF_NOTE, "program",
				"whether this build's program loads is not known: trying it "
				"needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON");
		return;
	case -EMFILE:
	case -ENFILE:
		rf_findings_add(findings, RF_PROBLEM, "program",
				"this process may open too few files to load this build's program");
		rf_findings_remedy(findings, "ulimit -n %d", RF_FILES_LIMIT);
		return;
	default:
		rf_findings_add(findings, RF_PROBLEM, "program",
				"this build's program does not load: %s; 'ringfence attach IF "
				"--verbose' shows what libbpf says",
				strerror(-machine->load_err));
	}
}

/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON as well, but not for CAP_NET_ADMIN. */
static void check_privileges(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	const bool admin = can(machine, CAP_SYS_ADMIN);
	const bool bpf = admin || can(machine, CAP_BPF),
		   perfmon = admin || can(machine, CAP_PERFMON);
	const bool net = can(machine, CAP_NET_ADMIN);

	if (machine->in_user_namespace) {
		rf_findings_add(findings, RF_PROBLEM, "privileges",
				"in a user namespace, where the kernel lets nobody load XDP "
				"programs; run it outside of the container");
		return;
	}
	if (!bpf || !perfmon || !net) {
		rf_findings_add(findings, RF_PROBLEM, "privileges",
				"this process lacks%s%s%s%s%s, which attaching needs",
				bpf ? "" : " CAP_BPF", !bpf && !(net && perfmon) ? "," : "",
				net ? "" : " CAP_NET_ADMIN", !net && !perfmon ? "," : "",
				perfmon ? "" : " CAP_PERFMON");
		rf_findings_remedy(findings, "sudo ringfence doctor");
		return;
	}
	rf_findings_add(findings, admin ? RF_OK : RF_NOTE, "privileges", "%s",
			admin ? "enough to attach, and to find what 'ip' attached"
			      : "enough to attach; what 'ip' attached is found with "
				"CAP_SYS_ADMIN only");
}

static void check_bpffs(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	if (machine->bpffs) {
		rf_findings_add(findings, RF_OK, "bpffs", "mounted at " RF_BPFFS);
		return;
	}
	rf_findings_add(findings, RF_PROBLEM, "bpffs",
			"no BPF file system at " RF_BPFFS
			", where 'ringfence attach' keeps a fence");
	/* Where all users may write to the bpffs, only root gets to read fences. */
	rf_findings_remedy(findings, "mount -t bpf -o mode=0700 bpf " RF_BPFFS);
}

static void check_lockdown(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	switch (machine->lockdown) {
	case RF_LOCKDOWN_UNSEEN:
		rf_findings_add(findings, RF_OK, "lockdown", "none that can be seen");
		return;
	case RF_LOCKDOWN_NONE:
		rf_findings_add(findings, RF_OK, "lockdown", "none");
		return;
	case RF_LOCKDOWN_INTEGRITY:
		rf_findings_add(findings, RF_OK, "lockdown",
				"integrity, which allows all that ringfence does");
		return;
	case RF_LOCKDOWN_CONFIDENTIALITY:
		rf_findings_add(
			findings, RF_NOTE, "lockdown",
			"confidentiality: programs must not read the kernel's memory, which "
			"may forbid iterators; fences work");
		return;
	}
}

void rf_diagnose_machine(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	check_privileges(machine, findings);
	check_program(machine, findings);
	for (int i = 0; i < RF_FEATURE_COUNT; i++)
		check_feature(machine, i, findings);
	if (machine->btf)
		rf_findings_add(findings, RF_OK, "btf",
				"the kernel's types are at "
				"/sys/kernel/btf/vmlinux");
	else
		rf_findings_add(findings, RF_NOTE, "btf",
				"no types of the kernel at /sys/kernel/btf/vmlinux; only iterators "
				"need them");
	check_bpffs(machine, findings);
	check_lockdown(machine, findings);
}
