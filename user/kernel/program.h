/* SPDX-License-Identifier: GPL-2.0 */
/* A program of a fence that the kernel has loaded, and its maps. */
#ifndef RINGFENCE_PROGRAM_H
#define RINGFENCE_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/names.h"

/* A loaded XDP program and, when it is ours, its maps. */
struct rf_program {
	int fd;
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN];
	uint8_t tag[RF_PROGRAM_TAG_SIZE];
	bool ours;
	bool read_only; /* its maps, which were opened by pins that we may not write */
	uint32_t abi;
	int map_fd[RF_MAP_COUNT];
	uint32_t map_id[RF_MAP_COUNT];
};

#define RF_PROGRAM_NONE ((struct rf_program){.fd = -1, .map_fd = {[0 ... RF_MAP_COUNT - 1] = -1}})

/*
 * Opens a program by its id and looks whether it is a ringfence. Where that takes CAP_SYS_ADMIN and
 * we have not got it, one of ours is found through its pins: then `fd` may be -1. -EPERM where that
 * is in vain. Close it in any case.
 */
int rf_program_open(struct rf_program *program, uint32_t id, struct rf_error *error);
void rf_program_close(struct rf_program *program);
/* An error where it was found by pins, and is not pinned itself. */
int rf_program_check_fd(const struct rf_program *program, const char *name, struct rf_error *error);
/* An error unless the maps of our program are those that this build knows. */
int rf_program_check_abi(const struct rf_program *program, const char *name,
			 struct rf_error *error);

/* By its name. */
enum rf_entry rf_entry_of(const struct rf_program *program);
/* The configuration of the fence that a program is of; 0: it is not ours. */
uint32_t rf_program_config_of(uint32_t program_id);

/* What a user who may not open a fence can do about it, for messages. */
const char *rf_remedy_to_read(void);
/*
 * Waits until all programs that run now are done. The kernel waits so after an update of a map of
 * maps, so that the caller can then reuse what the old value led to.
 */
int rf_wait_for_programs(struct rf_error *error);

#endif /* RINGFENCE_PROGRAM_H */
