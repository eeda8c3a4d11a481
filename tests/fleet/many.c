// SPDX-License-Identifier: GPL-2.0
/*
 * The messages of many hosts to a fleet server, by the real rules of the agent and of the ledger:
 * hosts with their claims, one ledger, and sources that send to them. Time is simulated; a report
 * is answered a step later, a heartbeat immediately. It prints the messages of the second half, and
 * how many updates a host made of one source at most in the 10 s after 5 s of it.
 *
 *   many HOSTS SOURCES all|one|hops|bursts LOAD
 *
 * Each source sends LOAD percent of L a second: evenly over all hosts; to one host each; to one
 * host after the other, each for 200 ms; or to all hosts within 32 ms, each 2 s.
 *
 * Windows are rings of cells, like in the data path, but filled evenly within a step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/claims.h"
#include "ringfence/share.h"
#include "tests/fleet/model/ledger.h"

#define MS 1000000ULL
#define STEP_MS 4
#define START_MS 100000
#define RUN_MS 60000	   /* 100 hosts come to rest within half of it, which is not measured */
#define EARLY_FROM_MS 8000 /* the ledgers learn in the first 2.5 s */
#define EARLY_TO_MS 18000
#define CELLS 16
#define LIMIT 20000
#define WINDOW_MS 1000
#define GRACE_MS 2000
#define HOP_MS 200
#define BURST_MS 32
#define PERIOD_MS 2000
#define LIMIT_ID 5
#define TAG 9

enum pattern {
	ALL,
	ONE,
	HOPS,
	BURSTS,
};

static const char *const patterns[] = {"all", "one", "hops", "bursts"};

struct window {
	uint32_t incarnation, share;
	uint32_t cell[CELLS];
	uint64_t cell_at, passed, dropped, asked_ms;
	uint32_t early_updates;
	bool grew;
	double owed; /* packets that a step did not make whole */
};

struct host {
	struct rf_claims claims;
	struct window *window; /* of each source */
	struct rf_report_batch *sent[RF_REPORTS_MAX];
	int count;
	bool settles;
	uint64_t beat_ms;
};

struct figures {
	uint64_t beats, calls, updates;
};

static struct host *host;
static struct rf_ledger ledger[RF_BUCKETS];
static struct rf_ledger_source *kept;
static struct rf_fleet_limit limit;
static struct figures figures;
static uint64_t now_ms = START_MS, stamp;
static uint32_t hosts, sources, incarnations;

/* ---- windows ---- */

static uint32_t used_of(struct window *window)
{
	const uint64_t cell = now_ms * CELLS / WINDOW_MS;
	uint32_t used = 0;

	for (uint64_t at = window->cell_at + 1; at <= cell && at <= window->cell_at + CELLS; at++)
		window->cell[at % CELLS] = 0;
	window->cell_at = cell;
	for (int i = 0; i < CELLS; i++)
		used += window->cell[i];
	return used;
}

static int windows(void *context, struct rf_fleet_record *record, uint32_t count)
{
	struct host *mine = context;

	for (uint32_t i = 0; i < count; i++) {
		struct window *window = &mine->window[record[i].source[0]];

		record[i].result = RF_SHARE_DONE;
		if (record[i].incarnation != window->incarnation) {
			record[i].result = RF_SHARE_OTHER;
			continue;
		}
		if (record[i].writes) {
			window->grew = record[i].share > window->share;
			window->share = record[i].share;
		}
		record[i].used = used_of(window);
		record[i].passed = window->passed;
		record[i].dropped = window->dropped;
	}
	return 0;
}

/* As rf_wants_more() and rf_may_ask() have it. */
static bool asks(struct window *window, uint32_t used, bool is_refused)
{
	const uint32_t share = window->share;
	const uint32_t enough = share ? limit.first + share - share / 4 : limit.first / 2;

	if (!is_refused && used <= enough)
		return false;
	if (rf_fleet_room(LIMIT, limit.first, share) >= LIMIT ||
	    now_ms - window->asked_ms < (window->grew ? RF_ASK_GROWING_NS : RF_ASK_NS) / MS)
		return false;
	window->asked_ms = now_ms;
	window->grew = false;
	return true;
}

