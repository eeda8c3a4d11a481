// SPDX-License-Identifier: GPL-2.0
/*
 * A source that has sent for a while, and continues to send, retains its windows, regardless of
 * what others send and how patient they are; honest newcomers are still admitted. In simulated
 * time, one fence of 4,096 windows for each row; RF_SOAK in the environment runs all combinations.
 */
#include "crowd.h"

#include <pthread.h>

#include "ringfence/slot.h"
#include "tests/unit/unit.h"

#define NEWCOMERS_FIRST 0xc0a90000U /* 192.169.0.0 */
#define OTHERS_FIRST 0x50000000U    /* 80.0.0.0 */

/* ---- rules ---- */

enum policy {
	OPEN,
	CLOSED,
	AGGREGATE,
	NO_GUARD,
	POLICIES = NO_GUARD,
};

static const char *const policy_names[] = {"pass", "drop", "aggregate", "no guard"};

struct setting {
	int limits; /* 1, 2 or 4 */
	enum policy policy;
	enum crowd_family family;
};

static void write_rules(char *rules, size_t size, const struct setting *setting, int guard)
{
	int used = snprintf(rules, size, "limit add any rate 20k/10s\n");

	if (setting->limits >= 2)
		used += snprintf(rules + used, size - used,
				 "limit add udp rate 200/10s match udp\n");
	if (setting->limits >= 4)
		used += snprintf(rules + used, size - used,
				 "limit add net rate 1M/10s per /24 per6 /48\n"
				 "limit add quiet rate 300/10s shadow\n");
	if (setting->policy != NO_GUARD)
		snprintf(rules + used, size - used, "newcomers rate %d/1s then %s\n", guard,
			 policy_names[setting->policy]);
}

static void open_setting(struct scene *scene, const struct setting *setting)
{
	char rules[512];

	write_rules(rules, sizeof(rules), setting, GUARD);
	scene_open(scene, rules);
}

/* ---- honest sources ---- */

static struct crowd *add_newcomers(struct scene *scene, enum crowd_family family, uint64_t for_ns)
{
	return scene_add(scene,
			 (struct crowd){.family = family,
					.first = NEWCOMERS_FIRST,
					.sources = 100,
					.apart_ns = NS_PER_S,
					.is_watched = true},
			 for_ns);
}

/* ---- their losses ---- */

static void print_newcomers(struct scene *scene, struct crowd *newcomers)
{
	struct losses losses = {};
	uint64_t tries = 0;

	add_losses(scene, newcomers, &losses);
	for (uint32_t i = 0; i < newcomers->sources; i++)
		tries += newcomers->member[i].tries;
	print_message("#   newcomers: %u of %u in, %.1f tries for each that is; of %" PRIu64
		      " packets later %" PRIu64 " lost; %u have their first windows\n",
		      count_in(newcomers), losses.sources,
		      count_in(newcomers) ? 1 + (double)tries / count_in(newcomers) : 0,
		      losses.sent - count_in(newcomers), losses.lost,
		      losses.sources - losses.evicted);
}

static void assert_nothing_forgotten(const struct losses *losses, const char *who)
{
	assert_nothing_lost(losses, who);
	assert_int_equal(losses->evicted, 0);
}

/* ---- attacks ---- */

#define TWICE_THE_ROOM (2 * SOURCES)

struct attack {
	const char *name;
	uint64_t for_ns;
	struct crowd crowd;
};

static const struct attack attacks[] = {
	{"random", 60 * NS_PER_S, {.first = ATTACK_FIRST, .rate = 5000}},
	{"recurring",
	 75 * NS_PER_S,
	 {.first = ATTACK_FIRST, .sources = TWICE_THE_ROOM, .apart_ns = NS_PER_S}},
	{"slow",
	 90 * NS_PER_S,
	 {.first = ATTACK_FIRST, .sources = SOURCES * 5 / 4, .apart_ns = NS_PER_S}},
	{"twice",
	 60 * NS_PER_S,
	 {.first = ATTACK_FIRST, .times = 2, .apart_ns = NS_PER_S, .rate = 5000}},
	{"twice, far apart",
	 90 * NS_PER_S,
	 {.first = ATTACK_FIRST, .times = 2, .apart_ns = 11 * NS_PER_S, .rate = 2500}},
	/* Arrives below the guard's rate for two minutes, and every source is retained. */
	{"ramp",
	 180 * NS_PER_S,
	 {.first = ATTACK_FIRST,
	  .sources = TWICE_THE_ROOM,
	  .ramp_per_s = GUARD / 2,
	  .apart_ns = 19 * NS_PER_S / 10}},
};

