// SPDX-License-Identifier: GPL-2.0
/* Sizes of a new fence's maps, on machines of any number of CPUs. */
#include "unit.h"

#include "fence/memory.h"
#include "ringfence/abi.h"

struct sources_row {
	uint32_t given;
	int cpus;
	uint32_t least, wanted;
};

static void size_sources(void **state)
{
	const struct sources_row *row = *state;

	assert_int_equal(rf_sources_least(row->cpus), row->least);
	assert_int_equal(rf_sources_wanted(row->given, row->cpus), row->wanted);
}

/* On no machine are the default sizes refused. */
static void default_is_enough(void **state)
{
	(void)state;
	for (int cpus = -1; cpus <= 8192; cpus++)
		assert_true(rf_sources_wanted(0, cpus) >= rf_sources_least(cpus));
}

/* The CPUs together have two for each source of a family, however many CPUs there are. */
static void size_leases(void **state)
{
	(void)state;
	assert_int_equal(rf_leases_default(RF_SOURCES_DEFAULT, 2), 65536);
	assert_int_equal(rf_leases_default(1000000, 64), 31250);
	assert_int_equal(rf_leases_default(1U << 26, 1), 1U << 27);
	for (int cpus = 1; cpus <= 8192; cpus++)
		assert_true((uint64_t)rf_leases_default(1000000, cpus) * cpus >= 2000000);
}

/* On two CPUs, Linux 6.18 reports at least the computed size, and less than a page more. */
static void size_hash(void **state)
{
	static const struct {
		uint32_t entries, key_size, value_size;
		uint64_t kernel;
	} rows[] = {
		{65536, 8, 168, 15729536},
		{65536, 20, 168, 16778112},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		uint64_t bytes =
			rf_hash_memory(rows[i].entries, rows[i].key_size, rows[i].value_size);

		assert_true(bytes <= rows[i].kernel && rows[i].kernel - bytes < 4096);
	}
	assert_int_equal(rf_hash_memory(65537, 1, 1), 131072 * 16 + 65537 * 64ULL);
	assert_int_equal(rf_hash_memory(1U << 26, 20, 168), (1ULL << 26) * (16 + 48 + 24 + 168));
}

/*
 * 199,996 random /32 and as many /64: Linux 6.18 charged 41,607,168 bytes to the control group that
 * loaded them, and counted 13,599,728 and 15,999,680.
 */
static void size_trie(void **state)
{
	static const struct {
		struct rf_trie_size size;
		uint64_t bytes;
	} rows[] = {
		{{13599728, 8, 40, 416376}, 41599064},	/* Linux 6.18 */
		{{15999680, 20, 40, 416376}, 41599064}, /* Linux 6.18 */
		{{16799664, 8, 40, 416376}, 41599064},	/* with the node of older kernels */
		{{19988480, 8, 40, 416376}, 41599064},	/* Linux 6.1: the room, in pages */
		{{786432, 8, 40, 16384}, 786432},	/* the room of an empty trie */
		{{68, 8, 40, 16386}, 104},		/* one entry has no inner node */
		{{0, 8, 40, 16386}, 0},
		{{13, 8, 40, 16386}, 13}, /* a kernel that counts otherwise */
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		assert_int_equal(rf_trie_memory(&rows[i].size), rows[i].bytes);
}

#define SOURCES(title, ...)                                      \
	UNIT_ROW_OF("sources and windows: " title, size_sources, \
		    (&(struct sources_row){__VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	SOURCES("one CPU", 0, 1, 512, 65536),
	SOURCES("128 CPUs, the most that the usual number is enough for", 0, 128, 65536, 65536),
	SOURCES("129 CPUs", 0, 129, 66048, 66048),
	SOURCES("256 CPUs", 0, 256, 131072, 131072),
	SOURCES("8192 CPUs", 0, 8192, 4194304, 4194304),
	SOURCES("a number that was given", 1000, 256, 131072, 1000),
	SOURCES("CPUs that cannot be counted", 0, -2, 512, 65536),
	UNIT_ROW("the size of a hash map is what the kernel counts", size_hash),
	UNIT_ROW("the size of a trie is what it takes, not what the kernel counts", size_trie),
	UNIT_ROW("the default size is enough for every number of CPUs", default_is_enough),
	UNIT_ROW("leases follow the number of sources", size_leases),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
