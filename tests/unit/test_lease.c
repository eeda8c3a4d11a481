// SPDX-License-Identifier: GPL-2.0
/*
 * Leases: the result of each function. test_lease_window.c tests leases together with a window; the
 * explorer tests how the operations of two CPUs interleave.
 */
#include "lease.h"

/* ---- functions ---- */

static void packs_rules(void **state)
{
	const uint32_t rules = rf_who_rules(0x7fffff, 255, 1), none = rf_who_rules(0, 0, 0);

	(void)state;
	assert_int_equal(sizeof(struct rf_lease), 32);
	assert_int_equal(rules, UINT32_MAX);
	assert_int_equal(none, 0);
	assert_int_equal(rf_rules_packet_class(rules), 255);
	assert_int_equal(rf_rules_packet_class(none), 0);
	assert_true(rf_rules_are_ipv6(rules));
	assert_false(rf_rules_are_ipv6(none));
}

/* Generations count modulo 2^23. */
static void tells_generations_apart(void **state)
{
	static const struct {
		uint32_t of, since_generation;
		bool since;
	} rows[] = {
		{7, 7, true},
		{7, 6, true},
		{6, 7, false},
		{0, 0x7fffff, true},
		{0x800000, 0x7fffff, true},
		{0x7fffff, 0, false},
		{0x7fffff, 0x800000, false},
		{0x3fffff, 0, true},
		{0xfffffffe, 0xffffffff, false},
		{0, 0xffffffff, true},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		const uint32_t rules = rf_who_rules(rows[i].of, 255, 1);

		assert_int_equal(rf_rules_are_since(rules, rows[i].since_generation),
				 rows[i].since);
		assert_int_equal(rf_rules_are_since(rf_who_rules(rows[i].of, 0, 0),
						    rows[i].since_generation),
				 rows[i].since);
		assert_true(rf_rules_are_of(rules, rows[i].of));
		assert_int_equal(rf_rules_are_of(rules, rows[i].since_generation),
				 (rows[i].of - rows[i].since_generation) % 0x800000 == 0);
	}
}

#define HASH_KEYS 200
#define HASH_BITS 11 /* of sets */
#define HASH_SOURCES (RF_LEASE_WAYS << (HASH_BITS - 1))
#define STRIDES 5

/* By chance, 1 in 150 sources finds its set full; 1 in 50 may. */
#define HASH_CROWDED (HASH_SOURCES / 50)

/* Networks whose addresses count up in various bytes, with keys as the command line makes them. */
static void spreads_the_sources_of_a_network(void **state)
{
	static const uint64_t strides[STRIDES] = {1, 1 << 8, 1 << 24, 1ULL << 32, 1ULL << 40};
	static uint8_t held[1 << HASH_BITS];
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < HASH_KEYS * STRIDES; i++) {
		__u64 key[3];
		int crowded = 0;

		for (int j = 0; j < 3; j++)
			key[j] = unit_random(&random) | 1;
		memset(held, 0, sizeof(held));
		for (uint64_t source = 0; source < HASH_SOURCES; source++) {
			uint64_t hash = rf_lease_hash(10 + source * strides[i % STRIDES], key);

			crowded += held[hash >> (64 - HASH_BITS)]++ >= RF_LEASE_WAYS;
		}
		if (crowded > HASH_CROWDED)
			fail_msg("RF_TEST_SEED=%" PRIu64 ": stride %" PRIu64 ": %d of %d",
				 unit_seed(), strides[i % STRIDES], crowded, HASH_SOURCES);
	}
}

#define TAG_WORDS 100000

/*
 * Every place with the tag is marked, and the first marked place has the tag. If no place has the
 * tag, none is marked.
 */
