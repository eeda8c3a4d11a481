// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the links, maps and programs of fences by their pins, and opens programs and maps: by id,
 * which takes CAP_SYS_ADMIN, or else by their pins.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/info.h"
#include "kernel/pins.h"
#include "kernel/program.h"
#include "ringfence/abi.h"

/* ---- links by their pins ---- */

/* Called for each pin; true stops the walk. */
typedef bool (*pin_visit)(const struct rf_pin_path *path, void *context);

static bool each_pin_in(const char *root, const char *entry, pin_visit visit, void *context)
{
	bool found = false;
	glob_t paths = {};
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "%s/*/%s", root, entry);
	if (glob(pattern, GLOB_NOSORT, NULL, &paths) == 0)
		for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
			struct rf_pin_path path;

			snprintf(path.text, sizeof(path.text), "%s", paths.gl_pathv[i]);
			found = visit(&path, context);
		}
	globfree(&paths);
	return found;
}

/* `entry` is a pattern for names in the directories of fences. Root's directories come first. */
static bool each_pin(const char *entry, pin_visit visit, void *context)
{
	return each_pin_in(RF_PIN_ROOT, entry, visit, context) ||
	       each_pin_in(RF_SHARE_ROOT, entry, visit, context);
}

static int read_link(int fd, struct bpf_link_info *info)
{

	*info = (struct bpf_link_info){};
	if (fd < 0 || rf_link_info(fd, info) || info->type != BPF_LINK_TYPE_XDP)
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
	unsigned int index;
	uint32_t program_id;
	struct rf_pin_path *path;
	int fd;
};

static bool is_link_of(const struct rf_pin_path *path, void *context)
{
	struct link_search *search = context;
	struct bpf_link_info info;
	int fd = bpf_obj_get(path->text);

	if (read_link(fd, &info) || info.xdp.ifindex != search->index ||
	    info.prog_id != search->program_id) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	search->fd = fd;
	*search->path = *path;
	return true;
}

int rf_pins_open_link(unsigned int index, uint32_t program_id, struct rf_pin_path *path)
{
	struct link_search search = {index, program_id, path, -ENOENT};
	char name[64];

	rf_pins_name_link(index, name);
	each_pin(name, is_link_of, &search);
	return search.fd;
}

static bool is_mark(const struct rf_pin_path *path, void *context)
{
	struct stat mark;

	(void)context;
	return !lstat(path->text, &mark); /* a user's own fence has the link itself */
}

bool rf_pins_have_link(unsigned int index, uint32_t program_id)
{
	struct rf_pin_path path;
	int fd = rf_pins_open_link(index, program_id, &path);
	char name[64];

	if (fd >= 0) {
		close(fd);
		return true;
	}
	/*
	 * A process with permission to open links has its result. Other processes search for the
	 * mark of the link.
	 */
	rf_pins_name_link(index, name);
	return access(RF_PIN_ROOT, R_OK) && each_pin_in(RF_SHARE_ROOT, name, is_mark, NULL);
}

/* ---- maps and programs ---- */

/* Opens a pin for writing if we may, else for reading. */
static int open_pin(const struct rf_pin_path *path, bool *read_only)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = BPF_F_RDONLY);
	int fd = bpf_obj_get(path->text);

	*read_only = false;
	if (fd >= 0 || errno != EACCES)
		return fd;
	*read_only = true;
	return bpf_obj_get_opts(path->text, &options);
}

struct config_search {
	uint32_t id;
	struct rf_pin_path *directory;
};

