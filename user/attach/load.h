/* SPDX-License-Identifier: GPL-2.0 */
/* Loading the program of this build. */
#ifndef RINGFENCE_LOAD_H
#define RINGFENCE_LOAD_H

#include "fence/fence.h"

struct bpf_object;

struct rf_loaded {
	struct bpf_object *object;
	bool has_shares;
	int fd[RF_ENTRY_COUNT]; /* -1 where the kernel lacks it */
	uint32_t id[RF_ENTRY_COUNT];
	uint8_t tag[RF_ENTRY_COUNT][RF_PROGRAM_TAG_SIZE];
	int map_fd[RF_MAP_COUNT];
};

#define RF_LOADED_NONE ((struct rf_loaded){.fd = {-1, -1}})

/*
 * rf_load_upgrade() loads this build with the maps of `reuse`; rf_load_new() loads it with new maps
 * of the sizes in `attach`, as a fence called `name`. The caller unloads it in any case: what is
 * pinned or attached stays.
 */
int rf_load_upgrade(struct rf_loaded *loaded, const struct rf_fence *reuse, struct rf_error *error);
int rf_load_new(struct rf_loaded *loaded, const char *name, const struct rf_attach *attach,
		struct rf_error *error);
/* Makes an object that is not loaded yet use these maps. */
int rf_maps_reuse(struct bpf_object *object, const int map_fd[RF_MAP_COUNT]);
void rf_unload(struct rf_loaded *loaded);

/* Opens this build, with shares or without. The caller closes it. NULL on failure, with errno. */
struct bpf_object *rf_load_build(bool has_shares);

/*
 * Opens this build with the maps of a fence, without loading it. The caller closes it. NULL on
 * failure, with errno.
 */
struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT]);

/* Pins iterators over these maps; an error where the kernel or our privileges do not allow it. */
int rf_iterators_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);

/* How many leases `attach` asks for, over all CPUs: whole sets, and a power of two for each CPU. */
uint32_t rf_leases_wanted(const struct rf_attach *attach);
/* The entry that the interface's MTU needs. */
enum rf_entry rf_entry_for(const char *name, enum rf_mode mode);

/* Does this build have a program with that tag? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

#endif /* RINGFENCE_LOAD_H */
