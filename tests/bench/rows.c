// SPDX-License-Identifier: GPL-2.0
/*
 * The list of rows. `GROUP/ROW` is the name of a row, as in the budget: ipv4/1k/hot-drop. The first
 * row of each group is the floor, behind the same walk over the same sources.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "tests/limits.h"

#include "build/tests/floor.skel.h"
#include "build/tests/sketch.skel.h"

#define WARM_FLOODS 3 /* packets a source: to be over a limit takes a second one */

struct path {
	const char *name;
	const char *says;
	struct load load;
	int verdict;
	uint32_t hold;	 /* packets from a newcomer before the next; 0: from all sources in turn */
	bool one_source; /* not for more */
};

#define FOREVER_PASS LIMIT(RF_LIMIT_MAX, MINUTE, STRICT(16))
#define FOREVER_DROP LIMIT(1, HOUR, STRICT(16))

static const struct path paths[] = {
	{
		.name = "hot-pass",
		.says = "passes, cells in jiffies",
		.load = {.limit = FOREVER_PASS},
		.verdict = XDP_PASS,
	},
	{
		.name = "hot-drop",
		.says = "dropped, cells in jiffies",
		.load = {.limit = FOREVER_DROP},
		.verdict = XDP_DROP,
	},
	{
		.name = "hot-pass-ktime",
		.says = "passes, cells in ns",
		.load = {.limit = LIMIT(RF_LIMIT_MAX, 100 * MS, STRICT(16))},
		.verdict = XDP_PASS,
		.one_source = true,
	},
	{
		.name = "hot-drop-ktime",
		.says = "dropped, cells in ns",
		.load = {.limit = LIMIT(1, 100 * MS, STRICT(16))},
		.verdict = XDP_DROP,
		.one_source = true,
	},
	{
		.name = "hot-pass-20k",
		.says = "passes, 20k/1s, of which each source sends 16384",
		.load = {.limit = LIMIT(20000, SECOND, STRICT(16))},
		.verdict = XDP_PASS,
		.hold = 16384,
		.one_source = true,
	},
	{
		.name = "drop-token",
		.says = "dropped, the next permit is too near for a lease",
		.load = {.limit = LIMIT(50, SECOND, TOKEN(1))},
		.verdict = XDP_DROP,
		.one_source = true,
	},
	{
		.name = "drop-counted",
		.says = "dropped, and counts: no lease",
		.load = {.limit = LIMIT(1, HOUR, STRICT(16), COUNT_REJECTED)},
		.verdict = XDP_DROP,
		.one_source = true,
	},
	{
		.name = "known",
		.says = "a fence without leases, cells in jiffies",
		.load = {.limit = KNOWN_PASS, .no_leases = true},
		.verdict = XDP_PASS,
	},
	{
		.name = "known-ktime",
		.says = "a fence without leases, cells in ns",
		.load = {.limit = LIMIT(RF_LIMIT_MAX, 100 * MS, STRICT(16)), .no_leases = true},
		.verdict = XDP_PASS,
	},
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

static const struct path *find_path(const char *name)
{
	for (size_t i = 0; i < PATHS; i++)
		if (strcmp(paths[i].name, name) == 0)
			return &paths[i];
	die("%s: no such path", name);
}

/* The cost of more rules, compared with the first and the second row. */
static const struct path rule_paths[] = {
	{"hot-pass", "one limit", {.limit = FOREVER_PASS}, XDP_PASS, 0, true},
	{"hot-drop", "one limit", {.limit = FOREVER_DROP}, XDP_DROP, 0, true},
	{"hot-pass-4", "four limits", {.limit = FOREVER_PASS, .limits = 4}, XDP_PASS, 0, true},
	{"hot-drop-4", "four limits", {.limit = FOREVER_DROP, .limits = 4}, XDP_DROP, 0, true},
	{"hot-pass-allow",
	 "100k prefixes allowed",
	 {.limit = FOREVER_PASS, .allowed = 100000},
	 XDP_PASS,
	 0,
	 true},
	{"hot-pass-from",
	 "10k prefixes in a `from`",
	 {.limit = FOREVER_PASS, .from = 10000},
	 XDP_PASS,
	 0,
	 true},
	{"known",
	 "one limit, no leases",
	 {.limit = KNOWN_PASS, .no_leases = true},
	 XDP_PASS,
	 0,
	 true},
	{"known-4",
	 "four limits, no leases",
	 {.limit = KNOWN_PASS, .limits = 4, .no_leases = true},
	 XDP_PASS,
	 0,
	 true},
	{"known-allow",
	 "100k prefixes allowed, no leases",
	 {.limit = KNOWN_PASS, .allowed = 100000, .no_leases = true},
	 XDP_PASS,
	 0,
	 true},
	{"known-from",
	 "10k prefixes in a `from`, no leases",
	 {.limit = KNOWN_PASS, .from = 10000, .no_leases = true},
	 XDP_PASS,
	 0,
	 true},
};

#define RULE_PATHS (sizeof(rule_paths) / sizeof(rule_paths[0]))

/* ---- sources that are known ---- */

static void add_path(struct group *group, const struct path *path, enum family family,
		     uint32_t sources)
{
	struct target *target = group_add_target(group);
	struct row *row;

	target_open_fence(target, family,
			  group_room(path->load.limits ? path->load.limits * sources : sources),
			  group_leases(sources) * libbpf_num_possible_cpus(), &path->load);
	row = group_add_row(group, path->name, path->says, target, path->verdict);
	if (path->hold) {
		frame_set(&row->frame, family, 0, ALL_SOURCES, path->hold);
		return;
	}
	frame_set(&row->frame, family, 0, sources, 1);
	row->warm = WARM_FLOODS * sources;
	/* one touches its slot a few times a round at most */
	row->settle_s = sources > 1 ? SETTLE_S : 0;
}

static void measure_known(struct report *report, const struct bench_options *options,
			  enum family family, const char *name, uint32_t sources)
{
	struct group *group = group_begin(report, options, family, name);
	struct row *floor;

	if (!group)
		return;
	if (group_has_memory(group, PATHS * (uint64_t)group_room(sources))) {
		floor = group_add_floor(group, family);
		frame_set(&floor->frame, family, 0, sources, 1);
		if (sources > 1)
			group_add_sketch(group, family, sources);
		for (size_t i = 0; i < PATHS; i++)
			if (sources == 1 || !paths[i].one_source)
				add_path(group, &paths[i], family, sources);
	}
	group_end(group, options);
}

/* ---- many rules ---- */

static void measure_rules(struct report *report, const struct bench_options *options,
			  enum family family)
{
	struct group *group = group_begin(report, options, family, "rules");

	if (!group)
		return;
	frame_set(&group_add_floor(group, family)->frame, family, 0, 1, 1);
	for (size_t i = 0; i < RULE_PATHS; i++)
		add_path(group, &rule_paths[i], family, 1);
	group_end(group, options);
}

/* Its packets only read windows. */
static bool is_for_crowd(const struct load *load)
{
	return load->no_leases && !load->allowed && !load->from;
}

/* Cold: the windows of four limits, compared with one. */
static void measure_cold_rules(struct report *report, const struct bench_options *options,
			       enum family family)
{
	struct group *group = group_begin(report, options, family, "64k-rules");
	const uint32_t sources = 1 << 16;

	if (!group)
		return;
	if (group_has_memory(group, 2 * (uint64_t)group_room(LIMITS_STACKED * sources))) {
		frame_set(&group_add_floor(group, family)->frame, family, 0, sources, 1);
		for (size_t i = 0; i < RULE_PATHS; i++)
			if (is_for_crowd(&rule_paths[i].load))
				add_path(group, &rule_paths[i], family, sources);
	}
	group_end(group, options);
}

/* ---- two CPUs ---- */

static void add_beside(struct group *group, int base, enum beside beside)
{
	const struct row *alone = &group->row[base];
	struct row *row =
		group_add_row(group, alone->name,
			      beside == SAME ? "another CPU does the same, on the same sources"
					     : "another CPU does the same, on other sources",
			      alone->target, alone->verdict);

	row->frame = alone->frame;
	row->base = base;
	row->beside = beside;
	strncat(row->name, beside == SAME ? "-same" : "-apart",
		sizeof(row->name) - strlen(row->name) - 1);
}

static void measure_pairs(struct report *report, const struct bench_options *options)
{
	struct group *group = group_begin(report, options, IPV4, "two-cpus");
	struct row *floor;

	if (!group)
		return;
	if (run_on_cpu(1)) {
		floor = group_add_floor(group, IPV4);
		frame_set(&floor->frame, IPV4, 0, 1, 1);
		add_beside(group, 0, SAME);
		for (size_t i = 0; i < 2; i++) {
			int alone = group->rows;

			add_path(group, &paths[i], IPV4, 1);
			add_beside(group, alone, SAME);
			add_beside(group, alone, APART);
		}
	} else {
		group->skipped = "there is one CPU only";
	}
	run_on_cpu(0);
	group_end(group, options);
}

/* Of many sources, which both CPUs see: each packet finds a window that the other one has written.
 */
static void measure_crowded_pairs(struct report *report, const struct bench_options *options)
{
	static const char *const names[] = {"hot-pass", "hot-drop", "known"};
	const uint32_t sources = 1 << 17;
	struct group *group = group_begin(report, options, IPV4, "two-cpus-128k");

	if (!group)
		return;
	if (!run_on_cpu(1))
		group->skipped = "there is one CPU only";
	else if (group_has_memory(group, 3ULL * group_room(sources))) {
		frame_set(&group_add_floor(group, IPV4)->frame, IPV4, 0, sources, 1);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const int alone = group->rows;

			add_path(group, find_path(names[i]), IPV4, sources);
			add_beside(group, alone, SAME);
		}
	}
	run_on_cpu(0);
	group_end(group, options);
}

