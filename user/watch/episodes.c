// SPDX-License-Identifier: GPL-2.0
/*
 * Which events are reported and which are suppressed, and how a start is linked to its end. The
 * number of single sources is unlimited, so only a bounded number can have an episode.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "rules/policy.h"
#include "watch/episodes.h"

#define STRETCHED_NS (3 * RF_NS_PER_S / 2)

/* ---- telling ---- */

struct rf_event rf_event_of(const struct rf_events *events, enum rf_event_type type)
{
	struct rf_event event = {.type = type, .time_ns = events->time_ns};

	memcpy(event.fence, events->fence, sizeof(event.fence));
	if (events->passed_ns > STRETCHED_NS)
		event.interval_ns = events->passed_ns;
	return event;
}

/* The number of single sources is unlimited: they leave room for the other events. */
static bool is_of_source(enum rf_event_type type)
{
	return type <= RF_EVENT_BAN_ENDED;
}

/* A start also pays for its end event, which therefore never has to wait. */
static int64_t cost(enum rf_event_type type)
{
	switch (type) {
	case RF_EVENT_SOURCE_LIMITED:
	case RF_EVENT_BAN_STARTED:
	case RF_EVENT_NEWCOMERS_LIMITED:
	case RF_EVENT_CHALLENGES_STARTED:
	case RF_EVENT_FLOOD_STARTED:
	case RF_EVENT_ATTACHED:
	case RF_EVENT_FLEET_OFFLINE:
	case RF_EVENT_BYPASS_STARTED:
	case RF_EVENT_PAUSED:
		return 2 * RF_EVENT_TOKEN_NS;
	case RF_EVENT_SOURCE_RELEASED:
	case RF_EVENT_BAN_ENDED:
	case RF_EVENT_NEWCOMERS_RELEASED:
	case RF_EVENT_CHALLENGES_ENDED:
	case RF_EVENT_FLOOD_ENDED:
	case RF_EVENT_DETACHED:
	case RF_EVENT_FLEET_ONLINE:
	case RF_EVENT_BYPASS_ENDED:
	case RF_EVENT_RESUMED:
		return 0;
	default:
		return RF_EVENT_TOKEN_NS;
	}
}

static bool may_tell(const struct rf_events *events, enum rf_event_type type)
{
	const int64_t reserved = is_of_source(type) ? RF_EVENTS_RESERVED : 0;

	return events->tokens_ns >= reserved * RF_EVENT_TOKEN_NS + cost(type);
}

/* Records the worst sources of the suppressed events, the worst one first. */
static void note_worst(struct rf_event *left_out, const struct rf_event *event)
{
	struct rf_event_worst one = {true, event->source, "", event->dropped};
	unsigned int at = left_out->worst_count;

	if (!event->has_source)
		return;
	memcpy(one.limit, event->limit, sizeof(one.limit));
	while (at && left_out->worst[at - 1].dropped < one.dropped)
		at--;
	if (at == RF_EVENT_WORST)
		return;
	if (left_out->worst_count < RF_EVENT_WORST)
		left_out->worst_count++;
	memmove(&left_out->worst[at + 1], &left_out->worst[at],
		(left_out->worst_count - at - 1) * sizeof(one));
	left_out->worst[at] = one;
}

static void give(struct rf_events *events, struct rf_event *event)
{
	events->tokens_ns -= cost(event->type);
	events->sink(events->context, event);
}

static void leave_out(struct rf_events *events, struct rf_event *event)
{
	events->has_changed = true;
	event->seq = ++events->seq;
	events->left_out.left_out[event->type]++;
	note_worst(&events->left_out, event);
}

bool rf_events_tell(struct rf_events *events, struct rf_event *event)
{
	if (!may_tell(events, event->type)) {
		leave_out(events, event);
		return false;
	}
	events->has_changed = true;
	event->seq = ++events->seq;
	give(events, event);
	return true;
}

static bool has_left_out(const struct rf_events *events)
{
	for (int type = 0; type < RF_EVENT_TYPES; type++)
		if (events->left_out.left_out[type])
			return true;
	return false;
}

