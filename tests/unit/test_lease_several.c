// SPDX-License-Identifier: GPL-2.0
/*
 * Credits of several windows: equally many in each window, until the first of their cells ends; and
 * the fate of the credits if a race for one of the windows is lost.
 */
#include <linux/types.h>

/* Another CPU's packet comes immediately before this compare-and-swap. */
static void before_operation(__u64 *word);
#define RF_ATOMIC_YIELD() before_operation((__u64 *)(word))

#include "lease.h"

#define SHORT 32 /* jiffies in a cell */
#define LONG 80	 /* not a multiple of SHORT */
#define START (16ULL * 32 * 80)
#define PASSED 9600
#define ROOM 1500 /* less than pays for a whole share, and more than 1/8 of L */
#define SHARE (PASSED / RF_CREDITS_PER_SPENT_OF_SEVERAL)

static struct {
	struct rf_window window[RF_CHARGED_MAX];
	struct rf_policy policy[RF_CHARGED_MAX];
	struct rf_charged charged;
	struct rf_lease lease;
	int limits;
	__u64 *disturbed; /* this word, when it is to be written */
	int loads;	  /* … of it until then */
} all;

static void before_operation(__u64 *word)
{
	if (word == all.disturbed && !all.loads--)
		*word += 1;
}

static void start(int limits)
{
	static const __u8 slots[RF_CHARGED_MAX] = {3, 1, 2, 0};
	static const uint64_t cells[RF_CHARGED_MAX] = {SHORT, LONG, SHORT, LONG};

	memset(&all, 0, sizeof(all));
	all.limits = limits;
	rf_lease_set_slots(&all.lease, slots, limits);
	for (int i = 0; i < limits; i++) {
		all.policy[i] = policy_of(100000 + 1000 * i, cells[i]);
		all.policy[i].clock = RF_JIFFIES;
		rf_window_start(&all.window[i], &all.policy[i], START);
		all.charged.window[i] = &all.window[i];
		all.charged.policy[i] = &all.policy[i];
	}
}

/* Sends one packet that all windows pass. */
static void pass(uint64_t jiffies, uint32_t cost)
{
	for (int i = 0; i < all.limits; i++)
		if (all.charged.window[i])
			assert_int_equal(rf_take(&all.window[i], &all.policy[i], jiffies, cost),
					 RF_UNDER);
	rf_lease_take_credits(&all.lease, &all.charged, jiffies, cost, RF_FOREVER, 0);
}

static uint32_t used_of(int limit)
{
	return rf_word_used(all.window[limit].head);
}

/* ---- the same number in each ---- */

static void takes_as_many_from_each(void **state)
{
	(void)state;
	for (int limits = 2; limits <= RF_CHARGED_MAX; limits++) {
		start(limits);
		pass(START, PASSED - 1);
		pass(START, 1);
		assert_true(all.lease.has_credits);
		assert_int_equal(all.lease.credits, SHARE);
		for (int i = 0; i < limits; i++)
			assert_int_equal(used_of(i), PASSED + SHARE);
	}
}

/* Less than 1/8 of its L is left. */
static void takes_none_near_a_limit(void **state)
{
	(void)state;
	for (int fullest = 0; fullest < RF_CHARGED_MAX; fullest++) {
		start(RF_CHARGED_MAX);
		all.policy[fullest].limit = 10000;
		pass(START, 8750);
		pass(START, 1);
		assert_int_equal(all.lease.credits, 0);
		all.policy[fullest].limit = 10004; /* 8/7 of 8752, and more */
		pass(START, 1);
		assert_true(all.lease.credits > 0);
	}
}

static void takes_what_the_fullest_has_room_for(void **state)
{
	(void)state;
	for (int fullest = 0; fullest < RF_CHARGED_MAX; fullest++) {
		start(RF_CHARGED_MAX);
		all.policy[fullest].limit = PASSED + ROOM;
		pass(START, PASSED - 1);
		pass(START, 1);
		assert_int_equal(all.lease.credits, ROOM / RF_CREDITS_PER_ROOM);
		for (int i = 0; i < RF_CHARGED_MAX; i++)
			assert_int_equal(used_of(i), PASSED + all.lease.credits);
	}
}

