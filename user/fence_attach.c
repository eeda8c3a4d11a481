// SPDX-License-Identifier: GPL-2.0
/* Attaching, upgrading, detaching. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence_internal.h"

#define PLAIN_MTU_MAX 3498 /* above it a frame may not fit one page with its headroom */

static __u32 xdp_flags(enum rf_mode mode)
{
	return mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}

/* Makes the pins of a fence of that name, without any interface yet. */
static int create_fence(const char *name, const struct rf_pin_path *directory,
			const struct rf_attach *attach, struct rf_loaded *loaded,
			struct rf_error *error)
{
	int err = rf_load_new(loaded, name, attach, error);

	if (err)
		return err;
	err = rf_pins_make_directory(directory, error);
	if (!err)
		err = rf_pins_put_maps(directory, loaded, error);
	if (!err)
		err = rf_pins_put_programs(directory, loaded, error);
	if (err)
		rf_pins_remove(directory);
	return err;
}

/* ---- one interface ---- */

static int read_mtu(const char *name)
{
	struct ifreq request = {};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int mtu = 1500;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd >= 0 && !ioctl(fd, SIOCGIFMTU, &request))
		mtu = request.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return mtu;
}

static int fail_attach(const struct rf_interface *interface, enum rf_mode mode, int err, int mtu,
		       struct rf_error *error)
{
	const char *name = interface->name;

	if (err == -EPERM)
		return rf_error_failed(error, err, "%s: cannot attach: %s; run as root", name,
				       strerror(-err));
	if (err == -EBUSY || err == -EEXIST)
		return rf_error_failed(
			error, err,
			"%s: cannot attach: another XDP program came first; 'ip link show dev %s' "
			"names it",
			name, name);
	if (mode == RF_NATIVE && mtu > PLAIN_MTU_MAX)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in native mode: %s; try 'ringfence attach %s mode "
			"generic', or an MTU of %d at the most",
			name, strerror(-err), name, PLAIN_MTU_MAX);
	if (mode == RF_NATIVE)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in native mode: %s; try 'ringfence attach %s mode "
			"generic'",
			name, strerror(-err), name);
	return rf_error_failed(error, err, "%s: cannot attach in generic mode: %s", name,
			       strerror(-err));
}

/*
 * Attaches one of the two entries: the plain one where a frame fits one page, the other one for a
 * jumbo MTU; where the driver refuses the first choice, the second. Returns the link.
 */
static int create_link(const struct rf_loaded *loaded, const struct rf_interface *interface,
		       enum rf_mode mode, bool *frags, struct rf_error *error)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = xdp_flags(mode));
	int mtu = read_mtu(interface->name);
	enum rf_entry first = mode == RF_NATIVE && mtu > PLAIN_MTU_MAX ? RF_FRAGS : RF_PLAIN;
	int first_err = 0;

	for (int i = 0; i < RF_ENTRY_COUNT; i++) {
		enum rf_entry entry = i ? RF_ENTRY_COUNT - 1 - first : first;
		int fd = loaded->fd[entry];

		if (fd < 0)
			continue;
		fd = bpf_link_create(fd, interface->index, BPF_XDP, &options);
		*frags = entry == RF_FRAGS;
		if (fd >= 0)
			return fd;
		if (!first_err)
			first_err = -errno;
		if (first_err == -EPERM || first_err == -EBUSY)
			break;
	}
	return fail_attach(interface, mode, first_err, mtu, error);
}

static int attach_interface(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
			    const struct rf_interface *interface, enum rf_mode mode,
			    struct rf_attached *attached, struct rf_error *error)
{
	struct rf_pin_path path = rf_pins_link(directory, interface);
	int fd = create_link(loaded, interface, mode, &attached->frags, error);
	int err = 0;

	if (fd < 0)
		return fd;
	unlink(path.text); /* of a device that is gone: its link is dead */
	if (bpf_obj_pin(fd, path.text))
		err = rf_error_failed(error, -errno, "%s: cannot pin the link: %s", path.text,
				      strerror(errno));
	close(fd);
	attached->outcome = RF_ATTACHED;
	return err;
}

/* ---- upgrading ---- */