void rf_events_tell_left_out(struct rf_events *events, bool at_once)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_SUPPRESSED);

	if (!has_left_out(events))
		return;
	events->left_out_ns += events->passed_ns;
	if (!at_once && events->left_out_ns < RF_EVENTS_SUPPRESSED_S * RF_NS_PER_S)
		return;
	memcpy(event.left_out, events->left_out.left_out, sizeof(event.left_out));
	memcpy(event.worst, events->left_out.worst, sizeof(event.worst));
	event.worst_count = events->left_out.worst_count;
	events->left_out = (struct rf_event){};
	events->left_out_ns = 0;
	events->has_changed = true;
	event.seq = ++events->seq;
	give(events, &event); /* also without a free token: these are few */
}

/* ---- episodes ---- */

static void name_event(const struct rf_events *events, const struct rf_episode *episode,
		       struct rf_event *event)
{
	snprintf(event->id, sizeof(event->id), "%s-%s-%" PRIu64, events->fence, events->base,
		 episode->number);
	event->first_seen_ns = episode->first_ns;
}

void rf_episode_start(struct rf_events *events, struct rf_episode *episode, struct rf_event *event)
{
	*episode = (struct rf_episode){
		.number = ++events->number,
		.first_ns = events->time_ns - (events->has_before ? events->passed_ns : 0),
		.dropped = event->dropped,
		.passed = event->passed,
	};
	name_event(events, episode, event);
	episode->is_told = rf_events_tell(events, event);
}

void rf_episode_end(struct rf_events *events, struct rf_episode *episode, struct rf_event *event)
{
	if (episode->is_told) {
		event->dropped = episode->dropped;
		event->passed = episode->passed;
		name_event(events, episode, event);
		event->seq = ++events->seq;
		give(events, event);
	}
	*episode = (struct rf_episode){};
	events->has_changed = true;
}

bool rf_episode_go_on(struct rf_events *events, struct rf_episode *episode, bool is_on,
		      struct rf_event *event)
{
	if (!episode->number) {
		if (is_on)
			rf_episode_start(events, episode, event);
		return false;
	}
	episode->dropped += event->dropped;
	episode->passed += event->passed;
	episode->quiet_ns = is_on ? 0 : episode->quiet_ns + events->passed_ns;
	return episode->quiet_ns >= RF_EVENTS_QUIET_S * RF_NS_PER_S;
}

/* ---- single sources that have an episode, sorted as the rows of a snapshot ---- */

static int compare_key(const struct rf_held *held, const struct rf_prefix *source,
		       uint32_t limit_id, bool is_aggregate)
{
	const int order = rf_prefix_compare(&held->source, source);

	if (order)
		return order;
	if (held->limit_id != limit_id)
		return held->limit_id < limit_id ? -1 : 1;
	return held->is_aggregate - is_aggregate;
}

/* The first entry that is not before this source. */
static size_t place_of(const struct rf_held_list *list, const struct rf_prefix *source,
		       uint32_t limit_id, bool is_aggregate)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (compare_key(&list->held[middle], source, limit_id, is_aggregate) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_held(const void *a, const void *b)
{
	const struct rf_held *other = b;

	return compare_key(a, &other->source, other->limit_id, other->is_aggregate);
}

void rf_held_sort(struct rf_held_list *list)
{
	rf_sort(list->held, list->count, sizeof(*list->held), compare_held);
}

static bool is_held(const struct rf_held_list *list, const struct rf_prefix *source,
		    uint32_t limit_id, bool is_aggregate)
{
	const size_t at = place_of(list, source, limit_id, is_aggregate);

	return at < list->count && !compare_key(&list->held[at], source, limit_id, is_aggregate);
}

/*
 * Assigns a source the entry of its network, restored from the saved state. Of two sources in a
 * network, it is unknown which is which. The list is sorted afterwards.
 */
static void take_place(struct rf_held_list *list, const struct rf_prefix *source, uint32_t limit_id,
		       bool is_aggregate)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rf_held *held = &list->held[i];

		if (!held->is_network || held->limit_id != limit_id ||
		    held->is_aggregate != is_aggregate ||
		    !rf_prefix_contains(&held->source, source))
			continue;
		held->is_network = false;
		held->source = *source;
		rf_held_sort(list);
		return;
	}
}

