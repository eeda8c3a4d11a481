// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/news.h"
#include "base/units.h"
#include "fleet/wire.h"

#define HOST_NS (60 * RF_NS_PER_S) /* what a host is, is told anew after so long */
#define TOP_NS (5 * RF_NS_PER_S)
#define HOST_KEPT_MS "604800000" /* 7 days, so that a host which is gone has a name */
#define TOP_KEPT_MS "20000"

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

/* A right that is missing, or an engine that is gone: the next one may do better. */
static void take_answer(void *data, const redisReply *reply)
{
	struct rf_news *news = data;

	if (reply && reply->type == REDIS_REPLY_ERROR) /* it is kept on another node */
		news->host_at_ns = news->top_at_ns = 0;
}

static void set(struct rf_news *news, const char *key, const char *text, const char *kept_ms)
{
	const char *const words[] = {"SET", key, text, "PX", kept_ms};
	size_t lengths[ARRAY_SIZE(words)];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		lengths[i] = strlen(words[i]);
	rf_line_call(news->line, RF_TAG_OF_ALL, ARRAY_SIZE(words), words, lengths, take_answer,
		     news);
}

/* Frees `text`, of what is said at `key`; NULL: no memory, so the next one may do better. */
static void tell(struct rf_news *news, const char *key, char *text, size_t most,
		 const char *kept_ms)
{
	if (text && strlen(text) <= most)
		set(news, key, text, kept_ms);
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

/* Not before the slot is this host's. */
void rf_news_turn(struct rf_news *news, uint32_t hosts, uint64_t now)
{
	char key[RF_WIRE_KEY_SIZE];

	look_for_changes(news, hosts);
	if (!rf_line_is_ready(news->line, RF_TAG_OF_ALL, now) || !news->joined)
		return;
	if (now >= news->host_at_ns) {
		news->host_at_ns = now + HOST_NS;
		rf_wire_host_key(key, news->slot);
		tell(news, key, rf_news_host_text(news), RF_NEWS_HOST_MAX, HOST_KEPT_MS);
	}
	if (now >= news->top_at_ns) { /* also that there are none */
		news->top_at_ns = now + TOP_NS;
		rf_wire_top_key(key, news->slot);
		tell(news, key, rf_news_top_text(news->claims, now), RF_NEWS_TOP_MAX, TOP_KEPT_MS);
	}
}

uint64_t rf_news_due_ns(const struct rf_news *news, uint64_t now)
{
	if (!rf_line_is_ready(news->line, RF_TAG_OF_ALL, now) || !news->joined)
		return UINT64_MAX;
	return news->host_at_ns < news->top_at_ns ? news->host_at_ns : news->top_at_ns;
}
