// SPDX-License-Identifier: GPL-2.0
/*
 * The findings of `doctor` for each driver of its table, on kernels that report features and on
 * kernels that do not.
 */
#include "findings.h"

#include <stdio.h>

#define NEVER        \
	{            \
		0, 0 \
	}
#define SINCE(major, minor)  \
	{                    \
		major, minor \
	}

/* From the drivers' sources, written independently of the table under test. */
struct driver_row {
	const char *name;
	struct rf_version native, frags;
	int mtu; /* the largest that fits one buffer; 0: no row has it */
	bool refuses_lro, refuses_gro_hw;
};

static const struct driver_row driver_rows[] = {
	{"virtio_net", SINCE(4, 10), SINCE(6, 3), 3506, false, false},
	{"vmxnet3", SINCE(6, 6), NEVER, 3494, false, false},
	{"igb", SINCE(5, 10), NEVER, 3046, false, false},
	{"igc", SINCE(5, 13), NEVER, 1500, false, false},
	{"ixgbe", SINCE(4, 12), NEVER, 3050, true, false},
	{"ixgbevf", SINCE(4, 17), NEVER, 3050, false, false},
	{"i40e", SINCE(4, 13), SINCE(6, 4), 3046, false, false},
	{"ice", SINCE(5, 5), SINCE(6, 3), 3046, false, false},
	{"mlx5_core", SINCE(4, 9), SINCE(5, 18), 3498, true, true},
	{"mlx4_en", SINCE(4, 8), NEVER, 3498, false, false},
	{"bnxt_en", SINCE(4, 11), SINCE(5, 19), 3500, false, false},
	{"ena", SINCE(5, 6), NEVER, 3498, false, false},
	{"gve", SINCE(6, 4), NEVER, 2032, true, false},
	{"hv_netvsc", SINCE(5, 6), NEVER, 3506, true, false},
	{"mana", SINCE(5, 17), NEVER, 3506, false, false},
	{"st_gmac", SINCE(5, 13), NEVER, 1500, false, false},
	{"iavf", NEVER, NEVER, 0, false, false},
	{"idpf", NEVER, NEVER, 0, false, false},
	{"tg3", NEVER, NEVER, 0, false, false},
	{"r8169", NEVER, NEVER, 0, false, false},
	{"bnx2x", NEVER, NEVER, 0, false, false},
	{"e1000", NEVER, NEVER, 0, false, false},
	{"e1000e", NEVER, NEVER, 0, false, false},
};

static bool has_reached(struct rf_version kernel, struct rf_version since)
{
	return since.major &&
	       kernel.major * 1000 + kernel.minor >= since.major * 1000 + since.minor;
}

static struct rf_interface_facts facts_of(const struct driver_row *row, struct rf_version kernel)
{
	struct rf_interface_facts facts = FACTS(.asked_kernel = false, .mtu = row->mtu);

	facts.kernel = kernel;
	snprintf(facts.driver, sizeof(facts.driver), "%s", row->name);
	return facts;
}

/* One byte more than one buffer holds, on a kernel that does not report features. */
static void diagnose_jumbo(const struct driver_row *row, struct rf_version kernel)
{
	struct rf_interface_facts facts = facts_of(row, kernel);
	struct rf_findings fits = {}, jumbo = {};
	char lower[64], first[64];
	const bool never = !row->frags.major;

	if (strcmp(row->name, "virtio_net") == 0)
		return; /* before 6.3 it takes larger frames in one buffer; it has separate rows */
	snprintf(lower, sizeof(lower), "ip link set dev eth0 mtu %d", row->mtu);
	snprintf(first, sizeof(first), "this is Linux %d.%d: native", kernel.major, kernel.minor);
	rf_diagnose_interface(&facts, &fits);
	assert_finding(&fits, "mtu", RF_OK, "fits one buffer", "");
	facts.mtu++;
	rf_diagnose_interface(&facts, &jumbo);
	if (has_reached(kernel, row->frags))
		assert_finding(&jumbo, "mtu", RF_OK, "several buffers", "");
	else
		assert_finding(&jumbo, "mtu", RF_PROBLEM,
			       never ? "does not support several" : first, lower);
}

