// SPDX-License-Identifier: GPL-2.0
/*
 * Claims of three hosts against one ledger in each bucket: requests become shares, shares are
 * released, and the sum that all hosts pass stays within the bound.
 */
#include "claims.h"

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
	/* It reports its claim each 2 s, with a few requests at the start. */
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

static void send_evenly(uint64_t ms, int h)
{
	uint32_t each[HOSTS] = {0};

	for (uint64_t i = 0; i < ms; i += 10) { /* 0.9 L */
		each[h] = 9;
		run_for(1, 0, each);
		run_for(9, 0, quiet);
	}
}

/*
 * 0.9 L; the usage on the previous host is released as it leaves the window, which takes a quarter
 * of a second, at any time between two readings and two reports at which it moves.
 */
static void moves(void **state)
{
	const uint32_t a_second = LIMIT * 9 / 10, phases = 67;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < phases; i++) {
		teardown(state);
		setup(state);
		send_evenly(4000 + i * 30, 0);
		send_evenly(4000, 1);
		assert_in_range(host[1].window[0].dropped, 0, a_second * 36 / 100);
		assert_in_range(host[0].claims.counts.reports, 2, 24);
		lost += host[1].window[0].dropped;
	}
	assert_in_range(lost / phases, 0, a_second / 4);
}

/* Other hosts needed a part of its share, so it requests no more than the rest; but no less. */
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
	host[0].window[0] = (struct window){}; /* its passed packets still count in all_passed */
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

/* The server forgets a claim that is not reported again; its share has expired before that. */
static void is_unheard(void **state)
{
	static const uint32_t one[HOSTS] = {2};
	const uint64_t kept_ms = rf_wire_kept_ms(WINDOW_MS);

	(void)state;
	run_for(3000, 0, one);
	assert_true(host[0].window[0].share > LIMIT / 2);
	host[0].is_unheard = true;
	run_for(kept_ms / 2, 0, one);
	assert_true(host[0].window[0].share > LIMIT / 2);
	run_for(kept_ms / 4, 0, one);
	assert_int_equal(host[0].window[0].share, 0);
	assert_false(is_alone(&host[0], 0));
}

