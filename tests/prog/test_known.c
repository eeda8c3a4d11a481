// SPDX-License-Identifier: GPL-2.0
/*
 * Which sources are known, and to which limit: changing rules in a flood costs known sources
 * nothing; a window that many sources share makes none of them known; and a newcomer beyond the
 * guard, sharing a window with its network, passes no more than COUNT.
 */
#include "crowd.h"

#include "tests/unit/unit.h"

static const struct crowd flood = {
	.family = CROWD_MIXED,
	.first = ATTACK_FIRST,
	.rate = 5000,
};

static void run_for(uint64_t for_ns)
{
	scene_run(&scene, scene.now_ns + for_ns);
}

/* ---- rules that change in a flood ---- */

#define ONE "limit add any rate 20k/10s\n"
#define TWO ONE "limit add udp rate 200/10s match udp\n"
#define LONGER "limit add any rate 20k/20s\n"
#define CHANGES_MAX 6
#define FLOODED_NS (5 * NS_PER_S)
#define FULL_NS (110 * NS_PER_S) /* the flood's IPv6 sources come again, and fill the room */

struct change {
	const char *name;
	uint64_t flood_ns;   /* before the change */
	uint64_t confirm_ns; /* 0: for good */
	const char *before;
	const char *after[CHANGES_MAX]; /* one after the other */
};

/* One or more rule files that replace `before`. */
#define CHANGE(name, before, ...)            \
	{                                    \
		name, FLOODED_NS, 0, before, \
		{                            \
			__VA_ARGS__          \
		}                            \
	}
#define UNCONFIRMED(name, seconds, before, after)             \
	{                                                     \
		name, FLOODED_NS, (seconds)*NS_PER_S, before, \
		{                                             \
			after                                 \
		}                                             \
	}

static const struct change changes[] = {
	CHANGE("a limit is added", ONE GUARDED, TWO GUARDED),
	CHANGE("three limits are added", ONE GUARDED,
	       TWO "limit add net rate 1M/10s per /24 per6 /48\n"
		   "limit add some rate 300/10s match udp dport 0-9\n" GUARDED),
	CHANGE("a shadow is added", ONE GUARDED,
	       ONE "limit add quiet rate 300/10s shadow\n" GUARDED),
	CHANGE("a shadow is put in force", ONE "limit add quiet rate 300/10s shadow\n" GUARDED,
	       ONE "limit add quiet rate 300/10s\n" GUARDED),
	CHANGE("COUNT of a limit changes", ONE GUARDED, "limit add any rate 10k/10s\n" GUARDED),
	CHANGE("TIME of a limit changes", ONE GUARDED, LONGER GUARDED),
	CHANGE("the algorithm of a limit changes", ONE GUARDED,
	       "limit add any rate 20k/10s algorithm token\n" GUARDED,
	       "limit add any rate 20k/10s algorithm fixed\n" GUARDED),
	CHANGE("a limit is deleted", TWO GUARDED, ONE GUARDED),
	CHANGE("a limit is deleted, then TIME of the other changes", TWO GUARDED, ONE GUARDED,
	       "limit add any rate 20k/5s\n" GUARDED),
	CHANGE("all limits are replaced", TWO GUARDED,
	       "limit add one rate 300/15s match udp\nlimit add two rate 30k/15s\n" GUARDED),
	CHANGE("entries of lists come and go", ONE GUARDED,
	       ONE "allow add 203.0.113.0/24\n" GUARDED,
	       ONE "allow add 203.0.113.0/24\ndeny add 198.51.100.0/24\n" GUARDED, ONE GUARDED),
	CHANGE("a network gets a limit of its own", ONE GUARDED,
	       ONE "limit add theirs rate 10k/10s from 192.0.0.0/8,2001:db8::/29\n" GUARDED),
	CHANGE("the guard changes", ONE GUARDED, ONE "newcomers rate 100/1s then drop\n",
	       ONE "newcomers rate 100/1s then aggregate\n", ONE GUARDED),
	CHANGE("rules change again and again", ONE GUARDED, LONGER GUARDED, TWO GUARDED,
	       LONGER GUARDED, ONE GUARDED, "limit add other rate 20k/10s\n" GUARDED, TWO GUARDED),
	UNCONFIRMED("unconfirmed, of another TIME", 5, ONE GUARDED, LONGER GUARDED),
	UNCONFIRMED("unconfirmed, of more limits", 5, ONE GUARDED, TWO GUARDED),
	UNCONFIRMED("unconfirmed rules outlast the idle time of sources", 100, ONE GUARDED,
		    LONGER GUARDED),
	{"a limit is added while residents fill the room", FULL_NS, 0, ONE GUARDED, {TWO GUARDED}},
	{"rules are applied with confirm while residents fill the room",
	 FULL_NS,
	 10 * NS_PER_S,
	 ONE GUARDED,
	 {LONGER GUARDED}},
};

