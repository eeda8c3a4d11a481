// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the whole fence: of its rules, its traffic, packets that bypass the program, and
 * its fleet.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

/* Closes the episode, if it is open. */
static void end(struct rf_events *events, struct rf_episode *episode, enum rf_event_type type)
{
	struct rf_event event = rf_event_of(events, type);

	if (episode->number)
		rf_episode_end(events, episode, &event);
}

/* ---- rules: changed, unconfirmed, confirmed, reverted ---- */

static void see_rules(const struct rf_snapshot *snapshot, struct rf_rules_seen *seen)
{
	const struct rf_bank *rules = &snapshot->bans.rules;

	*seen = (struct rf_rules_seen){
		.active = snapshot->standing.active,
		.in_force = snapshot->standing.in_force,
		.state = snapshot->standing.state,
	};
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!rules->policy[slot].id)
			continue;
		memcpy(seen->name[seen->limits], rules->limit[slot].name, RF_NAME_SIZE);
		rf_format_limit_rate(&rules->limit[slot], seen->rate[seen->limits++]);
	}
	rf_format_newcomers(&rules->newcomers, seen->newcomers);
}

/* The rate of a limit; NULL: there is no such limit. */
static const char *rate_of(const struct rf_rules_seen *seen, const char *name)
{
	for (int i = 0; i < seen->limits; i++)
		if (!strcmp(seen->name[i], name))
			return seen->rate[i];
	return NULL;
}

__attribute__((format(printf, 2, 3))) static void add_text(struct rf_event *event,
							   const char *format, ...)
{
	const size_t length = strlen(event->detail);
	va_list args;

	va_start(args, format);
	vsnprintf(event->detail + length, sizeof(event->detail) - length, format, args);
	va_end(args);
}

static void describe_change(struct rf_event *event, const struct rf_rules_seen *old,
			    const struct rf_rules_seen *new)
{
	if (old->limits < 0) {
		add_text(event, "while no daemon ran");
		return;
	}
	for (int i = 0; i < new->limits; i++) {
		const char *rate = rate_of(old, new->name[i]);
		const char *before = *event->detail ? "; " : "";

		if (!rate)
			add_text(event, "%sadded %s %s", before, new->name[i], new->rate[i]);
		else if (strcmp(rate, new->rate[i]) != 0)
			add_text(event, "%schanged %s from %s to %s", before, new->name[i], rate,
				 new->rate[i]);
	}
	for (int i = 0; i < old->limits; i++)
		if (!rate_of(new, old->name[i]))
			add_text(event, "%sdeleted %s %s", *event->detail ? "; " : "", old->name[i],
				 old->rate[i]);
	if (strcmp(old->newcomers, new->newcomers) != 0)
		add_text(event, "%s%s", *event->detail ? "; " : "", new->newcomers);
}

static bool has_reverted(const struct rf_rules_seen *seen)
{
	return seen->state == RF_REVERTED || seen->state == RF_EXPIRED;
}

static void tell_changed(struct rf_events *events, const struct rf_snapshot *snapshot,
			 const struct rf_rules_seen *new)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_RULES_CHANGED);
	char left[RF_DURATION_TEXT_SIZE];

	/* Rules that are no longer active cannot be described. */
	if (!has_reverted(new))
		describe_change(&event, &events->rules, new);
	if (new->state == RF_PENDING) {
		rf_format_left(snapshot->standing.confirm_ns, left);
		add_text(&event, "%sunconfirmed, %s left", *event.detail ? "; " : "", left);
	}
	rf_events_tell(events, &event);
}

static void tell_reverted(struct rf_events *events, const struct rf_rules_seen *new)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_CONFIRMATION_EXPIRED);

	add_text(&event, "%s",
		 new->state == RF_EXPIRED
			 ? "the attach was not confirmed in time: everything passes"
			 : "the rules were not confirmed in time: the previous rules are active "
			   "again");
	rf_events_tell(events, &event);
}

static void tell_confirmed(struct rf_events *events)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_CONFIRMED);

	add_text(&event, "the rules were confirmed");
	rf_events_tell(events, &event);
}

static void feed_rules(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	const struct rf_rules_seen *old = &events->rules;
	struct rf_rules_seen new;
	bool is_other, is_confirmed, is_reverted;

	see_rules(snapshot, &new);
	is_other = new.active != old->active;
	is_reverted = has_reverted(&new) && (is_other || old->state != new.state);
	/* After a revert, the previous rules are active under either number. */
	is_other = is_other && (is_reverted || new.in_force != old->in_force);
	is_confirmed = !is_other && old->state == RF_PENDING && new.state == RF_CONFIRMED;
	if (events->has_rules && is_other)
		tell_changed(events, snapshot, &new);
	if (events->has_rules && is_confirmed)
		tell_confirmed(events);
	if (events->has_rules && is_reverted)
		tell_reverted(events, &new);
	if (!events->has_rules || old->active != new.active || old->state != new.state)
		events->has_changed = true;
	events->rules = new;
	events->has_rules = true;
}

