/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a fence, computed from the differences between its scans: a state machine that
 * processes each snapshot. It remembers open episodes, so each start gets one end, also over a
 * restart of the daemon. Pure.
 *
 * It cannot be flooded: a burst of events is reported, then one a second. An event of type
 * RF_EVENT_SUPPRESSED reports the number of the others. Each event has a sequence number, including
 * suppressed ones: gaps in the numbers therefore show the suppressed events. An end is never
 * suppressed if its start was reported; it can be delayed until there is room.
 */
#ifndef RINGFENCE_EVENTS_H
#define RINGFENCE_EVENTS_H

#include "snapshot/snapshot.h"
#include "watch/event.h"

#define RF_EVENTS_SOURCES 256	      /* sources over a limit that have state; the same of bans */
#define RF_EVENTS_QUIET_S 30	      /* an episode is closed after this time */
#define RF_EVENTS_BURST 100	      /* events reported without delay */
#define RF_EVENTS_RESERVED 10	      /* of these, not for single sources */
#define RF_EVENTS_SUPPRESSED_S 10     /* between two events of type RF_EVENT_SUPPRESSED */
#define RF_EVENTS_FLOOD_PACKETS 10000 /* a second, dropped or over the newcomers rate: a flood */
#define RF_EVENTS_FLOOD_SOURCES 100   /* that lose packets at the same time: a flood */

struct rf_events;

typedef void (*rf_event_sink)(void *context, const struct rf_event *event);

/* `state` is the text of rf_events_state() before a restart, or NULL. NULL: no memory. */
struct rf_events *rf_events_open(const char *state);
void rf_events_close(struct rf_events *events);
/*
 * Numbers continue after `last`, unless they are higher already. Without a previous number, and if
 * `last` is 0, they start at the milliseconds since 1970, to avoid numbers that were assigned
 * before the state was lost: there are fewer events than milliseconds. The event `attached` reports
 * this.
 */
void rf_events_number_after(struct rf_events *events, uint64_t last, uint64_t time_ns);
/* The last number in a text of rf_events_state(); 0: none. `state` can be NULL. */
uint64_t rf_events_state_last(const char *state);
/* Takes a scan. The sink gets the events in the order of their numbers. */
void rf_events_feed(struct rf_events *events, const struct rf_snapshot *snapshot,
		    rf_event_sink sink, void *context);
/* The fence was removed: closes all open episodes. */
void rf_events_gone(struct rf_events *events, uint64_t time_ns, rf_event_sink sink, void *context);

/* Is there anything that a restart must know, and that the last text does not have? */
bool rf_events_changed(const struct rf_events *events);
/*
 * The state to save, as JSON, with sources in their disclosed form; the caller frees it. After a
 * restart, a source of a saved network takes over the entry of the network. NULL: no memory.
 */
char *rf_events_state(struct rf_events *events, enum rf_told told);

#endif /* RINGFENCE_EVENTS_H */