/* ---- parts ---- */

static void measure_parts(struct report *report, const struct bench_options *options)
{
	struct group *group = group_begin(report, options, IPV4, "parts");
	const struct load none = {};
	struct target *fence;

	if (!group)
		return;
	group_add_floor(group, IPV4);
	group_add_program(group, "bare", "XDP_DROP alone", floors->progs.bare_drop);
	group_add_program(group, "array", "an array look-up", floors->progs.array_drop);
	group_add_program(group, "atomic", "the same, and an atomic add",
			  floors->progs.atomic_drop);
	group_add_program(group, "jiffies", "bpf_jiffies64()", floors->progs.jiffies_drop);
	group_add_program(group, "ktime", "bpf_ktime_get_ns()", floors->progs.ktime_drop);
	group_add_program(group, "hash", "a hit in a hash map", floors->progs.hash_drop);
	group_add_program(group, "lru", "a hit in an LRU hash map", floors->progs.lru_drop);
	fence = group_add_target(group);
	target_open_fence(fence, IPV4, RF_SOURCES_DEFAULT, RF_LEASES_DEFAULT, &none);
	group_add_row(group, "no-limit", "ringfence, without a limit", fence, XDP_PASS);
	for (int i = 0; i < group->rows; i++)
		frame_set(&group->row[i].frame, IPV4, 0, 1, 1);
	group_end(group, options);
}

