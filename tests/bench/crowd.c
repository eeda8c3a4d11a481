// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of many sources that pass: each source is under its limit and sends too little for
 * credits. With `exact`, or a longer TIME, there are no loans either, so the window is looked up
 * for each packet. They are compared with the minimum cost: the same look-up in the same map, and
 * the same look-up plus a read of the window's ring.
 *
 * Each round continues the walk over all sources from the end of the previous one. Unmeasured
 * packets come first: each source was seen a known time ago, and the caches hold this row's data.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "tests/limits.h"

#include "build/ringfence.skel.h"
#include "build/tests/crowd.skel.h"

#define BUSY 1024 /* sources */
#define ROUNDS_OF_1M 7

/*
 * A cell of 4 s is 268 ms long: a source rests for longer than a cell, but not for the whole
 * window.
 */
#define SPARSE_PASS LIMIT(RF_LIMIT_MAX, 4 * SECOND, STRICT(16))
#define SPARSE_EXACT LIMIT(RF_LIMIT_MAX, 4 * SECOND, STRICT(16), EXACT)
#define SPARSE_REST_MS 280
#define IDLE_EXACT LIMIT(RF_LIMIT_MAX, SECOND, STRICT(16), EXACT)
#define IDLE_REST_MS 1300
#define LOANS_S 17 /* every window can have loans this long after it was created */
#define OUTLASTING LIMIT(RF_LIMIT_MAX, 24 * HOUR, STRICT(16))
#define SLICES 8 /* of a round with pauses: of 1k busy sources each is there in each */

struct habit {
	const char *name;
	const char *says;
	struct rf_limit limit;
	enum meets meets;
	uint32_t rest_ms;
	bool mixed;
};

static const struct habit habits[] = {
	{
		.name = "sparse",
		.says = "a packet in every cell, under a limit with loans",
		.limit = SPARSE_PASS,
		.meets = MEETS_LEASE,
		.rest_ms = SPARSE_REST_MS,
	},
	{
		.name = "sparse-exact",
		.says = "each packet closes a cell",
		.limit = SPARSE_EXACT,
		.meets = MEETS_OLDER,
		.rest_ms = SPARSE_REST_MS,
	},
	{
		.name = "idle",
		.says = "1.3 s of rest, under a limit with loans",
		.limit = KNOWN_PASS,
		.meets = MEETS_LEASE,
		.rest_ms = IDLE_REST_MS,
	},
	{
		.name = "idle-exact",
		.says = "1.3 s of rest, the whole window has passed",
		.limit = IDLE_EXACT,
		.meets = MEETS_PASSED,
		.rest_ms = IDLE_REST_MS,
	},
	{
		.name = "minute",
		.says = "meets a present head, of a long cell",
		.limit = OUTLASTING,
		.meets = MEETS_PRESENT,
	},
	{
		.name = "mixed",
		.says = "as sparse, but every other one of 1k busy sources",
		.limit = SPARSE_PASS,
		.meets = MEETS_LEASE,
		.mixed = true,
	},
};

#define HABITS (sizeof(habits) / sizeof(habits[0]))

/*
 * Every source exists before a round starts, and each packet of the round has a different source.
 */
static void walk_as(struct row *row, const struct bench_options *options, enum family family,
		    uint32_t sources, bool mixed)
{
	frame_set(&row->frame, family, 0, sources, mixed ? 2 : 1);
	row->lead = mixed ? 2 * sources : sources;
	row->repeat = row->lead < options->repeat ? row->lead : options->repeat;
	if (!mixed)
		return;
	frame_walk(&row->frame)->spare = (sources - 1) & ~(BUSY - 1);
	/* Fewer sources return too soon for another cell, so pauses are added. */
	row->slices = SLICES;
	row->pause_ms = sources < 1 << 20 ? 30 : 0;
}

static struct target *open_habit(struct group *group, const struct habit *habit, enum family family,
				 uint32_t sources)
{
	const struct load load = {.limit = habit->limit};
	struct target *target = group_add_target(group);

	target_open_fence(target, family, group_room(sources),
			  group_leases(sources) * libbpf_num_possible_cpus(), &load);
	return target;
}

static void add_habit(struct group *group, const struct bench_options *options,
		      const struct habit *habit, struct target *target, enum family family,
		      uint32_t sources, int base)
{
	struct row *row = group_add_row(group, habit->name, habit->says, target, XDP_PASS);

	walk_as(row, options, family, sources, habit->mixed);
	row->warm = sources;
	row->settle_s = LOANS_S;
	row->meets = habit->meets;
	row->rest_ms = habit->rest_ms;
	row->base = base;
}

