// SPDX-License-Identifier: GPL-2.0
/*
 * A fence whose maps belong to a different user, who can create them with any size and any type:
 * the fence is refused when it is opened, or the maps are accessed only within their bounds.
 */
#include "hostile.h"

#include <stdio.h>

struct shape {
	enum bpf_map_type type;
	uint32_t key_size, value_size, max_entries, flags;
};

#define RODATA RF_MAP_COUNT /* behind the others */
#define SHAPES (RF_MAP_COUNT + 1)

static struct shape shape_of(int fd)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &length), 0);
	return (struct shape){info.type, info.key_size, info.value_size, info.max_entries,
			      info.map_flags & ~(BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)};
}

/* A replacement for a trie: of this length, and at the index at which a prefix starts. */
#define INNER_VALUE 4096
#define INNER_ENTRIES 129

static int make_map(int map, const struct shape *shape)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = shape->flags);
	const char *name = map == RODATA	  ? "own.rodata"
			   : map == RF_MAP_CONFIG ? "own.bss"
						  : rf_map_names[map];
	int inner = -1, fd;

	if (shape->type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", 4, INNER_VALUE, INNER_ENTRIES,
				       NULL);
		options.inner_map_fd = inner;
	}
	fd = bpf_map_create(shape->type, name, shape->key_size, shape->value_size,
			    shape->max_entries, &options);
	if (fd < 0)
		fail_msg("%s: %s", name, strerror(errno));
	for (uint32_t bank = 0; inner >= 0 && bank < 2; bank++)
		bpf_map_update_elem(fd, &bank, &inner, 0);
	if (inner >= 0)
		close(inner);
	return fd;
}

static uint64_t layout = RF_ABI_LAYOUT; /* as the read-only data specifies */

/* A program that has maps of these shapes, as `ip` would load it from an object of anybody's. */
static int make_program(const struct shape shapes[SHAPES], int fds[SHAPES])
{
	struct rf_rodata rodata = {.magic = RF_ABI_MAGIC, .abi = RF_ABI_VERSION, .layout = layout};
	struct bpf_insn code[2 * SHAPES + 2] = {};
	size_t size = shapes[RODATA].value_size * libbpf_num_possible_cpus() + sizeof(rodata);
	char *value = calloc(1, size);
	uint32_t key = 0;
	int fd;

	for (int i = 0; i < SHAPES; i++) {
		fds[i] = make_map(i, &shapes[i]);
		code[2 * i] = (struct bpf_insn){.code = BPF_LD | BPF_DW | BPF_IMM,
						.dst_reg = BPF_REG_1,
						.src_reg = BPF_PSEUDO_MAP_FD,
						.imm = fds[i]};
	}
	code[2 * SHAPES] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS};
	code[2 * SHAPES + 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	for (size_t i = 0; i + sizeof(rodata) <= size; i += 8 * sizeof(rodata))
		memcpy(value + i, &rodata, sizeof(rodata));
	assert_int_equal(bpf_map_update_elem(fds[RODATA], &key, value, 0), 0);
	free(value);
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "hostile", "GPL", code, ARRAY_SIZE(code), NULL);
	if (fd < 0)
		fail_msg("cannot load: %s", strerror(errno));
	return fd;
}

static void read_shapes(struct shape shapes[SHAPES])
{
	for (int i = 0; i < RF_MAP_COUNT; i++)
		shapes[i] = shape_of(program.fence.map_fd[i]);
	shapes[RODATA] = (struct shape){BPF_MAP_TYPE_ARRAY, 4, 64, 1, 0};
}

/* Opens a fence of such maps. */
static int open_shapes(const struct shape shapes[SHAPES], struct rf_fence *fence,
		       struct rf_error *error)
{
	int fds[SHAPES], fd = make_program(shapes, fds), err;

	program_id = id_of(fd);
	*fence = RF_FENCE_NONE;
	err = rf_fence_open(fence, NULL, error);
	for (int i = 0; i < SHAPES; i++)
		close(fds[i]);
	close(fd);
	return err;
}

/* The wrong part of a shape. */
static void make_longer(struct shape *shape)
{
	shape->value_size += 4096;
}

static void make_shorter(struct shape *shape)
{
	shape->value_size -= 8;
}

static void make_more(struct shape *shape)
{
	shape->max_entries += 3;
}

static void make_one(struct shape *shape)
{
	shape->max_entries = 1;
}

static void make_per_cpu(struct shape *shape)
{
	shape->type = BPF_MAP_TYPE_PERCPU_ARRAY;
	shape->flags = 0;
	if (shape->value_size > 32768 - 8)
		shape->value_size = 16384;
}

static void make_hash(struct shape *shape)
{
	shape->type = BPF_MAP_TYPE_HASH;
	shape->flags = BPF_F_NO_PREALLOC;
}

static void make_wide_keys(struct shape *shape)
{
	shape->key_size += 64;
}

