/* SPDX-License-Identifier: GPL-2.0 */
/* Synthetic scans, and a sink that stores the events. */
#ifndef RINGFENCE_MADE_SCAN_H
#define RINGFENCE_MADE_SCAN_H

#include <arpa/inet.h>
#include <stdio.h>

#include "unit.h"

#include "watch/events.h"

#define MADE_LIMITS 2

/* A scan whose rows and bans belong to the test. */
static inline void made_scan(struct rf_snapshot *scan)
{
	*scan = (struct rf_snapshot){
		.fence = "eth0",
		.identity = "boot-1",
		.time_ns = 1700000000 * SECOND,
		.awake_ns = 1000 * SECOND,
		.standing = {.active = 2, .in_force = 2},
		.bans.now = 1000,
	};
	for (int i = 0; i < MADE_LIMITS; i++) {
		struct rf_limit *limit = &scan->bans.rules.limit[i];

		scan->bans.rules.policy[i].id = i + 1;
		strcpy(limit->name, i ? "syn" : "any");
		limit->rate = i ? 100 : 20000;
		limit->window_ns = SECOND;
		limit->ban_ns = 60 * SECOND;
		limit->per4 = 32;
		limit->per6 = 64;
	}
}

static inline struct rf_prefix made_source(uint32_t number)
{
	if (number % 4 == 3)
		return (struct rf_prefix){6, 64, {htonl(0x20010db8), htonl(number)}};
	return (struct rf_prefix){4, 32, {htonl(0x0a000000 + number)}};
}

static inline struct rf_source_row made_row(const struct rf_snapshot *scan, uint32_t source,
					    int slot, uint64_t dropped)
{
	return (struct rf_source_row){
		.source = made_source(source),
		.limit = &scan->bans.rules.limit[slot],
		.limit_id = slot + 1,
		.new_dropped = dropped,
		.new_passed = 7,
	};
}

/* One second later. */
static inline void made_second(struct rf_snapshot *scan)
{
	scan->time_ns += SECOND;
	scan->awake_ns += SECOND;
	scan->since_ns = SECOND;
	scan->bans.now += 100;
}

struct made_events {
	struct rf_event *event;
	size_t count, capacity;
};

static inline void made_keep(void *context, const struct rf_event *event)
{
	struct made_events *all = context;

	if (all->count == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 256;
		all->event = realloc(all->event, all->capacity * sizeof(*event));
		assert_non_null(all->event);
	}
	all->event[all->count++] = *event;
}

static inline int made_count(const struct made_events *all, enum rf_event_type type)
{
	int count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += all->event[i].type == type;
	return count;
}

/* The last event of a type, which there must be. */
static inline const struct rf_event *made_last(const struct made_events *all,
					       enum rf_event_type type)
{
	const struct rf_event *last = NULL;

	for (size_t i = 0; i < all->count; i++)
		if (all->event[i].type == type)
			last = &all->event[i];
	assert_non_null(last);
	return last;
}

#endif /* RINGFENCE_MADE_SCAN_H */