/* ---- pauses ---- */

static void feed_pause(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_PAUSED);
	const uint64_t left_ns = snapshot->standing.paused_ns;
	char left[RF_DURATION_TEXT_SIZE];

	if (!left_ns)
		end(events, &events->pause, RF_EVENT_RESUMED);
	if (!left_ns || events->pause.number)
		return;
	rf_format_left(left_ns, left);
	add_text(&event, "nothing is dropped, %s left", left);
	rf_episode_start(events, &events->pause, &event);
}

/* ---- changes of the counters ---- */

/* The changes of the counters since the scan before. */
struct news {
	uint64_t reason[RF_REASON_COUNT];
	uint64_t map_error[RF_MAP_ERROR_COUNT];
	uint64_t passed, dropped, aggregated;
	uint64_t sources; /* that lose packets */
	const struct rf_source_row *worst;
};

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void find_sources(const struct rf_snapshot *snapshot, struct news *news)
{
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];

		if (!row->new_dropped)
			continue;
		news->sources++;
		if (!news->worst || row->new_dropped > news->worst->new_dropped)
			news->worst = row;
	}
}

static void find_news(const struct rf_events *events, const struct rf_snapshot *snapshot,
		      struct news *news)
{
	const struct rf_counters *before = &events->before, *now = &snapshot->sums.counters;

	*news = (struct news){};
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		news->reason[i] = growth(before->reason[i].packets, now->reason[i].packets);
		*(rf_reason_is_drop(i) ? &news->dropped : &news->passed) += news->reason[i];
	}
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		news->map_error[i] = growth(before->map_error[i], now->map_error[i]);
	news->aggregated = growth(before->newcomers_aggregated, now->newcomers_aggregated);
	find_sources(snapshot, news);
}

static enum rf_reason main_reason(const struct news *news)
{
	enum rf_reason most = RF_OVER_LIMIT;

	for (enum rf_reason i = 0; i < RF_REASON_COUNT; i++)
		if (rf_reason_is_drop(i) && news->reason[i] > news->reason[most])
			most = i;
	return most;
}

static void set_reason(struct rf_event *event, enum rf_reason reason)
{
	snprintf(event->reason, sizeof(event->reason), "%s", rf_reason_name(reason));
}

/* ---- floods ---- */

static void describe_flood(const struct news *news, struct rf_event *event)
{
	const struct rf_source_row *worst = news->worst;

	event->dropped = news->dropped;
	event->passed = news->passed;
	if (news->dropped)
		set_reason(event, main_reason(news));
	if (worst) {
		event->has_source = true;
		event->source = worst->source;
		memcpy(event->limit, worst->limit->name, sizeof(event->limit));
		rf_format_limit_rate(worst->limit, event->rate);
	}
	snprintf(event->detail, sizeof(event->detail), "%" PRIu64 " source%s over a limit",
		 news->sources, news->sources == 1 ? "" : "s");
}

/* An open flood continues down to half of the starting threshold. */
static bool is_flood(const struct rf_events *events, const struct news *news)
{
	const uint64_t part = events->flood.number ? 2 : 1;
	const uint64_t packets =
		news->dropped + news->reason[RF_NEWCOMER_PASS] + news->reason[RF_MAP_ERROR];
	const double seconds = (double)events->passed_ns / RF_NS_PER_S;

	return (double)packets * part >= RF_EVENTS_FLOOD_PACKETS * seconds ||
	       news->sources * part >= RF_EVENTS_FLOOD_SOURCES;
}

static void feed_flood(struct rf_events *events, const struct news *news)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLOOD_STARTED);

	describe_flood(news, &event);
	if (rf_episode_go_on(events, &events->flood, is_flood(events, news), &event))
		end(events, &events->flood, RF_EVENT_FLOOD_ENDED);
}

/* ---- newcomers ---- */

static void describe_newcomers(const struct rf_snapshot *snapshot, const struct news *news,
			       struct rf_event *event)
{
	const struct rf_newcomers *newcomers = &snapshot->bans.rules.newcomers;

	event->dropped = news->reason[RF_NEWCOMER_DROP];
	event->passed = news->reason[RF_NEWCOMER_PASS];
	if (event->dropped)
		set_reason(event, RF_NEWCOMER_DROP);
	else if (event->passed)
		set_reason(event, RF_NEWCOMER_PASS);
	if (newcomers->then != RF_NEWCOMERS_OFF)
		rf_format_rate(newcomers->rate, newcomers->window_ns, event->rate);
	if (news->aggregated)
		snprintf(event->detail, sizeof(event->detail),
			 "%" PRIu64 " packets were charged to their networks", news->aggregated);
}