/* The assumed features on a kernel that does not report them, from the driver's row. */
static void diagnose_each_driver(void **state)
{
	static const struct rf_version kernels[] = {{5, 15}, {6, 1}, {6, 2}};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(driver_rows) * UNIT_ARRAY_SIZE(kernels); i++) {
		const struct driver_row *row = &driver_rows[i / UNIT_ARRAY_SIZE(kernels)];
		const struct rf_version kernel = kernels[i % UNIT_ARRAY_SIZE(kernels)];
		const struct rf_interface_facts facts = facts_of(row, kernel);
		struct rf_findings findings = {};

		rf_diagnose_interface(&facts, &findings);
		if (has_reached(kernel, row->native)) {
			assert_finding(&findings, "native", RF_OK, "since Linux", "");
			diagnose_jumbo(row, kernel);
		} else {
			assert_finding(&findings, "native", RF_PROBLEM,
				       row->native.major ? "might have backported it"
							 : "no native mode, as of Linux 6.12",
				       GENERIC);
			assert_int_equal(rf_findings_count(&findings, RF_PROBLEM), 1);
		}
	}
}

/* The kernel's report takes precedence over the row. */
static void ask_the_kernel_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(driver_rows); i++) {
		struct rf_interface_facts facts =
			facts_of(&driver_rows[i], (struct rf_version){6, 3});
		struct rf_findings yes = {}, no = {};

		facts.asked_kernel = true;
		facts.native = facts.frags = RF_YES;
		facts.mtu = 9000;
		rf_diagnose_interface(&facts, &yes);
		assert_finding(&yes, "native", RF_OK, "according to the kernel", "");
		assert_finding(&yes, "mtu", RF_OK, "several buffers", "");
		facts.native = RF_NO;
		rf_diagnose_interface(&facts, &no);
		assert_finding(&no, "native", RF_PROBLEM, "according to the kernel", GENERIC);
	}
}

/* Merging is a problem only where the driver refuses native mode with it. */
static void diagnose_merging(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(driver_rows); i++) {
		const struct driver_row *row = &driver_rows[i];
		struct rf_interface_facts facts = facts_of(row, (struct rf_version){6, 12});
		struct rf_findings findings = {};

		if (!row->native.major)
			continue;
		facts.lro = facts.gro_hw = RF_YES;
		rf_diagnose_interface(&facts, &findings);
		assert_int_equal(find(&findings, "lro")->level == RF_PROBLEM, row->refuses_lro);
		assert_int_equal(find(&findings, "gro-hw")->level == RF_PROBLEM,
				 row->refuses_gro_hw);
	}
}

static void read_versions(void **state)
{
	(void)state;
	assert_int_equal(rf_version_of("6.1.0-56-amd64").minor, 1);
	assert_int_equal(rf_version_of("10.20-rc1").major, 10);
	assert_int_equal(rf_version_of("rolling").major, 0);
	assert_true(rf_version_reaches((struct rf_version){6, 10}, (struct rf_version){6, 3}));
	assert_false(rf_version_reaches((struct rf_version){5, 19}, (struct rf_version){6, 3}));
	assert_false(rf_version_reaches((struct rf_version){6, 3}, (struct rf_version){}));
	assert_false(rf_version_reaches((struct rf_version){}, (struct rf_version){6, 3}));
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("doctor of each driver on kernels that cannot be asked", diagnose_each_driver),
	UNIT_ROW("doctor of each driver asks the kernel first", ask_the_kernel_first),
	UNIT_ROW("doctor of each driver: merging is a problem where it is refused",
		 diagnose_merging),
	UNIT_ROW("doctor compares versions of Linux", read_versions),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
