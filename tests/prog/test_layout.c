// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that builds share by the maps of a fence, compared with tests/prog/layout: the
 * retained maps of a fence, each member of their keys and values, the structures, enumerators and
 * constants of abi.h. Maps that a program creates privately at each load are not part of it. A
 * fence can outlive the build that attached it, and other builds decide only by the numbers of the
 * map ABI whether they can read the maps. Each change of these therefore gets a new number, also
 * between releases; tests/prog/layouts has one line for each number ever used. The present numbers
 * are named RF_ABI_VERSION and RF_ABI_LAYOUT. RF_LAYOUT_WRITE=1 build/tests/prog/test_layout writes
 * the record of a new number.
 */
#include "program.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "build/ringfence_fleet.skel.h"

#define LAYOUT_FILE "tests/prog/layout"
#define NUMBERS_FILE "tests/prog/layouts"
#define HEADER_FILE "build/tests/abi" /* abi.h after the preprocessor, and its constants */
#define RODATA ".rodata"
#define IN_A_FLEET "in a fleet:\n"
#define PATH_SIZE 256
#define TEXT_SIZE (256 << 10)

static void print_members(FILE *to, const struct btf *btf, const char *path, __u32 bits, __u32 id);

/* A member, with all its parts; `bits` from the start of the key or value. */
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

/* `attach` chooses the number of these values; readers query the kernel. */
static bool has_any_size(const char *name)
{
	static const char *const names[] = {"windows4", "windows6",	"slots4",    "slots6",
					    "leases",	"known_filter", "lease_tags"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A section has the name of its object in front. */
static const char *name_of(const struct bpf_map *map)
{
	const char *section = strchr(bpf_map__name(map), '.');

	return section ? section : bpf_map__name(map);
}

/*
 * Do other builds use that map? Another program of the fence gets it, or reads it. Every other map
 * holds data of one packet only.
 */
static bool is_shared(const char *name)
{
	for (int i = 0; i < RF_MAP_COUNT; i++)
		if (strcmp(rf_map_in_object(i), name) == 0)
			return true;
	return strcmp(rf_share_pins[RF_SHARE_ASKS], name) == 0 || strcmp(RODATA, name) == 0;
}

static void print_map(FILE *to, const struct btf *btf, const struct bpf_map *map)
{
	const __u32 value = bpf_map__btf_value_type_id(map), key = bpf_map__btf_key_type_id(map);
	const char *name = name_of(map);
	char path[PATH_SIZE];

	fprintf(to, "%s: kind %d, flags %#x, key of %u, value of %u bytes, ", name,
		bpf_map__type(map), bpf_map__map_flags(map), bpf_map__key_size(map),
		bpf_map__value_size(map));
	fprintf(to, has_any_size(name) ? "any number\n" : "%u of them\n",
		bpf_map__max_entries(map));
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

static char *text_of_map(const struct bpf_object *object, const struct bpf_map *map)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	print_map(to, bpf_object__btf(object), map);
	assert_int_equal(fclose(to), 0);
	return text;
}

/* The shared maps of `object`, without the maps that are equal in `beside`. */
static void print_maps(FILE *to, const struct bpf_object *object, const struct bpf_object *beside)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const struct bpf_map *other =
			beside ? bpf_object__find_map_by_name(beside, bpf_map__name(map)) : NULL;
		char *text = text_of_map(object, map);
		char *same = other ? text_of_map(beside, other) : strdup("");

		if (is_shared(name_of(map)) && strcmp(text, same) != 0)
			fputs(text, to);
		free(text);
		free(same);
	}
}

static void print_objects(FILE *to)
{
	struct ringfence_bpf *object = ringfence_bpf__open();
	struct ringfence_fleet_bpf *fleet = ringfence_fleet_bpf__open();

	assert_non_null(object);
	assert_non_null(fleet);
	print_maps(to, object->obj, NULL);
	fprintf(to, IN_A_FLEET);
	print_maps(to, fleet->obj, object->obj);
	ringfence_fleet_bpf__destroy(fleet);
	ringfence_bpf__destroy(object);
}

static void print_header(FILE *to)
{
	FILE *header = fopen(HEADER_FILE, "r");
	char line[2 * PATH_SIZE];

	assert_non_null(header);
	while (fgets(line, sizeof(line), header))
		fputs(line, to);
	fclose(header);
}

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

static uint64_t ours; /* the hash of print_layout() */

