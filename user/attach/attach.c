// SPDX-License-Identifier: GPL-2.0
/* Attaching. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/build.h"
#include "attach/private.h"
#include "base/hardware.h"
#include "fence/by_interface.h"
#include "kernel/info.h"

static bool is_loaded(const struct rf_loaded *loaded)
{
	return loaded->object[RF_PLAIN] || loaded->object[RF_FRAGS];
}

/*
 * Pins a new fence called `name`, which is on no interface yet. Loads the entry that `interface`
 * needs, unless one is loaded.
 */
static int create_fence(const char *name, const struct rf_pin_path *directory,
			const struct rf_interface *interface, const struct rf_attach *attach,
			struct rf_loaded *loaded, struct rf_error *error)
{
	const enum rf_entry entry = rf_entry_for(interface->name, attach->mode);
	int err = is_loaded(loaded) ? 0 : rf_load_new(loaded, name, attach, entry, error);

	if (err)
		return err;
	err = rf_pins_make_directory(directory, error);
	if (!err)
		err = rf_pins_put_maps(directory, loaded->map_fd, error);
	if (!err)
		err = rf_shares_pin(directory, loaded, loaded->map_fd, error);
	if (!err)
		rf_iterators_pin(directory, loaded->map_fd);
	if (!err)
		err = rf_pins_put_programs(directory, loaded->fd, error);
	if (err)
		rf_pins_remove(directory);
	return err;
}

/* ---- one interface ---- */

/*
 * Attaches one of the two entries: the plain one where a frame fits in one page, the one for
 * several buffers where the MTU is larger. Where the kernel lacks the first choice, or the driver
 * refuses it, tries the other one. Returns the link.
 */
static int create_link(const struct rf_fence *fence, struct rf_loaded *loaded,
		       const struct rf_interface *interface, enum rf_mode mode, bool *frags,
		       struct rf_error *error)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = rf_xdp_flags(mode));
	enum rf_entry first = rf_entry_for(interface->name, mode);
	char words[RF_REFUSAL_SIZE] = "";
	int err = 0, first_err = 0, refused = -1;

	for (int i = 0; i < RF_ENTRY_COUNT && (!err || err == -EOPNOTSUPP); i++) {
		enum rf_entry entry = i ? RF_ENTRY_COUNT - 1 - first : first;
		int fd;

		err = rf_provide_entry(fence, loaded, entry, error);
		if (err)
			continue;
		fd = bpf_link_create(loaded->fd[entry], interface->index, BPF_XDP, &options);
		*frags = entry == RF_FRAGS;
		if (fd >= 0)
			return fd;
		if (!first_err) {
			first_err = -errno;
			refused = loaded->fd[entry];
		}
		if (first_err == -EPERM || first_err == -EBUSY)
			break;
	}
	if (!first_err)
		return err;
	if (first_err != -EPERM)
		rf_refusal_ask(interface, mode, refused, words);
	return rf_refusal_fail(interface, mode, first_err, words, error);
}

/*
 * The kernel attaches a link only to an interface without a program. So the foreign program is
 * taken off first, and is put back if the attach fails. Everything else is ready before, also the
 * entry that is tried if the driver refuses the other: only packets between the two system calls
 * meet neither program.
 */
static int replace_foreign(const struct rf_fence *fence, struct rf_loaded *loaded,
			   const struct rf_interface *interface, enum rf_mode mode,
			   struct rf_attached *attached, struct rf_error *error)
{
	int err = 0, foreign;

	for (int i = 0; i < RF_ENTRY_COUNT && (!err || err == -EOPNOTSUPP); i++)
		err = rf_provide_entry(fence, loaded, i, error);
	if (err && err != -EOPNOTSUPP)
		return err;
	foreign = rf_foreign_take_off(interface, attached->replaced, error);
	if (foreign < 0)
		return foreign;
	attached->foreign = *interface;
	attached->foreign_fd = foreign;
	return create_link(fence, loaded, interface, mode, &attached->frags, error);
}

