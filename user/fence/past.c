// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the rules of a fence of a past map ABI, and converts them to those of this build. Another
 * user may have made the maps, so their kinds and sizes are checked first, as for any fence.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sort.h"
#include "fence/past.h"
#include "fence/private.h"
#include "kernel/info.h"
#include "kernel/past.h"

#define PORTS 65536
#define READS_MAX 100 /* tries to read rules that are switched meanwhile */

static const size_t key_sizes[RF_FAMILIES] = {8, 20};

/* What is read from; `config` is a copy. */
struct past {
	const struct rf_past_layout *layout;
	const struct rf_program *program;
	unsigned char *config;
	bool confirmed;
};

static uint32_t load32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t load64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int fail_map(enum rf_map map, int err, struct rf_error *error)
{
	return rf_error_failed(error, err, "cannot read the map '%s' of the old fence: %s",
			       rf_map_names[map],
			       err == -EPROTO ? "it is not as ringfence makes it" : strerror(-err));
}

/* A look-up writes as many bytes as the value size of the map says. */
static int check_map(int fd, enum bpf_map_type type, uint32_t key_size, uint32_t value_size)
{
	struct bpf_map_info info = {};

	if (rf_map_info(fd, &info))
		return -errno;
	return info.type == type && info.key_size == key_size && info.value_size == value_size
		       ? 0
		       : -EPROTO;
}

static int read_value(const struct past *past, enum rf_map map, uint32_t key, uint32_t size,
		      void *value, struct rf_error *error)
{
	const int fd = past->program->map_fd[map];
	int err = check_map(fd, BPF_MAP_TYPE_ARRAY, sizeof(key), size);

	if (!err && bpf_map_lookup_elem(fd, &key, value))
		err = -errno;
	return err ? fail_map(map, err, error) : 0;
}

static int read_config(const struct past *past, struct rf_error *error)
{
	return read_value(past, RF_MAP_CONFIG, 0, past->layout->config_size, past->config, error);
}

/* ---- limits ---- */

static void read_bank(const struct past *past, int index, struct rf_bank *bank)
{
	const struct rf_past_layout *layout = past->layout;
	const unsigned char *from = past->config + layout->bank + index * layout->bank_size;
	/* Only whether a slot has a limit is asked of its policy. */
	const struct rf_policy policy = {.cell = 1, .cells = 1};

	bank->deadline = load64(from + layout->deadline);
	bank->fallback = load32(from + layout->fallback);
	layout->read_newcomers(from + layout->newcomers, &bank->newcomers);
	bank->newcomers.policy = policy;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		bank->policy[slot] = policy;
		bank->policy[slot].id = load32(from + layout->policy + slot * layout->policy_size);
		layout->read_limit(from + layout->limit + slot * layout->limit_size,
				   &bank->limit[slot]);
	}
	if (layout->read_to)
		layout->read_to(from + layout->to, &bank->shapes);
}

static void convert_config(const struct past *past, struct rf_config *config)
{
	const struct rf_past_layout *layout = past->layout;

	config->active = load64(past->config + layout->active);
	config->tick_ns = load32(past->config + layout->tick_ns);
	memcpy(&config->base, past->config + layout->base, sizeof(config->base));
	memcpy(config->name, past->config + layout->name, sizeof(config->name));
	for (int bank = 0; bank < 2; bank++)
		read_bank(past, bank, &config->bank[bank]);
}

/* ---- ports ---- */

/* The limits that may match packets to a port, whatever their shape. */
static uint32_t limits_of_port(const struct past *past, const unsigned char *bank,
			       const unsigned char *tables, uint32_t port)
{
	const struct rf_past_layout *layout = past->layout;
	uint32_t limits = 0;

	for (uint32_t i = 0; i < layout->port_tables; i++) {
		const uint32_t class = tables[i * PORTS + port];

		limits |= load32(bank + layout->packet_class + class * layout->class_size);
		if (layout->candidates)
			limits |= load32(bank + layout->candidates + class * sizeof(limits));
	}
	return limits;
}

