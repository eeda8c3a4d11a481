// SPDX-License-Identifier: GPL-2.0
/* The pins of a fence other than its maps and programs. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/load.h"
#include "attach/private.h"
#include "fence/tries.h"
#include "kernel/info.h"
#include "kernel/log.h"

/* Last: they use the types of abi.h. */
#include "build/fleet_calls.skel.h"
#include "build/show.skel.h"

/* ---- iterators ---- */

/*
 * The pins from which live counters and windows are read. They are optional: if the kernel does not
 * support them, a fence has none.
 */

/*
 * Enough for either family, and for all leases: a slot or a set that is not there is left out.
 */
static int size_parts(struct show_bpf *object, const int map_fd[RF_MAP_COUNT])
{
	struct bpf_map_info info4 = {}, info6 = {}, sets = {};
	int err = rf_map_info(map_fd[RF_MAP_SLOTS4], &info4);

	if (!err)
		err = rf_map_info(map_fd[RF_MAP_SLOTS6], &info6);
	if (!err)
		err = rf_map_info(map_fd[RF_MAP_LEASES], &sets);
	if (!err)
		err = bpf_map__set_max_entries(object->maps.parts,
					       rf_record_parts(info4.max_entries > info6.max_entries
								       ? info4.max_entries
								       : info6.max_entries));
	if (!err)
		err = bpf_map__set_max_entries(object->maps.lease_parts,
					       rf_lease_parts(sets.max_entries));
	return err;
}

/* Loads the iterators with the maps of the fence. */
static int load_show(struct show_bpf *object, const int map_fd[RF_MAP_COUNT])
{
	int cpus = libbpf_num_possible_cpus();
	int err = rf_maps_reuse(object->obj, map_fd);

	if (cpus < 0)
		return cpus;
	object->rodata->possible_cpus = cpus;
	if (!err)
		err = size_parts(object, map_fd);
	if (!err)
		err = bpf_map__set_autocreate(object->maps.fresh_source, false);
	return err ? err : show_bpf__load(object);
}

static int pin_iterator(const struct rf_pin_path *directory, const char *name,
			const struct bpf_program *program, int map_fd)
{
	union bpf_iter_link_info info = {.map.map_fd = map_fd};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(program, &options);
	struct rf_error ignored;
	int err = link ? rf_pins_put(directory, name, bpf_link__fd(link), &ignored) : -errno;

	bpf_link__destroy(link); /* a pinned iterator remains */
	return err;
}

/* The objects of the iteration. */
static int map_fd_of(enum rf_iterator iterator, const struct show_bpf *object,
		     const int map_fd[RF_MAP_COUNT])
{
	switch (iterator) {
	case RF_SHOW_STATS:
		return map_fd[RF_MAP_COUNTERS];
	case RF_SHOW_SOURCES4:
		return map_fd[RF_MAP_WINDOWS4];
	case RF_SHOW_SOURCES6:
		return map_fd[RF_MAP_WINDOWS6];
	case RF_SHOW_PENDING:
		return bpf_map__fd(object->maps.lease_parts);
	default:
		return bpf_map__fd(object->maps.parts);
	}
}

static int pin_all(const struct rf_pin_path *directory, struct show_bpf *object,
		   const int map_fd[RF_MAP_COUNT])
{
	const struct bpf_program *const programs[RF_ITERATOR_COUNT] = {
		[RF_SHOW_STATS] = object->progs.show_stats,
		[RF_SHOW_SOURCES4] = object->progs.show_sources4,
		[RF_SHOW_SOURCES6] = object->progs.show_sources6,
		[RF_SHOW_ACTIVE4] = object->progs.show_active4,
		[RF_SHOW_ACTIVE6] = object->progs.show_active6,
		[RF_SHOW_ACTIVE64_4] = object->progs.show_active64_4,
		[RF_SHOW_ACTIVE64_6] = object->progs.show_active64_6,
		[RF_SHOW_WINDOWS4] = object->progs.show_windows4,
		[RF_SHOW_WINDOWS6] = object->progs.show_windows6,
		[RF_SHOW_PENDING] = object->progs.show_pending,
	};
	int err = 0;

	for (int i = 0; i < RF_ITERATOR_COUNT && !err; i++)
		err = pin_iterator(directory, rf_iterator_pins[i], programs[i],
				   map_fd_of(i, object, map_fd));
	return err;
}

int rf_iterators_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT])
{
	struct show_bpf *object;
	int err;

	rf_log_pause(true);
	object = show_bpf__open();
	err = object ? load_show(object, map_fd) : -errno;
	if (!err)
		err = pin_all(directory, object, map_fd);
	show_bpf__destroy(object);
	rf_log_pause(false);
	return err;
}

/* ---- shares ---- */

