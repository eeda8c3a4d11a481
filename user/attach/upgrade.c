// SPDX-License-Identifier: GPL-2.0
/* Swapping the program of a fence that is attached, in place. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "base/netlink.h"

static int swap_by_netlink(const struct rf_interface *interface, int old_fd, int new_fd,
			   char words[RF_REFUSAL_SIZE])
{
	const __u32 flags = rf_xdp_flags(interface->mode) | XDP_FLAGS_REPLACE;
	char reason[RF_REASON_SIZE];
	int err = rf_netlink_set_xdp(interface->index, new_fd, flags, old_fd, reason);

	rf_refusal_put(reason, words);
	return err;
}

/*
 * Of a link, the driver's reason cannot be had: bpf_xdp_link_update() hands the driver no buffer
 * for it, and a netlink request for the same interface ends before the driver is asked (EBUSY,
 * "Can't replace active BPF XDP link").
 */
int rf_program_swap(const struct rf_interface *interface, int old_fd, int new_fd,
		    char words[RF_REFUSAL_SIZE])
{
	LIBBPF_OPTS(bpf_link_update_opts, by_link, .flags = BPF_F_REPLACE, .old_prog_fd = old_fd);
	struct rf_pin_path path;
	int link, err;

	*words = '\0';
	if (!interface->by_link)
		return swap_by_netlink(interface, old_fd, new_fd, words);
	link = rf_pins_open_link(interface->index, interface->program_id, &path);
	if (link < 0)
		return link;
	err = bpf_link_update(link, new_fd, &by_link) ? -errno : 0;
	close(link);
	return err;
}

/* Swaps the program of one interface for the same entry of the new build, atomically. */
static int swap_program(const struct rf_interface *interface, const struct rf_program *old,
			const struct rf_loaded *loaded, struct rf_error *error)
{
	const enum rf_entry entry = rf_entry_of(old);
	char words[RF_REFUSAL_SIZE];
	int err = rf_program_check_fd(old, interface->name, error);

	if (err)
		return err;
	if (interface->chain.dispatcher_id)
		return rf_chain_upgrade(interface, old, loaded, error);
	if (loaded->fd[entry] < 0) /* -1 would detach it */
		return rf_error_failed(error, -ENOEXEC,
				       "%s: its program came meanwhile; run the command again",
				       interface->name);
	err = rf_program_swap(interface, old->fd, loaded->fd[entry], words);
	if (err)
		return rf_error_failed(error, err,
				       "%s: cannot upgrade its program: %s%s; the previous program "
				       "stays attached; the driver may refuse its present MTU, "
				       "queues or offloads: 'ringfence doctor %s' checks them",
				       interface->name, strerror(-err), words, interface->name);
	return 0;
}

/* Is the interface's program of this build, and in a chain the only component of its fence? */
static bool is_current(const struct rf_interface *interface, const struct rf_program *program,
		       const struct rf_loaded *loaded)
{
	return rf_loaded_has(loaded, program->tag) &&
	       rf_chain_count_ours(&interface->chain, program->map_id[RF_MAP_CONFIG]) <= 1;
}

/* Swaps the program wherever it is of another build. Returns on how many interfaces. */
static int upgrade_interfaces(const struct rf_fence *fence, const struct rf_loaded *loaded,
			      struct rf_error *error)
{
	int swapped = 0, err = 0;

	for (int i = 0; i < fence->interfaces && !err; i++) {
		struct rf_program program;

		err = rf_program_open(&program, fence->interface[i].program_id, error);
		if (!err && !is_current(&fence->interface[i], &program, loaded)) {
			err = swap_program(&fence->interface[i], &program, loaded, error);
			swapped++;
		}
		rf_program_close(&program);
	}
	return err ? err : swapped;
}

/* Renews the pins of the programs, then the pins for readers, on which nothing depends. */
static int renew_pins(const struct rf_pin_path *directory, const struct rf_fence *fence,
		      const struct rf_loaded *loaded, struct rf_error *error)
{
	int err = rf_pins_put_programs(directory, loaded->fd, error);

	if (!err)
		err = rf_shares_pin(directory, loaded, fence->map_fd, error);
	if (err)
		return err;
	rf_iterators_pin(directory, fence->map_fd);
	rf_group_try_pin(directory, fence->map_fd);
	return 0;
}

/* Of each entry that is pinned, one is loaded: see rf_load_upgrade(). */
static bool pins_are_current(const struct rf_pin_path *directory, const struct rf_loaded *loaded)
{
	bool current = true;

	for (int i = 0; i < RF_ENTRY_COUNT; i++) {
		int fd;

		if (access(rf_pins_entry(directory, rf_entry_pins[i]).text, F_OK))
			continue;
		fd = rf_pins_open_entry(directory, i, loaded->tag[i]);
		current = current && fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return current;
}

/* Does an interface, or a pin, have the program of another build? */
static bool is_needed(const struct rf_fence *fence, const struct rf_pin_path *directory,
		      const struct rf_loaded *loaded)
{
	bool current = pins_are_current(directory, loaded);

	for (int i = 0; i < fence->interfaces && current; i++) {
		struct rf_program program;
		struct rf_error ignored;

		current = !rf_program_open(&program, fence->interface[i].program_id, &ignored) &&
			  is_current(&fence->interface[i], &program, loaded);
		rf_program_close(&program);
	}
	return !current;
}

int rf_fence_upgrade(const struct rf_fence *fence, struct rf_loaded *loaded, struct rf_error *error)
{
	const struct rf_pin_path directory = rf_fence_pins(fence);
	int swapped;

	if (*directory.text && is_needed(fence, &directory, loaded))
		rf_fence_note_programs(fence, loaded->id);
	else if (*directory.text)
		return 0;
	swapped = upgrade_interfaces(fence, loaded, error);
	/* Renew the pins, also those that an upgrade did not reach before it was killed. */
	if (swapped >= 0 && *directory.text) {
		int err = renew_pins(&directory, fence, loaded, error);

		return err ? err : swapped;
	}
	return swapped;
}
