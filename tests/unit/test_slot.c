// SPDX-License-Identifier: GPL-2.0
/*
 * Slots: the contents of words and slot references, which sources settle, which can be evicted, and
 * possible steps of another CPU between two steps of a touch. The explorer tests all interleavings.
 */
#include <linux/types.h>

static void before_operation(void);
#define RF_ATOMIC_YIELD() before_operation()

#include "unit.h"

#include "ringfence/slot.h"

#define MAX 3 /* residents */

static const struct rf_slot_times times = {
	.probation_for = 20,
	.probation_idle = 4,
	.resident_idle = 120,
	.resident_touch = 16,
	.residents_max = MAX,
};

static const uint32_t ticks[] = {0,	     1,		 255,	     256,	 0x1ffff,
				 0x7fffffff, 0x80000000, 0xffffff00, 0xfffffffe, 0xffffffff};
static const uint32_t generations[] = {0, 1, 0x7ffff, 0xffffe, 0xfffff};

#define STATES 7

/* ---- another CPU ---- */

static int operations; /* until the other CPU comes; < 0: it does not */
static int again;      /* operations between its later turns */
static void (*other)(void);

static void before_operation(void)
{
	const int present = operations;

	if (present < 0)
		return;
	operations = present ? present - 1 : -1;
	if (present)
		return;
	other();
	operations = again ? again - 1 : -1;
}

static uint64_t word, residents;

static enum rf_slot_state touch(uint32_t generation, uint32_t tick)
{
	return rf_slot_touch((__u64 *)&word, (__u64 *)&residents, &times, generation, tick);
}

static void start(enum rf_slot_state state, uint32_t arrived, uint32_t last)
{
	operations = -1;
	again = 0;
	word = rf_slot_word(7, state, arrived, last);
	residents = state == RF_SLOT_RESIDENT;
}

/* ---- words and slot references ---- */

static void words_hold_what_was_put_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations) * STATES; i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(ticks); j++) {
			const uint32_t generation = generations[i / STATES];
			const __u64 made =
				rf_slot_word(generation, i % STATES, ~ticks[j], ticks[j]);

			assert_int_equal(rf_slot_generation(made), generation);
			assert_int_equal(rf_slot_state(made), i % STATES);
			assert_int_equal(rf_slot_arrived(made), ~ticks[j] & 0xff);
			assert_int_equal(rf_slot_last(made), ticks[j]);
		}
}

static void slot_refs_hold_what_was_put_there(void **state)
{
	static const uint32_t slots[] = {0, 1, 65535, (1U << 26) - 1};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations) * 2; i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(ticks) * 4; j++) {
			const uint32_t tick = ticks[j / 4];
			const __u64 slot_ref =
				rf_slot_ref(slots[j % 4], generations[i / 2], i % 2, tick);

			assert_int_equal(rf_slot_ref_slot(slot_ref), slots[j % 4]);
			assert_int_equal(rf_slot_ref_generation(slot_ref), generations[i / 2]);
			assert_int_equal(rf_slot_ref_is_resident(slot_ref), i % 2);
			const uint32_t every = i % 2 ? 16 : 1;

			assert_true(rf_slot_ref_is_recent(slot_ref, &times, tick));
			assert_true(rf_slot_ref_is_recent(slot_ref, &times, tick + every - 1));
			assert_false(rf_slot_ref_is_recent(slot_ref, &times, tick + every));
			assert_false(rf_slot_ref_is_recent(slot_ref, &times, tick - 1));
			assert_false(
				rf_slot_ref_is_recent(slot_ref, &times, tick + RF_SLOT_REF_TICKS));
		}
}

/* ---- idle ---- */

static void idle_since_it_was_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		const __u64 seen = rf_slot_word(1, RF_SLOT_PROBATION, ticks[i], ticks[i]);

		for (uint32_t later = 0; later < 1000; later++)
			assert_int_equal(rf_slot_idle(seen, ticks[i] + later), later);
		assert_int_equal(rf_slot_idle(seen, ticks[i] + RF_SLOT_IDLE_MAX), RF_SLOT_IDLE_MAX);
		assert_int_equal(rf_slot_idle(seen, ticks[i] + 0x7fffffff), RF_SLOT_IDLE_MAX);
	}
}

