/* SPDX-License-Identifier: GPL-2.0 */
/* An observer of a fence with synthetic scans, one a second. */
#ifndef RINGFENCE_TESTS_WATCH_H
#define RINGFENCE_TESTS_WATCH_H

#include "made_scan.h"

#include "watch/metrics.h"

#define WATCH_ROWS 2000

struct watch {
	struct rf_events *events;
	struct rf_snapshot scan;
	struct made_events got;
	struct rf_metrics *metrics; /* NULL: the test wants none */
	struct rf_source_row row[WATCH_ROWS];
	struct rf_ban_row ban[WATCH_ROWS];
};

/* Before the first scan. */
static inline struct watch *watch_begin(void)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	assert_non_null(watch);
	made_scan(&watch->scan);
	watch->scan.sources.row = watch->row;
	watch->scan.bans.row = watch->ban;
	watch->events = rf_events_open(NULL);
	return watch;
}

static inline int watch_end(void **state)
{
	struct watch *watch = *state;

	rf_events_close(watch->events);
	rf_metrics_free(watch->metrics);
	free(watch->got.event);
	free(watch);
	return 0;
}

/* The same scan again; feed() is one of a second later. */
static inline void watch_scan(struct watch *watch)
{
	rf_events_feed(watch->events, &watch->scan, made_keep, &watch->got);
}

static inline void feed(struct watch *watch)
{
	made_second(&watch->scan);
	watch_scan(watch);
}

/* By the remembered state and the sources reported with it. */
static inline void restart(struct watch *watch, enum rf_told told)
{
	char *text = rf_events_state(watch->events, told);

	assert_non_null(text);
	assert_false(rf_events_changed(watch->events));
	rf_events_close(watch->events);
	watch->events = rf_events_open(text);
	free(text);
}

static inline void expect(const struct watch *watch, enum rf_event_type type, int count)
{
	if (made_count(&watch->got, type) != count)
		print_error("%s: %d times, not %d\n", rf_event_type_name(type),
			    made_count(&watch->got, type), count);
	assert_int_equal(made_count(&watch->got, type), count);
}

#endif /* RINGFENCE_TESTS_WATCH_H */
