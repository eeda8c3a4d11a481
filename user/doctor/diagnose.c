// SPDX-License-Identifier: GPL-2.0
/* Findings, the diagnosis of the machine, and the requirements of an interface's driver. */
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
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

/* Does it have the capabilities that Linux requires for iterating over maps? */
static bool may_iterate(const struct rf_machine_facts *machine)
{
	return can(machine, CAP_SYS_ADMIN) || (can(machine, CAP_BPF) && can(machine, CAP_PERFMON));
}

/* If no feature is known, one finding reports that. */
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
	/* sparse: an optional feature has a separate text. */
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
		rf_findings_add(findings, RF_NOTE, check, "the BPF JIT is off or missing: %s",
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
				"--verbose' prints the output of libbpf",
				strerror(-machine->load_err));
	}
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, but not CAP_NET_ADMIN. */
static void check_privileges(const struct rf_machine_facts *machine, struct rf_findings *findings)
{
	const bool admin = can(machine, CAP_SYS_ADMIN);
	const bool bpf = admin || can(machine, CAP_BPF),
		   perfmon = admin || can(machine, CAP_PERFMON);
	const bool net = can(machine, CAP_NET_ADMIN);

	if (machine->in_user_namespace) {
		rf_findings_add(findings, RF_PROBLEM, "privileges",
				"in a user namespace, where the kernel does not allow loading XDP "
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
			", where 'ringfence attach' pins a fence");
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

/*
 * ---- drivers ----
 *
 * A distribution's kernel can have a feature before the version given here.
 */

static const struct rf_driver drivers[] = {
	{.name = "atlantic",
	 .native = {5, 19},
	 .frags = {5, 19},
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .link = RF_LINK_RESTARTED},
	{.name = "bnx2x"},
	{.name = "bnxt_en",
	 .native = {4, 11},
	 .frags = {5, 19},
	 .mtu_max = 3500,
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .gro_hw = RF_MERGING_SWITCHED_OFF,
	 .queues = RF_QUEUES_COMBINED,
	 .link = RF_LINK_UNCHANGED},
	{.name = "bonding", .native = {5, 15}, .lro = RF_MERGING_WITHOUT_EFFECT},
	{.name = "e1000"},
	{.name = "e1000e"},
	{.name = "ena",
	 .native = {5, 6},
	 .mtu_max = 3498,
	 .queues = RF_QUEUES_HALF,
	 .link = RF_LINK_RESTARTED,
	 .drops = "queue_N_rx_xdp_drop"},
	{.name = "fsl_dpaa2_eth", .native = {5, 0}},
	{.name = "gve",
	 .native = {6, 4},
	 .mtu_max = 2032,
	 .lro = RF_MERGING_REFUSED,
	 .queues = RF_QUEUES_HALF,
	 .link = RF_LINK_RESTARTED_BY_SWAP,
	 .drops = "rx_xdp_drop[N]"},
	{.name = "hv_netvsc",
	 .native = {5, 6},
	 .mtu_max = 3506,
	 .lro = RF_MERGING_REFUSED,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rx_queue_N_xdp_drop"},
	{.name = "i40e",
	 .native = {4, 13},
	 .frags = {6, 4},
	 .mtu_max = 3046,
	 .link = RF_LINK_RESTARTED},
	{.name = "iavf"},
	{.name = "ice",
	 .native = {5, 5},
	 .frags = {6, 3},
	 .mtu_max = 3046,
	 .link = RF_LINK_RESTARTED},
	{.name = "idpf"},
	{.name = "igb", .native = {5, 10}, .mtu_max = 3046, .link = RF_LINK_RESTARTED},
	{.name = "igc", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED_BY_SWAP},
	{.name = "ixgbe",
	 .native = {4, 12},
	 .mtu_max = 3050,
	 .lro = RF_MERGING_REFUSED,
	 .link = RF_LINK_RESTARTED},
	{.name = "ixgbevf", .native = {4, 17}, .mtu_max = 3050, .link = RF_LINK_RESTARTED},
	{.name = "mana",
	 .native = {5, 17},
	 .mtu_max = 3506,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rx_N_xdp_drop"},
	{.name = "mlx4_en",
	 .native = {4, 8},
	 .mtu_max = 3498,
	 .link = RF_LINK_RESTARTED,
	 .drops = "rx_xdp_drop"},
	{.name = "mlx5_core",
	 .native = {4, 9},
	 .frags = {5, 18},
	 .mtu_max = 3498,
	 .lro = RF_MERGING_REFUSED,
	 .gro_hw = RF_MERGING_REFUSED,
	 .link = RF_LINK_RESTARTED,
	 .flag = "rx_striding_rq",
	 .drops = "rx_xdp_drop"},
	{.name = "mvneta", .native = {5, 5}, .frags = {5, 18}},
	{.name = "mvpp2", .native = {5, 9}},
	{.name = "nfp", .native = {4, 10}},
	{.name = "qede", .native = {4, 10}},
	{.name = "r8169"},
	{.name = "rvu_nicpf", .native = {5, 16}},
	{.name = "sfc", .native = {5, 5}},
	/* The driver stmmac, as ethtool calls it. */
	{.name = "st_gmac", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED},
	{.name = "st_xgmac", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED},
	{.name = "tg3"},
	{.name = "tun", .native = {4, 14}, .link = RF_LINK_UNCHANGED},
	{.name = "veth",
	 .native = {4, 19},
	 .frags = {5, 18},
	 .queues = RF_QUEUES_OF_PEER,
	 .link = RF_LINK_UNCHANGED},
	{.name = "virtio_net",
	 .native = {4, 10},
	 .frags = {6, 3},
	 .mtu_max = 3506,
	 .mtu_max_before = 4064,
	 .gro_hw = RF_MERGING_SWITCHED_OFF,
	 .queues = RF_QUEUES_SPARE,
	 .queues_fixed = true,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rxN_xdp_drops"},
	{.name = "vmxnet3",
	 .native = {6, 6},
	 .mtu_max = 3494,
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .link = RF_LINK_RESTARTED,
	 .forgets = true,
	 .drops = "xdp drops"},
};

const struct rf_driver *rf_driver_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(name, drivers[i].name) == 0)
			return &drivers[i];
	return NULL;
}

bool rf_version_reaches(struct rf_version version, struct rf_version since)
{
	if (!version.major || !since.major)
		return false;
	return version.major > since.major ||
	       (version.major == since.major && version.minor >= since.minor);
}

struct rf_version rf_version_of(const char *release)
{
	struct rf_version version;

	if (sscanf(release, "%d.%d", &version.major, &version.minor) != 2)
		return (struct rf_version){};
	return version;
}

/*
 * ---- an interface by its driver ----
 *
 * The driver's requirements for an attach, and possible problems after it, all from its row in the
 * table and the running kernel.
 */

/* Of an interface whose driver is not in the table. */
static const struct rf_driver unknown = {.name = ""};

static const struct rf_driver *row_of(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = rf_driver_find(facts->driver);

	return row ? row : &unknown;
}

/* Does the driver take frames in several buffers on this kernel? */
static enum rf_answer frags_of(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = row_of(facts);

	if (facts->asked_kernel)
		return facts->frags;
	if (row == &unknown || !facts->kernel.major)
		return RF_NOT_KNOWN;
	return rf_version_reaches(facts->kernel, row->frags) ? RF_YES : RF_NO;
}

/* The MTU up to which the driver takes a program for one buffer. */
static int mtu_max_of(const struct rf_interface_facts *facts)
{
	const struct rf_driver *row = row_of(facts);

	if (row->mtu_max_before && !facts->asked_kernel &&
	    !rf_version_reaches(facts->kernel, row->frags))
		return row->mtu_max_before;
	return row->mtu_max ? row->mtu_max : RF_PLAIN_MTU_MAX;
}

/* ---- by its driver: MTU ---- */

/* Why a frame cannot be in several buffers. */
static void fail_mtu(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const struct rf_driver *row = row_of(facts);
	const bool is_old = !facts->asked_kernel && row->frags.major;

	if (row->flag && !is_old) {
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: frames can exceed one buffer, and the driver supports several "
				"only with its private flag %s off: native mode is rejected",
				facts->mtu, row->flag);
		rf_findings_remedy(findings, "ethtool --set-priv-flags %s %s off", facts->name,
				   row->flag);
		return;
	}
	if (is_old)
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: frames can exceed one buffer, and the driver supports several "
				"since Linux %d.%d; this is Linux %d.%d: native mode is rejected "
				"unless the distribution has backported it",
				facts->mtu, row->frags.major, row->frags.minor, facts->kernel.major,
				facts->kernel.minor);
	else
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: frames can exceed one buffer, and the driver does not support "
				"several: native mode is rejected",
				facts->mtu);
	rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name, mtu_max_of(facts));
}

