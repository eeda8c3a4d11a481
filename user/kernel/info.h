/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says of an open program, map or link. `info` holds what is asked for, or zeros.
 * 0 or a negative errno, and errno as well.
 */
#ifndef RINGFENCE_INFO_H
#define RINGFENCE_INFO_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

int rf_program_info(int fd, struct bpf_prog_info *info);
int rf_map_info(int fd, struct bpf_map_info *info);
int rf_link_info(int fd, struct bpf_link_info *info);

/* 0 where it cannot be told. */
uint32_t rf_map_id(int fd);

#define RF_PLAIN_VALUE_MAX (1U << 20)

/* Has it one value for all CPUs, of a size that can be believed? */
bool rf_map_is_plain(const struct bpf_map_info *info);

#endif /* RINGFENCE_INFO_H */
