// SPDX-License-Identifier: GPL-2.0
/*
 * One open fence: its maps, checked and mapped into memory, its confirmation state, and the single
 * values that other folders read or write.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "fence/fence.h"
#include "fence/pending.h"
#include "fence/private.h"
#include "kernel/info.h"
#include "ringfence/atomic.h"

int rf_fence_fail_map(struct rf_error *error, enum rf_map map, int negative_errno)
{
	return rf_error_failed(error, negative_errno, "cannot read the map '%s': %s",
			       rf_map_names[map], strerror(-negative_errno));
}

/* ---- checks ---- */

/*
 * Checks the maps of a fence. A different user might have created them, with any program. A look-up
 * writes as many bytes as the map's value size, even if the buffer is smaller. The type and the
 * sizes of each map are therefore checked before anything is read from it.
 */

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
	[RF_MAP_ANSWERS] = {BPF_MAP_TYPE_ARRAY, INDEXED, sizeof(__u64), RF_ANSWER_PLACES},
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

/* Checks the kind and the sizes of the maps. */
static int check_maps(struct rf_fence *fence, struct rf_error *error)
{
	for (int map = 0; map < RF_MAP_COUNT; map++) {
		struct bpf_map_info info = {};

		if (rf_map_info(fence->map_fd[map], &info))
			return rf_fence_fail_map(error, map, -errno);
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

/* Checks the values by which places and times in the maps are computed. */
static int check_config(struct rf_fence *fence, struct rf_error *error)
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

/* ---- pause ---- */

/* No packet is dropped for a while. */

void rf_fence_pause(const struct rf_fence *fence, uint64_t time_ns)
{
	const uint64_t ticks = time_ns / rf_tick_or_kernels(fence) + 1;
	const uint64_t until = time_ns ? rf_fence_jiffies(fence) + ticks : 0;

	__atomic_store_n(&fence->config->paused_until, until, __ATOMIC_RELEASE);
}

/* How long a pause still lasts; 0: not paused. */
static uint64_t pause_left_ns(const struct rf_fence *fence)
{
	const uint64_t until = rf_load(&fence->config->paused_until);
	const uint64_t now = until ? rf_fence_jiffies(fence) : 0;

	return until > now ? (until - now) * rf_tick_or_kernels(fence) : 0;
}

/* ---- opening ---- */

/*
 * Finds a fence: interface → program → maps. Programs and maps are opened by id, which takes
 * CAP_SYS_ADMIN, or else by their pins.
 */

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
		return rf_fence_fail_map(error, map, -errno);
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
		return rf_fence_fail_map(error, map, err);
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
	int64_t count = check_maps(fence, error);

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
	if (rf_map_info(fence->map_fd[RF_MAP_SLOTS4], &info))
		return rf_error_failed(error, -errno, "cannot read the fence's slots: %s",
				       strerror(errno));
	fence->sources = info.max_entries;
	count = map_leases(fence, error);
	return count < 0 ? count : check_config(fence, error);
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
	standing.paused_ns = pause_left_ns(fence);
	standing.active = standing.in_force = load_word(&config->active);
	bank = &config->bank[standing.active & 1];
	standing.fallback = bank->fallback;
	deadline = load_word(&bank->deadline);
	if (!deadline || !config->tick_ns)
		return standing;
	standing.jiffies = rf_fence_jiffies(fence);
	if (standing.jiffies < deadline) {
		standing.state = RF_PENDING;
		standing.confirm_ns = rf_fence_left_ns(fence, standing.jiffies, deadline);
		return standing;
	}
	standing.confirm_ns = rf_fence_left_ns(fence, deadline, standing.jiffies);
	standing.state = standing.fallback == RF_FALL_BACK ? RF_REVERTED : RF_EXPIRED;
	standing.in_force = standing.state == RF_REVERTED ? standing.active - 1 : standing.active;
	return standing;
}

/*
 * A different user might have written the name: it must end within its array, and have only the
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

/* Sets the fence's name from its configuration; without one, it has the name of an interface. */
static void read_fence_name(struct rf_fence *fence)
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
	read_fence_name(fence);
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
				       "some XDP programs can be read only with CAP_SYS_ADMIN; "
				       "choose the fence: dev %s",
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

/* ---- single values ---- */

/* The single values of a fence's shared memory that other folders read or write. */

uint32_t rf_fence_tick_ns(const struct rf_fence *fence)
{
	return __atomic_load_n(&fence->config->tick_ns, __ATOMIC_RELAXED);
}

uint64_t rf_fence_residents(const struct rf_fence *fence, int family)
{
	return rf_load(&fence->config->room[family].residents);
}

uint64_t rf_fence_residents_max(const struct rf_fence *fence)
{
	return fence->config->times.residents_max;
}

void rf_fence_other_bank(const struct rf_fence *fence, uint64_t in_force, struct rf_bank *bank)
{
	*bank = fence->config->bank[~in_force & 1];
}

uint32_t rf_fence_next_limit_id(const struct rf_fence *fence)
{
	const uint32_t id = __atomic_load_n(&fence->config->next_limit_id, __ATOMIC_RELAXED);

	return id ? id : 1;
}

void rf_fence_keep_limit_id(struct rf_fence *fence, uint32_t next_id)
{
	__atomic_store_n(&fence->config->next_limit_id, next_id, __ATOMIC_RELAXED);
}

/* ---- programs ---- */

static void note_program(uint32_t known[RF_PINNED_PROGRAMS], uint32_t id)
{
	for (int i = 0; i < RF_PINNED_PROGRAMS && id; i++) {
		if (known[i] == id)
			return;
		if (known[i])
			continue;
		known[i] = id;
		return;
	}
}

void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached)
{
	uint32_t known[RF_PINNED_PROGRAMS] = {};

	for (int i = 0; i < RF_ENTRY_COUNT; i++)
		note_program(known, id[i]);
	for (int i = 0; attached && i < attached->interfaces; i++)
		note_program(known, attached->interface[i].program_id);
	for (int i = 0; i < RF_PINNED_PROGRAMS; i++)
		note_program(known, pinned->program_id[i]);
	pinned->magic = RF_ABI_MAGIC;
	pinned->abi = RF_ABI_VERSION;
	pinned->layout = RF_ABI_LAYOUT;
	memcpy(pinned->program_id, known, sizeof(known));
}