static void what_is_ahead_is_not_idle(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t behind = 1; behind < 1000; behind++) {
			const uint32_t tick = ticks[i] - behind;

			for (int j = RF_SLOT_NEW; j < STATES; j++)
				assert_int_equal(
					rf_slot_idle(rf_slot_word(1, j, 0, ticks[i]), tick), 0);
			assert_int_equal(
				rf_slot_score(rf_slot_word(1, RF_SLOT_PROBATION, 0, ticks[i]),
					      &times, tick, 0),
				0);
			assert_int_equal(
				rf_slot_score(rf_slot_word(1, RF_SLOT_RESIDENT, 0, ticks[i]),
					      &times, tick, 0),
				0);
		}
}

/* ---- residents that rest ---- */

static void rest(uint32_t tick)
{
	rf_slot_rest((__u64 *)&word, (__u64 *)&residents, &times, tick);
}

/* The source is on probation, as before, and settles immediately when it returns, if there is room.
 */
static void a_resident_rests_after_its_idle_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		const uint32_t last = ticks[i], late = last + times.resident_idle + 1;

		start(RF_SLOT_RESIDENT, 33, last);
		residents = MAX;
		rest(last - 1);
		rest(last + times.resident_idle);
		assert_int_equal(word, rf_slot_word(7, RF_SLOT_RESIDENT, 33, last));
		assert_int_equal(residents, MAX);
		rest(late);
		rest(late);
		assert_int_equal(word, rf_slot_word(7, RF_SLOT_PROBATION, 33, last));
		assert_int_equal(residents, MAX - 1);
		assert_int_equal(touch(7, late), RF_SLOT_RESIDENT);
		assert_int_equal(residents, MAX);
	}
}

static void nobody_else_rests(void **state)
{
	(void)state;
	for (int i = 0; i < STATES; i++) {
		if (i == RF_SLOT_RESIDENT)
			continue;
		start(i, 0, 10);
		residents = 1;
		rest(10000);
		assert_int_equal(word, rf_slot_word(7, i, 0, 10));
		assert_int_equal(residents, 1);
	}
}

static void it_comes_back(void)
{
	touch(7, 500);
}

static void who_comes_back_meanwhile_does_not_rest(void **state)
{
	(void)state;
	start(RF_SLOT_RESIDENT, 0, 10);
	residents = 1;
	other = it_comes_back;
	operations = 1;
	rest(500);
	assert_int_equal(word, rf_slot_word(7, RF_SLOT_RESIDENT, 0, 500));
	assert_int_equal(residents, 1);
}

/* ---- the order of eviction ---- */

struct candidate {
	enum rf_slot_state state;
	uint32_t idle;
};

static uint32_t score(const struct candidate *candidate, uint32_t tick, enum rf_slot_eager eager)
{
	const __u64 seen = rf_slot_word(9, candidate->state, 0, tick - candidate->idle);

	return rf_slot_score(seen, &times, tick, eager);
}

/* The order in which sources are evicted, first to last. */
static void assert_order(const struct candidate *order, size_t count, enum rf_slot_eager eager)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (size_t j = 1; j < count; j++) {
			assert_true(score(&order[j - 1], ticks[i], eager) >
				    score(&order[j], ticks[i], eager));
			assert_true(score(&order[j], ticks[i], eager) > 0);
		}
}

/* Slots that a newcomer may take: free ones, idle ones by idle time, ones over quota likewise. */
static void newcomers_take_the_idle(void **state)
{
	static const struct candidate order[] = {
		{RF_SLOT_FREE, 0},	  {RF_SLOT_RESIDENT, 100000}, {RF_SLOT_NEW, 123},
		{RF_SLOT_PROBATION, 122}, {RF_SLOT_RESIDENT, 121},    {RF_SLOT_NEW, 120},
		{RF_SLOT_SIBLING, 7},	  {RF_SLOT_PROBATION, 6},     {RF_SLOT_NEW, 5},
		{RF_SLOT_SIBLING, 4},	  {RF_SLOT_OVER_QUOTA, 3},    {RF_SLOT_SIBLING, 2},
		{RF_SLOT_OVER_QUOTA, 1},  {RF_SLOT_SIBLING, 0},
	};

	(void)state;
	assert_order(order, UNIT_ARRAY_SIZE(order), 0);
}

/* A sibling takes free and idle slots, and no active ones. */
static void siblings_take_only_the_idle(void **state)
{
	static const struct candidate order[] = {
		{RF_SLOT_FREE, 0},	{RF_SLOT_RESIDENT, 121}, {RF_SLOT_SIBLING, 7},
		{RF_SLOT_PROBATION, 6}, {RF_SLOT_NEW, 5},
	};

	(void)state;
	assert_order(order, UNIT_ARRAY_SIZE(order), RF_SLOT_EAGER_IDLE);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t idle = 0; idle <= times.resident_idle; idle++)
			for (int j = RF_SLOT_NEW; j < STATES; j++) {
				const struct candidate candidate = {j, idle};

				if (idle <= times.probation_idle || j == RF_SLOT_RESIDENT ||
				    j == RF_SLOT_OVER_QUOTA)
					assert_int_equal(
						score(&candidate, ticks[i], RF_SLOT_EAGER_IDLE), 0);
			}
}