/* After the request succeeded or failed: forgets the foreign program, or puts it back. */
static void settle_foreign(struct rf_attached *attached, int err, struct rf_error *error)
{
	if (!attached->foreign_fd)
		return;
	if (!err)
		rf_foreign_forget(&attached->foreign);
	else if (rf_foreign_put_back(&attached->foreign, attached->foreign_fd))
		rf_error_failed(error, err,
				"%s: cannot attach, and cannot restore %s; attach it again",
				attached->interface, attached->replaced);
	close(attached->foreign_fd);
	attached->foreign_fd = 0;
}

static int attach_interface(const struct rf_fence *fence, struct rf_loaded *loaded,
			    const struct rf_interface *interface, const struct rf_attach *attach,
			    struct rf_attached *attached, struct rf_error *error)
{
	const struct rf_pin_path directory = rf_fence_pins(fence);
	struct rf_pin_path path = rf_pins_link(&directory, interface->index);
	int err = 0, fd;

	attached->chained = attach->chain;
	if (attach->chain) {
		err = rf_chain_attach(interface, attach->mode, loaded->map_fd, &attached->frags,
				      error);
		if (!err)
			rf_group_try_pin(&directory, loaded->map_fd);
		return err;
	}
	if (interface->program_id)
		fd = replace_foreign(fence, loaded, interface, attach->mode, attached, error);
	else
		fd = create_link(fence, loaded, interface, attach->mode, &attached->frags, error);
	if (fd < 0)
		return fd;
	unlink(path.text); /* left by a device that is gone: its link is dead */
	if (bpf_obj_pin(fd, path.text))
		err = rf_error_failed(error, -errno, "%s: cannot pin the link: %s", path.text,
				      strerror(errno));
	close(fd);
	/* If this fails, users who cannot read the fence are pointed to 'adopt'. */
	if (!err)
		rf_group_try_pin(&directory, loaded->map_fd);
	attached->outcome = RF_ATTACHED;
	return err;
}

/* ---- a request ---- */

/* Without Ethernet headers a fence would limit nothing, and nothing would show it. */
static int check_hardware(const struct rf_interface *interface, struct rf_error *error)
{
	if (rf_has_ethernet(interface->hardware))
		return 0;
	return rf_error_failed(error, -EOPNOTSUPP,
			       "%s: cannot attach: its frames have no Ethernet header (hardware "
			       "type %u: %s), so nothing would be limited; attach to the Ethernet "
			       "interface that carries its traffic",
			       interface->name, interface->hardware,
			       rf_hardware_name(interface->hardware));
}

/* The result of looking for an existing fence. */
enum found {
	FOUND_NOTHING, /* or something that may be replaced: a new fence can be made */
	FOUND_FENCE,
	FOUND_ALIEN, /* a fence that this build cannot use; the error says so */
};

/* What disappears during the search counts as not found. */
static int forgive_gone(int err)
{
	return err == -ENOENT ? 0 : err;
}

/* Opens the program of a pinned fence. */
static int open_pinned_program(const struct rf_pin_path *directory, struct rf_program *program,
			       enum found *found, struct rf_error *error)
{
	struct bpf_prog_info info = {};
	const int fd = rf_pins_open_any_entry(directory, &info);
	int err;

	*found = FOUND_NOTHING;
	if (fd == -EPERM || fd == -EACCES)
		return rf_error_failed(error, fd, "%s: %s; as root run 'ringfence attach'",
				       directory->text, strerror(-fd));
	if (fd < 0 && fd != -ENOENT)
		return rf_error_failed(error, fd, "%s: cannot open its program: %s",
				       directory->text, strerror(-fd));
	if (fd < 0)
		return 0;
	close(fd);
	err = rf_program_open(program, info.id, error);
	if (!err)
		*found = FOUND_FENCE;
	return forgive_gone(err);
}

