// SPDX-License-Identifier: GPL-2.0
/*
 * A fleet server that follows tests/fleet/model/ledger.c, stores records for as long as
 * docs/fleet-proof.md specifies, and forgets; and the network to it.
 */
#include <string.h>

#include "agents.h"
#include "fleet/wire.h"
#include "tests/fleet/model/ledger.h"

#define MS 1000000ULL
#define NET 128
#define ITEMS 8 /* in a report: more than there are claims */

struct record {
	struct rf_ledger_source source;
	uint64_t ends_ms;
};

/* All that it stores. */
struct kept {
	struct rf_ledger ledger[RF_BUCKETS];
	struct record record[SOURCES][DEFINITIONS];
};

static struct {
	struct kept kept;
	struct kept before; /* some time ago, as a replica has it */
	struct kept aside;  /* of the master that was demoted */
	uint64_t run, runs, run_aside, stamp;
	uint64_t clock_ms; /* beyond now_ms */
	int ppm;	   /* by which it is too fast */
	uint64_t still_until_ms;
	uint64_t demoted_until_ms; /* 0: it is not */
} engine;

enum kind { NOTHING, BEAT, HEARD, REPORT, ANSWER };

struct item {
	int source;
	uint32_t definition;
	struct rf_ledger_limit limit;
	struct rf_ledger_report report;
};

struct message {
	enum kind kind;
	int host;
	uint32_t starts; /* of its agent, by then */
	uint32_t bucket, place, count;
	uint64_t number, due_ms;
	struct rf_ledger_call call;
	union {
		struct rf_ledger_beat beat;
		struct rf_ledger_heard heard;
		struct item item[ITEMS];
		struct rf_ledger_answer answer[ITEMS];
	};
};

static struct message net[NET];
static uint64_t numbers;

/* ---- the network ---- */

static uint64_t delay_ms(const struct message *message)
{
	const uint32_t late_ms =
		message->kind == ANSWER ? scripted(LATE_ANSWERS, message->host) : 0;

	if (late_ms)
		return late_ms;
	if (happens(LATE))
		return dice(dice(2) ? scene->grace_ms / 2 : scene->grace_ms + scene->window_ms);
	return dice(3);
}

static bool is_lost(const struct message *message)
{
	return message->kind == REPORT && scripted(LOST_REPORTS, message->host);
}

/* If it has no room, a message is lost. */
static struct message *place_message(void)
{
	for (int i = 0; i < NET; i++)
		if (net[i].kind == NOTHING)
			return &net[i];
	return NULL;
}

static void send(const struct message *message)
{
	struct message *place = place_message();

	if (!place || happens(LOST) || is_lost(message))
		return;
	*place = *message;
	place->due_ms = now_ms + delay_ms(message);
}

static uint64_t send_request(struct message *message)
{
	message->number = ++numbers;
	message->starts = host_starts(message->host);
	send(message);
	if (happens(TWICE))
		send(message);
	return message->number;
}

uint64_t engine_beat(int host, uint32_t bucket, const struct rf_ledger_call *call,
		     const struct rf_ledger_beat *beat)
{
	struct message message = {
		.kind = BEAT,
		.host = host,
		.bucket = bucket,
		.call = *call,
		.beat = *beat,
	};

	return send_request(&message);
}

static struct item item_of(const struct rf_claims *claims, const struct rf_report_item *item)
{
	const struct rf_fleet_limit *limit = &claims->limit[item->claimant->key.limit];
	int source = 0;

	while (source_key(source) != item->claimant->key.source[0])
		source++;
	return (struct item){
		.source = source,
		.definition = limit->definition,
		.limit = {limit->pool, limit->first, limit->window_ns / MS},
		.report = item->report,
	};
}

uint64_t engine_report(int host, const struct rf_ledger_call *call, const struct rf_claims *claims,
		       const struct rf_report_batch *batch)
{
	struct message message = {
		.kind = REPORT,
		.host = host,
		.bucket = batch->bucket,
		.place = batch - claims->batch,
		.count = batch->count,
		.call = *call,
	};

	for (uint32_t i = 0; i < batch->count; i++) {
		message.item[i] = item_of(claims, &batch->item[i]);
		tell("%c reports of %d: #%u, used %u, has %u, wants %u", 'A' + host,
		     message.item[i].source, message.item[i].report.seq,
		     message.item[i].report.used, message.item[i].report.has,
		     message.item[i].report.wants);
	}
	return send_request(&message);
}

/* ---- calls ---- */

static struct rf_ledger_call engine_call(const struct rf_ledger_call *call)
{
	struct rf_ledger_call complete = *call;

	complete.now = now_ms + engine.clock_ms + (int64_t)now_ms * engine.ppm / (int64_t)MS;
	complete.run = engine.run;
	complete.stamp = ++engine.stamp;
	return complete;
}

/* As in ringfence.lua: a record expires some time after its latest report. */
static uint64_t life_of(const struct rf_ledger_source *source, const struct rf_ledger_call *call,
			uint64_t window_ms)
{
	bool is_claimed = false, is_wanted = false;

	for (int i = 0; i < source->count; i++) {
		is_claimed = is_claimed || source->claim[i].claim;
		is_wanted = is_wanted || source->claim[i].in_vain;
	}
	if (is_claimed)
		return rf_wire_kept_ms(window_ms) + call->grace + window_ms;
	return is_wanted ? RF_WIRE_IDLE_MS + call->grace + window_ms : RF_WIRE_LEFT_MS;
}

