// SPDX-License-Identifier: GPL-2.0
/*
 * Events of many random scans, with restarts, clock steps and recreated fences, against the
 * invariants of any log: numbers without an unexplained gap, and one end for each start.
 */
#include "made_scan.h"

#define SOURCES 400
#define ROWS (SOURCES * MADE_LIMITS)
#define RUNS 24
#define SCANS 400

/* The state of one source under one limit. */
struct truth {
	bool is_losing, is_banned;
	uint64_t lost_ns; /* when it lost packets last, awake; 0: never */
	uint64_t since;
};

/* A log as its reader sees it. */
struct log {
	uint64_t seq;	   /* of the last line */
	uint64_t missing;  /* numbers that no line had, and nothing explains yet */
	uint64_t lines;	   /* except RF_EVENT_SUPPRESSED */
	uint64_t began_ns; /* awake */
	struct rf_event open[4 * RF_EVENTS_SOURCES];
	size_t opens;
	bool is_gone; /* the fence: everything ends */
	int reverted, attached, detached;
};

struct world {
	uint64_t random;
	struct rf_events *events;
	struct rf_snapshot scan;
	struct truth truth[ROWS];
	struct rf_source_row row[ROWS];
	struct rf_ban_row ban[ROWS];
	struct log log;
	int made, rules_reverted;
	enum rf_told told;
	int storm; /* of ten sources, this many lose packets */
};

/* ---- what must hold ---- */

static enum rf_event_type start_of(enum rf_event_type type)
{
	switch (type) {
	case RF_EVENT_SOURCE_RELEASED:
	case RF_EVENT_BAN_ENDED:
	case RF_EVENT_NEWCOMERS_RELEASED:
	case RF_EVENT_CHALLENGES_ENDED:
	case RF_EVENT_FLOOD_ENDED:
	case RF_EVENT_DETACHED:
	case RF_EVENT_FLEET_ONLINE:
	case RF_EVENT_BYPASS_ENDED:
	case RF_EVENT_RESUMED:
		return type == RF_EVENT_DETACHED ? RF_EVENT_ATTACHED : type - 1;
	default:
		return RF_EVENT_TYPES;
	}
}

static bool is_start(enum rf_event_type type)
{
	return type == RF_EVENT_ATTACHED || start_of(type + 1) == type;
}

static struct truth *truth_of(struct world *world, const struct rf_event *event)
{
	for (int i = 0; i < ROWS; i++)
		if (!rf_prefix_compare(&world->row[i].source, &event->source) &&
		    !strcmp(world->row[i].limit->name, event->limit))
			return &world->truth[i];
	fail_msg("an event names a source that does not exist");
	return NULL;
}

static void judge_start(struct world *world, const struct rf_event *event)
{
	struct log *log = &world->log;

	for (size_t i = 0; i < log->opens; i++) {
		assert_string_not_equal(log->open[i].id, event->id);
		if (log->open[i].type == event->type && !event->has_source)
			fail_msg("%s: it has started already", rf_event_type_name(event->type));
	}
	assert_true(log->opens < UNIT_ARRAY_SIZE(log->open));
	log->open[log->opens++] = *event;
	if (event->type == RF_EVENT_SOURCE_LIMITED)
		assert_true(truth_of(world, event)->is_losing);
	if (event->type == RF_EVENT_BAN_STARTED)
		assert_true(truth_of(world, event)->is_banned);
}

static void judge_end_of_source(struct world *world, const struct rf_event *start,
				const struct rf_event *end)
{
	const struct truth *truth = truth_of(world, end);
	const uint64_t quiet_ns = world->scan.awake_ns - truth->lost_ns;

	assert_string_equal(start->limit, end->limit);
	assert_true(end->dropped >= start->dropped);
	/* After a restart, a source of the same network can have taken its place. */
	if (world->told == RF_TELL_FULL)
		assert_int_equal(rf_prefix_compare(&start->source, &end->source), 0);
	if (world->log.is_gone || world->told != RF_TELL_FULL)
		return;
	if (end->type == RF_EVENT_BAN_ENDED)
		assert_false(truth->is_banned);
	else if (!*end->detail)
		assert_true(quiet_ns >= RF_EVENTS_QUIET_S * SECOND);
}

static void judge_end(struct world *world, const struct rf_event *end)
{
	struct log *log = &world->log;
	size_t i = 0;

	while (i < log->opens && strcmp(log->open[i].id, end->id) != 0)
		i++;
	if (i == log->opens)
		fail_msg("%s %s: it has not started", rf_event_type_name(end->type), end->id);
	assert_int_equal(log->open[i].type, start_of(end->type));
	assert_int_equal(log->open[i].first_seen_ns, end->first_seen_ns);
	if (end->has_source && world->told == RF_TELL_FULL)
		judge_end_of_source(world, &log->open[i], end);
	log->open[i] = log->open[--log->opens];
}

