// SPDX-License-Identifier: GPL-2.0
#include "agent/news.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/calls.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "schema/record.h"

#define HOST_NS (60 * RF_NS_PER_S) /* interval of descriptions */
#define TOP_NS (5 * RF_NS_PER_S)
#define HOST_KEPT_MS "604800000" /* 7 days, so a dead host still has a name */
#define TOP_KEPT_MS "20000"
#define TOP_EACH (RF_NEWS_SOURCES / 2) /* by drops and by rate */
#define TOP_QUIET_NS (10 * RF_NS_PER_S)
#define ROLL_BUCKET 0 /* the only bucket read */
#define ROLL_READ_NS (2 * RF_NS_PER_S)
#define ROLL_KNOWN_NS (3 * ROLL_READ_NS)

/* ---- description of a host ---- */

void rf_news_clean_name(const char *name, char clean[RF_HOST_NAME_SIZE])
{
	size_t i;

	for (i = 0; name[i] && i < RF_HOST_NAME_SIZE - 1; i++)
		clean[i] = isascii(name[i]) && (isalnum(name[i]) || strchr("-._", name[i]))
				   ? name[i]
				   : '_';
	clean[i] = '\0';
}

static json_t *definitions(const struct rf_claims *claims)
{
	json_t *limits = json_object();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		const struct rf_fleet_limit *limit = &claims->limit[i];
		char definition[RF_WIRE_DEFINITION_SIZE];

		if (!limit->in_force)
			continue;
		rf_wire_format_definition(definition, limit->definition);
		json_object_set_new(limits, limit->name, json_string(definition));
	}
	return limits;
}

static char *host_text(const struct rf_news *news)
{
	json_t *host = json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", news->name, "version",
				 RINGFENCE_VERSION, "grace_ms",
				 (json_int_t)(news->settings->grace_ns / RF_NS_PER_MS), "hosts",
				 (json_int_t)news->hosts, "limits", definitions(news->claims));
	char *text = host ? json_dumps(host, JSON_COMPACT) : NULL;

	json_decref(host);
	return text;
}

/* ---- the sources that it drops the most of ---- */

/* The first ones by a number, the largest first. */
struct ranking {
	const struct rf_claimant *claimant[TOP_EACH];
	uint64_t number[TOP_EACH];
	uint32_t count;
};

static void rank_claimant(struct ranking *ranking, const struct rf_claimant *claimant,
			  uint64_t number)
{
	uint32_t at = ranking->count;

	if (!number)
		return;
	while (at && ranking->number[at - 1] < number)
		at--;
	if (at == TOP_EACH)
		return;
	if (ranking->count < TOP_EACH)
		ranking->count++;
	for (uint32_t i = ranking->count - 1; i > at; i--) {
		ranking->claimant[i] = ranking->claimant[i - 1];
		ranking->number[i] = ranking->number[i - 1];
	}
	ranking->claimant[at] = claimant;
	ranking->number[at] = number;
}

static bool is_ranked(const struct ranking *ranking, const struct rf_claimant *claimant)
{
	for (uint32_t i = 0; i < ranking->count; i++)
		if (ranking->claimant[i] == claimant)
			return true;
	return false;
}

/* Packets per second since the last report; 0 for a window that was not read recently. */
static void measure_rate(struct rf_claimant *claimant, uint64_t now)
{
	const uint64_t packets = claimant->shown_passed + claimant->shown_dropped;
	const uint64_t since_ns = claimant->told_ns;

	if (claimant->shown_ns > since_ns && packets >= claimant->told_packets && since_ns)
		claimant->rate_pps = (packets - claimant->told_packets) * (double)RF_NS_PER_S /
				     (claimant->shown_ns - since_ns);
	else if (!since_ns || now - claimant->shown_ns > TOP_QUIET_NS)
		claimant->rate_pps = 0;
	claimant->told_ns = claimant->shown_ns;
	claimant->told_packets = packets;
}

const struct rf_field rf_told_fields[] = {
	RF_FIELD("source", struct rf_told_source, source, "address, or network"),
	RF_FIELD("limit", struct rf_told_source, limit, "its name"),
	RF_FIELD("passed", struct rf_told_source, passed, "packets, since the windows were made"),
	RF_FIELD("dropped", struct rf_told_source, dropped, "packets, since the windows were made"),
	RF_FIELD("rate", struct rf_told_source, rate, "packets a second, now"),
	{},
};

static json_t *source_json(const struct rf_claims *claims, const struct rf_claimant *claimant)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	struct rf_told_source source = {
		.passed = claimant->shown_passed,
		.dropped = claimant->shown_dropped,
		.rate = claimant->rate_pps,
	};

	rf_calls_format_source(&claimant->key, limit, source.source);
	strcpy(source.limit, limit->name);
	return rf_record_json(rf_told_fields, &source);
}

/* The sources with the most drops on this host, and with the highest rate; NULL: no memory. */
static char *top_text(struct rf_claims *claims, uint64_t now)
{
	struct ranking drops = {.count = 0}, rates = {.count = 0};
	struct rf_claimant *claimant = NULL;
	json_t *list = json_array(), *top;
	char *text;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		if (!claims->limit[claimant->key.limit].in_force)
			continue;
		measure_rate(claimant, now);
		rank_claimant(&drops, claimant, claimant->shown_dropped);
		rank_claimant(&rates, claimant, claimant->rate_pps);
	}
	for (uint32_t i = 0; i < drops.count; i++)
		json_array_append_new(list, source_json(claims, drops.claimant[i]));
	for (uint32_t i = 0; i < rates.count; i++)
		if (!is_ranked(&drops, rates.claimant[i]))
			json_array_append_new(list, source_json(claims, rates.claimant[i]));
	top = json_pack("{s:o}", "sources", list);
	text = top ? json_dumps(top, JSON_COMPACT) : NULL;
	json_decref(top);
	return text;
}

