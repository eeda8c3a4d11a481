// SPDX-License-Identifier: GPL-2.0
/* What a fence with shares has beyond others: the ring buffer of asks, and the agent's calls. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "attach/private.h"

#include "build/fleet_calls.skel.h" /* last: it uses the types of abi.h */

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

static int pin_calls(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		     const struct fleet_calls_bpf *object, struct rf_error *error)
{
	const int fd[RF_SHARE_PIN_COUNT] = {
		[RF_SHARE_CALL] = bpf_program__fd(object->progs.fleet_call),
		[RF_SHARE_BATCH] = bpf_map__fd(object->maps.fleet_batch),
		[RF_SHARE_ASKS] = bpf_object__find_map_fd_by_name(loaded->object,
								  rf_share_pins[RF_SHARE_ASKS]),
	};
	int err = 0;

	for (int i = 0; i < RF_SHARE_PIN_COUNT && !err; i++)
		err = rf_pins_put(directory, rf_share_pins[i], fd[i], error);
	return err;
}

int rf_shares_pin(const struct rf_pin_path *directory, const struct rf_loaded *loaded,
		  const int map_fd[RF_MAP_COUNT], struct rf_error *error)
{
	struct fleet_calls_bpf *object;
	int err;

	if (!loaded->has_shares)
		return 0;
	object = fleet_calls_bpf__open();
	err = object ? load_calls(object, map_fd) : -errno;
	if (err)
		err = rf_error_failed(error, err,
				      "cannot load the calls of the fleet: %s; attach without "
				      "'fleet', or run 'ringfence doctor'",
				      strerror(-err));
	else
		err = pin_calls(directory, loaded, object, error);
	fleet_calls_bpf__destroy(object);
	return err;
}
