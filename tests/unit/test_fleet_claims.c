// SPDX-License-Identifier: GPL-2.0
/*
 * Claims of three hosts against one ledger in each bucket: asks become shares, shares are given
 * back, and what all hosts pass together stays within the bound. Windows are rings of ms.
 */
#include "unit.h"

#include "fleet/claims.h"
#include "ringfence/share.h"

#define HOSTS 3
#define SOURCES 4
#define LIMIT 1000
#define WINDOW_MS 1000
#define GRACE (2 * SECOND)
#define LIMIT_ID 5
#define TAG 9
#define TIMES 4096

struct window {
	uint32_t incarnation, share, tag;
	uint32_t passed, dropped;
	uint32_t at[TIMES]; /* passed, by ms */
	uint64_t asked_ms;
};

struct host {
	struct rf_claims claims;
	struct rf_fleet_limit limit;
	struct window window[SOURCES];
	struct rf_report_batch *sent[RF_REPORTS_MAX];
	int count;
	uint64_t settled_ms; /* when no program uses an old share; 0: nobody waits */
	uint64_t beat_ms;
	bool is_cut, is_alone_ever;
	int id;
};

static struct host host[HOSTS];
static struct rf_ledger ledger[RF_BUCKETS];
static struct rf_ledger_source ledger_source[SOURCES];
static uint64_t now_ms, stamp, run;
static uint32_t incarnations, settled, settling_ms;
static uint32_t all_passed[SOURCES][TIMES];

static uint64_t now_ns(void)
{
	return now_ms * MS;
}

/* ---- windows ---- */

static uint32_t used_of(const struct window *window)
{
	uint32_t used = 0;

	for (uint64_t ms = now_ms - WINDOW_MS + 1; ms <= now_ms; ms++)
		used += window->at[ms % TIMES];
	return used;
}

static int windows(void *context, struct rf_fleet_record *record, uint32_t count)
{
	struct host *mine = context;

	for (uint32_t i = 0; i < count; i++) {
		struct window *window = &mine->window[record[i].source[0]];

		record[i].result = RF_SHARE_DONE;
		if (!window->incarnation)
			record[i].result = RF_SHARE_GONE;
		else if (record[i].incarnation != window->incarnation)
			record[i].result = RF_SHARE_OTHER;
		else if (record[i].writes)
			window->share = record[i].share;
		record[i].used = used_of(window);
	}
	return 0;
}

static bool settle(void *context)
{
	struct host *mine = context;

	assert_int_equal(mine->settled_ms, 0); /* one wait at a time */
	mine->settled_ms = now_ms + settling_ms;
	settled++;
	return true;
}

static struct rf_fleet_ask ask_of(const struct window *window, uint64_t source)
{
	return (struct rf_fleet_ask){
		.source = {source},
		.limit_id = LIMIT_ID,
		.tag = TAG,
		.incarnation = window->incarnation,
		.used = used_of(window),
		.share = window->share,
		.passed = window->passed,
		.dropped = window->dropped,
		.time_ns = now_ns(),
	};
}

static bool is_alone(const struct host *mine, uint64_t source)
{
	return rf_member_is_alone(&mine->claims.member[rf_bucket(source, 0)], now_ns());
}

static void packet(struct host *mine, uint64_t source)
{
	struct window *window = &mine->window[source];
	const uint32_t used = used_of(window);
	const uint64_t room = rf_fleet_room(LIMIT, mine->limit.first, window->share);
	struct rf_fleet_ask ask;

	if (!window->incarnation)
		window->incarnation = rf_incarnation(++incarnations, rf_bucket(source, 0));
	if (!is_alone(mine, source) && used < room) {
		window->at[now_ms % TIMES]++;
		all_passed[source][now_ms % TIMES]++;
		window->passed++;
	} else {
		window->dropped++;
	}
	if (used + 1 <= (window->share ? mine->limit.first + window->share * 3 / 4
				       : mine->limit.first / 2) ||
	    room >= LIMIT || now_ms < window->asked_ms + 2)
		return;
	window->asked_ms = now_ms;
	ask = ask_of(window, source);
	assert_true(rf_claims_ask(&mine->claims, now_ns(), &ask));
}