static uint64_t count_admitted(void)
{
	return program_counters(scene.program).newcomers_admitted;
}

/* Also checks that the guard admitted no more than it should: each new guard starts from zero. */
static void assert_known_lost_nothing(const struct known *known, uint64_t since_ns,
				      uint64_t admitted)
{
	struct losses losses = losses_of(&scene, known);
	uint64_t seconds = (scene.now_ns - since_ns) / NS_PER_S;

	print_message("#   the guard let %ju in, in %ju s\n", (uintmax_t)admitted,
		      (uintmax_t)seconds);
	assert_nothing_lost(&losses, "known");
	assert_in_range(admitted, 1, GUARD * (seconds + 5));
}

static void change_rules(const struct change *change)
{
	for (int i = 0; i < CHANGES_MAX && change->after[i]; i++) {
		if (change->confirm_ns)
			program_apply_unconfirmed(scene.program, change->after[i],
						  change->confirm_ns);
		else
			program_apply(scene.program, change->after[i]);
		run_for(3 * NS_PER_S);
	}
}

static void costs_known_sources_nothing(void **state)
{
	const struct change *change = *state;
	const uint64_t for_ns = SETTLE_NS + 300 * NS_PER_S;
	struct known known;
	uint64_t admitted;

	scene_open(&scene, change->before);
	known = add_known(&scene, CROWD_MIXED, for_ns);
	run_for(SETTLE_NS);
	scene_add(&scene, flood, for_ns);
	admitted = count_admitted();
	run_for(change->flood_ns);
	change_rules(change);
	run_for(change->confirm_ns + 20 * NS_PER_S);
	assert_known_lost_nothing(&known, SETTLE_NS, count_admitted() - admitted);
}

/* ---- known to another limit ---- */

#define SYN 0x02

/* SYNs of sources that are known by other packets, in a flood of SYNs. */
static void the_first_syn_of_a_known_client_is_no_newcomer(void **state)
{
	struct crowd syns = flood, *clients;
	struct losses losses = {};

	(void)state;
	scene_open(&scene, ONE "limit add syn rate 100/10s match tcp syn\n" GUARDED);
	add_known(&scene, CROWD_MIXED, SETTLE_NS + 30 * NS_PER_S);
	run_for(SETTLE_NS);
	syns.tcp_flags = SYN;
	scene_add(&scene, syns, 30 * NS_PER_S);
	run_for(5 * NS_PER_S);
	clients = scene_add(&scene,
			    (struct crowd){.family = CROWD_MIXED,
					   .first = KNOWN_FIRST,
					   .sources = 300,
					   .apart_ns = 5 * NS_PER_S,
					   .tcp_flags = SYN,
					   .is_watched = true},
			    25 * NS_PER_S);
	run_for(25 * NS_PER_S);
	for (uint32_t i = 0; i < clients->sources; i++) {
		losses.sources++;
		losses.sent += clients->member[i].sent;
		losses.lost += clients->member[i].tries + clients->member[i].lost;
		losses.lossy += clients->member[i].tries || clients->member[i].lost;
	}
	assert_nothing_lost(&losses, "clients' SYNs");
}