static void feed_newcomers(struct rf_events *events, const struct rf_snapshot *snapshot,
			   const struct news *news)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_NEWCOMERS_LIMITED);
	const bool is_on = news->reason[RF_NEWCOMER_DROP] || news->reason[RF_NEWCOMER_PASS] ||
			   news->aggregated;

	describe_newcomers(snapshot, news, &event);
	if (rf_episode_go_on(events, &events->newcomers, is_on, &event))
		end(events, &events->newcomers, RF_EVENT_NEWCOMERS_RELEASED);
}

/* ---- challenges ---- */

/* All that passed is either proven or of an open connection. */
static void describe_challenges(const struct rf_event *event, uint64_t proven,
				char detail[RF_EVENT_DETAIL_SIZE])
{
	snprintf(detail, RF_EVENT_DETAIL_SIZE,
		 "%" PRIu64 " challenged, %" PRIu64 " proven, %" PRIu64 " established",
		 event->dropped, proven, event->passed - proven);
}

static void end_challenges(struct rf_events *events)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_CHALLENGES_ENDED);

	if (!events->challenges.number)
		return;
	event.dropped = events->challenges.dropped;
	event.passed = events->challenges.passed;
	describe_challenges(&event, events->proven, event.detail);
	rf_episode_end(events, &events->challenges, &event);
	events->proven = 0;
}

static void feed_challenges(struct rf_events *events, const struct rf_snapshot *snapshot,
			    const struct news *news)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_CHALLENGES_STARTED);
	const struct rf_newcomers *newcomers = &snapshot->bans.rules.newcomers;
	const bool is_on = news->reason[RF_CHALLENGED], is_open = events->challenges.number;
	bool ends;

	event.dropped = news->reason[RF_CHALLENGED];
	event.passed = news->reason[RF_PROVEN] + news->reason[RF_ESTABLISHED];
	set_reason(&event, RF_CHALLENGED);
	if (newcomers->then != RF_NEWCOMERS_OFF)
		rf_format_rate(newcomers->rate, newcomers->window_ns, event.rate);
	describe_challenges(&event, news->reason[RF_PROVEN], event.detail);
	ends = rf_episode_go_on(events, &events->challenges, is_on, &event);
	if (is_open || is_on)
		events->proven += news->reason[RF_PROVEN];
	if (ends)
		end_challenges(events);
}

/* ---- windows ---- */

static bool is_full(enum rf_map_error error)
{
	return error == RF_NO_IDLE_SLOT || error == RF_INSERT_FULL;
}

/* Reported once until there was none for a while. There is no event for the end. */
static void feed_errors(struct rf_events *events, const struct news *news,
			struct rf_episode *episode, enum rf_event_type type)
{
	struct rf_event event = rf_event_of(events, type);
	bool is_on = false;

	event.passed = news->reason[RF_MAP_ERROR];
	event.dropped = news->reason[RF_NO_WINDOW];
	for (enum rf_map_error i = 0; i < RF_MAP_ERROR_COUNT; i++) {
		const size_t length = strlen(event.detail);

		if (!news->map_error[i] || is_full(i) != (type == RF_EVENT_WINDOWS_FULL))
			continue;
		snprintf(event.detail + length, sizeof(event.detail) - length, "%s%s %" PRIu64,
			 is_on ? ", " : "", rf_map_error_name(i), news->map_error[i]);
		is_on = true;
	}
	if (!rf_episode_go_on(events, episode, is_on, &event))
		return;
	*episode = (struct rf_episode){};
	events->has_changed = true;
}

static void feed_traffic(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct news news;

	if (!events->has_before || !events->passed_ns)
		return;
	find_news(events, snapshot, &news);
	feed_flood(events, &news);
	feed_newcomers(events, snapshot, &news);
	feed_challenges(events, snapshot, &news);
	feed_errors(events, &news, &events->full, RF_EVENT_WINDOWS_FULL);
	feed_errors(events, &news, &events->errors, RF_EVENT_MAP_ERRORS);
}

/* ---- packets that bypass the program ---- */

static void describe_bypass(const struct rf_snapshot *snapshot, struct rf_event *event)
{
	char text[RF_BYPASS_TEXT_SIZE];

	for (int i = 0; i < snapshot->interfaces; i++) {
		const struct rf_interface_seen *seen = &snapshot->interface[i];
		const size_t length = strlen(event->detail);

		if (seen->bypass.met != RF_BYPASSED)
			continue;
		rf_bypass_format(&seen->bypass, text);
		snprintf(event->detail + length, sizeof(event->detail) - length, "%s%s: %s",
			 length ? "; " : "", seen->name, text);
	}
}

