// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of all maps, compared with tests/prog/layout. A fence may outlive the build that
 * attached it, and another build decides by the number of the map ABI alone whether it may read the
 * maps. So no layout may differ from that of a release with the same number. tests/prog/released
 * has the last line of the file of each release: the number, and a hash of the lines before. While
 * no release has the number, a change of the layout only writes the file anew: RF_LAYOUT_WRITE=1
 * build/tests/prog/test_layout
 */
#include "program.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdio.h>

#define LAYOUT_FILE "tests/prog/layout"
#define RELEASED_FILE "tests/prog/released"
#define PATH_SIZE 256
#define TEXT_SIZE (64 << 10)

static void print_members(FILE *to, const struct btf *btf, const char *path, __u32 bits, __u32 id);

/* What is there, with all that is in it; `bits` from the start of the key or value. */
static void print_type(FILE *to, const struct btf *btf, const char *path, __u32 bits, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	char inner[PATH_SIZE];

	while (btf_is_mod(type) || btf_is_typedef(type) || btf_is_var(type)) {
		id = type->type;
		type = btf__type_by_id(btf, id);
	}
	if (btf_is_array(type)) {
		snprintf(inner, sizeof(inner), "%s[%u]", path, btf_array(type)->nelems);
		print_type(to, btf, inner, bits, btf_array(type)->type);
		return;
	}
	fprintf(to, "%s: at %u.%u, %lld bytes\n", path, bits / 8, bits % 8,
		(long long)btf__resolve_size(btf, id));
	if (btf_is_composite(type))
		print_members(to, btf, path, bits, id);
}

static void print_members(FILE *to, const struct btf *btf, const char *path, __u32 bits, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *member = btf_members(type);

	for (__u32 i = 0; i < btf_vlen(type); i++) {
		const __u32 at = bits + btf_member_bit_offset(type, i);
		const __u32 width = btf_member_bitfield_size(type, i);
		const char *name = btf__name_by_offset(btf, member[i].name_off);
		char inner[PATH_SIZE];

		snprintf(inner, sizeof(inner), *name ? "%s.%s" : "%s", path, name);
		if (width)
			fprintf(to, "%s: at %u.%u, %u bits\n", inner, at / 8, at % 8, width);
		else
			print_type(to, btf, inner, at, member[i].type);
	}
}

/* The variables of a section, in the order of their offsets. */
static void print_section(FILE *to, const struct btf *btf, const char *map, __u32 id)
{
	const struct btf_type *section = btf__type_by_id(btf, id);
	const struct btf_var_secinfo *variable = btf_var_secinfos(section);

	for (__u32 i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, variable[i].type);
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "%s.%s", map,
			 btf__name_by_offset(btf, type->name_off));
		print_type(to, btf, path, variable[i].offset * 8, variable[i].type);
	}
}

static void print_map(FILE *to, const struct btf *btf, const struct bpf_map *map)
{
	const __u32 value = bpf_map__btf_value_type_id(map), key = bpf_map__btf_key_type_id(map);
	const char *name = strchr(bpf_map__name(map), '.');
	char path[PATH_SIZE];

	name = name ? name : bpf_map__name(map);
	fprintf(to, "%s: kind %d, key of %u, value of %u bytes\n", name, bpf_map__type(map),
		bpf_map__key_size(map), bpf_map__value_size(map));
	if (value && btf_is_datasec(btf__type_by_id(btf, value))) {
		print_section(to, btf, name, value);
		return;
	}
	snprintf(path, sizeof(path), "%s key", name);
	if (key)
		print_type(to, btf, path, 0, key);
	snprintf(path, sizeof(path), "%s value", name);
	if (value)
		print_type(to, btf, path, 0, value);
}

static void print_maps(FILE *to)
{
	struct ringfence_bpf *object = ringfence_bpf__open();
	const struct bpf_map *map;

	assert_non_null(object);
	bpf_object__for_each_map(map, object->obj) print_map(to, bpf_object__btf(object->obj), map);
	ringfence_bpf__destroy(object);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

/* Ends with the line that a release adds to RELEASED_FILE. Returns that line. */
static const char *print_layout(FILE *to)
{
	static char text[TEXT_SIZE], last[PATH_SIZE];
	FILE *maps = fmemopen(text, sizeof(text), "w");

	assert_non_null(maps);
	print_maps(maps);
	assert_int_equal(fclose(maps), 0);
	snprintf(last, sizeof(last), "map ABI %d, layout %016" PRIx64 "\n", RF_ABI_VERSION,
		 hash_of(text));
	fprintf(to, "%s%s", text, last);
	return last;
}

/* The number of the first line that differs, counted from 1; 0 if none differs. */
static int first_difference(FILE *file, FILE *now, char *were, char *is, int size)
{
	for (int line = 1;; line++) {
		const char *a = fgets(were, size, file), *b = fgets(is, size, now);

		if (!a && !b)
			return 0;
		if (!a || !b || strcmp(a, b))
			return line;
	}
}

static void maps_are_laid_out_as_their_abi_says(void **state)
{
	char were[2 * PATH_SIZE] = "", is[2 * PATH_SIZE] = "";
	static char text[TEXT_SIZE];
	FILE *now = fmemopen(text, sizeof(text), "w+"), *file;
	int line;

	(void)state;
	assert_non_null(now);
	print_layout(now);
	assert_int_equal(fflush(now), 0);
	rewind(now);
	file = fopen(LAYOUT_FILE, "r");
	assert_non_null(file);
	line = first_difference(file, now, were, is, sizeof(were));
	fclose(file);
	fclose(now);
	were[strcspn(were, "\n")] = is[strcspn(is, "\n")] = 0;
	if (line)
		fail_msg("%s:%d: was '%s', is '%s': if a release has map ABI %d, raise "
			 "RF_ABI_VERSION, and freeze the ABI before as docs/testing.md says; then "
			 "write it anew: RF_LAYOUT_WRITE=1 build/tests/prog/test_layout",
			 LAYOUT_FILE, line, were, is, RF_ABI_VERSION);
}

static void releases_keep_their_layout(void **state)
{
	FILE *none = fopen("/dev/null", "w"), *released = fopen(RELEASED_FILE, "r");
	const char *ours = print_layout(none);
	char line[PATH_SIZE];
	int abi = 0;

	(void)state;
	assert_non_null(released);
	while (fgets(line, sizeof(line), released)) {
		assert_int_equal(sscanf(line, "map ABI %d, layout", &abi), 1);
		if (abi == RF_ABI_VERSION && strcmp(line, ours) != 0)
			fail_msg("a release has map ABI %d with another layout: raise "
				 "RF_ABI_VERSION, freeze map ABI %d as docs/testing.md says, and "
				 "write %s anew",
				 abi, abi, LAYOUT_FILE);
	}
	fclose(released);
	fclose(none);
	/* The lines are in their order, and no number is left out. */
	assert_in_range(RF_ABI_VERSION, abi, abi + 1);
}

static int write_layout(void)
{
	FILE *file = fopen(LAYOUT_FILE, "w");

	if (!file)
		return 1;
	print_layout(file);
	return fclose(file) ? 1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_laid_out_as_their_abi_says),
		cmocka_unit_test(releases_keep_their_layout),
	};

	if (getenv("RF_LAYOUT_WRITE"))
		return write_layout();
	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
