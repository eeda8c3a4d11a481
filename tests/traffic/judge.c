/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evaluates the records: how many frames came from each source, and whether they ever exceeded the
 * limit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/*
 * The part of struct address that counts as one source: everything, an IPv4 address or an IPv6 /64.
 */
#define SOURCE_BYTES sizeof(struct address)
#define GROUP_BYTES offsetof(struct address, bytes[8])

static int compare_sources(const void *a, const void *b)
{
	return memcmp(&((const struct record *)a)->source, &((const struct record *)b)->source,
		      SOURCE_BYTES);
}

static int compare_sent(const void *a, const void *b)
{
	uint64_t x = ((const struct record *)a)->stamp.sent_ns,
		 y = ((const struct record *)b)->stamp.sent_ns;

	return x < y ? -1 : x > y;
}

static int compare_received(const void *a, const void *b)
{
	uint64_t x = ((const struct record *)a)->received_ns,
		 y = ((const struct record *)b)->received_ns;

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

/* Sorts the records by one of their times, and writes those, and what all before each count. */
static void sum_up(struct record *records, size_t n, enum unit unit, size_t offset, uint64_t *times,
		   uint64_t *sum)
{
	uint64_t before = 0;

	if (n)
		qsort(records, n, sizeof(*records),
		      offset == offsetof(struct record, received_ns) ? compare_received
								     : compare_sent);
	for (size_t i = 0; i < n; i++) {
		memcpy(&times[i], (const char *)&records[i] + offset, sizeof(*times));
		sum[i] = before;
		before += unit == UNIT_BYTES ? records[i].len_bytes : 1;
	}
	sum[n] = before;
}

struct times times_of(struct record *records, size_t n, enum unit unit)
{
	struct times times = {.sent = allocate(NULL, 4 * (n + 1), sizeof(uint64_t)), .n = n};

	times.received = times.sent + n + 1;
	times.sent_sum = times.received + n + 1;
	times.received_sum = times.sent_sum + n + 1;
	sum_up(records, n, unit, offsetof(struct record, stamp.sent_ns), times.sent,
	       times.sent_sum);
	sum_up(records, n, unit, offsetof(struct record, received_ns), times.received,
	       times.received_sum);
	return times;
}

void times_free(struct times *times)
{
	free(times->sent);
	times->sent = NULL;
}

/*
 * The most frames, or bytes, that were sent at or after some a and received by a + W: those
 * received by then, less those sent before a. If one sent before a arrived after a + W, the result
 * is too small, never too large; and if frames are received in order, none sent after it arrived in
 * time.
 *
 * Only intervals count that end by @until_ns and contain a frame that was sent at or after
 * @since_ns. If a lower limit was enforced from then until then, the last of these frames was
 * evaluated under it, together with all others in the interval before it.
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
		if (came > earlier && came > before &&
		    times->received_sum[came] > times->sent_sum[before] + most)
			most = times->received_sum[came] - times->sent_sum[before];
	}
	return most;
}

static bool judge_group(struct record *records, size_t n, const struct max *max)
{
	struct times times = times_of(records, n, UNIT_FRAMES);
	uint64_t most = most_within(&times, max, 0, UINT64_MAX);
	struct address group = {0};

	times_free(&times);
	if (most <= max->count)
		return true;
	memcpy(&group, &records->source, GROUP_BYTES);
	fprintf(stderr, "violation %s %" PRIu64 " in %s\n", address_text(&group), most,
		max->window_text);
	return false;
}

/*
 * Returns false if more than L arrived within W. The records must be sorted by source, and the
 * records of one /64 are in a different order afterwards.
 */
bool records_judge(struct record *records, size_t n, const struct max *max)
{
	bool kept = true;

	for (size_t i = 0, run; i < n; i += run) {
		run = run_of(records + i, n - i, GROUP_BYTES);
		kept &= judge_group(records + i, run, max);
	}
	return kept;
}