static void finds_each_place_of_a_tag(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < TAG_WORDS; i++) {
		const uint32_t tag = rf_lease_tag(unit_random(&random));
		__u64 tags = unit_random(&random), places;
		int first = RF_LEASE_WAYS;

		for (int way = RF_LEASE_WAYS - 1; way >= 0; way--) {
			if (unit_random(&random) % 4 == 0)
				tags = rf_tags_set(tags, way, tag);
			if (unit_random(&random) % 8 == 0)
				tags = rf_tags_set(tags, way, tag ^ 1); /* the nearest other */
		}
		places = rf_tags_find(tags, tag);
		assert_in_range(tag, 1, 255);
		for (int way = RF_LEASE_WAYS - 1; way >= 0; way--)
			if ((tags >> way * 8 & 0xff) == tag) {
				assert_true(places >> (way * 8 + 7) & 1);
				first = way;
			}
		if (first == RF_LEASE_WAYS)
			assert_int_equal(places, 0);
		else
			assert_int_equal(rf_tags_first(places), first);
	}
	assert_int_equal(rf_tags_find(0, 1), 0);
	assert_int_equal(rf_lease_tag(0), 1);
	assert_int_equal(rf_lease_tag(~0ULL), 255);
}

/*
 * Half of RF_CREDITS_PER_SPENT packets for each cell, and as many for one cell more; and no more
 * than 7/8 of L, 0: the largest. A unit of the ring for each cell can be rounding, unless the
 * head's own cell has passed its part: the remainder beyond whole units shows that.
 */
static void is_worth_it_for_who_will_get_credits(void **state)
{
	static const struct {
		uint32_t cells, cost, used, limit, used_shift;
		bool worth;
	} rows[] = {
		{1, 1, 63, 0, 0, false},
		{1, 1, 64, 0, 0, true},
		{16, 1, 543, 0, 0, false},
		{16, 1, 544, 0, 0, true},
		{16, 3, 1631, 0, 0, false},
		{16, 3, 1632, 0, 0, true},
		{16, 1, 0, 0, 0, false},
		{16, RF_COST_MAX, 570425344, 0, 0, true},
		{16, 1, 700, 800, 0, true},
		{16, 1, 701, 800, 0, false},
		{16, 1, 7000, 8000, 0, true},
		{16, 1, 7001, 8000, 0, false},
		{16, 1, 8000, 8000, 0, false},
		{16, 1, UINT32_MAX, RF_LIMIT_MAX, 0, false},
		/* 15 closed cells of one packet each, and one of the head's own */
		{16, 1, (15 << 16) + 1, 0, 16, false},
		{31, 1, (30 << 6) + 1, 10000000, 6, false},
		{16, 1, (15 << 16) + 31, 0, 16, false},
		{16, 1, (15 << 16) + 32, 0, 16, true},
		{16, 3, (15 << 16) + 95, 0, 16, false},
		{16, 3, (15 << 16) + 96, 0, 16, true},
		{16, 1, 16 << 16, 0, 16, true},
		{16, 1, 543, 0, 4, false},
		{16, 1, 544, 0, 4, true},
		{31, 1, 1023, 0, 10, false},
		{31, 1, 1024, 0, 10, false},
		{31, 1, 1024 + 32, 0, 10, true},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		const struct rf_policy policy = {
			.cells = rows[i].cells,
			.limit = rows[i].limit ? rows[i].limit : RF_LIMIT_MAX,
			.used_shift = rows[i].used_shift,
		};
		const struct rf_window window = {.head = rf_word(7, rows[i].used)};

		assert_int_equal(rf_lease_is_worth(&window, &policy, rows[i].cost), rows[i].worth);
	}
}

static void is_for_one_source_and_rules(void **state)
{
	const struct rf_who who = {.source = {1}, .rules = rf_who_rules(3, 4, 0)};
	const struct rf_lease lease = {.source = 1, .rules = who.rules};
	const struct rf_who others[] = {
		{.source = {2}, .rules = who.rules},
		{.source = {1 | 1ULL << 32}, .rules = who.rules},
		{.source = {1}, .rules = rf_who_rules(2, 4, 0)},
		{.source = {1}, .rules = rf_who_rules(3, 5, 0)},
		{.source = {1}, .rules = rf_who_rules(3, 4, 1)},
	};

	(void)state;
	assert_true(rf_lease_is_for(&lease, &who));
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(others); i++)
		assert_false(rf_lease_is_for(&lease, &others[i]));
}

