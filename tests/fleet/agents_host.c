// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts, each with a fence and an agent: what user/agent does around the claims, without a kernel
 * and sockets.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"
#include "ringfence/share.h"

#define MS 1000000ULL
#define LIMIT_ID 5
#define ALL_BUCKETS ((1U << RF_BUCKETS) - 1)
#define CUT_REPORTS_MS 1200000

/* A call on its way. */
struct call {
	uint64_t number; /* 0: none */
	uint64_t since_ms;
	uint64_t nonce; /* of the member that made it */
	uint32_t beat;
};

struct agent {
	struct rf_claims claims;
	bool runs, is_open, is_leaving;
	uint32_t definition; /* that it knows */
	uint64_t beat_at_ms, leaves_at_ms;
	uint64_t settled_at_ms; /* 0: it does not wait for programs */
	struct call beating[RF_BUCKETS], reporting[RF_REPORTS_MAX];
	bool has_news, is_refused;
};

static struct host {
	struct agent agent;
	uint64_t starts_at_ms; /* its agent, while it does not run */
	uint64_t started_ms;
	uint64_t cut_until_ms, cut_reports_until_ms;
	uint64_t clock_ms;  /* beyond now_ms */
	int ppm;	    /* by which it is too fast */
	uint32_t window_ms; /* W by that clock */
	uint32_t starts;
} hosts[HOSTS_MAX];
static uint64_t nonces, redefined_at_ms, learns_until_ms;

static uint64_t ns_at(int host, uint64_t at_ms)
{
	return (at_ms + hosts[host].clock_ms) * MS + (int64_t)at_ms * hosts[host].ppm;
}

uint64_t host_ns(int host)
{
	return ns_at(host, now_ms);
}

/* Rounded down, as the data path does it. */
uint64_t host_ms(int host, uint64_t ns)
{
	return ns ? (ns - hosts[host].clock_ms * MS) / (MS + hosts[host].ppm) : 0;
}

uint32_t host_window_ms(int host)
{
	return hosts[host].window_ms;
}

bool host_is_cut(int host, bool is_report)
{
	return now_ms < hosts[host].cut_until_ms ||
	       (is_report && now_ms < hosts[host].cut_reports_until_ms);
}

uint32_t host_starts(int host)
{
	return hosts[host].starts;
}

static int number_of(const struct host *host)
{
	return host - hosts;
}

/* ---- ports ---- */

static int call_windows(void *context, struct rf_fleet_record *record, uint32_t count)
{
	struct host *host = context;

	if (!host->agent.is_open)
		return -ENODEV;
	return fence_call(number_of(host), &host->agent.claims, record, count);
}

static bool settle(void *context)
{
	struct host *host = context;

	if (happens(UNSETTLED))
		return false;
	fence_mark(number_of(host));
	host->agent.settled_at_ms = now_ms + dice(1 + dice(20));
	return true;
}

static void settled(struct host *host)
{
	const bool is_known = !happens(UNSETTLED);

	if (!host->agent.settled_at_ms || now_ms < host->agent.settled_at_ms)
		return;
	host->agent.settled_at_ms = 0;
	if (is_known)
		fence_wait(number_of(host));
	rf_claims_settled(&host->agent.claims, is_known, host_ns(number_of(host)));
}

static struct rf_ledger_call call_of(const struct rf_claims *claims, uint32_t bucket)
{
	const struct rf_member *member = &claims->member[bucket];

	return (struct rf_ledger_call){
		.slot = member->slot,
		.nonce = member->nonce,
		.joined = member->joined,
		.grace = member->grace / MS,
		.window = rf_claims_window_ns(claims) / MS,
	};
}

static bool report(void *context, struct rf_report_batch *batch)
{
	struct host *host = context;
	struct rf_claims *claims = &host->agent.claims;
	const struct rf_ledger_call call = call_of(claims, batch->bucket);

	host->agent.reporting[batch - claims->batch] = (struct call){
		.number = engine_report(number_of(host), &call, claims, batch),
		.since_ms = now_ms,
	};
	return true;
}

/* ---- heartbeats and replies ---- */