/* Swaps the program of one interface for the same entry of the new build, atomically. */
static int swap_program(const struct rf_interface *interface, const struct rf_program *old,
			const struct rf_loaded *loaded, struct rf_error *error)
{
	struct rf_pin_path path;
	int fd = loaded->fd[strcmp(old->name, "ringfence_frags") ? RF_PLAIN : RF_FRAGS];
	int err;

	if (fd < 0)
		return rf_error_failed(error, -ENOEXEC,
				       "%s: cannot upgrade: no frags on this kernel",
				       interface->name);
	if (interface->by_link) {
		LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
			    .old_prog_fd = old->fd);
		int link = rf_pins_open_link(interface, &path);

		err = link < 0 ? link : 0;
		if (!err && bpf_link_update(link, fd, &options))
			err = -errno;
		if (link >= 0)
			close(link);
	} else {
		LIBBPF_OPTS(bpf_xdp_attach_opts, options, .old_prog_fd = old->fd);
		__u32 flags = xdp_flags(interface->mode) | XDP_FLAGS_REPLACE;

		err = bpf_xdp_attach(interface->index, fd, flags, &options);
	}
	if (err)
		return rf_error_failed(error, err, "%s: cannot upgrade its program: %s",
				       interface->name, strerror(-err));
	return 0;
}

/* Swaps the program wherever it is not that of this build. Returns how many were. */
static int upgrade_interfaces(const struct rf_fence *fence, const struct rf_loaded *loaded,
			      struct rf_error *error)
{
	int swapped = 0, err = 0;

	for (int i = 0; i < fence->interfaces && !err; i++) {
		struct rf_program program;

		err = rf_program_open(&program, fence->interface[i].program_id, error);
		if (!err && !rf_loaded_has(loaded, program.tag)) {
			err = swap_program(&fence->interface[i], &program, loaded, error);
			swapped++;
		}
		rf_program_close(&program);
	}
	return err ? err : swapped;
}

/* ---- a request ---- */

/* Of several interfaces the first one makes the fence, and the others find it on trial. */
static int check_trial(const char *name, const struct rf_attach *attach,
		       const struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);

	if (!attach->confirm_ns ||
	    (standing.state == RF_ON_TRIAL && standing.fallback == RF_FALL_OPEN))
		return 0;
	return rf_error_failed(error, -EBUSY,
			       "%s: its fence is there already, and an attach goes on trial only "
			       "with a new one; leave out 'confirm', or use 'ringfence apply FILE "
			       "confirm TIME'",
			       name);
}

/* What an interface that already has a program means for the request. */
static int check_occupied(const struct rf_interface *interface, const struct rf_attach *attach,
			  const struct rf_fence *fence, struct rf_error *error)
{
	const char *name = interface->name;

	if (interface->mode != attach->mode)
		return rf_error_failed(
			error, -EBUSY,
			"%s: already attached in %s mode; to change it, first run 'ringfence "
			"detach %s'",
			name, rf_mode_name(interface->mode), name);
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
	if (attach->leases != RF_LEASES_UNSAID && rf_leases_wanted(attach) != fence->leases)
		return rf_error_failed(
			error, -EBUSY,
			"%s: its fence has %u leases for all CPUs, not %u; for these, first run "
			"'ringfence detach %s'",
			name, fence->leases, rf_leases_wanted(attach), name);
	return check_trial(name, attach, fence, error);
}

/* Which program the pinned `xdp` is; -ENOENT where there is none. */
static int open_pinned_program(const struct rf_pin_path *directory, struct rf_program *program,
			       struct rf_error *error)
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(rf_pins_entry(directory, "xdp").text);
	int err;

	if (fd < 0 && (errno == EPERM || errno == EACCES))
		return rf_error_failed(error, -errno, "%s: %s; run as root", directory->text,
				       strerror(errno));
	if (fd < 0)
		return -ENOENT;
	err = bpf_obj_get_info_by_fd(fd, &info, &length) ? -errno : 0;
	close(fd);
	if (err)
		return rf_error_failed(error, err, "%s: cannot read its program: %s",
				       directory->text, strerror(-err));
	return rf_program_open(program, info.id, error);
}

/*
 * Opens a pinned fence. -ENOENT where there is none, or one that nobody can use and nobody would
 * miss: half made, or of another map ABI, and on no interface.
 */
static int open_pinned(const char *name, const struct rf_pin_path *directory,
		       struct rf_fence *fence, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	bool live = rf_pins_have_live_link(directory, NULL);
	int err = open_pinned_program(directory, &program, error);

	if (!err)
		err = rf_program_check_abi(&program, name, error);
	if (!err)
		err = rf_fence_adopt(fence, &program, error);
	else if (err == -EPROTO && !live)
		err = -ENOENT;
	else if (err == -ENOENT && live)
		err = rf_error_failed(
			error, -EBUSY,
			"%s: pins of a fence that is attached are missing here; detach "
			"its interfaces first",
			directory->text);
	rf_program_close(&program);
	return err;
}

