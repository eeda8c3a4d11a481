// SPDX-License-Identifier: GPL-2.0
/* The pins of fences in bpffs. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
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

void rf_pins_remove(const char *fence)
{
	struct rf_pin_path directory = rf_pin_path(fence, "");
	DIR *entries = opendir(directory.text);
	struct dirent *entry;

	if (!entries)
		return;
	unlinkat(dirfd(entries), "xdp", 0); /* first, as it was the last to be made */
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
	rmdir(directory.text);
	rmdir(RF_PIN_ROOT); /* fails, as it should, while there are other fences */
}

bool rf_pins_is_live_link(const struct rf_pin_path *path)
{
	struct bpf_link_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(path->text);
	bool live;

	if (fd < 0)
		return false;
	live = !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_LINK_TYPE_XDP &&
	       info.xdp.ifindex;
	close(fd);
	return live;
}

static bool is_live_entry(const char *fence, const char *entry)
{
	struct rf_pin_path path = rf_pin_path(fence, entry);

	return rf_pins_is_live_link(&path);
}

bool rf_pins_have_live_link(const char *fence)
{
	DIR *entries = opendir(rf_pin_path(fence, "").text);
	struct dirent *entry;
	bool found = false;

	while (entries && !found && (entry = readdir(entries)))
		found = strncmp(entry->d_name, "link_", 5) == 0 &&
			is_live_entry(fence, entry->d_name);
	if (entries)
		closedir(entries);
	return found;
}

bool rf_pins_belong_to(const struct rf_fence *fence)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(rf_pin_path(fence->name, rf_map_names[RF_MAP_CONFIG]).text);
	bool same;

	if (fd < 0)
		return false;
	same = !bpf_obj_get_info_by_fd(fd, &info, &length) &&
	       info.id == fence->map_id[RF_MAP_CONFIG];
	close(fd);
	return same;
}

int rf_pins_open_link(const char *fence, const struct rf_interface *interface)
{
	struct bpf_link_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(rf_pin_path_link(fence, interface->name).text);

	if (fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &length) || info.type != BPF_LINK_TYPE_XDP ||
	    info.xdp.ifindex != interface->index || info.prog_id != interface->program_id) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

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
