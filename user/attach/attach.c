// SPDX-License-Identifier: GPL-2.0
/* Attaching: the request, the present state of the interface, and the program. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/load.h"
#include "attach/private.h"
#include "base/netlink.h"
#include "fence/by_interface.h"
#include "kernel/info.h"

/* ---- programs of others ---- */

/*
 * Foreign XDP programs: messages name them, and only a request detaches them. The kernel does not
 * detach a program that another process holds by a bpf_link.
 */

/* The program that the kernel has on the interface: in a chain, the dispatcher. */
static uint32_t attached_id(const struct rf_interface *interface)
{
	const uint32_t dispatcher_id = interface->chain.dispatcher_id;

	return dispatcher_id ? dispatcher_id : interface->program_id;
}

/* Describes in words the programs that are in place. */
static int describe(const struct rf_interface *interface, char text[RF_REPLACED_SIZE],
		    struct rf_error *error)
{
	const struct rf_chain *chain = &interface->chain;
	char names[RF_CHAIN_TEXT_SIZE];
	struct rf_program program;
	int err;

	rf_chain_names(chain, names);
	if (chain->count) {
		snprintf(text, RF_REPLACED_SIZE, "libxdp's dispatcher (id %u) with %s",
			 chain->dispatcher_id, names);
		return 0;
	}
	if (chain->dispatcher_id) {
		snprintf(text, RF_REPLACED_SIZE,
			 "libxdp's dispatcher (id %u) whose pins cannot be read",
			 chain->dispatcher_id);
		return 0;
	}
	err = rf_program_open(&program, interface->program_id, error);
	snprintf(text, RF_REPLACED_SIZE, "'%s' (id %u)", program.name, program.id);
	rf_program_close(&program);
	return err;
}

static int fail_held(const struct rf_interface *interface, const char *what, uint32_t link,
		     struct rf_error *error)
{
	return rf_error_failed(
		error, -EBUSY,
		"%s: a foreign XDP program is in place: %s, held by bpf_link %u of another "
		"process; stop that process, or run 'bpftool link detach id %u'",
		interface->name, what, link, link);
}

/* For a chain without a component of ours. Succeeds where the request is to join the chain. */
static int fail_chained(const struct rf_interface *interface, const struct rf_attach *attach,
			const char *what, struct rf_error *error)
{
	const char *name = interface->name;

	if (!interface->chain.count)
		return rf_error_failed(error, -EBUSY,
				       "%s: a foreign XDP program is in place: %s, perhaps because "
				       "they are in another mount namespace; attach from there, or "
				       "'ringfence attach %s replace' detaches it",
				       name, what, name);
	if (attach->chain)
		return 0;
	return rf_error_failed(
		error, -EBUSY,
		"%s: a foreign XDP program is in place: %s; 'ringfence attach %s chain' runs "
		"alongside it, 'ringfence attach %s replace' detaches it",
		name, what, name, name);
}

/*
 * Is the request permitted on an interface with a foreign program? If not, the error explains how.
 */
static int foreign_check(const struct rf_interface *interface, const struct rf_attach *attach,
			 struct rf_error *error)
{
	const uint32_t link = rf_interface_find_link(interface);
	const char *name = interface->name;
	char what[RF_REPLACED_SIZE];
	int err = describe(interface, what, error);

	if (err)
		return err;
	if (link)
		return fail_held(interface, what, link, error);
	if (attach->replace)
		return 0;
	if (interface->chain.dispatcher_id)
		return fail_chained(interface, attach, what, error);
	if (attach->chain)
		return rf_error_failed(error, -EBUSY,
				       "%s: cannot attach in a chain: %s is in place without "
				       "libxdp's dispatcher; load it by 'xdp-loader' instead, or "
				       "'ringfence attach %s replace' detaches it",
				       name, what, name);
	return rf_error_failed(error, -EBUSY,
			       "%s: a foreign XDP program is in place: %s, attached by netlink, as "
			       "'ip' does; 'ringfence attach %s replace' detaches it, 'ringfence "
			       "attach %s chain' runs alongside it once 'xdp-loader' has loaded it",
			       name, what, name, name);
}

/*
 * Takes the foreign program off, and describes it in `replaced`. Returns its file descriptor, which
 * can put the program back; the caller closes it.
 */
static int foreign_take_off(const struct rf_interface *interface, char replaced[RF_REPLACED_SIZE],
			    struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options);
	int err = describe(interface, replaced, error);

	if (err)
		return err;
	options.old_prog_fd = bpf_prog_get_fd_by_id(attached_id(interface));
	if (options.old_prog_fd < 0)
		return rf_error_failed(error, -errno, "%s: cannot replace %s: %s", interface->name,
				       replaced, strerror(errno));
	err = bpf_xdp_detach(interface->index, rf_xdp_flags(interface->mode) | XDP_FLAGS_REPLACE,
			     &options);
	if (!err)
		return options.old_prog_fd;
	close(options.old_prog_fd);
	return rf_error_failed(
		error, err,
		"%s: cannot replace %s: %s; 'ip link show dev %s' shows the present program",
		interface->name, replaced, strerror(-err), interface->name);
}

