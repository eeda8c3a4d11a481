/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A range of a history, for plots: rates over time, and the sources that mattered. What is read is
 * bounded, however long the range is.
 */
#ifndef RINGFENCE_GRAPH_H
#define RINGFENCE_GRAPH_H

#include "watch/reader.h"

#define RF_GRAPH_POINTS 1000 /* at most, and two for the edges */
#define RF_GRAPH_LINES 160
#define RF_GRAPH_BARS 30 /* of a source */

/* The packets of one counter, for each point. */
struct rf_graph_line {
	char kind[RF_WORD_SIZE], outcome[RF_WORD_SIZE];
	char name[RF_NAME_SIZE]; /* of the reason or limit */
	double *packets; /* a scan longer than a step is split between the points it covers */
};

struct rf_graph {
	uint64_t from_ns, step_ns; /* the first point ends at from_ns + step_ns */
	int points;
	bool is_minutes; /* made from minutes: a second in them is not to be told apart */
	double *seconds; /* that were seen; 0: a gap */
	uint32_t *sources;
	double *peak; /* the most drops a second by one reason */
	struct rf_graph_line *line;
	int lines;
};

/* Counters of a range: its seconds up to two hours, else its minutes. Free it even after an error.
 */
int rf_reader_graph(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		    struct rf_graph *graph, struct rf_error *error);
void rf_graph_free(struct rf_graph *graph);

struct rf_graph_source {
	struct rf_recorded_source sum;
	uint64_t bar[RF_GRAPH_BARS]; /* packets, passed and dropped, over the range */
};

struct rf_graph_sources {
	uint64_t one_in; /* of the recorded intervals, one in so many was read */
	struct rf_graph_source *row;
	int count;
};

/* `most` sources of a range, most drops first. */
int rf_reader_graph_sources(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    struct rf_graph_sources *sources, struct rf_error *error);
void rf_graph_sources_free(struct rf_graph_sources *sources);

#endif /* RINGFENCE_GRAPH_H */