static void newcomers_leave_the_active_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t idle = 0; idle <= times.resident_idle; idle++) {
			assert_int_equal(
				score(&(struct candidate){RF_SLOT_RESIDENT, idle}, ticks[i], 0), 0);
			if (idle > times.probation_idle)
				continue;
			assert_int_equal(
				score(&(struct candidate){RF_SLOT_PROBATION, idle}, ticks[i], 0),
				0);
			assert_int_equal(score(&(struct candidate){RF_SLOT_NEW, idle}, ticks[i], 0),
					 0);
		}
}

/* If one must go: sources seen once, then ones over quota, then ones on probation, then residents.
 */
static void eager_ones_take_the_active_last(void **state)
{
	static const struct candidate order[] = {
		{RF_SLOT_FREE, 0},	 {RF_SLOT_RESIDENT, 200}, {RF_SLOT_PROBATION, 6},
		{RF_SLOT_NEW, 5},	 {RF_SLOT_NEW, 4},	  {RF_SLOT_NEW, 0},
		{RF_SLOT_OVER_QUOTA, 9}, {RF_SLOT_OVER_QUOTA, 0}, {RF_SLOT_PROBATION, 4},
		{RF_SLOT_PROBATION, 0},	 {RF_SLOT_RESIDENT, 120}, {RF_SLOT_RESIDENT, 0},
	};

	(void)state;
	assert_order(order, UNIT_ARRAY_SIZE(order), RF_SLOT_EAGER_ALL);
}

static void a_long_silence_is_not_another_state(void **state)
{
	const uint32_t forever = 0x7fffffff;

	(void)state;
	assert_true(score(&(struct candidate){RF_SLOT_OVER_QUOTA, forever}, 5, 0) <
		    RF_SLOT_AT_ONCE);
	assert_true(score(&(struct candidate){RF_SLOT_OVER_QUOTA, forever}, 5, 1) <
		    score(&(struct candidate){RF_SLOT_PROBATION, 5}, 5, 1));
	assert_true(score(&(struct candidate){RF_SLOT_RESIDENT, forever}, 5, 0) <=
		    score(&(struct candidate){RF_SLOT_FREE, 0}, 5, 0));
	assert_true(score(&(struct candidate){RF_SLOT_RESIDENT, forever}, 5, 0) >= RF_SLOT_AT_ONCE);
}

static void nobody_takes_what_is_claimed(void **state)
{
	(void)state;
	for (uint32_t idle = 0; idle < 1000; idle++) {
		const struct candidate claimed = {RF_SLOT_CLAIMED, idle};

		assert_int_equal(score(&claimed, 5000, 0), 0);
		assert_int_equal(score(&claimed, 5000, 1), 0);
	}
}

/* ---- touch ---- */

static void a_touch_is_noted_once_a_tick(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		uint64_t seen;

		start(RF_SLOT_PROBATION, ticks[i], ticks[i]);
		assert_int_equal(touch(7, ticks[i] + 3), RF_SLOT_PROBATION);
		assert_int_equal(word, rf_slot_word(7, RF_SLOT_PROBATION, ticks[i], ticks[i] + 3));
		seen = word;
		for (uint32_t behind = 0; behind < 300; behind++) {
			assert_int_equal(touch(7, ticks[i] + 3 - behind), RF_SLOT_PROBATION);
			assert_int_equal(word, seen);
		}
		assert_int_equal(residents, 0);
	}
}

/* A source seen again, even in the same tick or by a clock that is behind, is not new any more. */
static void a_new_source_is_on_probation_once_it_is_seen_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t j = 0; j < 20; j++) {
			const uint32_t last = ticks[i] + (j < 10 ? j : 0);

			start(RF_SLOT_NEW, ticks[i], ticks[i]);
			assert_int_equal(touch(7, j < 10 ? last : ticks[i] - (j - 9)),
					 RF_SLOT_PROBATION);
			assert_int_equal(word, rf_slot_word(7, RF_SLOT_PROBATION, ticks[i], last));
			assert_int_equal(residents, 0);
		}
}