static int fail_foreign(const struct rf_interface *interface, const struct rf_program *program,
			struct rf_error *error)
{
	return rf_error_failed(error, -EBUSY,
			       "%s: a foreign XDP program is in place: '%s' (id %u); remove it "
			       "first, by what attached it or 'ip link set dev %s %s off'",
			       interface->name, program->name, program->id, interface->name,
			       interface->mode == RF_GENERIC ? "xdpgeneric" : "xdp");
}

/* The interface's own fence, when it has one; -ENOENT when it has no program at all. */
static int open_attached(const struct rf_interface *interface, struct rf_fence *fence,
			 struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	int err;

	if (!interface->program_id)
		return -ENOENT;
	err = rf_program_open(&program, interface->program_id, error);
	if (!err && !program.ours)
		err = fail_foreign(interface, &program, error);
	rf_program_close(&program);
	return err ? err : rf_fence_open(fence, interface->name, error);
}

/* The pins follow, also after an upgrade that was killed before it came to them. */
static int upgrade_fence(const struct rf_fence *fence, struct rf_loaded *loaded,
			 struct rf_error *error)
{
	uint8_t tag[RF_PROGRAM_TAG_SIZE];
	struct rf_pin_path directory;
	int swapped = upgrade_interfaces(fence, loaded, error);
	int err = swapped < 0 ? swapped : 0;

	if (!err && !rf_pins_find(fence->map_id[RF_MAP_CONFIG], &directory) &&
	    !rf_pins_read_tag(&directory, tag) && !rf_loaded_has(loaded, tag))
		err = rf_pins_put_programs(&directory, loaded, error);
	return err ? err : swapped;
}

/* An interface that has our program: the same build stays as it is, another one is upgraded. */
static int renew_interface(const struct rf_interface *interface, const struct rf_attach *attach,
			   const struct rf_fence *fence, struct rf_attached *attached,
			   struct rf_error *error)
{
	struct rf_loaded loaded = RF_LOADED_NONE;
	int err = check_occupied(interface, attach, fence, error);
	int swapped;

	if (!err)
		err = rf_load_upgrade(&loaded, fence, error);
	if (err)
		return err;
	swapped = upgrade_fence(fence, &loaded, error);
	rf_unload(&loaded);
	if (swapped < 0)
		return swapped;
	attached->outcome = swapped ? RF_UPGRADED : RF_UNCHANGED;
	snprintf(attached->fence, sizeof(attached->fence), "%s", fence->name);
	return 0;
}

/* May the interface join the pinned fence as the request has it? */
static int check_joinable(const char *name, const struct rf_pin_path *directory,
			  const struct rf_interface *interface, const struct rf_attach *attach,
			  const struct rf_fence *fence, struct rf_error *error)
{
	if (!attach->fence && rf_pins_have_live_link(directory, NULL))
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
	if (attach->leases != RF_LEASES_UNSAID && rf_leases_wanted(attach) != fence->leases)
		return rf_error_failed(
			error, -EBUSY,
			"fence '%s': it has %u leases for all CPUs, not %u; leave 'leases' out",
			name, fence->leases, rf_leases_wanted(attach));
	return check_trial(name, attach, fence, error);
}

/* An interface without a program: joins the fence of that name, which is made if need be. */
static int join_fence(const char *name, const struct rf_interface *interface,
		      const struct rf_attach *attach, struct rf_attached *attached,
		      struct rf_error *error)
{
	struct rf_pin_path directory = rf_pins_directory(name);
	struct rf_loaded loaded = RF_LOADED_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	int err = open_pinned(name, &directory, &fence, error);
	bool made = err == -ENOENT;

	if (made) {
		rf_pins_remove(&directory);
		err = create_fence(name, &directory, attach, &loaded, error);
	} else if (!err) {
		err = check_joinable(name, &directory, interface, attach, &fence, error);
		if (!err)
			err = rf_load_upgrade(&loaded, &fence, error);
		if (!err)
			err = upgrade_fence(&fence, &loaded, error);
		err = err > 0 ? 0 : err;
	}
	if (!err) {
		err = attach_interface(&directory, &loaded, interface, attach->mode, attached,
				       error);
		if (err && made)
			rf_pins_remove(&directory);
	}
	snprintf(attached->fence, sizeof(attached->fence), "%s", name);
	rf_unload(&loaded);
	rf_fence_close(&fence);
	return err;
}