static const struct attack *attack_of(const char *name)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(attacks); i++)
		if (!strcmp(attacks[i].name, name))
			return &attacks[i];
	fail_msg("no attack '%s'", name);
	return NULL;
}

/* ---- known sources under attack ---- */

struct row {
	char name[96];
	const struct attack *attack;
	struct setting setting;
};

/* Known sources that have settled, an attack, and newcomers during its second half. */
static void known_lose_nothing(void **state)
{
	const struct row *row = *state;
	const enum crowd_family family = row->setting.family;
	const uint64_t half = row->attack->for_ns / 2;
	struct crowd attack = row->attack->crowd, *newcomers;
	struct losses losses;
	struct known known;

	attack.family = family;
	open_setting(&scene, &row->setting);
	known = add_known(&scene, family, SETTLE_NS + row->attack->for_ns);
	scene_run(&scene, SETTLE_NS);
	scene_add(&scene, attack, row->attack->for_ns);
	scene_run(&scene, SETTLE_NS + half);
	newcomers = add_newcomers(&scene, family, half);
	scene_run(&scene, SETTLE_NS + 2 * half);
	print_newcomers(&scene, newcomers);
	losses = losses_of(&scene, &known);
	assert_nothing_forgotten(&losses, "known");
	/* No single newcomer is sure to get in, but some always do. */
	if (row->setting.policy != NO_GUARD)
		assert_true(count_in(newcomers) >= newcomers->sources / 50);
}

static const struct setting plain = {1, CLOSED, CROWD_IPV4};

/* The second CPU sends half of an attack; both CPUs send for the known sources. */
struct second {
	struct scene scene;
	pthread_barrier_t begins, ends;
	uint64_t until_ns;
};

#define STEP_NS (NS_PER_S / 20)

static void *send_from_second_cpu(void *context)
{
	struct second *second = context;

	crowd_run_on(1);
	while (second->scene.now_ns < second->until_ns) {
		pthread_barrier_wait(&second->begins);
		scene_run(&second->scene, second->scene.now_ns + STEP_NS);
		pthread_barrier_wait(&second->ends);
	}
	return NULL;
}

static void run_on_two(struct second *second)
{
	pthread_t thread;

	assert_int_equal(pthread_barrier_init(&second->begins, NULL, 2), 0);
	assert_int_equal(pthread_barrier_init(&second->ends, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, send_from_second_cpu, second), 0);
	while (scene.now_ns < second->until_ns) {
		pthread_barrier_wait(&second->begins);
		scene_run(&scene, scene.now_ns + STEP_NS);
		pthread_barrier_wait(&second->ends);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&second->begins);
	pthread_barrier_destroy(&second->ends);
}

/*
 * Both CPUs send for the same sources concurrently, so each often meets a window that the other is
 * using.
 */
static void assert_known_lose_nothing_on_two_cpus(void)
{
	const struct attack *recurring = attack_of("recurring");
	static struct second second;
	struct losses losses;
	struct known known;

	open_setting(&scene, &plain);
	known = add_known(&scene, CROWD_IPV4, SETTLE_NS + recurring->for_ns);
	scene_run(&scene, SETTLE_NS);
	scene_add(&scene, recurring->crowd, recurring->for_ns);
	scene.is_shared = true;
	second = (struct second){.scene = scene};
	second.scene.follows = true;
	second.until_ns = SETTLE_NS + recurring->for_ns;
	run_on_two(&second);
	losses = losses_of(&scene, &known);
	assert_nothing_forgotten(&losses, "known");
}

#define ROUNDS 12 /* each in a room full of the previous row's leftovers */

static void known_sources_lose_nothing_on_two_cpus(void **state)
{
	for (int i = 0; i < ROUNDS; i++) {
		assert_known_lose_nothing_on_two_cpus();
		crowd_close(state);
	}
}

/* Old sources hold a third of the room for an hour; then known sources come, and then an attack. */
static void known_sources_lose_nothing_to_sources_of_an_hour_before(void **state)
{
	const uint64_t hour_ns = 3600 * NS_PER_S;
	const struct attack *recurring = attack_of("recurring");
	struct crowd old = {
		.first = ATTACK_FIRST, .sources = SOURCES / 3, .apart_ns = 9 * NS_PER_S};
	struct losses losses;
	struct known known;

	(void)state;
	open_setting(&scene, &plain);
	scene_add(&scene, old, hour_ns + SETTLE_NS);
	scene_run(&scene, hour_ns);
	known = add_known(&scene, CROWD_IPV4, SETTLE_NS + recurring->for_ns);
	scene_run(&scene, hour_ns + SETTLE_NS);
	scene_add(&scene, recurring->crowd, recurring->for_ns);
	scene_run(&scene, hour_ns + SETTLE_NS + recurring->for_ns);
	losses = losses_of(&scene, &known);
	assert_nothing_forgotten(&losses, "known");
}

