// SPDX-License-Identifier: GPL-2.0
/* Findings, features, and what is to be said of the machine. */
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diagnose.h"

/* What goes without a feature. */
enum need {
	TO_LOAD,
	TO_ATTACH, /* by `ringfence attach`; `ip` can do without */
	FOR_RULES,
	OPTIONAL,
};

static const struct {
	const char *check, *text, *since;
	enum need need;
	const char *without; /* of what is optional */
} features[RF_FEATURE_COUNT] = {
	[RF_FEATURE_XDP] = {"xdp", "XDP programs", "4.8", TO_LOAD, NULL},
	[RF_FEATURE_ATOMICS] =
		{"atomics", "atomic operations that return a value (fetch-add, compare-and-swap)",
		 "5.12", TO_LOAD, NULL},
	[RF_FEATURE_FUNCTIONS] = {"functions", "global functions in programs", "5.6", TO_LOAD,
				  NULL},
	[RF_FEATURE_JIFFIES] = {"jiffies", "the helper bpf_jiffies64", "5.5", TO_LOAD, NULL},
	[RF_FEATURE_KTIME] = {"ktime", "the helper bpf_ktime_get_ns", "4.1", TO_LOAD, NULL},
	[RF_FEATURE_PERCPU_ARRAY] = {"percpu_array", "arrays for each CPU", "4.6", TO_LOAD, NULL},
	[RF_FEATURE_MMAPABLE] = {"mmapable", "arrays in shared memory", "5.5", TO_LOAD, NULL},
	[RF_FEATURE_LPM_TRIE] = {"lpm_trie", "maps of prefixes (LPM tries)", "4.11", TO_LOAD, NULL},
	[RF_FEATURE_MAP_OF_MAPS] = {"map_of_maps", "arrays of maps", "4.12", TO_LOAD, NULL},
	[RF_FEATURE_BATCH] = {"batch", "reading of maps in batches", "5.6", FOR_RULES, NULL},
	[RF_FEATURE_SYSCALL] = {"syscall",
				"programs run by a system call (the command line's "
				"clock)",
				"5.14", FOR_RULES, NULL},
	[RF_FEATURE_LINK] = {"link", "bpf_links for XDP", "5.9", TO_ATTACH, NULL},
	[RF_FEATURE_FRAGS] = {"frags", "frames in several buffers (xdp.frags)", "5.18", OPTIONAL,
			      "no native mode with a jumbo MTU"},
	[RF_FEATURE_ITERATORS] = {"iterators", "BPF iterators over maps", "5.9", OPTIONAL,
				  "no counters to 'cat' in the BPF file system"},
	[RF_FEATURE_READERS] = {"readers", "reading of pinned maps without capabilities", "5.19",
				OPTIONAL, "only who has CAP_BPF can read"},
	[RF_FEATURE_JIT] = {"jit", "the BPF JIT", "4.8", OPTIONAL, "it works, but is slow"},
};

bool rf_ran_out(int negative_errno)
{
	return negative_errno == -EMFILE || negative_errno == -ENFILE ||
	       negative_errno == -ENOMEM || negative_errno == -EAGAIN;
}

bool rf_features_missing(const struct rf_features *has, char text[RF_MISSING_TEXT_SIZE])
{
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < RF_FEATURE_COUNT; i++) {
		if (has->has[i] != RF_NO || features[i].need != TO_LOAD)
			continue;
		length += snprintf(text + length, RF_MISSING_TEXT_SIZE - length,
				   "%s%s, which came with Linux %s", length ? ", and " : "",
				   features[i].text, features[i].since);
		if (length >= RF_MISSING_TEXT_SIZE)
			break;
	}
	return length > 0;
}

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

/* That nothing at all is known is said once. */
static void check_unknown(const struct rf_machine_facts *machine, enum rf_feature feature,
			  struct rf_findings *findings)
{
	const struct rf_features *known = &machine->features;

	if (known->has[RF_FEATURE_XDP] == RF_NOT_KNOWN && feature != RF_FEATURE_XDP)
		return;
	if (known->ran_out)
		rf_findings_add(findings, RF_NOTE, features[feature].check,
				"%s: not known: trying it failed: %s", features[feature].text,
				strerror(known->ran_out));
	else if (feature != RF_FEATURE_XDP)
		rf_findings_add(findings, RF_NOTE, features[feature].check,
				"%s: not known: trying it needs more privileges; run it as root",
				features[feature].text);
	else
		rf_findings_add(findings, RF_NOTE, "kernel",
				"what Linux %s can is not known: trying it needs CAP_BPF and "
				"CAP_NET_ADMIN",
				machine->release);
}

static void check_feature(const struct rf_machine_facts *machine, enum rf_feature feature,
			  struct rf_findings *findings)
{
	static const char *const goes_without[] = {
		[TO_LOAD] = "the program cannot be loaded; boot a newer kernel",
		[TO_ATTACH] = ("'ringfence attach' cannot work; attach by 'ip link', or boot a "
			       "newer kernel"),
		[FOR_RULES] = "rules cannot be set; boot a newer kernel",
	};
	const char *check = features[feature].check, *text = features[feature].text;
	const enum need need = features[feature].need;
	const enum rf_answer *has = machine->features.has;

	switch (has[feature]) {
	case RF_YES:
		/* The kernel loads them without, but for what ringfence's call back into. */
		if (feature == RF_FEATURE_ITERATORS && has[RF_FEATURE_JIT] == RF_NO) {
			rf_findings_add(findings, RF_NOTE, check, "%s take the BPF JIT: %s", text,
					features[feature].without);
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
				features[feature].without);
		rf_findings_remedy(findings, "sysctl -w net.core.bpf_jit_enable=1");
		return;
	}
	rf_findings_add(findings, need == OPTIONAL ? RF_NOTE : RF_PROBLEM, check,
			"Linux %s lacks %s, which came with Linux %s: %s", machine->release, text,
			features[feature].since,
			need == OPTIONAL ? features[feature].without : goes_without[need]);
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

/* CAP_SYS_ADMIN stands for the other two as well, but not for CAP_NET_ADMIN. */
static void check_privileges(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	const bool admin = can(machine, CAP_SYS_ADMIN);
	const bool bpf = admin || can(machine, CAP_BPF),
		   perfmon = admin || can(machine, CAP_PERFMON);
	const bool net = can(machine, CAP_NET_ADMIN);

	if (machine->in_user_namespace) {
		rf_findings_add(findings, RF_PROBLEM, "privileges",
				"in a user namespace, whose root the kernel lets load no XDP "
				"program; run it outside of the container");
		return;
	}
	if (!bpf || !perfmon || !net) {
		rf_findings_add(findings, RF_PROBLEM, "privileges",
				"this process lacks%s%s%s%s%s, without which nothing is attached",
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
	/* Where everybody may write nobody but root gets to read. */
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