static void receive(struct host *mine, uint32_t source, double packets)
{
	struct window *window = &mine->window[source];
	const uint64_t room = rf_fleet_room(LIMIT, limit.first, window->share);
	const uint32_t used = used_of(window);
	uint32_t come, passed;

	window->owed += packets;
	come = window->owed;
	window->owed -= come;
	if (!come)
		return;
	if (!window->incarnation)
		window->incarnation = rf_incarnation(++incarnations, rf_bucket(source, 0));
	passed = used >= room ? 0 : come < room - used ? come : room - used;
	window->cell[window->cell_at % CELLS] += passed;
	window->passed += passed;
	window->dropped += come - passed;
	if (asks(window, used + passed, passed < come))
		rf_claims_ask(&mine->claims, now_ms * MS,
			      &(struct rf_fleet_ask){.source = {source},
						     .limit_id = LIMIT_ID,
						     .tag = TAG,
						     .incarnation = window->incarnation,
						     .used = used + passed,
						     .share = window->share,
						     .passed = window->passed,
						     .dropped = window->dropped,
						     .time_ns = now_ms * MS});
}

/* ---- the engine ---- */

static struct rf_ledger_call call_of(const struct host *mine, uint32_t bucket)
{
	const struct rf_member *member = &mine->claims.member[bucket];

	return (struct rf_ledger_call){.now = now_ms,
				       .run = 1,
				       .stamp = ++stamp,
				       .grace = GRACE_MS,
				       .window = WINDOW_MS,
				       .nonce = member->nonce,
				       .joined = member->joined,
				       .slot = member->slot};
}

static void beat(struct host *mine)
{
	for (uint32_t bucket = 0; bucket < RF_BUCKETS; bucket++) {
		const struct rf_ledger_beat says =
			rf_claims_beat(&mine->claims, bucket, now_ms * MS);
		const struct rf_ledger_call call = call_of(mine, bucket);
		const struct rf_ledger_heard heard = rf_ledger_beat(&ledger[bucket], &call, &says);

		rf_claims_heard(&mine->claims, bucket, now_ms * MS,
				mine->claims.member[bucket].beat, now_ms * MS, &heard);
		figures.beats++;
	}
}

static bool send_report(void *context, struct rf_report_batch *batch)
{
	struct host *mine = context;

	mine->sent[mine->count++] = batch;
	figures.calls++;
	figures.updates += batch->count;
	if (now_ms >= START_MS + EARLY_FROM_MS && now_ms < START_MS + EARLY_TO_MS)
		for (uint32_t i = 0; i < batch->count; i++)
			mine->window[batch->item[i].claimant->key.source[0]].early_updates++;
	return true;
}

static void answer(struct host *mine, struct rf_report_batch *batch)
{
	const struct rf_ledger_call call = call_of(mine, batch->bucket);
	const struct rf_ledger_limit of = {limit.pool, limit.first, WINDOW_MS};
	struct rf_ledger_answer answers[RF_REPORT_ITEMS];

	for (uint32_t i = 0; i < batch->count; i++)
		answers[i] = rf_ledger_report(&ledger[batch->bucket],
					      &kept[batch->item[i].claimant->key.source[0]], &call,
					      &of, &batch->item[i].report);
	rf_claims_answered(&mine->claims, batch, answers, now_ms * MS);
}

static bool settle(void *context)
{
	struct host *mine = context;

	mine->settles = true;
	return true;
}

/* ---- time ---- */

static void step_host(struct host *mine)
{
	struct rf_report_batch *sent[RF_REPORTS_MAX];
	const int count = mine->count;

	memcpy(sent, mine->sent, sizeof(sent));
	mine->count = 0;
	if (mine->settles)
		rf_claims_settled(&mine->claims, true, now_ms * MS);
	mine->settles = false;
	for (int i = 0; i < count; i++)
		answer(mine, sent[i]);
	if (now_ms >= mine->beat_ms) {
		mine->beat_ms = now_ms + GRACE_MS / 4;
		beat(mine);
	}
	rf_claims_turn(&mine->claims, now_ms * MS);
}