/* ---- the engine ---- */

static struct rf_ledger_call call_of(const struct host *mine, uint32_t bucket)
{
	const struct rf_member *member = &mine->claims.member[bucket];

	return (struct rf_ledger_call){
		.now = now_ms,
		.run = run,
		.stamp = ++stamp,
		.grace = GRACE / MS,
		.window = WINDOW_MS,
		.nonce = member->nonce,
		.joined = member->joined,
		.slot = member->slot,
	};
}

static bool report(void *context, struct rf_report_batch *batch)
{
	struct host *mine = context;

	if (!mine->is_cut)
		mine->sent[mine->count++] = batch;
	return !mine->is_cut;
}

static void answer(struct host *mine)
{
	struct rf_ledger_answer answers[RF_REPORT_ITEMS];
	const struct rf_ledger_limit limit = {mine->limit.pool, mine->limit.first, WINDOW_MS};

	for (int i = 0; i < mine->count; i++) {
		struct rf_report_batch *batch = mine->sent[i];
		const struct rf_ledger_call call = call_of(mine, batch->bucket);

		for (uint32_t j = 0; j < batch->count; j++)
			answers[j] = rf_ledger_report(
				&ledger[batch->bucket],
				&ledger_source[batch->item[j].claimant->key.source[0]], &call,
				&limit, &batch->item[j].report);
		rf_claims_answered(&mine->claims, batch, answers, now_ns());
	}
	mine->count = 0;
}

static void beat(struct host *mine)
{
	for (int i = 0; i < RF_BUCKETS && !mine->is_cut; i++) {
		const struct rf_ledger_beat says = rf_claims_beat(&mine->claims, i, now_ns());
		const struct rf_ledger_call call = call_of(mine, i);
		const struct rf_ledger_heard heard = rf_ledger_beat(&ledger[i], &call, &says);

		rf_claims_heard(&mine->claims, i, now_ns(), mine->claims.member[i].beat, now_ns(),
				&heard);
	}
	mine->beat_ms = now_ms;
}

static void judge(uint64_t most)
{
	for (int i = 0; i < SOURCES; i++) {
		uint32_t sum = 0;

		for (uint64_t ms = now_ms - WINDOW_MS + 1; ms <= now_ms; ms++)
			sum += all_passed[i][ms % TIMES];
		if (sum > most)
			fail_msg("source %d: %u passed in W, by %" PRIu64 " ms", i, sum, now_ms);
	}
}

static uint64_t bound(void)
{
	return rf_fleet_bound(LIMIT, HOSTS, rf_fleet_first(LIMIT, HOSTS));
}

static void pass_ms(void)
{
	now_ms++;
	for (int i = 0; i < SOURCES; i++)
		all_passed[i][now_ms % TIMES] = 0;
	for (int h = 0; h < HOSTS; h++) {
		struct host *mine = &host[h];

		for (int i = 0; i < SOURCES; i++)
			mine->window[i].at[now_ms % TIMES] = 0;
		answer(mine);
		if (mine->settled_ms && now_ms >= mine->settled_ms) {
			mine->settled_ms = 0;
			rf_claims_settled(&mine->claims, true, now_ns());
		}
		if (now_ms >= mine->beat_ms + GRACE / MS / 4)
			beat(mine);
		rf_claims_turn(&mine->claims, now_ns());
	}
}

/* For so long, each host gets so many packets of a source a ms. */
static void run_for(uint64_t ms, uint64_t source, const uint32_t each[HOSTS])
{
	for (uint64_t i = 0; i < ms; i++) {
		pass_ms();
		for (int h = 0; h < HOSTS; h++)
			for (uint32_t p = 0; p < each[h]; p++)
				packet(&host[h], source);
		judge(bound());
	}
}

static const uint32_t quiet[HOSTS] = {0};

