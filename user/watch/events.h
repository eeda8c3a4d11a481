/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens at a fence, from the differences between its scans: a state machine, fed with each
 * snapshot. It remembers what has started and has not ended, so each start gets one end, also over
 * a restart of the daemon. Pure.
 *
 * It cannot be flooded: a burst of events is told, then one a second. Of the others an event of
 * type RF_EVENT_SUPPRESSED tells how many they were. Each event has a sequence number, also one
 * that is left out: so the gaps in the numbers are what was left out. An end is never left out
 * where its start was told; it may wait until it can be told.
 */
#ifndef RINGFENCE_EVENTS_H
#define RINGFENCE_EVENTS_H

#include "snapshot/snapshot.h"
#include "watch/event.h"

#define RF_EVENTS_SOURCES 256	      /* sources over a limit that have state; the same of bans */
#define RF_EVENTS_QUIET_S 30	      /* then what has started has ended */
#define RF_EVENTS_BURST 100	      /* events told at once */
#define RF_EVENTS_RESERVED 10	      /* of these, not for single sources */
#define RF_EVENTS_SUPPRESSED_S 10     /* between two events of type RF_EVENT_SUPPRESSED */
#define RF_EVENTS_FLOOD_PACKETS 10000 /* a second, dropped or over the newcomers rate: a flood */
#define RF_EVENTS_FLOOD_SOURCES 100   /* that lose packets at the same time: a flood */

struct rf_events;

typedef void (*rf_event_sink)(void *context, const struct rf_event *event);

/* `state` is what rf_events_state() gave before a restart, or NULL. NULL: no memory. */
struct rf_events *rf_events_open(const char *state);
void rf_events_close(struct rf_events *events);
/*
 * Numbers go on after `last`, unless they are beyond it. Without any number so far, and where
 * `last` is 0, they begin at the milliseconds since 1970, so that none is given that a lost memory
 * may have given before: there are fewer events than milliseconds. The event `attached` says so.
 */
void rf_events_number_after(struct rf_events *events, uint64_t last, uint64_t time_ns);
/* The last number in a text of rf_events_state(); 0: there is none. `state` may be NULL. */
uint64_t rf_events_state_last(const char *state);
/* Takes a scan. The sink gets the events in the order of their numbers. */
void rf_events_feed(struct rf_events *events, const struct rf_snapshot *snapshot,
		    rf_event_sink sink, void *context);
/* The fence is gone: ends all that has started. */
void rf_events_gone(struct rf_events *events, uint64_t time_ns, rf_event_sink sink, void *context);

/* Is there anything that a restart must know, and that the last text does not have? */
bool rf_events_changed(const struct rf_events *events);
/*
 * What to remember, as JSON, with what may be told of sources; the caller frees it. After a restart
 * a source of a network that is remembered takes its place. NULL: no memory.
 */
char *rf_events_state(struct rf_events *events, enum rf_told told);

#endif /* RINGFENCE_EVENTS_H */