void rf_fence_note_programs(const struct rf_fence *fence, const uint32_t id[RF_ENTRY_COUNT])
{
	rf_pinned_note(&fence->config->pinned, id, fence);
}

void rf_fence_keep_name(const struct rf_fence *fence)
{
	memcpy(fence->config->name, fence->name, sizeof(fence->config->name));
}

/* ---- the leases of a CPU ---- */

/* log2 of the leases of one CPU; 0: none. */
static unsigned int leases_bits(const struct rf_fence *fence)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned int bits = 0;

	if (cpus <= 0 || fence->leases / cpus < RF_LEASES_LEAST)
		return 0;
	while (2ULL << bits <= fence->leases / cpus)
		bits++;
	return bits;
}

/* ---- slots ---- */

#define TICK_NS_LEAST 500000000ULL /* a slot's tick: the least power of two of jiffies over it */
#define PROBATION_FOR_NS (10 * RF_NS_PER_S)
#define PROBATION_IDLE_NS (2 * RF_NS_PER_S)
#define RESIDENT_IDLE_NS (60 * RF_NS_PER_S)
#define PROBATION_LEASE_NS RF_NS_PER_S
#define RESIDENT_TOUCH_NS (8 * RF_NS_PER_S)
#define RESIDENTS_SHARE 8 /* residents never take this part, 1/8, of the slots */

static uint32_t slot_ticks(uint64_t time_ns, uint64_t tick_ns)
{
	return time_ns / tick_ns + (time_ns % tick_ns > tick_ns / 2);
}

static void set_slot_times(struct rf_slot_times *times, uint32_t jiffy_ns, uint32_t slots)
{
	uint64_t tick_ns = jiffy_ns;

	*times = (struct rf_slot_times){.residents_max = slots - slots / RESIDENTS_SHARE};
	for (; tick_ns < TICK_NS_LEAST; tick_ns *= 2)
		times->tick_shift++;
	times->probation_for = slot_ticks(PROBATION_FOR_NS, tick_ns);
	times->probation_idle = slot_ticks(PROBATION_IDLE_NS, tick_ns);
	/* How much older than its last packet a resident's last touch can be. */
	times->resident_touch = slot_ticks(RESIDENT_TOUCH_NS, tick_ns);
	times->resident_idle = slot_ticks(RESIDENT_IDLE_NS, tick_ns) + times->resident_touch;
	times->probation_lease = slot_ticks(PROBATION_LEASE_NS, tick_ns);
	times->resident_lease = slot_ticks(RF_LEASE_LIFE_NS, tick_ns);
}

/* By the golden ratio: two slots that are examined in turn are far apart. */
static uint32_t slot_stride(uint32_t slots)
{
	uint32_t stride = (uint32_t)(slots * 0.618) | 1;

	return stride < slots ? stride : 1;
}

static void set_slots(struct rf_config *config, const struct rf_fence *fence)
{
	const uint32_t lines = fence->known_filter_lines;

	set_slot_times(&config->times, config->tick_ns, fence->sources);
	config->slot_stride = slot_stride(fence->sources);
	/* A filter of one line would need a shift by 64 bits, so such a filter is not used. */
	if (lines > 1)
		config->known_filter_shift = 64 - (31 - __builtin_clz(lines));
	__atomic_store_n(&config->slots, fence->sources, __ATOMIC_RELEASE);
}

int rf_fence_make_leases(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	unsigned int bits = leases_bits(fence);
	__u64 key[3];

	if (config->slots) /* this function sets it last */
		return 0;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return rf_error_failed(error, -errno, "cannot get a random key: %s",
				       strerror(errno));
	for (int i = 0; i < 3; i++)
		config->lease_key[i] = key[i] | 1; /* odd, and so never 0, which would be no key */
	if (bits)
		__atomic_store_n(&config->lease_shift, 64 - bits, __ATOMIC_RELEASE);
	set_slots(config, fence);
	return 0;
}
