// SPDX-License-Identifier: GPL-2.0
/* What a fence with shares has beyond others: the ring buffer of asks, and the agent's calls. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "kernel/info.h"

#include "build/fleet_calls.skel.h" /* last: it uses the types of abi.h */

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

/* The ring buffer that a program writes its asks into; negative: there is none. */
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

int rf_shares_pin_missing(const struct rf_pin_path *directory, const struct rf_fence *fence,
			  const struct rf_program *program, struct rf_error *error)
{
	int asks_fd, err;

	if (!rf_fence_has_shares(fence) || has_all(directory))
		return 0;
	asks_fd = open_asks(program);
	if (asks_fd < 0)
		return rf_error_failed(error, asks_fd,
				       "cannot find what sources of the fleet ask for: %s; detach "
				       "the fence, and attach it again",
				       strerror(-asks_fd));
	err = pin(directory, asks_fd, fence->map_fd, error);
	close(asks_fd);
	return err;
}
