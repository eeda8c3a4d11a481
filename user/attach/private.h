/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that attach. Nobody else includes it. */
#ifndef RINGFENCE_ATTACH_PRIVATE_H
#define RINGFENCE_ATTACH_PRIVATE_H

#include "attach/attach.h"
#include "attach/load.h"

/* ---- upgrade, detach ---- */

/*
 * Swaps the program for that of `loaded` on all interfaces of the fence. Returns how many were. The
 * pins follow, also after an upgrade that was killed before it came to them.
 */
int rf_fence_upgrade(const struct rf_fence *fence, struct rf_loaded *loaded,
		     struct rf_error *error);
/* As rf_fence_detach, of what is attached, with the lock held. */
int rf_interface_detach(const char *dev, struct rf_error *error);

/* ---- adopting ---- */

/* An error where a fence that is not pinned, or not by this user, has the name for a new one. */
int rf_adopt_check_name(const char *name, struct rf_error *error);

/* ---- chains ---- */

/* Attaches this build to an interface that has no program, or a chain. */
int rf_chain_attach(const struct rf_interface *interface, enum rf_mode mode,
		    const int map_fd[RF_MAP_COUNT], bool *frags, struct rf_error *error);
/* Leaves one component of the fence of `old`, of this build. */
int rf_chain_upgrade(const struct rf_interface *interface, const struct rf_program *old,
		     const struct rf_loaded *loaded, struct rf_error *error);
/* Takes all components of that fence off; the others stay. */
int rf_chain_detach(const struct rf_interface *interface, uint32_t config_id,
		    struct rf_error *error);

/* ---- programs of others ---- */

/* May the request use an interface with a foreign program? If not, the error says how. */
int rf_foreign_check(const struct rf_interface *interface, const struct rf_attach *attach,
		     struct rf_error *error);
/* Takes it off, and says in `replaced` what it was. Its program, to be put back; close it. */
int rf_foreign_take_off(const struct rf_interface *interface, char replaced[RF_REPLACED_SIZE],
			struct rf_error *error);
int rf_foreign_put_back(const struct rf_interface *interface, int program_fd);
/* It will not be put back: removes the pins that libxdp made of it. */
void rf_foreign_forget(const struct rf_interface *interface);

/* ---- pins for `cat` ---- */

/* Pins iterators over these maps; an error where this kernel, or our privileges, have none. */
int rf_iterators_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);

/* ---- the group's pins ---- */

/*
 * Makes the group's directory of a fence, whose own is `directory`: its maps and tries, and marks
 * of its links. `*refusal` says why there is none, where that is no error; NULL: there is one.
 */
int rf_group_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		 const char **refusal, struct rf_error *error);
/* The same where a failure does not matter: users who cannot read are told of 'adopt'. */
void rf_group_try_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);
/* Marks an interface that a link attaches, or removes the mark. A failure does not matter. */
void rf_group_note_link(const struct rf_pin_path *directory, const char *link);

#endif /* RINGFENCE_ATTACH_PRIVATE_H */
