// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "agent/calls.h"
#include "agent/news.h"
#include "base/json.h"
#include "base/units.h"

#define EACH (RF_NEWS_SOURCES / 2) /* by drops, and by rate */
#define QUIET_NS (10 * RF_NS_PER_S)

/* The first ones by a number, the largest first. */
struct ranking {
	const struct rf_claimant *claimant[EACH];
	uint64_t number[EACH];
	uint32_t count;
};

static void rank(struct ranking *ranking, const struct rf_claimant *claimant, uint64_t number)
{
	uint32_t at = ranking->count;

	if (!number)
		return;
	while (at && ranking->number[at - 1] < number)
		at--;
	if (at == EACH)
		return;
	if (ranking->count < EACH)
		ranking->count++;
	for (uint32_t i = ranking->count - 1; i > at; i--) {
		ranking->claimant[i] = ranking->claimant[i - 1];
		ranking->number[i] = ranking->number[i - 1];
	}
	ranking->claimant[at] = claimant;
	ranking->number[at] = number;
}

static bool has(const struct ranking *ranking, const struct rf_claimant *claimant)
{
	for (uint32_t i = 0; i < ranking->count; i++)
		if (ranking->claimant[i] == claimant)
			return true;
	return false;
}

/* Packets a second since the last time; a window that nobody looked at lately sends nothing. */
static void measure(struct rf_claimant *claimant, uint64_t now)
{
	const uint64_t packets = claimant->shown_passed + claimant->shown_dropped;
	const uint64_t since_ns = claimant->told_ns;

	if (claimant->shown_ns > since_ns && packets >= claimant->told_packets && since_ns)
		claimant->rate_pps = (packets - claimant->told_packets) * (double)RF_NS_PER_S /
				     (claimant->shown_ns - since_ns);
	else if (!since_ns || now - claimant->shown_ns > QUIET_NS)
		claimant->rate_pps = 0;
	claimant->told_ns = claimant->shown_ns;
	claimant->told_packets = packets;
}

static json_t *source_json(const struct rf_claims *claims, const struct rf_claimant *claimant)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(&claimant->key, limit, source);
	return json_pack("{s:s, s:s, s:I, s:I, s:I}", "source", source, "limit", limit->name,
			 "passed", (json_int_t)claimant->shown_passed, "dropped",
			 (json_int_t)claimant->shown_dropped, "rate",
			 (json_int_t)claimant->rate_pps);
}

char *rf_news_top_text(struct rf_claims *claims, uint64_t now)
{
	struct ranking drops = {.count = 0}, rates = {.count = 0};
	struct rf_claimant *claimant = NULL;
	json_t *list = json_array(), *top;
	char *text;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		if (!claims->limit[claimant->key.limit].in_force)
			continue;
		measure(claimant, now);
		rank(&drops, claimant, claimant->shown_dropped);
		rank(&rates, claimant, claimant->rate_pps);
	}
	for (uint32_t i = 0; i < drops.count; i++)
		json_array_append_new(list, source_json(claims, drops.claimant[i]));
	for (uint32_t i = 0; i < rates.count; i++)
		if (!has(&drops, rates.claimant[i]))
			json_array_append_new(list, source_json(claims, rates.claimant[i]));
	top = json_pack("{s:o}", "sources", list);
	text = top ? json_dumps(top, JSON_COMPACT) : NULL;
	json_decref(top);
	return text;
}
