// SPDX-License-Identifier: GPL-2.0
/* Upgrading and repairing attached programs in place: the interface is never without a program. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "base/netlink.h"
#include "fence/bypass.h"
#include "kernel/info.h"

/* ---- upgrading ---- */

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
 * For an interface without a chain, atomically. A negative errno; `words` as for rf_refusal_ask().
 * For a link, the driver's reason is unavailable: bpf_xdp_link_update() passes no buffer for it to
 * the driver, and a netlink request for the same interface fails before it reaches the driver
 * (EBUSY, "Can't replace active BPF XDP link").
 */
static int program_swap(const struct rf_interface *interface, int old_fd, int new_fd,
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
		return rf_error_failed(
			error, -ENOEXEC,
			"%s: its program was attached concurrently; run the command again",
			interface->name);
	err = program_swap(interface, old->fd, loaded->fd[entry], words);
	if (err)
		return rf_error_failed(error, err,
				       "%s: cannot upgrade its program: %s%s; the previous program "
				       "remains attached; the driver may refuse its present MTU, "
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
	/* Renew the pins, including those that an upgrade did not reach before it was killed. */
	if (swapped >= 0 && *directory.text) {
		int err = renew_pins(&directory, fence, loaded, error);

		return err ? err : swapped;
	}
	return swapped;
}

/* ---- repairing ---- */

/*
 * Repairing an attached interface in place: its MTU needs the other entry, or its driver has lost
 * the program. The maps are retained, and so are rules, windows and lists; the interface is never
 * without a program. A repair that is killed leaves one of the fence's programs attached, and the
 * same command continues from there.
 */

/* ---- the pinned programs ---- */

/* In place of one just loaded. A pin of another build is replaced. */
static int take_pinned(const struct rf_fence *fence, const struct rf_pin_path *directory,
		       struct rf_loaded *loaded, enum rf_entry entry, struct rf_error *error)
{
	uint32_t id[RF_ENTRY_COUNT] = {};
	const int pinned = rf_pins_open_entry(directory, entry, loaded->tag[entry]);

	if (pinned >= 0) {
		loaded->fd[entry] = pinned;
		return 0;
	}
	id[entry] = loaded->id[entry];
	rf_fence_note_programs(fence, id);
	return rf_pins_put(directory, rf_entry_pins[entry], loaded->fd[entry], error);
}

int rf_provide_entry(const struct rf_fence *fence, struct rf_loaded *loaded, enum rf_entry entry,
		     struct rf_error *error)
{
	const struct rf_pin_path directory = rf_fence_pins(fence);
	const int err = rf_load_entry(loaded, entry, error);

	if (err || !*directory.text || loaded->fd[entry] != loaded->fresh_fd[entry])
		return err;
	return take_pinned(fence, &directory, loaded, entry, error);
}

/* ---- the entry ---- */

/* A tun device hands large frames to generic mode automatically. */
static bool takes_any_frame(unsigned int index)
{
	struct rf_link_state state;

	return rf_netlink_state(index, &state) || strcmp(state.kind, "tun") == 0;
}

enum rf_answer rf_entry_suits(const struct rf_interface *interface)
{
	struct rf_program program;
	enum rf_answer answer = RF_NOT_KNOWN;
	struct rf_error ignored;

	if (rf_entry_for(interface->name, interface->mode) == RF_PLAIN ||
	    takes_any_frame(interface->index))
		return RF_YES;
	if (!rf_program_open(&program, interface->program_id, &ignored) && program.ours)
		answer = rf_entry_of(&program) == RF_FRAGS ? RF_YES : RF_NO;
	rf_program_close(&program);
	return answer;
}

/* ---- swapping ---- */

/* The parameters of a repair. */
struct repair {
	struct rf_interface interface;
	struct rf_program old;
	const struct rf_fence *fence;
	struct rf_loaded *loaded;
};

static int fail_entry(const struct rf_interface *interface, int err, const char *words,
		      struct rf_error *error)
{
	const unsigned int mtu = rf_netlink_mtu(interface->name);

	return rf_error_failed(
		error, err,
		"%s: its MTU of %u needs the program for frames in several buffers (xdp.frags), "
		"which the driver refuses: %s%s; the previous program remains attached; 'ringfence "
		"doctor %s' names the largest MTU that works",
		interface->name, mtu, strerror(-err), words, interface->name);
}

/* The plain entry is only faster: an interface whose driver refuses it retains the other one. */
static int change_entry(struct repair *repair, enum rf_entry wanted, struct rf_error *error)
{
	const struct rf_interface *interface = &repair->interface;
	char words[RF_REFUSAL_SIZE] = "";
	int err = rf_provide_entry(repair->fence, repair->loaded, wanted, error);

	if (err && wanted == RF_FRAGS && err != -EOPNOTSUPP)
		return err;
	if (!err && interface->chain.dispatcher_id)
		err = rf_chain_renew(interface, &repair->old, wanted, repair->loaded);
	else if (!err)
		err = program_swap(interface, repair->old.fd, repair->loaded->fd[wanted], words);
	if (!err)
		return 1;
	return wanted == RF_FRAGS ? fail_entry(interface, err, words, error) : 0;
}

static int find_id(int fd, uint32_t *id)
{
	struct bpf_prog_info info = {};
	const int err = rf_program_info(fd, &info);

	*id = info.id;
	return err;
}

static int swap_through(const struct repair *repair, int other, char words[RF_REFUSAL_SIZE])
{
	struct rf_interface between = repair->interface;
	int err = find_id(other, &between.program_id);

	if (!err)
		err = program_swap(&repair->interface, repair->old.fd, other, words);
	if (!err)
		err = program_swap(&between, other, repair->old.fd, words);
	return err;
}

/*
 * The kernel does not notify the driver of a swap to the same program. The interface therefore gets
 * a different program of the fence, and then its own again: the other entry, or, if the driver
 * refuses that (the plain one at a jumbo MTU), the same entry loaded once more.
 */
static int swap_twice(const struct repair *repair, char words[RF_REFUSAL_SIZE])
{
	const enum rf_entry entry = rf_entry_of(&repair->old), other = RF_ENTRY_COUNT - 1 - entry;
	struct rf_error ignored;
	int err = rf_provide_entry(repair->fence, repair->loaded, other, &ignored);

	if (!err)
		err = swap_through(repair, repair->loaded->fd[other], words);
	if (err)
		err = swap_through(repair, repair->loaded->fresh_fd[entry], words);
	return err;
}

static int reload_driver(struct repair *repair, struct rf_error *error)
{
	const struct rf_interface *interface = &repair->interface;
	char words[RF_REFUSAL_SIZE] = "";
	int err;

	if (interface->chain.dispatcher_id)
		err = rf_chain_renew(interface, &repair->old, rf_entry_of(&repair->old),
				     repair->loaded);
	else
		err = swap_twice(repair, words);
	if (err)
		return rf_error_failed(
			error, err,
			"%s: its packets do not meet the program, and it cannot be attached again: "
			"%s%s; run 'ringfence save dev %s > FILE', 'ringfence detach %s', "
			"'ringfence "
			"attach %s' and 'ringfence apply FILE', which loses its windows",
			interface->name, strerror(-err), words, interface->name, interface->name,
			interface->name);
	return 1;
}

/* Both at most: a changed entry is a new program to the driver as well. */
static int repair_interface(struct repair *repair, struct rf_attached *attached,
			    struct rf_error *error)
{
	const struct rf_interface *interface = &repair->interface;
	const enum rf_entry entry = rf_entry_of(&repair->old);
	const enum rf_entry wanted = rf_entry_suits(interface) == RF_NO
					     ? RF_FRAGS
					     : rf_entry_for(interface->name, interface->mode);
	int done = wanted == entry || (wanted == RF_FRAGS && takes_any_frame(interface->index))
			   ? 0
			   : change_entry(repair, wanted, error);

	if (done > 0) {
		attached->outcome = RF_CHANGED_ENTRY;
		attached->frags = wanted == RF_FRAGS;
		return done;
	}
	if (!done)
		rf_bypass_look(repair->fence, interface, &attached->bypass);
	if (!done && attached->bypass.met == RF_BYPASSED)
		done = reload_driver(repair, error);
	if (done > 0)
		attached->outcome = RF_REPAIRED;
	return done;
}

int rf_interface_repair(const char *name, const struct rf_fence *fence, struct rf_loaded *loaded,
			struct rf_attached *attached, struct rf_error *error)
{
	struct repair repair = {.fence = fence, .loaded = loaded, .old = RF_PROGRAM_NONE};
	int err = rf_interface_query(name, &repair.interface, error), done;

	if (!err)
		err = rf_program_open(&repair.old, repair.interface.program_id, error);
	if (!err)
		err = rf_program_check_fd(&repair.old, name, error);
	if (!err)
		err = rf_provide_entry(fence, loaded, rf_entry_of(&repair.old), error);
	done = err ? err : repair_interface(&repair, attached, error);
	if (done > 0)
		rf_bypass_start(fence, &repair.interface);
	rf_program_close(&repair.old);
	return done < 0 ? done : 0;
}