static int foreign_put_back(const struct rf_interface *interface, int program_fd)
{
	return bpf_xdp_attach(interface->index, program_fd,
			      rf_xdp_flags(interface->mode) | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
}

/* Called when the program will not be put back: removes libxdp's pins of it. */
static void foreign_forget(const struct rf_interface *interface)
{
	char directory[64], pattern[80];
	glob_t pins = {};

	if (!interface->chain.dispatcher_id)
		return;
	/*
	 * Follows libxdp's protocol: its own function would remove pins of other namespaces, too.
	 */
	snprintf(directory, sizeof(directory), "/sys/fs/bpf/xdp/dispatch-%u-%u", interface->index,
		 interface->chain.dispatcher_id);
	snprintf(pattern, sizeof(pattern), "%s/prog*", directory);
	if (glob(pattern, GLOB_NOSORT, NULL, &pins) == 0)
		for (size_t i = 0; i < pins.gl_pathc; i++)
			unlink(pins.gl_pathv[i]);
	globfree(&pins);
	rmdir(directory);
}

/* ---- does a fence that exists already suit the request? ---- */

/* The first of several interfaces creates the fence; the others join it before it is confirmed. */
static int check_confirm(const char *name, const struct rf_attach *attach,
			 const struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);

	if (!attach->confirm_ns ||
	    (standing.state == RF_PENDING && standing.fallback == RF_FALL_OPEN))
		return 0;
	return rf_error_failed(error, -EBUSY,
			       "%s: it has a fence already, and 'confirm' is only for a new fence; "
			       "leave it out, or "
			       "use 'ringfence apply FILE confirm TIME'",
			       name);
}

/* Fails where the request differs from the fence that is already attached. */
static int check_occupied(const struct rf_interface *interface, const struct rf_attach *attach,
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
	return check_confirm(name, attach, fence, error);
}

/* May the interface join the pinned fence, and does the fence suit the request? */
static int check_joinable(const char *name, const struct rf_pin_path *directory,
			  const struct rf_interface *interface, const struct rf_attach *attach,
			  const struct rf_fence *fence, struct rf_error *error)
{
	/* An interface without a link was attached by `ip`, or is in a chain. */
	if (!attach->fence && (fence->interfaces || rf_pins_have_live_link(directory, NULL)))
		return rf_error_failed(
			error, -EBUSY,
			"%s: fence '%s' is on another interface, renamed or of another network "
			"namespace; choose the fence: 'ringfence attach %s fence NAME'",
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
	return check_confirm(name, attach, fence, error);
}

/* ---- attaching ---- */

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
 * Attaches one of the two entries: the plain one if a frame fits in one page, the one for several
 * buffers if the MTU is larger. If the kernel lacks the first choice, or the driver refuses it,
 * tries the other one. Returns the link.
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
	foreign = foreign_take_off(interface, attached->replaced, error);
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
		foreign_forget(&attached->foreign);
	else if (foreign_put_back(&attached->foreign, attached->foreign_fd))
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
	unlink(path.text); /* left by a device that was removed: its link is dead */
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
	FOUND_NOTHING, /* or a program that can be replaced: a new fence can be created */
	FOUND_FENCE,
	FOUND_ALIEN, /* a fence that this build cannot use; the error describes it */
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
	/*
	 * Other errors mean that no ringfence program is there: pins are created again, and name
	 * the obstacle.
	 */
	if (fd == -ENOMEM || fd == -EMFILE || fd == -ENFILE)
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

/* Nothing of a fence of a different map ABI is transferred to its replacement. */
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
 * Opens a pinned fence. An incomplete fence without interfaces, or one of a different map ABI,
 * counts as not found: no build can use it.
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

/* Opens the fence of an interface. Not found if a new fence can be attached. */
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
		return foreign_check(interface, attach, error);
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
	int err = check_occupied(interface, attach, fence, error);
	int swapped;

	if (!err)
		err = rf_load_upgrade(&loaded, fence, error);
	if (!err && fence->interfaces > 1) /* `ip` might have attached the others */
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
	rf_fence_renew_macs(fence);
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
 * Attaches an interface to the fence called `name`, and creates the fence if it does not exist,
 * from `loaded` if that is already loaded.
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
			err = rf_error_failed(
				error, -EAGAIN,
				"'%s': its pins were removed concurrently; run the command again",
				name);
		if (err)
			rf_pins_remove(&directory);
	} else if (!err) {
		err = check_joinable(name, &directory, interface, attach, &fence, error);
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
 * Detaches a fence of a different map ABI, which cannot be upgraded. Loads the new fence first: if
 * this build does not load, the old one remains, and the interface is without a fence only briefly.
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
				      "which preserves its rules, then 'ringfence detach' for each",
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

/*
 * From now on the interface's packets have to meet the program, and users who cannot write see
 * less. Its Ethernet address belongs to the host.
 */
static void note_interface(const char *name)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored;
	struct rf_interface interface;

	if (!rf_interface_query(name, &interface, &ignored) &&
	    !rf_fence_open_on(&fence, name, &ignored)) {
		rf_bypass_start(&fence, &interface);
		rf_fence_renew_macs(&fence);
	}
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
		note_interface(attached->interface);
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
