// SPDX-License-Identifier: GPL-2.0
/* The state machine of each scan, and the state that is saved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "watch/episodes.h"

#define STATE_VERSION 2

/* ---- state that is saved over a restart of the daemon, as JSON: writing ---- */

static json_t *write_episode(const struct rf_episode *episode)
{
	return json_pack("[I, b, I, I, I]", (json_int_t)episode->number, (int)episode->is_told,
			 (json_int_t)episode->first_ns, (json_int_t)episode->dropped,
			 (json_int_t)episode->passed);
}

/* Of a source that must not be disclosed at all, the network that contains all sources. */
static struct rf_prefix told_of(enum rf_told told, const struct rf_prefix *source)
{
	struct rf_prefix prefix;

	if (!rf_tell(told, source, &prefix))
		prefix = (struct rf_prefix){.version = source->version};
	return prefix;
}

static json_t *write_one(const struct rf_held *held, enum rf_told told)
{
	const struct rf_prefix prefix = told_of(told, &held->source);
	const bool is_network = held->is_network || rf_prefix_compare(&prefix, &held->source) != 0;
	char source[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&prefix, source);
	return json_pack("[s, I, b, b, o, s, s, o]", source, (json_int_t)held->limit_id,
			 (int)held->is_aggregate, (int)is_network, rf_json_text(held->limit),
			 held->rate, held->reason, write_episode(&held->episode));
}

static json_t *write_held(const struct rf_held_list *list, enum rf_told told)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(all, write_one(&list->held[i], told));
	return all;
}

static json_t *write_counts(const uint64_t of[RF_EVENT_TYPES])
{
	json_t *counts = json_object();

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		if (of[type])
			json_object_set_new(counts, rf_event_type_name(type),
					    json_integer(of[type]));
	return counts;
}

static json_t *write_worst(const struct rf_event *left_out, enum rf_told told)
{
	json_t *all = json_array();
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix prefix;

	for (unsigned int i = 0; i < left_out->worst_count; i++) {
		const struct rf_event_worst *worst = &left_out->worst[i];

		if (!rf_tell(told, &worst->source, &prefix))
			continue;
		rf_format_prefix(&prefix, source);
		json_array_append_new(all,
				      json_pack("[s, o, I]", source, rf_json_text(worst->limit),
						(json_int_t)worst->dropped));
	}
	return all;
}

