/* SPDX-License-Identifier: GPL-2.0 */
/* The pins of fences in bpffs. */
#ifndef RINGFENCE_PINS_H
#define RINGFENCE_PINS_H

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/names.h"

struct rf_program;

#define RF_PIN_PATH_SIZE 160
#define RF_FAMILIES 2 /* of addresses: IPv4, IPv6 */

/*
 * A fence attached by `ringfence attach` is pinned in a directory of its own: `xdp` and, where the
 * kernel has it, `frags` (the programs), the maps by their names, the tries by those and the bank,
 * and a link for each interface. Links are called after the interface's index and its network
 * namespace, since names change and are not unique; `link_3_4026531840`, say.
 *
 * RF_PIN_ROOT is root's. A user who may not search it, and who owns RF_SHARE_ROOT, makes fences
 * there.
 */
struct rf_pin_path {
	char text[RF_PIN_PATH_SIZE];
};

/* The directory in which a fence of that name is pinned, and an entry of a directory. */
struct rf_pin_path rf_pins_directory(const char *fence);
struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry);
/* The links in a directory, or the marks of them; to be freed by globfree(). */
void rf_pins_glob_links(const struct rf_pin_path *directory, glob_t *paths);
struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory, unsigned int index);
void rf_pins_name_link(unsigned int index, char name[64]);
/* The directory of the same fence that the group may read; "" where `directory` is that. */
struct rf_pin_path rf_pins_shared(const struct rf_pin_path *directory);

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error);
/* Pins `fd` as `entry`, in the place of what is pinned there, atomically. */
int rf_pins_put(const struct rf_pin_path *directory, const char *entry, int fd,
		struct rf_error *error);
int rf_pins_put_maps(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		     struct rf_error *error);
int rf_pins_put_programs(const struct rf_pin_path *directory, const int fd[RF_ENTRY_COUNT],
			 struct rf_error *error);
/* The trie of a family and a bank, or none where `fd` is -1; in the group's directory as well. */
int rf_pins_put_trie(const struct rf_pin_path *directory, int family, int bank, int fd,
		     struct rf_error *error);
/* For reading. -ESTALE where what is pinned is not the trie of that id. */
int rf_pins_open_trie(const struct rf_pin_path *directory, int family, int bank, uint32_t id);

/*
 * An error unless the directory is this user's. Its owner can change it at any moment, so root does
 * not work in the directories of other users.
 */
int rf_pins_check_owner(const struct rf_pin_path *directory, struct rf_error *error);
/* Lets the group read a pin, or search a directory, in RF_SHARE_ROOT, whose group it has. */
int rf_pins_give_group(const char *path, bool is_directory);

/* Is bpffs mounted there? */
bool rf_pins_is_bpffs(const char *path);
/* Is this a mount namespace that ends with one of our ancestors, as `ip netns exec` makes one? */
bool rf_pins_mounts_are_private(void);

/* The temporary name of a pin that is then renamed to `entry`. */
struct rf_pin_path rf_pins_fresh(const struct rf_pin_path *directory, const char *entry);
void rf_pins_name_trie(int family, int bank, char name[32]);

/* ---- removing pins (pins_remove.c) ---- */

/* An error where something else has the name of a pin. */
int rf_pins_check(const struct rf_pin_path *directory, struct rf_error *error);
/*
 * Removes our pins from the directory and from the group's, and removes directories that are empty
 * then. Programs that are not attached by a pinned link stay attached.
 */
void rf_pins_remove(const struct rf_pin_path *directory);

/* ---- what is pinned (pins_find.c) ---- */

/* The tag of the pinned program, or -ENOENT. */
int rf_pins_read_tag(const struct rf_pin_path *directory, uint8_t tag[RF_PROGRAM_TAG_SIZE]);
/* The pinned program of that entry, if it has that tag; -ENOENT otherwise. */
int rf_pins_open_entry(const struct rf_pin_path *directory, enum rf_entry entry,
		       const uint8_t tag[RF_PROGRAM_TAG_SIZE]);
/* Finds the program of that id among the pins. -ENOENT: none of ours has it. */
int rf_pins_open_program(uint32_t id, struct rf_program *program);
/* Does it hold a link, but for `except`, whose device still exists, wherever that is? */
bool rf_pins_have_live_link(const struct rf_pin_path *directory, const struct rf_pin_path *except);

/* The link of an interface, whatever fence it is in: its file descriptor, and the path. */
int rf_pins_open_link(unsigned int index, uint32_t program_id, struct rf_pin_path *path);
/* Is there one? Users who may not open it are told as well. */
bool rf_pins_have_link(unsigned int index, uint32_t program_id);
/* The directory that a pin is in. */
struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path);
/* The id of the configuration that is pinned there; 0: none is, or none that we may open. */
uint32_t rf_pins_config_id(const struct rf_pin_path *directory);
/* The directory of the fence whose configuration is that map; -ENOENT without one. */
int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory);

#endif /* RINGFENCE_PINS_H */