static void start_host(int h)
{
	const uint64_t key[2] = {h, 7};
	struct host *mine = &host[h];

	*mine = (struct host){.id = h};
	assert_int_equal(rf_claims_make(&mine->claims, 64, key, now_ns()), 0);
	mine->claims.ports = (struct rf_claims_ports){mine, windows, settle, report};
	mine->limit = (struct rf_fleet_limit){
		.name = "all",
		.definition = 4711,
		.limit_id = LIMIT_ID,
		.tag = TAG,
		.limit = LIMIT,
		.first = rf_fleet_first(LIMIT, HOSTS),
		.window_ns = WINDOW_MS * MS,
	};
	mine->limit.pool = rf_fleet_pool(LIMIT, HOSTS, mine->limit.first);
	rf_claims_take_limits(&mine->claims, now_ns(), &mine->limit, 1);
	rf_claims_take_slot(&mine->claims, h, stamp + h + 100, GRACE);
}

static int setup(void **state)
{
	(void)state;
	memset(ledger, 0, sizeof(ledger));
	memset(ledger_source, 0, sizeof(ledger_source));
	memset(all_passed, 0, sizeof(all_passed));
	now_ms = 1000000;
	stamp = incarnations = settled = 0;
	settling_ms = 20;
	run = 1;
	for (int h = 0; h < HOSTS; h++)
		start_host(h);
	run_for(4000, 0, quiet);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int h = 0; h < HOSTS; h++)
		rf_claims_free(&host[h].claims);
	return 0;
}

static uint32_t share_sum(uint64_t source)
{
	uint32_t sum = 0;

	for (int h = 0; h < HOSTS; h++)
		sum += host[h].window[source].share;
	return sum;
}

static uint32_t counted(const struct host *mine, uint64_t source)
{
	return mine->window[source].passed;
}

/* ---- tests ---- */

static void joins(void **state)
{
	(void)state;
	for (int h = 0; h < HOSTS; h++)
		for (int i = 0; i < SOURCES; i++)
			assert_false(is_alone(&host[h], i));
}

static void pinned(void **state)
{
	static const uint32_t even[HOSTS] = {1};
	uint32_t before;

	(void)state;
	host[0].window[0] = (struct window){};
	for (int i = 0; i < 10; i++) { /* 0.9 L */
		run_for(9, 0, even);
		run_for(1, 0, quiet);
	}
	before = host[0].window[0].dropped;
	assert_in_range(before, 0, 20);
	for (int i = 0; i < 500; i++) {
		run_for(9, 0, even);
		run_for(1, 0, quiet);
	}
	assert_int_equal(host[0].window[0].dropped, before);
	/* Its claim is told each 2 s, with a few asks at the start. */
	assert_in_range(host[0].claims.counts.reports, 2, 20);
}

static void flood(void **state)
{
	static const uint32_t everywhere[HOSTS] = {5, 5, 5};
	uint32_t before;

	(void)state;
	run_for(10000, 1, everywhere);
	before = counted(&host[0], 1) + counted(&host[1], 1) + counted(&host[2], 1);
	assert_in_range(before, 8 * LIMIT, 11 * LIMIT);
	for (int h = 0; h < HOSTS; h++) {
		const uint64_t reports = host[h].claims.counts.reports;

		run_for(2000, 1, everywhere);
		assert_in_range(host[h].claims.counts.reports - reports, 0, 5);
	}
}

static void contested(void **state)
{
	static const uint32_t one[HOSTS] = {5}, both[HOSTS] = {5, 5};

	(void)state;
	run_for(3000, 0, one);
	assert_true(host[0].window[0].share >= LIMIT * 9 / 10);
	run_for(15000, 0, both);
	assert_in_range(host[1].window[0].share, LIMIT * 4 / 10, LIMIT * 6 / 10);
	assert_in_range(host[0].window[0].share, LIMIT * 4 / 10, LIMIT * 6 / 10);
}

