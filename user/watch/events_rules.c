// SPDX-License-Identifier: GPL-2.0
/* Events of the rules: changed, on trial, confirmed, reverted; paused, resumed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

static void see(const struct rf_snapshot *snapshot, struct rf_rules_seen *seen)
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
}

/* The rate of a limit; NULL: there is no such limit. */
static const char *rate_of(const struct rf_rules_seen *seen, const char *name)
{
	for (int i = 0; i < seen->limits; i++)
		if (!strcmp(seen->name[i], name))
			return seen->rate[i];
	return NULL;
}

__attribute__((format(printf, 2, 3))) static void add(struct rf_event *event, const char *format,
						      ...)
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
		add(event, "while nobody watched");
		return;
	}
	for (int i = 0; i < new->limits; i++) {
		const char *rate = rate_of(old, new->name[i]);
		const char *before = *event->detail ? "; " : "";

		if (!rate)
			add(event, "%sadded %s %s", before, new->name[i], new->rate[i]);
		else if (strcmp(rate, new->rate[i]) != 0)
			add(event, "%schanged %s from %s to %s", before, new->name[i], rate,
			    new->rate[i]);
	}
	for (int i = 0; i < old->limits; i++)
		if (!rate_of(new, old->name[i]))
			add(event, "%sdeleted %s %s", *event->detail ? "; " : "", old->name[i],
			    old->rate[i]);
}

static bool has_reverted(const struct rf_rules_seen *seen)
{
	return seen->state == RF_FELL_BACK || seen->state == RF_FELL_OPEN;
}

static void tell_changed(struct rf_events *events, const struct rf_snapshot *snapshot,
			 const struct rf_rules_seen *new)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_RULES_CHANGED);
	char left[RF_DURATION_TEXT_SIZE];

	/* Rules that are no longer in force cannot be described. */
	if (!has_reverted(new))
		describe_change(&event, &events->rules, new);
	if (new->state == RF_ON_TRIAL) {
		rf_format_left(snapshot->standing.trial_ns, left);
		add(&event, "%son trial, %s left", *event.detail ? "; " : "", left);
	}
	rf_events_tell(events, &event);
}

static void tell_reverted(struct rf_events *events, const struct rf_rules_seen *new)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_TRIAL_REVERTED);

	add(&event, "%s",
	    new->state == RF_FELL_OPEN
		    ? "nobody confirmed the attach in time: everything passes"
		    : "nobody confirmed the rules in time: those before are back");
	rf_events_tell(events, &event);
}

static void tell_confirmed(struct rf_events *events)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_ACTION);

	add(&event, "the rules on trial were confirmed");
	rf_events_tell(events, &event);
}

void rf_events_feed_rules(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	const struct rf_rules_seen *old = &events->rules;
	struct rf_rules_seen new;
	bool is_other, is_confirmed, is_reverted;

	see(snapshot, &new);
	is_other = new.active != old->active;
	is_reverted = has_reverted(&new) && (is_other || old->state != new.state);
	/* After a trial that ended, the rules before are in force under either number. */
	is_other = is_other && (is_reverted || new.in_force != old->in_force);
	is_confirmed = !is_other && old->state == RF_ON_TRIAL && new.state == RF_SETTLED;
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

void rf_events_feed_pause(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_PAUSED);
	const uint64_t left_ns = snapshot->standing.paused_ns;
	char left[RF_DURATION_TEXT_SIZE];

	if (!left_ns)
		rf_events_end_pause(events);
	if (!left_ns || events->pause.number)
		return;
	rf_format_left(left_ns, left);
	add(&event, "nothing is dropped, %s left", left);
	rf_episode_start(events, &events->pause, &event);
}

void rf_events_end_pause(struct rf_events *events)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_RESUMED);

	if (events->pause.number)
		rf_episode_end(events, &events->pause, &event);
}
