/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make up `fence`; nobody else includes it. */
#ifndef RINGFENCE_FENCE_INTERNAL_H
#define RINGFENCE_FENCE_INTERNAL_H

#include <limits.h>
#include <linux/bpf.h>

#include "fence.h"

/* Names of the maps and of their pins. Indexed by enum rf_map. */
extern const char *const rf_map_names[RF_MAP_COUNT];
/* The same in the object, where the configuration is called by its section. */
const char *rf_map_in_object(enum rf_map map);

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

#define RF_PROGRAM_NONE ((struct rf_program){.fd = -1, .map_fd = {[0 ... RF_MAP_COUNT - 1] = -1}})

/* Opens a program by its id and looks whether it is a ringfence. Close it in any case. */
int rf_program_open(struct rf_program *program, uint32_t id, struct rf_error *error);
void rf_program_close(struct rf_program *program);
/* An error unless the maps of our program are those that this build knows. */
int rf_program_check_abi(const struct rf_program *program, const char *name,
			 struct rf_error *error);

/* ---- interfaces (fence_interfaces.c) ---- */

/* An interface, under the name that the kernel has for it, and its program; program_id 0: none. */
int rf_interface_query(const char *name, struct rf_interface *interface, struct rf_error *error);

/*
 * All interfaces with an XDP program, whoever's. Returns how many; the caller frees `*interfaces`,
 * in any case.
 */
int rf_interfaces_scan(struct rf_interface **interfaces, struct rf_error *error);

/* Those whose program uses `map_id` as its configuration. */
int rf_interfaces_of(uint32_t map_id, struct rf_interface **interfaces, struct rf_error *error);

/* ---- fences (fence.c) ---- */

/* The interface and its program, which is ours. Close the program in any case. */
int rf_interface_open(const char *dev, struct rf_interface *interface, struct rf_program *program,
		      struct rf_error *error);

/*
 * Maps a map of values of `value_size` into `fence->memory`, until the fence is closed. Returns how
 * many there are, or a negative errno.
 */
int64_t rf_map_share(struct rf_fence *fence, enum rf_map map, size_t value_size, int protection,
		     struct rf_error *error);

/* Maps the maps whose descriptors it has into memory, as far as they are shared. */
int rf_fence_share(struct rf_fence *fence, struct rf_error *error);

/* Makes a fence of an open program's maps, which it takes over. */
int rf_fence_adopt(struct rf_fence *fence, struct rf_program *program, struct rf_error *error);

/* ---- clock and rules (fence_config.c, fence_rules.c) ---- */

/* Both clocks of the data path, read by a program that is loaded for that, once in a process. */
int rf_clock_read(struct rf_clock_reading *reading);
/* The start of a jiffy, and the length of one. */
int rf_clock_measure(struct rf_clock_reading *base, uint32_t *tick_ns, struct rf_error *error);
/*
 * Waits until every program run that began before is over. The kernel does so after an update of a
 * map of maps, for this very purpose: the caller may then reuse what the old value led to.
 */
int rf_wait_for_programs(struct rf_error *error);

/* The tries of a bank, IPv4 first: their file descriptors. -1: there are no such prefixes. */
#define RF_FAMILIES 2

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
 * to, for when `rules` are in force instead of `present`.
 */
void rf_newcomers_prepare(const struct rf_fence *fence, struct rf_bank *rules,
			  const struct rf_bank *present);
/* Once no program looks at `present` any more. */
void rf_newcomers_settle(const struct rf_fence *fence, const struct rf_bank *rules,
			 const struct rf_bank *present);
/* Says whether `presence` may be asked, and what follows from that. */
void rf_newcomers_set_filter(struct rf_bank *rules, bool filter);
/* Marks each source that has a window as known, so that the filter may be asked. */
int rf_fence_fill_presence(const struct rf_fence *fence, struct rf_error *error);

/* ---- loading this build's program (fence_load.c) ---- */

enum rf_entry {
	RF_PLAIN, /* frames in one buffer */
	RF_FRAGS, /* frames in several, for a jumbo MTU; Linux 5.18 */
	RF_ENTRY_COUNT,
};

struct ringfence_bpf;

struct rf_loaded {
	struct ringfence_bpf *object;
	int fd[RF_ENTRY_COUNT]; /* -1 where the kernel lacks it */
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
void rf_unload(struct rf_loaded *loaded);

/* Is a program with that tag one of this build's? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

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

/* How many leases `attach` asks for, for all CPUs together: whole sets, a power of two for each. */
uint32_t rf_leases_wanted(const struct rf_attach *attach);
/* Maps them into memory, and says how many there are. */
int rf_leases_map(struct rf_fence *fence, struct rf_error *error);
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

/* ---- pins (fence_pins.c) ---- */

/*
 * A fence attached by `ringfence attach` is pinned in a directory of its own: `xdp` and, where the
 * kernel has it, `frags` (the programs), the maps by their names, and a link for each interface.
 * Links are called after the interface's index and its network namespace, since names change and
 * are not unique; `link_3_4026531840`, say.
 */
struct rf_pin_path {
	char text[PATH_MAX];
};

/* The directory of a fence of that name, and what is in it. */
struct rf_pin_path rf_pins_directory(const char *fence);
struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry);
struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory,
				const struct rf_interface *interface);

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error);
int rf_pins_put_maps(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		     struct rf_error *error);
/* Replaces what is pinned there, each atomically. */
int rf_pins_put_programs(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
			 struct rf_error *error);
/* The tag of the pinned program, or -ENOENT. */
int rf_pins_read_tag(const struct rf_pin_path *directory, uint8_t tag[RF_PROGRAM_TAG_SIZE]);

/* Removes a directory of pins, with all in it; what is attached by other means stays attached. */
void rf_pins_remove(const struct rf_pin_path *directory);
/* Does it hold a link, but for `except`, whose device still exists, wherever that is? */
bool rf_pins_have_live_link(const struct rf_pin_path *directory, const struct rf_pin_path *except);

/* The link of an interface, whatever fence it is in: its file descriptor, and the path. */
int rf_pins_open_link(const struct rf_interface *interface, struct rf_pin_path *path);
/* The directory that a pin is in. */
struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path);
/* The directory of the fence whose configuration is that map; -ENOENT without one. */
int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory);

#endif /* RINGFENCE_FENCE_INTERNAL_H */