/* 0.9 L; what it used on the host before is given back as it leaves the window. */
static void moves(void **state)
{
	static const uint32_t here[HOSTS] = {9}, there[HOSTS] = {0, 9};

	(void)state;
	for (int i = 0; i < 800; i++) {
		run_for(1, 0, i < 400 ? here : there);
		run_for(9, 0, quiet);
	}
	assert_in_range(host[1].window[0].dropped, 0, LIMIT * 36 / 100);
	assert_in_range(host[0].claims.counts.reports, 2, 20);
}

/* Others wanted a part of what it had, so it wants no more than was left to it; but no less. */
static void returns(void **state)
{
	static const uint32_t one[HOSTS] = {5}, both[HOSTS] = {5, 5};

	(void)state;
	run_for(2000, 0, one);
	run_for(4000, 0, both);
	run_for(1500, 0, quiet);
	assert_int_equal(host[0].window[0].share, 0);
	run_for(60, 0, one);
	assert_in_range(host[0].window[0].share, LIMIT / 8, LIMIT);
}

static void hops(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		uint32_t each[HOSTS] = {0};

		each[i % HOSTS] = 8;
		run_for(200, 0, each);
	}
	assert_in_range(counted(&host[0], 0) + counted(&host[1], 0) + counted(&host[2], 0),
			4 * LIMIT, 13 * LIMIT);
}

static void given_back(void **state)
{
	static const uint32_t one[HOSTS] = {5};

	(void)state;
	run_for(3000, 2, one);
	assert_true(share_sum(2) > LIMIT / 2);
	run_for(6000, 2, quiet);
	assert_int_equal(share_sum(2), 0);
	assert_int_equal(host[0].claims.table.count, 0);
	assert_true(settled > 0);
}

static void not_blocked(void **state)
{
	static const uint32_t one[HOSTS] = {5};

	(void)state;
	settling_ms = 600;
	run_for(3000, 2, one);
	for (int i = 0; i < 2000 && !host[0].settled_ms; i++)
		run_for(1, 2, quiet);
	assert_true(host[0].settled_ms > now_ms + 500);
	run_for(20, 3, one);
	assert_true(host[0].window[3].share > LIMIT / 32);
	run_for(6000, 2, quiet);
	assert_int_equal(share_sum(2), 0);
}

/* What host 0 has goes to host 1 within W, not after G + W. */
static void leaves(void **state)
{
	static const uint32_t one[HOSTS] = {5}, both[HOSTS] = {5, 5};

	(void)state;
	run_for(3000, 0, one);
	rf_claims_leave(&host[0].claims);
	run_for(100, 0, both);
	assert_int_equal(host[0].window[0].share, 0);
	run_for(WINDOW_MS + 400, 0, both);
	assert_int_equal(host[0].claims.table.count, 0);
	assert_int_equal(host[0].window[0].share, 0);
	host[0].is_cut = true;
	run_for(GRACE / MS / 4, 0, both);
	assert_true(host[1].window[0].share >= LIMIT * 9 / 10);
}

static void evicted(void **state)
{
	static const uint32_t one[HOSTS] = {5}, other[HOSTS] = {0, 5};

	(void)state;
	run_for(3000, 0, one);
	host[0].window[0] = (struct window){}; /* what it passed counts in all_passed still */
	run_for(20, 0, one);
	assert_int_equal(host[0].claims.counts.lost, 1);
	for (int i = 0; i < 500; i++) {
		pass_ms();
		for (int p = 0; p < 5; p++)
			packet(&host[1], 0);
		judge(bound() + host[0].limit.first); /* the new window's */
	}
	run_for(3000, 0, other);
	assert_true(host[1].window[0].share > LIMIT / 2);
}

static void engine_forgets(void **state)
{
	static const uint32_t everywhere[HOSTS] = {2, 3, 4};

	(void)state;
	run_for(5000, 0, everywhere);
	memset(ledger, 0, sizeof(ledger));
	memset(ledger_source, 0, sizeof(ledger_source));
	run++;
	run_for(10000, 0, everywhere);
	for (int h = 0; h < HOSTS; h++)
		assert_false(is_alone(&host[h], 0));
	assert_true(share_sum(0) > LIMIT / 2);
}

