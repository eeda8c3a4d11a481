/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make up `fence`; nobody else includes it. */
#ifndef RINGFENCE_FENCE_INTERNAL_H
#define RINGFENCE_FENCE_INTERNAL_H

#include "fence.h"
#include "interfaces.h"
#include "pins.h"
#include "program.h"

/* Of maps that hold no prefixes yet (fence_memory.c). */
void rf_memory_of(const int map_fd[RF_MAP_COUNT], struct rf_memory *memory);

/* ---- the lock (fence_lock.c) ---- */

#define RF_LOCK_SECONDS 30

/* How long a command waits for another one: that, or what the environment says. */
unsigned int rf_lock_seconds(void);

/* ---- fences (fence.c) ---- */

#define RF_LEASES_LEAST (2 * RF_LEASE_WAYS) /* of a CPU */

/*
 * Maps a map of values of `value_size` into `fence->memory`, until the fence is closed. Returns how
 * many there are, or a negative errno.
 */
int64_t rf_map_share(struct rf_fence *fence, enum rf_map map, size_t value_size, int protection,
		     struct rf_error *error);

/*
 * Brings the copy up to date that stands for shared memory where a fence may only be read. One that
 * is made while its map changes is as good as any: rules are read again where they were switched,
 * and what is pending in a lease may be missed, or told of the one before.
 */
void rf_map_refresh(const struct rf_fence *fence, enum rf_map map);

/* Maps the maps whose descriptors it has into memory, as far as they are shared. */
int rf_fence_share(struct rf_fence *fence, struct rf_error *error);

/* Are the maps of the kind and the sizes, and then what says where things are within them? */
int rf_fence_check_maps(const struct rf_fence *fence, struct rf_error *error);
int rf_fence_check_config(const struct rf_fence *fence, struct rf_error *error);

/* The directory of a fence that has pins; "": it has none. */
struct rf_pin_path rf_fence_pins(const struct rf_fence *fence);
/* Makes a fence of an open program's maps, which it takes over. */
int rf_fence_adopt(struct rf_fence *fence, struct rf_program *program, struct rf_error *error);

/* ---- clock and rules (fence_config.c, fence_rules.c) ---- */

/* Both clocks of the data path, read by a program that is loaded for that, once in a process. */
int rf_clock_read(struct rf_clock_reading *reading);
/* The start of a jiffy, and the length of one. */
int rf_clock_measure(struct rf_clock_reading *base, uint32_t *tick_ns, struct rf_error *error);
/* The tries of a bank, IPv4 first: their file descriptors. -1: there are no such prefixes. */
struct rf_tries {
	int fd[RF_FAMILIES];
	uint32_t id[RF_FAMILIES]; /* 0: none */
};

#define RF_TRIES_NONE ((struct rf_tries){.fd = {-1, -1}})

/* What a trie holds, sorted by prefix. */
struct rf_trie_entry {
	struct rf_prefix prefix;
	struct rf_prefix_value value;
};

struct rf_trie_content {
	struct rf_trie_entry *entry;
	size_t count;
};

/* Those that are at `bank` now. Close them in any case. */
int rf_tries_open(const struct rf_fence *fence, int bank, struct rf_tries *tries,
		  struct rf_error *error);
void rf_tries_close(struct rf_tries *tries);
/* Puts them at `bank`, where no program may look any more. */
int rf_tries_put(const struct rf_fence *fence, int bank, const struct rf_tries *tries,
		 struct rf_error *error);
/* Pins the tries of both banks, in the group's directory as well. Takes CAP_SYS_ADMIN. */
struct rf_pin_path;
int rf_tries_pin(const int map_fd[RF_MAP_COUNT], const struct rf_pin_path *directory,
		 struct rf_error *error);
/* What one says of an address; all 0 where that lies in no prefix. */
int rf_trie_find(int fd, int family, const __be32 word[4], struct rf_prefix_value *value);
/* The content of one; nothing where `fd` is -1. The caller frees `entry`, in any case. */
int rf_trie_read(int fd, int family, struct rf_trie_content *content, struct rf_error *error);
/* A new one that holds `count` of `listed`, which are all of that family, and their values. */
int rf_trie_make(int family, const struct rf_listed *listed, const struct rf_prefix_value *value,
		 size_t count, const struct rf_progress *progress, struct rf_error *error);

/* ---- newcomers (fence_newcomers.c) ---- */

/*
 * Completes the newcomers of `rules`, and prepares what their guard and their prefixes are charged
 * to, for when `rules` are in force instead of `present`, which do not notice.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *rules,
			  const struct rf_bank *present);
/*
 * Which limits make a source known: those of `rules`, noted before they are in force. Then what was
 * before ages, but for `fallback`, which may be in force again (NULL: none).
 */
int rf_newcomers_note_kin(const struct rf_fence *fence, const struct rf_bank *rules,
			  struct rf_error *error);
void rf_newcomers_age_kin(const struct rf_fence *fence, const struct rf_bank *rules,
			  const struct rf_bank *fallback);