void measure_all(struct report *report, const struct bench_options *options)
{
	static const struct {
		const char *name;
		uint32_t sources;
		bool quick;
	} crowds[] = {{"1", 1, true},
		      {"1k", 1 << 10, false},
		      {"64k", 1 << 16, false},
		      {"128k", 1 << 17, true},
		      {"1M", 1 << 20, false}};

	floors = floor_bpf__open_and_load();
	sketches = sketch_bpf__open_and_load();
	if (!floors || !sketches)
		die("cannot load the floor programs: %s; run as root", strerror(errno));
	run_on_cpu(0);
	measure_parts(report, options);
	for (enum family family = IPV4; family < FAMILIES; family++) {
		for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++)
			if (crowds[i].quick || !options->quick)
				measure_known(report, options, family, crowds[i].name,
					      crowds[i].sources);
		measure_crowds(report, options, family);
		measure_users(report, options, family);
		measure_newcomers(report, options, family);
		measure_challenges(report, options, family);
		measure_rules(report, options, family);
		measure_cold_rules(report, options, family);
		measure_shapes(report, options, family);
	}
	measure_pairs(report, options);
	if (!options->quick)
		measure_crowded_pairs(report, options);
	sketch_bpf__destroy(sketches);
	floor_bpf__destroy(floors);
}
