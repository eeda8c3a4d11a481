/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random traffic for the tests of the limiter: bursts, silences, several sources, clocks that step
 * forward and back and stop, limits that change. A row specifies the checks for each packet. A run
 * prints its seed if it fails; RF_TEST_SEED sets it.
 */
#ifndef RINGFENCE_UNIT_TRAFFIC_H
#define RINGFENCE_UNIT_TRAFFIC_H

#include "limiter.h"
#include "oracle.h"

#include "tests/limits.h"

#define SOURCES_MAX 8
#define FRAME_MIN 60
#define FRAME_FULL 1514
#define FRAME_JUMBO 9014

struct source {
	struct rf_window window;
	bool known;
	uint64_t latest_ns; /* of requests or, for a log or bucket, admissions */
	struct oracle oracle;
	struct oracle other; /* for what needs a second list or level */
};

struct packet {
	uint64_t time_ns;
	uint64_t time; /* the same, as the limiter reads it */
	uint64_t length;
	uint32_t cost;
};

struct run;

struct traffic {
	/* Takes one packet and checks what must hold; true when it was let through. */
	bool (*take)(struct run *run, struct source *source, const struct packet *packet);
	uint32_t packets;
	struct rf_limit limit;
	uint32_t tick_ns;
	uint32_t sources;
	uint32_t cost_max;    /* in packets; in bytes of the frame. 0: 1, and frames as they come */
	uint32_t pace;	      /* offered packets, in percent of L; 0: 200 */
	bool limit_changes;   /* up to the written value */
	bool late_ticks;      /* each by up to a tick */
	uint64_t start_cells; /* from the clock's zero */
	bool from_zero;	      /* starts at the clock's zero */
};

struct run {
	const struct traffic *traffic;
	struct rf_bank rules;
	struct rf_limit limit; /* enforced */
	const struct rf_policy *policy;
	uint32_t next_id;
	uint64_t random;
	uint64_t unit_ns;
	uint64_t cell_ns;
	uint64_t span_ns;      /* how long usage counts */
	uint64_t span_packets; /* that pass in it, of all sources */
	uint64_t clock_ns;
	uint32_t packet;
	uint32_t admitted;
};

#define RUN_FAIL(run, format, ...)                                                           \
	fail_msg("RF_TEST_SEED=%" PRIu64 ", packet %u: " format, unit_seed(), (run)->packet, \
		 __VA_ARGS__)

/* ---- the rules ---- */

static inline void run_put(struct run *run)
{
	rf_bank_put(&run->rules, 0, &run->limit, run->traffic->tick_ns, &run->next_id);
	assert_int_equal(run->policy->id, 1);
}

/* Changes rate or burst; the windows remain. */
static inline void run_change_limit(struct run *run)
{
	const struct rf_limit *most = &run->traffic->limit;
	uint64_t least = most->unit == RF_BYTES ? FRAME_FULL : 1;

	run->limit.rate = least + unit_below(&run->random, most->rate - least + 1);
	if (most->burst)
		run->limit.burst = least + unit_below(&run->random, most->burst - least + 1);
	run_put(run);
}

/* ---- packets ---- */

static inline uint32_t mean_cost(const struct run *run)
{
	if (run->limit.unit != RF_BYTES)
		return run->traffic->cost_max / 2 + 1;
	return (run->traffic->cost_max ? run->traffic->cost_max / 2 : 1000) >>
	       run->policy->unit_shift;
}

static inline uint64_t next_length(struct run *run)
{
	if (run->traffic->cost_max)
		return 1 + unit_below(&run->random, run->traffic->cost_max);
	switch (unit_below(&run->random, 8)) {
	case 0:
		return FRAME_MIN;
	case 1:
		return FRAME_FULL;
	case 2:
		return unit_below(&run->random, FRAME_JUMBO + 1);
	default:
		return FRAME_MIN + unit_below(&run->random, FRAME_FULL - FRAME_MIN);
	}
}

/*
 * Bursts, and about the row's pace; a few times per window a jump of up to a window or a step back,
 * at times a long silence, and one reading in 16 is an old one.
 */
