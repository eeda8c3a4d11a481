// SPDX-License-Identifier: GPL-2.0
/* Does a fence that exists already suit a request to attach? */
#include <errno.h>
#include <string.h>

#include "attach/private.h"

/* The first of several interfaces makes the fence; the others join it while it is on trial. */
static int check_trial(const char *name, const struct rf_attach *attach,
		       const struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);

	if (!attach->confirm_ns ||
	    (standing.state == RF_ON_TRIAL && standing.fallback == RF_FALL_OPEN))
		return 0;
	return rf_error_failed(
		error, -EBUSY,
		"%s: it has a fence already, and only a new fence can be attached on trial; leave "
		"out 'confirm', or use 'ringfence apply FILE confirm TIME'",
		name);
}

int rf_check_occupied(const struct rf_interface *interface, const struct rf_attach *attach,
		      const struct rf_fence *fence, struct rf_error *error)
{
	const char *name = interface->name;

	if (attach->mode_given && interface->mode != attach->mode)
		return rf_error_failed(
			error, -EBUSY,
			"%s: already attached in %s mode; to change it, first run 'ringfence "
			"detach %s'",
			name, rf_mode_name(interface->mode), name);
	if (attach->chain && !interface->chain.dispatcher_id)
		return rf_error_failed(
			error, -EBUSY,
			"%s: already attached, but not in a chain; to attach it in a chain, first "
			"run 'ringfence detach %s', which loses its windows",
			name, name);
	if (attach->fence && strcmp(attach->fence, fence->name) != 0)
		return rf_error_failed(
			error, -EBUSY,
			"%s: already attached, to fence '%s'; first run 'ringfence detach %s'",
			name, fence->name, name);
	if (attach->sources && attach->sources != fence->sources)
		return rf_error_failed(
			error, -EBUSY,
			"%s: its fence has room for %u sources; for %u, first run 'ringfence "
			"detach %s'",
			name, fence->sources, attach->sources, name);
	if (attach->leases != RF_LEASES_NOT_GIVEN && rf_leases_wanted(attach) != fence->leases)
		return rf_error_failed(
			error, -EBUSY,
			"%s: its fence has %u leases for all CPUs, not %u; for these, first run "
			"'ringfence detach %s'",
			name, fence->leases, rf_leases_wanted(attach), name);
	if (attach->fleet && !rf_fence_has_shares(fence))
		return rf_error_failed(
			error, -EBUSY,
			"%s: its fence was attached without 'fleet'; to attach it with, first run "
			"'ringfence detach %s', which loses its windows",
			name, name);
	return check_trial(name, attach, fence, error);
}

int rf_check_joinable(const char *name, const struct rf_pin_path *directory,
		      const struct rf_interface *interface, const struct rf_attach *attach,
		      const struct rf_fence *fence, struct rf_error *error)
{
	/* An interface without a link was attached by `ip`, or is in a chain. */
	if (!attach->fence && (fence->interfaces || rf_pins_have_live_link(directory, NULL)))
		return rf_error_failed(
			error, -EBUSY,
			"%s: fence '%s' is on another interface, renamed or of another network "
			"namespace; say which fence: 'ringfence attach %s fence NAME'",
			interface->name, name, interface->name);
	if (attach->sources && attach->sources != fence->sources)
		return rf_error_failed(
			error, -EBUSY,
			"fence '%s': it has room for %u sources, not %u; leave 'sources' out", name,
			fence->sources, attach->sources);
	if (attach->leases != RF_LEASES_NOT_GIVEN && rf_leases_wanted(attach) != fence->leases)
		return rf_error_failed(
			error, -EBUSY,
			"fence '%s': it has %u leases for all CPUs, not %u; leave 'leases' out",
			name, fence->leases, rf_leases_wanted(attach));
	if (attach->fleet && !rf_fence_has_shares(fence))
		return rf_error_failed(
			error, -EBUSY,
			"fence '%s': it was attached without 'fleet'; leave 'fleet' out", name);
	return check_trial(name, attach, fence, error);
}
