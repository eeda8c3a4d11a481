// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a fence's objects, and the pins of fences in bpffs: their paths and directories, how
 * they are made, and how they are removed. program.c finds them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "kernel/info.h"
#include "kernel/names.h"
#include "kernel/pins.h"

/* ---- names ---- */

/* The configuration is the program's global data: its map is named after the section. */
#define CONFIG_SECTION ".bss"

const char *const rf_map_names[RF_MAP_COUNT] = {
	[RF_MAP_WINDOWS4] = "windows4",
	[RF_MAP_WINDOWS6] = "windows6",
	[RF_MAP_SLOTS4] = "slots4",
	[RF_MAP_SLOTS6] = "slots6",
	[RF_MAP_CONFIG] = "config",
	[RF_MAP_LEASES] = "leases",
	[RF_MAP_LEASE_TAGS] = "lease_tags",
	[RF_MAP_PORTS] = "ports",
	[RF_MAP_PREFIXES4] = "prefixes4",
	[RF_MAP_PREFIXES6] = "prefixes6",
	[RF_MAP_KNOWN_FILTER] = "known_filter",
	[RF_MAP_AGGREGATES] = "aggregates",
	[RF_MAP_ANSWERS] = "answers",
	[RF_MAP_BANS] = "bans",
	[RF_MAP_COUNTERS] = "counters",
	[RF_MAP_LIMIT_COUNTERS] = "limit_counters",
	[RF_MAP_INTERFACES] = "interfaces",
	[RF_MAP_SAMPLES] = "samples",
};

const char *rf_map_in_object(enum rf_map map)
{
	return map == RF_MAP_CONFIG ? CONFIG_SECTION : rf_map_names[map];
}

const char *const rf_entry_names[RF_ENTRY_COUNT] = {
	[RF_PLAIN] = "ringfence",
	[RF_FRAGS] = "ringfence_frags",
};

const char *const rf_entry_pins[RF_ENTRY_COUNT] = {
	[RF_PLAIN] = "xdp",
	[RF_FRAGS] = "frags",
};

const char *const rf_iterator_pins[RF_ITERATOR_COUNT] = {
	[RF_SHOW_STATS] = "stats",
	[RF_SHOW_SOURCES4] = "sources",
	[RF_SHOW_SOURCES6] = "sources6",
	[RF_SHOW_ACTIVE4] = "active",
	[RF_SHOW_ACTIVE6] = "active_v6",
	[RF_SHOW_ACTIVE64_4] = "active64",
	[RF_SHOW_ACTIVE64_6] = "active64_v6",
	[RF_SHOW_WINDOWS4] = "windows",
	[RF_SHOW_WINDOWS6] = "windows_v6",
	[RF_SHOW_PENDING] = "pending",
};

const char *const rf_share_pins[RF_SHARE_PIN_COUNT] = {
	[RF_SHARE_CALL] = "fleet_call",
	[RF_SHARE_BATCH] = "fleet_batch",
	[RF_SHARE_ASKS] = "asks",
};

uint32_t rf_xdp_flags(enum rf_mode mode)
{
	return mode == RF_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}

/* ---- the kernel's information ---- */