static struct rf_held *hold(struct rf_held_list *list, const struct rf_held *one)
{
	const size_t at = place_of(list, &one->source, one->limit_id, one->is_aggregate);

	memmove(&list->held[at + 1], &list->held[at], (list->count - at) * sizeof(*one));
	list->count++;
	list->held[at] = *one;
	return &list->held[at];
}

static void drop_ended(struct rf_held_list *list)
{
	size_t left = 0;

	list->has_networks = false;
	for (size_t i = 0; i < list->count; i++) {
		if (!list->held[i].episode.number)
			continue;
		if (left != i)
			list->held[left] = list->held[i];
		list->has_networks |= list->held[left++].is_network;
	}
	list->count = left;
}

static struct rf_event event_of(const struct rf_events *events, enum rf_event_type type,
				const struct rf_held *held)
{
	struct rf_event event = rf_event_of(events, type);

	event.has_source = true;
	event.source = held->source;
	memcpy(event.limit, held->limit, sizeof(event.limit));
	memcpy(event.rate, held->rate, sizeof(event.rate));
	memcpy(event.reason, held->reason, sizeof(event.reason));
	if (held->is_aggregate)
		snprintf(event.detail, sizeof(event.detail), "newcomers of this network");
	return event;
}

static struct rf_held held_of(const struct rf_prefix *source, uint32_t limit_id,
			      const struct rf_limit *limit, enum rf_reason reason)
{
	struct rf_held held = {.source = *source, .limit_id = limit_id, .is_seen = true};

	memcpy(held.limit, limit->name, sizeof(held.limit));
	rf_format_limit_rate(limit, held.rate);
	snprintf(held.reason, sizeof(held.reason), "%s", rf_reason_name(reason));
	return held;
}

/* ---- sources over a limit ---- */

static void release_source(struct rf_events *events, struct rf_held *held, const char *detail)
{
	struct rf_event event = event_of(events, RF_EVENT_SOURCE_RELEASED, held);

	if (*detail)
		snprintf(event.detail, sizeof(event.detail), "%s", detail);
	rf_episode_end(events, &held->episode, &event);
}

/* `row` is NULL if the source has no window. */
static void go_on_source(struct rf_events *events, struct rf_held *held,
			 const struct rf_source_row *row)
{
	const uint64_t dropped = row ? row->new_dropped : 0;
	struct rf_event event = {.dropped = dropped, .passed = row ? row->new_passed : 0};

	held->weight = dropped > held->weight / 2 ? dropped : held->weight / 2;
	if (rf_episode_go_on(events, &held->episode, dropped, &event))
		release_source(events, held, "");
}

/* The worst of those without state, the worst one first. */
struct worst {
	const struct rf_source_row *row[RF_EVENTS_SOURCES];
	size_t count;
};

static void consider(struct worst *worst, const struct rf_source_row *row)
{
	size_t at = worst->count;

	if (!row->new_dropped ||
	    (at == RF_EVENTS_SOURCES && worst->row[at - 1]->new_dropped >= row->new_dropped))
		return;
	if (at == RF_EVENTS_SOURCES)
		at--;
	else
		worst->count++;
	for (; at && worst->row[at - 1]->new_dropped < row->new_dropped; at--)
		worst->row[at] = worst->row[at - 1];
	worst->row[at] = row;
}

/* Both are sorted alike. */
static void feed_rows(struct rf_events *events, const struct rf_source_rows *rows,
		      struct worst *worst)
{
	struct rf_held *held = events->sources.held, *end = held + events->sources.count;

	for (size_t i = 0; i < rows->count; i++) {
		const struct rf_source_row *row = &rows->row[i];
		int order = 1;

		while (held < end && (order = compare_key(held, &row->source, row->limit_id,
							  row->is_aggregate)) < 0)
			go_on_source(events, held++, NULL);
		if (held < end && !order)
			go_on_source(events, held++, row);
		else
			consider(worst, row);
	}
	while (held < end)
		go_on_source(events, held++, NULL);
}

static struct rf_held *least_held(struct rf_held_list *list)
{
	struct rf_held *least = &list->held[0];

	for (size_t i = 1; i < list->count; i++)
		if (list->held[i].weight < least->weight)
			least = &list->held[i];
	return least;
}

/*
 * A worse source replaces the least; it must be worse by twice, or equal sources would alternate.
 */
