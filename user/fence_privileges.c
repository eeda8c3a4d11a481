// SPDX-License-Identifier: GPL-2.0
/*
 * Who may change a fence, and the capabilities that loading the program takes. The kernel's own
 * answer would be EPERM, or for CAP_PERFMON what the verifier minds: the length of a frame is the
 * difference of two pointers, which it calls a leak. CAP_SYS_ADMIN stands for CAP_BPF and
 * CAP_PERFMON.
 */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence_internal.h"

static bool has(const struct __user_cap_data_struct set[2], int capability)
{
	return set[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* False where they cannot be read: the kernel will say what is missing. */
static bool read_capabilities(struct __user_cap_data_struct set[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return !syscall(SYS_capget, &header, set);
}

int rf_check_may_chain(const char *name, struct rf_error *error)
{
	struct __user_cap_data_struct set[2] = {};

	if (!read_capabilities(set) || has(set, CAP_SYS_ADMIN))
		return 0;
	return rf_error_failed(error, -EPERM,
			       "%s: cannot attach in a chain: it takes CAP_SYS_ADMIN", name);
}

int rf_check_may_load(struct rf_error *error)
{
	struct __user_cap_data_struct set[2] = {};
	const char *missing = NULL;

	if (!read_capabilities(set))
		return 0;
	if (!has(set, CAP_NET_ADMIN))
		missing = "CAP_NET_ADMIN";
	else if (!has(set, CAP_SYS_ADMIN) && !has(set, CAP_BPF))
		missing = "CAP_BPF";
	else if (!has(set, CAP_SYS_ADMIN) && !has(set, CAP_PERFMON))
		missing = "CAP_PERFMON";
	if (!missing)
		return 0;
	return rf_error_failed(error, -EPERM,
			       "cannot load the program: %s is missing; it takes CAP_BPF, "
			       "CAP_NET_ADMIN and CAP_PERFMON, or root",
			       missing);
}

int rf_fence_check_may_change(const struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);

	if (fence->read_only)
		return rf_error_failed(error, -EACCES,
				       "%s: you may read this fence, and not change it; run it as "
				       "root",
				       fence->name);
	if (!dev && fence->among_unknown)
		return rf_error_failed(error, -EPERM,
				       "there are XDP programs that only CAP_SYS_ADMIN may look "
				       "at, so say which fence: dev %s",
				       fence->interfaces ? fence->interface[0].name : "IF");
	return *pins.text ? rf_pins_check_owner(&pins, error) : 0;
}
