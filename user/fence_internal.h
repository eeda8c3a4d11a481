/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make up `fence`; nobody else includes it. */
#ifndef RINGFENCE_FENCE_INTERNAL_H
#define RINGFENCE_FENCE_INTERNAL_H

#include <glob.h>
#include <limits.h>
#include <linux/bpf.h>

#include "fence.h"

/* Of maps that hold no prefixes yet (fence_memory.c). */
void rf_memory_of(const int map_fd[RF_MAP_COUNT], struct rf_memory *memory);

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

/* ---- the lock (fence_lock.c) ---- */

#define RF_LOCK_SECONDS 30

/* How long a command waits for another one: that, or what the environment says. */
unsigned int rf_lock_seconds(void);

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
/* An error that names the capability which is missing for that (fence_privileges.c). */
int rf_check_may_load(struct rf_error *error);
/* The same of a chain, whose programs libxdp opens by their ids. */
int rf_check_may_chain(const char *name, struct rf_error *error);
/* Has an object that is not loaded yet take these maps for its own. */
int rf_maps_reuse(struct bpf_object *object, const int map_fd[RF_MAP_COUNT]);
/*
 * Notes programs as those of a fence, before they are attached. Those that are `attached` stay
 * known, and of others, which may be so in another network namespace, as many as there is room for.
 */
void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached);
void rf_unload(struct rf_loaded *loaded);

enum rf_entry rf_entry_of(const struct rf_program *program);
/* This build, not loaded yet, with the maps of a fence; NULL and errno. The caller closes it. */
struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT]);

/* Is a program with that tag one of this build's? */
bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

/* ---- attaching (fence_attach.c, fence_upgrade.c, fence_detach.c) ---- */

/* The entry that the MTU asks for. */
enum rf_entry rf_entry_for(const char *name, enum rf_mode mode);
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

/* Looks behind a dispatcher: fills in `chain`, and finds our program in it. */
void rf_chain_find(struct rf_interface *interface);
/* How many components are of that fence: two after an upgrade that was killed. */
int rf_chain_count_ours(const struct rf_chain *chain, uint32_t config_id);

#define RF_CHAIN_TEXT_SIZE (RF_CHAIN_MAX * 68)

/* The names, each in quotes. */
void rf_chain_names(const struct rf_chain *chain, char text[RF_CHAIN_TEXT_SIZE]);

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

/* The id of the bpf_link that holds the interface's program, outside of a chain; 0: none does. */
uint32_t rf_foreign_find_link(const struct rf_interface *interface);
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
 * kernel has it, `frags` (the programs), the maps by their names, the tries by those and the bank,
 * and a link for each interface. Links are called after the interface's index and its network
 * namespace, since names change and are not unique; `link_3_4026531840`, say.
 *
 * Who may not search RF_PIN_ROOT, which is root's, makes fences in RF_SHARE_ROOT, if it is his.
 */
struct rf_pin_path {
	char text[RF_PIN_PATH_SIZE];
};

/* The directory of a fence that has pins; "": it has none. */
struct rf_pin_path rf_fence_pins(const struct rf_fence *fence);
/* The directory of a fence of that name, where we make it, and what is in a directory. */
struct rf_pin_path rf_pins_directory(const char *fence);
struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry);
/* The links in a directory, or the marks of them; to be freed by globfree(). */
void rf_pins_glob_links(const struct rf_pin_path *directory, glob_t *paths);
struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory,
				const struct rf_interface *interface);
void rf_pins_name_link(const struct rf_interface *interface, char name[64]);
/* The directory of the same fence that the group may read; "" where `directory` is that. */
struct rf_pin_path rf_pins_shared(const struct rf_pin_path *directory);

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error);
/* Pins `fd` as `entry`, in the place of what is pinned there, atomically. */
int rf_pins_put(const struct rf_pin_path *directory, const char *entry, int fd,
		struct rf_error *error);
int rf_pins_put_maps(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		     struct rf_error *error);
int rf_pins_put_programs(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
			 struct rf_error *error);
/* The trie of a family and a bank, or none where `fd` is -1; in the group's directory as well. */
int rf_pins_put_trie(const struct rf_pin_path *directory, int family, int bank, int fd,
		     struct rf_error *error);
/* For reading. -ESTALE where what is pinned is not the trie of that id. */
int rf_pins_open_trie(const struct rf_pin_path *directory, int family, int bank, uint32_t id);

/* Is bpffs mounted there? */
bool rf_pins_is_bpffs(const char *path);
/* Is this a mount namespace that ends with one of our ancestors, as `ip netns exec` makes one? */
bool rf_pins_mounts_are_private(void);

/* The place where a pin is made, before it takes that of `entry`. */
struct rf_pin_path rf_pins_fresh(const struct rf_pin_path *directory, const char *entry);
void rf_pins_name_trie(int family, int bank, char name[32]);

/* ---- removing pins (fence_unpin.c) ---- */

/*
 * An error unless the directory is this user's. Whoever owns it may put anything there while it is
 * worked in, so root keeps out of those of others.
 */
int rf_pins_check_owner(const struct rf_pin_path *directory, struct rf_error *error);
/* An error where something that is not ours is in the place of a pin. */
int rf_pins_check(const struct rf_pin_path *directory, struct rf_error *error);
/*
 * Removes the pins that are ours, there and in the group's directory, and those if they are empty
 * then; what is attached by other means stays attached.
 */
void rf_pins_remove(const struct rf_pin_path *directory);

/* ---- what is pinned (fence_pinned.c) ---- */

/* The tag of the pinned program, or -ENOENT. */
int rf_pins_read_tag(const struct rf_pin_path *directory, uint8_t tag[RF_PROGRAM_TAG_SIZE]);
/* The pinned program of that entry, if it is the one that was loaded; -ENOENT otherwise. */
int rf_pins_open_entry(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		       enum rf_entry entry);
/* Finds the program of that id among the pins. -ENOENT: none of ours has it. */
int rf_pins_open_program(uint32_t id, struct rf_program *program);
/* Does it hold a link, but for `except`, whose device still exists, wherever that is? */
bool rf_pins_have_live_link(const struct rf_pin_path *directory, const struct rf_pin_path *except);

/* The link of an interface, whatever fence it is in: its file descriptor, and the path. */
int rf_pins_open_link(const struct rf_interface *interface, struct rf_pin_path *path);
/* Is there one? Also for those who may not open it. */
bool rf_pins_have_link(const struct rf_interface *interface);
/* The directory that a pin is in. */
struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path);
/* The directory of the fence whose configuration is that map; -ENOENT without one. */
int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory);

/* ---- pins for `cat` (fence_show.c) ---- */

/* Pins iterators over these maps; an error where this kernel, or our privileges, have none. */
int rf_show_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);

/* ---- the group's pins (fence_share.c) ---- */

/* What whoever may not open a fence can do about it. */
const char *rf_remedy_to_read(void);
/* Lets the group read a pin, or search a directory, in RF_SHARE_ROOT, whose group it has. */
int rf_share_pin(const char *path, bool is_directory);
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
