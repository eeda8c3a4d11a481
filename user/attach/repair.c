// SPDX-License-Identifier: GPL-2.0
/*
 * Repairing an attached interface in place: its MTU needs the other entry, or its driver has lost
 * the program. The maps stay, and so do rules, windows and lists; the interface is never without a
 * program. A repair that is killed leaves one of the fence's programs attached, and the same
 * command goes on from there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "base/netlink.h"
#include "fence/bypass.h"
#include "kernel/info.h"

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

/* A tun device passes large frames to generic mode by itself. */
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

/* What a repair works with. */
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

	return rf_error_failed(error, err,
			       "%s: its MTU of %u needs the program for frames in several buffers "
			       "(xdp.frags), which the driver refuses: %s%s; the previous program "
			       "stays attached; 'ringfence doctor %s' names the largest MTU that "
			       "works",
			       interface->name, mtu, strerror(-err), words, interface->name);
}

/* The plain entry is only faster: an interface whose driver refuses it keeps the other one. */
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
		err = rf_program_swap(interface, repair->old.fd, repair->loaded->fd[wanted], words);
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
		err = rf_program_swap(&repair->interface, repair->old.fd, other, words);
	if (!err)
		err = rf_program_swap(&between, other, repair->old.fd, words);
	return err;
}

/*
 * The kernel does not tell the driver of a swap to the same program. So the interface gets another
 * program of the fence, and then its own again: the other entry, or, where the driver does not take
 * that (the plain one at a jumbo MTU), the same entry loaded once more.
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