static bool is_config(const struct rf_pin_path *path, void *context)
{
	struct config_search *search = context;
	bool read_only, same;
	int fd = open_pin(path, &read_only);

	if (fd < 0)
		return false;
	same = rf_map_id(fd) == search->id;
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

uint32_t rf_pins_config_id(const struct rf_pin_path *directory)
{
	int fd = bpf_obj_get(rf_pins_entry(directory, rf_map_names[RF_MAP_CONFIG]).text);
	uint32_t id = fd < 0 ? 0 : rf_map_id(fd);

	if (fd >= 0)
		close(fd);
	return id;
}

/* Reads from a configuration which programs use it. The rest of it is not trusted yet. */
static bool read_pinned(int fd, struct rf_pinned *pinned)
{
	struct bpf_map_info info = {};
	__u32 key = 0;
	char *value;
	bool read;

	if (rf_map_info(fd, &info) || info.value_size < sizeof(*pinned) || !rf_map_is_plain(&info))
		return false;
	value = malloc(info.value_size);
	read = value && !bpf_map_lookup_elem(fd, &key, value);
	if (read)
		memcpy(pinned, value, sizeof(*pinned));
	free(value);
	return read && rf_magic_is_ours(pinned->magic);
}

int rf_pins_read_pinned(uint32_t config_id, struct rf_pinned *pinned)
{
	struct rf_pin_path directory, path;
	bool read_only, read;
	int fd;

	if (rf_pins_find(config_id, &directory))
		return -ENOENT;
	path = rf_pins_entry(&directory, rf_map_names[RF_MAP_CONFIG]);
	fd = open_pin(&path, &read_only);
	if (fd < 0)
		return -ENOENT;
	read = read_pinned(fd, pinned);
	close(fd);
	return read ? 0 : -ENOENT;
}

bool rf_pinned_lists(const struct rf_pinned *pinned, uint32_t program_id)
{
	for (int i = 0; i < RF_PINNED_PROGRAMS; i++)
		if (pinned->program_id[i] == program_id)
			return true;
	return false;
}

static void open_maps(const struct rf_pin_path *directory, struct rf_program *program)
{
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		struct rf_pin_path path = rf_pins_entry(directory, rf_map_names[i]);
		bool read_only;

		program->map_fd[i] = open_pin(&path, &read_only);
		if (program->map_fd[i] >= 0)
			program->map_id[i] = rf_map_id(program->map_fd[i]);
		program->read_only = program->read_only || read_only;
	}
}

/* Opens the pinned program of that entry. -ENOENT if not found. */
static int open_program(const struct rf_pin_path *directory, enum rf_entry entry,
			struct bpf_prog_info *info)
{
	int fd = bpf_obj_get(rf_pins_entry(directory, rf_entry_pins[entry]).text);
	int err;

