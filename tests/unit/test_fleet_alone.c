// SPDX-License-Identifier: GPL-2.0
/* How often and how long a host was offline, according to its program's records. */
#include "unit.h"

#include "fleet/alone.h"

#define TICK HZ250
#define BEGAN (100 * SECOND)
#define FIRST_JIFFY 25000

/* The program and its clock; by rf_hear(), when it receives a deadline. */
struct host {
	struct rf_hearing hearing[RF_BUCKETS];
	struct rf_alone alone;
	uint64_t now;
	uint64_t pause_ns; /* of the agent, while it looks */
};

static uint64_t jiffies_of(uint64_t now)
{
	return FIRST_JIFFY + (now - BEGAN) / TICK;
}

static void hear(struct host *host, int bucket, uint64_t until_ns)
{
	struct rf_hearing *hearing = &host->hearing[bucket];
	const uint64_t jiffies = jiffies_of(host->now);

	if (jiffies >= hearing->deadline)
		hearing->alone_until = jiffies + 500;
	hearing->deadline = jiffies_of(until_ns);
}

static void hear_all(struct host *host, uint64_t until_ns)
{
	for (int i = 0; i < RF_BUCKETS; i++)
		hear(host, i, until_ns);
}

static struct rf_alone_seen seen_now(const struct host *host)
{
	struct rf_alone_seen seen = {
		.jiffies = jiffies_of(host->now),
		.tick_ns = TICK,
		.before_ns = host->now,
		.now = host->now + host->pause_ns,
	};

	memcpy(seen.bucket, host->hearing, sizeof(seen.bucket));
	return seen;
}

static void look(struct host *host)
{
	const struct rf_alone_seen seen = seen_now(host);

	rf_alone_look(&host->alone, &seen);
}

static void begin(struct host *host)
{
	const struct rf_alone_seen seen = seen_now(host);

	rf_alone_begin(&host->alone, &seen);
}

/* It receives everything until 10 s after its start. */
static struct host begin_heard(void)
{
	struct host host = {.now = BEGAN};

	hear_all(&host, BEGAN + 10 * SECOND);
	begin(&host);
	return host;
}

static void expect(const struct rf_alone_time *time, uint64_t times, uint64_t ns)
{
	assert_int_equal(time->times, times);
	assert_in_range(time->ns, ns, ns + times * TICK);
}

static void who_hears_is_never_alone(void **state)
{
	struct host host = begin_heard();

	(void)state;
	for (int i = 0; i < 100; i++) {
		host.now += SECOND;
		hear_all(&host, host.now + 2 * SECOND);
		look(&host);
	}
	expect(&host.alone.any, 0, 0);
	assert_int_equal(host.alone.any.since_ns, 0);
	assert_int_equal(host.alone.bucket[3].heard_until_ns, host.now + 2 * SECOND - TICK);
}

static void a_moment_alone_between_two_looks_is_counted(void **state)
{
	struct host host = begin_heard();
	const struct rf_alone_time *time = &host.alone.bucket[3].time;

	(void)state;
	host.now += 10 * SECOND + 8 * MS;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	expect(time, 1, 8 * MS);
	expect(&host.alone.any, 1, 8 * MS);
	assert_int_equal(time->since_ns, BEGAN + 10 * SECOND - TICK);
	assert_int_equal(time->until_ns, host.now);
}

/* The reported time is never less than the time offline. */
static void a_pause_while_it_looks_makes_no_time_alone_shorter(void **state)
{
	struct host host = begin_heard();
	const struct rf_alone_time *time = &host.alone.bucket[3].time;

	(void)state;
	host.pause_ns = SECOND;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	assert_int_equal(host.alone.bucket[3].heard_until_ns, host.now + 2 * SECOND - TICK);
	host.now += 3 * SECOND;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	assert_int_equal(time->since_ns, BEGAN + 2 * SECOND - TICK);
	assert_int_equal(time->until_ns, host.now + SECOND);
}

