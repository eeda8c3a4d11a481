// SPDX-License-Identifier: GPL-2.0
/*
 * Every algorithm through the loaded program, in the parts that the known answers omit: bytes,
 * counted refusals, and shadow limits. Each row runs through both entries and both families.
 */
#include "program.h"

#include <linux/bpf.h>

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

#include "tests/limits.h"
#include "tests/unit/unit.h"

#define ROW_START_NS (6000 * SECOND)
#define STEPS_MAX 8
#define LENGTH_MAX 9014
#define ONE_BUFFER 3000 /* the longest frame that is tried in one */
#define FRAME_MIN sizeof(struct frame4)

#define SHADOWED .flags = RF_SHADOW

/* Sends `count` frames, of which `passed` are under the limit. */
struct step {
	uint32_t at_ms;
	uint32_t count;
	uint32_t passed;
	uint32_t length; /* with the Ethernet header; 0: the shortest, 64 bytes */
	uint32_t used;	 /* what counts then, by the window in the map; 0: not checked */
};

struct row {
	struct rf_limit limit;
	struct step step[STEPS_MAX];
};

static struct program program;

/* The path of a row: an entry, and a source without a window. */
struct path {
	const struct bpf_program *entry;
	union {
		struct frame4 four;
		struct frame6 six;
		unsigned char bytes[LENGTH_MAX];
	} frame;
	const struct bpf_map *windows;
	union {
		struct rf_key4 four;
		struct rf_key6 six;
	} key;
};

static bool has_frags(const struct path *path)
{
	return path->entry == program.object->progs.ringfence_frags;
}

static void start_path4(struct path *path, const struct bpf_program *entry, uint32_t number)
{
	memset(path, 0, sizeof(*path));
	path->entry = entry;
	path->frame.four = frame4_from(htonl(0xc0000200 + number));
	path->windows = program.object->maps.windows4;
	path->key.four = (struct rf_key4){path->frame.four.ip.saddr, program_policy(&program)->id};
}

static void start_path6(struct path *path, const struct bpf_program *entry, uint32_t number)
{
	memset(path, 0, sizeof(*path));
	path->entry = entry;
	path->frame.six = frame6_from("2001:db8:1:2:3:4:5:6");
	path->frame.six.ip.saddr.s6_addr32[1] = htonl(number);
	path->windows = program.object->maps.windows6;
	path->key.six = (struct rf_key6){.limit_id = program_policy(&program)->id};
	memcpy(path->key.six.source, &path->frame.six.ip.saddr, 8); /* the /64 */
}

static void check_used(const struct path *path, uint64_t time_ns, uint32_t expected)
{
	const struct rf_policy *policy = program_policy(&program);
	struct rf_source source;

	if (policy->clock == RF_JIFFIES)
		time_ns /= TICK_NS;
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(path->windows), &path->key, &source), 0);
	assert_int_equal(rf_used(&source.window, policy, time_ns), expected);
}

static void run_step(const struct path *path, const struct step *step)
{
	const struct rf_limit_counters before = program_limit_counters(&program);
	const bool shadow = program_policy(&program)->flags & RF_SHADOW;
	const uint64_t time_ns = ROW_START_NS + step->at_ms * MS;
	const uint32_t length = step->length ? step->length : FRAME_MIN;
	struct rf_limit_counters after;
	uint32_t let_through = 0;

	program_set_time(&program, time_ns);
	for (uint32_t i = 0; i < step->count; i++)
		let_through += program_run(path->entry, &path->frame, length) == XDP_PASS;
	after = program_limit_counters(&program);
	assert_int_equal(after.passed.packets - before.passed.packets, step->passed);
	assert_int_equal(after.passed.bytes - before.passed.bytes, step->passed * length);
	assert_int_equal(after.dropped.packets - before.dropped.packets,
			 shadow ? 0 : step->count - step->passed);
	assert_int_equal(after.would_drop.packets - before.would_drop.packets,
			 shadow ? step->count - step->passed : 0);
	assert_int_equal(let_through, shadow ? step->count : step->passed);
	if (step->used)
		check_used(path, time_ns, step->used);
}

