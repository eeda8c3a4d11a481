// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cli/event_queue.h"

static void drop(struct rf_queued_event *event)
{
	free(event->text);
	json_decref(event->json);
}

static int grow(struct rf_event_queue *queue)
{
	const size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
	struct rf_queued_event *event = reallocarray(queue->event, capacity, sizeof(*event));

	if (!event)
		return -ENOMEM;
	queue->event = event;
	queue->capacity = capacity;
	return 0;
}

int rf_event_queue_put(struct rf_event_queue *queue, uint64_t time_ns, const char *text,
		       json_t *json)
{
	struct rf_queued_event event = {time_ns, queue->puts++, text ? strdup(text) : NULL, json};

	if ((!event.text && !json) || (queue->count == queue->capacity && grow(queue))) {
		drop(&event);
		return -ENOMEM;
	}
	queue->event[queue->count++] = event;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct rf_queued_event *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static void sort(struct rf_event_queue *queue)
{
	if (queue->count)
		rf_sort(queue->event, queue->count, sizeof(queue->event[0]), by_time);
}

void rf_event_queue_trim(struct rf_event_queue *queue, size_t most)
{
	const size_t over = queue->count > most ? queue->count - most : 0;

	if (!over)
		return;
	sort(queue);
	for (size_t i = 0; i < over; i++)
		drop(&queue->event[i]);
	queue->count -= over;
	memmove(queue->event, queue->event + over, queue->count * sizeof(queue->event[0]));
}

int rf_event_queue_drain(struct rf_event_queue *queue, rf_queue_visit visit, void *context)
{
	int result = 0;

	sort(queue);
	for (size_t i = 0; i < queue->count; i++) {
		if (!result)
			result = visit(context, &queue->event[i]);
		drop(&queue->event[i]);
	}
	queue->count = 0;
	return result;
}

void rf_event_queue_free(struct rf_event_queue *queue)
{
	rf_event_queue_trim(queue, 0);
	free(queue->event);
	*queue = (struct rf_event_queue){};
}
