// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/answers.h"
#include "daemon/recorded_json.h"
#include "daemon/source_json.h"

#define CREDIT_MAX_NS (RF_NS_PER_S / 2) /* what a page asks at first */
#define WAIT_NS (50 * RF_NS_PER_MS)

/* ---- who is asked ---- */

static const struct rf_watched *find(const struct rf_watching *watching, const char *fence)
{
	for (int i = 0; i < watching->count; i++) {
		const struct rf_record *record = watching->of[i]->record;

		if (record && (!*fence || strcmp(record->fence, fence) == 0))
			return watching->of[i];
	}
	return NULL;
}

static json_t *ask(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
		   struct rf_error *error)
{
	switch (query->kind) {
	case RF_QUERY_RANGE:
		return rf_range_json(reader, query, error);
	case RF_QUERY_SOURCES:
		return rf_sources_json(reader, query, told, error);
	default:
		return rf_events_json(reader, query, told, error);
	}
}

/* Without a history there is the present alone, which is no error. */
static json_t *ask_fence(const struct rf_watched *one, const struct rf_query *query,
			 const struct rf_settings *settings, struct rf_error *error)
{
	const bool of_source = query->kind == RF_QUERY_SOURCE;
	struct rf_reader *reader = NULL;
	json_t *json;

	if (!one->record->history && !of_source)
		return json_pack("{s:b}", "recorded", 0);
	if (one->record->history &&
	    rf_reader_open(&reader, settings->history, one->record->fence, error))
		return NULL;
	json = of_source ? rf_source_json(one, reader, query, settings->sources, error)
			 : ask(reader, query, settings->sources, error);
	rf_reader_close(reader);
	return json;
}

static json_t *answer(const struct rf_watching *watching, const struct rf_settings *settings,
		      const struct rf_query *query, uint32_t *status)
{
	const struct rf_watched *one = find(watching, query->fence);
	struct rf_error error = {};
	json_t *json = NULL;

	*status = 200;
	if (!one) {
		*status = 404;
		return json_pack("{s:s}", "error", "no such fence is watched");
	}
	if (query->kind == RF_QUERY_RECENT)
		return rf_recent_json(one->recent, &one->snapshot.bans.rules, settings->sources);
	if (query->kind == RF_QUERY_SOURCE && settings->sources == RF_TELL_NONE)
		return json_pack("{s:s}", "error", "the setting 'sources none' hides sources");
	json = ask_fence(one, query, settings, &error);
	if (json)
		return json;
	*status = 500;
	return json_pack("{s:o}", "error", rf_json_text(error.text));
}

static void send_answer(struct rf_feed *feed, const struct rf_query *query, json_t *json,
			uint32_t status)
{
	struct rf_answer_head head = {.query = *query, .status = status};
	char *text, *all;

	json_object_set_new(json, "schema", json_integer(1));
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
	all = text ? malloc(sizeof(head) + strlen(text)) : NULL;
	if (all) {
		memcpy(all, &head, sizeof(head));
		memcpy(all + sizeof(head), text, strlen(text));
		rf_feed_put(feed, RF_DOC_ANSWER, all, sizeof(head) + strlen(text), rf_time_awake());
	}
	free(all);
	free(text);
}

/* ---- when ---- */

static uint64_t cpu_time(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return spent.tv_sec * RF_NS_PER_S + spent.tv_nsec;
}

static void earn(struct rf_answers *answers)
{
	const uint64_t now = rf_time_awake();

	if (!answers->credited_ns)
		answers->credit_ns = CREDIT_MAX_NS;
	else
		answers->credit_ns += (now - answers->credited_ns) * RF_ANSWERS_PERCENT / 100;
	if (answers->credit_ns > CREDIT_MAX_NS)
		answers->credit_ns = CREDIT_MAX_NS;
	answers->credited_ns = now;
}

/*
 * The page process may be anybody's by now: what it asks is judged again. A pipe that nobody writes
 * to any more is closed: it would wake us for ever, and signals would not get through.
 */
static bool next_query(int *fd, struct rf_query *query)
{
	const ssize_t got = read(*fd, query, sizeof(*query));

	if (!got) {
		close(*fd);
		*fd = -1;
	}
	return got == sizeof(*query) && rf_query_is_sound(query) && query->kind != RF_QUERY_LIVE;
}

uint64_t rf_answers_turn(struct rf_answers *answers, int *fd, struct rf_feed *feed,
			 const struct rf_watching *watching, const struct rf_settings *settings)
{
	const uint64_t before = cpu_time();
	struct rf_query query;
	uint64_t spent;
	uint32_t status;
	json_t *json;

	earn(answers);
	/* The answer before has not left yet: then nobody reads. */
	if (feed->next[RF_DOC_ANSWER].bytes || !answers->credit_ns)
		return rf_time_awake() + WAIT_NS;
	if (!next_query(fd, &query))
		return 0;
	json = answer(watching, settings, &query, &status);
	send_answer(feed, &query, json, status);
	json_decref(json);
	spent = cpu_time() - before;
	answers->credit_ns -= spent < answers->credit_ns ? spent : answers->credit_ns;
	return 0;
}
