// SPDX-License-Identifier: GPL-2.0
/*
 * The file of events. For any bytes: each line is an event or is counted as unknown, and a file
 * that grows while it is read yields the same as the complete file. The first two bytes select
 * where it is cut.
 */
#include <stdbool.h>
#include <string.h>

#include "base/time.h"
#include "file.h"
#include "watch/event_file.h"

struct seen {
	uint64_t events, sum;
};

static struct fuzz_file file;

/* "in 5 min" is another time at the next reading. */
uint64_t __wrap_rf_time_wall(void);
uint64_t __wrap_rf_time_wall(void)
{
	return 1700000000000000000ULL;
}

static void add(struct seen *seen, const char *text)
{
	REQUIRE(text);
	for (; *text; text++)
		seen->sum = seen->sum * 31 + (unsigned char)*text;
	seen->sum = seen->sum * 31 + 256;
}

static int visit(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct seen *seen = context;
	struct rf_prefix prefix;
	struct rf_error error = {};

	REQUIRE(*fence && *event->type && event->time_ns);
	REQUIRE(!*event->source || !rf_parse_prefix(event->source, &prefix, &error));
	seen->events++;
	seen->sum = seen->sum * 31 + event->seq + event->time_ns + event->dropped;
	add(seen, fence);
	add(seen, event->type);
	add(seen, event->id);
	add(seen, event->limit);
	add(seen, event->source);
	add(seen, event->reason);
	add(seen, event->rate);
	add(seen, event->detail);
	return 0;
}

static uint64_t lines_of(const uint8_t *data, size_t size)
{
	uint64_t lines = 0, length = 0;

	for (size_t i = 0; i < size; i++) {
		lines += data[i] == '\n' && length;
		length = data[i] == '\n' ? 0 : length + 1;
	}
	return lines;
}

static struct rf_event_file *open_it(void)
{
	struct rf_event_file *reader;
	struct rf_error error = {};

	REQUIRE(!rf_event_file_open(&reader, file.path, &error));
	return reader;
}

static void read_it(struct rf_event_file *reader, struct seen *seen)
{
	struct rf_error error = {};

	REQUIRE(!rf_event_file_read(reader, visit, seen, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t at = size >= 2 ? (data[0] | data[1] << 8) % (size - 1) : 0;
	struct rf_event_file *whole, *grown;
	struct seen once = {}, twice = {};

	if (size < 2)
		return 0;
	data += 2;
	size -= 2;
	fuzz_file_write(&file, data, at);
	grown = open_it();
	read_it(grown, &twice);
	fuzz_file_append(&file, data + at, size - at);
	read_it(grown, &twice);
	whole = open_it();
	read_it(whole, &once);
	REQUIRE(once.events == twice.events && once.sum == twice.sum);
	REQUIRE(rf_event_file_strange(whole) == rf_event_file_strange(grown));
	REQUIRE(once.events + rf_event_file_strange(whole) == lines_of(data, size));
	rf_event_file_last(file.path, "f");
	rf_event_file_close(whole);
	rf_event_file_close(grown);
	return 0;
}