int rf_program_info(int fd, struct bpf_prog_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

int rf_map_info(int fd, struct bpf_map_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

int rf_link_info(int fd, struct bpf_link_info *info)
{
	__u32 length = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &length) ? -errno : 0;
}

uint32_t rf_map_id(int fd)
{
	struct bpf_map_info info = {};

	return rf_map_info(fd, &info) ? 0 : info.id;
}

bool rf_map_is_plain(const struct bpf_map_info *info)
{
	return info->type == BPF_MAP_TYPE_ARRAY && info->key_size == sizeof(__u32) &&
	       info->value_size <= RF_PLAIN_VALUE_MAX;
}

bool rf_has_capability(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct set[2] = {};

	return syscall(SYS_capget, &header, set) ||
	       set[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

#define DIRECTORY_MODE 02750
#define PIN_MODE 0640

/* ---- paths ---- */

/*
 * Root's directory. A user without search permission for bpffs, but with write permission for the
 * shared directory, uses the shared one.
 */
static const char *own_root(void)
{
	if (faccessat(AT_FDCWD, RF_BPFFS, X_OK, AT_EACCESS) && errno == EACCES &&
	    !faccessat(AT_FDCWD, RF_SHARE_ROOT, W_OK, AT_EACCESS))
		return RF_SHARE_ROOT;
	return RF_PIN_ROOT;
}

static struct rf_pin_path join(const char *directory, const char *entry)
{
	struct rf_pin_path path;

	/* Names are far too short for this. An empty path cannot lead to a wrong place. */
	if (snprintf(path.text, sizeof(path.text), "%s/%s", directory, entry) >=
	    (int)sizeof(path.text))
		path.text[0] = '\0';
	return path;
}

struct rf_pin_path rf_pins_directory(const char *fence)
{
	struct rf_pin_path path = join(own_root(), fence);

	/* bpffs refuses dots. Interface names can have dots, but no ':', so ':' replaces them. */
	for (char *p = path.text; *p; p++)
		if (*p == '.')
			*p = ':';
	return path;
}

struct rf_pin_path rf_pins_entry(const struct rf_pin_path *directory, const char *entry)
{
	return join(directory->text, entry);
}

static bool is_shared_path(const char *path)
{
	return strncmp(path, RF_SHARE_ROOT "/", sizeof(RF_SHARE_ROOT)) == 0;
}

static bool is_shared(const struct rf_pin_path *path)
{
	return is_shared_path(path->text);
}

struct rf_pin_path rf_pins_shared(const struct rf_pin_path *directory)
{
	struct stat root;

	/* Symbolic links of another user could lead anywhere. */
	if (is_shared(directory) || lstat(RF_SHARE_ROOT, &root) || root.st_uid != geteuid())
		return (struct rf_pin_path){};
	return join(RF_SHARE_ROOT, strrchr(directory->text, '/') + 1);
}

uint32_t rf_net_namespace(void)
{
	struct stat namespace = {};

	stat("/proc/self/ns/net", &namespace);
	return namespace.st_ino;
}

/*
 * The name is unique on this machine while the namespace lives. A link does not outlive its device.
 */
void rf_pins_name_link(unsigned int index, char name[64])
{
	snprintf(name, 64, "link_%u_%u", index, rf_net_namespace());
}

struct rf_pin_path rf_pins_link(const struct rf_pin_path *directory, unsigned int index)
{
	char name[64];

	rf_pins_name_link(index, name);
	return rf_pins_entry(directory, name);
}

struct rf_pin_path rf_pins_parent(const struct rf_pin_path *path)
{
	struct rf_pin_path parent = *path;

	*strrchr(parent.text, '/') = '\0';
	return parent;
}

/*
 * Directories have the names of interfaces, which may contain the special characters of a pattern.
 */
void rf_pins_glob_links(const struct rf_pin_path *directory, glob_t *paths)
{
	char pattern[2 * RF_PIN_PATH_SIZE];
	size_t length = 0;

	for (const char *p = directory->text; *p; p++) {
		if (strchr("*?[]\\", *p))
			pattern[length++] = '\\';
		pattern[length++] = *p;
	}
	snprintf(pattern + length, sizeof(pattern) - length, "/link_*");
	*paths = (glob_t){};
	if (glob(pattern, GLOB_NOSORT, NULL, paths))
		paths->gl_pathc = 0;
}

/* ---- directories ---- */

static int make_directory(const char *path, struct rf_error *error)
{
	struct stat status;

	if (!mkdir(path, is_shared_path(path) ? 0750 : 0700))
		return 0;
	if (errno == EROFS)
		return rf_error_failed(error, -EROFS,
				       "%s: cannot make the directory: %s; 'mount -o remount,rw "
				       "%s' makes it writable",
				       path, strerror(EROFS), RF_BPFFS);
	if (errno != EEXIST)
		return rf_error_failed(error, -errno, "%s: cannot make the directory: %s", path,
				       strerror(errno));
	if (!lstat(path, &status) && (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()))
		return rf_error_failed(error, -ENOTDIR,
				       "%s: this is in the way, and not ringfence's; remove it",
				       path);
	return 0;
}

int rf_pins_give_group(const char *path, bool is_directory)
{
	return chmod(path, is_directory ? DIRECTORY_MODE : PIN_MODE) ? -errno : 0;
}

/* A directory inherits the set-group-ID bit, and with it the group, from its parent. */
static int make_shared_directory(const char *path, struct rf_error *error)
{
	mode_t before = umask(027);
	int err = make_directory(path, error);
	struct stat status;

	umask(before);
	if (err || (!stat(path, &status) && (status.st_mode & 07777) == DIRECTORY_MODE))
		return err;
	err = rf_pins_give_group(path, true);
	return err ? rf_error_failed(error, err, "%s: cannot set its mode: %s", path,
				     strerror(-err))
		   : 0;
}

/* The parent of a process; 0: unknown. */
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

/* Checks every ancestor, because not every user can read process 1. */
bool rf_pins_mounts_are_private(void)
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

bool rf_pins_is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* Mounts bpffs if it is not mounted, as `ip` does. */
static int mount_bpffs(struct rf_error *error)
{
	if (rf_pins_is_bpffs(RF_BPFFS))
		return 0;
	if (rf_pins_mounts_are_private())
		return rf_error_failed(
			error, -ENOENT,
			"%s: no bpffs in this mount namespace, and pins in one mounted here would "
			"vanish with it; enter a network namespace by 'nsenter --net=…'",
			RF_BPFFS);
	if (mount("bpf", RF_BPFFS, "bpf", 0, "mode=0700"))
		return rf_error_failed(error, -errno,
				       "%s: cannot mount bpffs: %s; as root run 'mount -t bpf "
				       "-o mode=0700 bpf %s'",
				       RF_BPFFS, strerror(errno), RF_BPFFS);
	return 0;
}

int rf_pins_make_directory(const struct rf_pin_path *directory, struct rf_error *error)
{
	int err;

	if (is_shared(directory))
		return make_shared_directory(directory->text, error);
	err = mount_bpffs(error);
	if (!err)
		err = make_directory(RF_PIN_ROOT, error);
	return err ? err : make_directory(directory->text, error);
}

int rf_pins_check_owner(const struct rf_pin_path *directory, struct rf_error *error)
{
	struct stat status;

	if (lstat(directory->text, &status) || status.st_uid == geteuid())
		return 0;
	return rf_error_failed(error, -EACCES,
			       "%s: this fence belongs to user %u; run the command as that user",
			       directory->text, status.st_uid);
}

/* ---- pinning ---- */

/* The path of a temporary pin, which is then renamed to `entry`. */
static struct rf_pin_path fresh_pin(const struct rf_pin_path *directory, const char *entry)
{
	char name[64];

	snprintf(name, sizeof(name), "new_%s", entry);
	return rf_pins_entry(directory, name);
}

int rf_pins_put(const struct rf_pin_path *directory, const char *entry, int fd,
		struct rf_error *error)
{
	struct rf_pin_path path = rf_pins_entry(directory, entry);
	struct rf_pin_path fresh = fresh_pin(directory, entry);
	int err = 0;

	unlink(fresh.text); /* left by a command that was killed */
	if (bpf_obj_pin(fd, fresh.text))
		err = -errno;
	if (!err && is_shared(directory))
		err = rf_pins_give_group(fresh.text, false);
	if (!err && rename(fresh.text, path.text))
		err = -errno;
	if (err)
		return rf_error_failed(error, err, "%s: cannot pin it: %s", path.text,
				       strerror(-err));
	return 0;
}

int rf_pins_put_programs(const struct rf_pin_path *directory, const int fd[RF_ENTRY_COUNT],
			 struct rf_error *error)
{
	int err = 0;

	/* The programs come last: once one is pinned, the fence's pins are complete. */
	for (int i = RF_ENTRY_COUNT - 1; i >= 0 && !err; i--)
		if (fd[i] >= 0)
			err = rf_pins_put(directory, rf_entry_pins[i], fd[i], error);
	return err;
}

int rf_pins_put_maps(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT],
		     struct rf_error *error)
{
	int err = 0;

	/* The configuration comes last, since a fence is found by it. */
	for (int i = 0; i < RF_MAP_COUNT && !err; i++)
		if (i != RF_MAP_CONFIG)
			err = rf_pins_put(directory, rf_map_names[i], map_fd[i], error);
	return err ? err
		   : rf_pins_put(directory, rf_map_names[RF_MAP_CONFIG], map_fd[RF_MAP_CONFIG],
				 error);
}

static void name_trie(int family, int bank, char name[32])
{
	snprintf(name, 32, "%s_%d", rf_map_names[family ? RF_MAP_PREFIXES6 : RF_MAP_PREFIXES4],
		 bank);
}

static int put_trie(const struct rf_pin_path *directory, const char *name, int fd,
		    struct rf_error *error)
{
	if (fd >= 0)
		return rf_pins_put(directory, name, fd, error);
	unlink(rf_pins_entry(directory, name).text);
	return 0;
}

int rf_pins_put_trie(const struct rf_pin_path *directory, int family, int bank, int fd,
		     struct rf_error *error)
{
	struct rf_pin_path shared = rf_pins_shared(directory);
	char name[32];
	int err;

	name_trie(family, bank, name);
	err = put_trie(directory, name, fd, error);
	if (!err && *shared.text && !access(shared.text, F_OK))
		err = put_trie(&shared, name, fd, error);
	return err;
}

int rf_pins_open_trie(const struct rf_pin_path *directory, int family, int bank, uint32_t id)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = BPF_F_RDONLY);
	struct bpf_map_info info = {};
	struct rf_pin_path path;
	char name[32];
	int fd, err;

	name_trie(family, bank, name);
	path = rf_pins_entry(directory, name);
	fd = bpf_obj_get(path.text); /* its owner may write */
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		fd = bpf_obj_get_opts(path.text, &options);
	if (fd < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	err = rf_map_info(fd, &info) ? -errno : info.id == id ? 0 : -ESTALE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* ---- removable files ---- */

/*
 * Removes only a fence's pins, because other programs can pin in the same directory. A pin is this
 * project's if its object has the kind and the name of one of its objects.
 */

enum kind {
	PROGRAM,
	MAP,
	ITERATOR,
};

static const char *const kind_names[] = {[PROGRAM] = "prog", [MAP] = "map", [ITERATOR] = "link"};

/* A pin that a fence can have. The links of interfaces are not among these. */
struct pin {
	char name[32];
	enum kind kind;
	const char *object; /* part of its object's name */
};

#define TRIES (2 * RF_FAMILIES)
#define PINS (RF_ENTRY_COUNT + RF_SHARE_PIN_COUNT + RF_MAP_COUNT + TRIES + RF_ITERATOR_COUNT)

/* The programs come first, since they are pinned last. */
static struct pin nth_pin(int i)
{
	struct pin pin = {};

	if (i < RF_ENTRY_COUNT) {
		pin = (struct pin){.kind = PROGRAM, .object = "ringfence"};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_entry_pins[i]);
	} else if ((i -= RF_ENTRY_COUNT) < RF_SHARE_PIN_COUNT) {
		pin = (struct pin){.kind = i == RF_SHARE_CALL ? PROGRAM : MAP,
				   .object = rf_share_pins[i]};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_share_pins[i]);
	} else if ((i -= RF_SHARE_PIN_COUNT) < RF_MAP_COUNT) {
		pin = (struct pin){.kind = MAP, .object = rf_map_in_object(i)};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_map_names[i]);
	} else if ((i -= RF_MAP_COUNT) < TRIES) {
		pin = (struct pin){.kind = MAP, .object = "prefix_trie"};
		name_trie(i / 2, i % 2, pin.name);
	} else {
		pin = (struct pin){.kind = ITERATOR};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_iterator_pins[i - TRIES]);
	}
	return pin;
}