/* Shadows that are over. */
static void leaves_out_what_is_not_charged(void **state)
{
	(void)state;
	start(RF_CHARGED_MAX);
	all.charged.window[0] = NULL;
	all.charged.window[2] = NULL;
	pass(START, PASSED - 1);
	pass(START, 1);
	assert_int_equal(all.lease.credits, SHARE);
	assert_int_equal(used_of(0), 0);
	assert_int_equal(used_of(1), PASSED + SHARE);
	assert_int_equal(used_of(2), 0);
	assert_int_equal(used_of(3), PASSED + SHARE);
}

/* ---- until ---- */

static void ends_with_the_first_cell(void **state)
{
	static const struct {
		uint64_t at, until;
	} rows[] = {
		{0, 32},  {31, 32},  {32, 64},	 {63, 64},   {64, 80},	 {79, 80},
		{80, 96}, {96, 128}, {128, 160}, {159, 160}, {160, 192},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		start(2);
		pass(START + rows[i].at, 1);
		assert_int_equal(all.lease.until, START + rows[i].until);
	}
}

static void ends_when_a_shadow_reopens(void **state)
{
	(void)state;
	start(2);
	rf_lease_take_credits(&all.lease, &all.charged, START, 1, START + 7, 0);
	assert_int_equal(all.lease.until, START + 7);
	rf_lease_take_credits(&all.lease, &all.charged, START, 1, START + 40, 0);
	assert_int_equal(all.lease.until, START + 32);
}

/* … and remembers earlier passes, from one to the next. */
static void ends_at_the_multiples_of_a_span(void **state)
{
	(void)state;
	start(2);
	for (int at = 0; at < 20; at++) {
		const uint64_t now = START + at, end = rf_lease_end_by(now, 5);

		assert_in_range(end - now, 1, 5);
		assert_int_equal(end % 5, 0);
		rf_lease_take_credits(&all.lease, &all.charged, now, 1, end, 5);
		assert_int_equal(all.lease.until, end < START + 32 ? end : START + 32);
		/* 16 of those in a span of 5 would be one unit of that. */
		rf_lease_charge(&all.lease, RF_SPENT_UNIT);
		assert_int_equal(all.lease.spent_before != 0, now / 5 > START / 5);
	}
	assert_int_equal(rf_lease_end_by(START, 0), RF_FOREVER);
}

/*
 * If a window has advanced while this CPU stalled, it grants no credits, and the present ones
 * expire.
 */
static void ends_where_a_window_is_far_ahead(void **state)
{
	(void)state;
	start(2);
	pass(START, PASSED);
	rf_take(&all.window[1], &all.policy[1], START + (RF_CELLS_AHEAD + 1) * LONG, 1);
	rf_lease_take_credits(&all.lease, &all.charged, START, 1, RF_FOREVER, 0);
	assert_int_equal(all.lease.until, 0);
	assert_int_equal(all.lease.credits, 0);
	assert_int_equal(used_of(0), PASSED);
}

/* The share is remembered from one segment to the next, at any cell's end. */
static void remembers_from_segment_to_segment(void **state)
{
	static const uint64_t segments[] = {0, 32, 64, 80, 96, 128, 160, 192};

	(void)state;
	start(2);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(segments); i++) {
		pass(START + segments[i], 1024);
		assert_int_equal(rf_lease_spent_before(&all.lease), i ? 1024 : 0);
		assert_int_equal(all.lease.credits, 0);
	}
	pass(START + 224 + 32, 1024); /* one was left out */
	assert_int_equal(rf_lease_spent_before(&all.lease), 0);
}

/* ---- lost races ---- */

/* The race for one window is lost: only the charges to the windows before it remain. */
static void loses_a_share_at_most(void **state)
{
	(void)state;
	for (int lost = 0; lost < RF_CHARGED_MAX; lost++) {
		start(RF_CHARGED_MAX);
		pass(START, PASSED - 1);
		for (int i = 0; i < RF_CHARGED_MAX; i++)
			rf_take(&all.window[i], &all.policy[i], START, 1);
		all.disturbed = &all.window[lost].head;
		all.loads = 1; /* it was read, and then comes the swap */
		rf_lease_take_credits(&all.lease, &all.charged, START, 1, RF_FOREVER, 0);
		assert_int_equal(all.lease.credits, 0);
		for (int i = 0; i < RF_CHARGED_MAX; i++)
			assert_int_equal(used_of(i), PASSED + (i < lost ? SHARE : 0) + (i == lost));
		/* A lost race for the first window costs nothing, not even the share. */
		assert_int_equal(rf_lease_spent(&all.lease), lost ? 0 : PASSED);
	}
}