static int read_ports(const struct past *past, int bank, struct rf_ruleset *ruleset,
		      struct rf_error *error)
{
	const struct rf_past_layout *layout = past->layout;
	const unsigned char *from = past->config + layout->bank + bank * layout->bank_size;
	unsigned char *tables = malloc(layout->ports_size);
	int err = tables ? rf_ports_make(ruleset) : -ENOMEM;

	if (err)
		rf_error_failed(error, err, "out of memory for the ports");
	else
		err = read_value(past, RF_MAP_PORTS, bank, layout->ports_size, tables, error);
	for (uint32_t port = 0; port < PORTS && !err; port++) {
		rf_ports_note(ruleset->ports, port, limits_of_port(past, from, tables, port));
		if (layout->sports)
			rf_ports_note(ruleset->sports, port,
				      load32(from + layout->sport_limits +
					     tables[layout->sports + port] * sizeof(uint32_t)));
	}
	free(tables);
	return err;
}

/* ---- prefixes ---- */

static int open_trie(const struct rf_fence *fence, const struct past *past, int family, int bank)
{
	const enum rf_map map = family ? RF_MAP_PREFIXES6 : RF_MAP_PREFIXES4;
	const struct rf_pin_path pins = rf_fence_pins(fence);
	const int outer = past->program->map_fd[map];
	int err = check_map(outer, BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(uint32_t), sizeof(uint32_t));
	uint32_t key = bank, id;
	int fd;

	if (err)
		return err;
	if (bpf_map_lookup_elem(outer, &key, &id))
		return -errno;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 && errno == EPERM && *pins.text)
		fd = rf_pins_open_trie(&pins, family, bank, id);
	else if (fd < 0)
		fd = -errno;
	err = fd < 0 ? fd
		     : check_map(fd, BPF_MAP_TYPE_LPM_TRIE, key_sizes[family],
				 past->layout->prefix_size);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static int add_listed(struct rf_ruleset *ruleset, size_t *room, const struct rf_listed *listed)
{
	if (ruleset->listed_count == *room) {
		const size_t more = *room ? *room * 2 : 1024;
		struct rf_listed *grown = reallocarray(ruleset->listed, more, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		ruleset->listed = grown;
		*room = more;
	}
	ruleset->listed[ruleset->listed_count++] = *listed;
	return 0;
}

static struct rf_listed convert_prefix(const struct rf_past_layout *layout, int family,
				       const unsigned char *key, const unsigned char *value)
{
	struct rf_listed listed = {
		.prefix = {.version = family ? 6 : 4, .length = load32(key)},
		.from = load32(value + layout->own_from),
	};

	rf_listed_claim(&listed, RF_ALLOW, RF_OWNER_MANUAL,
			load64(value + layout->own_allow_until));
	rf_listed_claim(&listed, RF_DENY, RF_OWNER_MANUAL, load64(value + layout->own_deny_until));
	memcpy(listed.prefix.word, key + 4, key_sizes[family] - 4);
	for (unsigned int i = 0; i < 4; i++) /* a trie keeps any bits beyond the length */
		listed.prefix.word[i] &= rf_prefix_mask(listed.prefix.length, i);
	return listed;
}

static int read_trie(int fd, int family, const struct rf_past_layout *layout,
		     struct rf_ruleset *ruleset, size_t *room)
{
	unsigned char key[20], *before = NULL, *value = malloc(layout->prefix_size);
	int err = value ? 0 : -ENOMEM;

	while (!err && !bpf_map_get_next_key(fd, before, key)) {
		struct rf_listed listed;

		before = key;
		if (bpf_map_lookup_elem(fd, key, value)) {
			err = -errno;
			break;
		}
		listed = convert_prefix(layout, family, key, value);
		err = add_listed(ruleset, room, &listed);
	}
	if (!err && errno != ENOENT)
		err = -errno;
	free(value);
	return err;
}

static int compare_listed(const void *a, const void *b)
{
	const struct rf_listed *left = a, *right = b;

	return rf_prefix_compare(&left->prefix, &right->prefix);
}

static int read_prefixes(const struct rf_fence *fence, const struct past *past, int bank,
			 struct rf_ruleset *ruleset, struct rf_error *error)
{
	size_t room = 0;

	for (int family = 0; family < RF_FAMILIES; family++) {
		const size_t first = ruleset->listed_count;
		int fd = open_trie(fence, past, family, bank);
		int err = fd < 0 ? fd : read_trie(fd, family, past->layout, ruleset, &room);

		if (fd >= 0)
			close(fd);
		if (err && err != -ENOENT) /* it has no prefix of this family */
			return fail_map(family ? RF_MAP_PREFIXES6 : RF_MAP_PREFIXES4, err, error);
		if (ruleset->listed_count > first)
			rf_sort(&ruleset->listed[first], ruleset->listed_count - first,
				sizeof(*ruleset->listed), compare_listed);
	}
	return 0;
}

/* ---- all of it ---- */

static int read_once(struct rf_fence *fence, const struct past *past, struct rf_ruleset *ruleset,
		     struct rf_error *error)
{
	int err = read_config(past, error), bank;
	struct rf_standing standing;

	if (err)
		return err;
	convert_config(past, fence->config);
	standing = rf_fence_standing(fence);
	bank = rf_standing_bank(&standing, past->confirmed);
	if (bank < 0)
		return 0;
	ruleset->bank = fence->config->bank[bank];
	err = rf_bank_check(&ruleset->bank, error);
	if (!err)
		err = read_ports(past, bank, ruleset, error);
	return err ? err : read_prefixes(fence, past, bank, ruleset, error);
}

static int read_settled(struct rf_fence *fence, const struct past *past, struct rf_ruleset *ruleset,
			struct rf_error *error)
{
	for (int i = 0; i < READS_MAX; i++) {
		int err;

		rf_ruleset_free(ruleset);
		*ruleset = RF_RULESET_NONE;
		err = read_once(fence, past, ruleset, error);
		if (err && err != -ENOENT)
			return err;
		if (read_config(past, error))
			return -EIO;
		if (load64(past->config + past->layout->active) == fence->config->active)
			return err;
	}
	return rf_error_failed(error, -EAGAIN,
			       "the rules change faster than they can be read; find the process "
			       "that changes them");
}

/* Gives the fence a configuration of this build, which is nobody else's. */
static int make_config(struct rf_fence *fence, struct rf_error *error)
{
	void *memory = mmap(NULL, sizeof(struct rf_config), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return rf_error_failed(error, -errno, "out of memory for the rules");
	fence->memory[RF_MAP_CONFIG] = fence->config = memory;
	fence->memory_size[RF_MAP_CONFIG] = sizeof(struct rf_config);
	return 0;
}

static int find_place(struct rf_fence *fence, const struct rf_program *program,
		      struct rf_error *error)
{
	struct rf_pin_path pins;
	int count;

	if (!rf_pins_find(program->map_id[RF_MAP_CONFIG], &pins))
		memcpy(fence->pins, pins.text, sizeof(fence->pins));
	count = rf_interfaces_of(program->map_id[RF_MAP_CONFIG], &fence->interface, error);
	fence->interfaces = count < 0 ? 0 : count;
	return count < 0 ? count : 0;
}

int rf_past_read(struct rf_fence *fence, bool confirmed, struct rf_ruleset *ruleset,
		 struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	struct past past = {.program = &program, .confirmed = confirmed};
	char dev[IF_NAMESIZE];
	int err;

	memcpy(dev, fence->name, sizeof(dev)); /* the interface, while it is alien */
	rf_fence_close(fence);
	err = rf_interface_open(dev, &interface, &program, error);
	past.layout = rf_past_find(program.abi);
	if (!err && !past.layout)
		err = rf_error_failed(error, -EAGAIN,
				      "%s: another build has just replaced its fence; try again",
				      dev);
	if (!err)
		past.config = malloc(past.layout->config_size);
	if (!err && !past.config)
		err = rf_error_failed(error, -ENOMEM, "out of memory for the rules");
	if (!err)
		err = make_config(fence, error);
	if (!err)
		err = find_place(fence, &program, error);
	if (!err)
		err = read_settled(fence, &past, ruleset, error);
	if (!err)
		rf_fence_read_name(fence);
	free(past.config);
	rf_program_close(&program);
	return err;
}