static json_t *write_members(const struct rf_events *events)
{
	json_t *all = json_array();

	for (int slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		if (events->member[slot / 64] >> slot % 64 & 1)
			json_array_append_new(all, json_integer(slot));
	return all;
}

static json_t *write_all(const struct rf_events *events, enum rf_told told)
{
	return json_pack(
		"{s:i, s:o, s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:I, s:i, s:I, s:I,"
		" s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"version", STATE_VERSION, "fence", rf_json_text(events->fence), "identity",
		events->identity, "base", events->base, "number", (json_int_t)events->number, "seq",
		(json_int_t)events->seq, "tokens", (json_int_t)events->tokens_ns, "has_rules",
		(int)events->has_rules, "active", (json_int_t)events->rules.active, "in_force",
		(json_int_t)events->rules.in_force, "confirmation", (int)events->rules.state,
		"bans_seen", (json_int_t)events->bans_seen, "proven", (json_int_t)events->proven,
		"challenges", write_episode(&events->challenges), "attached",
		write_episode(&events->attached), "newcomers", write_episode(&events->newcomers),
		"flood", write_episode(&events->flood), "full", write_episode(&events->full),
		"errors", write_episode(&events->errors), "alone", write_episode(&events->alone),
		"bypass", write_episode(&events->bypass), "pause", write_episode(&events->pause),
		"members", write_members(events), "sources", write_held(&events->sources, told),
		"bans", write_held(&events->bans, told), "suppressed",
		write_counts(events->left_out.left_out), "worst",
		write_worst(&events->left_out, told));
}

char *rf_events_state(struct rf_events *events, enum rf_told told)
{
	json_t *json = write_all(events, told);
	char *text = rf_json_line(json);

	json_decref(json);
	if (text)
		events->has_changed = false;
	return text;
}

/* ---- saved state: reading ---- */

static bool copy_text(char *to, size_t size, const char *from)
{
	return (size_t)snprintf(to, size, "%s", from) < size;
}

static bool read_episode(json_t *json, struct rf_episode *episode)
{
	json_int_t number, first, dropped, passed;
	int is_told;

	if (json_unpack(json, "[I, b, I, I, I]", &number, &is_told, &first, &dropped, &passed))
		return false;
	*episode = (struct rf_episode){
		.number = number,
		.is_told = is_told,
		.first_ns = first,
		.dropped = dropped,
		.passed = passed,
	};
	return true;
}

static bool read_one(json_t *json, struct rf_held *held)
{
	const char *source, *limit, *rate, *reason;
	struct rf_error unused;
	json_int_t limit_id;
	json_t *episode;
	int is_aggregate, is_network;

	if (json_unpack(json, "[s, I, b, b, s, s, s, o]", &source, &limit_id, &is_aggregate,
			&is_network, &limit, &rate, &reason, &episode))
		return false;
	*held = (struct rf_held){
		.limit_id = limit_id,
		.is_aggregate = is_aggregate,
		.is_network = is_network,
	};
	return !rf_parse_prefix(source, &held->source, &unused) &&
	       copy_text(held->limit, sizeof(held->limit), limit) &&
	       copy_text(held->rate, sizeof(held->rate), rate) &&
	       copy_text(held->reason, sizeof(held->reason), reason) &&
	       read_episode(episode, &held->episode) && held->episode.number;
}

static bool read_held(json_t *json, struct rf_held_list *list)
{
	json_t *one;
	size_t i;

	if (json_array_size(json) > RF_EVENTS_SOURCES)
		return false;
	json_array_foreach (json, i, one) {
		if (!read_one(one, &list->held[list->count]))
			return false;
		list->has_networks |= list->held[list->count++].is_network;
	}
	rf_held_sort(list);
	return true;
}

static void read_counts(json_t *json, uint64_t of[RF_EVENT_TYPES])
{
	for (int type = 0; type < RF_EVENT_TYPES; type++)
		of[type] = json_integer_value(json_object_get(json, rf_event_type_name(type)));
}

static bool read_worst(json_t *json, struct rf_event *left_out)
{
	json_t *one;
	size_t i;

	json_array_foreach (json, i, one) {
		struct rf_event_worst *worst = &left_out->worst[i];
		const char *source, *limit;
		struct rf_error unused;
		json_int_t dropped;

		if (i >= RF_EVENT_WORST ||
		    json_unpack(one, "[s, s, I]", &source, &limit, &dropped) ||
		    rf_parse_prefix(source, &worst->source, &unused) ||
		    !copy_text(worst->limit, sizeof(worst->limit), limit))
			return false;
		worst->has_source = true;
		worst->dropped = dropped;
		left_out->worst_count++;
	}
	return true;
}

/* The state of an older version has none of these. */
static bool read_newer(json_t *json, struct rf_events *events)
{
	json_t *alone = json_object_get(json, "alone"), *bypass = json_object_get(json, "bypass");
	json_t *pause = json_object_get(json, "pause"), *slot;
	json_t *challenges = json_object_get(json, "challenges");
	size_t i;

	json_array_foreach (json_object_get(json, "members"), i, slot) {
		const json_int_t number = json_integer_value(slot);

		if (!json_is_integer(slot) || number < 0 || number >= RF_FLEET_HOSTS_MAX)
			return false;
		events->member[number / 64] |= 1ULL << number % 64;
	}
	if (challenges && !read_episode(challenges, &events->challenges))
		return false;
	events->proven = json_integer_value(json_object_get(json, "proven"));
	return events->proven <= events->challenges.passed &&
	       (!alone || read_episode(alone, &events->alone)) &&
	       (!bypass || read_episode(bypass, &events->bypass)) &&
	       (!pause || read_episode(pause, &events->pause));
}

static bool read_parts(json_t *json, struct rf_events *events)
{
	json_t *attached, *newcomers, *flood, *full, *errors, *sources, *bans, *worst;

	if (json_unpack(json, "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "attached", &attached,
			"newcomers", &newcomers, "flood", &flood, "full", &full, "errors", &errors,
			"sources", &sources, "bans", &bans, "worst", &worst))
		return false;
	read_counts(json_object_get(json, "suppressed"), events->left_out.left_out);
	return read_episode(attached, &events->attached) &&
	       read_episode(newcomers, &events->newcomers) && read_episode(flood, &events->flood) &&
	       read_episode(full, &events->full) && read_episode(errors, &events->errors) &&
	       read_held(sources, &events->sources) && read_held(bans, &events->bans) &&
	       read_worst(worst, &events->left_out) && read_newer(json, events);
}

static bool read_all(json_t *json, struct rf_events *events)
{
	json_int_t number, seq, tokens, active, in_force, bans_seen;
	const char *fence, *identity, *base;
	int version, has_rules, confirmation;

	if (json_unpack(json, "{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:I, s:i, s:I}",
			"version", &version, "fence", &fence, "identity", &identity, "base", &base,
			"number", &number, "seq", &seq, "tokens", &tokens, "has_rules", &has_rules,
			"active", &active, "in_force", &in_force, "confirmation", &confirmation,
			"bans_seen", &bans_seen) ||
	    version != STATE_VERSION || seq < 0 || seq > RF_EVENT_SEQ_MAX)
		return false;
	events->number = number;
	events->seq = seq;
	if (tokens < events->tokens_ns)
		events->tokens_ns = tokens;
	events->has_rules = has_rules;
	events->rules = (struct rf_rules_seen){active, in_force, confirmation, .limits = -1};
	events->bans_seen = bans_seen;
	return copy_text(events->fence, sizeof(events->fence), fence) &&
	       copy_text(events->identity, sizeof(events->identity), identity) &&
	       copy_text(events->base, sizeof(events->base), base) && read_parts(json, events);
}

uint64_t rf_events_state_last(const char *state)
{
	json_t *json = state ? json_loads(state, 0, NULL) : NULL;
	const json_int_t last = json_integer_value(json_object_get(json, "seq"));

	json_decref(json);
	return last > 0 && last <= RF_EVENT_SEQ_MAX ? last : 0;
}

/* Text that cannot be read leaves `events` as they are. */
static void restore(struct rf_events *events, const char *state)
{
	struct rf_events *read = calloc(1, sizeof(*read));
	json_t *json = json_loads(state, 0, NULL);

	if (read && json) {
		*read = *events;
		if (read_all(json, read))
			*events = *read;
	}
	json_decref(json);
	free(read);
}

/* ---- opening ---- */

struct rf_events *rf_events_open(const char *state)
{
	struct rf_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->tokens_ns = RF_EVENTS_BURST * RF_EVENT_TOKEN_NS;
	events->has_changed = true;
	if (state)
		restore(events, state);
	return events;
}

void rf_events_close(struct rf_events *events)
{
	free(events);
}

bool rf_events_changed(const struct rf_events *events)
{
	return events->has_changed;
}

/* ---- numbers ---- */

void rf_events_number_after(struct rf_events *events, uint64_t last, uint64_t time_ns)
{
	if (last > events->seq && last <= RF_EVENT_SEQ_MAX)
		events->seq = last;
	if (events->seq)
		return;
	events->seq = time_ns / RF_NS_PER_MS;
	events->is_numbered_anew = true;
}

/* ---- a scan ---- */

/* Without a state, no id that was assigned before is assigned again. */
static void make_base(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	uint64_t time = snapshot->time_ns;

	for (size_t i = 0; i < sizeof(time); i++, time >>= 8)
		hash = (hash ^ (time & 0xff)) * 16777619U;
	for (const char *p = snapshot->identity; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619U;
	snprintf(events->base, sizeof(events->base), "%07x", hash >> 4);
}

static void note_attached(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event;

	if (!*events->base)
		make_base(events, snapshot);
	if (*events->identity && strcmp(events->identity, snapshot->identity) != 0)
		rf_events_gone(events, events->time_ns, events->sink, events->context);
	memcpy(events->fence, snapshot->fence, sizeof(events->fence));
	if (*events->identity)
		return;
	memcpy(events->identity, snapshot->identity, sizeof(events->identity));
	event = rf_event_of(events, RF_EVENT_ATTACHED);
	if (events->is_numbered_anew)
		snprintf(event.detail, sizeof(event.detail),
			 "no earlier number was found: numbers start from the clock");
	events->is_numbered_anew = false;
	rf_episode_start(events, &events->attached, &event);
}

static void note_time(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	const int64_t most = RF_EVENTS_BURST * RF_EVENT_TOKEN_NS;

	events->time_ns = snapshot->time_ns;
	events->passed_ns = 0;
	if (events->awake_ns && snapshot->awake_ns > events->awake_ns)
		events->passed_ns = snapshot->awake_ns - events->awake_ns;
	events->awake_ns = snapshot->awake_ns;
	events->tokens_ns += events->passed_ns > (uint64_t)most ? most : (int64_t)events->passed_ns;
	if (events->tokens_ns > most)
		events->tokens_ns = most;
}

void rf_events_feed(struct rf_events *events, const struct rf_snapshot *snapshot,
		    rf_event_sink sink, void *context)
{
	events->sink = sink;
	events->context = context;
	note_time(events, snapshot);
	note_attached(events, snapshot);
	rf_events_feed_fence(events, snapshot);
	rf_events_feed_sources(events, snapshot);
	rf_events_tell_left_out(events, false);
	events->before = snapshot->sums.counters;
	events->has_before = true;
}

void rf_events_gone(struct rf_events *events, uint64_t time_ns, rf_event_sink sink, void *context)
{
	struct rf_event event;

	events->sink = sink;
	events->context = context;
	events->time_ns = time_ns;
	if (!*events->identity)
		return;
	rf_events_end_sources(events);
	rf_events_end_fence(events);
	event = rf_event_of(events, RF_EVENT_DETACHED);
	rf_episode_end(events, &events->attached, &event);
	rf_events_tell_left_out(events, true);
	*events->identity = '\0';
	events->has_rules = events->has_before = false;
	events->bans_seen = 0;
	events->has_changed = true;
}