/*
 * Sources that first fill nearly 7/8 of the room remain for good while they send; some room
 * therefore always remains, which newcomers get in turns.
 */
static void assert_first_keep_it(int limits)
{
	const struct attack *recurring = attack_of("recurring");
	const uint64_t begin_ns = scene.now_ns, filled_ns = begin_ns + 60 * NS_PER_S;
	const uint64_t end_ns = filled_ns + recurring->for_ns;
	struct crowd first = {.first = KNOWN_FIRST,
			      .sources = SOURCES * 27 / 32 / limits,
			      .apart_ns = limits == 1 ? 4 * NS_PER_S : 3 * NS_PER_S / 2,
			      .is_watched = true};
	struct crowd *theirs, *newcomers;
	struct losses losses = {};

	theirs = scene_add(&scene, first, end_ns);
	scene_run(&scene, filled_ns);
	scene_add(&scene, recurring->crowd, end_ns);
	scene_run(&scene, filled_ns + recurring->for_ns / 3);
	newcomers = add_newcomers(&scene, CROWD_IPV4, end_ns);
	scene_run(&scene, end_ns);
	print_newcomers(&scene, newcomers);
	add_losses(&scene, theirs, &losses);
	assert_nothing_forgotten(&losses, "the first");
	assert_true(count_in(newcomers) >= newcomers->sources / 50);
}

#define PLAIN "limit add any rate 20k/10s\nnewcomers rate 125/1s then drop\n"

static void sources_that_fill_the_room_first_stay_residents(void **state)
{
	(void)state;
	scene_open_empty(&scene, PLAIN);
	assert_first_keep_it(1);
}

/* Windows that were idle for minutes are free for any source, regardless of their earlier owner. */
static void sources_that_fill_the_room_after_an_attack_stay_residents(void **state)
{
	const struct attack *recurring = attack_of("recurring");
	struct crowd others = recurring->crowd;

	(void)state;
	others.first = OTHERS_FIRST;
	scene_open_empty(&scene, PLAIN);
	scene_add(&scene, others, recurring->for_ns);
	scene_run(&scene, recurring->for_ns + 120 * NS_PER_S);
	assert_first_keep_it(1);
}

/*
 * The same with two windows for each source, which sends often enough to retain them while they are
 * on probation.
 */
static void sources_that_fill_the_room_of_two_limits_stay_residents(void **state)
{
	const struct attack *recurring = attack_of("recurring");
	struct crowd others = recurring->crowd;

	(void)state;
	others.first = OTHERS_FIRST;
	scene_open_empty(&scene, "limit add udp rate 200/10s match udp\n" PLAIN);
	scene_add(&scene, others, recurring->for_ns);
	scene_run(&scene, recurring->for_ns + 120 * NS_PER_S);
	assert_first_keep_it(2);
}

/* Windows that an attack left behind take nothing from known sources that come later. */
static void known_sources_from_after_an_attack_lose_nothing_to_the_next(void **state)
{
	const struct attack *recurring = attack_of("recurring");
	struct crowd others = recurring->crowd;
	const uint64_t begin_ns = recurring->for_ns + 70 * NS_PER_S;
	struct losses losses;
	struct known known;

	(void)state;
	others.first = OTHERS_FIRST;
	open_setting(&scene, &plain);
	scene_add(&scene, recurring->crowd, recurring->for_ns);
	scene_run(&scene, begin_ns);
	known = add_known(&scene, CROWD_IPV4, SETTLE_NS + recurring->for_ns);
	scene_run(&scene, begin_ns + SETTLE_NS);
	scene_add(&scene, others, recurring->for_ns);
	scene_run(&scene, begin_ns + SETTLE_NS + recurring->for_ns);
	losses = losses_of(&scene, &known);
	assert_nothing_forgotten(&losses, "known");
}

static int count_unsettled(const struct rf_address *source, uint32_t limit_id,
			   const struct rf_source *state, void *unsettled)
{
	(void)limit_id;
	if (find_member(&scene, source))
		*(uint32_t *)unsettled += !rf_slot_ref_is_resident(state->slot_ref);
	return 0;
}

