/* SPDX-License-Identifier: GPL-2.0 */
/* Internal declarations of the files of the events. No other file includes this. */
#ifndef RINGFENCE_EPISODES_H
#define RINGFENCE_EPISODES_H

#include "base/time.h"
#include "base/units.h"
#include "watch/events.h"

#define RF_EVENT_TOKEN_NS ((int64_t)RF_NS_PER_S)

/* An open episode: it is closed after a quiet period. */
struct rf_episode {
	uint64_t number; /* of its id; 0: it is not under way */
	bool is_told;	 /* its start was reported, its end must be, too */
	uint64_t quiet_ns;
	uint64_t first_ns; /* when it was first seen */
	uint64_t dropped, passed;
};

/* A source over a limit, or a ban. */
struct rf_held {
	struct rf_prefix source;
	uint32_t limit_id;
	bool is_aggregate;
	bool is_seen;	 /* by this scan */
	bool is_network; /* restored from the state, of a source that must not be disclosed */
	char limit[RF_NAME_SIZE];
	char rate[RF_RATE_TEXT_SIZE];
	char reason[RF_REASON_NAME_SIZE];
	uint64_t weight; /* lost packets of a scan, halved with each scan that has fewer */
	struct rf_episode episode;
};

struct rf_held_list {
	struct rf_held held[RF_EVENTS_SOURCES];
	size_t count;
	bool has_networks;
};

/* Of the rules, as the scan before saw them. */
struct rf_rules_seen {
	uint64_t active, in_force;
	enum rf_confirm_state state;
	int limits; /* -1: not known, only the numbers above are */
	char name[RF_LIMITS_MAX][RF_NAME_SIZE];
	char rate[RF_LIMITS_MAX][RF_RATE_TEXT_SIZE];
	char newcomers[RF_NEWCOMERS_TEXT_SIZE];
};

struct rf_events {
	char fence[RF_NAME_SIZE];
	char identity[RF_IDENTITY_SIZE]; /* "": no fence */
	char base[16];			 /* of its ids */
	uint64_t number;		 /* of the last id */
	uint64_t seq;			 /* of the last event */
	bool is_numbered_anew;		 /* its first event reports this */
	int64_t tokens_ns;		 /* one second of these pays for one event */
	struct rf_event left_out;	 /* suppressed events since the last report of them */
	uint64_t left_out_ns;		 /* for how long there are any */
	struct rf_episode attached, newcomers, challenges, flood, full, errors, alone, bypass,
		pause;
	uint64_t proven; /* of the packets that passed in the episode `challenges` */
	uint64_t member[RF_FLEET_HOSTS_MAX / 64]; /* of the fleet, when all were known last */
	struct rf_held_list sources, bans;
	uint64_t bans_seen; /* jiffies of the last scan */
	bool has_rules;
	struct rf_rules_seen rules;
	bool has_changed; /* since the state was written */
	/* Of this process only: */
	bool has_before;
	uint64_t awake_ns;
	struct rf_counters before;
	/* Of a call: */
	uint64_t time_ns, passed_ns; /* now, and since the scan before */
	rf_event_sink sink;
	void *context;
};

/* ---- telling ---- */

/* An event of now. */
struct rf_event rf_event_of(const struct rf_events *events, enum rf_event_type type);
/* Reports an event, or suppresses it. Returns whether it was reported. */
bool rf_events_tell(struct rf_events *events, struct rf_event *event);
/* Reports the suppressed events, if it is time or `at_once`. */
void rf_events_tell_left_out(struct rf_events *events, bool at_once);

void rf_episode_start(struct rf_events *events, struct rf_episode *episode, struct rf_event *event);
void rf_episode_end(struct rf_events *events, struct rf_episode *episode, struct rf_event *event);
/*
 * Starts the episode if it is not open and `is_on`; counts quiet time. Returns whether to close it.
 */
bool rf_episode_go_on(struct rf_events *events, struct rf_episode *episode, bool is_on,
		      struct rf_event *event);

/* ---- single sources: over a limit, and banned ---- */

void rf_events_feed_sources(struct rf_events *events, const struct rf_snapshot *snapshot);
/* Closes all open episodes, because the fence was removed. */
void rf_events_end_sources(struct rf_events *events);
/* By source, limit and is_aggregate, as the list is sorted. */
void rf_held_sort(struct rf_held_list *list);

/* ---- the whole fence: rules, traffic, fleet (events_fence.c) ---- */

void rf_events_feed_fence(struct rf_events *events, const struct rf_snapshot *snapshot);
/* Closes all open episodes, because the fence was removed. */
void rf_events_end_fence(struct rf_events *events);

#endif /* RINGFENCE_EPISODES_H */
