// SPDX-License-Identifier: GPL-2.0
/* A range of the history, point by point: a point lacks a value only if no scan covers it. */
#include "history.h"

#include <math.h>

#include "watch/reader.h"

#define INTERVAL_MS 3600 /* of a busy daemon */
#define SCANS 20
#define PACKETS 100

static double sent[SCANS]; /* packets of each scan */

/* Returns the time of the first scan, which has no interval. */
static uint64_t record_slowly(struct made *made)
{
	struct rf_history *history = open_history();
	uint64_t from_ns;

	made_begin(made, 1, 10);
	record(made, history, 0);
	from_ns = made->snapshot.time_ns;
	for (int i = 0; i < SCANS; i++) {
		const uint64_t before = made->passed + made->dropped;

		made_step(made, INTERVAL_MS * (SECOND / 1000), PACKETS);
		record(made, history, 0);
		sent[i] = made->passed + made->dropped - before;
	}
	rf_history_close(history);
	return from_ns;
}

/* The packets of a second that starts this many ms after the first scan. */
static double sent_at(int ms)
{
	double packets = 0;

	for (int i = ms; i < ms + 1000; i++)
		packets += sent[i / INTERVAL_MS] / INTERVAL_MS;
	return packets;
}

static void read_graph(uint64_t from_ns, uint64_t to_ns, struct rf_graph *graph)
{
	struct rf_reader *reader;
	struct rf_error error;

	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	assert_int_equal(rf_reader_graph(reader, from_ns, to_ns, graph, &error), 0);
	rf_reader_close(reader);
}

static double packets_at(const struct rf_graph *graph, int point)
{
	double packets = 0;

	for (int i = 0; i < graph->lines; i++)
		if (strcmp(graph->line[i].kind, "limit") != 0)
			packets += graph->line[i].packets[point];
	return packets;
}

/* Each point of a graph that starts this many ms after the first scan has its packets. */
static void assert_points(const struct rf_graph *graph, int from_ms)
{
	assert_int_equal(graph->step_ns, SECOND);
	for (int i = 0; i < graph->points; i++) {
		const double packets = packets_at(graph, i), wanted = sent_at(from_ms + 1000 * i);

		if (fabs(graph->seconds[i] - 1) > 0.001 || fabs(packets - wanted) > 0.001)
			fail_msg("second %d has %f packets in %f s, not %f in 1 s", i, packets,
				 graph->seconds[i], wanted);
	}
}

static void cover_each_second(void **state)
{
	struct rf_graph graph;
	struct made made;
	const uint64_t from_ns = record_slowly(&made);

	(void)state;
	read_graph(from_ns, made.snapshot.time_ns, &graph);
	assert_int_equal(graph.points, SCANS * INTERVAL_MS / 1000);
	assert_points(&graph, 0);
	rf_graph_free(&graph);
	made_end(&made);
}

/* The first scan started before the range, and the last one finished after it. */
static void cover_the_edges(void **state)
{
	struct rf_graph graph;
	struct made made;
	const uint64_t from_ns = record_slowly(&made);

	(void)state;
	read_graph(from_ns + 5 * SECOND, from_ns + 15 * SECOND, &graph);
	assert_int_equal(graph.points, 10);
	assert_points(&graph, 5000);
	rf_graph_free(&graph);
	made_end(&made);
}

/* Time without a scan remains a gap, and a single scan between two gaps retains its length. */
static void leave_gaps(void **state)
{
	struct rf_history *history = open_history();
	struct rf_graph graph;
	struct made made;
	uint64_t from_ns;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	from_ns = made.snapshot.time_ns;
	rf_history_close(history);
	for (int i = 0; i < 2; i++) {
		made.snapshot.time_ns += 20 * SECOND;
		made.snapshot.awake_ns += 20 * SECOND;
		history = open_history();
		record(&made, history, 0);
		made_step(&made, 4 * SECOND, PACKETS);
		record(&made, history, 0);
		rf_history_close(history);
	}
	read_graph(from_ns, made.snapshot.time_ns, &graph);
	assert_int_equal(graph.points, 48);
	for (int i = 0; i < graph.points; i++)
		assert_int_equal(graph.seconds[i] > 0, i % 24 >= 20);
	rf_graph_free(&graph);
	made_end(&made);
}

static const struct CMUnitTest tests[] = {
	ROW("scans farther apart than points leave no gap", cover_each_second),
	ROW("a scan counts for its part at the edges", cover_the_edges),
	ROW("what was not seen is a gap", leave_gaps),
};

int main(void)
{
	int failed;

	if (!mount_base())
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unmount_base();
	return failed;
}