/* Stops as soon as the program of each interface counts again; without packets it continues. */
static void feed_bypass(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_BYPASS_STARTED);
	bool is_bypassed = false, is_met = false;

	for (int i = 0; i < snapshot->interfaces; i++) {
		is_bypassed |= snapshot->interface[i].bypass.met == RF_BYPASSED;
		is_met |= snapshot->interface[i].bypass.met == RF_MET;
	}
	if (events->bypass.number && is_met && !is_bypassed)
		end(events, &events->bypass, RF_EVENT_BYPASS_ENDED);
	if (events->bypass.number || !is_bypassed)
		return;
	describe_bypass(snapshot, &event);
	rf_episode_start(events, &events->bypass, &event);
}

/* ---- a host without connection to the fleet server ---- */

static void describe_alone(const struct rf_fleet_seen *seen, struct rf_event *event)
{
	const struct rf_agent_seen *agent = &seen->agent;
	const char *why = "";

	if (!agent->is_up)
		why = "no agent serves the fence";
	else if (*agent->trouble)
		why = agent->trouble;
	if (seen->standing.alone < RF_BUCKETS)
		snprintf(event->detail, sizeof(event->detail), "%u of %d parts of the sources%s%s",
			 seen->standing.alone, RF_BUCKETS, *why ? ": " : "", why);
	else
		snprintf(event->detail, sizeof(event->detail), "%s", why);
}

/* Closes the episode of a host that was offline. */
static void end_alone(struct rf_events *events, const char *why)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLEET_ONLINE);

	if (!events->alone.number)
		return;
	snprintf(event.detail, sizeof(event.detail), "%s", why);
	rf_episode_end(events, &events->alone, &event);
}

static void feed_alone(struct rf_events *events, const struct rf_fleet_seen *seen)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLEET_OFFLINE);

	if (!events->alone.number) {
		describe_alone(seen, &event);
		if (seen->limits && seen->standing.alone)
			rf_episode_start(events, &events->alone, &event);
	} else if (!seen->limits) {
		end_alone(events, "no limit is of the fleet any more");
	} else if (!seen->standing.alone) {
		end_alone(events, "");
	}
}

/* ---- expired members of the fleet ---- */

/* Adds the numbers of the expired members; returns their count. */
static int list_gone(const struct rf_events *events, const struct rf_agent_seen *agent,
		     char text[RF_EVENT_DETAIL_SIZE / 2])
{
	const size_t size = RF_EVENT_DETAIL_SIZE / 2;
	size_t length = 0;
	int count = 0;

	for (int slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++) {
		const uint64_t bit = 1ULL << slot % 64;

		if (!(events->member[slot / 64] & ~agent->member[slot / 64] & bit))
			continue;
		count++;
		if (length < size)
			length += snprintf(text + length, size - length, "%s%d", length ? ", " : "",
					   slot);
	}
	return count;
}

/* While the fleet server rebuilds its state or is unreachable, the agent does not know all members.
 */
static void feed_members(struct rf_events *events, const struct rf_fleet_seen *seen)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_MEMBER_EXPIRED);
	const struct rf_agent_seen *agent = &seen->agent;
	char gone[RF_EVENT_DETAIL_SIZE / 2] = "";
	struct rf_episode one;
	int count;

	if (!seen->limits || !agent->is_up || !agent->is_settled ||
	    memcmp(events->member, agent->member, sizeof(events->member)) == 0)
		return;
	count = list_gone(events, agent, gone);
	snprintf(event.detail, sizeof(event.detail), "%s %s; %u of %u hosts are left",
		 count == 1 ? "number" : "numbers", gone, rf_agent_members(agent), agent->hosts);
	if (count)
		rf_episode_start(events, &one, &event);
	memcpy(events->member, agent->member, sizeof(events->member));
	events->has_changed = true;
}

/* ---- the complete scan ---- */

void rf_events_feed_fence(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	feed_rules(events, snapshot);
	feed_pause(events, snapshot);
	feed_traffic(events, snapshot);
	feed_bypass(events, snapshot);
	feed_alone(events, &snapshot->fleet);
	feed_members(events, &snapshot->fleet);
}

void rf_events_end_fence(struct rf_events *events)
{
	end_alone(events, "the fence was removed");
	end(events, &events->bypass, RF_EVENT_BYPASS_ENDED);
	end(events, &events->pause, RF_EVENT_RESUMED);
	end(events, &events->newcomers, RF_EVENT_NEWCOMERS_RELEASED);
	end_challenges(events);
	end(events, &events->flood, RF_EVENT_FLOOD_ENDED);
	events->full = events->errors = (struct rf_episode){};
}