static void a_touch_is_of_its_generation_alone(void **state)
{
	(void)state;
	for (int i = 0; i < STATES; i++) {
		const uint64_t before = rf_slot_word(7, i, 5, 100);

		start(i, 5, 100);
		assert_int_equal(touch(6, 200), RF_SLOT_FREE);
		assert_int_equal(touch(8, 200), RF_SLOT_FREE);
		assert_int_equal(touch(7 + (1U << 19), 200), RF_SLOT_FREE);
		if (i < RF_SLOT_NEW)
			assert_int_equal(touch(7, 200), RF_SLOT_FREE);
		assert_int_equal(word, before);
	}
}

/* ---- sources that become residents ---- */

static void it_settles_after_its_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t gap = 1; gap < 300; gap++) {
			uint32_t age = 0;

			start(gap % 2 ? RF_SLOT_NEW : RF_SLOT_PROBATION, ticks[i], ticks[i]);
			while (age + gap < times.probation_for)
				assert_int_equal(touch(7, ticks[i] + (age += gap)),
						 RF_SLOT_PROBATION);
			assert_int_equal(touch(7, ticks[i] + age + gap), RF_SLOT_RESIDENT);
			assert_int_equal(residents, 1);
		}
}

static void it_does_not_settle_by_a_clock_that_is_behind(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++)
		for (uint32_t behind = 1; behind < 300; behind++) {
			start(RF_SLOT_PROBATION, ticks[i], ticks[i]);
			assert_int_equal(touch(7, ticks[i] - behind), RF_SLOT_PROBATION);
			assert_int_equal(residents, 0);
		}
}

static void residents_are_never_more_than_may_be(void **state)
{
	uint64_t slots[2 * MAX];

	(void)state;
	start(RF_SLOT_FREE, 0, 0);
	for (int i = 0; i < 2 * MAX; i++) {
		word = rf_slot_word(7, RF_SLOT_PROBATION, 0, 0);
		assert_int_equal(touch(7, 20), i < MAX ? RF_SLOT_RESIDENT : RF_SLOT_OVER_QUOTA);
		slots[i] = word;
	}
	assert_int_equal(residents, MAX);
	for (int i = 0; i < 2 * MAX; i++) {
		word = slots[i];
		assert_int_equal(touch(7, 21), i < MAX ? RF_SLOT_RESIDENT : RF_SLOT_OVER_QUOTA);
	}
	assert_int_equal(residents, MAX);
}

static void sources_over_quota_settle_once_one_has_gone(void **state)
{
	(void)state;
	start(RF_SLOT_OVER_QUOTA, 0, 50);
	residents = MAX;
	assert_int_equal(touch(7, 51), RF_SLOT_OVER_QUOTA);
	rf_residents_remove((__u64 *)&residents);
	assert_int_equal(touch(7, 52), RF_SLOT_RESIDENT);
	assert_int_equal(residents, MAX);
}

/* ---- races with another CPU ---- */

static void sees_it_too(void)
{
	word = rf_slot_word(7, rf_slot_state(word), rf_slot_arrived(word), rf_slot_last(word) + 1);
}

/* The slot's word changes before each race: the touch fails, and returns that. */
static void lost_races_leave_nothing_behind(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		start(i ? RF_SLOT_OVER_QUOTA : RF_SLOT_PROBATION, 0, 50);
		other = sees_it_too;
		operations = 1;
		again = 1;
		assert_int_equal(touch(7, 1000), RF_SLOT_FREE);
		operations = -1;
		assert_int_equal(residents, 0);
		assert_int_equal(rf_slot_state(word), i ? RF_SLOT_OVER_QUOTA : RF_SLOT_PROBATION);
		assert_int_not_equal(rf_slot_last(word), 1000);
	}
}

static void claims_it(void)
{
	word = rf_slot_claimed(word, 60);
}

static void a_slot_that_is_claimed_meanwhile_is_left_alone(void **state)
{
	(void)state;
	for (int step = 0; step < 4; step++) {
		start(RF_SLOT_PROBATION, 0, 50);
		other = claims_it;
		operations = step;
		assert_int_equal(touch(7, 60), RF_SLOT_FREE);
		assert_int_equal(word, rf_slot_word(8, RF_SLOT_CLAIMED, 0, 60));
		assert_int_equal(residents, 0);
	}
}

static void takes_the_last_place(void)
{
	residents = MAX;
}

