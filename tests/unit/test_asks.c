// SPDX-License-Identifier: GPL-2.0
/*
 * Requests for a larger share: when a source can send one, and until when a lease can refuse in the
 * meantime.
 */
#define RF_WITH_SHARES
#include "unit.h"

#include "ringfence/limiter.h"

#define TICK_NS 4000000U
#define TICKS 13 /* from one request to the next */
#define NOW 1000000

static struct rf_hearing hearing;

RF_INLINE struct rf_hearing *rf_hearing_of(__u32 incarnation)
{
	(void)incarnation;
	return &hearing;
}

RF_INLINE __u64 rf_hearing_now(void)
{
	return NOW;
}

static bool may_ask(struct rf_window *window, uint64_t jiffies)
{
	return rf_may_ask(window, jiffies, TICK_NS);
}

static uint64_t refusal(const struct rf_window *window, uint64_t jiffies)
{
	return rf_shared_refusal(window, jiffies, TICK_NS);
}

/* Sends this many requests, as often as allowed. Returns the time of the last one. */
static uint64_t ask_often(struct rf_window *window, int times)
{
	uint64_t jiffies = NOW;

	assert_true(may_ask(window, jiffies));
	while (--times > 0) {
		assert_false(may_ask(window, jiffies + TICKS - 1));
		jiffies += TICKS;
		assert_true(may_ask(window, jiffies));
	}
	return jiffies;
}

static void a_lease_refuses_until_the_source_may_ask_again(void **state)
{
	static const uint32_t ticks_ns[] = {1000000, 3333333, 4000000, 10000000};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		const uint64_t now = NOW + RF_ANSWER_NS / ticks_ns[i] + 1;
		struct rf_window window = {};
		uint64_t until;

		assert_true(rf_may_ask(&window, NOW, ticks_ns[i]));
		until = rf_shared_refusal(&window, now, ticks_ns[i]);
		assert_false(rf_may_ask(&window, until - 1, ticks_ns[i]));
		/* The packet of the next request is refused for as long. */
		assert_int_equal(rf_shared_refusal(&window, until, ticks_ns[i]) - until,
				 until - NOW);
		assert_true(rf_may_ask(&window, until, ticks_ns[i]));
	}
}

static void none_refuses_while_an_answer_may_come(void **state)
{
	struct rf_window window = {};

	(void)state;
	ask_often(&window, 1);
	assert_int_equal(refusal(&window, NOW), 0);
	assert_int_equal(refusal(&window, NOW + 2), 0);
	assert_int_equal(refusal(&window, NOW + 3), NOW + TICKS);
}

static void after_asks_in_vain_one_refuses_at_once(void **state)
{
	(void)state;
	for (int times = 1; times < 100; times++) {
		struct rf_window window = {};
		const uint64_t at = ask_often(&window, times);

		assert_int_equal(refusal(&window, at), times > RF_ASKS_IN_VAIN ? at + TICKS : 0);
	}
}

static void once_the_share_has_grown_none_refuses_again(void **state)
{
	struct rf_window window = {};
	const uint64_t at = ask_often(&window, 100);

	(void)state;
	window.share.asked |= RF_SHARE_GREW;
	assert_int_equal(refusal(&window, at + 1), 0);
	assert_true(may_ask(&window, at + 1));
	assert_int_equal(refusal(&window, at + 1), 0);
	assert_false(may_ask(&window, at + TICKS));
}

static void nor_after_a_rest(void **state)
{
	struct rf_window window = {};
	const uint64_t at = ask_often(&window, 100) + RF_ASKS_IN_VAIN * TICKS;

	(void)state;
	assert_true(may_ask(&window, at));
	assert_int_equal(refusal(&window, at), 0);
}

/*
 * A window under a limit of the fleet; its count can stem from a different definition, or exceed
 * the limit.
 */
static struct rf_policy draw(uint64_t *random, struct rf_window *window)
{
	const uint32_t limit = 1 + unit_below(random, 1000), first = 1 + unit_below(random, limit);
	const uint32_t incarnation = unit_below(random, 8) ? RF_BUCKETS : 0;
	const uint32_t share = incarnation ? unit_below(random, limit + 1) : 0;

	hearing.deadline = NOW + unit_below(random, 4);
	hearing.generation = unit_below(random, 8) ? 0 : 1;
	window->share.given = rf_given(incarnation, share);
	window->share.whose = rf_whose(rf_tag_of(unit_below(random, 8) ? 1 : 2), limit);
	return (struct rf_policy){
		.limit = limit,
		.flags = RF_FLEET,
		.first = first,
		.alone = first + unit_below(random, limit),
		.tag = rf_tag_of(1),
	};
}

/* The immediate bound is within the limit, and no source that needs more is missed. */
static void what_is_told_at_once_is_within_the_limit(void **state)
{
	uint64_t random = 1;
	int later = 0, at_once = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct rf_window window = {};
		const struct rf_policy policy = draw(&random, &window);
		const struct rf_share_words words = rf_share_read(&window);
		const uint64_t units = 1 + unit_below(&random, policy.limit + 1);
		const uint32_t limit = rf_limit_at_once(&policy, &words, units, NOW);
		uint32_t enough;

		assert_int_equal(rf_fits_at(&window, &policy, units, NOW, &enough),
				 units <= rf_limit_of(&window, &policy));
		assert_int_equal(enough, limit);
		if (!limit) {
			later++;
			continue;
		}
		at_once += units > policy.first / 2;
		assert_in_range(limit, units, rf_limit_of(&window, &policy));
		assert_false(rf_wants_more(&window, &policy, units));
	}
	assert_in_range(later, 10000, 290000);
	assert_in_range(at_once, 10000, 290000);
	hearing = (struct rf_hearing){};
}

/* For any immediate bound, the usage after the addition decides, up to the limit itself. */
static void an_addition_is_judged_by_the_whole_limit(void **state)
{
	const uint64_t epoch = 77;
	uint64_t random = 2;
	int under = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct rf_window window = {};
		const struct rf_policy policy = draw(&random, &window);
		const uint64_t units = 1 + unit_below(&random, policy.limit + 1);
		const enum rf_verdict expected =
			units <= rf_limit_of(&window, &policy) ? RF_UNDER : RF_OVER;
		struct rf_window late = window;
		enum rf_verdict verdict;
		uint32_t enough = 0;

		/* One unit was used when several limits looked, and others came between. */
		rf_fits_at(&window, &policy, 1, NOW, &enough);
		window.head = late.head = rf_word(epoch, units - 1);
		assert_int_equal(rf_add(&window, &policy, epoch, 1, NOW, enough), expected);
		assert_int_equal(rf_word_used(window.head), units);
		/* One unit was used when it looked, and others came between. */
		verdict = rf_take_at_once(&late, &policy, epoch, 1, 1, NOW);
		if (verdict == RF_LATER)
			continue;
		assert_int_equal(verdict, expected);
		assert_int_equal(rf_word_used(late.head), units);
		under += expected == RF_UNDER;
	}
	assert_in_range(under, 10000, 290000);
	hearing = (struct rf_hearing){};
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lease_refuses_until_the_source_may_ask_again),
		cmocka_unit_test(none_refuses_while_an_answer_may_come),
		cmocka_unit_test(after_asks_in_vain_one_refuses_at_once),
		cmocka_unit_test(once_the_share_has_grown_none_refuses_again),
		cmocka_unit_test(nor_after_a_rest),
		cmocka_unit_test(what_is_told_at_once_is_within_the_limit),
		cmocka_unit_test(an_addition_is_judged_by_the_whole_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
