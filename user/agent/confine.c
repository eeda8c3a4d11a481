// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/confine.h"
#include "base/say.h"
#include "kernel/names.h"

#define CAPS_MOST 64

void rf_agent_join_group(void)
{
	const struct group *group = getgrnam(RF_GROUP);

	/* Without it only root sees how the agent is. */
	if (group && getegid() != group->gr_gid && setgid(group->gr_gid))
		rf_warn("cannot take the group '%s': %s; only root sees how the agent is", RF_GROUP,
			strerror(errno));
}

static void drop_bounds(void)
{
	/* What this kernel does not know, and what we may not drop, fails without harm. */
	for (int cap = 0; cap < CAPS_MOST; cap++)
		if (cap != CAP_BPF)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static int keep_bpf(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {};

	sets[CAP_TO_INDEX(CAP_BPF)].effective = CAP_TO_MASK(CAP_BPF);
	sets[CAP_TO_INDEX(CAP_BPF)].permitted = CAP_TO_MASK(CAP_BPF);
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

int rf_agent_confine(struct rf_error *error)
{
	const struct rlimit none = {0, 0};
	int err;

	if (geteuid())
		return rf_error_failed(error, -EPERM,
				       "it takes root: another user cannot write shares");
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	drop_bounds();
	err = keep_bpf();
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (err)
		return rf_error_failed(error, err, "cannot give up capabilities: %s",
				       strerror(-err));
	return 0;
}