/*
 * The additional pins of a fence with shares: the ring buffer of requests, and the agent's calls.
 */

#define MAP_IDS_MAX 64 /* of one program */

/* Loads the calls with the maps of the fence. */
static int load_calls(struct fleet_calls_bpf *object, const int map_fd[RF_MAP_COUNT])
{
	int err = rf_maps_reuse(object->obj, map_fd);

	if (!err)
		err = bpf_map__set_autocreate(object->maps.fresh_source, false);
	if (!err)
		err = bpf_map__set_autocreate(object->maps.asks, false);
	return err ? err : fleet_calls_bpf__load(object);
}

static int pin_calls(const struct rf_pin_path *directory, int asks_fd,
		     const struct fleet_calls_bpf *object, struct rf_error *error)
{
	const int fd[RF_SHARE_PIN_COUNT] = {
		[RF_SHARE_CALL] = bpf_program__fd(object->progs.fleet_call),
		[RF_SHARE_BATCH] = bpf_map__fd(object->maps.fleet_batch),
		[RF_SHARE_ASKS] = asks_fd,
	};
	int err = 0;

	for (int i = 0; i < RF_SHARE_PIN_COUNT && !err; i++)
		err = rf_pins_put(directory, rf_share_pins[i], fd[i], error);
	return err;
}

static int pin(const struct rf_pin_path *directory, int asks_fd, const int map_fd[RF_MAP_COUNT],
	       struct rf_error *error)
{
	struct fleet_calls_bpf *object = fleet_calls_bpf__open();
	int err = object ? load_calls(object, map_fd) : -errno;

	if (err)
		err = rf_error_failed(error, err,
				      "cannot load the calls of the fleet: %s; attach without "
				      "'fleet', or run 'ringfence doctor'",
				      strerror(-err));
	else
		err = pin_calls(directory, asks_fd, object, error);
	fleet_calls_bpf__destroy(object);
	return err;
}

int rf_shares_pin(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		  const int map_fd[RF_MAP_COUNT], struct rf_error *error)
{
	if (!loaded->has_shares)
		return 0;
	return pin(directory, loaded->asks_fd, map_fd, error);
}

/* ---- pins that are missing ---- */

static bool has_all(const struct rf_pin_path *directory)
{
	for (int i = 0; i < RF_SHARE_PIN_COUNT; i++)
		if (access(rf_pins_entry(directory, rf_share_pins[i]).text, F_OK))
			return false;
	return true;
}