static void run_row(const struct row *row, const struct path *path)
{
	for (const struct step *step = row->step; step->count; step++)
		if (has_frags(path) || step->length <= ONE_BUFFER)
			run_step(path, step);
}

static void through_every_path(void **state)
{
	const struct bpf_program *entries[] = {program.object->progs.ringfence,
					       program.object->progs.ringfence_frags};
	const struct row *row = *state;
	static uint32_t number;
	struct rf_limit limit = row->limit;
	struct path path;

	limit.flags |= RF_EXACT; /* the use is exact to the unit */
	program_set_limit(&program, &limit);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(entries); i++) {
		start_path4(&path, entries[i], number);
		run_row(row, &path);
		start_path6(&path, entries[i], number++);
		run_row(row, &path);
	}
}

static int load(void **state)
{
	(void)state;
	program_open_both(&program);
	program_load(&program);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	program_close(&program);
	return 0;
}

/* The limit, then STEPS(...). */
#define ROW(title, ...) \
	UNIT_ROW_OF(title, through_every_path, (&(struct row){.limit = __VA_ARGS__}))
#define STEPS(...) .step = {__VA_ARGS__}
#define AT(at, number, passes, ...)                                         \
	{                                                                   \
		.at_ms = at, .count = number, .passed = passes, __VA_ARGS__ \
	}

