/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fleet of three hosts for tests of their claims: windows, which are rings of ms, one ledger in
 * each bucket, and packets, ms by ms. The sum that all hosts pass is checked after each ms.
 */
#ifndef RINGFENCE_UNIT_CLAIMS_H
#define RINGFENCE_UNIT_CLAIMS_H

#include "unit.h"

#include "fleet/claims.h"
#include "fleet/wire.h"
#include "ringfence/share.h"
#include "tests/fleet/model/sums.h"

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
	uint32_t passed, dropped, received;
	uint32_t banned;    /* so often it was noted that all hosts received more than L */
	uint32_t at[TIMES]; /* passed, by ms */
	uint64_t asked_ms;
	bool has_grown; /* since its request */
};

struct host {
	struct rf_claims claims;
	struct rf_fleet_limit limit;
	struct window window[SOURCES];
	struct rf_report_batch *sent[RF_REPORTS_MAX];
	int count;
	struct rf_sum_batch *sums[RF_BUCKETS];
	int sums_count;
	bool loses_sums;
	uint64_t settled_ms; /* when no program uses an old share; 0: not waiting */
	uint64_t beat_ms;
	bool is_cut, is_alone_ever;
	bool is_unheard; /* only its heartbeats arrive */
	int id;
};

static struct host host[HOSTS];
static struct rf_ledger ledger[RF_BUCKETS];
static struct rf_ledger_source ledger_source[SOURCES];
static uint64_t now_ms, stamp, run;
static uint32_t incarnations, settled, settling_ms;
static struct rf_sum ledger_sum[SOURCES];
static uint64_t sums_told;
static uint32_t all_passed[SOURCES][TIMES], all_received[SOURCES][TIMES];

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

static void write_share(struct window *window, uint32_t share)
{
	window->has_grown = window->has_grown || share > window->share;
	window->share = share;
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
			write_share(window, record[i].share);
		record[i].used = used_of(window);
		record[i].received = window->received;
		window->banned += record[i].bans && record[i].result == RF_SHARE_DONE;
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
		.received = window->received,
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
	window->received++;
	all_received[source][now_ms % TIMES]++;
	if (!is_alone(mine, source) && used < room) {
		window->at[now_ms % TIMES]++;
		all_passed[source][now_ms % TIMES]++;
		window->passed++;
	} else {
		window->dropped++;
	}
	if (used + 1 <= (window->share ? mine->limit.first + window->share * 3 / 4
				       : mine->limit.first / 2) ||
	    room >= LIMIT ||
	    now_ms < window->asked_ms + (window->has_grown ? RF_ASK_GROWING_NS : RF_ASK_NS) / MS)
		return;
	window->asked_ms = now_ms;
	window->has_grown = false;
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

	if (mine->is_cut || mine->is_unheard)
		return false;
	mine->sent[mine->count++] = batch;
	return true;
}

static bool take_sums(void *context, struct rf_sum_batch *batch)
{
	struct host *mine = context;

	if (mine->is_cut || mine->loses_sums)
		return false;
	mine->sums[mine->sums_count++] = batch;
	return true;
}

static uint32_t in_w(const uint32_t *by_ms)
{
	uint32_t sum = 0;

	for (uint64_t ms = now_ms - WINDOW_MS + 1; ms <= now_ms; ms++)
		sum += by_ms[ms % TIMES];
	return sum;
}

static void answer_sums(struct host *mine)
{
	struct rf_sum_answer answers[RF_REPORT_ITEMS];

	for (int i = 0; i < mine->sums_count; i++) {
		struct rf_sum_batch *batch = mine->sums[i];
		const struct rf_ledger_call call = call_of(mine, batch->bucket);

		for (uint32_t j = 0; j < batch->count; j++) {
			const struct rf_sum_report report =
				rf_claims_sum_report(&mine->claims, batch, j);
			const uint64_t source = batch->item[j].key.source[0];

			answers[j] = rf_sum_add(&ledger_sum[source], &ledger[batch->bucket], &call,
						&report);
			assert_true(answers[j].sum <= in_w(all_received[source]));
			sums_told++;
		}
		rf_claims_summed(&mine->claims, batch, answers, now_ns());
	}
	mine->sums_count = 0;
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
		if (!rf_claims_may_beat(&mine->claims, i))
			continue;

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
		const uint32_t sum = in_w(all_passed[i]);

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
		all_passed[i][now_ms % TIMES] = all_received[i][now_ms % TIMES] = 0;
	for (int h = 0; h < HOSTS; h++) {
		struct host *mine = &host[h];

		for (int i = 0; i < SOURCES; i++)
			mine->window[i].at[now_ms % TIMES] = 0;
		answer(mine);
		answer_sums(mine);
		if (mine->settled_ms && now_ms >= mine->settled_ms) {
			mine->settled_ms = 0;
			rf_claims_settled(&mine->claims, true, now_ns());
		}
		if (now_ms >= mine->beat_ms + GRACE / MS / 4)
			beat(mine);
		rf_claims_turn(&mine->claims, now_ns());
	}
}

/* For this long, each host gets this many packets of a source a ms. */
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
	mine->claims.ports = (struct rf_claims_ports){.context = mine,
						      .windows = windows,
						      .settle = settle,
						      .report = report,
						      .sums = take_sums};
	mine->limit = (struct rf_fleet_limit){
		.name = "any",
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
	memset(ledger_sum, 0, sizeof(ledger_sum));
	memset(all_passed, 0, sizeof(all_passed));
	memset(all_received, 0, sizeof(all_received));
	sums_told = 0;
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

#endif /* RINGFENCE_UNIT_CLAIMS_H */
