// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of the packets that three hosts received: a source over L on all hosts together is recorded
 * on each, and no source within L is. claims.h asserts at each reply that no sum is too large.
 */
#include "claims.h"

static uint64_t random_state;

static uint64_t below(uint64_t bound)
{
	return unit_below(&random_state, bound);
}

static int setup_bans(void **state)
{
	setup(state);
	random_state = unit_seed();
	for (int h = 0; h < HOSTS; h++) {
		host[h].limit.bans = true;
		rf_claims_take_limits(&host[h].claims, now_ns(), &host[h].limit, 1);
	}
	return 0;
}

/* For this long, each host gets a packet each `every` ms. */
static void send_everywhere(uint64_t ms, uint64_t source, uint64_t every)
{
	static const uint32_t one_each[HOSTS] = {1, 1, 1};

	for (uint64_t i = 0; i < ms; i++)
		run_for(1, source, i % every ? quiet : one_each);
}

static uint32_t banned(uint64_t source)
{
	return host[0].window[source].banned + host[1].window[source].banned +
	       host[2].window[source].banned;
}

static void over_together(void **state)
{
	(void)state;
	send_everywhere(3000, 1, 2); /* 0.5 L on each */
	for (int h = 0; h < HOSTS; h++)
		assert_true(host[h].window[1].banned);
}

static void within_together(void **state)
{
	(void)state;
	send_everywhere(20000, 1, 4); /* 0.25 L on each */
	assert_int_equal(banned(1), 0);
	assert_true(sums_told > 100);
}

static void within_in_bursts(void **state)
{
	static const uint32_t a_burst[HOSTS] = {333, 333, 333};

	(void)state;
	for (int i = 0; i < 20; i++) {
		run_for(1, 1, a_burst);
		run_for(WINDOW_MS + below(3), 1, quiet);
	}
	assert_int_equal(banned(1), 0);
}

static void over_on_one(void **state)
{
	static const uint32_t one[HOSTS] = {2};

	(void)state;
	run_for(3000, 1, one);
	assert_true(host[0].window[1].banned);
	assert_int_equal(host[1].window[1].banned + host[2].window[1].banned, 0);
}

/* A request that was made before a window was read, but has a later timestamp. */
static void late_asks(void **state)
{
	static const uint32_t one[HOSTS] = {1};
	struct rf_fleet_ask ask;

	(void)state;
	run_for(20, 1, one);
	ask = ask_of(&host[0].window[1], 1);
	run_for(200, 1, one);
	ask.time_ns = now_ns() + 150 * MS;
	assert_true(rf_claims_ask(&host[0].claims, now_ns(), &ask));
	run_for(1000, 1, quiet);
	assert_int_equal(banned(1), 0);
	assert_true(sums_told > 1);
}

/*
 * Of each host a sum may lack a cell, twice the time between two readings, which is 200 ms at most
 * here, and how long a report is collected and under way: docs/fleet-proof.md.
 */
static void evenly(void **state)
{
	const uint64_t counts_ms = WINDOW_MS - WINDOW_MS / RF_SUM_CELLS - 1 - 2 * 200 - 55;
	const uint64_t each = LIMIT * WINDOW_MS / counts_ms / HOSTS + 1; /* in W */

	(void)state;
	for (uint64_t source = 0; source < SOURCES; source++) {
		run_for(below(100), source, quiet);
		for (uint64_t i = 0; i < 3 * WINDOW_MS; i++) {
			const uint32_t now = (i + 1) * each / WINDOW_MS - i * each / WINDOW_MS;
			const uint32_t at_once[HOSTS] = {now, now, now};

			run_for(1, source, at_once);
		}
		for (int h = 0; h < HOSTS; h++)
			assert_true(host[h].window[source].banned);
	}
}

static void lost_windows(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		send_everywhere(97, 1, 4);
		host[i % HOSTS].window[1] = (struct window){};
	}
	assert_int_equal(banned(1), 0);
}

static void random_sources(void **state)
{
	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint32_t each[HOSTS] = {0};

		each[below(HOSTS)] = below(40);
		run_for(1 + below(30), below(SOURCES), each);
		run_for(below(30), 0, quiet);
		host[0].loses_sums = i % 100 > 90;
	}
	assert_true(sums_told > 1000);
}

static void without_ban(void **state)
{
	(void)state;
	send_everywhere(3000, 1, 2);
	assert_int_equal(sums_told, 0);
	assert_int_equal(banned(1), 0);
}

static void without_answers(void **state)
{
	(void)state;
	for (int h = 0; h < HOSTS; h++)
		host[h].loses_sums = true;
	send_everywhere(2000, 1, 2);
	assert_int_equal(banned(1), 0);
	for (int h = 0; h < HOSTS; h++)
		host[h].loses_sums = false;
	send_everywhere(3000, 1, 2);
	assert_true(banned(1));
}

static void engine_forgets(void **state)
{
	(void)state;
	send_everywhere(500, 1, 2); /* 0.75 L */
	run++;
	send_everywhere(400, 1, 2);
	assert_int_equal(banned(1), 0);
	send_everywhere(9000, 1, 2);
	assert_true(banned(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(title, function, start) \
	{.name = title, .test_func = function, .setup_func = start, .teardown_func = teardown}
		ROW("a source over L on all hosts together is noted on each", over_together,
		    setup_bans),
		ROW("one within L on all hosts together never is", within_together, setup_bans),
		ROW("nor is one that sends L at once, each W", within_in_bursts, setup_bans),
		ROW("a source over L on one host is noted there alone", over_on_one, setup_bans),
		ROW("a source that sends evenly is banned from the stated rate on", evenly,
		    setup_bans),
		ROW("an ask that comes behind a later look tells nothing", late_asks, setup_bans),
		ROW("a window that is lost counts anew", lost_windows, setup_bans),
		ROW("no sum is more than what came, whatever comes", random_sources, setup_bans),
		ROW("limits without a ban tell nothing", without_ban, setup),
		ROW("what has no answer is lost, and the next counts", without_answers, setup_bans),
		ROW("an engine that forgets begins anew", engine_forgets, setup_bans),
#undef ROW
	};

	return cmocka_run_group_tests_name("fleet_sums", tests, NULL, NULL);
}
