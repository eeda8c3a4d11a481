// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the maps of a fence. Another user may have made them, with any program. A look-up writes
 * as many bytes as the map's value size says, even where the buffer is smaller. So the kind and the
 * sizes of each map are checked before anything is read from it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fence/private.h"
#include "kernel/info.h"

#define TICK_NS_MIN 100000 /* HZ 10000 */
#define TICK_NS_MAX 1000000000

struct shape {
	enum bpf_map_type type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t entries; /* 0: the user chose their number */
};

#define INDEXED sizeof(__u32)

static const struct shape shapes[RF_MAP_COUNT] = {
	[RF_MAP_WINDOWS4] = {BPF_MAP_TYPE_HASH, sizeof(struct rf_key4), sizeof(struct rf_source),
			     0},
	[RF_MAP_WINDOWS6] = {BPF_MAP_TYPE_HASH, sizeof(struct rf_key6), sizeof(struct rf_source),
			     0},
	[RF_MAP_SLOTS4] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_slot4), 0},
	[RF_MAP_SLOTS6] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_slot6), 0},
	[RF_MAP_CONFIG] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_config), 1},
	[RF_MAP_LEASES] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_lease_set), 0},
	[RF_MAP_LEASE_TAGS] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(__u64), 0},
	[RF_MAP_PORTS] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_ports), 2},
	[RF_MAP_PREFIXES4] = {BPF_MAP_TYPE_ARRAY_OF_MAPS, INDEXED, sizeof(__u32), 2},
	[RF_MAP_PREFIXES6] = {BPF_MAP_TYPE_ARRAY_OF_MAPS, INDEXED, sizeof(__u32), 2},
	[RF_MAP_KNOWN_FILTER] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_known_filter), 0},
	[RF_MAP_AGGREGATES] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_source),
			       RF_AGGREGATE_SETS *RF_AGGREGATES},
	[RF_MAP_BANS] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(struct rf_ban_set), RF_BAN_SETS},
	[RF_MAP_COUNTERS] = {BPF_MAP_TYPE_PERCPU_ARRAY, INDEXED, sizeof(struct rf_counters), 1},
	[RF_MAP_LIMIT_COUNTERS] = {BPF_MAP_TYPE_PERCPU_ARRAY, INDEXED,
				   sizeof(struct rf_limit_counters), RF_LIMIT_COUNTERS_MAX},
	[RF_MAP_INTERFACES] = {BPF_MAP_TYPE_PERCPU_ARRAY, INDEXED,
			       sizeof(struct rf_interface_counters), RF_INTERFACE_PLACES},
	[RF_MAP_SAMPLES] = {BPF_MAP_TYPE_PERCPU_ARRAY, INDEXED, sizeof(struct rf_sampler), 1},
};

/* The bits of a hash select a line of the filter, so the filter has a power of two of lines. */
static bool is_power_of_two(uint32_t number)
{
	return number && !(number & (number - 1));
}

static bool holds_windows(enum rf_map map)
{
	return map == RF_MAP_WINDOWS4 || map == RF_MAP_WINDOWS6 || map == RF_MAP_AGGREGATES;
}

static bool has_shape(const struct rf_fence *fence, enum rf_map map,
		      const struct bpf_map_info *info)
{
	const struct shape *shape = &shapes[map];

	return info->type == shape->type && info->key_size == shape->key_size &&
	       info->value_size == (holds_windows(map) ? fence->source_size : shape->value_size) &&
	       (!shape->entries || info->max_entries == shape->entries) &&
	       (map != RF_MAP_KNOWN_FILTER || is_power_of_two(info->max_entries));
}

static int fail_shape(const struct rf_fence *fence, enum rf_map map,
		      const struct bpf_map_info *info, struct rf_error *error)
{
	char how[160];

	snprintf(how, sizeof(how),
		 "the map '%s' differs (kind %u, keys of %u bytes, %u values of %u)",
		 rf_map_names[map], info->type, info->key_size, info->max_entries,
		 info->value_size);
	return rf_program_fail_maps(fence->name, how, error);
}

int rf_fence_check_maps(struct rf_fence *fence, struct rf_error *error)
{
	for (int map = 0; map < RF_MAP_COUNT; map++) {
		struct bpf_map_info info = {};

		if (rf_map_info(fence->map_fd[map], &info))
			return rf_error_failed(error, -errno, "cannot read the map '%s': %s",
					       rf_map_names[map], strerror(errno));
		if (map == RF_MAP_WINDOWS4)
			fence->source_size = info.value_size == RF_SHARED_SOURCE_SIZE
						     ? RF_SHARED_SOURCE_SIZE
						     : RF_SOURCE_SIZE;
		fence->is_alien = !has_shape(fence, map, &info);
		if (fence->is_alien)
			return fail_shape(fence, map, &info, error);
	}
	return 0;
}

/* A shift leads to 2^(64 - shift) places: are there as many? 0: no places are used. */
static bool is_shift_within(uint32_t shift, uint64_t places)
{
	return !shift || (shift < 64 && shift > 32 && 1ULL << (64 - shift) <= places);
}

int rf_fence_check_config(struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_config *config = fence->config;
	const uint32_t tick_ns = __atomic_load_n(&config->tick_ns, __ATOMIC_RELAXED);
	const char *fault = NULL;

	if (tick_ns && (tick_ns < TICK_NS_MIN || tick_ns > TICK_NS_MAX))
		fault = "the length of a tick";
	else if (!is_shift_within(config->lease_shift, fence->leases))
		fault = "the places of leases";
	else if (!fence->read_only &&
		 !is_shift_within(config->known_filter_shift, fence->known_filter_lines))
		fault = "the places of the filter";
	fence->is_alien = fault;
	if (!fault)
		return 0;
	return rf_error_failed(error, -EPROTO,
			       "the configuration is not as ringfence writes it (%s); detach the "
			       "fence, and attach it again",
			       fault);
}
