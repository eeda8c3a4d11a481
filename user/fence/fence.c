// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a fence: interface → program → maps. Programs and maps are opened by id, which takes
 * CAP_SYS_ADMIN, or else by their pins.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/printable.h"
#include "fence/private.h"
#include "kernel/info.h"

#define BATCH 4096

/*
 * Copies a map, in batches. The kernel does not share a map's memory with a process that may only
 * read the map.
 */
static int copy_map(const struct rf_fence *fence, enum rf_map map)
{
	const size_t value_size = fence->memory_size[map] / fence->memory_count[map];
	char *value = fence->memory[map];
	__u32 done = 0, position, keys[BATCH];

	while (done < fence->memory_count[map]) {
		__u32 count = fence->memory_count[map] - done;

		if (count > BATCH)
			count = BATCH;
		/* ENOENT comes with the last values. */
		if (bpf_map_lookup_batch(fence->map_fd[map], done ? &position : NULL, &position,
					 keys, value, &count, NULL) &&
		    (errno != ENOENT || !count))
			return -errno;
		done += count;
		value += count * value_size;
	}
	return 0;
}

void rf_map_refresh(const struct rf_fence *fence, enum rf_map map)
{
	if (fence->read_only && fence->memory[map])
		copy_map(fence, map);
}

/*
 * Maps `map`, whose values have `value_size` bytes, into `fence->memory`, until the fence is
 * closed. If the fence may only be read, makes a copy there. Returns the number of values, or a
 * negative errno.
 */
static int64_t share_map(struct rf_fence *fence, enum rf_map map, size_t value_size, int protection,
			 struct rf_error *error)
{
	const int flags = fence->read_only ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	struct bpf_map_info info = {};
	void *memory;
	int err = 0;

	if (rf_map_info(fence->map_fd[map], &info))
		return rf_error_failed(error, -errno, "cannot read the map '%s': %s",
				       rf_map_names[map], strerror(errno));
	memory = mmap(NULL, info.max_entries * value_size,
		      fence->read_only ? PROT_READ | PROT_WRITE : protection, flags,
		      fence->read_only ? -1 : fence->map_fd[map], 0);
	if (memory == MAP_FAILED)
		return rf_error_failed(error, -errno, "cannot map the fence's '%s': %s",
				       rf_map_names[map], strerror(errno));
	fence->memory[map] = memory;
	fence->memory_size[map] = info.max_entries * value_size;
	fence->memory_count[map] = info.max_entries;
	if (fence->read_only)
		err = copy_map(fence, map);
	if (err)
		return rf_error_failed(error, err, "cannot read the map '%s': %s",
				       rf_map_names[map], strerror(-err));
	return info.max_entries;
}

/* A reader gets only what leases hold, see leases.c. */
static int map_leases(struct rf_fence *fence, struct rf_error *error)
{
	struct bpf_map_info info = {};
	int64_t sets;

	if (!fence->read_only) {
		sets = share_map(fence, RF_MAP_LEASES, sizeof(struct rf_lease_set), PROT_READ,
				 error);
		fence->lease = fence->memory[RF_MAP_LEASES];
	} else if (rf_map_info(fence->map_fd[RF_MAP_LEASES], &info)) {
		sets = rf_error_failed(error, -errno, "cannot read the fence's leases: %s",
				       strerror(errno));
	} else {
		sets = info.max_entries;
	}
	if (sets < 0)
		return sets;
	fence->leases = sets * RF_LEASE_WAYS;
	return 0;
}

int rf_fence_map_memory(struct rf_fence *fence, struct rf_error *error)
{
	const int both = PROT_READ | PROT_WRITE;
	struct bpf_map_info info = {};
	int64_t count = rf_fence_check_maps(fence, error);

	if (!count)
		count = share_map(fence, RF_MAP_CONFIG, sizeof(struct rf_config), both, error);
	if (count >= 0)
		count = share_map(fence, RF_MAP_PORTS, sizeof(struct rf_ports), both, error);
	if (count >= 0)
		count = share_map(fence, RF_MAP_BANS, sizeof(struct rf_ban_set), both, error);
	/* Only commands that may change the fence read the aggregates. */
	if (count >= 0 && !fence->read_only)
		count = share_map(fence, RF_MAP_AGGREGATES, fence->source_size, both, error);
	if (count < 0)
		return count;
	fence->config = fence->memory[RF_MAP_CONFIG];
	fence->ports = fence->memory[RF_MAP_PORTS];
	fence->aggregate = fence->memory[RF_MAP_AGGREGATES];
	fence->ban = fence->memory[RF_MAP_BANS];
	if (rf_map_info(fence->map_fd[RF_MAP_KNOWN_FILTER], &info))
		return rf_error_failed(error, -errno, "cannot read the fence's filter: %s",
				       strerror(errno));
	fence->known_filter_lines = info.max_entries;
	if (rf_map_info(fence->map_fd[RF_MAP_WINDOWS4], &info))
		return rf_error_failed(error, -errno, "cannot read the fence's windows: %s",
				       strerror(errno));
	fence->sources = info.max_entries;
	count = map_leases(fence, error);
	return count < 0 ? count : rf_fence_check_config(fence, error);
}

