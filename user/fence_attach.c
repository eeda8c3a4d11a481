// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching, upgrading, detaching. A fence attached here is pinned in a directory of its own:
 * `xdp` and, where the kernel has it, `frags` (the programs), the maps by their names, and
 * `link_IF` for each interface.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fence_internal.h"

#include "build/ringfence.skel.h" /* last: it wants the types of abi.h */

#define BPFFS "/sys/fs/bpf"
#define PLAIN_MTU_MAX 3498	      /* above it a frame may not fit one page with its headroom */
#define SOURCES_PER_CPU_MIN (4 * 128) /* each CPU parks 128 free windows; fewer evict early */

static const char *mode_name(enum rf_mode mode)
{
	return mode == RF_GENERIC ? "generic" : "native";
}

/* ---- pins ---- */

struct pin_path {
	char text[PATH_MAX];
};

/* The path of `entry` of a fence. bpffs refuses dots, which interface names have; ':' they lack. */
static struct pin_path pin_path(const char *fence, const char *prefix, const char *entry)
{
	struct pin_path path;
	int root = strlen(RF_PIN_ROOT);

	snprintf(path.text, sizeof(path.text), "%s/%s%s%s%s", RF_PIN_ROOT, fence, *entry ? "/" : "",
		 prefix, entry);
	for (char *p = path.text + root; *p; p++)
		if (*p == '.')
			*p = ':';
	return path;
}

static int make_directory(const char *path, struct rf_error *error)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return rf_error_failed(error, -errno, "%s: cannot make the directory: %s", path,
				       strerror(errno));
	return 0;
}

/* The directory of a fence, mounting bpffs where nobody has, as `ip` does. */
static int make_pin_directory(const char *fence, struct rf_error *error)
{
	struct statfs fs;
	int err;

	if ((statfs(BPFFS, &fs) || fs.f_type != BPF_FS_MAGIC) &&
	    mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return rf_error_failed(error, -errno, "%s: cannot mount bpffs: %s; run as root",
				       BPFFS, strerror(errno));
	err = make_directory(RF_PIN_ROOT, error);
	return err ? err : make_directory(pin_path(fence, "", "").text, error);
}

/* Removes a fence's pins, all of them; what is attached by other means stays attached. */
static void remove_pins(const char *fence)
{
	struct pin_path directory = pin_path(fence, "", "");
	DIR *entries = opendir(directory.text);
	struct dirent *entry;

	if (!entries)
		return;
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(entries), entry->d_name, 0);
	closedir(entries);
	rmdir(directory.text);
	rmdir(RF_PIN_ROOT); /* fails, as it should, while there are other fences */
}

/* Is a link pinned there whose device still exists, in whatever network namespace? */
static bool is_live_link(const char *path)
{
	struct bpf_link_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(path);
	bool live;

	if (fd < 0)
		return false;
	live = !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_LINK_TYPE_XDP &&
	       info.xdp.ifindex;
	close(fd);
	return live;
}

static bool has_live_link(const char *fence)
{
	DIR *entries = opendir(pin_path(fence, "", "").text);
	struct dirent *entry;
	bool found = false;

	while (entries && !found && (entry = readdir(entries)))
		found = strncmp(entry->d_name, "link_", 5) == 0 &&
			is_live_link(pin_path(fence, "", entry->d_name).text);
	if (entries)
		closedir(entries);
	return found;
}

/* Are the pins of that name this fence's, and not those of a namesake elsewhere? */
static bool owns_pins(const struct rf_fence *fence)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(pin_path(fence->name, "", rf_map_names[RF_MAP_CONFIG]).text);
	bool same;

	if (fd < 0)
		return false;
	same = !bpf_obj_get_info_by_fd(fd, &info, &length) &&
	       info.id == fence->map_id[RF_MAP_CONFIG];
	close(fd);
	return same;
}

/* The pinned link of an interface as a file descriptor, if it is the one in force there. */
static int open_link(const char *fence, const struct rf_interface *interface)
{
	struct bpf_link_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_obj_get(pin_path(fence, "link_", interface->name).text);

	if (fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &length) || info.type != BPF_LINK_TYPE_XDP ||
	    info.xdp.ifindex != interface->index || info.prog_id != interface->program_id) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* ---- loading ---- */