/*
 * Existing credits are retained. The share of the lost ones starts again at zero, also in the next
 * cell.
 */
static void begins_anew_after_a_loss(void **state)
{
	(void)state;
	start(2);
	pass(START, PASSED - 1);
	pass(START, 1);
	assert_int_equal(all.lease.credits, SHARE);
	assert_true(rf_lease_answers(&all.lease, SHARE / 2, 60));
	all.disturbed = &all.window[1].head;
	all.loads = 3; /* the packet's own charge, and its reading */
	pass(START, 1);
	assert_int_equal(all.lease.credits, SHARE / 2);
	assert_int_equal(rf_lease_spent(&all.lease), 0);
	pass(START, 1);
	assert_int_equal(all.lease.credits,
			 SHARE / 2); /* no more until it has passed as much again */
	pass(START, PASSED - 2);
	pass(START, 1);
	assert_int_equal(all.lease.credits, SHARE);
	pass(START + SHORT, 1);
	assert_int_equal(rf_lease_spent_before(&all.lease),
			 8192); /* not the amount before the loss */
}

/* ---- possible losses ---- */

#define SEGMENTS 4 /* of the other limit in a cell of the first */

/* Passes `most`, or as much as fits, at the time `later` in the cell `cell`. */
static uint32_t pass_most(uint64_t cell, uint64_t later, uint32_t most)
{
	const uint64_t jiffies = START + cell * SEGMENTS * LONG + later;

	while (most && !rf_peek(&all.window[0], &all.policy[0], jiffies, most))
		most--;
	if (most)
		pass(jiffies, most);
	return most;
}

/*
 * Much is passed at the end of a cell, which strands a share in the next one; and as that cell
 * leaves the window, much at the start of a further one, which strands it there and, because the
 * cell of a different limit ends, once more.
 */
static void strands_a_32nd_at_most(void **state)
{
	(void)state;
	for (uint32_t before = 512; before < 10000; before += 256) {
		for (uint32_t after = 512; after < 10000; after += 128) {
			uint32_t passed = 0;

			start(2);
			all.policy[0] = policy_of(10000, SEGMENTS * LONG);
			all.policy[0].clock = RF_JIFFIES;
			rf_window_start(&all.window[0], &all.policy[0], START);
			pass_most(0, (SEGMENTS - 1) * LONG, before);
			passed += pass_most(1, 0, 1);
			passed += pass_most(RF_CELLS, 0, after);
			passed += pass_most(RF_CELLS, 0, 1);
			passed += pass_most(RF_CELLS, LONG, 1);
			if ((used_of(0) - passed) * 32 > 10000)
				fail_msg("%u, %u: %u of 10000 stranded", before, after,
					 used_of(0) - passed);
		}
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("several limits: as many credits of each", takes_as_many_from_each),
	UNIT_ROW("several limits: no more credits than the fullest has room for",
		 takes_what_the_fullest_has_room_for),
	UNIT_ROW("several limits: no credits where one has less than 1/8 left",
		 takes_none_near_a_limit),
	UNIT_ROW("several limits: no credits of a shadow that is over",
		 leaves_out_what_is_not_charged),
	UNIT_ROW("several limits: credits end with the first cell", ends_with_the_first_cell),
	UNIT_ROW("several limits: credits end when a shadow reopens, if that is earlier",
		 ends_when_a_shadow_reopens),
	UNIT_ROW("several limits: credits end at a multiple of the span",
		 ends_at_the_multiples_of_a_span),
	UNIT_ROW("several limits: no credits where a window is far ahead",
		 ends_where_a_window_is_far_ahead),
	UNIT_ROW("several limits: the share goes on from segment to segment",
		 remembers_from_segment_to_segment),
	UNIT_ROW("several limits: a lost race loses a share at most", loses_a_share_at_most),
	UNIT_ROW("several limits: after a loss the share begins anew", begins_anew_after_a_loss),
	UNIT_ROW("several limits: at most 1/32 of L is stranded", strands_a_32nd_at_most),
};

int main(void)
{
	return cmocka_run_group_tests_name("credits of several windows", tests, NULL, NULL);
}