static void judge_left_out(struct log *log, const struct rf_event *event)
{
	uint64_t sum = 0;

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		sum += event->left_out[type];
	assert_int_equal(sum, log->missing);
	log->missing = 0;
}

/* tests/docs/test_events.sh validates the written events. */
static void write_json(const struct rf_event *event)
{
	const char *path = getenv("RF_EVENTS_JSON");
	FILE *file = path ? fopen(path, "a") : NULL;
	json_t *json = file ? rf_event_json(event) : NULL;

	if (file) {
		json_dumpf(json, file, JSON_COMPACT);
		fputc('\n', file);
		fclose(file);
	}
	json_decref(json);
}

static void judge(void *context, const struct rf_event *event)
{
	struct world *world = context;
	struct log *log = &world->log;

	write_json(event);
	assert_true(event->seq > log->seq);
	log->missing += event->seq - log->seq - 1;
	log->seq = event->seq;
	log->lines += event->type != RF_EVENT_SUPPRESSED;
	log->reverted += event->type == RF_EVENT_CONFIRMATION_EXPIRED;
	if (event->type == RF_EVENT_SUPPRESSED)
		judge_left_out(log, event);
	if (is_start(event->type))
		judge_start(world, event);
	if (start_of(event->type) != RF_EVENT_TYPES)
		judge_end(world, event);
	assert_true(log->lines <=
		    RF_EVENTS_BURST + 1 + (world->scan.awake_ns - log->began_ns) / SECOND);
}

/* ---- what happens ---- */

static bool chance(struct world *world, uint64_t one_in)
{
	return unit_below(&world->random, one_in) == 0;
}

static void move_source(struct world *world, int i)
{
	struct truth *truth = &world->truth[i];
	const bool in_storm = (int)unit_below(&world->random, 10) < world->storm;

	if (truth->is_losing ? chance(world, 5) : in_storm && chance(world, 3))
		truth->is_losing = !truth->is_losing;
	if (chance(world, world->storm ? 50 : 3000)) {
		truth->is_banned = !truth->is_banned;
		truth->since = world->scan.bans.now - unit_below(&world->random, 90);
	}
	world->row[i].new_dropped =
		truth->is_losing
			? 1 + unit_below(&world->random, 1 << unit_below(&world->random, 16))
			: 0;
	if (truth->is_losing)
		truth->lost_ns = world->scan.awake_ns;
}

static void list_bans(struct world *world)
{
	world->scan.bans.count = 0;
	for (int i = 0; i < ROWS; i++) {
		const struct rf_source_row *row = &world->row[i];
		struct rf_ban_row *ban = &world->ban[world->scan.bans.count];

		if (!world->truth[i].is_banned)
			continue;
		*ban = (struct rf_ban_row){
			.source.version = row->source.version,
			.limit_id = row->limit_id,
			.limit = row->limit,
			.since = world->truth[i].since,
		};
		memcpy(ban->source.word, row->source.word, sizeof(ban->source.word));
		world->scan.bans.count++;
	}
}

static void move_rules(struct world *world)
{
	struct rf_standing *standing = &world->scan.standing;

	if (chance(world, 50))
		standing->paused_ns = standing->paused_ns ? 0 : 600 * RF_NS_PER_S;
	if (standing->state == RF_PENDING && chance(world, 5)) {
		const bool reverts = chance(world, 2);

		world->rules_reverted += reverts;
		standing->state = reverts ? RF_REVERTED : RF_CONFIRMED;
		standing->in_force = standing->active - reverts;
	} else if (standing->state != RF_PENDING && chance(world, 40)) {
		standing->active = standing->in_force = standing->active + 2;
		standing->state = chance(world, 2) ? RF_PENDING : RF_CONFIRMED;
	}
}

static void move_counters(struct world *world)
{
	struct rf_counters *counters = &world->scan.sums.counters;

	if (world->storm > 3)
		counters->reason[RF_NEWCOMER_DROP].packets += unit_below(&world->random, 30000);
	if (world->storm > 5) {
		counters->reason[RF_CHALLENGED].packets += unit_below(&world->random, 30000);
		counters->reason[RF_PROVEN].packets += unit_below(&world->random, 300);
	}
	if (chance(world, 50))
		counters->map_error[unit_below(&world->random, RF_MAP_ERROR_COUNT)]++;
	/* A lease that is handed over can be missing briefly. */
	if (chance(world, 20) && counters->reason[RF_NEWCOMER_DROP].packets > 100)
		counters->reason[RF_NEWCOMER_DROP].packets -= 100;
}