/* Appends the line of the number in NUMBERS_FILE. Returns that line. */
static const char *print_layout(FILE *to)
{
	static char text[TEXT_SIZE], last[PATH_SIZE];
	FILE *all = fmemopen(text, sizeof(text), "w");

	assert_non_null(all);
	print_objects(all);
	print_header(all);
	assert_int_equal(fclose(all), 0);
	ours = hash_of(text);
	snprintf(last, sizeof(last), "map ABI %d, layout %016" PRIx64 "\n", RF_ABI_VERSION, ours);
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

#define WHAT_TO_DO                                                              \
	"raise RF_ABI_VERSION and set RF_ABI_LAYOUT to 0x%016" PRIx64 "ULL in " \
	"include/ringfence/abi.h, then write the record: RF_LAYOUT_WRITE=1 "    \
	"build/tests/prog/test_layout"

static void maps_are_as_they_are_recorded(void **state)
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
		fail_msg("%s:%d: was '%s', is '%s': " WHAT_TO_DO, LAYOUT_FILE, line, were, is,
			 ours);
}

static void the_header_has_the_hash_of_the_layout(void **state)
{
	FILE *none = fopen("/dev/null", "w");

	(void)state;
	print_layout(none);
	fclose(none);
	if (ours != RF_ABI_LAYOUT)
		fail_msg("RF_ABI_LAYOUT is %#llx: " WHAT_TO_DO, RF_ABI_LAYOUT, ours);
}

/*
 * Otherwise a change of the data that one packet leaves for the next step would stop an upgrade in
 * place. By number: each retained map of a fence, and the read-only data.
 */
static void the_layout_has_the_maps_of_a_fence_and_no_others(void **state)
{
	FILE *file = fopen(LAYOUT_FILE, "r");
	char line[2 * PATH_SIZE];
	int maps = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) && strcmp(line, IN_A_FLEET) != 0)
		maps += strstr(line, ": kind ") != NULL;
	assert_false(feof(file));
	fclose(file);
	assert_int_equal(maps, RF_MAP_COUNT + 1);
}

/* The record of the present number; "": none yet. Fails unless the numbers rise. */
static void read_number(char found[PATH_SIZE])
{
	FILE *numbers = fopen(NUMBERS_FILE, "r");
	char line[PATH_SIZE];
	int before = 0, abi;

	*found = 0;
	assert_non_null(numbers);
	while (fgets(line, sizeof(line), numbers)) {
		if (*line == '#')
			continue;
		assert_int_equal(sscanf(line, "map ABI %d, layout", &abi), 1);
		if (abi <= before)
			fail_msg("%s: %d comes after %d", NUMBERS_FILE, abi, before);
		before = abi;
		if (abi == RF_ABI_VERSION)
			memcpy(found, line, sizeof(line));
	}
	fclose(numbers);
	if (before > RF_ABI_VERSION)
		fail_msg("%s has map ABI %d, RF_ABI_VERSION is %d: a number is never used again",
			 NUMBERS_FILE, before, RF_ABI_VERSION);
}

/* A line of a release has more behind the layout. */
static bool is_of_layout(const char *line, const char *layout)
{
	const size_t length = strcspn(layout, "\n");

	return strncmp(line, layout, length) == 0 && strchr(",\n", line[length]);
}

static void no_number_has_two_layouts(void **state)
{
	FILE *none = fopen("/dev/null", "w");
	const char *layout = print_layout(none);
	char line[PATH_SIZE];

	(void)state;
	fclose(none);
	read_number(line);
	if (!is_of_layout(line, layout))
		fail_msg("%s: map ABI %d has another layout, or none: " WHAT_TO_DO, NUMBERS_FILE,
			 RF_ABI_VERSION, ours);
}

static int write_number(const char *layout)
{
	FILE *numbers;
	char line[PATH_SIZE];

	read_number(line);
	if (is_of_layout(line, layout))
		return 0;
	if (*line) {
		fprintf(stderr, "%s has another layout of map ABI %d: " WHAT_TO_DO "\n",
			NUMBERS_FILE, RF_ABI_VERSION, ours);
		return 1;
	}
	numbers = fopen(NUMBERS_FILE, "a");
	if (!numbers)
		return 1;
	fputs(layout, numbers);
	return fclose(numbers) ? 1 : 0;
}

static int write_layout(void)
{
	FILE *none = fopen("/dev/null", "w"), *file;

	if (write_number(print_layout(none)))
		return 1;
	fclose(none);
	file = fopen(LAYOUT_FILE, "w");
	if (!file)
		return 1;
	print_layout(file);
	return fclose(file) ? 1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_as_they_are_recorded),
		cmocka_unit_test(the_header_has_the_hash_of_the_layout),
		cmocka_unit_test(no_number_has_two_layouts),
		cmocka_unit_test(the_layout_has_the_maps_of_a_fence_and_no_others),
	};

	if (getenv("RF_LAYOUT_WRITE"))
		return write_layout();
	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