static bool make_room(struct rf_events *events, uint64_t dropped)
{
	struct rf_held *held;

	if (events->sources.count < RF_EVENTS_SOURCES)
		return true;
	held = least_held(&events->sources);
	if (dropped / 2 <= held->weight)
		return false;
	release_source(events, held, "others lose more packets");
	drop_ended(&events->sources);
	return true;
}

static void start_source(struct rf_events *events, const struct rf_source_row *row)
{
	struct rf_held one = held_of(&row->source, row->limit_id, row->limit,
				     row->banned_ns ? RF_BANNED : RF_OVER_LIMIT);
	struct rf_event event;

	one.is_aggregate = row->is_aggregate;
	one.weight = row->new_dropped;
	event = event_of(events, RF_EVENT_SOURCE_LIMITED, &one);
	event.dropped = row->new_dropped;
	event.passed = row->new_passed;
	rf_episode_start(events, &one.episode, &event);
	hold(&events->sources, &one);
}

static void take_places(struct rf_held_list *list, const struct rf_source_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct rf_source_row *row = &rows->row[i];

		if (row->new_dropped &&
		    !is_held(list, &row->source, row->limit_id, row->is_aggregate))
			take_place(list, &row->source, row->limit_id, row->is_aggregate);
	}
}

static void feed_limited(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct worst worst = {.count = 0};

	if (events->sources.has_networks)
		take_places(&events->sources, &snapshot->sources);
	feed_rows(events, &snapshot->sources, &worst);
	drop_ended(&events->sources);
	for (size_t i = 0; i < worst.count; i++) {
		if (!make_room(events, worst.row[i]->new_dropped))
			break;
		start_source(events, worst.row[i]);
	}
}

/* ---- banned sources ---- */

static void start_ban(struct rf_events *events, const struct rf_ban_row *row,
		      const struct rf_prefix *source)
{
	struct rf_held one = held_of(source, row->limit_id, row->limit, RF_BANNED);
	struct rf_event event = event_of(events, RF_EVENT_BAN_STARTED, &one);
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(row->limit->ban_ns, time);
	snprintf(event.detail, sizeof(event.detail), "for %s", time);
	if (events->bans.count == RF_EVENTS_SOURCES) {
		leave_out(events, &event);
		return;
	}
	rf_episode_start(events, &one.episode, &event);
	hold(&events->bans, &one);
}

static void feed_ban(struct rf_events *events, const struct rf_ban_row *row)
{
	const struct rf_prefix source = rf_limit_source(row->limit, &row->source);
	struct rf_held_list *bans = &events->bans;

	if (bans->has_networks && row->since < events->bans_seen &&
	    !is_held(bans, &source, row->limit_id, false))
		take_place(bans, &source, row->limit_id, false);
	if (is_held(bans, &source, row->limit_id, false))
		bans->held[place_of(bans, &source, row->limit_id, false)].is_seen = true;
	else if (row->since >= events->bans_seen)
		start_ban(events, row, &source);
}

static void end_ban(struct rf_events *events, struct rf_held *held)
{
	struct rf_event event = event_of(events, RF_EVENT_BAN_ENDED, held);

	rf_episode_end(events, &held->episode, &event);
}

static void feed_bans(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_held_list *bans = &events->bans;

	for (size_t i = 0; i < bans->count; i++)
		bans->held[i].is_seen = false;
	for (size_t i = 0; i < snapshot->bans.count; i++)
		feed_ban(events, &snapshot->bans.row[i]);
	for (size_t i = 0; i < bans->count; i++)
		if (!bans->held[i].is_seen)
			end_ban(events, &bans->held[i]);
	drop_ended(bans);
	events->bans_seen = snapshot->bans.now;
}

/* ---- all single sources ---- */

void rf_events_feed_sources(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	feed_bans(events, snapshot);
	feed_limited(events, snapshot);
}

void rf_events_end_sources(struct rf_events *events)
{
	for (size_t i = 0; i < events->bans.count; i++)
		end_ban(events, &events->bans.held[i]);
	for (size_t i = 0; i < events->sources.count; i++)
		release_source(events, &events->sources.held[i], "");
	events->bans.count = events->sources.count = 0;
}