/* Residents that an attack left behind have no claim, however seldom the known sources send. */
static void known_sources_that_send_seldom_settle_after_an_attack(void **state)
{
	const struct attack *recurring = attack_of("recurring");
	const uint64_t begin_ns = recurring->for_ns + 70 * NS_PER_S;
	const struct crowd seldom = {
		.first = KNOWN_FIRST, .sources = 400, .apart_ns = 9 * NS_PER_S, .is_watched = true};
	struct crowd others = recurring->crowd, *known;
	struct rf_error error = {};
	struct losses losses = {};
	char rules[512];
	uint32_t unsettled = 0;

	(void)state;
	others.first = OTHERS_FIRST;
	write_rules(rules, sizeof(rules), &(struct setting){4, CLOSED, CROWD_IPV4}, GUARD);
	scene_open_empty(&scene, rules);
	scene_add(&scene, others, recurring->for_ns);
	scene_run(&scene, begin_ns);
	known = scene_add(&scene, seldom, SETTLE_NS + recurring->for_ns);
	scene_run(&scene, begin_ns + SETTLE_NS);
	assert_done(
		rf_fence_each_source(&scene.program->fence, count_unsettled, &unsettled, &error),
		&error);
	print_message("#   %u of their windows have not settled\n", unsettled);
	scene_add(&scene, recurring->crowd, recurring->for_ns);
	scene_run(&scene, begin_ns + SETTLE_NS + recurring->for_ns);
	add_losses(&scene, known, &losses);
	assert_nothing_forgotten(&losses, "known");
	assert_int_equal(unsettled, 0);
}

/* ---- COUNT ---- */

#define CHEATERS 50

/* Sends `count` packets of each cheater; returns the most of one cheater, with the burst before. */
static int burst_of_cheaters(int passed[CHEATERS], int count)
{
	const struct crowd cheaters = {.family = CROWD_IPV4};
	int most = 0;

	for (int i = 0; i < CHEATERS; i++) {
		const int before = passed[i];

		passed[i] = 0;
		for (int n = 0; n < count; n++)
			passed[i] += !crowd_send(&scene, &cheaters, KNOWN_FIRST + i);
		most = before + passed[i] > most ? before + passed[i] : most;
	}
	return most;
}

/* The same if the guard admits many times more sources than there is room for. */
static void a_new_source_passes_no_more_than_count_in_two_seconds(void **state)
{
	const struct crowd random = {.first = ATTACK_FIRST, .rate = 10000};
	int passed[CHEATERS] = {}, most = 0;

	(void)state;
	scene_open(&scene, "limit add any rate 5/2s\nnewcomers rate 10k/1s then drop\n");
	scene_add(&scene, random, 30 * NS_PER_S);
	for (int i = 1; i < 15; i++) {
		int in_two;

		scene_run(&scene, i * NS_PER_S * 19 / 10);
		in_two = burst_of_cheaters(passed, 8);
		most = in_two > most ? in_two : most;
	}
	print_message("#   at most %d of 5 in any 2 s\n", most);
	assert_true(most <= 5);
}

/*
 * A new source exceeds its limit and continues to send. A lease handles it, and the window must not
 * seem idle when a flood searches for windows to evict.
 */
static void a_source_over_its_limit_that_keeps_sending_passes_no_more_than_count(void **state)
{
	const struct crowd random = {.first = ATTACK_FIRST, .rate = 10000};
	int passed[CHEATERS] = {}, most = 0;

	(void)state;
	scene_open_empty(&scene, "limit add any rate 5/10s\nnewcomers rate 10k/1s then drop\n");
	assert_int_equal(burst_of_cheaters(passed, 8), 5);
	scene_add(&scene, random, 5 * NS_PER_S);
	for (int tenth = 4; tenth < 98; tenth += 4) {
		scene_run(&scene, tenth * NS_PER_S / 10);
		for (int i = 0; i < CHEATERS; i++)
			passed[i] += !crowd_send(&scene, &(struct crowd){}, KNOWN_FIRST + i);
	}
	for (int i = 0; i < CHEATERS; i++)
		most = passed[i] > most ? passed[i] : most;
	print_message("#   at most %d of 5 in 10 s\n", most);
	assert_int_equal(most, 5);
}