/* `ends` is a tick by its lower eight bits. */
static void is_live_until_its_time_and_tick(void **state)
{
	const struct rf_lease lease = {.until = 100, .ends = 250},
			      wrapped = {.until = 100, .ends = 2};

	(void)state;
	assert_true(rf_lease_is_live(&lease, 99, 249));
	assert_false(rf_lease_is_live(&lease, 99, 250));
	assert_false(rf_lease_is_live(&lease, 99, 256 + 10));
	assert_false(rf_lease_is_live(&lease, 100, 249));
	assert_true(rf_lease_is_live(&wrapped, 99, 255));
	assert_true(rf_lease_is_live(&wrapped, 99, 5 * 256 + 1));
	assert_false(rf_lease_is_live(&wrapped, 99, 5 * 256 + 2));
	assert_false(rf_lease_is_live(&(struct rf_lease){0}, 0, 0));
}

/* Credits outlast the lease a little, because its window is not evicted that soon. */
static void is_fresh_for_a_while_yet(void **state)
{
	const struct rf_lease lease = {.ends = 255};

	(void)state;
	assert_true(rf_lease_is_fresh(&lease, 254));
	assert_true(rf_lease_is_fresh(&lease, 255 + RF_LEASE_GRACE - 1));
	assert_false(rf_lease_is_fresh(&lease, 255 + RF_LEASE_GRACE));
}

/*
 * A time that does not fit into the lease invalidates it, and is never stored as an earlier or
 * later time.
 */
static void is_live_as_far_as_it_can_tell(void **state)
{
	struct rf_lease lease = {.ends = 1};

	(void)state;
	rf_lease_set_until(&lease, RF_UNTIL_MAX);
	assert_true(rf_lease_is_live(&lease, RF_UNTIL_MAX - 1, 0));
	assert_false(rf_lease_is_live(&lease, RF_UNTIL_MAX, 0));
	rf_lease_set_until(&lease, RF_UNTIL_MAX + 1);
	assert_false(rf_lease_is_live(&lease, 0, 0));
	rf_lease_set_until(&lease, RF_UNTIL_MAX + 1000);
	assert_false(rf_lease_is_live(&lease, 0, 0));
}

static void answers_until_its_counts_are_full(void **state)
{
	struct rf_lease lease = {.reason = RF_OVER_LIMIT, .bytes = RF_PENDING_MAX - 1};

	(void)state;
	assert_true(rf_lease_answers(&lease, 1, 65535));
	assert_false(rf_lease_answers(&lease, 1, 65535));
	assert_int_equal(lease.packets, 1);
	assert_int_equal(lease.bytes, RF_PENDING_MAX + 65534);
}

static void keeps_its_place_by_an_answer(void **state)
{
	struct rf_lease lease = {.reason = RF_OVER_LIMIT, .threshold = 2, .wanted = 1};

	(void)state;
	assert_false(rf_lease_answers(&lease, 2, 100));
	assert_true(lease.wanted);
	assert_true(rf_lease_answers(&lease, 3, 100));
	assert_false(lease.wanted);
}

static void spends_credits(void **state)
{
	struct rf_lease lease = {.reason = RF_UNDER_LIMIT, .credits = 5, .has_credits = 1};

	(void)state;
	assert_true(rf_lease_answers(&lease, 3, 100));
	assert_int_equal(lease.credits, 2);
	assert_false(rf_lease_answers(&lease, 3, 100));
	assert_true(rf_lease_answers(&lease, 2, 60));
	assert_int_equal(lease.credits, 0);
	assert_false(rf_lease_answers(&lease, 1, 60));
	assert_int_equal(lease.packets, 2);
	assert_int_equal(lease.bytes, 160);
}