static void answers_lost(void **state)
{
	static const uint32_t everywhere[HOSTS] = {4, 4, 4};

	(void)state;
	for (int i = 0; i < 100; i++) {
		run_for(97, 0, everywhere);
		for (int h = 0; h < HOSTS; h++) {
			while (host[h].count)
				rf_claims_unanswered(&host[h].claims, host[h].sent[--host[h].count],
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

/* The reply, or the failure, of this many batches without any report in them. */
static void end_batches(uint32_t count, bool is_answered)
{
	struct rf_claims *claims = &host[0].claims;
	struct rf_report_batch batch = {};

	for (uint32_t i = 0; i < count; i++) {
		claims->under_way[0].count++;
		if (is_answered)
			rf_claims_answered(claims, &batch, NULL, now_ns());
		else
			rf_claims_unanswered(claims, &batch, now_ns());
	}
}

static void fewer_under_way(void **state)
{
	static const uint32_t one[HOSTS] = {5};
	const uint32_t *most = &host[0].claims.under_way[0].most;

	(void)state;
	host[0].is_unheard = true; /* no engine sees what no connection takes */
	run_for(500, 0, one);
	assert_in_range(host[0].claims.counts.failed, 1, 500);
	assert_int_equal(*most, RF_REPORTS_MAX);
	host[0].is_unheard = false;
	end_batches(100, false); /* as when a connection ends */
	assert_int_equal(*most, RF_REPORTS_MAX / 2);
	for (int i = 0; i < 5; i++) {
		run_for(100, 0, quiet);
		end_batches(1, false);
	}
	assert_int_equal(*most, RF_REPORTS_LEAST);
	end_batches(10 * RF_REPORTS_GROW, true);
	assert_int_equal(*most, RF_REPORTS_LEAST + 10);
	end_batches(10000, true);
	assert_int_equal(*most, RF_REPORTS_MAX);
	for (uint32_t i = 1; i < RF_BUCKETS; i++)
		assert_int_equal(host[0].claims.under_way[i].most, RF_REPORTS_MAX);
}

/* ---- a node that is slow, and has every other bucket ---- */

#define SLOW_MS 200 /* less than W/4: nothing is reported again */
#define ASKS_EACH_MS 4

static struct rf_report_batch *held[RF_REPORTS_MAX];
static uint32_t held_count, told[2]; /* reported requests: of the slow node, and of others */

static bool is_slow(uint32_t bucket)
{
	return bucket % 2;
}

static int any_windows(void *context, struct rf_fleet_record *record, uint32_t count)
{
	(void)context;
	for (uint32_t i = 0; i < count; i++) {
		record[i].result = RF_SHARE_DONE;
		record[i].used = 10;
	}
	return 0;
}

static bool report_to_slow(void *context, struct rf_report_batch *batch)
{
	struct host *mine = context;

	told[!is_slow(batch->bucket)] += batch->count;
	if (is_slow(batch->bucket))
		held[held_count++] = batch;
	else
		mine->sent[mine->count++] = batch;
	return true;
}

/* `excess`: more than each report wants. */
static void give_all(struct host *mine, uint32_t excess)
{
	struct rf_ledger_answer answers[RF_REPORT_ITEMS];

	for (int i = 0; i < mine->count; i++) {
		const struct rf_report_batch *batch = mine->sent[i];

		for (uint32_t j = 0; j < batch->count; j++)
			answers[j] = (struct rf_ledger_answer){
				.seq = batch->item[j].report.seq,
				.share = batch->item[j].report.wants + excess,
				.lower_to = UINT32_MAX,
			};
		rf_claims_answered(&mine->claims, mine->sent[i], answers, now_ns());
	}
	mine->count = 0;
}

/* New sources, at least one in each bucket; returns how many are not in the slow node's. */
static uint32_t ask_anew(struct host *mine, uint64_t from)
{
	const struct window window = {.incarnation = 77, .passed = 100, .dropped = 100};
	uint32_t others = 0;

	for (uint64_t source = from; source < from + ASKS_EACH_MS; source++) {
		const struct rf_fleet_ask ask = ask_of(&window, source);

		assert_true(rf_claims_ask(&mine->claims, now_ns(), &ask));
		others += !is_slow(rf_bucket(source, 0));
	}
	return others;
}

static void slow_node(void **state)
{
	static const uint64_t key[2] = {7, 7};
	struct host *mine = &host[0];
	uint32_t others = 0, node[RF_BUCKETS];

	(void)state;
	rf_claim_table_free(&mine->claims.table);
	assert_int_equal(rf_claim_table_make(&mine->claims.table, 4096, key, now_ns()), 0);
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		node[i] = is_slow(i) ? 20 : 11;
	rf_claim_table_take_nodes(&mine->claims.table, node);
	mine->claims.ports.windows = any_windows;
	mine->claims.ports.report = report_to_slow;
	told[0] = told[1] = held_count = 0;
	for (uint64_t ms = 0; ms < SLOW_MS; ms++) {
		now_ms++;
		give_all(mine, 0);
		rf_claims_turn(&mine->claims, now_ns());
		assert_int_equal(told[1], others); /* all that sent a request a ms before */
		others += ask_anew(mine, 1000 + ms * ASKS_EACH_MS);
	}
	assert_in_range(others, SLOW_MS, SLOW_MS * ASKS_EACH_MS - SLOW_MS);
	assert_in_range(told[0], RF_BUCKETS / 2, held_count * RF_REPORT_ITEMS);
	assert_in_range(held_count, RF_REPORTS_MAX / 4, RF_REPORTS_MAX / 2);
}

/* A reply with a damaged byte can grant any number. */
static void too_much_granted(void **state)
{
	struct host *mine = &host[0];

	(void)state;
	for (int ms = 0; ms < 1000 && !mine->count; ms++) {
		now_ms++;
		packet(mine, 0);
		rf_claims_turn(&mine->claims, now_ns());
	}
	assert_int_equal(mine->count, 1);
	give_all(mine, 1U << 24);
	assert_in_range(mine->window[0].share, 1, LIMIT - mine->limit.first);
}

/* ---- another key of buckets ---- */

static uint32_t buckets_alone(const struct host *mine)
{
	uint32_t alone = 0;

	for (int i = 0; i < RF_BUCKETS; i++)
		alone += rf_member_is_alone(&mine->claims.member[i], now_ns());
	return alone;
}

static void another_key(void **state)
{
	(void)state;
	rf_claims_free(&host[2].claims);
	start_host(2);
	host[2].claims.fingerprint = 99;
	run_for(3 * GRACE / MS + WINDOW_MS, 0, quiet);
	assert_int_equal(buckets_alone(&host[2]), RF_BUCKETS);
	assert_true(host[2].claims.foreign & 1);
	assert_true(host[2].claims.fleet_key == 0);
	assert_int_equal(buckets_alone(&host[0]) + buckets_alone(&host[1]), 0);
	host[0].is_cut = host[1].is_cut = true; /* as with the key of the fleet changed */
	run_for(4 * GRACE / MS + 2 * WINDOW_MS, 0, quiet);
	assert_int_equal(host[2].claims.foreign, 0);
	assert_int_equal(buckets_alone(&host[2]), 0);
	host[0].is_cut = host[1].is_cut = false;
	run_for(GRACE / MS, 0, quiet);
	assert_int_equal(buckets_alone(&host[0]) + buckets_alone(&host[1]), 2 * RF_BUCKETS);
	assert_true(host[0].claims.fleet_key == 99);
}

/* A source is in another bucket by another key, so a share in any bucket would be too much. */
static void another_key_in_one_bucket(void **state)
{
	(void)state;
	ledger[5].key = 99; /* as when a node of a cluster was lost, and hosts start concurrently */
	run_for(GRACE / MS + GRACE / MS / 4, 0, quiet); /* before those members are silent */
	for (int h = 0; h < HOSTS; h++)
		assert_int_equal(buckets_alone(&host[h]), RF_BUCKETS);
	ledger[5].key = 0;
	run_for(2 * GRACE / MS, 0, quiet);
	for (int h = 0; h < HOSTS; h++)
		assert_int_equal(buckets_alone(&host[h]), 0);
}

/* The first bucket is whose key it is: hosts of two keys that each have some buckets part. */
static void two_keys_in_two_buckets(void **state)
{
	(void)state;
	for (int h = 0; h < HOSTS; h++) {
		rf_claims_free(&host[h].claims);
		start_host(h);
	}
	host[2].claims.fingerprint = 99;
	host[1].is_cut = true;
	for (int i = 0; i < RF_BUCKETS; i++) {
		const int h = i < RF_BUCKETS / 2 ? 0 : 2;

		ledger[i] = (struct rf_ledger){.run = run, .newest = now_ms};
		ledger[i].key = host[h].claims.fingerprint;
		ledger[i].host[h].nonce = host[h].claims.member[i].nonce;
		ledger[i].host[h].heard = now_ms;
	}
	run_for(5 * (GRACE / MS + WINDOW_MS), 0, quiet);
	assert_int_equal(buckets_alone(&host[2]), RF_BUCKETS);
	assert_int_equal(host[0].claims.foreign, 0);
	assert_int_equal(buckets_alone(&host[0]), 0);
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
		ROW("a source that moves loses a quarter of a second of its traffic", moves),
		ROW("who had to share gets its part again after a pause", returns),
		ROW("a source that hops each 200 ms stays within the bound", hops),
		ROW("what is not used is given back, and forgotten", given_back),
		ROW("asks are answered while shares are taken back", not_blocked),
		ROW("who leaves gives all back within W", leaves),
		ROW("a host with another key is alone until the fleet has that key", another_key),
		ROW("another key in one bucket makes a host alone in all",
		    another_key_in_one_bucket),
		ROW("of two keys the one of the first bucket stays", two_keys_in_two_buckets),
		ROW("a window that is lost stays claimed for W", evicted),
		ROW("an engine that forgets learns before it gives", engine_forgets),
		ROW("a host that is cut off goes alone, and comes back", is_cut_off),
		ROW("a claim that cannot be told again is given back", is_unheard),
		ROW("reports without an answer are void", answers_lost),
		ROW("claims of another definition end", redefined),
		ROW("a full table takes no more", full_table),
		ROW("asks a second are bounded", bounded_asks),
		ROW("fewer reports are under way after some had no answer", fewer_under_way),
		ROW("a node that is slow holds up no report to another one", slow_node),
		ROW("a reply that grants more than the limit is capped", too_much_granted),
#undef ROW
	};

	return cmocka_run_group_tests_name("fleet_claims", tests, NULL, NULL);
}