static struct rf_ledger_answer note(const struct rf_ledger_call *call, uint32_t bucket,
				    const struct item *item)
{
	struct record *record = &engine.kept.record[item->source][item->definition];
	struct rf_ledger_answer answer;

	if (call->now >= record->ends_ms)
		memset(record, 0, sizeof(*record));
	answer = rf_ledger_report(&engine.kept.ledger[bucket], &record->source, call, &item->limit,
				  &item->report);
	if (answer.status == RF_LEDGER_DONE)
		record->ends_ms = call->now + life_of(&record->source, call, item->limit.window);
	tell("the engine answers %c of %d: #%u, %d, %u", 'A' + call->slot, item->source, answer.seq,
	     answer.status, answer.share);
	return answer;
}

static void serve(const struct message *message)
{
	const struct rf_ledger_call call = engine_call(&message->call);
	struct message reply = *message;

	if (message->kind == BEAT) {
		reply.kind = HEARD;
		reply.heard =
			rf_ledger_beat(&engine.kept.ledger[message->bucket], &call, &message->beat);
		tell("the engine hears %c: %d, membership %llu%s%s", 'A' + message->host,
		     reply.heard.status, (unsigned long long)reply.heard.joined,
		     reply.heard.is_complete ? ", complete" : "",
		     reply.heard.is_learning ? ", learning" : "");
	} else {
		reply.kind = ANSWER;
		for (uint32_t i = 0; i < message->count; i++)
			reply.answer[i] = note(&call, message->bucket, &message->item[i]);
	}
	send(&reply);
}

static void deliver(struct message *place)
{
	const struct message message = *place;
	const bool is_report = message.kind == REPORT || message.kind == ANSWER;

	if ((message.kind == BEAT || message.kind == REPORT) && now_ms < engine.still_until_ms)
		return;
	place->kind = NOTHING;
	if (host_is_cut(message.host, is_report))
		return;
	if (message.kind == BEAT || message.kind == REPORT)
		serve(&message);
	else if (message.starts != host_starts(message.host))
		return;
	else if (message.kind == HEARD)
		host_heard(message.host, message.bucket, message.number, &message.heard);
	else
		host_answered(message.host, message.bucket, message.place, message.number,
			      message.answer, message.count);
}

/* ---- what goes wrong ---- */

static void another_run(void)
{
	engine.run = ++engine.runs;
	hosts_note_loss();
}

static void demote(void)
{
	engine.aside = engine.kept;
	engine.run_aside = engine.run;
	engine.kept = engine.before;
	engine.demoted_until_ms = now_ms + lasts_ms(DEMOTED, 0, scene->grace_ms / 2);
	another_run();
	tell("the engine is another one for a moment");
}

static void promote_again(void)
{
	engine.kept = engine.aside;
	engine.run = engine.run_aside;
	engine.demoted_until_ms = 0;
	tell("the engine is the one of before");
}

static void forget(void)
{
	if (strikes(EMPTIED, 0)) {
		memset(&engine.kept, 0, sizeof(engine.kept));
		hosts_note_loss();
		tell("the engine is emptied");
	}
	if (strikes(RESTARTED, 0)) {
		memset(&engine.kept, 0, sizeof(engine.kept));
		another_run();
		tell("the engine restarts");
	}
	if (strikes(RELOADED, 0)) {
		another_run();
		tell("the engine has another run");
	}
	if (strikes(PROMOTED, 0)) {
		engine.kept = engine.before;
		another_run();
		tell("the engine has lost writes");
	}
	if (strikes(DEMOTED, 0))
		demote();
}

static void step_clock(void)
{
	const uint64_t least = scene->grace_ms / 2 + 1;
	const uint64_t by = least + dice(3 * (scene->grace_ms + scene->window_ms));

	engine.clock_ms = dice(2) ? engine.clock_ms + by : engine.clock_ms - by;
	tell("the engine's clock steps by %llu ms", (unsigned long long)by);
}

/* `fleet gone`: it is refused as long as it matters. */
static void say_gone(void)
{
	const struct rf_ledger_call said = {
		.grace = scene->grace_ms,
		.window = scene->window_ms,
		.nonce = UINT64_MAX,
	};
	const struct rf_ledger_call call = engine_call(&said);

	rf_ledger_gone(&engine.kept.ledger[bucket_of(dice(SOURCES))], &call, dice(scene->slots));
}

static void fail(void)
{
	if (engine.demoted_until_ms && now_ms >= engine.demoted_until_ms)
		promote_again();
	if (engine.demoted_until_ms)
		return;
	forget();
	if (strikes(STEPPED, 0))
		step_clock();
	if (strikes(STILL, 0))
		engine.still_until_ms = now_ms + lasts_ms(STILL, 0, 2 * scene->grace_ms);
	if (dice(20) == 0)
		engine.before = engine.kept;
	if (dice(2000) == 0)
		say_gone();
}

void engine_start(void)
{
	memset(&engine, 0, sizeof(engine));
	memset(net, 0, sizeof(net));
	engine.clock_ms = 1000000000;
	engine.ppm = drift_ppm();
	engine.run = ++engine.runs;
}

void engine_step(void)
{
	fail();
	for (int i = 0; i < NET; i++)
		if (net[i].kind != NOTHING && now_ms >= net[i].due_ms)
			deliver(&net[i]);
}
