// SPDX-License-Identifier: GPL-2.0
/*
 * What the members of a group may read. The maps of a fence are pinned a second time, in a bpffs of
 * our own, since only root may enter the system's bpffs. A user who may only read a pin gets a file
 * descriptor that can only read. A new pin inherits the group from its directory, which takes no
 * capability.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/private.h"
#include "fence/tries.h"

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
 * Makes the group's bpffs. Returns NULL, or why there is none. It is refused where a file
 * descriptor that can only read does not protect the maps: a user who may pin can pin it again and
 * open that pin to write, and a user who may load programs can write by a program.
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
		return "it cannot be given " RF_SHARE_ROOT;
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

int rf_group_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
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

	rf_group_pin(directory, map_fd, &refusal, &ignored);
}