static void the_last_place_goes_to_one_cpu(void **state)
{
	(void)state;
	for (int step = 0; step < 2; step++) {
		start(RF_SLOT_FREE, 0, 0);
		residents = MAX - 1;
		other = takes_the_last_place;
		operations = step;
		assert_false(rf_residents_add((__u64 *)&residents, MAX));
		assert_int_equal(residents, MAX);
	}
	operations = -1;
	assert_false(rf_residents_add((__u64 *)&residents, MAX));
	assert_int_equal(residents, MAX);
}

/* ---- claims ---- */

static void a_claim_is_of_a_new_generation(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(generations); i++) {
		const uint32_t next = (generations[i] + 1) & RF_SLOT_GENERATIONS;
		const uint64_t old = rf_slot_word(generations[i], RF_SLOT_RESIDENT, 3, 40);

		operations = -1;
		word = old;
		assert_false(rf_slot_claim((__u64 *)&word, old + 1, 90));
		assert_int_equal(word, old);
		assert_true(rf_slot_claim((__u64 *)&word, old, 90));
		assert_int_equal(word, rf_slot_word(next, RF_SLOT_CLAIMED, 0, 90));
		assert_false(rf_slot_claim((__u64 *)&word, old, 90));
		assert_int_equal(touch(generations[i], 91), RF_SLOT_FREE);
		assert_int_equal(touch(next, 91), RF_SLOT_FREE);

		rf_slot_publish((__u64 *)&word, next, RF_SLOT_PROBATION, 0x12345678);
		assert_int_equal(word, rf_slot_word(next, RF_SLOT_PROBATION, 0x78, 0x12345678));
		rf_slot_free((__u64 *)&word, next);
		assert_int_equal(word, rf_slot_word(next, RF_SLOT_FREE, 0, 0));
		rf_slot_restore((__u64 *)&word, old);
		assert_int_equal(word, old);
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("a slot's word holds its parts at their limits", words_hold_what_was_put_there),
	UNIT_ROW("a slot reference holds its parts at their limits",
		 slot_refs_hold_what_was_put_there),
	UNIT_ROW("a slot is idle since its source was seen, as ticks wrap", idle_since_it_was_seen),
	UNIT_ROW("a slot whose time is ahead is not idle", what_is_ahead_is_not_idle),
	UNIT_ROW("a resident rests after its idle time", a_resident_rests_after_its_idle_time),
	UNIT_ROW("only a resident rests", nobody_else_rests),
	UNIT_ROW("a resident that comes back meanwhile does not rest",
		 who_comes_back_meanwhile_does_not_rest),
	UNIT_ROW("newcomers take free, idle and over quota slots", newcomers_take_the_idle),
	UNIT_ROW("a sibling window takes only free and idle slots", siblings_take_only_the_idle),
	UNIT_ROW("newcomers leave slots of active sources alone", newcomers_leave_the_active_alone),
	UNIT_ROW("a known source takes slots of sources seen once, then of ones on probation, then "
		 "of "
		 "residents",
		 eager_ones_take_the_active_last),
	UNIT_ROW("a long silence does not change the state of a slot",
		 a_long_silence_is_not_another_state),
	UNIT_ROW("nobody takes a slot that is claimed", nobody_takes_what_is_claimed),
	UNIT_ROW("a touch is noted once a tick, and never turned back",
		 a_touch_is_noted_once_a_tick),
	UNIT_ROW("a new source is on probation once it is seen again",
		 a_new_source_is_on_probation_once_it_is_seen_again),
	UNIT_ROW("a touch of another generation does nothing", a_touch_is_of_its_generation_alone),
	UNIT_ROW("a source settles after its time, however it sends", it_settles_after_its_time),
	UNIT_ROW("a source does not settle by a clock that is behind",
		 it_does_not_settle_by_a_clock_that_is_behind),
	UNIT_ROW("there are never more residents than allowed",
		 residents_are_never_more_than_may_be),
	UNIT_ROW("source over quota settle once a resident has gone",
		 sources_over_quota_settle_once_one_has_gone),
	UNIT_ROW("a touch that lost all its races leaves nothing behind",
		 lost_races_leave_nothing_behind),
	UNIT_ROW("a slot that is claimed meanwhile is left alone",
		 a_slot_that_is_claimed_meanwhile_is_left_alone),
	UNIT_ROW("of two CPUs one gets the last place of a resident",
		 the_last_place_goes_to_one_cpu),
	UNIT_ROW("a claim has a new generation, which wraps", a_claim_is_of_a_new_generation),
};

int main(void)
{
	return cmocka_run_group_tests_name("slot", tests, NULL, NULL);
}