	if (fd < 0)
		return -errno;
	err = rf_program_info(fd, info);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Opens the program itself, if we may, and reads its name and its tag. */
static void open_entry(const struct rf_pin_path *directory, struct rf_program *program)
{
	for (int i = 0; i < RF_ENTRY_COUNT && program->fd < 0; i++) {
		struct bpf_prog_info info = {};
		int fd = open_program(directory, i, &info);

		if (fd < 0)
			continue;
		if (info.id == program->id) {
			program->fd = fd;
			memcpy(program->name, info.name, sizeof(program->name));
			memcpy(program->tag, info.tag, sizeof(program->tag));
		} else {
			close(fd);
		}
	}
}

static bool is_fence_of(const struct rf_pin_path *path, void *context)
{
	struct rf_program *program = context;
	struct rf_pin_path directory = rf_pins_parent(path);
	struct rf_pinned pinned = {};
	bool read_only, found;
	int fd = open_pin(path, &read_only);

	if (fd < 0)
		return false;
	found = read_pinned(fd, &pinned) && rf_pinned_lists(&pinned, program->id);
	close(fd);
	if (!found)
		return false;
	rf_program_take_abi(program, pinned.magic, pinned.abi);
	program->layout = pinned.layout;
	open_maps(&directory, program);
	open_entry(&directory, program);
	return true;
}

/* Opens a program by the pins of the fence that it belongs to. -ENOENT: no pinned fence has it. */
static int pins_open_program(uint32_t id, struct rf_program *program)
{
	program->id = id;
	return each_pin(rf_map_names[RF_MAP_CONFIG], is_fence_of, program) ? 0 : -ENOENT;
}

int rf_pins_open_any_entry(const struct rf_pin_path *directory, struct bpf_prog_info *info)
{
	const int fd = open_program(directory, RF_PLAIN, info);

	return fd == -ENOENT ? open_program(directory, RF_FRAGS, info) : fd;
}

int rf_pins_open_entry(const struct rf_pin_path *directory, enum rf_entry entry,
		       const uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	struct bpf_prog_info info = {};
	int fd = open_program(directory, entry, &info);

	if (fd < 0 || memcmp(info.tag, tag, RF_PROGRAM_TAG_SIZE) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/* ---- opening ---- */

#define MAP_IDS_MAX 32 /* more than any build of ringfence has */

const char *rf_remedy_to_read(void)
{
	/* There is no such pin, so EPERM means that bpf() itself is refused. */
	if (bpf_obj_get(RF_SHARE_ROOT "/.") < 0 && errno == EPERM)
		return "this kernel (before 5.19, with kernel.unprivileged_bpf_disabled set) does "
		       "not allow reading maps without CAP_BPF; run it as root";
	if (!rf_pins_is_bpffs(RF_SHARE_ROOT) || access(RF_SHARE_ROOT, R_OK | X_OK))
		return "run it as root, or as a member of group '" RF_GROUP
		       "' once root has run 'ringfence adopt IF'";
	return "as root run 'ringfence adopt IF' once";
}

static bool is_map(const char *kernel_name, enum rf_map map)
{
	if (map == RF_MAP_CONFIG)
		return strstr(kernel_name, rf_map_in_object(map));
	return strcmp(kernel_name, rf_map_names[map]) == 0;
}

void rf_program_origin(const struct rf_program *program, char text[RF_PROGRAM_ORIGIN_SIZE])
{
	if (program->abi)
		snprintf(text, RF_PROGRAM_ORIGIN_SIZE, "of map ABI %u", program->abi);
	else
		snprintf(text, RF_PROGRAM_ORIGIN_SIZE, "from before the first release");
}

/* Reads the magic and the map ABI from the program's read-only data, which can be shorter. */
static void read_rodata(struct rf_program *program, int fd, const struct bpf_map_info *info)
{
	const size_t size = sizeof(struct rf_rodata);
	struct rf_rodata *rodata;
	__u32 key = 0;

	if (info->value_size < offsetof(struct rf_rodata, layout) || !rf_map_is_plain(info))
		return;
	rodata = calloc(1, info->value_size < size ? size : info->value_size);
	if (rodata && !bpf_map_lookup_elem(fd, &key, rodata) && rf_magic_is_ours(rodata->magic)) {
		rf_program_take_abi(program, rodata->magic, rodata->abi);
		program->layout = rodata->layout;
	}
	free(rodata);
}

static int open_map(struct rf_program *program, uint32_t id)
{
	struct bpf_map_info info = {};
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return -errno;
	if (rf_map_info(fd, &info)) {
		int err = -errno;

		close(fd);
		return err;
	}
	if (strstr(info.name, ".rodata"))
		read_rodata(program, fd, &info);
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		if (is_map(info.name, i) && program->map_fd[i] < 0) {
			program->map_fd[i] = fd;
			program->map_id[i] = id;
			return 0;
		}
	}
	close(fd);
	return 0;
}

static int open_by_pins(struct rf_program *program, uint32_t id, struct rf_error *error)
{
	if (!pins_open_program(id, program))
		return 0;
	return rf_error_failed(error, -EPERM,
			       "not permitted; %s (program id %u: only CAP_SYS_ADMIN may open it "
			       "by its id, and no pin that you may read belongs to it)",
			       rf_remedy_to_read(), id);
}

/*
 * Opens a program by its id, and lists the maps it uses. Returns its descriptor, or a negative
 * errno.
 */
static int ask_for_maps(uint32_t id, struct bpf_prog_info *info, __u32 map_ids[MAP_IDS_MAX])
{
	const int fd = bpf_prog_get_fd_by_id(id);
	int err;

	if (fd < 0)
		return -errno;
	*info = (struct bpf_prog_info){.nr_map_ids = MAP_IDS_MAX, .map_ids = (uintptr_t)map_ids};
	if (!rf_program_info(fd, info))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int rf_program_uses(uint32_t program_id, uint32_t map_id)
{
	__u32 map_ids[MAP_IDS_MAX] = {};
	struct bpf_prog_info info;
	const int fd = ask_for_maps(program_id, &info, map_ids);
	bool uses = false;

	if (fd < 0)
		return fd;
	close(fd);
	for (__u32 i = 0; i < info.nr_map_ids && i < MAP_IDS_MAX; i++)
		uses = uses || map_ids[i] == map_id;
	return uses;
}

int rf_program_open(struct rf_program *program, uint32_t id, struct rf_error *error)
{
	__u32 map_ids[MAP_IDS_MAX] = {};
	struct bpf_prog_info info;
	const int fd = ask_for_maps(id, &info, map_ids);
	int err = 0;

	*program = RF_PROGRAM_NONE;
	program->id = id;
	if (fd == -EPERM)
		return open_by_pins(program, id, error);
	if (fd < 0)
		return rf_error_failed(error, fd, "program id %u: cannot read it: %s", id,
				       strerror(-fd));
	program->fd = fd;
	memcpy(program->name, info.name, sizeof(program->name));
	memcpy(program->tag, info.tag, sizeof(program->tag));
	for (__u32 i = 0; i < info.nr_map_ids && i < MAP_IDS_MAX && !err; i++)
		err = open_map(program, map_ids[i]);
	if (err)
		return rf_error_failed(error, err, "program id %u: cannot read its maps: %s", id,
				       strerror(-err));
	return 0;
}

void rf_program_close(struct rf_program *program)
{
	for (int i = 0; i < RF_MAP_COUNT; i++)
		if (program->map_fd[i] >= 0)
			close(program->map_fd[i]);
	if (program->fd >= 0)
		close(program->fd);
	*program = RF_PROGRAM_NONE;
}

int rf_program_check_fd(const struct rf_program *program, const char *name, struct rf_error *error)
{
	if (program->fd >= 0)
		return 0;
	return rf_error_failed(error, -EPERM,
			       "%s: its program (id %u) is not pinned, so only root can detach or "
			       "upgrade it; as root run 'ringfence adopt %s'",
			       name, program->id, name);
}

int rf_program_fail_maps(const char *name, const char *how, struct rf_error *error)
{
	return rf_error_failed(error, -EPROTO,
			       "%s: its fence has map ABI %u as this ringfence, but %s: another "
			       "build attached it; first run 'ringfence save' of that build, since "
			       "'ringfence attach %s replace' creates an empty fence without the "
			       "rules, windows and counters; 'ringfence detach %s' removes it",
			       name, RF_ABI_VERSION, how, name, name);
}

/* The same number, and maybe other maps. */
static int check_layout(const struct rf_program *program, const char *name, struct rf_error *error)
{
	char how[64];

	for (int i = 0; i < RF_MAP_COUNT; i++) {
		if (program->map_fd[i] >= 0)
			continue;
		snprintf(how, sizeof(how), "it has no map '%s'", rf_map_names[i]);
		return rf_program_fail_maps(name, how, error);
	}
	if (program->layout == RF_ABI_LAYOUT)
		return 0;
	return rf_program_fail_maps(name, "its maps have another layout", error);
}

int rf_program_check_abi(const struct rf_program *program, const char *name, struct rf_error *error)
{
	if (program->abi == RF_ABI_VERSION)
		return check_layout(program, name, error);
	if (!program->abi)
		return rf_error_failed(
			error, -EPROTO,
			"%s: a ringfence from before the first release attached its fence, which "
			"this version cannot read; 'ringfence detach %s' removes it, 'ringfence "
			"attach %s replace' puts an empty fence in its place",
			name, name, name);
	return rf_error_failed(
		error, -EPROTO,
		"%s: its fence has map ABI %u, this ringfence has %u; first run 'ringfence save "
		"dev %s > FILE' of the version that attached it, since 'ringfence attach %s "
		"replace' creates an empty fence without the rules, windows and counters, and "
		"'ringfence apply FILE dev %s' restores the rules",
		name, program->abi, RF_ABI_VERSION, name, name, name);
}

enum rf_entry rf_entry_of(const struct rf_program *program)
{
	return strcmp(program->name, rf_entry_names[RF_FRAGS]) ? RF_PLAIN : RF_FRAGS;
}

uint32_t rf_program_config_of(uint32_t program_id)
{
	struct rf_program program;
	struct rf_error ignored;
	uint32_t id = 0;

	if (!rf_program_open(&program, program_id, &ignored) && program.ours)
		id = program.map_id[RF_MAP_CONFIG];
	rf_program_close(&program);
	return id;
}

int rf_wait_for_programs(struct rf_error *error)
{
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rf_inner", 4, 4, 1, NULL);
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = inner);
	int outer = inner < 0 ? -1
			      : bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rf_outer", 4, 4, 1,
					       &options);
	__u32 key = 0;
	int err = 0;

	if (outer < 0 || bpf_map_update_elem(outer, &key, &inner, BPF_ANY))
		err = rf_error_failed(error, -errno, "cannot wait for the data path: %s",
				      strerror(errno));
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return err;
}
