/* SPDX-License-Identifier: GPL-2.0 */
/* The pins of fences in bpffs. */
#ifndef RINGFENCE_PINS_H
#define RINGFENCE_PINS_H

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/names.h"

struct bpf_prog_info;
struct rf_pinned;
struct rf_program;

#define RF_PIN_PATH_SIZE 160
#define RF_FAMILIES 2 /* of addresses: IPv4, IPv6 */

/*
 * `ringfence attach` pins a fence in a separate directory. The pins are:
 *
 *   - the programs: `xdp` and, if the kernel has it, `frags`;
 *   - the maps, by their names;
 *   - for a fence with shares, the names in rf_share_pins;
 *   - the tries, by the name of their map and the bank;
 *   - a link for each interface, by the interface's index and its network namespace, such as
 *     `link_3_4026531840`. Names of interfaces change and are not unique.
 *
 * RF_PIN_ROOT belongs to root. A user without search permission for bpffs who owns RF_SHARE_ROOT
 * creates fences in RF_SHARE_ROOT.
 */
struct rf_pin_path {
	char text[RF_PIN_PATH_SIZE];
};

/* The path of the directory for a fence of that name, and of an entry in a directory. */
struct rf_pin_path rf_pins_directory(const char *fence);
struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry);
/*
 * Lists the links in a directory; in the group's directory, the symbolic links that mark them. Free
 * the list with globfree().
 */
void rf_pins_glob_links(const struct rf_pin_path *directory, glob_t *paths);
struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory, unsigned int index);
void rf_pins_name_link(unsigned int index, char name[64]);
/* The network namespace of this process, by its inode; 0: not known. */
uint32_t rf_net_namespace(void);
/*
 * The directory of the same fence that the group may read. "": `directory` is that one, or
 * RF_SHARE_ROOT does not belong to this user.
 */
struct rf_pin_path rf_pins_shared(const struct rf_pin_path *directory);

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error);
/* Pins `fd` as `entry`, and atomically replaces a previous pin. */
int rf_pins_put(const struct rf_pin_path *directory, const char *entry, int fd,
		struct rf_error *error);
int rf_pins_put_maps(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		     struct rf_error *error);
int rf_pins_put_programs(const struct rf_pin_path *directory, const int fd[RF_ENTRY_COUNT],
			 struct rf_error *error);
/*
 * Pins the trie of a family and a bank, in the group's directory as well. If `fd` is -1, removes
 * the pin.
 */
int rf_pins_put_trie(const struct rf_pin_path *directory, int family, int bank, int fd,
		     struct rf_error *error);
/* Opens a pinned trie for reading. -ESTALE: the trie of that id is not pinned there. */
int rf_pins_open_trie(const struct rf_pin_path *directory, int family, int bank, uint32_t id);

/*
 * An error if the directory belongs to another user. The owner of a directory can change it at any
 * moment, so root does not work in the directories of other users.
 */
int rf_pins_check_owner(const struct rf_pin_path *directory, struct rf_error *error);
/*
 * Lets the group read a pin or search a directory in RF_SHARE_ROOT. Both have RF_SHARE_ROOT's
 * group.
 */
int rf_pins_give_group(const char *path, bool is_directory);

/* Is bpffs mounted at that path? */
bool rf_pins_is_bpffs(const char *path);
/*
 * Is this mount namespace a temporary one, as `ip netns exec` makes it? Then some ancestor of this
 * process has another mount namespace.
 */
bool rf_pins_mounts_are_private(void);

/* ---- removing pins ---- */

/* An error where something that is not ours has the name of one of our pins. */
int rf_pins_check(const struct rf_pin_path *directory, struct rf_error *error);
/*
 * Removes this project's pins from the directory and from the group's directory, and then each
 * directory that is empty. A program that no pinned link holds remains attached.
 */
void rf_pins_remove(const struct rf_pin_path *directory);

/* ---- pinned objects (program.c) ---- */

/*
 * Opens a pinned program, and returns its entry: the plain one, or else the other one, because a
 * fence can have only one of them. -ENOENT: none is pinned.
 */
int rf_pins_open_any_entry(const struct rf_pin_path *directory, struct bpf_prog_info *info);
/* Opens the pinned program of that entry. -ENOENT: none is pinned, or its tag differs. */
int rf_pins_open_entry(const struct rf_pin_path *directory, enum rf_entry entry,
		       const uint8_t tag[RF_PROGRAM_TAG_SIZE]);
/*
 * Reads from a pinned configuration, of that id, which programs use it. -ENOENT: it is not pinned,
 * or not readable.
 */
int rf_pins_read_pinned(uint32_t config_id, struct rf_pinned *pinned);
/* Is it one of the fence's programs? */
bool rf_pinned_lists(const struct rf_pinned *pinned, uint32_t program_id);
/*
 * Does the directory have a link, other than `except`, whose device still exists in any network
 * namespace? `except` can be NULL.
 */
bool rf_pins_have_live_link(const struct rf_pin_path *directory, const struct rf_pin_path *except);

/*
 * Opens the pinned link of an interface, of any fence. Returns its file descriptor or -ENOENT, and
 * sets `path`.
 */
int rf_pins_open_link(unsigned int index, uint32_t program_id, struct rf_pin_path *path);
/*
 * Does that interface have a pinned link? Also works for users without permission to open the link.
 */
bool rf_pins_have_link(unsigned int index, uint32_t program_id);
/* The directory that a pin is in. */
struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path);
/* The id of the pinned configuration; 0: none is pinned, or no permission to open it. */
uint32_t rf_pins_config_id(const struct rf_pin_path *directory);
/* Finds the directory of the fence with that configuration map. -ENOENT if not found. */
int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory);

#endif /* RINGFENCE_PINS_H */