/* A source that has used up its limit, and then is silent, remains over the limit for TIME. */
static void a_known_source_passes_no_more_than_count_in_a_minute(void **state)
{
	const struct attack *recurring = attack_of("recurring");
	int passed[CHEATERS] = {}, most = 100;

	(void)state;
	scene_open(&scene, "limit add any rate 100/1m\nnewcomers rate 125/1s then drop\n");
	assert_int_equal(burst_of_cheaters(passed, 1), 1);
	scene_add(&scene, recurring->crowd, recurring->for_ns);
	scene_run(&scene, 12 * NS_PER_S);
	assert_int_equal(burst_of_cheaters(passed, 1), 2);
	scene_run(&scene, 14 * NS_PER_S);
	assert_int_equal(burst_of_cheaters(passed, 110), 1 + 98);
	memset(passed, 0, sizeof(passed));
	for (int tenth = 500; tenth < 595; tenth++) {
		scene_run(&scene, tenth * NS_PER_S / 10);
		for (int i = 0; i < CHEATERS; i++)
			passed[i] += !crowd_send(&scene, &(struct crowd){}, KNOWN_FIRST + i);
	}
	for (int i = 0; i < CHEATERS; i++)
		most = 100 + passed[i] > most ? 100 + passed[i] : most;
	print_message("#   at most %d of 100 in a minute\n", most);
	assert_int_equal(most, 100);
}

/* ---- rows ---- */

static const char *const family_names[] = {"IPv4", "IPv6", "both"};

#define ROWS (6 * 3 * (POLICIES + 1) * CROWD_FAMILIES)

static struct row rows[ROWS];
static size_t rows_n;

static void add_row(const char *attack, int limits, enum policy policy, enum crowd_family family)
{
	struct row *row = &rows[rows_n++];

	assert_true(rows_n <= ROWS);
	*row = (struct row){.attack = attack_of(attack), .setting = {limits, policy, family}};
	snprintf(row->name, sizeof(row->name),
		 "known sources lose nothing: attack %s, %d limit%s, %s, %s", attack, limits,
		 limits > 1 ? "s" : "", policy_names[policy], family_names[family]);
}

/* Without a guard, residents are safe only while the room also has sources that are not. */
static void add_all_rows(void)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(attacks); i++)
		for (int limits = 1; limits <= 4; limits *= 2)
			for (int policy = OPEN; policy < POLICIES; policy++)
				for (int family = CROWD_IPV4; family < CROWD_FAMILIES; family++)
					add_row(attacks[i].name, limits, policy, family);
	for (int limits = 1; limits <= 4; limits *= 2)
		for (int family = CROWD_IPV4; family < CROWD_FAMILIES; family++)
			add_row("random", limits, NO_GUARD, family);
}

static void add_some_rows(void)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(attacks); i++)
		add_row(attacks[i].name, 1, CLOSED, CROWD_IPV4);
	add_row("recurring", 2, CLOSED, CROWD_IPV6);
	add_row("recurring", 4, CLOSED, CROWD_MIXED);
	add_row("recurring", 1, OPEN, CROWD_IPV4);
	add_row("recurring", 2, AGGREGATE, CROWD_MIXED);
	add_row("ramp", 2, OPEN, CROWD_IPV6);
	add_row("ramp", 4, CLOSED, CROWD_MIXED);
	add_row("slow", 2, CLOSED, CROWD_MIXED);
	add_row("slow", 4, AGGREGATE, CROWD_IPV4);
	add_row("random", 4, CLOSED, CROWD_MIXED);
	add_row("random", 1, NO_GUARD, CROWD_IPV4);
	add_row("random", 2, NO_GUARD, CROWD_IPV6);
}

#define TEST(function) cmocka_unit_test_teardown(function, crowd_close)

int main(void)
{
	const struct CMUnitTest others[] = {
		TEST(known_sources_lose_nothing_on_two_cpus),
		TEST(known_sources_lose_nothing_to_sources_of_an_hour_before),
		TEST(sources_that_fill_the_room_first_stay_residents),
		TEST(sources_that_fill_the_room_after_an_attack_stay_residents),
		TEST(sources_that_fill_the_room_of_two_limits_stay_residents),
		TEST(known_sources_from_after_an_attack_lose_nothing_to_the_next),
		TEST(known_sources_that_send_seldom_settle_after_an_attack),
		TEST(a_new_source_passes_no_more_than_count_in_two_seconds),
		TEST(a_source_over_its_limit_that_keeps_sending_passes_no_more_than_count),
		TEST(a_known_source_passes_no_more_than_count_in_a_minute),
	};
	struct CMUnitTest tests[ROWS + UNIT_ARRAY_SIZE(others)];

	if (getenv("RF_SOAK"))
		add_all_rows();
	else
		add_some_rows();
	for (size_t i = 0; i < rows_n; i++)
		tests[i] = (struct CMUnitTest){.name = rows[i].name,
					       .test_func = known_lose_nothing,
					       .teardown_func = crowd_close,
					       .initial_state = &rows[i]};
	memcpy(&tests[rows_n], others, sizeof(others));
	return _cmocka_run_group_tests("residents", tests, rows_n + UNIT_ARRAY_SIZE(others), NULL,
				       crowd_unload);
}