/* Nothing of a fence of another map ABI goes over to the one that takes its place. */
static void note_lost(const struct rf_program *program, const char *what,
		      struct rf_attached *attached)
{
	char origin[RF_PROGRAM_ORIGIN_SIZE];

	rf_program_origin(program, origin);
	snprintf(attached->replaced, sizeof(attached->replaced), "%s %s", what, origin);
	attached->is_lost = true;
	attached->lost_abi = program->abi;
}

/*
 * Opens a pinned fence. A fence on no interface that is half made, or of another map ABI, counts as
 * not found: nobody can use it.
 */
static int open_pinned(const char *name, const struct rf_pin_path *directory,
		       struct rf_fence *fence, enum found *found, struct rf_attached *attached,
		       struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	const bool live = rf_pins_have_live_link(directory, NULL);
	int err = open_pinned_program(directory, &program, found, error);

	if (!err && *found == FOUND_NOTHING && live)
		err = rf_error_failed(error, -EBUSY,
				      "%s: some pins of an attached fence are missing; detach its "
				      "interfaces first",
				      directory->text);
	if (!err && *found == FOUND_FENCE) {
		err = rf_program_check_abi(&program, name, error);
		fence->is_alien = err;
	}
	if (!err && *found == FOUND_FENCE) {
		snprintf(fence->name, sizeof(fence->name), "%s", name); /* for errors */
		err = rf_fence_from_program(fence, &program, error);
	}
	if (err && fence->is_alien && !live) {
		note_lost(&program, "the pins of a fence", attached);
		rf_fence_close(fence);
		*found = FOUND_NOTHING;
		err = 0;
	}
	rf_program_close(&program);
	return err;
}

/* Opens the fence of an interface. Finds nothing where a new fence may be attached. */
static int open_attached(const struct rf_interface *interface, const struct rf_attach *attach,
			 struct rf_fence *fence, enum found *found, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	bool ours;
	int err;

	*found = FOUND_NOTHING;
	if (!interface->program_id)
		return 0;
	err = rf_program_open(&program, interface->program_id, error);
	ours = program.ours;
	rf_program_close(&program);
	if (err)
		return forgive_gone(err);
	if (!ours)
		return rf_foreign_check(interface, attach, error);
	err = rf_fence_open_on(fence, interface->name, error);
	if (err && fence->is_alien)
		*found = FOUND_ALIEN;
	if (err)
		return forgive_gone(err);
	*found = FOUND_FENCE;
	return rf_fence_check_may_change(fence, interface->name, error);
}

/* Upgrades an interface that has our program, unless the program is already of this build. */
static int renew_interface(const struct rf_interface *interface, const struct rf_attach *attach,
			   struct rf_fence *fence, struct rf_attached *attached,
			   struct rf_error *error)
{
	struct rf_loaded loaded = RF_LOADED_NONE;
	struct rf_carrier carrier;
	int err = rf_check_occupied(interface, attach, fence, error);
	int swapped;

	if (!err)
		err = rf_load_upgrade(&loaded, fence, error);
	if (!err && fence->interfaces > 1) /* `ip` may have attached the others */
		err = rf_fence_count_interfaces(fence, 0, error);
	if (err) {
		rf_unload(&loaded);
		return err;
	}
	rf_carrier_begin(&carrier, interface->index);
	swapped = rf_fence_upgrade(fence, &loaded, error);
	attached->outcome = swapped ? RF_UPGRADED : RF_UNCHANGED;
	attached->mode = interface->mode;
	err = swapped < 0 ? swapped
			  : rf_interface_repair(interface->name, fence, &loaded, attached, error);
	rf_unload(&loaded);
	attached->link_down = rf_carrier_wait(&carrier);
	if (err)
		return err;
	snprintf(attached->fence, sizeof(attached->fence), "%s", fence->name);
	return 0;
}

static void note_memory(const struct rf_loaded *loaded, struct rf_attached *attached)
{
	struct rf_memory memory;

	rf_memory_of(loaded->map_fd, &memory);
	attached->memory = memory.bytes;
}