/* The ring buffer into which a program writes its requests; negative: none. */
static int open_asks(const struct rf_program *program)
{
	__u32 id[MAP_IDS_MAX] = {};
	struct bpf_prog_info info = {.nr_map_ids = MAP_IDS_MAX, .map_ids = (uintptr_t)id};

	if (rf_program_info(program->fd, &info))
		return -errno;
	for (__u32 i = 0; i < info.nr_map_ids && i < MAP_IDS_MAX; i++) {
		const int fd = bpf_map_get_fd_by_id(id[i]);
		struct bpf_map_info map = {};

		if (fd >= 0 && !rf_map_info(fd, &map) && map.type == BPF_MAP_TYPE_RINGBUF)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* The same, for an attached fence, if one of its pins is missing. */
static int shares_pin_missing(const struct rf_pin_path *directory, const struct rf_fence *fence,
			      const struct rf_program *program, struct rf_error *error)
{
	int asks_fd, err;

	if (!rf_fence_has_shares(fence) || has_all(directory))
		return 0;
	asks_fd = open_asks(program);
	if (asks_fd < 0)
		return rf_error_failed(error, asks_fd,
				       "cannot find the requests for shares: %s; detach "
				       "the fence, and attach it again",
				       strerror(-asks_fd));
	err = pin(directory, asks_fd, fence->map_fd, error);
	close(asks_fd);
	return err;
}

/* ---- the group ---- */

/*
 * The pins that the members of a group can read. The maps of a fence are pinned a second time, in a
 * private bpffs, because only root can enter the system's bpffs. A user with only read permission
 * for a pin gets a read-only file descriptor. A new pin inherits the group from its directory,
 * which requires no capability.
 */

/* May all users pin in the bpffs of the system? */
static bool others_may_pin(void)
{
	struct stat root;

	return !stat(RF_BPFFS, &root) && root.st_mode & S_IWOTH;
}

static bool others_may_load(void)
{
	FILE *file = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
	int disabled = 1;

	if (file && fscanf(file, "%d", &disabled) != 1)
		disabled = 1;
	if (file)
		fclose(file);
	return !disabled;
}

static bool mount_root(void)
{
	if (rf_pins_is_bpffs(RF_SHARE_ROOT))
		return true;
	return !rf_pins_mounts_are_private() && (!mkdir(RF_SHARE_ROOT, 0700) || errno == EEXIST) &&
	       !mount("bpf", RF_SHARE_ROOT, "bpf", 0, "mode=0700");
}

static bool give_root(gid_t group)
{
	struct stat root;

	if (stat(RF_SHARE_ROOT, &root) || (root.st_gid != group && chown(RF_SHARE_ROOT, -1, group)))
		return false;
	return (root.st_mode & 07777) == 02750 || !rf_pins_give_group(RF_SHARE_ROOT, true);
}

/*
 * Creates the group's bpffs. Returns NULL, or why it cannot exist. It is refused if a read-only
 * file descriptor does not protect the maps: a user who can pin could pin it again and open that
 * pin to write, and a user who can load programs could write by a program.
 */
static const char *prepare_root(void)
{
	const struct group *group = getgrnam(RF_GROUP);

	if (!group)
		return "there is no such group";
	if (others_may_pin())
		return "everybody may write to /sys/fs/bpf, so readers could write to the maps; "
		       "'chmod 700 /sys/fs/bpf' prevents that";
	if (others_may_load())
		return "everybody may load programs, so readers could write to the maps; 'sysctl "
		       "kernel.unprivileged_bpf_disabled=2' prevents that";
	if (!mount_root())
		return "there is no bpffs at " RF_SHARE_ROOT;
	if (!give_root(group->gr_gid))
		return "it cannot get access to " RF_SHARE_ROOT;
	return NULL;
}

void rf_group_note_link(const struct rf_pin_path *directory, const char *link)
{
	struct rf_pin_path shared = rf_pins_shared(directory),
			   path = rf_pins_entry(directory, link);
	struct rf_pin_path mark;

	if (!*shared.text)
		return;
	mark = rf_pins_entry(&shared, link);
	if (access(path.text, F_OK))
		unlink(mark.text);
	else if (symlink(path.text, mark.text))
		return; /* there is no directory, or the mark exists already */
}

static void note_links(const struct rf_pin_path *directory)
{
	glob_t paths;

	rf_pins_glob_links(directory, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++)
		rf_group_note_link(directory, strrchr(paths.gl_pathv[i], '/') + 1);
	globfree(&paths);
}

static void pin_iterators(const struct rf_pin_path *directory, const struct rf_pin_path *shared)
{
	struct rf_error ignored;

	for (int i = 0; i < RF_ITERATOR_COUNT; i++) {
		int fd = bpf_obj_get(rf_pins_entry(directory, rf_iterator_pins[i]).text);

		if (fd < 0)
			continue;
		rf_pins_put(shared, rf_iterator_pins[i], fd, &ignored);
		close(fd);
	}
}

/*
 * Creates the group's directory of the fence whose own directory is `directory`: pins of its maps
 * and tries, and marks of its links. It is no error if the group cannot have one: `*refusal` has
 * the reason; otherwise `*refusal` is NULL.
 */
static int group_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		     const char **refusal, struct rf_error *error)
{
	struct rf_pin_path shared;
	int err;

	*refusal = prepare_root();
	if (*refusal)
		return 0;
	shared = rf_pins_shared(directory);
	if (!*shared.text) {
		*refusal = RF_SHARE_ROOT " belongs to another user";
		return 0;
	}
	err = rf_pins_make_directory(&shared, error);
	/* The tries come before the configuration, by which readers find the rest. */
	if (!err)
		err = rf_tries_pin(map_fd, directory, error);
	if (!err)
		err = rf_pins_put_maps(&shared, map_fd, error);
	if (err)
		return err;
	note_links(directory);
	pin_iterators(directory, &shared);
	return 0;
}

void rf_group_try_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT])
{
	struct rf_error ignored;
	const char *refusal;

	group_pin(directory, map_fd, &refusal, &ignored);
}

/* ---- adopting ---- */

/*
 * Pins a fence that `ip` attached. From then on, users without permission to open programs by id
 * find the fence by its pins. A fence that already has pins gets the missing ones.
 */

int rf_adopt_check_name(const char *name, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored;
	int err = 0;

	/* A fence without pins has the name of its interface: only that interface needs a look. */
	if (!if_nametoindex(name) || rf_fence_open_on(&fence, name, &ignored) ||
	    strcmp(fence.name, name) != 0)
		err = 0;
	else if (*fence.pins)
		err = rf_error_failed(error, -EEXIST,
				      "fence '%s': interface %s has a fence of that name, with its "
				      "pins at %s; choose another name",
				      name, name, fence.pins);
	else
		err = rf_error_failed(error, -EEXIST,
				      "fence '%s': interface %s has a fence of that name, which "
				      "'ip' attached; to use that fence, first run 'ringfence "
				      "adopt %s'; otherwise choose another name",
				      name, name, name);
	rf_fence_close(&fence);
	return err;
}