/* A fence that is being made or changed. */
struct loaded {
	struct ringfence_bpf *object;
	int fd[2]; /* the plain entry and, or -1, the one for frames in several buffers */
	uint8_t tag[2][RF_PROGRAM_TAG_SIZE];
};

static int reuse_maps(struct bpf_object *object, const struct rf_fence *fence)
{
	int err = 0;

	for (int i = 0; i < RF_MAP_COUNT && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, rf_map_names[i]);

		err = map ? bpf_map__reuse_fd(map, fence->map_fd[i]) : -ENOENT;
	}
	return err;
}

static int try_load(struct loaded *loaded, const struct rf_fence *reuse, uint32_t sources,
		    bool frags)
{
	struct ringfence_bpf *object = ringfence_bpf__open();
	int err;

	if (!object)
		return -errno;
	bpf_program__set_autoload(object->progs.ringfence_frags, frags);
	if (reuse) {
		err = reuse_maps(object->obj, reuse);
	} else {
		err = bpf_map__set_max_entries(object->maps.windows4, sources);
		if (!err)
			err = bpf_map__set_max_entries(object->maps.windows6, sources);
	}
	if (!err)
		err = ringfence_bpf__load(object);
	if (err) {
		ringfence_bpf__destroy(object);
		return err;
	}
	loaded->object = object;
	loaded->fd[0] = bpf_program__fd(object->progs.ringfence);
	loaded->fd[1] = frags ? bpf_program__fd(object->progs.ringfence_frags) : -1;
	return 0;
}

static int read_tag(int fd, uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		return -errno;
	memcpy(tag, info.tag, RF_PROGRAM_TAG_SIZE);
	return 0;
}

/* Loads the program with the maps of `reuse`, or with new ones for `sources` each. */
static int load(struct loaded *loaded, const struct rf_fence *reuse, uint32_t sources,
		struct rf_error *error)
{
	int err = try_load(loaded, reuse, sources, true);

	if (err && err != -EPERM)
		err = try_load(loaded, reuse, sources, false); /* frags came with Linux 5.18 */
	for (int i = 0; i < 2 && !err; i++)
		if (loaded->fd[i] >= 0)
			err = read_tag(loaded->fd[i], loaded->tag[i]);
	if (err == -EPERM)
		return rf_error_failed(error, err, "cannot load the program: %s; run as root",
				       strerror(-err));
	if (err)
		return rf_error_failed(
			error, err,
			"cannot load the program: %s; 'ringfence --verbose' shows why, Linux "
			"5.15 or newer is needed",
			strerror(-err));
	return 0;
}

static int check_sources(uint32_t sources, struct rf_error *error)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t min = (cpus > 0 ? cpus : 1) * SOURCES_PER_CPU_MIN;

	if (sources < min)
		return rf_error_usage(
			error,
			"'sources %u': too few for %d CPUs, which keep some free each; take "
			"%u or more",
			sources, cpus, min);
	return 0;
}

/* ---- a fence's pinned programs and maps ---- */

static int pin_programs(const char *fence, const struct loaded *loaded, struct rf_error *error)
{
	static const char *const names[] = {"xdp", "frags"};

	for (int i = 0; i < 2; i++) {
		struct pin_path path = pin_path(fence, "", names[i]);
		struct pin_path fresh = pin_path(fence, "new_", names[i]);

		if (loaded->fd[i] < 0)
			continue;
		unlink(fresh.text); /* of a command that was killed */
		if (bpf_obj_pin(loaded->fd[i], fresh.text) || rename(fresh.text, path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the program: %s",
					       path.text, strerror(errno));
	}
	return 0;
}

static int pin_maps(const char *fence, const struct loaded *loaded, struct rf_error *error)
{
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		struct pin_path path = pin_path(fence, "", rf_map_names[i]);
		struct bpf_map *map =
			bpf_object__find_map_by_name(loaded->object->obj, rf_map_names[i]);

		if (!map || bpf_obj_pin(bpf_map__fd(map), path.text))
			return rf_error_failed(error, -errno, "%s: cannot pin the map: %s",
					       path.text, strerror(errno));
	}
	return 0;
}