/* ---- sources that remain newcomers ---- */

static uint64_t count_windows(void)
{
	const struct rf_counters counters = program_counters(scene.program);

	return counters.inserts[0] + counters.inserts[1];
}

/*
 * The strangers have no window of the limit `each`, so only the guard determines how many get one.
 */
static void assert_new(struct crowd strangers, uint32_t rate)
{
	const uint64_t before = count_windows(), seconds = 15;
	uint64_t made;

	scene_add(&scene, strangers, seconds * NS_PER_S);
	run_for(seconds * NS_PER_S);
	made = count_windows() - before;
	print_message("#   %ju windows made, by a guard of %u/s in %ju s\n", (uintmax_t)made, rate,
		      (uintmax_t)seconds);
	assert_in_range(made, 1, rate * (seconds + 2));
}

#define STRICT "newcomers rate 10/1s then drop\n"
#define EACH "limit add each rate 20k/10s\n"

/* Two sources of a network are there. Then a limit for each source is added, and others come. */
static void others_of_a_network_are_new(const char *net, uint32_t hosts)
{
	const struct crowd resident = {
		.family = CROWD_MIXED, .first = ATTACK_FIRST, .sources = 2, .apart_ns = NS_PER_S};
	const struct crowd strangers = {.family = CROWD_MIXED,
					.first = ATTACK_FIRST,
					.sources = hosts,
					.apart_ns = NS_PER_S / 10};
	char rules[256];

	scene_open(&scene, "limit add any rate 1k/1s\n");
	snprintf(rules, sizeof(rules), "limit add net rate 1M/10s %s\n" STRICT, net);
	program_apply(scene.program, rules);
	scene_add(&scene, resident, 3600 * NS_PER_S);
	run_for(SETTLE_NS);
	snprintf(rules, sizeof(rules), EACH "limit add net rate 1M/10s %s\n" STRICT, net);
	program_apply(scene.program, rules);
	run_for(2 * NS_PER_S);
	assert_new(strangers, 10);
}

static void the_window_of_a_24_makes_nobody_known(void **state)
{
	(void)state;
	others_of_a_network_are_new("per /24 per6 /48", 512);
}

static void the_window_of_everybody_makes_nobody_known(void **state)
{
	(void)state;
	others_of_a_network_are_new("per /0 per6 /0", 2000);
}

/* A shadow has a separate guard, so a source gets a shadow's window for free. */
static void the_window_of_a_shadow_makes_nobody_known(void **state)
{
	const struct crowd strangers = {.family = CROWD_MIXED,
					.first = ATTACK_FIRST,
					.sources = 600,
					.apart_ns = NS_PER_S / 2};

	(void)state;
	scene_open(&scene, "limit add quiet rate 20k/20s shadow\n" STRICT);
	scene_add(&scene, strangers, 80 * NS_PER_S);
	run_for(80 * NS_PER_S);
	assert_true(count_windows() > 500);
	program_apply(scene.program, EACH "limit add quiet rate 20k/20s shadow\n" STRICT);
	assert_new(strangers, 10);
}

static void the_window_of_an_aggregate_makes_nobody_known(void **state)
{
	const struct crowd strangers = {.family = CROWD_MIXED,
					.first = ATTACK_FIRST,
					.sources = 600,
					.apart_ns = NS_PER_S / 2};

	(void)state;
	scene_open(&scene, EACH "newcomers rate 10/1s then aggregate\n");
	scene_add(&scene, strangers, 10 * NS_PER_S);
	run_for(10 * NS_PER_S);
	program_apply(scene.program, EACH STRICT);
	assert_new(strangers, 10);
}

/* ---- known sources under many limits ---- */

#define FIRST_PORT 1001