static const struct CMUnitTest tests[] = {
	ROW("strict, bytes: a frame is charged with its Ethernet header",
	    LIMIT(1000, SECOND, STRICT(16), BYTES),
	    STEPS(AT(0, 2, 2, 64), AT(10, 1, 0, 873), AT(10, 2, 1, 872, 1000), AT(999, 1, 0, 64))),
	ROW("coarse, bytes: a frame is charged by its length",
	    LIMIT(1000, SECOND, COARSE(10), BYTES),
	    STEPS(AT(0, 2, 2, 64), AT(10, 1, 0, 873), AT(10, 2, 1, 872, 1000), AT(999, 1, 0),
		  AT(1000, 2, 1, 1000))),
	ROW("fixed, bytes: a frame is charged by its length", LIMIT(1000, SECOND, FIXED, BYTES),
	    STEPS(AT(0, 2, 2, 64), AT(10, 1, 0, 873), AT(10, 2, 1, 872, 1000), AT(999, 1, 0),
		  AT(1000, 2, 1, 1000))),
	ROW("weighted, bytes: a frame is charged by its length",
	    LIMIT(1000, SECOND, WEIGHTED(2), BYTES),
	    STEPS(AT(0, 2, 1, 900, 900), AT(1000, 1, 1, 100, 1000), AT(1500, 1, 0, 451),
		  AT(1500, 1, 1, 450, 1000), AT(3000, 2, 1, 1000))),
	ROW("token, bytes: a frame is charged by its length",
	    LIMIT(1000, SECOND, TOKEN(3000), BYTES),
	    STEPS(AT(0, 3, 2, 1500, 3000), AT(64, 2, 1, 64), AT(1064, 1, 0, 1001),
		  AT(1064, 1, 1, 1000, 3000))),
	ROW("leaky, bytes: a frame is charged by its length",
	    LIMIT(1000, SECOND, LEAKY(1514), BYTES),
	    STEPS(AT(0, 2, 1, 1514), AT(100, 2, 1, 100), AT(163, 1, 0), AT(164, 2, 1))),
	ROW("bytes: a frame in several buffers is charged with all of them",
	    LIMIT(10000, SECOND, FIXED, BYTES),
	    STEPS(AT(0, 1, 1, LENGTH_MAX, LENGTH_MAX), AT(2000, 1, 1, LENGTH_MAX),
		  AT(4000, 2, 2, 1000, 2000))),
	ROW("bytes: a frame in several buffers is too long for what is left",
	    LIMIT(10000, SECOND, TOKEN(10000), BYTES),
	    STEPS(AT(0, 1, 1, 987, 987), AT(0, 1, 0, LENGTH_MAX, 987))),
	ROW("bytes in units of four: the length of a frame is rounded up",
	    LIMIT(1ULL << 33, SECOND, STRICT(16), BYTES),
	    STEPS(AT(0, 1, 1, 1513, 379), AT(0, 1, 1, 64, 379 + 16))),

	ROW("strict, count rejected: a dropped frame is charged",
	    LIMIT(5, SECOND, STRICT(16), COUNT_REJECTED),
	    STEPS(AT(0, 9, 5, 0, 9), AT(1000, 2, 0, 0, 11), AT(2000, 2, 2, 0, 4),
		  AT(2100, 2, 2, 0, 4), AT(2100, 3, 1, 0, 7))),
	ROW("coarse, count rejected: a dropped frame is charged",
	    LIMIT(5, SECOND, COARSE(10), COUNT_REJECTED),
	    STEPS(AT(0, 9, 5, 0, 9), AT(900, 2, 0, 0, 11), AT(1000, 5, 3, 0, 7), AT(1899, 1, 0))),
	ROW("fixed, count rejected: a dropped frame is charged",
	    LIMIT(5, SECOND, FIXED, COUNT_REJECTED),
	    STEPS(AT(0, 9, 5, 0, 9), AT(999, 2, 0, 0, 11), AT(1000, 9, 5, 0, 9))),
	ROW("weighted, count rejected: a dropped frame is charged",
	    LIMIT(5, SECOND, WEIGHTED(2), COUNT_REJECTED),
	    STEPS(AT(0, 10, 5, 0, 10), AT(1500, 1, 0, 0, 6), AT(1800, 3, 2, 0, 6))),
	ROW("log, count rejected: a dropped frame is charged",
	    LIMIT(3, SECOND, LOG, COUNT_REJECTED),
	    STEPS(AT(0, 3, 3, 0, 3), AT(500, 2, 0, 0, 5), AT(1001, 2, 1, 0, 4))),
	ROW("token, count rejected: a dropped frame is charged",
	    LIMIT(10, SECOND, TOKEN(5), COUNT_REJECTED),
	    STEPS(AT(0, 9, 5, 0, 5), AT(50, 1, 0, 0, 5), AT(149, 1, 0, 0, 5), AT(249, 1, 1))),
	ROW("leaky, count rejected: a dropped frame is charged",
	    LIMIT(10, SECOND, LEAKY(1), COUNT_REJECTED),
	    STEPS(AT(0, 9, 1), AT(50, 1, 0), AT(149, 1, 0), AT(249, 2, 1))),

	ROW("strict, shadow: every frame passes, and the excess is counted",
	    LIMIT(5, SECOND, STRICT(16), SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(1000, 2, 0), AT(2000, 20, 5))),
	ROW("coarse, shadow: every frame passes, and the excess is counted",
	    LIMIT(5, SECOND, COARSE(10), SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(999, 2, 0), AT(1000, 20, 5))),
	ROW("fixed, shadow: every frame passes, and the excess is counted",
	    LIMIT(5, SECOND, FIXED, SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(999, 2, 0), AT(1000, 20, 5))),
	ROW("weighted, shadow: every frame passes, and the excess is counted",
	    LIMIT(5, SECOND, WEIGHTED(2), SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(1000, 2, 0), AT(1400, 20, 2))),
	ROW("log, shadow: every frame passes, and the excess is counted",
	    LIMIT(5, SECOND, LOG, SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(1000, 2, 0), AT(1001, 20, 5))),
	ROW("token, shadow: every frame passes, and the excess is counted",
	    LIMIT(10, SECOND, TOKEN(5), SHADOWED),
	    STEPS(AT(0, 20, 5, 0, 5), AT(99, 2, 0), AT(100, 2, 1), AT(600, 20, 5))),
	ROW("leaky, shadow: every frame passes, and the excess is counted",
	    LIMIT(10, SECOND, LEAKY(1), SHADOWED),
	    STEPS(AT(0, 20, 1, 0, 1), AT(99, 2, 0), AT(100, 2, 1))),
};

int main(void)
{
	return cmocka_run_group_tests_name("algorithms, loaded", tests, load, unload);
}
