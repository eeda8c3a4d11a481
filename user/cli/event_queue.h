/* SPDX-License-Identifier: GPL-2.0 */
/* Events of several fences on their way to the output, which gets them in the order of their times.
 */
#ifndef RINGFENCE_CLI_EVENT_QUEUE_H
#define RINGFENCE_CLI_EVENT_QUEUE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct rf_queued_event {
	uint64_t time_ns;
	size_t number; /* events of the same time keep their order */
	char *text;    /* NULL: `json` */
	json_t *json;
};

/* Empty where it is all zero. */
struct rf_event_queue {
	struct rf_queued_event *event;
	size_t count, capacity, puts;
};

/* Copies `text`, or takes `json` over. -ENOMEM. */
int rf_event_queue_put(struct rf_event_queue *queue, uint64_t time_ns, const char *text,
		       json_t *json);
/* Drops all but the last ones. */
void rf_event_queue_trim(struct rf_event_queue *queue, size_t most);

/* A result that is not 0 ends the visit. */
typedef int (*rf_queue_visit)(void *context, const struct rf_queued_event *event);
/* Visits the events, and empties the queue, also where the visit ends early. */
int rf_event_queue_drain(struct rf_event_queue *queue, rf_queue_visit visit, void *context);
void rf_event_queue_free(struct rf_event_queue *queue);

#endif /* RINGFENCE_CLI_EVENT_QUEUE_H */
