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

static struct rf_pin_path join_path(const char *fence, const char *prefix, const char *entry)
{
	struct rf_pin_path path;
	int root = strlen(RF_PIN_ROOT);

	snprintf(path.text, sizeof(path.text), "%s/%s%s%s%s", RF_PIN_ROOT, fence, *entry ? "/" : "",
		 prefix, entry);
	/* bpffs refuses dots, which interface names may have; ':' they may not. */
	for (char *p = path.text + root; *p; p++)
		if (*p == '.')
			*p = ':';
	return path;
}

struct rf_pin_path rf_pin_path(const char *fence, const char *entry)
{
	return join_path(fence, "", entry);
}

struct rf_pin_path rf_pin_path_link(const char *fence, const char *interface)
{
	return join_path(fence, "link_", interface);
}

static int make_directory(const char *path, struct rf_error *error)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return rf_error_failed(error, -errno, "%s: cannot make the directory: %s", path,
				       strerror(errno));
	return 0;
}

/* The directory of a fence, mounting bpffs where nobody has, as `ip` does. */
int rf_pins_make_directory(const char *fence, struct rf_error *error)
{
	struct statfs fs;
	int err;

	if ((statfs(BPFFS, &fs) || fs.f_type != BPF_FS_MAGIC) &&
	    mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return rf_error_failed(error, -errno, "%s: cannot mount bpffs: %s; run as root",
				       BPFFS, strerror(errno));
	err = make_directory(RF_PIN_ROOT, error);
	return err ? err : make_directory(rf_pin_path(fence, "").text, error);
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

struct rf_pin_path rf_pin_path_parent(const struct rf_pin_path *path)
{
	struct rf_pin_path parent = *path;

	*strrchr(parent.text, '/') = '\0';
	return parent;
}

/* ---- what is pinned ---- */

/* Called for each pin; true ends the walk. */
typedef bool (*pin_visit)(const struct rf_pin_path *path, void *context);

static bool each_pin(const char *pattern, pin_visit visit, void *context)
{
	bool found = false;
	glob_t paths = {};

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

bool rf_pins_is_live_link(const struct rf_pin_path *path)
{
	struct bpf_link_info info;
	int fd = bpf_obj_get(path->text);
	bool live = !read_link(fd, &info) && info.xdp.ifindex;

	if (fd >= 0)
		close(fd);
	return live;
}

static bool is_live_link_in(const struct rf_pin_path *path, void *context)
{
	const struct rf_pin_path *directory = context;

	return strcmp(rf_pin_path_parent(path).text, directory->text) == 0 &&
	       rf_pins_is_live_link(path);
}

bool rf_pins_have_live_link(const struct rf_pin_path *directory)
{
	return each_pin(RF_PIN_ROOT "/*/link_*", is_live_link_in, (void *)directory);
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

	each_pin(RF_PIN_ROOT "/*/link_*", is_link_of, &search);
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
		*search->directory = rf_pin_path_parent(path);
	return same;
}

int rf_pins_find(uint32_t config_id, struct rf_pin_path *directory)
{
	struct config_search search = {config_id, directory};

	return each_pin(RF_PIN_ROOT "/*/config", is_config, &search) ? 0 : -ENOENT;
}

int rf_pins_read_tag(const char *fence, uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(rf_pin_path(fence, "xdp").text);
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

int rf_pins_put_programs(const char *fence, const struct rf_loaded *loaded, struct rf_error *error)
{
	static const char *const names[RF_ENTRY_COUNT] = {"xdp", "frags"};

	/* `xdp` last: with it a fence's pins are whole. */
	for (int i = RF_ENTRY_COUNT - 1; i >= 0; i--) {
		struct rf_pin_path path = rf_pin_path(fence, names[i]);
		struct rf_pin_path fresh = join_path(fence, "new_", names[i]);

		if (loaded->fd[i] < 0)
			continue;
		unlink(fresh.text); /* of a command that was killed */
		if (bpf_obj_pin(loaded->fd[i], fresh.text) || rename(fresh.text, path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the program: %s",
					       path.text, strerror(errno));
	}
	return 0;
}

int rf_pins_put_maps(const char *fence, const struct rf_loaded *loaded, struct rf_error *error)
{
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		struct rf_pin_path path = rf_pin_path(fence, rf_map_names[i]);

		if (bpf_obj_pin(loaded->map_fd[i], path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the map: %s",
					       path.text, strerror(errno));
	}
	return 0;
}