/* Makes a fence of that name, with its pins, and without any interface yet. */
static int create_fence(const char *name, uint32_t sources, struct loaded *loaded,
			struct rf_error *error)
{
	int err = check_sources(sources, error);

	if (!err)
		err = load(loaded, NULL, sources, error);
	if (err)
		return err;
	err = make_pin_directory(name, error);
	if (!err) {
		struct rf_config config = {.next_limit_id = 1};
		__u32 key = 0;

		snprintf(config.name, sizeof(config.name), "%s", name);
		if (bpf_map__update_elem(loaded->object->maps.config, &key, sizeof(key), &config,
					 sizeof(config), BPF_ANY))
			err = rf_error_failed(error, -errno, "cannot name the fence: %s",
					      strerror(errno));
	}
	if (!err)
		err = pin_maps(name, loaded, error);
	if (!err)
		err = pin_programs(name, loaded, error);
	if (err)
		remove_pins(name);
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

	if (err == -EOPNOTSUPP && mode == RF_NATIVE)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in native mode: %s; try 'ringfence attach %s mode "
			"generic'",
			name, strerror(-err), name);
	if (err == -EPERM)
		return rf_error_failed(error, err, "%s: cannot attach: %s; run as root", name,
				       strerror(-err));
	if (err == -EBUSY || err == -EEXIST)
		return rf_error_failed(
			error, err,
			"%s: cannot attach: another XDP program came first; run 'ip link show "
			"dev %s'",
			name, name);
	if (mtu > PLAIN_MTU_MAX && mode == RF_NATIVE)
		return rf_error_failed(
			error, err,
			"%s: cannot attach at MTU %d: %s; lower it to %d, or try 'ringfence "
			"attach %s mode generic'",
			name, mtu, strerror(-err), PLAIN_MTU_MAX, name);
	return rf_error_failed(error, err, "%s: cannot attach in %s mode: %s", name,
			       mode_name(mode), strerror(-err));
}

/*
 * Attaches one of the two entries: the plain one where a frame fits one page, the other one for a
 * jumbo MTU; where the driver refuses the first choice, the second. Returns the link.
 */
static int create_link(const struct loaded *loaded, const struct rf_interface *interface,
		       enum rf_mode mode, bool *frags, struct rf_error *error)
{
	LIBBPF_OPTS(bpf_link_create_opts, options,
		    .flags = mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	int mtu = read_mtu(interface->name);
	int first = mode == RF_NATIVE && mtu > PLAIN_MTU_MAX ? 1 : 0;
	int first_err = 0;

	for (int i = 0; i < 2; i++) {
		int entry = i ? !first : first;
		int fd = loaded->fd[entry];

		if (fd < 0)
			continue;
		fd = bpf_link_create(fd, interface->index, BPF_XDP, &options);
		*frags = entry == 1;
		if (fd >= 0)
			return fd;
		if (!first_err)
			first_err = -errno;
		if (first_err == -EPERM || first_err == -EBUSY)
			break;
	}
	return fail_attach(interface, mode, first_err, mtu, error);
}

static int attach_interface(const char *fence, const struct loaded *loaded,
			    const struct rf_interface *interface, enum rf_mode mode,
			    struct rf_attached *attached, struct rf_error *error)
{
	struct pin_path path = pin_path(fence, "link_", interface->name);
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

static bool is_entry(const uint8_t tag[RF_PROGRAM_TAG_SIZE], const struct loaded *loaded)
{
	for (int i = 0; i < 2; i++)
		if (loaded->fd[i] >= 0 && memcmp(tag, loaded->tag[i], RF_PROGRAM_TAG_SIZE) == 0)
			return true;
	return false;
}

/* Swaps the program of one interface for the same entry of the new build, atomically. */
static int swap_program(const char *fence, const struct rf_interface *interface,
			const struct rf_program *old, const struct loaded *loaded,
			struct rf_error *error)
{
	int fd = loaded->fd[strcmp(old->name, "ringfence_frags") == 0];
	int err;

	if (fd < 0)
		return rf_error_failed(error, -ENOEXEC,
				       "%s: cannot upgrade: no frags on this kernel",
				       interface->name);
	if (interface->by_link) {
		LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
			    .old_prog_fd = old->fd);
		int link = open_link(fence, interface);

