// SPDX-License-Identifier: GPL-2.0
/*
 * The pins from which live counters and windows are read. Where the kernel does not support them, a
 * fence has none: nothing depends on them.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "attach/load.h"
#include "kernel/info.h"
#include "kernel/log.h"

#include "build/show.skel.h" /* last: it uses the types of abi.h */

/*
 * Enough for either family, and for all leases: a slot or a set that is not there is left out.
 */
static int size_parts(struct show_bpf *object, const int map_fd[RF_MAP_COUNT])
{
	struct bpf_map_info info4 = {}, info6 = {}, sets = {};
	int err = rf_map_info(map_fd[RF_MAP_SLOTS4], &info4);

	if (!err)
		err = rf_map_info(map_fd[RF_MAP_SLOTS6], &info6);
	if (!err)
		err = rf_map_info(map_fd[RF_MAP_LEASES], &sets);
	if (!err)
		err = bpf_map__set_max_entries(object->maps.parts,
					       rf_record_parts(info4.max_entries > info6.max_entries
								       ? info4.max_entries
								       : info6.max_entries));
	if (!err)
		err = bpf_map__set_max_entries(object->maps.lease_parts,
					       rf_lease_parts(sets.max_entries));
	return err;
}

/* Loads the iterators with the maps of the fence. */
static int load_show(struct show_bpf *object, const int map_fd[RF_MAP_COUNT])
{
	int cpus = libbpf_num_possible_cpus();
	int err = rf_maps_reuse(object->obj, map_fd);

	if (cpus < 0)
		return cpus;
	object->rodata->possible_cpus = cpus;
	if (!err)
		err = size_parts(object, map_fd);
	if (!err)
		err = bpf_map__set_autocreate(object->maps.fresh_source, false);
	return err ? err : show_bpf__load(object);
}

static int pin_iterator(const struct rf_pin_path *directory, const char *name,
			const struct bpf_program *program, int map_fd)
{
	union bpf_iter_link_info info = {.map.map_fd = map_fd};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(program, &options);
	struct rf_error ignored;
	int err = link ? rf_pins_put(directory, name, bpf_link__fd(link), &ignored) : -errno;

	bpf_link__destroy(link); /* a pinned iterator stays */
	return err;
}

/* What the iterator iterates over. */
static int map_fd_of(enum rf_iterator iterator, const struct show_bpf *object,
		     const int map_fd[RF_MAP_COUNT])
{
	switch (iterator) {
	case RF_SHOW_STATS:
		return map_fd[RF_MAP_COUNTERS];
	case RF_SHOW_SOURCES4:
		return map_fd[RF_MAP_WINDOWS4];
	case RF_SHOW_SOURCES6:
		return map_fd[RF_MAP_WINDOWS6];
	case RF_SHOW_PENDING:
		return bpf_map__fd(object->maps.lease_parts);
	default:
		return bpf_map__fd(object->maps.parts);
	}
}

static int pin_all(const struct rf_pin_path *directory, struct show_bpf *object,
		   const int map_fd[RF_MAP_COUNT])
{
	const struct bpf_program *const programs[RF_ITERATOR_COUNT] = {
		[RF_SHOW_STATS] = object->progs.show_stats,
		[RF_SHOW_SOURCES4] = object->progs.show_sources4,
		[RF_SHOW_SOURCES6] = object->progs.show_sources6,
		[RF_SHOW_ACTIVE4] = object->progs.show_active4,
		[RF_SHOW_ACTIVE6] = object->progs.show_active6,
		[RF_SHOW_ACTIVE64_4] = object->progs.show_active64_4,
		[RF_SHOW_ACTIVE64_6] = object->progs.show_active64_6,
		[RF_SHOW_WINDOWS4] = object->progs.show_windows4,
		[RF_SHOW_WINDOWS6] = object->progs.show_windows6,
		[RF_SHOW_PENDING] = object->progs.show_pending,
	};
	int err = 0;

	for (int i = 0; i < RF_ITERATOR_COUNT && !err; i++)
		err = pin_iterator(directory, rf_iterator_pins[i], programs[i],
				   map_fd_of(i, object, map_fd));
	return err;
}

int rf_iterators_pin(const struct rf_pin_path *directory, const int map_fd[RF_MAP_COUNT])
{
	struct show_bpf *object;
	int err;

	rf_log_pause(true);
	object = show_bpf__open();
	err = object ? load_show(object, map_fd) : -errno;
	if (!err)
		err = pin_all(directory, object, map_fd);
	show_bpf__destroy(object);
	rf_log_pause(false);
	return err;
}