static void refuses_what_costs_more(void **state)
{
	struct rf_lease lease = {.reason = RF_OVER_LIMIT, .threshold = 2};

	(void)state;
	assert_false(rf_lease_answers(&lease, 2, 100));
	assert_int_equal(lease.packets, 0);
	for (int i = 0; i < 3; i++)
		assert_true(rf_lease_answers(&lease, 3 + i, 100));
	assert_int_equal(lease.threshold, 2);
	assert_int_equal(lease.packets, 3);
	assert_int_equal(lease.bytes, 300);
}

/* The credits that a lease with `taken` charged and `room` left requests from a window's room. */
static void wants_its_share(void **state)
{
	static const struct {
		uint32_t taken, room, before, window_room, wants;
	} rows[] = {
		{63, 0, 0, 10000, 0},
		{64, 0, 0, 10000, 1},
		{0, 0, 2, 10000, 0},
		{0, 0, 3, 10000, 1},
		{32, 0, 2, 10000, 1},
		{31, 0, 2, 10000, 0},
		{64, 0, 6, 10000, 9},
		{6400, 0, 0, 10000, 100},
		{6400, 0, 0, 15, 0},
		{6400, 0, 0, 16, 1},
		{6400, 0, 0, 1599, 99},
		{6500, 100, 0, 10000, 0}, /* has it all */
		{6460, 60, 0, 10000, 40},
		{6460, 60, 0, 960, 0},
		{6460, 60, 0, 976, 1},
		{RF_TAKEN_MAX, 0, 0, 1U << 31, RF_CREDITS_MAX - 1},
		{RF_TAKEN_MAX, 0, 15, 1U << 31, RF_CREDITS_MAX},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_lease lease = {.taken = rows[i].taken,
					 .credits = rows[i].room,
					 .spent_before = rows[i].before};

		assert_int_equal(rf_lease_wants(&lease, rows[i].window_room, 1, 0), rows[i].wants);
		/* Useless for a packet that costs more than the lease would then have. */
		assert_int_equal(rf_lease_wants(&lease, rows[i].window_room,
						rows[i].room + rows[i].wants + 1, 0),
				 0);
	}
}

static void counts_as_high_as_it_goes(void **state)
{
	struct rf_lease lease = {.taken = RF_TAKEN_MAX - 5};

	(void)state;
	rf_lease_charge(&lease, 4);
	assert_int_equal(lease.taken, RF_TAKEN_MAX - 1);
	rf_lease_charge(&lease, RF_COST_MAX);
	assert_int_equal(lease.taken, RF_TAKEN_MAX);
	rf_lease_charge(&lease, 1);
	assert_int_equal(lease.taken, RF_TAKEN_MAX);
}

/*
 * Never more than was spent, and more than half of it, unless the amount is too small or too large.
 */
static void remembers_what_was_spent(void **state)
{
	struct rf_lease lease = {0};

	(void)state;
	for (uint32_t taken = 0; taken <= RF_TAKEN_MAX; taken++) {
		uint32_t before;

		lease.taken = taken;
		lease.spent_before = rf_lease_spent_log(&lease);
		before = rf_lease_spent_before(&lease);
		if (before > taken || (before <= taken / 2 && taken >= 16 && before < 1U << 18))
			fail_msg("taken %u: %u", taken, before);
	}
	lease.taken = 640;
	lease.credits = 625;
	assert_int_equal(rf_lease_spent_log(&lease), 0);
	lease.credits = 624;
	assert_int_equal(rf_lease_spent_log(&lease), 1);
}