/* ---- publishing ---- */

void rf_news_start(struct rf_news *news, const struct rf_agent_settings *settings,
		   struct rf_claims *claims, const struct rf_site *site, struct rf_line *line)
{
	struct utsname host = {};

	*news = (struct rf_news){
		.settings = settings,
		.claims = claims,
		.site = site,
		.line = line,
	};
	uname(&host);
	rf_news_clean_name(host.nodename, news->name);
}

/* A missing right or a failed server: the next attempt can succeed. */
static void take_answer(void *data, const redisReply *reply)
{
	struct rf_news *news = data;

	if (reply && reply->type == REDIS_REPLY_ERROR) /* the key moved to a different node */
		news->host_at_ns = news->top_at_ns = 0;
}

static void set_key(struct rf_news *news, const char *key, const char *text, const char *kept_ms)
{
	const char *const words[] = {"SET", key, text, "PX", kept_ms};

	rf_line_call(news->line, RF_TAG_OF_ALL, ARRAY_SIZE(words), words, NULL, take_answer, news);
}

/* Publishes `text` at `key` and frees it; NULL: no memory, the next attempt can succeed. */
static void tell_text(struct rf_news *news, const char *key, char *text, size_t most,
		      const char *kept_ms)
{
	if (text && strlen(text) <= most)
		set_key(news, key, text, kept_ms);
	free(text);
}

static void look_for_changes(struct rf_news *news, uint32_t hosts)
{
	const struct rf_member *member = &news->claims->member[0];

	if (member->slot == news->slot && member->joined == news->joined && hosts == news->hosts &&
	    news->site->in_force == news->in_force)
		return;
	news->slot = member->slot;
	news->joined = member->joined;
	news->hosts = hosts;
	news->in_force = news->site->in_force;
	news->host_at_ns = news->top_at_ns = 0;
}

/* Only once the slot belongs to this host. */
void rf_news_turn(struct rf_news *news, uint32_t hosts, uint64_t now)
{
	char key[RF_WIRE_KEY_SIZE];

	look_for_changes(news, hosts);
	if (!rf_line_is_ready(news->line, RF_TAG_OF_ALL, now) || !news->joined)
		return;
	if (now >= news->host_at_ns) {
		news->host_at_ns = now + HOST_NS;
		rf_wire_host_key(key, news->slot);
		tell_text(news, key, host_text(news), RF_NEWS_HOST_MAX, HOST_KEPT_MS);
	}
	if (now >= news->top_at_ns) { /* also if empty */
		news->top_at_ns = now + TOP_NS;
		rf_wire_top_key(key, news->slot);
		tell_text(news, key, top_text(news->claims, now), RF_NEWS_TOP_MAX, TOP_KEPT_MS);
	}
}

uint64_t rf_news_due_ns(const struct rf_news *news, uint64_t now)
{
	if (!rf_line_is_ready(news->line, RF_TAG_OF_ALL, now) || !news->joined)
		return UINT64_MAX;
	return news->host_at_ns < news->top_at_ns ? news->host_at_ns : news->top_at_ns;
}

/* ---- active members ---- */

void rf_roll_start(struct rf_roll *roll, struct rf_line *line, uint64_t grace_ns)
{
	*roll = (struct rf_roll){.line = line, .grace_ms = grace_ns / RF_NS_PER_MS};
}

static void note_heard(struct rf_roll *roll)
{
	const struct rf_ledger *kept = &roll->kept;

	roll->heard = (struct rf_ledger_slots){};
	for (uint32_t slot = 0; slot < RF_LEDGER_SLOTS; slot++)
		if (kept->host[slot].nonce &&
		    kept->newest - kept->host[slot].heard < roll->grace_ms + kept->window)
			rf_ledger_slots_add(&roll->heard, slot);
}

static void take_hosts(void *data, const redisReply *reply)
{
	struct rf_roll *roll = data;

	roll->is_under_way = false;
	if (!reply || reply->type != REDIS_REPLY_STRING ||
	    !rf_wire_unpack_hosts(&roll->kept, reply->str, reply->len))
		return;
	roll->known_ns = rf_time_awake();
	note_heard(roll);
}

void rf_roll_turn(struct rf_roll *roll, uint64_t now)
{
	char key[RF_WIRE_KEY_SIZE];
	const char *const words[] = {"GETRANGE", key, "0", "-1"};

	if (now < roll->at_ns || roll->is_under_way)
		return;
	roll->at_ns = now + ROLL_READ_NS;
	rf_wire_hosts_key(key, ROLL_BUCKET);
	roll->is_under_way = rf_line_call(roll->line, ROLL_BUCKET, ARRAY_SIZE(words), words, NULL,
					  take_hosts, roll);
}

bool rf_roll_is_known(const struct rf_roll *roll, uint64_t now)
{
	return roll->known_ns && now - roll->known_ns < ROLL_KNOWN_NS;
}
