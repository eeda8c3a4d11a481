// SPDX-License-Identifier: GPL-2.0
/* The pins of fences in bpffs. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fence_internal.h"

#define BPFFS "/sys/fs/bpf"

/* ---- paths ---- */

struct rf_pin_path rf_pins_directory(const char *fence)
{
	struct rf_pin_path path;

	snprintf(path.text, sizeof(path.text), "%s/%s", RF_PIN_ROOT, fence);
	/* bpffs refuses dots, which interface names may have; ':' they may not. */
	for (char *p = path.text + strlen(RF_PIN_ROOT); *p; p++)
		if (*p == '.')
			*p = ':';
	return path;
}

struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry)
{
	struct rf_pin_path path = *directory;
	size_t length = strlen(path.text);

	snprintf(path.text + length, sizeof(path.text) - length, "/%s", entry);
	return path;
}

/* Unique on this machine while the namespace lives, and a link does not outlive its device. */
static void name_link(const struct rf_interface *interface, char name[64])
{
	struct stat namespace = {};

	stat("/proc/self/ns/net", &namespace);
	snprintf(name, 64, "link_%u_%lu", interface->index, (unsigned long)namespace.st_ino);
}

struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory,
				const struct rf_interface *interface)
{
	char name[64];

	name_link(interface, name);
	return rf_pins_entry(directory, name);
}

struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path)
{
	struct rf_pin_path parent = *path;

	*strrchr(parent.text, '/') = '\0';
	return parent;
}

/* ---- directories ---- */

static int make_directory(const char *path, struct rf_error *error)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return rf_error_failed(error, -errno, "%s: cannot make the directory: %s", path,
				       strerror(errno));
	return 0;
}

/* The parent of a process, 0 where it is not told. */
static int parent_of(int pid)
{
	char path[64], line[128];
	int parent = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && !parent && fgets(line, sizeof(line), status))
		if (sscanf(line, "PPid: %d", &parent) != 1)
			parent = 0;
	if (status)
		fclose(status);
	return parent;
}

/*
 * Is this a mount namespace that ends with one of our ancestors, as `ip netns exec` makes one?
 * Each of them is asked, since not everybody may look at process 1.
 */
static bool is_private_mount_namespace(void)
{
	struct stat own, theirs;

	if (stat("/proc/self/ns/mnt", &own))
		return false;
	for (int pid = getppid(); pid > 0; pid = parent_of(pid)) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
		if (!stat(path, &theirs) && theirs.st_ino != own.st_ino)
			return true;
	}
	return false;
}

/* Mounts bpffs where nobody has, as `ip` does. */
static int mount_bpffs(struct rf_error *error)
{
	struct statfs fs;

	if (!statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (is_private_mount_namespace())
		return rf_error_failed(
			error, -ENOENT,
			"%s: no bpffs in this mount namespace, and pins in one mounted here would "
			"vanish with it; enter a network namespace by 'nsenter --net=…'",
			BPFFS);
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return rf_error_failed(error, -errno, "%s: cannot mount bpffs: %s; run as root",
				       BPFFS, strerror(errno));
	return 0;
}

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error)
{
	int err = mount_bpffs(error);

	if (!err)
		err = make_directory(RF_PIN_ROOT, error);
	return err ? err : make_directory(directory->text, error);
}

void rf_pins_remove(const struct rf_pin_path *directory)
{
	DIR *entries = opendir(directory->text);
	struct dirent *entry;

	if (!entries)
		return;
	unlinkat(dirfd(entries), "xdp", 0); /* first, as it was the last to be made */
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
	rmdir(directory->text);
	rmdir(RF_PIN_ROOT); /* fails, as it should, while there are other fences */
}

/* ---- what is pinned ---- */

/* Called for each pin; true ends the walk. */
typedef bool (*pin_visit)(const struct rf_pin_path *path, void *context);

/* `entry` is a pattern for names within the fences' directories. */
static bool each_pin(const char *entry, pin_visit visit, void *context)
{
	bool found = false;
	glob_t paths = {};
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "%s/*/%s", RF_PIN_ROOT, entry);
	if (glob(pattern, GLOB_NOSORT, NULL, &paths) == 0)
		for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
			struct rf_pin_path path;

			snprintf(path.text, sizeof(path.text), "%s", paths.gl_pathv[i]);
			found = visit(&path, context);
		}
	globfree(&paths);
	return found;
}