static inline uint64_t next_time_ns(struct run *run)
{
	uint64_t pace = run->traffic->pace ? run->traffic->pace : 200;
	uint64_t grain_ns = 3 * run->cell_ns, back_ns = 0;
	uint64_t roll = unit_below(&run->random, 16 * run->span_packets + 64);

	if (roll == 0)
		run->clock_ns += unit_below(&run->random, 4 * run->span_ns);
	else if (roll < 6)
		run->clock_ns += unit_below(&run->random, run->span_ns + run->cell_ns);
	else if (roll < 10)
		back_ns = unit_below(&run->random, grain_ns);
	else if (roll % 2)
		run->clock_ns +=
			unit_below(&run->random, 400 * run->span_ns / pace / run->span_packets + 1);
	run->clock_ns -= back_ns < run->clock_ns ? back_ns : run->clock_ns;
	back_ns = unit_below(&run->random, 16) ? 0 : unit_below(&run->random, grain_ns);
	return run->clock_ns - (back_ns < run->clock_ns ? back_ns : 0);
}

/* A tick is noticed when it is complete, or up to one tick later, but never out of order. */
static inline uint64_t read_clock(const struct run *run, uint64_t time_ns)
{
	uint64_t tick = time_ns / run->unit_ns, hash = tick;

	if (run->traffic->late_ticks && time_ns % run->unit_ns < unit_random(&hash) % run->unit_ns)
		return tick - 1;
	return tick;
}

static inline struct packet next_packet(struct run *run)
{
	struct packet packet = {.time_ns = next_time_ns(run), .cost = 1};

	packet.time = read_clock(run, packet.time_ns);
	if (run->limit.unit == RF_BYTES) {
		packet.length = next_length(run);
		packet.cost = rf_cost(run->policy, packet.length);
	} else if (run->traffic->cost_max) {
		packet.cost = next_length(run);
	}
	return packet;
}

/* ---- a run ---- */

static struct source sources[SOURCES_MAX]; /* of the row that runs */

static inline void run_start(struct run *run, const struct traffic *traffic)
{
	uint64_t units;

	*run = (struct run){.traffic = traffic,
			    .limit = traffic->limit,
			    .policy = &run->rules.policy[0],
			    .next_id = 1,
			    .random = unit_seed()};
	run_put(run);
	run->unit_ns = policy_unit_ns(run->policy, traffic->tick_ns);
	run->cell_ns = policy_cells_ns(run->policy, 1, traffic->tick_ns);
	run->span_ns = policy_cells_ns(run->policy, run->policy->cells, traffic->tick_ns);
	if (rf_is_bucket(run->policy)) {
		run->span_ns = run->policy->depth >> RF_BUCKET_SHIFT;
		run->cell_ns = run->span_ns / 4 + 1;
	} else if (rf_is_log(run->policy)) {
		run->cell_ns = run->span_ns / 16;
	}
	units = (uint64_t)run->policy->limit * traffic->sources / mean_cost(run);
	run->span_packets = units ? units : 1;
	if (!traffic->from_zero)
		run->clock_ns =
			policy_cells_ns(run->policy, traffic->start_cells + 100, traffic->tick_ns);
	memset(sources, 0, sizeof(sources));
}

static inline void run_traffic(void **state)
{
	const struct traffic *traffic = *state;
	static struct run run;

	run_start(&run, traffic);
	for (; run.packet < traffic->packets; run.packet++) {
		struct source *source = &sources[unit_below(&run.random, traffic->sources)];
		struct packet packet;

		if (traffic->limit_changes && unit_below(&run.random, 1000) == 0)
			run_change_limit(&run);
		packet = next_packet(&run);
		if (!source->known)
			rf_window_start(&source->window, run.policy, packet.time);
		source->known = true;
		run.admitted += traffic->take(&run, source, &packet);
	}
	/* Traffic that is nearly all let through, or nearly all refused, shows little. */
	assert_in_range(run.admitted, run.packet / 10, run.packet - run.packet / 10);
}

#define TRAFFIC(title, function, number, ...) \
	UNIT_ROW_OF(title, run_traffic,       \
		    (&(struct traffic){.take = function, .packets = number, __VA_ARGS__}))

#endif /* RINGFENCE_UNIT_TRAFFIC_H */
