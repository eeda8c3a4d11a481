/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections of one purpose, such as heartbeats: one to each node of the engine that has the
 * keys of its calls. They are made on need, and ended when no keys are there any more.
 */
#ifndef RINGFENCE_AGENT_LINE_H
#define RINGFENCE_AGENT_LINE_H

#include "agent/link.h"

#define RF_TAGS_OF_BUCKETS ((1U << RF_BUCKETS) - 1)
#define RF_TAGS_ALL ((1U << RF_TAGS) - 1)

struct rf_line {
	const struct rf_engine *engine;
	struct rf_cluster *cluster; /* of all lines */
	const char *purpose;	    /* for messages */
	uint32_t tags;		    /* of the keys of its calls, a bit each */
	struct rf_loop *loop;
	bool is_urgent;	      /* what comes of it is served before all else */
	uint64_t patience_ns; /* for an answer */
	struct rf_link link[RF_NODES_MOST];
};

void rf_line_end(struct rf_line *line);
void rf_line_turn(struct rf_line *line, uint64_t now);
uint64_t rf_line_due_ns(const struct rf_line *line, uint64_t now);
/* May a call with keys of that tag be sent? */
bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t now);
/* False: nothing can be sent now, and `answer` is not called. */
bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data);
/* The connection that says the most of how the line is: one in trouble, else one that is not ready.
 */
const struct rf_link *rf_line_worst(const struct rf_line *line);
/* What is wrong with it, or with the cluster; "": nothing. */
const char *rf_line_trouble(const struct rf_line *line);

#endif /* RINGFENCE_AGENT_LINE_H */