static void is_cut_off(void **state)
{
	static const uint32_t everywhere[HOSTS] = {4, 4, 4};

	(void)state;
	run_for(5000, 0, everywhere);
	host[0].is_cut = true;
	run_for(GRACE / MS + 100, 0, everywhere);
	assert_true(is_alone(&host[0], 0));
	run_for(8000, 0, everywhere);
	host[0].is_cut = false;
	run_for(8000, 0, everywhere);
	assert_false(is_alone(&host[0], 0));
	assert_true(host[0].window[0].share > LIMIT / 10);
}

static void answers_lost(void **state)
{
	static const uint32_t everywhere[HOSTS] = {4, 4, 4};

	(void)state;
	for (int i = 0; i < 100; i++) {
		run_for(97, 0, everywhere);
		for (int h = 0; h < HOSTS; h++) {
			while (host[h].count)
				rf_claims_failed(&host[h].claims, host[h].sent[--host[h].count],
						 now_ns());
		}
	}
	assert_in_range(share_sum(0), 1, LIMIT);
}

static void redefined(void **state)
{
	static const uint32_t one[HOSTS] = {5};
	struct rf_fleet_limit changed = host[0].limit;
	struct rf_fleet_ask ask;

	(void)state;
	run_for(3000, 0, one);
	ask = ask_of(&host[0].window[0], 0);
	changed.tag++;
	changed.definition++;
	rf_claims_take_limits(&host[0].claims, now_ns(), &changed, 1);
	assert_false(rf_claims_ask(&host[0].claims, now_ns(), &ask));
	host[0].window[0].share = 0; /* by its tag */
	run_for(4000, 0, quiet);
	assert_int_equal(host[0].claims.table.count, 0);
}

static void full_table(void **state)
{
	struct window window = {.incarnation = 77};

	(void)state;
	for (int i = 0; i < 100; i++) {
		const struct rf_fleet_ask ask = ask_of(&window, 1000 + i);

		assert_true(rf_claims_ask(&host[0].claims, now_ns(), &ask));
	}
	assert_int_equal(host[0].claims.table.count, 64);
	assert_int_equal(host[0].claims.counts.asks_no_room, 36);
}

static void bounded_asks(void **state)
{
	struct window window = {.incarnation = 77};

	(void)state;
	host[0].claims.asks_each_s = 10;
	for (int i = 0; i < 60; i++) {
		const struct rf_fleet_ask ask = ask_of(&window, 1000 + i);

		assert_true(rf_claims_ask(&host[0].claims, now_ns(), &ask));
	}
	assert_int_equal(host[0].claims.counts.asks_put_off, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(title, function) \
	{.name = title, .test_func = function, .setup_func = setup, .teardown_func = teardown}
		ROW("hosts that hear the engine are not alone", joins),
		ROW("a source at 0.9 L on one host loses little, and is told seldom", pinned),
		ROW("a flood over all hosts gets L, and few reports", flood),
		ROW("the second of two hosts gets an even part", contested),
		ROW("a source that moves loses 0.4 s of its traffic at most", moves),
		ROW("who had to share gets its part again after a pause", returns),
		ROW("a source that hops each 200 ms stays within the bound", hops),
		ROW("what is not used is given back, and forgotten", given_back),
		ROW("asks are answered while shares are taken back", not_blocked),
		ROW("who leaves gives all back within W", leaves),
		ROW("a window that is lost stays claimed for W", evicted),
		ROW("an engine that forgets learns before it gives", engine_forgets),
		ROW("a host that is cut off goes alone, and comes back", is_cut_off),
		ROW("reports without an answer are void", answers_lost),
		ROW("claims of another definition end", redefined),
		ROW("a full table takes no more", full_table),
		ROW("asks a second are bounded", bounded_asks),
#undef ROW
	};

	return cmocka_run_group_tests_name("fleet_claims", tests, NULL, NULL);
}