static const struct {
	enum rf_map map;
	void (*change)(struct shape *shape);
} shape_rows[] = {
	{RF_MAP_CONFIG, make_longer},
	{RF_MAP_CONFIG, make_shorter},
	{RF_MAP_CONFIG, make_more},
	{RF_MAP_CONFIG, make_per_cpu},
	{RF_MAP_PORTS, make_longer},
	{RF_MAP_PORTS, make_one},
	{RF_MAP_PORTS, make_more},
	{RF_MAP_KNOWN_FILTER, make_more},
	{RF_MAP_KNOWN_FILTER, make_longer},
	{RF_MAP_AGGREGATES, make_one},
	{RF_MAP_AGGREGATES, make_shorter},
	{RF_MAP_LEASES, make_longer},
	{RF_MAP_LEASES, make_hash},
	{RF_MAP_COUNTERS, make_longer},
	{RF_MAP_COUNTERS, make_hash},
	{RF_MAP_COUNTERS, make_more},
	{RF_MAP_LIMIT_COUNTERS, make_longer},
	{RF_MAP_LIMIT_COUNTERS, make_one},
	{RF_MAP_INTERFACES, make_longer},
	{RF_MAP_INTERFACES, make_one},
	{RF_MAP_SAMPLES, make_longer},
	{RF_MAP_SAMPLES, make_more},
	{RF_MAP_WINDOWS4, make_longer},
	{RF_MAP_WINDOWS4, make_shorter},
	{RF_MAP_WINDOWS4, make_wide_keys},
	{RF_MAP_WINDOWS6, make_longer},
	{RF_MAP_WINDOWS6, make_wide_keys},
	{RF_MAP_PREFIXES4, make_hash},
	{RF_MAP_PREFIXES6, make_one},
};

static void maps_of_another_size_are_refused_when_opened(void **state)
{
	struct shape shapes[SHAPES];
	struct rf_fence fence;
	char wanted[64];

	(void)state;
	read_shapes(shapes);
	for (size_t i = 0; i < ARRAY_SIZE(shape_rows); i++) {
		struct shape wrong[SHAPES];
		struct rf_error error = {};
		int err;

		memcpy(wrong, shapes, sizeof(wrong));
		shape_rows[i].change(&wrong[shape_rows[i].map]);
		err = open_shapes(wrong, &fence, &error);
		rf_fence_close(&fence);
		snprintf(wanted, sizeof(wanted), "the map '%s'", rf_map_names[shape_rows[i].map]);
		if (err != -EPROTO || !strstr(error.text, wanted))
			fail_msg("row %zu, %s: %d: %s", i, wanted, err, error.text);
	}
}

/* Maps of the same sizes, whose contents may differ. */
static void maps_of_another_layout_are_refused_when_opened(void **state)
{
	struct shape shapes[SHAPES];
	struct rf_error error = {};
	struct rf_fence fence;
	int err;

	(void)state;
	read_shapes(shapes);
	layout = RF_ABI_LAYOUT + 1;
	err = open_shapes(shapes, &fence, &error);
	layout = RF_ABI_LAYOUT;
	rf_fence_close(&fence);
	assert_int_equal(err, -EPROTO);
	assert_non_null(strstr(error.text, "its maps have another layout"));
}

static void unchanged_maps_are_a_fence(void **state)
{
	struct shape shapes[SHAPES];
	struct rf_fence fence;
	struct rf_error error = {};

	(void)state;
	read_shapes(shapes);
	assert_done(open_shapes(shapes, &fence, &error), &error);
	rf_fence_close(&fence);
}

static void a_map_that_is_no_trie_is_not_looked_up(void **state)
{
	struct rf_prefix source = {.version = 4, .length = 32, .word = {inet_addr("192.0.2.1")}};
	struct shape shapes[SHAPES];
	struct rf_prefix_value value;
	struct rf_error error = {};
	struct rf_fence fence;

	(void)state;
	read_shapes(shapes);
	assert_done(open_shapes(shapes, &fence, &error), &error);
	assert_int_equal(rf_fence_value_around(&fence, &source, &value, &error), -EPROTO);
	assert_non_null(strstr(error.text, "the map 'prefix_trie4' is not as ringfence makes it"));
	rf_fence_close(&fence);
}

/* The kernel returns a value for each CPU, regardless of the buffer's size. */
static void read_only_data_in_a_per_cpu_map_is_refused(void **state)
{
	struct shape shapes[SHAPES];
	struct rf_fence fence;
	struct rf_error error = {};

	(void)state;
	read_shapes(shapes);
	shapes[RODATA].type = BPF_MAP_TYPE_PERCPU_ARRAY;
	assert_int_equal(open_shapes(shapes, &fence, &error), -EPROTO);
	rf_fence_close(&fence);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, hostile_setup, hostile_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unchanged_maps_are_a_fence),
		TEST(maps_of_another_size_are_refused_when_opened),
		TEST(maps_of_another_layout_are_refused_when_opened),
		TEST(a_map_that_is_no_trie_is_not_looked_up),
		TEST(read_only_data_in_a_per_cpu_map_is_refused),
	};

	rf_log_set_verbose(false);
	return cmocka_run_group_tests_name("hostile maps", tests, NULL, NULL);
}