static int read_link(int fd, struct bpf_link_info *info)
{
	__u32 length = sizeof(*info);

	*info = (struct bpf_link_info){};
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, info, &length) || info->type != BPF_LINK_TYPE_XDP)
		return -ENOENT;
	return 0;
}

struct live_search {
	const struct rf_pin_path *directory;
	const struct rf_pin_path *except;
};

static bool is_live_link(const struct rf_pin_path *path, void *context)
{
	const struct live_search *search = context;
	struct bpf_link_info info;
	bool live;
	int fd;

	if (strcmp(rf_pins_parent(path).text, search->directory->text) != 0 ||
	    (search->except && strcmp(path->text, search->except->text) == 0))
		return false;
	fd = bpf_obj_get(path->text);
	live = !read_link(fd, &info) && info.xdp.ifindex;
	if (fd >= 0)
		close(fd);
	return live;
}

bool rf_pins_have_live_link(const struct rf_pin_path *directory, const struct rf_pin_path *except)
{
	struct live_search search = {directory, except};

	return each_pin("link_*", is_live_link, &search);
}

struct link_search {
	const struct rf_interface *interface;
	struct rf_pin_path *path;
	int fd;
};

static bool is_link_of(const struct rf_pin_path *path, void *context)
{
	struct link_search *search = context;
	struct bpf_link_info info;
	int fd = bpf_obj_get(path->text);

	if (read_link(fd, &info) || info.xdp.ifindex != search->interface->index ||
	    info.prog_id != search->interface->program_id) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	search->fd = fd;
	*search->path = *path;
	return true;
}

int rf_pins_open_link(const struct rf_interface *interface, struct rf_pin_path *path)
{
	struct link_search search = {interface, path, -ENOENT};
	char name[64];

	name_link(interface, name);
	each_pin(name, is_link_of, &search);
	return search.fd;
}

struct config_search {
	uint32_t id;
	struct rf_pin_path *directory;
};

static bool is_config(const struct rf_pin_path *path, void *context)
{
	struct config_search *search = context;
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(path->text);
	bool same;

	if (fd < 0)
		return false;
	same = !bpf_obj_get_info_by_fd(fd, &info, &length) && info.id == search->id;
	close(fd);
	if (same)
		*search->directory = rf_pins_parent(path);
	return same;
}

int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory)
{
	struct config_search search = {config_id, directory};

	return each_pin(rf_map_names[RF_MAP_CONFIG], is_config, &search) ? 0 : -ENOENT;
}

int rf_pins_read_tag(const struct rf_pin_path *directory, uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(rf_pins_entry(directory, "xdp").text);
	int err = 0;

	if (fd < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		err = -errno;
	close(fd);
	memcpy(tag, info.tag, RF_PROGRAM_TAG_SIZE);
	return err;
}

/* ---- pinning ---- */

int rf_pins_put_programs(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
			 struct rf_error *error)
{
	static const char *const names[RF_ENTRY_COUNT] = {"xdp", "frags"};
	static const char *const new_names[RF_ENTRY_COUNT] = {"new_xdp", "new_frags"};

	/* `xdp` last: with it a fence's pins are whole. */
	for (int i = RF_ENTRY_COUNT - 1; i >= 0; i--) {
		struct rf_pin_path path = rf_pins_entry(directory, names[i]);
		struct rf_pin_path fresh = rf_pins_entry(directory, new_names[i]);

		if (loaded->fd[i] < 0)
			continue;
		unlink(fresh.text); /* of a command that was killed */
		if (bpf_obj_pin(loaded->fd[i], fresh.text) || rename(fresh.text, path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the program: %s",
					       path.text, strerror(errno));
	}
	return 0;
}

int rf_pins_put_maps(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		     struct rf_error *error)
{
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		struct rf_pin_path path = rf_pins_entry(directory, rf_map_names[i]);

		if (bpf_obj_pin(loaded->map_fd[i], path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the map: %s",
					       path.text, strerror(errno));
	}
	return 0;
}