/* The programs that look up the windows of that fence. */
static struct crowd_bpf *load_look_ups(const struct target *fence)
{
	struct crowd_bpf *crowd = crowd_bpf__open();

	if (!crowd)
		die("cannot open the look-ups: %s", strerror(errno));
	crowd->rodata->limit_id = target_limit_id(fence);
	if (bpf_map__reuse_fd(crowd->maps.windows4, bpf_map__fd(fence->fence->maps.windows4)) ||
	    bpf_map__reuse_fd(crowd->maps.windows6, bpf_map__fd(fence->fence->maps.windows6)) ||
	    crowd_bpf__load(crowd))
		die("cannot load the look-ups: %s", strerror(errno));
	return crowd;
}

/* Returns its number. */
static int add_look_up(struct group *group, const struct bench_options *options, const char *name,
		       const char *says, const struct bpf_program *program, enum family family,
		       uint32_t sources, bool mixed)
{
	walk_as(group_add_program(group, name, says, program), options, family, sources, mixed);
	return group->rows - 1;
}

static void add_crowd(struct group *group, const struct bench_options *options, enum family family,
		      uint32_t sources)
{
	struct target *target[HABITS];
	const struct bpf_program *ring;
	struct crowd_bpf *crowd;
	int alone, mixed;

	for (size_t i = 0; i < HABITS; i++)
		target[i] = open_habit(group, &habits[i], family, sources);
	walk_as(group_add_floor(group, family), options, family, sources, false);
	crowd = load_look_ups(target[0]);
	ring = family == IPV4 ? crowd->progs.ring4 : crowd->progs.ring6;
	add_look_up(group, options, "look-up", "of the windows of sparse, one after the other",
		    family == IPV4 ? crowd->progs.look_up4 : crowd->progs.look_up6, family, sources,
		    false);
	alone = add_look_up(group, options, "ring", "the same, and the ring is read", ring, family,
			    sources, false);
	mixed = add_look_up(group, options, "ring-mixed", "the same, the sources as in mixed", ring,
			    family, sources, true);
	crowd_bpf__destroy(crowd); /* the targets of the walks remain */
	for (size_t i = 0; i < HABITS; i++)
		add_habit(group, options, &habits[i], target[i], family, sources,
			  habits[i].mixed ? mixed : alone);
}

static void measure_crowd(struct report *report, const struct bench_options *options,
			  enum family family, const char *name, uint32_t sources)
{
	struct group *group = group_begin(report, options, family, name);

	if (!group)
		return;
	if (group_has_memory(group, HABITS * (uint64_t)group_room(sources)))
		add_crowd(group, options, family, sources);
	group->rounds_most = sources < 1 << 20 ? 0 : ROUNDS_OF_1M;
	group_end(group, options);
}

void measure_crowds(struct report *report, const struct bench_options *options, enum family family)
{
	if (!options->quick || family == IPV4)
		measure_crowd(report, options, family, "sparse-128k", 1 << 17);
	if (!options->quick)
		measure_crowd(report, options, family, "sparse-1M", 1 << 20);
}

struct row *crowd_add_ring(struct group *group, const struct target *fence, enum family family)
{
	struct crowd_bpf *crowd = load_look_ups(fence);
	struct row *row =
		group_add_program(group, "ring", "a look-up of such a window, and its ring is read",
				  family == IPV4 ? crowd->progs.ring4 : crowd->progs.ring6);

	crowd_bpf__destroy(crowd);
	return row;
}

/* ---- newcomers ---- */

struct row *crowd_add_insert(struct group *group, const char *name, enum family family,
			     uint32_t windows, bool fill)
{
	struct crowd_bpf *crowd = crowd_bpf__open();
	struct row *row;
	uint32_t places = 1;

	if (!crowd)
		die("cannot open the inserts: %s", strerror(errno));
	while (places < windows)
		places *= 2;
	crowd->rodata->order_mask = places - 1;
	crowd->rodata->capacity = windows;
	if (bpf_map__set_max_entries(crowd->maps.windows4, family == IPV4 ? windows : 1) ||
	    bpf_map__set_max_entries(crowd->maps.windows6, family == IPV6 ? windows : 1) ||
	    bpf_map__set_max_entries(crowd->maps.order, places) || crowd_bpf__load(crowd))
		die("cannot load the inserts: %s", strerror(errno));
	row = group_add_program(group, name,
				fill ? "the least: look-up, delete the oldest, insert"
				     : "the least: look-up, insert",
				family == IPV4 ? crowd->progs.insert4 : crowd->progs.insert6);
	crowd_bpf__destroy(crowd);
	return row;
}
