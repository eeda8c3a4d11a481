/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder; no other file includes it. */
#ifndef RINGFENCE_ATTACH_PRIVATE_H
#define RINGFENCE_ATTACH_PRIVATE_H

#include "attach/attach.h"
#include "attach/load.h"
#include "kernel/log.h"

/* ---- upgrade, detach ---- */

/*
 * Swaps the program for the one in `loaded` on all interfaces of the fence. Returns how many were
 * swapped. Then renews the pins, also those that an earlier upgrade did not reach before it was
 * killed.
 */
int rf_fence_upgrade(const struct rf_fence *fence, struct rf_loaded *loaded,
		     struct rf_error *error);
/* Like rf_fence_detach(), for an attached program only, and with the lock held. */
int rf_interface_detach(const char *dev, struct rf_error *error);

/* ---- refusals ---- */

#define RF_REFUSAL_SIZE (RF_REASON_SIZE + 4)

/* Of an interface in no chain, atomically. A negative errno; `words` as of rf_refusal_ask(). */
int rf_program_swap(const struct rf_interface *interface, int old_fd, int new_fd,
		    char words[RF_REFUSAL_SIZE]);
/* Why did the driver refuse the program? Tries by netlink. Writes " (REASON)" or "". */
void rf_refusal_ask(const struct rf_interface *interface, enum rf_mode mode, int program_fd,
		    char words[RF_REFUSAL_SIZE]);
/* Writes " (REASON)", or "" for "". */
void rf_refusal_put(const char *reason, char words[RF_REFUSAL_SIZE]);
/* The same, for a netlink request of libxdp that has failed since rf_log_forget(). */
void rf_refusal_read(char words[RF_REFUSAL_SIZE]);
/* The error of an attach by a link that failed with `err`. */
int rf_refusal_fail(const struct rf_interface *interface, enum rf_mode mode, int err,
		    const char *words, struct rf_error *error);

/* ---- requests ---- */

/* Fails where the request differs from the fence that is already attached. */
int rf_check_occupied(const struct rf_interface *interface, const struct rf_attach *attach,
		      const struct rf_fence *fence, struct rf_error *error);
/* May the interface join the pinned fence, and does the fence suit the request? */
int rf_check_joinable(const char *name, const struct rf_pin_path *directory,
		      const struct rf_interface *interface, const struct rf_attach *attach,
		      const struct rf_fence *fence, struct rf_error *error);

/* ---- repairs ---- */

/*
 * Loads an entry of a fence that has the program of this build, unless it is loaded. Of a pinned
 * fence, uses the pinned program of that entry, so that all interfaces have the same program, and
 * pins the entry where it has no pin. -EOPNOTSUPP: the kernel lacks it.
 */
int rf_provide_entry(const struct rf_fence *fence, struct rf_loaded *loaded, enum rf_entry entry,
		     struct rf_error *error);
/* Repairs an interface that has the program of this build; `loaded` is that, with its maps. */
int rf_interface_repair(const char *name, const struct rf_fence *fence, struct rf_loaded *loaded,
			struct rf_attached *attached, struct rf_error *error);

/* ---- shares ---- */

/* Pins what only a fence with shares has; nothing of any other. */
int rf_shares_pin(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		  const int map_fd[RF_MAP_COUNT], struct rf_error *error);

/* The same, of an attached fence, where a pin of it is missing. */
int rf_shares_pin_missing(const struct rf_pin_path *directory, const struct rf_fence *fence,
			  const struct rf_program *program, struct rf_error *error);

/* ---- adopting ---- */

/*
 * An error where the name for a new fence belongs to a fence without pins, or with pins of another
 * user.
 */
int rf_adopt_check_name(const char *name, struct rf_error *error);

/* ---- chains ---- */

/* Attaches this build to an interface that has no program, or a chain. */
int rf_chain_attach(const struct rf_interface *interface, enum rf_mode mode,
		    const int map_fd[RF_MAP_COUNT], bool *frags, struct rf_error *error);
/* Upgrades the fence of `old` in its chain: leaves one component of it, of this build. */
int rf_chain_upgrade(const struct rf_interface *interface, const struct rf_program *old,
		     const struct rf_loaded *loaded, struct rf_error *error);
/* Replaces the fence's component by a new one, which is that entry. Returns a negative errno. */
int rf_chain_renew(const struct rf_interface *interface, const struct rf_program *old,
		   enum rf_entry entry, const struct rf_loaded *loaded);
/* Takes all components of the fence off; those of others stay. */
int rf_chain_detach(const struct rf_interface *interface, uint32_t config_id,
		    struct rf_error *error);

/* ---- programs of others ---- */

/* May the request use an interface with a foreign program? If not, the error says how. */
int rf_foreign_check(const struct rf_interface *interface, const struct rf_attach *attach,
		     struct rf_error *error);
/*
 * Takes the foreign program off, and describes it in `replaced`. Returns its file descriptor, which
 * can put the program back; the caller closes it.
 */
int rf_foreign_take_off(const struct rf_interface *interface, char replaced[RF_REPLACED_SIZE],
			struct rf_error *error);
int rf_foreign_put_back(const struct rf_interface *interface, int program_fd);
/* Called when the program will not be put back: removes libxdp's pins of it. */
void rf_foreign_forget(const struct rf_interface *interface);

/* ---- the group's pins ---- */

/*
 * Makes the group's directory of the fence whose own directory is `directory`: pins of its maps and
 * tries, and marks of its links. Where the group can have none, that is no error, and `*refusal`
 * says why; otherwise `*refusal` is NULL.
 */
int rf_group_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		 const char **refusal, struct rf_error *error);
/* The same, ignoring failures: users who cannot read the fence are pointed to 'adopt'. */
void rf_group_try_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);
/* Marks an interface that is attached by a link, or removes the mark. Ignores failures. */
void rf_group_note_link(const struct rf_pin_path *directory, const char *link);

#endif /* RINGFENCE_ATTACH_PRIVATE_H */
