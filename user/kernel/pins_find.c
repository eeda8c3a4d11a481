// SPDX-License-Identifier: GPL-2.0
/* Finds the links, maps and programs of fences by their pins. */
#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/info.h"
#include "kernel/pins.h"
#include "kernel/program.h"
#include "ringfence/abi.h"

/* ---- links ---- */

/* Called for each pin; true ends the walk. */
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
	 * A process that may open links has its answer. Other processes look for the mark of the
	 * link.
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

/* Reads from a configuration which programs use it. Nothing else in it is trusted yet. */
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

/* Opens the pinned program of that entry. -ENOENT: there is none. */
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

int rf_pins_open_program(uint32_t id, struct rf_program *program)
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
