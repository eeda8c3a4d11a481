/* SPDX-License-Identifier: GPL-2.0 */
/* Loading the program of this build. */
#ifndef RINGFENCE_LOAD_H
#define RINGFENCE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/fence.h"
#include "kernel/interfaces.h"
#include "kernel/names.h"
#include "kernel/needs.h"

struct bpf_object;

/*
 * The program of this build, for one fence. An attach spends most of its time in the verifier, so
 * an entry is loaded only when it is needed: the entry for the MTU at first, the other one if the
 * driver refuses that, or the MTU changes.
 */
struct rf_loaded {
	bool has_shares;
	struct bpf_object *object[RF_ENTRY_COUNT]; /* NULL: this entry is not loaded */
	int fresh_fd[RF_ENTRY_COUNT];		   /* of the program just loaded; -1: none */
	int fd[RF_ENTRY_COUNT]; /* to attach: the same, or the pinned program of the same code */
	uint32_t id[RF_ENTRY_COUNT];
	uint8_t tag[RF_ENTRY_COUNT][RF_PROGRAM_TAG_SIZE];
	int map_fd[RF_MAP_COUNT]; /* of the upgraded fence, or of the loaded objects */
	int asks_fd;		  /* with shares: their ring buffer; -1: not known yet */
};

#define RF_LOADED_NONE ((struct rf_loaded){.fresh_fd = {-1, -1}, .fd = {-1, -1}, .asks_fd = -1})

/*
 * rf_load_upgrade() loads the entries that the fence `reuse` has, with its maps; the fence must
 * remain open. rf_load_new() loads one entry, with new maps of the sizes in `attach`, as a fence
 * called `name`: the plain entry if the kernel lacks the other. The caller unloads it in any case:
 * pinned or attached objects remain.
 */
int rf_load_upgrade(struct rf_loaded *loaded, const struct rf_fence *reuse, struct rf_error *error);
int rf_load_new(struct rf_loaded *loaded, const char *name, const struct rf_attach *attach,
		enum rf_entry entry, struct rf_error *error);
/*
 * Loads another entry of the same fence, unless it is loaded. -EOPNOTSUPP: the kernel lacks it.
 * See rf_provide_entry().
 */
int rf_load_entry(struct rf_loaded *loaded, enum rf_entry entry, struct rf_error *error);
/* Of an object that is not loaded yet, only this entry is to be loaded. */
void rf_load_choose(struct bpf_object *object, enum rf_entry entry);
/* Makes an object that is not loaded yet use these maps. */
int rf_maps_reuse(struct bpf_object *object, const int map_fd[RF_MAP_COUNT]);
void rf_unload(struct rf_loaded *loaded);

/*
 * Opens this build with the maps of a fence, without loading it. The caller closes it. NULL on
 * failure, with errno.
 */
struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT]);

/* Pins iterators over these maps; an error where the kernel or our privileges do not allow it. */
int rf_iterators_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);

/* How many leases `attach` requests, over all CPUs: whole sets, and a power of two for each CPU. */
uint32_t rf_leases_wanted(const struct rf_attach *attach);
/* The number of lines of the known filter, a power of two. */
uint32_t rf_known_filter_wanted(uint32_t sources);
/* The entry that the interface's MTU needs. */
enum rf_entry rf_entry_for(const char *name, enum rf_mode mode);

/* Does this build have a program with that tag? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

/* ---- the tags of this build ---- */

/* The program of this build, compared to a loaded one. */

/* The tags of an entry, as older and newer kernels compute them. */
struct rf_build_tags {
	uint8_t sha1[RF_PROGRAM_TAG_SIZE];
	uint8_t sha256[RF_PROGRAM_TAG_SIZE];
};

#define RF_BUILDS 2 /* of the program: without shares, and with */

struct rf_build {
	bool known;
	struct rf_build_tags tags[RF_BUILDS][RF_ENTRY_COUNT];
};

/* Computes the tags of this build's program, without loading it. */
int rf_build_read(struct rf_build *build);
/* Is the program on an interface one of this build? */
enum rf_answer rf_build_is_on(const struct rf_build *build, const struct rf_interface *interface);

#endif /* RINGFENCE_LOAD_H */