static void set_limits_of_ports(char *rules, size_t size)
{
	size_t used = snprintf(rules, size, GUARDED);

	for (int i = 0; i < RF_LIMITS_MAX; i++)
		used += snprintf(rules + used, size - used,
				 "limit add port%d rate 20k/10s match udp dport %d\n", i,
				 FIRST_PORT + i);
	assert_true(used < size);
}

/* The room is four fifths full; sources that one limit knows then send under all limits. */
static void known_sources_over_32_limits_evict_nobody(void **state)
{
	const struct crowd residents = {.first = KNOWN_FIRST,
					.sources = SOURCES * 4 / 5,
					.apart_ns = 4 * NS_PER_S,
					.port = FIRST_PORT,
					.is_watched = true};
	const struct crowd random = {.first = ATTACK_FIRST, .rate = 2000, .port = FIRST_PORT};
	struct crowd *theirs, *over = NULL;
	struct losses losses = {};
	char rules[4096];

	(void)state;
	set_limits_of_ports(rules, sizeof(rules));
	scene_open_empty(&scene, rules);
	theirs = scene_add(&scene, residents, 3600 * NS_PER_S);
	run_for(50 * NS_PER_S);
	scene_add(&scene, random, 3600 * NS_PER_S);
	over = scene_add(&scene,
			 (struct crowd){.first = KNOWN_FIRST, .sources = 200, .apart_ns = NS_PER_S},
			 3600 * NS_PER_S);
	for (int i = 0; i < 80; i++) {
		over->port = FIRST_PORT + i % RF_LIMITS_MAX;
		run_for(NS_PER_S);
	}
	for (uint32_t i = 0; i < theirs->sources; i++) {
		const struct member *member = &theirs->member[i];

		losses.sources++;
		losses.sent += member->sent - member->tries;
		losses.lost += member->lost;
		losses.lossy += member->lost || !member->is_in;
	}
	assert_nothing_lost(&losses, "residents");
}

/* ---- aggregates ---- */

/* The most packets of one source, sent ten a second, that pass within `time_ns`. */
static int most_within(enum crowd_family family, uint64_t time_ns, uint64_t for_ns)
{
	const struct crowd source = {.family = family};
	static uint64_t passed_ns[10000];
	int n = 0, first = 0, most = 0;

	for (uint64_t end = scene.now_ns + for_ns; scene.now_ns < end; run_for(NS_PER_S / 10)) {
		if (crowd_send(&scene, &source, KNOWN_FIRST + 1))
			continue;
		assert_true(n < 10000);
		passed_ns[n++] = scene.now_ns;
		while (passed_ns[n - 1] - passed_ns[first] >= time_ns)
			first++;
		most = n - first > most ? n - first : most;
	}
	return most;
}

/*
 * The guard is used up when the source arrives, so the source starts in its network's window; soon
 * afterwards the guard has room again.
 */
static void a_source_passes_at_most(int count, const char *rules, enum crowd_family family)
{
	const struct crowd others = {.family = CROWD_MIXED, .first = ATTACK_FIRST, .rate = 20};
	int most;

	scene_open(&scene, rules);
	scene_add(&scene, others, NS_PER_S);
	run_for(8 * NS_PER_S);
	most = most_within(family, 10 * NS_PER_S, 60 * NS_PER_S);
	print_message("#   at most %d of %d in any 10 s\n", most, count);
	assert_in_range(most, count / 2, count);
}

#define AGGREGATED "newcomers rate 2/10s then aggregate\n"
#define FIVE "limit add any rate 5/10s\n"

static void a_newcomer_of_an_aggregate_passes_count_at_most(void **state)
{
	(void)state;
	a_source_passes_at_most(5, FIVE AGGREGATED, CROWD_IPV4);
}

static void an_ipv6_newcomer_of_an_aggregate_passes_count_at_most(void **state)
{
	(void)state;
	a_source_passes_at_most(5, FIVE AGGREGATED, CROWD_IPV6);
}

static void a_newcomer_of_several_aggregates_passes_count_at_most(void **state)
{
	(void)state;
	a_source_passes_at_most(5, FIVE "limit add udp rate 7/10s match udp\n" AGGREGATED,
				CROWD_IPV4);
}

