// SPDX-License-Identifier: GPL-2.0
#include "spare.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPARES 4

static struct spare {
	void *skeleton;
	struct bpf_object *object;
} spares[SPARES];

/* ---- wiping ---- */

static int wipe_shared(const struct bpf_map *map, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE), mapped = (size + page - 1) / page * page;
	void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		return -errno;
	memset(memory, 0, size);
	return munmap(memory, mapped);
}

/* The bytes of an element, as system calls have it. */
static size_t element_size(const struct bpf_map *map)
{
	const size_t size = (bpf_map__value_size(map) + 7) / 8 * 8;

	return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY ? size * libbpf_num_possible_cpus()
							       : size;
}

static int wipe_elements(const struct bpf_map *map)
{
	void *zero = calloc(1, element_size(map));
	int err = zero ? 0 : -ENOMEM;

	for (__u32 i = 0; i < bpf_map__max_entries(map) && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(map), &i, zero, BPF_ANY);
	free(zero);
	return err;
}

static int wipe_array(const struct bpf_map *map)
{
	const size_t size = (element_size(map)) * bpf_map__max_entries(map);

	return bpf_map__map_flags(map) & BPF_F_MMAPABLE ? wipe_shared(map, size)
							: wipe_elements(map);
}

/* Reads the next key before a key goes: the search for a first one visits all empty buckets. */
static int delete_elements(const struct bpf_map *map)
{
	const int fd = bpf_map__fd(map);
	char key[64], next[64];
	int err = 0;

	if (bpf_map__key_size(map) > sizeof(key))
		return -EINVAL;
	while (!err && !bpf_map_get_next_key(fd, NULL, next)) {
		bool is_last = false;

		while (!err && !is_last) {
			memcpy(key, next, sizeof(key));
			is_last = bpf_map_get_next_key(fd, key, next);
			err = bpf_map_delete_elem(fd, key);
		}
	}
	return err;
}

static int delete_inner_maps(const struct bpf_map *map)
{
	int err = 0;

	for (__u32 i = 0; i < bpf_map__max_entries(map) && !err; i++) {
		err = bpf_map_delete_elem(bpf_map__fd(map), &i);
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

static int ignore_record(void *context, void *record, size_t size)
{
	(void)context, (void)record, (void)size;
	return 0;
}

static int drain(const struct bpf_map *map)
{
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(map), ignore_record, NULL, NULL);
	const int drained = ring ? ring_buffer__consume(ring) : -errno;

	ring_buffer__free(ring);
	return drained < 0 ? drained : 0;
}

static int wipe(const struct bpf_map *map)
{
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		/* The program's constants. */
		return bpf_map__map_flags(map) & BPF_F_RDONLY_PROG ? 0 : wipe_array(map);
	case BPF_MAP_TYPE_HASH:
		return delete_elements(map);
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return delete_inner_maps(map);
	case BPF_MAP_TYPE_RINGBUF:
		return drain(map);
	default:
		return -EINVAL;
	}
}

static int wipe_all(const struct bpf_object *object)
{
	const struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, object) if (!err) err = wipe(map);
	return err;
}

/* ---- shapes ---- */

static bool same_map(const struct bpf_map *a, const struct bpf_map *b)
{
	size_t size_a, size_b;
	const void *constants_a, *constants_b;

	if (strcmp(bpf_map__name(a), bpf_map__name(b)) != 0 ||
	    bpf_map__max_entries(a) != bpf_map__max_entries(b))
		return false;
	if (!(bpf_map__map_flags(a) & BPF_F_RDONLY_PROG))
		return true;
	constants_a = bpf_map__initial_value((struct bpf_map *)a, &size_a);
	constants_b = bpf_map__initial_value((struct bpf_map *)b, &size_b);
	return size_a == size_b && !memcmp(constants_a, constants_b, size_a);
}

static bool same_maps(const struct bpf_object *a, const struct bpf_object *b)
{
	const struct bpf_map *map_a = bpf_object__next_map(a, NULL);
	const struct bpf_map *map_b = bpf_object__next_map(b, NULL);

	while (map_a && map_b && same_map(map_a, map_b)) {
		map_a = bpf_object__next_map(a, map_a);
		map_b = bpf_object__next_map(b, map_b);
	}
	return !map_a && !map_b;
}

static bool same_programs(const struct bpf_object *a, const struct bpf_object *b)
{
	struct bpf_program *program_a = bpf_object__next_program(a, NULL);
	struct bpf_program *program_b = bpf_object__next_program(b, NULL);

	while (program_a && program_b &&
	       bpf_program__autoload(program_a) == bpf_program__autoload(program_b)) {
		program_a = bpf_object__next_program(a, program_a);
		program_b = bpf_object__next_program(b, program_b);
	}
	return !program_a && !program_b;
}

/* ---- taking and putting ---- */

void *spare_take(const struct bpf_object *wanted)
{
	for (struct spare *spare = spares; spare < spares + SPARES; spare++) {
		void *skeleton = spare->skeleton;

		if (!skeleton || !same_programs(spare->object, wanted) ||
		    !same_maps(spare->object, wanted))
			continue;
		*spare = (struct spare){};
		return skeleton;
	}
	return NULL;
}

void spare_put(void *skeleton, struct bpf_object *object, void (*destroy)(void *skeleton))
{
	for (struct spare *spare = spares; spare < spares + SPARES; spare++) {
		if (spare->skeleton)
			continue;
		if (wipe_all(object))
			break;
		*spare = (struct spare){skeleton, object};
		return;
	}
	destroy(skeleton);
}