static void move_fleet(struct world *world)
{
	struct rf_fleet_seen *fleet = &world->scan.fleet;

	if (chance(world, 100))
		fleet->limits = !fleet->limits;
	if (chance(world, 20))
		fleet->standing.alone =
			fleet->standing.alone ? 0 : unit_below(&world->random, RF_BUCKETS + 1);
	if (chance(world, 40))
		fleet->agent.member[0] ^= 1U << unit_below(&world->random, 4);
	fleet->agent.is_up = !chance(world, 20);
	fleet->agent.is_settled = !fleet->standing.alone;
}

static void move_interface(struct world *world)
{
	struct rf_interface_seen *seen = &world->scan.interface[0];

	world->scan.interfaces = 1;
	strcpy(seen->name, "eth0");
	if (chance(world, 100))
		seen->bypass.met = RF_BYPASSED;
	else if (chance(world, 10))
		seen->bypass.met = chance(world, 2) ? RF_MET : RF_MET_UNKNOWN;
}

static void forget_all(struct world *world)
{
	for (int i = 0; i < ROWS; i++)
		world->truth[i].is_banned = false;
	world->scan.standing = (struct rf_standing){.active = 2, .in_force = 2};
	world->scan.sums.counters = (struct rf_counters){};
}

static void go(struct world *world)
{
	world->log.is_gone = true;
	rf_events_gone(world->events, world->scan.time_ns, judge, world);
	world->log.is_gone = false;
	assert_int_equal(world->log.opens, 0);
	assert_int_equal(world->log.missing, 0);
}

static void restart(struct world *world)
{
	char *text = rf_events_state(world->events, world->told);

	assert_non_null(text);
	rf_events_close(world->events);
	world->events = rf_events_open(text);
	free(text);
}

static void happen(struct world *world)
{
	if (chance(world, 30))
		world->storm = chance(world, 2) ? 0 : unit_below(&world->random, 11);
	if (chance(world, 60))
		world->scan.time_ns += (unit_below(&world->random, 7200) - 3600) * SECOND;
	if (chance(world, 20))
		world->scan.awake_ns += unit_below(&world->random, 20) * SECOND;
	for (int i = 0; i < ROWS; i++)
		move_source(world, i);
	move_rules(world);
	move_counters(world);
	move_fleet(world);
	move_interface(world);
	list_bans(world);
	if (chance(world, 150)) {
		go(world);
		forget_all(world);
		list_bans(world);
	}
	if (chance(world, 25))
		restart(world);
}

static int by_row(const void *a, const void *b)
{
	return rf_source_row_compare(a, b);
}

static void begin(struct world *world, uint64_t random, enum rf_told told)
{
	memset(world, 0, sizeof(*world));
	world->random = random;
	world->told = told;
	made_scan(&world->scan);
	for (int i = 0; i < ROWS; i++)
		world->row[i] = made_row(&world->scan, i / MADE_LIMITS * 997, i % MADE_LIMITS, 0);
	qsort(world->row, ROWS, sizeof(world->row[0]), by_row);
	world->scan.sources.row = world->row;
	world->scan.sources.count = ROWS;
	world->scan.bans.row = world->ban;
	world->log.began_ns = world->scan.awake_ns;
	world->events = rf_events_open(NULL);
}

static void run(struct world *world)
{
	for (int scan = 0; scan < SCANS; scan++) {
		made_second(&world->scan);
		happen(world);
		rf_events_feed(world->events, &world->scan, judge, world);
	}
	go(world);
	assert_true(world->log.reverted <= world->rules_reverted);
	rf_events_close(world->events);
}

static void what_must_hold(void **state)
{
	static struct world world;
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		begin(&world, unit_random(&random), i % 3);
		run(&world);
	}
}

/* With events to spare none is omitted, and a quiet source is released immediately. */
static void what_is_quiet_is_released(void **state)
{
	static struct world world;
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 20; i++) {
		begin(&world, unit_random(&random), RF_TELL_FULL);
		for (int scan = 0; scan < 200; scan++) {
			made_second(&world.scan);
			for (int j = 0; j < 3; j++)
				move_source(&world, j);
			world.storm = 1;
			for (int j = 0; j < ROWS; j++)
				world.truth[j].is_banned = false;
			rf_events_feed(world.events, &world.scan, judge, &world);
			for (size_t j = 0; j < world.log.opens; j++)
				if (world.log.open[j].has_source)
					assert_true(world.scan.awake_ns -
							    truth_of(&world, &world.log.open[j])
								    ->lost_ns <
						    RF_EVENTS_QUIET_S * SECOND);
		}
		go(&world);
		rf_events_close(world.events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_must_hold),
		cmocka_unit_test(what_is_quiet_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