		err = link < 0 ? link : 0;
		if (!err && bpf_link_update(link, fd, &options))
			err = -errno;
		if (link >= 0)
			close(link);
	} else {
		LIBBPF_OPTS(bpf_xdp_attach_opts, options, .old_prog_fd = old->fd);
		__u32 mode =
			interface->mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;

		err = bpf_xdp_attach(interface->index, fd, mode | XDP_FLAGS_REPLACE, &options);
	}
	if (err)
		return rf_error_failed(error, err, "%s: cannot upgrade its program: %s",
				       interface->name, strerror(-err));
	return 0;
}

/* Swaps the program wherever it is not that of this build. Returns how many were. */
static int upgrade_interfaces(const struct rf_fence *fence, const struct loaded *loaded,
			      struct rf_error *error)
{
	int swapped = 0, err = 0;

	for (int i = 0; i < fence->interfaces && !err; i++) {
		struct rf_program program;

		err = rf_program_open(&program, fence->interface[i].program_id, error);
		if (!err && !is_entry(program.tag, loaded)) {
			err = swap_program(fence->name, &fence->interface[i], &program, loaded,
					   error);
			swapped++;
		}
		rf_program_close(&program);
	}
	return err ? err : swapped;
}

/* ---- a request ---- */

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
			name, mode_name(interface->mode), name);
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
	return 0;
}

/* Opens the pinned fence of that name; -ENOENT where there is none, or a half-made one. */
static int open_pinned(const char *name, struct rf_fence *fence, struct rf_error *error)
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);
	struct rf_program program = RF_PROGRAM_NONE;
	int fd = bpf_obj_get(pin_path(name, "", "xdp").text);
	int err;

	if (fd < 0)
		return errno == EPERM || errno == EACCES
			       ? rf_error_failed(error, -errno, "%s/%s: %s; run as root",
						 RF_PIN_ROOT, name, strerror(errno))
			       : -ENOENT;
	err = bpf_obj_get_info_by_fd(fd, &info, &length) ? -errno : 0;
	close(fd);
	if (err)
		return rf_error_failed(error, err, "fence '%s': cannot read its program: %s", name,
				       strerror(-err));
	err = rf_program_open(&program, info.id, error);
	if (!err)
		err = program.ours && program.abi == RF_ABI_VERSION
			      ? rf_fence_adopt(fence, &program, error)
			      : rf_error_failed(error, -EPROTO,
						"fence '%s': its pins in %s/%s are of another map "
						"ABI (%u, not "
						"%u); detach its interfaces with the ringfence "
						"that attached them",
						name, RF_PIN_ROOT, name, program.abi,
						RF_ABI_VERSION);
	rf_program_close(&program);
	return err;
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
		err = rf_error_failed(
			error, -EBUSY,
			"%s: a foreign XDP program is in place: '%s' (id %u); remove it first, "
			"for instance with 'ip link set dev %s xdp off'",
			interface->name, program.name, program.id, interface->name);
	rf_program_close(&program);
	return err ? err : rf_fence_open(fence, interface->name, error);
}

static int upgrade_fence(const struct rf_fence *fence, struct loaded *loaded,
			 struct rf_error *error)
{
	int swapped = upgrade_interfaces(fence, loaded, error);
	int err = swapped < 0 ? swapped : 0;

	if (!err && access(pin_path(fence->name, "", "xdp").text, F_OK) == 0 &&
	    (swapped || !is_entry(fence->program_tag, loaded)))
		err = pin_programs(fence->name, loaded, error);
	return err ? err : swapped;
}

/* An interface that has our program: the same build stays as it is, another one is upgraded. */
static int renew_interface(const struct rf_interface *interface, const struct rf_attach *attach,
			   const struct rf_fence *fence, struct rf_attached *attached,
			   struct rf_error *error)
{
	struct loaded loaded = {.fd = {-1, -1}};
	int err = check_occupied(interface, attach, fence, error);
	int swapped;

	if (!err)
		err = load(&loaded, fence, 0, error);
	if (err)
		return err;
	swapped = upgrade_fence(fence, &loaded, error);
	ringfence_bpf__destroy(loaded.object);
	if (swapped < 0)
		return swapped;
	attached->outcome = swapped ? RF_UPGRADED : RF_UNCHANGED;
	snprintf(attached->fence, sizeof(attached->fence), "%s", fence->name);
	return 0;
}