/* From its second interface on, a fence counts packets by interface. */
static int count_joining(const struct rf_pin_path *directory, struct rf_fence *fence,
			 const struct rf_interface *interface, struct rf_error *error)
{
	if (!fence->interfaces && !rf_pins_have_live_link(directory, NULL) &&
	    !fence->config->by_interface)
		return 0;
	return rf_fence_count_interfaces(fence, interface->index, error);
}

/*
 * Attaches an interface to the fence called `name`, and makes the fence where there is none, of
 * `loaded` if that is loaded already.
 */
static int join_fence(const char *name, const struct rf_interface *interface,
		      const struct rf_attach *attach, struct rf_loaded *loaded,
		      struct rf_attached *attached, struct rf_error *error)
{
	struct rf_pin_path directory = rf_pins_directory(name);
	struct rf_fence fence = RF_FENCE_NONE;
	enum found found = FOUND_NOTHING;
	struct rf_carrier carrier;
	int err = rf_pins_check(&directory, error);
	bool made;

	err = err ? err : open_pinned(name, &directory, &fence, &found, attached, error);
	made = !err && found == FOUND_NOTHING;
	if (made)
		err = rf_adopt_check_name(name, error);
	if (made && !err) {
		rf_pins_remove(&directory);
		err = create_fence(name, &directory, interface, attach, loaded, error);
		if (!err)
			err = open_pinned(name, &directory, &fence, &found, attached, error);
		if (!err && found == FOUND_NOTHING)
			err = rf_error_failed(error, -EAGAIN,
					      "'%s': its pins were removed meanwhile; run the "
					      "command again",
					      name);
		if (err)
			rf_pins_remove(&directory);
	} else if (!err) {
		err = rf_check_joinable(name, &directory, interface, attach, &fence, error);
		rf_unload(loaded);
		if (!err)
			err = rf_load_upgrade(loaded, &fence, error);
		if (!err)
			err = count_joining(&directory, &fence, interface, error);
		if (!err)
			err = rf_fence_upgrade(&fence, loaded, error);
		err = err > 0 ? 0 : err;
	}
	if (!err) {
		rf_carrier_begin(&carrier, interface->index);
		err = attach_interface(&fence, loaded, interface, attach, attached, error);
		attached->link_down = rf_carrier_wait(&carrier);
		if (err && made)
			rf_pins_remove(&directory);
	}
	if (!err && made)
		note_memory(loaded, attached);
	snprintf(attached->fence, sizeof(attached->fence), "%s", name);
	rf_fence_close(&fence);
	return err;
}

/*
 * Takes off a fence of another map ABI, which cannot be upgraded. Loads the new fence first: the
 * old one stays where this build does not load, and the interface is without a fence for a moment
 * only.
 */
static int drop_alien(const char *name, struct rf_interface *interface,
		      const struct rf_attach *attach, struct rf_loaded *loaded,
		      struct rf_attached *attached, struct rf_error *error)
{
	struct rf_interface *others = NULL;
	char origin[RF_PROGRAM_ORIGIN_SIZE];
	struct rf_program program;
	int err = rf_program_open(&program, interface->program_id, error);
	int count = err ? err : rf_interfaces_of(program.map_id[RF_MAP_CONFIG], &others, error);

	free(others);
	err = count < 0 ? count : 0;
	rf_program_origin(&program, origin);
	if (count > 1)
		err = rf_error_failed(error, -EBUSY,
				      "%s: cannot replace its fence %s: it is on %d interfaces; "
				      "first run 'ringfence save' of the version that attached it, "
				      "which keeps its rules, then 'ringfence detach' for each",
				      interface->name, origin, count);
	if (!err)
		err = rf_load_new(loaded, name, attach, rf_entry_for(interface->name, attach->mode),
				  error);
	if (!err)
		err = rf_interface_detach(interface->name, error);
	if (!err) {
		note_lost(&program, "its fence", attached);
		err = rf_interface_query(interface->name, interface, error);
	}
	rf_program_close(&program);
	return forgive_gone(err);
}

