// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/privileges.h"

bool rf_has_capability(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct set[2] = {};

	return syscall(SYS_capget, &header, set) ||
	       set[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}