static void remembers_the_time_before(void **state)
{
	struct rf_lease lease = {.until = 300, .taken = 1000, .credits = 30, .has_credits = 1};

	(void)state;
	rf_lease_enter(&lease, 200, 300);
	assert_int_equal(lease.taken, 1000);
	assert_int_equal(lease.credits, 30);
	rf_lease_enter(&lease, 300, 350); /* the next one; the cell of a different limit ends it */
	assert_int_equal(lease.spent_before, 6);
	assert_int_equal(lease.taken, 0);
	assert_int_equal(lease.credits, 0);
	assert_int_equal(lease.until, 350);
	lease.taken = 1000;
	rf_lease_enter(&lease, 400, 500); /* not the next one */
	assert_int_equal(lease.spent_before, 0);
	assert_int_equal(lease.taken, 0);
}

/* Packets refused before that yield no share. */
static void remembers_nothing_of_refusals(void **state)
{
	struct rf_lease lease = {0};

	(void)state;
	rf_lease_repeat(&lease, RF_OVER_LIMIT, 3, 600);
	assert_false(lease.has_credits);
	assert_int_equal(lease.threshold, 3);
	assert_int_equal(lease.until, 600);
	rf_lease_enter(&lease, 600, 700);
	assert_true(lease.has_credits);
	assert_int_equal(lease.spent_before, 0);
	assert_int_equal(lease.credits, 0);
	rf_lease_repeat(&lease, RF_OVER_LIMIT, 3, 700);
	rf_lease_enter(&lease, 600, 700); /* nor in the same time */
	assert_int_equal(lease.credits, 0);
	assert_int_equal(lease.taken, 0);
}

/* Every set of one to four limits, enforced ones first, in the data path's order. */
static void remembers_slots(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		const int count = 1 + unit_below(&random, RF_CHARGED_MAX);
		const int first = unit_below(&random, RF_LIMITS_MAX);
		const int step = 1 + 2 * unit_below(&random, RF_LIMITS_MAX / 2);
		__u8 slots[RF_CHARGED_MAX] = {0};
		__u32 read[RF_CHARGED_MAX];
		struct rf_lease lease = {0};

		for (int j = 0; j < count; j++) /* each once */
			slots[j] = (first + j * step) % RF_LIMITS_MAX;
		rf_lease_set_slots(&lease, slots, count);
		assert_int_equal(rf_lease_slots(&lease, read), count);
		for (int j = 0; j < count; j++)
			assert_int_equal(read[j], slots[j]);
	}
}

/* A lease holds any reason, in addition to the longest time. */
static void repeats_reasons(void **state)
{
	struct rf_lease lease = {};

	(void)state;
	for (unsigned int i = 0; i < RF_REASON_COUNT; i++) {
		rf_lease_repeat(&lease, i, 0, RF_UNTIL_MAX);
		assert_int_equal(lease.reason, i);
		assert_int_equal(lease.until, RF_UNTIL_MAX);
	}
}

/* Each limit has a separate verdict, and no list has such a verdict. */
static void tells_reasons_apart(void **state)
{
	static const enum rf_reason lists[] = {RF_ALLOWED, RF_DENIED, RF_NO_LIMIT};
	static const __u8 slots[RF_CHARGED_MAX] = {7, 3, 31, 0};
	struct rf_lease lease = {.reason = RF_SHADOW_OVER, .over = 0x6, .has_credits = 1};
	__u32 read[RF_CHARGED_MAX];

	(void)state;
	rf_lease_set_slots(&lease, slots, 4);
	assert_int_equal(rf_lease_reason(&lease, 0), RF_UNDER_LIMIT);
	assert_int_equal(rf_lease_reason(&lease, 1), RF_SHADOW_OVER);
	assert_int_equal(rf_lease_reason(&lease, 2), RF_SHADOW_OVER);
	assert_int_equal(rf_lease_reason(&lease, 3), RF_UNDER_LIMIT);
	lease = (struct rf_lease){.reason = RF_BANNED, .over = 1};
	assert_int_equal(rf_lease_reason(&lease, 0), RF_BANNED);
	lease.reason = RF_OVER_LIMIT;
	assert_int_equal(rf_lease_reason(&lease, 0), RF_OVER_LIMIT);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(lists); i++) {
		lease.reason = lists[i];
		assert_int_equal(rf_lease_slots(&lease, read), 0);
	}
}