static void beat(struct host *host, uint32_t bucket)
{
	struct rf_claims *claims = &host->agent.claims;
	const struct rf_ledger_call call = call_of(claims, bucket);
	const struct rf_ledger_beat says = rf_claims_beat(claims, bucket, host_ns(number_of(host)));

	host->agent.beating[bucket] = (struct call){
		.number = engine_beat(number_of(host), bucket, &call, &says),
		.since_ms = now_ms,
		.nonce = call.nonce,
		.beat = claims->member[bucket].beat,
	};
}

static bool is_in_use(uint32_t bucket)
{
	for (int i = 0; i < SOURCES; i++)
		if (bucket_of(i) == bucket)
			return true;
	return false;
}

static void beat_all(struct host *host)
{
	struct agent *agent = &host->agent;

	if (!agent->has_news && now_ms < agent->beat_at_ms)
		return;
	if (now_ms >= agent->beat_at_ms)
		agent->beat_at_ms = now_ms + scene->grace_ms / 4;
	agent->has_news = false;
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (is_in_use(i) && !agent->beating[i].number)
			beat(host, i);
}

void host_heard(int number, uint32_t bucket, uint64_t call, const struct rf_ledger_heard *heard)
{
	struct agent *agent = &hosts[number].agent;
	const struct call made = agent->beating[bucket];
	enum rf_member_news news;

	if (!agent->runs || made.number != call)
		return;
	agent->beating[bucket].number = 0;
	if (made.nonce != agent->claims.member[bucket].nonce)
		return;
	news = rf_claims_heard(&agent->claims, bucket, host_ns(number), made.beat,
			       ns_at(number, made.since_ms), heard);
	agent->is_refused = news == RF_MEMBER_REFUSED && !heard->is_learning;
	if (news == RF_MEMBER_REJOINED || news == RF_MEMBER_EMPTIED) {
		agent->has_news = true;
		tell("%c %s", 'A' + number, news == RF_MEMBER_EMPTIED ? "is emptied" : "rejoins");
	}
}

void host_answered(int number, uint32_t bucket, uint32_t place, uint64_t call,
		   const struct rf_ledger_answer *answer, uint32_t count)
{
	struct agent *agent = &hosts[number].agent;
	struct rf_report_batch *batch = &agent->claims.batch[place];

	if (!agent->runs || !agent->reporting[place].number || batch->count != count ||
	    batch->bucket != bucket)
		return;
	if (agent->reporting[place].number != call && !happens(ASTRAY))
		return;
	agent->reporting[place].number = 0;
	agent->has_news = agent->has_news || !agent->claims.member[bucket].is_complete;
	rf_claims_answered(&agent->claims, batch, answer, host_ns(number));
}

/* A call without a reply in G/2 gets no reply any more. */
static void time_out(struct host *host)
{
	struct agent *agent = &host->agent;
	const uint64_t patience_ms = scene->grace_ms / 2;

	for (int i = 0; i < RF_BUCKETS; i++)
		if (now_ms >= agent->beating[i].since_ms + patience_ms)
			agent->beating[i].number = 0;
	for (int i = 0; i < RF_REPORTS_MAX; i++) {
		if (!agent->reporting[i].number ||
		    now_ms < agent->reporting[i].since_ms + patience_ms)
			continue;
		agent->reporting[i].number = 0;
		rf_claims_unanswered(&agent->claims, &agent->claims.batch[i],
				     host_ns(number_of(host)));
	}
}

/* ---- the fence ---- */

static void read_limits(struct host *host)
{
	struct agent *agent = &host->agent;
	const uint32_t definition = fence_definition(number_of(host));
	const struct rf_fleet_limit limit = {
		.name = "any",
		.definition = definition % DEFINITIONS,
		.limit_id = LIMIT_ID,
		.tag = rf_tag_of(definition),
		.limit = scene->limit,
		.first = scene->first,
		.pool = rf_fleet_pool(scene->limit, scene->slots, scene->first),
		.window_ns = scene->window_ms * MS,
	};

	agent->definition = definition;
	rf_claims_take_limits(&agent->claims, host_ns(number_of(host)), &limit, 1);
}