static uint64_t load_word(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

struct rf_standing rf_fence_standing(const struct rf_fence *fence)
{
	const struct rf_config *config = fence->config;
	struct rf_standing standing = {};
	const struct rf_bank *bank;
	uint64_t deadline;

	rf_map_refresh(fence, RF_MAP_CONFIG);
	standing.paused_ns = rf_paused_ns(fence);
	standing.active = standing.in_force = load_word(&config->active);
	bank = &config->bank[standing.active & 1];
	standing.fallback = bank->fallback;
	deadline = load_word(&bank->deadline);
	if (!deadline || !config->tick_ns)
		return standing;
	standing.jiffies = rf_fence_jiffies(fence);
	if (standing.jiffies < deadline) {
		standing.state = RF_ON_TRIAL;
		standing.trial_ns = rf_fence_left_ns(fence, standing.jiffies, deadline);
		return standing;
	}
	standing.trial_ns = rf_fence_left_ns(fence, deadline, standing.jiffies);
	standing.state = standing.fallback == RF_FALL_BACK ? RF_FELL_BACK : RF_FELL_OPEN;
	standing.in_force = standing.state == RF_FELL_BACK ? standing.active - 1 : standing.active;
	return standing;
}

/*
 * Another user may have written the name. So the name ends within its array, and has only the
 * characters of interface names.
 */
void rf_fence_take_name(char name[RF_NAME_SIZE], const char written[RF_NAME_SIZE],
			const char interface[IF_NAMESIZE])
{
	char clean[RF_NAME_SIZE];

	memcpy(clean, written, sizeof(clean));
	clean[sizeof(clean) - 1] = '\0';
	rf_hide_controls(clean, false);
	for (char *p = clean; *p; p++)
		if (*p == ' ' || *p == '/')
			*p = '?';
	if (*clean)
		memcpy(name, clean, sizeof(clean));
	else if (interface)
		memcpy(name, interface, IF_NAMESIZE);
}

void rf_fence_read_name(struct rf_fence *fence)
{
	rf_fence_take_name(fence->name, fence->config->name,
			   fence->interfaces ? fence->interface[0].name : NULL);
}

struct rf_pin_path rf_fence_pins(const struct rf_fence *fence)
{
	struct rf_pin_path path;

	memcpy(path.text, fence->pins, sizeof(path.text));
	return path;
}

int rf_fence_from_program(struct rf_fence *fence, struct rf_program *program,
			  struct rf_error *error)
{
	struct rf_pin_path pins;
	int count, err;

	for (int i = 0; i < RF_MAP_COUNT; i++) {
		fence->map_fd[i] = program->map_fd[i];
		fence->map_id[i] = program->map_id[i];
		program->map_fd[i] = -1;
	}
	fence->program_id = program->id;
	fence->read_only = program->read_only;
	err = rf_fence_map_memory(fence, error);
	if (err)
		return err;
	if (!rf_pins_find(fence->map_id[RF_MAP_CONFIG], &pins))
		memcpy(fence->pins, pins.text, sizeof(fence->pins));
	count = rf_interfaces_of(fence->map_id[RF_MAP_CONFIG], &fence->interface, error);
	if (count < 0)
		return count;
	fence->interfaces = count;
	rf_fence_read_name(fence);
	return 0;
}

int rf_fence_open_on(struct rf_fence *fence, const char *interface_name, struct rf_error *error)
{
	struct rf_interface interface;
	struct rf_program program = RF_PROGRAM_NONE;
	int err = rf_interface_open(interface_name, &interface, &program, error);

	if (!err) {
		memcpy(fence->name, interface.name, sizeof(interface.name)); /* for errors */
		err = rf_program_check_abi(&program, interface.name, error);
		fence->is_alien = err;
	}
	if (!err)
		err = rf_fence_from_program(fence, &program, error);
	rf_program_close(&program);
	return err;
}

int rf_fence_check_may_change(const struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);

	if (fence->read_only)
		return rf_error_failed(
			error, -EACCES,
			"%s: you may read this fence but not change it; run the command as root",
			fence->name);
	if (!dev && fence->among_unknown)
		return rf_error_failed(error, -EPERM,
				       "some XDP programs can be read only with CAP_SYS_ADMIN; say "
				       "which fence: dev %s",
				       fence->interfaces ? fence->interface[0].name : "IF");
	return *pins.text ? rf_pins_check_owner(&pins, error) : 0;
}

int rf_fence_is_attached(const struct rf_fence *fence, struct rf_error *error)
{
	struct rf_interface *interfaces = NULL;
	int count = rf_interfaces_of(fence->map_id[RF_MAP_CONFIG], &interfaces, error);

	free(interfaces);
	return count < 0 ? count : count > 0;
}

int rf_fence_find_interfaces(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_interface *interfaces = NULL;
	int count = rf_interfaces_of(fence->map_id[RF_MAP_CONFIG], &interfaces, error);

	if (count <= 0) {
		free(interfaces);
		return count;
	}
	free(fence->interface);
	fence->interface = interfaces;
	fence->interfaces = count;
	return 1;
}

void rf_fence_close(struct rf_fence *fence)
{
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		if (fence->memory[i])
			munmap(fence->memory[i], fence->memory_size[i]);
		if (fence->map_fd[i] >= 0)
			close(fence->map_fd[i]);
	}
	free(fence->interface);
	*fence = RF_FENCE_NONE;
}
