// SPDX-License-Identifier: GPL-2.0
/*
 * The size of a day's events in the worst attack, in simulated time: different sources each second,
 * long names.
 */
#include <stdlib.h>

#include "made_scan.h"

#define DAY_S 86400
#define SECONDS 3600 /* the part of a day that runs: each hour is like the first */
#define SOURCES 300  /* that lose packets in a scan: more than have state */
#define MOST_BYTES (35ULL * 1000 * 1000) /* docs/ringfence-watch.8 */

struct written {
	uint64_t bytes, lines, left_out, seq, missing;
};

static void write_line(void *context, const struct rf_event *event)
{
	struct written *written = context;
	json_t *json = rf_event_json(event);
	char *text = json_dumps(json, JSON_COMPACT);

	assert_non_null(text);
	written->bytes += strlen(text) + 1;
	written->lines++;
	written->missing += event->seq - written->seq - 1;
	written->seq = event->seq;
	for (int type = 0; type < RF_EVENT_TYPES; type++)
		written->left_out += event->left_out[type];
	free(text);
	json_decref(json);
}

static void begin(struct rf_snapshot *scan, struct rf_source_row *row)
{
	made_scan(scan);
	memset(scan->fence, 'f', 15);
	for (int i = 0; i < MADE_LIMITS; i++)
		memset(scan->bans.rules.limit[i].name, 'a' + i, RF_NAME_SIZE - 1);
	scan->sources.row = row;
	scan->sources.count = SOURCES;
}

static void lose(struct rf_snapshot *scan, int second)
{
	for (int i = 0; i < SOURCES; i++) {
		struct rf_source_row *row = &scan->sources.row[i];

		*row = made_row(scan, (second * SOURCES + i) * 4 + 3, 0, 1000000 + i);
		row->source.word[2] = htonl(0x12345678);
	}
}

static void a_day_of_the_worst_attack_is_bounded(void **state)
{
	static struct rf_snapshot scan;
	static struct rf_source_row row[SOURCES];
	struct rf_events *events = rf_events_open(NULL);
	struct written written = {.seq = 0};

	(void)state;
	begin(&scan, row);
	for (int second = 0; second < SECONDS; second++) {
		made_second(&scan);
		lose(&scan, second);
		rf_events_feed(events, &scan, write_line, &written);
	}
	rf_events_gone(events, scan.time_ns, write_line, &written);
	print_message("%llu bytes, %llu lines, %llu left out\n", (unsigned long long)written.bytes,
		      (unsigned long long)written.lines, (unsigned long long)written.left_out);
	assert_true(written.bytes * DAY_S <= MOST_BYTES * SECONDS);
	assert_true(written.lines >= SECONDS); /* it is the worst: none is spared */
	assert_int_equal(written.missing, written.left_out);
	rf_events_close(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_day_of_the_worst_attack_is_bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