/* Under which limits a lease is permitted, after which verdict. */
static void follows_a_verdict(void **state)
{
	static const struct {
		struct rf_limit limit;
		uint32_t flags;
		bool under, over;
	} rows[] = {
		{LIMIT(100, 10 * SECOND, STRICT(16)), 0, true, true},
		{LIMIT(100, 10 * SECOND, STRICT(16)), RF_SHADOW, true, true},
		{LIMIT(100, 10 * SECOND, STRICT(16)), RF_EXACT, false, true},
		{LIMIT(100, 10 * SECOND, STRICT(16)), RF_COUNT_REJECTED, true, false},
		{LIMIT(100, MS, STRICT(16)), 0, false, true},
		{LIMIT(100, 10 * SECOND, COARSE(16)), 0, true, true},
		{LIMIT(100, 10 * SECOND, WEIGHTED(16)), 0, true, true},
		{LIMIT(100, 10 * SECOND, FIXED), 0, true, true},
		{LIMIT(10, 10 * SECOND, LOG), 0, false, true},
		{LIMIT(100, 10 * SECOND, TOKEN(5)), 0, false, true},
		{LIMIT(100, 10 * SECOND, LEAKY(1)), 0, false, true},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_policy policy = policy_compiled(&rows[i].limit, HZ250);

		policy.flags |= rows[i].flags;
		assert_int_equal(rf_lease_may_follow(&policy, RF_UNDER), rows[i].under);
		assert_int_equal(rf_lease_may_follow(&policy, RF_OVER), rows[i].over);
		assert_false(rf_lease_may_follow(&policy, RF_LOST_RACES));
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("rules of a lease are packed and read again", packs_rules),
	UNIT_ROW("generations of rules are told apart", tells_generations_apart),
	UNIT_ROW("sources of one network are spread over places", spreads_the_sources_of_a_network),
	UNIT_ROW("a tag is found in each place, the first one first", finds_each_place_of_a_tag),
	UNIT_ROW("a lease is worth it only for a source that will get credits",
		 is_worth_it_for_who_will_get_credits),
	UNIT_ROW("a lease is of one source, limit and generation", is_for_one_source_and_rules),
	UNIT_ROW("a lease is live until its time or its tick", is_live_until_its_time_and_tick),
	UNIT_ROW("a lease is fresh for two more ticks", is_fresh_for_a_while_yet),
	UNIT_ROW("a lease is live as far as its low bits of the time tell",
		 is_live_as_far_as_it_can_tell),
	UNIT_ROW("a lease does not answer when its counts are full",
		 answers_until_its_counts_are_full),
	UNIT_ROW("an answer keeps the place of a lease", keeps_its_place_by_an_answer),
	UNIT_ROW("a lease spends no more credits than it has", spends_credits),
	UNIT_ROW("a lease refuses what costs as much as its refusal, or more",
		 refuses_what_costs_more),
	UNIT_ROW("credits are 1/64 of what passed or 1/16 of the room, less those left",
		 wants_its_share),
	UNIT_ROW("a lease counts what was charged up to its largest number",
		 counts_as_high_as_it_goes),
	UNIT_ROW("a lease never remembers more than was spent", remembers_what_was_spent),
	UNIT_ROW("what passed counts for credits in its cell and the next",
		 remembers_the_time_before),
	UNIT_ROW("what was refused does not count for credits", remembers_nothing_of_refusals),
	UNIT_ROW("slots of a lease are set and read again", remembers_slots),
	UNIT_ROW("a lease tells the reason of each slot", tells_reasons_apart),
	UNIT_ROW("a lease repeats the reasons of a packet", repeats_reasons),
	UNIT_ROW("leases follow a verdict only where they may", follows_a_verdict),
};

int main(void)
{
	return cmocka_run_group_tests_name("leases", tests, NULL, NULL);
}