static int attach_one(const char *name, const struct rf_attach *attach,
		      struct rf_attached *attached, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_interface interface;
	int err = rf_interface_query(name, &interface, error);

	if (err)
		return err;
	memcpy(attached->interface, interface.name, sizeof(attached->interface));
	attached->mode = attach->mode;
	err = open_attached(&interface, &fence, error);
	if (!err)
		err = renew_interface(&interface, attach, &fence, attached, error);
	else if (err == -ENOENT)
		err = join_fence(attach->fence ? attach->fence : interface.name, &interface, attach,
				 attached, error);
	rf_fence_close(&fence);
	return err;
}

/* ---- detaching ---- */

/* Is the interface the last one of its fence, as far as this network namespace and pins tell? */
static bool is_last(const struct rf_pin_path *directory, const struct rf_pin_path *link,
		    uint32_t config_id)
{
	struct rf_interface *interfaces = NULL;
	struct rf_error ignored;
	int count = rf_interfaces_of(config_id, &interfaces, &ignored);

	free(interfaces);
	return count <= 1 && count >= 0 && !rf_pins_have_live_link(directory, link);
}

/*
 * The pins go first: a command that is killed in between leaves the interface attached, or nothing
 * at all, since the link dies with its last file descriptor. The maps are not read, so that this
 * works for a fence of another map ABI, too.
 */
static int detach_link(const struct rf_interface *interface, uint32_t config_id,
		       struct rf_error *error)
{
	struct rf_pin_path path, directory;
	int fd = rf_pins_open_link(interface, &path);
	int err;

	if (fd < 0)
		return rf_error_failed(error, fd, "%s: its link went away meanwhile",
				       interface->name);
	directory = rf_pins_parent(&path);
	if (is_last(&directory, &path, config_id))
		rf_pins_remove(&directory);
	else
		unlink(path.text);
	err = bpf_link_detach(fd) ? -errno : 0;
	close(fd);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	return 0;
}

static int detach_netlink(const struct rf_interface *interface, const struct rf_program *program,
			  struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options, .old_prog_fd = program->fd);
	uint32_t config_id = program->map_id[RF_MAP_CONFIG];
	struct rf_pin_path directory;
	bool pinned = rf_pins_find(config_id, &directory) == 0;
	bool last = pinned && is_last(&directory, NULL, config_id);
	int err = bpf_xdp_detach(interface->index, xdp_flags(interface->mode) | XDP_FLAGS_REPLACE,
				 &options);

	if (err == -EBUSY)
		return rf_error_failed(
			error, err,
			"%s: its program is held by a bpf_link of another process, or pinned "
			"elsewhere; 'bpftool link' shows it",
			interface->name);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	if (last)
		rf_pins_remove(&directory);
	return 0;
}

static int detach_one(const char *dev, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	int err = rf_interface_open(dev, &interface, &program, error);

	if (!err)
		err = interface.by_link
			      ? detach_link(&interface, program.map_id[RF_MAP_CONFIG], error)
			      : detach_netlink(&interface, &program, error);
	rf_program_close(&program);
	return err;
}

/* What a device that is gone, or an attach that was killed, has left. */
static bool remove_orphans(const char *name)
{
	struct rf_pin_path directory = rf_pins_directory(name);

	if (access(directory.text, F_OK) || rf_pins_have_live_link(&directory, NULL))
		return false;
	rf_pins_remove(&directory);
	return true;
}

int rf_fence_detach(const char *dev, struct rf_error *error)
{
	int err = rf_fence_lock(error);

	if (err)
		return err;
	err = detach_one(dev, error);
	if ((err == -ENODEV || err == -ENOENT) && remove_orphans(dev))
		return 1;
	return err;
}

int rf_fence_attach(const struct rf_attach *attach, struct rf_attached *attached,
		    struct rf_error *error)
{
	int err = rf_fence_lock(error);

	/* A slip among the names shall not cost the others an attach and a detach. */
	for (int i = 0; i < attach->interfaces && !err; i++) {
		struct rf_interface interface;

		err = rf_interface_query(attach->interface[i], &interface, error);
	}
	for (int i = 0; i < attach->interfaces && !err; i++) {
		struct rf_error ignored;

		attached[i] = (struct rf_attached){};
		err = attach_one(attach->interface[i], attach, &attached[i], error);
		for (int j = i - 1; err && j >= 0; j--)
			if (attached[j].outcome == RF_ATTACHED)
				detach_one(attached[j].interface, &ignored);
	}
	return err;
}