/* From now on the interface's packets have to meet the program. Users who cannot write see less. */
static void begin_check(const char *name)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored;
	struct rf_interface interface;

	if (!rf_interface_query(name, &interface, &ignored) &&
	    !rf_fence_open_on(&fence, name, &ignored))
		rf_bypass_start(&fence, &interface);
	rf_fence_close(&fence);
}

static int attach_one(const char *name, const struct rf_attach *attach,
		      struct rf_attached *attached, struct rf_error *error)
{
	struct rf_loaded loaded = RF_LOADED_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_interface interface;
	const char *wanted;
	enum found found;
	int err = rf_interface_query(name, &interface, error);

	if (err)
		return err;
	memcpy(attached->interface, interface.name, sizeof(attached->interface));
	attached->mode = attach->mode;
	wanted = attach->fence ? attach->fence : attached->interface;
	err = open_attached(&interface, attach, &fence, &found, error);
	if (found == FOUND_ALIEN && attach->replace) {
		err = drop_alien(wanted, &interface, attach, &loaded, attached, error);
		found = FOUND_NOTHING;
	}
	if (!err && found == FOUND_FENCE)
		err = renew_interface(&interface, attach, &fence, attached, error);
	else if (!err)
		err = join_fence(wanted, &interface, attach, &loaded, attached, error);
	rf_unload(&loaded);
	rf_fence_close(&fence);
	if (!err && attached->outcome == RF_ATTACHED)
		begin_check(attached->interface);
	return err;
}

int rf_fence_attach(const struct rf_attach *attach, struct rf_attached *attached,
		    struct rf_error *error)
{
	int err = rf_fence_lock(error), tried = 0;

	/* Check all names first: a typing error must not attach and detach the others. */
	for (int i = 0; i < attach->interfaces && !err; i++) {
		struct rf_interface interface;

		err = rf_interface_query(attach->interface[i], &interface, error);
		if (!err)
			err = check_hardware(&interface, error);
	}
	for (int i = 0; i < attach->interfaces && !err; i++) {
		attached[i] = (struct rf_attached){};
		err = attach_one(attach->interface[i], attach, &attached[i], error);
		tried++;
	}
	for (int i = tried - 1; i >= 0; i--) {
		struct rf_error ignored;

		if (err && i < tried - 1 && attached[i].outcome == RF_ATTACHED)
			rf_interface_detach(attached[i].interface, &ignored);
		settle_foreign(&attached[i], err, error);
	}
	return err;
}

static int check_build(const struct rf_interface *interface, struct rf_error *error)
{
	struct rf_build build;

	rf_build_read(&build);
	if (rf_build_is_on(&build, interface) != RF_NO)
		return 0;
	return rf_error_failed(error, -ESTALE,
			       "%s: its program is of another build; run 'ringfence attach %s'",
			       interface->name, interface->name);
}

int rf_fence_repair(const char *name, struct rf_attached *attached, struct rf_error *error)
{
	const struct rf_attach attach = {.leases = RF_LEASES_NOT_GIVEN};
	struct rf_fence fence = RF_FENCE_NONE;
	enum found found = FOUND_NOTHING;
	struct rf_interface interface;
	int err = rf_fence_lock(error);

	*attached = (struct rf_attached){};
	if (!err)
		err = rf_interface_query(name, &interface, error);
	if (!err)
		err = open_attached(&interface, &attach, &fence, &found, error);
	if (!err && found != FOUND_FENCE)
		err = rf_error_failed(error, -ENOENT, "%s: no fence attached", name);
	if (!err)
		err = check_build(&interface, error);
	memcpy(attached->interface, interface.name, sizeof(attached->interface));
	if (!err)
		err = renew_interface(&interface, &attach, &fence, attached, error);
	rf_fence_close(&fence);
	return err;
}