/* ---- bans (fence_bans.c) ---- */

/* How long a CPU may go on as before when a ban begins or ends, by `rules`. */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *rules);
/* Makes room where bans are of limits that are no more, unless rules before may come back. */
void rf_bans_reclaim(const struct rf_fence *fence);

/* ---- loading this build's program (fence_load.c) ---- */

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
/*
 * Notes programs as those of a fence, before they are attached. Those that are `attached` stay
 * known, and of others, which may be so in another network namespace, as many as there is room for.
 */
void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached);
void rf_unload(struct rf_loaded *loaded);

/* This build, not loaded yet, with the maps of a fence; NULL and errno. The caller closes it. */
struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT]);

/* How many leases `attach` asks for, for all CPUs together: whole sets, a power of two for each. */
uint32_t rf_leases_wanted(const struct rf_attach *attach);
/* The entry that the MTU asks for. */
enum rf_entry rf_entry_for(const char *name, enum rf_mode mode);

/* Is a program with that tag one of this build's? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

/* ---- attaching (fence_attach.c, fence_upgrade.c, fence_detach.c) ---- */

/*
 * Swaps the program for that of `loaded` on all interfaces of the fence. Returns how many were. The
 * pins follow, also after an upgrade that was killed before it came to them.
 */
int rf_fence_upgrade(const struct rf_fence *fence, struct rf_loaded *loaded,
		     struct rf_error *error);
/* As rf_fence_detach, of what is attached, with the lock held. */
int rf_interface_detach(const char *dev, struct rf_error *error);

/* ---- adopting (fence_adopt.c) ---- */

/* An error where a fence that is not pinned, or not by this user, has the name for a new one. */
int rf_adopt_check_name(const char *name, struct rf_error *error);

/* ---- chains (fence_chain.c) ---- */

/* Attaches this build to an interface that has no program, or a chain. */
int rf_chain_attach(const struct rf_interface *interface, enum rf_mode mode,
		    const int map_fd[RF_MAP_COUNT], bool *frags, struct rf_error *error);
/* Leaves one component of the fence of `old`, of this build. */
int rf_chain_upgrade(const struct rf_interface *interface, const struct rf_program *old,
		     const struct rf_loaded *loaded, struct rf_error *error);
/* Takes all components of that fence off; the others stay. */
int rf_chain_detach(const struct rf_interface *interface, uint32_t config_id,
		    struct rf_error *error);

/* ---- programs of others (fence_foreign.c) ---- */

/* May the request have the interface, where a program of others is? An error that says how, else.
 */
int rf_foreign_check(const struct rf_interface *interface, const struct rf_attach *attach,
		     struct rf_error *error);
/* Takes it off, and says in `replaced` what it was. Its program, to be put back; close it. */
int rf_foreign_take_off(const struct rf_interface *interface, char replaced[RF_REPLACED_SIZE],
			struct rf_error *error);
int rf_foreign_put_back(const struct rf_interface *interface, int program_fd);
/* It is not put back any more: removes what libxdp has pinned of it. */
void rf_foreign_forget(const struct rf_interface *interface);

/* ---- leases (fence_leases.c) ---- */

/* What is pending in a lease for a window. */
struct rf_pending_row {
	uint64_t source; /* masked as the limit has it, as in rf_lease */
	uint32_t packets;
	uint8_t slot;
	uint8_t is_ipv6;
	uint8_t reason; /* RF_UNDER_LIMIT, RF_SHADOW_OVER, or one of a drop */
};

/* Sorted by source, slot and family. `row` is the caller's to free. */
struct rf_pending {
	struct rf_pending_row *row;
	size_t count;
	size_t capacity;
};

/* Add what is pending to sums that were read before. */
void rf_leases_add_counters(const struct rf_fence *fence, struct rf_counters *sum);
void rf_leases_add_limit(const struct rf_fence *fence, const struct rf_bank *rules, int slot,
			 struct rf_limit_counters *sum);
int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *rules,
		       struct rf_pending *pending);
void rf_leases_add_source(const struct rf_pending *pending, const struct rf_address *source,
			  const struct rf_bank *rules, int slot, struct rf_source *state);
/* A source as rf_lease has it. */
void rf_address_pack(const struct rf_address *address, __u64 source[2]);

/* ---- pins for `cat` (fence_show.c) ---- */

/* Pins iterators over these maps; an error where this kernel, or our privileges, have none. */
int rf_show_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);

/* ---- the group's pins (fence_share.c) ---- */

/*
 * Makes the group's directory of a fence, whose own is `directory`: its maps and tries, and marks
 * of its links. `*refusal` says why there is none, where that is no error; NULL: there is one.
 */
int rf_share_fence(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		   const char **refusal, struct rf_error *error);
/* The same where nothing depends on it: who cannot read the fence then is told of 'adopt'. */
void rf_share_try(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);
/* An interface that is attached by a link, or is not any more; what fails is nobody's loss. */
void rf_share_link(const struct rf_pin_path *directory, const char *link);

#endif /* RINGFENCE_FENCE_INTERNAL_H */
