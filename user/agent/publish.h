/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What members of the group may read of the agent: its answer to `status`, as a file that is
 * written anew each second. So whoever watches never makes the agent wait, nor waits for it.
 */
#ifndef RINGFENCE_AGENT_PUBLISH_H
#define RINGFENCE_AGENT_PUBLISH_H

#include "agent/status.h"

struct rf_publisher {
	char path[108], next[112];
	uint64_t at_ns; /* when it is written next */
	int said;	/* the error that was said last */
};

void rf_publisher_start(struct rf_publisher *publisher, const char *name);
/* Removes the file. */
void rf_publisher_end(struct rf_publisher *publisher);
/* Writes the file, once a second. */
void rf_publisher_turn(struct rf_publisher *publisher, const struct rf_status_view *view,
		       uint64_t now);

#endif /* RINGFENCE_AGENT_PUBLISH_H */
