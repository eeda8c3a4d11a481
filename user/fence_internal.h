/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make up `fence`; nobody else includes it. */
#ifndef RINGFENCE_FENCE_INTERNAL_H
#define RINGFENCE_FENCE_INTERNAL_H

#include <linux/bpf.h>

#include "fence.h"

/* Names of the maps in the kernel, and of their pins. Indexed by enum rf_map. */
extern const char *const rf_map_names[RF_MAP_COUNT];

/* A loaded XDP program and, when it is ours, its maps. */
struct rf_program {
	int fd;
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN];
	uint8_t tag[RF_PROGRAM_TAG_SIZE];
	bool ours;
	uint32_t abi;
	int map_fd[RF_MAP_COUNT];
	uint32_t map_id[RF_MAP_COUNT];
};

#define RF_PROGRAM_NONE ((struct rf_program){.fd = -1, .map_fd = {-1, -1, -1, -1, -1}})

/* Opens a program by its id and looks whether it is a ringfence. Close it in any case. */
int rf_program_open(struct rf_program *program, uint32_t id, struct rf_error *error);
void rf_program_close(struct rf_program *program);

/* The XDP program on an interface; program_id 0: none. */
int rf_interface_query(const char *name, struct rf_interface *interface, struct rf_error *error);

/* Every interface here whose program uses `map_id` as its configuration. Returns how many. */
int rf_interfaces_of(uint32_t map_id, struct rf_interface *interface, struct rf_error *error);

/* Makes a fence of an open program's maps, which it takes over. */
int rf_fence_adopt(struct rf_fence *fence, struct rf_program *program, struct rf_error *error);

#endif /* RINGFENCE_FENCE_INTERNAL_H */