/*
 * Fails if the directory of this name has the pins of a different fence. The fix is never 'detach'
 * with this name: that would detach this fence, which is on the interface of that name.
 */
static int check_directory(const struct rf_pin_path *directory, const char *name,
			   struct rf_error *error)
{
	char other[IF_NAMESIZE];

	if (access(directory->text, F_OK))
		return 0;
	if (rf_interface_of_pins(directory, other))
		return rf_error_failed(error, -EEXIST,
				       "%s: this directory has the pins of another fence '%s', on "
				       "%s; first run 'ringfence detach %s', then attach that "
				       "interface under another fence name",
				       directory->text, name, other, other);
	if (rf_pins_have_live_link(directory, NULL))
		return rf_error_failed(
			error, -EEXIST,
			"%s: this directory has the pins of another fence '%s', on an interface of "
			"another network namespace; first detach that interface there",
			directory->text, name);
	return rf_error_failed(error, -EEXIST,
			       "%s: this directory has the pins of another fence '%s', which is no "
			       "longer on any interface here; 'rm -r %s' removes the pins",
			       directory->text, name, directory->text);
}

/* Replaces pins of existing maps: a command that was killed can have left them. */
static int pin_fence(const struct rf_fence *fence, const struct rf_program *program,
		     const struct rf_pin_path *directory, struct rf_error *error)
{
	int fd[RF_ENTRY_COUNT] = {-1, -1}, pinned;
	struct bpf_prog_info info = {};
	int err = rf_pins_make_directory(directory, error);

	fd[rf_entry_of(program)] = program->fd;
	if (!err)
		err = rf_tries_pin(fence->map_fd, directory, error);
	if (!err)
		err = rf_pins_put_maps(directory, fence->map_fd, error);
	if (!err)
		err = shares_pin_missing(directory, fence, program, error);
	if (!err)
		rf_iterators_pin(directory, fence->map_fd);
	if (err)
		return err;
	pinned = rf_pins_open_any_entry(directory, &info);
	if (pinned < 0)
		return rf_pins_put_programs(directory, fd, error);
	close(pinned);
	return 0;
}

static void note(struct rf_fence *fence, const struct rf_program *program)
{
	uint32_t id[RF_ENTRY_COUNT] = {};

	id[rf_entry_of(program)] = program->id;
	rf_fence_keep_name(fence);
	rf_fence_note_programs(fence, id);
}

static int adopt(struct rf_fence *fence, const struct rf_program *program,
		 struct rf_adopted *adopted, struct rf_error *error)
{
	struct rf_pin_path directory = rf_fence_pins(fence);
	int err = 0;

	adopted->is_new = !*directory.text;
	if (adopted->is_new) {
		directory = rf_pins_directory(fence->name);
		err = check_directory(&directory, fence->name, error);
	}
	if (!err) {
		note(fence, program);
		err = pin_fence(fence, program, &directory, error);
		if (err && adopted->is_new)
			rf_pins_remove(&directory);
	}
	if (!err)
		err = group_pin(&directory, fence->map_fd, &adopted->refusal, error);
	snprintf(adopted->fence, sizeof(adopted->fence), "%s", fence->name);
	memcpy(adopted->pins, directory.text, sizeof(adopted->pins));
	return err;
}

/* To adopt a fence is to open its program and its tries by id, which takes CAP_SYS_ADMIN. */
static int check_may_adopt(const struct rf_interface *interface, const struct rf_program *program,
			   const struct rf_fence *fence, struct rf_error *error)
{
	int fd = bpf_prog_get_fd_by_id(program->id);

	if (fd < 0)
		return rf_error_failed(error, -errno,
				       "%s: cannot adopt its fence: %s; it takes CAP_SYS_ADMIN",
				       interface->name, strerror(errno));
	close(fd);
	return rf_fence_check_may_change(fence, interface->name, error);
}

int rf_adopt(const char *dev, struct rf_adopted *adopted, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE, open = RF_PROGRAM_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_interface interface;
	int err = rf_fence_lock(error);

	*adopted = (struct rf_adopted){};
	if (!err)
		err = rf_interface_open(dev, &interface, &program, error);
	if (!err)
		err = rf_program_check_abi(&program, interface.name, error);
	if (!err)
		err = rf_program_open(&open, program.id, error);
	if (!err) {
		memcpy(fence.name, interface.name, sizeof(interface.name)); /* for errors */
		err = rf_fence_from_program(&fence, &open, error);
	}
	if (!err)
		err = check_may_adopt(&interface, &program, &fence, error);
	if (!err)
		err = adopt(&fence, &program, adopted, error);
	rf_fence_close(&fence);
	rf_program_close(&open);
	rf_program_close(&program);
	return err;
}
