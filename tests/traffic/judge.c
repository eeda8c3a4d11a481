/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the records say: how many frames came from each source, and whether they were ever too many.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* Of struct address: all, or what a limit counts as one, an IPv4 address or the /64 of an IPv6. */
#define SOURCE_BYTES sizeof(struct address)
#define GROUP_BYTES offsetof(struct address, bytes[8])

static int compare_sources(const void *a, const void *b)
{
	return memcmp(&((const struct record *)a)->source, &((const struct record *)b)->source,
		      SOURCE_BYTES);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many of the sorted records, from the first, share @bytes of its source. */
static size_t run_of(const struct record *records, size_t n, size_t bytes)
{
	size_t run = 1;

	while (run < n && !memcmp(&records[run].source, &records->source, bytes))
		run++;
	return run;
}

/* Sorts the records by source, and prints how many frames came from each. */
void records_report(struct record *records, size_t n)
{
	if (n)
		qsort(records, n, sizeof(*records), compare_sources);
	for (size_t i = 0, run; i < n; i += run) {
		uint64_t bytes = 0;

		run = run_of(records + i, n - i, SOURCE_BYTES);
		for (size_t j = i; j < i + run; j++)
			bytes += records[j].len_bytes;
		printf("received %s %zu %" PRIu64 "\n", address_text(&records[i].source), run,
		       bytes);
	}
}

struct times times_of(const struct record *records, size_t n)
{
	struct times times = {.sent = allocate(NULL, 2 * n + 1, sizeof(uint64_t)), .n = n};

	times.received = times.sent + n;
	for (size_t i = 0; i < n; i++) {
		times.sent[i] = records[i].stamp.sent_ns;
		times.received[i] = records[i].received_ns;
	}
	if (n) {
		qsort(times.sent, n, sizeof(*times.sent), compare_times);
		qsort(times.received, n, sizeof(*times.received), compare_times);
	}
	return times;
}

/*
 * The most frames that were sent at or after some a and received by a + W: those that came by then,
 * less those sent before a. Where one sent before a came after a + W, that is too few, never too
 * many; and where frames keep their order, none sent after it came in time.
 *
 * Only intervals count that end by @until_ns and have a frame in them that was sent at or after
 * @since_ns. If a lower limit was in force from then until then, the last of such frames was judged
 * by it, with all others in the interval before it.
 */
uint64_t most_within(const struct times *times, const struct max *max, uint64_t since_ns,
		     uint64_t until_ns)
{
	size_t came = 0, most = 0, earlier = 0;

	while (earlier < times->n && times->sent[earlier] < since_ns)
		earlier++;
	for (size_t before = 0; before < times->n; before++) {
		uint64_t end = times->sent[before] + max->window_ns;

		if (end > until_ns)
			end = until_ns;
		while (came < times->n && times->received[came] <= end)
			came++;
		if (came > earlier && came > before + most)
			most = came - before;
	}
	return most;
}

static bool judge_group(const struct record *records, size_t n, const struct max *max)
{
	struct times times = times_of(records, n);
	uint64_t most = most_within(&times, max, 0, UINT64_MAX);
	struct address group = {0};

	free(times.sent);
	if (most <= max->count)
		return true;
	memcpy(&group, &records->source, GROUP_BYTES);
	fprintf(stderr, "violation %s %" PRIu64 " in %s\n", address_text(&group), most,
		max->window_text);
	return false;
}

/* Returns false if more than L came within W. The records must be sorted by source. */
bool records_judge(const struct record *records, size_t n, const struct max *max)
{
	bool kept = true;

	for (size_t i = 0, run; i < n; i += run) {
		run = run_of(records + i, n - i, GROUP_BYTES);
		kept &= judge_group(records + i, run, max);
	}
	return kept;
}