/* A window as an agent before this one has left it. */
static void find(struct host *host, const struct rf_fleet_record *record)
{
	const struct rf_fleet_ask window = {
		.source = {record->source[0], record->source[1]},
		.limit_id = record->limit_id,
		.tag = record->tag,
		.incarnation = rf_given_incarnation(record->given),
	};

	if (record->used > scene->first)
		rf_claims_found(&host->agent.claims, host_ns(number_of(host)), &window);
}

/* Shares of earlier agents expire, and the usage of windows is reported. */
static int take_over(struct host *host)
{
	struct rf_fleet_record record[SOURCES];
	uint32_t count = 0;
	int err;

	for (int i = 0; i < SOURCES; i++)
		record[i] = (struct rf_fleet_record){
			.source = {source_key(i)},
			.limit_id = LIMIT_ID,
			.tag = rf_tag_of(host->agent.definition),
		};
	host->agent.claims.ended = ALL_BUCKETS;
	err = fence_call(number_of(host), &host->agent.claims, record, SOURCES);
	for (int i = 0; i < SOURCES && !err; i++) {
		if (record[i].result != RF_SHARE_DONE)
			continue;
		find(host, &record[i]);
		if (!rf_given_share(record[i].given))
			continue;
		record[i].incarnation = rf_given_incarnation(record[i].given);
		record[i].writes = 1;
		record[count++] = record[i];
	}
	if (!err && count)
		err = fence_call(number_of(host), &host->agent.claims, record, count);
	if (!err) {
		fence_mark(number_of(host));
		fence_wait(number_of(host));
	}
	return err;
}

static void look_at_fence(struct host *host)
{
	struct agent *agent = &host->agent;
	struct rf_fleet_ask ask;

	if (!agent->is_open && dice(4) == 0) {
		read_limits(host);
		agent->is_open = !take_over(host);
	}
	if (!agent->is_open)
		return;
	if (agent->definition != fence_definition(number_of(host)) && dice(10) == 0)
		read_limits(host);
	while (dice(4) && fence_ask(number_of(host), &ask))
		if (!rf_claims_ask(&agent->claims, host_ns(number_of(host)), &ask))
			read_limits(host);
}

static void tell_fence(struct host *host)
{
	if (host->agent.is_open)
		fence_call(number_of(host), &host->agent.claims, NULL, 0);
}

/* ---- members that vanish with the engine ---- */

static uint64_t span_ms(void)
{
	return scene->grace_ms + scene->window_ms;
}

static bool is_there(const struct host *host)
{
	return host->agent.runs && now_ms >= host->cut_until_ms;
}

/* Is there a host that knows the others, since it was there before the engine forgot them? */
static bool anybody_knows(void)
{
	for (uint32_t i = 0; i < scene->hosts; i++)
		if (is_there(&hosts[i]) && hosts[i].started_ms + 3 * span_ms() < learns_until_ms &&
		    hosts[i].cut_until_ms + 3 * span_ms() < learns_until_ms)
			return true;
	return false;
}

static void note_vanished(void)
{
	if (now_ms >= learns_until_ms || anybody_knows())
		return;
	for (uint32_t i = 0; i < scene->hosts; i++)
		if (!is_there(&hosts[i]))
			judge_vanished(i, learns_until_ms);
}

void hosts_note_loss(void)
{
	learns_until_ms = now_ms + span_ms();
	note_vanished();
}

/* ---- start and stop of an agent ---- */

static void take_slot(struct host *host, uint32_t slot)
{
	rf_claims_take_slot(&host->agent.claims, slot, ++nonces, scene->grace_ms * MS);
	host->agent.is_refused = false;
	host->agent.has_news = true;
	tell("%c takes slot %u", 'A' + number_of(host), slot);
}

static void start_agent(struct host *host)
{
	const uint64_t key[2] = {7, 11};
	struct agent *agent = &host->agent;

	memset(agent, 0, sizeof(*agent));
	if (rf_claims_make(&agent->claims, scene->claims, key, host_ns(number_of(host)))) {
		puts("Bail out! out of memory");
		exit(1);
	}
	agent->claims.ports = (struct rf_claims_ports){host, call_windows, settle, report};
	agent->runs = true;
	host->starts++;
	host->started_ms = now_ms;
	take_slot(host, dice(scene->slots));
}

