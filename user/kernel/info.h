/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read the kernel's information about an open program, map or link. Before the call `info` holds a
 * request, such as room for the ids of maps, or zeros. Return 0 or a negative errno, and set errno
 * as well.
 */
#ifndef RINGFENCE_INFO_H
#define RINGFENCE_INFO_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

int rf_program_info(int fd, struct bpf_prog_info *info);
int rf_map_info(int fd, struct bpf_map_info *info);
int rf_link_info(int fd, struct bpf_link_info *info);

/* The id of an open map; 0: it cannot be read. */
uint32_t rf_map_id(int fd);

#define RF_PLAIN_VALUE_MAX (1U << 20)

/* Is the map a plain array, with one value for all CPUs, and its value size plausible? */
bool rf_map_is_plain(const struct bpf_map_info *info);

/*
 * Does this process have that capability? Also true if that cannot be determined: the kernel
 * refuses later, if necessary.
 */
bool rf_has_capability(int capability);

#endif /* RINGFENCE_INFO_H */