static void check_mtu(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	const enum rf_answer frags = frags_of(facts);

	if (facts->mtu <= mtu_max_of(facts)) {
		rf_findings_add(findings, RF_OK, "mtu", "%d: a frame fits one buffer", facts->mtu);
	} else if (frags == RF_YES) {
		rf_findings_add(findings, RF_OK, "mtu",
				"%d: the driver supports frames in several buffers", facts->mtu);
	} else if (strcmp(facts->driver, "tun") == 0) {
		/* It hands larger frames to generic mode automatically. */
		rf_findings_add(findings, RF_OK, "mtu", "%d: the driver accepts it", facts->mtu);
	} else if (frags == RF_NO) {
		fail_mtu(facts, findings);
	} else {
		rf_findings_add(findings, RF_NOTE, "mtu",
				"%d: frames can exceed one buffer, and whether the driver supports "
				"several is unknown: native mode might be rejected",
				facts->mtu);
		rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name,
				   mtu_max_of(facts));
	}
}

/* ---- by its driver: merging ---- */

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

/* ---- by its driver: the link ---- */

static void check_link(const struct rf_interface_facts *facts, struct rf_findings *findings)
{
	switch (row_of(facts)->link) {
	case RF_LINK_NOT_KNOWN:
		return;
	case RF_LINK_UNCHANGED:
		rf_findings_add(findings, RF_OK, "link", "attach and detach leave the link up");
		return;
	case RF_LINK_RESTARTED:
		rf_findings_add(findings, RF_OK, "link",
				"attach and detach restart the link or its queues: packets are "
				"lost briefly");
		return;
	case RF_LINK_RESTARTED_BY_SWAP:
		rf_findings_add(findings, RF_OK, "link",
				"attach, detach and an upgrade of the program restart the link or "
				"its queues: packets are lost briefly");
		return;
	}
}

/* ---- all findings by driver ---- */

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
			"%s is on under an attached fence: merged packets are counted as one "
			"packet, or never reach the fence",
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
	if (facts->mtu > mtu_max_of(facts) && frags_of(facts) == RF_NO && row->mtu_max) {
		rf_findings_add(findings, RF_PROBLEM, "mtu",
				"%d: the driver passes no frames larger than %d to a fence",
				facts->mtu, mtu_max_of(facts));
		rf_findings_remedy(findings, "ip link set dev %s mtu %d", facts->name,
				   mtu_max_of(facts));
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