/* It restarts after this long. */
static void end_agent(struct host *host, uint64_t away_ms)
{
	if (host->agent.runs)
		rf_claims_free(&host->agent.claims);
	host->agent.runs = false;
	host->starts_at_ms = now_ms + away_ms;
	note_vanished();
	tell("the agent of %c has ended", 'A' + number_of(host));
}

static void leave(struct host *host)
{
	struct agent *agent = &host->agent;

	if (!agent->is_leaving && strikes(ENDED, number_of(host))) {
		agent->is_leaving = true;
		agent->leaves_at_ms = now_ms + scene->grace_ms;
		rf_claims_leave(&agent->claims);
		tell("%c leaves", 'A' + number_of(host));
	}
	if (agent->is_leaving && (!agent->claims.table.count || now_ms >= agent->leaves_at_ms ||
				  rf_claims_are_alone(&agent->claims, host_ns(number_of(host)))))
		end_agent(host, dice(2 * span_ms()));
}

/* ---- turns ---- */

static void turn(struct host *host)
{
	struct agent *agent = &host->agent;

	if (!agent->runs && now_ms >= host->starts_at_ms)
		start_agent(host);
	if (!agent->runs)
		return;
	time_out(host);
	look_at_fence(host);
	if (agent->is_refused)
		take_slot(host, (agent->claims.member[0].slot + 1) % scene->slots);
	beat_all(host);
	tell_fence(host);
	settled(host);
	rf_claims_turn(&agent->claims, host_ns(number_of(host)));
	leave(host);
}

/* Definitions change one at a time: first on one host, then on the others. */
static void redefine(struct host *host)
{
	const uint32_t definition = fence_definition(number_of(host));
	bool is_last = false, all_same = true;

	for (uint32_t i = 0; i < scene->hosts; i++) {
		is_last = is_last || fence_definition(i) > definition;
		all_same = all_same && fence_definition(i) == definition;
	}
	if (!is_last && !(all_same && now_ms >= redefined_at_ms + 2 * scene->window_ms))
		return;
	redefined_at_ms = now_ms;
	judge_differs();
	fence_redefine(number_of(host));
}

static void fail(struct host *host)
{
	const int number = number_of(host);

	if (strikes(CUT, number)) {
		host->cut_until_ms = now_ms + lasts_ms(CUT, number, 2 * span_ms());
		tell("%c is cut off", 'A' + number);
		note_vanished();
	}
	if (strikes(CUT_REPORTS, number))
		host->cut_reports_until_ms = now_ms + lasts_ms(CUT_REPORTS, number, CUT_REPORTS_MS);
	if (strikes(KILLED, number))
		end_agent(host, lasts_ms(KILLED, number, 2 * span_ms()));
	if (strikes(REBOOTED, number)) {
		tell("%c reboots", 'A' + number);
		end_agent(host, dice(2 * span_ms()));
		fence_start(number);
	}
	if (strikes(EVICTED, number))
		fence_evict(number, dice(SOURCES));
	if (strikes(REDEFINED, number))
		redefine(host);
}

static void note_definitions(void)
{
	for (uint32_t i = 1; i < scene->hosts; i++)
		if (fence_definition(i) != fence_definition(0))
			judge_differs();
}

void hosts_step(void)
{
	note_definitions();
	for (uint32_t i = 0; i < scene->hosts; i++) {
		fail(&hosts[i]);
		turn(&hosts[i]);
		fence_step(i);
	}
	note_definitions();
}

void hosts_start(void)
{
	memset(hosts, 0, sizeof(hosts));
	redefined_at_ms = learns_until_ms = 0;
	for (uint32_t i = 0; i < scene->hosts; i++) {
		hosts[i].clock_ms = 1000 * (1 + dice(1000000));
		hosts[i].ppm = drift_ppm();
		hosts[i].window_ms = window_ms(hosts[i].ppm);
		fence_make(i);
	}
}

void hosts_end(void)
{
	for (uint32_t i = 0; i < scene->hosts; i++)
		if (hosts[i].agent.runs)
			rf_claims_free(&hosts[i].agent.claims);
}
