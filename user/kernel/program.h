/* SPDX-License-Identifier: GPL-2.0 */
/* A program of a fence that the kernel has loaded, and its maps. */
#ifndef RINGFENCE_PROGRAM_H
#define RINGFENCE_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/names.h"
#include "ringfence/abi.h"

/* A loaded XDP program and, when it is ours, its maps. */
struct rf_program {
	int fd;
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN];
	uint8_t tag[RF_PROGRAM_TAG_SIZE];
	bool ours;
	bool read_only;	 /* its maps were opened by read-only pins */
	uint32_t abi;	 /* map ABI; 0: of a build before the first release */
	uint64_t layout; /* RF_ABI_LAYOUT of the build */
	int map_fd[RF_MAP_COUNT];
	uint32_t map_id[RF_MAP_COUNT];
};

#define RF_PROGRAM_NONE ((struct rf_program){.fd = -1, .map_fd = {[0 ... RF_MAP_COUNT - 1] = -1}})

/*
 * Opens a program by its id, and checks whether it is a ringfence. Without CAP_SYS_ADMIN, a
 * ringfence program is found by the pins of its fence; then `fd` can be -1. -EPERM: no readable pin
 * belongs to it. Close the program even after an error.
 */
int rf_program_open(struct rf_program *program, uint32_t id, struct rf_error *error);
void rf_program_close(struct rf_program *program);
/*
 * Does a program use that map? Cheaper than opening it and all its maps. 1, 0 or a negative errno;
 * -EPERM: only CAP_SYS_ADMIN can determine it.
 */
int rf_program_uses(uint32_t program_id, uint32_t map_id);
/* An error if the program has no `fd`: its fence has pins, but the program itself is not pinned. */
int rf_program_check_fd(const struct rf_program *program, const char *name, struct rf_error *error);
/* Is it the magic word of any build of ringfence? */
static inline bool rf_magic_is_ours(uint32_t magic)
{
	return magic == RF_ABI_MAGIC || magic == RF_ABI_MAGIC_EARLY;
}

/* Notes that it is ours, and the map ABI, from a magic word of ours and the number behind it. */
static inline void rf_program_take_abi(struct rf_program *program, uint32_t magic, uint32_t abi)
{
	program->ours = true;
	program->abi = magic == RF_ABI_MAGIC ? abi : 0;
}

#define RF_PROGRAM_ORIGIN_SIZE 40
/* Which build attached it, as "of map ABI 1" or "from before the first release". */
void rf_program_origin(const struct rf_program *program, char text[RF_PROGRAM_ORIGIN_SIZE]);
/* An error unless our program has the map ABI and all the maps of this build. */
int rf_program_check_abi(const struct rf_program *program, const char *name,
			 struct rf_error *error);
/* The error where the maps differ although the numbers of the map ABI do not; `how` they do. */
int rf_program_fail_maps(const char *name, const char *how, struct rf_error *error);

/* The entry of a program, by the program's name. */
enum rf_entry rf_entry_of(const struct rf_program *program);
/* The id of the configuration map of a program's fence; 0: the program is not ours. */
uint32_t rf_program_config_of(uint32_t program_id);

/* For messages: the advice to a user without permission to open a fence. */
const char *rf_remedy_to_read(void);
/*
 * Waits until all programs that run now are done. It updates a map of maps, after which the kernel
 * waits for them. Then the caller can reuse what only these programs may still have read.
 */
int rf_wait_for_programs(struct rf_error *error);

#endif /* RINGFENCE_PROGRAM_H */