/* ---- whose pins ---- */

static bool is_kind(int fd, enum kind kind)
{
	char path[64], target[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	return strstr(target, kind_names[kind]);
}

/* Does the pinned object have the kind and the name of ours? */
static bool is_our_object(int fd, const struct pin *pin)
{
	struct bpf_prog_info program = {};
	struct bpf_map_info map = {};

	if (!is_kind(fd, pin->kind))
		return false;
	switch (pin->kind) {
	case PROGRAM:
		return !rf_program_info(fd, &program) &&
		       strstr(program.name, pin->object) == program.name;
	case MAP:
		return !rf_map_info(fd, &map) && strstr(map.name, pin->object);
	case ITERATOR:
		break;
	}
	return true;
}

enum owner {
	NOBODY, /* no pin, or no permission to open it */
	OURS,
	FOREIGN,
};

static enum owner owner_of(const struct rf_pin_path *path, const struct pin *pin)
{
	enum owner owner = NOBODY;
	struct stat status;
	int fd;

	if (lstat(path->text, &status))
		return NOBODY;
	if (!S_ISREG(status.st_mode))
		return FOREIGN;
	fd = bpf_obj_get(path->text);
	if (fd >= 0) {
		owner = is_our_object(fd, pin) ? OURS : FOREIGN;
		close(fd);
	}
	return owner;
}

static int fail_foreign(const char *path, struct rf_error *error)
{
	return rf_error_failed(error, -EEXIST,
			       "%s: this is in the way, and not ringfence's; remove it, or choose "
			       "another fence name: 'ringfence attach IF fence NAME'",
			       path);
}

int rf_pins_check(const struct rf_pin_path *directory, struct rf_error *error)
{
	struct stat status;

	if (!lstat(directory->text, &status) && !S_ISDIR(status.st_mode))
		return fail_foreign(directory->text, error);
	for (int i = 0; i < PINS; i++) {
		const struct pin pin = nth_pin(i);
		struct rf_pin_path path = rf_pins_entry(directory, pin.name);

		if (owner_of(&path, &pin) == FOREIGN)
			return fail_foreign(path.text, error);
	}
	return 0;
}

/* ---- removing ---- */

/* Is it the link of an interface, or the mark of such a link? */
static bool is_link(const char *path)
{
	struct bpf_link_info info = {};
	struct stat status;
	bool is = false;
	int fd;

	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		return true;
	fd = bpf_obj_get(path);
	if (fd >= 0) {
		is = is_kind(fd, ITERATOR) && !rf_link_info(fd, &info) &&
		     info.type == BPF_LINK_TYPE_XDP;
		close(fd);
	}
	return is;
}

static void remove_links(const struct rf_pin_path *directory)
{
	glob_t paths;

	rf_pins_glob_links(directory, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++)
		if (is_link(paths.gl_pathv[i]))
			unlink(paths.gl_pathv[i]);
	globfree(&paths);
}

static void remove_pin(const struct rf_pin_path *directory, const struct pin *pin)
{
	struct rf_pin_path path = rf_pins_entry(directory, pin->name);
	struct rf_pin_path fresh = fresh_pin(directory, pin->name);

	if (owner_of(&path, pin) == OURS)
		unlink(path.text);
	if (owner_of(&fresh, pin) == OURS) /* left by a command that was killed */
		unlink(fresh.text);
}

/* Links are removed last: while one is there, a command that was killed can be run again. */
static void remove_directory(const struct rf_pin_path *directory)
{
	struct stat status;

	if (lstat(directory->text, &status) || !S_ISDIR(status.st_mode))
		return;
	for (int i = 0; i < PINS; i++) {
		const struct pin pin = nth_pin(i);

		remove_pin(directory, &pin);
	}
	remove_links(directory);
	rmdir(directory->text); /* fails, as it should, if anything is left in it */
}

/* A directory with programs is no copy: it is the only directory of another user's fence. */
static bool is_copy(const struct rf_pin_path *directory)
{
	return access(rf_pins_entry(directory, rf_entry_pins[RF_PLAIN]).text, F_OK) &&
	       access(rf_pins_entry(directory, rf_entry_pins[RF_FRAGS]).text, F_OK);
}

void rf_pins_remove(const struct rf_pin_path *directory)
{
	struct rf_pin_path shared = rf_pins_shared(directory);

	/* The copy is removed first: without the original, nothing would lead to it. */
	if (*shared.text && is_copy(&shared))
		remove_directory(&shared);
	remove_directory(directory);
	rmdir(RF_PIN_ROOT);
}