static void what_lasts_is_counted_once_and_grows(void **state)
{
	struct host host = begin_heard();
	const struct rf_alone_time *time = &host.alone.bucket[3].time;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		host.now = BEGAN + 10 * SECOND + i * SECOND;
		look(&host);
		expect(time, 1, i * SECOND);
		assert_int_equal(time->until_ns, 0);
	}
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	host.now += SECOND;
	look(&host);
	expect(time, 1, 3 * SECOND);
	host.now += 2 * SECOND;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	expect(time, 2, 4 * SECOND);
}

static void a_deadline_that_passed_already_is_another_time_alone(void **state)
{
	struct host host = begin_heard();

	(void)state;
	host.now += 11 * SECOND;
	hear(&host, 3, host.now + SECOND);
	host.now += 3 * SECOND;
	look(&host);
	assert_int_equal(host.alone.bucket[3].time.times, 2);
	assert_int_equal(host.alone.bucket[3].time.until_ns, 0);
}

static void one_bucket_makes_the_host_alone(void **state)
{
	struct host host = begin_heard();

	(void)state;
	host.now += 9 * SECOND;
	for (int i = 0; i < RF_BUCKETS; i++)
		if (i != 3 && i != 5)
			hear(&host, i, host.now + 60 * SECOND);
	hear(&host, 5, BEGAN + 11 * SECOND);
	host.now += 3 * SECOND; /* of 3, and since 1 s of 5 */
	hear(&host, 3, host.now + 60 * SECOND);
	look(&host);
	host.now += SECOND;
	hear(&host, 5, host.now + 60 * SECOND);
	look(&host);
	expect(&host.alone.bucket[3].time, 1, 2 * SECOND);
	expect(&host.alone.bucket[5].time, 1, 2 * SECOND);
	expect(&host.alone.any, 1, 3 * SECOND);
	expect(&host.alone.bucket[4].time, 0, 0);
}

static void who_has_heard_nothing_is_alone_since_it_began(void **state)
{
	struct host host = {.now = BEGAN};

	(void)state;
	begin(&host);
	assert_int_equal(host.alone.bucket[3].heard_until_ns, 0);
	host.now += 300 * MS;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	expect(&host.alone.any, 1, 300 * MS);
	assert_int_equal(host.alone.any.since_ns, BEGAN);
}

/* Of an earlier agent: the host is offline since then, and from now on that is counted. */
static void time_before_this_count_is_not_in_it(void **state)
{
	struct host host = begin_heard();

	(void)state;
	host.now += 20 * SECOND;
	begin(&host);
	host.now += SECOND;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	expect(&host.alone.any, 1, SECOND);
	assert_int_equal(host.alone.any.since_ns, BEGAN + 10 * SECOND - TICK);
}

static void a_fence_that_goes_ends_what_lasts(void **state)
{
	struct host host = begin_heard();

	(void)state;
	host.now += 12 * SECOND;
	look(&host);
	rf_alone_end(&host.alone, host.now);
	expect(&host.alone.any, 1, 2 * SECOND);
	host.now += 10 * SECOND;
	memset(host.hearing, 0, sizeof(host.hearing));
	begin(&host);
	host.now += SECOND;
	hear_all(&host, host.now + 2 * SECOND);
	look(&host);
	expect(&host.alone.any, 2, 3 * SECOND);
	expect(&host.alone.bucket[3].time, 2, 3 * SECOND);
	rf_alone_end(&host.alone, host.now);
	expect(&host.alone.any, 2, 3 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_hears_is_never_alone),
		cmocka_unit_test(a_moment_alone_between_two_looks_is_counted),
		cmocka_unit_test(a_pause_while_it_looks_makes_no_time_alone_shorter),
		cmocka_unit_test(what_lasts_is_counted_once_and_grows),
		cmocka_unit_test(a_deadline_that_passed_already_is_another_time_alone),
		cmocka_unit_test(one_bucket_makes_the_host_alone),
		cmocka_unit_test(who_has_heard_nothing_is_alone_since_it_began),
		cmocka_unit_test(time_before_this_count_is_not_in_it),
		cmocka_unit_test(a_fence_that_goes_ends_what_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
