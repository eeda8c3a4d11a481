/* SPDX-License-Identifier: GPL-2.0 */
/* Facts for the diagnosis of an interface, and the expected findings. */
#ifndef RINGFENCE_TEST_FINDINGS_H
#define RINGFENCE_TEST_FINDINGS_H

#include "unit.h"

#include "doctor/diagnose.h"

#include <linux/if_arp.h> /* after net/if.h, which it agrees with then */

#define GENERIC "ringfence attach eth0 mode generic"

/* An interface without any problem; each row overrides the facts that differ. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define FACTS(...)                                                                              \
	{                                                                                       \
		.name = "eth0", .hardware = ARPHRD_ETHER, .bond_mode = -1, .is_up = true,       \
		.mtu = 1500, .cpus = 4, .asked_kernel = true, .native = RF_YES, .frags = RF_NO, \
		.kernel = {6, 12}, .lro = RF_NO, .gro = RF_YES, __VA_ARGS__                     \
	}

static inline const struct rf_finding *find(const struct rf_findings *findings, const char *check)
{
	for (int i = 0; i < findings->count; i++)
		if (strcmp(findings->finding[i].check, check) == 0)
			return &findings->finding[i];
	fail_msg("no finding of the check '%s'", check);
	return NULL;
}

static inline void assert_finding(const struct rf_findings *findings, const char *check,
				  enum rf_level level, const char *part, const char *command)
{
	const struct rf_finding *finding = find(findings, check);

	if (finding->level != level || !strstr(finding->text, part) ||
	    strcmp(finding->command, command) != 0)
		fail_msg("%s is %s: %s; run '%s'", check, rf_level_name(finding->level),
			 finding->text, finding->command);
}

#endif /* RINGFENCE_TEST_FINDINGS_H */
