/* SPDX-License-Identifier: GPL-2.0 */
/* Loading the program of this build. */
#ifndef RINGFENCE_LOAD_H
#define RINGFENCE_LOAD_H

#include "fence/fence.h"

struct ringfence_bpf;
struct bpf_object;

struct rf_loaded {
	struct ringfence_bpf *object;
	int fd[RF_ENTRY_COUNT]; /* -1 where the kernel lacks it */
	uint32_t id[RF_ENTRY_COUNT];
	uint8_t tag[RF_ENTRY_COUNT][RF_PROGRAM_TAG_SIZE];
	int map_fd[RF_MAP_COUNT];
};

#define RF_LOADED_NONE ((struct rf_loaded){.fd = {-1, -1}})

/*
 * Loads this build with the maps of `reuse`, or with new ones of the sizes that `attach` says; a
 * new fence is called `name`. Unload it in any case: what is pinned or attached stays.
 */
int rf_load_upgrade(struct rf_loaded *loaded, const struct rf_fence *reuse, struct rf_error *error);
int rf_load_new(struct rf_loaded *loaded, const char *name, const struct rf_attach *attach,
		struct rf_error *error);
/* Has an object that is not loaded yet take these maps for its own. */
int rf_maps_reuse(struct bpf_object *object, const int map_fd[RF_MAP_COUNT]);
void rf_unload(struct rf_loaded *loaded);

/* This build, not loaded yet, with the maps of a fence; NULL and errno. The caller closes it. */
struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT]);

/* How many leases `attach` asks for, for all CPUs together: whole sets, a power of two for each. */
uint32_t rf_leases_wanted(const struct rf_attach *attach);
/* The entry that the MTU asks for. */
enum rf_entry rf_entry_for(const char *name, enum rf_mode mode);

/* Is a program with that tag one of this build's? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

#endif /* RINGFENCE_LOAD_H */