static void a_newcomer_of_an_aggregate_with_a_bucket_passes_count_at_most(void **state)
{
	(void)state;
	a_source_passes_at_most(4, "limit add any rate 5/20s algorithm token burst 2\n" AGGREGATED,
				CROWD_IPV4);
}

/* The source's network and others flood; the source is patient. */
static void a_newcomer_in_a_flooded_24_gets_a_window(void **state)
{
	const struct crowd network = {
		.first = KNOWN_FIRST, .sources = 256, .apart_ns = NS_PER_S / 2};
	const struct crowd others = {.first = ATTACK_FIRST, .rate = 2000};
	const struct crowd honest = {.first = KNOWN_FIRST + 256,
				     .sources = 20,
				     .apart_ns = NS_PER_S,
				     .is_watched = true};
	const struct crowd beside = {
		.first = KNOWN_FIRST + 256 + 20, .sources = 230, .apart_ns = NS_PER_S / 2};
	struct losses losses = {};
	struct crowd *theirs;

	(void)state;
	scene_open(&scene, "limit add any rate 20/10s\nnewcomers rate 125/1s then aggregate\n");
	scene_add(&scene, network, 3600 * NS_PER_S);
	scene_add(&scene, others, 3600 * NS_PER_S);
	scene_add(&scene, beside, 3600 * NS_PER_S);
	run_for(20 * NS_PER_S);
	theirs = scene_add(&scene, honest, 3600 * NS_PER_S);
	run_for(150 * NS_PER_S);
	for (uint32_t i = 0; i < theirs->sources; i++)
		theirs->member[i].lost = theirs->member[i].sent = theirs->member[i].tries = 0;
	run_for(30 * NS_PER_S);
	for (uint32_t i = 0; i < theirs->sources; i++) {
		losses.sources++;
		losses.sent += theirs->member[i].sent;
		losses.lost += theirs->member[i].lost + theirs->member[i].tries;
		losses.lossy += theirs->member[i].lost || theirs->member[i].tries;
	}
	assert_nothing_lost(&losses, "newcomers, three minutes on,");
}

/* ---- rows ---- */

#define TEST(function) cmocka_unit_test_teardown(function, crowd_close)

int main(void)
{
	const struct CMUnitTest others[] = {
		TEST(the_first_syn_of_a_known_client_is_no_newcomer),
		TEST(the_window_of_a_24_makes_nobody_known),
		TEST(the_window_of_everybody_makes_nobody_known),
		TEST(the_window_of_a_shadow_makes_nobody_known),
		TEST(the_window_of_an_aggregate_makes_nobody_known),
		TEST(known_sources_over_32_limits_evict_nobody),
		TEST(a_newcomer_of_an_aggregate_passes_count_at_most),
		TEST(an_ipv6_newcomer_of_an_aggregate_passes_count_at_most),
		TEST(a_newcomer_of_several_aggregates_passes_count_at_most),
		TEST(a_newcomer_of_an_aggregate_with_a_bucket_passes_count_at_most),
		TEST(a_newcomer_in_a_flooded_24_gets_a_window),
	};
	struct CMUnitTest tests[UNIT_ARRAY_SIZE(changes) + UNIT_ARRAY_SIZE(others)];
	static char names[UNIT_ARRAY_SIZE(changes)][96];

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(changes); i++) {
		snprintf(names[i], sizeof(names[i]), "known sources lose nothing in a flood: %s",
			 changes[i].name);
		tests[i] = (struct CMUnitTest){.name = names[i],
					       .test_func = costs_known_sources_nothing,
					       .teardown_func = crowd_close,
					       .initial_state = (void *)&changes[i]};
	}
	memcpy(&tests[UNIT_ARRAY_SIZE(changes)], others, sizeof(others));
	return cmocka_run_group_tests_name("known", tests, NULL, crowd_unload);
}
