/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder; no other file includes it. */
#ifndef RINGFENCE_ATTACH_PRIVATE_H
#define RINGFENCE_ATTACH_PRIVATE_H

#include "attach/attach.h"
#include "attach/load.h"
#include "base/netlink.h"
#include "kernel/log.h"

/* ---- upgrade, detach ---- */

/*
 * Swaps the program for the one in `loaded` on all interfaces of the fence. Returns how many were
 * swapped. Then renews the pins, including those that an earlier, killed upgrade did not reach.
 */
int rf_fence_upgrade(const struct rf_fence *fence, struct rf_loaded *loaded,
		     struct rf_error *error);
/* Like rf_fence_detach(), for an attached program only, and with the lock held. */
int rf_interface_detach(const char *dev, struct rf_error *error);

/* ---- refusals ---- */

#define RF_REFUSAL_SIZE (RF_REASON_SIZE + 4)

/* Why did the driver refuse the program? Tries by netlink. Writes " (REASON)" or "". */
void rf_refusal_ask(const struct rf_interface *interface, enum rf_mode mode, int program_fd,
		    char words[RF_REFUSAL_SIZE]);
/* Writes " (REASON)", or "" for "". */
void rf_refusal_put(const char *reason, char words[RF_REFUSAL_SIZE]);
/* The error of an attach by a link that failed with `err`. */
int rf_refusal_fail(const struct rf_interface *interface, enum rf_mode mode, int err,
		    const char *words, struct rf_error *error);

/* ---- how long a request took the link down ---- */

struct rf_carrier {
	unsigned int index;
	bool had_carrier;
	uint32_t changes;
	uint64_t began_ns;
};

void rf_carrier_begin(struct rf_carrier *carrier, unsigned int index);
/* Waits for a link that the request took down, for RF_CARRIER_WAIT_MS at most. */
struct rf_link_down rf_carrier_wait(const struct rf_carrier *carrier);

/* ---- repairs ---- */

/*
 * Loads an entry of a fence that has the program of this build, unless it is loaded. For a pinned
 * fence, uses the pinned program of that entry, so all interfaces have the same program, and pins
 * the entry if it has no pin. -EOPNOTSUPP: the kernel lacks it.
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

/* ---- adopting ---- */

/*
 * An error where the name for a new fence belongs to a fence without pins, or with pins of another
 * user.
 */
int rf_adopt_check_name(const char *name, struct rf_error *error);

/* ---- chains ---- */

/* Attaches this build to an interface without a program, or with a chain. */
int rf_chain_attach(const struct rf_interface *interface, enum rf_mode mode,
		    const int map_fd[RF_MAP_COUNT], bool *frags, struct rf_error *error);
/* Upgrades the fence of `old` in its chain: leaves one component of it, of this build. */
int rf_chain_upgrade(const struct rf_interface *interface, const struct rf_program *old,
		     const struct rf_loaded *loaded, struct rf_error *error);
/* Replaces the fence's component by a new one, which is that entry. Returns a negative errno. */
int rf_chain_renew(const struct rf_interface *interface, const struct rf_program *old,
		   enum rf_entry entry, const struct rf_loaded *loaded);
/* Detaches all components of the fence; foreign ones remain. */
int rf_chain_detach(const struct rf_interface *interface, uint32_t config_id,
		    struct rf_error *error);

/* ---- the group's pins ---- */

/* Makes the group's pins, ignoring failures: users who cannot read the fence are pointed to
 * 'adopt'. */
void rf_group_try_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT]);
/* Marks an interface that is attached by a link, or removes the mark. Ignores failures. */
void rf_group_note_link(const struct rf_pin_path *directory, const char *link);

#endif /* RINGFENCE_ATTACH_PRIVATE_H */
