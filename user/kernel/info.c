// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/info.h"

int rf_program_info(int fd, struct bpf_prog_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

int rf_map_info(int fd, struct bpf_map_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

int rf_link_info(int fd, struct bpf_link_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

uint32_t rf_map_id(int fd)
{
	struct bpf_map_info info = {};

	return rf_map_info(fd, &info) ? 0 : info.id;
}

bool rf_map_is_plain(const struct bpf_map_info *info)
{
	return info->type == BPF_MAP_TYPE_ARRAY && info->key_size == sizeof(__u32) &&
	       info->value_size <= RF_PLAIN_VALUE_MAX;
}

bool rf_has_capability(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct set[2] = {};

	return syscall(SYS_capget, &header, set) ||
	       set[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}
