/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the changes of rules by which a host would lock itself out: a deny, or a limit of rate 0,
 * that covers an own network, unless the allow list protects that network for as long; and the
 * removal of such protection. Pure.
 */
#ifndef RINGFENCE_LOCKOUT_H
#define RINGFENCE_LOCKOUT_H

#include "base/own_networks.h"
#include "rules/list_change.h"

/* ---- lists ---- */

/* A change, or a release, that drops an own network. */
struct rf_lockout_list {
	bool is_release;
	size_t number; /* among the changes or the releases */
	const struct rf_own_network *network;
};

struct rf_lockout_lists {
	struct rf_lockout_list *found; /* changes in their order, then releases */
	size_t count, capacity;
};

/*
 * Can any of these changes cut off a gateway, by the subnets in `own`? If not, the gateways need
 * not be known.
 */
bool rf_lockout_needs_gateways(const struct rf_own_networks *own,
			       const struct rf_list_changes *changes);
/* Can any of these changes cut off an own network? If not, the rules need not be read. */
bool rf_lockout_concerns(const struct rf_own_networks *own, const struct rf_list_changes *changes);
/*
 * Finds the changes without `force` that cut off an own network. Makes all changes in `ruleset`,
 * which has the rules before them and numbers the owners alike.
 */
int rf_lockout_find(const struct rf_own_networks *own, const struct rf_list_changes *changes,
		    struct rf_ruleset *ruleset, struct rf_lockout_lists *lockout,
		    struct rf_error *error);
/* The action for a change that was found, and the line of a file that has it; 0: none has. */
enum rf_on_own rf_lockout_action(const struct rf_list_changes *changes,
				 const struct rf_lockout_list *found);
size_t rf_lockout_line(const struct rf_list_changes *changes, const struct rf_lockout_list *found);
/* Marks it for rf_list_changes_leave_out(). */
void rf_lockout_mark(struct rf_list_changes *changes, const struct rf_lockout_list *found);
int rf_lockout_fail(const struct rf_list_changes *changes, const struct rf_lockout_list *found,
		    struct rf_error *error);
void rf_lockout_free(struct rf_lockout_lists *lockout);

/* The first own network that the deny list drops; NULL: none. */
const struct rf_own_network *rf_lockout_denied(const struct rf_own_networks *own,
					       const struct rf_ruleset *ruleset);

/* ---- limits ---- */

/* Is one of these limits of rate 0? If not, the gateways need not be known. */
bool rf_lockout_has_rate0(const struct rf_ruleset *ruleset, uint32_t slots);

struct rf_lockout_limit {
	int slot; /* -1: none */
	const struct rf_own_network *network;
};

/*
 * The first limit among `slots`, enforced and of rate 0, that drops an own network; of the SSH
 * connection only where its protocol and ports match.
 */
struct rf_lockout_limit rf_lockout_by_limit(const struct rf_own_networks *own,
					    const struct rf_ruleset *ruleset, uint32_t slots);
/* The first limit among `slots`, enforced, of any rate, that applies to the SSH connection. */
struct rf_lockout_limit rf_lockout_warning(const struct rf_own_networks *own,
					   const struct rf_ruleset *ruleset, uint32_t slots);
int rf_lockout_fail_limit(const struct rf_ruleset *ruleset, const struct rf_lockout_limit *found,
			  struct rf_error *error);

#endif /* RINGFENCE_LOCKOUT_H */