/* The packets that a source sends to a host in a step, out of all its packets in it. */
static double part_of(enum pattern pattern, uint32_t source, uint32_t number)
{
	switch (pattern) {
	case ALL:
		return 1.0 / hosts;
	case ONE:
		return source % hosts == number;
	case HOPS:
		return (source + now_ms / HOP_MS) % hosts == number;
	case BURSTS:
		return now_ms % PERIOD_MS < BURST_MS ? (double)PERIOD_MS / BURST_MS / hosts : 0;
	}
	return 0;
}

static void step(enum pattern pattern, double packets)
{
	for (uint32_t i = 0; i < hosts; i++) {
		for (uint32_t source = 0; source < sources; source++)
			receive(&host[i], source, packets * part_of(pattern, source, i));
		step_host(&host[i]);
	}
}

/* ---- start and end ---- */

static bool make_host(uint32_t number)
{
	static const uint64_t hash_key[2] = {1, 2};
	struct host *mine = &host[number];

	mine->window = calloc(sources, sizeof(*mine->window));
	mine->beat_ms = now_ms + number % (GRACE_MS / 4);
	if (!mine->window || rf_claims_make(&mine->claims, 2 * sources, hash_key, now_ms * MS))
		return false;
	mine->claims.ports = (struct rf_claims_ports){mine, windows, settle, send_report};
	rf_claims_take_limits(&mine->claims, now_ms * MS, &limit, 1);
	rf_claims_take_slot(&mine->claims, number, number + 1, GRACE_MS * MS);
	return true;
}

static bool make_all(void)
{
	limit = (struct rf_fleet_limit){.name = "any",
					.limit_id = LIMIT_ID,
					.tag = TAG,
					.limit = LIMIT,
					.first = rf_fleet_first(LIMIT, hosts),
					.window_ns = WINDOW_MS * MS,
					.per4 = 32,
					.per6 = 64};
	limit.pool = rf_fleet_pool(LIMIT, hosts, limit.first);
	host = calloc(hosts, sizeof(*host));
	kept = calloc(sources, sizeof(*kept));
	for (uint32_t i = 0; i < hosts; i++)
		if (!host || !kept || !make_host(i))
			return false;
	return true;
}

static uint64_t passed(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < hosts; i++)
		for (uint32_t source = 0; source < sources; source++)
			sum += host[i].window[source].passed;
	return sum;
}

static uint32_t most_early_updates(void)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < hosts; i++)
		for (uint32_t source = 0; source < sources; source++)
			if (host[i].window[source].early_updates > most)
				most = host[i].window[source].early_updates;
	return most;
}

int main(int argc, char **argv)
{
	const uint64_t end_ms = START_MS + RUN_MS, half_ms = end_ms - RUN_MS / 2;
	const double seconds = RUN_MS / 2 / 1000.0;
	uint64_t passed_before = 0;
	enum pattern pattern = ALL;

	if (argc != 5)
		return 2;
	hosts = atoi(argv[1]);
	sources = atoi(argv[2]);
	while (pattern < BURSTS && strcmp(argv[3], patterns[pattern]) != 0)
		pattern++;
	if (!hosts || hosts > RF_FLEET_HOSTS_MAX || !make_all())
		return 1;
	for (; now_ms < end_ms; now_ms += STEP_MS) {
		if (now_ms == half_ms) {
			passed_before = passed();
			figures = (struct figures){};
		}
		step(pattern, LIMIT * atof(argv[4]) / 100 * STEP_MS / 1000);
	}
	printf("%u hosts, %u sources over %s, %s %% of L: %.0f heartbeats/s, %.0f calls/s, "
	       "%.0f updates/s, %.2f a source, %.3f a host and source; passed %.1f %% of L; "
	       "at most %u updates of one in 10 s after 5 s\n",
	       hosts, sources, argv[3], argv[4], figures.beats / seconds, figures.calls / seconds,
	       figures.updates / seconds, figures.updates / seconds / sources,
	       figures.updates / seconds / sources / (pattern == ONE ? 1 : hosts),
	       (passed() - passed_before) / seconds / sources / LIMIT * 100, most_early_updates());
	return 0;
}