/* An interface without a program: joins the fence of that name, which is made if need be. */
static int join_fence(const char *name, const struct rf_interface *interface,
		      const struct rf_attach *attach, struct rf_attached *attached,
		      struct rf_error *error)
{
	struct loaded loaded = {.fd = {-1, -1}};
	struct rf_fence fence = RF_FENCE_NONE;
	int err = open_pinned(name, &fence, error);
	bool made = err == -ENOENT;

	if (is_live_link(pin_path(name, "link_", interface->name).text)) {
		err = rf_error_failed(
			error, -EBUSY,
			"%s: fence '%s' holds an interface of that name in another network "
			"namespace; use another: 'ringfence attach %s fence NAME'",
			interface->name, name, interface->name);
	} else if (made) {
		remove_pins(name); /* of a command that was killed halfway */
		err = create_fence(name, attach->sources ? attach->sources : RF_SOURCES_DEFAULT,
				   &loaded, error);
	} else if (!err && attach->sources && attach->sources != fence.sources) {
		err = rf_error_failed(
			error, -EBUSY,
			"fence '%s': it has room for %u sources, not %u; leave 'sources' out", name,
			fence.sources, attach->sources);
	} else if (!err) {
		err = load(&loaded, &fence, 0, error);
		if (!err)
			err = upgrade_fence(&fence, &loaded, error);
		err = err > 0 ? 0 : err;
	}
	if (!err) {
		err = attach_interface(name, &loaded, interface, attach->mode, attached, error);
		if (err && made)
			remove_pins(name);
	}
	snprintf(attached->fence, sizeof(attached->fence), "%s", name);
	if (loaded.object)
		ringfence_bpf__destroy(loaded.object);
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
	snprintf(attached->interface, sizeof(attached->interface), "%s", name);
	attached->mode = attach->mode;
	err = open_attached(&interface, &fence, error);
	if (!err)
		err = renew_interface(&interface, attach, &fence, attached, error);
	else if (err == -ENOENT)
		err = join_fence(attach->fence ? attach->fence : name, &interface, attach, attached,
				 error);
	rf_fence_close(&fence);
	return err;
}

/* ---- detaching ---- */

static int detach_link(const struct rf_fence *fence, const struct rf_interface *interface,
		       struct rf_error *error)
{
	int fd = open_link(fence->name, interface);
	int err;

	if (fd < 0)
		return rf_error_failed(
			error, fd,
			"%s: its program is held by a link of another process, or pinned "
			"elsewhere; 'bpftool link' shows it",
			interface->name);
	err = bpf_link_detach(fd) ? -errno : 0;
	close(fd);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	unlink(pin_path(fence->name, "link_", interface->name).text);
	return 0;
}

static int detach_netlink(const struct rf_interface *interface, struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options,
		    .old_prog_fd = bpf_prog_get_fd_by_id(interface->program_id));
	__u32 mode = interface->mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
	int err = bpf_xdp_detach(interface->index, mode | XDP_FLAGS_REPLACE, &options);

	close(options.old_prog_fd);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	return 0;
}

static int detach_one(const char *dev, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const struct rf_interface *interface = NULL;
	int err = rf_fence_open(&fence, dev, error);

	for (int i = 0; i < fence.interfaces && !err; i++)
		if (strcmp(fence.interface[i].name, dev) == 0)
			interface = &fence.interface[i];
	if (!err && !interface)
		err = rf_error_failed(error, -ENOENT, "%s: went away meanwhile", dev);
	if (!err)
		err = interface->by_link ? detach_link(&fence, interface, error)
					 : detach_netlink(interface, error);
	if (!err && fence.interfaces == 1 && owns_pins(&fence) && !has_live_link(fence.name))
		remove_pins(fence.name);
	rf_fence_close(&fence);
	return err;
}

int rf_fence_detach(const char *dev, struct rf_error *error)
{
	int err = rf_fence_lock(error);

	return err ? err : detach_one(dev, error);
}

int rf_fence_attach(const struct rf_attach *attach, struct rf_attached *attached,
		    struct rf_error *error)
{
	int err = rf_fence_lock(error);

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
